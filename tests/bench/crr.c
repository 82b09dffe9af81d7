// SPDX-License-Identifier: GPL-2.0-only
/*
 * crr: connect, one byte from the client, one byte from the server, which closes;
 * the client reads to the end of the stream. Serial (one connection at a time,
 * blocking calls) or with several in flight (non-blocking, epoll on both sides,
 * as event-driven programs do it).
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pattern.h"
#include "run.h"

#define EVENTS_MAX 64

/* The same byte for every connection: parallel ones finish in any order. */
static const void *the_byte(void)
{
	return pattern_at(0);
}

static void expect_byte(const char *byte, size_t received)
{
	if (!received)
		die("end of the stream instead of the byte");
	pattern_check(0, byte, 1, CHECK_FULL);
}

static void client_end(struct run *run, int fd)
{
	note_fallback(run, fd);
	close(fd);
}

static void server_end(struct run *run, int fd, const char *byte, size_t received)
{
	expect_byte(byte, received);
	sock_send_all(fd, the_byte(), 1);
	note_fallback(run, fd);
	close(fd);
}

static void client_serial(struct run *run, uint64_t n)
{
	size_t len;
	char byte;

	for (uint64_t i = 0; i < n; i++) {
		int fd = sock_connect(&run->spec, &run->target);

		sock_send_all(fd, the_byte(), 1);
		sock_recv_ready(fd, &byte, &len);
		expect_byte(&byte, len);
		sock_recv_ready(fd, &byte, &len);
		if (len)
			die("data instead of the end of the stream");
		client_end(run, fd);
	}
}

static void server_serial(struct run *run, uint64_t n)
{
	size_t len;
	char byte;

	for (uint64_t i = 0; i < n; i++) {
		int fd = sock_accept(&run->spec, run->listener);

		sock_recv_ready(fd, &byte, &len);
		server_end(run, fd, &byte, len);
	}
}

static void epoll_set(int ep, int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(ep, op, fd, &event))
		die_errno("epoll_ctl");
}

static int epoll_open(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);

	if (ep < 0)
		die_errno("epoll_create1");
	return ep;
}

static int epoll_get(int ep, struct epoll_event *events)
{
	int n = epoll_wait(ep, events, EVENTS_MAX, -1);

	if (n < 0)
		die_errno("epoll_wait");
	return n;
}

static void start_connect(struct run *run, int ep)
{
	int fd = sock_open(&run->spec, END_CLIENT, SOCK_NONBLOCK);

	/*
	 * AF_UNIX connects at once or, when the backlog is full, not at all; the
	 * backlog is longer than the number of connections in flight.
	 */
	if (connect(fd, (struct sockaddr *)&run->target.addr, run->target.len) &&
	    errno != EINPROGRESS)
		die_errno("connect");
	epoll_set(ep, EPOLL_CTL_ADD, fd, EPOLLOUT);
}

static void connect_done(int ep, int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		die_errno("getsockopt SO_ERROR");
	if (err) {
		errno = err;
		die_errno("connect");
	}
	sock_send_all(fd, the_byte(), 1);
	epoll_set(ep, EPOLL_CTL_MOD, fd, EPOLLIN);
}

/* Returns true once the connection is at its end and closed. */
static bool client_event(struct run *run, int ep, const struct epoll_event *event)
{
	int fd = event->data.fd;
	size_t len;
	char byte;

	if (event->events & EPOLLOUT) {
		connect_done(ep, fd);
		return false;
	}
	/* Byte and end may be readable at once, or one after the other. */
	while (sock_recv_ready(fd, &byte, &len)) {
		if (!len) {
			client_end(run, fd);
			return true;
		}
		expect_byte(&byte, len);
	}
	return false;
}

static void client_parallel(struct run *run, uint64_t n)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t started = 0, finished = 0;
	int ep = epoll_open();

	while (started < n && started < run->spec.parallel) {
		start_connect(run, ep);
		started++;
	}
	while (finished < n) {
		int ready = epoll_get(ep, events);

		for (int i = 0; i < ready; i++) {
			if (!client_event(run, ep, &events[i]))
				continue;
			finished++;
			if (started < n) {
				start_connect(run, ep);
				started++;
			}
		}
	}
	close(ep);
}

static void accept_all(struct run *run, int ep)
{
	int fd;

	while ((fd = accept4(run->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		sock_prepare(&run->spec, fd);
		epoll_set(ep, EPOLL_CTL_ADD, fd, EPOLLIN);
	}
	if (errno != EAGAIN)
		die_errno("accept");
}

static void server_parallel(struct run *run, uint64_t n)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t finished = 0;
	int ep = epoll_open();
	size_t len;
	char byte;

	epoll_set(ep, EPOLL_CTL_ADD, run->listener, EPOLLIN);
	while (finished < n) {
		int ready = epoll_get(ep, events);

		for (int i = 0; i < ready; i++) {
			int fd = events[i].data.fd;

			if (fd == run->listener) {
				accept_all(run, ep);
				continue;
			}
			if (!sock_recv_ready(fd, &byte, &len))
				continue;
			server_end(run, fd, &byte, len);
			finished++;
		}
	}
	close(ep);
}

static void client_phase(struct run *run, uint64_t n)
{
	if (run->spec.parallel > 1)
		client_parallel(run, n);
	else
		client_serial(run, n);
}

static void server_phase(struct run *run, uint64_t n)
{
	if (run->spec.parallel > 1)
		server_parallel(run, n);
	else
		server_serial(run, n);
}

static void crr_client(struct run *run)
{
	phase("warm-up");
	client_phase(run, run->spec.warm);
	window_open(run);
	client_phase(run, run->spec.count);
	window_close(run);

	report_run(run);
	report_cost(&run->cost, run->spec.count, 0);
	report_end();
}

static void crr_server(struct run *run)
{
	if (run->spec.parallel > 1)
		sock_set_nonblocking(run->listener);
	phase("warm-up");
	server_phase(run, run->spec.warm);
	window_serve(run);
	server_phase(run, run->spec.count);
	window_served(run);
}

const struct test crr_test = {
	.name = "crr",
	.client = crr_client,
	.server = crr_server,
};
