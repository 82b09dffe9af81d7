// SPDX-License-Identifier: GPL-2.0-only
/* Walk all link groups of a namespace, for monitoring: the newest one first */

#include "../net.h"
#include "group.h"

/*
 * Start to walk all groups of a namespace. Process context or softirq.
 *
 * Return: the newest group, with a reference, or NULL.
 */
struct smc_group *smc_group_first(struct net *net)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	struct smc_group *group;

	spin_lock_bh(&groups->lock);
	group = list_first_entry_or_null(&groups->list, struct smc_group, list);
	if (group)
		kref_get(&group->ref);
	spin_unlock_bh(&groups->lock);
	return group;
}

/**
 * smc_group_after() - continue a walk whose last group may be gone
 * @net: the namespace
 * @serial: @serial of that group
 *
 * Process context or softirq.
 *
 * Return: the next group, with a reference, or NULL.
 */
struct smc_group *smc_group_after(struct net *net, u64 serial)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	struct smc_group *group, *found = NULL;

	spin_lock_bh(&groups->lock);
	list_for_each_entry(group, &groups->list, list) {
		if (group->serial >= serial)
			continue;
		found = group;
		kref_get(&found->ref);
		break;
	}
	spin_unlock_bh(&groups->lock);
	return found;
}

/**
 * smc_group_next() - continue a walk
 * @net: the namespace
 * @prev: the last group; its reference is dropped
 *
 * May sleep.
 *
 * Return: the next group, with a reference, or NULL.
 */
struct smc_group *smc_group_next(struct net *net, struct smc_group *prev)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	struct smc_group *next = NULL;
	bool listed;

	spin_lock_bh(&groups->lock);
	listed = !list_empty(&prev->list);
	if (listed && !list_is_last(&prev->list, &groups->list)) {
		next = list_next_entry(prev, list);
		kref_get(&next->ref);
	}
	spin_unlock_bh(&groups->lock);

	if (!listed)
		next = smc_group_after(net, prev->serial);
	smc_group_put(prev);
	return next;
}
