// SPDX-License-Identifier: GPL-2.0-only
/*
 * A later contact: the group is there already. The client is connected as soon as it has sent
 * its Confirm, so the server can only end what it does not want (R-DEC-04); the client declines.
 * What there is in the group goes on.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define PATIENT		.seconds = 40
#define LOST_ELEMENTS	8	/* as many, and the group takes no further connections */
#define LOST_BY_CLIENT	32	/* the same of a group whose server the attacker is */
#define RMB_ELEMENTS	1	/* of the first RMB */
#define OTHERS_RMBS	2
#define CLOSED_LISTENERS 6	/* honest programs have fewer sockets, which come and go */
#define FEW_CONNS	16	/* as few as a group may be limited to */
#define NR_BEYOND_LIMIT	7	/* with 64 KiB in each direction; an element of an RMB is free */

static struct hostile first, h;
static struct msg reply;
static const struct row *now;

static void spoil(struct msg *msg)
{
	if (get(msg, AT_TYPE, 1) != PROPOSAL)
		row_change(msg, now);
}

static void leave_all(void)
{
	hostile_leave(&h);
	expect_alive(&first);
	hostile_close(&first);
}

/* --- fields --- */

/* Element 2, so that nobody else's is meant. It is not the attacker's memory. */
static void join(void)
{
	hostile_open(&first);
	expect_alive(&first);
	hostile_join(&h, &first);
	h.index = 2;
}

static void each(const struct row *rows)
{
	for (now = rows; now->what; now++) {
		row_begin(now);
		join();
		h.spoil = spoil;
		if (now->expected.outcome == CONNECTED) {
			hostile_clc(&h);
			hostile_finish(&h);
			data_send(&h, "to the application");
			expect_text(h.app, "to the application");
		} else {
			hostile_propose(&h);
			hostile_answer(&h);
			expect_outcome(&h, &now->expected);
		}
		leave_all();
	}
}

/* Known memory, but not there; a link, but not that one */
static const struct row confirms[] = {
	{ "another GID", ENDS, AT_R_GID + 15, 1, 7 },
	{ "another MAC address", ENDS, AT_R_MAC, 6, 0x020000000001 },
	{ "another queue pair", ENDS, AT_R_QPN, 3, 0x123456 },
	{ "queue pair 0", ENDS, AT_R_QPN, 3, 0 },
	{ "unknown key", ENDS, AT_R_RKEY, 4, 0x12345678 },
	{ "another address", ENDS, AT_R_ADDR, 8, 0x10000 },
	{ "element 0", ENDS, AT_R_INDEX, 1, 0 },
	{ "size code 6", ENDS, AT_R_SIZES, 1, 0x63 },
	{ "wrong eye catcher", ENDS, 3, 1, 0xd8 },
	{ "a byte too short", ENDS, .length = 67 },
	{ "Accept", ENDS, AT_TYPE, 1, ACCEPT },
	{ "MTU code 0", WORKS, AT_R_SIZES, 1, 0x20 },
	{ "MTU code 15", WORKS, AT_R_SIZES, 1, 0x2f },
	{ "packet number", WORKS, AT_R_PSN, 3, 0x123456 },
	{ "element 255", WORKS, AT_R_INDEX, 1, 255 },
	{}
};

static const struct row confirms_v2[] = {
	{ "another EID", ENDS, AT_R_EID, 1, '9' },
	{ "first contact without extension", ENDS, AT_FLAGS, 1, 0x28 },
	{ "first contact", ENDS, AT_FLAGS, 1, 0x28, .length = 180 },
	{ "part of an extension", ENDS, .length = 110 },
	{ "version of another length", ENDS, AT_FLAGS, 1, 0x10 },
	{}
};

TEST(later_confirm_fields, .applies = as_client)
{
	each(confirms);
	if (with_v2(chosen))
		each(confirms_v2);
}

static const struct row accepts[] = {
	{ "GID of another port", DECLINES(OUT_OF_SYNC), AT_R_GID + 15, 1, 7 },
	{ "another MAC address", DECLINES(OUT_OF_SYNC), AT_R_MAC, 6, 0x020000000001 },
	{ "another queue pair", DECLINES(OUT_OF_SYNC), AT_R_QPN, 3, 0x123456 },
	{ "another peer", DECLINES(OUT_OF_SYNC), AT_R_PEER_ID, 2, 0x1234 },
	{ "queue pair 0", DECLINES(MALFORMED), AT_R_QPN, 3, 0 },
	{ "unknown key", DECLINES(RTOKEN), AT_R_RKEY, 4, 0x12345678 },
	{ "another address", DECLINES(RTOKEN), AT_R_ADDR, 8, 0x10000 },
	{ "element 0", DECLINES(MALFORMED), AT_R_INDEX, 1, 0 },
	{ "size code 6", DECLINES(RESERVED_VALUE), AT_R_SIZES, 1, 0x63 },
	{ "wrong eye catcher", ENDS, 3, 1, 0xd8 },
	{ "a byte too short", ENDS, .length = 67 },
	{ "Confirm", ENDS, AT_TYPE, 1, CONFIRM },
	{ "MTU code 0", WORKS, AT_R_SIZES, 1, 0x20 },
	{ "MTU code 15", WORKS, AT_R_SIZES, 1, 0x2f },
	{ "packet number", WORKS, AT_R_PSN, 3, 0x123456 },
	{ "element 255", WORKS, AT_R_INDEX, 1, 255 },
	{}
};

static const struct row accepts_v2[] = {
	{ "EID never offered", DECLINES(NOT_OFFERED), AT_R_EID, 1, '9' },
	{ "first contact without extension", DECLINES(MALFORMED), AT_FLAGS, 1, 0x28 },
	{ "part of an extension", DECLINES(MALFORMED), .length = 110 },
	{}
};

TEST(later_accept_fields, .applies = as_server)
{
	each(accepts);
	if (with_v2(chosen))
		each(accepts_v2);
}

/*
 * First contact, with the queue pair of a link that there is. The flag counts (R-SC-08): this is
 * another link, and nothing comes from its other end.
 */
static void claim_first_contact(struct msg *msg)
{
	put(msg, AT_FLAGS, 1, get(msg, AT_FLAGS, 1) | 0x08);
	if (h.version == 1)
		return;
	set_length(msg, 160);
	put(msg, AT_R_FCE, 2, 0x8021);
	memset(msg->bytes + AT_R_HOSTNAME, ' ', 32);
	put(msg, AT_R_MAX_CONNS, 2, 0xff01);
}

TEST(first_contact_by_known_link, PATIENT, .applies = as_server)
{
	join();
	h.spoil = claim_first_contact;
	hostile_clc(&h);
	expect_no_connection(&h);
	leave_all();
}

/*
 * All names are those of the first client, but the TCP connection comes from elsewhere: it gets a
 * group of its own, and what it loses there is no loss of the first client's.
 */
TEST(names_of_another_peer, PATIENT, .applies = as_client)
{
	const char *from = getenv("RDMA_PEER_OTHER_ADDRESS");
	int i;

	TRUE(!!from);
	hostile_open(&first);
	expect_alive(&first);
	for (i = 0; i < LOST_ELEMENTS + 1; i++) {
		hostile_join(&h, &first);
		h.from = from;
		hostile_propose(&h);
		TRUE(hostile_accepted(&h));	/* first contact */
		hostile_leave(&h);
	}
	/* Its own group is there, and can be joined */
	hostile_join(&h, &first);
	hostile_propose(&h);
	TRUE(!hostile_accepted(&h));
	leave_all();
}

/* --- a Decline that comes too late --- */

static void decline_now(void)
{
	decline(&reply, h.version == 1 ? DECLINE_SHORT : DECLINE_LONG, 0x03030000);
	put(&reply, AT_FLAGS, 1, h.version << 4);
	attacker_send(h.tcp, &reply);
}

/* Both have said all: it is no message of the handshake, and no data (R-DEC-04, R-DEC-05) */
TEST(decline_when_connected)
{
	join();
	hostile_clc(&h);
	hostile_finish(&h);
	decline_now();
	TRUE(wait_events(h.app, POLLERR) & POLLHUP);
	EQ(socket_error(h.app), ECONNRESET);
	leave_all();
}

static int live_objects(const char *kind)
{
	FILE *objects = fopen("/sys/kernel/debug/smc/objects", "re");
	int live = -1, number;
	char name[200];

	TRUE(objects);
	while (live < 0 && fscanf(objects, "%199s %d%*[^\n]", name, &number) == 2)
		if (!strcmp(name, kind))
			live = number;
	fclose(objects);
	TRUE(live >= 0);
	return live;
}

static void expect_at_most(int most, const char *kind)
{
	long end = now_ms() + scaled(60000);

	while (live_objects(kind) > most) {
		if (now_ms() > end)
			FAIL("%d objects %s, more than %d", live_objects(kind), kind, most);
		pause_briefly();
	}
}

/* --- a listening socket that is closed when the Confirm comes --- */

static void accept_nothing(void *arg)
{
	FAILS(accept(*(int *)arg, NULL, NULL), EINTR);
}

/* From now on accept() is expected to come back soon, and connections wait for it */
static void expect_accept(int listener)
{
	struct worker worker;
	int silent;

	catch_signal(SIGUSR1, 0);
	worker_start(&worker, accept_nothing, &listener);
	worker_asleep(&worker);
	silent = attacker_connect(listener);
	worker_interrupt(&worker);
	worker_join(&worker);
	OK(close(silent));
}

/* Nobody has looked at the Confirm; the attacker does not answer the abort: a time-out ends it */
TEST(listener_closed_at_confirm, PATIENT, .alone = true, .applies = as_client)
{
	int before, i;

	hostile_open(&first);
	expect_alive(&first);
	before = live_objects("sock");
	for (i = 0; i < CLOSED_LISTENERS; i++) {
		hostile_join(&h, &first);
		h.index = 2 + i;
		hostile_propose(&h);
		expect_accept(h.listener);
		hostile_answer(&h);
		hostile_leave(&h);
	}
	expect_at_most(before, "sock");
	hostile_close(&first);
}

/* --- elements that the attacker may still write to --- */

/* The Accept comes, and nothing else is said. Return: false if it was a first contact */
static bool lose_element(void)
{
	bool is_first;

	hostile_join(&h, &first);
	hostile_propose(&h);
	is_first = hostile_accepted(&h);
	attacker_end(h.tcp);
	EQ(attacker_wait(h.tcp, &reply, scaled(60000)), ENDED);
	hostile_leave(&h);
	return !is_first;
}

static void open_second(struct hostile *second)
{
	hostile_again(second, &first, 2);
}

/*
 * A Decline chases the sender's own message, which may have been taken by then (R-DEC-01). Here
 * there is an element at hand
 */
TEST(decline_behind_proposal, .applies = as_client)
{
	hostile_open(&first);
	open_second(&h);
	hostile_part(&h);
	hostile_leave(&h);
	hostile_join(&h, &first);
	hostile_propose(&h);
	decline_now();
	EQ(hostile_accepted(&h), false);
	expect_declined(&h);
	leave_all();
}

/* Here the attacker hears of a new RMB before the Accept, and there is time for the Decline */
TEST(decline_before_accept, .applies = as_client)
{
	join();
	hostile_propose(&h);
	decline_now();
	expect_declined(&h);
	leave_all();
}

/* Nobody else has an element that was once offered; one that was given back is used again */
TEST(element_without_confirm, .applies = as_client)
{
	uint64_t lost, key;
	int i;

	hostile_open(&first);
	TRUE(lose_element());
	lost = h.addr;
	key = h.rkey;
	for (i = 0; i < 5; i++) {
		open_second(&h);
		TRUE(h.addr != lost && h.addr != first.addr);
		EQ(h.rkey, key);		/* of its four elements */
		hostile_part(&h);
		hostile_leave(&h);
		expect_link_works(&first);
	}
	expect_alive(&first);
	hostile_close(&first);
}

/* A Decline in place of the Confirm gives it back as well */
TEST(element_declined, .applies = as_client)
{
	uint64_t addr = 0;
	int i;

	hostile_open(&first);
	for (i = 0; i < 2 * LOST_ELEMENTS; i++) {
		hostile_join(&h, &first);
		hostile_propose(&h);
		EQ(hostile_accepted(&h), false);
		if (addr)
			EQ(h.addr, addr);
		addr = h.addr;
		decline_now();
		expect_declined(&h);
		hostile_leave(&h);
	}
	expect_alive(&first);
	hostile_close(&first);
}

/* A group in which many were lost goes on, and ends; what comes then is another group */
TEST(elements_without_confirm, .applies = as_client)
{
	int nr = 0;

	hostile_open(&first);
	while (lose_element())
		if (++nr > 2 * LOST_ELEMENTS)
			FAIL("%d elements were lost, and the next one is given", nr);
	TRUE(nr >= LOST_ELEMENTS);
	expect_alive(&first);
	hostile_close(&first);
}

static bool is_confirmed(int nr)
{
	enum reaction reaction;

	hostile_join(&h, &first);
	h.index = 2 + nr;
	hostile_propose(&h);
	hostile_answer(&h);
	reaction = hostile_await(&h, &reply);
	if (reaction != CONFIRMED)
		EQ(reaction, DECLINED);
	return reaction == CONFIRMED;
}

/* The same of a client: its applications close, and the attacker never does */
TEST(elements_never_closed, PATIENT, .applies = as_server)
{
	int nr = 0;

	hostile_open(&first);
	while (is_confirmed(nr++)) {
		hostile_finish(&h);
		hostile_leave(&h);
		/* What was closed is given up some seconds later */
		TRUE(!llc_wait(&first, nr < LOST_ELEMENTS ? 0 : 200));
	}
	TRUE(nr > LOST_ELEMENTS);
	EQ(get(&reply, AT_DIAGNOSIS, 4), OUT_OF_SYNC);
	EQ(get(&reply, AT_FLAGS, 1) & 0x08, 0x08);
	expect_declined(&h);
	leave_all();
}

/*
 * That a connection is closed may be overtaken by the Accept or Confirm that gives its element to
 * the next one. Nothing is lost by that.
 */
TEST(last_message_overtaken)
{
	static struct hostile turns[2];
	struct hostile *former, *next = &turns[0];
	int i;

	hostile_open(&first);
	open_second(next);
	for (i = 1; i < 5 * LOST_ELEMENTS; i++) {
		former = next;
		next = &turns[i % 2];
		hostile_hear_close(former);
		open_second(next);
		hostile_say_closed(former);
		hostile_leave(former);
		expect_link_works(next);
	}
	hostile_part(next);
	hostile_leave(next);
	expect_alive(&first);
	hostile_close(&first);
}

/* --- memory --- */

static void set_buffer_limit(int megabytes)
{
	int fd = OK(open("/sys/module/smc/parameters/buffer_limit_mb", O_WRONLY | O_CLOEXEC));

	TRUE(dprintf(fd, "%d\n", megabytes) > 0);
	close(fd);
}

/* Those of honest programs come and go meanwhile */
static void expect_no_more_rmbs(int before)
{
	expect_at_most(before + OTHERS_RMBS, "rmb");
}

static struct hostile others[FEW_CONNS];

static void fill_up(int nr)
{
	int i;

	for (i = 1; i < nr; i++)
		hostile_again(&others[i], &first, 1 + i);
}

static void leave_full(int nr)
{
	while (--nr)
		hostile_leave(&others[nr]);
	leave_all();
}

/* A connection that needs another RMB. Return: the reason why it is declined, 0: it is not */
static uint32_t why_declined(void)
{
	hostile_join(&h, &first);
	h.index = RMB_ELEMENTS + 1;
	h.refuse = true;
	hostile_propose(&h);
	if (h.server)
		hostile_answer(&h);
	return hostile_await(&h, &reply) == DECLINED ? get(&reply, AT_DIAGNOSIS, 4) : 0;
}

/*
 * There is an element left in the server's RMB, but no memory to send from: the connections use
 * more than the limit. The server says so in place of the Accept, while it still can.
 */
TEST(no_memory_to_send_from, .alone = true, .applies = as_client)
{
	uint32_t reason;

	hostile_open(&first);
	fill_up(NR_BEYOND_LIMIT);
	set_buffer_limit(1);
	reason = why_declined();
	set_buffer_limit(0);
	EQ(reason, BUFFER_LIMIT);
	expect_declined(&h);
	hostile_leave(&h);

	hostile_again(&h, &first, NR_BEYOND_LIMIT + 1);
	leave_full(NR_BEYOND_LIMIT);
}

/*
 * What the attacker did not want is given back at once, and when it goes on so, it is no longer
 * offered any: a client is in another group then, a server out of sync.
 */
TEST(keys_refused, .alone = true)
{
	int before, nr = 0;

	hostile_open(&first);
	fill_up(RMB_ELEMENTS);
	before = live_objects("rmb");
	while (why_declined() == RTOKEN) {
		if (++nr > LOST_BY_CLIENT)
			FAIL("%d RMBs were refused, and the next one is offered", nr);
		expect_declined(&h);
		hostile_leave(&h);
		expect_no_more_rmbs(before);
	}
	EQ(nr, h.server ? LOST_BY_CLIENT : LOST_ELEMENTS);
	if (h.server) {
		EQ(get(&reply, AT_DIAGNOSIS, 4), OUT_OF_SYNC);
		expect_declined(&h);
	} else {
		EQ(get(&reply, AT_TYPE, 1), ACCEPT);
		EQ(get(&reply, AT_FLAGS, 1) & 0x08, 0x08);
	}
	leave_full(RMB_ELEMENTS);
}

static void limit_conns(struct msg *msg)
{
	if (get(msg, AT_FLAGS, 1) & 0x08)
		put(msg, AT_R_MAX_CONNS, 1, FEW_CONNS);
}

/* A client that is told to join a group that is full has made an RMB for that */
TEST(full_group, .alone = true, .applies = as_server_v2)
{
	int before, i;

	hostile_init(&first);
	first.spoil = limit_conns;
	hostile_complete(&first);
	fill_up(FEW_CONNS);
	before = live_objects("rmb");
	for (i = 0; i < 2 * LOST_ELEMENTS; i++) {
		TRUE(why_declined());
		expect_declined(&h);
		hostile_leave(&h);
		expect_no_more_rmbs(before);
	}
	leave_full(FEW_CONNS);
}
