/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link groups: the resources that the connections between two peers share.
 *
 * A group belongs to one network namespace. The server decides by the first contact flag whether a
 * connection opens a group. The client finds its side of the same group by the server's link id.
 */
#ifndef _NET_SMC_GROUP_GROUP_H
#define _NET_SMC_GROUP_GROUP_H

#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/workqueue.h>

#include "transport.h"

struct smc_net;

/**
 * struct smc_group_key - which connections can share a group
 * @role: local role
 * @variant: enum smc_variant
 * @peer_id: id of the peer's stack (zero for a client of SMC-D)
 * @peer_link_id: the server's number of the group (client of SMC-D, otherwise zero)
 * @remote: the peer's address of the TCP connection, which the TCP handshake has verified; IPv4 as
 *	::ffff:a.b.c.d. A group of a client may have members with other addresses
 * @peer: address of the peer's device
 * @local: address of the local device (server), or only its VLAN (client)
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
 * @key: which connections may join; constant
 * @net: namespace; constant. Without a reference: the namespace ends the group and waits for that
 * @sn: its state; constant
 * @transport: constant
 * @device: private data of the transport, with a reference: struct smc_ism_device or
 *	struct smcr_group; constant
 * @id: number in the user ABI; constant
 * @local: address of the local device; constant
 * @first_contact: parameters agreed on at first contact, and the peer's description of itself;
 *	constant once published
 * @max_conns: limit of @conns; constant
 * @ref: held by the list or @end, each connection, queued @idle work, each reader of the table, and
 *	work of the transport
 * @list: node in smc_groups.list
 * @serial: position in that list; constant once listed
 * @node: node in smc_groups.by_key
 * @peer_class: the class that counts the group: from its admission until no connection can find it
 *	and none is in it; otherwise NULL
 * @class_node: node in smc_peer_class.forming or .idle
 * @forming: in smc_groups.by_key, but not in smc_groups.list: the handshake of the first connection
 *	is not complete
 * @former: the first connection, while @forming
 * @is_evicted: another first contact has taken its place; the handshake ends
 * @waiting: struct smc_group_entry of the connections that wait until it is formed
 * @discarded: the group is not listed again
 * @is_doubted: server: a client has declined this listed group as unknown
 * @no_others: only connections to @key.remote may join
 * @conns: number of connections
 * @rx_bytes: sum of the receive buffers of all connections
 * @reports: 1 after its first event, or after it was unlisted before that event; 2 after both
 * @idle: work that ends the group after a time without connections; may run before @idle_until
 * @idle_until: when that time ends, in jiffies; under smc_groups.lock
 * @keep_until: the time does not end before; under smc_groups.lock
 * @end: work that ends an unlisted group
 *
 * smc_groups.lock protects the fields from @list to @conns. smc_group_publish() reads @list and
 * @is_doubted without it.
 */
struct smc_group {
	struct smc_group_key key;
	struct net *net;
	struct smc_net *sn;
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
	unsigned long idle_until;
	unsigned long keep_until;
	struct work_struct end;
};

/**
 * struct smc_group_entry - a connection of a server that enters a group
 * @conn: the connection; its progress() asks for another call of smc_group_enter()
 * @key: key of the group
 * @transport: transport of a new group
 * @candidate: local device of a new group
 * @first_contact: parameters of a new group, which are valid as long as smc_group_enter() returns
 *	-EINPROGRESS
 * @until: deadline of the wait in jiffies
 * @waits: @until is set
 * @list: node in smc_group.waiting; smc_groups.lock
 */
struct smc_group_entry {
	struct smc_conn *conn;
	struct smc_group_key key;
	const struct smc_transport *transport;
	const struct smc_candidate *candidate;
	const struct smc_clc_first_contact *first_contact;
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
void smc_group_leave(struct smc_group *group, unsigned long keep);
void smc_group_discard(struct smc_group *group);
void smc_group_blame(struct smc_group *group, bool other);
void smc_group_doubt(struct smc_group *group);
void smc_group_flush(const struct smc_transport *transport);

/* Walk of all groups of a namespace, for monitoring */
struct smc_group *smc_group_first(struct net *net);
struct smc_group *smc_group_after(struct net *net, u64 serial);
struct smc_group *smc_group_next(struct net *net, struct smc_group *prev);
void smc_group_put(struct smc_group *group);

/* Copy the name of the group's device to @name, of SMC_DEVICE_NAME_LEN bytes. Any context. */
static inline void smc_group_device_name(const struct smc_group *group, char *name)
{
	group->transport->group_device_name(group, name);
}

int smc_group_init(void);
void smc_group_exit(void);

#endif /* _NET_SMC_GROUP_GROUP_H */
