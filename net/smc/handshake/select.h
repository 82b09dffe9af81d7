/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decisions of the handshake, over plain values: which variant the server chooses, and whether
 * the peer's answer matches the offer.
 */
#ifndef _NET_SMC_HANDSHAKE_SELECT_H
#define _NET_SMC_HANDSHAKE_SELECT_H

#include "../wire/clc.h"

#define SMC_LOCAL_ISM	4	/* an emulated device takes two of the 8 entries of a Proposal */
#define SMC_LOCAL_PORTS	4

#define SMC_REACH_BASE	0x100	/* in smc_local.reach: the device of the Proposal's base part */

/**
 * struct smc_local_port - an RDMA port of this host
 * @variants: set of enum smc_variant that it supports
 * @reaches: server: set of enum smc_variant for which it reaches the port that the Proposal names;
 *	each variant has a GID of its own
 * @gid: its GID
 * @mac: its MAC address
 */
struct smc_local_port {
	u8 variants;
	u8 reaches;
	struct smc_gid gid;
	u8 mac[6];
};

/**
 * struct smc_local - what this host can offer for one connection
 * @nr_ueids: number of user EIDs
 * @ueids: user EIDs; the array ends with @nr_ueids, as the others do
 * @seid: system EID, all zero if it must not be used
 * @nr_ism: number of ISM devices
 * @ism: ISM devices, in order of preference
 * @reach: server: for each ISM device a bit mask: bit i if it reaches entry i of the
 *	Proposal's list, and SMC_REACH_BASE
 * @nr_ports: number of RDMA ports
 * @ports: RDMA ports, in order of preference
 * @same_subnet: server: the client's interface and ours share a subnet
 * @ipv4: the TCP connection uses IPv4
 * @max_conns: connections per link group that a client proposes; limit of a server
 * @max_links: links per link group that a client proposes; limit of a server
 */
struct smc_local {
	u8 nr_ueids;
	struct smc_eid ueids[SMC_MAX_UEIDS];
	struct smc_eid seid;
	u8 nr_ism;
	struct smc_ism_gid ism[SMC_LOCAL_ISM];
	u16 reach[SMC_LOCAL_ISM];
	u8 nr_ports;
	struct smc_local_port ports[SMC_LOCAL_PORTS];
	bool same_subnet;
	bool ipv4;
	u8 max_conns;
	u8 max_links;
};

/**
 * struct smc_choice - what the server chose, or the reasons why it chose nothing
 * @variant: one of enum smc_variant, 0 if nothing was chosen; decides which other fields are valid
 * @eid: the common EID (version 2)
 * @device: index into smc_local.ism or smc_local.ports
 * @peer: the client's device (SMC-D)
 * @peer_gid: the client's port (SMC-R)
 * @peer_mac: its MAC address, all zero if the client did not name it
 * @release: agreed release of version 2
 * @features: features that the client proposed
 * @max_conns: connections per link group (release 1, SMC-R)
 * @max_links: links per link group (release 1, SMC-R)
 * @d_reason_saved: SMC-R version 2 was chosen; SMC-D was offered too, and @reason_d1 or @reason_d2
 *	says why it was not chosen
 * @diagnosis: enum smc_reason, if nothing was chosen
 * @reason_d2: why SMC-D version 2 was not chosen, 0 if it was not offered
 * @reason_d1: the same for SMC-D version 1
 * @reason_r2: the same for SMC-R version 2
 * @reason_r1: the same for SMC-R version 1
 */
struct smc_choice {
	u8 variant;
	struct smc_eid eid;
	u8 device;
	union {
		struct smc_ism_gid peer;
		struct {
			struct smc_gid peer_gid;
			u8 peer_mac[6];
		};
	};
	u8 release;
	u16 features;
	u8 max_conns;
	u8 max_links;
	bool d_reason_saved;
	u32 diagnosis;
	u32 reason_d2;
	u32 reason_d1;
	u32 reason_r2;
	u32 reason_r1;
};

/* The features of release 1 that this implementation supports */
#define SMC_FEATURES	SMC_FEATURE_EMULATED_ISM

u32 smc_select(const struct smc_local *local, const struct smc_clc_proposal *proposal,
	       struct smc_choice *out);
u32 smc_select_check_accept(const struct smc_clc_proposal *proposal,
			    const struct smc_clc_accept *accept, u8 *device);
u32 smc_select_check_confirm(const struct smc_choice *choice,
			     const struct smc_clc_accept *accept,
			     const struct smc_clc_accept *confirm);

/* Is it an IPv4-mapped address? GIDs of version 2 are IP addresses */
static inline bool smc_gid_is_ipv4(const struct smc_gid *gid)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->bytes, mapped, sizeof(mapped));
}

static inline bool smc_gid_is_none(const struct smc_gid *gid)
{
	static const struct smc_gid none;

	return !memcmp(gid, &none, sizeof(none));
}

#endif /* _NET_SMC_HANDSHAKE_SELECT_H */
