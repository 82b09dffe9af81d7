/* SPDX-License-Identifier: GPL-2.0-only */
/* ioctls of /dev/smc_forge; shared with user space */
#ifndef SMC_FORGE_H
#define SMC_FORGE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct smc_forge_info - where the device and its imaginary peer are
 * @gid: of the device, which the module under test has
 * @gid_ext: its second half
 * @peer_gid: of the peer, which the test program plays
 * @peer_gid_ext: its second half
 * @chid: the fabric of both
 * @pad: zero
 */
struct smc_forge_info {
	__u64 gid;
	__u64 gid_ext;
	__u64 peer_gid;
	__u64 peer_gid_ext;
	__u16 chid;
	__u16 pad[3];
};

/**
 * struct smc_forge_dmb - a DMB
 * @token: names it
 * @bytes: its size. mmap() shows it between two guard pages of SMC_FORGE_GUARD
 * @signals: times the module under test has signalled it
 * @written: from detach: so many bytes from its start may have been changed
 * @owned: the module under test has it registered
 * @attached: the module under test has it attached now
 * @pad: zero
 */
struct smc_forge_dmb {
	__u64 token;
	__u32 bytes;
	__u32 signals;
	__u32 written;
	__u8 owned;
	__u8 attached;
	__u8 pad[2];
};

#define SMC_FORGE_GUARD	0xa5	/* each byte of the guard pages */

/* A descriptor holds one DMB: of the test program (MAKE) or of the module under test (OPEN) */
#define SMC_FORGE_INFO		_IOR('f', 1, struct smc_forge_info)
#define SMC_FORGE_MAKE		_IOWR('f', 2, struct smc_forge_dmb)	/* bytes -> token */
#define SMC_FORGE_OPEN		_IOWR('f', 3, struct smc_forge_dmb)	/* token -> bytes */
#define SMC_FORGE_STATE		_IOR('f', 4, struct smc_forge_dmb)
#define SMC_FORGE_SIGNAL	_IO('f', 5)	/* to the owner; ENOENT if there is none */

#endif /* SMC_FORGE_H */
