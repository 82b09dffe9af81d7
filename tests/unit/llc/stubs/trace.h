/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of net/smc/trace.h: the tracepoints of link layer control */
#ifndef _TESTS_UNIT_LLC_TRACE_H
#define _TESTS_UNIT_LLC_TRACE_H

#include <linux/types.h>

struct smc_llc;

void trace_smcr_llc(u64 net_cookie, u8 link, u32 uid, bool sent, const struct smc_llc *msg);
void trace_smcr_llc_stray(u64 net_cookie, u8 link, u32 uid, const struct smc_llc *msg);

#endif /* _TESTS_UNIT_LLC_TRACE_H */
