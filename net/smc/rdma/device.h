/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA devices, the addresses (GIDs) of their ports, and the route to a peer.
 *
 * A device can be removed at any time. The removal takes down all links on the device, and waits
 * until they have freed their resources of it. Afterwards references keep only the memory of
 * struct smcr_device.
 */
#ifndef _NET_SMC_RDMA_DEVICE_H
#define _NET_SMC_RDMA_DEVICE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "../group/transport.h"

struct smcr_link;

/**
 * struct smcr_gid_list - the entries for RoCE in a port's GID table; constant
 * @rcu: frees it when its readers have ended
 * @nr: number of entries
 * @index: their indexes in the table
 */
struct smcr_gid_list {
	struct rcu_head rcu;
	unsigned int nr;
	u16 index[];
};

/**
 * struct smcr_port - a port
 * @max_mtu: the largest MTU that it supports, as a code; constant
 * @gids: its addresses; NULL if gid.c has to list them
 */
struct smcr_port {
	enum ib_mtu max_mtu;
	struct smcr_gid_list __rcu *gids;
};

/**
 * struct smcr_device - an RDMA device
 * @ibdev: the device; valid until the removal, which waits for @links, has ended
 * @ref: held until the removal, and by each struct smcr_gid, each group and each link
 * @rcu: frees it when monitoring has read its name
 * @list: node in the list of devices
 * @serial: number, greater than those of all devices added before
 * @visitors: tasks in smcr_device_for_each(); protected by the lock of that list
 * @name_lock: protects @name. No lock is taken inside
 * @name: for messages and monitoring; stays when the device is removed
 * @events: handler of asynchronous events
 * @changes: number of events that may have changed the addresses of a port
 * @ports: by port number
 * @lock: protects @gone and @links; taken with bottom halves off
 * @gone: the device is being removed: no further link may enter
 * @links: links that may have resources of the device
 * @idle: woken when @links becomes empty, or @visitors 0
 */
struct smcr_device {
	struct ib_device *ibdev;
	struct kref ref;
	struct rcu_head rcu;
	struct list_head list;
	unsigned long serial;
	unsigned int visitors;
	spinlock_t name_lock;	/* protects name */
	char name[IB_DEVICE_NAME_MAX];
	struct ib_event_handler events;
	atomic_t changes;
	struct smcr_port *ports;
	spinlock_t lock;	/* protects gone and links */
	bool gone;
	struct list_head links;
	wait_queue_head_t idle;
};

/**
 * struct smcr_gid - an address of a port; struct smc_candidate.device points to one
 * @ref: held by each candidate, each link and each group
 * @dev: its device; holds a reference
 * @net: namespace of the network device, without a reference; valid while a handshake or a
 *	struct smc_group has the address, later only for comparison
 * @port: number of the port
 * @index: index in the port's GID table
 * @type: RoCE version
 * @gid: the address
 * @mac: MAC address of the port
 * @vlan: VLAN id of the network device that the address belongs to, or 0
 * @ifindex: that network device
 * @mtu: RDMA MTU that this network device and the port allow, as a code
 *
 * All fields but @ref are constant: after a change, handshakes get another object.
 */
struct smcr_gid {
	struct kref ref;
	struct smcr_device *dev;
	struct net *net;
	u8 port;
	int index;
	enum ib_gid_type type;
	union ib_gid gid;
	u8 mac[ETH_ALEN];
	u16 vlan;
	int ifindex;
	enum ib_mtu mtu;
};

/* device.c */
int smcr_device_init(void);
void smcr_device_exit(void);
struct smcr_device *smcr_device_get(struct smcr_device *dev);
void smcr_device_put(struct smcr_device *dev);
void smcr_device_name(struct smcr_device *dev, char *name);
void smcr_device_for_each(bool (*look)(struct smcr_device *dev, void *context), void *context);

/*
 * Between the two calls the link may have resources of the device: it is in dev->links, and the
 * removal of the device waits for it.
 */
bool smcr_device_enter(struct smcr_device *dev, struct smcr_link *link);
void smcr_device_leave(struct smcr_device *dev, struct smcr_link *link);

/* gid.c; candidates and candidate_put are operations of struct smc_transport */
void smcr_gid_candidates(struct net *net, const struct sock *tcp, struct smc_candidates *out);
void smcr_gid_alternates(const struct smcr_gid *first, u8 variant, struct smc_candidates *out);
void smcr_gid_candidate_put(struct smc_candidate *candidate);
struct smcr_gid *smcr_gid_get(struct smcr_gid *gid);
void smcr_gid_put(struct smcr_gid *gid);
const struct ib_gid_attr *smcr_gid_entry(const struct smcr_gid *gid);
void smcr_gid_forget_lists(struct smcr_device *dev);

/*
 * route.c: the route from a local port to the peer's. smcr_route() gives @attr a reference to the
 * entry of the GID, which rdma_destroy_ah_attr() drops. The other two are operations of struct
 * smc_transport.
 */
int smcr_route(struct net *net, const struct smcr_gid *gid, const struct smc_gid *peer,
	       const u8 *mac, struct rdma_ah_attr *attr, bool *direct, enum ib_mtu *mtu);
bool smcr_route_reaches(const struct smc_candidate *candidate, const struct smc_address *peer);
int smcr_route_resolve(struct smc_conn *conn, const struct in6_addr *remote,
		       const struct smc_candidate *candidate, const struct smc_address *peer);

#endif /* _NET_SMC_RDMA_DEVICE_H */
