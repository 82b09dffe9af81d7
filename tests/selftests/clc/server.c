// SPDX-License-Identifier: GPL-2.0-only
/* The server attacks a connecting socket */

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define HOSTILE		.applies = server_attacks
#define ANSWER_MS	60000
#define SILENT_S	scaled(3)	/* enough for all that comes before the silence */
#define OUT_OF_SYNC	0x04000000

static struct device dev;
static struct msg msg, reply;

/* The application has sent its Proposal; an Accept for it in msg, for memory that is not there */
static void begin(struct app *app)
{
	app_connect(app);
	device_of(&app->proposal, &dev);
	accept_or_confirm(&msg, ACCEPT, &dev, 0x1234567890, 0x100);
}

static void send_with_data_behind(int fd)
{
	memcpy(msg.bytes + msg.len, "glued", 5);
	msg.len += 5;
	attacker_send(fd, &msg);
}

/* Fallback, with a stream that begins with this, or an error */
static void end_cleanly(struct app *app, const char *glued)
{
	enum reaction reaction = attacker_wait(app->attacker, &reply, ANSWER_MS);

	if (reaction == DECLINED) {
		expect_app_fallback(app, glued);
		return;
	}
	EQ(reaction, ENDED);
	expect_app_error(app);
}

TEST(the_proposal, HOSTILE)
{
	struct app app;
	const struct msg *p = &app.proposal;
	size_t d;

	app_connect(&app);
	EQ(get(p, 0, 4), 0xe2d4c3d9);
	EQ(get(p, AT_FLAGS, 1) >> 4, 2);
	EQ((get(p, AT_FLAGS, 1) >> 2) & 3, 1);		/* SMC-D version 2 */
	EQ(get(p, AT_FLAGS, 1) & 3, 2);			/* no version 1 */
	EQ(get(p, AT_SUBNET_OFFSET, 2), 0);
	EQ(get(p, AT_V2_OFFSET, 2), AT_V2 - 52);
	EQ(get(p, AT_EID_COUNT, 1), 0);
	EQ(get(p, AT_GID_COUNT, 1), 2);
	EQ(get(p, AT_RELEASE, 1), 0x11);
	EQ(get(p, AT_FEATURES, 2), FEATURE_EMULATED);
	d = AT_D_OFFSET + 2 + get(p, AT_D_OFFSET, 2);
	EQ(d, AT_V2 + 40);
	EQ(get(p, d + 56, 2), CHID_LOOPBACK);
	EQ(get(p, d + 66, 2), CHID_LOOPBACK);
	EQ(p->len, d + 48 + 20 + 4);
	TRUE(p->bytes[d] != 0 && p->bytes[d] != ' ');
}

TEST(decline_both_forms, HOSTILE)
{
	struct app app;

	app_connect(&app);
	decline(&msg, DECLINE_SHORT, 0x03030000);
	attacker_send(app.attacker, &msg);
	expect_app_fallback(&app, "");
	app_connect(&app);
	decline(&msg, DECLINE_LONG, 0x03030000);
	attacker_send(app.attacker, &msg);
	expect_app_fallback(&app, "");
}

TEST(decline_with_data_behind, HOSTILE)
{
	struct app app;
	int i;

	for (i = 0; i < 2; i++) {
		app_connect(&app);
		decline(&msg, i ? DECLINE_SHORT : DECLINE_LONG, 0x03030000);
		send_with_data_behind(app.attacker);
		expect_app_fallback(&app, "glued");
	}
}

TEST(decline_in_single_bytes_with_data_behind, HOSTILE)
{
	struct app app;
	size_t i;

	app_connect(&app);
	decline(&msg, DECLINE_LONG, 0x03030000);
	memcpy(msg.bytes + msg.len, "glued", 5);
	msg.len += 5;
	for (i = 0; i < msg.len; i++)
		EQ(send(app.attacker, msg.bytes + i, 1, 0), 1);
	expect_app_fallback(&app, "glued");
}

TEST(decline_then_end, HOSTILE)
{
	struct app app;
	char buf[8];

	app_connect(&app);
	decline(&msg, DECLINE_LONG, 0x03030000);
	send_with_data_behind(app.attacker);
	close(app.attacker);
	app_wait(&app);
	EQ(app.error, 0);
	EQ(recv(app.fd, buf, sizeof(buf), MSG_WAITALL), 5);
	expect_eof(app.fd);
}

TEST(odd_declines, HOSTILE)
{
	static const int lengths[] = { 12, 27, 29, 32, 43, 45, 100 };
	struct app app;
	int i;

	for (i = 0; i < 7; i++) {
		app_connect(&app);
		decline(&msg, DECLINE_LONG, 0);
		if (lengths[i] < DECLINE_LONG)
			msg.len = lengths[i];
		set_length(&msg, lengths[i]);
		attacker_send(app.attacker, &msg);
		end_cleanly(&app, "");
	}
}

/* As if the server had given up, and taken its memory away */
TEST(accept_with_wrong_token, HOSTILE)
{
	struct app app;

	begin(&app);
	attacker_send(app.attacker, &msg);
	attacker_expect(app.attacker, &reply, ENDED);
	expect_app_error(&app);
}

TEST(accept_of_unknown_group, HOSTILE)
{
	struct app app;

	begin(&app);
	later_contact(&msg);
	attacker_send(app.attacker, &msg);
	attacker_expect(app.attacker, &reply, DECLINED);
	EQ(get(&reply, AT_DIAGNOSIS, 4), OUT_OF_SYNC);
	EQ(get(&reply, AT_FLAGS, 1) & 0x08, 0x08);
	expect_app_fallback(&app, "");
}

TEST(accept_of_what_was_not_offered, HOSTILE)
{
	static const struct {
		size_t at;
		int bytes;
		uint64_t value;
	} wrong[] = {
		{ AT_GID, 8, 0x1111 }, { AT_GID_EXT, 8, 0x2222 }, { AT_CHID, 2, 0xff00 },
		{ AT_CHID, 2, 0x0101 }, { AT_CHID, 2, 0 }, { AT_EID, 8, 0x4142432020202020 },
		{ AT_EID, 1, 0 }, { AT_SIZE, 1, 0x60 }, { AT_SIZE, 1, 0xf0 }, { AT_INDEX, 1, 1 },
		{ AT_INDEX, 1, 255 }, { AT_FCE_RELEASE, 1, 0x22 }, { AT_FCE_RELEASE, 1, 0x2f },
		{ AT_FCE_FEATURES, 2, 0 }, { AT_TOKEN, 8, 0 }, { AT_TOKEN, 8, ~0ULL },
		{ AT_FLAGS, 1, 0x28 }, { AT_FLAGS, 1, 0x19 }, { AT_FLAGS, 1, 0x2b },
	};
	struct app app;
	int i;

	for (i = 0; i < 19; i++) {
		begin(&app);
		put(&msg, wrong[i].at, wrong[i].bytes, wrong[i].value);
		attacker_send(app.attacker, &msg);
		end_cleanly(&app, "");
	}
}

TEST(each_byte_of_accept, HOSTILE)
{
	struct app app;
	size_t i;
	int j;

	for (i = 0; i < ACCEPT_LENGTH; i++) {
		for (j = 0; j < 2; j++) {
			begin(&app);
			msg.bytes[i] ^= j ? 0xff : 0x01;
			send_with_data_behind(app.attacker);
			if (i == AT_LENGTH || i == AT_LENGTH + 1)
				attacker_end(app.attacker);
			end_cleanly(&app, "glued");
		}
	}
}

TEST(lengths, HOSTILE)
{
	static const int lengths[] = { 0, 7, 8, 12, 28, 44, 73, 74, 77, 78, 113, 114, 129, 131, 132,
				       1000, 65535 };
	struct app app;
	int i;

	for (i = 0; i < 17; i++) {
		begin(&app);
		put(&msg, AT_LENGTH, 2, lengths[i]);
		attacker_send(app.attacker, &msg);
		attacker_end(app.attacker);
		attacker_expect(app.attacker, &reply, ENDED);
		expect_app_error(&app);
	}
}

TEST(wrong_types, HOSTILE)
{
	struct app app;
	int type;

	for (type = 0; type < 256; type += type < 8 ? 1 : 31) {
		if (type == PROPOSAL || type == ACCEPT || type == DECLINE)
			continue;
		begin(&app);
		put(&msg, AT_TYPE, 1, type);
		attacker_send(app.attacker, &msg);
		attacker_expect(app.attacker, &reply, ENDED);
		expect_app_error(&app);
	}
}

/* Two clients that opened at once: both know that nobody is the server, and go on with TCP */
TEST(proposal_for_proposal, HOSTILE)
{
	struct app app;

	app_connect(&app);
	msg = app.proposal;
	send_with_data_behind(app.attacker);
	expect_app_fallback(&app, "glued");
}

TEST(application_data_instead, HOSTILE)
{
	struct app app;

	begin(&app);
	strcpy((char *)msg.bytes, "220 mail.example.org ESMTP ready\r\n");
	msg.len = strlen((char *)msg.bytes);
	attacker_send(app.attacker, &msg);
	attacker_expect(app.attacker, &reply, ENDED);
	expect_app_error(&app);
}

TEST(end_at_each_step, HOSTILE)
{
	struct app app;
	size_t len;
	int reset;

	for (len = 0; len < ACCEPT_LENGTH; len += 43) {
		for (reset = 0; reset < 2; reset++) {
			begin(&app);
			if (len)
				EQ(send(app.attacker, msg.bytes, len, 0), len);
			set_linger(app.attacker, reset, 0);
			close(app.attacker);
			app_wait(&app);
			EQ(app.error, ECONNRESET);
			close(app.fd);
		}
	}
}

static void silent_after(size_t bytes)
{
	struct app app;
	long start = now_ms();

	set_handshake_timeout(SILENT_S);
	begin(&app);
	if (bytes)
		EQ(send(app.attacker, msg.bytes, bytes, 0), bytes);
	attacker_expect(app.attacker, &reply, ENDED);
	TRUE(now_ms() - start >= SILENT_S * 500);	/* ticks of a busy guest may come fast */
	app_wait(&app);
	EQ(app.error, ETIMEDOUT);
}

TEST(silence_instead_of_accept, HOSTILE)
{
	silent_after(0);
}

TEST(silence_in_header, HOSTILE)
{
	silent_after(5);
}

TEST(silence_in_accept, HOSTILE)
{
	silent_after(100);
}

/* A program that does not want to wait is told by poll() */
TEST(silence_and_nonblocking_connect, HOSTILE)
{
	int listener = attacker_listen(), fd = new_client();
	struct addr to = target_of(listener);

	set_handshake_timeout(1);
	nonblock(fd);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	accept_from(listener);
	TRUE(wait_events(fd, POLLOUT) & POLLERR);
	EQ(socket_error(fd), ETIMEDOUT);
}

TEST(send_timeout_shorter_than_handshake, HOSTILE)
{
	int listener = attacker_listen(), fd = new_client();
	struct addr to = target_of(listener);

	set_timeout(fd, SO_SNDTIMEO, 100);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	decline(&msg, DECLINE_LONG, 0);
	attacker_send(accept_from(listener), &msg);
	wait_events(fd, POLLOUT);
	EQ(is_tcp(fd), 1);
	EQ(socket_error(fd), 0);
}

static void connect_until_signal(void *arg)
{
	struct app *app = arg;

	app->fd = new_client();
	FAILS(connect(app->fd, &app->to.sa, app->to.len), EINTR);
}

TEST(interrupted_in_handshake, HOSTILE)
{
	struct app app;

	app.listener = attacker_listen();
	app.to = target_of(app.listener);
	catch_signal(SIGUSR1, 0);
	worker_start(&app.worker, connect_until_signal, &app);
	app.attacker = accept_from(app.listener);
	EQ(attacker_wait(app.attacker, &app.proposal, ANSWER_MS), PROPOSED);
	worker_interrupt(&app.worker);
	app_wait(&app);
	/* It goes on without the caller */
	decline(&msg, DECLINE_LONG, 0);
	send_with_data_behind(app.attacker);
	wait_events(app.fd, POLLOUT);
	stream_is_exact(app.attacker, app.fd, "glued");
}

TEST(closed_in_handshake, HOSTILE)
{
	int listener = attacker_listen(), fd = new_client(), attacker;
	struct addr to = target_of(listener);

	nonblock(fd);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	attacker = accept_from(listener);
	attacker_expect(attacker, &msg, PROPOSED);
	close(fd);
	attacker_expect(attacker, &msg, ENDED);
}

/* The shortest of some: a machine may stumble once, not each time */
static long connect_time(int listener)
{
	long least = -1, start, took;
	int pair[2], i;

	for (i = 0; i < 10; i++) {
		start = now_ms();
		pair_from(listener, pair);
		took = now_ms() - start;
		pair_close(pair);
		if (least < 0 || took < least)
			least = took;
	}
	return least;
}

/* One silent server does not keep others from being connected to */
TEST(others_are_not_delayed, HOSTILE)
{
	int silent = attacker_listen(), listener = listen_any(5), fd[20], i;
	struct addr to = target_of(silent);
	long alone = connect_time(listener), beside;

	for (i = 0; i < 20; i++) {
		fd[i] = new_client();
		nonblock(fd[i]);
		FAILS(connect(fd[i], &to.sa, to.len), EINPROGRESS);
		accept_from(silent);
	}
	beside = connect_time(listener);
	if (beside > 3 * alone + scaled(200))
		FAIL("a connection takes %ld ms, and %ld ms beside silent ones", alone, beside);
}
