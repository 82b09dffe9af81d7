/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Select the local port of another link of a group. Process context; may sleep, but not for the
 * network. Return: an address of the port, with a reference for smcr_gid_put(), or NULL.
 */
#ifndef _NET_SMC_RDMA_PATHS_H
#define _NET_SMC_RDMA_PATHS_H

#include "../wire/llc.h"

struct smcr_gid;
struct smcr_group;
struct smcr_link;

/* Server: a port that no link uses; with @probe and without such a port, a port that a link uses */
struct smcr_gid *smcr_path_to_offer(struct smcr_group *rg, bool probe);
/* Client: the best port for a link to the server's port in its ADD LINK */
struct smcr_gid *smcr_path_to_accept(struct smcr_group *rg, const struct smc_llc_add_link *msg);
/* Both ends of a new link are known: is there no other link between the same two ports? */
bool smcr_path_fits(const struct smcr_link *link);

#endif /* _NET_SMC_RDMA_PATHS_H */
