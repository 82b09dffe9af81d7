/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two handshakes in one kernel exchange their messages through memory: see pair.c.
 *
 *	client			server
 *	smc_pair_create()
 *	smc_pair_offer()				the Proposal
 *	smc_pair_bind()					to the server's listening socket
 *				smc_pair_claim()
 *	smc_pair_withdraw()				unless a server has claimed it
 *	smc_pair_receive()	smc_pair_send()		Accept, Decline
 *	smc_pair_send()		smc_pair_receive()	Confirm, Decline
 *	smc_pair_leave()	smc_pair_leave()
 *
 * Each client creates a pair, because it has the Proposal, but offers it only if the server is
 * probably in this kernel.
 */
#ifndef _NET_SMC_HANDSHAKE_PAIR_H
#define _NET_SMC_HANDSHAKE_PAIR_H

#include "../types.h"
#include "../wire/clc.h"

struct smc_conn;
struct smc_pair;

/**
 * struct smc_pair_key - by what the two ends of a TCP connection find each other
 * @client: sequence number of the client's first byte
 * @server: sequence number of the server's first byte
 */
struct smc_pair_key {
	u32 client;
	u32 server;
};

static inline bool smc_pair_keys_match(const struct smc_pair_key *a, const struct smc_pair_key *b)
{
	return a->client == b->client && a->server == b->server;
}

struct smc_pair *smc_pair_create(struct smc_conn *client);
struct smc_clc *smc_pair_proposal(struct smc_pair *pair);
void smc_pair_offer(struct smc_pair *pair, const struct smc_pair_key *key);
void smc_pair_bind(struct smc_pair *pair, u64 listener);
struct smc_pair *smc_pair_claim(struct smc_conn *server, const struct smc_pair_key *key,
				u64 listener);
bool smc_pair_withdraw(struct smc_pair *pair);
int smc_pair_send(struct smc_pair *pair, enum smc_role from, const struct smc_clc *msg);
int smc_pair_receive(struct smc_pair *pair, enum smc_role to, struct smc_clc *msg);
void smc_pair_leave(struct smc_pair *pair, enum smc_role role);
void smc_pair_init(void);

#endif /* _NET_SMC_HANDSHAKE_PAIR_H */
