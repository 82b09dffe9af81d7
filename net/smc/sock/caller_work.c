// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task runs the work that it causes.
 *
 * A packet for the own host is received on top of the task that sends it: the softirq handler runs
 * before the system call returns. Without this file, each message of a handshake would wake a
 * kworker or accept(). Therefore a task in connect() collects the sockets that have events on top
 * of it, and takes their steps itself. It collects nothing while it waits.
 *
 * A step holds locks that other tasks wait for: accept() waits for the lock of the listening
 * socket, for example. The scheduler may stop the task meanwhile, until its cgroup has quota again.
 * So a task takes only steps of sockets of its own cgroup. A task of low priority takes none: other
 * tasks of the cgroup may keep it off the processor. A user may lower the priority of a task at any
 * time, so a task takes only steps of sockets of its own user.
 */

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/net.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>

#include "caller_work.h"
#include "sock.h"

#define SOCKS_MAX	8	/* of which one system call runs the work */
#define CALLERS_SEEN	4	/* there are several if tasks were preempted */

/**
 * struct smc_collectors - the tasks that collect sockets on a processor
 * @lock: protects @list, and the sockets that its tasks have collected; interrupts are off
 * @list: of struct smc_caller_work
 */
struct smc_collectors {
	spinlock_t lock;	/* see above */
	struct list_head list;
};

static DEFINE_PER_CPU(struct smc_collectors, all_collectors);

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

/**
 * smc_caller_work_begin() - collect the sockets that have events on top of this task
 * @work: of the caller, for smc_caller_work_end()
 * @sock: the socket of the call
 *
 * A kernel thread collects nothing, nor does a call on a socket without a file, whose caller may
 * hold locks. A task of low priority only notes whether there is a listening socket. The caller may
 * hold the socket lock. Does not sleep.
 */
void smc_caller_work_begin(struct smc_caller_work *work, const struct socket *sock)
{
	unsigned long flags;

	work->collectors = NULL;
	work->has_listener = false;
	work->has_child = false;
	if (!sock->file || current->flags & PF_KTHREAD)
		return;
	work->collectors = raw_cpu_ptr(&all_collectors);
	work->task = current;
	work->left = has_low_priority(current) ? 0 : SOCKS_MAX;
	INIT_LIST_HEAD(&work->socks);
	spin_lock_irqsave(&work->collectors->lock, flags);
	list_add(&work->entry, &work->collectors->list);
	spin_unlock_irqrestore(&work->collectors->lock, flags);
}

static struct smc_caller_work *find_collector(struct smc_collectors *collectors)
{
	struct smc_caller_work *work;
	unsigned int seen = 0;

	lockdep_assert_held(&collectors->lock);
	list_for_each_entry(work, &collectors->list, entry) {
		if (work->task == current)
			return work;
		if (++seen == CALLERS_SEEN)
			break;
	}
	return NULL;
}

#if defined(CONFIG_SOCK_CGROUP_DATA) && defined(CONFIG_CGROUP_SCHED)
/* With version 1 of the cpu controller another cgroup has the quota */
static bool is_in_own_cgroup(const struct smc_sock *smc)
{
	bool is_own;

	if (!cgroup_subsys_on_dfl(cpu_cgrp_subsys))
		return false;
	rcu_read_lock();
	is_own = sock_cgroup_ptr(&smc->conn.sk->sk_cgrp_data) == task_dfl_cgroup(current);
	rcu_read_unlock();
	return is_own;
}
#else
/* Without the cpu controller no cgroup has a quota */
static bool is_in_own_cgroup(const struct smc_sock *smc)
{
	return !IS_ENABLED(CONFIG_CGROUP_SCHED);
}
#endif

/* May no other user lower the priority of this task, see sched_setscheduler(2)? */
static bool is_of_own_user(const struct smc_sock *smc)
{
	kuid_t uid = smc->conn.sk->sk_uid;

	return uid_eq(uid, task_uid(current)) && uid_eq(uid, task_euid(current));
}

/* An answer of the task on top of which this runs, about a socket; see ask_task() */
typedef bool (*answer_fn)(struct smc_caller_work *work, struct smc_sock *smc);

/* Ask the task on top of which this runs. Return: its answer; false if it does not collect */
static __always_inline bool ask_task(answer_fn answer, struct smc_sock *smc)
{
	struct smc_collectors *collectors;
	struct smc_caller_work *work;
	unsigned long flags;
	bool yes = false;

	local_irq_save(flags);
	collectors = this_cpu_ptr(&all_collectors);
	if (!list_empty(&collectors->list)) {
		spin_lock(&collectors->lock);
		work = find_collector(collectors);
		yes = work && answer(work, smc);
		spin_unlock(&collectors->lock);
	}
	local_irq_restore(flags);
	return yes;
}

static bool may_take_steps(struct smc_caller_work *work, struct smc_sock *smc)
{
	return work->left && is_of_own_user(smc) && is_in_own_cgroup(smc);
}

static bool note_listener(struct smc_caller_work *work, struct smc_sock *unused)
{
	WRITE_ONCE(work->has_listener, true);
	return true;
}

/* A socket without a reference needs no work any more */
static bool collect_sock(struct smc_caller_work *work, struct smc_sock *smc)
{
	if (READ_ONCE(smc->state) == SMC_SOCK_LISTEN)
		WRITE_ONCE(work->has_child, true);
	if (!may_take_steps(work, smc) || test_and_set_bit(0, &smc->is_collected))
		return false;
	if (smc_conn_get_not_zero(&smc->conn)) {
		work->left--;
		list_add_tail(&smc->caller_work, &work->socks);
	}
	return true;
}

/* Would smc_caller_work_add() take the socket? It may decide otherwise. Any context. */
bool smc_caller_work_takes(struct smc_sock *smc)
{
	return ask_task(may_take_steps, smc);
}

/* A SYN with the option has reached a listening socket, maybe on top of connect(). Any context. */
void smc_caller_work_note_listener(struct smc_sock *listener)
{
	ask_task(note_listener, listener);
}

/*
 * Let the task that has caused an event run the work of the socket. If that is a listening socket,
 * note that it has a child, also for a task that does not run the work. The caller has a reference,
 * or is in an RCU read-side critical section. Any context; does not sleep.
 *
 * Return: whether the task runs the work.
 */
bool smc_caller_work_add(struct smc_sock *smc)
{
	return ask_task(collect_sock, smc);
}

/* Return: a socket, with a reference, or NULL; then the task collects no more. */
static struct smc_sock *pop_collected_sock(struct smc_caller_work *work)
{
	struct smc_sock *smc;

	spin_lock_irq(&work->collectors->lock);
	smc = list_first_entry_or_null(&work->socks, struct smc_sock, caller_work);
	if (smc) {
		list_del(&smc->caller_work);
		clear_bit(0, &smc->is_collected);
		/* An event that comes later is collected again; the work sees all earlier ones */
		smp_mb__after_atomic();
	} else {
		list_del(&work->entry);
	}
	spin_unlock_irq(&work->collectors->lock);
	return smc;
}

/* Has the task collected sockets? */
bool smc_caller_work_is_pending(struct smc_caller_work *work)
{
	return work->collectors && !list_empty_careful(&work->socks);
}

/*
 * Run the work of the collected sockets, and collect no more. The caller holds no socket lock. May
 * sleep, but neither for a peer nor for a program.
 */
void smc_caller_work_end(struct smc_caller_work *work)
{
	struct smc_sock *smc;

	if (!work->collectors)
		return;
	while ((smc = pop_collected_sock(work))) {
		if (!fatal_signal_pending(current)) {
			smc_sock_run_work(smc);
			continue;
		}
		smc_sock_queue_work(smc, 0);	/* the kernel may refuse memory to a killed task */
		smc_conn_put(&smc->conn);
	}
	work->collectors = NULL;
}

/* Prepare the lists */
void __init smc_caller_work_init(void)
{
	struct smc_collectors *collectors;
	int cpu;

	for_each_possible_cpu(cpu) {
		collectors = per_cpu_ptr(&all_collectors, cpu);
		spin_lock_init(&collectors->lock);
		INIT_LIST_HEAD(&collectors->list);
	}
}
