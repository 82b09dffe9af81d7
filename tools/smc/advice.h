/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_ADVICE_H
#define SMC_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct situation - what the advice depends on
 * @peer_declined: the peer has declined; the reason is the peer's
 * @is_local: the peer's address belongs to this host
 * @is_policy_on: "smc on" is active here
 * @is_other_module: the loaded module is not the one of this tool
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
 * @reason: the code; if the peer has declined, the peer's diagnosis
 * @situation: where it occurred
 *
 * Returns: sentences, or NULL.
 */
const char *advice(uint32_t reason, const struct situation *situation);

/* Advice if net.smc.variants of this network namespace excludes variants of SMC */
const char *advise_variants(void);

#endif /* SMC_ADVICE_H */
