/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of groups: enterprise ids, which admit a host to SMC version 2, and
 * PNET ids, which name a physical network. Both are fixed-size and padded with
 * blanks, never terminated with NUL.
 */
#ifndef _NET_SMC_WIRE_EID_H
#define _NET_SMC_WIRE_EID_H

#include <linux/string.h>
#include <linux/types.h>

#define SMC_EID_LEN		32
#define SMC_EID_SEED_LEN	16
#define SMC_PNETID_LEN		16

/**
 * struct smc_eid - enterprise id, set by a user (UEID) or made by the system (SEID)
 * @text: A-Z, 0-9, '-' and '.', padded with blanks; all zero means "none"
 */
struct smc_eid {
	char text[SMC_EID_LEN];
};

/**
 * struct smc_pnetid - name of a physical network
 * @text: A-Z and 0-9, padded with blanks; all zero means "none"
 */
struct smc_pnetid {
	char text[SMC_PNETID_LEN];
};

int smc_eid_parse(const char *text, size_t len, struct smc_eid *out);
bool smc_eid_valid(const struct smc_eid *eid);
int smc_eid_format(const struct smc_eid *eid, char *buf, size_t size);
void smc_eid_from_seed(const u8 seed[SMC_EID_SEED_LEN], struct smc_eid *out);

int smc_pnetid_parse(const char *text, size_t len, struct smc_pnetid *out);
bool smc_pnetid_valid(const struct smc_pnetid *pnetid);
int smc_pnetid_format(const struct smc_pnetid *pnetid, char *buf, size_t size);

/* All 32 bytes count, case as well */
static inline bool smc_eid_equal(const struct smc_eid *a, const struct smc_eid *b)
{
	return !memcmp(a->text, b->text, SMC_EID_LEN);
}

static inline bool smc_eid_is_none(const struct smc_eid *eid)
{
	static const struct smc_eid none;

	return smc_eid_equal(eid, &none);
}

static inline bool smc_pnetid_equal(const struct smc_pnetid *a, const struct smc_pnetid *b)
{
	return !memcmp(a->text, b->text, SMC_PNETID_LEN);
}

static inline bool smc_pnetid_is_none(const struct smc_pnetid *pnetid)
{
	static const struct smc_pnetid none;

	return smc_pnetid_equal(pnetid, &none);
}

#endif /* _NET_SMC_WIRE_EID_H */
