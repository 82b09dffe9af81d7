/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths of SMC-R that failed recently in a namespace: a part of struct smc_net. group/path.c uses
 * it.
 */
#ifndef _NET_SMC_PATHS_H
#define _NET_SMC_PATHS_H

#include <linux/list.h>
#include <linux/spinlock.h>

/**
 * struct smc_paths - paths that failed
 * @lock: protects all fields; a BH lock
 * @failed: struct smc_path, the most recently failed first
 * @nr: number of paths
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
