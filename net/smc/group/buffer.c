// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffer sizes, and the memory cgroup that pays for a buffer.
 *
 * Pages can be charged to a memory cgroup only when they are allocated. But a buffer outlives its
 * connection and then serves another one. So the pages are charged to no cgroup; a connection is
 * charged for its buffer as long as it has it, as TCP sockets are for theirs. The limits of TCP do
 * not apply to SMC rings: the account is the accounting part of a separate sock, which no program
 * can reach, with the cgroup of the socket. A connection that no cgroup pays for has none.
 */

#include <linux/err.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "buffer.h"
#include "conn.h"
#include "payer.h"

/*
 * The buffer size of the protocol for @wanted bytes: 16 KiB times a power of two, at least @wanted
 * unless that exceeds the largest size (RFC 7609, A.2.3; R-RMB-02).
 */
u32 smc_buffer_size(int wanted)
{
	return roundup_pow_of_two(clamp(wanted, SMC_BUFFER_MIN, SMC_BUFFER_MAX));
}

/* The largest size of a ring that can grow, for @wanted bytes: as smc_buffer_size(), or larger */
u32 smc_ring_limit(int wanted)
{
	return roundup_pow_of_two(clamp(wanted, SMC_BUFFER_MIN, SMC_RING_MAX));
}

/**
 * smc_buffer_offer() - the size that smc_buffer_take() would return now
 * @share: the share of the namespace, which is alive
 * @bytes: a power of two
 *
 * Any context.
 *
 * Return: @bytes or a smaller size; 0 at a limit.
 */
u32 smc_buffer_offer(const struct smc_share *share, u32 bytes)
{
	return smc_memory_offer(smc_share_offer(share, bytes));
}

/**
 * smc_buffer_take() - account for a new buffer that serves one namespace as long as it exists
 * @share: the share of the namespace, which is alive
 * @bytes: a power of two
 *
 * Any context.
 *
 * Return: the size that may be allocated, @bytes or smaller; 0 at a limit. smc_buffer_give() gives
 * it back.
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
 * smc_buffer_take_exactly() - smc_buffer_take() for a size that the peer has chosen
 * @share: the share of the namespace, which is alive
 * @bytes: the size
 *
 * Any context.
 *
 * Return: whether the buffer may be allocated; then smc_buffer_give() gives the bytes back.
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
 * smc_buffer_exceed() - account for a buffer that takes the place of a larger one
 * @share: the share of the namespace, which is alive
 * @bytes: the size; limits do not apply
 *
 * Any context. smc_buffer_give() gives the bytes back.
 */
void smc_buffer_exceed(struct smc_share *share, u32 bytes)
{
	smc_share_exceed(share, bytes);
	smc_memory_exceed(bytes);
}

/**
 * smc_buffer_give() - a buffer was freed
 * @share: the share it was taken from
 * @bytes: the size that was taken, or a part of it
 *
 * Any context.
 */
void smc_buffer_give(struct smc_share *share, u32 bytes)
{
	smc_memory_unreserve(bytes);
	smc_share_give(share, bytes);
}

/* Find the payer of the socket, once. smc_buffer_uncharge_all() drops it. */
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

static bool charge_account(struct smc_conn *conn, u32 bytes)
{
	if (!conn->account)
		conn->account = smc_payer_open_account(conn->payer);
	if (!conn->account || !__sk_mem_schedule(conn->account, bytes, SK_MEM_RECV))
		return false;
	sk_mem_charge(conn->account, bytes);
	return true;
}

static int charge_payer(struct smc_conn *conn, u32 bytes)
{
	if (!smc_payer_take(conn->payer, bytes))
		return -ENOMEM;
	if (!charge_account(conn, bytes)) {
		smc_payer_give(conn->payer, bytes);
		return -ENOMEM;
	}
	conn->charged += bytes;
	return 0;
}

/**
 * smc_buffer_charge() - charge a buffer to the memory cgroup of the socket
 * @conn: the connection that uses the buffer; the socket lock is held
 * @bytes: size of the buffer
 *
 * May sleep. smc_conn_free() uncharges what is still charged then.
 *
 * Return: 0, or -ENOMEM if the cgroup has no room.
 */
int smc_buffer_charge(struct smc_conn *conn, u32 bytes)
{
	int err = attach_payer(conn);

	return err || !conn->payer ? err : charge_payer(conn, bytes);
}

/**
 * smc_buffer_charge_most() - smc_buffer_charge() for a buffer that may be smaller
 * @conn: the connection that uses the buffer; the socket lock is held
 * @bytes: a power of two
 *
 * May sleep.
 *
 * Return: the size that was charged, @bytes or smaller; 0 if the cgroup has no room.
 */
u32 smc_buffer_charge_most(struct smc_conn *conn, u32 bytes)
{
	if (attach_payer(conn))
		return 0;
	if (!conn->payer)
		return bytes;
	bytes = smc_payer_offer(conn->payer, bytes);
	return bytes && !smc_buffer_charge(conn, bytes) ? bytes : 0;
}

/**
 * smc_buffer_offer_growth() - the size that smc_buffer_charge_growth() would charge now
 * @conn: an attached connection; its lock is held
 * @bytes: the new size
 *
 * Does not sleep. Return: @bytes or smaller; 0 if the cgroup has no room.
 */
u32 smc_buffer_offer_growth(const struct smc_conn *conn, u32 bytes)
{
	lockdep_assert_held(&conn->lock);
	return conn->payer ? smc_payer_offer(conn->payer, bytes) : bytes;
}

/**
 * smc_buffer_charge_growth() - charge what a buffer needs more if it becomes larger
 * @conn: an attached connection, which is charged for rx.granted bytes; its lock is held
 * @bytes: the new size
 *
 * The task of another socket calls this, so it does not reclaim memory of the cgroup: the kernel
 * charges it beyond memory.max instead, as for data that TCP receives. Does not sleep.
 *
 * Return: the size that is charged now, @bytes or smaller; 0 if there is no room for a larger one.
 */
u32 smc_buffer_charge_growth(struct smc_conn *conn, u32 bytes)
{
	bytes = smc_buffer_offer_growth(conn, bytes);
	if (conn->payer && (bytes <= conn->rx.granted || !conn->account ||
			    charge_payer(conn, bytes - conn->rx.granted)))
		return 0;
	conn->rx.granted = bytes;
	return bytes;
}

/**
 * smc_buffer_uncharge() - the connection does not use a buffer any more
 * @conn: the connection; the socket lock or its own lock is held, or the connection was released
 * @bytes: the size that was charged, or a part of it
 *
 * Does not sleep.
 */
void smc_buffer_uncharge(struct smc_conn *conn, u32 bytes)
{
	if (!conn->account)
		return;
	conn->charged -= bytes;
	sk_mem_uncharge(conn->account, bytes);
	smc_payer_give(conn->payer, bytes);
}

/* Uncharge all buffers of @conn; see smc_buffer_uncharge(). Process context; does not sleep. */
void smc_buffer_uncharge_all(struct smc_conn *conn)
{
	smc_buffer_uncharge(conn, conn->charged);
	smc_payer_close_account(conn->account);
	conn->account = NULL;
	smc_payer_put(conn->payer);
	conn->payer = NULL;
}
