/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of the module, and what it tells of a socket */
#ifndef SOCKET_COUNTER_H
#define SOCKET_COUNTER_H

#include <stdint.h>

/* Whose counters; the nest they are in */
enum counters {
	COUNTERS_D = 1,
	COUNTERS_R = 2,
};

uint64_t counter_of(enum counters technology, uint16_t attribute);
uint64_t violations(void);
uint64_t stray_replies(void);
uint64_t buffer_bytes(void);	/* which all DMBs take, machine-wide, with pools */
uint64_t namespace_bytes(void);	/* which those of this namespace take */

/* Of a socket that was AF_SMC; 0 without smc_diag.ko */
uint32_t fallback_reason(int fd);
uint32_t peer_diagnosis(int fd);

#endif /* SOCKET_COUNTER_H */
