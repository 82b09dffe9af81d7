// SPDX-License-Identifier: GPL-2.0-only
/* connect(), and calls that wait for its outcome */

#include <linux/sched/signal.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "../handshake/ipsec.h"
#include "../work.h"
#include "connect_watch.h"
#include "list.h"
#include "listener.h"
#include "proto.h"
#include "sock.h"

#define CHILD_STEPS_MAX	4	/* of a handshake, in one connect() */

/*
 * Wait for the outcome; the lock is released meanwhile. With @is_stepper the caller takes the
 * steps.
 */
static int wait_for_outcome(struct smc_sock *smc, bool is_stepper, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = smc->conn.sk;
	int err = 0;

	add_wait_queue(&smc->callers, &wait);
	for (;;) {
		if (is_stepper)
			smc_connect_step(smc);
		if (!smc_connect_is_under_way(smc))
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		err = 0;
		if (is_stepper)
			smc_connect_start_timer(smc);
		sk_wait_event(sk, &timeo, !smc_connect_is_under_way(smc) ||
			      (is_stepper && smc_sock_step_is_due(smc)), &wait);
	}
	remove_wait_queue(&smc->callers, &wait);
	return err;
}

/*
 * The work queue takes a step that is due. The next call that waits, accept() or the work queue
 * takes later ones. The socket lock is held. Does not sleep.
 */
void smc_connect_stop_stepping(struct smc_sock *smc)
{
	smc_connect_start_timer(smc);
	if (smc_sock_change_stepper(smc, SMC_STEP_LEAVE) == SMC_STEPPER_QUEUE_WORK)
		smc_sock_queue_work(smc, 0);
}

/**
 * smc_connect_wait() - wait until connecting is over
 * @smc: the socket, locked; the lock is released meanwhile. The caller has a reference
 * @timeo: timeout in jiffies
 *
 * The first call that waits takes the steps itself.
 *
 * Return: 0 when it is over, with any outcome; -EAGAIN after the timeout; after a signal what
 * sock_intr_errno() says.
 */
int smc_connect_wait(struct smc_sock *smc, long timeo)
{
	int err;

	if (!smc_connect_is_under_way(smc))
		return 0;
	if (!timeo)
		return -EAGAIN;
	if (smc_sock_is_stepped_by_caller(smc))
		return wait_for_outcome(smc, false, timeo);
	smc_sock_change_stepper(smc, SMC_STEP_ENTER);
	err = wait_for_outcome(smc, true, timeo);
	smc_connect_stop_stepping(smc);
	return err;
}

/* Data in the SYN, where the handshake would have to be; or a SYN that is never sent */
static bool has_special_syn(const struct sock *sk)
{
	return tcp_sk(sk)->fastopen_connect || tcp_sk(sk)->repair;
}

static u32 find_exclusion_reason(struct sock *sk, struct sockaddr *addr, int addr_len,
				 u32 destination)
{
	u32 reason = smc_handshake_excluded(sk);

	if (!reason && smc_ipsec_expected(sk, addr, addr_len))
		reason = SMC_REASON_IPSEC;
	if (!reason && has_special_syn(sk))
		reason = SMC_REASON_OPTION;
	if (!reason && smc_destination_avoid(smc_net(sock_net(sk)), destination))
		reason = SMC_REASON_NO_ANSWER;
	return reason;
}

/* Return: the struct, with a reference for the sock and one for the caller; NULL without memory */
static struct smc_sock *get_attached_sock(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc) {
		smc_conn_get(&smc->conn);
		return smc;
	}
	smc = smc_sock_create(sk, GFP_KERNEL_ACCOUNT);
	if (smc && smc_sock_attach(smc)) {
		smc_conn_put(&smc->conn);
		return NULL;
	}
	return smc;
}

/*
 * Call TCP's connect without waiting. If TCP connects, the caller is the stepper, and has a
 * reference to the struct in @out, and @watch has begun before the SYN. If the connection cannot
 * use SMC, @reason is set.
 *
 * Return: 0, or the error of TCP.
 */
static int start_tcp_connect(struct socket *sock, struct sockaddr *addr, int addr_len,
			     u32 destination, struct smc_sock **out, u32 *reason,
			     struct smc_connect_watch *watch)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int err;

	smc = get_attached_sock(sk);
	if (!smc) {
		*reason = SMC_REASON_NO_MEMORY;
		return 0;
	}
	smc_net_note_host(sock_net(sk));
	smc->conn.role = SMC_CLIENT;
	smc->destination = destination;
	smc_syn_offer(smc);
	smc_sock_change_stepper(smc, SMC_STEP_ENTER);
	smc_sock_set_state(smc, SMC_SOCK_CONNECTING);
	smc_connect_watch_begin(watch, sock, smc);
	err = __inet_stream_connect(sock, addr, addr_len, O_NONBLOCK, 0);
	if (!err || err == -EINPROGRESS) {
		sock->state = SS_CONNECTING;	/* until the handshake is over */
		*out = smc;
		return 0;
	}
	smc_connect_watch_end(watch);
	smc_sock_set_state(smc, SMC_SOCK_INIT);
	smc_syn_withdraw(smc);
	smc_connect_stop_stepping(smc);
	if (!smc->limit_handshake) {
		smc_sock_set_state(smc, SMC_SOCK_CLOSED);
		smc_sock_detach(smc);
	}
	smc_conn_put(&smc->conn);
	return err;
}

/*
 * connect() of @smc is over: the first call that asks gets the outcome. Another thread may have
 * cancelled it, and may even have called connect() again. As with TCP, a connection that has been
 * reset meanwhile has failed, and the program may call connect() again.
 */
static int report_outcome(struct socket *sock, struct smc_sock *smc, struct sockaddr *addr,
			  int addr_len, int flags)
{
	const struct smc_sock *now = smc_sk(sock->sk);

	if (now && now != smc)
		return -ECONNABORTED;
	if (!now) {
		if (smc_ops_are_smc(sock) && sock->state != SS_CONNECTING)
			return sock_error(sock->sk) ?: -ECONNABORTED;
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	}
	if (sock->state != SS_CONNECTING)
		return -EISCONN;
	if (READ_ONCE(smc->conn.failed)) {
		smc_close_disconnect(smc);
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	}
	sock->state = SS_CONNECTED;
	return 0;
}

/*
 * @err: from smc_connect_wait(); @disconnects: sk_disconnects before the wait
 */
static int report_wait(struct socket *sock, struct smc_sock *smc, struct sockaddr *addr,
		       int addr_len, int flags, int err, int disconnects)
{
	if (err)
		return err;
	if (disconnects != sock->sk->sk_disconnects)
		return -EPIPE;		/* another thread disconnected; as TCP */
	return report_outcome(sock, smc, addr, addr_len, flags);
}

static int connect_as_tcp(struct socket *sock, struct sockaddr *addr, int addr_len, int flags,
			  u32 reason)
{
	int err;

	smc_fallback_unconnected(sock, reason);
	err = __inet_stream_connect(sock, addr, addr_len, flags, 0);
	smc_list_fallback(NULL, sock->sk, reason, 0);
	return err;
}

/*
 * Begin the handshake, if TCP is connected, as it is on the own host.
 *
 * If a SYN has reached a listening socket on top of this task, it is probably that of this socket,
 * and the server is in this kernel: the client offers its Proposal in memory. If the ACK creates
 * its child there, that may claim the offer. A lost ACK creates no child, nor does one to another
 * host.
 *
 * Return: the listening socket that leaves the child to this task, with a reference, or NULL.
 */
static struct smc_sock *begin_handshake(struct smc_sock *smc, struct smc_connect_watch *watch)
{
	struct smc_pair_key key;

	sk_flush_backlog(smc->conn.sk);		/* the SYN-ACK came while the socket was locked */
	key = smc_handshake_pair_key(&smc->conn);
	if (smc->conn.sk->sk_state == TCP_ESTABLISHED)
		smc_connect_watch_expect_child(watch, &key);
	smc->may_offer = READ_ONCE(watch->has_listener);
	smc_connect_step(smc);
	smc->may_offer = false;
	if (!READ_ONCE(watch->is_bound))
		smc_connect_withdraw(smc);
	return smc_connect_watch_end(watch);
}

/*
 * A step of the client, after a step of the child. Another thread may have disconnected, or own the
 * socket for as long as its program likes: the child does not wait for that. Return: whether the
 * child may go on.
 */
static bool step_client(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	if (!smc_connect_is_under_way(smc))
		return true;
	if (!smc_work_lock_if_free(sk))
		return false;
	smc_connect_step(smc);
	release_sock(sk);
	return true;
}

/*
 * Take the steps of the child, and those of the client that follow from them. The socket lock is
 * released meanwhile, so another thread may disconnect. Drops the reference to the listening
 * socket.
 */
static void step_both_ends(struct smc_sock *smc, struct smc_sock *listener,
			   const struct smc_pair_key *key)
{
	struct sock *sk = smc->conn.sk;
	unsigned int steps = CHILD_STEPS_MAX;
	struct smc_sock *child;

	release_sock(sk);
	child = smc_client_child_take(listener, key);
	smc_conn_put(&listener->conn);
	if (child) {
		while (step_client(smc) && smc_connect_is_under_way(child) &&
		       smc_sock_step_is_due(child) && steps--)
			smc_client_child_step(child);
		smc_client_child_hand_over(child);
	}
	lock_sock(sk);
}

static int begin_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags)
{
	struct sock *sk = sock->sk;
	int disconnects = sk->sk_disconnects;
	struct smc_sock *smc = NULL, *listener;
	struct smc_connect_watch watch;
	u32 destination, reason;
	int err = 0;
	long timeo;

	if (sock->state != SS_UNCONNECTED || sk->sk_state != TCP_CLOSE)
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	destination = smc_destination_hash(sk, addr, addr_len);
	reason = find_exclusion_reason(sk, addr, addr_len, destination);
	if (!reason)
		err = start_tcp_connect(sock, addr, addr_len, destination, &smc, &reason, &watch);
	if (reason)
		return connect_as_tcp(sock, addr, addr_len, flags, reason);
	if (err)
		return err;
	listener = begin_handshake(smc, &watch);
	if (listener)
		step_both_ends(smc, listener, &watch.key);
	smc_syn_start_timer(smc);
	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	if (timeo && smc_connect_is_under_way(smc))
		/* A step that is due stays so: smc_connect_wait() enters, and takes it */
		smc_sock_change_stepper(smc, SMC_STEP_LEAVE);
	else
		smc_connect_stop_stepping(smc);
	err = -EINPROGRESS;		/* also if the outcome is known already, as TCP */
	if (timeo) {
		err = smc_connect_wait(smc, timeo);
		if (err == -EAGAIN)
			err = -EINPROGRESS;
		err = report_wait(sock, smc, addr, addr_len, flags, err, disconnects);
	}
	smc_conn_put(&smc->conn);
	return err;
}

static int resume_connect(struct socket *sock, struct smc_sock *smc, struct sockaddr *addr,
			  int addr_len, int flags)
{
	int disconnects, err;

	smc_conn_get(&smc->conn);
	/* Find out what has happened, also if the work queue has not done so yet */
	if (smc_connect_is_under_way(smc) && !smc_sock_is_stepped_by_caller(smc))
		smc_connect_step(smc);
	disconnects = sock->sk->sk_disconnects;
	err = smc_connect_wait(smc, sock_sndtimeo(sock->sk, flags & O_NONBLOCK));
	if (err == -EAGAIN)
		err = -EALREADY;
	err = report_wait(sock, smc, addr, addr_len, flags, err, disconnects);
	smc_conn_put(&smc->conn);
	return err;
}

static int connect_sock_locked(struct socket *sock, struct sockaddr *addr, int addr_len, int flags)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	if (!smc_ops_are_smc(sock))
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	if (addr_len < (int)sizeof(addr->sa_family))
		return -EINVAL;
	if (addr->sa_family == AF_UNSPEC) {
		if (smc)
			smc_close_disconnect(smc);
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	}
	if (smc && smc->state == SMC_SOCK_LISTEN) {
		if (sk->sk_state == TCP_LISTEN)
			return __inet_stream_connect(sock, addr, addr_len, flags, 0);
		smc_listen_end(smc);	/* TCP was made to listen no more (ss -K) */
		smc = NULL;
	}
	if (!smc || smc->state == SMC_SOCK_INIT)
		return begin_connect(sock, addr, addr_len, flags);
	return resume_connect(sock, smc, addr, addr_len, flags);
}

/* The connect system call. Return: as TCP. */
int smc_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags)
{
	bool has_module = smc_call_begin();
	int err;

	lock_sock(sock->sk);
	err = connect_sock_locked(sock, addr, addr_len, flags);
	release_sock(sock->sk);
	smc_call_end(has_module);
	return err;
}
