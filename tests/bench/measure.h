/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test costs: time, processor, context switches, kworkers, TCP segments. */
#ifndef SMCBENCH_MEASURE_H
#define SMCBENCH_MEASURE_H

#include "bench.h"

#define PROCESSORS_MAX 64

/**
 * struct snapshot - system-wide counters at one moment
 * @wall:	CLOCK_MONOTONIC
 * @ctxt:	context switches since boot
 * @segs:	TCP segments sent in this network namespace
 * @idle:	idle time in ns: of all processors, or one by one
 * @read_at:	CLOCK_MONOTONIC when the idle time of a processor was read
 */
struct snapshot {
	uint64_t wall;
	uint64_t ctxt;
	uint64_t segs;
	uint64_t idle[PROCESSORS_MAX];
	uint64_t read_at[PROCESSORS_MAX];
};

/**
 * struct cost - the difference of two snapshots
 * @wall:	ns
 * @busy:	ns any processor was not idle, summed over processors
 * @ctxt:	context switches of the whole machine
 * @segs:	TCP segments sent in this network namespace
 * @voluntary:	context switches of the two processes which slept
 * @involuntary: context switches of the two processes which were preempted
 * @kworkers:	runs of kworkers, or -1 if unknown
 * @rsts:	TCP resets sent in the network namespaces of both ends, or -1
 */
struct cost {
	uint64_t wall;
	uint64_t busy;
	uint64_t ctxt;
	uint64_t segs;
	uint64_t voluntary;
	uint64_t involuntary;
	int64_t kworkers;
	int64_t rsts;
};

/* Open what is read, so that reading it later does not need to. */
void measure_init(void);

/* The clock is read last before the work, and first after it. */
void measure_begin(struct snapshot *snap);
void measure_end(const struct snapshot *begin, struct cost *cost);

/*
 * An instruction without effect by which tests/bench/insncount.c, watching from
 * outside of the guest, knows that the window begins or ends.
 */
void measure_mark(void);

/*
 * Wait until nothing ran but us for @times 20th parts of a second. A kernel that
 * has just booted checks keys and runs self-tests in the background, which would
 * all count as ours.
 */
void measure_settle(uint64_t times);

/* Where idle time comes from: "timer_list" is exact, "stat" counts ticks. */
const char *measure_idle_source(void);

/* This process's context switches so far. */
void measure_switches(uint64_t *voluntary, uint64_t *involuntary);

/* TCP resets sent in this network namespace so far. */
uint64_t measure_rsts(void);

/* Which network namespace this is; not the same number twice in one kernel. */
uint64_t measure_netns(void);

/* Add what the other end, in another kernel, has measured. */
void cost_add(struct cost *cost, const struct cost *other);

/* The number after the text @key, 0 if it is not there. */
uint64_t number_after(const char *text, const char *key);

/* One number of /proc/meminfo in bytes, 0 if there is no such line. */
uint64_t meminfo(const char *field);

/*
 * Read a whole /proc file into @buf as a string. Returns false if it cannot be
 * read; dies if it is larger than the buffer.
 */
bool proc_read(const char *path, char *buf, size_t size);

#endif
