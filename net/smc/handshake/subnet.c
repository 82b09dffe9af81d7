// SPDX-License-Identifier: GPL-2.0-only
/*
 * IP subnets. SMC version 1 requires that both peers are in one subnet (RFC 7609, 3.5.1.2;
 * V2-ELG-01).
 *
 * Each side uses the interface of its end of the TCP connection. The loopback interface is in no
 * subnet: its addresses do not tell where the peer is.
 */

#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>

#include "handshake.h"

/**
 * smc_subnet_is_ipv4() - does the connection use IPv4, maybe with mapped addresses?
 * @tcp: a connected TCP socket
 */
bool smc_subnet_is_ipv4(const struct sock *tcp)
{
#if IS_ENABLED(CONFIG_IPV6)
	return tcp->sk_family == AF_INET || ipv6_addr_v4mapped(&tcp->sk_v6_daddr);
#else
	return true;
#endif
}

/**
 * smc_subnet_remote() - the peer's address
 * @tcp: a connected TCP socket
 * @out: result; IPv4 as ::ffff:a.b.c.d
 */
void smc_subnet_remote(const struct sock *tcp, struct in6_addr *out)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6) {
		*out = tcp->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(tcp->sk_daddr, out);
}

/* The subnet that contains @addr. The caller holds rcu_read_lock() */
static bool describe_ipv4(const struct net_device *dev, __be32 addr, struct smc_clc_subnet *out)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (!inet_ifa_match(addr, ifa))
			continue;
		out->ipv4 = ifa->ifa_address & ifa->ifa_mask;
		out->ipv4_len = ifa->ifa_prefixlen;
		return true;
	}
	return false;
}

static bool shares_ipv4(const struct net_device *dev, const struct smc_clc_subnet *peer)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_prefixlen == peer->ipv4_len &&
		    (ifa->ifa_address & ifa->ifa_mask) == peer->ipv4)
			return true;
	return false;
}

#if IS_ENABLED(CONFIG_IPV6)

static bool has_prefix(const struct smc_clc_subnet *subnet, const struct smc_clc_prefix *prefix)
{
	u8 i;

	for (i = 0; i < subnet->nr_prefixes; i++)
		if (!memcmp(&subnet->prefixes[i], prefix, sizeof(*prefix)))
			return true;
	return false;
}

/* Skip link-local prefixes for global addresses: every interface has fe80::/64 */
static bool get_prefix(const struct inet6_ifaddr *ifa, bool link_local,
		       struct smc_clc_prefix *out)
{
	struct in6_addr prefix;

	if (!(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL) == link_local)
		return false;
	ipv6_addr_prefix(&prefix, &ifa->addr, ifa->prefix_len);
	memcpy(out->addr, &prefix, sizeof(out->addr));
	out->len = ifa->prefix_len;
	return true;
}

static bool is_link_local(const struct sock *tcp)
{
	return ipv6_addr_type(&tcp->sk_v6_rcv_saddr) & IPV6_ADDR_LINKLOCAL;
}

static bool describe_ipv6(const struct net_device *dev, bool link_local,
			  struct smc_clc_subnet *out)
{
	struct inet6_dev *in_dev = __in6_dev_get(dev);
	const struct inet6_ifaddr *ifa;

	if (!in_dev)
		return false;
	read_lock_bh(&in_dev->lock);
	list_for_each_entry(ifa, &in_dev->addr_list, if_list) {
		struct smc_clc_prefix prefix = {};

		if (out->nr_prefixes == SMC_MAX_PREFIXES)
			break;
		if (get_prefix(ifa, link_local, &prefix) && !has_prefix(out, &prefix))
			out->prefixes[out->nr_prefixes++] = prefix;
	}
	read_unlock_bh(&in_dev->lock);
	return out->nr_prefixes;
}

static bool shares_ipv6(const struct net_device *dev, bool link_local,
			const struct smc_clc_subnet *peer)
{
	struct inet6_dev *in_dev = __in6_dev_get(dev);
	const struct inet6_ifaddr *ifa;
	bool shared = false;

	if (!in_dev)
		return false;
	read_lock_bh(&in_dev->lock);
	list_for_each_entry(ifa, &in_dev->addr_list, if_list) {
		struct smc_clc_prefix prefix = {};

		if (get_prefix(ifa, link_local, &prefix) && has_prefix(peer, &prefix)) {
			shared = true;
			break;
		}
	}
	read_unlock_bh(&in_dev->lock);
	return shared;
}

static bool describe_interface(const struct sock *tcp, const struct net_device *dev,
			       struct smc_clc_subnet *out)
{
	if (smc_subnet_is_ipv4(tcp))
		return describe_ipv4(dev, tcp->sk_rcv_saddr, out);
	return describe_ipv6(dev, is_link_local(tcp), out);
}

static bool shares_subnet(const struct sock *tcp, const struct net_device *dev,
			  const struct smc_clc_subnet *peer)
{
	if (smc_subnet_is_ipv4(tcp))
		return !peer->nr_prefixes && shares_ipv4(dev, peer);
	return shares_ipv6(dev, is_link_local(tcp), peer);
}

#else

static bool describe_interface(const struct sock *tcp, const struct net_device *dev,
			       struct smc_clc_subnet *out)
{
	return describe_ipv4(dev, tcp->sk_rcv_saddr, out);
}

static bool shares_subnet(const struct sock *tcp, const struct net_device *dev,
			  const struct smc_clc_subnet *peer)
{
	return !peer->nr_prefixes && shares_ipv4(dev, peer);
}

#endif

/**
 * smc_subnet_describe() - collect the subnets of a connection's interface
 * @tcp: a connected TCP socket
 * @out: result
 *
 * For the Proposal (R-CLC-09, R-CLC-10). Does not sleep.
 *
 * Return: false if the interface has no subnet.
 */
bool smc_subnet_describe(const struct sock *tcp, struct smc_clc_subnet *out)
{
	struct dst_entry *dst = sk_dst_get((struct sock *)tcp);
	const struct net_device *dev;
	bool found = false;

	memset(out, 0, sizeof(*out));
	if (!dst)
		return false;
	rcu_read_lock();
	dev = READ_ONCE(dst->dev);	/* another one when the device goes */
	if (!(dev->flags & IFF_LOOPBACK))
		found = describe_interface(tcp, dev, out);
	rcu_read_unlock();
	dst_release(dst);
	return found;
}

/**
 * smc_subnet_shared() - do the client's interface and ours share a subnet?
 * @tcp: a connected TCP socket
 * @peer: subnets that the Proposal names
 *
 * Prefixes must have the same length and the same bits (R-FC-02, R-FC-03). Does not sleep.
 */
bool smc_subnet_shared(const struct sock *tcp, const struct smc_clc_subnet *peer)
{
	struct dst_entry *dst = sk_dst_get((struct sock *)tcp);
	const struct net_device *dev;
	bool found = false;

	if (!dst)
		return false;
	rcu_read_lock();
	dev = READ_ONCE(dst->dev);	/* as above */
	if (!(dev->flags & IFF_LOOPBACK))
		found = shares_subnet(tcp, dev, peer);
	rcu_read_unlock();
	dst_release(dst);
	return found;
}
