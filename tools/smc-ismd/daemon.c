// SPDX-License-Identifier: GPL-2.0-only
/* The service: one thread, which blocks only in the event loop */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "daemon.h"
#include "keep.h"
#include "log.h"
#include "loop.h"
#include "pair.h"
#include "place.h"
#include "policy.h"
#include "state.h"
#include "status.h"

#define RETRY_MILLISECONDS	200
#define OWN_DESCRIPTORS		32

static const char *policy_path;
static struct host host;
static struct service service = { .host = &host };
static bool ending, replacing;

/* Gets policy errors in addition to the journal; NULL: journal only */
static FILE *complaints;

static void report_policy_error(const char *text)
{
	log_line(LOG_ERR, "%s", text);
	if (complaints)
		fprintf(complaints, "smc-ismd: %s\n", text);
}

static struct policy *open_and_read_policy(bool lenient)
{
	FILE *file = fopen(policy_path, "re");
	struct policy *policy;
	char text[PATH_MAX + 64];

	if (!file && errno == ENOENT) {
		log_line(LOG_WARNING, "there is no %s: no machine may share memory", policy_path);
		file = fopen("/dev/null", "re");
	}
	if (!file) {
		snprintf(text, sizeof(text), "%s: %s", policy_path, strerror(errno));
		report_policy_error(text);
		return NULL;
	}
	policy = policy_read(file, policy_path, report_policy_error, lenient);
	fclose(file);
	return policy;
}

/* Descriptors for memory, listeners, clients and their vectors */
static unsigned int descriptors_for(const struct policy *policy)
{
	unsigned int i, count = OWN_DESCRIPTORS;

	for (i = 0; i < policy->pairs; i++)
		count += 1 + 2 * (2 + policy->pair[i].vectors);
	return count;
}

static bool has_descriptors(const struct policy *policy)
{
	unsigned int in_flight = pairs_in_flight(2 * policy->pairs);
	unsigned int need = descriptors_for(policy);
	const char *store = getenv("FDSTORE");
	struct rlimit limit;
	char text[128];

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return true;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (store && strtoul(store, NULL, 10) < need)
		log_line(LOG_WARNING, "FileDescriptorStoreMax=%s, but %u may be needed", store,
			 need);
	/* the same limit applies to each of them separately */
	if (need < in_flight)
		need = in_flight;
	if (need <= limit.rlim_max)
		return true;
	snprintf(text, sizeof(text), "%s: needs %u descriptors, the limit is %lu", policy_path,
		 need, (unsigned long)limit.rlim_max);
	report_policy_error(text);
	return false;
}

static bool has_short_paths(const struct policy *policy)
{
	const struct policy_pair *pair;
	char text[PATH_MAX + 64];
	unsigned int i;

	for (i = 0; i < policy->pairs; i++) {
		pair = &policy->pair[i];
		if (place_fits(pair->vm[0]->name, pair->vm[1]->name))
			continue;
		snprintf(text, sizeof(text), "%s: %s and %s: the path of the socket is too long",
			 policy_path, pair->vm[0]->name, pair->vm[1]->name);
		report_policy_error(text);
		return false;
	}
	return true;
}

static bool load_policy(bool lenient)
{
	struct policy *policy = open_and_read_policy(lenient);

	if (!policy)
		return false;
	if (!has_descriptors(policy) || !has_short_paths(policy)) {
		policy_free(policy);
		return false;
	}
	host.fabric = policy->fabric;
	pairs_apply(policy);
	log_line(LOG_NOTICE, "%s: %u machines, %u pairs", policy_path, policy->vms, policy->pairs);
	policy_free(policy);
	return true;
}

static bool reload_policy(FILE *out)
{
	bool good;

	complaints = out;
	good = load_policy(false);
	complaints = NULL;
	service.reloads += good;
	service.failed_reloads += !good;
	if (!good)
		log_line(LOG_ERR, "the policy is unchanged");
	return good;
}

static bool execute_command(const char *command, FILE *out)
{
	if (!strcmp(command, "status"))
		status_text(out, &service);
	else if (!strcmp(command, "status json"))
		status_json(out, &service);
	else if (!strcmp(command, "status openmetrics"))
		status_openmetrics(out, &service);
	else if (!strcmp(command, "reload"))
		return reload_policy(out);
	else
		return false;
	return true;
}

static void handle_signal(struct watch *watch, uint32_t events)
{
	struct signalfd_siginfo info;

	while (read(watch->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload_policy(NULL);
		else if (info.ssi_signo == SIGUSR2)
			replacing = true;
		else
			ending = true;
	}
}

/* SIGALRM is not received by signalfd: it interrupts a call that takes too long */
static void ignore_alarm(int number)
{
}

static void watch_signals(void)
{
	static struct watch watch = { .ready = handle_signal };
	struct sigaction action = { .sa_handler = ignore_alarm };
	sigset_t set;

	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_SETMASK, &set, NULL);
	watch.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch.fd < 0)
		log_fatal("signalfd: %s", strerror(errno));
	loop_add(&watch, EPOLLIN);
}

/* Path of this program's file, also after an update has replaced it */
static const char *own_program(void)
{
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		return NULL;
	path[length] = 0;
	return path;
}

static void start_service(const char *state_folder)
{
	bool successor;

	umask(0077);
	watch_signals();
	keep_init();
	place_lock();
	host_seed(state_folder, host.seed);
	successor = state_init();
	service.started = time(NULL);
	service.restarts = state_restarts();
	if (successor)
		log_line(LOG_NOTICE, "continues with %u pairs", pairs_init(&host));
	else
		pairs_init(&host);
	keep_drop_rest();
	/*
	 * An error in the file changes nothing for the pairs of an earlier process. Without an
	 * earlier process, an unknown user does not prevent other machines from starting.
	 */
	if (!load_policy(!successor) && !successor)
		exit(EXIT_FAILURE);
	control_init(execute_command);
	keep_tell("READY=1");
}

int daemon_run(const char *policy_file, const char *state_folder, char **argv)
{
	const char *program = own_program();
	bool again = false;

	policy_path = policy_file;
	loop_init();
	start_service(state_folder);
	while (!ending) {
		pairs_sweep();
		again = pairs_retry();
		loop_run(again ? RETRY_MILLISECONDS : -1);
		if (replacing && program) {
			replacing = false;
			keep_exec(program, argv);
		}
	}
	keep_tell("STOPPING=1");
	return EXIT_SUCCESS;
}
