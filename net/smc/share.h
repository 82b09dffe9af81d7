/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of the memory for buffers, in total and for each namespace */
#ifndef _NET_SMC_SHARE_H
#define _NET_SMC_SHARE_H

#include <linux/atomic.h>
#include <linux/refcount.h>

#include "types.h"

struct net;

#define SMC_SHARE_ALIVE	1	/* part of smc_share.used until the last reference is dropped */

/**
 * struct smc_share - memory for buffers that is charged to a namespace
 * @holders: references: one of the namespace, and those of objects that may charge memory
 *	later
 * @used: charged bytes, plus SMC_SHARE_ALIVE while @holders is not 0. At 0 the share is freed
 * @limit_mb: limit in MiB; 0: a part of smc_memory_limit(). Written by sysctl
 * @first: belongs to the initial namespace; constant
 * @guest: an unprivileged user may have created the namespace; constant
 * @nr_sums: number of sums over several namespaces in which it is included; constant
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
void smc_share_exceed(struct smc_share *share, u32 bytes);
void smc_share_give(struct smc_share *share, u32 bytes);
void smc_share_move(struct smc_share *from, struct smc_share *to, u32 bytes);

u32 smc_size_below(u32 bytes, unsigned long in_use, unsigned long limit);

/* All namespaces, including pooled memory */
unsigned long smc_memory_limit(void);
unsigned long smc_memory_used(void);
u32 smc_memory_offer(u32 bytes);
u32 smc_memory_reserve(u32 bytes);
bool smc_memory_reserve_exactly(u32 bytes);
void smc_memory_exceed(u32 bytes);
void smc_memory_unreserve(u32 bytes);

#endif /* _NET_SMC_SHARE_H */
