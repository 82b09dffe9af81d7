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

#include <linux/in6.h>
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
 * @remote: the peer's address of the TCP connection, which it has proved to have; IPv4 as
 *	::ffff:a.b.c.d. A group of a client may have members with other ones
 * @peer: address of the peer's device
 * @local: address of our device (server side), or just its VLAN (client side)
 * @eid: negotiated EID
 */
struct smc_group_key {
	enum smc_role role;
	u8 variant;
	struct smc_peer_id peer_id;
	u32 peer_link_id;
	struct in6_addr remote;
	struct smc_address peer;
	struct smc_address local;
	struct smc_eid eid;
};

/**
 * struct smc_group - a link group
 * @key: who may join; constant
 * @net: namespace; constant. Holds no reference: the namespace ends the group, and waits for that
 * @transport: constant
 * @device: the transport's own, with a reference: struct smc_ism_device or struct smcr_group;
 *	constant
 * @id: number in the user ABI; constant
 * @local: address of the local device; constant
 * @first_contact: what was agreed at first contact, and what the peer said of itself;
 *	constant once published
 * @max_conns: how many connections it can have; constant
 * @ref: one for the list or @end, each connection, @idle while queued, each reader of the
 *	table, and work of the transport
 * @list: in smc_groups.list
 * @serial: position there; constant once listed
 * @node: in smc_groups.by_key
 * @peer_class: the class in which it counts until no connection can find it, and none is in it;
 *	NULL before it is admitted
 * @class_node: in smc_peer_class.forming or .idle
 * @forming: in smc_groups.by_key, but not in smc_groups.list: its first connection is in the
 *	handshake
 * @former: the connection of that handshake, while @forming
 * @is_evicted: another first contact has its place; the handshake ends
 * @waiting: struct smc_group_entry of connections that wait until it is formed
 * @discarded: never to be listed again
 * @is_doubted: server: a client said that it does not know this listed group
 * @no_others: only connections to @key.remote may join
 * @conns: connections
 * @rx_bytes: size of the receive buffers of all connections
 * @reports: 1 when its first event is sent, or when it was unlisted before that; 2 after both
 * @idle: ends the group after a time without connections
 * @end: ends a group that was discarded
 *
 * The fields from @list to @conns are protected by smc_groups.lock.
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
	u64 serial;
	struct hlist_node node;
	struct smc_peer_class *peer_class;
	struct list_head class_node;
	bool forming;
	struct smc_conn *former;
	bool is_evicted;
	struct list_head waiting;
	bool discarded;
	bool is_doubted;
	bool no_others;
	unsigned int conns;
	atomic_long_t rx_bytes;
	atomic_t reports;
	struct delayed_work idle;
	struct work_struct end;
};

/**
 * struct smc_group_entry - a server's connection on its way into a group
 * @conn: the connection; its progress() is called when smc_group_enter() is to be called again
 * @key: which group
 * @transport: for a new group: its transport
 * @candidate: for a new group: our device
 * @first_contact: for a new group: what was agreed
 * @until: jiffies when it has waited enough
 * @waits: @until is set
 * @list: in smc_group.waiting; protected by smc_groups.lock
 */
struct smc_group_entry {
	struct smc_conn *conn;
	struct smc_group_key key;
	const struct smc_transport *transport;
	const struct smc_candidate *candidate;
	struct smc_clc_first_contact first_contact;
	unsigned long until;
	bool waits;
	struct list_head list;
};

struct smc_group *smc_group_enter(struct net *net, struct smc_group_entry *entry, bool *first);
void smc_group_stop_waiting(struct net *net, struct smc_group_entry *entry);

bool smc_group_exists(struct net *net, const struct smc_group_key *key);
struct smc_group *smc_group_find(struct net *net, const struct smc_group_key *key,
				 const struct smc_clc_accept *accept);
struct smc_group *smc_group_create(struct net *net, const struct smc_group_key *key,
				   const struct smc_transport *transport,
				   const struct smc_candidate *candidate,
				   const struct smc_clc_first_contact *first_contact);
void smc_group_publish(struct smc_group *group);
void smc_group_leave(struct smc_group *group);
void smc_group_discard(struct smc_group *group);
void smc_group_blame(struct smc_group *group, bool other);
void smc_group_doubt(struct smc_group *group);
void smc_group_flush(const struct smc_transport *transport);

/* For monitoring: all groups of a namespace, each with a reference */
struct smc_group *smc_group_first(struct net *net);
struct smc_group *smc_group_after(struct net *net, u64 serial);
struct smc_group *smc_group_next(struct net *net, struct smc_group *prev);
void smc_group_put(struct smc_group *group);

/**
 * smc_group_device_name() - the name of a group's device, for monitoring
 * @group: the group
 * @name: result, SMC_DEVICE_NAME_LEN
 *
 * Any context.
 */
static inline void smc_group_device_name(const struct smc_group *group, char *name)
{
	group->transport->group_device_name(group, name);
}

int smc_group_init(void);
void smc_group_exit(void);

#endif /* _NET_SMC_GROUP_GROUP_H */
