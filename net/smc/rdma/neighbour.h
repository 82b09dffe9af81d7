/* SPDX-License-Identifier: GPL-2.0-only */
/* The MAC address of the next hop, from the neighbour table */
#ifndef _NET_SMC_RDMA_NEIGHBOUR_H
#define _NET_SMC_RDMA_NEIGHBOUR_H

#include <linux/in6.h>
#include <linux/types.h>

struct dst_entry;
struct neigh_table;
struct smc_conn;

/**
 * struct smcr_hop - the next hop to a peer
 * @dst: the route; the caller has a reference
 * @net_cookie: cookie of its namespace
 * @ifindex: its network device
 * @table: its neighbour table
 * @key: its address, as a key of @table, padded with zeros
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
