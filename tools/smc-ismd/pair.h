/* SPDX-License-Identifier: GPL-2.0-only */
/* Pairs of machines, and their connected clients */
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
 * the daemon's user. Only one connection of an end can hold such descriptors, at most this number.
 */
#define IN_FLIGHT_MAX	8

struct pair;

/**
 * struct end - one machine's end of a pair
 * @pair: its pair
 * @side: 0 or 1
 * @kept: state that survives this process
 * @user: user that may connect
 * @listener: its listening socket
 * @client: the connected client
 * @former: connection of the previous client, which has hung up and left messages unread
 * @vector: eventfds of the connected client
 * @refused: the reason for not accepting a client was logged already
 * @joins: limits the rate of clients
 * @quiet: clients connect too often, so their arrival is not logged
 * @unlogged: number of clients since then
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
 * @next: in the list of all pairs
 * @kept: state that survives this process
 * @slot: number of @kept
 * @memory: descriptor of the memory, -1: no memory
 * @allowed: the policy contains the pair
 * @end: both ends
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
 * pairs_init() - restore the pairs of an earlier process
 * @host: for the facts; the caller must not free it
 *
 * Return: number of pairs
 */
unsigned int pairs_init(const struct host *host);

/* Set the allowed pairs. Machines of other pairs stay connected, but new ones are not accepted */
void pairs_apply(const struct policy *policy);

/* Free pairs that events have ended; must not be called by a handler of a watch */
void pairs_sweep(void);

/**
 * pairs_retry() - retry what failed because of missing memory or descriptors
 *
 * Return: true if something failed since the last call, or again
 */
bool pairs_retry(void);

/* Limit of descriptors in flight with this number of connected clients */
unsigned int pairs_in_flight(unsigned int connections);

const struct pair *pairs_first(void);

/* Does a second client wait until the first one disconnects? */
bool end_has_queue(const struct end *end);

/* Does a client that has hung up hold unread messages? No other client is accepted meanwhile */
bool end_is_held(const struct end *end);

/* Does the client leave messages unread, so that pending ones cannot be sent? */
bool end_is_behind(const struct end *end);

#endif /* SMC_ISMD_PAIR_H */
