/* SPDX-License-Identifier: GPL-2.0-only */
/* An entry of a namespace's list of connections; what is done with it is in sock/list.c */
#ifndef _NET_SMC_LISTED_H
#define _NET_SMC_LISTED_H

#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct smc_listed - an entry of smc_net.socks
 * @node: in smc_net.socks; empty outside of the list
 * @number: grows from one entry to the next
 * @fell_back: this is part of a struct smc_fallen, else of a struct smc_sock
 */
struct smc_listed {
	struct rb_node node;
	u64 number;
	bool fell_back;
};

/**
 * struct smc_fallen - a connection that fell back, and is a TCP socket
 * @listed: its entry; with the number of the struct smc_sock that it had
 * @cookie: of the sock
 * @hash: of the sock, in TCP's table of connections
 * @reason: enum smc_reason
 * @peer_diagnosis: what the peer's Decline said
 */
struct smc_fallen {
	struct smc_listed listed;
	u64 cookie;
	u32 hash;
	u32 reason;
	u32 peer_diagnosis;
};

#endif /* _NET_SMC_LISTED_H */
