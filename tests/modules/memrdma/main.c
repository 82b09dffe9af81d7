// SPDX-License-Identifier: GPL-2.0-only
/* Module: parameters, and "rdma link add ... type mem". */

#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "memrdma.h"

module_param_named(max_qp, memrdma_limits.max_qp, uint, 0644);
MODULE_PARM_DESC(max_qp, "queue pairs of a device");
module_param_named(max_qp_wr, memrdma_limits.max_qp_wr, uint, 0644);
MODULE_PARM_DESC(max_qp_wr, "slots of each queue of a queue pair");
module_param_named(max_cqe, memrdma_limits.max_cqe, uint, 0644);
MODULE_PARM_DESC(max_cqe, "entries of a completion queue");
module_param_named(max_mr, memrdma_limits.max_mr, uint, 0644);
MODULE_PARM_DESC(max_mr, "memory regions of a device");
module_param_named(max_pages, memrdma_limits.max_pages, uint, 0644);
MODULE_PARM_DESC(max_pages, "pages of a memory region");
module_param_named(max_send_sge, memrdma_limits.max_send_sge, uint, 0644);
MODULE_PARM_DESC(max_send_sge, "scatter/gather entries of a send request, up to 16");
module_param_named(max_recv_sge, memrdma_limits.max_recv_sge, uint, 0644);
MODULE_PARM_DESC(max_recv_sge, "scatter/gather entries of a receive request, up to 16");
module_param_named(max_inline, memrdma_limits.max_inline, uint, 0644);
MODULE_PARM_DESC(max_inline, "bytes of inline data, up to 256");
module_param_named(roce, memrdma_limits.roce, uint, 0644);
MODULE_PARM_DESC(roce, "versions of RoCE: 1, 2, or 3 for both");
module_param_named(max_mtu, memrdma_limits.max_mtu, uint, 0644);
MODULE_PARM_DESC(max_mtu, "bytes of a packet, 256 to 4096");
module_param_named(gids, memrdma_limits.gids, uint, 0644);
MODULE_PARM_DESC(gids, "GIDs of a port");
module_param_named(bounce, memrdma_limits.bounce, bool, 0644);
MODULE_PARM_DESC(bounce, "memory is mapped for DMA (with swiotlb=force: copied)");

static int set_control(const char *text, const struct kernel_param *param)
{
	return memrdma_control(text);
}

static int get_state(char *buffer, const struct kernel_param *param)
{
	return memrdma_device_show(buffer);
}

static const struct kernel_param_ops control_ops = { .set = set_control };
static const struct kernel_param_ops state_ops = { .get = get_state };

/* Only while the module is there: the loader could not have made anything yet */
module_param_cb(control, &control_ops, NULL, 0200);
MODULE_PARM_DESC(control, "takes commands");
module_param_cb(state, &state_ops, NULL, 0444);
MODULE_PARM_DESC(state, "a line for each port");

static int add_link(const char *name, struct net_device *ndev)
{
	return memrdma_device_add(name, &ndev, 1);
}

static struct rdma_link_ops link_ops = {
	.type		= "mem",
	.newlink	= add_link,
};

static int __init memrdma_init(void)
{
	int err = memrdma_device_init();

	if (!err)
		rdma_link_register(&link_ops);
	return err;
}

static void __exit memrdma_exit(void)
{
	rdma_link_unregister(&link_ops);
	memrdma_device_exit();
	memrdma_qp_exit();
	memrdma_memory_exit();
	rcu_barrier();
}

module_init(memrdma_init);
module_exit(memrdma_exit);
MODULE_DESCRIPTION("RDMA provider in memory, for tests");
MODULE_ALIAS_RDMA_LINK("mem");
MODULE_LICENSE("GPL");
