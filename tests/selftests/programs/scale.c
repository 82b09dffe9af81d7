// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many connections at once, all of them between two ends in this process: they are opened, used
 * and closed, and it is told how long that took and how much memory the machine had less.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC		43
#endif

#define EVENTS		256
#define ROUNDS		2

/**
 * struct connection - both ends of a connection
 * @client: one
 * @server: the other
 */
struct connection {
	int client;
	int server;
};

/* What is sent over a connection, and back again */
struct message {
	unsigned int number;
	unsigned int round;
	char filling[56];
};

static struct {
	struct connection *all;
	unsigned int nr;
	int family;
	struct sockaddr_in addr;
} state = { .nr = 10000, .family = AF_SMC };

static void die(const char *format, ...)
{
	int error = errno;
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", strerror(error));
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* KiB that programs could still get */
static long available(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld kB", &kib) != 1)
			kib = -1;
	if (kib < 0)
		die("/proc/meminfo");
	fclose(file);
	return kib;
}

static int listening(void)
{
	socklen_t len = sizeof(state.addr);
	int fd = socket(state.family, SOCK_STREAM, 0);

	state.addr.sin_family = AF_INET;
	state.addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&state.addr, len) || listen(fd, 128) ||
	    getsockname(fd, (struct sockaddr *)&state.addr, &len))
		die("listening");
	return fd;
}

static void open_all(int listener)
{
	unsigned int i;

	for (i = 0; i < state.nr; i++) {
		struct connection *one = &state.all[i];

		one->client = socket(state.family, SOCK_STREAM, 0);
		if (one->client < 0 ||
		    connect(one->client, (struct sockaddr *)&state.addr, sizeof(state.addr)))
			die("connection %u", i);
		one->server = accept(listener, NULL, NULL);
		if (one->server < 0)
			die("accepting connection %u", i);
	}
}

static void fill(struct message *message, unsigned int number, unsigned int round)
{
	message->number = number;
	message->round = round;
	memset(message->filling, number * 7 + round, sizeof(message->filling));
}

static void ask(unsigned int number, unsigned int round)
{
	struct message message;

	fill(&message, number, round);
	if (send(state.all[number].client, &message, sizeof(message), 0) != sizeof(message))
		die("sending over connection %u", number);
}

/* The servers find out by epoll who has asked, and send the question back */
static void answer_all(int epoll)
{
	struct epoll_event events[EVENTS];
	unsigned int answered = 0;
	struct message message;
	int i, n;

	while (answered < state.nr) {
		n = epoll_wait(epoll, events, EVENTS, 20000);
		if (n <= 0)
			die("%u connections have not asked", state.nr - answered);
		for (i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (recv(fd, &message, sizeof(message), MSG_WAITALL) != sizeof(message) ||
			    send(fd, &message, sizeof(message), 0) != sizeof(message))
				die("answering");
			answered++;
		}
	}
	if (epoll_wait(epoll, events, 1, 0))
		die("more have asked than there are");
}

static void check(unsigned int number, unsigned int round)
{
	struct message wanted, got;

	fill(&wanted, number, round);
	if (recv(state.all[number].client, &got, sizeof(got), MSG_WAITALL) != sizeof(got))
		die("the answer over connection %u", number);
	errno = EBADMSG;
	if (memcmp(&wanted, &got, sizeof(got)))
		die("connection %u has the answer to %u", number, got.number);
}

static void use_all(void)
{
	int epoll = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int i, round;

	for (i = 0; i < state.nr; i++) {
		event.data.fd = state.all[i].server;
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event))
			die("epoll");
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < state.nr; i++)
			ask(i, round);
		answer_all(epoll);
		for (i = 0; i < state.nr; i++)
			check(i, round);
	}
	close(epoll);
}

static void close_all(void)
{
	unsigned int i;
	char byte;

	for (i = 0; i < state.nr; i++) {
		close(state.all[i].client);
		if (recv(state.all[i].server, &byte, 1, 0))
			die("the end of connection %u", i);
		close(state.all[i].server);
	}
}

static void parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:t")) != -1) {
		if (opt == 'n') {
			state.nr = atoi(optarg);
		} else if (opt == 't') {
			state.family = AF_INET;
		} else {
			fprintf(stderr, "usage: scale [-t] [-n CONNECTIONS]\n  -t  over TCP\n");
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	double start, opened, used, closed;
	struct rlimit limit;
	long before, idle;
	int listener;

	parse(argc, argv);
	limit.rlim_cur = 2 * state.nr + 100;
	limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("%lu descriptors", (unsigned long)limit.rlim_cur);
	state.all = calloc(state.nr, sizeof(*state.all));
	listener = listening();

	before = available();
	start = now();
	open_all(listener);
	opened = now();
	idle = before - available();
	use_all();
	used = now();
	close_all();
	closed = now();
	printf("# %u connections opened in %.1f s, used %d times in %.1f s, closed in %.1f s\n",
	       state.nr, opened - start, ROUNDS, used - opened, closed - used);
	printf("# memory while idle: %ld MiB, %.1f KiB for both ends of one\n", idle >> 10,
	       (double)idle / state.nr);
	return 0;
}
