/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of a network namespace, per CPU. They only ever grow, except the
 * gauges: buffer memory in use, and handshakes under way.
 */
#ifndef _NET_SMC_STATS_H
#define _NET_SMC_STATS_H

#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "types.h"
#include "wire/reason.h"

#define SMC_STAT_SIZES	9	/* up to 8K, 16K, ... 1024K, larger */
#define SMC_STAT_TIMES	11	/* up to 100 us, 250 us, ... 1 s, longer */

/**
 * enum smc_stat - counters kept per mode
 * @SMC_STAT_CLNT_V1: connects that became SMC version 1
 * @SMC_STAT_CLNT_V2: connects that became SMC version 2
 * @SMC_STAT_SRV_V1: accepts that became SMC version 1
 * @SMC_STAT_SRV_V2: accepts that became SMC version 2
 * @SMC_STAT_RX_BYTES: payload given to applications
 * @SMC_STAT_TX_BYTES: payload taken from applications
 * @SMC_STAT_RX_CALLS: receive calls, failing and empty ones included
 * @SMC_STAT_TX_CALLS: send calls, failing ones included
 * @SMC_STAT_SPLICE: splice calls
 * @SMC_STAT_CORK: TCP_CORK switched on
 * @SMC_STAT_NODELAY: TCP_NODELAY switched on
 * @SMC_STAT_URGENT: calls with MSG_OOB
 * @SMC_STAT_TX_BIGGER_THAN_PEER: send request larger than the peer's buffer
 * @SMC_STAT_TX_BIGGER: send request larger than the send buffer
 * @SMC_STAT_TX_PEER_FULL: send stopped by a full peer buffer
 * @SMC_STAT_TX_FULL: send buffer could not take everything
 * @SMC_STAT_TX_REUSED: send buffer taken from an earlier connection
 * @SMC_STAT_TX_ALLOCATED: send buffer freshly allocated
 * @SMC_STAT_TX_DOWNGRADED: smaller send buffer than wanted
 * @SMC_STAT_RX_SHORT: less data there than was asked for
 * @SMC_STAT_RX_REUSED: receive buffer taken from an earlier connection
 * @SMC_STAT_RX_ALLOCATED: receive buffer freshly allocated
 * @SMC_STAT_RX_DOWNGRADED: smaller receive buffer than wanted
 * @SMC_STAT_RX_USED: gauge: bytes of receive buffers held by connections
 * @SMC_STAT_TX_USED: gauge: bytes of send buffers held by connections
 * @SMC_STAT_VIOLATIONS: connections aborted because the peer broke the protocol
 * @SMC_STAT_ABORTS_SENT: connections we aborted
 * @SMC_STAT_ABORTS_RECEIVED: connections the peer aborted
 * @SMC_STAT_WAKEUPS_SAVED: arrivals for which nobody had to be woken
 * @SMC_STAT_BUSY_POLLS: waits for data that ended before the reader went to sleep
 * @SMC_STAT_ABORT_APP: aborted by the application: closed with unread data, or reset
 * @SMC_STAT_ABORT_TCP: aborted because the TCP connection died or was misused
 * @SMC_STAT_ABORT_LINK: aborted because the device or the last link was lost
 * @SMC_STAT_ABORT_TIMEOUT: aborted because the peer did not end in time
 * @SMC_STAT_ABORT_ORPHAN: aborted at its close, because too many wait for their peers already
 * @SMC_STAT_TX_BUFFER: first of SMC_STAT_SIZES: send buffers by size
 * @SMC_STAT_RX_BUFFER: first of SMC_STAT_SIZES: receive buffers by size
 * @SMC_STAT_TX_SIZE: first of SMC_STAT_SIZES: send calls by requested size
 * @SMC_STAT_RX_SIZE: first of SMC_STAT_SIZES: receive calls that returned data
 * @SMC_STAT_MAX: number of counters
 */
enum smc_stat {
	SMC_STAT_CLNT_V1,
	SMC_STAT_CLNT_V2,
	SMC_STAT_SRV_V1,
	SMC_STAT_SRV_V2,
	SMC_STAT_RX_BYTES,
	SMC_STAT_TX_BYTES,
	SMC_STAT_RX_CALLS,
	SMC_STAT_TX_CALLS,
	SMC_STAT_SPLICE,
	SMC_STAT_CORK,
	SMC_STAT_NODELAY,
	SMC_STAT_URGENT,
	SMC_STAT_TX_BIGGER_THAN_PEER,
	SMC_STAT_TX_BIGGER,
	SMC_STAT_TX_PEER_FULL,
	SMC_STAT_TX_FULL,
	SMC_STAT_TX_REUSED,
	SMC_STAT_TX_ALLOCATED,
	SMC_STAT_TX_DOWNGRADED,
	SMC_STAT_RX_SHORT,
	SMC_STAT_RX_REUSED,
	SMC_STAT_RX_ALLOCATED,
	SMC_STAT_RX_DOWNGRADED,
	SMC_STAT_RX_USED,
	SMC_STAT_TX_USED,
	SMC_STAT_VIOLATIONS,
	SMC_STAT_ABORTS_SENT,
	SMC_STAT_ABORTS_RECEIVED,
	SMC_STAT_WAKEUPS_SAVED,
	SMC_STAT_BUSY_POLLS,
	SMC_STAT_ABORT_APP,
	SMC_STAT_ABORT_TCP,
	SMC_STAT_ABORT_LINK,
	SMC_STAT_ABORT_TIMEOUT,
	SMC_STAT_ABORT_ORPHAN,
	SMC_STAT_TX_BUFFER,
	SMC_STAT_RX_BUFFER = SMC_STAT_TX_BUFFER + SMC_STAT_SIZES,
	SMC_STAT_TX_SIZE = SMC_STAT_RX_BUFFER + SMC_STAT_SIZES,
	SMC_STAT_RX_SIZE = SMC_STAT_TX_SIZE + SMC_STAT_SIZES,
	SMC_STAT_MAX = SMC_STAT_RX_SIZE + SMC_STAT_SIZES,
};

/**
 * struct smc_stats - counters of one namespace on one CPU
 * @mode: by enum smc_mode, then by enum smc_stat
 * @handshake_errors: by enum smc_role: connections that ended in the handshake
 * @handshakes: gauge: handshakes under way
 * @path_failures: how often a path of SMC-R turned out not to work
 * @handshake_time: handshakes that led to SMC, by the time they took
 */
struct smc_stats {
	u64 mode[SMC_MODES][SMC_STAT_MAX];
	u64 handshake_errors[2];
	s64 handshakes;
	u64 path_failures;
	u64 handshake_time[SMC_STAT_TIMES];
};

/**
 * struct smc_fallback_stats - fallbacks of one namespace
 * @lock: protects all fields
 * @total: by enum smc_role
 * @by_reason: by enum smc_role, then by index into smc_reason_table
 */
struct smc_fallback_stats {
	spinlock_t lock;	/* protects all fields */
	u64 total[2];
	u64 by_reason[2][SMC_REASON_COUNT];
};

/* The counter for @bytes among those by size that begin with @first */
static inline unsigned int smc_stats_class(enum smc_stat first, size_t bytes)
{
	unsigned int class = bytes <= SZ_8K ? 0 : ilog2(bytes - 1) - ilog2(SZ_8K) + 1;

	return first + min_t(unsigned int, class, SMC_STAT_SIZES - 1);
}

int smc_stats_init(struct smc_stats __percpu **stats, struct smc_fallback_stats *fallbacks);
void smc_stats_exit(struct smc_stats __percpu *stats);
u64 smc_stats_sum(struct smc_stats __percpu *stats, enum smc_mode mode, unsigned int stat);
u64 smc_stats_handshake_errors(struct smc_stats __percpu *stats, enum smc_role role);
u64 smc_stats_handshakes(struct smc_stats __percpu *stats);
u64 smc_stats_path_failures(struct smc_stats __percpu *stats);
void smc_stats_handshake_took(struct smc_stats __percpu *stats, s64 us);
u64 smc_stats_handshake_time(struct smc_stats __percpu *stats, unsigned int class);
void smc_stats_fallback(struct smc_fallback_stats *fallbacks, enum smc_role role, u32 reason);

#endif /* _NET_SMC_STATS_H */
