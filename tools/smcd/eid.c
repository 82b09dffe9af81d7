// SPDX-License-Identifier: GPL-2.0-only
/* User EIDs, the system EID, and the handshake limitation */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "attr.h"
#include "tool.h"

/* Check the syntax of an EID. The kernel needs it padded with blanks */
static bool eid_valid(const char *eid)
{
	size_t len = strlen(eid);

	return len && len <= SMC_MAX_EID_LEN && isalnum((unsigned char)eid[0]) &&
	       strspn(eid, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == len &&
	       !strstr(eid, "..");
}

static void print_error(const struct tool *tool, const char *text)
{
	const char *explanation = tool->genl.nl.text;

	fprintf(stderr, "Error: %s\n", text);
	if (*explanation)
		fprintf(stderr, "%s: %s\n", tool->name, explanation);
}

/* Send a command with or without an EID. Returns: 0 or a negative errno */
static int send_request(struct tool *tool, int command, const char *eid)
{
	struct nl_msg *msg = genl_message(&tool->genl, command, false);
	char padded[SMC_MAX_EID_LEN + 1];
	int ret;

	if (eid) {
		snprintf(padded, sizeof(padded), "%-*s", SMC_MAX_EID_LEN, eid);
		nla_put_string(msg, SMC_NLA_EID_TABLE_ENTRY, padded);
	}
	ret = netlink_request(&tool->genl.nl, msg);
	nlmsg_free(msg);
	return ret;
}

static int ueid_show(struct tool *tool)
{
	const struct nlattr *tb[SMC_NLA_EID_TABLE_MAX + 1];
	struct json j = { .out = stdout };
	char eid[SMC_MAX_EID_LEN + 1];
	struct netlink_list list;
	size_t i;

	if (!tool_dump(tool, SMC_NETLINK_DUMP_UEID, &list))
		return EXIT_USAGE;
	if (tool->json)
		json_array(&j, NULL);
	for (i = 0; i < list.count; i++) {
		if (genl_parse(list.msg[i], tb, SMC_NLA_EID_TABLE_MAX) < 0 ||
		    !tb[SMC_NLA_EID_TABLE_ENTRY])
			continue;
		attr_string(tb[SMC_NLA_EID_TABLE_ENTRY], eid, sizeof(eid));
		if (tool->json)
			json_string(&j, NULL, tool_trim(eid));
		else
			puts(eid);
	}
	if (tool->json)
		json_array_end(&j);
	netlink_list_free(&list);
	return EXIT_SUCCESS;
}

static int ueid_add(struct tool *tool, const char *eid)
{
	if (!eid_valid(eid)) {
		fprintf(stderr, "Error: Invalid User EID specified: %s\n", eid);
		return EXIT_USAGE;
	}
	switch (send_request(tool, SMC_NETLINK_ADD_UEID, eid)) {
	case 0:
		return EXIT_SUCCESS;
	case -EINVAL:
		print_error(tool, "User EID was rejected by the kernel");
		break;
	case -ENOMEM:
		print_error(tool, "Kernel reported an out of memory condition");
		break;
	case -ERANGE:
		print_error(tool, "Maximum number of User EIDs is reached");
		break;
	case -EEXIST:
		print_error(tool, "Specified User EID is already defined");
		break;
	default:
		return tool_complain(tool);
	}
	return EXIT_USAGE;
}

static int ueid_del(struct tool *tool, const char *eid)
{
	if (!eid_valid(eid)) {
		fprintf(stderr, "Error: Invalid User EID specified: %s\n", eid);
		return EXIT_USAGE;
	}
	switch (send_request(tool, SMC_NETLINK_REMOVE_UEID, eid)) {
	case 0:
		return EXIT_SUCCESS;
	case -ENOENT:
		print_error(tool, "Specified User EID is not defined");
		break;
	case -EAGAIN:
		fputs("Info: The last User EID was removed, the System EID was activated\n",
		      stderr);
		break;
	default:
		return tool_complain(tool);
	}
	return EXIT_USAGE;
}

int ueid_main(struct tool *tool, int argc, char **argv)
{
	if (tool_only(argc, argv))
		return ueid_show(tool);
	if (argc == 2 && tool_matches(argv[0], "add"))
		return ueid_add(tool, argv[1]);
	if (argc == 2 && tool_matches(argv[0], "del"))
		return ueid_del(tool, argv[1]);
	if (argc == 1 && tool_matches(argv[0], "flush"))
		return send_request(tool, SMC_NETLINK_FLUSH_UEID, NULL) ?
		       tool_complain(tool) : EXIT_SUCCESS;
	return tool_usage(tool);
}

struct seid {
	char	eid[SMC_MAX_EID_LEN + 1];	/* empty: not set */
	bool	enabled;
};

static bool seid_read(struct tool *tool, struct seid *seid)
{
	const struct nlattr *tb[SMC_NLA_SEID_TABLE_MAX + 1];
	struct netlink_list list;
	size_t i;

	memset(seid, 0, sizeof(*seid));
	if (!tool_dump(tool, SMC_NETLINK_DUMP_SEID, &list))
		return false;
	for (i = 0; i < list.count; i++) {
		if (genl_parse(list.msg[i], tb, SMC_NLA_SEID_TABLE_MAX) < 0)
			continue;
		attr_string(tb[SMC_NLA_SEID_ENTRY], seid->eid, sizeof(seid->eid));
		seid->enabled = attr_uint(tb[SMC_NLA_SEID_ENABLED], 0);
	}
	netlink_list_free(&list);
	return true;
}

static void seid_show(const struct tool *tool, struct seid *seid)
{
	struct json j = { .out = stdout };

	if (tool->json) {
		json_object(&j, NULL);
		if (seid->eid[0])
			json_string(&j, "seid", tool_trim(seid->eid));
		else
			json_null(&j, "seid");
		json_bool(&j, "enabled", seid->enabled);
		json_object_end(&j);
	} else if (seid->eid[0]) {
		printf("%s [%s]\n", seid->eid, seid->enabled ? "enabled" : "disabled");
	} else {
		puts("n/a");
	}
}

static int seid_switch(struct tool *tool, const struct seid *seid, int command)
{
	if (!seid->eid[0]) {
		fputs("Error: System EID not available\n", stderr);
		return EXIT_USAGE;
	}
	switch (send_request(tool, command, NULL)) {
	case 0:
		return EXIT_SUCCESS;
	case -ENOENT:
		print_error(tool, "System EID cannot be disabled because no User EID is defined");
		return EXIT_USAGE;
	default:
		return tool_complain(tool);
	}
}

int seid_main(struct tool *tool, int argc, char **argv)
{
	bool show = tool_only(argc, argv);
	struct seid seid;
	int command = 0;

	if (argc == 1 && tool_matches(argv[0], "enable"))
		command = SMC_NETLINK_ENABLE_SEID;
	else if (argc == 1 && tool_matches(argv[0], "disable"))
		command = SMC_NETLINK_DISABLE_SEID;
	if (!show && !command)
		return tool_usage(tool);
	if (!seid_read(tool, &seid))
		return EXIT_USAGE;
	if (!show)
		return seid_switch(tool, &seid, command);
	seid_show(tool, &seid);
	return EXIT_SUCCESS;
}

static int hslimit_show(struct tool *tool)
{
	const struct nlattr *tb[SMC_NLA_HS_LIMITATION_MAX + 1];
	struct json j = { .out = stdout };
	struct netlink_list list;
	bool enabled = false;
	size_t i;

	if (!tool_dump(tool, SMC_NETLINK_DUMP_HS_LIMITATION, &list))
		return EXIT_USAGE;
	for (i = 0; i < list.count; i++)
		if (genl_parse(list.msg[i], tb, SMC_NLA_HS_LIMITATION_MAX) >= 0)
			enabled = attr_uint(tb[SMC_NLA_HS_LIMITATION_ENABLED], 0);
	netlink_list_free(&list);
	if (tool->json) {
		json_object(&j, NULL);
		json_bool(&j, "enabled", enabled);
		json_object_end(&j);
	} else {
		puts(enabled ? "enabled" : "disabled");
	}
	return EXIT_SUCCESS;
}

int hslimit_main(struct tool *tool, int argc, char **argv)
{
	int command;

	if (tool_only(argc, argv))
		return hslimit_show(tool);
	if (argc == 1 && tool_matches(argv[0], "enable"))
		command = SMC_NETLINK_ENABLE_HS_LIMITATION;
	else if (argc == 1 && tool_matches(argv[0], "disable"))
		command = SMC_NETLINK_DISABLE_HS_LIMITATION;
	else
		return tool_usage(tool);
	return send_request(tool, command, NULL) ? tool_complain(tool) : EXIT_SUCCESS;
}
