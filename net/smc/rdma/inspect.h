/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of links and devices of SMC-R, for monitoring */
#ifndef _NET_SMC_RDMA_INSPECT_H
#define _NET_SMC_RDMA_INSPECT_H

#include "../group/transport.h"

struct smcr_link;

/* Operations of struct smc_transport */
bool smcr_group_link_info(const struct smc_group *group, unsigned int index,
			  struct smc_link_info *out);
void smcr_group_memory_info(const struct smc_group *group, struct smc_group_memory *out);
bool smcr_device_info(const struct net *net, unsigned long serial, struct smc_device_info *out);
void smcr_conn_ends(const struct smc_conn *conn, struct smc_conn_ends *out);

void smcr_link_info(const struct smcr_link *link, struct smc_link_info *out);

#endif /* _NET_SMC_RDMA_INSPECT_H */
