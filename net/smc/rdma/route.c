// SPDX-License-Identifier: GPL-2.0-only
/*
 * The route to the peer's port.
 *
 * Within one subnet, packets go to the MAC address in the peer's message. Behind a gateway they go
 * to that of the gateway, from the neighbour table (V2-RTE-06 to V2-RTE-11). No function waits for
 * the neighbour: the handshake has resolved it before, see neighbour.c.
 */

#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <net/arp.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "../net.h"
#include "device.h"
#include "neighbour.h"

#define HOP_LIMIT	64

/**
 * struct way - the route to the peer's port
 * @direct: there is no router
 * @named: @mac, as the peer has named it, is valid; otherwise @hop must be resolved
 * @mac: MAC address of the next hop
 * @hop: the next hop; holds a reference to its route, which is NULL in a layer 2 network
 */
struct way {
	bool direct;
	bool named;
	u8 mac[ETH_ALEN];
	struct smcr_hop hop;
};

/* The RDMA MTU of the route; in a layer 2 network only the port limits the MTU */
static enum ib_mtu get_mtu(const struct way *way)
{
	if (!way->hop.dst)
		return IB_MTU_4096;
	return iboe_get_mtu(dst_mtu(way->hop.dst)) ?: IB_MTU_256;
}

static void put_way(struct way *way)
{
	dst_release(way->hop.dst);
}

/*
 * Does the route use the network device of the port? To another port of this host it uses the
 * loopback device, which cannot resolve a MAC address: the peer must have named one.
 */
static int check_device(struct way *way, int ifindex)
{
	const struct net_device *dev;
	bool is_loopback;

	rcu_read_lock();
	dev = READ_ONCE(way->hop.dst->dev);
	way->hop.ifindex = dev->ifindex;
	is_loopback = dev->flags & IFF_LOOPBACK;
	rcu_read_unlock();
	if (is_loopback)
		return way->named ? 0 : -EHOSTUNREACH;
	return way->hop.ifindex == ifindex ? 0 : -EHOSTUNREACH;
}

static void set_key(struct way *way, struct neigh_table *table, const void *key, size_t len)
{
	way->hop.table = table;
	memcpy(&way->hop.key, key, len);
}

static int find_way4(struct net *net, const struct smcr_gid *gid, __be32 peer, const u8 *mac,
		     struct way *way)
{
	const struct in6_addr *source = (const struct in6_addr *)&gid->gid;
	struct flowi4 fl4 = { .saddr = source->s6_addr32[3], .daddr = peer };
	struct rtable *rt;

	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return -EHOSTUNREACH;
	way->hop.dst = &rt->dst;
	way->direct = !rt->rt_gw_family;
	way->named = way->direct && is_valid_ether_addr(mac);
	if (rt->rt_gw_family == AF_INET6)
		set_key(way, ipv6_stub->nd_tbl, &rt->rt_gw6, sizeof(rt->rt_gw6));
	else
		set_key(way, &arp_tbl, way->direct ? &peer : &rt->rt_gw4, sizeof(peer));
	if (rt->rt_type != RTN_UNICAST && rt->rt_type != RTN_LOCAL)	/* a broadcast address */
		return -EHOSTUNREACH;
	return check_device(way, gid->ifindex);
}

static int find_way6(struct net *net, const struct smcr_gid *gid, const struct in6_addr *peer,
		     const u8 *mac, struct way *way)
{
	struct flowi6 fl6 = { .daddr = *peer };
	const struct rt6_info *rt;
	struct dst_entry *dst;

	memcpy(&fl6.saddr, &gid->gid, sizeof(fl6.saddr));
	if (ipv6_addr_type(peer) & IPV6_ADDR_LINKLOCAL)
		fl6.flowi6_oif = gid->ifindex;
	dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return -EHOSTUNREACH;
	rt = container_of(dst, struct rt6_info, dst);
	way->hop.dst = dst;
	way->direct = !(rt->rt6i_flags & RTF_GATEWAY);
	way->named = way->direct && is_valid_ether_addr(mac);
	set_key(way, ipv6_stub->nd_tbl, rt6_nexthop(rt, peer), sizeof(*peer));
	return check_device(way, gid->ifindex);
}

/*
 * No multicast, limited broadcast, loopback or zero address? The peer must not make this
 * host send to all hosts, or to services on the loopback device.
 */
static bool is_port_address(const struct in6_addr *address)
{
	__be32 ipv4 = address->s6_addr32[3];

	if (ipv6_addr_v4mapped(address))
		return !ipv4_is_multicast(ipv4) && !ipv4_is_loopback(ipv4) &&
		       !ipv4_is_zeronet(ipv4) && !ipv4_is_lbcast(ipv4);
	return !ipv6_addr_is_multicast(address) && !ipv6_addr_loopback(address) &&
	       !ipv6_addr_any(address);
}

/* On success the caller calls put_way() later */
static int find_way(struct net *net, const struct smcr_gid *gid, const struct smc_gid *peer,
		    const u8 *mac, struct way *way)
{
	struct in6_addr address;
	int err;

	memset(way, 0, sizeof(*way));
	way->hop.net_cookie = net->net_cookie;
	ether_addr_copy(way->mac, mac);
	memcpy(&address, peer->bytes, sizeof(address));
	if (!is_port_address(&address))
		return -EHOSTUNREACH;
	/* A layer 2 network has no routers */
	if (gid->type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
		way->direct = true;
		way->named = true;
		return is_valid_ether_addr(mac) ? 0 : -EHOSTUNREACH;
	}

	if (ipv6_addr_v4mapped(&address) !=
	    ipv6_addr_v4mapped((const struct in6_addr *)&gid->gid))
		return -EHOSTUNREACH;
	if (ipv6_addr_v4mapped(&address))
		err = find_way4(net, gid, address.s6_addr32[3], mac, way);
	else
		err = find_way6(net, gid, &address, mac, way);
	if (err)
		put_way(way);
	return err;
}

/**
 * smcr_route() - describe the route to a peer for a queue pair
 * @net: namespace of the link group
 * @gid: the local port, of a link that entered the device
 * @peer: the peer's port
 * @mac: MAC address of the peer's port, as the peer has named it; not trusted
 * @attr: result, for IB_QP_AV; the caller calls rdma_destroy_ah_attr() later
 * @direct: result: whether the route stays within one subnet
 * @mtu: result: RDMA MTU of the route
 *
 * The layer 2 priority (SL, 802.1p) is the precedence in the traffic class. Does not wait:
 * smcr_route_resolve() resolves the next hop before a first contact.
 *
 * Return: 0; -EHOSTUNREACH if there is no route or no resolved neighbour, -ENODEV
 * if the port has lost its address.
 */
int smcr_route(struct net *net, const struct smcr_gid *gid, const struct smc_gid *peer,
	       const u8 *mac, struct rdma_ah_attr *attr, bool *direct, enum ib_mtu *mtu)
{
	const struct ib_gid_attr *source;
	union ib_gid destination;
	struct way way;
	u8 traffic_class;
	int err;

	err = find_way(net, gid, peer, mac, &way);
	if (err)
		return err;
	if (!way.named)
		err = smcr_neigh_look(&way.hop, way.mac);
	*mtu = get_mtu(&way);
	put_way(&way);
	if (err)
		return err;

	source = smcr_gid_entry(gid);
	if (IS_ERR(source))
		return -ENODEV;
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, gid->port);
	memcpy(destination.raw, peer->bytes, sizeof(destination.raw));
	traffic_class = READ_ONCE(smc_net(net)->knobs.traffic_class);
	rdma_ah_set_sl(attr, traffic_class >> 5);
	rdma_move_grh_sgid_attr(attr, &destination, 0, HOP_LIMIT, traffic_class, source);
	ether_addr_copy(attr->roce.dmac, way.mac);
	*direct = way.direct;
	return 0;
}

/**
 * smcr_route_reaches() - struct smc_transport: is there a route to a peer?
 * @candidate: the local port
 * @peer: the peer's port; not trusted
 *
 * Searches the namespace of the port's network device. Sends nothing.
 *
 * Return: whether there is.
 */
bool smcr_route_reaches(const struct smc_candidate *candidate, const struct smc_address *peer)
{
	const struct smcr_gid *gid = candidate->device;
	struct way way;

	if (find_way(gid->net, gid, &peer->gid, peer->mac, &way))
		return false;
	put_way(&way);
	return true;
}

/**
 * smcr_route_resolve() - struct smc_transport: resolve the next hop to a peer
 * @conn: the connection, in its handshake, not open
 * @remote: the peer's address of the TCP connection
 * @candidate: the local port
 * @peer: the peer's port; not trusted
 *
 * Return: 0, -EINPROGRESS while the neighbour code resolves it, or another negative errno.
 */
int smcr_route_resolve(struct smc_conn *conn, const struct in6_addr *remote,
		       const struct smc_candidate *candidate, const struct smc_address *peer)
{
	const struct smcr_gid *gid = candidate->device;
	struct way way;
	int err;

	err = find_way(gid->net, gid, &peer->gid, peer->mac, &way);
	if (err)
		return err;
	if (!way.named)
		err = smcr_neigh_ask(&way.hop, conn, remote);
	put_way(&way);
	return err;
}
