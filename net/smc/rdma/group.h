/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SMC-R's part of a link group: links, memory, connections.
 *
 * It outlives its link group (struct smc_group): after the end of that, the group's work sends
 * DELETE LINK to the peer and frees links and memory, so that no caller waits.
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
 * @ref: held by the link group, each connection, and queued work
 * @growing: node in the list of groups that may get further links, until the link group ends
 * @role: role of this end; constant
 * @version: 1 or 2, of SMC-R and so of LLC messages; constant
 * @net: the namespace; only valid while @group is not NULL
 * @net_cookie: cookie of @net; always valid
 * @share: memory share that its buffers count against; constant. Buffers are allocated only
 *	while @net is valid
 * @lock: protects @group, @conns, @nr_conns, @nr_abandoned, @nr_abandoned_others,
 *	@settling, @settled; taken with bottom halves off
 * @group: the link group, NULL once that has ended
 * @conns: connections by alert token; read under RCU
 * @nr_conns: number of connections
 * @nr_abandoned: number of lost elements and refused RMBs
 * @nr_abandoned_others: number of lost elements of connections to other addresses than the group's
 * @element_use: bytes of an element that connections have used; written under @lock
 * @settling: the connection of the first contact, while its conn_settle is in progress
 * @settled: first contact has succeeded or, on a client, others may join already
 * @dev: device of the first link, for monitoring; holds a reference; constant
 * @max_conns: agreed maximum of connections; constant once settled
 * @max_links: agreed maximum of links; constant once settled
 * @wanted_links: maximum of links that the operator has set; constant
 * @gid: local port of the first link; the ports of others are in the same network. Holds a
 *	reference; constant
 * @eye_catcher: elements begin with an eye catcher, as the peer wants; constant once settled
 * @peer_id: instance of the peer's SMC-R stack
 * @links: its links
 * @llc: link layer control
 * @link_lock: held while the queue pair of a link changes its state or is destroyed; outside
 *	@memory_lock
 * @memory_lock: protects @rmbs and @rmb_bytes; process context
 * @rmbs: local RMBs
 * @rings_lock: protects @rings and @ring_bytes; process context; inside @memory_lock
 * @rings: send rings
 * @trim_work: frees rings
 * @rmb_bytes: memory of @rmbs in bytes; read without lock
 * @ring_bytes: memory of @rings in bytes; read without lock
 * @rtokens_lock: protects @rtokens; taken with bottom halves off
 * @rtokens: the peer's RMBs
 * @closing: the link group has ended
 * @closed: @work has processed the end of the link group
 * @work: ends the group, and clears links that went down
 */
struct smcr_group {
	struct kref ref;
	struct list_head growing;
	enum smc_role role;
	u8 version;
	struct net *net;
	u64 net_cookie;
	struct smc_share *share;
	spinlock_t lock;	/* see above */
	struct smc_group *group;
	DECLARE_HASHTABLE(conns, 6);
	unsigned int nr_conns;
	unsigned int nr_abandoned;
	unsigned int nr_abandoned_others;
	u32 element_use;
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
	struct mutex memory_lock;	/* protects rmbs */
	struct list_head rmbs;
	spinlock_t rings_lock;		/* protects rings */
	struct list_head rings;
	struct delayed_work trim_work;
	unsigned long rmb_bytes;
	unsigned long ring_bytes;
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
/* The link group, with a reference, or NULL if it has ended. Process context or softirq. */
struct smc_group *smcr_group_hold(struct smcr_group *rg);
/* Ports were added or have changed: groups may get another link. */
void smcr_group_ports_changed(void);
void smcr_group_kick(struct smcr_group *rg);	/* run the work. Any context. */
void smcr_group_tell(struct smcr_link *link, bool up);	/* send an event */

/* Record that the peer's port does not respond, before the link group ends. Process context. */
void smcr_group_blame_path(struct smcr_link *link);
/* Let no connection join any more. Process context. */
void smcr_group_blame(struct smcr_group *rg, bool other);

struct smcr_link *smcr_group_find_link(struct smcr_group *rg, const struct smc_clc_rdma_end *end);

/* A usable link, or NULL. Any context. */
struct smcr_link *smcr_group_link(struct smcr_group *rg);
bool smcr_group_has_link(struct smcr_group *rg);
/* The usable link with the fewest connections, or NULL. Any context. */
struct smcr_link *smcr_group_idlest_link(struct smcr_group *rg);
/* The forming or active link with this number, or NULL. Any context. */
struct smcr_link *smcr_group_link_by_number(struct smcr_group *rg, u8 number);

void smcr_group_set_settled(struct smcr_group *rg, struct smcr_conn *rc);
void smcr_group_let_join(struct smcr_group *rg);

static inline unsigned int smcr_link_index(const struct smcr_link *link)
{
	return link - link->group->links;
}

/*
 * Reports of LLC. Process context; the caller holds no lock.
 *
 * smcr_group_settled(): first contact has succeeded or failed: enum smc_reason. After
 *	smcr_llc_settle(); only the first call has an effect.
 * smcr_rmb_announced(): the announcement of an RMB has succeeded or failed: 0 or a negative errno.
 *	Once for each smcr_llc_announce().
 */
void smcr_group_settled(struct smcr_group *rg, u32 reason);
void smcr_rmb_announced(struct smcr_group *rg, struct smcr_rmb *rmb, int err);

#endif /* _NET_SMC_RDMA_GROUP_H */
