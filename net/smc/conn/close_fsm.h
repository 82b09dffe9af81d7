/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The states of a connection that ends: RFC 7609, 4.8.1 (normal) and 4.8.2 (abnormal termination).
 */
#ifndef _NET_SMC_CONN_CLOSE_FSM_H
#define _NET_SMC_CONN_CLOSE_FSM_H

#include <linux/types.h>

/**
 * enum smc_close_state - which end messages were exchanged
 *
 * "done" means "sending done", a shutdown for writing; "closed" ends both directions.
 *
 * @SMC_CLOSE_ACTIVE: both directions are open
 * @SMC_CLOSE_PEER_WAIT1: we are done; the peer is not
 * @SMC_CLOSE_PEER_WAIT1_CLOSED: we closed; the peer is not done
 * @SMC_CLOSE_PEER_WAIT2: first we were done, then the peer
 * @SMC_CLOSE_PEER_WAIT2_CLOSED: we closed; the peer is done
 * @SMC_CLOSE_APP_FIN_WAIT: we are done; the peer closed
 * @SMC_CLOSE_APP_WAIT1: the peer is done; we are not
 * @SMC_CLOSE_APP_WAIT1_CLOSED: the peer closed; we are not done
 * @SMC_CLOSE_APP_WAIT2: first the peer was done, then we
 * @SMC_CLOSE_APP_WAIT2_CLOSED: the peer closed; then we were done
 * @SMC_CLOSE_PEER_FIN_WAIT: the peer was done; then we closed
 * @SMC_CLOSE_ABORT_WAIT: we aborted; the peer has not answered
 * @SMC_CLOSE_CLOSED: neither side expects a message
 * @SMC_CLOSE_STATES: number of states
 */
enum smc_close_state {
	SMC_CLOSE_ACTIVE,
	SMC_CLOSE_PEER_WAIT1,
	SMC_CLOSE_PEER_WAIT1_CLOSED,
	SMC_CLOSE_PEER_WAIT2,
	SMC_CLOSE_PEER_WAIT2_CLOSED,
	SMC_CLOSE_APP_FIN_WAIT,
	SMC_CLOSE_APP_WAIT1,
	SMC_CLOSE_APP_WAIT1_CLOSED,
	SMC_CLOSE_APP_WAIT2,
	SMC_CLOSE_APP_WAIT2_CLOSED,
	SMC_CLOSE_PEER_FIN_WAIT,
	SMC_CLOSE_ABORT_WAIT,
	SMC_CLOSE_CLOSED,
	SMC_CLOSE_STATES
};

/**
 * enum smc_close_event - events that end a connection
 * @SMC_CLOSE_SHUT_WR: the program shut down writing
 * @SMC_CLOSE_CLOSE: the program closed the socket
 * @SMC_CLOSE_ABORT: this side aborts: unread data at close, data after both directions were shut
 *	down, TCP reset, protocol violation
 * @SMC_CLOSE_PEER_DONE: "sending done" received
 * @SMC_CLOSE_PEER_CLOSED: "closed" received
 * @SMC_CLOSE_PEER_ABORTED: "abnormal close" received
 * @SMC_CLOSE_TIMEOUT: the peer has not ended the connection in time
 * @SMC_CLOSE_EVENTS: number of events
 */
enum smc_close_event {
	SMC_CLOSE_SHUT_WR,
	SMC_CLOSE_CLOSE,
	SMC_CLOSE_ABORT,
	SMC_CLOSE_PEER_DONE,
	SMC_CLOSE_PEER_CLOSED,
	SMC_CLOSE_PEER_ABORTED,
	SMC_CLOSE_TIMEOUT,
	SMC_CLOSE_EVENTS
};

/**
 * enum smc_close_action - what an event requires; a set
 * @SMC_CLOSE_SEND_DONE: send "sending done"
 * @SMC_CLOSE_SEND_CLOSED: send "closed", then nothing more
 * @SMC_CLOSE_SEND_ABORT: send "abnormal close", then nothing more
 * @SMC_CLOSE_EOF: no further data arrives: readers get the end of the stream
 * @SMC_CLOSE_NO_WRITE: the peer would not read data: writers get an error
 * @SMC_CLOSE_RESET: report the reset to the program
 * @SMC_CLOSE_FREE: the peer does not write to the receive buffer any more
 */
enum smc_close_action {
	SMC_CLOSE_SEND_DONE	= 0x01,
	SMC_CLOSE_SEND_CLOSED	= 0x02,
	SMC_CLOSE_SEND_ABORT	= 0x04,
	SMC_CLOSE_EOF		= 0x08,
	SMC_CLOSE_NO_WRITE	= 0x10,
	SMC_CLOSE_RESET		= 0x20,
	SMC_CLOSE_FREE		= 0x40,
};

/**
 * struct smc_close_step - result of an event
 * @next: the new state, may be the same
 * @actions: set of enum smc_close_action
 */
struct smc_close_step {
	enum smc_close_state next;
	u8 actions;
};

struct smc_close_step smc_close_step(enum smc_close_state state, enum smc_close_event event);
const char *smc_close_state_name(enum smc_close_state state);
u8 smc_close_state_abi(enum smc_close_state state);
u8 smc_close_tcp_state(enum smc_close_state state);
bool smc_close_both_done(enum smc_close_state state);
bool smc_close_ended(enum smc_close_state state);

#endif /* _NET_SMC_CONN_CLOSE_FSM_H */
