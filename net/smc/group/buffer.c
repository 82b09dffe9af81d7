// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffer sizes, and which memory cgroup pays for a buffer.
 *
 * Pages can be charged to a memory cgroup only when they are allocated, but buffers outlive
 * connections, and then serve others. So the pages are charged to no cgroup, and a connection is
 * charged for its buffer as long as it has it, in the way that TCP's sockets are for theirs. TCP's
 * own limits are not about our rings: the account is the accounting part of a sock that nobody
 * can reach, with the cgroup of the socket.
 */

#include <linux/err.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "buffer.h"
#include "conn.h"
#include "payer.h"

/**
 * smc_buffer_size() - the buffer size of the protocol that fits a request
 * @wanted: bytes
 *
 * Return: 16 KiB times a power of two, not less than @wanted if there is such
 * a size (RFC 7609, A.2.3; R-RMB-02).
 */
u32 smc_buffer_size(int wanted)
{
	return roundup_pow_of_two(clamp(wanted, SMC_BUFFER_MIN, SMC_BUFFER_MAX));
}

/**
 * smc_buffer_offer() - what smc_buffer_take() would give now
 * @share: the share of the namespace, which is alive
 * @bytes: a size from smc_buffer_size()
 *
 * Any context.
 *
 * Return: that size, perhaps a smaller one; 0 at a limit.
 */
u32 smc_buffer_offer(const struct smc_share *share, u32 bytes)
{
	return smc_memory_offer(smc_share_offer(share, bytes));
}

/**
 * smc_buffer_take() - account for a new buffer that serves one namespace for all of its life
 * @share: the share of the namespace, which is alive
 * @bytes: a size from smc_buffer_size()
 *
 * Any context.
 *
 * Return: the size that may be allocated, perhaps a smaller one; 0 at a limit. smc_buffer_give()
 * gives it back.
 */
u32 smc_buffer_take(struct smc_share *share, u32 bytes)
{
	u32 most = smc_share_take(share, bytes);

	bytes = smc_memory_reserve(most);
	if (bytes < most)
		smc_share_give(share, most - bytes);
	return bytes;
}

/**
 * smc_buffer_take_exactly() - smc_buffer_take() where the peer has chosen the size
 * @share: the share of the namespace, which is alive
 * @bytes: the size
 *
 * Any context.
 *
 * Return: whether it may be allocated; then smc_buffer_give() gives it back.
 */
bool smc_buffer_take_exactly(struct smc_share *share, u32 bytes)
{
	if (!smc_share_take_exactly(share, bytes))
		return false;
	if (smc_memory_reserve_exactly(bytes))
		return true;
	smc_share_give(share, bytes);
	return false;
}

/**
 * smc_buffer_give() - the buffer was freed
 * @share: as taken from
 * @bytes: as taken, or a part of it
 *
 * Any context.
 */
void smc_buffer_give(struct smc_share *share, u32 bytes)
{
	smc_memory_unreserve(bytes);
	smc_share_give(share, bytes);
}

/* The payer stays until smc_buffer_uncharge_all() */
static int attach_payer(struct smc_conn *conn)
{
	struct smc_payer *payer;

	sock_owned_by_me(conn->sk);
	if (conn->payer)
		return 0;
	payer = smc_payer_get(conn->sk);
	if (IS_ERR(payer))
		return PTR_ERR(payer);
	conn->payer = payer;
	return 0;
}

/**
 * smc_buffer_charge() - the memory cgroup of a connection's socket pays for a buffer
 * @conn: the connection that the buffer serves; the socket lock is held
 * @bytes: size of the buffer
 *
 * May sleep. What is still charged when the connection is freed is uncharged then.
 *
 * Return: 0, or -ENOMEM if the cgroup has no room for it.
 */
int smc_buffer_charge(struct smc_conn *conn, u32 bytes)
{
	struct sock *account = conn->account;
	int err = attach_payer(conn);

	if (err)
		return err;
	if (!smc_payer_take(conn->payer, bytes))
		return -ENOMEM;
	if (!__sk_mem_schedule(account, bytes, SK_MEM_RECV)) {
		smc_payer_give(conn->payer, bytes);
		return -ENOMEM;
	}
	sk_mem_charge(account, bytes);
	conn->charged += bytes;
	return 0;
}

/**
 * smc_buffer_charge_most() - smc_buffer_charge() where the buffer may be smaller
 * @conn: as there
 * @bytes: a size from smc_buffer_size()
 *
 * May sleep.
 *
 * Return: the size that was charged, perhaps a smaller one; 0 if the cgroup has no room.
 */
u32 smc_buffer_charge_most(struct smc_conn *conn, u32 bytes)
{
	if (attach_payer(conn))
		return 0;
	bytes = smc_payer_offer(conn->payer, bytes);
	return bytes && !smc_buffer_charge(conn, bytes) ? bytes : 0;
}

/**
 * smc_buffer_uncharge() - a buffer does not serve the connection any more
 * @conn: the connection; the socket lock is held, or the program has closed the socket
 * @bytes: as charged, or a part of it
 *
 * Does not sleep.
 */
void smc_buffer_uncharge(struct smc_conn *conn, u32 bytes)
{
	conn->charged -= bytes;
	sk_mem_uncharge(conn->account, bytes);
	smc_payer_give(conn->payer, bytes);
}

/**
 * smc_buffer_uncharge_all() - no buffer serves the connection any more
 * @conn: as in smc_buffer_uncharge()
 *
 * Process context. Does not sleep.
 */
void smc_buffer_uncharge_all(struct smc_conn *conn)
{
	smc_buffer_uncharge(conn, conn->charged);
	smc_payer_put(conn->payer);
	conn->payer = NULL;
}
