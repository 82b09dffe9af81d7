/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the suites of the Proposal */
#ifndef _TESTS_KUNIT_CLC_PROPOSAL_FIXTURE_H
#define _TESTS_KUNIT_CLC_PROPOSAL_FIXTURE_H

#include <kunit/test.h>

#include "clc_fixture.h"

/* Offsets in the messages */
#define FLAGS		7
#define GID		16
#define MAC		32
#define SUBNET_OFFSET	38
#define ISM_GID		40
#define ISM_CHID	48
#define V2_OFFSET	50
#define VENDOR		52
#define RESERVED	60

static inline struct smc_clc_proposal *parsed(struct kunit *test, const char *hex)
{
	struct clc_fixture *f = test->priv;

	load(test, hex);
	KUNIT_ASSERT_EQ(test, parse(test), 0);
	KUNIT_ASSERT_EQ(test, f->msg.type, SMC_CLC_PROPOSAL);
	return &f->msg.proposal;
}

static inline void put16(struct clc_fixture *f, size_t at, u16 value)
{
	f->buf[at] = value >> 8 & 0xff;
	f->buf[at + 1] = value & 0xff;
}

static inline u16 get16(const struct clc_fixture *f, size_t at)
{
	return f->buf[at] << 8 | f->buf[at + 1];
}

#define ALL	(SMC_VARIANTS_V1 | SMC_VARIANTS_V2)

static inline void fill(void *bytes, size_t n, u8 first)
{
	u8 *p = bytes;

	while (n--)
		*p++ = first++;
}

/* A Proposal with all fields that can be sent with @offers */
static inline void make(struct smc_clc *msg, u8 offers, u8 nr_prefixes, u8 nr_ueids, bool seid,
			u8 nr_ism)
{
	struct smc_clc_proposal *p = &msg->proposal;
	struct smc_clc_proposal_v2 *v2 = &p->v2;
	unsigned int i;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_PROPOSAL;
	p->offers = offers;
	fill(&p->peer_id, sizeof(p->peer_id), 0x10);
	fill(&p->gid, sizeof(p->gid), 0x20);
	fill(p->mac, sizeof(p->mac), 0x30);
	if (nr_prefixes) {
		p->subnet.nr_prefixes = nr_prefixes;
		for (i = 0; i < nr_prefixes; i++) {
			fill(p->subnet.prefixes[i].addr, 16, 0x40 + i);
			p->subnet.prefixes[i].len = 64 + i;
		}
	} else {
		fill(&p->subnet.ipv4, sizeof(p->subnet.ipv4), 0x50);
		p->subnet.ipv4_len = 24;
	}
	p->ism.gid = 0x6061626364656667ULL;
	p->ism.chid = 0x1234;

	v2->release = SMC_RELEASE_1;
	v2->max_conns = 16;
	v2->max_links = 1;
	v2->features = SMC_FEATURE_EMULATED_ISM;
	fill(&v2->vendor, sizeof(v2->vendor), 0x70);
	fill(&v2->roce_gid, sizeof(v2->roce_gid), 0x80);
	v2->has_seid = seid;
	fill(&v2->seid, sizeof(v2->seid), 0x41);
	v2->nr_ueids = nr_ueids;
	for (i = 0; i < nr_ueids; i++)
		fill(&v2->ueids[i], sizeof(v2->ueids[i]), 0x42 + i);
	v2->nr_ism = nr_ism;
	for (i = 0; i < nr_ism; i++) {
		v2->ism[i].gid = 0x9091929394959600ULL + i;
		v2->ism[i].chid = 0x0100 + i;
	}
}

static inline void build(struct kunit *test)
{
	struct clc_fixture *f = test->priv;
	int len;

	memset(f->buf, 0xaa, sizeof(f->buf));
	len = smc_clc_build(&f->msg, f->buf, SMC_CLC_BUILD_MAX);
	KUNIT_ASSERT_GT(test, len, 0);
	f->len = len;
	KUNIT_EXPECT_EQ(test, get16(f, 5), len);
}

#endif /* _TESTS_KUNIT_CLC_PROPOSAL_FIXTURE_H */
