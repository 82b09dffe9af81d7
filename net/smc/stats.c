// SPDX-License-Identifier: GPL-2.0-only
/* Counters: allocation, sums over all CPUs, and the table of fallbacks */

#include "stats.h"

/**
 * smc_stats_init() - allocate the counters of a new namespace
 * @stats: result
 * @fallbacks: the namespace's table of fallbacks
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int smc_stats_init(struct smc_stats __percpu **stats, struct smc_fallback_stats *fallbacks)
{
	spin_lock_init(&fallbacks->lock);
	*stats = alloc_percpu(struct smc_stats);
	return *stats ? 0 : -ENOMEM;
}

void smc_stats_exit(struct smc_stats __percpu *stats)
{
	free_percpu(stats);
}

/**
 * smc_stats_sum() - read a counter
 * @stats: counters of a namespace
 * @mode: SMC-D or SMC-R
 * @stat: an enum smc_stat
 *
 * Return: the sum over all CPUs. Of a counter that only grows, it is never less than an earlier
 * sum.
 */
u64 smc_stats_sum(struct smc_stats __percpu *stats, enum smc_mode mode, unsigned int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->mode[mode][stat]);
	return sum;
}

/* The same for a counter without a mode, an enum smc_net_stat */
u64 smc_stats_sum_net(struct smc_stats __percpu *stats, unsigned int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->net[stat]);
	return sum;
}

/* Approximate number of handshakes in progress */
u64 smc_stats_handshakes(struct smc_stats __percpu *stats)
{
	s64 sum = 0;
	int cpu;

	/* The sum may be negative: one CPU may increment, another one decrement */
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->handshakes);
	return max_t(s64, sum, 0);
}

/* Count a handshake that resulted in an SMC connection after @us microseconds */
void smc_stats_handshake_took(struct smc_stats __percpu *stats, s64 us)
{
	static const u32 bounds[SMC_STAT_TIMES - 1] = {
		100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 1000000,
	};
	unsigned int class = 0;

	while (class < ARRAY_SIZE(bounds) && us > bounds[class])
		class++;
	this_cpu_inc(stats->handshake_time[class]);
}

/* Number of handshakes with a duration of this class, which is less than SMC_STAT_TIMES */
u64 smc_stats_handshake_time(struct smc_stats __percpu *stats, unsigned int class)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->handshake_time[class]);
	return sum;
}

/**
 * smc_stats_fallback() - count a connection that fell back to TCP
 * @fallbacks: table of the namespace
 * @role: this side's role
 * @reason: enum smc_reason
 *
 * Process context or softirq.
 */
void smc_stats_fallback(struct smc_fallback_stats *fallbacks, enum smc_role role, u32 reason)
{
	const struct smc_reason_info *info = smc_reason_find(reason);

	spin_lock_bh(&fallbacks->lock);
	fallbacks->total[role]++;
	if (info)
		fallbacks->by_reason[role][info - smc_reason_table]++;
	spin_unlock_bh(&fallbacks->lock);
}
