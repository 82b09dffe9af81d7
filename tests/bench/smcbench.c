// SPDX-License-Identifier: GPL-2.0-only
/*
 * smcbench: a load generator for comparing stream socket families.
 *
 * Without --control, one command forks client and server, each in a network
 * namespace of its own if asked for. With it, "smcbench serve" is the server, in
 * another namespace or on another machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec.h"
#include "options.h"
#include "pattern.h"
#include "run.h"

/* Quiet moments in a row, a second of them, after which the machine counts as idle. */
#define SETTLE_MAX 20

static const struct test * const tests[] = {
	&bulk_test,
	&rr_test,
	&oneway_test,
	&crr_test,
	&idle_test,
	&socket_test,
};

static const struct test *find_test(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!strcmp(tests[i]->name, name))
			return tests[i];
	}
	return NULL;
}

static void complete_spec(struct spec *spec, const char *name, bool remote)
{
	const struct test *test = find_test(name);

	if (!test)
		usage("unknown test", name);
	strcpy(spec->test, test->name);
	if (!spec->size || !spec->count || !spec->parallel)
		usage("size, count and parallel must not be zero", NULL);
	if (spec->plain != END_NONE && spec->family == FAMILY_UNIX)
		usage("no end of an AF_UNIX connection can be TCP", NULL);
	if (test == &oneway_test && (spec->size <= ONEWAY_STAMP || !spec->burst || remote))
		usage("oneway needs messages of 9 bytes or more, bursts, and one clock", NULL);
	if (!test->needs_size)
		spec->size = 1;
	if (!spec->rsize)
		spec->rsize = spec->size;
	if (spec->warm == UINT64_MAX)
		spec->warm = (spec->count + 9) / 10;
}

/* Every member in the order of the structure; spec_receive() is the reverse. */
static void spec_send(const struct spec *spec, struct control *control)
{
	control_send(control, "SPEC %s %s %d %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		     " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		     " %" PRIu64 " %" PRIu64,
		     spec->test, spec->addr, (int)spec->family, (int)spec->plain,
		     (int)spec->check, spec->size, spec->rsize, spec->count, spec->warm,
		     spec->parallel, spec->bufsize, spec->busy_poll, spec->nodelay, spec->times,
		     spec->gap, spec->burst, spec->by_family);
}

static void spec_receive(struct spec *spec, struct control *control)
{
	const char *line = control_expect(control, "SPEC");
	int family, plain, check;

	if (sscanf(line, "%15s %63s %d %d %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   spec->test, spec->addr, &family, &plain, &check, &spec->size, &spec->rsize,
		   &spec->count, &spec->warm, &spec->parallel, &spec->bufsize,
		   &spec->busy_poll, &spec->nodelay, &spec->times, &spec->gap, &spec->burst,
		   &spec->by_family) != 17)
		die("malformed specification '%s'", line);
	spec->family = (enum family)family;
	spec->plain = (enum end)plain;
	spec->check = (enum check)check;
}

static void enter_netns(const char *name)
{
	char path[128];
	int fd;

	if (!name)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die_errno("entering network namespace %s", name);
	close(fd);
}

static void enter_cgroup(const char *folder)
{
	char path[128];
	int fd;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die_errno("entering cgroup %s", folder);
	close(fd);
}

static void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die_errno("pinning to processor %d", cpu);
}

static size_t largest_piece(const struct spec *spec)
{
	return spec->size > spec->rsize ? spec->size : spec->rsize;
}

static void run_server(struct control *control)
{
	struct run run = { .control = control, .end = END_SERVER };
	const struct test *test;
	char where[SOCK_WHERE_MAX];

	phase("server start");
	spec_receive(&run.spec, control);
	test = find_test(run.spec.test);
	if (!test)
		die("unknown test %s", run.spec.test);
	measure_init();
	pattern_init(largest_piece(&run.spec));
	run.listener = sock_listen(&run.spec, where);
	if (sock_family(&run.spec, END_SERVER) == FAMILY_SMC && sock_is_plain(run.listener))
		die("the listener is no AF_SMC socket any more");
	control_send(control, "LISTEN %s", where);
	test->server(&run);
	close(run.listener);
	control_send(control, "BYE");
}

static void run_client(const struct spec *spec, struct control *control)
{
	struct run run = { .spec = *spec, .control = control, .end = END_CLIENT };

	phase("client start");
	spec_send(spec, control);
	measure_init();
	pattern_init(largest_piece(spec));
	sock_target(spec, control_expect(control, "LISTEN"), &run.target);
	find_test(spec->test)->client(&run);
	control_expect(control, "BYE");
}

/*
 * Fork for one end. Each end gets a session of its own, as programs that serve
 * each other have in practice: the scheduler groups processes by session, and
 * wakes up across groups in another way than within one.
 */
static pid_t fork_end(const struct options *options)
{
	pid_t child = fork();

	if (child < 0)
		die_errno("fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setsid();
		watchdog(options->timeout);
	}
	return child;
}

static int reap(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			die_errno("waitpid");
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void client_process(const struct spec *spec, const struct options *options,
			   struct control *control)
{
	enter_netns(options->client_netns);
	pin(options->client_cpu);
	if (options->control)
		control_connect(options->control, control);
	run_client(spec, control);
	exit(0);
}

static void server_process(const struct options *options, struct control *control)
{
	enter_netns(options->server_netns);
	enter_cgroup(options->server_cgroup);
	pin(options->server_cpu);
	run_server(control);
	exit(0);
}

static int run_both(const struct spec *spec, const struct options *options)
{
	struct control client, server;
	pid_t client_pid, server_pid;
	int status;

	control_pair(&client, &server);
	server_pid = fork_end(options);
	if (!server_pid) {
		close(client.fd);
		server_process(options, &server);
	}
	client_pid = fork_end(options);
	if (!client_pid) {
		close(server.fd);
		client_process(spec, options, &client);
	}
	close(client.fd);
	close(server.fd);
	status = reap(client_pid);
	/* A server which waits for a client that is gone would wait for long. */
	if (status)
		kill(server_pid, SIGKILL);
	return reap(server_pid) ? 1 : status;
}

static int run_remote(const struct spec *spec, const struct options *options)
{
	struct control control;
	pid_t child;

	phase("connecting for control");
	child = fork_end(options);
	if (!child)
		client_process(spec, options, &control);
	return reap(child);
}

/* Each run in a process of its own: nothing of it is left for the next one. */
static int serve_one(int listener, const struct options *options)
{
	struct control control;
	pid_t child;

	phase("waiting for a client");
	control_accept(listener, options->control, &control);
	child = fork_end(options);
	if (!child) {
		close(listener);
		server_process(options, &control);
	}
	close(control.fd);
	return reap(child);
}

static int serve(const struct options *options)
{
	int listener, status;

	if (!options->control)
		usage("serve needs --control", NULL);
	enter_netns(options->server_netns);
	listener = control_listen(options->control);
	printf("LISTENING\n");
	fflush(stdout);
	do {
		status = serve_one(listener, options);
	} while (!options->once);
	return status;
}

static int settle(const struct spec *spec, const struct options *options)
{
	phase("waiting for the machine to become idle");
	watchdog(options->timeout);
	measure_init();
	measure_settle(spec->count < SETTLE_MAX ? spec->count : SETTLE_MAX);
	return 0;
}

static int exec(const struct spec *spec, const struct options *options)
{
	if (!*options->arguments)
		usage("exec needs a command", NULL);
	phase("exec");
	enter_netns(options->client_netns);
	return exec_measured(options->arguments, spec->count);
}

int main(int argc, char **argv)
{
	struct options options;
	struct spec spec;

	signal(SIGPIPE, SIG_IGN);
	options_parse(argc, argv, &spec, &options);
	if (!strcmp(options.command, "serve"))
		return serve(&options);
	if (!strcmp(options.command, "settle"))
		return settle(&spec, &options);
	if (!strcmp(options.command, "exec"))
		return exec(&spec, &options);
	complete_spec(&spec, options.command, options.control);
	if (options.control)
		return run_remote(&spec, &options);
	return run_both(&spec, &options);
}
