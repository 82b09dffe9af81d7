// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connecting, and the end of every handshake.
 *
 * What happens between connect() and the end of the handshake is driven by
 * events (smc_connect_progress). While a system call waits, it takes the steps
 * itself and saves two task switches; when it was interrupted, or does not want
 * to wait, the work queue takes them.
 */

#include <linux/sched/signal.h>

#include "../conn/conn.h"
#include "../handshake/ipsec.h"
#include "../trace.h"
#include "sock.h"

/* Buffers as the user chose them, else as the namespace does */
static void want_buffer(struct smc_conn *conn, const struct sock *sk)
{
	bool chosen = sk->sk_userlocks & SOCK_RCVBUF_LOCK;

	smc_conn_want(conn, chosen ? sk->sk_rcvbuf / 2 :
				     READ_ONCE(smc_net(sock_net(sk))->knobs.rmem), chosen);
}

static void count(const struct smc_conn *conn)
{
	bool v1 = conn->group->key.variant & SMC_VARIANTS_V1;

	if (conn->role == SMC_CLIENT)
		smc_conn_count(conn, v1 ? SMC_STAT_CLNT_V1 : SMC_STAT_CLNT_V2, 1);
	else
		smc_conn_count(conn, v1 ? SMC_STAT_SRV_V1 : SMC_STAT_SRV_V2, 1);
}

static void connected(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	count(&smc->conn);
	smc_sockopt_nagle(smc);
	smc_tcp_hook(smc);	/* not yet, if it was in a sockmap for a while */
	sk->sk_state = TCP_ESTABLISHED;
	smc_sock_set_state(smc, SMC_SOCK_ACTIVE);
	/*
	 * Paired with the barriers in smc_conn_lost(), smc_conn_peer_gone() and
	 * smc_tcp_event(): they see the state, or we that they came
	 */
	smp_mb();
	if (smc_conn_is_cut_off(&smc->conn))
		smc_tcp_event(smc);
	if (READ_ONCE(smc->event))
		smc_tcp_check(smc);
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

static void failed(struct smc_sock *smc, int error)
{
	struct sock *sk = &smc->sk;

	this_cpu_inc(smc_net(sock_net(sk))->stats->handshake_errors[smc->conn.role]);
	smc_tcp_disconnect(smc);
	/* Not before: a peer that misses our buffer would decline, and go on with TCP */
	smc_conn_cancel(&smc->conn);
	sk->sk_state = TCP_CLOSE;
	sk->sk_shutdown = SHUTDOWN_MASK;
	smc_sock_set_state(smc, SMC_SOCK_INIT);
	WRITE_ONCE(sk->sk_err, -error);
	sk_error_report(sk);
}

/* The handshake is over: become what it found out */
static void finish(struct smc_sock *smc, enum smc_outcome outcome)
{
	struct smc_handshake *hs = smc->hs;
	u32 reason = hs->reason, peer_diagnosis = hs->peer_diagnosis;
	s64 us = ktime_us_delta(ktime_get(), hs->started);
	int error = hs->error;

	trace_smc_handshake(&smc->sk, smc->conn.role, outcome, reason, us);
	if (outcome == SMC_CONNECTED)
		smc_stats_handshake_took(smc_net(sock_net(&smc->sk))->stats, us);
	smc->hs = NULL;
	smc_handshake_free(hs);
	sk_stop_timer(&smc->sk, &smc->conn.timer);
	switch (outcome) {
	case SMC_CONNECTED:
		connected(smc);
		break;
	case SMC_FALLBACK:
		smc_fallback(smc, reason, peer_diagnosis);
		break;
	default:
		failed(smc, error);
	}
	if (smc->listener)
		smc_accept_child_done(smc, outcome);
}

static void advance(struct smc_sock *smc, enum smc_outcome outcome)
{
	if (outcome == SMC_PENDING)
		smc_sock_timer(smc, smc_accept_pending(smc));
	else
		finish(smc, outcome);
}

/**
 * smc_connect_begin() - TCP is connected: start the handshake, or fall back
 * @smc: the socket, locked; client, or child of a listening socket
 *
 * May sleep, but not for the peer.
 *
 * Return: SMC_FALLBACK or SMC_FAILED if there is no handshake, else SMC_PENDING.
 */
enum smc_outcome smc_connect_begin(struct smc_sock *smc)
{
	if (!smc_tcp_peer_speaks_smc(smc)) {
		/* Then the option was not sent, by this side or by the peer */
		u32 reason = smc_handshake_excluded(smc->tcp->sk);

		smc_fallback(smc, reason ?: SMC_REASON_PEER_NO_SMC, 0);
		return SMC_FALLBACK;
	}
	want_buffer(&smc->conn, &smc->sk);
	smc->hs = smc_handshake_create(&smc->conn, smc->tcp->sk);
	if (!smc->hs) {		/* the peer expects a handshake: TCP is no way out */
		failed(smc, -ENOMEM);
		return SMC_FAILED;
	}
	smc_sock_set_state(smc, SMC_SOCK_HANDSHAKE);
	advance(smc, smc_handshake_start(smc->hs));
	return SMC_PENDING;
}

static void tcp_refused(struct smc_sock *smc, int error)
{
	struct sock *sk = &smc->sk;

	smc_sock_set_state(smc, SMC_SOCK_INIT);
	sk->sk_shutdown = SHUTDOWN_MASK;
	sk->sk_state = TCP_CLOSE;
	/* Take the inner socket to where a new connect() can start */
	smc_tcp_disconnect(smc);
	WRITE_ONCE(sk->sk_err, error);
	sk_error_report(sk);
}

static void tcp_progress(struct smc_sock *smc)
{
	struct sock *tcp = smc->tcp->sk;
	int state, error;

	lock_sock(tcp);		/* finish what softirq has left to us */
	release_sock(tcp);
	state = inet_sk_state_load(tcp);	/* a reset leaves its error before */
	if ((1 << state) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		return;
	error = sock_error(tcp);
	if (error || state == TCP_CLOSE) {
		tcp_refused(smc, error ? -error : ECONNABORTED);
		return;
	}
	smc_connect_begin(smc);
}

/**
 * smc_connect_progress() - look what happened, and take the next steps
 * @smc: the socket, locked
 *
 * May sleep, but not for the peer.
 */
void smc_connect_progress(struct smc_sock *smc)
{
	sock_owned_by_me(&smc->sk);
	WRITE_ONCE(smc->event, false);
	if (smc->state == SMC_SOCK_INCOMING)
		smc_accept_begin(smc);
	if (smc->state == SMC_SOCK_CONNECTING)
		tcp_progress(smc);
	if (smc->state == SMC_SOCK_HANDSHAKE)
		advance(smc, smc_handshake_step(smc->hs));
}

/* Wait for the outcome, or for something to do; the lock is released meanwhile */
static int wait_for_event(struct smc_sock *smc, bool driver, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &smc->sk;
	int err = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		if (driver)
			smc_connect_progress(smc);
		if (!smc_connect_under_way(smc))
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		err = 0;
		sk_wait_event(sk, &timeo, !smc_connect_under_way(smc) ||
			      (driver && READ_ONCE(smc->event)), &wait);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/* Whoever waits next, or else the work queue, takes the steps */
static void stop_driving(struct smc_sock *smc)
{
	smc->driven = false;
	/* Paired with the barrier in smc_tcp_event(): an event before this was left to us */
	smp_mb();
	if (smc_connect_under_way(smc) && READ_ONCE(smc->event))
		smc_tcp_event(smc);
}

/**
 * smc_connect_wait() - wait until connecting is over
 * @smc: the socket, locked; the lock is released meanwhile
 * @timeo: jiffies to wait at most
 *
 * The first to wait takes the steps itself.
 *
 * Return: 0 when it is over, with whatever outcome; -EAGAIN when the time is up;
 * or what sock_intr_errno() says after a signal.
 */
int smc_connect_wait(struct smc_sock *smc, long timeo)
{
	int err;

	if (likely(!smc_connect_under_way(smc)))
		return 0;
	if (!timeo)
		return -EAGAIN;
	if (smc->driven)
		return wait_for_event(smc, false, timeo);

	smc->driven = true;
	/* Paired with the barrier in smc_tcp_event(): no event is lost between us */
	smp_mb();
	err = wait_for_event(smc, true, timeo);
	stop_driving(smc);
	return err;
}

/**
 * smc_connect_cancel() - give up connecting
 * @smc: the socket, locked, with connecting under way
 *
 * May sleep, but not for the peer.
 */
void smc_connect_cancel(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	sock_owned_by_me(sk);
	if (smc->hs)
		smc_handshake_free(smc->hs);
	smc->hs = NULL;
	sk_stop_timer(sk, &smc->conn.timer);
	smc_tcp_disconnect(smc);
	/* Not before: a peer that misses our buffer would decline, and go on with TCP */
	smc_conn_cancel(&smc->conn);
	smc_sock_set_state(smc, SMC_SOCK_INIT);
	sk->sk_state = TCP_CLOSE;
}

/* If it works out, the caller drives and has to end that */
static int start(struct smc_sock *smc, struct sockaddr *addr, int addr_len)
{
	int err;

	smc->conn.role = SMC_CLIENT;
	WRITE_ONCE(smc->sk.sk_err, 0);	/* of a former connection; as TCP */
	smc_sockopt_sync(smc);
	smc_tcp_offer_smc(smc, !smc_handshake_excluded(smc->tcp->sk) &&
			  !smc_ipsec_expected(smc->tcp->sk, addr, addr_len));
	smc_tcp_quiet(smc);
	smc_sock_set_state(smc, SMC_SOCK_CONNECTING);
	smc->sk.sk_state = TCP_SYN_SENT;
	smc_tcp_hook(smc);
	/* Nearby, TCP is connected when this returns: no need for the work queue */
	smc->driven = true;
	err = kernel_connect(smc->tcp, addr, addr_len, O_NONBLOCK);
	if (!err || err == -EINPROGRESS) {
		smc->sk.sk_socket->state = SS_CONNECTING;
		return 0;
	}
	smc->driven = false;
	smc_tcp_unhook(smc);
	smc_sock_set_state(smc, SMC_SOCK_INIT);
	smc->sk.sk_state = TCP_CLOSE;
	return err;
}

/* Connecting is over. The first to ask is told the outcome */
static int tell_outcome(struct smc_sock *smc)
{
	struct socket *sock = smc->sk.sk_socket;
	int err = sock_error(&smc->sk);

	if (err)
		return err;
	if (smc->state != SMC_SOCK_ACTIVE && !smc_sock_is_tcp(smc))
		return -ECONNABORTED;	/* by another thread */
	sock->state = SS_CONNECTED;
	if (smc_sock_is_tcp(smc))
		smc->tcp->state = SS_CONNECTED;
	return 0;
}

static int connect_locked(struct smc_sock *smc, struct sockaddr *addr, int addr_len, int flags)
{
	struct sock *sk = &smc->sk;
	int pending = -EALREADY;
	int err;

	if (addr_len < (int)sizeof(addr->sa_family))
		return -EINVAL;
	if (addr->sa_family == AF_UNSPEC) {
		smc_sock_disconnect(smc);
		return 0;
	}

	switch (smc->state) {
	case SMC_SOCK_INIT:
		if (sk->sk_socket->state == SS_CONNECTING) {
			/* It failed meanwhile, and nobody was told yet */
			sk->sk_socket->state = SS_UNCONNECTED;
			sk->sk_shutdown = 0;
			return sock_error(sk) ?: -ECONNABORTED;
		}
		pending = -EINPROGRESS;
		err = start(smc, addr, addr_len);
		if (err)
			return err;
		if (READ_ONCE(smc->event))
			smc_connect_progress(smc);	/* the answer may come at once */
		if (flags & O_NONBLOCK) {
			stop_driving(smc);
			return -EINPROGRESS;	/* whatever is known already, as TCP */
		}
		smc->driven = false;	/* smc_connect_wait() goes on */
		break;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		/* Tell what has happened, also if the work queue has not found out yet */
		if (!smc->driven)
			smc_connect_progress(smc);
		break;
	default:
		if (sk->sk_socket->state != SS_CONNECTING)
			return -EISCONN;
	}

	err = smc_connect_wait(smc, sock_sndtimeo(sk, flags & O_NONBLOCK));
	if (err)
		return err == -EAGAIN ? pending : err;
	err = tell_outcome(smc);
	if (err && smc->state == SMC_SOCK_INIT) {
		sk->sk_socket->state = SS_UNCONNECTED;
		sk->sk_shutdown = 0;
	}
	return err;
}

/**
 * smc_connect() - the connect system call
 * @sock: the socket
 * @addr: where to
 * @addr_len: length of @addr
 * @flags: O_NONBLOCK
 *
 * Return: as TCP.
 */
int smc_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->tcp;
	int err;

	if (smc_sock_is_tcp(smc))
		return tcp->ops->connect(tcp, addr, addr_len, flags);
	lock_sock(&smc->sk);
	err = connect_locked(smc, addr, addr_len, flags);
	release_sock(&smc->sk);
	return err;
}
