/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link: a queue pair, and all that its device must know to serve a link group.
 *
 *	link.c	life of the queue pair, from INIT to its end
 *	send.c	the send queue: LLC messages; RDMA writes with the CDC message behind them
 *	recv.c	the receive queue: sorts CDC from LLC messages
 *
 * Links are part of their group (struct smcr_group), so the struct is there as long
 * as the group is. What belongs to the device is created and given back by the
 * group's work only; @state says what there is.
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

/**
 * enum smcr_link_state - how far a link is
 * @SMCR_LINK_UNUSED: nothing is there
 * @SMCR_LINK_FORMING: the queue pair exists (INIT, RTR or RTS), CONFIRM LINK is not done.
 *	LLC messages can be received, and sent once it is RTS
 * @SMCR_LINK_ACTIVE: connections may use it
 * @SMCR_LINK_DOWN: nothing is sent any more; the group's work will clear it
 */
enum smcr_link_state {
	SMCR_LINK_UNUSED,
	SMCR_LINK_FORMING,
	SMCR_LINK_ACTIVE,
	SMCR_LINK_DOWN,
};

/**
 * struct smcr_link_peer - one end of a link, as CLC and ADD LINK tell it
 * @gid: port
 * @mac: MAC address of that port
 * @qpn: queue pair
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
 * @gid: our port; holds a reference unless the link is unused
 * @device_node: in gid->dev->links
 * @state: enum smcr_link_state; written under @send_lock
 * @reason: enum smc_link_reason, why it went down
 * @number: given by the server; 0 until known
 * @agreed: the peer knows that the link ends
 * @dev: the device; holds a reference, which stays when the link is cleared. NULL if it was never
 *	used
 * @conns: connections that send over it, for monitoring and to spread them
 * @user_id: our name for the link, for display
 * @port: number of our port; stays when the link is cleared
 * @ifindex: its network device; stays as well
 * @direct: it stays within one subnet
 * @local: our end; stays when the link is cleared
 * @peer: the other end
 * @peer_user_id: its name for the link
 * @pd: protection domain, of this link only
 * @cq: completion queue, from the device's pool
 * @nr_cqe: our share of @cq
 * @qp: queue pair
 * @failed: the device reported an error; the group's work takes the link down
 * @severed: it lost its port or address, which the peer may notice as well. A port may come back
 * @severed_since: jiffies when it lost its port
 * @no_path: it went down because the peer's port does not answer; written under @send_lock
 * @rts: the queue pair can send; written under @send_lock
 * @last_received: jiffies when something came in last, for keepalive
 * @send_lock: protects the send queue and what says so; taken with bottom halves
 *	off, also inside smc_conn.lock. No other lock is taken inside
 * @slots: one for each message in the send queue, a ring
 * @slot_bytes: the messages themselves, SMCR_MESSAGE_BYTES each
 * @slot_dma: their address for the device
 * @head: slots ever posted; @send_lock
 * @tail: slots ever completed; @send_lock
 * @unsignalled: slots posted since the last one with a completion; @send_lock
 * @inline_sends: the device takes messages with the request
 * @waiting: connections that have something to post and found no slot; @send_lock
 * @long_bytes: a long LLC message on its way; @long_dma its address
 * @long_dma: see @long_bytes
 * @long_busy: it is; @send_lock
 * @recv_lock: protects @receives; taken with bottom halves off, none inside
 * @receives: a slot is posted again once its message was copied
 * @recv: receive slots
 * @recv_slot_bytes: room in each of them
 * @recv_bytes: what they receive
 * @recv_dma: its address for the device
 * @recv_tail: behind the end of each receive slot: the rest of long messages; NULL if those
 *	fit into the slots
 * @recv_tail_dma: its address for the device
 * @in_flight: woken when sends have completed, and when the link goes down
 * @told: listeners were told that it can be used; protected by smcr_group.lock
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

	spinlock_t send_lock;	/* protects what says so above */
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
void smcr_link_quiesce(struct smcr_link *link);	/* only in the group's work, as the next */
void smcr_link_clear(struct smcr_link *link);

/* Any context: the link failed, or must end. More than one call does no harm. */
void smcr_link_down(struct smcr_link *link, u32 reason);
void smcr_link_lose_path(struct smcr_link *link);	/* the peer's port does not answer */
void smcr_link_set_severed(struct smcr_link *link, bool severed);
void smcr_link_down_locked(struct smcr_link *link, u32 reason);	/* with @send_lock */

static inline bool smcr_link_usable(const struct smcr_link *link)
{
	return READ_ONCE(link->state) == SMCR_LINK_ACTIVE;
}

/* Any context. Reads the state once: a link that is formed and activated meanwhile is there */
static inline bool smcr_link_is_there(const struct smcr_link *link)
{
	u8 state = READ_ONCE(link->state);

	return state == SMCR_LINK_FORMING || state == SMCR_LINK_ACTIVE;
}

/* Memory of the link's own, for its device. Return: its address there, 0: it has none */
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
#define SMCR_SEND_RESERVED	4	/* of them not for connections */
#define SMCR_SEND_REQUESTS	(3 * SMCR_SEND_SLOTS)	/* two writes and a message each */
#define SMCR_RECV_SLOTS		64
#define SMCR_MESSAGE_BYTES	64	/* room for one CDC or short LLC message */

#endif /* _NET_SMC_RDMA_LINK_H */
