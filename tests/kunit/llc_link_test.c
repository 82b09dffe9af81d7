// SPDX-License-Identifier: GPL-2.0-only
/* LLC messages about links: CONFIRM, ADD, DELETE, REQUEST ADD and TEST LINK */
#include <kunit/test.h>

#include "../../net/smc/rdma/llc_flow.h"
#include "../../net/smc/wire/reason.h"
#include "llc_fixture.h"

#define PORT_2_OURS "b255938c5f6f 0000 fe80000000000000b05593fffe8c5f6f "
#define PORT_2_LINUX "9e8504cb057c 0000 fe800000000000009c8504fffecb057c "

/* V-08, V-09: R-CL-03 to 06 */
static void confirm_link_v1(struct kunit *test)
{
	static const u8 mac[6] = { 2, 0, 0, 0, 0, 0x0a };
	struct llc_fixture *f = test->priv;
	const struct smc_llc_confirm_link *msg = &parsed(test, V_08)->confirm_link;
	u8 gid[16];

	unhex(test, GID_SERVER, gid, sizeof(gid));
	KUNIT_EXPECT_FALSE(test, f->msg.reply);
	KUNIT_EXPECT_MEMEQ(test, msg->mac, mac, sizeof(mac));
	KUNIT_EXPECT_MEMEQ(test, msg->gid.bytes, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, msg->qpn, 8);
	KUNIT_EXPECT_EQ(test, msg->link_num, 1);
	KUNIT_EXPECT_EQ(test, msg->link_user_id, 0x11111111);
	KUNIT_EXPECT_EQ(test, msg->max_links, 2);
	KUNIT_EXPECT_EQ(test, msg->max_conns, 0);
	KUNIT_EXPECT_FALSE(test, msg->no_eye_catcher);

	parsed(test, V_09);
	KUNIT_EXPECT_TRUE(test, f->msg.reply);
	KUNIT_EXPECT_EQ(test, msg->qpn, 64);
	KUNIT_EXPECT_EQ(test, msg->link_user_id, 0x22222222);

	/* Byte 35 belongs to version 2 */
	load(test, V_08);
	f->buf[2] = 0xff;
	f->buf[3] |= 0x7c;
	memset(f->buf + 35, 0xff, 9);
	expect_same_as(test, V_08, "reserved");
}

/* As captured, with the length in the sender's byte order */
static void confirm_link_captured(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_confirm_link *msg = &f->msg.confirm_link;
	u8 gid[16];

	unhex(test, GID_10_0_0_1, gid, sizeof(gid));
	parsed(test, "212c0003 525400000001" GID_10_0_0_1 "000011 01 00000101 02 ff");
	KUNIT_EXPECT_EQ(test, f->msg.version, 2);
	KUNIT_EXPECT_FALSE(test, f->msg.reply);
	KUNIT_EXPECT_MEMEQ(test, msg->gid.bytes, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, msg->qpn, 0x11);
	KUNIT_EXPECT_EQ(test, msg->link_num, 1);
	KUNIT_EXPECT_EQ(test, msg->link_user_id, 0x101);
	KUNIT_EXPECT_EQ(test, msg->max_links, 2);
	KUNIT_EXPECT_EQ(test, msg->max_conns, 255);
	KUNIT_EXPECT_TRUE(test, msg->no_eye_catcher);

	parsed(test, "212c0083 525400000002" GID_10_0_0_2 "000011 01 00000101 02 ff");
	KUNIT_EXPECT_TRUE(test, f->msg.reply);
	KUNIT_EXPECT_TRUE(test, msg->no_eye_catcher);
}

/* Both bits, or there is an eye catcher */
static void no_eye_catcher(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	unsigned int flags;

	for (flags = 0; flags < 16; flags++) {
		load(test, V_08);
		f->buf[3] = flags;
		KUNIT_ASSERT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ(test, f->msg.confirm_link.no_eye_catcher, (flags & 3) == 3);
	}
}

/* V-10, V-11: R-AL-05, R-AL-06, A-08 */
static void add_link_v1(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_add_link *msg = &parsed(test, V_10)->add_link;

	KUNIT_EXPECT_FALSE(test, msg->rejected);
	KUNIT_EXPECT_EQ(test, msg->qpn, 9);
	KUNIT_EXPECT_EQ(test, msg->psn, 0x0d0e0f);
	KUNIT_EXPECT_EQ(test, smc_clc_mtu_bytes(msg->mtu), 1024);
	KUNIT_EXPECT_EQ(test, msg->link_num, 2);
	KUNIT_EXPECT_EQ(test, msg->mac[5], 0x0c);
	KUNIT_EXPECT_EQ(test, msg->gid.bytes[15], 0x0c);

	parsed(test, V_11);
	KUNIT_EXPECT_TRUE(test, f->msg.reply);
	KUNIT_EXPECT_TRUE(test, msg->rejected);
	KUNIT_EXPECT_EQ(test, msg->reject_reason, SMC_LLC_REJECT_NO_PATH);

	/* The reason is valid in a rejection only */
	load(test, V_10);
	f->buf[2] = 0xff;
	f->buf[3] |= 0x3f;
	memset(f->buf + 10, 0xff, 2);
	f->buf[32] |= 0xf0;
	memset(f->buf + 36, 0xff, 8);
	expect_same_as(test, V_10, "reserved");
	load(test, V_11);
	f->buf[2] |= 0xf0;
	f->buf[3] |= 0x3f;
	expect_same_as(test, V_11, "reserved");

	/* The client's hint may have only MAC and GID, in version 1 not even these */
	load(test, "022C0000");
	KUNIT_EXPECT_EQ(test, parse(test), 0);
}

/* R-AL-22: only a reply can reject */
static void add_link_reject_without_reply(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	load(test, V_11);
	f->buf[3] = 0x40;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	load_len(test, V2_ADD_LINK, 88);
	f->buf[3] = 0x40;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
}

static void add_link_captured(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_add_link *msg = &f->msg.add_link;
	u8 gid[16];

	/* Length 0x5800 and number of keys 0x0100, as a big-endian reader sees them */
	unhex(test, GID_10_0_0_1, gid, sizeof(gid));
	load_len(test, "22580000 525400000001 0000" GID_10_0_0_1 "000012 02 03 cfdb5c" ZERO_8
		 "80 00" GID_10_0_0_1 ZERO_8 "0100 00000353 00000528 ffff8e4601ae0000", 88);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_MEMEQ(test, msg->gid.bytes, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, msg->qpn, 0x12);
	KUNIT_EXPECT_EQ(test, msg->link_num, 2);
	KUNIT_EXPECT_EQ(test, msg->psn, 0xcfdb5c);
	KUNIT_EXPECT_EQ(test, msg->nr_rtokens, 1);
	KUNIT_EXPECT_EQ(test, msg->rtokens[0].reference_rkey, 0x353);
	KUNIT_EXPECT_EQ(test, msg->rtokens[0].rkey, 0x528);
	KUNIT_EXPECT_EQ(test, msg->rtokens[0].addr, 0xffff8e4601ae0000ULL);
	/* V2-HA-22: the client sets the type of the link */
	KUNIT_EXPECT_FALSE(test, msg->direct);

	/* Rejected in 44 bytes, without a reason (S-33) */
	parsed(test, "222c00c0 525400000001 0000" GID_10_0_0_1 "000012 02 03 cfdb5c");
	KUNIT_EXPECT_TRUE(test, msg->rejected);
	KUNIT_EXPECT_EQ(test, msg->reject_reason, 0);
	KUNIT_EXPECT_EQ(test, msg->nr_rtokens, 0);
}

/* V2-HA-19, V2-HA-21, V2-HA-22: fields that only a request or only a reply has */
static void add_link_v2(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	struct smc_llc_add_link *msg = &f->msg.add_link;
	static const u8 zeros[16];

	load_len(test, V2_ADD_LINK, 88);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, msg->direct);
	KUNIT_EXPECT_EQ(test, msg->target_gid.bytes[15], 2);
	msg->direct = true;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 88);
	KUNIT_EXPECT_MEMEQ(test, f->built, f->buf, 88);

	load_len(test, V2_ADD_LINK_REPLY, 88);
	memset(f->buf + 46, 0xff, 16);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_TRUE(test, msg->direct);
	KUNIT_EXPECT_MEMEQ(test, msg->target_gid.bytes, zeros, 16);
	memset(&msg->target_gid, 0xff, sizeof(msg->target_gid));
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 88);
	KUNIT_EXPECT_MEMEQ(test, f->built + 46, zeros, 16);

	/* Not direct */
	f->buf[44] = 0x7f;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, msg->direct);
}

static void add_link_v2_reserved(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	load_len(test, V2_ADD_LINK, 88);
	f->buf[3] |= 0x3f;
	memset(f->buf + 10, 0xff, 2);
	f->buf[32] |= 0xf0;
	memset(f->buf + 36, 0xff, 8);
	memset(f->buf + 44, 0xff, 2);
	memset(f->buf + 62, 0xff, 8);
	expect_same_as(test, V2_ADD_LINK, "reserved");
}

/* V2-RTE-12: the MAC address is required, but not in a rejection */
static void add_link_v2_without_mac(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	load_len(test, V2_ADD_LINK, 88);
	memset(f->buf + 4, 0, 6);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	f->buf[9] = 1;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	memset(f->buf + 4, 0, 6);
	f->buf[3] = 0xc0;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
}

static void add_link_v2_rejected(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	struct smc_llc_add_link *msg = &f->msg.add_link;
	unsigned int reason;

	for (reason = 0; reason < 16; reason++) {
		load_len(test, "22004800 525400000002", 72);
		f->buf[3] = 0xc0 | reason;
		expect_round_trip(test);
		KUNIT_EXPECT_EQ(test, msg->reject_reason, reason);
	}
	/* A rejection of any length */
	for (f->len = 44; f->len < 80; f->len++) {
		set_length(f, f->len);
		f->buf[3] = 0xc1;
		KUNIT_EXPECT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_TRUE(test, msg->rejected);
		KUNIT_EXPECT_EQ(test, msg->reject_reason, 1);
		KUNIT_EXPECT_FALSE(test, msg->unfit);
	}
}

/* A positive reply of @len bytes, of which @nr from @offset on are zero */
static void expect_unfit(struct kunit *test, unsigned int offset, unsigned int nr, size_t len)
{
	struct llc_fixture *f = test->priv;

	load_len(test, V2_ADD_LINK_REPLY, len);
	memset(f->buf + offset, 0, nr);
	set_length(f, len);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_TRUE(test, f->msg.reply);
	KUNIT_EXPECT_FALSE(test, f->msg.add_link.rejected);
	KUNIT_EXPECT_TRUE_MSG(test, f->msg.add_link.unfit, "offset %u, length %zu", offset, len);
	KUNIT_EXPECT_EQ(test, f->msg.add_link.nr_rtokens, 0);
	expect_refused(test);
	/* The same as a request is an error */
	f->buf[3] = 0;
	KUNIT_EXPECT_NE(test, parse(test), 0);
}

/* A contradictory reply is an error */
static void add_link_v2_unfit_answer(struct kunit *test)
{
	size_t len;

	for (len = 44; len < 72; len++)
		expect_unfit(test, 0, 0, len);
	for (len = 73; len < 88; len++)
		expect_unfit(test, 0, 0, len);
	expect_unfit(test, 4, 6, 88);	/* no MAC address */
	expect_unfit(test, 70, 2, 88);	/* number of keys is 0, but there is one */
	load_len(test, V2_ADD_LINK_REPLY, 88);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, ((struct llc_fixture *)test->priv)->msg.add_link.unfit);
}

/*
 * Version 1 with Linux 6.12, both with two ports, as captured: the request of this module and the
 * reply, then the request of the other module, which is the server.
 */
static void add_link_v1_two_ports(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_add_link *msg = &f->msg.add_link;

	load(test, "022c0000" PORT_2_OURS "000011 02 05 5efccb");
	expect_round_trip(test);
	KUNIT_EXPECT_FALSE(test, f->msg.reply);
	KUNIT_EXPECT_EQ(test, msg->gid.bytes[0], 0xfe);
	KUNIT_EXPECT_EQ(test, msg->gid.bytes[15], 0x6f);

	parsed(test, "022c0080" PORT_2_LINUX "000011 02 05 68e0f1");
	KUNIT_EXPECT_TRUE(test, f->msg.reply);
	KUNIT_EXPECT_FALSE(test, msg->rejected);
	KUNIT_EXPECT_FALSE(test, msg->unfit);
	KUNIT_EXPECT_EQ(test, msg->gid.bytes[0], 0xfe);
	KUNIT_EXPECT_EQ(test, msg->gid.bytes[15], 0x7c);
	KUNIT_EXPECT_EQ(test, msg->qpn, 0x11);
	KUNIT_EXPECT_EQ(test, msg->link_num, 2);
	KUNIT_EXPECT_EQ(test, smc_clc_mtu_bytes(msg->mtu), 4096);
	KUNIT_EXPECT_EQ(test, msg->psn, 0x68e0f1);
	KUNIT_EXPECT_EQ(test, smc_llc_event_of(true, &f->msg), SMC_LLC_REPLY_ADD_LINK);

	parsed(test, "022c0000" PORT_2_LINUX "000012 02 05 89f24f");
	KUNIT_EXPECT_FALSE(test, f->msg.reply);
	KUNIT_EXPECT_EQ(test, msg->link_num, 2);
	KUNIT_EXPECT_EQ(test, smc_llc_event_of(false, &f->msg), SMC_LLC_GOT_ADD_LINK);
}

/* V2-HA-24, C-02, S-37: 0 to 255 keys; number and length must match */
static void add_link_v2_rtokens(struct kunit *test)
{
	static const u8 counts[] = { 0, 1, 2, 100, 254, 255 };
	struct llc_fixture *f = test->priv;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		unsigned int n = counts[i];

		load_len(test, V2_ADD_LINK, 72);
		set_length(f, 72 + 16 * n);
		f->buf[71] = n;
		for (j = 0; j < n; j++)
			memset(f->buf + 72 + 16 * j, j + 1, 16);
		expect_round_trip(test);
		KUNIT_EXPECT_EQ(test, f->msg.add_link.nr_rtokens, n);
		if (n)
			KUNIT_EXPECT_EQ(test, f->msg.add_link.rtokens[n - 1].rkey,
					(n & 0xff) * 0x01010101U);

		/* In the other byte order */
		f->buf[70] = n;
		f->buf[71] = 0;
		KUNIT_EXPECT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ(test, f->msg.add_link.nr_rtokens, n);
		/* In neither byte order */
		f->buf[70] = n + 1;
		KUNIT_EXPECT_EQ(test, parse(test), -ENOMSG);
		f->buf[70] = n;
		f->buf[71] = 1;
		if (n != 1)
			KUNIT_EXPECT_EQ(test, parse(test), -ENOMSG);
	}

	/* A part of a key */
	load_len(test, V2_ADD_LINK, 88);
	for (i = 1; i < 16; i++) {
		set_length(f, 72 + i);
		f->buf[71] = 0;
		KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	}
	/* One key more than the number can state */
	set_length(f, 72 + 16 * 256);
	f->buf[70] = 1;
	f->buf[71] = 0;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
}

/* V-12, V-13, V-21: R-ALC-04 */
static void add_link_continuation(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_add_link_cont *msg = &parsed(test, V_12)->add_link_cont;

	KUNIT_EXPECT_EQ(test, msg->link_num, 2);
	KUNIT_EXPECT_EQ(test, msg->nr_left, 1);
	KUNIT_EXPECT_EQ(test, msg->rtokens[0].reference_rkey, 0x11223344);
	KUNIT_EXPECT_EQ(test, msg->rtokens[0].rkey, 0x99aabbccU);
	KUNIT_EXPECT_EQ(test, msg->rtokens[0].addr, 0x7f0099990000ULL);

	parsed(test, V_13);
	KUNIT_EXPECT_EQ(test, msg->nr_left, 0);

	/* More keys follow: two of them are in this message */
	load(test, V_12_MORE);
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, msg->nr_left, 255);
	KUNIT_EXPECT_EQ(test, msg->rtokens[1].addr, 6);

	/* Absent keys are ignored */
	load(test, V_12);
	f->buf[2] = 0xff;
	f->buf[3] = 0x7f;
	memset(f->buf + 6, 0xff, 2);
	memset(f->buf + 24, 0xff, 20);
	expect_same_as(test, V_12, "reserved");
}

/* V-14, V-15: R-DL-12, R-DL-15 */
static void delete_link(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	struct smc_llc_delete_link *msg = &parsed(test, V_14)->delete_link;

	KUNIT_EXPECT_FALSE(test, msg->all);
	KUNIT_EXPECT_TRUE(test, msg->orderly);
	KUNIT_EXPECT_EQ(test, msg->link_num, 2);
	KUNIT_EXPECT_EQ(test, msg->reason, SMC_LINK_ASYMMETRIC);

	parsed(test, V_15);
	KUNIT_EXPECT_TRUE(test, msg->all);
	KUNIT_EXPECT_TRUE(test, msg->orderly);
	KUNIT_EXPECT_EQ(test, msg->reason, SMC_LINK_INACTIVE);

	/* With "all" the link number is neither sent nor read */
	f->buf[4] = 7;
	expect_same_as(test, V_15, "link number");
	KUNIT_EXPECT_EQ(test, msg->link_num, 0);
	msg->link_num = 7;
	KUNIT_ASSERT_EQ(test, smc_llc_build(&f->msg, f->built, sizeof(f->built)), 44);
	KUNIT_EXPECT_EQ(test, f->built[4], 0);

	parsed(test, V2_DELETE_LINK);
	KUNIT_EXPECT_TRUE(test, msg->all);
	KUNIT_EXPECT_FALSE(test, msg->orderly);
	KUNIT_EXPECT_EQ(test, msg->reason, SMC_LINK_OPERATOR);

	load(test, V_14);
	f->buf[3] |= 0x1f;
	memset(f->buf + 9, 0xff, 35);
	expect_same_as(test, V_14, "reserved");
}

/* V2-HA-01, V2-HA-02, V2-HA-18 */
static void request_add_link(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_request_add_link *msg = &f->msg.request_add_link;
	unsigned int n;

	parsed(test, V2_REQUEST);
	KUNIT_EXPECT_EQ(test, msg->nr_gids, 1);
	KUNIT_EXPECT_EQ(test, msg->gids[0].bytes[15], 2);
	KUNIT_EXPECT_FALSE(test, msg->bad_gids);

	for (n = 1; n <= 8; n++) {
		load_len(test, V2_REQUEST, 28 + 16 * n);
		set_length(f, 28 + 16 * n);
		f->buf[24] = n;
		memset(f->buf + 28, 0x20 + n, 16 * n);
		expect_round_trip(test);
		KUNIT_EXPECT_EQ(test, msg->nr_gids, n);
		KUNIT_EXPECT_EQ(test, msg->gids[n - 1].bytes[15], 0x20 + n);
	}

	load(test, V2_REQUEST);
	f->buf[3] |= 0x7f;
	memset(f->buf + 4, 0xff, 20);
	memset(f->buf + 25, 0xff, 3);
	memset(f->buf + 28 + 10, 0, 2);		/* the other form of IPv4 */
	expect_same_as(test, V2_REQUEST, "reserved");
}

/* V2-HA-03, S-41: the server must be able to reject a bad list */
static void request_add_link_bad_list(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_request_add_link *msg = &f->msg.request_add_link;
	unsigned int n;
	size_t len;

	for (n = 0; n < 256; n++) {
		load_len(test, V2_REQUEST_2, 60);
		f->buf[24] = n;
		KUNIT_ASSERT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ_MSG(test, msg->bad_gids, n != 2, "%u GIDs", n);
		KUNIT_EXPECT_EQ_MSG(test, msg->nr_gids, n == 2 ? 2 : 0, "%u GIDs", n);
	}
	for (len = 44; len <= 156; len++) {
		load_len(test, V2_REQUEST_2, len);
		set_length(f, len);
		KUNIT_ASSERT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ_MSG(test, msg->bad_gids, len != 60, "length %zu", len);
	}
}

static void request_add_link_reply(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	const struct smc_llc_request_add_link *msg = &f->msg.request_add_link;

	parsed(test, V2_REQUEST_REPLY);
	KUNIT_EXPECT_FALSE(test, msg->rejected);
	KUNIT_EXPECT_FALSE(test, msg->bad_gids);

	load(test, "25002CC1");
	expect_round_trip(test);
	KUNIT_EXPECT_TRUE(test, msg->rejected);
	KUNIT_EXPECT_EQ(test, msg->reject_reason, 1);

	/* A reply has no list, a positive reply no reason */
	load(test, V2_REQUEST);
	f->buf[3] = 0x8f;
	expect_same_as(test, V2_REQUEST_REPLY, "list");
	KUNIT_EXPECT_EQ(test, msg->reject_reason, 0);
}

/* V-18: R-TL-02, V2-LLC-08 */
static void test_link(struct kunit *test)
{
	struct llc_fixture *f = test->priv;
	u8 data[16];
	unsigned int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	parsed(test, V_18);
	KUNIT_EXPECT_TRUE(test, f->msg.reply);
	KUNIT_EXPECT_MEMEQ(test, f->msg.test_link.data, data, sizeof(data));
	parsed(test, V2_TEST_LINK);
	KUNIT_EXPECT_FALSE(test, f->msg.reply);
	KUNIT_EXPECT_MEMEQ(test, f->msg.test_link.data, data, sizeof(data));
	f->buf[3] = 0x7f;
	memset(f->buf + 20, 0xff, 24);
	expect_same_as(test, V2_TEST_LINK, "reserved");
}

/* V2-RTE-03: GIDs of version 2 are IP addresses */
static void ipv4_forms(struct kunit *test)
{
	struct llc_fixture *f = test->priv;

	load(test, V2_CONFIRM_LINK);
	memset(f->buf + 10 + 10, 0, 2);
	expect_same_as(test, V2_CONFIRM_LINK, "CONFIRM LINK");
	load_len(test, V2_ADD_LINK, 88);
	memset(f->buf + 12 + 10, 0, 2);
	memset(f->buf + 46 + 10, 0, 2);
	expect_same_as(test, V2_ADD_LINK, "ADD LINK");

	load(test, V_08);
	memset(f->buf + 10, 0, 12);
	f->buf[22] = 10;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.confirm_link.gid.bytes[10], 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(confirm_link_v1),
	KUNIT_CASE(confirm_link_captured),
	KUNIT_CASE(no_eye_catcher),
	KUNIT_CASE(add_link_v1),
	KUNIT_CASE(add_link_reject_without_reply),
	KUNIT_CASE(add_link_captured),
	KUNIT_CASE(add_link_v2),
	KUNIT_CASE(add_link_v2_reserved),
	KUNIT_CASE(add_link_v2_without_mac),
	KUNIT_CASE(add_link_v2_rejected),
	KUNIT_CASE(add_link_v2_unfit_answer),
	KUNIT_CASE(add_link_v1_two_ports),
	KUNIT_CASE(add_link_v2_rtokens),
	KUNIT_CASE(add_link_continuation),
	KUNIT_CASE(delete_link),
	KUNIT_CASE(request_add_link),
	KUNIT_CASE(request_add_link_bad_list),
	KUNIT_CASE(request_add_link_reply),
	KUNIT_CASE(test_link),
	KUNIT_CASE(ipv4_forms),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_llc_link",
	.init = llc_fixture_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
