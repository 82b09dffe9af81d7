// SPDX-License-Identifier: GPL-2.0-only
/* CDC messages and SMC-D control blocks (RFC 7609, A.4; interop.md, 3) */
#include <kunit/test.h>
#include <linux/errno.h>

#include "../../net/smc/wire/cdc.h"
#include "hex.h"

#define ZERO_18	"000000000000000000000000000000000000"

/* R-CDC-01, R-CDC-09 */
static const struct message_row {
	const char *name, *bytes;
	struct smc_cdc cdc;
} message_rows[] = {
	{ "V-19a: scenario 4, writer blocked",
	  "FE2C0007 A1B2C3D4 0000 0002 000003EC 0000 0000 00000004 80 00" ZERO_18,
	  { .seqno = 7, .token = 0xa1b2c3d4, .producer = { 2, 1004 }, .consumer = { 0, 4 },
	    .producer_flags = SMC_CDC_WRITER_BLOCKED } },
	{ "V-19b: scenario 5, urgent",
	  "FE2C0008 A1B2C3D4 0000 0001 000005DC 0000 0000 00000004 60 00" ZERO_18,
	  { .seqno = 8, .token = 0xa1b2c3d4, .producer = { 1, 1500 }, .consumer = { 0, 4 },
	    .producer_flags = SMC_CDC_URGENT_PENDING | SMC_CDC_URGENT_PRESENT } },
	{ "V-19c: failover validation",
	  "FE2C0006 A1B2C3D4 0000 0000 00000000 0000 0000 00000000 08 00" ZERO_18,
	  { .seqno = 6, .token = 0xa1b2c3d4, .producer_flags = SMC_CDC_FAILOVER } },
	{ "V-19d: done and closed",
	  "FE2C0009 A1B2C3D4 0000 0003 000003F4 0000 0000 000001F8 00 C0" ZERO_18,
	  { .seqno = 9, .token = 0xa1b2c3d4, .producer = { 3, 1012 }, .consumer = { 0, 504 },
	    .state_flags = SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED } },
	{ "aborted, update requested, all bits of the numbers",
	  "FE2CFFFE FEDCBA98 0000 FFFD FFFFFFF1 0000 FFFC FFFFFFF2 10 20" ZERO_18,
	  { .seqno = 0xfffe, .token = 0xfedcba98, .producer = { 0xfffd, 0xfffffff1 },
	    .consumer = { 0xfffc, 0xfffffff2 }, .producer_flags = SMC_CDC_UPDATE_REQUESTED,
	    .state_flags = SMC_CDC_ABORTED } },
	{ "captured: 20000 bytes written",
	  "fe2c0001 00000001 0000 0000 00004e20 0000 0000 00000000 00 00" ZERO_18,
	  { .seqno = 1, .token = 1, .producer = { 0, 20000 } } },
	{ "captured: and 20000 consumed",
	  "fe2c0001 00000001 0000 0000 00004e20 0000 0000 00004e20 00 00" ZERO_18,
	  { .seqno = 1, .token = 1, .producer = { 0, 20000 }, .consumer = { 0, 20000 } } },
	{ "captured: closed",
	  "fe2c0004 00000001 0000 0000 0000ea60 0000 0000 0000ea60 00 40" ZERO_18,
	  { .seqno = 4, .token = 1, .producer = { 0, 60000 }, .consumer = { 0, 60000 },
	    .state_flags = SMC_CDC_CLOSED } },
};

static void expect_equal(struct kunit *test, const struct smc_cdc *a, const struct smc_cdc *b,
			 const char *name)
{
	KUNIT_EXPECT_EQ_MSG(test, a->seqno, b->seqno, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, a->token, b->token, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, a->producer.wrap, b->producer.wrap, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, a->producer.count, b->producer.count, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, a->consumer.wrap, b->consumer.wrap, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, a->consumer.count, b->consumer.count, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, a->producer_flags, b->producer_flags, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, a->state_flags, b->state_flags, "%s", name);
}

static void messages(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(message_rows); i++) {
		const struct message_row *row = &message_rows[i];
		u8 bytes[SMC_CDC_LEN], built[SMC_CDC_LEN];
		struct smc_cdc cdc;

		memset(built, 0xaa, sizeof(built));
		KUNIT_ASSERT_EQ(test, unhex(test, row->bytes, bytes, sizeof(bytes)), SMC_CDC_LEN);
		KUNIT_ASSERT_EQ_MSG(test, smc_cdc_parse(bytes, sizeof(bytes), &cdc), 0, "%s",
				    row->name);
		expect_equal(test, &cdc, &row->cdc, row->name);
		KUNIT_ASSERT_EQ(test, smc_cdc_build(&row->cdc, built, sizeof(built)), SMC_CDC_LEN);
		KUNIT_EXPECT_MEMEQ(test, built, bytes, SMC_CDC_LEN);
	}
}

/* type, both lengths */
static void malformed(struct kunit *test)
{
	struct smc_cdc cdc;
	u8 bytes[64] = { 0 };
	size_t len;

	unhex(test, message_rows[0].bytes, bytes, sizeof(bytes));
	for (len = 0; len <= sizeof(bytes); len++) {
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_parse(exact_copy(test, bytes, len), len, &cdc),
				    len == SMC_CDC_LEN ? 0 : -EPROTO, "length %zu", len);
	}

	bytes[1] = 43;
	KUNIT_EXPECT_EQ(test, smc_cdc_parse(bytes, SMC_CDC_LEN, &cdc), -EPROTO);
	bytes[1] = 45;
	KUNIT_EXPECT_EQ(test, smc_cdc_parse(bytes, SMC_CDC_LEN, &cdc), -EPROTO);
	bytes[1] = SMC_CDC_LEN;
	bytes[0] = 0xff;
	KUNIT_EXPECT_EQ(test, smc_cdc_parse(bytes, SMC_CDC_LEN, &cdc), -EPROTO);
	bytes[0] = 0xc1;
	KUNIT_EXPECT_EQ(test, smc_cdc_parse(bytes, SMC_CDC_LEN, &cdc), -EPROTO);
}

/* The receiver ignores reserved bytes and bits */
static void reserved(struct kunit *test)
{
	struct smc_cdc cdc;
	u8 bytes[SMC_CDC_LEN];

	unhex(test, message_rows[3].bytes, bytes, sizeof(bytes));
	bytes[8] = 0xff;
	bytes[9] = 0xff;
	bytes[16] = 0xff;
	bytes[17] = 0xff;
	bytes[24] |= 0x07;
	bytes[25] |= 0x1f;
	memset(bytes + 26, 0xff, 18);
	KUNIT_ASSERT_EQ(test, smc_cdc_parse(bytes, sizeof(bytes), &cdc), 0);
	expect_equal(test, &cdc, &message_rows[3].cdc, "reserved");
}

/* R-CDC-11: with the failover bit, the receiver uses only sequence number and token */
static void failover_hides_the_rest(struct kunit *test)
{
	struct smc_cdc cdc;
	u8 bytes[SMC_CDC_LEN];

	unhex(test, message_rows[2].bytes, bytes, sizeof(bytes));
	memset(bytes + 8, 0xff, sizeof(bytes) - 8);
	KUNIT_ASSERT_EQ(test, smc_cdc_parse(bytes, sizeof(bytes), &cdc), 0);
	expect_equal(test, &cdc, &message_rows[2].cdc, "failover");
}

static void build_into_small_buffer(struct kunit *test)
{
	struct smc_cdc cdc = { .seqno = 1 };
	u8 *buf = exact_copy(test, message_rows[0].bytes, SMC_CDC_LEN - 1);

	KUNIT_EXPECT_EQ(test, smc_cdc_build(&cdc, buf, SMC_CDC_LEN - 1), -ENOSPC);
	buf = exact_copy(test, message_rows[0].bytes, SMC_CDC_BLOCK_LEN - 1);
	KUNIT_EXPECT_EQ(test, smc_cdc_block_build(&cdc, buf, SMC_CDC_BLOCK_LEN - 1), -ENOSPC);
}

static const struct smc_cdc block_cdc = {
	.producer = { 0x1122, 0x33445566 },
	.producer_flags = SMC_CDC_WRITER_BLOCKED | SMC_CDC_UPDATE_REQUESTED,
	.state_flags = SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED,
	.consumer = { 0x778a, 0x99aabbcc },
};

#define BLOCK	"FE00000000000000 1122 33445566 90 C0 778A 99AABBCC 0000 0000000000000000"

static void block(struct kunit *test)
{
	u8 bytes[SMC_CDC_BLOCK_LEN], built[SMC_CDC_BLOCK_LEN];
	struct smc_cdc cdc;

	memset(built, 0xaa, sizeof(built));
	KUNIT_ASSERT_EQ(test, unhex(test, BLOCK, bytes, sizeof(bytes)), SMC_CDC_BLOCK_LEN);
	KUNIT_ASSERT_EQ(test, smc_cdc_block_parse(bytes, sizeof(bytes), &cdc), 0);
	expect_equal(test, &cdc, &block_cdc, "block");
	KUNIT_ASSERT_EQ(test, smc_cdc_block_build(&block_cdc, built, sizeof(built)),
			SMC_CDC_BLOCK_LEN);
	KUNIT_EXPECT_MEMEQ(test, built, bytes, SMC_CDC_BLOCK_LEN);
}

static void block_malformed(struct kunit *test)
{
	struct smc_cdc cdc;
	u8 bytes[40] = { 0 };
	size_t len;

	unhex(test, BLOCK, bytes, sizeof(bytes));
	for (len = 0; len <= sizeof(bytes); len++) {
		const u8 *copy = exact_copy(test, bytes, len);

		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_block_parse(copy, len, &cdc),
				    len == SMC_CDC_BLOCK_LEN ? 0 : -EPROTO, "length %zu", len);
	}
	/* The peer has not written the block yet */
	memset(bytes, 0, sizeof(bytes));
	KUNIT_EXPECT_EQ(test, smc_cdc_block_parse(bytes, SMC_CDC_BLOCK_LEN, &cdc), -EPROTO);
}

/* Reserved bytes, and flags that do not exist for SMC-D or in a consumer cursor */
static void block_reserved(struct kunit *test)
{
	u8 bytes[SMC_CDC_BLOCK_LEN];
	struct smc_cdc cdc;

	unhex(test, BLOCK, bytes, sizeof(bytes));
	memset(bytes + 1, 0xff, 7);
	bytes[14] |= 0x0f;
	bytes[15] |= 0x1f;
	memset(bytes + 22, 0xff, 10);
	KUNIT_ASSERT_EQ(test, smc_cdc_block_parse(bytes, sizeof(bytes), &cdc), 0);
	expect_equal(test, &cdc, &block_cdc, "reserved");
}

/* V-24: R-CDC-03, A-24 */
static void sequence(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_after(1, 0));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_after(0, 65535));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_after(1, 65535));
	KUNIT_EXPECT_FALSE(test, smc_cdc_seqno_after(4, 5));
	KUNIT_EXPECT_FALSE(test, smc_cdc_seqno_after(5, 5));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_after(32767, 0));
	KUNIT_EXPECT_FALSE(test, smc_cdc_seqno_after(32768, 0));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_after(32766, 65535));
	KUNIT_EXPECT_FALSE(test, smc_cdc_seqno_after(32767, 65535));
}

/* V-25: R-FO-06 */
static void failover_validation(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_covers(0, 0));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_covers(5, 5));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_covers(6, 5));
	KUNIT_EXPECT_FALSE(test, smc_cdc_seqno_covers(4, 5));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_covers(1, 65535));
	KUNIT_EXPECT_FALSE(test, smc_cdc_seqno_covers(65534, 2));
	KUNIT_EXPECT_TRUE(test, smc_cdc_seqno_covers(32767, 0));
	KUNIT_EXPECT_FALSE(test, smc_cdc_seqno_covers(32768, 0));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(messages),
	KUNIT_CASE(malformed),
	KUNIT_CASE(reserved),
	KUNIT_CASE(failover_hides_the_rest),
	KUNIT_CASE(build_into_small_buffer),
	KUNIT_CASE(block),
	KUNIT_CASE(block_malformed),
	KUNIT_CASE(block_reserved),
	KUNIT_CASE(sequence),
	KUNIT_CASE(failover_validation),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_cdc",
	.test_cases = cases,
};

kunit_test_suite(suite);
