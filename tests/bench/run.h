/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of one test, and the measured window both ends go through together. */
#ifndef SMCBENCH_RUN_H
#define SMCBENCH_RUN_H

#include "bench.h"
#include "control.h"
#include "kworkers.h"
#include "measure.h"
#include "sock.h"

/**
 * struct run - one end of one run
 * @spec:	the same at both ends
 * @end:	which end this is
 * @control:	to the other end
 * @target:	client: where the server listens
 * @listener:	server: the listening socket
 * @begin:	counters at the start of the window
 * @voluntary:	this process's context switches at the start of the window
 * @involuntary: likewise
 * @kworkers:	runs of kworkers at the start of the window
 * @rsts:	TCP resets of this namespace at the start of the window
 * @cost:	client: the result, with the server's share
 * @fell_back:	an AF_SMC connection became a TCP one
 * @stayed:	an AF_SMC connection did not
 */
struct run {
	struct spec spec;
	enum end end;
	struct control *control;
	struct sock_target target;
	int listener;
	struct snapshot begin;
	uint64_t voluntary;
	uint64_t involuntary;
	struct kworkers kworkers;
	uint64_t rsts;
	struct cost cost;
	bool fell_back;
	bool stayed;
};

/**
 * struct test - a row of the table of tests
 * @name:	as on the command line
 * @needs_size:	whether spec.size matters
 * @client:	does the client's part and prints the result
 * @server:	does the server's part
 */
struct test {
	const char *name;
	bool needs_size;
	void (*client)(struct run *run);
	void (*server)(struct run *run);
};

extern const struct test bulk_test, rr_test, oneway_test, crr_test, idle_test, socket_test;

/*
 * Note whether a connection has fallen back. Both ends call this, and one of
 * them looks: the client, or the server if the client's sockets are TCP ones.
 */
void note_fallback(struct run *run, int fd);

/*
 * The window. Client: open, work, close. Server: serve, work, served. When the
 * two are in different kernels, each measures its own, and the client adds up.
 */
void window_open(struct run *run);
void window_close(struct run *run);
void window_serve(struct run *run);
void window_served(struct run *run);

/*
 * Results are JSON lines. The head has what every test has; each test adds its
 * own members with report_number() and report_text(), and ends the line.
 */
void report_begin(const char *test);
/* report_begin() for a run, with its specification. */
void report_run(const struct run *run);
void report_number(const char *name, double value);
void report_text(const char *name, const char *value);
void report_end(void);

/* A message of oneway begins with the time when it was sent */
#define ONEWAY_STAMP	sizeof(uint64_t)

/* Of some times, in ns */
struct percentiles {
	uint64_t p50;
	uint64_t p99;
	uint64_t max;
};

/* Sorts the @n times; @n is at least 1. */
struct percentiles percentiles_of(uint64_t *times, uint64_t n);
void report_percentiles(const struct percentiles *took);

/* The cost members, for a run of @ops operations and @bytes payload bytes. */
void report_cost(const struct cost *cost, uint64_t ops, uint64_t bytes);

#endif
