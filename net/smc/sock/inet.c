// SPDX-License-Identifier: GPL-2.0-only
/* socket(AF_INET or AF_INET6, SOCK_STREAM, IPPROTO_SMC): the same socket by another name */

#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/transp_v6.h>

#include "../compat/compat.h"
#include "sock.h"

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

/**
 * struct inet6_smc_sock - what generic IPv6 code expects at the end of a socket
 * @smc: the socket
 * @np: IPv6 part
 */
struct inet6_smc_sock {
	struct smc_sock smc;
	struct ipv6_pinfo np;
};

/* The generic code has created the socket, and destroys it if this fails */
static int inet_smc_init(struct sock *sk)
{
	smc_sock_setup(sk->sk_socket, sk);
	return smc_sock_create_tcp(sk, sk->sk_family);
}

/**
 * smc_inet_child() - a child has what generic code has given its parent
 * @sk: the child, as sk_alloc() left it
 */
void smc_inet_child(struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_smc_sock *child = container_of(smc_sk(sk), struct inet6_smc_sock, smc);

	if (sk->sk_family == AF_INET6)
		inet_sk(sk)->pinet6 = &child->np;
#endif
}

/**
 * smc_inet_destruct() - give back what generic code and security modules have left there
 * @sk: the socket; nobody uses it any more
 *
 * NetLabel gives a socket IP options when it is created.
 */
void smc_inet_destruct(struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		inet6_cleanup_sock(sk);
#endif
	if (sk->sk_family != PF_SMC)
		kfree(rcu_dereference_protected(inet_sk(sk)->inet_opt, 1));
}

/* The generic code gave up after inet_smc_init() */
static void inet_smc_destroy(struct sock *sk)
{
	smc_tcp_release(smc_sk(sk), false);
}

static void inet_smc_unhash(struct sock *sk)
{
}

static struct proto inet_smc_proto = {
	.name		= "INET_SMC",
	.owner		= THIS_MODULE,
	.init		= inet_smc_init,
	.destroy	= inet_smc_destroy,
	.unhash		= inet_smc_unhash,
	.release_cb	= smc_sock_released,
	.obj_size	= sizeof(struct smc_sock),
	SMC_PROTO_MEMORY
};

static bool is_registered;

/* Without INET_PROTOSW_ICSK: generic code would take struct smc_sock for a connection socket */
static struct inet_protosw inet_smc_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &inet_smc_proto,
	.ops		= &smc_sock_ops,
};

#if IS_ENABLED(CONFIG_IPV6)
static struct proto inet6_smc_proto = {
	.name		= "INET6_SMC",
	.owner		= THIS_MODULE,
	.init		= inet_smc_init,
	.destroy	= inet_smc_destroy,
	.unhash		= inet_smc_unhash,
	.release_cb	= smc_sock_released,
	.obj_size	= sizeof(struct inet6_smc_sock),
	SMC_PROTO_MEMORY
	SMC_PROTO_IPV6_PINFO(struct inet6_smc_sock, np)
};

static bool inet6_registered;

static struct inet_protosw inet6_smc_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &inet6_smc_proto,
	.ops		= &smc_sock_ops,
};

static int inet6_init(void)
{
	return proto_register(&inet6_smc_proto, 1);
}

static void inet6_register(void)
{
	int err = inet6_register_protosw(&inet6_smc_protosw);

	if (err)	/* a permanent protocol has the number */
		pr_warn("smc: no IPPROTO_SMC for IPv6: error %d\n", err);
	inet6_registered = !err;
}

static void inet6_exit(void)
{
	if (inet6_registered)
		inet6_unregister_protosw(&inet6_smc_protosw);
	proto_unregister(&inet6_smc_proto);
}
#else
static int inet6_init(void)
{
	return 0;
}

static void inet6_register(void)
{
}

static void inet6_exit(void)
{
}
#endif

/**
 * smc_inet_init() - prepare IPPROTO_SMC
 *
 * Return: 0 or a negative errno.
 */
int smc_inet_init(void)
{
	int err;

	err = proto_register(&inet_smc_proto, 1);
	if (err)
		return err;
	err = inet6_init();
	if (err)
		proto_unregister(&inet_smc_proto);
	return err;
}

/** smc_inet_register() - from now on there are sockets of IPPROTO_SMC; does not fail */
void smc_inet_register(void)
{
	inet_register_protosw(&inet_smc_protosw);
	inet6_register();
	is_registered = true;
}

/** smc_inet_exit() - undo both; there are no sockets any more */
void smc_inet_exit(void)
{
	if (is_registered)
		inet_unregister_protosw(&inet_smc_protosw);
	inet6_exit();
	proto_unregister(&inet_smc_proto);
}
