// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closing and aborting a connection.
 *
 * smc_close_apply() changes state, flags and socket fields under conn->lock. smc_close_finish()
 * then kicks the peer and wakes the local program without the lock. So system calls, the peer and
 * TCP may cause events at the same time.
 */

#include "../trace.h"
#include "close.h"

#define SENDS	(SMC_CLOSE_SEND_DONE | SMC_CLOSE_SEND_CLOSED | SMC_CLOSE_SEND_ABORT)

/* The state flags that the next control message gets */
static u8 get_state_flags(u8 actions)
{
	u8 flags = 0;

	if (actions & SMC_CLOSE_SEND_DONE)
		flags |= SMC_CDC_SENDING_DONE;
	if (actions & SMC_CLOSE_SEND_CLOSED)
		flags |= SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED;
	if (actions & SMC_CLOSE_SEND_ABORT)
		flags |= SMC_CDC_ABORTED;
	return flags;
}

static bool claim_free(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->state != SMC_CLOSE_CLOSED || !conn->released || conn->freeing ||
	    !conn->transport)
		return false;
	WRITE_ONCE(conn->freeing, true);
	return true;
}

/*
 * The program has closed, and the connection ends before "closed" could be sent: abort it. A peer
 * that has not ended it answers, and then does not write to the element any more.
 */
static void abort_delayed_close(struct smc_conn *conn, enum smc_close_event event,
				struct smc_close_step *step)
{
	if (step->next != SMC_CLOSE_CLOSED)
		return;
	step->actions |= SMC_CLOSE_SEND_ABORT;
	if (event != SMC_CLOSE_ABORT && event != SMC_CLOSE_TIMEOUT)
		return;
	step->next = SMC_CLOSE_ABORT_WAIT;
	step->actions &= ~SMC_CLOSE_FREE;
	smc_conn_start_timer(conn, jiffies + SMC_ABORT_TIMEOUT);
}

/*
 * The connection ends, or the peer has closed: data that waits for the peer's window is lost. As
 * over TCP, the program is told, or the peer if the program has closed.
 */
static void note_lost_data(struct smc_conn *conn, enum smc_close_event event,
			   struct smc_close_step *step)
{
	if (event == SMC_CLOSE_CLOSE || conn->tx.ended)
		return;
	if (smc_close_is_delayed(conn))
		abort_delayed_close(conn, event, step);
	else if ((conn->tx.window_full || conn->tx.end_waits) &&
		 (event == SMC_CLOSE_PEER_CLOSED || step->next == SMC_CLOSE_CLOSED ||
		  step->next == SMC_CLOSE_ABORT_WAIT))
		step->actions |= SMC_CLOSE_RESET;
}

/* The error that TCP would report. @error: 0 if the peer has closed without an abort */
static int choose_error(const struct smc_conn *conn, int error)
{
	if (!error)
		error = conn->shutdown & SEND_SHUTDOWN ? ECONNRESET : EPIPE;
	/* As TCP in CLOSE_WAIT: the peer has sent all of its data */
	if (error == ECONNRESET && (conn->state == SMC_CLOSE_APP_WAIT1 ||
				    conn->state == SMC_CLOSE_APP_WAIT1_CLOSED))
		error = EPIPE;
	return error;
}

/**
 * smc_close_apply() - first half of an event
 * @conn: the connection
 * @event: the event
 * @error: positive errno for the program if the connection is reset
 *
 * conn->lock is held. Does not sleep.
 *
 * Return: set of enum smc_close_action for smc_close_finish(); SMC_CLOSE_FREE only if the memory is
 * due, and then only once.
 */
u8 smc_close_apply(struct smc_conn *conn, enum smc_close_event event, int error)
{
	struct smc_close_step step = smc_close_step(conn->state, event);
	struct sock *sk = conn->sk;
	u8 flags;

	lockdep_assert_held(&conn->lock);
	note_lost_data(conn, event, &step);
	flags = get_state_flags(step.actions);
	error = choose_error(conn, error);
	if (step.actions & SMC_CLOSE_EOF)	/* paired with wait_or_finish() */
		smp_store_release(&conn->shutdown, conn->shutdown | RCV_SHUTDOWN);
	if (step.actions & SMC_CLOSE_NO_WRITE)
		WRITE_ONCE(conn->tx.refused, true);
	if (step.actions & SMC_CLOSE_RESET)
		smc_conn_reset(conn, error);
	/* After the error. Paired with smc_close_is_over() */
	smp_store_release(&conn->state, step.next);
	if (flags) {
		conn->tx.state_flags |= flags;
		if (!smc_cdc_post(conn)) {	/* the peer is gone */
			step.actions &= ~SENDS;
			flags = 0;
		}
	}
	if (flags & SMC_CDC_ABORTED)
		smc_conn_count(conn, SMC_STAT_ABORTS_SENT, 1);
	if (flags & SMC_CDC_ABORTED && event == SMC_CLOSE_TIMEOUT)
		smc_conn_count(conn, SMC_STAT_ABORT_TIMEOUT, 1);
	if (step.actions & SMC_CLOSE_RESET)
		trace_smc_abort(sk, event, error);
	if (step.actions & SMC_CLOSE_FREE && !claim_free(conn))
		step.actions &= ~SMC_CLOSE_FREE;
	return step.actions;
}

/**
 * smc_close_finish() - second half of an event
 * @conn: the connection
 * @actions: from smc_close_apply()
 *
 * No lock but the socket lock is held. Does not sleep.
 */
void smc_close_finish(struct smc_conn *conn, u8 actions)
{
	if (actions & SENDS)
		smc_cdc_kick(conn);
	if (actions & SMC_CLOSE_RESET) {
		smc_conn_wake_reset(conn);
	} else if (actions & (SMC_CLOSE_EOF | SMC_CLOSE_NO_WRITE)) {
		bool both = READ_ONCE(conn->shutdown) == SHUTDOWN_MASK;

		smc_conn_wake_all(conn);
		smc_conn_signal_owner(conn, SOCK_WAKE_WAITD, both ? POLL_HUP : POLL_IN);
	}

	if (actions & SMC_CLOSE_FREE)
		smc_conn_free_later(conn);
}

/**
 * smc_close_event() - apply an event that may end the connection
 * @conn: an open connection
 * @event: the event
 * @error: positive errno for the program if the connection is reset
 *
 * Any context; conn->lock is not held. Does not sleep.
 */
void smc_close_event(struct smc_conn *conn, enum smc_close_event event, int error)
{
	u8 actions;

	spin_lock_bh(&conn->lock);
	actions = smc_close_apply(conn, event, error);
	spin_unlock_bh(&conn->lock);
	smc_close_finish(conn, actions);
}

/*
 * smc_close_apply() of an abort by this side, as smc_close_abort(). @cause is counted only if the
 * abort is sent: an ended connection is not aborted.
 */
u8 smc_close_apply_abort(struct smc_conn *conn, enum smc_stat cause, int error)
{
	u8 actions = smc_close_apply(conn, SMC_CLOSE_ABORT, error);

	if (actions & SMC_CLOSE_SEND_ABORT)
		smc_conn_count(conn, cause, 1);
	return actions;
}

/**
 * smc_close_abort() - this side aborts the connection
 * @conn: an open connection
 * @cause: SMC_STAT_ABORT_APP or another SMC_STAT_ABORT_*
 * @error: positive errno for the program
 *
 * Any context; conn->lock is not held. Does not sleep.
 */
void smc_close_abort(struct smc_conn *conn, enum smc_stat cause, int error)
{
	u8 actions;

	spin_lock_bh(&conn->lock);
	actions = smc_close_apply_abort(conn, cause, error);
	spin_unlock_bh(&conn->lock);
	smc_close_finish(conn, actions);
}

/*
 * As TCP in FIN_WAIT, reset the connection if the peer goes on to send after the program has shut
 * down both directions, or has closed, and the peer could not be told yet. conn->lock is held.
 * Return: as smc_close_apply().
 */
u8 smc_close_refuse_data(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	/* In other states the program has not shut down both, or the peer has ended its stream */
	if (!smc_close_is_delayed(conn) &&
	    (conn->shutdown != SHUTDOWN_MASK || conn->state != SMC_CLOSE_PEER_WAIT1))
		return 0;
	return smc_close_apply_abort(conn, SMC_STAT_ABORT_APP, ECONNRESET);
}

/*
 * Does the peer wait for space? If it was @blocked, it may have got space since, and have no more
 * data; it waits below a third of the ring (smc_tx_has_space()).
 */
bool smc_close_peer_waits(const struct smc_conn *conn, bool blocked)
{
	const struct smc_conn_rx *rx = &conn->rx;
	u32 size = smc_ring_size(&rx->ring);

	lockdep_assert_held(&conn->lock);
	return blocked && size - (rx->produced - rx->announced) < size / 3;
}

/**
 * smc_close_shutdown() - the program shuts down one direction or both
 * @conn: an open connection
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * Other than R-CLS-02 wants, "closed" is sent by close() only: after shutdown() for both, the
 * program learns of an abort, and can read what has come. A peer that waits for space has more
 * data.
 *
 * The socket lock is held; conn->lock is not. Does not sleep.
 */
void smc_close_shutdown(struct smc_conn *conn, int how)
{
	u8 actions = 0;

	sock_owned_by_me(conn->sk);
	spin_lock_bh(&conn->lock);
	if (how & SEND_SHUTDOWN)
		actions = smc_close_apply(conn, SMC_CLOSE_SHUT_WR, 0);
	/* Paired with wait_or_finish() in rx.c */
	smp_store_release(&conn->shutdown, conn->shutdown | how);
	if (smc_close_peer_waits(conn, conn->rx.peer_blocked))
		actions |= smc_close_refuse_data(conn);
	spin_unlock_bh(&conn->lock);
	smc_close_finish(conn, actions);
	smc_conn_wake_all(conn);
}

/* The memory of a closed connection stays until the peer ends it; so limit their number */
static bool count_orphan(struct smc_conn *conn)
{
	struct smc_net *sn = conn->sn;

	lockdep_assert_held(&conn->lock);
	if (atomic_inc_return(&sn->orphans) > READ_ONCE(sn->knobs.max_orphans)) {
		atomic_dec(&sn->orphans);
		return false;
	}
	conn->orphan = true;
	return true;
}

/**
 * smc_close_orderly() - the program closes its descriptor
 * @conn: an open connection
 *
 * The socket lock is held; conn->lock is not. Does not sleep. As with TCP, the connection is
 * aborted if too many closed connections already wait for their peers.
 *
 * Return: true if it was closed, false if it was aborted.
 */
bool smc_close_orderly(struct smc_conn *conn)
{
	bool orderly;
	u8 actions;

	sock_owned_by_me(conn->sk);
	spin_lock_bh(&conn->lock);
	orderly = smc_close_step(conn->state, SMC_CLOSE_CLOSE).next == SMC_CLOSE_CLOSED ||
		  count_orphan(conn);
	if (orderly)
		actions = smc_close_apply(conn, SMC_CLOSE_CLOSE, 0);
	else
		actions = smc_close_apply_abort(conn, SMC_STAT_ABORT_ORPHAN, ECONNRESET);
	spin_unlock_bh(&conn->lock);
	smc_close_finish(conn, actions);
	return orderly;
}

/**
 * smc_close_release() - the socket and its system calls do not use the connection any more
 * @conn: an open connection
 *
 * May sleep. If the peer has ended the connection, its memory is freed at once, and the memory's
 * reference to @conn is dropped. Otherwise that happens when the connection is closed.
 */
void smc_close_release(struct smc_conn *conn)
{
	bool free;

	spin_lock_bh(&conn->lock);
	WRITE_ONCE(conn->released, true);
	free = claim_free(conn);
	spin_unlock_bh(&conn->lock);
	if (free)
		smc_conn_free(conn);
}

/*
 * The peer's end does not exist any more. If its "closed" has come, all of its data has, too, and
 * writers know that it reads nothing. If it has read all that was written, too, this is no error:
 * the program goes on, as over TCP, where an orphan whose timeout has passed sends nothing. But no
 * message goes to the peer any more.
 *
 * Return: whether that is so.
 */
static bool drop_closed_peer(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (!smc_close_has_peer_left(conn))
		return false;
	conn->tx.ended = true;
	return true;
}

/*
 * Apply smc_conn_peer_gone(), which may come before the connection is attached. conn->lock is held.
 * Return: as smc_close_apply().
 */
u8 smc_close_peer_gone(struct smc_conn *conn)
{
	if (drop_closed_peer(conn))
		return 0;
	return smc_close_apply(conn, SMC_CLOSE_PEER_ABORTED, ECONNRESET);
}

/* Has the program, which still has the socket, written data that the peer's host may lack? */
static bool is_data_missing(struct smc_conn *conn)
{
	struct smc_tx_progress progress = {};

	lockdep_assert_held(&conn->lock);
	if (conn->released || conn->rx_state_flags & SMC_CDC_ABORTED ||
	    !conn->transport->tx_progress)
		return false;
	conn->transport->tx_progress(conn, &progress);	/* no report is needed */
	return progress.unconfirmed;
}

/*
 * The path to the peer is gone. TCP that has sent its FIN reports an error as long as data is not
 * acknowledged, also if the peer has sent its own.
 */
static u8 apply_loss(struct smc_conn *conn)
{
	bool is_missing = is_data_missing(conn);
	u8 actions = smc_close_apply_abort(conn, SMC_STAT_ABORT_LINK, ECONNRESET);

	if (is_missing && !conn->failed) {
		smc_conn_reset(conn, ECONNRESET);
		trace_smc_abort(conn->sk, SMC_CLOSE_ABORT, ECONNRESET);
		actions |= SMC_CLOSE_RESET;
	}
	return actions;
}

/*
 * During the handshake, only set @lost: the handshake ends the connection, and may fall back to
 * TCP. The peer of an established connection learns of the loss only by a RST.
 */
void smc_conn_lost(struct smc_conn *conn)
{
	u8 actions = 0;
	bool attached;

	spin_lock_bh(&conn->lock);
	attached = conn->attached;
	if (attached && !drop_closed_peer(conn))
		actions = apply_loss(conn);
	WRITE_ONCE(conn->lost, true);
	spin_unlock_bh(&conn->lock);
	if (attached)
		smc_close_finish(conn, actions);
	/* Paired with the barrier in sock/connect_step.c, activate_sock() */
	smp_mb();
	conn->progress(conn);
}

/*
 * If this side has sent its final message, wait for that of the peer, or for the timeout: no data
 * can be lost any more.
 */
void smc_conn_forgotten(struct smc_conn *conn)
{
	bool ended;

	spin_lock_bh(&conn->lock);
	ended = smc_close_ended(conn->state) && !smc_close_is_delayed(conn);
	spin_unlock_bh(&conn->lock);
	if (!ended)
		smc_conn_lost(conn);
}

/*
 * A server may give up a child before it has read the Confirm. If the client has closed its TCP
 * connection by then, the server can tell it in no other way.
 */
void smc_conn_peer_gone(struct smc_conn *conn)
{
	u8 actions = 0;
	bool alive;

	if (READ_ONCE(conn->freeing))	/* the usual case; it is never reset */
		return;
	smc_conn_signalled(conn);
	spin_lock_bh(&conn->lock);
	alive = !conn->freeing;
	if (alive) {
		WRITE_ONCE(conn->peer_gone, true);
		smc_conn_get(conn);	/* smc_conn_free() drops the connection's reference */
		if (conn->attached)
			actions = smc_close_peer_gone(conn);
	}
	spin_unlock_bh(&conn->lock);
	if (!alive)
		return;
	smc_close_finish(conn, actions);
	/* Paired with the barrier in sock/connect_step.c, activate_sock() */
	smp_mb();
	conn->progress(conn);
	smc_conn_put(conn);
}

/**
 * smc_conn_detach() - release the ring of a peer that is gone
 * @conn: the connection
 *
 * The local ring stays for the reader. The socket lock is held, so no writer copies to the peer's
 * ring; after the final message none will. Does not sleep.
 */
void smc_conn_detach(struct smc_conn *conn)
{
	bool due;

	sock_owned_by_me(conn->sk);
	spin_lock_bh(&conn->lock);
	/* once @released is set, smc_conn_free() may run and release the ring */
	due = conn->peer_gone && conn->tx.ended && !conn->released && !conn->freeing;
	spin_unlock_bh(&conn->lock);
	if (due && conn->transport->conn_detach)
		conn->transport->conn_detach(conn);
}
