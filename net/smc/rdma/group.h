/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a link group that SMC-R adds: links, memory, connections.
 *
 * It outlives the link group it belongs to (struct smc_group): when that one ends, the
 * peer is told, and links and memory are given back, by work which does not hold up
 * anybody.
 */
#ifndef _NET_SMC_RDMA_GROUP_H
#define _NET_SMC_RDMA_GROUP_H

#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "../group/group.h"
#include "link.h"
#include "llc.h"
#include "memory.h"

struct smcr_conn;
struct smcr_device;

/**
 * struct smcr_group - SMC-R's part of a link group
 * @ref: the link group, each connection, queued work
 * @growing: in the list of groups that may get further links, until the link group ends
 * @role: this side's role; constant
 * @version: 1 or 2, of SMC-R and so of LLC messages; constant
 * @net: the namespace; only valid while @group is not NULL
 * @net_cookie: its cookie, which stays
 * @share: what its memory counts for; constant. To be taken from while @net is valid
 * @lock: protects @group, @conns, @nr_conns, @nr_abandoned, @nr_abandoned_others, @settling,
 *	@settled; taken with bottom halves off
 * @group: the link group, NULL once that has ended
 * @conns: connections by their alert token; read under RCU
 * @nr_conns: how many
 * @nr_abandoned: elements that nobody may use any more, and RMBs that the peer refused
 * @nr_abandoned_others: those of connections to other addresses than the group's own
 * @settling: the connection of the first contact, while its conn_settle is in progress
 * @settled: first contact is over, or on a client so far that others may join
 * @dev: device of the first link, for monitoring; holds a reference, constant
 * @max_conns: agreed number of connections; constant once settled
 * @max_links: agreed number of links; constant once settled
 * @wanted_links: as many as the operator wants; constant
 * @gid: our port of the first link; others are in its network. Holds a reference, constant
 * @eye_catcher: elements begin with an eye catcher, because the peer wants it;
 *	constant once settled
 * @peer_id: the peer's stack
 * @links: links
 * @llc: link layer control
 * @link_lock: held while the state of a queue pair is changed, and while it is
 *	destroyed; outside @memory_lock
 * @memory_lock: protects @rmbs, @rings, their bytes and @largest_ring; process context
 * @rmbs: our RMBs
 * @rings: send rings
 * @rmb_bytes: memory of @rmbs; read without lock
 * @ring_bytes: memory of @rings; read without lock
 * @largest_ring: size of the largest of @rings, 0 if there is none; read without lock
 * @rtokens_lock: protects @rtokens; taken with bottom halves off
 * @rtokens: the peer's RMBs
 * @closing: the link group has ended
 * @closed: the peer was told
 * @work: ends the group in good order, and clears links that went down
 */
struct smcr_group {
	struct kref ref;
	struct list_head growing;
	enum smc_role role;
	u8 version;
	struct net *net;
	u64 net_cookie;
	struct smc_share *share;
	spinlock_t lock;	/* protects what says so above */
	struct smc_group *group;
	DECLARE_HASHTABLE(conns, 6);
	unsigned int nr_conns;
	unsigned int nr_abandoned;
	unsigned int nr_abandoned_others;
	struct smcr_conn *settling;
	bool settled;
	struct smcr_device *dev;
	u8 max_conns;
	u8 max_links;
	u8 wanted_links;
	struct smcr_gid *gid;
	bool eye_catcher;
	struct smc_peer_id peer_id;
	struct smcr_link links[SMCR_LINKS];
	struct smcr_llc llc;
	struct mutex link_lock;		/* see above */
	struct mutex memory_lock;	/* protects rmbs and rings */
	struct list_head rmbs;
	struct list_head rings;
	unsigned long rmb_bytes;
	unsigned long ring_bytes;
	u32 largest_ring;
	spinlock_t rtokens_lock;	/* protects rtokens */
	struct smcr_rtoken rtokens[SMC_LLC_MAX_RTOKENS];
	bool closing;
	bool closed;
	struct work_struct work;
};

extern struct workqueue_struct *smcr_wq;

/* transport operations */
int smcr_group_open(struct smc_group *group, const struct smc_candidate *candidate);
bool smcr_group_named(const struct smc_group *group, const struct smc_clc_accept *accept);
void smcr_group_close(struct smc_group *group);
void smcr_group_device_name(const struct smc_group *group, char *name);

void smcr_group_exit(void);

struct smcr_group *smcr_group_get(struct smcr_group *rg);
void smcr_group_put(struct smcr_group *rg);
/* The link group, with a reference, or NULL if it has ended. Any context. */
struct smc_group *smcr_group_hold(struct smcr_group *rg);
/* Ports came or changed: a group may get another link. Any context. */
void smcr_group_ports_changed(void);
void smcr_group_kick(struct smcr_group *rg);	/* let the work look. Any context. */
void smcr_group_tell(struct smcr_link *link, bool up);	/* listeners. Process context. */

/* The peer's port does not answer: remember it. Process context, while the link group is there */
void smcr_group_blame_path(struct smcr_link *link);
/* No connection may join any more. Process context. */
void smcr_group_blame(struct smcr_group *rg, bool other);

struct smcr_link *smcr_group_find_link(struct smcr_group *rg, const struct smc_clc_rdma_end *end);

/* A usable link, or NULL. Any context. */
struct smcr_link *smcr_group_link(struct smcr_group *rg);
bool smcr_group_has_link(struct smcr_group *rg);
/* That of them with the fewest connections, or NULL. Any context. */
struct smcr_link *smcr_group_idlest_link(struct smcr_group *rg);
/* The link with that number which is not unused or down, or NULL. Any context. */
struct smcr_link *smcr_group_link_by_number(struct smcr_group *rg, u8 number);

void smcr_group_set_settled(struct smcr_group *rg, struct smcr_conn *rc);
void smcr_group_let_join(struct smcr_group *rg);

static inline unsigned int smcr_link_index(const struct smcr_link *link)
{
	return link - link->group->links;
}

/*
 * Reports of LLC. Any context that may not hold any lock of ours.
 *
 * smcr_group_settled(): all of first contact is done, or did not work out: enum
 *	smc_reason. Once for each smcr_llc_settle() that returned -EINPROGRESS.
 * smcr_rmb_announced(): CONFIRM RKEY of the RMB was answered, or will not be: 0 or a
 *	negative errno. Once for each smcr_llc_announce().
 */
void smcr_group_settled(struct smcr_group *rg, u32 reason);
void smcr_rmb_announced(struct smcr_group *rg, struct smcr_rmb *rmb, int err);

#endif /* _NET_SMC_RDMA_GROUP_H */
