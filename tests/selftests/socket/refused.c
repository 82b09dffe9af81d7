// SPDX-License-Identifier: GPL-2.0-only
/* Data for a program that reads no more: both directions shut down, or closed */

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "pair.h"

/* The connection is reset at the latest when @fd has filled the ring */
static void write_until_reset(int fd)
{
	static char buf[1 << 16];

	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	TRUE(errno == EPIPE || errno == ECONNRESET);
}

static void expect_reset_by_data(int fd[2])
{
	write_until_reset(fd[1]);
	TRUE(wait_events(fd[0], POLLERR) & POLLHUP);
	EQ(socket_error(fd[0]), ECONNRESET);
}

TEST(refused_after_both)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_RDWR));
	expect_reset_by_data(fd);
}

TEST(refused_after_read_then_write)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_RD));
	OK(shutdown(fd[0], SHUT_WR));
	expect_reset_by_data(fd);
}

TEST(refused_after_write_then_read)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	OK(shutdown(fd[0], SHUT_RD));
	expect_reset_by_data(fd);
}

/* What came before can be read, also after the reset */
TEST(refused_after_both_with_unread_data)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "unread");
	wait_amount(fd[0], 6);
	OK(shutdown(fd[0], SHUT_RDWR));
	write_until_reset(fd[1]);
	TRUE(wait_events(fd[0], POLLERR) & POLLHUP);
	expect_text(fd[0], "unread");
}

TEST(refused_after_both_and_reading)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "unread");
	wait_amount(fd[0], 6);
	OK(shutdown(fd[0], SHUT_RDWR));
	expect_text(fd[0], "unread");
	expect_reset_by_data(fd);
}

/* One direction alone refuses nothing */
TEST(accepted_after_one)
{
	int fd[2];

	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	send_text(fd[1], "answer");
	expect_text(fd[0], "answer");
	OK(shutdown(fd[1], SHUT_RD));
	send_text(fd[1], "more");
	expect_text(fd[0], "more");
	EQ(events_now(fd[0]) & POLLERR, 0);
}

static void wait_for_refusal(void *arg)
{
	write_until_reset(*(int *)arg);
}

/* TCP asks a peer without space after a while only, and then without data */
TEST(refused_while_writer_waits, .applies = only_smc)
{
	struct worker worker;
	int fd[2];

	pair_with_buffers(fd, 32768);
	worker_start(&worker, wait_for_refusal, &fd[1]);
	worker_asleep(&worker);
	OK(shutdown(fd[0], SHUT_RDWR));
	worker_join(&worker);
}

/* The ring is full, but the writer begins to wait when it has more */
TEST(refused_when_writer_waits_later, .applies = only_smc)
{
	static char buf[1 << 20];
	size_t bytes;
	int fd[2];

	pair_with_rcvbuf(fd, 32768);
	nonblock(fd[1]);
	bytes = send_until_full(fd[1], 0);
	TRUE(bytes <= sizeof(buf));
	drain(fd[0], bytes, 0);
	OK(fcntl(fd[1], F_SETFL, 0));
	send_all(fd[1], buf, bytes);
	wait_amount(fd[0], bytes);
	OK(shutdown(fd[0], SHUT_RDWR));
	write_until_reset(fd[1]);
}

/* The writer found no space, but all of it was read, and it has no more */
TEST(shutdown_both_after_space)
{
	size_t bytes;
	int fd[2];

	pair_with_buffers(fd, 32768);
	nonblock(fd[1]);
	bytes = send_until_full(fd[1], 0);
	drain(fd[0], bytes, 0);
	OK(shutdown(fd[0], SHUT_RDWR));
	expect_eof(fd[1]);
	EQ(events_now(fd[0]) & POLLERR, 0);
	EQ(events_now(fd[1]) & POLLERR, 0);
}

/* The peer has ended its own stream, and waits for nothing. TCP may not have got all of it */
TEST(shutdown_after_end_of_writer, .applies = only_smc)
{
	int fd[2];
	size_t bytes;

	pair_with_rcvbuf(fd, 32768);
	nonblock(fd[1]);
	bytes = send_until_full(fd[1], 0);
	OK(shutdown(fd[1], SHUT_WR));
	wait_events(fd[0], POLLRDHUP);
	OK(shutdown(fd[0], SHUT_RDWR));
	drain(fd[0], bytes, 0);
	expect_eof(fd[0]);
	EQ(events_now(fd[0]) & POLLERR, 0);
}

/* The program has ended its stream, and learns that not all of it was read */
TEST(loss_told_after_both)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "lost");
	wait_amount(fd[1], 4);
	OK(shutdown(fd[0], SHUT_RDWR));
	OK(close(fd[1]));
	TRUE(wait_events(fd[0], POLLERR) & POLLHUP);
	EQ(socket_error(fd[0]), ECONNRESET);
}

/* A bad address is no data: the connection goes on */
TEST(bad_pointer_to_closed)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "answer");
	OK(close(fd[1]));
	wait_events(fd[0], POLLRDHUP);
	FAILS(send(fd[0], bad, 10, MSG_NOSIGNAL), EFAULT);
	EQ(events_now(fd[0]) & POLLERR, 0);
	expect_text(fd[0], "answer");
	expect_eof(fd[0]);
	EQ(socket_error(fd[0]), 0);
}
