// SPDX-License-Identifier: GPL-2.0-only
/* The byte stream: send, receive, poll and shutdown, of an SMC connection or before there is one */

#include <linux/net_tstamp.h>
#include <linux/poll.h>
#include <linux/skbuff.h>
#include <net/busy_poll.h>
#include <net/tcp.h>

#include "../compat/compat.h"
#include "../conn/close.h"
#include "../listen/listen.h"
#include "ops.h"

/*
 * MSG_ZEROCOPY over SMC: the bytes are copied before the call returns, and the completion reports a
 * copy. Completions go through TCP's error queue, which counts the calls also after a fallback.
 */
static int begin_zerocopy(struct smc_sock *smc, const struct msghdr *msg, size_t len,
			  struct ubuf_info **completion)
{
	struct sock *sk = smc->conn.sk;

	*completion = NULL;
	/* io_uring has a completion of its own, and keeps it */
	if (!(msg->msg_flags & MSG_ZEROCOPY) || !len || msg->msg_ubuf ||
	    !sock_flag(sk, SOCK_ZEROCOPY))
		return 0;
	*completion = msg_zerocopy_realloc(sk, len, NULL);
	if (!*completion)
		return -ENOBUFS;
	uarg_to_msgzc(*completion)->zerocopy = 0;
	return 0;
}

static void end_zerocopy(struct smc_sock *smc, struct ubuf_info *completion, int sent)
{
	if (sent < 0) {
		net_zcopy_put_abort(completion, true);
		return;
	}
	net_zcopy_put(completion);
	smc_conn_wake_error(&smc->conn);
}

/* Does the call ask for ancillary data, see ancillary.c? */
static bool is_send_observed(const struct smc_sock *smc, const struct msghdr *msg)
{
	return msg->msg_controllen || READ_ONCE(smc->conn.sk->sk_tsflags) &
	       (SOF_TIMESTAMPING_TX_RECORD_MASK | SOF_TIMESTAMPING_OPT_ID);
}

static int send_to_conn(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	struct ubuf_info *completion;
	int stamps = 0;
	int ret;

	if (msg->msg_flags & MSG_OOB)
		smc_conn_count(&smc->conn, SMC_STAT_URGENT, 1);
	if (is_send_observed(smc, msg)) {
		stamps = smc_ancillary_prepare(smc, msg);
		if (stamps < 0)
			return stamps;
	}
	ret = begin_zerocopy(smc, msg, len, &completion);
	if (ret)
		return ret;
	smc_sock_enter_call(smc);
	ret = smc_tx_sendmsg(&smc->conn, msg, len);
	if (completion)
		end_zerocopy(smc, completion, ret);
	if (ret > 0 && stamps && smc->state == SMC_SOCK_ACTIVE)
		smc_ancillary_sent(smc, stamps);
	smc_sock_exit_call(smc);
	return ret;
}

/*
 * Most small transfers take the spin lock only, without owning the socket.
 *
 * Return: as the whole call, or 0 if the call has to own the socket.
 */
static int try_fast_send(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct smc_sock *smc;
	int ret = 0;

	if (!len || len > SMC_TRY_MAX ||
	    msg->msg_flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE))
		return 0;
	spin_lock_bh(&sk->sk_lock.slock);
	smc = smc_sk(sk);
	if (smc && !sk->sk_lock.owned && smc->state == SMC_SOCK_ACTIVE &&
	    !is_send_observed(smc, msg) && !smc_sock_is_taken(sk))
		ret = smc_tx_try(&smc->conn, msg, len);
	spin_unlock_bh(&sk->sk_lock.slock);
	return ret;
}

/*
 * May the call sleep without owning the socket: no data to receive, no unannounced data, no
 * timeout, no busy polling?
 */
static bool may_wait_unowned(const struct smc_sock *smc, int flags)
{
	const struct smc_conn *conn = &smc->conn;
	const struct sock *sk = conn->sk;

	return !(flags & MSG_DONTWAIT) && sk->sk_rcvtimeo == MAX_SCHEDULE_TIMEOUT &&
	       !smc_rx_available(conn) && !READ_ONCE(conn->tx.held) && !sk_can_busy_loop(sk);
}

/**
 * struct receiver - a receive call
 * @msg: where the data goes
 * @len: space there
 * @flags: of the call
 * @waits: the connection that had no data; the call has entered it
 * @observer: the connection that the data came from, if the program asks for ancillary data; the
 *	call has entered it
 */
struct receiver {
	struct msghdr *msg;
	size_t len;
	int flags;
	struct smc_sock *waits;
	struct smc_sock *observer;
};

static bool is_receive_observed(const struct smc_sock *smc, const struct msghdr *msg)
{
	return READ_ONCE(smc->conn.rx.stamp) || msg->msg_get_inq ||
	       tcp_sk(smc->conn.sk)->recvmsg_inq;
}

/* For smc_ancillary_received(), which sleeps */
static void keep_observer(struct receiver *r, struct smc_sock *smc)
{
	if (likely(!is_receive_observed(smc, r->msg)))
		return;
	smc_sock_enter_call(smc);
	r->observer = smc;
}

/*
 * Return: as the whole call, or 0. If there is no data yet, and the call may sleep, r->waits is
 * set; wait_and_receive() leaves that connection.
 */
static int try_fast_receive(struct sock *sk, struct receiver *r, bool may_sleep)
{
	struct smc_sock *smc;
	int ret = 0;

	if (r->flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL) || smc_compat_may_allocate(&r->msg->msg_iter))
		return 0;
	spin_lock_bh(&sk->sk_lock.slock);
	smc = smc_sk(sk);
	if (smc && !sk->sk_lock.owned && smc->state == SMC_SOCK_ACTIVE) {
		ret = smc_rx_try(&smc->conn, r->msg, r->len);
		if (ret) {
			keep_observer(r, smc);
		} else if (may_sleep && may_wait_unowned(smc, r->flags)) {
			r->waits = smc;
			smc_sock_enter_call(smc);
		}
	}
	spin_unlock_bh(&sk->sk_lock.slock);
	return ret;
}

/* Wait while connect() is under way. Return: as smc_connect_wait(). */
static int wait_until_connected(struct sock *sk, long timeo)
{
	struct smc_sock *smc = smc_sk(sk);
	int err;

	if (!smc || !smc_connect_is_under_way(smc))
		return 0;
	smc_conn_get(&smc->conn);
	err = smc_connect_wait(smc, timeo);
	smc_conn_put(&smc->conn);
	return err;
}

/*
 * The socket is not connected, and another thread may connect it at any time. TCP would take the
 * lock itself, and might find the connection below SMC. So this function returns what TCP would.
 */
static int receive_unconnected(struct sock *sk, int flags)
{
	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	if (flags & MSG_OOB)
		return -EINVAL;
	if (sock_flag(sk, SOCK_DONE))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

/* Return: as the whole call, or 0 and *@by_tcp. */
static int send_sock_locked(struct socket *sock, struct msghdr *msg, size_t len, bool *by_tcp)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int err;

	smc = smc_sk(sk);
	/* While listen() runs without the lock, TCP listens and smc->state is SMC_SOCK_INIT */
	if (msg->msg_flags & MSG_FASTOPEN && smc_ops_are_smc(sock) && sk->sk_state == TCP_CLOSE &&
	    (!smc || smc->state == SMC_SOCK_INIT))
		smc_fallback_unconnected(sock, SMC_REASON_OPTION);
	err = wait_until_connected(sk, sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT));
	if (err)
		return err;
	*by_tcp = !smc_ops_are_smc(sock);
	if (*by_tcp)
		return 0;
	smc = smc_sk(sk);
	if (!smc || smc->state != SMC_SOCK_ACTIVE)
		return sk_stream_error(sk, msg->msg_flags, -EPIPE);
	if (smc_sock_is_taken(sk))	/* a kernel service, which would wait for its callbacks */
		return -EOPNOTSUPP;
	return send_to_conn(smc, msg, len);
}

/* Every call that sends. Return: as TCP. */
int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	bool by_tcp = false;
	bool has_module;
	int ret;

	ret = try_fast_send(sk, msg, len);
	if (ret)
		return ret;
	has_module = smc_call_begin();
	lock_sock(sk);
	ret = send_sock_locked(sock, msg, len, &by_tcp);
	release_sock(sk);
	if (by_tcp)
		ret = smc_ops_of_tcp(sk)->sendmsg(sock, msg, len);
	smc_call_end(has_module);
	return ret;
}

static int receive_from_conn(struct smc_sock *smc, struct receiver *r)
{
	struct smc_conn *conn = &smc->conn;
	int ret;

	if (r->flags & MSG_OOB) {
		smc_conn_count(conn, SMC_STAT_URGENT, 1);
		return smc_urgent_recv(conn, r->msg, r->len, r->flags);
	}
	smc_sock_enter_call(smc);
	ret = smc_rx_recvmsg(conn, r->msg, r->len, r->flags);
	if (ret >= 0 && smc->state == SMC_SOCK_ACTIVE)
		keep_observer(r, smc);
	smc_sock_exit_call(smc);
	return ret;
}

/* Return: as the whole call, or 0 and *@by_tcp. */
static int receive_sock_locked(struct socket *sock, struct receiver *r, bool *by_tcp)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int err = 0;

	if (!(r->flags & MSG_OOB))	/* TCP does not wait for urgent data */
		err = wait_until_connected(sk, sock_rcvtimeo(sk, r->flags & MSG_DONTWAIT));
	if (err)
		return err;
	*by_tcp = !smc_ops_are_smc(sock);
	if (*by_tcp)
		return 0;
	smc = smc_sk(sk);
	if (!smc || smc->state != SMC_SOCK_ACTIVE)
		return receive_unconnected(sk, r->flags);
	return receive_from_conn(smc, r);
}

static int receive_slowly(struct socket *sock, struct receiver *r)
{
	struct sock *sk = sock->sk;
	bool by_tcp = r->flags & MSG_ERRQUEUE;
	bool has_module = smc_call_begin();
	int ret = 0;

	if (!by_tcp) {
		lock_sock(sk);
		ret = receive_sock_locked(sock, r, &by_tcp);
		release_sock(sk);
	}
	if (by_tcp)
		ret = smc_ops_of_tcp(sk)->recvmsg(sock, r->msg, r->len, r->flags);
	smc_call_end(has_module);
	return ret;
}

static int wait_and_receive(struct sock *sk, struct receiver *r)
{
	int ret;

	smc_rx_wait(&r->waits->conn);
	ret = try_fast_receive(sk, r, false);
	smc_sock_exit_call(r->waits);
	return ret;
}

/* Every call that receives. Return: as TCP. */
int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct receiver r = { .msg = msg, .len = len, .flags = flags };
	int ret;

	ret = try_fast_receive(sock->sk, &r, true);
	if (r.waits)
		ret = wait_and_receive(sock->sk, &r);
	if (!ret)
		ret = receive_slowly(sock, &r);
	if (unlikely(r.observer)) {
		smc_ancillary_received(r.observer, msg, ret && !(flags & MSG_OOB));
		smc_sock_exit_call(r.observer);
	}
	return ret;
}

static void count_splice(const struct sock *sk)
{
	const struct smc_sock *smc;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc && smc_sock_state(smc) == SMC_SOCK_ACTIVE)
		smc_conn_count(&smc->conn, SMC_STAT_SPLICE, 1);
	rcu_read_unlock();
}

/* splice() from the socket to a pipe, by smc_recvmsg(). Return: as TCP. */
ssize_t smc_splice_read(struct socket *sock, loff_t *pos, struct pipe_inode_info *pipe, size_t len,
			unsigned int flags)
{
	bool has_module = smc_call_begin();
	ssize_t ret;

	count_splice(sock->sk);
	ret = smc_compat_splice_read(sock->file, pos, pipe, len, flags);
	smc_call_end(has_module);
	return ret;
}

/* @waits: the program waits for that, in poll() or for a signal */
static bool poll_conn_writable(struct smc_conn *conn, bool waits)
{
	if (smc_tx_writable(conn))
		return true;
	if (!waits)
		return false;
	smc_conn_wants_space(conn);
	WRITE_ONCE(conn->tx.waiting, true);
	/* Paired with the barrier in conn/cdc.c, apply_message() */
	smp_mb();
	if (smc_tx_writable(conn))
		return true;
	if (smc_tx_needs_report(conn))
		smc_cdc_blocked(conn, false);
	smc_unread_watch(conn);
	return false;
}

/* @requested: what the program waits for */
static __poll_t poll_conn(struct smc_sock *smc, __poll_t requested)
{
	struct smc_conn *conn = &smc->conn;
	bool waits = requested & (EPOLLOUT | EPOLLWRNORM) ||
		     smc_conn_sock_flag(conn, SOCK_FASYNC);
	u8 shutdown = READ_ONCE(conn->shutdown);
	__poll_t mask = 0;

	if (shutdown == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (smc_rx_readable(conn))
		mask |= EPOLLIN | EPOLLRDNORM;
	/* A write to a peer that has closed does not wait */
	if (shutdown & SEND_SHUTDOWN || READ_ONCE(conn->tx.refused) ||
	    poll_conn_writable(conn, waits))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (READ_ONCE(conn->urgent.ready))
		mask |= EPOLLPRI;
	if (smc_conn_has_error(conn) ||
	    !skb_queue_empty_lockless(&conn->sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* May sleep, so outside of the RCU read-side critical section. Drops the reference. */
static __poll_t poll_listener(struct smc_sock *listener)
{
	__poll_t mask = smc_accept_poll(listener) ? EPOLLIN | EPOLLRDNORM : 0;

	smc_conn_put(&listener->conn);
	return mask;
}

/* poll, select and epoll. Return: the events that are ready, as TCP. */
__poll_t smc_poll(struct file *file, struct socket *sock, struct poll_table_struct *wait)
{
	struct smc_sock *smc, *listener = NULL;
	bool by_tcp = false;
	__poll_t mask = 0;

	smc_call_enter();
	/* Before the state is read: a change of the state wakes this queue */
	sock_poll_wait(file, sock, wait);
	rcu_read_lock();
	smc = smc_sk(sock->sk);
	switch (smc ? smc_sock_state(smc) : SMC_SOCK_INIT) {
	case SMC_SOCK_LISTEN:
		by_tcp = inet_sk_state_load(sock->sk) != TCP_LISTEN;
		if (!by_tcp && smc_conn_get_not_zero(&smc->conn))
			listener = smc;
		break;
	case SMC_SOCK_ACTIVE:
		mask = poll_conn(smc, poll_requested_events(wait));
		break;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		break;
	default:
		by_tcp = true;
	}
	/* Does not sleep, because the table is NULL; writes to the flags of smc_sock.wq */
	if (by_tcp)
		mask = smc_ops_of_tcp(sock->sk)->poll(file, sock, NULL);
	rcu_read_unlock();
	if (listener)
		mask = poll_listener(listener);
	smc_call_leave();
	return mask;
}

static int shutdown_conn(struct smc_sock *smc, int how)
{
	if (smc_conn_tcp_state(&smc->conn) == TCP_CLOSE)
		return -ENOTCONN;
	smc_close_shutdown(&smc->conn, how);
	return 0;
}

static int shutdown_listener(struct smc_sock *smc)
{
	bool was_killed = smc_listen_is_killed(smc);

	smc_listen_end(smc);
	return was_killed;
}

/* Return: as the whole call, or 1 if TCP has to do it. */
static int shutdown_sock_locked(struct socket *sock, struct smc_sock *smc, int how)
{
	switch (smc->state) {
	case SMC_SOCK_ACTIVE:
		if (sock->state == SS_CONNECTING)	/* as TCP */
			sock->state = SS_CONNECTED;
		return shutdown_conn(smc, how);
	case SMC_SOCK_LISTEN:
		if (!(how & RCV_SHUTDOWN))
			return 0;
		return shutdown_listener(smc);
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		smc_connect_cancel(smc, ECONNRESET);
		sock->state = SS_UNCONNECTED;
		smc_conn_wake_reset(&smc->conn);
		return 0;
	default:
		return 1;
	}
}

/* The shutdown system call; @how is SHUT_RD, SHUT_WR or SHUT_RDWR. Return: as TCP. */
int smc_shutdown(struct socket *sock, int how)
{
	bool has_module = smc_call_begin();
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int err = 1;

	if (how >= SHUT_RD && how <= SHUT_RDWR) {
		lock_sock(sk);
		smc = smc_sk(sk);
		if (smc) {
			smc_conn_get(&smc->conn);
			err = shutdown_sock_locked(sock, smc, how + 1);
			smc_conn_put(&smc->conn);
		}
		release_sock(sk);
	}
	if (err > 0)
		err = smc_ops_of_tcp(sk)->shutdown(sock, how);
	smc_call_end(has_module);
	return err;
}
