// SPDX-License-Identifier: GPL-2.0-only
/* The measured window; see run.h. */
#include <inttypes.h>
#include <stdio.h>

#include "run.h"

/* One end is enough: a look is a system call, and part of what is measured. */
static enum end looking_end(const struct spec *spec)
{
	return spec->plain == END_CLIENT ? END_SERVER : END_CLIENT;
}

void note_fallback(struct run *run, int fd)
{
	bool is_plain;

	if (run->end != looking_end(&run->spec))
		return;
	is_plain = sock_is_plain(fd);	/* the same system calls for each family */
	if (run->spec.family != FAMILY_SMC)
		return;
	if (is_plain)
		run->fell_back = true;
	else
		run->stayed = true;
}

/* In a shared kernel the client's counters cover both ends. */
static bool counts_kernel(const struct run *run)
{
	return run->end == END_CLIENT || run->control->remote;
}

/* What is counted at both ends of the window, but just outside of it. */
static void counters_begin(struct run *run)
{
	run->rsts = measure_rsts();
	if (counts_kernel(run))
		kworkers_read(&run->kworkers);
	measure_switches(&run->voluntary, &run->involuntary);
}

static void counters_end(const struct run *run, struct cost *cost)
{
	measure_switches(&cost->voluntary, &cost->involuntary);
	cost->voluntary -= run->voluntary;
	cost->involuntary -= run->involuntary;
	if (counts_kernel(run))
		cost->kworkers = kworkers_since(&run->kworkers);
	cost->rsts = (int64_t)(measure_rsts() - run->rsts);
}

void window_open(struct run *run)
{
	phase("window start");
	control_send(run->control, "GO");
	control_expect(run->control, "READY");
	counters_begin(run);
	measure_begin(&run->begin);
	measure_mark();
	phase("measured window");
}

/* Reads what window_served() sends. */
static void add_server_cost(struct run *run)
{
	const char *line = control_expect(run->control, "COST");
	struct cost server = { 0 };
	int fell_back, stayed;
	uint64_t netns;

	if (sscanf(line, "%d %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNd64 " %" SCNd64, &fell_back, &stayed, &netns,
		   &server.voluntary, &server.involuntary, &server.busy, &server.ctxt,
		   &server.segs, &server.rsts, &server.kworkers) != 10)
		die("malformed cost line '%s'", line);
	run->fell_back |= fell_back;
	run->stayed |= stayed;
	run->cost.voluntary += server.voluntary;
	run->cost.involuntary += server.involuntary;
	if (run->control->remote || netns != measure_netns())
		run->cost.rsts += server.rsts;
	if (run->control->remote)
		cost_add(&run->cost, &server);
}

void window_close(struct run *run)
{
	measure_mark();
	measure_end(&run->begin, &run->cost);
	counters_end(run, &run->cost);
	phase("window end");
	control_send(run->control, "STOP");
	add_server_cost(run);
}

void window_serve(struct run *run)
{
	control_expect(run->control, "GO");
	counters_begin(run);
	if (run->control->remote)
		measure_begin(&run->begin);
	control_send(run->control, "READY");
	phase("measured window");
}

void window_served(struct run *run)
{
	struct cost cost = { 0 };

	if (counts_kernel(run))
		measure_end(&run->begin, &cost);
	counters_end(run, &cost);
	phase("window end");
	control_expect(run->control, "STOP");
	control_send(run->control,
		     "COST %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		     " %" PRIu64 " %" PRId64 " %" PRId64, run->fell_back, run->stayed,
		     measure_netns(), cost.voluntary, cost.involuntary, cost.busy, cost.ctxt,
		     cost.segs, cost.rsts, cost.kworkers);
}
