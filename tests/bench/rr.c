// SPDX-License-Identifier: GPL-2.0-only
/* rr: the client sends a message, the server answers with one of the same size. */
#include <stdlib.h>
#include <unistd.h>

#include "pattern.h"
#include "run.h"

struct exchange {
	int fd;
	uint64_t pos;
	void *buf;
	uint64_t *times;	/* client: ns of each round trip, or NULL */
};

static void ask(struct run *run, struct exchange *ex, uint64_t ops, enum check check)
{
	uint64_t size = run->spec.size;

	for (uint64_t i = 0; i < ops; i++) {
		uint64_t start = ex->times ? clock_ns() : 0;

		sock_send_all(ex->fd, pattern_at(ex->pos), size);
		sock_recv_all(ex->fd, ex->buf, size);
		if (ex->times)
			ex->times[i] = clock_ns() - start;
		pattern_check(ex->pos, ex->buf, size, check);
		ex->pos += size;
	}
}

static void answer(struct run *run, struct exchange *ex, uint64_t ops, enum check check)
{
	uint64_t size = run->spec.size;

	for (uint64_t i = 0; i < ops; i++) {
		sock_recv_all(ex->fd, ex->buf, size);
		pattern_check(ex->pos, ex->buf, size, check);
		sock_send_all(ex->fd, pattern_at(ex->pos), size);
		ex->pos += size;
	}
}

static void rr_client(struct run *run)
{
	uint64_t ops = run->spec.count;
	struct exchange ex = {
		.fd = sock_connect(&run->spec, &run->target),
		.buf = xmalloc(run->spec.size),
	};

	phase("warm-up");
	ask(run, &ex, run->spec.warm, CHECK_FULL);
	if (run->spec.times)
		ex.times = xmalloc(ops * sizeof(*ex.times));
	window_open(run);
	ask(run, &ex, ops, run->spec.check);
	window_close(run);
	note_fallback(run, ex.fd);
	close(ex.fd);

	report_run(run);
	report_cost(&run->cost, ops, 2 * ops * run->spec.size);
	if (ex.times) {
		struct percentiles took = percentiles_of(ex.times, ops);

		report_percentiles(&took);
	}
	report_end();
}

static void rr_server(struct run *run)
{
	struct exchange ex = {
		.fd = sock_accept(&run->spec, run->listener),
		.buf = xmalloc(run->spec.size),
	};

	phase("warm-up");
	answer(run, &ex, run->spec.warm, CHECK_FULL);
	note_fallback(run, ex.fd);
	window_serve(run);
	answer(run, &ex, run->spec.count, run->spec.check);
	window_served(run);
	close(ex.fd);
}

const struct test rr_test = {
	.name = "rr",
	.needs_size = true,
	.client = rr_client,
	.server = rr_server,
};
