// SPDX-License-Identifier: GPL-2.0-only
/* The version 2 parts of the CLC Proposal: SMC Version 2, 2.2.3 and 2.2.4 */
#include <kunit/test.h>

#include "clc_proposal_fixture.h"

/* The captured Proposal of Linux 6.12 */
static void captured(struct kunit *test)
{
	const struct smc_clc_proposal *p = parsed(test, CAPTURED_PROPOSAL);
	u8 gid[16];
	char eid[SMC_EID_LEN + 1];

	unhex(test, GID_10_0_0_2, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, p->version, 2);
	KUNIT_EXPECT_EQ(test, p->offers, SMC_VARIANT_R2);
	KUNIT_EXPECT_EQ(test, p->v2.release, SMC_RELEASE_1);
	KUNIT_EXPECT_EQ(test, p->v2.max_conns, 255);
	KUNIT_EXPECT_EQ(test, p->v2.max_links, 2);
	KUNIT_EXPECT_EQ(test, p->v2.features, SMC_FEATURE_EMULATED_ISM);
	KUNIT_EXPECT_MEMEQ(test, p->v2.roce_gid.bytes, gid, sizeof(gid));
	KUNIT_EXPECT_FALSE(test, p->v2.has_seid);
	KUNIT_EXPECT_EQ(test, p->v2.nr_ueids, 1);
	KUNIT_EXPECT_EQ(test, smc_eid_format(&p->v2.ueids[0], eid, sizeof(eid)), 7);
	KUNIT_EXPECT_STREQ(test, eid, "TESTEID");
	KUNIT_EXPECT_EQ(test, p->v2.nr_ism, 0);
}

/* V2-EMU-04, S-24 */
static void loopback_ism(struct kunit *test)
{
	const struct smc_clc_proposal *p = parsed(test, D_PROPOSAL);

	KUNIT_EXPECT_EQ(test, p->offers, SMC_VARIANT_D2);
	KUNIT_EXPECT_EQ(test, p->ism.gid, 0);
	KUNIT_EXPECT_EQ(test, p->v2.nr_ism, 1);
	KUNIT_EXPECT_EQ(test, p->v2.ism[0].chid, SMC_CHID_LOOPBACK);
	KUNIT_EXPECT_EQ(test, p->v2.ism[0].gid, 0x1011121314154617ULL);
	KUNIT_EXPECT_EQ(test, p->v2.ism[0].gid_ext, 0x98191a1b1c1d1e1fULL);
	KUNIT_EXPECT_FALSE(test, p->v2.ism_unpaired);
	KUNIT_EXPECT_FALSE(test, p->v2.has_seid);
	KUNIT_EXPECT_TRUE(test, smc_eid_is_none(&p->v2.seid));
	/* V2-FEA-14: the values of SMC-R are absent */
	KUNIT_EXPECT_EQ(test, p->v2.max_conns, 0);
	KUNIT_EXPECT_EQ(test, p->v2.max_links, 0);
	KUNIT_EXPECT_EQ(test, p->v2.features, SMC_FEATURE_EMULATED_ISM);
}

/* V2-VER-06, V2-HS-02: release 0 has no values of release 1; they are neither sent nor read */
static void release_0(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_proposal_v2 *v2 = &f->again.proposal.v2;
	static const u8 zeros[8];

	make(&f->msg, ALL, 0, 1, false, 0);
	f->msg.proposal.v2.release = SMC_RELEASE_0;
	build(test);
	KUNIT_EXPECT_MEMEQ(test, f->buf + VENDOR, zeros, 8);
	KUNIT_EXPECT_MEMEQ(test, f->buf + 88 + 24, zeros, 4);

	memset(f->buf + VENDOR, 0xff, 8);
	memset(f->buf + 88 + 24, 0xff, 4);
	KUNIT_ASSERT_EQ(test, parse_bytes(f->buf, f->len, &f->again), 0);
	KUNIT_EXPECT_EQ(test, v2->max_conns, 0);
	KUNIT_EXPECT_EQ(test, v2->max_links, 0);
	KUNIT_EXPECT_EQ(test, v2->features, 0);
	KUNIT_EXPECT_MEMEQ(test, &v2->vendor, zeros, 8);
}

/* V2-VND-02, V2-VND-03: without a vendor the options are neither sent nor read */
static void vendor(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_vendor *vendor = &f->again.proposal.v2.vendor;
	static const u8 zeros[8];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		make(&f->msg, SMC_VARIANT_R2, 0, 1, false, 0);
		memset(f->msg.proposal.v2.vendor.oui, 0, 3);
		f->msg.proposal.v2.vendor.oui[i] = 1;
		build(test);
		KUNIT_ASSERT_EQ(test, parse_bytes(f->buf, f->len, &f->again), 0);
		KUNIT_EXPECT_EQ(test, vendor->oui[i], 1);
		KUNIT_EXPECT_EQ(test, vendor->options[0], 0x73);

		f->buf[VENDOR + i] = 0;
		KUNIT_ASSERT_EQ(test, parse_bytes(f->buf, f->len, &f->again), 0);
		KUNIT_EXPECT_MEMEQ(test, vendor, zeros, 8);
	}
	memset(f->msg.proposal.v2.vendor.oui, 0, 3);
	build(test);
	KUNIT_EXPECT_MEMEQ(test, f->buf + VENDOR, zeros, 8);
}

/* V2-VER-10: a later release, with unknown feature bits */
static void later_release(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	make(&f->msg, SMC_VARIANT_R2, 0, 1, false, 0);
	f->msg.proposal.v2.release = 15;
	f->msg.proposal.v2.features = 0xffff;
	build(test);
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.v2.release, 15);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.v2.features, 0xffff);
}

/* V2-PRO-04, S-17: version 2 without its extension counts as not offered */
static void no_v2_extension(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_proposal *p = &f->msg.proposal;

	make(&f->msg, ALL, 0, 1, true, 1);
	build(test);
	put16(f, V2_OFFSET, 0);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, p->offers, SMC_VARIANTS_V1);
	KUNIT_EXPECT_EQ(test, p->ism.gid, 0x6061626364656667ULL);
	KUNIT_EXPECT_EQ(test, p->ism.chid, 0);
	KUNIT_EXPECT_EQ(test, p->v2.nr_ueids, 0);
	KUNIT_EXPECT_EQ(test, p->v2.vendor.oui[0], 0);

	make(&f->msg, SMC_VARIANTS_R | SMC_VARIANT_D2, 0, 1, true, 1);
	build(test);
	put16(f, V2_OFFSET, 0);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, p->offers, SMC_VARIANT_R1);
	KUNIT_EXPECT_EQ(test, p->ism.gid, 0);

	load(test, CAPTURED_PROPOSAL);
	put16(f, V2_OFFSET, 0);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, p->offers, 0);
}

/* The type bits do not offer version 2; its extensions are ignored */
static void v2_type_none(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_proposal *p = &f->msg.proposal;

	make(&f->msg, ALL, 0, 1, true, 1);
	build(test);
	f->buf[FLAGS] = 0x2b;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, p->offers, SMC_VARIANTS_V1);
	KUNIT_EXPECT_EQ(test, p->v2.nr_ueids, 0);
	KUNIT_EXPECT_EQ(test, p->v2.release, 0);
	KUNIT_EXPECT_EQ(test, p->v2.vendor.options[4], 0);
}

/* V2-EID-05, V2-EID-19 */
static void too_many_ueids(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	unsigned int n;

	make(&f->msg, SMC_VARIANT_R2, 0, 8, false, 0);
	build(test);
	expect_round_trip(test);
	f->buf[80] = 9;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	insert(f, 120, 32, 'A');
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	for (n = 2; n < 256; n++) {
		load(test, CAPTURED_PROPOSAL);
		f->buf[80] = n;
		KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
		/* EIDs must not overlap the next extension */
		load(test, D_PROPOSAL);
		f->buf[80] = n;
		KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	}
}

/* V2-EID-11: the flag decides, and requires the extension */
static void seid(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_proposal_v2 *v2 = &f->msg.proposal.v2;
	struct smc_eid eid;

	make(&f->msg, SMC_VARIANT_D2, 0, 0, true, 0);
	eid = f->msg.proposal.v2.seid;
	build(test);
	KUNIT_EXPECT_EQ(test, f->buf[83] & 0x01, 0x01);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_TRUE(test, v2->has_seid);
	KUNIT_EXPECT_TRUE(test, smc_eid_equal(&v2->seid, &eid));

	/* The extension is present, the flag is not set */
	f->buf[83] &= ~0x01;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_FALSE(test, v2->has_seid);
	KUNIT_EXPECT_TRUE(test, smc_eid_is_none(&v2->seid));

	/* The flag is set, the extension is absent */
	f->buf[83] |= 0x01;
	put16(f, 80 + 6, 0);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
}

/* V2-ISM-06, V2-ISM-07, V2-EMU-06 */
static void ism_entries(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	unsigned int n;

	make(&f->msg, SMC_VARIANT_D2, 0, 1, false, 8);
	build(test);
	expect_round_trip(test);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.v2.nr_ism, 8);
	f->buf[81] = 9;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	insert(f, 200, 10, 0);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	for (n = 3; n < 256; n++) {
		load(test, D_PROPOSAL);
		f->buf[81] = n;
		KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	}

	/* Entries without the extension that holds them */
	load(test, D_PROPOSAL);
	put16(f, 80 + 6, 0);
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	f->buf[81] = 0;
	KUNIT_EXPECT_EQ(test, parse(test), 0);

	/* An extension without entries or SEID */
	load(test, D_PROPOSAL);
	f->buf[81] = 0;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.v2.nr_ism, 0);
}

/* V2-EMU-05, S-22, S-23: an extended GID takes two neighbours with one CHID, left to right */
static const struct pairing_row {
	const char *name;
	u8 n;
	u16 chids[8];
	u8 devices;
	u8 index[8];		/* first entry of each device */
	bool unpaired;
} pairing_rows[] = {
	{ "one pair", 2, { 0xffff, 0xffff }, 1, { 0 }, false },
	{ "single", 1, { 0xffff }, 0, { 0 }, true },
	{ "single before a firmware ISM", 2, { 0xffff, 0x0100 }, 1, { 1 }, true },
	{ "single after a firmware ISM", 2, { 0x0100, 0xffff }, 1, { 0 }, true },
	{ "two different", 2, { 0xffff, 0xff00 }, 0, { 0 }, true },
	{ "two pairs", 4, { 0xffff, 0xffff, 0xff00, 0xff00 }, 2, { 0, 2 }, false },
	{ "two pairs of one CHID", 4, { 0xff01, 0xff01, 0xff01, 0xff01 }, 2, { 0, 2 }, false },
	{ "three of one CHID", 3, { 0xff01, 0xff01, 0xff01 }, 1, { 0 }, true },
	{ "single, then a pair", 3, { 0xff01, 0xffff, 0xffff }, 1, { 1 }, true },
	{ "interleaved", 4, { 0xffff, 0xff00, 0xffff, 0xff00 }, 0, { 0 }, true },
	{ "mixed", 5, { 0x0100, 0xffff, 0xffff, 0x0101, 0xfeff }, 4, { 0, 1, 3, 4 }, false },
	{ "four pairs", 8, { 0xffff, 0xffff, 0xff00, 0xff00, 0xff01, 0xff01, 0xfffe, 0xfffe },
	  4, { 0, 2, 4, 6 }, false },
};

static void ism_pairing(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	const struct smc_clc_proposal_v2 *v2 = &f->msg.proposal.v2;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(pairing_rows); i++) {
		const struct pairing_row *row = &pairing_rows[i];

		make(&f->msg, SMC_VARIANT_D2, 0, 1, false, row->n);
		build(test);
		for (j = 0; j < row->n; j++)
			put16(f, 200 + 10 * j + 8, row->chids[j]);
		KUNIT_ASSERT_EQ_MSG(test, parse(test), 0, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, v2->ism_unpaired, row->unpaired, "%s", row->name);
		KUNIT_ASSERT_EQ_MSG(test, v2->nr_ism, row->devices, "%s", row->name);
		if (row->devices < SMC_MAX_ISM_ENTRIES)
			KUNIT_EXPECT_EQ(test, v2->ism[row->devices].gid, 0);
		for (j = 0; j < row->devices; j++) {
			unsigned int at = row->index[j];
			bool emulated = row->chids[at] >= 0xff00;

			KUNIT_EXPECT_EQ_MSG(test, v2->ism[j].chid, row->chids[at], "%s",
					    row->name);
			KUNIT_EXPECT_EQ_MSG(test, v2->ism[j].gid, 0x9091929394959600ULL + at,
					    "%s", row->name);
			KUNIT_EXPECT_EQ_MSG(test, v2->ism[j].gid_ext,
					    emulated ? 0x9091929394959601ULL + at : 0, "%s",
					    row->name);
		}
	}
}

/* S-16, V2-EMU-02: an emulated device is not associated with an interface */
static void emulated_chid_in_base(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	make(&f->msg, ALL, 0, 1, false, 0);
	f->msg.proposal.ism.chid = 0xff00;
	build(test);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.ism.gid, 0);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.ism.chid, 0);

	make(&f->msg, ALL, 0, 1, false, 0);
	f->msg.proposal.ism.chid = 0xfeff;
	build(test);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.ism.chid, 0xfeff);
}

/* V2-RTE-03 */
static void roce_gid_right_aligned(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, CAPTURED_PROPOSAL);
	put16(f, 88 + 10, 0);
	expect_same_as(test, CAPTURED_PROPOSAL, "IPv4 form");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(captured),
	KUNIT_CASE(loopback_ism),
	KUNIT_CASE(release_0),
	KUNIT_CASE(later_release),
	KUNIT_CASE(vendor),
	KUNIT_CASE(no_v2_extension),
	KUNIT_CASE(v2_type_none),
	KUNIT_CASE(too_many_ueids),
	KUNIT_CASE(seid),
	KUNIT_CASE(ism_entries),
	KUNIT_CASE(ism_pairing),
	KUNIT_CASE(emulated_chid_in_base),
	KUNIT_CASE(roce_gid_right_aligned),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_clc_proposal_v2",
	.init = clc_fixture_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
