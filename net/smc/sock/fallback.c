// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fallback, which is final: the sock gets TCP's tables back, and no function of the module is in
 * the path of a call. A program that polls is on the queue that TCP wakes from then on.
 */

#include "../event.h"
#include "../stats.h"
#include "../trace.h"
#include "list.h"
#include "proto.h"
#include "sock.h"

static void report_fallback(struct sock *sk, enum smc_role role, u32 reason, u32 peer_diagnosis)
{
	smc_stats_fallback(&smc_net(sock_net(sk))->fallbacks, role, reason);
	smc_event_fallback(sk, role, reason, peer_diagnosis);
	trace_smc_switch_to_fallback(sk, sk, reason);
}

/**
 * smc_fallback() - become a TCP socket
 * @smc: the socket, locked, whose TCP connection is or was established; a child or not. The caller
 *	has a reference
 * @reason: enum smc_reason
 * @peer_diagnosis: diagnosis in the peer's Decline, or 0
 *
 * May sleep.
 */
void smc_fallback(struct smc_sock *smc, u32 reason, u32 peer_diagnosis)
{
	struct sock *sk = smc->conn.sk;

	report_fallback(sk, smc->conn.role, reason, peer_diagnosis);
	WRITE_ONCE(smc->reason, reason);
	smc->peer_diagnosis = peer_diagnosis;
	smc_list_fallback(smc, sk, reason, peer_diagnosis);
	/*
	 * After the new state poll() reports that the socket is connected, and the next call must
	 * find TCP's table. A child has the dummy struct socket, whose table stays.
	 */
	if (sk->sk_socket && smc_ops_are_smc(sk->sk_socket))
		smc_ops_to_tcp(sk->sk_socket);
	smc_sock_set_state(smc, SMC_SOCK_FALLBACK);
	smc_syn_withdraw(smc);
	smc_sock_detach(smc);
	if (!sk->sk_socket)
		return;		/* a child: accept() gives it TCP's tables */
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

/**
 * smc_fallback_child() - a child falls back because not both SYNs had the option (R-TCP-06)
 * @sk: the child, locked; it has no struct smc_sock, and accept() has not returned it
 * @listener: its listening socket
 *
 * May sleep.
 */
void smc_fallback_child(struct sock *sk, const struct smc_sock *listener)
{
	u32 reason = smc_handshake_excluded(sk) ?: smc_syn_child_reason(sk, listener->conn.sk);

	/* tcp_migrate_req may have changed since the caller asked */
	reason = reason ?: SMC_REASON_OPTION;
	report_fallback(sk, SMC_SERVER, reason, 0);
	smc_list_fallback(NULL, sk, reason, 0);
	smc_syn_withdraw_sk(sk, listener->delays_acks);
}

/*
 * A socket that is not connected will be a TCP connection. It has SMC's operations, is locked, and
 * does not listen. @reason is an enum smc_reason. Does not sleep. The caller calls
 * smc_list_fallback() once the socket is connected.
 */
void smc_fallback_unconnected(struct socket *sock, u32 reason)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	report_fallback(sock->sk, SMC_CLIENT, reason, 0);
	if (smc) {
		smc_list_remove(smc);
		smc_sock_set_state(smc, SMC_SOCK_FALLBACK);
		smc_sock_detach(smc);
	}
	smc_syn_disown(sock->sk);
	smc_ops_to_tcp(sock);
}
