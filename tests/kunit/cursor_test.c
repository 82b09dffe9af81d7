// SPDX-License-Identifier: GPL-2.0-only
/* Cursor arithmetic: the tables of V-20, the bounds of D3, and a simple model */
#include <kunit/test.h>

#include "../../net/smc/wire/cursor.h"

/* An RMB element of @size bytes with eye catcher, as RFC 7609 has it */
#define EYE_CATCHER_RING(size)	{ .first = 4, .end = (size) }

static struct smc_cursor at(u32 count, u16 wrap)
{
	return (struct smc_cursor){ .wrap = wrap, .count = count };
}

/* R-CUR-01, R-CUR-03, R-CUR-10 */
static const struct advance_row {
	u32 size, count;
	u16 wrap;
	u32 bytes, new_count;
	u16 new_wrap;
} advance_rows[] = {
	{ 16384,     4,     0,     0,     4, 0 },
	{ 16384,     4,     0,     1,     5, 0 },
	{ 16384, 16380,     0,     3, 16383, 0 },
	{ 16384, 16380,     0,     4,     4, 1 },
	{ 16384, 16383,     0,     1,     4, 1 },
	{ 16384,     4,     0, 16380,     4, 1 },
	{ 16384,     5, 65535, 16380,     5, 0 },
	{ 10000,  1004,     1,  9996,  1004, 2 },
	{ 10000,  1004,     3,     8,  1012, 3 },
};

static void advance(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(advance_rows); i++) {
		const struct advance_row *row = &advance_rows[i];
		struct smc_ring ring = EYE_CATCHER_RING(row->size);
		struct smc_cursor c = smc_cursor_advance(at(row->count, row->wrap), row->bytes,
							 &ring);

		KUNIT_EXPECT_EQ_MSG(test, c.count, row->new_count, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, c.wrap, row->new_wrap, "row %u", i);
	}
}

/* R-CUR-07, R-CUR-08, A-26 */
static const struct used_row {
	u32 size, producer;
	u16 producer_wrap;
	u32 consumer;
	u16 consumer_wrap;
	u32 used;
} used_rows[] = {
	{ 10000,    4, 0,    4,     0,    0 },
	{ 10000, 1004, 0,    4,     0, 1000 },
	{ 10000, 7004, 0,    4,     0, 7000 },
	{ 10000, 1004, 2, 1004,     1, 9996 },
	{ 10000,  500, 2, 1000,     1, 9496 },
	{ 10000, 9999, 0,    4,     0, 9995 },
	{ 10000,    4, 1,    4,     0, 9996 },
	{ 10000,    4, 1,    5,     0, 9995 },
	{ 10000,    4, 0, 9999, 65535,    1 },
};

static void span(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(used_rows); i++) {
		const struct used_row *row = &used_rows[i];
		struct smc_ring ring = EYE_CATCHER_RING(row->size);
		struct smc_cursor producer = at(row->producer, row->producer_wrap);
		struct smc_cursor consumer = at(row->consumer, row->consumer_wrap);

		KUNIT_EXPECT_EQ_MSG(test, smc_cursor_span(consumer, producer, &ring), row->used,
				    "row %u", i);
	}
}

static void start(struct kunit *test)
{
	struct smc_ring with = EYE_CATCHER_RING(16384), without = { .end = 16384 };

	KUNIT_EXPECT_TRUE(test, smc_cursor_equal(smc_cursor_start(&with), at(4, 0)));
	KUNIT_EXPECT_TRUE(test, smc_cursor_equal(smc_cursor_start(&without), at(0, 0)));
	KUNIT_EXPECT_EQ(test, smc_ring_size(&with), 16380);
	KUNIT_EXPECT_EQ(test, smc_ring_size(&without), 16384);
	KUNIT_EXPECT_FALSE(test, smc_cursor_equal(at(4, 0), at(4, 1)));
	KUNIT_EXPECT_FALSE(test, smc_cursor_equal(at(4, 0), at(5, 0)));
}

/* outside, backwards, too far */
static const struct moved_row {
	const char *name;
	u32 last;
	u16 last_wrap;
	u32 next;
	u16 next_wrap;
	u32 limit;
	int moved;
} moved_rows[] = {
	{ "not moved",		  1004, 1, 1004, 1, 9996,      0 },
	{ "not moved, full",	  1004, 1, 1004, 1,    0,      0 },
	{ "one byte",		  1004, 1, 1005, 1, 9996,      1 },
	{ "to the limit",	  1004, 1, 1104, 1,  100,    100 },
	{ "past the limit",	  1004, 1, 1105, 1,  100, -EPROTO },
	{ "past the end",	  9000, 1,  100, 2, 9996,   1096 },
	{ "past the end, limit",  9000, 1,  100, 2, 1096,   1096 },
	{ "past the end, beyond", 9000, 1,  100, 2, 1095, -EPROTO },
	{ "one lap",		  1004, 1, 1004, 2, 9996,   9996 },
	{ "one lap, too far",	  1004, 1, 1004, 2, 9995, -EPROTO },
	{ "wrap of the wrap",	  9999, 65535, 4, 0,    1,      1 },
	{ "backwards",		  1004, 1, 1003, 1, 9994, -EPROTO },
	{ "backwards over start",    4, 1, 9999, 0, 9994, -EPROTO },
	{ "a lap and a byte",	  1004, 1, 1005, 2, 9996, -EPROTO },
	{ "two laps",		  1004, 1, 1004, 3, 9996, -EPROTO },
	{ "wrap forged",	  1004, 1, 1010, 9, 9996, -EPROTO },
	{ "wrap of the producer", 1000, 1, 2000, 2, 9496, -EPROTO },
	{ "wrap went back",	  1004, 1, 1004, 0, 9995, -EPROTO },
	{ "before the ring",	  1004, 1,    3, 2, 9996, -EPROTO },
	{ "at zero",		  9999, 1,    0, 2, 9996, -EPROTO },
	{ "at the end",		  9999, 1, 10000, 1, 9996, -EPROTO },
	{ "far outside",	  9999, 1, 0xffffffff, 1, 9996, -EPROTO },
};

static void moved(struct kunit *test)
{
	struct smc_ring ring = EYE_CATCHER_RING(10000);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(moved_rows); i++) {
		const struct moved_row *row = &moved_rows[i];
		struct smc_cursor last = at(row->last, row->last_wrap);
		struct smc_cursor next = at(row->next, row->next_wrap);

		KUNIT_EXPECT_EQ_MSG(test, smc_cursor_moved(last, next, row->limit, &ring),
				    row->moved, "%s", row->name);
	}
}

/* R-CUR-09 */
static void split(struct kunit *test)
{
	struct smc_ring ring = EYE_CATCHER_RING(10000);
	struct smc_ring_part part[2];

	KUNIT_EXPECT_EQ(test, smc_ring_split(&ring, at(1004, 1), 0, part), 0);
	KUNIT_EXPECT_EQ(test, part[0].len + part[1].len, 0);

	KUNIT_EXPECT_EQ(test, smc_ring_split(&ring, at(1004, 1), 10, part), 1);
	KUNIT_EXPECT_EQ(test, part[0].offset, 1004);
	KUNIT_EXPECT_EQ(test, part[0].len, 10);
	KUNIT_EXPECT_EQ(test, part[1].len, 0);

	/* Up to the end is one part; one byte more makes two */
	KUNIT_EXPECT_EQ(test, smc_ring_split(&ring, at(9990, 1), 10, part), 1);
	KUNIT_EXPECT_EQ(test, part[0].len, 10);
	KUNIT_EXPECT_EQ(test, smc_ring_split(&ring, at(9990, 1), 11, part), 2);
	KUNIT_EXPECT_EQ(test, part[0].len, 10);
	KUNIT_EXPECT_EQ(test, part[1].offset, 4);
	KUNIT_EXPECT_EQ(test, part[1].len, 1);

	/* Scenario 4 of the RFC: 8996 bytes, then 1000 */
	KUNIT_EXPECT_EQ(test, smc_ring_split(&ring, at(1004, 1), 9996, part), 2);
	KUNIT_EXPECT_EQ(test, part[0].len, 8996);
	KUNIT_EXPECT_EQ(test, part[1].offset, 4);
	KUNIT_EXPECT_EQ(test, part[1].len, 1000);
}

/* The cursors in scenarios 4 and 5 of the RFC (R-CUR-10, R-BLK-01) */
static void scenarios(struct kunit *test)
{
	struct smc_ring ring = EYE_CATCHER_RING(10000);
	struct smc_cursor producer = at(1004, 1), consumer = at(1004, 1);
	u32 sent = 0;

	while (sent < 20000) {
		u32 window = smc_ring_size(&ring) - smc_cursor_span(consumer, producer, &ring);
		u32 bytes = 20000 - sent < window ? 20000 - sent : window;

		producer = smc_cursor_advance(producer, bytes, &ring);
		sent += bytes;
		KUNIT_EXPECT_EQ(test, smc_cursor_span(consumer, producer, &ring), bytes);
		consumer = smc_cursor_advance(consumer, bytes, &ring);
		KUNIT_EXPECT_TRUE(test, smc_cursor_equal(consumer, producer));
	}
	KUNIT_EXPECT_TRUE(test, smc_cursor_equal(producer, at(1012, 3)));

	producer = smc_cursor_advance(at(1000, 1), 500, &ring);
	KUNIT_EXPECT_TRUE(test, smc_cursor_equal(producer, at(1500, 1)));
}

static u32 next_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/*
 * The same walk with cursors and with plain 64-bit byte counts (R-CUR-06): both must agree after
 * each step.
 */
static void against_model(struct kunit *test)
{
	static const struct smc_ring rings[] = {
		{ 0, 1 }, { 0, 7 }, { 4, 11 }, { 0, 4064 }, { 4, 16384 }, { 0, 524288 },
	};
	u32 state = 1;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		const struct smc_ring *ring = &rings[i];
		struct smc_cursor producer = smc_cursor_start(ring);
		struct smc_cursor consumer = producer;
		u32 size = smc_ring_size(ring), step;
		u32 in_ring = 0;

		for (step = 0; step < 20000; step++) {
			bool write = next_random(&state) & 1;
			u32 limit = write ? size - in_ring : in_ring;
			u32 bytes = next_random(&state) % (limit + 1);
			struct smc_cursor old = write ? producer : consumer;
			struct smc_cursor new = smc_cursor_advance(old, bytes, ring);

			KUNIT_ASSERT_TRUE(test, smc_cursor_inside(new, ring));
			KUNIT_ASSERT_EQ(test, smc_cursor_moved(old, new, limit, ring), bytes);
			if (bytes)
				KUNIT_ASSERT_EQ(test, smc_cursor_moved(old, new, bytes - 1, ring),
						-EPROTO);
			if (write) {
				producer = new;
				in_ring += bytes;
			} else {
				consumer = new;
				in_ring -= bytes;
			}
			KUNIT_ASSERT_EQ(test, smc_cursor_span(consumer, producer, ring), in_ring);
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(start),
	KUNIT_CASE(advance),
	KUNIT_CASE(span),
	KUNIT_CASE(moved),
	KUNIT_CASE(split),
	KUNIT_CASE(scenarios),
	KUNIT_CASE(against_model),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_cursor",
	.test_cases = cases,
};

kunit_test_suite(suite);
