/* SPDX-License-Identifier: GPL-2.0-only */
/* The operator's socket: receives a line with a command, sends "ok" or "error" and text */
#ifndef SMC_ISMD_CONTROL_H
#define SMC_ISMD_CONTROL_H

#include <stdbool.h>
#include <stdio.h>

/**
 * control_init() - listen for commands
 * @execute: executes a command and writes the text. Return: the command is known and
 *	succeeded
 */
void control_init(bool (*execute)(const char *command, FILE *out));

/**
 * control_ask() - send a command to the daemon, and copy its text
 * @command: to send
 * @out: for the text, on success
 *
 * Return: exit status, after an error message on stderr if it is not 0
 */
int control_ask(const char *command, FILE *out);

#endif /* SMC_ISMD_CONTROL_H */
