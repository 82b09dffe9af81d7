/* SPDX-License-Identifier: GPL-2.0-only */
/* All connections of a namespace, for monitoring */
#ifndef _NET_SMC_SOCK_LIST_H
#define _NET_SMC_SOCK_LIST_H

#include "../listed.h"
#include "sock.h"

/**
 * struct smc_list_entry - a copy of an entry
 * @smc: the socket, with a reference; NULL if the connection fell back, and then:
 * @sk: the sock, with a reference
 * @reason: enum smc_reason
 * @peer_diagnosis: diagnosis in the peer's Decline, or 0
 */
struct smc_list_entry {
	struct smc_sock *smc;
	struct sock *sk;
	u32 reason;
	u32 peer_diagnosis;
};

#define SMC_LIST_START	U64_MAX

void smc_list_add(struct smc_sock *smc);
void smc_list_remove(struct smc_sock *smc);
void smc_list_fallback(struct smc_sock *smc, struct sock *sk, u32 reason, u32 peer_diagnosis);
bool smc_list_next(struct net *net, u64 *number, struct smc_list_entry *out);

#endif /* _NET_SMC_SOCK_LIST_H */
