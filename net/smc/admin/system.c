// SPDX-License-Identifier: GPL-2.0-only
/* Capabilities and devices of this host as netlink messages */

#include <linux/netdevice.h>
#include <linux/smc.h>

#include "../config/pnet.h"
#include "../group/transport.h"
#include "../ism/device.h"
#include "../net.h"
#include "netlink.h"

static bool has_ism_device(void)
{
	struct smc_ism_device *dev = smcd_device_nth(0);

	if (dev)
		smcd_device_put(dev);
	return dev;
}

static bool has_rdma(void)
{
	const struct smc_transport *transport = smc_transport_get(SMC_MODE_R);

	if (transport)
		smc_transport_put(transport);
	return transport;
}

static int put_sys_info(struct sk_buff *skb, struct net *net)
{
	char host[SMC_HOSTNAME_LEN + 1];
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_SYS_INFO);

	smc_net_copy_host(net, host);
	/* Tools rely on the order and on the absence of other attributes */
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_SYS_VER, 2) ||
	    nla_put_u8(skb, SMC_NLA_SYS_REL, SMC_RELEASE_1) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_ISM_V2, has_ism_device()) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_SMCR_V2, has_rdma()) ||
	    smc_netlink_put_padded(skb, SMC_NLA_SYS_LOCAL_HOST, host, strlen(host)) ||
	    smc_netlink_put_padded(skb, SMC_NLA_SYS_SEID, smc_eid_system()->text, SMC_EID_LEN))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_netlink_get_sys_info() - dump the capabilities of this host, in one message
 * @skb: answer
 * @cb: dump
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_get_sys_info(struct sk_buff *skb, struct netlink_callback *cb)
{
	void *header;
	int err;

	if (cb->args[0])
		return 0;
	header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_SYS_INFO);
	err = smc_netlink_end(skb, header, header ? put_sys_info(skb, smc_netlink_net(cb)) : 0);
	if (err)
		return err;
	cb->args[0] = 1;
	return skb->len;
}

static bool find_by_interface(struct net *net, int ifindex, struct smc_pnetid *id)
{
	struct net_device *dev;
	bool found;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	found = dev && smc_pnet_find_interface(&smc_net(net)->pnet, dev, id);
	rcu_read_unlock();
	return found;
}

/**
 * smc_netlink_find_pnetid() - which physical network is a port attached to?
 * @net: the namespace whose PNET table is used
 * @port: the port
 * @text: result: the PNET ID, or an empty string
 *
 * Uses the entry of the device, else that of its network interface, as the handshake does. Process
 * context or softirq.
 *
 * Return: true if the table has an entry.
 */
bool smc_netlink_find_pnetid(struct net *net, const struct smc_netlink_port *port,
			     char text[SMC_PNETID_LEN + 1])
{
	struct smc_pnetid id;
	bool found;

	text[0] = '\0';
	found = (port->number && smc_pnet_find_device(&smc_net(net)->pnet, port->device,
						      port->number, &id)) ||
		(port->ifindex && find_by_interface(net, port->ifindex, &id));
	if (found)
		smc_pnetid_format(&id, text, SMC_PNETID_LEN + 1);
	return found;
}

static int put_ism_port(struct sk_buff *skb, struct net *net, const struct smc_ism_device *dev)
{
	const struct smc_netlink_port port = { .device = dev->name, .number = SMC_PNET_ISM_PORT };
	struct nlattr *nest = nla_nest_start(skb, SMC_NLA_DEV_PORT);
	char text[SMC_PNETID_LEN + 1];
	bool by_user = smc_netlink_find_pnetid(net, &port, text);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, by_user) ||
	    nla_put_string(skb, SMC_NLA_DEV_PORT_PNETID, text))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Only the first namespace is shown the groups of other namespaces */
static u32 count_groups(struct net *net, const struct smc_ism_device *dev)
{
	return atomic_read(net_eq(net, &init_net) ? &dev->groups : &smc_net(net)->ism_groups);
}

/* Tools need every attribute, also those that do not apply to emulated devices */
static int put_ism(struct sk_buff *skb, struct net *net, const struct smc_ism_device *dev)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_DEV_SMCD);
	char name[SMC_PCI_ID_STR_LEN];
	u32 groups = count_groups(net, dev);

	strscpy(name, dev->name, sizeof(name));
	if (!nest ||
	    nla_put_u32(skb, SMC_NLA_DEV_USE_CNT, groups) ||
	    nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, groups > 0) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PCI_FID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_CHID, dev->chid) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_VENDOR, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_DEVICE, 0) ||
	    nla_put_string(skb, SMC_NLA_DEV_PCI_ID, name) ||
	    put_ism_port(skb, net, dev))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_netlink_get_dev_smcd() - dump the ISM devices, one message each
 * @skb: answer
 * @cb: dump; args[0] is the index of the next device
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_get_dev_smcd(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_ism_device *dev;

	while ((dev = smcd_device_nth(cb->args[0]))) {
		void *header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_DEV_SMCD);
		int err = header ? put_ism(skb, smc_netlink_net(cb), dev) : 0;

		err = smc_netlink_end(skb, header, err);
		smcd_device_put(dev);
		if (err)
			return skb->len ?: err;
		cb->args[0]++;
	}
	return skb->len;
}

static int put_rdma_port(struct sk_buff *skb, struct net *net, const char *device, u8 number,
			 const struct smc_port_info *port)
{
	static const int attrs[SMC_DEVICE_PORTS] = { SMC_NLA_DEV_PORT, SMC_NLA_DEV_PORT2 };
	const struct smc_netlink_port where = {
		.device = device, .number = number, .ifindex = port->ifindex,
	};
	char text[SMC_PNETID_LEN + 1];
	struct nlattr *nest;
	bool by_user;

	if (!port->valid)
		return 0;
	nest = nla_nest_start(skb, attrs[number - 1]);
	by_user = smc_netlink_find_pnetid(net, &where, text);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, by_user) ||
	    nla_put_string(skb, SMC_NLA_DEV_PORT_PNETID, text) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_NETDEV, port->ifindex) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_VALID, 1) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_STATE, port->active) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_LNK_CNT, port->links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Tools need the PCI attributes too, which do not apply to software devices */
static int put_rdma(struct sk_buff *skb, struct net *net, const struct smc_device_info *dev)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_DEV_SMCR);
	u32 links = dev->ports[0].links + dev->ports[1].links;
	u8 i;

	if (!nest ||
	    nla_put_u32(skb, SMC_NLA_DEV_USE_CNT, links) ||
	    nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, links > 0) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PCI_FID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_CHID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_VENDOR, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_DEVICE, 0) ||
	    nla_put_string(skb, SMC_NLA_DEV_PCI_ID, "") ||
	    nla_put_string(skb, SMC_NLA_DEV_IB_NAME, dev->name))
		return -EMSGSIZE;
	for (i = 0; i < SMC_DEVICE_PORTS; i++)
		if (put_rdma_port(skb, net, dev->name, i + 1, &dev->ports[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_netlink_get_dev_smcr() - dump the RDMA devices, one message each
 * @skb: answer
 * @cb: dump; args[0] is the serial number of the last device shown
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_get_dev_smcr(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct smc_transport *transport = smc_transport_get(SMC_MODE_R);
	struct net *net = smc_netlink_net(cb);
	struct smc_device_info dev;
	int err = 0;

	if (!transport)
		return skb->len;
	while (!err && transport->device_info(net, cb->args[0], &dev)) {
		void *header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_DEV_SMCR);

		err = smc_netlink_end(skb, header, header ? put_rdma(skb, net, &dev) : 0);
		if (!err)
			cb->args[0] = dev.serial;
	}
	smc_transport_put(transport);
	return skb->len ?: err;
}
