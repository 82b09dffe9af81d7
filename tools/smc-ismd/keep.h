/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that survive this process, in the service manager's store or across exec()
 *
 * sd_notify(3) and sd_listen_fds(3) describe the protocol: a few lines of text in a datagram, and
 * three environment variables. Each descriptor has a name.
 */
#ifndef SMC_ISMD_KEEP_H
#define SMC_ISMD_KEEP_H

#include <stdbool.h>

#define KEEP_NAME	48

/* limit of descriptors in flight to a manager that does not read */
#define KEEP_IN_FLIGHT_MAX	32

/* Find the manager, and the descriptors of an earlier process */
void keep_init(void);

/* Does the manager have a descriptor store? */
bool keep_has_store(void);

/**
 * keep_take() - get a descriptor of an earlier process
 * @format: its name, as of printf()
 *
 * Return: the descriptor, or -1
 */
int keep_take(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Close descriptors that keep_take() has not returned */
void keep_drop_rest(void);

/**
 * keep_add() - make a descriptor survive this process
 * @fd: the descriptor; the caller may close it only after keep_remove()
 * @format: its name, which must be unique
 */
void keep_add(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Remove the descriptor with this name from the store */
void keep_remove(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Send the manager a notification, such as "READY=1" */
void keep_tell(const char *text);

/* Execute a program with all descriptors; returns only on failure */
void keep_exec(const char *program, char **argv);

#endif /* SMC_ISMD_KEEP_H */
