/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connection layer control (CLC): the handshake messages that turn a new TCP connection into an
 * SMC connection. They are payload of that TCP connection; between two ends in one kernel they may
 * go through memory, as this struct.
 *
 *	client				server
 *	  | -------- Proposal --------> |	what the client supports
 *	  | <-------- Accept ---------- |	what the server chose, and its buffers
 *	  | -------- Confirm ---------> |	the client's buffers
 *
 * Either side may send a Decline instead of its message. The connection then continues as TCP.
 *
 * A message is parsed once, into the structs below. They are in host byte order and contain no
 * pointers. Fields that the peer did not send, or that must be ignored, are zero. The formats are
 * in RFC 7609, A.2, and in "Shared Memory Communications: Version 2".
 */
#ifndef _NET_SMC_WIRE_CLC_H
#define _NET_SMC_WIRE_CLC_H

#include <linux/string.h>
#include <linux/types.h>

#include "eid.h"

#define SMC_CLC_HEADER_LEN	8
#define SMC_CLC_EYE_CATCHER_LEN	4	/* which the header begins with */
#define SMC_CLC_BUILD_MAX	652	/* longest message that this implementation builds */

#define SMC_MAX_PREFIXES	8
#define SMC_MAX_UEIDS		8
#define SMC_MAX_ISM_ENTRIES	8	/* an extended GID takes two entries */
#define SMC_MAX_GIDS		8
#define SMC_HOSTNAME_LEN	32

#define SMC_MAX_CONNS_MIN	16	/* range of max_conns of version 2.1 */
#define SMC_MAX_CONNS_MAX	255
#define SMC_MAX_LINKS_MIN	1	/* range of max_links of version 2.1 */
#define SMC_MAX_LINKS_MAX	2

#define SMC_CHID_EMULATED	0xff00	/* first CHID of emulated devices */
#define SMC_CHID_LOOPBACK	0xffff

enum smc_clc_type {
	SMC_CLC_PROPOSAL = 1,
	SMC_CLC_ACCEPT = 2,
	SMC_CLC_CONFIRM = 3,
	SMC_CLC_DECLINE = 4,
};

/**
 * enum smc_variant - protocol variant of a connection; also used as a set of offers
 * @SMC_VARIANT_R1: SMC-R version 1
 * @SMC_VARIANT_D1: SMC-D version 1
 * @SMC_VARIANT_R2: SMC-R version 2
 * @SMC_VARIANT_D2: SMC-D version 2
 */
enum smc_variant {
	SMC_VARIANT_R1 = 0x1,
	SMC_VARIANT_D1 = 0x2,
	SMC_VARIANT_R2 = 0x4,
	SMC_VARIANT_D2 = 0x8,
};

#define SMC_VARIANTS_V1	(SMC_VARIANT_R1 | SMC_VARIANT_D1)
#define SMC_VARIANTS_V2	(SMC_VARIANT_R2 | SMC_VARIANT_D2)
#define SMC_VARIANTS_R	(SMC_VARIANT_R1 | SMC_VARIANT_R2)
#define SMC_VARIANTS_D	(SMC_VARIANT_D1 | SMC_VARIANT_D2)

enum smc_release {
	SMC_RELEASE_0 = 0,	/* version 2.0 */
	SMC_RELEASE_1 = 1,	/* version 2.1 */
};

/* Operating system codes; the tools show other values as numbers */
enum smc_os {
	SMC_OS_ZOS = 1,
	SMC_OS_LINUX = 2,
	SMC_OS_AIX = 3,
	SMC_OS_UNKNOWN = 15,
};

/* Supplemental features of version 2.1 */
enum smc_feature {
	SMC_FEATURE_EMULATED_ISM = 0x0001,
};

/**
 * struct smc_peer_id - identifies one instance of an SMC-R stack
 * @bytes: instance number (2) and the MAC address (6) of one of its RDMA ports
 */
struct smc_peer_id {
	u8 bytes[8];
};

/**
 * struct smc_gid - address of an RDMA port
 * @bytes: in the format of an IPv6 address. In version 2 it is the IP address of the port;
 *	IPv4 is stored as ::ffff:a.b.c.d, also if ::a.b.c.d was received
 */
struct smc_gid {
	u8 bytes[16];
};

/**
 * struct smc_ism_gid - address of one user of an ISM device
 * @gid: 64-bit GID; of an emulated device, the first half of its 128-bit GID
 * @gid_ext: second half; 0 unless the device is emulated
 * @chid: ID of its fabric
 */
struct smc_ism_gid {
	u64 gid;
	u64 gid_ext;
	u16 chid;
};

/**
 * struct smc_clc_header - the first 8 bytes of any message
 * @type: enum smc_clc_type
 * @length: of the whole message, in the range that its type and version allow
 * @version: 1 or 2; a Proposal may have a higher one
 * @flags: the low four bits of the version byte
 * @smcd: the eye catcher is that of SMC-D
 */
struct smc_clc_header {
	u8 type;
	u16 length;
	u8 version;
	u8 flags;
	bool smcd;
};

/**
 * struct smc_clc_prefix - an IPv6 prefix of the client's interface
 * @addr: the prefix
 * @len: number of valid bits, at most 128
 */
struct smc_clc_prefix {
	u8 addr[16];
	u8 len;
};

/**
 * struct smc_clc_subnet - IP subnets of the client's interface, for version 1
 * @ipv4: network number, in network byte order; see RFC 7609, 3.5.1.2
 * @ipv4_len: prefix length, at most 32
 * @nr_prefixes: number of IPv6 prefixes; 0 makes this an IPv4 subnet
 * @prefixes: IPv6 prefixes
 */
struct smc_clc_subnet {
	__be32 ipv4;
	u8 ipv4_len;
	u8 nr_prefixes;
	struct smc_clc_prefix prefixes[SMC_MAX_PREFIXES];
};

/**
 * struct smc_clc_vendor - vendor options of a version 2.1 Proposal
 * @oui: IEEE id of the vendor, 0 if there are no options
 * @options: opaque
 */
struct smc_clc_vendor {
	u8 oui[3];
	u8 options[5];
};

/**
 * struct smc_clc_proposal_v2 - the version 2 part of a Proposal
 * @release: highest release of version 2 that the client supports, as received
 * @max_conns: connections per link group that the client proposes (release 1, SMC-R)
 * @max_links: links per link group that the client proposes (release 1, SMC-R)
 * @features: set of enum smc_feature, including unknown bits (release 1)
 * @vendor: vendor options (release 1)
 * @roce_gid: IP address of the client's RDMA port (SMC-R)
 * @has_seid: the client offers its system EID (SMC-D)
 * @seid: the system EID (SMC-D)
 * @nr_ueids: number of user EIDs
 * @ueids: user EIDs in the client's order
 * @nr_ism: number of devices in @ism
 * @ism: the client's devices without an IP interface, in its order; the two entries of an
 *	extended GID are one element here (SMC-D)
 * @ism_unpaired: an emulated CHID had no second entry. @ism omits such devices; with release
 *	1 and emulated ISM the server must decline
 */
struct smc_clc_proposal_v2 {
	u8 release;
	u8 max_conns;
	u8 max_links;
	u16 features;
	struct smc_clc_vendor vendor;
	struct smc_gid roce_gid;
	bool has_seid;
	struct smc_eid seid;
	u8 nr_ueids;
	struct smc_eid ueids[SMC_MAX_UEIDS];
	u8 nr_ism;
	struct smc_ism_gid ism[SMC_MAX_ISM_ENTRIES];
	bool ism_unpaired;
};

/**
 * struct smc_clc_proposal - Proposal: what the client supports
 * @version: as received, may be higher than 2; the builder derives it from @offers. In memory the
 *	client sets it
 * @offers: set of enum smc_variant. If it is empty after parsing, the server must decline
 * @peer_id: the client's stack
 * @gid: the client's GID for SMC-R version 1
 * @mac: the client's MAC address, for both versions of SMC-R
 * @subnet: the client's IP subnets, if version 1 is offered
 * @ism: ISM device of the client's IP interface, @ism.gid is 0 if there is no such device.
 *	@ism.chid is set only if SMC-D version 2 is offered
 * @v2: the version 2 part, zero if version 2 is not offered
 */
struct smc_clc_proposal {
	u8 version;
	u8 offers;
	struct smc_peer_id peer_id;
	struct smc_gid gid;
	u8 mac[6];
	struct smc_clc_subnet subnet;
	struct smc_ism_gid ism;
	struct smc_clc_proposal_v2 v2;
};

/**
 * struct smc_clc_rdma_end - SMC-R: the sender's end of the connection
 * @peer_id: the sender's stack
 * @gid: GID of its RDMA port
 * @mac: MAC address of that port
 * @qpn: queue pair of the link, 24 bits
 * @psn: initial packet sequence number of that queue pair, 24 bits
 * @mtu: path MTU code, see smc_clc_mtu_bytes(); relevant at first contact only
 * @rkey: key of the RMB on that link
 * @rmb_addr: address of the RMB, not of the RMBE
 * @rmbe_index: number of the RMBE, starts at 1
 * @rmbe_size: size code of the RMBE, see smc_clc_buffer_bytes()
 * @alert_token: the peer sends it in every CDC message
 */
struct smc_clc_rdma_end {
	struct smc_peer_id peer_id;
	struct smc_gid gid;
	u8 mac[6];
	u32 qpn;
	u32 psn;
	u8 mtu;
	u32 rkey;
	u64 rmb_addr;
	u8 rmbe_index;
	u8 rmbe_size;
	u32 alert_token;
};

/**
 * struct smc_clc_ism_end - SMC-D: the sender's end of the connection
 * @ism: the sender's device; version 1 has no CHID
 * @dmb_token: identifies the DMB on the device
 * @dmbe_index: number of the element, starts at 0
 * @dmbe_size: size code of the element, see smc_clc_buffer_bytes()
 * @link_id: number that the sender gave to the link group
 */
struct smc_clc_ism_end {
	struct smc_ism_gid ism;
	u64 dmb_token;
	u8 dmbe_index;
	u8 dmbe_size;
	u32 link_id;
};

/**
 * struct smc_clc_first_contact - first contact extension of version 2
 * @release: negotiated release; the fields marked "release 1" are 0 if it is 0
 * @os: enum smc_os, or any other value up to 15
 * @hostname: NUL-terminated, empty if the received name is invalid
 * @direct: the first link stays within one subnet (SMC-R)
 * @max_conns: connections per link group (release 1, SMC-R)
 * @max_links: links per link group (release 1, SMC-R)
 * @features: set of enum smc_feature (release 1)
 * @vendor: vendor options (release 1)
 * @nr_gids: number of @gids; 1 to 8 in a Confirm of SMC-R, else 0
 * @gids: addresses of the client's RDMA ports, starting with that of the first link
 */
struct smc_clc_first_contact {
	u8 release;
	u8 os;
	char hostname[SMC_HOSTNAME_LEN + 1];
	bool direct;
	u8 max_conns;
	u8 max_links;
	u16 features;
	u8 vendor[4];
	u8 nr_gids;
	struct smc_gid gids[SMC_MAX_GIDS];
};

/**
 * struct smc_clc_accept - Accept and Confirm: the chosen variant, and the sender's end
 * @variant: one of enum smc_variant; decides which other fields are valid
 * @is_first_contact: first contact flag; never set in a Confirm of SMC-R version 1
 * @d_reason_saved: Accept for SMC-R version 2: the server recorded why it did not choose
 *	SMC-D
 * @rdma: the sender's end, SMC-R
 * @dmb: the sender's end, SMC-D
 * @eid: the negotiated EID, version 2
 * @first_contact: the extension, version 2 with @is_first_contact
 */
struct smc_clc_accept {
	u8 variant;
	bool is_first_contact;
	bool d_reason_saved;
	union {
		struct smc_clc_rdma_end rdma;
		struct smc_clc_ism_end dmb;
	};
	struct smc_eid eid;
	struct smc_clc_first_contact first_contact;
};

/**
 * struct smc_clc_decline - Decline: the connection continues as TCP
 * @version: 1 or 2; 1 in reply to a version 1 Proposal
 * @smcd: with the eye catcher of SMC-D
 * @extended: the 44-byte format, which has the fields below @diagnosis
 * @out_of_sync: the receiver must not use its link group any more
 * @peer_id: the sender's stack
 * @diagnosis: reason code; each operating system defines its own
 * @os: enum smc_os, or any other value up to 15
 * @reason_d2: why not SMC-D version 2, 0 if it was not offered
 * @reason_d1: the same for SMC-D version 1
 * @reason_r2: the same for SMC-R version 2
 * @reason_r1: the same for SMC-R version 1
 */
struct smc_clc_decline {
	u8 version;
	bool smcd;
	bool extended;
	bool out_of_sync;
	struct smc_peer_id peer_id;
	u32 diagnosis;
	u8 os;
	u32 reason_d2;
	u32 reason_d1;
	u32 reason_r2;
	u32 reason_r1;
};

/**
 * struct smc_clc - any message
 * @type: enum smc_clc_type
 * @proposal: for SMC_CLC_PROPOSAL
 * @accept: for SMC_CLC_ACCEPT and SMC_CLC_CONFIRM
 * @decline: for SMC_CLC_DECLINE
 */
struct smc_clc {
	u8 type;
	union {
		struct smc_clc_proposal proposal;
		struct smc_clc_accept accept;
		struct smc_clc_decline decline;
	};
};

bool smc_clc_may_begin(const void *buf, size_t len);
int smc_clc_parse_header(const void *buf, size_t len, struct smc_clc_header *out);
int smc_clc_parse(const struct smc_clc_header *header, const void *buf, size_t len,
		  struct smc_clc *out);
int smc_clc_build(const struct smc_clc *in, void *buf, size_t size);
void smc_clc_cut_hostname(char name[SMC_HOSTNAME_LEN + 1], size_t len);

const char *smc_clc_type_name(u8 type);
const char *smc_variant_name(u8 variant);

u32 smc_clc_buffer_bytes(u8 code);
u8 smc_clc_buffer_code(u32 bytes);
u32 smc_clc_mtu_bytes(u8 code);

static inline bool smc_chid_is_emulated(u16 chid)
{
	return chid >= SMC_CHID_EMULATED;
}

/* Convert an IPv4 address ::a.b.c.d to ::ffff:a.b.c.d, so that both formats compare equal */
static inline void smc_gid_map_ipv4(struct smc_gid *gid)
{
	static const u8 zeros[12];

	/* ::, ::1 and all of 0.0.0.0/8 are not IPv4 addresses of ports */
	if (!memcmp(gid->bytes, zeros, sizeof(zeros)) && gid->bytes[12]) {
		gid->bytes[10] = 0xff;
		gid->bytes[11] = 0xff;
	}
}

/* Offset of an RMBE in its RMB; @index starts at 1 */
static inline u32 smc_clc_rmbe_offset(u8 index, u32 element_bytes)
{
	return (index - 1) * element_bytes;
}

#endif /* _NET_SMC_WIRE_CLC_H */
