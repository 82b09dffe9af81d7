// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the pure parts of smc-ismd against simple models. Prints errors, and fails if there are
 * any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "rate.h"

#define VECTORS		5
#define ROUNDS		200000

static int failures;

#define expect(condition)							\
	do {									\
		if (!(condition)) {						\
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);	\
			failures++;						\
		}								\
	} while (0)

/* The sequence is the same on all machines */
static unsigned int chance(unsigned int below)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}

static void test_start(void)
{
	static const struct message wanted[] = {
		{ MESSAGE_VERSION, 0, 0 },
		{ MESSAGE_ID, 6, 0 },
		{ MESSAGE_MEMORY, -1, 0 },
		{ MESSAGE_PEER_VECTOR, 3, 0 },
		{ MESSAGE_PEER_VECTOR, 3, 1 },
		{ MESSAGE_OWN_VECTOR, 6, 0 },
		{ MESSAGE_OWN_VECTOR, 6, 1 },
		{ MESSAGE_NONE, 0, 0 },
	};
	struct progress progress = { 0 };
	struct message message;
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		expect(protocol_started(&progress, 2) == (wanted[i].kind == MESSAGE_NONE));
		message = protocol_next(&progress, 6, 3, 2);
		expect(message.kind == wanted[i].kind);
		expect(message.number == wanted[i].number);
		expect(message.vector == wanted[i].vector);
		protocol_sent(&progress, &message);
	}
}

/* State of a client that processes the messages like QEMU, including QEMU's fault */
struct model {
	uint32_t peer;
	uint32_t vectors;
	uint32_t own;
	unsigned int hello;
	bool gone[SMC_ISM_SHMEM_ID_MAX + 1];
};

static void obey(struct model *model, const struct message *message, uint32_t id)
{
	switch (message->kind) {
	case MESSAGE_VERSION:
		expect(model->hello++ == 0 && message->number == 0);
		break;
	case MESSAGE_ID:
		expect(model->hello++ == 1 && message->number == id);
		break;
	case MESSAGE_MEMORY:
		expect(model->hello++ == 2 && message->number == -1);
		break;
	case MESSAGE_LEAVE:
		expect(model->peer && message->number == model->peer);
		model->gone[model->peer] = true;
		model->peer = 0;
		model->vectors = 0;
		break;
	case MESSAGE_PEER_VECTOR:
		expect(model->hello == 3 && !model->gone[message->number]);
		expect(!model->peer || model->peer == message->number);
		expect(message->vector == model->vectors++);
		model->peer = message->number;
		break;
	case MESSAGE_OWN_VECTOR:
		expect(model->hello == 3 && message->number == id);
		expect(message->vector == model->own++);
		break;
	case MESSAGE_NONE:
		break;
	}
}

/* The client of side 0 reads at random times, that of side 1 connects and disconnects */
static void test_client_that_reads_now_and_then(void)
{
	struct numbers numbers[2] = { 0 };
	struct progress progress = { 0 };
	struct model *model = calloc(1, sizeof(*model));
	uint32_t id = protocol_number(&numbers[0], 0, false), peer = 0;
	struct message message;
	int i, joins = 0;

	for (i = 0; i < ROUNDS && joins < 30000; i++) {
		if (!chance(3)) {
			joins += !peer;
			peer = peer ? 0 : protocol_number(&numbers[1], 1, true);
		}
		if (chance(2))
			continue;
		message = protocol_next(&progress, id, peer, VECTORS);
		obey(model, &message, id);
		protocol_sent(&progress, &message);
		if (message.kind == MESSAGE_NONE)
			expect(model->peer == peer && model->own == VECTORS &&
			       model->vectors == (peer ? VECTORS : 0));
	}
	expect(joins > 1000);
	free(model);
}

static void test_numbers_end_before_one_comes_again(void)
{
	static bool seen[SMC_ISM_SHMEM_ID_MAX + 1];
	struct numbers numbers = { 0 };
	uint32_t id, count = 0;

	/* numbers that were given out when the other machine connected */
	numbers.last = 2 * 20000 + 1;
	while ((id = protocol_number(&numbers, 1, true))) {
		expect(id >= 2 && id <= SMC_ISM_SHMEM_ID_MAX);
		expect(SMC_ISM_SHMEM_SIDE(id) == 1);
		expect(!seen[id]);
		seen[id] = true;
		count++;
	}
	expect(count == 32767);
	expect(!protocol_number(&numbers, 1, true));
	/* no machine remembers old numbers */
	expect(protocol_number(&numbers, 1, false));
	expect(protocol_number(&numbers, 1, true));
}

static void test_sides_have_numbers_of_their_own(void)
{
	struct numbers numbers[2] = { 0 };
	uint32_t i, a, b;

	for (i = 0; i < 70000; i++) {
		a = protocol_number(&numbers[0], 0, false);
		b = protocol_number(&numbers[1], 1, false);
		expect(a >= 2 && !(a & 1) && a <= SMC_ISM_SHMEM_ID_MAX);
		expect(b >= 2 && (b & 1) && b <= SMC_ISM_SHMEM_ID_MAX);
	}
}

/* In each span of n seconds, at most the burst plus n events are allowed */
static void test_rate_is_bounded_in_every_span(void)
{
	enum { TIMES = 2000, BURST = 5 };
	static uint64_t when[TIMES];
	struct rate rate = { 0 };
	uint64_t now = 123456;
	int count = 0, i, j;

	while (count < TIMES) {
		now += chance(4) ? chance(300) : chance(9000);
		if (!rate_allows(&rate, now, BURST))
			continue;
		rate_count(&rate, now);
		when[count++] = now;
	}
	for (i = 0; i < TIMES; i++)
		for (j = i; j < TIMES; j++)
			expect(j - i + 1 <= BURST + (int)((when[j] - when[i]) / 1000));
}

static void test_rate_allows_what_it_promises(void)
{
	struct rate rate = { 0 };
	int i;

	for (i = 0; i < 5; i++) {
		expect(rate_allows(&rate, 50, 5));
		expect(rate_is_calm(&rate, 50) == (i == 0));
		rate_count(&rate, 50);
	}
	expect(!rate_allows(&rate, 1049, 5));
	expect(rate_allows(&rate, 1050, 5));
	rate_count(&rate, 1050);
	expect(!rate_allows(&rate, 2049, 5));
	expect(rate_allows(&rate, 2049, 6));
	expect(!rate_is_calm(&rate, 6049) && rate_is_calm(&rate, 6050));
}

int main(void)
{
	test_start();
	test_client_that_reads_now_and_then();
	test_numbers_end_before_one_comes_again();
	test_sides_have_numbers_of_their_own();
	test_rate_is_bounded_in_every_span();
	test_rate_allows_what_it_promises();
	return failures != 0;
}
