// SPDX-License-Identifier: GPL-2.0-only
/*
 * oneway: the client sends messages, some at once and then none for a while,
 * and the server, which waits in recv(), never answers: the end of a stretch
 * comes over the control channel. After one answer TCP would delay its ACKs,
 * and Nagle's algorithm the messages, for up to 40 ms. A message begins with
 * the time when the client has sent it; the server tells how long they took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "run.h"

static void send_messages(struct run *run, int fd, uint64_t ops)
{
	uint64_t size = run->spec.size;
	char *buf = xmalloc(size);

	memcpy(buf, pattern_at(0), size);
	for (uint64_t i = 0; i < ops; i++) {
		uint64_t now;

		if (i % run->spec.burst == 0)
			usleep((useconds_t)run->spec.gap);
		now = clock_ns();
		memcpy(buf, &now, ONEWAY_STAMP);
		sock_send_all(fd, buf, size);
	}
	control_expect(run->control, "READ");
	free(buf);
}

/* @times: of each message, in ns */
static void receive_messages(struct run *run, int fd, uint64_t ops, uint64_t *times,
			     enum check check)
{
	uint64_t size = run->spec.size;
	char *buf = xmalloc(size);

	for (uint64_t i = 0; i < ops; i++) {
		uint64_t sent;

		sock_recv_all(fd, buf, size);
		times[i] = clock_ns();
		memcpy(&sent, buf, ONEWAY_STAMP);
		times[i] -= sent;
		pattern_check(ONEWAY_STAMP, buf + ONEWAY_STAMP, size - ONEWAY_STAMP, check);
	}
	control_send(run->control, "READ");
	free(buf);
}

static void oneway_client(struct run *run)
{
	const struct spec *spec = &run->spec;
	struct percentiles took;
	const char *line;
	int fd;

	fd = sock_connect(spec, &run->target);
	phase("warm-up");
	send_messages(run, fd, spec->warm);
	window_open(run);
	send_messages(run, fd, spec->count);
	window_close(run);
	note_fallback(run, fd);
	close(fd);

	line = control_expect(run->control, "TIMES");
	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &took.p50, &took.p99, &took.max) != 3)
		die("malformed times '%s'", line);
	report_run(run);
	report_cost(&run->cost, spec->count, spec->count * spec->size);
	report_percentiles(&took);
	report_end();
}

static void oneway_server(struct run *run)
{
	const struct spec *spec = &run->spec;
	uint64_t most = spec->count > spec->warm ? spec->count : spec->warm;
	uint64_t *times = xmalloc(most * sizeof(*times));
	int fd = sock_accept(spec, run->listener);
	struct percentiles took;

	phase("warm-up");
	receive_messages(run, fd, spec->warm, times, CHECK_FULL);
	note_fallback(run, fd);
	window_serve(run);
	receive_messages(run, fd, spec->count, times, spec->check);
	window_served(run);
	close(fd);
	took = percentiles_of(times, spec->count);
	control_send(run->control, "TIMES %" PRIu64 " %" PRIu64 " %" PRIu64, took.p50, took.p99,
		     took.max);
	free(times);
}

const struct test oneway_test = {
	.name = "oneway",
	.needs_size = true,
	.client = oneway_client,
	.server = oneway_server,
};
