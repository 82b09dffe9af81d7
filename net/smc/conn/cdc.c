// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection data control: tell the peer where we are, and apply what it tells.
 *
 * Posting happens under conn->lock, so that what the peer sees never goes
 * backwards; the kick that makes it look happens outside, because on a loopback
 * device it runs the peer's half, which may answer with a post of its own. The kick of the
 * answer may run inside of the first one, and one more inside of that: a writer says that it is
 * blocked, the reader tells it of space, the writer is blocked no longer. A kworker does what would
 * nest deeper, so that the stack does not depend on what peers do.
 */

#include <linux/percpu.h>

#include "../trace.h"
#include "../work.h"
#include "close.h"
#include "conn.h"

/* Longer writes are never held back */
#define HOLD_LARGEST		SZ_4K
#define HOLD_LARGEST_SPARING	SZ_32K
#define FLUSH_TIME	ns_to_ktime(200 * NSEC_PER_USEC)

/* Kicks that run at once, one inside of the other, on one processor */
#define KICK_DEPTH_MAX	3

static DEFINE_PER_CPU(unsigned int, kick_depth);	/* bottom halves are off */

/* What was written behind an urgent byte may follow it now, as normal data (R-URG-07) */
static void end_urgent_hold(struct smc_conn_tx *tx)
{
	tx->urgent_hold = false;
	tx->producer_flags &= ~(SMC_CDC_URGENT_PENDING | SMC_CDC_URGENT_PRESENT);
}

/**
 * smc_cdc_post() - put the current state of this end before the peer
 * @conn: the connection
 *
 * conn->lock is held. Follow up with smc_cdc_kick() without it. Does not sleep.
 *
 * Return: false if nothing may be sent any more (R-CDC-10).
 */
bool smc_cdc_post(struct smc_conn *conn)
{
	struct smc_conn_tx *tx = &conn->tx;
	struct smc_cdc cdc;

	lockdep_assert_held(&conn->lock);
	if (tx->ended)
		return false;
	if (tx->urgent_hold && tx->state_flags)		/* the end waits for nobody */
		end_urgent_hold(tx);

	cdc.seqno = ++tx->seqno;
	cdc.token = conn->peer_token;
	cdc.producer = tx->urgent_hold ? tx->urgent_prod : tx->prod;
	cdc.consumer = conn->rx.cons;
	if (unlikely(conn->urgent.gone))
		cdc.consumer = smc_cursor_advance(cdc.consumer, conn->urgent.gone, &conn->rx.ring);
	cdc.producer_flags = tx->producer_flags;
	cdc.state_flags = tx->state_flags;
	conn->rx.announced = smc_rx_passed(conn);
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

/* A connection without references has told its peer of the end */
static void defer_kick(struct smc_conn *conn)
{
	if (!smc_conn_get_not_zero(conn))
		return;
	if (!queue_work(smc_wq, &conn->kick_work))
		smc_conn_put(conn);
}

/* A synchronous transport runs the peer's half, which may kick in turn */
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

/**
 * smc_cdc_kick() - make the peer look at what was posted
 * @conn: the connection
 *
 * No lock but the socket's is held; without that one, the caller is in an RCU
 * read-side critical section, and the connection may be freed meanwhile: then
 * the peer had been told of its end. Does not sleep.
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
 * May the announcement wait for more? As with Nagle's algorithm, only while
 * the reader has not confirmed what it was told of before; and at most until half
 * of the ring or what the operator allows is held, the writer turns to something
 * else, or FLUSH_TIME has passed (R-SND-02, R-SND-03).
 */
static bool may_hold(const struct smc_conn *conn, u32 bytes, u8 flags)
{
	u32 largest = conn->transport->sparing ? HOLD_LARGEST_SPARING : HOLD_LARGEST;
	const struct smc_conn_tx *tx = &conn->tx;

	return READ_ONCE(tx->coalesce) && bytes <= largest && !flags &&
	       tx->produced - tx->consumed > bytes + tx->held &&
	       tx->held + bytes < tx->hold_most;
}

/* After what is to be announced was noted: a timer that has run before may not have seen it */
static void start_flush(struct smc_conn *conn)
{
	/* Paired with the barrier in flush_timer(): that sees what was noted, or we that it runs */
	smp_mb();
	if (!hrtimer_is_queued(&conn->tx.flush))
		hrtimer_start(&conn->tx.flush, FLUSH_TIME, HRTIMER_MODE_REL_SOFT);
}

static void hold_bytes(struct smc_conn *conn, u32 bytes)
{
	bool first = !conn->tx.held;

	WRITE_ONCE(conn->tx.held, conn->tx.held + bytes);
	if (first)
		start_flush(conn);
}

static enum hrtimer_restart flush_timer(struct hrtimer *timer)
{
	/* Paired with the barrier in start_flush() */
	smp_mb();
	smc_cdc_flush(container_of(timer, struct smc_conn, tx.flush));
	return HRTIMER_NORESTART;
}

/**
 * smc_cdc_init() - prepare a new connection for control data
 * @conn: the connection
 */
void smc_cdc_init(struct smc_conn *conn)
{
	INIT_WORK(&conn->kick_work, kick_work);
	hrtimer_init(&conn->tx.flush, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	conn->tx.flush.function = flush_timer;
}

/**
 * smc_cdc_flush() - announce what was held back
 * @conn: the connection
 *
 * Any context that smc_cdc_kick() allows. Does not sleep.
 */
void smc_cdc_flush(struct smc_conn *conn)
{
	bool posted = false;

	if (!READ_ONCE(conn->tx.held) && !READ_ONCE(conn->rx.owed))
		return;
	spin_lock_bh(&conn->lock);
	if ((conn->tx.held || conn->rx.owed) && !conn->freeing)
		posted = smc_cdc_post(conn);
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
}

/*
 * The last byte is urgent. Nothing else may move the cursor before the peer has seen it
 * (R-URG-05), except another urgent byte, which takes its place as it does with TCP.
 */
static void announce_urgent(struct smc_conn *conn)
{
	struct smc_conn_tx *tx = &conn->tx;

	tx->producer_flags |= SMC_CDC_URGENT_PENDING | SMC_CDC_URGENT_PRESENT;
	tx->urgent_end = tx->produced;
	tx->urgent_prod = tx->prod;
	tx->urgent_hold = !conn->transport->synchronous;
}

/**
 * smc_cdc_produced() - announce data written into the peer's ring
 * @conn: the connection
 * @bytes: how many, at least 1, at most the space there was
 * @blocked: there is more to send and no space for it (R-BLK-01)
 * @urgent: the last of these bytes is urgent (R-URG-01)
 *
 * The socket lock is held, and bottom halves are off. Does not sleep.
 */
void smc_cdc_produced(struct smc_conn *conn, u32 bytes, bool blocked, bool urgent)
{
	struct smc_conn_tx *tx = &conn->tx;
	bool posted = false;

	spin_lock(&conn->lock);
	smc_cdc_spoiled(tx, bytes);
	tx->prod = smc_cursor_advance(tx->prod, bytes, &tx->ring);
	WRITE_ONCE(tx->produced, tx->produced + bytes);
	if (tx->urgent_hold && !urgent)
		goto unlock;
	tx->producer_flags = blocked ? SMC_CDC_WRITER_BLOCKED : 0;
	if (urgent)
		announce_urgent(conn);
	if (may_hold(conn, bytes, tx->producer_flags))
		hold_bytes(conn, bytes);
	else
		posted = smc_cdc_post(conn);
unlock:
	spin_unlock(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
}

/**
 * smc_cdc_blocked() - tell the peer that we wait for space
 * @conn: the connection
 * @urgent: what waits is urgent (R-URG-04)
 *
 * Nothing is sent if the peer knows. The socket lock is held. Does not sleep.
 */
void smc_cdc_blocked(struct smc_conn *conn, bool urgent)
{
	u8 flags = SMC_CDC_WRITER_BLOCKED | (urgent ? SMC_CDC_URGENT_PENDING : 0);
	bool posted = false;

	spin_lock_bh(&conn->lock);
	if ((conn->tx.producer_flags & flags) != flags) {
		conn->tx.producer_flags |= flags;
		posted = smc_cdc_post(conn);
	}
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
}

enum update {
	UPDATE_NONE,
	UPDATE_LATER,	/* with others, within FLUSH_TIME */
	UPDATE_NOW,
};

/*
 * Is a message due only for our consumer cursor? If the peer waits for it,
 * always; else when its view of the window is below half of the ring, and would
 * grow by a tenth of it (R-WIN-01, R-WIN-03, R-URG-06). Where messages are dear, space
 * is given back by thirds, which is what a waiting writer like ours wants; a peer that
 * waits gets less than that when the reader goes to sleep or has been busy for a while.
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
	if (peers_window < size / 2 && gain >= size / (sparing ? 3 : 10))
		return UPDATE_NOW;
	return UPDATE_NONE;
}

/**
 * smc_cdc_update() - tell the peer of our consumer cursor, if that is due
 * @conn: the connection
 *
 * conn->lock is held. Follow up with smc_cdc_kick() without it. Does not sleep.
 *
 * Return: whether something was posted.
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
 * smc_cdc_consumed() - the application took data
 * @conn: the connection
 * @bytes: how many, at most what was available
 *
 * The socket lock is held, and bottom halves are off. Does not sleep.
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

/* What the peer can have written since the last message: nothing after its end */
static u32 get_peer_window(const struct smc_conn *conn)
{
	const struct smc_conn_rx *rx = &conn->rx;

	if (conn->rx_state_flags & (SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED))
		return 0;
	return smc_ring_size(&rx->ring) - (rx->produced - rx->announced);
}

/* SO_TIMESTAMP and its kind, or SO_TIMESTAMPING for what is received */
static bool wants_stamps(const struct sock *sk)
{
	return sock_flag(sk, SOCK_RCVTSTAMP) ||
	       READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_RX_SOFTWARE;
}

/*
 * Take over the peer's two cursors, if they are possible: it cannot have
 * written beyond the space it was told of, nor consumed more than we wrote.
 *
 * Return: bytes that have come, or a negative errno.
 */
static int accept_cursors(struct smc_conn *conn, const struct smc_cdc *cdc, bool *urgent)
{
	struct smc_conn_rx *rx = &conn->rx;
	struct smc_conn_tx *tx = &conn->tx;
	u32 announced = tx->urgent_hold ? tx->urgent_end : tx->produced;
	int produced, consumed;

	produced = smc_cursor_moved(rx->prod, cdc->producer, get_peer_window(conn), &rx->ring);
	if (produced < 0)
		return produced;
	consumed = smc_cursor_moved(tx->cons, cdc->consumer, announced - tx->consumed,
				    &tx->ring);
	if (consumed < 0)
		return consumed;

	if (produced)	/* before the data, which shows that it is there */
		WRITE_ONCE(rx->stamp, wants_stamps(conn->sk) ? ktime_get_real() : 0);
	rx->prod = cdc->producer;
	tx->cons = cdc->consumer;
	*urgent = smc_urgent_received(conn, cdc, rx->produced + produced);
	/* Paired with the acquire in smc_rx_available() */
	smp_store_release(&rx->produced, rx->produced + produced);
	WRITE_ONCE(tx->consumed, tx->consumed + consumed);
	return produced;
}

/* Return: whether the peer has seen the urgent byte, and there is more behind it */
static bool release_urgent_hold(struct smc_conn *conn)
{
	struct smc_conn_tx *tx = &conn->tx;

	if (!tx->urgent_hold || (s32)(tx->consumed - tx->urgent_end) < 0)
		return false;
	end_urgent_hold(tx);
	return tx->produced != tx->urgent_end;
}

/* No end is taken back (R-CLS-19) */
static u8 apply_state_flags(struct smc_conn *conn, u8 flags)
{
	/* Paired with wait_or_finish(): who sees the end sees the last bytes before it */
	smp_store_release(&conn->rx_state_flags, conn->rx_state_flags | flags);
	if (flags & SMC_CDC_ABORTED) {
		/* Else it is the answer to ours */
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

/* A reader that was woken and has not looked since need not be woken again */
static bool claim_reader_wakeup(struct smc_conn *conn)
{
	u32 available = smc_rx_available(conn);

	if (!available)
		return false;
	if (READ_ONCE(conn->rx.notified)) {
		smc_conn_count(conn, SMC_STAT_WAKEUPS_SAVED, 1);
		return false;
	}
	if (!smc_rx_enough(conn, READ_ONCE(conn->sk->sk_rcvlowat)))
		return false;
	WRITE_ONCE(conn->rx.notified, true);
	return true;
}

/* Owners count on a signal for all that comes: a program may wait for more before it reads */
static bool is_signal_due(const struct smc_conn *conn, int produced)
{
	return produced && sock_flag(conn->sk, SOCK_FASYNC) &&
	       smc_rx_enough(conn, READ_ONCE(conn->sk->sk_rcvlowat));
}

static bool claim_writer_wakeup(struct smc_conn *conn)
{
	if (!READ_ONCE(conn->tx.waiting) || !smc_tx_writable(conn))
		return false;
	WRITE_ONCE(conn->tx.waiting, false);
	return true;
}

/* What smc_conn_cdc_received() found out under the lock */
struct outcome {
	u8 close_actions;
	bool posted;
	bool readable;
	bool signal;
	bool writable;
	bool urgent;
};

/*
 * A writer that said it was blocked, and has got some space, takes that back (R-BLK-04):
 * it is not woken before a third of the ring is free, and until then a message
 * for each read of the peer would do nothing but cost (R-WIN-03). Where messages are dear,
 * one that is about to be woken does so with what it writes.
 *
 * Return: whether to say so now.
 */
static bool clear_writer_blocked(struct smc_conn *conn)
{
	if (conn->tx.producer_flags != SMC_CDC_WRITER_BLOCKED || !smc_tx_space(conn))
		return false;
	conn->tx.producer_flags = 0;
	return !(conn->transport->sparing && READ_ONCE(conn->tx.waiting) &&
		 smc_tx_writable(conn));
}

/* Is an answer due? (R-WIN-04, R-BLK-05). Return: whether it was posted */
static bool post_answer(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	bool asked = cdc->producer_flags & SMC_CDC_UPDATE_REQUESTED &&
		     conn->rx.announced != smc_rx_passed(conn);

	if (release_urgent_hold(conn) || clear_writer_blocked(conn) || asked)
		return smc_cdc_post(conn);
	return conn->rx.peer_blocked && smc_cdc_update(conn);
}

static void apply_message(struct smc_conn *conn, const struct smc_cdc *cdc, struct outcome *out)
{
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
	if (conn->state == SMC_CLOSE_ABORT_WAIT) {	/* for nothing but the end (R-ABT-03) */
		if (cdc->state_flags & SMC_CDC_CLOSED)
			out->close_actions = apply_state_flags(conn, cdc->state_flags);
		return;
	}
	produced = accept_cursors(conn, cdc, &out->urgent);
	if (produced < 0) {
		smc_conn_count(conn, SMC_STAT_VIOLATIONS, 1);
		out->close_actions = smc_close_apply(conn, SMC_CLOSE_ABORT, ECONNABORTED);
		return;
	}

	conn->rx_flags = cdc->producer_flags;
	conn->rx.peer_blocked = cdc->producer_flags & SMC_CDC_WRITER_BLOCKED;
	if (cdc->state_flags & ~conn->rx_state_flags)
		out->close_actions = apply_state_flags(conn, cdc->state_flags);
	out->posted = post_answer(conn, cdc);

	/*
	 * Paired with the barriers of those who wait: either we see that they
	 * do, or they see the new positions.
	 */
	smp_mb();
	out->readable = claim_reader_wakeup(conn);
	out->signal = !out->readable && is_signal_due(conn, produced);
	out->writable = claim_writer_wakeup(conn);
}

/* Without conn->lock: answer, and wake who waits */
static void handle_outcome(struct smc_conn *conn, const struct outcome *out)
{
	if (out->posted)
		smc_cdc_kick(conn);
	if (out->urgent)
		smc_urgent_signal(conn);
	if (out->readable)
		smc_conn_wake_readers(conn);
	else if (out->signal)
		smc_conn_signal_owner(conn, SOCK_WAKE_WAITD, POLL_IN);
	if (out->writable)
		smc_conn_wake_writers(conn);
	if (out->close_actions)
		smc_close_finish(conn, out->close_actions);
}

/*
 * The peer goes on over another link. It has been told by its adapter that the message with this
 * number, and all before it, arrived (R-FO-06).
 */
static void check_failover(struct smc_conn *conn, const struct smc_cdc *cdc, struct outcome *out)
{
	trace_smc_cdc(conn->sk, false, cdc);
	if (conn->freeing || !conn->attached || conn->state == SMC_CLOSE_CLOSED ||
	    smc_cdc_seqno_covers(conn->rx.seqno, cdc->seqno))
		return;
	out->close_actions = smc_close_apply(conn, SMC_CLOSE_ABORT, ECONNRESET);
}

/* Messages of one connection may come in on two processors, from two links */
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

/* Control data is fetched and applied under one lock, so it never goes backwards */
static void fetch_message(struct smc_conn *conn, struct outcome *out)
{
	const struct smc_transport *transport = conn->transport;
	struct smc_cdc cdc;

	lockdep_assert_held(&conn->lock);
	if (transport && !conn->freeing && transport->cdc_fetch &&
	    transport->cdc_fetch(conn, &cdc))
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

/**
 * smc_cdc_attached() - from now on control data can be applied
 * @conn: the connection; its two rings are known
 *
 * A client may write before the server has read its Confirm: what came too
 * early is applied now. The socket lock is held. Does not sleep.
 *
 * Return: 0, or -ENOLINK if the way to the peer was lost.
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
	if (conn->has_early)
		apply_message(conn, &conn->early, &out);
	else
		fetch_message(conn, &out);
	if (conn->peer_gone)
		out.close_actions |= smc_close_apply(conn, SMC_CLOSE_PEER_ABORTED, ECONNRESET);
	spin_unlock_bh(&conn->lock);
	handle_outcome(conn, &out);
	return 0;
}
