// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two handshakes that exchange messages through memory: who gets an offer, and which message or end
 * an end sees, in all orders.
 */
#include <kunit/test.h>

#include "../../net/smc/object.h"
#include "clc_proposal_fixture.h"

/* The pairs of this suite do not count for the module */
#define smc_object_created(kind)	((void)(kind), live++)
#define smc_object_destroyed(kind)	((void)(kind), live--)
static int live;

#include "../../net/smc/handshake/pair.c"

static struct smc_conn ends[2];
static int told[2];
static const struct smc_pair_key key = { 0xfffffff0, 7 };

enum { LISTENER = 3, OTHER };

static void count_progress(struct smc_conn *conn)
{
	told[conn - ends]++;
}

static void never_release(struct smc_conn *conn)
{
	live += 1000;
}

static int setup(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		ends[i].progress = count_progress;
		ends[i].release = never_release;
		refcount_set(&ends[i].refs, 1);
		told[i] = 0;
	}
	live = 0;
	return 0;
}

/* Nothing is left, and each reference to an end was dropped */
static void expect_nothing_left(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, live, 0);
	KUNIT_EXPECT_TRUE(test, hash_empty(table));
	KUNIT_EXPECT_TRUE(test, list_empty(&offers));
	KUNIT_EXPECT_EQ(test, nr_offers, 0);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		KUNIT_EXPECT_EQ(test, refcount_read(&ends[i].refs), 1);
}

static void expect_told(struct kunit *test, int client, int server)
{
	KUNIT_EXPECT_EQ(test, told[SMC_CLIENT], client);
	KUNIT_EXPECT_EQ(test, told[SMC_SERVER], server);
}

static struct smc_pair *create(struct kunit *test)
{
	struct smc_pair *pair = smc_pair_create(&ends[SMC_CLIENT]);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	make(smc_pair_proposal(pair), ALL, 0, 1, true, 1);
	smc_pair_proposal(pair)->proposal.version = 2;
	return pair;
}

static void offer_to_listener(struct smc_pair *pair, const struct smc_pair_key *its_key)
{
	smc_pair_offer(pair, its_key);
	smc_pair_bind(pair, LISTENER);
}

static struct smc_pair *offer(struct kunit *test)
{
	struct smc_pair *pair = create(test);

	offer_to_listener(pair, &key);
	return pair;
}

static struct smc_pair *offer_and_claim(struct kunit *test)
{
	struct smc_pair *pair = offer(test);

	KUNIT_ASSERT_PTR_EQ(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER), pair);
	return pair;
}

static int send(struct smc_pair *pair, enum smc_role from, u8 type)
{
	struct smc_clc msg = { .type = type };

	if (type == SMC_CLC_DECLINE) {
		msg.decline.version = 2;
		msg.decline.diagnosis = 0x03030000;
	} else {
		msg.accept.variant = SMC_VARIANT_D2;
	}
	return smc_pair_send(pair, from, &msg);
}

/* The type of the next message, or a negative errno */
static int receive(struct smc_pair *pair, enum smc_role to)
{
	struct smc_clc msg;

	return smc_pair_receive(pair, to, &msg) ?: msg.type;
}

static void pair_exchange(struct kunit *test)
{
	struct smc_pair *pair = offer_and_claim(test);

	KUNIT_EXPECT_FALSE(test, smc_pair_withdraw(pair));
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_CLIENT), -EAGAIN);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_PROPOSAL);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), -EAGAIN);
	expect_told(test, 0, 0);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_SERVER, SMC_CLC_ACCEPT), 0);
	expect_told(test, 1, 0);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_CLIENT), SMC_CLC_ACCEPT);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_CLIENT, SMC_CLC_CONFIRM), 0);
	expect_told(test, 1, 1);
	/* The Confirm has told the server already, which then learns that the client has left */
	smc_pair_leave(pair, SMC_CLIENT);
	expect_told(test, 1, 1);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_CONFIRM);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), -ENODATA);
	smc_pair_leave(pair, SMC_SERVER);
	expect_told(test, 1, 1);
	expect_nothing_left(test);
}

/* A client whose server is probably on another host */
static void pair_never_offered(struct kunit *test)
{
	struct smc_pair *pair = create(test);

	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER));
	smc_pair_leave(pair, SMC_CLIENT);
	expect_told(test, 0, 0);
	expect_nothing_left(test);
}

static void pair_withdrawn(struct kunit *test)
{
	struct smc_pair *pair = offer(test);

	KUNIT_EXPECT_TRUE(test, smc_pair_withdraw(pair));
	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER));
	KUNIT_EXPECT_TRUE(test, smc_pair_withdraw(pair));
	smc_pair_leave(pair, SMC_CLIENT);
	expect_nothing_left(test);
}

/* One server only gets an offer, and only with both numbers */
static void pair_claimed_once(struct kunit *test)
{
	const struct smc_pair_key others[] = {
		{ key.client, key.server + 1 }, { key.client + 1, key.server },
		{ key.server, key.client }, { key.client, 0 }, { 0, key.server },
	};
	struct smc_pair *pair = offer(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &others[i], LISTENER));
	KUNIT_EXPECT_PTR_EQ(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER), pair);
	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER));
	smc_pair_leave(pair, SMC_SERVER);
	expect_told(test, 1, 0);
	smc_pair_leave(pair, SMC_CLIENT);
	expect_nothing_left(test);
}

/* The sequence numbers of a connection are no secret: only one listening socket has its child */
static void pair_for_one_listener(struct kunit *test)
{
	struct smc_pair *pair = create(test);

	smc_pair_offer(pair, &key);
	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER));
	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &key, 0));
	smc_pair_bind(pair, LISTENER);
	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &key, OTHER));
	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &key, 0));
	KUNIT_EXPECT_PTR_EQ(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER), pair);
	smc_pair_leave(pair, SMC_CLIENT);
	smc_pair_leave(pair, SMC_SERVER);
	expect_nothing_left(test);
}

/* The server has not read the Proposal when the client gives up, and can still read it */
static void pair_client_leaves_at_once(struct kunit *test)
{
	struct smc_pair *pair = offer_and_claim(test);

	smc_pair_leave(pair, SMC_CLIENT);
	expect_told(test, 0, 0);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_PROPOSAL);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_SERVER, SMC_CLC_ACCEPT), -EPIPE);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_SERVER, SMC_CLC_DECLINE), -EPIPE);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), -ENODATA);
	smc_pair_leave(pair, SMC_SERVER);
	expect_nothing_left(test);
}

static void pair_server_leaves(struct kunit *test)
{
	struct smc_pair *pair = offer_and_claim(test);

	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_PROPOSAL);
	smc_pair_leave(pair, SMC_SERVER);
	expect_told(test, 1, 0);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_CLIENT), -ENODATA);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_CLIENT, SMC_CLC_DECLINE), -EPIPE);
	smc_pair_leave(pair, SMC_CLIENT);
	expect_told(test, 1, 0);
	expect_nothing_left(test);
}

/* A Decline is read also if its sender has left */
static void pair_server_declines(struct kunit *test)
{
	struct smc_pair *pair = offer_and_claim(test);

	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_PROPOSAL);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_SERVER, SMC_CLC_DECLINE), 0);
	smc_pair_leave(pair, SMC_SERVER);
	expect_told(test, 1, 0);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_CLIENT), SMC_CLC_DECLINE);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_CLIENT), -ENODATA);
	smc_pair_leave(pair, SMC_CLIENT);
	expect_nothing_left(test);
}

/* A message that was not read stays, unless a Decline follows */
static void pair_decline_replaces(struct kunit *test)
{
	struct smc_pair *pair = offer_and_claim(test);

	KUNIT_EXPECT_EQ(test, send(pair, SMC_CLIENT, SMC_CLC_CONFIRM), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_PROPOSAL);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_CLIENT, SMC_CLC_CONFIRM), 0);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_CLIENT, SMC_CLC_DECLINE), 0);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_DECLINE);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), -EAGAIN);
	smc_pair_leave(pair, SMC_SERVER);
	smc_pair_leave(pair, SMC_CLIENT);
	expect_nothing_left(test);
}

/* Messages of both ends do not disturb each other */
static void pair_messages_cross(struct kunit *test)
{
	struct smc_pair *pair = offer_and_claim(test);

	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_PROPOSAL);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_SERVER, SMC_CLC_DECLINE), 0);
	KUNIT_EXPECT_EQ(test, send(pair, SMC_CLIENT, SMC_CLC_CONFIRM), 0);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_CLIENT), SMC_CLC_DECLINE);
	KUNIT_EXPECT_EQ(test, receive(pair, SMC_SERVER), SMC_CLC_CONFIRM);
	smc_pair_leave(pair, SMC_SERVER);
	smc_pair_leave(pair, SMC_CLIENT);
	expect_nothing_left(test);
}

/* Each message arrives as it was sent, to its last field */
static void pair_whole_messages(struct kunit *test)
{
	struct smc_clc *msg = kunit_kzalloc(test, 2 * sizeof(*msg), GFP_KERNEL);
	struct smc_clc_first_contact *fc = &msg[0].accept.first_contact;
	struct smc_pair *pair = create(test);
	struct smc_clc *proposal = smc_pair_proposal(pair);

	KUNIT_ASSERT_NOT_NULL(test, msg);
	make(proposal, ALL, SMC_MAX_PREFIXES, SMC_MAX_UEIDS, true, SMC_MAX_ISM_ENTRIES);
	proposal->proposal.version = 2;
	offer_to_listener(pair, &key);
	KUNIT_ASSERT_PTR_EQ(test, smc_pair_claim(&ends[SMC_SERVER], &key, LISTENER), pair);
	KUNIT_EXPECT_EQ(test, smc_pair_receive(pair, SMC_SERVER, &msg[1]), 0);
	KUNIT_EXPECT_MEMEQ(test, &msg[1], proposal, sizeof(*proposal));

	msg->type = SMC_CLC_ACCEPT;
	msg->accept.variant = SMC_VARIANT_R2;
	msg->accept.is_first_contact = true;
	msg->accept.rdma.rmbe_index = 1;
	fc->release = SMC_RELEASE_1;
	KUNIT_EXPECT_EQ(test, smc_pair_send(pair, SMC_SERVER, msg), 0);
	KUNIT_EXPECT_EQ(test, smc_pair_receive(pair, SMC_CLIENT, &msg[1]), 0);
	KUNIT_EXPECT_MEMEQ(test, &msg[1].accept, &msg[0].accept, sizeof(msg->accept));

	msg->type = SMC_CLC_CONFIRM;
	fc->nr_gids = SMC_MAX_GIDS;
	fc->gids[SMC_MAX_GIDS - 1].bytes[15] = 1;
	KUNIT_EXPECT_EQ(test, smc_pair_send(pair, SMC_CLIENT, msg), 0);
	KUNIT_EXPECT_EQ(test, smc_pair_receive(pair, SMC_SERVER, &msg[1]), 0);
	KUNIT_EXPECT_MEMEQ(test, &msg[1].accept, &msg[0].accept, sizeof(msg->accept));

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_DECLINE;
	msg->decline.version = 2;
	msg->decline.extended = true;
	msg->decline.reason_r1 = 1;
	KUNIT_EXPECT_EQ(test, smc_pair_send(pair, SMC_SERVER, msg), 0);
	KUNIT_EXPECT_EQ(test, smc_pair_receive(pair, SMC_CLIENT, &msg[1]), 0);
	KUNIT_EXPECT_MEMEQ(test, &msg[1].decline, &msg[0].decline, sizeof(msg->decline));
	smc_pair_leave(pair, SMC_SERVER);
	smc_pair_leave(pair, SMC_CLIENT);
	expect_nothing_left(test);
}

/* Offers of as many connections as there may be, some in the same list of the table */
static void pair_many_offers(struct kunit *test)
{
	const unsigned int nr = OFFERS_MAX;
	struct smc_pair **pairs = kunit_kcalloc(test, nr, sizeof(*pairs), GFP_KERNEL);
	struct smc_pair_key other = key;
	struct smc_pair *last;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, pairs);
	for (i = 0; i < nr; i++) {
		other.server = i;
		pairs[i] = create(test);
		offer_to_listener(pairs[i], &other);
	}
	KUNIT_EXPECT_EQ(test, live, nr);
	/* One more: the oldest one goes */
	last = offer(test);
	KUNIT_EXPECT_EQ(test, nr_offers, nr);
	other.server = 0;
	KUNIT_EXPECT_NULL(test, smc_pair_claim(&ends[SMC_SERVER], &other, LISTENER));
	KUNIT_EXPECT_TRUE(test, smc_pair_withdraw(pairs[0]));
	smc_pair_leave(pairs[0], SMC_CLIENT);
	KUNIT_EXPECT_TRUE(test, smc_pair_withdraw(last));
	smc_pair_leave(last, SMC_CLIENT);
	for (i = 1; i < nr; i++) {
		other.server = i;
		KUNIT_EXPECT_PTR_EQ(test, smc_pair_claim(&ends[SMC_SERVER], &other, LISTENER),
				    pairs[i]);
		smc_pair_leave(pairs[i], SMC_CLIENT);
		smc_pair_leave(pairs[i], SMC_SERVER);
	}
	expect_nothing_left(test);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pair_exchange),
	KUNIT_CASE(pair_never_offered),
	KUNIT_CASE(pair_withdrawn),
	KUNIT_CASE(pair_claimed_once),
	KUNIT_CASE(pair_for_one_listener),
	KUNIT_CASE(pair_client_leaves_at_once),
	KUNIT_CASE(pair_server_leaves),
	KUNIT_CASE(pair_server_declines),
	KUNIT_CASE(pair_decline_replaces),
	KUNIT_CASE(pair_messages_cross),
	KUNIT_CASE(pair_whole_messages),
	KUNIT_CASE(pair_many_offers),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_pair",
	.init = setup,
	.test_cases = cases,
};

kunit_test_suite(suite);
