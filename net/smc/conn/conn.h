/* SPDX-License-Identifier: GPL-2.0-only */
/* What can be done with a connection; the struct is in group/conn.h */
#ifndef _NET_SMC_CONN_CONN_H
#define _NET_SMC_CONN_CONN_H

#include "../group/conn.h"
#include "close_fsm.h"

struct in6_addr;
struct smc_group;

#define SMC_TRY_MAX	SZ_4K	/* largest transfer for smc_tx_try() and smc_rx_try() */

/*
 * Those who wait for the connection: programs, on the queue of their struct socket. TCP does not
 * wake them, it has another queue meanwhile, see sock/smc_sock.c. Only system calls may ask for the
 * queue: their struct socket is there.
 */
static inline wait_queue_head_t *smc_conn_waiters(const struct smc_conn *conn)
{
	return &rcu_dereference_protected(conn->wq, 1)->wait;
}

/*
 * The connection fails: programs are told @error, once. As after TCP's reset, what happens later is
 * no error any more. conn->lock is held.
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
 * Is a program to be told an error? For SO_ERROR the kernel takes sk_err without calling the
 * module: the next call of the program, if TCP's reset has not arrived yet, clears @error.
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
 * As sock_error(), for an SMC connection: the error is returned once. TCP's reset may arrive later
 * and set sk_err again; sock/close.c then restores @error, which is 0.
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
void smc_conn_wake_readers(const struct smc_conn *conn);
void smc_conn_wake_writers(const struct smc_conn *conn);
void smc_conn_wake_all(const struct smc_conn *conn);
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

/* cdc.c */
int smc_cdc_attached(struct smc_conn *conn);
void smc_cdc_produced(struct smc_conn *conn, u32 bytes, bool blocked, bool urgent);
void smc_cdc_blocked(struct smc_conn *conn, bool urgent);
void smc_cdc_consumed(struct smc_conn *conn, u32 bytes);
bool smc_cdc_post(struct smc_conn *conn);
bool smc_cdc_update(struct smc_conn *conn);
void smc_cdc_kick(struct smc_conn *conn);
void smc_cdc_flush(struct smc_conn *conn);
void smc_cdc_init(struct smc_conn *conn);

/* tx.c */
int smc_tx_sendmsg(struct smc_conn *conn, struct msghdr *msg, size_t len);
int smc_tx_try(struct smc_conn *conn, struct msghdr *msg, size_t len);
bool smc_tx_writable(const struct smc_conn *conn);

/* rx.c */
int smc_rx_recvmsg(struct smc_conn *conn, struct msghdr *msg, size_t len, int flags);
int smc_rx_try(struct smc_conn *conn, struct msghdr *msg, size_t len);
void smc_rx_wait(struct smc_conn *conn);
bool smc_rx_readable(struct smc_conn *conn);
u32 smc_rx_amount(struct smc_conn *conn);

/* urgent.c */
enum smc_urgent_byte {
	SMC_URGENT_NONE,	/* the byte is read from the ring */
	SMC_URGENT_COPIED,	/* the byte is read from a copy */
	SMC_URGENT_LEFT_OUT,	/* the reader skips it */
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
 * Does urgent data matter to the reader? Any context. A reader that sees bytes in
 * smc_rx_available() sees the mark among them as well.
 */
static inline bool smc_urgent_matters(const struct smc_conn *conn)
{
	return READ_ONCE(conn->urgent.mark) || READ_ONCE(conn->urgent.gone);
}

/* Does the program stand at the mark? The socket lock is held. */
static inline bool smc_urgent_at_mark(struct smc_conn *conn)
{
	return smc_urgent_mark_follows(conn, 0);
}

/* What the peer is told that was consumed. conn->lock is held. */
static inline u32 smc_rx_passed(const struct smc_conn *conn)
{
	return conn->rx.consumed + conn->urgent.gone;
}

/* Bytes that can be read now. Any context; grows at any time, shrinks only
 * under the socket lock.
 */
static inline u32 smc_rx_available(const struct smc_conn *conn)
{
	/* Paired with the release in smc_conn_cdc_received(): the data is there */
	return smp_load_acquire(&conn->rx.produced) - READ_ONCE(conn->rx.consumed);
}

/*
 * Is as much there as somebody waits for? Half of the ring is enough for anybody,
 * because the writer may wait as well. Any context.
 */
static inline bool smc_rx_enough(const struct smc_conn *conn, u32 wanted)
{
	return smc_rx_available(conn) >= min(wanted, smc_ring_size(&conn->rx.ring) / 2);
}

/* Is the peer gone, or the way to it? Then the socket's work has something to do. Any context. */
static inline bool smc_conn_is_cut_off(const struct smc_conn *conn)
{
	return READ_ONCE(conn->lost) || READ_ONCE(conn->peer_gone);
}

/* Bytes in the peer's ring that it has not consumed, as far as we know */
static inline u32 smc_tx_outstanding(const struct smc_conn *conn)
{
	return READ_ONCE(conn->tx.produced) - READ_ONCE(conn->tx.consumed);
}

/* Bytes that can be written now. Socket lock held; may grow at any time. */
static inline u32 smc_tx_space(const struct smc_conn *conn)
{
	return smc_ring_size(&conn->tx.ring) - smc_tx_outstanding(conn);
}

/* So many bytes behind those produced are not zero any more. Socket lock held. */
static inline void smc_cdc_spoiled(struct smc_conn_tx *tx, u32 bytes)
{
	tx->highest = max(tx->highest, min(tx->prod.count + bytes, tx->ring.end));
}

#endif /* _NET_SMC_CONN_CONN_H */
