// SPDX-License-Identifier: GPL-2.0-only
#include "protocol.h"

/* Number of even, or odd, machine numbers; 0 and 1 are not used */
#define NUMBERS	(SMC_ISM_SHMEM_ID_MAX / 2)

static struct message get_hello(uint32_t done, uint32_t id)
{
	static const enum message_kind kinds[] = { MESSAGE_VERSION, MESSAGE_ID, MESSAGE_MEMORY };
	const int64_t numbers[] = { IVSHMEM_VERSION, id, IVSHMEM_MEMORY };

	return (struct message){ .kind = kinds[done], .number = numbers[done] };
}

struct message protocol_next(const struct progress *progress, uint32_t id, uint32_t peer,
			     uint32_t vectors)
{
	if (progress->hello < 3)
		return get_hello(progress->hello, id);
	if (progress->told && progress->told != peer)
		return (struct message){ .kind = MESSAGE_LEAVE, .number = progress->told };
	if (peer && progress->vectors < vectors)
		return (struct message){ .kind = MESSAGE_PEER_VECTOR, .number = peer,
					 .vector = progress->vectors };
	if (progress->own < vectors)
		return (struct message){ .kind = MESSAGE_OWN_VECTOR, .number = id,
					 .vector = progress->own };
	return (struct message){ .kind = MESSAGE_NONE };
}

void protocol_sent(struct progress *progress, const struct message *message)
{
	switch (message->kind) {
	case MESSAGE_NONE:
		break;
	case MESSAGE_VERSION:
	case MESSAGE_ID:
	case MESSAGE_MEMORY:
		progress->hello++;
		break;
	case MESSAGE_LEAVE:
		progress->vectors = 0;
		progress->told = 0;
		break;
	case MESSAGE_PEER_VECTOR:
		progress->told = message->number;
		progress->vectors++;
		break;
	case MESSAGE_OWN_VECTOR:
		progress->own++;
		break;
	}
}

bool protocol_started(const struct progress *progress, uint32_t vectors)
{
	return progress->hello == 3 && progress->own == vectors;
}

uint32_t protocol_number(struct numbers *numbers, uint32_t side, bool peer)
{
	uint32_t index = numbers->last / 2;

	if (!peer)
		numbers->since = 0;
	if (numbers->since == NUMBERS)
		return 0;
	index = index >= NUMBERS ? 1 : index + 1;
	numbers->since++;
	numbers->last = 2 * index + side;
	return numbers->last;
}
