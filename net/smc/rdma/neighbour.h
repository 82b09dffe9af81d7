/* SPDX-License-Identifier: GPL-2.0-only */
/* The MAC address of the next hop, out of the neighbour table */
#ifndef _NET_SMC_RDMA_NEIGHBOUR_H
#define _NET_SMC_RDMA_NEIGHBOUR_H

#include <linux/in6.h>
#include <linux/types.h>

struct dst_entry;
struct neigh_table;
struct smc_conn;

/**
 * struct smcr_hop - the next hop on the way to a peer
 * @dst: the route; the caller holds it
 * @net_cookie: its namespace
 * @ifindex: its network device
 * @table: where its MAC address is, or will be
 * @key: its address, as long as keys of @table are, and zeros
 */
struct smcr_hop {
	struct dst_entry *dst;
	u64 net_cookie;
	int ifindex;
	struct neigh_table *table;
	struct in6_addr key;
};

int smcr_neigh_look(const struct smcr_hop *hop, u8 *mac);
int smcr_neigh_ask(const struct smcr_hop *hop, struct smc_conn *conn,
		   const struct in6_addr *peer);
void smcr_neigh_forget(struct smc_conn *conn);
int smcr_neigh_init(void);
void smcr_neigh_exit(void);

#endif /* _NET_SMC_RDMA_NEIGHBOUR_H */
