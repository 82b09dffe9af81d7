/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TESTS_UNIT_LINUX_STRING_H
#define _TESTS_UNIT_LINUX_STRING_H

#include <string.h>

#include <linux/types.h>

/* Return: the address of the first byte that is not @c, or NULL */
static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *p = start;

	for (; bytes; p++, bytes--) {
		if (*p != (u8)c)
			return (void *)p;
	}
	return NULL;
}

#endif /* _TESTS_UNIT_LINUX_STRING_H */
