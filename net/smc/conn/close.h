/* SPDX-License-Identifier: GPL-2.0-only */
/* Closing and aborting a connection; close_fsm.h decides what each event does */
#ifndef _NET_SMC_CONN_CLOSE_H
#define _NET_SMC_CONN_CLOSE_H

#include "conn.h"

/* How long the peer may take to answer an abort, or to send one before or after its RST */
#define SMC_ABORT_TIMEOUT	(2 * HZ)

/*
 * Has the peer closed the connection, after it has read all that was written? Then nothing is lost
 * when its end goes. Any context.
 */
static inline bool smc_close_has_peer_left(const struct smc_conn *conn)
{
	return READ_ONCE(conn->rx_state_flags) & SMC_CDC_CLOSED && !smc_tx_outstanding(conn);
}

/*
 * Has the program closed, and "closed" was not sent yet, because data that waits for the peer's
 * window comes before it? conn->lock is held.
 */
static inline bool smc_close_is_delayed(const struct smc_conn *conn)
{
	return conn->tx.state_flags & SMC_CDC_CLOSED && !conn->tx.ended;
}

void smc_close_event(struct smc_conn *conn, enum smc_close_event event, int error);
void smc_close_abort(struct smc_conn *conn, enum smc_stat cause, int error);
void smc_close_shutdown(struct smc_conn *conn, int how);
bool smc_close_orderly(struct smc_conn *conn);
void smc_close_release(struct smc_conn *conn);
void smc_conn_detach(struct smc_conn *conn);

u8 smc_close_apply(struct smc_conn *conn, enum smc_close_event event, int error);
u8 smc_close_apply_abort(struct smc_conn *conn, enum smc_stat cause, int error);
u8 smc_close_refuse_data(struct smc_conn *conn);
bool smc_close_peer_waits(const struct smc_conn *conn, bool blocked);
u8 smc_close_peer_gone(struct smc_conn *conn);
void smc_close_finish(struct smc_conn *conn, u8 actions);

#endif /* _NET_SMC_CONN_CLOSE_H */
