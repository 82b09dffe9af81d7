// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer's RMBs: key and address of each one, by link.
 *
 * RDMA writes use only keys from this table.
 */

#include "conn.h"
#include "group.h"

/* Lock the table, and find a key. Return: index of the RMB, or -ENOENT */
static int lock_and_find(struct smcr_link *link, u32 rkey)
	__acquires(&link->group->rtokens_lock)
{
	unsigned int index = smcr_link_index(link);
	struct smcr_rtoken *rtokens = link->group->rtokens;
	int i;

	spin_lock_bh(&link->group->rtokens_lock);
	for (i = 0; i < SMC_LLC_MAX_RTOKENS; i++)
		if (rtokens[i].used && rtokens[i].known[index] && rtokens[i].rkey[index] == rkey)
			return i;
	return -ENOENT;
}

static int find_unused(const struct smcr_group *rg)
{
	int i;

	for (i = 0; i < SMC_LLC_MAX_RTOKENS; i++)
		if (!rg->rtokens[i].used)
			return i;
	return -ENOSPC;
}

static void set(struct smcr_rtoken *rtoken, unsigned int link, u32 rkey, u64 addr)
{
	rtoken->used = true;
	rtoken->rkey[link] = rkey;
	rtoken->addr[link] = addr;
	rtoken->known[link] = true;
}

/**
 * smcr_rtoken_add() - add an RMB that the peer has announced
 * @link: link that @rkey belongs to
 * @rkey: its key on that link
 * @addr: its address on that link
 *
 * Any context.
 *
 * Return: index of the RMB, also if it was known before; -EPROTO if it was known with another
 * address; -ENOSPC if the table is full (R-LG-20).
 */
int smcr_rtoken_add(struct smcr_link *link, u32 rkey, u64 addr)
{
	unsigned int index = smcr_link_index(link);
	struct smcr_group *rg = link->group;
	int i = lock_and_find(link, rkey);

	if (i >= 0) {
		if (rg->rtokens[i].addr[index] != addr)
			i = -EPROTO;
	} else {
		i = find_unused(rg);
		if (i >= 0)
			set(&rg->rtokens[i], index, rkey, addr);
	}
	spin_unlock_bh(&rg->rtokens_lock);
	return i;
}

/**
 * smcr_rtoken_add_other() - add the key of a known RMB on another link
 * @link: link on which the RMB is known
 * @rkey: its key there
 * @other: the other link
 * @other_rkey: its key on that link
 * @other_addr: its address on that link
 *
 * Any context.
 *
 * Return: 0; -ENOENT if there is no such RMB; -EPROTO if an earlier message contradicts.
 */
int smcr_rtoken_add_other(struct smcr_link *link, u32 rkey, struct smcr_link *other,
			  u32 other_rkey, u64 other_addr)
{
	unsigned int index = smcr_link_index(other);
	struct smcr_group *rg = link->group;
	int i = lock_and_find(link, rkey);

	if (i >= 0) {
		const struct smcr_rtoken *rtoken = &rg->rtokens[i];

		if (!rtoken->known[index])
			set(&rg->rtokens[i], index, other_rkey, other_addr);
		else if (rtoken->rkey[index] != other_rkey || rtoken->addr[index] != other_addr)
			i = -EPROTO;
	}
	spin_unlock_bh(&rg->rtokens_lock);
	return min(i, 0);
}

/**
 * smcr_rtoken_delete() - remove an RMB that the peer has withdrawn, for all links
 * @link: link that @rkey belongs to
 * @rkey: its key
 *
 * Afterwards no data is written to the RMB. Any context, without spin locks.
 *
 * Return: 0, or -ENOENT if there is no such RMB.
 */
int smcr_rtoken_delete(struct smcr_link *link, u32 rkey)
{
	struct smcr_group *rg = link->group;
	int i = lock_and_find(link, rkey);

	if (i >= 0)
		memset(&rg->rtokens[i], 0, sizeof(rg->rtokens[i]));
	spin_unlock_bh(&rg->rtokens_lock);
	if (i >= 0)
		smcr_conn_withdraw(rg, i);
	return min(i, 0);
}

/**
 * smcr_rtoken_find() - find the RMB that the peer names
 * @link: link that @rkey belongs to
 * @rkey: its key
 * @addr: its address
 *
 * Any context.
 *
 * Return: index of the RMB, or -ENOENT.
 */
int smcr_rtoken_find(struct smcr_link *link, u32 rkey, u64 addr)
{
	unsigned int index = smcr_link_index(link);
	struct smcr_group *rg = link->group;
	int i = lock_and_find(link, rkey);

	if (i >= 0 && rg->rtokens[i].addr[index] != addr)
		i = -ENOENT;
	spin_unlock_bh(&rg->rtokens_lock);
	return i;
}

/**
 * smcr_rtoken_is_known() - is there an RMB with this key?
 * @link: link that @rkey belongs to
 * @rkey: the key
 *
 * Any context.
 *
 * Return: whether there is.
 */
bool smcr_rtoken_is_known(struct smcr_link *link, u32 rkey)
{
	int i = lock_and_find(link, rkey);

	spin_unlock_bh(&link->group->rtokens_lock);
	return i >= 0;
}

/**
 * smcr_rtoken_get() - get key and address of an RMB on a link
 * @link: the link
 * @rtoken: index of the RMB
 * @rkey: result: its key there
 * @addr: result: its address there
 *
 * Any context.
 *
 * Return: 0, or -ENOENT if the peer has not named them.
 */
int smcr_rtoken_get(struct smcr_link *link, int rtoken, u32 *rkey, u64 *addr)
{
	unsigned int index = smcr_link_index(link);
	struct smcr_group *rg = link->group;
	int err = -ENOENT;

	spin_lock_bh(&rg->rtokens_lock);
	if (rg->rtokens[rtoken].used && rg->rtokens[rtoken].known[index]) {
		*rkey = rg->rtokens[rtoken].rkey[index];
		*addr = rg->rtokens[rtoken].addr[index];
		err = 0;
	}
	spin_unlock_bh(&rg->rtokens_lock);
	return err;
}

static bool has_key(const struct smcr_rtoken *rtoken)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (rtoken->known[i])
			return true;
	return false;
}

/**
 * smcr_rtoken_forget_link() - remove the keys of a link
 * @link: the link
 */
void smcr_rtoken_forget_link(struct smcr_link *link)
{
	unsigned int index = smcr_link_index(link);
	struct smcr_group *rg = link->group;
	int i;

	spin_lock_bh(&rg->rtokens_lock);
	for (i = 0; i < SMC_LLC_MAX_RTOKENS; i++) {
		struct smcr_rtoken *rtoken = &rg->rtokens[i];

		rtoken->known[index] = false;
		rtoken->used = has_key(rtoken);
	}
	spin_unlock_bh(&rg->rtokens_lock);
}
