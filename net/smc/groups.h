/* SPDX-License-Identifier: GPL-2.0-only */
/* Link groups of a namespace: a part of struct smc_net. group/table.c uses it */
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
 * struct smc_peer_class - link groups whose peers have addresses of the same class
 * @nr: number of groups, including those that are forming or that no connection can join any
 *	more
 * @nr_forming: number of forming groups, server role, by enum smc_mode
 * @nr_idle: number of groups in @idle
 * @forming: forming groups of both modes, server role, oldest first
 * @idle: groups without connections, server role, oldest first
 * @silent: address of a peer whose first contact made other connections wait until a timeout
 * @silent_until: jiffies until which connections from @silent do not wait
 *
 * A keyed hash assigns addresses to classes, so several addresses share a class. A class stores one
 * silent address. After another address has replaced it, a connection from it may wait once more.
 */
struct smc_peer_class {
	unsigned int nr;
	unsigned int nr_forming[SMC_MODES];
	unsigned int nr_idle;
	struct list_head forming;
	struct list_head idle;
	struct in6_addr silent;
	unsigned long silent_until;
};

/**
 * struct smc_groups - link groups of one namespace
 * @lock: protects all fields but @secret and @alive; a BH lock
 * @list: groups that new connections can join, newest first
 * @last_serial: serial number of the group that was listed last
 * @by_key: the groups in @list, and forming groups of the server role
 * @classes: by hash of the peer's address
 * @nr: number of groups: the sum over @classes
 * @nr_forming: number of forming groups, server role, by enum smc_mode
 * @nr_idle: number of groups that can be evicted: the sum over @classes
 * @secret: key of the hash, so that peers cannot choose keys of the same bucket; constant
 * @alive: number of allocated groups. The exit of the namespace waits until it is 0
 */
struct smc_groups {
	spinlock_t lock;	/* protects all fields but @secret and @alive */
	struct list_head list;
	u64 last_serial;
	DECLARE_HASHTABLE(by_key, SMC_GROUP_HASH_BITS);
	struct smc_peer_class classes[SMC_PEER_CLASSES];
	unsigned int nr;
	unsigned int nr_forming[SMC_MODES];
	unsigned int nr_idle;
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
