// SPDX-License-Identifier: GPL-2.0-only
/* All ways to wait for events */

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "sockfuzz.h"

#define MOST_MS	20

static short pick_events(void)
{
	static const int events[] = { POLLIN, POLLOUT, POLLPRI, POLLRDHUP };

	return one_in(2) ? POLLIN : random_flags(events, 4, 2);
}

static void by_poll(int fd, int on)
{
	struct pollfd pfd = { .fd = fd, .events = pick_events() };

	CALL("poll", on, pfd.events, poll(&pfd, 1, random_below(MOST_MS)));
}

static void by_ppoll(int fd, int on)
{
	struct timespec limit = { .tv_nsec = random_below(MOST_MS * 1000000) };
	struct pollfd pfd = { .fd = fd, .events = pick_events() };
	sigset_t none;

	sigemptyset(&none);
	CALL("ppoll", on, pfd.events, ppoll(&pfd, 1, &limit, &none));
}

static void by_select(int fd, int on)
{
	struct timeval limit = { .tv_usec = random_below(MOST_MS * 1000) };
	fd_set in, out, bad;

	if (fd >= FD_SETSIZE)
		return;
	FD_ZERO(&in);
	FD_SET(fd, &in);
	out = in;
	bad = in;
	CALL("select", on, 0, select(fd + 1, one_in(4) ? NULL : &in, one_in(2) ? NULL : &out,
				     one_in(2) ? NULL : &bad, &limit));
}

static struct epoll_event pick_epoll_event(int fd)
{
	static const int events[] = {
		EPOLLIN, EPOLLOUT, EPOLLPRI, EPOLLRDHUP, EPOLLET, EPOLLONESHOT, EPOLLWAKEUP,
	};

	return (struct epoll_event){
		.events = random_flags(events, sizeof(events) / sizeof(*events), 2),
		.data.fd = fd,
	};
}

static void by_epoll(int fd, int on)
{
	struct epoll_event event = pick_epoll_event(fd), got[4];
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		return;
	if (one_in(4))
		event.events = EPOLLEXCLUSIVE | EPOLLIN | (one_in(2) ? EPOLLET : 0);
	if (!CALL("epoll_ctl add", on, event.events,
		  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)))
		CALL("epoll_wait", on, event.events,
		     epoll_wait(epoll, got, 4, random_below(MOST_MS)));
	close(epoll);
}

/* One that stays while its sockets come and go */
static void by_old_epoll(int fd, int on)
{
	struct epoll_event event = pick_epoll_event(fd), got[4];

	switch (random_below(4)) {
	case 0:
		CALL("epoll_ctl add", on, event.events,
		     epoll_ctl(me->epoll, EPOLL_CTL_ADD, fd, &event));
		break;
	case 1:
		CALL("epoll_ctl mod", on, event.events,
		     epoll_ctl(me->epoll, EPOLL_CTL_MOD, fd, &event));
		break;
	case 2:
		CALL("epoll_ctl del", on, 0, epoll_ctl(me->epoll, EPOLL_CTL_DEL, fd, NULL));
		break;
	default:
		CALL("epoll_wait", on, 0, epoll_wait(me->epoll, got, 4, random_below(MOST_MS)));
	}
}

static void by_uring(int fd, int on)
{
	CALL("io_uring poll", on, 0, uring_poll(fd, pick_events()));
}

static void (*const ways[])(int fd, int on) = {
	by_poll, by_poll, by_poll, by_ppoll, by_select, by_epoll, by_epoll, by_old_epoll,
	by_old_epoll, by_uring,
};

void do_wait(struct slot *slot, int end)
{
	if (one_in(10))
		end = LISTENER;
	ways[random_below(sizeof(ways) / sizeof(*ways))](slot->fd[end], 4 * slot->number + end);
}
