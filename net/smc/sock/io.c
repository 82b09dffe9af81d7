// SPDX-License-Identifier: GPL-2.0-only
/* Sending, receiving, polling, shutdown, ioctls */

#include <linux/net_tstamp.h>
#include <linux/poll.h>
#include <linux/skbuff.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/busy_poll.h>
#include <asm/ioctls.h>

#include "../compat/compat.h"
#include "../conn/close.h"
#include "../conn/conn.h"
#include "sock.h"

/* While a call is inside of the connection, it is not made new; see smc_sock_disconnect() */
static void enter(struct smc_sock *smc)
{
	atomic_inc(&smc->users);
}

static void leave(struct smc_sock *smc)
{
	if (atomic_dec_and_test(&smc->users) &&
	    unlikely(READ_ONCE(smc->state) != SMC_SOCK_ACTIVE))
		wake_up_var(&smc->users);
}

/*
 * MSG_ZEROCOPY over SMC: the bytes are copied into the peer's ring before the call
 * returns, and this is what its completion says. Completions go through the error
 * queue of the inner socket, which counts the calls also after a fallback.
 */
static int zerocopy_begin(struct smc_sock *smc, const struct msghdr *msg, size_t len,
			  struct ubuf_info **completion)
{
	struct sock *tcp = smc->tcp->sk;

	*completion = NULL;
	/* Those with a completion of their own (io_uring) keep it */
	if (!(msg->msg_flags & MSG_ZEROCOPY) || !len || msg->msg_ubuf ||
	    !sock_flag(tcp, SOCK_ZEROCOPY))
		return 0;
	*completion = msg_zerocopy_realloc(tcp, len, NULL);
	if (!*completion)
		return -ENOBUFS;
	uarg_to_msgzc(*completion)->zerocopy = 0;
	return 0;
}

static void zerocopy_end(struct smc_sock *smc, struct ubuf_info *completion, int sent)
{
	if (sent < 0) {
		net_zcopy_put_abort(completion, true);
		return;
	}
	net_zcopy_put(completion);
	sk_error_report(&smc->sk);
}

/* Is there more to do than to send, see ancillary.c? */
static bool is_observed(const struct smc_sock *smc, const struct msghdr *msg)
{
	return msg->msg_controllen || READ_ONCE(smc->sk.sk_tsflags) &
	       (SOF_TIMESTAMPING_TX_RECORD_MASK | SOF_TIMESTAMPING_OPT_ID);
}

static int send_active(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	struct ubuf_info *completion;
	int stamps = 0;
	int ret;

	if (msg->msg_flags & MSG_OOB)
		smc_conn_count(&smc->conn, SMC_STAT_URGENT, 1);
	if (is_observed(smc, msg)) {
		stamps = smc_ancillary_prepare(smc, msg);
		if (stamps < 0)
			return stamps;
	}
	ret = zerocopy_begin(smc, msg, len, &completion);
	if (ret)
		return ret;
	enter(smc);
	ret = smc_tx_sendmsg(&smc->conn, msg, len);
	leave(smc);
	if (completion)
		zerocopy_end(smc, completion, ret);
	if (ret > 0 && stamps && smc->state == SMC_SOCK_ACTIVE && smc->conn.transport)
		smc_ancillary_sent(smc, stamps);
	return ret;
}

/*
 * Small transfers are most often done under the spin lock alone, without owning the
 * socket. Return: as the whole call, or 0 if it has to be done the long way.
 */
static int try_send(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	spinlock_t *lock = &smc->sk.sk_lock.slock;
	int ret = 0;

	if (!len || len > SMC_TRY_MAX || is_observed(smc, msg) ||
	    msg->msg_flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE))
		return 0;
	spin_lock_bh(lock);
	if (!smc->sk.sk_lock.owned && smc->state == SMC_SOCK_ACTIVE)
		ret = smc_tx_try(&smc->conn, msg, len);
	spin_unlock_bh(lock);
	return ret;
}

/* Is there nothing to receive, nor to do before waiting for it as long as it takes? */
static bool may_wait(const struct smc_sock *smc, int flags)
{
	const struct smc_conn *conn = &smc->conn;
	const struct sock *sk = &smc->sk;

	return !(flags & MSG_DONTWAIT) && sk->sk_rcvtimeo == MAX_SCHEDULE_TIMEOUT &&
	       !smc_rx_available(conn) && !READ_ONCE(conn->tx.held) && !sk_can_busy_loop(sk);
}

/* If there is nothing yet: @wait, and we are inside of the connection until smc_recvmsg() ends */
static int try_receive(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags,
		       bool *wait)
{
	spinlock_t *lock = &smc->sk.sk_lock.slock;
	int ret = 0;

	if (flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL) || smc_compat_may_allocate(&msg->msg_iter))
		return 0;
	spin_lock_bh(lock);
	if (!smc->sk.sk_lock.owned && smc->state == SMC_SOCK_ACTIVE) {
		ret = smc_rx_try(&smc->conn, msg, len);
		if (!ret && !*wait && may_wait(smc, flags)) {
			*wait = true;
			enter(smc);
		}
	}
	spin_unlock_bh(lock);
	return ret;
}

static int sendmsg_locked(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	struct sock *sk = &smc->sk;
	int err;

	if (msg->msg_flags & MSG_FASTOPEN && smc->state == SMC_SOCK_INIT) {
		smc_fallback(smc, SMC_REASON_OPTION, 0);
		return 0;
	}
	err = smc_connect_wait(smc, sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT));
	if (err)
		return err;
	switch (smc->state) {
	case SMC_SOCK_ACTIVE:
		return send_active(smc, msg, len);
	case SMC_SOCK_FALLBACK:
		return 0;
	default:
		return sk_stream_error(sk, msg->msg_flags, -EPIPE);
	}
}

/**
 * smc_sendmsg() - all ways to send
 * @sock: the socket
 * @msg: data and flags
 * @len: length of the data
 *
 * Return: as TCP.
 */
int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->tcp;
	int ret;

	ret = try_send(smc, msg, len);
	if (ret)
		return ret;
	if (!smc_sock_is_tcp(smc)) {
		lock_sock(&smc->sk);
		ret = sendmsg_locked(smc, msg, len);
		release_sock(&smc->sk);
		if (ret || !smc_sock_is_tcp(smc))
			return ret;
	}
	return tcp->ops->sendmsg(tcp, msg, len);
}

static int recvmsg_locked(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags)
{
	struct smc_conn *conn = &smc->conn;
	int err;

	err = smc_connect_wait(smc, sock_rcvtimeo(&smc->sk, flags & MSG_DONTWAIT));
	if (err)
		return err;
	switch (smc->state) {
	case SMC_SOCK_ACTIVE:
		if (flags & MSG_OOB) {
			smc_conn_count(conn, SMC_STAT_URGENT, 1);
			return smc_urgent_recv(conn, msg, len, flags);
		}
		enter(smc);
		err = smc_rx_recvmsg(conn, msg, len, flags);
		leave(smc);
		return err;
	case SMC_SOCK_FALLBACK:
		return 0;
	default:
		if (flags & MSG_OOB && smc->state != SMC_SOCK_LISTEN)
			return -EINVAL;
		if (smc->sk.sk_err || !(smc->sk.sk_shutdown & RCV_SHUTDOWN))
			return sock_error(&smc->sk) ?: -ENOTCONN;
		return 0;
	}
}

static int receive(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags)
{
	struct socket *tcp = smc->tcp;
	int ret;

	if (!smc_sock_is_tcp(smc) && !(flags & MSG_ERRQUEUE)) {
		lock_sock(&smc->sk);
		ret = recvmsg_locked(smc, msg, len, flags);
		release_sock(&smc->sk);
		if (ret || !smc_sock_is_tcp(smc))
			return ret;
	}
	return tcp->ops->recvmsg(tcp, msg, len, flags);
}

static bool wants_ancillary(const struct smc_sock *smc, const struct msghdr *msg)
{
	return READ_ONCE(smc->conn.rx.stamp) || READ_ONCE(smc->inq) || msg->msg_get_inq;
}

/**
 * smc_recvmsg() - all ways to receive
 * @sock: the socket
 * @msg: where the data goes
 * @len: space there
 * @flags: MSG_*
 *
 * Return: as TCP.
 */
int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	bool waited = false;
	int ret;

	ret = try_receive(smc, msg, len, flags, &waited);
	if (waited) {
		smc_rx_wait(&smc->conn);
		ret = try_receive(smc, msg, len, flags, &waited);
	}
	if (!ret)
		ret = receive(smc, msg, len, flags);
	if (unlikely(wants_ancillary(smc, msg)) && ret >= 0 && !smc_sock_is_tcp(smc) &&
	    !(flags & MSG_ERRQUEUE))
		smc_ancillary_received(smc, msg, ret && !(flags & MSG_OOB));
	if (waited)
		leave(smc);
	return ret;
}

static bool poll_writable(struct smc_conn *conn)
{
	if (smc_tx_writable(conn))
		return true;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, conn->sk);
	WRITE_ONCE(conn->tx.waiting, true);
	/* Paired with the barrier in conn/cdc.c, apply() */
	smp_mb();
	return smc_tx_writable(conn);
}

static __poll_t poll_active(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	u8 shutdown = READ_ONCE(conn->shutdown);
	__poll_t mask = 0;

	if (shutdown == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (smc_rx_readable(conn))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (shutdown & SEND_SHUTDOWN || poll_writable(conn))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (READ_ONCE(conn->urgent.ready))
		mask |= EPOLLPRI;
	return mask;
}

/**
 * smc_poll() - poll, select and epoll
 * @file: the file
 * @sock: the socket
 * @wait: poll table, or NULL
 *
 * Return: what is ready, as TCP.
 */
__poll_t smc_poll(struct file *file, struct socket *sock, struct poll_table_struct *wait)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct sock *sk = &smc->sk;
	__poll_t mask = 0;

	/* Paired with the barrier in turn_over(): either we see the state, or it us */
	sock_poll_wait(file, sock, wait);
	if (smc_sock_is_tcp(smc))
		return smc->tcp->ops->poll(file, smc->tcp, wait);

	switch (READ_ONCE(smc->state)) {
	case SMC_SOCK_LISTEN:
		WRITE_ONCE(smc->queue.blocking, false);
		if (smc_accept_ready(smc))
			mask = EPOLLIN | EPOLLRDNORM;
		break;
	case SMC_SOCK_ACTIVE:
		rcu_read_lock();
		if (READ_ONCE(smc->state) == SMC_SOCK_ACTIVE)
			mask = poll_active(smc);
		rcu_read_unlock();
		break;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		break;
	default:
		mask = EPOLLHUP | EPOLLOUT | EPOLLWRNORM;
		if (sk->sk_shutdown & RCV_SHUTDOWN)	/* connecting failed */
			mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	}
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&smc->tcp->sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* Return: an amount, or a negative errno; -ENOIOCTLCMD for all others */
static int ioctl_locked(struct smc_sock *smc, unsigned int cmd)
{
	struct smc_conn *conn = &smc->conn;
	bool active = smc->state == SMC_SOCK_ACTIVE;

	switch (cmd) {
	case SIOCINQ:
		if (smc->state == SMC_SOCK_LISTEN)
			return -EINVAL;
		return active ? smc_rx_amount(conn) : 0;
	case SIOCOUTQ:
		if (smc->state == SMC_SOCK_LISTEN)
			return -EINVAL;
		return active ? smc_tx_outstanding(conn) : 0;
	case SIOCOUTQNSD:
		if (smc->state == SMC_SOCK_LISTEN)
			return -EINVAL;
		return 0;	/* what a send call returned is in the peer's ring */
	case SIOCATMARK:
		return active && smc_urgent_at_mark(conn);
	default:
		return -ENOIOCTLCMD;
	}
}

/**
 * smc_ioctl() - the ioctl system call
 * @sock: the socket
 * @cmd: which
 * @arg: its argument
 *
 * Return: as TCP.
 */
int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->tcp;
	int answer = -ENOIOCTLCMD;

	if (!smc_sock_is_tcp(smc)) {
		lock_sock(&smc->sk);
		answer = ioctl_locked(smc, cmd);
		release_sock(&smc->sk);
	}
	if (answer == -ENOIOCTLCMD)
		return tcp->ops->ioctl(tcp, cmd, arg);
	return answer < 0 ? answer : put_user(answer, (int __user *)arg);
}

static int shutdown_active(struct smc_sock *smc, int how)
{
	struct smc_conn *conn = &smc->conn;

	if (smc_close_both_done(READ_ONCE(conn->state)))
		return -ENOTCONN;
	/* With unread data, closing would be an abort; TCP only ends our side */
	if (how == SHUTDOWN_MASK && !smc_rx_available(conn))
		smc_close_event(conn, SMC_CLOSE_CLOSE, 0);
	else if (how & SEND_SHUTDOWN)
		smc_close_event(conn, SMC_CLOSE_SHUT_WR, 0);

	spin_lock_bh(&conn->lock);
	smp_store_release(&conn->shutdown, conn->shutdown | how);	/* paired with starved() */
	spin_unlock_bh(&conn->lock);
	smc_conn_wake_all(conn);
	return 0;
}

static int shutdown_locked(struct smc_sock *smc, int how)
{
	struct sock *sk = &smc->sk;

	switch (smc->state) {
	case SMC_SOCK_ACTIVE:
		return shutdown_active(smc, how);
	case SMC_SOCK_LISTEN:
		if (!(how & RCV_SHUTDOWN))
			return 0;
		smc_accept_flush(smc);
		kernel_sock_shutdown(smc->tcp, SHUT_RDWR);
		sk->sk_state_change(sk);
		return 0;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		smc_connect_cancel(smc);
		sk->sk_socket->state = SS_UNCONNECTED;
		sk->sk_state_change(sk);
		return 0;
	default:
		return -ENOTCONN;
	}
}

/**
 * smc_shutdown() - the shutdown system call
 * @sock: the socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * Return: as TCP.
 */
int smc_shutdown(struct socket *sock, int how)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->tcp;
	int err;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (smc_sock_is_tcp(smc))
		return tcp->ops->shutdown(tcp, how);
	lock_sock(&smc->sk);
	err = shutdown_locked(smc, how + 1);
	release_sock(&smc->sk);
	return err;
}
