/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Protocol of QEMU's ivshmem-doorbell server: the messages and their order
 *
 * Pure: values in, values out. QEMU's docs/specs/ivshmem-spec.txt is the specification. Each
 * message is a 64-bit number, little-endian, some with a descriptor; clients send nothing.
 */
#ifndef SMC_ISMD_PROTOCOL_H
#define SMC_ISMD_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "ism_shmem.h"

#define IVSHMEM_VERSION	0
#define IVSHMEM_MEMORY	(-1)

/**
 * struct progress - messages that were sent to a client
 * @hello: number of messages sent of version, ID and memory
 * @own: number of its own vectors sent
 * @told: number of the machine whose vectors were sent, 0: not sent
 * @vectors: number of vectors sent of that machine
 *
 * There is no queue: the next message follows from this and from the machine that is connected now.
 * A machine that connected and disconnected while the client did not read is never announced.
 */
struct progress {
	uint32_t hello;
	uint32_t own;
	uint32_t told;
	uint32_t vectors;
};

enum message_kind {
	MESSAGE_NONE,		/* the client has all messages */
	MESSAGE_VERSION,
	MESSAGE_ID,
	MESSAGE_MEMORY,		/* with the descriptor of the memory */
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
 * protocol_next() - the next message
 * @progress: messages sent to the client
 * @id: the client's number
 * @peer: number of the other machine, 0: not connected
 * @vectors: number of vectors of each of them
 */
struct message protocol_next(const struct progress *progress, uint32_t id, uint32_t peer,
			     uint32_t vectors);

/* The message was sent */
void protocol_sent(struct progress *progress, const struct message *message);

/* Has the client got all messages that it needs to start? */
bool protocol_started(const struct progress *progress, uint32_t vectors);

/**
 * struct numbers - numbers of the machines of one side
 * @last: the last number given out, 0: no number yet
 * @since: count of numbers given out since the machine of the other side connected
 *
 * A number that was given up must not be announced to the same QEMU again: it would write to freed
 * memory.
 */
struct numbers {
	uint32_t last;
	uint32_t since;
};

/**
 * protocol_number() - choose an unused number
 * @numbers: numbers of the side
 * @side: 0 or 1, the lowest bit of its numbers
 * @peer: a machine is connected on the other side, and remembers old numbers
 *
 * Return: the number, or 0 if all are used until the other machine disconnects
 */
uint32_t protocol_number(struct numbers *numbers, uint32_t side, bool peer);

#endif /* SMC_ISMD_PROTOCOL_H */
