/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface for drivers of ISM (internal shared memory) devices.
 *
 * An ISM device lets a peer write into memory that is registered with it, a direct memory buffer
 * (DMB), and passes signals. Emulated devices map the peer's DMB, so that writing to it is a copy.
 *
 * A connection has one DMB at each end, and each end attaches that of the other, the client first.
 * The device must ensure that they are a pair: tokens come from messages of the peer, which are not
 * trusted.
 *
 *	owner				user
 *	register_dmb -> token  ------>	attach_dmb (own DMB, token) -> address
 *					write to the address
 *	dmb->signalled()     <------	signal
 *	unregister_dmb			detach_dmb
 *
 * Owner and user may release their side in any order, at any time. The struct of a DMB, with what
 * the device keeps in it, lasts until both have: then the device calls dmb->free().
 */
#ifndef _NET_SMC_ISM_H
#define _NET_SMC_ISM_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

/* Bytes that a device may keep in a DMB */
#define SMC_DMB_PRIV	64

struct smc_ism_device;
struct smc_share;

/**
 * struct smc_ism_address - address of an ISM device
 * @gid: first 64 bits
 * @gid_ext: last 64 bits, 0 unless the device is emulated
 */
struct smc_ism_address {
	u64 gid;
	u64 gid_ext;
};

/**
 * struct smc_dmb - memory registered for one peer to write into
 * @token: identifies it to the peer; set by the device, unpredictable, practically unique
 * @addr: its memory, page-aligned, all zero; set by the device in register_dmb. If @passive,
 *	the device may set it only when this DMB is passed to attach_dmb; it is NULL until then
 * @bytes: requested size; the device may set a smaller one with @addr, but not below 16 KiB
 *	unless less was requested. The owner does not change it, nor @passive, @peer and @share,
 *	after register_dmb
 * @reused: the memory was used by another DMB before; set by the device with @addr
 * @passive: the DMB of a server: the peer attaches it before this side attaches the peer's
 * @peer: address of the device whose user may attach
 * @share: to which its memory is charged until unregister_dmb. If a user is attached then,
 *	the memory is charged to the share of the user's DMB until the device frees it or gives it
 *	to another DMB
 * @signalled: the peer sent a signal. The device calls it in any context, maybe on several
 *	CPUs at once, within an RCU read-side critical section. It does not sleep. The device must
 *	not call it later than a grace period after unregister_dmb
 * @free: the device does not use the struct any more. Called once, in or after unregister_dmb, and
 *	before smc_ism_unregister() of the device; does not sleep. The struct stays for a grace
 *	period
 * @owner: for @signalled
 * @priv: for the device, which may change it; zero before register_dmb
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
	void (*free)(struct smc_dmb *dmb);
	void *owner;
	u64 priv[SMC_DMB_PRIV / sizeof(u64)];
};

/**
 * struct smc_dmb_map - a peer's DMB, from the user's side
 * @addr: its memory
 * @bytes: its size
 * @gone: the owner has unregistered the DMB. Called at most once, between attach_dmb and a
 *	grace period after detach_dmb, in the same contexts as @signalled of struct smc_dmb.
 *	Optional for the device
 * @owner: for @gone
 * @priv: for the device
 */
struct smc_dmb_map {
	void *addr;
	u32 bytes;
	void (*gone)(struct smc_dmb_map *map);
	void *owner;
	void *priv;
};

/**
 * struct smc_dmb_memory - memory for a DMB
 * @addr: the memory, page-aligned
 * @bytes: its size
 * @priv: for the device
 */
struct smc_dmb_memory {
	void *addr;
	u32 bytes;
	void *priv;
};

/**
 * struct smc_ism_ops - operations of an ISM device
 * @reaches: Does this device reach the device with this address? Any context.
 * @register_dmb: Allocate and register memory. May sleep. Returns 0, -ENOMEM, or -ENOBUFS at
 *	a limit; then the struct is the caller's.
 * @unregister_dmb: Prevent the peer from attaching the DMB. The device frees the memory, and calls
 *	@free of struct smc_dmb, when no peer is attached any more. Process context; does not sleep.
 * @attach_dmb: Map the DMB with this token for the owner of @dmb. Only the peer for whom the
 *	DMB was registered may attach it, and only once. The two DMBs must be a pair: exactly one
 *	of them is passive, and if that is @dmb, the owner of the other one has attached it before.
 *	May sleep. Returns 0, -ENOENT, -EPERM, -EBUSY, or an error of register_dmb.
 * @detach_dmb: Stop using the peer's DMB. @written is the number of bytes from its start that
 *	may have been changed. Process context; does not sleep.
 * @is_attached: Has the peer attached this DMB? Called between register_dmb and unregister_dmb, in
 *	any context. Optional: without it the owner keeps the DMB longer after close().
 * @signal: Call the owner's @signalled, if the DMB is still registered. The owner then sees
 *	all writes made before. The caller may be in an RCU read-side critical section that began
 *	before @detach_dmb; the device may then ignore the call. Does not sleep. Returns 0, or
 *	-ENOENT if the DMB is not registered any more.
 * @get_dmb: The DMB that was attached, which is in this kernel; it exists until @detach_dmb. NULL,
 *	as the three that follow, if the memory of a DMB cannot be replaced.
 * @alloc_memory: Allocate memory of at most @bytes, all zero, for the DMB that was attached. It is
 *	charged as that of the DMB; if it is smaller than that, a limit does not matter. May sleep.
 *	Returns 0, or an error of register_dmb.
 * @swap_memory: Replace the memory of an attached DMB: the device changes the DMB and @map, and
 *	@memory becomes what it was before. The caller makes sure that owner and user do not use or
 *	release the DMB meanwhile. Does not sleep; any context.
 * @free_memory: Free memory that no DMB has: @priv of struct smc_dmb_memory. @written is the number
 *	of bytes from its start that may have been changed. With @reuse the device may keep it for
 *	another DMB. Process context; does not sleep.
 */
struct smc_ism_ops {
	bool (*reaches)(struct smc_ism_device *dev, const struct smc_ism_address *peer);
	int (*register_dmb)(struct smc_ism_device *dev, struct smc_dmb *dmb);
	void (*unregister_dmb)(struct smc_ism_device *dev, struct smc_dmb *dmb);
	int (*attach_dmb)(struct smc_ism_device *dev, struct smc_dmb *dmb, u64 token,
			  struct smc_dmb_map *map);
	void (*detach_dmb)(struct smc_ism_device *dev, struct smc_dmb_map *map, u32 written);
	bool (*is_attached)(struct smc_ism_device *dev, const struct smc_dmb *dmb);
	int (*signal)(struct smc_ism_device *dev, struct smc_dmb_map *map);
	struct smc_dmb *(*get_dmb)(const struct smc_dmb_map *map);
	int (*alloc_memory)(struct smc_ism_device *dev, const struct smc_dmb_map *map, u32 bytes,
			    struct smc_dmb_memory *memory);
	void (*swap_memory)(struct smc_ism_device *dev, struct smc_dmb_map *map,
			    struct smc_dmb_memory *memory);
	void (*free_memory)(struct smc_ism_device *dev, void *priv, u32 written, bool reuse);
};

/**
 * struct smc_ism_device - an ISM device
 * @name: for messages and monitoring
 * @ops: operations
 * @address: its address; constant
 * @chid: ID of its fabric; constant
 * @list: in the registry
 * @users: references of link groups, handshakes and the driver
 * @groups: number of link groups that use it, in all namespaces
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
