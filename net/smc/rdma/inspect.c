// SPDX-License-Identifier: GPL-2.0-only
/* Copies of links and devices, for monitoring */

#include <rdma/ib_cache.h>

#include "conn.h"
#include "device.h"
#include "group.h"
#include "inspect.h"

static enum smc_link_info_state state_of(const struct smcr_link *link)
{
	switch (READ_ONCE(link->state)) {
	case SMCR_LINK_FORMING:
		return SMC_LINK_INFO_ACTIVATING;
	case SMCR_LINK_ACTIVE:
		return SMC_LINK_INFO_ACTIVE;
	case SMCR_LINK_DOWN:
		return SMC_LINK_INFO_INACTIVE;
	default:
		return SMC_LINK_INFO_UNUSED;
	}
}

/**
 * smcr_link_info() - copy the description of a link
 * @link: the link; the fields that are copied stay when it is cleared
 * @out: the copy
 *
 * Any context.
 */
void smcr_link_info(const struct smcr_link *link, struct smc_link_info *out)
{
	struct smcr_device *dev;

	memset(out, 0, sizeof(*out));
	out->number = link->number;
	out->state = state_of(link);
	rcu_read_lock();
	dev = READ_ONCE(link->dev);
	if (dev)
		smcr_device_name(dev, out->device);
	rcu_read_unlock();
	out->port = link->port;
	out->ifindex = link->ifindex;
	out->direct = link->direct;
	out->gid = link->local.gid;
	out->peer_gid = link->peer.gid;
	out->user_id = link->user_id;
	out->peer_user_id = link->peer_user_id;
	out->conns = atomic_read(&link->conns);
}

bool smcr_group_link_info(const struct smc_group *group, unsigned int index,
			  struct smc_link_info *out)
{
	const struct smcr_group *rg = group->device;
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		if (READ_ONCE(rg->links[i].state) == SMCR_LINK_UNUSED || index--)
			continue;
		smcr_link_info(&rg->links[i], out);
		return true;
	}
	return false;
}

void smcr_group_memory_info(const struct smc_group *group, struct smc_group_memory *out)
{
	const struct smcr_group *rg = group->device;

	out->rx_bytes = READ_ONCE(rg->rmb_bytes);
	out->tx_bytes = READ_ONCE(rg->ring_bytes);
}

void smcr_conn_ends(const struct smc_conn *conn, struct smc_conn_ends *out)
{
	struct smcr_conn *rc = conn->priv;

	lockdep_assert_held(&conn->lock);
	memset(out, 0, sizeof(*out));	/* SMC-R has no DMBs */
	smcr_link_info(READ_ONCE(rc->link), &out->link);
	out->send_buffer = conn->tx.buffer_bytes;
	smcr_link_progress(rc, out);
}

/* Search for the first device with a number greater than @serial */
struct search {
	const struct net *net;
	unsigned long serial;
	bool found;
	struct smc_device_info *out;
};

/* The network device of the port's first GID; 0 if it is not in @net */
static int port_ifindex(const struct net *net, struct ib_device *ibdev, u32 port)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(ibdev, port, 0);
	struct net_device *netdev;
	int ifindex = 0;

	if (IS_ERR(attr))
		return 0;
	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(netdev) && net_eq(dev_net(netdev), net))
		ifindex = netdev->ifindex;
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ifindex;
}

/* Only the first namespace is shown the links of other namespaces */
static bool is_shown(const struct net *net, const struct smcr_link *link)
{
	return net_eq(net, &init_net) || net_eq(net, link->gid->net);
}

static void copy_port(const struct net *net, struct smcr_device *dev, u32 number,
		      struct smc_port_info *out)
{
	enum ib_port_state state;
	struct smcr_link *link;

	out->valid = true;
	out->ifindex = port_ifindex(net, dev->ibdev, number);
	out->active = !ib_get_cached_port_state(dev->ibdev, number, &state) &&
		      state == IB_PORT_ACTIVE;
	spin_lock_bh(&dev->lock);
	list_for_each_entry(link, &dev->links, device_node)
		if (link->port == number && is_shown(net, link))
			out->links++;
	spin_unlock_bh(&dev->lock);
}

static bool look(struct smcr_device *dev, void *context)
{
	struct search *search = context;
	struct smc_device_info *out = search->out;
	u32 port;

	if (dev->serial <= search->serial || !rdma_dev_access_netns(dev->ibdev, search->net))
		return false;
	search->found = true;
	memset(out, 0, sizeof(*out));
	out->serial = dev->serial;
	smcr_device_name(dev, out->name);
	rdma_for_each_port(dev->ibdev, port)
		if (port >= 1 && port <= ARRAY_SIZE(out->ports))
			copy_port(search->net, dev, port, &out->ports[port - 1]);
	return true;
}

bool smcr_device_info(const struct net *net, unsigned long serial, struct smc_device_info *out)
{
	struct search search = { .net = net, .serial = serial, .out = out };

	smcr_device_for_each(look, &search);
	return search.found;
}
