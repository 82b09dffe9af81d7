/* SPDX-License-Identifier: GPL-2.0-only */
/* What connect() learns of a server in this kernel: see connect_watch.c */
#ifndef _NET_SMC_SOCK_CONNECT_WATCH_H
#define _NET_SMC_SOCK_CONNECT_WATCH_H

#include <linux/list.h>
#include <linux/types.h>

#include "../handshake/pair.h"

struct smc_sock;
struct socket;
struct task_struct;

/**
 * struct smc_connect_watch - what a task in connect() learns of events on top of it
 * @entry: in @watches
 * @watches: list of the processor on which the task began to watch; NULL if it does not watch
 * @task: the task
 * @smc: its socket, which it has locked
 * @expects_child: @key is valid
 * @key: of the connection
 * @listener: the child of the connection is in TCP's queue of this listening socket; with a
 *	reference
 * @has_listener: a SYN, probably that of the connection, has reached a listening socket
 * @is_bound: TCP has created the child of the connection, which may claim the offer of @smc
 */
struct smc_connect_watch {
	struct list_head entry;
	struct smc_connect_watches *watches;
	struct task_struct *task;
	struct smc_sock *smc;
	bool expects_child;
	struct smc_pair_key key;
	struct smc_sock *listener;
	bool has_listener;
	bool is_bound;
};

void smc_connect_watch_begin(struct smc_connect_watch *watch, const struct socket *sock,
			     struct smc_sock *smc);
void smc_connect_watch_expect_child(struct smc_connect_watch *watch,
				    const struct smc_pair_key *key);
struct smc_sock *smc_connect_watch_end(struct smc_connect_watch *watch);
void smc_connect_watch_note_listener(void);
bool smc_connect_watch_note_child(struct smc_sock *listener);
void smc_connect_watch_init(void);

#endif /* _NET_SMC_SOCK_CONNECT_WATCH_H */
