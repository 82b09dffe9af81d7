/* SPDX-License-Identifier: GPL-2.0-only */
/* Sysctls of a namespace: net.smc.* */
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
 * @wmem: no effect; for scripts that set it
 * @rmem: largest receive buffer size of sockets without SO_RCVBUF, bytes
 * @rmem_start: receive buffer size at the start, if the device can make it larger, and size of the
 *	first send buffer, bytes
 * @smcr_rmem: limit of the receive buffer of an SMC-R connection, bytes
 * @handshake_timeout: timeout for one handshake message, seconds
 * @handshake_in_memory: the messages of a handshake within this kernel go through memory
 * @idle_timeout: lifetime of a link group without connections, seconds, by enum smc_mode
 * @variants: set of enum smc_variant that may be used
 * @max_conns: connections per link group of SMC-R that a client proposes; limit of a server
 * @max_links: links per link group of SMC-R that a client proposes; limit of a server
 * @max_groups: limit of link groups
 * @max_groups_per_peer: limit of link groups with one peer address
 * @v1_over_rocev2: SMC-R version 1 uses RoCEv2 GIDs of ports that have no others
 * @path_retry_time: time for which a failed path of SMC-R is not used, seconds, 0: do not
 *	record failures
 * @syn_retry_time: time for which SYNs to a destination that does not answer them have no SMC
 *	option, seconds, 0: each SYN has it
 * @traffic_class: traffic class of SMC-R packets, for new link groups
 * @limit_handshake: new connections fall back to TCP while too many wait for accept()
 * @testlink_time: idle time after which a link of SMC-R is tested, seconds, 0: never
 * @busy_poll: time for which readers poll before they sleep, microseconds, for new sockets
 * @autocorking: limit of bytes that are written but not yet announced, for new connections
 * @max_orphans: limit of closed connections that wait for their peers
 * @buffer_type: memory type of SMC-R buffers; only 0, physically contiguous, is implemented
 *
 * sysctl writes the values; readers use READ_ONCE() in any context.
 */
struct smc_knobs {
	struct ctl_table_header *header;
	int wmem;
	int rmem;
	int rmem_start;
	int smcr_rmem;
	int handshake_timeout;
	int handshake_in_memory;
	int idle_timeout[SMC_MODES];
	int variants;
	int max_conns;
	int max_links;
	int max_groups;
	int max_groups_per_peer;
	int v1_over_rocev2;
	int path_retry_time;
	int syn_retry_time;
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
