// SPDX-License-Identifier: GPL-2.0-only
/* smcr|smcd stats: absolute, since the last reset, or per second */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attr.h"
#include "stats.h"
#include "tool.h"

static bool collect_stats(struct tool *tool, struct stats *stats, int command)
{
	const struct nlattr *tb[SMC_GEN_MAX + 1];
	struct netlink_list list;
	size_t i;

	if (!tool_dump(tool, command, &list))
		return false;
	for (i = 0; i < list.count; i++) {
		if (genl_parse(list.msg[i], tb, SMC_GEN_MAX) < 0)
			continue;
		if (tb[SMC_GEN_STATS])
			stats_decode(stats, tb[SMC_GEN_STATS]);
		if (tb[SMC_GEN_FBACK_STATS])
			stats_decode_fallback(stats, tb[SMC_GEN_FBACK_STATS]);
	}
	netlink_list_free(&list);
	return true;
}

static bool read_stats(struct tool *tool, struct stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	return collect_stats(tool, stats, SMC_NETLINK_GET_STATS) &&
	       collect_stats(tool, stats, SMC_NETLINK_GET_FBACK_STATS);
}

static void show_stats(const struct tool *tool, const struct stats *stats)
{
	struct json j = { .out = stdout };

	if (!tool->json) {
		stats_print(stats, tool->smcd, tool->details);
		if (tool->details)
			stats_print_own(stats, tool->smcd);
		return;
	}
	json_object(&j, NULL);
	stats_json_tech(&j, stats, tool->smcd);
	stats_json_sides(&j, stats);
	stats_json_own(&j, stats, tool->smcd);
	json_object_end(&j);
}

/* The counters under the names that existing scripts use, and nothing else */
static void show_plain_json(const struct tool *tool, const struct stats *stats)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	stats_json_tech(&j, stats, tool->smcd);
	json_object_end(&j);
}

static double get_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void pause_for(double seconds)
{
	struct timespec ts = {
		.tv_sec = seconds,
		.tv_nsec = (seconds - floor(seconds)) * 1e9,
	};

	nanosleep(&ts, NULL);
}

static bool one_rate(struct tool *tool, struct stats *before, double *time)
{
	struct json j = { .out = stdout };
	struct stats after, diff;
	double start = *time;

	if (!read_stats(tool, &after))
		return false;
	*time = get_seconds();
	diff = after;
	/* the module was loaded again: all counts are new */
	stats_subtract(&diff, before);
	stats_rate(&diff, *time - start, tool->smcd, tool->json ? &j : NULL);
	*before = after;
	return !fflush(stdout);
}

static int show_rates(struct tool *tool, int argc, char **argv)
{
	double seconds = 1, time;
	long count = -1;
	struct stats stats;
	char *end;

	if (argc > 0) {
		seconds = strtod(argv[0], &end);
		if (*end || !(seconds >= 0.1 && seconds <= 86400))
			return tool_usage(tool);
	}
	if (argc > 1) {
		count = strtol(argv[1], &end, 10);
		if (*end || count < 1)
			return tool_usage(tool);
	}
	if (argc > 2)
		return tool_usage(tool);
	if (!read_stats(tool, &stats))
		return EXIT_USAGE;
	time = get_seconds();
	if (!tool->json)
		stats_rate_header();
	for (; count; count -= count > 0) {
		pause_for(seconds);
		if (!one_rate(tool, &stats, &time))
			return EXIT_USAGE;
	}
	return EXIT_SUCCESS;
}

int stats_main(struct tool *tool, int argc, char **argv)
{
	bool reset = false, plain = false;
	struct stats absolute, base, shown;

	if (argc && tool_matches(argv[0], "rate"))
		return show_rates(tool, argc - 1, argv + 1);
	if (argc == 1 && tool_matches(argv[0], "reset"))
		reset = true;
	else if (argc == 1 && tool_matches(argv[0], "json"))
		plain = true;
	else if (!tool_only(argc, argv))
		return tool_usage(tool);

	if (!read_stats(tool, &absolute))
		return EXIT_USAGE;
	shown = absolute;
	if (!tool->absolute && baseline_load(&base))
		stats_subtract(&shown, &base);
	if (plain)
		show_plain_json(tool, &shown);
	else
		show_stats(tool, &shown);
	if (reset && !baseline_save(&absolute)) {
		fputs("Error: Cannot store the values\n", stderr);
		return EXIT_USAGE;
	}
	return EXIT_SUCCESS;
}
