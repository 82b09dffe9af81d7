// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link layer control about links: CONFIRM LINK, ADD LINK, DELETE LINK, TEST LINK.
 *
 * At first contact the server sends ADD LINK, because clients wait for it, unless both ends have
 * agreed on one link. A server that has or wants no second link deletes the one that the client
 * accepts.
 */

#include <linux/random.h>

#include "../wire/reason.h"
#include "group.h"

#define MAX_LINKS_V1	8
#define MIN_LINKS_V1	2

/**
 * smcr_llc_fill_confirm_link() - describe our end in CONFIRM LINK
 * @link: the link
 */
void smcr_llc_fill_confirm_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smc_llc_confirm_link *out = &rg->llc.msg.confirm_link;

	memset(&rg->llc.msg, 0, sizeof(rg->llc.msg));
	rg->llc.msg.version = rg->version;
	rg->llc.msg.type = SMC_LLC_CONFIRM_LINK;
	memcpy(out->mac, link->local.mac, sizeof(out->mac));
	out->gid = link->local.gid;
	out->qpn = link->local.qpn;
	out->link_num = link->number;
	out->link_user_id = link->user_id;
	out->max_links = rg->max_links;
	out->max_conns = rg->max_conns;
	out->no_eye_catcher = true;
}

static void fail_first_contact(struct smcr_link *link, u32 reason)
{
	smcr_llc_settled(link->group, reason);
	smcr_link_down(link, SMC_LINK_LOST_PATH);
}

/*
 * Does CONFIRM LINK name the end that CLC or ADD LINK has named? The MAC address only counts if
 * there is no router (V2-LLC-09).
 */
static bool is_peers_end(const struct smcr_link *link, const struct smc_llc_confirm_link *msg)
{
	if (link->direct && memcmp(msg->mac, link->peer.mac, sizeof(msg->mac)))
		return false;
	return msg->qpn == link->peer.qpn && !memcmp(&msg->gid, &link->peer.gid, sizeof(msg->gid));
}

/*
 * In version 1, the lower maximum number of links of the two ends applies (R-LG-08, A-59). Version
 * 2.1 agrees on it in CLC.
 */
static void agree_on_links(struct smcr_group *rg, u8 peers)
{
	if (rg->version == 2 || (!peers && rg->role == SMC_SERVER))
		return;
	rg->max_links = min_t(u8, rg->max_links, clamp_t(u8, peers, MIN_LINKS_V1, MAX_LINKS_V1));
}

/*
 * Either both ends have eye catchers, or neither has. Our element is set up without;
 * smcr_group_settled() changes that before data is exchanged.
 */
static void take_confirm_link(struct smcr_link *link, const struct smc_llc_confirm_link *msg)
{
	link->peer_user_id = msg->link_user_id;
	agree_on_links(link->group, msg->max_links);
	if (!msg->no_eye_catcher)
		link->group->eye_catcher = true;
}

/**
 * smcr_llc_start_confirm() - server: send the first CONFIRM LINK, after CLC
 * @link: the first link
 */
void smcr_llc_start_confirm(struct smcr_link *link)
{
	smcr_llc_fill_confirm_link(link);
	if (smcr_llc_send(link))
		fail_first_contact(link, SMC_REASON_LINK_NOT_READY);
}

/*
 * Server: send the ADD LINK that the client waits for. No second link exists, so the message names
 * the port of the first.
 */
static void ask_for_second(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smc_llc_add_link *out = &rg->llc.msg.add_link;

	memset(&rg->llc.msg, 0, sizeof(rg->llc.msg));
	rg->llc.msg.type = SMC_LLC_ADD_LINK;
	memcpy(out->mac, link->local.mac, sizeof(out->mac));
	out->gid = link->local.gid;
	out->qpn = link->local.qpn;
	out->psn = get_random_u32() & 0xffffff;
	out->mtu = link->local.mtu;
	out->link_num = smcr_llc_next_number(rg);
	smcr_llc_await(rg, SMC_LLC_FLOW_ADD, link);
	rg->llc.given_up = out->link_num;
	if (smcr_llc_send(link))
		fail_first_contact(link, SMC_REASON_LINK_NOT_READY);
}

/* Server: the first link works */
static void confirmed(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;

	smcr_link_activate(link);
	if (rg->max_links < 2) {
		smcr_llc_flow_over(rg);
		smcr_llc_settled(rg, SMC_REASON_NONE);
	} else if (rg->wanted_links < 2 || !smcr_llc_offer_link(link, true)) {
		ask_for_second(link);
	}
}

/*
 * Client: reply to the first CONFIRM LINK. A server that has the reply may name the group to other
 * connections at once, so the client lets them join before it replies.
 *
 * A server that loses the link before it has the reply declines. So first contact does not end
 * before the server's port has acknowledged the reply or, if a second link may follow, before ADD
 * LINK proves that the server has the reply.
 */
static void answer_confirm_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smcr_llc *llc = &rg->llc;

	smcr_group_let_join(rg);
	smcr_link_activate(link);
	/* Before the reply is posted, because send_done() reads @unproved */
	llc->proved_by = READ_ONCE(link->head) + 1;
	if (rg->max_links < 2)
		WRITE_ONCE(llc->unproved, link);
	smcr_llc_fill_confirm_link(link);
	smcr_llc_reply(link);
	if (rg->max_links < 2)
		smcr_llc_flow_over(rg);
	else
		smcr_llc_await(rg, SMC_LLC_FLOW_ADD, link);
}

/**
 * smcr_llc_check_answer() - client: end first contact if the server's port has our reply
 * @rg: the group
 */
void smcr_llc_check_answer(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;

	lockdep_assert_held(&llc->mutex);
	if (!llc->unproved || (s32)(READ_ONCE(llc->unproved->tail) - llc->proved_by) < 0)
		return;
	WRITE_ONCE(llc->unproved, NULL);
	smcr_llc_settled(rg, SMC_REASON_NONE);
}

/**
 * smcr_llc_got_confirm_link() - client: process the server's CONFIRM LINK
 * @link: link on which it arrived
 */
void smcr_llc_got_confirm_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	const struct smc_llc_confirm_link *msg = &rg->llc.msg.confirm_link;

	if (link == rg->llc.add.link) {
		if (is_peers_end(link, msg) && msg->link_num == link->number)
			smcr_llc_confirm_added(link);
		else
			smcr_llc_violation(link, "CONFIRM LINK of another link");
		return;
	}
	if (rg->llc.flow != SMC_LLC_FLOW_CONFIRM || link != rg->llc.flow_link) {
		smcr_llc_violation(link, "CONFIRM LINK of an active link");
		return;
	}
	if (!is_peers_end(link, msg)) {
		smcr_llc_settled(rg, SMC_REASON_CONFIRM_DIFFERS);
		smcr_llc_violation(link, "CONFIRM LINK of another link");
		return;
	}
	link->number = msg->link_num;
	take_confirm_link(link, msg);
	if (smcr_link_start(link)) {
		fail_first_contact(link, SMC_REASON_LINK_BUFFER);
		return;
	}
	answer_confirm_link(link);
}

/**
 * smcr_llc_reply_confirm_link() - server: process the client's reply to CONFIRM LINK
 * @link: link on which it arrived
 */
void smcr_llc_reply_confirm_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	const struct smc_llc_confirm_link *msg = &rg->llc.msg.confirm_link;

	if (link == rg->llc.add.link && rg->llc.add.confirming) {
		if (is_peers_end(link, msg) && msg->link_num == link->number)
			smcr_llc_added(link);
		else
			smcr_llc_violation(link, "CONFIRM LINK of another link");
		return;
	}
	if (rg->llc.flow != SMC_LLC_FLOW_CONFIRM || link != rg->llc.flow_link) {
		smcr_llc_stray(link);
		return;
	}
	if (!is_peers_end(link, msg) || msg->link_num != link->number) {
		smcr_llc_settled(rg, SMC_REASON_CONFIRM_DIFFERS);
		smcr_llc_violation(link, "CONFIRM LINK of another link");
		return;
	}
	take_confirm_link(link, msg);
	confirmed(link);
}

/**
 * smcr_llc_got_add_link() - client: process the server's ADD LINK
 * @link: link on which it arrived
 *
 * A rejection ends first contact, with one link. The server may offer another link before the
 * former one is complete: it has given that one up.
 */
void smcr_llc_got_add_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smc_llc_add_link *msg = &rg->llc.msg.add_link;
	bool good_mtu = smc_clc_mtu_bytes(msg->mtu);
	u8 number = msg->link_num;

	if (link == rg->llc.add.link) {
		smcr_llc_violation(link, "ADD LINK on a link that is not active");
		return;
	}
	if (rg->llc.add.link && !smcr_llc_replace_offer(rg)) {
		smcr_llc_violation(link, "ADD LINK without end");
		return;
	}
	if (good_mtu && rg->wanted_links > 1 && smcr_llc_accept_link(link))
		return;
	memset(msg, 0, sizeof(*msg));
	msg->rejected = true;
	msg->reject_reason = good_mtu ? SMC_LLC_REJECT_NO_PATH : SMC_LLC_REJECT_MTU;
	memcpy(msg->mac, link->local.mac, sizeof(msg->mac));
	msg->gid = link->local.gid;
	msg->link_num = number;
	smcr_llc_reply(link);
	smcr_llc_flow_over(rg);
	smcr_llc_settled(rg, SMC_REASON_NONE);
}

/* Server: send a request, which the client must reply to */
static int request_delete_link(struct smcr_link *over, u8 number, u32 reason)
{
	struct smcr_llc *llc = &over->group->llc;
	struct smc_llc *msg = &llc->msg;

	llc->deleted = number;
	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_LLC_DELETE_LINK;
	msg->delete_link.link_num = number;
	msg->delete_link.reason = reason;
	return smcr_llc_send(over);
}

/* Client: ask the server to delete the link, by a request of its own */
static int notify_of_delete(struct smcr_link *over, u8 number, u32 reason)
{
	struct smc_llc *msg = &over->group->llc.msg;

	over->group->llc.notified = number;
	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_LLC_DELETE_LINK;
	msg->delete_link.link_num = number;
	msg->delete_link.reason = reason;
	return smcr_llc_send(over);
}

/**
 * smcr_llc_take_back() - delete a link whose addition has failed after the client accepted it
 * @over: a usable link, which carries DELETE LINK
 * @number: number of the failed link
 *
 * The peer must not wait for the link (R-LTO-04). Without a reply, or after a late one, @over stays
 * up. If a server's send queue is full, it sends no DELETE LINK: the client gives up the link after
 * its own timeout. If a client cannot send, @over goes down.
 */
void smcr_llc_take_back(struct smcr_link *over, u8 number)
{
	struct smcr_group *rg = over->group;

	if (rg->role == SMC_CLIENT) {
		if (notify_of_delete(over, number, SMC_LINK_LOST_PATH))
			smcr_link_down(over, SMC_LINK_LOST_PATH);
		return;
	}
	rg->llc.took_back = number;
	smcr_llc_await(rg, SMC_LLC_FLOW_DELETE, NULL);
	if (request_delete_link(over, number, SMC_LINK_LOST_PATH))
		smcr_llc_flow_over(rg);
}

/* Return: false if it must be tried again later */
static bool tell_gone(struct smcr_link *over, const struct smcr_llc_gone *gone)
{
	struct smcr_group *rg = over->group;
	bool server = rg->role == SMC_SERVER;

	if (smc_llc_step(server, rg->llc.flow, SMC_LLC_WANT_DELETE).verdict != SMC_LLC_GO)
		return false;
	if (!server)
		return notify_of_delete(over, gone->number, gone->reason) != -EAGAIN;
	if (request_delete_link(over, gone->number, gone->reason) == -EAGAIN)
		return false;
	smcr_llc_await(rg, SMC_LLC_FLOW_DELETE, NULL);
	return true;
}

/**
 * smcr_llc_tell_gone() - send DELETE LINK for links that went down at this end (R-DL-19)
 * @rg: the group
 *
 * A server waits for each reply before the next request.
 */
void smcr_llc_tell_gone(struct smcr_group *rg)
{
	struct smcr_link *over = smcr_group_link(rg);
	unsigned int i;

	for (i = 0; over && i < SMCR_LINKS; i++) {
		struct smcr_llc_gone *gone = &rg->llc.gone[i];

		if (gone->number && tell_gone(over, gone))
			gone->number = 0;
	}
}

/* Does a reply to DELETE LINK end the exchange in progress, in which a link was taken back? */
static bool is_taking_back(const struct smcr_llc *llc)
{
	return llc->flow == SMC_LLC_FLOW_DELETE && llc->deleted == llc->took_back;
}

/**
 * smcr_llc_reply_add_link() - server: process the client's reply to ADD LINK
 * @link: link on which it arrived
 *
 * A client that replies may report an established connection to its program, so first contact
 * succeeds here, too. If the offered link does not exist (any more), no field but the rejection
 * counts. A client that has accepted must not wait for the link, and gets DELETE LINK. It may give
 * up such a link twice: by a late rejection, too.
 */
void smcr_llc_reply_add_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	bool rejected = rg->llc.msg.add_link.rejected;

	if (rg->llc.add.link) {
		smcr_llc_answer_to_offer(link);
		return;
	}
	if (rejected && is_taking_back(&rg->llc)) {
		smcr_llc_flow_over(rg);
		return;
	}
	if (!rg->llc.given_up || link != rg->llc.flow_link) {
		smcr_llc_stray(link);
		return;
	}
	smcr_llc_settled(rg, SMC_REASON_NONE);
	if (rejected)
		smcr_llc_flow_over(rg);
	else
		smcr_llc_take_back(link, rg->llc.given_up);
}

static void answer_delete_link(struct smcr_link *link, u32 reason)
{
	struct smc_llc_delete_link *msg = &link->group->llc.msg.delete_link;

	msg->reason = reason;
	smcr_llc_reply(link);
}

/**
 * smcr_llc_got_delete_link() - process the peer's DELETE LINK for one link
 * @link: link on which it arrived
 *
 * A client replies, and takes the link down. A server first sends a request of its own. The
 * connections of the link move to another one; without one the group ends.
 */
void smcr_llc_got_delete_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	const struct smc_llc_delete_link *msg = &rg->llc.msg.delete_link;
	struct smcr_link *target = smcr_group_link_by_number(rg, msg->link_num);
	u32 reason = msg->reason;

	if (!target) {
		answer_delete_link(link, SMC_LINK_UNKNOWN);
		return;
	}
	target->agreed = true;
	if (rg->role == SMC_CLIENT) {
		answer_delete_link(link, 0);
		smcr_llc_flush(link);
		smcr_link_down(target, reason);
		return;
	}
	smcr_llc_await(rg, SMC_LLC_FLOW_DELETE, target);
	if (request_delete_link(link, target->number, reason))
		smcr_link_down(target, reason);
}

/**
 * smcr_llc_got_delete_added() - process the peer's DELETE LINK for the link that is being added
 * @link: link on which it arrived
 *
 * The addition ends at once: the peer waits for no message about the link, and sends none. A server
 * sends a request of its own, as for any link, but not before the reply to ADD LINK.
 */
void smcr_llc_got_delete_added(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;

	if (rg->role == SMC_SERVER) {
		smcr_llc_add_failed(rg);
		return;
	}
	answer_delete_link(link, 0);
	smcr_llc_forget_offer(rg);
	smcr_llc_flow_over(rg);
	smcr_llc_settled(rg, SMC_REASON_NONE);
}

/**
 * smcr_llc_reply_delete_link() - the peer has deleted the link, or does not know it (R-DL-17)
 * @link: link on which the reply arrived
 */
void smcr_llc_reply_delete_link(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	u8 number = rg->llc.msg.delete_link.link_num;
	struct smcr_link *target = smcr_group_link_by_number(rg, number);

	if (rg->role == SMC_CLIENT) {
		/* The server had deleted the link before, by a request that we replied to */
		if (!number || number != rg->llc.notified)
			smcr_llc_stray(link);
		return;
	}
	/* The client may use another number for the link that was taken back */
	if ((rg->llc.flow != SMC_LLC_FLOW_DELETE || number != rg->llc.deleted) &&
	    (target || !is_taking_back(&rg->llc))) {
		smcr_llc_stray(link);
		return;
	}
	smcr_llc_flow_over(rg);
	if (target)
		smcr_link_down(target, SMC_LINK_OPERATOR);
}

/**
 * smcr_llc_send_delete_all() - send DELETE LINK for all links
 * @link: link that carries it
 * @reason: enum smc_link_reason
 */
void smcr_llc_send_delete_all(struct smcr_link *link, u32 reason)
{
	struct smc_llc *msg = &link->group->llc.msg;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_LLC_DELETE_LINK;
	msg->delete_link.all = true;
	msg->delete_link.orderly = true;
	msg->delete_link.reason = reason;
	if (smcr_llc_send(link))
		smcr_link_down(link, SMC_LINK_LOST_PATH);
}

/**
 * smcr_llc_got_delete_all() - process the peer's DELETE LINK for all links
 * @link: link on which it arrived
 *
 * All links go down. A server first replies with the same message, unless it has sent that before
 * (R-DL-13, R-DL-14).
 */
void smcr_llc_got_delete_all(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	u32 reason = rg->llc.msg.delete_link.reason;
	unsigned int i;

	if (rg->role == SMC_SERVER && !rg->llc.ended) {
		smcr_llc_send_delete_all(link, reason);
		smcr_llc_flush(link);
	}
	smcr_llc_settled(rg, SMC_REASON_NO_ACTIVE_LINK);
	smcr_llc_flow_over(rg);
	for (i = 0; i < SMCR_LINKS; i++)
		smcr_link_down(&rg->links[i], reason);
	smcr_llc_closed(rg);
}

/**
 * smcr_llc_got_hint() - server: process the client's hint that another link is possible
 * @link: link on which it arrived
 *
 * It leads to no offer. The hint of version 1 needs no reply (R-AL-19), that of version 2 gets one
 * (V2-HA-15, V2-HA-16, S-41).
 */
void smcr_llc_got_hint(struct smcr_link *link)
{
	struct smc_llc *msg = &link->group->llc.msg;

	if (msg->version == 1)
		return;
	msg->request_add_link.rejected = msg->request_add_link.bad_gids ||
					 !msg->request_add_link.nr_gids;
	smcr_llc_reply(link);
}

/**
 * smcr_llc_got_test_link() - reply to the peer's TEST LINK
 * @link: link on which it arrived
 */
void smcr_llc_got_test_link(struct smcr_link *link)
{
	smcr_llc_reply(link);
}

/**
 * smcr_llc_send_test() - send TEST LINK
 * @link: the link to test
 */
void smcr_llc_send_test(struct smcr_link *link)
{
	struct smcr_llc *llc = &link->group->llc;
	struct smcr_llc_test *test = &llc->tests[smcr_link_index(link)];

	get_random_bytes(test->data, sizeof(test->data));
	memset(&llc->msg, 0, sizeof(llc->msg));
	llc->msg.type = SMC_LLC_TEST_LINK;
	memcpy(llc->msg.test_link.data, test->data, sizeof(test->data));
	test->sent = jiffies;
	test->outstanding = true;
	if (smcr_llc_send(link) == -EAGAIN)
		test->outstanding = false;
}

/**
 * smcr_llc_reply_test_link() - process the reply to our TEST LINK
 * @link: link on which it arrived
 */
void smcr_llc_reply_test_link(struct smcr_link *link)
{
	struct smcr_llc *llc = &link->group->llc;
	struct smcr_llc_test *test = &llc->tests[smcr_link_index(link)];

	if (!test->outstanding)
		smcr_llc_stray(link);
	else if (memcmp(llc->msg.test_link.data, test->data, sizeof(test->data)))
		smcr_llc_violation(link, "TEST LINK with other data");	/* R-TL-04 */
	test->outstanding = false;
}
