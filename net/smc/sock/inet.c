// SPDX-License-Identifier: GPL-2.0-only
/* socket(AF_INET or AF_INET6, SOCK_STREAM, IPPROTO_SMC): the same socket by another name */

#include <linux/in.h>
#include <linux/module.h>
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
	.obj_size	= sizeof(struct smc_sock),
};

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
	.obj_size	= sizeof(struct inet6_smc_sock),
	SMC_PROTO_IPV6_PINFO(struct inet6_smc_sock, np)
};

static struct inet_protosw inet6_smc_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &inet6_smc_proto,
	.ops		= &smc_sock_ops,
};

static int inet6_init(void)
{
	int err = proto_register(&inet6_smc_proto, 1);

	if (err)
		return err;
	err = inet6_register_protosw(&inet6_smc_protosw);
	if (err)
		proto_unregister(&inet6_smc_proto);
	return err;
}

static void inet6_exit(void)
{
	inet6_unregister_protosw(&inet6_smc_protosw);
	proto_unregister(&inet6_smc_proto);
}
#else
static int inet6_init(void)
{
	return 0;
}

static void inet6_exit(void)
{
}
#endif

/**
 * smc_inet_init() - register IPPROTO_SMC
 *
 * Return: 0 or a negative errno.
 */
int smc_inet_init(void)
{
	int err;

	err = proto_register(&inet_smc_proto, 1);
	if (err)
		return err;
	inet_register_protosw(&inet_smc_protosw);
	err = inet6_init();
	if (err)
		goto err_inet;
	return 0;

err_inet:
	inet_unregister_protosw(&inet_smc_protosw);
	proto_unregister(&inet_smc_proto);
	return err;
}

/** smc_inet_exit() - undo smc_inet_init(); there are no sockets any more */
void smc_inet_exit(void)
{
	inet6_exit();
	inet_unregister_protosw(&inet_smc_protosw);
	proto_unregister(&inet_smc_proto);
}
