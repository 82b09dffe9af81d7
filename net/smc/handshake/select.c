// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of variant, device and EID ("SMC Version 2", eligibility; V2-SEL, V2-EID, V2-ISM,
 * V2-EMU), and the checks of the peer's answer. No kernel state.
 */
#include <linux/string.h>
#include <linux/types.h>

#include "../wire/reason.h"
#include "select.h"

static bool has_ueid(const struct smc_local *local, const struct smc_eid *eid)
{
	u8 i;

	for (i = 0; i < local->nr_ueids; i++)
		if (smc_eid_equal(&local->ueids[i], eid))
			return true;
	return false;
}

/* The first of the client's user EIDs that this host has too (V2-EID-13, S-03) */
static u32 select_ueid(const struct smc_local *local, const struct smc_clc_proposal_v2 *v2,
		       struct smc_eid *out)
{
	u8 i;

	for (i = 0; i < v2->nr_ueids; i++) {
		if (has_ueid(local, &v2->ueids[i])) {
			*out = v2->ueids[i];
			return SMC_REASON_NONE;
		}
	}
	return SMC_REASON_NO_UEID;
}

/* SMC-D can use the system EID if there is no common user EID */
static u32 select_eid(const struct smc_local *local, const struct smc_clc_proposal_v2 *v2,
		      struct smc_eid *out)
{
	if (!select_ueid(local, v2, out))
		return SMC_REASON_NONE;
	if (v2->has_seid && !smc_eid_is_none(&local->seid) &&
	    smc_eid_equal(&v2->seid, &local->seid)) {
		*out = local->seid;
		return SMC_REASON_NONE;
	}
	return v2->nr_ueids ? SMC_REASON_NO_UEID : SMC_REASON_NO_SEID;
}

/* Emulated devices need the feature on both sides (V2-EMU-13) */
static bool supports_emulated(const struct smc_clc_proposal_v2 *v2)
{
	return v2->release >= SMC_RELEASE_1 && v2->features & SMC_FEATURE_EMULATED_ISM;
}

/* Find a device that reaches the client's device @ism, which is bit @bit of smc_local.reach */
static bool match_ism(const struct smc_local *local, const struct smc_ism_gid *ism, u16 bit,
		      struct smc_choice *out)
{
	u8 i;

	for (i = 0; i < local->nr_ism; i++) {
		if (local->ism[i].chid != ism->chid || !(local->reach[i] & bit))
			continue;
		out->device = i;
		out->peer = *ism;
		return true;
	}
	return false;
}

/*
 * Choose the first device in the client's order that one of our devices reaches. The device of the
 * base part comes before the list (S-20, V2-ISM-10); it is never an emulated device.
 */
static u32 select_ism(const struct smc_local *local, const struct smc_clc_proposal *proposal,
		      struct smc_choice *out)
{
	const struct smc_clc_proposal_v2 *v2 = &proposal->v2;
	u8 i;

	if (proposal->ism.gid && match_ism(local, &proposal->ism, SMC_REACH_BASE, out))
		return SMC_REASON_NONE;
	for (i = 0; i < v2->nr_ism; i++) {
		if (smc_chid_is_emulated(v2->ism[i].chid) && !supports_emulated(v2))
			continue;
		if (match_ism(local, &v2->ism[i], 1 << i, out))
			return SMC_REASON_NONE;
	}
	return SMC_REASON_NO_ISM_V2_DEVICE;
}

static u32 select_d2(const struct smc_local *local, const struct smc_clc_proposal *proposal,
		     struct smc_choice *out)
{
	const struct smc_clc_proposal_v2 *v2 = &proposal->v2;
	u32 reason;

	if (!local->nr_ism)
		return SMC_REASON_NO_ISM_DEVICE;
	reason = select_ism(local, proposal, out);
	if (reason)
		return reason;
	return select_eid(local, v2, &out->eid);
}

/* The first port that supports the variant and reaches the client's port */
static u32 select_port(const struct smc_local *local, u8 variant, struct smc_choice *out)
{
	u8 i;

	for (i = 0; i < local->nr_ports; i++) {
		if (local->ports[i].variants & local->ports[i].reaches & variant) {
			out->device = i;
			return SMC_REASON_NONE;
		}
	}
	return SMC_REASON_NO_ROUTE;
}

static bool has_port(const struct smc_local *local, u8 variant)
{
	u8 i;

	for (i = 0; i < local->nr_ports; i++)
		if (local->ports[i].variants & variant)
			return true;
	return false;
}

static void set_peer_port(struct smc_choice *out, const struct smc_gid *gid,
			  const struct smc_clc_proposal *proposal)
{
	out->peer_gid = *gid;
	memcpy(out->peer_mac, proposal->mac, sizeof(out->peer_mac));
}

/* V2-ELG-05, V2-ELG-13. SMC-R cannot use the system EID (V2-EID-09) */
static u32 select_r2(const struct smc_local *local, const struct smc_clc_proposal *proposal,
		     struct smc_choice *out)
{
	const struct smc_clc_proposal_v2 *v2 = &proposal->v2;
	u32 reason;

	if (!has_port(local, SMC_VARIANT_R2) || smc_gid_is_none(&v2->roce_gid))
		return SMC_REASON_NO_RDMA_DEVICE;
	reason = select_ueid(local, v2, &out->eid);
	if (reason)
		return reason;
	if (smc_gid_is_ipv4(&v2->roce_gid) != local->ipv4)
		return SMC_REASON_ADDRESS_FAMILY;
	set_peer_port(out, &v2->roce_gid, proposal);
	return select_port(local, SMC_VARIANT_R2, out);
}

/* V2-ELG-01. A Proposal without a GID offers no port */
static u32 select_r1(const struct smc_local *local, const struct smc_clc_proposal *proposal,
		     struct smc_choice *out)
{
	if (!has_port(local, SMC_VARIANT_R1) || smc_gid_is_none(&proposal->gid))
		return SMC_REASON_NO_RDMA_DEVICE;
	if (!local->same_subnet)
		return SMC_REASON_PREFIX;
	set_peer_port(out, &proposal->gid, proposal);
	return select_port(local, SMC_VARIANT_R1, out);
}

static u32 select_d1(const struct smc_local *local, const struct smc_clc_proposal *proposal,
		     struct smc_choice *out)
{
	return SMC_REASON_NO_ISM_DEVICE;
}

#define NR_ROWS	4

/* In the order of preference (V2-SEL-01) */
static const struct {
	u8 variant;
	u32 (*select)(const struct smc_local *local, const struct smc_clc_proposal *proposal,
		      struct smc_choice *out);
} rows[NR_ROWS] = {
	{ SMC_VARIANT_D2, select_d2 },
	{ SMC_VARIANT_D1, select_d1 },
	{ SMC_VARIANT_R2, select_r2 },
	{ SMC_VARIANT_R1, select_r1 },
};

/* Save the reason of each offered variant; the last one is the diagnosis of the Decline */
static void record_reason(struct smc_choice *out, u8 variant, u32 reason)
{
	switch (variant) {
	case SMC_VARIANT_D2:
		out->reason_d2 = reason;
		break;
	case SMC_VARIANT_D1:
		out->reason_d1 = reason;
		break;
	case SMC_VARIANT_R2:
		out->reason_r2 = reason;
		break;
	default:
		out->reason_r1 = reason;
	}
	out->diagnosis = reason;
}

/* Limit the client's value to the range from @least to @ours (S-08) */
static u8 clamp_to_local(u8 wanted, u8 least, u8 ours)
{
	if (wanted < least)
		wanted = least;
	return wanted < ours ? wanted : ours;
}

/* What a variant that was not chosen has set */
static void forget_choice(struct smc_choice *out)
{
	memset(&out->eid, 0, sizeof(out->eid));
	memset(&out->peer, 0, sizeof(out->peer));
}

static void set_parameters(const struct smc_local *local, const struct smc_clc_proposal *proposal,
			   struct smc_choice *out)
{
	const struct smc_clc_proposal_v2 *v2 = &proposal->v2;

	out->features = v2->features;
	out->release = v2->release < SMC_RELEASE_1 ? v2->release : SMC_RELEASE_1;
	if (out->release < SMC_RELEASE_1)
		return;
	out->max_conns = clamp_to_local(v2->max_conns, SMC_MAX_CONNS_MIN, local->max_conns);
	out->max_links = clamp_to_local(v2->max_links, SMC_MAX_LINKS_MIN, local->max_links);
}

/**
 * smc_select() - choose variant, device and EID for a Proposal
 * @local: what this host supports
 * @proposal: what the client offers
 * @out: the choice; if nothing was chosen, the reasons
 *
 * A Proposal with only one half of an extended GID is declined for all variants (V2-EMU-05).
 *
 * Return: SMC_REASON_NONE, or the diagnosis for the Decline.
 */
u32 smc_select(const struct smc_local *local, const struct smc_clc_proposal *proposal,
	       struct smc_choice *out)
{
	u8 offers = proposal->offers;
	bool unpaired = offers & SMC_VARIANT_D2 && proposal->v2.ism_unpaired &&
			supports_emulated(&proposal->v2);
	u8 i;

	memset(out, 0, sizeof(*out));
	out->diagnosis = SMC_REASON_NO_DEVICE;
	set_parameters(local, proposal, out);

	for (i = 0; i < NR_ROWS; i++) {
		u32 reason = SMC_REASON_CHID_UNPAIRED;

		if (!(offers & rows[i].variant))
			continue;
		if (!unpaired)
			reason = rows[i].select(local, proposal, out);
		if (!reason) {
			out->variant = rows[i].variant;
			out->d_reason_saved = out->variant == SMC_VARIANT_R2 &&
					      (out->reason_d1 || out->reason_d2);
			return SMC_REASON_NONE;
		}
		forget_choice(out);
		record_reason(out, rows[i].variant, reason);
	}
	return out->diagnosis;
}

static bool is_offered_ueid(const struct smc_clc_proposal_v2 *v2, const struct smc_eid *eid)
{
	u8 i;

	for (i = 0; i < v2->nr_ueids; i++)
		if (smc_eid_equal(&v2->ueids[i], eid))
			return true;
	return false;
}

static u32 check_accept_d2(const struct smc_clc_proposal_v2 *v2,
			   const struct smc_clc_accept *accept, u8 *device)
{
	u8 i;

	if (!is_offered_ueid(v2, &accept->eid) &&
	    !(v2->has_seid && smc_eid_equal(&v2->seid, &accept->eid)))
		return SMC_REASON_NOT_OFFERED;
	if (!smc_clc_buffer_bytes(accept->dmb.dmbe_size))
		return SMC_REASON_RESERVED_VALUE;

	for (i = 0; i < v2->nr_ism; i++) {
		if (v2->ism[i].chid != accept->dmb.ism.chid)
			continue;
		if (smc_chid_is_emulated(accept->dmb.ism.chid) && accept->is_first_contact &&
		    !(accept->first_contact.features & SMC_FEATURE_EMULATED_ISM))
			return SMC_REASON_NO_ISM_V2;
		*device = i;
		return SMC_REASON_NONE;
	}
	return SMC_REASON_NOT_OFFERED;
}

/*
 * Check one side's end of an SMC-R connection. Queue pairs 0 and 1 are reserved. MTU and PSN are
 * relevant at first contact only (R-SC-20).
 */
static u32 check_rdma_end(const struct smc_clc_rdma_end *end, bool first_contact)
{
	if (smc_gid_is_none(&end->gid) || end->qpn < 2)
		return SMC_REASON_MALFORMED;
	if (!smc_clc_buffer_bytes(end->rmbe_size))
		return SMC_REASON_RESERVED_VALUE;
	if (first_contact && !smc_clc_mtu_bytes(end->mtu))
		return SMC_REASON_RESERVED_VALUE;
	return SMC_REASON_NONE;
}

/* V2-FEA-01, V2-FEA-02, V2-FEA-05: the server may choose any valid value */
static u32 check_limits(const struct smc_clc_first_contact *fc)
{
	if (fc->release < SMC_RELEASE_1)
		return SMC_REASON_NONE;
	if (fc->max_conns < SMC_MAX_CONNS_MIN)
		return SMC_REASON_MAX_CONNS;
	if (fc->max_links < SMC_MAX_LINKS_MIN || fc->max_links > SMC_MAX_LINKS_MAX)
		return SMC_REASON_MAX_LINKS;
	return SMC_REASON_NONE;
}

static u32 check_accept_r2(const struct smc_clc_proposal_v2 *v2,
			   const struct smc_clc_accept *accept)
{
	if (!is_offered_ueid(v2, &accept->eid))
		return SMC_REASON_NOT_OFFERED;
	if (smc_gid_is_ipv4(&accept->rdma.gid) != smc_gid_is_ipv4(&v2->roce_gid))
		return SMC_REASON_ADDRESS_FAMILY;
	return accept->is_first_contact ? check_limits(&accept->first_contact) : SMC_REASON_NONE;
}

/**
 * smc_select_check_accept() - does the server's choice match our offer?
 * @proposal: what we offered
 * @accept: what the server chose
 * @device: result, SMC-D only: index of our device in the Proposal's list
 *
 * V2-SEL-08, V2-EID-16, V2-ISM-09, V2-VER-07.
 *
 * Return: SMC_REASON_NONE, or the diagnosis for the Decline.
 */
u32 smc_select_check_accept(const struct smc_clc_proposal *proposal,
			    const struct smc_clc_accept *accept, u8 *device)
{
	const struct smc_clc_proposal_v2 *v2 = &proposal->v2;
	u32 reason;

	if (!(accept->variant & proposal->offers) || accept->variant == SMC_VARIANT_D1)
		return SMC_REASON_MODE;
	if (accept->is_first_contact && accept->first_contact.release > v2->release)
		return SMC_REASON_RELEASE;
	if (accept->variant == SMC_VARIANT_D2)
		return check_accept_d2(v2, accept, device);

	reason = check_rdma_end(&accept->rdma, accept->is_first_contact);
	if (!reason && accept->variant == SMC_VARIANT_R2)
		reason = check_accept_r2(v2, accept);
	return reason;
}

/* The Confirm must repeat the values of the Accept, and the features that both sides have */
static bool repeats_first_contact(const struct smc_clc_first_contact *sent,
				  const struct smc_clc_first_contact *got, u16 common)
{
	if (got->release != sent->release)
		return false;
	if (sent->release < SMC_RELEASE_1)
		return true;
	return got->features == common && got->max_conns == sent->max_conns &&
	       got->max_links == sent->max_links &&
	       !memcmp(got->vendor, sent->vendor, sizeof(got->vendor));
}

static bool is_same_ism(const struct smc_ism_gid *a, const struct smc_ism_gid *b)
{
	return a->gid == b->gid && a->gid_ext == b->gid_ext && a->chid == b->chid;
}

static bool is_zero_mac(const u8 mac[6])
{
	return !(mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]);
}

/*
 * At first contact the client must use the port that it proposed. The MAC address is not compared
 * if the link is indirect (V2-RTE-09, V2-RTE-10) or if the client did not propose one. On a later
 * contact the client may name any link of the group; the transport checks that.
 */
static bool is_confirmed_port(const struct smc_choice *choice, const struct smc_clc_accept *accept,
			      const struct smc_clc_accept *confirm)
{
	const struct smc_clc_first_contact *fc = &confirm->first_contact;
	bool v2 = accept->variant == SMC_VARIANT_R2;

	if (!accept->is_first_contact)
		return true;
	if (memcmp(&confirm->rdma.gid, &choice->peer_gid, sizeof(choice->peer_gid)))
		return false;
	if (v2 && memcmp(&fc->gids[0], &confirm->rdma.gid, sizeof(fc->gids[0])))
		return false;
	if (v2 && !accept->first_contact.direct)
		return true;
	return is_zero_mac(choice->peer_mac) ||
	       !memcmp(confirm->rdma.mac, choice->peer_mac, sizeof(choice->peer_mac));
}

/**
 * smc_select_check_confirm() - does the client's Confirm match our Accept?
 * @choice: what we chose
 * @accept: what we sent
 * @confirm: what the client answered
 *
 * V2-EID-15, V2-ISM-09, V2-FCE-04, V2-FEA-07, V2-FEA-20, V2-VND-07, S-47. A Confirm of SMC-R
 * version 1 has no first contact flag.
 *
 * Return: SMC_REASON_NONE, or the diagnosis for the Decline.
 */
u32 smc_select_check_confirm(const struct smc_choice *choice,
			     const struct smc_clc_accept *accept,
			     const struct smc_clc_accept *confirm)
{
	u16 common = accept->first_contact.features & choice->features;

	if (confirm->variant != accept->variant || !smc_eid_equal(&confirm->eid, &accept->eid))
		return SMC_REASON_CONFIRM_DIFFERS;
	if (accept->variant & SMC_VARIANTS_V2 &&
	    confirm->is_first_contact != accept->is_first_contact)
		return SMC_REASON_CONFIRM_DIFFERS;
	if (accept->variant & SMC_VARIANTS_V2 && accept->is_first_contact &&
	    !repeats_first_contact(&accept->first_contact, &confirm->first_contact, common))
		return SMC_REASON_CONFIRM_DIFFERS;

	if (accept->variant & SMC_VARIANTS_R) {
		if (!is_confirmed_port(choice, accept, confirm))
			return SMC_REASON_CONFIRM_DIFFERS;
		return check_rdma_end(&confirm->rdma, accept->is_first_contact);
	}
	if (!is_same_ism(&confirm->dmb.ism, &choice->peer))
		return SMC_REASON_CONFIRM_DIFFERS;
	if (!smc_clc_buffer_bytes(confirm->dmb.dmbe_size))
		return SMC_REASON_RESERVED_VALUE;
	return SMC_REASON_NONE;
}
