// SPDX-License-Identifier: GPL-2.0-only
/*
 * Urgent data: one byte, marked in the stream (RFC 7609, 4.7.5 and 4.7.6).
 *
 * The peer's producer cursor points behind the urgent byte, which is picked
 * from the ring at once, so that a reader gets it without what lies before it.
 */

#include <linux/uio.h>

#include "conn.h"

static u8 byte_before(const struct smc_ring *ring, const u8 *base, struct smc_cursor cursor)
{
	u32 offset = cursor.count == ring->first ? ring->end - 1 : cursor.count - 1;

	return READ_ONCE(base[offset]);
}

static bool in_line(const struct smc_conn *conn)
{
	return sock_flag(conn->sk, SOCK_URGINLINE);
}

/*
 * At the mark, the peer may overwrite the urgent byte: the reader leaves it out, or gets it from
 * @urgent->kept. The peer holds back what follows until our cursor has passed the byte (RFC 7609,
 * 4.7.5), and a program that got the byte by MSG_OOB waits for just that.
 *
 * There is one byte to keep for a program that reads in line. The other limit is for a peer that
 * sends urgent bytes to a program that does not read.
 */
static void release_byte(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;

	lockdep_assert_held(&conn->lock);
	if (!urgent->mark || urgent->pos - conn->rx.consumed != urgent->gone)
		return;
	if (urgent->gone >= (in_line(conn) ? 1 : smc_ring_size(&conn->rx.ring) / 4))
		return;
	urgent->kept = urgent->byte;
	WRITE_ONCE(urgent->gone, urgent->gone + 1);
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

	/* As with TCP, the former one is lost if it would be read next, and not in line */
	release_byte(conn);
	urgent->byte = byte_before(&conn->rx.ring, conn->rx.base, conn->rx.prod);
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
	WRITE_ONCE(urgent->gone, urgent->gone - min(urgent->gone, bytes));
	release_byte(conn);
	if (!urgent->mark || (s32)(conn->rx.consumed - urgent->pos) <= 0)
		return;
	urgent->ready = false;
	WRITE_ONCE(urgent->mark, false);
}

/**
 * smc_urgent_find() - is this byte an urgent one?
 * @conn: the connection
 * @offset: bytes between the consumed ones and this one
 * @byte: its value, if it is to be read in line
 *
 * The socket lock is held. Does not sleep.
 *
 * Return: how it is read.
 */
enum smc_urgent_byte smc_urgent_find(struct smc_conn *conn, u32 offset, u8 *byte)
{
	enum smc_urgent_byte at = in_line(conn) ? SMC_URGENT_IN_LINE : SMC_URGENT_LEFT_OUT;
	enum smc_urgent_byte found = SMC_URGENT_NONE;
	struct smc_conn_urgent *urgent = &conn->urgent;

	spin_lock_bh(&conn->lock);
	*byte = urgent->byte;
	if (offset < urgent->gone) {
		*byte = urgent->kept;
		found = offset + 1 == urgent->gone ? at : SMC_URGENT_LEFT_OUT;
	} else if (urgent->mark && urgent->pos - conn->rx.consumed == offset) {
		found = at;
	}
	spin_unlock_bh(&conn->lock);
	return found;
}

/**
 * smc_urgent_left_out() - count the bytes that the reader skips before its next one
 * @conn: the connection
 *
 * If the reader is at the mark, this also posts control data: the consumer cursor passes the urgent
 * byte. Any context that smc_cdc_kick() allows. Does not sleep.
 *
 * Return: number of bytes.
 */
u32 smc_urgent_left_out(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	bool posted = false;
	u32 bytes;

	spin_lock_bh(&conn->lock);
	release_byte(conn);
	if (!conn->freeing)
		posted = smc_cdc_update(conn);
	bytes = urgent->gone;
	if (bytes && in_line(conn))
		bytes--;
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
	return bytes;
}

/**
 * smc_urgent_at_mark() - is the next byte the urgent one?
 * @conn: the connection
 *
 * The socket lock is held. Does not sleep.
 *
 * Return: true if the program stands at the mark.
 */
bool smc_urgent_at_mark(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	u32 offset, gone;
	bool mark;

	spin_lock_bh(&conn->lock);
	mark = urgent->mark;
	gone = urgent->gone;
	offset = urgent->pos - conn->rx.consumed;
	spin_unlock_bh(&conn->lock);
	if (!mark)
		return false;
	if (gone && offset == gone - 1)
		return true;
	return offset == gone && !(gone && in_line(conn));
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

	/* Keeps sk_socket and its file from going away */
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
	struct sock *sk = conn->sk;
	bool ready;
	u8 byte;

	if (sock_flag(sk, SOCK_URGINLINE))
		return -EINVAL;

	spin_lock_bh(&conn->lock);
	ready = urgent->ready;
	byte = urgent->byte;
	if (ready && !(flags & MSG_PEEK))
		urgent->ready = false;
	spin_unlock_bh(&conn->lock);
	smc_urgent_left_out(conn);

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
