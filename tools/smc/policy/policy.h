/* SPDX-License-Identifier: GPL-2.0-only */
/* smc on, smc off, smc status: which programs get SMC sockets when they request TCP sockets */
#ifndef SMC_POLICY_H
#define SMC_POLICY_H

#include <stdbool.h>

/**
 * policy_is_command() - is this word one of these commands?
 * @word: the first word of the command line
 *
 * Returns: true if the caller must call policy_command().
 */
bool policy_is_command(const char *word);

/**
 * policy_command() - execute the command line
 * @argc: number of words
 * @argv: the words, the second of which is one of the commands; modified
 *
 * Returns: the exit status.
 */
int policy_command(int argc, char **argv);

#endif /* SMC_POLICY_H */
