// SPDX-License-Identifier: GPL-2.0-only
/* The receive ring to the user */

#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/busy_poll.h>

#include "../group/group.h"
#include "../trace.h"
#include "conn.h"

/* A long read gives space back in pieces, so that the writer can go on early */
#define PIECE	SZ_128K

/* From now on news are worth a wake-up */
static void rearm_wakeup(struct smc_conn *conn)
{
	WRITE_ONCE(conn->rx.notified, false);
	/* Paired with the barrier in conn/cdc.c, apply_message() */
	smp_mb();
}

/**
 * smc_rx_readable() - is there something to read, for poll?
 * @conn: the connection
 *
 * Any context.
 *
 * Return: whether as much is there as SO_RCVLOWAT asks for, or all that the peer sends for now.
 */
bool smc_rx_readable(struct smc_conn *conn)
{
	u32 lowat = READ_ONCE(conn->sk->sk_rcvlowat);

	smc_cdc_flush(conn);
	rearm_wakeup(conn);
	if (unlikely(smc_urgent_matters(conn))) {
		smc_urgent_release(conn);
		if (smc_urgent_peer_waits(conn))	/* more comes only if this is read */
			lowat = 1;
		lowat += smc_urgent_count_skipped(conn);
	}
	return smc_rx_enough(conn, lowat);
}

/**
 * smc_rx_amount() - what ioctl(SIOCINQ) tells
 * @conn: the connection
 *
 * The socket lock is held.
 *
 * Return: bytes that can be read, up to the urgent one if that is not in line.
 */
u32 smc_rx_amount(struct smc_conn *conn)
{
	rearm_wakeup(conn);
	if (likely(!smc_urgent_matters(conn)))
		return smc_rx_available(conn);
	smc_urgent_release(conn);
	return smc_urgent_amount(conn);
}

/* As in conn/tx.c, copy_in() */
static u32 copy_out(struct smc_conn *conn, struct msghdr *msg, struct smc_cursor from,
		    u32 bytes, int flags)
{
	struct smc_ring_part part[2];
	unsigned int i, parts;
	u32 copied = 0;

	if (flags & MSG_TRUNC)
		return bytes;
	if (likely(bytes <= conn->rx.ring.end - from.count))
		return _copy_to_iter(conn->rx.base + from.count, bytes, &msg->msg_iter);
	parts = smc_ring_split(&conn->rx.ring, from, bytes, part);
	for (i = 0; i < parts; i++) {
		size_t n = _copy_to_iter(conn->rx.base + part[i].offset, part[i].len,
					 &msg->msg_iter);

		copied += n;
		if (n < part[i].len)
			break;
	}
	return copied;
}

/**
 * struct reader - one receive call
 * @conn: the connection
 * @msg: where the data goes
 * @flags: of the call
 * @skip: bytes that MSG_PEEK leaves out (SO_PEEK_OFF), lost urgent ones not counted
 * @peeked: bytes behind the consumed ones that MSG_PEEK has left out or given out
 * @from: position from which @peeked counts
 */
struct reader {
	struct smc_conn *conn;
	struct msghdr *msg;
	int flags;
	u32 skip;
	u32 peeked;
	u32 from;
};

/* Begin at the first byte that is not consumed; again if others have consumed while we waited */
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
 * Pass urgent bytes that are left out, and hand out one that was copied.
 * Return: 1 if so, 0 if what comes next is in the ring, or -EFAULT.
 */
static int take_urgent(struct reader *r, u32 *available)
{
	struct iov_iter *to = &r->msg->msg_iter;
	u8 byte;

	while (*available) {
		switch (smc_urgent_find(r->conn, r->peeked, &byte)) {
		case SMC_URGENT_LEFT_OUT:
			consume_bytes(r, 1);
			if (r->flags & MSG_PEEK)	/* the peer may wait for our cursor */
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

/* A read ends at the urgent mark */
static u32 end_at_mark(const struct reader *r, u32 available)
{
	const struct smc_conn *conn = r->conn;
	u32 to_mark = READ_ONCE(conn->urgent.pos) - conn->rx.consumed - r->peeked;

	if (!READ_ONCE(conn->urgent.mark) || to_mark >= available)
		return available;
	return to_mark;
}

/*
 * Where the next byte is. The bytes that the peer may overwrite may make more than one lap of the
 * ring. The peer can declare the next byte urgent at any time, so that it is one of them.
 */
static struct smc_cursor get_reader_cursor(const struct reader *r)
{
	const struct smc_conn *conn = r->conn;
	u32 gone = min(READ_ONCE(conn->urgent.gone), r->peeked);
	struct smc_cursor cursor = smc_cursor_advance(conn->rx.cons, gone, &conn->rx.ring);

	return smc_cursor_advance(cursor, r->peeked - gone, &conn->rx.ring);
}

/*
 * Hand out what is there, up to @len bytes and one piece.
 * Return: bytes, 0 if there is nothing, or -EFAULT.
 */
static int receive_piece(struct reader *r, size_t len)
{
	struct smc_conn *conn = r->conn;
	struct smc_cursor from;
	u32 available, bytes;

	if (r->from != conn->rx.consumed)	/* consumed by others while we waited */
		start_reader(r);
	available = smc_rx_available(conn);
	if (available <= r->peeked || !len)
		return 0;
	available -= r->peeked;
	if (unlikely(smc_urgent_matters(conn))) {
		int taken = take_urgent(r, &available);

		if (taken)
			return taken;
	}
	bytes = min_t(size_t, min_t(u32, end_at_mark(r, available), PIECE), len);
	if (!bytes)
		return 0;
	from = r->peeked ? get_reader_cursor(r) : conn->rx.cons;
	bytes = copy_out(conn, r->msg, from, bytes, r->flags);
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

static bool rearm_and_check_data(struct smc_conn *conn, u32 seen)
{
	rearm_wakeup(conn);
	return has_arrived(conn, seen);
}

/*
 * With SO_BUSY_POLL, look for news for a while before going to sleep: the writer may be
 * at work on another processor, and two task switches take longer than it does.
 * The socket lock is released meanwhile. Return: whether something has come.
 */
static bool busy_poll_data(struct smc_conn *conn, u32 seen)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	struct sock *sk = conn->sk;
	unsigned long start;
	bool found;

	if (!sk_can_busy_loop(sk))
		return false;
	release_sock(sk);
	start = busy_loop_current_time();
	for (;;) {
		found = has_arrived(conn, seen);
		if (found || need_resched() || signal_pending(current) ||
		    sk_busy_loop_timeout(sk, start))
			break;
		cpu_relax();
	}
	lock_sock(sk);
	if (found)
		smc_conn_count(conn, SMC_STAT_BUSY_POLLS, 1);
	return found;
#else
	return false;
#endif
}

/* Wait for more than the bytes already peeked at, or the end */
static int wait_for_data(struct reader *r, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = r->conn->sk;

	smc_cdc_flush(r->conn);
	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	if (busy_poll_data(r->conn, r->peeked))
		return 0;
	add_wait_queue(smc_conn_waiters(r->conn), &wait);
	sk_wait_event(sk, timeo, rearm_and_check_data(r->conn, r->peeked), &wait);
	remove_wait_queue(smc_conn_waiters(r->conn), &wait);
	return 0;
}

/* Nothing is there: 1 for end of stream, a negative errno, or 0 to go on */
static int wait_or_finish(struct reader *r, int copied, long *timeo)
{
	struct smc_conn *conn = r->conn;
	u8 shutdown;

	/*
	 * As TCP: after a proper end, what came later is no error of reading. conn->lock is not
	 * held: paired with apply_state_flags() and smc_close_apply(), the bytes before the end
	 * are seen with it, and the error that is the end.
	 */
	if (smp_load_acquire(&conn->rx_state_flags) & (SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED))
		return smc_rx_available(conn) > r->peeked ? 0 : 1;
	shutdown = smp_load_acquire(&conn->shutdown);	/* as above */
	if (smc_conn_has_error(conn))
		return copied ? 1 : smc_conn_take_error(conn);
	if (shutdown & RCV_SHUTDOWN)	/* the last bytes may have come with the end */
		return smc_rx_available(conn) > r->peeked ? 0 : 1;
	return wait_for_data(r, timeo);
}

/* Not inline: its frame would cost those who do not trace */
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
 * smc_rx_try() - receive little data at once, if it is there and nothing in the way
 * @conn: the connection, with its receive buffer
 * @msg: where it goes
 * @len: space in @msg
 *
 * As smc_rx_recvmsg() without flags. The socket's spin lock is held, and nobody owns
 * the socket. Does not sleep: memory that is not there is left to smc_rx_recvmsg().
 *
 * Return: bytes received, or 0 if nothing was done.
 */
int smc_rx_try(struct smc_conn *conn, struct msghdr *msg, size_t len)
{
	u32 bytes, copied;

	if (READ_ONCE(conn->rx.notified))
		rearm_wakeup(conn);
	bytes = min_t(size_t, smc_rx_available(conn), len);
	if (!bytes || bytes > SMC_TRY_MAX || bytes < sock_rcvlowat(conn->sk, 0, len))
		return 0;
	if (unlikely(smc_urgent_matters(conn)))
		return 0;

	pagefault_disable();
	copied = copy_out(conn, msg, conn->rx.cons, bytes, 0);
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

/**
 * smc_rx_wait() - wait for news without owning the socket
 * @conn: the connection, with its receive buffer; it stays that until we return
 *
 * Cheaper than the wait in smc_rx_recvmsg(), and only a hint: data, an error, the end or a
 * signal may have come, or nothing. No locks are held. Sleeps.
 */
void smc_rx_wait(struct smc_conn *conn)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(smc_conn_waiters(conn), &wait);
	if (!rearm_and_check_data(conn, 0))
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(smc_conn_waiters(conn), &wait);
}

/**
 * smc_rx_recvmsg() - receive user data
 * @conn: the connection, with its receive buffer
 * @msg: where it goes
 * @len: space in @msg
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT, MSG_TRUNC as for TCP
 *
 * What arrived before an error is handed out before the error. The socket lock
 * is held, and released while waiting. May sleep.
 *
 * Return: bytes received, 0 at the end of the stream, or a negative errno.
 */
int smc_rx_recvmsg(struct smc_conn *conn, struct msghdr *msg, size_t len, int flags)
{
	struct reader r = { .conn = conn, .msg = msg, .flags = flags };
	long timeo = sock_rcvtimeo(conn->sk, flags & MSG_DONTWAIT);
	int target = sock_rcvlowat(conn->sk, flags & MSG_WAITALL, len);
	int copied = 0;
	int n = 0;

	if (flags & MSG_PEEK) {
		r.skip = max(sk_peek_offset(conn->sk, flags), 0);
		/* More may never be there at once */
		target = min_t(u32, target, smc_ring_size(&conn->rx.ring) / 2);
	}
	start_reader(&r);
	rearm_wakeup(conn);
	do {
		n = receive_piece(&r, len - copied);
		if (n > 0) {
			copied += n;
			if (unlikely(smc_urgent_matters(conn)) &&
			    smc_urgent_mark_follows(conn, r.peeked))
				break;
			continue;
		}
		if (n < 0 || copied >= target || (!len && smc_rx_available(conn) > r.peeked))
			break;
		n = wait_or_finish(&r, copied, &timeo);
		if (n)
			break;
	} while (copied < len || !len);

	if (!copied && n < 0)
		copied = n;
	count_recv(conn, copied, len);
	return copied;
}
