// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach.h"
#include "json.h"
#include "namespace.h"
#include "pins.h"
#include "scope.h"
#include "status.h"
#include "unit.h"

#define NOT_CAUGHT \
	"Not caught: sockets that were there before; sockets of the kernel itself (NFS and\n" \
	"others); those that io_uring creates; those that another program hands over, as\n" \
	"systemd does for socket units.\n"

static const char *format_time(uint64_t seconds, char *buf, size_t size)
{
	time_t value = seconds;
	struct tm tm;

	if (!localtime_r(&value, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, size, "%llu", (unsigned long long)seconds);
	return buf;
}

static void print_rule(const struct policy_key *key, const struct policy_rule *rule)
{
	char what[POLICY_LABEL_LEN + 32], since[32];

	snprintf(what, sizeof(what), "%s%s%s%s", rule->except ? "except " : "",
		 scope_kind(key->kind), *rule->label ? " " : "", rule->label);
	printf("  %-32s since %s, %llu sockets %s%s\n", what,
	       format_time(rule->since, since, sizeof(since)), rule->sockets,
	       rule->except ? "left alone" : "changed",
	       scope_is_gone(key) ? ", gone" : "");
}

static void print_now(const struct sockets_now *now)
{
	printf("Now: %u connections over SMC-D, %u over SMC-R, %u over TCP, %u listening sockets\n",
	       now->smcd, now->smcr, now->tcp, now->listening);
	printf("in %u network namespace%s, with those of smc_run.\n", now->namespaces,
	       now->namespaces == 1 ? "" : "s");
	puts("\"smcss -aNp\" names their processes.");
	if (now->unknown)
		printf("In %u of them the kernel does not tell: \"modprobe smc_diag\" may help.\n",
		       now->unknown);
}

static void print_drop_in(const char *unit, const char *path, void *data)
{
	printf("Each start of %s asks for SMC: %s\n", unit, path);
}

static void print_off(void)
{
	const char *obstacle = policy_obstacle();

	puts("off: programs get SMC sockets only if they ask for them, or by smc_run");
	if (pins_are_left())
		puts("A command was interrupted; \"smc off\" cleans up.");
	if (obstacle)
		printf("It cannot be switched on: %s.\n", obstacle);
	unit_list_drop_ins(print_drop_in, NULL);
}

static void print_policy_state(const struct policy *policy, const struct policy_state *state)
{
	struct policy_key key = { };
	struct policy_rule rule;
	struct sockets_now now;
	char since[32];
	bool begin;

	printf("on since %s\n", format_time(state->since, since, sizeof(since)));
	for (begin = true; policy_next_rule(policy, &key, begin); begin = false)
		if (policy_get_rule(policy, &key, &rule))
			print_rule(&key, &rule);
	printf("Changed: %llu sockets", state->changed);
	if (state->mptcp)
		printf("; %llu of them were to be MPTCP and lose that", state->mptcp);
	puts(".");
	namespace_count_sockets(&now);
	print_now(&now);
	unit_list_drop_ins(print_drop_in, NULL);
	fputs(NOT_CAUGHT, stdout);
	puts("The module smc cannot be unloaded while this is on.");
}

static void write_rule(struct json *j, const struct policy_key *key,
		       const struct policy_rule *rule)
{
	json_object(j, NULL);
	json_string(j, "kind", scope_kind(key->kind));
	json_string(j, "name", rule->label);
	json_bool(j, "except", rule->except);
	json_uint(j, "since", rule->since);
	json_uint(j, "sockets", rule->sockets);
	json_bool(j, "gone", scope_is_gone(key));
	json_object_end(j);
}

static void write_drop_in(const char *unit, const char *path, void *data)
{
	struct json *j = data;

	json_object(j, NULL);
	json_string(j, "unit", unit);
	json_string(j, "path", path);
	json_object_end(j);
}

static void write_now(struct json *j)
{
	struct sockets_now now;

	namespace_count_sockets(&now);
	json_object(j, "now");
	json_uint(j, "smcd", now.smcd);
	json_uint(j, "smcr", now.smcr);
	json_uint(j, "tcp", now.tcp);
	json_uint(j, "listening", now.listening);
	json_uint(j, "namespaces", now.namespaces);
	json_uint(j, "unknown", now.unknown);
	json_object_end(j);
}

static void write_json(const struct policy *policy, const struct policy_state *state)
{
	struct json j = { .out = stdout };
	const char *obstacle = policy_obstacle();
	struct policy_key key = { };
	struct policy_rule rule;
	bool begin;

	json_object(&j, NULL);
	json_bool(&j, "on", policy);
	if (obstacle)
		json_string(&j, "obstacle", obstacle);
	if (policy) {
		json_uint(&j, "since", state->since);
		json_uint(&j, "changed", state->changed);
		json_uint(&j, "mptcp", state->mptcp);
		json_array(&j, "rules");
		for (begin = true; policy_next_rule(policy, &key, begin); begin = false)
			if (policy_get_rule(policy, &key, &rule))
				write_rule(&j, &key, &rule);
		json_array_end(&j);
		write_now(&j);
	}
	json_array(&j, "units");
	unit_list_drop_ins(write_drop_in, &j);
	json_array_end(&j);
	json_object_end(&j);
}

int policy_status(bool as_json)
{
	struct policy_state state;
	struct policy policy;

	if (!pins_lock(false))
		return POLICY_UNKNOWN;
	if (!pins_exist()) {
		if (as_json)
			write_json(NULL, NULL);
		else
			print_off();
		return POLICY_OFF;
	}
	if (!policy_open(&policy) || !policy_get_state(&policy, &state))
		return POLICY_UNKNOWN;
	if (as_json)
		write_json(&policy, &state);
	else
		print_policy_state(&policy, &state);
	policy_close(&policy);
	return POLICY_DONE;
}
