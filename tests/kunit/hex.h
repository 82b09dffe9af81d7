/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages as text, in the notation of the specifications */
#ifndef _TESTS_KUNIT_HEX_H
#define _TESTS_KUNIT_HEX_H

#include <kunit/test.h>
#include <linux/string.h>
#include <linux/types.h>

static inline int unhex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Convert hexadecimal text to bytes in @out; blanks are skipped. Return: the length */
static inline size_t unhex(struct kunit *test, const char *text, u8 *out, size_t size)
{
	size_t digits = 0;

	for (; *text; text++) {
		int value = unhex_digit(*text);

		if (*text == ' ')
			continue;
		KUNIT_ASSERT_GE(test, value, 0);
		KUNIT_ASSERT_LT(test, digits / 2, size);
		if (digits % 2)
			out[digits / 2] |= value;
		else
			out[digits / 2] = value << 4;
		digits++;
	}
	KUNIT_ASSERT_EQ(test, digits % 2, 0);
	return digits / 2;
}

/* An exact copy, so that KASAN or ASan detects each access behind it */
static inline u8 *exact_copy(struct kunit *test, const void *bytes, size_t len)
{
	u8 *copy = kunit_kzalloc(test, len ? len : 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, bytes, len);
	return copy;
}

#endif /* _TESTS_KUNIT_HEX_H */
