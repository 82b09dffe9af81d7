// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of the link groups of a namespace: find a group that a connection may join, and limit
 * the number of groups.
 *
 * A server finds a group by the peer's id and the peer's address of the TCP connection, a client by
 * the peer's id and the number that the server named. The peer chooses all of that but the address.
 * So the number of groups with the peers of one address is limited, and with it the length of each
 * walk.
 */

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/unaligned.h>
#include <net/ipv6.h>

#include "table.h"

#define SILENT_TIME	(10 * HZ)	/* for which a silent peer is recorded */

/* An IPv6 address as two numbers */
static u64 upper_half(const struct in6_addr *address)
{
	return get_unaligned_be64(&address->s6_addr[0]);
}

static u64 lower_half(const struct in6_addr *address)
{
	return get_unaligned_be64(&address->s6_addr[8]);
}

/* A host in an IPv6 network can use any address of it, so all of them are in one class */
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

/* @variant: of both */
static bool is_same_address(u8 variant, const struct smc_address *a, const struct smc_address *b)
{
	if (variant & SMC_VARIANTS_R)
		return !memcmp(&a->gid, &b->gid, sizeof(a->gid)) &&
		       !memcmp(a->mac, b->mac, sizeof(a->mac)) && a->vlan == b->vlan;
	return a->ism.gid == b->ism.gid && a->ism.gid_ext == b->ism.gid_ext &&
	       a->ism.chid == b->ism.chid;
}

/* Compare all but the addresses of the peer: a group may have several links */
static bool is_same_key(const struct smc_group_key *a, const struct smc_group_key *b)
{
	return a->role == b->role && a->variant == b->variant &&
	       a->peer_link_id == b->peer_link_id &&
	       is_same_address(a->variant, &a->local, &b->local) &&
	       !memcmp(&a->peer_id, &b->peer_id, sizeof(a->peer_id)) &&
	       smc_eid_equal(&a->eid, &b->eid);
}

/*
 * Server: other hosts can learn all ids in a Proposal. So the peer's address, which the TCP
 * handshake has verified, must match, too. A client with several addresses has a group for each.
 */
static bool is_of_peer(const struct smc_group *group, const struct smc_group_key *key)
{
	return is_same_key(&group->key, key) &&
	       is_same_address(key->variant, &group->key.peer, &key->peer) &&
	       ipv6_addr_equal(&group->key.remote, &key->remote);
}

/*
 * Client: join the group that the server names, regardless of local limits and of the server's
 * address: a server with several addresses has one group. smc_group_blame() sets @no_others.
 */
static bool is_group_named(const struct smc_group *group, const struct smc_group_key *key,
			   const struct smc_clc_accept *accept)
{
	if (!is_same_key(&group->key, key))
		return false;
	if (group->no_others && !ipv6_addr_equal(&group->key.remote, &key->remote))
		return false;
	if (group->transport->group_named)
		return group->transport->group_named(group, accept);
	return is_same_address(key->variant, &group->key.peer, &key->peer);
}

/* If a group is full, the server opens a further one with the same peer (R-PG-01) */
static bool has_capacity(const struct smc_group *group)
{
	return !group->forming && group->conns < group->max_conns;
}

/**
 * smc_table_find() - find a group that a connection can join
 * @groups: the table
 * @key: key of the group
 * @accept: client: the server's Accept; NULL on a server
 *
 * Return: the group, without a reference, or NULL. A doubted group only if there is no other.
 */
struct smc_group *smc_table_find(struct smc_groups *groups, const struct smc_group_key *key,
				 const struct smc_clc_accept *accept)
{
	struct smc_group *group, *doubted = NULL;

	lockdep_assert_held(&groups->lock);
	hash_for_each_possible(groups->by_key, group, node, hash_key(groups, key)) {
		if (accept ? !is_group_named(group, key, accept) :
			     !is_of_peer(group, key) || !has_capacity(group))
			continue;
		if (!group->is_doubted)
			return group;
		doubted = group;
	}
	return doubted;
}

static void end_idle(struct smc_groups *groups, struct smc_group *group)
{
	if (list_empty(&group->class_node))
		return;
	list_del_init(&group->class_node);
	group->peer_class->nr_idle--;
	groups->nr_idle--;
}

/*
 * Add a connection to a group from smc_table_find(), without releasing the lock in between. The
 * caller gets a reference, which smc_group_leave() drops.
 */
void smc_table_join(struct smc_groups *groups, struct smc_group *group)
{
	lockdep_assert_held(&groups->lock);
	group->conns++;
	end_idle(groups, group);
	kref_get(&group->ref);
}

/**
 * smc_table_forming() - find groups that are being formed
 * @groups: the table
 * @key: key of a server
 * @nr: result: number of such groups
 *
 * Return: one of them, without a reference, or NULL.
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
		found = group;
	}
	return found;
}

/*
 * Did connections recently wait in vain for a first contact of the peer with the address @remote? A
 * peer can choose its id, but not its address.
 */
bool smc_table_is_silent(struct smc_groups *groups, const struct in6_addr *remote)
{
	const struct smc_peer_class *class = find_class(groups, remote);

	lockdep_assert_held(&groups->lock);
	return ipv6_addr_equal(&class->silent, remote) && time_before(jiffies, class->silent_until);
}

/* Record that a connection has waited in vain for a first contact of the peer at @remote */
void smc_table_set_silent(struct smc_groups *groups, const struct in6_addr *remote)
{
	struct smc_peer_class *class = find_class(groups, remote);

	lockdep_assert_held(&groups->lock);
	class->silent = *remote;
	class->silent_until = jiffies + SILENT_TIME;
}

/*
 * Number of first contacts of @mode with the class of @remote. The class may include a few other
 * addresses.
 */
unsigned int smc_table_forming_of(struct smc_groups *groups, const struct in6_addr *remote,
				  enum smc_mode mode)
{
	lockdep_assert_held(&groups->lock);
	return find_class(groups, remote)->nr_forming[mode];
}

static struct smc_peer_class *find_fullest(struct smc_groups *groups, enum smc_mode mode)
{
	struct smc_peer_class *fullest = groups->classes;
	unsigned int i;

	for (i = 1; i < SMC_PEER_CLASSES; i++)
		if (groups->classes[i].nr_forming[mode] > fullest->nr_forming[mode])
			fullest = &groups->classes[i];
	return fullest;
}

static struct smc_group *find_oldest_forming(struct smc_peer_class *class, enum smc_mode mode)
{
	struct smc_group *group;

	list_for_each_entry(group, &class->forming, class_node)
		if (group->transport->mode == mode)
			return group;
	return NULL;
}

/**
 * smc_table_evict_forming() - make room for a first contact
 * @groups: the table
 * @fresh: the group of the first contact
 * @caps: limits of the first contacts of the same mode
 *
 * A Proposal proves nothing about the peer. So the oldest first contact is evicted: at the limit of
 * @fresh's class in that class, otherwise in the class that has most. Thus silent peers displace
 * only other silent peers.
 *
 * Return: NULL, or the evicted group, which no connection can join; its connection must leave it.
 */
struct smc_group *smc_table_evict_forming(struct smc_groups *groups,
					  const struct smc_group *fresh,
					  const struct smc_group_caps *caps)
{
	struct smc_peer_class *class = find_class(groups, &fresh->key.remote);
	enum smc_mode mode = fresh->transport->mode;
	struct smc_group *group = NULL;

	lockdep_assert_held(&groups->lock);
	if (class->nr_forming[mode] >= caps->of_peer)
		group = find_oldest_forming(class, mode);
	else if (groups->nr_forming[mode] >= caps->all)
		group = find_oldest_forming(find_fullest(groups, mode), mode);
	if (!group)
		return NULL;
	group->discarded = true;
	WRITE_ONCE(group->is_evicted, true);
	smc_table_remove(groups, group);
	return group;
}

static struct smc_group *find_oldest_idle(struct smc_peer_class *class)
{
	return list_first_entry_or_null(&class->idle, struct smc_group, class_node);
}

/* Begin anywhere, so that no class loses more than others */
static struct smc_group *find_any_idle(struct smc_groups *groups)
{
	unsigned int start = get_random_u32();
	struct smc_group *group = NULL;
	unsigned int i;

	for (i = 0; i < SMC_PEER_CLASSES && !group; i++)
		group = find_oldest_idle(&groups->classes[(start + i) % SMC_PEER_CLASSES]);
	return group;
}

/* Groups that are not being formed. Those that are have a separate limit. */
static unsigned int count_formed(unsigned int nr, const unsigned int *nr_forming)
{
	return nr - nr_forming[SMC_MODE_R] - nr_forming[SMC_MODE_D];
}

/**
 * smc_table_admit() - count a new group
 * @groups: the table
 * @group: the group, with its key
 * @caps: limits of formed groups
 *
 * Groups without connections do not count here, because smc_table_evict_idle() makes room.
 *
 * Return: 0, or -EUSERS at a limit.
 */
int smc_table_admit(struct smc_groups *groups, struct smc_group *group,
		    const struct smc_group_caps *caps)
{
	struct smc_peer_class *class = find_class(groups, &group->key.remote);

	lockdep_assert_held(&groups->lock);
	if (count_formed(class->nr, class->nr_forming) - class->nr_idle >= caps->of_peer ||
	    count_formed(groups->nr, groups->nr_forming) - groups->nr_idle >= caps->all)
		return -EUSERS;
	class->nr++;
	groups->nr++;
	group->peer_class = class;
	return 0;
}

/**
 * smc_table_evict_idle() - evict a group without connections if there are too many groups
 * @groups: the table
 * @class: class of the peer whose group was formed, or has become idle
 * @caps: limits of formed groups
 *
 * A Proposal proves nothing about the peer, and evicts no group. So a server calls this when the
 * new group is formed. The idle groups may have connections again by then; so it calls this also
 * when a group becomes idle. The limits are exceeded by as many groups as are formed at a time.
 *
 * Return: NULL, or an unlisted group. The caller ends it, and has the reference of the list.
 */
struct smc_group *smc_table_evict_idle(struct smc_groups *groups, struct smc_peer_class *class,
				       const struct smc_group_caps *caps)
{
	struct smc_group *idle = NULL;

	lockdep_assert_held(&groups->lock);
	if (count_formed(class->nr, class->nr_forming) > caps->of_peer)
		idle = find_oldest_idle(class);
	if (!idle && count_formed(groups->nr, groups->nr_forming) > caps->all)
		idle = find_oldest_idle(class) ?: find_any_idle(groups);
	if (idle)
		smc_table_remove(groups, idle);
	return idle;
}

/**
 * smc_table_add_forming() - let connections find a group that is being formed
 * @groups: the table
 * @group: an admitted group of a server
 * @former: the connection that forms it
 */
void smc_table_add_forming(struct smc_groups *groups, struct smc_group *group,
			   struct smc_conn *former)
{
	enum smc_mode mode = group->transport->mode;

	lockdep_assert_held(&groups->lock);
	group->forming = true;
	group->former = former;
	groups->nr_forming[mode]++;
	group->peer_class->nr_forming[mode]++;
	list_add_tail(&group->class_node, &group->peer_class->forming);
	hash_add(groups->by_key, &group->node, hash_key(groups, &group->key));
}

static void set_formed(struct smc_groups *groups, struct smc_group *group)
{
	enum smc_mode mode = group->transport->mode;

	if (!group->forming)
		return;
	group->forming = false;
	groups->nr_forming[mode]--;
	group->peer_class->nr_forming[mode]--;
	list_del_init(&group->class_node);
}

/* Let connections join an admitted group. The list takes a reference. */
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

static void uncount_group(struct smc_groups *groups, struct smc_group *group)
{
	if (!group->peer_class)
		return;
	group->peer_class->nr--;
	groups->nr--;
	group->peer_class = NULL;
}

/**
 * smc_table_remove() - let no further connection find a group
 * @groups: the table
 * @group: an admitted group; nothing happens if it was removed before
 *
 * The group counts as long as it has connections: it has a queue pair and memory, and a peer can
 * cause the removal of one group after the other and keep a connection in each. So this function is
 * called again after the last connection has left.
 *
 * Return: whether the group was listed; then the caller has the reference of the list.
 */
bool smc_table_remove(struct smc_groups *groups, struct smc_group *group)
{
	bool listed = !list_empty(&group->list);

	lockdep_assert_held(&groups->lock);
	set_formed(groups, group);
	end_idle(groups, group);
	hash_del(&group->node);
	list_del_init(&group->list);
	if (!group->conns)
		uncount_group(groups, group);
	return listed;
}

/**
 * smc_table_remove_doubted() - a formed group replaces a doubted one
 * @groups: the table
 * @fresh: the formed group, from smc_table_add()
 *
 * Return: NULL, or a group that is not listed again. The caller ends it, and has the reference of
 * the list.
 */
struct smc_group *smc_table_remove_doubted(struct smc_groups *groups,
					   const struct smc_group *fresh)
{
	struct smc_group *group;

	lockdep_assert_held(&groups->lock);
	hash_for_each_possible(groups->by_key, group, node, hash_key(groups, &fresh->key)) {
		if (!group->is_doubted || !is_of_peer(group, &fresh->key))
			continue;
		group->discarded = true;
		smc_table_remove(groups, group);
		return group;
	}
	return NULL;
}

/*
 * A listed group has no connections: it may be evicted if it is a server's. A server may forget a
 * group at any time, because it decides about first contact.
 */
void smc_table_set_idle(struct smc_groups *groups, struct smc_group *group)
{
	lockdep_assert_held(&groups->lock);
	if (group->key.role != SMC_SERVER)
		return;
	list_add_tail(&group->class_node, &group->peer_class->idle);
	group->peer_class->nr_idle++;
	groups->nr_idle++;
}
