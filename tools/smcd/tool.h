/* SPDX-License-Identifier: GPL-2.0-only */
/* smcd and smcr are one program with two views: SMC-D and SMC-R */
#ifndef SMCD_TOOL_H
#define SMCD_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "genl.h"
#include "json.h"
#include "uapi.h"

#define EXIT_USAGE	255	/* also: command failed */
#define EXIT_MODULE	1	/* also: unknown object */

/**
 * struct tool - options of the command line
 * @name: smcd or smcr
 * @smcd: show SMC-D, else SMC-R
 * @details: -d
 * @more: -dd
 * @absolute: -a
 * @json: -j
 * @genl: connection to SMC_GEN_NETLINK
 */
struct tool {
	const char	*name;
	bool		smcd;
	bool		details;
	bool		more;
	bool		absolute;
	bool		json;
	struct genl	genl;
};

/* Objects: called with the words that follow the object; return the exit status */
int info_main(struct tool *tool, int argc, char **argv);
int linkgroup_main(struct tool *tool, int argc, char **argv);
int device_main(struct tool *tool, int argc, char **argv);
int stats_main(struct tool *tool, int argc, char **argv);
int ueid_main(struct tool *tool, int argc, char **argv);
int seid_main(struct tool *tool, int argc, char **argv);
int hslimit_main(struct tool *tool, int argc, char **argv);

/**
 * tool_main() - the whole program
 * @name: smcd or smcr
 * @argc: as in main()
 * @argv: as in main()
 *
 * Returns: the exit status.
 */
int tool_main(const char *name, int argc, char **argv);

/**
 * tool_usage() - print the usage on stderr
 * @tool: the program
 *
 * Returns: EXIT_USAGE.
 */
int tool_usage(const struct tool *tool);

/**
 * tool_matches() - is a word a command or an abbreviation of it?
 * @word: as typed
 * @command: the full name
 */
bool tool_matches(const char *word, const char *command);

/**
 * tool_only() - check the words of an object whose only command is "show"
 * @argc: number of words after the object
 * @argv: these words
 *
 * Returns: true if there is no word, or only "show".
 */
bool tool_only(int argc, char **argv);

/**
 * tool_dump() - request a list, and print an error if that fails
 * @tool: the program
 * @command: SMC_NETLINK_xxx
 * @list: see netlink_dump()
 *
 * Returns: false on failure.
 */
bool tool_dump(struct tool *tool, int command, struct netlink_list *list);

/**
 * tool_complain() - print why the last request failed
 * @tool: the program
 *
 * Returns: EXIT_USAGE.
 */
int tool_complain(const struct tool *tool);

/**
 * tool_trim() - remove the blanks at the end of a text
 * @text: changed in place
 *
 * Returns: @text.
 */
char *tool_trim(char *text);

#endif /* SMCD_TOOL_H */
