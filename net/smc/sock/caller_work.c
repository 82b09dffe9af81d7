// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task runs the work that it causes.
 *
 * A packet for the own host is received on top of the task that sends it: the softirq handler runs
 * before the system call returns. A kworker, or accept(), would have to be woken for each message
 * of a handshake. While a task is inside of connect(), it collects the sockets that have events on
 * top of it, and takes their steps itself. It collects nothing while it waits for something.
 *
 * A step holds locks of the socket that it is for: that of a listening socket, for example, which
 * accept() waits for. The scheduler may stop the task meanwhile, for as long as the quota of its
 * cgroup says. So a task takes the steps of sockets of its own cgroup only. A task of low priority
 * takes none: other tasks of the cgroup may keep it off the processor.
 */

#include <linux/cgroup.h>
#include <linux/net.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>

#include "caller_work.h"
#include "sock.h"

#define SOCKS_MAX	8	/* whose work one system call runs */
#define CALLERS_SEEN	4	/* there is more than one if tasks were preempted */

/**
 * struct smc_collectors - tasks that have begun on a processor
 * @lock: protects the list, and what is collected; interrupts are off
 * @list: of struct smc_caller_work
 */
struct smc_collectors {
	spinlock_t lock;	/* see above */
	struct list_head list;
};

static DEFINE_PER_CPU(struct smc_collectors, all_collectors);

static bool has_low_priority(const struct task_struct *task)
{
	return task->policy == SCHED_IDLE || task_nice(task) > 0;
}

/**
 * smc_caller_work_begin() - a system call collects events from now on
 * @work: of the caller, for smc_caller_work_end(); nothing is collected for a kernel thread, nor on
 *	a socket without a file, whose user may hold locks, nor for a task of low priority
 * @sock: the socket of the call
 *
 * The caller may hold locks. Does not sleep.
 */
void smc_caller_work_begin(struct smc_caller_work *work, const struct socket *sock)
{
	unsigned long flags;

	work->collectors = NULL;
	if (!sock->file || current->flags & PF_KTHREAD || has_low_priority(current))
		return;
	work->collectors = raw_cpu_ptr(&all_collectors);
	work->task = current;
	work->left = SOCKS_MAX;
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
			return work->left ? work : NULL;
		if (++seen == CALLERS_SEEN)
			break;
	}
	return NULL;
}

#if defined(CONFIG_SOCK_CGROUP_DATA) && defined(CONFIG_CGROUP_SCHED)
/* With version 1 of the controller the cgroup that has the quota is another one */
static bool is_of_own_cgroup(const struct smc_sock *smc)
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
static bool is_of_own_cgroup(const struct smc_sock *smc)
{
	return !IS_ENABLED(CONFIG_CGROUPS);
}
#endif

/**
 * smc_caller_work_takes() - would smc_caller_work_add() take a socket?
 * @smc: it
 *
 * Any context.
 *
 * Return: whether. smc_caller_work_add() may decide otherwise.
 */
bool smc_caller_work_takes(const struct smc_sock *smc)
{
	struct smc_collectors *collectors;
	unsigned long flags;
	bool takes = false;

	local_irq_save(flags);
	collectors = this_cpu_ptr(&all_collectors);
	if (!list_empty(&collectors->list)) {
		spin_lock(&collectors->lock);
		takes = find_collector(collectors) && is_of_own_cgroup(smc);
		spin_unlock(&collectors->lock);
	}
	local_irq_restore(flags);
	return takes;
}

static void collect_sock(struct smc_caller_work *work, struct smc_sock *smc)
{
	work->left--;
	list_add_tail(&smc->caller_work, &work->socks);
}

/**
 * smc_caller_work_add() - a socket has work to do: let the task run it that has caused it
 * @smc: the socket; the caller has a reference, or is in an RCU read-side critical section
 *
 * Any context; does not sleep.
 *
 * Return: whether the task does.
 */
bool smc_caller_work_add(struct smc_sock *smc)
{
	struct smc_caller_work *work = NULL;
	struct smc_collectors *collectors;
	unsigned long flags;

	local_irq_save(flags);
	collectors = this_cpu_ptr(&all_collectors);
	if (!list_empty(&collectors->list)) {
		spin_lock(&collectors->lock);
		work = find_collector(collectors);
		if (work && (!is_of_own_cgroup(smc) || test_and_set_bit(0, &smc->is_collected)))
			work = NULL;
		/* One without a reference has no work any more */
		if (work && smc_conn_get_not_zero(&smc->conn))
			collect_sock(work, smc);
		spin_unlock(&collectors->lock);
	}
	local_irq_restore(flags);
	return work;
}

/* Return: with a reference */
static struct smc_sock *pop_sock(struct smc_caller_work *work)
{
	struct smc_sock *smc;

	spin_lock_irq(&work->collectors->lock);
	smc = list_first_entry_or_null(&work->socks, struct smc_sock, caller_work);
	if (smc) {
		list_del(&smc->caller_work);
		clear_bit(0, &smc->is_collected);
		/* An event that comes later is collected again; the work sees all others */
		smp_mb__after_atomic();
	}
	spin_unlock_irq(&work->collectors->lock);
	return smc;
}

/**
 * smc_caller_work_pending() - is there work to run?
 * @work: as begun
 *
 * Return: whether.
 */
bool smc_caller_work_pending(struct smc_caller_work *work)
{
	return work->collectors && !list_empty_careful(&work->socks);
}

static void run_work(struct smc_caller_work *work)
{
	struct smc_sock *smc;

	while ((smc = pop_sock(work))) {
		if (!fatal_signal_pending(current)) {
			smc_sock_run_work(smc);
			continue;
		}
		smc_sock_queue_work(smc, 0);	/* the kernel may refuse memory to a killed task */
		smc_conn_put(&smc->conn);
	}
}

static bool remove_if_empty(struct smc_caller_work *work)
{
	bool is_empty;

	spin_lock_irq(&work->collectors->lock);
	is_empty = list_empty(&work->socks);
	if (is_empty)
		list_del(&work->entry);
	spin_unlock_irq(&work->collectors->lock);
	return is_empty;
}

/**
 * smc_caller_work_end() - run what is left, and collect no more
 * @work: as begun; the caller holds no socket lock
 *
 * May sleep, but neither for a peer nor for a program.
 */
void smc_caller_work_end(struct smc_caller_work *work)
{
	if (!work->collectors)
		return;
	do {
		run_work(work);
	} while (!remove_if_empty(work));
	work->collectors = NULL;
}

/** smc_caller_work_init() - prepare the lists */
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
