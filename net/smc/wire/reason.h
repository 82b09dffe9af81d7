/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reason codes: why a connection falls back to TCP, and why a link ends.
 *
 * A fallback code is sent in the CLC Decline, counted in the fallback statistics and shown by the
 * tools. The specifications leave the values to each operating system. These are the values of
 * Linux peers, which the tools know; the block 0x03100000 to 0x0310000b is specific to this
 * implementation.
 */
#ifndef _NET_SMC_WIRE_REASON_H
#define _NET_SMC_WIRE_REASON_H

#include <linux/types.h>

/* Decline and fallback codes; reason.c describes them */
enum smc_reason {
	SMC_REASON_NONE			= 0,
	SMC_REASON_NO_MEMORY		= 0x01010000,
	SMC_REASON_TIMEOUT_CONFIRM_LINK	= 0x02010000,
	SMC_REASON_TIMEOUT_ADD_LINK	= 0x02020000,
	SMC_REASON_CONFIGURATION	= 0x03000000,
	SMC_REASON_PEER_NO_SMC		= 0x03010000,
	SMC_REASON_IPSEC		= 0x03020000,
	SMC_REASON_NO_DEVICE		= 0x03030000,
	SMC_REASON_NO_ISM_DEVICE	= 0x03030001,
	SMC_REASON_NO_RDMA_DEVICE	= 0x03030002,
	SMC_REASON_NO_ISM_V2		= 0x03030003,
	SMC_REASON_NO_V2_EXT		= 0x03030004,
	SMC_REASON_NO_SMCD_V2_EXT	= 0x03030005,
	SMC_REASON_NO_SEID		= 0x03030006,
	SMC_REASON_NO_ISM_V2_DEVICE	= 0x03030007,
	SMC_REASON_NO_UEID		= 0x03030008,
	SMC_REASON_RELEASE		= 0x03030009,
	SMC_REASON_MAX_CONNS		= 0x0303000a,
	SMC_REASON_MAX_LINKS		= 0x0303000b,
	SMC_REASON_MODE			= 0x03040000,
	SMC_REASON_EYE_CATCHER		= 0x03050000,
	SMC_REASON_OPTION		= 0x03060000,
	SMC_REASON_PREFIX		= 0x03070000,
	SMC_REASON_VLAN_LOOKUP		= 0x03080000,
	SMC_REASON_VLAN_ISM		= 0x03090000,
	SMC_REASON_NO_ACTIVE_LINK	= 0x030a0000,
	SMC_REASON_NO_SERVER_LINK	= 0x030b0000,
	SMC_REASON_VERSION		= 0x030c0000,
	SMC_REASON_TOO_MANY_DMBS	= 0x030d0000,
	SMC_REASON_NO_ROUTE		= 0x030e0000,
	SMC_REASON_INDIRECT		= 0x030f0000,
	SMC_REASON_MALFORMED		= 0x03100000,
	SMC_REASON_RESERVED_VALUE	= 0x03100001,
	SMC_REASON_CHID_UNPAIRED	= 0x03100002,
	SMC_REASON_NOT_OFFERED		= 0x03100003,
	SMC_REASON_CONFIRM_DIFFERS	= 0x03100004,
	SMC_REASON_ADDRESS_FAMILY	= 0x03100005,
	SMC_REASON_BUFFER_LIMIT		= 0x03100006,
	SMC_REASON_TOO_MANY_HANDSHAKES	= 0x03100007,
	SMC_REASON_TOO_MANY_GROUPS	= 0x03100008,
	SMC_REASON_NO_PATH		= 0x03100009,
	SMC_REASON_NO_ANSWER		= 0x0310000a,
	SMC_REASON_NO_PROPOSAL		= 0x0310000b,
	SMC_REASON_OUT_OF_SYNC		= 0x04000000,
	SMC_REASON_PEER_DECLINED	= 0x05000000,
	SMC_REASON_INTERNAL		= 0x09990000,
	SMC_REASON_LINK_RTOKEN		= 0x09990001,
	SMC_REASON_LINK_NOT_READY	= 0x09990002,
	SMC_REASON_LINK_BUFFER		= 0x09990003,
};

/**
 * enum smc_link_reason - reason codes of LLC DELETE LINK (RFC 7609, A.3.4)
 * @SMC_LINK_LOST_PATH: the path or the device is lost
 * @SMC_LINK_OPERATOR: an operator terminated the link
 * @SMC_LINK_INACTIVE: the link was not used
 * @SMC_LINK_PROTOCOL: the peer violated the LLC protocol
 * @SMC_LINK_ASYMMETRIC: an asymmetric link is no longer needed
 * @SMC_LINK_UNKNOWN: response only: the link does not exist
 */
enum smc_link_reason {
	SMC_LINK_LOST_PATH	= 0x00010000,
	SMC_LINK_OPERATOR	= 0x00020000,
	SMC_LINK_INACTIVE	= 0x00030000,
	SMC_LINK_PROTOCOL	= 0x00040000,
	SMC_LINK_ASYMMETRIC	= 0x00050000,
	SMC_LINK_UNKNOWN	= 0x00100000,
};

/**
 * struct smc_reason_info - one row of the table
 * @code: an enum smc_reason or enum smc_link_reason
 * @name: short name for statistics
 * @text: description, one line without full stop
 * @error: negative errno of an operation that failed for this reason
 * @retry: the cause is local and temporary; a later connection may succeed
 */
struct smc_reason_info {
	u32 code;
	const char *name;
	const char *text;
	int error;
	bool retry;
};

/* Sorted by code; statistics use the index as counter index */
#define SMC_REASON_COUNT	54

extern const struct smc_reason_info smc_reason_table[SMC_REASON_COUNT];

const struct smc_reason_info *smc_reason_find(u32 code);
const char *smc_reason_name(u32 code);
const char *smc_reason_text(u32 code);
u32 smc_reason_from_errno(int error);

#endif /* _NET_SMC_WIRE_REASON_H */
