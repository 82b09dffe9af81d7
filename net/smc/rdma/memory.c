// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMBs of a link group.
 *
 * The first RMB of a group has one element: there may be many first contacts, with peers that are
 * not verified. A further RMB has as many elements as there are of its size, but at least
 * FEW_ELEMENTS, so that many connections need few announcements. An element is zeroed when its
 * connection ends, not during a handshake.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "../group/buffer.h"
#include "../object.h"
#include "device.h"
#include "group.h"

#define FEW_ELEMENTS	4
#define RMB_MAX		SZ_2M

static struct ib_device *ibdev(const struct smcr_link *link)
{
	return link->pd->device;
}

static void unregister(struct smcr_link *link, struct smcr_rmb *rmb)
{
	struct smcr_registration *reg = &rmb->links[smcr_link_index(link)];

	if (reg->mr)
		ib_dereg_mr(reg->mr);
	if (reg->dma)
		ib_dma_unmap_single(ibdev(link), reg->dma, smcr_rmb_bytes(rmb), DMA_FROM_DEVICE);
	memset(reg, 0, sizeof(*reg));
}

/* Size of the largest RMB that can be registered with all links */
static size_t largest(const struct smcr_group *rg)
{
	size_t bytes = RMB_MAX;
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		struct ib_device *dev;

		if (!smcr_link_has_memory(&rg->links[i]))
			continue;
		dev = ibdev(&rg->links[i]);
		bytes = min3(bytes, smcr_most_mapped(dev),
			     (size_t)PAGE_SIZE * dev->attrs.max_fast_reg_page_list_len);
	}
	return bytes;
}

/* Choose key and address; register_now() passes them to the device */
static int prepare(struct smcr_link *link, struct smcr_rmb *rmb)
{
	struct smcr_registration *reg = &rmb->links[smcr_link_index(link)];
	unsigned int pages = DIV_ROUND_UP(smcr_rmb_bytes(rmb), PAGE_SIZE);
	struct scatterlist sg;
	struct ib_mr *mr;
	int mapped;

	reg->dma = ib_dma_map_single(ibdev(link), rmb->base, smcr_rmb_bytes(rmb),
				     DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ibdev(link), reg->dma)) {
		reg->dma = 0;
		return -ENOMEM;
	}
	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	reg->mr = mr;

	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = reg->dma;
	sg_dma_len(&sg) = smcr_rmb_bytes(rmb);
	mapped = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	if (mapped != 1)
		return mapped < 0 ? mapped : -EINVAL;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg->wr.wr.opcode = IB_WR_REG_MR;
	reg->wr.mr = mr;
	reg->wr.key = mr->rkey;
	reg->wr.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	return 0;
}

static int register_now(struct smcr_link *link, struct smcr_rmb *rmb)
{
	struct smcr_registration *reg = &rmb->links[smcr_link_index(link)];
	int err;

	if (reg->posted || !link->rts)
		return 0;
	err = smcr_link_post_reg(link, &reg->wr, &reg->behind);
	if (!err)
		reg->posted = true;
	return err;
}

static int register_with(struct smcr_link *link, struct smcr_rmb *rmb)
{
	int err = 0;

	if (!rmb->links[smcr_link_index(link)].mr)
		err = prepare(link, rmb);
	if (!err)
		err = register_now(link, rmb);
	if (err)
		unregister(link, rmb);
	return err;
}

/* A new link sends nothing else, so its send queue has room again when the device has sent it */
static int register_patiently(struct smcr_link *link, struct smcr_rmb *rmb)
{
	int err;

	do {
		err = register_with(link, rmb);
		if (err == -EAGAIN)
			smcr_llc_flush(link);
	} while (err == -EAGAIN && smcr_link_has_memory(link));
	return err;
}

/**
 * smcr_memory_register() - register all RMBs of the group with a link, and map the send rings
 * @link: a forming link; before RTS only the keys are chosen
 *
 * May sleep.
 *
 * Return: 0 or a negative errno.
 */
int smcr_memory_register(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smcr_rmb *rmb;
	int err = 0;

	mutex_lock(&rg->memory_lock);
	list_for_each_entry(rmb, &rg->rmbs, list)
		err = err ?: register_patiently(link, rmb);
	err = err ?: smcr_send_rings_map(link);
	mutex_unlock(&rg->memory_lock);
	return err;
}

/* Does the peer know the RMB, by its announcement or by CLC at first contact? */
static bool is_listed(const struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	u8 state = READ_ONCE(rmb->state);

	return state == SMCR_RMB_ANNOUNCED || (state == SMCR_RMB_NEW && !READ_ONCE(rg->settled));
}

/**
 * smcr_memory_list() - list the RMBs that the peer knows, for ADD LINK
 * @over: the link that carries the message
 * @link: the new link
 * @skip: number of RMBs in earlier messages
 * @out: result
 * @most: room in @out
 *
 * May sleep. The list does not change meanwhile: while links change, no RMB is announced or
 * withdrawn.
 *
 * Return: number of RMBs behind the skipped ones; it may exceed @most.
 */
unsigned int smcr_memory_list(struct smcr_link *over, struct smcr_link *link, unsigned int skip,
			      struct smc_llc_rtoken *out, unsigned int most)
{
	struct smcr_group *rg = link->group;
	unsigned int nr = 0;
	struct smcr_rmb *rmb;

	mutex_lock(&rg->memory_lock);
	list_for_each_entry(rmb, &rg->rmbs, list) {
		const struct ib_mr *old = rmb->links[smcr_link_index(over)].mr;
		const struct ib_mr *mr = rmb->links[smcr_link_index(link)].mr;

		if (!old || !mr || !is_listed(rg, rmb))
			continue;
		if (nr >= skip && nr - skip < most)
			out[nr - skip] = (struct smc_llc_rtoken){
				.reference_rkey = old->rkey, .rkey = mr->rkey, .addr = mr->iova,
			};
		nr++;
	}
	mutex_unlock(&rg->memory_lock);
	return nr > skip ? nr - skip : 0;
}

/**
 * smcr_memory_unregister() - unregister and unmap all memory of a link
 * @link: a link whose queue pair is drained, or which has no protection domain
 *
 * May sleep.
 */
void smcr_memory_unregister(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smcr_rmb *rmb;

	mutex_lock(&rg->memory_lock);
	list_for_each_entry(rmb, &rg->rmbs, list)
		unregister(link, rmb);
	smcr_send_rings_unmap(link);
	mutex_unlock(&rg->memory_lock);
}

/* Account for up to @nr elements; @bytes is their size. Return: number of elements */
static unsigned int reserve(struct smc_share *share, u32 wanted, unsigned int nr, u32 *bytes)
{
	unsigned int have;

	*bytes = smc_buffer_take(share, wanted);
	if (!*bytes)
		return 0;
	for (have = 1; have < nr; have++) {
		u32 more = smc_buffer_take(share, *bytes);

		if (more == *bytes)
			continue;
		smc_buffer_give(share, more);
		break;
	}
	return have;
}

static void unreserve(struct smc_share *share, u32 bytes, unsigned int nr)
{
	while (nr--)
		smc_buffer_give(share, bytes);
}

/* Allocate contiguous memory, for fewer elements if no larger piece is free */
static int alloc_elements(struct smcr_rmb *rmb, u32 wanted, unsigned int nr)
{
	unsigned int have = reserve(rmb->share, wanted, nr, &rmb->element_bytes);
	unsigned int fewer = have;

	if (!have)
		return -ENOBUFS;
	do {
		rmb->base = smcr_memory_alloc((size_t)fewer * rmb->element_bytes,
					      fewer > 1 ? __GFP_NORETRY : 0);
		rmb->nr_elements = fewer;
		fewer /= 2;
	} while (!rmb->base && fewer);
	if (!rmb->base) {
		unreserve(rmb->share, rmb->element_bytes, have);
		return -ENOMEM;
	}
	unreserve(rmb->share, rmb->element_bytes, have - rmb->nr_elements);
	return 0;
}

static void free_rmb(struct smcr_rmb *rmb)
{
	free_pages_exact(rmb->base, smcr_rmb_bytes(rmb));
	unreserve(rmb->share, rmb->element_bytes, rmb->nr_elements);
	kfree(rmb);
	smc_object_destroyed(SMC_OBJECT_RMB);
}

static struct smcr_rmb *create_rmb(struct smcr_group *rg, u32 wanted, unsigned int nr)
{
	struct smcr_rmb *rmb;
	unsigned int i;
	int err;

	rmb = kzalloc(sizeof(*rmb), GFP_KERNEL);
	if (!rmb)
		return ERR_PTR(-ENOMEM);
	rmb->share = rg->share;
	err = alloc_elements(rmb, wanted, nr);
	if (err) {
		kfree(rmb);
		return ERR_PTR(err);
	}
	smc_object_created(SMC_OBJECT_RMB);

	for (i = 0; i < SMCR_LINKS && !err; i++)
		if (smcr_link_has_memory(&rg->links[i]))
			err = register_with(&rg->links[i], rmb);
	if (err) {
		while (i--)
			if (rg->links[i].pd)
				unregister(&rg->links[i], rmb);
		free_rmb(rmb);
		return ERR_PTR(err);
	}
	rmb->idle_since = jiffies;
	list_add_tail(&rmb->list, &rg->rmbs);
	WRITE_ONCE(rg->rmb_bytes, rg->rmb_bytes + smcr_rmb_bytes(rmb));
	return rmb;
}

static int free_element(const struct smcr_rmb *rmb)
{
	unsigned int i = find_first_zero_bit(rmb->used, rmb->nr_elements);

	return i < rmb->nr_elements ? i : -ENOSPC;
}

/* The oldest announced RMB with a free element, so that others get idle; otherwise a new one */
static struct smcr_rmb *find_rmb(struct smcr_group *rg, u32 wanted, unsigned int *elements)
{
	struct smcr_rmb *rmb, *found = NULL;

	list_for_each_entry(rmb, &rg->rmbs, list) {
		u8 state = READ_ONCE(rmb->state);

		if (rmb->element_bytes != wanted || state == SMCR_RMB_WITHDRAWN ||
		    state == SMCR_RMB_REFUSED)
			continue;
		*elements += rmb->nr_elements;
		if (free_element(rmb) < 0)
			continue;
		if (state == SMCR_RMB_ANNOUNCED)
			return rmb;
		found = rmb;
	}
	return found;
}

/* An announced RMB with the largest free element, of at least @least bytes */
static struct smcr_rmb *find_any_rmb(struct smcr_group *rg, u32 least)
{
	struct smcr_rmb *rmb, *found = NULL;

	list_for_each_entry(rmb, &rg->rmbs, list)
		if (READ_ONCE(rmb->state) == SMCR_RMB_ANNOUNCED && free_element(rmb) >= 0 &&
		    rmb->element_bytes >= (found ? found->element_bytes + 1 : least))
			found = rmb;
	return found;
}

/*
 * May a connection use a larger element than it needs? The first RMB of a group stays, used or not.
 * From another one, elements of the next size: it is in use anyhow, but is to become unused some
 * day.
 */
static bool may_be_larger(const struct smcr_group *rg, const struct smcr_rmb *rmb, u32 wanted)
{
	if (list_is_first(&rmb->list, &rg->rmbs))
		return true;
	return rmb->element_bytes <= 2 * wanted && !bitmap_empty(rmb->used, rmb->nr_elements);
}

/* An announced RMB with a larger free element: a new RMB would take memory, and messages */
static struct smcr_rmb *find_larger(struct smcr_group *rg, u32 wanted, u32 most)
{
	struct smcr_rmb *rmb, *found = NULL;

	list_for_each_entry(rmb, &rg->rmbs, list)
		if (READ_ONCE(rmb->state) == SMCR_RMB_ANNOUNCED && free_element(rmb) >= 0 &&
		    rmb->element_bytes > wanted && may_be_larger(rg, rmb, wanted) &&
		    rmb->element_bytes <= (found ? found->element_bytes - 1 : most))
			found = rmb;
	return found;
}

/*
 * If a new element would be smaller than @wanted, although the group has no large send rings that
 * are unused: a free one that is not smaller than that.
 */
static struct smcr_rmb *find_instead(struct smcr_group *rg, u32 wanted)
{
	u32 offer = smc_buffer_offer(rg->share, wanted);

	if (offer < wanted) {
		smcr_send_rings_trim_large(rg);
		offer = smc_buffer_offer(rg->share, wanted);
	}
	return offer < wanted ? find_any_rmb(rg, offer) : NULL;
}

/* Number of elements of a new RMB, if the group has @elements of its size */
static unsigned int nr_elements(const struct smcr_group *rg, unsigned int elements)
{
	lockdep_assert_held(&rg->memory_lock);
	return list_empty(&rg->rmbs) ? 1 : max_t(unsigned int, elements, FEW_ELEMENTS);
}

/* Memory may be fragmented: try smaller elements */
static struct smcr_rmb *create_smaller(struct smcr_group *rg, u32 wanted, unsigned int nr)
{
	struct smcr_rmb *rmb = ERR_PTR(-ENOMEM);

	while (rmb == ERR_PTR(-ENOMEM) && wanted > SMC_BUFFER_MIN) {
		wanted /= 2;
		rmb = create_rmb(rg, wanted, nr);
	}
	return rmb;
}

/* Find another RMB, because a new one could not be created: @error */
static struct smcr_rmb *get_other(struct smcr_group *rg, struct smcr_rmb *error, u32 wanted,
				  unsigned int nr, bool *fresh)
{
	struct smcr_rmb *rmb = find_any_rmb(rg, 0);

	*fresh = !rmb;
	if (rmb)
		return rmb;
	return error == ERR_PTR(-ENOMEM) ? create_smaller(rg, wanted, nr) : error;
}

/**
 * smcr_rmb_take() - get an element
 * @rg: the group
 * @wanted: its size; if memory is short, the element may have another size
 * @most: a free element may have up to this size
 * @element: result: its number, from 0
 * @fresh: result: its RMB is new
 *
 * May sleep.
 *
 * Return: the RMB, which stays until smcr_rmb_release(), or an ERR_PTR.
 */
struct smcr_rmb *smcr_rmb_take(struct smcr_group *rg, u32 wanted, u32 most, u8 *element,
			       bool *fresh)
{
	unsigned int elements = 0, nr;
	struct smcr_rmb *rmb;
	size_t limit;

	mutex_lock(&rg->memory_lock);
	limit = largest(rg);
	if (wanted > limit)
		wanted = max_t(u32, rounddown_pow_of_two(limit), SMC_BUFFER_MIN);
	nr = clamp_t(u32, limit / wanted, 1, SMCR_RMB_ELEMENTS);
	rmb = find_rmb(rg, wanted, &elements) ?: find_larger(rg, wanted, most) ?:
	      find_instead(rg, wanted);
	*fresh = !rmb;
	nr = min(nr, nr_elements(rg, elements));
	if (!rmb)
		rmb = create_rmb(rg, wanted, nr);
	if (IS_ERR(rmb))
		rmb = get_other(rg, rmb, wanted, nr, fresh);
	if (!IS_ERR(rmb)) {
		*element = free_element(rmb);
		__set_bit(*element, rmb->used);
	}
	mutex_unlock(&rg->memory_lock);
	return rmb;
}

/* Until the result of its announcement is processed, LLC has the RMB in a list */
static bool is_being_announced(struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	bool announcing;

	spin_lock_bh(&rg->lock);
	announcing = rmb->announcing;
	spin_unlock_bh(&rg->lock);
	return announcing;
}

/* Can the RMB be freed? No connection uses it, and it is neither announced nor about to be. */
static bool is_useless(struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	u8 state = READ_ONCE(rmb->state);

	lockdep_assert_held(&rg->memory_lock);
	return (state == SMCR_RMB_NEW || state == SMCR_RMB_REFUSED) &&
	       !is_being_announced(rg, rmb) && bitmap_empty(rmb->used, rmb->nr_elements);
}

/**
 * smcr_rmb_release() - release an element that the peer does not write to any more
 * @rg: the group
 * @rmb: the RMB
 * @element: number of the element
 * @written: bytes from its start that the peer may have written
 *
 * May sleep.
 */
void smcr_rmb_release(struct smcr_group *rg, struct smcr_rmb *rmb, u8 element, u64 written)
{
	bool useless;

	memset(smcr_rmb_element(rmb, element), 0, min_t(u64, written, rmb->element_bytes));
	mutex_lock(&rg->memory_lock);
	__clear_bit(element, rmb->used);
	rmb->idle_since = jiffies;
	useless = is_useless(rg, rmb);
	mutex_unlock(&rg->memory_lock);
	if (useless)
		smcr_llc_kick(rg);	/* leads to smcr_rmbs_trim() */
}

/* The first RMB stays for the next connection. DELETE RKEY is repeated if it could not be sent. */
static bool is_stale(struct smcr_group *rg, const struct smcr_rmb *rmb, unsigned long age)
{
	u8 state = READ_ONCE(rmb->state);

	if (state == SMCR_RMB_ANNOUNCED && list_is_first(&rmb->list, &rg->rmbs))
		return false;
	return (state == SMCR_RMB_ANNOUNCED || state == SMCR_RMB_WITHDRAWN) &&
	       bitmap_empty(rmb->used, rmb->nr_elements) &&
	       time_after_eq(jiffies, rmb->idle_since + age) && !is_being_announced(rg, rmb);
}

/**
 * smcr_rmb_withdraw() - choose an idle RMB for DELETE RKEY (R-RK-13, R-RK-14)
 * @rg: the group
 * @age: time for which no connection has used it, in jiffies
 *
 * May sleep. No other exchange about an RMB of this end is in progress. No connection uses the RMB
 * any more: the peer may process a DELETE RKEY whose answer never arrives. If the caller cannot
 * send it, this function returns the RMB again when @age has passed.
 *
 * Return: the RMB or NULL.
 */
struct smcr_rmb *smcr_rmb_withdraw(struct smcr_group *rg, unsigned long age)
{
	struct smcr_rmb *rmb, *found = NULL;

	mutex_lock(&rg->memory_lock);
	list_for_each_entry(rmb, &rg->rmbs, list)
		if (is_stale(rg, rmb, age))
			found = rmb;
	if (found) {
		WRITE_ONCE(found->state, SMCR_RMB_WITHDRAWN);
		found->idle_since = jiffies;
	}
	mutex_unlock(&rg->memory_lock);
	return found;
}

static void discard_rmb(struct smcr_group *rg, struct smcr_rmb *rmb)
{
	unsigned int i;

	lockdep_assert_held(&rg->memory_lock);
	for (i = 0; i < SMCR_LINKS; i++)
		if (rg->links[i].pd)
			unregister(&rg->links[i], rmb);
	list_del(&rmb->list);
	WRITE_ONCE(rg->rmb_bytes, rg->rmb_bytes - smcr_rmb_bytes(rmb));
	free_rmb(rmb);
}

/**
 * smcr_rmb_discard() - free an RMB after the reply to DELETE RKEY (R-RK-15)
 * @rg: the group
 * @rmb: from smcr_rmb_withdraw()
 *
 * May sleep.
 */
void smcr_rmb_discard(struct smcr_group *rg, struct smcr_rmb *rmb)
{
	mutex_lock(&rg->memory_lock);
	discard_rmb(rg, rmb);
	mutex_unlock(&rg->memory_lock);
}

/* A registration request names the memory region, which must stay until the request completes */
static bool is_being_registered(struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (rmb->links[i].posted &&
		    (s32)(READ_ONCE(rg->links[i].tail) - rmb->links[i].behind) < 0)
			return true;
	return false;
}

/**
 * smcr_rmb_is_registered() - have the registrations of an RMB completed on all links?
 * @rg: the group
 * @rmb: the RMB
 *
 * A message that names the keys of other links must wait for that, because it can overtake the
 * requests in the send queues of those links. May sleep.
 *
 * Return: whether they have.
 */
bool smcr_rmb_is_registered(struct smcr_group *rg, const struct smcr_rmb *rmb)
{
	bool registered;

	mutex_lock(&rg->memory_lock);
	registered = !is_being_registered(rg, rmb);
	mutex_unlock(&rg->memory_lock);
	return registered;
}

/**
 * smcr_rmbs_trim() - free unused RMBs that the peer has refused, or that are not announced
 * @rg: the group
 *
 * May sleep.
 *
 * Return: whether one is left whose registration has not completed.
 */
bool smcr_rmbs_trim(struct smcr_group *rg)
{
	struct smcr_rmb *rmb, *next;
	bool left = false;

	mutex_lock(&rg->memory_lock);
	list_for_each_entry_safe(rmb, next, &rg->rmbs, list) {
		if (!is_useless(rg, rmb))
			continue;
		if (is_being_registered(rg, rmb))
			left = true;
		else
			discard_rmb(rg, rmb);
	}
	mutex_unlock(&rg->memory_lock);
	return left;
}

/**
 * smcr_memory_free() - free all memory of a group
 * @rg: a group without links and connections
 */
void smcr_memory_free(struct smcr_group *rg)
{
	struct smcr_rmb *rmb, *next;

	list_for_each_entry_safe(rmb, next, &rg->rmbs, list)
		free_rmb(rmb);
	smcr_send_rings_free(rg);
}
