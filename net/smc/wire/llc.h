/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link layer control (LLC): messages over a link of SMC-R that manage links, link groups and rkeys.
 *
 * Version 1 (RFC 7609, A.3) has messages of 44 bytes. Version 2 has other type codes, a 16-bit
 * length, and messages of up to 8192 bytes, which replace the two continuation messages. Both
 * versions use the same structs here. Request and reply have the same type.
 */
#ifndef _NET_SMC_WIRE_LLC_H
#define _NET_SMC_WIRE_LLC_H

#include <linux/types.h>

#include "clc.h"

#define SMC_LLC_LEN		44	/* minimum length, and that of most messages */
#define SMC_LLC_BUILD_MAX	4152	/* longest message that this implementation builds */
#define SMC_LLC_RECEIVE_MAX	8192	/* size of receive buffers for version 2 */

#define SMC_LLC_MAX_RTOKENS	255
#define SMC_LLC_MAX_RKEYS	255	/* in one DELETE RKEY; 8 in version 1 */
#define SMC_LLC_V1_MAX_RKEYS	8
#define SMC_LLC_CONT_RTOKENS	2	/* in one ADD LINK CONTINUATION */
#define SMC_LLC_OTHERS		2	/* other links in one CONFIRM RKEY */
#define SMC_LLC_CONT_OTHERS	3	/* other links in one CONFIRM RKEY CONTINUATION */
#define SMC_LLC_REPLY_RKEYS	8	/* in a negative reply to DELETE RKEY */

/**
 * enum smc_llc_type - message type, without the version bits
 * @SMC_LLC_CONFIRM_LINK: test a new link
 * @SMC_LLC_ADD_LINK: offer another link
 * @SMC_LLC_ADD_LINK_CONT: rkeys of all RMBs on the new link (version 1)
 * @SMC_LLC_DELETE_LINK: end a link or the whole group
 * @SMC_LLC_REQUEST_ADD_LINK: the client asks the server for another link (version 2)
 * @SMC_LLC_CONFIRM_RKEY: announce a new RMB
 * @SMC_LLC_TEST_LINK: keepalive
 * @SMC_LLC_CONFIRM_RKEY_CONT: more rkeys of the new RMB (version 1)
 * @SMC_LLC_DELETE_RKEY: RMBs are deregistered
 */
enum smc_llc_type {
	SMC_LLC_CONFIRM_LINK = 1,
	SMC_LLC_ADD_LINK = 2,
	SMC_LLC_ADD_LINK_CONT = 3,
	SMC_LLC_DELETE_LINK = 4,
	SMC_LLC_REQUEST_ADD_LINK = 5,
	SMC_LLC_CONFIRM_RKEY = 6,
	SMC_LLC_TEST_LINK = 7,
	SMC_LLC_CONFIRM_RKEY_CONT = 8,
	SMC_LLC_DELETE_RKEY = 9,
};

/* Why an ADD LINK was rejected; peers may send other values */
enum smc_llc_reject {
	SMC_LLC_REJECT_NO_PATH = 1,	/* no alternate path, or no resources */
	SMC_LLC_REJECT_MTU = 2,		/* invalid MTU value */
};

/**
 * struct smc_llc_rtoken - rkey and address of an RMB on the new link
 * @reference_rkey: rkey of the RMB on the link that carries the message
 * @rkey: rkey of the RMB on the new link
 * @addr: address of the RMB on the new link
 */
struct smc_llc_rtoken {
	u32 reference_rkey;
	u32 rkey;
	u64 addr;
};

/**
 * struct smc_llc_other_link - rkey and address of an RMB on another link
 * @link_num: number of that link
 * @rkey: rkey of the RMB on that link
 * @addr: address of the RMB on that link
 */
struct smc_llc_other_link {
	u8 link_num;
	u32 rkey;
	u64 addr;
};

/**
 * struct smc_llc_confirm_link - CONFIRM LINK
 * @mac: MAC address of the sender's RDMA port
 * @gid: GID of the sender's RDMA port
 * @qpn: the sender's queue pair
 * @link_num: number of the link, assigned by the server
 * @link_user_id: the sender's ID of the link, for display only
 * @max_links: links per group
 * @max_conns: connections per group (version 2)
 * @no_eye_catcher: the sender's RMBEs have no eye catcher: cursors start at offset 0. This is
 *	an extension of Linux peers; RFC 7609 requires eye catchers
 */
struct smc_llc_confirm_link {
	u8 mac[6];
	struct smc_gid gid;
	u32 qpn;
	u8 link_num;
	u32 link_user_id;
	u8 max_links;
	u8 max_conns;
	bool no_eye_catcher;
};

/**
 * struct smc_llc_add_link - ADD LINK
 * @rejected: reply: the receiver refuses the link
 * @reject_reason: enum smc_llc_reject, or any other value up to 15
 * @unfit: reply: the peer accepts, but its fields contradict each other (version 2)
 * @mac: MAC address of the sender's RDMA port for the new link
 * @gid: GID of the sender's RDMA port for the new link
 * @qpn: the sender's queue pair for the new link
 * @psn: initial packet sequence number of that queue pair
 * @mtu: path MTU code, see smc_clc_mtu_bytes(); the receiver must reject a reserved code
 * @link_num: number of the new link, assigned by the server
 * @direct: reply: the link stays within one subnet (version 2)
 * @target_gid: request: the client's port that the server prefers (version 2)
 * @nr_rtokens: number of @rtokens (version 2)
 * @rtokens: all RMBs of the sender (version 2)
 */
struct smc_llc_add_link {
	bool rejected;
	u8 reject_reason;
	bool unfit;
	u8 mac[6];
	struct smc_gid gid;
	u32 qpn;
	u32 psn;
	u8 mtu;
	u8 link_num;
	bool direct;
	struct smc_gid target_gid;
	u8 nr_rtokens;
	struct smc_llc_rtoken rtokens[SMC_LLC_MAX_RTOKENS];
};

/**
 * struct smc_llc_add_link_cont - ADD LINK CONTINUATION
 * @link_num: number of the new link
 * @nr_left: number of RMBs still to be sent, including those in @rtokens
 * @rtokens: the next RMBs, as many as fit
 */
struct smc_llc_add_link_cont {
	u8 link_num;
	u8 nr_left;
	struct smc_llc_rtoken rtokens[SMC_LLC_CONT_RTOKENS];
};

/**
 * struct smc_llc_delete_link - DELETE LINK
 * @all: all links are deleted, the group ends
 * @orderly: the link still works
 * @link_num: number of the link, 0 if @all
 * @reason: enum smc_link_reason, or any other value
 */
struct smc_llc_delete_link {
	bool all;
	bool orderly;
	u8 link_num;
	u32 reason;
};

/**
 * struct smc_llc_request_add_link - REQUEST ADD LINK (version 2)
 * @rejected: reply: the server refuses
 * @reject_reason: any value up to 15
 * @bad_gids: the number of GIDs does not match the length; @gids is empty
 * @nr_gids: number of @gids; 1 to 8 in a valid request, 0 in a reply
 * @gids: addresses of the client's RDMA ports, starting with that of the active link
 */
struct smc_llc_request_add_link {
	bool rejected;
	u8 reject_reason;
	bool bad_gids;
	u8 nr_gids;
	struct smc_gid gids[SMC_MAX_GIDS];
};

/**
 * struct smc_llc_confirm_rkey - CONFIRM RKEY
 * @negative: reply: the receiver cannot use the RMB
 * @retry: negative reply: send the request again after the configuration change
 * @rkey: rkey of the RMB on the link that carries the message
 * @addr: address of the RMB on that link
 * @nr_others: number of other links to be announced, including those in @others
 * @others: the first of them, as many as fit. Continuations carry the rest (version 1)
 */
struct smc_llc_confirm_rkey {
	bool negative;
	bool retry;
	u32 rkey;
	u64 addr;
	u8 nr_others;
	struct smc_llc_other_link others[SMC_LLC_OTHERS];
};

/**
 * struct smc_llc_confirm_rkey_cont - CONFIRM RKEY CONTINUATION (version 1)
 * @negative: reply: the receiver cannot use the RMB
 * @nr_left: number of other links still to be announced, including those in @others
 * @others: the next of them, as many as fit
 */
struct smc_llc_confirm_rkey_cont {
	bool negative;
	u8 nr_left;
	struct smc_llc_other_link others[SMC_LLC_CONT_OTHERS];
};

/**
 * struct smc_llc_delete_rkey - DELETE RKEY
 * @negative: reply: some RMBs were not deleted
 * @nr_rkeys: number of rkeys in the request, repeated in the reply
 * @error_mask: negative reply of version 1: rkeys that were not deleted, 0x80 is the first
 * @nr_failed: negative reply of version 2: number of rkeys that were not deleted
 * @rkeys: rkeys on the link that carries the message. A reply of version 2 contains only
 *	those that were not deleted, at most 8
 */
struct smc_llc_delete_rkey {
	bool negative;
	u8 nr_rkeys;
	u8 error_mask;
	u8 nr_failed;
	u32 rkeys[SMC_LLC_MAX_RKEYS];
};

/**
 * struct smc_llc_test_link - TEST LINK
 * @data: the reply repeats it
 */
struct smc_llc_test_link {
	u8 data[16];
};

/**
 * struct smc_llc - any message; with 4 KiB too large for the stack
 * @version: 1 or 2
 * @type: enum smc_llc_type
 * @reply: reply, not request
 * @confirm_link: for SMC_LLC_CONFIRM_LINK
 * @add_link: for SMC_LLC_ADD_LINK
 * @add_link_cont: for SMC_LLC_ADD_LINK_CONT
 * @delete_link: for SMC_LLC_DELETE_LINK
 * @request_add_link: for SMC_LLC_REQUEST_ADD_LINK
 * @confirm_rkey: for SMC_LLC_CONFIRM_RKEY
 * @confirm_rkey_cont: for SMC_LLC_CONFIRM_RKEY_CONT
 * @delete_rkey: for SMC_LLC_DELETE_RKEY
 * @test_link: for SMC_LLC_TEST_LINK
 */
struct smc_llc {
	u8 version;
	u8 type;
	bool reply;
	union {
		struct smc_llc_confirm_link confirm_link;
		struct smc_llc_add_link add_link;
		struct smc_llc_add_link_cont add_link_cont;
		struct smc_llc_delete_link delete_link;
		struct smc_llc_request_add_link request_add_link;
		struct smc_llc_confirm_rkey confirm_rkey;
		struct smc_llc_confirm_rkey_cont confirm_rkey_cont;
		struct smc_llc_delete_rkey delete_rkey;
		struct smc_llc_test_link test_link;
	};
};

int smc_llc_parse(const void *buf, size_t len, struct smc_llc *out);
int smc_llc_build(const struct smc_llc *in, void *buf, size_t size);
const char *smc_llc_type_name(u8 type);

#endif /* _NET_SMC_WIRE_LLC_H */
