// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>

#include "names.h"

#define LOOKUP(table, value, buf) \
	look_up_value(table, sizeof(table) / sizeof((table)[0]), value, buf)

static const char *look_up_value(const char * const *table, size_t size, uint64_t value,
				 char *buf)
{
	if (value < size && table[value])
		return table[value];
	snprintf(buf, NAME_LEN, "%#" PRIx64 "?", value);
	return buf;
}

const char *name_role(uint64_t role, char *buf)
{
	static const char * const names[] = { "CLNT", "SERV" };

	return LOOKUP(names, role, buf);
}

const char *name_group_type(uint64_t type, char *buf)
{
	static const char * const names[] = {
		"NONE", "SINGLE", "SYM", "ASYMP", "ASYML",
	};

	return LOOKUP(names, type, buf);
}

const char *name_link_state(uint64_t state, char *buf)
{
	static const char * const names[] = {
		"LINK_UNUSED", "LINK_INACTIVE", "LINK_ACTIVATING", "LINK_ACTIVE",
	};

	return LOOKUP(names, state, buf);
}

const char *name_buffer_type(uint64_t type, char *buf)
{
	static const char * const names[] = { "physical", "virtual", "mixed" };

	return LOOKUP(names, type, buf);
}

const char *name_peer_os(uint64_t os, char *buf)
{
	static const char * const names[] = { NULL, "ZOS", "LINUX", "AIX" };

	if (os && os < sizeof(names) / sizeof(names[0]))
		return names[os];
	snprintf(buf, NAME_LEN, "Unknown (0x%02" PRIx64 ")", os);
	return buf;
}

const char *name_rdma_type(uint64_t pci_device, char *buf)
{
	switch (pci_device) {
	case 0x1004:
		return "RoCE_Express";
	case 0x1016:
		return "RoCE_Express2";
	case 0x101e:
		return "RoCE_Express3";
	}
	snprintf(buf, NAME_LEN, "%" PRIx64, pci_device);
	return buf;
}

const char *name_ism_type(uint64_t pci_device, char *buf)
{
	if (pci_device == 0x04ed)
		return "ISM";
	snprintf(buf, NAME_LEN, "%" PRIx64, pci_device);
	return buf;
}

const char *name_netdev(uint32_t index, char *buf)
{
	return index && if_indextoname(index, buf) ? buf : "n/a";
}
