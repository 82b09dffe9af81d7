// SPDX-License-Identifier: GPL-2.0-only
/* The application has a larger send buffer than the attacker's ring: data waits for the window */

#include <string.h>

#include "hostile.h"

#define ALL	(3 * RING_BYTES)

static struct hostile h;

/* The application writes more than the ring holds, and the ring is full */
static void open_full(void)
{
	static char data[ALL];

	hostile_init(&h);
	h.sndbuf = 512 * 1024;
	hostile_complete(&h);
	pattern_fill(data, sizeof(data), 0);
	send_all(h.app, data, sizeof(data));
	while (data_unread(&h) < RING_BYTES)
		pause_briefly();
	TRUE(h.their_flags & BLOCKED);
}

/* The attacker reads; what is at @offset of the stream is as it was written */
static void read_ring(uint32_t bytes, uint32_t offset)
{
	static char data[RING_BYTES];
	uint32_t i;

	for (i = 0; i < bytes; i++)
		data[i] = h.qp.ring[(h.cons.count + i) % RING_BYTES];
	pattern_check(data, bytes, offset);
	h.cons = ahead(RING_BYTES, h.cons, bytes);
	cdc_send(&h);
}

/* A message that was under way has arrived with the answer */
static uint32_t unread_after_answer(void)
{
	expect_link_works(&h);
	return data_unread(&h);
}

/* A third of the ring leads to a message, a few bytes do not. The end comes with the last byte */
TEST(window_opens)
{
	uint32_t got = 100, bytes;

	open_full();
	read_ring(got, 0);
	EQ(unread_after_answer(), RING_BYTES - got);
	read_ring(RING_BYTES / 3, got);
	got += RING_BYTES / 3;
	while (data_unread(&h) < RING_BYTES)
		pause_briefly();
	OK(close(h.app));
	h.app = -1;
	while (got < ALL) {
		bytes = unread_after_answer();
		TRUE(got + bytes == ALL || !h.their_state);
		EQ(!(h.their_flags & BLOCKED), got + bytes == ALL);
		read_ring(bytes, got);
		got += bytes;
	}
	EQ(got, ALL);
	expect_state(&h, CLOSED);
	h.state_flags = DONE | CLOSED;
	cdc_send(&h);
	hostile_close(&h);
}

/* Once it knows of the end, it cannot keep the memory by reading on */
TEST(window_read_slowly_after_end, .seconds = 40)
{
	struct pollfd pfd = { .events = POLLERR };
	long begin;

	open_full();
	OK(close(h.app));
	h.app = -1;
	read_ring(RING_BYTES, 0);
	while (data_unread(&h) < RING_BYTES)
		pause_briefly();
	read_ring(RING_BYTES, RING_BYTES);
	while (!(h.their_state & CLOSED)) {
		data_unread(&h);
		pause_briefly();
	}
	pfd.fd = h.tcp;
	begin = now_ms();
	while (!OK(poll(&pfd, 1, 100))) {
		TRUE(now_ms() - begin < 3 * 1000 * FIN_TIMEOUT_S);
		h.cons = ahead(RING_BYTES, h.cons, 1);
		cdc_send(&h);
	}
	hostile_close(&h);
}

/* The attacker has read all that came, and closes. Over TCP its host would answer more by RST */
TEST(window_closed_before_all_came)
{
	open_full();
	h.state_flags = DONE | CLOSED;
	read_ring(RING_BYTES, 0);
	TRUE(wait_events(h.app, POLLERR) & POLLHUP);
	EQ(socket_error(h.app), EPIPE);
	FAILS(send(h.app, "x", 1, MSG_NOSIGNAL), EPIPE);
	OK(close(h.app));
	h.app = -1;
	expect_state(&h, CLOSED);
	expect_link_works(&h);
	hostile_close(&h);
}

TEST(window_closed_before_end)
{
	open_full();
	OK(shutdown(h.app, SHUT_WR));
	h.state_flags = DONE | CLOSED;
	read_ring(RING_BYTES, 0);
	TRUE(wait_events(h.app, POLLERR) & POLLHUP);
	EQ(socket_error(h.app), ECONNRESET);
	OK(close(h.app));
	h.app = -1;
	expect_state(&h, CLOSED);
	hostile_close(&h);
}

/* The application is gone, so only the attacker is told: it has missed something */
static void end_after_close(uint8_t state_flags)
{
	open_full();
	OK(close(h.app));
	h.app = -1;
	EQ(unread_after_answer(), RING_BYTES);
	EQ(h.their_state, 0);
	h.state_flags = state_flags;
	cdc_send(&h);
	expect_state(&h, ABORTED);
	hostile_close(&h);
}

TEST(window_closed_after_close)
{
	end_after_close(DONE | CLOSED);
}

TEST(window_aborted_after_close)
{
	end_after_close(ABORTED);
}

/* It was produced, but it waits */
TEST(window_read_beyond)
{
	open_full();
	h.cons = ahead(RING_BYTES, h.cons, RING_BYTES);
	h.cons = ahead(RING_BYTES, h.cons, 1);
	cdc_send(&h);
	expect_violation(&h);
	hostile_close(&h);
}
