/* SPDX-License-Identifier: GPL-2.0-only */
/* Identifiers, limits and roles that all layers use */
#ifndef _NET_SMC_TYPES_H
#define _NET_SMC_TYPES_H

#include <linux/sizes.h>
#include <linux/types.h>

/**
 * enum smc_mode - technology of a connection
 * @SMC_MODE_R: SMC-R, RDMA writes
 * @SMC_MODE_D: SMC-D, direct memory access to the peer's buffer
 * @SMC_MODES: number of modes
 */
enum smc_mode {
	SMC_MODE_R,
	SMC_MODE_D,
	SMC_MODES
};

/**
 * enum smc_role - role of this side in a link group or a connection
 * @SMC_CLIENT: opened the TCP connection
 * @SMC_SERVER: accepted it; decides about the link group
 */
enum smc_role {
	SMC_CLIENT,
	SMC_SERVER,
};

/* Receive buffers have 16 KiB times a power of two (RFC 7609, A.2.3) */
#define SMC_BUFFER_MIN		SZ_16K
#define SMC_BUFFER_MAX		SZ_512K

/* A ring within one kernel may be larger while nothing is read from it, see conn/grow.c */
#define SMC_RING_MAX		SZ_16M
/* The same for a send buffer; more contiguous memory is seldom found */
#define SMC_SEND_BUFFER_MAX	SZ_4M

#endif /* _NET_SMC_TYPES_H */
