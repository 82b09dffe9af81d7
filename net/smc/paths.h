/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The paths of SMC-R that did not work lately, in one namespace. What is done with them is in
 * group/path.c; the struct is here because it is part of the namespace's state.
 */
#ifndef _NET_SMC_PATHS_H
#define _NET_SMC_PATHS_H

#include <linux/list.h>
#include <linux/spinlock.h>

/**
 * struct smc_paths - paths that failed
 * @lock: protects all fields; taken with bottom halves off
 * @failed: the one that failed last comes first
 * @nr: how many
 */
struct smc_paths {
	spinlock_t lock;	/* protects all fields */
	struct list_head failed;
	unsigned int nr;
};

static inline void smc_paths_init(struct smc_paths *paths)
{
	spin_lock_init(&paths->lock);
	INIT_LIST_HEAD(&paths->failed);
	paths->nr = 0;
}

#endif /* _NET_SMC_PATHS_H */
