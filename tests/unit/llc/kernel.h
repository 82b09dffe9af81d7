/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the kernel that link layer control uses, for one thread in user space. Each header of
 * the kernel that its sources include is this file.
 *
 * Locks only verify that the caller does not take them twice. Work runs when world.c chooses it,
 * and time passes only there.
 */
#ifndef _TESTS_UNIT_LLC_KERNEL_H
#define _TESTS_UNIT_LLC_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/build_bug.h>
#include <linux/string.h>
#include <linux/types.h>

#define __acquires(lock)
#define READ_ONCE(variable)		(variable)
#define WRITE_ONCE(variable, value)	((variable) = (value))
#define smp_load_acquire(p)		(*(p))
#define smp_store_release(p, value)	(*(p) = (value))
#define container_of(pointer, type, member)				\
	((type *)((char *)(pointer) - offsetof(type, member)))

#define min(a, b)							\
({									\
	typeof(a) __a = (a);						\
	typeof(b) __b = (b);						\
									\
	__a < __b ? __a : __b;						\
})
#define max(a, b)							\
({									\
	typeof(a) __a = (a);						\
	typeof(b) __b = (b);						\
									\
	__a > __b ? __a : __b;						\
})
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min3(a, b, c)		min(min(a, b), c)
#define clamp_t(type, value, low, high)	min_t(type, max_t(type, value, low), high)

/* Lists */

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }
#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define DECLARE_BITMAP(name, bits)	unsigned long name[((bits) + 63) / 64]

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline bool list_is_first(const struct list_head *entry, const struct list_head *list)
{
	return list->next == entry;
}

static inline void list_add(struct list_head *entry, struct list_head *after)
{
	entry->next = after->next;
	entry->prev = after;
	after->next->prev = entry;
	after->next = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
	list_add(entry, list->prev);
}

static inline void list_del_init(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	INIT_LIST_HEAD(entry);
}

/* The entry must be added before its next use */
static inline void list_del(struct list_head *entry)
{
	list_del_init(entry);
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_move_tail(struct list_head *entry, struct list_head *list)
{
	list_del_init(entry);
	list_add_tail(entry, list);
}

static inline void list_splice_tail_init(struct list_head *from, struct list_head *to)
{
	while (!list_empty(from))
		list_move_tail(from->next, to);
}

/* Each list that is spliced is to become the beginning of an empty one */
static inline void list_splice_init(struct list_head *from, struct list_head *to)
{
	assert(list_empty(to));
	list_splice_tail_init(from, to);
}

#define list_first_entry(list, type, member)	container_of((list)->next, type, member)
#define list_first_entry_or_null(list, type, member)			\
	(list_empty(list) ? NULL : list_first_entry(list, type, member))
#define list_for_each_entry(entry, list, member)			\
	for (entry = container_of((list)->next, typeof(*entry), member); \
	     &entry->member != (list);					\
	     entry = container_of(entry->member.next, typeof(*entry), member))
#define list_for_each_entry_safe(entry, after, list, member)		\
	for (entry = container_of((list)->next, typeof(*entry), member), \
	     after = container_of(entry->member.next, typeof(*entry), member); \
	     &entry->member != (list);					\
	     entry = after, after = container_of(after->member.next, typeof(*after), member))

/* Locks and references */

typedef struct {
	bool held;
} spinlock_t;

struct mutex {
	bool held;
};

#define lock_once(lock)			({ assert(!(lock)->held); (lock)->held = true; })
#define unlock_once(lock)		({ assert((lock)->held); (lock)->held = false; })
#define spin_lock_init(lock)		((lock)->held = false)
#define spin_lock_bh(lock)		lock_once(lock)
#define spin_unlock_bh(lock)		unlock_once(lock)
#define mutex_init(lock)		((lock)->held = false)
#define mutex_lock(lock)		lock_once(lock)
#define mutex_unlock(lock)		unlock_once(lock)
#define lockdep_assert_held(lock)	assert((lock)->held)

struct kref {
	int count;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	int count;
} refcount_t;

struct completion {
	bool done;
};

struct rcu_head {
	void *unused;
};

static inline bool refcount_inc_not_zero(refcount_t *count)
{
	return count->count && ++count->count;
}

static inline bool refcount_dec_and_test(refcount_t *count)
{
	return !--count->count;
}

static inline void complete(struct completion *completion)
{
	completion->done = true;
}

/* Time and work; a jiffy is a millisecond */

#define HZ			1000UL
#define MAX_JIFFY_OFFSET	((~0UL >> 1) - 1)
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)

extern unsigned long jiffies;

struct work_struct {
	void (*func)(struct work_struct *work);
	bool pending;
	unsigned long at;
};

struct delayed_work {
	struct work_struct work;
};

struct workqueue_struct;

#define INIT_DELAYED_WORK(delayed, function)	((delayed)->work.func = (function))
#define to_delayed_work(pointer)	container_of(pointer, struct delayed_work, work)

/* Return: whether it was pending before */
bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
		      unsigned long delay);
/* Return: false if it was pending before */
bool queue_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
			unsigned long delay);
bool cancel_delayed_work_sync(struct delayed_work *work);

typedef struct {
	bool unused;
} wait_queue_head_t;

/* Let something happen until @end. Return: false if nothing was left, and it is @end now */
bool world_step(unsigned long end);

/* The other end goes on meanwhile */
#define wait_event_timeout(queue, condition, timeout)			\
({									\
	unsigned long __end = jiffies + (timeout);			\
									\
	(void)&(queue);							\
	while (!(condition) && world_step(__end))			\
		;							\
})

/* Memory, random numbers, messages */

typedef unsigned int gfp_t;

#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define GFP_ATOMIC		0
#define __GFP_NOWARN		0
#define __GFP_ZERO		0
#define SZ_4K			(4 << 10)
#define SZ_16K			(16 << 10)
#define SZ_512K			(512 << 10)
#define SZ_4M			(4 << 20)
#define SZ_16M			(16 << 20)
#define kmalloc(bytes, gfp)	malloc(bytes)
#define kvmalloc(bytes, gfp)	malloc(bytes)
#define kvcalloc(nr, bytes, gfp)	calloc(nr, bytes)
#define kfree(memory)		free(memory)
#define kvfree(memory)		free(memory)
#define alloc_pages_exact(bytes, gfp)	calloc(1, bytes)

u32 get_random_u32(void);
void get_random_bytes(void *bytes, size_t len);

/* The only messages at this level are about links that a peer's fault takes down */
void world_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define pr_debug_ratelimited(...)	world_fault(__VA_ARGS__)

/* Devices */

#define ETH_ALEN		6
#define IB_DEVICE_NAME_MAX	64
#define DMA_FROM_DEVICE		DMA_FROM_DEVICE

enum ib_mtu { IB_MTU_1024 = 3, IB_MTU_4096 = 5 };
enum ib_gid_type { IB_GID_TYPE_ROCE_UDP_ENCAP };
enum dma_data_direction { DMA_FROM_DEVICE };

union ib_gid {
	u8 raw[16];
};

struct ib_device {
	void *dma_device;
};

struct ib_event_handler {
	struct ib_device *device;
};

struct ib_pd {
	struct ib_device *device;
};

struct ib_qp {
	u32 qp_num;
};

struct ib_mr {
	u32 rkey;
	u64 iova;
};

struct ib_reg_wr {
	struct ib_mr *mr;
};

struct ib_cq;
struct ib_gid_attr;
struct rdma_ah_attr;

#define __rcu
#define ib_uses_virt_dma(device)		((device) != NULL)
#define dma_max_mapping_size(device)		((device) ? 0 : SIZE_MAX)
#define ib_dma_map_single(device, bytes, len, direction)	((u64)(uintptr_t)(bytes))
#define ib_dma_mapping_error(device, dma)	((device) == NULL)

#endif /* _TESTS_UNIT_LLC_KERNEL_H */
