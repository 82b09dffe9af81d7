// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thousands of handshakes that an attacker begins and does not end: what they cost, and what others
 * notice of them. The figures are printed; the limits here are far above them.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "forge.h"

#define CROWD		5000	/* the environment variable CROWD lowers it */
#define LISTENERS	2	/* each can have PARKED_MAX parked handshakes */
#define PARKED_MAX	4096	/* then new connections are TCP */
#define ADDRESSES	24	/* so that limits of one address do not matter */
#define SAMPLES		200
#define TRIES		5
#define LIMIT		.applies = crowd_attacks, .seconds = 300, .alone = true

/* What a handshake may pin, TCP's part included; see Documentation/security.rst */
#define KIB_EACH	16

static struct device dev;
static struct msg msg, reply;
static int listeners[LISTENERS], crowd[CROWD], crowd_size;

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static long available_kib(void)
{
	char line[100];
	long kib = -1;
	FILE *f = fopen("/proc/meminfo", "re");

	TRUE(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/*
 * How much less memory is available than @before. Link groups that had to go are freed by kworkers
 * and after grace periods, so the first value may be above what the crowd pins.
 */
static long pinned_kib(long before, long most)
{
	int tries = scaled(10000) / 100;
	long pinned;

	while ((pinned = before - available_kib()) >= most && tries--)
		usleep(100000);
	return pinned;
}

static int compare_longs(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* The 99th percentile of what a connection takes, in microseconds, and how many are TCP */
static long connect_time(int listener, int *tcp)
{
	static long took[SAMPLES];
	int i, client, server;

	*tcp = 0;
	for (i = 0; i < SAMPLES; i++) {
		long start = now_us();

		client = connect_to(listener);
		server = accept_from(listener);
		took[i] = now_us() - start;
		*tcp += is_tcp(client);
		close(client);
		close(server);
	}
	qsort(took, SAMPLES, sizeof(*took), compare_longs);
	return took[SAMPLES * 99 / 100];
}

static void allow_crowd(void)
{
	struct rlimit files = { CROWD + 1000, CROWD + 1000 };

	OK(setrlimit(RLIMIT_NOFILE, &files));
	set_sysctl("net/core/somaxconn", CROWD);
	set_sysctl("net/ipv4/tcp_max_syn_backlog", CROWD);
	set_handshake_timeout(600);
}

static void start_crowd(int good)
{
	const char *fewer = getenv("CROWD");
	int i, tcp;

	crowd_size = fewer ? atoi(fewer) : CROWD;
	TRUE(crowd_size > 0 && crowd_size <= CROWD);
	allow_crowd();
	learn_device(&dev);
	dev.peer_id[7] ^= 1;	/* a link group of its own, see Documentation/security.rst */
	for (i = 0; i < LISTENERS; i++)
		listeners[i] = listen_any(CROWD);
	connect_time(good, &tcp);	/* pools are filled, the group is there */
}

static void end_crowd(void)
{
	int i;

	for (i = 0; i < crowd_size; i++) {
		set_linger(crowd[i], 1, 0);
		close(crowd[i]);
	}
}

/*
 * @begin brings a connection as far as it is to come. Return: how many connections of others were
 * TCP beside them. They come from the address of the clients.
 */
static int measure_crowd(void (*begin)(int i))
{
	int good = listen_any(10), i, tcp;
	long idle, beside, again, memory, most;
	int tries, more_tcp;
	int64_t buffers;

	start_crowd(good);
	idle = connect_time(good, &tcp);
	EQ(tcp, 0);
	buffers = buffer_bytes();
	memory = available_kib();
	for (i = 0; i < crowd_size; i++)
		begin(i);
	most = (long)crowd_size * KIB_EACH;
	memory = pinned_kib(memory, most);
	buffers = buffer_bytes() - buffers;	/* before others fill the pools */
	beside = connect_time(good, &tcp);
	/* A machine may stumble twice among so many connections, but not in each measurement */
	for (tries = 1; tries < TRIES && beside >= 10 * idle + scaled(20000); tries++) {
		again = connect_time(good, &more_tcp);
		tcp += more_tcp;
		if (again < beside)
			beside = again;
	}
	fprintf(stderr, "p99 of connect and accept: %ld us alone, %ld us beside %d handshakes\n",
		idle, beside, crowd_size);
	fprintf(stderr, "memory: %ld KiB for all, %lld KiB of it buffers\n", memory,
		(long long)buffers / 1024);
	TRUE(beside < 10 * idle + scaled(20000));
	TRUE(memory < most);
	EQ(buffers, 0);
	end_crowd();
	return tcp;
}

static void begin_silence(int i)
{
	crowd[i] = attacker_connect(listeners[i % LISTENERS]);
}

static void become_peer(int i)
{
	dev.peer_id[2] = i >> 8;
	dev.peer_id[3] = i;
}

static bool propose_on(int i)
{
	enum reaction reaction;

	proposal(&msg, &dev);
	attacker_send(crowd[i], &msg);
	reaction = attacker_wait(crowd[i], &reply, scaled(60000));
	if (reaction != ACCEPTED && reaction != DECLINED)
		FAIL("reaction %d to a Proposal", reaction);
	return reaction == ACCEPTED;
}

static bool propose(int i)
{
	begin_silence(i);
	return propose_on(i);
}

/* Each forms a link group of its own, for which older ones have to go */
static void begin_proposal(int i)
{
	become_peer(i);
	propose(i);
}

static void begin_proposal_of_many(int i)
{
	char address[32];

	snprintf(address, sizeof(address), "127.0.1.%d", 1 + i % ADDRESSES);
	crowd[i] = attacker_connect_from(address, listeners[i % LISTENERS]);
	become_peer(i);
	propose_on(i);
}

/* A new client. Return: whether its connection is TCP. */
static bool becomes_tcp(int listener)
{
	int client = connect_to(listener), server = accept_from(listener);
	bool tcp = is_tcp(client);

	send_text(client, "ping");
	expect_text(server, "ping");
	close(client);
	close(server);
	return tcp;
}

/*
 * A listening socket with as many silent clients as can be parked serves others over TCP, also one
 * that is silent. When all silent ones decline, accept() returns them.
 */
TEST(crowd_of_one_listener, LIMIT)
{
	int listener, client, server, i;
	struct addr to;

	allow_crowd();
	listener = listen_any(CROWD);
	to = target_of(listener);
	for (i = 0; i < PARKED_MAX; i++)
		crowd[i] = attacker_connect(listener);
	while (!becomes_tcp(listener))	/* the last ones are parked after 50 ms */
		;
	client = attacker_socket();
	OK(connect(client, &to.sa, to.len));
	EQ(attacker_has_agreed(client), false);
	server = accept_from(listener);
	TRUE(is_tcp(server));
	close(client);
	close(server);

	decline(&msg, DECLINE_LONG, 0x03030000);
	for (i = 0; i < PARKED_MAX; i++)
		attacker_send(crowd[i], &msg);
	for (i = 0; i < PARKED_MAX; i++)
		close(accept_from(listener));
	for (i = 0; i < PARKED_MAX; i++)
		close(crowd[i]);
	EQ(becomes_tcp(listener), false);
}

/* Half of a Proposal: it has to be kept until the rest comes */
static void begin_half(int i)
{
	begin_silence(i);
	proposal(&msg, &dev);
	EQ(send(crowd[i], msg.bytes, msg.len / 2, 0), msg.len / 2);
}

TEST(crowd_of_silence, LIMIT)
{
	EQ(measure_crowd(begin_silence), 0);
}

TEST(crowd_of_proposals, LIMIT)
{
	EQ(measure_crowd(begin_proposal), 0);
}

TEST(crowd_of_addresses, LIMIT)
{
	EQ(measure_crowd(begin_proposal_of_many), 0);
}

TEST(crowd_of_halves, LIMIT)
{
	EQ(measure_crowd(begin_half), 0);
}

/* Confirms with a token of somebody else: each is declined, and the connection goes on as TCP */
static void begin_wrong_confirm(int i)
{
	if (!propose(i))
		return;
	accept_or_confirm(&msg, CONFIRM, &dev, get(&reply, AT_TOKEN, 8) + 1, 1);
	attacker_send(crowd[i], &msg);
	attacker_expect(crowd[i], &reply, DECLINED);
}

TEST(crowd_of_wrong_confirms, LIMIT)
{
	EQ(measure_crowd(begin_wrong_confirm), 0);
}
