// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replace the memory of a ring: over a loopback device both ends of a connection are in this
 * kernel, and the end that writes to a ring can give it other memory.
 *
 * The caller has the socket lock of the writer, so nothing writes to the ring. The reader goes on
 * to read, and to report what it has read:
 *
 *	1. The new memory is allocated.
 *	2. What the reader has not consumed is copied, without a lock of the reader.
 *	3. With the spin lock of the reader's socket and the conn->lock of both ends, the memory is
 *	   replaced, and all cursors are set to positions in the new ring. The counts of bytes stay
 *	   what they are. Both control blocks are posted again: those that were posted have cursors
 *	   of the former ring.
 *	4. The former memory is freed. A reader that copies from it without a spin lock, and may
 *	   wait for a page fault meanwhile, frees it instead: at most one of them, and no larger
 *	   than half of the present ring. The cgroup of the reader pays for the present ring only.
 *
 * Nothing waits for the reader, as that may wait for the writer.
 */

#include "../group/buffer.h"
#include "conn.h"

static struct smc_cursor make_cursor(const struct smc_ring *ring, u32 bytes)
{
	return (struct smc_cursor){ .wrap = 0, .count = ring->first + bytes };
}

/*
 * Copy what the reader has not consumed, and the writer may not overwrite. In the new ring, the
 * position @start is at the first offset. Return: whether the new ring is large enough.
 */
static bool copy_unread(const struct smc_conn *writer, struct smc_conn *reader,
			struct smc_ring_memory *to, u32 *start)
{
	struct smc_ring_part part[2];
	struct smc_cursor from;
	unsigned int i, parts;
	u32 passed, at;

	spin_lock_bh(&reader->lock);
	*start = reader->rx.consumed;
	passed = smc_rx_passed(reader);
	from = smc_cursor_advance(reader->rx.cons, reader->urgent.gone, &reader->rx.ring);
	spin_unlock_bh(&reader->lock);

	if (writer->tx.produced - *start >= smc_ring_size(&to->ring))
		return false;
	at = to->ring.first + passed - *start;
	parts = smc_ring_split(&writer->tx.ring, from, writer->tx.produced - passed, part);
	for (i = 0; i < parts; i++) {
		memcpy(to->base + at, writer->tx.base + part[i].offset, part[i].len);
		at += part[i].len;
	}
	to->written = at;
	return true;
}

static void set_reader_ring(struct smc_conn_rx *rx, const struct smc_ring_memory *to, u32 start)
{
	rx->base = to->base;
	WRITE_ONCE(rx->ring.end, to->ring.end);
	rx->buffer_bytes = to->bytes;
	rx->cons = make_cursor(&rx->ring, rx->consumed - start);
	rx->prod = make_cursor(&rx->ring, rx->produced - start);
}

/* @passed: what the reader lets this end overwrite, which it need not have reported yet */
static void set_writer_ring(struct smc_conn_tx *tx, const struct smc_ring_memory *to, u32 start,
			    u32 passed)
{
	tx->base = to->base;
	WRITE_ONCE(tx->consumed, passed);	/* before the size, for a program that polls */
	WRITE_ONCE(tx->ring.end, to->ring.end);
	tx->peer = tx->ring;
	WRITE_ONCE(tx->buffer_bytes, to->bytes);
	tx->prod = make_cursor(&tx->ring, tx->produced - start);
	tx->cons = make_cursor(&tx->ring, passed - start);
	tx->highest = 0;
}

/*
 * Move both ends to @memory, into which copy_unread() has copied the bytes from @start on. The
 * caller kicks both. Return: whether it was done; then @memory is the former one, unless the reader
 * has it.
 */
static bool swap_memory(struct smc_conn *writer, struct smc_conn *reader,
			struct smc_ring_memory *memory, u32 start)
{
	struct smc_ring_memory to = *memory;

	if (!smc_conn_is_in_use(writer) || !smc_conn_is_in_use(reader) ||
	    reader->rx.buffer_bytes != writer->tx.buffer_bytes)
		return false;
	if (reader->rx.reading && to.bytes < reader->rx.buffer_bytes)
		return false;
	if (!writer->transport->ring_swap(writer, memory))
		return false;
	memory->written = smc_tx_written(&writer->tx);
	smc_conn_count_receive_buffer(reader, (s64)to.bytes - reader->rx.buffer_bytes);
	set_reader_ring(&reader->rx, &to, start);
	set_writer_ring(&writer->tx, &to, start, smc_rx_passed(reader));
	smc_cdc_limit_held(writer);
	smc_cdc_post(writer);
	smc_cdc_post(reader);
	if (reader->rx.reading && !reader->rx.left) {
		reader->rx.left = memory->priv;
		reader->rx.left_written = memory->written;
		memory->priv = NULL;
	}
	return true;
}

/*
 * Nothing but this takes the locks of both ends of a connection. The order of their addresses is
 * the same for the two directions. The spin lock of the socket keeps smc_rx_try() out.
 */
static bool lock_and_swap(struct smc_conn *writer, struct smc_conn *reader,
			  struct smc_ring_memory *memory, u32 start)
{
	struct smc_conn *first = min(writer, reader), *second = max(writer, reader);
	bool swapped;

	spin_lock_bh(&reader->sk->sk_lock.slock);
	spin_lock(&first->lock);
	spin_lock_nested(&second->lock, SINGLE_DEPTH_NESTING);
	swapped = swap_memory(writer, reader, memory, start);
	spin_unlock(&second->lock);
	spin_unlock(&first->lock);
	spin_unlock_bh(&reader->sk->sk_lock.slock);
	return swapped;
}

static bool swap_if_possible(struct smc_conn *writer, struct smc_conn *reader,
			     struct smc_ring_memory *memory)
{
	u32 start;

	if (!copy_unread(writer, reader, memory, &start) ||
	    !lock_and_swap(writer, reader, memory, start))
		return false;
	smc_cdc_kick(writer);
	rcu_read_lock();
	smc_cdc_kick(reader);
	rcu_read_unlock();
	return true;
}

/* The charge becomes that of the present ring, whether or not it has changed */
static void settle_charge(struct smc_conn *reader)
{
	spin_lock_bh(&reader->lock);
	/* Not before smc_conn_attach(); smc_conn_free() uncharges all */
	if (reader->attached && !reader->freeing) {
		smc_buffer_uncharge(reader, reader->rx.granted - reader->rx.buffer_bytes);
		reader->rx.granted = reader->rx.buffer_bytes;
	}
	spin_unlock_bh(&reader->lock);
}

/**
 * smc_ring_resize() - give the ring that is written to larger or smaller memory
 * @writer: a connection that has started; its socket lock is held
 * @reader: the connection at the other end; the caller has a reference
 * @bytes: size of the new memory. The reader is charged for it if it is larger
 *
 * May sleep, but does not wait for the peer. The charge of @reader becomes that of its ring.
 *
 * Return: whether it was done. If so, the ring may be smaller than @bytes, but it is larger than
 * before if @bytes is.
 */
bool smc_ring_resize(struct smc_conn *writer, struct smc_conn *reader, u32 bytes)
{
	const struct smc_transport *transport = writer->transport;
	u32 before = writer->tx.buffer_bytes;
	bool grows = bytes > before, done = false;
	struct smc_ring_memory memory;

	sock_owned_by_me(writer->sk);
	if (!transport->ring_alloc(writer, bytes, &memory)) {
		if (grows ? memory.bytes > before : memory.bytes < before)
			done = swap_if_possible(writer, reader, &memory);
		if (memory.priv)
			transport->ring_free(writer, memory.priv, memory.written, !done || grows);
	}
	settle_charge(reader);
	return done;
}
