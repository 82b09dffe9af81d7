/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Payload: a fixed pseudo-random sequence with a period that no ring or page
 * size divides, so that bytes that are lost, doubled or moved show. Senders send
 * straight out of it: the position in the stream selects the place in the
 * pattern, and making payload costs nothing while measuring.
 */
#ifndef SMCBENCH_PATTERN_H
#define SMCBENCH_PATTERN_H

#include "bench.h"

/* Prepare for pieces of up to @max bytes. */
void pattern_init(size_t max);

/* The bytes a stream carries from position @pos on; @max of them are valid. */
const void *pattern_at(uint64_t pos);

/* Die, naming the position, if @data is not what position @pos carries. */
void pattern_check(uint64_t pos, const void *data, size_t len, enum check check);

#endif
