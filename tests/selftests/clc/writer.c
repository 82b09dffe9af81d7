// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attacker has an SMC-D connection and lies about it. Whatever he claims in his control
 * block, the connection is aborted, and nobody else is harmed.
 */

#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"

#define HOSTILE		.applies = writer_attacks
#define FUZZ_ROUNDS	400

static struct forge f;

static bool writer_attacks(int index)
{
	return index == HOSTILE_WRITER;
}

static void wait_until_free(void)
{
	long end = now_ms() + scaled(60000);

	while (window_attached(&f.in) || window_owned(&f.out)) {
		if (now_ms() > end)
			FAIL("the connection still holds its memory");
		pause_briefly();
	}
}

/* First of all: an honest peer */

TEST(honest_data, HOSTILE)
{
	char buf[16] = "";

	forge_open(&f);
	forge_send(&f, "from the peer");
	expect_text(f.app, "from the peer");
	send_text(f.app, "to the peer");
	forge_receive(&f, buf, 11);
	TRUE(!memcmp(buf, "to the peer", 11));
	EQ(their_producer_flags(&f), 0);
	EQ(their_state_flags(&f), 0);
	EQ(violations(), 0);
	check_guards(&f);
}

TEST(honest_close_by_peer, HOSTILE)
{
	forge_open(&f);
	f.state_flags = DONE;
	forge_send(&f, "last");
	expect_text(f.app, "last");
	expect_eof(f.app);
	send_text(f.app, "answer");
	EQ(available(&f), 6);
	OK(close(f.app));
	EQ(their_state_flags(&f) & (DONE | CLOSED), DONE | CLOSED);
	f.state_flags = DONE | CLOSED;
	forge_post(&f);
	wait_until_free();
}

TEST(honest_close_by_application, HOSTILE)
{
	forge_open(&f);
	OK(shutdown(f.app, SHUT_WR));
	EQ(their_state_flags(&f), DONE);
	forge_send(&f, "answer");
	expect_text(f.app, "answer");
	OK(close(f.app));
	EQ(their_state_flags(&f), DONE | CLOSED);
	f.state_flags = DONE | CLOSED;
	forge_post(&f);
	wait_until_free();
}

static void send_three_rings(void *arg)
{
	char *buf = malloc(200000);

	(void)arg;
	pattern_fill(buf, 200000, 0);
	EQ(send(f.app, buf, 200000, 0), 200000);
}

/* The ring fills up, the writer says so, and goes on when there is space */
TEST(honest_flow_control, HOSTILE)
{
	struct worker worker;
	uint32_t done = 0;
	char buf[5000];

	forge_open(&f);
	worker_start(&worker, send_three_rings, NULL);
	worker_asleep(&worker);
	EQ(available(&f), f.in.size);
	EQ(their_producer_flags(&f) & BLOCKED, BLOCKED);
	while (done < 200000) {
		uint32_t n = available(&f) < sizeof(buf) ? available(&f) : sizeof(buf);

		forge_receive(&f, buf, n);
		pattern_check(buf, n, done);
		done += n;
		if (n)
			forge_post(&f);
		else
			pause_briefly();
	}
	worker_join(&worker);
	check_guards(&f);
	EQ(violations(), 0);
}

TEST(honest_ring_end, HOSTILE)
{
	uint32_t total, sent = 0, i;
	char buf[7001];

	forge_open(&f);
	total = 3 * f.out.size;
	for (i = 0; sent < total; i++) {
		uint32_t n = 1 + (i * 2731) % sizeof(buf);

		pattern_fill(buf, n, sent);
		forge_write(&f, buf, n);
		f.prod = forward(&f.out, f.prod, n);
		forge_post(&f);
		drain(f.app, n, sent);
		sent += n;
	}
	EQ(violations(), 0);
}

TEST(honest_consumer_update_when_asked, HOSTILE)
{
	struct position p;

	forge_open(&f);
	forge_send(&f, "abc");
	expect_text(f.app, "abc");
	f.producer_flags = UPDATE_WANTED;
	forge_post(&f);
	p = their_consumer(&f);
	EQ(p.count, 3);
}

TEST(honest_urgent_data, HOSTILE)
{
	char byte = 0;

	forge_open(&f);
	f.producer_flags = URGENT_PENDING | URGENT_PRESENT;
	forge_send(&f, "abc!");
	TRUE(wait_events(f.app, POLLPRI) & POLLPRI);
	EQ(recv(f.app, &byte, 1, MSG_OOB), 1);
	EQ(byte, '!');
	expect_text(f.app, "abc");
	f.producer_flags = 0;
	forge_send(&f, "def");
	expect_text(f.app, "def");
}

TEST(peer_aborts, HOSTILE)
{
	char byte;

	forge_open(&f);
	f.state_flags = ABORTED;
	forge_post(&f);
	TRUE(wait_events(f.app, POLLERR) & POLLHUP);
	FAILS(recv(f.app, &byte, 1, 0), ECONNRESET);
	EQ(violations(), 0);
	close(f.app);
	wait_until_free();
}

/* As over TCP, an end that comes after both ends of the stream is no error */
TEST(peer_aborts_after_both_ends, HOSTILE)
{
	char byte;

	forge_open(&f);
	f.state_flags = DONE;
	forge_send(&f, "last");
	wait_events(f.app, POLLRDHUP);
	OK(shutdown(f.app, SHUT_WR));
	f.state_flags |= ABORTED;
	forge_post(&f);
	EQ(events_now(f.app) & (POLLERR | POLLHUP), POLLHUP);
	EQ(socket_error(f.app), 0);
	expect_text(f.app, "last");
	EQ(recv(f.app, &byte, 1, 0), 0);
	EQ(violations(), 0);
	close(f.app);
	wait_until_free();
}

/* Then the lies */

TEST(producer_beyond_ring, HOSTILE)
{
	forge_open(&f);
	f.prod.count = f.out.size;
	forge_post(&f);
	expect_aborted(&f);
}

TEST(producer_far_beyond_ring, HOSTILE)
{
	forge_open(&f);
	f.prod.count = 0xffffffff;
	forge_post(&f);
	expect_aborted(&f);
}

TEST(producer_one_beyond_window, HOSTILE)
{
	forge_open(&f);
	f.prod = (struct position){ 1, 1 };
	forge_post(&f);
	expect_aborted(&f);
}

TEST(producer_fills_window, HOSTILE)
{
	forge_open(&f);
	f.prod = (struct position){ 1, 0 };	/* exactly all there is: allowed */
	forge_post(&f);
	wait_amount(f.app, f.out.size);
	EQ(violations(), 0);
	f.prod.count = 1;
	forge_post(&f);
	TRUE(wait_events(f.app, POLLERR) & POLLERR);
	EQ(violations(), 1);
}

TEST(producer_backwards, HOSTILE)
{
	forge_open(&f);
	forge_send(&f, "abcdef");
	expect_text(f.app, "abcdef");
	f.prod.count = 5;
	forge_post(&f);
	expect_aborted(&f);
}

TEST(producer_backwards_over_ring_end, HOSTILE)
{
	forge_open(&f);
	f.prod = (struct position){ 0xffff, f.out.size - 1 };
	forge_post(&f);
	expect_aborted(&f);
}

TEST(producer_turns_too_often, HOSTILE)
{
	forge_open(&f);
	f.prod = (struct position){ 2, 0 };
	forge_post(&f);
	expect_aborted(&f);
}

TEST(consumer_beyond_what_was_sent, HOSTILE)
{
	forge_open(&f);
	send_text(f.app, "abc");
	f.cons.count = 4;
	forge_post(&f);
	expect_aborted(&f);
}

TEST(consumer_of_nothing, HOSTILE)
{
	forge_open(&f);
	f.cons.count = 1;
	forge_post(&f);
	expect_aborted(&f);
}

TEST(consumer_beyond_ring, HOSTILE)
{
	forge_open(&f);
	f.cons.count = f.in.size;
	forge_post(&f);
	expect_aborted(&f);
}

TEST(consumer_backwards, HOSTILE)
{
	forge_open(&f);
	send_text(f.app, "abcdef");
	f.cons.count = 6;
	forge_post(&f);
	EQ(violations(), 0);
	f.cons.count = 3;
	forge_post(&f);
	expect_aborted(&f);
}

TEST(consumer_another_turn, HOSTILE)
{
	forge_open(&f);
	send_text(f.app, "abc");
	f.cons = (struct position){ 1, 0 };
	forge_post(&f);
	expect_aborted(&f);
}

/* What came before the lie is read before the error */
TEST(data_before_the_lie, HOSTILE)
{
	forge_open(&f);
	forge_send(&f, "honest");
	f.prod.count = 0xffffffff;
	forge_post(&f);
	expect_text(f.app, "honest");
	expect_aborted(&f);
}

static void receive_abort(void *arg)
{
	char byte;

	(void)arg;
	FAILS(recv(f.app, &byte, 1, 0), ECONNABORTED);
}

static void send_abort(void *arg)
{
	static char buf[300000];

	(void)arg;
	TRUE(send(f.app, buf, sizeof(buf), MSG_NOSIGNAL) > 0);
}

TEST(reader_is_woken, HOSTILE)
{
	struct worker worker;

	forge_open(&f);
	worker_start(&worker, receive_abort, NULL);
	worker_asleep(&worker);
	f.prod.count = 0xffffffff;
	forge_post(&f);
	worker_join(&worker);
}

TEST(writer_is_woken, HOSTILE)
{
	struct worker worker;

	forge_open(&f);
	worker_start(&worker, send_abort, NULL);
	worker_asleep(&worker);
	f.prod.count = 0xffffffff;
	forge_post(&f);
	worker_join(&worker);
	FAILS(send(f.app, "x", 1, MSG_NOSIGNAL), ECONNABORTED);
}

/* A block that is none changes nothing */
TEST(wrong_block_type, HOSTILE)
{
	forge_open(&f);
	forge_send(&f, "abc");
	f.prod.count = 0xffffffff;
	forge_post_as(&f, 0x00);
	forge_post_as(&f, 0xff);
	EQ(violations(), 0);
	expect_text(f.app, "abc");
	f.prod.count = 3;
	forge_send(&f, "def");
	expect_text(f.app, "def");
}

/* Flags in every combination, with cursors that are right */
TEST(all_flags, HOSTILE)
{
	int flags;

	for (flags = 0; flags < 256; flags += 5) {
		forge_open(&f);
		f.producer_flags = flags;
		forge_send(&f, "abc");
		f.state_flags = flags;
		forge_post(&f);
		wait_events(f.app, POLLIN | POLLPRI | POLLERR);
		send(f.app, "answer", 6, MSG_NOSIGNAL);
		check_guards(&f);
		EQ(violations(), 0);
		forge_close(&f);
	}
}

TEST(urgent_without_data, HOSTILE)
{
	char byte;

	forge_open(&f);
	f.producer_flags = URGENT_PENDING | URGENT_PRESENT;
	forge_post(&f);
	forge_post(&f);
	FAILS(recv(f.app, &byte, 1, MSG_DONTWAIT), EAGAIN);
	TRUE(recv(f.app, &byte, 1, MSG_OOB | MSG_DONTWAIT) == -1);
	f.producer_flags = 0;
	forge_send(&f, "x");
	expect_text(f.app, "x");
	check_guards(&f);
}

TEST(data_after_the_end, HOSTILE)
{
	forge_open(&f);
	f.state_flags = DONE;
	forge_post(&f);
	expect_eof(f.app);
	forge_send(&f, "too late");
	/* It is a violation, or it is not seen; the stream has ended in any case */
	if (!(events_now(f.app) & POLLERR))
		expect_eof(f.app);
	check_guards(&f);
}

TEST(end_taken_back, HOSTILE)
{
	forge_open(&f);
	f.state_flags = DONE | CLOSED;
	forge_post(&f);
	expect_eof(f.app);
	f.state_flags = 0;
	forge_send(&f, "alive again");
	if (!(events_now(f.app) & POLLERR))
		expect_eof(f.app);
	check_guards(&f);
}

/* It closes, and has not read what fills its ring: a writer does not wait for that */
TEST(closed_beside_full_ring, HOSTILE)
{
	forge_open(&f);
	send_until_full(f.app, 0);
	EQ(events_now(f.app) & POLLOUT, 0);
	f.state_flags = DONE | CLOSED;
	forge_post(&f);
	TRUE(wait_events(f.app, POLLRDHUP) & POLLOUT);
	send_text(f.app, "for nobody");
	TRUE(wait_events(f.app, POLLERR) & POLLHUP);
	check_guards(&f);
}

static void close_and_reset(void)
{
	f.state_flags = DONE | CLOSED;
	forge_send(&f, "last");
	set_linger(f.tcp, 1, 0);
	close(f.tcp);
	do {
		pause_briefly();
	} while (tcp_state(f.app) != TCP_CLOSE);
}

/* It has read everything, and only waits no more */
TEST(reset_after_close, HOSTILE)
{
	char buf[8];

	forge_open(&f);
	send_text(f.app, "read");
	forge_receive(&f, buf, 4);
	close_and_reset();
	EQ(events_now(f.app), POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM);
	expect_text(f.app, "last");
	expect_eof(f.app);
	EQ(socket_error(f.app), 0);
}

/* Otherwise the program learns that something is lost */
TEST(reset_after_close_without_reading, HOSTILE)
{
	forge_open(&f);
	send_text(f.app, "not read");
	close_and_reset();
	TRUE(wait_events(f.app, POLLERR) & POLLHUP);
	EQ(socket_error(f.app), EPIPE);
	expect_text(f.app, "last");
	expect_eof(f.app);
}

TEST(signals_after_close, HOSTILE)
{
	int i;

	forge_open(&f);
	close(f.app);
	for (i = 0; i < 100; i++) {
		f.prod = forward(&f.out, f.prod, 1);
		forge_post(&f);
	}
	f.state_flags = DONE | CLOSED;
	forge_post(&f);
	wait_until_free();
	forge_post(&f);
	check_guards(&f);
}

/* A peer that never says that it is done: the memory is given back all the same */
TEST(silent_after_close, HOSTILE)
{
	forge_open(&f);
	send_text(f.app, "data");
	close(f.app);
	wait_until_free();
	check_guards(&f);
}

TEST(silent_after_abort, HOSTILE)
{
	forge_open(&f);
	forge_send(&f, "unread");
	wait_amount(f.app, 6);
	close(f.app);
	EQ(their_state_flags(&f) & ABORTED, ABORTED);
	wait_until_free();
}

/* The TCP connection below is reset */
TEST(reset_below, HOSTILE)
{
	char byte;

	forge_open(&f);
	forge_send(&f, "data");
	set_linger(f.tcp, 1, 0);
	close(f.tcp);
	TRUE(wait_events(f.app, POLLERR) & POLLHUP);
	expect_text(f.app, "data");
	FAILS(recv(f.app, &byte, 1, 0), ECONNRESET);
	close(f.app);
	wait_until_free();
}

/* Bytes on the TCP connection may end the connection, but nobody gets to see them */
TEST(bytes_below, HOSTILE)
{
	char buf[64] = "";
	ssize_t n;

	forge_open(&f);
	EQ(send(f.tcp, "never to be seen", 16, 0), 16);
	forge_send(&f, "seen");
	wait_events(f.app, POLLIN);
	n = recv(f.app, buf, sizeof(buf), MSG_DONTWAIT);
	if (n < 0) {
		EQ(errno, ECONNRESET);
		return;
	}
	EQ(n, 4);
	TRUE(!strcmp(buf, "seen"));
}

TEST(buffer_smaller_than_said, HOSTILE)
{
	static struct msg msg, reply;
	struct device dev;
	int listener = listen_any(5), tcp;

	forge_device(&dev);
	tcp = attacker_connect(listener);
	proposal(&msg, &dev);
	attacker_send(tcp, &msg);
	attacker_expect(tcp, &reply, ACCEPTED);
	f.in = window_make(16384);
	accept_or_confirm(&msg, CONFIRM, &dev, f.in.token, 1);	/* says 64 KiB */
	attacker_send(tcp, &msg);
	attacker_expect(tcp, &reply, DECLINED);
	expect_fallback(tcp, listener, "");
	EQ(window_attached(&f.in), 0);
}

TEST(buffer_used_twice, HOSTILE)
{
	static struct msg msg, reply;
	struct device dev;
	int tcp;

	forge_open(&f);
	forge_device(&dev);
	tcp = attacker_connect(f.listener);
	proposal(&msg, &dev);
	attacker_send(tcp, &msg);
	attacker_expect(tcp, &reply, ACCEPTED);
	accept_or_confirm(&msg, CONFIRM, &dev, f.in.token, 1);
	attacker_send(tcp, &msg);
	attacker_expect(tcp, &reply, DECLINED);
	expect_fallback(tcp, f.listener, "");
	forge_send(&f, "still good");
	expect_text(f.app, "still good");
}

static uint32_t next_random(void)
{
	static uint64_t state = 0x2545f4914f6cdd1dULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 32;
}

/* Noise in the control block while the application reads and writes */
TEST(noise, HOSTILE)
{
	char buf[3000];
	int i, j;

	for (i = 0; i < FUZZ_ROUNDS / 10; i++) {
		forge_open(&f);
		for (j = 0; j < 10; j++) {
			uint32_t *block = (uint32_t *)f.out.dmb;

			send(f.app, buf, 1 + next_random() % sizeof(buf),
			     MSG_DONTWAIT | MSG_NOSIGNAL);
			block[2 + next_random() % 4] = next_random() >> next_random() % 32;
			f.prod = (struct position){
				next_random() % 3, next_random() % (f.out.size + 10),
			};
			if (j & 1)
				f.cons = (struct position){ next_random() % 2,
							    next_random() % (f.in.size + 10) };
			f.producer_flags = next_random() % 8 ? 0 : next_random();
			forge_post(&f);
			recv(f.app, buf, sizeof(buf), MSG_DONTWAIT);
			recv(f.app, buf, 1, MSG_DONTWAIT | MSG_OOB);
		}
		close(f.app);
		check_guards(&f);
		forge_close(&f);
	}
}

/* Others on the same machine, and on the same listener, notice nothing */
TEST(others_are_not_harmed, HOSTILE)
{
	int pair[2], i;

	forge_open(&f);
	pair_from(f.listener, pair);
	for (i = 0; i < 20; i++) {
		send_text(pair[0], "before");
		f.prod.count = 0xfffffff0 + i;
		forge_post(&f);
		expect_text(pair[1], "before");
		send_text(pair[1], "after");
		expect_text(pair[0], "after");
	}
	expect_aborted(&f);
	pair_close(pair);
	pair_from(f.listener, pair);
	send_text(pair[0], "a new one");
	expect_text(pair[1], "a new one");
}
