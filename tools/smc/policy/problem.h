/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_POLICY_PROBLEM_H
#define SMC_POLICY_PROBLEM_H

#include <stdbool.h>

/**
 * problem() - tell the user in one sentence why something cannot be done
 * @fmt: the sentence
 *
 * Returns: false, for the caller to return.
 */
__attribute__((format(printf, 1, 2)))
bool problem(const char *fmt, ...);

/* The same, but it is done all the same */
__attribute__((format(printf, 1, 2)))
void remark(const char *fmt, ...);

#endif /* SMC_POLICY_PROBLEM_H */
