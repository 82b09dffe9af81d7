/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of smc_net.socks, the list of all connections of a namespace; see sock/list.c */
#ifndef _NET_SMC_LISTED_H
#define _NET_SMC_LISTED_H

#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct smc_listed - an entry of smc_net.socks
 * @node: in smc_net.socks; empty if not listed
 * @number: larger than that of all earlier entries
 * @fell_back: part of a struct smc_fallen, else of a struct smc_sock
 */
struct smc_listed {
	struct rb_node node;
	u64 number;
	bool fell_back;
};

/**
 * struct smc_fallen - entry of a connection that fell back to TCP
 * @listed: its entry, with the number of its former struct smc_sock
 * @cookie: cookie of its sock
 * @hash: hash of its sock, which finds it in TCP's table of connections
 * @reason: enum smc_reason
 * @peer_diagnosis: diagnosis in the peer's Decline, or 0
 */
struct smc_fallen {
	struct smc_listed listed;
	u64 cookie;
	u32 hash;
	u32 reason;
	u32 peer_diagnosis;
};

#endif /* _NET_SMC_LISTED_H */
