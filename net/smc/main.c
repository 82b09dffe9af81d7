// SPDX-License-Identifier: GPL-2.0-only
/* Shared Memory Communications: entry and exit of the module */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/smc.h>

#include "admin/netlink.h"
#include "config/eid.h"
#include "conn/conn.h"
#include "group/group.h"
#include "group/path.h"
#include "handshake/pair.h"
#include "ism/loopback.h"
#include "ism/transport.h"
#include "net.h"
#include "object.h"
#include "ops/ops.h"
#include "share.h"
#include "sock/connect_watch.h"
#include "sock/proto.h"
#include "sock/sock.h"
#include "work.h"

static int __init smc_init(void)
{
	int err;

	smc_eid_module_init();
	smc_share_init();
	smc_object_init();
	err = smc_work_init();
	if (err)
		goto err_object;
	err = smc_net_init();
	if (err)
		goto err_work;
	err = smc_path_init();
	if (err)
		goto err_net;
	err = smc_group_init();
	if (err)
		goto err_path;
	err = smc_netlink_init();
	if (err)
		goto err_group;
	err = smc_pnet_netlink_init();
	if (err)
		goto err_netlink;
	err = smcd_loopback_init();
	if (err)
		goto err_pnet_netlink;
	err = smcd_transport_init();
	if (err)
		goto err_loopback;
	err = smc_proto_tables_init();
	if (err)
		goto err_transport;
	smc_connect_watch_init();
	smc_pair_init();
	err = smc_sock_init();
	if (err)
		goto err_transport;
	err = smc_attach_init();
	if (err)
		goto err_sock;
	/* After the last step that can fail, sockets may exist and hold references to the module */
	err = smc_create_init();
	if (err)
		goto err_attach;
	smc_create_register();
	return 0;

err_attach:
	smc_attach_exit();
err_sock:
	smc_sock_exit();
err_transport:
	smcd_transport_exit();
err_loopback:
	smcd_loopback_exit();
err_pnet_netlink:
	smc_pnet_netlink_exit();
err_netlink:
	smc_netlink_exit();
err_group:
	smc_group_exit();
err_path:
	smc_path_exit();
err_net:
	smc_net_exit();
err_work:
	smc_conn_exit();
	smc_work_exit();
err_object:
	smc_object_exit();
	if (err == -EEXIST)
		pr_err("AF_SMC is there already: unload the kernel's own smc module first\n");
	return err;
}

static void __exit smc_exit(void)
{
	smc_create_unregister();
	smc_create_exit();
	smc_proto_exit();
	smc_sock_exit();
	smc_attach_exit();
	smcd_transport_exit();
	smc_group_exit();
	smc_path_exit();
	smcd_loopback_exit();
	smc_pnet_netlink_exit();	/* the functions above may send events */
	smc_netlink_exit();
	smc_conn_exit();
	smc_work_exit();
	smc_net_exit();
	rcu_barrier();		/* RCU callbacks free sockets and memory of DMBs */
	smc_object_exit();
}

module_init(smc_init);
module_exit(smc_exit);

MODULE_DESCRIPTION("Shared Memory Communications (AF_SMC)");
MODULE_VERSION("0.1");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_SMC);
MODULE_ALIAS_GENL_FAMILY(SMC_GENL_FAMILY_NAME);
MODULE_ALIAS_GENL_FAMILY(SMCR_GENL_FAMILY_NAME);
/* 256 is IPPROTO_SMC, 1 is SOCK_STREAM; the macro needs numbers */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 256, 1);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 256, 1);
