// SPDX-License-Identifier: GPL-2.0-only
/* CDC messages and control blocks: parse and build */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "bits.h"
#include "cdc.h"

/* Control block of SMC-D: two cursors of 8 bytes; the first contains the flags */
#define BLOCK_PRODUCER	8
#define BLOCK_CONSUMER	16

#define PRODUCER_FLAGS	(SMC_CDC_WRITER_BLOCKED | SMC_CDC_URGENT_PENDING |	\
			 SMC_CDC_URGENT_PRESENT | SMC_CDC_UPDATE_REQUESTED |	\
			 SMC_CDC_FAILOVER)
#define STATE_FLAGS	(SMC_CDC_SENDING_DONE | SMC_CDC_CLOSED | SMC_CDC_ABORTED)

static void read_cursor(struct smc_reader *r, struct smc_cursor *cursor)
{
	smc_skip(r, 2);
	cursor->wrap = smc_get_be16(r);
	cursor->count = smc_get_be32(r);
}

static void write_cursor(struct smc_writer *w, const struct smc_cursor *cursor)
{
	smc_put_zero(w, 2);
	smc_put_be16(w, cursor->wrap);
	smc_put_be32(w, cursor->count);
}

/**
 * smc_cdc_parse() - parse an SMC-R CDC message
 * @buf: the message
 * @len: number of bytes received
 * @out: result. The cursors are not checked
 *
 * A failover validation has only a sequence number and a token; all other fields are ignored (RFC
 * 7609, A.4) and returned as zero.
 *
 * Return: 0, or -EPROTO if this is not a CDC message.
 */
int smc_cdc_parse(const void *buf, size_t len, struct smc_cdc *out)
{
	struct smc_reader r;

	if (len != SMC_CDC_LEN)
		return -EPROTO;

	smc_reader_init(&r, buf, len);
	if (smc_get_u8(&r) != SMC_CDC_TYPE || smc_get_u8(&r) != SMC_CDC_LEN)
		return -EPROTO;
	out->seqno = smc_get_be16(&r);
	out->token = smc_get_be32(&r);
	read_cursor(&r, &out->producer);
	read_cursor(&r, &out->consumer);
	out->producer_flags = smc_get_u8(&r) & PRODUCER_FLAGS;
	out->state_flags = smc_get_u8(&r) & STATE_FLAGS;

	if (out->producer_flags & SMC_CDC_FAILOVER)
		*out = (struct smc_cdc){
			.seqno = out->seqno,
			.token = out->token,
			.producer_flags = SMC_CDC_FAILOVER,
		};
	return 0;
}

/**
 * smc_cdc_build() - build an SMC-R CDC message
 * @in: the message
 * @buf: buffer
 * @size: its size
 *
 * Return: SMC_CDC_LEN, or -ENOSPC if the buffer is too small.
 */
int smc_cdc_build(const struct smc_cdc *in, void *buf, size_t size)
{
	struct smc_writer w;

	smc_writer_init(&w, buf, size);
	smc_put_u8(&w, SMC_CDC_TYPE);
	smc_put_u8(&w, SMC_CDC_LEN);
	smc_put_be16(&w, in->seqno);
	smc_put_be32(&w, in->token);
	write_cursor(&w, &in->producer);
	write_cursor(&w, &in->consumer);
	smc_put_u8(&w, in->producer_flags);
	smc_put_u8(&w, in->state_flags);
	smc_put_zero_to(&w, SMC_CDC_LEN);

	return w.bad ? -ENOSPC : SMC_CDC_LEN;
}

/**
 * smc_cdc_block_parse() - parse an SMC-D control block
 * @buf: the block
 * @len: its length
 * @out: result. The cursors are not checked
 *
 * Each cursor, with its flags, is one aligned 64-bit word. If the peer may write concurrently, the
 * caller must first copy the block word by word, so that no cursor is torn.
 *
 * Return: 0, or -EPROTO if this is not a control block.
 */
int smc_cdc_block_parse(const void *buf, size_t len, struct smc_cdc *out)
{
	const u8 *block = buf;
	u64 producer, consumer;

	memset(out, 0, sizeof(*out));
	if (len != SMC_CDC_BLOCK_LEN || block[0] != SMC_CDC_TYPE)
		return -EPROTO;

	producer = get_unaligned_be64(block + BLOCK_PRODUCER);
	consumer = get_unaligned_be64(block + BLOCK_CONSUMER);
	out->producer.wrap = producer >> 48;
	out->producer.count = producer >> 16;
	out->producer_flags = (producer >> 8) & PRODUCER_FLAGS & ~SMC_CDC_FAILOVER;
	out->state_flags = producer & STATE_FLAGS;
	out->consumer.wrap = consumer >> 48;
	out->consumer.count = consumer >> 16;
	return 0;
}

static u64 pack_cursor(const struct smc_cursor *cursor)
{
	return (u64)cursor->wrap << 48 | (u64)cursor->count << 16;
}

/**
 * smc_cdc_block_build() - build an SMC-D control block
 * @in: the values; it has no sequence number and no token
 * @buf: buffer
 * @size: its size
 *
 * Return: SMC_CDC_BLOCK_LEN, or -ENOSPC if the buffer is too small.
 */
int smc_cdc_block_build(const struct smc_cdc *in, void *buf, size_t size)
{
	u8 *block = buf;

	if (size < SMC_CDC_BLOCK_LEN)
		return -ENOSPC;

	memset(block, 0, SMC_CDC_BLOCK_LEN);
	block[0] = SMC_CDC_TYPE;
	put_unaligned_be64(pack_cursor(&in->producer) | in->producer_flags << 8 | in->state_flags,
			   block + BLOCK_PRODUCER);
	put_unaligned_be64(pack_cursor(&in->consumer), block + BLOCK_CONSUMER);
	return SMC_CDC_BLOCK_LEN;
}
