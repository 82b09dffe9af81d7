/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that a system call runs in place of a kworker: see caller_work.c */
#ifndef _NET_SMC_SOCK_CALLER_WORK_H
#define _NET_SMC_SOCK_CALLER_WORK_H

#include <linux/list.h>
#include <linux/types.h>

struct smc_sock;
struct socket;
struct task_struct;

/**
 * struct smc_caller_work - the work of a task in connect()
 * @entry: in @collectors
 * @collectors: list of the processor on which the task began to collect
 * @task: the task
 * @socks: collected sockets; each has a reference
 * @left: how many more sockets the task may collect
 * @has_listener: a SYN, probably that of the task, has reached a listening socket on top of it
 * @has_child: TCP has created a child of a listening socket on top of the task
 */
struct smc_caller_work {
	struct list_head entry;
	struct smc_collectors *collectors;
	struct task_struct *task;
	struct list_head socks;
	unsigned int left;
	bool has_listener;
	bool has_child;
};

void smc_caller_work_begin(struct smc_caller_work *work, const struct socket *sock);
bool smc_caller_work_is_pending(struct smc_caller_work *work);
void smc_caller_work_end(struct smc_caller_work *work);
bool smc_caller_work_takes(struct smc_sock *smc);
void smc_caller_work_note_listener(struct smc_sock *listener);
bool smc_caller_work_add(struct smc_sock *smc);
bool smc_task_may_be_held(const struct task_struct *task);
void smc_caller_work_init(void);

#endif /* _NET_SMC_SOCK_CALLER_WORK_H */
