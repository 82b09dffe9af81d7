// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer that forges cursors. The input is a ring and a list of cursors received;
 * two 64-bit counts, which no offset or wrap can confuse, say what is true.
 */
#include <linux/errno.h>

#include "../../net/smc/wire/bits.h"
#include "../../net/smc/wire/cursor.h"
#include "fuzz.h"

struct model {
	struct smc_ring ring;
	struct smc_cursor producer, consumer;
	u64 produced, consumed;		/* bytes since the ring was new */
};

static void check_model(const struct model *m)
{
	u32 size = smc_ring_size(&m->ring);
	u64 in_ring = m->produced - m->consumed;

	CHECK(in_ring <= size);
	CHECK(smc_cursor_inside(m->producer, &m->ring) && smc_cursor_inside(m->consumer, &m->ring));
	CHECK(smc_cursor_span(m->consumer, m->producer, &m->ring) == in_ring);
	CHECK(m->producer.count == m->ring.first + m->produced % size);
	CHECK(m->producer.wrap == (u16)(m->produced / size));
	CHECK(m->consumer.count == m->ring.first + m->consumed % size);
	CHECK(m->consumer.wrap == (u16)(m->consumed / size));
}

/* The bytes between two cursors, one by one, must be the parts of the split */
static void check_split(const struct model *m, struct smc_cursor from, u32 bytes)
{
	struct smc_ring_part part[2];
	unsigned int n = smc_ring_split(&m->ring, from, bytes, part);

	CHECK(part[0].len + part[1].len == bytes);
	CHECK(n == (part[0].len > 0) + (part[1].len > 0));
	CHECK(part[0].offset == from.count && part[0].offset + part[0].len <= m->ring.end);
	if (part[1].len)
		CHECK(part[1].offset == m->ring.first &&
		      part[0].offset + part[0].len == m->ring.end &&
		      part[1].offset + part[1].len <= m->ring.end);
}

static void receive_producer(struct model *m, struct smc_cursor next)
{
	u32 limit = smc_ring_size(&m->ring) - (m->produced - m->consumed);
	int moved = smc_cursor_moved(m->producer, next, limit, &m->ring);

	if (moved < 0) {
		CHECK(moved == -EPROTO);
		return;
	}
	CHECK((u32)moved <= limit);
	CHECK(smc_cursor_equal(smc_cursor_advance(m->producer, moved, &m->ring), next));
	check_split(m, m->producer, moved);
	m->producer = next;
	m->produced += moved;
}

static void receive_consumer(struct model *m, struct smc_cursor next)
{
	u32 limit = m->produced - m->consumed;
	int moved = smc_cursor_moved(m->consumer, next, limit, &m->ring);

	if (moved < 0) {
		CHECK(moved == -EPROTO);
		return;
	}
	CHECK((u32)moved <= limit);
	m->consumer = smc_cursor_advance(m->consumer, moved, &m->ring);
	CHECK(m->consumer.count == next.count);
	m->consumed += moved;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct model m = { .ring = { 0 } };
	struct smc_reader r;

	smc_reader_init(&r, data, size);
	m.ring.first = smc_get_u8(&r) & 1 ? 4 : 0;
	m.ring.end = m.ring.first + 1 + smc_get_be24(&r) % 524288;
	m.producer = smc_cursor_start(&m.ring);
	m.consumer = m.producer;

	for (;;) {
		u8 kind = smc_get_u8(&r);
		struct smc_cursor next = {
			.wrap = smc_get_be16(&r),
			.count = smc_get_be24(&r),
		};
		u32 bytes = next.count % (smc_ring_size(&m.ring) + 1);

		if (r.bad)
			return 0;
		/* Half of the time something sensible, or the ring would stay empty */
		switch (kind & 7) {
		case 0:
		case 1:
			receive_producer(&m, smc_cursor_advance(m.producer, bytes, &m.ring));
			break;
		case 2:
		case 3:
			receive_consumer(&m, smc_cursor_advance(m.consumer, bytes, &m.ring));
			break;
		case 4:
			receive_producer(&m, next);
			break;
		case 5:
		case 6:
			receive_consumer(&m, next);
			break;
		case 7:
			next = m.producer;
			next.wrap += kind >> 3;
			receive_producer(&m, next);
		}
		check_model(&m);
	}
}
