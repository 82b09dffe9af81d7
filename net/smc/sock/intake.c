// SPDX-License-Identifier: GPL-2.0-only
/*
 * What TCP has accepted becomes a child, and children take their steps: in accept(), where a
 * program waits there, or in the work queue.
 */

#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "../work.h"
#include "sock.h"

#define ROUND		16	/* children before others have their turn */
#define OWN_STEPS	4	/* of them, whose first step the listener's work takes itself */

/*
 * TCP charges a child to the memory cgroup also beyond its limit: the connection is there already.
 * The same is true of what the module allocates for it.
 */
#define FOR_CHILD	(GFP_KERNEL_ACCOUNT | __GFP_NOFAIL)

#ifdef CONFIG_MEMCG
/*
 * For a stream whose send buffer is full, the kernel charges beyond the limit of the cgroup: let it
 * look full. SOCK_SNDBUF_LOCK keeps the kernel from changing sk_sndbuf meanwhile.
 */
static bool account_in_any_case(struct sock *sk, int bytes)
{
	int sndbuf = sk->sk_sndbuf;
	u8 locks = sk->sk_userlocks;
	bool accounted;

	sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, 0);
	accounted = __sk_mem_schedule(sk, bytes, SK_MEM_SEND);
	WRITE_ONCE(sk->sk_sndbuf, sndbuf);
	sk->sk_userlocks = locks;
	return accounted;
}

/*
 * Charge a memory cgroup for what TCP has accounted for a socket that had none. All that a module
 * can do is to account for the same again, now with the cgroup, and to take back the first without.
 */
static bool charge_accounted(struct sock *sk)
{
	struct mem_cgroup *memcg = sk->sk_memcg;
	int bytes = PAGE_ALIGN(sk->sk_forward_alloc + atomic_read(&sk->sk_rmem_alloc));

	sock_owned_by_me(sk);
	if (!bytes)
		return true;
	if (!account_in_any_case(sk, bytes))
		return false;
	sk->sk_memcg = NULL;
	__sk_mem_reclaim(sk, bytes);
	sk->sk_memcg = memcg;
	return true;
}

/*
 * As over TCP, the program in accept() pays for the socket. A client whose connect() takes the
 * child is in the cgroup of the listening socket. For a kworker the listening socket's cgroup pays;
 * and with version 1 of cgroups, where the fields that decide are the kernel's own.
 *
 * Return: a cgroup, with a reference, or NULL.
 */
static struct mem_cgroup *get_payer(const struct sock *parent)
{
	struct mem_cgroup *memcg = parent->sk_memcg;

	rcu_read_lock();
	if (!(current->flags & PF_KTHREAD) && cgroup_subsys_on_dfl(memory_cgrp_subsys))
		memcg = mem_cgroup_from_task(current);
	if (memcg && (!parent_mem_cgroup(memcg) || !css_tryget(&memcg->css)))
		memcg = NULL;
	rcu_read_unlock();
	return memcg;
}

/*
 * What TCP does in accept(). Nothing was sent yet. What TCP holds ahead of use is given back, so
 * mostly there is nothing to charge.
 */
static void charge_memcg(struct sock *sk, const struct sock *parent)
{
	if (!mem_cgroup_sockets_enabled || sk->sk_memcg)
		return;
	sk_mem_reclaim(sk);
	sk->sk_memcg = get_payer(parent);
	if (!sk->sk_memcg)
		return;
	if (!charge_accounted(sk)) {
		css_put(&sk->sk_memcg->css);
		sk->sk_memcg = NULL;
		return;
	}
	kmem_cache_charge(sk, GFP_KERNEL | __GFP_NOFAIL);
}
#else
static void charge_memcg(struct sock *sk, const struct sock *parent)
{
}
#endif

/*
 * inet_csk_accept() takes the socket lock of the listening sock, which a program may own as long as
 * it likes. TCP's queue is protected by locks of its own: this does the same without.
 *
 * Return: a child, with a reference, or NULL if there is none.
 */
static struct sock *accept_from_tcp(struct sock *listener)
{
	struct request_sock_queue *queue = &inet_csk(listener)->icsk_accept_queue;
	struct request_sock *req = reqsk_queue_remove(queue, listener);
	struct sock *sk;

	if (!req)
		return NULL;
	sk = req->sk;
	spin_lock_bh(&queue->fastopenq.lock);
	if (tcp_rsk(req)->tfo_listener) {
		req->sk = NULL;	/* TCP frees the request when its handshake ends */
		req = NULL;
	}
	spin_unlock_bh(&queue->fastopenq.lock);
	if (req)
		reqsk_put(req);
	inet_init_csk_locks(sk);
	return sk;
}

static struct smc_sock *create_child(struct smc_sock *listener, struct sock *sk)
{
	struct smc_sock *child;

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	smc_option_adopt(sk);
	charge_memcg(sk, listener->conn.sk);
	child = smc_sock_create(sk, FOR_CHILD);
	release_sock(sk);
	if (!child)
		return NULL;
	child->owns_sk = true;
	__module_get(THIS_MODULE);
	child->conn.role = SMC_SERVER;
	child->limit_handshake = listener->limit_handshake;
	child->quiet = listener->quiet;
	return child;
}

/*
 * One that others have in their hands, as BPF programs may, takes its steps, too, and will be a TCP
 * connection, see smc_handshake_excluded().
 */
static void begin_child(struct smc_sock *listener, struct smc_sock *child)
{
	struct sock *sk = child->conn.sk;

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	smc_sock_set_state(child, SMC_SOCK_INCOMING);
	if (tcp_sk(sk)->syn_smc)
		smc_sock_attach(child);
	if (!smc_accept_add(listener, child)) {
		smc_close_child(child);
		smc_conn_put(&child->conn);
	}
	release_sock(sk);
	smc_close_if_over(child);
}

/* What TCP has accepted becomes a child. Return: that, with a reference, or NULL without memory */
static struct smc_sock *take_in(struct smc_sock *listener, struct sock *sk)
{
	struct smc_sock *child = create_child(listener, sk);

	if (!child) {
		smc_close_sock(sk, true);	/* an end in good order would look like an answer */
		return NULL;
	}
	smc_conn_get(&child->conn);
	begin_child(listener, child);
	return child;
}

/* The child's own work takes its next steps; gives back the reference */
static void queue_child(struct smc_sock *child, unsigned long delay)
{
	smc_sock_queue_work(child, delay);
	smc_conn_put(&child->conn);
}

/* accept() may have returned it meanwhile: then a program may own it. Gives back the reference. */
static void step_child(struct smc_sock *child)
{
	smc_work_forget_throttling();
	if (smc_sock_look(child))
		smc_conn_put(&child->conn);
	else
		queue_child(child, 1);
}

/* The oldest one first */
static void finish_own(struct smc_sock **own, unsigned int from)
{
	struct smc_sock *child;
	unsigned int i;

	for (i = 0; i < OWN_STEPS; i++) {
		child = own[(from + i) % OWN_STEPS];
		if (child)
			step_child(child);
	}
}

static bool has_enough(const struct smc_sock *listener, bool in_accept)
{
	return in_accept && (smc_accept_ready(listener) || signal_pending(current));
}

/*
 * Take in what TCP has accepted. A round is bounded, because a peer may open connections that fail
 * at once as fast as this goes, and accept() has something better to do once a child is ready.
 *
 * An accept() that waits takes the first steps of children itself. In the work queue the last few
 * are taken here, which saves task switches; all others are left to their own work, so that
 * processors share the children of a busy listener.
 * Return: whether there may be more.
 */
static bool take_in_all(struct smc_sock *listener, bool in_accept)
{
	struct smc_sock *own[OWN_STEPS] = {};
	struct smc_sock *child;
	struct sock *sk;
	unsigned int i;

	for (i = 0; i < ROUND && !has_enough(listener, in_accept); i++) {
		/* The sock may listen again by now: those are not our children */
		if (READ_ONCE(listener->queue.ended))
			break;
		smc_work_forget_throttling();
		sk = accept_from_tcp(listener->conn.sk);
		if (!sk)
			break;
		child = take_in(listener, sk);
		if (!child)
			continue;
		if (in_accept) {
			step_child(child);
			continue;
		}
		swap(child, own[i % OWN_STEPS]);
		if (child)
			queue_child(child, 0);
	}
	finish_own(own, i);
	return !reqsk_queue_empty(&inet_csk(listener->conn.sk)->icsk_accept_queue);
}

/* Does accept() of its parent look at the socket, if something happens? Any context. */
static struct smc_sock *willing_listener(const struct smc_sock *smc)
{
	struct smc_sock *listener = READ_ONCE(smc->listener) ?: (struct smc_sock *)smc;

	if (READ_ONCE(listener->state) != SMC_SOCK_LISTEN)
		return NULL;
	return READ_ONCE(listener->queue.blocking) ? listener : NULL;
}

/**
 * smc_intake_is_for_accept() - would accept() of its parent look at a child?
 * @smc: child or not; the caller is in an RCU read-side critical section, or has a reference
 *
 * Any context. smc_intake_tell() may find otherwise.
 *
 * Return: whether.
 */
bool smc_intake_is_for_accept(const struct smc_sock *smc)
{
	bool is_for_accept;

	rcu_read_lock();
	is_for_accept = READ_ONCE(smc->listener) && willing_listener(smc);
	rcu_read_unlock();
	return is_for_accept;
}

/*
 * What happens to a listening socket or to its children, the work queue would see to.
 * But a program that waits in accept() can do so itself, which saves task switches; also
 * one that is not back there yet, because nobody is served before it is. If it
 * does not come soon, the timer calls the work queue.
 */
static void call_acceptor(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_acceptor *acceptor;

	lockdep_assert_held(&q->lock);
	acceptor = list_first_entry_or_null(&q->acceptors, struct smc_acceptor, list);
	if (acceptor)
		woken_wake_function(&acceptor->wait, TASK_INTERRUPTIBLE, 0, NULL);
	else if (!timer_pending(&listener->conn.timer))
		smc_conn_start_timer(&listener->conn, jiffies + 1);
}

/**
 * smc_intake_tell() - something happened to a listening socket, or to a child: tell accept()
 * @smc: the one or the other; the caller is in an RCU read-side critical section, or has a
 *	reference
 *
 * Any context; does not sleep.
 *
 * Return: whether accept() sees to it; else the caller has to. A socket that listened before, and
 * connects now, has no accept() any more.
 */
bool smc_intake_tell(struct smc_sock *smc)
{
	struct smc_sock *listener;
	struct smc_accept_queue *q;
	unsigned long flags;
	bool taken = false;

	rcu_read_lock();
	listener = READ_ONCE(smc->listener) ?: smc;
	q = &listener->queue;
	spin_lock_irqsave(&q->lock, flags);
	if (listener == smc)
		WRITE_ONCE(q->incoming, true);
	if (listener == smc && !list_empty(&q->acceptors))
		q->blocking = true;
	if (READ_ONCE(listener->state) == SMC_SOCK_LISTEN && q->blocking &&
	    (listener == smc || !list_empty(&smc->child))) {
		if (listener != smc)
			list_move_tail(&smc->news, &q->news);
		call_acceptor(listener);
		taken = true;
	}
	spin_unlock_irqrestore(&q->lock, flags);
	rcu_read_unlock();
	return taken;
}

/**
 * smc_intake_overdue() - what was left to accept() is still there: do without it
 * @listener: the socket; the caller has a reference
 *
 * Any context; does not sleep.
 */
void smc_intake_overdue(struct smc_sock *listener)
{
	if (!smc_accept_has_steps(listener))
		return;
	WRITE_ONCE(listener->queue.blocking, false);
	smc_sock_queue_work(listener, 0);
}

/* Return: with a reference */
static struct smc_sock *take_news(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child;

	spin_lock_irq(&q->lock);
	child = list_first_entry_or_null(&q->news, struct smc_sock, news);
	if (child) {
		list_del_init(&child->news);
		smc_conn_get(&child->conn);
	}
	spin_unlock_irq(&q->lock);
	return child;
}

/* One round of the steps that are due; in accept() only until a child is ready */
static void take_steps(struct smc_sock *listener, bool in_accept)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child;
	unsigned int i;

	lockdep_assert_held(&q->intake);
	if (READ_ONCE(q->incoming)) {
		/* Whoever sets it again has queued the next one before */
		smp_store_mb(q->incoming, false);
		if (take_in_all(listener, in_accept))
			WRITE_ONCE(q->incoming, true);
	}
	for (i = 0; i < ROUND && !has_enough(listener, in_accept); i++) {
		child = take_news(listener);
		if (!child)
			break;
		step_child(child);
	}
}

/**
 * smc_intake_steps() - accept() takes steps that are due, until a child is ready
 * @listener: the socket, not locked; the caller has a reference
 *
 * May sleep, but not for a peer.
 *
 * Return: 0, or -ERESTARTSYS when a signal has come.
 */
int smc_intake_steps(struct smc_sock *listener)
{
	int err = mutex_lock_interruptible(&listener->queue.intake);

	if (err)
		return -ERESTARTSYS;
	take_steps(listener, true);
	mutex_unlock(&listener->queue.intake);
	return 0;
}

/**
 * smc_intake_work() - take in what TCP has accepted, and go on with all handshakes
 * @listener: the socket, not locked; the caller has a reference
 *
 * For smc_sock_run_work(). May sleep, but not for a peer.
 */
void smc_intake_work(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;

	/* accept() sees it behind its steps, if it has the mutex */
	WRITE_ONCE(q->incoming, true);
	if (!mutex_trylock(&q->intake)) {
		smc_sock_queue_work(listener, 1);
		return;
	}
	take_steps(listener, false);
	mutex_unlock(&q->intake);
	if (smc_accept_has_steps(listener))
		smc_sock_queue_work(listener, 0);
}
