/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link: a queue pair, and all resources of its device that serve a link group.
 *
 *	link.c	states of the queue pair, from INIT to its destruction
 *	send.c	the send queue: LLC messages; RDMA writes, each followed by a CDC message
 *	recv.c	the receive queue: CDC and LLC messages
 *
 * Links are part of their group (struct smcr_group), and have its lifetime. smcr_link_create()
 * allocates the resources of the device. After its success only the group's work frees them; @state
 * tells whether they exist.
 */
#ifndef _NET_SMC_RDMA_LINK_H
#define _NET_SMC_RDMA_LINK_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "../wire/cdc.h"
#include "../wire/clc.h"
#include "../wire/llc.h"
#include "../wire/reason.h"

struct smc_address;
struct smcr_conn;
struct smcr_device;
struct smcr_gid;
struct smcr_group;
struct smcr_send_ring;

/**
 * enum smcr_link_state - state of a link
 * @SMCR_LINK_UNUSED: it has no resources of a device, or they are being created
 * @SMCR_LINK_FORMING: the queue pair exists (INIT, RTR or RTS), CONFIRM LINK is not done. The link
 *	receives LLC messages from RTR on, and sends them from RTS on
 * @SMCR_LINK_ACTIVE: connections may use it
 * @SMCR_LINK_DOWN: it sends nothing any more; the group's work clears it
 */
enum smcr_link_state {
	SMCR_LINK_UNUSED,
	SMCR_LINK_FORMING,
	SMCR_LINK_ACTIVE,
	SMCR_LINK_DOWN,
};

/**
 * struct smcr_link_peer - one end of a link, as CLC or ADD LINK describes it
 * @gid: GID of the port
 * @mac: MAC address of that port
 * @qpn: number of the queue pair
 * @psn: initial packet sequence number
 * @mtu: path MTU code
 */
struct smcr_link_peer {
	struct smc_gid gid;
	u8 mac[6];
	u32 qpn;
	u32 psn;
	u8 mtu;
};

struct smcr_send_slot;
struct smcr_recv_slot;

/**
 * struct smcr_link - a link
 * @group: the group it is part of; constant
 * @gid: the local port; holds a reference unless the link is unused
 * @device_node: node in gid->dev->links
 * @state: enum smcr_link_state; written under @send_lock
 * @reason: enum smc_link_reason, why it went down
 * @number: assigned by the server; 0 until known
 * @agreed: no DELETE LINK is needed: the peer deletes the link, or does not know it
 * @dev: the device; holds a reference, also after the link is cleared. NULL if the link was never
 *	used
 * @conns: number of connections that send on it, for monitoring and for their distribution
 * @user_id: local id of the link, for display
 * @port: number of the local port; stays when the link is cleared
 * @ifindex: network device of the port; stays when the link is cleared
 * @direct: the route stays within one subnet
 * @local: the local end; stays when the link is cleared
 * @peer: the peer's end
 * @peer_user_id: the peer's id of the link
 * @pd: protection domain, of this link only
 * @cq: completion queue, from the device's pool
 * @nr_cqe: entries of @cq that this link may use
 * @qp: queue pair
 * @failed: the device reported an error; the group's work takes the link down
 * @severed: its port is down, or has lost its address, which the peer may notice as well. The port
 *	may become active again
 * @severed_since: jiffies of the last change of @severed by the port
 * @no_path: it went down because the peer's port does not respond; written under @send_lock
 * @rts: the queue pair can send; written under @send_lock
 * @last_received: jiffies of the last received message, for keepalive
 * @send_lock: protects the send queue and the fields marked @send_lock; taken with bottom halves
 *	off, also inside smc_conn.lock, smcr_group.lock and smcr_device.lock. Taken inside: the lock
 *	of a second link by smcr_link_move(), and smcr_device.name_lock
 * @slots: ring of slots, one for each message in the send queue
 * @slot_bytes: the messages, SMCR_MESSAGE_BYTES each
 * @slot_dma: DMA address of @slot_bytes
 * @head: number of slots posted, modulo 2^32; @send_lock
 * @tail: number of slots completed, modulo 2^32; @send_lock
 * @unsignalled: slots posted since the last signalled one; @send_lock
 * @inline_sends: short messages are sent inline
 * @waiting: connections whose control data found no free slot; @send_lock
 * @long_bytes: a long LLC message to send; NULL in version 1
 * @long_dma: DMA address of @long_bytes
 * @long_busy: @long_bytes is in the send queue; @send_lock
 * @recv_lock: protects @receives; taken with bottom halves off. No lock is taken inside
 * @receives: a slot is posted again once its message was copied
 * @recv: receive slots
 * @recv_slot_bytes: size of each slot
 * @recv_bytes: memory of the slots
 * @recv_dma: DMA address of @recv_bytes
 * @recv_tail: memory behind the end of each slot, for the rest of long messages; NULL if those fit
 *	into the slots
 * @recv_tail_dma: DMA address of @recv_tail
 * @in_flight: woken when requests have completed, and when the link goes down
 * @told: the last event of the link was "up"; protected by smcr_group.lock
 */
struct smcr_link {
	struct smcr_group *group;
	struct smcr_gid *gid;
	struct list_head device_node;
	u8 state;
	u32 reason;
	u8 number;
	bool agreed;
	struct smcr_device *dev;
	atomic_t conns;
	u32 user_id;
	u8 port;
	int ifindex;
	bool direct;
	struct smcr_link_peer local;
	struct smcr_link_peer peer;
	u32 peer_user_id;

	struct ib_pd *pd;
	struct ib_cq *cq;
	unsigned int nr_cqe;
	struct ib_qp *qp;
	bool failed;
	bool severed;
	unsigned long severed_since;
	bool no_path;
	bool rts;
	unsigned long last_received;

	spinlock_t send_lock;	/* protects the fields marked @send_lock */
	struct smcr_send_slot *slots;
	void *slot_bytes;
	u64 slot_dma;
	u32 head;
	u32 tail;
	u32 unsignalled;
	bool inline_sends;
	struct list_head waiting;
	void *long_bytes;
	u64 long_dma;
	bool long_busy;

	spinlock_t recv_lock;	/* protects receives */
	bool receives;
	struct smcr_recv_slot *recv;
	unsigned int recv_slot_bytes;
	void *recv_bytes;
	u64 recv_dma;
	void *recv_tail;
	u64 recv_tail_dma;
	wait_queue_head_t in_flight;
	bool told;
};

/* link.c; process context, may sleep, but not for the peer */
void smcr_link_init(struct smcr_link *link, struct smcr_group *rg);
int smcr_link_create(struct smcr_link *link, struct smcr_gid *gid);
void smcr_link_look_ahead(struct smcr_link *link, const struct smc_address *peer);
int smcr_link_choose_keys(struct smcr_link *link);	/* for all RMBs */
int smcr_link_connect(struct smcr_link *link);	/* @peer is known: INIT -> RTR */
int smcr_link_start(struct smcr_link *link);	/* RTR -> RTS, and register all RMBs */
void smcr_link_activate(struct smcr_link *link);	/* CONFIRM LINK is done */
void smcr_link_quiesce(struct smcr_link *link);	/* in the group's work, like the next */
void smcr_link_clear(struct smcr_link *link);

/* Process context or softirq. Nothing happens if the link is down already. */
void smcr_link_down(struct smcr_link *link, u32 reason);
void smcr_link_lose_path(struct smcr_link *link);	/* the peer's port does not respond */
void smcr_link_set_severed(struct smcr_link *link, bool severed);
void smcr_link_down_locked(struct smcr_link *link, u32 reason);	/* with @send_lock */

static inline bool smcr_link_usable(const struct smcr_link *link)
{
	return READ_ONCE(link->state) == SMCR_LINK_ACTIVE;
}

/* Any context. Reads the state once, because it may change from FORMING to ACTIVE meanwhile */
static inline bool smcr_link_is_there(const struct smcr_link *link)
{
	u8 state = READ_ONCE(link->state);

	return state == SMCR_LINK_FORMING || state == SMCR_LINK_ACTIVE;
}

/* Are RMBs to be registered with the link, and send rings to be mapped for it? */
static inline bool smcr_link_has_memory(const struct smcr_link *link)
{
	return link->pd && smcr_link_is_there(link);
}

/* Map memory of the link for its device. Return: DMA address, or 0 after an error */
static inline u64 smcr_link_map(struct smcr_link *link, void *bytes, size_t len,
				enum dma_data_direction direction)
{
	u64 dma = ib_dma_map_single(link->pd->device, bytes, len, direction);

	return ib_dma_mapping_error(link->pd->device, dma) ? 0 : dma;
}

/* send.c */
int smcr_link_send(struct smcr_link *link, const struct smc_llc *msg);
int smcr_link_post_reg(struct smcr_link *link, struct ib_reg_wr *reg, u32 *behind);
void smcr_link_post_cdc(struct smcr_conn *rc, const struct smc_cdc *cdc);
void smcr_link_stop(struct smcr_conn *rc);
void smcr_link_withdraw(struct smcr_conn *rc);
void smcr_link_progress(struct smcr_conn *rc, struct smc_conn_ends *out);
bool smcr_link_tx_progress(struct smcr_conn *rc, struct smc_tx_progress *out);
bool smcr_link_has_left_ring(struct smcr_conn *rc);
bool smcr_link_change_ring(struct smcr_conn *rc, struct smcr_send_ring *ring);
bool smcr_link_move(struct smcr_conn *rc, struct smcr_link *to, u32 rkey, u64 addr,
		    u32 consumed, struct smc_cursor cursor);
int smcr_send_create(struct smcr_link *link);
void smcr_send_destroy(struct smcr_link *link);

/* recv.c */
unsigned int smcr_recv_sges(const struct smcr_link *link);
int smcr_recv_create(struct smcr_link *link);
int smcr_recv_post_all(struct smcr_link *link);
void smcr_recv_stop(struct smcr_link *link);
void smcr_recv_destroy(struct smcr_link *link);

#define SMCR_SEND_SLOTS		32	/* messages in the send queue */
#define SMCR_SEND_RESERVED	4	/* of them for LLC and registrations only */
#define SMCR_SEND_WRITES	3	/* before a message: both rings may wrap within its data */
#define SMCR_SEND_REQUESTS	((SMCR_SEND_WRITES + 1) * SMCR_SEND_SLOTS)
#define SMCR_RECV_SLOTS		64
#define SMCR_MESSAGE_BYTES	64	/* room for one CDC or short LLC message */

#endif /* _NET_SMC_RDMA_LINK_H */
