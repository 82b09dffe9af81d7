// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that fell back. A namespace remembers the last of them, for monitoring: those are
 * shown whose sock TCP still has.
 */

#include <linux/export.h>
#include <linux/slab.h>
#include <linux/sock_diag.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "fallen.h"

static void describe(struct sock *sk, struct smc_fallen *out)
{
	out->family = sk->sk_family;
	sock_diag_save_cookie(sk, out->cookie);
	out->local_port = inet_sk(sk)->inet_sport;
	out->peer_port = sk->sk_dport;
	out->interface = READ_ONCE(sk->sk_bound_dev_if);
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
 * smc_fallen_add() - remember a connection that falls back
 * @sk: its sock, locked
 * @reason: enum smc_reason
 * @peer_diagnosis: what the peer's Decline said, or 0
 *
 * Without memory it is not remembered. One that is not connected cannot be found later. May sleep.
 */
void smc_fallen_add(struct sock *sk, u32 reason, u32 peer_diagnosis)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_fallen *fallen, *oldest = NULL;

	if (!sk->sk_dport)
		return;
	fallen = kzalloc(sizeof(*fallen), GFP_KERNEL);
	if (!fallen)
		return;
	describe(sk, fallen);
	fallen->reason = reason;
	fallen->peer_diagnosis = peer_diagnosis;
	spin_lock(&sn->fallen_lock);
	fallen->number = ++sn->fallen_number;
	list_add_tail(&fallen->list, &sn->fallen);
	if (sn->nr_fallen == SMC_FALLEN_MAX) {
		oldest = list_first_entry(&sn->fallen, struct smc_fallen, list);
		list_del(&oldest->list);
	} else {
		sn->nr_fallen++;
	}
	spin_unlock(&sn->fallen_lock);
	kfree(oldest);
}

/* Any full sock that TCP has for the addresses. Return: with a reference, or NULL */
static struct sock *look_up(struct net *net, const struct smc_fallen *fallen)
{
	struct inet_hashinfo *hashinfo = net->ipv4.tcp_death_row.hashinfo;
	u16 port = ntohs(fallen->local_port);

#if IS_ENABLED(CONFIG_IPV6)
	if (fallen->family == AF_INET6 && !ipv6_addr_v4mapped(&fallen->peer))
		return __inet6_lookup_established(net, hashinfo, &fallen->peer, fallen->peer_port,
						  &fallen->local, port, fallen->interface, 0);
	if (fallen->family == AF_INET6)
		return __inet_lookup_established(net, hashinfo, fallen->peer.s6_addr32[3],
						 fallen->peer_port, fallen->local.s6_addr32[3],
						 port, fallen->interface, 0);
#endif
	return __inet_lookup_established(net, hashinfo, fallen->peer.s6_addr32[0],
					 fallen->peer_port, fallen->local.s6_addr32[0], port,
					 fallen->interface, 0);
}

/* Return: the sock that fell back, with a reference, or NULL if it is gone */
static struct sock *find_sock(struct net *net, const struct smc_fallen *fallen)
{
	struct sock *sk;

	local_bh_disable();
	sk = look_up(net, fallen);
	local_bh_enable();
	if (sk && (!sk_fullsock(sk) || sock_diag_check_cookie(sk, fallen->cookie))) {
		sock_gen_put(sk);
		return NULL;
	}
	return sk;
}

static bool next_after(struct smc_net *sn, u64 number, struct smc_fallen *out)
{
	const struct smc_fallen *fallen;
	bool found = false;

	spin_lock(&sn->fallen_lock);
	list_for_each_entry(fallen, &sn->fallen, list) {
		found = fallen->number > number;
		if (found) {
			*out = *fallen;
			break;
		}
	}
	spin_unlock(&sn->fallen_lock);
	return found;
}

/**
 * smc_fallen_next() - walk over connections of a namespace that fell back and are still there
 * @net: the namespace
 * @number: number of the one before, 0 to start; number of the one returned
 * @out: what is known of it
 *
 * May sleep.
 *
 * Return: its sock, with a reference, or NULL at the end.
 */
struct sock *smc_fallen_next(struct net *net, u64 *number, struct smc_fallen *out)
{
	struct smc_net *sn = smc_net(net);
	struct sock *sk;

	while (next_after(sn, *number, out)) {
		*number = out->number;
		sk = find_sock(net, out);
		if (sk)
			return sk;
		cond_resched();
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(smc_fallen_next);
