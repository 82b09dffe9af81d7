// SPDX-License-Identifier: GPL-2.0-only
/* Admission to exchanges of link layer control as a table (RFC 7609, 3.5.5.3, C.7) */
#include <linux/types.h>

#include "../wire/llc.h"
#include "../wire/reason.h"
#include "llc_flow.h"

/* What is not in a row is SMC_LLC_BROKEN, which is zero */
#define ROW(f)			[SMC_LLC_FLOW_##f]
#define DO(event, v)		[SMC_LLC_##event] = { SMC_LLC_##v, KEEP }
#define BEGIN(event, f)		[SMC_LLC_##event] = { SMC_LLC_GO, SMC_LLC_FLOW_##f }

/* In place of a flow: no other one begins */
#define KEEP			SMC_LLC_FLOWS

/* The group can be ended, and a link be tested, whatever goes on (R-LLC-13, R-TL-03) */
#define ALWAYS								\
	BEGIN(WANT_END, END),						\
	BEGIN(GOT_DELETE_ALL, END),					\
	DO(WANT_TEST, GO),						\
	DO(GOT_TEST_LINK, GO),						\
	DO(REPLY_TEST_LINK, GO)

/*
 * An answer to ADD LINK decides about the link that the server offered, never about the link which
 * carries the answer. A peer may send it late, and twice: Linux accepts the second link, hears that
 * it is taken back, and rejects ADD LINK two seconds later. A client never offers a link.
 */
#define SERVER_ALWAYS							\
	ALWAYS,								\
	DO(REPLY_ADD_LINK, GO)

#define CLIENT_ALWAYS							\
	ALWAYS,								\
	DO(REPLY_ADD_LINK, IGNORE)

/* Only one exchange at a time (R-LLC-11) */
#define SERVER_WAITS							\
	DO(WANT_ADD, LATER),						\
	DO(WANT_DELETE, LATER),						\
	DO(WANT_RKEY, LATER)

/* The answer to a client's DELETE LINK for a link that the server does not have (R-DL-17) */
#define UNKNOWN_LINK							\
	DO(REPLY_DELETE_LINK, GO)

/* A client that asks for the end of a link waits for no exchange (R-LLC-13) */
#define CLIENT_WAITS							\
	DO(WANT_DELETE, GO),						\
	DO(WANT_HINT, LATER),						\
	DO(WANT_RKEY, LATER)

/* Both sides may tell of memory at the same time (R-LLC-15) */
#define PEERS_RKEYS							\
	DO(GOT_CONFIRM_RKEY, GO),					\
	DO(GOT_CONFIRM_RKEY_CONT, GO),					\
	DO(GOT_DELETE_RKEY, GO)

#define OWN_RKEYS							\
	DO(REPLY_CONFIRM_RKEY, GO),					\
	DO(REPLY_CONFIRM_RKEY_CONT, GO),				\
	DO(REPLY_DELETE_RKEY, GO)

/* Keys do not change while links do (R-LLC-14, R-COL-05, R-COL-09, A-21, A-23) */
#define NO_RKEYS							\
	DO(GOT_CONFIRM_RKEY, REFUSE),					\
	DO(GOT_CONFIRM_RKEY_CONT, REFUSE),				\
	DO(GOT_DELETE_RKEY, LATER)

static const struct smc_llc_step of_server[SMC_LLC_FLOWS][SMC_LLC_EVENTS] = {
	ROW(NONE) = {
		SERVER_ALWAYS,
		BEGIN(WANT_ADD, ADD),
		BEGIN(WANT_DELETE, DELETE),
		BEGIN(WANT_RKEY, RKEY),
		DO(GOT_DELETE_LINK, GO),
		DO(GOT_HINT, GO),
		DO(REPLY_DELETE_LINK, GO),	/* of a link that was taken back: late */
		PEERS_RKEYS,
	},
	ROW(CONFIRM) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
		DO(REPLY_CONFIRM_LINK, GO),
		DO(GOT_DELETE_LINK, LATER),
		DO(GOT_HINT, IGNORE),		/* R-LLC-13: at any time */
	},
	ROW(ADD) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
		DO(REPLY_ADD_LINK_CONT, GO),
		DO(REPLY_CONFIRM_LINK, GO),
		DO(GOT_DELETE_LINK, LATER),	/* R-COL-03 */
		DO(GOT_HINT, IGNORE),		/* R-COL-02, V2-HA-17 */
		NO_RKEYS,
	},
	ROW(DELETE) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
		DO(REPLY_DELETE_LINK, GO),	/* of a link that was taken back: late */
		DO(GOT_DELETE_LINK, LATER),	/* R-COL-07 */
		DO(GOT_HINT, LATER),		/* R-COL-06 */
		NO_RKEYS,
	},
	ROW(RKEY) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
		DO(REPLY_DELETE_LINK, GO),	/* of a link that was taken back: late */
		OWN_RKEYS,
		PEERS_RKEYS,
		DO(GOT_DELETE_LINK, LATER),	/* R-COL-12 */
		DO(GOT_HINT, LATER),		/* R-COL-10 */
	},
};

static const struct smc_llc_step of_client[SMC_LLC_FLOWS][SMC_LLC_EVENTS] = {
	ROW(NONE) = {
		CLIENT_ALWAYS,
		DO(WANT_DELETE, GO),
		BEGIN(WANT_HINT, ASK),
		BEGIN(WANT_RKEY, RKEY),
		BEGIN(GOT_ADD_LINK, ADD),
		DO(GOT_DELETE_LINK, GO),
		UNKNOWN_LINK,
		PEERS_RKEYS,
	},
	ROW(CONFIRM) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		DO(GOT_CONFIRM_LINK, GO),
		DO(GOT_DELETE_LINK, GO),
	},
	/* Where the client's RKEY exchange was overtaken its answer comes here (R-COL-11) */
	ROW(ADD) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		DO(GOT_ADD_LINK, GO),
		DO(GOT_ADD_LINK_CONT, GO),
		DO(GOT_CONFIRM_LINK, GO),
		DO(GOT_DELETE_LINK, GO),	/* R-LTO-04: wait no longer */
		DO(REPLY_HINT, IGNORE),		/* V2-HA-15: the ADD LINK was the answer */
		UNKNOWN_LINK,
		OWN_RKEYS,
		NO_RKEYS,
	},
	ROW(ASK) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		DO(REPLY_HINT, GO),
		BEGIN(GOT_ADD_LINK, ADD),	/* V2-HA-15 */
		DO(GOT_DELETE_LINK, GO),
		UNKNOWN_LINK,
		PEERS_RKEYS,
	},
	ROW(RKEY) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		OWN_RKEYS,
		PEERS_RKEYS,
		BEGIN(GOT_ADD_LINK, ADD),	/* R-COL-11 */
		DO(GOT_DELETE_LINK, GO),	/* R-COL-13 */
		UNKNOWN_LINK,
	},
};

/* Is anything but the end of the link or group still of interest? (R-DL-18) */
static bool ends_link(enum smc_llc_event event)
{
	return event == SMC_LLC_GOT_DELETE_LINK || event == SMC_LLC_REPLY_DELETE_LINK;
}

/**
 * smc_llc_step() - may it be done now?
 * @server: are we the server of the group?
 * @flow: the exchange that is under way
 * @event: what is wanted, or was received
 *
 * That a reply is admitted does not mean that it was asked for: whoever sent the
 * request knows.
 *
 * Return: what to do, and the exchange then under way.
 */
struct smc_llc_step smc_llc_step(bool server, enum smc_llc_flow flow, enum smc_llc_event event)
{
	struct smc_llc_step step = { SMC_LLC_IGNORE, SMC_LLC_FLOW_END };

	if (flow == SMC_LLC_FLOW_END) {
		/* The answer, or the two crossed */
		if (event == SMC_LLC_GOT_DELETE_ALL)
			step.verdict = SMC_LLC_GO;
		return step;
	}
	if (flow == SMC_LLC_FLOW_LEAVING) {
		step.flow = flow;
		if (event == SMC_LLC_GOT_DELETE_ALL || event == SMC_LLC_WANT_END)
			step = (struct smc_llc_step){ SMC_LLC_GO, SMC_LLC_FLOW_END };
		else if (ends_link(event))
			step.verdict = SMC_LLC_GO;
		return step;
	}
	step = server ? of_server[flow][event] : of_client[flow][event];
	if (step.verdict == SMC_LLC_BROKEN || step.flow == KEEP)
		step.flow = flow;
	return step;
}

/* By type: what a request and a reply mean */
static const struct {
	u8 request;
	u8 reply;
} meanings[] = {
	[0]				= { SMC_LLC_UNFIT, SMC_LLC_UNFIT },
	[SMC_LLC_CONFIRM_LINK]		= { SMC_LLC_GOT_CONFIRM_LINK, SMC_LLC_REPLY_CONFIRM_LINK },
	[SMC_LLC_ADD_LINK]		= { SMC_LLC_GOT_ADD_LINK, SMC_LLC_REPLY_ADD_LINK },
	[SMC_LLC_ADD_LINK_CONT]		= { SMC_LLC_GOT_ADD_LINK_CONT,
					    SMC_LLC_REPLY_ADD_LINK_CONT },
	[SMC_LLC_DELETE_LINK]		= { SMC_LLC_GOT_DELETE_LINK, SMC_LLC_REPLY_DELETE_LINK },
	[SMC_LLC_REQUEST_ADD_LINK]	= { SMC_LLC_GOT_HINT, SMC_LLC_REPLY_HINT },
	[SMC_LLC_CONFIRM_RKEY]		= { SMC_LLC_GOT_CONFIRM_RKEY, SMC_LLC_REPLY_CONFIRM_RKEY },
	[SMC_LLC_TEST_LINK]		= { SMC_LLC_GOT_TEST_LINK, SMC_LLC_REPLY_TEST_LINK },
	[SMC_LLC_CONFIRM_RKEY_CONT]	= { SMC_LLC_GOT_CONFIRM_RKEY_CONT,
					    SMC_LLC_REPLY_CONFIRM_RKEY_CONT },
	[SMC_LLC_DELETE_RKEY]		= { SMC_LLC_GOT_DELETE_RKEY, SMC_LLC_REPLY_DELETE_RKEY },
};

/**
 * smc_llc_event_of() - what does a message mean to its receiver?
 * @server: is the receiver the server of the group?
 * @msg: from smc_llc_parse()
 *
 * Return: the event. SMC_LLC_UNFIT if it is for the other role.
 */
enum smc_llc_event smc_llc_event_of(bool server, const struct smc_llc *msg)
{
	enum smc_llc_event event;

	event = msg->reply ? meanings[msg->type].reply : meanings[msg->type].request;
	if (event == SMC_LLC_GOT_DELETE_LINK && msg->delete_link.all)
		return SMC_LLC_GOT_DELETE_ALL;
	/* In version 1 the client hints by an ADD LINK, in version 2 it never sends one */
	if (event == SMC_LLC_GOT_ADD_LINK && server)
		return msg->version == 1 ? SMC_LLC_GOT_HINT : SMC_LLC_UNFIT;
	if (event == SMC_LLC_GOT_HINT && !server)
		return SMC_LLC_UNFIT;
	return event;
}

/*
 * Linux peers wait 5 s for the first CONFIRM LINK and 2 s for anything else. RFC 7609, C.7
 * wants first contact to be long enough for a write to time out and for a lost
 * Decline to be sent again. A link that is lost costs all connections on it, so a busy
 * peer gets as much time for the rest.
 */
static const struct {
	const char *name;
	struct smc_llc_patience patience;
} flows[SMC_LLC_FLOWS] = {
	ROW(NONE)	= { "NONE" },
	ROW(CONFIRM)	= { "CONFIRM", { 5, SMC_REASON_TIMEOUT_CONFIRM_LINK } },
	ROW(ADD)	= { "ADD", { 5, SMC_REASON_TIMEOUT_ADD_LINK } },
	ROW(DELETE)	= { "DELETE", { 5, SMC_REASON_NO_ACTIVE_LINK } },
	ROW(ASK)	= { "ASK", { 5, SMC_REASON_NO_ACTIVE_LINK } },
	ROW(RKEY)	= { "RKEY", { 5, SMC_REASON_LINK_RTOKEN } },
	ROW(LEAVING)	= { "LEAVING", { 5, SMC_REASON_NO_ACTIVE_LINK } },
	ROW(END)	= { "END", { 5, SMC_REASON_NO_ACTIVE_LINK } },
};

/**
 * smc_llc_patience() - how long to wait for the peer
 * @flow: the exchange that is under way
 *
 * Return: time, and what to say when it is over.
 */
struct smc_llc_patience smc_llc_patience(enum smc_llc_flow flow)
{
	return flows[flow].patience;
}

/**
 * smc_llc_lost_reason() - what to tell of a link that lost its path at first contact
 * @server: our role
 * @flow: the exchange that was under way
 * @severed: our port or its address went away, which the peer may notice as well; or the server may
 *	have our answer to CONFIRM LINK, and be connected
 *
 * There may still be a Decline (R-DEC-06), but not where the peer may send one in the same moment:
 * both would reach applications. So a client does not decline because its port went down, however
 * far LLC is: the server declines if it has seen that. The server does not decline once it has sent
 * ADD LINK, whatever ended the link: the client may have answered, and has then told its program
 * that it is connected.
 *
 * Return: enum smc_reason; that of a time-out when there must be no Decline.
 */
u32 smc_llc_lost_reason(bool server, enum smc_llc_flow flow, bool severed)
{
	bool in_doubt = server ? flow == SMC_LLC_FLOW_ADD : severed;

	if (!in_doubt)
		return SMC_REASON_NO_ACTIVE_LINK;
	return flows[flow == SMC_LLC_FLOW_ADD ? flow : SMC_LLC_FLOW_CONFIRM].patience.reason;
}

/**
 * smc_llc_flow_name() - for people
 * @flow: an exchange
 *
 * Return: its name.
 */
const char *smc_llc_flow_name(enum smc_llc_flow flow)
{
	return flows[flow].name;
}
