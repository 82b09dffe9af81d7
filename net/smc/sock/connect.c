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
#include <net/inet_common.h>
#include <net/tcp.h>

#include "../handshake/ipsec.h"
#include "../trace.h"
#include "caller_work.h"
#include "list.h"
#include "sock.h"

/* Buffers as the user chose them, else as the namespace does */
static void choose_buffer(struct smc_conn *conn, const struct sock *sk)
{
	bool chosen = sk->sk_userlocks & SOCK_RCVBUF_LOCK;

	smc_conn_want(conn, chosen ? sk->sk_rcvbuf / 2 :
				     READ_ONCE(smc_net(sock_net(sk))->knobs.rmem), chosen);
}

static void count_connection(const struct smc_conn *conn)
{
	bool v1 = conn->group->key.variant & SMC_VARIANTS_V1;

	if (conn->role == SMC_CLIENT)
		smc_conn_count(conn, v1 ? SMC_STAT_CLNT_V1 : SMC_STAT_CLNT_V2, 1);
	else
		smc_conn_count(conn, v1 ? SMC_STAT_SRV_V1 : SMC_STAT_SRV_V2, 1);
}

/* The handshake needs each byte; the program's mark counts before and after */
static void hold_rcvlowat(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	smc->rcvlowat = sk->sk_rcvlowat;
	WRITE_ONCE(sk->sk_rcvlowat, 1);
}

static void restore_rcvlowat(struct smc_sock *smc)
{
	if (smc->rcvlowat)
		WRITE_ONCE(smc->conn.sk->sk_rcvlowat, smc->rcvlowat);
	smc->rcvlowat = 0;
}

static void become_active(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	count_connection(&smc->conn);
	smc_sockopt_nagle(smc);
	restore_rcvlowat(smc);
	smc_prot_to_smc(sk);
	smc_sock_set_state(smc, SMC_SOCK_ACTIVE);
	/*
	 * Paired with the barriers in smc_conn_lost() and smc_conn_peer_gone(), and with TCP's
	 * before it wakes us: they see the state, or we that they came
	 */
	smp_mb();
	smc_close_progress(smc);
	smc_conn_wake_all(&smc->conn);
	smc_conn_signal_owner(&smc->conn, SOCK_WAKE_IO, POLL_OUT);
}

/* TCP is ended, and the sock is as after a connect() of TCP that has failed */
static void become_failed(struct smc_sock *smc, int error)
{
	struct sock *sk = smc->conn.sk;

	this_cpu_inc(smc_net(sock_net(sk))->stats->handshake_errors[smc->conn.role]);
	restore_rcvlowat(smc);
	smc_close_reset_tcp(smc, -error);
	/* Not before: a peer that misses our buffer would decline, and go on with TCP */
	smc_conn_cancel(&smc->conn);
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	smc_option_withdraw(smc);
	smc_conn_wake_error(&smc->conn);
	smc_conn_wake_all(&smc->conn);
	if (!smc->listener)
		smc_sock_detach(smc);
}

static void free_handshake(struct smc_sock *smc)
{
	if (smc->hs)
		smc_handshake_free(smc->hs);
	smc->hs = NULL;
	smc_conn_stop_timer(&smc->conn);
}

/* The handshake is over: become what it found out */
static void finish_handshake(struct smc_sock *smc, enum smc_outcome outcome)
{
	struct smc_handshake *hs = smc->hs;
	u32 reason = hs->reason, peer_diagnosis = hs->peer_diagnosis;
	s64 us = ktime_us_delta(ktime_get(), hs->started);
	struct sock *sk = smc->conn.sk;
	int error = hs->error;

	trace_smc_handshake(sk, smc->conn.role, outcome, reason, us);
	if (outcome == SMC_CONNECTED)
		smc_stats_handshake_took(smc_net(sock_net(sk))->stats, us);
	free_handshake(smc);
	switch (outcome) {
	case SMC_CONNECTED:
		become_active(smc);
		break;
	case SMC_FALLBACK:
		restore_rcvlowat(smc);
		smc_fallback(smc, reason, peer_diagnosis);
		break;
	default:
		become_failed(smc, error);
	}
	wake_up_interruptible_all(&smc->callers);
	if (smc->listener)
		smc_accept_child_done(smc, outcome);
}

/* The peer's next message is not there yet */
static void start_deadline(struct smc_sock *smc)
{
	if (smc->state == SMC_SOCK_HANDSHAKE)
		smc_conn_start_timer(&smc->conn, smc_accept_pending(smc));
}

/* A system call starts the timer when it goes to sleep, or returns */
static void advance(struct smc_sock *smc, enum smc_outcome outcome)
{
	if (outcome != SMC_PENDING)
		finish_handshake(smc, outcome);
	else if (!smc_sock_is_driven_by_caller(smc))
		start_deadline(smc);
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
	struct sock *sk = smc->conn.sk;
	enum smc_outcome outcome;

	if (!tcp_sk(sk)->syn_smc) {
		/* Then the option was not sent, by this side or by the peer (R-TCP-06) */
		u32 reason = smc_handshake_excluded(sk);

		smc_fallback(smc, reason ?: SMC_REASON_PEER_NO_SMC, 0);
		return SMC_FALLBACK;
	}
	choose_buffer(&smc->conn, sk);
	hold_rcvlowat(smc);
	smc->hs = smc_handshake_create(&smc->conn, sk);
	if (!smc->hs) {		/* the peer expects a handshake: TCP is no way out */
		become_failed(smc, -ENOMEM);
		return SMC_FAILED;
	}
	smc_sock_set_state(smc, SMC_SOCK_HANDSHAKE);
	outcome = smc_handshake_start(smc->hs);
	if (outcome != SMC_PENDING)
		finish_handshake(smc, outcome);
	return SMC_PENDING;
}

/* TCP has told the error, and shows the program what it shows after a connect() that failed */
static void become_refused(struct smc_sock *smc)
{
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	smc_option_withdraw(smc);
	smc_conn_wake_error(&smc->conn);
	smc_conn_wake_all(&smc->conn);
	smc_sock_detach(smc);
}

static void look_at_tcp(struct smc_sock *smc)
{
	int state = inet_sk_state_load(smc->conn.sk);

	if ((1 << state) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		return;
	if (state == TCP_CLOSE)
		become_refused(smc);
	else
		smc_connect_begin(smc);
}

static void begin_child(struct smc_sock *child)
{
	enum smc_outcome outcome = smc_connect_begin(child);

	if (outcome != SMC_PENDING)
		smc_accept_child_done(child, outcome);
}

/**
 * smc_connect_progress() - look what happened, and take the next steps
 * @smc: the socket, locked; the caller has a reference
 *
 * May sleep, but not for the peer.
 */
void smc_connect_progress(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	smc_sock_drive(smc, SMC_DRIVER_LOOK);
	sk_flush_backlog(sk);	/* what has come while the socket was locked */
	if (smc->state == SMC_SOCK_INCOMING)
		begin_child(smc);
	if (smc->state == SMC_SOCK_CONNECTING)
		look_at_tcp(smc);
	if (smc->state == SMC_SOCK_HANDSHAKE)
		advance(smc, smc_handshake_step(smc->hs));
}

/* Wait for the outcome, or for something to do; the lock is released meanwhile */
static int wait_for_outcome(struct smc_sock *smc, bool drives, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = smc->conn.sk;
	int err = 0;

	add_wait_queue(&smc->callers, &wait);
	for (;;) {
		if (drives)
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
		if (drives)
			start_deadline(smc);
		sk_wait_event(sk, &timeo, !smc_connect_under_way(smc) ||
			      (drives && smc_sock_has_news(smc)), &wait);
	}
	remove_wait_queue(&smc->callers, &wait);
	return err;
}

/* Whoever waits next, or else the work queue, takes the steps */
static void stop_driving(struct smc_sock *smc)
{
	start_deadline(smc);
	if (smc_sock_drive(smc, SMC_DRIVER_LEAVE) == SMC_DRIVER_QUEUE_WORK)
		smc_sock_queue_work(smc, 0);
}

/**
 * smc_connect_wait() - wait until connecting is over
 * @smc: the socket, locked; the lock is released meanwhile. The caller has a reference
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

	if (!smc_connect_under_way(smc))
		return 0;
	if (!timeo)
		return -EAGAIN;
	if (smc_sock_is_driven_by_caller(smc))
		return wait_for_outcome(smc, false, timeo);
	smc_sock_drive(smc, SMC_DRIVER_ENTER);
	err = wait_for_outcome(smc, true, timeo);
	stop_driving(smc);
	return err;
}

/**
 * smc_connect_cancel() - give up connecting
 * @smc: the socket, locked, with connecting under way; the caller has a reference
 * @error: positive errno for the program, or 0
 *
 * May sleep, but not for the peer. The sock is detached, and can connect again.
 */
void smc_connect_cancel(struct smc_sock *smc, int error)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	restore_rcvlowat(smc);
	free_handshake(smc);
	sk->sk_prot->disconnect(sk, O_NONBLOCK);	/* the source address is reset, too */
	WRITE_ONCE(sk->sk_err, error);
	/* Not before: a peer that misses our buffer would decline, and go on with TCP */
	smc_conn_cancel(&smc->conn);
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	smc_option_withdraw(smc);
	smc_sock_detach(smc);
}

/* Data in the SYN, where the handshake would have to be; or a SYN that is never sent */
static bool has_own_syn(const struct sock *sk)
{
	return tcp_sk(sk)->fastopen_connect || tcp_sk(sk)->repair;
}

static u32 excluded_from_smc(struct sock *sk, struct sockaddr *addr, int addr_len)
{
	u32 reason = smc_handshake_excluded(sk);

	if (!reason && smc_ipsec_expected(sk, addr, addr_len))
		reason = SMC_REASON_IPSEC;
	if (!reason && has_own_syn(sk))
		reason = SMC_REASON_OPTION;
	return reason;
}

/* Return: with two references, of the sock and of the caller; NULL without memory */
static struct smc_sock *get_attached(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc) {
		smc_conn_get(&smc->conn);
		return smc;
	}
	smc = smc_sock_create(sk, GFP_KERNEL_ACCOUNT);
	if (smc && smc_sock_attach(smc)) {
		smc_conn_put(&smc->conn);
		return NULL;
	}
	return smc;
}

/*
 * Start connecting. Return: as TCP without waiting; if it works out, the caller drives, and has a
 * reference to what is in @out; or there is a @reason why it cannot be SMC
 */
static int start(struct socket *sock, struct sockaddr *addr, int addr_len, struct smc_sock **out,
		 u32 *reason)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int err;

	smc = get_attached(sk);
	if (!smc) {
		*reason = SMC_REASON_NO_MEMORY;
		return 0;
	}
	smc->conn.role = SMC_CLIENT;
	smc_option_offer(smc);
	smc_sock_drive(smc, SMC_DRIVER_ENTER);
	smc_sock_set_state(smc, SMC_SOCK_CONNECTING);
	err = __inet_stream_connect(sock, addr, addr_len, O_NONBLOCK, 0);
	if (!err || err == -EINPROGRESS) {
		sock->state = SS_CONNECTING;	/* until the handshake is over */
		*out = smc;
		return 0;
	}
	smc_sock_set_state(smc, SMC_SOCK_INIT);
	smc_option_withdraw(smc);
	stop_driving(smc);
	if (!smc->limit_handshake) {
		smc_sock_set_state(smc, SMC_SOCK_CLOSED);
		smc_sock_detach(smc);
	}
	smc_conn_put(&smc->conn);
	return err;
}

/*
 * What @smc was connecting for is over: the first to ask is told the outcome. Another thread may
 * have cancelled it, and may even connect anew.
 */
static int tell_outcome(struct socket *sock, struct smc_sock *smc, struct sockaddr *addr,
			int addr_len, int flags)
{
	const struct smc_sock *now = smc_sk(sock->sk);

	if (now && now != smc)
		return -ECONNABORTED;
	if (!now) {
		if (smc_ops_are_ours(sock) && sock->state != SS_CONNECTING)
			return sock_error(sock->sk) ?: -ECONNABORTED;
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	}
	if (sock->state != SS_CONNECTING)
		return -EISCONN;
	sock->state = SS_CONNECTED;
	return READ_ONCE(smc->conn.failed) ? smc_conn_take_error(&smc->conn) : 0;
}

/* @err: of smc_connect_wait(); @disconnects: sk_disconnects before */
static int tell_wait(struct socket *sock, struct smc_sock *smc, struct sockaddr *addr, int addr_len,
		     int flags, int err, int disconnects)
{
	if (err)
		return err;
	if (disconnects != sock->sk->sk_disconnects)
		return -EPIPE;		/* another thread; as TCP */
	return tell_outcome(sock, smc, addr, addr_len, flags);
}

static int connect_as_tcp(struct socket *sock, struct sockaddr *addr, int addr_len, int flags,
			  u32 reason)
{
	int err;

	smc_fallback_unconnected(sock, reason);
	err = __inet_stream_connect(sock, addr, addr_len, flags, 0);
	smc_list_fallback(NULL, sock->sk, reason, 0);
	return err;
}

/* What was collected does not wait for this task, which may wait for the lock of the socket */
static void stop_collecting(struct sock *sk, struct smc_caller_work *work)
{
	release_sock(sk);
	smc_caller_work_end(work);
	lock_sock(sk);
}

/*
 * The server may be on this host: take its steps, which would need a kworker, and ours that they
 * lead to. Another thread may disconnect meanwhile.
 */
static void take_steps_of_both(struct socket *sock, struct smc_sock *smc,
			       struct smc_caller_work *work)
{
	smc_caller_work_begin(work, sock);
	smc_connect_progress(smc);	/* nearby, TCP is connected already */
	while (smc_connect_under_way(smc) && smc_caller_work_pending(work)) {
		stop_collecting(sock->sk, work);
		smc_caller_work_begin(work, sock);
		smc_connect_progress(smc);
	}
}

static int connect_first(struct socket *sock, struct sockaddr *addr, int addr_len, int flags,
			 struct smc_caller_work *work)
{
	struct sock *sk = sock->sk;
	int disconnects = sk->sk_disconnects;
	struct smc_sock *smc = NULL;
	int err = 0;
	u32 reason;
	long timeo;

	if (sock->state != SS_UNCONNECTED || sk->sk_state != TCP_CLOSE)
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	reason = excluded_from_smc(sk, addr, addr_len);
	if (!reason)
		err = start(sock, addr, addr_len, &smc, &reason);
	if (reason)
		return connect_as_tcp(sock, addr, addr_len, flags, reason);
	if (err)
		return err;
	take_steps_of_both(sock, smc, work);
	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	if (timeo && smc_connect_under_way(smc))
		stop_collecting(sk, work);
	if (timeo && smc_connect_under_way(smc))
		smc_sock_drive(smc, SMC_DRIVER_LEAVE);	/* and smc_connect_wait() enters */
	else
		stop_driving(smc);
	err = -EINPROGRESS;		/* whatever is known already, as TCP */
	if (timeo) {
		err = smc_connect_wait(smc, timeo);
		if (err == -EAGAIN)
			err = -EINPROGRESS;
		err = tell_wait(sock, smc, addr, addr_len, flags, err, disconnects);
	}
	smc_conn_put(&smc->conn);
	return err;
}

static int connect_again(struct socket *sock, struct smc_sock *smc, struct sockaddr *addr,
			 int addr_len, int flags)
{
	int disconnects, err;

	smc_conn_get(&smc->conn);
	/* Tell what has happened, also if the work queue has not found out yet */
	if (smc_connect_under_way(smc) && !smc_sock_is_driven_by_caller(smc))
		smc_connect_progress(smc);
	disconnects = sock->sk->sk_disconnects;
	err = smc_connect_wait(smc, sock_sndtimeo(sock->sk, flags & O_NONBLOCK));
	if (err == -EAGAIN)
		err = -EALREADY;
	err = tell_wait(sock, smc, addr, addr_len, flags, err, disconnects);
	smc_conn_put(&smc->conn);
	return err;
}

static int connect_locked(struct socket *sock, struct sockaddr *addr, int addr_len, int flags,
			  struct smc_caller_work *work)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	if (!smc_ops_are_ours(sock))
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	if (addr_len < (int)sizeof(addr->sa_family))
		return -EINVAL;
	if (addr->sa_family == AF_UNSPEC) {
		if (smc)
			smc_close_disconnect(smc);
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	}
	if (smc && smc->state == SMC_SOCK_LISTEN) {
		if (sk->sk_state == TCP_LISTEN)
			return __inet_stream_connect(sock, addr, addr_len, flags, 0);
		smc_accept_end(smc);	/* TCP was made to listen no more (ss -K) */
		smc = NULL;
	}
	if (!smc || smc->state == SMC_SOCK_INIT)
		return connect_first(sock, addr, addr_len, flags, work);
	return connect_again(sock, smc, addr, addr_len, flags);
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
	bool has_module = smc_call_begin();
	struct smc_caller_work work = {};
	int err;

	lock_sock(sock->sk);
	err = connect_locked(sock, addr, addr_len, flags, &work);
	release_sock(sock->sk);
	smc_caller_work_end(&work);
	smc_call_end(has_module);
	return err;
}
