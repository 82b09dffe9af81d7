// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of kworkers, from /proc/PID/status.
 *
 * Each time a kworker runs, there is one switch away from it: because it has
 * nothing left to do or waits (voluntary), or because it is preempted. The kernel
 * counts both for each task, so that nothing needs to be traced. What a kworker
 * did that has ended meanwhile is lost; they end after minutes without work.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kworkers.h"
#include "measure.h"

/* A program may take such a name, but is no child of kthreadd (2). */
static bool is_kworker(const char *status)
{
	return !strncmp(status, "Name:\tkworker/", 14) && strstr(status, "\nPPid:\t2\n");
}

static void add_task(struct kworkers *kworkers, const char *pid)
{
	static char status[8192];
	char path[32];

	snprintf(path, sizeof(path), "/proc/%.10s/status", pid);
	/* A task may end meanwhile. */
	if (!proc_read(path, status, sizeof(status)) || !is_kworker(status))
		return;
	if (kworkers->n == KWORKERS_MAX)
		die("more than %d kworkers", KWORKERS_MAX);
	kworkers->pid[kworkers->n] = strtoull(pid, NULL, 10);
	kworkers->runs[kworkers->n] = number_after(status, "\nvoluntary_ctxt_switches:") +
				      number_after(status, "\nnonvoluntary_ctxt_switches:");
	kworkers->n++;
}

void kworkers_read(struct kworkers *kworkers)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		die_errno("/proc");
	kworkers->n = 0;
	while ((entry = readdir(proc))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			add_task(kworkers, entry->d_name);
	}
	closedir(proc);
}

/* A kworker that did not exist then had not run. */
static uint64_t runs_of(const struct kworkers *kworkers, uint64_t pid)
{
	for (size_t i = 0; i < kworkers->n; i++) {
		if (kworkers->pid[i] == pid)
			return kworkers->runs[i];
	}
	return 0;
}

int64_t kworkers_since(const struct kworkers *before)
{
	static struct kworkers now;
	int64_t runs = 0;

	kworkers_read(&now);
	if (!now.n)
		return -1;
	for (size_t i = 0; i < now.n; i++)
		runs += (int64_t)(now.runs[i] - runs_of(before, now.pid[i]));
	return runs;
}
