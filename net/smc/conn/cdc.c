// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection data control: post the own cursors and flags, and apply those of the peer.
 *
 * Posts are made under conn->lock, so the cursors that the peer sees never move backwards. The kick
 * that makes the peer process a post runs without the lock: on a loopback device the kick runs the
 * peer's code, which may post and kick in turn. Such kicks nest up to three deep: a writer reports
 * that it is blocked, the reader reports space, the writer reports that it is not blocked. A
 * kworker runs deeper kicks, so the stack usage does not depend on the peers.
 */

#include <linux/percpu.h>
#include <linux/sched/clock.h>

#include "../trace.h"
#include "../work.h"
#include "close.h"
#include "conn.h"

/* Larger writes are announced at once; the second value is for transports that are @sparing */
#define HOLD_LARGEST		SMC_TRY_MAX
#define HOLD_LARGEST_SPARING	SZ_32K
#define FLUSH_TIME	ns_to_ktime(200 * NSEC_PER_USEC)

/* Two small writes of a stream are less than this apart; so many are held in FLUSH_TIME */
#define STREAM_GAP	(50 * NSEC_PER_USEC)
#define STREAM_WRITES	4

/* Nested kicks that run at once on one CPU */
#define KICK_DEPTH_MAX	3

static DEFINE_PER_CPU(unsigned int, kick_depth);	/* accessed with bottom halves off */

/* Data behind the urgent byte may now be announced as normal data (R-URG-07) */
static void end_urgent_hold(struct smc_conn_tx *tx)
{
	tx->urgent_hold = false;
	tx->producer_flags &= ~(SMC_CDC_URGENT_PENDING | SMC_CDC_URGENT_PRESENT);
}

/*
 * Post the current cursors and flags to the peer. conn->lock is held. The caller releases it and
 * calls smc_cdc_kick(). Does not sleep.
 *
 * Return: false after the final message (R-CDC-10).
 */
bool smc_cdc_post(struct smc_conn *conn)
{
	struct smc_conn_tx *tx = &conn->tx;
	struct smc_cdc cdc;

	lockdep_assert_held(&conn->lock);
	if (tx->ended)
		return false;
	/* Never delay close or abort; but a byte that waits for the window has no mark yet */
	if (tx->urgent_hold && tx->state_flags && !tx->window_full)
		end_urgent_hold(tx);

	cdc.seqno = ++tx->seqno;
	cdc.token = conn->peer_token;
	cdc.producer = tx->urgent_hold ? tx->urgent_prod : tx->prod;
	cdc.consumer = conn->rx.cons;
	if (unlikely(conn->urgent.gone))
		cdc.consumer = smc_cursor_advance(cdc.consumer, conn->urgent.gone, &conn->rx.ring);
	cdc.producer_flags = tx->producer_flags;
	if (unlikely(tx->stall_asked || tx->report_asked))
		cdc.producer_flags |= SMC_CDC_UPDATE_REQUESTED;
	cdc.state_flags = tx->state_flags;
	if (conn->transport->buffered)
		smc_window_limit(conn, &cdc);
	if (unlikely(cdc.state_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORTED)))
		tx->ended = true;
	WRITE_ONCE(conn->rx.announced, smc_rx_passed(conn));
	WRITE_ONCE(conn->rx.owed, false);
	WRITE_ONCE(tx->held, 0);
	trace_smc_cdc(conn->sk, true, &cdc);
	conn->transport->cdc_post(conn, &cdc);
	return true;
}

static void kick_work(struct work_struct *work)
{
	struct smc_conn *conn = container_of(work, struct smc_conn, kick_work);

	rcu_read_lock();
	smc_cdc_kick(conn);
	rcu_read_unlock();
	smc_conn_put(conn);
}

/* A connection without references has posted its final message and kicked the peer */
static void defer_kick(struct smc_conn *conn)
{
	if (!smc_conn_get_not_zero(conn))
		return;
	if (!queue_work(smc_wq, &conn->kick_work))
		smc_conn_put(conn);
}

/* The kick of a synchronous transport runs the peer's code, which may kick in turn */
static void kick_nested(struct smc_conn *conn, const struct smc_transport *transport)
{
	local_bh_disable();
	if (this_cpu_inc_return(kick_depth) <= KICK_DEPTH_MAX)
		transport->cdc_kick(conn);
	else
		defer_kick(conn);
	this_cpu_dec(kick_depth);
	local_bh_enable();
}

/*
 * Make the peer process what was posted. No lock but the socket lock is held. Without the socket
 * lock the caller is in an RCU read-side critical section; the connection may then be freed
 * concurrently, after its final message. Does not sleep.
 */
void smc_cdc_kick(struct smc_conn *conn)
{
	const struct smc_transport *transport = READ_ONCE(conn->transport);

	if (!transport || !transport->cdc_kick)
		return;
	if (transport->synchronous)
		kick_nested(conn, transport);
	else
		transport->cdc_kick(conn);
}

/*
 * Does a small write follow another one at once, or the end of what was held, or a wait for space?
 * That the peer has not confirmed earlier bytes does not tell that it is late: a reader that has
 * read all and sleeps confirms nothing until its window is small.
 */
static bool is_in_stream(struct smc_conn_tx *tx)
{
	u64 now = local_clock(), before = READ_ONCE(tx->stream_at);

	WRITE_ONCE(tx->stream_at, now);
	return now - before < STREAM_GAP;
}

/* A stream of small writes: each half of a small ring is announced, which is dearer than to grow */
static void note_cramped(struct smc_conn *conn)
{
	if (conn->tx.buffer_bytes / 2 < READ_ONCE(conn->sn->knobs.autocorking))
		WRITE_ONCE(conn->tx.cramped, true);
}

/*
 * May the announcement of @bytes be delayed (R-SND-02, R-SND-03)? As with Nagle's algorithm, only
 * for small writes while the peer has not confirmed earlier announced bytes; and only in a stream
 * of them, so a message that comes alone does not wait. Half of the ring, or
 * net.smc.autocorking_size if that is smaller, limits the delayed bytes. They are announced with
 * the next post, after FLUSH_TIME, or by smc_cdc_flush() when the program polls or waits, or at the
 * end of a large write.
 */
static bool may_hold(struct smc_conn *conn, u32 bytes, u8 flags)
{
	u32 largest = conn->transport->sparing ? HOLD_LARGEST_SPARING : HOLD_LARGEST;
	struct smc_conn_tx *tx = &conn->tx;
	bool is_full = tx->held + bytes >= tx->hold_most;

	if (!READ_ONCE(tx->coalesce) || bytes > largest || flags ||
	    tx->produced - tx->consumed <= bytes + tx->held)
		return false;
	if (bytes >= tx->hold_most && !smc_tx_may_grow(conn))
		return false;
	if (tx->held && !is_full)
		return true;	/* the clock is read once or twice for all that is held */
	if (!is_in_stream(tx))
		return false;
	if (is_full && smc_tx_may_grow(conn))
		note_cramped(conn);
	return !is_full;
}

/*
 * Limit what may be held by the size of the peer's ring, and of the send buffer. The socket lock is
 * held, and conn->lock once the connection is attached.
 */
void smc_cdc_limit_held(struct smc_conn *conn)
{
	conn->tx.hold_most = min3((u32)READ_ONCE(conn->sn->knobs.autocorking),
				  smc_ring_size(&conn->tx.peer) / 2, smc_tx_size(conn) / 2);
}

static void flush_held(struct smc_conn *conn, bool time_is_over)
{
	struct smc_conn_tx *tx = &conn->tx;
	bool posted = false;

	if (!READ_ONCE(tx->held) && !READ_ONCE(conn->rx.owed))
		return;
	spin_lock_bh(&conn->lock);
	/* The next write goes on with the stream, if it comes at once */
	if (time_is_over && tx->held && tx->held_writes >= STREAM_WRITES)
		WRITE_ONCE(tx->stream_at, local_clock());
	if ((tx->held || conn->rx.owed) && !conn->freeing)
		posted = smc_cdc_post(conn);
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
}

static enum hrtimer_restart flush_timer(struct hrtimer *timer)
{
	/* Paired with the barrier in start_flush() */
	smp_mb();
	flush_held(container_of(timer, struct smc_conn, tx.flush), true);
	return HRTIMER_NORESTART;
}

static void init_flush(struct smc_conn *conn)
{
	hrtimer_init(&conn->tx.flush, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	conn->tx.flush.function = flush_timer;
}

/*
 * Start the timer for @held or @owed, which the caller has set. A timer function that runs already
 * may have missed them. A connection that sends little needs no timer, so it is initialized here.
 */
static void start_flush(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (!conn->tx.flush.function)
		init_flush(conn);
	/* Paired with flush_timer(): it sees @held or @owed, or the timer is not queued here */
	smp_mb();
	if (!hrtimer_is_queued(&conn->tx.flush))
		hrtimer_start(&conn->tx.flush, FLUSH_TIME, HRTIMER_MODE_REL_SOFT);
}

/*
 * Stop the timer, and wait for its function. @freeing is set, and no call uses the connection any
 * more, so it is not started again.
 */
void smc_cdc_stop_flush(struct smc_conn *conn)
{
	if (conn->tx.flush.function)
		hrtimer_cancel(&conn->tx.flush);
}

static void hold_bytes(struct smc_conn *conn, u32 bytes)
{
	bool first = !conn->tx.held;

	WRITE_ONCE(conn->tx.held, conn->tx.held + bytes);
	conn->tx.held_writes = first ? 1 : conn->tx.held_writes + 1;
	if (first)
		start_flush(conn);
}

/* Initialize the work of a new connection */
void smc_cdc_init(struct smc_conn *conn)
{
	INIT_WORK(&conn->kick_work, kick_work);
}

/* Announce delayed bytes and cursors. Contexts as for smc_cdc_kick(). Does not sleep. */
void smc_cdc_flush(struct smc_conn *conn)
{
	flush_held(conn, false);
}

/*
 * Announce that the last byte is urgent. Until the peer has consumed it, the announced producer
 * cursor stays behind it (R-URG-05). A further urgent byte takes its place, as with TCP.
 */
static void announce_urgent(struct smc_conn *conn)
{
	struct smc_conn_tx *tx = &conn->tx;

	tx->producer_flags |= SMC_CDC_URGENT_PENDING | SMC_CDC_URGENT_PRESENT;
	tx->urgent_end = tx->produced;
	tx->urgent_prod = tx->prod;
	tx->urgent_hold = !conn->transport->synchronous;
}

/* Of a write that takes more than half of the ring, the reader reports the space at once */
static bool is_too_large(const struct smc_conn *conn, u32 bytes)
{
	return smc_tx_may_grow(conn) && bytes > smc_tx_size(conn) / 2;
}

/**
 * smc_cdc_produced() - announce data that was written to the peer's ring
 * @conn: the connection
 * @bytes: number of bytes; at least 1, at most the space before the write
 * @blocked: more data waits for space (R-BLK-01)
 * @urgent: the last of these bytes is urgent (R-URG-01)
 *
 * The socket lock or its spin lock is held; bottom halves are off. Does not sleep.
 */
void smc_cdc_produced(struct smc_conn *conn, u32 bytes, bool blocked, bool urgent)
{
	struct smc_conn_tx *tx = &conn->tx;
	bool posted = false;
	bool lost;

	spin_lock(&conn->lock);
	/* The peer has closed since the call has begun: as drop_after_peer_close() */
	lost = conn->rx_state_flags & SMC_CDC_CLOSED;
	if (unlikely(lost))
		smc_conn_reset(conn, EPIPE);
	if (bytes >= tx->ring.end - tx->prod.count)
		tx->highest = tx->ring.end;
	tx->prod = smc_cursor_advance(tx->prod, bytes, &tx->ring);
	WRITE_ONCE(tx->produced, tx->produced + bytes);
	tx->total += bytes;
	tx->last = jiffies;
	if (is_too_large(conn, bytes))
		WRITE_ONCE(tx->cramped, true);
	if (lost || (tx->urgent_hold && !urgent))
		goto unlock;
	/* Another thread, or a program that polls, may wait for more space than there was */
	blocked = blocked || (READ_ONCE(tx->waiting) && smc_tx_needs_report(conn));
	tx->producer_flags = blocked ? SMC_CDC_WRITER_BLOCKED : 0;
	if (urgent)
		announce_urgent(conn);
	else if (tx->window_full)
		goto unlock;
	if (may_hold(conn, bytes, tx->producer_flags))
		hold_bytes(conn, bytes);
	else
		posted = smc_cdc_post(conn);
unlock:
	spin_unlock(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
	if (unlikely(lost))
		smc_conn_wake_reset(conn);
}

/**
 * smc_cdc_blocked() - tell the peer that this side waits for space
 * @conn: the connection
 * @urgent: urgent data waits (R-URG-04)
 *
 * The socket lock is held, or the caller is in an RCU read-side critical section. Does not sleep.
 *
 * Return: whether a message was posted; false if the peer knows.
 */
bool smc_cdc_blocked(struct smc_conn *conn, bool urgent)
{
	u8 flags = SMC_CDC_WRITER_BLOCKED | (urgent ? SMC_CDC_URGENT_PENDING : 0);
	bool posted = false;

	spin_lock_bh(&conn->lock);
	if (!conn->freeing && (conn->tx.producer_flags & flags) != flags) {
		conn->tx.producer_flags |= flags;
		posted = (!conn->tx.window_full || urgent) && smc_cdc_post(conn);
	}
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
	return posted;
}

enum update {
	UPDATE_NONE,
	UPDATE_LATER,	/* with the next post, or after FLUSH_TIME */
	UPDATE_NOW,
};

/*
 * When is a message due that only reports the consumer cursor (R-WIN-01, R-WIN-03, R-URG-06)?
 *
 *	nothing new, or peer closed	not at all
 *	peer announced urgent data	now
 *	peer is blocked			now; on a sparing transport from a third of the ring, below
 *					that within FLUSH_TIME
 *	peer sees less than half of	now, if the message adds a tenth of the ring; on a sparing
 *	the ring as free		transport a sixth
 *	otherwise			not yet
 *
 * A third is the space for which smc_tx_has_space() makes a blocked writer wait. When such a writer
 * sees less, and a reader waits for half of the ring, a sixth at least is not reported: so both do
 * not wait.
 */
static enum update choose_update(const struct smc_conn *conn)
{
	const struct smc_conn_rx *rx = &conn->rx;
	u32 size = smc_ring_size(&rx->ring);
	u32 gain = smc_rx_passed(conn) - rx->announced;
	u32 peers_window = size - (rx->produced - rx->announced);
	bool sparing = conn->transport->sparing;

	if (!gain || conn->rx_state_flags & SMC_CDC_CLOSED)
		return UPDATE_NONE;
	if (conn->urgent.announced)
		return UPDATE_NOW;
	if (rx->peer_blocked)
		return sparing && gain < size / 3 ? UPDATE_LATER : UPDATE_NOW;
	if (peers_window < size / 2 && gain >= size / (sparing ? 6 : 10))
		return UPDATE_NOW;
	return UPDATE_NONE;
}

/*
 * Report the consumer cursor to the peer, if that is due. conn->lock is held. If this returns true,
 * the caller releases it and calls smc_cdc_kick(). Does not sleep.
 *
 * Return: whether a message was posted.
 */
bool smc_cdc_update(struct smc_conn *conn)
{
	switch (choose_update(conn)) {
	case UPDATE_NOW:
		return smc_cdc_post(conn);
	case UPDATE_LATER:
		if (!conn->rx.owed) {
			WRITE_ONCE(conn->rx.owed, true);
			start_flush(conn);
		}
		return false;
	default:
		return false;
	}
}

/**
 * smc_cdc_consumed() - the program has read data
 * @conn: the connection
 * @bytes: number of bytes; at most smc_rx_available()
 *
 * The socket lock or its spin lock is held; bottom halves are off. Does not sleep.
 */
void smc_cdc_consumed(struct smc_conn *conn, u32 bytes)
{
	struct smc_conn_rx *rx = &conn->rx;
	bool posted;

	spin_lock(&conn->lock);
	rx->cons = smc_cursor_advance(rx->cons, bytes, &rx->ring);
	WRITE_ONCE(rx->consumed, rx->consumed + bytes);
	if (unlikely(smc_urgent_matters(conn)))
		smc_urgent_passed(conn, bytes);
	posted = smc_cdc_update(conn);
	spin_unlock(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
}

/* Bytes that the peer can have written since its last message; 0 after its end */
static u32 get_peer_window(const struct smc_conn *conn)
{
	const struct smc_conn_rx *rx = &conn->rx;

	if (conn->rx_state_flags & (SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED))
		return 0;
	return smc_ring_size(&rx->ring) - (rx->produced - rx->announced);
}

/* SO_TIMESTAMP and its variants, or SO_TIMESTAMPING for received data */
static bool wants_stamps(const struct smc_conn *conn)
{
	return smc_conn_sock_flag(conn, SOCK_RCVTSTAMP) ||
	       READ_ONCE(conn->sk->sk_tsflags) & SOF_TIMESTAMPING_RX_SOFTWARE;
}

/*
 * Check and store the cursors of the peer. It cannot have written more than the space it knows of,
 * nor consumed more than was written to it. While data is held behind an urgent byte, it cannot
 * have consumed more than that byte.
 *
 * Return: number of new bytes, or a negative errno.
 */
static int accept_cursors(struct smc_conn *conn, const struct smc_cdc *cdc, bool *urgent)
{
	struct smc_conn_rx *rx = &conn->rx;
	struct smc_conn_tx *tx = &conn->tx;
	u32 announced = tx->urgent_hold ? tx->urgent_end : tx->produced;
	int produced, consumed;

	if (conn->transport->buffered)
		announced = tx->announced;

	produced = smc_cursor_moved(rx->prod, cdc->producer, get_peer_window(conn), &rx->ring);
	if (produced < 0)
		return produced;
	consumed = smc_cursor_moved(tx->cons, cdc->consumer, announced - tx->consumed,
				    &tx->peer);
	if (consumed < 0)
		return consumed;

	if (produced) {
		/* before @produced, which makes the data visible */
		WRITE_ONCE(rx->stamp, wants_stamps(conn) ? ktime_get_real() : 0);
		rx->total += produced;
		rx->last = jiffies;
	}
	if (consumed) {
		tx->last_consumed = jiffies;
		tx->stall_asked = false;
		tx->report_asked = false;
		WRITE_ONCE(tx->unread, false);
	}
	rx->prod = cdc->producer;
	tx->cons = cdc->consumer;
	*urgent = smc_urgent_received(conn, cdc, rx->produced + produced);
	/* Paired with the acquire in smc_rx_available() */
	smp_store_release(&rx->produced, rx->produced + produced);
	WRITE_ONCE(tx->consumed, tx->consumed + consumed);
	return produced;
}

/* End the hold once the peer has consumed the urgent byte. Return: whether data follows it. */
static bool release_urgent_hold(struct smc_conn *conn)
{
	struct smc_conn_tx *tx = &conn->tx;

	if (!tx->urgent_hold || (s32)(tx->consumed - tx->urgent_end) < 0)
		return false;
	end_urgent_hold(tx);
	return tx->produced != tx->urgent_end;
}

/* The peer cannot withdraw a flag (R-CLS-19) */
static u8 apply_state_flags(struct smc_conn *conn, u8 flags)
{
	/* Paired with wait_or_finish(): a reader that sees the end sees the last bytes before it */
	smp_store_release(&conn->rx_state_flags, conn->rx_state_flags | flags);
	if (flags & SMC_CDC_ABORTED) {
		/* otherwise this is the answer to our abort */
		if (!(conn->tx.state_flags & SMC_CDC_ABORTED))
			smc_conn_count(conn, SMC_STAT_ABORTS_RECEIVED, 1);
		return smc_close_apply(conn, SMC_CLOSE_PEER_ABORTED, ECONNRESET);
	}
	if (flags & SMC_CDC_CLOSED)
		return smc_close_apply(conn, SMC_CLOSE_PEER_CLOSED, 0);
	if (flags & SMC_CDC_SENDING_DONE)
		return smc_close_apply(conn, SMC_CLOSE_PEER_DONE, 0);
	return 0;
}

/*
 * The message has brought data (@produced), or the peer waits for space now (@blocked). Return:
 * whether to wake readers. As with TCP, each arrival wakes those that wait, also if they have not
 * polled since the one before: io_uring learns of data from the wake-up alone, and a program may
 * take each SIGIO for a message.
 */
static bool claim_reader_wakeup(const struct smc_conn *conn, int produced, bool blocked)
{
	/* TCP_DEFER_ACCEPT waits for any data */
	if (!(produced || (blocked && smc_rx_available(conn))) ||
	    (!smc_rx_enough(conn, smc_rx_lowat(conn)) && !READ_ONCE(conn->woken)))
		return false;
	if (smc_conn_has_waiter(conn))
		return true;
	smc_conn_count(conn, SMC_STAT_WAKEUPS_SAVED, 1);
	return false;
}

static bool claim_writer_wakeup(struct smc_conn *conn)
{
	if (!READ_ONCE(conn->tx.waiting) || !smc_tx_writable(conn))
		return false;
	WRITE_ONCE(conn->tx.waiting, false);
	return true;
}

/* Results of a message, determined under conn->lock for handle_outcome() */
struct outcome {
	u8 close_actions;
	bool posted;
	bool readable;
	bool writable;
	bool urgent;
};

/*
 * A blocked writer that has got space is not blocked any more (R-BLK-04). Clear the flag, because
 * the writer is not woken before a third of the ring is free, and with the flag set the peer would
 * report each byte that it consumes (R-WIN-03). On a sparing transport a writer that is about to be
 * woken reports this with its next data. Data that waits for the peer's window keeps it blocked,
 * and so does a send buffer that is full before the peer would report something.
 *
 * Return: whether to post a message for this.
 */
static bool clear_writer_blocked(struct smc_conn *conn)
{
	if (conn->tx.producer_flags != SMC_CDC_WRITER_BLOCKED || !smc_tx_space(conn) ||
	    smc_tx_needs_report(conn))
		return false;
	conn->tx.producer_flags = 0;
	return !conn->tx.window_full && !(conn->transport->sparing &&
					  READ_ONCE(conn->tx.waiting) && smc_tx_writable(conn));
}

/* Post an answer, if one is due (R-WIN-04, R-BLK-05). Return: whether. */
static bool post_answer(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	bool asked = cdc->producer_flags & SMC_CDC_UPDATE_REQUESTED &&
		     conn->rx.announced != smc_rx_passed(conn);

	if (release_urgent_hold(conn) || clear_writer_blocked(conn) ||
	    (conn->tx.window_full && smc_window_has_opened(conn)) || asked)
		return smc_cdc_post(conn);
	return conn->rx.peer_blocked && smc_cdc_update(conn);
}

/* Has the peer sent data, or does it wait until it can? */
static bool has_more_data(const struct smc_conn *conn, const struct smc_cdc *cdc)
{
	return smc_close_peer_waits(conn, cdc->producer_flags & SMC_CDC_WRITER_BLOCKED) ||
	       smc_cursor_moved(conn->rx.prod, cdc->producer, get_peer_window(conn),
				&conn->rx.ring) > 0;
}

static void apply_message(struct smc_conn *conn, const struct smc_cdc *cdc, struct outcome *out)
{
	bool waited = smc_rx_peer_waits(conn);
	int produced;

	lockdep_assert_held(&conn->lock);
	trace_smc_cdc(conn->sk, false, cdc);
	if (conn->freeing || conn->state == SMC_CLOSE_CLOSED)
		return;
	if (!conn->attached) {
		conn->early = *cdc;
		conn->has_early = true;
		return;
	}

	if (cdc->state_flags & SMC_CDC_ABORTED) {
		out->close_actions = apply_state_flags(conn, cdc->state_flags);
		return;
	}
	if (unlikely(conn->shutdown == SHUTDOWN_MASK || conn->tx.closed_late) &&
	    has_more_data(conn, cdc))
		out->close_actions = smc_close_refuse_data(conn);
	if (conn->state == SMC_CLOSE_ABORT_WAIT) {	/* ignore all but the end (R-ABT-03) */
		if (cdc->state_flags & SMC_CDC_CLOSED)
			out->close_actions |= apply_state_flags(conn, cdc->state_flags);
		return;
	}
	produced = accept_cursors(conn, cdc, &out->urgent);
	if (produced < 0) {
		smc_conn_count(conn, SMC_STAT_VIOLATIONS, 1);
		out->close_actions = smc_close_apply(conn, SMC_CLOSE_ABORT, ECONNABORTED);
		return;
	}

	conn->rx_flags = cdc->producer_flags;
	WRITE_ONCE(conn->rx.peer_blocked, cdc->producer_flags & SMC_CDC_WRITER_BLOCKED);
	if (cdc->state_flags & ~conn->rx_state_flags)
		out->close_actions = apply_state_flags(conn, cdc->state_flags);
	out->posted = post_answer(conn, cdc);

	/*
	 * Paired with the barriers of the waiting calls: either this sees that a call waits, or the
	 * call sees the new positions.
	 */
	smp_mb();
	out->readable = claim_reader_wakeup(conn, produced, !waited && smc_rx_peer_waits(conn));
	out->writable = claim_writer_wakeup(conn);
}

/* Kick and wake as apply_message() has determined. conn->lock is not held. */
static void handle_outcome(struct smc_conn *conn, const struct outcome *out)
{
	if (out->posted)
		smc_cdc_kick(conn);
	if (out->urgent)
		smc_urgent_signal(conn);
	if (out->readable)
		smc_conn_wake_readers(conn);
	if (out->writable)
		smc_conn_wake_writers(conn);
	if (out->close_actions)
		smc_close_finish(conn, out->close_actions);
}

/*
 * The peer moves the connection to another link. Its adapter has confirmed the message with this
 * number, and with it all earlier ones (R-FO-06). If one is missing, data is lost.
 */
static void check_failover(struct smc_conn *conn, const struct smc_cdc *cdc, struct outcome *out)
{
	trace_smc_cdc(conn->sk, false, cdc);
	if (conn->freeing || !conn->attached || conn->state == SMC_CLOSE_CLOSED ||
	    smc_cdc_seqno_covers(conn->rx.seqno, cdc->seqno))
		return;
	out->close_actions = smc_close_apply(conn, SMC_CLOSE_ABORT, ECONNRESET);
}

/* Messages of one connection may arrive on two CPUs at once, from two links */
static void apply_newest(struct smc_conn *conn, const struct smc_cdc *cdc, struct outcome *out)
{
	lockdep_assert_held(&conn->lock);
	if (cdc->producer_flags & SMC_CDC_FAILOVER) {
		check_failover(conn, cdc, out);
	} else if (smc_cdc_seqno_after(cdc->seqno, conn->rx.seqno)) {
		conn->rx.seqno = cdc->seqno;
		apply_message(conn, cdc, out);
	}
}

void smc_conn_cdc_received(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	struct outcome out = {};

	spin_lock_bh(&conn->lock);
	apply_newest(conn, cdc, &out);
	spin_unlock_bh(&conn->lock);
	handle_outcome(conn, &out);
}

/* One lock section fetches and applies the control data, so it never moves backwards */
static void fetch_message(struct smc_conn *conn, struct outcome *out)
{
	const struct smc_transport *transport;
	struct smc_cdc cdc;

	lockdep_assert_held(&conn->lock);
	if (conn->freeing)	/* smc_conn_free() may take the transport away */
		return;
	transport = conn->transport;
	if (transport && transport->cdc_fetch && transport->cdc_fetch(conn, &cdc))
		apply_message(conn, &cdc, out);
}

void smc_conn_signalled(struct smc_conn *conn)
{
	struct outcome out = {};

	spin_lock_bh(&conn->lock);
	if (conn->attached)
		fetch_message(conn, &out);
	spin_unlock_bh(&conn->lock);
	handle_outcome(conn, &out);
}

/*
 * Process control data from now on. The rings of both sides are known. A client may write before
 * the server has read its Confirm; such early control data is applied now. The socket lock is held.
 * Does not sleep.
 *
 * Return: 0, or -ENOLINK if the path to the peer is lost.
 */
int smc_cdc_attached(struct smc_conn *conn)
{
	struct outcome out = {};

	spin_lock_bh(&conn->lock);
	if (conn->lost) {
		spin_unlock_bh(&conn->lock);
		return -ENOLINK;
	}
	conn->attached = true;
	conn->rx.last = jiffies;
	conn->tx.last = jiffies;
	conn->tx.last_consumed = jiffies;
	if (conn->has_early)
		apply_message(conn, &conn->early, &out);
	else
		fetch_message(conn, &out);
	if (conn->peer_gone)
		out.close_actions |= smc_close_peer_gone(conn);
	spin_unlock_bh(&conn->lock);
	out.readable = false;	/* the end of the handshake wakes all: poll() is silent before */
	handle_outcome(conn, &out);
	return 0;
}
