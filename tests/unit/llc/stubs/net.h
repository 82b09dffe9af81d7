/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of net/smc/net.h: what link layer control uses of a namespace */
#ifndef _TESTS_UNIT_LLC_NET_H
#define _TESTS_UNIT_LLC_NET_H

#include <linux/types.h>

#include "types.h"

struct net;

enum { SMC_NET_STAT_LLC_STRAYS, SMC_NET_STAT_MAX };

struct smc_stats {
	u64 net[SMC_NET_STAT_MAX];
};

#define this_cpu_inc(counter)	((counter)++)

struct smc_net {
	struct smc_stats *stats;
	struct {
		unsigned int testlink_time;
		unsigned int idle_timeout[SMC_MODES];
	} knobs;
};

struct smc_net *smc_net(struct net *net);

#endif /* _TESTS_UNIT_LLC_NET_H */
