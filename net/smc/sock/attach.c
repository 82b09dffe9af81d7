// SPDX-License-Identifier: GPL-2.0-only
/* A struct smc_sock is attached to a TCP sock, and detached: sk_wq, sk_user_data and sk_socket */

#include <linux/net.h>
#include <net/tcp.h>

#include "sock.h"

static const struct proto_ops no_operations = {
	.sendmsg	= sock_no_sendmsg,
	.set_rcvlowat	= smc_set_rcvlowat,
};

/*
 * sk_socket of a child, and of a connection that its program has closed: TCP reads flags there. BPF
 * programs reach such a sock, too: the kernel then calls an operation of the struct socket
 * (SO_RCVLOWAT, a sockmap that sends), and a security module reads its sock.
 */
static struct socket_alloc no_socket = { .socket.ops = &no_operations };
static struct socket *sk_of_no_socket;	/* sk of @no_socket */

/* Programs wait on the queue of the struct socket. TCP wakes smc_sock.wq. */
static void set_wait_queues(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = smc->conn.sk;

	lockdep_assert_held_write(&sk->sk_callback_lock);
	rcu_assign_pointer(smc->conn.wq, sock ? &sock->wq : NULL);
	sk_set_socket(sk, sock ?: &no_socket.socket);
	rcu_assign_pointer(sk->sk_wq, &smc->wq);
}

/*
 * Attach a new struct to its sock: TCP wakes smc_sock.wq from now on. The socket lock is held. Does
 * not sleep.
 *
 * sk_user_data points to the struct, so that subsystems which test it first do not take the sock.
 *
 * Return: 0, or -EBUSY if another subsystem uses the sock. A child is attached all the same; a sock
 * with a struct socket is left unchanged.
 */
int smc_sock_attach(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	bool is_free;

	sock_owned_by_me(sk);
	write_lock_bh(&sk->sk_callback_lock);
	is_free = !rcu_access_pointer(__sk_user_data(sk)) && !inet_csk(sk)->icsk_ulp_ops;
	if (is_free)
		__rcu_assign_sk_user_data_with_flags(sk, smc, SK_USER_DATA_NOCOPY);
	if (is_free || !sk->sk_socket) {
		smc_conn_get(&smc->conn);
		smc->is_attached = true;
		set_wait_queues(smc, sk->sk_socket);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return is_free ? 0 : -EBUSY;
}

static void clear_user_data(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	uintptr_t data = (uintptr_t)rcu_access_pointer(__sk_user_data(sk));

	lockdep_assert_held_write(&sk->sk_callback_lock);
	if ((struct smc_sock *)(data & SK_USER_DATA_PTRMASK) == smc)
		rcu_assign_sk_user_data(sk, NULL);
}

/*
 * Clear sk_user_data, so that another subsystem may use it. The socket is attached, its lock is
 * held. Does not sleep.
 */
void smc_sock_free_user_data(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	write_lock_bh(&sk->sk_callback_lock);
	clear_user_data(smc);
	write_unlock_bh(&sk->sk_callback_lock);
}

/*
 * Give an attached sock another struct socket, or NULL for none. The socket lock is held. Does not
 * sleep.
 */
void smc_sock_set_socket(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	write_lock_bh(&sk->sk_callback_lock);
	set_wait_queues(smc, sock);
	write_unlock_bh(&sk->sk_callback_lock);
}

/*
 * Detach the struct from its sock. The caller has changed the state before. The socket lock is
 * held. Does not sleep.
 *
 * Drops the reference of smc_sock_attach(): the caller has another one, or does not use @smc any
 * more.
 */
void smc_sock_detach(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	sock_owned_by_me(sk);
	if (!smc->is_attached)
		return;
	smc->is_attached = false;
	smc_conn_stop_timer(&smc->conn);
	write_lock_bh(&sk->sk_callback_lock);
	clear_user_data(smc);
	if (sk->sk_socket == &no_socket.socket) {
		sk_set_socket(sk, NULL);
		RCU_INIT_POINTER(sk->sk_wq, NULL);
	} else if (sk->sk_socket) {
		rcu_assign_pointer(sk->sk_wq, &sk->sk_socket->wq);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	smc_sock_wake_callers(smc);
	smc_conn_put(&smc->conn);
}

/*
 * Create the sock of the dummy struct socket.
 *
 * Return: 0 or a negative errno.
 */
int __init smc_attach_init(void)
{
	int err = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &sk_of_no_socket);

	if (!err)
		no_socket.socket.sk = sk_of_no_socket->sk;
	return err;
}

/* Release the sock of the dummy. No struct smc_sock is left. */
void smc_attach_exit(void)
{
	sock_release(sk_of_no_socket);
}
