// SPDX-License-Identifier: GPL-2.0-only
/* Statistics as rates per second, one line for each interval */
#include <stdio.h>

#include "stats.h"

struct rates {
	double	connections;
	double	fallbacks;
	double	errors;
	double	rx_requests;
	double	tx_requests;
	double	rx_bytes;
	double	tx_bytes;
};

static void compute_rates(struct rates *rates, const struct stats *diff, double seconds,
			  bool smcd)
{
	const struct tech_stats *tech = smcd ? &diff->smcd : &diff->smcr;

	rates->connections = (stats_client(tech) + stats_server(tech)) / seconds;
	rates->fallbacks = (diff->client.fallbacks + diff->server.fallbacks) / seconds;
	rates->errors = (diff->client.handshake_errors +
			 diff->server.handshake_errors) / seconds;
	rates->rx_requests = tech->rx_count / seconds;
	rates->tx_requests = tech->tx_count / seconds;
	rates->rx_bytes = tech->rx_bytes / seconds;
	rates->tx_bytes = tech->tx_bytes / seconds;
}

void stats_rate_header(void)
{
	puts("  Conns/s Fallbk/s HSerrs/s RxReqs/s TxReqs/s   RxB/s    TxB/s");
}

static void print_cell(double value)
{
	char text[STATS_SHORT_LEN];

	if (value < 999.95)
		printf(" %8.1f", value);
	else
		printf(" %8s", stats_short(value + 0.5, text));
}

static void print_row(const struct rates *rates)
{
	print_cell(rates->connections);
	print_cell(rates->fallbacks);
	print_cell(rates->errors);
	print_cell(rates->rx_requests);
	print_cell(rates->tx_requests);
	print_cell(rates->rx_bytes);
	print_cell(rates->tx_bytes);
	putchar('\n');
}

static void print_json(struct json *j, const struct rates *rates, double seconds)
{
	json_object(j, NULL);
	json_float(j, "seconds", seconds);
	json_float(j, "connections", rates->connections);
	json_float(j, "fallbacks", rates->fallbacks);
	json_float(j, "handshake_errors", rates->errors);
	json_float(j, "rx_requests", rates->rx_requests);
	json_float(j, "tx_requests", rates->tx_requests);
	json_float(j, "rx_bytes", rates->rx_bytes);
	json_float(j, "tx_bytes", rates->tx_bytes);
	json_object_end(j);
}

void stats_rate(const struct stats *diff, double seconds, bool smcd, struct json *j)
{
	struct rates rates;

	compute_rates(&rates, diff, seconds, smcd);
	if (j)
		print_json(j, &rates, seconds);
	else
		print_row(&rates);
}
