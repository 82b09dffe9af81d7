// SPDX-License-Identifier: GPL-2.0-only
/* The SMC option of TCP's SYN: each sock has a switch and a callback for it */

#include <linux/filter.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/sock_reuseport.h>
#include <net/tcp.h>

#include "../compat/compat.h"
#include "../wire/reason.h"
#include "accept_queue.h"
#include "connect_watch.h"
#include "sock.h"

/* Until a program that owns the socket has released it, or TCP has sent the second SYN */
#define TIMER_RETRY	(HZ / 8)

/*
 * May TCP give a request or a child of this listening socket to another one of its port? Then one
 * socket sends the SYN-ACK, and the child inherits syn_smc of the other: no field tells whether
 * the SYN-ACK had the option. Any context.
 */
bool smc_syn_may_give_away(const struct sock *listener)
{
	const struct sock_reuseport *group;
	const struct bpf_prog *prog;
	bool may;

	rcu_read_lock();
	group = rcu_dereference(listener->sk_reuseport_cb);
	prog = group ? rcu_dereference(group->prog) : NULL;
	may = group && (READ_ONCE(sock_net(listener)->ipv4.sysctl_tcp_migrate_req) ||
			(prog && prog->expected_attach_type ==
				 BPF_SK_REUSEPORT_SELECT_OR_MIGRATE));
	rcu_read_unlock();
	return may;
}

/**
 * smc_syn_child_reason() - did both SYNs of a child's connection have the option (R-TCP-06)?
 * @sk: a child
 * @listener: the socket from whose queue it comes
 *
 * TCP clears syn_smc of a child whose client did not send the option. Any context.
 *
 * Return: SMC_REASON_NONE, or the reason for TCP.
 */
u32 smc_syn_child_reason(const struct sock *sk, const struct sock *listener)
{
	if (smc_syn_may_give_away(listener))
		return SMC_REASON_OPTION;
	return tcp_sk(sk)->syn_smc ? SMC_REASON_NONE : SMC_REASON_PEER_NO_SMC;
}

/**
 * smc_syn_client_reason() - did both SYNs of a client's connection have the option (R-TCP-06)?
 * @smc: a client that TCP has connected; the socket lock is held
 *
 * TCP sets smc_ok when a SYN of the peer has the option. It clears syn_smc when a SYN-ACK has none,
 * but not when SYNs cross. A server answers the option of the first SYN also if it has got the
 * second one, which has none (smc_syn_handle_timer()). If the SYNs have crossed, the peer may have
 * seen only the second one.
 *
 * Return: SMC_REASON_NONE, or the reason for TCP.
 */
u32 smc_syn_client_reason(const struct smc_sock *smc)
{
	const struct sock *sk = smc->conn.sk;
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->rx_opt.smc_ok &&
	    (tp->syn_smc || (smc->is_syn_unanswered && !smc_client_syns_crossed(sk))))
		return SMC_REASON_NONE;
	return smc->is_syn_unanswered && tp->total_retrans ? SMC_REASON_NO_ANSWER :
							     SMC_REASON_PEER_NO_SMC;
}

/*
 * Let the first SYN of a client have the option, and the later ones not: there are packet filters
 * that drop a SYN with an option they do not know. The timer expires after seven eighths of the
 * time for which TCP waits before it sends the second SYN. The socket lock is held; TCP has sent
 * the first.
 *
 * With net.smc.syn_retry_time 0 all SYNs have the option.
 */
void smc_syn_start_timer(struct smc_sock *smc)
{
	const struct sock *sk = smc->conn.sk;
	long left = inet_csk(sk)->icsk_timeout - jiffies;

	if (smc->state == SMC_SOCK_CONNECTING && sk->sk_state == TCP_SYN_SENT &&
	    READ_ONCE(smc->conn.sn->knobs.syn_retry_time))
		smc_conn_start_timer(&smc->conn, jiffies + max(left - left / 8, 1L));
}

/*
 * A program that names the port of a client may connect to another client, and SYNs may cross. A
 * client that has taken the option back is TCP then (smc_syn_client_reason()), but a peer that has
 * seen it expects CLC messages. So such a client sends the option with two SYNs, and keeps it until
 * just before the third one: SYNs that take longer do not cross. A port that bind() has chosen is
 * no such sign. The socket is locked.
 *
 * Return: jiffies until the option is to be taken back, or until that is known; 0: now.
 */
static unsigned long get_option_time(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	long left = icsk->icsk_timeout - jiffies;

	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		return 0;
	if (!icsk->icsk_retransmits)
		return TIMER_RETRY;
	return icsk->icsk_retransmits == 1 && left > (long)icsk->icsk_rto / 4 ? left - left / 8 : 0;
}

/* No answer to a SYN has come: TCP sends the next ones without the option. Softirq. */
void smc_syn_handle_timer(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;
	unsigned long time;
	bool waits;

	bh_lock_sock(sk);
	waits = READ_ONCE(smc->state) == SMC_SOCK_CONNECTING && sk->sk_state == TCP_SYN_SENT;
	time = sock_owned_by_user(sk) ? TIMER_RETRY : get_option_time(sk);
	if (waits && !time) {
		tcp_sk(sk)->syn_smc = 0;
		smc->is_syn_unanswered = true;
	} else if (waits && !timer_pending(&smc->conn.timer)) {
		smc_conn_start_timer(&smc->conn, jiffies + time);
	}
	bh_unlock_sock(sk);
}

/*
 * The clients of too many children are silent, or have not handed them over; or, with
 * limit_handshake, more children than half of the backlog are in the handshake, or ready for
 * accept()
 */
static bool has_too_many_children(const struct smc_sock *listener)
{
	const struct smc_accept_queue *q = READ_ONCE(listener->queue);

	if (!q)		/* TCP found the socket when it listened; it does something else now */
		return false;
	if (READ_ONCE(q->parked) + READ_ONCE(q->in_connect) >= SMC_PARKED_MAX)
		return true;
	return (listener->limit_handshake || READ_ONCE(listener->conn.sn->knobs.limit_handshake)) &&
	       READ_ONCE(q->nr) > READ_ONCE(q->deferred) + READ_ONCE(q->backlog) / 2;
}

/* Does an ACK create a child, and may the child look for an offer of the client in memory? */
static bool claims_offers(const struct sock *sk)
{
	return READ_ONCE(smc_net(sock_net(sk))->knobs.handshake_in_memory) &&
	       !READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept);
}

/* A kernel service that has taken the socket gets TCP connections */
static bool is_handshake_congested(const struct sock *sk, const struct smc_sock *smc)
{
	return smc_sock_is_taken(sk) || smc_syn_may_give_away(sk) ||
	       (smc && has_too_many_children(smc));
}

/*
 * A SYN with the option has reached a listening socket: TCP calls this. A client in this kernel
 * learns of it. Return: whether the SYN-ACK has no option.
 */
static bool handle_syn(const struct sock *sk)
{
	const struct smc_sock *smc;
	bool is_refused;

	rcu_read_lock();
	smc = smc_sk(sk);
	is_refused = is_handshake_congested(sk, smc);
	if (smc && !is_refused && claims_offers(sk))
		smc_connect_watch_note_listener();
	rcu_read_unlock();
	return is_refused;
}

/*
 * Offer SMC in the SYN or SYN-ACK, before the socket connects or listens. The socket lock is held.
 * Children inherit the option.
 *
 * TCP's acknowledgements wait for the messages of the handshake, as with TCP_QUICKACK 0. Otherwise
 * TCP acknowledges each of the first segments of a connection at once. So the third segment of a
 * connection is the Proposal, if that goes through TCP.
 */
void smc_syn_offer(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	tcp_sk(sk)->syn_smc = 1;
	smc->is_syn_unanswered = false;
	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, handle_syn);
	smc_syn_delay_acks(smc);
}

/*
 * Let TCP's acknowledgements wait for the messages of the handshake. The socket lock is held. TCP
 * resets this when a socket begins to listen; children inherit it.
 */
void smc_syn_delay_acks(struct smc_sock *smc)
{
	struct sock *sk = smc->conn.sk;

	if (inet_csk_in_pingpong_mode(sk))
		return;
	smc->delays_acks = true;
	inet_csk_enter_pingpong_mode(sk);
}

/*
 * After the handshake, or without one, TCP sends no option and acknowledges as usual. Acknowledges
 * what has come. The socket lock is held. @delays_acks is that of the socket, or, for a child that
 * accept() has not returned, of the listening socket.
 */
void smc_syn_withdraw_sk(struct sock *sk, bool delays_acks)
{
	smc_syn_disown(sk);
	if (!delays_acks)
		return;
	inet_csk_exit_pingpong_mode(sk);
	if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT) &&
	    inet_csk_ack_scheduled(sk))
		smc_compat_send_ack(sk);
}

/* smc_syn_withdraw_sk() for a socket with a struct smc_sock */
void smc_syn_withdraw(struct smc_sock *smc)
{
	bool delays_acks = smc->delays_acks;

	smc->delays_acks = false;
	smc_syn_withdraw_sk(smc->conn.sk, delays_acks);
}

/* Remove the option and the callback from a sock, which may outlive the module */
void smc_syn_disown(struct sock *sk)
{
	tcp_sk(sk)->syn_smc = 0;
	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, NULL);
}

/* Remove the callback from a child of TCP, which will not listen */
void smc_syn_adopt_child(struct sock *sk)
{
	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, NULL);
}

/**
 * smc_syn_disown_children() - remove the callback from the children in TCP's queue
 * @listener: the socket, locked, still listening
 * @survive: TCP goes on to listen, and accepts them
 *
 * TCP may give children to another socket that listens to the same port (SO_REUSEPORT,
 * net.ipv4.tcp_migrate_req). That socket may be a plain TCP socket; then the children outlive the
 * module. May sleep.
 */
void smc_syn_disown_children(struct smc_sock *listener, bool survive)
{
	struct sock *sk = listener->conn.sk;
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req;

	WRITE_ONCE(tcp_sk(sk)->smc_hs_congested, NULL);
	if (!survive && !rcu_access_pointer(sk->sk_reuseport_cb))
		return;
	synchronize_rcu();	/* TCP may just create a child */
	/* Without a break: a new walk for each child would take minutes for a long queue */
	spin_lock_bh(&queue->rskq_lock);
	for (req = queue->rskq_accept_head; req; req = req->dl_next)
		if (req->sk)
			WRITE_ONCE(tcp_sk(req->sk)->smc_hs_congested, NULL);
	spin_unlock_bh(&queue->rskq_lock);
}

/*
 * TCP has ended a listening socket: keep the module if children may outlive it. The socket lock is
 * held.
 *
 * TCP may have given children to another listening socket, as for smc_syn_disown_children(), but
 * before it woke the module. They point to a function of the module, and the module cannot find
 * them. So it is never unloaded. TCP keeps the reuseport group of a socket that has ended only if
 * it gives children away.
 */
void smc_syn_keep_module(const struct smc_sock *listener)
{
	static atomic_t stays;

	if (!rcu_access_pointer(listener->conn.sk->sk_reuseport_cb) || atomic_xchg(&stays, 1))
		return;
	__module_get(THIS_MODULE);
	pr_warn("smc: a listening socket was destroyed, and others may have its connections: the module stays\n");
}
