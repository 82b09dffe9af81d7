/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link layer control: which exchange each end may start, and when. RFC 7609, 3.5.5.3 and C.7.
 *
 * At any time at most one exchange that changes the configuration of a link group is in progress. A
 * table of values decides what the two ends may do meanwhile, and which of two crossing messages
 * has priority.
 */
#ifndef _NET_SMC_RDMA_LLC_FLOW_H
#define _NET_SMC_RDMA_LLC_FLOW_H

#include <linux/types.h>

struct smc_llc;

/**
 * enum smc_llc_flow - the exchange in progress
 * @SMC_LLC_FLOW_NONE: none
 * @SMC_LLC_FLOW_CONFIRM: CONFIRM LINK of the first link
 * @SMC_LLC_FLOW_ADD: from ADD LINK to CONFIRM LINK of the new link. On the client at first contact
 *	from the reply to CONFIRM LINK on: the server sends ADD LINK next. On a server that has lost
 *	the new link, or has none: until the reply to ADD LINK
 * @SMC_LLC_FLOW_DELETE: the server's DELETE LINK of one link
 * @SMC_LLC_FLOW_ASK: the client's REQUEST ADD LINK (version 2)
 * @SMC_LLC_FLOW_RKEY: our CONFIRM RKEY or DELETE RKEY. The peer's does not count: both may be in
 *	progress at the same time
 * @SMC_LLC_FLOW_LEAVING: not for the group, but for messages on a link that this client has asked
 *	the server to delete
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
 * enum smc_llc_event - a message to be sent, or received
 * @SMC_LLC_WANT_ADD: server: ADD LINK
 * @SMC_LLC_WANT_DELETE: DELETE LINK of one link; the client's asks the server to delete it
 * @SMC_LLC_WANT_END: DELETE LINK of all links
 * @SMC_LLC_WANT_HINT: client: report to the server that another link is possible
 * @SMC_LLC_WANT_RKEY: CONFIRM RKEY or DELETE RKEY
 * @SMC_LLC_WANT_TEST: TEST LINK
 * @SMC_LLC_GOT_CONFIRM_LINK: request
 * @SMC_LLC_GOT_ADD_LINK: request of the server
 * @SMC_LLC_GOT_ADD_LINK_CONT: request
 * @SMC_LLC_GOT_DELETE_LINK: request for one link
 * @SMC_LLC_GOT_DELETE_ADDED: request for the link that is being added; smc_llc_event_of() does not
 *	know that
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
 * @SMC_LLC_UNFIT: a message that is not for the receiver's role
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
	SMC_LLC_GOT_DELETE_ADDED,
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
 * enum smc_llc_verdict - what to do with a message
 * @SMC_LLC_BROKEN: received: the peer violates the protocol, the link goes down. To be sent: this
 *	role never sends it
 * @SMC_LLC_GO: process or send it now
 * @SMC_LLC_LATER: queue it until the exchange in progress has ended
 * @SMC_LLC_IGNORE: do nothing
 * @SMC_LLC_REFUSE: send a negative reply; that to CONFIRM RKEY asks for a retry
 */
enum smc_llc_verdict {
	SMC_LLC_BROKEN,
	SMC_LLC_GO,
	SMC_LLC_LATER,
	SMC_LLC_IGNORE,
	SMC_LLC_REFUSE,
};

/**
 * struct smc_llc_step - result of an event
 * @verdict: what to do
 * @flow: the exchange in progress from now on
 */
struct smc_llc_step {
	enum smc_llc_verdict verdict;
	enum smc_llc_flow flow;
};

/**
 * struct smc_llc_patience - timeout of an exchange
 * @seconds: timeout of each message of the peer
 * @reason: enum smc_reason for a connection whose handshake waits for the exchange
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
