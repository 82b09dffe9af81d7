/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that two virtual machines of one host share: who writes what where.
 *
 * The host daemon and the guests' driver agree on this. Documentation/ism-vm.rst says why it is so.
 * All numbers are little endian. The memory is all zero when it is new.
 *
 *	memory		half of side 0 | half of side 1
 *	half		head | facts | ... | reg | att | ring | heap
 *
 * A half is written by the machine of its side and read by the other one, but for the facts, which
 * the host writes. Which half is a machine's own follows from its IVPosition, see below: that
 * comes from the host, not from this memory, where the peer may write anything.
 */
#ifndef SMC_ISM_SHMEM_H
#define SMC_ISM_SHMEM_H

#include <linux/types.h>

/* Sizes of the whole memory are powers of two. */
#define SMC_ISM_SHMEM_SIZE_MIN		0x01000000	/* 16 MiB */
#define SMC_ISM_SHMEM_SIZE_MAX		0x40000000	/* 1 GiB */

/*
 * The number of a machine, its IVPosition: 2 to 65535; the lowest bit is its side. A number that
 * was given up does not come back while the other machine is there.
 */
#define SMC_ISM_SHMEM_ID_MAX		0xffff
#define SMC_ISM_SHMEM_SIDE(id)		((id) & 1)

/* Offsets in a half; the same for every size. */
#define SMC_ISM_SHMEM_HEAD		0x000000
#define SMC_ISM_SHMEM_FACTS		0x001000
#define SMC_ISM_SHMEM_REG		0x010000	/* __le32[SMC_ISM_SHMEM_UNITS_MAX] */
#define SMC_ISM_SHMEM_ATT		0x030000	/* the same */
#define SMC_ISM_SHMEM_RING		0x080000	/* __le32[SMC_ISM_SHMEM_ENTRIES] */
#define SMC_ISM_SHMEM_HEAP		0x100000

#define SMC_ISM_SHMEM_UNIT		0x4000		/* bytes of heap */
#define SMC_ISM_SHMEM_UNITS_MAX		0x8000
#define SMC_ISM_SHMEM_ENTRIES		0x20000		/* of all queues; each has an equal part */

/*
 * Vector 0 says that something about the machines themselves has changed: facts or head. Vectors
 * from 1 on are those of the queues, of which there are 1, 2 or 4.
 */
#define SMC_ISM_SHMEM_QUEUES_MAX	4
#define SMC_ISM_SHMEM_VECTORS_MIN	2
#define SMC_ISM_SHMEM_VECTORS_MAX	(1 + SMC_ISM_SHMEM_QUEUES_MAX)

#define SMC_ISM_SHMEM_FACTS_MAGIC	0x46434d53	/* "SMCF" */
#define SMC_ISM_SHMEM_HEAD_MAGIC	0x49434d53	/* "SMCI" */
#define SMC_ISM_SHMEM_VERSION		1

/**
 * struct smc_ism_shmem_facts - what the host says, at SMC_ISM_SHMEM_FACTS in each half
 * @magic: SMC_ISM_SHMEM_FACTS_MAGIC; stored last
 * @version: SMC_ISM_SHMEM_VERSION
 * @fabric: number of the fabric, of which the CHID is made
 * @vectors: that the host has for each machine
 * @host_seed: the same for all machines of the host, of which the system EID is made
 * @pair: a random number, not 0, that this memory has and no other one
 * @side: of this half
 * @reserved: 0
 * @id: of the machine which is there on this side, 0: none
 * @joins: how often a machine came, on this side
 *
 * @id and @joins change while machines come and go. Vector 0 of the other side is rung after that.
 * The peer is able to overwrite all of it. What is read here is right or breaks this pair alone.
 */
struct smc_ism_shmem_facts {
	__le32 magic;
	__le16 version;
	__le16 fabric;
	__le32 vectors;
	__u8 host_seed[16];
	__le32 pair;
	__le32 side;
	__u8 reserved[28];
	__le32 id;
	__le32 joins;
};

/**
 * struct smc_ism_shmem_queue - cursors of one queue, a cache line each
 * @prod: entries that were put into the ring of this half, ever
 * @reserved_prod: 0
 * @cons: entries that were taken out of that ring of the other half, ever
 * @event: ring when @prod of the other half passes this
 * @reserved_cons: 0
 */
struct smc_ism_shmem_queue {
	__le32 prod;
	__u8 reserved_prod[60];
	__le32 cons;
	__le32 event;
	__u8 reserved_cons[56];
};

/**
 * struct smc_ism_shmem_head - what a machine says about itself, at SMC_ISM_SHMEM_HEAD in its half
 * @magic: SMC_ISM_SHMEM_HEAD_MAGIC
 * @version: that it speaks best
 * @min_version: that it speaks at least
 * @flags: 0
 * @generation: random, not 0, another one for each load of the driver; stored last. 0: not ready
 * @id: its IVPosition, for the doorbell
 * @gid: where it can be reached
 * @units: of the heap of a half
 * @queues: that it uses
 * @reserved: 0
 * @echo: the generation of the other machine, once seen. Both sides are up when both say so
 * @closing: it is about to go
 * @beat: counts the seconds that it lives
 * @reserved_beat: 0
 * @queue: cursors
 */
struct smc_ism_shmem_head {
	__le32 magic;
	__le16 version;
	__le16 min_version;
	__le32 flags;
	__le32 generation;
	__le32 id;
	__u8 gid[16];
	__le32 units;
	__le32 queues;
	__u8 reserved[20];
	__le32 echo;
	__le32 closing;
	__le32 beat;
	__u8 reserved_beat[52];
	struct smc_ism_shmem_queue queue[SMC_ISM_SHMEM_QUEUES_MAX];
};

#endif /* SMC_ISM_SHMEM_H */
