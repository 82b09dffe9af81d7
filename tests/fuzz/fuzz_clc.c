// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC: what was parsed can be built, and what was built is parsed to the same.
 *
 * Every input is tried as it is and once more with eye catchers and length
 * repaired, which a fuzzer hardly ever gets right while it changes the size.
 */
#include <linux/errno.h>

#include "../../net/smc/wire/clc.h"
#include "fuzz.h"

static void check_proposal(const struct smc_clc_proposal *p)
{
	CHECK(p->version >= 1 && p->version <= 15);
	CHECK(!(p->offers & ~(SMC_VARIANTS_V1 | SMC_VARIANTS_V2)));
	CHECK(p->version > 1 || !(p->offers & SMC_VARIANTS_V2));
	CHECK(p->subnet.nr_prefixes <= SMC_MAX_PREFIXES);
	CHECK(p->subnet.ipv4_len <= 32);
	CHECK(p->v2.nr_ueids <= SMC_MAX_UEIDS);
	CHECK(p->v2.nr_ism <= SMC_MAX_ISM_ENTRIES);
}

static void check_accept(const struct smc_clc_accept *a)
{
	CHECK(a->variant && !(a->variant & (a->variant - 1)));
	CHECK(!(a->variant & SMC_VARIANTS_R) || a->rdma.rmbe_index);
	CHECK(a->first_contact.nr_gids <= SMC_MAX_GIDS);
	CHECK(strlen(a->first_contact.hostname) <= SMC_HOSTNAME_LEN);
	CHECK(!strpbrk(a->first_contact.hostname, " \t\n\033%"));
}

static void try_message(const u8 *data, size_t size)
{
	static struct smc_clc msg, again;
	static u8 built[SMC_CLC_BUILD_MAX], rebuilt[SMC_CLC_BUILD_MAX];
	struct smc_clc_header header = { 0 }, again_header = { 0 };
	int err = smc_clc_parse_header(data, size, &header);
	int len;

	CHECK(err == 0 || err == -EBADMSG);
	if (err)
		return;
	CHECK(smc_clc_may_begin(data, size));
	/* Who reads from TCP sees the header first and must come to the same verdict */
	CHECK(!smc_clc_parse_header(data, SMC_CLC_HEADER_LEN, &again_header));
	CHECK(!memcmp(&header, &again_header, sizeof(header)));
	memset(&msg, 0, sizeof(msg));
	memset(&again, 0, sizeof(again));
	err = smc_clc_parse(&header, data, size, &msg);
	CHECK(err == 0 || err == -EBADMSG || err == -EPROTO);
	if (err)
		return;
	CHECK(header.length == size && header.type == msg.type);
	if (msg.type == SMC_CLC_PROPOSAL)
		check_proposal(&msg.proposal);
	else if (msg.type != SMC_CLC_DECLINE)
		check_accept(&msg.accept);

	len = smc_clc_build(&msg, built, sizeof(built));
	if (msg.type == SMC_CLC_PROPOSAL && !msg.proposal.offers) {
		CHECK(len == -EINVAL);
		return;
	}
	CHECK(len > 0 && (size_t)len <= sizeof(built));
	CHECK(smc_clc_parse_header(built, len, &header) == 0);
	CHECK(smc_clc_parse(&header, built, len, &again) == 0);
	if (msg.type == SMC_CLC_PROPOSAL) {
		/* We neither send versions of the future nor half of an extended GID */
		again.proposal.version = msg.proposal.version;
		again.proposal.v2.ism_unpaired = msg.proposal.v2.ism_unpaired;
	}
	CHECK(!memcmp(&msg, &again, sizeof(msg)));
	CHECK(smc_clc_build(&again, rebuilt, sizeof(rebuilt)) == len);
	CHECK(!memcmp(built, rebuilt, len));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy;

	try_message(data, size);
	if (size < SMC_CLC_HEADER_LEN + 4 || size > 65535)
		return 0;

	copy = copy_input(data, size);
	memcpy(copy, copy[3] & 1 ? "\xe2\xd4\xc3\xd9" : "\xe2\xd4\xc3\xc4", 4);
	memcpy(copy + size - 4, copy, 4);
	copy[5] = size >> 8;
	copy[6] = size;
	try_message(copy, size);
	free(copy);
	return 0;
}
