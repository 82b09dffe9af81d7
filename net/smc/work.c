// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unbound work queue for everything that may sleep outside of system calls: handshake steps, the
 * end of connections, idle link groups. No work item waits for a peer, so work items do not delay
 * each other for long.
 */

#include "work.h"

struct workqueue_struct *smc_wq;

int smc_work_init(void)
{
	smc_wq = alloc_workqueue("smc", WQ_UNBOUND, 0);
	return smc_wq ? 0 : -ENOMEM;
}

/* Flush and destroy the queue. May sleep */
void smc_work_exit(void)
{
	destroy_workqueue(smc_wq);
}
