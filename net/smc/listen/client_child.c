// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client in this kernel takes the steps of the server's end.
 *
 * TCP creates the child on top of the client's connect() (connect_watch.c). If the steps of the
 * child were left to a kworker or to accept(), connect() would have to wait for that task to get a
 * processor. So connect() takes the child from TCP's accept queue, takes its steps, and hands it
 * over to the queue of the module: usually accept() can return the child then, and is woken once.
 *
 * The scheduler may stop the client at any point, for as long as it likes: until its cgroup has
 * quota again, for example. While the child is in TCP's queue, it has a place in the backlog; after
 * one or two jiffies a kworker takes it. When the client has taken it, and until it is handed over,
 * the child is in no list and has no place: accept(), poll(), close() of the listening socket and
 * the kworkers do not wait for it. Handing over does not own the sock, for which accept() would
 * wait, but holds its spin lock. So it does not matter which cgroup, user or priority the client
 * has.
 */

#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "listen.h"

#ifdef CONFIG_MEMCG
/* As much as a cgroup is charged for a child, or more */
#define CHILD_PAGES	((SMC_BUFFER_MAX + SZ_32K) >> PAGE_SHIFT)

static bool has_room(struct page_counter *counter)
{
	return page_counter_read(counter) + CHILD_PAGES <= READ_ONCE(counter->max);
}

/*
 * The memory cgroup of the listening socket pays for the child. At its limit the kernel reclaims
 * its memory, or kills one of its tasks, before it charges it for more. That is no work for a
 * client of another cgroup. Charges of others meanwhile are possible, and rare.
 */
static bool has_payer_room(const struct smc_sock *listener)
{
	struct mem_cgroup *memcg;

	for (memcg = listener->conn.sk->sk_memcg; memcg; memcg = parent_mem_cgroup(memcg)) {
		if (!has_room(&memcg->memory))
			return false;
		if (!cgroup_subsys_on_dfl(memory_cgrp_subsys) && !has_room(&memcg->memsw))
			return false;
	}
	return true;
}
#else
static bool has_payer_room(const struct smc_sock *listener)
{
	return true;
}
#endif

static struct smc_sock *begin_child(struct smc_sock *listener, struct sock *sk)
{
	struct mem_cgroup *old = smc_sock_use_memcg(listener);
	struct smc_sock *child = smc_child_create(listener, sk, false);

	if (child) {
		smc_conn_get(&listener->conn);
		WRITE_ONCE(child->listener, listener);
		smc_sock_change_stepper(child, SMC_STEP_ENTER);
		child->stepped_by_client = true;
		smc_connect_step(child);
		release_sock(sk);
	}
	set_active_memcg(old);
	return child;
}

static struct smc_sock *take_child(struct smc_sock *listener, const struct smc_pair_key *key)
{
	struct smc_sock *child = NULL;
	struct sock *sk;

	/* The kernel may refuse memory to a killed task */
	if (fatal_signal_pending(current) || !has_payer_room(listener) ||
	    !smc_accept_count_in_connect(listener))
		return NULL;
	sk = smc_tcp_queue_take(listener, key);
	smc_accept_limit_tcp(listener);
	if (sk)
		child = begin_child(listener, sk);
	if (!child)
		smc_accept_uncount_in_connect(listener);
	return child;
}

/**
 * smc_client_child_take() - take the child of a connection, and its first step
 * @listener: the listening socket that smc_connect_watch_end() has returned
 * @key: of the connection
 *
 * The client is in connect(), and holds no socket lock. May sleep, but not for a peer or a program.
 *
 * Return: the child, for smc_client_child_hand_over(), which has a reference to @listener; or NULL:
 * accept() or a kworker takes the child, or has taken it.
 */
struct smc_sock *smc_client_child_take(struct smc_sock *listener, const struct smc_pair_key *key)
{
	struct smc_sock *child = take_child(listener, key);

	if (!child)
		smc_sock_event(listener);
	return child;
}

/* Take the next steps. The caller holds no socket lock. May sleep, but not for the peer. */
void smc_client_child_step(struct smc_sock *child)
{
	struct mem_cgroup *old = smc_sock_use_memcg(child);
	struct sock *sk = child->conn.sk;

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	smc_connect_step(child);
	release_sock(sk);
	set_active_memcg(old);
}

/*
 * Put the child into the queue of its listening socket, which gets a reference to it. accept() may
 * return it at once, and waits until no task owns the sock: so this task does not own it, either.
 *
 * Return: false if the handshake has failed, or the listening socket is closed.
 */
static bool queue_child(struct smc_sock *listener, struct smc_sock *child)
{
	struct sock *sk = child->conn.sk;
	bool is_queued;

	while (lock_sock_fast(sk))	/* another task has owned the sock: ss -K, for example */
		unlock_sock_fast(sk, true);
	if (child->hs)
		child->hs->stepped_by_client = false;
	is_queued = child->state != SMC_SOCK_CLOSED && !smc_accept_is_reset_deferred(child) &&
		    smc_accept_add_child(listener, child);
	if (is_queued && !smc_connect_is_under_way(child))
		smc_accept_make_ready(child, child->state == SMC_SOCK_ACTIVE ? SMC_CONNECTED :
									       SMC_FALLBACK);
	if (is_queued)
		smc_connect_stop_stepping(child);
	unlock_sock_fast(sk, false);
	return is_queued;
}

/* accept() does not return this child */
static void reset_child(struct smc_sock *child)
{
	struct sock *sk = child->conn.sk;

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	smc_connect_stop_stepping(child);
	smc_close_child(child);
	WRITE_ONCE(child->listener, NULL);
	release_sock(sk);
	smc_conn_put(&child->conn);
}

/**
 * smc_client_child_hand_over() - put the child into the queue of its listening socket
 * @child: the child; the caller does not use it any more
 *
 * If the handshake is over, accept() can return the child; otherwise a kworker or accept() takes
 * its next steps. The caller holds no socket lock. May sleep, but not for a peer or a program.
 */
void smc_client_child_hand_over(struct smc_sock *child)
{
	struct smc_sock *listener = child->listener;

	smc_conn_get(&child->conn);
	if (!queue_child(listener, child))
		reset_child(child);
	else if (smc_connect_is_under_way(child))
		smc_sock_event(child);	/* smc_server_join() may have left something to do */
	smc_accept_uncount_in_connect(listener);
	smc_conn_put(&listener->conn);		/* of begin_child(); the queue has its own */
	smc_close_if_over(child);
	smc_conn_put(&child->conn);
}
