// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listening: the queue of children, and accept(). intake.c takes children out of TCP's queue. Each
 * has its own handshake; when that is over, the child is queued for accept().
 *
 * A child keeps its place in TCP's backlog until the application accepts it, so
 * that as many connections can wait as on a TCP socket. But one that has been silent
 * in its handshake for a moment is parked: it has no place then until it goes on, so that
 * silent peers keep nobody out. They have a limit of their own.
 */

#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include <net/inet_common.h>
#include <net/inet_connection_sock.h>
#include <net/rps.h>

#include "../conn/close.h"
#include "list.h"
#include "sock.h"

#define SILENCE		(HZ / 20)	/* after which a child in handshake is parked */
#define PARKED_MAX	4096		/* of one listening socket */
#define ROUND		16		/* children that are looked at in one go */

static spinlock_t *backlog_lock(const struct smc_sock *listener)
{
	return &inet_csk(listener->conn.sk)->icsk_accept_queue.rskq_lock;
}

/*
 * TCP changes its count of the backlog under its lock as well, and ends a child there, which takes
 * the lock under which events of children come to smc_intake_tell(). So it is not taken inside of
 * ours.
 */
static void lock_backlog(struct smc_sock *listener)
	__acquires(backlog_lock(listener)) __acquires(&listener->queue.lock)
{
	spin_lock_bh(backlog_lock(listener));
	spin_lock_irq(&listener->queue.lock);
}

static void unlock_backlog(struct smc_sock *listener)
	__releases(&listener->queue.lock) __releases(backlog_lock(listener))
{
	spin_unlock_irq(&listener->queue.lock);
	spin_unlock_bh(backlog_lock(listener));
}

static void count_in_backlog(struct smc_sock *listener, bool in)
{
	lockdep_assert_held(backlog_lock(listener));
	if (in)
		sk_acceptq_added(listener->conn.sk);
	else
		sk_acceptq_removed(listener->conn.sk);
}

/**
 * smc_accept_init() - prepare the queue of a socket that may listen
 * @smc: new
 */
void smc_accept_init(struct smc_sock *smc)
{
	struct smc_accept_queue *q = &smc->queue;

	mutex_init(&q->intake);
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->children);
	INIT_LIST_HEAD(&q->ready);
	INIT_LIST_HEAD(&q->news);
	INIT_LIST_HEAD(&q->acceptors);
}

/**
 * smc_accept_add() - a child that TCP has accepted
 * @listener: its parent; queue.intake is held
 * @child: new; the queue gets the caller's reference
 *
 * Return: false if the parent does not listen any more: then the reference stays with the caller.
 */
bool smc_accept_add(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = &listener->queue;
	bool added;

	lock_backlog(listener);
	added = !q->ended;
	if (added) {
		smc_conn_get(&listener->conn);
		WRITE_ONCE(child->listener, listener);
		list_add_tail(&child->child, &q->children);
		child->serial = q->serial++;
		WRITE_ONCE(q->nr, q->nr + 1);
		count_in_backlog(listener, true);
	}
	unlock_backlog(listener);
	return added;
}

static void take_out(struct smc_sock *listener, struct smc_sock *child)
{
	struct smc_accept_queue *q = &listener->queue;

	list_del_init(&child->child);
	list_del_init(&child->ready);
	list_del_init(&child->news);
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

/**
 * smc_accept_delist() - take a child out of the queue
 * @listener: its parent
 * @child: the child
 *
 * Return: false if somebody else has taken it out; else smc_accept_part() is due.
 */
bool smc_accept_delist(struct smc_sock *listener, struct smc_sock *child)
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

/**
 * smc_accept_part() - the child is on its own, or dead
 * @listener: its parent
 * @child: the child, locked, not in the queue any more
 *
 * Gives back the references of smc_accept_add(); the caller has another one of each, or does not
 * look at them any more.
 */
void smc_accept_part(struct smc_sock *listener, struct smc_sock *child)
{
	WRITE_ONCE(child->listener, NULL);
	/* What accept() was to look at is left to a kworker */
	if (smc_sock_drive(child, SMC_DRIVER_DECLINE) == SMC_DRIVER_QUEUE_WORK)
		smc_sock_queue_work(child, 0);
	smc_conn_put(&listener->conn);
	smc_conn_put(&child->conn);
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
 * @child: the child, locked; the caller has a reference
 * @outcome: how it ended
 *
 * Called by the handshake, for a child in the queue.
 */
void smc_accept_child_done(struct smc_sock *child, enum smc_outcome outcome)
{
	struct smc_sock *listener = child->listener;

	if (outcome == SMC_FAILED) {
		if (smc_accept_delist(listener, child)) {
			smc_close_child(child);
			smc_accept_part(listener, child);
		}
		return;
	}
	lock_backlog(listener);
	if (!list_empty(&child->child)) {
		unpark(listener, child);
		queue_ready(&listener->queue, child);
	}
	unlock_backlog(listener);
	smc_conn_wake_readers(&listener->conn);
}

/* Take the first child of a list out of the queue, with the reference of smc_accept_add() */
static struct smc_sock *pop_child(struct smc_sock *listener, bool ready)
{
	struct smc_accept_queue *q = &listener->queue;
	struct smc_sock *child;

	lock_backlog(listener);
	if (ready)
		child = list_first_entry_or_null(&q->ready, struct smc_sock, ready);
	else
		child = list_first_entry_or_null(&q->children, struct smc_sock, child);
	if (child)
		take_out(listener, child);
	unlock_backlog(listener);
	return child;
}

/* From now on, nothing more is taken out of TCP's queue: TCP decides what becomes of it */
static void end_intake(struct smc_sock *listener)
{
	struct smc_accept_queue *q = &listener->queue;

	smc_sock_set_state(listener, SMC_SOCK_CLOSED);
	spin_lock_irq(&q->lock);
	WRITE_ONCE(q->ended, true);
	spin_unlock_irq(&q->lock);
}

static void end_children(struct smc_sock *listener)
{
	struct smc_sock *child;
	struct sock *sk;

	while ((child = pop_child(listener, false))) {
		smc_conn_get(&child->conn);
		sk = child->conn.sk;
		lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
		/* The client may have confirmed already; then tell it properly */
		smc_connect_progress(child);
		smc_close_child(child);
		smc_accept_part(listener, child);
		release_sock(sk);
		smc_conn_put(&child->conn);
	}
}

/**
 * smc_accept_end() - end all children that were not accepted, and the listening
 * @listener: the socket, locked; TCP still listens, unless it was killed. It stops, too.
 *
 * May sleep, but neither for a peer nor for a program: accept() cannot return a child that is out
 * of the queue. The sock is detached.
 */
void smc_accept_end(struct smc_sock *listener)
{
	struct sock *sk = listener->conn.sk;

	sock_owned_by_me(sk);
	smc_conn_get(&listener->conn);
	end_intake(listener);
	if (sk->sk_state == TCP_LISTEN)
		smc_option_disown_children(listener, false);
	else	/* TCP's queue is empty */
		smc_option_left_behind(listener);
	end_children(listener);
	/* TCP must not answer a client without the option: that would be a TCP connection */
	if (sk->sk_state == TCP_LISTEN)
		sk->sk_prot->disconnect(sk, O_NONBLOCK);
	smc_option_withdraw(listener);
	smc_sock_detach(listener);
	smc_conn_wake_all(&listener->conn);
	smc_conn_put(&listener->conn);
}

/**
 * smc_accept_hand_over() - a kernel service has taken the socket: it becomes TCP's
 * @listener: the socket, locked, which listens; the caller has a reference
 *
 * The service waits for TCP's callbacks, and its connections are to be TCP's. Connections that wait
 * in our queue are reset: they came in between listen() and the service, and cannot go back to TCP.
 * May sleep, but neither for a peer nor for a program.
 */
void smc_accept_hand_over(struct smc_sock *listener)
{
	struct sock *sk = listener->conn.sk;

	sock_owned_by_me(sk);
	smc_option_withdraw(listener);
	end_intake(listener);
	smc_option_disown_children(listener, true);
	end_children(listener);
	smc_list_remove(listener);
	smc_sock_detach(listener);
	smc_ops_to_tcp(sk->sk_socket);
	smc_conn_wake_all(&listener->conn);
	if (!reqsk_queue_empty(&inet_csk(sk)->icsk_accept_queue))
		sk->sk_data_ready(sk);
}

/*
 * may_listen() has tested the operations without the lock: another thread may have made the socket
 * TCP meanwhile.
 *
 * Return: what is attached, with a reference, NULL if the socket is TCP's now, or an error.
 */
static struct smc_sock *prepare_to_listen(struct socket *sock, bool *is_new)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	if (!smc_ops_are_ours(sock))
		return NULL;
	if (smc && smc_accept_is_killed(smc)) {	/* its kworker is not there yet */
		smc_accept_end(smc);
		smc = NULL;
	}
	*is_new = !smc;
	if (smc) {
		smc_conn_get(&smc->conn);
	} else {
		smc = smc_sock_create(sk, GFP_KERNEL_ACCOUNT);
		if (!smc)
			return ERR_PTR(-ENOBUFS);
		if (smc_sock_attach(smc)) {	/* another subsystem uses it */
			smc_conn_put(&smc->conn);
			smc_fallback_unconnected(sock, SMC_REASON_OPTION);
			return NULL;
		}
	}
	if (smc->state == SMC_SOCK_INIT)
		smc_option_offer(smc);
	return smc;
}

/* TCP listens, or not; and another thread may have connected meanwhile */
static void listening(struct socket *sock, struct smc_sock *smc, bool is_new, int err)
{
	if (smc_sk(sock->sk) != smc || smc->state != SMC_SOCK_INIT)
		return;
	if (sock->sk->sk_state == TCP_LISTEN) {
		smc_option_delay_acks(smc);
		smc_sock_set_state(smc, SMC_SOCK_LISTEN);
		smc_sock_free_user_data(smc);	/* maps of listening sockets need it */
		smc_sock_news(smc);
		return;
	}
	if (!err)	/* it did */
		smc_option_left_behind(smc);
	smc_option_withdraw(smc);
	if (is_new) {
		smc_sock_set_state(smc, SMC_SOCK_CLOSED);
		smc_sock_detach(smc);
	}
}

static int listen_for_smc(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	bool is_new;
	int err;

	lock_sock(sk);
	smc = prepare_to_listen(sock, &is_new);
	release_sock(sk);
	if (IS_ERR(smc))
		return PTR_ERR(smc);
	err = smc_ops_of_tcp(sk)->listen(sock, backlog);
	if (!smc)
		return err;
	lock_sock(sk);
	listening(sock, smc, is_new, err);
	release_sock(sk);
	smc_conn_put(&smc->conn);
	return err;
}

/* What cannot listen, or not over SMC, is TCP's business alone */
static bool may_listen(struct socket *sock)
{
	struct sock *sk = sock->sk;

	return smc_ops_are_ours(sock) && READ_ONCE(sock->state) == SS_UNCONNECTED &&
	       (1 << inet_sk_state_load(sk)) & (TCPF_CLOSE | TCPF_LISTEN);
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
	bool has_module = smc_call_begin();
	int err;

	if (may_listen(sock))
		err = listen_for_smc(sock, backlog);
	else
		err = smc_ops_of_tcp(sock->sk)->listen(sock, backlog);
	smc_call_end(has_module);
	return err;
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

	spin_lock_irq(&q->lock);
	child = list_first_entry_or_null(&q->ready, struct smc_sock, ready);
	for (i = 0; child && i < ROUND && !list_is_first(&child->child, &q->children); i++) {
		child = list_prev_entry(child, child);
		if (smc_sock_has_news(child) || sock_owned_by_user_nocheck(child->conn.sk))
			found = child;
	}
	if (found)
		smc_conn_get(&found->conn);
	spin_unlock_irq(&q->lock);
	return found;
}

/* Under the lock that the owner releases, so the owner sees whoever waits */
static bool is_free_or_accepted(struct smc_sock *child)
{
	struct sock *sk = child->conn.sk;
	bool is_free;

	spin_lock_bh(&sk->sk_lock.slock);
	is_free = !sock_owned_by_user_nocheck(sk);
	spin_unlock_bh(&sk->sk_lock.slock);
	return is_free || list_empty_careful(&child->child);
}

/*
 * The owner of a child in the queue is a kworker, accept(), or a task in connect(). None keeps it
 * for long. Once another thread has accepted it, a program may own it for as long as it likes.
 */
static void wait_for_owner(struct smc_sock *child)
{
	wait_event(child->conn.sk->sk_lock.wq, is_free_or_accepted(child));
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
		wait_for_owner(child);
		smc_sock_look(child);
		smc_conn_put(&child->conn);
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

	spin_lock_irq(&q->lock);
	list_add_tail(&acceptor->list, &q->acceptors);
	spin_unlock_irq(&q->lock);

	if (!done_waiting(listener))
		*timeo = wait_woken(&acceptor->wait, TASK_INTERRUPTIBLE, *timeo);

	spin_lock_irq(&q->lock);
	list_del(&acceptor->list);
	spin_unlock_irq(&q->lock);
}

/* One that waited, and has found its child, leaves the rest to the next one */
static void pass_on(struct smc_sock *listener)
{
	if (smc_accept_has_steps(listener) && READ_ONCE(listener->state) == SMC_SOCK_LISTEN)
		smc_sock_news(listener);
}

static struct smc_sock *look_for_child(struct smc_sock *listener, long timeo)
{
	int err = 0;

	if (smc_accept_has_steps(listener))
		err = smc_intake_steps(listener);
	if (err && timeo)
		err = sock_intr_errno(timeo);	/* SO_RCVTIMEO rules out a restart */
	if (err)
		return ERR_PTR(err);
	finish_overtaken(listener);
	return pop_child(listener, true);
}

/* Return: a child, NULL if it is to be waited for, or an error */
static struct smc_sock *try_child(struct smc_sock *listener, long timeo)
{
	struct smc_sock *child;

	/* TCP may have been made to listen no more (ss -K) */
	if (READ_ONCE(listener->state) != SMC_SOCK_LISTEN ||
	    inet_sk_state_load(listener->conn.sk) != TCP_LISTEN)
		return ERR_PTR(-EINVAL);
	child = look_for_child(listener, timeo);
	if (child)
		return child;
	if (!timeo)
		return ERR_PTR(-EAGAIN);
	return signal_pending(current) ? ERR_PTR(sock_intr_errno(timeo)) : NULL;
}

static struct smc_sock *wait_for_child(struct smc_sock *listener, long timeo)
{
	wait_queue_head_t *waiters = smc_conn_waiters(&listener->conn);
	struct smc_acceptor acceptor;
	struct smc_sock *child;

	init_waitqueue_func_entry(&acceptor.wait, woken_wake_function);
	acceptor.wait.private = current;
	add_wait_queue_exclusive(waiters, &acceptor.wait);
	while (!(child = try_child(listener, timeo)))
		wait_for_news(listener, &acceptor, &timeo);
	remove_wait_queue(waiters, &acceptor.wait);
	pass_on(listener);
	return child;
}

/* The child belongs to a program */
static void graft(struct smc_sock *child, struct socket *sock, struct socket *newsock)
{
	struct sock *sk = child->conn.sk;
	const struct proto_ops *tcp = smc_ops_of_tcp(sk);

	sock_rps_record_flow(sk);
	sock_graft(sk, newsock);
	newsock->flags |= sock->flags & BIT(SOCK_SUPPORT_ZC);
	newsock->state = SS_CONNECTED;
	if (child->state == SMC_SOCK_ACTIVE) {
		smc_sock_set_socket(child, newsock);
		smc_close_progress(child);	/* what TCP may have told the wrong queue */
		return;
	}
	__module_get(tcp->owner);
	newsock->ops = tcp;
	module_put(THIS_MODULE);
}

static int accept_for_smc(struct socket *sock, struct socket *newsock, struct smc_sock *listener,
			  int flags)
{
	struct smc_sock *child;
	struct sock *sk;

	child = wait_for_child(listener, sock_rcvtimeo(sock->sk, flags & O_NONBLOCK));
	if (IS_ERR(child))
		return PTR_ERR(child);
	sk = child->conn.sk;
	lock_sock(sk);
	child->owns_sk = false;
	module_put(THIS_MODULE);	/* @newsock has a reference */
	graft(child, sock, newsock);
	smc_conn_get(&child->conn);
	smc_accept_part(listener, child);
	release_sock(sk);
	smc_conn_put(&child->conn);
	return 0;
}

/* Return: with a reference */
static struct smc_sock *get_listener(const struct socket *sock)
{
	struct smc_sock *smc;

	rcu_read_lock();
	smc = smc_sk(sock->sk);
	if (smc && !smc_conn_get_not_zero(&smc->conn))
		smc = NULL;
	rcu_read_unlock();
	return smc;
}

/*
 * kernel_accept() gives our operations to the new socket afterwards, and takes the module for them.
 * So TCP serves it, at its next call.
 */
static int refuse_kernel(const struct socket *sock, struct smc_sock *listener)
{
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	lock_sock(sk);
	if (listener->state == SMC_SOCK_LISTEN && sk->sk_state == TCP_LISTEN)
		smc_accept_hand_over(listener);
	if (!smc_ops_are_ours(sock))
		err = -EAGAIN;
	release_sock(sk);
	return err;
}

/* A socket that has fallen back meanwhile has children of TCP: the next call returns them */
static int accept_from(struct socket *sock, struct socket *newsock, int flags)
{
	struct smc_sock *listener = get_listener(sock);
	int err;

	if (!listener)
		return smc_ops_are_ours(sock) ? -EINVAL : -EAGAIN;
	if (newsock->ops)
		err = accept_for_smc(sock, newsock, listener, flags);
	else
		err = refuse_kernel(sock, listener);
	smc_conn_put(&listener->conn);
	return err;
}

/**
 * smc_accept_wait() - the accept system call, or kernel_accept()
 * @sock: listening socket
 * @newsock: becomes the connection
 * @flags: O_NONBLOCK
 *
 * Return: 0 or a negative errno.
 */
int smc_accept_wait(struct socket *sock, struct socket *newsock, int flags)
{
	bool has_module = smc_call_begin();
	int err = accept_from(sock, newsock, flags);

	smc_call_end(has_module);
	return err;
}
