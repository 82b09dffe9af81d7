// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a socket. After tcp_close() TCP does not call this module for the sock. An SMC-D
 * connection does not need the sock: TCP closes it at once. Over SMC-R only TCP reports that the
 * peer has given up, so tcp_close() comes last: the sock waits without a struct socket, as a child
 * does before accept(). See Documentation/one-socket.rst, "Closing while the peer has not ended".
 */

#include <linux/module.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "../conn/close.h"
#include "listener.h"
#include "proto.h"
#include "sock.h"

#define ATTACHED_TIMEOUT	(HZ / 10)

/*
 * Close a TCP sock without a struct socket as its program would; @reset sends a RST in place of a
 * FIN. The sock is not locked. Drops the reference that the struct socket would have. May sleep.
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

static bool is_sock_unused(const struct smc_sock *smc)
{
	enum smc_sock_state state = READ_ONCE(smc->state);

	return state == SMC_SOCK_CLOSED || state == SMC_SOCK_ORPHANED;
}

/*
 * Close the sock if no program has it, and the module does not use it any more. The socket is not
 * locked; the caller has a reference. May sleep.
 */
void smc_close_if_over(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	bool is_due;

	if (!is_sock_unused(smc) || !READ_ONCE(smc->owns_sk))
		return;
	lock_sock(sk);
	is_due = is_sock_unused(smc) && smc->owns_sk;
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
 * The addresses stay, as they do after a RST of the peer, so that monitoring can tell whose
 * connection it was.
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
static void detach_sock_as(struct smc_sock *smc, enum smc_sock_state state)
{
	smc_sock_set_state(smc, state);
	/* smc_syn_withdraw() is not needed: the FIN or RST that follows acknowledges all data */
	smc_syn_disown(smc->conn.sk);
	smc_prot_to_tcp(smc->conn.sk);
	smc_sock_detach(smc);
}

static void detach_closed_sock(struct smc_sock *smc)
{
	detach_sock_as(smc, SMC_SOCK_CLOSED);
}

/*
 * TCP's connection ends after the SMC connection. The program has seen the error of the SMC
 * connection, so TCP's error is replaced by it. Any context.
 */
static void restore_conn_error(struct smc_conn *conn)
{
	bool failed = smp_load_acquire(&conn->failed);	/* paired with smc_conn_fail() */

	WRITE_ONCE(conn->sk->sk_err, failed ? READ_ONCE(conn->error) : 0);
}

/*
 * The peer has closed the connection, and may have reset TCP since, because its timeout has passed
 * (R-CLS-16). Over TCP it would send nothing then. Other errors are those of this end, as after
 * ss -K. Any context.
 */
static bool has_peer_left(const struct smc_conn *conn)
{
	int error = READ_ONCE(conn->sk->sk_err);

	return smc_close_has_peer_left(conn) &&
	       (!error || error == EPIPE || error == ECONNRESET);
}

/* Have both sides ended their streams, and has this end been able to say so? */
static bool have_both_finished(const struct smc_conn *conn)
{
	/* Paired with smc_close_apply(): restore_conn_error() sees @failed if the state does */
	return smc_close_both_done(smp_load_acquire(&conn->state)) &&
	       !READ_ONCE(conn->tx.end_waits);
}

/*
 * TCP reports an event: has the SMC connection ended before, or has its peer? Then the error that
 * TCP has set is taken back. Any context.
 */
bool smc_close_is_over(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	if (!have_both_finished(conn) && !READ_ONCE(conn->failed) && !has_peer_left(conn))
		return false;
	if (READ_ONCE(conn->sk->sk_err))
		restore_conn_error(conn);
	return true;
}

/*
 * A reset of the TCP connection ends the SMC connection (V2-ELG-10). So do bytes in TCP's queue: a
 * late Decline, or a peer that does not use SMC (R-KA-11).
 */
static void check_tcp_state(struct smc_sock *smc)
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
 * The program has closed the connection, and the peer has ended it or its timeout has passed. A
 * peer that has not ended the connection learns of its end by a RST (R-CLS-16, R-TRM-09).
 */
static void end_waiting_sock(struct smc_sock *smc)
{
	if (!(smc->conn.rx_state_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORTED)))
		smc_close_reset_tcp(smc, 0);
	detach_closed_sock(smc);
}

static bool is_tcp_reset(const struct sock *sk)
{
	return sk->sk_state == TCP_CLOSE && READ_ONCE(sk->sk_err);
}

/*
 * The program has closed the connection. When the peer resets TCP, its final message for the SMC
 * connection may be in flight (R-ABT-13), and the peer writes no more data. Otherwise the peer has
 * given up, maybe before it knew of the connection. So the peer gets a short timeout, which further
 * events do not extend.
 */
static void check_waiting_sock(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	if (!READ_ONCE(smc->conn.transport))
		end_waiting_sock(smc);
	else if (is_tcp_reset(sk))
		smc_conn_limit_timer(&smc->conn, jiffies + SMC_ABORT_TIMEOUT);
}

/*
 * An event of an SMC connection, or of TCP below it. The socket lock is held; the caller has a
 * reference, and calls smc_close_if_over() after it has released the lock. May sleep, but not for
 * the peer.
 */
void smc_close_progress(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	smc_sock_change_stepper(smc, SMC_STEP_BEGIN);
	sk_flush_backlog(sk);
	if (smc->state == SMC_SOCK_WAITING) {
		check_waiting_sock(smc);
		return;
	}
	if (READ_ONCE(smc->conn.lost))	/* so the peer learns of it (R-TRM-09) */
		smc_close_reset_tcp(smc, READ_ONCE(sk->sk_err));
	else
		check_tcp_state(smc);
	smc_conn_detach(&smc->conn);
}

/*
 * Would TCP send a RST at close()? Not if both ends have finished: unread data was acknowledged
 * long ago.
 */
static bool is_abort_due(const struct smc_conn *conn)
{
	const struct sock *sk = conn->sk;

	if (have_both_finished(conn) && !READ_ONCE(conn->failed))
		return false;
	return smc_rx_available(conn) || (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime);
}

/* Close the connection, or abort it where TCP would send a RST. Return: whether it was aborted. */
static bool end_connection(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	if (!is_abort_due(conn)) {
		if (!conn->sk->sk_lingertime)	/* TCP is established, and would send a RST */
			sock_reset_flag(conn->sk, SOCK_LINGER);
		return !smc_close_orderly(conn);
	}
	smc_close_abort(conn, SMC_STAT_ABORT_APP, ECONNRESET);
	return true;
}

/*
 * The timeout of the peer after close(). A peer that has attached the ring learns at once when the
 * ring goes, and needs no time. But most peers close the connection soon, too, and then both rings
 * go together, which is cheaper.
 */
static unsigned long choose_wait_time(const struct smc_conn *conn)
{
	int linger = READ_ONCE(tcp_sk(conn->sk)->linger2);

	if (READ_ONCE(conn->state) == SMC_CLOSE_ABORT_WAIT)
		return SMC_ABORT_TIMEOUT;
	if (conn->transport->conn_is_attached)
		return ATTACHED_TIMEOUT;
	if (conn->sk->sk_state == TCP_CLOSE)	/* as check_waiting_sock() */
		return SMC_ABORT_TIMEOUT;
	if (smc_close_is_delayed(conn))
		return smc_conn_fin_timeout(conn);
	if (linger)	/* below 0: TCP waits until the peer's host has all data */
		return max(linger, SMC_ABORT_TIMEOUT);
	return smc_conn_fin_timeout(conn);
}

/*
 * A peer that has not attached the ring after ATTACHED_TIMEOUT may be a server whose handshake is
 * under way: if the ring goes, it does not get the data that the program has sent before close().
 */
static bool wait_longer(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	bool longer;

	spin_lock_bh(&conn->lock);
	longer = !conn->freeing && conn->state != SMC_CLOSE_ABORT_WAIT && !smc->has_waited &&
		 !conn->transport->conn_is_attached(conn);
	if (longer) {
		smc->has_waited = true;
		smc_conn_start_timer(conn, jiffies + smc_conn_fin_timeout(conn));
	}
	spin_unlock_bh(&conn->lock);
	return longer;
}

/*
 * The program has closed the connection while data waited for the peer's window. As TCP in
 * FIN_WAIT1, wait as long as the peer reads, and its host does not reset TCP; then once more.
 */
static bool wait_for_reader(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	unsigned long end;
	bool longer;

	spin_lock_bh(&conn->lock);
	end = conn->tx.last_consumed + smc_conn_fin_timeout(conn);
	longer = !conn->freeing && conn->state != SMC_CLOSE_ABORT_WAIT && conn->tx.closed_late &&
		 !smc->has_waited && !is_tcp_reset(conn->sk) && time_before(jiffies, end);
	if (longer) {
		smc->has_waited = !smc_close_is_delayed(conn);
		smc_conn_start_timer(conn, end);
	}
	spin_unlock_bh(&conn->lock);
	return longer;
}

/* The timer of a connection that waits for its peer has expired. Softirq. */
void smc_close_handle_timer(struct smc_sock *smc)
{
	bool has_sock = smc_sock_state(smc) == SMC_SOCK_WAITING;

	if (!(has_sock ? wait_for_reader(smc) : wait_longer(smc)))
		smc_close_event(&smc->conn, SMC_CLOSE_TIMEOUT, ETIMEDOUT);
}

/* A connection that was freed with its release waits for nothing */
static void start_wait_timer(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (!conn->freeing)
		smc_conn_start_timer(conn, jiffies + choose_wait_time(conn));
	spin_unlock_bh(&conn->lock);
}

/*
 * The transport notices when the peer gives up: the connection does not need the sock, and TCP
 * closes the sock as any other.
 */
static void wait_without_sock(struct smc_sock *smc)
{
	__module_get(THIS_MODULE);	/* release_sock_struct() drops it */
	detach_sock_as(smc, SMC_SOCK_ORPHANED);
	start_wait_timer(&smc->conn);
}

/* The sock lives without a struct socket until the connection is over */
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
	start_wait_timer(&smc->conn);
	smc_sock_event(smc);	/* it may be over already */
}

/*
 * The program does not use the connection any more. Return: whether the module closes the sock
 * later; otherwise the struct is detached.
 */
static bool end_active_sock(struct smc_sock *smc)
{
	const struct smc_transport *transport;
	struct smc_conn *conn = &smc->conn;
	bool reset;

	if (conn->sk->sk_state == TCP_CLOSE)	/* the kworker may not have run yet */
		check_tcp_state(smc);
	reset = end_connection(smc) || READ_ONCE(conn->lost);
	smc_sock_drop_user(smc);
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
		detach_closed_sock(smc);
	return false;
}

/* Return: as end_active_sock() */
static bool end_sock(struct smc_sock *smc)
{
	switch (smc->state) {
	case SMC_SOCK_LISTEN:
		smc_listen_end(smc);
		return false;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		smc_connect_cancel(smc, 0);
		return false;
	case SMC_SOCK_ACTIVE:
		return end_active_sock(smc);
	case SMC_SOCK_INCOMING:
	case SMC_SOCK_FALLBACK:
		smc_close_reset_tcp(smc, 0);
		detach_closed_sock(smc);
		return false;
	default:
		detach_closed_sock(smc);
		return false;
	}
}

/*
 * Reset a child that accept() will not return, as TCP does, with unread data or without. The child
 * is locked and not in the queue any more; the caller has a reference, and calls
 * smc_close_if_over() after it has released the lock. May sleep, but not for the peer.
 */
void smc_close_child(struct smc_sock *child)
{
	sock_owned_by_me(child->conn.sk);
	if (child->state == SMC_SOCK_ACTIVE)
		smc_close_abort(&child->conn, SMC_STAT_ABORT_APP, ECONNRESET);
	end_sock(child);
	if (is_sock_unused(child))	/* the caller or the work closes it */
		smc_sock_queue_work(child, 0);
}

/*
 * connect(AF_UNSPEC) on an SMC connection. Calls in the connection return an error, or the data
 * that came before; the last of them releases the memory.
 */
static void disconnect_active_sock(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	bool is_over = smc_conn_tcp_state(conn) == TCP_CLOSE;

	if (is_over)
		smc_close_event(conn, SMC_CLOSE_CLOSE, 0);
	else
		smc_close_abort(conn, SMC_STAT_ABORT_APP, ECONNRESET);
	/* The peer need not answer: its data cannot reach this connection any more */
	smc_close_event(conn, SMC_CLOSE_TIMEOUT, ECONNRESET);
	smc_close_reset_tcp(smc, is_over ? READ_ONCE(conn->sk->sk_err) : ECONNRESET);
	detach_closed_sock(smc);
	smc_sock_drop_user(smc);
}

/*
 * connect(AF_UNSPEC): abort what the socket does, and detach it. The socket lock is held. The
 * caller calls TCP's disconnect afterwards. May sleep, but not for the peer.
 */
void smc_close_disconnect(struct smc_sock *smc)
{
	smc_conn_get(&smc->conn);
	if (smc->state == SMC_SOCK_ACTIVE)
		disconnect_active_sock(smc);
	else if (smc_connect_is_under_way(smc))
		smc_connect_cancel(smc, ECONNRESET);
	else if (smc->state != SMC_SOCK_INIT)
		end_sock(smc);
	smc_conn_wake_all(&smc->conn);
	smc_conn_put(&smc->conn);
}

/* Return: whether the sock lives on without @sock */
static bool release_sock_locked(struct socket *sock)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	bool lives_on = false;

	if (smc) {
		smc_conn_get(&smc->conn);
		lives_on = end_sock(smc);
		RCU_INIT_POINTER(smc->conn.wq, NULL);	/* it is freed with @sock */
		smc_conn_put(&smc->conn);
	}
	/*
	 * Only a socket without a file can have got TCP's table meanwhile, see smc_ops_to_tcp().
	 * The core drops the module reference of the table that it has read: SMC's
	 */
	if (!smc_ops_are_smc(sock))
		__module_get(THIS_MODULE);
	return lives_on;
}

/* The last reference to the file is gone. Return: 0 or a negative errno. */
int smc_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	bool has_module, lives_on;
	int err = 0;

	if (!sk)
		return 0;
	/* A kworker that owns the socket may make it fall back before this call has the lock */
	has_module = smc_call_begin();
	lock_sock(sk);
	lives_on = release_sock_locked(sock);
	release_sock(sk);
	if (lives_on)
		sock->sk = NULL;
	else
		err = smc_ops_of_tcp(sk)->release(sock);
	smc_conn_reap();
	smc_call_end(has_module);
	return err;
}
