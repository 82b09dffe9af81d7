// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link layer control: the work item, which processes messages, requests and deadlines.
 *
 * The work does not wait for the peer: it stores the exchange in progress, and a deadline for the
 * peer. If the peer violates the protocol or misses the deadline, the link goes down (RFC 7609,
 * C.7.1).
 */

#include "../net.h"
#include "../trace.h"
#include "../wire/reason.h"
#include "group.h"

#define TEST_PATIENCE	(5 * HZ)
#define SEVERED_TIME	(5 * HZ)
#define TEST_OFF	(60 * HZ)	/* between checks whether TEST LINK is enabled */
#define RETRY_SEND	(HZ / 50 + 1)
#define FLUSH_TIME	(HZ / 5)
#define CLOSE_TIME	(2 * HZ)
#define CLIENT_EXTRA	(3 * HZ)
#define NEVER		MAX_JIFFY_OFFSET

static bool is_server(const struct smcr_group *rg)
{
	return rg->role == SMC_SERVER;
}

/**
 * smcr_llc_kick() - run the LLC work
 * @rg: the group
 *
 * Any context.
 */
void smcr_llc_kick(struct smcr_group *rg)
{
	smcr_group_get(rg);
	if (mod_delayed_work(smcr_wq, &rg->llc.work, 0))
		smcr_group_put(rg);	/* the queued work has one */
}

/**
 * smcr_llc_received() - copy a message for the LLC work
 * @link: link on which it arrived
 * @head: the message, or its first SMCR_MESSAGE_BYTES; not trusted
 * @tail: the rest of a longer message
 * @len: total length in bytes
 *
 * Softirq. Does not sleep.
 */
void smcr_llc_received(struct smcr_link *link, const void *head, const void *tail, size_t len)
{
	struct smcr_llc *llc = &link->group->llc;
	struct smcr_llc_message *message;

	spin_lock_bh(&llc->lock);
	message = smcr_llc_message_keep(llc, head, tail, len);
	if (message)
		message->link = link;
	spin_unlock_bh(&llc->lock);
	if (message)
		smcr_llc_kick(link->group);
	else
		smcr_llc_violation(link, "too much at once");
}

/**
 * smcr_llc_violation() - take down a link on which the peer violated the protocol (R-LLC-21)
 * @link: the link
 * @what: text for the debug message
 *
 * Any context.
 */
void smcr_llc_violation(struct smcr_link *link, const char *what)
{
	pr_debug_ratelimited("link %#x: LLC violation: %s\n", link->user_id, what);
	smcr_link_down(link, SMC_LINK_PROTOCOL);
}

/* The namespace is only valid while the link group exists */
static void count_stray(struct smcr_group *rg)
{
	spin_lock_bh(&rg->lock);
	if (rg->group)
		this_cpu_inc(smc_net(rg->net)->stats->net[SMC_NET_STAT_LLC_STRAYS]);
	spin_unlock_bh(&rg->lock);
}

/**
 * smcr_llc_stray() - ignore a received message that no exchange waits for
 * @link: the link on which it arrived
 *
 * The peer cannot know whether its reply is late. So the message says nothing about the link.
 */
void smcr_llc_stray(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;

	lockdep_assert_held(&rg->llc.mutex);
	count_stray(rg);
	trace_smcr_llc_stray(rg->net_cookie, link->number, link->user_id, &rg->llc.msg);
}

/**
 * smcr_llc_send() - send smcr_llc.msg as a request
 * @link: over this link
 *
 * Return: 0 or a negative errno. After -EAGAIN the work runs again after RETRY_SEND.
 */
int smcr_llc_send(struct smcr_link *link)
{
	struct smcr_llc *llc = &link->group->llc;
	int err;

	lockdep_assert_held(&llc->mutex);
	llc->msg.version = link->group->version;
	err = smcr_link_send(link, &llc->msg);
	if (err == -EAGAIN)
		llc->retry_send = true;
	return err;
}

/**
 * smcr_llc_reply() - send smcr_llc.msg as a reply
 * @link: link on which the request arrived (R-LLC-08)
 *
 * If the send queue is full, the peer sends requests faster than it receives replies, and the link
 * goes down.
 */
void smcr_llc_reply(struct smcr_link *link)
{
	struct smcr_llc *llc = &link->group->llc;

	lockdep_assert_held(&llc->mutex);
	llc->msg.reply = true;
	if (smcr_link_send(link, &llc->msg))
		smcr_link_down(link, SMC_LINK_LOST_PATH);
}

/**
 * smcr_llc_await() - set the exchange in progress, and a new deadline for the peer
 * @rg: the group
 * @flow: the exchange
 * @link: goes down if the peer misses the deadline; NULL: then only the exchange ends
 */
void smcr_llc_await(struct smcr_group *rg, enum smc_llc_flow flow, struct smcr_link *link)
{
	struct smcr_llc *llc = &rg->llc;

	lockdep_assert_held(&llc->mutex);
	llc->flow = flow;
	llc->flow_link = link;
	llc->given_up = 0;
	llc->deadline = jiffies + smc_llc_patience(flow).seconds * HZ;
	llc->has_deadline = true;
}

/**
 * smcr_llc_flow_over() - end the exchange
 * @rg: the group
 *
 * If it has interrupted our CONFIRM RKEY or DELETE RKEY, that exchange continues (R-COL-11).
 */
void smcr_llc_flow_over(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;

	lockdep_assert_held(&llc->mutex);
	llc->flow_link = NULL;
	llc->has_deadline = false;
	llc->given_up = 0;
	llc->replaced = 0;
	if (llc->flow == SMC_LLC_FLOW_END)
		return;
	if (llc->announcement.rmb && !llc->announcement.again)
		smcr_llc_await(rg, SMC_LLC_FLOW_RKEY, llc->announcement.link);
	else if (llc->withdrawal.link)
		smcr_llc_await(rg, SMC_LLC_FLOW_RKEY, llc->withdrawal.link);
	else
		llc->flow = SMC_LLC_FLOW_NONE;
}

/**
 * smcr_llc_settled() - store the result of the first contact for report()
 * @rg: the group
 * @reason: SMC_REASON_NONE, or why it failed; only the first call has an effect
 */
void smcr_llc_settled(struct smcr_group *rg, u32 reason)
{
	struct smcr_llc *llc = &rg->llc;

	lockdep_assert_held(&llc->mutex);
	if (!llc->settling)
		return;
	llc->settling = false;
	llc->has_outcome = true;
	llc->outcome = reason;
}

static void (*const handlers[SMC_LLC_EVENTS])(struct smcr_link *link) = {
	[SMC_LLC_GOT_CONFIRM_LINK]	= smcr_llc_got_confirm_link,
	[SMC_LLC_GOT_ADD_LINK]		= smcr_llc_got_add_link,
	[SMC_LLC_GOT_ADD_LINK_CONT]	= smcr_llc_got_add_link_cont,
	[SMC_LLC_GOT_DELETE_LINK]	= smcr_llc_got_delete_link,
	[SMC_LLC_GOT_DELETE_ADDED]	= smcr_llc_got_delete_added,
	[SMC_LLC_GOT_DELETE_ALL]	= smcr_llc_got_delete_all,
	[SMC_LLC_GOT_HINT]		= smcr_llc_got_hint,
	[SMC_LLC_GOT_CONFIRM_RKEY]	= smcr_llc_got_confirm_rkey,
	[SMC_LLC_GOT_CONFIRM_RKEY_CONT]	= smcr_llc_got_confirm_rkey_cont,
	[SMC_LLC_GOT_DELETE_RKEY]	= smcr_llc_got_delete_rkey,
	[SMC_LLC_GOT_TEST_LINK]		= smcr_llc_got_test_link,
	[SMC_LLC_REPLY_CONFIRM_LINK]	= smcr_llc_reply_confirm_link,
	[SMC_LLC_REPLY_ADD_LINK]	= smcr_llc_reply_add_link,
	[SMC_LLC_REPLY_ADD_LINK_CONT]	= smcr_llc_reply_add_link_cont,
	[SMC_LLC_REPLY_DELETE_LINK]	= smcr_llc_reply_delete_link,
	[SMC_LLC_REPLY_CONFIRM_RKEY]	= smcr_llc_reply_confirm_rkey,
	[SMC_LLC_REPLY_CONFIRM_RKEY_CONT] = smcr_llc_reply_confirm_rkey_cont,
	[SMC_LLC_REPLY_DELETE_RKEY]	= smcr_llc_reply_delete_rkey,
	[SMC_LLC_REPLY_TEST_LINK]	= smcr_llc_reply_test_link,
};

/* The table also admits replies to REQUEST ADD LINK, which we never send */
static void dispatch(struct smcr_link *link, enum smc_llc_event event)
{
	if (handlers[event])
		handlers[event](link);
	else
		smcr_llc_stray(link);
}

static enum smc_llc_event event_of(const struct smcr_group *rg)
{
	const struct smcr_llc *llc = &rg->llc;
	enum smc_llc_event event = smc_llc_event_of(is_server(rg), &llc->msg);

	if (event == SMC_LLC_GOT_DELETE_LINK && llc->add.link &&
	    llc->msg.delete_link.link_num == llc->add.link->number)
		return SMC_LLC_GOT_DELETE_ADDED;
	return event;
}

static bool defer(struct smcr_llc *llc, struct smcr_llc_message *message)
{
	if (llc->nr_deferred >= SMCR_LLC_DEFERRED_MAX) {
		smcr_llc_violation(message->link, "too much at once");
		return false;
	}
	list_add_tail(&message->list, &llc->deferred);
	llc->nr_deferred++;
	return true;
}

/* Return: whether the message is kept for later */
static bool handle(struct smcr_group *rg, struct smcr_llc_message *message)
{
	struct smcr_link *link = message->link;
	struct smcr_llc *llc = &rg->llc;
	struct smc_llc_step step;
	enum smc_llc_event event;
	int err;

	if (!smcr_link_is_there(link))
		return false;
	err = smc_llc_parse(message->bytes, message->len, &llc->msg);
	if (err == -ENOMSG)
		return false;
	if (err || llc->msg.version != rg->version) {
		smcr_llc_violation(link, "malformed");
		return false;
	}
	trace_smcr_llc(rg->net_cookie, link->number, link->user_id, false, &llc->msg);

	event = event_of(rg);
	step = smc_llc_step(is_server(rg), llc->flow, event);
	switch (step.verdict) {
	case SMC_LLC_GO:
		llc->flow = step.flow;
		dispatch(link, event);
		break;
	case SMC_LLC_LATER:
		return defer(llc, message);
	case SMC_LLC_IGNORE:
		if (llc->msg.reply && llc->flow != SMC_LLC_FLOW_END)
			smcr_llc_stray(link);
		break;
	case SMC_LLC_REFUSE:
		smcr_llc_refuse_rkey(link);
		break;
	case SMC_LLC_BROKEN:
		smcr_llc_violation(link, smc_llc_type_name(llc->msg.type));
		break;
	}
	return false;
}

static void handle_all(struct smcr_group *rg, struct list_head *messages)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_llc_message *message, *next;

	list_for_each_entry_safe(message, next, messages, list) {
		list_del(&message->list);
		if (handle(rg, message))
			continue;
		spin_lock_bh(&llc->lock);
		smcr_llc_message_release(llc, message);
		spin_unlock_bh(&llc->lock);
	}
}

/* Process messages that waited for the end of an exchange; they may have to wait again */
static void handle_deferred(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	LIST_HEAD(messages);

	if (llc->flow != SMC_LLC_FLOW_NONE)
		return;
	list_splice_init(&llc->deferred, &messages);
	llc->nr_deferred = 0;
	handle_all(rg, &messages);
}

/**
 * smcr_llc_why_lost() - the reason of a first contact that failed because its link went down
 * @link: the link
 *
 * Any context. Needs no lock.
 *
 * Return: enum smc_reason, see smc_llc_lost_reason().
 */
u32 smcr_llc_why_lost(const struct smcr_link *link)
{
	bool lost_path = READ_ONCE(link->reason) == SMC_LINK_LOST_PATH;
	bool no_path = lost_path && READ_ONCE(link->no_path);
	struct smcr_group *rg = link->group;
	bool in_doubt;
	u32 why;

	/*
	 * A server that has our reply to CONFIRM LINK is connected. If its port acknowledges
	 * nothing, assume that it has no reply and declines.
	 */
	in_doubt = (lost_path && READ_ONCE(link->severed)) ||
		   (READ_ONCE(rg->llc.unproved) == link && !no_path);
	why = smc_llc_lost_reason(is_server(rg), READ_ONCE(rg->llc.flow), in_doubt);
	return why == SMC_REASON_NO_ACTIVE_LINK && no_path ? SMC_REASON_NO_PATH : why;
}

static void begin_settling(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smcr_llc *llc = &rg->llc;

	llc->settling = true;
	if (llc->flow != SMC_LLC_FLOW_CONFIRM || !smcr_link_is_there(link)) {
		smcr_llc_settled(rg, smcr_llc_why_lost(link));
		return;
	}
	smcr_llc_await(rg, SMC_LLC_FLOW_CONFIRM, link);
	/* The client waits longer: a Decline of the server may follow the server's own deadline */
	if (is_server(rg))
		smcr_llc_start_confirm(link);
	else
		llc->deadline += CLIENT_EXTRA;
}

/* At first contact, received messages wait until CLC is done */
static bool is_begun(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_link *link;

	spin_lock_bh(&llc->lock);
	link = llc->settle;
	llc->settle = NULL;
	spin_unlock_bh(&llc->lock);
	if (link)
		begin_settling(link);
	return llc->flow != SMC_LLC_FLOW_CONFIRM || llc->has_deadline;
}

static void take_received(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	LIST_HEAD(messages);

	spin_lock_bh(&llc->lock);
	list_splice_init(&llc->received, &messages);
	list_splice_tail_init(&llc->wishes, &llc->queue);
	spin_unlock_bh(&llc->lock);
	handle_all(rg, &messages);
}

/* Has the peer missed the deadline of the exchange (R-LTO-01 to R-LTO-20)? */
static void check_deadline(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;

	if (!llc->has_deadline || time_before(jiffies, llc->deadline))
		return;
	if (!llc->flow_link) {
		smcr_llc_flow_over(rg);
		return;
	}
	llc->has_deadline = false;
	if (llc->add.link && llc->flow_link == llc->add.link) {
		smcr_llc_add_failed(rg);	/* the link that carries ADD LINK stays up */
		return;
	}
	if (llc->settling)
		smcr_group_blame_path(llc->flow_link);
	smcr_llc_settled(rg, smc_llc_patience(llc->flow).reason);
	pr_debug_ratelimited("link %#x: no answer, %s\n", llc->flow_link->user_id,
			     smc_llc_flow_name(llc->flow));
	smcr_link_down(llc->flow_link, SMC_LINK_LOST_PATH);
}

static unsigned long time_left(unsigned long time)
{
	return time_before(jiffies, time) ? time - jiffies : 0;
}

static unsigned long test_time(struct smcr_group *rg)
{
	unsigned long seconds = 0;

	spin_lock_bh(&rg->lock);
	if (rg->group)
		seconds = READ_ONCE(smc_net(rg->net)->knobs.testlink_time);
	spin_unlock_bh(&rg->lock);
	return seconds * HZ;
}

/* Send TEST LINK if it is due. Return: jiffies until the next check of the link */
static unsigned long test_link(struct smcr_link *link, unsigned long time)
{
	struct smcr_llc_test *test = &link->group->llc.tests[smcr_link_index(link)];
	unsigned long heard = READ_ONCE(link->last_received);
	unsigned long now = jiffies;

	if (!smcr_link_usable(link))
		return NEVER;
	if (test->outstanding) {
		/* Any message proves that the peer works; the reply may be behind it */
		unsigned long last = time_after(heard, test->sent) ? heard : test->sent;

		if (time_before(now, last + TEST_PATIENCE))
			return last + TEST_PATIENCE - now;
		smcr_link_down(link, SMC_LINK_LOST_PATH);
		return NEVER;
	}
	if (!time)
		return TEST_OFF;
	if (time_before(now, heard + time))
		return heard + time - now;
	smcr_llc_send_test(link);
	return TEST_PATIENCE;
}

/*
 * A port may become active again, and the adapter retries requests meanwhile. A link that sends
 * nothing does not fail that way, so it goes down after SEVERED_TIME. Return: as for test_link()
 */
static unsigned long check_severed(struct smcr_link *link)
{
	unsigned long end;

	/* Paired with the release in smcr_link_set_severed() */
	if (!smp_load_acquire(&link->severed) || !smcr_link_usable(link))
		return NEVER;
	end = READ_ONCE(link->severed_since) + SEVERED_TIME;
	if (time_before(jiffies, end))
		return time_left(end);
	smcr_link_down(link, SMC_LINK_LOST_PATH);
	return NEVER;
}

static unsigned long test_links(struct smcr_group *rg)
{
	unsigned long time = test_time(rg), next = NEVER;
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++) {
		struct smcr_link *link = &rg->links[i];

		next = min3(next, check_severed(link), test_link(link, time));
	}
	return next;
}

/**
 * smcr_llc_flush() - wait until all posted requests have completed
 * @link: the link
 *
 * That takes a round trip to the peer's adapter. Waits for at most FLUSH_TIME. May sleep.
 */
void smcr_llc_flush(struct smcr_link *link)
{
	wait_event_timeout(link->in_flight,
			   !smcr_link_is_there(link) ||
			   READ_ONCE(link->head) == READ_ONCE(link->tail),
			   FLUSH_TIME);
}

/**
 * smcr_llc_closed() - DELETE LINK for all links was exchanged, or cannot be
 * @rg: the group
 */
void smcr_llc_closed(struct smcr_group *rg)
{
	lockdep_assert_held(&rg->llc.mutex);
	WRITE_ONCE(rg->llc.closed, true);
	smcr_group_kick(rg);
}

static bool is_closing(struct smcr_llc *llc)
{
	bool closing;

	spin_lock_bh(&llc->lock);
	closing = llc->closing;
	spin_unlock_bh(&llc->lock);
	return closing && !llc->closed;
}

/*
 * End the group if smcr_llc_close() was called. Only a server may give the reason "inactivity"; a
 * client gives "operator" (R-DL-07).
 */
static void check_closing(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_link *link;

	if (!is_closing(llc))
		return;
	if (time_after_eq(jiffies, llc->close_by))
		smcr_llc_closed(rg);
	if (llc->flow == SMC_LLC_FLOW_END)
		return;

	link = smcr_group_link(rg);
	llc->flow = smc_llc_step(is_server(rg), llc->flow, SMC_LLC_WANT_END).flow;
	llc->ended = true;
	smcr_llc_flow_over(rg);
	if (!link) {
		smcr_llc_closed(rg);
		return;
	}
	smcr_llc_send_delete_all(link, is_server(rg) ? SMC_LINK_INACTIVE : SMC_LINK_OPERATOR);
	/* A client waits for the reply, which is the same message (R-DL-13, R-DL-14) */
	if (is_server(rg)) {
		smcr_llc_flush(link);
		smcr_llc_closed(rg);
	}
}

/* Report results, without locks */
static void report(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_rmb *rmb, *next;
	bool has_outcome;
	LIST_HEAD(done);
	u32 outcome;

	mutex_lock(&llc->mutex);
	has_outcome = llc->has_outcome;
	outcome = llc->outcome;
	llc->has_outcome = false;
	list_splice_init(&llc->done, &done);
	mutex_unlock(&llc->mutex);

	if (has_outcome)
		smcr_group_settled(rg, outcome);
	list_for_each_entry_safe(rmb, next, &done, llc_node) {
		list_del_init(&rmb->llc_node);
		smcr_rmb_announced(rg, rmb, rmb->llc_error);
	}
}

static unsigned long next_look(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	unsigned long next = test_links(rg);

	if (llc->has_deadline)
		next = min(next, time_left(llc->deadline));
	if (is_closing(llc))
		next = min(next, time_left(llc->close_by));
	if (llc->retry_send)
		next = min_t(unsigned long, next, RETRY_SEND);
	return next;
}

static void llc_work(struct work_struct *work)
{
	struct smcr_group *rg = container_of(to_delayed_work(work), struct smcr_group, llc.work);
	struct smcr_llc *llc = &rg->llc;
	unsigned long next, add_time;

	mutex_lock(&llc->mutex);
	llc->retry_send = false;
	smcr_llc_check_answer(rg);
	if (is_begun(rg))
		take_received(rg);
	check_deadline(rg);
	handle_deferred(rg);
	smcr_llc_announce_next(rg);
	llc->retry_send |= smcr_rmbs_trim(rg);
	smcr_llc_withdraw_next(rg);
	smcr_llc_tell_gone(rg);
	check_closing(rg);
	add_time = smcr_llc_check_redundancy(rg);
	next = min(next_look(rg), add_time);
	mutex_unlock(&llc->mutex);
	report(rg);

	/* The queued work takes over the reference, unless another call has queued it meanwhile */
	if (next == NEVER || !queue_delayed_work(smcr_wq, &llc->work, next))
		smcr_group_put(rg);
}

/**
 * smcr_llc_settle() - first contact: begin with CONFIRM LINK, after CLC
 * @link: the first link
 *
 * smcr_group_settled() reports the result.
 */
void smcr_llc_settle(struct smcr_link *link)
{
	struct smcr_llc *llc = &link->group->llc;

	spin_lock_bh(&llc->lock);
	llc->settle = link;
	spin_unlock_bh(&llc->lock);
	smcr_llc_kick(link->group);
}

/**
 * smcr_llc_announce() - announce an RMB to the peer
 * @rg: the group
 * @rmb: the RMB; smcr_rmb_announced() reports the result, once
 */
void smcr_llc_announce(struct smcr_group *rg, struct smcr_rmb *rmb)
{
	struct smcr_llc *llc = &rg->llc;

	spin_lock_bh(&llc->lock);
	list_add_tail(&rmb->llc_node, &llc->wishes);
	spin_unlock_bh(&llc->lock);
	smcr_llc_kick(rg);
}

/* Drop the messages of a link. Return: their number */
static unsigned int forget_messages(struct smcr_link *link, struct list_head *messages)
{
	struct smcr_llc_message *message, *next;
	unsigned int nr = 0;

	list_for_each_entry_safe(message, next, messages, list) {
		if (message->link != link)
			continue;
		list_del(&message->list);
		smcr_llc_message_release(&link->group->llc, message);
		nr++;
	}
	return nr;
}

/**
 * smcr_llc_link_down() - end what depends on a link that is down, before it is cleared
 * @link: the link
 *
 * An exchange on this link fails. CONFIRM RKEY and DELETE RKEY begin again on another link, if
 * there is one (R-LLC-16). In the group's work only, without locks. May sleep.
 *
 * Return: enum smc_reason, for a first contact that waits for the link.
 */
u32 smcr_llc_link_down(struct smcr_link *link)
{
	struct smcr_group *rg = link->group;
	struct smcr_llc *llc = &rg->llc;
	u32 why;

	mutex_lock(&llc->mutex);
	smcr_llc_check_answer(rg);
	why = smcr_llc_why_lost(link);
	spin_lock_bh(&llc->lock);
	forget_messages(link, &llc->received);
	llc->nr_deferred -= forget_messages(link, &llc->deferred);
	list_splice_tail_init(&llc->wishes, &llc->queue);
	spin_unlock_bh(&llc->lock);
	memset(&llc->tests[smcr_link_index(link)], 0, sizeof(llc->tests[0]));
	smcr_llc_add_link_down(link);
	if (link->number && !link->agreed)
		llc->gone[smcr_link_index(link)] = (struct smcr_llc_gone){
			.number = link->number, .reason = SMC_LINK_LOST_PATH,
		};
	if (llc->continued.link == link)
		llc->continued.link = NULL;
	if (!smcr_group_link(rg)) {
		smcr_llc_settled(rg, why);
		smcr_llc_announced(rg, -ENOLINK);
		llc->flow = SMC_LLC_FLOW_END;
		llc->has_deadline = false;
		smcr_llc_closed(rg);
	} else {
		if (llc->announcement.link == link)
			llc->announcement.again = true;
		if (llc->withdrawal.link == link)
			llc->withdrawal.link = NULL;
		if (llc->flow_link == link)
			smcr_llc_flow_over(rg);
	}
	mutex_unlock(&llc->mutex);
	report(rg);
	smcr_llc_kick(rg);
	return why;
}

/**
 * smcr_llc_close() - end the group by DELETE LINK for all links
 * @rg: the group
 *
 * In the group's work only. LLC kicks it when this is over, after CLOSE_TIME at the latest.
 *
 * Return: whether it is over.
 */
bool smcr_llc_close(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	bool begin;

	if (READ_ONCE(llc->closed))
		return true;
	spin_lock_bh(&llc->lock);
	begin = !llc->closing;
	if (begin)
		llc->close_by = jiffies + CLOSE_TIME;
	llc->closing = true;
	spin_unlock_bh(&llc->lock);
	if (begin)
		smcr_llc_kick(rg);
	return false;
}

/**
 * smcr_llc_init() - initialize LLC of a group that has no links yet
 * @rg: the group
 *
 * Return: 0 or -ENOMEM. The caller calls smcr_llc_exit() later, also after an error.
 */
int smcr_llc_init(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;

	spin_lock_init(&llc->lock);
	INIT_LIST_HEAD(&llc->spare);
	INIT_LIST_HEAD(&llc->received);
	INIT_LIST_HEAD(&llc->wishes);
	INIT_DELAYED_WORK(&llc->work, llc_work);
	mutex_init(&llc->mutex);
	llc->flow = SMC_LLC_FLOW_CONFIRM;
	llc->add_at = jiffies;
	llc->offered_at = jiffies;
	INIT_LIST_HEAD(&llc->deferred);
	INIT_LIST_HEAD(&llc->queue);
	INIT_LIST_HEAD(&llc->done);
	return smcr_llc_messages_create(rg);
}

/**
 * smcr_llc_exit() - end the work, and free all messages
 * @rg: the group; all its links are unused
 *
 * May sleep. No report follows.
 */
void smcr_llc_exit(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;

	if (cancel_delayed_work_sync(&llc->work))
		smcr_group_put(rg);
	smcr_llc_messages_destroy(llc);
}
