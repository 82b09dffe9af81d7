/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CLC messages as bytes, written from the specification and on purpose without the module's own
 * parser and builder: what both get wrong in the same way would not be found.
 */
#ifndef CLC_MSG_H
#define CLC_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSG_MAX		70000

enum msg_type {
	PROPOSAL = 1,
	ACCEPT = 2,
	CONFIRM = 3,
	DECLINE = 4,
};

/* Offsets in all messages */
#define AT_TYPE			4
#define AT_LENGTH		5
#define AT_FLAGS		7

/* Offsets in the Proposal which proposal() makes: SMC-D version 2 only, no subnet extension */
#define AT_PEER_ID		8
#define AT_SUBNET_OFFSET	38
#define AT_BASE_GID		40
#define AT_BASE_CHID		48
#define AT_V2_OFFSET		50
#define AT_V2			80
#define AT_EID_COUNT		(AT_V2 + 0)
#define AT_GID_COUNT		(AT_V2 + 1)
#define AT_RELEASE		(AT_V2 + 3)
#define AT_D_OFFSET		(AT_V2 + 6)
#define AT_FEATURES		(AT_V2 + 26)
#define AT_UEIDS		(AT_V2 + 40)

/* Offsets in Accept and Confirm of SMC-D version 2 */
#define AT_GID			8
#define AT_TOKEN		16
#define AT_INDEX		24
#define AT_SIZE			25
#define AT_LINK_ID		28
#define AT_CHID			32
#define AT_EID			34
#define AT_GID_EXT		66
#define AT_FCE			74
#define AT_FCE_RELEASE		75
#define AT_HOSTNAME		78
#define AT_FCE_FEATURES		112
#define ACCEPT_LENGTH		130

/* Offsets in a Decline */
#define AT_DIAGNOSIS		16
#define DECLINE_SHORT		28
#define DECLINE_LONG		44

#define CHID_LOOPBACK		0xffff
#define FEATURE_EMULATED	0x0001

/**
 * struct msg - a message
 * @len: its length
 * @bytes: as on the wire
 */
struct msg {
	size_t len;
	uint8_t bytes[MSG_MAX];
};

/**
 * struct device - an emulated ISM device, and who it belongs to
 * @gid: first half of its address
 * @gid_ext: second half
 * @chid: its fabric
 * @seid: the system EID
 * @peer_id: the stack
 */
struct device {
	uint64_t gid;
	uint64_t gid_ext;
	uint16_t chid;
	uint8_t seid[32];
	uint8_t peer_id[8];
};

void put(struct msg *msg, size_t at, int bytes, uint64_t value);
uint64_t get(const struct msg *msg, size_t at, int bytes);

void proposal(struct msg *msg, const struct device *dev);
void proposal_v1(struct msg *msg, int variant_flags);
void add_ueids(struct msg *msg, const char *const *ueids, int count);
void accept_or_confirm(struct msg *msg, enum msg_type type, const struct device *dev,
		       uint64_t token, uint32_t link_id);
void later_contact(struct msg *msg);		/* without the first contact extension */
void decline(struct msg *msg, size_t len, uint32_t diagnosis);
void set_length(struct msg *msg, size_t len);	/* moves the trailer, fills with zeros */

bool is_message(const struct msg *msg, enum msg_type type);	/* sane frame, right type */
void device_of(const struct msg *proposal, struct device *dev);

#endif /* CLC_MSG_H */
