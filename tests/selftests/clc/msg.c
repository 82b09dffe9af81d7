// SPDX-License-Identifier: GPL-2.0-only
/* CLC messages as bytes */

#include <string.h>

#include "msg.h"

#define EYE_R	0xe2d4c3d9
#define EYE_D	0xe2d4c3c4

void put(struct msg *msg, size_t at, int bytes, uint64_t value)
{
	while (bytes--) {
		msg->bytes[at + bytes] = value;
		value >>= 8;
	}
}

uint64_t get(const struct msg *msg, size_t at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | msg->bytes[at++];
	return value;
}

static void frame(struct msg *msg, enum msg_type type, size_t len, uint8_t flags, uint32_t eye)
{
	memset(msg, 0, sizeof(*msg));
	msg->len = len;
	put(msg, 0, 4, eye);
	put(msg, AT_TYPE, 1, type);
	put(msg, AT_LENGTH, 2, len);
	put(msg, AT_FLAGS, 1, flags);
	put(msg, len - 4, 4, eye);
}

void set_length(struct msg *msg, size_t len)
{
	uint32_t eye = get(msg, msg->len - 4, 4);

	memset(msg->bytes + msg->len - 4, 0, 4);
	msg->len = len;
	put(msg, AT_LENGTH, 2, len);
	put(msg, len - 4, 4, eye);
}

/* SMC-D version 2, release 1: a system EID and one emulated device */
void proposal(struct msg *msg, const struct device *dev)
{
	size_t d = AT_V2 + 40;

	frame(msg, PROPOSAL, 80 + 40 + 48 + 20 + 4, 0x26, EYE_R);
	memcpy(msg->bytes + AT_PEER_ID, dev->peer_id, 8);
	put(msg, AT_V2_OFFSET, 2, AT_V2 - (AT_V2_OFFSET + 2));
	put(msg, AT_GID_COUNT, 1, 2);
	put(msg, AT_RELEASE, 1, 0x11);
	put(msg, AT_D_OFFSET, 2, d - (AT_D_OFFSET + 2));
	put(msg, AT_FEATURES, 2, FEATURE_EMULATED);
	memcpy(msg->bytes + d, dev->seid, 32);
	put(msg, d + 48, 8, dev->gid);
	put(msg, d + 56, 2, dev->chid);
	put(msg, d + 58, 8, dev->gid_ext);
	put(msg, d + 66, 2, dev->chid);
}

/* A version 1 Proposal for an IPv4 subnet; flags: 0 SMC-R, 1 SMC-D, 3 both */
void proposal_v1(struct msg *msg, int variant_flags)
{
	size_t area = variant_flags ? 40 : 0;

	frame(msg, PROPOSAL, 40 + area + 8 + 4, 0x10 | variant_flags, EYE_R);
	put(msg, AT_SUBNET_OFFSET, 2, area);
	put(msg, 40 + area, 4, 0x7f000000);
	put(msg, 44 + area, 1, 8);
}

/* In front of the extension for SMC-D, as the format wants it */
void add_ueids(struct msg *msg, const char *const *ueids, int count)
{
	size_t more = 32 * count;
	int i;

	memmove(msg->bytes + AT_UEIDS + more, msg->bytes + AT_UEIDS, msg->len - AT_UEIDS);
	msg->len += more;
	put(msg, AT_LENGTH, 2, msg->len);
	put(msg, AT_EID_COUNT, 1, count);
	put(msg, AT_D_OFFSET, 2, get(msg, AT_D_OFFSET, 2) + more);
	for (i = 0; i < count; i++) {
		memset(msg->bytes + AT_UEIDS + 32 * i, ' ', 32);
		memcpy(msg->bytes + AT_UEIDS + 32 * i, ueids[i], strlen(ueids[i]));
	}
}

/* First contact, release 1 */
void accept_or_confirm(struct msg *msg, enum msg_type type, const struct device *dev,
		       uint64_t token, uint32_t link_id)
{
	frame(msg, type, ACCEPT_LENGTH, 0x29, EYE_D);
	put(msg, AT_GID, 8, dev->gid);
	put(msg, AT_TOKEN, 8, token);
	put(msg, AT_SIZE, 1, 0x20);
	put(msg, AT_LINK_ID, 4, link_id);
	put(msg, AT_CHID, 2, dev->chid);
	memcpy(msg->bytes + AT_EID, dev->seid, 32);
	put(msg, AT_GID_EXT, 8, dev->gid_ext);
	put(msg, AT_FCE_RELEASE, 1, 0x21);
	memset(msg->bytes + AT_HOSTNAME, ' ', 32);
	memcpy(msg->bytes + AT_HOSTNAME, "hostile", 7);
	put(msg, AT_FCE_FEATURES, 2, FEATURE_EMULATED);
}

void later_contact(struct msg *msg)
{
	put(msg, AT_FLAGS, 1, 0x21);
	msg->len = AT_FCE + 4;
	put(msg, AT_LENGTH, 2, msg->len);
	put(msg, AT_FCE, 4, EYE_D);
}

void decline(struct msg *msg, size_t len, uint32_t diagnosis)
{
	frame(msg, DECLINE, len, 0x20, EYE_R);
	put(msg, AT_DIAGNOSIS, 4, diagnosis);
	if (len == DECLINE_LONG)
		put(msg, 20, 1, 0x20);
}

bool is_message(const struct msg *msg, enum msg_type type)
{
	uint32_t eye = get(msg, 0, 4);

	return msg->len >= 12 && (eye == EYE_R || eye == EYE_D) &&
	       get(msg, AT_LENGTH, 2) == msg->len && get(msg, msg->len - 4, 4) == eye &&
	       get(msg, AT_TYPE, 1) == type;
}

/* What a Proposal of the module says of its device; the first one if there are several */
void device_of(const struct msg *proposal, struct device *dev)
{
	size_t d = AT_D_OFFSET + 2 + get(proposal, AT_D_OFFSET, 2);

	memcpy(dev->peer_id, proposal->bytes + AT_PEER_ID, 8);
	memcpy(dev->seid, proposal->bytes + d, 32);
	dev->gid = get(proposal, d + 48, 8);
	dev->chid = get(proposal, d + 56, 2);
	dev->gid_ext = get(proposal, d + 58, 8);
}
