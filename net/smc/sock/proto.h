/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tables of operations a socket has, TCP's or SMC's; and calls that are in the module */
#ifndef _NET_SMC_SOCK_PROTO_H
#define _NET_SMC_SOCK_PROTO_H

#include <linux/net.h>
#include <linux/socket.h>
#include <net/sock.h>

/**
 * struct smc_proto_tables - the tables of one address family
 * @tcp_ops: TCP's operations
 * @tcp_prot: TCP's protocol
 * @ops: @smc_ops, NULL if the kernel does not have this family
 * @creating: protocol for inet_create(); its init replaces it by TCP's
 * @smc_prot: protocol in SMC mode
 * @smc_ops: SMC's operations
 */
struct smc_proto_tables {
	const struct proto_ops *tcp_ops;
	struct proto *tcp_prot;
	const struct proto_ops *ops;
	struct proto creating;
	struct proto smc_prot;
	struct proto_ops smc_ops;
};

extern struct smc_proto_tables smc_proto_ipv4, smc_proto_ipv6;

static inline struct smc_proto_tables *smc_proto_tables(int family)
{
	return family == AF_INET6 ? &smc_proto_ipv6 : &smc_proto_ipv4;
}

struct proto *smc_prot_for_creation(int family);
const struct proto_ops *smc_ops_of_family(int family);
const struct proto_ops *smc_ops_of_tcp(const struct sock *sk);
bool smc_ops_are_smc(const struct socket *sock);
void smc_ops_to_tcp(struct socket *sock);
void smc_prot_to_smc(struct sock *sk);
void smc_prot_to_tcp(struct sock *sk);

/* The module stays while a call is in it */
void smc_call_enter(void);
void smc_call_leave(void);
bool smc_call_begin(void);
void smc_call_end(bool has_module);
void smc_proto_exit(void);

#endif /* _NET_SMC_SOCK_PROTO_H */
