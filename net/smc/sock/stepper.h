/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who takes the next step of a handshake, as a pure function. A system call, accept() of the parent
 * and a kworker may compete for a step, and no step may be lost. See Documentation/one-socket.rst,
 * "One stepper".
 */
#ifndef _NET_SMC_SOCK_STEPPER_H
#define _NET_SMC_SOCK_STEPPER_H

#include <linux/types.h>

/**
 * enum smc_stepper - who takes the next step of a socket
 * @SMC_STEPPER_NONE: no step is due
 * @SMC_STEPPER_CALLER: a system call on the socket itself, which waits or is about to wait
 * @SMC_STEPPER_ACCEPT: accept() of the parent
 * @SMC_STEPPER_KWORKER: the work: a kworker runs it, or the task that caused the event
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
 * @SMC_STEP_ENTER: a system call is about to wait, and takes all steps from now on
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

struct smc_stepper_step smc_stepper_next(struct smc_stepper_state now,
					 enum smc_stepper_event event);

#endif /* _NET_SMC_SOCK_STEPPER_H */
