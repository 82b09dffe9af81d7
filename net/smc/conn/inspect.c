// SPDX-License-Identifier: GPL-2.0-only
/* Copies of connections for monitoring, which has only a reference to the socket */

#include "../group/group.h"
#include "close_fsm.h"
#include "inspect.h"

/* The consumer cursor that was announced to the peer last */
static struct smc_cursor get_announced_cursor(const struct smc_conn_rx *rx)
{
	s32 untold = rx->consumed - rx->announced;
	struct smc_cursor cursor = rx->cons;

	if (untold <= 0)	/* ahead of @cons: urgent bytes were announced as consumed */
		return smc_cursor_advance(cursor, -untold, &rx->ring);
	if (untold > cursor.count - rx->ring.first) {
		cursor.count += smc_ring_size(&rx->ring);
		cursor.wrap--;
	}
	cursor.count -= untold;
	return cursor;
}

static void copy_info(const struct smc_conn *conn, struct smc_conn_info *out)
{
	const struct smc_group *group = conn->group;

	lockdep_assert_held(&conn->lock);
	out->mode = conn->transport->mode;
	out->state = smc_close_state_abi(conn->state);
	out->token = conn->token;
	out->rx_bytes = conn->rx.buffer_bytes;
	out->rx_largest = conn->rx.may_move ? conn->rx.largest : conn->rx.buffer_bytes;
	out->tx_bytes = conn->transport->buffered ? conn->tx.peer.end : conn->tx.buffer_bytes;
	out->rx_produced = conn->rx.prod;
	out->rx_consumed = conn->tx.cons;
	out->tx_produced = conn->tx.prod;
	out->tx_consumed = get_announced_cursor(&conn->rx);
	out->rx_producer_flags = conn->rx_flags;
	out->rx_state_flags = conn->rx_state_flags;
	out->tx_producer_flags = conn->tx.producer_flags;
	out->tx_state_flags = conn->tx.state_flags;
	out->group = group->id;
	out->role = group->key.role;
	if (out->mode == SMC_MODE_D) {
		out->local = group->local.ism;
		out->peer = group->key.peer.ism;
	}
	conn->transport->conn_ends(conn, &out->ends);
}

/*
 * Copy identity and state of a connection to @out. Allowed at any time in the life of @conn; the
 * caller holds a reference to its socket. Process context or softirq; conn->lock is not held.
 *
 * Return: false before the handshake is complete and after the memory was given back.
 */
bool smc_conn_inspect(struct smc_conn *conn, struct smc_conn_info *out)
{
	bool there;

	/*
	 * @attached is set under the lock, after smc_conn_open() has set group and transport.
	 * @freeing is set under the lock before they are cleared.
	 */
	spin_lock_bh(&conn->lock);
	there = conn->attached && !conn->freeing;
	if (there)
		copy_info(conn, out);
	spin_unlock_bh(&conn->lock);
	return there;
}
