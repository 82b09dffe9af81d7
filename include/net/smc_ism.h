/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a driver of an ISM (internal shared memory) device implements and calls.
 *
 * An ISM device lets a peer write into memory that we register with it, a
 * direct memory buffer (DMB), and passes signals. Emulated devices make the
 * peer's DMB addressable here, so that writing to it is copying.
 *
 * A connection has one DMB at each end, and each end attaches that of the other, the client first.
 * The device sees to it that they are a pair: tokens come from messages of a peer, who may lie.
 *
 *	owner				user
 *	register_dmb -> token  ------>	attach_dmb (own DMB, token) -> address
 *					write to the address
 *	dmb->signalled()     <------	signal
 *	unregister_dmb			detach_dmb
 *
 * Owner and user may give up their side in any order, at any time.
 */
#ifndef _NET_SMC_ISM_H
#define _NET_SMC_ISM_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct smc_ism_device;
struct smc_share;

/**
 * struct smc_ism_address - where an ISM device can be reached
 * @gid: first 64 bits
 * @gid_ext: last 64 bits, 0 unless the device is emulated
 */
struct smc_ism_address {
	u64 gid;
	u64 gid_ext;
};

/**
 * struct smc_dmb - memory registered for one peer to write into
 * @token: names it to the peer; set by the device, never reused
 * @addr: its memory, page-aligned, all zero; set by the device in register_dmb. If @passive, it
 *	may do so as late as in the attach_dmb that this DMB is passed to, and leave NULL before
 * @bytes: wanted size; the device may set a smaller one with @addr, but not below 16 KiB
 * @reused: the memory served another DMB before; set by the device with @addr
 * @passive: the end of a server: the peer attaches it before it attaches the peer's
 * @peer: who may attach
 * @share: what its memory counts for until unregister_dmb. If a user is attached then, the memory
 *	counts for the share of the user's DMB, until the device has freed it or given it to another
 *	DMB
 * @signalled: the peer signalled. Called by the device in any context that may
 *	not sleep, perhaps on several CPUs at once, and within an RCU read-side
 *	critical section; not called any more after unregister_dmb and a grace
 *	period
 * @owner: for @signalled
 * @priv: the device's own
 */
struct smc_dmb {
	u64 token;
	void *addr;
	u32 bytes;
	bool reused;
	bool passive;
	struct smc_ism_address peer;
	struct smc_share *share;
	void (*signalled)(struct smc_dmb *dmb);
	void *owner;
	void *priv;
};

/**
 * struct smc_dmb_map - a peer's DMB, seen from the user's side
 * @addr: its memory
 * @bytes: its size
 * @gone: the owner has unregistered the DMB. Called at most once, between attach_dmb and
 *	detach_dmb or a grace period after it, as @signalled of struct smc_dmb. May be
 *	called by devices that find out
 * @owner: for @gone
 * @priv: the device's own
 */
struct smc_dmb_map {
	void *addr;
	u32 bytes;
	void (*gone)(struct smc_dmb_map *map);
	void *owner;
	void *priv;
};

/**
 * struct smc_ism_ops - what an ISM device can do
 * @reaches: Is this the address of a device which this one reaches? Any context.
 * @register_dmb: Allocate and register memory. May sleep. Returns 0, -ENOMEM, or
 *	-ENOBUFS at a limit.
 * @unregister_dmb: Take the memory away from the peer's reach as far as the
 *	peer has not attached it, and free it when the peer has detached it. The
 *	struct may be reused at once, after a grace period. Does not sleep.
 * @attach_dmb: Make the DMB with this token addressable for the owner of @dmb. At most one user,
 *	and only the peer for whom it was registered, can attach it, once. Both are to become a
 *	pair: one of them is passive, and where @dmb is, the other's owner has attached it before.
 *	May sleep. Returns 0, -ENOENT, -EPERM, -EBUSY, or as register_dmb.
 * @detach_dmb: Stop using it. @written tells how many bytes from its start may
 *	have been changed. Does not sleep.
 * @signal: Call the owner's @signalled, if the DMB is still registered. Writes made
 *	before are visible to the owner then. Does not sleep. In an RCU read-side
 *	critical section that began before, it may come after @detach_dmb; it may
 *	do nothing then, or call the owner of what became of the memory.
 *	Returns 0, or -ENOENT if it is not registered any more.
 */
struct smc_ism_ops {
	bool (*reaches)(struct smc_ism_device *dev, const struct smc_ism_address *peer);
	int (*register_dmb)(struct smc_ism_device *dev, struct smc_dmb *dmb);
	void (*unregister_dmb)(struct smc_ism_device *dev, struct smc_dmb *dmb);
	int (*attach_dmb)(struct smc_ism_device *dev, struct smc_dmb *dmb, u64 token,
			  struct smc_dmb_map *map);
	void (*detach_dmb)(struct smc_ism_device *dev, struct smc_dmb_map *map, u32 written);
	int (*signal)(struct smc_ism_device *dev, struct smc_dmb_map *map);
};

/**
 * struct smc_ism_device - an ISM device
 * @name: for messages and monitoring
 * @ops: what it can do
 * @address: where peers reach it; constant
 * @chid: its fabric; constant
 * @list: the registry's
 * @users: references held by link groups and handshakes, and one of the driver
 * @groups: link groups on it, in all namespaces
 */
struct smc_ism_device {
	const char *name;
	const struct smc_ism_ops *ops;
	struct smc_ism_address address;
	u16 chid;
	struct list_head list;
	refcount_t users;
	atomic_t groups;
};

int smc_ism_register(struct smc_ism_device *dev);
void smc_ism_unregister(struct smc_ism_device *dev);

#endif /* _NET_SMC_ISM_H */
