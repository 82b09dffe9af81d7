/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TESTS_UNIT_LINUX_ERRNO_H
#define _TESTS_UNIT_LINUX_ERRNO_H

/* The C library's <errno.h> includes the header of this name as well */
#include_next <linux/errno.h>

#endif /* _TESTS_UNIT_LINUX_ERRNO_H */
