// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "tool.h"
#include "version.h"

static const struct object {
	const char	*name;
	int		(*main)(struct tool *tool, int argc, char **argv);
	bool		smcd_only;
	bool		loads_nothing;	/* a module loaded for it has nothing to show */
} objects[] = {
	/* an abbreviation means the first object that matches */
	{ .name = "device",	.main = device_main },
	{ .name = "linkgroup",	.main = linkgroup_main },
	{ .name = "info",	.main = info_main },
	{ .name = "stats",	.main = stats_main, .loads_nothing = true },
	{ .name = "ueid",	.main = ueid_main },
	{ .name = "seid",	.main = seid_main, .smcd_only = true },
	{ .name = "help" },
	{ .name = "hslimit",	.main = hslimit_main },
};

static void show_usage(const struct tool *tool, FILE *out)
{
	fprintf(out,
		"Usage: %s [OPTIONS] OBJECT {COMMAND | help}\n"
		"\n"
		"OPTIONS := { -v[ersion] | -h[elp] | -d[etails] | %s-a[bsolute] | -j[son] }\n"
		"\n"
		"OBJECT and COMMAND:\n"
		"  info      [show]\n",
		tool->name, tool->smcd ? "" : "-dd[etails] | ");
	if (tool->smcd)
		fputs("  linkgroup [show] [all | LG-ID]\n"
		      "  device    [show] [all]\n", out);
	else
		fputs("  linkgroup [show | link-show] [all | LG-ID] [ibdev DEV] [netdev DEV]\n"
		      "  device    [show] [all] [ibdev DEV] [netdev DEV]\n", out);
	fputs("  stats     [show] | reset | json | rate [SECONDS [COUNT]]\n"
	      "  ueid      [show] | add EID | del EID | flush\n", out);
	if (tool->smcd)
		fputs("  seid      [show] | enable | disable\n", out);
	fputs("  hslimit   [show] | enable | disable\n", out);
}

int tool_usage(const struct tool *tool)
{
	show_usage(tool, stderr);
	return EXIT_USAGE;
}

bool tool_matches(const char *word, const char *command)
{
	return *word && !strncmp(word, command, strlen(word));
}

bool tool_only(int argc, char **argv)
{
	return !argc || (argc == 1 && tool_matches(argv[0], "show"));
}

char *tool_trim(char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	return text;
}

int tool_complain(const struct tool *tool)
{
	const struct netlink *nl = &tool->genl.nl;

	if (nl->trouble)
		fprintf(stderr, "Error: %s\n", nl->trouble);
	else if (nl->error == EOPNOTSUPP)
		fputs("Error: Operation not supported by kernel\n", stderr);
	else
		fprintf(stderr, "Error: %s\n", strerror(nl->error));
	if (nl->text[0])
		fprintf(stderr, "%s: %s\n", tool->name, nl->text);
	return EXIT_USAGE;
}

bool tool_dump(struct tool *tool, int command, struct netlink_list *list)
{
	if (genl_dump(&tool->genl, command, list)) {
		tool_complain(tool);
		return false;
	}
	if (list->interrupted)
		fputs("Warning: the list changed while it was read\n", stderr);
	return true;
}

static bool is_option(const char *word, const char *letter, const char *name)
{
	if (!strcmp(word + 1, letter) || !strcmp(word + 1, name))
		return true;
	return word[1] == '-' && !strcmp(word + 2, name);
}

/* Returns: -1 to continue, else the exit status */
static int parse_option(struct tool *tool, const char *word)
{
	if (is_option(word, "v", "version")) {
		/* to stderr, as the existing tools do */
		fprintf(stderr, SMC_TOOLS_VERSION_FORMAT "\n", tool->name);
		return EXIT_USAGE;
	}
	if (is_option(word, "h", "help")) {
		show_usage(tool, stdout);
		return EXIT_SUCCESS;
	}
	if (is_option(word, "d", "details")) {
		tool->details = true;
	} else if (is_option(word, "dd", "ddetails")) {
		tool->details = true;
		tool->more = true;
	} else if (is_option(word, "a", "absolute")) {
		tool->absolute = true;
	} else if (is_option(word, "ad", "da")) {
		tool->absolute = true;
		tool->details = true;
	} else if (is_option(word, "j", "json")) {
		tool->json = true;
	} else {
		fprintf(stderr, "Error: Option \"%s\" is unknown, try \"%s -help\"\n",
			word, tool->name);
		return EXIT_USAGE;
	}
	return -1;
}

/* Options may be anywhere; the remaining arguments are words */
static int parse_tool_options(struct tool *tool, int *argc, char **argv)
{
	int words = 0, status, i;

	for (i = 0; i < *argc; i++) {
		if (argv[i][0] != '-') {
			argv[words++] = argv[i];
			continue;
		}
		status = parse_option(tool, argv[i]);
		if (status >= 0)
			return status;
	}
	*argc = words;
	return -1;
}

static const struct object *find_object(const struct tool *tool, const char *word)
{
	const struct object *object;

	for (object = objects; object < objects + sizeof(objects) / sizeof(*objects);
	     object++)
		if (tool_matches(word, object->name))
			return object;
	fprintf(stderr, "Error: Object \"%s\" is unknown, try \"%s help\"\n", word,
		tool->name);
	return NULL;
}

static int run_object(struct tool *tool, const struct object *object, int argc, char **argv)
{
	int ret = -ENOENT;

	if (!object->loads_nothing || module_is_loaded())
		ret = genl_open(&tool->genl, SMC_GENL_FAMILY_NAME);
	if (ret == -ENOENT) {
		fputs("Error: SMC module not loaded\n", stderr);
		return EXIT_MODULE;
	}
	if (ret) {
		fprintf(stderr, "Error: Cannot open netlink socket: %s\n",
			strerror(-ret));
		return EXIT_MODULE;
	}
	ret = object->main(tool, argc, argv);
	genl_close(&tool->genl);
	if (fflush(stdout) || ferror(stdout)) {
		perror("Error: Cannot write");
		return EXIT_USAGE;
	}
	return ret;
}

int tool_main(const char *name, int argc, char **argv)
{
	struct tool tool = { .name = name, .smcd = !strcmp(name, "smcd") };
	const struct object *object;
	int status;

	argc--;
	argv++;
	status = parse_tool_options(&tool, &argc, argv);
	if (status >= 0)
		return status;
	if (!argc)
		return tool_usage(&tool);
	object = find_object(&tool, argv[0]);
	if (!object)
		return EXIT_MODULE;
	if (!object->main || (argc == 2 && !strcmp(argv[1], "help"))) {
		show_usage(&tool, stdout);
		return EXIT_SUCCESS;
	}
	if (object->smcd_only && !tool.smcd) {
		fprintf(stderr, "Error: Object \"%s\" is valid for SMC-D only\n",
			object->name);
		return EXIT_USAGE;
	}
	return run_object(&tool, object, argc - 1, argv + 1);
}
