/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's work queue. Whoever queues work takes the reference it needs. */
#ifndef _NET_SMC_WORK_H
#define _NET_SMC_WORK_H

#include <linux/sched.h>
#include <linux/workqueue.h>

extern struct workqueue_struct *smc_wq;

/*
 * The kernel counts the pages that a task charges to memory cgroups beyond memory.high. At the
 * second batch the task sleeps for up to two seconds. A kworker charges for the programs of all
 * cgroups: it must not sleep for one of them.
 */
static inline void smc_work_forget_throttling(void)
{
#ifdef CONFIG_MEMCG
	if (current->flags & PF_KTHREAD)
		current->memcg_nr_pages_over_high = 0;
#endif
}

int smc_work_init(void);
void smc_work_exit(void);

#endif /* _NET_SMC_WORK_H */
