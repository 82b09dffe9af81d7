// SPDX-License-Identifier: GPL-2.0-only
/* Counters: allocate, sum up, and the fallback table */

#include "stats.h"

/**
 * smc_stats_init() - counters for a new namespace
 * @stats: where to keep the counters
 * @fallbacks: the namespace's fallback table
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

/**
 * smc_stats_exit() - free the counters
 * @stats: nobody uses them any more
 */
void smc_stats_exit(struct smc_stats __percpu *stats)
{
	free_percpu(stats);
}

/**
 * smc_stats_sum() - read one counter
 * @stats: counters of a namespace
 * @mode: which mode
 * @stat: which counter
 *
 * Return: the sum over all CPUs; never less than an earlier sum of a counter
 * that only grows.
 */
u64 smc_stats_sum(struct smc_stats __percpu *stats, enum smc_mode mode, unsigned int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->mode[mode][stat]);
	return sum;
}

/**
 * smc_stats_handshake_errors() - read how many handshakes ended the connection
 * @stats: counters of a namespace
 * @role: which side
 *
 * Return: the sum over all CPUs.
 */
u64 smc_stats_handshake_errors(struct smc_stats __percpu *stats, enum smc_role role)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->handshake_errors[role]);
	return sum;
}

/**
 * smc_stats_handshakes() - read how many handshakes are under way
 * @stats: counters of a namespace
 *
 * Return: about as many as there are.
 */
u64 smc_stats_handshakes(struct smc_stats __percpu *stats)
{
	s64 sum = 0;
	int cpu;

	/* One may be counted out on another CPU than in, while we look */
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->handshakes);
	return max_t(s64, sum, 0);
}

/**
 * smc_stats_path_failures() - read how often a path of SMC-R did not work
 * @stats: counters of a namespace
 *
 * Return: the sum over all CPUs.
 */
u64 smc_stats_path_failures(struct smc_stats __percpu *stats)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->path_failures);
	return sum;
}

/**
 * smc_stats_handshake_took() - count a handshake that led to an SMC connection
 * @stats: counters of a namespace
 * @us: how long it took, in microseconds
 */
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

/**
 * smc_stats_handshake_time() - read how many handshakes took how long
 * @stats: counters of a namespace
 * @class: less than SMC_STAT_TIMES
 *
 * Return: the sum over all CPUs.
 */
u64 smc_stats_handshake_time(struct smc_stats __percpu *stats, unsigned int class)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->handshake_time[class]);
	return sum;
}

/**
 * smc_stats_fallback() - count a connection that became a TCP connection
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
