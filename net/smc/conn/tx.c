// SPDX-License-Identifier: GPL-2.0-only
/* Send: copy data from the program to the ring: the peer's, or over SMC-R this end's send buffer */

#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "../group/group.h"
#include "../trace.h"
#include "conn.h"

/* A long write is announced in pieces, so that the reader starts early */
#define PIECE	SZ_128K

/*
 * Does poll report the connection writable? If the next write has to make the ring larger, it may
 * find no memory, and waits, as over TCP. Any context.
 */
bool smc_tx_writable(const struct smc_conn *conn)
{
	return smc_tx_has_space(conn) || smc_tx_may_exceed(conn);
}

/* Has the program shut down writing, or does the peer not read any more? */
static bool is_send_refused(const struct smc_conn *conn)
{
	return READ_ONCE(conn->shutdown) & SEND_SHUTDOWN || READ_ONCE(conn->tx.refused);
}

/* Like sk_stream_error(): for -EPIPE, return the error of the connection if there is one */
static int get_stream_error(struct smc_conn *conn, const struct msghdr *msg, int err)
{
	if (err == -EPIPE)
		err = smc_conn_take_error(conn) ?: err;
	return sk_stream_error(conn->sk, msg->msg_flags, err);
}

/* Has the peer closed, and does the program not know? */
static bool has_peer_closed(const struct smc_conn *conn)
{
	return READ_ONCE(conn->tx.refused) && !(READ_ONCE(conn->shutdown) & SEND_SHUTDOWN);
}

/*
 * The peer has closed. As with TCP, the first write succeeds: the data is dropped, and the
 * connection is reset, so later calls fail. A server may thus answer a client that does not wait
 * for the answer. But an address that cannot be read is an error, and resets nothing.
 *
 * Return: number of bytes, or a negative errno.
 */
static int drop_after_peer_close(struct smc_conn *conn, struct msghdr *msg)
{
	size_t left = msg_data_left(msg);
	bool lost;

	if (!left)
		return 0;
	if (fault_in_iov_iter_readable(&msg->msg_iter, min_t(size_t, left, PIECE)))
		return -EFAULT;
	spin_lock_bh(&conn->lock);
	lost = has_peer_closed(conn);
	if (lost)
		smc_conn_reset(conn, EPIPE);
	spin_unlock_bh(&conn->lock);
	if (!lost)		/* the peer, or another thread, has just reset the connection */
		return get_stream_error(conn, msg, -EPIPE);
	iov_iter_advance(&msg->msg_iter, left);
	smc_conn_wake_reset(conn);
	return left;
}

static int refuse_send(struct smc_conn *conn, struct msghdr *msg)
{
	return has_peer_closed(conn) ? drop_after_peer_close(conn, msg) :
				       get_stream_error(conn, msg, -EPIPE);
}

static bool arm_and_check_space(struct smc_conn *conn)
{
	smc_conn_wants_space(conn);
	WRITE_ONCE(conn->tx.waiting, true);
	/* Paired with the barrier in conn/cdc.c, apply_message() */
	smp_mb();
	return smc_tx_writable(conn) || is_send_refused(conn);
}

/* Wait for space, or the end. The socket lock is released while waiting. */
static int wait_for_space(struct smc_conn *conn, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = conn->sk;
	int err = 0;

	WRITE_ONCE(conn->tx.waiters, conn->tx.waiters + 1);
	add_wait_queue(smc_conn_waiters(conn), &wait);
	while (!arm_and_check_space(conn)) {
		if (smc_tx_needs_report(conn))
			smc_cdc_blocked(conn, false);
		smc_stall_begin(conn);
		smc_unread_watch(conn);
		if (!*timeo) {
			err = -EAGAIN;
			break;
		}
		if (signal_pending(current)) {
			err = sock_intr_errno(*timeo);
			break;
		}
		sk_wait_event(sk, timeo, arm_and_check_space(conn), &wait);
	}
	remove_wait_queue(smc_conn_waiters(conn), &wait);
	WRITE_ONCE(conn->tx.waiters, conn->tx.waiters - 1);
	return err;
}

/*
 * Copy user data behind the produced bytes. The range lies within the ring, which is no slab
 * object, so the check of hardened usercopy is skipped. Return: bytes copied, fewer after a fault.
 */
static u32 copy_in(struct smc_conn *conn, struct iov_iter *from, u32 bytes)
{
	struct smc_ring_part part[2];
	u32 at = conn->tx.prod.count;
	unsigned int i, parts;
	u32 copied = 0;

	if (likely(bytes <= conn->tx.ring.end - at))
		return _copy_from_iter(conn->tx.base + at, bytes, from);
	parts = smc_ring_split(&conn->tx.ring, conn->tx.prod, bytes, part);
	for (i = 0; i < parts; i++) {
		size_t n = _copy_from_iter(conn->tx.base + part[i].offset, part[i].len, from);

		copied += n;
		if (n < part[i].len)
			break;
	}
	return copied;
}

/* Not inline: without tracing, the caller does not pay for the stack frame */
static noinline void emit_tx_trace(const struct smc_conn *conn, size_t len)
{
	char name[SMC_DEVICE_NAME_LEN];

	smc_group_device_name(conn->group, name);
	trace_smc_tx_sendmsg(conn->sk, len, name);
}

static __always_inline void trace_sent(const struct smc_conn *conn, size_t len)
{
	if (trace_smc_tx_sendmsg_enabled())
		emit_tx_trace(conn, len);
}

static __always_inline void count_send(struct smc_conn *conn, size_t len)
{
	smc_conn_count(conn, SMC_STAT_TX_CALLS, 1);
	smc_conn_count_size(conn, SMC_STAT_TX_SIZE, len);
}

/* A fault has left bytes in the ring that are not sent: the next write may be smaller */
static void note_spoiled(struct smc_conn_tx *tx, u32 bytes)
{
	tx->highest = max(tx->highest, min(tx->prod.count + bytes, tx->ring.end));
}

/**
 * smc_tx_try() - send a small amount of data, if that is possible at once
 * @conn: an active connection
 * @msg: data, without flags that smc_tx_sendmsg() must handle
 * @len: bytes in @msg, at most SMC_TRY_MAX
 *
 * The socket's spin lock is held, and no call owns the socket. Does not sleep: on a page fault the
 * caller uses smc_tx_sendmsg().
 *
 * Return: @len, or 0 if nothing was done.
 */
int smc_tx_try(struct smc_conn *conn, struct msghdr *msg, size_t len)
{
	u32 copied;

	if (unlikely(is_send_refused(conn) || len > smc_tx_space(conn) ||
		     READ_ONCE(conn->tx.cramped) || smc_tx_may_exceed(conn)))
		return 0;
	pagefault_disable();
	copied = copy_in(conn, &msg->msg_iter, len);
	pagefault_enable();
	if (unlikely(copied < len)) {
		note_spoiled(&conn->tx, copied);
		iov_iter_revert(&msg->msg_iter, copied);
		return 0;
	}
	smc_cdc_produced(conn, len, false, false);
	count_send(conn, len);
	smc_conn_count(conn, SMC_STAT_TX_BYTES, len);
	trace_sent(conn, len);
	return len;
}

/*
 * How far has data come that the program has sent? The program may ask again until all of it is
 * confirmed, so data must not wait, nor a report of the device. The socket lock is held. Does not
 * sleep.
 */
void smc_tx_get_progress(struct smc_conn *conn, struct smc_tx_progress *out)
{
	const struct smc_transport *transport = conn->transport;
	bool posted = false;

	memset(out, 0, sizeof(*out));
	if (!transport || !transport->tx_progress)
		return;
	smc_cdc_flush(conn);
	spin_lock_bh(&conn->lock);
	if (!conn->freeing && transport->tx_progress(conn, out))
		posted = smc_cdc_post(conn);
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
}

/* The ring is full: tell the peer, and wait if the call may wait */
static int wait_ring_full(struct smc_conn *conn, struct msghdr *msg, long *timeo)
{
	int err;

	smc_conn_count(conn, SMC_STAT_TX_PEER_FULL, 1);
	smc_cdc_blocked(conn, msg->msg_flags & MSG_OOB);
	WRITE_ONCE(conn->tx.full_at, conn->tx.produced);
	smc_tx_choose_largest(conn);
	err = wait_for_space(conn, timeo);
	/* The rest may be held if it is small (is_in_stream()): the reader has much to read */
	WRITE_ONCE(conn->tx.stream_at, local_clock());
	return err;
}

/**
 * smc_tx_sendmsg() - send data
 * @conn: an active connection
 * @msg: data and flags, as for TCP. MSG_MORE and corking have no effect
 * @len: bytes in @msg
 *
 * The socket lock is held, and released while waiting. May sleep.
 *
 * Return: number of bytes, or a negative errno if none was sent.
 */
int smc_tx_sendmsg(struct smc_conn *conn, struct msghdr *msg, size_t len)
{
	struct sock *sk = conn->sk;
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	bool waited = false, flush = false;
	int copied = 0;
	int err = 0;

	count_send(conn, len);
	if (len > max(conn->tx.buffer_bytes, conn->tx.most))
		smc_conn_count(conn, SMC_STAT_TX_BIGGER_THAN_PEER, 1);
	if (is_send_refused(conn))
		return refuse_send(conn, msg);
	while (msg_data_left(msg)) {
		u32 space, bytes;

		if (is_send_refused(conn)) {
			if (!copied)
				return refuse_send(conn, msg);
			err = -EPIPE;	/* unless the connection has an error of its own */
			break;
		}
		if (smc_tx_wants_growth(conn, msg_data_left(msg)))
			smc_tx_grow(conn, msg_data_left(msg));
		space = min_t(size_t, smc_tx_space(conn), PIECE);
		if (!space) {
			err = wait_ring_full(conn, msg, &timeo);
			if (err)
				break;
			waited = true;
			continue;
		}
		bytes = copy_in(conn, &msg->msg_iter, min_t(size_t, space, msg_data_left(msg)));
		if (!bytes) {
			err = -EFAULT;
			break;
		}
		flush = copied && !waited;	/* the last piece may be small, not the write */
		waited = false;
		copied += bytes;
		local_bh_disable();
		smc_cdc_produced(conn, bytes, msg_data_left(msg) && bytes == smc_tx_space(conn),
				 msg->msg_flags & MSG_OOB && !msg_data_left(msg));
		local_bh_enable();
	}

	if (!copied)
		return err ? get_stream_error(conn, msg, err) : 0;
	if (flush)
		smc_cdc_flush(conn);
	smc_conn_count(conn, SMC_STAT_TX_BYTES, copied);
	trace_sent(conn, copied);
	return copied;
}
