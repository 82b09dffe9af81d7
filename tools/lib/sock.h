/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One AF_SMC socket, as the kernel's sock_diag describes it.
 */
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
 * struct sock - a socket and what is known about it
 * @base: what every socket has
 * @shutdown: bit 0: no more receiving, bit 1: no more sending
 * @has_fallback: @fallback is there
 * @has_conn: @conn is there
 * @has_link: @link is there (SMC-R)
 * @has_dmb: @dmb is there (SMC-D)
 * @fallback: why it uses TCP
 * @conn: buffers and cursors
 * @link: RDMA link
 * @dmb: memory shared with the peer
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
	struct smc_diag_lgrinfo		link;
	struct smc_tools_dmbinfo	dmb;
};

/**
 * struct sock_filter - which sockets are wanted
 * @states: bits (1 << state), 0 for all
 * @modes: bits (1 << mode), 0 for all
 * @inode: number, 0 for all
 */
struct sock_filter {
	uint32_t	states;
	uint8_t		modes;
	uint64_t	inode;
};

/**
 * sock_dump() - ask for sockets of this network namespace
 * @nl: connection to NETLINK_SOCK_DIAG
 * @extensions: bits (1 << (SMC_DIAG_xxx - 1)) wanted besides those always sent
 * @filter: which; kernels that cannot filter give all of them
 * @list: see netlink_dump()
 *
 * Returns: 0 or a negative errno.
 */
int sock_dump(struct netlink *nl, uint8_t extensions, const struct sock_filter *filter,
	      struct netlink_list *list);

/**
 * sock_decode() - look into one message of the list
 * @msg: the message
 * @sk: filled in
 *
 * Returns: false if this message does not describe a socket.
 */
bool sock_decode(const struct nlmsghdr *msg, struct sock *sk);

/**
 * sock_state_name() - name of a state
 * @state: its number
 * @buf: for the text of a number that has no name
 * @size: of @buf
 *
 * Returns: the name.
 */
const char *sock_state_name(uint8_t state, char *buf, size_t size);

/**
 * sock_is_open() - does the socket have, or has it had, a connection?
 * @sk: the socket
 *
 * Returns: false for fresh and for listening sockets.
 */
bool sock_is_open(const struct sock *sk);

/**
 * sock_address() - address of one end
 * @id: both ends
 * @peer: which end
 * @buf: filled with the address, without port; SOCK_ADDR_LEN bytes
 *
 * Returns: the port.
 */
unsigned int sock_address(const struct inet_diag_sockid *id, bool peer, char *buf);

#endif /* SMC_TOOLS_SOCK_H */
