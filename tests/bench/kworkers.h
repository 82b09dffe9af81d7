/* SPDX-License-Identifier: GPL-2.0-only */
/* How often the kernel's work queues made a kworker run. */
#ifndef SMCBENCH_KWORKERS_H
#define SMCBENCH_KWORKERS_H

#include "bench.h"

#define KWORKERS_MAX 512

/**
 * struct kworkers - how often each kworker has run, at one moment
 * @n:		how many there are
 * @pid:	their thread identifiers
 * @runs:	how often each was switched away from, since it was created
 */
struct kworkers {
	size_t n;
	uint64_t pid[KWORKERS_MAX];
	uint64_t runs[KWORKERS_MAX];
};

/* Takes thousands of instructions for each task of the machine: not within the window. */
void kworkers_read(struct kworkers *kworkers);

/* How often kworkers have run since @before; -1 if none can be seen in /proc. */
int64_t kworkers_since(const struct kworkers *before);

#endif
