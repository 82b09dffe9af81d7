// SPDX-License-Identifier: GPL-2.0-only
/* Ends of a connection: shutdown(), close(), resets, in all orders */

#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "pair.h"

#define BIG	(1 << 20)

static void expect_reset(int fd)
{
	char byte;

	wait_events(fd, POLLIN);
	FAILS(recv(fd, &byte, 1, 0), ECONNRESET);
	EQ(recv(fd, &byte, 1, 0), 0);		/* told once */
	FAILS(send(fd, &byte, 1, MSG_NOSIGNAL), EPIPE);
}

/* TCP has closed when the peer has acknowledged the end */
static void wait_closed(int fd)
{
	struct addr addr;

	do {
		pause_briefly();
		addr.len = sizeof(addr.ss);
	} while (!getpeername(fd, &addr.sa, &addr.len));
	EQ(errno, ENOTCONN);
}

static void wait_refusal(int fd)
{
	while (send(fd, "x", 1, MSG_NOSIGNAL) == 1)
		pause_briefly();
}

TEST(shutdown_write)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "last");
	OK(shutdown(fd[0], SHUT_WR));
	EQ(wait_events(fd[1], POLLRDHUP),
	   POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM);
	expect_text(fd[1], "last");
	expect_eof(fd[1]);
	expect_eof(fd[1]);
	FAILS(send(fd[0], "x", 1, MSG_NOSIGNAL), EPIPE);
	/* The other direction goes on */
	send_text(fd[1], "answer");
	expect_text(fd[0], "answer");
	EQ(events_now(fd[0]), POLLOUT | POLLWRNORM);
	expect_nothing(fd[0]);
	OK(shutdown(fd[1], SHUT_WR));
	wait_events(fd[0], POLLRDHUP);
	expect_eof(fd[0]);
	EQ(events_now(fd[0]) & (POLLHUP | POLLERR), POLLHUP);
	EQ(wait_events(fd[1], POLLHUP) & (POLLHUP | POLLERR), POLLHUP);
}

TEST(shutdown_write_of_much)
{
	int fd[2];
	size_t n;

	pair_with_buffers(fd, 65536);
	n = send_until_full(fd[0], 0);
	OK(shutdown(fd[0], SHUT_WR));
	drain(fd[1], n, 0);
	expect_eof(fd[1]);
	n = send_until_full(fd[1], 0);
	OK(shutdown(fd[1], SHUT_WR));
	drain(fd[0], n, 0);
	expect_eof(fd[0]);
}

TEST(shutdown_read)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "before");
	wait_amount(fd[0], 6);
	OK(shutdown(fd[0], SHUT_RD));
	TRUE(events_now(fd[0]) & POLLRDHUP);
	TRUE(events_now(fd[0]) & POLLIN);
	expect_text(fd[0], "before");
	expect_eof(fd[0]);
	/* The peer is not told, and what it sends still arrives */
	EQ(events_now(fd[1]), POLLOUT | POLLWRNORM);
	send_text(fd[1], "after");
	wait_amount(fd[0], 5);
	expect_text(fd[0], "after");
	expect_eof(fd[0]);
	send_text(fd[0], "still");
	expect_text(fd[1], "still");
}

TEST(shutdown_both)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "last");
	OK(shutdown(fd[0], SHUT_RDWR));
	TRUE(events_now(fd[0]) & POLLHUP);
	expect_eof(fd[0]);
	FAILS(send(fd[0], "x", 1, MSG_NOSIGNAL), EPIPE);
	expect_text(fd[1], "last");
	expect_eof(fd[1]);
	EQ(events_now(fd[1]) & (POLLHUP | POLLERR), 0);
}

TEST(shutdown_both_with_unread_data)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "unread");
	wait_amount(fd[0], 6);
	OK(shutdown(fd[0], SHUT_RDWR));
	expect_eof(fd[1]);		/* no reset */
	expect_text(fd[0], "unread");
	expect_eof(fd[0]);
}

TEST(shutdown_one_after_the_other)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_RD));
	EQ(events_now(fd[0]) & POLLHUP, 0);
	OK(shutdown(fd[0], SHUT_WR));
	EQ(events_now(fd[0]) & POLLHUP, POLLHUP);
	expect_eof(fd[1]);
	EQ(events_now(fd[1]) & POLLHUP, 0);
	OK(shutdown(fd[1], SHUT_WR));
	EQ(wait_events(fd[1], POLLHUP) & POLLHUP, POLLHUP);
}

TEST(shutdown_twice)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	OK(shutdown(fd[0], SHUT_WR));
	OK(shutdown(fd[0], SHUT_RD));
	expect_eof(fd[1]);
	OK(shutdown(fd[1], SHUT_RD));
	OK(shutdown(fd[1], SHUT_RDWR));
}

TEST(shutdown_after_the_end)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	expect_eof(fd[1]);
	OK(shutdown(fd[1], SHUT_WR));
	expect_eof(fd[0]);
	wait_events(fd[1], POLLHUP);
	/* Both directions have ended: the connection is no more */
	wait_closed(fd[0]);
	wait_closed(fd[1]);
	FAILS(shutdown(fd[0], SHUT_RDWR), ENOTCONN);
	FAILS(shutdown(fd[1], SHUT_RDWR), ENOTCONN);
	name_of(fd[0]);
	name_of(fd[1]);
	expect_eof(fd[0]);
	expect_eof(fd[1]);
}

TEST(shutdown_errors)
{
	int fd[2];

	pair_open(fd);
	FAILS(shutdown(fd[0], 3), EINVAL);
	FAILS(shutdown(fd[0], -1), EINVAL);
	FAILS(shutdown(fresh(), SHUT_RD), ENOTCONN);
	FAILS(shutdown(fresh(), 3), EINVAL);
}

TEST(shutdown_at_the_same_time)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "a");
	send_text(fd[1], "b");
	OK(shutdown(fd[0], SHUT_WR));
	OK(shutdown(fd[1], SHUT_WR));
	expect_text(fd[0], "b");
	expect_text(fd[1], "a");
	expect_eof(fd[0]);
	expect_eof(fd[1]);
}

static void receive_eof(void *arg)
{
	expect_eof(*(int *)arg);
}

TEST(shutdown_wakes_own_reader)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	worker_start(&worker, receive_eof, &fd[0]);
	worker_asleep(&worker);
	OK(shutdown(fd[0], SHUT_RD));
	worker_join(&worker);
}

TEST(shutdown_wakes_peers_reader)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	worker_start(&worker, receive_eof, &fd[1]);
	worker_asleep(&worker);
	OK(shutdown(fd[0], SHUT_WR));
	worker_join(&worker);
}

static void send_into_shutdown(void *arg)
{
	static char buf[BIG];
	int fd = *(int *)arg;

	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	EQ(errno, EPIPE);
}

TEST(shutdown_wakes_own_writer)
{
	struct worker worker;
	int fd[2];

	pair_with_buffers(fd, 32768);
	worker_start(&worker, send_into_shutdown, &fd[0]);
	worker_asleep(&worker);
	OK(shutdown(fd[0], SHUT_WR));
	worker_join(&worker);
}

TEST(close_after_data)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "last");
	close(fd[0]);
	expect_text(fd[1], "last");
	expect_eof(fd[1]);
	expect_eof(fd[1]);
	EQ(events_now(fd[1]) & POLLERR, 0);
	OK(close(fd[1]));
}

/* A program that looks for hang-ups first must not lose what it has not read */
TEST(close_is_no_hangup)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "last");
	close(fd[0]);
	EQ(wait_events(fd[1], POLLRDHUP),
	   POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM);
	expect_text(fd[1], "last");
	expect_eof(fd[1]);
	EQ(events_now(fd[1]), POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM);
	OK(shutdown(fd[1], SHUT_WR));
	EQ(wait_events(fd[1], POLLHUP) & (POLLHUP | POLLERR), POLLHUP);
}

TEST(close_after_much)
{
	int fd[2];
	size_t n;

	pair_with_buffers(fd, 65536);
	n = send_until_full(fd[0], 0);
	close(fd[0]);
	drain(fd[1], n, 0);
	expect_eof(fd[1]);
}

TEST(close_with_unread_data)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "unread");
	wait_amount(fd[0], 6);
	close(fd[0]);
	TRUE(wait_events(fd[1], POLLERR) & POLLHUP);
	expect_reset(fd[1]);
}

TEST(close_with_unread_data_after_sending)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "unread");
	send_text(fd[0], "last words");
	wait_amount(fd[0], 6);
	wait_amount(fd[1], 10);
	close(fd[0]);
	wait_events(fd[1], POLLERR);
	expect_text(fd[1], "last words");	/* what was there is not lost */
	expect_reset(fd[1]);
}

TEST(close_with_some_data_read)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "some of it");
	expect_text(fd[0], "some");
	close(fd[0]);
	expect_reset(fd[1]);
}

TEST(close_with_peeked_data)
{
	char byte;
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "unread");
	wait_events(fd[0], POLLIN);
	EQ(recv(fd[0], &byte, 1, MSG_PEEK), 1);
	close(fd[0]);
	expect_reset(fd[1]);
}

TEST(close_with_unread_data_after_shutdown)
{
	int fd[2];
	char byte;

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	expect_eof(fd[1]);
	send_text(fd[1], "unread");
	wait_amount(fd[0], 6);
	close(fd[0]);
	/* Not a reset, but a broken pipe: the peer had said that it is done */
	wait_events(fd[1], POLLERR);
	EQ(socket_error(fd[1]), EPIPE);
	EQ(recv(fd[1], &byte, 1, 0), 0);
}

TEST(data_to_closed)
{
	int fd[2];

	pair_open(fd);
	close(fd[0]);
	expect_eof(fd[1]);
	wait_refusal(fd[1]);
	EQ(errno, EPIPE);
	FAILS(send(fd[1], "x", 1, MSG_NOSIGNAL), EPIPE);
	expect_eof(fd[1]);
	EQ(socket_error(fd[1]), 0);
	TRUE(events_now(fd[1]) & POLLHUP);
}

TEST(first_data_to_closed)
{
	int fd[2];

	pair_open(fd);
	close(fd[0]);
	expect_eof(fd[1]);
	EQ(events_now(fd[1]) & (POLLOUT | POLLHUP | POLLERR), POLLOUT);
	EQ(send(fd[1], "", 0, MSG_NOSIGNAL), 0);
	/* It is not known yet that nobody reads: this is lost, and what follows is refused */
	send_text(fd[1], "an answer");
	TRUE(wait_events(fd[1], POLLERR) & POLLHUP);
	EQ(socket_error(fd[1]), EPIPE);
	expect_eof(fd[1]);
	FAILS(send(fd[1], "x", 1, MSG_NOSIGNAL), EPIPE);
}

/*
 * A peer that has closed waits for the other end for tcp_fin_timeout only, and then forgets it. TCP
 * tells when that is.
 */
static void wait_until_forgotten(int fd, int other)
{
	struct addr from = name_of(fd), to = name_of(other);
	int local = port_of(&from), peer = port_of(&to);

	set_sysctl("net/ipv4/tcp_fin_timeout", 1);
	close(fd);
	do {
		pause_briefly();
	} while (tcp_state_of_ports(local, peer) != TCP_CLOSE);
	usleep(100000);		/* what that causes at @other may need a kworker */
}

/* As long as it likes: a reader does not notice */
TEST(close_is_forgotten, .alone = true)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "question");
	expect_text(fd[0], "question");
	send_text(fd[0], "last");
	wait_until_forgotten(fd[0], fd[1]);
	EQ(events_now(fd[1]), POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM);
	EQ(socket_error(fd[1]), 0);
	peer_of(fd[1]);
	expect_text(fd[1], "last");
	expect_eof(fd[1]);
	send_text(fd[1], "an answer");
	TRUE(wait_events(fd[1], POLLERR) & POLLHUP);
	EQ(socket_error(fd[1]), EPIPE);
}

TEST(close_is_forgotten_after_shutdown, .alone = true)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[1], SHUT_WR));
	send_text(fd[0], "last");
	wait_until_forgotten(fd[0], fd[1]);
	EQ(events_now(fd[1]), POLLIN | POLLRDNORM | POLLRDHUP | POLLHUP | POLLOUT | POLLWRNORM);
	EQ(socket_error(fd[1]), 0);
	expect_text(fd[1], "last");
	expect_eof(fd[1]);
	FAILS(send(fd[1], "x", 1, MSG_NOSIGNAL), EPIPE);
}

TEST(data_to_closed_while_own_data_waits)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "waits");
	close(fd[0]);
	wait_events(fd[1], POLLRDHUP);
	wait_refusal(fd[1]);
	expect_text(fd[1], "waits");
	expect_eof(fd[1]);
}

TEST(linger_zero)
{
	int fd[2];

	pair_open(fd);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	expect_reset(fd[1]);
}

TEST(linger_zero_after_data)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "there");
	wait_amount(fd[1], 5);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	wait_events(fd[1], POLLERR);
	expect_text(fd[1], "there");
	expect_reset(fd[1]);
}

TEST(linger_zero_after_shutdown)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	expect_eof(fd[1]);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	wait_events(fd[1], POLLERR);
	EQ(socket_error(fd[1]), EPIPE);
}

TEST(linger_some_time)
{
	int fd[2];

	pair_open(fd);
	set_linger(fd[0], 1, 10);
	send_text(fd[0], "read later");
	OK(close(fd[0]));
	expect_text(fd[1], "read later");
	expect_eof(fd[1]);
}

TEST(linger_off)
{
	int fd[2];

	pair_open(fd);
	set_linger(fd[0], 0, 10);
	send_text(fd[0], "read later");
	OK(close(fd[0]));
	expect_text(fd[1], "read later");
	expect_eof(fd[1]);
}

static void receive_reset(void *arg)
{
	char byte;

	FAILS(recv(*(int *)arg, &byte, 1, 0), ECONNRESET);
}

TEST(reset_wakes_reader)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	worker_start(&worker, receive_reset, &fd[1]);
	worker_asleep(&worker);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	worker_join(&worker);
}

static void send_into_reset(void *arg)
{
	static char buf[BIG];
	int fd = *(int *)arg;

	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	EQ(errno, ECONNRESET);
}

TEST(reset_wakes_writer)
{
	struct worker worker;
	int fd[2];

	pair_with_buffers(fd, 32768);
	worker_start(&worker, send_into_reset, &fd[1]);
	worker_asleep(&worker);
	wait_events(fd[0], POLLIN);
	close(fd[0]);		/* with unread data, or it would be no reset */
	worker_join(&worker);
}

static void read_error_by_option(void *arg)
{
	int fd = *(int *)arg;

	TRUE(wait_events(fd, POLLERR) & POLLHUP);
	EQ(socket_error(fd), ECONNRESET);
	EQ(events_now(fd) & POLLERR, 0);
}

/* Over SMC, TCP's RST arrives after the program has read the error of the SMC connection */
static void read_error_before_rst(void (*read_error)(void *arg))
{
	int fd[2];

	pair_open(fd);
	drop_segments(fd[1]);
	/* An answer that comes too early is lost: TCP asks again, and does not give up */
	set_int(fd[1], SOL_TCP, TCP_KEEPIDLE, 1);
	set_int(fd[1], SOL_TCP, TCP_KEEPINTVL, 1);
	set_int(fd[1], SOL_TCP, TCP_KEEPCNT, 127);
	set_int(fd[1], SOL_SOCKET, SO_KEEPALIVE, 1);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	if (variant->smc)
		read_error(&fd[1]);
	OK(setsockopt(fd[1], SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, 4));
	if (!variant->smc)
		read_error(&fd[1]);
	while (tcp_state(fd[1]) != TCP_CLOSE)
		pause_briefly();
	EQ(events_now(fd[1]) & POLLERR, 0);
	expect_eof(fd[1]);
	EQ(socket_error(fd[1]), 0);
}

TEST(reset_told_once)
{
	read_error_before_rst(receive_reset);
}

TEST(reset_told_by_option_once)
{
	read_error_before_rst(read_error_by_option);
}

TEST(reset_told_by_option)
{
	int fd[2];

	pair_open(fd);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	TRUE(wait_events(fd[1], POLLERR) & POLLHUP);
	EQ(socket_error(fd[1]), ECONNRESET);
	EQ(events_now(fd[1]) & POLLERR, 0);
	expect_eof(fd[1]);
}

TEST(reset_told_by_send)
{
	int fd[2];

	pair_open(fd);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	wait_events(fd[1], POLLERR);
	catch_signal(SIGPIPE, 0);
	FAILS(send(fd[1], "x", 1, 0), ECONNRESET);
	EQ(caught(SIGPIPE), 0);
	FAILS(send(fd[1], "x", 1, 0), EPIPE);
	EQ(caught(SIGPIPE), 1);
	expect_eof(fd[1]);
}

TEST(names_after_reset)
{
	int fd[2];

	pair_open(fd);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	wait_events(fd[1], POLLERR);
	wait_closed(fd[1]);
	name_of(fd[1]);
	FAILS(shutdown(fd[1], SHUT_RDWR), ENOTCONN);
}

TEST(close_both_at_once)
{
	int fd[2], i;

	for (i = 0; i < 20; i++) {
		pair_open(fd);
		if (i & 1)
			send_text(fd[0], "x");
		if (i & 2)
			send_text(fd[1], "y");
		if (i & 4)
			OK(shutdown(fd[0], SHUT_WR));
		if (i & 8)
			OK(shutdown(fd[1], SHUT_WR));
		OK(close(fd[0]));
		OK(close(fd[1]));
	}
}

/* A request and an answer, each ended by shutdown(), as in HTTP/0.9 */
TEST(half_close_dialogue)
{
	char buf[16];
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "request");
	OK(shutdown(fd[0], SHUT_WR));
	EQ(recv(fd[1], buf, sizeof(buf), MSG_WAITALL), 7);
	send_text(fd[1], "answer");
	close(fd[1]);
	EQ(recv(fd[0], buf, sizeof(buf), MSG_WAITALL), 6);
	expect_eof(fd[0]);
	close(fd[0]);
}
