// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replace the memory of a send buffer by larger or smaller memory: struct smc_transport, @buffered.
 *
 * Byte n of the stream is at n modulo the size. What the peer has not reported as consumed moves
 * to the new memory: after the loss of a link it is written to the peer's ring once more. The
 * caller has the socket lock, so nothing is written to the buffer meanwhile, and the copy needs no
 * other lock. The transport keeps the former memory until the device has read it.
 */

#include <linux/log2.h>

#include "../group/buffer.h"
#include "conn.h"

/* Return: whether the new memory is large enough */
static bool copy_unconsumed(const struct smc_conn *conn, const struct smc_ring_memory *to)
{
	const struct smc_conn_tx *tx = &conn->tx;
	u32 at = READ_ONCE(tx->consumed), left = tx->produced - at;

	if (left > to->bytes)
		return false;
	while (left) {
		u32 from_offset = at % tx->buffer_bytes, to_offset = at % to->bytes;
		u32 piece = min3(left, tx->buffer_bytes - from_offset, to->bytes - to_offset);

		memcpy(to->base + to_offset, tx->base + from_offset, piece);
		at += piece;
		left -= piece;
	}
	return true;
}

/* Return: whether it was done; then the transport may have taken the former memory */
static bool swap_buffer(struct smc_conn *conn, struct smc_ring_memory *memory)
{
	const struct smc_ring_memory to = *memory;
	struct smc_conn_tx *tx = &conn->tx;

	lockdep_assert_held(&conn->lock);
	if (!smc_conn_is_in_use(conn) || !conn->transport->ring_swap(conn, memory))
		return false;
	smc_conn_count(conn, SMC_STAT_TX_USED, (s64)to.bytes - tx->buffer_bytes);
	tx->base = to.base;
	WRITE_ONCE(tx->ring.end, to.bytes);
	WRITE_ONCE(tx->buffer_bytes, to.bytes);
	tx->prod.wrap = tx->total >> ilog2(to.bytes);
	tx->prod.count = tx->produced % to.bytes;
	smc_cdc_limit_held(conn);
	return true;
}

/*
 * Return: whether it was done. The next message leads to a report of the device that the former
 * memory is not in use. A program that gets a larger buffer writes.
 */
static bool swap_locked(struct smc_conn *conn, struct smc_ring_memory *memory)
{
	u32 before = conn->tx.buffer_bytes;
	bool done, posted = false;

	spin_lock_bh(&conn->lock);
	done = swap_buffer(conn, memory);
	if (done && conn->tx.buffer_bytes < before)
		posted = smc_cdc_post(conn);
	spin_unlock_bh(&conn->lock);
	if (posted)
		smc_cdc_kick(conn);
	return done;
}

/*
 * Charge what is missing for @bytes. The transport applies the limits of the namespace and of the
 * machine. Return: the size that the cgroup allows, 0 if none is larger.
 */
static u32 charge_larger(struct smc_conn *conn, u32 bytes)
{
	u32 before = conn->tx.buffer_bytes;

	spin_lock_bh(&conn->lock);
	bytes = smc_conn_is_in_use(conn) ? smc_buffer_offer_growth(conn, bytes) : 0;
	spin_unlock_bh(&conn->lock);
	if (bytes <= before || smc_buffer_charge(conn, bytes - before))
		return 0;
	return bytes;
}

/**
 * smc_send_buffer_resize() - give the send buffer larger or smaller memory
 * @conn: a connection that has started, whose transport is buffered
 * @bytes: the new size, a power of two
 *
 * The socket lock is held. May sleep, but does not wait for the peer.
 *
 * Return: whether it was done. If so, the buffer may be smaller than @bytes, but it is larger than
 * before if @bytes is.
 */
bool smc_send_buffer_resize(struct smc_conn *conn, u32 bytes)
{
	u32 charged = conn->tx.buffer_bytes;
	struct smc_ring_memory memory;
	bool done = false;

	sock_owned_by_me(conn->sk);
	if (bytes > charged) {
		bytes = charge_larger(conn, bytes);
		if (!bytes)
			return false;
		charged = bytes;
	}
	if (!conn->transport->ring_alloc(conn, bytes, &memory)) {
		done = copy_unconsumed(conn, &memory) && swap_locked(conn, &memory);
		if (memory.priv)
			conn->transport->ring_free(conn, memory.priv, 0, true);
	}
	smc_buffer_uncharge(conn, charged - conn->tx.buffer_bytes);
	return done;
}
