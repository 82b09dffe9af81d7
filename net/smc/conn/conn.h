/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations on a connection. The struct is in group/conn.h. */
#ifndef _NET_SMC_CONN_CONN_H
#define _NET_SMC_CONN_CONN_H

#include <net/tcp_states.h>

#include "../group/conn.h"
#include "close_fsm.h"

struct in6_addr;
struct smc_group;

/*
 * Bytes that smc_tx_try() and smc_rx_try() transfer at most, a few microseconds of copying: the
 * largest record of TLS 1.3 with its header
 */
#define SMC_TRY_MAX	(SZ_16K + 261)

/*
 * The wait queue of the struct socket, on which programs wait. TCP wakes another queue meanwhile,
 * see smc_sock_attach(). Only system calls may use this function: they have a struct socket.
 */
static inline wait_queue_head_t *smc_conn_waiters(const struct smc_conn *conn)
{
	return &rcu_dereference_protected(conn->wq, 1)->wait;
}

/*
 * Mark the connection as failed. The program gets @error once. As after a reset of TCP, later
 * events cause no further error. conn->lock is held.
 */
static inline void smc_conn_fail(struct smc_conn *conn, int error)
{
	lockdep_assert_held(&conn->lock);
	if (conn->failed)
		return;
	WRITE_ONCE(conn->error, error);
	WRITE_ONCE(conn->sk->sk_err, error);
	/* Paired with smc_conn_has_error() and smc_conn_take_error() */
	smp_store_release(&conn->failed, true);
}

/*
 * The connection is reset for the program: calls fail, the first one with @error. conn->lock is
 * held; the caller calls smc_conn_wake_reset() without it.
 */
static inline void smc_conn_reset(struct smc_conn *conn, int error)
{
	smc_conn_fail(conn, error);
	/* Paired with wait_or_finish() */
	smp_store_release(&conn->shutdown, SHUTDOWN_MASK);
}

/* How long a closed connection waits for its peer, in jiffies. Any context. */
static inline unsigned long smc_conn_fin_timeout(const struct smc_conn *conn)
{
	return READ_ONCE(sock_net(conn->sk)->ipv4.sysctl_tcp_fin_timeout);
}

/*
 * Has the program to be told an error? SO_ERROR takes sk_err without a call of the module. If the
 * reset of TCP has not arrived yet, the next call of the program finds sk_err taken and clears
 * @error here.
 */
static inline bool smc_conn_has_error(struct smc_conn *conn)
{
	/* Paired with smc_conn_fail() */
	if (!smp_load_acquire(&conn->failed))
		return false;
	if (READ_ONCE(conn->sk->sk_err))
		return true;
	WRITE_ONCE(conn->error, 0);
	return false;
}

/*
 * Like sock_error(): return the error once. A later reset of TCP may set sk_err again;
 * sock/close.c then restores @error, which is 0 by now.
 */
static inline int smc_conn_take_error(struct smc_conn *conn)
{
	bool failed = smp_load_acquire(&conn->failed);	/* paired with smc_conn_fail() */
	int err = sock_error(conn->sk);

	if (err || failed)
		WRITE_ONCE(conn->error, 0);
	return err;
}

/* wake.c; any context */
bool smc_conn_has_waiter(const struct smc_conn *conn);
void smc_conn_wake_readers(const struct smc_conn *conn);
void smc_conn_wake_writers(const struct smc_conn *conn);
void smc_conn_wake_all(const struct smc_conn *conn);
void smc_conn_wake_reset(const struct smc_conn *conn);
void smc_conn_wake_error(const struct smc_conn *conn);
void smc_conn_signal_owner(const struct smc_conn *conn, int how, int band);
void smc_conn_wants_space(const struct smc_conn *conn);

/* conn.c */
void smc_conn_init(struct smc_conn *conn, struct sock *sk);
void smc_conn_want(struct smc_conn *conn, int bytes, bool chosen);
int smc_conn_resolve(struct smc_conn *conn, const struct smc_transport *transport,
		     const struct in6_addr *remote, const struct smc_candidate *candidate,
		     const struct smc_address *peer);
int smc_conn_open(struct smc_conn *conn, const struct smc_transport *transport,
		  struct smc_group *group);
int smc_conn_attach(struct smc_conn *conn, const struct smc_clc_accept *peer);
int smc_conn_settle(struct smc_conn *conn);
bool smc_conn_answered(struct smc_conn *conn, u32 *reason);
int smc_conn_start(struct smc_conn *conn);
void smc_conn_cancel(struct smc_conn *conn);
void smc_conn_free(struct smc_conn *conn);
void smc_conn_free_later(struct smc_conn *conn);
void smc_conn_reap(void);
void smc_conn_exit(void);
void smc_conn_count_receive_buffer(const struct smc_conn *conn, s64 bytes);
u32 smc_conn_start_size(const struct smc_conn *conn);

/* cdc.c */
int smc_cdc_attached(struct smc_conn *conn);
void smc_cdc_produced(struct smc_conn *conn, u32 bytes, bool blocked, bool urgent);
bool smc_cdc_blocked(struct smc_conn *conn, bool urgent);
void smc_cdc_consumed(struct smc_conn *conn, u32 bytes);
bool smc_cdc_post(struct smc_conn *conn);
bool smc_cdc_update(struct smc_conn *conn);
void smc_cdc_kick(struct smc_conn *conn);
void smc_cdc_flush(struct smc_conn *conn);
void smc_cdc_init(struct smc_conn *conn);
void smc_cdc_stop_flush(struct smc_conn *conn);
void smc_cdc_limit_held(struct smc_conn *conn);

/* window.c */
void smc_window_limit(struct smc_conn *conn, struct smc_cdc *cdc);
bool smc_window_has_opened(const struct smc_conn *conn);

/* unread.c */
void smc_unread_init(struct smc_conn *conn);
void smc_unread_watch(struct smc_conn *conn);

/* tx.c */
int smc_tx_sendmsg(struct smc_conn *conn, struct msghdr *msg, size_t len);
int smc_tx_try(struct smc_conn *conn, struct msghdr *msg, size_t len);
bool smc_tx_writable(const struct smc_conn *conn);
void smc_tx_get_progress(struct smc_conn *conn, struct smc_tx_progress *out);

/* resize.c */
bool smc_ring_resize(struct smc_conn *writer, struct smc_conn *reader, u32 bytes);

/* send_buffer.c */
bool smc_send_buffer_resize(struct smc_conn *conn, u32 bytes);

/* grow.c */
void smc_tx_grow(struct smc_conn *conn, size_t left);
void smc_tx_choose_largest(struct smc_conn *conn);
bool smc_tx_can_grow(const struct smc_conn *conn, struct smc_conn *payer);
void smc_rx_started(struct smc_conn *conn);

/* balance.c */
void smc_balance_watch(struct smc_conn *conn, bool is_stuck);
void smc_balance_hasten(void);
void smc_balance_forget(struct smc_conn *conn);
void smc_balance_exit(void);

/* stall.c */
void smc_stall_init(struct smc_conn *conn);
void smc_stall_begin(struct smc_conn *conn);
void smc_stall_of_window(struct smc_conn *conn);
void smc_stall_follow_option(struct smc_conn *conn);

/* rx.c */
int smc_rx_recvmsg(struct smc_conn *conn, struct msghdr *msg, size_t len, int flags);
int smc_rx_try(struct smc_conn *conn, struct msghdr *msg, size_t len);
void smc_rx_wait(struct smc_conn *conn);
bool smc_rx_readable(struct smc_conn *conn);
u32 smc_rx_amount(struct smc_conn *conn);

/* urgent.c */
enum smc_urgent_byte {
	SMC_URGENT_NONE,	/* read it from the ring */
	SMC_URGENT_COPIED,	/* read it from the copy */
	SMC_URGENT_LEFT_OUT,	/* skip it */
};

int smc_urgent_recv(struct smc_conn *conn, struct msghdr *msg, size_t len, int flags);
bool smc_urgent_received(struct smc_conn *conn, const struct smc_cdc *cdc, u32 produced);
void smc_urgent_passed(struct smc_conn *conn, u32 bytes);
enum smc_urgent_byte smc_urgent_find(struct smc_conn *conn, u32 offset, u8 *byte);
void smc_urgent_release(struct smc_conn *conn);
u32 smc_urgent_amount(struct smc_conn *conn);
u32 smc_urgent_count_skipped(struct smc_conn *conn);
bool smc_urgent_peer_waits(struct smc_conn *conn);
bool smc_urgent_mark_follows(struct smc_conn *conn, u32 offset);
void smc_urgent_signal(struct smc_conn *conn);

/*
 * Does urgent data affect the reader? Any context. A reader that sees bytes in smc_rx_available()
 * also sees the mark among them.
 */
static inline bool smc_urgent_matters(const struct smc_conn *conn)
{
	return READ_ONCE(conn->urgent.mark) || READ_ONCE(conn->urgent.gone);
}

/* Is the next byte the urgent byte? The socket lock is held. */
static inline bool smc_urgent_at_mark(struct smc_conn *conn)
{
	return smc_urgent_mark_follows(conn, 0);
}

/* The position that the consumer cursor for the peer has. conn->lock is held. */
static inline u32 smc_rx_passed(const struct smc_conn *conn)
{
	return conn->rx.consumed + conn->urgent.gone;
}

/*
 * Bytes that can be read now. Any context. The peer increases the number at any time; the holder of
 * the socket lock, or of its spin lock alone, decreases it.
 */
static inline u32 smc_rx_available(const struct smc_conn *conn)
{
	/* Paired with the release in accept_cursors(): the data is visible */
	return smp_load_acquire(&conn->rx.produced) - READ_ONCE(conn->rx.consumed);
}

/* Bytes that the ring can hold once writes of the peer have made it larger. Any context. */
static inline u32 smc_rx_most(const struct smc_conn *conn)
{
	u32 size = READ_ONCE(conn->rx.ring.end) - conn->rx.ring.first;

	return max(READ_ONCE(conn->rx.most), size);
}

/*
 * Have enough bytes arrived for a reader that waits for @wanted? Half of the ring for a stream is
 * always enough, because the peer may wait for space. Any context.
 */
static inline bool smc_rx_enough(const struct smc_conn *conn, u32 wanted)
{
	return smc_rx_available(conn) >= min(wanted, smc_rx_most(conn) / 2);
}

/*
 * Does the peer wait for space, so that nothing comes before the program reads? Its send buffer may
 * be smaller than the ring. Over loopback, smc_rx_most() tells what can come. Any context.
 */
static inline bool smc_rx_peer_waits(const struct smc_conn *conn)
{
	return unlikely(READ_ONCE(conn->rx.peer_blocked)) && !conn->rx.may_move;
}

/* With how many bytes poll() and a wake-up report data, as far as they can come. Any context. */
static inline u32 smc_rx_lowat(const struct smc_conn *conn)
{
	return smc_rx_peer_waits(conn) ? 1 : READ_ONCE(conn->sk->sk_rcvlowat);
}

/*
 * The state of TCP that the program is to see. TCP's own connection is established as long as the
 * SMC connection, and may end before it. Any context.
 */
static inline u8 smc_conn_tcp_state(const struct smc_conn *conn)
{
	u8 state = READ_ONCE(conn->state), tcp = smc_close_tcp_state(state);

	if (READ_ONCE(conn->failed))
		return TCP_CLOSE;
	if (tcp == TCP_CLOSE && READ_ONCE(conn->tx.end_waits))
		return state == SMC_CLOSE_PEER_WAIT2 ? TCP_CLOSING : TCP_LAST_ACK;
	return tcp;
}

/* Is the peer or the path to it gone? Then the kworker of the socket ends it. Any context. */
static inline bool smc_conn_is_cut_off(const struct smc_conn *conn)
{
	return READ_ONCE(conn->lost) || READ_ONCE(conn->peer_gone);
}

/*
 * Has the connection started, and may this end still post? The program has not closed it: "closed"
 * may wait. conn->lock is held.
 */
static inline bool smc_conn_is_in_use(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->attached && !conn->freeing && !conn->failed && !conn->lost &&
	       !conn->peer_gone && !conn->tx.ended && !(conn->tx.state_flags & SMC_CDC_CLOSED);
}

/* Can the program still write, once there is space? conn->lock is held. */
static inline bool smc_tx_is_open(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return !conn->freeing && !conn->released && !conn->tx.refused &&
	       !(conn->shutdown & SEND_SHUTDOWN);
}

/* A flag of the sock, read without the socket lock, as TCP's callbacks do. Any context. */
static inline bool smc_conn_sock_flag(const struct smc_conn *conn, enum sock_flags flag)
{
	/* The holder of the lock may change another flag of that word, which is not atomic */
	return data_race(sock_flag(conn->sk, flag));
}

/* Bytes that the program has written and that the peer has not reported as consumed */
static inline u32 smc_tx_outstanding(const struct smc_conn *conn)
{
	return READ_ONCE(conn->tx.produced) - READ_ONCE(conn->tx.consumed);
}

/* Bytes that the ring can hold. Any context. The holder of the socket lock may change it. */
static inline u32 smc_tx_size(const struct smc_conn *conn)
{
	return READ_ONCE(conn->tx.ring.end) - conn->tx.ring.first;
}

/*
 * Bytes that can be written now. Any context. The peer increases the number at any time; the holder
 * of the socket lock decreases it.
 */
static inline u32 smc_tx_space(const struct smc_conn *conn)
{
	return smc_tx_size(conn) - smc_tx_outstanding(conn);
}

/* Has the ring not reached the size for a peer that reads? Any context. */
static inline bool smc_tx_is_small(const struct smc_conn *conn)
{
	return unlikely(READ_ONCE(conn->tx.buffer_bytes) < conn->tx.most);
}

/*
 * Can the next write make the ring larger, as far as this end knows? If it could not when it tried
 * last, a program waits for space. Any context.
 */
static inline bool smc_tx_may_grow(const struct smc_conn *conn)
{
	return smc_tx_is_small(conn) && !READ_ONCE(conn->tx.stuck);
}

/*
 * Is there space for a writer that waits, or can it make some? As with TCP, it is woken when a
 * third of the ring is free. Any context.
 */
static inline bool smc_tx_has_space(const struct smc_conn *conn)
{
	return smc_tx_space(conn) >= smc_tx_size(conn) / 3 || smc_tx_may_grow(conn);
}

/*
 * The peer reports what it has read when its ring is half full. A writer that waits for space in a
 * smaller send buffer has to tell the peer. Any context.
 */
static inline bool smc_tx_needs_report(const struct smc_conn *conn)
{
	return conn->tx.limit && smc_tx_size(conn) < smc_ring_size(&conn->tx.peer) &&
	       !smc_tx_has_space(conn);
}

/* Is there no space, and may the ring become larger if the peer reads nothing? Any context. */
static inline bool smc_tx_awaits_reader(const struct smc_conn *conn)
{
	return !smc_tx_has_space(conn) && !READ_ONCE(conn->tx.stuck) &&
	       READ_ONCE(conn->tx.buffer_bytes) < READ_ONCE(conn->tx.largest);
}

/* May the ring become larger, because the peer reads nothing? Any context. */
static inline bool smc_tx_may_exceed(const struct smc_conn *conn)
{
	return unlikely(READ_ONCE(conn->tx.unread)) && smc_tx_awaits_reader(conn);
}

/* Is the ring to grow before a call writes @left bytes? The socket lock is held. */
static inline bool smc_tx_wants_growth(const struct smc_conn *conn, size_t left)
{
	if (smc_tx_may_exceed(conn))
		return true;
	return smc_tx_may_grow(conn) &&
	       (left > smc_tx_space(conn) || READ_ONCE(conn->tx.cramped));
}

#endif /* _NET_SMC_CONN_CONN_H */
