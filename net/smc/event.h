/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens, for those who want to be told at once. Any layer reports here;
 * the reports go out in admin/. They cost nothing while nobody listens.
 */
#ifndef _NET_SMC_EVENT_H
#define _NET_SMC_EVENT_H

#include <linux/spinlock.h>

#include "types.h"

struct smc_group;
struct smc_link_info;
struct smc_path;
struct net;
struct sock;

/**
 * struct smc_event_limit - how many events of the frequent kind a namespace sends
 * @lock: protects all fields
 * @begin: jiffies when the current second began
 * @sent: events in it
 * @lost: events that were not sent since the last one that was
 */
struct smc_event_limit {
	spinlock_t lock;	/* protects all fields */
	unsigned long begin;
	unsigned int sent;
	u32 lost;
};

static inline void smc_event_limit_init(struct smc_event_limit *limit)
{
	spin_lock_init(&limit->lock);
}

/**
 * smc_event_group() - a link group is there, or is not any more
 * @group: the group; the caller holds a reference
 * @up: new connections can join from now on, or no longer
 *
 * Process context or softirq; does not sleep.
 */
void smc_event_group(const struct smc_group *group, bool up);

/**
 * smc_event_link() - a link of SMC-R is there, or is not any more
 * @group: its group; the caller holds a reference
 * @link: the link
 * @up: connections may use it from now on, or no longer
 *
 * Process context or softirq; does not sleep.
 */
void smc_event_link(const struct smc_group *group, const struct smc_link_info *link, bool up);

/**
 * smc_event_fallback() - a connection is a TCP connection
 * @tcp: its TCP socket
 * @role: this side's role
 * @reason: enum smc_reason
 * @peer_diagnosis: what the peer's Decline said, or 0
 *
 * Process context; does not sleep.
 */
void smc_event_fallback(const struct sock *tcp, enum smc_role role, u32 reason,
			u32 peer_diagnosis);

/**
 * smc_event_path() - a path of SMC-R does not work: connections are TCP
 * @net: the namespace
 * @path: the path
 * @seconds: for how long
 *
 * Process context or softirq; does not sleep.
 */
void smc_event_path(struct net *net, const struct smc_path *path, int seconds);

#endif /* _NET_SMC_EVENT_H */
