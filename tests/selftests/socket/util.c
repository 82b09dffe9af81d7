// SPDX-License-Identifier: GPL-2.0-only
/* Data, options, polling, threads and signals for the tests */

#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "pair.h"

#define WAIT_MS		scaled(60000)	/* a condition that has not come true by then never will */

long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
}

static uint8_t pattern_byte(uint64_t offset)
{
	return (offset * 0x9e3779b97f4a7c15ULL) >> 56;
}

void pattern_fill(void *buf, size_t len, uint64_t offset)
{
	uint8_t *bytes = buf;
	size_t i;

	for (i = 0; i < len; i++)
		bytes[i] = pattern_byte(offset + i);
}

void pattern_check(const void *buf, size_t len, uint64_t offset)
{
	const uint8_t *bytes = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (bytes[i] != pattern_byte(offset + i))
			FAIL("byte %llu of the stream is 0x%02x, not 0x%02x",
			     (unsigned long long)offset + i, bytes[i], pattern_byte(offset + i));
}

void send_all(int fd, const void *buf, size_t len)
{
	while (len) {
		ssize_t n = OK(send(fd, buf, len, MSG_NOSIGNAL));

		buf = (const char *)buf + n;
		len -= n;
	}
}

void recv_all(int fd, void *buf, size_t len)
{
	while (len) {
		ssize_t n = OK(recv(fd, buf, len, 0));

		if (!n)
			FAIL("end of stream, %zu bytes missing", len);
		buf = (char *)buf + n;
		len -= n;
	}
}

void send_text(int fd, const char *text)
{
	EQ(OK(send(fd, text, strlen(text), MSG_NOSIGNAL)), strlen(text));
}

void expect_text(int fd, const char *text)
{
	wait_events(fd, POLLIN);
	expect_text_now(fd, text);
}

void expect_text_now(int fd, const char *text)
{
	char buf[256] = "";
	size_t len = strlen(text);

	EQ(recv(fd, buf, len, MSG_DONTWAIT), len);
	if (memcmp(buf, text, len))
		FAIL("received \"%s\", not \"%s\"", buf, text);
}

void expect_eof(int fd)
{
	char byte;

	wait_events(fd, POLLIN);
	EQ(OK(recv(fd, &byte, 1, 0)), 0);
}

void expect_nothing(int fd)
{
	char byte;

	FAILS(recv(fd, &byte, 1, MSG_DONTWAIT), EAGAIN);
}

static uint32_t unacknowledged(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	OK(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));
	return info.tcpi_unacked;
}

/* TCP moves data on in the background; each acknowledgment may make room */
static void let_it_settle(int fd)
{
	long end = now_ms() + WAIT_MS;

	if (!is_tcp(fd))
		return;
	while (unacknowledged(fd) && !(events_now(fd) & POLLOUT) && now_ms() < end)
		pause_briefly();
}

size_t send_until_full(int fd, uint64_t offset)
{
	static uint8_t buf[65536];
	size_t total = 0;
	int failures = 0;

	while (failures < 2) {
		ssize_t n;

		pattern_fill(buf, sizeof(buf), offset + total);
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			total += n;
			failures = 0;
			continue;
		}
		EQ(errno, EAGAIN);
		failures++;
		let_it_settle(fd);
	}
	return total;
}

size_t send_until_full_again(int fd, size_t before)
{
	size_t sent = send_until_full(fd, 0);

	while (sent < before && !is_tcp(fd)) {
		pause_briefly();
		sent += send_until_full(fd, sent);
	}
	return sent;
}

void drain(int fd, size_t bytes, uint64_t offset)
{
	static uint8_t buf[65536];

	while (bytes) {
		size_t want = bytes < sizeof(buf) ? bytes : sizeof(buf);
		ssize_t n = OK(recv(fd, buf, want, 0));

		if (!n)
			FAIL("end of stream, %zu bytes missing", bytes);
		pattern_check(buf, n, offset);
		offset += n;
		bytes -= n;
	}
}

static int find_tcp_state(const char *path, unsigned int local, unsigned int peer)
{
	unsigned int from = 0, to = 0, state = 0;
	FILE *f = fopen(path, "re");
	bool found = false;
	char line[300];

	if (!f)		/* without IPv6 */
		return TCP_CLOSE;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%x %x", &from, &to,
			       &state) == 3 && from == local && to == peer;
	fclose(f);
	return found ? state : TCP_CLOSE;
}

int tcp_state_of_ports(int local, int peer)
{
	int state = TCP_CLOSE, tries;

	/* The kernel may leave out a line where others vanish meanwhile */
	for (tries = 0; tries < 3 && state == TCP_CLOSE; tries++) {
		state = find_tcp_state("/proc/net/tcp", local, peer);
		if (state == TCP_CLOSE)
			state = find_tcp_state("/proc/net/tcp6", local, peer);
	}
	return state;
}

int tcp_state(int fd)
{
	struct addr name = name_of(fd), peer = { .len = name.len };

	/* Other than getpeername(), this works in every state */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &peer.sa, &peer.len)) {
		EQ(errno, ENOTCONN);
		return TCP_CLOSE;
	}
	return tcp_state_of_ports(port_of(&name), port_of(&peer));
}

void nonblock(int fd)
{
	int flags = OK(fcntl(fd, F_GETFL));

	OK(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

void set_int(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		FAIL("setsockopt(%d, %d, %d): %s", level, name, value, strerrorname_np(errno));
}

int get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = 0;

	if (getsockopt(fd, level, name, &value, &len))
		FAIL("getsockopt(%d, %d): %s", level, name, strerrorname_np(errno));
	return value;
}

void set_linger(int fd, int on, int seconds)
{
	struct linger linger = { .l_onoff = on, .l_linger = seconds };

	OK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

void set_timeout(int fd, int name, int milliseconds)
{
	struct timeval time = { milliseconds / 1000, milliseconds % 1000 * 1000 };

	OK(setsockopt(fd, SOL_SOCKET, name, &time, sizeof(time)));
}

int socket_error(int fd)
{
	return get_int(fd, SOL_SOCKET, SO_ERROR);
}

#define ALL_EVENTS	(POLLIN | POLLPRI | POLLOUT | POLLRDNORM | POLLRDBAND | POLLWRNORM | \
			 POLLWRBAND | POLLRDHUP)

short events_now(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = ALL_EVENTS };

	OK(poll(&pfd, 1, 0));
	return pfd.revents;
}

short wait_events(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	long start = now_ms();

	if (!OK(poll(&pfd, 1, WAIT_MS)))
		FAIL("waited in vain for events 0x%x; there are 0x%x", events, events_now(fd));
	if (now_ms() - start >= WAIT_MS)
		FAIL("nobody told of events 0x%x", pfd.revents);
	/* poll() returns for POLLHUP and POLLERR, too: after shutdown() of both, at once */
	while (!(pfd.revents & events)) {
		if (now_ms() - start >= WAIT_MS)
			FAIL("waited in vain for events 0x%x; there are 0x%x", events,
			     events_now(fd));
		pause_briefly();
		OK(poll(&pfd, 1, 0));
	}
	return events_now(fd);
}

void wait_reset(int fd)
{
	wait_events(fd, POLLERR);
	while (tcp_state(fd) != TCP_CLOSE)
		pause_briefly();
}

void wait_amount(int fd, int bytes)
{
	long end = now_ms() + WAIT_MS;
	int amount;

	for (;;) {
		OK(ioctl(fd, FIONREAD, &amount));
		if (amount >= bytes)
			return;
		if (now_ms() > end)
			FAIL("waited in vain for %d bytes; there are %d", bytes, amount);
		pause_briefly();
	}
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;

	__atomic_store_n(&worker->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	worker->body(worker->arg);
	__atomic_store_n(&worker->done, true, __ATOMIC_RELEASE);
	return NULL;
}

void worker_start(struct worker *worker, void (*body)(void *arg), void *arg)
{
	*worker = (struct worker){ .body = body, .arg = arg };
	EQ(pthread_create(&worker->thread, NULL, worker_main, worker), 0);
}

static bool is_asleep(pid_t tid)
{
	char path[64], line[512] = "", state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 1, " %c", &state);
	fclose(file);
	return state == 'S';
}

void wait_asleep(pid_t tid)
{
	long end = now_ms() + WAIT_MS;

	/* Twice: it may have waited for a lock for a moment */
	while (!is_asleep(tid) || (pause_briefly(), !is_asleep(tid))) {
		if (now_ms() > end)
			FAIL("the other thread does not block");
		pause_briefly();
	}
}

void worker_asleep(struct worker *worker)
{
	pid_t tid;

	while (!(tid = __atomic_load_n(&worker->tid, __ATOMIC_ACQUIRE)))
		pause_briefly();
	wait_asleep(tid);
	if (__atomic_load_n(&worker->done, __ATOMIC_ACQUIRE))
		FAIL("the other thread has not blocked");
}

void worker_interrupt(struct worker *worker)
{
	int before = caught(SIGUSR1);

	worker_asleep(worker);
	EQ(pthread_kill(worker->thread, SIGUSR1), 0);
	wait_caught(SIGUSR1, before + 1);
}

void worker_join(struct worker *worker)
{
	EQ(pthread_join(worker->thread, NULL), 0);
}

static _Atomic int signals[64];

static void count_signal(int signum)
{
	signals[signum]++;
}

void catch_signal(int signum, int flags)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };

	OK(sigaction(signum, &action, NULL));
}

int caught(int signum)
{
	return signals[signum];
}

void wait_caught(int signum, int times)
{
	long end = now_ms() + WAIT_MS;

	while (signals[signum] < times) {
		if (now_ms() > end)
			FAIL("signal %d came %d times, not %d", signum, signals[signum], times);
		pause_briefly();
	}
}

void set_sysctl(const char *name, int value)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	test_save_file(path);
	fd = OK(open(path, O_WRONLY | O_CLOEXEC));
	TRUE(dprintf(fd, "%d\n", value) > 0);
	close(fd);
}
