// SPDX-License-Identifier: GPL-2.0-only
/* RMBs, in place of memory.c. An RMB is in use or not; it has no memory. */
#include "world.h"

static struct smcr_registration *registration_of(struct smcr_rmb *rmb, const struct smcr_link *link)
{
	return &rmb->links[smcr_link_index(link)];
}

static int register_with(struct smcr_link *link, struct smcr_rmb *rmb)
{
	struct smcr_registration *reg = registration_of(rmb, link);
	int err;

	if (!reg->mr) {
		reg->mr = calloc(1, sizeof(*reg->mr));
		assert(reg->mr);
		reg->mr->rkey = ++world.last_number;
		world.last_number++;
		reg->mr->iova = (u64)world.last_number << 12;
	}
	if (reg->posted || !link->rts)
		return 0;
	err = smcr_link_post_reg(link, &reg->wr, &reg->behind);
	reg->posted = !err;
	return err;
}

int smcr_memory_register(struct smcr_link *link)
{
	struct smcr_rmb *rmb;
	int err = 0;

	list_for_each_entry(rmb, &link->group->rmbs, list)
		err = err ?: register_with(link, rmb);
	return err;
}

static void unregister(struct smcr_link *link, struct smcr_rmb *rmb)
{
	free(registration_of(rmb, link)->mr);
	memset(registration_of(rmb, link), 0, sizeof(rmb->links[0]));
}

void rmb_forget_link(struct smcr_link *link)
{
	struct smcr_rmb *rmb;

	list_for_each_entry(rmb, &link->group->rmbs, list)
		unregister(link, rmb);
}

static bool is_listed(const struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	return rmb->state == SMCR_RMB_ANNOUNCED || (rmb->state == SMCR_RMB_NEW && !rg->settled);
}

unsigned int smcr_memory_list(struct smcr_link *over, struct smcr_link *link, unsigned int skip,
			      struct smc_llc_rtoken *out, unsigned int most)
{
	unsigned int nr = 0;
	struct smcr_rmb *rmb;

	list_for_each_entry(rmb, &link->group->rmbs, list) {
		const struct ib_mr *old = registration_of(rmb, over)->mr;
		const struct ib_mr *mr = registration_of(rmb, link)->mr;

		if (!old || !mr || !is_listed(link->group, rmb))
			continue;
		if (nr >= skip && nr - skip < most)
			out[nr - skip] = (struct smc_llc_rtoken){
				.reference_rkey = old->rkey, .rkey = mr->rkey, .addr = mr->iova,
			};
		nr++;
	}
	return nr > skip ? nr - skip : 0;
}

static bool is_being_registered(struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (rmb->links[i].posted && (s32)(rg->links[i].tail - rmb->links[i].behind) < 0)
			return true;
	return false;
}

bool smcr_rmb_is_registered(struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	return !is_being_registered(rg, rmb);
}

static bool is_unused(const struct smcr_rmb *rmb)
{
	return !rmb->used[0];
}

struct smcr_rmb *rmb_create(struct smcr_group *rg)
{
	struct smcr_rmb *rmb = calloc(1, sizeof(*rmb));
	unsigned int i;

	assert(rmb);
	INIT_LIST_HEAD(&rmb->llc_node);
	rmb->used[0] = 1;
	rmb->idle_since = jiffies;
	list_add_tail(&rmb->list, &rg->rmbs);
	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_has_memory(&rg->links[i]))
			assert(!register_with(&rg->links[i], rmb));
	return rmb;
}

/* A connection needs another RMB */
void rmb_announce(struct smcr_group *rg)
{
	struct smcr_rmb *rmb = rmb_create(rg);

	rmb->announcing = true;
	smcr_llc_announce(rg, rmb);
}

/* The last connection of an RMB closes; the first RMB stays. Return: false if there is none */
bool rmb_release(struct smcr_group *rg)
{
	struct smcr_rmb *rmb;

	list_for_each_entry(rmb, &rg->rmbs, list) {
		if (list_is_first(&rmb->list, &rg->rmbs) || is_unused(rmb) ||
		    rmb->state == SMCR_RMB_NEW)
			continue;
		rmb->used[0] = 0;
		rmb->idle_since = jiffies;
		smcr_llc_kick(rg);
		return true;
	}
	return false;
}

static bool is_stale(const struct smcr_group *rg, const struct smcr_rmb *rmb, unsigned long age)
{
	if (rmb->state == SMCR_RMB_ANNOUNCED && list_is_first(&rmb->list, &rg->rmbs))
		return false;
	return (rmb->state == SMCR_RMB_ANNOUNCED || rmb->state == SMCR_RMB_WITHDRAWN) &&
	       is_unused(rmb) && time_after_eq(jiffies, rmb->idle_since + age) &&
	       !rmb->announcing;
}

struct smcr_rmb *smcr_rmb_withdraw(struct smcr_group *rg, unsigned long age)
{
	struct smcr_rmb *rmb, *found = NULL;

	list_for_each_entry(rmb, &rg->rmbs, list)
		if (is_stale(rg, rmb, age))
			found = rmb;
	if (found) {
		found->state = SMCR_RMB_WITHDRAWN;
		found->idle_since = jiffies;
	}
	return found;
}

void smcr_rmb_discard(struct smcr_group *rg, struct smcr_rmb *rmb)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		unregister(&rg->links[i], rmb);
	list_del(&rmb->list);
	free(rmb);
}

bool smcr_rmbs_trim(struct smcr_group *rg)
{
	struct smcr_rmb *rmb, *next;
	bool left = false;

	list_for_each_entry_safe(rmb, next, &rg->rmbs, list) {
		if ((rmb->state != SMCR_RMB_NEW && rmb->state != SMCR_RMB_REFUSED) ||
		    rmb->announcing || !is_unused(rmb))
			continue;
		if (is_being_registered(rg, rmb))
			left = true;
		else
			smcr_rmb_discard(rg, rmb);
	}
	return left;
}

void rmb_free_all(struct smcr_group *rg)
{
	struct smcr_rmb *rmb, *next;

	list_for_each_entry_safe(rmb, next, &rg->rmbs, list)
		smcr_rmb_discard(rg, rmb);
}

void smcr_send_rings_trim(struct smcr_group *rg, unsigned long age)
{
}
