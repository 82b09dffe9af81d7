// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listening. The inner socket accepts TCP connections; each becomes a child
 * socket, goes through its handshake beside the others, and is queued for
 * accept() when that is over.
 *
 * A child keeps its place in TCP's backlog until the application accepts it, so
 * that as many connections can wait as on a TCP socket. But one that has been silent
 * in its handshake for a moment is parked: it has no place then until it goes on, so that
 * silent peers keep nobody out. They have a limit of their own.
 */

#include <linux/sched/signal.h>
#include <net/inet_connection_sock.h>

#include "../conn/close.h"
#include "../conn/conn.h"
#include "../work.h"
#include "sock.h"

#define SILENCE		(HZ / 20)	/* after which a child in handshake is parked */
#define PARKED_MAX	4096		/* of one listening socket */
#define ROUND		16		/* children before others get the socket lock */
#define OWN_STEPS	4	/* of them, whose first step the listener's work takes itself */
#define RETRY		(HZ / 20)	/* when there was no memory for a connection of TCP */

static spinlock_t *backlog_lock(const struct smc_sock *listener)
{
	return &inet_csk(listener->tcp->sk)->icsk_accept_queue.rskq_lock;
}

/*
 * TCP changes its count of the backlog under its lock as well, and ends a child there, which takes
 * the lock under which events of children come to smc_accept_stir(). So it is not taken inside of
 * ours.
 */
static void lock_backlog(struct smc_sock *listener)
	__acquires(backlog_lock(listener)) __acquires(&listener->queue.lock)
{
	spin_lock_bh(backlog_lock(listener));
	spin_lock(&listener->queue.lock);
}

static void unlock_backlog(struct smc_sock *listener)
	__releases(&listener->queue.lock) __releases(backlog_lock(listener))
{
	spin_unlock(&listener->queue.lock);
	spin_unlock_bh(backlog_lock(listener));
}

static void count_in_backlog(struct smc_sock *listener, bool in)
{
	lockdep_assert_held(backlog_lock(listener));
	if (in)
		sk_acceptq_added(listener->tcp->sk);
	else
		sk_acceptq_removed(listener->tcp->sk);
}

static void enlist(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = &listener->queue;

	sock_hold(&listener->sk);
	WRITE_ONCE(child->listener, listener);
	sock_hold(&child->sk);
	lock_backlog(listener);
	list_add_tail(&child->child, &q->children);
	child->serial = q->serial++;
	WRITE_ONCE(q->nr, q->nr + 1);
	count_in_backlog(listener, true);
	unlock_backlog(listener);
}

static void take_out(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = &listener->queue;

	list_del_init(&child->child);
	list_del_init(&child->ready);
	list_del_init(&child->stirred);
	WRITE_ONCE(q->nr, q->nr - 1);
	if (child->parked)
		q->parked--;
	else
		count_in_backlog(listener, false);
}

/* Nothing happens if the child is not in the queue any more, or if there is no room */
static void park(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = &listener->queue;

	lock_backlog(listener);
	if (!list_empty(&child->child) && q->parked < PARKED_MAX) {
		WRITE_ONCE(child->parked, true);
		q->parked++;
		count_in_backlog(listener, false);
	}
	unlock_backlog(listener);
}

/* The handshake is over: from now on it is as on a TCP socket */
static void unpark(struct smc_sock *listener, struct smc_sock *child)
{
	lockdep_assert_held(&listener->queue.lock);
	if (!child->parked)
		return;
	WRITE_ONCE(child->parked, false);
	listener->queue.parked--;
	count_in_backlog(listener, true);
}

/**
 * smc_accept_pending() - the peer's next message is not there yet
 * @smc: the socket, locked, in its handshake; child of a listening one or not
 *
 * A child whose peer has been silent for a moment is parked: others have its place. To be
 * called when all is read that has come, because a busy machine does not make a peer silent.
 * Does not sleep.
 *
 * Return: jiffies when to look again: it is to be parked, or the peer's time is up.
 */
unsigned long smc_accept_pending(struct smc_sock *smc)
{
	unsigned long silent = smc->hs->since + SILENCE;

	if (!smc->listener || READ_ONCE(smc->parked))
		return smc->hs->deadline;
	if (time_before(jiffies, silent))
		return silent;
	park(smc->listener, smc);
	return READ_ONCE(smc->parked) ? smc->hs->deadline : jiffies + SILENCE;
}

/* Return: false if somebody else has taken the child out */
static bool delist(struct smc_sock *listener, struct smc_sock *child)
{
	bool taken = false;

	lock_backlog(listener);
	if (!list_empty(&child->child)) {
		take_out(listener, child);
		taken = true;
	}
	unlock_backlog(listener);
	return taken;
}

/* The child is on its own, or dead; drops the references of enlist() */
static void part(struct smc_sock *listener, struct smc_sock *child)
{
	WRITE_ONCE(child->listener, NULL);
	sock_put(&listener->sk);
	sock_put(&child->sk);
}

/*
 * Handshakes run side by side and may end in another order than they began; programs are used to
 * that of TCP. What is not over when accept() looks has to wait.
 */
static void queue_ready(struct smc_accept_queue *q, struct smc_sock *child)
{
	struct smc_sock *other;

	lockdep_assert_held(&q->lock);
	list_for_each_entry_reverse(other, &q->ready, ready)
		if ((s32)(child->serial - other->serial) > 0)
			break;
	list_add(&child->ready, &other->ready);
}

/**
 * smc_accept_child_done() - the handshake of a child is over
 * @child: the child, locked
 * @outcome: how it ended
 *
 * Called by the handshake, for a child in the queue.
 */
void smc_accept_child_done(struct smc_sock *child, enum smc_outcome outcome)
{
	struct smc_sock *listener = child->listener;
	struct smc_accept_queue *q = &listener->queue;
	struct sock *lsk = &listener->sk;

	if (outcome == SMC_FAILED) {
		if (delist(listener, child)) {
			smc_sock_kill(child);
			part(listener, child);
			sock_put(&child->sk);
		}
		return;
	}
	lock_backlog(listener);
	if (!list_empty(&child->child)) {
		unpark(listener, child);
		queue_ready(q, child);
	}
	unlock_backlog(listener);
	lsk->sk_data_ready(lsk);
}

/**
 * smc_accept_begin() - the first step of a child
 * @child: the child, locked, in state SMC_SOCK_INCOMING
 *
 * May sleep, but not for the peer.
 */
void smc_accept_begin(struct smc_sock *child)
{
	enum smc_outcome outcome = smc_connect_begin(child);

	if (outcome != SMC_PENDING)
		smc_accept_child_done(child, outcome);
}

/* What TCP has accepted becomes a child. Return: that, with a reference, or NULL without memory */
static struct smc_sock *take_in(struct smc_sock *listener, struct socket *tcp)
{
	struct smc_sock *child = smc_sock_child(listener, tcp);

	if (!child) {
		smc_tcp_disown(listener, tcp->sk);
		sock_no_linger(tcp->sk);	/* an end in good order would look like an answer */
		sock_release(tcp);
		return NULL;
	}
	sock_hold(&child->sk);
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	smc_sock_set_state(child, SMC_SOCK_INCOMING);
	enlist(listener, child);
	smc_tcp_hook(child);
	release_sock(&child->sk);
	return child;
}

/* Take the next steps of a child; drops the reference */
static void step_child(struct smc_sock *child)
{
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	smc_connect_progress(child);	/* the first time with what came before the hook */
	release_sock(&child->sk);
	sock_put(&child->sk);
}

/* The child's own work takes its next steps; drops the reference */
static void queue_child(struct smc_sock *child)
{
	smc_tcp_queue_step(child);
	sock_put(&child->sk);
}

/* The oldest one first */
static void finish_own(struct smc_sock **own, unsigned int from)
{
	struct smc_sock *child;
	unsigned int i;

	for (i = 0; i < OWN_STEPS; i++) {
		child = own[(from + i) % OWN_STEPS];
		if (child)
			step_child(child);
	}
}

/*
 * Take in what TCP has accepted. A round is bounded, because a peer may open connections that fail
 * at once as fast as this goes, and accept() has something better to do once a child is ready.
 *
 * An accept() that waits takes the first steps of children itself. In the work queue the last few
 * are taken here, which saves task switches; all others are left to their own work, so that
 * processors share the children of a busy listener.
 * Return: whether there may be more.
 */
static bool accept_new(struct smc_sock *listener, bool in_accept)
{
	struct smc_sock *own[OWN_STEPS] = {};
	struct smc_sock *child;
	struct socket *tcp;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ROUND; i++) {
		if (in_accept && (smc_accept_ready(listener) || signal_pending(current)))
			break;
		err = kernel_accept(listener->tcp, &tcp, O_NONBLOCK);
		if (err)
			break;
		child = take_in(listener, tcp);
		if (!child)
			continue;
		if (in_accept) {
			step_child(child);
			continue;
		}
		swap(child, own[i % OWN_STEPS]);
		if (child)
			queue_child(child);
	}
	finish_own(own, i);
	if (err && err != -EAGAIN && err != -EINVAL) {
		WRITE_ONCE(listener->queue.retry, true);
		smc_sock_timer(listener, jiffies + RETRY);
	}
	return !err;
}

/*
 * What happens to a listening socket or to its children, the work queue would see to.
 * But a program that waits in accept() can do so itself, which saves task switches; also
 * one that is not back there yet, because nobody is served before it is. If it
 * does not come soon, the timer calls the work queue.
 */
static void call_acceptor(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;
	struct timer_list *timer = &listener->conn.timer;
	struct smc_acceptor *acceptor;

	lockdep_assert_held(&q->lock);
	acceptor = list_first_entry_or_null(&q->acceptors, struct smc_acceptor, list);
	if (acceptor)
		woken_wake_function(&acceptor->wait, TASK_INTERRUPTIBLE, 0, NULL);
	else if (!timer_pending(timer))
		sk_reset_timer(&listener->sk, timer, jiffies + 1);
}

/**
 * smc_accept_stir() - something happened to a listening socket, or to a child
 * @smc: the one or the other
 *
 * Any context; does not sleep.
 *
 * Return: whether accept() sees to it; else the caller has to. A socket that listened before, and
 * connects now, has no accept() any more.
 */
bool smc_accept_stir(struct smc_sock *smc)
{
	struct smc_accept_queue *q;
	struct smc_sock *listener;
	bool taken = false;

	rcu_read_lock();
	listener = READ_ONCE(smc->listener) ?: smc;
	q = &listener->queue;
	spin_lock_bh(&q->lock);
	if (listener == smc && !list_empty(&q->acceptors))
		q->blocking = true;
	if (READ_ONCE(listener->state) == SMC_SOCK_LISTEN && q->blocking &&
	    (listener == smc || !list_empty(&smc->child))) {
		if (listener == smc)
			WRITE_ONCE(q->incoming, true);
		else
			list_move_tail(&smc->stirred, &q->stirred);
		call_acceptor(listener);
		taken = true;
	}
	spin_unlock_bh(&q->lock);
	rcu_read_unlock();
	return taken;
}

/* Return: with a reference */
static struct smc_sock *take_stirred(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child;

	spin_lock_bh(&q->lock);
	child = list_first_entry_or_null(&q->stirred, struct smc_sock, stirred);
	if (child) {
		list_del_init(&child->stirred);
		sock_hold(&child->sk);
	}
	spin_unlock_bh(&q->lock);
	return child;
}

/* One round of the steps that are due; in accept() only until a child is ready */
static void take_steps(struct smc_sock *listener, bool in_accept)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child;
	unsigned int i;

	sock_owned_by_me(&listener->sk);
	if (READ_ONCE(q->incoming)) {
		/* Whoever sets it again has queued the next one before */
		smp_store_mb(q->incoming, false);
		if (accept_new(listener, in_accept))
			WRITE_ONCE(q->incoming, true);
	}
	for (i = 0; i < ROUND; i++) {
		if (in_accept && (smc_accept_ready(listener) || signal_pending(current)))
			break;
		child = take_stirred(listener);
		if (!child)
			break;
		step_child(child);
	}
}

/**
 * smc_accept_steps() - take in what TCP has accepted, and go on with all handshakes
 * @listener: the socket, locked
 *
 * For the work queue. May sleep, but not for a peer.
 */
void smc_accept_steps(struct smc_sock *listener)
{
	WRITE_ONCE(listener->queue.retry, false);
	WRITE_ONCE(listener->queue.incoming, true);
	take_steps(listener, false);
	if (smc_accept_has_steps(listener))
		smc_tcp_queue_step(listener);
}

/* An accept() that has found its child leaves the rest to the next one */
static void pass_on(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;

	spin_lock_bh(&q->lock);
	call_acceptor(listener);
	spin_unlock_bh(&q->lock);
}

/* What nobody will accept is reset, as TCP does it, whether data has come in or not */
static void reset(struct smc_sock *child)
{
	if (child->state == SMC_SOCK_FALLBACK) {
		smc_fallback_release(child, NULL);
		return;
	}
	if (child->state == SMC_SOCK_ACTIVE)
		smc_close_abort(&child->conn, SMC_STAT_ABORT_APP, ECONNRESET);
	smc_sock_kill(child);
}

/**
 * smc_accept_flush() - end all children that were not accepted
 * @listener: the socket, locked; does not listen any more afterwards
 *
 * May sleep, but not for a peer.
 */
void smc_accept_flush(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child;

	smc_tcp_unhook(listener);
	smc_tcp_disown_children(listener);
	smc_sock_set_state(listener, SMC_SOCK_INIT);
	listener->sk.sk_state = TCP_CLOSE;
	for (;;) {
		spin_lock_bh(&q->lock);
		child = list_first_entry_or_null(&q->children, struct smc_sock, child);
		if (child)
			sock_hold(&child->sk);
		spin_unlock_bh(&q->lock);
		if (!child)
			break;

		lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
		if (delist(listener, child)) {
			/* The client may have confirmed already; then tell it properly */
			smc_connect_progress(child);
			reset(child);
			part(listener, child);
			sock_put(&child->sk);
		}
		release_sock(&child->sk);
		sock_put(&child->sk);
	}
}

/**
 * smc_accept_ready() - would accept() return a socket?
 * @listener: the socket
 *
 * Any context.
 *
 * Return: whether a child is ready.
 */
bool smc_accept_ready(struct smc_sock *listener)
{
	return !list_empty_careful(&listener->queue.ready);
}

/**
 * smc_listen() - the listen system call
 * @sock: the socket
 * @backlog: how many connections may wait; may be changed by another call
 *
 * Return: 0 or a negative errno.
 */
int smc_listen(struct socket *sock, int backlog)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	int err;

	if (smc_sock_is_tcp(smc))
		return smc->tcp->ops->listen(smc->tcp, backlog);
	lock_sock(&smc->sk);
	err = -EINVAL;
	if (smc->state != SMC_SOCK_INIT && smc->state != SMC_SOCK_LISTEN)
		goto out;

	smc_sockopt_sync(smc);
	smc_tcp_offer_smc(smc, true);
	smc_tcp_quiet(smc);
	smc_tcp_hook(smc);
	err = kernel_listen(smc->tcp, backlog);
	if (err) {
		if (smc->state == SMC_SOCK_INIT)
			smc_tcp_unhook(smc);
		goto out;
	}
	smc->sk.sk_state = TCP_LISTEN;
	smc_sock_set_state(smc, SMC_SOCK_LISTEN);
	smc_tcp_event(smc);
out:
	release_sock(&smc->sk);
	return err;
}

/* Take the first child that is ready out of the queue, with the enlisting references */
static struct smc_sock *take_ready(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child;

	lock_backlog(listener);
	child = list_first_entry_or_null(&q->ready, struct smc_sock, ready);
	if (child)
		take_out(listener, child);
	unlock_backlog(listener);
	return child;
}

/*
 * Has an older child than the first that is ready something to do, or is a kworker at it? Such a
 * one is about to be ready, too, and comes first with TCP. Only the next older ones are looked at,
 * because there may be thousands that are silent.
 *
 * Return: the child, with a reference, or NULL.
 */
static struct smc_sock *find_overtaken(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child, *found = NULL;
	unsigned int i;

	spin_lock_bh(&q->lock);
	child = list_first_entry_or_null(&q->ready, struct smc_sock, ready);
	for (i = 0; child && i < ROUND && !list_is_first(&child->child, &q->children); i++) {
		child = list_prev_entry(child, child);
		if (READ_ONCE(child->event) || sock_owned_by_user_nocheck(&child->sk))
			found = child;
	}
	if (found)
		sock_hold(&found->sk);
	spin_unlock_bh(&q->lock);
	return found;
}

/* Connections come in the order of TCP, as far as their handshakes can be finished now */
static void finish_overtaken(struct smc_sock *listener)
{
	struct smc_sock *child;
	unsigned int i;

	for (i = 0; i < ROUND; i++) {
		child = find_overtaken(listener);
		if (!child)
			break;
		step_child(child);
	}
}

static bool done_waiting(struct smc_sock *listener)
{
	return smc_accept_ready(listener) || smc_accept_has_steps(listener) ||
	       READ_ONCE(listener->state) != SMC_SOCK_LISTEN;
}

static void wait_for_news(struct smc_sock *listener, struct smc_acceptor *acceptor, long *timeo)
{
	struct smc_accept_queue *q = &listener->queue;
	struct sock *sk = &listener->sk;

	spin_lock_bh(&q->lock);
	list_add_tail(&acceptor->list, &q->acceptors);
	spin_unlock_bh(&q->lock);

	sk_wait_event(sk, timeo, done_waiting(listener), &acceptor->wait);

	spin_lock_bh(&q->lock);
	list_del(&acceptor->list);
	spin_unlock_bh(&q->lock);
}

/* The socket lock is held, and released while waiting */
static struct smc_sock *wait_for_child(struct smc_sock *listener, long timeo)
{
	struct smc_acceptor acceptor;
	struct sock *sk = &listener->sk;
	struct smc_sock *child = NULL;
	int err = 0;

	init_waitqueue_func_entry(&acceptor.wait, woken_wake_function);
	acceptor.wait.private = current;
	add_wait_queue_exclusive(sk_sleep(sk), &acceptor.wait);
	for (;;) {
		err = -EINVAL;
		if (listener->state != SMC_SOCK_LISTEN)
			break;
		if (smc_accept_has_steps(listener))
			take_steps(listener, true);
		finish_overtaken(listener);
		child = take_ready(listener);
		if (child)
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		wait_for_news(listener, &acceptor, &timeo);
	}
	remove_wait_queue(sk_sleep(sk), &acceptor.wait);
	if (smc_accept_has_steps(listener) && listener->state == SMC_SOCK_LISTEN)
		pass_on(listener);
	return child ? child : ERR_PTR(err);
}

/**
 * smc_accept_wait() - the accept system call
 * @sock: listening socket
 * @newsock: becomes the connection
 * @flags: O_NONBLOCK
 *
 * Return: 0 or a negative errno.
 */
int smc_accept_wait(struct socket *sock, struct socket *newsock, int flags)
{
	struct smc_sock *listener = smc_sk(sock->sk);
	struct sock *sk = &listener->sk;
	struct smc_sock *child;

	if (smc_sock_is_tcp(listener))
		return -EINVAL;
	lock_sock(sk);
	child = wait_for_child(listener, sock_rcvtimeo(sk, flags & O_NONBLOCK));
	release_sock(sk);
	if (IS_ERR(child))
		return PTR_ERR(child);

	lock_sock(&child->sk);
	smc_sock_prepare(newsock);
	sock_graft(&child->sk, newsock);
	smc_tcp_set_owner(child, SOCK_INODE(newsock));
	newsock->state = SS_CONNECTED;
	part(listener, child);		/* newsock has the reference of creation */
	if (child->state == SMC_SOCK_FALLBACK)
		smc_fallback_graft(child, newsock);
	release_sock(&child->sk);
	return 0;
}
