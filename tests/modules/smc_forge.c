// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ISM device whose other end is a test program: it maps all DMBs, writes into
 * them whatever it likes, and signals. So it can be an SMC-D peer, right or wrong.
 *
 * DMBs have guard pages around them, in which the program can see whether the
 * module under test has written beyond its peer's memory.
 */

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <net/smc_ism.h>

#include "smc_forge.h"

#define FORGE_CHID	0xff01		/* emulated, and not that of loopback */
#define MIN_BYTES	SZ_16K
#define MAX_BYTES	SZ_4M

/**
 * struct window - a DMB
 * @ref: one of the list, one of its owner if that is the module under test, one
 *	while it is attached, one for each descriptor
 * @list: in windows; protected by lock
 * @token: its name
 * @owner: what the module under test has registered, else NULL; RCU
 * @made: the test program made it, so the module under test may attach it
 * @attached: the module under test has it attached; protected by lock
 * @signals: times it was signalled
 * @written: what detach said
 * @bytes: size
 * @area: guard page, memory, guard page
 * @rcu: signals may come while it is freed
 */
struct window {
	struct kref ref;
	struct list_head list;
	u64 token;
	struct smc_dmb __rcu *owner;
	bool made;
	bool attached;
	atomic_t signals;
	u32 written;
	u32 bytes;
	void *area;
	struct rcu_head rcu;
};

static DEFINE_SPINLOCK(lock);	/* protects windows */
static LIST_HEAD(windows);
static struct smc_ism_address peer;

static void window_free(struct kref *ref)
{
	struct window *w = container_of(ref, struct window, ref);

	vfree(w->area);
	kfree_rcu(w, rcu);
}

static void window_put(struct window *w)
{
	kref_put(&w->ref, window_free);
}

static void window_unlist(struct window *w)
{
	spin_lock_bh(&lock);
	list_del_init(&w->list);
	spin_unlock_bh(&lock);
	window_put(w);
}

/* Return: a window with two references, of the list and of the caller, or NULL */
static struct window *window_create(u32 bytes)
{
	struct window *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return NULL;
	bytes = clamp_t(u32, PAGE_ALIGN(bytes), MIN_BYTES, MAX_BYTES);
	w->area = vmalloc_user(bytes + 2 * PAGE_SIZE);
	if (!w->area) {
		kfree(w);
		return NULL;
	}
	memset(w->area, SMC_FORGE_GUARD, PAGE_SIZE);
	memset(w->area + PAGE_SIZE + bytes, SMC_FORGE_GUARD, PAGE_SIZE);
	w->bytes = bytes;
	w->token = get_random_u64();
	kref_init(&w->ref);
	kref_get(&w->ref);
	return w;
}

static void window_list(struct window *w)
{
	spin_lock_bh(&lock);
	list_add(&w->list, &windows);
	spin_unlock_bh(&lock);
}

/* lock is held. Return: the window, without a reference, or NULL */
static struct window *window_find(u64 token)
{
	struct window *w;

	lockdep_assert_held(&lock);
	list_for_each_entry(w, &windows, list)
		if (w->token == token)
			return w;
	return NULL;
}

static struct window **owner_window(struct smc_dmb *dmb)
{
	return (struct window **)dmb->priv;
}

static bool forge_reaches(struct smc_ism_device *dev, const struct smc_ism_address *address)
{
	return address->gid == peer.gid && address->gid_ext == peer.gid_ext;
}

static int forge_register_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb)
{
	struct window *w = window_create(dmb->bytes);

	if (!w)
		return -ENOMEM;
	dmb->token = w->token;
	dmb->addr = w->area + PAGE_SIZE;
	dmb->bytes = w->bytes;
	dmb->reused = false;
	*owner_window(dmb) = w;
	rcu_assign_pointer(w->owner, dmb);
	window_list(w);
	return 0;
}

static void forge_unregister_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb)
{
	struct window *w = *owner_window(dmb);

	rcu_assign_pointer(w->owner, NULL);
	window_unlist(w);
	window_put(w);
	dmb->free(dmb);
}

static int forge_attach_dmb(struct smc_ism_device *dev, struct smc_dmb *dmb, u64 token,
			    struct smc_dmb_map *map)
{
	struct window *w;
	int err = 0;

	spin_lock_bh(&lock);
	w = window_find(token);
	if (!w) {
		err = -ENOENT;
	} else if (!w->made) {
		err = -EPERM;
	} else if (w->attached) {
		err = -EBUSY;
	} else {
		w->attached = true;
		kref_get(&w->ref);
		map->addr = w->area + PAGE_SIZE;
		map->bytes = w->bytes;
		map->priv = w;
	}
	spin_unlock_bh(&lock);
	return err;
}

static void forge_detach_dmb(struct smc_ism_device *dev, struct smc_dmb_map *map, u32 written)
{
	struct window *w = map->priv;

	spin_lock_bh(&lock);
	w->written = written;
	w->attached = false;
	spin_unlock_bh(&lock);
	window_put(w);
}

/* The owner of what the module under test attaches is the test program */
static int forge_signal(struct smc_ism_device *dev, struct smc_dmb_map *map)
{
	struct window *w = map->priv;

	atomic_inc(&w->signals);
	return 0;
}

static const struct smc_ism_ops forge_ops = {
	.reaches	= forge_reaches,
	.register_dmb	= forge_register_dmb,
	.unregister_dmb	= forge_unregister_dmb,
	.attach_dmb	= forge_attach_dmb,
	.detach_dmb	= forge_detach_dmb,
	.signal		= forge_signal,
};

static struct smc_ism_device forge_device = {
	.name	= "forge",
	.ops	= &forge_ops,
	.chid	= FORGE_CHID,
};

static int get_info(void __user *arg)
{
	struct smc_forge_info info = {
		.gid		= forge_device.address.gid,
		.gid_ext	= forge_device.address.gid_ext,
		.peer_gid	= peer.gid,
		.peer_gid_ext	= peer.gid_ext,
		.chid		= FORGE_CHID,
	};

	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

static int get_state(const struct window *w, void __user *arg)
{
	struct smc_forge_dmb dmb = {
		.token		= w->token,
		.bytes		= w->bytes,
		.signals	= atomic_read(&w->signals),
		.written	= READ_ONCE(w->written),
		.owned		= !!rcu_access_pointer(w->owner),
		.attached	= READ_ONCE(w->attached),
	};

	return copy_to_user(arg, &dmb, sizeof(dmb)) ? -EFAULT : 0;
}

/* The descriptor gets its window, and keeps it. Consumes a reference to it */
static int take(struct file *file, struct window *w, void __user *arg)
{
	if (cmpxchg(&file->private_data, NULL, w)) {
		window_put(w);
		return -EBUSY;
	}
	return get_state(w, arg);
}

static int make_dmb(struct file *file, void __user *arg)
{
	struct smc_forge_dmb dmb;
	struct window *w;

	if (copy_from_user(&dmb, arg, sizeof(dmb)))
		return -EFAULT;
	if (file->private_data)
		return -EBUSY;
	w = window_create(dmb.bytes);
	if (!w)
		return -ENOMEM;
	w->made = true;
	window_list(w);
	return take(file, w, arg);
}

static int open_dmb(struct file *file, void __user *arg)
{
	struct smc_forge_dmb dmb;
	struct window *w;

	if (copy_from_user(&dmb, arg, sizeof(dmb)))
		return -EFAULT;
	spin_lock_bh(&lock);
	w = window_find(dmb.token);
	if (w)
		kref_get(&w->ref);
	spin_unlock_bh(&lock);
	return w ? take(file, w, arg) : -ENOENT;
}

static int signal_owner(struct window *w)
{
	struct smc_dmb *dmb;

	rcu_read_lock();
	dmb = rcu_dereference(w->owner);
	if (dmb)
		dmb->signalled(dmb);
	rcu_read_unlock();
	return dmb ? 0 : -ENOENT;
}

static long forge_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct window *w = READ_ONCE(file->private_data);
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case SMC_FORGE_INFO:
		return get_info(user);
	case SMC_FORGE_MAKE:
		return make_dmb(file, user);
	case SMC_FORGE_OPEN:
		return open_dmb(file, user);
	case SMC_FORGE_STATE:
		return w ? get_state(w, user) : -EBADF;
	case SMC_FORGE_SIGNAL:
		return w ? signal_owner(w) : -EBADF;
	default:
		return -ENOTTY;
	}
}

/* The pages stay as long as they are mapped, also when the DMB is gone */
static int forge_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct window *w = READ_ONCE(file->private_data);

	return w ? remap_vmalloc_range(vma, w->area, vma->vm_pgoff) : -EBADF;
}

/* misc_open() leaves its own pointer there */
static int forge_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static int forge_release(struct inode *inode, struct file *file)
{
	struct window *w = file->private_data;

	if (!w)
		return 0;
	if (w->made)
		window_unlist(w);
	window_put(w);
	return 0;
}

static const struct file_operations forge_fops = {
	.owner		= THIS_MODULE,
	.open		= forge_open,
	.release	= forge_release,
	.unlocked_ioctl	= forge_ioctl,
	.mmap		= forge_mmap,
};

static struct miscdevice forge_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "smc_forge",
	.fops	= &forge_fops,
	.mode	= 0600,
};

static int __init forge_init(void)
{
	int err;

	forge_device.address.gid = get_random_u64();
	forge_device.address.gid_ext = get_random_u64();
	peer.gid = get_random_u64();
	peer.gid_ext = get_random_u64();
	err = misc_register(&forge_misc);
	if (err)
		return err;
	err = smc_ism_register(&forge_device);
	if (err)
		misc_deregister(&forge_misc);
	return err;
}

static void __exit forge_exit(void)
{
	misc_deregister(&forge_misc);
	smc_ism_unregister(&forge_device);
	rcu_barrier();
}

module_init(forge_init);
module_exit(forge_exit);

MODULE_DESCRIPTION("Test module: an ISM device whose peer is a test program");
MODULE_LICENSE("GPL");
