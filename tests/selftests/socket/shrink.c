// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings that have grown become small again, and programs do not notice. As in growth.c, the tests
 * also hold over SMC-R and over TCP. That rings do shrink is seen in memory: netlink/share.py.
 */

#include <stdlib.h>
#include <time.h>

#include "lost.h"
#include "pair.h"

#define MUCH	(200 * 1024)
#define IDLE	2500	/* ms after which a ring has become small */
#define STREAMS	6
#define ROUNDS	12

static bool can_keep_pages(int index)
{
	return only_smc(index) && lost_possible(BY_USERFAULTFD);
}

static void pause_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

static void write_pattern(int fd, size_t bytes, uint64_t offset)
{
	uint8_t *buf = malloc(bytes);

	TRUE(buf);
	pattern_fill(buf, bytes, offset);
	send_all(fd, buf, bytes);
	free(buf);
}

/* What the reader has left, which may fit into a small ring or not */
TEST(shrink_keeps_what_was_not_read)
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
	pause_ms(IDLE);
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
TEST(shrink_keeps_urgent_bytes)
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
	pause_ms(IDLE);
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

/* The reader waits for its page in a large ring, of which the rest would fit into a small one */
TEST(shrink_under_a_reader, .applies = can_keep_pages)
{
	static uint8_t page[65536];
	struct slow_reader reader;
	int fd[2];

	pair_open(fd);
	reader.fd = fd[1];
	lost_open(&reader.lost, BY_USERFAULTFD, 1);
	write_pattern(fd[0], MUCH, 0);
	drain(fd[1], MUCH - 3000, 0);
	worker_start(&reader.thread, read_into_page, &reader);
	while (!lost_is_wanted(&reader.lost, 0))
		pause_briefly();
	pause_ms(IDLE);
	write_pattern(fd[0], 100, MUCH);
	lost_bring(&reader.lost, 0, page, reader.lost.size);
	worker_join(&reader.thread);
	pattern_check(lost_page(&reader.lost, 0), 2000, MUCH - 3000);
	drain(fd[1], 1100, MUCH - 1000);
}

/**
 * struct stream - one direction of a connection
 * @from: written to
 * @to: read from
 * @seed: of sizes and pauses
 */
struct stream {
	int from;
	int to;
	unsigned int seed;
};

static size_t choose_size(unsigned int *seed)
{
	return 1 + rand_r(seed) % (1UL << (rand_r(seed) % 17));
}

static void write_and_pause(void *arg)
{
	struct stream *stream = arg;
	unsigned int seed = stream->seed;
	size_t sent = 0, size;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		size = choose_size(&seed);
		write_pattern(stream->from, size, sent);
		sent += size;
		if (rand_r(&seed) % 3)
			pause_ms(rand_r(&seed) % 800);
	}
	OK(shutdown(stream->from, SHUT_WR));
}

static void read_and_pause(void *arg)
{
	struct stream *stream = arg;
	unsigned int seed = ~stream->seed;
	uint8_t buf[65536];
	size_t got = 0;
	ssize_t n = 1;

	while (n) {
		int flags = rand_r(&seed) % 4 ? 0 : MSG_PEEK;

		n = OK(recv(stream->to, buf, choose_size(&seed), flags));
		pattern_check(buf, n, got);
		if (!flags)
			got += n;
		if (!(rand_r(&seed) % 64))
			pause_ms(rand_r(&seed) % 400);
	}
}

/* In the namespace of the test there is no memory for another large ring, so rings shrink early */
static void write_for_ever(void *arg)
{
	static uint8_t buf[4 * MUCH];

	while (send(*(int *)arg, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
}

TEST(shrink_between_writes, .applies = only_smcd, .alone = true)
{
	struct worker workers[2 * STREAMS], blocked;
	struct stream streams[STREAMS];
	int fd[2], stuck[2], i;

	set_sysctl("net/smc/buffer_limit", 1);
	pair_open(stuck);
	worker_start(&blocked, write_for_ever, &stuck[0]);
	for (i = 0; i < STREAMS; i++) {
		if (!(i % 2))
			pair_open(fd);
		streams[i] = (struct stream){ fd[i % 2], fd[1 - i % 2], i + 1 };
		worker_start(&workers[2 * i], write_and_pause, &streams[i]);
		worker_start(&workers[2 * i + 1], read_and_pause, &streams[i]);
	}
	for (i = 0; i < 2 * STREAMS; i++)
		worker_join(&workers[i]);
	OK(shutdown(stuck[0], SHUT_RDWR));
	worker_join(&blocked);
	set_sysctl("net/smc/buffer_limit", 0);
}
