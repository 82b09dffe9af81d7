// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link layer control: another link, from ADD LINK to its CONFIRM LINK.
 *
 *	server				client
 *	ADD LINK (port, queue pair)  ->			its queue pair can receive
 *				     <-	ADD LINK, or a rejection
 *	keys of all RMBs	    <->	the same	within ADD LINK in version 2, by
 *							ADD LINK CONTINUATION in version 1
 *	CONFIRM LINK on the new link ->			now both can send
 *				     <-	CONFIRM LINK on it
 *
 * The last two messages use the new link, the others an active one. Most failures end the new link
 * only; a peer that has created its end gets a DELETE LINK. If the peer does not reply on the
 * active link, that goes down, too.
 */

#include <linux/random.h>

#include "../wire/reason.h"
#include "device.h"
#include "group.h"
#include "paths.h"
#include "topology.h"

#define MAX_ROUNDS	(SMC_LLC_MAX_RTOKENS / SMC_LLC_CONT_RTOKENS + 1)
#define MAX_REPLACED	4
#define RETRY_FIRST	(10 * HZ)
#define RETRY_LAST	(600 * HZ)

static struct smcr_link *find_unused(struct smcr_group *rg)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (READ_ONCE(rg->links[i].state) == SMCR_LINK_UNUSED)
			return &rg->links[i];
	return NULL;
}

/**
 * smcr_llc_next_number() - server: choose the number of another link
 * @rg: the group
 *
 * Return: the number.
 */
u8 smcr_llc_next_number(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	u8 used[SMCR_LINKS];
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		used[i] = rg->links[i].number;
	llc->last_number = smc_link_next_number(max_t(u8, llc->last_number, 1), used, SMCR_LINKS);
	return llc->last_number;
}

/* Create a queue pair and choose keys, on our port @gid. Return: the link, FORMING, or NULL */
static struct smcr_link *create_on_port(struct smcr_link *over, struct smcr_gid *gid)
{
	struct smcr_link *link = find_unused(over->group);

	if (!link || smcr_link_create(link, gid))
		return NULL;
	if (!smcr_link_choose_keys(link))
		return link;
	link->agreed = true;	/* the peer does not know it */
	smcr_link_down(link, SMC_LINK_LOST_PATH);
	return NULL;
}

static void begin_add_link(struct smcr_link *link, struct smcr_link *over)
{
	over->group->llc.add = (struct smcr_llc_add){ .link = link, .over = over };
	over->group->llc.offered_at = jiffies;
}

static void fill_add_link(struct smcr_link *link, struct smcr_link *over)
{
	struct smcr_group *rg = link->group;
	struct smc_llc_add_link *out = &rg->llc.msg.add_link;

	memset(&rg->llc.msg, 0, sizeof(rg->llc.msg));
	rg->llc.msg.type = SMC_LLC_ADD_LINK;
	rg->llc.msg.version = rg->version;
	memcpy(out->mac, link->local.mac, sizeof(out->mac));
	out->gid = link->local.gid;
	out->qpn = link->local.qpn;
	out->psn = link->local.psn;
	out->mtu = link->local.mtu;
	out->link_num = link->number;
	if (rg->version == 2)
		out->nr_rtokens = min_t(unsigned int, SMC_LLC_MAX_RTOKENS,
					smcr_memory_list(over, link, 0, out->rtokens,
							 SMC_LLC_MAX_RTOKENS));
}

static void set_peer(struct smcr_link *link, const struct smc_llc_add_link *msg)
{
	link->peer.gid = msg->gid;
	memcpy(link->peer.mac, msg->mac, sizeof(link->peer.mac));
	link->peer.qpn = msg->qpn;
	link->peer.psn = msg->psn;
	link->peer.mtu = msg->mtu;
}

/*
 * Ignore keys of RMBs that this end does not know, or no longer knows. A key that contradicts an
 * earlier message ends the new link.
 */
static int store_peer_keys(struct smcr_llc *llc, const struct smc_llc_rtoken *keys, unsigned int nr)
{
	struct smcr_link *link = llc->add.link;
	int err = 0;

	for (; nr && !err; nr--, keys++) {
		err = smcr_rtoken_add_other(llc->add.over, keys->reference_rkey, link, keys->rkey,
					    keys->addr);
		if (err == -ENOENT)
			err = 0;
	}
	return err;
}

/* The new link works. A first contact has waited for it. */
static void finish_add_link(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;

	smcr_link_activate(llc->add.link);
	memset(&llc->add, 0, sizeof(llc->add));
	llc->add_wait = RETRY_FIRST;
	smcr_llc_flow_over(rg);
	smcr_llc_settled(rg, SMC_REASON_NONE);
}

/**
 * smcr_llc_forget_offer() - the link that is being added goes down; the caller ends the exchange
 * @rg: the group
 */
void smcr_llc_forget_offer(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_link *link = llc->add.link;

	memset(&llc->add, 0, sizeof(llc->add));
	link->agreed = true;
	smcr_link_down(link, SMC_LINK_LOST_PATH);
}

/**
 * smcr_llc_replace_offer() - client: the server offers another link before the former is complete
 * @rg: the group
 *
 * The former link goes down. A first contact does not wait for the other one.
 *
 * Return: false if the server has done that too often: other exchanges wait meanwhile.
 */
bool smcr_llc_replace_offer(struct smcr_group *rg)
{
	if (rg->llc.replaced == MAX_REPLACED)
		return false;
	rg->llc.replaced++;
	smcr_llc_forget_offer(rg);
	smcr_llc_settled(rg, SMC_REASON_NONE);
	return true;
}

/* smcr_llc_forget_offer(), and a server waits longer before its next offer */
static void give_up_offer(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;

	smcr_llc_forget_offer(rg);
	llc->add_wait = clamp_t(unsigned long, 2 * llc->add_wait, RETRY_FIRST, RETRY_LAST);
	llc->add_at = jiffies + llc->add_wait;
}

/* First contact succeeds with one link (R-FC-14) */
static void abandon_add_link(struct smcr_group *rg)
{
	give_up_offer(rg);
	smcr_llc_flow_over(rg);
	smcr_llc_settled(rg, SMC_REASON_NONE);
}

/**
 * smcr_llc_offer_link() - server: offer another link
 * @over: link that carries the messages
 * @probe: without another port, offer one that is in use: the client may have a second port
 *
 * Return: whether the exchange has begun; it may have failed already.
 */
bool smcr_llc_offer_link(struct smcr_link *over, bool probe)
{
	struct smcr_group *rg = over->group;
	struct smcr_gid *gid = smcr_path_to_offer(rg, probe);
	struct smcr_link *link;

	link = gid ? create_on_port(over, gid) : NULL;
	if (gid)
		smcr_gid_put(gid);
	if (!link)
		return false;
	link->number = smcr_llc_next_number(rg);
	begin_add_link(link, over);
	fill_add_link(link, over);
	smcr_llc_await(rg, SMC_LLC_FLOW_ADD, over);
	if (smcr_llc_send(over))
		abandon_add_link(rg);	/* the client owes no reply */
	return true;
}

/*
 * Server: the new link is lost before the client has replied to ADD LINK. The exchange stays in
 * progress until the reply, or its deadline. A client that has accepted waits for the next message
 * of the exchange, and begins or answers no other one. If the server began another one, each end
 * would wait for the other.
 */
static void wait_for_reply(struct smcr_group *rg)
{
	u8 number = rg->llc.add.link->number;

	give_up_offer(rg);
	rg->llc.given_up = number;
	smcr_llc_settled(rg, SMC_REASON_NONE);
}

/**
 * smcr_llc_add_failed() - end the addition of a link
 * @rg: the group
 *
 * If the client has accepted the link, the peer may wait for it, and gets DELETE LINK (R-LTO-03,
 * R-LTO-04, R-LTO-09, R-LTO-10). If the client has not replied yet, the exchange ends when it does:
 * see smcr_llc.given_up.
 */
void smcr_llc_add_failed(struct smcr_group *rg)
{
	struct smcr_llc_add was = rg->llc.add;
	u8 number = was.link->number;

	if (!was.accepted) {
		wait_for_reply(rg);
		return;
	}
	abandon_add_link(rg);
	if (smcr_link_usable(was.over))
		smcr_llc_take_back(was.over, number);
}

static void send_confirm_link(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_link *link = llc->add.link;

	llc->add.confirming = true;
	smcr_llc_fill_confirm_link(link);
	smcr_llc_await(rg, SMC_LLC_FLOW_ADD, link);
	if (smcr_llc_send(link))
		smcr_llc_add_failed(rg);
}

/* Add as many of our keys as fit. Return: number of keys for later messages */
static unsigned int fill_keys(struct smcr_group *rg)
{
	struct smcr_llc_add *add = &rg->llc.add;
	struct smc_llc_add_link_cont *out = &rg->llc.msg.add_link_cont;
	unsigned int nr, here;

	memset(&rg->llc.msg, 0, sizeof(rg->llc.msg));
	rg->llc.msg.type = SMC_LLC_ADD_LINK_CONT;
	rg->llc.msg.version = rg->version;
	out->link_num = add->link->number;
	nr = smcr_memory_list(add->over, add->link, add->told, out->rtokens, SMC_LLC_CONT_RTOKENS);
	nr = min_t(unsigned int, nr, SMC_LLC_MAX_RTOKENS - add->told);
	here = min_t(unsigned int, nr, SMC_LLC_CONT_RTOKENS);
	out->nr_left = nr;
	add->told += here;
	return nr - here;
}

/* Server, version 1 */
static void send_keys(struct smcr_group *rg)
{
	struct smcr_llc_add *add = &rg->llc.add;

	add->left = fill_keys(rg);
	smcr_llc_await(rg, SMC_LLC_FLOW_ADD, add->over);
	if (smcr_llc_send(add->over))
		smcr_llc_add_failed(rg);
}

/* Do the two ends still exchange keys of a new link, by messages on @over? */
static bool is_exchanging_keys(const struct smcr_link *over)
{
	const struct smcr_llc_add *add = &over->group->llc.add;

	return add->link && add->over == over && !add->confirming;
}

/* Server: connect the new link to the client's end, which the reply names */
static int connect_new_link(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	const struct smc_llc_add_link *msg = &llc->msg.add_link;
	struct smcr_link *link = llc->add.link;
	int err;

	set_peer(link, msg);
	if (!msg->qpn || !smc_clc_mtu_bytes(msg->mtu) || !smcr_path_fits(link))
		return -EPROTO;
	err = store_peer_keys(llc, msg->rtokens, msg->nr_rtokens);
	if (!err)
		err = smcr_link_connect(link);
	if (!err)
		err = smcr_link_start(link);
	return err;
}

/**
 * smcr_llc_answer_to_offer() - server: process the client's reply to smcr_llc_offer_link()
 * @over: link on which it arrived
 *
 * Ignores the link number of the reply: one link is added at a time.
 */
void smcr_llc_answer_to_offer(struct smcr_link *over)
{
	struct smcr_group *rg = over->group;
	struct smcr_llc *llc = &rg->llc;
	const struct smc_llc_add_link *msg = &llc->msg.add_link;

	if (llc->add.accepted || llc->add.over != over) {
		smcr_llc_stray(over);
		return;
	}
	if (msg->rejected) {
		abandon_add_link(rg);
		return;
	}
	llc->add.accepted = true;
	if (msg->unfit || connect_new_link(rg))
		smcr_llc_add_failed(rg);
	else if (rg->version == 1)
		send_keys(rg);
	else
		send_confirm_link(rg);
}

/* Client: create the new link on @port, and connect it. The caller replies. */
static int build_accepted_link(struct smcr_link *over, struct smcr_gid *port)
{
	struct smcr_llc *llc = &over->group->llc;
	const struct smc_llc_add_link *msg = &llc->msg.add_link;
	struct smcr_link *link = create_on_port(over, port);
	int err;

	if (!link)
		return -ENOMEM;
	link->number = msg->link_num;
	begin_add_link(link, over);
	set_peer(link, msg);
	err = store_peer_keys(llc, msg->rtokens, msg->nr_rtokens);
	return err ?: smcr_link_connect(link);
}

/**
 * smcr_llc_accept_link() - client: create the link that the server offers
 * @over: link on which ADD LINK arrived
 *
 * Return: false if that failed; then the caller replies.
 */
bool smcr_llc_accept_link(struct smcr_link *over)
{
	struct smcr_group *rg = over->group;
	struct smcr_llc *llc = &rg->llc;
	const struct smc_llc_add_link *msg = &llc->msg.add_link;
	struct smcr_gid *port;
	int err;

	if (!msg->qpn || smcr_group_link_by_number(rg, msg->link_num))
		return false;
	port = smcr_path_to_accept(rg, msg);
	if (!port)
		return false;
	err = build_accepted_link(over, port);
	smcr_gid_put(port);
	if (err && llc->add.link)
		abandon_add_link(rg);
	if (err)
		return false;
	llc->add.accepted = true;
	fill_add_link(llc->add.link, over);
	llc->msg.add_link.direct = llc->add.link->direct;
	smcr_llc_await(rg, SMC_LLC_FLOW_ADD, rg->version == 1 ? over : llc->add.link);
	smcr_llc_reply(over);
	return true;
}

/**
 * smcr_llc_got_add_link_cont() - client: store keys of the server's RMBs, reply with ours
 * @over: link on which the message arrived
 */
void smcr_llc_got_add_link_cont(struct smcr_link *over)
{
	struct smcr_group *rg = over->group;
	const struct smc_llc_add_link_cont *msg = &rg->llc.msg.add_link_cont;
	struct smcr_llc_add *add = &rg->llc.add;
	unsigned int here = min_t(u8, msg->nr_left, SMC_LLC_CONT_RTOKENS);
	bool more = msg->nr_left > here;

	if (!is_exchanging_keys(over) || msg->link_num != add->link->number) {
		smcr_llc_stray(over);	/* DELETE LINK reports that the link was given up */
		return;
	}
	if (add->rounds++ >= MAX_ROUNDS) {
		smcr_llc_violation(over, "ADD LINK CONTINUATION without end");
		return;
	}
	if (store_peer_keys(&rg->llc, msg->rtokens, here)) {
		smcr_llc_add_failed(rg);
		return;
	}
	more |= fill_keys(rg) > 0;
	smcr_llc_await(rg, SMC_LLC_FLOW_ADD, more ? over : add->link);
	smcr_llc_reply(over);
}

/**
 * smcr_llc_reply_add_link_cont() - server: store keys of the client's RMBs
 * @over: link on which the message arrived
 *
 * Ignores the link number: one link is added at a time. Linux clients count RMBs in different ways.
 */
void smcr_llc_reply_add_link_cont(struct smcr_link *over)
{
	struct smcr_group *rg = over->group;
	const struct smc_llc_add_link_cont *msg = &rg->llc.msg.add_link_cont;
	struct smcr_llc_add *add = &rg->llc.add;
	unsigned int here = min_t(u8, msg->nr_left, SMC_LLC_CONT_RTOKENS);
	bool more = msg->nr_left > here;

	if (!is_exchanging_keys(over) || !add->accepted)
		smcr_llc_stray(over);
	else if (add->rounds++ >= MAX_ROUNDS)
		smcr_llc_violation(over, "ADD LINK CONTINUATION without end");
	else if (store_peer_keys(&rg->llc, msg->rtokens, here))
		smcr_llc_add_failed(rg);
	else if (more || add->left)
		send_keys(rg);
	else
		send_confirm_link(rg);
}

/**
 * smcr_llc_confirm_added() - client: reply to CONFIRM LINK on the new link
 * @link: the new link; its CONFIRM LINK is verified
 */
void smcr_llc_confirm_added(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;

	if (smcr_link_start(link)) {
		smcr_llc_add_failed(rg);
		return;
	}
	smcr_llc_fill_confirm_link(link);
	smcr_llc_reply(link);
	finish_add_link(rg);
}

/**
 * smcr_llc_added() - server: the client has replied to CONFIRM LINK on the new link
 * @link: the new link; the reply is verified
 */
void smcr_llc_added(struct smcr_link *link)
{
	finish_add_link(link->group);
}

/**
 * smcr_llc_add_link_down() - end the addition of a link if it depends on a link that went down
 * @link: the link that went down
 *
 * If that carries the messages, the new link goes down, too: the exchange is not repeated on
 * another link (R-LLC-16).
 */
void smcr_llc_add_link_down(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	const struct smcr_llc_add *add = &rg->llc.add;

	if (!add->link)
		return;
	if (add->link == link) {
		smcr_llc_add_failed(rg);
	} else if (add->over == link) {
		/* At first contact no link is left. The caller reports that. */
		give_up_offer(rg);
		smcr_llc_flow_over(rg);
	}
}

static unsigned int count_usable(struct smcr_group *rg)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMCR_LINKS; i++)
		nr += smcr_link_usable(&rg->links[i]);
	return nr;
}

/**
 * smcr_llc_ports_changed() - server: a port may allow another link
 * @rg: the group
 *
 * Any context.
 */
void smcr_llc_ports_changed(struct smcr_group *rg)
{
	if (count_usable(rg) >= rg->wanted_links)
		return;
	WRITE_ONCE(rg->llc.ports_changed, true);
	smcr_llc_kick(rg);
}

/*
 * A change of ports brings the next offer forward. The client may reject each offer, and addresses
 * may change all the time, so the minimum time since the last offer grows with the number of
 * failures. Return: the next offer, in jiffies.
 */
static unsigned long next_offer(const struct smcr_llc *llc)
{
	unsigned long soon = llc->offered_at + max_t(unsigned long, HZ, llc->add_wait / 8);

	if (READ_ONCE(llc->ports_changed) && time_before(soon, llc->add_at))
		return soon;
	return llc->add_at;
}

/**
 * smcr_llc_check_redundancy() - server: offer another link if one is missing
 * @rg: the group
 *
 * Return: jiffies until the next check; MAX_JIFFY_OFFSET if only an event makes one necessary.
 */
unsigned long smcr_llc_check_redundancy(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_link *over = smcr_group_link(rg);
	unsigned int nr = count_usable(rg);
	unsigned long now = jiffies, at = next_offer(llc);
	struct smc_llc_step step;

	if (rg->role != SMC_SERVER || !READ_ONCE(rg->settled) || !over ||
	    nr >= min(rg->max_links, rg->wanted_links))
		return MAX_JIFFY_OFFSET;
	if (time_before(now, at))
		return at - now;
	step = smc_llc_step(true, llc->flow, SMC_LLC_WANT_ADD);
	if (step.verdict != SMC_LLC_GO)
		return MAX_JIFFY_OFFSET;	/* the end of the exchange leads here again */
	WRITE_ONCE(llc->ports_changed, false);	/* before the ports are read */
	llc->add_at = now + max_t(unsigned long, llc->add_wait, RETRY_FIRST);
	smcr_llc_offer_link(over, false);
	return llc->add_at - now;
}
