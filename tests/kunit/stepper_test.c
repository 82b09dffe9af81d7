// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who takes the next step of a handshake: every triple of stepper, due and event against a table,
 * and the property that counts: no due step is without a stepper.
 */
#include <kunit/test.h>

#include "../../net/smc/sock/stepper.h"

#define ROW(stepper, due, event, to, left, act)	\
	{ { SMC_STEPPER_##stepper, due }, SMC_STEP_##event, { SMC_STEPPER_##to, left }, \
	  SMC_STEPPER_##act }

static const struct row {
	struct smc_stepper_state now;
	enum smc_stepper_event event;
	struct smc_stepper_state next;
	enum smc_stepper_action action;
} rows[] = {
	/* No step was due: accept() or the work becomes the stepper */
	ROW(NONE, 0, DUE, KWORKER, 1, QUEUE_WORK),
	ROW(NONE, 0, DUE_ACCEPT, ACCEPT, 1, TELL_ACCEPT),
	ROW(NONE, 0, ENTER, CALLER, 0, DO_NOTHING),
	ROW(NONE, 0, LEAVE, NONE, 0, DO_NOTHING),
	ROW(NONE, 0, BEGIN, NONE, 0, DO_NOTHING),
	ROW(NONE, 0, DONE, NONE, 0, DO_NOTHING),
	ROW(NONE, 0, DECLINE, NONE, 0, DO_NOTHING),

	/* A system call waits: it is woken, and a late accept() or kworker changes nothing */
	ROW(CALLER, 0, DUE, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 0, DUE_ACCEPT, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 0, ENTER, CALLER, 0, DO_NOTHING),
	ROW(CALLER, 0, LEAVE, NONE, 0, DO_NOTHING),
	ROW(CALLER, 0, BEGIN, CALLER, 0, DO_NOTHING),
	ROW(CALLER, 0, DONE, CALLER, 0, DO_NOTHING),
	ROW(CALLER, 0, DECLINE, CALLER, 0, DO_NOTHING),
	ROW(CALLER, 1, DUE, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 1, DUE_ACCEPT, CALLER, 1, WAKE_CALLER),
	ROW(CALLER, 1, ENTER, CALLER, 1, DO_NOTHING),
	ROW(CALLER, 1, LEAVE, KWORKER, 1, QUEUE_WORK),
	ROW(CALLER, 1, BEGIN, CALLER, 0, DO_NOTHING),
	ROW(CALLER, 1, DONE, CALLER, 1, DO_NOTHING),
	ROW(CALLER, 1, DECLINE, CALLER, 1, DO_NOTHING),

	/* accept() of the parent has the socket in its list */
	ROW(ACCEPT, 0, DUE, ACCEPT, 1, DO_NOTHING),
	ROW(ACCEPT, 0, DUE_ACCEPT, ACCEPT, 1, DO_NOTHING),
	ROW(ACCEPT, 0, ENTER, CALLER, 0, DO_NOTHING),
	ROW(ACCEPT, 0, LEAVE, ACCEPT, 0, DO_NOTHING),
	ROW(ACCEPT, 0, BEGIN, ACCEPT, 0, DO_NOTHING),
	ROW(ACCEPT, 0, DONE, NONE, 0, DO_NOTHING),
	ROW(ACCEPT, 0, DECLINE, KWORKER, 0, QUEUE_WORK),
	ROW(ACCEPT, 1, DUE, ACCEPT, 1, DO_NOTHING),
	ROW(ACCEPT, 1, DUE_ACCEPT, ACCEPT, 1, DO_NOTHING),
	ROW(ACCEPT, 1, ENTER, CALLER, 1, DO_NOTHING),
	ROW(ACCEPT, 1, LEAVE, ACCEPT, 1, DO_NOTHING),
	ROW(ACCEPT, 1, BEGIN, ACCEPT, 0, DO_NOTHING),
	ROW(ACCEPT, 1, DONE, KWORKER, 1, QUEUE_WORK),
	ROW(ACCEPT, 1, DECLINE, KWORKER, 1, QUEUE_WORK),

	/* The work is queued, or runs */
	ROW(KWORKER, 0, DUE, KWORKER, 1, DO_NOTHING),
	ROW(KWORKER, 0, DUE_ACCEPT, KWORKER, 1, DO_NOTHING),
	ROW(KWORKER, 0, ENTER, CALLER, 0, DO_NOTHING),
	ROW(KWORKER, 0, LEAVE, KWORKER, 0, DO_NOTHING),
	ROW(KWORKER, 0, BEGIN, KWORKER, 0, DO_NOTHING),
	ROW(KWORKER, 0, DONE, NONE, 0, DO_NOTHING),
	ROW(KWORKER, 0, DECLINE, KWORKER, 0, DO_NOTHING),
	ROW(KWORKER, 1, DUE, KWORKER, 1, DO_NOTHING),
	ROW(KWORKER, 1, DUE_ACCEPT, KWORKER, 1, DO_NOTHING),
	ROW(KWORKER, 1, ENTER, CALLER, 1, DO_NOTHING),
	ROW(KWORKER, 1, LEAVE, KWORKER, 1, DO_NOTHING),
	ROW(KWORKER, 1, BEGIN, KWORKER, 0, DO_NOTHING),
	ROW(KWORKER, 1, DONE, KWORKER, 1, QUEUE_WORK),
	ROW(KWORKER, 1, DECLINE, KWORKER, 1, DO_NOTHING),
};

static const struct row *find_row(struct smc_stepper_state now, enum smc_stepper_event event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].now.stepper == now.stepper && rows[i].now.due == now.due &&
		    rows[i].event == event)
			return &rows[i];
	return NULL;
}

static void stepper_table(struct kunit *test)
{
	unsigned int i;

	/* Each state but "due without a stepper", which must not occur */
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(rows), (2 * SMC_STEPPERS - 1) * SMC_STEP_EVENTS);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_stepper_step step = smc_stepper_next(rows[i].now, rows[i].event);

		KUNIT_ASSERT_PTR_EQ(test, find_row(rows[i].now, rows[i].event), &rows[i]);
		KUNIT_EXPECT_EQ_MSG(test, step.next.stepper, rows[i].next.stepper, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, step.next.due, rows[i].next.due, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, step.action, rows[i].action, "row %u", i);
	}
}

/*
 * No state that can be reached leaves a due step without a stepper, and a new stepper is always
 * told. A child that leaves the queue (DECLINE) is not left to accept().
 */
static void stepper_misses_nothing(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_stepper_step step = smc_stepper_next(rows[i].now, rows[i].event);
		bool is_new = step.next.stepper != rows[i].now.stepper;

		KUNIT_EXPECT_FALSE(test, step.next.due && step.next.stepper == SMC_STEPPER_NONE);
		if (is_new && step.next.stepper == SMC_STEPPER_KWORKER)
			KUNIT_EXPECT_EQ(test, step.action, SMC_STEPPER_QUEUE_WORK);
		if (is_new && step.next.stepper == SMC_STEPPER_ACCEPT)
			KUNIT_EXPECT_EQ(test, step.action, SMC_STEPPER_TELL_ACCEPT);
		if (rows[i].event == SMC_STEP_DECLINE)
			KUNIT_EXPECT_NE(test, step.next.stepper, SMC_STEPPER_ACCEPT);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(stepper_table),
	KUNIT_CASE(stepper_misses_nothing),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_stepper",
	.test_cases = cases,
};

kunit_test_suite(suite);
