/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_CHECK_H
#define SMC_CHECK_H

#include <stdbool.h>

/**
 * check() - would a connection to this target use SMC, and if not, why?
 * @target: HOST[:PORT]; modified
 * @family: AF_INET, AF_INET6 or AF_UNSPEC
 * @json: write JSON
 *
 * Returns: the exit status.
 */
int check(char *target, int family, bool json);

#endif /* SMC_CHECK_H */
