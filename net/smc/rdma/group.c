// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMC-R's part of a link group, from first contact to the end.
 *
 * One work item per group ends the group, and clears links that went down, so these never run at
 * the same time. The connections of a link that went down move to another one; without one
 * they are lost. When no link is left, no connection may join the group any more, and it gets no
 * new link.
 */

#include <linux/slab.h>

#include "../event.h"
#include "../group/path.h"
#include "conn.h"
#include "device.h"
#include "group.h"
#include "inspect.h"

#define DEFAULT_CONNS	SMC_MAX_CONNS_MAX

static atomic_t nr_groups;
static DEFINE_SPINLOCK(growing_lock);	/* protects growing */
static LIST_HEAD(growing);	/* groups of servers that may get further links */
static DECLARE_WAIT_QUEUE_HEAD(no_groups);

static void group_free(struct kref *ref)
{
	struct smcr_group *rg = container_of(ref, struct smcr_group, ref);
	unsigned int i;

	smcr_memory_free(rg);
	if (rg->gid)
		smcr_gid_put(rg->gid);
	smcr_device_put(rg->dev);
	for (i = 0; i < SMCR_LINKS; i++)
		if (rg->links[i].dev)
			smcr_device_put(rg->links[i].dev);
	kvfree(rg);
	if (atomic_dec_and_test(&nr_groups))
		wake_up_all(&no_groups);
}

struct smcr_group *smcr_group_get(struct smcr_group *rg)
{
	kref_get(&rg->ref);
	return rg;
}

void smcr_group_put(struct smcr_group *rg)
{
	kref_put(&rg->ref, group_free);
}

/**
 * smcr_group_kick() - run the group's work
 * @rg: the group
 *
 * Any context.
 */
void smcr_group_kick(struct smcr_group *rg)
{
	smcr_group_get(rg);
	if (!queue_work(smcr_wq, &rg->work))
		smcr_group_put(rg);
}

/*
 * From now on another CPU can queue the LLC work, so the group must be complete. Only a server
 * offers links.
 */
static void list_as_growing(struct smcr_group *rg)
{
	if (rg->role != SMC_SERVER || rg->wanted_links < 2)
		return;
	spin_lock_bh(&growing_lock);
	list_add_tail(&rg->growing, &growing);
	spin_unlock_bh(&growing_lock);
}

static void unlist_as_growing(struct smcr_group *rg)
{
	spin_lock_bh(&growing_lock);
	list_del_init(&rg->growing);
	spin_unlock_bh(&growing_lock);
}

/**
 * smcr_group_ports_changed() - ports may allow further links of the groups
 *
 * Process context or softirq.
 */
void smcr_group_ports_changed(void)
{
	struct smcr_group *rg;

	spin_lock_bh(&growing_lock);
	list_for_each_entry(rg, &growing, growing)
		smcr_llc_ports_changed(rg);
	spin_unlock_bh(&growing_lock);
}

/**
 * smcr_group_link() - a link that connections may use
 * @rg: the group
 *
 * Any context.
 *
 * Return: the link, which can go down at any time, or NULL.
 */
struct smcr_link *smcr_group_link(struct smcr_group *rg)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_usable(&rg->links[i]))
			return &rg->links[i];
	return NULL;
}

/**
 * smcr_group_idlest_link() - the usable link with the fewest connections
 * @rg: the group
 *
 * Any context.
 *
 * Return: the link, which can go down at any time, or NULL.
 */
struct smcr_link *smcr_group_idlest_link(struct smcr_group *rg)
{
	struct smcr_link *found = NULL;
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		struct smcr_link *link = &rg->links[i];

		if (smcr_link_usable(link) &&
		    (!found || atomic_read(&link->conns) < atomic_read(&found->conns)))
			found = link;
	}
	return found;
}

/**
 * smcr_group_has_link() - is there a link for a connection that opens?
 * @rg: the group
 *
 * Any context.
 *
 * Return: whether a link is usable, or the first link is being formed.
 */
bool smcr_group_has_link(struct smcr_group *rg)
{
	const struct smcr_link *first = &rg->links[0];

	return smcr_group_link(rg) ||
	       (!rg->settled && READ_ONCE(first->state) == SMCR_LINK_FORMING);
}

/**
 * smcr_group_link_by_number() - find the link that an LLC message names
 * @rg: the group
 * @number: its number
 *
 * Any context.
 *
 * Return: the link, forming or active, or NULL.
 */
struct smcr_link *smcr_group_link_by_number(struct smcr_group *rg, u8 number)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_is_there(&rg->links[i]) && rg->links[i].number == number)
			return &rg->links[i];
	return NULL;
}

static bool any_link_there(const struct smcr_group *rg)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_is_there(&rg->links[i]))
			return true;
	return false;
}

/**
 * smcr_group_hold() - get the link group
 * @rg: the group
 *
 * Process context or softirq.
 *
 * Return: the link group, with a reference, or NULL if it has ended.
 */
struct smc_group *smcr_group_hold(struct smcr_group *rg)
{
	struct smc_group *group;

	spin_lock_bh(&rg->lock);
	group = rg->group;
	if (group && !kref_get_unless_zero(&group->ref))
		group = NULL;
	spin_unlock_bh(&rg->lock);
	return group;
}

/* Report each change once: both smcr_group_close() and the work report that a link is down */
static void tell(const struct smc_group *group, struct smcr_link *link, bool up)
{
	struct smcr_group *rg = link->group;
	struct smc_link_info info;

	/* The lock keeps the events in order */
	spin_lock_bh(&rg->lock);
	if (link->told != up) {
		link->told = up;
		smcr_link_info(link, &info);
		if (!up)
			info.state = SMC_LINK_INFO_INACTIVE;
		smc_event_link(group, &info, up);
	}
	spin_unlock_bh(&rg->lock);
}

/**
 * smcr_group_tell() - send the event that a link is up or down
 * @link: the link
 * @up: connections may use it from now on; otherwise no longer
 *
 * Process context, without spin locks. After the end of the link group, smcr_group_close() has sent
 * the event.
 */
void smcr_group_tell(struct smcr_link *link, bool up)
{
	struct smc_group *group = smcr_group_hold(link->group);

	if (group) {
		tell(group, link, up);
		smc_group_put(group);
	}
}

/* Has first contact succeeded? On a client, @settled is set earlier, when others may join */
static bool has_worked(const struct smcr_group *rg)
{
	return READ_ONCE(rg->settled) && !READ_ONCE(rg->llc.settling);
}

/**
 * smcr_group_blame_path() - record that the peer's port does not respond
 * @link: the link
 *
 * Called before the report to a first contact, which ends the link group. Process context, without
 * spin locks.
 */
void smcr_group_blame_path(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smc_group *group = smcr_group_hold(rg);

	if (!group)
		return;
	smc_path_failed(group, has_worked(rg) ? SMC_PATH_BROKE : SMC_PATH_NEVER_WORKED);
	smc_group_put(group);
}

/**
 * smcr_group_blame() - let no connection join: the peer has caused the loss of too much memory
 * @rg: the group; its connections continue
 * @other: as for smc_group_blame()
 *
 * Process context, without spin locks.
 */
void smcr_group_blame(struct smcr_group *rg, bool other)
{
	struct smc_group *group = smcr_group_hold(rg);

	if (group) {
		smc_group_blame(group, other);
		smc_group_put(group);
	}
}

/* No link is left: let no connection join. @why: enum smc_reason, if first contact is not over */
static void abandon(struct smcr_group *rg, u32 why)
{
	struct smc_group *group = smcr_group_hold(rg);

	if (group) {
		smc_group_discard(group);
		smc_group_put(group);
	}
	smcr_group_settled(rg, why);
}

/* Take down all links if the link group has ended, and LLC has reported that. Return: whether so */
static bool is_over(struct smcr_group *rg)
{
	unsigned int i;

	/* Paired with the release in smcr_group_close() */
	if (!smp_load_acquire(&rg->closing) || rg->closed || !smcr_llc_close(rg))
		return false;
	for (i = 0; i < SMCR_LINKS; i++)
		smcr_link_down(&rg->links[i], SMC_LINK_INACTIVE);
	return true;
}

/*
 * A link that has worked, and has no open connection, may exist at this end only: TCP reports the
 * end of its connections at once, and a peer that gives up a first contact sends no DELETE LINK.
 * With another usable link, the path to the peer works.
 */
static bool is_path_to_blame(struct smcr_group *rg, const struct smcr_link *link)
{
	return READ_ONCE(link->no_path) && !READ_ONCE(link->severed) && !smcr_group_link(rg) &&
	       (!has_worked(rg) || smcr_conn_any_open(rg));
}

static void clear_links(struct smcr_group *rg)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		struct smcr_link *link = &rg->links[i];
		u32 why;

		if (READ_ONCE(link->failed))
			smcr_link_down(link, SMC_LINK_LOST_PATH);
		if (READ_ONCE(link->state) != SMCR_LINK_DOWN)
			continue;
		smcr_group_tell(link, false);
		if (is_path_to_blame(rg, link))
			smcr_group_blame_path(link);
		why = smcr_llc_link_down(link);
		if (!any_link_there(rg))
			abandon(rg, why);
		if (!smcr_group_link(rg))	/* do not wait for the device */
			smcr_conn_leave(rg, link, false);
		smcr_link_quiesce(link);
		smcr_conn_leave(rg, link, true);
		smcr_link_clear(link);
	}
}

static void group_work(struct work_struct *work)
{
	struct smcr_group *rg = container_of(work, struct smcr_group, work);
	bool over = is_over(rg);

	clear_links(rg);
	if (over) {
		rg->closed = true;
		smcr_llc_exit(rg);
		smcr_group_put(rg);	/* reference of the link group */
	}
	smcr_group_put(rg);
}

static struct smcr_group *create_group(struct smc_group *group)
{
	const struct smc_clc_first_contact *agreed = &group->first_contact;
	struct smcr_group *rg = kvzalloc(sizeof(*rg), GFP_KERNEL);
	unsigned int i;

	if (!rg)
		return NULL;
	atomic_inc(&nr_groups);
	kref_init(&rg->ref);
	INIT_LIST_HEAD(&rg->growing);
	rg->role = group->key.role;
	rg->version = group->key.variant == SMC_VARIANT_R2 ? 2 : 1;
	rg->net = group->net;
	rg->net_cookie = group->net->net_cookie;
	rg->share = smc_net(group->net)->share;
	rg->group = group;
	rg->max_conns = agreed->max_conns ?: DEFAULT_CONNS;
	rg->max_links = agreed->max_links ?: SMC_MAX_LINKS_MAX;
	rg->wanted_links = READ_ONCE(smc_net(group->net)->knobs.max_links);
	rg->element_use = smcr_element_first_use(group->net);
	spin_lock_init(&rg->lock);
	spin_lock_init(&rg->rtokens_lock);
	mutex_init(&rg->link_lock);
	mutex_init(&rg->memory_lock);
	hash_init(rg->conns);
	INIT_LIST_HEAD(&rg->rmbs);
	smcr_send_rings_init(rg);
	INIT_WORK(&rg->work, group_work);
	for (i = 0; i < SMCR_LINKS; i++)
		smcr_link_init(&rg->links[i], rg);
	return rg;
}

/**
 * smcr_group_open() - struct smc_transport: create the first link
 * @group: the link group
 * @candidate: the local port
 *
 * Return: 0 or a negative errno.
 */
int smcr_group_open(struct smc_group *group, const struct smc_candidate *candidate)
{
	struct smcr_group *rg = create_group(group);
	struct smcr_gid *gid = candidate->device;
	int err;

	if (!rg)
		return -ENOMEM;
	rg->dev = smcr_device_get(gid->dev);
	rg->gid = smcr_gid_get(gid);
	err = smcr_llc_init(rg);
	if (!err)
		err = smcr_link_create(&rg->links[0], gid);
	if (err) {
		smcr_llc_exit(rg);
		rg->group = NULL;	/* no other reference exists */
		smcr_group_put(rg);
		return err;
	}
	if (rg->role == SMC_SERVER) {
		rg->links[0].number = 1;
		smcr_link_look_ahead(&rg->links[0], &group->key.peer);
	}
	group->device = rg;
	list_as_growing(rg);
	return 0;
}

static bool same_end(const struct smcr_link_peer *peer, const struct smc_clc_rdma_end *end)
{
	return peer->qpn == end->qpn && !memcmp(&peer->gid, &end->gid, sizeof(peer->gid)) &&
	       !memcmp(peer->mac, end->mac, sizeof(peer->mac));
}

/**
 * smcr_group_find_link() - find the link that a CLC message names
 * @rg: the group
 * @end: the peer's end in that message (R-SC-06, R-SC-13)
 *
 * Any context.
 *
 * Return: the usable link, or NULL.
 */
struct smcr_link *smcr_group_find_link(struct smcr_group *rg, const struct smc_clc_rdma_end *end)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_usable(&rg->links[i]) && same_end(&rg->links[i].peer, end))
			return &rg->links[i];
	return NULL;
}

/**
 * smcr_group_named() - struct smc_transport: does an Accept name a usable link of this group?
 * @group: the link group
 * @accept: the Accept
 *
 * Return: whether it does.
 */
bool smcr_group_named(const struct smc_group *group, const struct smc_clc_accept *accept)
{
	struct smcr_group *rg = group->device;

	return !memcmp(&rg->peer_id, &accept->rdma.peer_id, sizeof(rg->peer_id)) &&
	       smcr_group_find_link(rg, &accept->rdma);
}

/**
 * smcr_group_close() - struct smc_transport: end SMC-R's part of a link group
 * @group: the link group; it has no connections
 */
void smcr_group_close(struct smc_group *group)
{
	struct smcr_group *rg = group->device;
	unsigned int i;

	unlist_as_growing(rg);
	for (i = 0; i < SMCR_LINKS; i++)
		tell(group, &rg->links[i], false);
	spin_lock_bh(&rg->lock);
	rg->group = NULL;
	spin_unlock_bh(&rg->lock);
	/* Paired with the acquire in is_over() */
	smp_store_release(&rg->closing, true);
	smcr_send_rings_end(rg);
	smcr_group_kick(rg);
}

void smcr_group_device_name(const struct smc_group *group, char *name)
{
	const struct smcr_group *rg = group->device;

	smcr_device_name(rg->dev, name);
}

/**
 * smcr_group_set_settled() - first contact has succeeded
 * @rg: the group; its lock is held
 * @rc: the connection of the first contact; CLC has announced its RMB
 */
void smcr_group_set_settled(struct smcr_group *rg, struct smcr_conn *rc)
{
	lockdep_assert_held(&rg->lock);
	rg->settled = true;
	WRITE_ONCE(rc->rmb->state, SMCR_RMB_ANNOUNCED);
}

/**
 * smcr_group_let_join() - client: let connections join before first contact ends here
 * @rg: the group
 *
 * Process context, without spin locks.
 */
void smcr_group_let_join(struct smcr_group *rg)
{
	spin_lock_bh(&rg->lock);
	if (rg->settling)
		smcr_group_set_settled(rg, rg->settling);
	spin_unlock_bh(&rg->lock);
}

/**
 * smcr_group_settled() - first contact has succeeded or failed
 * @rg: the group
 * @reason: SMC_REASON_NONE, or why it failed
 *
 * Process context or softirq, without locks. Only the first call has an effect.
 */
void smcr_group_settled(struct smcr_group *rg, u32 reason)
{
	struct smcr_conn *rc;

	spin_lock_bh(&rg->lock);
	rc = rg->settling;
	rg->settling = NULL;
	if (rc && !smcr_conn_use(rc))
		rc = NULL;
	if (rc && !reason)
		smcr_group_set_settled(rg, rc);
	spin_unlock_bh(&rg->lock);
	if (!rc)
		return;
	if (!reason && rg->eye_catcher)
		smcr_conn_use_eye_catcher(rc);
	smc_conn_ready(rc->conn, reason);
	smcr_conn_unuse(rc);
}

/**
 * smcr_group_exit() - wait until all groups are freed
 *
 * The caller makes sure that all link groups have ended. May sleep.
 */
void smcr_group_exit(void)
{
	wait_event(no_groups, !atomic_read(&nr_groups));
}
