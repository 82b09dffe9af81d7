// SPDX-License-Identifier: GPL-2.0-only
/* Runs tests, each in a process of its own, and prints TAP */

#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define MAX_GLOBS	32
#define MAX_JOBS	32
#define OUTPUT_BYTES	8192
#define MAX_SAVED	8

static struct test *tests;
static struct test **tests_end = &tests;

static struct {
	const char *variant[MAX_GLOBS];
	const char *test[MAX_GLOBS];
	bool list;
	bool foreground;
	int jobs;
	int scale;
} options = { .jobs = 1, .scale = 1 };

/**
 * test_add() - add a test to the list; called before main()
 * @test: the test
 */
void test_add(struct test *test)
{
	*tests_end = test;
	tests_end = &test->next;
}

long scaled(long milliseconds)
{
	return milliseconds * options.scale;
}

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	va_list args;

	flockfile(stderr);
	fprintf(stderr, "%s:%d: ", name ? name + 1 : file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	fflush(stderr);
	_exit(1);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: [-l] [-f] [-j JOBS] [-s SCALE] [-v VARIANT]... [TEST]...\n"
		"Names may be globs. -l only lists. -f stays in one process, for a debugger.\n"
		"-j runs so many tests at once. -s multiplies the time limits.\n");
	exit(2);
}

static void add_glob(const char **globs, const char *word)
{
	int i = 0;

	while (i < MAX_GLOBS - 2 && globs[i])
		i++;
	globs[i] = word;
}

static void parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "fj:ls:v:")) != -1) {
		switch (opt) {
		case 'l':
			options.list = true;
			break;
		case 'f':
			options.foreground = true;
			break;
		case 'j':
			options.jobs = atoi(optarg);
			if (options.jobs < 1 || options.jobs > MAX_JOBS)
				usage();
			break;
		case 's':
			options.scale = atoi(optarg);
			break;
		case 'v':
			add_glob(options.variant, optarg);
			break;
		default:
			usage();
		}
	}
	for (; optind < argc; optind++)
		add_glob(options.test, argv[optind]);
}

static bool matches(const char **globs, const char *word)
{
	int i;

	for (i = 0; globs[i]; i++)
		if (!fnmatch(globs[i], word, 0))
			return true;
	return !globs[0];
}

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/**
 * struct job - a test that is running
 * @test: the test, NULL: the job is free
 * @variant: its variant
 * @pid: its process, leader of a process group
 * @pidfd: becomes readable at its end
 * @pipe: what it prints
 * @start: in milliseconds
 * @limit: in milliseconds
 * @have: bytes in @output
 * @output: what it has printed, as far as there is room
 */
struct job {
	const struct test *test;
	int variant;
	pid_t pid;
	int pidfd;
	int pipe;
	long start;
	long limit;
	size_t have;
	char output[OUTPUT_BYTES];
};

static struct {
	const struct suite *suite;
	struct job jobs[MAX_JOBS];
	int done;
	int bad;
} run;

/* A file that a test has changed, with its former text; in memory that the runner shares */
static struct saved {
	char path[100];
	char text[32];
} *saved;

static bool is_alone;		/* the test that runs in this process */

static void share_saved(void)
{
	saved = mmap(NULL, MAX_SAVED * sizeof(*saved), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (saved == MAP_FAILED)
		exit(2);
}

void test_save_file(const char *path)
{
	struct saved *next = saved;
	ssize_t n = -1;
	int fd;

	if (!is_alone)
		return;
	while (next < saved + MAX_SAVED && next->path[0] && strcmp(next->path, path))
		next++;
	if (next == saved + MAX_SAVED)
		test_fail(__FILE__, __LINE__, "too many files are changed");
	if (next->path[0])
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, next->text, sizeof(next->text) - 1);
	if (n <= 0)
		test_fail(__FILE__, __LINE__, "cannot read %s", path);
	close(fd);
	snprintf(next->path, sizeof(next->path), "%s", path);
}

static void restore_files(void)
{
	struct saved *next;
	size_t len;
	int fd;

	for (next = saved; next < saved + MAX_SAVED && next->path[0]; next++) {
		fd = open(next->path, O_WRONLY | O_CLOEXEC);
		len = strlen(next->text);
		if (fd < 0 || write(fd, next->text, len) != (ssize_t)len) {
			perror(next->path);
			exit(2);
		}
		close(fd);
	}
	memset(saved, 0, MAX_SAVED * sizeof(*saved));
}

static void run_child(const struct test *test, int variant)
{
	run.suite->select(variant);
	is_alone = test->alone;
	test->body();
	restore_files();
	exit(0);
}

static void start_job(struct job *job, const struct test *test, int variant)
{
	int pipes[2];

	if (options.foreground)
		run_child(test, variant);
	fflush(stdout);
	job->test = test;
	job->variant = variant;
	job->have = 0;
	job->start = milliseconds();
	job->limit = (test->seconds ? test->seconds : TEST_SECONDS) * options.scale * 1000L;
	if (pipe2(pipes, O_CLOEXEC))
		exit(2);
	job->pid = fork();
	if (!job->pid) {
		setpgid(0, 0);
		dup2(pipes[1], 1);
		dup2(pipes[1], 2);
		close(pipes[0]);
		close(pipes[1]);
		run_child(test, variant);
	}
	close(pipes[1]);
	setpgid(job->pid, job->pid);
	job->pidfd = syscall(SYS_pidfd_open, job->pid, 0);
	job->pipe = pipes[0];
}

/* Takes what the test printed. False: nothing more is to come */
static bool read_output(struct job *job)
{
	size_t room = sizeof(job->output) - 1 - job->have;
	char rest[256];
	ssize_t n;

	if (room)
		n = read(job->pipe, job->output + job->have, room);
	else
		n = read(job->pipe, rest, sizeof(rest));
	if (n > 0 && room)
		job->have += n;
	return n > 0;
}

static void explain(char *text)
{
	char *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("#   %s\n", line);
}

static void end_job(struct job *job, bool in_time)
{
	long took = milliseconds() - job->start;
	int status;
	bool good;

	kill(-job->pid, SIGKILL);	/* also what it left running */
	waitpid(job->pid, &status, 0);
	while (read_output(job))
		;
	job->output[job->have] = 0;
	close(job->pidfd);
	close(job->pipe);

	good = in_time && WIFEXITED(status) && !WEXITSTATUS(status);
	run.done++;
	run.bad += !good;
	printf("%s %d - %s.%s\n", good ? "ok" : "not ok", run.done,
	       run.suite->variant_name(job->variant), job->test->name);
	if (!in_time)
		printf("#   no end within %ld seconds\n", job->limit / 1000);
	else if (WIFSIGNALED(status))
		printf("#   killed by SIG%s\n", sigabbrev_np(WTERMSIG(status)));
	explain(job->output);	/* of good ones: what they measured */
	if (good && took >= 5000)
		printf("# took %ld ms\n", took);
	fflush(stdout);
	job->test = NULL;
}

/* Waits until something happens to a job; ends those that are over, or late */
static void look_after_jobs(void)
{
	struct pollfd fds[2 * MAX_JOBS];
	long now = milliseconds(), wait = 1000;
	int i;

	for (i = 0; i < options.jobs; i++) {
		struct job *job = &run.jobs[i];
		long left = job->start + job->limit - now;

		fds[2 * i] = (struct pollfd){ job->test ? job->pidfd : -1, POLLIN, 0 };
		fds[2 * i + 1] = (struct pollfd){ job->test ? job->pipe : -1, POLLIN, 0 };
		if (job->test && left < wait)
			wait = left > 0 ? left : 0;
	}
	poll(fds, 2 * options.jobs, wait);
	now = milliseconds();
	for (i = 0; i < options.jobs; i++) {
		struct job *job = &run.jobs[i];

		if (fds[2 * i + 1].revents & POLLIN)
			read_output(job);
		if (fds[2 * i].revents)
			end_job(job, true);
		else if (job->test && now >= job->start + job->limit)
			end_job(job, false);
	}
}

/* A free job, once there is one; all are free if that is asked for */
static struct job *free_job(bool all)
{
	int i, busy;

	for (;;) {
		for (i = busy = 0; i < options.jobs; i++) {
			if (run.jobs[i].test)
				busy++;
			else if (!all)
				return &run.jobs[i];
		}
		if (!busy)
			return NULL;
		look_after_jobs();
	}
}

static void run_test(const struct test *test, int variant)
{
	if (test->alone)
		free_job(true);
	start_job(free_job(false), test, variant);
	if (test->alone) {
		free_job(true);
		restore_files();
	}
}

static void refuse_glob(const char *what, const char *glob)
{
	fprintf(stderr, "no %s is called \"%s\", see -l\n", what, glob);
	exit(2);
}

static void check_globs(const struct suite *suite)
{
	const struct test *test;
	int i, v;

	for (i = 0; options.variant[i]; i++) {
		for (v = 0; v < suite->nr_variants; v++)
			if (!fnmatch(options.variant[i], suite->variant_name(v), 0))
				break;
		if (v == suite->nr_variants)
			refuse_glob("variant", options.variant[i]);
	}
	for (i = 0; options.test[i]; i++) {
		for (test = tests; test; test = test->next)
			if (!fnmatch(options.test[i], test->name, 0))
				break;
		if (!test)
			refuse_glob("test", options.test[i]);
	}
}

/**
 * harness_main() - all of main()
 * @suite: what to run
 * @argc: of main()
 * @argv: of main()
 *
 * Return: exit status.
 */
int harness_main(const struct suite *suite, int argc, char **argv)
{
	const struct test *test;
	int v;

	parse(argc, argv);
	check_globs(suite);
	run.suite = suite;
	share_saved();
	signal(SIGPIPE, SIG_DFL);
	if (!options.list)
		printf("TAP version 13\n");
	for (v = 0; v < suite->nr_variants; v++) {
		if (!matches(options.variant, suite->variant_name(v)))
			continue;
		for (test = tests; test; test = test->next) {
			if (!matches(options.test, test->name))
				continue;
			if (test->applies && !test->applies(v))
				continue;
			if (options.list)
				printf("%s.%s\n", suite->variant_name(v), test->name);
			else
				run_test(test, v);
		}
	}
	if (options.list)
		return 0;
	free_job(true);
	printf("1..%d\n", run.done);
	return run.bad || !run.done;
}
