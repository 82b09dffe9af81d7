/* SPDX-License-Identifier: GPL-2.0-only */
/* The queue of a listening socket, used by listen/ */
#ifndef _NET_SMC_SOCK_ACCEPT_QUEUE_H
#define _NET_SMC_SOCK_ACCEPT_QUEUE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "../handshake/pair.h"

#define SMC_PARKED_MAX	4096	/* children of one listener; then new connections are TCP */

/**
 * struct smc_acceptor - an accept() call that waits
 * @list: in smc_accept_queue.acceptors
 * @wait: wakes the call
 */
struct smc_acceptor {
	struct list_head list;
	wait_queue_entry_t wait;
};

/**
 * struct smc_accept_queue - children of a listening socket
 * @step_mutex: held while accept() or a kworker takes children from TCP's queue, or takes steps of
 *	children; never inside of a socket lock. A kworker does not wait for it
 * @lock: protects the lists, @ended, @nr, @serial, @parked, @deferred, @gone, @in_connect,
 *	@backlog, @is_held, and the lowered sk_max_ack_backlog. Interrupts are off, because TCP
 *	wakes smc_sock.wq with interrupts off
 * @number: of the listening socket; no other one has had it
 * @ended: the socket does not listen any more: no child may be added
 * @children: all children but those of @in_connect, in handshake, deferred or ready; each has a
 *	place in the backlog unless it is parked, as it may also be when it is ready
 * @ready: children that accept() can return, by smc_sock.serial
 * @due: children whose next step accept() takes
 * @incoming: TCP's queue may have children; also written without @lock
 * @acceptors: accept() calls that wait
 * @accept_steps: accept() takes the steps in place of a kworker. Set when an event finds an
 *	accept() call that waits; cleared by poll(), without @lock, by smc_listen_check_accept(),
 *	and when an event finds an accept() call that may be held (smc_task_may_be_held())
 * @rounds: how often accept() has taken steps until none was due; @step_mutex
 * @seen_rounds: @rounds when the timer was started, see smc_listen_check_accept()
 * @seen_child: the first child in TCP's accept queue then, only for comparison
 * @nr: number of @children
 * @serial: number of children that were ever added, or ready after TCP_DEFER_ACCEPT
 * @parked: number of children without a place in the backlog
 * @deferred: number of children that TCP_DEFER_ACCEPT keeps from accept()
 * @gone: number of those whose clients have reset them without data
 * @in_connect: number of connect() calls that take a child from TCP's queue, or have taken one and
 *	not handed it over. These children are in no list
 * @backlog: what the program has asked for in listen()
 * @is_held: no child was taken from TCP's queue because there was no place
 * @taken: key of the last child that was taken from TCP's queue; protected by the lock of that
 */
struct smc_accept_queue {
	struct mutex step_mutex;	/* see above */
	spinlock_t lock;	/* see above */
	u64 number;
	bool ended;
	struct list_head children;
	struct rb_root_cached ready;
	struct list_head due;
	bool incoming;
	struct list_head acceptors;
	bool accept_steps;
	unsigned int rounds;
	unsigned int seen_rounds;
	const void *seen_child;
	unsigned int nr;
	u32 serial;
	unsigned int parked;
	unsigned int deferred;
	unsigned int gone;
	unsigned int in_connect;
	u32 backlog;
	bool is_held;
	struct smc_pair_key taken;
};

#endif /* _NET_SMC_SOCK_ACCEPT_QUEUE_H */
