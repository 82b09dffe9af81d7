/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMCD_STATS_H
#define SMCD_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

#define STATS_SIZES	9	/* 8K, 16K, ... 1024K, larger */
#define STATS_REASONS	30	/* per role; the limit of the ABI */

/**
 * struct buffer_events - events of send or receive buffers
 * @too_small_peer: a request was larger than the peer's whole buffer
 * @too_small: a request was larger than the own buffer
 * @full_peer: stopped by a full buffer of the peer
 * @full: stopped by a full buffer (receiving: less data than requested)
 * @reuse: a buffer of an earlier connection was reused
 * @alloc: a buffer was allocated
 * @downgrade: a buffer was smaller than requested
 */
struct buffer_events {
	uint64_t	too_small_peer;
	uint64_t	too_small;
	uint64_t	full_peer;
	uint64_t	full;
	uint64_t	reuse;
	uint64_t	alloc;
	uint64_t	downgrade;
};

/*
 * Counters of SMC-D or SMC-R, in the order of "stats json". The gauges, which may decrease, are
 * last.
 */
struct tech_stats {
	uint64_t		tx_buffers[STATS_SIZES];
	uint64_t		rx_buffers[STATS_SIZES];
	uint64_t		tx_requests[STATS_SIZES];
	uint64_t		rx_requests[STATS_SIZES];
	struct buffer_events	tx_events;
	struct buffer_events	rx_events;
	uint64_t		client_v1;
	uint64_t		client_v2;
	uint64_t		server_v1;
	uint64_t		server_v2;
	uint64_t		sendpage;
	uint64_t		urgent;
	uint64_t		splice;
	uint64_t		cork;
	uint64_t		nodelay;
	uint64_t		rx_bytes;
	uint64_t		tx_bytes;
	uint64_t		rx_count;
	uint64_t		tx_count;
	uint64_t		rx_usage;
	uint64_t		tx_usage;
};

#define TECH_VALUES	(sizeof(struct tech_stats) / sizeof(uint64_t))
#define TECH_COUNTERS	(offsetof(struct tech_stats, rx_usage) / sizeof(uint64_t))

/**
 * struct side_stats - connections of clients or servers that do not use SMC
 * @handshake_errors: connections that ended with an error
 * @fallbacks: connections that fell back to TCP
 * @reasons: number of entries in @reason
 * @reason: why they fell back
 */
struct side_stats {
	uint64_t	handshake_errors;
	uint64_t	fallbacks;
	uint64_t	reasons;
	struct {
		uint64_t	code;
		uint64_t	count;
	} reason[STATS_REASONS];
};

/*
 * Counters of SMC-D or SMC-R that are specific to this tree's module: connections aborted by this
 * side, in total and by cause; connections aborted by the peer; how often this side made a peer's
 * receive buffer larger, or could not; wake-ups avoided; waits that ended during busy polling.
 */
struct own_tech_stats {
	uint64_t	aborts;
	uint64_t	by_app;
	uint64_t	by_tcp;
	uint64_t	by_link;
	uint64_t	by_timeout;
	uint64_t	by_orphan;
	uint64_t	by_violation;
	uint64_t	by_peer;
	uint64_t	rings_grown;
	uint64_t	rings_stuck;
	uint64_t	rings_shrunk;
	uint64_t	wakeups_saved;
	uint64_t	busy_polls;
};

#define STATS_TIMES	11	/* up to 100 us, 250 us, ... 1 s, longer */

/**
 * struct own_stats - counters that are specific to this tree's module
 * @smcd: of SMC-D
 * @smcr: of SMC-R
 * @times: handshakes that resulted in SMC, by duration
 * @path_failures: number of times that a path of SMC-R failed
 * @in_memory: handshakes whose messages went through memory
 * @withdrawn: offers in memory that no server claimed
 * @strays: messages of link layer control of SMC-R that nothing waited for
 * @there: the module has sent these counters; the fields below are gauges
 * @handshakes: handshakes in progress
 * @buffer_used: bytes of buffers of all namespaces
 * @buffer_limit: limit of @buffer_used
 * @share_used: bytes of buffers of this namespace
 * @share_limit: limit of @share_used
 * @orphans: closed connections that wait for their peers
 * @paths_bad: paths of SMC-R that are currently not used
 */
struct own_stats {
	struct own_tech_stats	smcd;
	struct own_tech_stats	smcr;
	uint64_t		times[STATS_TIMES];
	uint64_t		path_failures;
	uint64_t		in_memory;
	uint64_t		withdrawn;
	uint64_t		strays;
	uint64_t		there;
	uint64_t		handshakes;
	uint64_t		buffer_used;
	uint64_t		buffer_limit;
	uint64_t		share_used;
	uint64_t		share_limit;
	uint64_t		orphans;
	uint64_t		paths_bad;
};

#define OWN_COUNTERS	(offsetof(struct own_stats, there) / sizeof(uint64_t))

struct stats {
	struct tech_stats	smcd;
	struct tech_stats	smcr;
	struct side_stats	client;
	struct side_stats	server;
	struct own_stats	own;
};

struct nlattr;

void stats_decode(struct stats *stats, const struct nlattr *nest);
void stats_decode_fallback(struct stats *stats, const struct nlattr *nest);

/**
 * stats_subtract() - compute the difference to earlier counters
 * @now: replaced by the difference; gauges are unchanged
 * @then: the earlier counters
 *
 * Returns: false, with @now unchanged, if a counter in @then is larger, because the module was
 * loaded again since.
 */
bool stats_subtract(struct stats *now, const struct stats *then);

/* The counters at the last "stats reset" of this user in this namespace */
bool baseline_load(struct stats *stats);
bool baseline_save(const struct stats *stats);

uint64_t stats_client(const struct tech_stats *tech);
uint64_t stats_server(const struct tech_stats *tech);

void stats_print(const struct stats *stats, bool smcd, bool details);
void stats_json_tech(struct json *j, const struct stats *stats, bool smcd);
void stats_json_sides(struct json *j, const struct stats *stats);

/* Prints nothing if the module does not have these counters */
void stats_print_own(const struct stats *stats, bool smcd);
void stats_json_own(struct json *j, const struct stats *stats, bool smcd);

/* Print the header of the table of rates */
void stats_rate_header(void);

/**
 * stats_rate() - print rates per second
 * @diff: counts
 * @seconds: time in which they were counted
 * @smcd: SMC-D, else SMC-R
 * @j: print JSON, or NULL
 */
void stats_rate(const struct stats *diff, double seconds, bool smcd, struct json *j);

/**
 * stats_short() - format a number in six characters
 * @value: the number
 * @buf: result, STATS_SHORT_LEN bytes
 *
 * Returns: @buf.
 */
char *stats_short(uint64_t value, char *buf);

#define STATS_SHORT_LEN	24

#endif /* SMCD_STATS_H */
