// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers, and the bytes of the streams: a table of random bytes, repeated.
 * Its length is a prime, so that no ring size is a multiple of it; each direction
 * of each connection begins at another place.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "torture.h"

#define PERIOD	1048573

static uint8_t *table;
static int table_fd;
static __thread uint64_t state;

static uint64_t next_random(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void random_seed(uint64_t seed)
{
	state = seed;
}

uint64_t random_below(uint64_t limit)
{
	return limit ? next_random() % limit : 0;
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

/* A file, so that it can be sent with sendfile() and splice() */
void pattern_init(uint64_t seed)
{
	int i;

	table_fd = memfd_create("pattern", 0);
	if (table_fd < 0 || ftruncate(table_fd, PERIOD)) {
		perror("memfd_create");
		exit(2);
	}
	table = mmap(NULL, PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED, table_fd, 0);
	random_seed(seed);
	for (i = 0; i < PERIOD; i++)
		table[i] = next_random();
}

int pattern_file(void)
{
	return table_fd;
}

/* Bytes of a side's stream, at most so many, as far as they lie in one piece */
struct piece pattern_piece(const struct end *end, int side, uint64_t offset, size_t most)
{
	size_t place = (offset + (2 * end->conn->number + side) * 7919ULL) % PERIOD;
	size_t len = PERIOD - place;

	return (struct piece){ table + place, len < most ? len : most, place };
}

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t i = 0;

	while (i < len && a[i] == b[i])
		i++;
	return i;
}

/* If what came belongs elsewhere in the stream, where? */
static long place_of(const struct end *end, const uint8_t *buf, size_t len, uint64_t offset)
{
	uint64_t from = offset > PERIOD / 2 ? offset - PERIOD / 2 : 0, at;

	for (at = from; len >= 8 && at < from + PERIOD; at++) {
		struct piece piece = pattern_piece(end, !end->index, at, 8);

		if (piece.len == 8 && !memcmp(buf, piece.bytes, 8))
			return at;
	}
	return -1;
}

/* What this end received from the peer, at an offset of the peer's stream */
void pattern_check(const struct end *end, const void *buf, size_t len, uint64_t offset)
{
	const uint8_t *bytes = buf;

	while (len) {
		struct piece want = pattern_piece(end, !end->index, offset, len);

		if (memcmp(bytes, want.bytes, want.len)) {
			size_t wrong = first_difference(bytes, want.bytes, want.len);

			fail(end, "byte %llu is 0x%02x, not 0x%02x; it is that of %ld",
			     (unsigned long long)(offset + wrong), bytes[wrong],
			     want.bytes[wrong],
			     place_of(end, bytes + wrong, want.len - wrong, offset + wrong));
		}
		bytes += want.len;
		offset += want.len;
		len -= want.len;
	}
}
