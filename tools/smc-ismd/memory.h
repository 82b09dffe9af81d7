/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of a pair, and the facts that the host writes to it */
#ifndef SMC_ISMD_MEMORY_H
#define SMC_ISMD_MEMORY_H

#include <stdint.h>

#define HOST_SEED_BYTES	16

/**
 * struct host - values that all machines of this host share
 * @fabric: number of the fabric
 * @seed: seed of the system EID
 */
struct host {
	uint16_t fabric;
	uint8_t seed[HOST_SEED_BYTES];
};

/**
 * memory_create() - create memory that cannot grow or shrink
 * @size: in bytes
 *
 * Return: its descriptor, or -1
 */
int memory_create(uint64_t size);

/* Write the facts of both sides. Nothing that a machine has written is read */
int memory_write_facts(int fd, uint64_t size, const struct host *host, uint32_t pair,
		       uint32_t vectors);

/* Write which machine is connected on this side: its number, or 0 */
int memory_write_presence(int fd, uint64_t size, uint32_t side, uint32_t id, uint32_t joins);

/* Allocated memory in KiB */
uint64_t memory_touched(int fd);

/* A random number other than 0 */
uint32_t memory_number(void);

/**
 * host_seed() - read the seed of this host, or create it on first use
 * @folder: folder of the file
 * @seed: result
 */
void host_seed(const char *folder, uint8_t seed[HOST_SEED_BYTES]);

#endif /* SMC_ISMD_MEMORY_H */
