/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs of a namespace: net.smc.* */
#ifndef _NET_SMC_CONFIG_SYSCTL_H
#define _NET_SMC_CONFIG_SYSCTL_H

#include <linux/types.h>

#include "../types.h"

struct ctl_table_header;
struct net;
struct smc_share;

/**
 * struct smc_knobs - sysctls of one namespace; see Documentation/sysctl.rst
 * @header: the registration
 * @wmem: initial send buffer size, bytes
 * @rmem: initial receive buffer size, bytes
 * @smcr_rmem: most that a connection over SMC-R takes of it, bytes
 * @handshake_timeout: seconds a peer may take for one handshake message
 * @idle_timeout: seconds a link group stays without connections, by enum smc_mode
 * @variants: set of enum smc_variant that may be used
 * @max_conns: connections per link group of SMC-R that we like to have
 * @max_links: links per link group of SMC-R that we like to have
 * @max_groups: link groups at most
 * @max_groups_per_peer: those of them with the peers of one address
 * @v1_over_rocev2: SMC-R version 1 takes addresses of RoCE version 2, where a port has no others
 * @path_retry_time: seconds that a path of SMC-R which failed is not used, 0: no time
 * @traffic_class: of the packets of SMC-R; for new link groups
 * @limit_handshake: new connections become TCP while too many connections wait for accept()
 * @testlink_time: seconds of silence after which a link of SMC-R is tested, 0: never
 * @busy_poll: microseconds that readers look for data before they sleep; for new sockets
 * @autocorking: bytes that may be written and not announced; for new connections
 * @max_orphans: closed connections that may wait for their peers
 * @buffer_type: kind of memory of SMC-R's buffers: 0, physically contiguous, is all there is
 *
 * Written by sysctl, read with READ_ONCE() anywhere.
 */
struct smc_knobs {
	struct ctl_table_header *header;
	int wmem;
	int rmem;
	int smcr_rmem;
	int handshake_timeout;
	int idle_timeout[SMC_MODES];
	int variants;
	int max_conns;
	int max_links;
	int max_groups;
	int max_groups_per_peer;
	int v1_over_rocev2;
	int path_retry_time;
	int traffic_class;
	int limit_handshake;
	int testlink_time;
	int busy_poll;
	int autocorking;
	int max_orphans;
	int buffer_type;
};

int smc_sysctl_init(struct net *net, struct smc_knobs *knobs, struct smc_share *share);
void smc_sysctl_exit(struct smc_knobs *knobs);

#endif /* _NET_SMC_CONFIG_SYSCTL_H */
