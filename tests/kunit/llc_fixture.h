/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the LLC suites: messages, one to change, and two results to compare */
#ifndef _TESTS_KUNIT_LLC_FIXTURE_H
#define _TESTS_KUNIT_LLC_FIXTURE_H

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "../../net/smc/wire/llc.h"
#include "hex.h"
#include "vectors.h"

/* V_nn are the test vectors of RFC 7609; V2_ follow the layouts of SMC Version 2 */
#define GID_C		"FE80000000000000000000FFFE00000C "
#define MAC_A		"02000000000A "
#define MAC_B		"02000000000B "
#define MAC_C		"02000000000C "

#define V_08	"012C0000" MAC_A GID_SERVER "000008 01 11111111 02"
#define V_09	"012C0080" MAC_B GID_CLIENT "000040 01 22222222 02"
/* With the two reserved bytes that the figure of RFC 7609 does not have, see R-AL-05 */
#define V_10	"022C0000" MAC_C "0000" GID_C "000009 02 03 0D0E0F"
#define V_11	"022C01C0" MAC_B "0000" GID_CLIENT "000000 02 00 000000"
#define V_12	"032C0000 02 01 0000 11223344 99AABBCC 00007F0099990000"
#define V_12_MORE "032C0000 02 FF 0000 00000001 00000002 0000000000000003" \
		  "00000004 00000005 0000000000000006"
#define V_13	"032C0080 02 00 0000"
#define V_14	"042C0020 02 00050000"
#define V_15	"042C0060 00 00030000"
#define V_16	"062C0000 01 11223344 00007F0012340000 02 99AABBCC 00007F0099990000"
#define V_17	"092C00A0 04 50 0000 00000011 00000022 00000033 00000044"
#define V_18	"072C0080 000102030405060708090A0B0C0D0E0F"

#define CONTINUATION_3	"082C0000 05 02 00000011 0000000000000012" \
			"03 00000013 0000000000000014 04 00000015 0000000000000016"

#define V2_CONFIRM_LINK	"21002C03 525400000001" GID_10_0_0_1 "000011 01 00000101 02 FF"
#define V2_ADD_LINK	"22005800 525400000001 0000" GID_10_0_0_1 "000012 02 03 CFDB5C" ZERO_8 \
			"00 00" GID_10_0_0_2 ZERO_8 "0001 00000353 00000528 FFFF8E4601AE0000"
#define V2_ADD_LINK_REPLY \
			"22005880 525400000002 0000" GID_10_0_0_2 "000012 02 05 CFDB5C" ZERO_8 \
			"80 00" ZERO_16 ZERO_8 "0001 00000353 00000528 FFFF8E4601AE0000"
#define V2_DELETE_LINK	"24002C40 00 00020000"
#define V2_REQUEST	"25002C00" ZERO_16 ZERO_4 "01 000000" GID_10_0_0_2
#define V2_REQUEST_2	"25003C00" ZERO_16 ZERO_4 "02 000000" GID_10_0_0_2 GID_10_0_0_1
#define V2_REQUEST_REPLY "25002C80"
#define V2_CONFIRM_RKEY	"26002C00 02 0000065F FFFFF8E46018B000 03 00000111 0000000000000222" \
			"04 00000333 0000000000000444"
#define V2_TEST_LINK	"27002C00 000102030405060708090A0B0C0D0E0F"
#define V2_DELETE_RKEY	"29002C00 01 00 0000 000003AE"
#define V2_DELETE_RKEY_REPLY "29002CA0 03 02 0000 00000011 00000022"

/* The structs are too large for the stack */
struct llc_fixture {
	struct smc_llc msg;
	struct smc_llc again;
	u8 built[SMC_LLC_BUILD_MAX];
	u8 buf[SMC_LLC_RECEIVE_MAX + 1];
	size_t len;
};

static inline int llc_fixture_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct llc_fixture), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

/* A message that starts with @hex; the rest up to @len bytes is zero */
static inline void load_len(struct kunit *test, const char *hex, size_t len)
{
	struct llc_fixture *f = test->priv;

	memset(f->buf, 0, sizeof(f->buf));
	unhex(test, hex, f->buf, sizeof(f->buf));
	f->len = len;
}

static inline void load(struct kunit *test, const char *hex)
{
	load_len(test, hex, SMC_LLC_LEN);
}

/* Parse the message in a buffer that ends with it */
static inline int parse(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	return smc_llc_parse(exact_copy(test, f->buf, f->len), f->len, &f->msg);
}

static inline struct smc_llc *parsed(struct kunit *test, const char *hex)
{
	struct llc_fixture *f = test->priv;

	load(test, hex);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	return &f->msg;
}

static inline void set_length(struct llc_fixture *f, size_t len)
{
	f->len = len;
	f->buf[1] = len >> 8 & 0xff;
	f->buf[2] = len & 0xff;
}

static inline void expect_round_trip(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, parse(test), 0);
	memset(f->built, 0xaa, sizeof(f->built));
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), f->len);
	KUNIT_EXPECT_MEMEQ(test, f->built, f->buf, f->len);
}

/* Parse a changed message; expect the values of the original */
static inline void expect_same_as(struct kunit *test, const char *original, const char *what)
{
	struct llc_fixture *f = test->priv;

	KUNIT_ASSERT_EQ_MSG(test, parse(test), 0, "%s", what);
	f->again = f->msg;
	load_len(test, original, f->len);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_MEMEQ_MSG(test, &f->msg, &f->again, sizeof(f->msg), "%s", what);
}

static inline void expect_no_space(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	int len = smc_llc_build(&f->msg, f->built, sizeof(f->built));
	int size;

	KUNIT_ASSERT_GT(test, len, 0);
	for (size = 0; size < len; size += size < 200 ? 1 : 61) {
		u8 *buf = exact_copy(test, f->built, size);

		KUNIT_EXPECT_EQ(test, smc_llc_build(&f->msg, buf, size), -ENOSPC);
	}
}

static inline void expect_refused(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), -EINVAL);
}

#endif /* _TESTS_KUNIT_LLC_FIXTURE_H */
