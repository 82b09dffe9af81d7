// SPDX-License-Identifier: GPL-2.0-only
/*
 * LLC: what was parsed can be built, and what was built is parsed to the same.
 *
 * Every input is tried as it is and once more with the length repaired.
 */
#include <linux/errno.h>

#include "../../net/smc/wire/llc.h"
#include "fuzz.h"

static void check_message(const struct smc_llc *msg)
{
	CHECK(msg->version == 1 || msg->version == 2);
	CHECK(strcmp(smc_llc_type_name(msg->type), "unknown"));
	if (msg->type == SMC_LLC_REQUEST_ADD_LINK)
		CHECK(msg->request_add_link.nr_gids <= SMC_MAX_GIDS);
	if (msg->type == SMC_LLC_DELETE_RKEY)
		CHECK(msg->delete_rkey.nr_rkeys);
}

static void try_message(const u8 *data, size_t size)
{
	static struct smc_llc msg, again;
	static u8 built[SMC_LLC_BUILD_MAX], rebuilt[SMC_LLC_BUILD_MAX];
	int err = smc_llc_parse(data, size, &msg);
	int len;

	CHECK(err == 0 || err == -ENOMSG || err == -EPROTO);
	if (err)
		return;
	check_message(&msg);

	len = smc_llc_build(&msg, built, sizeof(built));
	if ((msg.type == SMC_LLC_REQUEST_ADD_LINK && msg.request_add_link.bad_gids) ||
	    (msg.type == SMC_LLC_ADD_LINK && msg.add_link.unfit)) {
		CHECK(len == -EINVAL);
		return;
	}
	/* We always reject in full length */
	CHECK((size_t)len == size || (msg.type == SMC_LLC_ADD_LINK && msg.add_link.rejected));
	CHECK(smc_llc_parse(built, len, &again) == 0);
	CHECK(!memcmp(&msg, &again, sizeof(msg)));
	CHECK(smc_llc_build(&again, rebuilt, sizeof(rebuilt)) == len);
	CHECK(!memcmp(built, rebuilt, len));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy;

	try_message(data, size);
	if (size < 4 || size > 65535)
		return 0;

	copy = copy_input(data, size);
	if (copy[0] & 0x20) {
		copy[1] = size >> 8;
		copy[2] = size;
	} else {
		copy[1] = size;
	}
	try_message(copy, size);
	free(copy);
	return 0;
}
