// SPDX-License-Identifier: GPL-2.0-only
/*
 * LLC messages: parse and build.
 *
 *	version 1	0 type	1 length	2 reserved	3 flags	4.. body
 *	version 2	0 type	1 length (2 bytes)		3 flags	4.. body
 *
 * Little-endian Linux peers of version 2 send the length, and the number of rkeys in ADD LINK, in
 * their own byte order. The parser therefore accepts either byte order, if the value matches the
 * number of received bytes.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include "bits.h"
#include "llc.h"

#define OPCODE_V2		0x20	/* version 2 in bits 1 to 3 of the type */
#define OPCODE_TYPE		0x0f
#define OPCODE_CLASS		0xc0
#define OPCODE_OPTIONAL		0x80	/* class of message types that are discarded if unknown */

#define FLAG_REPLY		0x80
#define FLAG_REJECTED		0x40	/* ADD LINK, REQUEST ADD LINK */
#define FLAG_ALL		0x40	/* DELETE LINK */
#define FLAG_ORDERLY		0x20	/* DELETE LINK */
#define FLAG_NEGATIVE		0x20	/* the RKEY messages */
#define FLAG_RETRY		0x10	/* CONFIRM RKEY */
#define FLAG_NO_EYE_CATCHER	0x03	/* CONFIRM LINK */
#define FLAG_LOW		0x0f	/* reject reason, version 2 */
#define FLAG_DIRECT		0x80	/* V2 flags of ADD LINK */

#define HEADER_LEN		4
#define REASON_OFFSET		2	/* of the reject reason of ADD LINK, version 1 */
#define ADD_LINK_V2_LEN		72
#define RTOKEN_LEN		16
#define GID_LIST_OFFSET		24
#define REQUEST_MAX_LEN		156	/* with SMC_MAX_GIDS entries */
#define DELETE_RKEY_FIXED_LEN	8
#define RKEY_LEN		4u

static unsigned int min_uint(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static u16 swap_bytes(u16 value)
{
	return value << 8 | value >> 8;
}

static void get_gid(struct smc_reader *r, u8 version, struct smc_gid *out)
{
	smc_get_bytes(r, out->bytes, sizeof(out->bytes));
	if (version == 2)
		smc_gid_map_ipv4(out);
}

static void get_rtokens(struct smc_reader *r, unsigned int n, struct smc_llc_rtoken *out)
{
	for (; n; n--, out++) {
		out->reference_rkey = smc_get_be32(r);
		out->rkey = smc_get_be32(r);
		out->addr = smc_get_be64(r);
	}
}

static void put_rtokens(struct smc_writer *w, unsigned int n, const struct smc_llc_rtoken *in)
{
	for (; n; n--, in++) {
		smc_put_be32(w, in->reference_rkey);
		smc_put_be32(w, in->rkey);
		smc_put_be64(w, in->addr);
	}
}

static void get_others(struct smc_reader *r, unsigned int n, struct smc_llc_other_link *out)
{
	for (; n; n--, out++) {
		out->link_num = smc_get_u8(r);
		out->rkey = smc_get_be32(r);
		out->addr = smc_get_be64(r);
	}
}

static void put_others(struct smc_writer *w, unsigned int n, const struct smc_llc_other_link *in)
{
	for (; n; n--, in++) {
		smc_put_u8(w, in->link_num);
		smc_put_be32(w, in->rkey);
		smc_put_be64(w, in->addr);
	}
}

static void get_rkeys(struct smc_reader *r, unsigned int n, u32 *out)
{
	for (; n; n--)
		*out++ = smc_get_be32(r);
}

static void put_rkeys(struct smc_writer *w, unsigned int n, const u32 *in)
{
	for (; n; n--)
		smc_put_be32(w, *in++);
}

/*
 * Parsers and builders start after the header. The caller handles the header and the zero padding
 * to 44 bytes.
 */

static int parse_confirm_link(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	struct smc_llc_confirm_link *msg = &out->confirm_link;

	smc_get_bytes(r, msg->mac, sizeof(msg->mac));
	get_gid(r, out->version, &msg->gid);
	msg->qpn = smc_get_be24(r);
	msg->link_num = smc_get_u8(r);
	msg->link_user_id = smc_get_be32(r);
	msg->max_links = smc_get_u8(r);
	if (out->version == 2)
		msg->max_conns = smc_get_u8(r);
	msg->no_eye_catcher = (flags & FLAG_NO_EYE_CATCHER) == FLAG_NO_EYE_CATCHER;
	return 0;
}

static int build_confirm_link(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_confirm_link *msg = &in->confirm_link;

	smc_put_bytes(w, msg->mac, sizeof(msg->mac));
	smc_put_bytes(w, msg->gid.bytes, sizeof(msg->gid.bytes));
	smc_put_be24(w, msg->qpn);
	smc_put_u8(w, msg->link_num);
	smc_put_be32(w, msg->link_user_id);
	smc_put_u8(w, msg->max_links);
	if (in->version == 2)
		smc_put_u8(w, msg->max_conns);
	if (msg->no_eye_catcher)
		*flags |= FLAG_NO_EYE_CATCHER;
	return 0;
}

/* The fields that only version 2 of ADD LINK has. On failure, this function sets no field */
static int parse_add_link_v2(struct smc_reader *r, struct smc_llc *out)
{
	struct smc_llc_add_link *msg = &out->add_link;
	unsigned int nr_rtokens;
	struct smc_gid target;
	u8 flags;
	u16 count;

	/* Only a rejection may end here */
	if (r->len < ADD_LINK_V2_LEN)
		return msg->rejected && r->len == SMC_LLC_LEN ? 0 : -EPROTO;
	if ((r->len - ADD_LINK_V2_LEN) % RTOKEN_LEN)
		return -EPROTO;
	nr_rtokens = (r->len - ADD_LINK_V2_LEN) / RTOKEN_LEN;

	smc_skip(r, 8);
	flags = smc_get_u8(r);
	smc_skip(r, 1);
	get_gid(r, out->version, &target);
	smc_skip(r, 8);
	count = smc_get_be16(r);
	if (count != nr_rtokens && swap_bytes(count) != nr_rtokens)
		return -ENOMSG;

	if (out->reply)
		msg->direct = flags & FLAG_DIRECT;
	else
		msg->target_gid = target;
	msg->nr_rtokens = nr_rtokens;
	get_rtokens(r, nr_rtokens, msg->rtokens);
	return 0;
}

static int parse_add_link(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	static const u8 no_mac[6];
	struct smc_llc_add_link *msg = &out->add_link;
	int err = -EPROTO;

	msg->rejected = flags & FLAG_REJECTED;
	if (msg->rejected && !out->reply)
		return -EPROTO;
	if (msg->rejected)
		msg->reject_reason = (out->version == 1 ? r->data[REASON_OFFSET] : flags) &
				     FLAG_LOW;

	smc_get_bytes(r, msg->mac, sizeof(msg->mac));
	smc_skip(r, 2);	/* also in version 1, see R-AL-05 in rfc7609-links.rst */
	get_gid(r, out->version, &msg->gid);
	msg->qpn = smc_get_be24(r);
	msg->link_num = smc_get_u8(r);
	msg->mtu = smc_get_u8(r) & 0xf;
	msg->psn = smc_get_be24(r);
	if (out->version == 1)
		return 0;
	if (msg->rejected || memcmp(msg->mac, no_mac, sizeof(no_mac)))
		err = parse_add_link_v2(r, out);
	/*
	 * A malformed reply must not make the server wait for another reply or take the link down:
	 * report it as @unfit.
	 */
	if (err && out->reply) {
		msg->unfit = !msg->rejected;
		err = 0;
	}
	return err;
}

static int build_add_link(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_add_link *msg = &in->add_link;

	if (msg->rejected && (!in->reply || msg->reject_reason > 15))
		return -EINVAL;
	if (msg->mtu > 15 || msg->unfit)
		return -EINVAL;
	if (msg->rejected)
		*flags |= FLAG_REJECTED | (in->version == 2 ? msg->reject_reason : 0);

	smc_put_bytes(w, msg->mac, sizeof(msg->mac));
	smc_put_zero(w, 2);
	smc_put_bytes(w, msg->gid.bytes, sizeof(msg->gid.bytes));
	smc_put_be24(w, msg->qpn);
	smc_put_u8(w, msg->link_num);
	smc_put_u8(w, msg->mtu);
	smc_put_be24(w, msg->psn);
	if (in->version == 1)
		return 0;

	smc_put_zero(w, 8);
	smc_put_u8(w, in->reply && msg->direct ? FLAG_DIRECT : 0);
	smc_put_zero(w, 1);
	if (in->reply)
		smc_put_zero(w, sizeof(msg->target_gid.bytes));
	else
		smc_put_bytes(w, msg->target_gid.bytes, sizeof(msg->target_gid.bytes));
	smc_put_zero(w, 8);
	smc_put_be16(w, msg->nr_rtokens);
	put_rtokens(w, msg->nr_rtokens, msg->rtokens);
	return 0;
}

static int parse_add_link_cont(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	struct smc_llc_add_link_cont *msg = &out->add_link_cont;

	msg->link_num = smc_get_u8(r);
	msg->nr_left = smc_get_u8(r);
	smc_skip(r, 2);
	get_rtokens(r, min_uint(msg->nr_left, SMC_LLC_CONT_RTOKENS), msg->rtokens);
	return 0;
}

static int build_add_link_cont(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_add_link_cont *msg = &in->add_link_cont;

	smc_put_u8(w, msg->link_num);
	smc_put_u8(w, msg->nr_left);
	smc_put_zero(w, 2);
	put_rtokens(w, min_uint(msg->nr_left, SMC_LLC_CONT_RTOKENS), msg->rtokens);
	return 0;
}

static int parse_delete_link(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	struct smc_llc_delete_link *msg = &out->delete_link;

	msg->all = flags & FLAG_ALL;
	msg->orderly = flags & FLAG_ORDERLY;
	msg->link_num = smc_get_u8(r);
	if (msg->all)
		msg->link_num = 0;
	msg->reason = smc_get_be32(r);
	return 0;
}

static int build_delete_link(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_delete_link *msg = &in->delete_link;

	*flags |= (msg->all ? FLAG_ALL : 0) | (msg->orderly ? FLAG_ORDERLY : 0);
	smc_put_u8(w, msg->all ? 0 : msg->link_num);
	smc_put_be32(w, msg->reason);
	return 0;
}

static int parse_request_add_link(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	struct smc_llc_request_add_link *msg = &out->request_add_link;
	unsigned int i;

	BUILD_BUG_ON(GID_LIST_OFFSET + 4 + sizeof(msg->gids) != REQUEST_MAX_LEN);

	if (out->reply) {
		msg->rejected = flags & FLAG_REJECTED;
		msg->reject_reason = msg->rejected ? flags & FLAG_LOW : 0;
		return 0;
	}

	smc_reader_seek(r, GID_LIST_OFFSET);
	msg->nr_gids = smc_get_u8(r);
	smc_skip(r, 3);
	/*
	 * One entry makes 44 bytes, so a request has no padding. The maximum length in kinds[]
	 * limits the number of entries to SMC_MAX_GIDS.
	 */
	if (r->len - r->pos != msg->nr_gids * sizeof(struct smc_gid)) {
		msg->nr_gids = 0;
		msg->bad_gids = true;
		return 0;
	}
	for (i = 0; i < msg->nr_gids; i++)
		get_gid(r, out->version, &msg->gids[i]);
	return 0;
}

static int build_request_add_link(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_request_add_link *msg = &in->request_add_link;
	unsigned int i;

	if (in->reply) {
		if (msg->reject_reason > 15)
			return -EINVAL;
		if (msg->rejected)
			*flags |= FLAG_REJECTED | msg->reject_reason;
		return 0;
	}

	if (msg->nr_gids < 1 || msg->nr_gids > SMC_MAX_GIDS)
		return -EINVAL;
	smc_put_zero_to(w, GID_LIST_OFFSET);
	smc_put_u8(w, msg->nr_gids);
	smc_put_zero(w, 3);
	for (i = 0; i < msg->nr_gids; i++)
		smc_put_bytes(w, msg->gids[i].bytes, sizeof(msg->gids[i].bytes));
	return 0;
}

static int parse_confirm_rkey(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	struct smc_llc_confirm_rkey *msg = &out->confirm_rkey;

	msg->negative = out->reply && flags & FLAG_NEGATIVE;
	msg->retry = msg->negative && flags & FLAG_RETRY;
	msg->nr_others = smc_get_u8(r);
	/* Version 2 has no continuation message for the rest */
	if (out->version == 2 && msg->nr_others > SMC_LLC_OTHERS)
		return -EPROTO;
	msg->rkey = smc_get_be32(r);
	msg->addr = smc_get_be64(r);
	get_others(r, min_uint(msg->nr_others, SMC_LLC_OTHERS), msg->others);
	return 0;
}

static int build_confirm_rkey(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_confirm_rkey *msg = &in->confirm_rkey;

	if (in->version == 2 && msg->nr_others > SMC_LLC_OTHERS)
		return -EINVAL;
	if (in->reply && msg->negative)
		*flags |= FLAG_NEGATIVE | (msg->retry ? FLAG_RETRY : 0);
	smc_put_u8(w, msg->nr_others);
	smc_put_be32(w, msg->rkey);
	smc_put_be64(w, msg->addr);
	put_others(w, min_uint(msg->nr_others, SMC_LLC_OTHERS), msg->others);
	return 0;
}

static int parse_confirm_rkey_cont(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	struct smc_llc_confirm_rkey_cont *msg = &out->confirm_rkey_cont;

	msg->negative = out->reply && flags & FLAG_NEGATIVE;
	msg->nr_left = smc_get_u8(r);
	get_others(r, min_uint(msg->nr_left, SMC_LLC_CONT_OTHERS), msg->others);
	return 0;
}

static int build_confirm_rkey_cont(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_confirm_rkey_cont *msg = &in->confirm_rkey_cont;

	if (in->reply && msg->negative)
		*flags |= FLAG_NEGATIVE;
	smc_put_u8(w, msg->nr_left);
	put_others(w, min_uint(msg->nr_left, SMC_LLC_CONT_OTHERS), msg->others);
	return 0;
}

static int parse_delete_rkey(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	struct smc_llc_delete_rkey *msg = &out->delete_rkey;
	u8 errors;

	msg->negative = out->reply && flags & FLAG_NEGATIVE;
	msg->nr_rkeys = smc_get_u8(r);
	errors = smc_get_u8(r);
	smc_skip(r, 2);
	if (!msg->nr_rkeys)
		return -EPROTO;

	if (out->version == 2 && out->reply) {
		msg->nr_failed = msg->negative ? errors : 0;
		get_rkeys(r, min_uint(msg->nr_failed, SMC_LLC_REPLY_RKEYS), msg->rkeys);
		return 0;
	}

	if (out->version == 1) {
		if (msg->nr_rkeys > SMC_LLC_V1_MAX_RKEYS)
			return -EPROTO;
		msg->error_mask = msg->negative ? errors : 0;
	} else if (r->len != SMC_LLC_LEN &&
		   r->len != DELETE_RKEY_FIXED_LEN + msg->nr_rkeys * RKEY_LEN) {
		return -EPROTO;
	}
	get_rkeys(r, msg->nr_rkeys, msg->rkeys);
	return 0;
}

static int build_delete_rkey(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	const struct smc_llc_delete_rkey *msg = &in->delete_rkey;
	bool negative = in->reply && msg->negative;

	if (!msg->nr_rkeys || (in->version == 1 && msg->nr_rkeys > SMC_LLC_V1_MAX_RKEYS))
		return -EINVAL;

	if (negative)
		*flags |= FLAG_NEGATIVE;
	smc_put_u8(w, msg->nr_rkeys);
	if (in->version == 2 && in->reply) {
		smc_put_u8(w, negative ? msg->nr_failed : 0);
		smc_put_zero(w, 2);
		if (negative)
			put_rkeys(w, min_uint(msg->nr_failed, SMC_LLC_REPLY_RKEYS), msg->rkeys);
		return 0;
	}
	smc_put_u8(w, negative ? msg->error_mask : 0);
	smc_put_zero(w, 2);
	put_rkeys(w, msg->nr_rkeys, msg->rkeys);
	return 0;
}

static int parse_test_link(struct smc_reader *r, u8 flags, struct smc_llc *out)
{
	smc_get_bytes(r, out->test_link.data, sizeof(out->test_link.data));
	return 0;
}

static int build_test_link(const struct smc_llc *in, struct smc_writer *w, u8 *flags)
{
	smc_put_bytes(w, in->test_link.data, sizeof(in->test_link.data));
	return 0;
}

/**
 * struct kind - a message type
 * @name: for messages and traces
 * @versions: versions in which it exists, a set of V1 and V2
 * @max_request: length of the longest request, version 2
 * @max_reply: length of the longest reply, version 2
 * @parse: parses the body
 * @build: builds the body and adds to the flags
 */
struct kind {
	const char *name;
	u8 versions;
	u16 max_request;
	u16 max_reply;
	int (*parse)(struct smc_reader *r, u8 flags, struct smc_llc *out);
	int (*build)(const struct smc_llc *in, struct smc_writer *w, u8 *flags);
};

#define V1	0x2
#define V2	0x4

static const struct kind kinds[] = {
	[SMC_LLC_CONFIRM_LINK] = {
		"CONFIRM LINK", V1 | V2, 44, 44,
		parse_confirm_link, build_confirm_link,
	},
	[SMC_LLC_ADD_LINK] = {
		"ADD LINK", V1 | V2, SMC_LLC_BUILD_MAX, SMC_LLC_BUILD_MAX,
		parse_add_link, build_add_link,
	},
	[SMC_LLC_ADD_LINK_CONT] = {
		"ADD LINK CONTINUATION", V1, 44, 44,
		parse_add_link_cont, build_add_link_cont,
	},
	[SMC_LLC_DELETE_LINK] = {
		"DELETE LINK", V1 | V2, 44, 44,
		parse_delete_link, build_delete_link,
	},
	[SMC_LLC_REQUEST_ADD_LINK] = {
		"REQUEST ADD LINK", V2, REQUEST_MAX_LEN, 44,
		parse_request_add_link, build_request_add_link,
	},
	[SMC_LLC_CONFIRM_RKEY] = {
		"CONFIRM RKEY", V1 | V2, 44, 44,
		parse_confirm_rkey, build_confirm_rkey,
	},
	[SMC_LLC_TEST_LINK] = {
		"TEST LINK", V1 | V2, 44, 44,
		parse_test_link, build_test_link,
	},
	[SMC_LLC_CONFIRM_RKEY_CONT] = {
		"CONFIRM RKEY CONTINUATION", V1, 44, 44,
		parse_confirm_rkey_cont, build_confirm_rkey_cont,
	},
	[SMC_LLC_DELETE_RKEY] = {
		"DELETE RKEY", V1 | V2, 1028, 44,
		parse_delete_rkey, build_delete_rkey,
	},
};

static const struct kind *find_kind(u8 type, u8 version)
{
	u8 wanted = version == 1 ? V1 : version == 2 ? V2 : 0;

	if (type >= sizeof(kinds) / sizeof(kinds[0]) || !(kinds[type].versions & wanted))
		return NULL;
	return &kinds[type];
}

/* Check the length in a version 2 header against the number of received bytes */
static int check_length_v2(const struct kind *kind, size_t len, u16 length, bool reply)
{
	if (len < SMC_LLC_LEN || len > (reply ? kind->max_reply : kind->max_request))
		return -EPROTO;
	if (length != len && swap_bytes(length) != len)
		return -ENOMSG;
	return 0;
}

/**
 * smc_llc_parse() - parse a message
 * @buf: received bytes; the first byte is not SMC_CDC_TYPE
 * @len: number of bytes received
 * @out: result; its contents are undefined on failure
 *
 * Does not check whether version, type and direction are valid in the state of the link.
 *
 * Return: 0; -ENOMSG if the message must be ignored; -EPROTO if the peer violated the protocol and
 * the link must go down (RFC 7609, C.7.1).
 */
int smc_llc_parse(const void *buf, size_t len, struct smc_llc *out)
{
	const struct kind *kind;
	struct smc_reader r;
	u8 opcode, flags;
	u16 length;
	int err;

	smc_reader_init(&r, buf, len);
	opcode = smc_get_u8(&r);
	length = smc_get_be16(&r);
	flags = smc_get_u8(&r);
	if (r.bad)
		return -EPROTO;
	if ((opcode & OPCODE_CLASS) == OPCODE_OPTIONAL)
		return -ENOMSG;

	memset(out, 0, sizeof(*out));
	out->type = opcode & OPCODE_TYPE;
	out->reply = flags & FLAG_REPLY;
	switch (opcode & ~OPCODE_TYPE) {
	case 0:
		out->version = 1;
		break;
	case OPCODE_V2:
		out->version = 2;
		break;
	default:
		return -EPROTO;
	}
	kind = find_kind(out->type, out->version);
	if (!kind)
		return -EPROTO;

	/* In version 1 the second byte of the length is reserved */
	if (out->version == 1)
		err = len == SMC_LLC_LEN && length >> 8 == SMC_LLC_LEN ? 0 : -EPROTO;
	else
		err = check_length_v2(kind, len, length, out->reply);
	if (err)
		return err;

	err = kind->parse(&r, flags, out);
	if (err)
		return err;
	return r.bad ? -EPROTO : 0;
}

/**
 * smc_llc_build() - build a message
 * @in: the message. Fields that do not belong to the version, or to a request or reply, are
 *	ignored
 * @buf: buffer
 * @size: its size; SMC_LLC_BUILD_MAX is always enough
 *
 * Return: length of the message; -EINVAL if a value of @in is out of range; -ENOSPC if @buf is too
 * small.
 */
int smc_llc_build(const struct smc_llc *in, void *buf, size_t size)
{
	u8 flags = in->reply ? FLAG_REPLY : 0;
	const struct kind *kind;
	struct smc_writer w, head;
	int err;

	BUILD_BUG_ON(ADD_LINK_V2_LEN + SMC_LLC_MAX_RTOKENS * RTOKEN_LEN != SMC_LLC_BUILD_MAX);

	kind = find_kind(in->type, in->version);
	if (!kind)
		return -EINVAL;

	smc_writer_init(&w, buf, size);
	smc_put_zero(&w, HEADER_LEN);
	err = kind->build(in, &w, &flags);
	if (err)
		return err;
	if (w.pos < SMC_LLC_LEN)
		smc_put_zero_to(&w, SMC_LLC_LEN);
	if (w.bad)
		return -ENOSPC;

	smc_writer_init(&head, buf, HEADER_LEN);
	if (in->version == 1) {
		smc_put_u8(&head, in->type);
		smc_put_u8(&head, SMC_LLC_LEN);
		smc_put_u8(&head, in->type == SMC_LLC_ADD_LINK && in->add_link.rejected ?
			   in->add_link.reject_reason : 0);
	} else {
		smc_put_u8(&head, OPCODE_V2 | in->type);
		smc_put_be16(&head, w.pos);
	}
	smc_put_u8(&head, flags);
	return w.pos;
}

/* Name for messages and traces, never NULL */
const char *smc_llc_type_name(u8 type)
{
	if (type >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[type].name)
		return "unknown";
	return kinds[type].name;
}
