// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link layer control about memory: CONFIRM RKEY and DELETE RKEY.
 *
 * One RMB is announced at a time, for all links. When none is being announced, one RMB at a time is
 * withdrawn.
 */

#include "../net.h"
#include "../wire/reason.h"
#include "group.h"

#define MAX_TRIES	5	/* of a CONFIRM RKEY; the peer asks for them while links change */
#define TRY_AGAIN	(HZ / 5)
#define IDLE_SHARE	10	/* of the group's idle timeout: when unused memory is freed */

/* Index of the next usable link except @link, from @from on; SMCR_LINKS if no link is usable */
static unsigned int next_other(struct smcr_group *rg, const struct smcr_link *link,
			       unsigned int from)
{
	for (; from < SMCR_LINKS; from++)
		if (&rg->links[from] != link && smcr_link_usable(&rg->links[from]))
			break;
	return from;
}

static u8 count_others(struct smcr_group *rg, const struct smcr_link *link, unsigned int from)
{
	u8 nr = 0;

	while ((from = next_other(rg, link, from)) < SMCR_LINKS) {
		from++;
		nr++;
	}
	return nr;
}

/* Add @nr other links to a message; the caller has counted them */
static void fill_others(struct smcr_group *rg, struct smc_llc_other_link *out, unsigned int nr)
{
	struct smcr_llc_announcement *now = &rg->llc.announcement;
	const struct smcr_registration *registration;
	unsigned int i;

	for (; nr; nr--, out++) {
		i = next_other(rg, now->link, now->next);
		if (i == SMCR_LINKS)
			return;	/* a link went down meanwhile; the peer notices it, too */
		registration = &now->rmb->links[i];
		out->link_num = rg->links[i].number;
		if (registration->mr) {
			out->rkey = registration->mr->rkey;
			out->addr = registration->mr->iova;
		}
		now->next = i + 1;
	}
}

/*
 * Store the result for report() in llc.c. The state changes now: the peer knows the RMB, and the
 * next message may be an ADD LINK, which lists such RMBs.
 */
static void done(struct smcr_group *rg, struct smcr_rmb *rmb, int err)
{
	spin_lock_bh(&rg->lock);
	WRITE_ONCE(rmb->state, err ? SMCR_RMB_REFUSED : SMCR_RMB_ANNOUNCED);
	spin_unlock_bh(&rg->lock);
	rmb->llc_error = err;
	list_add_tail(&rmb->llc_node, &rg->llc.done);
}

/* End the announcement in progress */
static void finish(struct smcr_group *rg, int err)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_rmb *rmb = llc->announcement.rmb;

	memset(&llc->announcement, 0, sizeof(llc->announcement));
	if (llc->flow == SMC_LLC_FLOW_RKEY)
		smcr_llc_flow_over(rg);
	done(rg, rmb, err);
}

static void try_again(struct smcr_group *rg)
{
	rg->llc.announcement.again = true;
	rg->llc.announcement.again_at = jiffies + TRY_AGAIN;
}

static void send_confirm_rkey(struct smcr_group *rg)
{
	struct smcr_llc_announcement *now = &rg->llc.announcement;
	const struct smcr_registration *registration;
	struct smc_llc_confirm_rkey *out = &rg->llc.msg.confirm_rkey;
	int err;

	registration = &now->rmb->links[smcr_link_index(now->link)];
	if (!registration->mr) {
		finish(rg, -ENOLINK);
		return;
	}
	now->next = 0;
	now->left = count_others(rg, now->link, 0);
	memset(&rg->llc.msg, 0, sizeof(rg->llc.msg));
	rg->llc.msg.type = SMC_LLC_CONFIRM_RKEY;
	out->rkey = registration->mr->rkey;
	out->addr = registration->mr->iova;
	out->nr_others = now->left;
	fill_others(rg, out->others, min_t(unsigned int, now->left, SMC_LLC_OTHERS));
	smcr_llc_await(rg, SMC_LLC_FLOW_RKEY, now->link);
	err = smcr_llc_send(now->link);
	if (!err)
		return;
	rg->llc.flow = SMC_LLC_FLOW_NONE;
	if (err == -EAGAIN)
		try_again(rg);
	smcr_llc_flow_over(rg);
	if (err != -EAGAIN)
		finish(rg, err);
}

static void send_continuation(struct smcr_group *rg)
{
	struct smcr_llc_announcement *now = &rg->llc.announcement;
	struct smc_llc_confirm_rkey_cont *out = &rg->llc.msg.confirm_rkey_cont;

	memset(&rg->llc.msg, 0, sizeof(rg->llc.msg));
	rg->llc.msg.type = SMC_LLC_CONFIRM_RKEY_CONT;
	out->nr_left = now->left;
	fill_others(rg, out->others, min_t(unsigned int, now->left, SMC_LLC_CONT_OTHERS));
	smcr_llc_await(rg, SMC_LLC_FLOW_RKEY, now->link);
	if (smcr_llc_send(now->link))
		smcr_link_down(now->link, SMC_LINK_LOST_PATH);
}

/**
 * smcr_llc_announced() - end all announcements, including those not begun
 * @rg: the group
 * @err: their result, 0 or a negative errno
 */
void smcr_llc_announced(struct smcr_group *rg, int err)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_rmb *rmb, *next;

	if (llc->announcement.rmb)
		finish(rg, err);
	list_for_each_entry_safe(rmb, next, &llc->queue, llc_node) {
		list_del(&rmb->llc_node);
		done(rg, rmb, err);
	}
}

/* The RMB to announce next: one that needs a retry, or the first one in the queue */
static struct smcr_rmb *choose(struct smcr_llc *llc)
{
	struct smcr_rmb *rmb = llc->announcement.rmb;

	if (rmb)
		return llc->announcement.again ? rmb : NULL;
	rmb = list_first_entry_or_null(&llc->queue, struct smcr_rmb, llc_node);
	if (rmb)
		list_del(&rmb->llc_node);
	return rmb;
}

/* Begin an announcement. Return: true if it has ended already, so that another one may begin */
static bool announce(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_llc_announcement *now = &llc->announcement;
	struct smc_llc_step step;
	struct smcr_rmb *rmb;

	step = smc_llc_step(rg->role == SMC_SERVER, llc->flow, SMC_LLC_WANT_RKEY);
	if (step.verdict != SMC_LLC_GO)
		return false;
	if (now->again && time_before(jiffies, now->again_at)) {
		llc->retry_send = true;
		return false;
	}
	rmb = choose(llc);
	if (!rmb)
		return false;
	now->rmb = rmb;
	now->again = false;
	now->link = smcr_group_link(rg);
	if (count_others(rg, now->link, 0) && !smcr_rmb_is_registered(rg, rmb)) {
		now->again = true;
		now->again_at = jiffies + 1;
		llc->retry_send = true;
		return false;
	}
	if (now->link)
		send_confirm_rkey(rg);
	else
		finish(rg, -ENOLINK);
	return !now->rmb;
}

/**
 * smcr_llc_announce_next() - announce an RMB, unless another exchange is in progress
 * @rg: the group
 */
void smcr_llc_announce_next(struct smcr_group *rg)
{
	if (rg->llc.flow == SMC_LLC_FLOW_END)
		smcr_llc_announced(rg, -ENOLINK);
	else
		while (announce(rg))
			;
}

/* A negative reply is final, unless it asks for a retry (R-RK-08) */
static void was_refused(struct smcr_group *rg, bool retry)
{
	struct smcr_llc_announcement *now = &rg->llc.announcement;

	if (!retry || ++now->tries >= MAX_TRIES) {
		finish(rg, -EREMOTEIO);
		return;
	}
	try_again(rg);
	if (rg->llc.flow == SMC_LLC_FLOW_RKEY)
		smcr_llc_flow_over(rg);
}

static bool is_answer(const struct smcr_link *link)
{
	const struct smcr_llc_announcement *now = &link->group->llc.announcement;

	return now->rmb && !now->again && now->link == link;
}

/* The peer has accepted the last message, which had room for @room other links */
static void was_accepted(struct smcr_group *rg, u8 room)
{
	struct smcr_llc_announcement *now = &rg->llc.announcement;

	now->left -= min(now->left, room);
	if (now->left)
		send_continuation(rg);
	else
		finish(rg, 0);
}

/**
 * smcr_llc_reply_confirm_rkey() - process the reply to our CONFIRM RKEY
 * @link: link on which it arrived
 */
void smcr_llc_reply_confirm_rkey(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	const struct smc_llc_confirm_rkey *msg = &rg->llc.msg.confirm_rkey;
	const struct smcr_llc_announcement *now = &rg->llc.announcement;
	const struct ib_mr *mr;

	mr = is_answer(link) ? now->rmb->links[smcr_link_index(link)].mr : NULL;
	if (!mr || msg->rkey != mr->rkey)
		smcr_llc_stray(link);
	else if (msg->negative)
		was_refused(rg, msg->retry);
	else
		was_accepted(rg, SMC_LLC_OTHERS);
}

/**
 * smcr_llc_reply_confirm_rkey_cont() - process the reply to our CONFIRM RKEY CONTINUATION
 * @link: link on which it arrived
 */
void smcr_llc_reply_confirm_rkey_cont(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	const struct smc_llc_confirm_rkey_cont *msg = &rg->llc.msg.confirm_rkey_cont;

	if (!is_answer(link) || msg->nr_left != rg->llc.announcement.left)
		smcr_llc_stray(link);
	else if (msg->negative)
		was_refused(rg, false);
	else
		was_accepted(rg, SMC_LLC_CONT_OTHERS);
}

/* Ignore keys for links that are removed or not created yet */
static int take_others(struct smcr_link *link, u32 rkey, const struct smc_llc_other_link *others,
		       unsigned int nr)
{
	struct smcr_link *other;
	int err = 0;

	for (; nr && !err; nr--, others++) {
		other = smcr_group_link_by_number(link->group, others->link_num);
		if (other && other != link)
			err = smcr_rtoken_add_other(link, rkey, other, others->rkey, others->addr);
	}
	return err;
}

/*
 * Store the first key of an RMB. If the link of an earlier announcement went down before our reply
 * arrived, the peer announces the RMB again over another link: its entry is known by the key on a
 * link that is left. An entry that contradicts is that of a former RMB.
 */
static int take_rmb(struct smcr_link *link, const struct smc_llc_confirm_rkey *msg, unsigned int nr)
{
	const struct smc_llc_other_link *others = msg->others;
	bool is_known = smcr_rtoken_is_known(link, msg->rkey);
	struct smcr_link *other;

	for (; nr && !is_known; nr--, others++) {
		other = smcr_group_link_by_number(link->group, others->link_num);
		is_known = other && other != link &&
			   !smcr_rtoken_add_other(other, others->rkey, link, msg->rkey, msg->addr);
	}
	return min(smcr_rtoken_add(link, msg->rkey, msg->addr), 0);
}

/**
 * smcr_llc_got_confirm_rkey() - store the keys of the peer's new RMB
 * @link: link on which CONFIRM RKEY arrived
 *
 * If the table is full, the reply is negative, without retry. An RMB that is announced twice
 * must have the same keys and addresses.
 */
void smcr_llc_got_confirm_rkey(struct smcr_link *link)
{
	struct smcr_llc *llc = &link->group->llc;
	struct smc_llc_confirm_rkey *msg = &llc->msg.confirm_rkey;
	u8 here = min_t(u8, msg->nr_others, SMC_LLC_OTHERS);
	int err;

	if (llc->continued.link || msg->nr_others > SMC_LLC_MAX_RTOKENS - 1) {
		smcr_llc_violation(link, "CONFIRM RKEY within another one");
		return;
	}
	err = take_rmb(link, msg, here);
	if (!err)
		err = take_others(link, msg->rkey, msg->others, here);
	if (err && err != -ENOSPC) {
		smcr_llc_violation(link, "CONFIRM RKEY contradicts an earlier one");
		return;
	}
	if (!err && msg->nr_others > here)
		llc->continued = (struct smcr_llc_continued){
			.link = link, .rkey = msg->rkey, .left = msg->nr_others - here,
		};
	msg->negative = err;
	msg->retry = false;
	smcr_llc_reply(link);
}

/**
 * smcr_llc_got_confirm_rkey_cont() - store further keys of the peer's new RMB
 * @link: link on which CONFIRM RKEY CONTINUATION arrived
 */
void smcr_llc_got_confirm_rkey_cont(struct smcr_link *link)
{
	struct smcr_llc *llc = &link->group->llc;
	struct smcr_llc_continued *continued = &llc->continued;
	struct smc_llc_confirm_rkey_cont *msg = &llc->msg.confirm_rkey_cont;
	u8 here = min_t(u8, msg->nr_left, SMC_LLC_CONT_OTHERS);

	if (continued->link != link || continued->left != msg->nr_left ||
	    take_others(link, continued->rkey, msg->others, here)) {
		smcr_llc_violation(link, "CONFIRM RKEY CONTINUATION continues nothing");
		return;
	}
	continued->left -= here;
	if (!continued->left)
		continued->link = NULL;
	msg->negative = false;
	smcr_llc_reply(link);
}

/**
 * smcr_llc_got_delete_rkey() - remove RMBs that the peer withdraws
 * @link: link on which DELETE RKEY arrived
 *
 * The reply names those that are not known (R-RK-18, V2-LLC-16).
 */
void smcr_llc_got_delete_rkey(struct smcr_link *link)
{
	struct smc_llc *msg = &link->group->llc.msg;
	struct smc_llc_delete_rkey *keys = &msg->delete_rkey;
	unsigned int i, nr_failed = 0;
	u8 mask = 0;

	for (i = 0; i < keys->nr_rkeys; i++) {
		u32 rkey = keys->rkeys[i];

		if (!smcr_rtoken_delete(link, rkey))
			continue;
		if (i < SMC_LLC_V1_MAX_RKEYS)
			mask |= 0x80 >> i;
		/* @nr_failed does not exceed @i. The reply of version 1 repeats all keys. */
		if (msg->version == 2)
			keys->rkeys[nr_failed] = rkey;
		nr_failed++;
	}
	keys->negative = nr_failed;
	keys->nr_failed = nr_failed;
	keys->error_mask = mask;
	smcr_llc_reply(link);
}

/* Return: time after which unused memory is freed, in jiffies; 0 if the group has ended */
static unsigned long idle_time(struct smcr_group *rg)
{
	unsigned long seconds = 0;

	spin_lock_bh(&rg->lock);
	if (rg->group)
		seconds = READ_ONCE(smc_net(rg->net)->knobs.idle_timeout[SMC_MODE_R]);
	spin_unlock_bh(&rg->lock);
	return seconds * HZ / IDLE_SHARE;
}

static void send_delete_rkey(struct smcr_link *link, struct smcr_rmb *rmb)
{
	struct smcr_group *rg = link->group;
	struct smc_llc_delete_rkey *out = &rg->llc.msg.delete_rkey;
	const struct ib_mr *mr = rmb->links[smcr_link_index(link)].mr;

	memset(&rg->llc.msg, 0, sizeof(rg->llc.msg));
	rg->llc.msg.type = SMC_LLC_DELETE_RKEY;
	out->nr_rkeys = 1;
	out->rkeys[0] = mr->rkey;
	rg->llc.withdrawal = (struct smcr_llc_withdrawal){ .rmb = rmb, .link = link };
	smcr_llc_await(rg, SMC_LLC_FLOW_RKEY, link);
	if (smcr_llc_send(link))
		smcr_llc_end_withdrawal(rg);
}

/**
 * smcr_llc_withdraw_next() - free idle send rings, and withdraw an idle RMB
 * @rg: the group
 *
 * Withdraws no RMB while another exchange is in progress. A DELETE RKEY whose link went down before
 * the reply is sent again; announcements do not wait for that.
 */
void smcr_llc_withdraw_next(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_link *link = smcr_group_link(rg);
	unsigned long age = idle_time(rg);
	struct smc_llc_step step;
	struct smcr_rmb *rmb;

	if (!link || !age)
		return;
	smcr_send_rings_trim(rg, age);
	step = smc_llc_step(rg->role == SMC_SERVER, llc->flow, SMC_LLC_WANT_RKEY);
	if (step.verdict != SMC_LLC_GO || llc->announcement.rmb)
		return;
	rmb = llc->withdrawal.rmb ?: smcr_rmb_withdraw(rg, age);
	if (rmb && rmb->links[smcr_link_index(link)].mr)
		send_delete_rkey(link, rmb);
}

/**
 * smcr_llc_end_withdrawal() - end the DELETE RKEY in progress
 * @rg: the group
 *
 * If DELETE RKEY was not sent, smcr_llc_withdraw_next() tries again later.
 *
 * Return: its RMB.
 */
struct smcr_rmb *smcr_llc_end_withdrawal(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_rmb *rmb = llc->withdrawal.rmb;

	memset(&llc->withdrawal, 0, sizeof(llc->withdrawal));
	if (llc->flow == SMC_LLC_FLOW_RKEY)
		smcr_llc_flow_over(rg);
	return rmb;
}

/**
 * smcr_llc_reply_delete_rkey() - process the reply to our DELETE RKEY: free the RMB
 * @link: link on which it arrived
 *
 * A negative reply only means that the peer did not know the RMB (R-RK-19).
 */
void smcr_llc_reply_delete_rkey(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;

	if (rg->llc.withdrawal.link != link)
		smcr_llc_stray(link);
	else
		smcr_rmb_discard(rg, smcr_llc_end_withdrawal(rg));
}

/**
 * smcr_llc_refuse_rkey() - reject the peer's announcement while links change (R-COL-05, R-COL-09)
 * @link: link on which it arrived
 *
 * The reply to CONFIRM RKEY asks for a retry.
 */
void smcr_llc_refuse_rkey(struct smcr_link *link)
{
	struct smc_llc *msg = &link->group->llc.msg;

	if (msg->type == SMC_LLC_CONFIRM_RKEY) {
		msg->confirm_rkey.negative = true;
		msg->confirm_rkey.retry = true;
	} else {
		msg->confirm_rkey_cont.negative = true;
		link->group->llc.continued.link = NULL;
	}
	smcr_llc_reply(link);
}
