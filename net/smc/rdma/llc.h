/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link layer control: the conversation of the two ends of a link group about its
 * links and memory.
 *
 *	llc.c		messages and wishes come in; time; the end
 *	llc_message.c	copies of messages until they are handled
 *	llc_link.c	CONFIRM, DELETE, TEST LINK, and the answer to ADD LINK
 *	llc_add.c	another link, from ADD LINK to its CONFIRM LINK
 *	llc_rkey.c	CONFIRM and DELETE RKEY
 *	llc_flow.c	who may start what, when					(pure)
 *
 * Everything is done by one work item, one thing after the other. Nothing here waits
 * for the peer, but for the acknowledgment of a last message (smcr_llc_flush()).
 */
#ifndef _NET_SMC_RDMA_LLC_H
#define _NET_SMC_RDMA_LLC_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../wire/llc.h"
#include "llc_flow.h"
#include "memory.h"

struct smcr_group;
struct smcr_link;
struct smcr_rmb;

/**
 * struct smcr_llc_test - TEST LINK of one link
 * @outstanding: it was sent, and no answer came
 * @sent: when, in jiffies
 * @data: what is to come back
 */
struct smcr_llc_test {
	bool outstanding;
	unsigned long sent;
	u8 data[16];
};

/**
 * struct smcr_llc_add - a link that is being added
 * @link: the new link, NULL if no link is being added
 * @over: the link that carries the messages about it
 * @accepted: both ends have queue pairs for it
 * @confirming: server: the last step, on the link itself
 * @told: how many of our RMBs the peer was told of (version 1)
 * @left: server: how many are left (version 1)
 * @rounds: messages with keys (version 1)
 */
struct smcr_llc_add {
	struct smcr_link *link;
	struct smcr_link *over;
	bool accepted;
	bool confirming;
	unsigned int told;
	unsigned int left;
	unsigned int rounds;
};

/**
 * struct smcr_llc_gone - a link that the peer is to be told of
 * @number: its number, 0: none
 * @reason: enum smc_link_reason
 */
struct smcr_llc_gone {
	u8 number;
	u32 reason;
};

/**
 * struct smcr_llc_announcement - our CONFIRM RKEY that is under way
 * @rmb: what it is about, NULL if there is none
 * @link: on which it is sent
 * @next: index of the first link that was not told of yet
 * @left: number of other links in the last message sent, and still to come
 * @tries: how often it was sent
 * @again: the peer was busy: send it again when the exchange under way is over
 * @again_at: but not before this time, in jiffies
 */
struct smcr_llc_announcement {
	struct smcr_rmb *rmb;
	struct smcr_link *link;
	unsigned int next;
	u8 left;
	u8 tries;
	bool again;
	unsigned long again_at;
};

/**
 * struct smcr_llc_withdrawal - our DELETE RKEY that is under way
 * @rmb: what it is about, NULL if there is none
 * @link: on which it was sent
 */
struct smcr_llc_withdrawal {
	struct smcr_rmb *rmb;
	struct smcr_link *link;
};

/**
 * struct smcr_llc_continued - the peer's CONFIRM RKEY that is to be continued
 * @link: on which it came, NULL if there is none
 * @rkey: key of its RMB on that link
 * @left: other links to come
 */
struct smcr_llc_continued {
	struct smcr_link *link;
	u32 rkey;
	u8 left;
};

/* Messages that wait for the end of an exchange */
#define SMCR_LLC_DEFERRED_MAX	8

/**
 * struct smcr_llc_message - what came in, or room for it
 * @list: in smcr_llc.spare, smcr_llc.received or smcr_llc.deferred
 * @link: from there
 * @len: its length
 * @bytes: copy of it: @small, smcr_llc.long_bytes, or memory of its own
 * @small: most messages are
 */
struct smcr_llc_message {
	struct list_head list;
	struct smcr_link *link;
	size_t len;
	u8 *bytes;
	u8 small[SMCR_MESSAGE_BYTES];
};

/**
 * struct smcr_llc - a group's part of link layer control
 * @lock: protects what comes in: the fields up to @settle; taken with bottom halves
 *	off
 * @spare: room for messages
 * @long_busy: @long_bytes has one
 * @received: messages
 * @wishes: RMBs to be announced
 * @closing: the group ends, and the peer has until @close_by to agree
 * @close_by: in jiffies
 * @settle: link of the first contact, when CLC is done
 * @work: does everything, at once or when time has come; has a group reference
 * @messages: memory of all messages; constant
 * @long_bytes: room for a long one, of version 2; constant
 * @mutex: held by the group's work while it looks at the fields below. Only smcr_llc_flush()
 *	waits under it, for a fraction of a second, for the acknowledgment of a last message
 * @msg: the message that is being handled, received or to be sent
 * @flow: exchange under way
 * @flow_link: goes down if the peer does not go on with it; NULL: none does
 * @deleted: number of the link that DELETE LINK is about
 * @took_back: number of the link that the peer was told to forget, which it had accepted; 0: none
 * @notified: client: number of the link that the server was asked to delete last; 0: none
 * @add: ADD LINK under way
 * @last_number: server: the last number that a link got
 * @add_at: server: when to try again, in jiffies
 * @add_wait: server: for how long it has waited before
 * @offered_at: server: when it offered a link last, in jiffies
 * @ports_changed: server: not looked at yet; written without lock
 * @gone: by link
 * @deadline: when the peer must have answered, in jiffies
 * @has_deadline: @deadline is set
 * @retry_send: something could not be sent now
 * @settling: first contact: CONFIRM LINK and ADD LINK are not over
 * @unproved: client: link on which the answer to CONFIRM LINK is not acknowledged yet; else NULL.
 *	Read without lock
 * @proved_by: the server's port has acknowledged the answer when link->tail has come so far
 * @deferred: messages that wait for the end of the exchange
 * @nr_deferred: how many
 * @queue: RMBs that wait for their turn
 * @announcement: CONFIRM RKEY under way
 * @withdrawal: DELETE RKEY under way
 * @continued: the peer's
 * @tests: by link
 * @ended: we told the peer that the group ends
 * @closed: the group's end is told, and answered where there is an answer; read without lock
 * @done: RMBs whose announcement is over
 * @has_outcome: first contact is over
 * @outcome: enum smc_reason, how
 */
struct smcr_llc {
	spinlock_t lock;	/* protects what comes in */
	struct list_head spare;
	bool long_busy;
	struct list_head received;
	struct list_head wishes;
	bool closing;
	unsigned long close_by;
	struct smcr_link *settle;
	struct delayed_work work;
	struct smcr_llc_message *messages;
	void *long_bytes;

	struct mutex mutex;	/* protects the rest */
	struct smc_llc msg;
	enum smc_llc_flow flow;
	struct smcr_link *flow_link;
	u8 deleted;
	u8 took_back;
	u8 notified;
	struct smcr_llc_add add;
	u8 last_number;
	unsigned long add_at;
	unsigned long add_wait;
	unsigned long offered_at;
	bool ports_changed;
	struct smcr_llc_gone gone[SMCR_LINKS];
	unsigned long deadline;
	bool has_deadline;
	bool retry_send;
	bool settling;
	struct smcr_link *unproved;
	u32 proved_by;
	struct list_head deferred;
	unsigned int nr_deferred;
	struct list_head queue;
	struct smcr_llc_announcement announcement;
	struct smcr_llc_withdrawal withdrawal;
	struct smcr_llc_continued continued;
	struct smcr_llc_test tests[SMCR_LINKS];
	bool ended;
	bool closed;
	struct list_head done;
	bool has_outcome;
	u32 outcome;
};

int smcr_llc_init(struct smcr_group *group);
/* No link is there any more. May sleep; afterwards there are no reports from here. */
void smcr_llc_exit(struct smcr_group *group);

/* Let the work look what is to be done. Any context. */
void smcr_llc_kick(struct smcr_group *group);

/* There may be a port for another link of a server's group. Any context. */
void smcr_llc_ports_changed(struct smcr_group *group);

/* From the receive queue: @len bytes, not trusted; copied. Softirq. */
void smcr_llc_received(struct smcr_link *link, const void *head, const void *tail, size_t len);

/*
 * First contact: CLC is done. The server's link is RTS: it starts with CONFIRM LINK. The
 * client's is RTR, and its CONFIRM LINK may have come in already. Process context.
 * smcr_group_settled() reports the outcome.
 */
void smcr_llc_settle(struct smcr_link *link);

/* First contact has failed because its link went down: the reason to give. Any context. */
u32 smcr_llc_why_lost(const struct smcr_link *link);

/* Tell the peer of an RMB which is registered with all links. Process context. */
void smcr_llc_announce(struct smcr_group *group, struct smcr_rmb *rmb);

/* The link went down: nothing more comes from it, what was waited for fails. Process context. */
u32 smcr_llc_link_down(struct smcr_link *link);

/*
 * The group ends: tell the peer by DELETE LINK for all links. Returns whether it has answered, or
 * had time enough; else the group's work is kicked when it has. Process context.
 */
bool smcr_llc_close(struct smcr_group *group);

/*
 * Between the files of link layer control. smcr_llc.mutex is held; smcr_llc.msg is the
 * message that was received, and may be overwritten.
 */

/* llc.c */
void smcr_llc_violation(struct smcr_link *link, const char *what);
int smcr_llc_send(struct smcr_link *link);
void smcr_llc_reply(struct smcr_link *link);
void smcr_llc_await(struct smcr_group *group, enum smc_llc_flow flow, struct smcr_link *link);
void smcr_llc_flow_over(struct smcr_group *group);
void smcr_llc_check_answer(struct smcr_group *group);
void smcr_llc_flush(struct smcr_link *link);
void smcr_llc_settled(struct smcr_group *group, u32 reason);
void smcr_llc_closed(struct smcr_group *group);

/* llc_message.c */
struct smcr_llc_message *smcr_llc_message_keep(struct smcr_llc *llc, const void *head,
					       const void *tail, size_t len);
void smcr_llc_message_release(struct smcr_llc *llc, struct smcr_llc_message *message);
int smcr_llc_messages_create(struct smcr_group *group);
void smcr_llc_messages_destroy(struct smcr_llc *llc);

/* llc_link.c */
void smcr_llc_start_confirm(struct smcr_link *link);
void smcr_llc_got_confirm_link(struct smcr_link *link);
void smcr_llc_reply_confirm_link(struct smcr_link *link);
void smcr_llc_got_add_link(struct smcr_link *link);
void smcr_llc_reply_add_link(struct smcr_link *link);
void smcr_llc_got_delete_link(struct smcr_link *link);
void smcr_llc_got_delete_all(struct smcr_link *link);
void smcr_llc_reply_delete_link(struct smcr_link *link);
void smcr_llc_got_hint(struct smcr_link *link);
void smcr_llc_fill_confirm_link(struct smcr_link *link);
void smcr_llc_take_back(struct smcr_link *over, u8 number);
void smcr_llc_tell_gone(struct smcr_group *group);
void smcr_llc_got_test_link(struct smcr_link *link);
void smcr_llc_reply_test_link(struct smcr_link *link);
void smcr_llc_send_test(struct smcr_link *link);
void smcr_llc_send_delete_all(struct smcr_link *link, u32 reason);

/* llc_add.c */
bool smcr_llc_offer_link(struct smcr_link *over, bool probe);
void smcr_llc_answer_to_offer(struct smcr_link *over);
bool smcr_llc_accept_link(struct smcr_link *over);
void smcr_llc_got_add_link_cont(struct smcr_link *over);
void smcr_llc_reply_add_link_cont(struct smcr_link *over);
void smcr_llc_confirm_added(struct smcr_link *link);
void smcr_llc_added(struct smcr_link *link);
void smcr_llc_add_failed(struct smcr_group *group);
void smcr_llc_add_link_down(struct smcr_link *link);
unsigned long smcr_llc_check_redundancy(struct smcr_group *group);

/* llc_rkey.c */
void smcr_llc_announce_next(struct smcr_group *group);
void smcr_llc_announced(struct smcr_group *group, int err);
void smcr_llc_withdraw_next(struct smcr_group *group);
void smcr_llc_withdrawal_failed(struct smcr_group *group);
void smcr_llc_got_confirm_rkey(struct smcr_link *link);
void smcr_llc_got_confirm_rkey_cont(struct smcr_link *link);
void smcr_llc_got_delete_rkey(struct smcr_link *link);
void smcr_llc_refuse_rkey(struct smcr_link *link);
void smcr_llc_reply_confirm_rkey(struct smcr_link *link);
void smcr_llc_reply_confirm_rkey_cont(struct smcr_link *link);
void smcr_llc_reply_delete_rkey(struct smcr_link *link);

#endif /* _NET_SMC_RDMA_LLC_H */
