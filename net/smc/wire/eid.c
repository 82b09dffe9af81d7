// SPDX-License-Identifier: GPL-2.0-only
/* EIDs and PNET IDs: syntax, padding, conversion to text */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include "eid.h"

static bool is_alnum(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

/* Length without the trailing blanks */
static size_t unpadded_len(const char *text, size_t len)
{
	while (len && text[len - 1] == ' ')
		len--;
	return len;
}

static int format_name(const char *text, size_t padded, char *buf, size_t size)
{
	/* An ID that is not set has no text */
	size_t len = text[0] ? unpadded_len(text, padded) : 0;

	if (len >= size)
		return -ENOSPC;
	memcpy(buf, text, len);
	buf[len] = '\0';
	return len;
}

/**
 * smc_eid_valid() - does an EID obey the syntax?
 * @eid: as received or configured
 *
 * A-Z, 0-9, '-' and '.'; the first character is a letter or digit; no two dots in a row; not empty;
 * blanks only as padding.
 */
bool smc_eid_valid(const struct smc_eid *eid)
{
	size_t len = unpadded_len(eid->text, SMC_EID_LEN);
	size_t i;

	if (!len || !is_alnum(eid->text[0]))
		return false;
	for (i = 1; i < len; i++) {
		char c = eid->text[i];

		if (!is_alnum(c) && c != '-' && c != '.')
			return false;
		if (c == '.' && eid->text[i - 1] == '.')
			return false;
	}
	return true;
}

/**
 * smc_eid_parse() - parse a configured EID
 * @text: with or without padding, not NUL-terminated
 * @len: its length
 * @out: result, padded; undefined on failure
 *
 * Return: 0, or -EINVAL if the syntax is wrong.
 */
int smc_eid_parse(const char *text, size_t len, struct smc_eid *out)
{
	if (len > SMC_EID_LEN)
		return -EINVAL;
	memset(out->text, ' ', SMC_EID_LEN);
	memcpy(out->text, text, len);
	return smc_eid_valid(out) ? 0 : -EINVAL;
}

/**
 * smc_eid_format() - convert an EID to text
 * @eid: the EID
 * @buf: result, NUL-terminated and without padding
 * @size: its size; SMC_EID_LEN + 1 is always enough
 *
 * Return: length of the text, or -ENOSPC.
 */
int smc_eid_format(const struct smc_eid *eid, char *buf, size_t size)
{
	return format_name(eid->text, SMC_EID_LEN, buf, size);
}

/*
 * Build a system EID: the seed in hexadecimal, which fills exactly one EID. Hosts with the same
 * 128-bit seed match; the seed must be unknown to all others.
 */
void smc_eid_from_seed(const u8 seed[SMC_EID_SEED_LEN], struct smc_eid *out)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t i;

	for (i = 0; i < SMC_EID_SEED_LEN; i++) {
		out->text[2 * i] = digits[seed[i] >> 4];
		out->text[2 * i + 1] = digits[seed[i] & 0xf];
	}
}

/* Letters and digits, not empty, blanks only as padding */
bool smc_pnetid_valid(const struct smc_pnetid *pnetid)
{
	size_t len = unpadded_len(pnetid->text, SMC_PNETID_LEN);
	size_t i;

	for (i = 0; i < len; i++) {
		if (!is_alnum(pnetid->text[i]))
			return false;
	}
	return len > 0;
}

/**
 * smc_pnetid_parse() - parse a configured PNET ID
 * @text: not NUL-terminated; lower case is converted to upper case
 * @len: its length, including padding
 * @out: result, padded; undefined on failure
 *
 * Return: 0, or -EINVAL if the syntax is wrong.
 */
int smc_pnetid_parse(const char *text, size_t len, struct smc_pnetid *out)
{
	size_t i;

	if (len > SMC_PNETID_LEN)
		return -EINVAL;
	memset(out->text, ' ', SMC_PNETID_LEN);
	for (i = 0; i < len; i++)
		out->text[i] = to_upper(text[i]);
	return smc_pnetid_valid(out) ? 0 : -EINVAL;
}

/**
 * smc_pnetid_format() - convert a PNET ID to text
 * @pnetid: the ID
 * @buf: result, NUL-terminated and without padding
 * @size: its size; SMC_PNETID_LEN + 1 is always enough
 *
 * Return: length of the text, or -ENOSPC.
 */
int smc_pnetid_format(const struct smc_pnetid *pnetid, char *buf, size_t size)
{
	return format_name(pnetid->text, SMC_PNETID_LEN, buf, size);
}
