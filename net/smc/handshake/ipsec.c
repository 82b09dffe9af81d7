// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data in shared memory is not encrypted. A connection whose packets IPsec would protect must not
 * use SMC (R-TCP-11, V2-ELG-06).
 *
 * The route lookup applies the IPsec policies, so the route of a connection shows whether a policy
 * matched. A client has no route before its SYN and looks one up.
 */

#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "ipsec.h"

/* Does the route have a transformation, or does it wait for one to be negotiated? */
static bool is_protected(const struct dst_entry *dst)
{
	return dst_xfrm(dst) || dst->flags & DST_XFRM_QUEUE;
}

/**
 * smc_ipsec_used() - does IPsec protect this connection?
 * @tcp: a connected TCP socket
 */
bool smc_ipsec_used(struct sock *tcp)
{
	struct dst_entry *dst = sk_dst_get(tcp);
	bool used = dst && is_protected(dst);

	dst_release(dst);
	return used;
}

static bool has_policies(const struct sock *tcp)
{
#ifdef CONFIG_XFRM
	return sock_net(tcp)->xfrm.policy_count[XFRM_POLICY_OUT] ||
	       rcu_access_pointer(tcp->sk_policy[XFRM_POLICY_OUT]);
#else
	return false;
#endif
}

/* Return: NULL if no route exists or the policy blocks it; TCP reports the error */
static struct dst_entry *look_up_route4(struct sock *tcp, __be32 daddr, __be16 dport)
{
	const struct inet_sock *inet = inet_sk(tcp);
	struct flowi4 flow = {
		.flowi4_oif	= tcp->sk_bound_dev_if,
		.flowi4_mark	= READ_ONCE(tcp->sk_mark),
		.flowi4_tos	= RT_TOS(inet->tos),
		.flowi4_proto	= IPPROTO_TCP,
		.flowi4_flags	= inet_sk_flowi_flags(tcp),
		.flowi4_uid	= tcp->sk_uid,
		.daddr		= daddr,
		.saddr		= inet->inet_saddr,
		.fl4_dport	= dport,
		.fl4_sport	= inet->inet_sport,
	};
	struct rtable *route;

	security_sk_classify_flow(tcp, flowi4_to_flowi_common(&flow));
	route = ip_route_output_flow(sock_net(tcp), &flow, tcp);
	return IS_ERR(route) ? NULL : &route->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *look_up_route6(struct sock *tcp, const struct sockaddr_in6 *addr)
{
	const struct ipv6_pinfo *np = inet6_sk(tcp);
	struct flowi6 flow = {
		.flowi6_oif	= tcp->sk_bound_dev_if,
		.flowi6_mark	= READ_ONCE(tcp->sk_mark),
		.flowi6_proto	= IPPROTO_TCP,
		.flowi6_uid	= tcp->sk_uid,
		.daddr		= addr->sin6_addr,
		.saddr		= np->saddr,
		.fl6_dport	= addr->sin6_port,
		.fl6_sport	= inet_sk(tcp)->inet_sport,
	};
	struct dst_entry *dst;

	if (!flow.flowi6_oif && ipv6_addr_type(&addr->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		flow.flowi6_oif = addr->sin6_scope_id;
	security_sk_classify_flow(tcp, flowi6_to_flowi_common(&flow));
	dst = ipv6_stub->ipv6_dst_lookup_flow(sock_net(tcp), tcp, &flow, NULL);
	return IS_ERR(dst) ? NULL : dst;
}

static struct dst_entry *look_up_route(struct sock *tcp, const struct sockaddr *addr, int addr_len)
{
	const struct sockaddr_in6 *addr6 = (const struct sockaddr_in6 *)addr;

	/* TCP rejects these addresses later; an IPv4 socket has no struct ipv6_pinfo */
	if (tcp->sk_family != AF_INET6 || addr->sa_family != AF_INET6 ||
	    addr_len < SIN6_LEN_RFC2133)
		return NULL;
	if (ipv6_addr_v4mapped(&addr6->sin6_addr))
		return look_up_route4(tcp, addr6->sin6_addr.s6_addr32[3], addr6->sin6_port);
	return look_up_route6(tcp, addr6);
}
#else
static struct dst_entry *look_up_route(struct sock *tcp, const struct sockaddr *addr, int addr_len)
{
	return NULL;
}
#endif

/**
 * smc_ipsec_expected() - would IPsec protect a connection to this address?
 * @tcp: TCP socket that is about to connect
 * @addr: destination; TCP validates it later
 * @addr_len: its length, at least sizeof(sa_family_t)
 *
 * The result can be wrong for policies that match the client's port; smc_ipsec_used() then detects
 * IPsec during the handshake. May sleep.
 */
bool smc_ipsec_expected(struct sock *tcp, const struct sockaddr *addr, int addr_len)
{
	const struct sockaddr_in *addr4 = (const struct sockaddr_in *)addr;
	struct dst_entry *dst;
	bool expected;

	if (!has_policies(tcp))
		return false;
	if (addr->sa_family == AF_INET && addr_len >= (int)sizeof(*addr4))
		dst = look_up_route4(tcp, addr4->sin_addr.s_addr, addr4->sin_port);
	else
		dst = look_up_route(tcp, addr, addr_len);
	expected = dst && is_protected(dst);
	dst_release(dst);
	return expected;
}
