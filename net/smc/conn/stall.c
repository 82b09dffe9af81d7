// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP_USER_TIMEOUT: a program has found no space, or its data waits for the peer's window, and the
 * peer reads nothing for that time. TCP ends a connection whose window is closed for so long, and
 * so does this end. Unread data alone is no reason, as over TCP.
 */

#include <net/inet_connection_sock.h>

#include "close.h"

/* The time that the peer has to answer, see ask_peer(): a quarter of the option, within these */
#define ANSWER_MIN	(HZ / 20)
#define ANSWER_MAX	HZ

/*
 * In jiffies; 0: no limit. If a BPF program changes it, the next call that finds no space knows it.
 */
static unsigned long get_user_timeout(const struct smc_conn *conn)
{
	return msecs_to_jiffies(READ_ONCE(inet_csk(conn->sk)->icsk_user_timeout));
}

/* Does data wait, or a call for space, or has the last call found none? */
static bool is_stalled(const struct smc_conn *conn)
{
	const struct smc_conn_tx *tx = &conn->tx;

	lockdep_assert_held(&conn->lock);
	if (tx->window_full || tx->end_waits)
		return !conn->freeing && !conn->failed && !tx->ended;
	if (!smc_tx_is_open(conn) || smc_tx_has_space(conn))
		return false;
	return READ_ONCE(tx->waiters) || READ_ONCE(tx->full_at) == tx->produced;
}

static unsigned long choose_later(unsigned long a, unsigned long b)
{
	return time_after(a, b) ? a : b;
}

/* An earlier wait may have started the timer: the program has written since, or the peer read */
static unsigned long get_stall_begin(const struct smc_conn_tx *tx)
{
	unsigned long begin = choose_later(tx->stall_begin, tx->last_consumed);

	return tx->window_full || tx->end_waits ? begin : choose_later(begin, tx->last);
}

static void start_stall_timer(struct smc_conn *conn, unsigned long expires)
{
	lockdep_assert_held(&conn->lock);
	smc_conn_arm(conn, &conn->tx.stall, expires);
}

/* Return: whether the time is over. Otherwise the timer is started again, if there is a stall. */
static bool is_stall_over(struct smc_conn *conn, unsigned long timeout)
{
	unsigned long end = get_stall_begin(&conn->tx) + timeout;

	if (!timeout || !is_stalled(conn)) {
		conn->tx.stall_asked = false;
		return false;
	}
	if (!time_before(jiffies, end))
		return true;
	conn->tx.stall_asked = false;
	start_stall_timer(conn, end);
	return false;
}

/*
 * The peer reports a small part of the ring only when it is asked (R-WIN-03, R-WIN-04). A later
 * message may take the place of this one, so each one asks until the peer has answered. Return:
 * whether a message was posted.
 */
static bool ask_peer(struct smc_conn *conn, unsigned long timeout)
{
	conn->tx.stall_asked = true;
	start_stall_timer(conn, jiffies + clamp_t(unsigned long, timeout / 4, ANSWER_MIN,
						  ANSWER_MAX));
	return smc_cdc_post(conn);
}

static void handle_stall_timer(struct timer_list *timer)
{
	struct smc_conn *conn = container_of(timer, struct smc_conn, tx.stall);
	unsigned long timeout = get_user_timeout(conn);
	bool posted = false;
	u8 actions = 0;

	spin_lock(&conn->lock);
	if (is_stall_over(conn, timeout)) {
		if (conn->tx.stall_asked)
			actions = smc_close_apply_abort(conn, SMC_STAT_ABORT_TIMEOUT, ETIMEDOUT);
		else
			posted = ask_peer(conn, timeout);
	}
	spin_unlock(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
	smc_close_finish(conn, actions);
	smc_conn_put(conn);
}

void smc_stall_init(struct smc_conn *conn)
{
	timer_setup(&conn->tx.stall, handle_stall_timer, 0);
}

static void begin_stall(struct smc_conn *conn, unsigned long timeout)
{
	conn->tx.stall_begin = jiffies;
	conn->tx.stall_asked = false;
	if (timeout && !timer_pending(&conn->tx.stall))
		start_stall_timer(conn, jiffies + timeout);
}

/* A call has found no space. The connection is active; the socket lock is held. Does not sleep. */
void smc_stall_begin(struct smc_conn *conn)
{
	unsigned long timeout = get_user_timeout(conn);

	if (likely(!timeout))
		return;
	spin_lock_bh(&conn->lock);
	if (!conn->freeing && !timer_pending(&conn->tx.stall))
		begin_stall(conn, timeout);
	spin_unlock_bh(&conn->lock);
}

/* From now on data waits for the peer's window. conn->lock is held; it is not being freed. */
void smc_stall_of_window(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	begin_stall(conn, get_user_timeout(conn));
}

/*
 * The program has set TCP_USER_TIMEOUT of an active connection. A call may have found no space
 * before: the timer function finds out, and reads the option. The socket lock is held.
 */
void smc_stall_follow_option(struct smc_conn *conn)
{
	smc_stall_begin(conn);
	spin_lock_bh(&conn->lock);
	if (timer_pending(&conn->tx.stall) && !conn->tx.stall_asked)
		start_stall_timer(conn, jiffies);
	spin_unlock_bh(&conn->lock);
}
