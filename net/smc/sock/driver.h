/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who takes the next step of a handshake, as a pure function. Several may want to, and none may be
 * missing: see Documentation/one-socket.rst, "One driver".
 */
#ifndef _NET_SMC_SOCK_DRIVER_H
#define _NET_SMC_SOCK_DRIVER_H

#include <linux/types.h>

/**
 * enum smc_driver - who looks at a socket when something happens to it
 * @SMC_DRIVER_NOBODY: nothing is to be looked at
 * @SMC_DRIVER_CALLER: a system call on the socket itself, which waits or is about to
 * @SMC_DRIVER_ACCEPT: accept() of the parent
 * @SMC_DRIVER_KWORKER: the work, which a kworker runs, or the task that caused the event
 * @SMC_DRIVERS: how many
 */
enum smc_driver {
	SMC_DRIVER_NOBODY,
	SMC_DRIVER_CALLER,
	SMC_DRIVER_ACCEPT,
	SMC_DRIVER_KWORKER,
	SMC_DRIVERS,
};

/**
 * enum smc_driver_event - what happens to the driver
 * @SMC_DRIVER_NEWS: something happened to the socket, and accept() of a parent is not there for it
 * @SMC_DRIVER_NEWS_ACCEPT: something happened, and accept() would look
 * @SMC_DRIVER_ENTER: a system call is about to wait, and looks itself from now on
 * @SMC_DRIVER_LEAVE: it does not any more
 * @SMC_DRIVER_LOOK: the driver begins to look
 * @SMC_DRIVER_DONE: accept() or the work has seen all there was
 * @SMC_DRIVER_DECLINE: accept() does not look after all
 * @SMC_DRIVER_EVENTS: how many
 */
enum smc_driver_event {
	SMC_DRIVER_NEWS,
	SMC_DRIVER_NEWS_ACCEPT,
	SMC_DRIVER_ENTER,
	SMC_DRIVER_LEAVE,
	SMC_DRIVER_LOOK,
	SMC_DRIVER_DONE,
	SMC_DRIVER_DECLINE,
	SMC_DRIVER_EVENTS,
};

/**
 * enum smc_driver_action - what whoever changed the driver has to do
 * @SMC_DRIVER_NOTHING: nothing
 * @SMC_DRIVER_WAKE_CALLER: wake the system call
 * @SMC_DRIVER_TELL_ACCEPT: put the socket before accept()
 * @SMC_DRIVER_QUEUE_WORK: queue the work
 */
enum smc_driver_action {
	SMC_DRIVER_NOTHING,
	SMC_DRIVER_WAKE_CALLER,
	SMC_DRIVER_TELL_ACCEPT,
	SMC_DRIVER_QUEUE_WORK,
};

/**
 * struct smc_driver_state - who looks, and whether there is something to look at
 * @driver: who
 * @news: something happened since @driver began to look
 */
struct smc_driver_state {
	enum smc_driver driver;
	bool news;
};

/**
 * struct smc_driver_step - the answer to an event
 * @next: the new state
 * @action: what to do
 */
struct smc_driver_step {
	struct smc_driver_state next;
	enum smc_driver_action action;
};

struct smc_driver_step smc_driver_next(struct smc_driver_state now, enum smc_driver_event event);

#endif /* _NET_SMC_SOCK_DRIVER_H */
