/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMC_TOOLS_GENL_H
#define SMC_TOOLS_GENL_H

#include "netlink.h"

struct nlattr;

/**
 * struct genl - a connection to a generic netlink family
 * @nl: the connection
 * @family: the number of the family
 */
struct genl {
	struct netlink	nl;
	int		family;
};

/**
 * genl_open() - connect to a generic netlink family
 * @g: filled in
 * @name: name of the family
 *
 * The kernel loads the module if it can.
 *
 * Returns: 0 or a negative errno; -ENOENT if the family does not exist.
 */
int genl_open(struct genl *g, const char *name);

void genl_close(struct genl *g);

/**
 * genl_message() - create a request
 * @g: the family
 * @command: its command
 * @dump: request a list
 *
 * Exits if there is no memory.
 *
 * Returns: a message, which the caller frees with nlmsg_free().
 */
struct nl_msg *genl_message(struct genl *g, int command, bool dump);

/**
 * genl_dump() - request a list, without arguments
 * @g: the family
 * @command: its command
 * @list: see netlink_dump()
 *
 * Returns: 0 or a negative errno.
 */
int genl_dump(struct genl *g, int command, struct netlink_list *list);

/**
 * genl_parse() - parse a message of a list
 * @msg: the message
 * @tb: table of @max + 1 attributes, filled in
 * @max: highest type to store
 *
 * Returns: the command, or -1 if the message is malformed.
 */
int genl_parse(const struct nlmsghdr *msg, const struct nlattr **tb, int max);

#endif /* SMC_TOOLS_GENL_H */
