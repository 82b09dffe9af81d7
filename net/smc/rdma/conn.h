/* SPDX-License-Identifier: GPL-2.0-only */
/* SMC-R's part of a connection */
#ifndef _NET_SMC_RDMA_CONN_H
#define _NET_SMC_RDMA_CONN_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/refcount.h>

#include "../group/conn.h"

struct smcr_group;
struct smcr_link;
struct smcr_rmb;
struct smcr_send_ring;

/**
 * struct smcr_conn - SMC-R's part of a connection
 * @ref: held by the connection, by each of its messages in the send queue, and while it waits for a
 *	slot. So the send ring stays until the device has read it
 * @rcu: frees it when look-ups by token have ended
 * @node: node in smcr_group.conns
 * @rg: the group; holds a reference
 * @conn: the connection; valid while a reference of @users is held
 * @users: held by running upcalls, and by the connection until conn_close
 * @unused: completed when the last reference of @users is dropped
 * @token: alert token; constant
 * @rmb: RMB that the peer writes to
 * @element: number of the element in it, from 0
 * @awaited: smc_conn_ready() is due when @rmb is announced; smcr_group.lock
 * @lost: no link is left for it, smc_conn_lost() reports that; smcr_group.lock
 * @described: a CLC message describes the element, so the peer may write to it
 * @attached: the peer's element is known, and no later connection has it; written under
 *	smcr_group.lock
 * @rtoken: index of the peer's RMB
 * @peer_index: index of the peer's element in it, from 1
 * @link: link on which it sends; set under smcr_group.lock, changed under smc_conn.lock and the
 *	send_lock of both links. Its send_lock protects the fields below while data is exchanged
 * @ring: send ring; changed under the socket lock and smc_conn.lock, too
 * @bounds: bounds of the peer's ring
 * @rkey: key of the peer's RMB on @link
 * @peer_addr: address of the peer's element on @link
 * @peer_offset: offset of that element in its RMB; constant
 * @sent: everything before this position of the peer's ring was posted to the device
 * @written: number of bytes before @sent, modulo 2^32. Byte n of the stream is at offset n modulo
 *	the size of @ring
 * @announced: number of bytes that @cdc announces, modulo 2^32
 * @acked: number of bytes that the peer's adapter has confirmed, modulo 2^32
 * @tx_seqno: number of the last control message posted
 * @acked_seqno: number of the last control message that the peer's adapter has confirmed
 * @has_cdc: @cdc is valid
 * @reported: @written when the device was last asked to report the completion of a message
 * @wants_report: it is to report that of the next message
 * @unproved: the connection was moved to @link, and its failover message is due
 * @is_waiting: @cdc waits for a slot
 * @left_on: link on which it has left a ring for another one
 * @left_until: the device has read that when @left_on->tail has reached this
 * @waiting: node in link->waiting
 * @cdc: the latest control data for the peer
 * @withdrawn: the peer has withdrawn its RMB, nothing is written to it any more
 * @stopped: nothing is sent any more
 */
struct smcr_conn {
	struct kref ref;
	struct rcu_head rcu;
	struct hlist_node node;
	struct smcr_group *rg;
	struct smc_conn *conn;
	refcount_t users;
	struct completion unused;
	u32 token;
	struct smcr_rmb *rmb;
	u8 element;
	bool awaited;
	bool lost;
	bool described;
	bool attached;
	int rtoken;
	u8 peer_index;

	struct smcr_link *link;
	struct smcr_send_ring *ring;
	struct smc_ring bounds;
	u32 rkey;
	u64 peer_addr;
	u64 peer_offset;
	struct smc_cursor sent;
	u32 written;
	u32 announced;
	u32 acked;
	u32 reported;
	u16 tx_seqno;
	u16 acked_seqno;
	bool has_cdc;
	bool wants_report;
	bool unproved;
	bool is_waiting;
	struct smcr_link *left_on;
	u32 left_until;
	struct list_head waiting;
	struct smc_cdc cdc;
	bool withdrawn;
	bool stopped;
};

/* conn.c: transport operations */
int smcr_conn_open(struct smc_conn *conn);
void smcr_conn_describe(const struct smc_conn *conn, struct smc_clc_accept *out);
int smcr_conn_attach(struct smc_conn *conn, const struct smc_clc_accept *peer);
int smcr_conn_settle(struct smc_conn *conn);
void smcr_conn_close(struct smc_conn *conn);
bool smcr_conn_tx_progress(struct smc_conn *conn, struct smc_tx_progress *out);
void smcr_conn_cdc_post(struct smc_conn *conn, const struct smc_cdc *cdc);

/* element.c */
u32 smcr_element_choose(const struct smcr_group *rg, const struct smc_conn *conn, u32 *most);
u32 smcr_element_first_use(struct net *net);
void smcr_element_fade(const struct smcr_conn *rc);
void smcr_element_note(const struct smcr_conn *rc, u32 consumed, u32 announced, bool blocked);

/* ring.c: transport operations */
int smcr_conn_ring_alloc(struct smc_conn *conn, u32 bytes, struct smc_ring_memory *memory);
bool smcr_conn_ring_swap(struct smc_conn *conn, struct smc_ring_memory *memory);
void smcr_conn_ring_free(struct smc_conn *conn, void *memory, u32 written, bool reuse);

void smcr_conn_put(struct smcr_conn *rc);

/* Take a reference for an upcall. Under RCU or smcr_group.lock. False if it is closed. */
static inline bool smcr_conn_use(struct smcr_conn *rc)
{
	return refcount_inc_not_zero(&rc->users);
}

static inline void smcr_conn_unuse(struct smcr_conn *rc)
{
	if (refcount_dec_and_test(&rc->users))
		complete(&rc->unused);
}

void smcr_conn_received(struct smcr_link *link, const struct smc_cdc *cdc);
void smcr_conn_withdraw(struct smcr_group *rg, int rtoken);
bool smcr_conn_any_open(struct smcr_group *rg);
void smcr_conn_use_eye_catcher(struct smcr_conn *rc);

/* failover.c; in the group's work */
void smcr_conn_leave(struct smcr_group *rg, struct smcr_link *link, bool is_drained);

#endif /* _NET_SMC_RDMA_CONN_H */
