// SPDX-License-Identifier: GPL-2.0-only
/* Syntax and padding of EIDs and PNET ids */
#include <kunit/test.h>
#include <linux/errno.h>

#include "../../net/smc/wire/eid.h"

#define TEXT_32	"ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"

/* V2-EID-01 to 04, and the decisions of S-04 */
static const struct eid_row {
	const char *text;
	bool valid;
} eid_rows[] = {
	{ "A", true },
	{ "9A", true },
	{ "Z9.A-B", true },
	{ "A.B", true },
	{ "A--B", true },
	{ "A.-.B", true },
	{ "A-", true },
	{ "A.", true },
	{ "A   ", true },
	{ TEXT_32, true },
	{ TEXT_32 "6", false },
	{ TEXT_32 " ", false },
	{ "", false },
	{ " ", false },
	{ " A", false },
	{ "A B", false },
	{ ".A", false },
	{ "-A", false },
	{ "A..B", false },
	{ "A..", false },
	{ "a", false },
	{ "Ab", false },
	{ "A_B", false },
	{ "A\x80", false },
	{ "A/", false },
	{ "A:", false },
	{ "A@", false },
	{ "A[", false },
	{ "/", false },
	{ ":", false },
	{ "@", false },
	{ "[", false },
};

static void eid_syntax(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(eid_rows); i++) {
		const struct eid_row *row = &eid_rows[i];
		struct smc_eid eid;

		KUNIT_EXPECT_EQ_MSG(test, smc_eid_parse(row->text, strlen(row->text), &eid),
				    row->valid ? 0 : -EINVAL, "\"%s\"", row->text);
	}
}

/* Characters that a C string cannot hold */
static void eid_invalid_bytes(struct kunit *test)
{
	struct smc_eid eid;

	KUNIT_EXPECT_EQ(test, smc_eid_parse("A\0B", 3, &eid), -EINVAL);
	memset(&eid, 0, sizeof(eid));
	KUNIT_EXPECT_FALSE(test, smc_eid_valid(&eid));
	memset(&eid, 0xff, sizeof(eid));
	KUNIT_EXPECT_FALSE(test, smc_eid_valid(&eid));
}

static void eid_padding(struct kunit *test)
{
	struct smc_eid eid, padded;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, smc_eid_parse("A", 1, &eid), 0);
	KUNIT_EXPECT_EQ(test, eid.text[0], 0x41);
	for (i = 1; i < SMC_EID_LEN; i++)
		KUNIT_EXPECT_EQ(test, eid.text[i], 0x20);

	KUNIT_ASSERT_EQ(test, smc_eid_parse("A       ", 8, &padded), 0);
	KUNIT_EXPECT_TRUE(test, smc_eid_equal(&eid, &padded));
}

/* V2-EID-18 */
static void eid_compare(struct kunit *test)
{
	struct smc_eid a, b, none = { "" };

	smc_eid_parse("AB", 2, &a);
	smc_eid_parse("ABC", 3, &b);
	KUNIT_EXPECT_FALSE(test, smc_eid_equal(&a, &b));
	b = a;
	KUNIT_EXPECT_TRUE(test, smc_eid_equal(&a, &b));
	b.text[SMC_EID_LEN - 1] = 'X';
	KUNIT_EXPECT_FALSE(test, smc_eid_equal(&a, &b));
	b = a;
	b.text[0] = 'a';
	KUNIT_EXPECT_FALSE(test, smc_eid_equal(&a, &b));
	KUNIT_EXPECT_FALSE(test, smc_eid_is_none(&a));
	KUNIT_EXPECT_TRUE(test, smc_eid_is_none(&none));
}

static void eid_format(struct kunit *test)
{
	struct smc_eid eid, none = { "" };
	char buf[SMC_EID_LEN + 1];

	smc_eid_parse("A.B-C", 5, &eid);
	KUNIT_EXPECT_EQ(test, smc_eid_format(&eid, buf, sizeof(buf)), 5);
	KUNIT_EXPECT_STREQ(test, buf, "A.B-C");
	KUNIT_EXPECT_EQ(test, smc_eid_format(&eid, buf, 6), 5);
	KUNIT_EXPECT_EQ(test, smc_eid_format(&eid, buf, 5), -ENOSPC);
	KUNIT_EXPECT_EQ(test, smc_eid_format(&none, buf, sizeof(buf)), 0);
	KUNIT_EXPECT_STREQ(test, buf, "");

	smc_eid_parse(TEXT_32, 32, &eid);
	KUNIT_EXPECT_EQ(test, smc_eid_format(&eid, buf, sizeof(buf)), 32);
	KUNIT_EXPECT_STREQ(test, buf, TEXT_32);
	KUNIT_EXPECT_EQ(test, smc_eid_format(&eid, buf, SMC_EID_LEN), -ENOSPC);
}

/* V2-EID-10: format-valid, and different for different seeds */
static void eid_from_seed(struct kunit *test)
{
	static const u8 seed[SMC_EID_SEED_LEN] = {
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
		0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10,
	};
	struct smc_eid eid;
	char buf[SMC_EID_LEN + 1];

	smc_eid_from_seed(seed, &eid);
	KUNIT_EXPECT_TRUE(test, smc_eid_valid(&eid));
	smc_eid_format(&eid, buf, sizeof(buf));
	KUNIT_EXPECT_STREQ(test, buf, "0123456789ABCDEFFEDCBA9876543210");
}

/* As existing tools and kernels accept them, see the user ABI */
static const struct pnetid_row {
	const char *text;
	const char *stored;	/* NULL: rejected */
} pnetid_rows[] = {
	{ "NET1", "NET1" },
	{ "net1", "NET1" },
	{ "aZ09", "AZ09" },
	{ "1", "1" },
	{ "ABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP" },
	{ "NET   ", "NET" },
	{ "ABCDEFGHIJKLMNOPQ", NULL },
	{ "", NULL },
	{ "  ", NULL },
	{ "NET 1", NULL },
	{ " NET", NULL },
	{ "NET_1", NULL },
	{ "NET-1", NULL },
	{ "NET.1", NULL },
	{ "NET`", NULL },
	{ "NET{", NULL },
};

static void pnetid_syntax(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pnetid_rows); i++) {
		const struct pnetid_row *row = &pnetid_rows[i];
		struct smc_pnetid pnetid;
		char buf[SMC_PNETID_LEN + 1];

		KUNIT_EXPECT_EQ_MSG(test, smc_pnetid_parse(row->text, strlen(row->text), &pnetid),
				    row->stored ? 0 : -EINVAL, "\"%s\"", row->text);
		if (!row->stored)
			continue;
		KUNIT_EXPECT_EQ(test, smc_pnetid_format(&pnetid, buf, sizeof(buf)),
				strlen(row->stored));
		KUNIT_EXPECT_STREQ(test, buf, row->stored);
	}
}

static void pnetid_compare(struct kunit *test)
{
	struct smc_pnetid a, b, none = { "" };
	char buf[SMC_PNETID_LEN + 1];

	smc_pnetid_parse("NET", 3, &a);
	smc_pnetid_parse("NETABCDEFGHIJKLM", 16, &b);
	KUNIT_EXPECT_FALSE(test, smc_pnetid_equal(&a, &b));
	smc_pnetid_parse("net  ", 5, &b);
	KUNIT_EXPECT_TRUE(test, smc_pnetid_equal(&a, &b));
	b.text[SMC_PNETID_LEN - 1] = 'X';
	KUNIT_EXPECT_FALSE(test, smc_pnetid_equal(&a, &b));
	KUNIT_EXPECT_FALSE(test, smc_pnetid_is_none(&a));
	KUNIT_EXPECT_TRUE(test, smc_pnetid_is_none(&none));
	KUNIT_EXPECT_FALSE(test, smc_pnetid_valid(&none));
	KUNIT_EXPECT_EQ(test, smc_pnetid_format(&a, buf, 3), -ENOSPC);
	KUNIT_EXPECT_EQ(test, smc_pnetid_format(&none, buf, 1), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(eid_syntax),
	KUNIT_CASE(eid_invalid_bytes),
	KUNIT_CASE(eid_padding),
	KUNIT_CASE(eid_compare),
	KUNIT_CASE(eid_format),
	KUNIT_CASE(eid_from_seed),
	KUNIT_CASE(pnetid_syntax),
	KUNIT_CASE(pnetid_compare),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_eid",
	.test_cases = cases,
};

kunit_test_suite(suite);
