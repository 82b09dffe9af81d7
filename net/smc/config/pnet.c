// SPDX-License-Identifier: GPL-2.0-only
/* The PNET table. Entries may name interfaces and devices that do not exist yet. */

#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "pnet.h"

void smc_pnet_init(struct smc_pnet *pnet)
{
	spin_lock_init(&pnet->lock);
	INIT_LIST_HEAD(&pnet->entries);
	pnet->nr = 0;
	pnet->last_serial = 0;
}

/* @port is 0 for an interface */
static const struct smc_pnet_entry *find_entry(const struct smc_pnet *pnet, const char *name,
					       u8 port)
{
	const struct smc_pnet_entry *entry;

	lockdep_assert_held(&pnet->lock);
	list_for_each_entry(entry, &pnet->entries, list)
		if (entry->port == port && !strcmp(entry->name, name))
			return entry;
	return NULL;
}

static struct smc_pnet_entry *create_entry(const struct smc_pnetid *id, const char *name, u8 port)
{
	struct smc_pnet_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);

	if (!entry)
		return NULL;
	entry->pnetid = *id;
	entry->port = port;
	strscpy(entry->name, name, sizeof(entry->name));
	return entry;
}

static void append_entry(struct smc_pnet *pnet, struct smc_pnet_entry *entry)
{
	lockdep_assert_held(&pnet->lock);
	entry->serial = ++pnet->last_serial;
	pnet->nr++;
	list_add_tail(&entry->list, &pnet->entries);
}

/* Add both entries, which may be NULL, or on failure neither. On success the table owns them */
static int insert_entries(struct smc_pnet *pnet, struct smc_pnet_entry *a, struct smc_pnet_entry *b)
{
	int err = 0;

	spin_lock_bh(&pnet->lock);
	if ((a && find_entry(pnet, a->name, a->port)) || (b && find_entry(pnet, b->name, b->port)))
		err = -EEXIST;
	else if (pnet->nr + !!a + !!b > SMC_PNET_ENTRIES)
		err = -ENOSPC;
	if (!err && a)
		append_entry(pnet, a);
	if (!err && b)
		append_entry(pnet, b);
	spin_unlock_bh(&pnet->lock);
	return err;
}

/**
 * smc_pnet_add() - assign an interface and a device to a physical network
 * @pnet: the table
 * @id: PNET ID of the network
 * @interface: name of an interface, or NULL
 * @device: name of an RDMA or ISM device, or NULL
 * @port: port of @device, 1 to SMC_PNET_PORTS
 *
 * Adds both entries, or on failure neither. May sleep.
 *
 * Return: 0, -ENOMEM, -EEXIST if one of them has an entry, or -ENOSPC.
 */
int smc_pnet_add(struct smc_pnet *pnet, const struct smc_pnetid *id, const char *interface,
		 const char *device, u8 port)
{
	struct smc_pnet_entry *a = NULL, *b = NULL;
	int err = -ENOMEM;

	if (interface) {
		a = create_entry(id, interface, 0);
		if (!a)
			return err;
	}
	if (device) {
		b = create_entry(id, device, port);
		if (!b)
			goto err_interface;
	}
	err = insert_entries(pnet, a, b);
	if (err)
		goto err_device;
	return 0;

err_device:
	kfree(b);
err_interface:
	kfree(a);
	return err;
}

/* Remove the entries of one network, or all if @id is NULL. Return: their number */
static unsigned int remove_entries(struct smc_pnet *pnet, const struct smc_pnetid *id)
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
 * @id: PNET ID of the network
 *
 * Return: 0, or -ENOENT if no entry has this ID.
 */
int smc_pnet_remove(struct smc_pnet *pnet, const struct smc_pnetid *id)
{
	return remove_entries(pnet, id) ? 0 : -ENOENT;
}

void smc_pnet_flush(struct smc_pnet *pnet)
{
	remove_entries(pnet, NULL);
}

/**
 * smc_pnet_next() - iterate over the table, which may change between two calls
 * @pnet: the table
 * @serial: serial number of the previous entry, 0 to start
 * @out: copy of the next entry; its @list is invalid
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

static bool look_up_name(struct smc_pnet *pnet, const char *name, u8 port, struct smc_pnetid *out)
{
	const struct smc_pnet_entry *entry;

	spin_lock_bh(&pnet->lock);
	entry = find_entry(pnet, name, port);
	if (entry)
		*out = entry->pnetid;
	spin_unlock_bh(&pnet->lock);
	return entry;
}

/**
 * smc_pnet_find_device() - which physical network is a device attached to?
 * @pnet: the table
 * @name: name of an RDMA or ISM device
 * @port: its port, SMC_PNET_ISM_PORT for ISM
 * @out: result
 *
 * Process context or softirq.
 *
 * Return: false if the table has no entry.
 */
bool smc_pnet_find_device(struct smc_pnet *pnet, const char *name, u8 port,
			  struct smc_pnetid *out)
{
	return look_up_name(pnet, name, port, out);
}

/**
 * struct walk - arguments of look_up_lower()
 * @pnet: table of its namespace
 * @net: the namespace
 * @out: result
 */
struct walk {
	struct smc_pnet *pnet;
	const struct net *net;
	struct smc_pnetid *out;
};

/* A lower interface may be in another namespace, whose names are not those of this table */
static int look_up_lower(struct net_device *dev, struct netdev_nested_priv *priv)
{
	const struct walk *walk = priv->data;

	return net_eq(dev_net(dev), walk->net) && look_up_name(walk->pnet, dev->name, 0, walk->out);
}

/**
 * smc_pnet_find_interface() - which physical network is an interface attached to?
 * @pnet: table of its namespace
 * @dev: interface; the caller holds a reference
 * @out: result
 *
 * A VLAN, bond or other upper interface inherits the network of its lower interfaces, unless it has
 * an entry of its own. Process context or softirq.
 *
 * Return: false if the table has no entry.
 */
bool smc_pnet_find_interface(struct smc_pnet *pnet, struct net_device *dev,
			     struct smc_pnetid *out)
{
	struct walk walk = { .pnet = pnet, .net = dev_net(dev), .out = out };
	struct netdev_nested_priv priv = { .data = &walk };
	bool found = look_up_name(pnet, dev->name, 0, out);

	if (!found) {
		rcu_read_lock();
		found = netdev_walk_all_lower_dev_rcu(dev, look_up_lower, &priv);
		rcu_read_unlock();
	}
	return found;
}
