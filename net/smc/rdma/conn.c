// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMC-R's part of a connection: the local element, the peer's element, and upcalls.
 *
 * A struct smcr_conn outlives the connection while the device reads from its send ring. An upcall
 * needs a reference of @users; smcr_conn_close() waits until all of these are dropped.
 */

#include <linux/random.h>
#include <linux/slab.h>

#include "../group/buffer.h"
#include "conn.h"
#include "device.h"
#include "group.h"

#define EYE_CATCHER_BYTES	4
/* After so many lost elements and refused RMBs no connection joins the group any more */
#define MAX_ABANDONED		8
#define MAX_ABANDONED_CLIENT	32

static const u8 eye_catcher[EYE_CATCHER_BYTES] = { 0xd9, 0xd4, 0xc2, 0xc5 };

static void conn_free(struct kref *ref)
{
	struct smcr_conn *rc = container_of(ref, struct smcr_conn, ref);

	if (rc->ring)
		smcr_send_ring_release(rc->ring);
	smcr_group_put(rc->rg);
	kfree_rcu(rc, rcu);
}

void smcr_conn_put(struct smcr_conn *rc)
{
	kref_put(&rc->ref, conn_free);
}

static struct smcr_conn *find(struct smcr_group *rg, u32 token)
{
	struct smcr_conn *rc;

	hash_for_each_possible_rcu(rg->conns, rc, node, token,
				   lockdep_is_held(&rg->lock))
		if (rc->token == token)
			return rc;
	return NULL;
}

/* The peer's messages name the connection by its token, which must be unique in the group */
static int enlist(struct smcr_conn *rc)
{
	struct smcr_group *rg = rc->rg;
	struct smc_conn *conn = rc->conn;
	int err = 0;

	spin_lock_bh(&rg->lock);
	do {
		conn->token = get_random_u32();
	} while (find(rg, conn->token));
	rc->token = conn->token;
	if (rg->nr_conns < rg->max_conns) {
		rg->nr_conns++;
		hash_add_rcu(rg->conns, &rc->node, rc->token);
	} else {
		err = -ENOSPC;
	}
	spin_unlock_bh(&rg->lock);
	return err;
}

static void unlist(struct smcr_conn *rc)
{
	struct smcr_group *rg = rc->rg;

	spin_lock_bh(&rg->lock);
	hash_del_rcu(&rc->node);
	rg->nr_conns--;
	rc->awaited = false;
	if (rg->settling == rc)
		rg->settling = NULL;
	spin_unlock_bh(&rg->lock);
}

static void set_rx(struct smcr_conn *rc)
{
	struct smc_conn *conn = rc->conn;
	u8 *base = smcr_rmb_element(rc->rmb, rc->element);

	conn->rx.base = base;
	conn->rx.buffer_bytes = rc->rmb->element_bytes;
	conn->rx.ring.first = 0;
	conn->rx.ring.end = conn->rx.buffer_bytes;
	if (rc->rg->eye_catcher) {
		conn->rx.ring.first = EYE_CATCHER_BYTES;
		memcpy(base, eye_catcher, sizeof(eye_catcher));
	}
}

static int take_element(struct smcr_conn *rc)
{
	struct smc_conn *conn = rc->conn;
	u32 granted = conn->rx.granted, most;
	u32 wanted = smcr_element_choose(rc->rg, conn, &most);
	struct smcr_rmb *rmb;
	bool fresh;

	rmb = smcr_rmb_take(rc->rg, min(wanted, granted), min(most, granted), &rc->element,
			    &fresh);
	if (IS_ERR(rmb))
		return PTR_ERR(rmb);
	rc->rmb = rmb;
	set_rx(rc);
	smc_conn_count(conn, fresh ? SMC_STAT_RX_ALLOCATED : SMC_STAT_RX_REUSED, 1);
	if (rmb->element_bytes < wanted)
		smc_conn_count(conn, SMC_STAT_RX_DOWNGRADED, 1);
	smc_conn_count_size(conn, SMC_STAT_RX_BUFFER, rmb->element_bytes);
	return 0;
}

/*
 * Does the peer know the RMB? CLC names the first RMB of a group. The first connection that comes
 * here announces any other RMB; that need not be the connection for which the RMB was created.
 * Return: 0, -EINPROGRESS, or -EREMOTEIO if the announcement has failed meanwhile.
 */
static int await_announcement(struct smcr_conn *rc)
{
	struct smcr_group *rg = rc->rg;
	struct smcr_rmb *rmb = rc->rmb;
	bool announce = false;
	int err = 0;

	spin_lock_bh(&rg->lock);
	if (rmb->state == SMCR_RMB_REFUSED) {
		err = -EREMOTEIO;
	} else if (rmb->state == SMCR_RMB_NEW && rg->settled) {
		announce = !rmb->announcing;
		rmb->announcing = true;
		rc->awaited = true;
		err = -EINPROGRESS;
	}
	spin_unlock_bh(&rg->lock);
	if (announce)
		smcr_llc_announce(rg, rmb);
	return err;
}

/*
 * The first send ring is small: conn/grow.c makes it larger when the program writes more. A server
 * cannot decline after its Accept (R-DEC-04), so the ring exists before.
 */
static int take_first_ring(struct smcr_conn *rc)
{
	struct smc_conn *conn = rc->conn;
	const struct smc_knobs *knobs = &conn->sn->knobs;
	u32 bytes = roundup_pow_of_two(READ_ONCE(knobs->rmem_start));
	struct smcr_send_ring *ring;

	bytes = min(bytes, smc_buffer_size(READ_ONCE(knobs->smcr_rmem)));
	bytes = smc_buffer_charge_most(conn, bytes);
	if (!bytes)
		return -ENOMEM;
	ring = smcr_send_ring_take(rc, bytes);
	if (IS_ERR(ring)) {
		smc_buffer_uncharge(conn, bytes);
		return PTR_ERR(ring);
	}
	smc_buffer_uncharge(conn, bytes - ring->bytes);
	rc->ring = ring;
	return 0;
}

/* An upcall may have begun since the connection was enlisted */
static void undo_open(struct smcr_conn *rc)
{
	smcr_conn_unuse(rc);
	wait_for_completion(&rc->unused);
	if (rc->rmb)
		smcr_rmb_release(rc->rg, rc->rmb, rc->element, 0);
	smcr_conn_put(rc);
}

/**
 * smcr_conn_open() - struct smc_transport: get a receive element, and reserve a send ring
 * @conn: the connection
 *
 * Return: 0, -EINPROGRESS while the peer must learn of the RMB, or another negative errno.
 */
int smcr_conn_open(struct smc_conn *conn)
{
	struct smcr_group *rg = conn->group->device;
	struct smcr_conn *rc;
	int err;

	rc = kzalloc(sizeof(*rc), GFP_KERNEL_ACCOUNT);
	if (!rc)
		return -ENOMEM;
	kref_init(&rc->ref);
	refcount_set(&rc->users, 1);
	init_completion(&rc->unused);
	INIT_LIST_HEAD(&rc->waiting);
	rc->conn = conn;
	rc->rg = smcr_group_get(rg);

	err = take_first_ring(rc);
	if (!err)
		err = take_element(rc);
	if (!err)
		err = enlist(rc);
	if (err)
		goto err_undo;
	/* After enlist(): if the link goes down from now on, smcr_conn_leave() finds @rc */
	if (!smcr_group_has_link(rg)) {
		err = -ENOLINK;
		goto err_unlist;
	}
	WRITE_ONCE(conn->priv, rc);
	err = await_announcement(rc);
	if (!err || err == -EINPROGRESS)
		return err;

	WRITE_ONCE(conn->priv, NULL);
err_unlist:
	unlist(rc);
err_undo:
	undo_open(rc);
	return err;
}

/* Report the result of an announcement to the connections that wait for it */
static void tell_awaiting(struct smcr_group *rg, const struct smcr_rmb *rmb, u32 reason)
{
	struct smcr_conn *rc;
	unsigned int i;

	spin_lock_bh(&rg->lock);
again:
	hash_for_each(rg->conns, i, rc, node) {
		if (!rc->awaited || rc->rmb != rmb)
			continue;
		rc->awaited = false;
		if (!smcr_conn_use(rc))
			continue;
		spin_unlock_bh(&rg->lock);
		smc_conn_ready(rc->conn, reason);
		smcr_conn_unuse(rc);
		spin_lock_bh(&rg->lock);
		goto again;
	}
	spin_unlock_bh(&rg->lock);
}

/*
 * The peer may still write to a lost element, so no connection uses it until the group and its keys
 * end. To limit the memory lost in this way, no connection joins the group after some losses, as
 * after a Decline that reports "out of sync" (R-DEC-11). The memory is freed when the connections
 * of the group have ended. A refused RMB counts as a loss, too: its registration was in vain.
 *
 * A server then forms a new group. A client declines an Accept that names this group as out of sync
 * (R-SC-07), and the connection uses TCP, so a client tolerates more losses. A connection of a
 * client's group may lead to another server, which only names this group: @other.
 */
static void count_loss(struct smcr_group *rg, bool other)
{
	unsigned int most = rg->role == SMC_SERVER ? MAX_ABANDONED : MAX_ABANDONED_CLIENT;
	bool enough;

	spin_lock_bh(&rg->lock);
	enough = ++*(other ? &rg->nr_abandoned_others : &rg->nr_abandoned) >= most;
	spin_unlock_bh(&rg->lock);
	if (enough)
		smcr_group_blame(rg, other);
}

/**
 * smcr_rmb_announced() - the announcement of an RMB has succeeded or failed
 * @rg: the group
 * @rmb: the RMB; after a failure it may be freed when this function returns
 * @err: 0 or a negative errno
 *
 * Process context, without locks.
 */
void smcr_rmb_announced(struct smcr_group *rg, struct smcr_rmb *rmb, int err)
{
	tell_awaiting(rg, rmb, err ? SMC_REASON_LINK_RTOKEN : SMC_REASON_NONE);
	if (err)
		count_loss(rg, false);	/* the link leads to the group's own peer */
	/* The RMB may be freed from now on; above, another one at its address would match */
	spin_lock_bh(&rg->lock);
	rmb->announcing = false;
	spin_unlock_bh(&rg->lock);
	if (err)
		smcr_llc_kick(rg);	/* leads to smcr_rmbs_trim() */
}

/**
 * smcr_conn_any_open() - is there a connection that was not aborted, and that the peer has open?
 * @rg: the group
 *
 * Any context, without locks.
 *
 * Return: whether there is.
 */
bool smcr_conn_any_open(struct smcr_group *rg)
{
	const struct smcr_conn *rc;
	bool found = false;
	unsigned int i;

	spin_lock_bh(&rg->lock);
	hash_for_each(rg->conns, i, rc, node)
		found = found || !(READ_ONCE(rc->conn->failed) ||
				   READ_ONCE(rc->conn->tx.state_flags) & SMC_CDC_ABORTED ||
				   READ_ONCE(rc->conn->rx_state_flags) &
				   (SMC_CDC_CLOSED | SMC_CDC_ABORTED));
	spin_unlock_bh(&rg->lock);
	return found;
}

/**
 * smcr_conn_withdraw() - the peer withdraws an RMB: write nothing more to it
 * @rg: the group
 * @rtoken: index of the RMB
 *
 * At the peer no connection uses the RMB any more (R-RK-13); the local end of one may not have
 * processed its end yet. Any context, without spin locks.
 */
void smcr_conn_withdraw(struct smcr_group *rg, int rtoken)
{
	struct smcr_conn *rc;
	unsigned int i;

	spin_lock_bh(&rg->lock);
	hash_for_each(rg->conns, i, rc, node)
		if (rc->attached && rc->rtoken == rtoken)
			smcr_link_withdraw(rc);
	spin_unlock_bh(&rg->lock);
}

/*
 * The link that our Accept or Confirm names; at first contact none is usable yet. A client, which
 * has the link of the Accept, repeats that: Linux takes the rkey of a Confirm for that link,
 * whatever the Confirm names.
 */
static const struct smcr_link *named_link(const struct smcr_conn *rc)
{
	const struct smcr_link *link = READ_ONCE(rc->link);

	if (link && smcr_link_usable(link))
		return link;
	return smcr_group_idlest_link(rc->rg) ?: &rc->rg->links[0];
}

static void describe_rmb(struct smcr_conn *rc, const struct smcr_link *link,
			 struct smc_clc_rdma_end *end)
{
	const struct ib_mr *mr;

	mutex_lock(&rc->rg->memory_lock);
	mr = rc->rmb->links[smcr_link_index(link)].mr;
	if (mr) {	/* else the link was cleared meanwhile */
		end->rkey = mr->rkey;
		end->rmb_addr = mr->iova;
	}
	mutex_unlock(&rc->rg->memory_lock);
	end->rmbe_index = rc->element + 1;
	end->rmbe_size = smc_clc_buffer_code(rc->rmb->element_bytes);
}

/**
 * smcr_conn_describe() - struct smc_transport: the local end, for Accept and Confirm
 * @conn: the connection
 * @out: result
 */
void smcr_conn_describe(const struct smc_conn *conn, struct smc_clc_accept *out)
{
	struct smcr_conn *rc = conn->priv;
	const struct smcr_link *link = named_link(rc);
	struct smc_clc_rdma_end *end = &out->rdma;

	memset(end, 0, sizeof(*end));
	end->peer_id = smc_net(sock_net(conn->sk))->peer_id;
	end->gid = link->local.gid;
	memcpy(end->mac, link->local.mac, sizeof(end->mac));
	end->qpn = link->local.qpn;
	end->psn = link->local.psn;
	end->mtu = link->local.mtu;
	end->alert_token = rc->token;
	describe_rmb(rc, link, end);
	rc->described = true;

	if (out->variant != SMC_VARIANT_R2 || !out->is_first_contact)
		return;
	out->first_contact.direct = link->direct;
	if (conn->role == SMC_CLIENT) {
		out->first_contact.nr_gids = 1;
		out->first_contact.gids[0] = end->gid;
	}
}

/*
 * The peer names an element that another connection uses here: at the peer that connection has
 * ended (R-RMB-15). If this side has closed it, the peer's final message may still arrive: CLC
 * comes over TCP, CDC over the link.
 */
static void end_former_user(struct smcr_conn *rc)
{
	struct smcr_group *rg = rc->rg;
	struct smcr_conn *other, *found = NULL;
	unsigned int i;

	spin_lock_bh(&rg->lock);
	hash_for_each(rg->conns, i, other, node) {
		if (other != rc && other->attached && other->rtoken == rc->rtoken &&
		    other->peer_index == rc->peer_index && smcr_conn_use(other)) {
			found = other;
			break;
		}
	}
	if (found)
		WRITE_ONCE(found->attached, false);
	WRITE_ONCE(rc->attached, true);
	spin_unlock_bh(&rg->lock);
	if (!found)
		return;
	smcr_link_stop(found);
	smc_conn_forgotten(found->conn);
	smcr_conn_unuse(found);
}

/* First contact: connect the link to the peer's queue pair */
static int meet_peer(struct smcr_group *rg, const struct smc_clc_rdma_end *end)
{
	struct smcr_link *link = &rg->links[0];

	if (!end->qpn || !smc_clc_mtu_bytes(end->mtu))
		return -EPROTO;
	rg->peer_id = end->peer_id;
	link->peer.gid = end->gid;
	memcpy(link->peer.mac, end->mac, sizeof(link->peer.mac));
	link->peer.qpn = end->qpn;
	link->peer.psn = end->psn;
	link->peer.mtu = end->mtu;
	return smcr_link_connect(link);
}

/* Find the link and the RMB that the peer names. Return: index of the RMB, or a negative errno */
static int find_rtoken(struct smcr_group *rg, const struct smc_clc_rdma_end *end,
		       struct smcr_link **link)
{
	int err;

	if (rg->settled) {
		*link = smcr_group_find_link(rg, end);
		return *link ? smcr_rtoken_find(*link, end->rkey, end->rmb_addr) : -ENOLINK;
	}
	*link = &rg->links[0];
	err = meet_peer(rg, end);
	return err ? err : smcr_rtoken_add(*link, end->rkey, end->rmb_addr);
}

/*
 * The size up to which the send ring grows while the peer reads: that of its element, or what the
 * program has chosen with SO_SNDBUF, if that is more. The kernel has doubled the value.
 */
static u32 choose_most(const struct smcr_conn *rc, u32 element)
{
	const struct sock *sk = rc->conn->sk;
	u32 most = element;

	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		most = max(most, rounddown_pow_of_two(max(sk->sk_sndbuf, 1)));
	return max(min(most, rc->conn->tx.limit), rc->ring->bytes);
}

static void set_tx(struct smcr_conn *rc, u32 element)
{
	struct smc_conn *conn = rc->conn;

	conn->tx.base = rc->ring->base;
	conn->tx.buffer_bytes = rc->ring->bytes;
	conn->tx.ring = (struct smc_ring){ .end = rc->ring->bytes };
	conn->tx.limit = smcr_send_ring_limit(rc->rg);
	conn->tx.most = choose_most(rc, element);
	smc_conn_count_size(conn, SMC_STAT_TX_BUFFER, conn->tx.buffer_bytes);
	smc_conn_count(conn, SMC_STAT_TX_USED, conn->tx.buffer_bytes);
	rc->bounds.first = rc->rg->eye_catcher ? EYE_CATCHER_BYTES : 0;
	rc->bounds.end = element;
	rc->sent = smc_cursor_start(&rc->bounds);
	conn->tx.peer = rc->bounds;
}

/* Either smcr_conn_leave() finds the connection on the link, or this finds the link gone */
static int enter_link(struct smcr_conn *rc, struct smcr_link *link,
		      const struct smc_clc_rdma_end *end)
{
	struct smcr_group *rg = rc->rg;
	int err = 0;

	if (!rc->ring->mapped[smcr_link_index(link)])
		return -ENOLINK;
	spin_lock_bh(&rg->lock);
	if (rg->settled && smcr_group_find_link(rg, end) != link)
		err = -ENOLINK;
	else
		WRITE_ONCE(rc->link, link);
	spin_unlock_bh(&rg->lock);
	if (!err)
		atomic_inc(&link->conns);
	return err;
}

/**
 * smcr_conn_attach() - struct smc_transport: attach the peer's element
 * @conn: the connection
 * @peer: the peer's end; not trusted
 *
 * Return: 0 or a negative errno.
 */
int smcr_conn_attach(struct smc_conn *conn, const struct smc_clc_accept *peer)
{
	const struct smc_clc_rdma_end *end = &peer->rdma;
	u32 bytes = smc_clc_buffer_bytes(end->rmbe_size);
	struct smcr_conn *rc = conn->priv;
	struct smcr_link *link;
	int rtoken, err;
	u64 offset;

	if (!bytes || !end->rmbe_index)
		return -EPROTO;
	rtoken = find_rtoken(rc->rg, end, &link);
	if (rtoken < 0)
		return rtoken;
	rc->rtoken = rtoken;
	rc->rkey = end->rkey;
	rc->peer_index = end->rmbe_index;
	offset = smc_clc_rmbe_offset(end->rmbe_index, bytes);
	if (end->rmb_addr + offset + bytes < end->rmb_addr)
		return -EPROTO;
	rc->peer_addr = end->rmb_addr + offset;
	rc->peer_offset = offset;
	set_tx(rc, bytes);
	err = enter_link(rc, link, end);
	if (err)
		return err;
	conn->peer_token = end->alert_token;
	smcr_element_fade(rc);
	end_former_user(rc);
	return 0;
}

static int settle_first(struct smcr_conn *rc)
{
	struct smcr_group *rg = rc->rg;
	struct smcr_link *link = rc->link;
	int err = 0;

	spin_lock_bh(&rg->lock);
	rg->settling = rc;
	spin_unlock_bh(&rg->lock);
	if (rg->role == SMC_SERVER)
		err = smcr_link_start(link);
	if (err) {
		spin_lock_bh(&rg->lock);
		rg->settling = NULL;
		spin_unlock_bh(&rg->lock);
		return err;
	}
	smcr_llc_settle(link);
	/* smcr_group_has_link() could fail while LLC lets others join and activates the link */
	if (!smcr_link_is_there(link))
		smcr_group_settled(rg, smcr_llc_why_lost(link));
	return -EINPROGRESS;
}

/**
 * smcr_conn_settle() - struct smc_transport: verify the link after the last CLC message
 * @conn: the connection
 *
 * Return: 0, -EINPROGRESS or another negative errno.
 */
int smcr_conn_settle(struct smc_conn *conn)
{
	struct smcr_conn *rc = conn->priv;

	if (!rc->rg->settled)
		return settle_first(rc);
	return smcr_link_usable(rc->link) ? 0 : -ENOLINK;
}

/**
 * smcr_conn_use_eye_catcher() - let the elements begin with an eye catcher
 * @rc: the connection of the first contact; no data was exchanged yet
 *
 * This connection has its rings before CONFIRM LINK reports whether the peer wants eye catchers.
 */
void smcr_conn_use_eye_catcher(struct smcr_conn *rc)
{
	struct smc_conn *conn = rc->conn;

	spin_lock_bh(&conn->lock);
	set_rx(rc);
	conn->rx.prod = smc_cursor_start(&conn->rx.ring);
	conn->rx.cons = conn->rx.prod;
	rc->bounds.first = EYE_CATCHER_BYTES;
	rc->sent = smc_cursor_start(&rc->bounds);
	conn->tx.peer = rc->bounds;
	conn->tx.peer_prod = rc->sent;
	conn->tx.cons = rc->sent;
	spin_unlock_bh(&conn->lock);
}

/*
 * The peer does not write to an element that no CLC message has described, or that it has released
 * by "closed", "aborted" or a Decline (R-RMB-13). Silence proves nothing: a client writes once its
 * Confirm is sent, even if the Confirm does not arrive (R-SC-18).
 */
static bool may_be_written(const struct smcr_conn *rc)
{
	const struct smc_conn *conn = rc->conn;

	return rc->described && !conn->declined &&
	       !(conn->rx_state_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORTED));
}

static void release_element(struct smcr_conn *rc)
{
	const struct smc_conn *conn = rc->conn;
	u64 written = conn->rx.ring.first + conn->rx.total;

	if (may_be_written(rc))
		count_loss(rc->rg, rc->conn->other_address);
	else
		smcr_rmb_release(rc->rg, rc->rmb, rc->element, written);
}

/**
 * smcr_conn_close() - struct smc_transport: give everything back
 * @conn: the connection
 *
 * The final control message may still wait for a slot of the send queue; it keeps the send ring.
 */
void smcr_conn_close(struct smc_conn *conn)
{
	struct smcr_conn *rc = conn->priv;

	unlist(rc);
	smc_conn_count(conn, SMC_STAT_TX_USED, -(s64)conn->tx.buffer_bytes);
	smcr_conn_unuse(rc);
	wait_for_completion(&rc->unused);
	if (rc->link)	/* without users, the connection is not moved any more */
		atomic_dec(&rc->link->conns);
	release_element(rc);
	WRITE_ONCE(conn->priv, NULL);
	smcr_conn_put(rc);
}

/**
 * smcr_conn_tx_progress() - struct smc_transport: how far has produced data come?
 * @conn: the connection
 * @out: result
 */
bool smcr_conn_tx_progress(struct smc_conn *conn, struct smc_tx_progress *out)
{
	struct smcr_conn *rc = conn->priv;

	return rc && READ_ONCE(rc->attached) && smcr_link_tx_progress(rc, out);
}

/**
 * smcr_conn_cdc_post() - struct smc_transport: send control data to the peer
 * @conn: the connection
 * @cdc: control data
 */
void smcr_conn_cdc_post(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	struct smcr_conn *rc = conn->priv;

	if (rc && READ_ONCE(rc->attached))
		smcr_link_post_cdc(rc, cdc);
}

/* Make visible to the CPU what the device has written to the element */
static void sync_element(const struct smcr_conn *rc, struct smcr_link *link)
{
	u64 dma = rc->rmb->links[smcr_link_index(link)].dma;
	u32 bytes = rc->rmb->element_bytes;

	ib_dma_sync_single_for_cpu(link->qp->device, dma + (u64)rc->element * bytes, bytes,
				   DMA_FROM_DEVICE);
}

/**
 * smcr_conn_received() - pass control data to its connection
 * @link: the link on which it arrived
 * @cdc: the control data; not trusted
 *
 * Softirq, from the completion queue. Ignores an unknown token: its connection has ended.
 */
void smcr_conn_received(struct smcr_link *link, const struct smc_cdc *cdc)
{
	struct smcr_conn *rc;

	rcu_read_lock();
	rc = find(link->group, cdc->token);
	if (rc && smcr_conn_use(rc)) {
		u32 consumed = READ_ONCE(rc->conn->rx.consumed);
		u32 announced = READ_ONCE(rc->conn->rx.announced);

		sync_element(rc, link);
		smc_conn_cdc_received(rc->conn, cdc);
		smcr_element_note(rc, consumed, announced,
				  cdc->producer_flags & SMC_CDC_WRITER_BLOCKED);
		smcr_conn_unuse(rc);
	}
	rcu_read_unlock();
}
