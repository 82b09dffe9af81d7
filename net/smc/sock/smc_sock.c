// SPDX-License-Identifier: GPL-2.0-only
/* Life of a struct smc_sock: created, attached to a TCP sock, detached, freed; and its kworker */

#include <linux/delay.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "../conn/close.h"
#include "../object.h"
#include "../work.h"
#include "caller_work.h"
#include "list.h"
#include "sock.h"

static const struct proto_ops no_operations = {
	.sendmsg	= sock_no_sendmsg,
	.set_rcvlowat	= smc_set_rcvlowat,
};

/*
 * sk_socket of a child, and of a connection that its program has closed: TCP reads flags there. BPF
 * programs reach such a sock, too. For them the kernel calls an operation of any struct socket that
 * it finds (SO_RCVLOWAT, a sockmap that sends), and a security module that reads its sock.
 */
static struct socket_alloc no_socket = { .socket.ops = &no_operations };
static struct socket *sk_of_no_socket;	/* has the sock of @no_socket */

static atomic_long_t charged_bytes;
static DEFINE_PER_CPU(int, charged_ahead);
static atomic_t smc_socks;
static long no_limits[3] = { LONG_MAX, LONG_MAX, LONG_MAX };
static int no_minimum;

/*
 * Of the accounts of connections, see group/buffer.c. The limits are elsewhere: these are none. The
 * kernel reads all of them, the minimum also when it traces a charge that it refuses.
 */
static struct proto account_proto = {
	.name			= "SMC",
	.memory_allocated	= &charged_bytes,
	.per_cpu_fw_alloc	= &charged_ahead,
	.sysctl_mem		= no_limits,
	.sysctl_rmem		= &no_minimum,
	.sysctl_wmem		= &no_minimum,
};

#ifdef CONFIG_MEMCG
static struct mem_cgroup *memcg_of(const struct sock *sk)
{
	return sk->sk_memcg;
}

static void set_memcg(struct sock *account, const struct sock *sk)
{
	if (!sk->sk_memcg)
		return;
	css_get(&sk->sk_memcg->css);
	account->sk_memcg = sk->sk_memcg;
}

static void put_memcg(struct sock *account)
{
	if (account->sk_memcg)
		css_put(&account->sk_memcg->css);
}
#else
static struct mem_cgroup *memcg_of(const struct sock *sk)
{
	return NULL;
}

static void set_memcg(struct sock *account, const struct sock *sk)
{
}

static void put_memcg(struct sock *account)
{
}
#endif

static void open_account(struct sock *account, const struct sock *sk)
{
	account->sk_prot = &account_proto;
	set_memcg(account, sk);
}

static void close_account(struct sock *account)
{
	sk_mem_reclaim(account);
	put_memcg(account);
}

static void free_sock(struct rcu_head *rcu)
{
	struct smc_sock *smc = container_of(rcu, struct smc_sock, rcu);

	close_account(&smc->account);
	sock_put(smc->conn.sk);
	kfree(smc);
	smc_object_destroyed(SMC_OBJECT_SOCK);
	atomic_dec(&smc_socks);
}

/*
 * The last reference is gone; a signal of the peer, or TCP's wake-up, may still be under way.
 * Any context: TCP's wake-up may drop the last reference, with interrupts off.
 */
static void release_sock_struct(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_of(conn);

	smc_list_remove(smc);
	if (smc_sock_state(smc) == SMC_SOCK_ORPHANED)
		module_put(THIS_MODULE);	/* smc_sock_exit() waits for the rest */
	call_rcu(&smc->rcu, free_sock);
}

static struct smc_driver_state unpack(int packed)
{
	return (struct smc_driver_state){ .driver = packed >> 1, .news = packed & 1 };
}

static int pack(struct smc_driver_state state)
{
	return state.driver << 1 | state.news;
}

/**
 * smc_sock_is_driven_by_caller() - does a system call take the steps?
 * @smc: the socket
 *
 * Any context.
 *
 * Return: whether.
 */
bool smc_sock_is_driven_by_caller(const struct smc_sock *smc)
{
	return unpack(atomic_read(&smc->driver)).driver == SMC_DRIVER_CALLER;
}

/**
 * smc_sock_has_news() - did something happen that the driver has not looked at?
 * @smc: the socket
 *
 * Any context.
 *
 * Return: whether.
 */
bool smc_sock_has_news(const struct smc_sock *smc)
{
	return unpack(atomic_read(&smc->driver)).news;
}

/**
 * smc_sock_drive() - change who looks at a socket
 * @smc: the socket
 * @event: why
 *
 * Any context. A full barrier: what happened before is seen by whoever looks.
 *
 * Return: what the caller has to do.
 */
enum smc_driver_action smc_sock_drive(struct smc_sock *smc, enum smc_driver_event event)
{
	int now = atomic_read(&smc->driver);
	struct smc_driver_step step;

	do {
		step = smc_driver_next(unpack(now), event);
	} while (!atomic_try_cmpxchg(&smc->driver, &now, pack(step.next)));
	return step.action;
}

/**
 * smc_sock_queue_work() - let the work queue look at a socket
 * @smc: the socket; the caller has a reference, or is in an RCU read-side critical section
 * @delay: jiffies
 *
 * Any context; does not sleep.
 */
void smc_sock_queue_work(struct smc_sock *smc, unsigned long delay)
{
	if (!smc_conn_get_not_zero(&smc->conn))
		return;
	if (!queue_delayed_work(smc_wq, &smc->work, delay))
		smc_conn_put(&smc->conn);
}

static void queue_first_step(struct smc_sock *listener)
{
	if (smc_caller_work_add(listener))
		return;
	if (smc_accept_is_over(listener) || !smc_intake_tell(listener))
		smc_sock_queue_work(listener, 0);
}

/**
 * smc_sock_news() - something happened: see that somebody looks
 * @smc: the socket; as for smc_sock_queue_work()
 *
 * Any context; does not sleep.
 */
void smc_sock_news(struct smc_sock *smc)
{
	enum smc_driver_action action;
	bool is_for_accept;

	if (READ_ONCE(smc->state) == SMC_SOCK_LISTEN) {
		queue_first_step(smc);
		return;
	}
	is_for_accept = smc_intake_is_for_accept(smc) && !smc_caller_work_takes(smc);
	action = smc_sock_drive(smc, is_for_accept ? SMC_DRIVER_NEWS_ACCEPT : SMC_DRIVER_NEWS);
	if (action == SMC_DRIVER_TELL_ACCEPT && !smc_intake_tell(smc))
		action = smc_sock_drive(smc, SMC_DRIVER_DECLINE);
	if (action == SMC_DRIVER_WAKE_CALLER)
		wake_up_interruptible_all(&smc->callers);
	if (action == SMC_DRIVER_QUEUE_WORK && !smc_caller_work_add(smc))
		smc_sock_queue_work(smc, 0);
}

/* close() looks itself, behind its last change of the state */
static bool is_being_closed(const struct smc_sock *smc)
{
	return smc_sock_state(smc) == SMC_SOCK_ACTIVE && READ_ONCE(smc->conn.released);
}

static void on_progress(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_of(conn);

	if (smc_sock_state(smc) != SMC_SOCK_ORPHANED && !is_being_closed(smc))
		smc_sock_news(smc);
}

/* On an SMC connection TCP has no news in good order: a FIN is none */
static bool is_trouble(const struct sock *sk)
{
	return inet_sk_state_load(sk) == TCP_CLOSE || tcp_inq((struct sock *)sk);
}

/* The socket was detached when TCP had found our queue already */
static void pass_on(const struct smc_sock *smc, void *key)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(smc->conn.wq);
	if (wq)
		__wake_up(&wq->wait, TASK_INTERRUPTIBLE, 0, key);
	rcu_read_unlock();
}

/* TCP wakes whoever waits for the sock: us. Interrupts are off. */
static int woken_by_tcp(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	struct smc_sock *smc = container_of(entry, struct smc_sock, entry);

	switch (READ_ONCE(smc->state)) {
	case SMC_SOCK_INIT:
		break;
	case SMC_SOCK_ACTIVE:
		if (!smc_close_is_over(smc) && is_trouble(smc->conn.sk))
			smc_sock_news(smc);
		break;
	case SMC_SOCK_WAITING:
		if (is_trouble(smc->conn.sk))
			smc_sock_news(smc);
		break;
	case SMC_SOCK_FALLBACK:
	case SMC_SOCK_ORPHANED:
	case SMC_SOCK_CLOSED:
		pass_on(smc, key);
		break;
	default:
		smc_sock_news(smc);
	}
	return 0;
}

/*
 * A program owns its socket for as long as it takes to bring in a page, which may be its own doing.
 * The work queue serves all programs, and waits for none of them.
 */
static bool lock_if_free(struct sock *sk)
{
	bool is_free;

	spin_lock_bh(&sk->sk_lock.slock);
	is_free = !sock_owned_by_user_nocheck(sk);
	if (is_free)
		sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (is_free)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return is_free;
}

static void look(struct smc_sock *smc)
{
	if (smc_sock_is_driven_by_caller(smc))
		return;
	switch (smc->state) {
	case SMC_SOCK_LISTEN:
		if (smc_accept_is_killed(smc))
			smc_accept_end(smc);
		else if (smc_sock_is_taken(smc->conn.sk))
			smc_accept_hand_over(smc);
		break;
	case SMC_SOCK_INCOMING:
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		smc_connect_progress(smc);
		break;
	case SMC_SOCK_ACTIVE:
	case SMC_SOCK_WAITING:
		smc_close_progress(smc);
		break;
	default:
		smc_sock_drive(smc, SMC_DRIVER_LOOK);
		break;
	}
	if (smc_sock_drive(smc, SMC_DRIVER_DONE) == SMC_DRIVER_QUEUE_WORK)
		smc_sock_queue_work(smc, 0);
}

/**
 * smc_sock_look() - take the next steps of a socket, unless somebody owns it
 * @smc: the socket, not locked; the caller has a reference
 *
 * May sleep, but neither for the peer nor for a program.
 *
 * Return: false if somebody owns it, and nothing was done.
 */
bool smc_sock_look(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	if (!lock_if_free(sk))
		return false;
	look(smc);
	release_sock(sk);
	smc_close_if_over(smc);
	return true;
}

/*
 * A program owns the socket. The kworker waits in all at most twice as long as the program does,
 * and a user whose programs own thousands of sockets does not keep the kworkers busy.
 */
static void look_later(struct smc_sock *smc)
{
	unsigned long patience = clamp(2 * READ_ONCE(smc->patience), 1UL, (unsigned long)HZ);

	WRITE_ONCE(smc->patience, patience);
	smc_sock_queue_work(smc, patience);
}

/**
 * smc_sock_run_work() - what the work queue does for a socket
 * @smc: the socket, not locked; gives back a reference
 *
 * What it allocates is for the socket, and charged to whom that is. May sleep, but neither for a
 * peer nor for a program.
 */
void smc_sock_run_work(struct smc_sock *smc)
{
	struct mem_cgroup *old = set_active_memcg(memcg_of(smc->conn.account));

	smc_work_forget_throttling();
	if (READ_ONCE(smc->state) == SMC_SOCK_LISTEN && !smc_accept_is_over(smc))
		smc_intake_work(smc);
	else if (smc_sock_look(smc))
		WRITE_ONCE(smc->patience, 0);
	else
		look_later(smc);
	set_active_memcg(old);
	smc_conn_put(&smc->conn);
}

static void sock_work(struct work_struct *work)
{
	smc_sock_run_work(container_of(work, struct smc_sock, work.work));
}

/* The deadline of a handshake, the end of a wait for the peer, or accept() has not come */
static void on_timer(struct timer_list *timer)
{
	struct smc_sock *smc = container_of(timer, struct smc_sock, conn.timer);

	switch (READ_ONCE(smc->state)) {
	case SMC_SOCK_HANDSHAKE:
		smc_sock_news(smc);
		break;
	case SMC_SOCK_LISTEN:
		smc_intake_overdue(smc);
		break;
	case SMC_SOCK_WAITING:
	case SMC_SOCK_ORPHANED:
		smc_close_event(&smc->conn, SMC_CLOSE_TIMEOUT, ETIMEDOUT);
		break;
	default:
		break;
	}
	smc_conn_put(&smc->conn);
}

/**
 * smc_sock_create() - what a TCP socket needs on its way to SMC
 * @sk: the sock, which is kept as long as this
 * @gfp: GFP_KERNEL_ACCOUNT, with __GFP_NOFAIL for a child
 *
 * May sleep.
 *
 * Return: it, with one reference, or NULL without memory.
 */
struct smc_sock *smc_sock_create(struct sock *sk, gfp_t gfp)
{
	struct smc_sock *smc = kzalloc(sizeof(*smc), gfp);

	if (!smc)
		return NULL;
	open_account(&smc->account, sk);
	smc->conn.account = &smc->account;
	smc->conn.release = release_sock_struct;
	smc->conn.progress = on_progress;
	timer_setup(&smc->conn.timer, on_timer, 0);
	init_waitqueue_head(&smc->wq.wait);
	smc->wq.flags = SMC_WQ_IS_OURS;
	init_waitqueue_func_entry(&smc->entry, woken_by_tcp);
	add_wait_queue(&smc->wq.wait, &smc->entry);
	init_waitqueue_head(&smc->callers);
	INIT_DELAYED_WORK(&smc->work, sock_work);
	INIT_LIST_HEAD(&smc->child);
	INIT_LIST_HEAD(&smc->ready);
	INIT_LIST_HEAD(&smc->news);
	smc_accept_init(smc);
	sock_hold(sk);
	smc_conn_init(&smc->conn, sk);

	atomic_inc(&smc_socks);
	refcount_set(&smc->users, 1);
	smc_object_created(SMC_OBJECT_SOCK);
	smc_list_add(smc);
	return smc;
}

/* Where programs wait; and TCP wakes us, not them */
static void set_queues(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = smc->conn.sk;

	lockdep_assert_held_write(&sk->sk_callback_lock);
	rcu_assign_pointer(smc->conn.wq, sock ? &sock->wq : NULL);
	sk_set_socket(sk, sock ?: &no_socket.socket);
	rcu_assign_pointer(sk->sk_wq, &smc->wq);
}

/**
 * smc_sock_attach() - from now on TCP tells us what happens, and nobody else
 * @smc: new
 *
 * The socket lock is held. Does not sleep.
 *
 * sk_user_data points to @smc, so that those who look at it first keep off.
 *
 * Return: 0, or -EBUSY if another subsystem uses the sock. A child is attached all the same; a sock
 * with a struct socket is left unchanged.
 */
int smc_sock_attach(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	bool is_free;

	sock_owned_by_me(sk);
	write_lock_bh(&sk->sk_callback_lock);
	is_free = !rcu_access_pointer(__sk_user_data(sk)) && !inet_csk(sk)->icsk_ulp_ops;
	if (is_free)
		__rcu_assign_sk_user_data_with_flags(sk, smc, SK_USER_DATA_NOCOPY);
	if (is_free || !sk->sk_socket) {
		smc_conn_get(&smc->conn);
		smc->is_attached = true;
		set_queues(smc, sk->sk_socket);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return is_free ? 0 : -EBUSY;
}

static void free_user_data(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	uintptr_t data = (uintptr_t)rcu_access_pointer(__sk_user_data(sk));

	lockdep_assert_held_write(&sk->sk_callback_lock);
	if ((struct smc_sock *)(data & SK_USER_DATA_PTRMASK) == smc)
		rcu_assign_sk_user_data(sk, NULL);
}

/**
 * smc_sock_free_user_data() - let others have sk_user_data
 * @smc: the socket, attached
 *
 * The socket lock is held. Does not sleep.
 */
void smc_sock_free_user_data(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	write_lock_bh(&sk->sk_callback_lock);
	free_user_data(smc);
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_sock_set_socket() - the struct socket of an attached sock has changed
 * @smc: the socket
 * @sock: the struct socket, or NULL if there is none any more
 *
 * The socket lock is held. Does not sleep.
 */
void smc_sock_set_socket(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	write_lock_bh(&sk->sk_callback_lock);
	set_queues(smc, sock);
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_sock_detach() - the sock is on its own again
 * @smc: the socket; its state tells already that it is detached
 *
 * The socket lock is held. Does not sleep. Gives back the reference of smc_sock_attach(), the
 * caller has another one or does not look at @smc any more.
 */
void smc_sock_detach(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	if (!smc->is_attached)
		return;
	smc->is_attached = false;
	smc_conn_stop_timer(&smc->conn);
	write_lock_bh(&sk->sk_callback_lock);
	free_user_data(smc);
	if (sk->sk_socket == &no_socket.socket) {
		sk_set_socket(sk, NULL);
		RCU_INIT_POINTER(sk->sk_wq, NULL);
	} else if (sk->sk_socket) {
		rcu_assign_pointer(sk->sk_wq, &sk->sk_socket->wq);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	wake_up_interruptible_all(&smc->callers);
	smc_conn_put(&smc->conn);
}

/**
 * smc_sock_leave() - the socket, or a call, does not use the connection any more
 * @smc: the socket, which was active
 *
 * The last one releases the memory. May sleep.
 */
void smc_sock_leave(struct smc_sock *smc)
{
	if (refcount_dec_and_test(&smc->users))
		smc_close_release(&smc->conn);
}

/**
 * smc_sock_exit_call() - the end of smc_sock_enter()
 * @smc: the socket
 *
 * May sleep.
 */
void smc_sock_exit_call(struct smc_sock *smc)
{
	smc_sock_leave(smc);
	smc_conn_put(&smc->conn);
}

/**
 * smc_sock_init() - create the sock that a missing struct socket shows
 *
 * Return: 0 or a negative errno.
 */
int __init smc_sock_init(void)
{
	int err = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &sk_of_no_socket);

	if (!err)
		no_socket.socket.sk = sk_of_no_socket->sk;
	return err;
}

/**
 * smc_sock_exit() - wait until the last struct smc_sock is freed
 *
 * There are no sockets with our operations any more. What is left is kept by kworkers and timers
 * that run, and by grace periods. May sleep.
 */
void smc_sock_exit(void)
{
	while (atomic_read(&smc_socks))
		msleep(20);
	sock_release(sk_of_no_socket);
}
