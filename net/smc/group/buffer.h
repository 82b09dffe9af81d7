/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The size of buffers, and the memory limits that they count against.
 */
#ifndef _NET_SMC_GROUP_BUFFER_H
#define _NET_SMC_GROUP_BUFFER_H

#include "../share.h"

struct smc_conn;

u32 smc_buffer_size(int wanted);
u32 smc_ring_limit(int wanted);

u32 smc_buffer_offer(const struct smc_share *share, u32 bytes);
u32 smc_buffer_take(struct smc_share *share, u32 bytes);
bool smc_buffer_take_exactly(struct smc_share *share, u32 bytes);
void smc_buffer_exceed(struct smc_share *share, u32 bytes);
void smc_buffer_give(struct smc_share *share, u32 bytes);

u32 smc_buffer_charge_most(struct smc_conn *conn, u32 bytes);
int smc_buffer_charge(struct smc_conn *conn, u32 bytes);
u32 smc_buffer_offer_growth(const struct smc_conn *conn, u32 bytes);
u32 smc_buffer_charge_growth(struct smc_conn *conn, u32 bytes);
void smc_buffer_uncharge(struct smc_conn *conn, u32 bytes);
void smc_buffer_uncharge_all(struct smc_conn *conn);

#endif /* _NET_SMC_GROUP_BUFFER_H */
