// SPDX-License-Identifier: GPL-2.0-only
/* Per-namespace state behind net_generic */

#include <linux/random.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "listed.h"
#include "net.h"

static unsigned int net_id;

/**
 * smc_net() - AF_SMC's part of a namespace
 * @net: the namespace; the caller holds a reference or is one of its objects
 *
 * Any context.
 *
 * Return: never NULL.
 */
struct smc_net *smc_net(const struct net *net)
{
	return net_generic(net, net_id);
}

/*
 * Hosts with an RDMA port put its MAC address here. Without one, random bytes
 * serve the purpose: they are marked as a locally administered address.
 */
static void make_peer_id(struct smc_peer_id *id)
{
	get_random_bytes(id->bytes, sizeof(id->bytes));
	id->bytes[2] = (id->bytes[2] & ~0x01) | 0x02;
}

static int __net_init net_enter(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	int err;

	make_peer_id(&sn->peer_id);
	smc_groups_init(&sn->groups);
	smc_paths_init(&sn->paths);
	spin_lock_init(&sn->socks_lock);
	sn->socks = RB_ROOT;
	smc_eid_init(&sn->eids);
	smc_pnet_init(&sn->pnet);
	smc_event_limit_init(&sn->event_limit);

	err = smc_stats_init(&sn->stats, &sn->fallbacks);
	if (err)
		return err;
	err = -ENOMEM;
	sn->share = smc_share_create(net);
	if (!sn->share)
		goto err_stats;
	err = smc_sysctl_init(net, &sn->knobs, sn->share);
	if (err)
		goto err_share;
	return 0;

err_share:
	smc_share_drop(sn->share);
err_stats:
	smc_stats_exit(sn->stats);
	return err;
}

/* No struct smc_sock is left, only connections that fell back */
static void free_list(struct smc_net *sn)
{
	struct smc_listed *listed, *next;

	rbtree_postorder_for_each_entry_safe(listed, next, &sn->socks, node)
		if (!WARN_ON_ONCE(!listed->fell_back))
			kfree(container_of(listed, struct smc_fallen, listed));
}

static void __net_exit net_leave(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	smc_sysctl_exit(&sn->knobs);
	smc_pnet_flush(&sn->pnet);
	WARN_ON_ONCE(sn->groups.nr || atomic_read(&sn->groups.alive));
	free_list(sn);
	smc_share_drop(sn->share);
	smc_stats_exit(sn->stats);
}

static struct pernet_operations net_ops = {
	.init	= net_enter,
	.exit	= net_leave,
	.id	= &net_id,
	.size	= sizeof(struct smc_net),
};

/**
 * smc_net_init() - start to keep state in every namespace
 *
 * Return: 0 or a negative errno.
 */
int smc_net_init(void)
{
	return register_pernet_subsys(&net_ops);
}

/** smc_net_exit() - drop the state of every namespace; no socket is left */
void smc_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
