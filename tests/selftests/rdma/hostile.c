// SPDX-License-Identifier: GPL-2.0-only
/* The attacker's part of LLC and CDC, and what must come of it */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define ANSWER_MS	60000
#define LONGEST_MS	60000	/* retries of the queue pair, and the longest timer of LLC */

static int bystanders[2];

/* --- LLC --- */

void llc_init(const struct hostile *h, struct msg *msg, enum llc_type type, uint8_t flags)
{
	memset(msg->bytes, 0, 256);
	msg->len = LLC_LEN;
	put(msg, 0, 1, h->version == 2 ? LLC_V2 | type : type);
	if (h->version == 2)
		put(msg, 1, 2, LLC_LEN);
	else
		put(msg, 1, 1, LLC_LEN);
	put(msg, LLC_AT_FLAGS, 1, flags);
}

void llc_confirm_link(struct hostile *h, struct msg *msg, uint8_t flags)
{
	llc_init(h, msg, CONFIRM_LINK, flags | LLC_NO_EYE_CATCHER);
	memcpy(msg->bytes + 4, h->qp.mac, 6);
	memcpy(msg->bytes + 10, &h->qp.gid, 16);
	put(msg, 26, 3, h->qp.qp->qp_num);
	put(msg, 29, 1, h->link_num);
	put(msg, 30, 4, 0x77777777);
	put(msg, 34, 1, 2);
	if (h->version == 2)
		put(msg, 35, 1, 255);
}

void llc_add_link(const struct hostile *h, struct msg *msg, uint8_t flags, uint8_t link_num)
{
	llc_init(h, msg, ADD_LINK, flags);
	memcpy(msg->bytes + 4, h->qp.mac, 6);
	memcpy(msg->bytes + 12, &h->qp.gid, 16);
	put(msg, 28, 3, 0x123456);
	put(msg, 31, 1, link_num);
	put(msg, 32, 1, 3);
	put(msg, 33, 3, 0x654321);
	if (h->version == 2 && !(flags & LLC_REJECTED)) {
		msg->len = 72;
		put(msg, 1, 2, msg->len);
	}
}

enum ibv_wc_status link_send(struct hostile *h, const struct msg *msg)
{
	const struct request request = {
		.opcode = IBV_WR_SEND, .bytes = msg->bytes, .len = msg->len,
	};

	return qp_do(&h->qp, &request);
}

bool link_flood(struct hostile *h, const struct msg *msg, int times, int short_one)
{
	struct request request = { .opcode = IBV_WR_SEND, .bytes = msg->bytes };
	int i, posted = 0, done = 0;
	bool broken = false;

	for (i = 0; i < times && !broken; i++) {
		request.len = i == short_one ? msg->len - 1 : msg->len;
		qp_post(&h->qp, &request);
		if (++posted - done == IN_FLIGHT) {
			broken = qp_completion(&h->qp) != IBV_WC_SUCCESS;
			done++;
		}
	}
	while (done++ < posted)
		broken |= qp_completion(&h->qp) != IBV_WC_SUCCESS;
	return broken;
}

static struct position position_in(const uint8_t *at)
{
	return (struct position){ at[2] << 8 | at[3],
				  (uint32_t)at[4] << 24 | at[5] << 16 | at[6] << 8 | at[7] };
}

static void take_cdc(struct hostile *h, const uint8_t *bytes, size_t len)
{
	static struct msg cdc;

	EQ(len, CDC_LEN);
	EQ(bytes[1], CDC_LEN);
	memcpy(cdc.bytes, bytes, len);
	if (get(&cdc, CDC_AT_TOKEN, 4) != h->my_token)
		return;
	h->has_cdc = true;
	h->their_prod = position_in(bytes + CDC_AT_PRODUCER);
	h->their_cons = position_in(bytes + CDC_AT_CONSUMER);
	h->their_flags = bytes[CDC_AT_FLAGS];
	h->their_state = bytes[CDC_AT_STATE];
}

/* The module may want to know whether we are there, or tell of memory, at any moment */
static bool answered(struct hostile *h, uint8_t *bytes)
{
	enum llc_type type = bytes[0] & 0x0f;
	static struct msg msg;

	if (h->mute || bytes[LLC_AT_FLAGS] & LLC_REPLY)
		return false;
	if (type != TEST_LINK && type != CONFIRM_RKEY && type != DELETE_RKEY)
		return false;
	memcpy(msg.bytes, bytes, LLC_LEN);
	msg.len = LLC_LEN;
	msg.bytes[LLC_AT_FLAGS] |= LLC_REPLY;
	if (h->refuse && type == CONFIRM_RKEY)
		msg.bytes[LLC_AT_FLAGS] |= LLC_NEGATIVE;
	link_send(h, &msg);
	return true;
}

/* Takes what has come in. True: an LLC message, which is in h->llc */
static bool take_one(struct hostile *h)
{
	static uint8_t bytes[RECV_BYTES];
	size_t len;

	while ((len = qp_received(&h->qp, bytes))) {
		if (bytes[0] == CDC_TYPE) {
			take_cdc(h, bytes, len);
			continue;
		}
		TRUE(len >= LLC_LEN);
		if (answered(h, bytes))
			continue;
		memcpy(h->llc.bytes, bytes, len);
		h->llc.len = len;
		return true;
	}
	return false;
}

/* Takes what has come in, of which only CDC messages are expected */
static void take_no_llc(struct hostile *h)
{
	if (take_one(h))
		FAIL("LLC message of type %#x, flags %#x", (int)get(&h->llc, 0, 1),
		     (int)get(&h->llc, LLC_AT_FLAGS, 1));
}

bool llc_wait(struct hostile *h, int milliseconds)
{
	long end = now_ms() + milliseconds;

	while (!take_one(h)) {
		if (now_ms() > end)
			return false;
		pause_briefly();
	}
	return true;
}

void llc_expect(struct hostile *h, enum llc_type type, uint8_t flags)
{
	if (!llc_wait(h, scaled(ANSWER_MS)))
		FAIL("no LLC message of type %d", type);
	EQ(get(&h->llc, 0, 1), h->version == 2 ? LLC_V2 | type : type);
	EQ(get(&h->llc, LLC_AT_FLAGS, 1) & LLC_REPLY, flags & LLC_REPLY);
	if (flags & ~LLC_REPLY)
		EQ(get(&h->llc, LLC_AT_FLAGS, 1) & flags, flags);
}

/* --- first contact, in good order --- */

void hostile_confirm_link(struct hostile *h)
{
	static struct msg msg;

	if (!h->server) {
		llc_expect(h, CONFIRM_LINK, 0);
		h->link_num = get(&h->llc, 29, 1);
		EQ(get(&h->llc, 26, 3), h->end.qpn);
	}
	llc_confirm_link(h, &msg, h->server ? 0 : LLC_REPLY);
	EQ(link_send(h, &msg), IBV_WC_SUCCESS);
	if (h->server) {
		llc_expect(h, CONFIRM_LINK, LLC_REPLY);
		EQ(get(&h->llc, 29, 1), h->link_num);
		EQ(get(&h->llc, 26, 3), h->end.qpn);
	}
}

static bool asks_for_second(const struct hostile *h)
{
	return h->version == 1 || h->max_links > 1;
}

void hostile_add_link(struct hostile *h)
{
	static struct msg msg;

	if (!asks_for_second(h))
		return;
	if (h->server) {
		llc_add_link(h, &msg, 0, 2);
		EQ(link_send(h, &msg), IBV_WC_SUCCESS);
		llc_expect(h, ADD_LINK, LLC_REPLY | LLC_REJECTED);
	} else {
		llc_expect(h, ADD_LINK, 0);
		llc_add_link(h, &msg, LLC_REPLY | LLC_REJECTED, 2);
		EQ(link_send(h, &msg), IBV_WC_SUCCESS);
	}
}

void hostile_finish(struct hostile *h)
{
	if (h->server) {
		app_joined(h);
		if (h->app_error)
			FAIL("connect(): %s", strerrorname_np(h->app_error));
	} else {
		h->app = accept_from(h->listener);
	}
	EQ(is_tcp(h->app), 0);
}

void hostile_complete(struct hostile *h)
{
	hostile_clc(h);
	hostile_confirm_link(h);
	hostile_add_link(h);
	hostile_finish(h);
}

void hostile_open(struct hostile *h)
{
	hostile_init(h);
	hostile_complete(h);
}

void hostile_close(struct hostile *h)
{
	qp_check_guards(&h->qp);
	bystanders_check();
	hostile_leave(h);
	qp_destroy(&h->qp);
}

void expect_state(struct hostile *h, uint8_t flag)
{
	long end = now_ms() + scaled(ANSWER_MS);

	while (!(h->their_state & flag)) {
		take_no_llc(h);
		if (now_ms() > end)
			FAIL("the peer does not send state 0x%x", flag);
		pause_briefly();
	}
}

void hostile_hear_close(struct hostile *h)
{
	close(h->app);
	h->app = -1;
	expect_state(h, CLOSED);
}

void hostile_say_closed(struct hostile *h)
{
	h->state_flags = DONE | CLOSED;
	cdc_send(h);
}

void hostile_part(struct hostile *h)
{
	hostile_hear_close(h);
	hostile_say_closed(h);
}

/* --- CDC --- */

struct position ahead(uint32_t size, struct position p, uint32_t bytes)
{
	p.count += bytes;
	if (p.count >= size) {
		p.count -= size;
		p.wrap++;
	}
	return p;
}

static void put_position(struct msg *msg, size_t at, struct position p)
{
	put(msg, at + 2, 2, p.wrap);
	put(msg, at + 4, 4, p.count);
}

void cdc_build(const struct hostile *h, struct msg *msg)
{
	memset(msg->bytes, 0, CDC_LEN);
	msg->len = CDC_LEN;
	put(msg, 0, 1, CDC_TYPE);
	put(msg, 1, 1, CDC_LEN);
	put(msg, CDC_AT_SEQNO, 2, h->seqno);
	put(msg, CDC_AT_TOKEN, 4, h->token);
	put_position(msg, CDC_AT_PRODUCER, h->prod);
	put_position(msg, CDC_AT_CONSUMER, h->cons);
	put(msg, CDC_AT_FLAGS, 1, h->producer_flags);
	put(msg, CDC_AT_STATE, 1, h->state_flags);
}

void cdc_send(struct hostile *h)
{
	static struct msg msg;

	h->seqno++;
	cdc_build(h, &msg);
	EQ(link_send(h, &msg), IBV_WC_SUCCESS);
}

void data_write(struct hostile *h, const void *bytes, size_t len)
{
	const char *from = bytes;
	struct position at = h->prod;

	while (len) {
		size_t part = len < h->size - at.count ? len : h->size - at.count;
		const struct request request = {
			.opcode = IBV_WR_RDMA_WRITE, .bytes = from, .len = part,
			.addr = h->addr + at.count, .rkey = h->rkey,
		};

		EQ(qp_do(&h->qp, &request), IBV_WC_SUCCESS);
		at = ahead(h->size, at, part);
		from += part;
		len -= part;
	}
}

void data_send(struct hostile *h, const char *text)
{
	data_write(h, text, strlen(text));
	h->prod = ahead(h->size, h->prod, strlen(text));
	cdc_send(h);
}

static uint32_t unread(const struct hostile *h)
{
	uint16_t laps = h->their_prod.wrap - h->cons.wrap;

	return h->has_cdc ? laps * RING_BYTES + h->their_prod.count - h->cons.count : 0;
}

uint32_t data_unread(struct hostile *h)
{
	take_no_llc(h);
	return unread(h);
}

void data_expect(struct hostile *h, const char *text)
{
	long end = now_ms() + scaled(ANSWER_MS);
	size_t i, len = strlen(text);

	while (unread(h) < len) {
		take_no_llc(h);
		if (now_ms() > end)
			FAIL("waited in vain for \"%s\"", text);
		pause_briefly();
	}
	EQ(unread(h), len);
	for (i = 0; i < len; i++)
		EQ(h->qp.ring[(h->cons.count + i) % RING_BYTES], text[i]);
	h->cons = ahead(RING_BYTES, h->cons, len);
}

/* --- rows --- */

void row_begin(const struct row *row)
{
	puts(row->what);
	fflush(stdout);
}

void row_change(struct msg *msg, const struct row *row)
{
	if (row->length)
		set_length(msg, row->length);
	if (row->bytes)
		put(msg, row->at, row->bytes, row->value);
}

/* --- outcomes --- */

void expect_link_works(struct hostile *h)
{
	static const uint8_t data[16] = "are you there?";
	static struct msg msg;

	llc_init(h, &msg, TEST_LINK, 0);
	memcpy(msg.bytes + LLC_AT_BODY, data, 16);
	EQ(link_send(h, &msg), IBV_WC_SUCCESS);
	llc_expect(h, TEST_LINK, LLC_REPLY);
	TRUE(!memcmp(h->llc.bytes + LLC_AT_BODY, data, 16));
}

void expect_alive(struct hostile *h)
{
	expect_link_works(h);
	data_send(h, "to the application");
	expect_text(h->app, "to the application");
	send_text(h->app, "to the attacker");
	data_expect(h, "to the attacker");
}

void send_last(struct hostile *h)
{
	h->state_flags = DONE;
	data_send(h, "last");
	wait_events(h->app, POLLRDHUP);
}

void expect_untold(struct hostile *h)
{
	char byte;

	EQ(events_now(h->app) & (POLLERR | POLLHUP), POLLHUP);
	EQ(socket_error(h->app), 0);
	expect_text(h->app, "last");
	EQ(recv(h->app, &byte, 1, 0), 0);
}

/* The module may count later than it tells the application */
static void wait_counted(uint16_t attribute, uint64_t before)
{
	long end = now_ms() + scaled(LONGEST_MS);

	while (counter_of(COUNTERS_R, attribute) <= before) {
		if (now_ms() > end)
			FAIL("counter %d does not change", attribute);
		pause_briefly();
	}
}

/* The attacker is told by TCP as well, which ends when the application closes */
static void expect_tcp_end(struct hostile *h)
{
	static struct msg msg;

	close(h->app);
	h->app = -1;
	EQ(attacker_wait(h->tcp, &msg, scaled(ANSWER_MS)), ENDED);
}

void expect_link_down(struct hostile *h)
{
	TRUE(wait_events(h->app, POLLERR) & POLLHUP);
	EQ(socket_error(h->app), ECONNRESET);
	wait_counted(COUNT_LINK_ABORTS, h->link_aborts);
	expect_tcp_end(h);
}

void expect_data_lost(struct hostile *h)
{
	while (!(events_now(h->app) & POLLERR))	/* POLLHUP does not let poll() wait */
		pause_briefly();
	EQ(socket_error(h->app), ECONNRESET);
	expect_tcp_end(h);
}

void expect_link_down_untold(struct hostile *h)
{
	wait_counted(COUNT_LINK_ABORTS, h->link_aborts);
	expect_untold(h);
	expect_tcp_end(h);
}

void expect_violation(struct hostile *h)
{
	char byte;

	TRUE(wait_events(h->app, POLLERR) & POLLHUP);
	EQ(socket_error(h->app), ECONNABORTED);
	EQ(recv(h->app, &byte, 1, 0), 0);
	FAILS(send(h->app, "x", 1, MSG_NOSIGNAL), EPIPE);
	wait_counted(COUNT_VIOLATIONS, h->violations);
	expect_state(h, ABORTED);
	expect_link_works(h);
}

void expect_no_connection(struct hostile *h)
{
	static struct msg msg;

	EQ(attacker_wait(h->tcp, &msg, scaled(LONGEST_MS)), ENDED);
	if (!h->server) {
		EQ(events_now(h->listener), 0);
		return;
	}
	app_joined(h);
	if (h->app_error != ETIMEDOUT && h->app_error != ECONNRESET)
		FAIL("connect(): %s", strerrorname_np(h->app_error));
}

void expect_declined(struct hostile *h)
{
	if (h->server) {
		app_joined(h);
		EQ(h->app_error, 0);
	} else {
		wait_events(h->listener, POLLIN);
		h->app = accept_from(h->listener);
	}
	EQ(is_tcp(h->app), 1);
	send_text(h->tcp, "over TCP");
	expect_text(h->app, "over TCP");
	send_text(h->app, "as well");
	expect_text(h->tcp, "as well");
}

/* If the device gives up a send before the timer ends, a Decline is still possible (R-DEC-06) */
void expect_given_up(struct hostile *h)
{
	static struct msg msg;

	if (!h->server && attacker_wait(h->tcp, &msg, scaled(LONGEST_MS)) == DECLINED)
		expect_declined(h);
	else
		expect_no_connection(h);
}

void expect_tcp(struct hostile *h)
{
	static struct msg msg;

	attacker_expect(h->tcp, &msg, DECLINED);
	expect_declined(h);
}

/* The Decline has the form of the version that was chosen (V2-DCL-01, R-CLC-12) */
static void expect_reason(struct hostile *h, enum reason reason)
{
	static struct msg msg;

	attacker_expect(h->tcp, &msg, DECLINED);
	EQ(get(&msg, AT_DIAGNOSIS, 4), reason);
	EQ(msg.len, h->version == 1 ? DECLINE_SHORT : DECLINE_LONG);
	EQ(get(&msg, AT_FLAGS, 1), h->version << 4 | (reason == OUT_OF_SYNC ? 0x08 : 0));
	expect_declined(h);
}

void expect_outcome(struct hostile *h, const struct expected *expected)
{
	if (expected->outcome == DECLINE_COMES)
		expect_reason(h, expected->reason);
	else
		expect_no_connection(h);
}

/* --- bystanders --- */

void bystanders_open(void)
{
	pair_open(bystanders);
}

void bystanders_check(void)
{
	send_text(bystanders[0], "here we are");
	expect_text(bystanders[1], "here we are");
	send_text(bystanders[1], "and so are we");
	expect_text(bystanders[0], "and so are we");
}
