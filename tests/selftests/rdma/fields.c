// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC at first contact, with one field wrong. Each row is a connection of its own, and says what
 * must become of it: a Decline with this reason, after which TCP carries what is sent and nothing
 * else; the end of the connection; or an SMC-R connection all the same.
 */

#include <stdlib.h>

#include "hostile.h"

#define PATIENT		.seconds = 40

/* Of the Proposal; the others are in clc/msg.h and hostile.h */
#define AT_P_GID1	24		/* second half of the GID of version 1 */
#define AT_P_MAC	32
#define AT_P_SUBNET	40
#define AT_P_MASK	44
#define AT_P_PREFIXES	47
#define AT_P_OUI	52
#define AT_P_GID2	(AT_V2 + 8)
#define AT_P_CONNS	(AT_V2 + 24)
#define AT_P_LINKS	(AT_V2 + 25)

#define MAPPED(ipv4)	(0xffff00000000 | (ipv4))	/* second half of its GID */
#define MULTICAST	MAPPED(0xe0000001)
#define LOOPBACK	MAPPED(0x7f000001)
#define BROADCAST	MAPPED(0xffffffff)
#define OF_SUBNET	MAPPED(0x0a0900ff)	/* broadcast address of the wire */
#define ELSEWHERE	MAPPED(0xc6336407)	/* there is no route */
#define OTHER_WAY	MAPPED(0x0a090007)	/* not from the port that is used */
#define IPV6		0xfd09000000000000	/* first half of a GID */

static struct hostile h;
static struct msg reply;
static const struct row *now;

static void spoil_proposal(struct msg *msg)
{
	if (get(msg, AT_TYPE, 1) == PROPOSAL)
		row_change(msg, now);
}

/* Accept or Confirm */
static void spoil_end(struct msg *msg)
{
	if (get(msg, AT_TYPE, 1) != PROPOSAL)
		row_change(msg, now);
}

/* --- Proposal --- */

static const struct row proposals_v2[] = {
	{ "no GID", DECLINES(NO_RDMA_DEVICE), AT_P_GID2 + 8, 8, 0 },
	{ "GID of IPv6", DECLINES(ADDRESS_FAMILY), AT_P_GID2, 8, IPV6 },
	{ "multicast GID", DECLINES(NO_ROUTE), AT_P_GID2 + 8, 8, MULTICAST },
	{ "loopback GID", DECLINES(NO_ROUTE), AT_P_GID2 + 8, 8, LOOPBACK },
	{ "broadcast GID", DECLINES(NO_ROUTE), AT_P_GID2 + 8, 8, BROADCAST },
	{ "broadcast GID of the subnet", DECLINES(NO_ROUTE), AT_P_GID2 + 8, 8, OF_SUBNET },
	{ "GID without route", DECLINES(NO_ROUTE), AT_P_GID2 + 8, 8, ELSEWHERE },
	{ "unknown EID", DECLINES(NO_UEID), AT_UEIDS, 1, '9' },
	{ "no EID", DECLINES(NO_UEID), AT_EID_COUNT, 1, 0 },
	{ "an EID that is not there", DECLINES(MALFORMED), AT_EID_COUNT, 1, 2 },
	{ "9 EIDs", DECLINES(MALFORMED), AT_EID_COUNT, 1, 9 },
	{ "255 EIDs", DECLINES(MALFORMED), AT_EID_COUNT, 1, 255 },
	{ "no extension", DECLINES(NO_DEVICE), AT_V2_OFFSET, 2, 0 },
	{ "extension within the base", DECLINES(MALFORMED), AT_V2_OFFSET, 2, 1 },
	{ "extension far behind", DECLINES(MALFORMED), AT_V2_OFFSET, 2, 0xffff },
	{ "no type at all", DECLINES(NO_DEVICE), AT_FLAGS, 1, 0x2a },
	{ "version 1 without subnet", DECLINES(NO_RDMA_DEVICE), AT_FLAGS, 1, 0x20 },
	{ "SMC-D only", DECLINES(NO_ISM_DEVICE), AT_FLAGS, 1, 0x26 },
	{ "version 3", ACCEPTS(AT_FLAGS, 1, 0x28), AT_FLAGS, 1, 0x32 },
	{ "release 15", ACCEPTS(AT_R_RELEASE, 1, 0x21), AT_RELEASE, 1, 0xf0 },
	{ "release 0", ACCEPTS(AT_R_RELEASE, 1, 0x20), AT_RELEASE, 1, 0 },
	{ "release 0", ACCEPTS(AT_R_MAX_CONNS, 8, 0), AT_RELEASE, 1, 0 },
	{ "no connections", ACCEPTS(AT_R_MAX_CONNS, 1, 16), AT_P_CONNS, 1, 0 },
	{ "15 connections", ACCEPTS(AT_R_MAX_CONNS, 1, 16), AT_P_CONNS, 1, 15 },
	{ "no links", ACCEPTS(AT_R_MAX_LINKS, 1, 1), AT_P_LINKS, 1, 0 },
	{ "3 links", ACCEPTS(AT_R_MAX_LINKS, 1, 2), AT_P_LINKS, 1, 3 },
	{ "all features", ACCEPTS(AT_R_FEATURES, 2, 1), AT_FEATURES, 2, 0xffff },
	{ "vendor options", ACCEPTS(AT_R_VENDOR, 4, 0), AT_P_OUI, 8, 0x1234567890abcdef },
	{ "no peer id", ACCEPTS(AT_FLAGS, 1, 0x28), AT_PEER_ID, 8, 0 },
	{ "no MAC address", ACCEPTS(AT_FLAGS, 1, 0x28), AT_P_MAC, 6, 0 },
	{ "MAC address of a group", ACCEPTS(AT_FLAGS, 1, 0x28), AT_P_MAC, 1, 0x01 },
	{ "eye catcher of SMC-D", ENDS, 3, 1, 0xc4 },
	{ "wrong trailer", ENDS, 155, 1, 0xd8 },
	{ "version 0", ENDS, AT_FLAGS, 1, 0x02 },
	{ "shorter than any", ENDS, .length = 51 },
	{ "ends in the extension", DECLINES(MALFORMED), .length = 100 },
	{ "ends in the EID", DECLINES(MALFORMED), .length = 155 },
	{ "longer than it need be", ACCEPTS(AT_FLAGS, 1, 0x28), .length = 652 },
	{}
};

static const struct row proposals_v1[] = {
	{ "no GID", DECLINES(NO_RDMA_DEVICE), AT_P_GID1, 8, 0 },
	{ "multicast GID", DECLINES(NO_ROUTE), AT_P_GID1, 8, MULTICAST },
	{ "loopback GID", DECLINES(NO_ROUTE), AT_P_GID1, 8, LOOPBACK },
	{ "broadcast GID of the subnet", DECLINES(NO_ROUTE), AT_P_GID1, 8, OF_SUBNET },
	{ "GID of IPv6", DECLINES(NO_ROUTE), AT_P_GID1 - 8, 8, IPV6 },
	{ "another subnet", DECLINES(PREFIX), AT_P_SUBNET, 4, 0x0a080000 },
	{ "shorter mask", DECLINES(PREFIX), AT_P_MASK, 1, 23 },
	{ "longer mask", DECLINES(PREFIX), AT_P_MASK, 1, 25 },
	{ "mask of 33 bits", DECLINES(MALFORMED), AT_P_MASK, 1, 33 },
	{ "a prefix that is not there", DECLINES(MALFORMED), AT_P_PREFIXES, 1, 1 },
	{ "9 prefixes", DECLINES(MALFORMED), AT_P_PREFIXES, 1, 9 },
	{ "subnet off by one", DECLINES(MALFORMED), AT_SUBNET_OFFSET, 2, 1 },
	{ "subnet far behind", DECLINES(MALFORMED), AT_SUBNET_OFFSET, 2, 0xffff },
	{ "all reserved bits", ACCEPTS(AT_FLAGS, 1, 0x18), AT_FLAGS, 1, 0x1f },
	{ "no MAC address", ACCEPTS(AT_FLAGS, 1, 0x18), AT_P_MAC, 6, 0 },
	{ "version 0", ENDS, AT_FLAGS, 1, 0 },
	{ "wrong trailer", ENDS, 51, 1, 0xd8 },
	{ "a byte too short", ENDS, .length = 51 },
	{ "longer than it need be", ACCEPTS(AT_FLAGS, 1, 0x18), .length = 100 },
	{}
};

static void must_accept(const struct expected *expected)
{
	attacker_expect(h.tcp, &reply, ACCEPTED);
	EQ(get(&reply, expected->at, expected->bytes), expected->value);
}

TEST(proposal_fields, .applies = as_client)
{
	for (now = with_v1(chosen) ? proposals_v1 : proposals_v2; now->what; now++) {
		row_begin(now);
		hostile_init(&h);
		h.spoil = spoil_proposal;
		hostile_propose(&h);
		if (now->expected.outcome == ACCEPT_COMES)
			must_accept(&now->expected);
		else
			expect_outcome(&h, &now->expected);
		hostile_close(&h);
	}
}

/* What the Accept says of the port is what the port has now */
static int mtu_after(const char *command)
{
	int code;

	EQ(system(command), 0);
	hostile_init(&h);
	hostile_propose(&h);
	attacker_expect(h.tcp, &reply, ACCEPTED);
	code = get(&reply, AT_R_SIZES, 1) & 0x0f;
	hostile_close(&h);
	return code;
}

TEST(mtu_of_port, .alone = true, .applies = as_client)
{
	EQ(mtu_after("ip link set smc1 mtu 9000"), 5);
	EQ(mtu_after("ip link set smc1 mtu 1500"), 3);
}

/* --- Accept and Confirm: what both have --- */

static const struct row ends[] = {
	{ "queue pair 0", DECLINES(MALFORMED), AT_R_QPN, 3, 0 },
	{ "queue pair 1", DECLINES(MALFORMED), AT_R_QPN, 3, 1 },
	{ "element 0", DECLINES(MALFORMED), AT_R_INDEX, 1, 0 },
	{ "element at the end of memory", DECLINES(MALFORMED), AT_R_ADDR, 8, ~0ULL },
	{ "size code 6", DECLINES(RESERVED_VALUE), AT_R_SIZES, 1, 0x63 },
	{ "size code 15", DECLINES(RESERVED_VALUE), AT_R_SIZES, 1, 0xf3 },
	{ "MTU code 0", DECLINES(RESERVED_VALUE), AT_R_SIZES, 1, 0x20 },
	{ "MTU code 6", DECLINES(RESERVED_VALUE), AT_R_SIZES, 1, 0x26 },
	{ "MTU code 15", DECLINES(RESERVED_VALUE), AT_R_SIZES, 1, 0x2f },
	{ "MTU of 256", WORKS, AT_R_SIZES, 1, 0x21 },
	{ "MTU of 4096", WORKS, AT_R_SIZES, 1, 0x25 },
	{ "reserved byte", WORKS, 51, 1, 0xff },
	{ "another reserved byte", WORKS, 60, 1, 0xff },
	{ "wrong eye catcher", ENDS, 3, 1, 0xd8 },
	{ "unknown type", ENDS, AT_TYPE, 1, 9 },
	{ "version 0", ENDS, AT_FLAGS, 1, 0x08 },
	{ "version 3", ENDS, AT_FLAGS, 1, 0x38 },
	{}
};

static const struct row accepts_v1[] = {
	{ "no GID", DECLINES(MALFORMED), AT_R_GID + 8, 8, 0 },
	{ "multicast GID", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, MULTICAST },
	{ "broadcast GID of the subnet", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, OF_SUBNET },
	{ "GID by another port", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, OTHER_WAY },
	{ "GID of IPv6", DECLINES(NO_ROUTE), AT_R_GID, 8, IPV6 },
	{ "later contact without group", DECLINES(OUT_OF_SYNC), AT_FLAGS, 1, 0x10 },
	{ "reserved bits", WORKS, AT_FLAGS, 1, 0x1f },
	{ "version of another length", ENDS, AT_FLAGS, 1, 0x28 },
	{ "Confirm", ENDS, AT_TYPE, 1, CONFIRM },
	{ "wrong trailer", ENDS, 67, 1, 0xd8 },
	{ "a byte too short", ENDS, .length = 67 },
	{ "a byte too long", ENDS, .length = 69 },
	{}
};

static const struct row accepts_v2[] = {
	{ "no GID", DECLINES(MALFORMED), AT_R_GID + 8, 8, 0 },
	{ "multicast GID", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, MULTICAST },
	{ "loopback GID", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, LOOPBACK },
	{ "broadcast GID of the subnet", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, OF_SUBNET },
	{ "GID by another port", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, OTHER_WAY },
	{ "GID without route", DECLINES(NO_ROUTE), AT_R_GID + 8, 8, ELSEWHERE },
	{ "GID of IPv6", DECLINES(ADDRESS_FAMILY), AT_R_GID, 8, IPV6 },
	{ "EID never offered", DECLINES(NOT_OFFERED), AT_R_EID, 1, '9' },
	{ "blank EID", DECLINES(NOT_OFFERED), AT_R_EID, 8, 0x2020202020202020 },
	{ "later contact without group", DECLINES(OUT_OF_SYNC), AT_FLAGS, 1, 0x20 },
	{ "the same, short", DECLINES(OUT_OF_SYNC), AT_FLAGS, 1, 0x20, .length = 108 },
	{ "first contact without extension", DECLINES(MALFORMED), .length = 108 },
	{ "release 2", DECLINES(RELEASE), AT_R_RELEASE, 1, 0x22 },
	{ "release 15", DECLINES(RELEASE), AT_R_RELEASE, 1, 0x2f },
	{ "release 0", WORKS, AT_R_RELEASE, 1, 0x20 },
	{ "no connections", DECLINES(MAX_CONNS), AT_R_MAX_CONNS, 1, 0 },
	{ "15 connections", DECLINES(MAX_CONNS), AT_R_MAX_CONNS, 1, 15 },
	{ "16 connections", WORKS, AT_R_MAX_CONNS, 1, 16 },
	{ "no links", DECLINES(MAX_LINKS), AT_R_MAX_LINKS, 1, 0 },
	{ "3 links", DECLINES(MAX_LINKS), AT_R_MAX_LINKS, 1, 3 },
	{ "255 links", DECLINES(MAX_LINKS), AT_R_MAX_LINKS, 1, 255 },
	{ "all features", WORKS, AT_R_FEATURES, 2, 0xffff },
	{ "vendor options", WORKS, AT_R_VENDOR, 4, 0x12345678 },
	{ "hostname of control characters", WORKS, AT_R_HOSTNAME, 8, 0x1b5b324a07080a0d },
	{ "reserved bits", WORKS, AT_FLAGS, 1, 0x2e },
	{ "version of another length", ENDS, AT_FLAGS, 1, 0x18 },
	{ "Confirm", ENDS, AT_TYPE, 1, CONFIRM },
	{ "wrong trailer", ENDS, 159, 1, 0xd8 },
	{ "a byte too short", ENDS, .length = 107 },
	{ "part of the extension", DECLINES(MALFORMED), .length = 109 },
	{ "extension of release 0", DECLINES(MALFORMED), .length = 144 },
	{ "a byte missing", DECLINES(MALFORMED), .length = 159 },
	{ "a byte too long", ENDS, .length = 161 },
	{}
};

static const struct row confirms_v1[] = {
	{ "no GID", DECLINES(CONFIRM_DIFFERS), AT_R_GID + 8, 8, 0 },
	{ "another GID", DECLINES(CONFIRM_DIFFERS), AT_R_GID + 8, 8, OTHER_WAY },
	{ "another MAC address", DECLINES(CONFIRM_DIFFERS), AT_R_MAC, 6, 0x020000000001 },
	{ "reserved bits", WORKS, AT_FLAGS, 1, 0x1f },
	{ "version of another length", ENDS, AT_FLAGS, 1, 0x28 },
	{ "Proposal", ENDS, AT_TYPE, 1, PROPOSAL },
	{ "Accept", ENDS, AT_TYPE, 1, ACCEPT },
	{ "wrong trailer", ENDS, 67, 1, 0xd8 },
	{ "a byte too short", ENDS, .length = 67 },
	{ "a byte too long", ENDS, .length = 69 },
	{}
};

static const struct row confirms_v2[] = {
	{ "no GID", DECLINES(CONFIRM_DIFFERS), AT_R_GID + 8, 8, 0 },
	{ "another GID", DECLINES(CONFIRM_DIFFERS), AT_R_GID + 8, 8, OTHER_WAY },
	{ "another MAC address", DECLINES(CONFIRM_DIFFERS), AT_R_MAC, 6, 0x020000000001 },
	{ "another EID", DECLINES(CONFIRM_DIFFERS), AT_R_EID, 1, '9' },
	{ "no first contact", DECLINES(CONFIRM_DIFFERS), AT_FLAGS, 1, 0x20 },
	{ "the same, short", DECLINES(CONFIRM_DIFFERS), AT_FLAGS, 1, 0x20, .length = 108 },
	{ "first contact without extension", DECLINES(MALFORMED), .length = 108 },
	{ "release 0", DECLINES(MALFORMED), AT_R_RELEASE, 1, 0x20 },
	{ "release 2", DECLINES(CONFIRM_DIFFERS), AT_R_RELEASE, 1, 0x22 },
	{ "no connections", DECLINES(CONFIRM_DIFFERS), AT_R_MAX_CONNS, 1, 0 },
	{ "15 connections", DECLINES(CONFIRM_DIFFERS), AT_R_MAX_CONNS, 1, 15 },
	{ "no links", DECLINES(CONFIRM_DIFFERS), AT_R_MAX_LINKS, 1, 0 },
	{ "3 links", DECLINES(CONFIRM_DIFFERS), AT_R_MAX_LINKS, 1, 3 },
	{ "features never offered", DECLINES(CONFIRM_DIFFERS), AT_R_FEATURES, 2, 0xffff },
	{ "vendor options", DECLINES(CONFIRM_DIFFERS), AT_R_VENDOR, 4, 0x12345678 },
	{ "empty list of GIDs", DECLINES(MALFORMED), AT_R_GID_COUNT, 1, 0 },
	{ "9 GIDs", DECLINES(MALFORMED), AT_R_GID_COUNT, 1, 9 },
	{ "a GID that is not there", DECLINES(MALFORMED), AT_R_GID_COUNT, 1, 2 },
	{ "list of others", DECLINES(CONFIRM_DIFFERS), AT_R_GIDS + 8, 8, OTHER_WAY },
	{ "reserved bits", WORKS, AT_FLAGS, 1, 0x2f },
	{ "version of another length", ENDS, AT_FLAGS, 1, 0x18 },
	{ "Proposal", ENDS, AT_TYPE, 1, PROPOSAL },
	{ "Accept", ENDS, AT_TYPE, 1, ACCEPT },
	{ "wrong trailer", ENDS, 179, 1, 0xd8 },
	{ "a byte too short", ENDS, .length = 107 },
	{ "no list of GIDs", DECLINES(MALFORMED), .length = 160 },
	{ "a byte missing", DECLINES(MALFORMED), .length = 179 },
	{ "a byte more", DECLINES(MALFORMED), .length = 181 },
	{ "room for another GID", DECLINES(MALFORMED), .length = 196 },
	{ "longer than any", ENDS, .length = 293 },
	{}
};

/* What is sent of each row ends the exchange, or leads to a connection that carries data */
static void each(const struct row *rows)
{
	for (now = rows; now->what; now++) {
		row_begin(now);
		hostile_init(&h);
		h.max_links = 2;
		h.spoil = spoil_end;
		if (now->expected.outcome != CONNECTED) {
			hostile_propose(&h);
			hostile_answer(&h);
			expect_outcome(&h, &now->expected);
		} else {
			hostile_complete(&h);
			expect_alive(&h);
		}
		hostile_close(&h);
	}
}

TEST(end_fields)
{
	each(ends);
}

TEST(accept_fields, .applies = as_server)
{
	each(with_v1(chosen) ? accepts_v1 : accepts_v2);
}

TEST(confirm_fields, .applies = as_client)
{
	each(with_v1(chosen) ? confirms_v1 : confirms_v2);
}

/* The beginning of it only, and then the end of the stream */

static void truncated(void)
{
	static const size_t lengths[] = { 1, 7, 8, 40, 67 };
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		hostile_init(&h);
		h.cut = lengths[i];
		hostile_propose(&h);
		hostile_answer(&h);
		attacker_end(h.tcp);
		expect_no_connection(&h);
		hostile_close(&h);
	}
}

TEST(truncated_end)
{
	truncated();
}

/* --- what is right in itself, but not for us --- */

/* SMC-D of either version was not offered */
TEST(accept_of_smcd, .applies = as_server)
{
	static const struct expected expected = DECLINES(MODE);
	static struct device dev = { .chid = CHID_LOOPBACK };
	static struct msg msg;

	hostile_init(&h);
	hostile_propose(&h);
	accept_or_confirm(&msg, ACCEPT, &dev, 1, 1);
	attacker_send(h.tcp, &msg);
	h.version = 2;
	expect_outcome(&h, &expected);
	hostile_close(&h);
}

/* Elements are where they are said to be: here that is not the attacker's memory */
TEST(element_255)
{
	hostile_init(&h);
	h.index = 255;
	hostile_complete(&h);
	expect_link_works(&h);
	send_text(h.app, "to nowhere");
	expect_link_down(&h);
	hostile_close(&h);
}

/* CLC is done, and the attacker says in CONFIRM LINK what is true */
static void confirm_link_after(void (*spoil)(struct msg *msg))
{
	static struct msg msg;

	hostile_init(&h);
	h.spoil = spoil;
	hostile_clc(&h);
	llc_confirm_link(&h, &msg, h.server ? 0 : LLC_REPLY);
	link_send(&h, &msg);
}

/* Nothing that the queue pair sends is what the other side waits for */

static void spoil_packet_number(struct msg *msg)
{
	if (get(msg, AT_TYPE, 1) != PROPOSAL)
		put(msg, AT_R_PSN, 1, get(msg, AT_R_PSN, 1) ^ 0x40);
}

TEST(another_packet_number, PATIENT)
{
	confirm_link_after(spoil_packet_number);
	expect_no_connection(&h);
	hostile_close(&h);
}

/* CONFIRM LINK must say what the Accept said (R-FC-19) */
TEST(accept_of_another_link, .applies = as_server)
{
	static const struct row rows[] = {
		{ "MAC address", DECLINES(0), AT_R_MAC, 6, 0x020000000001 },
		{ "queue pair", DECLINES(0), AT_R_QPN, 3, 0x123456 },
		{}
	};

	for (now = rows; now->what; now++) {
		row_begin(now);
		confirm_link_after(spoil_end);
		expect_tcp(&h);
		hostile_close(&h);
	}
}
