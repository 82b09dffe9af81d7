/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who takes the next step of a handshake, as a pure function. A system call, accept() or poll() of
 * the parent, and a kworker may compete for a step, and no step may be lost. See
 * Documentation/one-socket.rst, "One stepper".
 */
#ifndef _NET_SMC_SOCK_STEPPER_H
#define _NET_SMC_SOCK_STEPPER_H

#include <linux/types.h>

/**
 * enum smc_stepper - who takes the next step of a socket
 * @SMC_STEPPER_NONE: no step is due
 * @SMC_STEPPER_CALLER: a system call on the socket itself, which waits or is about to wait; or, for
 *	a child, the connect() of its client
 * @SMC_STEPPER_ACCEPT: accept() of the parent
 * @SMC_STEPPER_KWORKER: the work, which a kworker runs
 * @SMC_STEPPERS: number of values
 */
enum smc_stepper {
	SMC_STEPPER_NONE,
	SMC_STEPPER_CALLER,
	SMC_STEPPER_ACCEPT,
	SMC_STEPPER_KWORKER,
	SMC_STEPPERS,
};

/**
 * enum smc_stepper_event - what changes the stepper
 * @SMC_STEP_DUE: a step is due, and accept() of the parent does not take steps
 * @SMC_STEP_DUE_ACCEPT: a step is due, and accept() of the parent takes steps
 * @SMC_STEP_ENTER: a system call takes all steps from now on
 * @SMC_STEP_LEAVE: the system call takes no more steps
 * @SMC_STEP_BEGIN: the stepper begins a step
 * @SMC_STEP_DONE: accept() or the work has ended a step
 * @SMC_STEP_DECLINE: accept() does not take the step after all
 * @SMC_STEP_EVENTS: number of values
 */
enum smc_stepper_event {
	SMC_STEP_DUE,
	SMC_STEP_DUE_ACCEPT,
	SMC_STEP_ENTER,
	SMC_STEP_LEAVE,
	SMC_STEP_BEGIN,
	SMC_STEP_DONE,
	SMC_STEP_DECLINE,
	SMC_STEP_EVENTS,
};

/**
 * enum smc_stepper_action - what the code that changed the stepper has to do
 * @SMC_STEPPER_DO_NOTHING: nothing
 * @SMC_STEPPER_WAKE_CALLER: wake the system call
 * @SMC_STEPPER_TELL_ACCEPT: put the socket into the list for accept()
 * @SMC_STEPPER_QUEUE_WORK: queue the work
 */
enum smc_stepper_action {
	SMC_STEPPER_DO_NOTHING,
	SMC_STEPPER_WAKE_CALLER,
	SMC_STEPPER_TELL_ACCEPT,
	SMC_STEPPER_QUEUE_WORK,
};

/**
 * struct smc_stepper_state - who takes the next step, and whether one is due
 * @stepper: who
 * @due: an event came after @stepper began its last step
 */
struct smc_stepper_state {
	enum smc_stepper stepper;
	bool due;
};

/**
 * struct smc_stepper_step - the answer to an event
 * @next: the new state
 * @action: what to do
 */
struct smc_stepper_step {
	struct smc_stepper_state next;
	enum smc_stepper_action action;
};

static inline struct smc_stepper_step
smc_stepper_make(enum smc_stepper stepper, bool due, enum smc_stepper_action action)
{
	return (struct smc_stepper_step){
		.next = { .stepper = stepper, .due = due },
		.action = action,
	};
}

static inline struct smc_stepper_step smc_stepper_keep(struct smc_stepper_state now)
{
	return smc_stepper_make(now.stepper, now.due, SMC_STEPPER_DO_NOTHING);
}

/*
 * A stepper that exists finds the step by @due; otherwise accept() or the work becomes the stepper
 */
static inline struct smc_stepper_step
smc_stepper_announce(struct smc_stepper_state now, bool accept_looks)
{
	switch (now.stepper) {
	case SMC_STEPPER_NONE:
		if (accept_looks)
			return smc_stepper_make(SMC_STEPPER_ACCEPT, true, SMC_STEPPER_TELL_ACCEPT);
		return smc_stepper_make(SMC_STEPPER_KWORKER, true, SMC_STEPPER_QUEUE_WORK);
	case SMC_STEPPER_CALLER:
		return smc_stepper_make(SMC_STEPPER_CALLER, true, SMC_STEPPER_WAKE_CALLER);
	default:
		return smc_stepper_make(now.stepper, true, SMC_STEPPER_DO_NOTHING);
	}
}

/* A step that became due meanwhile goes to the work */
static inline struct smc_stepper_step smc_stepper_end_turn(struct smc_stepper_state now)
{
	if (now.due)
		return smc_stepper_make(SMC_STEPPER_KWORKER, true, SMC_STEPPER_QUEUE_WORK);
	return smc_stepper_make(SMC_STEPPER_NONE, false, SMC_STEPPER_DO_NOTHING);
}

/*
 * The new state after an event, and what to do. Inline because the event is a constant in most
 * calls, and then little of the function is left.
 *
 * Events that do not concern the stepper change nothing: a kworker may run late and find that a
 * system call takes the steps.
 */
static inline struct smc_stepper_step
smc_stepper_next(struct smc_stepper_state now, enum smc_stepper_event event)
{
	switch (event) {
	case SMC_STEP_DUE:
		return smc_stepper_announce(now, false);
	case SMC_STEP_DUE_ACCEPT:
		return smc_stepper_announce(now, true);
	case SMC_STEP_ENTER:
		return smc_stepper_make(SMC_STEPPER_CALLER, now.due, SMC_STEPPER_DO_NOTHING);
	case SMC_STEP_LEAVE:
		if (now.stepper == SMC_STEPPER_CALLER)
			return smc_stepper_end_turn(now);
		return smc_stepper_keep(now);
	case SMC_STEP_BEGIN:
		return smc_stepper_make(now.stepper, false, SMC_STEPPER_DO_NOTHING);
	case SMC_STEP_DONE:
		if (now.stepper == SMC_STEPPER_CALLER)
			return smc_stepper_keep(now);
		return smc_stepper_end_turn(now);
	case SMC_STEP_DECLINE:
		if (now.stepper == SMC_STEPPER_ACCEPT)
			return smc_stepper_make(SMC_STEPPER_KWORKER, now.due,
						SMC_STEPPER_QUEUE_WORK);
		return smc_stepper_keep(now);
	default:
		return smc_stepper_keep(now);
	}
}

#endif /* _NET_SMC_SOCK_STEPPER_H */
