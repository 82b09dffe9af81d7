/* SPDX-License-Identifier: GPL-2.0-only */
/* What sock/ calls in listen/, which is above it: see UPCALLS in scripts/lib/layering.py */
#ifndef _NET_SMC_SOCK_LISTENER_H
#define _NET_SMC_SOCK_LISTENER_H

#include "sock.h"

/* Has TCP stopped to listen by other means than a call of the program (ss -K)? Any context. */
static inline bool smc_listen_is_killed(const struct smc_sock *smc)
{
	return READ_ONCE(smc->state) == SMC_SOCK_LISTEN &&
	       inet_sk_state_load(smc->conn.sk) != TCP_LISTEN;
}

/* Has the socket been killed, or taken by a kernel service? Its next step ends it. Any context. */
static inline bool smc_listen_is_over(const struct smc_sock *smc)
{
	return smc_listen_is_killed(smc) || smc_sock_is_taken(smc->conn.sk);
}

/* queue.c */
void smc_accept_limit_tcp(struct smc_sock *listener);
unsigned long smc_accept_park_silent(struct smc_sock *child);
void smc_accept_child_done(struct smc_sock *child, enum smc_outcome outcome);
void smc_accept_end_deferral(struct smc_sock *child);
void smc_accept_drop_deferred(struct smc_sock *child);

/* accept.c */
void smc_listen_end(struct smc_sock *listener);
void smc_listen_hand_over(struct smc_sock *listener);

/* tcp_queue.c */
bool smc_tcp_queue_got(const struct smc_sock *listener, const struct smc_pair_key *key,
		       bool *is_queued);

/* client_child.c */
struct smc_sock *smc_client_child_take(struct smc_sock *listener, const struct smc_pair_key *key);
void smc_client_child_step(struct smc_sock *child);
void smc_client_child_hand_over(struct smc_sock *child);

/* child.c */
bool smc_child_is_for_accept(const struct smc_sock *smc);
bool smc_child_tell_accept(struct smc_sock *smc);
void smc_listen_leave_to_client(struct smc_sock *listener);
void smc_listen_check_accept(struct smc_sock *listener);
void smc_listen_work(struct smc_sock *listener);

#endif /* _NET_SMC_SOCK_LISTENER_H */
