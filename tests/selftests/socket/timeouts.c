// SPDX-License-Identifier: GPL-2.0-only
/* Options for a peer that does not read, does not answer, or does not close */

#include <netinet/tcp.h>

#include "pair.h"

#define TIMEOUT	1000	/* of the option, in ms */
#define BUFFER	32768

static void set_user_timeout(int fd, int milliseconds)
{
	set_int(fd, SOL_TCP, TCP_USER_TIMEOUT, milliseconds);
}

/* What the peer has read may become known later. Return: bytes sent */
static size_t fill(int fd, uint64_t offset)
{
	size_t sent = 0;

	do {
		sent += send_until_full(fd, offset + sent);
		usleep(100000);
	} while (events_now(fd) & POLLOUT);
	return sent;
}

static void expect_timed_out(int fd)
{
	char byte;

	EQ(wait_events(fd, POLLERR) & (POLLERR | POLLHUP), POLLERR | POLLHUP);
	EQ(socket_error(fd), ETIMEDOUT);
	EQ(socket_error(fd), 0);
	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	EQ(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
}

/* TCP counts from the moment when it has something to send and its peer no room */
TEST(user_timeout)
{
	long start = now_ms();
	int fd[2];

	pair_with_buffers(fd, BUFFER);
	set_user_timeout(fd[0], scaled(2 * TIMEOUT));
	fill(fd[0], 0);
	EQ(events_now(fd[0]), 0);
	expect_timed_out(fd[0]);
	TRUE(now_ms() - start >= 2 * TIMEOUT);
}

/* The program could write more, into a ring that would become larger, but it does not try */
TEST(user_timeout_of_large_buffers)
{
	int fd[2];

	pair_open(fd);
	set_user_timeout(fd[0], scaled(2 * TIMEOUT));
	send_until_full(fd[0], 0);
	expect_timed_out(fd[0]);
}

static void send_for_ever(void *arg)
{
	static char buf[BUFFER];
	int fd = *(int *)arg;

	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	EQ(errno, ETIMEDOUT);
	EQ(socket_error(fd), 0);
}

TEST(user_timeout_of_blocked_writer)
{
	struct worker worker;
	int fd[2];

	pair_with_buffers(fd, BUFFER);
	set_user_timeout(fd[0], TIMEOUT);
	worker_start(&worker, send_for_ever, &fd[0]);
	worker_join(&worker);
	TRUE(events_now(fd[0]) & POLLHUP);
}

/* The writer waits already */
TEST(user_timeout_set_late)
{
	struct worker worker;
	int fd[2];

	pair_with_buffers(fd, BUFFER);
	worker_start(&worker, send_for_ever, &fd[0]);
	worker_asleep(&worker);
	set_user_timeout(fd[0], 10 * 60 * 1000);
	set_user_timeout(fd[0], TIMEOUT);
	worker_join(&worker);
}

TEST(user_timeout_taken_back)
{
	int fd[2];

	pair_with_buffers(fd, BUFFER);
	set_user_timeout(fd[0], scaled(3 * TIMEOUT));
	drain(fd[1], fill(fd[0], 0), 0);
	wait_events(fd[0], POLLOUT);
	fill(fd[0], 0);
	set_user_timeout(fd[0], 0);
	usleep(scaled(4 * TIMEOUT) * 1000);
	EQ(events_now(fd[0]), 0);
}

/*
 * A peer that reads now and then is not timed out, for however long it does so. For TCP the window
 * has to open by more than a segment of loopback.
 */
TEST(user_timeout_of_slow_reader)
{
	size_t sent = 0, got = 0;
	int fd[2], i;

	pair_with_buffers(fd, 8 * BUFFER);
	set_user_timeout(fd[0], scaled(3 * TIMEOUT));
	for (i = 0; i < 8; i++) {
		sent += send_until_full(fd[0], sent);
		usleep(scaled(TIMEOUT / 2) * 1000);
		drain(fd[1], sent - got, got);
		got = sent;
	}
	EQ(wait_events(fd[0], POLLOUT) & POLLERR, 0);
	fill(fd[0], sent);
	expect_timed_out(fd[0]);
}

/* TCP does not tell its peer of so little space. Over SMC the peer has read something */
TEST(user_timeout_of_very_slow_reader, .applies = only_smc)
{
	int fd[2], i;
	char byte;

	pair_with_buffers(fd, 8 * BUFFER);
	set_user_timeout(fd[0], scaled(2 * TIMEOUT));
	fill(fd[0], 0);
	for (i = 0; i < 80; i++) {
		usleep(scaled(TIMEOUT / 20) * 1000);
		send_text(fd[1], "busy");	/* the answers are not alone */
		expect_text(fd[0], "busy");
		if (i % 10 == 0)
			OK(recv(fd[1], &byte, 1, 0));
	}
	EQ(events_now(fd[0]), 0);
	expect_timed_out(fd[0]);
}

/* A ring that is nearly full is no reason if the program has no more to send. It had before */
TEST(user_timeout_of_sent_data, .applies = only_smc)
{
	static char buf[1 << 20];
	size_t most;
	int fd[2];

	pair_with_rcvbuf(fd, BUFFER);
	set_int(fd[0], SOL_SOCKET, SO_SNDBUF, BUFFER / 2);	/* no more than that holds */
	set_user_timeout(fd[0], scaled(2 * TIMEOUT));
	most = fill(fd[0], 0);
	TRUE(most < sizeof(buf));
	drain(fd[1], most, 0);
	wait_events(fd[0], POLLOUT);
	send_all(fd[0], buf, most * 3 / 4);
	EQ(events_now(fd[0]), 0);
	usleep(scaled(5 * TIMEOUT) * 1000);
	EQ(events_now(fd[0]), 0);
	recv_all(fd[1], buf, most * 3 / 4);
	wait_events(fd[0], POLLOUT);
}

struct sender {
	int fd;
	int error;
};

static void send_until_failed(void *arg)
{
	static char buf[3 * BUFFER];
	struct sender *sender = arg;

	while (send(sender->fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	sender->error = errno;
}

/* One of them goes on when the peer has read, and takes the space from the other */
TEST(user_timeout_of_two_writers)
{
	struct worker first, second;
	struct sender one, other;
	char buf[BUFFER];
	int fd[2];

	pair_with_buffers(fd, BUFFER);
	one.fd = fd[0];
	other.fd = fd[0];
	set_user_timeout(fd[0], scaled(TIMEOUT));
	worker_start(&first, send_until_failed, &one);
	worker_start(&second, send_until_failed, &other);
	worker_asleep(&first);
	worker_asleep(&second);
	recv_all(fd[1], buf, sizeof(buf));
	worker_join(&first);
	worker_join(&second);
	EQ(one.error == ETIMEDOUT ? other.error : one.error, EPIPE);
	EQ(one.error == ETIMEDOUT ? one.error : other.error, ETIMEDOUT);
}

/* What the peer has room for is not waited for */
TEST(user_timeout_without_wait)
{
	int fd[2];

	pair_open(fd);
	set_user_timeout(fd[0], TIMEOUT);
	send_text(fd[0], "not read for a while");
	usleep(2 * TIMEOUT * 1000);
	EQ(events_now(fd[0]), POLLOUT | POLLWRNORM);
	expect_text(fd[1], "not read for a while");
	send_text(fd[1], "alive");
	expect_text(fd[0], "alive");
}

/* All data is with the peer's host, so the peer reads it. TCP has data left, and gives it up */
TEST(user_timeout_after_close, .applies = only_smc)
{
	size_t sent;
	int fd[2];

	pair_with_rcvbuf(fd, BUFFER);
	set_int(fd[0], SOL_SOCKET, SO_SNDBUF, BUFFER / 2);	/* no more than that holds */
	set_user_timeout(fd[0], scaled(3 * TIMEOUT));
	sent = fill(fd[0], 0);
	close(fd[0]);
	usleep(scaled(5 * TIMEOUT) * 1000);
	drain(fd[1], sent, 0);
	expect_eof(fd[1]);
}

static void keep_alive(int fd, int idle, int interval, int count)
{
	set_int(fd, SOL_TCP, TCP_KEEPIDLE, idle);
	set_int(fd, SOL_TCP, TCP_KEEPINTVL, interval);
	set_int(fd, SOL_TCP, TCP_KEEPCNT, count);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

TEST(keepalive_of_silent_host)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "hello");
	expect_text(fd[1], "hello");
	drop_segments(fd[1]);	/* as if the host of the peer were gone */
	keep_alive(fd[0], 1, 1, 2);
	expect_timed_out(fd[0]);
}

/* TCP_USER_TIMEOUT takes the place of the number of probes */
TEST(keepalive_with_user_timeout)
{
	long start = now_ms();
	int fd[2];

	pair_open(fd);
	drop_segments(fd[1]);
	set_user_timeout(fd[0], 2 * TIMEOUT);
	keep_alive(fd[0], 1, 1, 100);
	expect_timed_out(fd[0]);
	TRUE(now_ms() - start < scaled(50 * TIMEOUT));
}

TEST(keepalive_of_host_that_answers)
{
	int fd[2];

	pair_open(fd);
	keep_alive(fd[0], 1, 1, 3);
	keep_alive(fd[1], 1, 1, 3);
	usleep(6000000);
	EQ(events_now(fd[0]), POLLOUT | POLLWRNORM);
	send_text(fd[0], "still here");
	expect_text(fd[1], "still here");
}

/* Without the option it would be a minute */
static void close_and_linger(int seconds)
{
	struct addr from, to;
	int fd[2];

	pair_open(fd);
	from = name_of(fd[0]);
	to = name_of(fd[1]);
	set_int(fd[0], SOL_TCP, TCP_LINGER2, seconds);
	send_text(fd[0], "last");
	close(fd[0]);
	alarm(40);
	while (tcp_state_of_ports(port_of(&from), port_of(&to)) != TCP_CLOSE)
		pause_briefly();
	expect_text(fd[1], "last");
	expect_eof(fd[1]);
}

TEST(linger2_of_silent_peer)
{
	close_and_linger(1);
}

TEST(linger2_below_zero)
{
	close_and_linger(-1);
}
