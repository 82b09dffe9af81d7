// SPDX-License-Identifier: GPL-2.0-only
#include "rate.h"

#define INTERVAL	1000

bool rate_allows(const struct rate *rate, uint64_t now, unsigned int burst)
{
	return rate->full <= now + (uint64_t)(burst - 1) * INTERVAL;
}

void rate_count(struct rate *rate, uint64_t now)
{
	rate->full = (rate->full > now ? rate->full : now) + INTERVAL;
}

bool rate_is_calm(const struct rate *rate, uint64_t now)
{
	return rate->full <= now;
}
