// SPDX-License-Identifier: GPL-2.0-only
/* The payload pattern; see pattern.h. */
#include <string.h>

#include "pattern.h"

/*
 * 64 times a prime: pieces whose size is a multiple of 64 start aligned, and
 * displacements by less than this, among them every power of two up to 32 KiB
 * and, because the factor is odd, all larger ones, are noticed.
 */
#define PERIOD (64u * 1021u)

/* Bytes compared at each end of a piece when sampling. */
#define SAMPLE 8u

static unsigned char *pattern;

void pattern_init(size_t max)
{
	uint64_t state = 0x9e3779b97f4a7c15u;

	pattern = xmalloc(PERIOD + max);
	for (size_t i = 0; i < PERIOD; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		pattern[i] = (unsigned char)(state >> 32);
	}
	for (size_t i = PERIOD; i < PERIOD + max; i++)
		pattern[i] = pattern[i - PERIOD];
}

const void *pattern_at(uint64_t pos)
{
	return pattern + pos % PERIOD;
}

static void mismatch(uint64_t pos, const unsigned char *data, size_t len)
{
	const unsigned char *want = pattern_at(pos);
	size_t i = 0;

	while (i < len && data[i] == want[i])
		i++;
	die("payload differs at stream position %llu: %02x instead of %02x",
	    (unsigned long long)(pos + i), data[i], want[i]);
}

static void compare(uint64_t pos, const unsigned char *data, size_t len)
{
	if (memcmp(data, pattern_at(pos), len))
		mismatch(pos, data, len);
}

void pattern_check(uint64_t pos, const void *data, size_t len, enum check check)
{
	const unsigned char *bytes = data;

	if (check == CHECK_NONE)
		return;
	if (check == CHECK_FULL || len <= 2 * SAMPLE) {
		compare(pos, bytes, len);
		return;
	}
	compare(pos, bytes, SAMPLE);
	compare(pos + len - SAMPLE, bytes + len - SAMPLE, SAMPLE);
}
