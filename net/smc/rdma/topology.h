/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ports of the links of a group. RFC 7609, 2.2.1, 2.2.4 and 3.5.1.6.
 *
 * Two links between the same two ports would fail together, so they are forbidden. A link that
 * shares a port with another one at one end is asymmetric.
 */
#ifndef _NET_SMC_RDMA_TOPOLOGY_H
#define _NET_SMC_RDMA_TOPOLOGY_H

#include <linux/types.h>

#include "../wire/clc.h"

/**
 * struct smc_link_port - one end of a link
 * @gid: one of the GIDs of the port
 * @mac: its MAC address
 */
struct smc_link_port {
	struct smc_gid gid;
	u8 mac[6];
};

/**
 * struct smc_link_pair - the two ends of a link
 * @local: the local end
 * @peer: the peer's end
 */
struct smc_link_pair {
	struct smc_link_port local;
	struct smc_link_port peer;
};

/**
 * enum smc_link_fit - rating of a new link; a higher value is better
 * @SMC_FIT_PARALLEL: another link has the same two ports
 * @SMC_FIT_ASYMMETRIC: another link has one of the two ports, but no link has both
 * @SMC_FIT_SYMMETRIC: no other link has one of its ports
 */
enum smc_link_fit {
	SMC_FIT_PARALLEL,
	SMC_FIT_ASYMMETRIC,
	SMC_FIT_SYMMETRIC,
};

/**
 * enum smc_link_class - which ports may fail without loss of the group
 * @SMC_LINKS_NONE: there is no link
 * @SMC_LINKS_SINGLE: none
 * @SMC_LINKS_ASYMMETRIC_LOCAL: a port of the peer; all links share the local port
 * @SMC_LINKS_ASYMMETRIC_PEER: a local port; all links share the port of the peer
 * @SMC_LINKS_SYMMETRIC: any port
 */
enum smc_link_class {
	SMC_LINKS_NONE,
	SMC_LINKS_SINGLE,
	SMC_LINKS_ASYMMETRIC_LOCAL,
	SMC_LINKS_ASYMMETRIC_PEER,
	SMC_LINKS_SYMMETRIC,
};

bool smc_link_is_same_port(const struct smc_link_port *a, const struct smc_link_port *b);
enum smc_link_fit smc_link_fit(const struct smc_link_pair *links, unsigned int nr,
			       const struct smc_link_pair *link);
unsigned int smc_link_offer(const struct smc_link_pair *links, unsigned int nr,
			    const struct smc_link_port *port);
enum smc_link_class smc_link_class(const struct smc_link_pair *links, unsigned int nr);
u8 smc_link_next_number(u8 last, const u8 *used, unsigned int nr);

#endif /* _NET_SMC_RDMA_TOPOLOGY_H */
