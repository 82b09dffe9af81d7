/* SPDX-License-Identifier: GPL-2.0-only */
/* An AF_SMC socket, as sock_diag describes it */
#ifndef SMC_TOOLS_SOCK_H
#define SMC_TOOLS_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netlink.h"
#include "uapi.h"

enum sock_state {
	STATE_ACTIVE	= 1,
	STATE_INIT	= 2,
	STATE_CLOSED	= 7,
	STATE_LISTEN	= 10,
};

/* Longest "address:port", with the NUL */
#define SOCK_ADDR_LEN	64

/**
 * struct sock - a socket
 * @base: fields of all sockets
 * @shutdown: bit 0: no more receiving, bit 1: no more sending
 * @has_fallback: @fallback is valid
 * @has_conn: @conn is valid
 * @has_link: @link is valid (SMC-R)
 * @has_dmb: @dmb is valid (SMC-D)
 * @fallback: why it uses TCP
 * @conn: buffers and cursors
 * @rcvbuf_max: bytes up to which the receive buffer may grow, 0 if the kernel does not tell
 * @link: RDMA link
 * @dmb: DMBs of both ends
 */
struct sock {
	struct smc_diag_msg		base;
	uint8_t				shutdown;
	bool				has_fallback;
	bool				has_conn;
	bool				has_link;
	bool				has_dmb;
	struct smc_diag_fallback	fallback;
	struct smc_diag_conninfo	conn;
	uint32_t			rcvbuf_max;
	struct smc_diag_lgrinfo		link;
	struct smc_tools_dmbinfo	dmb;
};

/**
 * struct sock_filter - which sockets to list
 * @states: bits (1 << state), 0 for all
 * @modes: bits (1 << mode), 0 for all
 * @inode: inode number, 0 for all
 */
struct sock_filter {
	uint32_t	states;
	uint8_t		modes;
	uint64_t	inode;
};

/**
 * sock_dump() - request the sockets of this network namespace
 * @nl: connection to NETLINK_SOCK_DIAG
 * @extensions: bits (1 << (SMC_DIAG_xxx - 1)) of the requested extensions
 * @filter: which sockets; kernels without filters list all of them
 * @list: see netlink_dump()
 *
 * Returns: 0 or a negative errno.
 */
int sock_dump(struct netlink *nl, uint8_t extensions, const struct sock_filter *filter,
	      struct netlink_list *list);

/**
 * sock_decode() - parse one message of the list
 * @msg: the message
 * @sk: filled in
 *
 * Returns: false if this message does not describe a socket.
 */
bool sock_decode(const struct nlmsghdr *msg, struct sock *sk);

/**
 * sock_state_name() - name of a state
 * @state: its number
 * @buf: used for the text of an unknown number
 * @size: size of @buf
 *
 * Returns: the name.
 */
const char *sock_state_name(uint8_t state, char *buf, size_t size);

/**
 * sock_is_open() - does the socket have a connection, or did it have one?
 * @sk: the socket
 *
 * Returns: false for new and listening sockets.
 */
bool sock_is_open(const struct sock *sk);

/**
 * sock_address() - address of one end
 * @id: both ends
 * @peer: the peer's end, else the local one
 * @buf: result: the address without port; SOCK_ADDR_LEN bytes
 *
 * Returns: the port.
 */
unsigned int sock_address(const struct inet_diag_sockid *id, bool peer, char *buf);

#endif /* SMC_TOOLS_SOCK_H */
