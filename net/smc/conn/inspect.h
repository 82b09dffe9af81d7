/* SPDX-License-Identifier: GPL-2.0-only */
/* A consistent copy of a connection for monitoring */
#ifndef _NET_SMC_CONN_INSPECT_H
#define _NET_SMC_CONN_INSPECT_H

#include "../group/conn.h"

/**
 * struct smc_conn_info - a copy of a connection
 * @mode: transport
 * @state: close state, as numbered in the user ABI
 * @token: local alert token
 * @rx_bytes: size of the local buffer element
 * @rx_largest: size that it may get
 * @tx_bytes: size of the peer's
 * @rx_produced: the peer's last producer cursor
 * @rx_consumed: the peer's last consumer cursor
 * @tx_produced: local producer cursor; may include bytes that are not announced yet
 * @tx_consumed: local consumer cursor, as announced to the peer
 * @rx_producer_flags: the peer's last producer flags
 * @rx_state_flags: all state flags that the peer has sent
 * @tx_producer_flags: local producer flags
 * @tx_state_flags: local state flags
 * @group: number of the link group
 * @role: local role in the group
 * @local: address of the local device; SMC-D only
 * @peer: address of the peer's device; SMC-D only
 * @ends: names of both ends
 */
struct smc_conn_info {
	enum smc_mode mode;
	u8 state;
	u32 token;
	u32 rx_bytes;
	u32 rx_largest;
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
