/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_ADVICE_H
#define SMC_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct situation - what an advice depends on
 * @peer_declined: the peer has found the reason
 * @is_local: the peer's address is one of this host
 * @is_policy_on: "smc on" is in force here
 * @is_other_module: the module that is loaded is not the one of this tool
 * @variants: net.smc.variants of this network namespace
 */
struct situation {
	bool	peer_declined;
	bool	is_local;
	bool	is_policy_on;
	bool	is_other_module;
	int	variants;
};

/**
 * advice() - what an operator can do about a fallback reason
 * @reason: the code; of a decline, the one that the peer gave
 * @situation: where it was found
 *
 * Returns: sentences, or NULL if there is nothing to say.
 */
const char *advice(uint32_t reason, const struct situation *situation);

/* What to do where net.smc.variants of this network namespace leaves kinds of SMC out */
const char *advise_variants(void);

#endif /* SMC_ADVICE_H */
