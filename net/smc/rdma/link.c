// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a link: INIT when this end describes it to the peer, RTR when the peer's end is
 * known, RTS before this end sends CONFIRM LINK.
 *
 * A link ends in two steps. Any context takes it down; from then on it sends nothing. The group's
 * work clears it: it waits until the device has released all requests, and frees the resources.
 */

#include <linux/random.h>

#include "../object.h"
#include "../trace.h"
#include "device.h"
#include "group.h"
#include "inspect.h"

/*
 * An adapter may wait up to four times ACK_TIMEOUT for each of the seven tries, 3.8 s in all. That
 * is less than the 5 s that the peer has at first contact, so a path that does not work is detected
 * before that deadline.
 */
#define RETRIES		6	/* rxe takes retry_cnt 7 as infinite; only rnr_retry 7 is */
#define RNR_RETRIES	7	/* infinite: a receiver that is not ready still works */
#define ACK_TIMEOUT	15	/* 4.096 us << 15 = 0.13 s */
#define RNR_TIMER	5	/* 0.06 ms */

static atomic_t next_user_id;

/**
 * smcr_link_init() - initialize an unused link
 * @link: part of @rg
 * @rg: its group
 */
void smcr_link_init(struct smcr_link *link, struct smcr_group *rg)
{
	link->group = rg;
	spin_lock_init(&link->send_lock);
	spin_lock_init(&link->recv_lock);
	INIT_LIST_HEAD(&link->device_node);
	INIT_LIST_HEAD(&link->waiting);
	init_waitqueue_head(&link->in_flight);
}

static void trace_down(const struct smcr_link *link, u32 reason, void *location)
{
	struct smc_link_info info;

	if (!trace_smcr_link_down_enabled())
		return;
	smcr_link_info(link, &info);
	trace_smcr_link_down(link, link->group, link->group->net_cookie, info.state, info.device,
			     location, info.number, info.user_id, reason);
}

static void take_down(struct smcr_link *link, u32 reason, void *location)
{
	lockdep_assert_held(&link->send_lock);
	if (link->state != SMCR_LINK_FORMING && link->state != SMCR_LINK_ACTIVE)
		return;
	trace_down(link, reason, location);
	WRITE_ONCE(link->state, SMCR_LINK_DOWN);
	link->reason = reason;
	smcr_group_kick(link->group);
	wake_up(&link->in_flight);
}

/**
 * smcr_link_down_locked() - smcr_link_down(); the caller holds @send_lock
 * @link: the link
 * @reason: enum smc_link_reason
 */
void smcr_link_down_locked(struct smcr_link *link, u32 reason)
{
	take_down(link, reason, __builtin_return_address(0));
}

/**
 * smcr_link_down() - take down a link that has failed, or must end
 * @link: the link; nothing happens unless it is forming or active
 * @reason: enum smc_link_reason
 *
 * Process context or softirq. The group's work clears the link.
 */
void smcr_link_down(struct smcr_link *link, u32 reason)
{
	spin_lock_bh(&link->send_lock);
	take_down(link, reason, __builtin_return_address(0));
	spin_unlock_bh(&link->send_lock);
}

/**
 * smcr_link_lose_path() - smcr_link_down() because the peer's port does not respond
 * @link: the link; nothing happens unless it is forming or active
 *
 * Process context or softirq. The path may be recorded as failed, see smcr_group_blame_path().
 */
void smcr_link_lose_path(struct smcr_link *link)
{
	spin_lock_bh(&link->send_lock);
	if (link->state == SMCR_LINK_FORMING || link->state == SMCR_LINK_ACTIVE)
		WRITE_ONCE(link->no_path, true);
	take_down(link, SMC_LINK_LOST_PATH, __builtin_return_address(0));
	spin_unlock_bh(&link->send_lock);
}

/**
 * smcr_link_set_severed() - the port of a link went down, or is up again
 * @link: the link
 * @severed: whether it is down
 *
 * Process context or softirq. A forming link goes down at once. On an active one, the adapter
 * retries requests until they fail; for a link that sends nothing see check_severed().
 */
void smcr_link_set_severed(struct smcr_link *link, bool severed)
{
	if (severed == READ_ONCE(link->severed))
		return;
	WRITE_ONCE(link->severed_since, jiffies);
	/* Paired with the acquire in check_severed() */
	smp_store_release(&link->severed, severed);
	if (severed && READ_ONCE(link->state) == SMCR_LINK_FORMING)
		smcr_link_down(link, SMC_LINK_LOST_PATH);
	smcr_llc_kick(link->group);
}

static void qp_event(struct ib_event *event, void *context)
{
	struct smcr_link *link = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_PATH_MIG_ERR:
		break;
	default:
		return;
	}
	/* May run in hard interrupt context, where send_lock must not be taken */
	WRITE_ONCE(link->failed, true);
	smcr_group_kick(link->group);
}

static int to_init(const struct smcr_link *link, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_INIT,
		.pkey_index	= 0,
		.port_num	= link->gid->port,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int create_qp(struct smcr_link *link)
{
	struct ib_qp_init_attr init = {
		.event_handler	= qp_event,
		.qp_context	= link,
		.send_cq	= link->cq,
		.recv_cq	= link->cq,
		.cap = {
			.max_send_wr	 = SMCR_SEND_REQUESTS + 1,	/* + 1 for ib_drain_qp() */
			.max_recv_wr	 = SMCR_RECV_SLOTS + 1,
			.max_send_sge	 = 1,
			.max_recv_sge	 = smcr_recv_sges(link),
			.max_inline_data = SMCR_MESSAGE_BYTES,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(link->pd, &init);
	int err;

	if (IS_ERR(qp)) {
		init.cap.max_inline_data = 0;
		qp = ib_create_qp(link->pd, &init);
	}
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = to_init(link, qp);
	if (err) {
		ib_destroy_qp(qp);	/* nothing is posted; in RESET it cannot be drained */
		return err;
	}
	link->qp = qp;
	link->inline_sends = init.cap.max_inline_data >= SMCR_MESSAGE_BYTES;
	link->local.qpn = qp->qp_num;
	link->local.psn = get_random_u32() & 0xffffff;
	return 0;
}

static int create_queues(struct smcr_link *link)
{
	struct ib_device *ibdev = link->gid->dev->ibdev;
	struct ib_pd *pd = ib_alloc_pd(ibdev, 0);
	struct ib_cq *cq;
	int err;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	link->pd = pd;
	link->nr_cqe = SMCR_SEND_REQUESTS + SMCR_RECV_SLOTS + 2;
	/* ib_cq_pool_get() would create queues without end, each too small */
	if (link->nr_cqe > ibdev->attrs.max_cqe)
		return -EOPNOTSUPP;
	/* The pool distributes its queues over the device's vectors, and so over the CPUs */
	cq = ib_cq_pool_get(ibdev, link->nr_cqe, -1, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	link->cq = cq;
	err = smcr_send_create(link);
	if (!err)
		err = smcr_recv_create(link);
	if (!err)
		err = create_qp(link);
	if (!err)
		err = smcr_recv_post_all(link);
	return err;
}

static int to_reset(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/*
 * If the queue pair goes to ERR while rxe of Linux 6.12 receives a packet, rxe processes the packet
 * again, with resources that it has freed already. RESET waits for the packet, and INIT receives
 * none. Requests that have not completed do not complete after RESET; smcr_send_destroy() frees
 * their slots. Only for rxe: not all adapters support these transitions.
 *
 * A request that fails meanwhile takes the queue pair from RESET to ERR, where INIT is refused.
 * RESET has emptied the queues, so that cannot happen twice.
 *
 * Return: whether the queue pair must be drained; in RESET it cannot be.
 */
static bool quiet_software(struct smcr_link *link)
{
	struct ib_qp *qp = link->qp;

	if (qp->device->ops.driver_id != RDMA_DRIVER_RXE || to_reset(qp) || !to_init(link, qp))
		return true;
	return to_reset(qp) || !to_init(link, qp);
}

/* Afterwards no request completes, and no completion handler runs */
static void drain_queue_pair(struct smcr_link *link)
{
	if (quiet_software(link))
		ib_drain_qp(link->qp);
}

static void drain_link(struct smcr_link *link)
{
	smcr_recv_stop(link);
	if (link->qp)
		drain_queue_pair(link);
}

static void destroy_queues(struct smcr_link *link)
{
	smcr_memory_unregister(link);
	if (link->qp)
		ib_destroy_qp(link->qp);
	link->qp = NULL;
	smcr_recv_destroy(link);
	smcr_send_destroy(link);
	if (link->cq)
		ib_cq_pool_put(link->cq, link->nr_cqe);
	link->cq = NULL;
	if (link->pd)
		ib_dealloc_pd(link->pd);
	link->pd = NULL;
}

static void leave_device(struct smcr_link *link)
{
	struct smcr_gid *gid = link->gid;

	smcr_device_leave(gid->dev, link);
	link->gid = NULL;
	smcr_gid_put(gid);
	smc_object_destroyed(SMC_OBJECT_LINK);
}

/* The queue pair of a forming link exists while the caller holds link_lock */
static bool is_forming(const struct smcr_link *link)
{
	lockdep_assert_held(&link->group->link_lock);
	return READ_ONCE(link->state) == SMCR_LINK_FORMING;
}

static void set_state(struct smcr_link *link, enum smcr_link_state state)
{
	spin_lock_bh(&link->send_lock);
	WRITE_ONCE(link->state, state);
	spin_unlock_bh(&link->send_lock);
}

/*
 * The removal of a device takes down its forming and active links. Either it finds this link
 * forming, or this function finds that the removal has begun.
 */
static bool is_gone(struct smcr_device *dev)
{
	bool gone;

	spin_lock_bh(&dev->lock);
	gone = dev->gone;
	spin_unlock_bh(&dev->lock);
	return gone;
}

/* Monitoring may read the former device meanwhile, under RCU */
static void set_device(struct smcr_link *link, struct smcr_device *dev)
{
	struct smcr_device *former = link->dev;

	WRITE_ONCE(link->dev, smcr_device_get(dev));
	if (former)
		smcr_device_put(former);
}

/**
 * smcr_link_create() - create the queue pair
 * @link: an unused link
 * @gid: the local port; the link takes a reference
 *
 * May sleep.
 *
 * Return: 0: the link is SMCR_LINK_FORMING or already down, its queue pair INIT; or a negative
 * errno: the link is unused.
 */
int smcr_link_create(struct smcr_link *link, struct smcr_gid *gid)
{
	int err;

	link->gid = smcr_gid_get(gid);
	memcpy(link->local.gid.bytes, gid->gid.raw, sizeof(link->local.gid.bytes));
	memcpy(link->local.mac, gid->mac, sizeof(link->local.mac));
	link->local.mtu = gid->mtu;
	link->port = gid->port;
	link->ifindex = gid->ifindex;
	set_device(link, gid->dev);
	link->number = 0;
	link->agreed = false;
	link->user_id = atomic_inc_return(&next_user_id);
	link->head = 0;
	link->tail = 0;
	link->unsignalled = 0;
	link->rts = false;
	link->failed = false;
	link->severed = false;
	link->no_path = false;
	link->last_received = jiffies;
	if (!smcr_device_enter(gid->dev, link)) {
		link->gid = NULL;
		smcr_gid_put(gid);
		return -ENODEV;
	}
	smc_object_created(SMC_OBJECT_LINK);
	err = create_queues(link);
	if (err) {
		drain_link(link);
		destroy_queues(link);
		leave_device(link);
		return err;
	}
	set_state(link, SMCR_LINK_FORMING);
	if (is_gone(gid->dev))
		smcr_link_down(link, SMC_LINK_LOST_PATH);
	return 0;
}

/*
 * Both ends use the smaller MTU of the two in their messages, so an end must know the MTU of its
 * route before it sends its message.
 */
static void limit_mtu(struct smcr_link *link, enum ib_mtu mtu)
{
	link->local.mtu = min_t(u8, link->local.mtu, mtu);
}

/**
 * smcr_link_look_ahead() - server: look up the route before the queue pair needs it
 * @link: a link that was created
 * @peer: the peer's port
 *
 * The server's Accept has the MTU, and whether the route stays within one subnet. If it does not,
 * a Linux client declines unless its own route has a router, too. Without a route,
 * smcr_link_connect() fails later. May sleep, but not for the network.
 */
void smcr_link_look_ahead(struct smcr_link *link, const struct smc_address *peer)
{
	struct smcr_group *rg = link->group;
	struct rdma_ah_attr attr;
	enum ib_mtu mtu;

	mutex_lock(&rg->link_lock);
	if (is_forming(link) && !smcr_route(rg->net, link->gid, &peer->gid, peer->mac, &attr,
					    &link->direct, &mtu)) {
		limit_mtu(link, mtu);
		rdma_destroy_ah_attr(&attr);
	}
	mutex_unlock(&rg->link_lock);
}

/**
 * smcr_link_choose_keys() - choose the keys of all RMBs on a new link
 * @link: a forming link
 *
 * smcr_link_start() registers them with the device. May sleep.
 *
 * Return: 0; -ENOLINK if it went down meanwhile; or another negative errno.
 */
int smcr_link_choose_keys(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	int err;

	mutex_lock(&rg->link_lock);
	err = is_forming(link) ? smcr_memory_register(link) : -ENOLINK;
	mutex_unlock(&rg->link_lock);
	return err;
}

static int to_rtr(struct smcr_link *link)
{
	const struct smcr_link_peer *peer = &link->peer;
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_RTR,
		.dest_qp_num	= peer->qpn,
		.rq_psn		= peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer	= RNR_TIMER,
	};
	enum ib_mtu mtu;
	int err;

	lockdep_assert_held(&link->group->link_lock);
	err = smcr_route(link->group->net, link->gid, &peer->gid, peer->mac, &attr.ah_attr,
			 &link->direct, &mtu);
	if (err)
		return err;
	if (link->group->role == SMC_CLIENT)	/* the server has sent its MTU already */
		limit_mtu(link, mtu);
	attr.path_mtu = min(peer->mtu, link->local.mtu);
	err = ib_modify_qp(link->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			   IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			   IB_QP_MIN_RNR_TIMER);
	rdma_destroy_ah_attr(&attr.ah_attr);
	return err;
}

/**
 * smcr_link_connect() - connect the queue pair to the peer's, so that it can receive (RTR)
 * @link: a forming link, with @peer filled in
 *
 * May sleep.
 *
 * Return: 0; -ENOLINK if it went down meanwhile; or another negative errno.
 */
int smcr_link_connect(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	int err;

	mutex_lock(&rg->link_lock);
	err = is_forming(link) ? to_rtr(link) : -ENOLINK;
	mutex_unlock(&rg->link_lock);
	return err;
}

static int to_rts(struct smcr_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_RTS,
		.timeout	= ACK_TIMEOUT,
		.retry_cnt	= RETRIES,
		.rnr_retry	= RNR_RETRIES,
		.sq_psn		= link->local.psn,
		.max_rd_atomic	= 1,
	};
	int err;

	err = ib_modify_qp(link->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			   IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
	if (err)
		return err;
	spin_lock_bh(&link->send_lock);
	link->rts = true;
	spin_unlock_bh(&link->send_lock);
	return smcr_memory_register(link);
}

/**
 * smcr_link_start() - let the queue pair send (RTS), and register all RMBs
 * @link: a forming link that is connected
 *
 * The registrations are the first requests: the peer may write once it has received a message. May
 * sleep.
 *
 * Return: 0; -ENOLINK if it went down meanwhile; or another negative errno.
 */
int smcr_link_start(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	int err;

	mutex_lock(&rg->link_lock);
	err = is_forming(link) ? to_rts(link) : -ENOLINK;
	mutex_unlock(&rg->link_lock);
	return err;
}

/**
 * smcr_link_activate() - let connections use a link, after CONFIRM LINK
 * @link: a forming link; if it went down meanwhile, nothing happens
 *
 * Process context, without spin locks.
 */
void smcr_link_activate(struct smcr_link *link)
{
	bool up;

	spin_lock_bh(&link->send_lock);
	up = link->state == SMCR_LINK_FORMING;
	if (up) {
		WRITE_ONCE(link->state, SMCR_LINK_ACTIVE);
		trace_smcr_link_up(link->group->net_cookie, link->number, link->user_id);
	}
	spin_unlock_bh(&link->send_lock);
	if (up)
		smcr_group_tell(link, true);
}

/**
 * smcr_link_quiesce() - drain the queue pair
 * @link: a link that is down
 *
 * In the group's work only. Afterwards nothing is received, and smcr_conn.acked is final. May
 * sleep, but only for the device.
 */
void smcr_link_quiesce(struct smcr_link *link)
{
	mutex_lock(&link->group->link_lock);
	drain_link(link);
	mutex_unlock(&link->group->link_lock);
}

/**
 * smcr_link_clear() - free the resources of a link
 * @link: a link that is down and drained; unused afterwards
 *
 * In the group's work only. May sleep, but only for the device.
 */
void smcr_link_clear(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;

	mutex_lock(&rg->link_lock);
	destroy_queues(link);
	mutex_unlock(&rg->link_lock);
	smcr_rtoken_forget_link(link);
	link->rts = false;
	leave_device(link);
	set_state(link, SMCR_LINK_UNUSED);
}
