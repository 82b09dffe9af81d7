// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>

#include "attr.h"

bool attr_parse(const struct nlattr **tb, int max, const struct nlattr *head,
		int len)
{
	const struct nlattr *attr = head;

	memset(tb, 0, sizeof(*tb) * (max + 1));
	if (!head)
		return true;
	while (nla_ok(attr, len)) {
		int type = nla_type(attr);

		if (type <= max && !tb[type])
			tb[type] = attr;
		attr = nla_next(attr, &len);
	}
	if (len <= 0)
		return true;
	fprintf(stderr, "Error: Deficit %d, rta_len=%d\n", len,
		len >= (int)sizeof(*attr) ? attr->nla_len : 0);
	return false;
}

bool attr_parse_nest(const struct nlattr **tb, int max, const struct nlattr *nest)
{
	if (!nest)
		return attr_parse(tb, max, NULL, 0);
	return attr_parse(tb, max, nla_data(nest), nla_len(nest));
}

uint64_t attr_uint(const struct nlattr *attr, uint64_t missing)
{
	union {
		uint8_t		u8;
		uint16_t	u16;
		uint32_t	u32;
		uint64_t	u64;
	} value;

	if (!attr || nla_len(attr) > (int)sizeof(value))
		return missing;
	/* the kernel aligns attributes to four bytes only */
	memcpy(&value, nla_data(attr), nla_len(attr));
	switch (nla_len(attr)) {
	case 1:
		return value.u8;
	case 2:
		return value.u16;
	case 4:
		return value.u32;
	case 8:
		return value.u64;
	default:
		return missing;
	}
}

char *attr_text(const void *text, size_t len, char *buf, size_t size)
{
	size_t i;

	len = strnlen(text, len < size ? len : size - 1);
	memcpy(buf, text, len);
	buf[len] = '\0';
	for (i = 0; i < len; i++)
		if (buf[i] < ' ' || buf[i] > '~')
			buf[i] = '?';
	return buf;
}

char *attr_string(const struct nlattr *attr, char *buf, size_t size)
{
	if (!attr)
		return attr_text("", 0, buf, size);
	return attr_text(nla_data(attr), nla_len(attr), buf, size);
}

bool attr_copy(const struct nlattr *attr, void *dst, size_t size, size_t least)
{
	size_t len = attr ? nla_len(attr) : 0;

	memset(dst, 0, size);
	if (len < least)
		return false;
	memcpy(dst, nla_data(attr), len < size ? len : size);
	return true;
}
