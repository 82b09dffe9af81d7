/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The choices of the handshake, over values only: what both sides can do, and
 * whether the peer's answer is one of the offers.
 */
#ifndef _NET_SMC_HANDSHAKE_SELECT_H
#define _NET_SMC_HANDSHAKE_SELECT_H

#include "../wire/clc.h"

#define SMC_LOCAL_ISM	4	/* emulated devices take two of the 8 entries each */
#define SMC_LOCAL_PORTS	4

#define SMC_REACH_BASE	0x100	/* in smc_local.reach: the device in the base of the Proposal */

/**
 * struct smc_local_port - an RDMA port of this host
 * @variants: set of enum smc_variant that it can serve
 * @reaches: it reaches the port that the Proposal names (server only)
 * @gid: its address
 * @mac: its MAC address
 */
struct smc_local_port {
	u8 variants;
	bool reaches;
	struct smc_gid gid;
	u8 mac[6];
};

/**
 * struct smc_local - what this host can offer for one connection
 * @nr_ueids: number of user EIDs
 * @ueids: user EIDs
 * @seid: system EID, all zero if it must not be used
 * @nr_ism: number of ISM devices
 * @ism: ISM devices, in order of preference
 * @reach: for each of them a set of bits: entry i of the Proposal's list names a
 *	device that this one reaches, or SMC_REACH_BASE (server only)
 * @nr_ports: number of RDMA ports
 * @ports: RDMA ports, in order of preference
 * @same_subnet: the client's interface is in a subnet of ours (server only)
 * @ipv4: IP version of the TCP connection
 * @max_conns: connections per link group that we like to have
 * @max_links: links per link group that we like to have
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
 * struct smc_choice - what the server chose, or why nothing
 * @variant: one of enum smc_variant, 0 for none
 * @eid: the common EID (version 2)
 * @device: index into smc_local.ism or smc_local.ports
 * @peer: the client's device (SMC-D)
 * @peer_gid: the client's port (SMC-R)
 * @peer_mac: its MAC address, all zero if the client did not say
 * @release: release of version 2
 * @features: those that the client proposed
 * @max_conns: connections per link group (release 1, SMC-R)
 * @max_links: links per link group (release 1, SMC-R)
 * @d_reason_saved: SMC-D was offered as well, and there was a reason against it
 * @diagnosis: enum smc_reason, when nothing was chosen
 * @reason_d2: why not SMC-D version 2, 0 if it was not offered
 * @reason_d1: the same for SMC-D version 1
 * @reason_r2: the same for SMC-R version 2
 * @reason_r1: the same for SMC-R version 1
 */
struct smc_choice {
	u8 variant;
	struct smc_eid eid;
	u8 device;
	struct smc_ism_gid peer;
	struct smc_gid peer_gid;
	u8 peer_mac[6];
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

/* Features of version 2.1 that we support; compliant with all of the release */
#define SMC_FEATURES	SMC_FEATURE_EMULATED_ISM

u32 smc_select(const struct smc_local *local, const struct smc_clc_proposal *proposal,
	       struct smc_choice *out);
u32 smc_select_check_accept(const struct smc_clc_proposal *proposal,
			    const struct smc_clc_accept *accept, u8 *device);
u32 smc_select_check_confirm(const struct smc_choice *choice,
			     const struct smc_clc_accept *accept,
			     const struct smc_clc_accept *confirm);

/* Is it an IPv4 address? Of version 2, where GIDs are IP addresses */
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
