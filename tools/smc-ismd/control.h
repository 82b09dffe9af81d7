/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operator's socket: a line with a command comes in, "ok" or "error" and text go out
 */
#ifndef SMC_ISMD_CONTROL_H
#define SMC_ISMD_CONTROL_H

#include <stdbool.h>
#include <stdio.h>

/**
 * control_init() - listen
 * @execute: does what a command says, and writes the text. Return: it is known and went well
 */
void control_init(bool (*execute)(const char *command, FILE *out));

/**
 * control_ask() - send a command to the daemon, and copy its text
 * @command: to send
 * @out: for the text, if it went well
 *
 * Return: exit status, after a message on stderr if it is not 0
 */
int control_ask(const char *command, FILE *out);

#endif /* SMC_ISMD_CONTROL_H */
