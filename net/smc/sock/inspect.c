// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looking at sockets from outside. Nothing here takes a socket lock, so whoever
 * keeps one for long cannot keep those who look.
 */

#include <linux/export.h>
#include <net/tcp_states.h>

#include "inspect.h"

/**
 * smc_sock_next() - walk over all sockets of a namespace
 * @net: the namespace
 * @prev: the socket before, whose reference is given back; NULL to start
 *
 * The walk sees each socket that is there all the time exactly once, and none
 * that is created meanwhile. Between two steps no lock is held. To end early, put
 * the last socket. May sleep.
 *
 * Return: the next socket, with a reference, or NULL at the end.
 */
struct smc_sock *smc_sock_next(struct net *net, struct smc_sock *prev)
{
	struct smc_net *sn = smc_net(net);
	struct hlist_node *node;
	struct smc_sock *next = NULL;

	spin_lock_bh(&sn->socks_lock);
	/* A socket leaves the list when it is destroyed, so @prev is on it */
	node = prev ? prev->node.next : sn->socks.first;
	for (; node && !next; node = node->next) {
		struct smc_sock *smc = hlist_entry(node, struct smc_sock, node);

		/* Those without references wait for a grace period */
		if (refcount_inc_not_zero(&smc->sk.sk_refcnt))
			next = smc;
	}
	spin_unlock_bh(&sn->socks_lock);
	if (prev)
		sock_put(&prev->sk);
	return next;
}
EXPORT_SYMBOL_GPL(smc_sock_next);

/* @from is the inner socket, or the outer one when that has taken over its addresses */
static void copy_addresses(const struct sock *from, bool v6, struct smc_sock_info *out)
{
	out->local_port = inet_sk(from)->inet_sport;
	out->peer_port = from->sk_dport;
	out->interface = READ_ONCE(from->sk_bound_dev_if);
#if IS_ENABLED(CONFIG_IPV6)
	if (v6) {
		out->local = from->sk_v6_rcv_saddr;
		out->peer = from->sk_v6_daddr;
		return;
	}
#endif
	out->local.s6_addr32[0] = from->sk_rcv_saddr;
	out->peer.s6_addr32[0] = from->sk_daddr;
}

static void copy_tcp(struct smc_sock *smc, struct smc_sock_info *out)
{
	const struct sock *tcp = smc_tcp_get(smc);

	out->tcp_state = TCP_CLOSE;
	if (tcp) {
		copy_addresses(tcp, tcp->sk_family == AF_INET6, out);
		/*
		 * When it is reset it loses them, perhaps just now; before that the outer
		 * one took them over. Paired with the unlock in smc_tcp_reset().
		 */
		smp_rmb();
		if (!READ_ONCE(tcp->sk_dport) && smc->sk.sk_dport)
			copy_addresses(&smc->sk, smc->v6, out);
		out->tcp_state = READ_ONCE(tcp->sk_state);
		if (out->state == SMC_SOCK_FALLBACK)
			out->shutdown = READ_ONCE(tcp->sk_shutdown);
		sock_put((struct sock *)tcp);
	} else {
		copy_addresses(&smc->sk, smc->v6, out);
	}
	if (out->tcp_state == TCP_LISTEN)
		out->peer_port = 0;
}

/**
 * smc_sock_inspect() - what is this socket?
 * @smc: the socket; the caller holds a reference
 * @out: the answer
 *
 * May be called at any time in the life of the socket. Process context.
 */
void smc_sock_inspect(struct smc_sock *smc, struct smc_sock_info *out)
{
	memset(out, 0, sizeof(*out));
	/* Whoever sets the state has set before what belongs to it */
	out->state = smp_load_acquire(&smc->state);
	out->shutdown = READ_ONCE(smc->sk.sk_shutdown);
	copy_tcp(smc, out);
	if (out->state == SMC_SOCK_FALLBACK) {
		out->reason = READ_ONCE(smc->reason);
		out->peer_diagnosis = READ_ONCE(smc->peer_diagnosis);
	}
	if (out->state != SMC_SOCK_ACTIVE && out->state != SMC_SOCK_CLOSED)
		return;
	out->shutdown = READ_ONCE(smc->conn.shutdown);
	out->connected = smc_conn_inspect(&smc->conn, &out->conn);
}
EXPORT_SYMBOL_GPL(smc_sock_inspect);
