// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data that waits for space in the peer's ring.
 *
 * Over SMC-D a program writes to the peer's ring. Over SMC-R it writes to a send buffer of this
 * end, which need not have the size of the peer's ring. So positions in the two differ, and the
 * buffer may hold more than the peer's ring has space for.
 *
 * A message announces what fits there, and the transport writes these bytes before it. While there
 * are more, messages say that the writer is blocked (R-BLK-01), so the peer reports what it reads;
 * and a report of enough space leads to the next message. The end of the stream waits for the last
 * byte, as a FIN does, unless the peer has closed and reads no more.
 */

#include "conn.h"

/* Move @announced on, up to the end of the peer's window. Return: the cursor for the peer. */
static struct smc_cursor announce_data(struct smc_conn *conn)
{
	struct smc_conn_tx *tx = &conn->tx;
	u32 most = tx->consumed + smc_ring_size(&tx->peer);
	u32 end = tx->urgent_hold ? tx->urgent_end : tx->produced;
	bool was_full = tx->window_full;

	if (conn->rx_state_flags & SMC_CDC_CLOSED)
		end = tx->announced;
	tx->window_full = (s32)(end - most) > 0;
	if (tx->window_full)
		end = most;
	if (tx->window_full && !was_full)
		smc_stall_of_window(conn);
	tx->peer_prod = smc_cursor_advance(tx->peer_prod, end - tx->announced, &tx->peer);
	tx->announced = end;
	return tx->peer_prod;
}

/**
 * smc_window_limit() - limit a message to what the peer's ring has space for
 * @conn: a connection whose transport is buffered
 * @cdc: the message: all data is produced. Result: the cursor is one of the peer's ring
 *
 * conn->lock is held. Does not sleep.
 */
void smc_window_limit(struct smc_conn *conn, struct smc_cdc *cdc)
{
	struct smc_conn_tx *tx = &conn->tx;
	bool late;

	lockdep_assert_held(&conn->lock);
	cdc->producer = announce_data(conn);
	if (tx->window_full) {
		cdc->producer_flags |= SMC_CDC_WRITER_BLOCKED;
		cdc->producer_flags &= ~SMC_CDC_URGENT_PRESENT;
	}
	late = cdc->state_flags && tx->announced != tx->produced &&
	       !(conn->rx_state_flags & SMC_CDC_CLOSED);
	WRITE_ONCE(tx->end_waits, late && !(cdc->state_flags & SMC_CDC_ABORTED));
	if (late && cdc->state_flags & SMC_CDC_CLOSED)
		tx->closed_late = true;
	if (late)
		cdc->state_flags &= SMC_CDC_ABORTED;
	if (cdc->state_flags & SMC_CDC_ABORTED)		/* in place of a "closed" that waited */
		cdc->state_flags &= ~SMC_CDC_CLOSED;
}

/*
 * Has the peer read enough for the next message, if data waits for that? A small part of its ring
 * is not worth one: the peer has more to read, and will report it. conn->lock is held.
 */
bool smc_window_has_opened(const struct smc_conn *conn)
{
	const struct smc_conn_tx *tx = &conn->tx;
	u32 size = smc_ring_size(&tx->peer);

	lockdep_assert_held(&conn->lock);
	return size - (tx->announced - tx->consumed) >=
	       min(tx->produced - tx->announced, size / 3);
}
