/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of one network namespace: everything that an operator can configure or monitor. Each layer
 * has its part.
 */
#ifndef _NET_SMC_NET_H
#define _NET_SMC_NET_H

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>

#include "config/eid.h"
#include "config/pnet.h"
#include "config/sysctl.h"
#include "destinations.h"
#include "event.h"
#include "groups.h"
#include "paths.h"
#include "share.h"
#include "stats.h"
#include "wire/clc.h"

/**
 * struct smc_net - state of AF_SMC in one network namespace
 * @stats: counters, per CPU
 * @fallbacks: fallbacks by reason
 * @eids: user EIDs and system EID
 * @pnet: PNET table
 * @knobs: sysctls
 * @share: its share of the memory for buffers
 * @orphans: number of connections that are closed and wait for their peers
 * @ism_groups: number of link groups of SMC-D
 * @event_limit: rate limit of fallback events
 * @peer_id: identifies this namespace to peers (RFC 7609, A.2.1); constant. Two namespaces of
 *	one host are two peers
 * @host_lock: protects @host; process context
 * @host: host name, as the container's program saw it that last called connect() or listen(); not
 *	used in the first namespace
 * @groups: link groups
 * @paths: paths of SMC-R that failed recently
 * @destinations: destinations that do not answer SYNs with the SMC option
 * @socks_lock: protects the fields below; any context
 * @socks: all struct smc_sock and all connections that fell back, for monitoring: struct
 *	smc_listed by number
 * @last_number: number of the newest entry of @socks
 * @pruned: number of the entry of @socks that was last tested for removal
 */
struct smc_net {
	struct smc_stats __percpu *stats;
	struct smc_fallback_stats fallbacks;
	struct smc_eids eids;
	struct smc_pnet pnet;
	struct smc_knobs knobs;
	struct smc_share *share;
	atomic_t orphans;
	atomic_t ism_groups;
	struct smc_event_limit event_limit;
	struct smc_peer_id peer_id;
	spinlock_t host_lock;		/* protects the next field */
	char host[SMC_HOSTNAME_LEN + 1];
	struct smc_groups groups;
	struct smc_paths paths;
	struct smc_destinations destinations;
	spinlock_t socks_lock;		/* protects the fields below */
	struct rb_root socks;
	u64 last_number;
	u64 pruned;
};

struct smc_net *smc_net(const struct net *net);
void smc_net_note_host(const struct net *net);
void smc_net_copy_host(const struct net *net, char name[SMC_HOSTNAME_LEN + 1]);

int smc_net_init(void);
void smc_net_exit(void);

#endif /* _NET_SMC_NET_H */
