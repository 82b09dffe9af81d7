// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation and release of connections.
 *
 * A connection ends in two steps, in either order. *Closed*: the state machine expects no message
 * of the peer, and the peer writes no more. *Released*: the socket and its system calls do not use
 * the connection any more; until then the program may read the remaining bytes. After both, the
 * memory is freed once; @freeing guards that.
 */

#include <linux/module.h>

#include "../group/buffer.h"
#include "../group/group.h"
#include "../object.h"
#include "../work.h"
#include "close.h"
#include "conn.h"

#define REAPED_MAX	4	/* connections, perhaps of other users, that a call frees */

static LLIST_HEAD(dead);

static void free_work(struct work_struct *work)
{
	smc_conn_free(container_of(work, struct smc_conn, free_work));
}

static void reap_work(struct work_struct *work)
{
	struct smc_conn *conn, *next;

	llist_for_each_entry_safe(conn, next, llist_del_all(&dead), dead) {
		smc_conn_free(conn);
		cond_resched();
	}
}

static DECLARE_DELAYED_WORK(reaper, reap_work);

/*
 * smc_conn_free() for callers that cannot sleep.
 *
 * On a synchronous transport the caller runs inside a system call of the peer, most often close().
 * Usually that call frees the connection by smc_conn_reap() before it returns. The delayed work
 * frees the connections of other calls. A timer has no such call.
 */
void smc_conn_free_later(struct smc_conn *conn)
{
	if (!conn->transport->synchronous || in_serving_softirq()) {
		queue_work(smc_wq, &conn->free_work);
		return;
	}
	llist_add(&conn->dead, &dead);
	queue_delayed_work(smc_wq, &reaper, 1);
}

/*
 * Free connections that smc_conn_free_later() has collected. There may be thousands, whose buffers
 * have to be zeroed: the caller frees some, and a kworker the others. May sleep.
 */
void smc_conn_reap(void)
{
	struct llist_node *first, *last;
	struct smc_conn *conn;
	unsigned int i;

	if (llist_empty(&dead))
		return;
	first = llist_del_all(&dead);
	for (i = 0; first && i < REAPED_MAX; i++) {
		conn = llist_entry(first, struct smc_conn, dead);
		first = first->next;
		smc_conn_free(conn);
	}
	if (!first)
		return;
	for (last = first; last->next; last = last->next)
		;
	llist_add_batch(first, last, &dead);
	queue_delayed_work(smc_wq, &reaper, 0);
}

/* Stop the delayed work. There are no connections any more. May sleep. */
void smc_conn_exit(void)
{
	smc_balance_exit();
	cancel_delayed_work_sync(&reaper);
}

/**
 * smc_conn_init() - initialize a connection without memory
 * @conn: part of a zeroed struct. Its owner sets @release, @free, @progress and @timer
 * @sk: the TCP socket, which exists as long as there are references to the connection
 *
 * The caller gets the first reference.
 */
void smc_conn_init(struct smc_conn *conn, struct sock *sk)
{
	refcount_set(&conn->refs, 1);
	refcount_set(&conn->holders, 1);
	conn->unheld = get_completed_synchronize_rcu();
	conn->sk = sk;
	conn->sn = smc_net(sock_net(sk));
	spin_lock_init(&conn->lock);
	INIT_WORK(&conn->free_work, free_work);
	INIT_LIST_HEAD(&conn->watched);
	smc_cdc_init(conn);
	smc_stall_init(conn);
	smc_unread_init(conn);
}

/**
 * smc_conn_want() - choose the size of the receive buffer
 * @conn: a connection that is not open
 * @bytes: minimum size. The largest size of the protocol limits it, if the peer cannot make the
 *	buffer larger
 * @chosen: the application has set the size
 */
void smc_conn_want(struct smc_conn *conn, int bytes, bool chosen)
{
	conn->rx.wanted = smc_buffer_size(bytes);
	conn->rx.largest = smc_ring_limit(bytes);
	conn->rx.chosen = chosen;
}

/*
 * Adjust the charge to the size of the buffer. The cgroup was charged before the buffer existed,
 * perhaps for a larger one. Without a size the peer creates the buffer later.
 */
static int adjust_charge(struct smc_conn *conn)
{
	u32 bytes = conn->rx.buffer_bytes;
	int err = 0;

	if (!bytes || bytes == conn->rx.granted)
		return 0;
	if (bytes > conn->rx.granted)
		err = smc_buffer_charge(conn, bytes - conn->rx.granted);
	else
		smc_buffer_uncharge(conn, conn->rx.granted - bytes);
	if (!err)
		conn->rx.granted = bytes;
	return err;
}

/* Any context; the connection is open */
void smc_conn_count_receive_buffer(const struct smc_conn *conn, s64 bytes)
{
	atomic_long_add(bytes, &conn->group->rx_bytes);
	smc_conn_count(conn, SMC_STAT_RX_USED, bytes);
}

/**
 * smc_conn_resolve() - resolve the path to the peer, before there is a link group
 * @conn: a connection that is not open
 * @transport: the transport to use; the caller holds its module
 * @remote: the peer's address of the TCP connection; IPv4 as ::ffff:a.b.c.d
 * @candidate: the local device
 * @peer: address of the peer's device; not trusted
 *
 * The socket lock is held. May sleep, but does not wait for the peer.
 *
 * Return: 0; -EINPROGRESS until smc_conn_answered() returns true; or another negative errno. After
 * -EINPROGRESS, a caller that stops waiting calls the transport's resolve_end.
 */
int smc_conn_resolve(struct smc_conn *conn, const struct smc_transport *transport,
		     const struct in6_addr *remote, const struct smc_candidate *candidate,
		     const struct smc_address *peer)
{
	sock_owned_by_me(conn->sk);
	conn->answered = false;
	conn->lost = false;
	if (!transport->resolve)
		return 0;
	return transport->resolve(conn, remote, candidate, peer);
}

/* The size of a buffer that can grow, at the start and when it is idle. Any context. */
u32 smc_conn_start_size(const struct smc_conn *conn)
{
	return roundup_pow_of_two(READ_ONCE(conn->sn->knobs.rmem_start));
}

/*
 * The size of the receive buffer at the start: a small one, if the peer can make it larger (@most).
 * The program or net.smc.rmem chooses the largest size.
 */
static u32 choose_start_size(struct smc_conn *conn, const struct smc_transport *transport)
{
	u32 start = smc_conn_start_size(conn);
	struct smc_conn_rx *rx = &conn->rx;

	rx->may_move = start < rx->wanted && transport->may_grow &&
		       transport->may_grow(conn->group);
	rx->most = rx->may_move ? rx->wanted : 0;
	return rx->may_move ? start : rx->wanted;
}

/* Is less than an eighth of the memory left that a limit of the namespace allows? */
static bool is_memory_short(const struct smc_conn *conn)
{
	return smc_share_offer(conn->sn->share, SMC_BUFFER_MAX) <= SMC_BUFFER_MIN;
}

/**
 * smc_conn_open() - get a receive buffer, or reserve the memory for it
 * @conn: a connection with role, first_contact and rx.wanted set. It is opened only once: the peer
 *	of a cancelled one may still signal
 * @transport: the transport to use; the caller holds its module
 * @group: the link group. On 0 and -EINPROGRESS the caller's reference passes to the connection
 *
 * The socket lock is held. May sleep, but does not wait for the peer.
 *
 * Return: 0; -EINPROGRESS if the connection is open, but its buffer must not be announced before
 * smc_conn_answered() returns true; or another negative errno.
 */
int smc_conn_open(struct smc_conn *conn, const struct smc_transport *transport,
		  struct smc_group *group)
{
	int err;

	conn->group = group;
	conn->counters = conn->sn->stats->mode[transport->mode];
	conn->answered = false;
	conn->declined = false;
	conn->lost = false;
	conn->peer_gone = false;
	conn->attached = false;
	conn->rx.base = NULL;
	conn->rx.buffer_bytes = 0;
	conn->rx.granted = smc_buffer_charge_most(conn, choose_start_size(conn, transport));
	err = conn->rx.granted ? transport->conn_open(conn) : -ENOMEM;
	if (unlikely(err == -ENOMEM || err == -ENOBUFS || is_memory_short(conn)))
		smc_balance_hasten();
	if (err && err != -EINPROGRESS)
		goto err_group;
	if (adjust_charge(conn)) {
		transport->conn_close(conn);
		err = -ENOMEM;
		goto err_group;
	}
	__module_get(transport->owner);
	conn->rx.prod = smc_cursor_start(&conn->rx.ring);
	conn->rx.cons = conn->rx.prod;
	/* The lock makes all of the above visible to smc_conn_inspect() */
	spin_lock_bh(&conn->lock);
	WRITE_ONCE(conn->transport, transport);
	conn->state = SMC_CLOSE_ACTIVE;
	conn->shutdown = 0;
	conn->failed = false;
	conn->has_early = false;
	spin_unlock_bh(&conn->lock);
	smc_conn_count_receive_buffer(conn, conn->rx.buffer_bytes);
	smc_conn_get(conn);
	smc_object_created(SMC_OBJECT_CONN);
	return err;

err_group:
	smc_buffer_uncharge_all(conn);
	conn->group = NULL;
	return err;
}

/**
 * smc_conn_attach() - attach the peer's ring
 * @conn: an open connection
 * @peer: the peer's Accept or Confirm; not trusted
 *
 * The socket lock is held. May sleep, but does not wait for the peer. Control data that arrives for
 * @conn is kept for smc_conn_start().
 *
 * Return: 0; -ECONNRESET if the peer has released its ring; or another negative errno.
 */
int smc_conn_attach(struct smc_conn *conn, const struct smc_clc_accept *peer)
{
	u32 had = conn->rx.buffer_bytes;
	int err = conn->transport->conn_attach(conn, peer);

	smc_conn_count_receive_buffer(conn, conn->rx.buffer_bytes - had);
	if (!err)
		err = adjust_charge(conn);
	if (err)
		return err;
	if (!conn->transport->buffered)
		conn->tx.peer = conn->tx.ring;
	conn->tx.prod = smc_cursor_start(&conn->tx.ring);
	conn->tx.peer_prod = smc_cursor_start(&conn->tx.peer);
	conn->tx.cons = conn->tx.peer_prod;
	smc_tx_choose_largest(conn);
	smc_cdc_limit_held(conn);
	return 0;
}

/**
 * smc_conn_settle() - verify the link, after the last CLC message
 * @conn: an attached connection
 *
 * The socket lock is held. May sleep, but does not wait for the peer.
 *
 * Return: 0; -EINPROGRESS until smc_conn_answered() returns true; or another negative errno.
 */
int smc_conn_settle(struct smc_conn *conn)
{
	if (!conn->transport->conn_settle)
		return 0;
	return conn->transport->conn_settle(conn);
}

void smc_conn_ready(struct smc_conn *conn, u32 reason)
{
	WRITE_ONCE(conn->answer, reason);
	/* Paired with the acquire in smc_conn_answered(): @answer is visible */
	smp_store_release(&conn->answered, true);
	conn->progress(conn);
}

/**
 * smc_conn_answered() - has the transport reported the result of an operation?
 * @conn: the connection, for which an operation has returned -EINPROGRESS
 * @reason: result: SMC_REASON_NONE, or the reason of the failure
 *
 * The socket lock is held.
 *
 * Return: true once for each result.
 */
bool smc_conn_answered(struct smc_conn *conn, u32 *reason)
{
	/*
	 * The reason that the transport reports takes precedence over the loss of the link that
	 * follows. Paired with the release in smc_conn_ready().
	 */
	if (smp_load_acquire(&conn->answered)) {
		*reason = READ_ONCE(conn->answer);
		WRITE_ONCE(conn->answered, false);
		return true;
	}
	if (!READ_ONCE(conn->lost))
		return false;
	*reason = SMC_REASON_NO_ACTIVE_LINK;
	return true;
}

/**
 * smc_conn_start() - the handshake is complete: process control data
 * @conn: an attached connection
 *
 * The socket lock is held. Does not sleep.
 *
 * Return: 0, or -ENOLINK if the path to the peer is already gone.
 */
int smc_conn_start(struct smc_conn *conn)
{
	int err = smc_cdc_attached(conn);

	if (!err)
		smc_rx_started(conn);
	return err;
}

/**
 * smc_conn_cancel() - the handshake failed: give back the memory
 * @conn: a connection, open or not, that smc_conn_start() has not started
 *
 * No connection joins the group of a first contact. The socket lock is held. May sleep.
 */
void smc_conn_cancel(struct smc_conn *conn)
{
	if (!conn->transport)
		return;
	if (conn->first_contact)
		smc_group_discard(conn->group);
	spin_lock_bh(&conn->lock);
	conn->state = SMC_CLOSE_CLOSED;
	WRITE_ONCE(conn->freeing, true);
	spin_unlock_bh(&conn->lock);
	smc_conn_free(conn);
}

/*
 * A client has closed the connection, and the server has not yet: at the server the link group has
 * this connection, and others may be told to join it. So the client still has to know the group.
 */
static unsigned long get_keep_time(const struct smc_conn *conn)
{
	bool has_peer_ended = conn->peer_gone ||
			      conn->rx_state_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORTED);

	if (conn->role != SMC_CLIENT || !conn->transport->synchronous || !conn->attached ||
	    has_peer_ended)
		return 0;
	return smc_conn_fin_timeout(conn);
}

/**
 * smc_conn_free() - give back all memory and leave the group
 * @conn: a connection for which the caller, or its caller, has set @freeing
 *
 * Called once for each smc_conn_open(). May sleep. Drops the reference of the memory.
 */
void smc_conn_free(struct smc_conn *conn)
{
	struct module *owner = conn->transport->owner;
	unsigned long keep = get_keep_time(conn);

	smc_conn_stop_timer(conn);	/* the deadline of the peer */
	smc_conn_disarm(conn, &conn->tx.stall);		/* @freeing keeps them from being started */
	smc_conn_disarm(conn, &conn->tx.unread_timer);
	smc_cdc_stop_flush(conn);
	smc_balance_forget(conn);
	smc_conn_count_receive_buffer(conn, -(s64)conn->rx.buffer_bytes);
	conn->transport->conn_close(conn);
	smc_buffer_uncharge_all(conn);
	WRITE_ONCE(conn->transport, NULL);
	smc_group_leave(conn->group, keep);
	conn->group = NULL;
	smc_object_destroyed(SMC_OBJECT_CONN);
	if (conn->orphan)
		atomic_dec(&conn->sn->orphans);
	if (conn->released)
		conn->progress(conn);
	smc_conn_put(conn);
	module_put(owner);
}
