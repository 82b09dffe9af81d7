// SPDX-License-Identifier: GPL-2.0-only
/* State of a network namespace, behind net_generic() */

#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <net/netns/generic.h>

#include "listed.h"
#include "net.h"

static unsigned int net_id;

/**
 * smc_net() - the AF_SMC state of a namespace
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

/**
 * smc_net_note_host() - remember the host name that the calling program sees
 * @net: the namespace of its socket
 *
 * Peers are told the host name, and some of them are other containers of this host. So only the
 * first namespace uses the name of the host; a tool of the host may run in another one. Process
 * context.
 */
void smc_net_note_host(const struct net *net)
{
	struct smc_net *sn = smc_net(net);
	const char *name;

	if (net_eq(net, &init_net) || current->flags & (PF_KTHREAD | PF_EXITING) ||
	    utsname() == init_utsname())
		return;
	name = utsname()->nodename;
	/* Without the lock: of programs that call at the same time, any may be the last one */
	if (!data_race(strncmp(sn->host, name, SMC_HOSTNAME_LEN)))
		return;
	spin_lock(&sn->host_lock);
	strscpy_pad(sn->host, name, sizeof(sn->host));
	spin_unlock(&sn->host_lock);
}

/**
 * smc_net_copy_host() - the host name for peers of a namespace
 * @net: the namespace
 * @name: result, NUL-terminated; empty if no container's program has called smc_net_note_host(), or
 *	if it could not be a name (V2-FCE-11)
 *
 * Process context.
 */
void smc_net_copy_host(const struct net *net, char name[SMC_HOSTNAME_LEN + 1])
{
	struct smc_net *sn = smc_net(net);

	if (net_eq(net, &init_net)) {
		strscpy(name, init_utsname()->nodename, SMC_HOSTNAME_LEN + 1);
	} else {
		spin_lock(&sn->host_lock);
		memcpy(name, sn->host, sizeof(sn->host));
		spin_unlock(&sn->host_lock);
	}
	smc_clc_cut_hostname(name, strnlen(name, SMC_HOSTNAME_LEN));
}

/*
 * RFC 7609 builds the peer ID from an instance number and the MAC address of an RDMA port. Random
 * bytes are unique too, and need no port; they are marked as a locally administered address.
 */
static void generate_peer_id(struct smc_peer_id *id)
{
	get_random_bytes(id->bytes, sizeof(id->bytes));
	id->bytes[2] = (id->bytes[2] & ~0x01) | 0x02;
}

static int __net_init init_namespace(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	int err;

	generate_peer_id(&sn->peer_id);
	spin_lock_init(&sn->host_lock);
	smc_groups_init(&sn->groups);
	smc_paths_init(&sn->paths);
	smc_destinations_init(&sn->destinations);
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

/* Only entries of connections that fell back are left; no struct smc_sock exists any more */
static void free_fallback_entries(struct smc_net *sn)
{
	struct smc_listed *listed, *next;

	rbtree_postorder_for_each_entry_safe(listed, next, &sn->socks, node)
		if (!WARN_ON_ONCE(!listed->fell_back))
			kfree(container_of(listed, struct smc_fallen, listed));
}

static void __net_exit exit_namespace(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	smc_sysctl_exit(&sn->knobs);
	smc_pnet_flush(&sn->pnet);
	WARN_ON_ONCE(sn->groups.nr || atomic_read(&sn->groups.alive));
	free_fallback_entries(sn);
	smc_share_drop(sn->share);
	smc_stats_exit(sn->stats);
}

static struct pernet_operations net_ops = {
	.init	= init_namespace,
	.exit	= exit_namespace,
	.id	= &net_id,
	.size	= sizeof(struct smc_net),
};

int smc_net_init(void)
{
	return register_pernet_subsys(&net_ops);
}

/* No socket exists any more */
void smc_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
