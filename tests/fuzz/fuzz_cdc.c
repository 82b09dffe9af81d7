// SPDX-License-Identifier: GPL-2.0-only
/* CDC messages and SMC-D control blocks: parse, build, parse, compare */
#include <linux/errno.h>

#include "../../net/smc/wire/cdc.h"
#include "fuzz.h"

static void check_equal(const struct smc_cdc *a, const struct smc_cdc *b)
{
	CHECK(a->seqno == b->seqno && a->token == b->token);
	CHECK(smc_cursor_equal(a->producer, b->producer));
	CHECK(smc_cursor_equal(a->consumer, b->consumer));
	CHECK(a->producer_flags == b->producer_flags && a->state_flags == b->state_flags);
}

static void try_message(const u8 *data, size_t size)
{
	struct smc_cdc cdc, again;
	u8 built[SMC_CDC_LEN];
	int err = smc_cdc_parse(data, size, &cdc);

	CHECK(err == (size == SMC_CDC_LEN && data[0] == SMC_CDC_TYPE && data[1] == SMC_CDC_LEN ?
		      0 : -EPROTO));
	if (err)
		return;
	CHECK(smc_cdc_build(&cdc, built, sizeof(built)) == SMC_CDC_LEN);
	CHECK(smc_cdc_parse(built, sizeof(built), &again) == 0);
	check_equal(&cdc, &again);
}

static void try_block(const u8 *data, size_t size)
{
	struct smc_cdc cdc, again;
	u8 built[SMC_CDC_BLOCK_LEN];
	int err = smc_cdc_block_parse(data, size, &cdc);

	CHECK(err == (size == SMC_CDC_BLOCK_LEN && data[0] == SMC_CDC_TYPE ? 0 : -EPROTO));
	if (err)
		return;
	CHECK(!cdc.seqno && !cdc.token);
	CHECK(smc_cdc_block_build(&cdc, built, sizeof(built)) == SMC_CDC_BLOCK_LEN);
	CHECK(smc_cdc_block_parse(built, sizeof(built), &again) == 0);
	check_equal(&cdc, &again);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	try_message(data, size);
	try_block(data, size);
	return 0;
}
