// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs KUnit suites in user space and prints TAP, one test per test case.
 *
 * usage: unit [SUITE[.CASE]...]
 *
 * Each case runs in a child process. If it crashes, or a sanitizer ends it, the test fails and the
 * other cases still run. Sanitizers report to stderr.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kunit/test.h>

#define MAX_SUITES	64
#define TIMEOUT_SECONDS	120

struct shim_memory {
	struct shim_memory *next;
	/* Aligned like memory of the kernel's allocator */
	_Alignas(16) char bytes[];
};

static struct kunit_suite *suites[MAX_SUITES];
static unsigned int nr_suites;

void shim_add_suite(struct kunit_suite *suite)
{
	if (nr_suites == MAX_SUITES) {
		fprintf(stderr, "unit: more than %d suites\n", MAX_SUITES);
		exit(1);
	}
	suites[nr_suites++] = suite;
}

void *kunit_kzalloc(struct kunit *test, size_t size, int gfp)
{
	struct shim_memory *memory = calloc(1, sizeof(*memory) + size);

	(void)gfp;
	if (!memory)
		return NULL;
	memory->next = test->memory;
	test->memory = memory;
	return memory->bytes;
}

static void free_memory(struct kunit *test)
{
	while (test->memory) {
		struct shim_memory *memory = test->memory;

		test->memory = memory->next;
		free(memory);
	}
}

static void end_case(struct kunit *test)
{
	free_memory(test);
	/* exit(), not _exit(), reports coverage and leaks */
	exit(test->failed);
}

static void print_where(const struct kunit *test, const char *file, int line)
{
	printf("# %s:%d", file, line);
	if (test->param_desc[0])
		printf(" [%s]", test->param_desc);
	printf(": ");
}

void shim_fail(struct kunit *test, bool leave, const char *file, int line, const char *format, ...)
{
	va_list args;

	print_where(test, file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");

	test->failed = true;
	if (leave)
		end_case(test);
}

static void print_bytes(const char *name, const u8 *bytes, const u8 *other, size_t size)
{
	size_t i;

	printf("#   %s", name);
	for (i = 0; i < size; i++) {
		if (i % 16 == 0)
			printf("\n#     %04zx:", i);
		printf(bytes[i] == other[i] ? " %02x " : "<%02x>", bytes[i]);
	}
	printf("\n");
}

void shim_fail_bytes(struct kunit *test, bool leave, const char *file, int line,
		     const void *left, const void *right, size_t size, const char *what)
{
	shim_fail(test, false, file, line, "expected %s", what);
	print_bytes("left", left, right, size);
	print_bytes("right", right, left, size);
	if (leave)
		end_case(test);
}

static void run_once(struct kunit *test, const struct kunit_suite *suite,
		     const struct kunit_case *kcase)
{
	if (suite->init && suite->init(test)) {
		shim_fail(test, true, suite->name, 0, "suite could not be set up");
		return;
	}
	kcase->run_case(test);
	if (suite->exit)
		suite->exit(test);
	free_memory(test);
}

static void run_case(const struct kunit_suite *suite, const struct kunit_case *kcase)
{
	struct kunit test = { 0 };

	if (kcase->generate_params) {
		unsigned int runs = 0;

		while ((test.param_value = kcase->generate_params(test.param_value,
								  test.param_desc))) {
			run_once(&test, suite, kcase);
			runs++;
		}
		if (!runs)
			shim_fail(&test, false, suite->name, 0, "no parameters");
	} else {
		run_once(&test, suite, kcase);
	}
	end_case(&test);
}

/* Return: whether the case passed. Prints the reason if it did not end normally. */
static bool run_in_child(const struct kunit_suite *suite, const struct kunit_case *kcase)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		printf("# cannot fork: %s\n", strerror(errno));
		return false;
	}
	if (!pid) {
		alarm(TIMEOUT_SECONDS);
		run_case(suite, kcase);
	}
	if (waitpid(pid, &status, 0) != pid) {
		printf("# cannot wait: %s\n", strerror(errno));
		return false;
	}
	if (WIFSIGNALED(status))
		printf("# killed by signal %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status) > 1)
		printf("# exit code %d, see stderr\n", WEXITSTATUS(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool wanted(int argc, char **argv, const char *suite, const char *kcase)
{
	size_t len = strlen(suite);
	int i;

	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], suite, len) &&
		    (!argv[i][len] || (argv[i][len] == '.' && !strcmp(argv[i] + len + 1, kcase))))
			return true;
	}
	return argc < 2;
}

int main(int argc, char **argv)
{
	unsigned int run = 0, failed = 0;
	struct kunit_case *kcase;
	unsigned int i;

	printf("TAP version 13\n");
	for (i = 0; i < nr_suites; i++) {
		for (kcase = suites[i]->test_cases; kcase->run_case; kcase++) {
			bool passed;

			if (!wanted(argc, argv, suites[i]->name, kcase->name))
				continue;
			passed = run_in_child(suites[i], kcase);
			printf("%sok %u - %s.%s\n", passed ? "" : "not ", ++run, suites[i]->name,
			       kcase->name);
			failed += !passed;
		}
	}
	printf("1..%u\n", run);
	if (!run)
		fprintf(stderr, "unit: no such test\n");
	return failed || !run;
}
