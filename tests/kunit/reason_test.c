// SPDX-License-Identifier: GPL-2.0-only
/* The table of decline and termination codes */
#include <kunit/test.h>
#include <linux/errno.h>

#include "../../net/smc/wire/reason.h"

/* The order that the binary search needs, and the names that output needs */
static void table_is_sound(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < SMC_REASON_COUNT; i++) {
		const struct smc_reason_info *info = &smc_reason_table[i];

		KUNIT_ASSERT_NOT_NULL(test, info->name);
		KUNIT_ASSERT_NOT_NULL(test, info->text);
		KUNIT_EXPECT_GT_MSG(test, strlen(info->name), 0, "row %u", i);
		KUNIT_EXPECT_GT_MSG(test, strlen(info->text), 0, "row %u", i);
		KUNIT_EXPECT_NE_MSG(test, info->text[strlen(info->text) - 1], '.', "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, info->error, -1, "row %u", i);
		if (i)
			KUNIT_EXPECT_GT_MSG(test, info->code, info[-1].code, "row %u", i);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE_MSG(test, strcmp(info->name, smc_reason_table[j].name), 0,
					    "%s twice", info->name);
	}
}

static void find_every_row(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < SMC_REASON_COUNT; i++) {
		const struct smc_reason_info *info = &smc_reason_table[i];

		KUNIT_EXPECT_PTR_EQ(test, smc_reason_find(info->code), info);
		KUNIT_EXPECT_STREQ(test, smc_reason_name(info->code), info->name);
		KUNIT_EXPECT_STREQ(test, smc_reason_text(info->code), info->text);
	}
}

/* A code depends on the peer's operating system; any number may arrive */
static void find_nothing(struct kunit *test)
{
	static const u32 codes[] = { 0, 1, 0x03010001, 0xdeadbeef, 0xffffffff };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		KUNIT_EXPECT_NULL(test, smc_reason_find(codes[i]));
		KUNIT_EXPECT_STREQ(test, smc_reason_name(codes[i]), "UNKNOWN");
		KUNIT_EXPECT_STREQ(test, smc_reason_text(codes[i]), "unknown code");
	}
}

/* Peers and tools know these values */
static const struct code_row {
	u32 code;
	const char *name;
} code_rows[] = {
	{ 0x01010000, "MEMORY" },
	{ 0x02010000, "TIMEOUT_CL" },
	{ 0x02020000, "TIMEOUT_AL" },
	{ 0x03000000, "CNF_ERR" },
	{ 0x03010000, "PEER_NO_SMC" },
	{ 0x03020000, "IPSEC" },
	{ 0x03030000, "NOSMCDEV" },
	{ 0x03030001, "NOSMCDDEV" },
	{ 0x03030002, "NOSMCRDEV" },
	{ 0x03030003, "NOISM2SUPP" },
	{ 0x03030004, "NOV2EXT" },
	{ 0x03030005, "NOV2DEXT" },
	{ 0x03030006, "NOSEID" },
	{ 0x03030007, "NOSMCD2DEV" },
	{ 0x03030008, "NOUEID" },
	{ 0x03030009, "RELEASE" },
	{ 0x0303000a, "MAX_CONNS" },
	{ 0x0303000b, "MAX_LINKS" },
	{ 0x03040000, "MODEUNSUPP" },
	{ 0x03050000, "RMBE_EC" },
	{ 0x03060000, "OPTUNSUPP" },
	{ 0x03070000, "DIFFPREFIX" },
	{ 0x03080000, "GETVLANERR" },
	{ 0x03090000, "ISMVLANERR" },
	{ 0x030a0000, "NOACTLINK" },
	{ 0x030b0000, "NOSRVLINK" },
	{ 0x030c0000, "VERSMISMAT" },
	{ 0x030d0000, "MAX_DMB" },
	{ 0x030e0000, "NOROUTE" },
	{ 0x030f0000, "INDIRECT" },
	{ 0x04000000, "SYNCERR" },
	{ 0x05000000, "PEERDECL" },
	{ 0x09990000, "INTERNAL" },
	{ 0x09990001, "RTOKEN" },
	{ 0x09990002, "LINK" },
	{ 0x09990003, "REGBUF" },
	/* R-DL-15: LLC DELETE LINK */
	{ 0x00010000, "LOST_PATH" },
	{ 0x00020000, "OPERATOR" },
	{ 0x00030000, "INACTIVE" },
	{ 0x00040000, "PROTOCOL" },
	{ 0x00050000, "ASYMMETRIC" },
	{ 0x00100000, "UNKNOWN_LINK" },
};

static void codes_of_peers(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(code_rows); i++)
		KUNIT_EXPECT_STREQ(test, smc_reason_name(code_rows[i].code), code_rows[i].name);
}

static void from_errno(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-ENOMEM), SMC_REASON_NO_MEMORY);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-ENOBUFS), SMC_REASON_BUFFER_LIMIT);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-ENOSPC), SMC_REASON_TOO_MANY_DMBS);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-EPROTO), SMC_REASON_MALFORMED);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-EBADMSG), SMC_REASON_MALFORMED);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-ENODEV), SMC_REASON_NO_DEVICE);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-ENOENT), SMC_REASON_LINK_RTOKEN);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-ENOLINK), SMC_REASON_NO_ACTIVE_LINK);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-EHOSTUNREACH), SMC_REASON_NO_ROUTE);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-ENETUNREACH), SMC_REASON_NO_ROUTE);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-EOPNOTSUPP), SMC_REASON_OPTION);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-EAGAIN), SMC_REASON_TOO_MANY_HANDSHAKES);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(-EINVAL), SMC_REASON_INTERNAL);
	KUNIT_EXPECT_EQ(test, smc_reason_from_errno(0), SMC_REASON_INTERNAL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(table_is_sound),
	KUNIT_CASE(find_every_row),
	KUNIT_CASE(find_nothing),
	KUNIT_CASE(codes_of_peers),
	KUNIT_CASE(from_errno),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_reason",
	.test_cases = cases,
};

kunit_test_suite(suite);
