/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TESTS_UNIT_LINUX_BUILD_BUG_H
#define _TESTS_UNIT_LINUX_BUILD_BUG_H

#include <assert.h>

#define BUILD_BUG_ON(condition) static_assert(!(condition), #condition)

/* The message is optional in the kernel */
#undef static_assert
#define static_assert(expression, ...) _Static_assert(expression, #expression)

#endif /* _TESTS_UNIT_LINUX_BUILD_BUG_H */
