// SPDX-License-Identifier: GPL-2.0-only
/* The state machine of close and abort as a table (RFC 7609, 4.8) */
#include <linux/types.h>
#include <net/tcp_states.h>

#include "close_fsm.h"

/* The usual actions of an event */
#define SENT_D		SMC_CLOSE_SEND_DONE
#define SENT_C		(SMC_CLOSE_SEND_CLOSED | SMC_CLOSE_NO_WRITE)
#define GOT_D		SMC_CLOSE_EOF
#define GOT_C		(SMC_CLOSE_EOF | SMC_CLOSE_NO_WRITE)
#define ENDED		(SMC_CLOSE_EOF | SMC_CLOSE_NO_WRITE | SMC_CLOSE_RESET)

#define ROW(s)			[SMC_CLOSE_##s]
#define ON(event, state, act)	[SMC_CLOSE_##event] = { SMC_CLOSE_##state, act }
#define STAY(event, state)	ON(event, state, 0)

/* Before this side has sent "closed": it sends an abort, and the peer answers it */
#define ABORTABLE								\
	ON(ABORT, ABORT_WAIT, SMC_CLOSE_SEND_ABORT | ENDED),			\
	ON(TIMEOUT, ABORT_WAIT, SMC_CLOSE_SEND_ABORT | ENDED),			\
	ON(PEER_ABORTED, CLOSED, SMC_CLOSE_SEND_ABORT | ENDED | SMC_CLOSE_FREE)

/* The peer's final message was "closed": it gets the abort, and does not answer (R-ABT-12) */
#define ABORTABLE_ALONE								\
	ON(ABORT, CLOSED, SMC_CLOSE_SEND_ABORT | ENDED | SMC_CLOSE_FREE),	\
	ON(TIMEOUT, CLOSED, SMC_CLOSE_SEND_ABORT | ENDED | SMC_CLOSE_FREE),	\
	ON(PEER_ABORTED, CLOSED, SMC_CLOSE_SEND_ABORT | ENDED | SMC_CLOSE_FREE)

/* The same, after both sides have ended their streams: as over TCP, the program is not told */
#define DONE_ABORTABLE								\
	ON(ABORT, ABORT_WAIT, SMC_CLOSE_SEND_ABORT),				\
	ON(TIMEOUT, ABORT_WAIT, SMC_CLOSE_SEND_ABORT),				\
	ON(PEER_ABORTED, CLOSED, SMC_CLOSE_SEND_ABORT | SMC_CLOSE_FREE)
#define DONE_ABORTABLE_ALONE							\
	ON(ABORT, CLOSED, SMC_CLOSE_SEND_ABORT | SMC_CLOSE_FREE),		\
	ON(TIMEOUT, CLOSED, SMC_CLOSE_SEND_ABORT | SMC_CLOSE_FREE),		\
	ON(PEER_ABORTED, CLOSED, SMC_CLOSE_SEND_ABORT | SMC_CLOSE_FREE)

/*
 * This side has sent "closed" and may send no more: it stops waiting. If "closed" waits for data,
 * smc_close_apply() aborts the connection instead.
 */
#define FINAL									\
	ON(ABORT, CLOSED, SMC_CLOSE_FREE),					\
	ON(TIMEOUT, CLOSED, SMC_CLOSE_FREE),					\
	ON(PEER_ABORTED, CLOSED, SMC_CLOSE_FREE)

static const struct smc_close_step table[SMC_CLOSE_STATES][SMC_CLOSE_EVENTS] = {
	ROW(ACTIVE) = {
		ON(SHUT_WR, PEER_WAIT1, SENT_D),
		ON(CLOSE, PEER_WAIT1_CLOSED, SENT_C),
		ON(PEER_DONE, APP_WAIT1, GOT_D),
		ON(PEER_CLOSED, APP_WAIT1_CLOSED, GOT_C),
		ABORTABLE,
	},
	ROW(PEER_WAIT1) = {
		STAY(SHUT_WR, PEER_WAIT1),
		ON(CLOSE, PEER_WAIT1_CLOSED, SENT_C),
		ON(PEER_DONE, PEER_WAIT2, GOT_D),
		ON(PEER_CLOSED, APP_FIN_WAIT, GOT_C),
		ABORTABLE,
	},
	ROW(PEER_WAIT1_CLOSED) = {
		STAY(SHUT_WR, PEER_WAIT1_CLOSED),
		STAY(CLOSE, PEER_WAIT1_CLOSED),
		ON(PEER_DONE, PEER_WAIT2_CLOSED, GOT_D),
		ON(PEER_CLOSED, CLOSED, GOT_C | SMC_CLOSE_FREE),
		FINAL,
	},
	ROW(PEER_WAIT2) = {
		STAY(SHUT_WR, PEER_WAIT2),
		ON(CLOSE, PEER_WAIT2_CLOSED, SENT_C),
		STAY(PEER_DONE, PEER_WAIT2),
		ON(PEER_CLOSED, APP_FIN_WAIT, GOT_C),
		DONE_ABORTABLE,
	},
	ROW(PEER_WAIT2_CLOSED) = {
		STAY(SHUT_WR, PEER_WAIT2_CLOSED),
		STAY(CLOSE, PEER_WAIT2_CLOSED),
		STAY(PEER_DONE, PEER_WAIT2_CLOSED),
		ON(PEER_CLOSED, CLOSED, SMC_CLOSE_FREE),
		FINAL,
	},
	ROW(APP_FIN_WAIT) = {
		STAY(SHUT_WR, APP_FIN_WAIT),
		ON(CLOSE, CLOSED, SENT_C | SMC_CLOSE_FREE),
		STAY(PEER_DONE, APP_FIN_WAIT),
		STAY(PEER_CLOSED, APP_FIN_WAIT),
		DONE_ABORTABLE_ALONE,
	},
	ROW(APP_WAIT1) = {
		ON(SHUT_WR, APP_WAIT2, SENT_D),
		ON(CLOSE, PEER_FIN_WAIT, SENT_C),
		STAY(PEER_DONE, APP_WAIT1),
		ON(PEER_CLOSED, APP_WAIT1_CLOSED, GOT_C),
		ABORTABLE,
	},
	ROW(APP_WAIT1_CLOSED) = {
		ON(SHUT_WR, APP_WAIT2_CLOSED, SENT_D),
		ON(CLOSE, CLOSED, SENT_C | SMC_CLOSE_FREE),
		STAY(PEER_DONE, APP_WAIT1_CLOSED),
		STAY(PEER_CLOSED, APP_WAIT1_CLOSED),
		ABORTABLE_ALONE,
	},
	ROW(APP_WAIT2) = {
		STAY(SHUT_WR, APP_WAIT2),
		ON(CLOSE, PEER_FIN_WAIT, SENT_C),
		STAY(PEER_DONE, APP_WAIT2),
		ON(PEER_CLOSED, APP_WAIT2_CLOSED, GOT_C),
		DONE_ABORTABLE,
	},
	ROW(APP_WAIT2_CLOSED) = {
		STAY(SHUT_WR, APP_WAIT2_CLOSED),
		ON(CLOSE, CLOSED, SENT_C | SMC_CLOSE_FREE),
		STAY(PEER_DONE, APP_WAIT2_CLOSED),
		STAY(PEER_CLOSED, APP_WAIT2_CLOSED),
		DONE_ABORTABLE_ALONE,
	},
	ROW(PEER_FIN_WAIT) = {
		STAY(SHUT_WR, PEER_FIN_WAIT),
		STAY(CLOSE, PEER_FIN_WAIT),
		STAY(PEER_DONE, PEER_FIN_WAIT),
		ON(PEER_CLOSED, CLOSED, SMC_CLOSE_FREE),
		FINAL,
	},
	/*
	 * Ignore all but the peer's answer (R-ABT-03, R-ABT-04, R-ABT-05). If the peer's "closed"
	 * crossed our abort, it is the final message, and no answer follows.
	 */
	ROW(ABORT_WAIT) = {
		STAY(SHUT_WR, ABORT_WAIT),
		STAY(CLOSE, ABORT_WAIT),
		STAY(ABORT, ABORT_WAIT),
		STAY(PEER_DONE, ABORT_WAIT),
		ON(PEER_CLOSED, CLOSED, SMC_CLOSE_FREE),
		ON(PEER_ABORTED, CLOSED, SMC_CLOSE_FREE),
		ON(TIMEOUT, CLOSED, SMC_CLOSE_FREE),
	},
	ROW(CLOSED) = {
		STAY(SHUT_WR, CLOSED),
		STAY(CLOSE, CLOSED),
		STAY(ABORT, CLOSED),
		STAY(PEER_DONE, CLOSED),
		STAY(PEER_CLOSED, CLOSED),
		STAY(PEER_ABORTED, CLOSED),
		STAY(TIMEOUT, CLOSED),
	},
};

/*
 * Name; number in the user ABI (sock_diag); state that TCP would be in; this side has sent its
 * final message
 */
static const struct {
	const char *name;
	u8 abi;
	u8 tcp;
	bool ended;
} states[SMC_CLOSE_STATES] = {
	ROW(ACTIVE)		= { "ACTIVE", 1, TCP_ESTABLISHED },
	ROW(PEER_WAIT1)		= { "PEERCLOSEWAIT1", 20, TCP_FIN_WAIT2 },
	ROW(PEER_WAIT1_CLOSED)	= { "PEERCLOSEWAIT1", 20, TCP_FIN_WAIT2, true },
	ROW(PEER_WAIT2)		= { "PEERCLOSEWAIT2", 21, TCP_CLOSE },
	ROW(PEER_WAIT2_CLOSED)	= { "PEERCLOSEWAIT2", 21, TCP_CLOSE, true },
	ROW(APP_FIN_WAIT)	= { "APPFINCLOSEWAIT1", 24, TCP_CLOSE },
	ROW(APP_WAIT1)		= { "APPCLOSEWAIT1", 22, TCP_CLOSE_WAIT },
	ROW(APP_WAIT1_CLOSED)	= { "APPCLOSEWAIT1", 22, TCP_CLOSE_WAIT },
	ROW(APP_WAIT2)		= { "APPCLOSEWAIT2", 23, TCP_CLOSE },
	ROW(APP_WAIT2_CLOSED)	= { "APPCLOSEWAIT2", 23, TCP_CLOSE },
	ROW(PEER_FIN_WAIT)	= { "PEERFINCLOSEWAIT", 25, TCP_CLOSE, true },
	ROW(ABORT_WAIT)		= { "PEERABORTWAIT", 26, TCP_CLOSE, true },
	ROW(CLOSED)		= { "CLOSED", 7, TCP_CLOSE, true },
};

/*
 * The next state and the actions of an event. If the protocol repeats an event, the second one
 * changes nothing.
 */
struct smc_close_step smc_close_step(enum smc_close_state state, enum smc_close_event event)
{
	return table[state][event];
}

/* The state's name for messages */
const char *smc_close_state_name(enum smc_close_state state)
{
	return states[state].name;
}

/* The state's number in the user ABI */
u8 smc_close_state_abi(enum smc_close_state state)
{
	return states[state].abi;
}

/*
 * The state that TCP would be in; TCP_CLOSE if neither side will send further data. TCP is in
 * TCP_FIN_WAIT1 in place of TCP_FIN_WAIT2 until the peer has all data.
 */
u8 smc_close_tcp_state(enum smc_close_state state)
{
	return states[state].tcp;
}

/* Will neither side send further data? Then there is nothing to shut down. */
bool smc_close_both_done(enum smc_close_state state)
{
	return states[state].tcp == TCP_CLOSE;
}

/*
 * Has this side sent its final message, "closed" or "aborted", or is it to follow the last data?
 * The peer may be done as well.
 */
bool smc_close_ended(enum smc_close_state state)
{
	return states[state].ended;
}
