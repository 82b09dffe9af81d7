// SPDX-License-Identifier: GPL-2.0-only
/* First contact: LLC in place of what is due, and silence at each step */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define SILENT_CLIENTS	8
#define WINDOWS		5
#define WINDOW_MS	400
#define REMEMBERED	scaled(10)	/* seconds */
#define PATIENT		.seconds = 40	/* an honest peer gets five seconds for each answer */
#define EARLY_MS	2500	/* of them: ticks of a busy guest may come late, and then fast */

static struct hostile h;
static struct msg msg;

/* The attacker's part of the exchange that is next, to be spoilt */
static void prepare_confirm_link(void)
{
	hostile_clc(&h);
	if (!h.server) {
		llc_expect(&h, CONFIRM_LINK, 0);
		h.link_num = get(&h.llc, 29, 1);
	}
	llc_confirm_link(&h, &msg, h.server ? 0 : LLC_REPLY);
}

/* First of all: an honest peer */

TEST(honest_data)
{
	hostile_open(&h);
	expect_alive(&h);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(honest_with_two_links)
{
	hostile_init(&h);
	h.max_links = 2;
	hostile_complete(&h);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(honest_close)
{
	hostile_open(&h);
	h.state_flags = DONE;
	data_send(&h, "last");
	expect_text(h.app, "last");
	expect_eof(h.app);
	send_text(h.app, "answer");
	data_expect(&h, "answer");
	hostile_part(&h);
	expect_link_works(&h);
	hostile_close(&h);
}

/* Silence */

TEST(silence_before_confirm_link, PATIENT)
{
	long start = now_ms();

	hostile_init(&h);
	hostile_clc(&h);
	expect_no_connection(&h);
	TRUE(now_ms() - start >= EARLY_MS);
	hostile_close(&h);
}

TEST(silence_before_add_link, PATIENT)
{
	long start = now_ms();

	hostile_init(&h);
	h.max_links = 2;
	hostile_clc(&h);
	hostile_confirm_link(&h);
	expect_no_connection(&h);
	TRUE(now_ms() - start >= EARLY_MS);
	hostile_close(&h);
}

/* Why a new connection is declined, 0: it is not */
static uint32_t why_declined(void)
{
	uint32_t reason = 0;

	hostile_init(&h);
	hostile_propose(&h);
	if (hostile_await(&h, &msg) == DECLINED) {
		reason = get(&msg, AT_DIAGNOSIS, 4);
		expect_declined(&h);
	}
	hostile_close(&h);
	return reason;
}

/*
 * One connection pays for a port that acknowledges everything and answers nothing (R-LTO-02); those
 * after it are TCP at once, and after a while it is tried again
 */
TEST(silence_is_remembered, .alone = true, .applies = as_client)
{
	long end;

	set_sysctl("net/smc/smcr_path_retry_time", REMEMBERED);
	hostile_init(&h);
	hostile_clc(&h);
	expect_no_connection(&h);
	hostile_close(&h);
	end = now_ms() + 1000 * REMEMBERED + scaled(60000);
	EQ(why_declined(), NO_PATH);
	set_sysctl("net/smc/smcr_path_retry_time", 0);
	while (why_declined() == NO_PATH)
		TRUE(now_ms() < end);
}

/* The port does not even acknowledge */
TEST(queue_pair_gone_after_clc, PATIENT)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	hostile_init(&h);
	hostile_clc(&h);
	EQ(ibv_modify_qp(h.qp.qp, &attr, IBV_QP_STATE), 0);
	expect_given_up(&h);
	hostile_close(&h);
}

TEST(deaf_after_clc, PATIENT)
{
	hostile_init(&h);
	h.deaf = true;
	hostile_clc(&h);
	expect_given_up(&h);
	hostile_close(&h);
}

/* CONFIRM LINK with wrong contents */

static const struct {
	const char *what;
	size_t at;
	uint8_t flip;
} lies[] = {
	{ "MAC address", 4, 1 }, { "GID", 25, 1 }, { "QPN", 28, 1 }, { "link number", 29, 0xff },
};

TEST(confirm_link_of_another_link)
{
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		/* The server gives the number */
		if (as_server(chosen) && lies[i].at == 29)
			continue;
		hostile_init(&h);
		prepare_confirm_link();
		msg.bytes[lies[i].at] ^= lies[i].flip;
		link_send(&h, &msg);	/* the link may be gone before it acknowledges */
		expect_tcp(&h);
		hostile_close(&h);
	}
}

/* The server's request may come only once; the client's reply may be late */
TEST(confirm_link_twice)
{
	hostile_init(&h);
	h.max_links = 2;
	hostile_clc(&h);
	hostile_confirm_link(&h);
	llc_confirm_link(&h, &msg, h.server ? 0 : LLC_REPLY);
	link_send(&h, &msg);
	if (h.server) {
		expect_tcp(&h);
	} else {
		hostile_add_link(&h);
		hostile_finish(&h);
		expect_alive(&h);
	}
	hostile_close(&h);
}

/* Anything else where CONFIRM LINK is due */

static void something_else(enum llc_type type, uint8_t flags)
{
	hostile_init(&h);
	prepare_confirm_link();
	if (type == ADD_LINK)
		llc_add_link(&h, &msg, flags, 2);
	else
		llc_init(&h, &msg, type, flags);
	if (type == CONFIRM_RKEY)
		put(&msg, 5, 4, 0x1234);
	if (type == DELETE_RKEY)
		put(&msg, 4, 1, 1);
	link_send(&h, &msg);
	expect_tcp(&h);
	hostile_close(&h);
}

TEST(requests_instead_of_confirm_link)
{
	something_else(CONFIRM_RKEY, 0);
	something_else(DELETE_RKEY, 0);
	if (!with_v1(chosen) || as_server(chosen))
		something_else(ADD_LINK, 0);
	if (with_v1(chosen))
		something_else(CONFIRM_RKEY_CONT, 0);
}

/* A client of version 1 may say at any time that it could have another link */
TEST(hint_before_confirm_link, .applies = as_client_v1)
{
	static struct msg hint;

	hostile_init(&h);
	prepare_confirm_link();
	llc_add_link(&h, &hint, 0, 0);
	EQ(link_send(&h, &hint), IBV_WC_SUCCESS);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	hostile_add_link(&h);
	hostile_finish(&h);
	expect_alive(&h);
	hostile_close(&h);
}

static void is_ignored_before_confirm_link(enum llc_type type)
{
	static struct msg reply;

	hostile_init(&h);
	prepare_confirm_link();
	llc_init(&h, &reply, type, LLC_REPLY);
	if (type == DELETE_RKEY)
		put(&reply, 4, 1, 1);
	EQ(link_send(&h, &reply), IBV_WC_SUCCESS);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	if (h.server)
		llc_expect(&h, CONFIRM_LINK, LLC_REPLY);
	hostile_add_link(&h);
	hostile_finish(&h);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(replies_before_confirm_link)
{
	is_ignored_before_confirm_link(CONFIRM_RKEY);
	is_ignored_before_confirm_link(DELETE_RKEY);
	is_ignored_before_confirm_link(TEST_LINK);
	is_ignored_before_confirm_link(DELETE_LINK);
}

/* It is about another link, which may or may not have been offered */
TEST(answers_to_add_link_before_confirm_link)
{
	static struct msg answer;

	hostile_init(&h);
	prepare_confirm_link();
	llc_add_link(&h, &answer, LLC_REPLY | LLC_REJECTED, 2);
	EQ(link_send(&h, &answer), IBV_WC_SUCCESS);
	llc_add_link(&h, &answer, LLC_REPLY, 2);
	EQ(link_send(&h, &answer), IBV_WC_SUCCESS);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	if (h.server)
		llc_expect(&h, CONFIRM_LINK, LLC_REPLY);
	hostile_add_link(&h);
	hostile_finish(&h);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(end_instead_of_confirm_link)
{
	something_else(DELETE_LINK, LLC_ALL);
}

/* It changes nothing, and is answered as soon as the module can answer */
TEST(test_link_before_confirm_link)
{
	hostile_init(&h);
	prepare_confirm_link();
	if (!h.server)
		expect_link_works(&h);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	if (h.server)
		llc_expect(&h, CONFIRM_LINK, LLC_REPLY);
	hostile_add_link(&h);
	hostile_finish(&h);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(decline_instead_of_confirm_link)
{
	static struct msg no;

	hostile_init(&h);
	prepare_confirm_link();
	decline(&no, h.version == 1 ? DECLINE_SHORT : DECLINE_LONG, 0x03030000);
	if (h.version == 1)
		put(&no, AT_FLAGS, 1, 0x10);
	attacker_send(h.tcp, &no);
	expect_declined(&h);
	hostile_close(&h);
}

/* Data before the connection exists counts as soon as it does */
TEST(data_before_confirm_link)
{
	hostile_init(&h);
	prepare_confirm_link();
	if (!h.server)
		data_send(&h, "early");
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	if (h.server)
		llc_expect(&h, CONFIRM_LINK, LLC_REPLY);
	hostile_add_link(&h);
	hostile_finish(&h);
	if (!h.server)
		expect_text(h.app, "early");
	expect_alive(&h);
	hostile_close(&h);
}

/* So do lies */
TEST(forged_cursor_before_confirm_link)
{
	hostile_init(&h);
	prepare_confirm_link();
	h.prod.count = h.size;
	cdc_send(&h);
	h.prod.count = 0;
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	if (h.server) {
		llc_expect(&h, CONFIRM_LINK, LLC_REPLY);
		hostile_add_link(&h);
		app_joined(&h);
		EQ(h.app_error, ECONNABORTED);
		expect_link_works(&h);
	} else {
		hostile_add_link(&h);
		hostile_finish(&h);
		expect_violation(&h);
	}
	hostile_close(&h);
}

/* The client takes a second link that the server cannot have meant */

static void offered_second_link(void)
{
	hostile_init(&h);
	h.max_links = 2;
	hostile_clc(&h);
	hostile_confirm_link(&h);
	llc_expect(&h, ADD_LINK, 0);
}

/* The answer to the offer, which the module understands as yes, and takes the link back */
static void expect_taken_back(void)
{
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, DELETE_LINK, 0);
	EQ(get(&h.llc, 4, 1), 2);
}

static void accept_link(uint8_t number)
{
	offered_second_link();
	llc_add_link(&h, &msg, LLC_REPLY, number);
	expect_taken_back();
}

static void accept_second_link(void)
{
	accept_link(2);
}

static void answer_delete_link(uint8_t number)
{
	llc_init(&h, &msg, DELETE_LINK, LLC_REPLY);
	put(&msg, 4, 1, number);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
}

static void reject_second_link(void)
{
	llc_add_link(&h, &msg, LLC_REPLY | LLC_REJECTED, 2);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
}

/* It is refused as long as the module waits for a word about the second link. Return: its answer */
static uint8_t answer_about_key(void)
{
	llc_init(&h, &msg, CONFIRM_RKEY, 0);
	put(&msg, 5, 4, h.my_rkey);
	put(&msg, 9, 8, h.my_addr);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, CONFIRM_RKEY, LLC_REPLY);
	return get(&h.llc, LLC_AT_FLAGS, 1);
}

static void expect_end_of_exchange(void)
{
	long end = now_ms() + scaled(60000);

	while (answer_about_key() & LLC_NEGATIVE) {
		if (now_ms() > end)
			FAIL("it still waits");
		pause_briefly();
	}
}

TEST(second_link_accepted, .applies = as_client)
{
	accept_second_link();
	answer_delete_link(2);
	hostile_finish(&h);
	expect_alive(&h);
	EQ(answer_about_key(), LLC_REPLY);
	hostile_close(&h);
}

/* So does Linux of version 1: no answer to DELETE LINK, but the ADD LINK is rejected after all */
TEST(second_link_accepted_then_rejected, .applies = as_client)
{
	accept_second_link();
	reject_second_link();
	hostile_finish(&h);
	expect_alive(&h);
	EQ(answer_about_key(), LLC_REPLY);
	hostile_close(&h);
}

/* And so does Linux of version 2: both */
TEST(second_link_given_up_twice, .applies = as_client)
{
	accept_second_link();
	answer_delete_link(2);
	reject_second_link();
	hostile_finish(&h);
	expect_alive(&h);
	EQ(answer_about_key(), LLC_REPLY);
	hostile_close(&h);
}

/* What does not exist is not missed, and what is said of it does no harm, however late */
TEST(second_link_accepted_and_kept, PATIENT, .applies = as_client)
{
	accept_second_link();
	hostile_finish(&h);
	EQ(answer_about_key() & LLC_NEGATIVE, LLC_NEGATIVE);
	expect_end_of_exchange();
	expect_alive(&h);
	answer_delete_link(2);
	reject_second_link();
	expect_alive(&h);
	hostile_close(&h);
}

/* The client may know the link that was taken back by its own number, not by the first link's */
TEST(second_link_accepted_another_given_up, .applies = as_client)
{
	accept_second_link();
	answer_delete_link(3);
	hostile_finish(&h);
	expect_alive(&h);
	EQ(answer_about_key(), LLC_REPLY);
	answer_delete_link(h.link_num);
	expect_link_down(&h);
	hostile_close(&h);
}

/* What is said of a link once more changes nothing */
TEST(second_link_accepted_twice, .applies = as_client)
{
	int i;

	accept_second_link();
	hostile_finish(&h);
	for (i = 0; i < 3; i++) {
		llc_add_link(&h, &msg, LLC_REPLY, 2);
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	}
	expect_alive(&h);
	answer_delete_link(2);
	llc_add_link(&h, &msg, LLC_REPLY, 2);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	EQ(answer_about_key(), LLC_REPLY);
	expect_alive(&h);
	hostile_close(&h);
}

/* Linux gives the link any number, and takes its answer back two seconds later (0xa6 was seen) */
TEST(second_link_with_another_number, .applies = as_client)
{
	static const uint8_t numbers[] = { 0, 1, 3, 0xa6, 0xff };
	size_t i;

	for (i = 0; i < sizeof(numbers); i++) {
		accept_link(numbers[i]);
		hostile_finish(&h);
		expect_alive(&h);
		reject_second_link();
		EQ(answer_about_key(), LLC_REPLY);
		expect_alive(&h);
		hostile_close(&h);
	}
}

/* The late rejection is the module's own offer, with other flags */
TEST(second_link_rejected_with_the_offer, .applies = as_client)
{
	static struct msg offer;

	offered_second_link();
	offer = h.llc;
	llc_add_link(&h, &msg, LLC_REPLY, 0xa6);
	expect_taken_back();
	hostile_finish(&h);
	data_send(&h, "before");
	expect_text(h.app, "before");
	put(&offer, LLC_AT_FLAGS, 1, LLC_REPLY | LLC_REJECTED);
	if (h.version == 1)
		put(&offer, 2, 1, 1);
	EQ(link_send(&h, &offer), IBV_WC_SUCCESS);
	EQ(answer_about_key(), LLC_REPLY);
	EQ(link_send(&h, &offer), IBV_WC_SUCCESS);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(second_link_rejected_twice, .applies = as_client)
{
	offered_second_link();
	reject_second_link();
	reject_second_link();
	hostile_finish(&h);
	expect_alive(&h);
	reject_second_link();
	EQ(answer_about_key(), LLC_REPLY);
	expect_alive(&h);
	hostile_close(&h);
}

/* An answer of version 2 that contradicts itself is one all the same */

static void accept_oddly(size_t at, int bytes, uint64_t value, size_t len)
{
	offered_second_link();
	llc_add_link(&h, &msg, LLC_REPLY, 2);
	put(&msg, at, bytes, value);
	msg.len = len;
	put(&msg, 1, 2, len);
	expect_taken_back();
	hostile_finish(&h);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(second_link_accepted_oddly, .applies = as_client_v2)
{
	accept_oddly(4, 6, 0, 72);	/* no MAC address */
	accept_oddly(70, 2, 1, 72);	/* a key that is not there */
	accept_oddly(70, 2, 0, 73);	/* and a part of one */
	accept_oddly(70, 2, 0, 44);
}

/* Whatever the answer says of queue pair, address, path MTU and sequence number */
TEST(second_link_accepted_with_any_contents, .applies = as_client)
{
	uint8_t byte;

	for (byte = 0; byte < 2; byte++) {
		offered_second_link();
		llc_add_link(&h, &msg, LLC_REPLY, 2);
		memset(msg.bytes + 4, byte ? 0xff : 0, 40);
		if (h.version == 2)
			put(&msg, 70, 2, 0);
		expect_taken_back();
		hostile_finish(&h);
		expect_alive(&h);
		hostile_close(&h);
	}
}

TEST(add_link_with_reserved_mtu, .applies = as_server)
{
	hostile_init(&h);
	h.max_links = 2;
	hostile_clc(&h);
	hostile_confirm_link(&h);
	llc_add_link(&h, &msg, 0, 2);
	put(&msg, 32, 1, 9);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, ADD_LINK, LLC_REPLY | LLC_REJECTED);
	EQ(get(&h.llc, h.version == 2 ? LLC_AT_FLAGS : 2, 1) & 0x0f, 2);
	hostile_finish(&h);
	expect_alive(&h);
	hostile_close(&h);
}

/* Silent clients cost others nothing: of eight, half say nothing at all, half stop before LLC */

static struct hostile silent[SILENT_CLIENTS];

static void silent_clients_come(void)
{
	int i;

	for (i = 0; i < SILENT_CLIENTS; i++) {
		hostile_init(&silent[i]);
		if (i % 2) {
			hostile_clc(&silent[i]);
			continue;
		}
		silent[i].listener = listen_any(5);
		silent[i].tcp = attacker_connect(silent[i].listener);
	}
}

static void silent_clients_go(void)
{
	int i;

	for (i = 0; i < SILENT_CLIENTS; i++) {
		close(silent[i].tcp);
		close(silent[i].listener);
		if (i % 2)
			qp_destroy(&silent[i].qp);
	}
}

static int connects(int listener)
{
	long end = now_ms() + scaled(WINDOW_MS);
	int nr = 0;

	while (now_ms() < end) {
		int pair[2];

		pair_from(listener, pair);
		pair_close(pair);
		nr++;
	}
	return nr;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

TEST(rate_of_others, .alone = true, .applies = as_client_v2)
{
	int alone = 0, beside = 0, listener = listen_any(50), i;

	connects(listener);
	/* A quiet machine shows no difference; on others something else may use the processors */
	for (i = 0; i < WINDOWS || (i < 3 * WINDOWS && beside * 2 <= alone); i++) {
		alone = larger(alone, connects(listener));
		silent_clients_come();
		beside = larger(beside, connects(listener));
		silent_clients_go();
	}
	TRUE(beside * 2 > alone);
	bystanders_check();
}
