/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that two virtual machines of one host share: layout, and which side writes what.
 *
 * The host daemon and the guests' driver share this interface. Documentation/ism-vm.rst explains
 * it. All numbers are little-endian. New memory is all zero.
 *
 *	memory		half of side 0 | half of side 1
 *	half		head | facts | ... | reg | att | ring | heap
 *
 * The machine of a side writes the half of its side, and reads the other half; only the host writes
 * the facts. A machine derives its side from its IVPosition, see below. The host sets that; the
 * machine must not derive it from this memory, where the peer can write anything.
 */
#ifndef SMC_ISM_SHMEM_H
#define SMC_ISM_SHMEM_H

#include <linux/types.h>

/* The size of the memory is a power of two */
#define SMC_ISM_SHMEM_SIZE_MIN		0x01000000	/* 16 MiB */
#define SMC_ISM_SHMEM_SIZE_MAX		0x40000000	/* 1 GiB */

/*
 * Number of a machine, its IVPosition: 2 to 65535; the lowest bit is its side. The host does not
 * reuse a number while the other machine is connected.
 */
#define SMC_ISM_SHMEM_ID_MAX		0xffff
#define SMC_ISM_SHMEM_SIDE(id)		((id) & 1)

/* Offsets in a half, the same for each size */
#define SMC_ISM_SHMEM_HEAD		0x000000
#define SMC_ISM_SHMEM_FACTS		0x001000
#define SMC_ISM_SHMEM_REG		0x010000	/* __le32[SMC_ISM_SHMEM_UNITS_MAX] */
#define SMC_ISM_SHMEM_ATT		0x030000	/* __le32[SMC_ISM_SHMEM_UNITS_MAX] */
#define SMC_ISM_SHMEM_RING		0x080000	/* __le32[SMC_ISM_SHMEM_ENTRIES] */
#define SMC_ISM_SHMEM_HEAP		0x100000

#define SMC_ISM_SHMEM_UNIT		0x4000		/* bytes of heap */
#define SMC_ISM_SHMEM_UNITS_MAX		0x8000
#define SMC_ISM_SHMEM_ENTRIES		0x20000		/* of all queues, in equal parts */

/*
 * Vector 0 signals a change of the facts or of the head. Vectors from 1 on belong to the queues;
 * there are 1, 2 or 4.
 */
#define SMC_ISM_SHMEM_QUEUES_MAX	4
#define SMC_ISM_SHMEM_VECTORS_MIN	2
#define SMC_ISM_SHMEM_VECTORS_MAX	(1 + SMC_ISM_SHMEM_QUEUES_MAX)

#define SMC_ISM_SHMEM_FACTS_MAGIC	0x46434d53	/* "SMCF" */
#define SMC_ISM_SHMEM_HEAD_MAGIC	0x49434d53	/* "SMCI" */
#define SMC_ISM_SHMEM_VERSION		1

/**
 * struct smc_ism_shmem_facts - written by the host, at SMC_ISM_SHMEM_FACTS in each half
 * @magic: SMC_ISM_SHMEM_FACTS_MAGIC; stored last
 * @version: SMC_ISM_SHMEM_VERSION
 * @fabric: number of the fabric; the CHID is derived from it
 * @vectors: number of vectors of each machine
 * @host_seed: the same for all machines of the host; the system EID is derived from it
 * @pair: random number, not 0, unique for this memory
 * @side: side of this half
 * @reserved: 0
 * @id: number of the machine that is connected on this side, 0: not connected
 * @joins: number of times that a machine was connected on this side
 *
 * The host changes @id and @joins when a machine connects or disconnects, then signals vector 0 of
 * the other side. The peer can overwrite all fields. A wrong value may break this pair only.
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
 * struct smc_ism_shmem_queue - cursors of one queue, one cache line each
 * @prod: number of entries ever written to the ring of this half
 * @reserved_prod: 0
 * @cons: number of entries ever read from the ring of the other half
 * @event: signal when @prod of the other half passes this value
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
 * struct smc_ism_shmem_head - written by the machine, at SMC_ISM_SHMEM_HEAD in its half
 * @magic: SMC_ISM_SHMEM_HEAD_MAGIC
 * @version: highest version that it supports
 * @min_version: lowest version that it supports
 * @flags: 0
 * @generation: random, not 0, different for each load of the driver; stored last. 0: not
 *	ready
 * @id: its IVPosition, for the doorbell
 * @gid: its GID
 * @units: units of the heap of a half
 * @queues: number of queues that it uses
 * @reserved: 0
 * @echo: the other machine's generation, once read. Both sides are up when each has set this
 * @closing: the machine is about to disconnect
 * @beat: incremented each second
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
