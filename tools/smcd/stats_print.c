// SPDX-License-Identifier: GPL-2.0-only
/* Print statistics, as text or JSON */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reason.h"
#include "stats.h"

#define TOP_REASONS	3

/* Labels and values end at fixed columns, including the indentation */
#define LABEL_WIDTH	28
#define VALUE_WIDTH	13

uint64_t stats_client(const struct tech_stats *tech)
{
	return tech->client_v1 + tech->client_v2;
}

uint64_t stats_server(const struct tech_stats *tech)
{
	return tech->server_v1 + tech->server_v2;
}

char *stats_short(uint64_t value, char *buf)
{
	static const char units[] = "KMGTP";
	double scaled = value;
	int unit = -1, digits;

	while (scaled >= 999.95 && unit + 1 < (int)sizeof(units) - 1) {
		scaled /= 1000;
		unit++;
	}
	if (unit < 0) {
		sprintf(buf, "%" PRIu64, value);
		return buf;
	}
	digits = scaled < 9.9995 ? 3 : scaled < 99.995 ? 2 : 1;
	sprintf(buf, "%.*f%c", digits, scaled, units[unit]);
	return buf;
}

static void print_value(const char *label, uint64_t number)
{
	printf("%-*s%*" PRIu64, LABEL_WIDTH, label, VALUE_WIDTH, number);
}

static void print_stats_line(const char *label, uint64_t number)
{
	print_value(label, number);
	putchar('\n');
}

static void split_line(const char *label, uint64_t client, uint64_t server,
		       bool details)
{
	print_value(label, client + server);
	if (details)
		printf(" (client %" PRIu64 ", server %" PRIu64 ")", client, server);
	putchar('\n');
}

static void print_short_line(const char *label, uint64_t number)
{
	char text[STATS_SHORT_LEN];

	print_value(label, number);
	printf(" (%s)\n", stats_short(number, text));
}

static void percent_line(const char *label, uint64_t number, uint64_t all)
{
	print_value(label, number);
	printf(" (%.2f%%)\n", all ? 100.0 * number / all : 0.0);
}

static void size_line(const char *label, const uint64_t *sizes)
{
	char text[STATS_SHORT_LEN];
	uint64_t number;
	int i;

	printf("  %-5s", label);
	for (i = 0; i < STATS_SIZES - 1; i++) {
		number = sizes[i];
		if (i == STATS_SIZES - 2)	/* the two largest sizes share a column */
			number += sizes[i + 1];
		if (number > 999999)
			printf("%8s", stats_short(number, text));
		else
			printf("%8" PRIu64, number);
	}
	putchar('\n');
}

/* Most frequent reasons first */
static void sort_reasons(struct side_stats *side)
{
	size_t i, k;

	for (i = 1; i < side->reasons; i++)
		for (k = i; k && side->reason[k].count > side->reason[k - 1].count; k--) {
			__typeof__(side->reason[0]) other = side->reason[k - 1];

			side->reason[k - 1] = side->reason[k];
			side->reason[k] = other;
		}
}

static void print_reasons(const char *title, const struct side_stats *side)
{
	struct side_stats sorted = *side;
	char label[40];
	size_t i;

	sort_reasons(&sorted);
	if (!sorted.reasons || !sorted.reason[0].count)
		return;
	printf("    %s\n", title);
	for (i = 0; i < sorted.reasons && i < TOP_REASONS; i++) {
		if (!sorted.reason[i].count)
			break;
		snprintf(label, sizeof(label), "     %s",
			 reason_name(sorted.reason[i].code));
		print_stats_line(label, sorted.reason[i].count);
	}
}

static void print_connections(const struct stats *stats, bool smcd, bool details)
{
	const struct side_stats *client = &stats->client, *server = &stats->server;
	const struct tech_stats *tech = smcd ? &stats->smcd : &stats->smcr;
	uint64_t conns = stats_client(tech) + stats_server(tech);
	uint64_t requests = tech->rx_count + tech->tx_count;

	printf("SMC-%c Connections Summary\n", smcd ? 'D' : 'R');
	print_stats_line("  Total connections handled", conns + client->handshake_errors +
			 server->handshake_errors + client->fallbacks + server->fallbacks);
	split_line("  SMC connections", stats_client(tech), stats_server(tech), details);
	if (details) {
		print_stats_line("    v1", tech->client_v1 + tech->server_v1);
		print_stats_line("    v2", tech->client_v2 + tech->server_v2);
	}
	split_line("  Handshake errors", client->handshake_errors,
		   server->handshake_errors, details);
	printf("%-*s%*.1f\n", LABEL_WIDTH, "  Avg requests per SMC conn",
	       VALUE_WIDTH + 2, conns ? (double)requests / conns : 0.0);
	split_line("  TCP fallback", client->fallbacks, server->fallbacks, details);
	if (details) {
		print_reasons("Server", server);
		print_reasons("Client", client);
	}
}

/* Lines that both directions have */
static void print_traffic(uint64_t bytes, uint64_t requests, uint64_t usage)
{
	print_short_line("  Data transmitted (Bytes)", bytes);
	print_stats_line("  Total requests", requests);
	print_short_line("  Buffer usage (Bytes)", usage);
}

static void print_buffers(const struct buffer_events *events, const uint64_t *buffers,
			  const uint64_t *requests, bool details)
{
	static const char * const sizes[] = {
		"8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "512KB", ">512KB",
	};
	size_t i;

	if (details) {
		print_stats_line("  Buffer downgrades", events->downgrade);
		print_stats_line("  Buffer reuses", events->reuse);
	}
	printf("%7s", "");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		printf("%8s", sizes[i]);
	putchar('\n');
	size_line("Bufs", buffers);
	size_line("Reqs", requests);
}

static void print_rx(const struct tech_stats *tech, bool details)
{
	puts("\nRX Stats");
	print_traffic(tech->rx_bytes, tech->rx_count, tech->rx_usage);
	percent_line("  Buffer full", tech->rx_events.full, tech->rx_count);
	print_buffers(&tech->rx_events, tech->rx_buffers, tech->rx_requests, details);
}

static void print_tx(const struct tech_stats *tech, bool details)
{
	const struct buffer_events *events = &tech->tx_events;

	puts("\nTX Stats");
	print_traffic(tech->tx_bytes, tech->tx_count, tech->tx_usage);
	percent_line("  Buffer full", events->full, tech->tx_count);
	percent_line("  Buffer full (remote)", events->full_peer, tech->tx_count);
	percent_line("  Buffer too small", events->too_small, tech->tx_count);
	percent_line("  Buffer too small (remote)", events->too_small_peer,
		     tech->tx_count);
	print_buffers(events, tech->tx_buffers, tech->tx_requests, details);
}

static void print_extras(const struct tech_stats *tech, bool details)
{
	puts("\nExtras");
	print_stats_line("  Special socket calls", tech->cork + tech->nodelay + tech->sendpage +
			 tech->splice + tech->urgent);
	if (!details)
		return;
	print_stats_line("    cork", tech->cork);
	print_stats_line("    nodelay", tech->nodelay);
	print_stats_line("    sendpage", tech->sendpage);
	print_stats_line("    splice", tech->splice);
	print_stats_line("    urgent data", tech->urgent);
}

void stats_print(const struct stats *stats, bool smcd, bool details)
{
	const struct tech_stats *tech = smcd ? &stats->smcd : &stats->smcr;

	print_connections(stats, smcd, details);
	print_rx(tech, details);
	print_tx(tech, details);
	print_extras(tech, details);
}

/* Names that scripts use; the values have this order in struct tech_stats */
static const char * const size_names[] = {
	"8K", "16K", "32K", "64K", "128K", "256K", "512K", "1024K", "G_1024K",
};

static const char * const event_names[] = {
	"SIZE_SM_PEER", "SIZE_SM", "FULL_PEER", "FULL", "REUSE", "ALLOC", "DGRADE",
};

static const char * const other_names[] = {
	"SMC_CLNT_V1_SUCC_CNT", "SMC_CLNT_V2_SUCC_CNT", "SMC_SRV_V1_SUCC_CNT",
	"SMC_SRV_V2_SUCC_CNT", "SMC_SENDPAGE_CNT", "SMC_URG_DATA_CNT",
	"SMC_SPLICE_CNT", "SMC_CORK_CNT", "SMC_NDLY_CNT", "SMC_RX_BYTES",
	"SMC_TX_BYTES", "SMC_RX_CNT", "SMC_TX_CNT", "SMC_RX_RMB_USAGE",
	"SMC_TX_RMB_USAGE",
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

_Static_assert(TECH_VALUES == 4 * COUNT(size_names) + 2 * COUNT(event_names) +
	       COUNT(other_names), "every value has a name");

static const uint64_t *json_group(struct json *j, const uint64_t *next,
				  const char *format, const char * const *names,
				  size_t count)
{
	char name[64];
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), format, names[i]);
		json_uint(j, name, *next++);
	}
	return next;
}

void stats_json_tech(struct json *j, const struct stats *stats, bool smcd)
{
	const uint64_t *next = (const uint64_t *)(smcd ? &stats->smcd : &stats->smcr);
	static const char * const size_formats[] = {
		"SMC_INT_TX_BUF_%s", "SMC_INT_RX_BUF_%s",
		"SMC_USR_TX_BUF_%s", "SMC_USR_RX_BUF_%s",
	};
	size_t i;

	json_object(j, smcd ? "SMCD" : "SMCR");
	for (i = 0; i < COUNT(size_formats); i++)
		next = json_group(j, next, size_formats[i], size_names,
				  COUNT(size_names));
	next = json_group(j, next, "SMC_INT_TX_BUF_%s_CNT", event_names,
			  COUNT(event_names));
	next = json_group(j, next, "SMC_INT_RX_BUF_%s_CNT", event_names,
			  COUNT(event_names));
	json_group(j, next, "%s", other_names, COUNT(other_names));
	json_object_end(j);
}

static void json_side(struct json *j, const char *key, const struct side_stats *side)
{
	size_t i;

	json_object(j, key);
	json_uint(j, "handshake_errors", side->handshake_errors);
	json_uint(j, "fallbacks", side->fallbacks);
	json_array(j, "reasons");
	for (i = 0; i < side->reasons; i++) {
		json_object(j, NULL);
		json_hex(j, "code", side->reason[i].code, 8);
		json_string(j, "name", reason_name(side->reason[i].code));
		json_string(j, "text", reason_text(side->reason[i].code));
		json_uint(j, "count", side->reason[i].count);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void stats_json_sides(struct json *j, const struct stats *stats)
{
	json_side(j, "client", &stats->client);
	json_side(j, "server", &stats->server);
}
