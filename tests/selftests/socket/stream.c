// SPDX-License-Identifier: GPL-2.0-only
/* Sending and receiving: flags, sizes, vectors, time-outs, errors */

#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "pair.h"

#define BIG	(1 << 20)

static void *page_without_access(void)
{
	return mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST(both_directions)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "there");
	send_text(fd[1], "and back");
	expect_text(fd[1], "there");
	expect_text(fd[0], "and back");
	expect_nothing(fd[0]);
	expect_nothing(fd[1]);
}

TEST(pieces_join)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "one ");
	send_text(fd[0], "two ");
	send_text(fd[0], "three");
	wait_amount(fd[1], 13);
	expect_text(fd[1], "one two three");
}

TEST(one_byte_at_a_time)
{
	char buf[500];
	int fd[2], i;

	pair_open(fd);
	for (i = 0; i < 500; i++) {
		pattern_fill(buf, 1, i);
		EQ(send(fd[0], buf, 1, 0), 1);
	}
	for (i = 0; i < 500; i++) {
		EQ(recv(fd[1], buf, 1, 0), 1);
		pattern_check(buf, 1, i);
	}
}

TEST(zero_bytes)
{
	char byte;
	int fd[2];

	pair_open(fd);
	EQ(send(fd[0], "", 0, 0), 0);
	EQ(write(fd[0], "", 0), 0);
	expect_nothing(fd[1]);
	send_text(fd[0], "x");
	wait_events(fd[1], POLLIN);
	EQ(recv(fd[1], &byte, 0, 0), 0);
	EQ(read(fd[1], &byte, 0), 0);
	expect_text(fd[1], "x");
}

TEST(receive_zero_bytes_of_nothing)
{
	char byte;
	int fd[2];

	pair_open(fd);
	EQ(recv(fd[1], &byte, 0, MSG_DONTWAIT), -1);
	EQ(errno, EAGAIN);
}

TEST(dontwait)
{
	char byte;
	int fd[2];

	pair_open(fd);
	FAILS(recv(fd[0], &byte, 1, MSG_DONTWAIT), EAGAIN);
	nonblock(fd[0]);
	FAILS(recv(fd[0], &byte, 1, 0), EAGAIN);
	FAILS(read(fd[0], &byte, 1), EAGAIN);
}

TEST(peek)
{
	char buf[16] = "";
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abcdef");
	wait_amount(fd[1], 6);
	EQ(recv(fd[1], buf, 3, MSG_PEEK), 3);
	TRUE(!memcmp(buf, "abc", 3));
	EQ(recv(fd[1], buf, sizeof(buf), MSG_PEEK), 6);
	TRUE(!memcmp(buf, "abcdef", 6));
	expect_text(fd[1], "ab");
	EQ(recv(fd[1], buf, sizeof(buf), MSG_PEEK), 4);
	TRUE(!memcmp(buf, "cdef", 4));
	expect_text(fd[1], "cdef");
	FAILS(recv(fd[1], buf, 1, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	close(fd[0]);
	EQ(recv(fd[1], buf, 1, MSG_PEEK), 0);
}

TEST(peek_waits_for_all)
{
	char buf[8];
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "defgh");
		_exit(0);
	}
	EQ(recv(fd[1], buf, 8, MSG_PEEK | MSG_WAITALL), 8);
	TRUE(!memcmp(buf, "abcdefgh", 8));
	expect_text(fd[1], "abcdefgh");
}

TEST(trunc_discards)
{
	char buf[16] = "kept";
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abcdefgh");
	wait_amount(fd[1], 8);
	EQ(recv(fd[1], buf, 3, MSG_TRUNC), 3);
	EQ(recv(fd[1], NULL, 2, MSG_TRUNC), 2);
	TRUE(!strcmp(buf, "kept"));
	expect_text(fd[1], "fgh");
	/* More than a buffer could hold */
	send_text(fd[0], "rest");
	wait_amount(fd[1], 4);
	EQ(recv(fd[1], NULL, 1 << 30, MSG_TRUNC | MSG_DONTWAIT), 4);
}

TEST(trunc_and_peek)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abcdefgh");
	wait_amount(fd[1], 8);
	EQ(recv(fd[1], NULL, 100, MSG_TRUNC | MSG_PEEK), 8);
	expect_text(fd[1], "abcdefgh");
}

TEST(waitall)
{
	char buf[8];
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "defgh");
		_exit(0);
	}
	EQ(recv(fd[1], buf, 8, MSG_WAITALL), 8);
	TRUE(!memcmp(buf, "abcdefgh", 8));
}

TEST(waitall_until_end)
{
	char buf[8];
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	OK(shutdown(fd[0], SHUT_WR));
	EQ(recv(fd[1], buf, 8, MSG_WAITALL), 3);
	EQ(recv(fd[1], buf, 8, MSG_WAITALL), 0);
}

TEST(waitall_timeout)
{
	char buf[8];
	int fd[2];

	pair_open(fd);
	set_timeout(fd[1], SO_RCVTIMEO, 50);
	FAILS(recv(fd[1], buf, 8, MSG_WAITALL), EAGAIN);
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	EQ(recv(fd[1], buf, 8, MSG_WAITALL), 3);
}

TEST(waitall_and_dontwait)
{
	char buf[8];
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	EQ(recv(fd[1], buf, 8, MSG_WAITALL | MSG_DONTWAIT), 3);
	FAILS(recv(fd[1], buf, 8, MSG_WAITALL | MSG_DONTWAIT), EAGAIN);
}

static void waitall_three(void *arg)
{
	char buf[8];

	EQ(recv(*(int *)arg, buf, 8, MSG_WAITALL), 3);
}

TEST(waitall_interrupted)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	catch_signal(SIGUSR1, 0);
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	worker_start(&worker, waitall_three, &fd[1]);
	worker_interrupt(&worker);
	worker_join(&worker);
}

/* More than both buffers hold, in one call */
TEST(waitall_big)
{
	char *buf = malloc(4 * BIG);
	int fd[2], client;

	pair_open(fd);
	if (!fork()) {
		pattern_fill(buf, 4 * BIG, 0);
		EQ(send(fd[0], buf, 4 * BIG, 0), 4 * BIG);
		_exit(0);
	}
	client = fd[1];
	EQ(recv(client, buf, 4 * BIG, MSG_WAITALL), 4 * BIG);
	pattern_check(buf, 4 * BIG, 0);
}

static void receive_ended_by_signal(void *arg)
{
	char byte;

	FAILS(recv(*(int *)arg, &byte, 1, 0), EINTR);
}

TEST(receive_interrupted)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	catch_signal(SIGUSR1, 0);
	worker_start(&worker, receive_ended_by_signal, &fd[0]);
	worker_interrupt(&worker);
	worker_join(&worker);
}

static void receive_r(void *arg)
{
	char byte = 0;

	EQ(recv(*(int *)arg, &byte, 1, 0), 1);
	EQ(byte, 'r');
}

TEST(receive_restarted)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	catch_signal(SIGUSR1, SA_RESTART);
	worker_start(&worker, receive_r, &fd[0]);
	worker_interrupt(&worker);
	worker_asleep(&worker);
	send_text(fd[1], "r");
	worker_join(&worker);
}

TEST(receive_timeout)
{
	long start = now_ms();
	char byte;
	int fd[2];

	pair_open(fd);
	set_timeout(fd[0], SO_RCVTIMEO, 400);
	FAILS(recv(fd[0], &byte, 1, 0), EAGAIN);
	TRUE(now_ms() - start >= 200);	/* ticks of a busy guest may come late, and then fast */
}

static void answer_busily(void *arg)
{
	int fd = *(int *)arg, i;
	char byte;

	for (i = 0; i < 100; i++) {
		EQ(recv(fd, &byte, 1, 0), 1);
		EQ(send(fd, &byte, 1, 0), 1);
	}
}

/* Looking for data before sleeping changes nothing but the time it takes */
TEST(busy_poll)
{
	struct worker worker;
	char byte, i;
	int fd[2];

	pair_open(fd);
	set_int(fd[0], SOL_SOCKET, SO_BUSY_POLL, 1000);
	set_int(fd[1], SOL_SOCKET, SO_BUSY_POLL, 50);
	worker_start(&worker, answer_busily, &fd[1]);
	for (i = 0; i < 100; i++) {
		EQ(send(fd[0], &i, 1, 0), 1);
		EQ(recv(fd[0], &byte, 1, 0), 1);
		EQ(byte, i);
	}
	worker_join(&worker);

	set_timeout(fd[0], SO_RCVTIMEO, 50);
	FAILS(recv(fd[0], &byte, 1, 0), EAGAIN);
	send_text(fd[1], "end");
	OK(shutdown(fd[1], SHUT_WR));
	expect_text(fd[0], "end");
	expect_eof(fd[0]);
}

TEST(send_timeout)
{
	static char buf[BIG];
	ssize_t total = 0, n;
	int fd[2];

	pair_with_buffers(fd, 32768);
	set_timeout(fd[0], SO_SNDTIMEO, 50);
	while ((n = send(fd[0], buf, sizeof(buf), 0)) >= 0)
		total += n;
	EQ(errno, EAGAIN);
	TRUE(total > 0);
	send_until_full(fd[0], 0);	/* TCP may have got room since */
	TRUE(!(events_now(fd[0]) & POLLOUT));
}

static char zeros[4 * BIG];

/* What went out before the signal is told */
static void send_part(void *arg)
{
	ssize_t n = OK(send(*(int *)arg, zeros, sizeof(zeros), 0));

	TRUE(n > 0 && n < (ssize_t)sizeof(zeros));
}

static void send_nothing(void *arg)
{
	FAILS(send(*(int *)arg, zeros, sizeof(zeros), 0), EINTR);
}

TEST(send_interrupted)
{
	struct worker worker;
	int fd[2];

	pair_with_buffers(fd, 32768);
	catch_signal(SIGUSR1, 0);
	worker_start(&worker, send_part, &fd[0]);
	worker_interrupt(&worker);
	worker_join(&worker);
	send_until_full(fd[0], 0);
	worker_start(&worker, send_nothing, &fd[0]);
	worker_interrupt(&worker);
	worker_join(&worker);
}

static void send_big(void *arg)
{
	char *buf = malloc(BIG);

	pattern_fill(buf, BIG, 0);
	EQ(send(*(int *)arg, buf, BIG, 0), BIG);
	free(buf);
}

TEST(send_waits_for_space)
{
	struct worker worker;
	int fd[2];

	pair_with_buffers(fd, 32768);
	worker_start(&worker, send_big, &fd[0]);
	worker_asleep(&worker);
	drain(fd[1], BIG, 0);
	worker_join(&worker);
	expect_nothing(fd[1]);
}

/* The reader takes bits that never fit the ring, so that all offsets are met at its end */
TEST(odd_sizes)
{
	static const int sizes[] = { 1, 3, 7, 13, 127, 1021, 4093, 8191, 16381, 16383, 16384,
				     30011 };
	static char buf[65536];
	uint64_t sent = 0, received = 0;
	int fd[2], i;

	pair_with_buffers(fd, 32768);
	nonblock(fd[0]);
	for (i = 0; received < 2 * BIG; i++) {
		size_t want = sizes[i % 12];
		ssize_t n;

		pattern_fill(buf, want, sent);
		n = send(fd[0], buf, want, 0);
		if (n > 0)
			sent += n;
		want = sizes[i * 5 % 7 + 5 * (i % 2)];
		n = recv(fd[1], buf, want, MSG_DONTWAIT);
		if (n < 0)
			continue;
		pattern_check(buf, n, received);
		received += n;
	}
	drain(fd[1], sent - received, received);
}

TEST(vectors)
{
	char a[4] = "", b[1] = "", c[20] = "";
	struct iovec out[] = { { "gather", 6 }, { NULL, 0 }, { " and ", 5 }, { "scatter", 7 } };
	struct iovec in[] = { { a, 4 }, { NULL, 0 }, { b, 1 }, { c, 20 } };
	int fd[2];

	pair_open(fd);
	EQ(writev(fd[0], out, 4), 18);
	wait_amount(fd[1], 18);
	EQ(readv(fd[1], in, 4), 18);
	TRUE(!memcmp(a, "gath", 4) && b[0] == 'e' && !memcmp(c, "r and scatter", 13));
}

TEST(many_vectors)
{
	static char buf[1024];
	struct iovec iov[1025] = {};
	int fd[2], i;

	pair_open(fd);
	pattern_fill(buf, sizeof(buf), 0);
	for (i = 0; i < 1024; i++)
		iov[i] = (struct iovec){ buf + i, 1 };
	EQ(writev(fd[0], iov, 1024), 1024);
	FAILS(writev(fd[0], iov, 1025), EINVAL);
	drain(fd[1], 1024, 0);
}

TEST(message_fields)
{
	char buf[16], control[64], name[64];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_name = name, .msg_namelen = sizeof(name), .msg_iov = &iov,
			      .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control), .msg_flags = -1 };
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "hello");
	wait_amount(fd[1], 5);
	EQ(recvmsg(fd[1], &msg, 0), 5);
	EQ(msg.msg_flags, 0);
	EQ(msg.msg_namelen, 0);
	EQ(msg.msg_controllen, 0);
}

TEST(address_is_ignored)
{
	struct addr to = client_address(9), from = { .len = sizeof(from.ss) };
	char buf[8];
	int fd[2];

	pair_open(fd);
	EQ(sendto(fd[0], "x", 1, 0, &to.sa, to.len), 1);
	wait_events(fd[1], POLLIN);
	EQ(recvfrom(fd[1], buf, 8, 0, &from.sa, &from.len), 1);
	EQ(from.len, 0);
}

TEST(many_messages)
{
	char a[4], b[4];
	struct iovec iov[] = { { "abcd", 4 }, { "efgh", 4 }, { a, 4 }, { b, 4 } };
	struct mmsghdr out[] = { { .msg_hdr = { .msg_iov = &iov[0], .msg_iovlen = 1 } },
				 { .msg_hdr = { .msg_iov = &iov[1], .msg_iovlen = 1 } } };
	struct mmsghdr in[] = { { .msg_hdr = { .msg_iov = &iov[2], .msg_iovlen = 1 } },
				{ .msg_hdr = { .msg_iov = &iov[3], .msg_iovlen = 1 } } };
	int fd[2];

	pair_open(fd);
	EQ(sendmmsg(fd[0], out, 2, 0), 2);
	wait_amount(fd[1], 8);
	EQ(recvmmsg(fd[1], in, 2, 0, NULL), 2);
	TRUE(!memcmp(a, "abcd", 4) && !memcmp(b, "efgh", 4));
}

TEST(bad_pointers)
{
	void *bad = page_without_access();
	int fd[2];

	pair_open(fd);
	FAILS(send(fd[0], bad, 10, 0), EFAULT);
	expect_nothing(fd[1]);
	send_text(fd[0], "kept");
	wait_amount(fd[1], 4);
	FAILS(recv(fd[1], bad, 4, 0), EFAULT);
	expect_text(fd[1], "kept");
}

TEST(bad_pointer_behind_good_one)
{
	char good[4];
	struct iovec in[] = { { good, 4 }, { page_without_access(), 4 } };
	int fd[2];
	ssize_t n;

	pair_open(fd);
	send_text(fd[0], "abcdefgh");
	wait_amount(fd[1], 8);
	/* What was received is taken from the stream, or nothing is */
	n = readv(fd[1], in, 2);
	TRUE(n == 4 || (n == -1 && errno == EFAULT));
	expect_text(fd[1], n == 4 ? "efgh" : "abcdefgh");
}

TEST(not_connected)
{
	char byte;
	int fd = fresh();

	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	FAILS(recv(fd, &byte, 1, 0), ENOTCONN);
	FAILS(recv(fd, &byte, 1, MSG_OOB), EINVAL);
	FAILS(shutdown(fd, SHUT_RDWR), ENOTCONN);
}

TEST(more_is_flushed)
{
	int fd[2];

	pair_open(fd);
	EQ(send(fd[0], "part ", 5, MSG_MORE), 5);
	EQ(send(fd[0], "by ", 3, MSG_MORE), 3);
	EQ(send(fd[0], "part", 4, 0), 4);
	wait_amount(fd[1], 12);
	expect_text(fd[1], "part by part");
	EQ(send(fd[0], "end", 3, MSG_MORE), 3);
	OK(shutdown(fd[0], SHUT_WR));
	wait_amount(fd[1], 3);
	expect_text(fd[1], "end");
	expect_eof(fd[1]);
}

TEST(cork)
{
	int fd[2];

	pair_open(fd);
	set_int(fd[0], SOL_TCP, TCP_CORK, 1);
	send_text(fd[0], "corked");
	set_int(fd[0], SOL_TCP, TCP_CORK, 0);
	wait_amount(fd[1], 6);
	expect_text(fd[1], "corked");
}

TEST(broken_pipe_signal)
{
	int fd[2];

	pair_open(fd);
	catch_signal(SIGPIPE, 0);
	OK(shutdown(fd[0], SHUT_WR));
	FAILS(send(fd[0], "x", 1, 0), EPIPE);
	EQ(caught(SIGPIPE), 1);
	FAILS(send(fd[0], "x", 1, MSG_NOSIGNAL), EPIPE);
	EQ(caught(SIGPIPE), 1);
	FAILS(write(fd[0], "x", 1), EPIPE);
	EQ(caught(SIGPIPE), 2);
}

TEST(low_water_mark)
{
	char buf[16];
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 8);
	EQ(get_int(fd[1], SOL_SOCKET, SO_RCVLOWAT), 8);
	send_text(fd[0], "1234567");
	wait_amount(fd[1], 7);
	TRUE(!(events_now(fd[1]) & POLLIN));
	expect_text_now(fd[1], "1234567");
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "1234");
		wait_asleep(getppid());
		send_text(fd[0], "56789");
		_exit(0);
	}
	EQ(recv(fd[1], buf, 16, 0), 9);
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	EQ(recv(fd[1], buf, 16, MSG_DONTWAIT), 3);
	/* A smaller mark makes ready what is there */
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	TRUE(!(events_now(fd[1]) & POLLIN));
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 2);
	TRUE(events_now(fd[1]) & POLLIN);
}

/* A mark from before the connection, above the size of handshake messages, delays no handshake */
TEST(low_water_mark_before_connecting)
{
	int listener = new_server(), fd[2], i;
	struct addr addr = server_bind_address();

	set_int(listener, SOL_SOCKET, SO_RCVLOWAT, 400);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 10));
	for (i = 0; i < 8; i++) {
		struct addr to = target_of(listener);

		fd[0] = new_client();
		set_int(fd[0], SOL_SOCKET, SO_RCVLOWAT, 300);
		OK(connect(fd[0], &to.sa, to.len));
		fd[1] = accept_from(listener);
		EQ(is_tcp(fd[0]), !variant->smc);
		EQ(get_int(fd[0], SOL_SOCKET, SO_RCVLOWAT), 300);
		EQ(get_int(fd[1], SOL_SOCKET, SO_RCVLOWAT), 400);
		send_text(fd[0], "abc");
		wait_amount(fd[1], 3);
		TRUE(!(events_now(fd[1]) & POLLIN));
		send_text(fd[1], "abc");
		wait_amount(fd[0], 3);
		TRUE(!(events_now(fd[0]) & POLLIN));
		pair_close(fd);
	}
}

TEST(low_water_mark_lowered_wakes_poll)
{
	struct pollfd pfd;
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 100);
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	pfd = (struct pollfd){ .fd = fd[1], .events = POLLIN };
	if (!fork()) {
		wait_asleep(getppid());
		set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 1);
		_exit(0);
	}
	EQ(poll(&pfd, 1, -1), 1);	/* at the end of a time it would look without being woken */
}

TEST(low_water_mark_and_end)
{
	char buf[16];
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 8);
	send_text(fd[0], "abc");
	OK(shutdown(fd[0], SHUT_WR));
	TRUE(wait_events(fd[1], POLLIN) & POLLRDHUP);
	EQ(recv(fd[1], buf, 16, 0), 3);
	EQ(recv(fd[1], buf, 16, 0), 0);
}

TEST(amounts)
{
	int fd[2], n;

	pair_open(fd);
	OK(ioctl(fd[0], FIONREAD, &n));
	EQ(n, 0);
	OK(ioctl(fd[0], TIOCOUTQ, &n));
	EQ(n, 0);
	send_text(fd[0], "12345");
	wait_amount(fd[1], 5);
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 5);
	expect_text(fd[1], "123");
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 2);
	OK(shutdown(fd[0], SHUT_WR));
	wait_events(fd[1], POLLRDHUP);
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 2);
	expect_text(fd[1], "45");
	OK(ioctl(fd[1], FIONREAD, &n));
	EQ(n, 0);
}

TEST(ioctl_errors)
{
	int listener = listen_any(1), n;

	FAILS(ioctl(listener, FIONREAD, &n), EINVAL);
	FAILS(ioctl(listener, TIOCOUTQ, &n), EINVAL);
	OK(ioctl(fresh(), FIONREAD, &n));
	EQ(n, 0);
	FAILS(ioctl(fresh(), FIONREAD, NULL), EFAULT);
	FAILS(ioctl(fresh(), 0x12345678, &n), ENOTTY);
	n = 1;
	OK(ioctl(listener, FIONBIO, &n));
	FAILS(accept(listener, NULL, NULL), EAGAIN);
}

static void receive_nothing(void *arg)
{
	char byte;

	EQ(recv(*(int *)arg, &byte, 0, 0), 0);
}

TEST(receive_zero_bytes_waits)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	worker_start(&worker, receive_nothing, &fd[1]);
	worker_asleep(&worker);
	send_text(fd[0], "x");
	worker_join(&worker);
	expect_text(fd[1], "x");
}

TEST(error_queue_is_empty)
{
	char control[128];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "data");
	wait_amount(fd[0], 4);
	FAILS(recvmsg(fd[0], &msg, MSG_ERRQUEUE), EAGAIN);
	expect_text(fd[0], "data");
}

TEST(descriptor_is_no_file)
{
	char byte;
	int fd[2];

	pair_open(fd);
	FAILS(lseek(fd[0], 0, SEEK_SET), ESPIPE);
	FAILS(pread(fd[0], &byte, 1, 0), ESPIPE);
}
