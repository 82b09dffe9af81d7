/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_RUN_TARGET_H
#define SMC_RUN_TARGET_H

#include <stdbool.h>

/**
 * target_find() - find the file that execvp() would start
 * @command: name or path, as given by the user
 *
 * Returns: an allocated path, or NULL if the program does not exist.
 */
char *target_find(const char *command);

/**
 * target_obstacle() - explain why a preload library does not work in a program
 * @path: the program, as returned by target_find()
 * @trusted: privileged programs may use the library, see ld.so(8)
 *
 * For a script, tests its interpreter. Files that cannot be read are assumed to work.
 *
 * Returns: an allocated sentence without its subject ("is ..."), or NULL if the library works.
 */
char *target_obstacle(const char *path, bool trusted);

#endif /* SMC_RUN_TARGET_H */
