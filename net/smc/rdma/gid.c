// SPDX-License-Identifier: GPL-2.0-only
/*
 * Select ports and addresses for a TCP connection.
 *
 * The PNET table names interfaces and ports that are attached to the same network. If it has no
 * entry for the interface of the connection, a port can be used if its network device carries the
 * connection, directly or as a lower device.
 *
 * SMC-R version 1 stays within one layer 2 network and uses an address of RoCE version 1. If the
 * port has none, it uses one of version 2 only if smcr_v1_over_rocev2 is set: CLC does not carry
 * the encapsulation, and most peers use RoCE version 1. SMC-R version 2 uses an address of RoCE
 * version 2 in the IP subnet of the connection.
 */

#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/sock.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "../net.h"
#include "device.h"

/**
 * struct demand - what a port has to match
 * @net: namespace of the connection
 * @carrier: its network device
 * @source: its source address, IPv4 as ::ffff:a.b.c.d
 * @vlan: its VLAN, or 0
 * @has_pnetid: @pnetid is valid
 * @pnetid: PNETID of @carrier; for another link, that of the first link's port comes first
 * @alternate: search ports for another link of a group, not for a first one
 * @direct: this walk accepts ports of @carrier and of the devices below it, otherwise all others
 * @variants: set of enum smc_variant that are wanted
 * @out: result
 */
struct demand {
	struct net *net;
	struct net_device *carrier;
	struct in6_addr source;
	u16 vlan;
	bool has_pnetid;
	struct smc_pnetid pnetid;
	bool alternate;
	bool direct;
	u8 variants;
	struct smc_candidates *out;
};

/**
 * struct choice - the best address of a port
 * @index: index in the port's GID table
 * @worth: priority, greater is better; 0 without an address
 */
struct choice {
	int index;
	unsigned int worth;
};

static void forget_list(struct smcr_device *dev, u32 nr)
{
	struct smcr_gid_list *gids;

	gids = xchg((struct smcr_gid_list __force **)&dev->ports[nr].gids, NULL);
	if (gids)
		kvfree_rcu(gids, rcu);
}

/**
 * smcr_gid_forget_lists() - drop the lists of addresses, which may have changed
 * @dev: the device
 */
void smcr_gid_forget_lists(struct smcr_device *dev)
{
	u32 nr;

	atomic_inc(&dev->changes);
	/* Paired with the barrier in find_gids() */
	smp_mb__after_atomic();
	rdma_for_each_port(dev->ibdev, nr)
		forget_list(dev, nr);
}

static void gid_free(struct kref *ref)
{
	struct smcr_gid *gid = container_of(ref, struct smcr_gid, ref);

	smcr_device_put(gid->dev);
	kfree(gid);
}

/**
 * smcr_gid_get() - take another reference
 * @gid: an address the caller has a reference to
 *
 * Return: @gid.
 */
struct smcr_gid *smcr_gid_get(struct smcr_gid *gid)
{
	kref_get(&gid->ref);
	return gid;
}

/**
 * smcr_gid_put() - drop a reference
 * @gid: the address
 */
void smcr_gid_put(struct smcr_gid *gid)
{
	kref_put(&gid->ref, gid_free);
}

/* The table may use the index for another address by now, unless a queue pair uses the entry */
static bool is_entry(const struct smcr_gid *gid, const struct ib_gid_attr *attr)
{
	const struct net_device *netdev;
	bool same;

	if (attr->gid_type != gid->type || memcmp(&attr->gid, &gid->gid, sizeof(gid->gid)))
		return false;
	rcu_read_lock();
	netdev = rcu_dereference(attr->ndev);
	same = netdev && netdev->ifindex == gid->ifindex && net_eq(dev_net(netdev), gid->net);
	rcu_read_unlock();
	return same;
}

/**
 * smcr_gid_entry() - get the entry of an address in the port's GID table
 * @gid: the address, of a link that entered the device
 *
 * The table may have the same address for several VLANs or namespaces. An address that is removed
 * and added again gets another entry while a queue pair uses the old one. Any context.
 *
 * Return: the entry, with a reference for rdma_put_gid_attr(), or an ERR_PTR if it is removed.
 */
const struct ib_gid_attr *smcr_gid_entry(const struct smcr_gid *gid)
{
	const struct ib_gid_attr *attr;

	attr = rdma_get_gid_attr(gid->dev->ibdev, gid->port, gid->index);
	if (IS_ERR(attr) || is_entry(gid, attr))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

static bool is_ipv4(const struct sock *tcp)
{
	return tcp->sk_family == AF_INET || ipv6_addr_v4mapped(&tcp->sk_v6_rcv_saddr);
}

static void source_address(const struct sock *tcp, struct in6_addr *out)
{
	if (is_ipv4(tcp))
		ipv6_addr_set_v4mapped(tcp->sk_rcv_saddr, out);
	else
		*out = tcp->sk_v6_rcv_saddr;
}

/* The network device that carries a connection, with a reference */
static struct net_device *find_carrier(const struct sock *tcp)
{
	struct net_device *carrier;
	struct dst_entry *dst;

	dst = sk_dst_get((struct sock *)tcp);
	if (!dst)
		return NULL;
	rcu_read_lock();	/* a removed device is replaced in the route, and freed later */
	carrier = READ_ONCE(dst->dev);
	dev_hold(carrier);
	rcu_read_unlock();
	dst_release(dst);
	return carrier;
}

static int get_vlan(struct net_device *dev, struct netdev_nested_priv *priv)
{
	u16 *vlan = priv->data;

	if (!is_vlan_dev(dev))
		return 0;
	*vlan = vlan_dev_vlan_id(dev);
	return 1;
}

/* The VLAN id of the topmost VLAN device, as the RDMA core determines it for GIDs */
static u16 vlan_of(struct net_device *dev)
{
	u16 vlan = 0;
	struct netdev_nested_priv priv = { .data = &vlan };

	rcu_read_lock();
	if (!get_vlan(dev, &priv))
		netdev_walk_all_lower_dev_rcu(dev, get_vlan, &priv);
	rcu_read_unlock();
	return vlan;
}

static int is_same(struct net_device *dev, struct netdev_nested_priv *priv)
{
	return dev == priv->data;
}

/* Is @dev the device @upper, or a lower device of it? */
static bool is_below(struct net_device *upper, struct net_device *dev)
{
	struct netdev_nested_priv priv = { .data = dev };

	return upper == dev || netdev_walk_all_lower_dev_rcu(upper, is_same, &priv);
}

static bool in_same_subnet4(struct net_device *dev, __be32 a, __be32 b)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (inet_ifa_match(a, ifa) && inet_ifa_match(b, ifa))
			return true;
	return false;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool in_same_subnet6(struct net_device *dev, const struct in6_addr *a,
			    const struct in6_addr *b)
{
	const struct inet6_dev *idev = __in6_dev_get(dev);
	const struct inet6_ifaddr *ifa;

	if (!idev)
		return false;
	list_for_each_entry_rcu(ifa, &idev->addr_list, if_list)
		if (ipv6_prefix_equal(&ifa->addr, a, ifa->prefix_len) &&
		    ipv6_prefix_equal(&ifa->addr, b, ifa->prefix_len))
			return true;
	return false;
}
#else
static bool in_same_subnet6(struct net_device *dev, const struct in6_addr *a,
			    const struct in6_addr *b)
{
	return false;
}
#endif

/* Is the address in the subnet of the connection's source address? */
static bool in_source_subnet(const struct demand *demand, struct net_device *dev,
			     const union ib_gid *raw)
{
	const struct in6_addr *gid = (const struct in6_addr *)raw;
	const struct in6_addr *source = &demand->source;

	if (ipv6_addr_v4mapped(gid) != ipv6_addr_v4mapped(source))
		return false;
	if (ipv6_addr_v4mapped(gid))
		return in_same_subnet4(dev, gid->s6_addr32[3], source->s6_addr32[3]);
	/* A link-local address does not identify the subnet (V2-RTE-01) */
	return !(ipv6_addr_type(gid) & IPV6_ADDR_LINKLOCAL) && in_same_subnet6(dev, gid, source);
}

static bool is_source(const struct demand *demand, const union ib_gid *gid)
{
	return !memcmp(gid, &demand->source, sizeof(*gid));
}

/* Another link may use another subnet if the PNET table has it in the same network */
static bool is_elsewhere(const struct demand *demand, const union ib_gid *raw)
{
	const struct in6_addr *gid = (const struct in6_addr *)raw;

	return demand->alternate && demand->has_pnetid &&
	       ipv6_addr_v4mapped(gid) == ipv6_addr_v4mapped(&demand->source) &&
	       !(ipv6_addr_type(gid) & IPV6_ADDR_LINKLOCAL);
}

/* Priority of an address for SMC-R version 2 */
static unsigned int worth_v2(const struct demand *demand, const struct ib_gid_attr *attr,
			     struct net_device *dev)
{
	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return 0;
	if (!in_source_subnet(demand, dev, &attr->gid))
		return is_elsewhere(demand, &attr->gid);
	return is_source(demand, &attr->gid) ? 2 : 1;
}

/* Priority of an address for SMC-R version 1: both ends must be in the same VLAN (R-VLAN-01) */
static unsigned int worth_v1(const struct demand *demand, const struct ib_gid_attr *attr,
			     struct net_device *dev)
{
	if (vlan_of(dev) != demand->vlan)
		return 0;
	if (attr->gid_type == IB_GID_TYPE_ROCE)
		return !demand->alternate || demand->has_pnetid || demand->direct ? 4 : 0;
	if (!READ_ONCE(smc_net(demand->net)->knobs.v1_over_rocev2))
		return 0;
	if (demand->alternate)
		return worth_v2(demand, attr, dev);
	return 1 + worth_v2(demand, attr, dev);
}

/* A PNETID of the port takes precedence over its network device and the PNETID of that */
static bool has_pnetid(const struct demand *demand, struct smcr_device *dev, u32 port,
		       struct net_device *netdev)
{
	struct smc_pnet *pnet = &smc_net(demand->net)->pnet;
	char name[SMC_DEVICE_NAME_LEN];
	struct smc_pnetid pnetid;

	smcr_device_name(dev, name);
	if (port <= SMC_PNET_PORTS && smc_pnet_find_device(pnet, name, port, &pnetid))
		return smc_pnetid_equal(&pnetid, &demand->pnetid);
	return is_below(demand->carrier, netdev) ||
	       (smc_pnet_find_interface(pnet, netdev, &pnetid) &&
		smc_pnetid_equal(&pnetid, &demand->pnetid));
}

/* Can an address of the network device serve the connection, as found by this walk? */
static bool is_attached(const struct demand *demand, struct smcr_device *dev, u32 port,
			struct net_device *netdev)
{
	bool below = is_below(demand->carrier, netdev);

	if (!net_eq(dev_net(netdev), demand->net) || below != demand->direct)
		return false;
	if (demand->has_pnetid)
		return has_pnetid(demand, dev, port, netdev);
	return below || demand->alternate;
}

static void choose(struct choice *choice, unsigned int worth, int index)
{
	if (worth > choice->worth)
		*choice = (struct choice){ .index = index, .worth = worth };
}

/* Compare one entry of a port's GID table with the best ones */
static void weigh_entry(const struct demand *demand, struct smcr_device *dev,
			const struct ib_gid_attr *attr, struct choice *v1, struct choice *v2)
{
	struct net_device *netdev = rdma_read_gid_attr_ndev_rcu(attr);

	if (IS_ERR(netdev) || !netif_running(netdev) ||
	    !is_attached(demand, dev, attr->port_num, netdev))
		return;
	choose(v1, worth_v1(demand, attr, netdev), attr->index);
	choose(v2, worth_v2(demand, attr, netdev), attr->index);
}

static bool is_roce(const struct ib_gid_attr *attr)
{
	return attr->gid_type == IB_GID_TYPE_ROCE || attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
}

/* A table has up to a thousand entries, few of them are used */
static struct smcr_gid_list *list_gids(struct ib_device *ibdev, u32 nr)
{
	int len = ibdev->port_data[nr].immutable.gid_tbl_len;
	const struct ib_gid_attr *attr;
	struct smcr_gid_list *gids;
	int i;

	gids = kvzalloc(struct_size(gids, index, len), GFP_KERNEL);
	if (!gids)
		return NULL;
	for (i = 0; i < len; i++) {
		attr = rdma_get_gid_attr(ibdev, nr, i);
		if (IS_ERR(attr))
			continue;
		if (is_roce(attr))
			gids->index[gids->nr++] = i;
		rdma_put_gid_attr(attr);
	}
	return gids;
}

/* List the addresses if there is no list. An event meanwhile drops the list again. */
static void find_gids(struct smcr_device *dev, u32 nr)
{
	int changes = atomic_read_acquire(&dev->changes);
	struct smcr_gid_list *gids;

	if (rcu_access_pointer(dev->ports[nr].gids))
		return;
	gids = list_gids(dev->ibdev, nr);
	if (!gids)
		return;
	if (cmpxchg((struct smcr_gid_list __force **)&dev->ports[nr].gids, NULL, gids))
		kvfree(gids);
	/*
	 * Paired with the barrier in smcr_gid_forget_lists(): either that function sees the list,
	 * or this function sees the event.
	 */
	smp_mb();
	if (atomic_read(&dev->changes) != changes)
		forget_list(dev, nr);
}

/* The RDMA core caches the state, and updates it by the port's events */
static bool is_active(struct ib_device *ibdev, u32 nr)
{
	enum ib_port_state state;

	return !ib_get_cached_port_state(ibdev, nr, &state) && state == IB_PORT_ACTIVE;
}

/* Set what depends on the network device of an address. Return: false without a usable device */
static bool look_at_netdev(struct smcr_gid *gid, const struct ib_gid_attr *attr,
			   enum ib_mtu max_mtu)
{
	const struct net_device *netdev;

	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(netdev) && net_eq(dev_net(netdev), gid->net)) {
		gid->ifindex = netdev->ifindex;
		gid->mtu = min(max_mtu, iboe_get_mtu(READ_ONCE(netdev->mtu)));
	}
	rcu_read_unlock();
	return gid->ifindex && gid->mtu;
}

static struct smcr_gid *gid_create(const struct demand *demand, struct smcr_device *dev,
				   const struct ib_gid_attr *attr)
{
	enum ib_mtu max_mtu = dev->ports[attr->port_num].max_mtu;
	struct smcr_gid *gid;
	u16 vlan;

	gid = kzalloc(sizeof(*gid), GFP_KERNEL);
	if (!gid)
		return NULL;
	kref_init(&gid->ref);
	gid->net = demand->net;
	gid->port = attr->port_num;
	gid->index = attr->index;
	gid->type = attr->gid_type;
	gid->gid = attr->gid;
	if (!look_at_netdev(gid, attr, max_mtu) ||
	    rdma_read_gid_l2_fields(attr, &vlan, gid->mac)) {
		kfree(gid);
		return NULL;
	}
	gid->vlan = vlan < VLAN_N_VID ? vlan : 0;
	gid->dev = smcr_device_get(dev);
	return gid;
}

static void add_candidate(const struct demand *demand, struct smcr_device *dev, u32 port,
			  const struct choice *choice, u8 variants)
{
	struct smc_candidates *out = demand->out;
	struct smc_candidate *candidate = &out->list[out->nr];
	const struct ib_gid_attr *attr;
	struct smcr_gid *gid;

	if (!variants || !choice->worth || out->nr == ARRAY_SIZE(out->list))
		return;
	attr = rdma_get_gid_attr(dev->ibdev, port, choice->index);
	if (IS_ERR(attr))
		return;
	gid = gid_create(demand, dev, attr);
	rdma_put_gid_attr(attr);
	if (!gid)
		return;

	memset(candidate, 0, sizeof(*candidate));
	candidate->variants = variants;
	candidate->device = gid;
	memcpy(candidate->address.gid.bytes, gid->gid.raw, sizeof(gid->gid.raw));
	memcpy(candidate->address.mac, gid->mac, sizeof(gid->mac));
	candidate->address.vlan = gid->vlan;
	out->nr++;
}

static void weigh_port(const struct demand *demand, struct smcr_device *dev, u32 nr,
		       struct choice *v1, struct choice *v2)
{
	const struct smcr_gid_list *gids;
	const struct ib_gid_attr *attr;
	unsigned int i;

	rcu_read_lock();
	gids = rcu_dereference(dev->ports[nr].gids);
	for (i = 0; gids && i < gids->nr; i++) {
		attr = rdma_get_gid_attr(dev->ibdev, nr, gids->index[i]);
		if (IS_ERR(attr))
			continue;
		if (is_roce(attr))
			weigh_entry(demand, dev, attr, v1, v2);
		rdma_put_gid_attr(attr);
	}
	rcu_read_unlock();
}

/*
 * The wanted variants for which the result has no address of the port. The table of a port has also
 * the addresses of VLAN and MACVLAN devices above its own, so both walks may find the port.
 */
static u8 find_missing(const struct demand *demand, const struct smcr_device *dev, u32 nr)
{
	const struct smc_candidates *out = demand->out;
	u8 missing = demand->variants, i;

	for (i = 0; i < out->nr; i++) {
		const struct smcr_gid *gid = out->list[i].device;

		if (gid->dev == dev && gid->port == nr)
			missing &= ~out->list[i].variants;
	}
	return missing;
}

static void look_at_port(const struct demand *demand, struct smcr_device *dev, u32 nr)
{
	u8 missing = find_missing(demand, dev, nr);
	struct choice v1 = {}, v2 = {};

	if (!missing || !is_active(dev->ibdev, nr))
		return;
	find_gids(dev, nr);
	weigh_port(demand, dev, nr, &v1, &v2);
	if (v1.worth && v2.worth && v1.index == v2.index) {
		add_candidate(demand, dev, nr, &v1, missing);
		return;
	}
	add_candidate(demand, dev, nr, &v2, missing & SMC_VARIANT_R2);
	add_candidate(demand, dev, nr, &v1, missing & SMC_VARIANT_R1);
}

static bool look_at_device(struct smcr_device *dev, void *context)
{
	const struct demand *demand = context;
	u32 port;

	if (!rdma_dev_access_netns(dev->ibdev, demand->net))
		return false;
	rdma_for_each_port(dev->ibdev, port)
		if (rdma_protocol_roce(dev->ibdev, port))
			look_at_port(demand, dev, port);
	return demand->out->nr == ARRAY_SIZE(demand->out->list);
}

/**
 * smcr_gid_candidates() - struct smc_transport: list the addresses that can serve a connection
 * @net: its namespace
 * @tcp: its TCP socket, connected
 * @out: result, each with a reference; those of the connection's own network device come first
 *
 * May sleep.
 */
void smcr_gid_candidates(struct net *net, const struct sock *tcp, struct smc_candidates *out)
{
	struct demand demand = { .net = net, .variants = SMC_VARIANTS_R, .out = out };

	out->nr = 0;
	demand.carrier = find_carrier(tcp);
	if (!demand.carrier)
		return;
	source_address(tcp, &demand.source);
	demand.vlan = vlan_of(demand.carrier);
	demand.has_pnetid = smc_pnet_find_interface(&smc_net(net)->pnet, demand.carrier,
						    &demand.pnetid);
	demand.direct = true;
	smcr_device_for_each(look_at_device, &demand);
	demand.direct = false;
	if (demand.has_pnetid)
		smcr_device_for_each(look_at_device, &demand);
	dev_put(demand.carrier);
}

/**
 * smcr_gid_alternates() - list the addresses that can serve another link of a group
 * @first: local address of its first link; its namespace is alive
 * @variant: SMC_VARIANT_R1 or SMC_VARIANT_R2
 * @out: result, each with a reference
 *
 * They are in the network of @first: by the PNET table or, if it has no entry, by the network
 * device and, for RoCE version 2, the subnet. The port of @first is among them while it can be
 * used. May sleep.
 */
void smcr_gid_alternates(const struct smcr_gid *first, u8 variant, struct smc_candidates *out)
{
	struct demand demand = {
		.net = first->net, .vlan = first->vlan, .alternate = true, .variants = variant,
		.out = out,
	};
	struct smc_pnet *pnet = &smc_net(first->net)->pnet;
	char name[SMC_DEVICE_NAME_LEN];

	out->nr = 0;
	demand.carrier = dev_get_by_index(first->net, first->ifindex);
	if (!demand.carrier)
		return;
	memcpy(&demand.source, &first->gid, sizeof(demand.source));
	smcr_device_name(first->dev, name);
	demand.has_pnetid = (first->port <= SMC_PNET_PORTS &&
			     smc_pnet_find_device(pnet, name, first->port, &demand.pnetid)) ||
			    smc_pnet_find_interface(pnet, demand.carrier, &demand.pnetid);
	demand.direct = true;
	smcr_device_for_each(look_at_device, &demand);
	demand.direct = false;
	smcr_device_for_each(look_at_device, &demand);
	dev_put(demand.carrier);
}

/**
 * smcr_gid_candidate_put() - struct smc_transport: drop the reference of a candidate
 * @candidate: from smcr_gid_candidates()
 */
void smcr_gid_candidate_put(struct smc_candidate *candidate)
{
	smcr_gid_put(candidate->device);
}
