// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send rings of a link group: memory that programs write to, and devices read.
 *
 * A connection begins with a small ring, and conn/send_buffer.c replaces that by a larger one. The
 * send queue keeps the former ring until the device has read what was posted from it.
 *
 * An unused ring stays for another connection: a small one for a share of the idle timeout, which
 * the LLC work applies, a larger one for one to two seconds.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "../group/buffer.h"
#include "conn.h"
#include "device.h"
#include "group.h"

#define LARGE_TIME	HZ	/* for which a larger ring stays unused, at least */

static struct ib_device *get_ibdev(const struct smcr_link *link)
{
	return link->pd->device;
}

/* Map the ring for the device of a link */
static int map_ring(struct smcr_link *link, struct smcr_send_ring *ring)
{
	unsigned int i = smcr_link_index(link);

	lockdep_assert_held(&link->group->rings_lock);
	if (ring->mapped[i])
		return 0;
	ring->dma[i] = ib_dma_map_single(get_ibdev(link), ring->base, ring->bytes, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(get_ibdev(link), ring->dma[i]))
		return -ENOMEM;
	ring->mapped[i] = true;
	return 0;
}

static void unmap_ring(struct smcr_link *link, struct smcr_send_ring *ring)
{
	unsigned int i = smcr_link_index(link);

	if (!ring->mapped[i])
		return;
	ib_dma_unmap_single(get_ibdev(link), ring->dma[i], ring->bytes, DMA_TO_DEVICE);
	ring->mapped[i] = false;
}

/**
 * smcr_send_rings_map() - map the send rings of the group for the device of a link
 * @link: a forming link
 *
 * Does not sleep. A large ring need not be mapped: if the device cannot, its connection does not
 * move to this link.
 *
 * Return: 0 or a negative errno.
 */
int smcr_send_rings_map(struct smcr_link *link)
{
	size_t most = smcr_most_mapped(get_ibdev(link));
	struct smcr_send_ring *ring;
	int err = 0;

	spin_lock(&link->group->rings_lock);
	list_for_each_entry(ring, &link->group->rings, list) {
		if (ring->bytes > most)
			continue;
		if (ring->bytes > SMC_BUFFER_MAX)
			map_ring(link, ring);
		else
			err = err ?: map_ring(link, ring);
	}
	spin_unlock(&link->group->rings_lock);
	return err;
}

/**
 * smcr_send_rings_unmap() - unmap all send rings of the group
 * @link: a link whose queue pair is drained, or which has no protection domain
 *
 * Process context; does not sleep.
 */
void smcr_send_rings_unmap(struct smcr_link *link)
{
	struct smcr_send_ring *ring;

	spin_lock(&link->group->rings_lock);
	list_for_each_entry(ring, &link->group->rings, list)
		unmap_ring(link, ring);
	spin_unlock(&link->group->rings_lock);
}

/* The largest ring that the devices of all links can map */
static size_t largest_mapped(const struct smcr_group *rg)
{
	size_t bytes = SMC_SEND_BUFFER_MAX;
	unsigned int i;

	lockdep_assert_held(&rg->rings_lock);
	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_has_memory(&rg->links[i]))
			bytes = min(bytes, smcr_most_mapped(get_ibdev(&rg->links[i])));
	return bytes;
}

/* Account for the memory of a ring. In place of a larger ring, it may exceed the limits. */
static bool take_memory(struct smc_share *share, u32 bytes, bool is_smaller)
{
	if (is_smaller) {
		smc_buffer_exceed(share, bytes);
		return true;
	}
	return smc_buffer_offer(share, bytes) >= bytes && smc_buffer_take_exactly(share, bytes);
}

static struct smcr_send_ring *create_ring(struct smcr_group *rg, u32 bytes, bool is_smaller)
{
	struct smc_share *share = rg->share;
	struct smcr_send_ring *ring;

	if (!take_memory(share, bytes, is_smaller))
		return ERR_PTR(-ENOBUFS);
	ring = kzalloc(sizeof(*ring), GFP_KERNEL | __GFP_NOMEMALLOC);
	if (ring)
		ring->base = smcr_memory_alloc(bytes, __GFP_NOMEMALLOC |
					       (bytes > SMC_BUFFER_MAX ? __GFP_NORETRY : 0));
	if (!ring || !ring->base) {
		kfree(ring);
		smc_buffer_give(share, bytes);
		return ERR_PTR(-ENOMEM);
	}
	ring->group = rg;
	ring->share = share;
	ring->bytes = bytes;
	__set_bit(0, &ring->used);
	return ring;
}

static void free_ring(struct smcr_send_ring *ring)
{
	free_pages_exact(ring->base, ring->bytes);
	smc_buffer_give(ring->share, ring->bytes);
	kfree(ring);
}

static void unmap_everywhere(struct smcr_group *rg, struct smcr_send_ring *ring)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		unmap_ring(&rg->links[i], ring);
}

static bool is_large(const struct smcr_send_ring *ring)
{
	return ring->bytes > SMCR_SEND_RING_MIN;
}

/*
 * Is the ring unused for @age jiffies, so that no request of the device refers to it? @unused: it
 * is not in use, and stays for the present.
 */
static bool claim_stale(struct smcr_send_ring *ring, unsigned long age, bool *unused)
{
	if (test_and_set_bit_lock(0, &ring->used))
		return false;
	if (!time_before(jiffies, ring->idle_since + age))
		return true;
	clear_bit_unlock(0, &ring->used);
	*unused = true;
	return false;
}

/* Return: whether unused rings are left that are not so old */
static bool trim_rings(struct smcr_group *rg, unsigned long age, bool only_large)
{
	struct smcr_send_ring *ring, *next;
	bool unused = false;
	LIST_HEAD(stale);

	spin_lock(&rg->rings_lock);
	list_for_each_entry_safe(ring, next, &rg->rings, list) {
		if ((only_large && !is_large(ring)) || !claim_stale(ring, age, &unused))
			continue;
		unmap_everywhere(rg, ring);
		list_move(&ring->list, &stale);
		WRITE_ONCE(rg->ring_bytes, rg->ring_bytes - ring->bytes);
	}
	spin_unlock(&rg->rings_lock);
	list_for_each_entry_safe(ring, next, &stale, list)
		free_ring(ring);
	return unused;
}

/**
 * smcr_send_rings_trim() - free idle send rings
 * @rg: the group
 * @age: time for which no connection has used them, in jiffies
 *
 * Process context; does not sleep.
 */
void smcr_send_rings_trim(struct smcr_group *rg, unsigned long age)
{
	trim_rings(rg, age, false);
}

/* smcr_send_rings_trim() for larger rings only, of any age */
void smcr_send_rings_trim_large(struct smcr_group *rg)
{
	trim_rings(rg, 0, true);
}

/* When the group has ended, its connections and links do so soon */
static void trim_later(struct smcr_group *rg)
{
	if (READ_ONCE(rg->closing))
		return;
	smcr_group_get(rg);
	if (!queue_delayed_work(smcr_wq, &rg->trim_work, LARGE_TIME))
		smcr_group_put(rg);	/* the queued work has one */
}

static void trim_large_rings(struct work_struct *work)
{
	struct smcr_group *rg = container_of(to_delayed_work(work), struct smcr_group, trim_work);

	if (trim_rings(rg, LARGE_TIME, true))
		trim_later(rg);
	smcr_group_put(rg);
}

void smcr_send_rings_init(struct smcr_group *rg)
{
	spin_lock_init(&rg->rings_lock);
	INIT_LIST_HEAD(&rg->rings);
	INIT_DELAYED_WORK(&rg->trim_work, trim_large_rings);
}

/* The group has ended (rg->closing): nothing keeps it for its rings. Does not sleep. */
void smcr_send_rings_end(struct smcr_group *rg)
{
	if (cancel_delayed_work(&rg->trim_work))
		smcr_group_put(rg);
}

/* Map the ring for the device of each link */
static int map_everywhere(struct smcr_group *rg, struct smcr_send_ring *ring)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_has_memory(&rg->links[i]))
			err = err ?: map_ring(&rg->links[i], ring);
	return err;
}

static struct smcr_send_ring *find_unused(struct smcr_group *rg, u32 bytes)
{
	struct smcr_send_ring *ring;

	list_for_each_entry(ring, &rg->rings, list)
		if (ring->bytes == bytes && !test_and_set_bit_lock(0, &ring->used))
			return ring;
	return NULL;
}

/* Take an unused ring of the group. Return: the ring, NULL if all are in use, or an ERR_PTR. */
static struct smcr_send_ring *reuse_ring(struct smcr_group *rg, u32 bytes)
{
	struct smcr_send_ring *ring = NULL;
	int err = 0;

	spin_lock(&rg->rings_lock);
	if (bytes > largest_mapped(rg))
		err = -EOPNOTSUPP;
	else
		ring = find_unused(rg, bytes);
	if (ring)
		err = map_everywhere(rg, ring);
	if (err && ring)
		clear_bit_unlock(0, &ring->used);
	spin_unlock(&rg->rings_lock);
	return err ? ERR_PTR(err) : ring;
}

/* Give the group a new ring, which is in use; if memory is short, in place of unused ones */
static struct smcr_send_ring *add_ring(struct smcr_group *rg, u32 bytes, bool is_smaller)
{
	struct smcr_send_ring *ring = create_ring(rg, bytes, is_smaller);
	int err;

	if (IS_ERR(ring)) {
		smcr_send_rings_trim(rg, 0);
		ring = create_ring(rg, bytes, is_smaller);
	}
	if (IS_ERR(ring))
		return ring;
	spin_lock(&rg->rings_lock);
	err = map_everywhere(rg, ring);
	if (err) {
		unmap_everywhere(rg, ring);
	} else {
		list_add(&ring->list, &rg->rings);
		WRITE_ONCE(rg->ring_bytes, rg->ring_bytes + bytes);
	}
	spin_unlock(&rg->rings_lock);
	if (!err)
		return ring;
	free_ring(ring);
	return ERR_PTR(err);
}

/* Return: a ring of @bytes, mapped for all links, or an ERR_PTR */
static struct smcr_send_ring *take_ring(struct smcr_conn *rc, u32 bytes, bool is_smaller)
{
	struct smcr_send_ring *ring = reuse_ring(rc->rg, bytes);
	bool fresh = !ring;

	if (!ring)
		ring = add_ring(rc->rg, bytes, is_smaller);
	if (!IS_ERR(ring))
		smc_conn_count(rc->conn, fresh ? SMC_STAT_TX_ALLOCATED : SMC_STAT_TX_REUSED, 1);
	return ring;
}

/* The same, or if there is no memory for it, a smaller one of at least @least bytes */
static struct smcr_send_ring *take_ring_within(struct smcr_conn *rc, u32 bytes, u32 least)
{
	struct smcr_send_ring *ring = take_ring(rc, bytes, false);

	while (IS_ERR(ring) && bytes / 2 >= least) {
		bytes /= 2;
		ring = take_ring(rc, bytes, false);
	}
	return ring;
}

/**
 * smcr_send_ring_take() - get the first send ring of a connection
 * @rc: the connection
 * @bytes: its size, a power of two; if memory is short, the ring may be smaller
 *
 * May sleep.
 *
 * Return: the ring, which stays until smcr_send_ring_release(), or an ERR_PTR.
 */
struct smcr_send_ring *smcr_send_ring_take(struct smcr_conn *rc, u32 bytes)
{
	return take_ring_within(rc, bytes, min(bytes, SMCR_SEND_RING_MIN));
}

/**
 * smcr_send_ring_limit() - the largest send ring that the devices of all links can map
 * @rg: the group
 *
 * Process context; does not sleep. Return: a power of two.
 */
u32 smcr_send_ring_limit(struct smcr_group *rg)
{
	size_t bytes;

	spin_lock(&rg->rings_lock);
	bytes = largest_mapped(rg);
	spin_unlock(&rg->rings_lock);
	return rounddown_pow_of_two(bytes);
}

/*
 * At a limit, unused rings are freed, and not reused: a smaller ring may have taken the place of
 * one of them, and may exceed the limit.
 */
static struct smcr_send_ring *take_larger_ring(struct smcr_conn *rc, u32 bytes)
{
	if (!smc_buffer_offer(rc->rg->share, bytes))
		smcr_send_rings_trim(rc->rg, 0);
	return take_ring_within(rc, bytes, 2 * rc->ring->bytes);
}

/**
 * smcr_conn_ring_alloc() - struct smc_transport: get another send ring
 * @conn: the connection
 * @bytes: its size
 * @memory: result
 *
 * Return: 0 or a negative errno.
 */
int smcr_conn_ring_alloc(struct smc_conn *conn, u32 bytes, struct smc_ring_memory *memory)
{
	struct smcr_conn *rc = conn->priv;
	struct smcr_send_ring *ring;

	if (bytes > rc->ring->bytes)
		ring = take_larger_ring(rc, bytes);
	else if (smcr_link_has_left_ring(rc))
		ring = ERR_PTR(-EBUSY);
	else
		ring = take_ring(rc, bytes, true);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	*memory = (struct smc_ring_memory){
		.priv	= ring,
		.base	= ring->base,
		.ring	= { .end = ring->bytes },
		.bytes	= ring->bytes,
	};
	return 0;
}

/* struct smc_transport: send from another ring */
bool smcr_conn_ring_swap(struct smc_conn *conn, struct smc_ring_memory *memory)
{
	if (!smcr_link_change_ring(conn->priv, memory->priv))
		return false;
	memory->priv = NULL;	/* the device may still read from the former ring */
	return true;
}

/* struct smc_transport: a ring that was not used. It stays for another connection. */
void smcr_conn_ring_free(struct smc_conn *conn, void *memory, u32 written, bool reuse)
{
	smcr_send_ring_release(memory);
}

/**
 * smcr_send_ring_release() - release a ring that the device has read
 * @ring: the ring; the caller has a reference to the group
 *
 * Any context.
 */
void smcr_send_ring_release(struct smcr_send_ring *ring)
{
	struct smcr_group *rg = ring->group;
	bool large = is_large(ring);

	ring->idle_since = jiffies;
	clear_bit_unlock(0, &ring->used);	/* from now on another call may free it */
	if (large)
		trim_later(rg);
}

/* Free all. The group has no links and connections. */
void smcr_send_rings_free(struct smcr_group *rg)
{
	struct smcr_send_ring *ring, *next;

	list_for_each_entry_safe(ring, next, &rg->rings, list)
		free_ring(ring);
}
