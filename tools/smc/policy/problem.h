/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_POLICY_PROBLEM_H
#define SMC_POLICY_PROBLEM_H

#include <stdbool.h>

/**
 * problem() - print in one sentence why something failed
 * @fmt: the sentence
 *
 * Returns: false, so that the caller can return it.
 */
__attribute__((format(printf, 1, 2)))
bool problem(const char *fmt, ...);

/* The same for a warning: the command continues */
__attribute__((format(printf, 1, 2)))
void remark(const char *fmt, ...);

#endif /* SMC_POLICY_PROBLEM_H */
