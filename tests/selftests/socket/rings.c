// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings that begin small, grow, and become small again: what programs see is what TCP sockets do.
 * The tests also hold over SMC-R, where that is the send buffer, and over TCP, which has no rings.
 * That rings do shrink is seen in memory: netlink/share.py.
 */

#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "counter.h"
#include "lost.h"
#include "pair.h"

#define START	4096	/* bytes of a ring at the start (net.smc.rmem_start) */
#define PAIRS	120	/* take nearly a MiB, if their rings are small */
#define MUCH	(200 * 1024)	/* fits into a ring of SMC-R */
#define STREAMS	6
#define STREAM_SIZE	(512 * 1024)	/* of a ring from which a program reads */
#define READER_TIME	8	/* ms: a reader that reads more often does read */
#define AHEAD	(2 * 1024 * 1024)	/* what TCP, too, takes before it is read */

static bool can_keep_pages(int index)
{
	return only_smc(index) && lost_possible(BY_USERFAULTFD);
}

static bool can_keep_pages_idle(int index)
{
	return first_of_mode(index) && can_keep_pages(index);
}

static bool first_smc(int index)
{
	return first_of_mode(index) && only_smc(index);
}

static bool first_smcd(int index)
{
	return first_of_mode(index) && only_smcd(index);
}

static void pause_up_to(unsigned int *seed, unsigned int ms)
{
	usleep(rand_r(seed) % ms * 1000);
}

/* Until rings are small again; TCP has none */
static void wait_idle(void)
{
	if (variant->smc)
		usleep(2500 * 1000);
}

/* The peer does not have to read meanwhile */
static void write_pattern(int fd, size_t bytes, uint64_t offset)
{
	uint8_t *buf = malloc(bytes);

	TRUE(buf);
	pattern_fill(buf, bytes, offset);
	send_all(fd, buf, bytes);
	free(buf);
}

static void wait_writable(int fd)
{
	TRUE(wait_events(fd, POLLOUT) & POLLOUT);
}

TEST(growth_before_anybody_reads)
{
	int fd[2];

	pair_open(fd);
	write_pattern(fd[0], MUCH, 0);
	write_pattern(fd[1], MUCH, 1);
	drain(fd[0], MUCH, 1);
	drain(fd[1], MUCH, 0);
}

/* Small writes, of which the first ones fill what there is */
TEST(growth_in_small_steps)
{
	size_t sizes[] = { 1, 100, 1000, 1024, 3000, 4000, 4064, 4065, 10000 };
	size_t sent = 0, got = 0, i;
	int fd[2], round;

	pair_open(fd);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			write_pattern(fd[0], sizes[i], sent);
			sent += sizes[i];
		}
		drain(fd[1], sizes[round % 9], got);
		got += sizes[round % 9];
		if (sent - got > MUCH / 2) {
			drain(fd[1], sent - got, got);
			got = sent;
		}
	}
	drain(fd[1], sent - got, got);
	expect_nothing(fd[1]);
}

TEST(growth_keeps_poll_writable)
{
	int fd[2], i;

	pair_open(fd);
	for (i = 0; i < 32; i++) {
		TRUE(events_now(fd[0]) & POLLOUT);
		write_pattern(fd[0], START - 96, (uint64_t)i * (START - 96));
	}
	drain(fd[1], 32 * (START - 96), 0);
}

/**
 * struct stream - one direction of a connection
 * @from: written to
 * @to: read from
 * @bytes: how many
 * @seed: of sizes and pauses
 * @pause: longest pause between writes, in ms; 0: writes follow each other
 */
struct stream {
	int from;
	int to;
	size_t bytes;
	unsigned int seed;
	unsigned int pause;
};

static size_t choose_size(unsigned int *seed, size_t left)
{
	size_t most = 1UL << (rand_r(seed) % 17), size = 1 + rand_r(seed) % most;

	return size < left ? size : left;
}

static void write_stream(void *arg)
{
	struct stream *stream = arg;
	unsigned int seed = stream->seed;
	uint8_t buf[65536];
	size_t sent = 0;

	while (sent < stream->bytes) {
		size_t size = choose_size(&seed, stream->bytes - sent);

		pattern_fill(buf, size, sent + stream->seed);
		send_all(stream->from, buf, size);
		sent += size;
		if (stream->pause && rand_r(&seed) % 3)
			pause_up_to(&seed, stream->pause);
	}
}

static void read_stream(void *arg)
{
	struct stream *stream = arg;
	unsigned int seed = ~stream->seed;
	uint8_t buf[65536];
	size_t got = 0;

	while (got < stream->bytes) {
		size_t size = choose_size(&seed, sizeof(buf));
		int flags = rand_r(&seed) % 4 ? 0 : MSG_PEEK;
		ssize_t n = OK(recv(stream->to, buf, size, flags));

		TRUE(n > 0);
		pattern_check(buf, n, got + stream->seed);
		if (!flags)
			got += n;
		if (stream->pause && !(rand_r(&seed) % 64))
			pause_up_to(&seed, stream->pause);
	}
}

static void start_stream(struct worker workers[2], struct stream *stream)
{
	worker_start(&workers[0], write_stream, stream);
	worker_start(&workers[1], read_stream, stream);
}

TEST(growth_in_both_directions)
{
	struct stream streams[2];
	struct worker workers[4];
	int fd[2], round, i;

	for (round = 0; round < 8; round++) {
		pair_open(fd);
		for (i = 0; i < 2; i++) {
			streams[i] = (struct stream){ fd[i], fd[!i], MUCH, 2 * round + i + 1, 0 };
			start_stream(&workers[2 * i], &streams[i]);
		}
		for (i = 0; i < 4; i++)
			worker_join(&workers[i]);
		expect_nothing(fd[0]);
		expect_nothing(fd[1]);
		pair_close(fd);
	}
}

/* Poll waits for more than the first ring holds */
TEST(growth_up_to_lowat)
{
	int fd[2], i;

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 3 * START);
	for (i = 0; i < 2; i++)
		write_pattern(fd[0], START, (uint64_t)i * START);
	wait_amount(fd[1], 2 * START);
	TRUE(!(events_now(fd[1]) & POLLIN));
	write_pattern(fd[0], START, 2 * START);
	TRUE(wait_events(fd[1], POLLIN) & POLLIN);
	drain(fd[1], 3 * START, 0);
}

static void wait_for_all(void *arg)
{
	static uint8_t buf[10 * START];
	int fd = *(int *)arg;

	EQ(recv(fd, buf, sizeof(buf), MSG_WAITALL | MSG_PEEK), sizeof(buf));
	pattern_check(buf, sizeof(buf), 0);
	EQ(recv(fd, buf, sizeof(buf), MSG_WAITALL), sizeof(buf));
	pattern_check(buf, sizeof(buf), 0);
}

TEST(growth_for_a_peek)
{
	struct worker worker;
	int fd[2], i;

	pair_open(fd);
	worker_start(&worker, wait_for_all, &fd[1]);
	worker_asleep(&worker);
	for (i = 0; i < 10; i++)
		write_pattern(fd[0], START, (uint64_t)i * START);
	worker_join(&worker);
}

/* Rings of tests that have ended are freed by kworkers, and count until then */
static void limit_memory(void)
{
	while (namespace_bytes())
		usleep(1000);
	set_sysctl("net/smc/buffer_limit", 1);
}

/* Rings that begin small have as much memory as they may: the next one that is to grow cannot */
static void use_up_memory(int (*fd)[2])
{
	int i;

	limit_memory();
	for (i = 0; i < PAIRS; i++)
		pair_open(fd[i]);
	for (i = 1; i < 8; i++)
		send_until_full(fd[i][0], 0);
}

/* Quickly: the first ones are a stream, of which the rest is to be announced later */
static void write_small(int fd)
{
	static char text[100];
	struct iovec iov = { text, sizeof(text) };
	struct mmsghdr messages[64];
	int i;

	memset(messages, 0, sizeof(messages));
	for (i = 0; i < 64; i++)
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 };
	i = OK(sendmmsg(fd, messages, 64, MSG_DONTWAIT));
	TRUE(i < 64);
}

static void peek_for_much(void *arg)
{
	static char buf[MUCH];
	ssize_t got = OK(recv(*(int *)arg, buf, sizeof(buf), MSG_WAITALL | MSG_PEEK));

	TRUE(got >= START / 2 - 32 && got < START);
}

/* A call that waits for what a larger ring holds returns, as the writer may wait for it */
TEST(growth_fails, .applies = only_smcd, .alone = true)
{
	static int fd[PAIRS][2];
	struct worker worker;

	use_up_memory(fd);
	worker_start(&worker, peek_for_much, &fd[0][1]);
	worker_asleep(&worker);
	write_small(fd[0][0]);
	worker_join(&worker);
}

/* An urgent byte before, between and after bytes for which the ring grows */
TEST(growth_around_urgent_bytes)
{
	static uint8_t buf[8 * START];
	int fd[2], at;
	char urgent;

	pair_open(fd);
	EQ(send(fd[0], "!", 1, MSG_OOB), 1);
	write_pattern(fd[0], START, 0);
	TRUE(wait_events(fd[1], POLLPRI) & POLLPRI);
	EQ(recv(fd[1], &urgent, 1, MSG_OOB), 1);
	EQ(urgent, '!');
	write_pattern(fd[0], 4 * START, START);
	EQ(send(fd[0], "?", 1, MSG_OOB), 1);
	write_pattern(fd[0], 16 * START, 5 * START);
	wait_amount(fd[1], 5 * START);
	drain(fd[1], 5 * START, 0);
	EQ(recv(fd[1], &urgent, 1, MSG_OOB), 1);
	EQ(urgent, '?');
	for (at = 5 * START; at < 21 * START; at += sizeof(buf))
		drain(fd[1], sizeof(buf), at);
	expect_nothing(fd[1]);
}

/* An urgent byte that the reader gets in line, of which the ring has the only place */
TEST(growth_with_an_urgent_byte_in_line)
{
	int fd[2];

	pair_open(fd);
	set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, 1);
	EQ(send(fd[0], "abc", 3, MSG_OOB), 3);
	write_pattern(fd[0], 8 * START, 0);
	write_pattern(fd[0], 8 * START, 8 * START);
	expect_text(fd[1], "ab");
	expect_text(fd[1], "c");
	drain(fd[1], 16 * START, 0);
}

/**
 * struct slow_reader - a program that waits for the page to which it copies
 * @fd: the socket
 * @lost: has the page
 * @thread: is in recv()
 */
struct slow_reader {
	int fd;
	struct lost lost;
	struct worker thread;
};

static void read_into_page(void *arg)
{
	struct slow_reader *reader = arg;

	EQ(recv(reader->fd, lost_page(&reader->lost, 0), 2000, 0), 2000);
}

/* It has 3000 bytes to read, from @offset on */
static void start_reader(struct slow_reader *reader, const int fd[2], size_t offset)
{
	reader->fd = fd[1];
	lost_open(&reader->lost, BY_USERFAULTFD, 1);
	write_pattern(fd[0], offset + 3000, 0);
	drain(fd[1], offset, 0);
	wait_amount(fd[1], 3000);
	worker_start(&reader->thread, read_into_page, reader);
	while (!lost_is_wanted(&reader->lost, 0))
		pause_briefly();
}

/* It has read 2000 bytes */
static void end_reader(struct slow_reader *reader, size_t offset)
{
	static uint8_t page[65536];

	lost_bring(&reader->lost, 0, page, reader->lost.size);
	worker_join(&reader->thread);
	pattern_check(lost_page(&reader->lost, 0), 2000, offset);
}

/* The reader waits for a page while the ring grows, and goes on to copy from the first one */
TEST(growth_under_a_reader, .applies = can_keep_pages)
{
	struct slow_reader reader;
	int fd[2];

	pair_open(fd);
	start_reader(&reader, fd, 0);
	write_pattern(fd[0], 10000, 3000);
	write_pattern(fd[0], 60000, 13000);
	write_pattern(fd[0], 100000, 73000);
	end_reader(&reader, 0);
	drain(fd[1], 171000, 2000);
	write_pattern(fd[1], MUCH, 0);
	drain(fd[0], MUCH, 0);
}

/* The same, but the writer is gone when the page comes */
TEST(growth_and_the_writer_closes, .applies = can_keep_pages)
{
	struct slow_reader reader;
	int fd[2];

	pair_open(fd);
	start_reader(&reader, fd, 0);
	write_pattern(fd[0], 10000, 3000);
	OK(close(fd[0]));
	end_reader(&reader, 0);
	drain(fd[1], 11000, 2000);
	expect_eof(fd[1]);
}

/* SO_RCVBUF limits the ring, as over TCP */
TEST(growth_up_to_rcvbuf, .applies = only_smc)
{
	size_t bytes;
	int fd[2];

	pair_with_buffers(fd, 16384);
	bytes = send_until_full(fd[0], 0);
	TRUE(bytes > 16000 && bytes <= 2 * 16384);	/* SMC-R has a send buffer, too */
	FAILS(send(fd[0], "x", 1, MSG_DONTWAIT), EAGAIN);
	TRUE(!(events_now(fd[0]) & POLLOUT));
	drain(fd[1], bytes, 0);
	wait_writable(fd[0]);
}

/* Both programs write before they read, after a stream that they have read */
TEST(growth_while_nothing_is_read, .applies = only_smc)
{
	int fd[2], i;

	pair_open(fd);
	for (i = 0; i < 8; i++) {
		write_pattern(fd[0], MUCH, 0);
		drain(fd[1], MUCH, 0);
	}
	write_pattern(fd[0], AHEAD, 0);
	write_pattern(fd[1], AHEAD, 1);
	drain(fd[0], AHEAD, 1);
	drain(fd[1], AHEAD, 0);
	expect_nothing(fd[0]);
	expect_nothing(fd[1]);
}

/* A program that waits for its peer, and has no more to write */
TEST(no_growth_while_polling_for_input, .applies = first_smcd)
{
	int fd[2], other[2];
	size_t bytes;

	for (;;) {
		pair_open(other);
		bytes = send_until_full(other[0], 0);
		if (bytes < 512 * 1024)
			break;
		pair_close(other);	/* it took so long that the ring has become larger */
	}
	pair_open(fd);
	write_pattern(fd[0], bytes, 0);
	FAILS(recv(fd[0], &bytes, 1, MSG_DONTWAIT), EAGAIN);
	EQ(poll(&(struct pollfd){ fd[0], POLLIN }, 1, 200), 0);
	FAILS(send(fd[0], "x", 1, MSG_DONTWAIT), EAGAIN);
}

/* The program does not wait in a call */
TEST(growth_for_a_program_that_polls, .applies = only_smc)
{
	size_t sent = 0;
	int fd[2];

	pair_open(fd);
	while (sent < AHEAD) {
		wait_writable(fd[0]);
		sent += send_until_full(fd[0], sent);
	}
	drain(fd[1], sent, 0);
	wait_writable(fd[0]);
}

/* No call finds that there is no space */
TEST(growth_for_a_program_that_polls_first, .applies = only_smc)
{
	size_t sent;
	int fd[2];

	pair_open(fd);
	for (sent = 0; sent < AHEAD; sent += START) {
		wait_writable(fd[0]);
		write_pattern(fd[0], START, sent);
	}
	drain(fd[1], AHEAD, 0);
}

/* epoll tells only what is new */
TEST(growth_for_an_edge, .applies = only_smc)
{
	struct epoll_event event = { .events = EPOLLOUT | EPOLLET };
	int fd[2], epoll = OK(epoll_create1(0));
	size_t sent = 0;

	pair_open(fd);
	OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &event));
	while (sent < AHEAD) {
		EQ(epoll_wait(epoll, &event, 1, scaled(60000)), 1);
		sent += send_until_full(fd[0], sent);
	}
	drain(fd[1], sent, 0);
	OK(close(epoll));
}

/* The reader reads slowly, but it does: there is a byte of space each time */
TEST(no_growth_for_a_slow_reader, .applies = only_smcd)
{
	size_t sent, got = 0, seen = 0;
	int fd[2];

	pair_open(fd);
	sent = send_until_full(fd[0], 0);
	while (seen < 50 && got < STREAM_SIZE / 100) {
		long begin = now_ms();
		bool is_writable;

		drain(fd[1], 1, got++);
		usleep(1000);
		is_writable = events_now(fd[0]) & POLLOUT;
		if (now_ms() - begin >= READER_TIME)
			continue;
		TRUE(!is_writable);
		seen++;
	}
	TRUE(seen);
	wait_writable(fd[0]);		/* the reader reads nothing any more */
	drain(fd[1], sent - got, got);
}

/* Until the ring is as large as it may be, and another try for memory was in vain. Return: bytes */
static size_t fill_for_good(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	size_t sent = 0;

	do
		sent += send_until_full(fd, sent);
	while (OK(poll(&pfd, 1, scaled(1200))));
	return sent;
}

/* The program has said how much it wants to write before it is read */
TEST(growth_up_to_sndbuf, .applies = first_smc)
{
	size_t sizes[] = { 100000, 300000, 1024 * 1024 }, i, bytes;
	int fd[2];

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		pair_open(fd);
		set_int(fd[0], SOL_SOCKET, SO_SNDBUFFORCE, sizes[i]);
		bytes = fill_for_good(fd[0]);
		TRUE(bytes >= sizes[i]);
		TRUE(bytes <= (sizes[i] < STREAM_SIZE ? STREAM_SIZE : 2 * sizes[i]));
		drain(fd[1], bytes, 0);
		wait_writable(fd[0]);
		pair_close(fd);
	}
}

/* What the reader has left, which is little or not */
TEST(shrink_keeps_what_was_not_read, .applies = first_of_mode)
{
	size_t left[] = { 0, 1, 3000, 4064, 4065, 20000 };
	size_t n = sizeof(left) / sizeof(*left), i;
	int fd[sizeof(left) / sizeof(*left)][2];

	for (i = 0; i < n; i++) {
		pair_open(fd[i]);
		write_pattern(fd[i][0], MUCH, i);
		drain(fd[i][1], MUCH - left[i], i);
		write_pattern(fd[i][1], MUCH, 0);
		drain(fd[i][0], MUCH, 0);
	}
	wait_idle();
	for (i = 0; i < n; i++) {
		TRUE(events_now(fd[i][0]) & POLLOUT);
		EQ(!(events_now(fd[i][1]) & POLLIN), !left[i]);
		write_pattern(fd[i][0], 100, i + MUCH);
		write_pattern(fd[i][0], MUCH, i + MUCH + 100);
		drain(fd[i][1], left[i] + 100 + MUCH, i + MUCH - left[i]);
		write_pattern(fd[i][1], 50000, MUCH);
		drain(fd[i][0], 50000, MUCH);
		expect_nothing(fd[i][1]);
	}
}

/* An urgent byte that was not read, and one that is read in line */
TEST(shrink_keeps_urgent_bytes, .applies = first_of_mode)
{
	int fd[2][2], i;
	char urgent;

	for (i = 0; i < 2; i++) {
		pair_open(fd[i]);
		set_int(fd[i][1], SOL_SOCKET, SO_OOBINLINE, i);
		write_pattern(fd[i][0], 50000, 0);
		drain(fd[i][1], 50000, 0);
		EQ(send(fd[i][0], "ab!", 3, MSG_OOB), 3);
		wait_amount(fd[i][1], 2);
	}
	wait_idle();
	EQ(recv(fd[0][1], &urgent, 1, MSG_OOB), 1);
	EQ(urgent, '!');
	for (i = 0; i < 2; i++) {
		EQ(send(fd[i][0], "c", 1, 0), 1);
		expect_text(fd[i][1], "ab");
	}
	expect_text(fd[0][1], "c");
	wait_amount(fd[1][1], 2);
	expect_text(fd[1][1], "!c");
}

/* The reader waits for its page in a large ring, of which the rest would fit into a small one */
TEST(shrink_under_a_reader, .applies = can_keep_pages_idle)
{
	struct slow_reader reader;
	int fd[2];

	pair_open(fd);
	start_reader(&reader, fd, MUCH);
	wait_idle();
	write_pattern(fd[0], 100, MUCH + 3000);
	end_reader(&reader, MUCH);
	drain(fd[1], 1100, MUCH + 2000);
}

/* Until the connection ends */
static void write_on(void *arg)
{
	static uint8_t buf[4 * MUCH];

	while (send(*(int *)arg, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
}

/* A writer waits for memory that the namespace does not have. So rings shrink early */
TEST(shrink_between_writes, .applies = first_smcd, .alone = true)
{
	struct worker workers[2 * STREAMS], blocked;
	int fd[STREAMS / 2][2], stuck[2], i;
	struct stream streams[STREAMS];

	limit_memory();
	pair_open(stuck);
	for (i = 0; i < STREAMS / 2; i++)
		pair_open(fd[i]);
	worker_start(&blocked, write_on, &stuck[0]);
	for (i = 0; i < STREAMS; i++) {
		int *ends = fd[i / 2];

		streams[i] = (struct stream){ ends[i % 2], ends[1 - i % 2], MUCH / 4, i + 1, 800 };
		start_stream(&workers[2 * i], &streams[i]);
	}
	for (i = 0; i < 2 * STREAMS; i++)
		worker_join(&workers[i]);
	OK(shutdown(stuck[0], SHUT_RDWR));
	worker_join(&blocked);
}
