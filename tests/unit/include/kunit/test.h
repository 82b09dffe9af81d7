/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of KUnit that the tests of pure sources need, for user space. The kernel describes the
 * macros in Documentation/dev-tools/kunit.
 *
 * main.c runs each test case in a separate process, so a failed assertion ends the process.
 */
#ifndef _TESTS_UNIT_KUNIT_TEST_H
#define _TESTS_UNIT_KUNIT_TEST_H

#include <stdio.h>

#include <linux/build_bug.h>
#include <linux/string.h>
#include <linux/types.h>

#define KUNIT_PARAM_DESC_SIZE	128
#define GFP_KERNEL		0
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

struct kunit {
	void *priv;
	const void *param_value;
	char param_desc[KUNIT_PARAM_DESC_SIZE];
	bool failed;
	struct shim_memory *memory;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char name[256];
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(function)						\
	{ .run_case = (function), .name = #function }
#define KUNIT_CASE_PARAM(function, generator)				\
	{ .run_case = (function), .name = #function, .generate_params = (generator) }

/* Register the suite before main() runs */
void shim_add_suite(struct kunit_suite *suite);

#define kunit_test_suite(suite)						\
static void __attribute__((constructor)) shim_constructor_##suite(void)	\
{									\
	shim_add_suite(&(suite));					\
}

#define KUNIT_ARRAY_PARAM(name, array, describe)			\
static const void *name##_gen_params(const void *prev, char *desc)	\
{									\
	__auto_type rows = &(array);					\
	typeof(&(*rows)[0]) next = (void *)prev;			\
									\
	next = next ? next + 1 : *rows;					\
	if (next == *rows + ARRAY_SIZE(*rows))				\
		return NULL;						\
	(describe)(next, desc);						\
	return next;							\
}

#define strscpy(dest, src, size)	snprintf(dest, size, "%s", src)

/* Memory that is freed when the test case ends */
void *kunit_kzalloc(struct kunit *test, size_t size, int gfp);
#define kunit_kmalloc(test, size, gfp)	kunit_kzalloc(test, size, gfp)

void shim_fail(struct kunit *test, bool leave, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void shim_fail_bytes(struct kunit *test, bool leave, const char *file, int line,
		     const void *left, const void *right, size_t size, const char *what);

#define SHIM_FAIL(test, leave, ...)					\
	shim_fail(test, leave, __FILE__, __LINE__, __VA_ARGS__)

#define SHIM_BINARY(test, leave, left, op, right)			\
do {									\
	const typeof((left) + 0) __left = (left);			\
	const typeof((right) + 0) __right = (right);			\
									\
	if (!(__left op __right))					\
		SHIM_FAIL(test, leave, "expected %s %s %s, but %lld (0x%llx), %lld (0x%llx)", \
			  #left, #op, #right, (long long)__left, (long long)__left, \
			  (long long)__right, (long long)__right);	\
} while (0)

#define SHIM_TRUE(test, leave, condition, wanted)			\
do {									\
	const bool __wanted = (wanted);					\
									\
	if (((condition) ? true : false) != __wanted)			\
		SHIM_FAIL(test, leave, "expected %s to be %s", #condition, \
			  __wanted ? "true" : "false");			\
} while (0)

#define SHIM_STREQ(test, leave, left, right)				\
do {									\
	const char *__left = (left);					\
	const char *__right = (right);					\
									\
	if (strcmp(__left, __right))					\
		SHIM_FAIL(test, leave, "expected %s == %s, but \"%s\", \"%s\"", \
			  #left, #right, __left, __right);		\
} while (0)

#define SHIM_MEM(test, leave, left, right, size, wanted)		\
do {									\
	const void *__left = (left);					\
	const void *__right = (right);					\
	const size_t __size = (size);					\
	const bool __wanted = (wanted);					\
									\
	if ((memcmp(__left, __right, __size) == 0) != __wanted)	\
		shim_fail_bytes(test, leave, __FILE__, __LINE__, __left, __right, \
				__size, __wanted ? #left " == " #right	\
						 : #left " != " #right); \
} while (0)

#define KUNIT_FAIL(test, ...)			SHIM_FAIL(test, false, __VA_ARGS__)
#define KUNIT_FAIL_AND_ABORT(test, ...)		SHIM_FAIL(test, true, __VA_ARGS__)

#define KUNIT_EXPECT_TRUE(test, condition)	SHIM_TRUE(test, false, condition, true)
#define KUNIT_EXPECT_FALSE(test, condition)	SHIM_TRUE(test, false, condition, false)
#define KUNIT_EXPECT_EQ(test, left, right)	SHIM_BINARY(test, false, left, ==, right)
#define KUNIT_EXPECT_NE(test, left, right)	SHIM_BINARY(test, false, left, !=, right)
#define KUNIT_EXPECT_LT(test, left, right)	SHIM_BINARY(test, false, left, <, right)
#define KUNIT_EXPECT_LE(test, left, right)	SHIM_BINARY(test, false, left, <=, right)
#define KUNIT_EXPECT_GT(test, left, right)	SHIM_BINARY(test, false, left, >, right)
#define KUNIT_EXPECT_GE(test, left, right)	SHIM_BINARY(test, false, left, >=, right)
#define KUNIT_EXPECT_PTR_EQ(test, left, right)	SHIM_TRUE(test, false, (left) == (right), true)
#define KUNIT_EXPECT_PTR_NE(test, left, right)	SHIM_TRUE(test, false, (left) == (right), false)
#define KUNIT_EXPECT_NULL(test, pointer)	SHIM_TRUE(test, false, !(pointer), true)
#define KUNIT_EXPECT_NOT_NULL(test, pointer)	SHIM_TRUE(test, false, !(pointer), false)
#define KUNIT_EXPECT_STREQ(test, left, right)	SHIM_STREQ(test, false, left, right)
#define KUNIT_EXPECT_MEMEQ(test, left, right, size) \
	SHIM_MEM(test, false, left, right, size, true)
#define KUNIT_EXPECT_MEMNEQ(test, left, right, size) \
	SHIM_MEM(test, false, left, right, size, false)

#define KUNIT_ASSERT_TRUE(test, condition)	SHIM_TRUE(test, true, condition, true)
#define KUNIT_ASSERT_FALSE(test, condition)	SHIM_TRUE(test, true, condition, false)
#define KUNIT_ASSERT_EQ(test, left, right)	SHIM_BINARY(test, true, left, ==, right)
#define KUNIT_ASSERT_NE(test, left, right)	SHIM_BINARY(test, true, left, !=, right)
#define KUNIT_ASSERT_LT(test, left, right)	SHIM_BINARY(test, true, left, <, right)
#define KUNIT_ASSERT_LE(test, left, right)	SHIM_BINARY(test, true, left, <=, right)
#define KUNIT_ASSERT_GT(test, left, right)	SHIM_BINARY(test, true, left, >, right)
#define KUNIT_ASSERT_GE(test, left, right)	SHIM_BINARY(test, true, left, >=, right)
#define KUNIT_ASSERT_PTR_EQ(test, left, right)	SHIM_TRUE(test, true, (left) == (right), true)
#define KUNIT_ASSERT_NULL(test, pointer)	SHIM_TRUE(test, true, !(pointer), true)
#define KUNIT_ASSERT_NOT_NULL(test, pointer)	SHIM_TRUE(test, true, !(pointer), false)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pointer) KUNIT_ASSERT_NOT_NULL(test, pointer)
#define KUNIT_ASSERT_STREQ(test, left, right)	SHIM_STREQ(test, true, left, right)
#define KUNIT_ASSERT_MEMEQ(test, left, right, size) \
	SHIM_MEM(test, true, left, right, size, true)

/* The same with an additional message */
#define SHIM_MSG(test, leave, passed, what, format, ...)		\
do {									\
	if (!(passed))							\
		SHIM_FAIL(test, leave, "expected %s: " format, what, ##__VA_ARGS__); \
} while (0)

#define KUNIT_EXPECT_TRUE_MSG(test, condition, ...)			\
	SHIM_MSG(test, false, condition, #condition, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(test, condition, ...)			\
	SHIM_MSG(test, false, !(condition), "not " #condition, __VA_ARGS__)
#define KUNIT_EXPECT_EQ_MSG(test, left, right, ...)			\
	SHIM_MSG(test, false, (left) == (right), #left " == " #right, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(test, left, right, ...)			\
	SHIM_MSG(test, false, (left) != (right), #left " != " #right, __VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(test, left, right, ...)			\
	SHIM_MSG(test, false, (left) > (right), #left " > " #right, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(test, left, right, ...)			\
	SHIM_MSG(test, false, (left) <= (right), #left " <= " #right, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(test, left, right, ...)			\
	SHIM_MSG(test, true, (left) == (right), #left " == " #right, __VA_ARGS__)
#define KUNIT_ASSERT_TRUE_MSG(test, condition, ...)			\
	SHIM_MSG(test, true, condition, #condition, __VA_ARGS__)
#define KUNIT_EXPECT_STREQ_MSG(test, left, right, ...)			\
	SHIM_MSG(test, false, !strcmp(left, right), #left " == " #right, __VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ_MSG(test, left, right, size, ...)		\
	SHIM_MSG(test, false, !memcmp(left, right, size), #left " == " #right, __VA_ARGS__)

#endif /* _TESTS_UNIT_KUNIT_TEST_H */
