// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failed paths of SMC-R.
 *
 * A firewall, a switch without the right settings, or an MTU may stop the packets of RoCE. The
 * sender detects that by its retries, which take a second or more. Only the first connection shall
 * wait for that: the path is recorded for net.smc.smcr_path_retry_time, and further connections use
 * TCP at once. After that time SMC-R is tried again.
 *
 * The list is short, and limited for each peer, because peers can fill it intentionally.
 */

#include <linux/jiffies.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "../event.h"
#include "../net.h"
#include "group.h"
#include "path.h"

#define FAILED_MAX	256
#define FAILED_OF_PEER	8
#define BAD		2	/* sum of enum smc_path_failure */

/**
 * struct failed_path - a path that failed
 * @list: node in smc_paths.failed
 * @path: the path
 * @failures: sum of enum smc_path_failure
 * @until: jiffies at which the entry expires
 */
struct failed_path {
	struct list_head list;
	struct smc_path path;
	unsigned int failures;
	unsigned long until;
};

static void forget_path(struct smc_paths *paths, struct failed_path *failed)
{
	lockdep_assert_held(&paths->lock);
	list_del(&failed->list);
	paths->nr--;
	kfree(failed);
}

static struct failed_path *find_failed(struct smc_paths *paths, const struct smc_path *path)
{
	struct failed_path *failed, *next, *found = NULL;

	lockdep_assert_held(&paths->lock);
	list_for_each_entry_safe(failed, next, &paths->failed, list) {
		if (time_after_eq(jiffies, failed->until))
			forget_path(paths, failed);
		else if (!memcmp(&failed->path, path, sizeof(*path)))
			found = failed;
	}
	return found;
}

/* Remove the oldest entry of the peer if it has many, otherwise the oldest one of a full list */
static void evict_path(struct smc_paths *paths, const struct in6_addr *remote)
{
	struct failed_path *failed, *oldest_of_peer = NULL;
	unsigned int of_peer = 0;

	lockdep_assert_held(&paths->lock);
	list_for_each_entry(failed, &paths->failed, list) {
		if (!ipv6_addr_equal(&failed->path.remote, remote))
			continue;
		oldest_of_peer = failed;
		of_peer++;
	}
	if (of_peer >= FAILED_OF_PEER)
		forget_path(paths, oldest_of_peer);
	else if (paths->nr >= FAILED_MAX)
		forget_path(paths, list_last_entry(&paths->failed, struct failed_path, list));
}

/*
 * Record that the path of a group of SMC-R failed; the caller has a reference. Softirq or process.
 */
void smc_path_failed(const struct smc_group *group, enum smc_path_failure failure)
{
	struct failed_path *failed, *fresh = kmalloc(sizeof(*fresh), GFP_ATOMIC | __GFP_NOWARN);
	const struct smc_path path = {
		.local	= group->local.gid,
		.peer	= group->key.peer.gid,
		.remote	= group->key.remote,
	};
	struct smc_net *sn = group->sn;
	int seconds = READ_ONCE(sn->knobs.path_retry_time);
	struct smc_paths *paths = &sn->paths;
	bool turned_bad = false;

	this_cpu_inc(sn->stats->net[SMC_NET_STAT_PATH_FAILURES]);
	spin_lock_bh(&paths->lock);
	failed = find_failed(paths, &path);
	if (!failed && fresh && seconds) {
		evict_path(paths, &path.remote);
		failed = fresh;
		fresh = NULL;
		failed->path = path;
		failed->failures = 0;
		list_add(&failed->list, &paths->failed);
		paths->nr++;
	}
	if (failed) {
		turned_bad = failed->failures < BAD && failed->failures + failure >= BAD;
		failed->failures += failure;
		failed->until = jiffies + (unsigned long)seconds * HZ;
		list_move(&failed->list, &paths->failed);
	}
	spin_unlock_bh(&paths->lock);
	kfree(fresh);
	if (turned_bad)
		smc_event_path(group->net, &path, seconds);
}

/* Must a connection use TCP, because the path failed recently? Process context or softirq. */
bool smc_path_is_bad(struct net *net, const struct smc_path *path)
{
	struct smc_paths *paths = &smc_net(net)->paths;
	const struct failed_path *failed;
	bool bad;

	if (list_empty_careful(&paths->failed))
		return false;
	spin_lock_bh(&paths->lock);
	failed = find_failed(paths, path);
	bad = failed && failed->failures >= BAD;
	spin_unlock_bh(&paths->lock);
	return bad;
}

/* Number of paths that are not used now. Process context or softirq. */
unsigned int smc_path_count_bad(struct net *net)
{
	struct smc_paths *paths = &smc_net(net)->paths;
	const struct failed_path *failed;
	unsigned int nr = 0;

	spin_lock_bh(&paths->lock);
	list_for_each_entry(failed, &paths->failed, list)
		nr += failed->failures >= BAD && time_before(jiffies, failed->until);
	spin_unlock_bh(&paths->lock);
	return nr;
}

static void __net_exit exit_net_paths(struct net *net)
{
	struct smc_paths *paths = &smc_net(net)->paths;
	struct failed_path *failed, *next;

	spin_lock_bh(&paths->lock);
	list_for_each_entry_safe(failed, next, &paths->failed, list)
		forget_path(paths, failed);
	spin_unlock_bh(&paths->lock);
}

static struct pernet_operations net_ops = {
	.exit = exit_net_paths,
};

/* Register the lists of all namespaces. Return: 0 or a negative errno. */
int smc_path_init(void)
{
	return register_pernet_subsys(&net_ops);
}

/* Free all entries. There are no groups any more. */
void smc_path_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
