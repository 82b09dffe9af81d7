// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much memory there may be for buffers, and how much of it each namespace holds.
 *
 * It is bounded several times: all that exists, by a part of the machine's memory; what serves
 * connections of one network namespace, by its share of that; what serves all namespaces but the
 * first, together, by three quarters of it, because there are many; and what serves namespaces that
 * users without privileges may have made, together, by half of it, because they can make many. Of
 * what several namespaces take together, an eighth is left to those that have little.
 * As a bound comes near, new connections get smaller buffers, so that many connections cost little
 * each; beyond it, a connection becomes a TCP connection.
 */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>

#include "share.h"

static unsigned int buffer_limit_mb;
module_param(buffer_limit_mb, uint, 0644);
MODULE_PARM_DESC(buffer_limit_mb,
		 "Most memory for buffers, in MiB; 0: a quarter of the memory");

static unsigned long default_limit;
static atomic_long_t used;		/* all that exists */

/**
 * struct sum - what several namespaces take together
 * @used: bytes
 * @eighths: most of it, in eighths of smc_memory_limit()
 */
struct sum {
	atomic_long_t used;
	unsigned int eighths;
};

/* A namespace counts in the first ones, smc_share.nr_sums of them */
static struct sum sums[] = {
	{ .eighths = 8 },	/* all */
	{ .eighths = 6 },	/* all but the first one */
	{ .eighths = 4 },	/* those that users without privileges may have made */
};

/** smc_share_init() - take the size of the machine's memory */
void smc_share_init(void)
{
	default_limit = (totalram_pages() << PAGE_SHIFT) / 4;
}

/** smc_memory_limit() - Return: most bytes that buffers may take */
unsigned long smc_memory_limit(void)
{
	unsigned int mb = READ_ONCE(buffer_limit_mb);

	return mb ? (unsigned long)mb << 20 : default_limit;
}

/** smc_memory_used() - Return: bytes that buffers take now, pooled ones included */
unsigned long smc_memory_used(void)
{
	return atomic_long_read(&used);
}

/*
 * As long as half of the memory is left, all requests are met in full. Below that, the largest size
 * goes down to a quarter with every half of what is left.
 */
static u32 size_under_pressure(u32 bytes, unsigned long in_use, unsigned long limit)
{
	unsigned long left = limit - in_use;
	unsigned long step = limit / 2;
	u32 most = SMC_BUFFER_MAX;

	while (left < step && most > SMC_BUFFER_MIN) {
		step /= 2;
		most /= 4;
	}
	return clamp_t(u32, bytes, SMC_BUFFER_MIN, max_t(u32, most, SMC_BUFFER_MIN));
}

/**
 * smc_size_below() - the size of buffers where memory is limited
 * @bytes: the size that is wanted
 * @in_use: bytes that are in use
 * @limit: most bytes
 *
 * Any context.
 *
 * Return: that size, perhaps a smaller one; 0 at the limit, and for no bytes.
 */
u32 smc_size_below(u32 bytes, unsigned long in_use, unsigned long limit)
{
	if (!bytes || in_use + SMC_BUFFER_MIN > limit)
		return 0;
	return size_under_pressure(bytes, in_use, limit);
}

static bool add_below(u32 bytes, atomic_long_t *sum, unsigned long limit)
{
	if (atomic_long_add_return(bytes, sum) <= limit)
		return true;
	atomic_long_sub(bytes, sum);
	return false;
}

/**
 * smc_share_create() - a new namespace gets its share
 * @net: the namespace
 *
 * May sleep.
 *
 * Return: the share, until smc_share_drop(), or NULL.
 */
struct smc_share *smc_share_create(const struct net *net)
{
	struct smc_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);

	if (!share)
		return NULL;
	share->first = net_eq(net, &init_net);
	share->guest = net->user_ns != &init_user_ns;
	share->nr_sums = share->first ? 1 : share->guest ? 3 : 2;
	refcount_set(&share->holders, 1);
	atomic_long_set(&share->used, SMC_SHARE_ALIVE);
	return share;
}

static void subtract_used(struct smc_share *share, u32 bytes)
{
	if (atomic_long_sub_and_test(bytes, &share->used))
		kfree(share);
}

/**
 * smc_share_hold() - memory may be taken for the namespace later, when that may be gone
 * @share: its share; the caller is one of its holders, or it is held
 *
 * Any context. smc_share_drop() is due.
 */
void smc_share_hold(struct smc_share *share)
{
	refcount_inc(&share->holders);
}

/**
 * smc_share_drop() - a holder is gone; the first one is the namespace
 * @share: the share, which stays until all that was taken is given back
 *
 * Any context.
 */
void smc_share_drop(struct smc_share *share)
{
	if (refcount_dec_and_test(&share->holders))
		subtract_used(share, SMC_SHARE_ALIVE);
}

/**
 * smc_share_used() - how much serves a namespace
 * @share: its share; it is held
 *
 * Any context.
 *
 * Return: bytes.
 */
unsigned long smc_share_used(const struct smc_share *share)
{
	return atomic_long_read(&share->used) - SMC_SHARE_ALIVE;
}

/**
 * smc_share_limit() - the most that may serve a namespace
 * @share: its share
 *
 * The first namespace is that of the host's own programs. It leaves a quarter to all others, they
 * leave a quarter to it, and none of them takes more than a quarter, unless the sysctl allows it.
 * Any context.
 *
 * Return: bytes.
 */
unsigned long smc_share_limit(const struct smc_share *share)
{
	unsigned long mb = READ_ONCE(share->limit_mb);
	unsigned long all = smc_memory_limit();

	if (mb)
		return min(mb << 20, all);
	return share->first ? all / 4 * 3 : all / 4;
}

/* The last eighth is for namespaces that hold less than a 64th of the machine's limit */
static unsigned long limit_of_sum(const struct sum *sum, const struct smc_share *share)
{
	unsigned long all = smc_memory_limit(), limit = all / 8 * sum->eighths;

	return smc_share_used(share) < all / 64 ? limit : limit / 8 * 7;
}

/**
 * smc_share_offer() - what smc_share_take() would give now
 * @share: the share of the namespace, which is held
 * @bytes: a size of buffers
 *
 * Any context.
 *
 * Return: that size, perhaps a smaller one; 0 at a limit.
 */
u32 smc_share_offer(const struct smc_share *share, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < share->nr_sums; i++)
		bytes = smc_size_below(bytes, atomic_long_read(&sums[i].used),
				       limit_of_sum(&sums[i], share));
	return smc_size_below(bytes, smc_share_used(share), smc_share_limit(share));
}

/**
 * smc_share_take_exactly() - memory of just this size is to serve a namespace
 * @share: the share of the namespace, which is held
 * @bytes: its size
 *
 * Any context.
 *
 * Return: whether it may; then smc_share_give() is due.
 */
bool smc_share_take_exactly(struct smc_share *share, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < share->nr_sums; i++)
		if (!add_below(bytes, &sums[i].used, limit_of_sum(&sums[i], share)))
			goto err_sums;
	if (add_below(bytes, &share->used, smc_share_limit(share) + SMC_SHARE_ALIVE))
		return true;

err_sums:
	while (i--)
		atomic_long_sub(bytes, &sums[i].used);
	return false;
}

/**
 * smc_share_take() - memory is to serve a namespace
 * @share: the share of the namespace, which is held
 * @bytes: a size of buffers
 *
 * Any context.
 *
 * Return: the size that it may have, perhaps a smaller one; 0 at a limit. smc_share_give() gives
 * it back.
 */
u32 smc_share_take(struct smc_share *share, u32 bytes)
{
	bytes = smc_share_offer(share, bytes);
	return bytes && smc_share_take_exactly(share, bytes) ? bytes : 0;
}

/**
 * smc_share_give() - memory does not serve the namespace any more
 * @share: as taken from; the namespace may be gone meanwhile, the share is not
 * @bytes: as taken, or a part of it
 *
 * Any context.
 */
void smc_share_give(struct smc_share *share, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < share->nr_sums; i++)
		atomic_long_sub(bytes, &sums[i].used);
	subtract_used(share, bytes);
}

/**
 * smc_share_move() - another namespace than the one that took it holds memory now
 * @from: as taken from
 * @to: the share of the namespace that holds it, which is held. It may exceed its limit by that:
 *	then it takes nothing more
 * @bytes: as taken
 *
 * Any context. smc_share_give() to @to is due.
 */
void smc_share_move(struct smc_share *from, struct smc_share *to, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < to->nr_sums; i++)
		atomic_long_add(bytes, &sums[i].used);
	atomic_long_add(bytes, &to->used);
	smc_share_give(from, bytes);
}

/**
 * smc_memory_offer() - what smc_memory_reserve() would give now
 * @bytes: a size of buffers
 *
 * Any context.
 *
 * Return: that size, perhaps a smaller one; 0 at the limit.
 */
u32 smc_memory_offer(u32 bytes)
{
	return smc_size_below(bytes, smc_memory_used(), smc_memory_limit());
}

/**
 * smc_memory_reserve_exactly() - memory of just this size is to exist
 * @bytes: its size
 *
 * Any context.
 *
 * Return: whether it may be allocated; then smc_memory_unreserve() is due.
 */
bool smc_memory_reserve_exactly(u32 bytes)
{
	return add_below(bytes, &used, smc_memory_limit());
}

/**
 * smc_memory_reserve() - memory is to exist
 * @bytes: a size of buffers
 *
 * Any context.
 *
 * Return: the size that may be allocated, perhaps a smaller one; 0 at the limit.
 * smc_memory_unreserve() gives it back.
 */
u32 smc_memory_reserve(u32 bytes)
{
	bytes = smc_memory_offer(bytes);
	return bytes && smc_memory_reserve_exactly(bytes) ? bytes : 0;
}

/**
 * smc_memory_unreserve() - memory was freed
 * @bytes: its size
 *
 * Any context.
 */
void smc_memory_unreserve(u32 bytes)
{
	atomic_long_sub(bytes, &used);
}
