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
#include <linux/jiffies.h>
#include <linux/siphash.h>
#include <linux/unaligned.h>
#include <net/ipv6.h>

#include "table.h"

#define SILENT_TIME	(10 * HZ)	/* how long a silent peer is remembered */

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
static bool is_group_named(const struct smc_group *group, const struct smc_group_key *key,
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
static bool has_capacity(const struct smc_group *group)
{
	return !group->forming && group->conns < group->max_conns;
}

/**
 * smc_table_find() - which group can be joined?
 * @groups: the table
 * @key: who wants to
 * @accept: client: what the server said; NULL on a server
 *
 * Return: the group, without a reference, or NULL. A doubted one if there is no other.
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

/**
 * smc_table_join() - count a connection in
 * @group: from smc_table_find(); the lock is still held. The caller has a reference now, which
 *	smc_group_leave() gives back
 */
void smc_table_join(struct smc_group *group)
{
	group->conns++;
	list_del_init(&group->class_node);
	kref_get(&group->ref);
}

/**
 * smc_table_forming() - is such a group being formed?
 * @groups: the table
 * @key: for a server
 * @nr: result: how many
 *
 * Return: one of them, or NULL.
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

/**
 * smc_table_is_silent() - did connections wait in vain for a peer's first contact lately?
 * @groups: the table
 * @remote: the address of the peer
 *
 * A peer can choose its id, but not its address. So the address is what is remembered.
 *
 * Return: whether.
 */
bool smc_table_is_silent(struct smc_groups *groups, const struct in6_addr *remote)
{
	const struct smc_peer_class *class = find_class(groups, remote);

	lockdep_assert_held(&groups->lock);
	return ipv6_addr_equal(&class->silent, remote) && time_before(jiffies, class->silent_until);
}

/**
 * smc_table_set_silent() - a connection has waited for a peer's first contact in vain
 * @groups: the table
 * @remote: the address of the peer
 */
void smc_table_set_silent(struct smc_groups *groups, const struct in6_addr *remote)
{
	struct smc_peer_class *class = find_class(groups, remote);

	lockdep_assert_held(&groups->lock);
	class->silent = *remote;
	class->silent_until = jiffies + SILENT_TIME;
}

/**
 * smc_table_forming_of() - how many first contacts are under way with one address?
 * @groups: the table
 * @remote: the address of the peers
 * @mode: count those of this mode
 *
 * Return: how many; a few other addresses may be counted in.
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
 * smc_table_evict_forming() - make room for another first contact
 * @groups: the table
 * @fresh: its group
 * @caps: most first contacts of the same mode
 *
 * A peer proves nothing by a Proposal. The oldest of those that have proved nothing goes, where
 * there are most; so a silent peer takes the place of another silent one.
 *
 * Return: NULL, or a group that no connection joins any more; its connection has to leave it.
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

static struct smc_group *find_any_idle(struct smc_groups *groups)
{
	struct smc_group *group = NULL;
	unsigned int i;

	for (i = 0; i < SMC_PEER_CLASSES && !group; i++)
		group = find_oldest_idle(&groups->classes[i]);
	return group;
}

/* Those that are being formed have a limit of their own */
static unsigned int count_formed(unsigned int nr, const unsigned int *nr_forming)
{
	return nr - nr_forming[SMC_MODE_R] - nr_forming[SMC_MODE_D];
}

/* Is there a place for @nr more? Else @idle is one that would make it, or NULL */
static bool has_place(struct smc_groups *groups, struct smc_peer_class *class,
		      const struct smc_group_caps *caps, unsigned int nr, struct smc_group **idle)
{
	*idle = NULL;
	if (count_formed(class->nr, class->nr_forming) + nr > caps->of_peer)
		*idle = find_oldest_idle(class);
	else if (count_formed(groups->nr, groups->nr_forming) + nr > caps->all)
		*idle = find_oldest_idle(class) ?: find_any_idle(groups);
	else
		return true;
	return false;
}

/**
 * smc_table_admit() - count a new group in
 * @groups: the table
 * @group: the group, with its key
 * @caps: limits of groups that are formed
 * @evicted: result: a group without connections that made room, or NULL; the caller has the
 *	list's reference to it, and ends it
 *
 * A server's group has to be formed before another one goes for it: smc_table_evict_idle().
 *
 * Return: 0, or -EUSERS if there are too many.
 */
int smc_table_admit(struct smc_groups *groups, struct smc_group *group,
		    const struct smc_group_caps *caps, struct smc_group **evicted)
{
	struct smc_peer_class *class = find_class(groups, &group->key.remote);
	struct smc_group *idle;

	lockdep_assert_held(&groups->lock);
	*evicted = NULL;
	if (!has_place(groups, class, caps, 1, &idle)) {
		if (!idle)
			return -EUSERS;
		if (group->key.role == SMC_CLIENT) {
			smc_table_remove(groups, idle);
			*evicted = idle;
			if (!has_place(groups, class, caps, 1, &idle))
				return -EUSERS;
		}
	}
	class->nr++;
	groups->nr++;
	group->peer_class = class;
	return 0;
}

/**
 * smc_table_evict_idle() - a group that was formed takes the place of one without connections
 * @groups: the table
 * @group: the group, from smc_table_add()
 * @caps: as for smc_table_admit()
 *
 * Several groups may have been admitted in view of one that was idle. So there may be too many, as
 * many as are formed at a time.
 *
 * Return: NULL, or a group that is unlisted; the caller has the list's reference to it, and ends
 * it.
 */
struct smc_group *smc_table_evict_idle(struct smc_groups *groups, const struct smc_group *group,
				       const struct smc_group_caps *caps)
{
	struct smc_group *idle;

	lockdep_assert_held(&groups->lock);
	has_place(groups, group->peer_class, caps, 0, &idle);
	if (idle)
		smc_table_remove(groups, idle);
	return idle;
}

/**
 * smc_table_add_forming() - others may wait for the group
 * @groups: the table
 * @group: an admitted group of the server's role
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

static void uncount_group(struct smc_groups *groups, struct smc_group *group)
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
	list_del_init(&group->class_node);
	if (!group->conns)
		uncount_group(groups, group);
	return listed;
}

/**
 * smc_table_remove_doubted() - a group that was formed takes the place of one that is doubted
 * @groups: the table
 * @fresh: the group, from smc_table_add()
 *
 * Return: NULL, or a group that is never listed again; the caller has the list's reference to it,
 * and ends it.
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
		list_add_tail(&group->class_node, &group->peer_class->idle);
}
