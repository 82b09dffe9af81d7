// SPDX-License-Identifier: GPL-2.0-only
/* Counters of a namespace as netlink messages */

#include <linux/slab.h>
#include <linux/smc.h>

#include "../group/path.h"
#include "../net.h"
#include "../share.h"
#include "netlink.h"

/* Which attribute shows which counter, in the order of the attributes in the message */
struct row {
	u8 attr;
	u8 stat;
};

#define SIZES(attr, stat)	{ SMC_NLA_STATS_T_##attr, SMC_STAT_##stat }
#define EVENT(attr, stat)	{ SMC_NLA_STATS_RMB_##attr, SMC_STAT_##stat }
#define COUNT(attr, stat)	{ SMC_NLA_STATS_T_##attr, SMC_STAT_##stat }
#define NEVER			SMC_STAT_MAX	/* this implementation does not count the event */
#define BIGGER_THAN_RING	(SMC_STAT_MAX + 1)

static const struct row tx_events[] = {
	EVENT(REUSE_CNT, TX_REUSED),
	EVENT(SIZE_SM_PEER_CNT, TX_BIGGER_THAN_PEER),
	{ SMC_NLA_STATS_RMB_SIZE_SM_CNT, BIGGER_THAN_RING },
	EVENT(FULL_PEER_CNT, TX_PEER_FULL),
	{ SMC_NLA_STATS_RMB_FULL_CNT, NEVER },
	EVENT(ALLOC_CNT, TX_ALLOCATED),
	{ SMC_NLA_STATS_RMB_DGRADE_CNT, NEVER },
};

static const struct row rx_events[] = {
	EVENT(REUSE_CNT, RX_REUSED),
	{ SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT, NEVER },
	{ SMC_NLA_STATS_RMB_SIZE_SM_CNT, NEVER },
	{ SMC_NLA_STATS_RMB_FULL_PEER_CNT, NEVER },
	EVENT(FULL_CNT, RX_SHORT),
	EVENT(ALLOC_CNT, RX_ALLOCATED),
	EVENT(DGRADE_CNT, RX_DOWNGRADED),
};

static const struct row sizes[] = {
	SIZES(TXPLOAD_SIZE, TX_SIZE),
	SIZES(RXPLOAD_SIZE, RX_SIZE),
	SIZES(TX_RMB_SIZE, TX_BUFFER),
	SIZES(RX_RMB_SIZE, RX_BUFFER),
};

static const struct row amounts[] = {
	COUNT(CLNT_V1_SUCC, CLNT_V1),
	COUNT(CLNT_V2_SUCC, CLNT_V2),
	COUNT(SRV_V1_SUCC, SRV_V1),
	COUNT(SRV_V2_SUCC, SRV_V2),
	COUNT(RX_BYTES, RX_BYTES),
	COUNT(TX_BYTES, TX_BYTES),
};

static const struct row gauges[] = {
	COUNT(RX_RMB_USAGE, RX_USED),
	COUNT(TX_RMB_USAGE, TX_USED),
};

static const struct row events[] = {
	COUNT(RX_CNT, RX_CALLS),
	COUNT(TX_CNT, TX_CALLS),
	{ SMC_NLA_STATS_T_SENDPAGE_CNT, NEVER },
	COUNT(CORK_CNT, CORK),
	COUNT(NDLY_CNT, NODELAY),
	COUNT(SPLICE_CNT, SPLICE),
	COUNT(URG_DATA_CNT, URGENT),
	COUNT(VIOLATION_CNT, VIOLATIONS),
	COUNT(ABORT_TX_CNT, ABORTS_SENT),
	COUNT(ABORT_RX_CNT, ABORTS_RECEIVED),
	COUNT(WAKEUP_SAVED_CNT, WAKEUPS_SAVED),
	COUNT(BUSY_POLL_CNT, BUSY_POLLS),
	COUNT(ABORT_APP_CNT, ABORT_APP),
	COUNT(ABORT_TCP_CNT, ABORT_TCP),
	COUNT(ABORT_LINK_CNT, ABORT_LINK),
	COUNT(ABORT_TIMEOUT_CNT, ABORT_TIMEOUT),
	COUNT(ABORT_ORPHAN_CNT, ABORT_ORPHAN),
	COUNT(RING_GROWN_CNT, RING_GROWN),
	COUNT(RING_STUCK_CNT, RING_STUCK),
	COUNT(RING_SHRUNK_CNT, RING_SHRUNK),
};

/**
 * struct source - where to read counters and where to write attributes
 * @skb: message
 * @stats: counters of the namespace
 * @mode: SMC-D or SMC-R
 */
struct source {
	struct sk_buff *skb;
	struct smc_stats __percpu *stats;
	enum smc_mode mode;
};

/* The send ring of SMC-R is as large as the peer's buffer. SMC-D has no send buffer. */
static u64 read_counter(const struct source *from, unsigned int stat)
{
	if (stat == BIGGER_THAN_RING)
		stat = from->mode == SMC_MODE_R ? SMC_STAT_TX_BIGGER_THAN_PEER : NEVER;
	return stat == NEVER ? 0 : smc_stats_sum(from->stats, from->mode, stat);
}

static int put_rows(const struct source *from, const struct row *rows, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = nla_put_u64_64bit(from->skb, rows[i].attr, read_counter(from, rows[i].stat),
					SMC_NLA_STATS_T_PAD);
	return err;
}

/*
 * A connection may decrement a gauge on another CPU than the one that incremented it, so the sum
 * over all CPUs can be negative for a moment.
 */
static int put_gauges(const struct source *from)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(gauges) && !err; i++)
		err = nla_put_uint(from->skb, gauges[i].attr,
				   max_t(s64, read_counter(from, gauges[i].stat), 0));
	return err;
}

static int put_events(const struct source *from, int attr, const struct row *rows,
		      unsigned int nr)
{
	struct nlattr *nest = nla_nest_start(from->skb, attr);

	if (!nest || put_rows(from, rows, nr))
		return -EMSGSIZE;
	nla_nest_end(from->skb, nest);
	return 0;
}

static int put_sizes(const struct source *from, const struct row *row)
{
	struct nlattr *nest = nla_nest_start(from->skb, row->attr);
	unsigned int i;

	BUILD_BUG_ON(SMC_NLA_STATS_PLOAD_MAX != SMC_STAT_SIZES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_STAT_SIZES; i++)
		if (nla_put_u64_64bit(from->skb, SMC_NLA_STATS_PLOAD_8K + i,
				      read_counter(from, row->stat + i), SMC_NLA_STATS_PLOAD_PAD))
			return -EMSGSIZE;
	nla_nest_end(from->skb, nest);
	return 0;
}

/* Tools need all nested attributes, also those of a technology that is not in use */
static int put_technology(const struct source *from, int attr)
{
	struct nlattr *nest = nla_nest_start(from->skb, attr);
	unsigned int i;

	if (!nest ||
	    put_events(from, SMC_NLA_STATS_T_TX_RMB_STATS, tx_events, ARRAY_SIZE(tx_events)) ||
	    put_events(from, SMC_NLA_STATS_T_RX_RMB_STATS, rx_events, ARRAY_SIZE(rx_events)))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (put_sizes(from, &sizes[i]))
			return -EMSGSIZE;
	if (put_rows(from, amounts, ARRAY_SIZE(amounts)) ||
	    put_gauges(from) ||
	    put_rows(from, events, ARRAY_SIZE(events)))
		return -EMSGSIZE;
	nla_nest_end(from->skb, nest);
	return 0;
}

static int put_times(struct sk_buff *skb, struct smc_stats __percpu *stats)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_NLA_STATS_HS_TIME);
	unsigned int i;

	BUILD_BUG_ON(SMC_NLA_STATS_TIME_MAX != SMC_STAT_TIMES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_STAT_TIMES; i++)
		if (nla_put_u64_64bit(skb, SMC_NLA_STATS_TIME_100US + i,
				      smc_stats_handshake_time(stats, i),
				      SMC_NLA_STATS_TIME_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_memory(struct sk_buff *skb, const struct smc_net *sn)
{
	if (nla_put_uint(skb, SMC_NLA_STATS_SHARE_USED, smc_share_used(sn->share)) ||
	    nla_put_uint(skb, SMC_NLA_STATS_SHARE_LIMIT, smc_share_limit(sn->share)) ||
	    nla_put_uint(skb, SMC_NLA_STATS_ORPHANS, atomic_read(&sn->orphans)))
		return -EMSGSIZE;
	return 0;
}

/* Only the first namespace is shown the buffers of other namespaces */
static unsigned long count_buffer_bytes(struct net *net)
{
	return net_eq(net, &init_net) ? smc_memory_used() : smc_share_used(smc_net(net)->share);
}

static int put_count(struct sk_buff *skb, struct smc_stats __percpu *stats, int attr,
		     unsigned int stat)
{
	return nla_put_u64_64bit(skb, attr, smc_stats_sum_net(stats, stat), SMC_NLA_STATS_PAD);
}

static int put_stats(struct sk_buff *skb, struct net *net)
{
	struct smc_stats __percpu *stats = smc_net(net)->stats;
	const struct source smcd = { skb, stats, SMC_MODE_D };
	const struct source smcr = { skb, stats, SMC_MODE_R };
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_STATS);

	if (!nest ||
	    put_technology(&smcd, SMC_NLA_STATS_SMCD_TECH) ||
	    put_technology(&smcr, SMC_NLA_STATS_SMCR_TECH) ||
	    put_count(skb, stats, SMC_NLA_STATS_CLNT_HS_ERR_CNT,
		      SMC_NET_STAT_ERRORS + SMC_CLIENT) ||
	    put_count(skb, stats, SMC_NLA_STATS_SRV_HS_ERR_CNT,
		      SMC_NET_STAT_ERRORS + SMC_SERVER) ||
	    nla_put_uint(skb, SMC_NLA_STATS_BUFFER_USED, count_buffer_bytes(net)) ||
	    nla_put_uint(skb, SMC_NLA_STATS_BUFFER_LIMIT, smc_memory_limit()) ||
	    nla_put_uint(skb, SMC_NLA_STATS_HS_NOW, smc_stats_handshakes(stats)) ||
	    put_times(skb, stats) ||
	    put_count(skb, stats, SMC_NLA_STATS_PATH_FAIL_CNT, SMC_NET_STAT_PATH_FAILURES) ||
	    nla_put_uint(skb, SMC_NLA_STATS_PATHS_BAD, smc_path_count_bad(net)) ||
	    put_memory(skb, smc_net(net)) ||
	    put_count(skb, stats, SMC_NLA_STATS_HS_MEMORY_CNT, SMC_NET_STAT_IN_MEMORY) ||
	    put_count(skb, stats, SMC_NLA_STATS_HS_WITHDRAWN_CNT, SMC_NET_STAT_WITHDRAWN) ||
	    put_count(skb, stats, SMC_NLA_STATS_LLC_STRAY_CNT, SMC_NET_STAT_LLC_STRAYS))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_netlink_get_stats() - dump all counters, in one message
 * @skb: answer
 * @cb: dump
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_get_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	void *header;
	int err;

	if (cb->args[0])
		return 0;
	header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_STATS);
	err = header ? put_stats(skb, smc_netlink_net(cb)) : 0;
	err = smc_netlink_end(skb, header, err);
	if (err)
		return err;
	cb->args[0] = 1;
	return skb->len;
}

#define REASONS_MAX	30	/* per role: the tools have no space for more */

/**
 * struct fallbacks - state of a dump of the fallback counters
 * @total: by enum smc_role
 * @count: by enum smc_role and index into smc_reason_table; 0 for reasons that are not shown
 * @next: number of the next counter: all reasons of the server, then all of the client
 * @told_total: a message with the totals is in the dump
 */
struct fallbacks {
	u64 total[2];
	u64 count[2][SMC_REASON_COUNT];
	unsigned int next;
	bool told_total;
};

/* Keep the REASONS_MAX most frequent reasons, and clear the others */
static void limit_reasons(u64 *count)
{
	unsigned int i, shown = 0;

	for (i = 0; i < SMC_REASON_COUNT; i++)
		shown += count[i] != 0;
	for (; shown > REASONS_MAX; shown--) {
		unsigned int rarest = SMC_REASON_COUNT;

		for (i = 0; i < SMC_REASON_COUNT; i++)
			if (count[i] && (rarest == SMC_REASON_COUNT || count[i] < count[rarest]))
				rarest = i;
		count[rarest] = 0;
	}
}

/**
 * smc_netlink_start_fback_stats() - copy the counters, so that all messages are consistent
 * @cb: dump
 *
 * Return: 0 or -ENOMEM.
 */
int smc_netlink_start_fback_stats(struct netlink_callback *cb)
{
	struct smc_fallback_stats *from = &smc_net(smc_netlink_net(cb))->fallbacks;
	struct fallbacks *dump = kzalloc(sizeof(*dump), GFP_KERNEL);

	if (!dump)
		return -ENOMEM;
	spin_lock_bh(&from->lock);
	memcpy(dump->total, from->total, sizeof(dump->total));
	memcpy(dump->count, from->by_reason, sizeof(dump->count));
	spin_unlock_bh(&from->lock);
	limit_reasons(dump->count[SMC_CLIENT]);
	limit_reasons(dump->count[SMC_SERVER]);
	cb->args[0] = (long)dump;
	return 0;
}

int smc_netlink_done_fback_stats(struct netlink_callback *cb)
{
	kfree((void *)cb->args[0]);
	return 0;
}

static int put_totals(struct sk_buff *skb, const struct fallbacks *dump)
{
	if (nla_put_u64_64bit(skb, SMC_NLA_FBACK_STATS_SRV_CNT, dump->total[SMC_SERVER],
			      SMC_NLA_FBACK_STATS_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_FBACK_STATS_CLNT_CNT, dump->total[SMC_CLIENT],
			      SMC_NLA_FBACK_STATS_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_fallback(struct sk_buff *skb, const struct fallbacks *dump, enum smc_role role,
			unsigned int reason)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_FBACK_STATS);

	if (!nest || nla_put_u8(skb, SMC_NLA_FBACK_STATS_TYPE, role == SMC_SERVER))
		return -EMSGSIZE;
	if (!dump->told_total && put_totals(skb, dump))
		return -EMSGSIZE;
	if (nla_put_u32(skb, SMC_NLA_FBACK_STATS_RSN_CODE, smc_reason_table[reason].code) ||
	    nla_put_u16(skb, SMC_NLA_FBACK_STATS_RSN_CNT,
			min_t(u64, dump->count[role][reason], U16_MAX)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_netlink_get_fback_stats() - dump the fallbacks by role and reason
 * @skb: answer
 * @cb: dump
 *
 * Return: as for netlink_callback.dump.
 */
int smc_netlink_get_fback_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct fallbacks *dump = (struct fallbacks *)cb->args[0];

	for (; dump->next < 2 * SMC_REASON_COUNT; dump->next++) {
		/* Tools expect the server's reasons first */
		enum smc_role role = dump->next < SMC_REASON_COUNT ? SMC_SERVER : SMC_CLIENT;
		unsigned int reason = dump->next % SMC_REASON_COUNT;
		void *header;
		int err;

		if (!dump->count[role][reason])
			continue;
		header = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_FBACK_STATS);
		err = header ? put_fallback(skb, dump, role, reason) : 0;
		err = smc_netlink_end(skb, header, err);
		if (err)
			return skb->len ?: err;
		dump->told_total = true;
	}
	return skb->len;
}
