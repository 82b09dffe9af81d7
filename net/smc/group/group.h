/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link groups: what the connections between two peers share.
 *
 * A group belongs to the network namespace in which it is used. The server
 * decides with the first contact flag whether a connection opens a group; the
 * client finds its view of the same group by the server's link id.
 */
#ifndef _NET_SMC_GROUP_GROUP_H
#define _NET_SMC_GROUP_GROUP_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/workqueue.h>

#include "transport.h"

/**
 * struct smc_group_key - which connections can share a group
 * @role: this side's role
 * @variant: enum smc_variant
 * @peer_id: the peer's stack (zero for a client of SMC-D)
 * @peer_link_id: the server's number of the group (client side of SMC-D, else zero)
 * @peer: address of the peer's device
 * @local: address of our device (server side), or just its VLAN (client side)
 * @eid: negotiated EID
 */
struct smc_group_key {
	enum smc_role role;
	u8 variant;
	struct smc_peer_id peer_id;
	u32 peer_link_id;
	struct smc_address peer;
	struct smc_address local;
	struct smc_eid eid;
};

/**
 * struct smc_group - a link group
 * @key: who may join; constant
 * @net: namespace; constant. Holds no reference: the namespace's end ends the group
 * @transport: constant
 * @device: the transport's device, which it holds a reference to; constant
 * @id: number in the user ABI; constant
 * @local: address of the local device; constant
 * @first_contact: what was agreed at first contact, and what the peer said of itself;
 *	constant once published
 * @max_conns: how many connections it can have; constant
 * @ref: one for the list or @end, one for each connection, one for @idle while queued
 * @list: in smc_net.groups; protected by smc_net.groups_lock
 * @discarded: never to be listed again; protected by smc_net.groups_lock
 * @conns: connections; protected by smc_net.groups_lock
 * @rx_bytes: size of the receive buffers of all connections
 * @idle: ends the group after a time without connections
 * @end: ends a group that was discarded
 */
struct smc_group {
	struct smc_group_key key;
	struct net *net;
	const struct smc_transport *transport;
	void *device;
	u32 id;
	struct smc_address local;
	struct smc_clc_first_contact first_contact;
	unsigned int max_conns;
	struct kref ref;
	struct list_head list;
	bool discarded;
	unsigned int conns;
	atomic_long_t rx_bytes;
	struct delayed_work idle;
	struct work_struct end;
};

struct smc_group *smc_group_find(struct net *net, const struct smc_group_key *key,
				 const struct smc_clc_accept *accept);
struct smc_group *smc_group_create(struct net *net, const struct smc_group_key *key,
				   const struct smc_transport *transport,
				   const struct smc_candidate *candidate,
				   const struct smc_clc_first_contact *first_contact);
void smc_group_publish(struct smc_group *group);
void smc_group_leave(struct smc_group *group);
void smc_group_discard(struct smc_group *group);
void smc_group_flush(const struct smc_transport *transport);

/* For monitoring: all groups of a namespace, each with a reference */
struct smc_group *smc_group_first(struct net *net);
struct smc_group *smc_group_after(struct net *net, u32 id);
struct smc_group *smc_group_next(struct net *net, struct smc_group *prev);
void smc_group_put(struct smc_group *group);

/**
 * smc_group_device_name() - the name of a group's device, for monitoring
 * @group: the group
 *
 * Any context.
 */
static inline const char *smc_group_device_name(const struct smc_group *group)
{
	return group->transport->group_device_name(group);
}

int smc_group_init(void);
void smc_group_exit(void);

#endif /* _NET_SMC_GROUP_GROUP_H */
