// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looking at sockets from outside. Nothing here takes a socket lock, so whoever
 * keeps one for long cannot keep those who look.
 */

#include <linux/export.h>
#include <net/tcp_states.h>

#include "inspect.h"

/**
 * smc_sock_next() - walk over all sockets of a namespace that are on their way to SMC, or there
 * @net: the namespace
 * @prev: the one before, whose reference is given back; NULL to start
 *
 * The walk sees each socket that is there all the time exactly once, and none
 * that is created meanwhile. Between two steps no lock is held. To end early, call smc_sock_put()
 * for the last. May sleep.
 *
 * Return: the next socket, with a reference, or NULL at the end.
 */
struct smc_sock *smc_sock_next(struct net *net, struct smc_sock *prev)
{
	struct smc_net *sn = smc_net(net);
	struct hlist_node *node;
	struct smc_sock *next = NULL;

	spin_lock_bh(&sn->socks_lock);
	/* A socket leaves the list with its last reference, so @prev is on it */
	node = prev ? prev->node.next : sn->socks.first;
	for (; node && !next; node = node->next) {
		struct smc_sock *smc = hlist_entry(node, struct smc_sock, node);

		if (smc_conn_get_not_zero(&smc->conn))
			next = smc;
	}
	spin_unlock_bh(&sn->socks_lock);
	if (prev)
		smc_conn_put(&prev->conn);
	return next;
}
EXPORT_SYMBOL_GPL(smc_sock_next);

/**
 * smc_sock_put() - end a walk
 * @smc: what smc_sock_next() returned last
 */
void smc_sock_put(struct smc_sock *smc)
{
	smc_conn_put(&smc->conn);
}
EXPORT_SYMBOL_GPL(smc_sock_put);

static void copy_tcp(struct sock *sk, struct smc_sock_info *out)
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
	out->state = smc_sock_state(smc);
	copy_tcp(smc->conn.sk, out);
	if (out->state != SMC_SOCK_ACTIVE && out->state != SMC_SOCK_WAITING)
		return;
	out->shutdown = READ_ONCE(smc->conn.shutdown);
	out->connected = smc_conn_inspect(&smc->conn, &out->conn);
}
EXPORT_SYMBOL_GPL(smc_sock_inspect);

/**
 * smc_fallen_inspect() - what is this connection, which fell back?
 * @sk: its sock; the caller holds a reference
 * @fallen: what smc_fallen_next() has told
 * @out: the answer
 *
 * Process context.
 */
void smc_fallen_inspect(struct sock *sk, const struct smc_fallen *fallen,
			struct smc_sock_info *out)
{
	memset(out, 0, sizeof(*out));
	out->state = SMC_SOCK_FALLBACK;
	copy_tcp(sk, out);
	out->reason = fallen->reason;
	out->peer_diagnosis = fallen->peer_diagnosis;
}
EXPORT_SYMBOL_GPL(smc_fallen_inspect);
