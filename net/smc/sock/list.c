// SPDX-License-Identifier: GPL-2.0-only
/*
 * All connections of a namespace, for monitoring. A connection that falls back loses its struct
 * smc_sock: a small entry takes its place in the list, under its number. So a walk sees each
 * connection once, also while it falls back.
 *
 * TCP does not report the end of such a connection. The entry names the sock by its cookie, and by
 * its hash in TCP's table of connections. A walk frees entries whose sock is gone. Each fallback
 * tests the next two entries as well, so the list grows to at most twice the number of connections.
 */

#include <linux/slab.h>
#include <linux/sock_diag.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "../net.h"
#include "list.h"

#define LOOKS	2	/* entries that each fallback tests */

static struct smc_fallen *to_fallen(struct smc_listed *listed)
{
	return container_of(listed, struct smc_fallen, listed);
}

static bool is_older_entry(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct smc_listed, node)->number <
	       rb_entry(other, struct smc_listed, node)->number;
}

/* The newest entry that is older than @number, or NULL */
static struct smc_listed *find_entry_below(const struct smc_net *sn, u64 number)
{
	struct rb_node *node = sn->socks.rb_node;
	struct smc_listed *listed, *found = NULL;

	lockdep_assert_held(&sn->socks_lock);
	while (node) {
		listed = rb_entry(node, struct smc_listed, node);
		if (listed->number < number)
			found = listed;
		node = listed->number < number ? node->rb_right : node->rb_left;
	}
	return found;
}

static void insert_entry(struct smc_net *sn, struct smc_listed *listed)
{
	lockdep_assert_held(&sn->socks_lock);
	listed->number = ++sn->last_number;
	rb_add(&listed->node, &sn->socks, is_older_entry);
}

/* Add a new socket. Any context. */
void smc_list_add(struct smc_sock *smc)
{
	struct smc_net *sn = smc->conn.sn;
	unsigned long flags;

	spin_lock_irqsave(&sn->socks_lock, flags);
	insert_entry(sn, &smc->listed);
	spin_unlock_irqrestore(&sn->socks_lock, flags);
}

/* Remove a socket from the list, if it is there. Any context. */
void smc_list_remove(struct smc_sock *smc)
{
	struct smc_net *sn = smc->conn.sn;
	struct rb_node *node = &smc->listed.node;
	unsigned long flags;

	spin_lock_irqsave(&sn->socks_lock, flags);
	if (!RB_EMPTY_NODE(node))
		rb_erase(node, &sn->socks);
	RB_CLEAR_NODE(node);
	spin_unlock_irqrestore(&sn->socks_lock, flags);
}

/* Another connection may have the memory of the sock by now. A cookie is used once. */
static bool is_same_sock(const struct sock *sk, const struct smc_fallen *fallen)
{
	return READ_ONCE(sk->sk_hash) == fallen->hash &&
	       atomic64_read(&sk->sk_cookie) == fallen->cookie && sk_fullsock(sk);
}

/* Return: the sock that fell back, with a reference, or NULL if TCP does not have it any more. */
static struct sock *find_fallen_sock(const struct net *net, const struct smc_fallen *fallen)
{
	struct inet_hashinfo *hashinfo = net->ipv4.tcp_death_row.hashinfo;
	unsigned int slot = fallen->hash & hashinfo->ehash_mask;
	struct hlist_nulls_node *node;
	struct sock *sk;

	rcu_read_lock();
again:
	sk_nulls_for_each_rcu(sk, node, &hashinfo->ehash[slot].chain) {
		if (!is_same_sock(sk, fallen))
			continue;
		if (!refcount_inc_not_zero(&sk->sk_refcnt))
			goto gone;
		if (is_same_sock(sk, fallen))
			goto found;
		sock_gen_put(sk);
		goto again;
	}
	/* Otherwise a sock of the walk has moved to another chain */
	if (get_nulls_value(node) != slot)
		goto again;
gone:
	sk = NULL;
found:
	rcu_read_unlock();
	return sk;
}

static void free_stale_entry(struct smc_net *sn, u64 number)
{
	struct smc_fallen *fallen = NULL;
	struct smc_listed *listed;
	unsigned long flags;

	spin_lock_irqsave(&sn->socks_lock, flags);
	listed = find_entry_below(sn, number + 1);
	if (listed && listed->number == number && listed->fell_back) {
		fallen = to_fallen(listed);
		rb_erase(&listed->node, &sn->socks);
	}
	spin_unlock_irqrestore(&sn->socks_lock, flags);
	kfree(fallen);
}

/* Return: whether the socket is still there; then @out has a reference. */
static bool get_listed_sock(struct smc_listed *listed, struct smc_list_entry *out)
{
	struct smc_sock *smc = container_of(listed, struct smc_sock, listed);

	out->smc = smc_conn_get_not_zero(&smc->conn) ? smc : NULL;
	return out->smc;
}

/* Return: as get_listed_sock(). Frees the entry of a connection that has ended. */
static bool get_fallen_sock(const struct net *net, struct smc_net *sn,
			    const struct smc_fallen *fallen, struct smc_list_entry *out)
{
	out->smc = NULL;
	out->sk = find_fallen_sock(net, fallen);
	out->reason = fallen->reason;
	out->peer_diagnosis = fallen->peer_diagnosis;
	if (!out->sk)
		free_stale_entry(sn, fallen->listed.number);
	return out->sk;
}

/*
 * Test the next entry below *@number, and set *@number to it.
 *
 * Return: whether there was one. *@found says whether its connection still exists; then it is in
 * @out.
 */
static bool get_next_entry(const struct net *net, struct smc_net *sn, u64 *number,
			   struct smc_list_entry *out, bool *found)
{
	struct smc_fallen fallen = {};
	struct smc_listed *listed;
	unsigned long flags;

	spin_lock_irqsave(&sn->socks_lock, flags);
	listed = find_entry_below(sn, *number);
	*number = listed ? listed->number : SMC_LIST_START;
	if (listed && listed->fell_back)
		fallen = *to_fallen(listed);
	else
		*found = listed && get_listed_sock(listed, out);
	spin_unlock_irqrestore(&sn->socks_lock, flags);
	if (fallen.listed.fell_back)
		*found = get_fallen_sock(net, sn, &fallen, out);
	return listed;
}

static void put_list_entry(const struct smc_list_entry *entry)
{
	if (entry->smc)
		smc_conn_put(&entry->smc->conn);
	else
		sock_put(entry->sk);
}

/* Concurrent callers share the work: all of them advance smc_net.pruned */
static void prune_stale_entries(const struct net *net, struct smc_net *sn)
{
	struct smc_list_entry entry;
	unsigned int i;
	bool found;

	for (i = 0; i < LOOKS; i++)
		if (get_next_entry(net, sn, &sn->pruned, &entry, &found) && found)
			put_list_entry(&entry);
}

static struct smc_fallen *create_fallen(struct sock *sk, u32 reason, u32 peer_diagnosis)
{
	struct smc_fallen *fallen = kzalloc(sizeof(*fallen), GFP_KERNEL_ACCOUNT);
	u32 cookie[2];

	if (!fallen)
		return NULL;
	sock_diag_save_cookie(sk, cookie);	/* gives the sock a cookie */
	fallen->listed.fell_back = true;
	fallen->cookie = atomic64_read(&sk->sk_cookie);
	fallen->hash = sk->sk_hash;
	fallen->reason = reason;
	fallen->peer_diagnosis = peer_diagnosis;
	return fallen;
}

/**
 * smc_list_fallback() - a connection falls back
 * @smc: its struct in the list, with a reference of the caller; or NULL
 * @sk: its sock, locked
 * @reason: enum smc_reason
 * @peer_diagnosis: diagnosis in the peer's Decline, or 0
 *
 * Without memory for the entry, or if TCP has no connection any more, the connection leaves the
 * list with @smc. May sleep.
 */
void smc_list_fallback(struct smc_sock *smc, struct sock *sk, u32 reason, u32 peer_diagnosis)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_fallen *fallen;
	unsigned long flags;

	sock_owned_by_me(sk);
	fallen = sk_hashed(sk) ? create_fallen(sk, reason, peer_diagnosis) : NULL;
	if (!fallen)
		return;
	spin_lock_irqsave(&sn->socks_lock, flags);
	if (smc && !RB_EMPTY_NODE(&smc->listed.node)) {
		fallen->listed.number = smc->listed.number;
		rb_replace_node(&smc->listed.node, &fallen->listed.node, &sn->socks);
		RB_CLEAR_NODE(&smc->listed.node);
	} else {
		insert_entry(sn, &fallen->listed);
	}
	spin_unlock_irqrestore(&sn->socks_lock, flags);
	prune_stale_entries(sock_net(sk), sn);
}

/**
 * smc_list_next() - walk over all connections of a namespace
 * @net: the namespace
 * @number: position of the walk, SMC_LIST_START at its begin
 * @out: the next connection
 *
 * The walk sees each connection that exists all the time exactly once. It does not see connections
 * that begin meanwhile. No lock is held between two calls. May sleep.
 *
 * Return: whether there is one more. The caller drops the reference in @out.
 */
bool smc_list_next(struct net *net, u64 *number, struct smc_list_entry *out)
{
	struct smc_net *sn = smc_net(net);
	bool found;

	while (get_next_entry(net, sn, number, out, &found)) {
		if (found)
			return true;
		cond_resched();
	}
	return false;
}
