// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addition and removal of RDMA devices, and their events.
 *
 * A device is in the list while new links may use it. A user of its struct ib_device visits the
 * device (smcr_device_for_each()), or has a link that entered it: removal waits for both. A visitor
 * holds no lock: the scheduler may stop it, as each task in connect().
 */

#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "../wire/reason.h"
#include "device.h"
#include "group.h"
#include "neighbour.h"

static DEFINE_SPINLOCK(devices_lock);	/* protects devices, and visitors of each device */
static LIST_HEAD(devices);		/* by serial */
static unsigned long last_serial;	/* protected by devices_lock */

static void device_free(struct kref *ref)
{
	struct smcr_device *dev = container_of(ref, struct smcr_device, ref);

	kfree(dev->ports);
	kfree_rcu(dev, rcu);
}

/**
 * smcr_device_get() - take another reference
 * @dev: a device the caller has a reference to
 *
 * Return: @dev.
 */
struct smcr_device *smcr_device_get(struct smcr_device *dev)
{
	kref_get(&dev->ref);
	return dev;
}

/**
 * smcr_device_put() - drop a reference
 * @dev: the device; a reference keeps only its memory
 */
void smcr_device_put(struct smcr_device *dev)
{
	kref_put(&dev->ref, device_free);
}

/**
 * smcr_device_name() - copy the name, which the operator may change
 * @dev: the device
 * @name: result, of SMC_DEVICE_NAME_LEN bytes
 *
 * Any context.
 */
void smcr_device_name(struct smcr_device *dev, char *name)
{
	BUILD_BUG_ON(sizeof(dev->name) != SMC_DEVICE_NAME_LEN);
	spin_lock_bh(&dev->name_lock);
	memcpy(name, dev->name, sizeof(dev->name));
	spin_unlock_bh(&dev->name_lock);
}

/**
 * smcr_device_enter() - a link begins to use the device
 * @dev: the device
 * @link: the link; its port is set
 *
 * Return: true, and smcr_device_leave() is due later; false if the device is being removed.
 */
bool smcr_device_enter(struct smcr_device *dev, struct smcr_link *link)
{
	bool entered = false;

	spin_lock_bh(&dev->lock);
	if (!dev->gone) {
		list_add_tail(&link->device_node, &dev->links);
		entered = true;
	}
	spin_unlock_bh(&dev->lock);
	return entered;
}

/**
 * smcr_device_leave() - a link has freed its resources of the device
 * @dev: the device; the link must not use its struct ib_device any more
 * @link: the link
 */
void smcr_device_leave(struct smcr_device *dev, struct smcr_link *link)
{
	spin_lock_bh(&dev->lock);
	list_del_init(&link->device_node);
	if (list_empty(&dev->links))
		wake_up_all(&dev->idle);
	spin_unlock_bh(&dev->lock);
}

/* Return: the first device that was added after that of @serial, for leave_device(); or NULL */
static struct smcr_device *visit_device(unsigned long serial)
{
	struct smcr_device *dev, *found = NULL;

	spin_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list) {
		if (dev->serial <= serial)
			continue;
		dev->visitors++;
		found = dev;
		break;
	}
	spin_unlock(&devices_lock);
	return found;
}

static void leave_device(struct smcr_device *dev)
{
	spin_lock(&devices_lock);
	if (!--dev->visitors)
		wake_up_all(&dev->idle);
	spin_unlock(&devices_lock);
}

/**
 * smcr_device_for_each() - call a function for each device
 * @look: the function; may sleep; ends the walk by returning true. The device is not removed
 *	meanwhile
 * @context: second argument of @look
 *
 * May sleep.
 */
void smcr_device_for_each(bool (*look)(struct smcr_device *dev, void *context), void *context)
{
	struct smcr_device *dev;
	unsigned long serial = 0;
	bool ends = false;

	while (!ends && (dev = visit_device(serial))) {
		serial = dev->serial;
		ends = look(dev, context);
		leave_device(dev);
	}
}

static bool any_link(const struct smcr_device *dev, const struct smcr_gid *gid, u32 port)
{
	return true;
}

/* Has the port lost the address @gid? */
static bool lost_address(const struct smcr_device *dev, const struct smcr_gid *gid, u32 port)
{
	const struct ib_gid_attr *attr;

	if (gid->port != port)
		return false;
	attr = smcr_gid_entry(gid);
	if (IS_ERR(attr))
		return true;
	rdma_put_gid_attr(attr);
	return false;
}

/* Take down the links that @is_hit selects. @severed: the device works, but not their path. */
static void links_down(struct smcr_device *dev, u32 port, bool severed,
		       bool (*is_hit)(const struct smcr_device *dev, const struct smcr_gid *gid,
				      u32 port))
{
	struct smcr_link *link;

	spin_lock_bh(&dev->lock);
	list_for_each_entry(link, &dev->links, device_node) {
		if (!is_hit(dev, link->gid, port))
			continue;
		if (severed)
			WRITE_ONCE(link->severed, true);
		smcr_link_down(link, SMC_LINK_LOST_PATH);
	}
	spin_unlock_bh(&dev->lock);
}

/* A port may come back, so active links stay for some time. A first contact can still use TCP. */
static void port_changed(struct smcr_device *dev, u32 port, bool severed)
{
	struct smcr_link *link;

	spin_lock_bh(&dev->lock);
	list_for_each_entry(link, &dev->links, device_node)
		if (link->gid->port == port)
			smcr_link_set_severed(link, severed);
	spin_unlock_bh(&dev->lock);
}

/*
 * Process context: the RDMA core calls event handlers from work. A link whose address was removed
 * goes down: the adapter has lost the address at once, and an address that is added again has
 * another entry.
 */
static void on_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct smcr_device *dev = container_of(handler, struct smcr_device, events);

	smcr_gid_forget_lists(dev);
	if (event->event == IB_EVENT_PORT_ACTIVE || event->event == IB_EVENT_GID_CHANGE)
		smcr_group_ports_changed();
	switch (event->event) {
	case IB_EVENT_DEVICE_FATAL:
		links_down(dev, 0, false, any_link);
		break;
	case IB_EVENT_PORT_ERR:
		port_changed(dev, event->element.port_num, true);
		break;
	case IB_EVENT_PORT_ACTIVE:
		port_changed(dev, event->element.port_num, false);
		break;
	case IB_EVENT_GID_CHANGE:
		links_down(dev, event->element.port_num, true, lost_address);
		break;
	default:
		break;
	}
}

/* RMBs are registered through the send queue, and at least one port must support RoCE */
static bool is_suitable(struct ib_device *ibdev)
{
	u32 port;

	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return false;
	rdma_for_each_port(ibdev, port)
		if (rdma_protocol_roce(ibdev, port))
			return true;
	return false;
}

/* A query may take long, so each port is queried once, and not during a handshake */
static int learn_ports(struct smcr_device *dev)
{
	struct ib_device *ibdev = dev->ibdev;
	struct ib_port_attr attr;
	u32 port;
	int err;

	rdma_for_each_port(ibdev, port) {
		err = ib_query_port(ibdev, port, &attr);
		if (err)
			return err;
		dev->ports[port].max_mtu = attr.max_mtu;
	}
	return 0;
}

static struct ib_client ib_client;

static int add_device(struct ib_device *ibdev)
{
	struct smcr_device *dev;
	int err = -ENOMEM;

	if (!is_suitable(ibdev))
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;

	dev->ports = kcalloc(rdma_end_port(ibdev) + 1, sizeof(*dev->ports), GFP_KERNEL);
	if (!dev->ports)
		goto err_free;
	dev->ibdev = ibdev;
	err = learn_ports(dev);
	if (err)
		goto err_free;
	kref_init(&dev->ref);
	strscpy(dev->name, dev_name(&ibdev->dev), sizeof(dev->name));
	spin_lock_init(&dev->lock);
	spin_lock_init(&dev->name_lock);
	INIT_LIST_HEAD(&dev->links);
	init_waitqueue_head(&dev->idle);
	ib_set_client_data(ibdev, &ib_client, dev);
	INIT_IB_EVENT_HANDLER(&dev->events, ibdev, on_event);
	ib_register_event_handler(&dev->events);

	spin_lock(&devices_lock);
	dev->serial = ++last_serial;
	list_add_tail(&dev->list, &devices);
	spin_unlock(&devices_lock);
	smcr_group_ports_changed();	/* its ports may have their addresses already */
	return 0;

err_free:
	kfree(dev->ports);
	kfree(dev);
	return err;
}

/*
 * There are no more visitors, and no more links, after the last one. Who wakes does so under the
 * lock, and does not use the device after that.
 */
static bool is_idle(struct smcr_device *dev)
{
	bool idle;

	spin_lock(&devices_lock);
	idle = !dev->visitors;
	spin_unlock(&devices_lock);
	spin_lock_bh(&dev->lock);
	idle = idle && list_empty(&dev->links);
	spin_unlock_bh(&dev->lock);
	return idle;
}

static void remove_device(struct ib_device *ibdev, void *data)
{
	struct smcr_device *dev = data;

	spin_lock(&devices_lock);
	list_del(&dev->list);
	spin_unlock(&devices_lock);
	ib_unregister_event_handler(&dev->events);

	spin_lock_bh(&dev->lock);
	dev->gone = true;
	spin_unlock_bh(&dev->lock);
	links_down(dev, 0, false, any_link);
	wait_event(dev->idle, is_idle(dev));
	smcr_gid_forget_lists(dev);
	smcr_device_put(dev);
}

static void rename_device(struct ib_device *ibdev, void *data)
{
	struct smcr_device *dev = data;

	spin_lock_bh(&dev->name_lock);
	strscpy_pad(dev->name, dev_name(&ibdev->dev), sizeof(dev->name));
	spin_unlock_bh(&dev->name_lock);
}

static struct ib_client ib_client = {
	.name	= "smc",
	.add	= add_device,
	.remove	= remove_device,
	.rename	= rename_device,
};

/**
 * smcr_device_init() - register for all present and future devices
 *
 * May sleep.
 *
 * Return: 0 or a negative errno.
 */
int smcr_device_init(void)
{
	int err = smcr_neigh_init();

	if (err)
		return err;
	err = ib_register_client(&ib_client);
	if (err)
		smcr_neigh_exit();
	return err;
}

/** smcr_device_exit() - remove all devices; waits until no link uses any. May sleep. */
void smcr_device_exit(void)
{
	ib_unregister_client(&ib_client);
	smcr_neigh_exit();
}
