// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMC-R: implements group/transport.h over RDMA devices, as the module smc_rdma.
 */

#include <linux/module.h>

#include "conn.h"
#include "device.h"
#include "group.h"
#include "inspect.h"
#include "neighbour.h"

struct workqueue_struct *smcr_wq;

static const struct smc_transport transport = {
	.name		= "SMC-R",
	.owner		= THIS_MODULE,
	.mode		= SMC_MODE_R,
	.sparing	= true,
	.buffered	= true,
	.candidates	= smcr_gid_candidates,
	.candidate_put	= smcr_gid_candidate_put,
	.reaches	= smcr_route_reaches,
	.resolve	= smcr_route_resolve,
	.resolve_end	= smcr_neigh_forget,
	.group_open	= smcr_group_open,
	.group_named	= smcr_group_named,
	.group_close	= smcr_group_close,
	.group_device_name = smcr_group_device_name,
	.group_link	= smcr_group_link_info,
	.group_memory	= smcr_group_memory_info,
	.device_info	= smcr_device_info,
	.conn_open	= smcr_conn_open,
	.conn_describe	= smcr_conn_describe,
	.conn_attach	= smcr_conn_attach,
	.conn_settle	= smcr_conn_settle,
	.conn_ends	= smcr_conn_ends,
	.conn_close	= smcr_conn_close,
	.ring_alloc	= smcr_conn_ring_alloc,
	.ring_swap	= smcr_conn_ring_swap,
	.ring_free	= smcr_conn_ring_free,
	.tx_progress	= smcr_conn_tx_progress,
	.cdc_post	= smcr_conn_cdc_post,
};

static int __init smcr_init(void)
{
	int err;

	/* No WQ_MEM_RECLAIM: reclaim does not wait for it, and it waits for work of drivers */
	smcr_wq = alloc_workqueue("smcr", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!smcr_wq)
		return -ENOMEM;
	err = smcr_device_init();
	if (err)
		goto err_wq;
	err = smc_transport_register(&transport);
	if (err)
		goto err_device;
	return 0;

err_device:
	smcr_device_exit();
err_wq:
	destroy_workqueue(smcr_wq);
	return err;
}

/* Connections hold a module reference, so none exists. Groups without connections end now. */
static void __exit smcr_exit(void)
{
	smc_transport_unregister(&transport);
	smcr_group_exit();
	smcr_device_exit();
	destroy_workqueue(smcr_wq);
	rcu_barrier();	/* for connections freed by kfree_rcu() */
}

module_init(smcr_init);
module_exit(smcr_exit);

MODULE_DESCRIPTION("Shared Memory Communications over RDMA (SMC-R)");
MODULE_VERSION("0.1");
MODULE_LICENSE("GPL");
