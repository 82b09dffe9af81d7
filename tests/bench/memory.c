// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's memory; see memory.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "memory.h"
#include "run.h"

#define CACHES_SHOWN 8

static char text[262144];

static uint64_t sockstat_tcp_bytes(void)
{
	unsigned long long pages;
	const char *tcp;

	if (!proc_read("/proc/net/sockstat", text, sizeof(text)))
		return 0;
	tcp = strstr(text, "TCP:");
	if (!tcp || sscanf(tcp, "TCP: inuse %*u orphan %*u tw %*u alloc %*u mem %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Pages on the lists of free pages which each processor keeps are neither in
 * MemFree nor used, and can be a sixth of all memory.
 */
static uint64_t pageset_bytes(void)
{
	uint64_t pages = 0;
	const char *line;

	if (!proc_read("/proc/zoneinfo", text, sizeof(text)))
		return 0;
	for (line = text; (line = strstr(line, " count: ")); line++)
		pages += strtoull(line + strlen(" count: "), NULL, 10);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * name active_objs num_objs objsize objperslab pagesperslab : tunables a b c :
 * slabdata active_slabs num_slabs sharedavail
 */
static bool slab_parse(const char *line, struct slab_cache *cache)
{
	unsigned long long pages, slabs;

	if (sscanf(line, "%39s %*u %*u %*u %*u %llu : tunables %*u %*u %*u : slabdata %*u %llu",
		   cache->name, &pages, &slabs) != 3)
		return false;
	cache->bytes = pages * slabs * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

static void read_caches(struct memory *memory)
{
	const char *line;

	memory->n_caches = 0;
	if (!proc_read("/proc/slabinfo", text, sizeof(text)))
		return;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (memory->n_caches < SLAB_CACHES_MAX &&
		    slab_parse(line, &memory->caches[memory->n_caches]))
			memory->n_caches++;
	}
}

void memory_read(struct memory *memory)
{
	/* The first line of the file, which meminfo() cannot find, never changes. */
	const uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	read_caches(memory);
	memory->tcp = sockstat_tcp_bytes();
	memory->used = total - meminfo("MemFree") - pageset_bytes();
	memory->slab = meminfo("Slab");
	memory->vmalloc = meminfo("VmallocUsed");
	memory->percpu = meminfo("Percpu");
}

static void report_growth(const char *prefix, const char *member, uint64_t before,
			  uint64_t now, uint64_t n)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", prefix, member);
	report_number(name, ((double)now - (double)before) / (double)n);
}

void memory_report(const char *prefix, const struct memory *before,
		   const struct memory *now, uint64_t n)
{
	report_growth(prefix, "used", before->used, now->used, n);
	report_growth(prefix, "slab", before->slab, now->slab, n);
	report_growth(prefix, "vmalloc", before->vmalloc, now->vmalloc, n);
	report_growth(prefix, "percpu", before->percpu, now->percpu, n);
	report_growth(prefix, "tcp", before->tcp, now->tcp, n);
}

static uint64_t cache_bytes(const struct memory *memory, const char *name)
{
	for (size_t i = 0; i < memory->n_caches; i++) {
		if (!strcmp(memory->caches[i].name, name))
			return memory->caches[i].bytes;
	}
	return 0;
}

static int by_bytes_down(const void *a, const void *b)
{
	const struct slab_cache *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

void memory_report_caches(const char *name, const struct memory *before,
			  const struct memory *now, uint64_t n)
{
	static struct slab_cache grown[SLAB_CACHES_MAX];
	char list[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < now->n_caches; i++) {
		uint64_t old = cache_bytes(before, now->caches[i].name);

		grown[i] = now->caches[i];
		grown[i].bytes -= old < grown[i].bytes ? old : grown[i].bytes;
	}
	qsort(grown, now->n_caches, sizeof(grown[0]), by_bytes_down);
	for (size_t i = 0; i < now->n_caches && i < CACHES_SHOWN && grown[i].bytes; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s %" PRIu64,
					 i ? ", " : "", grown[i].name, grown[i].bytes / n);
	report_text(name, list);
}
