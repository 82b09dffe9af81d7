/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What QEMU's ivshmem-doorbell wants to hear from its server, and in which order
 *
 * Pure: values in, values out. QEMU's docs/specs/ivshmem-spec.txt is the specification. Each
 * message is a 64-bit number, little endian, some with a descriptor; clients send none.
 */
#ifndef SMC_ISMD_PROTOCOL_H
#define SMC_ISMD_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "ism_shmem.h"

#define IVSHMEM_VERSION	0
#define IVSHMEM_MEMORY	(-1)

/**
 * struct progress - what a client has been told
 * @hello: how many of version, id and memory
 * @own: how many of its own vectors
 * @told: number of the machine whose vectors it was told of, 0: none
 * @vectors: how many of those
 *
 * There is no queue: the next message follows from this and from who is there now. A machine that
 * came and went while the client did not read is never mentioned.
 */
struct progress {
	uint32_t hello;
	uint32_t own;
	uint32_t told;
	uint32_t vectors;
};

enum message_kind {
	MESSAGE_NONE,		/* the client knows everything */
	MESSAGE_VERSION,
	MESSAGE_ID,
	MESSAGE_MEMORY,		/* with the memory */
	MESSAGE_LEAVE,
	MESSAGE_PEER_VECTOR,	/* with an eventfd of the peer */
	MESSAGE_OWN_VECTOR,	/* with an eventfd of the client */
};

struct message {
	enum message_kind kind;
	int64_t number;
	uint32_t vector;
};

/**
 * protocol_next() - what is due
 * @progress: what the client knows
 * @id: the client's number
 * @peer: that of the other machine, 0: none is there
 * @vectors: of each of them
 */
struct message protocol_next(const struct progress *progress, uint32_t id, uint32_t peer,
			     uint32_t vectors);

/* The message has been sent. */
void protocol_sent(struct progress *progress, const struct message *message);

/* Has the client all that it needs to start? */
bool protocol_started(const struct progress *progress, uint32_t vectors);

/**
 * struct numbers - of the machines of one side
 * @last: that was given out, 0: none yet
 * @since: how many were given out since the machine of the other side came
 *
 * QEMU must not see a number again that was gone: it would write to memory which it has freed.
 */
struct numbers {
	uint32_t last;
	uint32_t since;
};

/**
 * protocol_number() - a fresh number
 * @numbers: of the side
 * @side: 0 or 1, the lowest bit of its numbers
 * @peer: a machine is there on the other side, and remembers
 *
 * Return: the number, or 0: none is left until the other machine goes
 */
uint32_t protocol_number(struct numbers *numbers, uint32_t side, bool peer);

#endif /* SMC_ISMD_PROTOCOL_H */
