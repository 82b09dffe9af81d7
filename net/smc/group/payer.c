// SPDX-License-Identifier: GPL-2.0-only
/*
 * The share of a memory cgroup that buffers may use.
 *
 * The kernel cannot reclaim buffers. If they filled the cgroup up to its limit, the next allocation
 * of the program would find no memory, and the OOM killer would end the program. So buffers get an
 * eighth of the memory below the limit that nothing else uses. Near that share buffers are smaller;
 * beyond it the connection becomes a TCP connection.
 *
 * The share applies at each level of the hierarchy, because the limit of any ancestor can start the
 * OOM killer. So each cgroup counts the buffers of all sockets in it and below it.
 *
 * A program that reads files fills its cgroup with page cache, which the kernel reclaims for any
 * other use. Half of the page cache counts as free; the other half may be the working set. At all
 * levels this is the page cache of the socket's own cgroup: that of others is not accessible.
 */

#include <linux/hashtable.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/sock.h>

#include "../share.h"
#include "payer.h"

#define SHARE		8	/* buffers get one eighth */
#define CONNECTIONS	16	/* their share has to be enough for so many connections */

/**
 * struct smc_payer - counts the buffers of a memory cgroup and of its descendants
 * @node: node in the hash table; protected by lock
 * @memcg: the cgroup; the payer holds a reference
 * @parent: payer of the parent cgroup, with a reference. NULL if the parent is the root cgroup,
 *	which has no limit
 * @refs: number of connections and children; protected by lock
 * @used: bytes of buffers
 */
struct smc_payer {
	struct hlist_node node;
	struct mem_cgroup *memcg;
	struct smc_payer *parent;
	unsigned long refs;
	atomic_long_t used;
};

static DEFINE_SPINLOCK(lock);	/* protects the hash table and the references */
static DEFINE_HASHTABLE(payers, 8);

static atomic_long_t charged_bytes;
static DEFINE_PER_CPU(int, charged_ahead);
static long no_limits[3] = { LONG_MAX, LONG_MAX, LONG_MAX };
static int no_minimum;

/*
 * For the accounts of connections, which have no limits. The kernel reads all these fields, the
 * minimum also when it traces a charge that it refuses.
 */
static struct proto account_proto = {
	.name			= "SMC",
	.memory_allocated	= &charged_bytes,
	.per_cpu_fw_alloc	= &charged_ahead,
	.sysctl_mem		= no_limits,
	.sysctl_rmem		= &no_minimum,
	.sysctl_wmem		= &no_minimum,
};

/* cgroup version 1 has a separate counter for sockets */
static struct page_counter *get_counter(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG_V1
	if (!cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return &memcg->tcpmem;
#endif
	return &memcg->memory;
}

static unsigned long count_file_pages(struct lruvec *lruvec, int zone)
{
	unsigned long pages = mem_cgroup_get_zone_lru_size(lruvec, LRU_INACTIVE_FILE, zone) +
			      mem_cgroup_get_zone_lru_size(lruvec, LRU_ACTIVE_FILE, zone);
#ifdef CONFIG_LRU_GEN
	unsigned int i;

	for (i = 0; i < MAX_NR_GENS; i++)
		pages += max_t(long, READ_ONCE(lruvec->lrugen.nr_pages[i][LRU_GEN_FILE][zone]), 0);
#endif
	return pages;
}

/* Page cache that the kernel may reclaim for buffers; see above */
static unsigned long count_reclaimable_pages(struct mem_cgroup *memcg)
{
	unsigned long pages = 0;
	int nid, zone;

	if (get_counter(memcg) != &memcg->memory)
		return 0;
	for_each_online_node(nid)
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			pages += count_file_pages(&memcg->nodeinfo[nid]->lruvec, zone);
	return pages / 2;
}

/*
 * The share of buffers in bytes. Existing buffers do not count as used memory, so they do not
 * reduce their own share.
 */
static unsigned long get_share(const struct smc_payer *payer, unsigned long reclaimable)
{
	struct page_counter *counter = get_counter(payer->memcg);
	unsigned long most = min(READ_ONCE(counter->max), READ_ONCE(payer->memcg->memory.high));
	unsigned long buffers = atomic_long_read(&payer->used) >> PAGE_SHIFT;
	unsigned long usage = page_counter_read(counter);
	unsigned long others = usage - min(usage, buffers + reclaimable);

	return (most - min(most, others)) / SHARE << PAGE_SHIFT;
}

static struct smc_payer *find_payer(const struct mem_cgroup *memcg)
{
	struct smc_payer *payer;

	lockdep_assert_held(&lock);
	hash_for_each_possible(payers, payer, node, (unsigned long)memcg)
		if (payer->memcg == memcg)
			return payer;
	return NULL;
}

static struct smc_payer *create_payer(struct mem_cgroup *memcg)
{
	struct smc_payer *payer = kzalloc(sizeof(*payer), GFP_ATOMIC | __GFP_NOWARN);

	lockdep_assert_held(&lock);
	if (!payer)
		return NULL;
	css_get(&memcg->css);
	payer->memcg = memcg;
	hash_add(payers, &payer->node, (unsigned long)memcg);
	return payer;
}

static void put_payer_locked(struct smc_payer *payer)
{
	while (payer && !--payer->refs) {
		struct smc_payer *parent = payer->parent;

		hash_del(&payer->node);
		css_put(&payer->memcg->css);
		kfree(payer);
		payer = parent;
	}
}

/* Take a reference to @memcg's payer; create missing ancestors. Return: false without memory. */
static bool get_payer_locked(struct mem_cgroup *memcg, struct smc_payer **link)
{
	struct mem_cgroup *parent;

	for (; (parent = parent_mem_cgroup(memcg)); memcg = parent) {
		struct smc_payer *payer = find_payer(memcg);
		bool is_new = !payer;

		if (is_new)
			payer = create_payer(memcg);
		if (!payer)
			return false;
		payer->refs++;
		*link = payer;
		if (!is_new)
			break;
		link = &payer->parent;
	}
	return true;
}

/**
 * smc_payer_get() - get the payer for the buffers of a socket
 * @sk: the socket
 *
 * Process context.
 *
 * Return: the payer, with a reference; NULL if no memory cgroup pays; or an ERR_PTR.
 */
struct smc_payer *smc_payer_get(const struct sock *sk)
{
	struct smc_payer *payer = NULL;

	if (!mem_cgroup_sockets_enabled || !sk->sk_memcg)
		return NULL;
	spin_lock(&lock);
	if (!get_payer_locked(sk->sk_memcg, &payer)) {
		put_payer_locked(payer);
		payer = ERR_PTR(-ENOMEM);
	}
	spin_unlock(&lock);
	return payer;
}

/* Drop the reference to @payer, which may be NULL. Process context. */
void smc_payer_put(struct smc_payer *payer)
{
	if (!payer)
		return;
	spin_lock(&lock);
	put_payer_locked(payer);
	spin_unlock(&lock);
}

/**
 * smc_payer_open_account() - create what carries the charges of a connection
 * @payer: the payer, to which the caller has a reference as long as the account exists
 *
 * May sleep.
 *
 * Return: a sock of which only the fields for accounting are used, for smc_payer_close_account();
 * or NULL without memory.
 */
struct sock *smc_payer_open_account(const struct smc_payer *payer)
{
	struct sock *account = kzalloc(sizeof(*account), GFP_KERNEL_ACCOUNT);

	if (!account)
		return NULL;
	account->sk_prot = &account_proto;
	account->sk_memcg = payer->memcg;
	return account;
}

/* Nothing is charged to @account, which may be NULL, any more. Process context; does not sleep. */
void smc_payer_close_account(struct sock *account)
{
	if (!account)
		return;
	sk_mem_reclaim(account);
	kfree(account);
}

/**
 * smc_payer_offer() - the size that smc_payer_take() would allow now
 * @payer: the payer
 * @bytes: a power of two
 *
 * Any context.
 *
 * Return: @bytes or a smaller size; 0 if the share of a cgroup is used up.
 */
u32 smc_payer_offer(const struct smc_payer *payer, u32 bytes)
{
	unsigned long reclaimable = count_reclaimable_pages(payer->memcg);

	for (; payer; payer = payer->parent) {
		unsigned long share = get_share(payer, reclaimable);
		unsigned long even = max_t(unsigned long, share / CONNECTIONS, SMC_BUFFER_MIN);

		bytes = min_t(unsigned long, bytes, rounddown_pow_of_two(even));
		bytes = smc_size_below(bytes, atomic_long_read(&payer->used), share);
	}
	return bytes;
}

/* From the counters of @payer and its ancestors below @end */
static void subtract_bytes(struct smc_payer *payer, const struct smc_payer *end, u32 bytes)
{
	for (; payer != end; payer = payer->parent)
		atomic_long_sub(bytes, &payer->used);
}

/**
 * smc_payer_take() - count a buffer
 * @payer: the payer
 * @bytes: size of the buffer
 *
 * Any context.
 *
 * Return: whether the share allows it; then smc_payer_give() gives the bytes back.
 */
bool smc_payer_take(struct smc_payer *payer, u32 bytes)
{
	unsigned long reclaimable = count_reclaimable_pages(payer->memcg);
	struct smc_payer *level;

	for (level = payer; level; level = level->parent) {
		unsigned long share = get_share(level, reclaimable);

		if (atomic_long_add_return(bytes, &level->used) <= share)
			continue;
		subtract_bytes(payer, level->parent, bytes);
		return false;
	}
	return true;
}

/* Give back @bytes that smc_payer_take() has counted, or a part of them. Any context. */
void smc_payer_give(struct smc_payer *payer, u32 bytes)
{
	subtract_bytes(payer, NULL, bytes);
}
