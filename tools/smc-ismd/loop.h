/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for descriptors
 */
#ifndef SMC_ISMD_LOOP_H
#define SMC_ISMD_LOOP_H

#include <stdint.h>

/**
 * struct watch - a descriptor that is waited for
 * @fd: the descriptor; -1 while there is none
 * @ready: called with what epoll says. It may close any watch
 * @owner: for @ready
 *
 * Lives as long as the process, or until a call of loop_run() has returned after loop_close().
 */
struct watch {
	int fd;
	void (*ready)(struct watch *watch, uint32_t events);
	void *owner;
};

void loop_init(void);

/* Edge triggered where EPOLLET is among the events. */
void loop_add(struct watch *watch, uint32_t events);

/* Also closes the descriptor. */
void loop_close(struct watch *watch);

/* The descriptor belongs to another watch from now on. */
void loop_move(struct watch *from, struct watch *to, uint32_t events);

/**
 * loop_run() - wait once, and call whoever is concerned
 * @milliseconds: to wait at most; -1: no limit
 */
void loop_run(int milliseconds);

#endif /* SMC_ISMD_LOOP_H */
