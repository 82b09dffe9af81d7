// SPDX-License-Identifier: GPL-2.0-only
/*
 * User EIDs and the system EID of a namespace.
 *
 * The system EID comes from a random seed of this boot of the module: two
 * sockets on one kernel share it without any configuration, and two hosts never
 * do by accident (V2-EID-10, S-05).
 */

#include <linux/random.h>

#include "eid.h"

static struct smc_eid system_eid;

/** smc_eid_module_init() - make the system EID, once */
void smc_eid_module_init(void)
{
	u8 seed[SMC_EID_SEED_LEN];

	get_random_bytes(seed, sizeof(seed));
	smc_eid_from_seed(seed, &system_eid);
}

/**
 * smc_eid_init() - EIDs of a new namespace: only the system's
 * @eids: to be filled
 */
void smc_eid_init(struct smc_eids *eids)
{
	spin_lock_init(&eids->lock);
	eids->nr_ueids = 0;
	eids->seid_enabled = true;
}

/**
 * smc_eid_system() - the system EID, whether a namespace offers it or not
 *
 * Return: constant as long as the module is loaded.
 */
const struct smc_eid *smc_eid_system(void)
{
	return &system_eid;
}

/**
 * smc_eid_get() - copy the EIDs in use
 * @eids: of the namespace
 * @out: the copy
 *
 * Any context but hard interrupts.
 */
void smc_eid_get(struct smc_eids *eids, struct smc_eid_set *out)
{
	memset(out, 0, sizeof(*out));
	spin_lock_bh(&eids->lock);
	out->nr_ueids = eids->nr_ueids;
	memcpy(out->ueids, eids->ueids, sizeof(out->ueids));
	if (eids->seid_enabled)
		out->seid = system_eid;
	spin_unlock_bh(&eids->lock);
}

static int find(const struct smc_eids *eids, const struct smc_eid *eid)
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
 * @eids: of the namespace
 * @eid: valid EID
 *
 * Return: 0, -EEXIST, or -ENOSPC at the limit (V2-EID-05, V2-EID-06).
 */
int smc_eid_add(struct smc_eids *eids, const struct smc_eid *eid)
{
	int err = 0;

	spin_lock_bh(&eids->lock);
	if (find(eids, eid) >= 0)
		err = -EEXIST;
	else if (eids->nr_ueids == SMC_UEID_LIMIT)
		err = -ENOSPC;
	else
		eids->ueids[eids->nr_ueids++] = *eid;
	spin_unlock_bh(&eids->lock);
	return err;
}

/* Return: whether the system EID had to be switched on */
static bool need_seid(struct smc_eids *eids)
{
	lockdep_assert_held(&eids->lock);
	if (eids->nr_ueids || eids->seid_enabled)
		return false;
	eids->seid_enabled = true;
	return true;
}

/**
 * smc_eid_remove() - remove a user EID; existing link groups keep it (S-54)
 * @eids: of the namespace
 * @eid: the EID
 *
 * Without user EIDs, nothing but the system EID is left to be offered.
 *
 * Return: 0, -ENOENT, or -EAGAIN if it was the last one, and the system EID was
 * switched on for that reason.
 */
int smc_eid_remove(struct smc_eids *eids, const struct smc_eid *eid)
{
	int i;

	spin_lock_bh(&eids->lock);
	i = find(eids, eid);
	if (i >= 0) {
		eids->nr_ueids--;
		memmove(&eids->ueids[i], &eids->ueids[i + 1],
			(eids->nr_ueids - i) * sizeof(*eid));
		i = need_seid(eids) ? -EAGAIN : 0;
	}
	spin_unlock_bh(&eids->lock);
	return i;
}

/**
 * smc_eid_flush() - remove all user EIDs; the system EID is on afterwards
 * @eids: of the namespace
 */
void smc_eid_flush(struct smc_eids *eids)
{
	spin_lock_bh(&eids->lock);
	eids->nr_ueids = 0;
	need_seid(eids);
	spin_unlock_bh(&eids->lock);
}

/**
 * smc_eid_enable_seid() - offer and accept the system EID, or not
 * @eids: of the namespace
 * @on: the new setting
 *
 * Return: 0, or -ENOENT if there is no user EID that could be used instead.
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
