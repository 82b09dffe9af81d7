/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_POLICY_STATUS_H
#define SMC_POLICY_STATUS_H

#include <stdbool.h>

/* Exit statuses of all commands here; "off" is an answer to "smc status" only */
enum policy_exit {
	POLICY_DONE	= 0,
	POLICY_OFF	= 1,
	POLICY_FAILED	= 1,
	POLICY_USAGE	= 2,
	POLICY_UNKNOWN	= 2,
};

/**
 * policy_status() - show what is on
 * @as_json: for a program
 *
 * Returns: the exit status.
 */
int policy_status(bool as_json);

#endif /* SMC_POLICY_STATUS_H */
