// SPDX-License-Identifier: GPL-2.0-only
/* Link groups in number: the server limits those of a peer, whatever the peer does with them */

#include <stdlib.h>

#include "hostile.h"

#define MANY_GROUPS	6	/* as few as a peer may be limited to; honest programs need some */
#define GROUPS_TRIED	(MANY_GROUPS + 4)
#define FORMING_OF_KEY	4	/* first contacts of one peer at a time */
#define FORMING_OF_CLASS 64	/* first contacts of all that come from there */

static struct hostile first, h;
static struct msg reply;

static void leave_all(void)
{
	hostile_leave(&h);
	expect_alive(&first);
	hostile_close(&first);
}

static struct hostile kept[GROUPS_TRIED];
static const char *from;	/* the attacker's address, if not its port's */

/*
 * Proposes, and tells what the server asks in the group @in, if not NULL. Return: whether an Accept
 * comes, which stays in the socket; else it was @reason
 */
static bool is_accepted(struct hostile *peer, struct hostile *in, enum reason reason)
{
	hostile_propose(peer);
	while (in && !(events_now(peer->tcp) & POLLIN))
		TRUE(!llc_wait(in, 0));
	TRUE(wait_events(peer->tcp, POLLIN) & POLLIN);
	EQ(recv(peer->tcp, reply.bytes, 8, MSG_PEEK), 8);
	if (get(&reply, AT_TYPE, 1) == ACCEPT)
		return true;
	EQ(hostile_await(peer, &reply), DECLINED);
	EQ(get(&reply, AT_DIAGNOSIS, 4), reason);
	return false;
}

static bool is_first_contact(void)
{
	return get(&reply, AT_FLAGS, 1) & 0x08;
}

/*
 * Proposes a group of its own, in place of @in if not NULL. Return: whether it may have one; else
 * it may join @in.
 */
static bool may_form(struct hostile *peer, struct hostile *in)
{
	hostile_init(peer);
	peer->from = from;
	if (in)
		peer->peer_id = in->peer_id;
	if (!is_accepted(peer, in, MAX_GROUPS) || !is_first_contact()) {
		EQ(get(&reply, AT_TYPE, 1), in ? ACCEPT : DECLINE);
		hostile_leave(peer);
		qp_destroy(&peer->qp);
		return false;
	}
	return true;
}

static void form(struct hostile *peer)
{
	hostile_answer(peer);
	hostile_confirm_link(peer);
	hostile_add_link(peer);
	hostile_finish(peer);
}

static bool gets_group(struct hostile *peer, struct hostile *in)
{
	bool may = may_form(peer, in);

	if (may)
		form(peer);
	return may;
}

/* Until groups of other tests have ended */
static void await_admission(struct hostile *peer)
{
	long end = now_ms() + scaled(60000);

	while (!may_form(peer, NULL)) {
		TRUE(now_ms() < end);
		pause_briefly();
	}
}

static void await_group(struct hostile *peer)
{
	await_admission(peer);
	form(peer);
}

static void leave_kept(int nr)
{
	while (nr--) {		/* its link may be busy with memory that is not needed any more */
		hostile_leave(&kept[nr]);
		qp_destroy(&kept[nr].qp);
	}
}

/* After a Proposal in a group; the connection goes on over TCP, and the attacker leaves it */
static void decline_group(struct hostile *peer, enum reason reason, int flag)
{
	EQ(hostile_accepted(peer), false);
	decline(&reply, peer->version == 1 ? DECLINE_SHORT : DECLINE_LONG, reason);
	put(&reply, AT_FLAGS, 1, peer->version << 4 | flag);
	attacker_send(peer->tcp, &reply);
	expect_declined(peer);
	hostile_leave(peer);
}

/* Says on another connection that it knows no such group: the next one forms another */
static void spoil_group(const struct hostile *in)
{
	hostile_join(&h, in);
	hostile_propose(&h);
	decline_group(&h, OUT_OF_SYNC, 0x08);
}

/* Counts peers whose TCP connection is open. The server ends it when it loses the last link. */
static int count_open(const struct hostile *peers, int nr)
{
	int open = 0;

	while (nr--)
		open += !(events_now(peers[nr].tcp) & (POLLIN | POLLHUP | POLLERR));
	return open;
}

/*
 * A group that no connection can join has a queue pair and memory all the same, as long as one is
 * in it. So it counts, and at the limit the last group is joined although it is in doubt.
 */
TEST(groups_out_of_sync, .alone = true, .applies = as_client)
{
	int nr;

	set_sysctl("net/smc/max_link_groups_per_peer", MANY_GROUPS);
	await_group(&kept[0]);
	spoil_group(&kept[0]);
	for (nr = 1; gets_group(&kept[nr], &kept[nr - 1]); nr++) {
		if (nr == MANY_GROUPS)
			FAIL("%d groups at a time, %d of them open, and the limit is %d", nr + 1,
			     count_open(kept, nr + 1), MANY_GROUPS);
		spoil_group(&kept[nr]);
	}
	leave_kept(nr);
	await_group(&first);
	hostile_close(&first);
	set_sysctl("net/smc/max_link_groups_per_peer", 256);
}

static struct hostile joining[GROUPS_TRIED];
static bool is_joined[GROUPS_TRIED], is_gone[GROUPS_TRIED];

/* Joins each kept group that is still there, up to the Accept. Return: how many there are */
static int begin_to_join(int nr)
{
	int i, there = 0;

	for (i = 0; i < nr; i++) {
		is_joined[i] = false;
		if (is_gone[i])
			continue;
		hostile_join(&joining[i], &kept[i]);
		joining[i].from = from;
		joining[i].index = 2;
		is_joined[i] = is_accepted(&joining[i], NULL, MAX_GROUPS) && !is_first_contact();
		is_gone[i] = !is_joined[i];
		if (is_gone[i])
			hostile_leave(&joining[i]);
		there += is_joined[i];
	}
	return there;
}

/* By a Decline, so that the server keeps the group */
static void stop_joining(int nr)
{
	while (nr--)
		if (is_joined[nr])
			decline_group(&joining[nr], NO_DEVICE, 0);
}

/*
 * At the limit the server admits a group if it can evict an idle one for it. The peer joins all
 * idle groups until the new one is formed, and leaves them then. The server evicts some of them.
 */
TEST(idle_groups_joined_meanwhile, .alone = true, .applies = as_client)
{
	int nr, there;
	long end;

	/* Groups of honest programs do not count with those of another address */
	from = getenv("RDMA_PEER_OTHER_ADDRESS");
	TRUE(!!from);
	/* Nothing but the limit ends a group; the attacker answers no request to delete memory */
	set_sysctl("net/smc/smcr_idle_timeout", 86400);
	set_sysctl("net/smc/smcr_testlink_time", 0);
	set_sysctl("net/smc/max_link_groups_per_peer", MANY_GROUPS);
	for (nr = 0; nr < GROUPS_TRIED; nr++) {
		await_admission(&kept[nr]);
		begin_to_join(nr);
		form(&kept[nr]);
		stop_joining(nr);
		hostile_part(&kept[nr]);
	}
	end = now_ms() + scaled(20000);
	while ((there = begin_to_join(nr)) > MANY_GROUPS) {
		stop_joining(nr);
		if (now_ms() > end)
			FAIL("%d idle groups, and the limit is %d", there, MANY_GROUPS);
		pause_briefly();
	}
	if (there < MANY_GROUPS / 2)
		FAIL("%d idle groups, %llu links aborted", there,
		     (unsigned long long)(counter_of(COUNTERS_R, COUNT_LINK_ABORTS) -
					  kept[0].link_aborts));
	set_sysctl("net/smc/smcr_idle_timeout", 1);	/* for those that become idle from now on */
	set_sysctl("net/smc/smcr_testlink_time", 30);
	set_sysctl("net/smc/max_link_groups_per_peer", 256);
	stop_joining(nr);
	leave_kept(nr);
}

/*
 * A peer with the address and the ids of a client says that it does not know the group, and takes
 * all places for first contacts. The client goes on in its group, which proves that it knows it.
 */
TEST(group_in_doubt, .alone = true, .applies = as_client)
{
	static struct hostile silent[FORMING_OF_KEY], other;
	int i;

	hostile_open(&first);
	spoil_group(&first);
	for (i = 0; i < FORMING_OF_KEY; i++) {
		hostile_init(&silent[i]);
		silent[i].peer_id = first.peer_id;
		TRUE(is_accepted(&silent[i], NULL, MAX_HS));
		TRUE(is_first_contact());
	}
	hostile_again(&other, &first, 2);
	while (i--) {
		hostile_leave(&silent[i]);
		qp_destroy(&silent[i].qp);
	}
	hostile_again(&h, &first, 3);
	hostile_leave(&other);
	leave_all();
}

/* A peer that claims to be many takes no more than a part of the 256 that all may form at a time */
TEST(groups_of_many_names, .alone = true, .applies = as_client)
{
	static struct hostile many[FORMING_OF_CLASS + 1];
	int i;

	hostile_open(&first);
	for (i = 0; i <= FORMING_OF_CLASS; i++) {
		hostile_join(&many[i], &first);
		many[i].peer_id += 1 + i;
		if (!is_accepted(&many[i], NULL, MAX_HS))
			break;
	}
	/* The honest programs may form one as well */
	if (i > FORMING_OF_CLASS || i < FORMING_OF_CLASS / 2)
		FAIL("%d first contacts at a time", i);
	for (; i >= 0; i--)
		hostile_leave(&many[i]);
	leave_all();
}
