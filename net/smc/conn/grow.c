// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings that grow. Over a loopback device a connection begins with small rings. The writer replaces
 * the memory of its ring by larger memory when it needs that (conn/resize.c), and charges it to the
 * reader, whose receive buffer it is. Over SMC-R the receive rings have a fixed size; the send
 * buffer grows (conn/send_buffer.c), and the writer pays for it. In what follows, it is a ring, and
 * there is no @reader.
 *
 * A writer does not wait for the reader, as that may wait for the writer. If there is no memory the
 * ring stays as it is, and the writer waits for space, or until conn/balance.c finds memory.
 *
 * A stream needs no ring larger than SMC_BUFFER_MAX: the caches of a processor hold that. But two
 * programs that both write before they read may write as much as TCP buffers. So a full ring may
 * become larger when its reader has read nothing for a while (conn/unread.c).
 */

#include <linux/log2.h>
#include <linux/sched/mm.h>

#include "../group/buffer.h"
#include "../trace.h"
#include "conn.h"

#define GROWTH	4	/* times larger, at least */

/*
 * Charge the larger ring to the reader, if that has started. Return: the size that its cgroup
 * allows, @bytes or smaller; 0 if it allows no larger one.
 */
static u32 charge_reader(struct smc_conn *reader, u32 bytes)
{
	u32 charged = 0;

	spin_lock_bh(&reader->lock);
	if (smc_conn_is_in_use(reader))
		charged = smc_buffer_charge_growth(reader, bytes);
	else if (!reader->attached)
		reader->rx.awaited = true;
	spin_unlock_bh(&reader->lock);
	return charged;
}

/*
 * The size that the namespace of the payer allows, @bytes or smaller. The limit of the machine
 * matters for large rings and send buffers only, because memory in pools counts there.
 */
static u32 offer_memory(const struct smc_conn *writer, const struct smc_conn *payer, u32 bytes)
{
	const struct smc_share *share = payer->sn->share;

	if (writer->tx.buffer_bytes < SMC_BUFFER_MAX && !writer->transport->buffered)
		return smc_share_offer(share, bytes);
	return smc_buffer_offer(share, bytes);
}

static bool grow_ring(struct smc_conn *writer, struct smc_conn *reader, u32 bytes)
{
	if (!reader)
		return smc_send_buffer_resize(writer, bytes);
	bytes = offer_memory(writer, reader, bytes);
	if (bytes > writer->tx.buffer_bytes)
		bytes = charge_reader(reader, bytes);
	return bytes > writer->tx.buffer_bytes && smc_ring_resize(writer, reader, bytes);
}

/*
 * The reader may wait for what a larger ring holds; but not if the ring could not grow, because the
 * writer may wait for space soon.
 */
static void tell_reader(struct smc_conn *reader, bool grown)
{
	u32 before = reader->rx.most;

	WRITE_ONCE(reader->rx.most, grown ? reader->rx.wanted : 0);
	if (before && !grown && smc_rx_available(reader))
		smc_conn_wake_readers(reader);
}

/*
 * A write on behalf of a file system or a block device must not wait for one. A network block
 * device writes as a task that frees memory does, always: the allocation then reclaims nothing, and
 * takes nothing of the kernel's reserves.
 */
static bool grow_for_socket(struct smc_conn *writer, struct smc_conn *reader, u32 bytes)
{
	unsigned int scope;
	bool grown;

	if (writer->sk->sk_allocation & __GFP_FS)
		return grow_ring(writer, reader, bytes);
	scope = memalloc_noio_save();
	grown = grow_ring(writer, reader, bytes);
	memalloc_noio_restore(scope);
	return grown;
}

/*
 * The size of a ring of @before bytes that is to hold @bytes: twice as large, because a reader
 * reports the space only when half of the ring is in use. A larger ring needs fewer reports.
 */
static u32 choose_size(u32 before, u32 bytes, u32 most)
{
	u32 size = roundup_pow_of_two(max(2 * bytes, before * GROWTH));

	return min(size, most);
}

/* A ring that has the size for a peer that reads may become larger for one that does not */
static u32 get_growth_limit(const struct smc_conn_tx *tx)
{
	return tx->buffer_bytes < tx->most ? tx->most : tx->largest;
}

/* If the limits are not the reason of a failure, conn/balance.c lets each further try come later */
static void note_outcome(struct smc_conn *conn, struct smc_conn *payer, bool grown)
{
	struct smc_conn_tx *tx = &conn->tx;
	u8 failures = 0;

	if (!grown && smc_tx_can_grow(conn, payer))
		failures = min(tx->failures + 1, U8_MAX);
	WRITE_ONCE(tx->failures, failures);
	tx->tried = jiffies;
}

/**
 * smc_tx_grow() - make the ring that is written to larger
 * @conn: a connection for which smc_tx_wants_growth() is true
 * @left: bytes that a call has to write
 *
 * The socket lock is held. May sleep, but does not wait for the peer. If it is not possible, the
 * ring stays as it is.
 */
void smc_tx_grow(struct smc_conn *conn, size_t left)
{
	struct smc_conn *reader = NULL;
	struct smc_conn_tx *tx = &conn->tx;
	u32 before = tx->buffer_bytes, most = get_growth_limit(tx);
	u32 bytes, wanted;
	bool grown;

	sock_owned_by_me(conn->sk);
	bytes = smc_tx_outstanding(conn) + min_t(size_t, left, most);
	bytes += before - smc_ring_size(&tx->ring);	/* what the element has beside the ring */
	wanted = choose_size(before, bytes, most);
	WRITE_ONCE(tx->cramped, false);
	WRITE_ONCE(tx->stuck, true);	/* smc_rx_started() may change that at once */
	WRITE_ONCE(tx->unread, false);
	if (!conn->transport->buffered) {
		reader = conn->transport->other_end(conn);
		if (!reader || !smc_conn_get_not_zero(reader))
			return;
	}
	grown = grow_for_socket(conn, reader, wanted);
	if (grown)
		WRITE_ONCE(tx->stuck, false);
	note_outcome(conn, reader ?: conn, grown);
	smc_balance_watch(conn, !grown && smc_tx_is_small(conn) && !tx->failures);
	smc_conn_count(conn, grown ? SMC_STAT_RING_GROWN : SMC_STAT_RING_STUCK, 1);
	trace_smc_ring(conn->sk, before, grown ? tx->buffer_bytes : wanted, grown);
	if (!reader)
		return;
	if (grown || smc_tx_is_small(conn))
		tell_reader(reader, grown);
	smc_conn_put(reader);
}

/* What autotuning by TCP would buffer here. The other end has limits of its own. */
static u32 get_send_limit(const struct smc_conn *conn)
{
	int most = READ_ONCE(sock_net(conn->sk)->ipv4.sysctl_tcp_wmem[2]);

	return min(rounddown_pow_of_two(max(most, SMC_BUFFER_MIN)), conn->tx.limit);
}

/* By SO_SNDBUF: what the program has set, it can write. The kernel has doubled the value. */
static u32 get_chosen_limit(const struct sock *sk)
{
	return rounddown_pow_of_two(max(READ_ONCE(sk->sk_sndbuf), 1));
}

/**
 * smc_tx_choose_largest() - find how large the ring may become while the peer reads nothing
 * @conn: an attached connection
 *
 * The socket lock is held. Does not sleep.
 *
 * The limit of the reader and SO_SNDBUF apply; to a send buffer without SO_SNDBUF, that of
 * autotuning by TCP.
 */
void smc_tx_choose_largest(struct smc_conn *conn)
{
	const struct smc_conn *reader = NULL;
	const struct sock *sk = conn->sk;
	u32 largest = conn->tx.most;
	bool chosen;

	sock_owned_by_me(sk);
	chosen = sk->sk_userlocks & SOCK_SNDBUF_LOCK;
	if (conn->transport->other_end)
		reader = conn->transport->other_end(conn);
	if (conn->transport->buffered)
		largest = max(largest, chosen ? conn->tx.limit : get_send_limit(conn));
	else if (reader && reader->rx.may_move)
		largest = max(largest, reader->rx.largest);
	if (chosen)
		largest = clamp(get_chosen_limit(sk), conn->tx.most, largest);
	WRITE_ONCE(conn->tx.largest, largest);
}

/**
 * smc_tx_can_grow() - do the limits allow a larger ring?
 * @conn: the connection that writes to the ring
 * @payer: the connection that pays for the ring; the caller has a reference
 *
 * The socket lock of @conn is held. Does not sleep.
 *
 * Those of @payer's namespace and cgroup. Return: false also if @payer has not started, or has
 * ended.
 */
bool smc_tx_can_grow(const struct smc_conn *conn, struct smc_conn *payer)
{
	u32 bytes, before = conn->tx.buffer_bytes;

	bytes = min(before * GROWTH, get_growth_limit(&conn->tx));
	bytes = offer_memory(conn, payer, bytes);
	spin_lock_bh(&payer->lock);
	bytes = smc_conn_is_in_use(payer) ? smc_buffer_offer_growth(payer, bytes) : 0;
	spin_unlock_bh(&payer->lock);
	return bytes > before;
}

/**
 * smc_rx_started() - let a writer try again that wanted a larger ring before this end has started
 * @conn: an attached connection, which processes control data
 *
 * The socket lock is held. Does not sleep.
 */
void smc_rx_started(struct smc_conn *conn)
{
	struct smc_conn *writer;

	if (likely(!conn->rx.awaited))
		return;
	writer = conn->transport->other_end(conn);
	if (!writer || !smc_conn_get_not_zero(writer))
		return;
	WRITE_ONCE(writer->tx.stuck, false);
	smc_conn_wake_writers(writer);
	smc_conn_put(writer);
}
