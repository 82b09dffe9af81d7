// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake the programs that wait for a connection, and signal the owner of its file (O_ASYNC). Like
 * the callbacks of struct sock, but for the wait queue of the struct socket. Any context.
 */

#include <linux/poll.h>

#include "conn.h"

/*
 * Send SIGIO to the owner of the file. @how: SOCK_WAKE_*; @band: POLL_*. The caller has a
 * reference, or is in an RCU read-side critical section. In the latter case the sock may be freed,
 * and its memory be that of another one, with another flag. But then no struct socket has it, so
 * the list of the owners is empty, and RCU keeps @wq.
 */
void smc_conn_signal_owner(const struct smc_conn *conn, int how, int band)
{
	struct socket_wq *wq;

	if (!smc_conn_sock_flag(conn, SOCK_FASYNC))
		return;
	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (wq)
		sock_wake_async(wq, how, band);
	rcu_read_unlock();
}

/*
 * The queue where programs wait. Without one, @woken is called in place of a wake-up, and NULL is
 * returned. The caller is in an RCU read-side critical section.
 */
static struct socket_wq *choose_waiters(const struct smc_conn *conn)
{
	struct socket_wq *wq = rcu_dereference(conn->wq);
	void (*woken)(struct smc_conn *conn);

	if (likely(wq))
		return wq;
	/* Paired with defer_child() in listen/queue.c */
	smp_mb();
	woken = READ_ONCE(conn->woken);
	if (woken)
		woken((struct smc_conn *)conn);
	return NULL;
}

/*
 * Does a task wait for the connection, or does the owner of the file get signals? The caller has
 * changed the state that waiters look at, and has had a full barrier since then.
 */
bool smc_conn_has_waiter(const struct smc_conn *conn)
{
	struct socket_wq *wq;
	bool has_waiter;

	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (likely(wq))	/* the barrier of the caller is paired with those of the waiting calls */
		has_waiter = waitqueue_active(&wq->wait) || smc_conn_sock_flag(conn, SOCK_FASYNC);
	else
		has_waiter = READ_ONCE(conn->woken);
	rcu_read_unlock();
	return has_waiter;
}

/* Data is available; like sock_def_readable() */
void smc_conn_wake_readers(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = choose_waiters(conn);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_sync_poll(&wq->wait, EPOLLIN | EPOLLPRI | EPOLLRDNORM |
						EPOLLRDBAND);
	rcu_read_unlock();
	smc_conn_signal_owner(conn, SOCK_WAKE_WAITD, POLL_IN);
}

/* Space is available; like sock_def_write_space() */
void smc_conn_wake_writers(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_sync_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	rcu_read_unlock();
	smc_conn_signal_owner(conn, SOCK_WAKE_SPACE, POLL_OUT);
}

/* The state has changed; like sock_def_wakeup() */
void smc_conn_wake_all(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = choose_waiters(conn);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_all(&wq->wait);
	rcu_read_unlock();
}

/*
 * The connection has ended with an error. As with TCP, the wake-up has no key: more is ready than
 * EPOLLERR, and waiters ask poll().
 */
void smc_conn_wake_reset(const struct smc_conn *conn)
{
	smc_conn_wake_all(conn);
	smc_conn_signal_owner(conn, SOCK_WAKE_IO, POLL_ERR);
}

/* There is a message in the error queue; like sock_def_error_report() */
void smc_conn_wake_error(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLERR);
	rcu_read_unlock();
	smc_conn_signal_owner(conn, SOCK_WAKE_IO, POLL_ERR);
}

/* Let smc_conn_wake_writers() signal the owner of the file */
void smc_conn_wants_space(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	if (!smc_conn_sock_flag(conn, SOCK_FASYNC))
		return;
	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (wq)
		set_bit(SOCKWQ_ASYNC_NOSPACE, &wq->flags);
	rcu_read_unlock();
}
