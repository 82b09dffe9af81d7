// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "keep.h"
#include "pair.h"
#include "place.h"
#include "status.h"
#include "version.h"

static bool is_there(const struct end *end)
{
	return end->client.fd >= 0;
}

static const char *pair_state(const struct pair *pair)
{
	int there = is_there(&pair->end[0]) + is_there(&pair->end[1]);
	static const char * const names[] = { "empty", "half", "up" };

	return names[there];
}

static uint64_t pair_size(const struct pair *pair)
{
	return pair->memory >= 0 ? pair->kept->size : pair->kept->next_size;
}

static uint32_t pair_vectors(const struct pair *pair)
{
	return pair->memory >= 0 ? pair->kept->vectors : pair->kept->next_vectors;
}

static uint64_t pair_touched(const struct pair *pair)
{
	return pair->memory >= 0 ? memory_touched(pair->memory) : 0;
}

static const char *end_name(const struct end *end)
{
	return end->pair->kept->name[end->side];
}

static void print_end(FILE *out, const struct end *end)
{
	fprintf(out, "  %-20s", end_name(end));
	if (is_there(end))
		fprintf(out, " number %u,", end->kept->id);
	fprintf(out, " came %u times%s%s%s\n", end->kept->joins,
		end_is_behind(end) ? ", does not read" : "",
		end_is_held(end) ? ", has hung up and not read all" : "",
		end_has_queue(end) ? ", another client waits" : "");
}

void status_text(FILE *out, const struct service *service)
{
	const struct pair *pair;
	char size[SIZE_TEXT];
	unsigned int i;

	fprintf(out, "fabric %u, up for %" PRIu64 " s, started %u times, %s\n",
		service->host->fabric, (uint64_t)(time(NULL) - service->started),
		service->restarts + 1,
		keep_has_store() ? "pairs survive a restart" : "nothing survives a restart");
	for (pair = pairs_first(); pair; pair = pair->next) {
		fprintf(out, "%s/%s: %s, %s, %" PRIu64 " KiB touched%s\n", pair->kept->name[0],
			pair->kept->name[1], pair_state(pair), policy_size(pair_size(pair), size),
			pair_touched(pair), pair->allowed ? "" : ", not in the policy any more");
		for (i = 0; i < 2; i++)
			print_end(out, &pair->end[i]);
	}
}

static void json_end(struct json *j, const struct end *end)
{
	char path[PLACE_BYTES];

	place_socket(path, end_name(end), end_name(&end->pair->end[!end->side]));
	json_object(j, NULL);
	json_string(j, "vm", end_name(end));
	json_string(j, "socket", path);
	json_bool(j, "listening", end->listener.fd >= 0);
	if (is_there(end))
		json_uint(j, "number", end->kept->id);
	else
		json_null(j, "number");
	json_uint(j, "joins", end->kept->joins);
	json_uint(j, "interrupts", end->kept->rings);
	json_bool(j, "behind", end_is_behind(end));
	json_bool(j, "held", end_is_held(end));
	json_bool(j, "waiting", end_has_queue(end));
	json_object_end(j);
}

static void json_pair(struct json *j, const struct pair *pair)
{
	json_object(j, NULL);
	json_string(j, "state", pair_state(pair));
	json_bool(j, "allowed", pair->allowed);
	json_uint(j, "size", pair_size(pair));
	json_uint(j, "vectors", pair_vectors(pair));
	json_uint(j, "touched_kib", pair_touched(pair));
	if (pair->memory >= 0)
		json_hex(j, "memory", pair->kept->memory, 8);
	else
		json_null(j, "memory");
	json_array(j, "ends");
	json_end(j, &pair->end[0]);
	json_end(j, &pair->end[1]);
	json_array_end(j);
	json_object_end(j);
}

static void json_seed(struct json *j, const struct host *host)
{
	char text[2 * HOST_SEED_BYTES + 1];
	int i;

	for (i = 0; i < HOST_SEED_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", host->seed[i]);
	json_string(j, "host_seed", text);
}

void status_json(FILE *out, const struct service *service)
{
	struct json j = { .out = out };
	const struct pair *pair;

	json_object(&j, NULL);
	json_string(&j, "version", SMC_TOOLS_VERSION);
	json_uint(&j, "pid", getpid());
	json_uint(&j, "fabric", service->host->fabric);
	json_seed(&j, service->host);
	json_bool(&j, "kept", keep_has_store());
	json_uint(&j, "started", service->started);
	json_uint(&j, "restarts", service->restarts);
	json_uint(&j, "reloads", service->reloads);
	json_uint(&j, "failed_reloads", service->failed_reloads);
	json_array(&j, "pairs");
	for (pair = pairs_first(); pair; pair = pair->next)
		json_pair(&j, pair);
	json_array_end(&j);
	json_object_end(&j);
}

struct metric {
	const char *name;
	const char *type;
	const char *help;
	uint64_t (*of_pair)(const struct pair *pair);
	uint64_t (*of_end)(const struct end *end);
};

static uint64_t end_there(const struct end *end)
{
	return is_there(end);
}

static uint64_t end_joins(const struct end *end)
{
	return end->kept->joins;
}

static uint64_t end_rings(const struct end *end)
{
	return end->kept->rings;
}

static uint64_t end_behind(const struct end *end)
{
	return end_is_behind(end);
}

static uint64_t get_end_waiting(const struct end *end)
{
	return end_has_queue(end);
}

static uint64_t pair_allowed(const struct pair *pair)
{
	return pair->allowed;
}

static uint64_t pair_touched_bytes(const struct pair *pair)
{
	return pair_touched(pair) << 10;
}

static const struct metric metrics[] = {
	{ "smc_ismd_pair_allowed", "gauge", "The policy has this pair.", .of_pair = pair_allowed },
	{ "smc_ismd_pair_size_bytes", "gauge", "Size of the memory.", .of_pair = pair_size },
	{ "smc_ismd_pair_touched_bytes", "gauge", "Memory that is really there.",
	  .of_pair = pair_touched_bytes },
	{ "smc_ismd_present", "gauge", "The machine is there.", .of_end = end_there },
	{ "smc_ismd_joins", "counter", "How often it came.", .of_end = end_joins },
	{ "smc_ismd_interrupts", "counter", "How often the host interrupted it.",
	  .of_end = end_rings },
	{ "smc_ismd_behind", "gauge", "It does not read what changed.", .of_end = end_behind },
	{ "smc_ismd_waiting", "gauge", "A second client waits for its place.",
	  .of_end = get_end_waiting },
};

/* names of machines need no quoting */
static void print_metric(FILE *out, const struct metric *metric)
{
	const char *suffix = metric->type[0] == 'c' ? "_total" : "";
	const struct pair *pair;
	int i;

	fprintf(out, "# TYPE %s %s\n# HELP %s %s\n", metric->name, metric->type, metric->name,
		metric->help);
	for (pair = pairs_first(); pair; pair = pair->next) {
		if (metric->of_pair)
			fprintf(out, "%s%s{vm=\"%s\",peer=\"%s\"} %" PRIu64 "\n", metric->name,
				suffix, pair->kept->name[0], pair->kept->name[1],
				metric->of_pair(pair));
		for (i = 0; i < 2 && metric->of_end; i++)
			fprintf(out, "%s%s{vm=\"%s\",peer=\"%s\"} %" PRIu64 "\n", metric->name,
				suffix, pair->kept->name[i], pair->kept->name[!i],
				metric->of_end(&pair->end[i]));
	}
}

void status_openmetrics(FILE *out, const struct service *service)
{
	unsigned int i;

	fprintf(out, "# TYPE smc_ismd_restarts counter\n"
		"# HELP smc_ismd_restarts How often the daemon took over from an earlier one.\n"
		"smc_ismd_restarts_total %u\n", service->restarts);
	fprintf(out, "# TYPE smc_ismd_failed_reloads counter\n"
		"# HELP smc_ismd_failed_reloads How often a policy was rejected.\n"
		"smc_ismd_failed_reloads_total %u\n", service->failed_reloads);
	for (i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		print_metric(out, &metrics[i]);
	fputs("# EOF\n", out);
}
