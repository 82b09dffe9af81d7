/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between connections and transports.
 *
 * A transport lists devices for a handshake, opens link groups, gives each connection a receive
 * buffer element, attaches the peer's element, and carries control data. It reports events by the
 * upcalls at the end of this file, a new or lost link by smc_event_link(), and a path or group that
 * further connections must not use by smc_path_failed(), smc_group_blame() and smc_group_discard().
 * Data transfer and close do not test the mode; they test @synchronous and @sparing. The handshake,
 * the limits of link groups and monitoring test the mode.
 *
 *	handshake	candidates, candidate_put, reaches, resolve, resolve_end
 *	link group	group_open, group_named, group_close
 *	connection	conn_open, conn_describe, conn_attach, conn_is_attached, conn_detach,
 *			conn_settle, conn_close
 *	data		cdc_post, cdc_fetch, cdc_kick
 *	monitoring	group_device_name, group_link, group_memory, device_info, conn_ends
 *
 * No operation waits for the peer or for the network. An operation that needs an answer returns
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
 * struct smc_address - address of a device, of one mode: that of the candidate or the group
 * @ism: SMC-D
 * @gid: SMC-R: GID of a port
 * @mac: SMC-R: MAC address of the port
 * @vlan: SMC-R: VLAN id of a local port
 */
struct smc_address {
	union {
		struct smc_ism_gid ism;
		struct {
			struct smc_gid gid;
			u8 mac[6];
			u16 vlan;
		};
	};
};

/**
 * struct smc_candidate - a device that can carry a connection
 * @variants: set of enum smc_variant that it supports
 * @address: its address. A port with GIDs for both versions of SMC-R is two candidates
 * @device: private data of the transport; holds a reference until smc_candidates_put()
 */
struct smc_candidate {
	u8 variants;
	struct smc_address address;
	void *device;
};

/**
 * struct smc_candidates - the candidates of a transport for one TCP connection
 * @nr: number of candidates
 * @list: the candidates, in order of preference
 */
struct smc_candidates {
	u8 nr;
	struct smc_candidate list[SMC_MAX_ISM_ENTRIES / 2];
};

#define SMC_DEVICE_NAME_LEN	64
#define SMC_DEVICE_PORTS	2

/* State of a link, as numbered in the user ABI */
enum smc_link_info_state {
	SMC_LINK_INFO_UNUSED,
	SMC_LINK_INFO_INACTIVE,
	SMC_LINK_INFO_ACTIVATING,
	SMC_LINK_INFO_ACTIVE,
};

/**
 * struct smc_link_info - a link, for monitoring
 * @number: number within its group, 0 if not known yet
 * @state: state
 * @device: name of the local device
 * @port: number of its port
 * @ifindex: network device of the port
 * @direct: both ends are in one subnet
 * @gid: local GID
 * @peer_gid: the peer's GID
 * @user_id: local id of the link
 * @peer_user_id: the peer's id of the link
 * @conns: number of connections on it
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
 * @valid: the port exists
 * @active: it can be used
 * @ifindex: its network device, 0 if that is in another namespace
 * @links: links of this namespace on it; for the first namespace those of all namespaces
 */
struct smc_port_info {
	bool valid;
	bool active;
	int ifindex;
	unsigned int links;
};

/**
 * struct smc_device_info - an RDMA device, for monitoring
 * @serial: number of the device, greater than those of devices that were added before
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
 * @rx_bytes: receive buffers, including those kept for reuse
 * @tx_bytes: send buffers, including those kept for reuse
 */
struct smc_group_memory {
	unsigned long rx_bytes;
	unsigned long tx_bytes;
};

/**
 * struct smc_conn_ends - the ends of a connection, for monitoring
 * @dmb_token: local DMB (SMC-D)
 * @peer_dmb_token: the peer's DMB (SMC-D)
 * @link: link on which data is sent (SMC-R)
 * @send_buffer: bytes of the send buffer; 0 if data is written directly to the peer's ring
 * @tx_announced: the producer cursor that the peer was sent last
 * @tx_sent: everything before this position of the send buffer was passed to the device
 * @tx_done: everything before this position is in the peer's ring, as far as this end knows
 */
struct smc_conn_ends {
	u64 dmb_token;
	u64 peer_dmb_token;
	struct smc_link_info link;
	u32 send_buffer;
	struct smc_cursor tx_announced;
	struct smc_cursor tx_sent;
	struct smc_cursor tx_done;
};

/**
 * struct smc_ring_memory - memory for a ring
 * @priv: for the transport; NULL without memory
 * @base: address of offset 0
 * @ring: its bounds
 * @bytes: size of the buffer element
 * @written: end of the part of the ring that was ever written; offset in the ring
 */
struct smc_ring_memory {
	void *priv;
	u8 *base;
	struct smc_ring ring;
	u32 bytes;
	u32 written;
};

/**
 * struct smc_tx_progress - how far sent data has come
 * @unsent: bytes that were not passed to the device
 * @unconfirmed: bytes that the peer's adapter has not confirmed, @unsent included
 */
struct smc_tx_progress {
	u32 unsent;
	u32 unconfirmed;
};

/**
 * struct smc_transport - a transport for the data of connections
 * @name: name for messages
 * @owner: its module. Handshakes and connections hold a reference, groups without connections do
 *	not
 * @mode: number in the user ABI
 * @synchronous: the peer has processed control data when cdc_kick returns, so later control data
 *	cannot overwrite it
 * @sparing: control data costs as much as moving many KiB, so less of it is sent
 * @buffered: the program's data goes to a send buffer of this end, and from there to the peer's
 *	ring, see conn/window.c
 *
 * @candidates: List the devices that can carry the connection whose TCP socket is @tcp, at most as
 *	many as fit, each with a reference. May sleep.
 * @candidate_put: Drop the reference to the device of a candidate.
 * @reaches: Can the device reach this peer? An equal CHID of emulated devices does not prove that
 *	(S-22); SMC-R version 2 needs a route. Sends nothing. May sleep.
 * @resolve: Before first contact, for the selected device only: resolve the path to this peer, as
 *	group_open and conn_attach need it. @remote is the peer's address of the TCP connection, as
 *	in struct smc_group_key; the connection is not open. May sleep. Returns 0, -EINPROGRESS
 *	while the network is queried, or another negative errno, -EAGAIN at a limit. NULL if there
 *	is nothing to resolve.
 * @resolve_end: The handshake ends while resolve is in progress. No upcall follows. Does not sleep.
 *
 * @group_open: Allocate the resources of a new link group; SMC-R creates its first link.
 *	@candidate is the selected device. Key, addresses and first_contact of the group are set.
 *	May sleep. Returns 0 or a negative errno.
 * @group_named: Client: does an Accept without first contact name this group, and is the named link
 *	usable? The keys are equal except for the peer's address. smc_groups.lock is held; does not
 *	sleep. NULL if the key is sufficient.
 * @group_close: Free the resources. The group has no connections and gets none.
 * @group_device_name: For monitoring: the current or last name of the group's device, of
 *	SMC_DEVICE_NAME_LEN bytes. Any context.
 * @group_link: For monitoring: the existing link with number @index, from 0; false if there are
 *	fewer links. Any context. NULL without links.
 * @group_memory: For monitoring: the memory of the group. Any context. NULL if the group has only
 *	the receive buffers of its connections.
 * @device_info: For monitoring, in the namespace @net: the first device with a number greater than
 *	@serial; false after the last one. May sleep. NULL for SMC-D: smcd_device_nth() lists its
 *	devices.
 *
 * @conn_open: Give the connection a receive element of conn->rx.granted bytes or less, if possible;
 *	the caller adjusts the charge to the actual size. Set token, rx.base, rx.ring and
 *	rx.buffer_bytes.
 *	From now on only the peer writes to the element, once it knows it. A server may leave this
 *	to @conn_attach, if it can trust only a peer that has attached the element. May sleep.
 *	Returns 0, -EINPROGRESS while the peer must learn of new memory, or another negative errno,
 *	-ENOBUFS at a limit.
 * @conn_describe: Fill in the local end of an Accept or Confirm; for first contact of SMC-R
 *	version 2 also whether the link is direct, and in the Confirm the list of GIDs. All other
 *	fields are set.
 * @conn_attach: Attach the peer's element, so that it can be written; set tx.ring, and tx.base if
 *	the CPU can copy to it; with @buffered tx.peer, tx.most and tx.limit, too. The peer's values
 *	are not trusted. May sleep. Returns 0, -ECONNRESET if the peer has already released the
 *	element, or another negative errno.
 * @conn_settle: The last CLC message was exchanged: the client has sent its Confirm, the server has
 *	received it. Verify the link; for first contact of SMC-R by CONFIRM LINK. May sleep. Returns
 *	0, -EINPROGRESS or another negative errno. NULL if there is nothing to verify.
 * @conn_ends: For monitoring: both ends, as described and attached. conn->lock is held; does not
 *	sleep.
 * @conn_is_attached: Has the peer attached this end's element? Then it learns at once when the
 *	element goes. conn->lock is held; the connection is not being freed. NULL without
 *	@synchronous.
 * @conn_detach: The peer is gone, and its element is not written any more: release it. The socket
 *	lock is held; conn_close does not run at the same time, kicks may. Does not sleep. NULL if
 *	the transport does not hold the peer's element.
 * @conn_close: Give everything back. Called once after conn_open. No upcall follows. May sleep.
 *
 * @may_grow: Can one end replace the memory into which it writes, as both are in this kernel? Then
 *	rx.granted may be less than the smallest size of the protocol. Any context. NULL if that is
 *	never so.
 * @other_end: The connection at the other end, of which this end writes to the receive ring; NULL
 *	if it is detached. Its struct exists as long as the socket lock is held. Does not sleep.
 *	The operation is NULL without @may_grow.
 *
 * For the ring that this end writes to, the receive ring of the other end or with @buffered the
 * send buffer; NULL if its memory cannot be replaced. The socket lock is held.
 *
 * @ring_alloc: Allocate memory of at most @bytes, charged to the limits of the namespace that owns
 *	the ring. It may exceed them if the ring is larger now. A receive ring is all zero.
 *	May sleep. Returns 0, or a negative errno, -ENOBUFS at a limit.
 * @ring_swap: Replace the memory of the ring. @memory becomes the former memory, without @priv if
 *	the device may still read it. The locks of the connections that use the ring are held;
 *	neither is being freed. Does not sleep. Returns false if the ring cannot use the memory.
 * @ring_free: Free memory that no ring has: @priv and @written of struct smc_ring_memory. @conn is
 *	any of the two ends. With @reuse the transport may keep the memory for another ring.
 *	Process context; does not sleep.
 *
 * @tx_progress: How far has produced data come? conn->lock is held; does not sleep. Returns whether
 *	the caller must post control data, so that the device reports the rest. NULL with
 *	@synchronous: all data is in the peer's ring.
 *
 * @cdc_post: Send control data to the peer, behind all data written before. conn->lock is held;
 *	does not sleep and makes no upcall.
 * @cdc_fetch: Get the control data that the peer has posted, on transports that only signal it.
 *	conn->lock is held; does not sleep. Returns false without new control data.
 * @cdc_kick: Make the peer process posted control data, if posting does not do that. No lock but
 *	the socket lock is held; does not sleep. The kick may cause upcalls for other connections,
 *	and through them for this one. It may run within a grace period after conn_close; then it
 *	does nothing.
 */
struct smc_transport {
	const char *name;
	struct module *owner;
	enum smc_mode mode;
	bool synchronous;
	bool sparing;
	bool buffered;

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
	bool (*conn_is_attached)(const struct smc_conn *conn);
	void (*conn_detach)(struct smc_conn *conn);
	void (*conn_close)(struct smc_conn *conn);

	bool (*may_grow)(const struct smc_group *group);
	struct smc_conn *(*other_end)(const struct smc_conn *conn);
	int (*ring_alloc)(struct smc_conn *conn, u32 bytes, struct smc_ring_memory *memory);
	bool (*ring_swap)(struct smc_conn *conn, struct smc_ring_memory *memory);
	void (*ring_free)(struct smc_conn *conn, void *memory, u32 written, bool reuse);

	bool (*tx_progress)(struct smc_conn *conn, struct smc_tx_progress *out);
	void (*cdc_post)(struct smc_conn *conn, const struct smc_cdc *cdc);
	bool (*cdc_fetch)(struct smc_conn *conn, struct smc_cdc *cdc);
	void (*cdc_kick)(struct smc_conn *conn);
};

int smc_transport_register(const struct smc_transport *transport);
void smc_transport_unregister(const struct smc_transport *transport);
const struct smc_transport *smc_transport_get(enum smc_mode mode);
void smc_transport_put(const struct smc_transport *transport);

void smc_candidates_put(const struct smc_transport *transport, struct smc_candidates *candidates);

/* Upcalls, implemented in conn/ */

/**
 * smc_conn_ready() - report the result of an operation that has returned -EINPROGRESS
 * @conn: the connection, during the handshake; the caller makes sure that it exists
 * @reason: SMC_REASON_NONE, or the enum smc_reason of the failure
 *
 * Once for each -EINPROGRESS, unless conn_close or resolve_end comes first; possibly before the
 * operation returns. Does not sleep; process context or softirq.
 */
void smc_conn_ready(struct smc_conn *conn, u32 reason);

/**
 * smc_conn_cdc_received() - apply control data of the peer
 * @conn: the connection; the caller makes sure that it exists
 * @cdc: the control data; not trusted
 *
 * For transports that number control data. Control data is ignored unless its number is later than
 * the last one (R-CDC-03). A failover message has the number of a message that must have arrived.
 * May post and kick control data for @conn. conn->lock is not held. Does not sleep; process context
 * or softirq.
 */
void smc_conn_cdc_received(struct smc_conn *conn, const struct smc_cdc *cdc);

/**
 * smc_conn_signalled() - fetch and apply the control data that the peer has posted
 * @conn: the connection; the caller makes sure that it exists
 *
 * Like smc_conn_cdc_received(). May run on several CPUs at the same time.
 */
void smc_conn_signalled(struct smc_conn *conn);

/**
 * smc_conn_lost() - the peer, or the path to it, is gone
 * @conn: the connection; the caller makes sure that it exists
 *
 * The program gets ECONNRESET, unless the peer has closed the connection before; a handshake fails
 * or falls back. Does not sleep; process context or softirq.
 */
void smc_conn_lost(struct smc_conn *conn);

/**
 * smc_conn_forgotten() - the peer does not use the connection any more
 * @conn: the connection; the caller makes sure that it exists
 *
 * If this side has sent its final message, the peer's last control data may still arrive, behind
 * the messages of another connection. Otherwise the connection is lost. Does not sleep; process
 * context or softirq.
 */
void smc_conn_forgotten(struct smc_conn *conn);

/**
 * smc_conn_peer_gone() - the peer's end of the connection does not exist any more
 * @conn: the connection; the caller makes sure that it exists
 *
 * Applies the peer's last control data. After "closed" nothing changes for the program: the peer's
 * timeout has passed. Unless that data ends the connection, the peer has aborted it. A connection
 * that is not started yet handles this in smc_conn_start(). Afterwards the socket calls
 * conn_detach. conn->lock is not held. Does not sleep; process context or softirq.
 */
void smc_conn_peer_gone(struct smc_conn *conn);

#endif /* _NET_SMC_GROUP_TRANSPORT_H */
