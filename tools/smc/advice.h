/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_ADVICE_H
#define SMC_ADVICE_H

#include <stdint.h>

/**
 * advice() - what an operator can do about a fallback reason
 * @reason: the code; of a decline, the one that the peer gave
 *
 * Returns: sentences, or NULL if there is nothing to say.
 */
const char *advice(uint32_t reason);

#endif /* SMC_ADVICE_H */
