/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections that fell back, for monitoring: they are TCP sockets, with nothing of ours */
#ifndef _NET_SMC_SOCK_FALLEN_H
#define _NET_SMC_SOCK_FALLEN_H

#include <linux/in6.h>

#include "../fallen.h"
#include "../net.h"

void smc_fallen_add(struct sock *sk, u32 reason, u32 peer_diagnosis);
struct sock *smc_fallen_next(struct net *net, u64 *number, struct smc_fallen *out);

#endif /* _NET_SMC_SOCK_FALLEN_H */
