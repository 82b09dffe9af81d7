/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a successor of this process has to know, beside the descriptors
 *
 * A memfd of its own, which is kept like the others. Each word is written at once, so that the
 * process may be killed between any two instructions.
 */
#ifndef SMC_ISMD_STATE_H
#define SMC_ISMD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "policy.h"
#include "protocol.h"

/* More than a policy may have: pairs whose machines run on after they were taken out. */
#define SLOTS	(2 * PAIRS_MAX)

/**
 * struct kept_end - one machine's end of a pair
 * @id: number of the machine that is there, 0: none; written last at a join, first at a leave
 * @joins: how many machines have come
 * @rings: how often vector 0 was rung
 * @numbers: that were given out
 * @progress: what QEMU has been told
 * @next: the same, once the message that is being sent has been sent
 * @sent: that message. The kernel itself writes its msg_len, in the call which sends it: what was
 *	sent is known even if we are killed on the way back. Not 0: @next holds
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
 * @used: it is a pair; written last
 * @memory: the random number of its memory, 0: there is none
 * @size: of that memory
 * @vectors: of each machine, as long as there is memory
 * @next_vectors: of each machine, with memory that will be made
 * @next_size: of that memory
 * @name: of the machines
 * @end: of each machine
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
 * state_init() - go on where the last process ended, or start
 *
 * Return: there was one
 */
bool state_init(void);

/* How often one went on. */
unsigned int state_restarts(void);

/* The slots, SLOTS of them. */
struct kept_pair *state_slots(void);

/* An unused slot, all zero, or NULL. */
struct kept_pair *state_slot(void);

/* The stores before are not moved behind those which follow. */
#define state_barrier()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

#endif /* SMC_ISMD_STATE_H */
