// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loopback ISM: an emulated ISM device whose both ends are in this kernel
 * (V2-EMU-01). It is there from module load to unload and serves all network
 * namespaces; a peer is at hand exactly if it names this device's own address,
 * which is random and new with every load (V2-EMU-03, V2-EMU-15).
 *
 * A DMB is contiguous memory if there is some, which is cheaper to copy to and
 * from, else vmalloc memory. Owner and user hold a reference each. Memory of dead
 * DMBs is cleaned as far as it was written to, and pooled.
 */

#include <linux/hashtable.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uuid.h>
#include <linux/vmalloc.h>
#include <linux/unaligned.h>

#include "../group/buffer.h"
#include "../object.h"
#include "../wire/clc.h"
#include "device.h"
#include "loopback.h"

#define POOL_LIMIT	((unsigned long)SZ_64M)	/* most bytes of idle memory */

/**
 * struct memory - the memory of one DMB
 * @node: in the table of tokens; protected by lock
 * @pool: in a pool; protected by lock
 * @token: name of the DMB
 * @owner: the registered DMB, NULL when the owner gave it up; RCU
 * @user: the peer's map of it, NULL without; RCU
 * @peer: who may attach
 * @users: references: one of the owner, one of the user
 * @attached: it had its one user; protected by lock
 * @written: so many bytes from the start may be other than zero
 * @bytes: size
 * @addr: the memory
 * @rcu: frees both
 */
struct memory {
	struct hlist_node node;
	struct list_head pool;
	u64 token;
	struct smc_dmb __rcu *owner;
	struct smc_dmb_map __rcu *user;
	struct smc_ism_address peer;
	refcount_t users;
	bool attached;
	u32 written;
	u32 bytes;
	void *addr;
	struct rcu_head rcu;
};

static DEFINE_SPINLOCK(lock);	/* protects tokens, pools, pooled_bytes */
static DEFINE_HASHTABLE(tokens, 12);
static struct list_head pools[SMC_BUFFER_CLASSES];
static unsigned long pooled_bytes;

static unsigned int class_of(u32 bytes)
{
	return ilog2(bytes / SMC_BUFFER_MIN);
}

static void *pages_alloc(u32 bytes)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	struct page *page;

	page = alloc_pages(gfp | __GFP_COMP | __GFP_NORETRY, get_order(bytes));
	return page ? page_address(page) : __vmalloc(bytes, gfp);
}

static void pages_free(void *addr, u32 bytes)
{
	if (is_vmalloc_addr(addr))
		vfree(addr);
	else
		free_pages((unsigned long)addr, get_order(bytes));
}

static void memory_free_rcu(struct rcu_head *rcu)
{
	struct memory *mem = container_of(rcu, struct memory, rcu);

	pages_free(mem->addr, mem->bytes);
	kfree(mem);
}

/* A signal may be under way, whose receiver looks at the memory */
static void memory_free(struct memory *mem)
{
	smc_buffer_unreserve(mem->bytes);
	call_rcu(&mem->rcu, memory_free_rcu);
}

static void pools_drain(void)
{
	struct memory *mem, *next;
	LIST_HEAD(drained);
	int i;

	spin_lock_bh(&lock);
	for (i = 0; i < SMC_BUFFER_CLASSES; i++)
		list_splice_init(&pools[i], &drained);
	pooled_bytes = 0;
	spin_unlock_bh(&lock);
	list_for_each_entry_safe(mem, next, &drained, pool)
		memory_free(mem);
}

static struct memory *memory_alloc(u32 wanted)
{
	struct memory *mem;
	u32 bytes;

	bytes = smc_buffer_reserve(wanted);
	if (bytes < wanted) {	/* idle memory is in the way */
		smc_buffer_unreserve(bytes);
		pools_drain();
		bytes = smc_buffer_reserve(wanted);
	}
	if (!bytes)
		return ERR_PTR(-ENOBUFS);
	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		goto err_reserve;
	mem->bytes = bytes;
	mem->addr = pages_alloc(bytes);
	if (!mem->addr)
		goto err_mem;
	return mem;

err_mem:
	kfree(mem);
err_reserve:
	smc_buffer_unreserve(bytes);
	return ERR_PTR(-ENOMEM);
}

static struct memory *pool_take(u32 bytes)
{
	struct list_head *pool = &pools[class_of(bytes)];
	struct memory *mem;

	spin_lock_bh(&lock);
	mem = list_first_entry_or_null(pool, struct memory, pool);
	if (mem) {
		list_del(&mem->pool);
		pooled_bytes -= mem->bytes;
	}
	spin_unlock_bh(&lock);
	return mem;
}

/* The most recently used memory is the first to be used again */
static bool pool_give(struct memory *mem)
{
	bool taken = false;

	spin_lock_bh(&lock);
	if (pooled_bytes + mem->bytes <= min(POOL_LIMIT, smc_buffer_limit() / 8)) {
		list_add(&mem->pool, &pools[class_of(mem->bytes)]);
		pooled_bytes += mem->bytes;
		taken = true;
	}
	spin_unlock_bh(&lock);
	return taken;
}

/* Both sides are gone: nothing can reach the memory by its token or a map */
static void memory_put(struct memory *mem)
{
	if (!refcount_dec_and_test(&mem->users))
		return;
	smc_object_destroyed(SMC_OBJECT_DMB);
	memset(mem->addr, 0, mem->written);
	mem->written = 0;
	if (!pool_give(mem))
		memory_free(mem);
}

static bool lo_reaches(struct smc_ism_device *dev, const struct smc_ism_address *peer)
{
	return peer->gid == dev->address.gid && peer->gid_ext == dev->address.gid_ext;
}

static int lo_register_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb)
{
	struct memory *mem = pool_take(dmb->bytes);

	dmb->reused = mem;
	if (!mem)
		mem = memory_alloc(dmb->bytes);
	if (IS_ERR(mem))
		return PTR_ERR(mem);

	smc_object_created(SMC_OBJECT_DMB);
	mem->peer = dmb->peer;
	mem->attached = false;
	refcount_set(&mem->users, 1);
	rcu_assign_pointer(mem->owner, dmb);

	dmb->addr = mem->addr;
	dmb->bytes = mem->bytes;
	dmb->priv = mem;

	/* Whoever knows the token may write: it must not be guessed */
	mem->token = get_random_u64();
	dmb->token = mem->token;
	spin_lock_bh(&lock);
	hash_add(tokens, &mem->node, mem->token);
	spin_unlock_bh(&lock);
	return 0;
}

static void tell_user(const struct memory *mem)
{
	struct smc_dmb_map *map;

	rcu_read_lock();
	map = rcu_dereference(mem->user);
	if (map)
		map->gone(map);
	rcu_read_unlock();
}

static void lo_unregister_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb)
{
	struct memory *mem = dmb->priv;

	spin_lock_bh(&lock);
	hash_del(&mem->node);
	spin_unlock_bh(&lock);
	rcu_assign_pointer(mem->owner, NULL);
	tell_user(mem);
	memory_put(mem);
}

static int attach(struct smc_ism_device *dev, u64 token, struct smc_dmb_map *map)
{
	struct memory *mem;

	lockdep_assert_held(&lock);
	hash_for_each_possible(tokens, mem, node, token) {
		if (mem->token != token)
			continue;
		if (!lo_reaches(dev, &mem->peer))
			return -EPERM;
		if (mem->attached)
			return -EBUSY;
		mem->attached = true;
		refcount_inc(&mem->users);
		map->addr = mem->addr;
		map->bytes = mem->bytes;
		map->priv = mem;
		rcu_assign_pointer(mem->user, map);
		return 0;
	}
	return -ENOENT;
}

static int lo_attach_dmb(struct smc_ism_device *dev, u64 token, struct smc_dmb_map *map)
{
	int err;

	spin_lock_bh(&lock);
	err = attach(dev, token, map);
	spin_unlock_bh(&lock);
	return err;
}

static void lo_detach_dmb(struct smc_ism_device *dev, struct smc_dmb_map *map, u32 written)
{
	struct memory *mem = map->priv;

	rcu_assign_pointer(mem->user, NULL);
	mem->written = min(written, mem->bytes);
	memory_put(mem);
}

static int lo_signal(struct smc_ism_device *dev, struct smc_dmb_map *map)
{
	struct memory *mem = map->priv;
	struct smc_dmb *dmb;

	rcu_read_lock();
	dmb = rcu_dereference(mem->owner);
	if (dmb)
		dmb->signalled(dmb);
	rcu_read_unlock();
	return dmb ? 0 : -ENOENT;
}

static const struct smc_ism_ops lo_ops = {
	.reaches	= lo_reaches,
	.register_dmb	= lo_register_dmb,
	.unregister_dmb	= lo_unregister_dmb,
	.attach_dmb	= lo_attach_dmb,
	.detach_dmb	= lo_detach_dmb,
	.signal		= lo_signal,
};

static struct smc_ism_device lo_device = {
	.name	= "lo",
	.ops	= &lo_ops,
	.chid	= SMC_CHID_LOOPBACK,
};

/**
 * smcd_loopback_init() - create the device
 *
 * Return: 0 or a negative errno.
 */
int smcd_loopback_init(void)
{
	uuid_t uuid;
	int i;

	for (i = 0; i < SMC_BUFFER_CLASSES; i++)
		INIT_LIST_HEAD(&pools[i]);

	/* Byte order of the halves: S-24 */
	uuid_gen(&uuid);
	lo_device.address.gid = get_unaligned_be64(&uuid.b[0]);
	lo_device.address.gid_ext = get_unaligned_be64(&uuid.b[8]);
	return smc_ism_register(&lo_device);
}

/** smcd_loopback_exit() - remove the device; no connection uses it any more */
void smcd_loopback_exit(void)
{
	smc_ism_unregister(&lo_device);
	pools_drain();
}
