/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a pair, and what the host says in it
 */
#ifndef SMC_ISMD_MEMORY_H
#define SMC_ISMD_MEMORY_H

#include <stdint.h>

#define HOST_SEED_BYTES	16

/**
 * struct host - what all machines of this host share
 * @fabric: number of the fabric
 * @seed: of the system EID
 */
struct host {
	uint16_t fabric;
	uint8_t seed[HOST_SEED_BYTES];
};

/**
 * memory_create() - memory that can neither grow nor shrink
 * @size: in bytes
 *
 * Return: its descriptor, or -1
 */
int memory_create(uint64_t size);

/* The facts of both sides, at the start; nothing that a machine has written is read. */
int memory_write_facts(int fd, uint64_t size, const struct host *host, uint32_t pair,
		       uint32_t vectors);

/* Who is there now on this side: its number, or 0. */
int memory_write_presence(int fd, uint64_t size, uint32_t side, uint32_t id, uint32_t joins);

/* KiB that are really there. */
uint64_t memory_touched(int fd);

/* A random number that is not 0. */
uint32_t memory_number(void);

/**
 * host_seed() - the seed of this host, made at the first time
 * @folder: where it is kept
 * @seed: to fill
 */
void host_seed(const char *folder, uint8_t seed[HOST_SEED_BYTES]);

#endif /* SMC_ISMD_MEMORY_H */
