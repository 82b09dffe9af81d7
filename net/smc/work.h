/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's work queue. Whoever queues work takes the reference it needs. */
#ifndef _NET_SMC_WORK_H
#define _NET_SMC_WORK_H

#include <linux/workqueue.h>

extern struct workqueue_struct *smc_wq;

int smc_work_init(void);
void smc_work_exit(void);

#endif /* _NET_SMC_WORK_H */
