// SPDX-License-Identifier: GPL-2.0-only
/* CLC Accept and Confirm: RFC 7609, A.2.3 and A.2.4; SMC Version 2, 2.3 to 2.5 */
#include <kunit/test.h>

#include "clc_fixture.h"

#define FLAGS		7
#define RMBE_INDEX	45
#define FCE_R		104
#define FCE_D		74
#define TRAILER_LEN	4

static struct smc_clc_accept *parsed(struct kunit *test, const char *hex)
{
	struct clc_fixture *f = test->priv;

	load(test, hex);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	return &f->msg.accept;
}

/* V-05: R-FC-18, R-CLC-18, R-CLC-27, R-CLC-28 */
static void accept_r1(struct kunit *test)
{
	const struct smc_clc_accept *a = parsed(test, V_05);
	static const u8 peer_id[8] = { 0x12, 0x34, 2, 0, 0, 0, 0, 0x0a };
	static const u8 gid[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 0x0a };
	static const u8 mac[6] = { 2, 0, 0, 0, 0, 0x0a };

	KUNIT_EXPECT_EQ(test, a->variant, SMC_VARIANT_R1);
	KUNIT_EXPECT_TRUE(test, a->is_first_contact);
	KUNIT_EXPECT_FALSE(test, a->d_reason_saved);
	KUNIT_EXPECT_MEMEQ(test, a->rdma.peer_id.bytes, peer_id, 8);
	KUNIT_EXPECT_MEMEQ(test, a->rdma.gid.bytes, gid, 16);
	KUNIT_EXPECT_MEMEQ(test, a->rdma.mac, mac, 6);
	KUNIT_EXPECT_EQ(test, a->rdma.qpn, 8);
	KUNIT_EXPECT_EQ(test, a->rdma.rkey, 0x11223344);
	KUNIT_EXPECT_EQ(test, a->rdma.rmbe_index, 1);
	KUNIT_EXPECT_EQ(test, a->rdma.alert_token, 0xa1b2c3d4U);
	KUNIT_EXPECT_EQ(test, smc_clc_buffer_bytes(a->rdma.rmbe_size), 65536);
	KUNIT_EXPECT_EQ(test, smc_clc_mtu_bytes(a->rdma.mtu), 1024);
	KUNIT_EXPECT_EQ(test, a->rdma.rmb_addr, 0x7f0012340000ULL);
	KUNIT_EXPECT_EQ(test, a->rdma.psn, 0x010203);
}

/* V-06: R-CLC-24: a Confirm has no first contact flag; it is neither sent nor accepted */
static void confirm_r1(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_accept *a = parsed(test, V_06);

	KUNIT_EXPECT_EQ(test, a->variant, SMC_VARIANT_R1);
	KUNIT_EXPECT_FALSE(test, a->is_first_contact);
	KUNIT_EXPECT_EQ(test, a->rdma.qpn, 64);
	KUNIT_EXPECT_EQ(test, a->rdma.rmbe_index, 3);
	KUNIT_EXPECT_EQ(test, smc_clc_buffer_bytes(a->rdma.rmbe_size), 16384);
	KUNIT_EXPECT_EQ(test, smc_clc_mtu_bytes(a->rdma.mtu), 4096);

	f->buf[FLAGS] |= 0x08;
	expect_same_as(test, V_06, "first contact");
	a->is_first_contact = true;
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 68);
	KUNIT_EXPECT_EQ(test, f->built[FLAGS], 0x10);
}

/* R-CLC-04 */
static void reserved_r1(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, V_05);
	f->buf[FLAGS] |= 0x07;
	f->buf[51] = 0xff;
	f->buf[60] = 0xff;
	expect_same_as(test, V_05, "Accept");
}

/* A-15, R-CLC-27: element 0 is invalid, 255 is valid */
static void rmbe_index(struct kunit *test)
{
	static const char * const vectors[] = { V_05, V_06, CAPTURED_ACCEPT, CAPTURED_CONFIRM_2 };
	struct clc_fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		load(test, vectors[i]);
		f->buf[RMBE_INDEX] = 255;
		KUNIT_EXPECT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ(test, f->msg.accept.rdma.rmbe_index, 255);
		f->buf[RMBE_INDEX] = 0;
		KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	}
}

/* R-CLC-14, A-14: the handshake handles reserved codes; they are not malformed */
static void reserved_codes(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	unsigned int code;

	for (code = 0; code < 16; code++) {
		load(test, V_05);
		f->buf[50] = code << 4 | (15 - code);
		expect_round_trip(test);
		KUNIT_EXPECT_EQ(test, f->msg.accept.rdma.rmbe_size, code);
		KUNIT_EXPECT_EQ(test, f->msg.accept.rdma.mtu, 15 - code);
		load(test, D_ACCEPT);
		f->buf[25] = code << 4;
		expect_round_trip(test);
		KUNIT_EXPECT_EQ(test, f->msg.accept.dmb.dmbe_size, code);
	}
}

static void captured_accept(struct kunit *test)
{
	const struct smc_clc_accept *a = parsed(test, CAPTURED_ACCEPT);
	const struct smc_clc_first_contact *fc = &a->first_contact;
	u8 gid[16];
	char eid[SMC_EID_LEN + 1];

	unhex(test, GID_10_0_0_1, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, a->variant, SMC_VARIANT_R2);
	KUNIT_EXPECT_TRUE(test, a->is_first_contact);
	KUNIT_EXPECT_MEMEQ(test, a->rdma.gid.bytes, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, a->rdma.qpn, 0x11);
	KUNIT_EXPECT_EQ(test, a->rdma.rkey, 0x353);
	KUNIT_EXPECT_EQ(test, a->rdma.rmb_addr, 0xffff8e4601ae0000ULL);
	KUNIT_EXPECT_EQ(test, a->rdma.psn, 0x4b496a);
	KUNIT_EXPECT_EQ(test, a->rdma.alert_token, 1);
	smc_eid_format(&a->eid, eid, sizeof(eid));
	KUNIT_EXPECT_STREQ(test, eid, "TESTEID");
	KUNIT_EXPECT_EQ(test, fc->release, SMC_RELEASE_1);
	KUNIT_EXPECT_EQ(test, fc->os, SMC_OS_LINUX);
	KUNIT_EXPECT_STREQ(test, fc->hostname, "vm-srv");
	KUNIT_EXPECT_TRUE(test, fc->direct);
	KUNIT_EXPECT_EQ(test, fc->max_conns, 255);
	KUNIT_EXPECT_EQ(test, fc->max_links, 2);
	KUNIT_EXPECT_EQ(test, fc->features, SMC_FEATURE_EMULATED_ISM);
	KUNIT_EXPECT_EQ(test, fc->nr_gids, 0);
}

/* V2-FCE-17, V2-HA-01, V2-HA-04 */
static void captured_confirm(struct kunit *test)
{
	const struct smc_clc_accept *a = parsed(test, CAPTURED_CONFIRM);
	const struct smc_clc_first_contact *fc = &a->first_contact;

	KUNIT_EXPECT_TRUE(test, a->is_first_contact);
	KUNIT_EXPECT_STREQ(test, fc->hostname, "vm-cli");
	KUNIT_EXPECT_EQ(test, fc->nr_gids, 1);
	KUNIT_EXPECT_MEMEQ(test, fc->gids[0].bytes, a->rdma.gid.bytes, 16);
}

/* V2-FCE-05, V2-FCE-06 */
static void captured_later_contact(struct kunit *test)
{
	const struct smc_clc_accept *a = parsed(test, CAPTURED_ACCEPT_2);

	KUNIT_EXPECT_FALSE(test, a->is_first_contact);
	KUNIT_EXPECT_EQ(test, a->rdma.rkey, 0x65f);
	KUNIT_EXPECT_EQ(test, a->first_contact.hostname[0], 0);
	a = parsed(test, CAPTURED_CONFIRM_2);
	KUNIT_EXPECT_FALSE(test, a->is_first_contact);
	KUNIT_EXPECT_EQ(test, a->rdma.alert_token, 2);
}

/* V2-EMU-07, V2-EMU-08, D1-11 */
static void accept_d2(struct kunit *test)
{
	const struct smc_clc_accept *a = parsed(test, D_ACCEPT);

	KUNIT_EXPECT_EQ(test, a->variant, SMC_VARIANT_D2);
	KUNIT_EXPECT_TRUE(test, a->is_first_contact);
	KUNIT_EXPECT_EQ(test, a->dmb.ism.gid, 0x2021222324254627ULL);
	KUNIT_EXPECT_EQ(test, a->dmb.ism.gid_ext, 0xa8292a2b2c2d2e2fULL);
	KUNIT_EXPECT_EQ(test, a->dmb.ism.chid, SMC_CHID_LOOPBACK);
	KUNIT_EXPECT_EQ(test, a->dmb.dmb_token, 0x0102030405060708ULL);
	KUNIT_EXPECT_EQ(test, a->dmb.dmbe_index, 5);
	KUNIT_EXPECT_EQ(test, smc_clc_buffer_bytes(a->dmb.dmbe_size), 65536);
	KUNIT_EXPECT_EQ(test, a->dmb.link_id, 0x0a0b0c0d);
	KUNIT_EXPECT_EQ(test, a->first_contact.release, SMC_RELEASE_1);
	KUNIT_EXPECT_EQ(test, a->first_contact.os, SMC_OS_LINUX);
	KUNIT_EXPECT_EQ(test, a->first_contact.features, SMC_FEATURE_EMULATED_ISM);
	KUNIT_EXPECT_STREQ(test, a->first_contact.hostname, "vm-srv");

	a = parsed(test, D_CONFIRM);
	KUNIT_EXPECT_EQ(test, a->dmb.dmbe_index, 0);
	KUNIT_EXPECT_EQ(test, a->dmb.ism.gid_ext, 0x98191a1b1c1d1e1fULL);
}

/* V2-EMU-09: a 64-bit GID has no second half; it is neither sent nor read */
static void firmware_ism(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	static const u8 zeros[8];

	load(test, D_ACCEPT);
	f->buf[32] = 0x01;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.accept.dmb.ism.chid, 0x01ff);
	KUNIT_EXPECT_EQ(test, f->msg.accept.dmb.ism.gid_ext, 0);
	f->msg.accept.dmb.ism.gid_ext = 1;
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 130);
	KUNIT_EXPECT_MEMEQ(test, f->built + 66, zeros, 8);
}

static void accept_d1(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_accept *a = parsed(test, D1_ACCEPT);

	KUNIT_EXPECT_EQ(test, a->variant, SMC_VARIANT_D1);
	KUNIT_EXPECT_TRUE(test, a->is_first_contact);
	KUNIT_EXPECT_EQ(test, a->dmb.ism.gid, 0x2021222324252627ULL);
	KUNIT_EXPECT_EQ(test, a->dmb.dmbe_index, 5);
	KUNIT_EXPECT_EQ(test, a->dmb.link_id, 0x0a0b0c0d);

	memset(f->buf + 26, 0xff, 2);
	memset(f->buf + 32, 0xff, 12);
	expect_same_as(test, D1_ACCEPT, "reserved");
}

static void reserved_v2(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, CAPTURED_CONFIRM);
	f->buf[FLAGS] |= 0x07;
	f->buf[51] = 0xff;
	f->buf[60] = 0xff;
	memset(f->buf + 96, 0xff, 8);
	f->buf[FCE_R] |= 0x7f;
	memset(f->buf + FCE_R + 2, 0xff, 2);
	memset(f->buf + FCE_R + 44, 0xff, 8);
	memset(f->buf + FCE_R + 53, 0xff, 3);
	expect_same_as(test, CAPTURED_CONFIRM, "Confirm R");

	load(test, D_ACCEPT);
	f->buf[FLAGS] |= 0x06;
	f->buf[25] |= 0x0f;
	memset(f->buf + 26, 0xff, 2);
	f->buf[FCE_D] = 0xff;
	memset(f->buf + FCE_D + 2, 0xff, 2);
	memset(f->buf + FCE_D + 36, 0xff, 2);
	memset(f->buf + FCE_D + 44, 0xff, 8);
	expect_same_as(test, D_ACCEPT, "Accept D");
}

/* V2-SEL-06: the bit has a meaning only in an Accept for SMC-R */
static void d_reason_saved(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, CAPTURED_ACCEPT_2);
	f->buf[FLAGS] = 0x24;
	expect_round_trip(test);
	KUNIT_EXPECT_TRUE(test, f->msg.accept.d_reason_saved);

	load(test, CAPTURED_CONFIRM_2);
	f->buf[FLAGS] = 0x24;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, f->msg.accept.d_reason_saved);
	f->msg.accept.d_reason_saved = true;
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 108);
	KUNIT_EXPECT_EQ(test, f->built[FLAGS], 0x20);

	load(test, D_ACCEPT);
	f->buf[FLAGS] |= 0x04;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, f->msg.accept.d_reason_saved);
	f->msg.accept.d_reason_saved = true;
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 130);
	KUNIT_EXPECT_EQ(test, f->built[FLAGS], 0x29);
}

/* V2-RTE-03 */
static void ipv4_forms(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, CAPTURED_CONFIRM);
	memset(f->buf + 16 + 10, 0, 2);
	memset(f->buf + 160 + 10, 0, 2);
	expect_same_as(test, CAPTURED_CONFIRM, "right-aligned");

	/* In version 1 a GID is not an IP address */
	load(test, V_05);
	memset(f->buf + 16, 0, 12);
	f->buf[28] = 10;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.accept.rdma.gid.bytes[10], 0);
}

/* V2-FCE-11 to 14, V2-TOL-11: an invalid host name does not fail the handshake */
static void hostnames(struct kunit *test)
{
	static const struct {
		const char *sent, *kept;
	} rows[] = {
		{ "a.B-9", "a.B-9" },
		{ "ABC   X", "ABC" },
		{ "", "" },
		{ "abcdefghijklmnopqrstuvwxyz012345", "abcdefghijklmnopqrstuvwxyz012345" },
		{ "AZaz09.-", "AZaz09.-" },
		{ "a_b", "" },
		{ "\x1b[31m", "" },
		{ "a\x80", "" },
		{ "a/", "" }, { "a:", "" }, { "a@", "" }, { "a[", "" }, { "a`", "" }, { "a{", "" },
		{ "a,", "" },
		{ "abcdefghijklmnopqrstuvwxyz01234_", "" },
	};
	struct clc_fixture *f = test->priv;
	char name[SMC_HOSTNAME_LEN + 1];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(name, 'z', sizeof(name));
		memcpy(name, rows[i].sent, strlen(rows[i].sent));
		smc_clc_cut_hostname(name, strlen(rows[i].sent));
		KUNIT_EXPECT_STREQ(test, name, rows[i].kept);
		KUNIT_EXPECT_EQ(test, name[SMC_HOSTNAME_LEN], 0);

		load(test, D_ACCEPT);
		memset(f->buf + FCE_D + 4, ' ', 32);
		memcpy(f->buf + FCE_D + 4, rows[i].sent, strlen(rows[i].sent));
		KUNIT_ASSERT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_STREQ(test, f->msg.accept.first_contact.hostname, rows[i].kept);
	}

	/* All bytes zero, and zeros behind the name */
	load(test, D_ACCEPT);
	memset(f->buf + FCE_D + 4, 0, 32);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_STREQ(test, f->msg.accept.first_contact.hostname, "");
	f->buf[FCE_D + 4] = 'a';
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_STREQ(test, f->msg.accept.first_contact.hostname, "");
}

/* V2-FCE-12: blanks, and at most 32 bytes */
static void hostname_built(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_first_contact *fc = &f->msg.accept.first_contact;
	u8 blanks[32];

	memset(blanks, ' ', sizeof(blanks));
	parsed(test, D_ACCEPT);
	memset(fc->hostname, 'x', sizeof(fc->hostname));
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 130);
	KUNIT_EXPECT_EQ(test, f->built[FCE_D + 35], 'x');
	KUNIT_EXPECT_EQ(test, f->built[FCE_D + 36], 0);

	memset(fc->hostname, 0, sizeof(fc->hostname));
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 130);
	KUNIT_EXPECT_MEMEQ(test, f->built + FCE_D + 4, blanks, 32);
}

/* V2-FCE-16, V2-VER-06: SMC-D; the short form is for release 0 */
static void release_0_d(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_first_contact *fc = &f->msg.accept.first_contact;

	parsed(test, D_ACCEPT);
	fc->release = SMC_RELEASE_0;
	f->len = smc_clc_build(&f->msg, f->buf, sizeof(f->buf));
	KUNIT_ASSERT_EQ(test, f->len, 114);
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, fc->features, 0);
	KUNIT_EXPECT_STREQ(test, fc->hostname, "vm-srv");

	/* Release 1 has no short form */
	f->buf[FCE_D + 1] |= 0x01;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	/* Release 0 in the long form: the values are ignored (V2-HS-01) */
	load(test, D_ACCEPT);
	f->buf[FCE_D + 1] &= 0xf0;
	memset(f->buf + FCE_D + 36, 0xff, 16);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, fc->features, 0);
	KUNIT_EXPECT_EQ(test, fc->vendor[0], 0);
}

/* V2-FEA-21, V2-HS-09: SMC-D has vendor options, but no maximum values */
static void v21_values_d(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_first_contact *fc = &f->msg.accept.first_contact;

	load(test, D_ACCEPT);
	memset(f->buf + FCE_D + 36, 0xff, 8);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, fc->max_conns, 0);
	KUNIT_EXPECT_EQ(test, fc->max_links, 0);
	KUNIT_EXPECT_EQ(test, fc->features, 0xffff);
	KUNIT_EXPECT_EQ(test, fc->vendor[3], 0xff);
	KUNIT_EXPECT_FALSE(test, fc->direct);
	fc->max_conns = 1;
	fc->max_links = 1;
	fc->direct = true;
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 130);
	KUNIT_EXPECT_EQ(test, f->built[FCE_D + 36] | f->built[FCE_D + 37], 0);
	KUNIT_EXPECT_EQ(test, f->built[FCE_D], 0);
}

static void v21_values_r(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_first_contact *fc = &f->msg.accept.first_contact;

	load(test, CAPTURED_ACCEPT);
	f->buf[FCE_R] = 0;
	f->buf[FCE_R + 1] = 0x1f;
	f->buf[FCE_R + 36] = 16;
	f->buf[FCE_R + 37] = 1;
	f->buf[FCE_R + 38] = 0x12;
	f->buf[FCE_R + 39] = 0x34;
	memcpy(f->buf + FCE_R + 40, "\1\2\3\4", 4);
	expect_round_trip(test);
	KUNIT_EXPECT_FALSE(test, fc->direct);
	KUNIT_EXPECT_EQ(test, fc->os, SMC_OS_ZOS);
	KUNIT_EXPECT_EQ(test, fc->release, 15);
	KUNIT_EXPECT_EQ(test, fc->max_conns, 16);
	KUNIT_EXPECT_EQ(test, fc->max_links, 1);
	KUNIT_EXPECT_EQ(test, fc->features, 0x1234);
	KUNIT_EXPECT_MEMEQ(test, fc->vendor, "\1\2\3\4", 4);
}

/* C-03: SMC-R of release 0 in both lengths; the sender uses the long one, without values */
static void release_0_r(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_first_contact *fc = &f->msg.accept.first_contact;
	static const u8 zeros[16];

	/* Accept: 160 or 144 */
	load(test, CAPTURED_ACCEPT);
	f->buf[FCE_R + 1] = 0x20;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, fc->max_conns, 0);
	KUNIT_EXPECT_EQ(test, fc->features, 0);
	fc->max_conns = 255;
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 160);
	KUNIT_EXPECT_MEMEQ(test, f->built + FCE_R + 36, zeros, 16);
	fc->max_conns = 0;
	f->again = f->msg;
	cut(f, FCE_R + 36, 16);
	KUNIT_EXPECT_EQ(test, f->len, 144);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_MEMEQ(test, &f->msg, &f->again, sizeof(f->msg));

	/* Confirm: 164 + 16n or 148 + 16n; byte 140 distinguishes them */
	load(test, CAPTURED_CONFIRM);
	f->buf[FCE_R + 1] = 0x20;
	memset(f->buf + FCE_R + 36, 0, 16);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, fc->nr_gids, 1);
	f->again = f->msg;
	cut(f, FCE_R + 36, 16);
	KUNIT_EXPECT_EQ(test, f->len, 164);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_MEMEQ(test, &f->msg, &f->again, sizeof(f->msg));

	/* The number of GIDs exceeds the short form */
	f->buf[140] = 2;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	f->buf[140] = 9;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	f->buf[140] = 0;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	/* Release 1 has the long form only */
	load(test, CAPTURED_ACCEPT);
	cut(f, FCE_R + 36, 16);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	load(test, CAPTURED_CONFIRM);
	cut(f, FCE_R + 36, 16);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	/* In release 1 byte 140 does not determine the form */
	load(test, CAPTURED_CONFIRM);
	f->buf[140] = 0;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, fc->nr_gids, 1);
}

/* V2-HA-02, V2-HA-03 */
static void gid_list(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_first_contact *fc = &f->msg.accept.first_contact;
	unsigned int n;

	load(test, CAPTURED_CONFIRM);
	for (n = 2; n <= 8; n++) {
		insert(f, 160 + 16 * (n - 1), 16, 0x20 + n);
		f->buf[156] = n;
		expect_round_trip(test);
		KUNIT_EXPECT_EQ(test, fc->nr_gids, n);
		KUNIT_EXPECT_EQ(test, fc->gids[n - 1].bytes[15], 0x20 + n);
	}
	KUNIT_EXPECT_EQ(test, f->len, 292);
	expect_no_space(test);

	for (n = 0; n < 256; n++) {
		f->buf[156] = n;
		KUNIT_EXPECT_EQ_MSG(test, parse(test), n == 8 ? 0 : -EPROTO, "%u GIDs", n);
	}
	insert(f, 160, 16, 0x20);
	f->buf[156] = 9;
	KUNIT_EXPECT_EQ(test, parse(test), -EBADMSG);

	/* The list, or even its count, is missing */
	load(test, CAPTURED_CONFIRM);
	cut(f, 156, 20);
	KUNIT_EXPECT_EQ(test, f->len, 160);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
}

/* V2-FCE-10: lengths that no message has */
static void odd_lengths(struct kunit *test)
{
	static const struct {
		const char *bytes;
		size_t fce;
		size_t valid[17];
	} rows[] = {
		{ CAPTURED_ACCEPT, FCE_R, { 108, 144, 160 } },
		{ CAPTURED_CONFIRM, FCE_R,
		  { 108, 144, 160, 164, 180, 196, 212, 228, 244, 260, 276, 292 } },
		{ D_ACCEPT, FCE_D, { 78, 114, 130 } },
		{ D_CONFIRM, FCE_D, { 78, 114, 130 } },
	};
	struct clc_fixture *f = test->priv;
	unsigned int i, j;
	size_t len;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (len = rows[i].fce + TRAILER_LEN; len <= 292; len++) {
			int expected = -EPROTO;

			load(test, rows[i].bytes);
			/* Without first contact its content is ignored (V2-TOL-07) */
			f->buf[FLAGS] &= ~0x08;
			memset(f->buf + rows[i].fce, 0xff, sizeof(f->buf) - rows[i].fce);
			memcpy(f->buf + len - TRAILER_LEN, f->buf, TRAILER_LEN);
			set_length(f, len);
			for (j = 0; j < ARRAY_SIZE(rows[i].valid); j++) {
				if (rows[i].valid[j] == len)
					expected = 0;
			}
			if (len > 130 && i >= 2)
				expected = -EBADMSG;
			else if (len > 160 && i == 0)
				expected = -EBADMSG;
			KUNIT_EXPECT_EQ_MSG(test, parse(test), expected, "row %u, length %zu", i,
					    len);
			if (!expected)
				KUNIT_EXPECT_EQ(test, f->msg.accept.first_contact.os, 0);
		}
	}
}

/* V2-FCE-03, V2-FCE-04, C-15: with the flag it is required */
static void first_contact_without_extension(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, CAPTURED_ACCEPT_2);
	f->buf[FLAGS] |= 0x08;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	load(test, CAPTURED_CONFIRM_2);
	f->buf[FLAGS] |= 0x08;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	load(test, D_ACCEPT);
	cut(f, FCE_D, 52);
	KUNIT_EXPECT_EQ(test, f->len, 78);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	f->buf[FLAGS] &= ~0x08;
	expect_round_trip(test);
}

/* result for the changed message: its length, or an error */
static void expect_build(struct kunit *test, int result)
{
	struct clc_fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), result);
}

static void build_refuses(struct kunit *test)
{
	parsed(test, V_05)->variant = 0;
	expect_build(test, -EINVAL);
	parsed(test, V_05)->variant = SMC_VARIANTS_R;
	expect_build(test, -EINVAL);
	parsed(test, V_05)->rdma.rmbe_index = 0;
	expect_build(test, -EINVAL);
	parsed(test, V_05)->rdma.rmbe_size = 15;
	expect_build(test, 68);
	parsed(test, V_05)->rdma.rmbe_size = 16;
	expect_build(test, -EINVAL);
	parsed(test, V_05)->rdma.mtu = 15;
	expect_build(test, 68);
	parsed(test, V_05)->rdma.mtu = 16;
	expect_build(test, -EINVAL);
	parsed(test, V_05)->rdma.qpn = 0xffffff;
	expect_build(test, 68);
	parsed(test, V_05)->rdma.qpn = 0x1000000;
	expect_build(test, -EINVAL);
	parsed(test, V_05)->rdma.psn = 0xffffff;
	expect_build(test, 68);
	parsed(test, V_05)->rdma.psn = 0x1000000;
	expect_build(test, -EINVAL);
	parsed(test, D_ACCEPT)->dmb.dmbe_size = 15;
	expect_build(test, 130);
	parsed(test, D_ACCEPT)->dmb.dmbe_size = 16;
	expect_build(test, -EINVAL);
	parsed(test, D1_ACCEPT)->dmb.dmbe_size = 16;
	expect_build(test, -EINVAL);
	parsed(test, D_ACCEPT)->first_contact.os = 15;
	expect_build(test, 130);
	parsed(test, D_ACCEPT)->first_contact.os = 16;
	expect_build(test, -EINVAL);
	parsed(test, D_ACCEPT)->first_contact.release = 15;
	expect_build(test, 130);
	parsed(test, D_ACCEPT)->first_contact.release = 16;
	expect_build(test, -EINVAL);
	parsed(test, D_ACCEPT)->is_first_contact = false;
	expect_build(test, 78);
	parsed(test, CAPTURED_CONFIRM)->first_contact.nr_gids = 0;
	expect_build(test, -EINVAL);
	parsed(test, CAPTURED_CONFIRM)->first_contact.nr_gids = 8;
	expect_build(test, 292);
	parsed(test, CAPTURED_CONFIRM)->first_contact.nr_gids = 9;
	expect_build(test, -EINVAL);
	parsed(test, CAPTURED_CONFIRM)->is_first_contact = false;
	expect_build(test, 108);
	parsed(test, CAPTURED_ACCEPT)->first_contact.nr_gids = 9;
	expect_build(test, 160);
	parsed(test, D_CONFIRM)->first_contact.nr_gids = 9;
	expect_build(test, 130);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(accept_r1),
	KUNIT_CASE(confirm_r1),
	KUNIT_CASE(reserved_r1),
	KUNIT_CASE(rmbe_index),
	KUNIT_CASE(reserved_codes),
	KUNIT_CASE(captured_accept),
	KUNIT_CASE(captured_confirm),
	KUNIT_CASE(captured_later_contact),
	KUNIT_CASE(accept_d2),
	KUNIT_CASE(firmware_ism),
	KUNIT_CASE(accept_d1),
	KUNIT_CASE(reserved_v2),
	KUNIT_CASE(d_reason_saved),
	KUNIT_CASE(ipv4_forms),
	KUNIT_CASE(hostnames),
	KUNIT_CASE(hostname_built),
	KUNIT_CASE(release_0_d),
	KUNIT_CASE(v21_values_d),
	KUNIT_CASE(v21_values_r),
	KUNIT_CASE(release_0_r),
	KUNIT_CASE(gid_list),
	KUNIT_CASE(odd_lengths),
	KUNIT_CASE(first_contact_without_extension),
	KUNIT_CASE(build_refuses),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_clc_accept",
	.init = clc_fixture_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
