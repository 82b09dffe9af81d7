// SPDX-License-Identifier: GPL-2.0-only
/* Sockets are closed while the module makes them TCP */

#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "peer.h"

#define CHANGERS	2
#define SPARE		100

static int changed = -1;	/* descriptor of the socket that is about to be closed */
static bool is_over;

static long count_references(void)
{
	FILE *file = fopen("/sys/module/smc/refcnt", "r");
	long count = -1;

	TRUE(file && fscanf(file, "%ld", &count) == 1);
	fclose(file);
	return count;
}

/* Holds the lock of the socket's inode, which close() waits for, again and again */
static void change_owner(void *unused)
{
	char path[40];

	(void)unused;
	while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d",
			 __atomic_load_n(&changed, __ATOMIC_SEQ_CST));
		if (chown(path, 0, 0))
			continue;	/* closed by now */
	}
}

/*
 * Until TCP has connected the socket, and knows the round-trip time; and for some microseconds: a
 * kworker makes it TCP then
 */
static void wait_briefly(int fd, long us)
{
	struct timespec start, now;
	struct tcp_info info;
	socklen_t len;

	do {
		len = sizeof(info);
		OK(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));
	} while (!info.tcpi_rtt);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < us);
}

static int new_smc_socket(void)
{
	return OK(socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, SMCPROTO_SMC));
}

/* The server is TCP. Its answer comes when the client's connect() has returned. */
static void connect_and_close(int listener, const struct addr *to, long us)
{
	int fd = new_smc_socket(), server;

	__atomic_store_n(&changed, fd, __ATOMIC_SEQ_CST);
	FAILS(connect(fd, &to->sa, to->len), EINPROGRESS);
	wait_briefly(fd, us);
	close(fd);
	while ((server = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		close(server);
}

/* Each socket drops its reference to the module once */
TEST(closed_while_falling_back, .applies = crowd_attacks, .alone = true, .seconds = 300)
{
	int listener = OK(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), i;
	int closes = getenv("CROWD") ? atoi(getenv("CROWD")) : 10000;
	struct worker changers[CHANGERS];
	struct addr to = loopback(AF_INET, 0);
	long before;

	OK(bind(listener, &to.sa, to.len));
	OK(listen(listener, 4096));
	to = name_of(listener);
	EQ(system("tc qdisc add dev lo root netem delay 1ms"), 0);
	for (i = 0; i < SPARE; i++)	/* the kernel does not count below 0 */
		new_smc_socket();
	before = count_references();
	for (i = 0; i < CHANGERS; i++)
		worker_start(&changers[i], change_owner, NULL);
	for (i = 0; i < closes; i++)
		connect_and_close(listener, &to, i % 300);
	__atomic_store_n(&is_over, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < CHANGERS; i++)
		worker_join(&changers[i]);
	for (i = 0; i < 100 && count_references() != before; i++)
		poll(NULL, 0, 100);
	EQ(count_references(), before);
}
