// SPDX-License-Identifier: GPL-2.0-only
/*
 * Urgent data: one byte, marked in the stream (RFC 7609, 4.7.5 and 4.7.6).
 *
 * The peer's producer cursor points behind the urgent byte, which is picked
 * from the ring at once, so that a reader gets it without what lies before it.
 */

#include <linux/uio.h>

#include "conn.h"

static u8 get_byte_before(const struct smc_ring *ring, const u8 *base, struct smc_cursor cursor)
{
	u32 offset = cursor.count == ring->first ? ring->end - 1 : cursor.count - 1;

	return READ_ONCE(base[offset]);
}

static bool reads_in_line(const struct smc_conn *conn)
{
	return sock_flag(conn->sk, SOCK_URGINLINE);
}

static bool stands_at_mark(const struct smc_conn *conn)
{
	const struct smc_conn_urgent *urgent = &conn->urgent;

	lockdep_assert_held(&conn->lock);
	return urgent->mark && urgent->pos - conn->rx.consumed == urgent->lost;
}

/* A peer that sends urgent bytes to a program that does not read gets no more of the ring */
static bool may_lose(const struct smc_conn *conn)
{
	return conn->urgent.lost < smc_ring_size(&conn->rx.ring) / 4;
}

/*
 * At the mark, the peer may overwrite the urgent byte: the reader leaves it out, or gets it from
 * @urgent->kept. The peer holds back what follows until our cursor has passed the byte (RFC 7609,
 * 4.7.5), and a program that got the byte by MSG_OOB waits for just that.
 */
static void release_byte(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;

	if (!stands_at_mark(conn) || urgent->gone > urgent->lost || !may_lose(conn))
		return;
	urgent->kept = urgent->byte;
	WRITE_ONCE(urgent->gone, urgent->lost + 1);
}

/*
 * A new urgent byte takes the place of the former one. As with TCP, this decides what becomes of
 * the former one: if the program stands at its mark and does not read in line, the byte is lost.
 * Else it is normal data.
 */
static void replace_byte(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;

	if (!stands_at_mark(conn) || reads_in_line(conn) || !may_lose(conn))
		return;
	WRITE_ONCE(urgent->gone, urgent->lost + 1);
	WRITE_ONCE(urgent->lost, urgent->lost + 1);
}

/**
 * smc_urgent_received() - look for urgent data in control data
 * @conn: the connection; its producer cursor was taken over
 * @cdc: the control data
 * @produced: bytes that the peer has produced; readers do not know of the last ones yet
 *
 * conn->lock is held. Does not sleep. The same byte may be announced again with
 * later messages, until other data follows.
 *
 * Return: whether the application is to be told.
 */
bool smc_urgent_received(struct smc_conn *conn, const struct smc_cdc *cdc, u32 produced)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	u32 pos = produced - 1;
	bool news;

	lockdep_assert_held(&conn->lock);
	if (!(cdc->producer_flags & SMC_CDC_URGENT_PENDING)) {
		urgent->announced = false;
		urgent->expected = false;
		return false;
	}
	news = !urgent->announced;
	urgent->announced = true;
	urgent->expected = !(cdc->producer_flags & SMC_CDC_URGENT_PRESENT);
	if (urgent->expected)
		return news;
	if ((urgent->mark && urgent->pos == pos) || produced == conn->rx.consumed)
		return false;

	replace_byte(conn);
	urgent->byte = get_byte_before(&conn->rx.ring, conn->rx.base, conn->rx.prod);
	urgent->ready = true;
	WRITE_ONCE(urgent->pos, pos);
	WRITE_ONCE(urgent->mark, true);
	return true;
}

/**
 * smc_urgent_passed() - data was consumed: is the reader at the mark, or behind it?
 * @conn: the connection
 * @bytes: how many were consumed
 *
 * conn->lock is held. Behind the mark the urgent byte cannot be read any more, as with TCP.
 */
void smc_urgent_passed(struct smc_conn *conn, u32 bytes)
{
	struct smc_conn_urgent *urgent = &conn->urgent;

	lockdep_assert_held(&conn->lock);
	WRITE_ONCE(urgent->lost, urgent->lost - min(urgent->lost, bytes));
	WRITE_ONCE(urgent->gone, urgent->gone - min(urgent->gone, bytes));
	release_byte(conn);
	if (!urgent->mark || (s32)(conn->rx.consumed - urgent->pos) <= 0)
		return;
	urgent->ready = false;
	WRITE_ONCE(urgent->mark, false);
}

/**
 * smc_urgent_find() - where does the reader get a byte from?
 * @conn: the connection
 * @offset: bytes between the consumed ones and this one
 * @byte: result: its value, if it was copied
 *
 * The socket lock is held. Does not sleep.
 *
 * Return: how it is read.
 */
enum smc_urgent_byte smc_urgent_find(struct smc_conn *conn, u32 offset, u8 *byte)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	enum smc_urgent_byte found = SMC_URGENT_NONE;

	spin_lock_bh(&conn->lock);
	if (offset < urgent->lost) {
		found = SMC_URGENT_LEFT_OUT;
	} else if (urgent->mark && urgent->pos - conn->rx.consumed == offset) {
		*byte = urgent->byte;
		found = reads_in_line(conn) ? SMC_URGENT_COPIED : SMC_URGENT_LEFT_OUT;
	} else if (offset < urgent->gone) {
		*byte = urgent->kept;
		found = SMC_URGENT_COPIED;
	}
	spin_unlock_bh(&conn->lock);
	return found;
}

/**
 * smc_urgent_release() - if the program stands at the mark, let the peer go on
 * @conn: the connection
 *
 * The consumer cursor passes the urgent byte, and the peer is told. Any context that smc_cdc_kick()
 * allows. Does not sleep.
 */
void smc_urgent_release(struct smc_conn *conn)
{
	bool posted = false;

	spin_lock_bh(&conn->lock);
	release_byte(conn);
	if (!conn->freeing)
		posted = smc_cdc_update(conn);
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
}

/**
 * smc_urgent_amount() - count what can be read, up to the urgent byte if that is not in line
 * @conn: the connection
 *
 * The socket lock is held. Does not sleep.
 *
 * Return: number of bytes.
 */
u32 smc_urgent_amount(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	u32 bytes;

	spin_lock_bh(&conn->lock);
	if (urgent->mark && !reads_in_line(conn))
		bytes = urgent->pos - conn->rx.consumed;
	else
		bytes = smc_rx_available(conn);
	bytes -= urgent->lost;
	spin_unlock_bh(&conn->lock);
	return bytes;
}

/**
 * smc_urgent_count_skipped() - count the bytes that the reader skips before its next one
 * @conn: the connection
 *
 * Any context. Does not sleep.
 *
 * Return: number of bytes.
 */
u32 smc_urgent_count_skipped(struct smc_conn *conn)
{
	u32 bytes;

	spin_lock_bh(&conn->lock);
	bytes = conn->urgent.lost;
	if (stands_at_mark(conn) && !reads_in_line(conn))
		bytes++;
	spin_unlock_bh(&conn->lock);
	return bytes;
}

/**
 * smc_urgent_peer_waits() - does the peer hold back data until the program reads?
 * @conn: the connection
 *
 * It does while there is data before an urgent byte: our cursor cannot pass that. A synchronous
 * peer need not wait. Any context. Does not sleep.
 *
 * Return: whether it may.
 */
bool smc_urgent_peer_waits(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	bool waits;

	spin_lock_bh(&conn->lock);
	waits = urgent->announced && urgent->mark && !conn->freeing &&
		!conn->transport->synchronous && urgent->pos - conn->rx.consumed >= urgent->gone;
	spin_unlock_bh(&conn->lock);
	return waits;
}

/**
 * smc_urgent_mark_follows() - is the next byte the urgent one?
 * @conn: the connection
 * @offset: bytes between the consumed ones and where the reader stands
 *
 * The socket lock is held. Does not sleep.
 *
 * Return: true at the mark. Lost bytes before it do not count.
 */
bool smc_urgent_mark_follows(struct smc_conn *conn, u32 offset)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	bool follows;

	spin_lock_bh(&conn->lock);
	follows = urgent->mark && urgent->pos - conn->rx.consumed == max(offset, urgent->lost);
	spin_unlock_bh(&conn->lock);
	return follows;
}

/**
 * smc_urgent_signal() - tell the application that there is urgent data
 * @conn: the connection
 *
 * No lock is held. Does not sleep.
 */
void smc_urgent_signal(struct smc_conn *conn)
{
	struct sock *sk = conn->sk;

	/* Keeps sk_socket and its file from going away; without an own one there is no file */
	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket)
		sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
	smc_conn_wake_readers(conn);
}

/**
 * smc_urgent_recv() - receive the urgent byte
 * @conn: the connection
 * @msg: where it goes
 * @len: space there
 * @flags: of the call, with MSG_OOB
 *
 * The socket lock is held. Does not wait.
 *
 * Return: 1, or a negative errno as TCP gives it.
 */
int smc_urgent_recv(struct smc_conn *conn, struct msghdr *msg, size_t len, int flags)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	bool ready;
	u8 byte;

	if (reads_in_line(conn))
		return -EINVAL;

	spin_lock_bh(&conn->lock);
	ready = urgent->ready;
	byte = urgent->byte;
	if (ready && !(flags & MSG_PEEK))
		urgent->ready = false;
	spin_unlock_bh(&conn->lock);
	smc_urgent_release(conn);

	if (!ready)	/* announced and not yet here, or none at all */
		return urgent->expected ? -EAGAIN : -EINVAL;
	msg->msg_flags |= MSG_OOB;
	if (!len) {
		msg->msg_flags |= MSG_TRUNC;
		return 0;
	}
	if (!(flags & MSG_TRUNC) && copy_to_iter(&byte, 1, &msg->msg_iter) != 1)
		return -EFAULT;
	return 1;
}
