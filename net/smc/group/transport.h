/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between connections and the ways their bytes can travel.
 *
 * A transport offers devices for a handshake, opens link groups, gives each
 * connection a receive buffer element, connects it with the peer's element, and
 * carries control data. It reports upward through the functions at the end of this file; by
 * smc_event_link() when a link comes or goes; by smc_path_failed() and smc_group_blame() when a
 * path or a group is of no use for further connections. What moves data and ends connections does
 * not ask which transport it is on; the handshake, the limits of link groups and monitoring do.
 *
 *	handshake	candidates, candidate_put, reaches, resolve, resolve_end
 *	link group	group_open, group_named, group_close
 *	connection	conn_open, conn_describe, conn_attach, conn_detach, conn_settle, conn_close
 *	data		cdc_post, cdc_fetch, cdc_kick
 *	monitoring	group_device_name, group_link, group_memory, device_info, conn_ends
 *
 * No operation waits for the peer, or for the network. Where an answer is needed, it returns
 * -EINPROGRESS, and smc_conn_ready() reports the answer.
 */
#ifndef _NET_SMC_GROUP_TRANSPORT_H
#define _NET_SMC_GROUP_TRANSPORT_H

#include "../types.h"
#include "../wire/cdc.h"
#include "../wire/clc.h"

struct in6_addr;
struct module;
struct net;
struct smc_conn;
struct smc_group;
struct sock;

/**
 * struct smc_address - address of a device, and all zero what its kind has not
 * @ism: SMC-D
 * @gid: SMC-R: GID of a port
 * @mac: SMC-R: MAC address of that port
 * @vlan: SMC-R: VLAN id of a port of ours
 */
struct smc_address {
	struct smc_ism_gid ism;
	struct smc_gid gid;
	u8 mac[6];
	u16 vlan;
};

/**
 * struct smc_candidate - a device that could carry a connection
 * @variants: set of enum smc_variant that it can serve
 * @address: its address. A port with GIDs for both versions of SMC-R is two candidates
 * @device: the transport's own; holds a reference until smc_candidates_put()
 */
struct smc_candidate {
	u8 variants;
	struct smc_address address;
	void *device;
};

/**
 * struct smc_candidates - what a transport has for one TCP connection
 * @nr: number of candidates
 * @list: candidates, in order of preference
 */
struct smc_candidates {
	u8 nr;
	struct smc_candidate list[SMC_MAX_ISM_ENTRIES / 2];
};

#define SMC_DEVICE_NAME_LEN	64
#define SMC_DEVICE_PORTS	2

/* State of a link as numbered in the user ABI */
enum smc_link_info_state {
	SMC_LINK_INFO_UNUSED,
	SMC_LINK_INFO_INACTIVE,
	SMC_LINK_INFO_ACTIVATING,
	SMC_LINK_INFO_ACTIVE,
};

/**
 * struct smc_link_info - a link, for monitoring
 * @number: within its group, 0 if not known yet
 * @state: how far it is
 * @device: name of our device
 * @port: number of its port
 * @ifindex: network device of the port
 * @direct: it stays within one subnet
 * @gid: our address
 * @peer_gid: the peer's
 * @user_id: our name for it
 * @peer_user_id: the peer's
 * @conns: connections on it
 */
struct smc_link_info {
	u8 number;
	enum smc_link_info_state state;
	char device[SMC_DEVICE_NAME_LEN];
	u8 port;
	int ifindex;
	bool direct;
	struct smc_gid gid;
	struct smc_gid peer_gid;
	u32 user_id;
	u32 peer_user_id;
	unsigned int conns;
};

/**
 * struct smc_port_info - a port, for monitoring
 * @valid: there is such a port
 * @active: it can be used
 * @ifindex: its network device, or 0 if that is in another namespace
 * @links: links on it, of this namespace; for the first namespace those of all
 */
struct smc_port_info {
	bool valid;
	bool active;
	int ifindex;
	unsigned int links;
};

/**
 * struct smc_device_info - an RDMA device, for monitoring
 * @serial: number of the device, greater than that of those which came before
 * @name: its name
 * @ports: ports 1 and 2
 */
struct smc_device_info {
	unsigned long serial;
	char name[SMC_DEVICE_NAME_LEN];
	struct smc_port_info ports[SMC_DEVICE_PORTS];
};

/**
 * struct smc_group_memory - memory of a link group, for monitoring
 * @rx_bytes: receive buffers, those kept for reuse included
 * @tx_bytes: send buffers, those kept for reuse included
 */
struct smc_group_memory {
	unsigned long rx_bytes;
	unsigned long tx_bytes;
};

/**
 * struct smc_conn_ends - what the two ends of a connection are called, for monitoring
 * @dmb_token: our DMB (SMC-D)
 * @peer_dmb_token: the peer's (SMC-D)
 * @link: where our data goes (SMC-R)
 * @send_buffer: bytes of the ring that data is sent from; 0 if it is written straight to
 *	the peer
 */
struct smc_conn_ends {
	u64 dmb_token;
	u64 peer_dmb_token;
	struct smc_link_info link;
	u32 send_buffer;
};

/**
 * struct smc_transport - a way for the bytes of a connection
 * @name: for messages
 * @owner: its module. Handshakes and connections hold it, groups without
 *	connections do not
 * @mode: what it is in the user ABI
 * @synchronous: the peer has taken note of control data when cdc_kick returns, so
 *	later control data cannot hide it
 * @sparing: control data costs as much as moving many KiB, so less of it is sent
 *
 * @candidates: List the devices that could carry the connection whose TCP leg
 *	is @tcp, at most as many as fit, with a reference each. May sleep.
 * @candidate_put: Drop the reference to a candidate's device.
 * @reaches: Does the device reach this peer? For emulated devices an equal CHID
 *	does not prove it (S-22); for SMC-R version 2 there must be a route. Nothing is
 *	sent to find out. May sleep.
 * @resolve: Before first contact, and only for the device chosen: find out what else
 *	group_open and conn_attach must know of the way to this peer. @remote is its address
 *	of the TCP connection, as in struct smc_group_key; the connection is not open. May
 *	sleep. Returns 0, -EINPROGRESS while the network is asked, or another negative
 *	errno, -EAGAIN when a limit was hit. NULL if all is known.
 * @resolve_end: The handshake has ended in the midst of that. Afterwards there is no
 *	upcall. Does not sleep.
 *
 * @group_open: A link group was created; @candidate is the device chosen for
 *	it. Key, addresses and first_contact are set. Take what the group needs: SMC-R
 *	creates its first link here. May sleep. Returns 0 or a negative errno.
 * @group_named: Client: is this the group that an Accept without first contact
 *	means, and is the link that it names fit for use? Its key is equal, but for
 *	the peer's address. smc_groups.lock is held; does not sleep. NULL if the key says
 *	it all.
 * @group_close: The group has no connections any more, and never will.
 * @group_device_name: For monitoring: the name that the group's device has now, or had last.
 *	SMC_DEVICE_NAME_LEN. Any context.
 * @group_link: For monitoring: link number @index, from 0, of those that there are;
 *	false if there are not so many. Any context. NULL if there are no links.
 * @group_memory: For monitoring: what the group has. Any context. NULL if it has nothing
 *	but the receive buffers of its connections.
 * @device_info: For monitoring, in the namespace @net: the first device that came after
 *	the one with the number @serial; false if there is none. May sleep. NULL if there
 *	is a better way.
 *
 * @conn_open: Give the connection a receive element of at most conn->rx.wanted
 *	bytes; set rx.base, rx.ring and rx.buffer_bytes. From then on nothing but
 *	the peer, once it knows the element, writes to it. On a server all that may be left
 *	to @conn_attach, if only a peer that has attached the element can be trusted. May
 *	sleep. Returns 0, or
 *	-EINPROGRESS while the peer must learn of new memory first, or another
 *	negative errno, -ENOBUFS when a limit was hit.
 * @conn_describe: Fill in the sender's end of an Accept or Confirm; at first
 *	contact of SMC-R version 2 also whether the link is direct, and in the Confirm
 *	the list of GIDs. All else is there already.
 * @conn_attach: The peer's end is known: make its element writable; set tx.ring,
 *	and tx.base if it can be written to by copying. The peer's values are not
 *	to be trusted. May sleep. Returns 0, -ECONNRESET if the peer has given it up
 *	already, or another negative errno.
 * @conn_settle: The last CLC message is exchanged: the client sent its Confirm, the
 *	server received it. Make sure that the link works; on first contact of
 *	SMC-R that is CONFIRM LINK. May sleep. Returns 0, -EINPROGRESS or
 *	another negative errno. NULL if there is nothing to do.
 * @conn_ends: For monitoring: what was described and attached. conn->lock is held;
 *	does not sleep.
 * @conn_detach: The peer is gone, and nothing will be written to its element any more: release
 *	it. The socket lock is held; conn_close does not run meanwhile, kicks may.
 *	Does not sleep. NULL if the peer's element is not held.
 * @conn_close: Give everything back. Called once after conn_open, whatever
 *	happened since. Afterwards there are no upcalls. May sleep.
 *
 * @cdc_post: Pass control data to the peer, behind all data that was written
 *	before. conn->lock is held; does not sleep and makes no upcall.
 * @cdc_fetch: Take the control data that the peer has posted, for transports that
 *	only pass a signal of it. conn->lock is held; does not sleep. Returns
 *	false if there is none.
 * @cdc_kick: Make the peer look at what was posted, as far as posting does not
 *	do that. No lock is held; does not sleep; upcalls for other connections, and
 *	through them for this one, may come from inside. May come within a grace
 *	period after conn_close, and does nothing then.
 */
struct smc_transport {
	const char *name;
	struct module *owner;
	enum smc_mode mode;
	bool synchronous;
	bool sparing;

	void (*candidates)(struct net *net, const struct sock *tcp, struct smc_candidates *out);
	void (*candidate_put)(struct smc_candidate *candidate);
	bool (*reaches)(const struct smc_candidate *candidate, const struct smc_address *peer);
	int (*resolve)(struct smc_conn *conn, const struct in6_addr *remote,
		       const struct smc_candidate *candidate, const struct smc_address *peer);
	void (*resolve_end)(struct smc_conn *conn);

	int (*group_open)(struct smc_group *group, const struct smc_candidate *candidate);
	bool (*group_named)(const struct smc_group *group, const struct smc_clc_accept *accept);
	void (*group_close)(struct smc_group *group);
	void (*group_device_name)(const struct smc_group *group, char *name);
	bool (*group_link)(const struct smc_group *group, unsigned int index,
			   struct smc_link_info *out);
	void (*group_memory)(const struct smc_group *group, struct smc_group_memory *out);
	bool (*device_info)(const struct net *net, unsigned long serial,
			    struct smc_device_info *out);

	int (*conn_open)(struct smc_conn *conn);
	void (*conn_describe)(const struct smc_conn *conn, struct smc_clc_accept *out);
	int (*conn_attach)(struct smc_conn *conn, const struct smc_clc_accept *peer);
	int (*conn_settle)(struct smc_conn *conn);
	void (*conn_ends)(const struct smc_conn *conn, struct smc_conn_ends *out);
	void (*conn_detach)(struct smc_conn *conn);
	void (*conn_close)(struct smc_conn *conn);

	void (*cdc_post)(struct smc_conn *conn, const struct smc_cdc *cdc);
	bool (*cdc_fetch)(struct smc_conn *conn, struct smc_cdc *cdc);
	void (*cdc_kick)(struct smc_conn *conn);
};

int smc_transport_register(const struct smc_transport *transport);
void smc_transport_unregister(const struct smc_transport *transport);
const struct smc_transport *smc_transport_get(enum smc_mode mode);
void smc_transport_put(const struct smc_transport *transport);

void smc_candidates_put(const struct smc_transport *transport, struct smc_candidates *candidates);

/* Upcalls. They are implemented in conn/. */

/**
 * smc_conn_ready() - what an operation returned -EINPROGRESS for is known
 * @conn: the connection, in its handshake; it exists as long as the caller is in this
 *	function
 * @reason: SMC_REASON_NONE, or enum smc_reason why it did not work out
 *
 * Once for each -EINPROGRESS, unless conn_close or resolve_end comes first; it may come before the
 * operation has returned. Does not sleep; process context or softirq.
 */
void smc_conn_ready(struct smc_conn *conn, u32 reason);

/**
 * smc_conn_cdc_received() - control data came in for a connection
 * @conn: the connection; it exists as long as the caller is in this function
 * @cdc: what the peer says; nothing in it is trusted
 *
 * For transports whose control data is numbered: a number that is not later than the last one makes
 * it obsolete (R-CDC-03), a failover message has that of the last one which must have arrived.
 * Does not sleep; process context or softirq; no locks held. May post and kick
 * control data for @conn in turn.
 */
void smc_conn_cdc_received(struct smc_conn *conn, const struct smc_cdc *cdc);

/**
 * smc_conn_signalled() - the peer has posted control data: fetch and apply it
 * @conn: the connection; it exists as long as the caller is in this function
 *
 * As smc_conn_cdc_received(). May come on several CPUs at once.
 */
void smc_conn_signalled(struct smc_conn *conn);

/**
 * smc_conn_lost() - the peer or the way to it is gone
 * @conn: the connection; it exists as long as the caller is in this function
 *
 * The application gets ECONNRESET; in the handshake, that fails. Does not sleep;
 * process context or softirq.
 */
void smc_conn_lost(struct smc_conn *conn);

/**
 * smc_conn_forgotten() - the peer is done with the connection; it may not have said so yet
 * @conn: the connection; it exists as long as the caller is in this function
 *
 * If this side has closed it, the peer's last control data may be on its way, behind the messages
 * of another connection. Else the connection is lost. Does not sleep; process context or softirq.
 */
void smc_conn_forgotten(struct smc_conn *conn);

/**
 * smc_conn_peer_gone() - the peer's end of the connection does not exist any more
 * @conn: the connection; it exists as long as the caller is in this function
 *
 * If the peer has not said so in its last control data, which is looked at, it has aborted. A
 * connection that is not started yet learns of it when it starts. Afterwards the socket's work
 * calls conn_detach. Does not sleep; process context or softirq; no locks held.
 */
void smc_conn_peer_gone(struct smc_conn *conn);

#endif /* _NET_SMC_GROUP_TRANSPORT_H */
