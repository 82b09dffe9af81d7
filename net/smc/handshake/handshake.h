/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CLC handshake turns a TCP connection into an SMC connection.
 *
 * A handshake is a sequence of steps. Each step is started by received bytes, by an answer of the
 * transport, or by the handshake's timer. No step waits for the peer, and between steps the
 * handshake holds no lock and no thread. A silent peer therefore delays no other connection.
 */
#ifndef _NET_SMC_HANDSHAKE_HANDSHAKE_H
#define _NET_SMC_HANDSHAKE_HANDSHAKE_H

#include <linux/net.h>

#include "../group/conn.h"
#include "../group/group.h"
#include "pair.h"
#include "select.h"

/**
 * enum smc_outcome - result of a step of the handshake
 * @SMC_PENDING: the handshake waits for the peer, the network or another handshake
 * @SMC_CONNECTED: the connection is an SMC connection
 * @SMC_FALLBACK: the connection continues as a TCP connection
 * @SMC_FAILED: the caller must end the TCP connection
 */
enum smc_outcome {
	SMC_PENDING,
	SMC_CONNECTED,
	SMC_FALLBACK,
	SMC_FAILED,
};

/**
 * enum smc_phase - what the handshake waits for
 * @SMC_PHASE_MESSAGE: the peer's next message
 * @SMC_PHASE_RESOLVING: the transport resolves the next hop to the peer's device, before
 *	first contact
 * @SMC_PHASE_JOINING: server: another connection of this client forms the link group
 * @SMC_PHASE_OPENING: the transport opens the connection; the Accept or Confirm follows
 * @SMC_PHASE_SETTLING: all messages are exchanged; the transport tests the new link
 *
 * In RESOLVING, OPENING and SETTLING the transport reports its answer by smc_conn_ready().
 */
enum smc_phase {
	SMC_PHASE_MESSAGE,
	SMC_PHASE_RESOLVING,
	SMC_PHASE_JOINING,
	SMC_PHASE_OPENING,
	SMC_PHASE_SETTLING,
};

/**
 * struct smc_handshake - a handshake in progress
 * @conn: the future SMC connection
 * @tcp: its TCP connection; only the handshake reads from it and writes to it
 * @pair: client: has the Proposal; server: what it has claimed, or NULL
 * @in_memory: messages go through @pair in place of @tcp
 * @is_offered: client: @pair is offered, and no server has claimed it, as far as is known
 * @version: format of a Decline: that of the Proposal, later that of the chosen variant
 * @device: client: index of our device
 * @may_offer: client: the Proposal may be offered in memory
 * @stepped_by_client: server: the client's connect() takes the steps, see smc_server_leaves_group()
 * @is_doomed: client: the link does not work; the handshake waits for the server's Decline
 * @phase: what it waits for
 * @expected: enum smc_clc_type of the peer's next message
 * @since: jiffies when the current wait began
 * @deadline: jiffies when the current wait ends
 * @started: when the handshake began
 * @in: buffer of the received message; NULL before the first bytes
 * @room: its size
 * @have: number of bytes received of the peer's next message
 * @header: its header, once SMC_CLC_HEADER_LEN bytes are received
 * @header_error: 0, or the error of an invalid header
 * @transports: by enum smc_mode; holds a reference to the module; NULL if not registered
 * @candidates: by enum smc_mode: our devices, with a reference each
 * @client: what a client keeps for its later steps
 * @client.accept: the server's Accept
 * @server: what a server keeps for its later steps
 * @server.accept: our Accept; until the group is known, with the parameters of a new one
 * @server.choice: what we chose
 * @server.entry: the connection's request to join or form a link group; points to those parameters
 * @reason: enum smc_reason of SMC_FALLBACK
 * @peer_diagnosis: diagnosis in the peer's Decline
 * @error: negative errno of SMC_FAILED
 *
 * The socket lock protects all fields.
 *
 * A received message is not a part of it. The message is on the stack of the step that receives it,
 * and that step saves what later steps need. So the peer's next message overwrites nothing.
 */
struct smc_handshake {
	struct smc_conn *conn;
	struct sock *tcp;
	struct smc_pair *pair;
	bool in_memory;
	bool is_offered;
	u8 version;
	u8 device;
	bool may_offer;
	bool stepped_by_client;
	bool is_doomed;
	u8 expected;
	enum smc_phase phase;
	unsigned long since;
	unsigned long deadline;
	ktime_t started;
	u8 *in;
	u16 room;
	u16 have;
	struct smc_clc_header header;
	int header_error;
	const struct smc_transport *transports[SMC_MODES];
	struct smc_candidates candidates[SMC_MODES];
	union {
		struct {
			struct smc_clc_accept accept;
		} client;
		struct {
			struct smc_clc_accept accept;
			struct smc_choice choice;
			struct smc_group_entry entry;
		} server;
	};
	u32 reason;
	u32 peer_diagnosis;
	int error;
};

/* handshake.c */
struct smc_handshake *smc_handshake_create(struct smc_conn *conn, struct sock *tcp);
gfp_t smc_handshake_gfp(const struct smc_conn *conn);
void smc_handshake_free(struct smc_handshake *hs);
enum smc_outcome smc_handshake_start(struct smc_handshake *hs, u64 listener);
enum smc_outcome smc_handshake_step(struct smc_handshake *hs);
enum smc_outcome smc_client_withdraw(struct smc_handshake *hs);

/* Which kind of device serves a variant */
static inline enum smc_mode smc_variant_mode(u8 variant)
{
	return variant & SMC_VARIANTS_R ? SMC_MODE_R : SMC_MODE_D;
}

/* Shared by client.c and server.c */
enum smc_outcome smc_handshake_decline(struct smc_handshake *hs, const struct smc_choice *why,
				       u32 reason);
enum smc_outcome smc_handshake_decline_late(struct smc_handshake *hs, u32 reason);
enum smc_outcome smc_handshake_fail(struct smc_handshake *hs, int error);
enum smc_outcome smc_handshake_expect(struct smc_handshake *hs, enum smc_clc_type type);
enum smc_outcome smc_handshake_await(struct smc_handshake *hs, enum smc_phase phase);
enum smc_outcome smc_handshake_settle(struct smc_handshake *hs);
u32 smc_handshake_excluded(struct sock *tcp);
int smc_handshake_send(struct smc_handshake *hs, const struct smc_clc *msg);
struct smc_pair_key smc_handshake_pair_key(const struct smc_conn *conn);
void smc_handshake_first_contact(u8 release, struct smc_clc_first_contact *out);

/* local.c */
void smc_handshake_local(struct smc_handshake *hs, struct smc_local *local);

/* subnet.c */
bool smc_subnet_is_ipv4(const struct sock *tcp);
bool smc_subnet_describe(const struct sock *tcp, struct smc_clc_subnet *out);
bool smc_subnet_shared(const struct sock *tcp, const struct smc_clc_subnet *peer);

void smc_subnet_remote(const struct sock *tcp, struct in6_addr *out);

/* io.c */
int smc_handshake_receive(struct smc_handshake *hs, struct smc_clc *msg);
int smc_handshake_write(struct sock *sk, const void *buf, size_t len);

/* client.c, server.c: one function for each message or answer that can arrive */
bool smc_client_syns_crossed(const struct sock *tcp);
enum smc_outcome smc_client_propose(struct smc_handshake *hs);
bool smc_client_offer_is_over(const struct smc_handshake *hs);
void smc_client_note_claim(struct smc_handshake *hs);
enum smc_outcome smc_client_accepted(struct smc_handshake *hs, const struct smc_clc_accept *accept);
enum smc_outcome smc_client_resolved(struct smc_handshake *hs);
enum smc_outcome smc_client_opened(struct smc_handshake *hs);
void smc_server_claim(struct smc_handshake *hs, u64 listener);
enum smc_outcome smc_server_proposed(struct smc_handshake *hs,
				     const struct smc_clc_proposal *proposal);
bool smc_server_leaves_group(const struct smc_handshake *hs);
enum smc_outcome smc_server_join(struct smc_handshake *hs);
enum smc_outcome smc_server_opened(struct smc_handshake *hs);
enum smc_outcome smc_server_confirmed(struct smc_handshake *hs,
				      const struct smc_clc_accept *confirm);
enum smc_outcome smc_server_refuse(struct smc_handshake *hs, u32 reason);

#endif /* _NET_SMC_HANDSHAKE_HANDSHAKE_H */
