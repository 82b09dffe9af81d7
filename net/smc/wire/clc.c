// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC messages: framing, the Decline, and common parts.
 *
 * There are two kinds of errors. -EBADMSG: this is not a CLC message. The position of the next
 * message in the TCP stream is unknown, so the connection must end (RFC 7609, C.6). -EPROTO: the
 * message is complete, but it violates the specification.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include "bits.h"
#include "clc.h"
#include "clc_msg.h"

#define EYE_CATCHER_SMCR	0xe2d4c3d9	/* "SMCR" in EBCDIC */
#define EYE_CATCHER_SMCD	0xe2d4c3c4	/* "SMCD" in EBCDIC */

#define DECLINE_LEN		28
#define DECLINE_EXTENDED_LEN	44
#define DECLINE_OUT_OF_SYNC	0x08

/* Valid lengths of a message type; its parser checks the exact length */
struct form {
	u8 type;
	bool smcd;
	u8 min_version;
	u8 max_version;
	u16 min_length;
	u16 max_length;
};

static const struct form forms[] = {
	/* Later versions may extend the Proposal */
	{ SMC_CLC_PROPOSAL, false, 1, 15,  52, 65535 },
	{ SMC_CLC_ACCEPT,   false, 1,  1,  68,    68 },
	{ SMC_CLC_ACCEPT,   false, 2,  2, 108,   160 },
	{ SMC_CLC_ACCEPT,   true,  1,  1,  48,    48 },
	{ SMC_CLC_ACCEPT,   true,  2,  2,  78,   130 },
	{ SMC_CLC_CONFIRM,  false, 1,  1,  68,    68 },
	{ SMC_CLC_CONFIRM,  false, 2,  2, 108,   292 },
	{ SMC_CLC_CONFIRM,  true,  1,  1,  48,    48 },
	{ SMC_CLC_CONFIRM,  true,  2,  2,  78,   130 },
	{ SMC_CLC_DECLINE,  false, 1,  2,  28,    44 },
	{ SMC_CLC_DECLINE,  true,  1,  2,  28,    44 },
};

static bool is_eye_catcher(u32 value)
{
	return value == EYE_CATCHER_SMCR || value == EYE_CATCHER_SMCD;
}

static bool begins_with(const u8 *buf, size_t len, u32 eye_catcher)
{
	size_t i;

	for (i = 0; i < len && i < SMC_CLC_EYE_CATCHER_LEN; i++)
		if (buf[i] != (u8)(eye_catcher >> (24 - 8 * i)))
			return false;
	return true;
}

/**
 * smc_clc_may_begin() - may a CLC message begin with these bytes?
 * @buf: the first bytes of a stream
 * @len: their number; those after the eye catcher do not matter
 *
 * Return: false if no message begins so.
 */
bool smc_clc_may_begin(const void *buf, size_t len)
{
	return begins_with(buf, len, EYE_CATCHER_SMCR) || begins_with(buf, len, EYE_CATCHER_SMCD);
}

static bool matches_form(const struct form *form, const struct smc_clc_header *header)
{
	return form->type == header->type && form->smcd == header->smcd &&
	       header->version >= form->min_version && header->version <= form->max_version &&
	       header->length >= form->min_length && header->length <= form->max_length;
}

/**
 * smc_clc_parse_header() - parse the first bytes of a message
 * @buf: the first bytes of the message
 * @len: their number, at least SMC_CLC_HEADER_LEN
 * @out: result
 *
 * On success, the message has exactly @out->length bytes, including the header. A Proposal can have
 * any length up to 65535; other messages fit into SMC_CLC_BUILD_MAX.
 *
 * Return: 0, or -EBADMSG if this is not the start of a CLC message.
 */
int smc_clc_parse_header(const void *buf, size_t len, struct smc_clc_header *out)
{
	u32 eye_catcher;
	struct smc_reader r;
	size_t i;
	u8 byte;

	smc_reader_init(&r, buf, len);
	eye_catcher = smc_get_be32(&r);
	out->type = smc_get_u8(&r);
	out->length = smc_get_be16(&r);
	byte = smc_get_u8(&r);
	out->version = byte >> 4;
	out->flags = byte & 0xf;
	out->smcd = eye_catcher == EYE_CATCHER_SMCD;

	if (r.bad || !is_eye_catcher(eye_catcher))
		return -EBADMSG;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (matches_form(&forms[i], out))
			return 0;
	}
	return -EBADMSG;
}

/* The trailer repeats the eye catcher; a Decline may end with either of them */
static bool has_valid_trailer(const void *buf, const struct smc_clc_header *header)
{
	struct smc_reader r;
	u32 trailer;

	smc_reader_init(&r, buf, header->length);
	smc_reader_seek(&r, header->length - SMC_CLC_TRAILER_LEN);
	trailer = smc_get_be32(&r);

	if (header->type == SMC_CLC_DECLINE)
		return is_eye_catcher(trailer);
	return trailer == (header->smcd ? EYE_CATCHER_SMCD : EYE_CATCHER_SMCR);
}

static int parse_decline(struct smc_reader *r, const struct smc_clc_header *header,
			 struct smc_clc_decline *out)
{
	if (header->length != DECLINE_LEN && header->length != DECLINE_EXTENDED_LEN)
		return -EPROTO;

	out->version = header->version;
	out->smcd = header->smcd;
	out->extended = header->length == DECLINE_EXTENDED_LEN;
	out->out_of_sync = header->flags & DECLINE_OUT_OF_SYNC;
	smc_get_bytes(r, out->peer_id.bytes, sizeof(out->peer_id.bytes));
	out->diagnosis = smc_get_be32(r);
	if (!out->extended)
		return 0;

	out->os = smc_get_u8(r) >> 4;
	smc_skip(r, 3);
	out->reason_d2 = smc_get_be32(r);
	out->reason_d1 = smc_get_be32(r);
	out->reason_r2 = smc_get_be32(r);
	out->reason_r1 = smc_get_be32(r);
	return 0;
}

static int build_decline(const struct smc_clc_decline *in, struct smc_writer *w,
			 struct smc_clc_header *header)
{
	if (in->version < 1 || in->version > 2 || in->os > 15)
		return -EINVAL;

	header->version = in->version;
	header->smcd = in->smcd;
	header->flags = in->out_of_sync ? DECLINE_OUT_OF_SYNC : 0;
	smc_put_bytes(w, in->peer_id.bytes, sizeof(in->peer_id.bytes));
	smc_put_be32(w, in->diagnosis);
	if (!in->extended) {
		smc_put_zero(w, 4);
		return 0;
	}

	smc_put_u8(w, in->os << 4);
	smc_put_zero(w, 3);
	smc_put_be32(w, in->reason_d2);
	smc_put_be32(w, in->reason_d1);
	smc_put_be32(w, in->reason_r2);
	smc_put_be32(w, in->reason_r1);
	return 0;
}

/**
 * smc_clc_parse() - parse a message
 * @header: its header, from smc_clc_parse_header()
 * @buf: exactly one message
 * @len: its length, equal to that in its header
 * @out: result; its contents are undefined on failure, those of other types always
 *
 * Enumerated values such as the MTU are returned as received. The state of the handshake decides
 * which of them are relevant; a reserved value leads to a Decline, not to an error.
 *
 * Return: 0; -EBADMSG if this is not a CLC message and the connection must end; -EPROTO if the
 * message contradicts itself or the specification.
 */
int smc_clc_parse(const struct smc_clc_header *header, const void *buf, size_t len,
		  struct smc_clc *out)
{
	struct smc_reader r;
	int err;

	if (header->length != len || !has_valid_trailer(buf, header))
		return -EBADMSG;

	out->type = header->type;
	smc_reader_init(&r, buf, len - SMC_CLC_TRAILER_LEN);
	smc_skip(&r, SMC_CLC_HEADER_LEN);

	switch (header->type) {
	case SMC_CLC_PROPOSAL:
		memset(&out->proposal, 0, sizeof(out->proposal));
		err = smc_clc_parse_proposal(&r, header, &out->proposal);
		break;
	case SMC_CLC_DECLINE:
		memset(&out->decline, 0, sizeof(out->decline));
		err = parse_decline(&r, header, &out->decline);
		break;
	default:
		memset(&out->accept, 0, sizeof(out->accept));
		err = smc_clc_parse_accept(&r, header, &out->accept);
	}
	if (err)
		return err;
	return r.bad ? -EPROTO : 0;
}

static void put_eye_catcher(struct smc_writer *w, const struct smc_clc_header *header)
{
	smc_put_be32(w, header->smcd ? EYE_CATCHER_SMCD : EYE_CATCHER_SMCR);
}

/**
 * smc_clc_build() - build a message
 * @in: the message. Fields that do not belong to the variant or release are ignored
 * @buf: buffer
 * @size: its size; SMC_CLC_BUILD_MAX is always enough
 *
 * Return: length of the message; -EINVAL if a value of @in is out of range; -ENOSPC if @buf is too
 * small.
 */
int smc_clc_build(const struct smc_clc *in, void *buf, size_t size)
{
	struct smc_clc_header header = { .type = in->type };
	struct smc_writer w, head;
	int err;

	smc_writer_init(&w, buf, size);
	smc_put_zero(&w, SMC_CLC_HEADER_LEN);

	switch (in->type) {
	case SMC_CLC_PROPOSAL:
		err = smc_clc_build_proposal(&in->proposal, &w, &header);
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		err = smc_clc_build_accept(&in->accept, &w, &header);
		break;
	case SMC_CLC_DECLINE:
		err = build_decline(&in->decline, &w, &header);
		break;
	default:
		err = -EINVAL;
	}
	if (err)
		return err;
	put_eye_catcher(&w, &header);
	if (w.bad)
		return -ENOSPC;

	smc_writer_init(&head, buf, SMC_CLC_HEADER_LEN);
	put_eye_catcher(&head, &header);
	smc_put_u8(&head, header.type);
	smc_put_be16(&head, w.pos);
	smc_put_u8(&head, header.version << 4 | header.flags);
	return w.pos;
}

/* Name for messages and traces, never NULL */
const char *smc_clc_type_name(u8 type)
{
	static const char * const names[] = {
		[SMC_CLC_PROPOSAL] = "Proposal",
		[SMC_CLC_ACCEPT] = "Accept",
		[SMC_CLC_CONFIRM] = "Confirm",
		[SMC_CLC_DECLINE] = "Decline",
	};

	if (type < SMC_CLC_PROPOSAL || type > SMC_CLC_DECLINE)
		return "unknown";
	return names[type];
}

/* Name for messages and traces, never NULL */
const char *smc_variant_name(u8 variant)
{
	switch (variant) {
	case SMC_VARIANT_R1:
		return "SMC-Rv1";
	case SMC_VARIANT_D1:
		return "SMC-Dv1";
	case SMC_VARIANT_R2:
		return "SMC-Rv2";
	case SMC_VARIANT_D2:
		return "SMC-Dv2";
	default:
		return "unknown";
	}
}

#define BUFFER_MIN_BYTES	16384
#define BUFFER_MAX_CODE		5

/**
 * smc_clc_buffer_bytes() - size of an RMBE or DMB element
 * @code: size code of an Accept or Confirm
 *
 * Return: bytes, or 0 if the code is reserved.
 */
u32 smc_clc_buffer_bytes(u8 code)
{
	return code <= BUFFER_MAX_CODE ? BUFFER_MIN_BYTES << code : 0;
}

/**
 * smc_clc_buffer_code() - size code of an RMBE or DMB element
 * @bytes: requested size
 *
 * Return: the code of the smallest element that has at least @bytes, or that of the largest
 * element.
 */
u8 smc_clc_buffer_code(u32 bytes)
{
	u8 code = 0;

	while (code < BUFFER_MAX_CODE && smc_clc_buffer_bytes(code) < bytes)
		code++;
	return code;
}

/**
 * smc_clc_mtu_bytes() - path MTU in bytes
 * @code: MTU code of an Accept, Confirm or ADD LINK
 *
 * Return: bytes, or 0 if the code is reserved.
 */
u32 smc_clc_mtu_bytes(u8 code)
{
	return code >= 1 && code <= 5 ? 128 << code : 0;
}
