// SPDX-License-Identifier: GPL-2.0-only
/*
 * connect() learns of a server in this kernel.
 *
 * A packet for the own host is received on top of the task that sends it: the softirq handler runs
 * before the system call returns. So the SYN of connect() reaches the listening socket, and TCP
 * creates the child, while the task is in connect(). It learns of both. Then the messages of the
 * handshake can go through memory, and the task takes the steps of the child, for which a kworker
 * or accept() would have to be woken: see listen/client_child.c. The task watches nothing while it
 * waits.
 */

#include <linux/net.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "accept_queue.h"
#include "connect_watch.h"
#include "listener.h"
#include "sock.h"

#define TASKS_SEEN	4	/* there are several if tasks were preempted */

/**
 * struct smc_connect_watches - the tasks that watch on a processor
 * @lock: protects @list, and what its tasks have learned; interrupts are off
 * @list: of struct smc_connect_watch
 */
struct smc_connect_watches {
	spinlock_t lock;	/* see above */
	struct list_head list;
};

static DEFINE_PER_CPU(struct smc_connect_watches, all_watches);

/**
 * smc_connect_watch_begin() - learn of events on top of this task
 * @watch: of the caller, for smc_connect_watch_end()
 * @sock: the socket of the call, locked until smc_connect_watch_end()
 * @smc: its struct
 *
 * A kernel thread watches nothing, nor does a call on a socket without a file: the caller may hold
 * locks. Does not sleep.
 */
void smc_connect_watch_begin(struct smc_connect_watch *watch, const struct socket *sock,
			     struct smc_sock *smc)
{
	memset(watch, 0, sizeof(*watch));
	if (!sock->file || current->flags & PF_KTHREAD)
		return;
	watch->watches = raw_cpu_ptr(&all_watches);
	watch->task = current;
	watch->smc = smc;
	spin_lock_irq(&watch->watches->lock);
	list_add(&watch->entry, &watch->watches->list);
	spin_unlock_irq(&watch->watches->lock);
}

/* TCP is connected at this end, and creates the child next. Does not sleep. */
void smc_connect_watch_expect_child(struct smc_connect_watch *watch,
				    const struct smc_pair_key *key)
{
	if (!watch->watches)
		return;
	spin_lock_irq(&watch->watches->lock);
	watch->key = *key;
	watch->expects_child = true;
	spin_unlock_irq(&watch->watches->lock);
}

/**
 * smc_connect_watch_end() - watch no more
 * @watch: from smc_connect_watch_begin()
 *
 * Does not sleep.
 *
 * Return: the listening socket in whose queue the child is, with a reference, or NULL. A kworker
 * takes the child after one or two jiffies (smc_listen_leave_to_client()), or earlier, with others.
 */
struct smc_sock *smc_connect_watch_end(struct smc_connect_watch *watch)
{
	if (!watch->watches)
		return NULL;
	spin_lock_irq(&watch->watches->lock);
	list_del(&watch->entry);
	spin_unlock_irq(&watch->watches->lock);
	watch->watches = NULL;
	return watch->listener;
}

static struct smc_connect_watch *find_watch(struct smc_connect_watches *watches)
{
	struct smc_connect_watch *watch;
	unsigned int seen = 0;

	lockdep_assert_held(&watches->lock);
	list_for_each_entry(watch, &watches->list, entry) {
		if (watch->task == current)
			return watch;
		if (++seen == TASKS_SEEN)
			break;
	}
	return NULL;
}

/* What the task on top of which this runs learns; see tell_task() */
typedef bool (*learn_fn)(struct smc_connect_watch *watch, struct smc_sock *listener);

/* Tell the task on top of which this runs. Return: its answer; false if it does not watch */
static __always_inline bool tell_task(learn_fn learn, struct smc_sock *listener)
{
	struct smc_connect_watches *watches;
	struct smc_connect_watch *watch;
	unsigned long flags;
	bool answer = false;

	local_irq_save(flags);
	watches = this_cpu_ptr(&all_watches);
	if (!list_empty(&watches->list)) {
		spin_lock(&watches->lock);
		watch = find_watch(watches);
		answer = watch && learn(watch, listener);
		spin_unlock(&watches->lock);
	}
	local_irq_restore(flags);
	return answer;
}

static bool learn_listener(struct smc_connect_watch *watch, struct smc_sock *unused)
{
	WRITE_ONCE(watch->has_listener, true);
	return true;
}

/*
 * The task on top of which this runs may be about to create the handshake, or to free it. Without
 * one there is no offer yet, and the child may look for it too early: it is not bound.
 */
static void bind_offer(struct smc_connect_watch *watch, const struct smc_sock *listener)
{
	struct smc_handshake *hs = READ_ONCE(watch->smc->hs);

	if (!hs)
		return;
	smc_pair_bind(hs->pair, listener->queue->number);
	WRITE_ONCE(watch->is_bound, true);
}

/*
 * The key is no secret: the last child of @listener is the one for which TCP calls this, on top of
 * the task, so an older child with the same key is not taken for it. Return: whether the task takes
 * the child.
 */
static bool learn_child(struct smc_connect_watch *watch, struct smc_sock *listener)
{
	bool is_queued;

	if (!watch->expects_child || watch->is_bound || watch->listener ||
	    !smc_tcp_queue_got(listener, &watch->key, &is_queued))
		return false;
	bind_offer(watch, listener);
	if (!is_queued || !smc_conn_get_not_zero(&listener->conn))
		return false;
	watch->listener = listener;
	return true;
}

/* A SYN with the option has reached a listening socket, maybe on top of connect(). Any context. */
void smc_connect_watch_note_listener(void)
{
	tell_task(learn_listener, NULL);
}

/*
 * TCP has put a child into the queue of a listening socket, maybe on top of the connect() of its
 * client. The caller has a reference, or is in an RCU read-side critical section. Any context; does
 * not sleep.
 *
 * Return: whether that connect() takes care of the child.
 */
bool smc_connect_watch_note_child(struct smc_sock *listener)
{
	return tell_task(learn_child, listener);
}

/* Prepare the lists */
void __init smc_connect_watch_init(void)
{
	struct smc_connect_watches *watches;
	int cpu;

	for_each_possible_cpu(cpu) {
		watches = per_cpu_ptr(&all_watches, cpu);
		spin_lock_init(&watches->lock);
		INIT_LIST_HEAD(&watches->list);
	}
}
