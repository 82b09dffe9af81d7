// SPDX-License-Identifier: GPL-2.0-only
/* One socket in several hands: threads, processes, duplicates, passed descriptors */

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "pair.h"

#define BIG		(1 << 20)
#define RECORD		64	/* small enough to be sent in one piece */
#define RECORDS		2000
#define THREADS		4

/**
 * struct receiver - one call of recv() in a thread
 * @fd: the socket
 * @flags: of the call
 * @got: what it returned
 * @buf: what it received
 */
struct receiver {
	int fd;
	int flags;
	ssize_t got;
	char buf[16];
};

static void wait_child(pid_t pid)
{
	int status;

	OK(waitpid(pid, &status, 0));
	EQ(status, 0);
}

TEST(dup_shares)
{
	int fd[2], copy;

	pair_open(fd);
	copy = OK(dup(fd[0]));
	send_text(copy, "one");
	close(fd[0]);
	send_text(copy, "two");
	wait_amount(fd[1], 6);
	expect_text(fd[1], "onetwo");
	nonblock(copy);
	close(copy);
	expect_eof(fd[1]);
}

TEST(fork_shares)
{
	int fd[2];
	pid_t pid;

	pair_open(fd);
	pid = fork();
	if (!pid) {
		expect_text(fd[0], "to the child");
		send_text(fd[0], "from the child");
		_exit(0);
	}
	close(fd[0]);
	send_text(fd[1], "to the child");
	expect_text(fd[1], "from the child");
	wait_child(pid);
	expect_eof(fd[1]);	/* the last one has closed it */
}

TEST(exit_closes)
{
	int fd[2];
	pid_t pid;

	pair_open(fd);
	pid = fork();
	if (!pid)
		pause();
	close(fd[0]);
	kill(pid, SIGKILL);
	expect_eof(fd[1]);
}

TEST(exit_with_unread_data_resets)
{
	char byte;
	int fd[2];
	pid_t pid;

	pair_open(fd);
	send_text(fd[1], "unread");
	wait_amount(fd[0], 6);
	pid = fork();
	if (!pid)
		pause();
	close(fd[0]);
	kill(pid, SIGKILL);
	wait_events(fd[1], POLLERR);
	FAILS(recv(fd[1], &byte, 1, 0), ECONNRESET);
}

TEST(descriptor_passed)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fd[2], unix_pair[2], got;

	pair_open(fd);
	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair));
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd[0], sizeof(int));
	EQ(sendmsg(unix_pair[0], &msg, 0), 1);
	close(fd[0]);
	EQ(recvmsg(unix_pair[1], &msg, 0), 1);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	send_text(got, "passed on");
	expect_text(fd[1], "passed on");
}

/* A descriptor on its way when nobody is left to take it: the connection ends */
TEST(descriptor_passed_to_nobody)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fd[2], unix_pair[2];

	pair_open(fd);
	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair));
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd[0], sizeof(int));
	EQ(sendmsg(unix_pair[0], &msg, 0), 1);
	close(fd[0]);
	close(unix_pair[0]);
	close(unix_pair[1]);
	expect_eof(fd[1]);
}

static void fill_record(char *record, int writer, int number)
{
	pattern_fill(record, RECORD, writer * 1000003ull + number * 64ull);
	memcpy(record, &writer, sizeof(writer));
	memcpy(record + sizeof(writer), &number, sizeof(number));
}

struct record_writer {
	struct worker worker;
	int fd;
	int id;
};

static void write_records(void *arg)
{
	struct record_writer *w = arg;
	char record[RECORD];
	int i;

	for (i = 0; i < RECORDS; i++) {
		fill_record(record, w->id, i);
		send_all(w->fd, record, RECORD);
	}
}

/* Each send() is in one piece, and those of one thread are in order */
TEST(several_writers)
{
	struct record_writer w[THREADS];
	char record[RECORD], expected[RECORD];
	int fd[2], i, next[THREADS] = {};

	pair_open(fd);
	for (i = 0; i < THREADS; i++) {
		w[i].fd = fd[0];
		w[i].id = i;
		worker_start(&w[i].worker, write_records, &w[i]);
	}
	for (i = 0; i < THREADS * RECORDS; i++) {
		int id;

		recv_all(fd[1], record, RECORD);
		memcpy(&id, record, sizeof(id));
		TRUE(id >= 0 && id < THREADS);
		fill_record(expected, id, next[id]++);
		TRUE(!memcmp(record, expected, RECORD));
	}
	for (i = 0; i < THREADS; i++)
		worker_join(&w[i].worker);
	expect_nothing(fd[1]);
}

struct byte_counter {
	struct worker worker;
	int fd;
	uint64_t bytes;
	uint64_t sum;
};

static void count_bytes(void *arg)
{
	struct byte_counter *c = arg;
	uint8_t buf[3001];
	ssize_t n;

	while ((n = OK(recv(c->fd, buf, sizeof(buf), 0))) > 0) {
		c->bytes += n;
		while (n--)
			c->sum += buf[n];
	}
}

/* Every byte goes to exactly one reader; all see the end */
TEST(several_readers)
{
	static uint8_t buf[20000];
	struct byte_counter c[THREADS] = {};
	uint64_t bytes = 0, sum = 0;
	int fd[2], i;
	size_t j;

	pair_with_buffers(fd, 65536);
	for (i = 0; i < THREADS; i++) {
		c[i].fd = fd[1];
		worker_start(&c[i].worker, count_bytes, &c[i]);
	}
	for (i = 0; i < 100; i++) {
		pattern_fill(buf, sizeof(buf), i * sizeof(buf));
		for (j = 0; j < sizeof(buf); j++)
			sum += buf[j];
		send_all(fd[0], buf, sizeof(buf));
	}
	OK(shutdown(fd[0], SHUT_WR));
	for (i = 0; i < THREADS; i++) {
		worker_join(&c[i].worker);
		bytes += c[i].bytes;
		sum -= c[i].sum;
	}
	EQ(bytes, 100 * sizeof(buf));
	EQ(sum, 0);
}

static void send_megabyte(void *arg)
{
	char *buf = malloc(BIG);

	pattern_fill(buf, BIG, 0);
	send_all(*(int *)arg, buf, BIG);
	free(buf);
}

/* All four blocked in turn by small buffers */
TEST(both_directions_at_once)
{
	struct worker one, two;
	struct worker *workers[] = { &one, &two };
	int fd[2], i;
	pid_t pid;

	pair_with_buffers(fd, 32768);
	worker_start(&one, send_megabyte, &fd[0]);
	worker_start(&two, send_megabyte, &fd[1]);
	pid = fork();
	if (!pid) {
		drain(fd[0], BIG, 0);
		_exit(0);
	}
	drain(fd[1], BIG, 0);
	for (i = 0; i < 2; i++)
		worker_join(workers[i]);
	wait_child(pid);
}

/* close() by one thread does not end a call of another one, as with TCP */
static void receive_late(void *arg)
{
	char byte = 0;

	EQ(recv(*(int *)arg, &byte, 1, 0), 1);
	EQ(byte, 'x');
}

TEST(close_under_reader)
{
	struct worker worker;
	int fd[2], reader;

	pair_open(fd);
	reader = fd[1];
	worker_start(&worker, receive_late, &reader);
	worker_asleep(&worker);
	close(fd[1]);
	send_text(fd[0], "x");
	worker_join(&worker);
	expect_eof(fd[0]);
}

static void spin_poll(void *arg)
{
	struct byte_counter *c = arg;

	while (!__atomic_load_n(&c->bytes, __ATOMIC_RELAXED)) {
		struct pollfd pfd = { .fd = c->fd, .events = POLLIN | POLLOUT };
		int n;

		OK(poll(&pfd, 1, 0));
		OK(ioctl(c->fd, FIONREAD, &n));
		get_int(c->fd, SOL_SOCKET, SO_ERROR);
	}
}

/* One that is woken by data, and runs only when everybody else waits */
static void receive_when_idle(void *arg)
{
	struct receiver *r = arg;
	struct sched_param param = { .sched_priority = 0 };

	OK(sched_setscheduler(0, SCHED_IDLE, &param));
	r->got = recv(r->fd, r->buf, sizeof(r->buf), r->flags);
}

static void run_on_one_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	OK(sched_setaffinity(0, sizeof(set), &set));
}

/*
 * connect(AF_UNSPEC) waits for a receiver to leave before it gives the ring back. Over SMC-R each
 * may lose an element, if the peer has not answered, and a client ends a group that has lost many.
 */
TEST(disconnect_under_woken_reader, .alone = true, .applies = only_smc)
{
	static const int flags[] = { MSG_WAITALL, MSG_WAITALL | MSG_PEEK };
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) };
	unsigned int i;

	run_on_one_processor();
	for (i = 0; i < 40; i++) {
		struct receiver r = { .flags = flags[i % 2] };
		struct worker worker;
		int fd[2];

		pair_open_in_any_group(fd);
		r.fd = fd[0];
		worker_start(&worker, receive_when_idle, &r);
		worker_asleep(&worker);
		send_text(fd[1], "12345");
		OK(connect(fd[0], &none.sa, none.len));
		worker_join(&worker);
		TRUE(r.got == -1 || (r.got == 5 && !memcmp(r.buf, "12345", 5)));
		pair_close(fd);
	}
}

/* Questions about the state while data moves */
TEST(asked_while_busy)
{
	struct byte_counter c[2] = {};
	struct worker sender;
	int fd[2], i;

	pair_with_buffers(fd, 32768);
	for (i = 0; i < 2; i++) {
		c[i].fd = fd[i];
		worker_start(&c[i].worker, spin_poll, &c[i]);
	}
	worker_start(&sender, send_megabyte, &fd[0]);
	drain(fd[1], BIG, 0);
	worker_join(&sender);
	for (i = 0; i < 2; i++) {
		__atomic_store_n(&c[i].bytes, 1, __ATOMIC_RELAXED);
		worker_join(&c[i].worker);
	}
}

/* Sending and the end race with each other: the reader gets a prefix, then the end */
static void send_and_stop(void *arg)
{
	static uint8_t buf[4096];
	int fd = *(int *)arg;
	uint64_t offset = 0;

	for (;;) {
		ssize_t n;

		pattern_fill(buf, sizeof(buf), offset);
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n < 0)
			break;
		offset += n;
	}
	EQ(errno, EPIPE);
}

TEST(shutdown_under_writer)
{
	static uint8_t buf[4096];
	struct worker worker;
	uint64_t offset = 0;
	int fd[2], i;
	ssize_t n;

	for (i = 0; i < 5; i++) {
		pair_with_buffers(fd, 32768);
		worker_start(&worker, send_and_stop, &fd[0]);
		recv_all(fd[1], buf, 1000);
		OK(shutdown(fd[0], SHUT_WR));
		pattern_check(buf, 1000, 0);
		for (offset = 1000; (n = OK(recv(fd[1], buf, sizeof(buf), 0))) > 0; offset += n)
			pattern_check(buf, n, offset);
		worker_join(&worker);
		pair_close(fd);
	}
}

/**
 * struct refusal - a listener which another thread makes a TCP socket meanwhile
 * @fd: the socket
 * @start: both threads begin together
 */
struct refusal {
	int fd;
	pthread_barrier_t start;
};

/* TCP has no such ULP; a program that asks for one wants TCP's byte stream */
static void ask_for_ulp(void *arg)
{
	struct refusal *r = arg;

	pthread_barrier_wait(&r->start);
	EQ(setsockopt(r->fd, SOL_TCP, TCP_ULP, "none", 4), -1);
}

/* Data in the SYN are for TCP alone; without an address there is no SYN */
static void send_with_syn(void *arg)
{
	struct refusal *r = arg;

	pthread_barrier_wait(&r->start);
	EQ(send(r->fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL), -1);
}

/* The socket is SMC or TCP afterwards, never both: connections arrive, and close() frees it */
static void listen_beside(void (*refuse)(void *arg))
{
	struct refusal r;
	struct worker worker;
	int i, client, server;

	OK(pthread_barrier_init(&r.start, NULL, 2));
	for (i = 0; i < 40; i++) {
		struct addr any = server_bind_address();

		r.fd = new_server();
		OK(bind(r.fd, &any.sa, any.len));
		worker_start(&worker, refuse, &r);
		pthread_barrier_wait(&r.start);
		OK(listen(r.fd, 5));
		worker_join(&worker);
		client = connect_to(r.fd);
		server = accept_from(r.fd);
		send_text(client, "here");
		expect_text(server, "here");
		close(client);
		close(server);
		close(r.fd);
	}
}

TEST(listen_while_falling_back)
{
	listen_beside(ask_for_ulp);
}

TEST(listen_while_sending_with_syn)
{
	listen_beside(send_with_syn);
}
