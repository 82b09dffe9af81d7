// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program waits for space, and the peer reads nothing. The peer may wait for this end to read,
 * and so the ring may become larger than a peer that reads needs (conn/grow.c).
 *
 * A timer finds out while calls or programs wait. The peer does not report each byte that it reads,
 * unless it knows that a writer is blocked. So the timer tells it. If it is in this kernel, it
 * reports at once what it has read; otherwise it has as much time again. Later it reports its first
 * byte, which ends the state.
 */

#include "conn.h"

#define READER_TIME	(HZ / 50)	/* of a peer that reads, to read something */

static void start_timer(struct smc_conn *conn, unsigned long expires)
{
	lockdep_assert_held(&conn->lock);
	smc_conn_arm(conn, &conn->tx.unread_timer, expires);
}

static bool has_waiting_writer(const struct smc_conn *conn)
{
	return smc_tx_is_open(conn) && READ_ONCE(conn->tx.waiting) && smc_tx_awaits_reader(conn);
}

/* Return: whether it is time to find out. If it is not, the timer is started for the rest. */
static bool is_quiet(struct smc_conn *conn)
{
	unsigned long now = jiffies;
	unsigned long quiet = min(now - conn->tx.last, now - conn->tx.last_consumed);

	if (quiet < READER_TIME)
		start_timer(conn, now + READER_TIME - quiet);
	return quiet >= READER_TIME;
}

/*
 * Note that the peer has reported nothing since @consumed. Return: whether that is so. Otherwise it
 * goes on to read, or its answer is on the way (@asked), and the timer goes on.
 */
static bool note_unread(struct smc_conn *conn, u32 consumed, bool asked)
{
	bool unread;

	if (!has_waiting_writer(conn))
		return false;
	unread = conn->tx.consumed == consumed && !(asked && !conn->transport->synchronous);
	if (unread)
		WRITE_ONCE(conn->tx.unread, true);
	else
		start_timer(conn, jiffies + READER_TIME);
	return unread;
}

static void handle_unread_timer(struct timer_list *timer)
{
	struct smc_conn *conn = container_of(timer, struct smc_conn, tx.unread_timer);
	bool is_due, asked, wake = false;
	u32 consumed;

	spin_lock(&conn->lock);
	consumed = conn->tx.consumed;
	is_due = has_waiting_writer(conn) && is_quiet(conn);
	spin_unlock(&conn->lock);
	if (is_due) {
		asked = smc_cdc_blocked(conn, false);
		spin_lock(&conn->lock);
		wake = note_unread(conn, consumed, asked);
		spin_unlock(&conn->lock);
	}
	if (wake)
		smc_conn_wake_writers(conn);
	smc_conn_put(conn);
}

void smc_unread_init(struct smc_conn *conn)
{
	timer_setup(&conn->tx.unread_timer, handle_unread_timer, 0);
}

/*
 * A call or a program waits for space, and has set tx.waiting. The connection is active. The socket
 * lock or rcu_read_lock() is held. Process context; does not sleep.
 */
void smc_unread_watch(struct smc_conn *conn)
{
	if (!smc_tx_awaits_reader(conn))
		return;
	spin_lock_bh(&conn->lock);
	if (!conn->freeing && !timer_pending(&conn->tx.unread_timer))
		start_timer(conn, jiffies + READER_TIME);
	spin_unlock_bh(&conn->lock);
}
