/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's memory, system-wide and by slab cache. */
#ifndef SMCBENCH_MEMORY_H
#define SMCBENCH_MEMORY_H

#include "bench.h"

#define SLAB_CACHES_MAX 512

struct slab_cache {
	char name[40];
	uint64_t bytes;
};

/**
 * struct memory - memory in use at one moment, in bytes
 * @used:	neither free nor on a processor's list of free pages
 * @slab:	all slab caches
 * @vmalloc:	vmalloc areas
 * @percpu:	per-CPU allocations
 * @tcp:	pages that TCP accounts to socket buffers
 * @n_caches:	valid elements of @caches, 0 if /proc/slabinfo is not readable
 * @caches:	by cache
 */
struct memory {
	uint64_t used;
	uint64_t slab;
	uint64_t vmalloc;
	uint64_t percpu;
	uint64_t tcp;
	size_t n_caches;
	struct slab_cache caches[SLAB_CACHES_MAX];
};

void memory_read(struct memory *memory);

/* Add to the report what @now has more than @before, divided by @n. */
void memory_report(const char *prefix, const struct memory *before,
		   const struct memory *now, uint64_t n);

/* Add the slab caches that grew most, as one text: "name bytes, ..." per @n. */
void memory_report_caches(const char *name, const struct memory *before,
			  const struct memory *now, uint64_t n);

#endif
