/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How large a connection's buffers are, and how much memory all of them take.
 */
#ifndef _NET_SMC_GROUP_BUFFER_H
#define _NET_SMC_GROUP_BUFFER_H

#include "../types.h"

u32 smc_buffer_size(int wanted);
u32 smc_buffer_offer(u32 bytes);
u32 smc_buffer_reserve(u32 bytes);
bool smc_buffer_reserve_exactly(u32 bytes);
void smc_buffer_unreserve(u32 bytes);
unsigned long smc_buffer_limit(void);
unsigned long smc_buffer_used(void);

void smc_buffer_init(void);

#endif /* _NET_SMC_GROUP_BUFFER_H */
