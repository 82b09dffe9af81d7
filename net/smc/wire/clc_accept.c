// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC Accept and Confirm: both have the same layout.
 *
 *	SMC-D version 1		 8..36  DMB				 48 bytes
 *	SMC-D version 2		 8..74  DMB, EID, extended GID		 78
 *				74..	first contact extension		114, 130
 *	SMC-R version 1		 8..64  queue pair and RMB		 68
 *	SMC-R version 2		 8..104 queue pair and RMB, EID		108
 *				104..	first contact extension		160
 *					the same with GID list, Confirm 164 + 16n
 *
 * The first contact extension has 52 bytes, or 36 without the values of version 2.1. SMC-R peers
 * may use either length for version 2.0.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include "bits.h"
#include "clc.h"
#include "clc_msg.h"

#define FLAG_FIRST_CONTACT	0x08
#define FLAG_D_REASON_SAVED	0x04	/* "RC saved" */
#define FLAG_TYPE_SMCD		0x01

#define FCE_SHORT_LEN		36
#define FCE_LEN			52
#define FCE_DIRECT		0x80
#define GID_LIST_FIXED_LEN	4

static u8 get_variant(const struct smc_clc_header *header)
{
	if (header->version == 1)
		return header->smcd ? SMC_VARIANT_D1 : SMC_VARIANT_R1;
	return header->smcd ? SMC_VARIANT_D2 : SMC_VARIANT_R2;
}

static int parse_rdma_end(struct smc_reader *r, u8 variant, struct smc_clc_rdma_end *out)
{
	u8 sizes;

	smc_get_bytes(r, out->peer_id.bytes, sizeof(out->peer_id.bytes));
	if (variant == SMC_VARIANT_R1)
		smc_get_bytes(r, out->gid.bytes, sizeof(out->gid.bytes));
	else
		smc_get_ip_gid(r, &out->gid);
	smc_get_bytes(r, out->mac, sizeof(out->mac));
	out->qpn = smc_get_be24(r);
	out->rkey = smc_get_be32(r);
	out->rmbe_index = smc_get_u8(r);
	out->alert_token = smc_get_be32(r);
	sizes = smc_get_u8(r);
	out->rmbe_size = sizes >> 4;
	out->mtu = sizes & 0xf;
	smc_skip(r, 1);
	out->rmb_addr = smc_get_be64(r);
	smc_skip(r, 1);
	out->psn = smc_get_be24(r);

	return out->rmbe_index ? 0 : -EPROTO;
}

static void build_rdma_end(const struct smc_clc_rdma_end *in, struct smc_writer *w)
{
	smc_put_bytes(w, in->peer_id.bytes, sizeof(in->peer_id.bytes));
	smc_put_bytes(w, in->gid.bytes, sizeof(in->gid.bytes));
	smc_put_bytes(w, in->mac, sizeof(in->mac));
	smc_put_be24(w, in->qpn);
	smc_put_be32(w, in->rkey);
	smc_put_u8(w, in->rmbe_index);
	smc_put_be32(w, in->alert_token);
	smc_put_u8(w, in->rmbe_size << 4 | in->mtu);
	smc_put_zero(w, 1);
	smc_put_be64(w, in->rmb_addr);
	smc_put_zero(w, 1);
	smc_put_be24(w, in->psn);
}

static void parse_dmb(struct smc_reader *r, struct smc_clc_ism_end *out)
{
	out->ism.gid = smc_get_be64(r);
	out->dmb_token = smc_get_be64(r);
	out->dmbe_index = smc_get_u8(r);
	out->dmbe_size = smc_get_u8(r) >> 4;
	smc_skip(r, 2);
	out->link_id = smc_get_be32(r);
}

static void build_dmb(const struct smc_clc_ism_end *in, struct smc_writer *w)
{
	smc_put_be64(w, in->ism.gid);
	smc_put_be64(w, in->dmb_token);
	smc_put_u8(w, in->dmbe_index);
	smc_put_u8(w, in->dmbe_size << 4);
	smc_put_zero(w, 2);
	smc_put_be32(w, in->link_id);
}

/* The version 2 fields between the DMB and the first contact extension */
static void parse_dmb_v2(struct smc_reader *r, struct smc_clc_accept *out)
{
	struct smc_ism_gid *ism = &out->dmb.ism;

	ism->chid = smc_get_be16(r);
	smc_get_bytes(r, out->eid.text, sizeof(out->eid.text));
	ism->gid_ext = smc_get_be64(r);
	if (!smc_chid_is_emulated(ism->chid))
		ism->gid_ext = 0;
}

static void build_dmb_v2(const struct smc_clc_accept *in, struct smc_writer *w)
{
	const struct smc_ism_gid *ism = &in->dmb.ism;

	smc_put_be16(w, ism->chid);
	smc_put_bytes(w, in->eid.text, sizeof(in->eid.text));
	smc_put_be64(w, smc_chid_is_emulated(ism->chid) ? ism->gid_ext : 0);
}

/*
 * Can a first contact extension have this length? Peers may send it without the first contact flag;
 * its contents are then ignored.
 */
static bool is_valid_fce_len(size_t len)
{
	unsigned int n;

	if (len == 0 || len == FCE_SHORT_LEN || len == FCE_LEN)
		return true;
	/* Only a Confirm of SMC-R may be this long, see smc_clc_parse_header() */
	for (n = 1; n <= SMC_MAX_GIDS; n++) {
		size_t list = GID_LIST_FIXED_LEN + n * sizeof(struct smc_gid);

		if (len == FCE_SHORT_LEN + list || len == FCE_LEN + list)
			return true;
	}
	return false;
}

/*
 * Length of the extension without the GID list. Release 0 allows both lengths. In a Confirm, the
 * number of GIDs follows the short format, at an offset that is reserved in the long format. In
 * other messages no used field follows.
 */
static size_t get_fce_fixed_len(const struct smc_reader *r)
{
	const u8 *fce = r->data + r->pos;

	if (r->len - r->pos < FCE_LEN)
		return FCE_SHORT_LEN;
	return fce[FCE_SHORT_LEN] ? FCE_SHORT_LEN : FCE_LEN;
}

/**
 * smc_clc_cut_hostname() - leave what is valid of a host name
 * @name: the name; afterwards, NUL-terminated, and zero up to its end
 * @len: its length, at most SMC_HOSTNAME_LEN
 *
 * A blank ends the name. A name with any other invalid byte becomes empty.
 */
void smc_clc_cut_hostname(char name[SMC_HOSTNAME_LEN + 1], size_t len)
{
	size_t i;

	for (i = 0; i < len && name[i] != ' '; i++) {
		char c = name[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || c == '.' || c == '-')) {
			i = 0;
			break;
		}
	}
	memset(name + i, 0, SMC_HOSTNAME_LEN + 1 - i);
}

static void parse_hostname(struct smc_reader *r, char name[SMC_HOSTNAME_LEN + 1])
{
	smc_get_bytes(r, name, SMC_HOSTNAME_LEN);
	smc_clc_cut_hostname(name, SMC_HOSTNAME_LEN);
}

static void build_hostname(const char name[SMC_HOSTNAME_LEN + 1], struct smc_writer *w)
{
	size_t len = strnlen(name, SMC_HOSTNAME_LEN);

	smc_put_bytes(w, name, len);
	while (len++ < SMC_HOSTNAME_LEN)
		smc_put_u8(w, ' ');
}

static int parse_gid_list(struct smc_reader *r, struct smc_clc_first_contact *out)
{
	unsigned int i;

	out->nr_gids = smc_get_u8(r);
	smc_skip(r, 3);
	if (out->nr_gids < 1 || out->nr_gids > SMC_MAX_GIDS)
		return -EPROTO;
	for (i = 0; i < out->nr_gids; i++)
		smc_get_ip_gid(r, &out->gids[i]);
	return r->pos == r->len ? 0 : -EPROTO;
}

static void build_gid_list(const struct smc_clc_first_contact *in, struct smc_writer *w)
{
	unsigned int i;

	smc_put_u8(w, in->nr_gids);
	smc_put_zero(w, 3);
	for (i = 0; i < in->nr_gids; i++)
		smc_put_bytes(w, in->gids[i].bytes, sizeof(in->gids[i].bytes));
}

/* The values of version 2.1, which follow the short format */
static void parse_fce_v21(struct smc_reader *r, bool smcd, struct smc_clc_first_contact *out)
{
	u8 max_conns = smc_get_u8(r);
	u8 max_links = smc_get_u8(r);

	out->features = smc_get_be16(r);
	smc_get_bytes(r, out->vendor, sizeof(out->vendor));
	smc_skip(r, 8);
	if (!smcd) {
		out->max_conns = max_conns;
		out->max_links = max_links;
	}
}

static int parse_first_contact(struct smc_reader *r, const struct smc_clc_header *header,
			       struct smc_clc_first_contact *out)
{
	size_t fixed_len = get_fce_fixed_len(r);
	u8 flags, system;

	flags = smc_get_u8(r);
	system = smc_get_u8(r);
	out->os = system >> 4;
	out->release = system & 0xf;
	out->direct = !header->smcd && flags & FCE_DIRECT;
	smc_skip(r, 2);
	parse_hostname(r, out->hostname);

	/* Later releases require the long format */
	if (out->release == SMC_RELEASE_0)
		smc_skip(r, fixed_len - FCE_SHORT_LEN);
	else
		parse_fce_v21(r, header->smcd, out);

	if (header->type == SMC_CLC_CONFIRM && !header->smcd)
		return parse_gid_list(r, out);
	return 0;
}

static void build_first_contact(const struct smc_clc_first_contact *in, bool smcd,
				struct smc_writer *w)
{
	smc_put_u8(w, !smcd && in->direct ? FCE_DIRECT : 0);
	smc_put_u8(w, in->os << 4 | in->release);
	smc_put_zero(w, 2);
	build_hostname(in->hostname, w);
	if (in->release == SMC_RELEASE_0) {
		if (!smcd)
			smc_put_zero(w, FCE_LEN - FCE_SHORT_LEN);
		return;
	}
	smc_put_u8(w, smcd ? 0 : in->max_conns);
	smc_put_u8(w, smcd ? 0 : in->max_links);
	smc_put_be16(w, in->features);
	smc_put_bytes(w, in->vendor, sizeof(in->vendor));
	smc_put_zero(w, 8);
}

int smc_clc_parse_accept(struct smc_reader *r, const struct smc_clc_header *header,
			 struct smc_clc_accept *out)
{
	int err = 0;

	out->variant = get_variant(header);
	out->is_first_contact = header->flags & FLAG_FIRST_CONTACT;
	switch (out->variant) {
	case SMC_VARIANT_D1:
		parse_dmb(r, &out->dmb);
		return 0;
	case SMC_VARIANT_R1:
		if (header->type == SMC_CLC_CONFIRM)
			out->is_first_contact = false;
		return parse_rdma_end(r, out->variant, &out->rdma);
	case SMC_VARIANT_D2:
		parse_dmb(r, &out->dmb);
		parse_dmb_v2(r, out);
		break;
	default:
		err = parse_rdma_end(r, out->variant, &out->rdma);
		if (header->type == SMC_CLC_ACCEPT)
			out->d_reason_saved = header->flags & FLAG_D_REASON_SAVED;
		smc_get_bytes(r, out->eid.text, sizeof(out->eid.text));
		smc_skip(r, 8);
	}
	if (err)
		return err;

	if (!is_valid_fce_len(r->len - r->pos))
		return -EPROTO;
	if (!out->is_first_contact)
		return 0;
	return r->pos == r->len ? -EPROTO : parse_first_contact(r, header, &out->first_contact);
}

static bool can_build_first_contact(const struct smc_clc_first_contact *in, bool has_gids)
{
	if (in->os > 15 || in->release > 15)
		return false;
	return !has_gids || (in->nr_gids >= 1 && in->nr_gids <= SMC_MAX_GIDS);
}

static bool can_build_rdma_end(const struct smc_clc_rdma_end *in)
{
	return in->rmbe_index && in->rmbe_size <= 15 && in->mtu <= 15 &&
	       in->qpn < 1 << 24 && in->psn < 1 << 24;
}

static void set_header_flags(const struct smc_clc_accept *in, struct smc_clc_header *header)
{
	bool first_contact = in->is_first_contact;

	if (in->variant == SMC_VARIANT_R1 && header->type == SMC_CLC_CONFIRM)
		first_contact = false;
	header->version = in->variant & SMC_VARIANTS_V1 ? 1 : 2;
	header->smcd = in->variant & SMC_VARIANTS_D;
	header->flags = (first_contact ? FLAG_FIRST_CONTACT : 0) |
			(header->smcd ? FLAG_TYPE_SMCD : 0);
	if (in->variant == SMC_VARIANT_R2 && header->type == SMC_CLC_ACCEPT && in->d_reason_saved)
		header->flags |= FLAG_D_REASON_SAVED;
}

int smc_clc_build_accept(const struct smc_clc_accept *in, struct smc_writer *w,
			 struct smc_clc_header *header)
{
	bool smcd = in->variant & SMC_VARIANTS_D;
	bool has_gids = header->type == SMC_CLC_CONFIRM && !smcd;
	bool has_fce = in->variant & SMC_VARIANTS_V2 && in->is_first_contact;

	set_header_flags(in, header);
	switch (in->variant) {
	case SMC_VARIANT_D1:
	case SMC_VARIANT_D2:
		if (in->dmb.dmbe_size > 15)
			return -EINVAL;
		build_dmb(&in->dmb, w);
		if (in->variant == SMC_VARIANT_D1)
			smc_put_zero(w, 12);
		else
			build_dmb_v2(in, w);
		break;
	case SMC_VARIANT_R1:
	case SMC_VARIANT_R2:
		if (!can_build_rdma_end(&in->rdma))
			return -EINVAL;
		build_rdma_end(&in->rdma, w);
		if (in->variant == SMC_VARIANT_R2) {
			smc_put_bytes(w, in->eid.text, sizeof(in->eid.text));
			smc_put_zero(w, 8);
		}
		break;
	default:
		return -EINVAL;
	}

	if (!has_fce)
		return 0;
	if (!can_build_first_contact(&in->first_contact, has_gids))
		return -EINVAL;
	build_first_contact(&in->first_contact, smcd, w);
	if (has_gids)
		build_gid_list(&in->first_contact, w);
	return 0;
}
