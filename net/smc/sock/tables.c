// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP's tables of operations, ours, and the way from one to the other.
 *
 * Ours are copies of TCP's in which each member is replaced that would reach TCP's byte stream past
 * us. Each build compares the members with tables.txt (scripts/check-kernel), and refuses a kernel
 * that has others. TCP's tables are taken from a live socket: not all kernels export all of them.
 */

#include <linux/delay.h>
#include <linux/module.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "../compat/compat.h"
#include "sock.h"

/**
 * struct tables - all for one address family
 * @tcp_ops: TCP's operations
 * @tcp_prot: TCP's protocol
 * @ops: ours, NULL if the kernel does not have this family
 * @creating: protocol for inet_create(), replaced by TCP's in its own init
 * @smc_prot: protocol in SMC mode
 */
struct tables {
	const struct proto_ops *tcp_ops;
	struct proto *tcp_prot;
	const struct proto_ops *ops;
	struct proto creating;
	struct proto smc_prot;
};

/* Filled in when the module is loaded */
static struct proto_ops ops4 __ro_after_init, ops6 __ro_after_init, *const own[] = { &ops4, &ops6 };
static struct tables ipv4 __ro_after_init, ipv6 __ro_after_init;
static DEFINE_PER_CPU(long, calls);
void (*smc_tcp_data_ready)(struct sock *sk) __ro_after_init;

static struct tables *tables_of(int family)
{
	return family == AF_INET6 ? &ipv6 : &ipv4;
}

/**
 * smc_call_enter() - a call that does not sleep for long is inside of the module
 *
 * A socket can fall back meanwhile, and gives its reference to the module back then.
 * smc_tables_exit() waits for those who are inside.
 */
void smc_call_enter(void)
{
	this_cpu_inc(calls);
}

/** smc_call_leave() - the end of smc_call_enter() */
void smc_call_leave(void)
{
	this_cpu_dec(calls);
}

/**
 * smc_call_begin() - a call may go on in TCP's operation, and sleep there
 *
 * A socket can fall back meanwhile, and gives its reference to the module back then. This one keeps
 * the module; where that is being unloaded already, smc_tables_exit() waits.
 *
 * Return: for smc_call_end().
 */
bool smc_call_begin(void)
{
	this_cpu_inc(calls);
	return try_module_get(THIS_MODULE);
}

/**
 * smc_call_end() - it is back
 * @has_module: what smc_call_begin() returned
 */
void smc_call_end(bool has_module)
{
	if (has_module)
		module_put(THIS_MODULE);
	this_cpu_dec(calls);
}

static long calls_under_way(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(calls, cpu);
	return sum;
}

/**
 * smc_ops_of_tcp() - TCP's operations
 * @sk: a TCP sock
 *
 * Return: the table for its family.
 */
const struct proto_ops *smc_ops_of_tcp(const struct sock *sk)
{
	return tables_of(sk->sk_family)->tcp_ops;
}

/**
 * smc_ops_of_ours() - our operations
 * @sk: a TCP sock
 *
 * Return: the table for its family.
 */
const struct proto_ops *smc_ops_of_ours(const struct sock *sk)
{
	return tables_of(sk->sk_family)->ops;
}

/**
 * smc_ops() - our operations, where there is no sock yet
 * @family: AF_INET or AF_INET6
 *
 * Return: the table, or NULL if the kernel does not have that family.
 */
const struct proto_ops *smc_ops(int family)
{
	return tables_of(family)->ops;
}

/**
 * smc_creating_prot() - the protocol that inet_create() is to be given
 * @family: AF_INET or AF_INET6
 *
 * Return: the protocol.
 */
struct proto *smc_creating_prot(int family)
{
	return &tables_of(family)->creating;
}

/**
 * smc_ops_are_ours() - has the socket not fallen back?
 * @sock: it
 *
 * Return: whether its operations are ours.
 */
bool smc_ops_are_ours(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);

	return ops == &ops4 || ops == &ops6;
}

/**
 * smc_ops_to_tcp() - the socket has TCP's operations from now on
 * @sock: it, with ours; its sock is locked
 *
 * Our caller may not be the last to use the module: smc_call_begin().
 */
void smc_ops_to_tcp(struct socket *sock)
{
	const struct proto_ops *ops = smc_ops_of_tcp(sock->sk);

	sock_owned_by_me(sock->sk);
	__module_get(ops->owner);
	WRITE_ONCE(sock->ops, ops);
	module_put(THIS_MODULE);
}

/**
 * smc_prot_to_smc() - the sock is in SMC mode from now on
 * @sk: it, locked
 */
void smc_prot_to_smc(struct sock *sk)
{
	WRITE_ONCE(sk->sk_prot, &tables_of(sk->sk_family)->smc_prot);
}

/**
 * smc_prot_to_tcp() - the sock is not in SMC mode any more
 * @sk: it, locked
 */
void smc_prot_to_tcp(struct sock *sk)
{
	if (READ_ONCE(sk->sk_prot) == &tables_of(sk->sk_family)->smc_prot)
		WRITE_ONCE(sk->sk_prot, tables_of(sk->sk_family)->tcp_prot);
}

/* Whatever asks for a sock in SMC mode by its struct proto finds no byte stream there */

static int refuse_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	return -EOPNOTSUPP;
}

/* But for the error queue, which is TCP's */
static int prot_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len)
{
	if (!(flags & MSG_ERRQUEUE))
		return -EOPNOTSUPP;
	return tables_of(sk->sk_family)->tcp_prot->recvmsg(sk, msg, len, flags, addr_len);
}

static int prot_amount(struct sock *sk, int cmd)
{
	struct smc_sock *smc;
	int amount = -ENOIOCTLCMD;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc)
		amount = smc_ioctl_amount(smc, cmd);
	release_sock(sk);
	return amount;
}

#ifdef SMC_HAVE_PROTO_IOCTL_KARG
static int prot_ioctl(struct sock *sk, int cmd, int *karg)
{
	int amount = prot_amount(sk, cmd);

	if (amount < 0)
		return amount;
	*karg = amount;
	return 0;
}
#else
static int prot_ioctl(struct sock *sk, int cmd, unsigned long arg)
{
	int amount = prot_amount(sk, cmd);

	/* io_uring wants the amount returned, where there is no pointer */
	if (amount < 0 || !arg)
		return amount;
	return put_user(amount, (int __user *)arg);
}
#endif

static bool prot_is_readable(struct sock *sk)
{
	struct smc_sock *smc;
	bool readable = false;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc && smc_sock_state(smc) == SMC_SOCK_ACTIVE)
		readable = smc_rx_readable(&smc->conn);
	rcu_read_unlock();
	return readable;
}

#ifdef CONFIG_BPF_SYSCALL
static int refuse_psock(struct sock *sk, struct sk_psock *psock, bool restore)
{
	return -EOPNOTSUPP;
}
#endif

static void fill_smc_prot(struct proto *prot, const struct proto *tcp)
{
	*prot = *tcp;
	prot->sendmsg = refuse_sendmsg;
	prot->recvmsg = prot_recvmsg;
	prot->ioctl = prot_ioctl;
	prot->sock_is_readable = prot_is_readable;
#ifdef CONFIG_BPF_SYSCALL
	prot->psock_update_sk_prot = refuse_psock;
#endif
	prot->diag_destroy = tcp->diag_destroy;
}

/* Else it is as net.core.busy_read says */
static void set_busy_poll(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	u32 us = READ_ONCE(smc_net(sock_net(sk))->knobs.busy_poll);

	if (us)
		WRITE_ONCE(sk->sk_ll_usec, us);
#endif
}

/* The copy that inet_create() was given has done its duty */
static int creating_init(struct sock *sk)
{
	struct proto *tcp = tables_of(sk->sk_family)->tcp_prot;

	sk->sk_prot_creator = tcp;
	sk->sk_prot = tcp;
	sk->sk_protocol = IPPROTO_TCP;
	set_busy_poll(sk);
	return tcp->init(sk);
}

static void fill_creating(struct proto *prot, const struct proto *tcp)
{
	*prot = *tcp;
	prot->init = creating_init;
}

static int smc_bind(struct socket *sock, struct sockaddr *addr, int addr_len)
{
	bool has_module = smc_call_begin();
	int err = smc_ops_of_tcp(sock->sk)->bind(sock, addr, addr_len);

	smc_call_end(has_module);
	return err;
}

static int smc_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	bool has_module = smc_call_begin();
	struct smc_sock *smc;
	bool ended;
	int len;

	rcu_read_lock();
	smc = smc_sk(sock->sk);
	/* The TCP connection is there until we close; 2 is from accept(), which returns all */
	ended = peer == 1 && smc && READ_ONCE(smc->state) == SMC_SOCK_ACTIVE &&
		smc_close_both_done(READ_ONCE(smc->conn.state));
	rcu_read_unlock();
	len = ended ? -ENOTCONN : smc_ops_of_tcp(sock->sk)->getname(sock, addr, peer);
	smc_call_end(has_module);
	return len;
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

static int smc_peek_len(struct socket *sock)
{
	struct smc_sock *smc;
	int len = 0;

	rcu_read_lock();
	smc = smc_sk(sock->sk);
	if (smc && smc_sock_state(smc) == SMC_SOCK_ACTIVE)
		len = smc_rx_available(&smc->conn);
	rcu_read_unlock();
	return len;
}

static const struct proto_ops *fill_ops(int family, const struct proto_ops *tcp)
{
	typeof(ops4) *ops = own[family == AF_INET6];

	*ops = *tcp;
	ops->owner = THIS_MODULE;
	ops->release = smc_release;
	ops->bind = smc_bind;
	ops->connect = smc_connect;
	ops->accept = smc_accept;
	ops->getname = smc_getname;
	ops->poll = smc_poll;
	ops->ioctl = smc_ioctl;
#ifdef CONFIG_COMPAT
	ops->compat_ioctl = NULL;	/* all of ours are the same */
#endif
	ops->listen = smc_listen;
	ops->shutdown = smc_shutdown;
	ops->setsockopt = smc_setsockopt;
	ops->getsockopt = smc_getsockopt;
#ifdef SMC_HAVE_GETSOCKOPT_ITER
	ops->getsockopt_iter = NULL;	/* the kernel calls getsockopt then */
#endif
	ops->sendmsg = smc_sendmsg;
	ops->recvmsg = smc_recvmsg;
	ops->set_rcvlowat = smc_set_rcvlowat;
	ops->mmap = sock_no_mmap;
	ops->splice_read = NULL;	/* by recvmsg */
#ifdef SMC_HAVE_SPLICE_EOF
	ops->splice_eof = NULL;
#endif
#ifdef SMC_HAVE_SENDPAGE
	ops->sendpage = sock_no_sendpage;
	ops->sendpage_locked = NULL;
#endif
	ops->read_sock = NULL;		/* kernel users see no bytes past us */
	ops->read_skb = NULL;
	ops->sendmsg_locked = NULL;
	ops->peek_len = smc_peek_len;
	return ops;
}

static int __init take_tables(struct tables *tables, int family)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	tables->tcp_ops = sock->ops;
	tables->tcp_prot = sock->sk->sk_prot;
	smc_tcp_data_ready = sock->sk->sk_data_ready;
	tables->ops = fill_ops(family, tables->tcp_ops);
	fill_creating(&tables->creating, tables->tcp_prot);
	fill_smc_prot(&tables->smc_prot, tables->tcp_prot);
	sock_release(sock);
	return 0;
}

/**
 * smc_tables_init() - take TCP's tables, and make ours
 *
 * Without IPv6 in the kernel, or where it is switched off, there is no SMC over it.
 *
 * Return: 0 or a negative errno.
 */
int __init smc_tables_init(void)
{
	int err = take_tables(&ipv4, AF_INET);

	if (err)
		return err;
	err = take_tables(&ipv6, AF_INET6);
	return err == -EAFNOSUPPORT ? 0 : err;
}

/**
 * smc_tables_exit() - wait for calls that are inside of the module
 *
 * There are no sockets with our operations any more, but calls that had begun when they fell
 * back may be between the entry of ours and their reference. May sleep.
 */
void smc_tables_exit(void)
{
	synchronize_rcu_tasks();
	while (calls_under_way())
		msleep(20);
	synchronize_rcu_tasks();
}
