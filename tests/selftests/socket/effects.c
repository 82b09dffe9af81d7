// SPDX-License-Identifier: GPL-2.0-only
/* What options do to the data: the same as over TCP, or nothing, or the connection is TCP */

#include <netinet/tcp.h>
#include <string.h>

#include "pair.h"

#define SO_TXREHASH_OPTION	74	/* of newer headers */
#define BYTES			300000

struct option {
	int level;
	int name;
	int value;
};

/* TCP sends segments at a time of its own: data in shared memory would not wait for it */
static const struct option timed[] = {
	{ SOL_SOCKET, SO_MAX_PACING_RATE, 1 << 30 },
	{ SOL_TCP, TCP_TX_DELAY, 1000 },
};

/* They are about segments, queues and acknowledgements of TCP, or TCP has no use for them */
static const struct option indifferent[] = {
	{ SOL_SOCKET, SO_BROADCAST, 1 },
	{ SOL_SOCKET, SO_BUSY_POLL_BUDGET, 8 },
	{ SOL_SOCKET, SO_DEBUG, 1 },
	{ SOL_SOCKET, SO_DONTROUTE, 1 },
	{ SOL_SOCKET, SO_INCOMING_CPU, 0 },
	{ SOL_SOCKET, SO_MARK, 3 },
	{ SOL_SOCKET, SO_NO_CHECK, 1 },
	{ SOL_SOCKET, SO_PREFER_BUSY_POLL, 1 },
	{ SOL_SOCKET, SO_PRIORITY, 3 },
	{ SOL_SOCKET, SO_RXQ_OVFL, 1 },
	{ SOL_SOCKET, SO_SELECT_ERR_QUEUE, 1 },
	{ SOL_SOCKET, SO_TXREHASH_OPTION, 0 },
	{ SOL_SOCKET, SO_WIFI_STATUS, 1 },
	{ SOL_TCP, TCP_MAXSEG, 600 },
	{ SOL_TCP, TCP_NOTSENT_LOWAT, 1 },
	{ SOL_TCP, TCP_QUICKACK, 0 },
	{ SOL_TCP, TCP_SYNCNT, 2 },
	{ SOL_TCP, TCP_THIN_DUPACK, 1 },
	{ SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1 },
	{ SOL_TCP, TCP_WINDOW_CLAMP, 100000 },
};

#define NR(array)	((int)(sizeof(array) / sizeof(*(array))))

/* The kernel may be too old for one of them */
static void try_option(int fd, const struct option *option)
{
	if (setsockopt(fd, option->level, option->name, &option->value, sizeof(int)) &&
	    errno != ENOPROTOOPT)
		FAIL("option %d of level %d: %s", option->name, option->level,
		     strerrorname_np(errno));
}

static void set_indifferent(int fd)
{
	int i;

	for (i = 0; i < NR(indifferent); i++)
		try_option(fd, &indifferent[i]);
	OK(setsockopt(fd, SOL_TCP, TCP_CONGESTION, "reno", 4));
}

static void send_pattern(void *arg)
{
	static char buf[BYTES];

	pattern_fill(buf, BYTES, 0);
	send_all(*(int *)arg, buf, BYTES);
}

static void expect_pattern(int from, int to)
{
	struct worker worker;

	worker_start(&worker, send_pattern, &from);
	drain(to, BYTES, 0);
	worker_join(&worker);
}

static void exchange(int one, int other)
{
	expect_pattern(one, other);
	expect_pattern(other, one);
}

static int listen_at(int listener)
{
	struct addr addr = server_bind_address();

	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	return listener;
}

static int connect_client(int client, int listener)
{
	struct addr to = target_of(listener);

	OK(connect(client, &to.sa, to.len));
	return client;
}

/* A connection that is TCP because of an option of its client, or of its listening socket */
static void expect_tcp(const struct option *option, bool in_client)
{
	int listener = new_server(), client = new_client(), fd;

	try_option(in_client ? client : listener, option);
	connect_client(client, listen_at(listener));
	fd = accept_from(listener);
	TRUE(is_tcp(client));
	TRUE(is_tcp(fd));
	EQ(get_int(in_client ? client : fd, option->level, option->name), option->value);
	exchange(client, fd);
	close(client);
	close(fd);
	close(listener);
}

TEST(options_timed_in_client)
{
	int i;

	for (i = 0; i < NR(timed); i++)
		expect_tcp(&timed[i], true);
}

TEST(options_timed_in_server)
{
	int i;

	for (i = 0; i < NR(timed); i++)
		expect_tcp(&timed[i], false);
}

/* The rate is taken back before it counts */
TEST(options_timed_no_more)
{
	int listener = listen_any(1), client = new_client();

	set_int(client, SOL_SOCKET, SO_MAX_PACING_RATE, 1000);
	set_int(client, SOL_SOCKET, SO_MAX_PACING_RATE, -1);
	set_int(client, SOL_TCP, TCP_TX_DELAY, 1000);
	set_int(client, SOL_TCP, TCP_TX_DELAY, 0);
	connect_client(client, listener);
	EQ(is_tcp(client), !variant->smc);
	exchange(client, accept_from(listener));
}

TEST(options_indifferent)
{
	int listener = new_server(), client = new_client(), fd;

	set_indifferent(listener);
	set_indifferent(client);
	connect_client(client, listen_at(listener));
	fd = accept_from(listener);
	EQ(is_tcp(client), !variant->smc);
	EQ(is_tcp(fd), !variant->smc);
	exchange(client, fd);
}

TEST(options_indifferent_to_connection)
{
	int fd[2];

	pair_open(fd);
	set_indifferent(fd[0]);
	set_indifferent(fd[1]);
	exchange(fd[0], fd[1]);
	EQ(is_tcp(fd[0]), !variant->smc);
}

/* Buffers have their size when the connection begins; a later one is kept, at least */
TEST(options_buffers_of_connection)
{
	int fd[2];

	pair_open(fd);
	socket_buffers(fd[0], 30000);
	socket_buffers(fd[1], 30000);
	EQ(get_int(fd[0], SOL_SOCKET, SO_SNDBUF), 60000);
	EQ(get_int(fd[0], SOL_SOCKET, SO_RCVBUF), 60000);
	exchange(fd[0], fd[1]);
}

static bool is_client_smc(void)
{
	return variant->client.family == AF_SMC || variant->client.protocol == IPPROTO_SMC;
}

/* The SYN is there once, with the option of SMC */
TEST(options_saved_syn)
{
	int listener = new_server(), fd;
	char syn[128];
	socklen_t len = sizeof(syn);

	set_int(listener, SOL_TCP, TCP_SAVE_SYN, 1);
	connect_to(listen_at(listener));
	fd = accept_from(listener);
	OK(getsockopt(fd, SOL_TCP, TCP_SAVED_SYN, syn, &len));
	TRUE(len > 40);
	EQ(!!memmem(syn, len, "\376\006\342\324\303\331", 6), is_client_smc());
	len = sizeof(syn);
	OK(getsockopt(fd, SOL_TCP, TCP_SAVED_SYN, syn, &len));
	EQ(len, 0);
}
