/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the CLC suites: a message to change, and two results to compare */
#ifndef _TESTS_KUNIT_CLC_FIXTURE_H
#define _TESTS_KUNIT_CLC_FIXTURE_H

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "../../net/smc/wire/clc.h"
#include "hex.h"
#include "vectors.h"

/* The structs are too large for the stack */
struct clc_fixture {
	struct smc_clc msg;
	struct smc_clc again;
	u8 built[SMC_CLC_BUILD_MAX];
	u8 buf[1024];
	size_t len;
};

static inline int clc_fixture_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct clc_fixture), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static inline void load(struct kunit *test, const char *hex)
{
	struct clc_fixture *f = test->priv;

	f->len = unhex(test, hex, f->buf, sizeof(f->buf));
}

/* As the handshake does: first the header, then the message */
static inline int parse_bytes(const void *buf, size_t len, struct smc_clc *out)
{
	struct smc_clc_header header;
	int err = smc_clc_parse_header(buf, len, &header);

	memset(out, 0, sizeof(*out));	/* tests compare all of it */
	return err ? err : smc_clc_parse(&header, buf, len, out);
}

/* Parse the message in a buffer that ends with it */
static inline int parse(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	return parse_bytes(exact_copy(test, f->buf, f->len), f->len, &f->msg);
}

/* Set the length in the header to the current length */
static inline void set_length(struct clc_fixture *f, size_t len)
{
	f->len = len;
	f->buf[5] = len >> 8 & 0xff;
	f->buf[6] = len & 0xff;
}

/* Insert @n bytes @fill before offset @at */
static inline void insert(struct clc_fixture *f, size_t at, size_t n, u8 fill)
{
	memmove(f->buf + at + n, f->buf + at, f->len - at);
	memset(f->buf + at, fill, n);
	set_length(f, f->len + n);
}

/* Remove @n bytes at offset @at */
static inline void cut(struct clc_fixture *f, size_t at, size_t n)
{
	memmove(f->buf + at, f->buf + at + n, f->len - at - n);
	set_length(f, f->len - n);
}

/* Parse and build; expect the same bytes. The parsed message stays in @f->msg. */
static inline void expect_round_trip(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, parse(test), 0);
	memset(f->built, 0xaa, sizeof(f->built));
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), f->len);
	KUNIT_EXPECT_MEMEQ(test, f->built, f->buf, f->len);
}

/* Parse a changed message; expect the values of the original */
static inline void expect_same_as(struct kunit *test, const char *original, const char *what)
{
	struct clc_fixture *f = test->priv;
	size_t len;

	KUNIT_ASSERT_EQ_MSG(test, parse(test), 0, "%s", what);
	len = unhex(test, original, f->built, sizeof(f->built));
	KUNIT_ASSERT_EQ(test, parse_bytes(f->built, len, &f->again), 0);
	KUNIT_EXPECT_MEMEQ_MSG(test, &f->msg, &f->again, sizeof(f->msg), "%s", what);
}

/* Building fails in each buffer that is smaller than the message */
static inline void expect_no_space(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	int len = smc_clc_build(&f->msg, f->built, sizeof(f->built));
	int size;

	KUNIT_ASSERT_GT(test, len, 0);
	for (size = 0; size < len; size++) {
		u8 *buf = exact_copy(test, f->built, size);

		KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, buf, size), -ENOSPC);
	}
}

/* Parsing fails for each truncation, whatever length the header has */
static inline void expect_truncation_refused(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	size_t full = f->len;

	KUNIT_ASSERT_EQ(test, parse(test), 0);
	for (f->len = 0; f->len < full; f->len++)
		KUNIT_EXPECT_NE_MSG(test, parse(test), 0, "%zu of %zu bytes", f->len, full);
}

#endif /* _TESTS_KUNIT_CLC_FIXTURE_H */
