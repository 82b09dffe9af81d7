// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link groups: find or create, join, leave, end.
 *
 * A server forms one group with a peer at a time. Connections that arrive meanwhile wait without a
 * lock or a thread, and join the group when it is formed. They wait for a short time only, because
 * the peer may be silent on the connection that forms the group.
 *
 * A group without connections stays for some time, because the two sides do not see the last
 * connection end at the same moment. If the client forgot the group before the server, the server
 * would not announce a first contact, and the handshake would fail. So the client waits longer, and
 * for as long as a connection may exist at the server only (@keep_until).
 */

#include <linux/atomic.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "../event.h"
#include "../net.h"
#include "../object.h"
#include "../trace.h"
#include "../work.h"
#include "conn.h"
#include "group.h"
#include "path.h"
#include "table.h"

#define CLIENT_EXTRA	10	/* seconds that a client waits longer, at most */
#define FORMING_MAX	256U	/* SMC-R groups a namespace forms at a time, as server */
#define FORMING_OF_CLASS 64U	/* the same with one class of peers; also for SMC-D */
#define FORMING_OF_KEY	4	/* SMC-R groups formed at a time with one peer */
#define WAKE_AT_ONCE	32	/* connections that are woken in one section of the lock */
#define EVICT_AT_ONCE	16	/* groups that are evicted in one section of the lock */

/* Time that other connections wait for a first contact. SMC-R tests the link meanwhile. */
static const unsigned int forming_timeout[SMC_MODES] = {
	[SMC_MODE_R] = 2 * HZ,
	[SMC_MODE_D] = HZ / 5,
};

static atomic_t next_id;

static void free_group(struct kref *ref)
{
	struct smc_group *group = container_of(ref, struct smc_group, ref);
	atomic_t *alive = &group->sn->groups.alive;

	group->transport->group_close(group);
	kfree(group);
	smc_object_destroyed(SMC_OBJECT_GROUP);
	/* The namespace may be freed now. wake_up_var() uses @alive only as a key. */
	if (atomic_dec_and_test(alive))
		wake_up_var(alive);
}

static void put_group(struct smc_group *group)
{
	kref_put(&group->ref, free_group);
}

static struct smc_groups *get_groups(const struct smc_group *group)
{
	return &group->sn->groups;
}

/*
 * Trace the event, and send it to the monitoring programs. The caller holds no lock: any user may
 * listen with many sockets, and each of them gets the event here.
 */
static void send_event(const struct smc_group *group, bool up)
{
	trace_smc_group(group->net, group->id, group->transport->mode, up);
	smc_event_group(group, up);
}

/*
 * Report that a listed group has ended. It may end before smc_group_publish() has reported that it
 * is up. Then smc_group_publish() sends both events, in this order.
 */
static void report_down(struct smc_group *group)
{
	if (atomic_inc_return(&group->reports) == 2)
		send_event(group, false);
}

static void report_up(struct smc_group *group)
{
	send_event(group, true);
	if (atomic_inc_return(&group->reports) == 2)
		send_event(group, false);
}

/* Let idle_work() run at @idle_until. Queued work holds a reference; the caller has another one. */
static void queue_idle_work(struct smc_groups *groups, struct smc_group *group)
{
	long rest = group->idle_until - jiffies;

	lockdep_assert_held(&groups->lock);
	kref_get(&group->ref);
	if (mod_delayed_work(smc_wq, &group->idle, max(rest, 0L)))
		kref_put(&group->ref, free_group);
}

static void idle_work(struct work_struct *work)
{
	struct smc_group *group = container_of(to_delayed_work(work), struct smc_group, idle);
	struct smc_groups *groups = get_groups(group);
	bool unlisted = false;

	spin_lock_bh(&groups->lock);
	/* With connections, the last one queues the work again */
	if (!group->conns && !list_empty(&group->list)) {
		if (time_before(jiffies, group->idle_until))
			queue_idle_work(groups, group);
		else
			unlisted = smc_table_remove(groups, group);
	}
	spin_unlock_bh(&groups->lock);

	if (unlisted) {
		report_down(group);
		put_group(group);
	}
	put_group(group);
}

/* The caller has unlisted the group, and so has the reference of the list */
static void end_unlisted(struct smc_group *group)
{
	report_down(group);
	if (cancel_delayed_work_sync(&group->idle))
		put_group(group);
	put_group(group);
}

static void end_work(struct work_struct *work)
{
	end_unlisted(container_of(work, struct smc_group, end));
}

/**
 * smc_group_find() - client: join the group that the server names
 * @net: namespace
 * @key: key of the group
 * @accept: the server's Accept
 *
 * Process context or softirq.
 *
 * Return: the group, with a reference that smc_group_leave() drops, or NULL.
 */
struct smc_group *smc_group_find(struct net *net, const struct smc_group_key *key,
				 const struct smc_clc_accept *accept)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	struct smc_group *group;

	spin_lock_bh(&groups->lock);
	group = smc_table_find(groups, key, accept);
	if (group)
		smc_table_join(groups, group);
	spin_unlock_bh(&groups->lock);
	return group;
}

/*
 * Server: is there a group with this key that can be joined and is not doubted? The result may
 * change before smc_group_enter(). Process context or softirq.
 */
bool smc_group_exists(struct net *net, const struct smc_group_key *key)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	const struct smc_group *group;
	bool exists;

	spin_lock_bh(&groups->lock);
	group = smc_table_find(groups, key, NULL);
	exists = group && !group->is_doubted;
	spin_unlock_bh(&groups->lock);
	return exists;
}

static struct smc_group *alloc_group(struct net *net, const struct smc_group_key *key,
				     const struct smc_transport *transport,
				     const struct smc_candidate *candidate,
				     const struct smc_clc_first_contact *first_contact)
{
	unsigned int unlimited = key->variant & SMC_VARIANTS_R ? SMC_MAX_CONNS_MAX : UINT_MAX;
	struct smc_group *group;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return NULL;
	group->key = *key;
	group->net = net;
	group->sn = smc_net(net);
	group->transport = transport;
	group->id = atomic_add_return(0x100, &next_id);
	group->local = candidate->address;
	group->first_contact = *first_contact;
	group->max_conns = first_contact->max_conns ?: unlimited;
	group->conns = 1;
	group->keep_until = jiffies;
	kref_init(&group->ref);
	INIT_LIST_HEAD(&group->list);
	INIT_HLIST_NODE(&group->node);
	INIT_LIST_HEAD(&group->class_node);
	INIT_LIST_HEAD(&group->waiting);
	INIT_DELAYED_WORK(&group->idle, idle_work);
	INIT_WORK(&group->end, end_work);
	return group;
}

/* Has the path to the peer failed recently? */
static bool has_bad_path(struct net *net, const struct smc_group_key *key,
			 const struct smc_candidate *candidate)
{
	struct smc_path path = {
		.local	= candidate->address.gid,
		.peer	= key->peer.gid,
		.remote	= key->remote,
	};

	return key->variant & SMC_VARIANTS_R && smc_path_is_bad(net, &path);
}

static struct smc_group_caps read_caps(const struct smc_group *group)
{
	const struct smc_knobs *knobs = &group->sn->knobs;

	return (struct smc_group_caps) {
		.all = READ_ONCE(knobs->max_groups),
		.of_peer = READ_ONCE(knobs->max_groups_per_peer),
	};
}

/* Evict idle groups as long as there are too many. The next call evicts the rest. */
static void evict_idle(struct smc_groups *groups, const struct smc_group *group)
{
	const struct smc_group_caps caps = read_caps(group);
	struct smc_peer_class *class = group->peer_class;
	struct smc_group *evicted;
	unsigned int nr = 0;

	while (nr++ < EVICT_AT_ONCE && (evicted = smc_table_evict_idle(groups, class, &caps)))
		queue_work(smc_wq, &evicted->end);	/* with the reference of the list */
}

/* Count a new group. A client has chosen to form it: idle groups make room at once. */
static int admit_group(struct smc_groups *groups, struct smc_group *group)
{
	const struct smc_group_caps caps = read_caps(group);
	int err = smc_table_admit(groups, group, &caps);

	if (!err && group->key.role == SMC_CLIENT)
		evict_idle(groups, group);
	return err;
}

/* A first contact of SMC-D is cheap: up to a quarter of all groups may be in it */
static unsigned int get_forming_max(const struct smc_group *group)
{
	if (group->transport->mode == SMC_MODE_R)
		return FORMING_MAX;
	return max(read_caps(group).all / 4, FORMING_OF_CLASS);
}

/* The handshake of an evicted group ends it, and wakes the connections that wait for the group */
static void evict_forming(struct smc_groups *groups, const struct smc_group *fresh)
{
	const struct smc_group_caps caps = {
		.all = get_forming_max(fresh),
		.of_peer = FORMING_OF_CLASS,
	};
	struct smc_group *evicted = smc_table_evict_forming(groups, fresh, &caps);

	if (evicted)
		evicted->former->progress(evicted->former);
}

/*
 * The group is formed, or will not be: let the waiting connections call smc_group_enter() again. No
 * connection begins to wait from now on: the caller has made sure of that under the groups' lock. A
 * woken connection may stop waiting, or wait for another group, before this function returns.
 */
static void wake_waiting(struct smc_groups *groups, struct smc_group *group)
{
	struct smc_group_entry *entry;
	unsigned int nr;

	if (list_empty_careful(&group->waiting))
		return;
	do {
		spin_lock_bh(&groups->lock);
		for (nr = 0; nr < WAKE_AT_ONCE && !list_empty(&group->waiting); nr++) {
			entry = list_first_entry(&group->waiting, struct smc_group_entry, list);
			list_del_init(&entry->list);
			entry->conn->progress(entry->conn);
		}
		spin_unlock_bh(&groups->lock);
	} while (nr);
}

/* Let the transport allocate its resources for @group, which was admitted */
static int open_group(struct smc_group *group, const struct smc_candidate *candidate)
{
	struct smc_groups *groups = get_groups(group);
	int err;

	err = group->transport->group_open(group, candidate);
	if (!err) {
		atomic_inc(&groups->alive);
		smc_object_created(SMC_OBJECT_GROUP);
		return 0;
	}
	spin_lock_bh(&groups->lock);
	group->conns = 0;
	smc_table_remove(groups, group);
	spin_unlock_bh(&groups->lock);
	wake_waiting(groups, group);
	return err;
}

/**
 * smc_group_create() - client: create a group and join it
 * @net: namespace
 * @key: key by which other connections find the group after smc_group_publish()
 * @transport: its transport
 * @candidate: the selected device; the group takes its own reference
 * @first_contact: parameters agreed on at first contact
 *
 * May sleep.
 *
 * Return: the group, with a reference that smc_group_leave() drops, or an ERR_PTR: -EUSERS at the
 * limit of groups, -EHOSTDOWN if the path to the peer failed recently.
 */
struct smc_group *smc_group_create(struct net *net, const struct smc_group_key *key,
				   const struct smc_transport *transport,
				   const struct smc_candidate *candidate,
				   const struct smc_clc_first_contact *first_contact)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	struct smc_group *group;
	int err;

	if (has_bad_path(net, key, candidate))
		return ERR_PTR(-EHOSTDOWN);
	group = alloc_group(net, key, transport, candidate, first_contact);
	if (!group)
		return ERR_PTR(-ENOMEM);
	spin_lock_bh(&groups->lock);
	err = admit_group(groups, group);
	spin_unlock_bh(&groups->lock);
	if (!err)
		err = open_group(group, candidate);
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	return group;
}

/* Shall the connection wait for the group @forming? The wait has a deadline. */
static bool may_wait_for(struct smc_groups *groups, struct smc_group_entry *entry,
			 const struct smc_group *forming)
{
	if (!forming)
		return false;
	if (!entry->waits) {
		if (smc_table_is_silent(groups, &entry->key.remote))
			return false;
		entry->waits = true;
		entry->until = jiffies + forming_timeout[entry->transport->mode];
	}
	if (time_before(jiffies, entry->until))
		return true;
	smc_table_set_silent(groups, &entry->key.remote);
	return false;
}

/* Limit the first contacts of SMC-R, which need a queue pair and memory */
static bool may_form(struct smc_groups *groups, const struct smc_group_entry *entry,
		     unsigned int nr)
{
	enum smc_mode mode = entry->transport->mode;

	return mode != SMC_MODE_R ||
	       (nr < FORMING_OF_KEY &&
		smc_table_forming_of(groups, &entry->key.remote, mode) < FORMING_OF_CLASS);
}

/*
 * Wait for a group that is being formed, or form @fresh. Return: the group, NULL if the caller has
 * to allocate @fresh, or an ERR_PTR.
 */
static struct smc_group *form_group(struct net *net, struct smc_groups *groups,
				    struct smc_group_entry *entry, struct smc_group *fresh)
{
	struct smc_group *group;
	unsigned int nr;
	int err;

	lockdep_assert_held(&groups->lock);
	if (has_bad_path(net, &entry->key, entry->candidate))
		return ERR_PTR(-EHOSTDOWN);
	group = smc_table_forming(groups, &entry->key, &nr);
	if (may_wait_for(groups, entry, group)) {
		list_add_tail(&entry->list, &group->waiting);
		return ERR_PTR(-EINPROGRESS);
	}
	if (!may_form(groups, entry, nr))
		return ERR_PTR(-EAGAIN);
	if (!fresh)
		return NULL;
	err = admit_group(groups, fresh);
	if (err)
		return ERR_PTR(err);
	evict_forming(groups, fresh);
	smc_table_add_forming(groups, fresh, entry->conn);
	return fresh;
}

/*
 * Join a group, wait for one, or form @fresh. A doubted group is joined only if no other one can be
 * formed. Return: the group, NULL if the caller has to allocate @fresh, or an ERR_PTR.
 */
static struct smc_group *find_or_form(struct net *net, struct smc_groups *groups,
				      struct smc_group_entry *entry, struct smc_group *fresh)
{
	struct smc_group *found, *formed;

	lockdep_assert_held(&groups->lock);
	list_del_init(&entry->list);
	found = smc_table_find(groups, &entry->key, NULL);
	if (!found || found->is_doubted) {
		formed = form_group(net, groups, entry, fresh);
		if (!found || !IS_ERR(formed) || formed == ERR_PTR(-EINPROGRESS))
			return formed;
	}
	smc_table_join(groups, found);
	return found;
}

/**
 * smc_group_enter() - server: join a group, or form one
 * @net: namespace
 * @entry: the connection and the group it needs; @list is initialized
 * @first: result: whether this is the first connection of a new group
 *
 * May sleep, but does not wait for the peer.
 *
 * Return: the group, with a reference that smc_group_leave() drops, or an ERR_PTR. -EINPROGRESS
 * while another connection forms the group: call this again after progress() of the connection or
 * at @until, or call smc_group_stop_waiting(). -EAGAIN if too many groups are being formed, -EUSERS
 * at the limit of groups, -EHOSTDOWN if the path to the peer failed recently.
 */
struct smc_group *smc_group_enter(struct net *net, struct smc_group_entry *entry, bool *first)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	struct smc_group *group, *fresh;
	int err;

	*first = false;
	spin_lock_bh(&groups->lock);
	group = find_or_form(net, groups, entry, NULL);
	spin_unlock_bh(&groups->lock);
	if (group)
		return group;

	fresh = alloc_group(net, &entry->key, entry->transport, entry->candidate,
			    entry->first_contact);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	spin_lock_bh(&groups->lock);
	group = find_or_form(net, groups, entry, fresh);
	spin_unlock_bh(&groups->lock);
	*first = group == fresh;
	if (!*first) {
		kfree(fresh);
		return group;
	}
	err = open_group(fresh, entry->candidate);
	if (err) {
		kfree(fresh);
		return ERR_PTR(err);
	}
	return fresh;
}

/**
 * smc_group_stop_waiting() - the connection does not wait for a group any more
 * @net: namespace
 * @entry: passed to smc_group_enter() before, or just initialized
 *
 * Afterwards no group calls progress() of the connection. Process context or softirq.
 */
void smc_group_stop_waiting(struct net *net, struct smc_group_entry *entry)
{
	struct smc_groups *groups = &smc_net(net)->groups;

	spin_lock_bh(&groups->lock);
	list_del_init(&entry->list);
	spin_unlock_bh(&groups->lock);
}

/**
 * smc_group_publish() - the group is formed: let other connections join
 * @group: a group of which the caller is a member
 *
 * A client calls this before it sends its Confirm, a server after it has received the Confirm. So a
 * connection that is told to join finds the group. A server calls it for each connection: those
 * after the first one clear @is_doubted. If the group is listed and not doubted, nothing is left to
 * do, and the lock is not taken: handshakes of all groups need it. Only its former can list a
 * group, so no other task does so meanwhile; and this call may as well have come before the group
 * is unlisted or doubted. Process context or softirq.
 */
void smc_group_publish(struct smc_group *group)
{
	struct smc_groups *groups = get_groups(group);
	struct smc_group *unlisted;
	bool listed;

	if (!READ_ONCE(group->is_doubted) && !list_empty_careful(&group->list))
		return;
	spin_lock_bh(&groups->lock);
	WRITE_ONCE(group->is_doubted, false);
	listed = !group->discarded && list_empty(&group->list);
	if (listed) {
		smc_table_add(groups, group);
		while ((unlisted = smc_table_remove_doubted(groups, group)))
			queue_work(smc_wq, &unlisted->end);	/* with the reference of the list */
		evict_idle(groups, group);
	}
	spin_unlock_bh(&groups->lock);
	wake_waiting(groups, group);
	if (listed)
		report_up(group);
}

/*
 * Start the time anew. Work that is queued for an earlier moment stays queued, so that most
 * connections do not move the timer: idle_work() queues itself for the rest of the time.
 */
static void start_idle_time(struct smc_groups *groups, struct smc_group *group, int seconds)
{
	unsigned long until = jiffies + (unsigned long)seconds * HZ;
	bool sooner;

	lockdep_assert_held(&groups->lock);
	if (time_before(until, group->keep_until))
		until = group->keep_until;
	sooner = time_before(until, group->idle_until);
	smc_table_set_idle(groups, group);
	group->idle_until = until;
	if (sooner || !delayed_work_pending(&group->idle))
		queue_idle_work(groups, group);
}

/**
 * smc_group_leave() - a connection leaves its group
 * @group: from smc_group_find(), smc_group_create() or smc_group_enter(); drops the reference
 * @keep: jiffies for which the group stays, because the peer still has the connection
 *
 * The last connection starts the idle time. May sleep.
 */
void smc_group_leave(struct smc_group *group, unsigned long keep)
{
	const struct smc_knobs *knobs = &group->sn->knobs;
	int delay = READ_ONCE(knobs->idle_timeout[group->transport->mode]);
	struct smc_groups *groups = get_groups(group);
	bool formed = true;

	if (group->key.role == SMC_CLIENT)
		delay += min(delay, CLIENT_EXTRA);

	keep += jiffies;
	spin_lock_bh(&groups->lock);
	if (time_before(group->keep_until, keep))
		group->keep_until = keep;
	if (!--group->conns) {
		formed = !list_empty(&group->list);
		if (formed) {
			start_idle_time(groups, group, delay);
			evict_idle(groups, group);
		} else {
			smc_table_remove(groups, group);
		}
	}
	spin_unlock_bh(&groups->lock);
	if (!formed)
		wake_waiting(groups, group);
	put_group(group);
}

/**
 * smc_group_discard() - let no further connection join
 * @group: a group of which the caller is a member, or to which the transport has a reference
 *
 * For a group that was not formed, that is out of sync with the server, or that lost its last link.
 * Its connections continue. If the group was listed, the work queue ends it. Process context or
 * softirq.
 */
void smc_group_discard(struct smc_group *group)
{
	struct smc_groups *groups = get_groups(group);
	bool unlisted;

	spin_lock_bh(&groups->lock);
	group->discarded = true;
	unlisted = smc_table_remove(groups, group);
	spin_unlock_bh(&groups->lock);
	wake_waiting(groups, group);
	if (unlisted)
		queue_work(smc_wq, &group->end);	/* with the reference of the list */
}

/**
 * smc_group_blame() - the peer is out of sync with a group, or causes it to lose memory
 * @group: a group of which the caller is a member
 * @other: the connection has another peer address than the one the group was formed with
 *
 * No further connection joins the group. With @other that applies only to addresses other than that
 * of the group: otherwise a server that names the group of another server would end it. Process
 * context or softirq.
 */
void smc_group_blame(struct smc_group *group, bool other)
{
	struct smc_groups *groups = get_groups(group);

	if (!other) {
		smc_group_discard(group);
		return;
	}
	spin_lock_bh(&groups->lock);
	group->no_others = true;
	spin_unlock_bh(&groups->lock);
}

/**
 * smc_group_doubt() - server: a client declines a group because it does not know it
 * @group: a group of which the caller is a member
 *
 * The next connection forms another group, which replaces @group (R-DEC-11). Until then a
 * connection joins @group if no other group can be formed: the Decline may come from a peer that
 * uses the address and the ids of a client that knows @group. Process context or softirq.
 */
void smc_group_doubt(struct smc_group *group)
{
	struct smc_groups *groups = get_groups(group);

	spin_lock_bh(&groups->lock);
	WRITE_ONCE(group->is_doubted, !list_empty(&group->list));
	spin_unlock_bh(&groups->lock);
}

/* End a walk early: drop the reference to its last group. May sleep. */
void smc_group_put(struct smc_group *group)
{
	put_group(group);
}

/*
 * Unlist the first group, of @transport unless that is NULL. Return: the group, with the reference
 * of the list, or NULL.
 */
static struct smc_group *unlist_first(struct smc_groups *groups,
				      const struct smc_transport *transport)
{
	struct smc_group *group, *found = NULL;

	spin_lock_bh(&groups->lock);
	list_for_each_entry(group, &groups->list, list) {
		if (transport && group->transport != transport)
			continue;
		smc_table_remove(groups, group);
		found = group;
		break;
	}
	spin_unlock_bh(&groups->lock);
	return found;
}

static struct smc_group *unlist_any(const struct smc_transport *transport)
{
	struct smc_group *group = NULL;
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net) {
		group = unlist_first(&smc_net(net)->groups, transport);
		if (group)
			break;
	}
	up_read(&net_rwsem);
	return group;
}

/* End all groups of a transport. It has no connections and can get none. May sleep. */
void smc_group_flush(const struct smc_transport *transport)
{
	struct smc_group *group;

	while ((group = unlist_any(transport)))
		end_unlisted(group);
	flush_workqueue(smc_wq);	/* groups that end for other reasons */
}

/* End the groups of a namespace. It has no sockets, so its groups have no connections. */
static void __net_exit exit_net_groups(struct net *net)
{
	struct smc_groups *groups = &smc_net(net)->groups;
	struct smc_group *group;

	while ((group = unlist_first(groups, NULL)))
		end_unlisted(group);
	/*
	 * Work that ends a group, or handles the loss of its links, holds a reference to the group
	 * and uses the namespace: wait for it.
	 */
	wait_var_event(&groups->alive, !atomic_read(&groups->alive));
}

static struct pernet_operations net_ops = {
	.exit = exit_net_groups,
};

/* Register the groups of all namespaces. Return: 0 or a negative errno. */
int smc_group_init(void)
{
	atomic_set(&next_id, (get_random_u32() & 0xffff) << 8);
	return register_pernet_subsys(&net_ops);
}

/* End all groups. There are no connections any more. */
void smc_group_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
