// SPDX-License-Identifier: GPL-2.0-only
/* Attacker and application */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../../modules/smc_synopt.h"
#include "peer.h"

#define PATIENCE	60000	/* longer than any answer takes that depends on no timer */

static int synopt(int fd, unsigned long request)
{
	static int device = -1;

	if (device < 0)
		device = OK(open("/dev/smc_synopt", O_RDWR | O_CLOEXEC));
	return OK(ioctl(device, request, (long)fd));
}

int attacker_socket(void)
{
	int fd = OK(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));

	set_int(fd, SOL_TCP, TCP_NODELAY, 1);
	synopt(fd, SMC_SYNOPT_OFFER);
	return fd;
}

int attacker_connect(int listener)
{
	return attacker_connect_from(NULL, listener);
}

int attacker_connect_from(const char *address, int listener)
{
	struct addr to = target_of(listener), from = loopback(AF_INET, 0);
	int fd = attacker_socket();

	if (address) {
		EQ(inet_pton(AF_INET, address, &from.in.sin_addr), 1);
		OK(bind(fd, &from.sa, from.len));
	}
	OK(connect(fd, &to.sa, to.len));
	EQ(attacker_has_agreed(fd), true);
	return fd;
}

bool attacker_has_agreed(int fd)
{
	return synopt(fd, SMC_SYNOPT_AGREED);
}

int attacker_listen(void)
{
	struct addr addr = loopback(AF_INET, 0);
	int fd = attacker_socket();

	OK(bind(fd, &addr.sa, addr.len));
	OK(listen(fd, 100));
	return fd;
}

void attacker_send(int fd, const struct msg *msg)
{
	size_t sent = 0;

	/* The other side may have had enough before all is sent */
	while (sent < msg->len) {
		ssize_t n = send(fd, msg->bytes + sent, msg->len - sent, MSG_NOSIGNAL);

		if (n < 0)
			return;
		sent += n;
	}
}

/* Perhaps the other side has ended it already */
void attacker_end(int fd)
{
	if (shutdown(fd, SHUT_WR))
		EQ(errno, ENOTCONN);
}

static enum reaction classify(const struct msg *msg)
{
	if (is_message(msg, ACCEPT))
		return ACCEPTED;
	if (is_message(msg, CONFIRM))
		return CONFIRMED;
	if (is_message(msg, PROPOSAL))
		return PROPOSED;
	return is_message(msg, DECLINE) ? DECLINED : GARBAGE;
}

/* Takes exactly one message */
enum reaction attacker_wait(int fd, struct msg *reply, int milliseconds)
{
	long end = now_ms() + milliseconds;
	size_t want = AT_LENGTH + 2;

	memset(reply, 0, sizeof(*reply));
	while (reply->len < want) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		long left = end - now_ms();
		ssize_t n;

		/* What is there counts, however late we are ourselves */
		if (!OK(poll(&pfd, 1, left > 0 ? left : 0)))
			return reply->len ? GARBAGE : SILENCE;
		n = recv(fd, reply->bytes + reply->len, want - reply->len, 0);
		if (n <= 0)
			return reply->len ? GARBAGE : ENDED;
		reply->len += n;
		if (reply->len == AT_LENGTH + 2)
			want = get(reply, AT_LENGTH, 2);
	}
	return classify(reply);
}

void attacker_expect(int fd, struct msg *reply, enum reaction reaction)
{
	static const char *const names[] = {
		"silence", "the end", "an Accept", "a Confirm", "a Proposal", "a Decline",
		"garbage",
	};
	enum reaction got = attacker_wait(fd, reply, scaled(PATIENCE));

	if (got != reaction)
		FAIL("answered with %s, not with %s", names[got], names[reaction]);
}

static void app_main(void *arg)
{
	struct app *app = arg;

	app->fd = new_client();
	app->error = connect(app->fd, &app->to.sa, app->to.len) ? errno : 0;
}

/* The application connects to the attacker, who reads its Proposal */
void app_connect(struct app *app)
{
	app->listener = attacker_listen();
	app->to = target_of(app->listener);
	worker_start(&app->worker, app_main, app);
	app->attacker = accept_from(app->listener);
	set_int(app->attacker, SOL_TCP, TCP_NODELAY, 1);
	EQ(synopt(app->attacker, SMC_SYNOPT_AGREED), 1);
	attacker_expect(app->attacker, &app->proposal, PROPOSED);
}

void app_wait(struct app *app)
{
	worker_join(&app->worker);
}

/* The application's own Proposal tells where its device is */
void learn_device(struct device *dev)
{
	struct app app;
	struct msg no;

	app_connect(&app);
	device_of(&app.proposal, dev);
	EQ(dev->chid, CHID_LOOPBACK);
	decline(&no, DECLINE_LONG, 0x03030000);
	attacker_send(app.attacker, &no);
	app_wait(&app);
	close(app.fd);
	close(app.attacker);
	close(app.listener);
}

/* Both directions carry what is sent, and nothing else, up to the end */
void stream_is_exact(int attacker, int app, const char *already_sent)
{
	char buf[256] = "";
	size_t len = strlen(already_sent);

	EQ(is_tcp(app), 1);
	send_text(attacker, "to the application");
	OK(shutdown(attacker, SHUT_WR));
	EQ(recv(app, buf, sizeof(buf), MSG_WAITALL), len + 18);
	TRUE(!memcmp(buf, already_sent, len));
	TRUE(!memcmp(buf + len, "to the application", 18));
	memset(buf, 0, sizeof(buf));
	send_text(app, "to the attacker");
	close(app);
	EQ(recv(attacker, buf, sizeof(buf), MSG_WAITALL), 15);
	TRUE(!strcmp(buf, "to the attacker"));
	close(attacker);
}

void expect_fallback(int attacker, int listener, const char *already_sent)
{
	wait_events(listener, POLLIN);
	stream_is_exact(attacker, accept_from(listener), already_sent);
}

/* The attacker has sent no Proposal but these bytes, and the end: TCP, with all of them */
void expect_stream(int attacker, int listener, const uint8_t *bytes, size_t len)
{
	static uint8_t got[MSG_MAX];
	int app = accept_from(listener);

	EQ(is_tcp(app), 1);
	EQ(fallback_reason(app), NO_PROPOSAL);
	if (len)
		EQ(recv(app, got, len, MSG_WAITALL), len);
	TRUE(!memcmp(got, bytes, len));
	expect_eof(app);
	send_text(app, "to the attacker");
	expect_text(attacker, "to the attacker");
	close(app);
	close(attacker);
}

void expect_refused(int attacker, int listener)
{
	EQ(events_now(listener), 0);
	close(attacker);
}

void expect_app_fallback(struct app *app, const char *already_sent)
{
	app_wait(app);
	if (app->error)
		FAIL("connect() failed: %s", strerrorname_np(app->error));
	stream_is_exact(app->attacker, app->fd, already_sent);
	close(app->listener);
}

void expect_app_error(struct app *app)
{
	app_wait(app);
	if (app->error != ECONNRESET && app->error != ETIMEDOUT && app->error != ECONNREFUSED)
		FAIL("connect(): %s", strerrorname_np(app->error));
	close(app->fd);
	close(app->attacker);
	close(app->listener);
}
