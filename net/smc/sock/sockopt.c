// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket options. Those of level SOL_SOCKET are kept by both sockets: the outer
 * one acts on them, the inner one as well, and has them when it takes over. All
 * other levels belong to the inner socket.
 */

#include <linux/smc.h>
#include <linux/sockptr.h>
#include <linux/uaccess.h>
#include <net/tcp.h>

#include "../compat/compat.h"
#include "../conn/conn.h"
#include "sock.h"

#ifndef SOL_SMC
#define SOL_SMC	286
#endif

static void copy_buffer_sizes(struct sock *to, const struct sock *from)
{
	u8 locks = from->sk_userlocks & (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK);

	to->sk_userlocks |= locks;
	if (locks & SOCK_SNDBUF_LOCK)
		WRITE_ONCE(to->sk_sndbuf, from->sk_sndbuf);
	if (locks & SOCK_RCVBUF_LOCK)
		WRITE_ONCE(to->sk_rcvbuf, from->sk_rcvbuf);
}

/**
 * smc_sockopt_sync() - give the inner socket the options of the outer one
 * @smc: the socket
 *
 * For kernels that set options of level SOL_SOCKET behind our back. Called
 * before the inner socket is bound, connected, made to listen, or takes over. The
 * inner socket is not locked by the caller. May sleep.
 */
void smc_sockopt_sync(struct smc_sock *smc)
{
	const struct sock *from = &smc->sk;
	struct sock *to = smc->tcp->sk;
	bool keepalive;

	if (!SMC_COPIES_SOCKOPT || smc->listener)
		return;
	lock_sock(to);
	copy_buffer_sizes(to, from);
	to->sk_reuse = from->sk_reuse;
	to->sk_reuseport = from->sk_reuseport;
#ifdef CONFIG_NET_RX_BUSY_POLL
	to->sk_ll_usec = from->sk_ll_usec;
#endif
	to->sk_rcvtimeo = from->sk_rcvtimeo;
	to->sk_sndtimeo = from->sk_sndtimeo;
	to->sk_lingertime = from->sk_lingertime;
	to->sk_mark = from->sk_mark;
	if (from->sk_priority)		/* else it may be the inner socket's IP_TOS */
		to->sk_priority = from->sk_priority;
	if (from->sk_bound_dev_if)	/* else it may be bound by a scope id */
		to->sk_bound_dev_if = from->sk_bound_dev_if;
	keepalive = sock_flag(from, SOCK_KEEPOPEN);
	if (keepalive != sock_flag(to, SOCK_KEEPOPEN))
		to->sk_prot->keepalive(to, keepalive);
	to->sk_flags = (to->sk_flags & ~SMC_SOCK_FLAGS) | (from->sk_flags & SMC_SOCK_FLAGS);
	release_sock(to);
	smc_sockopt_stamps(smc);
}

/**
 * smc_sockopt_stamps() - give the inner socket the SO_TIMESTAMPING of the outer one
 * @smc: the socket
 *
 * For the same kernels. TCP numbers nothing (SOF_TIMESTAMPING_OPT_ID) before it is
 * connected, and does not take what asks for it. The inner socket is not locked by the
 * caller. May sleep.
 */
void smc_sockopt_stamps(struct smc_sock *smc)
{
	const struct sock *from = &smc->sk;
	int name = sock_flag(from, SOCK_TSTAMP_NEW) ? SO_TIMESTAMPING_NEW : SO_TIMESTAMPING_OLD;
	int flags = READ_ONCE(from->sk_tsflags);

	if (!SMC_COPIES_SOCKOPT || flags == READ_ONCE(smc->tcp->sk->sk_tsflags))
		return;
	if ((1 << inet_sk_state_load(smc->tcp->sk)) & (TCPF_CLOSE | TCPF_LISTEN))
		flags &= ~SOF_TIMESTAMPING_OPT_ID;
	sock_setsockopt(smc->tcp, SOL_SOCKET, name, KERNEL_SOCKPTR(&flags), sizeof(flags));
}

/**
 * smc_sockopt_pass_rcvlowat() - the inner socket takes over: it gets SO_RCVLOWAT
 * @smc: the socket, locked; the inner socket is not
 *
 * Until then the inner socket has none, because the mark would keep messages of the handshake
 * back. May sleep.
 */
void smc_sockopt_pass_rcvlowat(struct smc_sock *smc)
{
	struct sock *tcp = smc->tcp->sk;

	if (smc->sk.sk_rcvlowat == tcp->sk_rcvlowat)
		return;
	lock_sock(tcp);
	smc->tcp->ops->set_rcvlowat(tcp, smc->sk.sk_rcvlowat);
	release_sock(tcp);
}

static int set_smc(struct smc_sock *smc, int optname, sockptr_t optval, unsigned int optlen)
{
	int value;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	if (optlen < sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, optval, sizeof(value)))
		return -EFAULT;
	smc->limit_handshake = value;
	return 0;
}

/*
 * While a page of the program comes in, TCP owns the inner socket. With the outer one owned, too,
 * the work queue does not wait for that, see lock_or_postpone().
 */
static int set_inner(struct smc_sock *smc, int level, int optname, sockptr_t optval,
		     unsigned int optlen)
{
	struct socket *tcp = smc->tcp;

	sock_owned_by_me(&smc->sk);
	if (level == SOL_SOCKET)
		return sock_setsockopt(tcp, level, optname, optval, optlen);
	return tcp->ops->setsockopt(tcp, level, optname, optval, optlen);
}

static int lock_and_set_inner(struct smc_sock *smc, int level, int optname, sockptr_t optval,
			      unsigned int optlen)
{
	int err;

	lock_sock(&smc->sk);
	err = set_inner(smc, level, optname, optval, optlen);
	release_sock(&smc->sk);
	return err;
}

static int set_socket(struct smc_sock *smc, struct socket *sock, int optname,
		      sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = &smc->sk;
	int err;

	/* It would keep messages of the handshake back; the inner socket gets it at fallback */
	if (optname == SO_RCVLOWAT)
		return sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
	/* What TCP does not accept has no effect on the outer socket either */
	err = lock_and_set_inner(smc, SOL_SOCKET, optname, optval, optlen);
	if (err)
		return err;
	switch (optname) {
	case SO_REUSEPORT:	/* these act on TCP only, but can be read back */
		sk->sk_reuseport = smc->tcp->sk->sk_reuseport;
		return 0;
	case SO_ZEROCOPY:
		sock_valbool_flag(sk, SOCK_ZEROCOPY, sock_flag(smc->tcp->sk, SOCK_ZEROCOPY));
		return 0;
	case SO_ATTACH_FILTER:
	case SO_ATTACH_BPF:
	case SO_ATTACH_REUSEPORT_CBPF:
	case SO_ATTACH_REUSEPORT_EBPF:
	case SO_DETACH_FILTER:
	case SO_DETACH_REUSEPORT_BPF:
	case SO_LOCK_FILTER:
		return 0;
	}
	return sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
}

/**
 * smc_set_rcvlowat() - SO_RCVLOWAT: a smaller mark makes ready what is there
 * @sk: the socket, locked
 * @value: bytes
 *
 * Return: 0.
 */
int smc_set_rcvlowat(struct sock *sk, int value)
{
	struct smc_sock *smc = smc_sk(sk);

	WRITE_ONCE(sk->sk_rcvlowat, value ?: 1);
	if (smc->state == SMC_SOCK_ACTIVE && smc_rx_readable(&smc->conn))
		sk->sk_data_ready(sk);
	return 0;
}

/**
 * smc_sockopt_nagle() - follow TCP_NODELAY of the inner socket
 * @smc: the socket
 */
void smc_sockopt_nagle(struct smc_sock *smc)
{
	bool off = tcp_sk(smc->tcp->sk)->nonagle & TCP_NAGLE_OFF;

	WRITE_ONCE(smc->conn.tx.coalesce, !off);
	if (off && smc->state == SMC_SOCK_ACTIVE)
		smc_cdc_flush(&smc->conn);
}

static void count(struct smc_sock *smc, int optname)
{
	enum smc_stat stat = optname == TCP_CORK ? SMC_STAT_CORK : SMC_STAT_NODELAY;
	u8 bit = optname == TCP_CORK ? TCP_NAGLE_CORK : TCP_NAGLE_OFF;

	smc_sockopt_nagle(smc);
	if (smc->state == SMC_SOCK_ACTIVE && tcp_sk(smc->tcp->sk)->nonagle & bit)
		smc_conn_count(&smc->conn, stat, 1);
}

static int set_tcp_locked(struct smc_sock *smc, int optname, sockptr_t optval, unsigned int optlen)
{
	int err = set_inner(smc, SOL_TCP, optname, optval, optlen);

	if (err)
		return err;

	switch (optname) {
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_KEY:
	case TCP_FASTOPEN_NO_COOKIE:
		/* Data in the SYN, where the handshake would have to be */
		if (smc->state == SMC_SOCK_INIT)
			smc_fallback(smc, SMC_REASON_OPTION, 0);
		break;
	case TCP_INQ:
		WRITE_ONCE(smc->inq, tcp_sk(smc->tcp->sk)->recvmsg_inq);
		break;
	case TCP_CORK:
	case TCP_NODELAY:
		count(smc, optname);
		break;
	}
	return 0;
}

static int set_tcp(struct smc_sock *smc, int optname, sockptr_t optval, unsigned int optlen)
{
	int err;

	if (optname == TCP_ULP)
		return -EOPNOTSUPP;
	lock_sock(&smc->sk);
	err = set_tcp_locked(smc, optname, optval, optlen);
	release_sock(&smc->sk);
	return err;
}

/**
 * smc_setsockopt() - the setsockopt system call, for all levels
 * @sock: the socket
 * @level: level
 * @optname: option
 * @optval: value
 * @optlen: its length
 *
 * Return: as TCP; -EOPNOTSUPP for what would change the stream below us.
 */
int smc_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
		   unsigned int optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->tcp;

	if (smc_sock_is_tcp(smc)) {
		if (level == SOL_SOCKET)
			return sock_setsockopt(tcp, level, optname, optval, optlen);
		return tcp->ops->setsockopt(tcp, level, optname, optval, optlen);
	}
	switch (level) {
	case SOL_SMC:
		return set_smc(smc, optname, optval, optlen);
	case SOL_SOCKET:
		return set_socket(smc, sock, optname, optval, optlen);
	case SOL_TCP:
		return set_tcp(smc, optname, optval, optlen);
	default:
		return lock_and_set_inner(smc, level, optname, optval, optlen);
	}
}

static int get_smc(const struct smc_sock *smc, int optname, char __user *optval,
		   int __user *optlen)
{
	int value = smc->limit_handshake;
	int len;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = min_t(unsigned int, len, sizeof(value));
	if (put_user(len, optlen) || copy_to_user(optval, &value, len))
		return -EFAULT;
	return 0;
}

/**
 * smc_getsockopt() - the getsockopt system call, for all levels but SOL_SOCKET
 * @sock: the socket
 * @level: level
 * @optname: option
 * @optval: where the value goes
 * @optlen: space there; the length of the value
 *
 * Return: as TCP.
 */
int smc_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
		   int __user *optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->tcp;
	int err;

	if (smc_sock_is_tcp(smc))
		return tcp->ops->getsockopt(tcp, level, optname, optval, optlen);
	if (level == SOL_SMC)
		return get_smc(smc, optname, optval, optlen);
	lock_sock(&smc->sk);	/* as set_inner() */
	err = tcp->ops->getsockopt(tcp, level, optname, optval, optlen);
	release_sock(&smc->sk);
	return err;
}
