// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything that touches the inner TCP socket: the SMC option of its SYN, its
 * callbacks, and its end.
 */

#include <linux/in.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "../conn/close.h"
#include "../work.h"
#include "sock.h"

/**
 * smc_tcp_queue_step() - let the work queue look at a socket
 * @smc: the socket
 *
 * Any context; does not sleep.
 */
void smc_tcp_queue_step(struct smc_sock *smc)
{
	sock_hold(&smc->sk);
	if (!queue_work(smc_wq, &smc->work))
		sock_put(&smc->sk);
}

/*
 * An SMC connection dies with its TCP connection, if that was reset (V2-ELG-10);
 * and when something comes in there: a late Decline, or a peer that took another
 * way (R-KA-11).
 */
static void check_alive(struct smc_sock *smc, struct sock *tcp)
{
	if (READ_ONCE(tcp->sk_err) && tcp->sk_state == TCP_CLOSE)
		smc_close_abort(&smc->conn, SMC_STAT_ABORT_TCP, tcp->sk_err);
	else if (tcp_inq(tcp))
		smc_close_abort(&smc->conn, SMC_STAT_ABORT_TCP, ECONNRESET);
}

/**
 * smc_tcp_check() - see what happened to TCP while it belonged to the handshake
 * @smc: the socket, locked, just active
 *
 * May sleep, but not for the peer.
 */
void smc_tcp_check(struct smc_sock *smc)
{
	struct sock *tcp = smc->tcp->sk;

	lock_sock(tcp);		/* a FIN is no data, but looks like it for a moment */
	check_alive(smc, tcp);
	release_sock(tcp);
}

/**
 * smc_tcp_event() - something happened: let somebody look
 * @smc: the socket
 *
 * Whoever waits in a system call does the work itself, else the queue does.
 * Any context; does not sleep.
 */
void smc_tcp_event(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	switch (READ_ONCE(smc->state)) {
	case SMC_SOCK_LISTEN:
		if (!smc_accept_stir(smc))
			smc_tcp_queue_step(smc);
		break;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		WRITE_ONCE(smc->event, true);
		/* Paired with the barrier in connect.c, smc_connect_wait() */
		smp_mb();
		if (READ_ONCE(smc->driven))
			wake_up_interruptible(sk_sleep(sk));
		else if (!smc_accept_stir(smc))
			smc_tcp_queue_step(smc);
		break;
	case SMC_SOCK_ACTIVE:
		if (smc_conn_is_cut_off(&smc->conn))
			smc_tcp_queue_step(smc);
		break;
	default:
		break;
	}
}

/**
 * smc_tcp_conn_event() - the handshake can go on, or the connection is cut off, or freed
 * @conn: its connection
 *
 * Any context; does not sleep.
 */
void smc_tcp_conn_event(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_sk(conn->sk);

	/* Paired with the barrier in smc_tcp_keep(): that sees the end, or we that it came first */
	smp_mb();
	if (READ_ONCE(smc->kept))
		smc_tcp_queue_step(smc);
	else
		smc_tcp_event(smc);
}

/**
 * smc_tcp_overdue() - what was left to accept() is still there: do without it
 * @listener: the socket
 *
 * Any context; does not sleep.
 */
void smc_tcp_overdue(struct smc_sock *listener)
{
	if (!smc_accept_has_steps(listener) && !READ_ONCE(listener->queue.retry))
		return;
	WRITE_ONCE(listener->queue.blocking, false);
	smc_tcp_queue_step(listener);
}

/*
 * Our end is closed, and the peer resets TCP: if it ends the SMC connection in any other way, that
 * is on its way (R-ABT-13), and then the peer writes no more. Else it has given up, perhaps
 * before it knew of the connection.
 */
static void check_kept(struct smc_sock *smc, const struct sock *tcp)
{
	if (READ_ONCE(tcp->sk_err) && tcp->sk_state == TCP_CLOSE && READ_ONCE(smc->conn.transport))
		smc_sock_timer(smc, jiffies + SMC_ABORT_PATIENCE);
}

static void look(struct smc_sock *smc, struct sock *tcp)
{
	if (READ_ONCE(smc->state) != SMC_SOCK_ACTIVE)
		smc_tcp_event(smc);
	/* Paired with the barrier in connected(): it sees the event, or we the state */
	if (READ_ONCE(smc->state) == SMC_SOCK_ACTIVE)
		check_alive(smc, tcp);
}

/* A BPF program may have got hold of a child: others who own sk_user_data mark it in another way */
static struct smc_sock *owner_of(const struct sock *tcp)
{
	uintptr_t data = (uintptr_t)rcu_dereference_check(__sk_user_data(tcp),
							  lockdep_is_held(&tcp->sk_callback_lock));

	if ((data & ~SK_USER_DATA_PTRMASK) != SK_USER_DATA_NOCOPY)
		return NULL;
	return (struct smc_sock *)(data & SK_USER_DATA_PTRMASK);
}

/* In place of any of the three callbacks: their arguments do not tell which one this is */
static void wake_all(struct sock *tcp)
{
	struct socket_wq *wq = rcu_dereference(tcp->sk_wq);

	if (skwq_has_sleeper(wq))
		wake_up_interruptible_all(&wq->wait);
	sk_wake_async(tcp, SOCK_WAKE_WAITD, POLL_IN);
}

/*
 * A child of a listening TCP socket is born with its parent's callbacks, but without its
 * sk_user_data: there is little to do until it is hooked itself. A child that others took before
 * may come back with them at any time, because those others restore what they found.
 */
static void tcp_event(struct sock *tcp)
{
	struct smc_sock *smc;

	rcu_read_lock();
	read_lock_bh(&tcp->sk_callback_lock);
	smc = owner_of(tcp);
	if (!smc)
		wake_all(tcp);
	else if (READ_ONCE(smc->kept))
		check_kept(smc, tcp);
	else
		look(smc, tcp);
	read_unlock_bh(&tcp->sk_callback_lock);
	rcu_read_unlock();
}

static void restore_callbacks(struct sock *tcp, const struct smc_tcp_hooks *hooks)
{
	lockdep_assert_held(&tcp->sk_callback_lock);
	if (tcp->sk_data_ready == tcp_event)
		tcp->sk_data_ready = hooks->data_ready;
	if (tcp->sk_state_change == tcp_event)
		tcp->sk_state_change = hooks->state_change;
	if (tcp->sk_error_report == tcp_event)
		tcp->sk_error_report = hooks->error_report;
}

/* Interrupts are off, so this is no place for smc_tcp_event() */
static int inner_woken(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	smc_tcp_queue_step(container_of(entry, struct smc_sock, bridge));
	return 0;
}

/* Return: false if others have it */
static bool try_hook(struct smc_sock *smc, struct sock *tcp)
{
	lockdep_assert_held(&tcp->sk_callback_lock);
	if (owner_of(tcp) == smc)
		return true;
	if (smc->listener)
		restore_callbacks(tcp, &smc->listener->hooks);
	if (rcu_access_pointer(__sk_user_data(tcp)))
		return false;
	smc->hooks.data_ready = tcp->sk_data_ready;
	smc->hooks.state_change = tcp->sk_state_change;
	smc->hooks.error_report = tcp->sk_error_report;
	tcp->sk_data_ready = tcp_event;
	tcp->sk_state_change = tcp_event;
	tcp->sk_error_report = tcp_event;
	__rcu_assign_sk_user_data_with_flags(tcp, smc, SK_USER_DATA_NOCOPY);
	return true;
}

/**
 * smc_tcp_hook() - be told of what happens to the inner socket
 * @smc: the socket
 *
 * Waiters on the inner socket itself are not woken while it is hooked. A BPF program for socket
 * operations may have put a child into a sockmap before we see it. That one will be a TCP
 * connection, see smc_handshake_excluded(); until then its wait queue tells what happens.
 */
void smc_tcp_hook(struct smc_sock *smc)
{
	struct sock *tcp = smc->tcp->sk;
	bool hooked;

	write_lock_bh(&tcp->sk_callback_lock);
	hooked = try_hook(smc, tcp);
	write_unlock_bh(&tcp->sk_callback_lock);
	if (!hooked && !smc->bridge.func) {
		init_waitqueue_func_entry(&smc->bridge, inner_woken);
		add_wait_queue(&smc->tcp->wq.wait, &smc->bridge);
	}
}

/**
 * smc_tcp_unhook() - leave the inner socket as TCP made it
 * @smc: the socket
 *
 * Afterwards no callback is running or will come.
 */
void smc_tcp_unhook(struct smc_sock *smc)
{
	struct sock *tcp = smc->tcp->sk;

	write_lock_bh(&tcp->sk_callback_lock);
	if (owner_of(tcp) == smc) {
		restore_callbacks(tcp, &smc->hooks);
		rcu_assign_sk_user_data(tcp, NULL);
	}
	write_unlock_bh(&tcp->sk_callback_lock);
	if (smc->bridge.func == inner_woken) {
		remove_wait_queue(&smc->tcp->wq.wait, &smc->bridge);
		smc->bridge.func = NULL;
	}
}

static bool handshake_congested(const struct sock *tcp)
{
	const struct smc_sock *smc;
	bool congested;

	/* More than half of the places are taken by connections not accepted */
	rcu_read_lock();
	smc = owner_of(tcp);
	congested = smc && (smc->limit_handshake ||
			    READ_ONCE(smc_net(sock_net(tcp))->knobs.limit_handshake)) &&
		    READ_ONCE(smc->queue.nr) > READ_ONCE(tcp->sk_max_ack_backlog) / 2;
	rcu_read_unlock();
	return congested;
}

static bool has_ours(const struct sock *tcp)
{
	return READ_ONCE(tcp->sk_data_ready) == tcp_event ||
	       READ_ONCE(tcp->sk_state_change) == tcp_event ||
	       READ_ONCE(tcp->sk_error_report) == tcp_event ||
	       READ_ONCE(tcp_sk(tcp)->smc_hs_congested) == handshake_congested;
}

/**
 * smc_tcp_disown() - a child of TCP's that we do not take
 * @listener: its parent
 * @tcp: the child, which was born with its parent's callbacks
 */
void smc_tcp_disown(const struct smc_sock *listener, struct sock *tcp)
{
	write_lock_bh(&tcp->sk_callback_lock);
	restore_callbacks(tcp, &listener->hooks);
	WRITE_ONCE(tcp_sk(tcp)->smc_hs_congested, NULL);
	write_unlock_bh(&tcp->sk_callback_lock);
}

/**
 * smc_tcp_disown_children() - those in TCP's queue may get another parent
 * @listener: the socket, locked, unhooked, still listening
 *
 * TCP may give them to another socket that listens to the same port (SO_REUSEPORT,
 * net.ipv4.tcp_migrate_req), which need not be one of ours; then they outlive our module.
 * May sleep.
 */
void smc_tcp_disown_children(const struct smc_sock *listener)
{
	struct sock *tcp = listener->tcp->sk;
	struct request_sock_queue *queue = &inet_csk(tcp)->icsk_accept_queue;
	struct request_sock *req;

	if (!rcu_access_pointer(tcp->sk_reuseport_cb))
		return;
	/* An operator has ended the inner socket (ss -K): they went as they were, so we stay */
	if (inet_sk_state_load(tcp) != TCP_LISTEN)
		__module_get(THIS_MODULE);
	synchronize_rcu();	/* one may just be born, with the callbacks of before */
	/* In one go: starting anew for each child would take minutes for a long queue */
	spin_lock_bh(&queue->rskq_lock);
	for (req = queue->rskq_accept_head; req; req = req->dl_next)
		if (has_ours(req->sk))
			smc_tcp_disown(listener, req->sk);
	spin_unlock_bh(&queue->rskq_lock);
}

/**
 * smc_tcp_offer_smc() - announce SMC in the SYN or SYN-ACK, or not
 * @smc: the socket, before it connects or listens, or falls back
 * @offer: whether. If not, nothing of ours is in the TCP socket, which may outlive the module, as
 *	may its children
 */
void smc_tcp_offer_smc(struct smc_sock *smc, bool offer)
{
	struct tcp_sock *tp = tcp_sk(smc->tcp->sk);

	tp->syn_smc = offer;
	WRITE_ONCE(tp->smc_hs_congested, offer ? handshake_congested : NULL);
}

/**
 * smc_tcp_quiet() - let the messages of the handshake carry TCP's acknowledgements
 * @smc: the socket, before it connects or listens
 *
 * As TCP_QUICKACK 0 would. Else TCP acknowledges the first segments of a connection
 * at once, with one of its own each: as many as there are messages. So the third
 * segment of a connection is the Proposal. Children inherit it.
 */
void smc_tcp_quiet(struct smc_sock *smc)
{
	struct sock *tcp = smc->tcp->sk;

	if (smc->quiet || inet_csk_in_pingpong_mode(tcp))
		return;
	smc->quiet = true;
	tcp_sock_set_quickack(tcp, 0);
}

/**
 * smc_tcp_unquiet() - undo smc_tcp_quiet(), and acknowledge what is there
 * @smc: the socket
 */
void smc_tcp_unquiet(struct smc_sock *smc)
{
	if (!smc->quiet)
		return;
	smc->quiet = false;
	tcp_sock_set_quickack(smc->tcp->sk, 1);
}

/**
 * smc_tcp_peer_speaks_smc() - did both sides announce SMC?
 * @smc: a connected socket
 *
 * TCP has cleared the flag if the peer did not (R-TCP-06).
 *
 * Return: whether the handshake is to start.
 */
bool smc_tcp_peer_speaks_smc(const struct smc_sock *smc)
{
	return tcp_sk(smc->tcp->sk)->syn_smc;
}

static void disconnect(struct smc_sock *smc)
{
	struct sockaddr addr = { .sa_family = AF_UNSPEC };

	kernel_connect(smc->tcp, &addr, sizeof(addr), O_NONBLOCK);
}

/**
 * smc_tcp_disconnect() - reset the TCP connection, and make the socket new again
 * @smc: the socket
 */
void smc_tcp_disconnect(struct smc_sock *smc)
{
	smc->sk.sk_dport = 0;	/* what smc_tcp_reset() has kept */
	disconnect(smc);
}

/* Whoever looks at the rest of a closed connection wants to know whose it is */
static void keep_addresses(struct smc_sock *smc, const struct sock *tcp)
{
	struct sock *sk = &smc->sk;

	lockdep_assert_held(&sk->sk_callback_lock);
	if (sk->sk_dport && !tcp->sk_dport)
		return;		/* it was reset, and they were kept then */
	smc->v6 = tcp->sk_family == AF_INET6;
	smc->inet.inet_sport = inet_sk(tcp)->inet_sport;
	sk->sk_dport = tcp->sk_dport;
	sk->sk_rcv_saddr = tcp->sk_rcv_saddr;
	sk->sk_daddr = tcp->sk_daddr;
#if IS_ENABLED(CONFIG_IPV6)
	sk->sk_v6_rcv_saddr = tcp->sk_v6_rcv_saddr;
	sk->sk_v6_daddr = tcp->sk_v6_daddr;
#endif
}

/**
 * smc_tcp_reset() - reset the TCP connection of an SMC connection
 * @smc: the socket
 */
void smc_tcp_reset(struct smc_sock *smc)
{
	write_lock_bh(&smc->sk.sk_callback_lock);
	keep_addresses(smc, smc->tcp->sk);
	write_unlock_bh(&smc->sk.sk_callback_lock);
	disconnect(smc);
}

/* As TCP would tell them, had it not been reset; the address family is that of the inner socket */
static int kept_name(const struct smc_sock *smc, struct sockaddr *addr, bool peer)
{
	const struct sock *sk = &smc->sk;
	__be16 port = peer ? sk->sk_dport : smc->inet.inet_sport;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;
#if IS_ENABLED(CONFIG_IPV6)
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;

	if (smc->v6) {
		*sin6 = (struct sockaddr_in6){
			.sin6_family = AF_INET6,
			.sin6_port = port,
			.sin6_addr = peer ? sk->sk_v6_daddr : sk->sk_v6_rcv_saddr,
		};
		sin6->sin6_scope_id = ipv6_iface_scope_id(&sin6->sin6_addr,
							  smc->tcp->sk->sk_bound_dev_if);
		return sizeof(*sin6);
	}
#endif
	*sin = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = port,
		.sin_addr.s_addr = peer ? sk->sk_daddr : sk->sk_rcv_saddr,
	};
	return sizeof(*sin);
}

/**
 * smc_tcp_name() - the addresses of the TCP connection
 * @smc: the socket
 * @addr: result
 * @peer: as for getname() of TCP
 *
 * A connection that we have reset keeps them, as one that was reset by the peer does.
 *
 * Return: length of the address, or a negative errno.
 */
int smc_tcp_name(struct smc_sock *smc, struct sockaddr *addr, int peer)
{
	struct socket *tcp = smc->tcp;
	int len = tcp->ops->getname(tcp, addr, peer);

	read_lock_bh(&smc->sk.sk_callback_lock);
	if (smc->sk.sk_dport && !READ_ONCE(tcp->sk->sk_dport))
		len = kept_name(smc, addr, peer);
	read_unlock_bh(&smc->sk.sk_callback_lock);
	return len;
}

/**
 * smc_tcp_set() - a new socket gets its inner socket
 * @smc: the socket
 * @tcp: the inner socket; belongs to @smc from now on
 */
void smc_tcp_set(struct smc_sock *smc, struct socket *tcp)
{
	write_lock_bh(&smc->sk.sk_callback_lock);
	smc->tcp = tcp;
	write_unlock_bh(&smc->sk.sk_callback_lock);
}

/**
 * smc_tcp_set_owner() - whose is the inner socket?
 * @smc: the socket
 * @owner: inode of a socket of its user
 *
 * The work queue, which accepts connections, is nobody. The user is shown to
 * those who look, and routes may depend on it.
 */
void smc_tcp_set_owner(struct smc_sock *smc, const struct inode *owner)
{
	struct inode *inode = SOCK_INODE(smc->tcp);
	struct sock *tcp = smc->tcp->sk;

	write_lock_bh(&tcp->sk_callback_lock);
	inode->i_uid = owner->i_uid;
	inode->i_gid = owner->i_gid;
	tcp->sk_uid = owner->i_uid;
	write_unlock_bh(&tcp->sk_callback_lock);
}

/**
 * smc_tcp_get() - the inner socket, for those who look from outside
 * @smc: the socket; not locked
 *
 * Process context or softirq.
 *
 * Return: the inner socket, with a reference, or NULL if there is none.
 */
struct sock *smc_tcp_get(struct smc_sock *smc)
{
	struct sock *tcp = NULL;

	read_lock_bh(&smc->sk.sk_callback_lock);
	if (smc->tcp) {
		tcp = smc->tcp->sk;
		sock_hold(tcp);
	}
	read_unlock_bh(&smc->sk.sk_callback_lock);
	return tcp;
}

/**
 * smc_tcp_release() - be done with the inner socket
 * @smc: the socket
 * @reset: with a RST instead of a FIN
 *
 * May sleep.
 */
void smc_tcp_release(struct smc_sock *smc, bool reset)
{
	struct socket *tcp = smc->tcp;

	if (!tcp)
		return;
	smc_tcp_unhook(smc);
	if (reset)
		sock_no_linger(tcp->sk);
	write_lock_bh(&smc->sk.sk_callback_lock);
	keep_addresses(smc, tcp->sk);
	WRITE_ONCE(smc->tcp, NULL);
	write_unlock_bh(&smc->sk.sk_callback_lock);
	tcp->file = NULL;
	sock_release(tcp);
}

/**
 * smc_tcp_keep() - end the TCP connection in good order, and listen how the peer ends it
 * @smc: the socket, locked, just closed by its program; the peer has not yet ended the connection
 *
 * After our last control message only TCP can tell that the peer has given up (R-ABT-12). When
 * the connection is freed, smc_tcp_drop() is due. Does not wait for the peer.
 */
void smc_tcp_keep(struct smc_sock *smc)
{
	WRITE_ONCE(smc->kept, true);
	kernel_sock_shutdown(smc->tcp, SHUT_RDWR);
	/* Paired with the barrier in smc_tcp_conn_event(): that sees the flag, or we the end */
	smp_mb();
	smc_tcp_drop(smc);
}

/**
 * smc_tcp_drop() - be done with the inner socket that was kept, unless there still is a connection
 * @smc: the socket, locked
 *
 * A peer that has not ended the connection learns of the end from a RST (R-CLS-16, R-TRM-09). May
 * sleep.
 */
void smc_tcp_drop(struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;

	if (!READ_ONCE(conn->transport))
		smc_tcp_release(smc, !(conn->rx_state_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORTED)));
}
