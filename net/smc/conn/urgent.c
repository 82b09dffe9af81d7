// SPDX-License-Identifier: GPL-2.0-only
/*
 * Urgent data: one marked byte in the stream (RFC 7609, 4.7.5 and 4.7.6).
 *
 * The peer's producer cursor points behind the urgent byte. The receiver copies the byte from the
 * ring at once, so that a program can read it before the data that precedes it.
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
	return smc_conn_sock_flag(conn, SOCK_URGINLINE);
}

static bool stands_at_mark(const struct smc_conn *conn)
{
	const struct smc_conn_urgent *urgent = &conn->urgent;

	lockdep_assert_held(&conn->lock);
	return urgent->mark && urgent->pos - conn->rx.consumed == urgent->lost;
}

/* A program that does not read loses at most a quarter of the ring to urgent bytes of the peer */
static bool may_lose(const struct smc_conn *conn)
{
	return conn->urgent.lost < smc_ring_size(&conn->rx.ring) / 4;
}

/*
 * If the program is at the mark, let the peer overwrite the urgent byte: the reader skips it, or
 * gets it from @urgent->kept. The peer holds back the data behind the byte until the consumer
 * cursor has passed it (RFC 7609, 4.7.5), and a program that got the byte by MSG_OOB may wait for
 * that data.
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
 * A new urgent byte replaces the former one. As with TCP, the former byte is lost if the program is
 * at its mark and does not read in line. Otherwise it becomes normal data.
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
 * smc_urgent_received() - process the urgent flags of control data
 * @conn: the connection, with the new producer cursor of the peer
 * @cdc: the control data
 * @produced: position behind the new bytes, which rx.produced does not include yet
 *
 * conn->lock is held. Does not sleep. Until other data follows, later messages may announce the
 * same byte again.
 *
 * Return: whether to signal the program.
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
	WRITE_ONCE(urgent->ready, true);
	WRITE_ONCE(urgent->pos, pos);
	WRITE_ONCE(urgent->mark, true);
	return true;
}

/*
 * @bytes were consumed: forget those that the peer may have overwritten. At the mark, release the
 * urgent byte. Behind the mark it cannot be read any more, as with TCP. conn->lock is held.
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
	WRITE_ONCE(urgent->ready, false);
	WRITE_ONCE(urgent->mark, false);
}

/**
 * smc_urgent_find() - find the source of a byte
 * @conn: the connection
 * @offset: its distance from the consumed bytes
 * @byte: result: its value, for SMC_URGENT_COPIED
 *
 * The socket lock is held. Does not sleep.
 *
 * Return: how to read the byte.
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

/*
 * If the program is at the mark, move the consumer cursor past the urgent byte and tell the peer.
 * Contexts as for smc_cdc_kick(). Does not sleep.
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

/* Bytes that can be read, up to an urgent byte that is not in line. Socket lock held; no sleep. */
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

/* Number of bytes that the reader skips before its next byte. Any context. Does not sleep. */
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

/*
 * Does the peer hold back data until the program reads? It does while data precedes the urgent
 * byte, because the consumer cursor cannot pass that data. A peer on a synchronous transport holds
 * nothing back. Any context. Does not sleep.
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

/*
 * Is the urgent byte the next one for a reader that is @offset bytes behind the consumed ones? Lost
 * bytes before it do not count. The socket lock is held. Does not sleep.
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

/*
 * Send SIGURG and wake readers. The caller has a reference, or is in an RCU read-side critical
 * section. conn->lock is not held. Does not sleep.
 */
void smc_urgent_signal(struct smc_conn *conn)
{
	struct sock *sk = conn->sk;

	if (!smc_conn_get_not_zero(conn))
		return;
	/* The lock keeps sk_socket and its file; without a struct socket there is no file */
	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket)
		sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
	smc_conn_wake_readers(conn);
	smc_conn_put(conn);
}

/**
 * smc_urgent_recv() - receive the urgent byte
 * @conn: the connection
 * @msg: destination
 * @len: space in @msg
 * @flags: flags of the call, with MSG_OOB
 *
 * The socket lock is held. Does not wait.
 *
 * Return: 1; 0 if @len is 0; or a negative errno as TCP.
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
		WRITE_ONCE(urgent->ready, false);
	spin_unlock_bh(&conn->lock);
	smc_urgent_release(conn);

	if (!ready)	/* announced but not received, or never announced */
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
