// SPDX-License-Identifier: GPL-2.0-only
/* Framing of all LLC messages: RFC 7609, A.3; SMC Version 2, 2.7; interop.md, 2 */
#include <kunit/test.h>

#include "../../net/smc/wire/cdc.h"
#include "llc_fixture.h"

/* Each message, its length, and whether the built message has the same bytes */
static const struct vector {
	const char *name, *bytes;
	size_t len;
} vectors[] = {
	{ "V-08 CONFIRM LINK", V_08, 44 },
	{ "V-09 CONFIRM LINK reply", V_09, 44 },
	{ "V-10 ADD LINK", V_10, 44 },
	{ "V-11 ADD LINK reject", V_11, 44 },
	{ "V-12 ADD LINK CONTINUATION", V_12, 44 },
	{ "V-13 ADD LINK CONTINUATION empty reply", V_13, 44 },
	{ "V-14 DELETE LINK", V_14, 44 },
	{ "V-15 DELETE LINK all", V_15, 44 },
	{ "V-16 CONFIRM RKEY", V_16, 44 },
	{ "V-17 DELETE RKEY negative reply", V_17, 44 },
	{ "V-18 TEST LINK reply", V_18, 44 },
	{ "v2 CONFIRM LINK", V2_CONFIRM_LINK, 44 },
	{ "v2 ADD LINK", V2_ADD_LINK, 88 },
	{ "v2 ADD LINK reply", V2_ADD_LINK_REPLY, 88 },
	{ "v2 DELETE LINK", V2_DELETE_LINK, 44 },
	{ "v2 REQUEST ADD LINK", V2_REQUEST, 44 },
	{ "v2 REQUEST ADD LINK with two GIDs", V2_REQUEST_2, 60 },
	{ "v2 REQUEST ADD LINK reply", V2_REQUEST_REPLY, 44 },
	{ "v2 CONFIRM RKEY", V2_CONFIRM_RKEY, 44 },
	{ "v2 TEST LINK", V2_TEST_LINK, 44 },
	{ "v2 DELETE RKEY", V2_DELETE_RKEY, 44 },
	{ "v2 DELETE RKEY negative reply", V2_DELETE_RKEY_REPLY, 44 },
};

static void describe_vector(const struct vector *vector, char *desc)
{
	strscpy(desc, vector->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(vector, vectors, describe_vector);

static void load_vector(struct kunit *test)
{
	const struct vector *vector = test->param_value;

	load_len(test, vector->bytes, vector->len);
}

/* R-LLC-01, V2-LLC-01, V2-LLC-02, V2-LLC-05 */
static void round_trip(struct kunit *test)
{
	load_vector(test);
	expect_round_trip(test);
	expect_no_space(test);
}

/* R-LLC-02: version, type, direction */
static void header(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	load_vector(test);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.version, f->buf[0] & 0x20 ? 2 : 1);
	KUNIT_EXPECT_EQ(test, f->msg.type, f->buf[0] & 0x0f);
	KUNIT_EXPECT_EQ(test, f->msg.reply, !!(f->buf[3] & 0x80));
}

/* R-LLC-21, V2-LLC-03: the number of bytes received, and the length in the header */
static void lengths(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	size_t full;

	load_vector(test);
	full = f->len;
	for (f->len = 0; f->len <= 200; f->len++) {
		if (f->len != full)
			KUNIT_EXPECT_NE_MSG(test, parse(test), 0, "%zu of %zu bytes", f->len,
					    full);
	}
	f->len = full;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	f->buf[f->buf[0] & 0x20 ? 2 : 1]--;
	KUNIT_EXPECT_NE(test, parse(test), 0);
}

/* interop.md: Linux writes the length of version 2 in host byte order */
static void length_little_endian(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	load_vector(test);
	if (!(f->buf[0] & 0x20))
		return;
	f->buf[1] = f->len;
	f->buf[2] = f->len >> 8;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	f->buf[1]++;
	KUNIT_EXPECT_EQ(test, parse(test), -ENOMSG);
	f->buf[1]--;
	f->buf[2]++;
	KUNIT_EXPECT_EQ(test, parse(test), -ENOMSG);
}

/* R-LLC-03 to 06, V2-LLC-06, V2-LLC-17, V2-LLC-19, A-19 */
static void opcodes(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		int expected = -EPROTO;

		if (opcode >= 0x80 && opcode <= 0xbf)
			expected = -ENOMSG;
		else if (opcode >= 1 && opcode <= 9 && opcode != 5)
			expected = 0;
		else if (opcode >= 0x21 && opcode <= 0x29 && opcode != 0x23 && opcode != 0x28)
			expected = 0;

		load_len(test, "", 44);
		f->buf[0] = opcode;
		if (opcode & 0xf0)
			f->buf[2] = 44;
		else
			f->buf[1] = 44;
		/* The bytes that these need behind a header */
		if (opcode == 0x09 || opcode == 0x29)
			f->buf[4] = 1;
		if (opcode == 0x22)
			f->buf[3] = 0xc0;
		KUNIT_EXPECT_EQ_MSG(test, parse(test), expected, "opcode %02x", opcode);
	}
}

/* Only an attacker sends a message too short for a header */
static void tiny(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	load(test, V_08);
	for (f->len = 0; f->len < 4; f->len++)
		KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	load(test, "80");
	for (f->len = 0; f->len < 4; f->len++)
		KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	f->len = 4;
	KUNIT_EXPECT_EQ(test, parse(test), -ENOMSG);
}

/* V2-LLC-03, V2-LLC-04: which messages can be longer than 44 bytes, and their limits */
static void lengths_by_type(struct kunit *test)
{
	static const struct {
		u8 opcode, flags;
		size_t max;
	} rows[] = {
		{ 0x21, 0x00, 44 }, { 0x21, 0x80, 44 }, { 0x24, 0x00, 44 }, { 0x24, 0x80, 44 },
		{ 0x25, 0x80, 44 }, { 0x26, 0x00, 44 }, { 0x26, 0x80, 44 }, { 0x27, 0x00, 44 },
		{ 0x27, 0x80, 44 }, { 0x29, 0x80, 44 }, { 0x25, 0x00, 156 }, { 0x29, 0x00, 1028 },
		{ 0x22, 0x00, 4152 }, { 0x22, 0x80, 4152 },
	};
	struct llc_fixture *f = test->priv;
	unsigned int i;
	size_t len;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (len = rows[i].max + 1; len <= SMC_LLC_RECEIVE_MAX + 1; len += 16) {
			load_len(test, "", len);
			set_length(f, len);
			f->buf[0] = rows[i].opcode;
			f->buf[3] = rows[i].flags;
			f->buf[4] = 0xff;	/* number of keys, or a MAC address */
			KUNIT_EXPECT_EQ_MSG(test, parse(test), -EPROTO, "opcode %02x, length %zu",
					    rows[i].opcode, len);
		}
	}
}

static void build_refuses(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	parsed(test, V_18);
	f->msg.version = 0;
	expect_refused(test);
	f->msg.version = 3;
	expect_refused(test);
	f->msg.version = 33;
	expect_refused(test);
	f->msg.version = 1;
	f->msg.type = 0;
	expect_refused(test);
	f->msg.type = 10;
	expect_refused(test);
	f->msg.type = SMC_LLC_REQUEST_ADD_LINK;
	expect_refused(test);
	f->msg.version = 2;
	f->msg.type = SMC_LLC_ADD_LINK_CONT;
	expect_refused(test);
	f->msg.type = SMC_LLC_CONFIRM_RKEY_CONT;
	expect_refused(test);

	parsed(test, V_11);
	f->msg.add_link.reject_reason = 16;
	expect_refused(test);
	parsed(test, V_11);
	f->msg.reply = false;
	expect_refused(test);
	parsed(test, V_11);
	f->msg.add_link.reject_reason = 15;
	KUNIT_EXPECT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	parsed(test, V_10);
	f->msg.add_link.mtu = 15;
	KUNIT_EXPECT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	f->msg.add_link.mtu = 16;
	expect_refused(test);

	parsed(test, V2_REQUEST);
	f->msg.request_add_link.nr_gids = 0;
	expect_refused(test);
	f->msg.request_add_link.nr_gids = 9;
	expect_refused(test);
	parsed(test, V2_REQUEST_REPLY);
	f->msg.request_add_link.reject_reason = 15;
	KUNIT_EXPECT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	f->msg.request_add_link.reject_reason = 16;
	expect_refused(test);

	parsed(test, V2_CONFIRM_RKEY);
	f->msg.confirm_rkey.nr_others = 3;
	expect_refused(test);

	parsed(test, V_17);
	f->msg.delete_rkey.nr_rkeys = 0;
	expect_refused(test);
	f->msg.delete_rkey.nr_rkeys = 9;
	expect_refused(test);
	parsed(test, V2_DELETE_RKEY);
	f->msg.delete_rkey.nr_rkeys = 0;
	expect_refused(test);
}

static void names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_CONFIRM_LINK), "CONFIRM LINK");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_ADD_LINK), "ADD LINK");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_ADD_LINK_CONT),
			   "ADD LINK CONTINUATION");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_DELETE_LINK), "DELETE LINK");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_REQUEST_ADD_LINK), "REQUEST ADD LINK");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_CONFIRM_RKEY), "CONFIRM RKEY");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_TEST_LINK), "TEST LINK");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_CONFIRM_RKEY_CONT),
			   "CONFIRM RKEY CONTINUATION");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_DELETE_RKEY), "DELETE RKEY");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(0), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(10), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_CDC_TYPE), "unknown");
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(round_trip, vector_gen_params),
	KUNIT_CASE_PARAM(header, vector_gen_params),
	KUNIT_CASE_PARAM(lengths, vector_gen_params),
	KUNIT_CASE_PARAM(length_little_endian, vector_gen_params),
	KUNIT_CASE(opcodes),
	KUNIT_CASE(tiny),
	KUNIT_CASE(lengths_by_type),
	KUNIT_CASE(build_refuses),
	KUNIT_CASE(names),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_llc",
	.init = llc_fixture_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
