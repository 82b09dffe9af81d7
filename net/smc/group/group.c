// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link groups: find or create, join, leave, end.
 *
 * A group without connections stays for a while, because the two sides do not
 * see the last connection end at the same moment. If the client forgot the
 * group before the server did, the server would not announce a first contact
 * and the handshake would be out of sync. So the client waits longer.
 */

#include <linux/atomic.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "../event.h"
#include "../net.h"
#include "../object.h"
#include "../trace.h"
#include "../work.h"
#include "group.h"

#define CLIENT_EXTRA	10	/* seconds that the client waits longer, at most */

static atomic_t next_id;

static void group_free(struct kref *ref)
{
	struct smc_group *group = container_of(ref, struct smc_group, ref);

	group->transport->group_close(group);
	kfree(group);
	smc_object_destroyed(SMC_OBJECT_GROUP);
}

static void put(struct smc_group *group)
{
	kref_put(&group->ref, group_free);
}

/* Was it created before the group with this number? Numbers wrap around. */
static bool is_older(const struct smc_group *group, u32 id)
{
	return (s32)(group->id - id) < 0;
}

/* Nobody finds it any more. Return: whether it could be found until now */
static bool unlist(struct smc_group *group)
{
	lockdep_assert_held(&smc_net(group->net)->groups_lock);
	if (list_empty(&group->list))
		return false;
	list_del_init(&group->list);
	return true;
}

/* Those who listen, and those who trace */
static void tell(const struct smc_group *group, bool up)
{
	trace_smc_group(group->net, group->id, group->transport->mode, up);
	smc_event_group(group, up);
}

static void idle_work(struct work_struct *work)
{
	struct smc_group *group = container_of(to_delayed_work(work), struct smc_group, idle);
	struct smc_net *sn = smc_net(group->net);
	bool unlisted = false;

	spin_lock_bh(&sn->groups_lock);
	if (!group->conns)
		unlisted = unlist(group);
	spin_unlock_bh(&sn->groups_lock);

	if (unlisted) {
		tell(group, false);
		put(group);
	}
	put(group);
}

/* Whoever unlists a group has the list's reference to it */
static void end_unlisted(struct smc_group *group)
{
	tell(group, false);
	if (cancel_delayed_work_sync(&group->idle))
		put(group);
	put(group);
}

static void end_work(struct work_struct *work)
{
	end_unlisted(container_of(work, struct smc_group, end));
}

static bool address_equal(const struct smc_address *a, const struct smc_address *b)
{
	return a->ism.gid == b->ism.gid && a->ism.gid_ext == b->ism.gid_ext &&
	       a->ism.chid == b->ism.chid &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid)) &&
	       !memcmp(a->mac, b->mac, sizeof(a->mac)) && a->vlan == b->vlan;
}

/* All but the peer's address: a group may have several links */
static bool key_equal(const struct smc_group_key *a, const struct smc_group_key *b)
{
	return a->role == b->role && a->variant == b->variant &&
	       a->peer_link_id == b->peer_link_id &&
	       address_equal(&a->local, &b->local) &&
	       !memcmp(&a->peer_id, &b->peer_id, sizeof(a->peer_id)) &&
	       smc_eid_equal(&a->eid, &b->eid);
}

/*
 * The client joins the group that the server names, whatever it thinks of its
 * limits. The server opens a further group beside one that is full (R-PG-01).
 */
static bool fits(const struct smc_group *group, const struct smc_group_key *key,
		 const struct smc_clc_accept *accept)
{
	const struct smc_transport *transport = group->transport;

	if (!key_equal(&group->key, key))
		return false;
	if (accept && transport->group_named)
		return transport->group_named(group, accept);
	return address_equal(&group->key.peer, &key->peer) && group->conns < group->max_conns;
}

/**
 * smc_group_find() - join an existing group
 * @net: namespace
 * @key: which
 * @accept: client: what the server said, or NULL
 *
 * Process context or softirq.
 *
 * Return: the group, with a reference that smc_group_leave() gives back, or NULL.
 */
struct smc_group *smc_group_find(struct net *net, const struct smc_group_key *key,
				 const struct smc_clc_accept *accept)
{
	struct smc_net *sn = smc_net(net);
	struct smc_group *group, *found = NULL;

	spin_lock_bh(&sn->groups_lock);
	list_for_each_entry(group, &sn->groups, list) {
		if (!fits(group, key, accept))
			continue;
		found = group;
		found->conns++;
		kref_get(&found->ref);
		break;
	}
	spin_unlock_bh(&sn->groups_lock);
	return found;
}

/**
 * smc_group_create() - open a group and join it; nobody else can join yet
 * @net: namespace
 * @key: who may join later
 * @transport: its transport
 * @candidate: the device chosen; the group takes its own reference
 * @first_contact: what was agreed
 *
 * May sleep.
 *
 * Return: the group, with a reference that smc_group_leave() gives back, or an
 * ERR_PTR.
 */
struct smc_group *smc_group_create(struct net *net, const struct smc_group_key *key,
				   const struct smc_transport *transport,
				   const struct smc_candidate *candidate,
				   const struct smc_clc_first_contact *first_contact)
{
	unsigned int unlimited = key->variant & SMC_VARIANTS_R ? SMC_MAX_CONNS_MAX : UINT_MAX;
	struct smc_group *group;
	int err;

	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return ERR_PTR(-ENOMEM);

	group->key = *key;
	group->net = net;
	group->transport = transport;
	group->id = atomic_add_return(0x100, &next_id);
	group->local = candidate->address;
	group->first_contact = *first_contact;
	group->max_conns = first_contact->max_conns ?: unlimited;
	group->conns = 1;
	kref_init(&group->ref);
	INIT_LIST_HEAD(&group->list);
	INIT_DELAYED_WORK(&group->idle, idle_work);
	INIT_WORK(&group->end, end_work);

	err = transport->group_open(group, candidate);
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	smc_object_created(SMC_OBJECT_GROUP);
	return group;
}

/* By number, newest first, so that a dump can go on where it was */
static void enlist(struct smc_net *sn, struct smc_group *group)
{
	struct smc_group *older;

	lockdep_assert_held(&sn->groups_lock);
	list_for_each_entry(older, &sn->groups, list)
		if (is_older(older, group->id))
			break;
	list_add_tail(&group->list, &older->list);
}

/**
 * smc_group_publish() - the group is formed: let other connections join
 * @group: a group that the caller is in
 *
 * The client does so before it sends its Confirm, the server when it got it: so
 * whoever is told to join finds the group. Meanwhile others open their own; no
 * handshake waits for another (D4). Process context or softirq.
 */
void smc_group_publish(struct smc_group *group)
{
	struct smc_net *sn = smc_net(group->net);

	spin_lock_bh(&sn->groups_lock);
	if (!group->discarded && list_empty(&group->list)) {
		kref_get(&group->ref);
		enlist(sn, group);
		tell(group, true);	/* before anybody can tell of its end */
	}
	spin_unlock_bh(&sn->groups_lock);
}

/**
 * smc_group_leave() - a connection is done with its group
 * @group: from smc_group_find() or smc_group_create(); the reference is given back
 *
 * May sleep. The last one to leave starts the idle time.
 */
void smc_group_leave(struct smc_group *group)
{
	struct smc_net *sn = smc_net(group->net);
	int delay = READ_ONCE(sn->knobs.idle_timeout[group->transport->mode]);

	if (group->key.role == SMC_CLIENT)
		delay += min(delay, CLIENT_EXTRA);

	spin_lock_bh(&sn->groups_lock);
	if (!--group->conns && !list_empty(&group->list)) {
		kref_get(&group->ref);
		if (mod_delayed_work(smc_wq, &group->idle, (unsigned long)delay * HZ))
			kref_put(&group->ref, group_free);	/* was queued already */
	}
	spin_unlock_bh(&sn->groups_lock);
	put(group);
}

/**
 * smc_group_discard() - let no further connection join
 * @group: a group that the caller is in, or that its transport still knows
 *
 * For a group that is out of sync with the peer (R-DEC-11), or lost its last link.
 * Its connections go on. Process context or softirq. The group's end, if this is it,
 * comes in the work queue.
 */
void smc_group_discard(struct smc_group *group)
{
	struct smc_net *sn = smc_net(group->net);
	bool unlisted;

	spin_lock_bh(&sn->groups_lock);
	group->discarded = true;
	unlisted = unlist(group);
	spin_unlock_bh(&sn->groups_lock);
	if (unlisted)
		queue_work(smc_wq, &group->end);	/* with the list's reference */
}

/**
 * smc_group_first() - start to walk over all groups of a namespace
 * @net: the namespace
 *
 * Process context or softirq.
 *
 * Return: the newest group, with a reference, or NULL.
 */
struct smc_group *smc_group_first(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	struct smc_group *group;

	spin_lock_bh(&sn->groups_lock);
	group = list_first_entry_or_null(&sn->groups, struct smc_group, list);
	if (group)
		kref_get(&group->ref);
	spin_unlock_bh(&sn->groups_lock);
	return group;
}

/**
 * smc_group_after() - go on with a walk
 * @net: the namespace
 * @id: number of the last group seen, which may be gone
 *
 * Process context or softirq.
 *
 * Return: the next group, with a reference, or NULL.
 */
struct smc_group *smc_group_after(struct net *net, u32 id)
{
	struct smc_net *sn = smc_net(net);
	struct smc_group *group, *found = NULL;

	spin_lock_bh(&sn->groups_lock);
	list_for_each_entry(group, &sn->groups, list) {
		if (!is_older(group, id))
			continue;
		found = group;
		kref_get(&found->ref);
		break;
	}
	spin_unlock_bh(&sn->groups_lock);
	return found;
}

/**
 * smc_group_next() - go on with a walk
 * @net: the namespace
 * @prev: the last group seen; its reference is given back
 *
 * May sleep.
 *
 * Return: the next group, with a reference, or NULL.
 */
struct smc_group *smc_group_next(struct net *net, struct smc_group *prev)
{
	struct smc_net *sn = smc_net(net);
	struct smc_group *next = NULL;
	bool listed;

	spin_lock_bh(&sn->groups_lock);
	listed = !list_empty(&prev->list);
	if (listed && !list_is_last(&prev->list, &sn->groups)) {
		next = list_next_entry(prev, list);
		kref_get(&next->ref);
	}
	spin_unlock_bh(&sn->groups_lock);

	if (!listed)
		next = smc_group_after(net, prev->id);
	put(prev);
	return next;
}

/**
 * smc_group_put() - end a walk early
 * @group: the last group seen; its reference is given back
 *
 * May sleep.
 */
void smc_group_put(struct smc_group *group)
{
	put(group);
}

/* Take the first group out of the list. @transport: only of this one, if not NULL */
static struct smc_group *unlist_first(struct smc_net *sn, const struct smc_transport *transport)
{
	struct smc_group *group, *found = NULL;

	spin_lock_bh(&sn->groups_lock);
	list_for_each_entry(group, &sn->groups, list) {
		if (transport && group->transport != transport)
			continue;
		unlist(group);
		found = group;
		break;
	}
	spin_unlock_bh(&sn->groups_lock);
	return found;
}

static struct smc_group *unlist_any(const struct smc_transport *transport)
{
	struct smc_group *group = NULL;
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net) {
		group = unlist_first(smc_net(net), transport);
		if (group)
			break;
	}
	up_read(&net_rwsem);
	return group;
}

/**
 * smc_group_flush() - end all groups of a transport
 * @transport: the transport; it has no connections, and no new ones can come
 *
 * May sleep.
 */
void smc_group_flush(const struct smc_transport *transport)
{
	struct smc_group *group;

	while ((group = unlist_any(transport)))
		end_unlisted(group);
	flush_workqueue(smc_wq);	/* those that are just ending by themselves */
}

/* The namespace goes away: it has no sockets, so no group has connections */

static void __net_exit net_leave(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	struct smc_group *group;

	while ((group = unlist_first(sn, NULL)))
		end_unlisted(group);
	/* One that ended by itself may still be about to release groups_lock */
	flush_workqueue(smc_wq);
}

static struct pernet_operations net_ops = {
	.exit = net_leave,
};

/**
 * smc_group_init() - start to look after the groups of all namespaces
 *
 * Return: 0 or a negative errno.
 */
int smc_group_init(void)
{
	atomic_set(&next_id, (get_random_u32() & 0xffff) << 8);
	return register_pernet_subsys(&net_ops);
}

/** smc_group_exit() - end all groups; there are no connections any more */
void smc_group_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
