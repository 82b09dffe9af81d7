// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends. After tcp_close() TCP does not call this module for the sock. An SMC-D connection does
 * without the sock: TCP closes it at once. Over SMC-R only TCP tells that the peer has given up, so
 * tcp_close() comes last: the sock waits without a struct socket, as a child does before accept().
 * See Documentation/one-socket.rst, "Closing while the peer has not ended".
 */

#include <linux/module.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "../conn/close.h"
#include "sock.h"

/**
 * smc_close_sock() - close a TCP sock that has no struct socket, as its program would
 * @sk: it, not locked; gives back the reference that the struct socket would have
 * @reset: with a RST in place of a FIN
 *
 * May sleep.
 */
void smc_close_sock(struct sock *sk, bool reset)
{
	struct socket sock = { .sk = sk };

	if (reset) {
		sock_no_linger(sk);
	} else {	/* no program waits for SO_LINGER */
		lock_sock(sk);
		sock_reset_flag(sk, SOCK_LINGER);
		release_sock(sk);
	}
	smc_ops_of_tcp(sk)->release(&sock);
}

static bool needs_no_sock(const struct smc_sock *smc)
{
	enum smc_sock_state state = READ_ONCE(smc->state);

	return state == SMC_SOCK_CLOSED || state == SMC_SOCK_ORPHANED;
}

/**
 * smc_close_if_over() - close the sock, if that is ours to do, and due
 * @smc: the socket, not locked; the caller has a reference
 *
 * May sleep.
 */
void smc_close_if_over(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	bool is_due;

	if (!needs_no_sock(smc) || !READ_ONCE(smc->owns_sk))
		return;
	lock_sock(sk);
	is_due = needs_no_sock(smc) && smc->owns_sk;
	if (is_due)
		smc->owns_sk = false;
	release_sock(sk);
	if (!is_due)
		return;
	smc_close_sock(sk, false);
	module_put(THIS_MODULE);
}

/**
 * smc_close_reset_tcp() - reset the TCP connection
 * @smc: the socket, locked
 * @error: positive errno for the program, or 0
 *
 * Whoever looks at the rest of a connection wants to know whose it was: the addresses stay, as they
 * do when the peer resets it.
 */
void smc_close_reset_tcp(struct smc_sock *smc, int error)
{
	struct sock *sk = smc->conn.sk;
	bool had_peer = !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN));
	__be16 dport = inet_sk(sk)->inet_dport;
	u8 locks = sk->sk_userlocks;

	sock_owned_by_me(sk);
	smc_prot_to_tcp(sk);
	if (had_peer) {
		sk->sk_userlocks |= SOCK_BINDADDR_LOCK;
		sk->sk_prot->disconnect(sk, O_NONBLOCK);
		sk->sk_userlocks = locks;
		inet_sk(sk)->inet_dport = dport;
	}
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	WRITE_ONCE(sk->sk_err, error);
}

/* Detach the sock. Only the table of operations stays. */
static void detach_as(struct smc_sock *smc, enum smc_sock_state state)
{
	smc_sock_set_state(smc, state);
	/* No smc_option_withdraw(): the FIN or RST that follows acknowledges what is there */
	smc_option_disown(smc->conn.sk);
	smc_prot_to_tcp(smc->conn.sk);
	smc_sock_detach(smc);
}

static void let_go(struct smc_sock *smc)
{
	detach_as(smc, SMC_SOCK_CLOSED);
}

/*
 * TCP's connection ends after the SMC connection. The program was told of the latter, so the error
 * of TCP is dropped. Any context.
 */
static void take_back_error(struct smc_conn *conn)
{
	WRITE_ONCE(conn->sk->sk_err, READ_ONCE(conn->failed) ? READ_ONCE(conn->error) : 0);
}

/**
 * smc_close_is_over() - TCP reports an event: has the SMC connection ended before?
 * @smc: the socket
 *
 * Then the error that TCP has left is taken back. Any context.
 *
 * Return: whether.
 */
bool smc_close_is_over(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	if (!READ_ONCE(conn->failed) && !smc_close_both_done(READ_ONCE(conn->state)))
		return false;
	if (READ_ONCE(conn->sk->sk_err))
		take_back_error(conn);
	return true;
}

/*
 * An SMC connection dies with its TCP connection, if that was reset (V2-ELG-10);
 * and when something comes in there: a late Decline, or a peer that took another
 * way (R-KA-11).
 */
static void check_tcp(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = conn->sk;
	int error = READ_ONCE(sk->sk_err);

	if (smc_close_is_over(smc))
		return;
	if (sk->sk_state == TCP_CLOSE)
		smc_close_abort(conn, SMC_STAT_ABORT_TCP, error ?: ECONNRESET);
	else if (tcp_inq(sk))
		smc_close_abort(conn, SMC_STAT_ABORT_TCP, ECONNRESET);
}

/*
 * The program has closed the connection, and the peer has ended it, or its time is up. A peer that
 * has not learns of the end from a RST (R-CLS-16, R-TRM-09).
 */
static void end_waiting(struct smc_sock *smc)
{
	if (!(smc->conn.rx_state_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORTED)))
		smc_close_reset_tcp(smc, 0);
	let_go(smc);
}

/*
 * The program has closed the connection, and the peer resets TCP: if it ends the SMC connection in
 * any other way, that is on its way (R-ABT-13), and then the peer writes no more. Else it has given
 * up, perhaps before it knew of the connection.
 */
static void check_waiting(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	if (!READ_ONCE(smc->conn.transport))
		end_waiting(smc);
	else if (sk->sk_state == TCP_CLOSE && READ_ONCE(sk->sk_err))
		smc_conn_start_timer(&smc->conn, jiffies + SMC_ABORT_TIMEOUT);
}

/**
 * smc_close_progress() - something happened to an SMC connection, or to TCP below it
 * @smc: the socket, locked; the caller has a reference
 *
 * May sleep, but not for the peer. smc_close_if_over() is due behind it, without the lock.
 */
void smc_close_progress(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	smc_sock_drive(smc, SMC_DRIVER_LOOK);
	sk_flush_backlog(sk);
	if (smc->state == SMC_SOCK_WAITING) {
		check_waiting(smc);
		return;
	}
	if (READ_ONCE(smc->conn.lost))	/* so the peer learns of it (R-TRM-09) */
		smc_close_reset_tcp(smc, READ_ONCE(sk->sk_err));
	else
		check_tcp(smc);
	smc_conn_detach(&smc->conn);
}

/* Close or abort the connection, whichever TCP would do */
static bool end_connection(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = conn->sk;
	bool reset;

	reset = smc_rx_available(conn) || (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime);
	if (!reset)
		return !smc_close_orderly(conn);
	smc_close_abort(conn, SMC_STAT_ABORT_APP, ECONNRESET);
	return true;
}

/* How long the rest of a closed connection may wait for the peer */
static unsigned long waiting_time(const struct smc_conn *conn)
{
	if (READ_ONCE(conn->state) == SMC_CLOSE_ABORT_WAIT)
		return SMC_ABORT_TIMEOUT;
	return READ_ONCE(sock_net(conn->sk)->ipv4.sysctl_tcp_fin_timeout);
}

/* Unless the connection has ended with its release: then there is nothing to wait for */
static void start_timer(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (!conn->freeing)
		smc_conn_start_timer(conn, jiffies + waiting_time(conn));
	spin_unlock_bh(&conn->lock);
}

/*
 * The transport itself notices when the peer gives up: the connection does without the sock, and
 * TCP closes that as it closes any other.
 */
static void wait_without_sock(struct smc_sock *smc)
{
	__module_get(THIS_MODULE);	/* release_sock_struct() gives it back */
	detach_as(smc, SMC_SOCK_ORPHANED);
	start_timer(&smc->conn);
}

/* The sock lives without a program until the connection is over */
static void wait_with_sock(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	if (!smc->owns_sk)
		__module_get(THIS_MODULE);
	smc->owns_sk = true;
	smc_sock_set_socket(smc, NULL);
	smc_sock_set_state(smc, SMC_SOCK_WAITING);
	if (sk->sk_state != TCP_CLOSE)
		sk->sk_prot->shutdown(sk, SEND_SHUTDOWN);
	start_timer(&smc->conn);
	smc_sock_news(smc);	/* it may be over already */
}

/*
 * Nobody will use the connection any more. Return: whether the sock is ours to close, later; else
 * it has nothing of ours any more.
 */
static bool end_active(struct smc_sock *smc)
{
	const struct smc_transport *transport;
	struct smc_conn *conn = &smc->conn;
	bool reset;

	if (conn->sk->sk_state == TCP_CLOSE)	/* the kworker may not have run yet */
		check_tcp(smc);
	reset = end_connection(smc) || READ_ONCE(conn->lost);
	smc_sock_leave(smc);
	if (reset)
		smc_close_reset_tcp(smc, 0);
	transport = READ_ONCE(conn->transport);
	if (transport && !transport->synchronous) {
		wait_with_sock(smc);
		return true;
	}
	if (transport)
		wait_without_sock(smc);
	else
		let_go(smc);
	return false;
}

/* Return: as end_active() */
static bool end(struct smc_sock *smc)
{
	switch (smc->state) {
	case SMC_SOCK_LISTEN:
		smc_accept_end(smc);
		return false;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		smc_connect_cancel(smc, 0);
		return false;
	case SMC_SOCK_ACTIVE:
		return end_active(smc);
	case SMC_SOCK_INCOMING:
	case SMC_SOCK_FALLBACK:
		smc_close_reset_tcp(smc, 0);
		let_go(smc);
		return false;
	default:
		let_go(smc);
		return false;
	}
}

/**
 * smc_close_child() - nobody will accept a child: reset it, as TCP does, data or not
 * @child: it, locked, not in the queue any more; the caller has a reference
 *
 * May sleep, but not for the peer. smc_close_if_over() is due behind it, without the lock.
 */
void smc_close_child(struct smc_sock *child)
{
	sock_owned_by_me(child->conn.sk);
	if (child->state == SMC_SOCK_ACTIVE)
		smc_close_abort(&child->conn, SMC_STAT_ABORT_APP, ECONNRESET);
	end(child);
	if (needs_no_sock(child))	/* whoever comes first */
		smc_sock_queue_work(child, 0);
}

/*
 * connect(AF_UNSPEC) on an SMC connection. Calls that are inside of it leave with an error, or with
 * what came in before; the last one gives the memory back.
 */
static void disconnect_active(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	smc_close_abort(conn, SMC_STAT_ABORT_APP, ECONNRESET);
	/* The peer need not answer: nothing it does can reach us any more */
	smc_close_event(conn, SMC_CLOSE_TIMEOUT, ECONNRESET);
	smc_close_reset_tcp(smc, ECONNRESET);
	let_go(smc);
	smc_sock_leave(smc);
}

/**
 * smc_close_disconnect() - connect(AF_UNSPEC): the socket is to be new again
 * @smc: what is attached to it; the socket lock is held
 *
 * What it was doing is aborted. May sleep, but not for the peer. TCP's own disconnect is due
 * behind it.
 */
void smc_close_disconnect(struct smc_sock *smc)
{
	smc_conn_get(&smc->conn);
	if (smc->state == SMC_SOCK_ACTIVE)
		disconnect_active(smc);
	else if (smc_connect_under_way(smc))
		smc_connect_cancel(smc, ECONNRESET);
	else if (smc->state != SMC_SOCK_INIT)
		end(smc);
	smc_conn_wake_all(&smc->conn);
	smc_conn_put(&smc->conn);
}

/* Return: whether the sock lives on without @sock */
static bool release_locked(struct socket *sock)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	bool lives_on = false;

	if (smc) {
		smc_conn_get(&smc->conn);
		lives_on = end(smc);
		RCU_INIT_POINTER(smc->conn.wq, NULL);	/* it is freed with @sock */
		smc_conn_put(&smc->conn);
	}
	/* The core gives back the module of the table it has read: ours */
	if (!smc_ops_are_ours(sock))
		__module_get(THIS_MODULE);
	return lives_on;
}

/**
 * smc_release() - the last reference to the file is gone
 * @sock: the socket
 *
 * Return: 0 or a negative errno.
 */
int smc_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	bool lives_on;
	int err = 0;

	if (!sk)
		return 0;
	lock_sock(sk);
	lives_on = release_locked(sock);
	release_sock(sk);
	if (lives_on)
		sock->sk = NULL;
	else
		err = smc_ops_of_tcp(sk)->release(sock);
	smc_conn_reap();
	return err;
}
