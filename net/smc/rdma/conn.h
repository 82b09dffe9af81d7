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
 * @ref: the connection, each of its messages in the send queue, its place among those
 *	that wait for one. So the send ring is there until the device has read it
 * @rcu: look-ups by token may be under way
 * @node: in smcr_group.conns
 * @rg: the group; holds a reference
 * @conn: the connection; valid while a reference of @users is held
 * @users: upcalls under way, and the connection itself until conn_close
 * @unused: the last user is gone
 * @token: alert token; constant
 * @rmb: where the peer writes to
 * @element: number of the element in it, from 0
 * @awaited: the peer must learn of @rmb first, smc_conn_ready() is due; smcr_group.lock
 * @lost: smc_conn_lost() was reported; smcr_group.lock
 * @described: the peer may know the element
 * @attached: the peer's element is known, and nobody else's yet; written under smcr_group.lock
 * @rtoken: its RMB
 * @peer_index: its index there
 * @link: where its data goes out; changed under smc_conn.lock, smcr_group.lock and the send_lock of
 *	both links. The rest is under its send_lock
 * @ring: where its data is until then; a server has it before it is attached
 * @bounds: of the peer's ring, and so of what is used of @ring
 * @rkey: key of the peer's RMB on @link
 * @peer_addr: address of the peer's element on @link
 * @peer_offset: where that element begins in its RMB; constant
 * @sent: everything before this position was given to the device
 * @written: the same in bytes, modulo 2^32
 * @acked: so many of them are in the peer's memory, as its adapter has said
 * @tx_seqno: number of the last control message sent
 * @acked_seqno: of the last one that is in the peer's memory
 * @has_cdc: there is something in @cdc
 * @unproved: it was moved to @link, and the peer is to be asked whether it has everything
 * @is_waiting: @cdc could not be sent yet, and is in link->waiting
 * @waiting: in link->waiting
 * @cdc: the latest state of this end, for the peer
 * @withdrawn: the peer has taken back the RMB, nothing may be written to it
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
	u32 acked;
	u16 tx_seqno;
	u16 acked_seqno;
	bool has_cdc;
	bool unproved;
	bool is_waiting;
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
void smcr_conn_cdc_post(struct smc_conn *conn, const struct smc_cdc *cdc);

void smcr_conn_put(struct smcr_conn *rc);

/* Take part in upcalls. Under RCU or smcr_group.lock; false if the connection is closed */
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
void smcr_conn_leave(struct smcr_group *rg, struct smcr_link *link);

#endif /* _NET_SMC_RDMA_CONN_H */
