// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket(): TCP sockets with SMC's operations, by IPPROTO_SMC and by the family AF_SMC. The module
 * adds nothing else before connect() or listen().
 */

#include <linux/in.h>
#include <linux/module.h>
#include <linux/smc.h>
#include <net/inet_common.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "proto.h"
#include "sock.h"

#define SMCPROTO_SMC	0	/* addresses are IPv4 */
#define SMCPROTO_SMC6	1	/* addresses are IPv6 */

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

static bool is_registered, is_registered6;

static struct inet_protosw protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.flags		= INET_PROTOSW_ICSK,
};

static struct inet_protosw protosw6 = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.flags		= INET_PROTOSW_ICSK,
};

/* Give the sock to another struct socket; @from is empty then */
static void move_sock(struct socket *from, struct socket *to)
{
	struct sock *sk = from->sk;

	lock_sock(sk);
	from->sk = NULL;
	to->ops = from->ops;
	to->flags |= from->flags & BIT(SOCK_SUPPORT_ZC);
	sock_graft(sk, to);
	release_sock(sk);
}

static int create_by_family(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct socket *helper;
	int err;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCPROTO_SMC && protocol != SMCPROTO_SMC6)
		return -EPROTONOSUPPORT;
	err = __sock_create(net, protocol == SMCPROTO_SMC6 ? PF_INET6 : PF_INET, SOCK_STREAM,
			    IPPROTO_SMC, &helper, kern);
	if (err)
		return err;
	move_sock(helper, sock);
	sock_release(helper);
	return 0;
}

static const struct net_proto_family family = {
	.family	= PF_SMC,
	.owner	= THIS_MODULE,
	.create	= create_by_family,
};

/* Register the family, and let TCP negotiate SMC. Return: 0 or a negative errno. */
int __init smc_create_init(void)
{
	int err = sock_register(&family);

	if (err)
		return err;
	static_branch_enable(&tcp_have_smc);
	return 0;
}

/* From now on programs can create sockets of IPPROTO_SMC. Does not fail. */
void __init smc_create_register(void)
{
	protosw.prot = smc_prot_for_creation(AF_INET);
	protosw.ops = smc_ops_of_family(AF_INET);
	inet_register_protosw(&protosw);
	is_registered = true;
#if IS_ENABLED(CONFIG_IPV6)
	if (smc_ops_of_family(AF_INET6)) {
		protosw6.prot = smc_prot_for_creation(AF_INET6);
		protosw6.ops = smc_ops_of_family(AF_INET6);
		is_registered6 = !inet6_register_protosw(&protosw6);
		if (!is_registered6)	/* a permanent protocol has the number */
			pr_warn("smc: no IPPROTO_SMC for IPv6\n");
	}
#endif
}

/* Undo smc_create_register() */
void smc_create_unregister(void)
{
	if (is_registered)
		inet_unregister_protosw(&protosw);
#if IS_ENABLED(CONFIG_IPV6)
	if (is_registered6)
		inet6_unregister_protosw(&protosw6);
#endif
}

/* Undo smc_create_init() */
void smc_create_exit(void)
{
	static_branch_disable(&tcp_have_smc);
	sock_unregister(PF_SMC);
}
