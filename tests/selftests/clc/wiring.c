// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may attach whose DMB. Tokens come from messages of a peer: an attacker who has several
 * connections names in one the token of another.
 */

#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"

#define FROM_CLIENT	.applies = client_attacks
#define FROM_SERVER	.applies = server_attacks
#define ANSWER_MS	60000
#define CROWD		200	/* a hundred had been enough to overflow the stack of interrupts */

static struct device dev;
static struct msg msg, reply;

/* Proposal, Accept. Return: the attacker's end; what the server called its DMB in @token */
static int propose(int listener, uint64_t *token)
{
	int fd = attacker_connect(listener);

	proposal(&msg, &dev);
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	*token = get(&reply, AT_TOKEN, 8);
	return fd;
}

static void confirm(int fd, uint64_t token)
{
	accept_or_confirm(&msg, CONFIRM, &dev, token, 1);
	attacker_send(fd, &msg);
}

static void reset(int fd)
{
	set_linger(fd, 1, 0);
	close(fd);
}

/* A Decline, or the end of TCP: never an SMC connection */
static void expect_refusal(int fd)
{
	enum reaction reaction = attacker_wait(fd, &reply, scaled(ANSWER_MS));

	if (reaction != DECLINED && reaction != ENDED)
		FAIL("reaction %d to a token of somebody else", reaction);
}

/* Each server is told that its client's DMB is that of the next server */
TEST(cross_wired_servers, FROM_CLIENT, .alone = true)
{
	int listener = listen_any(CROWD + 10), fd[CROWD], i;
	uint64_t token[CROWD];

	learn_device(&dev);
	for (i = 0; i < CROWD; i++)
		fd[i] = propose(listener, &token[i]);
	for (i = 0; i < CROWD; i++)
		confirm(fd[i], token[(i + 1) % CROWD]);
	for (i = 0; i < CROWD; i++)
		expect_refusal(fd[i]);
	for (i = 0; i < CROWD; i++)
		reset(fd[i]);
}

/* Whoever names the device's address has not proved to be near, and gets no memory */
TEST(no_memory_for_strangers, FROM_CLIENT, .alone = true)
{
	int listener = listen_any(CROWD + 10), fd[CROWD], i;
	uint64_t before, token;

	learn_device(&dev);
	before = buffer_bytes();
	for (i = 0; i < CROWD; i++)
		fd[i] = propose(listener, &token);
	EQ(buffer_bytes(), before);
	for (i = 0; i < CROWD; i++)
		reset(fd[i]);
}

/*
 * An application connects to the attacker, who passes on the Accept of a server: these two become
 * a pair, as they would if the attacker passed on all bytes. Returns what the application calls its
 * DMB; its Confirm is in reply.
 */
static uint64_t wire_application(struct app *app, int listener, int *to_server)
{
	uint64_t token;

	app_connect(app);
	device_of(&app->proposal, &dev);
	*to_server = propose(listener, &token);
	attacker_send(app->attacker, &reply);
	attacker_expect(app->attacker, &reply, CONFIRMED);
	app_wait(app);
	EQ(app->error, 0);
	return get(&reply, AT_TOKEN, 8);
}

/* The DMB of a client is for the one server that it has attached */
TEST(memory_of_client, FROM_SERVER)
{
	int listener = listen_any(10), to_server, other_server, server;
	struct app app, other;
	struct msg right;
	uint64_t token, unused;

	token = wire_application(&app, listener, &to_server);
	right = reply;

	other_server = propose(listener, &unused);
	confirm(other_server, token);
	expect_refusal(other_server);
	reset(other_server);

	app_connect(&other);
	accept_or_confirm(&msg, ACCEPT, &dev, token, 0x100);
	attacker_send(other.attacker, &msg);
	attacker_expect(other.attacker, &reply, DECLINED);
	expect_app_fallback(&other, "");

	attacker_send(to_server, &right);
	do {
		server = accept_from(listener);
	} while (is_tcp(server));
	send_text(app.fd, "to the server");
	expect_text(server, "to the server");
	send_text(server, "to the client");
	expect_text(app.fd, "to the client");
}
