/* SPDX-License-Identifier: GPL-2.0-only */
/* Listening sockets: the accept queue, and the children that TCP has accepted */
#ifndef _NET_SMC_LISTEN_LISTEN_H
#define _NET_SMC_LISTEN_LISTEN_H

#include "../sock/accept_queue.h"
#include "../sock/listener.h"
#include "../sock/sock.h"

/* Would accept() return a socket? Any context. */
static inline bool smc_accept_has_ready(const struct smc_sock *listener)
{
	return READ_ONCE(listener->queue->ready.rb_root.rb_node);
}

/* Must accept() take a step before it can return a socket? Any context. */
static inline bool smc_accept_step_is_due(const struct smc_sock *listener)
{
	const struct smc_accept_queue *q = listener->queue;

	return READ_ONCE(q->incoming) || !list_empty_careful(&q->due);
}

/* accept.c */
int smc_listen(struct socket *sock, int backlog);
bool smc_accept_poll(struct smc_sock *listener);
int smc_accept(struct socket *sock, struct socket *newsock, int flags);

/* queue.c */
int smc_accept_create_queue(struct smc_sock *smc);
void smc_accept_set_backlog(struct smc_sock *listener, int backlog);
u32 smc_accept_count_waiting(struct smc_sock *listener);
bool smc_accept_has_place(struct smc_sock *listener);
bool smc_accept_count_in_connect(struct smc_sock *listener);
void smc_accept_uncount_in_connect(struct smc_sock *listener);
bool smc_accept_add_child(struct smc_sock *listener, struct smc_sock *child);
bool smc_accept_is_reset_deferred(const struct smc_sock *child);
void smc_accept_make_ready(struct smc_sock *child, enum smc_outcome outcome);
bool smc_accept_remove_child(struct smc_sock *listener, struct smc_sock *child);
void smc_accept_release_child(struct smc_sock *listener, struct smc_sock *child);
struct smc_sock *smc_accept_pop_child(struct smc_sock *listener, bool ready);
struct smc_sock *smc_accept_find_overtaken(struct smc_sock *listener, bool any_older);
void smc_accept_end_queue(struct smc_sock *listener);

/* tcp_queue.c */
struct sock *smc_tcp_queue_take(struct smc_sock *listener, const struct smc_pair_key *key);
void smc_tcp_queue_end(struct smc_sock *listener);

/* child.c */
struct smc_sock *smc_child_create(struct smc_sock *listener, struct sock *sk, bool in_accept);
void smc_child_fall_back(struct smc_sock *listener, struct sock *sk);
bool smc_task_may_be_held(const struct task_struct *task);
int smc_listen_take_steps(struct smc_sock *listener, struct sock **tcp_child);

#endif /* _NET_SMC_LISTEN_LISTEN_H */
