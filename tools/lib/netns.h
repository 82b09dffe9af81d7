/* SPDX-License-Identifier: GPL-2.0-only */
/* Network namespaces: enter each of them in turn */
#ifndef SMC_TOOLS_NETNS_H
#define SMC_TOOLS_NETNS_H

#include <sys/types.h>

/**
 * struct netns - a network namespace
 * @inode: its inode number, as in /proc/PID/ns/net
 * @name: its name in /run/netns, or NULL
 */
struct netns {
	ino_t		inode;
	const char	*name;
};

/* Called inside the namespace */
typedef void netns_visitor(const struct netns *ns, void *data);

/**
 * netns_open_own() - open the caller's namespace
 *
 * Returns: a descriptor for netns_leave() and close(), or a negative errno.
 */
int netns_open_own(void);

/**
 * netns_enter() - move the caller into a namespace
 * @fd: descriptor of the namespace
 *
 * Returns: 0 or a negative errno.
 */
int netns_enter(int fd);

/**
 * netns_leave() - move the caller back
 * @own: from netns_open_own()
 *
 * Exits on failure, because the process could not leave the namespace in another way.
 */
void netns_leave(int own);

/**
 * netns_for_each() - visit all namespaces that a process or a name refers to
 * @visit: called once for each of them, first for the caller's
 * @data: for @visit
 *
 * Returns: 0, or a negative errno if the caller has no access to some of them.
 */
int netns_for_each(netns_visitor *visit, void *data);

#endif /* SMC_TOOLS_NETNS_H */
