/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One client: a QEMU, what it is told, and its interrupts
 */
#ifndef SMC_ISMD_CLIENT_H
#define SMC_ISMD_CLIENT_H

#include <stdbool.h>

#include "pair.h"

/* A line in the log that begins with the machine, such as "web of db/web". */
void client_log(const struct end *end, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * client_tell() - send the client what it does not know yet, as much as it takes
 * @end: its end, which must have a client
 *
 * Return: false if it has to be tried again later although nothing will say when
 */
bool client_tell(struct end *end);

/* Take note of what an earlier process said last. */
void client_settle(struct end *end);

/* Bound what the client can leave unread to IN_FLIGHT_MAX descriptors. */
void client_bound_unread(int fd);

/* The client can send nothing more. What it has sent is dropped. */
void client_close_input(int fd);

/* Does the other end of this connection hold messages that it has not read? */
bool client_has_unread(int fd);

/* Interrupt the machine: something about the pair has changed. */
void client_ring(struct end *end);

/* Eventfds for a client that is about to come. */
bool client_make_vectors(struct end *end, unsigned int count);
void client_close_vectors(struct end *end);

/* Line in the log: who came. */
void client_log_arrival(const struct end *end);

#endif /* SMC_ISMD_CLIENT_H */
