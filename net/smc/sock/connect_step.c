// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the TCP connection to the outcome of the handshake, for a client and for a child of a
 * listening socket.
 *
 * Each event makes a step due (smc_connect_step()). A system call that waits takes the steps
 * itself, which saves two task switches. If it does not wait, or a signal interrupts it, the work
 * queue takes them. For a child see also listen/client_child.c.
 */

#include <net/tcp.h>

#include "../trace.h"
#include "accept_queue.h"
#include "listener.h"
#include "proto.h"
#include "sock.h"

/* SO_RCVBUF of the program, or the default of the namespace */
static void choose_buffer_size(struct smc_conn *conn, const struct sock *sk)
{
	bool chosen = sk->sk_userlocks & SOCK_RCVBUF_LOCK;

	smc_conn_want(conn, chosen ? sk->sk_rcvbuf / 2 :
				     READ_ONCE(conn->sn->knobs.rmem), chosen);
}

static void count_connection(const struct smc_conn *conn)
{
	bool v1 = conn->group->key.variant & SMC_VARIANTS_V1;

	if (conn->role == SMC_CLIENT)
		smc_conn_count(conn, v1 ? SMC_STAT_CLNT_V1 : SMC_STAT_CLNT_V2, 1);
	else
		smc_conn_count(conn, v1 ? SMC_STAT_SRV_V1 : SMC_STAT_SRV_V2, 1);
}

/* The handshake needs each byte; the SO_RCVLOWAT of the program applies before and after it */
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

static void activate_sock(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	count_connection(&smc->conn);
	smc_sock_follow_nagle(smc);
	restore_rcvlowat(smc);
	smc_prot_to_smc(sk);
	smc_sock_set_state(smc, SMC_SOCK_ACTIVE);
	/*
	 * Paired with the barriers in smc_conn_lost() and smc_conn_peer_gone(), and with TCP's
	 * before it wakes smc_sock.wq: either they see the state, or smc_close_progress() sees
	 * their event
	 */
	smp_mb();
	smc_close_progress(smc);
	smc_conn_wake_all(&smc->conn);
	smc_conn_signal_owner(&smc->conn, SOCK_WAKE_IO, POLL_OUT);
}

/* TCP is reset, and the sock is as after a connect() of TCP that has failed */
static void fail_handshake(struct smc_sock *smc, int error)
{
	this_cpu_inc(smc->conn.sn->stats->net[SMC_NET_STAT_ERRORS + smc->conn.role]);
	restore_rcvlowat(smc);
	smc_close_reset_tcp(smc, -error);
	/* Not before the RST: a peer that misses the buffer would decline, and go on with TCP */
	smc_conn_cancel(&smc->conn);
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	smc_syn_withdraw(smc);
	smc_conn_wake_reset(&smc->conn);
	if (!smc->listener)
		smc_sock_detach(smc);
}

static void free_handshake(struct smc_sock *smc)
{
	struct smc_handshake *hs = smc->hs;

	WRITE_ONCE(smc->hs, NULL);
	barrier();	/* for bind_offer(), which runs on top of connect() */
	if (hs)
		smc_handshake_free(hs);
	smc_conn_stop_timer(&smc->conn);
}

/* The handshake is over: act on its outcome */
static void finish_handshake(struct smc_sock *smc, enum smc_outcome outcome)
{
	struct smc_handshake *hs = smc->hs;
	u32 reason = hs->reason, peer_diagnosis = hs->peer_diagnosis;
	s64 us = ktime_us_delta(ktime_get(), hs->started);
	struct sock *sk = smc->conn.sk;
	int error = hs->error;

	trace_smc_handshake(sk, smc->conn.role, outcome, reason, us, hs->in_memory);
	if (outcome == SMC_CONNECTED)
		smc_stats_handshake_took(smc->conn.sn->stats, us);
	free_handshake(smc);
	switch (outcome) {
	case SMC_CONNECTED:
		activate_sock(smc);
		break;
	case SMC_FALLBACK:
		restore_rcvlowat(smc);
		smc_fallback(smc, reason, peer_diagnosis);
		break;
	default:
		fail_handshake(smc, error);
	}
	smc_sock_wake_callers(smc);
	if (smc->listener)
		smc_accept_child_done(smc, outcome);
}

/* The peer's next message has not come */
void smc_connect_start_timer(struct smc_sock *smc)
{
	if (smc->state == SMC_SOCK_HANDSHAKE)
		smc_conn_start_timer(&smc->conn, smc->listener ? smc_accept_park_silent(smc) :
								 smc->hs->deadline);
}

/* A system call starts the timer when it goes to sleep, or returns */
static void advance_handshake(struct smc_sock *smc, enum smc_outcome outcome)
{
	if (outcome != SMC_PENDING)
		finish_handshake(smc, outcome);
	else if (!smc_sock_is_stepped_by_caller(smc))
		smc_connect_start_timer(smc);
}

static u32 find_client_reason(const struct smc_sock *smc)
{
	u32 reason = smc_syn_client_reason(smc);

	if (reason == SMC_REASON_NO_ANSWER)
		smc_destination_failed(smc->conn.sn, smc->destination);
	else
		smc_destination_answered(smc->conn.sn, smc->destination);
	return reason;
}

/*
 * TCP is connected: start the handshake, or fall back. The socket is a client or a child, and
 * locked. May sleep, but not for the peer.
 *
 * Return: SMC_FALLBACK or SMC_FAILED if there is no handshake, otherwise SMC_PENDING.
 */
enum smc_outcome smc_connect_start_handshake(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	u32 reason = smc->conn.role == SMC_CLIENT ? find_client_reason(smc) : smc->reason;
	enum smc_outcome outcome;

	if (reason) {
		smc_fallback(smc, smc_handshake_excluded(sk) ?: reason, 0);
		return SMC_FALLBACK;
	}
	choose_buffer_size(&smc->conn, sk);
	hold_rcvlowat(smc);
	WRITE_ONCE(smc->hs, smc_handshake_create(&smc->conn, sk));
	if (!smc->hs) {		/* the peer expects a handshake, so TCP cannot go on */
		fail_handshake(smc, -ENOMEM);
		return SMC_FAILED;
	}
	smc_sock_set_state(smc, SMC_SOCK_HANDSHAKE);
	smc->hs->may_offer = smc->may_offer;
	smc->hs->stepped_by_client = smc->stepped_by_client;
	outcome = smc_handshake_start(smc->hs, smc->listener ? smc->listener->queue->number : 0);
	if (outcome != SMC_PENDING)
		finish_handshake(smc, outcome);
	return SMC_PENDING;
}

/* TCP's connect has failed, and has set sk_err */
static void fail_tcp_connect(struct smc_sock *smc)
{
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	smc_syn_withdraw(smc);
	smc_conn_wake_reset(&smc->conn);
	smc_sock_detach(smc);
}

static void check_tcp_connect(struct smc_sock *smc)
{
	int state = inet_sk_state_load(smc->conn.sk);

	if ((1 << state) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		return;
	if (state == TCP_CLOSE)
		fail_tcp_connect(smc);
	else
		smc_connect_start_handshake(smc);
}

static void begin_child_handshake(struct smc_sock *child)
{
	enum smc_outcome outcome = smc_connect_start_handshake(child);

	if (outcome != SMC_PENDING)
		smc_accept_child_done(child, outcome);
}

/*
 * Process all events of a socket that is connecting. The socket lock is held; the caller has a
 * reference. May sleep, but not for the peer.
 */
void smc_connect_step(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	smc_sock_change_stepper(smc, SMC_STEP_BEGIN);
	sk_flush_backlog(sk);	/* what came while the socket was locked */
	if (smc->state == SMC_SOCK_INCOMING)
		begin_child_handshake(smc);
	if (smc->state == SMC_SOCK_CONNECTING)
		check_tcp_connect(smc);
	if (smc->state == SMC_SOCK_HANDSHAKE)
		advance_handshake(smc, smc_handshake_step(smc->hs));
}

/*
 * No server in this kernel will claim the offer of the Proposal, if there is one: the Proposal goes
 * through TCP. The socket is locked; the caller has a reference. Does not wait for the peer.
 */
void smc_connect_withdraw(struct smc_sock *smc)
{
	enum smc_outcome outcome;

	if (smc->state != SMC_SOCK_HANDSHAKE || !smc->hs->is_offered)
		return;
	outcome = smc_client_withdraw(smc->hs);
	if (outcome != SMC_PENDING)
		finish_handshake(smc, outcome);
}

/**
 * smc_connect_cancel() - give up connecting
 * @smc: the socket, locked; connect() is under way, and the caller has a reference
 * @error: positive errno for the program, or 0
 *
 * The sock is detached, and can connect again. May sleep, but not for the peer.
 */
void smc_connect_cancel(struct smc_sock *smc, int error)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	restore_rcvlowat(smc);
	free_handshake(smc);
	sk->sk_prot->disconnect(sk, O_NONBLOCK);	/* also resets the source address */
	WRITE_ONCE(sk->sk_err, error);
	/* Not before the RST: a peer that misses the buffer would decline, and go on with TCP */
	smc_conn_cancel(&smc->conn);
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	smc_syn_withdraw(smc);
	smc_sock_detach(smc);
}
