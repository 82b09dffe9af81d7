// SPDX-License-Identifier: GPL-2.0-only
/* Who takes the next step of a handshake: pure, see stepper.h */

#include "stepper.h"

static struct smc_stepper_step make_step(enum smc_stepper stepper, bool due,
					 enum smc_stepper_action action)
{
	return (struct smc_stepper_step){
		.next = { .stepper = stepper, .due = due },
		.action = action,
	};
}

static struct smc_stepper_step keep_stepper(struct smc_stepper_state now)
{
	return make_step(now.stepper, now.due, SMC_STEPPER_DO_NOTHING);
}

/*
 * A stepper that exists finds the step by @due; otherwise accept() or the work becomes the stepper
 */
static struct smc_stepper_step announce_step(struct smc_stepper_state now, bool accept_looks)
{
	switch (now.stepper) {
	case SMC_STEPPER_NONE:
		if (accept_looks)
			return make_step(SMC_STEPPER_ACCEPT, true, SMC_STEPPER_TELL_ACCEPT);
		return make_step(SMC_STEPPER_KWORKER, true, SMC_STEPPER_QUEUE_WORK);
	case SMC_STEPPER_CALLER:
		return make_step(SMC_STEPPER_CALLER, true, SMC_STEPPER_WAKE_CALLER);
	default:
		return make_step(now.stepper, true, SMC_STEPPER_DO_NOTHING);
	}
}

/* A step that became due meanwhile goes to the work */
static struct smc_stepper_step end_turn(struct smc_stepper_state now)
{
	if (now.due)
		return make_step(SMC_STEPPER_KWORKER, true, SMC_STEPPER_QUEUE_WORK);
	return make_step(SMC_STEPPER_NONE, false, SMC_STEPPER_DO_NOTHING);
}

/*
 * The new state after an event, and what to do.
 *
 * Events that do not concern the stepper change nothing: a kworker may run late and find that a
 * system call takes the steps.
 */
struct smc_stepper_step smc_stepper_next(struct smc_stepper_state now, enum smc_stepper_event event)
{
	switch (event) {
	case SMC_STEP_DUE:
		return announce_step(now, false);
	case SMC_STEP_DUE_ACCEPT:
		return announce_step(now, true);
	case SMC_STEP_ENTER:
		return make_step(SMC_STEPPER_CALLER, now.due, SMC_STEPPER_DO_NOTHING);
	case SMC_STEP_LEAVE:
		return now.stepper == SMC_STEPPER_CALLER ? end_turn(now) : keep_stepper(now);
	case SMC_STEP_BEGIN:
		return make_step(now.stepper, false, SMC_STEPPER_DO_NOTHING);
	case SMC_STEP_DONE:
		return now.stepper == SMC_STEPPER_CALLER ? keep_stepper(now) : end_turn(now);
	case SMC_STEP_DECLINE:
		if (now.stepper == SMC_STEPPER_ACCEPT)
			return make_step(SMC_STEPPER_KWORKER, now.due, SMC_STEPPER_QUEUE_WORK);
		return keep_stepper(now);
	default:
		return keep_stepper(now);
	}
}
