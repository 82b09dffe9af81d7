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

/**
 * smc_urgent_received() - look for urgent data in control data
 * @conn: the connection; its producer cursor was taken over
 * @cdc: the control data
 *
 * conn->lock is held. Does not sleep. The same byte may be announced again with
 * later messages, until other data follows.
 *
 * Return: whether the application is to be told.
 */
bool smc_urgent_received(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	struct smc_conn_urgent *urgent = &conn->urgent;
	u32 pos = conn->rx.produced - 1;
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
	if ((urgent->mark && urgent->pos == pos) || !smc_rx_available(conn))
		return false;

	/* As TCP does: one that nobody took is lost if it would be read next */
	if (urgent->mark && urgent->pos == conn->rx.consumed &&
	    !sock_flag(conn->sk, SOCK_URGINLINE)) {
		urgent->skip_pos = urgent->pos;
		WRITE_ONCE(urgent->skip, true);
	}
	urgent->pos = pos;
	urgent->byte = byte_before(&conn->rx.ring, conn->rx.base, conn->rx.prod);
	urgent->ready = true;
	WRITE_ONCE(urgent->mark, true);
	return true;
}

/**
 * smc_urgent_passed() - data was consumed: forget a mark that lies behind
 * @conn: the connection
 *
 * conn->lock is held. As with TCP, the urgent byte cannot be read any more.
 */
void smc_urgent_passed(struct smc_conn *conn)
{
	struct smc_conn_urgent *urgent = &conn->urgent;

	lockdep_assert_held(&conn->lock);
	if (urgent->skip && (s32)(conn->rx.consumed - urgent->skip_pos) > 0)
		WRITE_ONCE(urgent->skip, false);
	if (!urgent->mark || (s32)(conn->rx.consumed - urgent->pos) <= 0)
		return;
	urgent->ready = false;
	WRITE_ONCE(urgent->mark, false);
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
