// SPDX-License-Identifier: GPL-2.0-only
/* Capabilities of this kernel and its hardware */
#include <stdio.h>
#include <stdlib.h>

#include "attr.h"
#include "tool.h"

/* PCI device IDs of RDMA adapters known to support RoCE v1, or v1 and v2 */
#define ROCE_EXPRESS	0x1004
#define ROCE_EXPRESS2	0x1016
#define ROCE_EXPRESS3	0x101e

struct info {
	bool		known;		/* the kernel has sent its capabilities */
	unsigned int	version;
	unsigned int	release;
	bool		smcr_v2;
	bool		ism_v2;
	char		hostname[SMC_MAX_HOSTNAME_LEN + 1];
	char		seid[SMC_MAX_EID_LEN + 1];
	bool		ism;
	bool		roce;
	bool		roce_v2;
};

static void decode_sys(struct info *info, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_SYS_MAX + 1];

	attr_parse_nest(tb, SMC_NLA_SYS_MAX, nest);
	info->known = true;
	info->version = attr_uint(tb[SMC_NLA_SYS_VER], 0);
	info->release = attr_uint(tb[SMC_NLA_SYS_REL], 0);
	info->smcr_v2 = attr_uint(tb[SMC_NLA_SYS_IS_SMCR_V2], 0);
	info->ism_v2 = attr_uint(tb[SMC_NLA_SYS_IS_ISM_V2], 0);
	attr_string(tb[SMC_NLA_SYS_LOCAL_HOST], info->hostname,
		    sizeof(info->hostname));
	attr_string(tb[SMC_NLA_SYS_SEID], info->seid, sizeof(info->seid));
}

static void decode_roce(struct info *info, const struct nlattr *nest)
{
	const struct nlattr *tb[SMC_NLA_DEV_MAX + 1];

	attr_parse_nest(tb, SMC_NLA_DEV_MAX, nest);
	switch (attr_uint(tb[SMC_NLA_DEV_PCI_DEVICE], 0)) {
	case ROCE_EXPRESS2:
	case ROCE_EXPRESS3:
		info->roce_v2 = true;
		/* fallthrough */
	case ROCE_EXPRESS:
		info->roce = true;
	}
}

static bool collect_info(struct tool *tool, struct info *info, int command)
{
	const struct nlattr *tb[SMC_GEN_MAX + 1];
	struct netlink_list list;
	size_t i;

	if (!tool_dump(tool, command, &list))
		return false;
	for (i = 0; i < list.count; i++) {
		if (genl_parse(list.msg[i], tb, SMC_GEN_MAX) != command)
			continue;
		if (tb[SMC_GEN_SYS_INFO])
			decode_sys(info, tb[SMC_GEN_SYS_INFO]);
		if (tb[SMC_GEN_DEV_SMCD])
			info->ism = true;
		if (tb[SMC_GEN_DEV_SMCR])
			decode_roce(info, tb[SMC_GEN_DEV_SMCR]);
	}
	netlink_list_free(&list);
	return true;
}

static const char *format_versions(bool any, bool v2)
{
	return !any ? "n/a" : v2 ? "v1 v2" : "v1";
}

static const char *or_na(const char *text)
{
	return *text ? text : "n/a";
}

static void show_info(const struct info *info)
{
	puts("Kernel Capabilities");
	if (info->known)
		printf("SMC Version:      %u.%u\n", info->version, info->release);
	else
		puts("SMC Version:      n/a");
	printf("SMC Hostname:     %s\n", or_na(info->hostname));
	printf("SMC-D Features:   %s\n", format_versions(info->known, info->version >= 2));
	printf("SMC-R Features:   %s\n", format_versions(info->known, info->smcr_v2));
	puts("\nHardware Capabilities");
	printf("SEID:             %s\n", or_na(info->seid));
	printf("ISM:              %s\n", format_versions(info->ism, info->ism_v2));
	printf("RoCE:             %s\n", format_versions(info->roce, info->roce_v2));
}

static void json_versions(struct json *j, const char *key, bool any, bool v2)
{
	json_array(j, key);
	if (any)
		json_string(j, NULL, "v1");
	if (any && v2)
		json_string(j, NULL, "v2");
	json_array_end(j);
}

static void json_trimmed(struct json *j, const char *key, char *text)
{
	if (*tool_trim(text))
		json_string(j, key, text);
	else
		json_null(j, key);
}

static void show_json(struct info *info)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	json_uint(&j, "version", info->version);
	json_uint(&j, "release", info->release);
	json_trimmed(&j, "hostname", info->hostname);
	json_versions(&j, "smcd", info->known, info->version >= 2);
	json_versions(&j, "smcr", info->known, info->smcr_v2);
	json_trimmed(&j, "seid", info->seid);
	json_versions(&j, "ism", info->ism, info->ism_v2);
	json_versions(&j, "roce", info->roce, info->roce_v2);
	json_object_end(&j);
}

int info_main(struct tool *tool, int argc, char **argv)
{
	struct info info = { 0 };

	if (!tool_only(argc, argv))
		return tool_usage(tool);
	if (!collect_info(tool, &info, SMC_NETLINK_GET_SYS_INFO) ||
	    !collect_info(tool, &info, SMC_NETLINK_GET_DEV_SMCD) ||
	    !collect_info(tool, &info, SMC_NETLINK_GET_DEV_SMCR))
		return EXIT_USAGE;
	if (tool->json)
		show_json(&info);
	else
		show_info(&info);
	return EXIT_SUCCESS;
}
