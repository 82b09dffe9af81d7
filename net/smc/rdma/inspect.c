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

/* What is read here stays when the link is cleared */
static void copy_link(const struct smcr_group *rg, const struct smcr_link *link,
		      struct smc_link_info *out)
{
	memset(out, 0, sizeof(*out));
	out->number = link->number;
	out->state = state_of(link);
	strscpy(out->device, rg->name, sizeof(out->device));
	out->port = link->port;
	out->ifindex = link->ifindex;
	out->direct = link->direct;
	out->gid = link->local.gid;
	out->peer_gid = link->peer.gid;
	out->user_id = link->user_id;
	out->peer_user_id = link->peer_user_id;
	out->conns = READ_ONCE(rg->nr_conns);
}

bool smcr_group_link_info(const struct smc_group *group, unsigned int index,
			  struct smc_link_info *out)
{
	const struct smcr_group *rg = group->device;
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		if (READ_ONCE(rg->links[i].state) == SMCR_LINK_UNUSED || index--)
			continue;
		copy_link(rg, &rg->links[i], out);
		return true;
	}
	return false;
}

void smcr_conn_ends(const struct smc_conn *conn, struct smc_conn_ends *out)
{
	const struct smcr_conn *rc = conn->priv;

	memset(out, 0, sizeof(*out));	/* what it has are no DMBs */
	copy_link(rc->rg, rc->link, &out->link);
}

/* The device with a number, counted down */
struct search {
	unsigned int index;
	bool found;
	struct smc_device_info *out;
};

/* A port that has no address for us has no network device either */
static int port_ifindex(struct ib_device *ibdev, u32 port)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(ibdev, port, 0);
	struct net_device *netdev;
	int ifindex = 0;

	if (IS_ERR(attr))
		return 0;
	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(netdev))
		ifindex = netdev->ifindex;
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ifindex;
}

static void copy_port(struct smcr_device *dev, u32 number, struct smc_port_info *out)
{
	enum ib_port_state state;
	struct smcr_link *link;

	out->valid = true;
	out->ifindex = port_ifindex(dev->ibdev, number);
	out->active = !ib_get_cached_port_state(dev->ibdev, number, &state) &&
		      state == IB_PORT_ACTIVE;
	spin_lock_bh(&dev->lock);
	list_for_each_entry(link, &dev->links, device_node)
		if (link->port == number)
			out->links++;
	spin_unlock_bh(&dev->lock);
}

static bool look(struct smcr_device *dev, void *context)
{
	struct search *search = context;
	struct smc_device_info *out = search->out;
	u32 port;

	if (search->index--)
		return false;
	search->found = true;
	memset(out, 0, sizeof(*out));
	strscpy(out->name, dev->name, sizeof(out->name));
	rdma_for_each_port(dev->ibdev, port)
		if (port >= 1 && port <= ARRAY_SIZE(out->ports))
			copy_port(dev, port, &out->ports[port - 1]);
	return true;
}

bool smcr_device_info(unsigned int index, struct smc_device_info *out)
{
	struct search search = { .index = index, .out = out };

	smcr_device_for_each(look, &search);
	return search.found;
}
