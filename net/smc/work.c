// SPDX-License-Identifier: GPL-2.0-only
/*
 * One unbound queue for everything that must sleep and does not run in a
 * system call: handshake steps, deaths of connections, idle groups. No item
 * waits for a peer, so items never wait for each other for long.
 */

#include "work.h"

struct workqueue_struct *smc_wq;

/**
 * smc_work_init() - create the queue
 *
 * Return: 0 or -ENOMEM.
 */
int smc_work_init(void)
{
	smc_wq = alloc_workqueue("smc", WQ_UNBOUND, 0);
	return smc_wq ? 0 : -ENOMEM;
}

/** smc_work_exit() - finish what is queued and destroy the queue; may sleep */
void smc_work_exit(void)
{
	destroy_workqueue(smc_wq);
}
