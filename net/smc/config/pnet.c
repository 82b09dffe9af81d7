// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PNET table. Entries name interfaces and devices that need not exist: they
 * take effect when something of that name appears.
 */

#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "pnet.h"

/**
 * smc_pnet_init() - an empty table
 * @pnet: to be filled
 */
void smc_pnet_init(struct smc_pnet *pnet)
{
	spin_lock_init(&pnet->lock);
	INIT_LIST_HEAD(&pnet->entries);
	pnet->nr = 0;
	pnet->last_serial = 0;
}

/* @port is 0 for an interface */
static const struct smc_pnet_entry *find(const struct smc_pnet *pnet, const char *name, u8 port)
{
	const struct smc_pnet_entry *entry;

	lockdep_assert_held(&pnet->lock);
	list_for_each_entry(entry, &pnet->entries, list)
		if (entry->port == port && !strcmp(entry->name, name))
			return entry;
	return NULL;
}

static struct smc_pnet_entry *create(const struct smc_pnetid *id, const char *name, u8 port)
{
	struct smc_pnet_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);

	if (!entry)
		return NULL;
	entry->pnetid = *id;
	entry->port = port;
	strscpy(entry->name, name, sizeof(entry->name));
	return entry;
}

static void append(struct smc_pnet *pnet, struct smc_pnet_entry *entry)
{
	lockdep_assert_held(&pnet->lock);
	entry->serial = ++pnet->last_serial;
	pnet->nr++;
	list_add_tail(&entry->list, &pnet->entries);
}

/* Takes over both entries if it works out, each of which may be NULL; all or nothing */
static int insert(struct smc_pnet *pnet, struct smc_pnet_entry *a, struct smc_pnet_entry *b)
{
	int err = 0;

	spin_lock_bh(&pnet->lock);
	if ((a && find(pnet, a->name, a->port)) || (b && find(pnet, b->name, b->port)))
		err = -EEXIST;
	else if (pnet->nr + !!a + !!b > SMC_PNET_ENTRIES)
		err = -ENOSPC;
	if (!err && a)
		append(pnet, a);
	if (!err && b)
		append(pnet, b);
	spin_unlock_bh(&pnet->lock);
	return err;
}

/**
 * smc_pnet_add() - say to which network something is attached
 * @pnet: the table
 * @id: the network
 * @interface: name of an interface, or NULL
 * @device: name of an RDMA or ISM device, or NULL
 * @port: port of @device, 1 to SMC_PNET_PORTS
 *
 * Either both are added or none. May sleep.
 *
 * Return: 0, -ENOMEM, -EEXIST if one of them has an entry, or -ENOSPC.
 */
int smc_pnet_add(struct smc_pnet *pnet, const struct smc_pnetid *id, const char *interface,
		 const char *device, u8 port)
{
	struct smc_pnet_entry *a = NULL, *b = NULL;
	int err = -ENOMEM;

	if (interface) {
		a = create(id, interface, 0);
		if (!a)
			return err;
	}
	if (device) {
		b = create(id, device, port);
		if (!b)
			goto err_interface;
	}
	err = insert(pnet, a, b);
	if (err)
		goto err_device;
	return 0;

err_device:
	kfree(b);
err_interface:
	kfree(a);
	return err;
}

/* Remove the entries of one network, or all if @id is NULL. Return: how many */
static unsigned int take_out(struct smc_pnet *pnet, const struct smc_pnetid *id)
{
	struct smc_pnet_entry *entry, *next;
	unsigned int removed = 0;
	LIST_HEAD(gone);

	spin_lock_bh(&pnet->lock);
	list_for_each_entry_safe(entry, next, &pnet->entries, list) {
		if (id && !smc_pnetid_equal(&entry->pnetid, id))
			continue;
		list_move_tail(&entry->list, &gone);
		removed++;
	}
	pnet->nr -= removed;
	spin_unlock_bh(&pnet->lock);

	list_for_each_entry_safe(entry, next, &gone, list)
		kfree(entry);
	return removed;
}

/**
 * smc_pnet_remove() - remove all entries of one network
 * @pnet: the table
 * @id: the network
 *
 * Return: 0, or -ENOENT if there is none.
 */
int smc_pnet_remove(struct smc_pnet *pnet, const struct smc_pnetid *id)
{
	return take_out(pnet, id) ? 0 : -ENOENT;
}

/**
 * smc_pnet_flush() - remove all entries
 * @pnet: the table
 */
void smc_pnet_flush(struct smc_pnet *pnet)
{
	take_out(pnet, NULL);
}

/**
 * smc_pnet_next() - walk over the table while it may change
 * @pnet: the table
 * @serial: of the entry before, 0 to start
 * @out: copy of the next entry; its @list is of no use
 *
 * Return: false at the end.
 */
bool smc_pnet_next(struct smc_pnet *pnet, u64 serial, struct smc_pnet_entry *out)
{
	const struct smc_pnet_entry *entry;
	bool found = false;

	spin_lock_bh(&pnet->lock);
	list_for_each_entry(entry, &pnet->entries, list) {
		if (entry->serial <= serial)
			continue;
		*out = *entry;
		found = true;
		break;
	}
	spin_unlock_bh(&pnet->lock);
	return found;
}

static bool look_up(struct smc_pnet *pnet, const char *name, u8 port, struct smc_pnetid *out)
{
	const struct smc_pnet_entry *entry;

	spin_lock_bh(&pnet->lock);
	entry = find(pnet, name, port);
	if (entry)
		*out = entry->pnetid;
	spin_unlock_bh(&pnet->lock);
	return entry;
}

/**
 * smc_pnet_find_device() - to which network is a device attached?
 * @pnet: the table
 * @name: of an RDMA or ISM device
 * @port: its port, SMC_PNET_ISM_PORT for ISM
 * @out: the network
 *
 * Process context or softirq.
 *
 * Return: false if the operator has not said.
 */
bool smc_pnet_find_device(struct smc_pnet *pnet, const char *name, u8 port,
			  struct smc_pnetid *out)
{
	return look_up(pnet, name, port, out);
}

/**
 * struct walk - down from an interface
 * @pnet: table of its namespace
 * @net: the namespace
 * @out: result
 */
struct walk {
	struct smc_pnet *pnet;
	const struct net *net;
	struct smc_pnetid *out;
};

/* What is below may be in another namespace, where names mean something else */
static int look_up_lower(struct net_device *dev, struct netdev_nested_priv *priv)
{
	const struct walk *walk = priv->data;

	return net_eq(dev_net(dev), walk->net) && look_up(walk->pnet, dev->name, 0, walk->out);
}

/**
 * smc_pnet_find_interface() - to which network is an interface attached?
 * @pnet: table of its namespace
 * @dev: interface; the caller holds a reference
 * @out: the network
 *
 * A VLAN, bond or other interface on top of others is attached to what those
 * below are attached to, unless it has an entry of its own. Process context or
 * softirq.
 *
 * Return: false if the operator has not said.
 */
bool smc_pnet_find_interface(struct smc_pnet *pnet, struct net_device *dev,
			     struct smc_pnetid *out)
{
	struct walk walk = { .pnet = pnet, .net = dev_net(dev), .out = out };
	struct netdev_nested_priv priv = { .data = &walk };
	bool found = look_up(pnet, dev->name, 0, out);

	if (!found) {
		rcu_read_lock();
		found = netdev_walk_all_lower_dev_rcu(dev, look_up_lower, &priv);
		rcu_read_unlock();
	}
	return found;
}
