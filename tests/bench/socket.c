// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket: the client opens a socket and closes it, which was never bound and never
 * connected. The server does nothing.
 */
#include <unistd.h>

#include "run.h"

static void open_and_close(struct run *run, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		close(sock_open(&run->spec, END_CLIENT, 0));
}

/* Outside of the window: it has nothing but the two system calls. */
static void look_at_one(struct run *run)
{
	int fd = sock_open(&run->spec, END_CLIENT, 0);

	note_fallback(run, fd);
	close(fd);
}

static void socket_client(struct run *run)
{
	phase("warm-up");
	look_at_one(run);
	open_and_close(run, run->spec.warm);
	window_open(run);
	open_and_close(run, run->spec.count);
	window_close(run);

	report_run(run);
	report_cost(&run->cost, run->spec.count, 0);
	report_end();
}

static void socket_server(struct run *run)
{
	window_serve(run);
	window_served(run);
}

const struct test socket_test = {
	.name = "socket",
	.client = socket_client,
	.server = socket_server,
};
