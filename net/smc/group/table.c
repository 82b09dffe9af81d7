// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of link groups of a namespace: which there are, which connections may join them, how
 * many there may be.
 *
 * A server finds a group by the peer's id and the address of the TCP connection, a client by the
 * peer's id and the number that the server named. All of that the peer chooses, but for the
 * address: so the number of groups that the peers of one address can have is limited, and with it
 * the length of any walk.
 */

#include <linux/errno.h>
#include <linux/siphash.h>
#include <linux/unaligned.h>
#include <net/ipv6.h>

#include "table.h"

/* The two halves of an address */
static u64 upper_half(const struct in6_addr *address)
{
	return get_unaligned_be64(&address->s6_addr[0]);
}

static u64 lower_half(const struct in6_addr *address)
{
	return get_unaligned_be64(&address->s6_addr[8]);
}

/* A host that has one address of an IPv6 network can have all of them, so these count as one */
static struct smc_peer_class *find_class(struct smc_groups *groups,
					 const struct in6_addr *address)
{
	u64 who = ipv6_addr_v4mapped(address) ? lower_half(address) : upper_half(address);

	return &groups->classes[siphash_1u64(who, &groups->secret) % SMC_PEER_CLASSES];
}

static u64 hash_key(const struct smc_groups *groups, const struct smc_group_key *key)
{
	u64 peer = get_unaligned_be64(key->peer_id.bytes);

	if (key->role == SMC_CLIENT)	/* a server may have several addresses */
		return siphash_2u64(peer, key->peer_link_id, &groups->secret);
	return siphash_3u64(peer, upper_half(&key->remote), lower_half(&key->remote),
			    &groups->secret);
}

static bool is_same_address(const struct smc_address *a, const struct smc_address *b)
{
	return a->ism.gid == b->ism.gid && a->ism.gid_ext == b->ism.gid_ext &&
	       a->ism.chid == b->ism.chid &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid)) &&
	       !memcmp(a->mac, b->mac, sizeof(a->mac)) && a->vlan == b->vlan;
}

/* All but the addresses of the peer: a group may have several links */
static bool is_same_key(const struct smc_group_key *a, const struct smc_group_key *b)
{
	return a->role == b->role && a->variant == b->variant &&
	       a->peer_link_id == b->peer_link_id &&
	       is_same_address(&a->local, &b->local) &&
	       !memcmp(&a->peer_id, &b->peer_id, sizeof(a->peer_id)) &&
	       smc_eid_equal(&a->eid, &b->eid);
}

/*
 * All names in a Proposal can be learnt by others, so a server goes by the address that the client
 * has proved to have, too. A client with several addresses has a group for each.
 */
static bool is_of_peer(const struct smc_group *group, const struct smc_group_key *key)
{
	return is_same_key(&group->key, key) && is_same_address(&group->key.peer, &key->peer) &&
	       ipv6_addr_equal(&group->key.remote, &key->remote);
}

/*
 * The client joins the group that the server names, whatever it thinks of its limits, and whatever
 * address that server has: one with several addresses has one group. But see smc_group_blame().
 */
static bool is_named(const struct smc_group *group, const struct smc_group_key *key,
		     const struct smc_clc_accept *accept)
{
	if (!is_same_key(&group->key, key))
		return false;
	if (group->no_others && !ipv6_addr_equal(&group->key.remote, &key->remote))
		return false;
	if (group->transport->group_named)
		return group->transport->group_named(group, accept);
	return is_same_address(&group->key.peer, &key->peer);
}

/* The server opens a further group beside one that is full (R-PG-01) */
static bool has_room(const struct smc_group *group)
{
	return !group->forming && group->conns < group->max_conns;
}

/**
 * smc_table_find() - which group can be joined?
 * @groups: the table
 * @key: who wants to
 * @accept: client: what the server said; NULL on a server
 *
 * Return: the group, without a reference, or NULL.
 */
struct smc_group *smc_table_find(struct smc_groups *groups, const struct smc_group_key *key,
				 const struct smc_clc_accept *accept)
{
	struct smc_group *group;

	lockdep_assert_held(&groups->lock);
	hash_for_each_possible(groups->by_key, group, node, hash_key(groups, key))
		if (accept ? is_named(group, key, accept) :
			     is_of_peer(group, key) && has_room(group))
			return group;
	return NULL;
}

/**
 * smc_table_join() - count a connection in
 * @group: from smc_table_find(); the lock is still held. The caller has a reference now, which
 *	smc_group_leave() gives back
 */
void smc_table_join(struct smc_group *group)
{
	group->conns++;
	list_del_init(&group->idle_node);
	kref_get(&group->ref);
}

/**
 * smc_table_forming() - is such a group being formed?
 * @groups: the table
 * @key: for a server
 * @nr: result: how many
 *
 * Return: one that is worth waiting for, or NULL.
 */
struct smc_group *smc_table_forming(struct smc_groups *groups, const struct smc_group_key *key,
				    unsigned int *nr)
{
	struct smc_group *group, *found = NULL;

	lockdep_assert_held(&groups->lock);
	*nr = 0;
	hash_for_each_possible(groups->by_key, group, node, hash_key(groups, key)) {
		if (!group->forming || !is_of_peer(group, key))
			continue;
		++*nr;
		if (!group->is_slow)
			found = group;
	}
	return found;
}

/**
 * smc_table_forming_of() - how many first contacts of SMC-R are under way with one address?
 * @groups: the table
 * @remote: the address of the peers
 *
 * Return: how many; a few other addresses may be counted in.
 */
unsigned int smc_table_forming_of(struct smc_groups *groups, const struct in6_addr *remote)
{
	lockdep_assert_held(&groups->lock);
	return find_class(groups, remote)->nr_forming;
}

static struct smc_group *oldest_idle(struct smc_peer_class *class)
{
	return list_first_entry_or_null(&class->idle, struct smc_group, idle_node);
}

static struct smc_group *any_idle(struct smc_groups *groups)
{
	struct smc_group *group = NULL;
	unsigned int i;

	for (i = 0; i < SMC_PEER_CLASSES && !group; i++)
		group = oldest_idle(&groups->classes[i]);
	return group;
}

/**
 * smc_table_admit() - count a new group in
 * @groups: the table
 * @group: the group, with its key
 * @caps: limits
 * @evicted: result: a group without connections that made room, or NULL; the caller has the
 *	list's reference to it, and ends it
 *
 * Return: 0, or -EUSERS if there are too many.
 */
int smc_table_admit(struct smc_groups *groups, struct smc_group *group,
		    const struct smc_group_caps *caps, struct smc_group **evicted)
{
	struct smc_peer_class *class = find_class(groups, &group->key.remote);

	lockdep_assert_held(&groups->lock);
	*evicted = NULL;
	if (class->nr >= caps->of_peer)
		*evicted = oldest_idle(class);
	else if (groups->nr >= caps->all)
		*evicted = oldest_idle(class) ?: any_idle(groups);
	if (*evicted)
		smc_table_remove(groups, *evicted);
	if (class->nr >= caps->of_peer || groups->nr >= caps->all)
		return -EUSERS;
	class->nr++;
	groups->nr++;
	group->peer_class = class;
	return 0;
}

/**
 * smc_table_add_forming() - others may wait for the group
 * @groups: the table
 * @group: an admitted group of the server's role
 */
void smc_table_add_forming(struct smc_groups *groups, struct smc_group *group)
{
	lockdep_assert_held(&groups->lock);
	group->forming = true;
	if (group->transport->mode == SMC_MODE_R) {
		groups->nr_forming++;
		group->peer_class->nr_forming++;
	}
	hash_add(groups->by_key, &group->node, hash_key(groups, &group->key));
}

static void set_formed(struct smc_groups *groups, struct smc_group *group)
{
	if (!group->forming)
		return;
	group->forming = false;
	if (group->transport->mode == SMC_MODE_R) {
		groups->nr_forming--;
		group->peer_class->nr_forming--;
	}
}

/**
 * smc_table_add() - others may join the group
 * @groups: the table, which takes a reference
 * @group: an admitted group
 */
void smc_table_add(struct smc_groups *groups, struct smc_group *group)
{
	lockdep_assert_held(&groups->lock);
	kref_get(&group->ref);
	set_formed(groups, group);
	if (hlist_unhashed(&group->node))
		hash_add(groups->by_key, &group->node, hash_key(groups, &group->key));
	group->serial = ++groups->last_serial;
	list_add(&group->list, &groups->list);
}

static void count_out(struct smc_groups *groups, struct smc_group *group)
{
	if (!group->peer_class)
		return;
	group->peer_class->nr--;
	groups->nr--;
	group->peer_class = NULL;
}

/**
 * smc_table_remove() - no connection finds the group any more
 * @groups: the table
 * @group: a group that was admitted; if it was removed already, nothing happens
 *
 * As long as it has connections it counts: it has its queue pair and its memory, and a peer can
 * make us remove one group after the other and keep a connection in each. So this is called again
 * when the last one has left.
 *
 * Return: whether it could be joined until now: then the caller has the list's reference.
 */
bool smc_table_remove(struct smc_groups *groups, struct smc_group *group)
{
	bool listed = !list_empty(&group->list);

	lockdep_assert_held(&groups->lock);
	set_formed(groups, group);
	hash_del(&group->node);
	list_del_init(&group->list);
	list_del_init(&group->idle_node);
	if (!group->conns)
		count_out(groups, group);
	return listed;
}

/**
 * smc_table_set_idle() - the group has no connections, and has to go first
 * @groups: the table
 * @group: a group that can be joined
 *
 * Only groups of the server's role can be evicted: a server may forget a group at any time, because
 * it decides about first contact.
 */
void smc_table_set_idle(struct smc_groups *groups, struct smc_group *group)
{
	lockdep_assert_held(&groups->lock);
	if (group->key.role == SMC_SERVER)
		list_add_tail(&group->idle_node, &group->peer_class->idle);
}
