// SPDX-License-Identifier: GPL-2.0-only
/* Definitions of the tracepoints */

#include <linux/export.h>
#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Used by smc_rdma */
EXPORT_TRACEPOINT_SYMBOL_GPL(smcr_link_up);
EXPORT_TRACEPOINT_SYMBOL_GPL(smcr_link_down);
EXPORT_TRACEPOINT_SYMBOL_GPL(smcr_llc);
EXPORT_TRACEPOINT_SYMBOL_GPL(smcr_llc_stray);
