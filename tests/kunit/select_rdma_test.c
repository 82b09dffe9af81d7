// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selection in the handshake for SMC-R: what the server selects from the Proposal, and whether both
 * sides accept the replies ("SMC Version 2" and RFC 7609)
 */
#include "select_fixture.h"

static const struct smc_gid server_v2 = { { [10] = 0xff, 0xff, 10, 0, 0, 1 } };
static const struct smc_gid client_v2 = { { [10] = 0xff, 0xff, 10, 0, 0, 2 } };
static const struct smc_gid server_v1 = { { 0xfe, 0x80, [15] = 1 } };
static const struct smc_gid client_v1 = { { 0xfe, 0x80, [15] = 2 } };
static const struct smc_gid client_ipv6 = { { 0x20, 0x01, [15] = 2 } };
static const u8 client_mac[6] = { 2, 0, 0, 0, 0, 2 };
static const u8 server_mac[6] = { 2, 0, 0, 0, 0, 1 };

/* The client offers both versions; the server supports both, each on one port */
static void setup_proposal(struct smc_clc_proposal *proposal)
{
	struct smc_clc_proposal_v2 *v2 = &proposal->v2;

	proposal->version = 2;
	proposal->offers = SMC_VARIANTS_R;
	proposal->gid = client_v1;
	memcpy(proposal->mac, client_mac, sizeof(client_mac));
	v2->release = SMC_RELEASE_1;
	v2->features = SMC_FEATURE_EMULATED_ISM;
	v2->roce_gid = client_v2;
	v2->max_conns = 100;
	v2->max_links = 2;
	v2->has_seid = true;
	v2->seid = eid("SYSTEM");
	v2->nr_ueids = 2;
	v2->ueids[0] = eid("CLIENTONLY");
	v2->ueids[1] = eid("COMMON");
}

static void setup_local(struct smc_local *local)
{
	local->nr_ueids = 1;
	local->ueids[0] = eid("COMMON");
	local->seid = eid("SYSTEM");
	local->nr_ports = 2;
	local->ports[0].variants = SMC_VARIANT_R1;
	local->ports[0].gid = server_v1;
	local->ports[0].reaches = SMC_VARIANTS_R;
	local->ports[1].variants = SMC_VARIANT_R2;
	local->ports[1].gid = server_v2;
	local->ports[1].reaches = SMC_VARIANTS_R;
	local->same_subnet = true;
	local->ipv4 = true;
	local->max_conns = SMC_MAX_CONNS_MAX;
	local->max_links = SMC_MAX_LINKS_MAX;
}

static void setup_answers(struct fixture *f)
{
	struct smc_clc_accept *accept = &f->accept, *confirm = &f->confirm;

	accept->variant = SMC_VARIANT_R2;
	accept->is_first_contact = true;
	accept->rdma.gid = server_v2;
	memcpy(accept->rdma.mac, server_mac, sizeof(server_mac));
	accept->rdma.qpn = 0x11;
	accept->rdma.mtu = 3;
	accept->rdma.rmbe_index = 1;
	accept->rdma.rmbe_size = 2;
	accept->eid = eid("COMMON");
	accept->first_contact.release = SMC_RELEASE_1;
	accept->first_contact.direct = true;
	accept->first_contact.max_conns = 100;
	accept->first_contact.max_links = 1;
	accept->first_contact.features = SMC_FEATURE_EMULATED_ISM;

	*confirm = *accept;
	confirm->rdma.gid = client_v2;
	memcpy(confirm->rdma.mac, client_mac, sizeof(client_mac));
	confirm->first_contact.nr_gids = 1;
	confirm->first_contact.gids[0] = client_v2;

	f->choice.variant = SMC_VARIANT_R2;
	f->choice.peer_gid = client_v2;
	memcpy(f->choice.peer_mac, client_mac, sizeof(client_mac));
	f->choice.features = SMC_FEATURE_EMULATED_ISM;
}

static void setup(struct fixture *f)
{
	setup_local(&f->local);
	setup_proposal(&f->proposal);
	setup_answers(f);
}

/* The same for version 1: no EID, no extension, and no flag in the Confirm */
static void reset_v1(struct kunit *test)
{
	struct fixture *f = test->priv;

	reset(test);
	f->accept.variant = SMC_VARIANT_R1;
	f->accept.rdma.gid = server_v1;
	memset(&f->accept.eid, 0, sizeof(f->accept.eid));
	memset(&f->accept.first_contact, 0, sizeof(f->accept.first_contact));
	f->confirm = f->accept;
	f->confirm.is_first_contact = false;
	f->confirm.rdma.gid = client_v1;
	memcpy(f->confirm.rdma.mac, client_mac, sizeof(client_mac));
	f->choice.variant = SMC_VARIANT_R1;
	f->choice.peer_gid = client_v1;
}

static void expect_choice(struct kunit *test, u8 variant, u8 device, const struct smc_gid *peer)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, f->choice.variant, variant);
	KUNIT_EXPECT_EQ(test, f->choice.device, device);
	KUNIT_EXPECT_MEMEQ(test, f->choice.peer_gid.bytes, peer->bytes, sizeof(peer->bytes));
	KUNIT_EXPECT_MEMEQ(test, f->choice.peer_mac, client_mac, sizeof(client_mac));
	KUNIT_EXPECT_EQ(test, smc_eid_is_none(&f->choice.eid), variant == SMC_VARIANT_R1);
}

/* V2-SEL-01, V2-SEL-02: version 2 is preferred; R2 and R1 come after SMC-D */
static void preferred(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct smc_eid common = eid("COMMON");

	expect_choice(test, SMC_VARIANT_R2, 1, &client_v2);
	KUNIT_EXPECT_MEMEQ(test, f->choice.eid.text, common.text, SMC_EID_LEN);
	KUNIT_EXPECT_EQ(test, f->choice.features, SMC_FEATURE_EMULATED_ISM);
	KUNIT_EXPECT_FALSE(test, f->choice.d_reason_saved);
	f->proposal.offers = SMC_VARIANT_R1;
	expect_choice(test, SMC_VARIANT_R1, 0, &client_v1);

	/* V2-SEL-06: SMC-D was offered, but not selected */
	f->proposal.offers = VARIANTS_ALL;
	expect_choice(test, SMC_VARIANT_R2, 1, &client_v2);
	KUNIT_EXPECT_TRUE(test, f->choice.d_reason_saved);
	f->proposal.offers = SMC_VARIANTS_R | SMC_VARIANT_D2;
	expect_choice(test, SMC_VARIANT_R2, 1, &client_v2);
	KUNIT_EXPECT_TRUE(test, f->choice.d_reason_saved);
	f->proposal.offers = SMC_VARIANTS_R | SMC_VARIANT_D1;
	expect_choice(test, SMC_VARIANT_R2, 1, &client_v2);
	KUNIT_EXPECT_TRUE(test, f->choice.d_reason_saved);

	/* Version 1 has no flag for that */
	f->proposal.offers = SMC_VARIANT_R1 | SMC_VARIANT_D2;
	expect_choice(test, SMC_VARIANT_R1, 0, &client_v1);
	KUNIT_EXPECT_FALSE(test, f->choice.d_reason_saved);

	f->proposal.offers = VARIANTS_ALL;
	f->proposal.v2.nr_ism = 1;
	f->proposal.v2.ism[0].chid = 0x123;
	f->local.nr_ism = 1;
	f->local.ism[0].chid = 0x123;
	f->local.reach[0] = 1;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, f->choice.variant, SMC_VARIANT_D2);

	/* There is a device for SMC-D, but no common EID */
	f->local.nr_ueids = 0;
	f->local.seid = eid("OTHER");
	expect_choice(test, SMC_VARIANT_R1, 0, &client_v1);
}

/* V2-ISM-10, S-20: the device in the base comes first, and is never an emulated one */
static void base_device(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->proposal.offers = SMC_VARIANT_D2;
	f->proposal.ism = (struct smc_ism_gid){ 0xc1, 0, 0x123 };
	f->proposal.v2.nr_ism = 1;
	f->proposal.v2.ism[0] = (struct smc_ism_gid){ 0xc2, 0, 0x124 };
	f->local.nr_ism = 2;
	f->local.ism[0] = (struct smc_ism_gid){ 0xa2, 0, 0x124 };
	f->local.reach[0] = 1;
	f->local.ism[1] = (struct smc_ism_gid){ 0xa1, 0, 0x123 };
	f->local.reach[1] = SMC_REACH_BASE;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, f->choice.device, 1);
	KUNIT_EXPECT_EQ(test, f->choice.peer.gid, 0xc1);

	f->local.reach[1] = 0;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, f->choice.device, 0);
	/* Without a GID the base has none */
	f->local.reach[1] = SMC_REACH_BASE;
	f->proposal.ism.gid = 0;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, f->choice.device, 0);
}

static void r2_no_port(struct fixture *f)
{
	f->local.nr_ports = 1;
}

static void r2_no_gid(struct fixture *f)
{
	memset(&f->proposal.v2.roce_gid, 0, sizeof(f->proposal.v2.roce_gid));
}

static void r2_no_eid(struct fixture *f)
{
	f->proposal.v2.nr_ueids = 1;
}

static void r2_client_ipv6(struct fixture *f)
{
	f->proposal.v2.roce_gid = client_ipv6;
}

static void r2_tcp_ipv6(struct fixture *f)
{
	f->local.ipv4 = false;
}

static void r2_unreached(struct fixture *f)
{
	f->local.ports[1].reaches = 0;
}

static void r1_no_port(struct fixture *f)
{
	f->local.ports[0].variants = SMC_VARIANT_R2;
}

static void r1_no_gid(struct fixture *f)
{
	memset(&f->proposal.gid, 0, sizeof(f->proposal.gid));
}

static void r1_subnet(struct fixture *f)
{
	f->local.same_subnet = false;
}

static void r1_unreached(struct fixture *f)
{
	f->local.ports[0].reaches = 0;
}

/* Each case violates one condition: V2-ELG-01, V2-ELG-05, V2-ELG-13 */
static const struct unmet_row {
	const char *name;
	u8 variant;
	void (*spoil)(struct fixture *f);
	u32 reason;
} unmet_rows[] = {
	{ "no port", SMC_VARIANT_R2, r2_no_port, SMC_REASON_NO_RDMA_DEVICE },
	{ "no client port", SMC_VARIANT_R2, r2_no_gid, SMC_REASON_NO_RDMA_DEVICE },
	{ "system EID only", SMC_VARIANT_R2, r2_no_eid, SMC_REASON_NO_UEID },	/* V2-EID-09 */
	{ "IPv6 over IPv4", SMC_VARIANT_R2, r2_client_ipv6, SMC_REASON_ADDRESS_FAMILY },
	{ "IPv4 over IPv6", SMC_VARIANT_R2, r2_tcp_ipv6, SMC_REASON_ADDRESS_FAMILY },
	{ "no route", SMC_VARIANT_R2, r2_unreached, SMC_REASON_NO_ROUTE },	/* V2-RTE-04 */
	{ "no port", SMC_VARIANT_R1, r1_no_port, SMC_REASON_NO_RDMA_DEVICE },
	{ "no client port", SMC_VARIANT_R1, r1_no_gid, SMC_REASON_NO_RDMA_DEVICE },
	{ "subnets differ", SMC_VARIANT_R1, r1_subnet, SMC_REASON_PREFIX },	/* R-FC-02 */
	{ "unreached", SMC_VARIANT_R1, r1_unreached, SMC_REASON_NO_ROUTE },
};

static void one_unmet(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unmet_rows); i++) {
		const struct unmet_row *row = &unmet_rows[i];

		reset(test);
		row->spoil(f);
		f->proposal.offers = row->variant;
		KUNIT_EXPECT_EQ_MSG(test, choose(test), row->reason, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, f->choice.variant, 0, "%s", row->name);
		KUNIT_EXPECT_EQ_MSG(test, f->choice.reason_r2,
				    row->variant == SMC_VARIANT_R2 ? row->reason : 0, "%s",
				    row->name);
		KUNIT_EXPECT_EQ_MSG(test, f->choice.reason_r1,
				    row->variant == SMC_VARIANT_R1 ? row->reason : 0, "%s",
				    row->name);
		/* The other version is not affected: it has its own ports and route */
		f->proposal.offers = SMC_VARIANTS_R;
		f->local.ports[0].variants = SMC_VARIANTS_R & ~row->variant;
		f->local.ports[0].reaches = SMC_VARIANTS_R;
		KUNIT_EXPECT_EQ_MSG(test, choose(test), SMC_REASON_NONE, "%s", row->name);
		/* Nothing of the variant that was tried before is left */
		KUNIT_EXPECT_EQ_MSG(test, smc_eid_is_none(&f->choice.eid),
				    f->choice.variant == SMC_VARIANT_R1, "%s", row->name);
	}
}

/* The first port that supports the version and reaches the client */
static void port_order(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->local.ports[0].variants = SMC_VARIANTS_R;
	expect_choice(test, SMC_VARIANT_R2, 0, &client_v2);
	f->local.ports[0].reaches = 0;
	expect_choice(test, SMC_VARIANT_R2, 1, &client_v2);
}

/* A port for both versions: the client has a GID for each, and the port may reach only one */
static void reach_of_each_version(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct smc_local_port *port = &f->local.ports[0];

	f->local.nr_ports = 1;
	port->variants = SMC_VARIANTS_R;
	port->reaches = SMC_VARIANT_R1;
	expect_choice(test, SMC_VARIANT_R1, 0, &client_v1);
	KUNIT_EXPECT_EQ(test, f->choice.reason_r2, SMC_REASON_NO_ROUTE);

	port->reaches = SMC_VARIANT_R2;
	expect_choice(test, SMC_VARIANT_R2, 0, &client_v2);
	f->local.nr_ueids = 0;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NO_ROUTE);
	KUNIT_EXPECT_EQ(test, f->choice.variant, 0);
	KUNIT_EXPECT_EQ(test, f->choice.reason_r2, SMC_REASON_NO_UEID);
}

/* V2-FEA-01 to V2-FEA-04, S-08; not in release 0 (V2-VER-06) */
static void limits(struct kunit *test)
{
	static const struct {
		u8 wish, ours, agreed;
	} conns[] = {
		{ 255, 255, 255 }, { 16, 255, 16 }, { 15, 255, 16 }, { 0, 255, 16 },
		{ 255, 32, 32 }, { 20, 32, 20 }, { 0, 16, 16 },
	}, links[] = {
		{ 2, 2, 2 }, { 1, 2, 1 }, { 2, 1, 1 }, { 0, 2, 1 }, { 3, 2, 2 }, { 255, 1, 1 },
	};
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(conns); i++) {
		f->proposal.v2.max_conns = conns[i].wish;
		f->local.max_conns = conns[i].ours;
		KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
		KUNIT_EXPECT_EQ(test, f->choice.max_conns, conns[i].agreed);
	}
	for (i = 0; i < ARRAY_SIZE(links); i++) {
		f->proposal.v2.max_links = links[i].wish;
		f->local.max_links = links[i].ours;
		KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
		KUNIT_EXPECT_EQ(test, f->choice.max_links, links[i].agreed);
	}
	f->proposal.v2.release = SMC_RELEASE_0;
	KUNIT_EXPECT_EQ(test, choose(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, f->choice.max_conns | f->choice.max_links, 0);
}

static u32 check_accept(struct kunit *test)
{
	struct fixture *f = test->priv;
	u8 device = 0xee;
	u32 reason = smc_select_check_accept(&f->proposal, &f->accept, &device);

	KUNIT_EXPECT_EQ(test, device, 0xee);
	return reason;
}

static u32 check_confirm(struct kunit *test)
{
	struct fixture *f = test->priv;

	return smc_select_check_confirm(&f->choice, &f->accept, &f->confirm);
}

/* One byte is wrong; @flip: the bits that change */
#define SPOIL(name, member, flip, reason) \
	{ name, offsetof(struct fixture, member), flip, reason }

static const struct spoil_row {
	const char *name;
	size_t offset;
	u8 flip;
	u32 reason;
} accept_rows[] = {
	SPOIL("not offered", proposal.offers, SMC_VARIANT_R2, SMC_REASON_MODE),
	SPOIL("release", accept.first_contact.release, 3, SMC_REASON_RELEASE),
	SPOIL("EID", accept.eid.text[0], 1, SMC_REASON_NOT_OFFERED),
	SPOIL("IP version", accept.rdma.gid.bytes[0], 0x20, SMC_REASON_ADDRESS_FAMILY),
	SPOIL("queue pair 1", accept.rdma.qpn, 0x10, SMC_REASON_MALFORMED),
	SPOIL("size", accept.rdma.rmbe_size, 4, SMC_REASON_RESERVED_VALUE),
	SPOIL("MTU 0", accept.rdma.mtu, 3, SMC_REASON_RESERVED_VALUE),
	SPOIL("MTU 7", accept.rdma.mtu, 4, SMC_REASON_RESERVED_VALUE),
	SPOIL("15 connections", accept.first_contact.max_conns, 100 ^ 15, SMC_REASON_MAX_CONNS),
	SPOIL("0 connections", accept.first_contact.max_conns, 100, SMC_REASON_MAX_CONNS),
	SPOIL("3 links", accept.first_contact.max_links, 2, SMC_REASON_MAX_LINKS),
	SPOIL("0 links", accept.first_contact.max_links, 1, SMC_REASON_MAX_LINKS),
}, confirm_rows[] = {
	SPOIL("variant", confirm.variant, 0x05, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("EID", confirm.eid.text[31], 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("first contact", confirm.is_first_contact, 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("release", confirm.first_contact.release, 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("features", confirm.first_contact.features, 2, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("vendor", confirm.first_contact.vendor[0], 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("connections", confirm.first_contact.max_conns, 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("links", confirm.first_contact.max_links, 3, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("GID", confirm.rdma.gid.bytes[15], 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("GID list", confirm.first_contact.gids[0].bytes[15], 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("MAC", confirm.rdma.mac[5], 1, SMC_REASON_CONFIRM_DIFFERS),
	SPOIL("queue pair 1", confirm.rdma.qpn, 0x10, SMC_REASON_MALFORMED),
	SPOIL("size", confirm.rdma.rmbe_size, 4, SMC_REASON_RESERVED_VALUE),
	SPOIL("MTU", confirm.rdma.mtu, 3, SMC_REASON_RESERVED_VALUE),
};

static void accept_spoilt(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(accept_rows); i++) {
		const struct spoil_row *row = &accept_rows[i];

		reset(test);
		KUNIT_ASSERT_EQ(test, check_accept(test), SMC_REASON_NONE);
		((u8 *)f)[row->offset] ^= row->flip;
		KUNIT_EXPECT_EQ_MSG(test, check_accept(test), row->reason, "%s", row->name);
	}
	/* V2-EID-09: the system EID is for SMC-D */
	reset(test);
	f->accept.eid = eid("SYSTEM");
	KUNIT_EXPECT_EQ(test, check_accept(test), SMC_REASON_NOT_OFFERED);
	reset(test);
	memset(&f->accept.rdma.gid, 0, sizeof(f->accept.rdma.gid));
	KUNIT_EXPECT_EQ(test, check_accept(test), SMC_REASON_MALFORMED);
}

static void confirm_spoilt(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(confirm_rows); i++) {
		const struct spoil_row *row = &confirm_rows[i];

		reset(test);
		KUNIT_ASSERT_EQ(test, check_confirm(test), SMC_REASON_NONE);
		((u8 *)f)[row->offset] ^= row->flip;
		KUNIT_EXPECT_EQ_MSG(test, check_confirm(test), row->reason, "%s", row->name);
	}
}

/* A client that proposed no MAC address, and an indirect link (V2-RTE-09, V2-RTE-10) */
static void confirm_mac(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->confirm.rdma.mac[5] ^= 1;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_CONFIRM_DIFFERS);
	f->accept.first_contact.direct = false;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
	f->accept.first_contact.direct = true;
	memset(f->choice.peer_mac, 0, sizeof(f->choice.peer_mac));
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
}

/* R-SC-14, R-SC-20: a later contact uses any link of the group, without first contact values */
static void later_contact(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->accept.is_first_contact = false;
	f->confirm.is_first_contact = false;
	memset(&f->accept.first_contact, 0, sizeof(f->accept.first_contact));
	memset(&f->confirm.first_contact, 0, sizeof(f->confirm.first_contact));
	f->accept.rdma.mtu = 0;
	f->confirm.rdma.mtu = 15;
	f->confirm.rdma.gid.bytes[15] = 9;
	f->confirm.rdma.mac[5] = 9;
	KUNIT_EXPECT_EQ(test, check_accept(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
	f->confirm.rdma.rmbe_size = 6;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_RESERVED_VALUE);
}

/* V2-VER-06, S-07: release 0 has no limits */
static void release_0(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->accept.first_contact.release = SMC_RELEASE_0;
	f->accept.first_contact.max_conns = 0;
	f->accept.first_contact.max_links = 0;
	f->confirm.first_contact.release = SMC_RELEASE_0;
	KUNIT_EXPECT_EQ(test, check_accept(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
}

/* R-CLC-24: a Confirm of version 1 has no first contact flag */
static void version_1(struct kunit *test)
{
	struct fixture *f = test->priv;

	reset_v1(test);
	KUNIT_EXPECT_EQ(test, check_accept(test), SMC_REASON_NONE);
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
	f->accept.rdma.mtu = 6;
	KUNIT_EXPECT_EQ(test, check_accept(test), SMC_REASON_RESERVED_VALUE);
	f->proposal.offers = SMC_VARIANT_R2;
	KUNIT_EXPECT_EQ(test, check_accept(test), SMC_REASON_MODE);

	reset_v1(test);
	f->confirm.rdma.mac[0] ^= 1;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_CONFIRM_DIFFERS);
	reset_v1(test);
	f->confirm.rdma.gid.bytes[0] ^= 1;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_CONFIRM_DIFFERS);
	f->accept.is_first_contact = false;
	KUNIT_EXPECT_EQ(test, check_confirm(test), SMC_REASON_NONE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(preferred),
	KUNIT_CASE(base_device),
	KUNIT_CASE(one_unmet),
	KUNIT_CASE(port_order),
	KUNIT_CASE(reach_of_each_version),
	KUNIT_CASE(limits),
	KUNIT_CASE(accept_spoilt),
	KUNIT_CASE(confirm_spoilt),
	KUNIT_CASE(confirm_mac),
	KUNIT_CASE(later_contact),
	KUNIT_CASE(release_0),
	KUNIT_CASE(version_1),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_select_rdma",
	.init = init,
	.test_cases = cases,
};

kunit_test_suite(suite);
