// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "listener.h"
#include "pins.h"
#include "policy.h"
#include "problem.h"
#include "scope.h"
#include "status.h"
#include "unit.h"
#include "version.h"

#define MAX_SCOPES	64
#define EXCEPT		"except-"
#define SELINUX_MODE	"/sys/fs/selinux/enforce"

#define NOT_RUNNING "unit %s does not run, and is no service that could ask for SMC when it does"
#define BY_PRELOAD "%s: the library of smc_run is used, which does nothing for static, set-uid " \
		"and Go programs"
#define ENFORCING "SELinux is enforcing: it treats SMC sockets as rawip_socket, and denies " \
		"socket() to programs that it confines to TCP; --force switches SMC on anyway"

/* Long options without a letter */
enum {
	OPT_SCOPE	= 256,
	OPT_EXCEPT	= OPT_SCOPE + POLICY_KINDS,
	OPT_UNIT	= OPT_EXCEPT + POLICY_KINDS,
	OPT_PERSISTENT,
	OPT_FORCE,
	OPT_CHECK,
};

/**
 * struct request - the parsed command line
 * @scopes: rules to be added or deleted
 * @count: number of @scopes
 * @units: units
 * @unit_count: number of @units
 * @is_off: the command is "off"
 * @persistent: units keep it after a reboot
 * @force: also if SELinux may deny the sockets
 * @check: test whether it would work, but change nothing
 * @as_json: output of status is for a program
 */
struct request {
	struct scope	scopes[MAX_SCOPES];
	size_t		count;
	struct unit	units[MAX_SCOPES];
	size_t		unit_count;
	bool		is_off;
	bool		persistent;
	bool		force;
	bool		check;
	bool		as_json;
};

static void print_policy_usage(FILE *out)
{
	fputs("Usage: smc on WHAT...\n"
	      "       smc off [WHAT...]\n"
	      "       smc status [-j]\n"
	      "\n"
	      "Programs that ask for TCP get SMC sockets, from now on and whatever they are.\n"
	      "Without WHAT, \"smc off\" ends it for all. WHAT is one or more of\n"
	      "\n"
	      "  --host                  all programs\n"
	      "  --cgroup PATH           those in a cgroup and below it; \"self\" is this one\n"
	      "  --netns NAME            those in a network namespace, by its name or path\n"
	      "  --unit UNIT             those of a unit of systemd, also when it starts again\n"
	      "  --user NAME             those of a user, by name or number\n"
	      "  --program NAME          those of this name, as \"ps -o comm\" shows it\n"
	      "  --except-cgroup PATH, --except-netns NAME, --except-user NAME,\n"
	      "  --except-program NAME   these stay TCP, whatever else is on\n"
	      "\n"
	      "  --persistent    units: also after the next boot\n"
	      "  --force         also where SELinux is enforcing\n"
	      "  --check         on: look whether it makes sense, and change nothing\n"
	      "  -j, --json      status: write JSON\n"
	      "  -h, --help      show this help\n"
	      "  -v, --version   show the version\n", out);
}

bool policy_is_command(const char *word)
{
	return !strcmp(word, "on") || !strcmp(word, "off") || !strcmp(word, "status");
}

static bool add_scope(struct request *request, enum policy_kind kind, bool except,
		      const char *word)
{
	struct scope *scope = &request->scopes[request->count];
	size_t i;

	if (request->count == MAX_SCOPES)
		return problem("at most %u at once", MAX_SCOPES);
	if (!scope_find(scope, kind, word, request->is_off))
		return false;
	scope->except = except;
	for (i = 0; i < request->count && !request->is_off; i++)
		if (!memcmp(&request->scopes[i].key, &scope->key, sizeof(scope->key)))
			return problem("%s %s is named twice", scope_kind(kind), scope->label);
	request->count++;
	return true;
}

static bool add_unit(struct request *request, const char *word)
{
	if (request->unit_count == MAX_SCOPES)
		return problem("at most %u units at once", MAX_SCOPES);
	return unit_find(&request->units[request->unit_count++], word);
}

static void print_scope(const char *state, const struct scope *scope)
{
	printf("%s: %s%s%s%s\n", state, scope->except ? EXCEPT : "", scope_kind(scope->key.kind),
	       *scope->label ? " " : "", scope->label);
}

/* Rules of removed cgroups would fill the map */
static void delete_gone(const struct policy *policy)
{
	struct policy_key key = { }, last;
	bool begin = true;

	while (policy_next_rule(policy, &key, begin)) {
		last = key;
		begin = scope_is_gone(&last) && policy_delete_rule(policy, &last);
	}
}

static bool is_empty(const struct policy *policy)
{
	struct policy_key key;

	return !policy_next_rule(policy, &key, true);
}

/* Returns: 1 if the rule exists, 0 if not, -1 if the opposite rule exists */
static int look_up(const struct policy *policy, const struct scope *scope)
{
	struct policy_rule rule;

	if (!policy_get_rule(policy, &scope->key, &rule))
		return 0;
	return rule.except == scope->except ? 1 : -1;
}

static bool is_consistent(const struct policy *policy, const struct request *request)
{
	size_t i;

	for (i = 0; i < request->count; i++) {
		const struct scope *scope = &request->scopes[i];
		const char *kind = scope_kind(scope->key.kind);
		const char *except = scope->except ? "" : EXCEPT;

		if (look_up(policy, scope) < 0)
			return problem("%s %s is %s already: \"smc off --%s%s %s\" first", kind,
				       scope->label, scope->except ? "on" : "an exception",
				       except, kind, scope->label);
	}
	return true;
}

/* Delete the rules of the first @count scopes */
static void delete_added(const struct policy *policy, const struct request *request, size_t count)
{
	while (count--)
		if (!request->scopes[count].was_there)
			policy_delete_rule(policy, &request->scopes[count].key);
}

static bool add_rules(const struct policy *policy, struct request *request)
{
	struct policy_rule rule;
	size_t i;
	int err;

	for (i = 0; i < request->count; i++) {
		struct scope *scope = &request->scopes[i];

		memset(&rule, 0, sizeof(rule));
		rule.since = time(NULL);
		rule.except = scope->except;
		memcpy(rule.label, scope->label, sizeof(rule.label));
		err = policy_add_rule(policy, &scope->key, &rule);
		if (err && err != -EEXIST)
			break;
		scope->was_there = err;
	}
	if (i == request->count)
		return true;
	delete_added(policy, request, i);
	if (err == -E2BIG)
		return problem("there are %u rules already; \"smc off\" removes some",
			       POLICY_MAX_RULES);
	return problem("the kernel rejects the rule: %s", strerror(-err));
}

static bool switch_on_rules(struct request *request)
{
	bool fresh = !pins_exist(), ok;
	struct policy policy;

	if (fresh ? !policy_attach(&policy) : !policy_open(&policy))
		return false;
	delete_gone(&policy);
	ok = is_consistent(&policy, request) && add_rules(&policy, request);
	policy_close(&policy);
	if (!ok && fresh)
		pins_remove();
	return ok;
}

static void print_what_is_on(const struct request *request)
{
	const struct scope *scope;
	size_t i;

	for (i = 0; i < request->count; i++) {
		scope = &request->scopes[i];
		print_scope(scope->was_there ? "already on" : "on", scope);
	}
}

static void print_listeners(const struct request *request)
{
	struct policy policy;

	if (!request->count || !policy_open(&policy))
		return;
	listener_print(&policy);
	policy_close(&policy);
}

/* The policy rule is for the running cgroup of the unit; its drop-in is for later starts */
static bool add_unit_cgroups(struct request *request)
{
	size_t i;

	for (i = 0; i < request->unit_count; i++) {
		const struct unit *unit = &request->units[i];

		if (*unit->cgroup && !add_scope(request, POLICY_CGROUP, false, unit->cgroup))
			return false;
		if (!*unit->cgroup && !unit_is_service(unit))
			return problem(NOT_RUNNING, unit->name);
	}
	return true;
}

static bool write_drop_ins(const struct request *request, enum unit_way way)
{
	size_t i;

	for (i = 0; i < request->unit_count; i++) {
		const struct unit *unit = &request->units[i];

		if (unit_is_service(unit) &&
		    !unit_write_drop_in(unit, way, request->persistent, request->force)) {
			while (i--)
				unit_remove_drop_ins(&request->units[i]);
			return false;
		}
		printf("on: unit %s, %s\n", unit->name,
		       !unit_is_service(unit) ? "as long as it runs" :
		       way == UNIT_BY_PRELOAD ? "from its next start on" : "each time it starts");
	}
	return true;
}

/* Delete the rules that were added before another step failed */
static void undo_rules(const struct request *request)
{
	struct policy policy;
	bool empty;

	if (!request->count || !policy_open(&policy))
		return;
	delete_added(&policy, request, request->count);
	empty = is_empty(&policy);
	policy_close(&policy);
	if (empty)
		pins_remove();
}

/* Use the preload library if the kernel does not support the policy */
static bool switch_on_preload(const struct request *request, const char *obstacle)
{
	size_t i;

	if (request->count || !request->unit_count)
		return problem("%s; start programs with smc_run, or use --unit", obstacle);
	for (i = 0; i < request->unit_count; i++)
		if (!unit_is_service(&request->units[i]))
			return problem("%s, and %s is not a service that could start with smc_run",
				       obstacle, request->units[i].name);
	remark(BY_PRELOAD, obstacle);
	return request->check || write_drop_ins(request, UNIT_BY_PRELOAD);
}

/* SELinux checks the protocol that the policy has chosen */
static bool is_selinux_enforcing(void)
{
	FILE *file = fopen(SELINUX_MODE, "re");
	bool enforcing;

	if (!file)
		return false;
	enforcing = getc(file) == '1';
	fclose(file);
	return enforcing;
}

static int switch_on(struct request *request)
{
	const char *obstacle;

	if (!request->count && !request->unit_count) {
		problem("on for what? --host, --cgroup, --netns, --unit, --user or --program");
		return POLICY_USAGE;
	}
	if (request->persistent && request->count) {
		problem("--persistent is for units; for others see smc-policy.service in smc(8)");
		return POLICY_USAGE;
	}
	obstacle = policy_obstacle();
	if (obstacle)
		return switch_on_preload(request, obstacle) ? POLICY_DONE : POLICY_FAILED;
	if (!request->force && is_selinux_enforcing()) {
		problem(ENFORCING);
		return POLICY_FAILED;
	}
	if (!add_unit_cgroups(request))
		return POLICY_FAILED;
	if (request->check)
		return POLICY_DONE;
	if (!pins_lock(true) ||
	    (request->count && !switch_on_rules(request)))
		return POLICY_FAILED;
	if (write_drop_ins(request, UNIT_BY_POLICY)) {
		print_what_is_on(request);
		print_listeners(request);
		return POLICY_DONE;
	}
	undo_rules(request);
	return POLICY_FAILED;
}

/* Does the rule apply to everything that the scope includes? */
static bool is_wider(const struct policy_key *key, const struct policy_rule *rule,
		     const struct scope *scope)
{
	size_t len = strlen(rule->label);

	if (rule->except)
		return false;
	if (key->kind == POLICY_HOST)
		return true;
	return key->kind == POLICY_CGROUP && scope->key.kind == POLICY_CGROUP &&
	       !strncmp(scope->label, rule->label, len) && scope->label[len] == '/';
}

static void tell_what_stays(const struct policy *policy, const struct scope *scope)
{
	struct policy_key key = { };
	struct policy_rule rule;
	bool begin;

	for (begin = true; policy_next_rule(policy, &key, begin); begin = false)
		if (policy_get_rule(policy, &key, &rule) && is_wider(&key, &rule, scope))
			remark("it is still on there, by --%s%s%s", scope_kind(key.kind),
			       *rule.label ? " " : "", rule.label);
}

/*
 * The name of a network namespace, user or cgroup may now belong to another one, or not exist any
 * more. An existing cgroup may have the same path below another root.
 */
static bool is_meant(const struct policy_key *key, const struct policy_rule *rule,
		     const struct scope *scope)
{
	if (!rule->except != !scope->except)
		return false;
	if (!memcmp(key, &scope->key, sizeof(*key)))
		return true;
	if (key->kind != scope->key.kind || strcmp(rule->label, scope->label))
		return false;
	return key->kind == POLICY_NETNS || key->kind == POLICY_USER || scope_is_gone(key);
}

/* Cgroups and network namespaces are temporary, but users are not: that name is wrong */
static bool tell_no_rule(const struct scope *scope)
{
	if (!scope->missing) {
		print_scope("was not on", scope);
		return true;
	}
	remark("there is no %s %s, and no rule for it", scope->key.kind == POLICY_NETNS ?
	       "network namespace" : scope_kind(scope->key.kind), scope->label);
	return scope->key.kind != POLICY_USER;
}

static bool delete_rule(const struct policy *policy, const struct scope *scope)
{
	struct policy_key key = { };
	struct policy_rule rule;
	bool begin = true, found = false, ok = true;

	while (policy_next_rule(policy, &key, begin)) {
		struct policy_key last = key;

		begin = policy_get_rule(policy, &last, &rule) && is_meant(&last, &rule, scope) &&
			policy_delete_rule(policy, &last);
		found |= begin;
	}
	if (found)
		print_scope("off", scope);
	else
		ok = tell_no_rule(scope);
	if (!scope->except && (found || !scope->missing))
		tell_what_stays(policy, scope);
	return ok;
}

static bool switch_off_rules(const struct request *request)
{
	bool empty, ok = true;
	struct policy policy;
	size_t i;

	if (!pins_exist()) {
		for (i = 0; i < request->count; i++)
			ok &= tell_no_rule(&request->scopes[i]);
		return ok;
	}
	if (!policy_open(&policy))
		return false;
	for (i = 0; i < request->count; i++)
		ok &= delete_rule(&policy, &request->scopes[i]);
	delete_gone(&policy);
	empty = is_empty(&policy);
	policy_close(&policy);
	return (!empty || pins_remove()) && ok;
}

static bool switch_off_units(const struct request *request)
{
	size_t i;
	int ret;

	for (i = 0; i < request->unit_count; i++) {
		ret = unit_remove_drop_ins(&request->units[i]);
		if (ret < 0)
			return problem("the drop-in of unit %s stays: %s", request->units[i].name,
				       strerror(-ret));
		printf("%s: unit %s\n", ret ? "off" : "was not on", request->units[i].name);
	}
	return true;
}

static void tell_drop_in(const char *unit, const char *path, void *data)
{
	remark("%s will ask for SMC when it starts: \"smc off --unit %s\"", unit, unit);
}

static int switch_off(struct request *request)
{
	bool was_on, ok;
	size_t i;

	if (!pins_lock(false))
		return POLICY_FAILED;
	if (!request->count && !request->unit_count) {
		was_on = pins_exist();
		if (!pins_remove())
			return POLICY_FAILED;
		puts(was_on ? "off" : "was not on");
		unit_list_drop_ins(tell_drop_in, NULL);
		return POLICY_DONE;
	}
	for (i = 0; i < request->unit_count; i++)
		if (*request->units[i].cgroup &&
		    !add_scope(request, POLICY_CGROUP, false, request->units[i].cgroup))
			return POLICY_FAILED;
	ok = !request->count || switch_off_rules(request);
	return switch_off_units(request) && ok ? POLICY_DONE : POLICY_FAILED;
}

static bool is_allowed(void)
{
	return !geteuid() || problem("only root may see or change which programs use SMC");
}

/* Returns: POLICY_DONE, or the exit status after an error message */
static int take_option(struct request *request, int opt)
{
	bool ok;

	if (!is_allowed())
		return POLICY_FAILED;
	if (opt == OPT_UNIT)
		ok = add_unit(request, optarg);
	else if (opt >= OPT_EXCEPT)
		ok = add_scope(request, opt - OPT_EXCEPT, true, optarg);
	else
		ok = add_scope(request, opt - OPT_SCOPE, false, optarg);
	return ok ? POLICY_DONE : POLICY_FAILED;
}

static int run_policy_command(const char *command, struct request *request)
{
	bool has_scopes = request->count || request->unit_count || request->persistent ||
			  request->force || request->check;

	if (!is_allowed())
		return POLICY_UNKNOWN;
	if (!strcmp(command, "on") && !request->as_json)
		return switch_on(request);
	if (!strcmp(command, "off") && !request->as_json && !request->persistent &&
	    !request->check)
		return switch_off(request);
	if (!strcmp(command, "status") && !has_scopes)
		return policy_status(request->as_json);
	print_policy_usage(stderr);
	return POLICY_USAGE;
}

int policy_command(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "host",		no_argument,		NULL, OPT_SCOPE + POLICY_HOST },
		{ "cgroup",		required_argument,	NULL, OPT_SCOPE + POLICY_CGROUP },
		{ "netns",		required_argument,	NULL, OPT_SCOPE + POLICY_NETNS },
		{ "user",		required_argument,	NULL, OPT_SCOPE + POLICY_USER },
		{ "program",		required_argument,	NULL, OPT_SCOPE + POLICY_PROGRAM },
		{ "except-cgroup",	required_argument,	NULL, OPT_EXCEPT + POLICY_CGROUP },
		{ "except-netns",	required_argument,	NULL, OPT_EXCEPT + POLICY_NETNS },
		{ "except-user",	required_argument,	NULL, OPT_EXCEPT + POLICY_USER },
		{ "except-program",	required_argument,	NULL, OPT_EXCEPT + POLICY_PROGRAM },
		{ "unit",		required_argument,	NULL, OPT_UNIT },
		{ "persistent",		no_argument,		NULL, OPT_PERSISTENT },
		{ "force",		no_argument,		NULL, OPT_FORCE },
		{ "check",		no_argument,		NULL, OPT_CHECK },
		{ "json",		no_argument,		NULL, 'j' },
		{ "help",		no_argument,		NULL, 'h' },
		{ "version",		no_argument,		NULL, 'v' },
		{ }
	};
	static struct request request;
	const char *command = argv[1];
	int opt, status;

	/* getopt() prints this as name of the program */
	argv[1] = argv[0];
	argv++;
	argc--;
	request.is_off = !strcmp(command, "off");
	while ((opt = getopt_long(argc, argv, "hjv", long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			print_policy_usage(stdout);
			return POLICY_DONE;
		case 'v':
			printf(SMC_TOOLS_VERSION_FORMAT "\n", "smc");
			return POLICY_DONE;
		case 'j':
			request.as_json = true;
			break;
		case OPT_PERSISTENT:
			request.persistent = true;
			break;
		case OPT_FORCE:
			request.force = true;
			break;
		case OPT_CHECK:
			request.check = true;
			break;
		case '?':
			print_policy_usage(stderr);
			return POLICY_USAGE;
		default:
			status = take_option(&request, opt);
			if (status)
				return status;
		}
	}
	if (argc != optind) {
		print_policy_usage(stderr);
		return POLICY_USAGE;
	}
	return run_policy_command(command, &request);
}
