// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program has said with SO_SNDBUF how much it wants to write before it is read. Over SMC-R, what
 * the peer's ring has no space for waits in a send buffer, and the end of the stream waits for it.
 */

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "pair.h"

#define CHOSEN	(1024 * 1024)	/* SO_SNDBUF before the kernel doubles it */
#define MUCH	(800 * 1024)	/* more than the peer's ring holds; TCP buffers it, too */
#define PIECE	(40 * 1024)

static uint8_t ahead[2 * 1024 * 1024];	/* more than all buffers hold */

static bool not_smcd(int index)
{
	return !only_smcd(index);
}

static bool only_smcr(int index)
{
	return only_smc(index) && not_smcd(index);
}

static bool first_smcr(int index)
{
	return first_of_mode(index) && only_smcr(index);
}

/* The peer reads nothing meanwhile */
static void write_much(int fd, uint64_t offset)
{
	uint8_t *buf = malloc(MUCH);

	TRUE(buf);
	pattern_fill(buf, MUCH, offset);
	send_all(fd, buf, MUCH);
	free(buf);
}

/* The reader takes its time, so that the window opens bit by bit */
static void drain_slowly(int fd, uint64_t offset, unsigned int pause_us)
{
	size_t got;

	for (got = 0; got < MUCH; got += PIECE) {
		drain(fd, PIECE, offset + got);
		usleep(pause_us);
	}
}

static int get_amount(int fd, unsigned long what)
{
	int amount;

	OK(ioctl(fd, what, &amount));
	return amount;
}

/* Of the stream; that of the TCP connection is tcp_state() */
static int get_state(int fd)
{
	socklen_t len = sizeof(struct tcp_info);
	struct tcp_info info;

	OK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	return info.tcpi_state;
}

TEST(window_before_anybody_reads)
{
	int fd[2], round;

	pair_with_sndbuf(fd, CHOSEN);
	for (round = 0; round < 3; round++) {
		write_much(fd[0], round);
		write_much(fd[1], round + 1);
		drain(fd[0], MUCH, round + 1);
		drain_slowly(fd[1], round, 500);
	}
	expect_nothing(fd[0]);
	expect_nothing(fd[1]);
}

/* What waits is not sent; what was read does not wait. TCP counts what its peer's host has not */
TEST(window_counts_what_waits, .applies = first_smcr)
{
	int fd[2], amount;

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	amount = get_amount(fd[0], SIOCOUTQNSD);
	TRUE(amount >= MUCH - 512 * 1024 && amount < MUCH);
	TRUE(get_amount(fd[0], SIOCOUTQ) >= amount);
	drain(fd[1], MUCH, 0);
	while (get_amount(fd[0], SIOCOUTQ))
		pause_briefly();
	EQ(get_amount(fd[0], SIOCOUTQNSD), 0);
}

static void write_all(void *arg)
{
	send_all(*(int *)arg, ahead, sizeof(ahead));
}

/* The writer waits for a third of its buffer, the reader for half of the ring */
TEST(window_of_reader_that_waits_for_half, .applies = first_smcr, .alone = true)
{
	struct worker writer;
	int fd[2], size, got;

	set_sysctl("net/smc/rmem_start", 256 * 1024);
	pair_with_sndbuf(fd, PIECE);
	pattern_fill(ahead, sizeof(ahead), 0);
	worker_start(&writer, write_all, &fd[0]);
	worker_asleep(&writer);
	size = get_amount(fd[1], FIONREAD);
	for (got = 0; got < size / 2; got += size / 4 + 1) {
		drain(fd[1], size / 4 + 1, got);
		usleep(50000);
	}
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, size / 2);
	wait_events(fd[1], POLLIN);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 1);
	drain(fd[1], sizeof(ahead) - got, got);
	worker_join(&writer);
}

TEST(window_before_shutdown)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	OK(shutdown(fd[0], SHUT_WR));
	FAILS(send(fd[0], "x", 1, MSG_NOSIGNAL), EPIPE);
	send_text(fd[1], "early");
	expect_text(fd[0], "early");
	drain_slowly(fd[1], 0, 500);
	expect_eof(fd[1]);
	send_text(fd[1], "late");
	OK(shutdown(fd[1], SHUT_WR));
	expect_text(fd[0], "late");
	expect_eof(fd[0]);
}

TEST(window_before_close)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	OK(close(fd[0]));
	drain_slowly(fd[1], 0, 500);
	expect_eof(fd[1]);
}

/* The timeout of a closed connection counts from what the peer has read last */
TEST(window_after_close_of_slow_reader, .applies = first_of_mode, .alone = true)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	set_sysctl("net/ipv4/tcp_fin_timeout", 1);
	OK(close(fd[0]));
	drain_slowly(fd[1], 0, 200000);
	expect_eof(fd[1]);
	OK(close(fd[1]));
}

/* TCP asks for minutes whether the window has opened */
TEST(window_never_opens_after_close, .applies = first_smcr, .alone = true)
{
	static char buf[MUCH];
	int fd[2], amount;

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	set_sysctl("net/ipv4/tcp_fin_timeout", 1);
	OK(close(fd[0]));
	wait_reset(fd[1]);
	amount = get_amount(fd[1], FIONREAD);
	TRUE(amount > 0 && amount < MUCH);
	EQ(recv(fd[1], buf, MUCH, MSG_WAITALL), amount);
	pattern_check(buf, amount, 0);
	FAILS(recv(fd[1], buf, 1, 0), ECONNRESET);
}

/* Data waits, so this is no connection that is merely silent. A ring has it already */
TEST(window_user_timeout, .applies = not_smcd)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	set_int(fd[0], IPPROTO_TCP, TCP_USER_TIMEOUT, scaled(400));
	write_much(fd[0], 0);
	TRUE(wait_events(fd[0], POLLERR) & POLLHUP);
	EQ(socket_error(fd[0]), ETIMEDOUT);
}

TEST(window_user_timeout_after_shutdown, .applies = not_smcd)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	OK(shutdown(fd[0], SHUT_WR));
	set_int(fd[0], IPPROTO_TCP, TCP_USER_TIMEOUT, scaled(400));
	TRUE(wait_events(fd[0], POLLERR) & POLLHUP);
	EQ(socket_error(fd[0]), ETIMEDOUT);
}

/* As over TCP, which has data left, and gives it up, but does not tell the peer */
TEST(window_user_timeout_after_close, .applies = only_smcr)
{
	static char buf[MUCH];
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	set_int(fd[0], IPPROTO_TCP, TCP_USER_TIMEOUT, scaled(400));
	write_much(fd[0], 0);
	OK(close(fd[0]));
	wait_reset(fd[1]);
	while (recv(fd[1], buf, sizeof(buf), 0) > 0)
		;
	EQ(errno, ECONNRESET);
}

/* The reader ends first, and its host knows that data is under way */
TEST(window_of_closed_reader)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	wait_events(fd[1], POLLIN);
	OK(close(fd[1]));
	wait_reset(fd[0]);
	EQ(socket_error(fd[0]), ECONNRESET);
}

TEST(window_of_reader_that_closes_after_writer)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	OK(close(fd[0]));
	wait_events(fd[1], POLLIN);
	OK(close(fd[1]));
}

/* A long answer would wait for space, and the closed end for this reader */
TEST(window_of_reader_that_answers_after_close)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	OK(close(fd[0]));
	send(fd[1], "answer", 6, MSG_NOSIGNAL);
	TRUE(wait_events(fd[1], POLLERR) & POLLHUP);
}

/* Both have ended their streams. Over SMC-D, and TCP if all has come, this is no error */
TEST(window_of_reader_that_aborts, .applies = not_smcd)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	OK(shutdown(fd[0], SHUT_WR));
	OK(shutdown(fd[1], SHUT_WR));
	wait_events(fd[0], POLLRDHUP);
	EQ(get_state(fd[0]), TCP_CLOSING);
	wait_events(fd[1], POLLIN);
	set_linger(fd[1], 1, 0);
	OK(close(fd[1]));
	wait_reset(fd[0]);
}

TEST(window_of_writer_that_aborts)
{
	int fd[2];

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	OK(shutdown(fd[0], SHUT_WR));
	set_linger(fd[0], 1, 0);
	OK(close(fd[0]));
	wait_reset(fd[1]);
}

/* Urgent bytes are announced when they have left the buffer, and then hold back what follows */
TEST(window_before_urgent_bytes)
{
	int fd[2], round;
	char urgent;

	pair_with_sndbuf(fd, CHOSEN);
	for (round = 0; round < 2; round++) {
		write_much(fd[0], round);
		EQ(send(fd[0], "!", 1, MSG_OOB), 1);
		drain_slowly(fd[1], round, 500);
		wait_events(fd[1], POLLPRI);
		EQ(recv(fd[1], &urgent, 1, MSG_OOB), 1);
		EQ(urgent, '!');
	}
	EQ(send(fd[0], "?", 1, MSG_OOB), 1);
	wait_events(fd[1], POLLPRI);
	write_much(fd[0], 5);
	EQ(recv(fd[1], &urgent, 1, MSG_OOB), 1);
	EQ(urgent, '?');
	drain_slowly(fd[1], 5, 500);
	expect_nothing(fd[1]);
}

TEST(window_before_urgent_byte_and_end)
{
	int fd[2];
	char urgent;

	pair_with_sndbuf(fd, CHOSEN);
	write_much(fd[0], 0);
	EQ(send(fd[0], "!", 1, MSG_OOB), 1);
	OK(shutdown(fd[0], SHUT_WR));
	drain_slowly(fd[1], 0, 500);
	TRUE(wait_events(fd[1], POLLPRI) & POLLPRI);
	EQ(recv(fd[1], &urgent, 1, MSG_OOB), 1);
	EQ(urgent, '!');
	expect_eof(fd[1]);
}
