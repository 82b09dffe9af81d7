// SPDX-License-Identifier: GPL-2.0-only
/* smcr|smcd linkgroup: which groups and links to show */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "linkgroup.h"
#include "names.h"
#include "tool.h"

/* Users do not see the low byte of the number of an SMC-R group */
#define SMCR_ID_MASK	0xffffff00u

struct query {
	bool		links;		/* show links, not groups */
	bool		by_id;
	bool		no_such_id;	/* not a number: matches no group */
	uint32_t	id;
	const char	*ibdev;
	const char	*netdev;
};

static void parse_id(struct query *query, const char *word)
{
	unsigned long id;
	char *end;

	query->by_id = true;
	id = strtoul(word, &end, 16);
	query->no_such_id = end == word || *end || id > UINT32_MAX;
	query->id = id;
}

/* Returns: false if the arguments are invalid */
static bool parse_query(const struct tool *tool, struct query *query, int argc, char **argv)
{
	if (argc && (tool_matches(argv[0], "show") ||
		     (!tool->smcd && tool_matches(argv[0], "link-show")))) {
		query->links = argv[0][0] == 'l';
		argc--;
		argv++;
	}
	while (argc) {
		if (!tool->smcd && argc > 1 && !strcmp(argv[0], "ibdev")) {
			query->ibdev = argv[1];
			argc--;
			argv++;
		} else if (!tool->smcd && argc > 1 && !strcmp(argv[0], "netdev")) {
			query->netdev = argv[1];
			argc--;
			argv++;
		} else if (query->by_id || !strcmp(argv[0], "ibdev") ||
			   !strcmp(argv[0], "netdev")) {
			return false;
		} else if (strcmp(argv[0], "all")) {
			parse_id(query, argv[0]);
		}
		argc--;
		argv++;
	}
	return true;
}

static bool group_wanted(const struct query *query, const struct group *group)
{
	uint32_t mask = group->smcd ? UINT32_MAX : SMCR_ID_MASK;

	if (!query->by_id)
		return true;
	return !query->no_such_id && (group->id & mask) == (query->id & mask);
}

static bool link_wanted(const struct query *query, const struct link *link)
{
	char netdev[IF_NAMESIZE];

	if (query->ibdev && strcmp(query->ibdev, link->device))
		return false;
	return !query->netdev ||
	       !strcmp(query->netdev, name_netdev(link->netdev, netdev));
}

static void show_group(const struct tool *tool, struct json *j,
		       const struct group *group, bool first)
{
	if (tool->json) {
		group_print_json(j, group);
	} else if (tool->details) {
		if (!first)
			putchar('\n');
		group_print_details(group);
	} else {
		if (first)
			group_print_header(tool->smcd);
		group_print(group);
	}
}

static void show_groups(const struct tool *tool, const struct query *query,
			const struct netlink_list *list)
{
	const struct nlattr *tb[SMC_GEN_MAX + 1];
	struct json j = { .out = stdout };
	struct group group;
	bool first = true;
	size_t i;

	if (tool->json)
		json_array(&j, NULL);
	for (i = 0; i < list->count; i++) {
		if (genl_parse(list->msg[i], tb, SMC_GEN_MAX) < 0)
			continue;
		if (tool->smcd && tb[SMC_GEN_LGR_SMCD])
			group_decode_smcd(&group, tb[SMC_GEN_LGR_SMCD]);
		else if (!tool->smcd && tb[SMC_GEN_LGR_SMCR])
			group_decode_smcr(&group, tb[SMC_GEN_LGR_SMCR]);
		else
			continue;
		if (!group_wanted(query, &group))
			continue;
		show_group(tool, &j, &group, first);
		first = false;
	}
	if (tool->json)
		json_array_end(&j);
}

static void show_link(const struct tool *tool, struct json *j,
		      const struct group *group, const struct link *link, bool first)
{
	if (tool->json) {
		link_print_json(j, group, link);
		return;
	}
	if (first)
		link_print_header(tool->details, tool->more);
	link_print(group, link, tool->details, tool->more);
}

/* In the list, each group precedes its links */
static void show_links(const struct tool *tool, const struct query *query,
		       const struct netlink_list *list)
{
	const struct nlattr *tb[SMC_GEN_MAX + 1];
	struct json j = { .out = stdout };
	struct group group = { 0 };
	bool first = true;
	struct link link;
	size_t i;

	if (tool->json)
		json_array(&j, NULL);
	for (i = 0; i < list->count; i++) {
		if (genl_parse(list->msg[i], tb, SMC_GEN_MAX) < 0)
			continue;
		if (tb[SMC_GEN_LGR_SMCR])
			group_decode_smcr(&group, tb[SMC_GEN_LGR_SMCR]);
		if (!tb[SMC_GEN_LINK_SMCR])
			continue;
		link_decode(&link, tb[SMC_GEN_LINK_SMCR]);
		if (!group_wanted(query, &group) || !link_wanted(query, &link))
			continue;
		show_link(tool, &j, &group, &link, first);
		first = false;
	}
	if (tool->json)
		json_array_end(&j);
}

int linkgroup_main(struct tool *tool, int argc, char **argv)
{
	struct query query = { 0 };
	struct netlink_list list;
	int command;

	if (!parse_query(tool, &query, argc, argv))
		return tool_usage(tool);
	command = tool->smcd ? SMC_NETLINK_GET_LGR_SMCD :
		  query.links ? SMC_NETLINK_GET_LINK_SMCR : SMC_NETLINK_GET_LGR_SMCR;
	if (!tool_dump(tool, command, &list))
		return EXIT_USAGE;
	if (query.links)
		show_links(tool, &query, &list);
	else
		show_groups(tool, &query, &list);
	netlink_list_free(&list);
	return EXIT_SUCCESS;
}
