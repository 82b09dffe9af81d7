/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_POLICY_STATUS_H
#define SMC_POLICY_STATUS_H

#include <stdbool.h>

/* Exit status of all these commands; only "smc status" returns "off" */
enum policy_exit {
	POLICY_DONE	= 0,
	POLICY_OFF	= 1,
	POLICY_FAILED	= 1,
	POLICY_USAGE	= 2,
	POLICY_UNKNOWN	= 2,
};

/**
 * policy_status() - print the active policy
 * @as_json: output for programs
 *
 * Returns: the exit status.
 */
int policy_status(bool as_json);

#endif /* SMC_POLICY_STATUS_H */
