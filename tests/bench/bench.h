/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * smcbench: what its parts share.
 *
 * A run has two ends, the client and the server, which agree on every step over
 * a control channel (control.c). The client decides what is done and measures;
 * the server does as the specification it was sent says. Both ends know the
 * amount of work beforehand, so that equal specifications are equal work.
 */
#ifndef SMCBENCH_BENCH_H
#define SMCBENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum family {
	FAMILY_TCP,
	FAMILY_UNIX,
	FAMILY_SMC,
};

/* The ends of a run. */
enum end {
	END_NONE,
	END_CLIENT,
	END_SERVER,
};

/* How much of what is received gets compared with the expected pattern. */
enum check {
	CHECK_NONE,
	CHECK_SAMPLED,	/* the first and the last bytes of every piece */
	CHECK_FULL,
};

/**
 * struct spec - everything both ends must agree on
 * @test:	name of the test, a row of the table in smcbench.c
 * @addr:	IPv4 or IPv6 address the server listens on; unused for AF_UNIX
 * @family:	socket family under test
 * @plain:	the end that has TCP sockets whatever @family says
 * @check:	payload check inside the measured window; warm-up is always full
 * @size:	bytes per write (bulk) or per message (rr, oneway)
 * @rsize:	bytes asked for by each read
 * @count:	amount of measured work: bytes (bulk), operations, connections
 * @warm:	amount of the same work done before measuring
 * @parallel:	connections in flight (crr)
 * @bufsize:	SO_SNDBUF and SO_RCVBUF, 0 leaves the default
 * @busy_poll:	SO_BUSY_POLL in microseconds, 0 leaves the default
 * @nodelay:	set TCP_NODELAY
 * @times:	measure each round trip by itself (rr)
 * @gap:	microseconds without a message after each burst (oneway), or before the
 *		memory is measured (idle)
 * @burst:	messages sent at once (oneway)
 * @by_family:	create SMC sockets by family AF_SMC, not by protocol number
 */
struct spec {
	char test[16];
	char addr[64];
	enum family family;
	enum end plain;
	enum check check;
	uint64_t size;
	uint64_t rsize;
	uint64_t count;
	uint64_t warm;
	uint64_t parallel;
	uint64_t bufsize;
	uint64_t busy_poll;
	uint64_t nodelay;
	uint64_t times;
	uint64_t gap;
	uint64_t burst;
	uint64_t by_family;
};

/* util.c */

/* Print "smcbench: PHASE: message[: strerror]" and exit with status 1. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void die_errno(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Name the step that die() and the watchdog report. */
void phase(const char *name);

/* End the process with an error if it is still alive after @seconds. */
void watchdog(unsigned int seconds);

void *xmalloc(size_t size);
uint64_t clock_ns(void);

const char *family_name(enum family family);
const char *check_name(enum check check);
bool family_parse(const char *name, enum family *family);
bool check_parse(const char *name, enum check *check);

const char *end_name(enum end end);
bool end_parse(const char *name, enum end *end);

/* Decimal number with an optional k, m or g (powers of 1024). */
bool number_parse(const char *text, uint64_t *number);

#endif
