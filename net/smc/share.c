// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of the memory for buffers, in total and for each namespace.
 *
 * These limits apply:
 * - all memory: smc_memory_limit(), a part of the machine's memory;
 * - one network namespace: its share of that;
 * - all namespaces but the initial one, together: three quarters of it;
 * - all namespaces that unprivileged users may have created, together: half of it.
 *
 * Of each sum over several namespaces, the last eighth is reserved for namespaces that use little
 * memory.
 *
 * Near a limit, new connections get smaller buffers, so that many connections use little memory
 * each. At the limit, a connection falls back to TCP. A buffer that begins small needs more memory
 * later: the last part below a limit is for those that exist.
 */

#include <linux/log2.h>
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
static atomic_long_t used;		/* all buffer memory of the module */

/**
 * struct sum - memory that is charged to several namespaces
 * @used: bytes
 * @eighths: limit, in eighths of smc_memory_limit()
 */
struct sum {
	atomic_long_t used;
	unsigned int eighths;
};

/* A namespace is included in the first smc_share.nr_sums of them */
static struct sum sums[] = {
	{ .eighths = 8 },	/* all namespaces */
	{ .eighths = 6 },	/* all but the initial one */
	{ .eighths = 4 },	/* those that unprivileged users may have created */
};

/* Set the default limit from the size of the machine's memory */
void smc_share_init(void)
{
	default_limit = (totalram_pages() << PAGE_SHIFT) / 4;
}

/* The limit of the memory for buffers in bytes */
unsigned long smc_memory_limit(void)
{
	unsigned int mb = READ_ONCE(buffer_limit_mb);

	return mb ? (unsigned long)mb << 20 : default_limit;
}

/* Bytes used by buffers, including pooled ones */
unsigned long smc_memory_used(void)
{
	return atomic_long_read(&used);
}

/*
 * If at least half of the memory is left, each request gets the largest size of the protocol. With
 * each further halving of the rest, the largest size drops to a quarter. Requests below the
 * smallest size of the protocol, of which a device may make use, always get their size. Larger ones
 * than the largest get an eighth of what is left, as long as that is three quarters.
 */
static u32 limit_buffer_size(u32 bytes, unsigned long in_use, unsigned long limit)
{
	unsigned long left = limit - in_use;
	unsigned long step = limit / 2;
	u32 most = SMC_BUFFER_MAX;

	if (bytes > most && left >= limit / 4 * 3)
		return clamp_t(unsigned long, rounddown_pow_of_two(left / 8), most, bytes);
	while (left < step && most > SMC_BUFFER_MIN) {
		step /= 2;
		most /= 4;
	}
	return min(bytes, max_t(u32, most, SMC_BUFFER_MIN));
}

/* How much must be left below @limit for a buffer of @bytes */
static unsigned long get_least_room(u32 bytes, unsigned long limit)
{
	return bytes < SMC_BUFFER_MIN ? max_t(unsigned long, bytes, limit / 32) : SMC_BUFFER_MIN;
}

/**
 * smc_size_below() - choose the size of a buffer under a limit
 * @bytes: requested size
 * @in_use: bytes in use
 * @limit: limit in bytes
 *
 * Any context.
 *
 * Return: @bytes or a smaller size; 0 at the limit, or if @bytes is 0.
 */
u32 smc_size_below(u32 bytes, unsigned long in_use, unsigned long limit)
{
	if (!bytes || in_use + get_least_room(bytes, limit) > limit)
		return 0;
	return limit_buffer_size(bytes, in_use, limit);
}

static bool try_add_below(u32 bytes, atomic_long_t *sum, unsigned long limit)
{
	if (atomic_long_add_return(bytes, sum) <= limit)
		return true;
	atomic_long_sub(bytes, sum);
	return false;
}

/**
 * smc_share_create() - create the share of a namespace
 * @net: the namespace
 *
 * May sleep.
 *
 * Return: the share, which the caller drops with smc_share_drop(), or NULL.
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

static void uncharge_share(struct smc_share *share, u32 bytes)
{
	if (atomic_long_sub_and_test(bytes, &share->used))
		kfree(share);
}

/**
 * smc_share_hold() - get a reference, to charge memory after the namespace may have ended
 * @share: the share; the caller holds a reference
 *
 * Any context. The caller must call smc_share_drop().
 */
void smc_share_hold(struct smc_share *share)
{
	refcount_inc(&share->holders);
}

/**
 * smc_share_drop() - drop a reference
 * @share: the share; it is freed when all memory is uncharged too
 *
 * Any context.
 */
void smc_share_drop(struct smc_share *share)
{
	if (refcount_dec_and_test(&share->holders))
		uncharge_share(share, SMC_SHARE_ALIVE);
}

/* Number of bytes charged to @share, to which the caller holds a reference. Any context */
unsigned long smc_share_used(const struct smc_share *share)
{
	return atomic_long_read(&share->used) - SMC_SHARE_ALIVE;
}

/**
 * smc_share_limit() - the limit of a namespace in bytes
 * @share: its share
 *
 * By default the initial namespace can use three quarters of smc_memory_limit(), any other
 * namespace one quarter. The sysctl can change that. Any context.
 */
unsigned long smc_share_limit(const struct smc_share *share)
{
	unsigned long mb = READ_ONCE(share->limit_mb);
	unsigned long all = smc_memory_limit();

	if (mb)
		return min(mb << 20, all);
	return share->first ? all / 4 * 3 : all / 4;
}

/*
 * Limit of @sum for this namespace. The last eighth is reserved for namespaces that use less than a
 * 64th of smc_memory_limit().
 */
static unsigned long get_sum_limit(const struct sum *sum, const struct smc_share *share)
{
	unsigned long all = smc_memory_limit(), limit = all / 8 * sum->eighths;

	return smc_share_used(share) < all / 64 ? limit : limit / 8 * 7;
}

/**
 * smc_share_offer() - the size that smc_share_take() would return now
 * @share: the share of the namespace; the caller holds a reference
 * @bytes: requested size
 *
 * Any context.
 *
 * Return: @bytes or a smaller size; 0 at a limit.
 */
u32 smc_share_offer(const struct smc_share *share, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < share->nr_sums; i++)
		bytes = smc_size_below(bytes, atomic_long_read(&sums[i].used),
				       get_sum_limit(&sums[i], share));
	return smc_size_below(bytes, smc_share_used(share), smc_share_limit(share));
}

/**
 * smc_share_take_exactly() - charge memory of exactly this size to a namespace
 * @share: the share of the namespace; the caller holds a reference
 * @bytes: its size
 *
 * Any context.
 *
 * Return: false at a limit; on true the caller must call smc_share_give().
 */
bool smc_share_take_exactly(struct smc_share *share, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < share->nr_sums; i++)
		if (!try_add_below(bytes, &sums[i].used, get_sum_limit(&sums[i], share)))
			goto err_sums;
	if (try_add_below(bytes, &share->used, smc_share_limit(share) + SMC_SHARE_ALIVE))
		return true;

err_sums:
	while (i--)
		atomic_long_sub(bytes, &sums[i].used);
	return false;
}

/**
 * smc_share_take() - charge memory to a namespace
 * @share: the share of the namespace; the caller holds a reference
 * @bytes: requested size
 *
 * Any context.
 *
 * Return: the charged size, @bytes or smaller; 0 at a limit. The caller must call smc_share_give().
 */
u32 smc_share_take(struct smc_share *share, u32 bytes)
{
	bytes = smc_share_offer(share, bytes);
	return bytes && smc_share_take_exactly(share, bytes) ? bytes : 0;
}

/**
 * smc_share_exceed() - charge memory to a namespace, whatever its limit
 * @share: the share of the namespace; the caller holds a reference
 * @bytes: its size
 *
 * For memory that replaces more of it. Any context. The caller must call smc_share_give().
 */
void smc_share_exceed(struct smc_share *share, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < share->nr_sums; i++)
		atomic_long_add(bytes, &sums[i].used);
	atomic_long_add(bytes, &share->used);
}

/**
 * smc_share_give() - uncharge memory
 * @share: the share to which it is charged; the namespace may have ended
 * @bytes: charged size, or a part of it
 *
 * Any context.
 */
void smc_share_give(struct smc_share *share, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < share->nr_sums; i++)
		atomic_long_sub(bytes, &sums[i].used);
	uncharge_share(share, bytes);
}

/**
 * smc_share_move() - charge memory to another namespace
 * @from: the share to which it is charged
 * @to: the share of the other namespace; the caller holds a reference. The memory may exceed
 *	its limit: then it can take no more
 * @bytes: charged size
 *
 * Any context. The caller must call smc_share_give() for @to.
 */
void smc_share_move(struct smc_share *from, struct smc_share *to, u32 bytes)
{
	smc_share_exceed(to, bytes);
	smc_share_give(from, bytes);
}

/**
 * smc_memory_offer() - the size that smc_memory_reserve() would return now
 * @bytes: requested size
 *
 * Any context.
 *
 * Return: @bytes or a smaller size; 0 at the limit.
 */
u32 smc_memory_offer(u32 bytes)
{
	return smc_size_below(bytes, smc_memory_used(), smc_memory_limit());
}

/**
 * smc_memory_reserve_exactly() - reserve memory of exactly this size before allocating it
 * @bytes: its size
 *
 * Any context.
 *
 * Return: false at the limit; on true the caller must call smc_memory_unreserve().
 */
bool smc_memory_reserve_exactly(u32 bytes)
{
	return try_add_below(bytes, &used, smc_memory_limit());
}

/**
 * smc_memory_reserve() - reserve memory before allocating it
 * @bytes: requested size
 *
 * Any context.
 *
 * Return: the reserved size, @bytes or smaller; 0 at the limit. The caller must call
 * smc_memory_unreserve().
 */
u32 smc_memory_reserve(u32 bytes)
{
	bytes = smc_memory_offer(bytes);
	return bytes && smc_memory_reserve_exactly(bytes) ? bytes : 0;
}

/* smc_memory_reserve_exactly(), whatever the limit: for memory that replaces more. Any context. */
void smc_memory_exceed(u32 bytes)
{
	atomic_long_add(bytes, &used);
}

/* Memory of this size was freed. Any context */
void smc_memory_unreserve(u32 bytes)
{
	atomic_long_sub(bytes, &used);
}
