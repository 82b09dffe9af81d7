// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings that have grown give back their memory when they are idle, and rings that could not grow
 * try again.
 *
 * One work item looks at all of them: each second while there are any, and four times a second
 * while one of them could not become as large as a stream needs. If a look takes much processor
 * time, the next one comes later: tenants with many connections make the work take a sixteenth of
 * one processor at most.
 *
 * A ring is idle if nothing was written to it since the last look, and if what the reader has not
 * read is less than half of a ring of the first size. Then it gets that size: one to two seconds
 * after the last write, or a quarter to half a second.
 *
 * A ring that became larger than a stream needs, because nothing was read from it, gets the size
 * for a stream when less than half of that has not been read, whether or not it is idle.
 *
 * A send buffer (conn/send_buffer.c) is such a ring, too. The peer reports late what it has read,
 * so an idle end asks.
 *
 * A ring that could not grow is stuck. When the limits allow a larger one, the work wakes the calls
 * and programs that wait for space. If it cannot grow although the limits allow it, each further
 * attempt comes later.
 *
 * A new connection that finds little memory left makes the next look due, too.
 *
 * The data path does nothing for this.
 */

#include <linux/math64.h>
#include <linux/sched/mm.h>

#include "../trace.h"
#include "../work.h"
#include "conn.h"

#define LOOK_TIME	HZ
#define LOOK_TIME_SHORT	(HZ / 4)
#define REST		15	/* times the processor time of a look, at least */
#define LONGEST_REST	60	/* looks, until the peer of an idle end is asked again */
#define MANY_FAILURES	6	/* then 16 s until a ring tries again to grow */

static DEFINE_SPINLOCK(lock);	/* protects the list; process context */
static LIST_HEAD(watched);	/* connections that write to rings which have grown, or are stuck */
static unsigned long due;	/* jiffies of the next look, if one is queued */
static unsigned long rest;	/* jiffies after a look */

static void look_at_rings(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_at_rings);

/* After this no program waits for space: half of the ring is free */
static bool can_shrink(const struct smc_conn *writer, struct smc_conn *reader, u32 bytes)
{
	u32 left;

	lockdep_assert_held(&reader->lock);
	left = writer->tx.produced - reader->rx.consumed;
	return bytes < writer->tx.buffer_bytes && left < bytes / 2 && !reader->rx.reading;
}

/* As can_shrink() */
static bool can_send_buffer_shrink(const struct smc_conn *writer, u32 bytes)
{
	return bytes < writer->tx.buffer_bytes && smc_tx_outstanding(writer) < bytes / 2;
}

/* A program that reads needs no larger one */
static bool is_beyond_stream(const struct smc_conn *writer)
{
	u32 most = writer->tx.limit ? writer->tx.most : SMC_BUFFER_MAX;

	return READ_ONCE(writer->tx.buffer_bytes) > most;
}

/* Without @reader: the send buffer. Return: whether it was done. */
static bool shrink_ring(struct smc_conn *writer, struct smc_conn *reader, u32 bytes)
{
	u32 before = writer->tx.buffer_bytes;
	unsigned int scope;
	bool done;

	/* The program waits for the socket lock meanwhile, so nothing is reclaimed for this */
	scope = memalloc_noreclaim_save();
	done = reader ? smc_ring_resize(writer, reader, bytes) :
			smc_send_buffer_resize(writer, bytes);
	memalloc_noreclaim_restore(scope);
	if (!done)
		return false;
	WRITE_ONCE(writer->tx.stuck, false);
	WRITE_ONCE(writer->tx.cramped, false);
	if (reader)
		WRITE_ONCE(reader->rx.most, reader->rx.wanted);
	smc_conn_count(writer, SMC_STAT_RING_SHRUNK, 1);
	trace_smc_ring(writer->sk, before, writer->tx.buffer_bytes, true);
	return true;
}

/* A try that fails may be expensive: the kernel has looked for contiguous pages */
static bool is_retry_due(const struct smc_conn_tx *tx)
{
	unsigned int doublings = min_t(unsigned int, tx->failures, MANY_FAILURES);

	return !doublings || !time_before(jiffies, tx->tried + (LOOK_TIME_SHORT << doublings));
}

/* Memory below the limits is all that the ring waits for */
static bool is_urgent(const struct smc_conn *conn)
{
	return READ_ONCE(conn->tx.stuck) && smc_tx_is_small(conn) && !READ_ONCE(conn->tx.failures);
}

/* A program that has space does not wait: it tries again when it writes */
static void try_again(struct smc_conn *writer, struct smc_conn *payer)
{
	if (!READ_ONCE(writer->tx.stuck) || !is_retry_due(&writer->tx) ||
	    !(smc_tx_writable(writer) || smc_tx_can_grow(writer, payer)))
		return;
	WRITE_ONCE(writer->tx.stuck, false);
	if (smc_tx_has_space(writer))
		smc_conn_wake_writers(writer);
	else	/* it is as large as the peer needs, if that reads */
		smc_unread_watch(writer);
}

/* Return: whether to look again */
static bool look_at_both(struct smc_conn *writer, struct smc_conn *reader, bool is_idle)
{
	u32 first = smc_conn_start_size(reader);
	bool has_started, is_in_use;
	u32 bytes = 0;

	spin_lock_bh(&reader->lock);
	has_started = reader->attached;
	is_in_use = smc_conn_is_in_use(reader);
	if (is_idle && is_in_use && can_shrink(writer, reader, first))
		bytes = first;
	else if (is_in_use && can_shrink(writer, reader, SMC_BUFFER_MAX))
		bytes = SMC_BUFFER_MAX;
	spin_unlock_bh(&reader->lock);
	if (has_started && !is_in_use)
		return false;
	try_again(writer, reader);
	if (bytes)
		shrink_ring(writer, reader, bytes);
	return writer->tx.buffer_bytes > first || READ_ONCE(writer->tx.stuck);
}

/*
 * Ask the peer what it has read and not reported (R-WIN-04), and the device for a report that it
 * has read what was sent. The peer may read later, so ask again, each time after twice as many
 * looks, at most 60.
 */
static void ask_for_report(struct smc_conn *writer)
{
	struct smc_conn_tx *tx = &writer->tx;
	bool posted = false;

	if (tx->idle_looks < tx->next_ask)
		return;
	tx->next_ask = tx->idle_looks + min(tx->idle_looks, LONGEST_REST);
	spin_lock_bh(&writer->lock);
	if (!writer->freeing) {
		tx->report_asked = tx->consumed != tx->produced;
		posted = smc_cdc_post(writer);
	}
	spin_unlock_bh(&writer->lock);
	if (posted)
		smc_cdc_kick(writer);
}

/* Return: whether to look again */
static bool look_at_send_buffer(struct smc_conn *writer, bool is_idle)
{
	u32 most = writer->tx.most, first = min(smc_conn_start_size(writer), most);
	bool has_peer_closed = READ_ONCE(writer->rx_state_flags) & SMC_CDC_CLOSED;
	bool done = false;

	try_again(writer, writer);
	if (is_idle && can_send_buffer_shrink(writer, first))
		done = shrink_ring(writer, NULL, first);
	else if (can_send_buffer_shrink(writer, most))
		done = shrink_ring(writer, NULL, most);
	if (has_peer_closed)	/* it reports nothing any more */
		return false;
	if (!done && is_idle && writer->tx.buffer_bytes > first)
		ask_for_report(writer);
	return writer->tx.buffer_bytes > first || READ_ONCE(writer->tx.stuck);
}

/*
 * A connection in use has its memory as long as its socket is locked: close(), and what else ends
 * it for the socket, takes that lock.
 */
static void look_locked(struct smc_conn *writer, bool is_idle)
{
	bool again = false, is_in_use;
	struct smc_conn *reader = NULL;

	sock_owned_by_me(writer->sk);
	spin_lock_bh(&writer->lock);
	is_in_use = smc_conn_is_in_use(writer);
	if (is_in_use && !writer->transport->buffered)
		reader = writer->transport->other_end(writer);
	spin_unlock_bh(&writer->lock);
	if (is_in_use && writer->transport->buffered) {
		again = look_at_send_buffer(writer, is_idle);
	} else if (reader && smc_conn_get_not_zero(reader)) {
		again = look_at_both(writer, reader, is_idle);
		smc_conn_put(reader);
	}
	if (!again)
		smc_balance_forget(writer);
}

static void look_at_ring(struct smc_conn *writer)
{
	u32 produced = READ_ONCE(writer->tx.produced);
	bool is_idle = produced == writer->tx.seen;

	writer->tx.seen = produced;
	writer->tx.idle_looks = is_idle ? writer->tx.idle_looks + 1 : 0;
	if (!is_idle)
		writer->tx.next_ask = 0;
	if ((is_idle || is_beyond_stream(writer) || READ_ONCE(writer->tx.stuck)) &&
	    smc_work_lock_if_free(writer->sk)) {
		look_locked(writer, is_idle);
		release_sock(writer->sk);
	}
}

/* Take the next connection off @todo. Return: it, with a reference, or NULL. */
static struct smc_conn *get_next(struct list_head *todo)
{
	struct smc_conn *conn;

	spin_lock(&lock);
	conn = list_first_entry_or_null(todo, struct smc_conn, watched);
	if (conn) {
		list_move_tail(&conn->watched, &watched);
		smc_conn_get(conn);	/* it has memory, and so a reference of that */
	}
	spin_unlock(&lock);
	return conn;
}

/* @soon: a ring is stuck, or memory is short. The look that is queued may be due before. */
static void queue_look(bool soon)
{
	unsigned long delay = max_t(unsigned long, soon ? LOOK_TIME_SHORT : LOOK_TIME,
				    READ_ONCE(rest));
	unsigned long end = jiffies + delay;

	if (queue_delayed_work(smc_wq, &look_work, delay)) {
		WRITE_ONCE(due, end);
	} else if (soon && time_before(end, READ_ONCE(due))) {
		WRITE_ONCE(due, end);
		mod_delayed_work(smc_wq, &look_work, delay);
	}
}

/* Nanoseconds that this kworker has run: others may have the processor meanwhile */
static u64 get_own_time(void)
{
	return READ_ONCE(current->se.sum_exec_runtime);
}

static void look_at_rings(struct work_struct *work)
{
	u64 begin = get_own_time();
	struct smc_conn *conn;
	bool is_stuck = false;
	LIST_HEAD(todo);

	spin_lock(&lock);
	list_splice_init(&watched, &todo);
	spin_unlock(&lock);
	while ((conn = get_next(&todo))) {
		smc_work_forget_throttling();
		look_at_ring(conn);
		is_stuck |= is_urgent(conn);
		smc_conn_put(conn);
		cond_resched();
	}
	WRITE_ONCE(rest, msecs_to_jiffies(div_u64((get_own_time() - begin) * REST, NSEC_PER_MSEC)));
	if (!list_empty_careful(&watched))
		queue_look(is_stuck);
}

/**
 * smc_balance_watch() - look at a ring until it has the size of the start, and is not stuck
 * @conn: the connection that writes to the ring, which has grown or is stuck
 * @is_stuck: look soon, at those that are idle, too
 *
 * The socket lock is held. Does not sleep.
 */
void smc_balance_watch(struct smc_conn *conn, bool is_stuck)
{
	spin_lock(&lock);
	if (list_empty(&conn->watched))
		list_add_tail(&conn->watched, &watched);
	spin_unlock(&lock);
	queue_look(is_stuck);
}

/* A new connection needs memory: rings that are idle give it back soon. Any process context. */
void smc_balance_hasten(void)
{
	if (!list_empty_careful(&watched))
		queue_look(true);
}

/*
 * There is no need to look at the ring, or @conn loses its memory. The socket lock is held, or no
 * call uses the connection. Process context; does not sleep.
 */
void smc_balance_forget(struct smc_conn *conn)
{
	if (list_empty_careful(&conn->watched))
		return;
	spin_lock(&lock);
	list_del_init(&conn->watched);
	spin_unlock(&lock);
}

/* No connection has memory any more. May sleep. */
void smc_balance_exit(void)
{
	cancel_delayed_work_sync(&look_work);
}
