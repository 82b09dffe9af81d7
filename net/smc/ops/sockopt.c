// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket options. TCP keeps them. An option that would reach TCP's byte stream is refused while
 * there is an SMC connection, or a handshake; before that it makes the socket a TCP socket.
 */

#include <linux/smc.h>
#include <linux/sockptr.h>
#include <linux/uaccess.h>
#include <net/tcp.h>

#include "ops.h"

#ifndef SOL_SMC
#define SOL_SMC	286
#endif

/* Return: the struct, created if necessary, or NULL without memory. */
static struct smc_sock *get_or_create_sock(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc)
		return smc;
	smc = smc_sock_create(sk, GFP_KERNEL_ACCOUNT);
	if (!smc)
		return NULL;
	smc_sock_attach(smc);
	smc_conn_put(&smc->conn);
	return smc_sk(sk);
}

static int set_smc_option_locked(struct socket *sock, int value)
{
	struct smc_sock *smc;

	if (!smc_ops_are_smc(sock))
		return -ENOPROTOOPT;	/* as TCP */
	smc = get_or_create_sock(sock->sk);
	if (!smc)
		return -ENOBUFS;
	smc->limit_handshake = value;
	return 0;
}

static int set_smc_option(struct socket *sock, int optname, sockptr_t optval, unsigned int optlen)
{
	int value, err;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	if (optlen < sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, optval, sizeof(value)))
		return -EFAULT;
	lock_sock(sock->sk);
	err = set_smc_option_locked(sock, value);
	release_sock(sock->sk);
	return err;
}

static void follow_nagle_option(struct sock *sk, int optname)
{
	enum smc_stat stat = optname == TCP_CORK ? SMC_STAT_CORK : SMC_STAT_NODELAY;
	u8 bit = optname == TCP_CORK ? TCP_NAGLE_CORK : TCP_NAGLE_OFF;
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc && smc->state == SMC_SOCK_ACTIVE) {
		smc_sock_follow_nagle(smc);
		if (tcp_sk(sk)->nonagle & bit)
			smc_conn_count(&smc->conn, stat, 1);
	}
	release_sock(sk);
}

static void follow_user_timeout(struct sock *sk)
{
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc && smc->state == SMC_SOCK_ACTIVE)
		smc_stall_follow_option(&smc->conn);
	release_sock(sk);
}

/*
 * May TCP see the option? An option that needs the byte stream, or the SYN, makes a new socket a
 * TCP socket before TCP sees it: kTLS copies the operations of the first socket that asks for it.
 */
static int check_byte_stream_locked(struct socket *sock, int error)
{
	const struct smc_sock *smc = smc_sk(sock->sk);

	if (!smc_ops_are_smc(sock))
		return 0;
	/* While listen() runs without the lock, TCP listens and smc->state is SMC_SOCK_INIT */
	if ((!smc || smc->state == SMC_SOCK_INIT) && sock->sk->sk_state != TCP_LISTEN) {
		smc_fallback_unconnected(sock, SMC_REASON_OPTION);
		return 0;
	}
	if (smc && smc->state == SMC_SOCK_ACTIVE)
		return error;
	return -ENOTCONN;
}

static int check_byte_stream(struct socket *sock, int error)
{
	int err;

	lock_sock(sock->sk);
	err = check_byte_stream_locked(sock, error);
	release_sock(sock->sk);
	return err;
}

/*
 * Programs ask for "mptcp" to find out what a socket is: TCP refuses it on every socket that the
 * kernel has not created for itself, and does not change the socket. So must this module. TCP gets
 * the name that was tested, since the program may change its own copy meanwhile.
 */
static int set_tcp_ulp(struct socket *sock, sockptr_t optval, unsigned int optlen)
{
	char name[TCP_ULP_NAME_MAX];
	long len;
	int err;

	if (optlen < 1)
		return -EINVAL;
	len = strncpy_from_sockptr(name, optval, min_t(long, sizeof(name) - 1, optlen));
	if (len < 0)
		return -EFAULT;
	name[len] = '\0';
	if (strcmp(name, "mptcp") || sock->sk->sk_kern_sock) {
		err = check_byte_stream(sock, -EOPNOTSUPP);
		if (err)
			return err;
	}
	return smc_ops_of_tcp(sock->sk)->setsockopt(sock, SOL_TCP, TCP_ULP, KERNEL_SOCKPTR(name),
						    sizeof(name));
}

/* Data in the SYN, where the handshake would have to be */
static void fall_back_for_fastopen(struct socket *sock)
{
	const struct smc_sock *smc;

	lock_sock(sock->sk);
	smc = smc_sk(sock->sk);
	if (smc_ops_are_smc(sock) && sock->state == SS_UNCONNECTED &&
	    sock->sk->sk_state == TCP_CLOSE && (!smc || smc->state == SMC_SOCK_INIT))
		smc_fallback_unconnected(sock, SMC_REASON_OPTION);
	release_sock(sock->sk);
}

static int set_tcp_option(struct socket *sock, int optname, sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = sock->sk;
	int err = 0;

	if (optname == TCP_ULP)
		return set_tcp_ulp(sock, optval, optlen);
	if (optname == TCP_REPAIR)
		err = check_byte_stream(sock, -EPERM);
	if (!err)
		err = smc_ops_of_tcp(sk)->setsockopt(sock, SOL_TCP, optname, optval, optlen);
	if (err)
		return err;
	switch (optname) {
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_KEY:
	case TCP_FASTOPEN_NO_COOKIE:
		fall_back_for_fastopen(sock);
		break;
	case TCP_CORK:
	case TCP_NODELAY:
		follow_nagle_option(sk, optname);
		break;
	case TCP_USER_TIMEOUT:
		follow_user_timeout(sk);
		break;
	}
	return 0;
}

/* A TCP connection has TCP's operations; every other socket is refused */
static int check_addrform(struct socket *sock)
{
	const struct smc_sock *smc;
	int err = 0;

	lock_sock(sock->sk);
	smc = smc_sk(sock->sk);
	if (smc_ops_are_smc(sock))
		err = smc && smc->state == SMC_SOCK_ACTIVE ? -EOPNOTSUPP : -ENOTCONN;
	release_sock(sock->sk);
	return err;
}

/*
 * TCP would replace the SMC operations by those of IPv4. It takes the socket lock only after
 * check_addrform() has released it, and another thread may connect the socket in between. So TCP
 * gets the request only after a fallback, which is final. The value is read here, because the
 * program may delay the page without limit.
 */
static int set_addrform(struct socket *sock, sockptr_t optval, unsigned int optlen)
{
	int family, err;

	if (optlen < sizeof(family))
		return -EINVAL;
	if (copy_from_sockptr(&family, optval, sizeof(family)))
		return -EFAULT;
	err = family == PF_INET ? check_addrform(sock) : -EINVAL;
	if (err)
		return err;
	return smc_ops_of_tcp(sock->sk)->setsockopt(sock, SOL_IPV6, IPV6_ADDRFORM,
						    KERNEL_SOCKPTR(&family), sizeof(family));
}

/*
 * The setsockopt system call, for all levels but SOL_SOCKET. Return: as TCP; -EOPNOTSUPP for an
 * option that would change the byte stream below SMC.
 */
int smc_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
		   unsigned int optlen)
{
	bool has_module = smc_call_begin();
	int err;

	switch (level) {
	case SOL_SMC:
		err = set_smc_option(sock, optname, optval, optlen);
		break;
	case SOL_TCP:
		err = set_tcp_option(sock, optname, optval, optlen);
		break;
	case SOL_IPV6:
		if (optname == IPV6_ADDRFORM && READ_ONCE(sock->sk->sk_family) == AF_INET6) {
			err = set_addrform(sock, optval, optlen);
			break;
		}
		fallthrough;
	default:
		err = smc_ops_of_tcp(sock->sk)->setsockopt(sock, level, optname, optval, optlen);
	}
	smc_call_end(has_module);
	return err;
}

static int get_smc_option(struct sock *sk, int optname, char __user *optval, int __user *optlen)
{
	const struct smc_sock *smc;
	int value, len;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	rcu_read_lock();
	smc = smc_sk(sk);
	value = smc && smc->limit_handshake;
	rcu_read_unlock();
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = min_t(unsigned int, len, sizeof(value));
	if (put_user(len, optlen) || copy_to_user(optval, &value, len))
		return -EFAULT;
	return 0;
}

/* The getsockopt system call, for all levels but SOL_SOCKET. Return: as TCP. */
int smc_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
		   int __user *optlen)
{
	bool has_module = smc_call_begin();
	int err;

	if (level == SOL_SMC)
		err = get_smc_option(sock->sk, optname, optval, optlen);
	else if (level == SOL_TCP && optname == TCP_ZEROCOPY_RECEIVE && smc_ops_are_smc(sock))
		err = -EINVAL;	/* the program has no bytes of TCP */
	else if (level == SOL_TCP && optname == TCP_INFO)
		err = smc_get_tcp_info(sock->sk, optval, optlen);
	else
		err = smc_ops_of_tcp(sock->sk)->getsockopt(sock, level, optname, optval, optlen);
	smc_call_end(has_module);
	return err;
}
