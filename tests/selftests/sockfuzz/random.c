// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers: each thread has its own, from the seed and its number */

#include <limits.h>

#include "sockfuzz.h"

uint64_t random_next(void)
{
	uint64_t z = (me->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t random_below(uint64_t limit)
{
	return limit ? random_next() % limit : 0;
}

bool one_in(unsigned int n)
{
	return !random_below(n);
}

size_t random_size(size_t most)
{
	size_t size = 1 + random_below(most);

	return 1 + random_below(size >> random_below(20));
}

/* Values at the edges, and some that options like */
long random_value(void)
{
	static const long edges[] = {
		0, 0, 1, 1, 1, 2, 3, 5, 10, 50, 100, 255, 256, 1000, 1500, 4096, 16384, 65535,
		65536, 262144, 1 << 20, INT_MAX, INT_MIN, -1, -1, -2, LONG_MAX,
	};

	if (one_in(3))
		return random_below(1 << random_below(24));
	return edges[random_below(sizeof(edges) / sizeof(*edges))];
}

int random_flags(const int *flags, int nr, unsigned int chance)
{
	int all = 0, i;

	for (i = 0; i < nr; i++)
		if (one_in(chance))
			all |= flags[i];
	return all;
}
