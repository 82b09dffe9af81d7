// SPDX-License-Identifier: GPL-2.0-only
/* Wake the programs that wait for a connection, and signal the owners of its file (O_ASYNC) */

#include <linux/poll.h>

#include "conn.h"

/**
 * smc_conn_signal_owner() - tell those who asked for signals
 * @conn: the connection
 * @how: SOCK_WAKE_*
 * @band: POLL_*
 */
void smc_conn_signal_owner(const struct smc_conn *conn, int how, int band)
{
	struct socket_wq *wq;

	if (!sock_flag(conn->sk, SOCK_FASYNC))
		return;
	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (wq)
		sock_wake_async(wq, how, band);
	rcu_read_unlock();
}

/**
 * smc_conn_wake_readers() - there is something to read, as sock_def_readable()
 * @conn: the connection
 */
void smc_conn_wake_readers(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_sync_poll(&wq->wait, EPOLLIN | EPOLLPRI | EPOLLRDNORM |
						EPOLLRDBAND);
	rcu_read_unlock();
	smc_conn_signal_owner(conn, SOCK_WAKE_WAITD, POLL_IN);
}

/**
 * smc_conn_wake_writers() - there is space, as sock_def_write_space()
 * @conn: the connection
 */
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

/**
 * smc_conn_wake_all() - the state has changed, as sock_def_wakeup()
 * @conn: the connection
 */
void smc_conn_wake_all(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_all(&wq->wait);
	rcu_read_unlock();
}

/**
 * smc_conn_wake_error() - there is an error, or something in the error queue
 * @conn: the connection
 */
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

/**
 * smc_conn_wants_space() - the owner of the file is to be signalled when there is space
 * @conn: the connection
 */
void smc_conn_wants_space(const struct smc_conn *conn)
{
	struct socket_wq *wq;

	if (!sock_flag(conn->sk, SOCK_FASYNC))
		return;
	rcu_read_lock();
	wq = rcu_dereference(conn->wq);
	if (wq)
		set_bit(SOCKWQ_ASYNC_NOSPACE, &wq->flags);
	rcu_read_unlock();
}
