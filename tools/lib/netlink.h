/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A netlink connection that keeps what people need when something fails: the
 * kernel's errno, not libnl's translation of it, and the kernel's own text.
 */
#ifndef SMC_TOOLS_NETLINK_H
#define SMC_TOOLS_NETLINK_H

#include <stdbool.h>
#include <stddef.h>

struct nl_msg;
struct nl_sock;
struct nlmsghdr;

/**
 * struct netlink - a connection
 * @sk: libnl's view of it
 * @error: errno of the last failed request, or 0
 * @text: the kernel's explanation (extended ACK), or empty
 * @trouble: what went wrong if the reply itself was unusable, or NULL
 */
struct netlink {
	struct nl_sock	*sk;
	int		error;
	char		text[256];
	const char	*trouble;
};

/**
 * struct netlink_list - the messages of a dump
 * @msg: copies of them
 * @count: how many
 * @room: how many fit into the array
 * @interrupted: something changed while they were collected, several times
 */
struct netlink_list {
	struct nlmsghdr	**msg;
	size_t		count;
	size_t		room;
	bool		interrupted;
};

/**
 * netlink_open() - connect to a part of the kernel
 * @nl: filled in
 * @protocol: NETLINK_GENERIC, NETLINK_SOCK_DIAG
 *
 * Returns: 0 or a negative errno.
 */
int netlink_open(struct netlink *nl, int protocol);

void netlink_close(struct netlink *nl);

/**
 * netlink_dump() - request a list
 * @nl: the connection
 * @request: the message; stays the caller's
 * @list: filled in, to be freed with netlink_list_free(); empty on failure
 *
 * A list that changed while it was read is read again.
 *
 * Returns: 0 or a negative errno.
 */
int netlink_dump(struct netlink *nl, struct nl_msg *request,
		 struct netlink_list *list);

/**
 * netlink_request() - request something to be done
 * @nl: the connection
 * @request: the message; stays the caller's
 *
 * Returns: 0 or a negative errno.
 */
int netlink_request(struct netlink *nl, struct nl_msg *request);

void netlink_list_free(struct netlink_list *list);

#endif /* SMC_TOOLS_NETLINK_H */
