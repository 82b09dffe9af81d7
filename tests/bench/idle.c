// SPDX-License-Identifier: GPL-2.0-only
/*
 * idle: open many connections, use each once in both directions, and hold them;
 * what did the kernel's memory grow by, after a time without a message? Both ends
 * count when they share a kernel (member "ends").
 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memory.h"
#include "pattern.h"
#include "run.h"

/* Descriptors besides the connections: standard ones, control, /proc files. */
#define SPARE_FILES 64

static int *descriptors(uint64_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		die_errno("getrlimit");
	if (limit.rlim_cur < n + SPARE_FILES) {
		limit.rlim_cur = n + SPARE_FILES;
		if (limit.rlim_max < limit.rlim_cur)
			limit.rlim_max = limit.rlim_cur;
		if (setrlimit(RLIMIT_NOFILE, &limit))
			die_errno("raising the number of open files to %llu",
				  (unsigned long long)limit.rlim_cur);
	}
	return xmalloc(n * sizeof(int));
}

static void close_all(const int *fds, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		close(fds[i]);
}

static void open_all(struct run *run, int *fds, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		fds[i] = sock_connect(&run->spec, &run->target);
		note_fallback(run, fds[i]);
	}
	control_expect(run->control, "ACCEPTED");
}

/* One after the other, so that no more than one of them holds much data. */
static void use_each(struct run *run, const int *fds, uint64_t n)
{
	void *buf = xmalloc(run->spec.size);

	for (uint64_t i = 0; i < n; i++) {
		sock_send_all(fds[i], pattern_at(i), run->spec.size);
		sock_recv_all(fds[i], buf, run->spec.size);
		pattern_check(i, buf, run->spec.size, CHECK_FULL);
	}
	free(buf);
}

/* accept() need not return connections in the order of connect(): the client chooses. */
static void echo_each(struct run *run, const int *fds, uint64_t n)
{
	void *buf = xmalloc(run->spec.size);
	struct epoll_event event;
	int epoll = epoll_create1(0);

	if (epoll < 0)
		die_errno("epoll_create1");
	for (uint64_t i = 0; i < n; i++) {
		event = (struct epoll_event){ .events = EPOLLIN, .data.fd = fds[i] };
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event))
			die_errno("epoll_ctl");
	}
	control_send(run->control, "READY");
	for (uint64_t i = 0; i < n; i++) {
		if (epoll_wait(epoll, &event, 1, -1) != 1)
			die_errno("epoll_wait");
		sock_recv_all(event.data.fd, buf, run->spec.size);
		sock_send_all(event.data.fd, buf, run->spec.size);
	}
	close(epoll);
	control_send(run->control, "USED");
	free(buf);
}

static void idle_report(struct run *run, const struct memory *before,
			const struct memory *opened, const struct memory *used)
{
	uint64_t n = run->spec.count;

	report_run(run);
	report_cost(&run->cost, n, 0);
	report_number("ends", run->control->remote ? 1 : 2);
	memory_report("opened", before, opened, n);
	memory_report("used", before, used, n);
	memory_report_caches("caches", before, used, n);
	report_end();
}

static void idle_client(struct run *run)
{
	static struct memory before, opened, used;
	uint64_t n = run->spec.count;
	int *fds = descriptors(n);

	phase("warm-up");
	open_all(run, fds, run->spec.warm);
	close_all(fds, run->spec.warm);
	control_expect(run->control, "CLOSED");
	memory_read(&before);

	window_open(run);
	open_all(run, fds, n);
	window_close(run);
	memory_read(&opened);

	phase("use");
	control_expect(run->control, "READY");
	use_each(run, fds, n);
	control_expect(run->control, "USED");
	usleep((useconds_t)run->spec.gap);
	memory_read(&used);
	control_send(run->control, "END");
	phase("close");
	close_all(fds, n);
	control_expect(run->control, "CLOSED");
	idle_report(run, &before, &opened, &used);
	free(fds);
}

static void accept_n(struct run *run, int *fds, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		fds[i] = sock_accept(&run->spec, run->listener);
		note_fallback(run, fds[i]);
	}
	control_send(run->control, "ACCEPTED");
}

static void idle_server(struct run *run)
{
	uint64_t n = run->spec.count;
	int *fds = descriptors(n);

	phase("warm-up");
	accept_n(run, fds, run->spec.warm);
	close_all(fds, run->spec.warm);
	control_send(run->control, "CLOSED");

	window_serve(run);
	accept_n(run, fds, n);
	window_served(run);

	phase("use");
	echo_each(run, fds, n);
	control_expect(run->control, "END");
	phase("close");
	close_all(fds, n);
	control_send(run->control, "CLOSED");
	free(fds);
}

const struct test idle_test = {
	.name = "idle",
	.needs_size = true,
	.client = idle_client,
	.server = idle_server,
};
