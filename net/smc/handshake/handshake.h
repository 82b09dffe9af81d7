/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a TCP connection to an SMC connection: the CLC handshake.
 *
 * A handshake never waits. It is a sequence of steps, each started by bytes that
 * came in, or by its timer; between them it holds no lock and no thread. So a
 * silent peer delays no other connection.
 */
#ifndef _NET_SMC_HANDSHAKE_HANDSHAKE_H
#define _NET_SMC_HANDSHAKE_HANDSHAKE_H

#include <linux/net.h>

#include "../group/conn.h"
#include "../group/group.h"
#include "select.h"

/**
 * enum smc_outcome - how far a handshake is
 * @SMC_PENDING: it waits for the peer
 * @SMC_CONNECTED: the connection is an SMC connection now
 * @SMC_FALLBACK: it goes on as a TCP connection
 * @SMC_FAILED: the TCP connection must end
 */
enum smc_outcome {
	SMC_PENDING,
	SMC_CONNECTED,
	SMC_FALLBACK,
	SMC_FAILED,
};

/**
 * enum smc_phase - what a handshake waits for
 * @SMC_PHASE_MESSAGE: the peer's next message
 * @SMC_PHASE_RESOLVING: the way to the peer's device; then a link group is formed
 * @SMC_PHASE_JOINING: server: the group is formed by another connection of this client
 * @SMC_PHASE_OPENING: the connection is opened; then our Accept or Confirm goes out
 * @SMC_PHASE_SETTLING: all messages are exchanged; the transport sees whether it works
 *
 * When resolving, opening and settling the transport waits for the peer or the network, and reports
 * by smc_conn_ready().
 */
enum smc_phase {
	SMC_PHASE_MESSAGE,
	SMC_PHASE_RESOLVING,
	SMC_PHASE_JOINING,
	SMC_PHASE_OPENING,
	SMC_PHASE_SETTLING,
};

/**
 * struct smc_handshake - a handshake under way
 * @conn: the connection to be
 * @tcp: its TCP connection; nobody else reads from or writes to it
 * @phase: what it waits for
 * @expected: enum smc_clc_type of the peer's next message
 * @since: jiffies when it began to wait for that
 * @deadline: jiffies when it must be there
 * @started: when the handshake began
 * @have: how many bytes of it are here
 * @header: what it is, once SMC_CLC_HEADER_LEN bytes are here
 * @header_error: 0, or the error of a header that is not valid
 * @in: the message: @small or allocated
 * @small: room for all messages that peers of today send
 * @msg: the message, parsed
 * @transports: by enum smc_mode; held, NULL if there is none
 * @candidates: by enum smc_mode: our devices; references are held
 * @sent: our Proposal, later our Confirm (client), or our Accept (server)
 * @choice: what we chose (server); of it @device is ours (client)
 * @entry: the way into the group (server)
 * @is_doomed: the path does not work, and the server's Decline must come (client)
 * @version: of the Proposal, later of the variant chosen, for the form of a Decline
 * @reason: why fallback: enum smc_reason
 * @peer_diagnosis: what the peer's Decline said
 * @error: why failed: negative errno
 *
 * All fields are protected by the socket lock.
 */
struct smc_handshake {
	struct smc_conn *conn;
	struct sock *tcp;
	enum smc_phase phase;
	u8 expected;
	unsigned long since;
	unsigned long deadline;
	ktime_t started;
	u16 have;
	struct smc_clc_header header;
	int header_error;
	u8 *in;
	u8 small[SMC_CLC_BUILD_MAX];
	struct smc_clc msg;
	const struct smc_transport *transports[SMC_MODES];
	struct smc_candidates candidates[SMC_MODES];
	union {
		struct smc_clc_proposal proposal;
		struct smc_clc_accept accept;
	} sent;
	struct smc_choice choice;
	struct smc_group_entry entry;
	bool is_doomed;
	u8 version;
	u32 reason;
	u32 peer_diagnosis;
	int error;
};

/* handshake.c */
struct smc_handshake *smc_handshake_create(struct smc_conn *conn, struct sock *tcp);
void smc_handshake_free(struct smc_handshake *hs);
enum smc_outcome smc_handshake_start(struct smc_handshake *hs);
enum smc_outcome smc_handshake_step(struct smc_handshake *hs);

/* Where the devices for a variant come from */
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
void smc_handshake_first_contact(struct smc_clc_first_contact *out, u8 release);

/* local.c */
void smc_handshake_local(struct smc_handshake *hs, struct smc_local *local);

/* subnet.c */
bool smc_subnet_is_ipv4(const struct sock *tcp);
bool smc_subnet_describe(const struct sock *tcp, struct smc_clc_subnet *out);
bool smc_subnet_shared(const struct sock *tcp, const struct smc_clc_subnet *peer);

void smc_subnet_remote(const struct sock *tcp, struct in6_addr *out);

/* io.c */
int smc_handshake_receive(struct smc_handshake *hs);
int smc_handshake_write(struct sock *sk, const void *buf, size_t len);

/* client.c, server.c: one function for each message or answer that can come in */
enum smc_outcome smc_client_propose(struct smc_handshake *hs);
enum smc_outcome smc_client_accepted(struct smc_handshake *hs);
enum smc_outcome smc_client_resolved(struct smc_handshake *hs);
enum smc_outcome smc_client_opened(struct smc_handshake *hs);
enum smc_outcome smc_server_proposed(struct smc_handshake *hs);
enum smc_outcome smc_server_join(struct smc_handshake *hs);
enum smc_outcome smc_server_opened(struct smc_handshake *hs);
enum smc_outcome smc_server_confirmed(struct smc_handshake *hs);
enum smc_outcome smc_server_refuse(struct smc_handshake *hs, u32 reason);

#endif /* _NET_SMC_HANDSHAKE_HANDSHAKE_H */
