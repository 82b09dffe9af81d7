// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one-way door to TCP.
 *
 * The file of the descriptor is turned over to the inner TCP socket: from then
 * on system calls reach it directly, and it costs and behaves as a TCP socket.
 * The outer socket stays behind until the file is released, which finds it
 * through the inode; system calls that had got hold of it before delegate.
 *
 * Whoever polled before, waits on the outer socket's queue. A bridge, an entry in
 * the inner socket's queue, passes wake-ups on; most sockets need none.
 */

#include <linux/fs.h>

#include "../event.h"
#include "../stats.h"
#include "../trace.h"
#include "sock.h"

static int pass_on(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	struct smc_sock *smc = container_of(entry, struct smc_sock, bridge);

	__wake_up(sk_sleep(&smc->sk), mode, 1, key);
	return 0;
}

/*
 * Turn the file over. Owners of O_ASYNC are on a list that belongs to the socket
 * found through the file, so it moves as well.
 */
static void turn_over(struct smc_sock *smc, struct socket *outer)
{
	struct socket *tcp = smc->tcp;
	struct file *file = outer->file;

	if (!file)
		return;
	tcp->file = file;
	tcp->wq.fasync_list = outer->wq.fasync_list;
	outer->wq.fasync_list = NULL;
	if (tcp->wq.fasync_list) {
		lock_sock(tcp->sk);
		sock_set_flag(tcp->sk, SOCK_FASYNC);
		release_sock(tcp->sk);
	}

	/* Paired with poll: who comes later sees the state, and uses the inner queue */
	smp_mb();
	if (skwq_has_sleeper(&outer->wq)) {
		init_waitqueue_func_entry(&smc->bridge, pass_on);
		add_wait_queue(&tcp->wq.wait, &smc->bridge);
	}
	WRITE_ONCE(file->private_data, tcp);
}

/**
 * smc_fallback() - become a TCP socket
 * @smc: the socket, locked; new, or with an established TCP connection
 * @reason: enum smc_reason
 * @peer_diagnosis: what the peer's Decline said, or 0
 *
 * May sleep. There is no way back.
 */
void smc_fallback(struct smc_sock *smc, u32 reason, u32 peer_diagnosis)
{
	struct sock *sk = &smc->sk;

	smc->reason = reason;
	smc->peer_diagnosis = peer_diagnosis;
	smc_stats_fallback(&smc_net(sock_net(sk))->fallbacks, smc->conn.role, reason);
	smc_event_fallback(smc->tcp->sk, smc->conn.role, reason, peer_diagnosis);
	trace_smc_switch_to_fallback(sk, smc->tcp->sk, reason);
	smc_tcp_unhook(smc);
	smc_tcp_offer_smc(smc, false);
	smc_tcp_unquiet(smc);
	smc_sockopt_sync(smc);
	smc_sockopt_pass_rcvlowat(smc);

	sk->sk_state = smc->tcp->sk->sk_state;
	smc_sock_set_state(smc, SMC_SOCK_FALLBACK);
	if (sk->sk_socket)
		turn_over(smc, sk->sk_socket);
	sk->sk_state_change(sk);
	if (sk->sk_state == TCP_ESTABLISHED && smc->tcp->sk->sk_socket)
		sk_wake_async(smc->tcp->sk, SOCK_WAKE_IO, POLL_OUT);
}

/**
 * smc_fallback_graft() - a child that fell back is accepted
 * @smc: the child, locked
 * @sock: its new struct socket
 */
void smc_fallback_graft(struct smc_sock *smc, struct socket *sock)
{
	turn_over(smc, sock);
}

/**
 * smc_fallback_release() - the end of a socket that fell back
 * @smc: the socket, locked
 * @sock: its struct socket, NULL for a child that was not accepted
 *
 * May sleep.
 */
void smc_fallback_release(struct smc_sock *smc, struct socket *sock)
{
	/* An owner that was about to register while we turned the file over */
	if (sock && sock->wq.fasync_list && sock->file)
		fasync_helper(-1, sock->file, 0, &sock->wq.fasync_list);
	if (smc->bridge.func)
		remove_wait_queue(&smc->tcp->wq.wait, &smc->bridge);
	smc_tcp_release(smc, !sock);
	smc->sk.sk_state = TCP_CLOSE;
}
