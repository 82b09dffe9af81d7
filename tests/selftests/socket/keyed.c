// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiters that look at the key of a wake-up: io_uring and AIO. If there is a key, they take it for
 * the answer of poll(), and do not ask.
 */

#include <linux/aio_abi.h>
#include <sys/syscall.h>

#include "pair.h"
#include "uring.h"

#define TIMES	3

static void start_poll(struct uring *ring, int fd, short events, unsigned int flags)
{
	uring_open(ring);
	ring->sqe->opcode = IORING_OP_POLL_ADD;
	ring->sqe->fd = fd;
	ring->sqe->poll32_events = events;
	ring->sqe->len = flags;
	uring_submit(ring);
}

/* Answer @nr of a poll that goes on */
static void expect_answer(struct uring *ring, unsigned int nr, short events)
{
	const struct io_uring_cqe *cqe = uring_result(ring, nr);

	EQ(cqe->res, events);
	TRUE(cqe->flags & IORING_CQE_F_MORE);
}

/* An answer for each arrival, also if the program has not read the one before */
TEST(uring_poll_arrivals)
{
	struct uring ring = {};
	int fd[2], i;

	pair_open(fd);
	start_poll(&ring, fd[1], POLLIN, IORING_POLL_ADD_MULTI);
	for (i = 0; i < TIMES; i++) {
		send_text(fd[0], "x");
		expect_answer(&ring, i, POLLIN);
	}
	expect_text(fd[1], "xxx");
	EQ(uring_count(&ring), TIMES);
	OK(shutdown(fd[0], SHUT_WR));
	expect_answer(&ring, TIMES, POLLIN | POLLRDHUP);
}

TEST(uring_poll_below_lowat)
{
	struct uring ring = {};
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 3);
	start_poll(&ring, fd[1], POLLIN, IORING_POLL_ADD_MULTI);
	send_text(fd[0], "x");
	wait_amount(fd[1], 1);
	EQ(uring_count(&ring), 0);
	send_text(fd[0], "yz");
	expect_answer(&ring, 0, POLLIN);
	send_text(fd[0], "!");
	expect_answer(&ring, 1, POLLIN);
	expect_text(fd[1], "xyz!");
	EQ(uring_count(&ring), 2);
}

TEST(uring_poll_connections)
{
	int listener = listen_any(5), i;
	struct uring ring = {};

	start_poll(&ring, listener, POLLIN, IORING_POLL_ADD_MULTI);
	for (i = 0; i < TIMES; i++) {
		connect_to(listener);
		expect_answer(&ring, i, POLLIN);
	}
	for (i = 0; i < TIMES; i++)
		accept_from(listener);
	EQ(uring_count(&ring), TIMES);
}

/* Only a write that finds no space asks for an answer */
TEST(uring_poll_space)
{
	struct uring ring = {};
	unsigned int answers;
	size_t bytes, more;
	uint64_t pos = 0;
	int fd[2], i;

	pair_open(fd);
	nonblock(fd[0]);
	start_poll(&ring, fd[0], POLLOUT, IORING_POLL_ADD_MULTI);
	expect_answer(&ring, 0, POLLOUT);
	for (i = 0; i < 2; i++) {
		bytes = 0;
		do {	/* until no report of space is under way that the last write asked for */
			answers = uring_count(&ring);
			more = send_until_full(fd[0], pos + bytes);
			bytes += more;
		} while (more);
		drain(fd[1], bytes, pos);
		pos += bytes;
		expect_answer(&ring, answers, POLLOUT);
	}
}

TEST(uring_poll_reset)
{
	struct uring ring = {};
	int fd[2];

	pair_open(fd);
	start_poll(&ring, fd[1], POLLIN | POLLOUT | POLLPRI, IORING_POLL_ADD_MULTI);
	expect_answer(&ring, 0, POLLOUT);
	set_linger(fd[0], 1, 0);
	OK(close(fd[0]));
	expect_answer(&ring, 1, POLLIN | POLLOUT | POLLRDHUP | POLLERR | POLLHUP);
}

/* The first write after the peer's close() resets the connection */
TEST(uring_poll_after_close)
{
	struct uring ring = {};
	unsigned int nr = 1;
	int fd[2];

	pair_open(fd);
	OK(close(fd[0]));
	expect_eof(fd[1]);
	start_poll(&ring, fd[1], POLLPRI, IORING_POLL_ADD_MULTI);
	expect_answer(&ring, 0, POLLRDHUP);
	send_text(fd[1], "x");
	while (uring_result(&ring, nr)->res == POLLRDHUP)	/* close() wakes late */
		nr++;
	expect_answer(&ring, nr, POLLRDHUP | POLLERR | POLLHUP);
}

TEST(uring_poll_refused)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);
	struct uring ring = {};

	OK(close(listener));
	nonblock(fd);
	start_poll(&ring, fd, POLLIN | POLLOUT, IORING_POLL_ADD_MULTI);
	expect_answer(&ring, 0, POLLOUT | POLLHUP);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	expect_answer(&ring, 1, POLLIN | POLLOUT | POLLRDHUP | POLLERR | POLLHUP);
}

static aio_context_t start_aio_poll(int fd, short events)
{
	struct iocb request = {
		.aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = fd, .aio_buf = events,
	};
	struct iocb *requests[] = { &request };
	aio_context_t context = 0;

	OK(syscall(SYS_io_setup, 1, &context));
	EQ(syscall(SYS_io_submit, context, 1, requests), 1);
	return context;
}

static int wait_aio(aio_context_t context)
{
	struct io_event event;

	EQ(syscall(SYS_io_getevents, context, 1, 1, &event, NULL), 1);
	OK(syscall(SYS_io_destroy, context));
	return event.res;
}

/* The kernel adds the other events of the key if it does not have to wait for a lock */
TEST(aio_poll_arrival)
{
	aio_context_t context;
	int fd[2];

	pair_open(fd);
	context = start_aio_poll(fd[1], POLLIN);
	send_text(fd[0], "x");
	TRUE(wait_aio(context) & POLLIN);
}

TEST(aio_poll_reset)
{
	aio_context_t context;
	int fd[2];

	pair_open(fd);
	context = start_aio_poll(fd[1], POLLIN);
	set_linger(fd[0], 1, 0);
	OK(close(fd[0]));
	EQ(wait_aio(context), POLLIN | POLLERR | POLLHUP);
}
