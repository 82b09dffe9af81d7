/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_RUN_TARGET_H
#define SMC_RUN_TARGET_H

#include <stdbool.h>

/**
 * target_find() - find the file that execvp() would start
 * @command: name or path, as given by the user
 *
 * Returns: an allocated path, or NULL if there is no such program.
 */
char *target_find(const char *command);

/**
 * target_obstacle() - say why a preload library will not work in a program
 * @path: the program, as returned by target_find()
 * @trusted: the library may be used by privileged programs (see ld.so(8))
 *
 * Looks through scripts at their interpreters. Files that cannot be read are
 * given the benefit of the doubt.
 *
 * Returns: an allocated sentence without its subject ("is ..."), or NULL if
 * nothing speaks against it.
 */
char *target_obstacle(const char *path, bool trusted);

#endif /* SMC_RUN_TARGET_H */
