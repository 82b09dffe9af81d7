// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two ends, two ports each, port n of one end connected to port n of the other: late answers, links
 * that go down while an exchange is about them, offers that are given up. The group always lives.
 */
#include <kunit/test.h>

#include "world.h"

static struct smcr_group *group_of(unsigned int end)
{
	return &world.ends[end].rg;
}

static struct smcr_link *link_of(unsigned int end, unsigned int index)
{
	return &group_of(end)->links[index];
}

static void begin_world(u8 version)
{
	struct setup setup = { .version = version, .ports = { 2, 2 }, .seed = version };

	world_start(&setup);
}

/* End the history. Messages went astray, but no group, link or key. */
static void finish_world(struct kunit *test, unsigned int links)
{
	world_run(15000);
	world_run_until(world_is_quiet, 2000);
	world_check_quiet();
	KUNIT_EXPECT_EQ(test, end_links(SERVER), links);
	KUNIT_EXPECT_EQ(test, end_links(CLIENT), links);
	KUNIT_EXPECT_EQ(test, world.faults, 0);
	world_end();
	KUNIT_EXPECT_STREQ(test, world.problem, "");
}

static void begin_with_two(struct kunit *test, u8 version)
{
	begin_world(version);
	world_run(1000);
	KUNIT_ASSERT_EQ(test, end_links(SERVER), 2);
	KUNIT_ASSERT_EQ(test, end_links(CLIENT), 2);
}

/* The server's second port comes up later */
static void begin_with_one(struct kunit *test, u8 version)
{
	begin_world(version);
	world_cut(SERVER, 1);
	world_run(5000);
	KUNIT_ASSERT_EQ(test, end_links(SERVER), 1);
	KUNIT_ASSERT_EQ(test, end_links(CLIENT), 1);
}

/* One end notices the loss of its first port at once, the other one later */
static void lose_first_port(unsigned int end)
{
	world_cut(end, 0);
	smcr_link_down(link_of(end, 0), SMC_LINK_LOST_PATH);
}

static bool is_server_adding(void)
{
	return group_of(SERVER)->llc.add.link;
}

static bool has_server_got_answer(void)
{
	return group_of(SERVER)->llc.add.accepted;
}

static bool has_client_accepted(void)
{
	return group_of(CLIENT)->llc.add.accepted;
}

static bool has_client_withdrawn(void)
{
	return group_of(CLIENT)->llc.withdrawal.link;
}

static bool is_server_deleting(void)
{
	return group_of(SERVER)->llc.flow == SMC_LLC_FLOW_DELETE;
}

static unsigned int strays_of(unsigned int end)
{
	return world.ends[end].stats.net[SMC_NET_STAT_LLC_STRAYS];
}

static void set_test_time(unsigned int seconds)
{
	unsigned int i;

	for (i = 0; i < ENDS; i++)
		world.ends[i].net.knobs.testlink_time = seconds;
}

static unsigned int count_known(unsigned int end)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMC_LLC_MAX_RTOKENS; i++)
		nr += group_of(end)->rtokens[i].used;
	return nr;
}

static void one_port_after_the_other(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		unsigned int i;

		begin_with_two(test, version);
		for (i = 0; i < 8; i++) {
			world_run(HEALTHY_TIME);
			world_cut(i / 2 % ENDS, i % 2);
			world_run(8000);
			KUNIT_EXPECT_EQ(test, end_links(SERVER), 1);
			world_restore(i / 2 % ENDS, i % 2);
			world_run(30000);
			KUNIT_EXPECT_EQ(test, end_links(SERVER), 2);
		}
		finish_world(test, 2);
	}
}

/* The server loses the link while it waits for the answer to its DELETE LINK for it */
static void both_ends_notice_at_once(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_two(test, version);
		world_hold(CLIENT, 1, 2000);
		lose_first_port(CLIENT);
		KUNIT_ASSERT_TRUE(test, world_run_until(is_server_deleting, 1000));
		lose_first_port(SERVER);
		world_run(3000);
		KUNIT_EXPECT_EQ(test, strays_of(SERVER), 1);
		finish_world(test, 1);
	}
}

/* The client answers when the server has given up */
static void answer_comes_after_its_deadline(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_two(test, version);
		set_test_time(0);
		world_run(3000);	/* for the answer to TEST LINK */
		world_hold(CLIENT, 1, 6000);
		lose_first_port(SERVER);
		world_run(7000);
		KUNIT_EXPECT_EQ(test, strays_of(SERVER), 1);
		finish_world(test, 1);
	}
}

/* The server's end of the new link is lost before the client has answered ADD LINK */
static void new_link_dies_before_the_answer(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_one(test, version);
		world_restore(SERVER, 1);
		KUNIT_ASSERT_TRUE(test, world_run_until(is_server_adding, 30000));
		world_hold(CLIENT, 0, 500);
		world_cut(SERVER, 1);
		world_run(10000);
		/* The client has answered DELETE LINK, and sends none */
		KUNIT_EXPECT_EQ(test, group_of(CLIENT)->llc.notified, 0);
		world_restore(SERVER, 1);
		world_run(30000);
		finish_world(test, 2);
	}
}

/* The same, and the port comes back before the answer, so that the server may offer again */
static void port_flaps_before_the_answer(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_one(test, version);
		world_restore(SERVER, 1);
		KUNIT_ASSERT_TRUE(test, world_run_until(is_server_adding, 30000));
		world_hold(CLIENT, 0, 3500);
		world_cut(SERVER, 1);
		world_run(50);
		world_restore(SERVER, 1);
		world_run(40000);
		finish_world(test, 2);
	}
}

static void port_flaps_for_a_minute(struct kunit *test)
{
	unsigned int row, i;

	for (row = 0; row < 4; row++) {
		begin_with_two(test, 1 + row / 2);
		for (i = 0; i < 600; i++) {
			world_cut(row % ENDS, 1);
			world_run(50);
			world_restore(row % ENDS, 1);
			world_run(50);
		}
		world_run(1200 * HZ);
		finish_world(test, 2);
	}
}

/*
 * CONFIRM RKEY ends, and ADD LINK begins, in one run of the server's work: ADD LINK names the RMB.
 */
static void offer_follows_announcement(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_one(test, version);
		world_run(30000);
		world_hold(SERVER, 0, 3000);
		rmb_announce(group_of(SERVER));
		world_run(20);
		world_restore(SERVER, 1);
		world_run(5000);
		finish_world(test, 2);
	}
}

/* Version 1: several ADD LINK CONTINUATIONs follow ADD LINK */
static void begin_with_keys(struct kunit *test)
{
	unsigned int end, i;

	begin_with_one(test, 1);
	for (end = 0; end < ENDS; end++)
		for (i = 0; i < 6; i++)
			rmb_announce(group_of(end));
	world_run(5000);
	world_restore(SERVER, 1);
}

static void server_loses_link_within_continuations(struct kunit *test)
{
	begin_with_keys(test);
	KUNIT_ASSERT_TRUE(test, world_run_until(has_server_got_answer, 30000));
	world_hold(CLIENT, 0, 300);
	world_cut(SERVER, 1);
	world_run(1000);
	finish_world(test, 1);
}

static void client_loses_link_within_continuations(struct kunit *test)
{
	begin_with_keys(test);
	KUNIT_ASSERT_TRUE(test, world_run_until(has_client_accepted, 30000));
	world_hold(SERVER, 0, 300);
	world_cut(CLIENT, 1);
	world_run(1000);
	finish_world(test, 1);
}

/* The client ends the addition, and the server does not wait for the next continuation */
static void client_gives_up_within_continuations(struct kunit *test)
{
	begin_with_keys(test);
	KUNIT_ASSERT_TRUE(test, world_run_until(has_server_got_answer, 30000));
	smcr_link_down(group_of(CLIENT)->llc.add.link, SMC_LINK_LOST_PATH);
	world_run(1000);
	KUNIT_EXPECT_PTR_EQ(test, group_of(SERVER)->llc.add.link, NULL);
	KUNIT_EXPECT_TRUE(test, world_is_quiet());
	world_run(30000);
	finish_world(test, 2);
}

/* DELETE RKEY is sent again over the link that is left */
static void link_dies_before_the_answer_to_delete_rkey(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_two(test, version);
		world.ends[CLIENT].net.knobs.idle_timeout[SMC_MODE_R] = 20;
		rmb_announce(group_of(CLIENT));
		world_run(100);
		KUNIT_EXPECT_EQ(test, count_known(SERVER), 2);
		KUNIT_ASSERT_TRUE(test, rmb_release(group_of(CLIENT)));
		KUNIT_ASSERT_TRUE(test, world_run_until(has_client_withdrawn, 10000));
		world_hold(CLIENT, 0, 1000);
		world_run(50);
		KUNIT_EXPECT_EQ(test, count_known(SERVER), 1);
		lose_first_port(CLIENT);
		world_run(500);		/* it does not become idle a second time */
		KUNIT_EXPECT_TRUE(test, list_is_first(group_of(CLIENT)->rmbs.prev,
						      &group_of(CLIENT)->rmbs));
		finish_world(test, 1);
	}
}

/*
 * The server stores the keys, and loses the link before the client sees the reply. The client
 * announces the RMB again, while a link is added, and so once more: over the new link, which has
 * the place of the lost one. The server must find that it knows the RMB.
 */
static void rmb_is_announced_again(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_two(test, version);
		world_run(HEALTHY_TIME);
		world_hold(CLIENT, 0, 150);
		rmb_announce(group_of(CLIENT));
		world_run(100);
		KUNIT_EXPECT_EQ(test, count_known(SERVER), 2);
		lose_first_port(SERVER);
		world_restore(SERVER, 0);
		world_run(1000);
		KUNIT_EXPECT_EQ(test, end_links(SERVER), 2);
		KUNIT_EXPECT_EQ(test, count_known(SERVER), 2);
		finish_world(test, 2);
	}
}

static void send_stray(struct kunit *test, unsigned int from, u8 type, u8 number)
{
	static struct smc_llc msg;

	memset(&msg, 0, sizeof(msg));
	msg.version = world.setup.version;
	msg.type = type;
	msg.reply = true;
	if (type == SMC_LLC_ADD_LINK) {
		msg.add_link.mtu = IB_MTU_1024;
		msg.add_link.link_num = number;
	} else if (type == SMC_LLC_DELETE_LINK) {
		msg.delete_link.link_num = number;
	} else if (type == SMC_LLC_DELETE_RKEY) {
		msg.delete_rkey.nr_rkeys = 1;
	}
	KUNIT_ASSERT_EQ(test, smcr_link_send(link_of(from, number % 2), &msg), 0);
	world_run(10);
}

/* Each answer that nothing waits for is counted, and changes nothing */
static void strays_are_counted(struct kunit *test)
{
	static const u8 types[] = {
		SMC_LLC_CONFIRM_LINK, SMC_LLC_ADD_LINK, SMC_LLC_DELETE_LINK, SMC_LLC_CONFIRM_RKEY,
		SMC_LLC_TEST_LINK, SMC_LLC_DELETE_RKEY,
	};
	unsigned int from, i, k;
	u8 version;

	for (version = 1; version <= 2; version++)
		for (from = 0; from < ENDS; from++) {
			begin_with_two(test, version);
			for (i = 0; i < ARRAY_SIZE(types); i++)
				for (k = 0; k < 4; k++)
					send_stray(test, from, types[i], k);
			KUNIT_EXPECT_EQ(test, strays_of(!from), 24);
			KUNIT_EXPECT_EQ(test, strays_of(from), 0);
			finish_world(test, 2);
		}
}

static bool has_client_sent_test(void)
{
	return group_of(CLIENT)->llc.tests[0].outstanding;
}

/* R-TL-04: it repeats other data, so the two ends are out of step */
static void wrong_answer_to_test_link(struct kunit *test)
{
	u8 version;

	for (version = 1; version <= 2; version++) {
		begin_with_two(test, version);
		world_hold(SERVER, 0, 100);
		KUNIT_ASSERT_TRUE(test, world_run_until(has_client_sent_test, 10000));
		KUNIT_EXPECT_STREQ(test, world.problem, "");
		send_stray(test, SERVER, SMC_LLC_TEST_LINK, 0);
		KUNIT_EXPECT_EQ(test, link_of(CLIENT, 0)->reason, SMC_LINK_PROTOCOL);
		KUNIT_EXPECT_EQ(test, end_links(CLIENT), 1);
		KUNIT_EXPECT_EQ(test, world.faults, 1);
		world_end();
	}
}

static void send_offer(struct kunit *test, struct smcr_link *over, u8 number)
{
	static struct smc_llc msg;	/* too large for the stack */
	const struct smcr_link *link = link_of(SERVER, 1);

	memset(&msg, 0, sizeof(msg));
	msg.version = world.setup.version;
	msg.type = SMC_LLC_ADD_LINK;
	msg.add_link.gid = link->local.gid;
	memcpy(msg.add_link.mac, link->local.mac, sizeof(msg.add_link.mac));
	msg.add_link.qpn = 0x123456;
	msg.add_link.mtu = IB_MTU_1024;
	msg.add_link.link_num = number;
	KUNIT_ASSERT_EQ(test, smcr_link_send(over, &msg), 0);
	world_run(50);
}

static void begin_with_offer(struct kunit *test)
{
	begin_with_one(test, 2);
	world_restore(SERVER, 1);
	KUNIT_ASSERT_TRUE(test, world_run_until(has_client_accepted, 30000));
	world_hold(SERVER, 0, 1000);
	world_run(10);
}

/* A server that gives up sooner than this one offers again: the client forgets the former offer */
static void offer_within_another_one(struct kunit *test)
{
	begin_with_offer(test);
	send_offer(test, link_of(SERVER, 0), 99);
	KUNIT_ASSERT_NOT_NULL(test, group_of(CLIENT)->llc.add.link);
	KUNIT_EXPECT_EQ(test, group_of(CLIENT)->llc.add.link->number, 99);
	world_run(60000);
	finish_world(test, 2);
}

/* Other exchanges wait for the end of this one */
static void offers_without_end(struct kunit *test)
{
	unsigned int i;

	begin_with_offer(test);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, world.faults, 0);
		send_offer(test, link_of(SERVER, 0), 99 + i);
	}
	KUNIT_EXPECT_EQ(test, world.faults, 1);
	KUNIT_EXPECT_EQ(test, link_of(CLIENT, 0)->reason, SMC_LINK_PROTOCOL);
	world_end();
}

/* The link that is being added carries no offer. First contact ends without it. */
static void offer_on_the_new_link(struct kunit *test)
{
	begin_world(1);
	KUNIT_ASSERT_TRUE(test, world_run_until(has_server_got_answer, 1000));
	world_hold(CLIENT, 0, 1000);
	send_offer(test, link_of(SERVER, 1), 99);
	KUNIT_EXPECT_EQ(test, world.faults, 1);
	KUNIT_EXPECT_EQ(test, end_links(CLIENT), 1);
	world_run(5000);
	KUNIT_EXPECT_TRUE(test, world.ends[CLIENT].has_outcome);
	KUNIT_EXPECT_EQ(test, world.ends[CLIENT].outcome, SMC_REASON_NONE);
	world.faults = 0;
	world_run(30000);
	finish_world(test, 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(one_port_after_the_other),
	KUNIT_CASE(both_ends_notice_at_once),
	KUNIT_CASE(answer_comes_after_its_deadline),
	KUNIT_CASE(new_link_dies_before_the_answer),
	KUNIT_CASE(port_flaps_before_the_answer),
	KUNIT_CASE(port_flaps_for_a_minute),
	KUNIT_CASE(offer_follows_announcement),
	KUNIT_CASE(server_loses_link_within_continuations),
	KUNIT_CASE(client_loses_link_within_continuations),
	KUNIT_CASE(client_gives_up_within_continuations),
	KUNIT_CASE(link_dies_before_the_answer_to_delete_rkey),
	KUNIT_CASE(rmb_is_announced_again),
	KUNIT_CASE(strays_are_counted),
	KUNIT_CASE(wrong_answer_to_test_link),
	KUNIT_CASE(offer_within_another_one),
	KUNIT_CASE(offers_without_end),
	KUNIT_CASE(offer_on_the_new_link),
	{}
};

static struct kunit_suite suite = {
	.name = "llc_two",
	.test_cases = cases,
};

kunit_test_suite(suite);
