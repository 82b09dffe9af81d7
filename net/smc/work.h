/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's work queue. The caller that queues work takes the reference that the work needs */
#ifndef _NET_SMC_WORK_H
#define _NET_SMC_WORK_H

#include <linux/sched.h>
#include <linux/workqueue.h>

struct sock;

extern struct workqueue_struct *smc_wq;

/*
 * The kernel counts the pages that a task charges to memory cgroups beyond memory.high, and at the
 * second batch puts the task to sleep for up to two seconds. A kworker charges memory for programs
 * of all cgroups, so it must not sleep because of one of them.
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

bool smc_work_lock_if_free(struct sock *sk);

#endif /* _NET_SMC_WORK_H */
