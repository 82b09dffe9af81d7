/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection as monitoring sees it: a copy, as it was at one moment */
#ifndef _NET_SMC_CONN_INSPECT_H
#define _NET_SMC_CONN_INSPECT_H

#include "../group/conn.h"

/**
 * struct smc_conn_info - a copy of what a connection is and where it stands
 * @mode: where its bytes go
 * @state: how far it is ended, as numbered in the user ABI
 * @token: our alert token
 * @rx_bytes: size of our buffer element
 * @tx_bytes: size of the peer's
 * @rx_produced: the peer's last producer cursor
 * @rx_consumed: the peer's last consumer cursor
 * @tx_produced: our producer cursor, as the peer knows it
 * @tx_consumed: our consumer cursor, as the peer knows it
 * @rx_producer_flags: the peer's last producer flags
 * @rx_state_flags: the peer's last state flags
 * @tx_producer_flags: ours
 * @tx_state_flags: ours
 * @group: number of the link group
 * @role: this side's role in it
 * @local: address of our device
 * @peer: address of the peer's device
 * @ends: names of both ends
 */
struct smc_conn_info {
	enum smc_mode mode;
	u8 state;
	u32 token;
	u32 rx_bytes;
	u32 tx_bytes;
	struct smc_cursor rx_produced;
	struct smc_cursor rx_consumed;
	struct smc_cursor tx_produced;
	struct smc_cursor tx_consumed;
	u8 rx_producer_flags;
	u8 rx_state_flags;
	u8 tx_producer_flags;
	u8 tx_state_flags;
	u32 group;
	enum smc_role role;
	struct smc_ism_gid local;
	struct smc_ism_gid peer;
	struct smc_conn_ends ends;
};

bool smc_conn_inspect(struct smc_conn *conn, struct smc_conn_info *out);

#endif /* _NET_SMC_CONN_INSPECT_H */
