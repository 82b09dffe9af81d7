// SPDX-License-Identifier: GPL-2.0-only
/* The client attacks a listening socket */

#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define HOSTILE		.applies = client_attacks
#define ANSWER_MS	60000
#define SILENT_S	scaled(3)	/* enough for all that comes before the silence */

/* Decline codes of Linux peers */
#define NO_RDMA_DEVICE	0x03030002
#define NO_ISM_DEVICE	0x03030001
#define NO_SEID		0x03030006
#define NO_ISM_V2	0x03030007
#define NO_UEID		0x03030008

static struct device dev;
static struct msg msg, reply;

/* A new listener, and a correct Proposal in msg */
static int prepare(void)
{
	learn_device(&dev);
	proposal(&msg, &dev);
	return listen_any(10);
}

/* The same, and a connection to the listener */
static int begin(int *listener)
{
	*listener = prepare();
	return attacker_connect(*listener);
}

static void expect_decline(int fd, uint32_t diagnosis)
{
	attacker_expect(fd, &reply, DECLINED);
	EQ(get(&reply, AT_DIAGNOSIS, 4), diagnosis);
}

/* Whatever happens, the application sees no byte of the handshake */
static void end_cleanly(int attacker, int listener, enum reaction reaction, const char *glued)
{
	if (reaction == DECLINED) {
		expect_fallback(attacker, listener, glued);
		return;
	}
	EQ(reaction, ENDED);
	expect_refused(attacker, listener);
}

TEST(right_proposal, HOSTILE)
{
	int listener, fd = begin(&listener);

	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	EQ(reply.len, ACCEPT_LENGTH);
	EQ(get(&reply, 0, 4), 0xe2d4c3c4);
	EQ(get(&reply, AT_FLAGS, 1), 0x29);
	EQ(get(&reply, AT_GID, 8), dev.gid);
	EQ(get(&reply, AT_GID_EXT, 8), dev.gid_ext);
	EQ(get(&reply, AT_CHID, 2), CHID_LOOPBACK);
	EQ(get(&reply, AT_INDEX, 1), 0);
	EQ(get(&reply, AT_SIZE, 1) & 0x0f, 0);
	TRUE(get(&reply, AT_TOKEN, 8));
	TRUE(!memcmp(reply.bytes + AT_EID, dev.seid, 32));
	EQ(get(&reply, AT_FCE, 1), 0);
	EQ(get(&reply, AT_FCE_RELEASE, 1), 0x21);
	EQ(get(&reply, AT_FCE_FEATURES, 2), FEATURE_EMULATED);
	EQ(get(&reply, 110, 2), 0);
	EQ(get(&reply, 118, 8), 0);
	EQ(events_now(listener), 0);
}

TEST(single_bytes, HOSTILE)
{
	int listener, fd = begin(&listener);
	size_t i;

	for (i = 0; i < msg.len; i++)
		EQ(send(fd, msg.bytes + i, 1, 0), 1);
	attacker_expect(fd, &reply, ACCEPTED);
}

TEST(decline_at_once, HOSTILE)
{
	int listener, fd = begin(&listener);

	decline(&msg, DECLINE_SHORT, 0x03030000);
	attacker_send(fd, &msg);
	expect_fallback(fd, listener, "");

	fd = attacker_connect(listener);
	decline(&msg, DECLINE_LONG, 0x03030000);
	attacker_send(fd, &msg);
	expect_fallback(fd, listener, "");
}

TEST(decline_with_data_behind, HOSTILE)
{
	int listener, fd = begin(&listener), i;

	for (i = 0; i < 2; i++) {
		decline(&msg, i ? DECLINE_SHORT : DECLINE_LONG, 0x03030000);
		memcpy(msg.bytes + msg.len, "glued", 5);
		msg.len += 5;
		attacker_send(fd, &msg);
		expect_fallback(fd, listener, "glued");
		fd = attacker_connect(listener);
	}
}

TEST(decline_in_single_bytes_with_data_behind, HOSTILE)
{
	int listener, fd = begin(&listener);
	size_t i;

	decline(&msg, DECLINE_LONG, 0x03030000);
	memcpy(msg.bytes + msg.len, "glued", 5);
	msg.len += 5;
	for (i = 0; i < msg.len; i++)
		EQ(send(fd, msg.bytes + i, 1, 0), 1);
	expect_fallback(fd, listener, "glued");
}

TEST(decline_instead_of_confirm, HOSTILE)
{
	int listener, fd = begin(&listener);

	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	decline(&msg, DECLINE_LONG, 0x03030000);
	put(&msg, AT_FLAGS, 1, 0x28);	/* out of sync */
	memcpy(msg.bytes + msg.len, "glued", 5);
	msg.len += 5;
	attacker_send(fd, &msg);
	expect_fallback(fd, listener, "glued");
}

TEST(version_1_proposals, HOSTILE)
{
	int listener, fd = begin(&listener), flags;

	for (flags = 0; flags < 4; flags++) {
		proposal_v1(&msg, flags);
		attacker_send(fd, &msg);
		attacker_expect(fd, &reply, DECLINED);
		EQ(reply.len, DECLINE_SHORT);		/* which version 1 understands */
		EQ(get(&reply, AT_FLAGS, 1), 0x10);
		expect_fallback(fd, listener, "");
		fd = attacker_connect(listener);
	}
}

TEST(unknown_system_eid, HOSTILE)
{
	int listener, fd = begin(&listener);

	memcpy(dev.seid, "IBM-SYSZ-ISMSEID0000000012340000", 32);
	proposal(&msg, &dev);
	attacker_send(fd, &msg);
	expect_decline(fd, NO_SEID);
	expect_fallback(fd, listener, "");
}

TEST(unknown_user_eids, HOSTILE)
{
	static const char *const ueids[] = { "A", "B.C", "D-E", "F", "G", "H", "I", "J" };
	int listener, fd = begin(&listener);

	memset(dev.seid, 0, 32);
	proposal(&msg, &dev);
	put(&msg, AT_RELEASE, 1, 0x10);
	add_ueids(&msg, ueids, 8);
	attacker_send(fd, &msg);
	expect_decline(fd, NO_UEID);
	expect_fallback(fd, listener, "");
}

TEST(bad_user_eids, HOSTILE)
{
	static const char *const ueids[] = { "", "-A", ".", "a", "A..B", "A B", "\x80", "\n" };
	int listener, fd = begin(&listener);

	/* They match nothing; the system EID still does */
	add_ueids(&msg, ueids, 8);
	attacker_send(fd, &msg);
	switch (attacker_wait(fd, &reply, ANSWER_MS)) {
	case ACCEPTED:
		TRUE(!memcmp(reply.bytes + AT_EID, dev.seid, 32));
		break;
	case DECLINED:
		expect_fallback(fd, listener, "");
		break;
	default:
		FAIL("neither accepted nor declined");
	}
}

TEST(unpaired_chid, HOSTILE)
{
	int listener, fd = begin(&listener);

	put(&msg, AT_GID_COUNT, 1, 1);
	set_length(&msg, msg.len - 10);
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, DECLINED);
	expect_fallback(fd, listener, "");

	fd = attacker_connect(listener);
	proposal(&msg, &dev);
	put(&msg, msg.len - 6, 2, 0xff00);	/* another emulated fabric */
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, DECLINED);
	expect_fallback(fd, listener, "");
}

/* Devices of others: equal fabric, another address */
TEST(unknown_devices, HOSTILE)
{
	static const uint16_t chids[] = { 0xffff, 0xff00, 0xfeff, 0x0001, 0 };
	int listener, fd = begin(&listener), i;

	for (i = 0; i < 5; i++) {
		struct device other = dev;

		other.chid = chids[i];
		other.gid++;
		proposal(&msg, &other);
		attacker_send(fd, &msg);
		expect_decline(fd, NO_ISM_V2);
		expect_fallback(fd, listener, "");
		fd = attacker_connect(listener);
	}
}

TEST(emulated_feature_missing, HOSTILE)
{
	int listener, fd = begin(&listener);

	put(&msg, AT_FEATURES, 2, 0);
	attacker_send(fd, &msg);
	expect_decline(fd, NO_ISM_V2);
	expect_fallback(fd, listener, "");
	fd = attacker_connect(listener);
	put(&msg, AT_FEATURES, 2, FEATURE_EMULATED);
	put(&msg, AT_RELEASE, 1, 0x01);		/* of a release that knows no features */
	attacker_send(fd, &msg);
	expect_decline(fd, NO_ISM_V2);
	expect_fallback(fd, listener, "");
}

TEST(future_release_and_version, HOSTILE)
{
	int listener, fd = begin(&listener);

	put(&msg, AT_RELEASE, 1, 0xf1);
	put(&msg, AT_FEATURES, 2, 0xffff);
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	EQ(get(&reply, AT_FCE_RELEASE, 1), 0x21);
	EQ(get(&reply, AT_FCE_FEATURES, 2), FEATURE_EMULATED);
	close(fd);

	fd = attacker_connect(listener);
	proposal(&msg, &dev);
	put(&msg, AT_FLAGS, 1, 0x36);		/* version 3 includes what version 2 says */
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	EQ(get(&reply, AT_FLAGS, 1), 0x29);
}

TEST(wrong_types, HOSTILE)
{
	int listener, fd = begin(&listener), type;

	for (type = 0; type < 256; type += type < 8 ? 1 : 31) {
		proposal(&msg, &dev);
		if (type == PROPOSAL || type == DECLINE)
			continue;
		if (type == ACCEPT || type == CONFIRM)
			accept_or_confirm(&msg, type, &dev, 1, 1);
		else
			put(&msg, AT_TYPE, 1, type);
		attacker_send(fd, &msg);
		attacker_expect(fd, &reply, ENDED);
		expect_refused(fd, listener);
		fd = attacker_connect(listener);
	}
}

TEST(second_proposal, HOSTILE)
{
	int listener, fd = begin(&listener);

	attacker_send(fd, &msg);
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	attacker_expect(fd, &reply, ENDED);
	expect_refused(fd, listener);
}

/* The header says how long it is. All the rest follows, then the end */
TEST(lengths, HOSTILE)
{
	static const int lengths[] = { 0, 1, 7, 8, 11, 12, 27, 28, 43, 44, 51, 52, 79, 80, 83, 84,
				       119, 120, 191, 193, 652, 653, 1000, 32767, 65535 };
	int listener, fd = begin(&listener), i;

	for (i = 0; i < 25; i++) {
		proposal(&msg, &dev);
		put(&msg, AT_LENGTH, 2, lengths[i]);
		attacker_send(fd, &msg);
		attacker_end(fd);
		attacker_expect(fd, &reply, ENDED);
		expect_refused(fd, listener);
		fd = attacker_connect(listener);
	}
}

/* Much more follows in the same segment, behind a header that ends the handshake */
TEST(bytes_behind_wrong_header, HOSTILE)
{
	static const int lengths[] = { 0, 1, 7, 8, 27, 192, 652, 65535 };
	int listener, fd = begin(&listener), i;

	for (i = 0; i < 16; i++) {
		proposal(&msg, &dev);
		put(&msg, AT_LENGTH, 2, lengths[i / 2]);
		if (i % 2)
			msg.bytes[0] ^= 1;
		memset(msg.bytes + 8, 0xa5, 30000);
		msg.len = 30000;
		attacker_send(fd, &msg);
		attacker_end(fd);
		if (i % 2) {
			expect_stream(fd, listener, msg.bytes, msg.len);
		} else {
			attacker_expect(fd, &reply, ENDED);
			expect_refused(fd, listener);
		}
		fd = attacker_connect(listener);
	}
}

/* Longer than it need be, with the trailer where the header says: declined or accepted */
TEST(overlong, HOSTILE)
{
	static const int lengths[] = { 193, 300, 652, 653, 4096, 65535 };
	int listener, fd = begin(&listener), i;

	for (i = 0; i < 6; i++) {
		enum reaction reaction;

		proposal(&msg, &dev);
		set_length(&msg, lengths[i]);
		attacker_send(fd, &msg);
		reaction = attacker_wait(fd, &reply, ANSWER_MS);
		if (reaction != ACCEPTED)
			end_cleanly(fd, listener, reaction, "");
		else
			close(fd);
		fd = attacker_connect(listener);
	}
}

TEST(truncated, HOSTILE)
{
	int listener, fd = begin(&listener);
	size_t len;

	/* Fewer bytes: plain.c, bytes_like_an_eye_catcher */
	for (len = 4; len < 192; len += 1 + len / 8) {
		proposal(&msg, &dev);
		msg.len = len;
		attacker_send(fd, &msg);
		attacker_end(fd);
		attacker_expect(fd, &reply, ENDED);
		expect_refused(fd, listener);
		fd = attacker_connect(listener);
	}
}

/* A message cut off at every place, but complete in its frame */
TEST(shortened, HOSTILE)
{
	int listener, fd = begin(&listener);
	size_t len;

	for (len = 12; len < 192; len += 1 + len / 8) {
		proposal(&msg, &dev);
		msg.len = len;
		set_length(&msg, len);
		attacker_send(fd, &msg);
		attacker_end(fd);
		switch (attacker_wait(fd, &reply, ANSWER_MS)) {
		case DECLINED:
			wait_events(listener, POLLIN);
			expect_eof(accept_from(listener));
			break;
		case ENDED:
			expect_refused(fd, listener);
			break;
		default:
			FAIL("%zu bytes: neither declined nor ended", len);
		}
		close(fd);
		fd = attacker_connect(listener);
	}
}

static void extreme(int listener, size_t at, int bytes, uint64_t value)
{
	int fd = attacker_connect(listener);
	enum reaction reaction;

	proposal(&msg, &dev);
	put(&msg, at, bytes, value);
	attacker_send(fd, &msg);
	reaction = attacker_wait(fd, &reply, ANSWER_MS);
	if (reaction == DECLINED)
		expect_fallback(fd, listener, "");
	else if (reaction == ENDED)
		expect_refused(fd, listener);
	else if (reaction != ACCEPTED)
		FAIL("0x%llx at %zu: reaction %d", (unsigned long long)value, at, reaction);
	close(fd);
}

TEST(offsets_and_counts, HOSTILE)
{
	static const struct {
		size_t at;
		int bytes;
	} fields[] = {
		{ AT_SUBNET_OFFSET, 2 }, { AT_V2_OFFSET, 2 }, { AT_D_OFFSET, 2 },
		{ AT_EID_COUNT, 1 }, { AT_GID_COUNT, 1 },
	};
	static const uint64_t values[] = { 0, 1, 2, 3, 8, 9, 27, 29, 39, 40, 100, 127, 128, 140,
					   200, 255, 256, 0x7fff, 0x8000, 0xff00, 0xfffe, 0xffff };
	int i, j, listener = prepare();

	for (i = 0; i < 5; i++)
		for (j = 0; j < 22; j++)
			if (fields[i].bytes == 2 || values[j] < 256)
				extreme(listener, fields[i].at, fields[i].bytes, values[j]);
}

/*
 * One wrong byte, at each place. Then the end, so that nobody waits for a longer message. If it
 * is declined, what the application sees is what lies behind the message: nothing.
 */
static void one_wrong_byte(int listener, const struct msg *good, size_t at, uint8_t value)
{
	int fd = attacker_connect(listener), app;

	msg = *good;
	msg.bytes[at] = value;
	attacker_send(fd, &msg);
	attacker_end(fd);
	if (at < 4) {
		expect_stream(fd, listener, msg.bytes, msg.len);
		return;
	}
	switch (attacker_wait(fd, &reply, ANSWER_MS)) {
	case DECLINED:
		wait_events(listener, POLLIN);
		app = accept_from(listener);
		EQ(is_tcp(app), 1);
		expect_eof(app);
		close(app);
		break;
	case ACCEPTED:
		attacker_expect(fd, &reply, ENDED);
		expect_refused(fd, listener);
		return;
	case ENDED:
		expect_refused(fd, listener);
		return;
	default:
		FAIL("0x%02x at %zu: unexpected reaction", value, at);
	}
	close(fd);
}

TEST(each_byte_of_proposal, HOSTILE)
{
	struct msg *good = malloc(sizeof(*good));
	int listener = prepare();
	size_t i;

	*good = msg;
	for (i = 0; i < good->len; i++) {
		one_wrong_byte(listener, good, i, good->bytes[i] ^ 0x01);
		one_wrong_byte(listener, good, i, good->bytes[i] ^ 0x80);
		one_wrong_byte(listener, good, i, ~good->bytes[i]);
	}
}

/* A Confirm for memory that does not exist, otherwise right; then wrong everywhere */
static void confirm_with(int listener, size_t at, uint8_t change)
{
	int fd = attacker_connect(listener);
	enum reaction reaction;

	proposal(&msg, &dev);
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	accept_or_confirm(&msg, CONFIRM, &dev, get(&reply, AT_TOKEN, 8) + 1000, 1);
	msg.bytes[at] ^= change;
	memcpy(msg.bytes + msg.len, "glued", 5);
	msg.len += 5;
	attacker_send(fd, &msg);
	if (at == AT_LENGTH || at == AT_LENGTH + 1)
		attacker_end(fd);	/* it may be longer than all we send */
	reaction = attacker_wait(fd, &reply, ANSWER_MS);
	end_cleanly(fd, listener, reaction, "glued");
}

TEST(confirm_with_wrong_token, HOSTILE)
{
	int listener = prepare();

	confirm_with(listener, 0, 0);
}

/* The server would decline, but so has the client already: a second one would be data (R-DEC-12) */
TEST(decline_behind_wrong_confirm, HOSTILE)
{
	static struct msg both;
	int listener, fd = begin(&listener);

	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	accept_or_confirm(&both, CONFIRM, &dev, get(&reply, AT_TOKEN, 8) + 1000, 1);
	decline(&msg, DECLINE_LONG, 0x03030000);
	memcpy(both.bytes + both.len, msg.bytes, msg.len);
	both.len += msg.len;
	memcpy(both.bytes + both.len, "glued", 5);
	both.len += 5;
	attacker_send(fd, &both);	/* in one segment */
	expect_fallback(fd, listener, "glued");
}

/* The token of the server's own memory, which it offered to us: not for it to write to */
TEST(confirm_with_token_of_server, HOSTILE)
{
	int listener, fd = begin(&listener);
	enum reaction reaction;

	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	accept_or_confirm(&msg, CONFIRM, &dev, get(&reply, AT_TOKEN, 8), 1);
	attacker_send(fd, &msg);
	reaction = attacker_wait(fd, &reply, ANSWER_MS);
	end_cleanly(fd, listener, reaction, "");
}

TEST(each_byte_of_confirm, HOSTILE)
{
	int listener = prepare();
	size_t i;

	for (i = 0; i < ACCEPT_LENGTH; i++) {
		confirm_with(listener, i, 0x01);
		confirm_with(listener, i, 0xff);
	}
}

TEST(wrong_type_instead_of_confirm, HOSTILE)
{
	int listener, fd = begin(&listener), type;

	for (type = 0; type < 8; type++) {
		if (type == CONFIRM || type == DECLINE)
			continue;
		proposal(&msg, &dev);
		attacker_send(fd, &msg);
		attacker_expect(fd, &reply, ACCEPTED);
		accept_or_confirm(&msg, CONFIRM, &dev, 1, 1);
		put(&msg, AT_TYPE, 1, type);
		attacker_send(fd, &msg);
		attacker_expect(fd, &reply, ENDED);
		expect_refused(fd, listener);
		fd = attacker_connect(listener);
	}
}

TEST(urgent_data_in_the_handshake, HOSTILE)
{
	int listener = prepare(), fd;
	enum reaction reaction;

	set_handshake_timeout(1);
	fd = attacker_connect(listener);
	EQ(send(fd, msg.bytes, 100, 0), 100);
	EQ(send(fd, msg.bytes + 100, 1, MSG_OOB), 1);
	EQ(send(fd, msg.bytes + 101, msg.len - 101, 0), msg.len - 101);
	reaction = attacker_wait(fd, &reply, ANSWER_MS);
	if (reaction != ACCEPTED)
		end_cleanly(fd, listener, reaction, "");
}

TEST(reset_at_each_step, HOSTILE)
{
	int listener, fd = begin(&listener);
	size_t len;

	for (len = 0; len <= 192; len += 32) {
		if (len)
			EQ(send(fd, msg.bytes, len, 0), len);
		if (len == 192)
			attacker_expect(fd, &reply, ACCEPTED);
		set_linger(fd, 1, 0);
		close(fd);
		fd = attacker_connect(listener);
	}
	/* None of them is seen, all later ones are */
	decline(&msg, DECLINE_SHORT, 0x03030000);
	attacker_send(fd, &msg);
	expect_fallback(fd, listener, "");
	EQ(events_now(listener), 0);
}

/* Silence after so many bytes: the server gives up in time, and not before */
static void silent_after(size_t bytes)
{
	int listener = prepare(), fd;
	long start;

	set_handshake_timeout(SILENT_S);
	start = now_ms();
	fd = attacker_connect(listener);
	if (bytes)
		EQ(send(fd, msg.bytes, bytes, 0), bytes);
	if (bytes == msg.len)
		attacker_expect(fd, &reply, ACCEPTED);
	attacker_expect(fd, &reply, ENDED);
	TRUE(now_ms() - start >= SILENT_S * 500);	/* ticks of a busy guest may come fast */
	expect_refused(fd, listener);
}

TEST(silence_from_the_start, HOSTILE)
{
	silent_after(0);
}

TEST(silence_in_eye_catcher, HOSTILE)
{
	silent_after(3);
}

TEST(silence_in_header, HOSTILE)
{
	silent_after(5);
}

TEST(silence_in_proposal, HOSTILE)
{
	silent_after(100);
}

TEST(silence_instead_of_confirm, HOSTILE)
{
	silent_after(192);
}

TEST(silence_in_confirm, HOSTILE)
{
	int listener = prepare(), fd;

	set_handshake_timeout(SILENT_S);
	fd = attacker_connect(listener);
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	accept_or_confirm(&msg, CONFIRM, &dev, 1, 1);
	EQ(send(fd, msg.bytes, 100, 0), 100);
	attacker_expect(fd, &reply, ENDED);
	expect_refused(fd, listener);
}

/* A byte now and then is not enough to keep a handshake alive: it ends before the last one */
TEST(dripping, HOSTILE)
{
	int listener = prepare(), fd;
	size_t i;

	set_handshake_timeout(1);
	fd = attacker_connect(listener);
	for (i = 0; i < 100; i++) {
		if (send(fd, msg.bytes + i, 1, MSG_NOSIGNAL) < 0)
			break;
		if (attacker_wait(fd, &reply, 100) != SILENCE)
			break;
	}
	TRUE(i < 100);
	expect_refused(fd, listener);
}

static long good_connection(int listener)
{
	long start = now_ms();
	int client = connect_to(listener), server = accept_from(listener);

	EQ(is_tcp(client), 0);
	send_text(client, "ping");
	expect_text(server, "ping");
	close(client);
	close(server);
	return now_ms() - start;
}

/* The shortest of some: a machine may stumble once, not each time */
static long good_connections(int listener)
{
	long least = good_connection(listener), took;
	int i;

	for (i = 0; i < 20; i++) {
		took = good_connection(listener);
		if (took < least)
			least = took;
	}
	return least;
}

/* Many who say nothing delay nobody else */
TEST(silent_crowd, HOSTILE)
{
	int listener = listen_any(200), i;
	long before, after;

	before = good_connections(listener);
	for (i = 0; i < 150; i++)
		attacker_connect(listener);
	after = good_connections(listener);
	if (after > 3 * before + scaled(200))
		FAIL("a connection takes %ld ms, and %ld ms beside 150 silent ones", before, after);
}

/*
 * More of them than the backlog has places: with TCP, accept() would take them all. A SYN that
 * finds no place is sent again after 1, 3, 7 seconds; that is all they may have to wait.
 */
TEST(silent_crowd_beyond_backlog, HOSTILE)
{
	int listener = listen_any(3), i;
	long after;

	set_handshake_timeout(600);	/* no place is given back for that */
	set_sysctl("net/smc/syn_retry_time", 0);	/* the next SYN has the option, too */
	good_connection(listener);
	for (i = 0; i < 10; i++)
		attacker_connect(listener);
	after = good_connection(listener);
	if (after > scaled(10000))
		FAIL("a connection takes %ld ms beside 10 silent ones", after);
	for (i = 0; i < 20; i++)
		good_connection(listener);
}

/* Where all places are taken, a silent client gives up its place soon */
TEST(silent_in_last_place, HOSTILE)
{
	int listener = listen_any(0), i;
	long alone = good_connections(listener), beside = 1000, took;

	set_sysctl("net/smc/syn_retry_time", 0);	/* a SYN may find no place */
	for (i = 0; i < 10; i++) {
		attacker_connect(listener);
		usleep(10000);
		took = good_connection(listener);
		if (took < beside)
			beside = took;
	}
	if (beside > alone + 25)	/* alone it would have kept the place for 50 ms */
		FAIL("a connection takes %ld ms, and %ld ms after a silent one", alone, beside);
}

/* The application goes away while handshakes are under way */
TEST(listener_closed_under_handshakes, HOSTILE)
{
	int listener, fd = begin(&listener), other = attacker_connect(listener);

	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	close(listener);
	attacker_expect(fd, &reply, ENDED);
	attacker_expect(other, &reply, ENDED);
}
