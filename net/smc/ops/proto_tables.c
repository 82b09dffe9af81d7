// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in SMC's tables of operations; sock/proto.c gives them to sockets.
 *
 * SMC's tables are copies of TCP's with SMC's function for each member that would reach TCP's byte
 * stream. Each build compares the members with proto_tables.txt (scripts/check-kernel), and refuses
 * a kernel that has others. TCP's tables are taken from a live socket, because not all kernels
 * export all of them.
 */

#include <linux/module.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include "../compat/compat.h"
#include "../listen/listen.h"
#include "ops.h"

/* A caller of the struct proto of a sock in SMC mode finds no byte stream */

static int refuse_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	return -EOPNOTSUPP;
}

/* Only the error queue, which is TCP's */
static int receive_error_queue(struct sock *sk, struct msghdr *msg, size_t len, int flags,
			       int *addr_len)
{
	if (!(flags & MSG_ERRQUEUE))
		return -EOPNOTSUPP;
	return smc_proto_tables(sk->sk_family)->tcp_prot->recvmsg(sk, msg, len, flags, addr_len);
}

static int get_ioctl_amount(struct sock *sk, int cmd)
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
static int answer_prot_ioctl(struct sock *sk, int cmd, int *karg)
{
	int amount = get_ioctl_amount(sk, cmd);

	if (amount < 0)
		return amount;
	*karg = amount;
	return 0;
}
#else
static int answer_prot_ioctl(struct sock *sk, int cmd, unsigned long arg)
{
	int amount = get_ioctl_amount(sk, cmd);

	/* io_uring has no pointer, and wants the amount returned */
	if (amount < 0 || !arg)
		return amount;
	return put_user(amount, (int __user *)arg);
}
#endif

static bool is_sock_readable(struct sock *sk)
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
	prot->recvmsg = receive_error_queue;
	prot->ioctl = answer_prot_ioctl;
	prot->sock_is_readable = is_sock_readable;
#ifdef CONFIG_BPF_SYSCALL
	prot->psock_update_sk_prot = refuse_psock;
#endif
}

/* Without the sysctl net.core.busy_read applies */
static void set_busy_poll(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	u32 us = READ_ONCE(smc_net(sock_net(sk))->knobs.busy_poll);

	if (us)
		WRITE_ONCE(sk->sk_ll_usec, us);
#endif
}

/* inet_create() has used the copy; the sock gets TCP's protocol */
static int init_created_sock(struct sock *sk)
{
	struct proto *tcp = smc_proto_tables(sk->sk_family)->tcp_prot;

	sk->sk_prot_creator = tcp;
	sk->sk_prot = tcp;
	sk->sk_protocol = IPPROTO_TCP;
	set_busy_poll(sk);
	return tcp->init(sk);
}

static void fill_creating_prot(struct proto *prot, const struct proto *tcp)
{
	*prot = *tcp;
	prot->init = init_created_sock;
}

static int bind_sock(struct socket *sock, struct sockaddr *addr, int addr_len)
{
	bool has_module = smc_call_begin();
	int err = smc_ops_of_tcp(sock->sk)->bind(sock, addr, addr_len);

	smc_call_end(has_module);
	return err;
}

#ifdef SMC_HAVE_PROTO_ACCEPT_ARG
static int accept_sock(struct socket *sock, struct socket *newsock, struct proto_accept_arg *arg)
{
	arg->err = smc_accept(sock, newsock, arg->flags);
	return arg->err;
}
#else
static int accept_sock(struct socket *sock, struct socket *newsock, int flags, bool kern)
{
	return smc_accept(sock, newsock, flags);
}
#endif

static int peek_sock_len(struct socket *sock)
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

static const struct proto_ops *fill_smc_ops(int family, const struct proto_ops *tcp)
{
	typeof(smc_proto_ipv4.smc_ops) *ops = &smc_proto_tables(family)->smc_ops;

	*ops = *tcp;
	ops->owner = THIS_MODULE;
	ops->release = smc_release;
	ops->bind = bind_sock;
	ops->connect = smc_connect;
	ops->accept = accept_sock;
	ops->getname = smc_getname;
	ops->poll = smc_poll;
	ops->ioctl = smc_ioctl;
#ifdef CONFIG_COMPAT
	ops->compat_ioctl = NULL;	/* SMC's are the same */
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
	ops->splice_read = smc_splice_read;
#ifdef SMC_HAVE_SPLICE_EOF
	ops->splice_eof = NULL;
#endif
#ifdef SMC_HAVE_SENDPAGE
	ops->sendpage = sock_no_sendpage;
	ops->sendpage_locked = NULL;
#endif
	ops->read_sock = NULL;		/* kernel users see no bytes of TCP */
	ops->read_skb = NULL;
	ops->sendmsg_locked = NULL;
	ops->peek_len = peek_sock_len;
	return ops;
}

static int __init fill_tables(struct smc_proto_tables *tables, int family)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	tables->tcp_ops = sock->ops;
	tables->tcp_prot = sock->sk->sk_prot;
	smc_tcp_data_ready = sock->sk->sk_data_ready;
	tables->ops = fill_smc_ops(family, tables->tcp_ops);
	fill_creating_prot(&tables->creating, tables->tcp_prot);
	fill_smc_prot(&tables->smc_prot, tables->tcp_prot);
	sock_release(sock);
	return 0;
}

/*
 * Take TCP's tables, and fill SMC's. Without IPv6 in the kernel, or where it is switched off, there
 * is no SMC over IPv6.
 *
 * Return: 0 or a negative errno.
 */
int __init smc_proto_tables_init(void)
{
	int err = fill_tables(&smc_proto_ipv4, AF_INET);

	if (err)
		return err;
	err = fill_tables(&smc_proto_ipv6, AF_INET6);
	return err == -EAFNOSUPPORT ? 0 : err;
}
