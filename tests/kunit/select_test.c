// SPDX-License-Identifier: GPL-2.0-only
/* Selection in the handshake ("SMC Version 2", V2-SEL): by the server, and checks of both sides */
#include "select_fixture.h"

#define CHID_HARDWARE	0x0123
#define CHID_VIRTIO	0xff00
#define CHID_FOREIGN	0x0456

static const struct smc_ism_gid server_loopback = { 0xa1, 0xa2, SMC_CHID_LOOPBACK };
static const struct smc_ism_gid server_hardware = { 0xb1, 0, CHID_HARDWARE };
static const struct smc_ism_gid client_loopback = { 0xc1, 0xc2, SMC_CHID_LOOPBACK };
static const struct smc_ism_gid client_hardware = { 0xd1, 0, CHID_HARDWARE };

/* Client and server have both devices; they share two user EIDs and the SEID */
static void setup_proposal(struct smc_clc_proposal *proposal)
{
	struct smc_clc_proposal_v2 *v2 = &proposal->v2;

	proposal->version = 2;
	proposal->offers = SMC_VARIANT_D2;
	v2->release = SMC_RELEASE_1;
	v2->features = SMC_FEATURE_EMULATED_ISM;
	v2->has_seid = true;
	v2->seid = eid("SYSTEM");
	v2->nr_ueids = 3;
	v2->ueids[0] = eid("CLIENTONLY");
	v2->ueids[1] = eid("SECOND");
	v2->ueids[2] = eid("FIRST");
	v2->nr_ism = 2;
	v2->ism[0] = client_loopback;
	v2->ism[1] = client_hardware;
}

static void setup_local(struct smc_local *local)
{
	local->nr_ueids = 3;
	local->ueids[0] = eid("FIRST");
	local->ueids[1] = eid("SECOND");
	local->ueids[2] = eid("SERVERONLY");
	local->seid = eid("SYSTEM");
	local->nr_ism = 2;
	local->ism[0] = server_loopback;
	local->ism[1] = server_hardware;
	local->reach[0] = 1 << 0;
	local->reach[1] = 1 << 1;
}

static void setup_answers(struct fixture *f)
{
	struct smc_clc_accept *accept = &f->accept;

	accept->variant = SMC_VARIANT_D2;
	accept->is_first_contact = true;
	accept->dmb.ism = server_loopback;
	accept->dmb.dmb_token = 0x1111;
	accept->dmb.dmbe_size = 2;
	accept->dmb.link_id = 7;
	accept->eid = eid("SECOND");
	accept->first_contact.release = SMC_RELEASE_1;
	accept->first_contact.os = SMC_OS_LINUX;
	accept->first_contact.features = SMC_FEATURE_EMULATED_ISM;

	f->confirm = *accept;
	f->confirm.dmb.ism = client_loopback;
	f->confirm.dmb.dmb_token = 0x2222;
	f->choice.features = SMC_FEATURE_EMULATED_ISM;
	f->choice.peer = client_loopback;
}

static void setup(struct fixture *f)
{
	setup_local(&f->local);
	setup_proposal(&f->proposal);
	setup_answers(f);
}

static void expect_eid(struct kunit *test, const char *text)
{
	struct fixture *f = test->priv;
	struct smc_eid wanted = eid(text);

	KUNIT_ASSERT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_MEMEQ(test, f->choice.eid.text, wanted.text, SMC_EID_LEN);
}

static void expect_device(struct kunit *test, u8 device, u8 entry)
{
	struct fixture *f = test->priv;
	const struct smc_ism_gid *peer = &f->proposal.v2.ism[entry];

	KUNIT_ASSERT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, f->choice.device, device);
	KUNIT_EXPECT_EQ(test, f->choice.peer.chid, peer->chid);
	KUNIT_EXPECT_EQ(test, f->choice.peer.gid, peer->gid);
	KUNIT_EXPECT_EQ(test, f->choice.peer.gid_ext, peer->gid_ext);
}

/* The unchanged fixture: V2-EID-14, V2-ISM-08, V2-ISM-11 */
static void all_met(struct kunit *test)
{
	struct fixture *f = test->priv;

	expect_device(test, 0, 0);
	expect_eid(test, "SECOND");
	KUNIT_EXPECT_EQ(test, f->choice.variant, SMC_VARIANT_D2);
	KUNIT_EXPECT_EQ(test, f->choice.release, SMC_RELEASE_1);
	KUNIT_EXPECT_EQ(test, f->choice.reason_d2 | f->choice.reason_d1, 0);
	KUNIT_EXPECT_EQ(test, f->choice.reason_r2 | f->choice.reason_r1, 0);
}

/* V2-SEL-01, V2-SEL-02, V2-SEL-04: SMC-D version 2 is preferred, alone or with others */
static void preferred(struct kunit *test)
{
	struct fixture *f = test->priv;
	u8 others;

	for (others = 0; others < SMC_VARIANT_D2; others++) {
		f->proposal.offers = SMC_VARIANT_D2 | others;
		KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
		KUNIT_EXPECT_EQ(test, f->choice.variant, SMC_VARIANT_D2);
		KUNIT_EXPECT_EQ(test, f->choice.reason_d1 | f->choice.reason_r2 |
				f->choice.reason_r1, 0);
	}
}

static void no_local_device(struct fixture *f)
{
	f->local.nr_ism = 0;
}

static void no_client_device(struct fixture *f)
{
	f->proposal.v2.nr_ism = 0;
}

static void no_common_chid(struct fixture *f)
{
	f->proposal.v2.ism[0].chid = CHID_VIRTIO;
	f->proposal.v2.ism[1].chid = CHID_FOREIGN;
	f->local.reach[0] = 0xff;
	f->local.reach[1] = 0xff;
}

static void nothing_reached(struct fixture *f)
{
	f->local.reach[0] = 0;
	f->local.reach[1] = 0;
}

static void wrong_entry_reached(struct fixture *f)
{
	f->local.reach[0] = ~(1 << 0);
	f->local.reach[1] = ~(1 << 1);
}

static void no_feature(struct fixture *f)
{
	f->proposal.v2.nr_ism = 1;
	f->proposal.v2.features = ~SMC_FEATURE_EMULATED_ISM;
}

static void old_release(struct fixture *f)
{
	f->proposal.v2.nr_ism = 1;
	f->proposal.v2.release = SMC_RELEASE_0;
}

static void no_common_eid(struct fixture *f)
{
	f->local.nr_ueids = 0;
	f->local.seid = (struct smc_eid){};
}

static void seid_foreign(struct fixture *f)
{
	f->local.nr_ueids = 0;
	f->local.seid = eid("OTHERSYSTEM");
}

static void only_seid_foreign(struct fixture *f)
{
	f->proposal.v2.nr_ueids = 0;
	f->local.seid = eid("OTHERSYSTEM");
}

static void only_seid_not_offered(struct fixture *f)
{
	f->proposal.v2.nr_ueids = 0;
	f->proposal.v2.has_seid = false;
}

static void seid_off(struct fixture *f)
{
	f->proposal.v2.nr_ueids = 0;
	f->local.seid = (struct smc_eid){};
}

/* A disabled SEID does not match, even if the client has the same */
static void seid_off_on_both(struct fixture *f)
{
	seid_off(f);
	f->proposal.v2.seid = (struct smc_eid){};
}

/* The SEID of one side does not match an equal user EID of the other */
static void seid_is_no_ueid(struct fixture *f)
{
	f->proposal.v2.nr_ueids = 0;
	f->local.seid = eid("OTHERSYSTEM");
	f->local.ueids[0] = eid("SYSTEM");
}

static void half_pair(struct fixture *f)
{
	f->proposal.v2.ism_unpaired = true;
}

/* Each case violates one condition: V2-SEL-07 */
static const struct unmet_row {
	const char *name;
	void (*spoil)(struct fixture *f);
	u32 reason;
} unmet_rows[] = {
	{ "no local device", no_local_device, SMC_REASON_NO_ISM_DEVICE },
	{ "no client device", no_client_device, SMC_REASON_NO_ISM_V2_DEVICE },
	{ "no common CHID", no_common_chid, SMC_REASON_NO_ISM_V2_DEVICE },	/* V2-ISM-08 */
	{ "nothing reached", nothing_reached, SMC_REASON_NO_ISM_V2_DEVICE },	/* V2-EMU-16 */
	{ "wrong entry reached", wrong_entry_reached, SMC_REASON_NO_ISM_V2_DEVICE },
	{ "no feature", no_feature, SMC_REASON_NO_ISM_V2_DEVICE },		/* V2-EMU-13 */
	{ "release 0", old_release, SMC_REASON_NO_ISM_V2_DEVICE },		/* V2-VER-10 */
	{ "no common EID", no_common_eid, SMC_REASON_NO_UEID },			/* V2-EID-13 */
	{ "no common EID, SEID foreign", seid_foreign, SMC_REASON_NO_UEID },
	{ "SEID only, foreign", only_seid_foreign, SMC_REASON_NO_SEID },
	{ "SEID only, not offered", only_seid_not_offered, SMC_REASON_NO_SEID },
	{ "SEID off", seid_off, SMC_REASON_NO_SEID },				/* V2-EID-12 */
	{ "SEID off on both sides", seid_off_on_both, SMC_REASON_NO_SEID },
	{ "SEID as user EID", seid_is_no_ueid, SMC_REASON_NO_SEID },
	{ "half of a pair", half_pair, SMC_REASON_CHID_UNPAIRED },		/* V2-EMU-05 */
};

static void one_unmet(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unmet_rows); i++) {
		const struct unmet_row *row = &unmet_rows[i];

		reset(test);
		KUNIT_ASSERT_EQ_MSG(test, choose(test), SMC_REASON_NONE, "%s", row->name);
		row->spoil(f);
		KUNIT_EXPECT_EQ_MSG(test, choose(test), row->reason, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, f->choice.variant, 0, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, f->choice.reason_d2, row->reason, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, f->choice.diagnosis, row->reason, "%s", row->name);
	}
}

/* S-03, V2-EID-13, V2-EID-18: in the client's order; the system EID last */
static void eid_order(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct smc_clc_proposal_v2 *v2 = &f->proposal.v2;
	u8 i;

	expect_eid(test, "SECOND");
	v2->ueids[0] = eid("SERVERONLY");
	expect_eid(test, "SERVERONLY");

	/* All 32 bytes are compared */
	v2->ueids[0] = eid("FIRST1");
	v2->ueids[1] = eid("SECON");
	expect_eid(test, "FIRST");

	v2->nr_ueids = 2;
	expect_eid(test, "SYSTEM");
	v2->nr_ueids = 0;
	expect_eid(test, "SYSTEM");

	/* Only the last of eight EIDs is common; bytes behind the counted ones are ignored */
	for (i = 0; i < SMC_MAX_UEIDS; i++)
		v2->ueids[i] = eid("CLIENTONLY");
	v2->nr_ueids = SMC_MAX_UEIDS;
	v2->ueids[SMC_MAX_UEIDS - 1] = eid("SERVERONLY");
	expect_eid(test, "SERVERONLY");
	v2->nr_ueids = SMC_MAX_UEIDS - 1;
	expect_eid(test, "SYSTEM");
	f->local.nr_ueids = 2;
	v2->nr_ueids = SMC_MAX_UEIDS;
	expect_eid(test, "SYSTEM");
}

/* V2-EID-12, V2-EID-21: without the system EID, user EIDs are sufficient */
static void eid_without_seid(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->local.seid = (struct smc_eid){};
	expect_eid(test, "SECOND");
	f->proposal.v2.has_seid = false;
	expect_eid(test, "SECOND");
	/* And vice versa */
	reset(test);
	f->local.nr_ueids = 0;
	expect_eid(test, "SYSTEM");
}

/* V2-EMU-13, S-26: then only the entries of emulated devices are ignored */
static void emulated_not_agreed(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->proposal.v2.features = 0;
	expect_device(test, 1, 1);
	f->proposal.v2.ism_unpaired = true;
	expect_device(test, 1, 1);

	reset(test);
	f->proposal.v2.release = SMC_RELEASE_0;
	expect_device(test, 1, 1);
	f->proposal.v2.ism_unpaired = true;
	expect_device(test, 1, 1);

	/* V2-EMU-01: the first reserved CHID, and the last one that is not reserved */
	reset(test);
	f->proposal.v2.features = 0;
	f->local.ism[0].chid = SMC_CHID_EMULATED;
	f->proposal.v2.ism[0].chid = SMC_CHID_EMULATED;
	expect_device(test, 1, 1);
	f->local.ism[0].chid = SMC_CHID_EMULATED - 1;
	f->proposal.v2.ism[0].chid = SMC_CHID_EMULATED - 1;
	expect_device(test, 0, 0);
}

/* V2-ISM-11, S-20: in the client's order */
static void device_order(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->proposal.v2.ism[0] = client_hardware;
	f->proposal.v2.ism[1] = client_loopback;
	f->local.reach[0] = 1 << 1;
	f->local.reach[1] = 1 << 0;
	expect_device(test, 1, 0);
	f->local.reach[1] = 0;
	expect_device(test, 0, 1);
	/* An entry that is not counted is ignored */
	f->local.reach[1] = 1 << 0;
	f->local.nr_ism = 1;
	expect_device(test, 0, 1);
	f->proposal.v2.nr_ism = 1;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NO_ISM_V2_DEVICE);
}

/* V2-EMU-15, S-22: an equal CHID is not sufficient; each bit belongs to its entry */
static void reach_bits(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct smc_clc_proposal_v2 *v2 = &f->proposal.v2;
	u8 i;

	v2->nr_ism = SMC_MAX_ISM_ENTRIES;
	for (i = 0; i < SMC_MAX_ISM_ENTRIES; i++) {
		v2->ism[i] = client_hardware;
		v2->ism[i].gid = 0x100 + i;
	}
	for (i = 0; i < SMC_MAX_ISM_ENTRIES; i++) {
		f->local.reach[0] = 0xff;
		f->local.reach[1] = 1 << i;
		expect_device(test, 1, i);
		f->local.reach[1] = 0xff << i;
		expect_device(test, 1, i);
	}

	/* Of two devices on one fabric, the first that reaches the client */
	f->local.nr_ism = SMC_LOCAL_ISM;
	f->local.ism[2] = server_hardware;
	f->local.ism[3] = server_hardware;
	f->local.reach[1] = 0;
	f->local.reach[2] = 1 << 3;
	f->local.reach[3] = 1 << 2;
	expect_device(test, 3, 2);
	f->local.reach[2] = 1 << 2;
	expect_device(test, 2, 2);
}

/* V2-VER-04 to V2-VER-06 */
static void release(struct kunit *test)
{
	static const struct {
		u8 proposed, chosen;
	} releases[] = {
		{ 0, SMC_RELEASE_0 }, { 1, SMC_RELEASE_1 }, { 2, SMC_RELEASE_1 },
		{ 15, SMC_RELEASE_1 },
	};
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(releases); i++) {
		f->proposal.v2.release = releases[i].proposed;
		KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
		KUNIT_EXPECT_EQ(test, f->choice.release, releases[i].chosen);
	}
}

/* V2-SEL-07, V2-DCL-03 to V2-DCL-05: any combination of offers, none of which is possible */
static void declines(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct smc_choice *c = &f->choice;
	u8 offers;

	f->local.nr_ism = 0;
	for (offers = 0; offers <= VARIANTS_ALL; offers++) {
		u32 d2 = offers & SMC_VARIANT_D2 ? SMC_REASON_NO_ISM_DEVICE : 0;
		u32 d1 = offers & SMC_VARIANT_D1 ? SMC_REASON_NO_ISM_DEVICE : 0;
		u32 r2 = offers & SMC_VARIANT_R2 ? SMC_REASON_NO_RDMA_DEVICE : 0;
		u32 r1 = offers & SMC_VARIANT_R1 ? SMC_REASON_NO_RDMA_DEVICE : 0;
		u32 last = r1 ?: r2 ?: d1 ?: d2 ?: SMC_REASON_NO_DEVICE;

		f->proposal.offers = offers;
		KUNIT_EXPECT_EQ_MSG(test, choose(test), last, "offers %x", offers);
		KUNIT_EXPECT_EQ_MSG(test, c->diagnosis, last, "offers %x", offers);
		KUNIT_EXPECT_EQ_MSG(test, c->variant, 0, "offers %x", offers);
		KUNIT_EXPECT_EQ_MSG(test, c->reason_d2, d2, "offers %x", offers);
		KUNIT_EXPECT_EQ_MSG(test, c->reason_d1, d1, "offers %x", offers);
		KUNIT_EXPECT_EQ_MSG(test, c->reason_r2, r2, "offers %x", offers);
		KUNIT_EXPECT_EQ_MSG(test, c->reason_r1, r1, "offers %x", offers);
	}
}

/* V2-DCL-04: the reason of SMC-D version 2 stays if other variants follow */
static void declines_apart(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct smc_choice *c = &f->choice;

	f->proposal.offers = VARIANTS_ALL;
	no_common_eid(f);
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NO_RDMA_DEVICE);
	KUNIT_EXPECT_EQ(test, f->choice.reason_d2, SMC_REASON_NO_UEID);
	KUNIT_EXPECT_EQ(test, f->choice.reason_d1, SMC_REASON_NO_ISM_DEVICE);

	/* V2-EMU-05: half of a pair is the reason, regardless of the rest */
	reset(test);
	f->proposal.offers = VARIANTS_ALL;
	half_pair(f);
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_CHID_UNPAIRED);
	KUNIT_EXPECT_EQ(test, f->choice.diagnosis, SMC_REASON_CHID_UNPAIRED);
	KUNIT_EXPECT_EQ(test, f->choice.variant, 0);
	/* V2-SEL-07: each variant gets this reason */
	KUNIT_EXPECT_TRUE(test, c->reason_d2 == c->diagnosis && c->reason_d1 == c->diagnosis &&
			  c->reason_r2 == c->diagnosis && c->reason_r1 == c->diagnosis);
	/* But pairs exist only if SMC-D version 2 is offered */
	f->proposal.offers = SMC_VARIANT_R2;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NO_RDMA_DEVICE);
}

static u32 check_accept(struct kunit *test, u8 *device)
{
	struct fixture *f = test->priv;

	*device = 0xee;
	return smc_select_check_accept(&f->proposal, &f->accept, device);
}

static void expect_accepted(struct kunit *test, u8 wanted)
{
	u8 device;

	KUNIT_EXPECT_EQ(test, check_accept(test, &device), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, device, wanted);
}

static void expect_refused(struct kunit *test, u32 reason)
{
	u8 device;

	KUNIT_EXPECT_EQ(test, check_accept(test, &device), reason);
	KUNIT_EXPECT_EQ(test, device, 0xee);
}

/* V2-SEL-08, S-46: of all variants, only the one that was offered */
static void accept_variant(struct kunit *test)
{
	struct fixture *f = test->priv;
	u8 variant;

	expect_accepted(test, 0);
	for (variant = 0; variant < SMC_VARIANT_D2; variant++) {
		f->accept.variant = variant;
		expect_refused(test, SMC_REASON_MODE);
	}
	f->accept.variant = SMC_VARIANT_D2;
	f->proposal.offers = VARIANTS_ALL & ~SMC_VARIANT_D2;
	expect_refused(test, SMC_REASON_MODE);
	/* SMC-D version 1 is not implemented, and a set of variants is not a variant */
	f->proposal.offers = VARIANTS_ALL;
	expect_accepted(test, 0);
	f->accept.variant = SMC_VARIANT_D1;
	expect_refused(test, SMC_REASON_MODE);
}

/* V2-VER-05, V2-VER-07, V2-VER-08 */
static void accept_release(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->accept.first_contact.release = SMC_RELEASE_1 + 1;
	expect_refused(test, SMC_REASON_RELEASE);
	/* Without the extension there is no release */
	f->accept.is_first_contact = false;
	expect_accepted(test, 0);

	reset(test);
	f->accept.dmb.ism = server_hardware;
	f->proposal.v2.release = SMC_RELEASE_0;
	expect_refused(test, SMC_REASON_RELEASE);
	f->accept.first_contact.release = SMC_RELEASE_0;
	f->accept.first_contact.features = 0;
	expect_accepted(test, 1);
	/* V2-VER-04: an earlier release is accepted */
	f->proposal.v2.release = SMC_RELEASE_1;
	expect_accepted(test, 1);
}

/* V2-EID-16, V2-EID-18 */
static void accept_eid(struct kunit *test)
{
	static const char * const foreign[] = { "SERVERONLY", "SECON", "SECONDS", "SYSTEMS" };
	static const char * const offered[] = { "CLIENTONLY", "SECOND", "FIRST", "SYSTEM" };
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(foreign); i++) {
		f->accept.eid = eid(foreign[i]);
		expect_refused(test, SMC_REASON_NOT_OFFERED);
	}
	for (i = 0; i < ARRAY_SIZE(offered); i++) {
		f->accept.eid = eid(offered[i]);
		expect_accepted(test, 0);
	}
	/* V2-EID-11: not offered: an SEID without its flag, zeros, EIDs not counted */
	f->proposal.v2.has_seid = false;
	expect_refused(test, SMC_REASON_NOT_OFFERED);
	f->proposal.v2.seid = (struct smc_eid){};
	f->accept.eid = (struct smc_eid){};
	expect_refused(test, SMC_REASON_NOT_OFFERED);
	f->proposal.v2.nr_ueids = 2;
	f->accept.eid = eid("FIRST");
	expect_refused(test, SMC_REASON_NOT_OFFERED);
}

/* V2-ISM-09 */
static void accept_chid(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->accept.dmb.ism = server_hardware;
	expect_accepted(test, 1);
	f->accept.dmb.ism.chid = CHID_FOREIGN;
	expect_refused(test, SMC_REASON_NOT_OFFERED);
	f->accept.dmb.ism.chid = CHID_VIRTIO;
	expect_refused(test, SMC_REASON_NOT_OFFERED);
	f->accept.dmb.ism = server_hardware;
	f->proposal.v2.nr_ism = 1;
	expect_refused(test, SMC_REASON_NOT_OFFERED);
	f->proposal.v2.nr_ism = 0;
	f->accept.dmb.ism = server_loopback;
	expect_refused(test, SMC_REASON_NOT_OFFERED);
}

/* R-CLC-14, A-14: codes above 5 are reserved */
static void size_code(struct kunit *test)
{
	struct fixture *f = test->priv;
	u8 code;

	for (code = 0; code < 16; code++) {
		f->accept.dmb.dmbe_size = code;
		f->confirm.dmb.dmbe_size = code;
		if (code <= 5)
			expect_accepted(test, 0);
		else
			expect_refused(test, SMC_REASON_RESERVED_VALUE);
		KUNIT_EXPECT_EQ(test, smc_select_check_confirm(&f->choice, &f->accept,
							       &f->confirm),
				code <= 5 ? SMC_REASON_NONE : SMC_REASON_RESERVED_VALUE);
	}
}

/* V2-EMU-13, V2-FEA-16: at first contact a server with emulated devices sets the bit */
static void accept_feature(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->accept.first_contact.features = ~SMC_FEATURE_EMULATED_ISM;
	expect_refused(test, SMC_REASON_NO_ISM_V2);
	f->accept.first_contact.release = SMC_RELEASE_0;
	f->accept.first_contact.features = 0;
	expect_refused(test, SMC_REASON_NO_ISM_V2);
	f->accept.is_first_contact = false;
	expect_accepted(test, 0);

	/* Other devices do not need it; unknown features are no error (V2-VER-20) */
	reset(test);
	f->accept.dmb.ism = server_hardware;
	f->accept.first_contact.features = 0;
	expect_accepted(test, 1);
	reset(test);
	f->accept.first_contact.features = 0xffff;
	expect_accepted(test, 0);
}

/* One byte is wrong; @flip: the bits that change */
#define DIFFER(name, member, flip) { name, offsetof(struct fixture, member), flip }

static const struct differ_row {
	const char *name;
	size_t offset;
	u8 flip;
} differ_rows[] = {
	DIFFER("variant", confirm.variant, 0x0a),			/* V2-VER-02 */
	DIFFER("no first contact", confirm.is_first_contact, 1),	/* V2-FCE-04, S-47 */
	DIFFER("later contact", accept.is_first_contact, 1),		/* V2-FCE-05, S-47 */
	DIFFER("EID", confirm.eid.text[0], 0x01),			/* V2-EID-15 */
	DIFFER("last byte of the EID", confirm.eid.text[31], 0x40),	/* V2-EID-18 */
	DIFFER("CHID", confirm.dmb.ism.chid, 0x02),			/* V2-ISM-09 */
	DIFFER("GID", confirm.dmb.ism.gid, 0x01),
	DIFFER("second half of the GID", confirm.dmb.ism.gid_ext, 0x01),
	DIFFER("release lower", confirm.first_contact.release, 1),	/* V2-VER-09 */
	DIFFER("release higher", accept.first_contact.release, 1),	/* V2-VER-09 */
	DIFFER("vendor option", confirm.first_contact.vendor[0], 1),	/* V2-VND-07 */
	DIFFER("last vendor option", confirm.first_contact.vendor[3], 1), /* V2-VND-07 */
};

/* V2-FEA-15, V2-FEA-20: the client proposes features, the server names them, the client confirms */
static const struct common_row {
	u16 client, server, confirmed;
	bool common;
} common_rows[] = {
	{ 0x0001, 0x0001, 0x0001, true },
	{ 0xffff, 0x0001, 0x0001, true },
	{ 0x0001, 0x8003, 0x0001, true },
	{ 0x0000, 0x0001, 0x0000, true },
	{ 0x0001, 0x0001, 0x0000, false },
	{ 0x0001, 0x0001, 0x8001, false },
	{ 0x0000, 0x0001, 0x0001, false },
	{ 0x0001, 0x8003, 0x8003, false },
	{ 0xffff, 0x0001, 0xffff, false },
};

static u32 check_confirm(struct kunit *test)
{
	struct fixture *f = test->priv;

	return smc_select_check_confirm(&f->choice, &f->accept, &f->confirm);
}

static void confirm_differs(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(differ_rows); i++) {
		reset(test);
		KUNIT_ASSERT_EQ(test, check_confirm(test), SMC_REASON_NONE);
		((u8 *)f)[differ_rows[i].offset] ^= differ_rows[i].flip;
		KUNIT_EXPECT_EQ_MSG(test, check_confirm(test), SMC_REASON_CONFIRM_DIFFERS, "%s",
				    differ_rows[i].name);
	}
}

static void confirm_features(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(common_rows); i++) {
		const struct common_row *row = &common_rows[i];

		f->choice.features = row->client;
		f->accept.first_contact.features = row->server;
		f->confirm.first_contact.features = row->confirmed;
		KUNIT_EXPECT_EQ_MSG(test, check_confirm(test), row->common ? SMC_REASON_NONE :
				    SMC_REASON_CONFIRM_DIFFERS, "row %u", i);
	}
}

/* The description of the client's own end may have any value */
static void confirm_own_end(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->confirm.dmb.dmb_token = 0x9999;
	f->confirm.dmb.dmbe_index = 9;
	f->confirm.dmb.dmbe_size = 5;
	f->confirm.dmb.link_id = 9;
	f->confirm.first_contact.os = SMC_OS_AIX;
	f->confirm.first_contact.hostname[0] = 'x';
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
}

/* V2-FEA-08, V2-FEA-15, V2-VER-06: no values of release 1 without release 1 and first contact */
static void confirm_not_compared(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->accept.first_contact.release = SMC_RELEASE_0;
	f->confirm.first_contact.release = SMC_RELEASE_0;
	f->confirm.first_contact.features = 0;
	f->confirm.first_contact.vendor[0] = 1;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);

	reset(test);
	f->accept.is_first_contact = false;
	f->confirm.is_first_contact = false;
	f->confirm.first_contact.release = SMC_RELEASE_0;
	f->confirm.first_contact.features = 0;
	f->confirm.first_contact.vendor[0] = 1;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(all_met),
	KUNIT_CASE(preferred),
	KUNIT_CASE(one_unmet),
	KUNIT_CASE(eid_order),
	KUNIT_CASE(eid_without_seid),
	KUNIT_CASE(emulated_not_agreed),
	KUNIT_CASE(device_order),
	KUNIT_CASE(reach_bits),
	KUNIT_CASE(release),
	KUNIT_CASE(declines),
	KUNIT_CASE(declines_apart),
	KUNIT_CASE(accept_variant),
	KUNIT_CASE(accept_release),
	KUNIT_CASE(accept_eid),
	KUNIT_CASE(accept_chid),
	KUNIT_CASE(size_code),
	KUNIT_CASE(accept_feature),
	KUNIT_CASE(confirm_differs),
	KUNIT_CASE(confirm_features),
	KUNIT_CASE(confirm_own_end),
	KUNIT_CASE(confirm_not_compared),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_select",
	.init = init,
	.test_cases = cases,
};

kunit_test_suite(suite);
