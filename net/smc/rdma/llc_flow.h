/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link layer control: who may start what, when. RFC 7609, 3.5.5.3 and C.7.
 *
 * At any time one exchange that changes the configuration of a link group is
 * under way, or none. What the two sides may do meanwhile, and which of two
 * crossing messages wins, is a table of values.
 */
#ifndef _NET_SMC_RDMA_LLC_FLOW_H
#define _NET_SMC_RDMA_LLC_FLOW_H

#include <linux/types.h>

struct smc_llc;

/**
 * enum smc_llc_flow - the exchange that is under way
 * @SMC_LLC_FLOW_NONE: none
 * @SMC_LLC_FLOW_CONFIRM: CONFIRM LINK of the first link
 * @SMC_LLC_FLOW_ADD: ADD LINK up to CONFIRM LINK of the new link. On the client at
 *	first contact from the reply to CONFIRM LINK on: the server will ask
 * @SMC_LLC_FLOW_DELETE: the server's DELETE LINK of one link
 * @SMC_LLC_FLOW_ASK: the client's REQUEST ADD LINK (version 2)
 * @SMC_LLC_FLOW_RKEY: our CONFIRM RKEY or DELETE RKEY. The peer's is no exchange of
 *	ours: both may run at once
 * @SMC_LLC_FLOW_LEAVING: not of the group, but for messages that come in on a link
 *	that this client asked the server to delete
 * @SMC_LLC_FLOW_END: DELETE LINK for all links was sent or received
 * @SMC_LLC_FLOWS: number of states
 */
enum smc_llc_flow {
	SMC_LLC_FLOW_NONE,
	SMC_LLC_FLOW_CONFIRM,
	SMC_LLC_FLOW_ADD,
	SMC_LLC_FLOW_DELETE,
	SMC_LLC_FLOW_ASK,
	SMC_LLC_FLOW_RKEY,
	SMC_LLC_FLOW_LEAVING,
	SMC_LLC_FLOW_END,
	SMC_LLC_FLOWS
};

/**
 * enum smc_llc_event - what we want to send, or received
 * @SMC_LLC_WANT_ADD: server: ADD LINK
 * @SMC_LLC_WANT_DELETE: server: DELETE LINK of one link; client: ask for it
 * @SMC_LLC_WANT_END: DELETE LINK of all links
 * @SMC_LLC_WANT_HINT: client: tell the server that another link would be possible
 * @SMC_LLC_WANT_RKEY: CONFIRM RKEY or DELETE RKEY
 * @SMC_LLC_WANT_TEST: TEST LINK
 * @SMC_LLC_GOT_CONFIRM_LINK: request
 * @SMC_LLC_GOT_ADD_LINK: request of the server
 * @SMC_LLC_GOT_ADD_LINK_CONT: request
 * @SMC_LLC_GOT_DELETE_LINK: request for one link
 * @SMC_LLC_GOT_DELETE_ALL: request for all links
 * @SMC_LLC_GOT_HINT: the client's ADD LINK (version 1) or REQUEST ADD LINK
 * @SMC_LLC_GOT_CONFIRM_RKEY: request
 * @SMC_LLC_GOT_CONFIRM_RKEY_CONT: request
 * @SMC_LLC_GOT_DELETE_RKEY: request
 * @SMC_LLC_GOT_TEST_LINK: request
 * @SMC_LLC_REPLY_CONFIRM_LINK: reply
 * @SMC_LLC_REPLY_ADD_LINK: reply
 * @SMC_LLC_REPLY_ADD_LINK_CONT: reply
 * @SMC_LLC_REPLY_DELETE_LINK: reply
 * @SMC_LLC_REPLY_HINT: reply to REQUEST ADD LINK
 * @SMC_LLC_REPLY_CONFIRM_RKEY: reply
 * @SMC_LLC_REPLY_CONFIRM_RKEY_CONT: reply
 * @SMC_LLC_REPLY_DELETE_RKEY: reply
 * @SMC_LLC_REPLY_TEST_LINK: reply
 * @SMC_LLC_UNFIT: a message that its receiver is never sent
 * @SMC_LLC_EVENTS: number of events
 */
enum smc_llc_event {
	SMC_LLC_WANT_ADD,
	SMC_LLC_WANT_DELETE,
	SMC_LLC_WANT_END,
	SMC_LLC_WANT_HINT,
	SMC_LLC_WANT_RKEY,
	SMC_LLC_WANT_TEST,
	SMC_LLC_GOT_CONFIRM_LINK,
	SMC_LLC_GOT_ADD_LINK,
	SMC_LLC_GOT_ADD_LINK_CONT,
	SMC_LLC_GOT_DELETE_LINK,
	SMC_LLC_GOT_DELETE_ALL,
	SMC_LLC_GOT_HINT,
	SMC_LLC_GOT_CONFIRM_RKEY,
	SMC_LLC_GOT_CONFIRM_RKEY_CONT,
	SMC_LLC_GOT_DELETE_RKEY,
	SMC_LLC_GOT_TEST_LINK,
	SMC_LLC_REPLY_CONFIRM_LINK,
	SMC_LLC_REPLY_ADD_LINK,
	SMC_LLC_REPLY_ADD_LINK_CONT,
	SMC_LLC_REPLY_DELETE_LINK,
	SMC_LLC_REPLY_HINT,
	SMC_LLC_REPLY_CONFIRM_RKEY,
	SMC_LLC_REPLY_CONFIRM_RKEY_CONT,
	SMC_LLC_REPLY_DELETE_RKEY,
	SMC_LLC_REPLY_TEST_LINK,
	SMC_LLC_UNFIT,
	SMC_LLC_EVENTS
};

/**
 * enum smc_llc_verdict - what to do about it
 * @SMC_LLC_BROKEN: received: the peer broke the protocol, the link goes down. Wanted:
 *	this role never does so
 * @SMC_LLC_GO: do it now
 * @SMC_LLC_LATER: queue it until the exchange that is under way has ended
 * @SMC_LLC_IGNORE: do nothing
 * @SMC_LLC_REFUSE: answer no, and to try again later
 */
enum smc_llc_verdict {
	SMC_LLC_BROKEN,
	SMC_LLC_GO,
	SMC_LLC_LATER,
	SMC_LLC_IGNORE,
	SMC_LLC_REFUSE,
};

/**
 * struct smc_llc_step - what an event leads to
 * @verdict: what to do
 * @flow: the exchange that is under way from now on
 */
struct smc_llc_step {
	enum smc_llc_verdict verdict;
	enum smc_llc_flow flow;
};

/**
 * struct smc_llc_patience - how long to wait in an exchange
 * @seconds: for each message of the peer
 * @reason: enum smc_reason for connections whose handshake waits for it. What
 *	happens to the link: it is down
 */
struct smc_llc_patience {
	unsigned int seconds;
	u32 reason;
};

struct smc_llc_step smc_llc_step(bool server, enum smc_llc_flow flow, enum smc_llc_event event);
enum smc_llc_event smc_llc_event_of(bool server, const struct smc_llc *msg);
struct smc_llc_patience smc_llc_patience(enum smc_llc_flow flow);
u32 smc_llc_lost_reason(bool server, enum smc_llc_flow flow, bool severed);
const char *smc_llc_flow_name(enum smc_llc_flow flow);

#endif /* _NET_SMC_RDMA_LLC_FLOW_H */
