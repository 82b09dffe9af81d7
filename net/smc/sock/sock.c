// SPDX-License-Identifier: GPL-2.0-only
/* struct smc_sock: created and freed; its events, and the steps that a kworker takes */

#include <linux/delay.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "../conn/close.h"
#include "../object.h"
#include "../work.h"
#include "connect_watch.h"
#include "list.h"
#include "listener.h"
#include "sock.h"

static atomic_t smc_socks;
static struct kmem_cache *cache;

#ifdef CONFIG_MEMCG
static struct mem_cgroup *find_root_memcg(void)
{
	struct mem_cgroup *memcg, *parent;

	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	while ((parent = parent_mem_cgroup(memcg)))
		memcg = parent;
	rcu_read_unlock();
	return memcg;		/* is never freed */
}

/*
 * What this task allocates from now on is for the socket, and charged to the memory cgroup of the
 * socket. Return: what the caller gives to set_active_memcg() at the end.
 */
struct mem_cgroup *smc_sock_use_memcg(const struct smc_sock *smc)
{
	struct mem_cgroup *memcg = smc->conn.sk->sk_memcg;

	/* A kworker is in the root cgroup */
	if (!memcg && !(current->flags & PF_KTHREAD) && !mem_cgroup_disabled())
		memcg = find_root_memcg();
	return set_active_memcg(memcg);
}
#else
struct mem_cgroup *smc_sock_use_memcg(const struct smc_sock *smc)
{
	return NULL;
}
#endif

static void free_memory_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(cache, container_of(rcu, struct smc_sock, rcu));
	atomic_dec(&smc_socks);
}

/* The last holder of the memory is gone, so end_sock_rcu() is over. Any context */
static void free_memory(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_sock_of(conn);

	if (poll_state_synchronize_rcu(conn->unheld))
		free_memory_rcu(&smc->rcu);
	else
		call_rcu(&smc->rcu, free_memory_rcu);
}

static void end_sock_rcu(struct rcu_head *rcu)
{
	struct smc_sock *smc = container_of(rcu, struct smc_sock, rcu);

	kfree(smc->queue);
	smc_object_destroyed(SMC_OBJECT_SOCK);
	if (refcount_dec_and_test(&smc->conn.holders))
		free_memory(&smc->conn);
}

/*
 * The last reference is dropped. A signal of the peer, or a wake-up by TCP, may still use the
 * struct, so its memory is freed a grace period later. The sock is released now; see locking.rst,
 * "RCU and late signals".
 *
 * Any context. Interrupts are off in a wake-up by TCP only: TCP has a reference to that sock, or it
 * listens, and SOCK_RCU_FREE keeps it.
 */
static void release_sock_struct(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_sock_of(conn);

	smc_list_remove(smc);
	if (smc_sock_state(smc) == SMC_SOCK_ORPHANED)
		module_put(THIS_MODULE);	/* smc_sock_exit() waits for the rest */
	sock_put(smc->conn.sk);
	call_rcu(&smc->rcu, end_sock_rcu);
}

/*
 * Let a kworker take the next step, after @delay jiffies. The caller has a reference, or is in an
 * RCU read-side critical section. Any context; does not sleep.
 */
void smc_sock_queue_work(struct smc_sock *smc, unsigned long delay)
{
	if (!smc_conn_get_not_zero(&smc->conn))
		return;
	if (!queue_delayed_work(smc_wq, &smc->work, delay))
		smc_conn_put(&smc->conn);
}

static void queue_listener_step(struct smc_sock *listener)
{
	bool is_over = smc_listen_is_over(listener);

	smc_accept_limit_tcp(listener);
	if (!is_over && smc_connect_watch_note_child(listener))
		smc_listen_leave_to_client(listener);
	else if (is_over || !smc_child_tell_accept(listener))
		smc_sock_queue_work(listener, 0);
}

/*
 * An event of a socket makes a step due: tell the stepper, or choose one. The caller has a
 * reference, or is in an RCU read-side critical section. Any context; does not sleep.
 */
void smc_sock_event(struct smc_sock *smc)
{
	enum smc_stepper_action action;

	if (smc_sock_state(smc) == SMC_SOCK_LISTEN) {
		queue_listener_step(smc);
		return;
	}
	action = smc_sock_change_stepper(smc, smc_child_is_for_accept(smc) ? SMC_STEP_DUE_ACCEPT :
									     SMC_STEP_DUE);
	if (action == SMC_STEPPER_TELL_ACCEPT && !smc_child_tell_accept(smc))
		action = smc_sock_change_stepper(smc, SMC_STEP_DECLINE);
	/* The stepper in wait_for_outcome() changes its state, too, after it has added itself */
	if (action == SMC_STEPPER_WAKE_CALLER && waitqueue_active(&smc->callers))
		wake_up_interruptible_all(&smc->callers);
	if (action == SMC_STEPPER_QUEUE_WORK)
		smc_sock_queue_work(smc, 0);
}

/* close() takes the step itself, after its last change of the state */
static bool is_being_closed(const struct smc_sock *smc)
{
	return smc_sock_state(smc) == SMC_SOCK_ACTIVE && READ_ONCE(smc->conn.released);
}

static void handle_progress(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_sock_of(conn);

	if (smc_sock_state(smc) != SMC_SOCK_ORPHANED && !is_being_closed(smc))
		smc_sock_event(smc);
}

/* In SMC mode only a reset, or bytes in TCP's queue, matter. A FIN does not. */
static bool has_tcp_event(const struct sock *sk)
{
	return inet_sk_state_load(sk) == TCP_CLOSE || tcp_inq((struct sock *)sk);
}

/* The socket was detached after TCP had read sk_wq: wake the programs in place of TCP */
static void wake_programs(const struct smc_sock *smc, void *key)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(smc->conn.wq);
	if (wq)
		__wake_up(&wq->wait, TASK_INTERRUPTIBLE, 0, key);
	rcu_read_unlock();
}

/* The entry of smc_sock.wq: TCP wakes it, with interrupts off */
static int handle_tcp_wakeup(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	struct smc_sock *smc = container_of(entry, struct smc_sock, entry);

	switch (READ_ONCE(smc->state)) {
	case SMC_SOCK_INIT:
		break;
	case SMC_SOCK_ACTIVE:
		if (!smc_close_is_over(smc) && has_tcp_event(smc->conn.sk))
			smc_sock_event(smc);
		break;
	case SMC_SOCK_WAITING:
		if (has_tcp_event(smc->conn.sk))
			smc_sock_event(smc);
		break;
	case SMC_SOCK_FALLBACK:
	case SMC_SOCK_ORPHANED:
	case SMC_SOCK_CLOSED:
		wake_programs(smc, key);
		break;
	default:
		smc_sock_event(smc);
	}
	return 0;
}

static void take_sock_step(struct smc_sock *smc)
{
	if (smc_sock_is_stepped_by_caller(smc))
		return;
	switch (smc->state) {
	case SMC_SOCK_LISTEN:
		if (smc_listen_is_killed(smc))
			smc_listen_end(smc);
		else if (smc_sock_is_taken(smc->conn.sk))
			smc_listen_hand_over(smc);
		break;
	case SMC_SOCK_INCOMING:
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		smc_connect_step(smc);
		break;
	case SMC_SOCK_ACTIVE:
	case SMC_SOCK_WAITING:
		smc_close_progress(smc);
		smc_accept_drop_deferred(smc);
		break;
	default:
		smc_sock_change_stepper(smc, SMC_STEP_BEGIN);
		break;
	}
	if (smc_sock_change_stepper(smc, SMC_STEP_DONE) == SMC_STEPPER_QUEUE_WORK)
		smc_sock_queue_work(smc, 0);
}

/*
 * Take the next steps of a socket, unless a program or another stepper owns it. The socket is not
 * locked; the caller has a reference. May sleep, but neither for a peer nor for a program.
 *
 * Return: false if the socket is owned; then nothing was done.
 */
bool smc_sock_step(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	struct mem_cgroup *old;

	if (!smc_work_lock_if_free(sk))
		return false;
	old = smc_sock_use_memcg(smc);
	take_sock_step(smc);
	set_active_memcg(old);
	release_sock(sk);
	smc_close_if_over(smc);
	return true;
}

/*
 * A program owns the socket. The delay doubles each time, up to a second, so thousands of owned
 * sockets do not keep the kworkers busy. After one owner the step is late by at most as long as
 * that owner had the socket, or by a second; threads that own it in turn may delay it for longer.
 */
static void retry_step_later(struct smc_sock *smc)
{
	smc->retry_delay = clamp(2 * smc->retry_delay, 1UL, (unsigned long)HZ);
	smc_sock_queue_work(smc, smc->retry_delay);
}

/* Drops the reference of the work. May sleep, but neither for a peer nor for a program. */
static void run_sock_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, work.work);

	smc_work_forget_throttling();
	if (smc_sock_state(smc) == SMC_SOCK_LISTEN && !smc_listen_is_over(smc))
		smc_listen_work(smc);
	else if (smc_sock_step(smc))
		smc->retry_delay = 0;
	else
		retry_step_later(smc);
	smc_conn_put(&smc->conn);
}

/*
 * No answer to a SYN has come, the deadline of a handshake, the timeout of a peer after close, the
 * end of TCP_DEFER_ACCEPT, or accept() has not come for the steps that are left to it, or connect()
 * for its child
 */
static void handle_sock_timer(struct timer_list *timer)
{
	struct smc_sock *smc = container_of(timer, struct smc_sock, conn.timer);

	switch (smc_sock_state(smc)) {
	case SMC_SOCK_CONNECTING:
		smc_syn_handle_timer(smc);
		break;
	case SMC_SOCK_HANDSHAKE:
		smc_sock_event(smc);
		break;
	case SMC_SOCK_LISTEN:
		smc_listen_check_accept(smc);
		break;
	case SMC_SOCK_ACTIVE:
		smc_accept_end_deferral(smc);
		break;
	case SMC_SOCK_WAITING:
	case SMC_SOCK_ORPHANED:
		smc_close_handle_timer(smc);
		break;
	default:
		break;
	}
	smc_conn_put(&smc->conn);
}

/**
 * smc_sock_create() - create what a TCP socket needs on its way to SMC
 * @sk: the sock; the struct has a reference to it until the last reference to the struct is dropped
 * @gfp: GFP_KERNEL_ACCOUNT, with __GFP_NOFAIL for a child
 *
 * May sleep.
 *
 * Return: the struct, with one reference, or NULL without memory.
 */
struct smc_sock *smc_sock_create(struct sock *sk, gfp_t gfp)
{
	struct smc_sock *smc = kmem_cache_zalloc(cache, gfp);

	if (!smc)
		return NULL;
	smc->conn.release = release_sock_struct;
	smc->conn.free = free_memory;
	smc->conn.progress = handle_progress;
	timer_setup(&smc->conn.timer, handle_sock_timer, 0);
	init_waitqueue_head(&smc->wq.wait);
	smc->wq.flags = SMC_WQ_IS_OURS;
	init_waitqueue_func_entry(&smc->entry, handle_tcp_wakeup);
	add_wait_queue(&smc->wq.wait, &smc->entry);
	init_waitqueue_head(&smc->callers);
	INIT_DELAYED_WORK(&smc->work, run_sock_work);
	INIT_LIST_HEAD(&smc->child);
	RB_CLEAR_NODE(&smc->ready);
	INIT_LIST_HEAD(&smc->due);
	sock_hold(sk);
	smc_conn_init(&smc->conn, sk);

	atomic_inc(&smc_socks);
	refcount_set(&smc->users, 1);
	smc_object_created(SMC_OBJECT_SOCK);
	smc_list_add(smc);
	return smc;
}

/*
 * The socket, or a system call, does not use the connection any more. The last user releases the
 * memory. May sleep.
 */
void smc_sock_drop_user(struct smc_sock *smc)
{
	if (refcount_dec_and_test(&smc->users))
		smc_close_release(&smc->conn);
}

/* The end of smc_sock_enter_call(). May sleep. */
void smc_sock_exit_call(struct smc_sock *smc)
{
	smc_sock_drop_user(smc);
	smc_conn_put(&smc->conn);
}

int __init smc_sock_init(void)
{
	cache = KMEM_CACHE(smc_sock, SLAB_ACCOUNT);
	return cache ? 0 : -ENOMEM;
}

/*
 * Wait until the last struct smc_sock is freed. No socket has SMC's operations any more. Kworkers
 * and timers that run, and grace periods, keep the last structs; a device keeps the memory of one
 * until the peer, which is another one, has detached its DMB. May sleep.
 */
void smc_sock_exit(void)
{
	while (atomic_read(&smc_socks))
		msleep(20);
	kmem_cache_destroy(cache);
}
