// SPDX-License-Identifier: GPL-2.0-only
/* Receive: copy data from the receive ring to the program */

#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/busy_poll.h>

#include "../group/group.h"
#include "../trace.h"
#include "conn.h"

/* A long read is consumed in pieces, so that the writer gets space early */
#define PIECE	SZ_128K

/*
 * Does poll report the connection readable? It does if SO_RCVLOWAT bytes are available, or if the
 * peer sends no more until the program reads. Any context.
 */
bool smc_rx_readable(struct smc_conn *conn)
{
	u32 lowat = smc_rx_lowat(conn);

	smc_cdc_flush(conn);
	if (unlikely(smc_urgent_matters(conn))) {
		smc_urgent_release(conn);
		if (smc_urgent_peer_waits(conn))	/* until the program reads */
			lowat = 1;
		lowat += smc_urgent_count_skipped(conn);
	}
	return smc_rx_enough(conn, lowat);
}

/* Result of ioctl(SIOCINQ): bytes up to an urgent byte that is not in line. Socket lock held. */
u32 smc_rx_amount(struct smc_conn *conn)
{
	if (likely(!smc_urgent_matters(conn)))
		return smc_rx_available(conn);
	smc_urgent_release(conn);
	return smc_urgent_amount(conn);
}

/**
 * struct source - where a reader copies from
 * @base: address of offset 0 of the ring
 * @ring: its bounds
 * @cons: the first byte that was not consumed
 */
struct source {
	const u8 *base;
	struct smc_ring ring;
	struct smc_cursor cons;
};

/* The ring does not move, or the caller holds a lock that prevents it, see conn/resize.c */
static struct source get_source(const struct smc_conn *conn)
{
	return (struct source){ conn->rx.base, conn->rx.ring, conn->rx.cons };
}

/*
 * Until end_copying(), the memory stays, but the ring may move to other memory. What was available
 * before this call is at @source too.
 */
static struct source begin_copying(struct smc_conn *conn)
{
	struct source source;

	if (likely(!conn->rx.may_move))
		return get_source(conn);
	spin_lock_bh(&conn->lock);
	source = get_source(conn);
	conn->rx.reading = true;
	spin_unlock_bh(&conn->lock);
	return source;
}

static void end_copying(struct smc_conn *conn)
{
	void *left;

	if (likely(!conn->rx.may_move))
		return;
	spin_lock_bh(&conn->lock);
	conn->rx.reading = false;
	left = conn->rx.left;
	conn->rx.left = NULL;
	spin_unlock_bh(&conn->lock);
	if (unlikely(left))
		conn->transport->ring_free(conn, left, conn->rx.left_written, true);
}

static noinline u32 copy_parts(struct source source, struct msghdr *msg, struct smc_cursor from,
			       u32 bytes)
{
	struct smc_ring_part part[2];
	unsigned int i, parts;
	u32 copied = 0;

	parts = smc_ring_split(&source.ring, from, bytes, part);
	for (i = 0; i < parts; i++) {
		size_t n = _copy_to_iter(source.base + part[i].offset, part[i].len,
					 &msg->msg_iter);

		copied += n;
		if (n < part[i].len)
			break;
	}
	return copied;
}

/* Copy from the ring; see copy_in() in conn/tx.c. Inline: then @source needs no memory */
static __always_inline u32 copy_out(struct source source, struct msghdr *msg,
				    struct smc_cursor from, u32 bytes, int flags)
{
	if (flags & MSG_TRUNC)
		return bytes;
	if (likely(bytes <= source.ring.end - from.count))
		return _copy_to_iter(source.base + from.count, bytes, &msg->msg_iter);
	return copy_parts(source, msg, from, bytes);
}

/**
 * struct reader - state of one receive call
 * @conn: the connection
 * @msg: destination
 * @flags: flags of the call
 * @skip: bytes that MSG_PEEK skips (SO_PEEK_OFF), without lost urgent bytes
 * @peeked: bytes behind the consumed ones that MSG_PEEK has skipped or copied
 * @from: position to which @peeked is relative
 * @copied: bytes that the call has received
 * @target: with so many it does not wait
 * @is_at_mark: and must not go on, because an urgent mark follows
 */
struct reader {
	struct smc_conn *conn;
	struct msghdr *msg;
	int flags;
	u32 skip;
	u32 peeked;
	u32 from;
	u32 copied;
	u32 target;
	bool is_at_mark;
};

/* Begin at the first byte not consumed; again if another call has consumed data meanwhile */
static void start_reader(struct reader *r)
{
	r->from = r->conn->rx.consumed;
	r->peeked = r->flags & MSG_PEEK ? READ_ONCE(r->conn->urgent.lost) + r->skip : 0;
}

static void consume_bytes(struct reader *r, u32 bytes)
{
	if (r->flags & MSG_PEEK) {
		r->peeked += bytes;
	} else {
		local_bh_disable();
		smc_cdc_consumed(r->conn, bytes);
		local_bh_enable();
		r->from = r->conn->rx.consumed;
	}
}

static void move_peek_offset(const struct reader *r, u32 bytes)
{
	if (r->flags & MSG_PEEK)
		sk_peek_offset_fwd(r->conn->sk, bytes);
	else
		sk_peek_offset_bwd(r->conn->sk, bytes);
}

/*
 * Skip lost urgent bytes, and hand out an urgent byte from its copy. Return: 1 if one was handed
 * out, 0 if the next byte is in the ring, or -EFAULT.
 */
static int take_urgent(struct reader *r, u32 *available)
{
	struct iov_iter *to = &r->msg->msg_iter;
	u8 byte;

	while (*available) {
		switch (smc_urgent_find(r->conn, r->peeked, &byte)) {
		case SMC_URGENT_LEFT_OUT:
			consume_bytes(r, 1);
			if (r->flags & MSG_PEEK)	/* the peer may wait for the cursor */
				smc_urgent_release(r->conn);
			(*available)--;
			break;
		case SMC_URGENT_COPIED:
			if (!(r->flags & MSG_TRUNC) && copy_to_iter(&byte, 1, to) != 1)
				return -EFAULT;
			consume_bytes(r, 1);
			move_peek_offset(r, 1);
			return 1;
		default:
			return 0;
		}
	}
	return 0;
}

/* A read stops before the urgent byte */
static u32 end_at_mark(const struct reader *r, u32 available)
{
	const struct smc_conn *conn = r->conn;
	u32 to_mark = READ_ONCE(conn->urgent.pos) - conn->rx.consumed - r->peeked;

	if (!READ_ONCE(conn->urgent.mark) || to_mark >= available)
		return available;
	return to_mark;
}

/*
 * Cursor of the next byte. The bytes that the peer may overwrite can make @peeked larger than the
 * ring, so advance twice. The peer may declare the next byte urgent at any time, which adds it to
 * @gone.
 */
static struct smc_cursor get_reader_cursor(const struct reader *r, const struct source *source)
{
	u32 gone = min(READ_ONCE(r->conn->urgent.gone), r->peeked);
	struct smc_cursor cursor = smc_cursor_advance(source->cons, gone, &source->ring);

	return smc_cursor_advance(cursor, r->peeked - gone, &source->ring);
}

/*
 * Copy available data, at most @len bytes and at most one PIECE, but not across an urgent mark.
 * Return: number of bytes, 0 without data or at a mark, or -EFAULT.
 */
static int receive_piece(struct reader *r, size_t len)
{
	struct smc_conn *conn = r->conn;
	struct source source;
	u32 available, bytes;

	if (r->from != conn->rx.consumed)	/* another call has consumed data meanwhile */
		start_reader(r);
	available = smc_rx_available(conn);
	if (available <= r->peeked || !len)
		return 0;
	available -= r->peeked;
	if (unlikely(smc_urgent_matters(conn))) {
		int taken;

		/* A mark that comes later is not among the available bytes */
		r->is_at_mark = r->copied && smc_urgent_mark_follows(conn, r->peeked);
		if (r->is_at_mark)
			return 0;
		taken = take_urgent(r, &available);
		if (taken)
			return taken;
	}
	bytes = min_t(size_t, min_t(u32, end_at_mark(r, available), PIECE), len);
	if (!bytes)
		return 0;
	source = begin_copying(conn);
	bytes = copy_out(source, r->msg, get_reader_cursor(r, &source), bytes, r->flags);
	end_copying(conn);
	if (!bytes)
		return -EFAULT;
	consume_bytes(r, bytes);
	move_peek_offset(r, bytes);
	return bytes;
}

static bool has_arrived(const struct smc_conn *conn, u32 seen)
{
	return smc_rx_available(conn) > seen || READ_ONCE(conn->shutdown) & RCV_SHUTDOWN;
}

/* A call that peeks frees no space: there may never be more than the ring or the peer holds */
static bool has_enough(const struct reader *r)
{
	u32 target = r->target;

	if (r->flags & MSG_PEEK) {
		if (r->copied && smc_rx_peer_waits(r->conn))
			return true;
		target = min(target, smc_rx_most(r->conn) / 2);
	}
	return r->copied >= target;
}

static bool may_go_on(const struct reader *r)
{
	return has_arrived(r->conn, r->peeked) || has_enough(r);
}

/* Wake a waiting call once: further data does not find it in the queue until it waits again */
static int wake_reader_once(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	int woken = woken_wake_function(wait, mode, sync, key);

	list_del_init_careful(&wait->entry);	/* paired with finish_wait() */
	return woken;
}

/* As with TCP, the owner of the file gets no SIGIO for data that a call waits for */
static void join_waiters(const struct smc_conn *conn, struct wait_queue_entry *wait)
{
	struct socket_wq *wq = rcu_dereference_protected(conn->wq, 1);

	add_wait_queue(&wq->wait, wait);
	if (unlikely(sock_flag(conn->sk, SOCK_FASYNC)))
		set_bit(SOCKWQ_ASYNC_WAITDATA, &wq->flags);
	/* Paired with the barrier in conn/cdc.c, apply_message() */
	smp_mb();
}

static void leave_waiters(const struct smc_conn *conn, struct wait_queue_entry *wait)
{
	struct socket_wq *wq = rcu_dereference_protected(conn->wq, 1);

	if (unlikely(test_bit(SOCKWQ_ASYNC_WAITDATA, &wq->flags)))
		clear_bit(SOCKWQ_ASYNC_WAITDATA, &wq->flags);
	finish_wait(&wq->wait, wait);
}

/*
 * With SO_BUSY_POLL, poll for a while before sleeping: the writer may run on another CPU, and two
 * context switches take longer than its write. The socket lock is released meanwhile.
 * Return: whether data or the end has arrived.
 */
static bool busy_poll_data(const struct reader *r)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	struct sock *sk = r->conn->sk;
	unsigned long start;
	bool found;

	if (!sk_can_busy_loop(sk))
		return false;
	release_sock(sk);
	start = busy_loop_current_time();
	for (;;) {
		found = may_go_on(r);
		if (found || need_resched() || signal_pending(current) ||
		    sk_busy_loop_timeout(sk, start))
			break;
		cpu_relax();
	}
	lock_sock(sk);
	if (found)
		smc_conn_count(r->conn, SMC_STAT_BUSY_POLLS, 1);
	return found;
#else
	return false;
#endif
}

/* Wait for more than the peeked bytes, or the end. The socket lock is released meanwhile. */
static int wait_for_data(struct reader *r, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, wake_reader_once);
	struct sock *sk = r->conn->sk;

	smc_cdc_flush(r->conn);
	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	if (busy_poll_data(r))
		return 0;
	join_waiters(r->conn, &wait);
	sk_wait_event(sk, timeo, may_go_on(r), &wait);
	leave_waiters(r->conn, &wait);
	return 0;
}

/* No data is available. Return: 1 at the end of the stream, a negative errno, or 0 to retry. */
static int wait_or_finish(struct reader *r, long *timeo)
{
	struct smc_conn *conn = r->conn;
	u8 shutdown;

	/*
	 * As with TCP, an error after a proper end is no error for readers. The acquires pair with
	 * apply_state_flags() and smc_close_apply(): with the flags, the bytes and the error before
	 * them are visible, without conn->lock.
	 */
	if (smp_load_acquire(&conn->rx_state_flags) & (SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED))
		return smc_rx_available(conn) > r->peeked ? 0 : 1;
	shutdown = smp_load_acquire(&conn->shutdown);	/* as above */
	if (smc_conn_has_error(conn))
		return r->copied ? 1 : smc_conn_take_error(conn);
	if (shutdown & RCV_SHUTDOWN)	/* the last bytes may have come with the end */
		return smc_rx_available(conn) > r->peeked ? 0 : 1;
	return wait_for_data(r, timeo);
}

/* Not inline: without tracing, the caller does not pay for the stack frame */
static noinline void emit_rx_trace(const struct smc_conn *conn, int copied)
{
	char name[SMC_DEVICE_NAME_LEN];

	smc_group_device_name(conn->group, name);
	trace_smc_rx_recvmsg(conn->sk, copied, name);
}

static __always_inline void trace_received(const struct smc_conn *conn, int copied)
{
	if (trace_smc_rx_recvmsg_enabled())
		emit_rx_trace(conn, copied);
}

static void count_recv(struct smc_conn *conn, int copied, size_t len)
{
	smc_conn_count(conn, SMC_STAT_RX_CALLS, 1);
	if (copied <= 0)
		return;
	smc_conn_count_size(conn, SMC_STAT_RX_SIZE, copied);
	smc_conn_count(conn, SMC_STAT_RX_BYTES, copied);
	trace_received(conn, copied);
	if (copied < len)
		smc_conn_count(conn, SMC_STAT_RX_SHORT, 1);
}

/**
 * smc_rx_try() - receive up to SMC_TRY_MAX bytes, if that is possible at once
 * @conn: an active connection
 * @msg: destination
 * @len: space in @msg
 *
 * Like smc_rx_recvmsg() without flags. The socket's spin lock is held, and no call owns the socket.
 * Does not sleep: on a page fault the caller uses smc_rx_recvmsg().
 *
 * Return: number of bytes, or 0 if nothing was done.
 */
int smc_rx_try(struct smc_conn *conn, struct msghdr *msg, size_t len)
{
	u32 bytes, copied;

	bytes = min_t(size_t, smc_rx_available(conn), len);
	if (!bytes || bytes > SMC_TRY_MAX || bytes < sock_rcvlowat(conn->sk, 0, len))
		return 0;
	if (unlikely(smc_urgent_matters(conn)))
		return 0;

	pagefault_disable();
	copied = copy_out(get_source(conn), msg, conn->rx.cons, bytes, 0);
	pagefault_enable();
	if (unlikely(copied < bytes)) {
		iov_iter_revert(&msg->msg_iter, copied);
		return 0;
	}
	smc_cdc_consumed(conn, bytes);
	sk_peek_offset_bwd(conn->sk, bytes);
	count_recv(conn, bytes, len);
	return bytes;
}

/*
 * Wait for an event without owning the socket. Cheaper than the wait in smc_rx_recvmsg(), and only
 * a hint: data, the end, an error or a signal may be there, or nothing. The caller makes sure that
 * @conn keeps its receive buffer, and holds no lock. Sleeps.
 */
void smc_rx_wait(struct smc_conn *conn)
{
	DEFINE_WAIT_FUNC(wait, wake_reader_once);

	join_waiters(conn, &wait);
	if (!has_arrived(conn, 0))
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	leave_waiters(conn, &wait);
}

/**
 * smc_rx_recvmsg() - receive data
 * @conn: the connection, with its receive buffer
 * @msg: destination
 * @len: space in @msg
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT, MSG_TRUNC as for TCP
 *
 * Data that arrived before an error is returned before the error. The socket lock is held, and
 * released while waiting. May sleep.
 *
 * Return: number of bytes, 0 at the end of the stream, or a negative errno.
 */
int smc_rx_recvmsg(struct smc_conn *conn, struct msghdr *msg, size_t len, int flags)
{
	struct reader r = { .conn = conn, .msg = msg, .flags = flags };
	long timeo = sock_rcvtimeo(conn->sk, flags & MSG_DONTWAIT);
	int n = 0;

	r.target = sock_rcvlowat(conn->sk, flags & MSG_WAITALL, len);
	if (flags & MSG_PEEK)
		r.skip = max(sk_peek_offset(conn->sk, flags), 0);
	start_reader(&r);
	do {
		n = receive_piece(&r, len - r.copied);
		if (n > 0) {
			r.copied += n;
			continue;
		}
		if (n < 0 || r.is_at_mark || has_enough(&r) ||
		    (!len && smc_rx_available(conn) > r.peeked))
			break;
		n = wait_or_finish(&r, &timeo);
		if (n)
			break;
	} while (r.copied < len || !len);

	if (r.copied)
		n = r.copied;
	else if (n > 0)
		n = 0;
	count_recv(conn, n, len);
	return n;
}
