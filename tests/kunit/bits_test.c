// SPDX-License-Identifier: GPL-2.0-only
/* Readers and writers never leave the buffer */
#include <kunit/test.h>

#include "../../net/smc/wire/bits.h"
#include "hex.h"

static const u8 counted[] = {
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
	0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12,
};

static void read_numbers(struct kunit *test)
{
	struct smc_reader r;

	smc_reader_init(&r, counted, sizeof(counted));
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 0x01);
	KUNIT_EXPECT_EQ(test, smc_get_be16(&r), 0x0203);
	KUNIT_EXPECT_EQ(test, smc_get_be24(&r), 0x040506);
	KUNIT_EXPECT_EQ(test, smc_get_be32(&r), 0x0708090a);
	KUNIT_EXPECT_EQ(test, smc_get_be64(&r), 0x0b0c0d0e0f101112ULL);
	KUNIT_EXPECT_EQ(test, r.pos, sizeof(counted));
	KUNIT_EXPECT_FALSE(test, r.bad);
}

static void read_high_bits(struct kunit *test)
{
	static const u8 ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct smc_reader r;

	smc_reader_init(&r, ones, sizeof(ones));
	KUNIT_EXPECT_EQ(test, smc_get_be24(&r), 0xffffff);
	smc_reader_seek(&r, 0);
	KUNIT_EXPECT_EQ(test, smc_get_be32(&r), 0xffffffffU);
}

/* Each kind of access, with one byte less than it needs */
static void read_beyond_end(struct kunit *test)
{
	u8 out[4] = { 0xaa, 0xaa, 0xaa, 0xaa };
	static const u8 zeros[4];
	struct smc_reader r;

	smc_reader_init(&r, exact_copy(test, counted, 0), 0);
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);

	smc_reader_init(&r, exact_copy(test, counted, 1), 1);
	KUNIT_EXPECT_EQ(test, smc_get_be16(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);

	smc_reader_init(&r, exact_copy(test, counted, 2), 2);
	KUNIT_EXPECT_EQ(test, smc_get_be24(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);

	smc_reader_init(&r, exact_copy(test, counted, 3), 3);
	KUNIT_EXPECT_EQ(test, smc_get_be32(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);

	smc_reader_init(&r, exact_copy(test, counted, 7), 7);
	KUNIT_EXPECT_EQ(test, smc_get_be64(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);

	smc_reader_init(&r, exact_copy(test, counted, 3), 3);
	smc_get_bytes(&r, out, sizeof(out));
	KUNIT_EXPECT_MEMEQ(test, out, zeros, sizeof(out));
	KUNIT_EXPECT_TRUE(test, r.bad);

	smc_reader_init(&r, counted, 3);
	smc_skip(&r, 4);
	KUNIT_EXPECT_TRUE(test, r.bad);

	/* A huge length does not wrap around */
	smc_reader_init(&r, counted, 3);
	smc_skip(&r, 1);
	smc_skip(&r, (size_t)-1);
	KUNIT_EXPECT_TRUE(test, r.bad);
}

/* After a failure nothing is read, even if it would fit */
static void read_error_sticks(struct kunit *test)
{
	struct smc_reader r;

	smc_reader_init(&r, counted, 4);
	smc_skip(&r, 2);
	KUNIT_EXPECT_EQ(test, smc_get_be32(&r), 0);
	KUNIT_EXPECT_EQ(test, r.pos, r.len);
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);
	smc_reader_seek(&r, 0);
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);
	smc_reader_seek(&r, 1);
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 0);
	KUNIT_EXPECT_TRUE(test, r.bad);
	smc_skip(&r, 0);
	KUNIT_EXPECT_TRUE(test, r.bad);
}

static void seek(struct kunit *test)
{
	struct smc_reader r;

	smc_reader_init(&r, counted, 4);
	smc_reader_seek(&r, 3);
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 4);
	smc_reader_seek(&r, 1);
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 2);
	smc_reader_seek(&r, 4);
	KUNIT_EXPECT_FALSE(test, r.bad);
	smc_reader_seek(&r, 5);
	KUNIT_EXPECT_TRUE(test, r.bad);
	KUNIT_EXPECT_EQ(test, r.pos, r.len);
	smc_reader_seek(&r, 0);
	KUNIT_EXPECT_EQ(test, smc_get_u8(&r), 0);
}

static void write_numbers(struct kunit *test)
{
	struct smc_writer w;
	u8 buf[22];

	memset(buf, 0xaa, sizeof(buf));
	smc_writer_init(&w, buf, sizeof(buf));
	smc_put_u8(&w, 0x01);
	smc_put_be16(&w, 0x0203);
	smc_put_be24(&w, 0xff040506);
	smc_put_be32(&w, 0x0708090a);
	smc_put_be64(&w, 0x0b0c0d0e0f101112ULL);
	KUNIT_EXPECT_EQ(test, w.pos, 18);
	KUNIT_EXPECT_MEMEQ(test, buf, counted, 18);

	smc_put_zero(&w, 1);
	smc_put_zero_to(&w, 20);
	smc_put_zero_to(&w, 20);
	smc_put_bytes(&w, counted, 2);
	KUNIT_EXPECT_EQ(test, buf[18], 0);
	KUNIT_EXPECT_EQ(test, buf[19], 0);
	KUNIT_EXPECT_MEMEQ(test, buf + 20, counted, 2);
	KUNIT_EXPECT_EQ(test, w.pos, sizeof(buf));
	KUNIT_EXPECT_FALSE(test, w.bad);
}

/* Each kind of access, with one byte less than it needs, writes nothing */
static void write_beyond_end(struct kunit *test)
{
	static const u8 untouched[8];
	struct smc_writer w;
	u8 *buf;

	buf = exact_copy(test, untouched, 0);
	smc_writer_init(&w, buf, 0);
	smc_put_u8(&w, 0xff);
	KUNIT_EXPECT_TRUE(test, w.bad);

	buf = exact_copy(test, untouched, 1);
	smc_writer_init(&w, buf, 1);
	smc_put_be16(&w, 0xffff);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_MEMEQ(test, buf, untouched, 1);

	buf = exact_copy(test, untouched, 2);
	smc_writer_init(&w, buf, 2);
	smc_put_be24(&w, 0xffffff);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_MEMEQ(test, buf, untouched, 2);

	buf = exact_copy(test, untouched, 3);
	smc_writer_init(&w, buf, 3);
	smc_put_be32(&w, 0xffffffff);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_MEMEQ(test, buf, untouched, 3);

	buf = exact_copy(test, untouched, 7);
	smc_writer_init(&w, buf, 7);
	smc_put_be64(&w, 0xffffffffffffffffULL);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_MEMEQ(test, buf, untouched, 7);

	smc_writer_init(&w, buf, 7);
	smc_put_bytes(&w, counted, 8);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_MEMEQ(test, buf, untouched, 7);

	memset(buf, 0xff, 7);
	smc_writer_init(&w, buf, 7);
	smc_put_zero(&w, 8);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_EQ(test, buf[0], 0xff);
}

/* After a failure nothing is written, neither behind nor over what was written before */
static void write_error_sticks(struct kunit *test)
{
	struct smc_writer w;
	u8 buf[4] = { 0 };

	smc_writer_init(&w, buf, sizeof(buf));
	smc_put_be16(&w, 0x1122);
	smc_put_be32(&w, 0xffffffff);
	smc_put_u8(&w, 0xff);
	smc_put_zero_to(&w, 1);
	smc_put_bytes(&w, counted, 0);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_EQ(test, buf[0], 0x11);
	KUNIT_EXPECT_EQ(test, buf[1], 0x22);
	KUNIT_EXPECT_EQ(test, buf[2], 0);
	KUNIT_EXPECT_EQ(test, w.pos, w.size);
}

static void write_zeros_backwards(struct kunit *test)
{
	struct smc_writer w;
	u8 buf[4] = { 0 };

	smc_writer_init(&w, buf, sizeof(buf));
	smc_put_be16(&w, 0x1122);
	smc_put_zero_to(&w, 1);
	smc_put_u8(&w, 0xff);
	KUNIT_EXPECT_TRUE(test, w.bad);
	KUNIT_EXPECT_EQ(test, buf[0], 0x11);
	KUNIT_EXPECT_EQ(test, buf[1], 0x22);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(read_numbers),
	KUNIT_CASE(read_high_bits),
	KUNIT_CASE(read_beyond_end),
	KUNIT_CASE(read_error_sticks),
	KUNIT_CASE(seek),
	KUNIT_CASE(write_numbers),
	KUNIT_CASE(write_beyond_end),
	KUNIT_CASE(write_error_sticks),
	KUNIT_CASE(write_zeros_backwards),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_bits",
	.test_cases = cases,
};

kunit_test_suite(suite);
