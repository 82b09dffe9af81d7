// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions. Requests name local memory by the key for everything; what a peer writes to is
 * always a region of its own, registered through the send queue.
 */

#include <linux/dma-direct.h>
#include <linux/xarray.h>

#include "memrdma.h"

static DEFINE_XARRAY_ALLOC1(regions);
static u32 next_region;

/**
 * memrdma_pointer() - what is at an address that a work request names?
 * @dev: the device
 * @addr: the address
 *
 * Return: the memory.
 */
void *memrdma_pointer(struct memrdma_dev *dev, u64 addr)
{
	if (!dev->limits.bounce)
		return (void *)(uintptr_t)addr;
	return phys_to_virt(dma_to_phys(dev->ibdev.dma_device, addr));
}

/* Keys are numbers with eight bits that the user chooses */
static struct memrdma_mr *create_region(struct ib_pd *pd, u32 max_pages)
{
	struct memrdma_dev *dev = memrdma_dev(pd->device);
	struct memrdma_mr *mr;
	int err = -ENOMEM;
	u32 number;

	if (atomic_inc_return(&dev->nr_mrs) > dev->limits.max_mr)
		goto err_count;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		goto err_count;
	spin_lock_init(&mr->lock);
	mr->max_pages = max_pages;
	mr->pages = kvcalloc(max_pages, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages && max_pages)
		goto err_free;
	mr->ibmr.pd = pd;
	mr->ibmr.device = pd->device;
	err = xa_alloc_cyclic(&regions, &number, mr, XA_LIMIT(1, 0xffffff), &next_region,
			      GFP_KERNEL);
	if (err < 0)
		goto err_free;
	mr->ibmr.lkey = number << 8;
	mr->ibmr.rkey = mr->ibmr.lkey;
	return mr;

err_free:
	kvfree(mr->pages);
	kfree(mr);
err_count:
	atomic_dec(&dev->nr_mrs);
	return ERR_PTR(err);
}

/**
 * memrdma_get_dma_mr() - struct ib_device_ops: a key for all memory
 * @pd: the protection domain
 * @access: enum ib_access_flags
 *
 * Return: the region or an ERR_PTR().
 */
struct ib_mr *memrdma_get_dma_mr(struct ib_pd *pd, int access)
{
	struct memrdma_mr *mr = create_region(pd, 0);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	/* Work requests may name it as local memory, so it is the key for everything */
	mr->ibmr.lkey = MEMRDMA_LOCAL_KEY;
	return &mr->ibmr;
}

/**
 * memrdma_reg_user_mr() - struct ib_device_ops: there are no users but the kernel
 * @pd: the protection domain
 * @start: unused
 * @length: unused
 * @addr: unused
 * @access: unused
 * @udata: unused
 *
 * Return: -EOPNOTSUPP.
 */
struct ib_mr *memrdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 addr, int access,
				  struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/**
 * memrdma_alloc_mr() - struct ib_device_ops: a region for memory that is named later
 * @pd: the protection domain
 * @type: IB_MR_TYPE_MEM_REG
 * @max_sg: how many pages
 *
 * Return: the region or an ERR_PTR().
 */
struct ib_mr *memrdma_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg)
{
	int err = memrdma_verb(pd->device, MEMRDMA_ALLOC_MR);
	struct memrdma_mr *mr;

	if (err)
		return ERR_PTR(err);
	if (type != IB_MR_TYPE_MEM_REG || max_sg > memrdma_dev(pd->device)->limits.max_pages)
		return ERR_PTR(-EINVAL);
	mr = create_region(pd, max_sg);
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ibmr;
}

static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct memrdma_mr *mr = memrdma_mr(ibmr);

	if (mr->nr_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = addr;
	return 0;
}

/**
 * memrdma_map_mr_sg() - struct ib_device_ops: name the memory of a region
 * @ibmr: the region
 * @sg: its memory
 * @nents: how many entries
 * @offset: where it begins in the first, or NULL
 *
 * Return: how many entries were taken, or a negative errno.
 */
int memrdma_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct memrdma_mr *mr = memrdma_mr(ibmr);
	int err = memrdma_verb(ibmr->device, MEMRDMA_MAP_MR);

	if (err)
		return err;
	/* The device uses a valid one: this would change it behind its back */
	if (WARN_ON_ONCE(mr->valid))
		return -EBUSY;
	mr->nr_pages = 0;
	return ib_sg_to_pages(ibmr, sg, nents, offset, set_page);
}

/**
 * memrdma_dereg_mr() - struct ib_device_ops: destroy a region; no request writes to it afterwards
 * @ibmr: the region
 * @udata: unused
 *
 * Return: 0.
 */
int memrdma_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct memrdma_mr *mr = memrdma_mr(ibmr);

	xa_erase(&regions, ibmr->rkey >> 8);
	spin_lock_bh(&mr->lock);
	mr->valid = false;
	spin_unlock_bh(&mr->lock);
	kvfree(mr->pages);
	atomic_dec(&memrdma_dev(ibmr->device)->nr_mrs);
	kfree_rcu(mr, rcu);
	return 0;
}

/**
 * memrdma_mr_register() - IB_WR_REG_MR
 * @qp: the queue pair
 * @send: the request
 *
 * Return: whether it was right.
 */
bool memrdma_mr_register(struct memrdma_qp *qp, const struct memrdma_send *send)
{
	struct memrdma_mr *mr = send->mr;
	bool right;

	spin_lock_bh(&mr->lock);
	right = !mr->valid && mr->ibmr.pd == qp->ibqp.pd && mr->nr_pages &&
		(send->rkey ^ mr->ibmr.rkey) >> 8 == 0;
	if (right) {
		mr->key = send->rkey;
		mr->access = send->access;
		mr->iova = mr->ibmr.iova;
		mr->bytes = mr->ibmr.length;
		mr->valid = true;
	}
	spin_unlock_bh(&mr->lock);
	return right;
}

static struct memrdma_mr *lock_region(const struct ib_pd *pd, u32 key)
	__acquires(RCU)
{
	struct memrdma_mr *mr;

	rcu_read_lock();
	mr = xa_load(&regions, key >> 8);
	if (mr) {
		spin_lock_bh(&mr->lock);
		if (mr->valid && mr->key == key && mr->ibmr.pd == pd)
			return mr;
		spin_unlock_bh(&mr->lock);
	}
	rcu_read_unlock();
	return NULL;
}

/**
 * memrdma_mr_unlock() - let a region go
 * @mr: as memrdma_mr_lock() returned it
 */
void memrdma_mr_unlock(struct memrdma_mr *mr)
{
	spin_unlock_bh(&mr->lock);
	rcu_read_unlock();
}

/**
 * memrdma_mr_invalidate() - IB_WR_LOCAL_INV, or by the peer
 * @pd: protection domain of the queue pair
 * @key: names the region
 *
 * Return: whether there was such a region.
 */
bool memrdma_mr_invalidate(struct ib_pd *pd, u32 key)
{
	struct memrdma_mr *mr = lock_region(pd, key);

	if (!mr)
		return false;
	mr->valid = false;
	memrdma_mr_unlock(mr);
	return true;
}

/**
 * memrdma_mr_lock() - find a region that a peer may write to
 * @pd: protection domain of the queue pair that was written to
 * @key: names the region
 * @addr: where the data goes
 * @bytes: how much
 *
 * Return: the region, to be unlocked; or NULL if the peer may not.
 */
struct memrdma_mr *memrdma_mr_lock(struct ib_pd *pd, u32 key, u64 addr, u32 bytes)
{
	struct memrdma_mr *mr = lock_region(pd, key);

	if (!mr)
		return NULL;
	if (mr->access & IB_ACCESS_REMOTE_WRITE && addr >= mr->iova &&
	    bytes <= mr->bytes && addr - mr->iova <= mr->bytes - bytes)
		return mr;
	memrdma_mr_unlock(mr);
	return NULL;
}

/* How much there is in one piece from the page on */
static u64 get_run(const struct memrdma_mr *mr, u32 page, u64 page_size)
{
	u64 run = page_size;

	while (++page < mr->nr_pages && mr->pages[page] == mr->pages[page - 1] + page_size)
		run += page_size;
	return run;
}

/**
 * memrdma_mr_write() - write to a region
 * @mr: the region, locked
 * @addr: where, checked
 * @from: the data
 * @bytes: how much
 */
void memrdma_mr_write(struct memrdma_mr *mr, u64 addr, const void *from, u32 bytes)
{
	struct memrdma_dev *dev = memrdma_dev(mr->ibmr.device);
	u64 page_size = mr->ibmr.page_size;
	u64 offset = addr - (mr->iova & ~(page_size - 1));

	while (bytes) {
		u32 page = offset / page_size;
		u64 in_page = offset & (page_size - 1);
		u32 run = min_t(u64, bytes, page_size - in_page);

		if (bytes > run)
			run = min_t(u64, bytes, get_run(mr, page, page_size) - in_page);
		memcpy(memrdma_pointer(dev, mr->pages[page]) + in_page, from, run);
		from += run;
		offset += run;
		bytes -= run;
	}
}

/** memrdma_memory_exit() - no region is left */
void memrdma_memory_exit(void)
{
	WARN_ON(!xa_empty(&regions));
}
