// SPDX-License-Identifier: GPL-2.0-only
/* splice(), sendfile() and friends */

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "pair.h"

#define FILE_BYTES	(300 * 1000)
#define ACCESS_AROUND	65536UL

static int pattern_file(void)
{
	static char buf[FILE_BYTES];
	int fd = OK(memfd_create("pattern", MFD_CLOEXEC));

	pattern_fill(buf, sizeof(buf), 0);
	EQ(write(fd, buf, sizeof(buf)), sizeof(buf));
	OK(lseek(fd, 0, SEEK_SET));
	return fd;
}

static void fill_pipe(int fd, const char *text)
{
	EQ(write(fd, text, strlen(text)), strlen(text));
}

static char *map(int flags, int file)
{
	char *memory = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, flags, file, 0);

	TRUE(memory != MAP_FAILED);
	return memory;
}

/* A first access brings in the pages around it, but not beyond such an address */
static char *next_boundary(char *memory)
{
	return (char *)(((uintptr_t)memory + 2 * ACCESS_AROUND - 1) & -ACCESS_AROUND);
}

/*
 * Calls of all sizes for which a short way is taken, or just not. The second half of the program's
 * memory is not there: the call begins again. The ring ends within some of them.
 */
TEST(memory_half_absent)
{
	char *from = map(MAP_SHARED, pattern_file()), *to = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int fd[2];
	size_t len;

	pair_with_buffers(fd, 65536);
	for (len = 100; len < 25000; len += 937) {
		char *source = next_boundary(from) - len / 2, *target = next_boundary(to) - len / 2;

		OK(madvise(from, FILE_BYTES, MADV_DONTNEED));
		OK(madvise(to, FILE_BYTES, MADV_DONTNEED));
		(void)*(volatile char *)source;
		memset(target, 1, len / 2);
		EQ(send(fd[0], source, len, 0), len);
		recv_all(fd[1], target, len);
		pattern_check(target, len, source - from);
	}
	OK(munmap(from, FILE_BYTES));
	OK(munmap(to, FILE_BYTES));
}

TEST(splice_out)
{
	char buf[16] = "";
	int fd[2], pipe[2];

	pair_open(fd);
	OK(pipe2(pipe, O_CLOEXEC));
	send_text(fd[0], "through a pipe");
	wait_amount(fd[1], 14);
	EQ(splice(fd[1], NULL, pipe[1], NULL, 7, 0), 7);
	EQ(splice(fd[1], NULL, pipe[1], NULL, 100, 0), 7);
	EQ(read(pipe[0], buf, 16), 14);
	TRUE(!memcmp(buf, "through a pipe", 14));
	OK(shutdown(fd[0], SHUT_WR));
	EQ(splice(fd[1], NULL, pipe[1], NULL, 100, 0), 0);
}

TEST(splice_out_waits)
{
	char buf[16] = "";
	int fd[2], pipe[2];

	pair_open(fd);
	OK(pipe2(pipe, O_CLOEXEC));
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "late");
		_exit(0);
	}
	EQ(splice(fd[1], NULL, pipe[1], NULL, 100, 0), 4);
	EQ(read(pipe[0], buf, 16), 4);
	TRUE(!memcmp(buf, "late", 4));
}

TEST(splice_out_nonblocking)
{
	int fd[2], pipe[2];

	pair_open(fd);
	OK(pipe2(pipe, O_CLOEXEC));
	nonblock(fd[1]);
	FAILS(splice(fd[1], NULL, pipe[1], NULL, 100, 0), EAGAIN);
}

TEST(splice_in)
{
	int fd[2], pipe[2];

	pair_open(fd);
	OK(pipe2(pipe, O_CLOEXEC));
	fill_pipe(pipe[1], "from a pipe");
	EQ(splice(pipe[0], NULL, fd[0], NULL, 4, SPLICE_F_MORE), 4);
	EQ(splice(pipe[0], NULL, fd[0], NULL, 100, 0), 7);
	wait_amount(fd[1], 11);
	expect_text(fd[1], "from a pipe");
}

TEST(splice_in_to_closed)
{
	int fd[2], pipe[2];

	pair_open(fd);
	OK(pipe2(pipe, O_CLOEXEC));
	OK(shutdown(fd[0], SHUT_WR));
	fill_pipe(pipe[1], "x");
	signal(SIGPIPE, SIG_IGN);
	FAILS(splice(pipe[0], NULL, fd[0], NULL, 100, 0), EPIPE);
}

TEST(splice_between_sockets)
{
	static char buf[65536];
	int from[2], to[2], pipe[2];
	size_t sent, moved = 0;

	pair_with_buffers(from, 65536);
	pair_with_buffers(to, 65536);
	OK(pipe2(pipe, O_CLOEXEC));
	sent = send_until_full(from[0], 0);
	OK(shutdown(from[0], SHUT_WR));
	if (!fork()) {
		drain(to[1], sent, 0);
		send_text(to[1], "done");
		_exit(0);
	}
	for (;;) {
		ssize_t n = OK(splice(from[1], NULL, pipe[1], NULL, sizeof(buf), SPLICE_F_MOVE));

		if (!n)
			break;
		moved += n;
		while (n)
			n -= OK(splice(pipe[0], NULL, to[0], NULL, n, SPLICE_F_MOVE));
	}
	EQ(moved, sent);
	expect_text(to[0], "done");
}

TEST(splice_gift)
{
	char text[] = "given away";
	struct iovec iov = { text, 10 };
	int fd[2], pipe[2];

	pair_open(fd);
	OK(pipe2(pipe, O_CLOEXEC));
	EQ(vmsplice(pipe[1], &iov, 1, 0), 10);
	EQ(splice(pipe[0], NULL, fd[0], NULL, 10, 0), 10);
	wait_amount(fd[1], 10);
	expect_text(fd[1], "given away");
}

TEST(splice_tee)
{
	char buf[8] = "";
	int fd[2], one[2], two[2];

	pair_open(fd);
	OK(pipe2(one, O_CLOEXEC));
	OK(pipe2(two, O_CLOEXEC));
	send_text(fd[0], "twice");
	wait_amount(fd[1], 5);
	EQ(splice(fd[1], NULL, one[1], NULL, 5, 0), 5);
	EQ(tee(one[0], two[1], 5, 0), 5);
	EQ(splice(one[0], NULL, fd[1], NULL, 5, 0), 5);
	EQ(read(two[0], buf, 8), 5);
	TRUE(!memcmp(buf, "twice", 5));
	expect_text(fd[0], "twice");
}

/* What was spliced stays as it was when more data comes, and is read after the end */
TEST(splice_keeps_data)
{
	static char buf[30000];
	int fd[2], pipe[2], i;

	pair_with_buffers(fd, 32768);
	OK(pipe2(pipe, O_CLOEXEC));
	OK(fcntl(pipe[1], F_SETPIPE_SZ, 1 << 20));
	pattern_fill(buf, sizeof(buf), 0);
	send_all(fd[0], buf, 10000);
	wait_amount(fd[1], 10000);
	EQ(splice(fd[1], NULL, pipe[1], NULL, 10000, 0), 10000);
	for (i = 0; i < 10; i++) {
		memset(buf, 0xee, sizeof(buf));
		send_all(fd[0], buf, 10000);
		EQ(recv(fd[1], buf, 10000, MSG_WAITALL), 10000);
	}
	close(fd[0]);
	close(fd[1]);
	for (i = 0; i < 10000; ) {
		ssize_t n = OK(read(pipe[0], buf, sizeof(buf)));

		pattern_check(buf, n, i);
		i += n;
	}
}

TEST(sendfile_all)
{
	int fd[2], file = pattern_file(), status;
	off_t offset = 0;
	pid_t pid;

	pair_with_buffers(fd, 32768);
	pid = fork();
	if (!pid) {
		drain(fd[1], FILE_BYTES, 0);
		drain(fd[1], 1000, 5000);
		_exit(0);
	}
	EQ(sendfile(fd[0], file, NULL, FILE_BYTES), FILE_BYTES);
	EQ(lseek(file, 0, SEEK_CUR), FILE_BYTES);
	EQ(sendfile(fd[0], file, NULL, 100), 0);
	offset = 5000;
	EQ(sendfile(fd[0], file, &offset, 1000), 1000);
	EQ(offset, 6000);
	OK(waitpid(pid, &status, 0));
	EQ(status, 0);
}

TEST(sendfile_nonblocking)
{
	int fd[2], file = pattern_file();
	size_t sent = 0, received = 0;
	off_t offset = 0;

	pair_with_buffers(fd, 32768);
	nonblock(fd[0]);
	while (sent < FILE_BYTES) {
		ssize_t n = sendfile(fd[0], file, &offset, FILE_BYTES - sent);

		if (n < 0) {
			EQ(errno, EAGAIN);
			wait_events(fd[1], POLLIN);
			drain(fd[1], 1, received++);
			if (sent - received > 5000) {
				drain(fd[1], 5000, received);
				received += 5000;
			}
			continue;
		}
		sent += n;
		EQ(offset, sent);
	}
	drain(fd[1], sent - received, received);
	expect_nothing(fd[1]);
}

TEST(sendfile_to_file)
{
	char buf[4096];
	int fd[2], pipe[2], file = OK(memfd_create("copy", 0));
	loff_t where = 0;

	pair_open(fd);
	OK(pipe2(pipe, O_CLOEXEC));
	pattern_fill(buf, sizeof(buf), 0);
	send_all(fd[0], buf, sizeof(buf));
	wait_amount(fd[1], sizeof(buf));
	EQ(splice(fd[1], NULL, pipe[1], NULL, sizeof(buf), 0), sizeof(buf));
	EQ(splice(pipe[0], NULL, file, &where, sizeof(buf), 0), sizeof(buf));
	EQ(pread(file, buf, sizeof(buf), 0), sizeof(buf));
	pattern_check(buf, sizeof(buf), 0);
}
