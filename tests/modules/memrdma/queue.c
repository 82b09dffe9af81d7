// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work requests, from their posting to their completion. Slots of the send queue are free again
 * when a completion of that or of a later request was polled, as with adapters: who signals too
 * seldom runs out of them.
 */

#include <linux/string.h>

#include "memrdma.h"

static struct memrdma_send *get_send(struct memrdma_qp *qp, u32 index)
{
	return &qp->sends[index & (qp->nr_sends - 1)];
}

static enum ib_wc_opcode get_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/**
 * memrdma_send_done() - complete the oldest request of the send queue
 * @qp: the queue pair, with send_lock
 * @status: how it went
 */
void memrdma_send_done(struct memrdma_qp *qp, enum ib_wc_status status)
{
	const struct memrdma_send *send = get_send(qp, qp->acked);
	struct memrdma_cqe entry = {
		.wc.wr_cqe = send->cqe,
		.wc.status = status,
		.wc.opcode = get_opcode(send->opcode),
		.wc.qp = &qp->ibqp,
		.wc.byte_len = send->bytes,
		.is_send = true,
	};

	lockdep_assert_held(&qp->send_lock);
	entry.sent_end = ++qp->acked;
	if (status != IB_WC_SUCCESS || qp->signal_all || send->flags & IB_SEND_SIGNALED)
		memrdma_complete(qp, qp->ibqp.send_cq, &entry);
}

/**
 * memrdma_flush_sends() - the queue pair is in ERR: end everything in the send queue
 * @qp: the queue pair, with send_lock
 */
void memrdma_flush_sends(struct memrdma_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);
	qp->sent = qp->head;
	while (qp->acked != qp->head)
		memrdma_send_done(qp, IB_WC_WR_FLUSH_ERR);
}

/**
 * memrdma_flush_recvs() - the queue pair is in ERR: end everything in the receive queue
 * @qp: the queue pair, with recv_lock
 */
void memrdma_flush_recvs(struct memrdma_qp *qp)
{
	struct memrdma_cqe entry = {
		.wc.status = IB_WC_WR_FLUSH_ERR,
		.wc.opcode = IB_WC_RECV,
		.wc.qp = &qp->ibqp,
	};

	lockdep_assert_held(&qp->recv_lock);
	while (qp->recv_tail != qp->recv_head) {
		entry.wc.wr_cqe = qp->recvs[qp->recv_tail++ & (qp->nr_recvs - 1)].cqe;
		memrdma_complete(qp, qp->ibqp.recv_cq, &entry);
	}
}

static int copy_inline(struct memrdma_send *send, const struct ib_send_wr *wr, u32 max)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > max - send->bytes)
			return -EINVAL;
		memcpy(send->inline_data + send->bytes, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		send->bytes += wr->sg_list[i].length;
	}
	send->num_sge = 0;
	return 0;
}

static int copy_data(struct memrdma_qp *qp, struct memrdma_send *send,
		     const struct ib_send_wr *wr)
{
	int i;

	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_send_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return copy_inline(send, wr, qp->cap.max_inline_data);
	for (i = 0; i < wr->num_sge; i++) {
		send->sge[i] = wr->sg_list[i];
		send->bytes += wr->sg_list[i].length;
	}
	send->num_sge = wr->num_sge;
	return 0;
}

static int copy_request(struct memrdma_qp *qp, struct memrdma_send *send,
			const struct ib_send_wr *wr)
{
	send->cqe = wr->wr_cqe;
	send->opcode = wr->opcode;
	send->flags = wr->send_flags;
	send->bytes = 0;
	send->num_sge = 0;
	send->imm = wr->ex.imm_data;
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		send->remote_addr = rdma_wr(wr)->remote_addr;
		send->rkey = rdma_wr(wr)->rkey;
		return copy_data(qp, send, wr);
	case IB_WR_SEND_WITH_INV:
		send->rkey = wr->ex.invalidate_rkey;
		return copy_data(qp, send, wr);
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return copy_data(qp, send, wr);
	case IB_WR_REG_MR:
		send->mr = memrdma_mr(reg_wr(wr)->mr);
		send->rkey = reg_wr(wr)->key;
		send->access = reg_wr(wr)->access;
		return 0;
	case IB_WR_LOCAL_INV:
		send->rkey = wr->ex.invalidate_rkey;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int post_one(struct memrdma_qp *qp, const struct ib_send_wr *wr)
{
	int err = 0;

	/* What is posted in ERR must complete, or the queue pair could not be drained */
	if (qp->state != IB_QPS_ERR)
		err = memrdma_verb(qp->ibqp.device, MEMRDMA_POST_SEND);
	if (err)
		return err;
	if (qp->head - READ_ONCE(qp->reclaimed) >= qp->cap.max_send_wr)
		return -ENOMEM;
	err = copy_request(qp, get_send(qp, qp->head), wr);
	if (!err)
		qp->head++;
	return err;
}

/**
 * memrdma_post_send() - struct ib_device_ops
 * @ibqp: the queue pair
 * @wr: the requests
 * @bad: the first of them that was not accepted
 *
 * Return: 0 or a negative errno.
 */
int memrdma_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad)
{
	struct memrdma_qp *qp = memrdma_qp(ibqp);
	int err = 0;

	spin_lock_bh(&qp->send_lock);
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR)
		err = -EINVAL;
	while (!err && wr) {
		err = post_one(qp, wr);
		if (!err)
			wr = wr->next;
	}
	if (err)
		*bad = wr;
	if (qp->state == IB_QPS_ERR)
		memrdma_flush_sends(qp);
	else if (qp->state == IB_QPS_RTS)
		memrdma_run(qp);
	spin_unlock_bh(&qp->send_lock);
	return err;
}

static int post_one_recv(struct memrdma_qp *qp, const struct ib_recv_wr *wr)
{
	struct memrdma_recv *recv;
	int err = 0;

	if (qp->state != IB_QPS_ERR)
		err = memrdma_verb(qp->ibqp.device, MEMRDMA_POST_RECV);
	if (err)
		return err;
	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_recv_sge)
		return -EINVAL;
	if (qp->recv_head - qp->recv_tail >= qp->cap.max_recv_wr)
		return -ENOMEM;
	recv = &qp->recvs[qp->recv_head++ & (qp->nr_recvs - 1)];
	recv->cqe = wr->wr_cqe;
	recv->num_sge = wr->num_sge;
	memcpy(recv->sge, wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	return 0;
}

/**
 * memrdma_post_recv() - struct ib_device_ops
 * @ibqp: the queue pair
 * @wr: the requests
 * @bad: the first of them that was not accepted
 *
 * Return: 0 or a negative errno.
 */
int memrdma_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct memrdma_qp *qp = memrdma_qp(ibqp);
	int err = 0;

	spin_lock_bh(&qp->recv_lock);
	if (qp->state == IB_QPS_RESET)
		err = -EINVAL;
	while (!err && wr) {
		err = post_one_recv(qp, wr);
		if (!err)
			wr = wr->next;
	}
	if (err)
		*bad = wr;
	if (qp->state == IB_QPS_ERR)
		memrdma_flush_recvs(qp);
	spin_unlock_bh(&qp->recv_lock);
	return err;
}
