/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds-checked reading and writing of messages.
 *
 * An access that does not fit reads zeros or writes nothing. It sets @bad, which stays set, and
 * empties the reader or writer, so that no later access fits either. A parser can therefore read
 * all fields and check @bad once at the end. All numbers are big-endian.
 */
#ifndef _NET_SMC_WIRE_BITS_H
#define _NET_SMC_WIRE_BITS_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

/**
 * struct smc_reader - reads a message
 * @data: the message
 * @len: its length, 0 if @bad
 * @pos: offset of the next access, at most @len
 * @bad: an access did not fit
 */
struct smc_reader {
	const u8 *data;
	size_t len;
	size_t pos;
	bool bad;
};

/**
 * struct smc_writer - writes a message
 * @data: buffer
 * @size: its size, 0 if @bad
 * @pos: offset of the next access, at most @size
 * @bad: an access did not fit
 */
struct smc_writer {
	u8 *data;
	size_t size;
	size_t pos;
	bool bad;
};

static inline void smc_reader_init(struct smc_reader *r, const void *data, size_t len)
{
	*r = (struct smc_reader){ .data = data, .len = len };
}

static inline void smc_writer_init(struct smc_writer *w, void *data, size_t size)
{
	*w = (struct smc_writer){ .data = data, .size = size };
}

static inline void smc_reader_fail(struct smc_reader *r)
{
	r->len = 0;
	r->pos = 0;
	r->bad = true;
}

static inline void smc_writer_fail(struct smc_writer *w)
{
	w->size = 0;
	w->pos = 0;
	w->bad = true;
}

/* Skip @n bytes. Return: their address, or NULL if fewer are left */
static inline const u8 *smc_reader_take(struct smc_reader *r, size_t n)
{
	const u8 *p = r->data + r->pos;

	if (n > r->len - r->pos) {
		smc_reader_fail(r);
		return NULL;
	}
	r->pos += n;
	return p;
}

static inline u8 *smc_writer_take(struct smc_writer *w, size_t n)
{
	u8 *p = w->data + w->pos;

	if (n > w->size - w->pos) {
		smc_writer_fail(w);
		return NULL;
	}
	w->pos += n;
	return p;
}

/* Continue at offset @pos of the message */
static inline void smc_reader_seek(struct smc_reader *r, size_t pos)
{
	if (pos > r->len)
		smc_reader_fail(r);
	else
		r->pos = pos;
}

static inline void smc_skip(struct smc_reader *r, size_t n)
{
	smc_reader_take(r, n);
}

static inline u8 smc_get_u8(struct smc_reader *r)
{
	const u8 *p = smc_reader_take(r, 1);

	return p ? *p : 0;
}

static inline u16 smc_get_be16(struct smc_reader *r)
{
	const u8 *p = smc_reader_take(r, 2);

	return p ? get_unaligned_be16(p) : 0;
}

static inline u32 smc_get_be24(struct smc_reader *r)
{
	const u8 *p = smc_reader_take(r, 3);

	return p ? p[0] << 16 | p[1] << 8 | p[2] : 0;
}

static inline u32 smc_get_be32(struct smc_reader *r)
{
	const u8 *p = smc_reader_take(r, 4);

	return p ? get_unaligned_be32(p) : 0;
}

static inline u64 smc_get_be64(struct smc_reader *r)
{
	const u8 *p = smc_reader_take(r, 8);

	return p ? get_unaligned_be64(p) : 0;
}

static inline void smc_get_bytes(struct smc_reader *r, void *out, size_t n)
{
	const u8 *p = smc_reader_take(r, n);

	if (p)
		memcpy(out, p, n);
	else
		memset(out, 0, n);
}

static inline void smc_put_u8(struct smc_writer *w, u8 value)
{
	u8 *p = smc_writer_take(w, 1);

	if (p)
		*p = value;
}

static inline void smc_put_be16(struct smc_writer *w, u16 value)
{
	u8 *p = smc_writer_take(w, 2);

	if (p)
		put_unaligned_be16(value, p);
}

static inline void smc_put_be24(struct smc_writer *w, u32 value)
{
	u8 *p = smc_writer_take(w, 3);

	if (p) {
		p[0] = value >> 16 & 0xff;
		p[1] = value >> 8 & 0xff;
		p[2] = value & 0xff;
	}
}

static inline void smc_put_be32(struct smc_writer *w, u32 value)
{
	u8 *p = smc_writer_take(w, 4);

	if (p)
		put_unaligned_be32(value, p);
}

static inline void smc_put_be64(struct smc_writer *w, u64 value)
{
	u8 *p = smc_writer_take(w, 8);

	if (p)
		put_unaligned_be64(value, p);
}

static inline void smc_put_bytes(struct smc_writer *w, const void *bytes, size_t n)
{
	u8 *p = smc_writer_take(w, n);

	if (p)
		memcpy(p, bytes, n);
}

static inline void smc_put_zero(struct smc_writer *w, size_t n)
{
	u8 *p = smc_writer_take(w, n);

	if (p)
		memset(p, 0, n);
}

/* Write zeros up to offset @pos of the message, which must not be before the current position */
static inline void smc_put_zero_to(struct smc_writer *w, size_t pos)
{
	if (pos < w->pos)
		smc_writer_fail(w);
	else
		smc_put_zero(w, pos - w->pos);
}

#endif /* _NET_SMC_WIRE_BITS_H */
