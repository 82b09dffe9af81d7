/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link layer control: the two ends of a link group agree on its links and RMBs.
 *
 *	llc.c		the work item: messages, requests, deadlines, the end of the group
 *	llc_message.c	copies of received messages
 *	llc_link.c	CONFIRM, DELETE, TEST LINK, and the reply to ADD LINK
 *	llc_add.c	another link, from ADD LINK to its CONFIRM LINK
 *	llc_rkey.c	CONFIRM and DELETE RKEY
 *	llc_flow.c	which exchange each end may start, and when			(pure)
 *
 * One work item per group processes messages and requests one at a time; smcr_llc.mutex excludes
 * smcr_llc_link_down(). It does not wait for the peer. Only smcr_llc_flush() waits, for
 * acknowledgments of the peer's adapter.
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
 * @outstanding: it was sent, and the peer has not replied
 * @sent: jiffies when it was sent
 * @data: the reply must repeat it
 */
struct smcr_llc_test {
	bool outstanding;
	unsigned long sent;
	u8 data[16];
};

/**
 * struct smcr_llc_add - a link that is being added
 * @link: the new link, NULL if no link is being added
 * @over: the link that carries ADD LINK and its continuations
 * @accepted: the client has accepted the link
 * @confirming: server: CONFIRM LINK was sent on the new link
 * @told: number of our RMBs in continuations so far (version 1)
 * @left: server: number of our RMBs for later continuations (version 1)
 * @rounds: number of continuations received (version 1)
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
 * struct smcr_llc_gone - a lost link that DELETE LINK must report to the peer
 * @number: its number, or 0
 * @reason: enum smc_link_reason
 */
struct smcr_llc_gone {
	u8 number;
	u32 reason;
};

/**
 * struct smcr_llc_announcement - our CONFIRM RKEY in progress
 * @rmb: the RMB, or NULL
 * @link: link on which it is sent
 * @next: index of the first link that no message has named yet
 * @left: number of other links in the last message and in later ones
 * @tries: number of negative replies that asked for a retry
 * @again: send it when no exchange is in progress: the peer asked for a retry, the link went down,
 *	the send queue was full, or a registration was not complete
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
 * struct smcr_llc_withdrawal - our DELETE RKEY in progress
 * @rmb: the RMB, or NULL
 * @link: link on which it was sent; NULL if that went down before the reply
 */
struct smcr_llc_withdrawal {
	struct smcr_rmb *rmb;
	struct smcr_link *link;
};

/**
 * struct smcr_llc_continued - the peer's CONFIRM RKEY that continuations follow
 * @link: link on which it arrived, or NULL
 * @rkey: key of the RMB on that link
 * @left: number of other links in later messages
 */
struct smcr_llc_continued {
	struct smcr_link *link;
	u32 rkey;
	u8 left;
};

/* Maximum number of messages that wait for the end of an exchange */
#define SMCR_LLC_DEFERRED_MAX	8

/**
 * struct smcr_llc_message - a received message, or memory for one
 * @list: node in smcr_llc.spare, smcr_llc.received or smcr_llc.deferred
 * @link: link on which it arrived
 * @len: its length in bytes
 * @bytes: the copy: @small, smcr_llc.long_bytes, or allocated memory
 * @small: memory for a short message; most are short
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
 * @lock: protects the fields up to @settle; taken with bottom halves off
 * @spare: memory for messages
 * @long_busy: a message uses @long_bytes
 * @received: messages that the work has not processed yet
 * @wishes: RMBs to announce, before the work moves them to @queue
 * @closing: the group ends
 * @close_by: jiffies when the wait for the server's reply ends; constant once @closing is set
 * @settle: link of the first contact, from the end of CLC until the work processes it
 * @work: processes everything, at once or at a deadline; holds a group reference while queued
 * @messages: memory of all messages; constant
 * @long_bytes: memory for a long message; NULL in version 1; constant
 * @mutex: protects the fields below. Only smcr_llc_flush() waits for the network with it held, at
 *	most 0.2 s each time
 * @msg: the message being processed, received or to be sent
 * @flow: exchange in progress
 * @flow_link: link that goes down if the peer misses @deadline; NULL if none does
 * @deleted: server: number of the link in our last DELETE LINK
 * @took_back: server: number of the last link that the client accepted and the server deleted, or
 *	0
 * @given_up: server: number of an offered link that does not exist (any more), while the client has
 *	not replied to ADD LINK; else 0
 * @replaced: client: number of offers that the server has replaced in this exchange
 * @notified: client: number of the link in our last DELETE LINK, or 0
 * @add: ADD LINK in progress
 * @last_number: server: the last link number assigned
 * @add_at: server: jiffies of the next offer of a link
 * @add_wait: server: the previous wait between offers, in jiffies
 * @offered_at: server: jiffies of the last offer
 * @ports_changed: server: ports have changed since the last offer; written without lock
 * @gone: lost links to report, by link
 * @deadline: jiffies when the peer must have continued the exchange
 * @has_deadline: @deadline is valid
 * @retry_send: the work runs again after RETRY_SEND: a send queue is full, or a registration is not
 *	complete
 * @settling: first contact: CONFIRM LINK and ADD LINK are not over
 * @unproved: client: link on which the reply to CONFIRM LINK is not acknowledged yet; else NULL.
 *	Read without lock
 * @proved_by: the server's port has acknowledged that reply when link->tail has reached this
 * @deferred: messages that wait for the end of the exchange
 * @nr_deferred: their number
 * @queue: RMBs that wait for their announcement
 * @announcement: our CONFIRM RKEY in progress
 * @withdrawal: our DELETE RKEY in progress
 * @continued: the peer's CONFIRM RKEY in progress
 * @tests: TEST LINK, by link
 * @ended: this end has started to end the group, before a request of the peer
 * @closed: DELETE LINK for all links was exchanged, or cannot be; read without lock
 * @done: RMBs whose announcement is over, not reported yet
 * @has_outcome: @outcome is not reported yet
 * @outcome: result of the first contact, enum smc_reason
 */
struct smcr_llc {
	spinlock_t lock;	/* protects the fields up to @settle */
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
	u8 given_up;
	u8 replaced;
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
/* All links are unused. May sleep. No report follows. */
void smcr_llc_exit(struct smcr_group *group);

/* Run the work. Any context. */
void smcr_llc_kick(struct smcr_group *group);

/* Server: a port may allow another link. Any context. */
void smcr_llc_ports_changed(struct smcr_group *group);

/* Copy a message of @len bytes, not trusted, from the receive queue. Softirq. */
void smcr_llc_received(struct smcr_link *link, const void *head, const void *tail, size_t len);

/*
 * First contact: CLC is done. The server's link is RTS, and the server sends CONFIRM LINK. The
 * client's link is RTR, and CONFIRM LINK may have arrived already. smcr_group_settled() reports the
 * result. Process context.
 */
void smcr_llc_settle(struct smcr_link *link);

/* The reason of a first contact that failed because its link went down. Any context. */
u32 smcr_llc_why_lost(const struct smcr_link *link);

/* Announce an RMB, whose registration with all links was requested. Process context. */
void smcr_llc_announce(struct smcr_group *group, struct smcr_rmb *rmb);

/* The link went down: end what depends on it, see llc.c. Process context. */
u32 smcr_llc_link_down(struct smcr_link *link);

/*
 * End the group by DELETE LINK for all links. Returns true when this is over. Until then it returns
 * false, and LLC kicks the group's work when it is over. Process context.
 */
bool smcr_llc_close(struct smcr_group *group);

/*
 * Internal to link layer control. The caller holds smcr_llc.mutex. smcr_llc.msg is the received
 * message, and may be overwritten.
 */

/* llc.c */
void smcr_llc_violation(struct smcr_link *link, const char *what);
void smcr_llc_stray(struct smcr_link *link);
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
void smcr_llc_got_delete_added(struct smcr_link *link);
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
void smcr_llc_forget_offer(struct smcr_group *group);
bool smcr_llc_replace_offer(struct smcr_group *group);
u8 smcr_llc_next_number(struct smcr_group *group);
unsigned long smcr_llc_check_redundancy(struct smcr_group *group);

/* llc_rkey.c */
void smcr_llc_announce_next(struct smcr_group *group);
void smcr_llc_announced(struct smcr_group *group, int err);
void smcr_llc_withdraw_next(struct smcr_group *group);
struct smcr_rmb *smcr_llc_end_withdrawal(struct smcr_group *group);
void smcr_llc_got_confirm_rkey(struct smcr_link *link);
void smcr_llc_got_confirm_rkey_cont(struct smcr_link *link);
void smcr_llc_got_delete_rkey(struct smcr_link *link);
void smcr_llc_refuse_rkey(struct smcr_link *link);
void smcr_llc_reply_confirm_rkey(struct smcr_link *link);
void smcr_llc_reply_confirm_rkey_cont(struct smcr_link *link);
void smcr_llc_reply_delete_rkey(struct smcr_link *link);

#endif /* _NET_SMC_RDMA_LLC_H */
