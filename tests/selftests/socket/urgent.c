// SPDX-License-Identifier: GPL-2.0-only
/* Urgent data: MSG_OOB, SO_OOBINLINE, SIOCATMARK, POLLPRI, SIGURG */

#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

#include "pair.h"

static void send_urgent(int fd, const char *text)
{
	EQ(send(fd, text, strlen(text), MSG_OOB), strlen(text));
}

static void expect_urgent(int fd, char byte)
{
	char got = 0;

	EQ(recv(fd, &got, 1, MSG_OOB), 1);
	EQ(got, byte);
}

static int at_mark(int fd)
{
	int answer = -1;

	OK(ioctl(fd, SIOCATMARK, &answer));
	return answer;
}

/* What one recv() returns, which must be this */
static void expect_piece(int fd, const char *text)
{
	char buf[64] = "";

	EQ(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), strlen(text));
	if (strcmp(buf, text))
		FAIL("received \"%s\", not \"%s\"", buf, text);
}

TEST(urgent_none)
{
	char byte;
	int fd[2];

	pair_open(fd);
	FAILS(recv(fd[0], &byte, 1, MSG_OOB), EINVAL);
	EQ(at_mark(fd[0]), 0);
	send_text(fd[0], "normal");
	wait_events(fd[1], POLLIN);
	FAILS(recv(fd[1], &byte, 1, MSG_OOB), EINVAL);
	EQ(events_now(fd[1]) & POLLPRI, 0);
}

TEST(urgent_byte)
{
	char byte;
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	send_urgent(fd[0], "!");
	TRUE(wait_events(fd[1], POLLPRI) & POLLIN);
	EQ(at_mark(fd[1]), 0);
	expect_urgent(fd[1], '!');
	FAILS(recv(fd[1], &byte, 1, MSG_OOB), EINVAL);	/* only once */
	expect_piece(fd[1], "abc");
	EQ(at_mark(fd[1]), 1);
	expect_nothing(fd[1]);
}

TEST(urgent_byte_alone)
{
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "!");
	EQ(wait_events(fd[1], POLLPRI) & POLLIN, 0);
	EQ(at_mark(fd[1]), 1);
	expect_urgent(fd[1], '!');
	EQ(events_now(fd[1]) & POLLPRI, 0);
	expect_nothing(fd[1]);
}

TEST(urgent_byte_passed_by_empty_read)
{
	char byte;
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	expect_nothing(fd[1]);
	FAILS(recv(fd[1], &byte, 1, MSG_OOB), EINVAL);
}

TEST(urgent_byte_is_the_last_of_a_call)
{
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "abcd");
	wait_events(fd[1], POLLPRI);
	expect_urgent(fd[1], 'd');
	expect_piece(fd[1], "abc");
	expect_nothing(fd[1]);
}

TEST(urgent_stops_reading)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "before");
	send_urgent(fd[0], "!");
	send_text(fd[0], "after");
	wait_amount(fd[1], 6);
	wait_events(fd[1], POLLPRI);
	expect_piece(fd[1], "before");
	EQ(at_mark(fd[1]), 1);
	expect_text(fd[1], "after");
	EQ(at_mark(fd[1]), 0);
}

TEST(urgent_passed_by)
{
	char byte;
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "!");
	send_text(fd[0], "after");
	wait_events(fd[1], POLLPRI);
	expect_text(fd[1], "after");
	/* It was skipped and is lost */
	FAILS(recv(fd[1], &byte, 1, MSG_OOB), EINVAL);
	EQ(events_now(fd[1]) & POLLPRI, 0);
}

TEST(urgent_peek)
{
	char byte = 0;
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	EQ(recv(fd[1], &byte, 1, MSG_OOB | MSG_PEEK), 1);
	EQ(byte, '!');
	expect_urgent(fd[1], '!');
}

/* Amounts end at the mark */
TEST(urgent_amount)
{
	int fd[2], n;

	pair_open(fd);
	send_text(fd[0], "before");
	send_urgent(fd[0], "!");
	send_text(fd[0], "after");
	wait_events(fd[1], POLLPRI);
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 6);
	expect_piece(fd[1], "before");
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 0);
	expect_text(fd[1], "af");
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 3);
}

TEST(urgent_message_flags)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	EQ(recvmsg(fd[1], &msg, MSG_OOB), 1);
	EQ(msg.msg_flags, MSG_OOB);
	EQ(byte, '!');
}

TEST(urgent_twice)
{
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "1");
	wait_events(fd[1], POLLPRI);
	expect_urgent(fd[1], '1');
	send_urgent(fd[0], "2");
	wait_events(fd[1], POLLPRI);
	expect_urgent(fd[1], '2');
	expect_nothing(fd[1]);
}

TEST(urgent_replaced)
{
	char byte;
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "a");
	send_urgent(fd[0], "1");
	wait_events(fd[1], POLLPRI);
	send_text(fd[0], "b");
	send_urgent(fd[0], "2");
	send_text(fd[0], "c");
	wait_amount(fd[1], 3);
	/* The first one becomes normal data; the second one is urgent */
	expect_urgent(fd[1], '2');
	FAILS(recv(fd[1], &byte, 1, MSG_OOB), EINVAL);
	expect_piece(fd[1], "a1b");
	wait_events(fd[1], POLLIN);
	expect_piece(fd[1], "c");
}

TEST(urgent_inline)
{
	char byte;
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	send_text(fd[0], "abc");
	send_urgent(fd[0], "!");
	send_text(fd[0], "def");
	wait_amount(fd[1], 3);
	TRUE(wait_events(fd[1], POLLPRI) & POLLIN);
	FAILS(recv(fd[1], &byte, 1, MSG_OOB), EINVAL);
	EQ(at_mark(fd[1]), 0);
	expect_piece(fd[1], "abc");
	EQ(at_mark(fd[1]), 1);
	wait_amount(fd[1], 4);
	expect_piece(fd[1], "!def");
	EQ(at_mark(fd[1]), 0);
}

TEST(urgent_inline_alone)
{
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	send_urgent(fd[0], "!");
	TRUE(wait_events(fd[1], POLLPRI) & POLLIN);
	EQ(at_mark(fd[1]), 1);
	expect_piece(fd[1], "!");
	EQ(at_mark(fd[1]), 0);
}

/* The old way to use it: read to the mark, throw away, go on */
TEST(urgent_inline_discard_to_mark)
{
	char byte;
	int fd[2], n = 0;

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	send_text(fd[0], "garbage");
	send_urgent(fd[0], "\xf2");
	send_text(fd[0], "new");
	wait_events(fd[1], POLLPRI);
	wait_amount(fd[1], 7);
	while (!at_mark(fd[1])) {
		EQ(recv(fd[1], &byte, 1, 0), 1);
		n++;
	}
	EQ(n, 7);
	wait_amount(fd[1], 4);
	expect_text(fd[1], "\xf2new");
}

TEST(urgent_peek_at_data)
{
	char buf[16] = "";
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "ab");
	send_urgent(fd[0], "!");
	send_text(fd[0], "cd");
	wait_events(fd[1], POLLPRI);
	wait_amount(fd[1], 2);
	EQ(recv(fd[1], buf, sizeof(buf), MSG_PEEK), 2);
	TRUE(!memcmp(buf, "ab", 2));
	expect_piece(fd[1], "ab");
	wait_events(fd[1], POLLIN);
	EQ(recv(fd[1], buf, sizeof(buf), MSG_PEEK), 2);
	TRUE(!memcmp(buf, "cd", 2));
	expect_piece(fd[1], "cd");
}

TEST(urgent_and_end)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "ab");
	send_urgent(fd[0], "!");
	close(fd[0]);
	wait_events(fd[1], POLLRDHUP);
	expect_urgent(fd[1], '!');
	expect_piece(fd[1], "ab");
	expect_eof(fd[1]);
}

TEST(urgent_select)
{
	struct timeval never = {};
	fd_set except;
	int fd[2];

	pair_open(fd);
	FD_ZERO(&except);
	FD_SET(fd[1], &except);
	EQ(select(fd[1] + 1, NULL, NULL, &except, &never), 0);
	send_urgent(fd[0], "!");
	FD_SET(fd[1], &except);
	EQ(select(fd[1] + 1, NULL, NULL, &except, NULL), 1);
	TRUE(FD_ISSET(fd[1], &except));
}

TEST(urgent_wakes_poll)
{
	struct pollfd pfd = { .events = POLLPRI };
	int fd[2];

	pair_open(fd);
	pfd.fd = fd[1];
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "normal");
		send_urgent(fd[0], "!");
		_exit(0);
	}
	EQ(poll(&pfd, 1, FOREVER), 1);
	EQ(pfd.revents, POLLPRI);
}

TEST(urgent_signal)
{
	int fd[2];

	pair_open(fd);
	catch_signal(SIGURG, 0);
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	EQ(fcntl(fd[1], F_GETOWN), getpid());
	send_text(fd[0], "normal");
	wait_events(fd[1], POLLIN);
	EQ(caught(SIGURG), 0);
	send_urgent(fd[0], "!");
	wait_caught(SIGURG, 1);
	expect_urgent(fd[1], '!');
	send_urgent(fd[0], "?");
	wait_caught(SIGURG, 2);
	expect_urgent(fd[1], '?');
}

/* The byte passes what is in the way only in the reader's view, but it is told at once */
TEST(urgent_to_full)
{
	int fd[2];
	size_t n;

	pair_with_buffers(fd, 32768);
	n = send_until_full(fd[0], 0);
	FAILS(send(fd[0], "!", 1, MSG_OOB | MSG_DONTWAIT), EAGAIN);
	drain(fd[1], n, 0);
	wait_events(fd[0], POLLOUT);
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	expect_urgent(fd[1], '!');
}

TEST(urgent_many)
{
	char expected[2] = "";
	int fd[2], i;

	pair_open(fd);
	for (i = 0; i < 200; i++) {
		expected[0] = 'a' + i % 26;
		send_text(fd[0], "xyz");
		send_urgent(fd[0], expected);
		wait_events(fd[1], POLLPRI);
		expect_urgent(fd[1], expected[0]);
		expect_text(fd[1], "xyz");
	}
}

/* The former one is data now, and is not lost */
TEST(urgent_inline_replaced)
{
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	send_urgent(fd[0], "1");
	wait_events(fd[1], POLLPRI);
	EQ(at_mark(fd[1]), 1);
	send_urgent(fd[0], "2");
	wait_amount(fd[1], 2);
	EQ(at_mark(fd[1]), 0);
	send_text(fd[0], "more");
	expect_piece(fd[1], "1");
	EQ(at_mark(fd[1]), 1);
	wait_amount(fd[1], 5);
	expect_piece(fd[1], "2more");
}

/* Two urgent bytes, seen one after the other, and nothing that reads or polls behind the first */
static void open_with_two(int fd[2], bool in_line)
{
	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, in_line);
	catch_signal(SIGURG, 0);
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	send_urgent(fd[0], "1");
	wait_caught(SIGURG, 1);
	send_urgent(fd[0], "2");
	wait_caught(SIGURG, 2);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, !in_line);
}

/* SO_OOBINLINE does not bring back a byte that was lost, nor lose one that is data */
TEST(urgent_replaced_then_inline)
{
	int fd[2], n;

	open_with_two(fd, false);
	EQ(at_mark(fd[1]), 1);
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 1);
	expect_piece(fd[1], "2");
	expect_nothing(fd[1]);
}

TEST(urgent_inline_replaced_then_not)
{
	int fd[2], n;

	open_with_two(fd, true);
	EQ(at_mark(fd[1]), 0);
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 1);
	expect_urgent(fd[1], '2');
	expect_piece(fd[1], "1");
	EQ(at_mark(fd[1]), 1);
	expect_nothing(fd[1]);
}

/* The same when the sender was told that it may go on, and may overwrite the first byte */
TEST(urgent_inline_polled_replaced_then_not)
{
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	send_urgent(fd[0], "1");
	wait_events(fd[1], POLLPRI);
	send_text(fd[0], "a");
	wait_amount(fd[1], 2);
	send_urgent(fd[0], "2");
	wait_amount(fd[1], 3);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 0);
	send_text(fd[0], "more");
	EQ(at_mark(fd[1]), 0);
	expect_urgent(fd[1], '2');
	expect_piece(fd[1], "1a");
	EQ(at_mark(fd[1]), 1);
	wait_events(fd[1], POLLIN);
	expect_piece(fd[1], "more");
}

/* A read of nothing is no reason to wait, and leaves the byte where it is */
TEST(urgent_read_of_nothing)
{
	char byte;
	int fd[2];

	pair_open(fd);
	FAILS(recv(fd[1], &byte, 0, MSG_DONTWAIT), EAGAIN);
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	EQ(recv(fd[1], &byte, 0, MSG_DONTWAIT), 0);
	EQ(recv(fd[1], &byte, 0, MSG_DONTWAIT | MSG_PEEK), 0);
	EQ(at_mark(fd[1]), 1);
	expect_urgent(fd[1], '!');
	EQ(recv(fd[1], &byte, 0, MSG_DONTWAIT), 0);
	expect_nothing(fd[1]);
	FAILS(recv(fd[1], &byte, 0, MSG_DONTWAIT), EAGAIN);
}

TEST(urgent_inline_below_low_water)
{
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 5);
	send_urgent(fd[0], "!");
	send_text(fd[0], "more");
	wait_events(fd[1], POLLIN);
	expect_piece(fd[1], "!more");
}

/* The byte does not stand in the way of what follows, whatever the program does with it */

static void expect_data_behind(int fd)
{
	wait_events(fd, POLLIN);
	EQ(events_now(fd) & POLLPRI, 0);
	expect_piece(fd, "more");
	EQ(at_mark(fd), 0);
	expect_nothing(fd);
}

TEST(urgent_fetched_at_mark_then_poll)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	send_urgent(fd[0], "!");
	send_text(fd[0], "more");
	wait_events(fd[1], POLLPRI);
	expect_piece(fd[1], "abc");
	EQ(at_mark(fd[1]), 1);
	expect_urgent(fd[1], '!');
	EQ(at_mark(fd[1]), 1);
	expect_data_behind(fd[1]);
}

TEST(urgent_fetched_before_mark_then_poll)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	send_urgent(fd[0], "!");
	send_text(fd[0], "more");
	wait_events(fd[1], POLLPRI);
	expect_urgent(fd[1], '!');
	expect_piece(fd[1], "abc");
	expect_data_behind(fd[1]);
}

TEST(urgent_not_fetched_then_poll)
{
	char byte;
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	send_urgent(fd[0], "!");
	send_text(fd[0], "more");
	wait_events(fd[1], POLLPRI);
	expect_piece(fd[1], "abc");
	wait_events(fd[1], POLLIN);
	TRUE(events_now(fd[1]) & POLLPRI);
	EQ(recv(fd[1], &byte, 1, MSG_OOB | MSG_PEEK), 1);
	EQ(byte, '!');
	expect_piece(fd[1], "more");
	FAILS(recv(fd[1], &byte, 1, MSG_OOB), EINVAL);
}

TEST(urgent_alone_then_poll)
{
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	send_text(fd[0], "more");
	wait_events(fd[1], POLLIN);
	EQ(at_mark(fd[1]), 1);
	expect_piece(fd[1], "more");
}

/* Over SMC-R, less than SO_RCVLOWAT has to do: the sender waits until the mark is passed */
TEST(urgent_below_low_water)
{
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 6);
	send_text(fd[0], "ab");
	send_urgent(fd[0], "!");
	send_text(fd[0], "more");
	wait_events(fd[1], POLLIN);
	expect_piece(fd[1], "ab");
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 4);
	wait_events(fd[1], POLLIN);
	expect_piece(fd[1], "more");
}

/* It was told of all before the last text, and reads no more than it was told of */
TEST(urgent_then_epoll_edge)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fd[2], epoll = OK(epoll_create1(EPOLL_CLOEXEC));
	char buf[16];

	pair_open(fd);
	send_text(fd[0], "abc");
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[1], &event));
	EQ(epoll_wait(epoll, &event, 1, FOREVER), 1);
	EQ(recv(fd[1], buf, sizeof(buf), 0), 3);
	EQ(epoll_wait(epoll, &event, 1, 0), 0);
	send_text(fd[0], "more");
	EQ(epoll_wait(epoll, &event, 1, FOREVER), 1);
	expect_piece(fd[1], "more");
}

static void receive_more(void *arg)
{
	char buf[16];

	EQ(recv(*(int *)arg, buf, sizeof(buf), 0), 4);
	TRUE(!memcmp(buf, "more", 4));
}

/* MSG_PEEK goes past the byte, too, without poll() or a read before it */
TEST(urgent_passes_a_peeking_reader)
{
	char buf[64] = "";
	int fd[2];

	pair_open(fd);
	send_urgent(fd[0], "!");
	send_text(fd[0], "more");
	EQ(recv(fd[1], buf, sizeof(buf), MSG_PEEK), 4);
	EQ(memcmp(buf, "more", 4), 0);
	expect_piece(fd[1], "more");
}

TEST(urgent_passes_a_blocked_reader)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	worker_start(&worker, receive_more, &fd[1]);
	worker_asleep(&worker);
	send_urgent(fd[0], "!");
	worker_asleep(&worker);
	send_text(fd[0], "more");
	worker_join(&worker);
}

/* With nothing between them, each new one takes the former one out of the stream */
TEST(urgent_many_unread)
{
	char byte[2] = "";
	int fd[2], i;

	pair_open(fd);
	for (i = 0; i < 200; i++) {
		byte[0] = 'a' + i % 26;
		send_urgent(fd[0], byte);
		wait_events(fd[1], POLLPRI);
		EQ(at_mark(fd[1]), 1);
		expect_urgent(fd[1], byte[0]);
	}
	send_text(fd[0], "more");
	wait_events(fd[1], POLLIN);
	EQ(recv(fd[1], byte, 1, MSG_PEEK), 1);
	EQ(byte[0], 'm');
	expect_piece(fd[1], "more");
}

/* The byte's place in the ring serves again; what was read to the mark stays whole */
static size_t fill_behind_mark(int fd[2])
{
	pair_with_buffers(fd, 32768);
	send_text(fd[0], "abc");
	send_urgent(fd[0], "!");
	wait_events(fd[1], POLLPRI);
	expect_piece(fd[1], "abc");
	return send_until_full(fd[0], 0);
}

TEST(urgent_then_full)
{
	static uint8_t buf[65536];
	int fd[2];
	ssize_t n;
	size_t sent;

	sent = fill_behind_mark(fd);
	expect_urgent(fd[1], '!');
	wait_events(fd[1], POLLIN);
	n = OK(recv(fd[1], buf, sizeof(buf), MSG_PEEK));
	pattern_check(buf, n, 0);
	drain(fd[1], sent, 0);
	expect_nothing(fd[1]);
}

/* In line after all, when the sender has been told that it may go on */
TEST(urgent_then_full_then_inline)
{
	uint8_t byte = 0;
	int fd[2], n;
	size_t sent;

	sent = fill_behind_mark(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	EQ(at_mark(fd[1]), 1);
	wait_events(fd[1], POLLIN);
	OK(ioctl(fd[1], FIONREAD, &n));
	TRUE(n > 0);
	EQ(recv(fd[1], &byte, 1, MSG_PEEK), 1);
	EQ(byte, '!');
	EQ(recv(fd[1], &byte, 1, 0), 1);
	EQ(byte, '!');
	EQ(at_mark(fd[1]), 0);
	drain(fd[1], sent, 0);
	expect_nothing(fd[1]);
}

static void read_to_mark(void *arg)
{
	int fd = *(int *)arg;
	char buf[100];

	EQ(recv(fd, buf, sizeof(buf), MSG_WAITALL), 4);
}

static void set_mark_while_reader_waits(int in_line)
{
	struct worker worker;
	char byte;
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, in_line);
	send_text(fd[0], "data");
	worker_start(&worker, read_to_mark, &fd[1]);
	worker_asleep(&worker);
	EQ(send(fd[0], "!", 1, MSG_OOB), 1);
	send_text(fd[0], "more");
	worker_join(&worker);
	EQ(at_mark(fd[1]), 1);
	/* Over SMC-R what follows the urgent byte comes when the program has read that */
	EQ(recv(fd[1], &byte, 1, in_line ? 0 : MSG_OOB), 1);
	EQ(byte, '!');
	expect_text(fd[1], "more");
}

TEST(urgent_while_reader_waits)
{
	set_mark_while_reader_waits(0);
}

TEST(urgent_inline_while_reader_waits)
{
	set_mark_while_reader_waits(1);
}

TEST(urgent_zero_bytes)
{
	int fd[2];

	pair_open(fd);
	EQ(send(fd[0], "", 0, MSG_OOB), 0);
	EQ(events_now(fd[1]), POLLOUT | POLLWRNORM);
}

/* There is none before the connection is there, and TCP waits for neither */
TEST(urgent_recv_while_connecting)
{
	struct addr to = nowhere();
	int fd = new_client();
	char byte;

	nonblock(fd);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	OK(fcntl(fd, F_SETFL, 0));
	FAILS(recv(fd, &byte, 1, MSG_OOB), EINVAL);
}
