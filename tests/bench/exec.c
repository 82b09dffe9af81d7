// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec: what does a program cost the machine, from its start to its end? What it
 * prints goes to standard error, so that standard output has results only.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec.h"
#include "run.h"

static void start(char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	signal(SIGPIPE, SIG_DFL);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		die_errno("dup2");
	execvp(argv[0], argv);
	die_errno("cannot run %s", argv[0]);
}

int exec_measured(char **argv, uint64_t ops)
{
	struct snapshot begin;
	struct cost cost;
	int status;
	pid_t child;

	measure_init();
	measure_begin(&begin);
	measure_mark();
	child = fork();
	if (child < 0)
		die_errno("fork");
	if (!child)
		start(argv);
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			die_errno("waitpid");
	}
	measure_mark();
	measure_end(&begin, &cost);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die("%s failed", argv[0]);
	report_begin("exec");
	report_cost(&cost, ops, 0);
	report_end();
	return 0;
}
