// SPDX-License-Identifier: GPL-2.0-only
/*
 * plain_tcp - a program that asks for TCP and cannot be preloaded: it is linked statically
 *
 *   plain_tcp serve PORT               accept one connection, send back what comes
 *   plain_tcp talk ADDRESS PORT [HOW]  send a megabyte in pieces, and receive each again
 *   plain_tcp protocol [FAMILY TYPE PROTOCOL]
 *                                      the protocol of a socket that is asked for so
 *   plain_tcp open COUNT               open and close TCP sockets; 1 if one fails
 *   plain_tcp uring                    the protocol of a socket that io_uring has made
 *
 * HOW is what happens between socket() and connect(): "wait" for a line on standard input, "exec"
 * this program again, "fork" and let the child go on. The first line of output is the socket's
 * protocol.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SOL_SMC
#define SOL_SMC		286
#endif
#ifndef SMC_LIMIT_HS
#define SMC_LIMIT_HS	1
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

#define TOTAL	(1 << 20)
#define CHUNK	(16 << 10)

static void print_protocol(int fd)
{
	int value, protocol = -1;
	socklen_t len = sizeof(protocol);

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len))
		err(1, "SO_PROTOCOL");
	/* An SMC socket says that it is TCP, but only it knows this level */
	if (!getsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &value, &len))
		protocol = IPPROTO_SMC;
	printf("%d\n", protocol);
	fflush(stdout);
}

static void fill_address(struct sockaddr_in6 *addr, const char *host, const char *port)
{
	char mapped[INET6_ADDRSTRLEN + 8];

	memset(addr, 0, sizeof(*addr));
	addr->sin6_family = AF_INET6;
	addr->sin6_port = htons(atoi(port));
	snprintf(mapped, sizeof(mapped), "%s%s", strchr(host, ':') ? "" : "::ffff:", host);
	if (inet_pton(AF_INET6, mapped, &addr->sin6_addr) != 1)
		errx(1, "no address: %s", host);
}

static void write_all(int fd, const char *data, size_t len)
{
	ssize_t sent;

	for (; len; data += sent, len -= sent) {
		sent = write(fd, data, len);
		if (sent <= 0)
			err(1, "write");
	}
}

static int serve(const char *port)
{
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP), child, one = 1;
	struct sockaddr_in6 addr;
	static char data[CHUNK];
	ssize_t len;

	print_protocol(fd);
	fill_address(&addr, "::", port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 8))
		err(1, "port %s", port);
	child = accept(fd, NULL, NULL);
	if (child < 0)
		err(1, "accept");
	while ((len = read(child, data, sizeof(data))) > 0)
		write_all(child, data, len);
	return len ? 1 : 0;
}

/* One chunk after the other, so that no buffer fills up in both directions */
static int exchange(int fd, const char *host, const char *port)
{
	static char out[CHUNK], in[CHUNK];
	struct sockaddr_in6 addr;
	size_t sent;

	fill_address(&addr, host, port);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "connect to %s", host);
	for (sent = 0; sent < TOTAL; sent += CHUNK) {
		memset(out, sent / CHUNK, sizeof(out));
		write_all(fd, out, sizeof(out));
		if (recv(fd, in, sizeof(in), MSG_WAITALL) != CHUNK || memcmp(in, out, CHUNK))
			errx(1, "the data is wrong");
	}
	puts("done");
	return 0;
}

static int go_on(int fd, const char *host, const char *port, const char *how)
{
	char line[8], number[16];
	int status;

	if (!strcmp(how, "wait") && !fgets(line, sizeof(line), stdin))
		return 1;
	if (!strcmp(how, "exec")) {
		snprintf(number, sizeof(number), "%d", fd);
		execl("/proc/self/exe", "plain_tcp", "continue", number, host, port, NULL);
		err(1, "exec");
	}
	if (!strcmp(how, "fork") && fork()) {
		close(fd);
		return wait(&status) < 0 || status;
	}
	return exchange(fd, host, port);
}

static int talk(const char *host, const char *port, const char *how)
{
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket");
	print_protocol(fd);
	return go_on(fd, host, port, how);
}

static int ask(int family, int type, int protocol)
{
	int fd = socket(family, type, protocol);

	if (fd < 0)
		err(1, "socket");
	print_protocol(fd);
	return 0;
}

static int open_many(long count)
{
	long i;
	int fd;

	for (i = 0; i < count; i++) {
		fd = socket(i & 1 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
		if (fd < 0)
			err(1, "socket %ld", i);
		close(fd);
	}
	return 0;
}

/* Where the kernel has put something of the ring that it made */
static unsigned int *at(void *ring, unsigned int offset)
{
	return (unsigned int *)((char *)ring + offset);
}

static int make_by_uring(void)
{
	struct io_uring_params params = { };
	struct io_uring_sqe *sqe;
	void *sq, *cq;
	size_t size;
	int ring;

	ring = syscall(__NR_io_uring_setup, 1, &params);
	if (ring < 0)
		err(1, "io_uring");
	size = getpagesize();
	sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	cq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || sqe == MAP_FAILED)
		err(1, "rings");
	sqe->opcode = IORING_OP_SOCKET;
	sqe->fd = AF_INET;
	sqe->off = SOCK_STREAM;
	*at(sq, params.sq_off.array) = 0;
	__atomic_store_n(at(sq, params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		err(1, "io_uring_enter");
	print_protocol(((struct io_uring_cqe *)at(cq, params.cq_off.cqes))->res);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "talk"))
		return talk(argv[2], argv[3], argc == 5 ? argv[4] : "");
	if (argc == 5 && !strcmp(argv[1], "continue"))
		return exchange(atoi(argv[2]), argv[3], argv[4]);
	if (argc == 2 && !strcmp(argv[1], "protocol"))
		return ask(AF_INET, SOCK_STREAM, 0);
	if (argc == 5 && !strcmp(argv[1], "protocol"))
		return ask(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	if (argc == 3 && !strcmp(argv[1], "open"))
		return open_many(atol(argv[2]));
	if (argc == 2 && !strcmp(argv[1], "uring"))
		return make_by_uring();
	errx(2, "see the first lines of the source");
}
