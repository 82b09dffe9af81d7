/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often something may happen: some times in a row, and once a second from then on
 *
 * Pure: the caller says what time it is, in milliseconds.
 */
#ifndef SMC_ISMD_RATE_H
#define SMC_ISMD_RATE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct rate - a token bucket
 * @full: when it is full again
 */
struct rate {
	uint64_t full;
};

/**
 * rate_allows() - may it happen now?
 * @rate: the bucket
 * @now: what time it is
 * @burst: how often in a row, at least 1
 */
bool rate_allows(const struct rate *rate, uint64_t now, unsigned int burst);

/* It happens. */
void rate_count(struct rate *rate, uint64_t now);

/* Has it been so seldom that the whole burst is allowed again? */
bool rate_is_calm(const struct rate *rate, uint64_t now);

#endif /* SMC_ISMD_RATE_H */
