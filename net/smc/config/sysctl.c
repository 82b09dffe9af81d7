// SPDX-License-Identifier: GPL-2.0-only
/* net.smc.* sysctls, one set per network namespace */

#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#include "../share.h"
#include "../wire/clc.h"
#include "sysctl.h"

static int buffer_min = SMC_BUFFER_MIN;
static int start_min = SZ_4K;
static int buffer_max = INT_MAX / 2;	/* the socket's value is twice as large */
static int element_max = SMC_BUFFER_MAX;
static int second = 1;
static int byte_max = U8_MAX;
static int day = 24 * 60 * 60;
static int all_variants = SMC_VARIANTS_R | SMC_VARIANTS_D;
static int busy_poll_max = 10000;
static int conns_min = SMC_MAX_CONNS_MIN;
static int conns_max = SMC_MAX_CONNS_MAX;
static int links_min = SMC_MAX_LINKS_MIN;
static int links_max = SMC_MAX_LINKS_MAX;
static int groups_most = 65536;

/*
 * Template; smc_sysctl_init() turns each .data into a pointer to the namespace's value.
 *
 * A new sysctl needs a field of struct smc_knobs, a row here, its default in smc_sysctl_init(), an
 * entry in Documentation/sysctl.rst and in tools/af_smc.7, and a row in the table of
 * tests/selftests/netlink/sysctls.py. Tests compare all of these.
 */
static struct ctl_table template[] = {
	{
		.procname	= "wmem",
		.data		= (void *)offsetof(struct smc_knobs, wmem),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &buffer_min,
		.extra2		= &buffer_max,
	},
	{
		.procname	= "rmem",
		.data		= (void *)offsetof(struct smc_knobs, rmem),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &buffer_min,
		.extra2		= &buffer_max,
	},
	{
		.procname	= "rmem_start",
		.data		= (void *)offsetof(struct smc_knobs, rmem_start),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &start_min,
		.extra2		= &element_max,
	},
	{
		.procname	= "handshake_timeout",
		.data		= (void *)offsetof(struct smc_knobs, handshake_timeout),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &second,
		.extra2		= &day,
	},
	{
		.procname	= "handshake_in_memory",
		.data		= (void *)offsetof(struct smc_knobs, handshake_in_memory),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{
		.procname	= "idle_timeout",
		.data		= (void *)offsetof(struct smc_knobs, idle_timeout[SMC_MODE_D]),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &second,
		.extra2		= &day,
	},
	{
		.procname	= "smcr_idle_timeout",
		.data		= (void *)offsetof(struct smc_knobs, idle_timeout[SMC_MODE_R]),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &second,
		.extra2		= &day,
	},
	{
		.procname	= "variants",
		.data		= (void *)offsetof(struct smc_knobs, variants),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &all_variants,
	},
	{
		.procname	= "smcr_max_conns_per_lgr",
		.data		= (void *)offsetof(struct smc_knobs, max_conns),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &conns_min,
		.extra2		= &conns_max,
	},
	{
		.procname	= "smcr_max_links_per_lgr",
		.data		= (void *)offsetof(struct smc_knobs, max_links),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &links_min,
		.extra2		= &links_max,
	},
	{
		.procname	= "max_link_groups",
		.data		= (void *)offsetof(struct smc_knobs, max_groups),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= &groups_most,
	},
	{
		.procname	= "max_link_groups_per_peer",
		.data		= (void *)offsetof(struct smc_knobs, max_groups_per_peer),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= &groups_most,
	},
	{
		.procname	= "smcr_v1_over_rocev2",
		.data		= (void *)offsetof(struct smc_knobs, v1_over_rocev2),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{
		.procname	= "smcr_path_retry_time",
		.data		= (void *)offsetof(struct smc_knobs, path_retry_time),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &day,
	},
	{
		.procname	= "syn_retry_time",
		.data		= (void *)offsetof(struct smc_knobs, syn_retry_time),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &day,
	},
	{
		.procname	= "smcr_traffic_class",
		.data		= (void *)offsetof(struct smc_knobs, traffic_class),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &byte_max,
	},
	{
		.procname	= "limit_smc_hs",
		.data		= (void *)offsetof(struct smc_knobs, limit_handshake),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{
		.procname	= "smcr_testlink_time",
		.data		= (void *)offsetof(struct smc_knobs, testlink_time),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &day,
	},
	{
		.procname	= "busy_poll",
		.data		= (void *)offsetof(struct smc_knobs, busy_poll),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &busy_poll_max,
	},
	{
		.procname	= "autocorking_size",
		.data		= (void *)offsetof(struct smc_knobs, autocorking),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_INT_MAX,
	},
	{
		.procname	= "max_orphans",
		.data		= (void *)offsetof(struct smc_knobs, max_orphans),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_INT_MAX,
	},
	{
		.procname	= "smcr_rmem",
		.data		= (void *)offsetof(struct smc_knobs, smcr_rmem),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &buffer_min,
		.extra2		= &element_max,
	},
	{
		.procname	= "smcr_buf_type",
		.data		= (void *)offsetof(struct smc_knobs, buffer_type),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ZERO,
	},
	{	/* must be the last row: smc_sysctl_init() sets its data to a field of the share */
		.procname	= "buffer_limit",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_INT_MAX,
	},
	{ }	/* kernels before 6.6 need an empty last row */
};

/**
 * smc_sysctl_init() - set the defaults and register the sysctls of a namespace
 * @net: the namespace
 * @knobs: its sysctls
 * @share: its share of the memory
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int smc_sysctl_init(struct net *net, struct smc_knobs *knobs, struct smc_share *share)
{
	const unsigned int nr = ARRAY_SIZE(template) - 1;
	struct ctl_table *table;
	unsigned int i;

	knobs->wmem = SMC_BUFFER_MAX;
	knobs->rmem = SZ_4M;
	knobs->rmem_start = SZ_4K;
	knobs->smcr_rmem = SZ_256K;
	knobs->handshake_timeout = 6;
	knobs->handshake_in_memory = 1;
	knobs->idle_timeout[SMC_MODE_D] = 2;
	knobs->idle_timeout[SMC_MODE_R] = 600;
	knobs->variants = all_variants;
	knobs->max_conns = SMC_MAX_CONNS_MAX;
	knobs->max_links = SMC_MAX_LINKS_MIN;	/* failover is experimental */
	knobs->max_groups = 4096;
	knobs->max_groups_per_peer = 256;
	knobs->v1_over_rocev2 = 0;
	knobs->path_retry_time = 60;
	knobs->syn_retry_time = 60;
	knobs->traffic_class = 0;
	knobs->limit_handshake = 0;
	knobs->testlink_time = 30;
	knobs->busy_poll = 0;
	knobs->autocorking = SZ_64K;
	knobs->max_orphans = 4096;
	knobs->buffer_type = 0;

	table = kmemdup(template, sizeof(template), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < nr - 1; i++)
		table[i].data = (void *)knobs + (unsigned long)table[i].data;
	table[nr - 1].data = &share->limit_mb;
	if (share->guest)	/* the limit protects other namespaces from root in this one */
		table[nr - 1].mode = 0444;

	knobs->header = register_net_sysctl_sz(net, "net/smc", table, nr);
	if (!knobs->header) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

void smc_sysctl_exit(struct smc_knobs *knobs)
{
	const struct ctl_table *table = knobs->header->ctl_table_arg;

	unregister_net_sysctl_table(knobs->header);
	kfree(table);
}
