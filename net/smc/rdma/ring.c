// SPDX-License-Identifier: GPL-2.0-only
/* Send rings of a link group: memory that programs write to, and devices read. */

#include <linux/mm.h>
#include <linux/slab.h>

#include "../group/buffer.h"
#include "device.h"
#include "group.h"

static struct ib_device *ibdev(const struct smcr_link *link)
{
	return link->pd->device;
}

/* Map the ring for the device of a link */
static int map_ring(struct smcr_link *link, struct smcr_send_ring *ring)
{
	unsigned int i = smcr_link_index(link);

	if (ring->mapped[i])
		return 0;
	ring->dma[i] = ib_dma_map_single(ibdev(link), ring->base, ring->bytes, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev(link), ring->dma[i]))
		return -ENOMEM;
	ring->mapped[i] = true;
	return 0;
}

static void unmap_ring(struct smcr_link *link, struct smcr_send_ring *ring)
{
	unsigned int i = smcr_link_index(link);

	if (!ring->mapped[i])
		return;
	ib_dma_unmap_single(ibdev(link), ring->dma[i], ring->bytes, DMA_TO_DEVICE);
	ring->mapped[i] = false;
}

/**
 * smcr_send_rings_map() - map the send rings of the group for the device of a link
 * @link: a forming link
 *
 * smcr_group.memory_lock is held. May sleep. A ring that a program has chosen may be too large for
 * the device.
 *
 * Return: 0 or a negative errno.
 */
int smcr_send_rings_map(struct smcr_link *link)
{
	struct smcr_send_ring *ring;
	int err = 0;

	list_for_each_entry(ring, &link->group->rings, list)
		if (ring->bytes <= SMC_BUFFER_MAX || ring->bytes <= smcr_most_mapped(ibdev(link)))
			err = err ?: map_ring(link, ring);
	return err;
}

/**
 * smcr_send_rings_unmap() - unmap all send rings of the group
 * @link: a link whose queue pair is drained, or which has no protection domain
 *
 * smcr_group.memory_lock is held. May sleep.
 */
void smcr_send_rings_unmap(struct smcr_link *link)
{
	struct smcr_send_ring *ring;

	list_for_each_entry(ring, &link->group->rings, list)
		unmap_ring(link, ring);
}

/* Can the devices of all links map a send ring of this size? */
static bool can_map(const struct smcr_group *rg, u32 bytes)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (smcr_link_has_memory(&rg->links[i]) && bytes > smcr_most_mapped(ibdev(&rg->links[i])))
			return false;
	return true;
}

static struct smcr_send_ring *create_ring(struct smc_share *share, u32 bytes)
{
	struct smcr_send_ring *ring;

	if (!smc_buffer_take_exactly(share, bytes))
		return ERR_PTR(-ENOBUFS);
	ring = kzalloc(sizeof(*ring), GFP_KERNEL);
	if (ring)
		ring->base = smcr_memory_alloc(bytes, bytes > SMC_BUFFER_MAX ? __GFP_NORETRY : 0);
	if (!ring || !ring->base) {
		kfree(ring);
		smc_buffer_give(share, bytes);
		return ERR_PTR(-ENOMEM);
	}
	ring->share = share;
	ring->bytes = bytes;
	return ring;
}

static void free_ring(struct smcr_send_ring *ring)
{
	free_pages_exact(ring->base, ring->bytes);
	smc_buffer_give(ring->share, ring->bytes);
	kfree(ring);
}

/* Free rings that were not used for @age jiffies; no request of the device refers to them */
static void drop_rings(struct smcr_group *rg, unsigned long age)
{
	struct smcr_send_ring *ring, *next;
	unsigned int i;

	list_for_each_entry_safe(ring, next, &rg->rings, list) {
		if (test_and_set_bit_lock(0, &ring->used))
			continue;
		if (time_before(jiffies, ring->idle_since + age)) {
			clear_bit_unlock(0, &ring->used);
			continue;
		}
		for (i = 0; i < SMCR_LINKS; i++)
			unmap_ring(&rg->links[i], ring);
		list_del(&ring->list);
		WRITE_ONCE(rg->ring_bytes, rg->ring_bytes - ring->bytes);
		free_ring(ring);
	}
}

/* A new ring, which is in use. If memory is short, it takes the place of unused ones. */
static struct smcr_send_ring *add_ring(struct smcr_group *rg, u32 bytes)
{
	struct smcr_send_ring *ring = create_ring(rg->share, bytes);

	if (IS_ERR(ring) && bytes <= SMC_BUFFER_MAX) {
		drop_rings(rg, 0);
		ring = create_ring(rg->share, bytes);
	}
	if (IS_ERR(ring))
		return ring;
	__set_bit(0, &ring->used);
	list_add(&ring->list, &rg->rings);
	WRITE_ONCE(rg->ring_bytes, rg->ring_bytes + bytes);
	return ring;
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

/**
 * smcr_send_ring_take() - get a send ring
 * @rg: the group
 * @bytes: its size, a power of two, at most SMCR_SEND_RING_MAX
 * @fresh: result: the ring is new
 *
 * May sleep.
 *
 * Return: the ring, which stays until smcr_send_ring_release(), or an ERR_PTR.
 */
struct smcr_send_ring *smcr_send_ring_take(struct smcr_group *rg, u32 bytes, bool *fresh)
{
	struct smcr_send_ring *ring;
	int err;

	*fresh = false;
	mutex_lock(&rg->memory_lock);
	ring = ERR_PTR(-ENOMEM);
	if (!can_map(rg, bytes))
		goto unlock;
	list_for_each_entry(ring, &rg->rings, list)
		if (ring->bytes == bytes && !test_and_set_bit_lock(0, &ring->used))
			goto map;

	ring = add_ring(rg, bytes);
	if (IS_ERR(ring))
		goto unlock;
	*fresh = true;
map:
	err = map_everywhere(rg, ring);
	if (err) {
		smcr_send_ring_release(ring);
		ring = ERR_PTR(err);
	}
unlock:
	mutex_unlock(&rg->memory_lock);
	return ring;
}

/**
 * smcr_send_ring_release() - release a ring that the device has read
 * @ring: the ring
 *
 * Any context.
 */
void smcr_send_ring_release(struct smcr_send_ring *ring)
{
	ring->idle_since = jiffies;
	clear_bit_unlock(0, &ring->used);
}

/**
 * smcr_send_rings_trim() - free idle send rings
 * @rg: the group
 * @age: time for which no connection has used them, in jiffies
 *
 * May sleep.
 */
void smcr_send_rings_trim(struct smcr_group *rg, unsigned long age)
{
	mutex_lock(&rg->memory_lock);
	drop_rings(rg, age);
	mutex_unlock(&rg->memory_lock);
}

/* Free all. The group has no links and connections. */
void smcr_send_rings_free(struct smcr_group *rg)
{
	struct smcr_send_ring *ring, *next;

	list_for_each_entry_safe(ring, next, &rg->rings, list)
		free_ring(ring);
}
