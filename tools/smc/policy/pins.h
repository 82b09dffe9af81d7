/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the policy is: names in the file system of BPF keep it when the command has ended.
 */
#ifndef SMC_POLICY_PINS_H
#define SMC_POLICY_PINS_H

#include <stdbool.h>

#define PINS_ROOT	"/sys/fs/bpf"
#define PINS_FOLDER	PINS_ROOT "/smc"
#define PIN_RULES	PINS_FOLDER "/rules"
#define PIN_STATE	PINS_FOLDER "/state"
#define PIN_HOLD	PINS_FOLDER "/hold"
#define PIN_PROGRAM	PINS_FOLDER "/program"

/* What the kernel calls the program of the policy, at most 15 characters */
#define POLICY_PROGRAM_NAME "smc_policy"

/**
 * pins_lock() - keep other commands out until this one ends
 * @make: something is to be put there: mount the file system if that has not been done
 *
 * Returns: false if that is not possible, or if the policy is on and its names are not visible in
 * this mount namespace; the user has been told.
 */
bool pins_lock(bool make);

/* Whether a policy is there, also one of another version */
bool pins_exist(void);

/* Whether anything is there: a command may have been killed half-way */
bool pins_are_left(void);

/**
 * pins_remove() - end the policy
 *
 * The program goes first: nothing of it runs when the module is let go.
 *
 * Returns: false if something stays; the user has been told.
 */
bool pins_remove(void);

#endif /* SMC_POLICY_PINS_H */
