// SPDX-License-Identifier: GPL-2.0-only
/* SO_PEEK_OFF: MSG_PEEK that goes on where the last one ended. TCP has it since 6.9 */

#include <string.h>

#include "pair.h"

static bool offset_set(int fd, int value)
{
	socklen_t len = sizeof(int);
	int tcp, dummy;

	if (!setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &value, sizeof(value))) {
		EQ(get_int(fd, SOL_SOCKET, SO_PEEK_OFF), value);
		return true;
	}
	EQ(errno, EOPNOTSUPP);
	tcp = OK(socket(AF_INET, SOCK_STREAM, 0));
	FAILS(getsockopt(tcp, SOL_SOCKET, SO_PEEK_OFF, &dummy, &len), EOPNOTSUPP);
	close(tcp);
	return false;
}

static void offset_is(int fd, int value)
{
	EQ(get_int(fd, SOL_SOCKET, SO_PEEK_OFF), value);
}

static void peek_text(int fd, const char *text)
{
	char buf[64] = "";

	EQ(recv(fd, buf, strlen(text), MSG_PEEK | MSG_DONTWAIT), strlen(text));
	if (strcmp(buf, text))
		FAIL("peeked at \"%s\", not \"%s\"", buf, text);
}

TEST(peek_offset)
{
	char byte;
	int fd[2];

	pair_open(fd);
	if (!offset_set(fd[1], -1))
		return;
	TRUE(offset_set(fd[1], 0));
	send_text(fd[0], "abcdefgh");
	wait_amount(fd[1], 8);
	peek_text(fd[1], "ab");
	offset_is(fd[1], 2);
	peek_text(fd[1], "cd");
	expect_text(fd[1], "abc");
	offset_is(fd[1], 1);
	peek_text(fd[1], "efgh");
	FAILS(recv(fd[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	send_text(fd[0], "ij");
	wait_amount(fd[1], 7);
	peek_text(fd[1], "ij");
	expect_text(fd[1], "defghij");
	offset_is(fd[1], 0);
}

TEST(peek_offset_off)
{
	int fd[2];

	pair_open(fd);
	if (!offset_set(fd[1], 3))
		return;
	send_text(fd[0], "abcdefgh");
	wait_amount(fd[1], 8);
	peek_text(fd[1], "de");
	TRUE(offset_set(fd[1], -1));
	peek_text(fd[1], "ab");
	peek_text(fd[1], "ab");
	offset_is(fd[1], -1);
	expect_text(fd[1], "abcdefgh");
	offset_is(fd[1], -1);
}

static void peek_late(void *arg)
{
	char buf[8] = "";

	EQ(recv(*(int *)arg, buf, 3, MSG_PEEK), 2);
	TRUE(!memcmp(buf, "de", 2));
}

TEST(peek_offset_waits)
{
	struct worker worker;
	int fd[2];

	pair_open(fd);
	if (!offset_set(fd[1], 3))
		return;
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	worker_start(&worker, peek_late, &fd[1]);
	worker_asleep(&worker);
	send_text(fd[0], "de");
	worker_join(&worker);
	offset_is(fd[1], 5);
	expect_text(fd[1], "abcde");
}

TEST(peek_offset_beyond_the_end)
{
	char byte;
	int fd[2];

	pair_open(fd);
	if (!offset_set(fd[1], 0x7fffffff))
		return;
	send_text(fd[0], "abc");
	wait_amount(fd[1], 3);
	FAILS(recv(fd[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	FAILS(recv(fd[1], &byte, 0, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	TRUE(offset_set(fd[1], 3));
	shutdown(fd[0], SHUT_WR);
	TRUE(wait_events(fd[1], POLLRDHUP) & POLLRDHUP);
	EQ(recv(fd[1], &byte, 1, MSG_PEEK), 0);
	expect_text(fd[1], "abc");
	expect_eof(fd[1]);
}

TEST(peek_offset_and_trunc)
{
	int fd[2];

	pair_open(fd);
	if (!offset_set(fd[1], 1))
		return;
	send_text(fd[0], "abcdefgh");
	wait_amount(fd[1], 8);
	EQ(recv(fd[1], NULL, 2, MSG_PEEK | MSG_TRUNC), 2);
	offset_is(fd[1], 3);
	EQ(recv(fd[1], NULL, 2, MSG_TRUNC), 2);
	offset_is(fd[1], 1);
	peek_text(fd[1], "de");
}

TEST(peek_offset_urgent, .applies = within_host)
{
	int fd[2];

	pair_open(fd);
	if (!offset_set(fd[1], 0))
		return;
	send_text(fd[0], "ab");
	EQ(send(fd[0], "X", 1, MSG_OOB), 1);
	send_text(fd[0], "cd");
	wait_amount(fd[1], 2);
	peek_text(fd[1], "ab");
	offset_is(fd[1], 2);
	expect_text(fd[1], "ab");
	expect_text(fd[1], "cd");
	offset_is(fd[1], 0);
}

/* Of two urgent bytes at the start, the first one is lost: it does not count */
TEST(peek_offset_urgent_lost)
{
	int fd[2];

	pair_open(fd);
	if (!offset_set(fd[1], 0))
		return;
	EQ(send(fd[0], "1", 1, MSG_OOB), 1);
	wait_events(fd[1], POLLPRI);
	EQ(send(fd[0], "2", 1, MSG_OOB), 1);
	send_text(fd[0], "abcd");
	wait_events(fd[1], POLLIN);
	TRUE(offset_set(fd[1], 3));
	peek_text(fd[1], "cd");
	offset_is(fd[1], 5);
	expect_text(fd[1], "ab");
	offset_is(fd[1], 3);
	TRUE(offset_set(fd[1], 0));
	peek_text(fd[1], "cd");
	expect_text(fd[1], "cd");
}

TEST(peek_offset_inherited)
{
	struct addr addr = server_bind_address();
	int listener = new_server(), client, fd;

	if (!offset_set(listener, 2))
		return;
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	client = connect_to(listener);
	fd = accept_from(listener);
	offset_is(fd, 2);
	send_text(client, "abcd");
	wait_amount(fd, 4);
	peek_text(fd, "cd");
}
