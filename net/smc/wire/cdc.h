/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connection data control (CDC): cursors and state of one connection (RFC 7609, A.4).
 *
 * SMC-R sends the 44-byte CDC message over the link. SMC-D writes a 32-byte control block at the
 * start of the receiver's DMB element. The element identifies the connection, so the block has
 * neither sequence number nor token.
 */
#ifndef _NET_SMC_WIRE_CDC_H
#define _NET_SMC_WIRE_CDC_H

#include <linux/types.h>

#include "cursor.h"

#define SMC_CDC_TYPE		0xfe	/* first byte of both formats */
#define SMC_CDC_LEN		44	/* SMC-R message */
#define SMC_CDC_BLOCK_LEN	32	/* SMC-D control block, 8-byte aligned in the DMB */

/**
 * enum smc_cdc_producer - producer flags
 * @SMC_CDC_WRITER_BLOCKED: the ring is full and the sender has more data
 * @SMC_CDC_URGENT_PENDING: the sender has urgent data, which may not be in the ring yet
 * @SMC_CDC_URGENT_PRESENT: the byte before the producer cursor is urgent
 * @SMC_CDC_UPDATE_REQUESTED: the receiver must send its consumer cursor
 * @SMC_CDC_FAILOVER: failover validation; only sequence number and token are valid
 */
enum smc_cdc_producer {
	SMC_CDC_WRITER_BLOCKED		= 0x80,
	SMC_CDC_URGENT_PENDING		= 0x40,
	SMC_CDC_URGENT_PRESENT		= 0x20,
	SMC_CDC_UPDATE_REQUESTED	= 0x10,
	SMC_CDC_FAILOVER		= 0x08,
};

/**
 * enum smc_cdc_state - connection state flags
 * @SMC_CDC_SENDING_DONE: the sender writes no more data
 * @SMC_CDC_CLOSED: the sender closed the connection; this is its last CDC message
 * @SMC_CDC_ABORTED: the sender aborted the connection
 */
enum smc_cdc_state {
	SMC_CDC_SENDING_DONE	= 0x80,
	SMC_CDC_CLOSED		= 0x40,
	SMC_CDC_ABORTED		= 0x20,
};

/**
 * struct smc_cdc - CDC message or control block in host byte order
 * @seqno: sequence number on this connection, starts at 1 (SMC-R)
 * @token: alert token of the receiver (SMC-R)
 * @producer: where the sender writes next, in the receiver's ring
 * @consumer: what the sender reads next, in the sender's ring
 * @producer_flags: set of enum smc_cdc_producer
 * @state_flags: set of enum smc_cdc_state
 */
struct smc_cdc {
	u16 seqno;
	u32 token;
	struct smc_cursor producer;
	struct smc_cursor consumer;
	u8 producer_flags;
	u8 state_flags;
};

int smc_cdc_parse(const void *buf, size_t len, struct smc_cdc *out);
int smc_cdc_build(const struct smc_cdc *in, void *buf, size_t size);
int smc_cdc_block_parse(const void *buf, size_t len, struct smc_cdc *out);
int smc_cdc_block_build(const struct smc_cdc *in, void *buf, size_t size);

/* Distance from @from forward to @to, modulo 2^16; 0x8000 and more means backward */
static inline u32 smc_cdc_seqno_distance(u16 from, u16 to)
{
	return (to - from) & 0xffff;
}

/* Is @seqno later than @last (RFC 1982)? An equal number is a duplicate */
static inline bool smc_cdc_seqno_after(u16 seqno, u16 last)
{
	return seqno != last && smc_cdc_seqno_distance(last, seqno) < 0x8000;
}

/*
 * Failover validation: @sent is the number of the last message whose delivery the peer's queue pair
 * has reported. If it was not received, data is lost and the connection must be reset.
 */
static inline bool smc_cdc_seqno_covers(u16 received, u16 sent)
{
	return smc_cdc_seqno_distance(sent, received) < 0x8000;
}

#endif /* _NET_SMC_WIRE_CDC_H */
