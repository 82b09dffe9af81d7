// SPDX-License-Identifier: GPL-2.0-only
/* The socket family: creation, death, and the table of operations */

#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "../compat/compat.h"
#include "../conn/close.h"
#include "../conn/conn.h"
#include "../object.h"
#include "../work.h"
#include "sock.h"

#define SMCPROTO_SMC	0	/* addresses are IPv4 */
#define SMCPROTO_SMC6	1	/* addresses are IPv6 */

/* Ours are held while the inner socket's, of another family or not, are taken */
static struct lock_class_key sock_slock_key, sock_lock_key, outer_wait_key;

#ifdef CONFIG_MEMCG
static struct mem_cgroup *memcg_of(const struct sock *sk)
{
	return sk->sk_memcg;
}

/*
 * A child that is made in a program's accept() belongs to that program; the work queue belongs to
 * no memory cgroup
 */
static void inherit_memcg(struct sock *sk, const struct sock *parent)
{
	if (sk->sk_memcg || !parent->sk_memcg)
		return;
	css_get(&parent->sk_memcg->css);
	sk->sk_memcg = parent->sk_memcg;
}

/*
 * Charge a memory cgroup for what TCP has accounted for a socket that had none. All that a module
 * can do is to account for the same again, now with the cgroup, and to take back the first without.
 */
static bool charge_accounted(struct sock *tcp)
{
	struct mem_cgroup *memcg = tcp->sk_memcg;
	int bytes = PAGE_ALIGN(tcp->sk_forward_alloc + atomic_read(&tcp->sk_rmem_alloc));

	sock_owned_by_me(tcp);
	if (!bytes)
		return true;
	if (!__sk_mem_schedule(tcp, bytes, SK_MEM_RECV))
		return false;
	tcp->sk_memcg = NULL;
	__sk_mem_reclaim(tcp, bytes);
	tcp->sk_memcg = memcg;
	return true;
}

/*
 * What TCP does in accept(), with the cgroup of the listening socket in place of the caller's.
 * Nothing was sent yet. Return: false at the limit of the cgroup.
 */
static bool inherit_memcg_accepted(struct sock *tcp, const struct sock *parent)
{
	bool charged;

	if (tcp->sk_memcg || !parent->sk_memcg)
		return true;
	lock_sock(tcp);
	inherit_memcg(tcp, parent);
	charged = charge_accounted(tcp);
	if (!charged) {
		css_put(&tcp->sk_memcg->css);
		tcp->sk_memcg = NULL;
	}
	release_sock(tcp);
	return charged;
}
#else
static struct mem_cgroup *memcg_of(const struct sock *sk)
{
	return NULL;
}

static void inherit_memcg(struct sock *sk, const struct sock *parent)
{
}

static bool inherit_memcg_accepted(struct sock *tcp, const struct sock *parent)
{
	return true;
}
#endif

/*
 * A program owns its socket for as long as it takes to bring in a page, which may be its own doing.
 * The work queue serves all programs, and waits for none of them: what is to be done is done when
 * the socket is free.
 *
 * Return: whether the socket is locked; else smc_sock_released() comes.
 */
static bool lock_or_postpone(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	bool is_free;

	spin_lock_bh(&sk->sk_lock.slock);
	is_free = !sock_owned_by_user_nocheck(sk);
	if (is_free)
		sk->sk_lock.owned = 1;
	else
		smc->postponed = true;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (is_free)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return is_free;
}

/**
 * smc_sock_released() - its lock is about to be released
 * @sk: the socket; its spin lock is held
 */
void smc_sock_released(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (!smc->postponed)
		return;
	smc->postponed = false;
	smc_tcp_queue_step(smc);
}

/* The peer, or the way to it, is gone: nothing is left of the connection but what came in */
static void end_active(struct smc_sock *smc)
{
	if (READ_ONCE(smc->conn.lost))
		smc_tcp_reset(smc);	/* so the peer learns of it (R-TRM-09) */
	smc_conn_detach(&smc->conn);
}

static void take_steps(struct smc_sock *smc)
{
	if (smc->state == SMC_SOCK_LISTEN)
		smc_accept_steps(smc);
	else if (smc->kept)
		smc_tcp_drop(smc);
	else if (smc->state == SMC_SOCK_ACTIVE)
		end_active(smc);
	else if (!smc->driven)
		smc_connect_progress(smc);
}

/* What it allocates is for the socket, and charged to whom that is */
static void sock_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, work);
	struct mem_cgroup *old = set_active_memcg(memcg_of(&smc->sk));

	if (lock_or_postpone(smc)) {
		take_steps(smc);
		release_sock(&smc->sk);
	}
	set_active_memcg(old);
	sock_put(&smc->sk);
}

/*
 * The deadline of a handshake, the end of patience with a silent peer, or nobody has
 * come to accept()
 */
static void sock_timer(struct timer_list *timer)
{
	struct smc_sock *smc = container_of(timer, struct smc_sock, conn.timer);

	if (READ_ONCE(smc->state) == SMC_SOCK_HANDSHAKE)
		smc_tcp_event(smc);
	else if (READ_ONCE(smc->state) == SMC_SOCK_LISTEN)
		smc_tcp_overdue(smc);
	else if (READ_ONCE(smc->conn.released))
		smc_close_event(&smc->conn, SMC_CLOSE_TIMEOUT, ETIMEDOUT);
	sock_put(&smc->sk);
}

/**
 * smc_sock_timer() - start the socket's timer
 * @smc: the socket
 * @expires: jiffies
 */
void smc_sock_timer(struct smc_sock *smc, unsigned long expires)
{
	sk_reset_timer(&smc->sk, &smc->conn.timer, expires);
}

static void sock_destruct(struct sock *sk)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_sock *smc = smc_sk(sk);

	sk_mem_reclaim_final(sk);	/* SO_RESERVE_MEM */
	spin_lock_bh(&sn->socks_lock);
	hlist_del(&smc->node);
	spin_unlock_bh(&sn->socks_lock);
	smc_inet_destruct(sk);
	smc_object_destroyed(SMC_OBJECT_SOCK);
}

/**
 * smc_sock_prepare() - what the struct socket of one of ours needs
 * @sock: it, new
 */
void smc_sock_prepare(struct socket *sock)
{
	smc_compat_custom_sockopt(sock);
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	/* It is woken from within the inner socket's, see fallback.c */
	lockdep_set_class(&sock->wq.wait.lock, &outer_wait_key);
}

/**
 * smc_sock_setup() - initialise a new socket
 * @sock: its struct socket, NULL for a child that was not accepted yet
 * @sk: the socket, as sock_init_data() left it
 */
void smc_sock_setup(struct socket *sock, struct sock *sk)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_sock *smc = smc_sk(sk);

	sock_lock_init_class_and_name(sk, "slock-SMC", &sock_slock_key,
				      "sk_lock-SMC", &sock_lock_key);
	smc_sock_set_state(smc, SMC_SOCK_INIT);
	smc_conn_init(&smc->conn, sk, smc_tcp_conn_event);
	INIT_WORK(&smc->work, sock_work);
	spin_lock_init(&smc->queue.lock);
	INIT_LIST_HEAD(&smc->queue.children);
	INIT_LIST_HEAD(&smc->queue.ready);
	INIT_LIST_HEAD(&smc->queue.stirred);
	INIT_LIST_HEAD(&smc->queue.acceptors);
	INIT_LIST_HEAD(&smc->child);
	INIT_LIST_HEAD(&smc->ready);
	INIT_LIST_HEAD(&smc->stirred);
	timer_setup(&smc->conn.timer, sock_timer, 0);

	sk->sk_state = TCP_CLOSE;
	sk->sk_destruct = sock_destruct;
	sk->sk_sndbuf = 2 * READ_ONCE(sn->knobs.wmem);
	sk->sk_rcvbuf = 2 * READ_ONCE(sn->knobs.rmem);
#ifdef CONFIG_NET_RX_BUSY_POLL
	if (READ_ONCE(sn->knobs.busy_poll))	/* else as net.core.busy_read says */
		sk->sk_ll_usec = READ_ONCE(sn->knobs.busy_poll);
#endif
	/* Signals of the peer reach the connection under RCU */
	sock_set_flag(sk, SOCK_RCU_FREE);
	if (sock)
		smc_sock_prepare(sock);

	smc_object_created(SMC_OBJECT_SOCK);
	spin_lock_bh(&sn->socks_lock);
	hlist_add_head(&smc->node, &sn->socks);
	spin_unlock_bh(&sn->socks_lock);
}

/**
 * smc_sock_create_tcp() - give a new socket its inner TCP socket
 * @sk: the socket
 * @family: AF_INET or AF_INET6
 *
 * The inner socket is one of the same user: it is subject to the same security
 * policy and holds the same namespace.
 *
 * Return: 0 or a negative errno.
 */
int smc_sock_create_tcp(struct sock *sk, int family)
{
	struct socket *tcp;
	int err;

	err = __sock_create(sock_net(sk), family, SOCK_STREAM, IPPROTO_TCP, &tcp, 0);
	if (err)
		return err;
	sk->sk_txrehash = tcp->sk->sk_txrehash;
	smc_tcp_set(smc_sk(sk), tcp);
	return 0;
}

/* What a child gets from its parent, as TCP's children do */
static void inherit(struct sock *sk, const struct sock *parent)
{
	sk->sk_sndbuf = parent->sk_sndbuf;
	sk->sk_rcvbuf = parent->sk_rcvbuf;
	sk->sk_userlocks = parent->sk_userlocks & (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK);
	sk->sk_rcvlowat = parent->sk_rcvlowat;
	sk->sk_peek_off = parent->sk_peek_off;
	sk->sk_rcvtimeo = parent->sk_rcvtimeo;
	sk->sk_sndtimeo = parent->sk_sndtimeo;
	sk->sk_lingertime = parent->sk_lingertime;
	sk->sk_txrehash = parent->sk_txrehash;
#ifdef CONFIG_NET_RX_BUSY_POLL
	sk->sk_ll_usec = parent->sk_ll_usec;
	sk->sk_prefer_busy_poll = parent->sk_prefer_busy_poll;
	sk->sk_busy_poll_budget = parent->sk_busy_poll_budget;
#endif
	sk->sk_mark = parent->sk_mark;
	sk->sk_bound_dev_if = parent->sk_bound_dev_if;
	sk->sk_reuse = parent->sk_reuse;
	sk->sk_reuseport = parent->sk_reuseport;
	sk->sk_tsflags = READ_ONCE(parent->sk_tsflags);
	sk->sk_flags |= parent->sk_flags & SMC_SOCK_FLAGS;
}

/**
 * smc_sock_child() - a socket for a connection that came in
 * @listener: its parent
 * @tcp: the connection; belongs to the child if one is returned
 *
 * May sleep.
 *
 * Return: the child, with one reference, or NULL.
 */
struct smc_sock *smc_sock_child(struct smc_sock *listener, struct socket *tcp)
{
	struct sock *parent = &listener->sk;
	struct smc_sock *child;
	struct sock *sk;

	if (!inherit_memcg_accepted(tcp->sk, parent))
		return NULL;
	sk = sk_alloc(sock_net(parent), parent->sk_family, GFP_KERNEL, parent->sk_prot, 0);
	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	smc_inet_child(sk);
	sk->sk_type = parent->sk_type;
	sk->sk_protocol = parent->sk_protocol;
	smc_sock_setup(NULL, sk);
	inherit(sk, parent);
	inherit_memcg(sk, parent);

	child = smc_sk(sk);
	smc_tcp_set(child, tcp);
	smc_tcp_set_owner(child, SOCK_INODE(listener->tcp));
	child->conn.role = SMC_SERVER;
	child->limit_handshake = listener->limit_handshake;
	child->quiet = listener->quiet;
	child->inq = listener->inq;
	return child;
}

static int family_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct sock *sk;
	int err;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCPROTO_SMC && protocol != SMCPROTO_SMC6)
		return -EPROTONOSUPPORT;

	sk = sk_alloc(net, PF_SMC, GFP_KERNEL, &smc_proto, kern);
	if (!sk)
		return -ENOMEM;
	sock->ops = &smc_sock_ops;
	sock_init_data(sock, sk);
	sk->sk_protocol = protocol;
	smc_sock_setup(sock, sk);

	err = smc_sock_create_tcp(sk, protocol == SMCPROTO_SMC6 ? PF_INET6 : PF_INET);
	if (err) {
		sock_orphan(sk);
		sock->sk = NULL;
		sock_put(sk);
	}
	return err;
}

static const struct net_proto_family family = {
	.family	= PF_SMC,
	.owner	= THIS_MODULE,
	.create	= family_create,
};

atomic_long_t smc_charged;
DEFINE_PER_CPU(int, smc_charged_ahead);
long smc_charge_limits[3] = { LONG_MAX, LONG_MAX, LONG_MAX };
int smc_charge_minimum;

struct proto smc_proto = {
	.name		= "SMC",
	.owner		= THIS_MODULE,
	.release_cb	= smc_sock_released,
	.obj_size	= sizeof(struct smc_sock),
	SMC_PROTO_MEMORY
};

/* Close or abort the connection, whichever TCP would do */
static bool end_connection(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;
	bool reset;

	reset = smc_rx_available(conn) || (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime);
	if (!reset)
		return !smc_close_orderly(conn);
	smc_close_abort(conn, SMC_STAT_ABORT_APP, ECONNRESET);
	return true;
}

/* How long the rest of a closed connection may wait for the peer */
static unsigned long patience(const struct smc_sock *smc)
{
	struct net *net = sock_net(&smc->sk);

	if (READ_ONCE(smc->conn.state) == SMC_CLOSE_ABORT_WAIT)
		return SMC_ABORT_PATIENCE;
	return READ_ONCE(net->ipv4.sysctl_tcp_fin_timeout);
}

/* Unless the connection has ended with its release: then there is nothing to wait for */
static void start_close_timer(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	spin_lock_bh(&conn->lock);
	if (!conn->freeing)
		smc_sock_timer(smc, jiffies + patience(smc));
	spin_unlock_bh(&conn->lock);
}

/*
 * Can only TCP tell that the peer has given up? On a synchronous transport it cannot do so
 * without our noticing.
 */
static bool needs_tcp(const struct smc_conn *conn)
{
	const struct smc_transport *transport = READ_ONCE(conn->transport);

	return transport && !transport->synchronous;
}

/**
 * smc_sock_kill() - end whatever the socket is doing
 * @smc: the socket, locked, not listening and not fallen back
 *
 * Called once: when the application closes the descriptor, or for a child that
 * nobody will accept. May sleep, but not for the peer.
 */
void smc_sock_kill(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	bool unfinished = smc->hs;
	bool reset = unfinished;
	bool keep = false;

	if (unfinished)
		smc_handshake_free(smc->hs);
	smc->hs = NULL;
	sk_stop_timer(sk, &smc->conn.timer);
	if (smc->state == SMC_SOCK_ACTIVE) {
		/* Of a way that was lost, the peer learns by TCP only (R-TRM-09) */
		reset = end_connection(smc) || smc->conn.lost;
		smc_close_release(&smc->conn);
		start_close_timer(smc);
		keep = !reset && needs_tcp(&smc->conn);
	}
	if (keep)
		smc_tcp_keep(smc);
	else
		smc_tcp_release(smc, reset);
	/* Not before: a peer that misses our buffer would decline, and go on with TCP */
	if (unfinished)
		smc_conn_cancel(&smc->conn);
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	sk->sk_state = TCP_CLOSE;
}

/*
 * The connection holds its memory until all system calls have left it: the error makes those that
 * wait leave, and what came in before it may still be handed out. The socket lock is released
 * meanwhile.
 */
static void disconnect_active(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;

	sock_owned_by_me(sk);
	/* The peer need not answer: nothing it does can reach us any more */
	smc_close_abort(conn, SMC_STAT_ABORT_APP, ECONNRESET);
	smc_close_event(conn, SMC_CLOSE_TIMEOUT, ECONNRESET);
	smc_sock_set_state(smc, SMC_SOCK_CLOSED);
	release_sock(sk);
	wait_var_event(&smc->users, !atomic_read(&smc->users));
	lock_sock(sk);

	smc_close_release(conn);
	flush_work(&conn->free_work);
	synchronize_rcu();	/* upcalls and poll() have ended */
	smc_cdc_stop(conn);
	smc_conn_reset(conn);
	smc_sock_set_state(smc, SMC_SOCK_INIT);
}

/**
 * smc_sock_disconnect() - connect(AF_UNSPEC): make the socket new again
 * @smc: the socket, locked, not fallen back
 *
 * What it was doing is aborted. May sleep, but not for the peer.
 */
void smc_sock_disconnect(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	switch (smc->state) {
	case SMC_SOCK_LISTEN:
		smc_accept_flush(smc);
		break;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:
		smc_connect_cancel(smc);
		break;
	case SMC_SOCK_ACTIVE:
		disconnect_active(smc);
		break;
	case SMC_SOCK_CLOSED:
		return;		/* another thread is at it */
	default:
		break;
	}
	smc_tcp_disconnect(smc);
	sk_set_peek_off(sk, -1);
	sk->sk_socket->state = SS_UNCONNECTED;
	sk->sk_shutdown = 0;
	sk->sk_state = TCP_CLOSE;
	sk->sk_state_change(sk);
}

static int smc_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;

	if (!sk)
		return 0;
	smc = smc_sk(sk);
	lock_sock(sk);
	if (smc->state == SMC_SOCK_LISTEN)
		smc_accept_flush(smc);
	if (smc->state == SMC_SOCK_FALLBACK)
		smc_fallback_release(smc, sock);
	else
		smc_sock_kill(smc);
	sock_orphan(sk);
	sock->sk = NULL;
	release_sock(sk);
	sock_put(sk);
	smc_conn_reap();
	return 0;
}

static int smc_bind(struct socket *sock, struct sockaddr *addr, int addr_len)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->tcp;

	smc_sockopt_sync(smc);
	return tcp->ops->bind(tcp, addr, addr_len);
}

static int smc_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	/*
	 * The inner socket is connected until we are closed; TCP's would not be. But 2
	 * is from accept(), which returns what was reset meanwhile as well.
	 */
	if (peer == 1 && READ_ONCE(smc->state) == SMC_SOCK_ACTIVE &&
	    smc_close_both_done(READ_ONCE(smc->conn.state)))
		return -ENOTCONN;
	return smc_tcp_name(smc, addr, peer);
}

#ifdef SMC_HAVE_PROTO_ACCEPT_ARG
static int smc_accept(struct socket *sock, struct socket *newsock, struct proto_accept_arg *arg)
{
	arg->err = smc_accept_wait(sock, newsock, arg->flags);
	return arg->err;
}
#else
static int smc_accept(struct socket *sock, struct socket *newsock, int flags, bool kern)
{
	return smc_accept_wait(sock, newsock, flags);
}
#endif

struct proto_ops smc_sock_ops __ro_after_init = {
	.family		= PF_SMC,
	.owner		= THIS_MODULE,
	.release	= smc_release,
	.bind		= smc_bind,
	.connect	= smc_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= smc_accept,
	.getname	= smc_getname,
	.poll		= smc_poll,
	.ioctl		= smc_ioctl,
	.gettstamp	= sock_gettstamp,
	.listen		= smc_listen,
	.shutdown	= smc_shutdown,
	.setsockopt	= smc_setsockopt,
	.getsockopt	= smc_getsockopt,
	.sendmsg	= smc_sendmsg,
	.recvmsg	= smc_recvmsg,
	.set_rcvlowat	= smc_set_rcvlowat,
	.mmap		= sock_no_mmap,
};

/**
 * smc_sock_init() - register the family, and let TCP negotiate SMC
 *
 * Return: 0 or a negative errno.
 */
int smc_sock_init(void)
{
	int err;

	err = proto_register(&smc_proto, 1);
	if (err)
		return err;
	/* Where TCP has SO_PEEK_OFF, so have we */
	smc_sock_ops.set_peek_off = inet_stream_ops.set_peek_off;
	err = sock_register(&family);
	if (err)
		goto err_proto;
	static_branch_enable(&tcp_have_smc);
	return 0;

err_proto:
	proto_unregister(&smc_proto);
	return err;
}

/** smc_sock_exit() - undo smc_sock_init(); there are no sockets any more */
void smc_sock_exit(void)
{
	static_branch_disable(&tcp_have_smc);
	sock_unregister(PF_SMC);
	proto_unregister(&smc_proto);
}
