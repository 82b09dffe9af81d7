// SPDX-License-Identifier: GPL-2.0-only
/* Results as JSON lines on standard output. */
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

void report_text(const char *name, const char *value)
{
	printf(", \"%s\": \"%s\"", name, value);
}

void report_number(const char *name, double value)
{
	printf(", \"%s\": %.12g", name, value);
}

void report_begin(const char *test)
{
	printf("{\"test\": \"%s\"", test);
	report_text("idle_source", measure_idle_source());
}

static const char *fallbacks(const struct run *run)
{
	if (!run->fell_back)
		return "no";
	return run->stayed ? "some" : "yes";
}

void report_run(const struct run *run)
{
	const struct spec *spec = &run->spec;

	report_begin(spec->test);
	report_text("family", family_name(spec->family));
	report_text("plain", end_name(spec->plain));
	if (spec->family == FAMILY_SMC) {
		report_text("fell_back", fallbacks(run));
		report_number("by_family", (double)spec->by_family);
	}
	report_number("size", (double)spec->size);
	report_number("parallel", (double)spec->parallel);
	report_text("check", check_name(spec->check));
}

void report_end(void)
{
	printf("}\n");
	fflush(stdout);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct percentiles percentiles_of(uint64_t *times, uint64_t n)
{
	qsort(times, n, sizeof(*times), by_time);
	return (struct percentiles){ times[n / 2], times[n - 1 - n / 100], times[n - 1] };
}

void report_percentiles(const struct percentiles *took)
{
	report_number("p50_ns", (double)took->p50);
	report_number("p99_ns", (double)took->p99);
	report_number("max_ns", (double)took->max);
}

void report_cost(const struct cost *cost, uint64_t ops, uint64_t bytes)
{
	report_number("ops", (double)ops);
	report_number("bytes", (double)bytes);
	report_number("wall_ns", (double)cost->wall);
	report_number("busy_ns", (double)cost->busy);
	report_number("ctxt", (double)cost->ctxt);
	report_number("voluntary", (double)cost->voluntary);
	report_number("involuntary", (double)cost->involuntary);
	report_number("tcp_segs", (double)cost->segs);
	if (cost->rsts >= 0)
		report_number("tcp_rsts", (double)cost->rsts);
	if (cost->kworkers >= 0)
		report_number("kworkers", (double)cost->kworkers);
	if (ops) {
		report_number("busy_ns_per_op", (double)cost->busy / (double)ops);
		report_number("ops_per_s", (double)ops * 1e9 / (double)cost->wall);
		report_number("ctxt_per_op", (double)cost->ctxt / (double)ops);
		if (cost->rsts >= 0)
			report_number("tcp_rsts_per_op", (double)cost->rsts / (double)ops);
		if (cost->kworkers >= 0)
			report_number("kworkers_per_op", (double)cost->kworkers / (double)ops);
	}
	if (bytes) {
		report_number("busy_ns_per_byte", (double)cost->busy / (double)bytes);
		report_number("mb_per_s", (double)bytes * 1e3 / (double)cost->wall);
		report_number("ctxt_per_mb", (double)cost->ctxt * 1e6 / (double)bytes);
	}
}
