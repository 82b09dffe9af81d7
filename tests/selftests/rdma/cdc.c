// SPDX-License-Identifier: GPL-2.0-only
/* Lies about a connection: cursors, tokens, numbers, flags; and about memory */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define PATIENT		.seconds = 40

static struct hostile h;
static struct msg msg;

/* Cursors. Each lie is the first message after some honest data in both directions. */

/**
 * struct lie - a cursor, in relation to the right one
 * @what: for people
 * @consumer: of the consumer, else of the producer
 * @wrap: added to the wrap count
 * @count: added to the offset; the sizes are those of the ring
 * @sizes: how many times the size of the ring is added
 */
static const struct lie {
	const char *what;
	bool consumer;
	int wrap;
	int count;
	int sizes;
} lies[] = {
	{ "producer at the end", false, 0, 0, 1 },
	{ "producer behind the end", false, 0, 1, 1 },
	{ "producer far outside", false, 0, -1, 30000 },
	{ "producer backwards", false, 0, -1, 0 },
	{ "producer a lap back", false, -1, 0, 0 },
	{ "producer with two laps", false, 2, 0, 0 },
	{ "producer beyond the window", false, 1, 1, 0 },
	{ "producer far beyond the window", false, 100, 5, 0 },
	{ "consumer at the end", true, 0, 0, 1 },
	{ "consumer far outside", true, 0, -1, 30000 },
	{ "consumer backwards", true, 0, -1, 0 },
	{ "consumer beyond what was sent", true, 0, 1, 0 },
	{ "consumer with two laps", true, 2, 0, 0 },
};

static void tell(const struct lie *lie)
{
	struct position *p = lie->consumer ? &h.cons : &h.prod;
	uint32_t size = lie->consumer ? RING_BYTES : h.size;

	p->wrap += lie->wrap;
	p->count = (lie->sizes ? lie->sizes * size : p->count) + lie->count;
	cdc_send(&h);
}

TEST(forged_cursors)
{
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		puts(lies[i].what);
		fflush(stdout);
		hostile_open(&h);
		expect_alive(&h);
		cdc_send(&h);	/* the consumer's cursor */
		tell(&lies[i]);
		expect_violation(&h);
		hostile_close(&h);
	}
}

/* A full ring is no lie; one byte more is */
TEST(one_byte_too_many)
{
	static char data[1 << 20];

	hostile_open(&h);
	pattern_fill(data, h.size, 0);
	data_write(&h, data, h.size);
	h.prod.wrap++;
	cdc_send(&h);
	wait_events(h.app, POLLIN);
	h.prod.count++;
	cdc_send(&h);
	wait_events(h.app, POLLERR);
	/* What was good before can still be read */
	memset(data, 0, sizeof(data));
	recv_all(h.app, data, h.size);
	pattern_check(data, h.size, 0);
	expect_violation(&h);
	hostile_close(&h);
}

/* The ring has room for the urgent byte again when the program is at the mark, and for no more */
TEST(one_byte_too_many_behind_urgent)
{
	static char data[1 << 20];

	hostile_open(&h);
	h.producer_flags = URGENT_PENDING | URGENT_PRESENT;
	data_send(&h, "!");
	wait_events(h.app, POLLPRI);
	h.producer_flags = 0;
	pattern_fill(data, h.size, 0);
	data_write(&h, data, h.size);
	h.prod.wrap++;
	cdc_send(&h);
	wait_events(h.app, POLLIN);
	EQ(recv(h.app, data, sizeof(data), MSG_PEEK), h.size);
	pattern_check(data, h.size, 0);
	h.prod.count++;
	cdc_send(&h);
	wait_events(h.app, POLLERR);
	memset(data, 0, sizeof(data));
	recv_all(h.app, data, h.size);
	pattern_check(data, h.size, 0);
	expect_violation(&h);
	hostile_close(&h);
}

/* After the end nothing counts any more, whatever it is */
TEST(messages_after_abort)
{
	int i;

	hostile_open(&h);
	tell(&lies[0]);
	expect_violation(&h);
	for (i = 0; i < 50; i++) {
		h.prod.count = i * 0x01010101u;
		h.cons.wrap = i;
		h.state_flags = i << 4;
		h.producer_flags = i << 3;
		cdc_send(&h);
	}
	expect_link_works(&h);
	hostile_close(&h);
}

TEST(data_after_its_end)
{
	hostile_open(&h);
	h.state_flags = DONE;
	data_send(&h, "last");
	expect_text(h.app, "last");
	data_send(&h, "more");
	expect_violation(&h);
	hostile_close(&h);
}

TEST(aborted_by_peer)
{
	hostile_open(&h);
	h.state_flags = ABORTED;
	h.prod.count = 0xffffffff;
	cdc_send(&h);
	TRUE(wait_events(h.app, POLLERR) & POLLHUP);
	EQ(socket_error(h.app), ECONNRESET);
	expect_link_works(&h);
	hostile_close(&h);
}

/* As over TCP, an end that comes after both ends of the stream is no error */
TEST(aborted_after_both_ends)
{
	hostile_open(&h);
	send_last(&h);
	OK(shutdown(h.app, SHUT_WR));
	expect_state(&h, DONE);
	h.state_flags |= ABORTED;
	cdc_send(&h);
	expect_state(&h, ABORTED);
	expect_untold(&h);
	expect_link_works(&h);
	hostile_close(&h);
}

TEST(all_flags)
{
	hostile_open(&h);
	h.producer_flags = 0xff & ~FAILOVER;
	h.state_flags = 0xff & ~ABORTED;
	data_send(&h, "urgent and last");
	wait_events(h.app, POLLIN);
	expect_link_works(&h);
	hostile_close(&h);
}

/* Urgent bytes that do not exist */
TEST(urgent_nothing)
{
	int i;

	hostile_open(&h);
	for (i = 0; i < 20; i++) {
		h.producer_flags = i % 2 ? URGENT_PRESENT | URGENT_PENDING : URGENT_PRESENT;
		cdc_send(&h);
	}
	h.producer_flags = 0;
	expect_alive(&h);
	hostile_close(&h);
}

/* Tokens and numbers: such messages are nobody's, or obsolete */

static void send_changed(size_t at, int bytes, uint64_t value)
{
	cdc_build(&h, &msg);
	put(&msg, CDC_AT_SEQNO, 2, h.seqno + 1);
	put(&msg, CDC_AT_PRODUCER + 4, 4, 0xffffffff);	/* would be a violation */
	put(&msg, at, bytes, value);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
}

TEST(unknown_tokens)
{
	int bit;

	hostile_open(&h);
	for (bit = 0; bit < 32; bit++)
		send_changed(CDC_AT_TOKEN, 4, h.token ^ 1u << bit);
	send_changed(CDC_AT_TOKEN, 4, 0);
	expect_alive(&h);
	EQ(counter_of(COUNTERS_R, COUNT_VIOLATIONS) > h.violations &&
	   socket_error(h.app), 0);
	hostile_close(&h);
}

TEST(obsolete_numbers)
{
	static const uint16_t back[] = { 0, 1, 2, 100, 0x7fff, 0x8000 };
	size_t i;

	hostile_open(&h);
	expect_alive(&h);
	for (i = 0; i < sizeof(back) / sizeof(back[0]); i++)
		send_changed(CDC_AT_SEQNO, 2, h.seqno - back[i]);
	expect_alive(&h);
	hostile_close(&h);
}

/* Its cursors mean nothing. Everything up to @number is said to have arrived */
static void send_failover(uint16_t number)
{
	cdc_build(&h, &msg);
	put(&msg, CDC_AT_SEQNO, 2, number);
	put(&msg, CDC_AT_PRODUCER + 4, 4, 0xffffffff);
	put(&msg, CDC_AT_CONSUMER + 4, 4, 0xffffffff);
	put(&msg, CDC_AT_FLAGS, 1, FAILOVER);
	put(&msg, CDC_AT_STATE, 1, 0xff);
	EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
}

TEST(failover_messages)
{
	static const uint16_t back[] = { 0, 1, 2, 100, 0x7fff };
	size_t i;

	hostile_open(&h);
	expect_alive(&h);
	for (i = 0; i < sizeof(back) / sizeof(back[0]); i++)
		send_failover(h.seqno - back[i]);
	expect_alive(&h);
	hostile_close(&h);
}

/* What the peer's adapter has confirmed did not arrive: data was lost (R-FO-06) */
static void lose_messages(uint16_t ahead)
{
	hostile_open(&h);
	expect_alive(&h);
	send_failover(h.seqno + ahead);
	TRUE(wait_events(h.app, POLLERR) & POLLHUP);
	EQ(socket_error(h.app), ECONNRESET);
	send_failover(h.seqno + ahead);
	expect_link_works(&h);
	hostile_close(&h);
}

TEST(failover_after_loss)
{
	lose_messages(1);
	lose_messages(0x7fff);
}

#define FLOODS		4

/* A thousand honest messages that say nothing, as fast as they can be sent */
TEST(flood)
{
	struct request request = { .opcode = IBV_WR_SEND };
	int i;

	hostile_open(&h);
	for (i = 0; i < 1000; i++) {
		if (i >= IN_FLIGHT)
			EQ(qp_completion(&h.qp), IBV_WC_SUCCESS);
		h.seqno++;
		cdc_build(&h, &msg);
		request.bytes = msg.bytes;
		request.len = msg.len;
		qp_post(&h.qp, &request);
	}
	for (i = 0; i < IN_FLIGHT; i++)
		EQ(qp_completion(&h.qp), IBV_WC_SUCCESS);
	expect_alive(&h);
	hostile_close(&h);
}

/* What still comes in is of no use to a link that ends, but it finds it busy */
TEST(flood_while_link_ends, PATIENT)
{
	int i;

	for (i = 0; i < FLOODS; i++) {
		hostile_open(&h);
		h.seqno++;
		cdc_build(&h, &msg);
		TRUE(link_flood(&h, &msg, 2000, 2 * IN_FLIGHT));
		expect_link_down(&h);
		hostile_close(&h);
	}
}

/* Memory */

static void must_end_link(const struct request *request)
{
	qp_do(&h.qp, request);
	expect_link_down(&h);
	hostile_close(&h);
}

static struct request request_for(enum ibv_wr_opcode opcode, size_t len)
{
	hostile_open(&h);
	return (struct request){ .opcode = opcode, .len = len, .addr = h.addr, .rkey = h.rkey };
}

TEST(write_outside_of_memory)
{
	struct request request = request_for(IBV_WR_RDMA_WRITE, 64);

	request.addr += 1 << 30;
	must_end_link(&request);
	request = request_for(IBV_WR_RDMA_WRITE, 64);
	request.addr = 0;
	must_end_link(&request);
}

TEST(write_with_wrong_key)
{
	struct request request = request_for(IBV_WR_RDMA_WRITE, 64);

	request.rkey ^= 0x100;
	must_end_link(&request);
}

TEST(read_and_atomic)
{
	struct request request = request_for(IBV_WR_RDMA_READ, 64);

	must_end_link(&request);
	request = request_for(IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	must_end_link(&request);
}

/* It completes a receive with the length of what was written */
TEST(write_with_immediate_data, PATIENT)
{
	static const size_t lengths[] = { 0, 1, 44, 64, 65, 8192, 8193, 60000 };
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct request request = request_for(IBV_WR_RDMA_WRITE_WITH_IMM, lengths[i]);

		must_end_link(&request);
	}
}

/* The application writes to memory that is not there */
TEST(forged_key)
{
	hostile_init(&h);
	h.my_rkey = 0x12345678;
	hostile_clc(&h);
	hostile_confirm_link(&h);
	hostile_add_link(&h);
	hostile_finish(&h);
	send_text(h.app, "to nowhere");
	expect_link_down(&h);
	hostile_close(&h);
}

/* An element that is in use: whoever had it has lost it */
TEST(element_used_twice)
{
	static struct hostile second;

	hostile_open(&h);
	expect_alive(&h);
	hostile_again(&second, &h, 1);
	TRUE(wait_events(h.app, POLLERR) & POLLHUP);
	EQ(socket_error(h.app), ECONNRESET);
	memset(h.qp.ring, 0, RING_BYTES);
	expect_alive(&second);
	hostile_leave(&second);
	hostile_close(&h);
}

/* The group ends when it has had no connection for a second. Return: after how long in all */
static long reset_after_close(void)
{
	struct linger at_once = { .l_onoff = 1 };
	long start = now_ms();

	hostile_hear_close(&h);
	EQ(setsockopt(h.tcp, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
	close(h.tcp);
	h.tcp = -1;
	llc_expect(&h, DELETE_LINK, LLC_ALL);
	return now_ms() - start;
}

/* The RST of a peer shortens the time that a closed connection waits, and never extends it */
TEST(reset_after_close, .alone = true, .applies = as_client)
{
	int tries = 3;
	long waited;

	set_sysctl("net/ipv4/tcp_fin_timeout", 1);	/* half of what a RST leaves */
	do {
		hostile_open(&h);
		waited = reset_after_close();
		hostile_close(&h);
	} while (waited >= 2900 && --tries);	/* the machine may be busy */
	set_sysctl("net/ipv4/tcp_fin_timeout", FIN_TIMEOUT_S);
	TRUE(waited < 2900);
}

/* Silence on an open connection */

TEST(queue_pair_gone, PATIENT)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	hostile_open(&h);
	EQ(ibv_modify_qp(h.qp.qp, &attr, IBV_QP_STATE), 0);
	send_text(h.app, "to nobody");
	expect_link_down(&h);
	hostile_close(&h);
}

TEST(queue_pair_gone_after_both_ends, PATIENT)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	hostile_open(&h);
	send_last(&h);
	EQ(ibv_modify_qp(h.qp.qp, &attr, IBV_QP_STATE), 0);
	OK(shutdown(h.app, SHUT_WR));
	expect_link_down_untold(&h);
	hostile_close(&h);
}

static void lose_data(int how)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	hostile_open(&h);
	send_last(&h);
	expect_text(h.app, "last");
	EQ(ibv_modify_qp(h.qp.qp, &attr, IBV_QP_STATE), 0);
	send_text(h.app, "to nobody");
	OK(shutdown(h.app, how));
	expect_data_lost(&h);
	hostile_close(&h);
}

TEST(data_lost_after_both_ends, PATIENT)
{
	lose_data(SHUT_WR);
	lose_data(SHUT_RDWR);
}

/* Links that were opened before will be looked at later */
static void set_test_time(int seconds)
{
	set_sysctl("net/smc/smcr_testlink_time", seconds);
}

/* The attacker acknowledges whatever comes, and answers nothing */
TEST(silent_on_open_link, PATIENT, .alone = true)
{
	set_test_time(1);
	hostile_open(&h);
	h.mute = true;
	llc_expect(&h, TEST_LINK, 0);
	expect_link_down(&h);
	set_test_time(30);
	hostile_close(&h);
}

/* What comes in says that the attacker is there, for longer than it may take for the answer */
TEST(busy_and_mute_on_open_link, PATIENT, .alone = true)
{
	long end;

	set_test_time(1);
	hostile_open(&h);
	h.mute = true;
	llc_expect(&h, TEST_LINK, 0);
	for (end = now_ms() + 7000; now_ms() < end; pause_briefly()) {
		data_send(&h, "busy");
		expect_text(h.app, "busy");
	}
	expect_link_down(&h);
	set_test_time(30);
	hostile_close(&h);
}

TEST(deaf_on_open_link, PATIENT, .alone = true)
{
	int i;

	set_test_time(1);
	hostile_open(&h);
	h.qp.deaf = true;
	/* There is room for some messages still */
	for (i = 0; i < 2 * RECV_SLOTS; i++)
		if (send(h.app, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	expect_link_down(&h);
	set_test_time(30);
	hostile_close(&h);
}

/* Random lies: the connection is aborted, or nothing happens */
TEST(random_messages_of_control)
{
	int round;

	srand(2);
	for (round = 0; round < 10; round++) {
		int i;

		hostile_open(&h);
		for (i = 0; i < 100; i++) {
			size_t at;

			h.seqno += rand() % 3;
			cdc_build(&h, &msg);
			for (at = CDC_AT_PRODUCER; at < CDC_LEN; at++)
				if (!(rand() % 8))
					msg.bytes[at] = rand() % 2 ? rand() % 4 : rand();
			EQ(link_send(&h, &msg), IBV_WC_SUCCESS);
		}
		expect_link_works(&h);
		hostile_close(&h);
	}
}
