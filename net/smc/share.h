/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much memory there may be for buffers, and how much of it each namespace holds.
 */
#ifndef _NET_SMC_SHARE_H
#define _NET_SMC_SHARE_H

#include <linux/atomic.h>
#include <linux/refcount.h>

#include "types.h"

struct net;

#define SMC_SHARE_ALIVE	1	/* in struct smc_share.used, as long as it has holders */

/**
 * struct smc_share - what a namespace holds of the memory for buffers
 * @holders: the namespace, and objects that may take memory for it later
 * @used: bytes that serve it, and SMC_SHARE_ALIVE while there are holders. The share is freed when
 *	it becomes 0
 * @limit_mb: most of it, in MiB; 0: a part of the machine's limit. Written by sysctl
 * @first: it is that of the first namespace; constant
 * @guest: a user without privileges may have made the namespace; constant
 * @nr_sums: in how many sums of several namespaces it counts; constant
 */
struct smc_share {
	refcount_t holders;
	atomic_long_t used;
	int limit_mb;
	bool first;
	bool guest;
	unsigned int nr_sums;
};

void smc_share_init(void);

struct smc_share *smc_share_create(const struct net *net);
void smc_share_hold(struct smc_share *share);
void smc_share_drop(struct smc_share *share);
unsigned long smc_share_used(const struct smc_share *share);
unsigned long smc_share_limit(const struct smc_share *share);
u32 smc_share_offer(const struct smc_share *share, u32 bytes);
u32 smc_share_take(struct smc_share *share, u32 bytes);
bool smc_share_take_exactly(struct smc_share *share, u32 bytes);
void smc_share_give(struct smc_share *share, u32 bytes);
void smc_share_move(struct smc_share *from, struct smc_share *to, u32 bytes);

u32 smc_size_below(u32 bytes, unsigned long in_use, unsigned long limit);

/* All namespaces, and what is pooled */
unsigned long smc_memory_limit(void);
unsigned long smc_memory_used(void);
u32 smc_memory_offer(u32 bytes);
u32 smc_memory_reserve(u32 bytes);
bool smc_memory_reserve_exactly(u32 bytes);
void smc_memory_unreserve(u32 bytes);

#endif /* _NET_SMC_SHARE_H */
