// SPDX-License-Identifier: GPL-2.0-only
/* EIDs and PNET ids: what is valid survives the way to text and back */
#include <linux/errno.h>

#include "../../net/smc/wire/eid.h"
#include "fuzz.h"

static void try_eid(const char *text, size_t len)
{
	char shown[SMC_EID_LEN + 1];
	struct smc_eid eid, again;
	int shown_len, err = smc_eid_parse(text, len, &eid);

	CHECK(err == 0 || err == -EINVAL);
	if (err)
		return;
	CHECK(smc_eid_valid(&eid) && !smc_eid_is_none(&eid));
	shown_len = smc_eid_format(&eid, shown, sizeof(shown));
	CHECK(shown_len > 0 && (size_t)shown_len == strlen(shown));
	CHECK((size_t)shown_len <= len && !memcmp(shown, text, shown_len));
	CHECK(!strpbrk(shown, " ") && !strstr(shown, ".."));
	CHECK(smc_eid_parse(shown, shown_len, &again) == 0);
	CHECK(smc_eid_equal(&eid, &again));
}

static void try_pnetid(const char *text, size_t len)
{
	char shown[SMC_PNETID_LEN + 1];
	struct smc_pnetid pnetid, again;
	int shown_len, err = smc_pnetid_parse(text, len, &pnetid);

	CHECK(err == 0 || err == -EINVAL);
	if (err)
		return;
	CHECK(smc_pnetid_valid(&pnetid) && !smc_pnetid_is_none(&pnetid));
	shown_len = smc_pnetid_format(&pnetid, shown, sizeof(shown));
	CHECK(shown_len > 0 && (size_t)shown_len == strlen(shown));
	CHECK(smc_pnetid_parse(shown, shown_len, &again) == 0);
	CHECK(smc_pnetid_equal(&pnetid, &again));
}

/* Also what came over the wire and was never checked can be shown */
static void try_wire(const u8 *data, size_t size)
{
	char shown[SMC_EID_LEN + 1];
	struct smc_eid eid;

	if (size < sizeof(eid))
		return;
	memcpy(&eid, data, sizeof(eid));
	smc_eid_valid(&eid);
	CHECK(smc_eid_format(&eid, shown, sizeof(shown)) >= 0);
	smc_eid_from_seed(data, &eid);
	CHECK(smc_eid_valid(&eid));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	try_eid((const char *)data, size);
	try_pnetid((const char *)data, size);
	try_wire(data, size);
	return 0;
}
