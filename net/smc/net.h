/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of one network namespace. Everything an operator sets or sees belongs
 * to a namespace; the layers keep their part of it here.
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
#include "event.h"
#include "groups.h"
#include "paths.h"
#include "share.h"
#include "stats.h"
#include "wire/clc.h"

/**
 * struct smc_net - what AF_SMC keeps per network namespace
 * @stats: counters, per CPU
 * @fallbacks: fallbacks by reason
 * @eids: user EIDs, and whether the system EID is offered
 * @pnet: which interfaces and devices are on the same physical network
 * @knobs: sysctls
 * @share: what it holds of the memory for buffers
 * @orphans: connections that their programs have closed, and that wait for their peers
 * @event_limit: bounds how many fallbacks are reported
 * @peer_id: tells this namespace's stack from all others (RFC 7609, A.2.1);
 *	constant. Two namespaces of one host are two peers.
 * @groups: link groups
 * @paths: paths of SMC-R that failed lately
 * @socks_lock: protects the fields below; any context
 * @socks: all struct smc_sock, and connections that fell back, for monitoring: struct smc_listed by
 *	number
 * @last_number: number of the newest of @socks
 * @pruned: number of the one of @socks that was last looked at to free entries
 */
struct smc_net {
	struct smc_stats __percpu *stats;
	struct smc_fallback_stats fallbacks;
	struct smc_eids eids;
	struct smc_pnet pnet;
	struct smc_knobs knobs;
	struct smc_share *share;
	atomic_t orphans;
	struct smc_event_limit event_limit;
	struct smc_peer_id peer_id;
	struct smc_groups groups;
	struct smc_paths paths;
	spinlock_t socks_lock;		/* protects what follows */
	struct rb_root socks;
	u64 last_number;
	u64 pruned;
};

struct smc_net *smc_net(const struct net *net);

int smc_net_init(void);
void smc_net_exit(void);

#endif /* _NET_SMC_NET_H */
