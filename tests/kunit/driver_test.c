// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who takes the next step of a handshake: every triple of driver, news and event against a table,
 * and the property that counts: nothing that happens is left to nobody.
 */
#include <kunit/test.h>

#include "../../net/smc/sock/driver.h"

#define ROW(driver, news, event, to, left, act)	\
	{ { SMC_DRIVER_##driver, news }, SMC_DRIVER_##event, { SMC_DRIVER_##to, left }, \
	  SMC_DRIVER_##act }

static const struct row {
	struct smc_driver_state now;
	enum smc_driver_event event;
	struct smc_driver_state next;
	enum smc_driver_action action;
} rows[] = {
	/* Nobody looks: somebody is called */
	ROW(NOBODY, 0, NEWS, KWORKER, 1, QUEUE_WORK),
	ROW(NOBODY, 0, NEWS_ACCEPT, ACCEPT, 1, TELL_ACCEPT),
	ROW(NOBODY, 0, ENTER, CALLER, 0, NOTHING),
	ROW(NOBODY, 0, LEAVE, NOBODY, 0, NOTHING),
	ROW(NOBODY, 0, LOOK, NOBODY, 0, NOTHING),
	ROW(NOBODY, 0, DONE, NOBODY, 0, NOTHING),
	ROW(NOBODY, 0, DECLINE, NOBODY, 0, NOTHING),

	/* A system call waits: it is woken, and whoever is late leaves it alone */
	ROW(CALLER, 0, NEWS, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 0, NEWS_ACCEPT, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 0, ENTER, CALLER, 0, NOTHING),
	ROW(CALLER, 0, LEAVE, NOBODY, 0, NOTHING),
	ROW(CALLER, 0, LOOK, CALLER, 0, NOTHING),
	ROW(CALLER, 0, DONE, CALLER, 0, NOTHING),
	ROW(CALLER, 0, DECLINE, CALLER, 0, NOTHING),
	ROW(CALLER, 1, NEWS, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 1, NEWS_ACCEPT, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 1, ENTER, CALLER, 1, NOTHING),
	ROW(CALLER, 1, LEAVE, KWORKER, 1, QUEUE_WORK),
	ROW(CALLER, 1, LOOK, CALLER, 0, NOTHING),
	ROW(CALLER, 1, DONE, CALLER, 1, NOTHING),
	ROW(CALLER, 1, DECLINE, CALLER, 1, NOTHING),

	/* accept() of the parent has it before it */
	ROW(ACCEPT, 0, NEWS, ACCEPT, 1, NOTHING),
	ROW(ACCEPT, 0, NEWS_ACCEPT, ACCEPT, 1, NOTHING),
	ROW(ACCEPT, 0, ENTER, CALLER, 0, NOTHING),
	ROW(ACCEPT, 0, LEAVE, ACCEPT, 0, NOTHING),
	ROW(ACCEPT, 0, LOOK, ACCEPT, 0, NOTHING),
	ROW(ACCEPT, 0, DONE, NOBODY, 0, NOTHING),
	ROW(ACCEPT, 0, DECLINE, KWORKER, 0, QUEUE_WORK),
	ROW(ACCEPT, 1, NEWS, ACCEPT, 1, NOTHING),
	ROW(ACCEPT, 1, NEWS_ACCEPT, ACCEPT, 1, NOTHING),
	ROW(ACCEPT, 1, ENTER, CALLER, 1, NOTHING),
	ROW(ACCEPT, 1, LEAVE, ACCEPT, 1, NOTHING),
	ROW(ACCEPT, 1, LOOK, ACCEPT, 0, NOTHING),
	ROW(ACCEPT, 1, DONE, KWORKER, 1, QUEUE_WORK),
	ROW(ACCEPT, 1, DECLINE, KWORKER, 1, QUEUE_WORK),

	/* The work is queued, or runs */
	ROW(KWORKER, 0, NEWS, KWORKER, 1, NOTHING),
	ROW(KWORKER, 0, NEWS_ACCEPT, KWORKER, 1, NOTHING),
	ROW(KWORKER, 0, ENTER, CALLER, 0, NOTHING),
	ROW(KWORKER, 0, LEAVE, KWORKER, 0, NOTHING),
	ROW(KWORKER, 0, LOOK, KWORKER, 0, NOTHING),
	ROW(KWORKER, 0, DONE, NOBODY, 0, NOTHING),
	ROW(KWORKER, 0, DECLINE, KWORKER, 0, NOTHING),
	ROW(KWORKER, 1, NEWS, KWORKER, 1, NOTHING),
	ROW(KWORKER, 1, NEWS_ACCEPT, KWORKER, 1, NOTHING),
	ROW(KWORKER, 1, ENTER, CALLER, 1, NOTHING),
	ROW(KWORKER, 1, LEAVE, KWORKER, 1, NOTHING),
	ROW(KWORKER, 1, LOOK, KWORKER, 0, NOTHING),
	ROW(KWORKER, 1, DONE, KWORKER, 1, QUEUE_WORK),
	ROW(KWORKER, 1, DECLINE, KWORKER, 1, NOTHING),
};

static const struct row *find_row(struct smc_driver_state now, enum smc_driver_event event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].now.driver == now.driver && rows[i].now.news == now.news &&
		    rows[i].event == event)
			return &rows[i];
	return NULL;
}

static void driver_table(struct kunit *test)
{
	unsigned int i;

	/* Each state but "nobody looks at news", which must not be */
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(rows), (2 * SMC_DRIVERS - 1) * SMC_DRIVER_EVENTS);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_driver_step step = smc_driver_next(rows[i].now, rows[i].event);

		KUNIT_ASSERT_PTR_EQ(test, find_row(rows[i].now, rows[i].event), &rows[i]);
		KUNIT_EXPECT_EQ_MSG(test, step.next.driver, rows[i].next.driver, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, step.next.news, rows[i].next.news, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, step.action, rows[i].action, "row %u", i);
	}
}

/*
 * No state that can be reached leaves news to nobody, and a new driver is always called. A child
 * that leaves the queue (DECLINE) is not left to accept().
 */
static void driver_misses_nothing(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_driver_step step = smc_driver_next(rows[i].now, rows[i].event);
		bool is_new = step.next.driver != rows[i].now.driver;

		KUNIT_EXPECT_FALSE(test, step.next.news && step.next.driver == SMC_DRIVER_NOBODY);
		if (is_new && step.next.driver == SMC_DRIVER_KWORKER)
			KUNIT_EXPECT_EQ(test, step.action, SMC_DRIVER_QUEUE_WORK);
		if (is_new && step.next.driver == SMC_DRIVER_ACCEPT)
			KUNIT_EXPECT_EQ(test, step.action, SMC_DRIVER_TELL_ACCEPT);
		if (rows[i].event == SMC_DRIVER_DECLINE)
			KUNIT_EXPECT_NE(test, step.next.driver, SMC_DRIVER_ACCEPT);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(driver_table),
	KUNIT_CASE(driver_misses_nothing),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_driver",
	.test_cases = cases,
};

kunit_test_suite(suite);
