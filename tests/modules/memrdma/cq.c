// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues. A tasklet stands for the adapter's interrupt. Completions can be held back, in
 * order for each queue pair, so that those of different queue pairs are seen in another order than
 * they were made in.
 */

#include <linux/slab.h>

#include "memrdma.h"

static void interrupt(struct tasklet_struct *tasklet)
{
	struct memrdma_cq *cq = from_tasklet(cq, tasklet, tasklet);

	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/**
 * memrdma_create_cq() - struct ib_device_ops, but for the last argument
 * @ibcq: the queue
 * @attr: its size
 *
 * Return: 0 or a negative errno.
 */
int memrdma_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr)
{
	struct memrdma_dev *dev = memrdma_dev(ibcq->device);
	struct memrdma_cq *cq = memrdma_cq(ibcq);
	int err = memrdma_verb(ibcq->device, MEMRDMA_CREATE_CQ);

	if (err)
		return err;
	if (!attr->cqe || attr->cqe > dev->limits.max_cqe || attr->flags)
		return -EINVAL;
	spin_lock_init(&cq->lock);
	cq->size = attr->cqe;
	cq->entries = kvcalloc(cq->size, sizeof(*cq->entries), GFP_KERNEL);
	if (!cq->entries)
		return -ENOMEM;
	tasklet_setup(&cq->tasklet, interrupt);
	ibcq->cqe = cq->size;
	return 0;
}

/**
 * memrdma_destroy_cq() - struct ib_device_ops
 * @ibcq: the queue
 * @udata: unused
 *
 * Return: 0.
 */
int memrdma_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct memrdma_cq *cq = memrdma_cq(ibcq);

	tasklet_kill(&cq->tasklet);
	kvfree(cq->entries);
	return 0;
}

/* The number of entries is not a power of two, so the indices begin anew when both are beyond */
static struct memrdma_cqe *get_entry(struct memrdma_cq *cq, u32 index)
{
	return &cq->entries[index < cq->size ? index : index - cq->size];
}

/**
 * memrdma_poll_cq() - struct ib_device_ops
 * @ibcq: the queue
 * @nr: completions to be taken at most
 * @wc: where they go
 *
 * Return: how many there were.
 */
int memrdma_poll_cq(struct ib_cq *ibcq, int nr, struct ib_wc *wc)
{
	struct memrdma_cq *cq = memrdma_cq(ibcq);
	const struct memrdma_cqe *entry;
	int i;

	spin_lock_bh(&cq->lock);
	for (i = 0; i < nr && cq->tail != cq->head; i++) {
		entry = get_entry(cq, cq->tail++);
		wc[i] = entry->wc;
		if (entry->is_send)
			WRITE_ONCE(memrdma_qp(entry->wc.qp)->reclaimed, entry->sent_end);
		if (cq->tail >= cq->size) {
			cq->tail -= cq->size;
			cq->head -= cq->size;
		}
	}
	spin_unlock_bh(&cq->lock);
	return i;
}

/**
 * memrdma_req_notify_cq() - struct ib_device_ops
 * @ibcq: the queue
 * @flags: what to tell of
 *
 * Return: 1 if completions are there and the caller wants to know, else 0.
 */
int memrdma_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct memrdma_cq *cq = memrdma_cq(ibcq);
	int missed;

	spin_lock_bh(&cq->lock);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		cq->armed = true;
	else
		cq->armed_solicited = true;
	missed = flags & IB_CQ_REPORT_MISSED_EVENTS && cq->head != cq->tail;
	spin_unlock_bh(&cq->lock);
	return missed;
}

static void push(struct memrdma_cq *cq, const struct memrdma_cqe *entry)
{
	bool urgent = entry->solicited || entry->wc.status != IB_WC_SUCCESS;

	spin_lock_bh(&cq->lock);
	/* Whoever made the queue has to know how much can complete before he looks */
	if (!WARN_ONCE(cq->head - cq->tail == cq->size, "memrdma: a completion queue overflows\n"))
		*get_entry(cq, cq->head++) = *entry;
	if (cq->armed || (cq->armed_solicited && urgent)) {
		cq->armed = false;
		cq->armed_solicited = false;
		/* While bottom halves are disabled, so that this wakes no thread */
		tasklet_hi_schedule(&cq->tasklet);
	}
	spin_unlock_bh(&cq->lock);
}

/* With parked_lock. Restarts the timer for what is left */
static void push_due(struct memrdma_qp *qp, ktime_t now)
{
	struct memrdma_parked *parked;

	while (qp->parked_tail != qp->parked_head) {
		parked = &qp->parked[qp->parked_tail & (qp->nr_parked - 1)];
		if (parked->due > now) {
			if (parked->due != KTIME_MAX)
				hrtimer_start(&qp->parked_timer, parked->due,
					      HRTIMER_MODE_ABS_SOFT);
			break;
		}
		qp->parked_tail++;
		push(parked->cq, &parked->entry);
	}
}

/**
 * memrdma_parked_expired() - a completion that was held back is due
 * @timer: parked_timer of the queue pair
 *
 * Return: HRTIMER_NORESTART.
 */
enum hrtimer_restart memrdma_parked_expired(struct hrtimer *timer)
{
	struct memrdma_qp *qp = container_of(timer, struct memrdma_qp, parked_timer);

	spin_lock_bh(&qp->parked_lock);
	push_due(qp, ktime_get());
	spin_unlock_bh(&qp->parked_lock);
	return HRTIMER_NORESTART;
}

/**
 * memrdma_release_parked() - show all completions that were held back
 * @qp: the queue pair
 */
void memrdma_release_parked(struct memrdma_qp *qp)
{
	spin_lock_bh(&qp->parked_lock);
	push_due(qp, KTIME_MAX);
	spin_unlock_bh(&qp->parked_lock);
}

static ktime_t get_due(struct memrdma_port *port)
{
	u32 us = READ_ONCE(port->completion_us);
	int shuffle_us = READ_ONCE(port->shuffle_us);

	if (READ_ONCE(port->hold))
		return KTIME_MAX;
	if (shuffle_us > 0)
		us += memrdma_random_below(port->dev, shuffle_us + 1);
	return us ? ktime_add_us(ktime_get(), us) : 0;
}

/* With parked_lock. Return: false if nothing holds it back */
static bool park(struct memrdma_qp *qp, struct memrdma_cq *cq, const struct memrdma_cqe *entry)
{
	bool was_empty = qp->parked_head == qp->parked_tail;
	struct memrdma_port *port = qp->port;
	struct memrdma_parked *parked;
	ktime_t due = 0;

	if (port && READ_ONCE(port->faulty))
		due = get_due(port);
	if (was_empty && !due)
		return false;
	if (WARN_ON_ONCE(qp->parked_head - qp->parked_tail == qp->nr_parked))
		return false;
	parked = &qp->parked[qp->parked_head++ & (qp->nr_parked - 1)];
	parked->entry = *entry;
	parked->cq = cq;
	parked->due = due;
	memrdma_count(port, MEMRDMA_PARKED);
	if (was_empty && due != KTIME_MAX)
		hrtimer_start(&qp->parked_timer, due, HRTIMER_MODE_ABS_SOFT);
	return true;
}

/**
 * memrdma_complete() - a work request is complete
 * @qp: the queue pair
 * @ibcq: its queue
 * @entry: the completion
 */
void memrdma_complete(struct memrdma_qp *qp, struct ib_cq *ibcq, const struct memrdma_cqe *entry)
{
	struct memrdma_cq *cq = memrdma_cq(ibcq);

	spin_lock_bh(&qp->parked_lock);
	if (!park(qp, cq, entry))
		push(cq, entry);
	spin_unlock_bh(&qp->parked_lock);
}

static void purge_queue(struct memrdma_cq *cq, const struct ib_qp *ibqp)
{
	u32 from, to;

	spin_lock_bh(&cq->lock);
	for (from = cq->tail, to = cq->tail; from != cq->head; from++)
		if (get_entry(cq, from)->wc.qp != ibqp)
			*get_entry(cq, to++) = *get_entry(cq, from);
	cq->head = to;
	spin_unlock_bh(&cq->lock);
}

/**
 * memrdma_purge() - forget all completions of a queue pair
 * @qp: the queue pair; there come no more, but for those that are requested from now on
 */
void memrdma_purge(struct memrdma_qp *qp)
{
	spin_lock_bh(&qp->parked_lock);
	qp->parked_tail = qp->parked_head;
	spin_unlock_bh(&qp->parked_lock);
	purge_queue(memrdma_cq(qp->ibqp.send_cq), &qp->ibqp);
	if (qp->ibqp.recv_cq != qp->ibqp.send_cq)
		purge_queue(memrdma_cq(qp->ibqp.recv_cq), &qp->ibqp);
}
