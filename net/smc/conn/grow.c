// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings that grow: over a loopback device a connection begins with small rings, and the writer
 * replaces the memory of its ring by larger memory when it needs that.
 *
 * The writer has its socket lock, so nothing else writes to the ring. The reader goes on to read,
 * and to report what it has read:
 *
 *	1. The writer charges the new memory to the reader, whose receive buffer it is, and
 *	   allocates it.
 *	2. It copies what the reader has not consumed, without a lock of the reader.
 *	3. With the spin lock of the reader's socket and the conn->lock of both ends, it
 *	   replaces the memory, and sets all cursors to positions in the new ring. The counts of
 *	   bytes stay what they are. It posts both control blocks again: those that were posted
 *	   have cursors of the former ring.
 *	4. It frees the former memory. A reader that copies from it without a spin lock, and may
 *	   wait for a page fault meanwhile, frees it instead: at most one of them, and no larger
 *	   than half of the present ring. The cgroup of the reader pays for the present ring only.
 *
 * A writer does not wait for the reader, as that may wait for the writer. If there is no memory the
 * ring stays as it is, and the writer waits for space. A call that writes, or waits to write, tries
 * again after SMC_GROW_RETRY.
 */

#include <linux/log2.h>
#include <linux/sched/mm.h>

#include "../group/buffer.h"
#include "../trace.h"
#include "conn.h"

#define GROWTH	4	/* times larger, at least */

/* Has the connection started, and may both ends still post? */
static bool is_in_use(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->attached && !conn->freeing && !conn->failed && !conn->lost &&
	       !conn->peer_gone && !conn->tx.ended;
}

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
	WRITE_ONCE(tx->ring.end, to->ring.end);
	WRITE_ONCE(tx->buffer_bytes, to->bytes);
	tx->prod = make_cursor(&tx->ring, tx->produced - start);
	tx->cons = make_cursor(&tx->ring, passed - start);
	tx->highest = tx->prod.count;
	WRITE_ONCE(tx->consumed, passed);
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

	if (!is_in_use(writer) || !is_in_use(reader) ||
	    reader->rx.buffer_bytes != writer->tx.buffer_bytes)
		return false;
	writer->transport->ring_swap(writer, memory);
	memory->written = writer->tx.highest;
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

	if (memory->bytes <= writer->tx.buffer_bytes ||
	    !copy_unread(writer, reader, memory, &start) ||
	    !lock_and_swap(writer, reader, memory, start))
		return false;
	smc_cdc_kick(writer);
	rcu_read_lock();
	smc_cdc_kick(reader);
	rcu_read_unlock();
	return true;
}

/*
 * Charge the larger ring to the reader, if that has started. Return: the size that its cgroup
 * allows, @bytes or smaller; 0 if it allows no larger one.
 */
static u32 charge_reader(struct smc_conn *reader, u32 bytes)
{
	u32 charged = 0;

	spin_lock_bh(&reader->lock);
	if (is_in_use(reader))
		charged = smc_buffer_charge_growth(reader, bytes);
	else if (!reader->attached)
		reader->rx.awaited = true;
	spin_unlock_bh(&reader->lock);
	return charged;
}

/* The charge becomes that of the present ring, whether or not it has grown */
static void settle_charge(struct smc_conn *reader)
{
	spin_lock_bh(&reader->lock);
	if (!reader->freeing) {		/* else smc_conn_free() uncharges all */
		smc_buffer_uncharge(reader, reader->rx.granted - reader->rx.buffer_bytes);
		reader->rx.granted = reader->rx.buffer_bytes;
	}
	spin_unlock_bh(&reader->lock);
}

static bool grow_ring(struct smc_conn *writer, struct smc_conn *reader, u32 bytes)
{
	const struct smc_transport *transport = writer->transport;
	struct smc_ring_memory memory;
	bool grown = false;

	bytes = charge_reader(reader, bytes);
	if (!bytes)
		return false;
	if (!transport->ring_alloc(writer, bytes, &memory)) {
		grown = swap_if_possible(writer, reader, &memory);
		if (memory.priv)
			transport->ring_free(writer, memory.priv, memory.written);
	}
	settle_charge(reader);
	return grown;
}

/*
 * The reader may wait for what a larger ring holds; but not if the ring could not grow, because the
 * writer may wait for space soon.
 */
static void tell_reader(struct smc_conn *reader, bool grown)
{
	u32 before = reader->rx.most;

	WRITE_ONCE(reader->rx.most, grown ? reader->rx.wanted : 0);
	if (before && !grown && smc_rx_available(reader))
		smc_conn_wake_readers(reader);
}

/*
 * A write on behalf of a file system or a block device must not wait for one. A network block
 * device writes as a task that frees memory does, always: the allocation then reclaims nothing, and
 * takes nothing of the kernel's reserves.
 */
static bool grow_for_socket(struct smc_conn *writer, struct smc_conn *reader, u32 bytes)
{
	unsigned int scope;
	bool grown;

	if (writer->sk->sk_allocation & __GFP_FS)
		return grow_ring(writer, reader, bytes);
	scope = memalloc_noio_save();
	grown = grow_ring(writer, reader, bytes);
	memalloc_noio_restore(scope);
	return grown;
}

/*
 * The size of a ring of @before bytes that is to hold @bytes: twice as large, because a reader
 * reports the space only when half of the ring is in use. A larger ring needs fewer reports.
 */
static u32 choose_size(u32 before, u32 bytes, u32 most)
{
	u32 size = roundup_pow_of_two(max(2 * bytes, before * GROWTH));

	return min(size, most);
}

/**
 * smc_tx_grow() - make the ring that is written to larger
 * @conn: a connection for which smc_tx_wants_growth() is true
 * @left: bytes that a call has to write
 *
 * The socket lock is held. May sleep, but does not wait for the peer. If it is not possible, the
 * ring stays as it is.
 */
void smc_tx_grow(struct smc_conn *conn, size_t left)
{
	struct smc_conn *reader = conn->transport->other_end(conn);
	struct smc_conn_tx *tx = &conn->tx;
	u32 bytes = smc_tx_outstanding(conn) + min_t(size_t, left, tx->most);
	u32 before = tx->buffer_bytes, wanted;
	bool grown;

	sock_owned_by_me(conn->sk);
	bytes += before - smc_ring_size(&tx->ring);	/* what the element has beside the ring */
	wanted = choose_size(before, bytes, tx->most);
	WRITE_ONCE(tx->cramped, false);
	WRITE_ONCE(tx->stuck, true);	/* smc_rx_started() may change that at once */
	tx->stuck_since = jiffies;
	if (!reader || !smc_conn_get_not_zero(reader))
		return;
	grown = grow_for_socket(conn, reader, wanted);
	if (grown)
		WRITE_ONCE(tx->stuck, false);
	else
		tx->stuck_since = jiffies;	/* the attempt may have taken long */
	smc_conn_count(conn, grown ? SMC_STAT_RING_GROWN : SMC_STAT_RING_STUCK, 1);
	trace_smc_ring(conn->sk, before, grown ? tx->buffer_bytes : wanted, grown);
	tell_reader(reader, grown);
	smc_conn_put(reader);
}

/**
 * smc_rx_started() - let a writer try again that wanted a larger ring before this end has started
 * @conn: an attached connection, which processes control data
 *
 * The socket lock is held. Does not sleep.
 */
void smc_rx_started(struct smc_conn *conn)
{
	struct smc_conn *writer;

	if (likely(!conn->rx.awaited))
		return;
	writer = conn->transport->other_end(conn);
	if (!writer || !smc_conn_get_not_zero(writer))
		return;
	WRITE_ONCE(writer->tx.stuck, false);
	smc_conn_wake_writers(writer);
	smc_conn_put(writer);
}
