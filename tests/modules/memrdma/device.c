// SPDX-License-Identifier: GPL-2.0-only
/* Devices and their ports: what they are, and how they come and go. */

#include <linux/dma-mapping.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include "memrdma.h"

struct memrdma_limits memrdma_limits = {
	.max_qp		= 16384,
	.max_qp_wr	= 8192,
	.max_cqe	= 1 << 20,
	.max_mr		= 1 << 20,
	.max_pages	= 8192,
	.max_send_sge	= MEMRDMA_MAX_SGE,
	.max_recv_sge	= MEMRDMA_MAX_SGE,
	.max_inline	= MEMRDMA_MAX_INLINE,
	.roce		= 3,
	.max_mtu	= 4096,
	.gids		= 256,
};

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);	/* protects the list; below RTNL */
static struct platform_device *dma_device;

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	const struct memrdma_limits *limits = &memrdma_dev(ibdev)->limits;

	*attr = (struct ib_device_attr){
		.max_mr_size		= U64_MAX,
		.page_size_cap		= PAGE_SIZE,
		.max_qp			= limits->max_qp,
		.max_qp_wr		= limits->max_qp_wr,
		.max_send_sge		= limits->max_send_sge,
		.max_recv_sge		= limits->max_recv_sge,
		.max_cq			= INT_MAX,
		.max_cqe		= limits->max_cqe,
		.max_mr			= limits->max_mr,
		.max_pd			= INT_MAX,
		.max_qp_rd_atom		= 1,
		.max_qp_init_rd_atom	= 1,
		.max_pkeys		= 1,
		.max_fast_reg_page_list_len = limits->max_pages,
		.device_cap_flags	= IB_DEVICE_MEM_MGT_EXTENSIONS,
		.kernel_cap_flags	= IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG,
	};
	return 0;
}

static int query_port(struct ib_device *ibdev, u32 number, struct ib_port_attr *attr)
{
	struct memrdma_dev *dev = memrdma_dev(ibdev);
	struct memrdma_port *port = &dev->ports[number - 1];
	bool up = READ_ONCE(port->up);
	int err = memrdma_verb(ibdev, MEMRDMA_QUERY_PORT);

	if (err)
		return err;
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = iboe_get_mtu(dev->limits.max_mtu + IB_GRH_BYTES + 40);
	attr->active_mtu = min(attr->max_mtu, iboe_get_mtu(READ_ONCE(port->ndev->mtu)));
	attr->gid_tbl_len = dev->limits.gids;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = 1u << 31;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	return 0;
}

static int query_pkey(struct ib_device *ibdev, u32 number, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, u32 number,
			      struct ib_port_immutable *immutable)
{
	const struct memrdma_limits *limits = &memrdma_dev(ibdev)->limits;

	immutable->core_cap_flags = RDMA_CORE_CAP_ETH_AH;
	if (limits->roce & 1)
		immutable->core_cap_flags |= RDMA_CORE_CAP_PROT_ROCE;
	if (limits->roce & 2)
		immutable->core_cap_flags |= RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = limits->gids;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 number)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return memrdma_verb(pd->device, MEMRDMA_ALLOC_PD);
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

/* The last argument, of users, has another type in older kernels */
static int __maybe_unused create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
				    struct uverbs_attr_bundle *attrs)
{
	return memrdma_create_cq(ibcq, attr);
}

static int __maybe_unused create_cq_udata(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
					  struct ib_udata *udata)
{
	return memrdma_create_cq(ibcq, attr);
}

#define CREATE_CQ \
	__builtin_choose_expr(__builtin_types_compatible_p(					\
		typeof(((const struct ib_device_ops *)0)->create_cq), typeof(create_cq) *),	\
		create_cq, create_cq_udata)

static void release_port(struct memrdma_port *port)
{
	if (!port->ndev)
		return;
	rtnl_lock();
	memrdma_hold_neighbours(port, false);
	rtnl_unlock();
	dev_put(port->ndev);
}

static void dealloc_driver(struct ib_device *ibdev)
{
	struct memrdma_dev *dev = memrdma_dev(ibdev);
	u32 i;

	mutex_lock(&devices_lock);
	list_del(&dev->list);
	mutex_unlock(&devices_lock);
	WARN_ON(atomic_read(&dev->nr_qps) || atomic_read(&dev->nr_mrs));
	for (i = 0; i < dev->nr_ports; i++)
		release_port(&dev->ports[i]);
	kfree(dev->ports);
}

static const struct ib_device_ops device_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.query_device		= query_device,
	.query_port		= query_port,
	.query_pkey		= query_pkey,
	.get_port_immutable	= get_port_immutable,
	.get_link_layer		= get_link_layer,
	.dealloc_driver		= dealloc_driver,
	.alloc_pd		= alloc_pd,
	.dealloc_pd		= dealloc_pd,
	.create_cq		= CREATE_CQ,
	.destroy_cq		= memrdma_destroy_cq,
	.poll_cq		= memrdma_poll_cq,
	.req_notify_cq		= memrdma_req_notify_cq,
	.create_qp		= memrdma_create_qp,
	.modify_qp		= memrdma_modify_qp,
	.query_qp		= memrdma_query_qp,
	.destroy_qp		= memrdma_destroy_qp,
	.post_send		= memrdma_post_send,
	.post_recv		= memrdma_post_recv,
	.get_dma_mr		= memrdma_get_dma_mr,
	.reg_user_mr		= memrdma_reg_user_mr,
	.alloc_mr		= memrdma_alloc_mr,
	.map_mr_sg		= memrdma_map_mr_sg,
	.dereg_mr		= memrdma_dereg_mr,
	INIT_RDMA_OBJ_SIZE(ib_pd, memrdma_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_cq, memrdma_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_qp, memrdma_qp, ibqp),
};

static bool is_up(const struct memrdma_port *port)
{
	return !port->is_down && netif_running(port->ndev) && netif_carrier_ok(port->ndev);
}

/**
 * memrdma_port_update() - tell if a port went down or is up again
 * @port: the port
 *
 * Caller holds RTNL.
 */
void memrdma_port_update(struct memrdma_port *port)
{
	struct ib_event event = {
		.device			= &port->dev->ibdev,
		.element.port_num	= port->number,
	};
	bool up = is_up(port);

	ASSERT_RTNL();
	if (port->up == up)
		return;
	WRITE_ONCE(port->up, up);
	event.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
}

static int init_port(struct memrdma_dev *dev, u32 i, struct net_device *ndev)
{
	struct memrdma_port *port = &dev->ports[i];

	port->dev = dev;
	port->number = i + 1;
	port->fail_status = IB_WC_GENERAL_ERR;
	skb_queue_head_init(&port->heard);
	dev_hold(ndev);
	port->ndev = ndev;
	port->up = is_up(port);
	return ib_device_set_netdev(&dev->ibdev, ndev, i + 1);
}

static bool is_sane(const struct memrdma_limits *limits)
{
	return limits->max_send_sge && limits->max_send_sge <= MEMRDMA_MAX_SGE &&
	       limits->max_recv_sge && limits->max_recv_sge <= MEMRDMA_MAX_SGE &&
	       limits->max_inline <= MEMRDMA_MAX_INLINE && limits->max_qp_wr <= 1 << 20 &&
	       limits->max_cqe <= 1 << 24 && limits->roce && limits->roce <= 3 &&
	       limits->max_mtu >= 256 && limits->max_mtu <= 4096 && limits->gids &&
	       limits->gids <= 4096;
}

static int init_device(struct memrdma_dev *dev, struct net_device **ndev, u32 nr_ports)
{
	struct ib_device *ibdev = &dev->ibdev;
	int err = 0;
	u32 i;

	dev->limits = memrdma_limits;
	spin_lock_init(&dev->fault_lock);
	prandom_seed_state(&dev->random, 0);
	dev->verb_errno = ENOMEM;
	mutex_lock(&devices_lock);
	list_add_tail(&dev->list, &devices);
	mutex_unlock(&devices_lock);
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = nr_ports;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->local_dma_lkey = MEMRDMA_LOCAL_KEY;
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, ndev[0]->dev_addr);
	ib_set_device_ops(ibdev, &device_ops);
	dev->ports = kcalloc(nr_ports, sizeof(*dev->ports), GFP_KERNEL);
	if (!dev->ports)
		return -ENOMEM;
	dev->nr_ports = nr_ports;
	for (i = 0; !err && i < nr_ports; i++)
		err = init_port(dev, i, ndev[i]);
	return err;
}

/* Was a network device unregistered before the list had this device? */
static bool lost_netdev(const struct memrdma_dev *dev)
{
	bool lost = false;
	u32 i;

	rtnl_lock();
	for (i = 0; i < dev->nr_ports; i++)
		lost |= dev->ports[i].ndev->reg_state != NETREG_REGISTERED;
	rtnl_unlock();
	return lost;
}

/**
 * memrdma_device_add() - make a device
 * @name: its name
 * @ndev: a network device for each of its ports
 * @nr_ports: how many
 *
 * May sleep.
 *
 * Return: 0 or a negative errno.
 */
int memrdma_device_add(const char *name, struct net_device **ndev, u32 nr_ports)
{
	struct memrdma_dev *dev;
	int err;

	if (!is_sane(&memrdma_limits))
		return -EINVAL;
	dev = ib_alloc_device(memrdma_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	err = init_device(dev, ndev, nr_ports);
	if (!err)
		err = ib_register_device(&dev->ibdev, name,
					 dev->limits.bounce ? &dma_device->dev : NULL);
	if (err) {
		ib_dealloc_device(&dev->ibdev);
		return err;
	}
	dev = memrdma_device_get(name);
	if (!dev)
		return 0;
	if (lost_netdev(dev))
		ib_unregister_device_queued(&dev->ibdev);
	ib_device_put(&dev->ibdev);
	return 0;
}

/**
 * memrdma_device_get() - find a device
 * @name: its name
 *
 * May sleep.
 *
 * Return: the device, which is not unregistered before ib_device_put(); or NULL.
 */
struct memrdma_dev *memrdma_device_get(const char *name)
{
	struct memrdma_dev *dev, *found = NULL;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list)
		if (ib_device_try_get(&dev->ibdev)) {
			if (!strcmp(dev_name(&dev->ibdev.dev), name)) {
				found = dev;
				break;
			}
			ib_device_put(&dev->ibdev);
		}
	mutex_unlock(&devices_lock);
	return found;
}

static const char * const count_names[NR_MEMRDMA_COUNTS] = {
	[MEMRDMA_REQUESTS]	= "requests",
	[MEMRDMA_LOST_REQUESTS]	= "lost_requests",
	[MEMRDMA_LOST_ACKS]	= "lost_acks",
	[MEMRDMA_RETRIES]	= "retries",
	[MEMRDMA_RNR]		= "rnr",
	[MEMRDMA_FAILED]	= "failed",
	[MEMRDMA_PARKED]	= "parked",
};

static int show_port(char *buffer, int at, const struct memrdma_port *port)
{
	int i;

	at += sysfs_emit_at(buffer, at, "%s/%u %s %s", dev_name(&port->dev->ibdev.dev),
			    port->number, port->ndev->name, port->up ? "up" : "down");
	for (i = 0; i < NR_MEMRDMA_COUNTS; i++)
		at += sysfs_emit_at(buffer, at, " %s=%ld", count_names[i],
				    atomic_long_read(&port->counts[i]));
	return at + sysfs_emit_at(buffer, at, " qps=%d mrs=%d\n", atomic_read(&port->dev->nr_qps),
				  atomic_read(&port->dev->nr_mrs));
}

/**
 * memrdma_device_show() - a line for each port
 * @buffer: of one page
 *
 * Return: bytes used.
 */
int memrdma_device_show(char *buffer)
{
	struct memrdma_dev *dev;
	int at = 0;
	u32 i;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list) {
		if (!ib_device_try_get(&dev->ibdev))
			continue;
		for (i = 0; i < dev->nr_ports; i++)
			at = show_port(buffer, at, &dev->ports[i]);
		ib_device_put(&dev->ibdev);
	}
	mutex_unlock(&devices_lock);
	return at;
}

static void take_event(struct memrdma_port *port, unsigned long event)
{
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		memrdma_port_update(port);
		break;
	case NETDEV_UNREGISTER:
		memrdma_hold_neighbours(port, false);
		ib_unregister_device_queued(&port->dev->ibdev);
		break;
	default:
		break;
	}
}

static int netdev_event(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct memrdma_dev *dev;
	u32 i;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list) {
		if (!ib_device_try_get(&dev->ibdev))
			continue;
		for (i = 0; i < dev->nr_ports; i++)
			if (dev->ports[i].ndev == ndev)
				take_event(&dev->ports[i], event);
		ib_device_put(&dev->ibdev);
	}
	mutex_unlock(&devices_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/**
 * memrdma_device_init() - be ready for devices
 *
 * Return: 0 or a negative errno.
 */
int memrdma_device_init(void)
{
	int err;

	dma_device = platform_device_register_simple("memrdma", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(dma_device))
		return PTR_ERR(dma_device);
	err = dma_coerce_mask_and_coherent(&dma_device->dev, DMA_BIT_MASK(64));
	if (!err)
		err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		platform_device_unregister(dma_device);
	return err;
}

/** memrdma_device_exit() - destroy all devices. May sleep */
void memrdma_device_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	ib_unregister_driver(RDMA_DRIVER_UNKNOWN);
	platform_device_unregister(dma_device);
}
