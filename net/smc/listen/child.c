// SPDX-License-Identifier: GPL-2.0-only
/*
 * Children of a listening socket: taken from TCP's queue, and stepped, by accept() if a program
 * waits there, or by the work queue. See client_child.c for a client in this kernel.
 */

#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "../work.h"
#include "listen.h"

#define ROUND		16	/* children in one round */
#define OWN_STEPS	4	/* children whose first step the work takes itself */

/*
 * TCP charges a child to its memory cgroup also beyond the limit, because the connection exists
 * already. The same is true of what the module allocates for the child.
 */
#define FOR_CHILD	(GFP_KERNEL_ACCOUNT | __GFP_NOFAIL)

#ifdef CONFIG_MEMCG
/*
 * The kernel charges beyond the limit of the cgroup for a stream whose send buffer is full, so the
 * buffer gets the size 0. SOCK_SNDBUF_LOCK keeps the kernel from changing sk_sndbuf meanwhile.
 */
static bool force_account(struct sock *sk, int bytes)
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
 * Charge a memory cgroup for the bytes that TCP has accounted for a socket without a cgroup. The
 * kernel exports no function for this: account for the same bytes again, with the cgroup, and take
 * back those without.
 */
static bool charge_accounted_bytes(struct sock *sk)
{
	struct mem_cgroup *memcg = sk->sk_memcg;
	int bytes = PAGE_ALIGN(sk->sk_forward_alloc + atomic_read(&sk->sk_rmem_alloc));

	sock_owned_by_me(sk);
	if (!bytes)
		return true;
	if (!force_account(sk, bytes))
		return false;
	sk->sk_memcg = NULL;
	__sk_mem_reclaim(sk, bytes);
	sk->sk_memcg = memcg;
	return true;
}

/*
 * The memory cgroup that pays for a child: that of the task in accept(), as over TCP. If a kworker
 * or connect() takes the child, the listening socket's cgroup pays; also with version 1 of cgroups,
 * where the kernel does not export the fields that decide.
 *
 * Return: a cgroup, with a reference, or NULL.
 */
static struct mem_cgroup *get_child_payer(const struct sock *parent, bool in_accept)
{
	struct mem_cgroup *memcg = parent->sk_memcg;

	rcu_read_lock();
	if (in_accept && cgroup_subsys_on_dfl(memory_cgrp_subsys))
		memcg = mem_cgroup_from_task(current);
	if (memcg && (!parent_mem_cgroup(memcg) || !css_tryget(&memcg->css)))
		memcg = NULL;
	rcu_read_unlock();
	return memcg;
}

/*
 * Charge a child as TCP does in accept(). It has sent nothing. sk_mem_reclaim() gives back what TCP
 * holds ahead of use, so there is rarely anything to charge.
 */
static void charge_child_memcg(struct sock *sk, const struct sock *parent, bool in_accept)
{
	if (!mem_cgroup_sockets_enabled || sk->sk_memcg)
		return;
	sk_mem_reclaim(sk);
	sk->sk_memcg = get_child_payer(parent, in_accept);
	if (!sk->sk_memcg)
		return;
	if (!charge_accounted_bytes(sk)) {
		css_put(&sk->sk_memcg->css);
		sk->sk_memcg = NULL;
		return;
	}
	kmem_cache_charge(sk, GFP_KERNEL | __GFP_NOFAIL);
}
#else
static void charge_child_memcg(struct sock *sk, const struct sock *parent, bool in_accept)
{
}
#endif

/**
 * smc_child_create() - create a child
 * @listener: the listening socket; the caller has a reference
 * @sk: the sock, which was taken from TCP's accept queue
 * @in_accept: the task in accept() pays for the child, otherwise the listening socket does
 *
 * The child is attached to the sock, unless it has a reason to be TCP, or another subsystem, such
 * as BPF's sockmap, uses the sock already: see smc_handshake_excluded(). In each case it takes its
 * first step. May sleep, but not for a program, which does not know the sock.
 *
 * Return: the child in SMC_SOCK_INCOMING, locked, with a reference for the caller, which adds it to
 * the queue of the module; or NULL without memory: then the sock is closed.
 */
struct smc_sock *smc_child_create(struct smc_sock *listener, struct sock *sk, bool in_accept)
{
	struct smc_sock *child;

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	smc_syn_adopt_child(sk);
	charge_child_memcg(sk, listener->conn.sk, in_accept);
	child = smc_sock_create(sk, FOR_CHILD);
	if (!child) {
		release_sock(sk);
		smc_close_sock(sk, true);	/* to the peer a FIN would look like an answer */
		return NULL;
	}
	child->owns_sk = true;
	__module_get(THIS_MODULE);
	child->conn.role = SMC_SERVER;
	child->limit_handshake = listener->limit_handshake;
	child->delays_acks = listener->delays_acks;
	child->reason = smc_syn_child_reason(sk, listener->conn.sk);
	smc_sock_set_state(child, SMC_SOCK_INCOMING);
	if (!child->reason)
		smc_sock_attach(child);
	return child;
}

/*
 * A sock that TCP has accepted falls back without a struct smc_sock: it needs no handshake. It is
 * locked, and a program has not seen it. May sleep.
 */
void smc_child_fall_back(struct smc_sock *listener, struct sock *sk)
{
	charge_child_memcg(sk, listener->conn.sk, true);
	smc_fallback_child(sk, listener);
}

/* Return: the child of a sock that TCP has accepted, with a reference, or NULL without memory. */
static struct smc_sock *adopt_child(struct smc_sock *listener, struct sock *sk, bool in_accept)
{
	struct smc_sock *child = smc_child_create(listener, sk, in_accept);

	if (!child)
		return NULL;
	smc_conn_get(&child->conn);
	if (!smc_accept_add_child(listener, child)) {
		smc_close_child(child);
		smc_conn_put(&child->conn);
	}
	release_sock(sk);
	smc_close_if_over(child);
	return child;
}

/* The child's own work takes its next steps. Drops the reference. */
static void queue_child_step(struct smc_sock *child, unsigned long delay)
{
	smc_sock_queue_work(child, delay);
	smc_conn_put(&child->conn);
}

/*
 * accept() may have returned the child meanwhile: then a program may own it. Drops the reference.
 */
static void step_child(struct smc_sock *child)
{
	smc_work_forget_throttling();
	if (smc_sock_step(child))
		smc_conn_put(&child->conn);
	else
		queue_child_step(child, 1);
}

/* The oldest child first */
static void step_own_children(struct smc_sock **own, unsigned int from)
{
	struct smc_sock *child;
	unsigned int i;

	for (i = 0; i < OWN_STEPS; i++) {
		child = own[(from + i) % OWN_STEPS];
		if (child)
			step_child(child);
	}
}

static bool has_accept_enough(const struct smc_sock *listener, struct sock **tcp_child)
{
	return tcp_child &&
	       (*tcp_child || smc_accept_has_ready(listener) || signal_pending(current));
}

/* Return: the first child in TCP's accept queue, only for comparison; or NULL. Any context. */
static const void *get_tcp_child(const struct smc_sock *listener)
{
	return READ_ONCE(inet_csk(listener->conn.sk)->icsk_accept_queue.rskq_accept_head);
}

/* Once the listener has ended, its sock may listen again, and have children of another listener */
static bool may_adopt_child(struct smc_sock *listener)
{
	return !READ_ONCE(listener->queue->ended) && get_tcp_child(listener) &&
	       smc_accept_has_place(listener);
}

/* A connection without SMC needs no handshake. Older children come first. */
static bool is_next_without_smc(const struct smc_sock *listener, const struct sock *sk)
{
	return smc_syn_child_reason(sk, listener->conn.sk) &&
	       list_empty_careful(&listener->queue->children);
}

/*
 * Take children from TCP's queue. A round is bounded, because a peer may open connections that fail
 * at once as fast as this loop runs, and because accept() returns when a child is ready.
 *
 * accept() takes the first steps of these children itself, and returns a TCP connection as it is:
 * *@tcp_child, which is NULL before. The work queue, with @tcp_child NULL, takes the first steps of
 * the last few, which saves task switches. The work of each other child takes its steps, so that
 * processors share the children of a busy listener.
 *
 * Return: whether more can be taken.
 */
static bool adopt_children(struct smc_sock *listener, struct sock **tcp_child)
{
	struct smc_sock *own[OWN_STEPS] = {};
	struct smc_sock *child;
	struct sock *sk;
	unsigned int i;

	for (i = 0; i < ROUND && !has_accept_enough(listener, tcp_child); i++) {
		if (!may_adopt_child(listener))
			break;
		smc_work_forget_throttling();
		sk = smc_tcp_queue_take(listener, NULL);
		if (!sk)
			break;
		if (tcp_child && is_next_without_smc(listener, sk)) {
			*tcp_child = sk;
			break;
		}
		child = adopt_child(listener, sk, tcp_child);
		if (!child)
			continue;
		if (tcp_child) {
			step_child(child);
			continue;
		}
		swap(child, own[i % OWN_STEPS]);
		if (child)
			queue_child_step(child, 0);
	}
	step_own_children(own, i);
	return may_adopt_child(listener);
}

/* The listener of the socket, or the socket itself, if its accept() takes steps. Any context. */
static struct smc_sock *find_stepping_listener(const struct smc_sock *smc)
{
	struct smc_sock *listener = READ_ONCE(smc->listener) ?: (struct smc_sock *)smc;

	if (smc_sock_state(listener) != SMC_SOCK_LISTEN)
		return NULL;
	return READ_ONCE(listener->queue->accept_steps) ? listener : NULL;
}

/*
 * Would accept() of the parent take the step of this socket, which may be no child? The caller has
 * a reference, or is in an RCU read-side critical section. Any context. smc_child_tell_accept() may
 * decide otherwise.
 */
bool smc_child_is_for_accept(const struct smc_sock *smc)
{
	bool is_for_accept;

	rcu_read_lock();
	is_for_accept = READ_ONCE(smc->listener) && find_stepping_listener(smc);
	rcu_read_unlock();
	return is_for_accept;
}

static struct smc_acceptor *find_sleeping_acceptor(struct smc_accept_queue *q)
{
	lockdep_assert_held(&q->lock);
	return list_first_entry_or_null(&q->acceptors, struct smc_acceptor, list);
}

/* Or a budget of its own: a task of SCHED_DEADLINE waits for its next period */
static bool has_low_priority(const struct task_struct *task)
{
	return task->policy == SCHED_IDLE || task->policy == SCHED_DEADLINE || task_nice(task) > 0;
}

#ifdef CONFIG_CGROUP_SCHED
static bool is_in_root_cgroup(const struct task_struct *task)
{
	bool is_root;

	rcu_read_lock();
	is_root = !task_css_check(task, cpu_cgrp_id, false)->parent;
	rcu_read_unlock();
	return is_root;
}
#else
static bool is_in_root_cgroup(const struct task_struct *task)
{
	return true;
}
#endif

/*
 * May the scheduler keep a task off the processor that could run? A task of low priority waits for
 * all others. A cgroup of the cpu controller has a weight, and may have a quota, which a module
 * cannot read; only the root has neither. The caller knows that the task exists. Any context.
 */
bool smc_task_may_be_held(const struct task_struct *task)
{
	return has_low_priority(task) || !is_in_root_cgroup(task);
}

/*
 * Shall accept() take the steps of a listening socket? Not if the scheduler may stop it in a step,
 * with the locks of a child: the client waits for that step in connect(). A TCP handshake waits for
 * no task.
 */
static bool choose_accept(struct smc_sock *listener, bool is_incoming)
{
	struct smc_accept_queue *q = listener->queue;
	struct smc_acceptor *acceptor = find_sleeping_acceptor(q);

	if (acceptor && smc_task_may_be_held(acceptor->wait.private))
		WRITE_ONCE(q->accept_steps, false);
	else if (acceptor && is_incoming)
		WRITE_ONCE(q->accept_steps, true);
	return READ_ONCE(q->accept_steps);
}

/*
 * Until the next jiffy accept() has time to take all steps that are due, and the connect() of a
 * client to take the first child from TCP's queue
 */
static void start_accept_timer(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;

	lockdep_assert_held(&q->lock);
	if (timer_pending(&listener->conn.timer))
		return;
	q->seen_rounds = READ_ONCE(q->rounds);
	q->seen_child = get_tcp_child(listener);
	smc_conn_start_timer(&listener->conn, jiffies + 1);
}

/*
 * Wake a sleeping accept() in place of the work queue, which saves two task switches. If accept()
 * does not sleep, its program probably serves the last connection. In both cases the timer queues
 * the work if accept() does not come: it may wait for a processor, or have been stopped.
 */
static void wake_acceptor(struct smc_sock *listener)
{
	struct smc_acceptor *acceptor = find_sleeping_acceptor(listener->queue);

	if (acceptor)
		woken_wake_function(&acceptor->wait, TASK_INTERRUPTIBLE, 0, NULL);
	start_accept_timer(listener);
}

/*
 * Tell accept() that a step of a listening socket, or of a child, is due. The caller has a
 * reference to @smc, or is in an RCU read-side critical section. Any context; does not sleep.
 *
 * Return: whether accept() takes the step; otherwise the caller has to choose another stepper. A
 * socket that listened before and connects now has no accept() any more.
 */
bool smc_child_tell_accept(struct smc_sock *smc)
{
	struct smc_sock *listener;
	struct smc_accept_queue *q;
	unsigned long flags;
	bool taken = false;

	rcu_read_lock();
	listener = READ_ONCE(smc->listener) ?: smc;
	q = READ_ONCE(listener->queue);
	if (!q) {	/* the child has left its parent meanwhile */
		rcu_read_unlock();
		return false;
	}
	spin_lock_irqsave(&q->lock, flags);
	if (listener == smc)
		WRITE_ONCE(q->incoming, true);
	if (READ_ONCE(listener->state) == SMC_SOCK_LISTEN &&
	    choose_accept(listener, listener == smc) &&
	    (listener == smc || !list_empty(&smc->child))) {
		if (listener != smc)
			list_move_tail(&smc->due, &q->due);
		wake_acceptor(listener);
		taken = true;
	}
	spin_unlock_irqrestore(&q->lock, flags);
	rcu_read_unlock();
	return taken;
}

/*
 * The connect() of a client takes its child from TCP's queue. Until then the child has a place in
 * the backlog, and no other task was told of it: if the client gets no processor, the timer queues
 * the work. This is on top of that connect(), which has a reference to @listener. Any context; does
 * not sleep.
 */
void smc_listen_leave_to_client(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	start_accept_timer(listener);
	spin_unlock_irqrestore(&q->lock, flags);
}

/*
 * The time of accept() and of connect() is over: if accept() has left steps ever since, or
 * connect() has left the first child in TCP's queue, the work queue takes them. If there is no
 * place for a child, the one that frees a place makes it due. The caller has a reference. Any
 * context; does not sleep.
 */
void smc_listen_check_accept(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;
	const void *child;
	bool is_due, is_late;
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	child = q->is_held ? NULL : get_tcp_child(listener);
	if (child && child == q->seen_child)
		WRITE_ONCE(q->incoming, true);
	is_due = smc_accept_step_is_due(listener);
	is_late = is_due && READ_ONCE(q->rounds) == q->seen_rounds;
	if (is_late)
		WRITE_ONCE(q->accept_steps, false);
	else if (is_due || child)
		start_accept_timer(listener);
	spin_unlock_irqrestore(&q->lock, flags);
	if (is_late)
		smc_sock_queue_work(listener, 0);
}

/* Return: a child, with a reference, or NULL. */
static struct smc_sock *pop_due_child(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;
	struct smc_sock *child;

	spin_lock_irq(&q->lock);
	child = list_first_entry_or_null(&q->due, struct smc_sock, due);
	if (child) {
		list_del_init(&child->due);
		smc_conn_get(&child->conn);
	}
	spin_unlock_irq(&q->lock);
	return child;
}

/* One round of the steps that are due; in accept() only until it has a connection to return */
static void take_due_steps(struct smc_sock *listener, struct sock **tcp_child)
{
	struct smc_accept_queue *q = listener->queue;
	struct smc_sock *child;
	unsigned int i;

	lockdep_assert_held(&q->step_mutex);
	if (READ_ONCE(q->incoming)) {
		/* TCP queues a child before the event sets this again */
		smp_store_mb(q->incoming, false);
		if (adopt_children(listener, tcp_child))
			WRITE_ONCE(q->incoming, true);
	}
	for (i = 0; i < ROUND && !has_accept_enough(listener, tcp_child); i++) {
		child = pop_due_child(listener);
		if (!child)
			break;
		step_child(child);
	}
}

/*
 * accept() takes steps that are due, until a child is ready, or the oldest child is a connection
 * without SMC: then *@tcp_child, which is NULL before, is its sock. The caller calls
 * smc_child_fall_back() for it, has a reference to the listening socket, and does not lock it. May
 * sleep, but not for a peer.
 *
 * Return: 0, or -ERESTARTSYS after a signal.
 */
int smc_listen_take_steps(struct smc_sock *listener, struct sock **tcp_child)
{
	int err = mutex_lock_interruptible(&listener->queue->step_mutex);

	if (err)
		return -ERESTARTSYS;
	take_due_steps(listener, tcp_child);
	if (!smc_accept_step_is_due(listener))
		WRITE_ONCE(listener->queue->rounds, listener->queue->rounds + 1);
	mutex_unlock(&listener->queue->step_mutex);
	return 0;
}

/*
 * The work of a listening socket: take children from TCP's queue, and take
 * due steps. The socket is not locked; the caller has a reference. May sleep, but not for a peer.
 */
void smc_listen_work(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;
	struct mem_cgroup *old;

	/* An accept() that has the mutex sees it after its steps */
	WRITE_ONCE(q->incoming, true);
	if (!mutex_trylock(&q->step_mutex)) {
		smc_sock_queue_work(listener, 1);
		return;
	}
	old = smc_sock_use_memcg(listener);
	take_due_steps(listener, NULL);
	set_active_memcg(old);
	mutex_unlock(&q->step_mutex);
	if (smc_accept_step_is_due(listener))
		smc_sock_queue_work(listener, 0);
}
