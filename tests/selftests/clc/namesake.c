// SPDX-License-Identifier: GPL-2.0-only
/* A client that has the address and the ids of an application which connects to the same server */

#include "peer.h"

#define CONNECTS	20
#define WAIT_MS		200	/* how long a connection waits for a first contact of SMC-D */
#define FIRST_CONTACT	0x08

static struct device dev;
static struct msg msg, reply;

/* Return: the attacker's end, and whether the server wants to form a group with it */
static int propose(int listener, bool *first)
{
	int fd = attacker_connect(listener);

	proposal(&msg, &dev);
	attacker_send(fd, &msg);
	attacker_expect(fd, &reply, ACCEPTED);
	*first = get(&reply, AT_FLAGS, 1) & FIRST_CONTACT;
	return fd;
}

static long connect_time(int listener)
{
	long start = now_ms();
	int client = connect_to(listener), server = accept_from(listener);

	start = now_ms() - start;
	EQ(is_tcp(client), 0);
	close(client);
	close(server);
	return start;
}

/* The attacker says that it does not know the group of the application */
static void decline_group(int listener)
{
	bool first;
	int fd = propose(listener, &first);

	EQ(first, false);
	decline(&msg, DECLINE_LONG, 0x04000000);
	put(&msg, AT_FLAGS, 1, 0x28);
	attacker_send(fd, &msg);
	expect_fallback(fd, listener, "");
}

/* It starts to form another one, as a client that is out of sync can do at once */
static int fall_silent(int listener)
{
	bool first;
	int fd = propose(listener, &first);

	EQ(first, true);
	return fd;
}

/*
 * The application waits for the attacker once, and then no more for 10 seconds. All of its
 * connections are SMC.
 */
TEST(declines_and_silence, .applies = client_attacks, .alone = true)
{
	int listener = listen_any(100), silent[CONNECTS], i, late = 0;
	long usual;

	learn_device(&dev);
	connect_time(listener);		/* the group is formed */
	for (i = 0; i < CONNECTS; i++) {
		usual = connect_time(listener);		/* now, whatever else the machine does */
		decline_group(listener);
		silent[i] = fall_silent(listener);
		late += connect_time(listener) >= usual + WAIT_MS / 2;
	}
	while (i--)
		close(silent[i]);
	if (late > CONNECTS / 2)
		FAIL("%d of %d connections waited", late, CONNECTS);
}
