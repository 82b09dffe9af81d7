// SPDX-License-Identifier: GPL-2.0-only
/*
 * GIDs whose MAC address is not known: the module has to ask the network, and mostly there is
 * nobody who answers. All others must not notice that. See rdma_peer_strangers in lib/rdma_peer.sh.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define AT_P_MAC	32
#define AT_P_GID	(with_v1(chosen) ? 24 : AT_V2 + 16)	/* second half */
#define MAPPED(ipv4)	(0xffff00000000 | (ipv4))
#define NOBODY		0x0a0900c8	/* 10.9.0.200 and above: on the wire, nobody has them */
#define CROWD		0x0a090096	/* 10.9.0.150 and above: the same */
#define SILENT		"10.9.0.3"	/* of the attacker; nobody has asked for it yet */

#define TOO_MANY_HANDSHAKES	0x03100007
#define ANSWER_MS		60000
#define GIVEN_UP_MS		2000	/* the module waits so long for a neighbour */
#define AT_ONCE_MS		1500	/* waits for none */
#define TRIES			3	/* a busy machine may be late once, not each time */
#define TOO_LATE		(AT_ONCE_MS + 1)
#define ATTACKERS		10
#define MANY			20

static struct hostile h;
static struct msg sent, reply;
static uint32_t address;

static void name_nobody(struct msg *msg)
{
	if (get(msg, AT_TYPE, 1) != PROPOSAL)
		return;
	put(msg, AT_P_GID, 8, MAPPED(address));
	put(msg, AT_P_MAC, 6, 0);
	sent = *msg;
}

static void accept_nobody(struct msg *msg)
{
	put(msg, AT_R_GID + 8, 8, MAPPED(address));
	put(msg, AT_R_MAC, 6, 0);
}

/* The first of them has a queue pair, which makes no difference */
static void attack(uint32_t whom, int fds[], int count)
{
	int i;

	address = whom + chosen;
	hostile_init(&h);
	h.spoil = name_nobody;
	hostile_propose(&h);
	OK(listen(h.listener, 2 * MANY));
	fds[0] = h.tcp;
	for (i = 1; i < count; i++) {
		fds[i] = attacker_connect(h.listener);
		attacker_send(fds[i], &sent);
	}
}

/* How many of them the neighbour table knows, resolved or not */
static int count_entries(uint32_t first, int count)
{
	FILE *table = fopen("/proc/net/arp", "r");
	unsigned int last;
	char line[256];
	int found = 0;

	TRUE(table);
	while (fgets(line, sizeof(line), table))
		if (sscanf(line, "10.9.0.%u ", &last) == 1 && last >= (first & 0xff) &&
		    last < (first & 0xff) + count)
			found++;
	fclose(table);
	return found;
}

static void wait_asked(void)
{
	while (!count_entries(address, 1))
		pause_briefly();
}

static void must_decline(int fd, enum reason reason)
{
	attacker_expect(fd, &reply, DECLINED);
	EQ(get(&reply, AT_DIAGNOSIS, 4), reason);
}

/* --- a server --- */

struct server {
	int listener;
	int port;	/* of the honest client */
	int fd;
};

/* Until the honest client is there; the others may come before it or not */
static void serve(void *arg)
{
	struct server *server = arg;
	struct addr peer;

	for (;;) {
		server->fd = accept_from(server->listener);
		peer = peer_of(server->fd);
		if (port_of(&peer) == server->port)
			return;
		close(server->fd);
	}
}

/* One that blocks in accept() takes the steps of all handshakes itself */
TEST(unresolved_delays_no_accept, .alone = true, .applies = as_client)
{
	struct addr any = { .in.sin_family = AF_INET, .len = sizeof(any.in) }, own, to;
	struct server server;
	struct worker worker;
	int fds[ATTACKERS], honest = new_client(), i;
	long start;

	OK(bind(honest, &any.sa, any.len));
	own = name_of(honest);
	server.port = port_of(&own);
	attack(NOBODY, fds, ATTACKERS);
	server.listener = h.listener;
	to = target_of(h.listener);
	worker_start(&worker, serve, &server);
	start = now_ms();
	OK(connect(honest, &to.sa, to.len));
	worker_join(&worker);
	if (now_ms() - start > ATTACKERS * GIVEN_UP_MS / 2)
		FAIL("it took %ld ms", now_ms() - start);
	EQ(is_tcp(honest), 0);
	send_text(honest, "served");
	expect_text(server.fd, "served");
	for (i = 0; i < ATTACKERS; i++)
		must_decline(fds[i], NO_ROUTE);
	for (i = 1; i < ATTACKERS; i++)
		close(fds[i]);
	close(honest);
	close(server.fd);
	hostile_close(&h);
}

/* Milliseconds that @act takes; of several times the first one that is short enough */
static void must_be_quick(long (*act)(int try))
{
	long took = TOO_LATE;
	int i;

	for (i = 0; i < TRIES && took > AT_ONCE_MS; i++)
		took = act(i);
	if (took > AT_ONCE_MS)
		FAIL("it took %ld ms, or was too late", took);
}

/* TOO_LATE: the module had given up before */
static long late_if_declined(int fd, long took)
{
	enum reaction reaction = attacker_wait(fd, &reply, scaled(ANSWER_MS));

	if (reaction == DECLINED)
		return TOO_LATE;
	EQ(reaction, ENDED);
	return took;
}

static long close_of_listener(int try)
{
	int fds[ATTACKERS], i;
	long took;

	attack(NOBODY + 24 + 4 * try, fds, ATTACKERS);
	wait_asked();
	took = -now_ms();
	close(h.listener);
	took += now_ms();
	for (i = 0; i < ATTACKERS; i++)
		took = late_if_declined(fds[i], took);
	for (i = 1; i < ATTACKERS; i++)
		close(fds[i]);
	h.listener = listen_any(1);
	hostile_close(&h);
	return took;
}

TEST(unresolved_delays_no_close, .alone = true, .applies = as_client)
{
	must_be_quick(close_of_listener);
}

/* Whoever gives up while it is asked for leaves nothing behind */
TEST(unresolved_and_gone, .alone = true, .applies = as_client)
{
	int fds[ATTACKERS], i;

	attack(NOBODY + 8, fds, ATTACKERS);
	for (i = 1; i < ATTACKERS; i++)
		close(fds[i]);
	must_decline(fds[0], NO_ROUTE);
	expect_declined(&h);
	hostile_close(&h);
}

/* A message in the midst of it is none that was to come */
static long early_message(int try)
{
	long took;
	int fd;

	attack(NOBODY + 36 + 4 * try, &fd, 1);
	attacker_send(fd, &sent);
	took = late_if_declined(fd, 0);
	if (!took)
		EQ(events_now(h.listener), 0);
	hostile_close(&h);
	return took;
}

TEST(unresolved_and_early, .alone = true, .applies = as_client)
{
	must_be_quick(early_message);
}

/* The network is not asked for as many addresses as one peer likes */
TEST(unresolved_addresses, .alone = true, .applies = as_client_v2)
{
	int fds[MANY], refused = 0, i;

	address = CROWD;
	hostile_init(&h);
	h.spoil = name_nobody;
	hostile_propose(&h);
	OK(listen(h.listener, 2 * MANY));
	fds[0] = h.tcp;
	for (i = 1; i < MANY; i++) {
		put(&sent, AT_P_GID, 8, MAPPED(CROWD + i));
		fds[i] = attacker_connect(h.listener);
		attacker_send(fds[i], &sent);
	}
	for (i = 0; i < MANY; i++) {
		attacker_expect(fds[i], &reply, DECLINED);
		if (get(&reply, AT_DIAGNOSIS, 4) == TOO_MANY_HANDSHAKES)
			refused++;
		else
			EQ(get(&reply, AT_DIAGNOSIS, 4), NO_ROUTE);
	}
	/* On a busy machine some of them were given up before the last one came */
	TRUE(refused >= MANY / 2);
	TRUE(count_entries(CROWD, MANY) <= MANY - refused);
	for (i = 1; i < MANY; i++)
		close(fds[i]);
	hostile_close(&h);
}

/* The neighbour answers: all is as if it had been known */
TEST(resolved, .alone = true, .applies = as_client)
{
	setenv("RDMA_PEER_HOST", SILENT, 1);
	EQ(system("ip neigh flush to " SILENT), 0);
	hostile_init(&h);
	address = 0x0a090003;
	h.spoil = name_nobody;
	hostile_complete(&h);
	expect_alive(&h);
	hostile_close(&h);
}

/* --- a client --- */

static long interrupted_connect(int try)
{
	long start, took;

	catch_signal(SIGUSR1, 0);
	address = NOBODY + 24 + 4 * try + chosen;
	hostile_init(&h);
	hostile_propose(&h);
	h.spoil = accept_nobody;
	hostile_answer(&h);
	start = now_ms();
	worker_interrupt(&h.worker);
	worker_join(&h.worker);
	took = now_ms() - start;
	EQ(h.app_error, EINTR);
	must_decline(h.tcp, NO_ROUTE);
	wait_events(h.app, POLLOUT);
	EQ(is_tcp(h.app), 1);
	hostile_close(&h);
	return took;
}

TEST(unresolved_connect, .alone = true, .applies = as_server)
{
	must_be_quick(interrupted_connect);
}

static long close_in_connect(int try)
{
	long took;

	catch_signal(SIGUSR1, 0);
	address = NOBODY + 36 + 4 * try + chosen;
	hostile_init(&h);
	hostile_propose(&h);
	worker_interrupt(&h.worker);
	worker_join(&h.worker);
	EQ(h.app_error, EINTR);
	h.spoil = accept_nobody;
	hostile_answer(&h);
	wait_asked();
	took = -now_ms();
	close(h.app);
	took += now_ms();
	h.app = -1;
	took = late_if_declined(h.tcp, took);
	hostile_close(&h);
	return took;
}

TEST(unresolved_connect_closed, .alone = true, .applies = as_server)
{
	must_be_quick(close_in_connect);
}
