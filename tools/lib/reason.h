/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_TOOLS_REASON_H
#define SMC_TOOLS_REASON_H

#include <stdint.h>

/**
 * reason_text() - describe why a connection uses TCP
 * @code: as in SMC_DIAG_FALLBACK or SMC_NLA_FBACK_STATS_RSN_CODE
 *
 * Returns: a text, also for unknown codes.
 */
const char *reason_text(uint32_t code);

/**
 * reason_name() - the short name of a fallback reason
 * @code: see reason_text()
 *
 * Returns: the name, or "[unknown]".
 */
const char *reason_name(uint32_t code);

#endif /* SMC_TOOLS_REASON_H */
