// SPDX-License-Identifier: GPL-2.0-only
/* Framing of all CLC messages; the Decline; codes and names */
#include <kunit/test.h>

#include "clc_fixture.h"

static const struct vector {
	const char *name, *bytes;
} vectors[] = {
	{ "Proposal IPv4", V_02 },
	{ "Proposal IPv6", V_03 },
	{ "Proposal SMC-Rv2", CAPTURED_PROPOSAL },
	{ "Proposal SMC-Dv2", D_PROPOSAL },
	{ "Accept SMC-Rv1", V_05 },
	{ "Confirm SMC-Rv1", V_06 },
	{ "Accept SMC-Rv2 first contact", CAPTURED_ACCEPT },
	{ "Confirm SMC-Rv2 first contact", CAPTURED_CONFIRM },
	{ "Accept SMC-Rv2", CAPTURED_ACCEPT_2 },
	{ "Confirm SMC-Rv2", CAPTURED_CONFIRM_2 },
	{ "Accept SMC-Dv1", D1_ACCEPT },
	{ "Accept SMC-Dv2 first contact", D_ACCEPT },
	{ "Confirm SMC-Dv2 first contact", D_CONFIRM },
	{ "Decline", V_07 },
	{ "Decline captured", CAPTURED_DECLINE },
};

static void describe_vector(const struct vector *vector, char *desc)
{
	strscpy(desc, vector->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(vector, vectors, describe_vector);

static void load_vector(struct kunit *test)
{
	const struct vector *vector = test->param_value;

	load(test, vector->bytes);
}

/* R-CLC-03: built messages equal the vectors bit for bit */
static void round_trip(struct kunit *test)
{
	load_vector(test);
	expect_round_trip(test);
	expect_no_space(test);
}

/* The header alone determines the number of bytes to read (R-CLC-26) */
static void header(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_header header;

	load_vector(test);
	KUNIT_ASSERT_EQ(test, smc_clc_parse_header(exact_copy(test, f->buf, SMC_CLC_HEADER_LEN),
						   SMC_CLC_HEADER_LEN, &header), 0);
	KUNIT_EXPECT_EQ(test, header.type, f->buf[4]);
	KUNIT_EXPECT_EQ(test, header.length, f->len);
	KUNIT_EXPECT_EQ(test, header.version, f->buf[7] >> 4);
	KUNIT_EXPECT_EQ(test, header.flags, f->buf[7] & 0xf);
	KUNIT_EXPECT_EQ(test, header.smcd, f->buf[3] == 0xc4);
}

static void header_truncated(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_header header;
	size_t len;

	load_vector(test);
	for (len = 0; len < SMC_CLC_HEADER_LEN; len++)
		KUNIT_EXPECT_EQ(test, smc_clc_parse_header(exact_copy(test, f->buf, len), len,
							   &header), -EBADMSG);
}

/* R-CLC-13, V2-PRO-11, V2-FCE-10 */
static void truncated(struct kunit *test)
{
	load_vector(test);
	expect_truncation_refused(test);
}

/* The same with a matching header, and the trailer at the new end */
static void shortened(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	size_t full, len;

	load_vector(test);
	full = f->len;
	for (len = SMC_CLC_HEADER_LEN + 4; len < full; len++) {
		load_vector(test);
		memcpy(f->buf + len - 4, f->buf, 4);
		set_length(f, len);
		/* The parser reads nothing behind the message, valid or not */
		parse(test);
	}
}

/* Too long, with and without a matching header */
static void lengthened(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load_vector(test);
	f->len++;
	KUNIT_EXPECT_EQ(test, parse(test), -EBADMSG);

	load_vector(test);
	memcpy(f->buf + f->len - 3, f->buf, 4);
	set_length(f, f->len + 1);
	/* Only a Proposal may have unknown bytes */
	if (f->buf[4] == SMC_CLC_PROPOSAL)
		KUNIT_EXPECT_EQ(test, parse(test), 0);
	else
		KUNIT_EXPECT_NE(test, parse(test), 0);
}

/* R-CLC-02: each byte of both eye catchers */
static void eye_catchers(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	unsigned int i, bit;

	for (i = 0; i < 8; i++) {
		for (bit = 0; bit < 8; bit++) {
			load_vector(test);
			f->buf[i < 4 ? i : f->len - 8 + i] ^= 1 << bit;
			KUNIT_EXPECT_EQ(test, parse(test), -EBADMSG);
		}
	}
}

/* The first byte that is wrong tells, not one before or after the eye catcher */
static void first_bytes(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	size_t len, wrong;

	for (len = 0; len <= 8; len++) {
		load_vector(test);
		KUNIT_EXPECT_TRUE(test, smc_clc_may_begin(exact_copy(test, f->buf, len), len));
		for (wrong = 0; wrong < 8; wrong++) {
			load_vector(test);
			f->buf[wrong] ^= 0x40;
			KUNIT_EXPECT_EQ(test,
					smc_clc_may_begin(exact_copy(test, f->buf, len), len),
					wrong >= 4 || wrong >= len);
		}
	}
}

/* Only a Decline may have the other eye catcher in the trailer (V2-DCL-02, S-30) */
static void eye_catchers_differ(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load_vector(test);
	f->buf[f->len - 1] ^= 0xd9 ^ 0xc4;
	KUNIT_EXPECT_EQ(test, parse(test), f->buf[4] == SMC_CLC_DECLINE ? 0 : -EBADMSG);
}

/* R-CLC-25: unknown types */
static void types(struct kunit *test)
{
	static const u8 wrong[] = { 0, 5, 6, 0x81, 0xff };
	struct clc_fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		load_vector(test);
		f->buf[4] = wrong[i];
		KUNIT_EXPECT_EQ(test, parse(test), -EBADMSG);
	}
}

/* R-CLC-05, A-03: only a Proposal may have a later version; no message has version 0 */
static void versions(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load_vector(test);
	f->buf[7] &= 0x0f;
	KUNIT_EXPECT_EQ(test, parse(test), -EBADMSG);

	load_vector(test);
	f->buf[7] = 0x30 | (f->buf[7] & 0x0f);
	if (f->buf[4] == SMC_CLC_PROPOSAL)
		KUNIT_EXPECT_EQ(test, parse(test), 0);
	else
		KUNIT_EXPECT_EQ(test, parse(test), -EBADMSG);
}

/* The smallest and largest length of each type (R-CLC-12) */
static const struct length_row {
	u8 type, version;
	bool smcd;
	u32 min, max;
} length_rows[] = {
	{ SMC_CLC_PROPOSAL, 1, false,  52, 65535 },
	{ SMC_CLC_PROPOSAL, 2, false,  52, 65535 },
	{ SMC_CLC_PROPOSAL, 9, false,  52, 65535 },
	{ SMC_CLC_ACCEPT,   1, false,  68,    68 },
	{ SMC_CLC_ACCEPT,   2, false, 108,   160 },
	{ SMC_CLC_ACCEPT,   1, true,   48,    48 },
	{ SMC_CLC_ACCEPT,   2, true,   78,   130 },
	{ SMC_CLC_CONFIRM,  1, false,  68,    68 },
	{ SMC_CLC_CONFIRM,  2, false, 108,   292 },
	{ SMC_CLC_CONFIRM,  1, true,   48,    48 },
	{ SMC_CLC_CONFIRM,  2, true,   78,   130 },
	{ SMC_CLC_DECLINE,  1, false,  28,    44 },
	{ SMC_CLC_DECLINE,  2, false,  28,    44 },
	{ SMC_CLC_DECLINE,  1, true,   28,    44 },
	{ SMC_CLC_DECLINE,  2, true,   28,    44 },
};

static void lengths(struct kunit *test)
{
	unsigned int i;
	u32 length;

	for (i = 0; i < ARRAY_SIZE(length_rows); i++) {
		const struct length_row *row = &length_rows[i];
		struct smc_clc_header header;
		u8 buf[SMC_CLC_HEADER_LEN] = {
			0xe2, 0xd4, 0xc3, row->smcd ? 0xc4 : 0xd9, row->type, 0, 0,
			row->version << 4,
		};

		for (length = 0; length <= 65535; length++) {
			int expected = length < row->min || length > row->max ? -EBADMSG : 0;

			buf[5] = length >> 8;
			buf[6] = length;
			KUNIT_ASSERT_EQ_MSG(test, smc_clc_parse_header(buf, sizeof(buf), &header),
					    expected, "row %u, length %u", i, length);
		}
	}
}

/* V2-PRO-15: a Proposal of SMC-D has the eye catcher of SMC-R, too */
static void proposal_of_smcd_eye_catcher(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, D_PROPOSAL);
	f->buf[3] = 0xc4;
	f->buf[f->len - 1] = 0xc4;
	KUNIT_EXPECT_EQ(test, parse(test), -EBADMSG);
}

static void decline_v1(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_decline *decline = &f->msg.decline;
	static const u8 peer_id[] = { 0x56, 0x78, 2, 0, 0, 0, 0, 0x0b };

	load(test, V_07);
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, f->msg.type, SMC_CLC_DECLINE);
	KUNIT_EXPECT_EQ(test, decline->version, 1);
	KUNIT_EXPECT_FALSE(test, decline->smcd);
	KUNIT_EXPECT_FALSE(test, decline->extended);
	KUNIT_EXPECT_TRUE(test, decline->out_of_sync);
	KUNIT_EXPECT_MEMEQ(test, decline->peer_id.bytes, peer_id, sizeof(peer_id));
	KUNIT_EXPECT_EQ(test, decline->diagnosis, 0xdeadbeefU);

	load(test, CAPTURED_DECLINE);
	expect_round_trip(test);
	KUNIT_EXPECT_FALSE(test, decline->out_of_sync);
	KUNIT_EXPECT_EQ(test, decline->diagnosis, 0x03030000);
}

#define REASONS		"03030007 03030001 030E0000 03070000"
#define DECLINE_V2_R	SMCR "04 002C 28" PEER_SERVER "03030007 20 000000" REASONS SMCR
#define DECLINE_V2_D	SMCD "04 002C 28" PEER_SERVER "03030007 20 000000" REASONS SMCD

/* V2-DCL-01, V2-DCL-02 */
static void decline_v2(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_decline *decline = &f->msg.decline;

	load(test, DECLINE_V2_R);
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, decline->version, 2);
	KUNIT_EXPECT_TRUE(test, decline->extended);
	KUNIT_EXPECT_TRUE(test, decline->out_of_sync);
	KUNIT_EXPECT_EQ(test, decline->diagnosis, 0x03030007);
	KUNIT_EXPECT_EQ(test, decline->os, SMC_OS_LINUX);
	KUNIT_EXPECT_EQ(test, decline->reason_d2, 0x03030007);
	KUNIT_EXPECT_EQ(test, decline->reason_d1, 0x03030001);
	KUNIT_EXPECT_EQ(test, decline->reason_r2, 0x030e0000);
	KUNIT_EXPECT_EQ(test, decline->reason_r1, 0x03070000);

	load(test, DECLINE_V2_D);
	expect_round_trip(test);
	KUNIT_EXPECT_TRUE(test, decline->smcd);
	KUNIT_EXPECT_EQ(test, decline->reason_r1, 0x03070000);
}

/* V2-TOL-08: version 2 in the short form; lengths between the two forms are invalid */
static void decline_lengths(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	size_t len;

	load(test, CAPTURED_DECLINE);
	f->buf[7] = 0x20;
	expect_round_trip(test);
	KUNIT_EXPECT_FALSE(test, f->msg.decline.extended);
	KUNIT_EXPECT_EQ(test, f->msg.decline.version, 2);

	for (len = 29; len < 44; len++) {
		load(test, DECLINE_V2_R);
		cut(f, 24, 44 - len);
		KUNIT_EXPECT_EQ_MSG(test, parse(test), -EPROTO, "length %zu", len);
	}
}

/* R-CLC-04 */
static void decline_reserved(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, V_07);
	f->buf[7] |= 0x07;
	memset(f->buf + 20, 0xff, 4);
	expect_same_as(test, V_07, "version 1");

	load(test, DECLINE_V2_R);
	f->buf[7] |= 0x07;
	f->buf[20] |= 0x0f;
	memset(f->buf + 21, 0xff, 3);
	expect_same_as(test, DECLINE_V2_R, "version 2");
}

static void build_refuses(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, DECLINE_V2_R);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	f->msg.decline.version = 0;
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), -EINVAL);
	f->msg.decline.version = 3;
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), -EINVAL);
	f->msg.decline.version = 2;
	f->msg.decline.os = 16;
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), -EINVAL);
	f->msg.decline.os = 15;
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 44);
	f->msg.type = 0;
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), -EINVAL);
	f->msg.type = 5;
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), -EINVAL);
}

/* V-26: R-CLC-18, R-CLC-19 */
static void codes(struct kunit *test)
{
	static const u32 buffers[] = { 16384, 32768, 65536, 131072, 262144, 524288 };
	static const u32 mtus[] = { 0, 256, 512, 1024, 2048, 4096 };
	unsigned int i;

	for (i = 0; i < 256; i++) {
		KUNIT_EXPECT_EQ(test, smc_clc_buffer_bytes(i), i < 6 ? buffers[i] : 0);
		KUNIT_EXPECT_EQ(test, smc_clc_mtu_bytes(i), i < 6 ? mtus[i] : 0);
	}
	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		KUNIT_EXPECT_EQ(test, smc_clc_buffer_code(buffers[i]), i);
		KUNIT_EXPECT_EQ(test, smc_clc_buffer_code(buffers[i] + 1), i < 5 ? i + 1 : 5);
	}
	KUNIT_EXPECT_EQ(test, smc_clc_buffer_code(0), 0);
	KUNIT_EXPECT_EQ(test, smc_clc_buffer_code(0xffffffff), 5);
}

/* V-20, A-06: write position in an element, plus cursor 4 or 1004 */
static void element_offsets(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_clc_rmbe_offset(1, 16384) + 4, 0x4);
	KUNIT_EXPECT_EQ(test, smc_clc_rmbe_offset(2, 16384) + 4, 0x4004);
	KUNIT_EXPECT_EQ(test, smc_clc_rmbe_offset(3, 65536) + 1004, 0x203ec);
	KUNIT_EXPECT_EQ(test, smc_clc_rmbe_offset(255, 16384) + 4, 0x3f8004);
}

/* V2-EMU-01 */
static void chids(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, smc_chid_is_emulated(0));
	KUNIT_EXPECT_FALSE(test, smc_chid_is_emulated(0xfeff));
	KUNIT_EXPECT_TRUE(test, smc_chid_is_emulated(0xff00));
	KUNIT_EXPECT_TRUE(test, smc_chid_is_emulated(0xfffe));
	KUNIT_EXPECT_TRUE(test, smc_chid_is_emulated(0xffff));
}

/* V2-RTE-03, S-12 */
static void ipv4_gids(struct kunit *test)
{
	static const struct {
		const char *received, *kept;
	} rows[] = {
		{ "0000000000000000000000000A000001", "00000000000000000000FFFF0A000001" },
		{ "00000000000000000000FFFF0A000001", "00000000000000000000FFFF0A000001" },
		{ "00000000000000000000000000000000", "00000000000000000000000000000000" },
		{ "00000000000000000000000000000001", "00000000000000000000000000000001" },
		{ "00000000000000000000000100000001", "00000000000000000000000100000001" },
		{ "20010DB8000000000000000000000001", "20010DB8000000000000000000000001" },
		{ "00000000000000000000000101000001", "00000000000000000000000101000001" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_gid gid, kept;

		unhex(test, rows[i].received, gid.bytes, sizeof(gid.bytes));
		unhex(test, rows[i].kept, kept.bytes, sizeof(kept.bytes));
		smc_gid_map_ipv4(&gid);
		KUNIT_EXPECT_MEMEQ(test, gid.bytes, kept.bytes, sizeof(gid.bytes));
	}
}

static void names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, smc_clc_type_name(SMC_CLC_PROPOSAL), "Proposal");
	KUNIT_EXPECT_STREQ(test, smc_clc_type_name(SMC_CLC_ACCEPT), "Accept");
	KUNIT_EXPECT_STREQ(test, smc_clc_type_name(SMC_CLC_CONFIRM), "Confirm");
	KUNIT_EXPECT_STREQ(test, smc_clc_type_name(SMC_CLC_DECLINE), "Decline");
	KUNIT_EXPECT_STREQ(test, smc_clc_type_name(0), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_clc_type_name(5), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_clc_type_name(255), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_variant_name(SMC_VARIANT_R1), "SMC-Rv1");
	KUNIT_EXPECT_STREQ(test, smc_variant_name(SMC_VARIANT_D1), "SMC-Dv1");
	KUNIT_EXPECT_STREQ(test, smc_variant_name(SMC_VARIANT_R2), "SMC-Rv2");
	KUNIT_EXPECT_STREQ(test, smc_variant_name(SMC_VARIANT_D2), "SMC-Dv2");
	KUNIT_EXPECT_STREQ(test, smc_variant_name(0), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_variant_name(3), "unknown");
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(round_trip, vector_gen_params),
	KUNIT_CASE_PARAM(header, vector_gen_params),
	KUNIT_CASE_PARAM(header_truncated, vector_gen_params),
	KUNIT_CASE_PARAM(truncated, vector_gen_params),
	KUNIT_CASE_PARAM(shortened, vector_gen_params),
	KUNIT_CASE_PARAM(lengthened, vector_gen_params),
	KUNIT_CASE_PARAM(eye_catchers, vector_gen_params),
	KUNIT_CASE_PARAM(first_bytes, vector_gen_params),
	KUNIT_CASE_PARAM(eye_catchers_differ, vector_gen_params),
	KUNIT_CASE_PARAM(types, vector_gen_params),
	KUNIT_CASE_PARAM(versions, vector_gen_params),
	KUNIT_CASE(lengths),
	KUNIT_CASE(proposal_of_smcd_eye_catcher),
	KUNIT_CASE(decline_v1),
	KUNIT_CASE(decline_v2),
	KUNIT_CASE(decline_lengths),
	KUNIT_CASE(decline_reserved),
	KUNIT_CASE(build_refuses),
	KUNIT_CASE(codes),
	KUNIT_CASE(element_offsets),
	KUNIT_CASE(chids),
	KUNIT_CASE(ipv4_gids),
	KUNIT_CASE(names),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_clc",
	.init = clc_fixture_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
