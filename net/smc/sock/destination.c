// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destinations that did not answer SYNs with the SMC option.
 *
 * A packet filter may drop a SYN with an option it does not know. TCP's next SYN, which has none
 * (syn_option.c), comes a second later. After some such connections in a row, further ones are TCP
 * from the first SYN, for net.smc.syn_retry_time. Then one of them tries the option again.
 *
 * A SYN is lost for other reasons, too, for instance at a server that is too busy. So one answer
 * makes the destination a good one again, and failures of the same moment count once. An entry is
 * for an address, a port and a user: users can lose SYNs of their own on purpose.
 */

#include <linux/jiffies.h>
#include <net/ipv6.h>

#include "../net.h"
#include "sock.h"

#define BAD		3		/* failures */
#define SAME_MOMENT	(HZ / 2)
#define LONG_AGO	(3600 * HZ)

/**
 * smc_destination_hash() - hash of address, port and user
 * @sk: a socket that is about to connect
 * @addr: destination; TCP validates it later
 * @addr_len: its length, at least sizeof(sa_family_t)
 *
 * A BPF program may change the address afterwards: the hash is that of what the program named.
 *
 * Return: the hash, or 0 for what is no address.
 */
u32 smc_destination_hash(const struct sock *sk, const struct sockaddr *addr, int addr_len)
{
	const struct sockaddr_in6 *addr6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *addr4 = (const struct sockaddr_in *)addr;
	const siphash_key_t *secret = &smc_net(sock_net(sk))->destinations.secret;
	const __be32 *words = addr6->sin6_addr.s6_addr32;
	u32 uid = __kuid_val(sk->sk_uid);
	u64 hash;

	if (addr->sa_family == AF_INET && addr_len >= (int)sizeof(*addr4))
		hash = siphash_2u64((__force u32)addr4->sin_addr.s_addr,
				    (u64)(__force u16)addr4->sin_port << 32 | uid, secret);
	else if (addr->sa_family == AF_INET6 && addr_len >= SIN6_LEN_RFC2133)
		hash = siphash_3u64((u64)(__force u32)words[0] << 32 | (__force u32)words[1],
				    (u64)(__force u32)words[2] << 32 | (__force u32)words[3],
				    (u64)(__force u16)addr6->sin6_port << 32 | uid, secret);
	else
		return 0;
	return (u32)hash ?: 1;
}

/* Return: the entry of this hash, or else that which a new one replaces */
static struct smc_destination *find_slot(struct smc_destinations *destinations, u32 hash)
{
	struct smc_destination *slot = destinations->slots[hash % SMC_DESTINATION_CLASSES];
	struct smc_destination *oldest = slot;
	unsigned int i;

	lockdep_assert_held(&destinations->lock);
	for (i = 0; i < SMC_DESTINATIONS_OF_CLASS; i++, slot++) {
		if (slot->hash == hash)
			return slot;
		if (oldest->hash && (!slot->hash || time_before(slot->since, oldest->since)))
			oldest = slot;
	}
	return oldest;
}

/*
 * Must a connection to the destination be TCP? After net.smc.syn_retry_time the answer is no for
 * one caller, which tries again. Any context.
 */
bool smc_destination_avoid(struct smc_net *sn, u32 hash)
{
	unsigned long retry_time = READ_ONCE(sn->knobs.syn_retry_time) * (unsigned long)HZ;
	struct smc_destinations *destinations = &sn->destinations;
	struct smc_destination *slot;
	bool avoid = false;

	if (!hash || !READ_ONCE(destinations->nr))
		return false;
	spin_lock_bh(&destinations->lock);
	slot = find_slot(destinations, hash);
	if (slot->hash == hash && slot->failures >= BAD) {
		avoid = time_before(jiffies, slot->since + retry_time);
		if (!avoid)
			slot->since = jiffies;
	}
	spin_unlock_bh(&destinations->lock);
	return avoid;
}

static void count_failure(struct smc_destination *slot)
{
	if (time_before(jiffies, slot->since + SAME_MOMENT))
		return;
	if (slot->failures < BAD)
		slot->failures = time_before(jiffies, slot->since + LONG_AGO) ?
				 slot->failures + 1 : 1;
	slot->since = jiffies;
}

/* TCP has connected, but only after a SYN without the option. Any context. */
void smc_destination_failed(struct smc_net *sn, u32 hash)
{
	struct smc_destinations *destinations = &sn->destinations;
	struct smc_destination *slot;

	if (!hash)
		return;
	spin_lock_bh(&destinations->lock);
	slot = find_slot(destinations, hash);
	if (slot->hash == hash) {
		count_failure(slot);
	} else {
		WRITE_ONCE(destinations->nr, destinations->nr + !slot->hash);
		*slot = (struct smc_destination){ .hash = hash, .failures = 1, .since = jiffies };
	}
	spin_unlock_bh(&destinations->lock);
}

/* A SYN of a connection, which had the option, was answered. Any context. */
void smc_destination_answered(struct smc_net *sn, u32 hash)
{
	struct smc_destinations *destinations = &sn->destinations;
	struct smc_destination *slot;

	if (!hash || !READ_ONCE(destinations->nr))
		return;
	spin_lock_bh(&destinations->lock);
	slot = find_slot(destinations, hash);
	if (slot->hash == hash) {
		*slot = (struct smc_destination){};
		WRITE_ONCE(destinations->nr, destinations->nr - 1);
	}
	spin_unlock_bh(&destinations->lock);
}
