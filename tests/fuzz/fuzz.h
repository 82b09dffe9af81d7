/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fuzz targets share */
#ifndef _TESTS_FUZZ_FUZZ_H
#define _TESTS_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include <linux/string.h>
#include <linux/types.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* A property that must hold for every input */
#define CHECK(condition)						\
do {									\
	if (!(condition)) {						\
		fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
		abort();						\
	}								\
} while (0)

/* A copy that ends where the message ends, and may be changed; free() it */
static inline u8 *copy_input(const u8 *data, size_t size)
{
	u8 *copy = malloc(size ? size : 1);

	CHECK(copy);
	memcpy(copy, data, size);
	return copy;
}

#endif /* _TESTS_FUZZ_FUZZ_H */
