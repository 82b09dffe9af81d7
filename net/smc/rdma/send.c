// SPDX-License-Identifier: GPL-2.0-only
/*
 * The send queue of a link.
 *
 * It has a fixed number of slots, used in turn: one for each message, with the RDMA writes before
 * it. Requests complete in the order of posting, so a completion frees its slot and all earlier
 * ones, and only some requests are signalled.
 *
 * A connection that finds no free slot stores its control data and waits. Control data is state,
 * not a change of state: when a slot is free, one message replaces all that found none.
 */

#include <linux/slab.h>

#include "../trace.h"
#include "conn.h"
#include "group.h"
#include "device.h"

#define SIGNAL_EVERY	8

/**
 * struct smcr_send_slot - a message in the send queue
 * @cqe: leads from the completion to the slot
 * @link: the link
 * @number: number of slots posted before it, modulo 2^32
 * @rc: connection of the message, with a reference; NULL for LLC and registrations
 * @end: @rc->written when it was posted; @rc->acked for a failover message
 * @seqno: sequence number in the message
 * @is_long: the message is in link->long_bytes
 * @left: rings that connections have left; this message, or an earlier one, may be the last that
 *	was posted from them
 */
struct smcr_send_slot {
	struct ib_cqe cqe;
	struct smcr_link *link;
	u32 number;
	struct smcr_conn *rc;
	u32 end;
	u16 seqno;
	bool is_long;
	struct smcr_send_ring *left;
};

static struct smcr_send_slot *free_slot(struct smcr_link *link, unsigned int reserved)
{
	lockdep_assert_held(&link->send_lock);
	if (link->head - link->tail >= SMCR_SEND_SLOTS - reserved)
		return NULL;
	return &link->slots[link->head % SMCR_SEND_SLOTS];
}

static unsigned int slot_offset(const struct smcr_link *link, const struct smcr_send_slot *slot)
{
	return (slot - link->slots) * SMCR_MESSAGE_BYTES;
}

/* The caller cannot undo its changes, so an error takes the link down */
static void post(struct smcr_link *link, struct smcr_send_slot *slot, struct ib_send_wr *first)
{
	int err;

	slot->number = link->head++;
	err = ib_post_send(link->qp, first, NULL);
	if (err)
		smcr_link_down_locked(link, SMC_LINK_LOST_PATH);
}

static void set_signal(struct smcr_link *link, struct ib_send_wr *wr, bool needed)
{
	if (needed || ++link->unsignalled >= SIGNAL_EVERY) {
		wr->send_flags |= IB_SEND_SIGNALED;
		link->unsignalled = 0;
	}
}

static void prepare_send(struct smcr_link *link, struct smcr_send_slot *slot,
			 struct ib_send_wr *wr, struct ib_sge *sge, u64 dma, u32 bytes)
{
	memset(wr, 0, sizeof(*wr));
	wr->wr_cqe = &slot->cqe;
	wr->opcode = IB_WR_SEND;
	wr->sg_list = sge;
	wr->num_sge = 1;
	sge->addr = dma;
	sge->length = bytes;
	sge->lkey = link->pd->local_dma_lkey;
}

/* Send the message in the slot */
static void prepare_message(struct smcr_link *link, struct smcr_send_slot *slot,
			    struct ib_send_wr *wr, struct ib_sge *sge, u32 bytes)
{
	unsigned int offset = slot_offset(link, slot);

	prepare_send(link, slot, wr, sge, link->slot_dma + offset, bytes);
	if (link->inline_sends) {
		wr->send_flags = IB_SEND_INLINE;
		sge->addr = (uintptr_t)(link->slot_bytes + offset);
		return;
	}
	ib_dma_sync_single_for_device(link->qp->device, sge->addr, bytes, DMA_TO_DEVICE);
}

/* Send the message in the link's buffer for long messages */
static void prepare_long(struct smcr_link *link, struct smcr_send_slot *slot,
			 struct ib_send_wr *wr, struct ib_sge *sge, u32 bytes)
{
	prepare_send(link, slot, wr, sge, link->long_dma, bytes);
	ib_dma_sync_single_for_device(link->qp->device, sge->addr, bytes, DMA_TO_DEVICE);
}

/* Write the next @bytes of the send ring to offset @to of the peer's ring */
static void prepare_write(struct smcr_conn *rc, struct smcr_send_slot *slot, u32 to, u32 bytes,
			  struct ib_rdma_wr *wr, struct ib_sge *sge)
{
	struct smcr_link *link = rc->link;

	sge->addr = rc->ring->dma[smcr_link_index(link)] + rc->written % rc->ring->bytes;
	sge->length = bytes;
	sge->lkey = link->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(link->qp->device, sge->addr, bytes, DMA_TO_DEVICE);
	memset(wr, 0, sizeof(*wr));
	wr->wr.wr_cqe = &slot->cqe;
	wr->wr.opcode = IB_WR_RDMA_WRITE;
	wr->wr.sg_list = sge;
	wr->wr.num_sge = 1;
	wr->remote_addr = rc->peer_addr + to;
	wr->rkey = rc->rkey;
}

/*
 * RDMA writes of the next @bytes, at most the size of the peer's ring. Each of the two rings may
 * wrap once within them. Return: number of writes, at most SMCR_SEND_WRITES.
 */
static unsigned int prepare_writes(struct smcr_conn *rc, struct smcr_send_slot *slot, u32 bytes,
				   struct ib_rdma_wr *wr, struct ib_sge *sge)
{
	unsigned int nr;

	for (nr = 0; bytes && !WARN_ON_ONCE(nr == SMCR_SEND_WRITES); nr++) {
		u32 piece = min3(bytes, rc->bounds.end - rc->sent.count,
				 rc->ring->bytes - rc->written % rc->ring->bytes);

		prepare_write(rc, slot, rc->sent.count, piece, &wr[nr], &sge[nr]);
		if (nr)
			wr[nr - 1].wr.next = &wr[nr].wr;
		rc->sent = smc_cursor_advance(rc->sent, piece, &rc->bounds);
		rc->written += piece;
		bytes -= piece;
	}
	return nr;
}

/* When the slot completes, the peer's adapter has confirmed everything up to here */
static void fill_slot(struct smcr_send_slot *slot, struct smcr_conn *rc)
{
	slot->rc = rc;
	slot->end = rc->written;
	slot->seqno = rc->tx_seqno;
	slot->is_long = false;
}

/*
 * Without a completion of its own the last message keeps the ring in use. While a peer waits for an
 * urgent byte, smcr_link_tx_progress() must not repeat the message that announces it.
 */
static bool needs_report(const struct smcr_conn *rc)
{
	return rc->cdc.state_flags || rc->cdc.producer_flags & SMC_CDC_URGENT_PRESENT ||
	       rc->wants_report;
}

/* Post rc->cdc behind the data that it announces. The slot takes over a reference to @rc. */
static void post_cdc(struct smcr_conn *rc, struct smcr_send_slot *slot)
{
	struct smcr_link *link = rc->link;
	struct ib_sge sge[SMCR_SEND_WRITES], message_sge;
	struct ib_rdma_wr write[SMCR_SEND_WRITES];
	struct ib_send_wr message;
	unsigned int writes;

	rc->cdc.seqno = ++rc->tx_seqno;
	if (rc->withdrawn) {
		rc->cdc.producer = rc->sent;
		rc->announced = rc->written;
	}
	writes = prepare_writes(rc, slot, rc->announced - rc->written, write, sge);
	smc_cdc_build(&rc->cdc, link->slot_bytes + slot_offset(link, slot), SMC_CDC_LEN);
	prepare_message(link, slot, &message, &message_sge, SMC_CDC_LEN);
	set_signal(link, &message, needs_report(rc));
	if (message.send_flags & IB_SEND_SIGNALED) {
		rc->reported = rc->written;
		rc->wants_report = false;
	}
	fill_slot(slot, rc);
	if (writes)
		write[writes - 1].wr.next = &message;
	post(link, slot, writes ? &write[0].wr : &message);
}

/*
 * Post the failover message, the first one of a connection on another link. It has the number of
 * the last message that the peer's adapter has confirmed, so that the peer can verify that it has
 * processed that message (R-FO-04). The slot takes over a reference to @rc.
 */
static void post_validation(struct smcr_conn *rc, struct smcr_send_slot *slot)
{
	struct smcr_link *link = rc->link;
	struct smc_cdc cdc = {
		.seqno = rc->acked_seqno,
		.token = rc->cdc.token,
		.producer = rc->cdc.producer,
		.consumer = rc->cdc.consumer,
		.producer_flags = SMC_CDC_FAILOVER,
	};
	struct ib_send_wr message;
	struct ib_sge sge;

	rc->unproved = false;
	smc_cdc_build(&cdc, link->slot_bytes + slot_offset(link, slot), SMC_CDC_LEN);
	prepare_message(link, slot, &message, &sge, SMC_CDC_LEN);
	set_signal(link, &message, true);
	slot->rc = rc;
	slot->end = rc->acked;
	slot->seqno = rc->acked_seqno;
	slot->is_long = false;
	post(link, slot, &message);
}

/* Post what is due; then a slot takes over a reference. Return: false without a free slot */
static bool post_next(struct smcr_conn *rc)
{
	struct smcr_link *link = rc->link;
	struct smcr_send_slot *slot = free_slot(link, SMCR_SEND_RESERVED);

	if (slot && rc->unproved) {
		kref_get(&rc->ref);
		post_validation(rc, slot);
		slot = free_slot(link, SMCR_SEND_RESERVED);
	}
	if (slot)
		post_cdc(rc, slot);
	return slot;
}

static void post_or_wait(struct smcr_conn *rc)
{
	struct smcr_link *link = rc->link;

	if (list_empty(&link->waiting) && post_next(rc))
		return;
	rc->is_waiting = true;
	list_add_tail(&rc->waiting, &link->waiting);
}

/* Lock the send queue of a connection's link. Until then, the connection may be moved. */
static struct smcr_link *lock_link(struct smcr_conn *rc)
	__acquires(&rc->link->send_lock)
{
	for (;;) {
		struct smcr_link *link = READ_ONCE(rc->link);

		spin_lock_bh(&link->send_lock);
		if (link == rc->link)
			return link;
		spin_unlock_bh(&link->send_lock);
	}
}

/*
 * The peer reports bytes as read that are announced, but not written yet: they wait for a slot.
 * They need not be written, and the program may overwrite them now.
 */
static void skip_consumed(struct smcr_conn *rc, u32 consumed)
{
	s32 bytes = consumed - rc->written;

	if (likely(bytes <= 0))
		return;
	rc->sent = smc_cursor_advance(rc->sent, bytes, &rc->bounds);
	rc->written = consumed;
}

/**
 * smcr_link_post_cdc() - send control data behind all data that it announces
 * @rc: an attached connection
 * @cdc: the control data; its sequence number is set when it is posted
 *
 * smc_conn.lock is held. Does not sleep.
 */
void smcr_link_post_cdc(struct smcr_conn *rc, const struct smc_cdc *cdc)
{
	struct smcr_link *link = lock_link(rc);

	if (rc->stopped)
		goto unlock;
	skip_consumed(rc, rc->conn->tx.consumed);
	rc->cdc = *cdc;
	rc->announced = rc->conn->tx.announced;
	rc->has_cdc = true;
	/* On a link that is down, @cdc waits until the connection is moved or lost */
	if (rc->is_waiting || link->state != SMCR_LINK_ACTIVE)
		goto unlock;
	kref_get(&rc->ref);
	post_or_wait(rc);
unlock:
	spin_unlock_bh(&link->send_lock);
}

/**
 * smcr_link_stop() - send nothing more for a connection
 * @rc: an attached connection
 */
void smcr_link_stop(struct smcr_conn *rc)
{
	struct smcr_link *link = lock_link(rc);
	bool was_waiting;

	rc->stopped = true;
	was_waiting = rc->is_waiting;
	rc->is_waiting = false;
	list_del_init(&rc->waiting);
	spin_unlock_bh(&link->send_lock);
	if (was_waiting)
		smcr_conn_put(rc);
}

/**
 * smcr_link_withdraw() - write no more data for a connection
 * @rc: an attached connection
 *
 * A write to an RMB that the peer has withdrawn would end the link. Writes that were posted before,
 * on the link of the DELETE RKEY, complete before the peer receives the reply.
 */
void smcr_link_withdraw(struct smcr_conn *rc)
{
	struct smcr_link *link = lock_link(rc);

	rc->withdrawn = true;
	spin_unlock_bh(&link->send_lock);
}

/* Number of bytes behind the @consumed ones that the peer's adapter has confirmed */
static u32 count_confirmed(const struct smcr_conn *rc, u32 consumed)
{
	s32 bytes = rc->acked - consumed;

	return max(bytes, 0);
}

/* The position @at as a cursor of the send ring. smc_conn.lock is held. */
static struct smc_cursor find_in_ring(const struct smcr_conn *rc, u32 at)
{
	const struct smc_conn_tx *tx = &rc->conn->tx;
	u64 bytes = tx->total - (tx->produced - at);	/* all before it; @at is modulo 2^32 */

	return (struct smc_cursor){
		.wrap = bytes >> ilog2(rc->ring->bytes),
		.count = at % rc->ring->bytes,
	};
}

/**
 * smcr_link_progress() - positions of sent and confirmed data, for monitoring
 * @rc: an attached connection
 * @out: result: tx_announced, tx_sent and tx_done
 *
 * smc_conn.lock is held. Does not sleep.
 */
void smcr_link_progress(struct smcr_conn *rc, struct smc_conn_ends *out)
{
	const struct smc_conn_tx *tx = &rc->conn->tx;
	struct smcr_link *link;

	lockdep_assert_held(&rc->conn->lock);
	link = lock_link(rc);
	out->tx_announced = rc->sent;
	out->tx_sent = find_in_ring(rc, rc->written);
	out->tx_done = find_in_ring(rc, tx->consumed + count_confirmed(rc, tx->consumed));
	spin_unlock_bh(&link->send_lock);
}

/**
 * smcr_link_tx_progress() - amounts of data that is not sent, or not confirmed
 * @rc: an attached connection
 * @out: result
 *
 * smc_conn.lock is held. Does not sleep. The device does not report each completion. If it has not
 * been asked to report that of the last data, the next message of the connection asks for it.
 *
 * Return: whether the caller must post this message.
 */
bool smcr_link_tx_progress(struct smcr_conn *rc, struct smc_tx_progress *out)
{
	const struct smc_conn_tx *tx = &rc->conn->tx;
	struct smcr_link *link;
	bool asks;

	lockdep_assert_held(&rc->conn->lock);
	link = lock_link(rc);
	out->unconfirmed = tx->produced - tx->consumed - count_confirmed(rc, tx->consumed);
	/* The peer may have consumed what is to be written again on another link */
	out->unsent = min(tx->produced - rc->written, out->unconfirmed);
	asks = out->unconfirmed > out->unsent && rc->written != rc->reported &&
	       !(rc->wants_report && rc->is_waiting);
	if (asks)
		rc->wants_report = true;
	spin_unlock_bh(&link->send_lock);
	return asks;
}

/*
 * The peer has the bytes that it has consumed, and those that its adapter has confirmed. All bytes
 * behind them are written again: the same bytes at the same place, which the send ring still has.
 */
static void rewind_to_known(struct smcr_conn *rc, u32 consumed, struct smc_cursor cursor)
{
	u32 confirmed = count_confirmed(rc, consumed);

	if (rc->withdrawn) {	/* nothing is written any more, and no cursor may go back */
		rc->reported = rc->acked;
		return;
	}
	rc->sent = smc_cursor_advance(cursor, confirmed, &rc->bounds);
	rc->written = consumed + confirmed;
	rc->reported = rc->written;
}

/* The last message in the send queue releases the ring, because it completes after all others */
static void leave_ring(struct smcr_conn *rc, struct smcr_link *link)
{
	struct smcr_send_ring *ring = rc->ring;
	struct smcr_send_slot *last;

	lockdep_assert_held(&link->send_lock);
	if (link->head == link->tail) {
		smcr_send_ring_release(ring);
		return;
	}
	last = &link->slots[(link->head - 1) % SMCR_SEND_SLOTS];
	ring->next_left = last->left;
	last->left = ring;
	rc->left_on = link;
	rc->left_until = link->head;
}

/**
 * smcr_link_has_left_ring() - has the connection left a ring from which the device may still read?
 * @rc: an attached connection
 *
 * Any context. Return: whether it has. The next message of the connection asks for a report.
 */
bool smcr_link_has_left_ring(struct smcr_conn *rc)
{
	struct smcr_link *link = lock_link(rc);
	/* There are at most SMCR_SEND_SLOTS slots from tail to head, and the numbers wrap */
	bool has_left = rc->left_on == link &&
			link->head - rc->left_until < link->head - link->tail;

	spin_unlock_bh(&link->send_lock);
	return has_left;
}

/**
 * smcr_link_change_ring() - send from another ring
 * @rc: an attached connection
 * @ring: the other ring, with all bytes that the peer has not consumed. It passes to the connection
 *
 * smc_conn.lock is held. Does not sleep. The former ring is released when the device has read it;
 * the next message of the connection asks for a report of that. A connection must not get a smaller
 * ring before: rings that it has left for larger ones take less memory than the present one.
 *
 * Return: false if the device of the link cannot read the ring.
 */
bool smcr_link_change_ring(struct smcr_conn *rc, struct smcr_send_ring *ring)
{
	struct smcr_link *link;
	bool is_mapped;

	lockdep_assert_held(&rc->conn->lock);
	link = lock_link(rc);
	is_mapped = ring->mapped[smcr_link_index(link)];
	if (is_mapped) {
		skip_consumed(rc, rc->conn->tx.consumed);	/* they are not in @ring */
		leave_ring(rc, link);
		rc->ring = ring;
		rc->wants_report = true;
	}
	spin_unlock_bh(&link->send_lock);
	return is_mapped;
}

/**
 * smcr_link_move() - move a connection to another link
 * @rc: a connection on a link that is down, whose queue pair is drained
 * @to: the other link
 * @rkey: key of the peer's RMB there
 * @addr: address of the peer's element there
 * @consumed: bytes that the peer reports as consumed
 * @cursor: @consumed as a cursor
 *
 * smc_conn.lock is held, so nothing is posted for the connection meanwhile.
 *
 * Return: false if @to is not usable any more, or its device cannot map the send ring.
 */
bool smcr_link_move(struct smcr_conn *rc, struct smcr_link *to, u32 rkey, u64 addr,
		    u32 consumed, struct smc_cursor cursor)
{
	struct smcr_link *from = rc->link;
	bool was_waiting, moved;

	lockdep_assert_held(&rc->conn->lock);
	spin_lock_bh(&from->send_lock);
	/* Only the group's work takes two of these locks, and it does not run twice at a time */
	spin_lock_nested(&to->send_lock, SINGLE_DEPTH_NESTING);
	moved = to->state == SMCR_LINK_ACTIVE && rc->ring->mapped[smcr_link_index(to)];
	if (!moved)
		goto unlock;
	was_waiting = rc->is_waiting;
	rc->is_waiting = false;
	list_del_init(&rc->waiting);
	rewind_to_known(rc, consumed, cursor);
	rc->rkey = rkey;
	rc->peer_addr = addr;
	rc->unproved = true;
	rc->left_on = NULL;	/* @from is drained */
	WRITE_ONCE(rc->link, to);
	if (rc->has_cdc && !rc->stopped) {
		if (!was_waiting)
			kref_get(&rc->ref);
		was_waiting = false;
		post_or_wait(rc);
	}
unlock:
	spin_unlock(&to->send_lock);
	spin_unlock_bh(&from->send_lock);
	if (moved && was_waiting)
		smcr_conn_put(rc);	/* not the last reference: the connection holds one */
	return moved;
}

/*
 * The peer's adapter has confirmed a slot. Ignore a connection that was moved meanwhile: it writes
 * these bytes again.
 */
static void note_delivery(const struct smcr_link *link, const struct smcr_send_slot *slot)
{
	struct smcr_conn *rc = slot->rc;

	if (!rc || rc->link != link)
		return;
	rc->acked = slot->end;
	rc->acked_seqno = slot->seqno;
}

static void release_left_rings(struct smcr_send_slot *slot)
{
	struct smcr_send_ring *ring;

	while ((ring = slot->left)) {
		slot->left = ring->next_left;
		smcr_send_ring_release(ring);
	}
}

/* Free all slots before @end. The caller drops the references in @put. Return: their number */
static unsigned int complete_slots(struct smcr_link *link, u32 end, bool delivered,
				   struct smcr_conn **put)
{
	unsigned int nr = 0;

	while ((s32)(end - link->tail) > 0) {
		struct smcr_send_slot *slot = &link->slots[link->tail++ % SMCR_SEND_SLOTS];

		if (slot->is_long)
			link->long_busy = false;
		if (delivered)
			note_delivery(link, slot);
		if (unlikely(slot->left))
			release_left_rings(slot);
		if (slot->rc)
			put[nr++] = slot->rc;
		slot->rc = NULL;
	}
	return nr;
}

static void post_waiting(struct smcr_link *link)
{
	struct smcr_conn *rc;

	while (link->state == SMCR_LINK_ACTIVE && !list_empty(&link->waiting)) {
		rc = list_first_entry(&link->waiting, struct smcr_conn, waiting);
		if (!post_next(rc))
			break;
		list_del_init(&rc->waiting);
		rc->is_waiting = false;
	}
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smcr_send_slot *slot = container_of(wc->wr_cqe, struct smcr_send_slot, cqe);
	struct smcr_conn *put[SMCR_SEND_SLOTS];
	struct smcr_link *link = slot->link;
	unsigned int nr;

	if (wc->status != IB_WC_SUCCESS) {
		/* smcr_send_destroy() frees the slots, when the queue pair is drained */
		if (wc->status == IB_WC_RETRY_EXC_ERR)
			smcr_link_lose_path(link);
		else
			smcr_link_down(link, SMC_LINK_LOST_PATH);
		return;
	}
	spin_lock_bh(&link->send_lock);
	nr = complete_slots(link, slot->number + 1, true, put);
	post_waiting(link);
	spin_unlock_bh(&link->send_lock);
	wake_up(&link->in_flight);
	if (READ_ONCE(link->group->llc.unproved) == link)
		smcr_llc_kick(link->group);
	while (nr)
		smcr_conn_put(put[--nr]);
}

/* A long message uses link->long_bytes, which has room for one */
static int post_llc(struct smcr_link *link, const void *msg, unsigned int bytes)
{
	bool is_long = bytes > SMCR_MESSAGE_BYTES;
	struct smcr_send_slot *slot;
	struct ib_send_wr wr;
	struct ib_sge sge;

	lockdep_assert_held(&link->send_lock);
	if (!link->rts || link->state == SMCR_LINK_DOWN || link->state == SMCR_LINK_UNUSED)
		return -ENOLINK;
	slot = free_slot(link, 0);
	if (!slot || (is_long && (link->long_busy || !link->long_bytes)))
		return -EAGAIN;

	if (!is_long) {
		memcpy(link->slot_bytes + slot_offset(link, slot), msg, bytes);
		prepare_message(link, slot, &wr, &sge, bytes);
	} else {
		memcpy(link->long_bytes, msg, bytes);
		prepare_long(link, slot, &wr, &sge, bytes);
		link->long_busy = true;
	}
	set_signal(link, &wr, true);
	slot->rc = NULL;
	slot->is_long = is_long;
	post(link, slot, &wr);
	return 0;
}

/**
 * smcr_link_send() - send an LLC message
 * @link: the link
 * @msg: the message
 *
 * May sleep, but not for the peer.
 *
 * Return: 0; -ENOLINK if the link cannot send; -EAGAIN if the send queue is full, or
 * another long message is in it; -EINVAL; -ENOMEM.
 */
int smcr_link_send(struct smcr_link *link, const struct smc_llc *msg)
{
	void *buf = kmalloc(SMC_LLC_BUILD_MAX, GFP_KERNEL);
	int err, bytes;

	if (!buf)
		return -ENOMEM;
	bytes = smc_llc_build(msg, buf, SMC_LLC_BUILD_MAX);
	if (bytes < 0) {
		err = bytes;
	} else {
		spin_lock_bh(&link->send_lock);
		err = post_llc(link, buf, bytes);
		spin_unlock_bh(&link->send_lock);
		if (!err)
			trace_smcr_llc(link->group->net_cookie, link->number, link->user_id, true,
				       msg);
	}
	kfree(buf);
	return err;
}

/**
 * smcr_link_post_reg() - register memory with the device
 * @link: the link; its queue pair can send
 * @reg: the request. Requests that are posted later find the memory registered
 * @behind: result: the request is complete when link->tail has reached this
 *
 * Return: 0; -ENOLINK if the link cannot send; -EAGAIN if the send queue is full.
 */
int smcr_link_post_reg(struct smcr_link *link, struct ib_reg_wr *reg, u32 *behind)
{
	struct smcr_send_slot *slot;
	int err = 0;

	spin_lock_bh(&link->send_lock);
	slot = free_slot(link, 0);
	if (!link->rts || link->state == SMCR_LINK_DOWN) {
		err = -ENOLINK;
	} else if (!slot) {
		err = -EAGAIN;
	} else {
		reg->wr.wr_cqe = &slot->cqe;
		set_signal(link, &reg->wr, true);
		slot->rc = NULL;
		slot->is_long = false;
		post(link, slot, &reg->wr);
		*behind = link->head;
	}
	spin_unlock_bh(&link->send_lock);
	return err;
}

/**
 * smcr_send_create() - allocate what the send queue needs besides the queue pair
 * @link: a link with a protection domain
 *
 * Return: 0 or -ENOMEM. The caller calls smcr_send_destroy() later, also after an error.
 */
int smcr_send_create(struct smcr_link *link)
{
	unsigned int i;

	link->slots = kcalloc(SMCR_SEND_SLOTS, sizeof(*link->slots), GFP_KERNEL);
	link->slot_bytes = kcalloc(SMCR_SEND_SLOTS, SMCR_MESSAGE_BYTES, GFP_KERNEL);
	if (!link->slots || !link->slot_bytes)
		return -ENOMEM;
	for (i = 0; i < SMCR_SEND_SLOTS; i++) {
		link->slots[i].cqe.done = send_done;
		link->slots[i].link = link;
	}
	link->slot_dma = smcr_link_map(link, link->slot_bytes, SMCR_SEND_SLOTS * SMCR_MESSAGE_BYTES,
				       DMA_TO_DEVICE);
	if (!link->slot_dma)
		return -ENOMEM;
	if (link->group->version == 1)
		return 0;
	link->long_bytes = kmalloc(SMC_LLC_BUILD_MAX, GFP_KERNEL);
	if (!link->long_bytes)
		return -ENOMEM;
	link->long_dma = smcr_link_map(link, link->long_bytes, SMC_LLC_BUILD_MAX, DMA_TO_DEVICE);
	return link->long_dma ? 0 : -ENOMEM;
}

/* The queue pair is drained: free all slots, and drop the waiting connections */
static void drop_all(struct smcr_link *link)
{
	struct smcr_conn *put[SMCR_SEND_SLOTS], *rc, *next;
	LIST_HEAD(waiting);
	unsigned int nr;

	spin_lock_bh(&link->send_lock);
	nr = complete_slots(link, link->head, false, put);
	list_splice_init(&link->waiting, &waiting);
	list_for_each_entry(rc, &waiting, waiting)
		rc->is_waiting = false;
	spin_unlock_bh(&link->send_lock);
	while (nr)
		smcr_conn_put(put[--nr]);
	/* Unlist first: the put may free the connection */
	list_for_each_entry_safe(rc, next, &waiting, waiting) {
		list_del_init(&rc->waiting);
		smcr_conn_put(rc);
	}
}

/**
 * smcr_send_destroy() - free what smcr_send_create() has allocated
 * @link: a link whose queue pair is drained, or was not created
 */
void smcr_send_destroy(struct smcr_link *link)
{
	if (link->slots)
		drop_all(link);
	if (link->slot_dma)
		ib_dma_unmap_single(link->pd->device, link->slot_dma,
				    SMCR_SEND_SLOTS * SMCR_MESSAGE_BYTES, DMA_TO_DEVICE);
	if (link->long_dma)
		ib_dma_unmap_single(link->pd->device, link->long_dma, SMC_LLC_BUILD_MAX,
				    DMA_TO_DEVICE);
	kfree(link->slots);
	kfree(link->slot_bytes);
	kfree(link->long_bytes);
	link->slots = NULL;
	link->slot_bytes = NULL;
	link->long_bytes = NULL;
	link->slot_dma = 0;
	link->long_dma = 0;
	link->long_busy = false;
}
