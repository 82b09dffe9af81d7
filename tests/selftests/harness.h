/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every test for every variant, each in a process of its own, as TAP.
 *
 * A test is a function that returns when all is well. The first check that does
 * not hold ends its process, from any thread, and is printed with its place.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define TEST_SECONDS	120	/* a test that has not ended by then hangs */

/**
 * struct test - one test
 * @name: name of its function
 * @body: the function
 * @applies: is it meant for this variant? NULL: for all
 * @seconds: limit, 0: TEST_SECONDS
 * @alone: it changes something that others would notice
 * @next: list of all tests
 */
struct test {
	const char *name;
	void (*body)(void);
	bool (*applies)(int variant);
	int seconds;
	bool alone;
	struct test *next;
};

/**
 * struct suite - what harness_main() is to run
 * @nr_variants: number of variants
 * @variant_name: name of a variant
 * @select: called in the process of a test, before it
 */
struct suite {
	int nr_variants;
	const char *(*variant_name)(int variant);
	void (*select)(int variant);
};

void test_add(struct test *test);
int harness_main(const struct suite *suite, int argc, char **argv);

/* A limit of a test in milliseconds, longer on machines which -s calls slow */
long scaled(long milliseconds);

/*
 * Before a test changes a file of the kernel, as a sysctl: the file gets its text again after the
 * test, however that ends, if it is .alone. What @select of the suite changes stays.
 */
void test_save_file(const char *path);

/* Ends the test. The text is printf's. */
void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* TEST(name, [.applies = ..., .seconds = ...]) { body } */
#define TEST(fn, ...)							\
	static void fn##_body(void);					\
	__attribute__((constructor)) static void fn##_add(void)		\
	{								\
		static struct test test = { .name = #fn, .body = fn##_body, __VA_ARGS__ };	\
									\
		test_add(&test);					\
	}								\
	static void fn##_body(void)

#define FAIL(...)	test_fail(__FILE__, __LINE__, __VA_ARGS__)

/* The condition holds */
#define TRUE(condition)							\
	do {								\
		if (!(condition))					\
			FAIL("not true: %s", #condition);		\
	} while (0)

/* Two integers are equal */
#define EQ(got, want)							\
	do {								\
		long long _got = (got), _want = (want);			\
									\
		if (_got != _want)					\
			FAIL("%s is %lld (0x%llx), not %lld (0x%llx)", #got,	\
			     _got, _got, _want, _want);			\
	} while (0)

/* The call does not return -1; its value */
#define OK(call)							\
	({								\
		long long _ret = (call);				\
									\
		if (_ret == -1)						\
			FAIL("%s: %s", #call, strerrorname_np(errno));	\
		_ret;							\
	})

/* The call returns -1 with this errno */
#define FAILS(call, error)						\
	do {								\
		long long _ret = (call);				\
		int _errno = errno, _error = (error);			\
									\
		if (_ret != -1)						\
			FAIL("%s returned %lld, not -1 with %s", #call, _ret,	\
			     strerrorname_np(_error));			\
		if (_errno != _error)					\
			FAIL("%s: %s, not %s", #call, strerrorname_np(_errno),	\
			     strerrorname_np(_error));			\
	} while (0)

#endif /* HARNESS_H */
