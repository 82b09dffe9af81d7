// SPDX-License-Identifier: GPL-2.0-only
/*
 * From one queue pair to the other. Requests are executed in order, most of them while they are
 * posted; an answer covers all requests before it, as in InfiniBand. What is lost is sent again
 * when the queue pair's time is over, and what was executed already is not executed twice.
 */

#include <linux/etherdevice.h>
#include <linux/rcupdate.h>

#include "memrdma.h"

/* Further ends of a request; the others are IB_WC_SUCCESS or an error of it */
enum {
	LOST = -1,
	NOT_READY = -2,
};

static bool is_connected(const struct memrdma_qp *from, const struct memrdma_qp *to)
{
	return to->attr.dest_qp_num == from->ibqp.qp_num && from->gid_type == to->gid_type &&
	       from->attr.sq_psn == to->attr.rq_psn &&
	       !memcmp(from->attr.ah_attr.grh.dgid.raw, to->sgid.raw, sizeof(to->sgid)) &&
	       !memcmp(to->attr.ah_attr.grh.dgid.raw, from->sgid.raw, sizeof(to->sgid));
}

/* Without a router between them, the frame has to be for that port, and both in one VLAN */
static bool is_framed(const struct memrdma_qp *from, const struct memrdma_qp *to)
{
	if (ether_addr_equal_unaligned(from->attr.ah_attr.roce.dmac, to->smac))
		return from->vlan == to->vlan;
	return from->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
}

static bool is_joined(const struct memrdma_port *one, const struct memrdma_port *other)
{
	return READ_ONCE(one->up) && READ_ONCE(other->up) && !READ_ONCE(one->dev->is_dead) &&
	       !READ_ONCE(other->dev->is_dead) && READ_ONCE(one->wire) == READ_ONCE(other->wire);
}

/* With recv_lock of @to */
static bool is_reached(const struct memrdma_qp *from, const struct memrdma_qp *to)
{
	return (to->state == IB_QPS_RTR || to->state == IB_QPS_RTS) && !to->refuses &&
	       is_joined(from->port, to->port) && is_connected(from, to) && is_framed(from, to);
}

static bool is_request_lost(struct memrdma_port *port)
{
	if (!READ_ONCE(port->faulty))
		return false;
	if (!memrdma_fault_due(port, &port->lose_requests) && !memrdma_fault_random(port))
		return false;
	memrdma_count(port, MEMRDMA_LOST_REQUESTS);
	return true;
}

static bool is_ack_lost(struct memrdma_port *port)
{
	if (!READ_ONCE(port->faulty))
		return false;
	if (!memrdma_fault_due(port, &port->lose_acks) && !memrdma_fault_random(port))
		return false;
	memrdma_count(port, MEMRDMA_LOST_ACKS);
	return true;
}

/* The peer did something wrong, as seen by this end: that is the end of this queue pair as well */
static void refuse(struct memrdma_qp *to, enum ib_event_type event)
{
	lockdep_assert_held(&to->recv_lock);
	to->refuses = true;
	to->event = event;
	queue_work(system_long_wq, &to->work);
}

static bool is_local(const struct memrdma_send *send)
{
	return send->opcode == IB_WR_REG_MR || send->opcode == IB_WR_LOCAL_INV;
}

static int execute_local(struct memrdma_qp *qp, const struct memrdma_send *send)
{
	bool right = send->opcode == IB_WR_REG_MR ? memrdma_mr_register(qp, send) :
						    memrdma_mr_invalidate(qp->ibqp.pd, send->rkey);

	return right ? IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR;
}

static void complete_recv(struct memrdma_qp *to, struct memrdma_recv *recv,
			  const struct memrdma_send *send, enum ib_wc_status status)
{
	struct memrdma_cqe entry = {
		.wc.wr_cqe = recv->cqe,
		.wc.status = status,
		.wc.opcode = IB_WC_RECV,
		.wc.qp = &to->ibqp,
		.wc.byte_len = send->bytes,
		.wc.src_qp = to->attr.dest_qp_num,
		.wc.port_num = to->port->number,
		.solicited = send->flags & IB_SEND_SOLICITED,
	};

	if (send->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		entry.wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
	if (send->opcode == IB_WR_SEND_WITH_IMM || send->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		entry.wc.wc_flags = IB_WC_WITH_IMM;
		entry.wc.ex.imm_data = send->imm;
	}
	if (send->opcode == IB_WR_SEND_WITH_INV) {
		entry.wc.wc_flags = IB_WC_WITH_INVALIDATE;
		entry.wc.ex.invalidate_rkey = send->rkey;
	}
	to->recv_tail++;
	memrdma_complete(to, to->ibqp.recv_cq, &entry);
}

/* Where the next byte of a message goes */
struct place {
	const struct memrdma_qp *qp;
	const struct memrdma_recv *recv;
	int sge;
	u32 offset;
};

/* There is room for all of it */
static void scatter(struct place *place, const void *from, u32 bytes)
{
	while (bytes) {
		const struct ib_sge *sge = &place->recv->sge[place->sge];
		u32 run = min(bytes, sge->length - place->offset);

		memcpy(memrdma_pointer(place->qp->dev, sge->addr + place->offset), from, run);
		from += run;
		bytes -= run;
		place->offset += run;
		if (place->offset == sge->length) {
			place->sge++;
			place->offset = 0;
		}
	}
}

/* The memory that a request names; what is inline was copied */
static bool has_right_keys(const struct ib_sge *sge, int num_sge)
{
	int i;

	for (i = 0; i < num_sge; i++)
		if (sge[i].lkey != MEMRDMA_LOCAL_KEY)
			return false;
	return true;
}

static u32 get_room(const struct memrdma_recv *recv)
{
	u32 bytes = 0;
	int i;

	for (i = 0; i < recv->num_sge; i++)
		bytes += recv->sge[i].length;
	return bytes;
}

static void scatter_all(struct memrdma_qp *from, struct memrdma_qp *to,
			const struct memrdma_recv *recv, const struct memrdma_send *send)
{
	struct place place = { .qp = to, .recv = recv };
	int i;

	if (!send->num_sge)
		scatter(&place, send->inline_data, send->bytes);
	for (i = 0; i < send->num_sge; i++)
		scatter(&place, memrdma_pointer(from->dev, send->sge[i].addr),
			send->sge[i].length);
}

static int deliver(struct memrdma_qp *from, struct memrdma_qp *to,
		   const struct memrdma_send *send)
{
	struct memrdma_recv *recv = &to->recvs[to->recv_tail & (to->nr_recvs - 1)];

	if (send->opcode == IB_WR_SEND_WITH_INV &&
	    !memrdma_mr_invalidate(to->ibqp.pd, send->rkey)) {
		refuse(to, IB_EVENT_QP_ACCESS_ERR);
		return IB_WC_REM_ACCESS_ERR;
	}
	if (!has_right_keys(recv->sge, recv->num_sge)) {
		complete_recv(to, recv, send, IB_WC_LOC_PROT_ERR);
		refuse(to, IB_EVENT_QP_FATAL);
		return IB_WC_REM_OP_ERR;
	}
	if (get_room(recv) < send->bytes) {
		complete_recv(to, recv, send, IB_WC_LOC_LEN_ERR);
		refuse(to, IB_EVENT_QP_REQ_ERR);
		return IB_WC_REM_INV_REQ_ERR;
	}
	scatter_all(from, to, recv, send);
	complete_recv(to, recv, send, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

static int write_memory(struct memrdma_qp *from, struct memrdma_qp *to,
			const struct memrdma_send *send)
{
	u64 addr = send->remote_addr;
	struct memrdma_mr *mr;
	int i;

	mr = memrdma_mr_lock(to->ibqp.pd, send->rkey, addr, send->bytes);
	if (!mr || !(to->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE)) {
		if (mr)
			memrdma_mr_unlock(mr);
		refuse(to, IB_EVENT_QP_ACCESS_ERR);
		return IB_WC_REM_ACCESS_ERR;
	}
	if (!send->num_sge)
		memrdma_mr_write(mr, addr, send->inline_data, send->bytes);
	for (i = 0; i < send->num_sge; i++) {
		memrdma_mr_write(mr, addr, memrdma_pointer(from->dev, send->sge[i].addr),
				 send->sge[i].length);
		addr += send->sge[i].length;
	}
	memrdma_mr_unlock(mr);
	return IB_WC_SUCCESS;
}

/* Both ends have to cut messages into packets of one size */
static bool has_right_packets(const struct memrdma_qp *from, const struct memrdma_qp *to, u32 bytes)
{
	enum ib_mtu mtu = min(from->attr.path_mtu, to->attr.path_mtu);

	return from->attr.path_mtu == to->attr.path_mtu || bytes <= ib_mtu_enum_to_int(mtu);
}

/* With recv_lock of @to */
static int execute_there(struct memrdma_qp *from, struct memrdma_qp *to,
			 const struct memrdma_send *send)
{
	bool writes = send->opcode == IB_WR_RDMA_WRITE ||
		      send->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	int status = IB_WC_SUCCESS;

	if (!is_reached(from, to))
		return LOST;
	if (send->opcode != IB_WR_RDMA_WRITE && to->recv_tail == to->recv_head)
		return NOT_READY;
	if (!has_right_packets(from, to, send->bytes)) {
		refuse(to, IB_EVENT_QP_REQ_ERR);
		return IB_WC_REM_INV_REQ_ERR;
	}
	if (writes && send->bytes)
		status = write_memory(from, to, send);
	if (!writes)
		return deliver(from, to, send);
	if (!status && send->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		complete_recv(to, &to->recvs[to->recv_tail & (to->nr_recvs - 1)], send, status);
	return status;
}

static bool is_failing(struct memrdma_qp *qp)
{
	struct memrdma_port *port = qp->port;

	return READ_ONCE(port->faulty) && memrdma_fault_due(port, &port->fail_wr);
}

static int execute(struct memrdma_qp *from, const struct memrdma_send *send)
{
	struct memrdma_qp *to;
	int status = LOST;

	if (is_failing(from))
		return READ_ONCE(from->port->fail_status);
	if (is_local(send))
		return execute_local(from, send);
	if (!has_right_keys(send->sge, send->num_sge))
		return IB_WC_LOC_PROT_ERR;
	if (is_request_lost(from->port))
		return LOST;
	rcu_read_lock();
	to = memrdma_qp_find(from->attr.dest_qp_num);
	if (to) {
		spin_lock_bh(&to->recv_lock);
		status = execute_there(from, to, send);
		spin_unlock_bh(&to->recv_lock);
	}
	rcu_read_unlock();
	if (!status)
		memrdma_count(from->port, MEMRDMA_REQUESTS);
	return status;
}

/* Does the peer answer again to what it has done already? */
static bool is_answering(struct memrdma_qp *from)
{
	struct memrdma_qp *to;
	bool answers = false;

	if (is_request_lost(from->port))
		return false;
	rcu_read_lock();
	to = memrdma_qp_find(from->attr.dest_qp_num);
	if (to) {
		spin_lock_bh(&to->recv_lock);
		answers = is_reached(from, to);
		spin_unlock_bh(&to->recv_lock);
	}
	rcu_read_unlock();
	return answers && !is_ack_lost(from->port);
}

/* In units of 10 us; the InfiniBand specification, table 45 */
static const u32 rnr_times[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152
};

static u32 get_rnr_time(struct memrdma_qp *from)
{
	struct memrdma_qp *to;
	u8 timer = 0;

	rcu_read_lock();
	to = memrdma_qp_find(from->attr.dest_qp_num);
	if (to)
		timer = READ_ONCE(to->attr.min_rnr_timer);
	rcu_read_unlock();
	return rnr_times[timer & 31];
}

static void wait(struct memrdma_qp *qp, enum memrdma_wait what)
{
	u64 ns;

	switch (what) {
	case MEMRDMA_WAIT_ACK:
		ns = 4096ull << qp->attr.timeout;
		break;
	case MEMRDMA_WAIT_RNR:
		ns = get_rnr_time(qp) * 10 * NSEC_PER_USEC;
		break;
	default:
		ns = READ_ONCE(qp->port->delay_us) * (u64)NSEC_PER_USEC;
	}
	qp->waits_for = what;
	/* 0: without end */
	if (what != MEMRDMA_WAIT_ACK || qp->attr.timeout)
		hrtimer_start(&qp->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/* Acknowledged is everything before */
static void acknowledge(struct memrdma_qp *qp)
{
	while (qp->acked != qp->sent)
		memrdma_send_done(qp, IB_WC_SUCCESS);
	qp->retries = 0;
	qp->rnr_retries = 0;
	if (qp->waits_for == MEMRDMA_WAIT_ACK)
		qp->waits_for = MEMRDMA_WAIT_NOTHING;
}

/* The oldest request that was not executed fails; those before it were, and this end knows */
static void fail(struct memrdma_qp *qp, enum ib_wc_status status)
{
	if (status != IB_WC_RETRY_EXC_ERR)
		while (qp->acked != qp->sent)
			memrdma_send_done(qp, IB_WC_SUCCESS);
	memrdma_count(qp->port, MEMRDMA_FAILED);
	memrdma_send_done(qp, status);
	qp->waits_for = MEMRDMA_WAIT_NOTHING;
	memrdma_qp_fail(qp);
}

/* Return: whether to go on with the next one */
static bool take_result(struct memrdma_qp *qp, bool local, int status)
{
	bool acked;

	switch (status) {
	case IB_WC_SUCCESS:
		acked = local ? qp->acked == qp->sent : !is_ack_lost(qp->port);
		qp->sent++;
		if (acked)
			acknowledge(qp);
		else if (qp->waits_for == MEMRDMA_WAIT_NOTHING)
			wait(qp, MEMRDMA_WAIT_ACK);
		return true;
	case LOST:
		qp->stalled = true;
		if (qp->waits_for != MEMRDMA_WAIT_ACK)
			wait(qp, MEMRDMA_WAIT_ACK);
		return false;
	case NOT_READY:
		/* It got all before it, and its answer confirms that */
		while (qp->acked != qp->sent)
			memrdma_send_done(qp, IB_WC_SUCCESS);
		memrdma_count(qp->port, MEMRDMA_RNR);
		qp->stalled = true;
		wait(qp, MEMRDMA_WAIT_RNR);
		return false;
	default:
		fail(qp, status);
		return false;
	}
}

static void run_now(struct memrdma_qp *qp)
{
	while (!qp->stalled && qp->state == IB_QPS_RTS && qp->sent != qp->head) {
		const struct memrdma_send *send = &qp->sends[qp->sent & (qp->nr_sends - 1)];

		if (!take_result(qp, is_local(send), execute(qp, send)))
			break;
	}
}

/**
 * memrdma_run() - execute what was posted
 * @qp: the queue pair, in RTS, with send_lock
 */
void memrdma_run(struct memrdma_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);
	if (!READ_ONCE(qp->port->faulty) || !READ_ONCE(qp->port->delay_us)) {
		run_now(qp);
		return;
	}
	if (!qp->stalled && qp->sent != qp->head && qp->waits_for == MEMRDMA_WAIT_NOTHING) {
		qp->stalled = true;
		wait(qp, MEMRDMA_WAIT_DELAY);
	}
}

/* Send again. Return: whether the queue pair is still alive */
static bool retry(struct memrdma_qp *qp)
{
	if (qp->retries++ >= qp->attr.retry_cnt) {
		fail(qp, IB_WC_RETRY_EXC_ERR);
		return false;
	}
	memrdma_count(qp->port, MEMRDMA_RETRIES);
	if (qp->acked == qp->sent)
		return true;
	if (is_answering(qp)) {
		acknowledge(qp);
		return true;
	}
	wait(qp, MEMRDMA_WAIT_ACK);
	return false;
}

static bool retry_rnr(struct memrdma_qp *qp)
{
	if (qp->attr.rnr_retry == 7 || qp->rnr_retries++ < qp->attr.rnr_retry)
		return true;
	fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
	return false;
}

static void run_later(struct memrdma_qp *qp)
{
	enum memrdma_wait what = qp->waits_for;

	qp->waits_for = MEMRDMA_WAIT_NOTHING;
	if (qp->state != IB_QPS_RTS || what == MEMRDMA_WAIT_NOTHING)
		return;
	if (what == MEMRDMA_WAIT_ACK && !retry(qp))
		return;
	if (what == MEMRDMA_WAIT_RNR && !retry_rnr(qp))
		return;
	qp->stalled = false;
	run_now(qp);
}

/**
 * memrdma_timer_expired() - whatever the send queue waited for is due
 * @timer: the timer of the queue pair
 *
 * Return: HRTIMER_NORESTART.
 */
enum hrtimer_restart memrdma_timer_expired(struct hrtimer *timer)
{
	struct memrdma_qp *qp = container_of(timer, struct memrdma_qp, timer);

	spin_lock_bh(&qp->send_lock);
	/* Started again while it waited for the lock */
	if (!hrtimer_is_queued(timer))
		run_later(qp);
	spin_unlock_bh(&qp->send_lock);
	return HRTIMER_NORESTART;
}
