// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receive queue of a link.
 *
 * The softirq handler applies control data at once, and copies LLC messages for the LLC work, which
 * may sleep. Most messages have 44 bytes. Messages of LLC version 2 can be longer, but the protocol
 * allows one at a time: the part that does not fit into a slot goes to memory that all slots share.
 * A peer that sends several at once corrupts only its own messages; they are copied before they are
 * parsed. If the device has one scatter entry only, each slot has room for the longest message.
 */

#include <linux/slab.h>

#include "conn.h"
#include "device.h"
#include "group.h"

#define TAIL_BYTES	(SMC_LLC_RECEIVE_MAX - SMCR_MESSAGE_BYTES)
#define OPCODE_OTHERS	0xc0	/* from here on the class of CDC, with one defined type */

/**
 * struct smcr_recv_slot - room for one message
 * @cqe: leads from the completion to the slot
 * @link: the link
 */
struct smcr_recv_slot {
	struct ib_cqe cqe;
	struct smcr_link *link;
};

static unsigned int slot_offset(const struct smcr_link *link, const struct smcr_recv_slot *slot)
{
	return (slot - link->recv) * link->recv_slot_bytes;
}

static int post(struct smcr_link *link, struct smcr_recv_slot *slot)
{
	struct ib_sge sge[2] = {
		{
			.addr	= link->recv_dma + slot_offset(link, slot),
			.length	= link->recv_slot_bytes,
			.lkey	= link->pd->local_dma_lkey,
		}, {
			.addr	= link->recv_tail_dma,
			.length	= TAIL_BYTES,
			.lkey	= link->pd->local_dma_lkey,
		}
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &slot->cqe,
		.sg_list	= sge,
		.num_sge	= link->recv_tail ? 2 : 1,
	};

	return ib_post_recv(link->qp, &wr, NULL);
}

/*
 * A slot that is posted while the queue pair is drained may complete later, when the queue pair and
 * the slots are freed. rxe may even complete it with success: if the queue pair fails while a
 * message is delivered, each following slot gets that message again, without end if each is posted
 * again.
 */
static int repost(struct smcr_link *link, struct smcr_recv_slot *slot)
{
	int err = 0;

	spin_lock(&link->recv_lock);
	if (link->receives)
		err = post(link, slot);
	spin_unlock(&link->recv_lock);
	return err;
}

/* Address of the rest of a long message, which is made visible to the CPU */
static const u8 *sync_rest(struct smcr_link *link, unsigned int offset, u32 len)
{
	u64 dma = link->recv_tail_dma;
	const u8 *rest = link->recv_tail;

	if (!rest) {
		dma = link->recv_dma + offset + SMCR_MESSAGE_BYTES;
		rest = link->recv_bytes + offset + SMCR_MESSAGE_BYTES;
	}
	if (len > SMCR_MESSAGE_BYTES)
		ib_dma_sync_single_for_cpu(link->qp->device, dma, len - SMCR_MESSAGE_BYTES,
					   DMA_FROM_DEVICE);
	return rest;
}

/* Copy an LLC message before the slot is posted again. Return: whether it is one */
static bool took_llc(struct smcr_link *link, const u8 *head, unsigned int offset, u32 len)
{
	if (!len || head[0] >= OPCODE_OTHERS)
		return false;
	smcr_llc_received(link, head, sync_rest(link, offset, len), len);
	return true;
}

static void take_control(struct smcr_link *link, const u8 *msg, u32 len)
{
	struct smc_cdc cdc;

	if (!smc_cdc_parse(msg, len, &cdc))
		smcr_conn_received(link, &cdc);
	else
		smcr_link_down(link, SMC_LINK_PROTOCOL);
}

/*
 * An RDMA write with immediate data completes here, too, although SMC-R does not use it: its data
 * is not in the slot, and its length may exceed the slot.
 */
static bool is_message(const struct smcr_link *link, const struct ib_wc *wc)
{
	u32 room = link->recv_slot_bytes + (link->recv_tail ? TAIL_BYTES : 0);

	return wc->opcode == IB_WC_RECV && wc->byte_len <= room;
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smcr_recv_slot *slot = container_of(wc->wr_cqe, struct smcr_recv_slot, cqe);
	struct smcr_link *link = slot->link;
	u8 small[SMCR_MESSAGE_BYTES];
	u32 len = wc->byte_len;
	unsigned int offset;
	bool was_llc;

	if (wc->status != IB_WC_SUCCESS) {
		smcr_link_down(link, SMC_LINK_LOST_PATH);
		return;
	}
	if (!is_message(link, wc)) {
		smcr_link_down(link, SMC_LINK_PROTOCOL);
		return;
	}
	WRITE_ONCE(link->last_received, jiffies);
	offset = slot_offset(link, slot);
	ib_dma_sync_single_for_cpu(link->qp->device, link->recv_dma + offset, SMCR_MESSAGE_BYTES,
				   DMA_FROM_DEVICE);
	memcpy(small, link->recv_bytes + offset, SMCR_MESSAGE_BYTES);
	was_llc = took_llc(link, small, offset, len);
	ib_dma_sync_single_for_device(link->qp->device, link->recv_dma + offset,
				      link->recv_slot_bytes, DMA_FROM_DEVICE);
	/* Before control data is applied: the answer may make the peer send the next message */
	if (repost(link, slot))
		smcr_link_down(link, SMC_LINK_LOST_PATH);
	if (!was_llc)
		take_control(link, small, len);
}

static size_t recv_size(const struct smcr_link *link)
{
	return SMCR_RECV_SLOTS * link->recv_slot_bytes;
}

/**
 * smcr_recv_sges() - number of scatter entries of a receive slot
 * @link: a link with a protection domain
 *
 * Return: the number needed, or the limit of the device if that is lower.
 */
unsigned int smcr_recv_sges(const struct smcr_link *link)
{
	unsigned int needed = link->group->version == 2 ? 2 : 1;

	return clamp_t(unsigned int, link->pd->device->attrs.max_recv_sge, 1, needed);
}

/**
 * smcr_recv_create() - allocate what the receive queue needs besides the queue pair
 * @link: a link with a protection domain
 *
 * Return: 0 or -ENOMEM. The caller calls smcr_recv_destroy() later, also after an error.
 */
int smcr_recv_create(struct smcr_link *link)
{
	bool can_be_long = link->group->version == 2;
	unsigned int i;

	link->recv_slot_bytes = SMCR_MESSAGE_BYTES;
	if (can_be_long && smcr_recv_sges(link) == 1)
		link->recv_slot_bytes = SMC_LLC_RECEIVE_MAX;
	link->recv = kcalloc(SMCR_RECV_SLOTS, sizeof(*link->recv), GFP_KERNEL);
	link->recv_bytes = alloc_pages_exact(recv_size(link), GFP_KERNEL | __GFP_ZERO);
	if (!link->recv || !link->recv_bytes)
		return -ENOMEM;
	for (i = 0; i < SMCR_RECV_SLOTS; i++) {
		link->recv[i].cqe.done = recv_done;
		link->recv[i].link = link;
	}
	link->recv_dma = smcr_link_map(link, link->recv_bytes, recv_size(link), DMA_FROM_DEVICE);
	if (!link->recv_dma)
		return -ENOMEM;
	if (!can_be_long || link->recv_slot_bytes == SMC_LLC_RECEIVE_MAX)
		return 0;
	link->recv_tail = kzalloc(TAIL_BYTES, GFP_KERNEL);
	if (!link->recv_tail)
		return -ENOMEM;
	link->recv_tail_dma = smcr_link_map(link, link->recv_tail, TAIL_BYTES, DMA_FROM_DEVICE);
	return link->recv_tail_dma ? 0 : -ENOMEM;
}

/**
 * smcr_recv_post_all() - post all receive slots
 * @link: a link whose queue pair is at least INIT
 *
 * Return: 0 or a negative errno.
 */
int smcr_recv_post_all(struct smcr_link *link)
{
	unsigned int i;
	int err;

	link->receives = true;
	for (i = 0; i < SMCR_RECV_SLOTS; i++) {
		err = post(link, &link->recv[i]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * smcr_recv_stop() - post no receive slot any more
 * @link: a link whose queue pair is about to be drained
 *
 * Process context; does not sleep.
 */
void smcr_recv_stop(struct smcr_link *link)
{
	spin_lock_bh(&link->recv_lock);
	link->receives = false;
	spin_unlock_bh(&link->recv_lock);
}

/**
 * smcr_recv_destroy() - free what smcr_recv_create() has allocated
 * @link: a link whose queue pair is drained, or was not created
 */
void smcr_recv_destroy(struct smcr_link *link)
{
	if (link->recv_dma)
		ib_dma_unmap_single(link->pd->device, link->recv_dma, recv_size(link),
				    DMA_FROM_DEVICE);
	if (link->recv_tail_dma)
		ib_dma_unmap_single(link->pd->device, link->recv_tail_dma, TAIL_BYTES,
				    DMA_FROM_DEVICE);
	kfree(link->recv);
	if (link->recv_bytes)
		free_pages_exact(link->recv_bytes, recv_size(link));
	kfree(link->recv_tail);
	link->recv = NULL;
	link->recv_bytes = NULL;
	link->recv_tail = NULL;
	link->recv_dma = 0;
	link->recv_tail_dma = 0;
}
