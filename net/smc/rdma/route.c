// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way to the peer's port.
 *
 * Within one subnet the peer's MAC address is the one it named itself. Behind a gateway
 * it is the gateway's, which the neighbour table knows or finds out (V2-RTE-06 to
 * V2-RTE-11). Nothing waits for that under a lock, nor for long.
 */

#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/wait.h>
#include <net/ip6_fib.h>
#include <net/ipv6_stubs.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "device.h"

#define NEIGHBOUR_WAIT	(2 * HZ)
#define HOP_LIMIT	64

static DECLARE_WAIT_QUEUE_HEAD(neighbours);	/* woken when a neighbour changed */

/**
 * struct way - to the peer's port
 * @mac: next hop
 * @direct: no router is passed
 */
struct way {
	u8 mac[ETH_ALEN];
	bool direct;
};

static bool is_settled(const struct neighbour *neighbour)
{
	return READ_ONCE(neighbour->nud_state) & (NUD_VALID | NUD_FAILED);
}

/* The MAC address of the next hop to @peer */
static int ask_neighbour(struct dst_entry *dst, const void *peer, u8 *mac)
{
	struct neighbour *neighbour;
	int err = -EHOSTUNREACH;

	neighbour = dst_neigh_lookup(dst, peer);
	if (!neighbour)
		return err;
	/* One that failed before is asked again */
	if (neigh_event_send(neighbour, NULL))
		wait_event_timeout(neighbours, is_settled(neighbour), NEIGHBOUR_WAIT);
	if (READ_ONCE(neighbour->nud_state) & NUD_VALID) {
		neigh_ha_snapshot((char *)mac, neighbour, neighbour->dev);
		err = 0;
	}
	neigh_release(neighbour);
	return err;
}

/* Does what is routed there go out of the device that the port belongs to? */
static bool goes_through(const struct dst_entry *dst, int ifindex)
{
	return dst->dev->ifindex == ifindex || dst->dev->flags & IFF_LOOPBACK;
}

static int find_way4(struct net *net, const struct smcr_gid *gid, __be32 peer, const u8 *mac,
		     struct way *way)
{
	const struct in6_addr *source = (const struct in6_addr *)&gid->gid;
	struct flowi4 fl4 = { .saddr = source->s6_addr32[3], .daddr = peer };
	struct rtable *rt;
	int err = 0;

	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return -EHOSTUNREACH;
	way->direct = !rt->rt_gw_family;
	if (rt->rt_type != RTN_UNICAST && rt->rt_type != RTN_LOCAL)	/* a broadcast address */
		err = -EHOSTUNREACH;
	else if (!goes_through(&rt->dst, gid->ifindex))
		err = -EHOSTUNREACH;
	else if (way->direct && is_valid_ether_addr(mac))
		ether_addr_copy(way->mac, mac);
	else
		err = ask_neighbour(&rt->dst, &peer, way->mac);
	ip_rt_put(rt);
	return err;
}

static int find_way6(struct net *net, const struct smcr_gid *gid, const struct in6_addr *peer,
		     const u8 *mac, struct way *way)
{
	struct flowi6 fl6 = { .daddr = *peer };
	struct dst_entry *dst;
	int err = 0;

	memcpy(&fl6.saddr, &gid->gid, sizeof(fl6.saddr));
	if (ipv6_addr_type(peer) & IPV6_ADDR_LINKLOCAL)
		fl6.flowi6_oif = gid->ifindex;
	dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return -EHOSTUNREACH;
	way->direct = !(container_of(dst, struct rt6_info, dst)->rt6i_flags & RTF_GATEWAY);
	if (!goes_through(dst, gid->ifindex))
		err = -EHOSTUNREACH;
	else if (way->direct && is_valid_ether_addr(mac))
		ether_addr_copy(way->mac, mac);
	else
		err = ask_neighbour(dst, peer, way->mac);
	dst_release(dst);
	return err;
}

/*
 * Can it be the address of one port, and of one that is not in this host by definition? The peer
 * must not make us send to all hosts, or to services behind the loopback device.
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

static int find_way(struct net *net, const struct smcr_gid *gid, const struct smc_gid *peer,
		    const u8 *mac, struct way *way)
{
	struct in6_addr address;

	memcpy(&address, peer->bytes, sizeof(address));
	if (!is_port_address(&address))
		return -EHOSTUNREACH;
	/* There are no routers in a network of layer 2 */
	if (gid->type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
		way->direct = true;
		ether_addr_copy(way->mac, mac);
		return is_valid_ether_addr(mac) ? 0 : -EHOSTUNREACH;
	}

	if (ipv6_addr_v4mapped(&address) !=
	    ipv6_addr_v4mapped((const struct in6_addr *)&gid->gid))
		return -EHOSTUNREACH;
	if (ipv6_addr_v4mapped(&address))
		return find_way4(net, gid, address.s6_addr32[3], mac, way);
	return find_way6(net, gid, &address, mac, way);
}

/**
 * smcr_route() - describe the way to a peer for a queue pair
 * @net: namespace of the link group
 * @gid: our port, of a link that entered the device
 * @peer: the peer's port
 * @mac: what the peer says is the MAC address of its port; not trusted
 * @attr: for IB_QP_AV; rdma_destroy_ah_attr() is due later
 * @direct: whether the way stays within one subnet
 *
 * May sleep, for a neighbour, but no longer than NEIGHBOUR_WAIT.
 *
 * Return: 0; -EHOSTUNREACH if there is no route or no resolved neighbour, -ENODEV
 * if the port has lost its address.
 */
int smcr_route(struct net *net, const struct smcr_gid *gid, const struct smc_gid *peer,
	       const u8 *mac, struct rdma_ah_attr *attr, bool *direct)
{
	struct ib_device *ibdev = gid->dev->ibdev;
	const struct ib_gid_attr *source;
	union ib_gid destination;
	struct way way = {};
	int err;

	err = find_way(net, gid, peer, mac, &way);
	if (err)
		return err;

	source = rdma_find_gid_by_port(ibdev, &gid->gid, gid->type, gid->port, NULL);
	if (IS_ERR(source))
		return -ENODEV;
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, gid->port);
	memcpy(destination.raw, peer->bytes, sizeof(destination.raw));
	rdma_move_grh_sgid_attr(attr, &destination, 0, HOP_LIMIT, 0, source);
	ether_addr_copy(attr->roce.dmac, way.mac);
	*direct = way.direct;
	return 0;
}

/**
 * smcr_route_reaches() - is there a way to a peer?
 * @candidate: our port
 * @peer: the peer's, as it says; not trusted
 *
 * In the namespace whose network device the port serves. May sleep, as smcr_route().
 *
 * Return: whether there is.
 */
bool smcr_route_reaches(const struct smc_candidate *candidate, const struct smc_address *peer)
{
	const struct smcr_gid *gid = candidate->device;
	struct way way;

	return !find_way(gid->net, gid, &peer->gid, peer->mac, &way);
}

static int neighbour_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == NETEVENT_NEIGH_UPDATE)
		wake_up_all(&neighbours);
	return NOTIFY_DONE;
}

static struct notifier_block neighbour_events = {
	.notifier_call = neighbour_event,
};

/**
 * smcr_route_init() - listen to what becomes of neighbours
 *
 * Return: 0 or a negative errno.
 */
int smcr_route_init(void)
{
	return register_netevent_notifier(&neighbour_events);
}

/** smcr_route_exit() - listen no more */
void smcr_route_exit(void)
{
	unregister_netevent_notifier(&neighbour_events);
}
