// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of sockets for monitoring. No function here takes a socket lock, so a program that owns
 * its socket for long does not delay monitoring.
 */

#include <linux/export.h>
#include <net/tcp_states.h>

#include "inspect.h"

static void copy_tcp_info(struct sock *sk, struct smc_sock_info *out)
{
	out->sk = sk;
	out->tcp_state = READ_ONCE(sk->sk_state);
	out->local_port = inet_sk(sk)->inet_sport;
	out->peer_port = out->tcp_state == TCP_LISTEN ? 0 : sk->sk_dport;
	out->interface = READ_ONCE(sk->sk_bound_dev_if);
	out->shutdown = READ_ONCE(sk->sk_shutdown);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		out->local = sk->sk_v6_rcv_saddr;
		out->peer = sk->sk_v6_daddr;
		return;
	}
#endif
	out->local.s6_addr32[0] = sk->sk_rcv_saddr;
	out->peer.s6_addr32[0] = sk->sk_daddr;
}

static void copy_smc_info(struct smc_sock *smc, struct smc_sock_info *out)
{
	out->state = smc_sock_state(smc);
	sock_hold(smc->conn.sk);
	copy_tcp_info(smc->conn.sk, out);
	if (out->state == SMC_SOCK_FALLBACK) {	/* just now */
		out->reason = smc->reason;
		out->peer_diagnosis = smc->peer_diagnosis;
	}
	if (out->state != SMC_SOCK_ACTIVE && out->state != SMC_SOCK_WAITING &&
	    out->state != SMC_SOCK_ORPHANED)
		return;
	out->shutdown = READ_ONCE(smc->conn.shutdown);
	out->connected = smc_conn_inspect(&smc->conn, &out->conn);
}

static void copy_entry_info(const struct smc_list_entry *entry, struct smc_sock_info *out)
{
	memset(out, 0, sizeof(*out));
	if (entry->smc) {
		copy_smc_info(entry->smc, out);
		smc_conn_put(&entry->smc->conn);
		return;
	}
	out->state = SMC_SOCK_FALLBACK;
	copy_tcp_info(entry->sk, out);
	out->reason = entry->reason;
	out->peer_diagnosis = entry->peer_diagnosis;
}

/**
 * smc_inspect_next() - walk over all connections of a namespace
 * @net: the namespace
 * @number: position of the walk, SMC_LIST_START at its begin
 * @out: the next connection, with a reference to its sock
 *
 * See smc_list_next(). Process context.
 *
 * Return: whether there is one more; the caller calls sock_put() for it.
 */
bool smc_inspect_next(struct net *net, u64 *number, struct smc_sock_info *out)
{
	struct smc_list_entry entry;

	while (smc_list_next(net, number, &entry)) {
		copy_entry_info(&entry, out);
		if (out->state != SMC_SOCK_CLOSED)
			return true;
		sock_put(out->sk);
		cond_resched();
	}
	return false;
}
EXPORT_SYMBOL_GPL(smc_inspect_next);
