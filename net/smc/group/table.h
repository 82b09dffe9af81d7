/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of the link groups of a namespace. The caller holds smc_groups.lock. */
#ifndef _NET_SMC_GROUP_TABLE_H
#define _NET_SMC_GROUP_TABLE_H

#include "../net.h"
#include "group.h"

/**
 * struct smc_group_caps - limits of the number of groups
 * @all: in the namespace
 * @of_peer: with the peers of one class of addresses
 */
struct smc_group_caps {
	unsigned int all;
	unsigned int of_peer;
};

struct smc_group *smc_table_find(struct smc_groups *groups, const struct smc_group_key *key,
				 const struct smc_clc_accept *accept);
void smc_table_join(struct smc_groups *groups, struct smc_group *group);

struct smc_group *smc_table_forming(struct smc_groups *groups, const struct smc_group_key *key,
				    unsigned int *nr);
bool smc_table_is_silent(struct smc_groups *groups, const struct in6_addr *remote);
void smc_table_set_silent(struct smc_groups *groups, const struct in6_addr *remote);
int smc_table_admit(struct smc_groups *groups, struct smc_group *group,
		    const struct smc_group_caps *caps);
unsigned int smc_table_forming_of(struct smc_groups *groups, const struct in6_addr *remote,
				  enum smc_mode mode);
struct smc_group *smc_table_evict_forming(struct smc_groups *groups,
					  const struct smc_group *fresh,
					  const struct smc_group_caps *caps);
void smc_table_add_forming(struct smc_groups *groups, struct smc_group *group,
			   struct smc_conn *former);
void smc_table_add(struct smc_groups *groups, struct smc_group *group);
struct smc_group *smc_table_evict_idle(struct smc_groups *groups, struct smc_peer_class *class,
				       const struct smc_group_caps *caps);
bool smc_table_remove(struct smc_groups *groups, struct smc_group *group);

struct smc_group *smc_table_remove_doubted(struct smc_groups *groups,
					   const struct smc_group *fresh);

void smc_table_set_idle(struct smc_groups *groups, struct smc_group *group);

#endif /* _NET_SMC_GROUP_TABLE_H */
