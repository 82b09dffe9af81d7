/* SPDX-License-Identifier: GPL-2.0-only */
/* Event loop */
#ifndef SMC_ISMD_LOOP_H
#define SMC_ISMD_LOOP_H

#include <stdint.h>

/**
 * struct watch - a watched descriptor
 * @fd: the descriptor; -1 if not set
 * @ready: called with the epoll events. It may close any watch
 * @owner: for @ready
 *
 * After loop_close(), the caller may free it only when loop_run() has returned.
 */
struct watch {
	int fd;
	void (*ready)(struct watch *watch, uint32_t events);
	void *owner;
};

void loop_init(void);

/* Edge-triggered if @events contains EPOLLET */
void loop_add(struct watch *watch, uint32_t events);

/* Closes the descriptor too */
void loop_close(struct watch *watch);

/* Move the descriptor to another watch */
void loop_move(struct watch *from, struct watch *to, uint32_t events);

/**
 * loop_run() - wait once for events, and call the handlers
 * @milliseconds: timeout; -1: no timeout
 */
void loop_run(int milliseconds);

#endif /* SMC_ISMD_LOOP_H */
