// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "alarm.h"
#include "log.h"
#include "loop.h"

#define EVENTS_AT_ONCE		64
#define CLOSE_MICROSECONDS	50

static int epoll_fd = -1;

void loop_init(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		log_fatal("epoll: %s", strerror(errno));
}

void loop_add(struct watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event))
		log_fatal("epoll: %s", strerror(errno));
}

/*
 * EPOLL_CTL_DEL is necessary: the descriptor store has the same socket, and epoll reports events as
 * long as any descriptor of it is open.
 *
 * Closing a listener also closes connections that were not accepted, and the sockets that clients
 * have sent over them. Such a socket may linger.
 */
void loop_close(struct watch *watch)
{
	if (watch->fd < 0)
		return;
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	alarm_start(CLOSE_MICROSECONDS);
	close(watch->fd);
	alarm_stop();
	watch->fd = -1;
}

void loop_move(struct watch *from, struct watch *to, uint32_t events)
{
	/* a client of an earlier process may have hung up before it was added */
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, from->fd, NULL);
	to->fd = from->fd;
	from->fd = -1;
	loop_add(to, events);
}

void loop_run(int milliseconds)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	struct watch *watch;
	int count, i;

	count = epoll_wait(epoll_fd, events, EVENTS_AT_ONCE, milliseconds);
	if (count < 0 && errno != EINTR)
		log_fatal("epoll: %s", strerror(errno));
	for (i = 0; i < count; i++) {
		watch = events[i].data.ptr;
		/* an earlier handler of this round may have closed it */
		if (watch->fd >= 0)
			watch->ready(watch, events[i].events);
	}
}
