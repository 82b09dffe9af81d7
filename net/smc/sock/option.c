// SPDX-License-Identifier: GPL-2.0-only
/* The SMC option of TCP's SYN: what TCP does with it is switched on per sock */

#include <linux/module.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "../compat/compat.h"
#include "sock.h"

static bool handshake_congested(const struct sock *sk)
{
	const struct smc_sock *smc;
	bool congested;

	/* Or more than half of the places are taken by connections not accepted */
	rcu_read_lock();
	smc = smc_sk(sk);
	congested = smc_sock_is_taken(sk) ||
		    (smc && (smc->limit_handshake ||
			     READ_ONCE(smc_net(sock_net(sk))->knobs.limit_handshake)) &&
		     READ_ONCE(smc->queue.nr) > READ_ONCE(sk->sk_max_ack_backlog) / 2);
	rcu_read_unlock();
	return congested;
}

/**
 * smc_option_offer() - announce SMC in the SYN or SYN-ACK
 * @smc: the socket, locked, before it connects or listens
 *
 * TCP's acknowledgements wait for the messages of the handshake, as TCP_QUICKACK 0 would have it.
 * Else TCP acknowledges the first segments of a connection at once, with one of its own each: as
 * many as there are messages. So the third segment of a connection is the Proposal. Children
 * inherit it.
 */
void smc_option_offer(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	tcp_sk(sk)->syn_smc = 1;
	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, handshake_congested);
	smc_option_delay_acks(smc);
}

/**
 * smc_option_delay_acks() - let TCP's acknowledgements wait for the messages of the handshake
 * @smc: the socket, locked
 *
 * A socket that begins to listen forgets it, and its children inherit it.
 */
void smc_option_delay_acks(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	if (inet_csk_in_pingpong_mode(sk))
		return;
	smc->quiet = true;
	inet_csk_enter_pingpong_mode(sk);
}

/**
 * smc_option_withdraw() - TCP does without us from now on
 * @smc: the socket, locked
 *
 * Acknowledges what is there.
 */
void smc_option_withdraw(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	smc_option_disown(sk);
	if (!smc->quiet)
		return;
	smc->quiet = false;
	inet_csk_exit_pingpong_mode(sk);
	if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT) &&
	    inet_csk_ack_scheduled(sk))
		smc_compat_send_ack(sk);
}

/**
 * smc_option_disown() - nothing of ours is left in a sock, which may outlive the module
 * @sk: it
 */
void smc_option_disown(struct sock *sk)
{
	tcp_sk(sk)->syn_smc = 0;
	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, NULL);
}

/**
 * smc_option_adopt() - a child of TCP's is in our hands: it will not listen
 * @sk: it
 */
void smc_option_adopt(struct sock *sk)
{
	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, NULL);
}

/**
 * smc_option_disown_children() - those in TCP's queue may get another parent
 * @listener: the socket, locked, still listening
 * @survive: TCP goes on to listen, and will accept them
 *
 * TCP may give them to another socket that listens to the same port (SO_REUSEPORT,
 * net.ipv4.tcp_migrate_req), which need not be one of ours; then they outlive our module.
 * May sleep.
 */
void smc_option_disown_children(struct smc_sock *listener, bool survive)
{
	struct sock *sk = listener->conn.sk;
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req;

	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, NULL);
	if (!survive && !rcu_access_pointer(sk->sk_reuseport_cb))
		return;
	synchronize_rcu();	/* one may just be born */
	/* In one go: starting anew for each child would take minutes for a long queue */
	spin_lock_bh(&queue->rskq_lock);
	for (req = queue->rskq_accept_head; req; req = req->dl_next)
		if (req->sk)
			WRITE_ONCE(tcp_sk(req->sk)->smc_hs_congested, NULL);
	spin_unlock_bh(&queue->rskq_lock);
}

/**
 * smc_option_left_behind() - TCP has ended a listening socket: does anything outlive it?
 * @listener: the socket, locked
 *
 * TCP may have given children to another listening socket, as for smc_option_disown_children(), but
 * before it woke the module. They point to a function of the module, and nobody can find them. So
 * the module stays for good. TCP keeps the group of a socket that has ended only if it gives
 * children away.
 */
void smc_option_left_behind(const struct smc_sock *listener)
{
	static atomic_t stays;

	if (!rcu_access_pointer(listener->conn.sk->sk_reuseport_cb) || atomic_xchg(&stays, 1))
		return;
	__module_get(THIS_MODULE);
	pr_warn("smc: a listening socket was destroyed, and others may have its connections: the module stays\n");
}
