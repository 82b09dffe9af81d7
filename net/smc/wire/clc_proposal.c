// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC Proposal.
 *
 *	 0  header, peer ID, GID, MAC		as in version 1
 *	38  offset of the IP subnet extension	relative to 40
 *	40  SMC-D GID and CHID			40 to 79 exist only if that offset
 *	50  offset of the V2 extension		is 40 or more, or if version 1 is
 *	52  vendor options			not offered
 *	80  IP subnet extension			if version 1 is offered
 *	    V2 extension, user EIDs		if version 2 is offered
 *	    SMC-D V2 extension, ISM devices	if there are devices or a system EID
 *
 * Every offset is relative to the end of its field. The parser follows an offset only if it points
 * behind the previous part.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include "bits.h"
#include "clc.h"
#include "clc_msg.h"

#define SUBNET_OFFSET_BASE	40	/* end of version 1; base of its offset */
#define V2_OFFSET_BASE		52u
#define BASE_END		80
#define SUBNET_FIXED_LEN	8
#define PREFIX_LEN		17
#define V2_OPTIONS_LEN		8
#define V2_FIXED_LEN		40
#define SMCD_FIXED_LEN		48

#define HAS_SEID		0x01	/* in flag byte 2 of the V2 extension */

/* Two type bits; 0 means SMC-R, 2 means no offer */
static const u8 type_to_offers[4] = {
	[0] = SMC_VARIANT_R1,
	[1] = SMC_VARIANT_D1,
	[2] = 0,
	[3] = SMC_VARIANT_R1 | SMC_VARIANT_D1,
};

/* The version 2 variants are the version 1 variants, shifted */
#define V2_SHIFT	2

static u8 offers_to_type(u8 offers)
{
	u8 type;

	for (type = 0; type < 3; type++) {
		if (type_to_offers[type] == offers)
			break;
	}
	return type;
}

/*
 * Which variants are offered? The type bits are reserved in version 1 and valid only if the SMC-D
 * area exists. A Proposal of a later version with the layout of version 1 can offer only SMC-R
 * version 1.
 */
static u8 get_offers(const struct smc_clc_header *header, u16 subnet_offset)
{
	u8 v1 = type_to_offers[header->flags & 3];
	u8 v2 = type_to_offers[header->flags >> 2] << V2_SHIFT;
	bool has_area = subnet_offset >= BASE_END - SUBNET_OFFSET_BASE;

	if (header->version == 1)
		return has_area && v1 ? v1 : SMC_VARIANT_R1;
	if (v1 && !has_area)
		return v1 & SMC_VARIANT_R1;
	return v1 | v2;
}

static int parse_subnet(struct smc_reader *r, struct smc_clc_subnet *out)
{
	unsigned int i;

	smc_get_bytes(r, &out->ipv4, sizeof(out->ipv4));
	out->ipv4_len = smc_get_u8(r);
	smc_skip(r, 2);
	out->nr_prefixes = smc_get_u8(r);
	if (out->nr_prefixes > SMC_MAX_PREFIXES)
		return -EPROTO;

	for (i = 0; i < out->nr_prefixes; i++) {
		struct smc_clc_prefix *prefix = &out->prefixes[i];

		smc_get_bytes(r, prefix->addr, sizeof(prefix->addr));
		prefix->len = smc_get_u8(r);
		if (prefix->len > 128)
			return -EPROTO;
	}

	if (out->nr_prefixes) {
		out->ipv4 = 0;
		out->ipv4_len = 0;
	}
	return out->ipv4_len > 32 ? -EPROTO : 0;
}

/* Build one element for each device: an extended GID has two entries with the same CHID */
static void parse_ism_entries(struct smc_reader *r, unsigned int nr_entries,
			      struct smc_clc_proposal_v2 *out)
{
	struct smc_ism_gid *first = NULL;	/* element whose second half follows */

	for (; nr_entries; nr_entries--) {
		u64 gid = smc_get_be64(r);
		u16 chid = smc_get_be16(r);

		if (first && first->chid == chid) {
			first->gid_ext = gid;
			first = NULL;
			continue;
		}
		if (first) {
			out->ism_unpaired = true;
			out->nr_ism--;
		}
		first = &out->ism[out->nr_ism++];
		first->gid = gid;
		first->chid = chid;
		if (!smc_chid_is_emulated(chid))
			first = NULL;
	}
	if (first) {
		out->ism_unpaired = true;
		memset(first, 0, sizeof(*first));
		out->nr_ism--;
	}
}

static void parse_smcd_v2(struct smc_reader *r, unsigned int nr_entries,
			  struct smc_clc_proposal_v2 *out)
{
	smc_get_bytes(r, out->seid.text, sizeof(out->seid.text));
	if (!out->has_seid)
		memset(&out->seid, 0, sizeof(out->seid));
	smc_skip(r, SMCD_FIXED_LEN - SMC_EID_LEN);
	parse_ism_entries(r, nr_entries, out);
}

/* Values of version 2.1; ignored in a Proposal of version 2.0 */
static void parse_proposal_v21(struct smc_reader *r, u8 offers, struct smc_clc_proposal_v2 *out)
{
	u8 max_conns = smc_get_u8(r);
	u8 max_links = smc_get_u8(r);
	u16 features = smc_get_be16(r);

	if (out->release == SMC_RELEASE_0) {
		memset(&out->vendor, 0, sizeof(out->vendor));
		return;
	}
	out->features = features;
	if (offers & SMC_VARIANT_R2) {
		out->max_conns = max_conns;
		out->max_links = max_links;
	}
}

static int parse_v2(struct smc_reader *r, u8 offers, struct smc_clc_proposal_v2 *out)
{
	size_t options_end = r->pos + V2_OPTIONS_LEN;
	u8 nr_ism_entries, flags;
	u16 smcd_offset;
	unsigned int i;

	out->nr_ueids = smc_get_u8(r);
	nr_ism_entries = smc_get_u8(r);
	smc_skip(r, 1);
	flags = smc_get_u8(r);
	out->release = flags >> 4;
	smc_skip(r, 2);
	smcd_offset = smc_get_be16(r);
	if (out->nr_ueids > SMC_MAX_UEIDS)
		return -EPROTO;

	smc_get_ip_gid(r, &out->roce_gid);
	if (!(offers & SMC_VARIANT_R2))
		memset(&out->roce_gid, 0, sizeof(out->roce_gid));
	parse_proposal_v21(r, offers, out);
	smc_skip(r, 12);
	for (i = 0; i < out->nr_ueids; i++)
		smc_get_bytes(r, out->ueids[i].text, sizeof(out->ueids[i].text));

	if (!(offers & SMC_VARIANT_D2))
		return 0;
	out->has_seid = flags & HAS_SEID;
	if (nr_ism_entries > SMC_MAX_ISM_ENTRIES)
		return -EPROTO;
	if (!smcd_offset)
		return nr_ism_entries || out->has_seid ? -EPROTO : 0;
	if (r->pos > options_end + smcd_offset)
		return -EPROTO;
	smc_reader_seek(r, options_end + smcd_offset);
	parse_smcd_v2(r, nr_ism_entries, out);
	return 0;
}

static bool has_vendor(const struct smc_clc_vendor *vendor)
{
	return vendor->oui[0] || vendor->oui[1] || vendor->oui[2];
}

/* The area between the version 1 part and the first extension */
static u16 parse_area(struct smc_reader *r, struct smc_clc_proposal *out)
{
	u16 v2_offset;

	if (out->offers & SMC_VARIANTS_D)
		out->ism.gid = smc_get_be64(r);
	else
		smc_skip(r, 8);
	out->ism.chid = smc_get_be16(r);
	v2_offset = smc_get_be16(r);
	smc_get_bytes(r, out->v2.vendor.oui, sizeof(out->v2.vendor.oui));
	smc_get_bytes(r, out->v2.vendor.options, sizeof(out->v2.vendor.options));
	if (!has_vendor(&out->v2.vendor))
		memset(&out->v2.vendor, 0, sizeof(out->v2.vendor));
	smc_reader_seek(r, BASE_END);

	/* Version 1 has no CHIDs; an emulated device has no IP interface */
	if (!(out->offers & SMC_VARIANT_D2))
		out->ism.chid = 0;
	if (smc_chid_is_emulated(out->ism.chid))
		memset(&out->ism, 0, sizeof(out->ism));
	return v2_offset;
}

/* Clear the fields of version 2: it is not offered, or its extension is missing */
static void withdraw_v2(struct smc_clc_proposal *out)
{
	out->offers &= ~SMC_VARIANTS_V2;
	memset(&out->v2, 0, sizeof(out->v2));
	out->ism.chid = 0;
	if (!(out->offers & SMC_VARIANT_D1))
		out->ism.gid = 0;
}

int smc_clc_parse_proposal(struct smc_reader *r, const struct smc_clc_header *header,
			   struct smc_clc_proposal *out)
{
	u16 subnet_offset, v2_offset = 0;
	int err;

	out->version = header->version;
	smc_get_bytes(r, out->peer_id.bytes, sizeof(out->peer_id.bytes));
	smc_get_bytes(r, out->gid.bytes, sizeof(out->gid.bytes));
	smc_get_bytes(r, out->mac, sizeof(out->mac));
	subnet_offset = smc_get_be16(r);

	out->offers = get_offers(header, subnet_offset);
	if (!(out->offers & SMC_VARIANT_R1))
		memset(&out->gid, 0, sizeof(out->gid));
	if (out->offers & ~SMC_VARIANT_R1)
		v2_offset = parse_area(r, out);

	if (out->offers & SMC_VARIANTS_V1) {
		smc_reader_seek(r, SUBNET_OFFSET_BASE + subnet_offset);
		err = parse_subnet(r, &out->subnet);
		if (err)
			return err;
	}

	if (!(out->offers & SMC_VARIANTS_V2) || !v2_offset) {
		withdraw_v2(out);
		return 0;
	}
	if (r->pos > V2_OFFSET_BASE + v2_offset)
		return -EPROTO;
	smc_reader_seek(r, V2_OFFSET_BASE + v2_offset);
	return parse_v2(r, out->offers, &out->v2);
}

static void build_subnet(const struct smc_clc_subnet *in, struct smc_writer *w)
{
	unsigned int i;

	if (in->nr_prefixes) {
		smc_put_zero(w, 5);
	} else {
		smc_put_bytes(w, &in->ipv4, sizeof(in->ipv4));
		smc_put_u8(w, in->ipv4_len);
	}
	smc_put_zero(w, 2);
	smc_put_u8(w, in->nr_prefixes);
	for (i = 0; i < in->nr_prefixes; i++) {
		smc_put_bytes(w, in->prefixes[i].addr, sizeof(in->prefixes[i].addr));
		smc_put_u8(w, in->prefixes[i].len);
	}
}

static unsigned int count_ism_entries(const struct smc_clc_proposal_v2 *in)
{
	unsigned int count = 0;
	unsigned int i;

	for (i = 0; i < in->nr_ism; i++)
		count += smc_chid_is_emulated(in->ism[i].chid) ? 2 : 1;
	return count;
}

static void build_smcd_v2(const struct smc_clc_proposal_v2 *in, struct smc_writer *w)
{
	unsigned int i;

	if (in->has_seid)
		smc_put_bytes(w, in->seid.text, sizeof(in->seid.text));
	else
		smc_put_zero(w, sizeof(in->seid.text));
	smc_put_zero(w, SMCD_FIXED_LEN - SMC_EID_LEN);
	for (i = 0; i < in->nr_ism; i++) {
		smc_put_be64(w, in->ism[i].gid);
		smc_put_be16(w, in->ism[i].chid);
		if (smc_chid_is_emulated(in->ism[i].chid)) {
			smc_put_be64(w, in->ism[i].gid_ext);
			smc_put_be16(w, in->ism[i].chid);
		}
	}
}

static void build_v2(const struct smc_clc_proposal_v2 *in, u8 offers, struct smc_writer *w)
{
	bool smcr = offers & SMC_VARIANT_R2;
	bool smcd = offers & SMC_VARIANT_D2;
	unsigned int entries = smcd ? count_ism_entries(in) : 0;
	bool seid = smcd && in->has_seid;
	bool has_smcd_ext = entries || seid;
	unsigned int i;

	smc_put_u8(w, in->nr_ueids);
	smc_put_u8(w, entries);
	smc_put_zero(w, 1);
	smc_put_u8(w, in->release << 4 | (seid ? HAS_SEID : 0));
	smc_put_zero(w, 2);
	smc_put_be16(w, has_smcd_ext ?
		     V2_FIXED_LEN - V2_OPTIONS_LEN + in->nr_ueids * SMC_EID_LEN : 0);
	if (smcr)
		smc_put_bytes(w, in->roce_gid.bytes, sizeof(in->roce_gid.bytes));
	else
		smc_put_zero(w, sizeof(in->roce_gid.bytes));
	smc_put_u8(w, smcr && in->release ? in->max_conns : 0);
	smc_put_u8(w, smcr && in->release ? in->max_links : 0);
	smc_put_be16(w, in->release ? in->features : 0);
	smc_put_zero(w, 12);
	for (i = 0; i < in->nr_ueids; i++)
		smc_put_bytes(w, in->ueids[i].text, sizeof(in->ueids[i].text));
	if (has_smcd_ext)
		build_smcd_v2(in, w);
}

static bool is_valid_proposal(const struct smc_clc_proposal *in)
{
	const struct smc_clc_proposal_v2 *v2 = &in->v2;

	if (!in->offers || in->offers & ~(SMC_VARIANTS_V1 | SMC_VARIANTS_V2))
		return false;
	if (in->offers & SMC_VARIANTS_V1 && in->subnet.nr_prefixes > SMC_MAX_PREFIXES)
		return false;
	if (in->offers & SMC_VARIANTS_V2 && (v2->nr_ueids > SMC_MAX_UEIDS || v2->release > 15))
		return false;
	if (in->offers & SMC_VARIANT_D2 &&
	    (v2->nr_ism > SMC_MAX_ISM_ENTRIES || count_ism_entries(v2) > SMC_MAX_ISM_ENTRIES))
		return false;
	return true;
}

static void build_area(const struct smc_clc_proposal *in, u16 subnet_len, struct smc_writer *w)
{
	const struct smc_clc_vendor *vendor = &in->v2.vendor;
	bool has_v2 = in->offers & SMC_VARIANTS_V2;

	smc_put_be64(w, in->offers & SMC_VARIANTS_D ? in->ism.gid : 0);
	smc_put_be16(w, in->offers & SMC_VARIANT_D2 ? in->ism.chid : 0);
	smc_put_be16(w, has_v2 ? BASE_END + subnet_len - V2_OFFSET_BASE : 0);
	if (has_v2 && in->v2.release && has_vendor(vendor)) {
		smc_put_bytes(w, vendor->oui, sizeof(vendor->oui));
		smc_put_bytes(w, vendor->options, sizeof(vendor->options));
	}
	smc_put_zero_to(w, BASE_END);
}

int smc_clc_build_proposal(const struct smc_clc_proposal *in, struct smc_writer *w,
			   struct smc_clc_header *header)
{
	u8 v1 = in->offers & SMC_VARIANTS_V1;
	u8 v2 = in->offers & SMC_VARIANTS_V2;
	bool has_area = in->offers != SMC_VARIANT_R1;
	u16 subnet_len;

	BUILD_BUG_ON(SMC_VARIANTS_V1 << V2_SHIFT != SMC_VARIANTS_V2);

	if (!is_valid_proposal(in))
		return -EINVAL;

	subnet_len = v1 ? SUBNET_FIXED_LEN + in->subnet.nr_prefixes * PREFIX_LEN : 0;
	header->version = v2 ? 2 : 1;
	header->flags = v2 ? offers_to_type(v2 >> V2_SHIFT) << 2 | offers_to_type(v1) :
			     offers_to_type(v1);

	smc_put_bytes(w, in->peer_id.bytes, sizeof(in->peer_id.bytes));
	if (v1 & SMC_VARIANT_R1)
		smc_put_bytes(w, in->gid.bytes, sizeof(in->gid.bytes));
	else
		smc_put_zero(w, sizeof(in->gid.bytes));
	smc_put_bytes(w, in->mac, sizeof(in->mac));
	smc_put_be16(w, has_area && v1 ? BASE_END - SUBNET_OFFSET_BASE : 0);
	if (has_area)
		build_area(in, subnet_len, w);
	if (v1)
		build_subnet(&in->subnet, w);
	if (v2)
		build_v2(&in->v2, in->offers, w);
	return 0;
}
