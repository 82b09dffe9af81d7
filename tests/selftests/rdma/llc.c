// SPDX-License-Identifier: GPL-2.0-only
/* LLC on a link that is in use: malformed, unsolicited, for the other role, too many */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define PATIENT		.seconds = 40

static struct hostile h;
static struct msg msg;

/* What has been sent ends the link, and nothing else */
static void must_end_link(const char *what)
{
	puts(what);
	fflush(stdout);
	link_send(&h, &msg);
	expect_link_down(&h);
	hostile_close(&h);
}

static void bytes_end_link(const char *what, size_t len, uint8_t first, uint8_t second)
{
	hostile_open(&h);
	llc_init(&h, &msg, TEST_LINK, 0);
	memset(msg.bytes + LLC_LEN, 0, 10000);
	msg.len = len;
	msg.bytes[0] = first;
	if (h.version == 2 && first != CDC_TYPE)
		put(&msg, 1, 2, len);
	else
		msg.bytes[1] = second;
	must_end_link(what);
}

static uint8_t test_link_type(void)
{
	return with_v2(chosen) ? LLC_V2 | TEST_LINK : TEST_LINK;
}

TEST(wrong_lengths)
{
	static const size_t lengths[] = { 0, 1, 3, 4, 43, 45, 64 };
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		bytes_end_link("length", lengths[i], test_link_type(), lengths[i]);
}

/* Of a class where what is not known must be known; one of the other version */
TEST(unknown_types)
{
	static const uint8_t types[] = { 0x00, 0x0a, 0x3f, 0x40, 0x7f, 0xc0, 0xfd, 0xff };
	size_t i;

	for (i = 0; i < sizeof(types); i++)
		bytes_end_link("type", LLC_LEN, types[i], LLC_LEN);
	bytes_end_link("version", LLC_LEN, test_link_type() ^ LLC_V2, LLC_LEN);
	bytes_end_link("type of one version", LLC_LEN, with_v2(chosen) ? 0x23 : 0x05, LLC_LEN);
}

TEST(control_messages_of_wrong_length)
{
	bytes_end_link("43 bytes", 43, CDC_TYPE, 43);
	bytes_end_link("45 bytes", 45, CDC_TYPE, 45);
	bytes_end_link("1 byte", 1, CDC_TYPE, 0);
	bytes_end_link("length field", CDC_LEN, CDC_TYPE, 45);
}

/* More than the receive queue has room for: the device itself complains */
TEST(longer_than_receive_buffer)
{
	bytes_end_link("too long", with_v2(chosen) ? 8193 : 65, 0x80, LLC_LEN);
	bytes_end_link("much too long", 60000, 0x80, LLC_LEN);
}

TEST(optional_types_are_ignored)
{
	size_t i;

	hostile_open(&h);
	memset(&msg, 0, sizeof(msg));
	for (i = 0x80; i < 0xc0; i++) {
		msg.bytes[0] = i;
		msg.len = i == 0x90 ? 4 : LLC_LEN;
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	}
	if (h.version == 2) {
		msg.bytes[0] = 0x80;
		msg.len = 8192;
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	}
	expect_alive(&h);
	hostile_close(&h);
}

/* The length of version 2 is there to be compared; what differs is ignored */
TEST(length_field_differs, .applies = with_v2)
{
	hostile_open(&h);
	llc_init(&h, &msg, TEST_LINK, 0);
	put(&msg, 1, 2, 45);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	expect_alive(&h);
	hostile_close(&h);
}

static void build_small(enum llc_type type, uint8_t flags)
{
	if (type == CONFIRM_LINK)
		llc_confirm_link(&h, &msg, flags);
	else if (type == ADD_LINK)
		llc_add_link(&h, &msg, flags, 2);
	else
		llc_init(&h, &msg, type, flags);
	if (type == DELETE_RKEY)
		put(&msg, 4, 1, 1);
}

static void request_ends_link(enum llc_type type, uint8_t flags)
{
	static const char *const names[] = {
		[CONFIRM_LINK] = "CONFIRM LINK", [ADD_LINK] = "ADD LINK",
		[ADD_LINK_CONT] = "ADD LINK CONTINUATION",
		[REQUEST_ADD_LINK] = "REQUEST ADD LINK",
		[CONFIRM_RKEY_CONT] = "CONFIRM RKEY CONTINUATION",
	};

	hostile_open(&h);
	build_small(type, flags);
	must_end_link(names[type]);
}

static void is_stray(enum llc_type type, uint8_t flags)
{
	uint64_t before = stray_replies();	/* other tests add to it meanwhile */

	build_small(type, flags);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	expect_link_works(&h);
	TRUE(stray_replies() > before);
}

/* They may be late, so they say nothing about the link: they are counted, and change nothing */
TEST(unsolicited_replies)
{
	enum llc_type type;

	hostile_open(&h);
	for (type = CONFIRM_LINK; type <= DELETE_RKEY; type++) {
		bool only_v1 = type == ADD_LINK_CONT || type == CONFIRM_RKEY_CONT;

		if (with_v2(chosen) ? only_v1 : type == REQUEST_ADD_LINK)
			continue;
		is_stray(type, LLC_REPLY);
	}
	is_stray(CONFIRM_RKEY, LLC_REPLY | LLC_NEGATIVE);
	is_stray(DELETE_RKEY, LLC_REPLY | LLC_NEGATIVE);
	/* A server that does not know yet that the client has given up the link */
	if (h.server && h.version == 1)
		is_stray(ADD_LINK_CONT, 0);
	expect_alive(&h);
	hostile_close(&h);
}

/* As many as the attacker can send: the module processes other messages between them */
TEST(flood_of_replies)
{
	uint64_t before = stray_replies();
	int i;

	hostile_open(&h);
	for (i = 0; i < 2000; i++) {
		build_small(i % 2 ? CONFIRM_RKEY : DELETE_LINK, LLC_REPLY);
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
		if (i % 32 == 31)
			expect_link_works(&h);
	}
	expect_alive(&h);
	TRUE(stray_replies() >= before + 2000);
	hostile_close(&h);
}

/* About links that were never offered */
TEST(answers_to_add_link)
{
	static const uint8_t flags[] = { LLC_REPLY, LLC_REPLY | LLC_REJECTED };
	int i;

	hostile_open(&h);
	for (i = 0; i < 8; i++) {
		llc_add_link(&h, &msg, flags[i % 2], i / 2);
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
		expect_link_works(&h);
	}
	expect_alive(&h);
	hostile_close(&h);
}

TEST(requests_of_the_wrong_role)
{
	request_ends_link(CONFIRM_LINK, 0);
	request_ends_link(ADD_LINK, LLC_REJECTED);
	if (as_server_v2(chosen))
		request_ends_link(REQUEST_ADD_LINK, 0);
	if (as_client_v2(chosen))
		request_ends_link(ADD_LINK, 0);
	if (with_v1(chosen)) {
		if (as_client(chosen))
			request_ends_link(ADD_LINK_CONT, 0);
		request_ends_link(CONFIRM_RKEY_CONT, 0);
	}
}

/* TEST LINK */

TEST(many_tests)
{
	uint32_t i, answered = 0;

	hostile_open(&h);
	for (i = 0; i < 300; i++) {
		llc_init(&h, &msg, TEST_LINK, 0);
		put(&msg, LLC_AT_BODY, 4, i);
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
		if (i % 20 != 19)
			continue;
		for (; answered <= i; answered++) {
			llc_expect(&h, TEST_LINK, LLC_REPLY);
			EQ(get(&h.llc, LLC_AT_BODY, 4), answered);
		}
	}
	expect_alive(&h);
	hostile_close(&h);
}

/* A thousand at once, and no answer is taken */
TEST(flood_of_tests, PATIENT)
{
	hostile_open(&h);
	h.qp.deaf = true;
	llc_init(&h, &msg, TEST_LINK, 0);
	TRUE(link_flood(&h, &msg, 1000, -1));
	expect_link_down(&h);
	hostile_close(&h);
}

/*
 * Memory for what comes in cannot be waited for, and a reliable link must not lose a message
 * because there is none.
 */

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
}

/* Return: whether this kernel can */
static bool fail_small(const char *how_often)
{
	return write_to("/sys/kernel/slab/kmalloc-96/failslab", *how_often == '0' ? "0" : "1") &&
	       write_to("/sys/kernel/slab/kmalloc-128/failslab", *how_often == '0' ? "0" : "1") &&
	       write_to("/sys/kernel/debug/failslab/cache-filter", "Y") &&
	       write_to("/sys/kernel/debug/failslab/verbose", "0") &&
	       write_to("/sys/kernel/debug/failslab/times", "9") &&
	       write_to("/sys/kernel/debug/failslab/probability", how_often);
}

static bool has_failslab(int index)
{
	(void)index;
	return !access("/sys/kernel/debug/failslab/probability", W_OK);
}

TEST(no_memory_for_messages, .alone = true, .applies = has_failslab)
{
	int i;

	hostile_open(&h);
	TRUE(fail_small("100"));
	for (i = 0; i < 3; i++)
		expect_link_works(&h);
	fail_small("0");
	expect_alive(&h);
	hostile_close(&h);
}

/* ADD LINK, REQUEST ADD LINK */

static bool may_add_link(int index)
{
	return !as_client_v2(index);
}

TEST(add_link_later, .applies = may_add_link)
{
	int i;

	hostile_open(&h);
	for (i = 0; i < 3; i++) {
		llc_add_link(&h, &msg, 0, 2 + i);
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
		if (h.server)
			llc_expect(&h, ADD_LINK, LLC_REPLY | LLC_REJECTED);
	}
	expect_alive(&h);
	hostile_close(&h);
}

TEST(add_link_with_wrong_counts, .applies = as_server_v2)
{
	static const uint16_t counts[] = { 1, 255, 0xffff };
	size_t i;

	hostile_open(&h);
	for (i = 0; i < 3; i++) {
		llc_add_link(&h, &msg, 0, 2);
		put(&msg, 70, 2, counts[i]);
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	}
	expect_alive(&h);
	llc_add_link(&h, &msg, 0, 2);
	msg.len = 73;
	put(&msg, 1, 2, 73);
	must_end_link("part of a key");
}

TEST(request_add_link, .applies = as_client_v2)
{
	int nr;

	hostile_open(&h);
	for (nr = 0; nr < 10; nr++) {
		llc_init(&h, &msg, REQUEST_ADD_LINK, 0);
		put(&msg, 24, 1, nr);
		EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
		/* One address is what the message has room for */
		llc_expect(&h, REQUEST_ADD_LINK, LLC_REPLY | (nr == 1 ? 0 : LLC_REJECTED));
		if (nr == 1)
			EQ(get(&h.llc, LLC_AT_FLAGS, 1) & LLC_REJECTED, 0);
	}
	expect_alive(&h);
	hostile_close(&h);
}

/* DELETE LINK */

static void delete_link(uint8_t flags, uint8_t number)
{
	llc_init(&h, &msg, DELETE_LINK, flags);
	put(&msg, 4, 1, number);
	put(&msg, 5, 4, 0x00020000);
	link_send(&h, &msg);	/* the link may be gone before it acknowledges */
}

TEST(delete_unknown_link)
{
	hostile_open(&h);
	delete_link(0, h.link_num + 1);
	llc_expect(&h, DELETE_LINK, LLC_REPLY);
	EQ(get(&h.llc, 5, 4), 0x00100000);
	delete_link(0, 0);
	llc_expect(&h, DELETE_LINK, LLC_REPLY);
	EQ(get(&h.llc, 5, 4), 0x00100000);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(delete_link)
{
	hostile_open(&h);
	delete_link(0, h.link_num);
	llc_expect(&h, DELETE_LINK, h.server ? LLC_REPLY : 0);
	EQ(get(&h.llc, 4, 1), h.link_num);
	if (!h.server)
		delete_link(LLC_REPLY, h.link_num);
	expect_link_down(&h);
	hostile_close(&h);
}

TEST(delete_link_without_reply, PATIENT, .applies = as_client)
{
	hostile_open(&h);
	delete_link(0, h.link_num);
	llc_expect(&h, DELETE_LINK, 0);
	expect_link_down(&h);
	hostile_close(&h);
}

TEST(delete_link_with_wrong_reply, .applies = as_client)
{
	hostile_open(&h);
	delete_link(0, h.link_num);
	llc_expect(&h, DELETE_LINK, 0);
	llc_init(&h, &msg, DELETE_LINK, LLC_REPLY);
	put(&msg, 4, 1, h.link_num + 1);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	expect_link_works(&h);
	delete_link(LLC_REPLY, h.link_num);
	expect_link_down(&h);
	hostile_close(&h);
}

/* The same while the module waits for another answer, to DELETE LINK */
TEST(answers_to_add_link_meanwhile, .applies = as_client)
{
	hostile_open(&h);
	delete_link(0, h.link_num);
	llc_expect(&h, DELETE_LINK, 0);
	llc_add_link(&h, &msg, LLC_REPLY | LLC_REJECTED, 2);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_add_link(&h, &msg, LLC_REPLY, 2);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	expect_link_works(&h);
	delete_link(LLC_REPLY, h.link_num);
	expect_link_down(&h);
	hostile_close(&h);
}

TEST(delete_all)
{
	hostile_open(&h);
	delete_link(LLC_ALL, 0);
	if (!h.server)
		llc_expect(&h, DELETE_LINK, LLC_ALL);
	expect_link_down(&h);
	hostile_close(&h);
}

/* CONFIRM RKEY, DELETE RKEY */

static void confirm_rkey(uint32_t rkey, uint64_t addr, uint8_t others)
{
	llc_init(&h, &msg, CONFIRM_RKEY, 0);
	put(&msg, 4, 1, others);
	put(&msg, 5, 4, rkey);
	put(&msg, 9, 8, addr);
}

static void rkey_answered(uint8_t flags)
{
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, CONFIRM_RKEY, LLC_REPLY);
	EQ(get(&h.llc, LLC_AT_FLAGS, 1), LLC_REPLY | flags);
}

TEST(more_keys_than_fit)
{
	uint32_t i;

	hostile_open(&h);
	for (i = 0; i < 260; i++) {
		uint32_t rkey = h.my_rkey + 1 + i;

		confirm_rkey(rkey, 4096 * i, 0);
		rkey_answered(i < 254 ? 0 : LLC_NEGATIVE);
	}
	/* One that is known does not count twice */
	confirm_rkey(h.my_rkey, h.my_addr, 0);
	rkey_answered(0);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(key_with_two_addresses)
{
	hostile_open(&h);
	confirm_rkey(h.my_rkey, h.my_addr + 4096, 0);
	must_end_link("two addresses");
}

TEST(keys_for_links_that_do_not_exist)
{
	hostile_open(&h);
	confirm_rkey(0x1234, 0x5678, 2);
	put(&msg, 17, 1, 0);
	put(&msg, 30, 1, 255);
	rkey_answered(0);
	/* This link is none of the others */
	confirm_rkey(0x4321, 0x8765, 1);
	put(&msg, 17, 1, h.link_num);
	put(&msg, 18, 4, h.my_rkey);
	rkey_answered(0);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(too_many_others)
{
	hostile_open(&h);
	confirm_rkey(0x1234, 0x5678, 255);
	must_end_link("255 other links");
	if (with_v1(chosen))
		return;
	hostile_open(&h);
	confirm_rkey(0x1234, 0x5678, 3);
	must_end_link("3 other links");
}

static void continuation(uint8_t left)
{
	llc_init(&h, &msg, CONFIRM_RKEY_CONT, 0);
	put(&msg, 4, 1, left);
}

static void begin_continued(uint8_t others)
{
	hostile_open(&h);
	confirm_rkey(0x1234, 0x5678, others);
	rkey_answered(0);
}

TEST(continuations, .applies = with_v1)
{
	begin_continued(8);
	continuation(6);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, CONFIRM_RKEY_CONT, LLC_REPLY);
	continuation(3);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, CONFIRM_RKEY_CONT, LLC_REPLY);
	expect_alive(&h);
	continuation(0);
	must_end_link("one too many");

	begin_continued(8);
	continuation(5);
	must_end_link("wrong count");
	begin_continued(3);
	confirm_rkey(0x12345, 0x5678, 0);
	must_end_link("another one within");
}

TEST(delete_unknown_keys)
{
	int i, nr = with_v2(chosen) ? 255 : 8;

	hostile_open(&h);
	llc_init(&h, &msg, DELETE_RKEY, 0);
	put(&msg, 4, 1, nr);
	for (i = 0; i < nr; i++)
		put(&msg, 8 + 4 * i, 4, 0xffff0000 + i);
	if (h.version == 2) {
		msg.len = 8 + 4 * nr;
		put(&msg, 1, 2, msg.len);
	}
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, DELETE_RKEY, LLC_REPLY | LLC_NEGATIVE);
	EQ(get(&h.llc, 4, 1), nr);
	EQ(get(&h.llc, 5, 1), 255);
	EQ(get(&h.llc, 8, 4), 0xffff0000);
	EQ(get(&h.llc, 36, 4), 0xffff0007);
	expect_alive(&h);
	hostile_close(&h);
}

TEST(delete_wrong_number_of_keys)
{
	hostile_open(&h);
	llc_init(&h, &msg, DELETE_RKEY, 0);
	must_end_link("no key");
	hostile_open(&h);
	llc_init(&h, &msg, DELETE_RKEY, 0);
	put(&msg, 4, 1, with_v2(chosen) ? 255 : 9);
	must_end_link("more keys than fit");
	if (with_v1(chosen))
		return;
	hostile_open(&h);
	llc_init(&h, &msg, DELETE_RKEY, 0);
	put(&msg, 4, 1, 20);
	msg.len = 8 + 4 * 21;
	put(&msg, 1, 2, msg.len);
	must_end_link("length of another number");
}

/* Nothing is written to memory that was taken back, although a connection uses it */
TEST(delete_key_in_use)
{
	int i;

	hostile_open(&h);
	expect_alive(&h);
	llc_init(&h, &msg, DELETE_RKEY, 0);
	put(&msg, 4, 1, 1);
	put(&msg, 8, 4, h.my_rkey);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, DELETE_RKEY, LLC_REPLY);
	EQ(get(&h.llc, LLC_AT_FLAGS, 1), LLC_REPLY);
	memset(h.qp.ring, GUARD, RING_BYTES);
	send_text(h.app, "to nowhere");
	expect_link_works(&h);
	data_send(&h, "to the application");
	expect_text(h.app, "to the application");
	for (i = 0; i < RING_BYTES; i++)
		EQ(h.qp.ring[i], GUARD);
	/* It is not known any more */
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
	llc_expect(&h, DELETE_RKEY, LLC_REPLY | LLC_NEGATIVE);
	hostile_close(&h);
}

/* Whatever comes: the link works, or it is down */

static void random_message(void)
{
	size_t i;

	llc_init(&h, &msg, 1 + rand() % 9, 0);
	for (i = LLC_AT_FLAGS; i < LLC_LEN; i++)
		if (!(rand() % 4))
			msg.bytes[i] = rand() % 3 ? rand() % 4 : rand();
	if (!(rand() % 10))
		msg.bytes[rand() % 4] = rand();
}

TEST(random_messages)
{
	int round, ended = 0, sent = 0;

	srand(1);
	for (round = 0; round < 4; round++) {
		int i;

		hostile_open(&h);
		for (i = 0; i < 40; i++) {
			random_message();
			sent++;
			if (link_send(&h, &msg) != IBV_WC_SUCCESS)
				break;
			while (llc_wait(&h, 0))
				;
		}
		if (i < 40) {
			ended++;
			expect_link_down(&h);
		}
		hostile_close(&h);
	}
	printf("%d messages ended %d links\n", sent, ended);
}
