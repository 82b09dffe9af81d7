/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ring buffers and their cursors (RFC 7609, A.4 and 4.7).
 *
 * A cursor is an offset in a ring plus a wrap count. The producer cursor names the next byte to be
 * written, the consumer cursor the next byte to be read. If both offsets are equal, the wrap counts
 * tell an empty ring from a full one.
 *
 * A cursor that a peer has sent must not be used before smc_cursor_moved() has accepted it.
 */
#ifndef _NET_SMC_WIRE_CURSOR_H
#define _NET_SMC_WIRE_CURSOR_H

#include <linux/errno.h>
#include <linux/types.h>

/**
 * struct smc_ring - the data area of one RMBE or DMB element
 * @first: offset of the first data byte; cursors start here and wrap to here
 * @end: offset of the first byte after the data area, at most 2^31 - 1
 *
 * In an SMC-R element with eye catcher, @first is 4 and @end is the element size. In one without
 * eye catcher, @first is 0. In a DMB, offsets start after the control block: @first is 0 and @end
 * is the usable size.
 */
struct smc_ring {
	u32 first;
	u32 end;
};

/**
 * struct smc_cursor - a position in a ring
 * @wrap: number of wraps, modulo 2^16
 * @count: offset of the byte, in the range [first, end) of its ring
 */
struct smc_cursor {
	u16 wrap;
	u32 count;
};

/**
 * struct smc_ring_part - contiguous bytes of a ring
 * @offset: offset of the first byte
 * @len: number of bytes
 */
struct smc_ring_part {
	u32 offset;
	u32 len;
};

/* Capacity of a ring in bytes */
static inline u32 smc_ring_size(const struct smc_ring *ring)
{
	return ring->end - ring->first;
}

/* Initial position of both cursors */
static inline struct smc_cursor smc_cursor_start(const struct smc_ring *ring)
{
	return (struct smc_cursor){ .wrap = 0, .count = ring->first };
}

static inline bool smc_cursor_equal(struct smc_cursor a, struct smc_cursor b)
{
	return a.count == b.count && a.wrap == b.wrap;
}

static inline bool smc_cursor_inside(struct smc_cursor cursor, const struct smc_ring *ring)
{
	return cursor.count >= ring->first && cursor.count < ring->end;
}

/**
 * smc_cursor_advance() - move a cursor forward
 * @cursor: current position, inside the ring
 * @bytes: distance, at most the size of the ring
 * @ring: the ring
 *
 * Return: the new position.
 */
static inline struct smc_cursor
smc_cursor_advance(struct smc_cursor cursor, u32 bytes, const struct smc_ring *ring)
{
	if (bytes < ring->end - cursor.count) {
		cursor.count += bytes;
	} else {
		cursor.count = ring->first + (bytes - (ring->end - cursor.count));
		cursor.wrap++;
	}
	return cursor;
}

/**
 * smc_cursor_span() - number of bytes from one cursor forward to another, at most one lap
 * @from: start, inside the ring
 * @to: end, inside the ring
 * @ring: the ring
 *
 * Wrap counts are compared only if the offsets are equal.
 *
 * Return: 0 to the size of the ring.
 */
static inline u32 smc_cursor_span(struct smc_cursor from, struct smc_cursor to,
				  const struct smc_ring *ring)
{
	if (to.count > from.count)
		return to.count - from.count;
	if (to.count < from.count)
		return smc_ring_size(ring) - (from.count - to.count);
	return to.wrap == from.wrap ? 0 : smc_ring_size(ring);
}

/**
 * smc_cursor_moved() - check a cursor received from the peer
 * @last: the last accepted value of the same cursor
 * @next: the value received
 * @limit: maximum distance: free bytes for a producer, used bytes for a consumer
 * @ring: the ring
 *
 * Return: distance in bytes, 0 to @limit; -EPROTO if @next is outside the ring, moved backwards, or
 * moved further than @limit.
 */
static inline int smc_cursor_moved(struct smc_cursor last, struct smc_cursor next, u32 limit,
				   const struct smc_ring *ring)
{
	u16 laps = next.wrap - last.wrap;
	u32 bytes;

	if (!smc_cursor_inside(next, ring))
		return -EPROTO;

	if (laps == 0 && next.count >= last.count)
		bytes = next.count - last.count;
	else if (laps == 1 && next.count <= last.count)
		bytes = smc_ring_size(ring) - (last.count - next.count);
	else
		return -EPROTO;

	return bytes <= limit ? (int)bytes : -EPROTO;
}

/**
 * smc_ring_split() - split a range that may cross the ring's end into contiguous parts
 * @ring: the ring
 * @from: first byte of the range, inside the ring
 * @bytes: length of the range, at most the size of the ring
 * @part: result; unused parts have length 0
 *
 * Return: number of parts, 0 to 2.
 */
static inline unsigned int smc_ring_split(const struct smc_ring *ring, struct smc_cursor from,
					  u32 bytes, struct smc_ring_part part[2])
{
	u32 to_end = ring->end - from.count;

	part[0].offset = from.count;
	part[0].len = bytes < to_end ? bytes : to_end;
	part[1].offset = ring->first;
	part[1].len = bytes - part[0].len;

	return (part[0].len != 0) + (part[1].len != 0);
}

#endif /* _NET_SMC_WIRE_CURSOR_H */
