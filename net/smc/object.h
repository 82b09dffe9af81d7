/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Number of live objects of each kind, and of all that were ever created. Tests read them in
 * debugfs, smc/objects, to detect leaks.
 */
#ifndef _NET_SMC_OBJECT_H
#define _NET_SMC_OBJECT_H

#include <linux/atomic.h>

/**
 * enum smc_object - kinds of counted objects
 * @SMC_OBJECT_SOCK: struct smc_sock: sockets that listen, connect or are connected over SMC
 * @SMC_OBJECT_CONN: connections that hold shared memory
 * @SMC_OBJECT_HANDSHAKE: handshakes in progress
 * @SMC_OBJECT_PAIR: Proposals of clients, and the messages of handshakes through memory
 * @SMC_OBJECT_GROUP: link groups
 * @SMC_OBJECT_DMB: direct memory buffers that an owner or a user holds
 * @SMC_OBJECT_LINK: links of SMC-R that hold resources of a device
 * @SMC_OBJECT_RMB: remote memory buffers of SMC-R
 * @SMC_OBJECT_MAX: number of kinds
 */
enum smc_object {
	SMC_OBJECT_SOCK,
	SMC_OBJECT_CONN,
	SMC_OBJECT_HANDSHAKE,
	SMC_OBJECT_PAIR,
	SMC_OBJECT_GROUP,
	SMC_OBJECT_DMB,
	SMC_OBJECT_LINK,
	SMC_OBJECT_RMB,
	SMC_OBJECT_MAX
};

struct smc_object_count {
	atomic_long_t live;
	atomic_long_t created;
};

extern struct smc_object_count smc_object_counts[SMC_OBJECT_MAX];

static inline void smc_object_created(enum smc_object kind)
{
	atomic_long_inc(&smc_object_counts[kind].live);
	atomic_long_inc(&smc_object_counts[kind].created);
}

static inline void smc_object_destroyed(enum smc_object kind)
{
	atomic_long_dec(&smc_object_counts[kind].live);
}

void smc_object_init(void);
void smc_object_exit(void);

#endif /* _NET_SMC_OBJECT_H */
