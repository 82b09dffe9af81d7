/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs of machines, and the clients that are there
 */
#ifndef SMC_ISMD_PAIR_H
#define SMC_ISMD_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ism_shmem.h"
#include "loop.h"
#include "memory.h"
#include "policy.h"
#include "rate.h"
#include "state.h"

/*
 * The kernel counts the descriptors that clients have not read against the limit of open files of
 * the daemon's user. An end has one connection at a time that may hold some, and so many at most.
 */
#define IN_FLIGHT_MAX	8

struct pair;

/**
 * struct end - one machine's end of a pair
 * @pair: of which
 * @side: 0 or 1
 * @kept: what outlives this process
 * @user: who may connect
 * @listener: where it connects
 * @client: it is there
 * @former: the connection of the client before, which has hung up and left messages unread
 * @vector: its eventfds, while it is there
 * @refused: why it cannot be let in was said already
 * @joins: how often clients come
 * @quiet: too often, so the journal has no lines of them
 * @unlogged: how many came since
 */
struct end {
	struct pair *pair;
	uint32_t side;
	struct kept_end *kept;
	uid_t user;
	struct watch listener;
	struct watch client;
	struct watch former;
	int vector[SMC_ISM_SHMEM_VECTORS_MAX];
	bool refused;
	struct rate joins;
	bool quiet;
	unsigned int unlogged;
};

/**
 * struct pair - two machines that may share memory
 * @next: in the list of all
 * @kept: what outlives this process
 * @slot: number of @kept
 * @memory: the memory, -1: none
 * @allowed: the policy has it
 * @end: both
 */
struct pair {
	struct pair *next;
	struct kept_pair *kept;
	unsigned int slot;
	int memory;
	bool allowed;
	struct end end[2];
};

/**
 * pairs_init() - all pairs that an earlier process left
 * @host: for the facts; belongs to the caller
 *
 * Return: how many
 */
unsigned int pairs_init(const struct host *host);

/* From now on, these are the pairs. Machines of others may stay, but no new ones come. */
void pairs_apply(const struct policy *policy);

/* Free what was left by events; to be called where no watch of a pair is in use. */
void pairs_sweep(void);

/**
 * pairs_retry() - try again what failed for want of memory or descriptors
 *
 * Return: something failed since, or again
 */
bool pairs_retry(void);

/* How many descriptors may be in flight while so many clients are there. */
unsigned int pairs_in_flight(unsigned int connections);

const struct pair *pairs_first(void);

/* A second client waits for the place of the first. */
bool end_has_queue(const struct end *end);

/* A client that has hung up holds messages: no other one is let in meanwhile. */
bool end_is_held(const struct end *end);

/* There is something that the client ought to know, and it does not read. */
bool end_is_behind(const struct end *end);

#endif /* SMC_ISMD_PAIR_H */
