/* SPDX-License-Identifier: GPL-2.0-only */
/* User EIDs and the system EID of a namespace */
#ifndef _NET_SMC_CONFIG_EID_H
#define _NET_SMC_CONFIG_EID_H

#include <linux/spinlock.h>

#include "../wire/clc.h"

#define SMC_UEID_LIMIT	4	/* limit of the user ABI; the protocol allows 8 */

/**
 * struct smc_eids - EIDs of one namespace
 * @lock: protects all fields
 * @nr_ueids: number of user EIDs
 * @ueids: user EIDs, in the order they were added
 * @seid_enabled: the system EID is offered and accepted
 */
struct smc_eids {
	spinlock_t lock;	/* protects all fields */
	u8 nr_ueids;
	struct smc_eid ueids[SMC_UEID_LIMIT];
	bool seid_enabled;
};

/**
 * struct smc_eid_set - a consistent copy of the EIDs
 * @nr_ueids: number of user EIDs
 * @ueids: @nr_ueids user EIDs
 * @seid: system EID, all zero if it is disabled
 */
struct smc_eid_set {
	u8 nr_ueids;
	struct smc_eid ueids[SMC_UEID_LIMIT];
	struct smc_eid seid;
};

void smc_eid_module_init(void);
void smc_eid_init(struct smc_eids *eids);
void smc_eid_get(struct smc_eids *eids, struct smc_eid_set *out);
int smc_eid_add(struct smc_eids *eids, const struct smc_eid *eid);
int smc_eid_remove(struct smc_eids *eids, const struct smc_eid *eid);
void smc_eid_flush(struct smc_eids *eids);
int smc_eid_enable_seid(struct smc_eids *eids, bool on);
const struct smc_eid *smc_eid_system(void);

#endif /* _NET_SMC_CONFIG_EID_H */
