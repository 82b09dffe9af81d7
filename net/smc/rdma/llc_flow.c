// SPDX-License-Identifier: GPL-2.0-only
/* Admission to exchanges of link layer control as a table (RFC 7609, 3.5.5.3, C.7) */
#include <linux/types.h>

#include "../wire/llc.h"
#include "../wire/reason.h"
#include "llc_flow.h"

/* An event that is not in a row is SMC_LLC_BROKEN, which is zero */
#define ROW(f)			[SMC_LLC_FLOW_##f]
#define DO(event, v)		[SMC_LLC_##event] = { SMC_LLC_##v, KEEP }
#define BEGIN(event, f)		[SMC_LLC_##event] = { SMC_LLC_GO, SMC_LLC_FLOW_##f }

/* In place of a flow: no other exchange begins */
#define KEEP			SMC_LLC_FLOWS

/*
 * During any exchange, either end may end the group or test a link (R-LLC-13, R-TL-03).
 *
 * A reply may be late: this end has given up the exchange, or the link that it was about went down
 * at both ends at the same time. It may come twice: a Linux client accepts the second link,
 * receives DELETE LINK for it, and rejects ADD LINK two seconds later. So a reply that no exchange
 * waits for says nothing about the link that carries it, and smcr_llc_stray() ignores it. The
 * handler of a reply decides whether its exchange waits for it.
 */
#define ALWAYS								\
	BEGIN(WANT_END, END),						\
	BEGIN(GOT_DELETE_ALL, END),					\
	DO(WANT_TEST, GO),						\
	DO(GOT_TEST_LINK, GO),						\
	DO(REPLY_DELETE_LINK, GO),					\
	DO(REPLY_CONFIRM_RKEY, GO),					\
	DO(REPLY_CONFIRM_RKEY_CONT, GO),				\
	DO(REPLY_DELETE_RKEY, GO),					\
	DO(REPLY_TEST_LINK, GO)

/* A server never sends REQUEST ADD LINK */
#define SERVER_ALWAYS							\
	ALWAYS,								\
	DO(REPLY_CONFIRM_LINK, GO),					\
	DO(REPLY_ADD_LINK, GO),						\
	DO(REPLY_ADD_LINK_CONT, GO),					\
	DO(REPLY_HINT, IGNORE)

/* A client never offers a link */
#define CLIENT_ALWAYS							\
	ALWAYS,								\
	DO(REPLY_CONFIRM_LINK, IGNORE),					\
	DO(REPLY_ADD_LINK, IGNORE),					\
	DO(REPLY_ADD_LINK_CONT, IGNORE),				\
	DO(REPLY_HINT, GO)

/* One exchange at a time (R-LLC-11) */
#define SERVER_WAITS							\
	DO(WANT_ADD, LATER),						\
	DO(WANT_DELETE, LATER),						\
	DO(WANT_RKEY, LATER)

/* A client asks for the deletion of a link during any exchange (R-LLC-13) */
#define CLIENT_WAITS							\
	DO(WANT_DELETE, GO),						\
	DO(WANT_HINT, LATER),						\
	DO(WANT_RKEY, LATER)

/* Both ends may announce or withdraw RMBs at the same time (R-LLC-15) */
#define PEERS_RKEYS							\
	DO(GOT_CONFIRM_RKEY, GO),					\
	DO(GOT_CONFIRM_RKEY_CONT, GO),					\
	DO(GOT_DELETE_RKEY, GO)

/* A client may have given up the link that the server still tells it about */
#define GIVEN_UP							\
	DO(GOT_ADD_LINK_CONT, GO)

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
		PEERS_RKEYS,
	},
	ROW(CONFIRM) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
		DO(GOT_DELETE_LINK, LATER),
		DO(GOT_HINT, IGNORE),		/* R-LLC-13: at any time */
	},
	ROW(ADD) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
		DO(GOT_DELETE_LINK, LATER),	/* R-COL-03 */
		DO(GOT_DELETE_ADDED, GO),
		DO(GOT_HINT, IGNORE),		/* R-COL-02, V2-HA-17 */
		NO_RKEYS,
	},
	ROW(DELETE) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
		DO(GOT_DELETE_LINK, LATER),	/* R-COL-07 */
		DO(GOT_HINT, LATER),		/* R-COL-06 */
		NO_RKEYS,
	},
	ROW(RKEY) = {
		SERVER_ALWAYS,
		SERVER_WAITS,
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
		GIVEN_UP,
		PEERS_RKEYS,
	},
	ROW(CONFIRM) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		DO(GOT_CONFIRM_LINK, GO),
		DO(GOT_DELETE_LINK, GO),
	},
	/* An RKEY exchange that ADD LINK has interrupted goes on (R-COL-11) */
	ROW(ADD) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		DO(GOT_ADD_LINK, GO),
		DO(GOT_ADD_LINK_CONT, GO),
		DO(GOT_CONFIRM_LINK, GO),
		DO(GOT_DELETE_LINK, GO),
		DO(GOT_DELETE_ADDED, GO),	/* R-LTO-04: stop waiting */
		NO_RKEYS,
	},
	ROW(ASK) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		BEGIN(GOT_ADD_LINK, ADD),	/* V2-HA-15 */
		DO(GOT_DELETE_LINK, GO),
		GIVEN_UP,
		PEERS_RKEYS,
	},
	ROW(RKEY) = {
		CLIENT_ALWAYS,
		CLIENT_WAITS,
		PEERS_RKEYS,
		BEGIN(GOT_ADD_LINK, ADD),	/* R-COL-11 */
		DO(GOT_DELETE_LINK, GO),	/* R-COL-13 */
		GIVEN_UP,
	},
};

/* On a link that is being deleted, only these messages and the end of the group count (R-DL-18) */
static bool ends_link(enum smc_llc_event event)
{
	return event == SMC_LLC_GOT_DELETE_LINK || event == SMC_LLC_REPLY_DELETE_LINK;
}

/**
 * smc_llc_step() - decide about a message that is received, or to be sent
 * @server: this end is the server of the group
 * @flow: the exchange in progress
 * @event: the message
 *
 * An admitted reply may have no request: its handler verifies that.
 *
 * Return: what to do, and the exchange in progress from then on.
 */
struct smc_llc_step smc_llc_step(bool server, enum smc_llc_flow flow, enum smc_llc_event event)
{
	struct smc_llc_step step = { SMC_LLC_IGNORE, SMC_LLC_FLOW_END };

	if (flow == SMC_LLC_FLOW_END) {
		/* The peer replies, or both requests crossed */
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

/* The events of a request and a reply, by type */
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
 * smc_llc_event_of() - find the event of a received message
 * @server: the receiver is the server of the group
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
	/* A client's ADD LINK request is a hint in version 1; in version 2 it never sends one */
	if (event == SMC_LLC_GOT_ADD_LINK && server)
		return msg->version == 1 ? SMC_LLC_GOT_HINT : SMC_LLC_UNFIT;
	if (event == SMC_LLC_GOT_HINT && !server)
		return SMC_LLC_UNFIT;
	return event;
}

/*
 * Linux peers wait 5 s for the first CONFIRM LINK and 2 s for other messages. RFC 7609, C.7: at
 * first contact the timeout must be long enough for a write to time out, and for a lost Decline to
 * be sent again. Later, a lost link may end all its connections, so a busy peer gets the same time.
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
 * smc_llc_patience() - timeout of an exchange
 * @flow: the exchange in progress
 *
 * Return: the timeout, and the reason to give after it.
 */
struct smc_llc_patience smc_llc_patience(enum smc_llc_flow flow)
{
	return flows[flow].patience;
}

/**
 * smc_llc_lost_reason() - the reason of a first contact whose link went down
 * @server: this end is the server of the group
 * @flow: the exchange that was in progress
 * @severed: our port or its address is lost, which the peer may notice as well; or the server may
 *	have our reply to CONFIRM LINK, and be connected
 *
 * An end may still decline (R-DEC-06), unless the peer may decline at the same time: both Declines
 * would reach programs. So a client never declines because its port went down; the server declines
 * if it notices that. A server does not decline after ADD LINK, for any reason: the client may have
 * replied, and then its program has an established connection.
 *
 * Return: enum smc_reason; that of a timeout if this end must not decline.
 */
u32 smc_llc_lost_reason(bool server, enum smc_llc_flow flow, bool severed)
{
	bool in_doubt = server ? flow == SMC_LLC_FLOW_ADD : severed;

	if (!in_doubt)
		return SMC_REASON_NO_ACTIVE_LINK;
	return flows[flow == SMC_LLC_FLOW_ADD ? flow : SMC_LLC_FLOW_CONFIRM].patience.reason;
}

/**
 * smc_llc_flow_name() - name of an exchange, for debug messages
 * @flow: an exchange
 *
 * Return: its name.
 */
const char *smc_llc_flow_name(enum smc_llc_flow flow)
{
	return flows[flow].name;
}
