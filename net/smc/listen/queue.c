// SPDX-License-Identifier: GPL-2.0-only
/*
 * The accept queue: children that accept() has not returned, and their places in the backlog.
 *
 * A child has a place until accept() returns it, so that as many connections can wait as on a TCP
 * socket. A child whose peer is silent, in the handshake or during TCP_DEFER_ACCEPT, is parked: it
 * has no place until the peer has ended its silence, so that silent peers keep no other connection
 * out. A child whose client takes its steps has no place until the client hands it over. If
 * SMC_PARKED_MAX children have no place, new connections are TCP: see is_handshake_congested().
 */

#include <linux/slab.h>
#include <net/tcp.h>

#include "listen.h"

#define TESTED_MAX	16		/* children that accept() or poll() looks at */
#define SILENCE		(HZ / 20)	/* of the peer; then the child is parked */
#define SILENCE_FULL	(HZ / 100)	/* the same, if all places are taken */

/* Without the lock of the queue the result may be wrong for a moment */
static u32 count_taken_places(const struct smc_accept_queue *q)
{
	return READ_ONCE(q->nr) - READ_ONCE(q->parked);
}

/* Connections that wait for accept(), or whose handshake is under way. Interrupts are on. */
u32 smc_accept_count_waiting(struct smc_sock *listener)
{
	u32 places;

	spin_lock_irq(&listener->queue->lock);
	places = count_taken_places(listener->queue);
	spin_unlock_irq(&listener->queue->lock);
	return places + READ_ONCE(listener->conn.sk->sk_ack_backlog);
}

/* As TCP: there is one place more than the program has asked for */
static bool is_full(const struct smc_accept_queue *q)
{
	return count_taken_places(q) > READ_ONCE(q->backlog);
}

static u32 get_tcp_limit(const struct smc_sock *listener)
{
	const struct smc_accept_queue *q = listener->queue;
	u32 waiting = READ_ONCE(listener->conn.sk->sk_ack_backlog);
	u32 backlog = READ_ONCE(q->backlog);

	if ((u64)count_taken_places(q) + waiting <= backlog || !waiting)
		return backlog;
	return min(backlog, waiting - 1);
}

/*
 * Children of the module and those in TCP's queue share the places of the backlog. TCP compares the
 * number in its own queue, sk_ack_backlog, with sk_max_ack_backlog, which also limits the requests
 * whose handshake of TCP is under way. So the limit is what the program has asked for, unless all
 * places are taken and TCP's queue is not empty: then it is just below the number in that queue.
 *
 * sk_ack_backlog is TCP's: inet_csk_listen_stop() expects 0 when its own queue is empty.
 */
static void update_tcp_limit(struct smc_sock *listener)
{
	u32 limit;

	lockdep_assert_held(&listener->queue->lock);
	if (listener->queue->ended)
		return;
	limit = get_tcp_limit(listener);
	if (limit != READ_ONCE(listener->conn.sk->sk_max_ack_backlog))
		WRITE_ONCE(listener->conn.sk->sk_max_ack_backlog, limit);
}

/*
 * TCP may have put a child into its queue. The caller has a reference, or is in an RCU read-side
 * critical section. Any context; does not sleep.
 */
void smc_accept_limit_tcp(struct smc_sock *listener)
{
	unsigned long flags;

	if (get_tcp_limit(listener) == READ_ONCE(listener->conn.sk->sk_max_ack_backlog))
		return;
	spin_lock_irqsave(&listener->queue->lock, flags);
	update_tcp_limit(listener);
	spin_unlock_irqrestore(&listener->queue->lock, flags);
}

/*
 * May a child be taken from TCP's queue? If not, the one that frees a place makes it due
 * (unlock_freed_place()).
 */
bool smc_accept_has_place(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;
	bool has_place;

	if (!is_full(q))
		return true;
	spin_lock_irq(&q->lock);
	has_place = !is_full(q);
	q->is_held = !has_place && !q->ended;
	spin_unlock_irq(&q->lock);
	return has_place;
}

/* The caller has freed a place, or may have. It has a reference. */
static void unlock_freed_place(struct smc_sock *listener)
	__releases(&listener->queue->lock)
{
	struct smc_accept_queue *q = listener->queue;
	bool resume = q->is_held && !is_full(q);

	update_tcp_limit(listener);
	if (resume)
		q->is_held = false;
	spin_unlock_irq(&q->lock);
	if (resume)
		smc_sock_event(listener);
}

/* listen() has been called. The socket lock is held. */
void smc_accept_set_backlog(struct smc_sock *listener, int backlog)
{
	spin_lock_irq(&listener->queue->lock);
	WRITE_ONCE(listener->queue->backlog, backlog);
	unlock_freed_place(listener);
}

/*
 * Create the queue of a socket that is about to listen, if it has none. The socket lock is held, or
 * the struct is not attached yet. May sleep. Return: 0 or -ENOMEM.
 */
int smc_accept_create_queue(struct smc_sock *smc)
{
	static atomic64_t last_number;
	struct smc_accept_queue *q;

	if (smc->queue)
		return 0;
	q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	if (!q)
		return -ENOMEM;
	mutex_init(&q->step_mutex);
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->children);
	q->ready = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&q->due);
	INIT_LIST_HEAD(&q->acceptors);
	q->number = atomic64_inc_return(&last_number);
	WRITE_ONCE(smc->queue, q);
	return 0;
}

/*
 * Count a child that the connect() of its client takes. It has no place, and is in no list, until
 * the connect() hands it over: see client_child.c. Return: false if the connect() may not take it.
 */
bool smc_accept_count_in_connect(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;
	bool may_take;

	spin_lock_irq(&q->lock);
	may_take = !q->ended && count_taken_places(q) + q->in_connect <= q->backlog &&
		   q->parked + q->in_connect < SMC_PARKED_MAX;
	if (may_take)
		WRITE_ONCE(q->in_connect, q->in_connect + 1);
	spin_unlock_irq(&q->lock);
	return may_take;
}

/* The connect() has handed the child over, or has found none */
void smc_accept_uncount_in_connect(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;

	spin_lock_irq(&q->lock);
	WRITE_ONCE(q->in_connect, q->in_connect - 1);
	spin_unlock_irq(&q->lock);
}

/*
 * A child that is not in the queue any more stays as it is. The peer is silent since @since. The
 * caller calls unlock_freed_place().
 */
static void park_child(struct smc_accept_queue *q, struct smc_sock *child, unsigned long since)
{
	lockdep_assert_held(&q->lock);
	if (!list_empty(&child->child) && !child->parked) {
		WRITE_ONCE(child->parked, true);
		child->silent_since = since;
		WRITE_ONCE(q->parked, q->parked + 1);
	}
}

/*
 * Add a child that TCP has accepted. The queue gets the caller's reference to the child. The caller
 * has seen a place, but the connect() calls of other clients may have taken it for their children:
 * then the child is like one whose silence was long, and gets a place if one is free when it is
 * ready.
 *
 * Return: false if the listener does not listen any more: then the caller keeps the reference.
 */
bool smc_accept_add_child(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = listener->queue;
	bool added, was_full;

	spin_lock_irq(&q->lock);
	added = !q->ended;
	was_full = is_full(q);
	if (added) {
		smc_conn_get(&listener->conn);
		WRITE_ONCE(child->listener, listener);
		list_add_tail(&child->child, &q->children);
		child->serial = q->serial++;
		WRITE_ONCE(q->nr, q->nr + 1);
		if (was_full)
			park_child(q, child, jiffies - SILENCE - 1);
		update_tcp_limit(listener);
	}
	spin_unlock_irq(&q->lock);
	return added;
}

/* Return: whether the child has been deferred until now, see defer_child(). */
static bool stop_deferral(struct smc_accept_queue *q, struct smc_sock *child)
{
	lockdep_assert_held(&q->lock);
	if (!child->conn.woken)
		return false;
	WRITE_ONCE(child->conn.woken, NULL);
	WRITE_ONCE(q->deferred, q->deferred - 1);
	if (child->is_gone)
		q->gone--;
	child->is_gone = false;
	smc_conn_stop_timer(&child->conn);
	return true;
}

static void unlink_child(struct smc_accept_queue *q, struct smc_sock *child)
{
	lockdep_assert_held(&q->lock);
	list_del_init(&child->child);
	stop_deferral(q, child);
	if (!RB_EMPTY_NODE(&child->ready)) {
		rb_erase_cached(&child->ready, &q->ready);
		RB_CLEAR_NODE(&child->ready);
	}
	list_del_init(&child->due);
	WRITE_ONCE(q->nr, q->nr - 1);
	if (child->parked)
		WRITE_ONCE(q->parked, q->parked - 1);
}

/*
 * The handshake is over: the child has a place, as on a TCP socket. But thousands of peers may end
 * a silence at once. If all places are taken, they get none, because they would keep others out
 * until accept() has returned all of them.
 */
static void unpark_child(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = listener->queue;

	lockdep_assert_held(&q->lock);
	if (!child->parked)
		return;
	if (is_full(q) && time_after(jiffies, child->silent_since + SILENCE))
		return;
	WRITE_ONCE(child->parked, false);
	WRITE_ONCE(q->parked, q->parked - 1);
	update_tcp_limit(listener);
}

/*
 * The peer's next message has not come: park a child whose peer is silent for SILENCE, or for
 * SILENCE_FULL if all places are taken. The child is in SMC_SOCK_HANDSHAKE, and its lock is held.
 * The caller has read all bytes that have come, because a busy machine does not make a peer silent.
 * Does not sleep.
 *
 * Return: jiffies when to test again: when the child may be parked, or at the deadline.
 */
unsigned long smc_accept_park_silent(struct smc_sock *child)
{
	struct smc_sock *listener = child->listener;
	unsigned long since = child->hs->since;
	unsigned long silence = jiffies - since;

	if (READ_ONCE(child->parked))
		return child->hs->deadline;
	if (silence < SILENCE_FULL || (silence < SILENCE && !is_full(listener->queue)))
		return since + clamp(2 * silence, SILENCE_FULL, SILENCE);
	spin_lock_irq(&listener->queue->lock);
	park_child(listener->queue, child, since);
	unlock_freed_place(listener);
	return child->hs->deadline;
}

/*
 * Take a child out of the queue.
 *
 * Return: false if another caller has done so; otherwise the caller calls
 * smc_accept_release_child().
 */
bool smc_accept_remove_child(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = listener->queue;
	bool taken = false;

	spin_lock_irq(&q->lock);
	if (!list_empty(&child->child)) {
		unlink_child(q, child);
		taken = true;
	}
	unlock_freed_place(listener);
	return taken;
}

/*
 * Separate a child from its listener, after it was taken out of the queue. The socket lock of the
 * child is held. Drops the references of smc_accept_add_child(): the caller has others, or does not
 * use the two sockets any more.
 */
void smc_accept_release_child(struct smc_sock *listener, struct smc_sock *child)
{
	WRITE_ONCE(child->listener, NULL);
	/* A kworker takes the step that was left to accept() */
	if (smc_sock_change_stepper(child, SMC_STEP_DECLINE) == SMC_STEPPER_QUEUE_WORK)
		smc_sock_queue_work(child, 0);
	smc_conn_put(&listener->conn);
	smc_conn_put(&child->conn);
}

static bool is_older_child(struct rb_node *a, const struct rb_node *b)
{
	const struct smc_sock *child = rb_entry(a, struct smc_sock, ready);
	const struct smc_sock *other = rb_entry(b, struct smc_sock, ready);

	return (s32)(child->serial - other->serial) < 0;
}

/*
 * Children are in the order in which TCP accepted them, as programs expect; deferred ones in the
 * order in which their deferral has ended; and those whose clients have taken their steps in the
 * order in which they were handed over, as the connect() calls return. Handshakes run side by side,
 * so a child may be ready before an older one. A peer chooses the order of its handshakes and
 * interrupts are off, hence a tree.
 */
static void queue_ready_child(struct smc_accept_queue *q, struct smc_sock *child)
{
	lockdep_assert_held(&q->lock);
	rb_add_cached(&child->ready, &q->ready, is_older_child);
}

static struct smc_sock *find_first_ready(const struct smc_accept_queue *q)
{
	lockdep_assert_held(&q->lock);
	return rb_entry_safe(rb_first_cached(&q->ready), struct smc_sock, ready);
}

/*
 * How long a child waits for data of its client, in jiffies; 0: not at all. TCP keeps the seconds
 * of TCP_DEFER_ACCEPT as the number of its SYN-ACKs in that time.
 */
static unsigned long get_deferral(const struct sock *listener)
{
	u8 left = READ_ONCE(inet_csk(listener)->icsk_accept_queue.rskq_defer_accept);
	unsigned long timeout = TCP_TIMEOUT_INIT;
	unsigned long time = 0;

	while (left--) {
		time += timeout;
		timeout = min_t(unsigned long, 2 * timeout, TCP_RTO_MAX);
	}
	return time;
}

/* Return: whether the child is ready now. */
static bool end_deferral(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = listener->queue;

	if (!stop_deferral(q, child))
		return false;
	unpark_child(listener, child);
	list_move_tail(&child->child, &q->children);
	child->serial = q->serial++;
	queue_ready_child(q, child);
	return true;
}

/*
 * If the socket is a child that was deferred, it is ready now. The caller has a reference, or is in
 * an RCU read-side critical section. Any context; does not sleep.
 */
void smc_accept_end_deferral(struct smc_sock *child)
{
	struct smc_sock *listener;
	bool is_ready = false;
	unsigned long flags;

	rcu_read_lock();
	listener = READ_ONCE(child->listener);
	if (listener) {
		spin_lock_irqsave(&listener->queue->lock, flags);
		is_ready = end_deferral(listener, child);
		spin_unlock_irqrestore(&listener->queue->lock, flags);
	}
	if (is_ready)
		smc_conn_wake_readers(&listener->conn);
	rcu_read_unlock();
}

/* Is there data, or the end? Any context. */
static bool has_data_or_end(const struct smc_conn *conn)
{
	return smc_rx_available(conn) || READ_ONCE(conn->shutdown);
}

static bool is_reset_without_data(const struct smc_conn *conn)
{
	return READ_ONCE(conn->failed) && !smc_rx_available(conn);
}

/*
 * The client of a deferred child has reset it without data: it does not count any more. Any
 * context.
 */
static void uncount_deferred(struct smc_sock *child)
{
	struct smc_sock *listener;
	unsigned long flags;

	rcu_read_lock();
	listener = READ_ONCE(child->listener);
	if (listener) {
		spin_lock_irqsave(&listener->queue->lock, flags);
		if (child->conn.woken && !child->is_gone) {
			child->is_gone = true;
			listener->queue->gone++;
		}
		spin_unlock_irqrestore(&listener->queue->lock, flags);
	}
	rcu_read_unlock();
}

/* The program of a deferred child would be woken */
static void handle_child_wakeup(struct smc_conn *conn)
{
	struct smc_sock *child = smc_sock_of(conn);

	if (is_reset_without_data(conn)) {
		uncount_deferred(child);
		smc_sock_event(child);		/* smc_accept_drop_deferred() */
	} else if (has_data_or_end(conn)) {
		smc_accept_end_deferral(child);
	}
}

/*
 * TCP_DEFER_ACCEPT: the child is ready when its client sends data, or after some time. Until then
 * it is parked, as a child whose client is silent in the handshake. It has a ring, so the backlog
 * and one more may be deferred. Those that wait to be freed after a reset do not count: clients
 * that connect and reset at once do not make others ready before their data comes.
 *
 * Return: whether the child is not to be queued as ready.
 */
static bool defer_child(struct smc_sock *listener, struct smc_sock *child)
{
	unsigned long deferral = get_deferral(listener->conn.sk);
	struct smc_accept_queue *q = listener->queue;
	bool is_deferred;

	if (likely(!deferral) ||
	    (has_data_or_end(&child->conn) && !is_reset_without_data(&child->conn)))
		return false;
	spin_lock_irq(&q->lock);
	is_deferred = !list_empty(&child->child) && q->deferred - q->gone <= q->backlog;
	if (is_deferred) {
		park_child(q, child, jiffies);
		smc_conn_start_timer(&child->conn, jiffies + deferral);
		WRITE_ONCE(child->conn.woken, handle_child_wakeup);
		WRITE_ONCE(q->deferred, q->deferred + 1);
	}
	unlock_freed_place(listener);
	if (!is_deferred)
		return false;
	/* Paired with choose_waiters() in conn/wake.c */
	smp_mb();
	handle_child_wakeup(&child->conn);
	return true;
}

/*
 * Would the child be deferred, and has its client reset it in the handshake? The child has a
 * listener. Any context.
 */
bool smc_accept_is_reset_deferred(const struct smc_sock *child)
{
	return is_reset_without_data(&child->conn) && get_deferral(child->listener->conn.sk);
}

/* The program does not get this child. The socket lock of the child is held. */
static void drop_child(struct smc_sock *child)
{
	struct smc_sock *listener = child->listener;

	if (smc_accept_remove_child(listener, child)) {
		smc_close_child(child);
		smc_accept_release_child(listener, child);
	}
}

/*
 * If the socket is a deferred child whose client has reset it without data, forget it, as TCP does.
 * The socket lock is held; the caller has a reference. May sleep, but not for the peer.
 */
void smc_accept_drop_deferred(struct smc_sock *child)
{
	sock_owned_by_me(child->conn.sk);
	if (READ_ONCE(child->conn.woken) && is_reset_without_data(&child->conn))
		drop_child(child);
}

/*
 * The handshake of a child is over, with SMC_CONNECTED or SMC_FALLBACK: accept() can return it,
 * unless it is deferred. If the child is not in the queue, nothing is done. The socket lock of the
 * child is held; the caller has a reference. Does not sleep.
 */
void smc_accept_make_ready(struct smc_sock *child, enum smc_outcome outcome)
{
	struct smc_sock *listener = child->listener;
	bool is_queued;

	if (outcome == SMC_CONNECTED && defer_child(listener, child))
		return;
	spin_lock_irq(&listener->queue->lock);
	is_queued = !list_empty(&child->child);
	if (is_queued) {
		unpark_child(listener, child);
		queue_ready_child(listener->queue, child);
	}
	spin_unlock_irq(&listener->queue->lock);
	if (is_queued)
		smc_conn_wake_readers(&listener->conn);
}

/*
 * The handshake of a child is over, with this outcome. If the child is not in the queue, nothing is
 * done. The socket lock of the child is held; the caller has a reference.
 */
void smc_accept_child_done(struct smc_sock *child, enum smc_outcome outcome)
{
	if (outcome == SMC_FAILED ||
	    (outcome == SMC_CONNECTED && smc_accept_is_reset_deferred(child)))
		drop_child(child);
	else
		smc_accept_make_ready(child, outcome);
}

/*
 * Take a child out of the queue: the first one, or the first one that is ready. The caller gets the
 * reference of smc_accept_add_child().
 *
 * Return: the child, or NULL.
 */
struct smc_sock *smc_accept_pop_child(struct smc_sock *listener, bool ready)
{
	struct smc_accept_queue *q = listener->queue;
	struct smc_sock *child;

	spin_lock_irq(&q->lock);
	if (ready)
		child = find_first_ready(q);
	else
		child = list_first_entry_or_null(&q->children, struct smc_sock, child);
	if (child)
		unlink_child(q, child);
	unlock_freed_place(listener);
	return child;
}

/* Is a step due, or taken at this moment? */
static bool is_stepped(const struct smc_sock *child)
{
	if (smc_sock_step_is_due(child))
		return true;
	smp_rmb();	/* a stepper owns the sock before the step is not due any more */
	if (sock_owned_by_user_nocheck(child->conn.sk))
		return true;
	smp_rmb();	/* what has arrived meanwhile is due before the sock is released */
	return smc_sock_step_is_due(child);
}

/* May the client's connect() have returned, although the child is not ready? */
static bool is_nearly_ready(const struct smc_sock *child)
{
	return READ_ONCE(child->conn.awaits_last) || READ_ONCE(child->reason);
}

/*
 * Find a child that has a step due or an owner, and whose client's connect() may have returned. If
 * a child is ready: one that is older, because TCP would return it first; with @any_older also one
 * whose client waits. Only the newest TESTED_MAX children, or those just older than the ready one,
 * are tested, because thousands of children may be silent.
 *
 * Return: the oldest such child, with a reference, or NULL.
 */
struct smc_sock *smc_accept_find_overtaken(struct smc_sock *listener, bool any_older)
{
	struct smc_accept_queue *q = listener->queue;
	struct smc_sock *ready, *child, *found = NULL;
	struct list_head *at;
	unsigned int i;

	spin_lock_irq(&q->lock);
	ready = find_first_ready(q);
	at = ready ? ready->child.prev : q->children.prev;
	for (i = 0; i < TESTED_MAX && at != &q->children; i++, at = at->prev) {
		child = list_entry(at, struct smc_sock, child);
		if (child->conn.woken)		/* deferred */
			continue;
		if (is_stepped(child) && ((ready && any_older) || is_nearly_ready(child)))
			found = child;
	}
	if (found)
		smc_conn_get(&found->conn);
	spin_unlock_irq(&q->lock);
	return found;
}

/* No child is added from now on. TCP gets back its limit. */
void smc_accept_end_queue(struct smc_sock *listener)
{
	struct smc_accept_queue *q = listener->queue;

	spin_lock_irq(&q->lock);
	WRITE_ONCE(q->ended, true);
	q->is_held = false;
	WRITE_ONCE(listener->conn.sk->sk_max_ack_backlog, q->backlog);
	spin_unlock_irq(&q->lock);
}
