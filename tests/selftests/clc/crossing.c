// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two clients and no server: their SYNs cross, or a socket is connected to itself. And a client
 * that had a connection over SMC before, and whose next server is TCP. And a request that moves
 * from one listening socket of a port to another. And packet filters that drop or delay SYNs with
 * the SMC option, or remove it. The streams are exact.
 */

#include <fcntl.h>
#include <limits.h>
#include <linux/net_tstamp.h>
#include <stdio.h>
#include <stdlib.h>

#include "peer.h"

#define NO_SERVER	.applies = server_attacks

enum {
	MODE		= 0x03040000,
	OPTION		= 0x03060000,
	PEER_NO_SMC	= 0x03010000,
	NO_ANSWER	= 0x0310000a,
	PEER_DECLINED	= 0x05000000,
};

static const struct kind smc = { AF_SMC, SMCPROTO_SMC }, tcp = { AF_INET, 0 };

static int new_socket(struct kind kind)
{
	return OK(socket(kind.family, SOCK_STREAM | SOCK_CLOEXEC, kind.protocol));
}

enum binding {
	UNBOUND,
	ADDRESS,	/* bind() chooses the port */
	PORT,
};

static void bind_any(int fd, struct addr *name)
{
	struct addr any = loopback(AF_INET, 0);

	OK(bind(fd, &any.sa, any.len));
	*name = name_of(fd);
}

static void bind_as(int fd, enum binding binding)
{
	struct addr name;
	int other;

	if (binding == ADDRESS)
		bind_any(fd, &name);
	if (binding != PORT)
		return;
	other = new_socket(tcp);
	bind_any(other, &name);
	close(other);
	OK(bind(fd, &name.sa, name.len));
}

static void expect_exact(int a, int b)
{
	send_text(a, "there");
	send_text(b, "and back");
	expect_text(b, "there");
	expect_text(a, "and back");
	close(a);
	close(b);
}

static bool is_connected(int fd)
{
	int error;

	wait_events(fd, POLLOUT);
	error = socket_error(fd);
	OK(fcntl(fd, F_SETFL, 0));
	TRUE(!error || error == ECONNREFUSED);
	return !error;
}

/* Makes a client stay with TCP that has sent the option already */
static void exclude(int fd)
{
	set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, SOF_TIMESTAMPING_TX_ACK);
}

/* Both SYNs are on their way, unless the first arrives before the second is sent: refused */
static void connect_each_other(int a, int b)
{
	struct addr to_a, to_b;

	bind_any(a, &to_a);
	bind_any(b, &to_b);
	nonblock(a);
	nonblock(b);
	FAILS(connect(a, &to_b.sa, to_b.len), EINPROGRESS);
	FAILS(connect(b, &to_a.sa, to_a.len), EINPROGRESS);
}

static bool try_cross(struct kind kind, bool excluded, bool other_excluded)
{
	int a = new_socket(smc), b = new_socket(kind);

	connect_each_other(a, b);
	if (excluded)
		exclude(a);
	if (other_excluded)
		exclude(b);
	if (!is_connected(a)) {
		close(a);
		close(b);
		return false;
	}
	TRUE(is_connected(b));
	EQ(is_tcp(a), 1);
	EQ(is_tcp(b), 1);
	if (kind.family == smc.family) {
		EQ(fallback_reason(a), excluded ? OPTION : other_excluded ? PEER_DECLINED : MODE);
		EQ(fallback_reason(b), other_excluded ? OPTION : excluded ? PEER_DECLINED : MODE);
	}
	expect_exact(a, b);
	return true;
}

static void cross(struct kind kind, bool excluded, bool other_excluded)
{
	while (!try_cross(kind, excluded, other_excluded))
		;
}

static void delay_packets(void)
{
	EQ(system("tc qdisc add dev lo root netem delay 100ms"), 0);
}

TEST(syns_cross, NO_SERVER)
{
	delay_packets();
	cross(smc, false, false);
}

TEST(syns_cross_without_offer, NO_SERVER)
{
	delay_packets();
	cross(smc, true, false);
	cross(smc, false, true);
	cross(smc, true, true);
}

TEST(syns_cross_with_tcp, NO_SERVER)
{
	delay_packets();
	cross(tcp, false, false);
	cross(tcp, true, false);
}

static bool try_cross_attacker(int app, int attacker)
{
	struct device dev;
	struct msg msg;

	connect_each_other(app, attacker);
	exclude(app);
	if (!is_connected(attacker)) {
		close(app);
		close(attacker);
		return false;
	}
	attacker_expect(attacker, &msg, DECLINED);
	EQ(events_now(app) & POLLOUT, 0);
	learn_device(&dev);
	accept_or_confirm(&msg, ACCEPT, &dev, 1, 1);
	attacker_send(attacker, &msg);
	attacker_expect(attacker, &msg, DECLINED);
	TRUE(is_connected(app));
	EQ(is_tcp(app), 1);
	EQ(fallback_reason(app), OPTION);
	expect_exact(app, attacker);
	return true;
}

/* A client that has declined accepts nothing */
TEST(syns_cross_and_accept, NO_SERVER)
{
	delay_packets();
	while (!try_cross_attacker(new_socket(smc), attacker_socket()))
		;
}

static void connect_to_itself(void)
{
	struct addr name;
	int fd = new_socket(smc);

	bind_any(fd, &name);
	OK(connect(fd, &name.sa, name.len));
	EQ(is_tcp(fd), 1);
	send_text(fd, "echo");
	expect_text(fd, "echo");
	close(fd);
}

TEST(connected_to_itself, NO_SERVER)
{
	connect_to_itself();
	set_sysctl("net/smc/variants", 0);
	connect_to_itself();
}

/* Nothing is left of the option of the server before */
TEST(tcp_after_smc, NO_SERVER)
{
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) }, to;
	int listener = listen_any(1), tcp_listener = new_socket(tcp), fd, server;

	bind_any(tcp_listener, &to);
	OK(listen(tcp_listener, 1));
	fd = connect_to(listener);
	server = accept_from(listener);
	EQ(is_tcp(fd), 0);
	close(server);
	OK(connect(fd, &none.sa, none.len));
	OK(connect(fd, &to.sa, to.len));
	server = accept_from(tcp_listener);
	EQ(is_tcp(fd), 1);
	expect_exact(fd, server);
}

#define DELAY_MS	100

static int bind_with_others(int fd, struct addr *to)
{
	set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	OK(bind(fd, &to->sa, to->len));
	*to = name_of(fd);
	return fd;
}

/* The first socket gets the SYN, the other one the ACK, unless this process is too slow */
static bool try_move(struct kind first, struct kind second)
{
	struct addr to = loopback(AF_INET, 0);
	int old = bind_with_others(new_socket(first), &to);
	int new = bind_with_others(new_socket(second), &to);
	int fd = new_socket(smc), server;
	long start = now_ms();
	bool in_time;

	OK(listen(old, 1));
	nonblock(fd);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	poll(NULL, 0, DELAY_MS * 3 / 2);
	OK(listen(new, 1));
	close(old);
	in_time = now_ms() - start < DELAY_MS * 3;
	if (in_time) {
		TRUE(is_connected(fd));
		server = accept_from(new);
		EQ(is_tcp(fd), 1);
		EQ(is_tcp(server), 1);
		expect_exact(fd, server);
	} else {
		close(fd);
	}
	close(new);
	return in_time;
}

static void move(struct kind first, struct kind second)
{
	while (!try_move(first, second))
		;
}

TEST(request_moves, NO_SERVER)
{
	delay_packets();
	set_sysctl("net/ipv4/tcp_migrate_req", 1);
	move(tcp, tcp);
	move(tcp, smc);
	move(smc, tcp);
	move(smc, smc);
}

static void expect_from_group(bool over_tcp)
{
	struct addr to = loopback(AF_INET, 0);
	int listener = bind_with_others(new_socket(smc), &to), fd = new_socket(smc), server;

	OK(listen(listener, 1));
	OK(connect(fd, &to.sa, to.len));
	server = accept_from(listener);
	EQ(is_tcp(fd), over_tcp);
	EQ(is_tcp(server), over_tcp);
	expect_exact(fd, server);
	close(listener);
}

/* Only a group from which requests may move keeps to TCP */
TEST(group_of_listeners, NO_SERVER)
{
	expect_from_group(false);
	set_sysctl("net/ipv4/tcp_migrate_req", 1);
	expect_from_group(true);
	set_sysctl("net/ipv4/tcp_migrate_req", 0);
	expect_from_group(false);
}

#define PURE_SYN	"tcp flags & (syn | ack) == syn "
#define WITH_OPTION	"tcp option 254 exists "

static void filter_packets(const char *rule)
{
	char command[300];

	snprintf(command, sizeof(command), "nft 'table inet box {\nchain in {\n"
		 "type filter hook input priority 0\n%s\n}\n}\n'", rule);
	EQ(system(command), 0);
}

static void pass_packets(void)
{
	EQ(system("nft delete table inet box"), 0);
}

static void connect_bound(int listener, enum binding binding, bool block, bool over_tcp,
			  uint32_t why)
{
	struct addr to = target_of(listener);
	int fd = new_socket(smc), server;

	bind_as(fd, binding);
	if (!block)
		nonblock(fd);
	if (connect(fd, &to.sa, to.len))
		EQ(errno, EINPROGRESS);
	TRUE(is_connected(fd));
	server = accept_from(listener);
	EQ(is_tcp(fd), over_tcp);
	EQ(is_tcp(server), over_tcp);
	if (over_tcp) {
		EQ(fallback_reason(fd), why);
		EQ(fallback_reason(server), PEER_NO_SMC);
	}
	expect_exact(fd, server);
}

static void connect_through(int listener, bool block, bool over_tcp, uint32_t why)
{
	connect_bound(listener, UNBOUND, block, over_tcp, why);
}

/* TCP's second SYN does what the first one could not */
TEST(option_dropped, NO_SERVER)
{
	int listener = listen_any(1);

	filter_packets(WITH_OPTION "drop");
	connect_through(listener, true, true, NO_ANSWER);
	connect_through(listener, false, true, NO_ANSWER);
	pass_packets();
	connect_through(listener, true, false, 0);
}

/* For a port that the program has named, the third one */
TEST(option_dropped_for_bound, NO_SERVER)
{
	int listener = listen_any(1);

	filter_packets(WITH_OPTION "drop");
	connect_bound(listener, ADDRESS, true, true, NO_ANSWER);
	connect_bound(listener, PORT, true, true, NO_ANSWER);
	pass_packets();
	connect_bound(listener, PORT, true, false, 0);
}

static void fail_to_answer(int listener, int times)
{
	filter_packets(WITH_OPTION "drop");
	while (times--)
		connect_through(listener, true, true, NO_ANSWER);
	pass_packets();
}

/* After three failures without a success the option is not sent; then one connection tries again */
TEST(option_avoided, NO_SERVER)
{
	int listener = listen_any(1), other = listen_any(1);
	long start;

	fail_to_answer(listener, 2);
	connect_through(listener, true, false, 0);
	fail_to_answer(listener, 1);
	connect_through(listener, true, false, 0);
	fail_to_answer(listener, 3);
	connect_through(listener, true, true, NO_ANSWER);
	connect_through(other, true, false, 0);
	set_sysctl("net/smc/syn_retry_time", 1);
	poll(NULL, 0, 1100);
	start = now_ms();
	fail_to_answer(listener, 1);
	TRUE(now_ms() - start > 900);	/* it has tried the option */
	set_sysctl("net/smc/syn_retry_time", 300);
	connect_through(listener, true, true, NO_ANSWER);
	set_sysctl("net/smc/syn_retry_time", 1);
	poll(NULL, 0, 1100);
	connect_through(listener, true, false, 0);
	set_sysctl("net/smc/syn_retry_time", 300);
	connect_through(listener, true, false, 0);
}

static void pass_later(void *unused)
{
	(void)unused;
	poll(NULL, 0, 1500);
	pass_packets();
}

/* Return: has this process been fast enough for the second SYN? */
static bool try_second(void)
{
	int listener = listen_any(1), fd = new_socket(smc), server;
	struct addr to = target_of(listener);
	bool in_time;
	long start;

	bind_as(fd, PORT);
	nonblock(fd);
	filter_packets(WITH_OPTION "drop");
	start = now_ms();
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	poll(NULL, 0, 300);
	pass_packets();
	in_time = now_ms() - start < 900;
	TRUE(is_connected(fd));
	server = accept_from(listener);
	if (in_time && is_tcp(fd))
		FAIL("the client is TCP, for the reason 0x%x", fallback_reason(fd));
	EQ(is_tcp(server), is_tcp(fd));
	expect_exact(fd, server);
	return in_time;
}

/*
 * The second SYN passes, and has the option, because SYNs may cross. A try that takes too long
 * counts as a failure of the option, so each try has a server of its own.
 */
TEST(option_in_second_syn, NO_SERVER)
{
	while (!try_second())
		;
}

/* The third SYN passes, and has the option: the server may have been too busy for the first ones */
TEST(option_in_each_syn, NO_SERVER)
{
	int listener = listen_any(1);
	struct worker worker;

	set_sysctl("net/smc/syn_retry_time", 0);
	filter_packets(WITH_OPTION "drop");
	worker_start(&worker, pass_later, NULL);
	connect_through(listener, true, false, 0);
	worker_join(&worker);
}

TEST(option_removed, NO_SERVER)
{
	int listener = listen_any(1);

	filter_packets(PURE_SYN "reset tcp option 254");
	connect_through(listener, true, true, PEER_NO_SMC);
}

/* The server expects a Proposal, and the client does not know of SMC */
TEST(option_removed_from_answer, NO_SERVER)
{
	struct addr to;
	int listener = listen_any(1), fd = new_socket(smc), server;

	to = target_of(listener);
	filter_packets("tcp flags & (syn | ack) == (syn | ack) reset tcp option 254");
	OK(connect(fd, &to.sa, to.len));
	EQ(is_tcp(fd), 1);
	EQ(fallback_reason(fd), PEER_NO_SMC);
	send_text(fd, "first");
	server = accept_from(listener);
	EQ(is_tcp(server), 1);
	EQ(fallback_reason(server), NO_PROPOSAL);
	expect_text(server, "first");
	expect_exact(fd, server);
}

#define CANCELLED	10

/* When the timer for the second SYN expires, a client is closed, or disconnected and used again */
TEST(connect_cancelled, NO_SERVER)
{
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) }, to;
	int listener = listen_any(CANCELLED), fd[CANCELLED], server, i;

	to = target_of(listener);
	filter_packets(PURE_SYN "drop");	/* also the second one, which would make it TCP */
	for (i = 0; i < CANCELLED; i++) {
		fd[i] = new_socket(smc);
		nonblock(fd[i]);
		FAILS(connect(fd[i], &to.sa, to.len), EINPROGRESS);
	}
	poll(NULL, 0, 850);
	for (i = 0; i < CANCELLED; i++) {
		poll(NULL, 0, 5);
		if (i % 2)
			close(fd[i]);
		else
			OK(connect(fd[i], &none.sa, none.len));
	}
	pass_packets();
	for (i = 0; i < CANCELLED; i += 2) {
		OK(fcntl(fd[i], F_SETFL, 0));
		OK(connect(fd[i], &to.sa, to.len));
		server = accept_from(listener);
		EQ(is_tcp(fd[i]), 0);
		expect_exact(fd[i], server);
	}
}

/* The answer to the first SYN comes after the second one was sent */
TEST(answer_is_late, NO_SERVER)
{
	int listener = listen_any(1);

	EQ(system("tc qdisc add dev lo root netem delay 700ms"), 0);
	connect_through(listener, true, false, 0);
	connect_through(listener, false, false, 0);
}

/*
 * The SYN of @a does not pass before @b has sent one, as with NAT between two clients. Return: has
 * @b been fast enough?
 */
static bool try_punch(struct kind kind, enum binding binding, long wait_ms, long max_ms,
		      uint32_t why)
{
	int a = new_socket(smc), b = new_socket(kind);
	struct addr to_a, to_b;
	char rule[100];
	bool in_time;
	long start;

	bind_as(a, binding);
	bind_any(b, &to_b);
	snprintf(rule, sizeof(rule), PURE_SYN "tcp dport %u drop", ntohs(to_b.in.sin_port));
	filter_packets(rule);
	nonblock(a);
	nonblock(b);
	start = now_ms();
	FAILS(connect(a, &to_b.sa, to_b.len), EINPROGRESS);
	to_a = name_of(a);
	poll(NULL, 0, wait_ms);
	FAILS(connect(b, &to_a.sa, to_a.len), EINPROGRESS);
	in_time = now_ms() - start < max_ms;
	TRUE(is_connected(a));
	TRUE(is_connected(b));
	EQ(is_tcp(a), 1);
	EQ(is_tcp(b), 1);
	if (in_time)
		EQ(fallback_reason(a), why);
	expect_exact(a, b);
	pass_packets();
	return in_time;
}

static void punch(struct kind kind, enum binding binding, long wait_ms, long max_ms, uint32_t why)
{
	while (!try_punch(kind, binding, wait_ms, max_ms, why))
		;
}

/* @b takes the SYN-ACK of @a for that of a server: with the option, or without it */
TEST(syns_cross_late, NO_SERVER)
{
	punch(smc, UNBOUND, 0, 800, MODE);
	punch(tcp, UNBOUND, 0, 800, PEER_NO_SMC);
	punch(smc, UNBOUND, 1500, LONG_MAX, NO_ANSWER);
	punch(tcp, UNBOUND, 1500, LONG_MAX, NO_ANSWER);
	punch(smc, ADDRESS, 1500, LONG_MAX, NO_ANSWER);
	punch(smc, PORT, 0, 800, MODE);
	punch(smc, PORT, 1500, 1800, MODE);
	punch(tcp, PORT, 1500, 1800, PEER_NO_SMC);
	punch(smc, PORT, 3500, LONG_MAX, NO_ANSWER);
	punch(tcp, PORT, 3500, LONG_MAX, NO_ANSWER);
}

/*
 * The second SYN of @a crosses the first one of @b. An end that is too slow is refused. Return: did
 * they cross?
 */
static bool try_cross_second(void)
{
	int a = new_socket(smc), b = new_socket(smc);
	struct addr to_a, to_b;
	bool connected;
	long left;

	bind_as(a, PORT);
	bind_as(b, PORT);
	to_a = name_of(a);
	to_b = name_of(b);
	nonblock(a);
	nonblock(b);
	filter_packets(PURE_SYN "drop");
	left = now_ms() + 1000 + DELAY_MS / 2;
	FAILS(connect(a, &to_b.sa, to_b.len), EINPROGRESS);
	poll(NULL, 0, 500);
	pass_packets();
	left -= now_ms();
	poll(NULL, 0, left > 0 ? left : 0);
	FAILS(connect(b, &to_a.sa, to_a.len), EINPROGRESS);
	connected = is_connected(a) && is_connected(b);
	if (connected) {
		EQ(is_tcp(a), 1);
		EQ(is_tcp(b), 1);
		expect_exact(a, b);
	} else {
		close(a);
		close(b);
	}
	return connected;
}

TEST(syns_cross_second, NO_SERVER)
{
	delay_packets();
	while (!try_cross_second())
		;
}

/* Nobody has received a first SYN; the second ones cross */
TEST(syns_cross_again, NO_SERVER)
{
	int a = new_socket(smc), b = new_socket(smc);

	filter_packets(PURE_SYN "drop");
	connect_each_other(a, b);
	poll(NULL, 0, 1500);
	pass_packets();
	TRUE(is_connected(a));
	TRUE(is_connected(b));
	EQ(is_tcp(a), 1);
	EQ(is_tcp(b), 1);
	expect_exact(a, b);
}
