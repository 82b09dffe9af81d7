// SPDX-License-Identifier: GPL-2.0-only
/* Statistics that are specific to this tree's module: handshakes, aborts, memory */
#include <inttypes.h>
#include <stdio.h>

#include "stats.h"

#define LABEL_WIDTH	30
#define VALUE_WIDTH	11

static const char * const time_names[STATS_TIMES] = {
	"100us", "250us", "500us", "1ms", "2.5ms", "5ms", "10ms", "25ms", "100ms", "1s",
	">1s",
};

static const struct own_tech_stats *tech_of(const struct stats *stats, bool smcd)
{
	return smcd ? &stats->own.smcd : &stats->own.smcr;
}

static void print_own_line(const char *label, uint64_t number)
{
	printf("%-*s%*" PRIu64 "\n", LABEL_WIDTH, label, VALUE_WIDTH, number);
}

static void print_own_short_line(const char *label, uint64_t number)
{
	char text[STATS_SHORT_LEN];

	printf("%-*s%*" PRIu64 " (%s)\n", LABEL_WIDTH, label, VALUE_WIDTH, number,
	       stats_short(number, text));
}

static void print_times(const uint64_t *times)
{
	char text[STATS_SHORT_LEN];
	size_t i;

	printf("  %-5s", "Time");
	for (i = 0; i < STATS_TIMES; i++)
		printf("%7s", time_names[i]);
	printf("\n  %-5s", "SMC");
	for (i = 0; i < STATS_TIMES; i++)
		if (times[i] > 99999)
			printf("%7s", stats_short(times[i], text));
		else
			printf("%7" PRIu64, times[i]);
	putchar('\n');
}

void stats_print_own(const struct stats *stats, bool smcd)
{
	const struct own_tech_stats *tech = tech_of(stats, smcd);
	const struct own_stats *own = &stats->own;

	if (!own->there)
		return;
	puts("\nHandshakes");
	print_own_line("  Under way", own->handshakes);
	print_times(own->times);
	if (smcd) {
		print_own_line("  Through memory", own->in_memory);
		print_own_line("  Offers withdrawn", own->withdrawn);
	} else {
		print_own_line("  Paths that failed", own->path_failures);
		print_own_line("  Paths avoided now", own->paths_bad);
		print_own_line("  LLC replies ignored", own->strays);
	}

	puts("\nAborts");
	print_own_line("  By this side", tech->aborts);
	print_own_line("    application", tech->by_app);
	print_own_line("    TCP connection died", tech->by_tcp);
	print_own_line("    device or link lost", tech->by_link);
	print_own_line("    peer did not end in time", tech->by_timeout);
	print_own_line("    too many waited for peers", tech->by_orphan);
	print_own_line("    peer broke the protocol", tech->by_violation);
	print_own_line("  By the peer", tech->by_peer);

	puts("\nMemory and wake-ups");
	print_own_short_line("  Buffers in use (Bytes)", own->buffer_used);
	print_own_short_line("  Buffers at most (Bytes)", own->buffer_limit);
	print_own_short_line("    of this namespace", own->share_used);
	print_own_short_line("    at most", own->share_limit);
	print_own_line("  Buffers made larger", tech->rings_grown);
	print_own_line("  Could not become larger", tech->rings_stuck);
	print_own_line("  Made small again", tech->rings_shrunk);
	print_own_line("  Closed, waiting for peers", own->orphans);
	print_own_line("  Wake-ups saved", tech->wakeups_saved);
	print_own_line("  Waits ended by busy polling", tech->busy_polls);
}

void stats_json_own(struct json *j, const struct stats *stats, bool smcd)
{
	const struct own_tech_stats *tech = tech_of(stats, smcd);
	const struct own_stats *own = &stats->own;
	size_t i;

	if (!own->there)
		return;
	json_object(j, "handshakes");
	json_uint(j, "now", own->handshakes);
	json_object(j, "time");
	for (i = 0; i < STATS_TIMES; i++)
		json_uint(j, time_names[i], own->times[i]);
	json_object_end(j);
	if (smcd) {
		json_uint(j, "in_memory", own->in_memory);
		json_uint(j, "offers_withdrawn", own->withdrawn);
	} else {
		json_uint(j, "paths_failed", own->path_failures);
		json_uint(j, "paths_avoided", own->paths_bad);
		json_uint(j, "llc_strays", own->strays);
	}
	json_object_end(j);

	json_object(j, "aborts");
	json_uint(j, "total", tech->aborts);
	json_uint(j, "application", tech->by_app);
	json_uint(j, "tcp", tech->by_tcp);
	json_uint(j, "link", tech->by_link);
	json_uint(j, "timeout", tech->by_timeout);
	json_uint(j, "orphan", tech->by_orphan);
	json_uint(j, "violation", tech->by_violation);
	json_uint(j, "peer", tech->by_peer);
	json_object_end(j);

	json_object(j, "buffers");
	json_uint(j, "used", own->buffer_used);
	json_uint(j, "limit", own->buffer_limit);
	json_uint(j, "namespace_used", own->share_used);
	json_uint(j, "namespace_limit", own->share_limit);
	json_uint(j, "grown", tech->rings_grown);
	json_uint(j, "stuck", tech->rings_stuck);
	json_uint(j, "shrunk", tech->rings_shrunk);
	json_uint(j, "orphans", own->orphans);
	json_object_end(j);
	json_uint(j, "wakeups_saved", tech->wakeups_saved);
	json_uint(j, "busy_polls", tech->busy_polls);
}
