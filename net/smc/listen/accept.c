// SPDX-License-Identifier: GPL-2.0-only
/*
 * listen() and accept(). child.c takes children from TCP's queue (tcp_queue.c), or their clients do
 * (client_child.c); queue.c keeps them for accept(). Each child has its own handshake; when it is
 * over, the child is ready for accept().
 */

#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include <net/inet_common.h>
#include <net/inet_connection_sock.h>
#include <net/rps.h>

#include "../sock/list.h"
#include "../sock/proto.h"
#include "listen.h"

#define STEPPED_MAX	16		/* overtaken children that accept() steps in one call */
#define STEPPED_BY_POLL	4		/* the same for poll() */
#define OWNER_TIME	(HZ / 4)	/* for the owner of a child to get a processor */

/* From now on no child is taken from TCP's queue: TCP decides what becomes of these children */
static void stop_listening(struct smc_sock *listener)
{
	smc_sock_set_state(listener, SMC_SOCK_CLOSED);
	smc_accept_end_queue(listener);
	smc_tcp_queue_end(listener);
}

static void end_children(struct smc_sock *listener)
{
	struct smc_sock *child;
	struct mem_cgroup *old;
	struct sock *sk;

	while ((child = smc_accept_pop_child(listener, false))) {
		smc_conn_get(&child->conn);
		sk = child->conn.sk;
		lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
		old = smc_sock_use_memcg(child);
		/*
		 * The client's Confirm may have come: then the child is connected, and is aborted
		 */
		smc_connect_step(child);
		set_active_memcg(old);
		smc_close_child(child);
		smc_accept_release_child(listener, child);
		release_sock(sk);
		smc_conn_put(&child->conn);
		cond_resched();
	}
}

/*
 * Stop to listen, and reset all children that accept() has not returned; a client in connect()
 * resets its own. The socket lock is held.
 * TCP still listens, unless it was killed; it stops, too. The sock is detached.
 *
 * May sleep, but neither for a peer nor for a program: accept() cannot return a child that is out
 * of the queue.
 */
void smc_listen_end(struct smc_sock *listener)
{
	struct sock *sk = listener->conn.sk;

	sock_owned_by_me(sk);
	smc_conn_get(&listener->conn);
	stop_listening(listener);
	if (sk->sk_state == TCP_LISTEN)
		smc_syn_disown_children(listener, false);
	else	/* TCP's queue is empty */
		smc_syn_keep_module(listener);
	end_children(listener);
	/* TCP must not answer a client without the option, which would make a TCP connection */
	if (sk->sk_state == TCP_LISTEN)
		sk->sk_prot->disconnect(sk, O_NONBLOCK);
	smc_syn_withdraw(listener);
	smc_sock_detach(listener);
	smc_conn_wake_all(&listener->conn);
	smc_conn_put(&listener->conn);
}

/*
 * A listening socket becomes TCP's. The socket lock is held; the caller has a reference.
 *
 * Either a kernel service has taken it, which waits for TCP's callbacks, and expects TCP
 * connections. Children in the queue of the module are reset: they came in between listen() and the
 * service, and cannot go back to TCP's queue. Or the socket has just begun to listen, and TCP may
 * give away its children, if they are in TCP's queue.
 *
 * May sleep, but neither for a peer nor for a program.
 */
void smc_listen_hand_over(struct smc_sock *listener)
{
	struct sock *sk = listener->conn.sk;

	sock_owned_by_me(sk);
	smc_syn_withdraw(listener);
	stop_listening(listener);
	smc_syn_disown_children(listener, true);
	end_children(listener);
	smc_list_remove(listener);
	smc_sock_detach(listener);
	smc_ops_to_tcp(sk->sk_socket);
	smc_conn_wake_all(&listener->conn);
	if (!reqsk_queue_empty(&inet_csk(sk)->icsk_accept_queue))
		sk->sk_data_ready(sk);
}

/*
 * may_listen_as_smc() has tested the operations without the lock: another thread may have made the
 * socket TCP meanwhile.
 *
 * Return: the struct, with a reference; NULL if the socket is TCP's now; or an error.
 */
static struct smc_sock *prepare_listener(struct socket *sock, bool *is_new)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	if (!smc_ops_are_smc(sock))
		return NULL;
	if (smc && smc_listen_is_killed(smc)) {	/* the kworker has not run yet */
		smc_listen_end(smc);
		smc = NULL;
	}
	*is_new = !smc;
	if (smc) {
		smc_conn_get(&smc->conn);
	} else {
		smc = smc_sock_create(sk, GFP_KERNEL_ACCOUNT);
		if (!smc)
			return ERR_PTR(-ENOBUFS);
	}
	if (smc_accept_create_queue(smc)) {
		smc_conn_put(&smc->conn);
		return ERR_PTR(-ENOBUFS);
	}
	if (*is_new && smc_sock_attach(smc)) {	/* another subsystem uses the sock */
		smc_conn_put(&smc->conn);
		smc_fallback_unconnected(sock, SMC_REASON_OPTION);
		return NULL;
	}
	smc_net_note_host(sock_net(sk));
	if (smc->state == SMC_SOCK_INIT)
		smc_syn_offer(smc);
	return smc;
}

/*
 * TCP listens, or has refused; and another thread may have connected the socket meanwhile. If a
 * parallel call failed, it has detached the struct: then the socket listens as TCP.
 */
static void finish_listen(struct socket *sock, struct smc_sock *smc, int backlog, bool is_new,
			  int err)
{
	if (!smc_sk(sock->sk) && sock->sk->sk_state == TCP_LISTEN && smc_ops_are_smc(sock))
		smc_ops_to_tcp(sock);
	if (smc_sk(sock->sk) != smc)
		return;
	if (sock->sk->sk_state == TCP_LISTEN && !err)
		smc_accept_set_backlog(smc, backlog);
	if (smc->state != SMC_SOCK_INIT)
		return;
	if (sock->sk->sk_state == TCP_LISTEN) {
		smc_syn_delay_acks(smc);
		smc_sock_set_state(smc, SMC_SOCK_LISTEN);
		smc_sock_free_user_data(smc);	/* BPF's maps of listening sockets need it */
		if (smc_syn_may_give_away(sock->sk))
			smc_listen_hand_over(smc);
		else
			smc_sock_event(smc);
		return;
	}
	if (!err)	/* another thread has connected it */
		smc_syn_keep_module(smc);
	smc_syn_withdraw(smc);
	if (is_new) {
		smc_sock_set_state(smc, SMC_SOCK_CLOSED);
		smc_sock_detach(smc);
	}
}

/*
 * All that TCP does for a socket that listens already. The lock stays held: otherwise ss -K could
 * end the listener, and TCP would start a new one for the children of the old one.
 */
static bool change_backlog(struct socket *sock, int backlog)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	if (!smc || smc->state != SMC_SOCK_LISTEN || sock->sk->sk_state != TCP_LISTEN)
		return false;
	smc_accept_set_backlog(smc, backlog);
	return true;
}

static int listen_as_smc(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	bool is_new;
	int err;

	lock_sock(sk);
	if (change_backlog(sock, backlog)) {
		release_sock(sk);
		return 0;
	}
	smc = prepare_listener(sock, &is_new);
	release_sock(sk);
	if (IS_ERR(smc))
		return PTR_ERR(smc);
	err = smc_ops_of_tcp(sk)->listen(sock, backlog);
	if (!smc)
		return err;
	lock_sock(sk);
	finish_listen(sock, smc, backlog, is_new, err);
	release_sock(sk);
	smc_conn_put(&smc->conn);
	return err;
}

/* TCP alone decides about a socket that cannot listen, or that has fallen back */
static bool may_listen_as_smc(struct socket *sock)
{
	struct sock *sk = sock->sk;

	return smc_ops_are_smc(sock) && READ_ONCE(sock->state) == SS_UNCONNECTED &&
	       (1 << inet_sk_state_load(sk)) & (TCPF_CLOSE | TCPF_LISTEN);
}

/* The listen system call. Another call may change the backlog. Return: 0 or a negative errno. */
int smc_listen(struct socket *sock, int backlog)
{
	bool has_module = smc_call_begin();
	int err;

	if (may_listen_as_smc(sock))
		err = listen_as_smc(sock, backlog);
	else
		err = smc_ops_of_tcp(sock->sk)->listen(sock, backlog);
	smc_call_end(has_module);
	return err;
}

/* Under the lock that the owner releases, so the owner sees this task on its wait queue */
static bool is_child_free_or_accepted(struct smc_sock *child)
{
	struct sock *sk = child->conn.sk;
	bool is_free;

	spin_lock_bh(&sk->sk_lock.slock);
	is_free = !sock_owned_by_user_nocheck(sk);
	spin_unlock_bh(&sk->sk_lock.slock);
	return is_free || list_empty_careful(&child->child);
}

/*
 * The owner of a child in the queue is a kworker, accept() or poll(), and owns it for a short time,
 * unless the scheduler stops it. Once another thread has accepted the child, a
 * program may own it without limit. Return: whether the child is free, or was accepted.
 */
static bool wait_for_child_owner(struct smc_sock *child)
{
	return wait_event_killable_timeout(child->conn.sk->sk_lock.wq,
					   is_child_free_or_accepted(child), OWNER_TIME) > 0;
}

/*
 * accept() or poll() takes a step of a child in place of a kworker. Drops the reference. Return:
 * whether the owner of the child has let it; else the owner wakes accept() and poll() later.
 */
static bool step_overtaken_child(struct smc_sock *child)
{
	bool is_free = wait_for_child_owner(child);

	if (is_free)
		smc_sock_step(child);
	smc_conn_put(&child->conn);
	return is_free;
}

/*
 * accept() returns children in TCP's order, as far as their handshakes can be finished now: by a
 * task that may be held, only if the connect() of their clients may have returned. If no child is
 * ready, the connect() of a client may have returned all the same: its last message has
 * come, and a kworker has not run yet.
 */
static void step_overtaken_children(struct smc_sock *listener)
{
	bool may_be_held = smc_task_may_be_held(current);
	struct smc_sock *child;
	unsigned int i;

	for (i = 0; i < STEPPED_MAX; i++) {
		child = smc_accept_find_overtaken(listener, !may_be_held);
		if (!child || !step_overtaken_child(child))
			break;
	}
}

/* Is a step due that this task takes? See choose_accept() */
static bool is_step_for_caller(const struct smc_sock *listener)
{
	return smc_accept_step_is_due(listener) && !smc_task_may_be_held(current);
}

static bool has_accept_event(struct smc_sock *listener)
{
	return smc_accept_has_ready(listener) || is_step_for_caller(listener) ||
	       READ_ONCE(listener->state) != SMC_SOCK_LISTEN;
}

static void wait_for_accept_event(struct smc_sock *listener, struct smc_acceptor *acceptor,
				  long *timeo)
{
	struct smc_accept_queue *q = listener->queue;

	spin_lock_irq(&q->lock);
	list_add_tail(&acceptor->list, &q->acceptors);
	spin_unlock_irq(&q->lock);

	if (smc_accept_step_is_due(listener) && smc_task_may_be_held(current))
		smc_sock_queue_work(listener, 0);	/* the task may not have been held before */
	if (!has_accept_event(listener))
		*timeo = wait_woken(&acceptor->wait, TASK_INTERRUPTIBLE, *timeo);

	spin_lock_irq(&q->lock);
	list_del(&acceptor->list);
	spin_unlock_irq(&q->lock);
}

/* poll() was told of the child already */
static void wake_next_acceptor(struct smc_accept_queue *q)
{
	struct smc_acceptor *acceptor;

	if (list_empty_careful(&q->acceptors))
		return;
	spin_lock_irq(&q->lock);
	list_for_each_entry(acceptor, &q->acceptors, list)
		if (woken_wake_function(&acceptor->wait, TASK_INTERRUPTIBLE, 0, NULL))
			break;
	spin_unlock_irq(&q->lock);
}

/*
 * An accept() that returns leaves other steps to the next accept() or the work queue. While it
 * waited for the mutex it may have been woken for a child that it does not take: it wakes the next
 * accept().
 */
static void pass_on_steps(struct smc_sock *listener)
{
	if (smc_sock_state(listener) != SMC_SOCK_LISTEN)
		return;
	if (smc_accept_step_is_due(listener))
		smc_sock_event(listener);
	if (smc_accept_has_ready(listener))
		wake_next_acceptor(listener->queue);
}

static struct sock *pop_ready_sock(struct smc_sock *listener, struct smc_sock **child)
{
	*child = smc_accept_pop_child(listener, true);
	return *child ? (*child)->conn.sk : NULL;
}

static struct sock *find_ready_sock(struct smc_sock *listener, long timeo, struct smc_sock **child)
{
	struct sock *sk = NULL;
	int err = 0;

	*child = NULL;
	if (is_step_for_caller(listener))
		err = smc_listen_take_steps(listener, &sk);
	if (sk)
		return sk;
	/* A call that waits for the first child is woken */
	if (!err && (!timeo || smc_accept_has_ready(listener)))
		step_overtaken_children(listener);
	sk = pop_ready_sock(listener, child);	/* as TCP, before a signal */
	if (sk || !err)
		return sk;
	/* SO_RCVTIMEO rules out a restart */
	return ERR_PTR(timeo ? sock_intr_errno(timeo) : err);
}

/*
 * Return: a sock, with its child, or with the child NULL if the client did not offer SMC; NULL if
 * the caller has to wait; or an error.
 */
static struct sock *try_get_sock(struct smc_sock *listener, long timeo, struct smc_sock **child)
{
	struct sock *sk;

	/* TCP may have been made to listen no more (ss -K) */
	if (smc_sock_state(listener) != SMC_SOCK_LISTEN ||
	    inet_sk_state_load(listener->conn.sk) != TCP_LISTEN)
		return ERR_PTR(-EINVAL);
	sk = find_ready_sock(listener, timeo, child);
	if (sk)
		return sk;
	if (!timeo)
		return ERR_PTR(-EAGAIN);
	return signal_pending(current) ? ERR_PTR(sock_intr_errno(timeo)) : NULL;
}

/* Return: as try_get_sock(), but not NULL. */
static struct sock *wait_for_sock(struct smc_sock *listener, long timeo, struct smc_sock **child)
{
	wait_queue_head_t *waiters = smc_conn_waiters(&listener->conn);
	struct smc_acceptor acceptor;
	struct sock *sk;

	init_waitqueue_func_entry(&acceptor.wait, woken_wake_function);
	acceptor.wait.private = current;
	add_wait_queue_exclusive(waiters, &acceptor.wait);
	while (!(sk = try_get_sock(listener, timeo, child)))
		wait_for_accept_event(listener, &acceptor, &timeo);
	remove_wait_queue(waiters, &acceptor.wait);
	pass_on_steps(listener);
	return sk;
}

/*
 * poll(): is a child ready? The program does not wait in accept(), so a kworker takes the next
 * steps. But the connect() of a client may have returned before that, so the last step of its child
 * is taken here, unless a kernel thread polls. May sleep, but neither for a peer nor for a program.
 */
bool smc_accept_poll(struct smc_sock *listener)
{
	struct smc_sock *child;
	unsigned int i;

	WRITE_ONCE(listener->queue->accept_steps, false);
	for (i = 0; i < STEPPED_BY_POLL && !smc_accept_has_ready(listener); i++) {
		if (current->flags & PF_KTHREAD || signal_pending(current))
			break;
		child = smc_accept_find_overtaken(listener, false);
		if (!child || !step_overtaken_child(child))
			break;
	}
	return smc_accept_has_ready(listener);
}

/* Give the sock to the new struct socket of the program, as TCP's accept() does */
static void graft_sock(struct sock *sk, const struct socket *sock, struct socket *newsock)
{
	sock_rps_record_flow(sk);
	sock_graft(sk, newsock);
	newsock->flags |= sock->flags & BIT(SOCK_SUPPORT_ZC);
	newsock->state = SS_CONNECTED;
}

static void give_tcp_ops(struct socket *newsock)
{
	const struct proto_ops *tcp = smc_ops_of_tcp(newsock->sk);

	__module_get(tcp->owner);
	newsock->ops = tcp;
	module_put(THIS_MODULE);
}

/* The socket lock of the child is held */
static void finish_child(struct smc_sock *child, struct socket *newsock)
{
	child->owns_sk = false;
	module_put(THIS_MODULE);	/* @newsock has a reference */
	if (child->state != SMC_SOCK_ACTIVE) {
		give_tcp_ops(newsock);
		return;
	}
	smc_sock_set_socket(child, newsock);
	smc_close_progress(child);	/* a wake-up of TCP may have missed the program */
}

static int accept_connection(struct socket *sock, struct socket *newsock,
			     struct smc_sock *listener, int flags)
{
	struct smc_sock *child;
	struct sock *sk;

	sk = wait_for_sock(listener, sock_rcvtimeo(sock->sk, flags & O_NONBLOCK), &child);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	lock_sock(sk);
	if (!child)
		smc_child_fall_back(listener, sk);
	graft_sock(sk, sock, newsock);
	if (!child) {
		give_tcp_ops(newsock);
		release_sock(sk);
		return 0;
	}
	finish_child(child, newsock);
	smc_conn_get(&child->conn);
	smc_accept_release_child(listener, child);
	release_sock(sk);
	smc_conn_put(&child->conn);
	return 0;
}

/* Return: the struct, with a reference, or NULL. */
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
 * kernel_accept() gives SMC's operations to the new socket afterwards, and takes the module for
 * them. So the listening socket becomes TCP's, and TCP serves the next call.
 */
static int refuse_kernel_accept(const struct socket *sock, struct smc_sock *listener)
{
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	lock_sock(sk);
	if (listener->state == SMC_SOCK_LISTEN && sk->sk_state == TCP_LISTEN)
		smc_listen_hand_over(listener);
	if (!smc_ops_are_smc(sock))
		err = -EAGAIN;
	release_sock(sk);
	return err;
}

/* A socket that has fallen back meanwhile has children of TCP: the next call returns them */
static int accept_from_listener(struct socket *sock, struct socket *newsock, int flags)
{
	struct smc_sock *listener = get_listener(sock);
	int err;

	if (!listener)
		return smc_ops_are_smc(sock) ? -EINVAL : -EAGAIN;
	if (newsock->ops)
		err = accept_connection(sock, newsock, listener, flags);
	else
		err = refuse_kernel_accept(sock, listener);
	smc_conn_put(&listener->conn);
	return err;
}

/*
 * The accept system call, or kernel_accept(): @newsock becomes the connection. @flags may have
 * O_NONBLOCK. Return: 0 or a negative errno.
 */
int smc_accept(struct socket *sock, struct socket *newsock, int flags)
{
	bool has_module = smc_call_begin();
	int err = accept_from_listener(sock, newsock, flags);

	smc_call_end(has_module);
	return err;
}
