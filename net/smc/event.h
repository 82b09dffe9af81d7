/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events for netlink listeners. Any layer may report an event; admin/events.c sends it. Without a
 * listener nothing is sent.
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
 * struct smc_event_limit - rate limit of fallback events in a namespace
 * @lock: protects all fields
 * @begin: jiffies when the current second began
 * @sent: events sent in this second
 * @lost: events suppressed since the last one that was sent
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
 * smc_event_group() - a link group came up or went down
 * @group: the group; the caller holds a reference
 * @up: new connections can join, or cannot any more
 *
 * Process context or softirq; does not sleep.
 */
void smc_event_group(const struct smc_group *group, bool up);

/**
 * smc_event_link() - a link of SMC-R came up or went down
 * @group: its group; the caller holds a reference
 * @link: the link
 * @up: connections can use it, or cannot any more
 *
 * Process context or softirq; does not sleep.
 */
void smc_event_link(const struct smc_group *group, const struct smc_link_info *link, bool up);

/**
 * smc_event_fallback() - a connection fell back to TCP
 * @tcp: its TCP socket
 * @role: this side's role
 * @reason: enum smc_reason
 * @peer_diagnosis: diagnosis in the peer's Decline, or 0
 *
 * Process context; does not sleep.
 */
void smc_event_fallback(const struct sock *tcp, enum smc_role role, u32 reason,
			u32 peer_diagnosis);

/**
 * smc_event_path() - a path of SMC-R failed: its connections use TCP
 * @net: the namespace
 * @path: the path
 * @seconds: time for which the path is not used
 *
 * Process context or softirq; does not sleep.
 */
void smc_event_path(struct net *net, const struct smc_path *path, int seconds);

#endif /* _NET_SMC_EVENT_H */
