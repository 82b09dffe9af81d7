/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA devices, the addresses (GIDs) of their ports, and the way to a peer.
 *
 * A device can go at any moment. It then takes all its links down and waits until
 * they have given back what they hold of it; what is left of the object afterwards
 * is only memory, kept by references.
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
 * struct smcr_gid_list - which entries of a port's table can be used; constant
 * @rcu: readers may still look at it
 * @nr: number of @index
 * @index: entries for RoCE
 */
struct smcr_gid_list {
	struct rcu_head rcu;
	unsigned int nr;
	u16 index[];
};

/**
 * struct smcr_port - a port
 * @max_mtu: the largest MTU that it can have, as a code; constant
 * @gids: its addresses; NULL when they must be looked for, which gid.c does
 */
struct smcr_port {
	enum ib_mtu max_mtu;
	struct smcr_gid_list __rcu *gids;
};

/**
 * struct smcr_device - an RDMA device
 * @ibdev: the device; valid while @links is not empty, and until removal
 * @ref: the list of devices, each struct smcr_gid, each group, each link
 * @rcu: monitoring may still look at its name
 * @list: in the list of devices
 * @serial: its number, greater than that of all before it
 * @name_lock: held while @name changes, and the list of devices is locked then; innermost
 * @name: for messages and monitoring; stays when the device is gone
 * @events: asynchronous events of the device
 * @changes: number of events that may have changed the addresses of a port
 * @ports: by port number
 * @lock: protects @gone and @links; taken with bottom halves off
 * @gone: the device is being removed: no further link
 * @links: links that hold resources of the device
 * @idle: woken when @links becomes empty
 */
struct smcr_device {
	struct ib_device *ibdev;
	struct kref ref;
	struct rcu_head rcu;
	struct list_head list;
	unsigned long serial;
	spinlock_t name_lock;	/* protects name */
	char name[IB_DEVICE_NAME_MAX];
	struct ib_event_handler events;
	atomic_t changes;
	struct smcr_port *ports;
	spinlock_t lock;	/* protects what says so above */
	bool gone;
	struct list_head links;
	wait_queue_head_t idle;
};

/**
 * struct smcr_gid - an address of a port: what struct smc_candidate.device is
 * @ref: candidates, and each link
 * @dev: its device; holds a reference
 * @net: namespace of the network device; valid as long as a handshake has the object, later
 *	only to be compared
 * @port: number of the port
 * @index: in the table of the port
 * @type: RoCE version
 * @gid: the address
 * @mac: MAC address of the port
 * @vlan: VLAN id of the network device that the address belongs to, or 0
 * @ifindex: that network device
 * @mtu: MTU for RDMA of that network device and the port, as a code
 *
 * All of it is constant: when something changes, there is another object.
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
 * A link is about to create, or has given back, all that it has of the device. The
 * link is in dev->links between the two (link->device_node). enter() returns false
 * when the device is being removed.
 */
bool smcr_device_enter(struct smcr_device *dev, struct smcr_link *link);
void smcr_device_leave(struct smcr_device *dev, struct smcr_link *link);

/* gid.c: as in struct smc_transport */
void smcr_gid_candidates(struct net *net, const struct sock *tcp, struct smc_candidates *out);
void smcr_gid_alternates(const struct smcr_gid *first, u8 variant, struct smc_candidates *out);
void smcr_gid_candidate_put(struct smc_candidate *candidate);
struct smcr_gid *smcr_gid_get(struct smcr_gid *gid);
void smcr_gid_put(struct smcr_gid *gid);
const struct ib_gid_attr *smcr_gid_entry(const struct smcr_gid *gid);
void smcr_gid_forget_lists(struct smcr_device *dev);

/*
 * route.c: the way from @gid to the port @peer with the MAC address @mac.
 *
 * smcr_route() fills in @attr for IB_QP_AV, with a reference to the GID that
 * rdma_destroy_ah_attr() drops; @direct tells whether the way stays within one
 * subnet, @mtu what packets the route is for. It does not wait: -EHOSTUNREACH when
 * there is no route or no resolved neighbour, -ENODEV when the GID is gone. The rest is
 * as in struct smc_transport.
 */
int smcr_route(struct net *net, const struct smcr_gid *gid, const struct smc_gid *peer,
	       const u8 *mac, struct rdma_ah_attr *attr, bool *direct, enum ib_mtu *mtu);
bool smcr_route_reaches(const struct smc_candidate *candidate, const struct smc_address *peer);
int smcr_route_resolve(struct smc_conn *conn, const struct in6_addr *remote,
		       const struct smc_candidate *candidate, const struct smc_address *peer);

#endif /* _NET_SMC_RDMA_DEVICE_H */
