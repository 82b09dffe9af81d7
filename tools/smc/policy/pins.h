/* SPDX-License-Identifier: GPL-2.0-only */
/* Pins of the policy: names in the BPF file system keep it after the command has ended */
#ifndef SMC_POLICY_PINS_H
#define SMC_POLICY_PINS_H

#include <stdbool.h>

#define PINS_ROOT	"/sys/fs/bpf"
#define PINS_FOLDER	PINS_ROOT "/smc"
#define PIN_RULES	PINS_FOLDER "/rules"
#define PIN_STATE	PINS_FOLDER "/state"
#define PIN_HOLD	PINS_FOLDER "/hold"
#define PIN_PROGRAM	PINS_FOLDER "/program"

/* The kernel's name of the policy's program, at most 15 characters */
#define POLICY_PROGRAM_NAME "smc_policy"

/**
 * pins_lock() - prevent other commands from running concurrently
 * @make: the caller creates pins: mount the file system if necessary
 *
 * Returns: false on failure, or if the policy is active but its names are not visible in this mount
 * namespace; after an error message.
 */
bool pins_lock(bool make);

/* Is a policy active, also one of another version? */
bool pins_exist(void);

/* Does any pin exist? A command may have been killed half-way */
bool pins_are_left(void);

/**
 * pins_remove() - deactivate the policy
 *
 * The program is removed first: it must not run after the reference to the module is dropped.
 *
 * Returns: false if a pin could not be removed, after an error message.
 */
bool pins_remove(void);

#endif /* SMC_POLICY_PINS_H */
