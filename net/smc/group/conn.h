/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection: the two rings and the positions in them.
 *
 * Each side owns the ring it receives from; the other side writes to it. Control data (CDC) carries
 * the positions and flags of the peer, but no data.
 *
 *	   local ring (rx)		the peer's ring (tx)
 *	consumed ... produced		consumed ... produced
 *	   |            |		   |            |
 *	   |            from the peer      |            local, in sendmsg
 *	   local, in recvmsg		   from the peer
 *
 * Each position is kept twice: as a cursor in the format of the wire, and as a byte count modulo
 * 2^32. The difference of two counts is a number of bytes.
 *
 * A user of a connection that does not hold the socket lock, or sleeps without it, needs a
 * reference. Holders are: the socket while it is attached, system calls, queued work, a running
 * timer, and the connection itself while it has memory. The last reference frees the connection
 * after a grace period, because a signal of the peer may still run. It drops the reference to the
 * socket at once: a signal may use that only under @lock, while the connection has memory, or with
 * a reference.
 *
 * The struct is in this folder because the transports fill in the rings. The operations are in
 * conn/.
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

/* Bytes of the largest state that a transport keeps in a struct smc_conn: that of SMC-D */
#define SMC_CONN_ROOM	208

struct smc_payer;

/**
 * struct smc_conn_rx - the ring we receive from
 * @wanted: requested size, before the allocation; of a ring that grows, the size that suffices for
 *	a program that reads
 * @largest: size up to which a ring may grow while the program reads nothing
 * @granted: bytes charged to the memory cgroup for it. Set by smc_conn_open(); once the connection
 *	is attached, conn->lock
 * @chosen: the program chose @wanted; otherwise it is the default
 * @buffer_bytes: size of the buffer element; below 16 KiB it is announced as 16 KiB
 * @base: address of offset 0; readers access only produced bytes. If @may_move, the peer may
 *	change @base, @ring and the cursors at any time, under conn->lock and the socket's spin lock
 * @ring: its bounds
 * @may_move: the peer may replace the memory of the ring, see conn/resize.c. Set by smc_conn_open()
 * @most: size up to which writes of the peer make the ring grow; 0 if they do not, or could not
 *	when the peer tried last. Set by smc_conn_open(); then written under the peer's socket lock
 * @awaited: the peer wanted to make the ring larger before this end was attached; conn->lock, and
 *	constant once it is attached
 * @reading: a call copies from the ring and holds the socket lock alone; conn->lock
 * @left: smc_ring_memory.priv of the former memory, from which that call copies; conn->lock
 * @left_written: smc_ring_memory.written of @left
 * @consumed: bytes consumed; written under conn->lock and the socket lock, or its spin lock
 *	alone (smc_rx_try())
 * @cons: @consumed as a cursor
 * @produced: bytes the peer has produced; written under conn->lock. Read without the lock by
 *	smp_load_acquire(), which makes the data visible
 * @total: the same since the connection began, for TCP_INFO
 * @last: jiffies when the peer has produced data last
 * @prod: @produced as a cursor: the last one accepted
 * @announced: smc_rx_passed() as the peer knows it; written under conn->lock
 * @peer_blocked: the peer waits for space; written under conn->lock
 * @owed: the peer waits for space, and a report of it is delayed; conn->lock
 * @stamp: time of the peer's last announcement of data, 0 if the socket has no use for it
 * @seqno: number of the last control message, if the transport numbers them; conn->lock
 */
struct smc_conn_rx {
	u32 wanted;
	u32 largest;
	u32 granted;
	bool chosen;
	bool may_move;
	bool awaited;
	bool reading;
	u32 buffer_bytes;
	u8 *base;
	struct smc_ring ring;
	u32 most;
	u32 left_written;
	void *left;
	u32 consumed;
	struct smc_cursor cons;
	u32 produced;
	u64 total;
	unsigned long last;
	struct smc_cursor prod;
	u32 announced;
	bool peer_blocked;
	bool owed;
	ktime_t stamp;
	u16 seqno;
};

/**
 * struct smc_conn_tx - the ring that the program's data is written to: over SMC-D the peer's ring,
 * over SMC-R this end's send buffer, from where it is written to the peer's ring
 * @buffer_bytes: size of its element, as announced
 * @base: address of offset 0
 * @ring: its bounds
 * @peer: bounds of the peer's ring; over SMC-D those of @ring
 * @most: size up to which this end may make the ring grow while the peer reads; constant
 * @largest: the same while the peer reads nothing; written under the socket lock
 * @limit: the largest size that the devices can use; 0 unless the transport is buffered; constant
 * @stuck: the ring was to grow and could not; written under the socket lock, or by the peer when it
 *	starts
 * @failures: how often in a row it could not, although the limits allowed it; written under the
 *	socket lock
 * @tried: jiffies when it was to grow last
 * @cramped: the ring is too small for writes as the last one, or to delay announcements as
 *	@coalesce wants; the next write makes it larger. Written under conn->lock or the socket lock
 * @produced: bytes we produced; written under conn->lock and the socket lock, or its spin lock
 *	alone (smc_tx_try())
 * @total: the same since the connection began, for TCP_INFO
 * @last: jiffies when the program has sent data last
 * @prod: @produced as a cursor
 * @consumed: bytes the peer has consumed; written under conn->lock
 * @seen: @produced when a kworker last looked whether the ring is idle
 * @idle_looks: how often it has found so since the last write
 * @next_ask: the peer is asked when there were so many
 * @last_consumed: jiffies when the peer has consumed data last; conn->lock
 * @cons: @consumed as a cursor of the peer's ring: the last one accepted
 * @announced: bytes announced to the peer, if the transport is buffered; conn->lock
 * @peer_prod: @announced as a cursor of the peer's ring; conn->lock
 * @window_full: the last message could not announce all data, because the peer's ring had no space
 *	for it, see conn/window.c; conn->lock
 * @end_waits: "sending done" or "closed" waits for such data; written under conn->lock
 * @closed_late: "closed" had to wait; conn->lock
 * @waiting: a call or a program waits for smc_tx_writable(), or has done so and got nothing yet
 * @waiters: number of calls that wait for space; written under the socket lock
 * @full_at: @produced when a call has found no space; written under the socket lock
 * @unread: there was no space, and the peer has read nothing for a while; written under conn->lock
 *	or the socket lock
 * @unread_timer: timer of conn/unread.c. It is started under conn->lock, and holds a reference
 * @stall: timer for TCP_USER_TIMEOUT. It is started under conn->lock, and holds a reference
 * @stall_begin: jiffies when a call has found no space, and @stall was started; conn->lock
 * @stall_asked: messages ask for the peer's consumer cursor; conn->lock
 * @report_asked: the same, to make the ring smaller; conn->lock
 * @highest: end of the part of the ring that was written before @prod.count was there, or 0; see
 *	smc_tx_written(). Offset in the ring; written under the socket lock, or its spin lock
 * @seqno: number of the last control message; conn->lock
 * @producer_flags: for each control message; conn->lock
 * @state_flags: for each control message; conn->lock
 * @refused: the peer would not read data: it closed, or we did; conn->lock
 * @ended: "closed" or "aborted" was sent, or the peer is gone: nothing may follow; conn->lock
 * @coalesce: the announcement of small writes may be delayed (Nagle)
 * @hold_most: upper limit of @held; conn->lock
 * @held: bytes produced and not announced yet; conn->lock
 * @held_writes: how many writes @held is of, if it is not 0; conn->lock
 * @stream_at: local_clock() at the last sign of a stream of writes, see is_in_stream(); written
 *	under conn->lock or the socket lock
 * @flush: timer that announces @held and @owed; initialized when it is started first. Until then
 *	flush.function is NULL
 * @urgent_hold: the peer has not consumed the urgent byte; data behind it is not announced;
 *	conn->lock
 * @urgent_end: position behind the urgent byte; conn->lock
 * @urgent_prod: @urgent_end as a cursor; conn->lock
 */
struct smc_conn_tx {
	u32 buffer_bytes;
	u32 most;
	u32 largest;
	u32 limit;
	u8 *base;
	struct smc_ring ring;
	struct smc_ring peer;
	bool stuck;
	bool cramped;
	bool unread;
	u8 failures;
	unsigned long tried;
	u32 produced;
	u64 total;
	unsigned long last;
	struct smc_cursor prod;
	u32 consumed;
	u32 seen;
	u32 idle_looks;
	u32 next_ask;
	unsigned long last_consumed;
	struct smc_cursor cons;
	u32 announced;
	struct smc_cursor peer_prod;
	bool window_full;
	bool end_waits;
	bool closed_late;
	bool waiting;
	u32 waiters;
	u32 full_at;
	struct timer_list unread_timer;
	struct timer_list stall;
	unsigned long stall_begin;
	bool stall_asked;
	bool report_asked;
	u32 highest;
	u16 seqno;
	u8 producer_flags;
	u8 state_flags;
	bool refused;
	bool ended;
	bool coalesce;
	u32 hold_most;
	u32 held;
	u32 held_writes;
	u64 stream_at;
	struct hrtimer flush;
	bool urgent_hold;
	u32 urgent_end;
	struct smc_cursor urgent_prod;
};

/**
 * struct smc_conn_urgent - received urgent data; conn->lock
 * @announced: the peer has announced urgent data
 * @expected: the peer has not written it yet
 * @lost: number of former urgent bytes right behind the consumed ones, which are never read
 * @gone: number of bytes right behind the consumed ones that the peer may overwrite: @lost, and one
 *	more if it was copied to @kept
 * @mark: @pos is valid
 * @pos: position of the urgent byte
 * @ready: @byte is valid and was not read
 * @byte: the urgent byte
 * @kept: the last of the @gone bytes, for a program that reads it in line or as normal data
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
 * @refs: references, see above
 * @holders: of the memory: all references together, and for a grace period after the last one; and
 *	a device, see smc_conn_hold_memory()
 * @release: called after the last reference was dropped; any context; constant
 * @free: called after the last holder is gone; any context; constant
 * @unheld: RCU state when the device's hold ended; the memory stays for a grace period
 * @sk: the TCP socket; constant. Not valid after the last reference, although the memory lives on
 * @sn: state of the namespace of @sk; constant. As @sk
 * @wq: where programs wait, NULL without a struct socket; changed under the socket lock, read under
 *	RCU
 * @woken: called in place of a wake-up while @wq is NULL; NULL if there is nothing to call. Any
 *	context. Written under smc_accept_queue.lock of the listening socket
 * @account: carries the charge for buffers to @payer, see group/buffer.c; NULL without a charge
 * @counters: counters of the namespace and the mode; set with @transport
 * @role: local role; constant
 * @transport: the transport; set while the connection has memory
 * @priv: private data of the transport
 * @room: for @priv, if the transport needs no more
 * @group: link group, with a reference, or NULL
 * @charged: bytes of buffers charged to @account
 * @payer: the memory cgroup that pays for them; NULL if none does
 * @first_contact: the handshake is to form @group
 * @other_address: client: the group was formed with another address of the peer
 * @progress: called when the handshake can continue, when the connection is cut off
 *	(smc_conn_is_cut_off()), or when it was freed after its release; any context; constant
 * @answered: the transport has set @answer
 * @answer: enum smc_reason, valid with @answered
 * @awaits_last: server: the client may have the Accept, and connect() returns with its Confirm
 * @declined: the peer has declined the connection in the handshake
 * @lost: the path to the peer is gone; @lock
 * @peer_gone: the peer's end of the connection does not exist any more; @lock
 * @token: local alert token, by which the peer names this connection (SMC-R); for monitoring, the
 *	lower half of the DMB token (SMC-D). Set by conn_open(), then constant
 * @peer_token: the peer's alert token
 * @lock: protects the fields marked @lock; taken with bottom halves off. No other lock of the
 *	module is taken inside it, except by the transport's cdc_post, tx_progress, ring_swap and
 *	conn_ends, and that of the peer by conn/resize.c
 * @state: enum smc_close_state; @lock
 * @shutdown: RCV_SHUTDOWN and SEND_SHUTDOWN for the program; written under @lock. Read without the
 *	lock by smp_load_acquire(), which makes the last bytes and @failed visible
 * @failed: the connection was reset; sk_err has the error until the program takes it; @lock
 * @error: positive errno of the reset, 0 after the program took it; valid with @failed
 * @attached: the handshake is complete, control data is applied; @lock
 * @has_early: @early is valid; @lock
 * @early: the last control data that arrived before @attached was set; @lock
 * @released: the socket and its system calls do not use the connection any more; @lock
 * @orphan: counted in smc_net.orphans: the program has closed it, the peer has not; @lock
 * @freeing: smc_conn_free() is due or has run; @lock
 * @rx: receive ring
 * @tx: the ring that data is sent through
 * @urgent: received urgent data
 * @rx_flags: last producer flags of the peer, for monitoring
 * @rx_state_flags: all state flags received. They decide when the stream ends, whether a RST ends
 *	TCP, and whether the element may be used again; written under @lock
 * @free_work: frees the memory for callers that cannot sleep
 * @kick_work: kicks the peer when kicks are nested too deep
 * @timer: timer of the socket, see handle_sock_timer(). A running timer holds a reference
 * @dead: node in the list of smc_conn_reap()
 * @watched: node in the list of conn/balance.c, while the ring that data is sent through is larger
 *	than at the start, or @tx.stuck
 */
struct smc_conn {
	refcount_t refs;
	refcount_t holders;
	void (*release)(struct smc_conn *conn);
	void (*free)(struct smc_conn *conn);
	unsigned long unheld;
	struct sock *sk;
	struct smc_net *sn;
	struct socket_wq __rcu *wq;
	void (*woken)(struct smc_conn *conn);
	struct sock *account;
	u64 __percpu *counters;
	enum smc_role role;
	const struct smc_transport *transport;
	void *priv;
	u64 room[SMC_CONN_ROOM / sizeof(u64)];
	struct smc_group *group;
	u32 charged;
	struct smc_payer *payer;
	bool first_contact;
	bool other_address;
	void (*progress)(struct smc_conn *conn);
	bool answered;
	u32 answer;
	bool awaits_last;
	bool declined;
	bool lost;
	bool peer_gone;
	u32 token;
	u32 peer_token;
	spinlock_t lock;	/* protects the fields marked @lock */
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
	struct smc_conn_rx rx;
	struct smc_conn_tx tx;
	struct smc_conn_urgent urgent;
	u8 rx_flags;
	u8 rx_state_flags;
	struct work_struct free_work;
	struct work_struct kick_work;
	struct timer_list timer;
	struct llist_node dead;
	struct list_head watched;
};

/*
 * End of the part of the ring that was ever written, so that only this part is cleared before
 * reuse: an offset in the ring. No call writes to the ring.
 */
static inline u32 smc_tx_written(const struct smc_conn_tx *tx)
{
	return max(tx->highest, tx->prod.count);
}

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

/*
 * Hold the memory of the struct, which has @room in it, longer than the connection: for a device,
 * once for each connection. Any context; the caller has a reference.
 */
static inline void smc_conn_hold_memory(struct smc_conn *conn)
{
	refcount_inc(&conn->holders);
}

/* The hold ends, but what has found the memory before may still use it under RCU. Any context. */
static inline void smc_conn_drop_memory(struct smc_conn *conn)
{
	conn->unheld = get_state_synchronize_rcu();
	if (refcount_dec_and_test(&conn->holders))
		conn->free(conn);
}

/*
 * Start or move a timer of the connection; a running timer holds a reference. @expires: jiffies.
 * Any context.
 */
static inline void smc_conn_arm(struct smc_conn *conn, struct timer_list *timer,
				unsigned long expires)
{
	if (!mod_timer(timer, expires))
		smc_conn_get(conn);
}

/* Stop such a timer; does not wait for a timer function that runs. Any context. */
static inline void smc_conn_disarm(struct smc_conn *conn, struct timer_list *timer)
{
	if (del_timer(timer))
		smc_conn_put(conn);
}

/* Start or move @timer; see smc_conn_arm() */
static inline void smc_conn_start_timer(struct smc_conn *conn, unsigned long expires)
{
	smc_conn_arm(conn, &conn->timer, expires);
}

/* As smc_conn_start_timer(), but a timer that expires earlier is not moved. Any context. */
static inline void smc_conn_limit_timer(struct smc_conn *conn, unsigned long expires)
{
	if (!timer_reduce(&conn->timer, expires))
		smc_conn_get(conn);
}

/* Stop @timer; see smc_conn_disarm() */
static inline void smc_conn_stop_timer(struct smc_conn *conn)
{
	smc_conn_disarm(conn, &conn->timer);
}

/* Add to a counter of the namespace and mode of an open connection. Any context. */
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
