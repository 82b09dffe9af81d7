/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TESTS_UNIT_LINUX_UNALIGNED_H
#define _TESTS_UNIT_LINUX_UNALIGNED_H

#include <endian.h>
#include <string.h>

#include <linux/types.h>

#define DEFINE_UNALIGNED_BE(bits)					\
static inline u##bits get_unaligned_be##bits(const void *p)		\
{									\
	u##bits value;							\
									\
	memcpy(&value, p, sizeof(value));				\
	return be##bits##toh(value);					\
}									\
static inline void put_unaligned_be##bits(u##bits value, void *p)	\
{									\
	value = htobe##bits(value);					\
	memcpy(p, &value, sizeof(value));				\
}

DEFINE_UNALIGNED_BE(16)
DEFINE_UNALIGNED_BE(32)
DEFINE_UNALIGNED_BE(64)

#undef DEFINE_UNALIGNED_BE

#endif /* _TESTS_UNIT_LINUX_UNALIGNED_H */
