/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection: the two rings, and where both ends stand.
 *
 * Each end owns the ring it receives from; the peer writes to it. What the peer
 * has written and consumed arrives as control data (CDC), which names positions
 * and flags, never data.
 *
 *	   our ring (rx)			the peer's ring (tx)
 *	consumed ... produced		consumed ... produced
 *	   |            |		   |            |
 *	   |            said by the peer   |            by us, in sendmsg
 *	   by us, in recvmsg		   said by the peer
 *
 * Positions exist twice: as cursors, as the wire has them, and as free-running
 * byte counts modulo 2^32, whose differences are amounts.
 *
 * Whoever uses a connection without the socket lock, or sleeps with that released, holds a
 * reference to it: the socket while it is attached, a system call, queued work, a running timer,
 * and the connection itself while it has memory. The last one frees it after a grace period,
 * because a signal of the peer may be under way.
 *
 * The struct is here because transports fill in the rings; what is done with it
 * is in conn/.
 */
#ifndef _NET_SMC_GROUP_CONN_H
#define _NET_SMC_GROUP_CONN_H

#include <linux/hrtimer.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "../net.h"
#include "transport.h"

struct smc_payer;

/**
 * struct smc_conn_rx - the ring we receive from
 * @wanted: size asked for, before it is allocated
 * @granted: the most that the memory cgroup has for it; charged. Set by smc_conn_open()
 * @chosen: @wanted is the application's choice, not the default
 * @buffer_bytes: size of the buffer element, as announced
 * @base: where offset 0 of the ring is; readers never look beyond the produced bytes
 * @ring: its bounds
 * @consumed: bytes consumed; written under the socket lock and conn->lock
 * @cons: the same as a cursor
 * @produced: bytes the peer has produced; written under conn->lock. Read
 *	without it by smp_load_acquire(), so that the data is seen as well
 * @prod: the same as a cursor, the last one accepted
 * @announced: @consumed as the peer was told last; conn->lock
 * @peer_blocked: the peer waits for space; conn->lock
 * @owed: the peer waits for space, and what it will be told is held back; conn->lock
 * @notified: the reader was woken and has not looked since
 * @stamp: when the peer told of data last, or 0 if the socket did not want to know
 * @seqno: number of the last control message, where they are numbered; conn->lock
 */
struct smc_conn_rx {
	u32 wanted;
	u32 granted;
	bool chosen;
	u32 buffer_bytes;
	u8 *base;
	struct smc_ring ring;
	u32 consumed;
	struct smc_cursor cons;
	u32 produced;
	struct smc_cursor prod;
	u32 announced;
	bool peer_blocked;
	bool owed;
	bool notified;
	ktime_t stamp;
	u16 seqno;
};

/**
 * struct smc_conn_tx - the peer's ring
 * @buffer_bytes: size of its element, as announced
 * @base: where offset 0 of the ring is
 * @ring: its bounds
 * @produced: bytes we produced; written under the socket lock and conn->lock
 * @prod: the same as a cursor
 * @consumed: bytes the peer has consumed; written under conn->lock
 * @cons: the same as a cursor, the last one accepted
 * @waiting: somebody waits until smc_tx_writable()
 * @highest: bytes from the start of the ring that were ever written to
 * @seqno: number of the last control message; conn->lock
 * @producer_flags: in every control message; conn->lock
 * @state_flags: in every control message; conn->lock
 * @refused: nobody would read it: the peer closed, or we did; conn->lock
 * @ended: "closed" or "aborted" went out, nothing may follow; conn->lock
 * @coalesce: small writes may be held back for a moment (Nagle)
 * @hold_most: how much may be held back at most; constant
 * @held: bytes produced and not announced yet; conn->lock
 * @flush: announces them, and what is owed
 * @urgent_hold: an urgent byte is on its way, what is behind it is not announced
 *	until it is consumed; conn->lock
 * @urgent_end: position behind that byte; conn->lock
 * @urgent_prod: the same as a cursor; conn->lock
 */
struct smc_conn_tx {
	u32 buffer_bytes;
	u8 *base;
	struct smc_ring ring;
	u32 produced;
	struct smc_cursor prod;
	u32 consumed;
	struct smc_cursor cons;
	bool waiting;
	u32 highest;
	u16 seqno;
	u8 producer_flags;
	u8 state_flags;
	bool refused;
	bool ended;
	bool coalesce;
	u32 hold_most;
	u32 held;
	struct hrtimer flush;
	bool urgent_hold;
	u32 urgent_end;
	struct smc_cursor urgent_prod;
};

/**
 * struct smc_conn_urgent - received urgent data; conn->lock
 * @announced: the peer said there is some
 * @expected: it is not written yet
 * @lost: former urgent bytes right behind the consumed ones. Nobody reads them any more
 * @gone: bytes right behind the consumed ones that the peer may overwrite: those that are lost, and
 *	one more if it was copied to @kept
 * @mark: there is a mark in the stream at @pos
 * @pos: position of the urgent byte
 * @ready: @byte is there and was not read
 * @byte: the byte
 * @kept: the last of the @gone bytes, for a program that reads it in line, or as normal data
 */
struct smc_conn_urgent {
	bool announced;
	bool expected;
	u32 lost;
	u32 gone;
	bool mark;
	u32 pos;
	bool ready;
	u8 byte;
	u8 kept;
};

/**
 * struct smc_conn - a connection
 * @refs: who uses it, see above
 * @release: the last reference was given back; any context; constant
 * @sk: the TCP socket; constant, there is a reference as long as the connection lives
 * @wq: where programs wait, NULL without a struct socket; changed under the socket lock, read under
 *	RCU
 * @account: what buffers are accounted for, see group/buffer.c; constant
 * @counters: those of the namespace and the mode; set with @transport
 * @role: this side's role; constant
 * @transport: how bytes travel; set while memory is held
 * @priv: the transport's own
 * @group: link group, or NULL; the connection holds a reference
 * @charged: bytes of buffers that @account is charged for
 * @payer: where they count; NULL if no memory cgroup pays
 * @first_contact: it is the first of its group, which the handshake is to form
 * @other_address: the peer has another address than the one the group was formed with (client)
 * @progress: tells the socket that the handshake can go on, or that the connection is cut off
 *	(smc_conn_is_cut_off()), or freed after the application has closed it; any context; constant
 * @answered: the transport has the answer that the handshake waits for
 * @answer: enum smc_reason, valid with @answered
 * @declined: the peer has said in the handshake that it does not use the connection
 * @lost: the way to the peer is gone; @lock
 * @peer_gone: the peer's end does not exist any more; @lock
 * @token: alert token, for the peer to name this connection by; constant once conn_open() has
 *	returned
 * @peer_token: the peer's
 * @lock: protects what is marked so; taken with bottom halves off. No other
 *	lock of ours is taken inside, except by the transport's cdc_post
 * @state: how far it is ended, enum smc_close_state; @lock
 * @shutdown: RCV_SHUTDOWN and SEND_SHUTDOWN as the application has it; written under @lock. Read
 *	without it by smp_load_acquire(), so that the last bytes and @failed are seen as well
 * @failed: it was reset; what the application is told of that, once, is in sk_err; @lock
 * @error: positive errno that it was reset with, 0 once a program was told; valid with @failed
 * @attached: control data is taken: the handshake is over; @lock
 * @has_early: @early was received before; @lock
 * @early: the last control data that came too early; @lock
 * @released: the application has no descriptor any more; @lock
 * @orphan: it counts in smc_net.orphans: closed by the application, not yet by the peer; @lock
 * @freeing: the end of it is under way; @lock
 * @cancel_state: state of RCU when a handshake was cancelled last: after a grace period no signal
 *	of that peer is under way
 * @rx: receive ring
 * @tx: the peer's ring
 * @urgent: received urgent data
 * @rx_flags: producer flags last received, for monitoring
 * @rx_state_flags: all state flags received. They decide when the stream ends, whether a RST ends
 *	TCP, and whether the element may be used again; written under @lock
 * @free_work: gives the memory back, when that is found out where one cannot sleep
 * @kick_work: kicks the peer, where that would nest too deep
 * @timer: of the socket: the deadline of its handshake, or of a peer that is to end the connection;
 *	of a listening one: accept() has not come for its children. A running one holds a reference
 * @dead: in the list of smc_conn_reap()
 */
struct smc_conn {
	refcount_t refs;
	void (*release)(struct smc_conn *conn);
	struct sock *sk;
	struct socket_wq __rcu *wq;
	struct sock *account;
	u64 __percpu *counters;
	enum smc_role role;
	const struct smc_transport *transport;
	void *priv;
	struct smc_group *group;
	u32 charged;
	struct smc_payer *payer;
	bool first_contact;
	bool other_address;
	void (*progress)(struct smc_conn *conn);
	bool answered;
	u32 answer;
	bool declined;
	bool lost;
	bool peer_gone;
	u32 token;
	u32 peer_token;
	spinlock_t lock;	/* protects what says so above */
	u8 state;
	u8 shutdown;
	bool failed;
	int error;
	bool attached;
	bool has_early;
	struct smc_cdc early;
	bool released;
	bool orphan;
	bool freeing;
	unsigned long cancel_state;
	struct smc_conn_rx rx;
	struct smc_conn_tx tx;
	struct smc_conn_urgent urgent;
	u8 rx_flags;
	u8 rx_state_flags;
	struct work_struct free_work;
	struct work_struct kick_work;
	struct timer_list timer;
	struct llist_node dead;
};

/* Any context; the caller has a reference, or is in an RCU read-side critical section */
static inline bool smc_conn_get_not_zero(struct smc_conn *conn)
{
	return refcount_inc_not_zero(&conn->refs);
}

/* Any context; the caller has a reference */
static inline void smc_conn_get(struct smc_conn *conn)
{
	refcount_inc(&conn->refs);
}

/* Any context */
static inline void smc_conn_put(struct smc_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		conn->release(conn);
}

/* Start or move the timer. Any context; @expires in jiffies. */
static inline void smc_conn_start_timer(struct smc_conn *conn, unsigned long expires)
{
	if (!mod_timer(&conn->timer, expires))
		smc_conn_get(conn);
}

/* Any context; a timer function that runs goes on */
static inline void smc_conn_stop_timer(struct smc_conn *conn)
{
	if (del_timer(&conn->timer))
		smc_conn_put(conn);
}

/* Count in the namespace and mode of an open connection. Any context. */
static inline void smc_conn_count(const struct smc_conn *conn, unsigned int stat, s64 value)
{
	this_cpu_add(conn->counters[stat], value);
}

static inline void smc_conn_count_size(const struct smc_conn *conn, enum smc_stat first,
				       size_t bytes)
{
	smc_conn_count(conn, smc_stats_class(first, bytes), 1);
}

#endif /* _NET_SMC_GROUP_CONN_H */
