/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A netlink connection that saves what users need after a failure: the kernel's errno, not libnl's
 * translation, and the kernel's error text.
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
 * @sk: libnl's socket
 * @error: errno of the last failed request, or 0
 * @text: the kernel's explanation (extended ACK), or empty
 * @trouble: why the reply was malformed, or NULL
 */
struct netlink {
	struct nl_sock	*sk;
	int		error;
	char		text[256];
	const char	*trouble;
};

/**
 * struct netlink_list - the messages of a dump
 * @msg: copies of the messages
 * @count: number of messages
 * @room: size of the array
 * @interrupted: the list changed during each attempt to read it
 */
struct netlink_list {
	struct nlmsghdr	**msg;
	size_t		count;
	size_t		room;
	bool		interrupted;
};

/**
 * netlink_open() - connect to a netlink protocol
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
 * @request: the message; the caller frees it
 * @list: filled in, the caller frees it with netlink_list_free(); empty on failure
 *
 * A list that changed while it was read is read again.
 *
 * Returns: 0 or a negative errno.
 */
int netlink_dump(struct netlink *nl, struct nl_msg *request,
		 struct netlink_list *list);

/**
 * netlink_request() - send a command
 * @nl: the connection
 * @request: the message; the caller frees it
 *
 * Returns: 0 or a negative errno.
 */
int netlink_request(struct netlink *nl, struct nl_msg *request);

void netlink_list_free(struct netlink_list *list);

#endif /* SMC_TOOLS_NETLINK_H */
