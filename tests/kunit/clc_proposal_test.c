// SPDX-License-Identifier: GPL-2.0-only
/* CLC Proposal: RFC 7609, A.2.2; SMC Version 2, 2.2 */
#include <kunit/test.h>

#include "clc_proposal_fixture.h"

static const struct smc_peer_id client_id = { { 0x56, 0x78, 2, 0, 0, 0, 0, 0x0b } };
static const u8 client_mac[6] = { 2, 0, 0, 0, 0, 0x0b };

/* V-02: R-CLC-09, R-CLC-21 */
static void v1_ipv4(struct kunit *test)
{
	static const u8 network[4] = { 192, 0, 2, 0 };
	static const u8 gid[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 0x0b };
	const struct smc_clc_proposal *p = parsed(test, V_02);

	KUNIT_EXPECT_EQ(test, p->version, 1);
	KUNIT_EXPECT_EQ(test, p->offers, SMC_VARIANT_R1);
	KUNIT_EXPECT_MEMEQ(test, &p->peer_id, &client_id, sizeof(client_id));
	KUNIT_EXPECT_MEMEQ(test, p->gid.bytes, gid, sizeof(gid));
	KUNIT_EXPECT_MEMEQ(test, p->mac, client_mac, sizeof(client_mac));
	KUNIT_EXPECT_MEMEQ(test, &p->subnet.ipv4, network, sizeof(network));
	KUNIT_EXPECT_EQ(test, p->subnet.ipv4_len, 24);
	KUNIT_EXPECT_EQ(test, p->subnet.nr_prefixes, 0);
}

/* V-03: R-CLC-10 */
static void v1_ipv6(struct kunit *test)
{
	static const u8 first[16] = { 0x20, 0x01, 0x0d, 0xb8, 0, 1 };
	static const u8 second[16] = { 0x20, 0x01, 0x0d, 0xb8, 0, 2 };
	const struct smc_clc_proposal *p = parsed(test, V_03);

	KUNIT_EXPECT_EQ(test, p->subnet.nr_prefixes, 2);
	KUNIT_EXPECT_EQ(test, p->subnet.ipv4_len, 0);
	KUNIT_EXPECT_MEMEQ(test, p->subnet.prefixes[0].addr, first, 16);
	KUNIT_EXPECT_EQ(test, p->subnet.prefixes[0].len, 64);
	KUNIT_EXPECT_MEMEQ(test, p->subnet.prefixes[1].addr, second, 16);
	KUNIT_EXPECT_EQ(test, p->subnet.prefixes[1].len, 64);
}

/* V-04: R-CLC-07, any growth area; R-CLC-08, but the sender adds none */
static void v1_growth_area(struct kunit *test)
{
	static const u16 sizes[] = { 1, 4, 39, 40, 41, 500 };
	struct clc_fixture *f = test->priv;
	unsigned int i;

	load(test, V_04);
	expect_same_as(test, V_02, "V-04");
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 52);
	KUNIT_EXPECT_EQ(test, f->built[SUBNET_OFFSET] | f->built[SUBNET_OFFSET + 1], 0);

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		load(test, V_02);
		insert(f, ISM_GID, sizes[i], 0xff);
		put16(f, SUBNET_OFFSET, sizes[i]);
		expect_same_as(test, V_02, "growth area");
	}
}

/* The largest size that an offset allows */
static void v1_growth_area_huge(struct kunit *test)
{
	const size_t len = 65535;
	struct clc_fixture *f = test->priv;
	u8 *buf = kunit_kzalloc(test, len, GFP_KERNEL);
	u16 offset;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	load(test, V_02);
	memcpy(buf, f->buf, 40);
	buf[5] = 0xff;
	buf[6] = 0xff;
	memcpy(buf + len - 4, f->buf, 4);

	/* The subnet of 8 bytes just fits before the trailer, or does not fit */
	offset = len - 4 - 8 - 40;
	buf[SUBNET_OFFSET] = offset >> 8;
	buf[SUBNET_OFFSET + 1] = offset;
	KUNIT_EXPECT_EQ(test, parse_bytes(buf, len, &f->msg), 0);
	offset++;
	buf[SUBNET_OFFSET] = offset >> 8;
	buf[SUBNET_OFFSET + 1] = offset;
	KUNIT_EXPECT_EQ(test, parse_bytes(buf, len, &f->msg), -EPROTO);
	buf[SUBNET_OFFSET] = 0xff;
	buf[SUBNET_OFFSET + 1] = 0xff;
	KUNIT_EXPECT_EQ(test, parse_bytes(buf, len, &f->msg), -EPROTO);
}

/* R-CLC-04: in version 1 the low bits of the flags are reserved */
static void v1_reserved(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	unsigned int flags;

	for (flags = 0; flags < 16; flags++) {
		load(test, V_02);
		f->buf[FLAGS] = 0x10 | flags;
		f->buf[45] = 0xff;
		f->buf[46] = 0xff;
		expect_same_as(test, V_02, "flags");
	}
}

/* R-CLC-11, V2-PRO-12: number of prefixes and bits */
static void subnet_limits(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	unsigned int i;

	load(test, V_02);
	f->buf[44] = 32;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	f->buf[44] = 33;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	load(test, V_03);
	f->buf[64] = 128;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	f->buf[64] = 129;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	/* More prefixes are stated than present */
	load(test, V_03);
	f->buf[47] = 3;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	load(test, V_03);
	for (i = 3; i <= 8; i++) {
		insert(f, 48, 17, 0x20);
		f->buf[47] = i;
		KUNIT_EXPECT_EQ(test, parse(test), 0);
	}
	KUNIT_EXPECT_EQ(test, f->len, 188);
	expect_round_trip(test);
	insert(f, 48, 17, 0x20);
	f->buf[47] = 9;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);

	/* Fewer prefixes are stated than present: unknown bytes */
	f->buf[47] = 1;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
}

/* With prefixes the IPv4 fields are ignored */
static void subnet_ipv6_hides_ipv4(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, V_03);
	memset(f->buf + 40, 0xff, 5);
	expect_same_as(test, V_03, "IPv4 fields");
}

/*
 * A later version in the form of version 1 can offer SMC-R version 1. That form has no space for
 * any other offer.
 */
static void later_version_in_v1_shape(struct kunit *test)
{
	static const struct {
		u8 flags, offers;
	} rows[] = {
		{ 0x20, SMC_VARIANT_R1 }, { 0x30, SMC_VARIANT_R1 }, { 0xf0, SMC_VARIANT_R1 },
		{ 0x23, SMC_VARIANT_R1 }, { 0x2f, SMC_VARIANT_R1 },
		{ 0x21, 0 }, { 0x25, 0 },
	};
	struct clc_fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		load(test, V_02);
		f->buf[FLAGS] = rows[i].flags;
		KUNIT_ASSERT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ(test, f->msg.proposal.offers, rows[i].offers);
		KUNIT_EXPECT_EQ(test, f->msg.proposal.version, rows[i].flags >> 4);
		KUNIT_EXPECT_EQ(test, f->msg.proposal.subnet.ipv4_len,
				rows[i].offers ? 24 : 0);
	}

	/* Version 1 is not offered, so the longer base is required */
	load(test, V_02);
	f->buf[FLAGS] = 0x22;
	KUNIT_EXPECT_EQ(test, parse(test), -EPROTO);
	/* No offer at all */
	f->buf[FLAGS] = 0x2a;
	KUNIT_EXPECT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.offers, 0);
}

/* The offsets of the specification's examples: V2-PRO-01, V2-PRO-02, V2-PRO-05, V2-PRO-06 */
static const struct offset_row {
	const char *name;
	u8 offers, nr_prefixes, nr_ueids;
	bool no_associated, seid;
	u8 nr_ism;
	bool loopback;
	u16 subnet, v2, smcd, length;
	u8 flags;
} offset_rows[] = {
	{ "Rv2 only, 1 UEID",
	  SMC_VARIANT_R2, 0, 1, true, false, 0, false, 0, 28, 0, 156, 0x22 },
	{ "Dv2 only, associated GID, 1 UEID, no SEID",
	  SMC_VARIANT_D2, 0, 1, false, false, 0, false, 0, 28, 0, 156, 0x26 },
	{ "Dv2 only, SEID, 0 UEIDs, 0 entries",
	  SMC_VARIANT_D2, 0, 0, true, true, 0, false, 0, 28, 32, 172, 0x26 },
	{ "Dv2 only, 1 UEID, loopback, no SEID",
	  SMC_VARIANT_D2, 0, 1, true, false, 1, true, 0, 28, 64, 224, 0x26 },
	{ "all four, IPv4, 1 UEID, SEID, 0 entries",
	  ALL, 0, 1, false, true, 0, false, 40, 36, 64, 212, 0x2f },
	{ "all four, IPv4, 4 UEIDs, SEID, 4 entries",
	  ALL, 0, 4, false, true, 4, false, 40, 36, 160, 348, 0x2f },
	{ "all four, IPv6 1 prefix, 1 UEID, SEID, 2 entries",
	  ALL, 1, 1, false, true, 2, false, 40, 53, 64, 249, 0x2f },
	{ "all four, IPv6 8 prefixes, 8 UEIDs, SEID, 8 entries",
	  ALL, 8, 8, false, true, 8, false, 40, 172, 288, 652, 0x2f },
};

static void worked_offsets(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offset_rows); i++) {
		const struct offset_row *row = &offset_rows[i];
		size_t v2_at = 52 + row->v2;

		make(&f->msg, row->offers, row->nr_prefixes, row->nr_ueids, row->seid,
		     row->nr_ism);
		if (row->no_associated)
			memset(&f->msg.proposal.ism, 0, sizeof(f->msg.proposal.ism));
		if (row->loopback)
			f->msg.proposal.v2.ism[0].chid = SMC_CHID_LOOPBACK;
		build(test);
		KUNIT_EXPECT_EQ_MSG(test, f->len, row->length, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, f->buf[FLAGS], row->flags, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, get16(f, SUBNET_OFFSET), row->subnet, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, get16(f, V2_OFFSET), row->v2, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, get16(f, v2_at + 6), row->smcd, "%s", row->name);
		expect_round_trip(test);
		expect_truncation_refused(test);
	}
}

/* V2-SEL-03, V2-VER-01: all 15 combinations of offers, and the fields of each */
static void mixes(struct kunit *test)
{
	static const u8 no_bytes[16];
	struct clc_fixture *f = test->priv;
	u8 offers;

	for (offers = 1; offers <= ALL; offers++) {
		const struct smc_clc_proposal *p = &f->again.proposal;
		bool v1 = offers & SMC_VARIANTS_V1, v2 = offers & SMC_VARIANTS_V2;

		make(&f->msg, offers, 0, 2, true, 1);
		build(test);
		KUNIT_ASSERT_EQ(test, parse_bytes(f->buf, f->len, &f->again), 0);
		KUNIT_EXPECT_EQ(test, p->offers, offers);
		KUNIT_EXPECT_EQ(test, p->version, v2 ? 2 : 1);
		KUNIT_EXPECT_EQ(test, f->buf[FLAGS] >> 4, v2 ? 2 : 1);
		KUNIT_EXPECT_EQ(test, f->len == 52, offers == SMC_VARIANT_R1);

		/* V2-PRO-07, V2-PRO-08 */
		KUNIT_EXPECT_MEMEQ(test, p->mac, f->msg.proposal.mac, 6);
		KUNIT_EXPECT_MEMEQ(test, f->buf + GID, offers & SMC_VARIANT_R1 ?
				   f->msg.proposal.gid.bytes : no_bytes, 16);
		/* V2-PRO-06 */
		KUNIT_EXPECT_EQ(test, p->subnet.ipv4_len, v1 ? 24 : 0);
		/* V2-PRO-09 */
		KUNIT_EXPECT_EQ(test, p->ism.gid, offers & SMC_VARIANTS_D ?
				0x6061626364656667ULL : 0);
		KUNIT_EXPECT_EQ(test, p->ism.chid, offers & SMC_VARIANT_D2 ? 0x1234 : 0);
		/* V2-VER-18, V2-FEA-14, V2-EID-09, V2-PRO-05 */
		KUNIT_EXPECT_EQ(test, p->v2.release, v2 ? 1 : 0);
		KUNIT_EXPECT_EQ(test, p->v2.features, v2 ? 1 : 0);
		KUNIT_EXPECT_EQ(test, p->v2.vendor.options[4], v2 ? 0x77 : 0);
		KUNIT_EXPECT_EQ(test, p->v2.nr_ueids, v2 ? 2 : 0);
		KUNIT_EXPECT_EQ(test, p->v2.max_conns, offers & SMC_VARIANT_R2 ? 16 : 0);
		KUNIT_EXPECT_EQ(test, p->v2.max_links, offers & SMC_VARIANT_R2 ? 1 : 0);
		KUNIT_EXPECT_EQ(test, p->v2.roce_gid.bytes[0], offers & SMC_VARIANT_R2 ? 0x80 : 0);
		KUNIT_EXPECT_EQ(test, p->v2.has_seid, !!(offers & SMC_VARIANT_D2));
		KUNIT_EXPECT_EQ(test, p->v2.nr_ism, offers & SMC_VARIANT_D2 ? 1 : 0);

		expect_round_trip(test);
		expect_no_space(test);
	}
}

/* V2-TOL-02: only flags, length and offset differ from version 1 */
static void v1_fields_keep_their_place(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	make(&f->msg, ALL, 0, 2, true, 1);
	build(test);
	f->msg.proposal.offers = SMC_VARIANT_R1;
	KUNIT_ASSERT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), 52);
	KUNIT_EXPECT_MEMEQ(test, f->built, f->buf, 5);
	KUNIT_EXPECT_MEMEQ(test, f->built + 8, f->buf + 8, 30);
	KUNIT_EXPECT_MEMEQ(test, f->built + 40, f->buf + 80, 8);
}

/* V2-PRO-03: follow the offsets across unknown bytes */
static void follow_offsets(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	make(&f->msg, ALL, 2, 2, true, 2);
	build(test);
	f->again = f->msg;
	/* 80 subnet 42, 122 V2 40 + 64, 226 SMC-D; pad from the last to the first */
	insert(f, 226, 12, 0xff);
	put16(f, 122 + 6, get16(f, 122 + 6) + 12);
	insert(f, 122, 7, 0xff);
	put16(f, V2_OFFSET, get16(f, V2_OFFSET) + 7 + 3);
	insert(f, 80, 3, 0xff);
	put16(f, SUBNET_OFFSET, get16(f, SUBNET_OFFSET) + 3);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	f->again.proposal.version = 2;
	KUNIT_EXPECT_MEMEQ(test, &f->msg, &f->again, sizeof(f->msg));
}

/* V2-PRO-13, V2-PRO-14, S-18: reserved bytes are ignored */
static void reserved(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	make(&f->msg, ALL, 0, 1, true, 1);
	build(test);
	f->again = f->msg;
	memset(f->buf + RESERVED, 0xff, 20);
	memset(f->buf + 80 + 5, 0xff, 2);	/* subnet */
	f->buf[88 + 2] = 0xff;			/* V2 flag byte 1 */
	f->buf[88 + 3] |= 0x0e;
	memset(f->buf + 88 + 4, 0xff, 2);
	memset(f->buf + 88 + 28, 0xff, 12);
	memset(f->buf + 160 + 32, 0xff, 16);	/* SMC-D */
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	f->again.proposal.version = 2;
	KUNIT_EXPECT_MEMEQ(test, &f->msg, &f->again, sizeof(f->msg));
}

/* S-18: an extension starts neither before the end of the previous one nor behind the message */
static void offsets_overlap(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	u32 offset;

	/*
	 * V2 extension without a subnet: it starts behind the base, and its 40 bytes are in the
	 * message. Any byte between the two may be parsed as the number of EIDs.
	 */
	for (offset = 1; offset < 65536; offset += offset < 300 ? 1 : 97) {
		int err;

		load(test, CAPTURED_PROPOSAL);
		put16(f, V2_OFFSET, offset);
		err = parse(test);
		if (offset <= 28 || offset > 156 - 4 - 40 - 52)
			KUNIT_EXPECT_EQ_MSG(test, err, offset == 28 ? 0 : -EPROTO, "offset %u",
					    offset);
	}

	/* V2 extension with a subnet: it starts behind the subnet */
	for (offset = 1; offset < 36; offset++) {
		make(&f->msg, ALL, 0, 0, false, 0);
		build(test);
		put16(f, V2_OFFSET, offset);
		KUNIT_EXPECT_EQ_MSG(test, parse(test), -EPROTO, "offset %u", offset);
	}

	/* SMC-D extension: it starts behind the EIDs and within the message */
	for (offset = 1; offset < 65536; offset += offset < 300 ? 1 : 97) {
		load(test, D_PROPOSAL);
		put16(f, 80 + 6, offset);
		KUNIT_EXPECT_EQ_MSG(test, parse(test), offset == 64 ? 0 : -EPROTO, "offset %u",
				    offset);
	}

	/* Subnet: an offset below 40 means a Proposal in the form of version 1 */
	for (offset = 40; offset < 65536; offset += offset < 300 ? 1 : 97) {
		make(&f->msg, SMC_VARIANT_R1 | SMC_VARIANT_R2, 0, 1, false, 0);
		build(test);
		put16(f, SUBNET_OFFSET, offset);
		KUNIT_EXPECT_EQ_MSG(test, parse(test), offset == 40 ? 0 : -EPROTO, "offset %u",
				    offset);
	}
}

/* V2-TOL-10: without version 1 the subnet is ignored */
static void subnet_ignored(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, CAPTURED_PROPOSAL);
	put16(f, SUBNET_OFFSET, 0xffff);
	expect_same_as(test, CAPTURED_PROPOSAL, "offset");

	make(&f->msg, ALL, 8, 1, false, 0);
	build(test);
	f->buf[FLAGS] = 0x2e;
	f->buf[80 + 7] = 9;
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.offers, SMC_VARIANTS_V2);
	KUNIT_EXPECT_EQ(test, f->msg.proposal.subnet.nr_prefixes, 0);
}

/* V2-PRO-08, V2-TOL-05: values of a type that is not offered */
static void fields_of_other_types(struct kunit *test)
{
	struct clc_fixture *f = test->priv;

	load(test, CAPTURED_PROPOSAL);
	memset(f->buf + GID, 0xff, 16);
	memset(f->buf + ISM_GID, 0xff, 10);
	f->buf[81] = 9;				/* ISM entries */
	f->buf[83] |= 0x01;			/* SEID */
	put16(f, 80 + 6, 0xffff);
	expect_same_as(test, CAPTURED_PROPOSAL, "SMC-R only");

	load(test, D_PROPOSAL);
	memset(f->buf + GID, 0xff, 16);
	memset(f->buf + 80 + 8, 0xff, 16);
	f->buf[80 + 24] = 7;
	f->buf[80 + 25] = 3;
	expect_same_as(test, D_PROPOSAL, "SMC-D only");
}

/* SMC-D version 1, with the area of version 2 but version number 1 */
static void smcd_v1(struct kunit *test)
{
	static const u8 zeros[32];
	struct clc_fixture *f = test->priv;
	const struct smc_clc_proposal *p = &f->msg.proposal;
	unsigned int type;

	make(&f->msg, SMC_VARIANT_D1, 0, 0, false, 0);
	build(test);
	KUNIT_EXPECT_EQ(test, f->len, 92);
	KUNIT_EXPECT_MEMEQ(test, f->buf + ISM_CHID, zeros, 32);
	KUNIT_EXPECT_EQ(test, f->buf[FLAGS], 0x11);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_EQ(test, p->offers, SMC_VARIANT_D1);
	KUNIT_EXPECT_EQ(test, p->ism.gid, 0x6061626364656667ULL);
	KUNIT_EXPECT_EQ(test, p->subnet.ipv4_len, 24);

	/* In version 1 all bytes behind the GID are reserved */
	f->again = f->msg;
	memset(f->buf + ISM_CHID, 0xff, 32);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_EXPECT_MEMEQ(test, &f->msg, &f->again, sizeof(f->msg));

	for (type = 0; type < 4; type++) {
		static const u8 offers[] = {
			SMC_VARIANT_R1, SMC_VARIANT_D1, SMC_VARIANT_R1, SMC_VARIANTS_V1,
		};

		f->buf[FLAGS] = 0x10 | type;
		KUNIT_ASSERT_EQ(test, parse(test), 0);
		KUNIT_EXPECT_EQ(test, p->offers, offers[type]);
	}
}

static void build_refuses(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	struct smc_clc_proposal *p = &f->msg.proposal;

#define REFUSED()								\
	KUNIT_EXPECT_EQ(test, smc_clc_build(&f->msg, f->built, sizeof(f->built)), -EINVAL)

	make(&f->msg, 0, 0, 0, false, 0);
	REFUSED();
	make(&f->msg, 0x10 | SMC_VARIANT_R1, 0, 0, false, 0);
	REFUSED();
	make(&f->msg, SMC_VARIANT_R1, 8, 0, false, 0);
	p->subnet.nr_prefixes = 9;
	REFUSED();
	make(&f->msg, SMC_VARIANT_R2, 0, 8, false, 0);
	p->v2.nr_ueids = 9;
	REFUSED();
	make(&f->msg, SMC_VARIANT_R2, 0, 1, false, 0);
	p->v2.release = 16;
	REFUSED();
	make(&f->msg, SMC_VARIANT_D2, 0, 1, false, 8);
	p->v2.nr_ism = 9;
	REFUSED();
	/* Five emulated devices need ten entries */
	make(&f->msg, SMC_VARIANT_D2, 0, 1, false, 5);
	p->v2.ism[0].chid = 0xff00;
	p->v2.ism[1].chid = 0xff01;
	p->v2.ism[2].chid = 0xff02;
	build(test);
	p->v2.ism[3].chid = 0xff03;
	REFUSED();
#undef REFUSED

	/* Fields of types that are not offered are ignored */
	make(&f->msg, SMC_VARIANT_R1, 0, 0, false, 0);
	p->v2.nr_ueids = 9;
	p->v2.nr_ism = 9;
	p->v2.release = 16;
	build(test);
	make(&f->msg, SMC_VARIANT_R2, 0, 1, false, 0);
	p->subnet.nr_prefixes = 9;
	p->v2.nr_ism = 9;
	build(test);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(v1_ipv4),
	KUNIT_CASE(v1_ipv6),
	KUNIT_CASE(v1_growth_area),
	KUNIT_CASE(v1_growth_area_huge),
	KUNIT_CASE(v1_reserved),
	KUNIT_CASE(subnet_limits),
	KUNIT_CASE(subnet_ipv6_hides_ipv4),
	KUNIT_CASE(later_version_in_v1_shape),
	KUNIT_CASE(worked_offsets),
	KUNIT_CASE(mixes),
	KUNIT_CASE(v1_fields_keep_their_place),
	KUNIT_CASE(follow_offsets),
	KUNIT_CASE(reserved),
	KUNIT_CASE(offsets_overlap),
	KUNIT_CASE(subnet_ignored),
	KUNIT_CASE(fields_of_other_types),
	KUNIT_CASE(smcd_v1),
	KUNIT_CASE(build_refuses),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_clc_proposal",
	.init = clc_fixture_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
