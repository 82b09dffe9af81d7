// SPDX-License-Identifier: GPL-2.0-only
/* LLC messages about memory keys: CONFIRM RKEY, its continuation, DELETE RKEY */
#include <kunit/test.h>

#include "llc_fixture.h"

/* V-16: R-RK-01 to 03 */
static void confirm_rkey(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_confirm_rkey *msg = &parsed(test, V_16)->confirm_rkey;

	KUNIT_EXPECT_EQ(test, msg->rkey, 0x11223344);
	KUNIT_EXPECT_EQ(test, msg->addr, 0x7f0012340000ULL);
	KUNIT_EXPECT_EQ(test, msg->nr_others, 1);
	KUNIT_EXPECT_EQ(test, msg->others[0].link_num, 2);
	KUNIT_EXPECT_EQ(test, msg->others[0].rkey, 0x99aabbccU);
	KUNIT_EXPECT_EQ(test, msg->others[0].addr, 0x7f0099990000ULL);
	KUNIT_EXPECT_FALSE(test, msg->negative);

	load(test, V_16);
	f->buf[3] |= 0x4f;
	memset(f->buf + 30, 0xff, 14);
	expect_same_as(test, V_16, "reserved");

	/* V-22: of seven other links, two are in this message */
	load(test, V_16 "03 00000001 0000000000000002");
	f->buf[4] = 7;
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, msg->nr_others, 7);
	KUNIT_EXPECT_EQ(test, msg->others[1].link_num, 3);
	KUNIT_EXPECT_EQ(test, msg->others[1].addr, 2);

	parsed(test, "262c0000 00 0000065f ffff8e46018b0000");
	KUNIT_EXPECT_EQ(test, msg->rkey, 0x65f);
	KUNIT_EXPECT_EQ(test, msg->addr, 0xffff8e46018b0000ULL);
	KUNIT_EXPECT_EQ(test, msg->nr_others, 0);
}

/* R-RK-06 to 08: a reply can reject, finally or for now; a request cannot */
static void confirm_rkey_negative(struct kunit *test)
{
	static const struct {
		u8 flags;
		bool negative, retry;
	} rows[] = {
		{ 0x00, false, false }, { 0x30, false, false }, { 0x80, false, false },
		{ 0x90, false, false }, { 0xa0, true, false }, { 0xb0, true, true },
	};
	struct llc_fixture *f = test->priv;
	struct smc_llc_confirm_rkey *msg = &f->msg.confirm_rkey;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		load(test, V_16);
		f->buf[3] = rows[i].flags;
		KUNIT_ASSERT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ(test, msg->negative, rows[i].negative);
		KUNIT_EXPECT_EQ(test, msg->retry, rows[i].retry);
		if (rows[i].negative)
			expect_round_trip(test);
	}

	parsed(test, V_16);
	msg->negative = true;
	msg->retry = true;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_EQ(test, f->built[3], 0);
	f->msg.reply = true;
	msg->negative = false;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_EQ(test, f->built[3], 0x80);
}

/* In version 2, without continuations, a message cannot announce more than it contains */
static void confirm_rkey_v2_others(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	parsed(test, V2_CONFIRM_RKEY);
	KUNIT_EXPECT_EQ(test, f->msg.confirm_rkey.nr_others, 2);
	f->buf[4] = 3;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
}

/* V-22, A-12: R-RK-04 */
static void confirm_rkey_continuation(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_confirm_rkey_cont *msg = &f->msg.confirm_rkey_cont;

	load(test, CONTINUATION_3);
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, msg->nr_left, 5);
	KUNIT_EXPECT_EQ(test, msg->others[0].link_num, 2);
	KUNIT_EXPECT_EQ(test, msg->others[2].link_num, 4);
	KUNIT_EXPECT_EQ(test, msg->others[2].addr, 0x16);
	KUNIT_EXPECT_FALSE(test, msg->negative);

	f->buf[4] = 1;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, msg->others[0].rkey, 0x11);
	KUNIT_EXPECT_EQ(test, msg->others[1].rkey, 0);

	/* Only a reply can reject; it may also be positive */
	f->buf[3] = 0x20;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, msg->negative);
	load(test, CONTINUATION_3);
	f->buf[3] = 0x80;
	expect_round_trip(test);
	KUNIT_EXPECT_FALSE(test, msg->negative);
	f->buf[3] = 0xa0;
	expect_round_trip(test);
	KUNIT_EXPECT_TRUE(test, msg->negative);
	f->msg.reply = false;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_EQ(test, f->built[3], 0);
}

/* V-17: R-RK-16, R-RK-18, A-23 */
static void delete_rkey_v1(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	struct smc_llc_delete_rkey *msg = &parsed(test, V_17)->delete_rkey;
	unsigned int n;

	KUNIT_EXPECT_TRUE(test, f->msg.reply);
	KUNIT_EXPECT_TRUE(test, msg->negative);
	KUNIT_EXPECT_EQ(test, msg->nr_rkeys, 4);
	KUNIT_EXPECT_EQ(test, msg->error_mask, 0x50);
	KUNIT_EXPECT_EQ(test, msg->rkeys[0], 0x11);
	KUNIT_EXPECT_EQ(test, msg->rkeys[3], 0x44);

	for (n = 0; n < 256; n++) {
		f->buf[4] = n;
		KUNIT_EXPECT_EQ_MSG(test, parse(test), n >= 1 && n <= 8 ? 0 : -EPROTO,
				    "%u keys", n);
	}

	/* A request and a positive reply have no mask; it is neither sent nor read */
	load(test, V_17);
	f->buf[3] = 0x80;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, msg->negative);
	KUNIT_EXPECT_EQ(test, msg->error_mask, 0);
	msg->error_mask = 0xff;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_EQ(test, f->built[5], 0);
	f->buf[3] = 0x20;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, msg->negative);
	msg->negative = true;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_EQ(test, f->built[3], 0);

	load(test, V_17);
	f->buf[3] |= 0x5f;
	memset(f->buf + 6, 0xff, 2);
	memset(f->buf + 24, 0xff, 20);
	expect_same_as(test, V_17, "reserved");
}

/* V2-LLC-14, C-05 */
static void delete_rkey_v2_request(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_delete_rkey *msg = &f->msg.delete_rkey;
	unsigned int n, i;

	parsed(test, "292c0000 01 00 0000 000003ae");
	KUNIT_EXPECT_EQ(test, msg->nr_rkeys, 1);
	KUNIT_EXPECT_EQ(test, msg->rkeys[0], 0x3ae);

	for (n = 1; n < 256; n++) {
		size_t len = n < 9 ? 44 : 8 + 4 * n;

		load_len(test, V2_DELETE_RKEY, len);
		set_length(f, len);
		f->buf[4] = n;
		for (i = 0; i < n; i++)
			memset(f->buf + 8 + 4 * i, i + 1, 4);
		expect_round_trip(test);
		KUNIT_EXPECT_EQ(test, msg->rkeys[n - 1], (n & 0xff) * 0x01010101U);

		/* A number that does not match the length */
		f->buf[4] = n + 1;
		KUNIT_EXPECT_EQ_MSG(test, parse(test), n < 9 ? 0 : -EPROTO, "%u keys", n);
	}
	KUNIT_EXPECT_EQ(test, f->len, 1028);
	f->buf[4] = 0;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	f->buf[4] = 254;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	/* Nine keys just fit into 44 bytes, ten do not */
	load(test, V2_DELETE_RKEY);
	f->buf[4] = 9;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	f->buf[4] = 10;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	load(test, V2_DELETE_RKEY);
	f->buf[3] |= 0x7f;
	memset(f->buf + 5, 0xff, 3);
	memset(f->buf + 12, 0xff, 32);
	expect_same_as(test, V2_DELETE_RKEY, "reserved");
}

/* V2-LLC-15, V2-LLC-16 */
static void delete_rkey_v2_reply(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	struct smc_llc_delete_rkey *msg = &parsed(test, V2_DELETE_RKEY_REPLY)->delete_rkey;

	KUNIT_EXPECT_TRUE(test, msg->negative);
	KUNIT_EXPECT_EQ(test, msg->nr_rkeys, 3);
	KUNIT_EXPECT_EQ(test, msg->nr_failed, 2);
	KUNIT_EXPECT_EQ(test, msg->rkeys[0], 0x11);
	KUNIT_EXPECT_EQ(test, msg->rkeys[1], 0x22);
	KUNIT_EXPECT_EQ(test, msg->rkeys[2], 0);

	parsed(test, "292c0080 01 00 0000 00000000");
	KUNIT_EXPECT_FALSE(test, msg->negative);
	KUNIT_EXPECT_EQ(test, msg->nr_rkeys, 1);

	/* Twenty failed, eight are listed; bytes behind the list are ignored */
	load(test, "29002CA0 14 14 0000");
	memset(f->buf + 8, 0x77, 36);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, msg->nr_rkeys, 20);
	KUNIT_EXPECT_EQ(test, msg->nr_failed, 20);
	KUNIT_EXPECT_EQ(test, msg->rkeys[7], 0x77777777);
	KUNIT_EXPECT_EQ(test, msg->rkeys[8], 0);
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_MEMEQ(test, f->built, f->buf, 40);
	KUNIT_EXPECT_EQ(test, f->built[40], 0);

	/* A positive reply has no list; it is neither sent nor read */
	f->buf[3] = 0x80;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, msg->nr_failed, 0);
	KUNIT_EXPECT_EQ(test, msg->rkeys[0], 0);
	msg->nr_failed = 1;
	msg->rkeys[0] = 1;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_EQ(test, f->built[5], 0);
	KUNIT_EXPECT_EQ(test, f->built[11], 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(confirm_rkey),
	KUNIT_CASE(confirm_rkey_negative),
	KUNIT_CASE(confirm_rkey_v2_others),
	KUNIT_CASE(confirm_rkey_continuation),
	KUNIT_CASE(delete_rkey_v1),
	KUNIT_CASE(delete_rkey_v2_request),
	KUNIT_CASE(delete_rkey_v2_reply),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_llc_rkey",
	.init = llc_fixture_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
