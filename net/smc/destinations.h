/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Destinations that did not answer SYNs with the SMC option: a part of struct smc_net.
 * sock/destination.c uses it.
 */
#ifndef _NET_SMC_DESTINATIONS_H
#define _NET_SMC_DESTINATIONS_H

#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

#define SMC_DESTINATION_CLASSES		32
#define SMC_DESTINATIONS_OF_CLASS	4

/**
 * struct smc_destination - an address and a port that a user has connected to
 * @hash: of these, see smc_destination_hash(); 0: unused
 * @failures: SYNs with the option that were not answered, without an answer between them
 * @since: jiffies of the last one that was counted, or of the attempt after it
 */
struct smc_destination {
	u32 hash;
	u32 failures;
	unsigned long since;
};

/**
 * struct smc_destinations - destinations that failed
 * @lock: protects all fields but @secret; a BH lock
 * @nr: number of used slots; also read without the lock
 * @secret: for hashes; constant
 * @slots: by hash. A new entry replaces the oldest one of its class
 */
struct smc_destinations {
	spinlock_t lock;	/* see above */
	unsigned int nr;
	siphash_key_t secret;
	struct smc_destination slots[SMC_DESTINATION_CLASSES][SMC_DESTINATIONS_OF_CLASS];
};

/* Part of a zeroed struct */
static inline void smc_destinations_init(struct smc_destinations *destinations)
{
	spin_lock_init(&destinations->lock);
	get_random_bytes(&destinations->secret, sizeof(destinations->secret));
}

#endif /* _NET_SMC_DESTINATIONS_H */
