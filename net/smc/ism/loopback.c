// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loopback ISM: an emulated ISM device for connections within one kernel (V2-EMU-01). It exists
 * while the module is loaded and serves all network namespaces. The device reaches a peer if the
 * peer names the device's own address, which is random and differs with each load of the module
 * (V2-EMU-03, V2-EMU-15).
 *
 * Attaching proves that a peer is in this kernel, because no other host can do that. The DMB of a
 * server gets its memory when the client attaches it, and the server can attach only the DMB of
 * that client (V2-EMU-15). A remote host that names the address gets a token, but no memory is
 * allocated for it.
 *
 * Memory is physically contiguous if possible, which is faster to copy, else from vmalloc(). Owner
 * and user of a DMB hold a reference each. The memory is charged to the owner's namespace. If the
 * owner unregisters first, it is charged to the user's namespace until the user detaches. Freed
 * memory is zeroed as far as it was written to and put into a pool, which belongs to no namespace
 * and no memory cgroup; but large memory, and what is too much for the pool, goes to the kernel.
 */

#include <linux/hashtable.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uuid.h>
#include <linux/vmalloc.h>
#include <linux/unaligned.h>

#include "../object.h"
#include "../share.h"
#include "../wire/clc.h"
#include "device.h"
#include "loopback.h"

#define POOL_LIMIT	((unsigned long)SZ_64M)	/* limit of unused memory in all pools */

/* Sizes of memory in pools: powers of two from 4 KiB on. Larger memory is not kept */
#define CLASS_MIN	SZ_4K
#define CLASSES		(ilog2(SMC_BUFFER_MAX / CLASS_MIN) + 1)

/**
 * struct memory - memory of a DMB, or unused memory in a pool
 * @pool: in one of @pools; protected by @lock
 * @share: namespace to which it is charged; not valid in a pool
 * @idle: RCU state when it was put into a pool: a receiver of a signal may read the memory
 *	until a grace period has ended
 * @written: number of bytes from the start that may be non-zero
 * @bytes: size
 * @addr: the memory
 * @rcu: frees the struct and the memory
 */
struct memory {
	struct list_head pool;
	struct smc_share *share;
	unsigned long idle;
	u32 written;
	u32 bytes;
	void *addr;
	struct rcu_head rcu;
};

/**
 * struct registration - what the device keeps of a DMB, from register_dmb until both owner and user
 * have released it; in smc_dmb.priv
 * @node: in @tokens; protected by @lock
 * @dmb: the DMB, of which this struct is a part; constant
 * @user: the peer's map of the DMB, NULL if not attached; RCU
 * @user_token: the DMB of the user, 0 before it is attached; protected by @lock
 * @user_share: to which @memory is charged after unregister_dmb; with a reference, NULL if no
 *	user is attached; protected by @lock
 * @memory: the memory; if the DMB is passive, set before @user_token. lo_swap_memory() replaces it
 * @refs: references: one of the owner, one of the user
 * @is_registered: from register_dmb to unregister_dmb; written under @lock. lo_signal() reads it
 *	under RCU
 * @attached: a user has attached it, which is possible once; protected by @lock
 *
 * It has a reference to @dmb->share, because the namespace may end before the memory is allocated.
 * @dmb->bytes of a passive DMB is read when the peer attaches it, and written when the owner then
 * attaches the peer's; and whenever the memory is replaced.
 */
struct registration {
	struct hlist_node node;
	struct smc_dmb *dmb;
	struct smc_dmb_map __rcu *user;
	u64 user_token;
	struct smc_share *user_share;
	struct memory *memory;
	refcount_t refs;
	bool is_registered;
	bool attached;
};

static DEFINE_SPINLOCK(lock);	/* protects tokens, pools, pooled_bytes; process context */
static DEFINE_HASHTABLE(tokens, 12);
static u64 nr_tokens;		/* chosen so far; lock */
static siphash_key_t token_secret __ro_after_init;
static struct list_head pools[CLASSES];
static unsigned long pooled_bytes;

static struct registration *get_registration(const struct smc_dmb *dmb)
{
	BUILD_BUG_ON(sizeof(struct registration) > sizeof(dmb->priv));
	return (struct registration *)dmb->priv;
}

static unsigned int get_class(u32 bytes)
{
	return ilog2(bytes / CLASS_MIN);
}

/*
 * Rings take nothing of the reserves with which the kernel frees memory, whichever task writes. A
 * ring that is larger than a stream needs is not worth the search for contiguous pages; without it
 * the connection goes on.
 */
static void *pages_alloc(u32 bytes)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_NOMEMALLOC;
	struct page *page;

	if (bytes > SMC_BUFFER_MAX)
		return __vmalloc(bytes, gfp | __GFP_RETRY_MAYFAIL);
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

static void memory_free(struct memory *mem)
{
	pages_free(mem->addr, mem->bytes);
	smc_memory_unreserve(mem->bytes);
	kfree(mem);
}

static void memory_free_rcu(struct rcu_head *rcu)
{
	struct memory *mem = container_of(rcu, struct memory, rcu);

	smc_share_give(mem->share, mem->bytes);
	memory_free(mem);
}

static void pooled_free_rcu(struct rcu_head *rcu)
{
	memory_free(container_of(rcu, struct memory, rcu));
}

/* Free all unused memory, after a grace period if a receiver of a signal may still read it */
static void pools_drain(void)
{
	struct memory *mem, *next;
	LIST_HEAD(drained);
	int i;

	spin_lock(&lock);
	for (i = 0; i < CLASSES; i++)
		list_splice_init(&pools[i], &drained);
	WRITE_ONCE(pooled_bytes, 0);
	spin_unlock(&lock);
	list_for_each_entry_safe(mem, next, &drained, pool) {
		if (poll_state_synchronize_rcu(mem->idle))
			memory_free(mem);
		else
			call_rcu(&mem->rcu, pooled_free_rcu);
	}
}

/* @bytes are reserved; not any more if there is no memory */
static struct memory *memory_alloc_reserved(u32 bytes)
{
	struct memory *mem = kzalloc(sizeof(*mem), GFP_KERNEL | __GFP_NOWARN | __GFP_NOMEMALLOC);

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
	smc_memory_unreserve(bytes);
	return ERR_PTR(-ENOMEM);
}

static struct memory *memory_alloc(u32 wanted)
{
	u32 bytes = smc_memory_reserve(wanted);

	if (!bytes && READ_ONCE(pooled_bytes)) {	/* the pools use up the limit */
		pools_drain();
		bytes = smc_memory_reserve(wanted);
	}
	return bytes ? memory_alloc_reserved(bytes) : ERR_PTR(-ENOBUFS);
}

static struct memory *pool_take(u32 bytes)
{
	struct list_head *pool;
	struct memory *mem;

	if (bytes > SMC_BUFFER_MAX)
		return NULL;
	pool = &pools[get_class(bytes)];
	spin_lock(&lock);
	mem = list_first_entry_or_null(pool, struct memory, pool);
	if (mem) {
		list_del(&mem->pool);
		WRITE_ONCE(pooled_bytes, pooled_bytes - mem->bytes);
	}
	spin_unlock(&lock);
	/* Zeroed before it was pooled; KASAN does not detect a write to pooled memory */
	if (IS_ENABLED(CONFIG_KASAN) && mem)
		WARN_ON_ONCE(memchr_inv(mem->addr, 0, mem->bytes));
	return mem;
}

/* The most recently used memory is reused first */
static bool pool_give(struct memory *mem)
{
	bool taken = false;

	if (mem->bytes > SMC_BUFFER_MAX)
		return false;
	memset(mem->addr, 0, mem->written);
	mem->written = 0;
	mem->idle = get_state_synchronize_rcu();
	spin_lock(&lock);
	if (pooled_bytes + mem->bytes <= min(POOL_LIMIT, smc_memory_limit() / 8)) {
		list_add(&mem->pool, &pools[get_class(mem->bytes)]);
		WRITE_ONCE(pooled_bytes, pooled_bytes + mem->bytes);
		taken = true;
	}
	spin_unlock(&lock);
	return taken;
}

/*
 * Get memory from a pool, or allocate it; maybe less than @wanted, if the namespace is at its
 * limit.
 */
static struct memory *memory_take(struct smc_share *share, u32 wanted, bool *reused)
{
	u32 bytes = smc_share_take(share, wanted);
	struct memory *mem;

	if (!bytes)
		return ERR_PTR(-ENOBUFS);
	mem = pool_take(bytes);
	*reused = mem;
	if (!mem)
		mem = memory_alloc(bytes);
	if (IS_ERR(mem)) {
		smc_share_give(share, bytes);
		return mem;
	}
	if (mem->bytes < bytes)
		smc_share_give(share, bytes - mem->bytes);
	mem->share = share;
	return mem;
}

/*
 * Get memory of @bytes in place of more. The limits do not matter, because what it replaces is
 * given back, after a grace period.
 */
static struct memory *memory_take_less(struct smc_share *share, u32 bytes)
{
	struct memory *mem = pool_take(bytes);

	if (!mem) {
		smc_memory_exceed(bytes);
		mem = memory_alloc_reserved(bytes);
	}
	if (IS_ERR(mem))
		return mem;
	smc_share_exceed(share, bytes);
	mem->share = share;
	return mem;
}

/* The receiver of a signal may still read the memory */
static void memory_free_later(struct memory *mem)
{
	call_rcu(&mem->rcu, memory_free_rcu);
}

static void memory_put(struct memory *mem)
{
	struct smc_share *share = mem->share;
	u32 bytes = mem->bytes;

	if (pool_give(mem))
		smc_share_give(share, bytes);
	else
		memory_free_later(mem);
}

/* After the last reference, nothing can reach the memory by token or map */
static void registration_put(struct registration *reg)
{
	struct smc_dmb *dmb = reg->dmb;

	if (!refcount_dec_and_test(&reg->refs))
		return;
	smc_object_destroyed(SMC_OBJECT_DMB);
	if (reg->memory)
		memory_put(reg->memory);
	smc_share_drop(dmb->share);
	dmb->free(dmb);
}

static bool lo_reaches(struct smc_ism_device *dev, const struct smc_ism_address *peer)
{
	return peer->gid == dev->address.gid && peer->gid_ext == dev->address.gid_ext;
}

static int registration_get_memory(struct registration *reg)
{
	struct memory *mem = memory_take(reg->dmb->share, reg->dmb->bytes, &reg->dmb->reused);

	if (IS_ERR(mem))
		return PTR_ERR(mem);
	reg->memory = mem;
	return 0;
}

/*
 * The peer's attach allocates the memory of a passive registration from the share of the owner. The
 * owner checks the limit in advance: otherwise the peer would decline because of a limit that is
 * not its own.
 */
static int registration_probe_memory(const struct registration *reg)
{
	return smc_share_offer(reg->dmb->share, reg->dmb->bytes) ? 0 : -ENOBUFS;
}

/* Tell the owner its memory, once it is allocated */
static void fill_dmb(const struct registration *reg)
{
	struct smc_dmb *dmb = reg->dmb;

	dmb->addr = reg->memory->addr;
	dmb->bytes = reg->memory->bytes;
}

/*
 * A peer that knows the token may attach, so it must not be predictable: a keyed hash of a number.
 * 0 is not a token.
 */
static u64 choose_token(void)
{
	u64 token;

	lockdep_assert_held(&lock);
	do {
		token = siphash_1u64(++nr_tokens, &token_secret);
	} while (!token);
	return token;
}

static void list_registration(struct registration *reg)
{
	spin_lock(&lock);
	reg->dmb->token = choose_token();
	hash_add(tokens, &reg->node, reg->dmb->token);
	reg->is_registered = true;
	spin_unlock(&lock);
}

static int lo_register_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb)
{
	struct registration *reg = get_registration(dmb);
	int err;

	reg->dmb = dmb;
	err = dmb->passive ? registration_probe_memory(reg) : registration_get_memory(reg);
	if (err)
		return err;
	if (reg->memory)
		fill_dmb(reg);
	smc_object_created(SMC_OBJECT_DMB);
	smc_share_hold(dmb->share);
	refcount_set(&reg->refs, 1);
	list_registration(reg);
	return 0;
}

static void notify_user(const struct registration *reg)
{
	struct smc_dmb_map *map;

	rcu_read_lock();
	map = rcu_dereference(reg->user);
	if (map)
		map->gone(map);
	rcu_read_unlock();
}

/* Without owner, only the user determines how long the memory is used */
static void charge_user(struct registration *reg)
{
	struct memory *mem = reg->memory;

	lockdep_assert_held(&lock);
	if (!reg->user_share)
		return;
	smc_share_move(mem->share, reg->user_share, mem->bytes);
	mem->share = reg->user_share;
}

static void lo_unregister_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb)
{
	struct registration *reg = get_registration(dmb);

	spin_lock(&lock);
	hash_del(&reg->node);
	WRITE_ONCE(reg->is_registered, false);
	charge_user(reg);
	spin_unlock(&lock);
	notify_user(reg);
	registration_put(reg);
}

static struct registration *find_registration(u64 token)
{
	struct registration *reg;

	lockdep_assert_held(&lock);
	hash_for_each_possible(tokens, reg, node, token)
		if (reg->dmb->token == token)
			return reg;
	return NULL;
}

/*
 * The client attaches first, to the DMB of any server that waits for a client; the server attaches
 * only the DMB of that client. DMBs are therefore attached in pairs, whatever tokens a peer sends
 * in CLC messages.
 */
static bool is_pair(const struct registration *own, const struct registration *other)
{
	lockdep_assert_held(&lock);
	return own->dmb->passive ? own->user_token == other->dmb->token : other->dmb->passive;
}

/*
 * Reserve the place of the single user of the peer's DMB. Return: its registration, with a
 * reference, or an ERR_PTR.
 */
static struct registration *claim_registration(struct smc_ism_device *dev,
					       const struct registration *own, u64 token)
{
	struct registration *other;

	spin_lock(&lock);
	other = find_registration(token);
	if (!other) {
		other = ERR_PTR(-ENOENT);
	} else if (!lo_reaches(dev, &other->dmb->peer) || !is_pair(own, other)) {
		other = ERR_PTR(-EPERM);
	} else if (other->attached) {
		other = ERR_PTR(-EBUSY);
	} else {
		other->attached = true;
		refcount_inc(&other->refs);
	}
	spin_unlock(&lock);
	return other;
}

/*
 * Set the user of @other. From now on its owner may attach @own, and unregister_dmb notifies the
 * user. Return: 0, or -ENOENT if the owner has unregistered the DMB already.
 */
static int set_user(struct registration *other, const struct registration *own,
		    struct smc_dmb_map *map)
{
	int err = -ENOENT;

	spin_lock(&lock);
	if (other->is_registered) {
		other->user_token = own->dmb->token;
		other->user_share = own->dmb->share;
		smc_share_hold(own->dmb->share);
		rcu_assign_pointer(other->user, map);
		err = 0;
	}
	spin_unlock(&lock);
	return err;
}

static int lo_attach_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb, u64 token,
			 struct smc_dmb_map *map)
{
	struct registration *own = get_registration(dmb);
	struct registration *other = claim_registration(dev, own, token);
	int err = 0;

	if (IS_ERR(other))
		return PTR_ERR(other);
	if (other->dmb->passive)
		err = registration_get_memory(other);
	if (err)
		goto err_put;
	map->addr = other->memory->addr;
	map->bytes = other->memory->bytes;
	map->priv = other;
	err = set_user(other, own, map);
	if (err)
		goto err_put;
	if (dmb->passive)	/* the peer has attached it, which is_pair() has verified */
		fill_dmb(own);
	return 0;

err_put:
	registration_put(other);
	return err;
}

static void lo_detach_dmb(struct smc_ism_device *dev, struct smc_dmb_map *map, u32 written)
{
	struct registration *reg = map->priv;
	struct smc_share *share;

	spin_lock(&lock);
	share = reg->user_share;
	reg->user_share = NULL;
	spin_unlock(&lock);
	rcu_assign_pointer(reg->user, NULL);
	reg->memory->written = min(written, reg->memory->bytes);
	registration_put(reg);
	smc_share_drop(share);
}

static bool lo_is_attached(struct smc_ism_device *dev, const struct smc_dmb *dmb)
{
	const struct registration *reg = get_registration(dmb);

	return rcu_access_pointer(reg->user);
}

static int lo_signal(struct smc_ism_device *dev, struct smc_dmb_map *map)
{
	const struct registration *reg = map->priv;
	bool is_registered;

	rcu_read_lock();
	is_registered = READ_ONCE(reg->is_registered);
	if (is_registered)
		reg->dmb->signalled(reg->dmb);
	rcu_read_unlock();
	return is_registered ? 0 : -ENOENT;
}

static struct smc_dmb *lo_get_dmb(const struct smc_dmb_map *map)
{
	const struct registration *reg = map->priv;

	return reg->dmb;
}

static struct smc_dmb_memory describe_memory(struct memory *mem)
{
	return (struct smc_dmb_memory){ .addr = mem->addr, .bytes = mem->bytes, .priv = mem };
}

static int lo_alloc_memory(struct smc_ism_device *dev, const struct smc_dmb_map *map, u32 bytes,
			   struct smc_dmb_memory *memory)
{
	struct smc_share *share = lo_get_dmb(map)->share;
	struct memory *mem;
	bool reused;

	if (bytes < map->bytes)
		mem = memory_take_less(share, bytes);
	else
		mem = memory_take(share, bytes, &reused);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	*memory = describe_memory(mem);
	return 0;
}

static void lo_swap_memory(struct smc_ism_device *dev, struct smc_dmb_map *map,
			   struct smc_dmb_memory *memory)
{
	struct registration *reg = map->priv;
	struct memory *former = reg->memory;

	reg->memory = memory->priv;
	fill_dmb(reg);
	map->addr = memory->addr;
	map->bytes = memory->bytes;
	*memory = describe_memory(former);
}

static void lo_free_memory(struct smc_ism_device *dev, void *priv, u32 written, bool reuse)
{
	struct memory *mem = priv;

	mem->written = min(written, mem->bytes);
	if (reuse)
		memory_put(mem);
	else
		memory_free_later(mem);
}

static const struct smc_ism_ops lo_ops = {
	.reaches	= lo_reaches,
	.register_dmb	= lo_register_dmb,
	.unregister_dmb	= lo_unregister_dmb,
	.attach_dmb	= lo_attach_dmb,
	.detach_dmb	= lo_detach_dmb,
	.is_attached	= lo_is_attached,
	.signal		= lo_signal,
	.get_dmb	= lo_get_dmb,
	.alloc_memory	= lo_alloc_memory,
	.swap_memory	= lo_swap_memory,
	.free_memory	= lo_free_memory,
};

static struct smc_ism_device lo_device = {
	.name	= "lo",
	.ops	= &lo_ops,
	.chid	= SMC_CHID_LOOPBACK,
};

int smcd_loopback_init(void)
{
	uuid_t uuid;
	int i;

	for (i = 0; i < CLASSES; i++)
		INIT_LIST_HEAD(&pools[i]);

	get_random_bytes(&token_secret, sizeof(token_secret));
	/* Byte order of the halves: S-24 */
	uuid_gen(&uuid);
	lo_device.address.gid = get_unaligned_be64(&uuid.b[0]);
	lo_device.address.gid_ext = get_unaligned_be64(&uuid.b[8]);
	return smc_ism_register(&lo_device);
}

/* No connection uses the device any more */
void smcd_loopback_exit(void)
{
	smc_ism_unregister(&lo_device);
	pools_drain();
}
