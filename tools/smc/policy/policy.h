/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * smc on, smc off, smc status: which programs get SMC sockets when they ask for TCP.
 */
#ifndef SMC_POLICY_H
#define SMC_POLICY_H

#include <stdbool.h>

/**
 * policy_is_command() - is this word one of the commands here?
 * @word: the word, the first one of the command line
 *
 * Returns: true if policy_command() is to be called.
 */
bool policy_is_command(const char *word);

/**
 * policy_command() - do what the command line says
 * @argc: number of words
 * @argv: the words, the second of which is one of the commands; changed
 *
 * Returns: the exit status.
 */
int policy_command(int argc, char **argv);

#endif /* SMC_POLICY_H */
