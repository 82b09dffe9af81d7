/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The link groups of a namespace. What is done with them is in group/; the struct is here because
 * it is part of the namespace's state.
 */
#ifndef _NET_SMC_GROUPS_H
#define _NET_SMC_GROUPS_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

#include "types.h"

#define SMC_GROUP_HASH_BITS	8
#define SMC_PEER_CLASSES	128

/**
 * struct smc_peer_class - link groups with the peers of one class of addresses
 * @nr: groups, forming ones and those included that no connection can join any more
 * @nr_forming: groups of the server's role that are being formed
 * @forming: the same of both modes, oldest first
 * @idle: groups of the server's role without connections, oldest first
 * @silent: address of the peer whose first contact took too long for those that waited for it
 * @silent_until: jiffies until which connections from @silent do not wait
 *
 * A keyed hash spreads addresses over the classes, so a few addresses share one. A class remembers
 * one silent address. A connection from an address that was replaced may wait once more.
 */
struct smc_peer_class {
	unsigned int nr;
	unsigned int nr_forming[SMC_MODES];
	struct list_head forming;
	struct list_head idle;
	struct in6_addr silent;
	unsigned long silent_until;
};

/**
 * struct smc_groups - link groups of one namespace
 * @lock: protects all fields but @secret and @alive; taken with bottom halves off
 * @list: those in which new connections may be made, newest first
 * @last_serial: of the group that was listed last
 * @by_key: the same and, of the server's role, those that are being formed
 * @classes: by the hash of the peer's address
 * @nr: number of groups, as in the classes
 * @nr_forming: those of the server's role that are being formed
 * @secret: makes it impossible to choose keys that end up in one bucket; constant
 * @alive: groups whose memory is there. The namespace waits for the last one
 */
struct smc_groups {
	spinlock_t lock;	/* see above */
	struct list_head list;
	u64 last_serial;
	DECLARE_HASHTABLE(by_key, SMC_GROUP_HASH_BITS);
	struct smc_peer_class classes[SMC_PEER_CLASSES];
	unsigned int nr;
	unsigned int nr_forming[SMC_MODES];
	siphash_key_t secret;
	atomic_t alive;
};

static inline void smc_groups_init(struct smc_groups *groups)
{
	unsigned int i;

	spin_lock_init(&groups->lock);
	INIT_LIST_HEAD(&groups->list);
	hash_init(groups->by_key);
	for (i = 0; i < SMC_PEER_CLASSES; i++) {
		INIT_LIST_HEAD(&groups->classes[i].forming);
		INIT_LIST_HEAD(&groups->classes[i].idle);
	}
	get_random_bytes(&groups->secret, sizeof(groups->secret));
	atomic_set(&groups->alive, 0);
}

#endif /* _NET_SMC_GROUPS_H */
