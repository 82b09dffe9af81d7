/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the kernel's header that the one for user space lacks */
#ifndef _TESTS_UNIT_LINUX_TYPES_H
#define _TESTS_UNIT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#endif /* _TESTS_UNIT_LINUX_TYPES_H */
