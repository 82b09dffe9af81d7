// SPDX-License-Identifier: GPL-2.0-only
/* One end of a connection: its process, and how it ends */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "end.h"

#define WAIT_MS	-1	/* the parent kills a process that hangs */

void fail(const struct end *end, const char *format, ...)
{
	const struct side *me = end->me, *peer = end->peer;
	va_list args;

	flockfile(stderr);
	fprintf(stderr, "connection %u, %s: ", end->conn->number, end->index ? "server" : "client");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n  at %llu of %llu sent, %llu received; the peer at %llu, %llu\n",
		(unsigned long long)me->sent, (unsigned long long)me->total,
		(unsigned long long)me->received, (unsigned long long)peer->sent,
		(unsigned long long)peer->received);
	_exit(1);
}

/* What arrives at a side that reads no more resets the connection for both */
bool is_gone(const struct end *end)
{
	return __atomic_load_n(&end->peer->gone, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&end->me->gone, __ATOMIC_SEQ_CST);
}

bool may_be_reset(const struct end *end)
{
	return end->conn->may_break || is_gone(end);
}

static void wait_poll(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	poll(&pfd, 1, WAIT_MS);
}

static void wait_select(int fd, short events)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (events == POLLIN)
		select(fd + 1, &set, NULL, NULL, NULL);
	else
		select(fd + 1, NULL, &set, NULL, NULL);
}

static void wait_epoll(int fd, short events, int flags)
{
	struct epoll_event event = { .events = flags | (events == POLLIN ? EPOLLIN : EPOLLOUT) };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(epoll, &event, 1, WAIT_MS);
	close(epoll);
}

/* Waits until it makes sense to try again */
void wait_ready(const struct end *end, short events)
{
	switch (random_below(4)) {
	case 0:
		wait_poll(end->fd, events);
		break;
	case 1:
		wait_select(end->fd, events);
		break;
	case 2:
		wait_epoll(end->fd, events, 0);
		break;
	default:
		wait_epoll(end->fd, events, EPOLLET);
	}
}

static void *read_thread(void *arg)
{
	struct end *end = arg;

	random_seed(end->me->seed + 1);
	reader_run(end);
	return NULL;
}

static void set_flag(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_SEQ_CST);
}

static void __attribute__((noreturn)) finish(struct end *end, pthread_t reader)
{
	struct linger reset = { .l_onoff = 1 };
	struct side *me = end->me;

	switch (me->ending) {
	case END_CLOSE:
		set_flag(&me->gone);
		set_flag(&me->done);
		_exit(0);
	case END_RESET:
		set_flag(&me->gone);
		setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		_exit(0);
	case END_BOTH:
		set_flag(&me->gone);
		set_flag(&me->done);
		shutdown(end->fd, SHUT_RDWR);
		break;
	default:
		set_flag(&me->done);
		shutdown(end->fd, SHUT_WR);
	}
	pthread_join(reader, NULL);
	/* From now on nothing is read: what the peer still sends leads to a reset */
	set_flag(&me->gone);
	close(end->fd);
	_exit(0);
}

void end_run(struct end *end)
{
	pthread_t reader;

	random_seed(end->me->seed);
	if (one_in(2))
		fcntl(end->fd, F_SETFL, O_NONBLOCK);
	if (pthread_create(&reader, NULL, read_thread, end))
		fail(end, "cannot create a thread");
	writer_run(end);
	finish(end, reader);
}
