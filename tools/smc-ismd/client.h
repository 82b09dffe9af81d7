/* SPDX-License-Identifier: GPL-2.0-only */
/* One client: a QEMU process, the messages it gets, and its interrupts */
#ifndef SMC_ISMD_CLIENT_H
#define SMC_ISMD_CLIENT_H

#include <stdbool.h>

#include "pair.h"

/* A log line that begins with the machine, such as "web of db/web" */
void client_log(const struct end *end, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * client_tell() - send pending messages, as many as the socket takes
 * @end: its end, which must have a client
 *
 * Return: false if the caller must retry later, because no event will follow
 */
bool client_tell(struct end *end);

/* Complete the record of what an earlier process sent last */
void client_settle(struct end *end);

/* Limit the descriptors that the client can leave unread to IN_FLIGHT_MAX */
void client_bound_unread(int fd);

/* The client can send nothing any more. Data that it has sent is dropped */
void client_close_input(int fd);

/* Does the other end of this connection have unread messages? */
bool client_has_unread(int fd);

/* Interrupt the machine: something about the pair has changed */
void client_ring(struct end *end);

/* Create the eventfds of a new client */
bool client_make_vectors(struct end *end, unsigned int count);
void client_close_vectors(struct end *end);

/* Log the arrival of the client */
void client_log_arrival(const struct end *end);

#endif /* SMC_ISMD_CLIENT_H */
