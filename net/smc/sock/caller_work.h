/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that a system call runs in place of a kworker: see caller_work.c */
#ifndef _NET_SMC_SOCK_CALLER_WORK_H
#define _NET_SMC_SOCK_CALLER_WORK_H

#include <linux/list.h>
#include <linux/types.h>

struct smc_sock;
struct socket;

/**
 * struct smc_caller_work - the work of a task that is inside of connect()
 * @entry: in the list of the processor on which the task began
 * @collectors: that list
 * @task: the task
 * @socks: sockets whose work it runs; each has a reference
 * @left: how many more it takes
 */
struct smc_caller_work {
	struct list_head entry;
	struct smc_collectors *collectors;
	struct task_struct *task;
	struct list_head socks;
	unsigned int left;
};

void smc_caller_work_begin(struct smc_caller_work *work, const struct socket *sock);
bool smc_caller_work_pending(struct smc_caller_work *work);
void smc_caller_work_end(struct smc_caller_work *work);
bool smc_caller_work_takes(const struct smc_sock *smc);
bool smc_caller_work_add(struct smc_sock *smc);
void smc_caller_work_init(void);

#endif /* _NET_SMC_SOCK_CALLER_WORK_H */
