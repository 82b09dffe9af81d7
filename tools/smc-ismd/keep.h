/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that outlive this process: the service manager's store, and exec()
 *
 * sd_notify(3) and sd_listen_fds(3) describe the protocol: a few lines of text in a datagram, and
 * three variables. Each descriptor has a name.
 */
#ifndef SMC_ISMD_KEEP_H
#define SMC_ISMD_KEEP_H

#include <stdbool.h>

#define KEEP_NAME	48

/* Descriptors on their way to a manager that does not read */
#define KEEP_IN_FLIGHT_MAX	32

/* Find the manager, and the descriptors that an earlier process left. */
void keep_init(void);

/* Is there a manager to keep them? */
bool keep_has_store(void);

/**
 * keep_take() - a descriptor of an earlier process
 * @format: its name, as of printf()
 *
 * Return: the descriptor, or -1
 */
int keep_take(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Close what nobody has taken. */
void keep_drop_rest(void);

/**
 * keep_add() - let a descriptor outlive us
 * @fd: the caller's; may be closed after keep_remove() only
 * @format: its name, which no other one has
 */
void keep_add(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The descriptor of this name does not matter any more. */
void keep_remove(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tell the manager something, such as "READY=1". */
void keep_tell(const char *text);

/* Start a program in place of this one, with all descriptors; returns if it is not there. */
void keep_exec(const char *program, char **argv);

#endif /* SMC_ISMD_KEEP_H */
