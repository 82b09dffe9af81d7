/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State for a successor of this process, in addition to the descriptors
 *
 * A memfd, which is stored like the other descriptors. Each word is written by one store, so that
 * the process may be killed between any two instructions.
 */
#ifndef SMC_ISMD_STATE_H
#define SMC_ISMD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "policy.h"
#include "protocol.h"

/* more than a policy may have, for pairs that were removed from it while their machines run */
#define SLOTS	(2 * PAIRS_MAX)

/**
 * struct kept_end - one machine's end of a pair
 * @id: number of the connected machine, 0: not connected; written last on connect, first on
 *	disconnect
 * @joins: number of machines that have connected
 * @rings: number of times that vector 0 was signalled
 * @numbers: numbers given out
 * @progress: messages sent to QEMU
 * @next: value of @progress after the message that is being sent
 * @sent: that message. The kernel writes msg_len during the call that sends it, so the state
 *	is correct even if the process is killed before the call returns. Not 0: the message was
 *	sent, use @next
 */
struct kept_end {
	uint32_t id;
	uint32_t joins;
	uint32_t rings;
	struct numbers numbers;
	struct progress progress;
	struct progress next;
	struct mmsghdr sent;
};

/**
 * struct kept_pair - a slot
 * @used: it contains a pair; written last
 * @memory: random number of the memory, 0: no memory
 * @size: size of that memory
 * @vectors: number of vectors of each machine, valid with @memory
 * @next_vectors: value of @vectors for new memory
 * @next_size: size of new memory
 * @name: names of the machines
 * @end: ends of the machines
 */
struct kept_pair {
	uint32_t used;
	uint32_t memory;
	uint64_t size;
	uint32_t vectors;
	uint32_t next_vectors;
	uint64_t next_size;
	char name[2][VM_NAME_MAX + 1];
	struct kept_end end[2];
};

/**
 * state_init() - load the state of an earlier process, or create it
 *
 * Return: true if there was an earlier process
 */
bool state_init(void);

/* Number of successors so far */
unsigned int state_restarts(void);

/* All slots, SLOTS of them */
struct kept_pair *state_slots(void);

/* An unused slot, all zero, or NULL */
struct kept_pair *state_slot(void);

/* Stores before the barrier are not moved behind it */
#define state_barrier()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

#endif /* SMC_ISMD_STATE_H */
