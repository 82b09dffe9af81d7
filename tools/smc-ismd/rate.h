/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rate limit: a burst, then one event per second
 *
 * Pure: the caller passes the time, in milliseconds.
 */
#ifndef SMC_ISMD_RATE_H
#define SMC_ISMD_RATE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct rate - a token bucket
 * @full: time when it is full again
 */
struct rate {
	uint64_t full;
};

/**
 * rate_allows() - is an event allowed now?
 * @rate: the bucket
 * @now: current time
 * @burst: number of events in a row, at least 1
 */
bool rate_allows(const struct rate *rate, uint64_t now, unsigned int burst);

/* Count an event */
void rate_count(struct rate *rate, uint64_t now);

/* Were there so few events that the whole burst is allowed again? */
bool rate_is_calm(const struct rate *rate, uint64_t now);

#endif /* SMC_ISMD_RATE_H */
