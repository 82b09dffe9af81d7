// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs, of type RC only: creation, states, destruction. */

#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_cache.h>

#include "memrdma.h"

static DEFINE_XARRAY_ALLOC1(queue_pairs);
static u32 next_number;

/**
 * memrdma_qp_find() - find a queue pair
 * @number: its number
 *
 * Caller holds the RCU read lock.
 *
 * Return: the queue pair or NULL.
 */
struct memrdma_qp *memrdma_qp_find(u32 number)
{
	return xa_load(&queue_pairs, number);
}

/**
 * memrdma_qp_for_each() - look at all queue pairs
 * @look: called for each, with @context; does not sleep
 * @context: for @look
 */
void memrdma_qp_for_each(void (*look)(struct memrdma_qp *qp, void *context), void *context)
{
	struct memrdma_qp *qp;
	unsigned long number;

	rcu_read_lock();
	xa_for_each(&queue_pairs, number, qp)
		look(qp, context);
	rcu_read_unlock();
}

static void set_error(struct memrdma_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);
	lockdep_assert_held(&qp->recv_lock);
	if (qp->state == IB_QPS_RESET)
		return;
	qp->state = IB_QPS_ERR;
	memrdma_flush_sends(qp);
	memrdma_flush_recvs(qp);
}

/**
 * memrdma_qp_fail() - a request failed: take the queue pair to ERR
 * @qp: the queue pair, with send_lock
 */
void memrdma_qp_fail(struct memrdma_qp *qp)
{
	spin_lock(&qp->recv_lock);
	set_error(qp);
	spin_unlock(&qp->recv_lock);
}

/* The peer did something wrong */
static void fail_work(struct work_struct *work)
{
	struct memrdma_qp *qp = container_of(work, struct memrdma_qp, work);
	struct ib_event event = {
		.device		= qp->ibqp.device,
		.element.qp	= &qp->ibqp,
		.event		= READ_ONCE(qp->event),
	};

	spin_lock_bh(&qp->send_lock);
	memrdma_qp_fail(qp);
	spin_unlock_bh(&qp->send_lock);
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

static bool is_possible(const struct memrdma_limits *limits, const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	return init->qp_type == IB_QPT_RC && !init->srq && !init->create_flags &&
	       cap->max_send_wr && cap->max_send_wr <= limits->max_qp_wr &&
	       cap->max_recv_wr && cap->max_recv_wr <= limits->max_qp_wr &&
	       cap->max_send_sge <= limits->max_send_sge &&
	       cap->max_recv_sge <= limits->max_recv_sge &&
	       cap->max_inline_data <= limits->max_inline;
}

static int create_queues(struct memrdma_qp *qp)
{
	qp->nr_sends = roundup_pow_of_two(qp->cap.max_send_wr);
	qp->nr_recvs = roundup_pow_of_two(qp->cap.max_recv_wr);
	qp->nr_parked = roundup_pow_of_two(qp->nr_sends + qp->nr_recvs);
	qp->sends = kvcalloc(qp->nr_sends, sizeof(*qp->sends), GFP_KERNEL);
	qp->recvs = kvcalloc(qp->nr_recvs, sizeof(*qp->recvs), GFP_KERNEL);
	qp->parked = kvcalloc(qp->nr_parked, sizeof(*qp->parked), GFP_KERNEL);
	return qp->sends && qp->recvs && qp->parked ? 0 : -ENOMEM;
}

static void destroy_queues(struct memrdma_qp *qp)
{
	kvfree(qp->sends);
	kvfree(qp->recvs);
	kvfree(qp->parked);
	atomic_dec(&qp->dev->nr_qps);
}

static void init_fields(struct memrdma_qp *qp, const struct ib_qp_init_attr *init)
{
	qp->dev = memrdma_dev(qp->ibqp.device);
	qp->state = IB_QPS_RESET;
	qp->cap = init->cap;
	qp->signal_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	spin_lock_init(&qp->send_lock);
	spin_lock_init(&qp->recv_lock);
	spin_lock_init(&qp->parked_lock);
	INIT_WORK(&qp->work, fail_work);
	hrtimer_init(&qp->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	qp->timer.function = memrdma_timer_expired;
	hrtimer_init(&qp->parked_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->parked_timer.function = memrdma_parked_expired;
}

/**
 * memrdma_create_qp() - struct ib_device_ops
 * @ibqp: the queue pair
 * @init: its queues
 * @udata: unused
 *
 * Return: 0 or a negative errno.
 */
int memrdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct memrdma_dev *dev = memrdma_dev(ibqp->device);
	struct memrdma_qp *qp = memrdma_qp(ibqp);
	int err = memrdma_verb(ibqp->device, MEMRDMA_CREATE_QP);
	u32 number;

	if (err)
		return err;
	if (!is_possible(&dev->limits, init))
		return -EINVAL;
	init_fields(qp, init);
	err = -ENOMEM;
	if (atomic_inc_return(&dev->nr_qps) <= dev->limits.max_qp)
		err = create_queues(qp);
	if (err)
		goto err_queues;
	/* 0 and 1 have a meaning of their own in InfiniBand */
	err = xa_alloc_cyclic(&queue_pairs, &number, qp, XA_LIMIT(2, 0xffffff), &next_number,
			      GFP_KERNEL);
	if (err < 0)
		goto err_queues;
	ibqp->qp_num = number;
	return 0;

err_queues:
	destroy_queues(qp);
	return err;
}

static void set_reset(struct memrdma_qp *qp)
{
	qp->head = 0;
	qp->sent = 0;
	qp->acked = 0;
	qp->reclaimed = 0;
	qp->stalled = false;
	qp->waits_for = MEMRDMA_WAIT_NOTHING;
	qp->retries = 0;
	qp->rnr_retries = 0;
	qp->recv_head = 0;
	qp->recv_tail = 0;
	qp->refuses = false;
	memrdma_purge(qp);
}

/* The entry of the GID is there only as long as the call lasts */
static int set_path(struct memrdma_qp *qp, const struct ib_qp_attr *attr)
{
	const struct ib_gid_attr *source = attr->ah_attr.grh.sgid_attr;
	int err;

	if (attr->ah_attr.type != RDMA_AH_ATTR_TYPE_ROCE || !source)
		return -EINVAL;
	err = rdma_read_gid_l2_fields(source, &qp->vlan, qp->smac);
	if (err)
		return err;
	qp->sgid = source->gid;
	qp->gid_type = source->gid_type;
	qp->attr.ah_attr = attr->ah_attr;
	qp->attr.ah_attr.grh.sgid_attr = NULL;
	return 0;
}

static int set_port(struct memrdma_qp *qp, const struct ib_qp_attr *attr)
{
	if (!attr->port_num || attr->port_num > qp->dev->nr_ports)
		return -EINVAL;
	qp->port = &qp->dev->ports[attr->port_num - 1];
	qp->attr.port_num = attr->port_num;
	return 0;
}

/* What has a number; @mask was checked */
static void set_values(struct ib_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = from->rq_psn & 0xffffff;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = from->sq_psn & 0xffffff;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = from->timeout & 31;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
}

static int set_attributes(struct memrdma_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : qp->state;
	int err = 0;

	lockdep_assert_held(&qp->recv_lock);
	if (!ib_modify_qp_is_ok(qp->state, next, IB_QPT_RC, mask))
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU && ib_mtu_enum_to_int(attr->path_mtu) > qp->dev->limits.max_mtu)
		return -EINVAL;
	if (mask & IB_QP_PORT)
		err = set_port(qp, attr);
	if (!err && mask & IB_QP_AV)
		err = set_path(qp, attr);
	if (err)
		return err;
	set_values(&qp->attr, attr, mask);
	if (next == IB_QPS_ERR) {
		set_error(qp);
		return 0;
	}
	qp->state = next;
	if (next == IB_QPS_RESET)
		set_reset(qp);
	return 0;
}

/**
 * memrdma_modify_qp() - struct ib_device_ops
 * @ibqp: the queue pair
 * @attr: what to set
 * @mask: which of that
 * @udata: unused
 *
 * Return: 0 or a negative errno.
 */
int memrdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_udata *udata)
{
	struct memrdma_qp *qp = memrdma_qp(ibqp);
	int err = 0;

	/* A queue pair can always be taken to ERR, or it could not be drained */
	if (!(mask & IB_QP_STATE) || attr->qp_state != IB_QPS_ERR)
		err = memrdma_verb(ibqp->device, MEMRDMA_MODIFY_QP);
	if (err)
		return err;
	spin_lock_bh(&qp->send_lock);
	spin_lock(&qp->recv_lock);
	err = set_attributes(qp, attr, mask);
	spin_unlock(&qp->recv_lock);
	spin_unlock_bh(&qp->send_lock);
	return err;
}

/**
 * memrdma_query_qp() - struct ib_device_ops
 * @ibqp: the queue pair
 * @attr: what was set
 * @mask: unused
 * @init: what it was created with
 *
 * Return: 0.
 */
int memrdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_qp_init_attr *init)
{
	struct memrdma_qp *qp = memrdma_qp(ibqp);

	spin_lock_bh(&qp->recv_lock);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	spin_unlock_bh(&qp->recv_lock);
	attr->cap = qp->cap;
	*init = (struct ib_qp_init_attr){
		.event_handler	= ibqp->event_handler,
		.qp_context	= ibqp->qp_context,
		.send_cq	= ibqp->send_cq,
		.recv_cq	= ibqp->recv_cq,
		.cap		= qp->cap,
		.sq_sig_type	= qp->signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	return 0;
}

/**
 * memrdma_destroy_qp() - struct ib_device_ops
 * @ibqp: the queue pair
 * @udata: unused
 *
 * Return: 0.
 */
int memrdma_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct memrdma_qp *qp = memrdma_qp(ibqp);

	xa_erase(&queue_pairs, ibqp->qp_num);
	spin_lock_bh(&qp->send_lock);
	spin_lock(&qp->recv_lock);
	qp->state = IB_QPS_RESET;
	spin_unlock(&qp->recv_lock);
	spin_unlock_bh(&qp->send_lock);
	/* A peer that found it by its number has looked at the state, or is looking */
	synchronize_rcu();
	cancel_work_sync(&qp->work);
	hrtimer_cancel(&qp->timer);
	memrdma_purge(qp);
	hrtimer_cancel(&qp->parked_timer);
	destroy_queues(qp);
	return 0;
}

/** memrdma_qp_exit() - no queue pair is left */
void memrdma_qp_exit(void)
{
	WARN_ON(!xa_empty(&queue_pairs));
}
