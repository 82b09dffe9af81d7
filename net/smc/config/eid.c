// SPDX-License-Identifier: GPL-2.0-only
/*
 * User EIDs and the system EID of a namespace.
 *
 * The system EID is derived from a random seed when the module is loaded. All sockets of one kernel
 * share it without configuration, and two hosts never have the same (V2-EID-10, S-05).
 */

#include <linux/random.h>

#include "eid.h"

static struct smc_eid system_eid;

/* Generate the system EID */
void smc_eid_module_init(void)
{
	u8 seed[SMC_EID_SEED_LEN];

	get_random_bytes(seed, sizeof(seed));
	smc_eid_from_seed(seed, &system_eid);
}

/* The EIDs of a new namespace: only the system EID */
void smc_eid_init(struct smc_eids *eids)
{
	spin_lock_init(&eids->lock);
	eids->nr_ueids = 0;
	eids->seid_enabled = true;
}

/* The system EID, also if a namespace does not offer it; constant while the module is loaded */
const struct smc_eid *smc_eid_system(void)
{
	return &system_eid;
}

/* Copy the EIDs that the namespace uses. Any context but hard interrupts */
void smc_eid_get(struct smc_eids *eids, struct smc_eid_set *out)
{
	spin_lock_bh(&eids->lock);
	out->nr_ueids = eids->nr_ueids;
	memcpy(out->ueids, eids->ueids, eids->nr_ueids * sizeof(out->ueids[0]));
	out->seid = eids->seid_enabled ? system_eid : (struct smc_eid){};
	spin_unlock_bh(&eids->lock);
}

static int find_ueid(const struct smc_eids *eids, const struct smc_eid *eid)
{
	int i;

	lockdep_assert_held(&eids->lock);
	for (i = 0; i < eids->nr_ueids; i++)
		if (smc_eid_equal(&eids->ueids[i], eid))
			return i;
	return -ENOENT;
}

/**
 * smc_eid_add() - add a user EID
 * @eids: EIDs of the namespace
 * @eid: valid EID
 *
 * Return: 0, -EEXIST, or -ENOSPC at the limit (V2-EID-05, V2-EID-06).
 */
int smc_eid_add(struct smc_eids *eids, const struct smc_eid *eid)
{
	int err = 0;

	spin_lock_bh(&eids->lock);
	if (find_ueid(eids, eid) >= 0)
		err = -EEXIST;
	else if (eids->nr_ueids == SMC_UEID_LIMIT)
		err = -ENOSPC;
	else
		eids->ueids[eids->nr_ueids++] = *eid;
	spin_unlock_bh(&eids->lock);
	return err;
}

/* Without user EIDs, enable the system EID. Return: true if it was disabled */
static bool ensure_seid(struct smc_eids *eids)
{
	lockdep_assert_held(&eids->lock);
	if (eids->nr_ueids || eids->seid_enabled)
		return false;
	eids->seid_enabled = true;
	return true;
}

/**
 * smc_eid_remove() - remove a user EID; existing link groups keep it (S-54)
 * @eids: EIDs of the namespace
 * @eid: the EID
 *
 * Return: 0, -ENOENT, or -EAGAIN if this was the last user EID, so that the system EID was enabled.
 */
int smc_eid_remove(struct smc_eids *eids, const struct smc_eid *eid)
{
	int i;

	spin_lock_bh(&eids->lock);
	i = find_ueid(eids, eid);
	if (i >= 0) {
		eids->nr_ueids--;
		memmove(&eids->ueids[i], &eids->ueids[i + 1],
			(eids->nr_ueids - i) * sizeof(*eid));
		i = ensure_seid(eids) ? -EAGAIN : 0;
	}
	spin_unlock_bh(&eids->lock);
	return i;
}

/* Remove all user EIDs, and enable the system EID */
void smc_eid_flush(struct smc_eids *eids)
{
	spin_lock_bh(&eids->lock);
	eids->nr_ueids = 0;
	ensure_seid(eids);
	spin_unlock_bh(&eids->lock);
}

/**
 * smc_eid_enable_seid() - enable or disable the system EID
 * @eids: EIDs of the namespace
 * @on: the new setting
 *
 * Return: 0, or -ENOENT if no user EID exists that could replace it.
 */
int smc_eid_enable_seid(struct smc_eids *eids, bool on)
{
	int err = 0;

	spin_lock_bh(&eids->lock);
	if (on || eids->nr_ueids)
		eids->seid_enabled = on;
	else
		err = -ENOENT;
	spin_unlock_bh(&eids->lock);
	return err;
}
