// SPDX-License-Identifier: GPL-2.0-only
/* Parse netlink attributes of statistics */
#include "attr.h"
#include "stats.h"
#include "uapi.h"

#define TECH_MAX	SMC_NLA_STATS_T_RING_SHRUNK_CNT
#define ALL_MAX		SMC_NLA_STATS_LLC_STRAY_CNT

static void decode_sizes(uint64_t *sizes, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_STATS_PLOAD_MAX + 1];
	int i;

	attr_parse_nest(tb, SMC_NLA_STATS_PLOAD_MAX, nest);
	for (i = 0; i < STATS_SIZES; i++)
		sizes[i] = attr_uint(tb[SMC_NLA_STATS_PLOAD_8K + i], 0);
}

static void decode_events(struct buffer_events *events, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_STATS_RMB_MAX + 1];

	attr_parse_nest(tb, SMC_NLA_STATS_RMB_MAX, nest);
	events->too_small_peer = attr_uint(tb[SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT], 0);
	events->too_small = attr_uint(tb[SMC_NLA_STATS_RMB_SIZE_SM_CNT], 0);
	events->full_peer = attr_uint(tb[SMC_NLA_STATS_RMB_FULL_PEER_CNT], 0);
	events->full = attr_uint(tb[SMC_NLA_STATS_RMB_FULL_CNT], 0);
	events->reuse = attr_uint(tb[SMC_NLA_STATS_RMB_REUSE_CNT], 0);
	events->alloc = attr_uint(tb[SMC_NLA_STATS_RMB_ALLOC_CNT], 0);
	events->downgrade = attr_uint(tb[SMC_NLA_STATS_RMB_DGRADE_CNT], 0);
}

static void decode_own_tech(struct own_tech_stats *own, const struct nlattr *const *tb)
{
	own->aborts = attr_uint(tb[SMC_NLA_STATS_T_ABORT_TX_CNT], 0);
	own->by_app = attr_uint(tb[SMC_NLA_STATS_T_ABORT_APP_CNT], 0);
	own->by_tcp = attr_uint(tb[SMC_NLA_STATS_T_ABORT_TCP_CNT], 0);
	own->by_link = attr_uint(tb[SMC_NLA_STATS_T_ABORT_LINK_CNT], 0);
	own->by_timeout = attr_uint(tb[SMC_NLA_STATS_T_ABORT_TIMEOUT_CNT], 0);
	own->by_orphan = attr_uint(tb[SMC_NLA_STATS_T_ABORT_ORPHAN_CNT], 0);
	own->rings_grown = attr_uint(tb[SMC_NLA_STATS_T_RING_GROWN_CNT], 0);
	own->rings_stuck = attr_uint(tb[SMC_NLA_STATS_T_RING_STUCK_CNT], 0);
	own->rings_shrunk = attr_uint(tb[SMC_NLA_STATS_T_RING_SHRUNK_CNT], 0);
	own->by_violation = attr_uint(tb[SMC_NLA_STATS_T_VIOLATION_CNT], 0);
	own->by_peer = attr_uint(tb[SMC_NLA_STATS_T_ABORT_RX_CNT], 0);
	own->wakeups_saved = attr_uint(tb[SMC_NLA_STATS_T_WAKEUP_SAVED_CNT], 0);
	own->busy_polls = attr_uint(tb[SMC_NLA_STATS_T_BUSY_POLL_CNT], 0);
}

static void decode_tech(struct tech_stats *tech, struct own_tech_stats *own,
			const struct nlattr *nest)
{
	const struct nlattr *tb[TECH_MAX + 1];

	attr_parse_nest(tb, TECH_MAX, nest);
	decode_own_tech(own, tb);
	decode_sizes(tech->tx_buffers, tb[SMC_NLA_STATS_T_TX_RMB_SIZE]);
	decode_sizes(tech->rx_buffers, tb[SMC_NLA_STATS_T_RX_RMB_SIZE]);
	decode_sizes(tech->tx_requests, tb[SMC_NLA_STATS_T_TXPLOAD_SIZE]);
	decode_sizes(tech->rx_requests, tb[SMC_NLA_STATS_T_RXPLOAD_SIZE]);
	decode_events(&tech->tx_events, tb[SMC_NLA_STATS_T_TX_RMB_STATS]);
	decode_events(&tech->rx_events, tb[SMC_NLA_STATS_T_RX_RMB_STATS]);
	tech->client_v1 = attr_uint(tb[SMC_NLA_STATS_T_CLNT_V1_SUCC], 0);
	tech->client_v2 = attr_uint(tb[SMC_NLA_STATS_T_CLNT_V2_SUCC], 0);
	tech->server_v1 = attr_uint(tb[SMC_NLA_STATS_T_SRV_V1_SUCC], 0);
	tech->server_v2 = attr_uint(tb[SMC_NLA_STATS_T_SRV_V2_SUCC], 0);
	tech->sendpage = attr_uint(tb[SMC_NLA_STATS_T_SENDPAGE_CNT], 0);
	tech->urgent = attr_uint(tb[SMC_NLA_STATS_T_URG_DATA_CNT], 0);
	tech->splice = attr_uint(tb[SMC_NLA_STATS_T_SPLICE_CNT], 0);
	tech->cork = attr_uint(tb[SMC_NLA_STATS_T_CORK_CNT], 0);
	tech->nodelay = attr_uint(tb[SMC_NLA_STATS_T_NDLY_CNT], 0);
	tech->rx_bytes = attr_uint(tb[SMC_NLA_STATS_T_RX_BYTES], 0);
	tech->tx_bytes = attr_uint(tb[SMC_NLA_STATS_T_TX_BYTES], 0);
	tech->rx_count = attr_uint(tb[SMC_NLA_STATS_T_RX_CNT], 0);
	tech->tx_count = attr_uint(tb[SMC_NLA_STATS_T_TX_CNT], 0);
	tech->rx_usage = attr_uint(tb[SMC_NLA_STATS_T_RX_RMB_USAGE], 0);
	tech->tx_usage = attr_uint(tb[SMC_NLA_STATS_T_TX_RMB_USAGE], 0);
}

static void decode_own(struct own_stats *own, const struct nlattr *const *tb)
{
	const struct nlattr *times[STATS_TIMES + 1];
	int i;

	own->there = !!tb[SMC_NLA_STATS_HS_TIME];
	own->handshakes = attr_uint(tb[SMC_NLA_STATS_HS_NOW], 0);
	own->buffer_used = attr_uint(tb[SMC_NLA_STATS_BUFFER_USED], 0);
	own->buffer_limit = attr_uint(tb[SMC_NLA_STATS_BUFFER_LIMIT], 0);
	own->share_used = attr_uint(tb[SMC_NLA_STATS_SHARE_USED], 0);
	own->share_limit = attr_uint(tb[SMC_NLA_STATS_SHARE_LIMIT], 0);
	own->orphans = attr_uint(tb[SMC_NLA_STATS_ORPHANS], 0);
	own->path_failures = attr_uint(tb[SMC_NLA_STATS_PATH_FAIL_CNT], 0);
	own->paths_bad = attr_uint(tb[SMC_NLA_STATS_PATHS_BAD], 0);
	own->in_memory = attr_uint(tb[SMC_NLA_STATS_HS_MEMORY_CNT], 0);
	own->withdrawn = attr_uint(tb[SMC_NLA_STATS_HS_WITHDRAWN_CNT], 0);
	own->strays = attr_uint(tb[SMC_NLA_STATS_LLC_STRAY_CNT], 0);
	attr_parse_nest(times, STATS_TIMES, tb[SMC_NLA_STATS_HS_TIME]);
	for (i = 0; i < STATS_TIMES; i++)
		own->times[i] = attr_uint(times[i + 1], 0);
}

void stats_decode(struct stats *stats, const struct nlattr *nest)
{
	const struct nlattr *tb[ALL_MAX + 1];

	attr_parse_nest(tb, ALL_MAX, nest);
	decode_tech(&stats->smcd, &stats->own.smcd, tb[SMC_NLA_STATS_SMCD_TECH]);
	decode_tech(&stats->smcr, &stats->own.smcr, tb[SMC_NLA_STATS_SMCR_TECH]);
	decode_own(&stats->own, tb);
	stats->client.handshake_errors =
		attr_uint(tb[SMC_NLA_STATS_CLNT_HS_ERR_CNT], 0);
	stats->server.handshake_errors =
		attr_uint(tb[SMC_NLA_STATS_SRV_HS_ERR_CNT], 0);
}

/* One reason of one role; only the first message contains the totals */
void stats_decode_fallback(struct stats *stats, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_FBACK_STATS_MAX + 1];
	struct side_stats *side;

	attr_parse_nest(tb, SMC_NLA_FBACK_STATS_MAX, nest);
	if (tb[SMC_NLA_FBACK_STATS_SRV_CNT])
		stats->server.fallbacks = attr_uint(tb[SMC_NLA_FBACK_STATS_SRV_CNT], 0);
	if (tb[SMC_NLA_FBACK_STATS_CLNT_CNT])
		stats->client.fallbacks = attr_uint(tb[SMC_NLA_FBACK_STATS_CLNT_CNT], 0);
	if (!tb[SMC_NLA_FBACK_STATS_RSN_CODE])
		return;
	side = attr_uint(tb[SMC_NLA_FBACK_STATS_TYPE], 0) ? &stats->server :
							     &stats->client;
	if (side->reasons == STATS_REASONS)
		return;
	side->reason[side->reasons].code =
		attr_uint(tb[SMC_NLA_FBACK_STATS_RSN_CODE], 0);
	side->reason[side->reasons].count =
		attr_uint(tb[SMC_NLA_FBACK_STATS_RSN_CNT], 0);
	side->reasons++;
}
