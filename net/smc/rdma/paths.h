/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of our ports is for another link of a group? Process context, may sleep, but not for the
 * network. The port comes with a reference for smcr_gid_put(), or is NULL.
 */
#ifndef _NET_SMC_RDMA_PATHS_H
#define _NET_SMC_RDMA_PATHS_H

#include "../wire/llc.h"

struct smcr_gid;
struct smcr_group;
struct smcr_link;

/* Server: one that no link has; with @probe, else one that a link has */
struct smcr_gid *smcr_path_to_offer(struct smcr_group *rg, bool probe);
/* Client: the best one for a link to the port in the server's ADD LINK */
struct smcr_gid *smcr_path_to_accept(struct smcr_group *rg, const struct smc_llc_add_link *msg);
/* Do the ends of a link that is being added, now that both are known, make a link of their own? */
bool smcr_path_fits(const struct smcr_link *link);

#endif /* _NET_SMC_RDMA_PATHS_H */
