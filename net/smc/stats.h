/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of a network namespace, per CPU. They only grow, except for the gauges: buffer memory in
 * use, and handshakes in progress.
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
 * enum smc_stat - counters for each mode
 * @SMC_STAT_CLNT_V1: outgoing connections that use SMC version 1
 * @SMC_STAT_CLNT_V2: outgoing connections that use SMC version 2
 * @SMC_STAT_SRV_V1: incoming connections that use SMC version 1
 * @SMC_STAT_SRV_V2: incoming connections that use SMC version 2
 * @SMC_STAT_RX_BYTES: bytes copied to applications
 * @SMC_STAT_TX_BYTES: bytes copied from applications
 * @SMC_STAT_RX_CALLS: receive calls, including failed and empty ones
 * @SMC_STAT_TX_CALLS: send calls, including failed ones
 * @SMC_STAT_SPLICE: splice calls that read
 * @SMC_STAT_CORK: TCP_CORK enabled
 * @SMC_STAT_NODELAY: TCP_NODELAY enabled
 * @SMC_STAT_URGENT: calls with MSG_OOB
 * @SMC_STAT_TX_BIGGER_THAN_PEER: send request larger than the peer's buffer
 * @SMC_STAT_TX_PEER_FULL: send call stopped by a full peer buffer
 * @SMC_STAT_TX_REUSED: send buffer of an earlier connection reused
 * @SMC_STAT_TX_ALLOCATED: send buffer allocated
 * @SMC_STAT_RX_SHORT: less data available than requested
 * @SMC_STAT_RX_REUSED: receive buffer of an earlier connection reused
 * @SMC_STAT_RX_ALLOCATED: receive buffer allocated
 * @SMC_STAT_RX_DOWNGRADED: receive buffer smaller than requested
 * @SMC_STAT_RX_USED: gauge: bytes of receive buffers of connections
 * @SMC_STAT_TX_USED: gauge: bytes of send buffers of connections
 * @SMC_STAT_VIOLATIONS: connections aborted because the peer violated the protocol
 * @SMC_STAT_ABORTS_SENT: connections aborted by this side
 * @SMC_STAT_ABORTS_RECEIVED: connections aborted by the peer
 * @SMC_STAT_WAKEUPS_SAVED: arrivals of enough data for which no reader waited
 * @SMC_STAT_BUSY_POLLS: waits for data that ended before the reader went to sleep
 * @SMC_STAT_ABORT_APP: aborted by the application: closed with unread data, shut down both
 *	directions before further data, or reset
 * @SMC_STAT_ABORT_TCP: aborted because the TCP connection ended or carried unexpected data
 * @SMC_STAT_ABORT_LINK: aborted because the device or the last link was lost
 * @SMC_STAT_ABORT_TIMEOUT: aborted because the peer did not close before the timeout, or did not
 *	read for TCP_USER_TIMEOUT
 * @SMC_STAT_ABORT_ORPHAN: aborted on close, because too many connections wait for their peers
 * @SMC_STAT_RING_GROWN: number of times that this side made a ring that it writes to larger: the
 *	peer's receive buffer, or over SMC-R its own send buffer
 * @SMC_STAT_RING_STUCK: attempts that failed, because of a limit or without memory, or
 *	because the peer was not ready
 * @SMC_STAT_RING_SHRUNK: number of times that a kworker made such a ring smaller
 * @SMC_STAT_TX_BUFFER: first of SMC_STAT_SIZES: send buffers by size
 * @SMC_STAT_RX_BUFFER: first of SMC_STAT_SIZES: receive buffers by size
 * @SMC_STAT_TX_SIZE: first of SMC_STAT_SIZES: send calls by requested size
 * @SMC_STAT_RX_SIZE: first of SMC_STAT_SIZES: receive calls by returned size
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
	SMC_STAT_TX_PEER_FULL,
	SMC_STAT_TX_REUSED,
	SMC_STAT_TX_ALLOCATED,
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
	SMC_STAT_RING_GROWN,
	SMC_STAT_RING_STUCK,
	SMC_STAT_RING_SHRUNK,
	SMC_STAT_TX_BUFFER,
	SMC_STAT_RX_BUFFER = SMC_STAT_TX_BUFFER + SMC_STAT_SIZES,
	SMC_STAT_TX_SIZE = SMC_STAT_RX_BUFFER + SMC_STAT_SIZES,
	SMC_STAT_RX_SIZE = SMC_STAT_TX_SIZE + SMC_STAT_SIZES,
	SMC_STAT_MAX = SMC_STAT_RX_SIZE + SMC_STAT_SIZES,
};

/**
 * enum smc_net_stat - counters without a mode
 * @SMC_NET_STAT_ERRORS: first of two, by enum smc_role: connections that ended during the handshake
 * @SMC_NET_STAT_PATH_FAILURES: number of times that a path of SMC-R failed
 * @SMC_NET_STAT_IN_MEMORY: handshakes of either side whose messages go through memory
 * @SMC_NET_STAT_WITHDRAWN: offers in memory that no server claimed in time
 * @SMC_NET_STAT_LLC_STRAYS: LLC messages of SMC-R that no exchange has waited for
 * @SMC_NET_STAT_MAX: number of counters
 */
enum smc_net_stat {
	SMC_NET_STAT_ERRORS,
	SMC_NET_STAT_PATH_FAILURES = SMC_NET_STAT_ERRORS + 2,
	SMC_NET_STAT_IN_MEMORY,
	SMC_NET_STAT_WITHDRAWN,
	SMC_NET_STAT_LLC_STRAYS,
	SMC_NET_STAT_MAX,
};

/**
 * struct smc_stats - counters of one namespace on one CPU
 * @mode: by enum smc_mode, then by enum smc_stat
 * @net: by enum smc_net_stat
 * @handshakes: gauge: handshakes in progress
 * @handshake_time: handshakes that resulted in SMC, by duration
 */
struct smc_stats {
	u64 mode[SMC_MODES][SMC_STAT_MAX];
	u64 net[SMC_NET_STAT_MAX];
	s64 handshakes;
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

/* Counter of the class of @bytes, where @first is the counter of the smallest class */
static inline unsigned int smc_stats_class(enum smc_stat first, size_t bytes)
{
	unsigned int class = bytes <= SZ_8K ? 0 : ilog2(bytes - 1) - ilog2(SZ_8K) + 1;

	return first + min_t(unsigned int, class, SMC_STAT_SIZES - 1);
}

int smc_stats_init(struct smc_stats __percpu **stats, struct smc_fallback_stats *fallbacks);
void smc_stats_exit(struct smc_stats __percpu *stats);
u64 smc_stats_sum(struct smc_stats __percpu *stats, enum smc_mode mode, unsigned int stat);
u64 smc_stats_sum_net(struct smc_stats __percpu *stats, unsigned int stat);
u64 smc_stats_handshakes(struct smc_stats __percpu *stats);
void smc_stats_handshake_took(struct smc_stats __percpu *stats, s64 us);
u64 smc_stats_handshake_time(struct smc_stats __percpu *stats, unsigned int class);
void smc_stats_fallback(struct smc_fallback_stats *fallbacks, enum smc_role role, u32 reason);

#endif /* _NET_SMC_STATS_H */
