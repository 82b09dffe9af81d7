/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a link group: RMBs, which the peer writes to, and send rings.
 *
 * An RMB holds elements of one size. It is registered once with each link, and announced once to
 * the peer. An RMB that was idle for some time is withdrawn by DELETE RKEY, and freed. The memory
 * outlives the links: programs still read data that has arrived when the device is removed.
 */
#ifndef _NET_SMC_RDMA_MEMORY_H
#define _NET_SMC_RDMA_MEMORY_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <rdma/ib_verbs.h>

#include "../types.h"
#include "../wire/clc.h"
#include "../wire/llc.h"

struct smcr_conn;
struct smcr_group;
struct smcr_link;

#define SMCR_LINKS		3	/* two, and one more while one is replaced */
#define SMCR_RMB_ELEMENTS	64	/* at most, see smcr_rmb_take() */
#define SMCR_SEND_RING_MIN	SZ_4K

/**
 * struct smcr_registration - an RMB as one link knows it
 * @mr: memory region, NULL if the RMB is not registered
 * @dma: DMA address; the peer uses mr->rkey and mr->iova
 * @wr: the registration request
 * @posted: @wr was posted
 * @behind: @wr is complete when link->tail has reached this
 */
struct smcr_registration {
	struct ib_mr *mr;
	u64 dma;
	struct ib_reg_wr wr;
	bool posted;
	u32 behind;
};

/**
 * enum smcr_rmb_state - may connections use an RMB?
 * @SMCR_RMB_NEW: not announced; connections that use it wait. CLC announces the first one of a
 *	group
 * @SMCR_RMB_ANNOUNCED: the peer knows it
 * @SMCR_RMB_REFUSED: its announcement has failed; no connection may use it
 * @SMCR_RMB_WITHDRAWN: DELETE RKEY is in progress or will be repeated; no connection may use it
 */
enum smcr_rmb_state {
	SMCR_RMB_NEW,
	SMCR_RMB_ANNOUNCED,
	SMCR_RMB_REFUSED,
	SMCR_RMB_WITHDRAWN,
};

/**
 * struct smcr_rmb - memory for the peer to write to
 * @list: node in smcr_group.rmbs
 * @llc_node: node in a list of struct smcr_llc, before and after its announcement
 * @llc_error: result of the announcement, 0 or a negative errno
 * @state: enum smcr_rmb_state
 * @announcing: from smcr_llc_announce() until its result is processed; smcr_group.lock
 * @element_bytes: size of each element
 * @nr_elements: number of elements
 * @base: the memory
 * @used: elements that are in use or lost; bit 0 is index 1
 * @idle_since: jiffies when an element was last released
 * @share: memory share that it counts against; constant
 * @links: its registrations, by link
 *
 * smcr_group.memory_lock protects the fields, except @announcing and those of LLC. smcr_group.lock
 * protects the change of @state from NEW to ANNOUNCED or REFUSED, so readers use READ_ONCE().
 */
struct smcr_rmb {
	struct list_head list;
	struct list_head llc_node;
	int llc_error;
	u8 state;
	bool announcing;
	u32 element_bytes;
	u8 nr_elements;
	u8 *base;
	DECLARE_BITMAP(used, SMCR_RMB_ELEMENTS);
	unsigned long idle_since;
	struct smc_share *share;
	struct smcr_registration links[SMCR_LINKS];
};

/**
 * struct smcr_send_ring - memory to send from
 * @list: node in smcr_group.rings
 * @bytes: size
 * @base: the memory
 * @dma: DMA address, by link
 * @mapped: @dma is valid, by link
 * @used: bit 0: in use, by a connection or a request of the device
 * @idle_since: jiffies when it was released
 * @group: the group that has it; constant
 * @share: memory share that it counts against; constant
 * @next_left: the next one in smcr_send_slot.left; protected by the send_lock of the link
 */
struct smcr_send_ring {
	struct list_head list;
	u32 bytes;
	u8 *base;
	u64 dma[SMCR_LINKS];
	bool mapped[SMCR_LINKS];
	unsigned long used;
	unsigned long idle_since;
	struct smcr_group *group;
	struct smc_share *share;
	struct smcr_send_ring *next_left;
};

/**
 * struct smcr_rtoken - an RMB of the peer
 * @used: this entry is valid
 * @rkey: its key, by link
 * @addr: its address, by link
 * @known: @rkey and @addr are valid, by link
 */
struct smcr_rtoken {
	bool used;
	u32 rkey[SMCR_LINKS];
	u64 addr[SMCR_LINKS];
	bool known[SMCR_LINKS];
};

/* rtoken.c: any context; the functions take smcr_group.rtokens_lock */
int smcr_rtoken_add(struct smcr_link *link, u32 rkey, u64 addr);
int smcr_rtoken_add_other(struct smcr_link *link, u32 rkey, struct smcr_link *other,
			  u32 other_rkey, u64 other_addr);
int smcr_rtoken_delete(struct smcr_link *link, u32 rkey);
int smcr_rtoken_find(struct smcr_link *link, u32 rkey, u64 addr);
bool smcr_rtoken_is_known(struct smcr_link *link, u32 rkey);
int smcr_rtoken_get(struct smcr_link *link, int rtoken, u32 *rkey, u64 *addr);
void smcr_rtoken_forget_link(struct smcr_link *link);

/* memory.c: process context, may sleep, but not for the peer */
struct smcr_rmb *smcr_rmb_take(struct smcr_group *rg, u32 wanted, u32 most, u8 *element,
			       bool *fresh);
void smcr_rmb_release(struct smcr_group *rg, struct smcr_rmb *rmb, u8 element, u64 written);
struct smcr_rmb *smcr_rmb_withdraw(struct smcr_group *rg, unsigned long age);
void smcr_rmb_discard(struct smcr_group *rg, struct smcr_rmb *rmb);
bool smcr_rmbs_trim(struct smcr_group *rg);
int smcr_memory_register(struct smcr_link *link);
unsigned int smcr_memory_list(struct smcr_link *over, struct smcr_link *link, unsigned int skip,
			      struct smc_llc_rtoken *out, unsigned int most);
bool smcr_rmb_is_registered(struct smcr_group *rg, const struct smcr_rmb *rmb);
void smcr_memory_unregister(struct smcr_link *link);
void smcr_memory_free(struct smcr_group *rg);

/* ring.c: process context */
void smcr_send_rings_init(struct smcr_group *rg);
void smcr_send_rings_end(struct smcr_group *rg);
struct smcr_send_ring *smcr_send_ring_take(struct smcr_conn *rc, u32 bytes);
u32 smcr_send_ring_limit(struct smcr_group *rg);
void smcr_send_ring_release(struct smcr_send_ring *ring);	/* any context */
void smcr_send_rings_trim(struct smcr_group *rg, unsigned long age);
void smcr_send_rings_trim_large(struct smcr_group *rg);
int smcr_send_rings_map(struct smcr_link *link);
void smcr_send_rings_unmap(struct smcr_link *link);
void smcr_send_rings_free(struct smcr_group *rg);

static inline void *smcr_memory_alloc(size_t bytes, gfp_t how)
{
	return alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | how);
}

/* The largest mapping of a device: 256 KiB with bounce buffers, as in confidential guests */
static inline size_t smcr_most_mapped(struct ib_device *dev)
{
	return ib_uses_virt_dma(dev) ? SIZE_MAX : dma_max_mapping_size(dev->dma_device);
}

static inline u8 *smcr_rmb_element(const struct smcr_rmb *rmb, u8 element)
{
	return rmb->base + (size_t)element * rmb->element_bytes;
}

static inline size_t smcr_rmb_bytes(const struct smcr_rmb *rmb)
{
	return (size_t)rmb->nr_elements * rmb->element_bytes;
}

#endif /* _NET_SMC_RDMA_MEMORY_H */
