/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets as monitoring sees them */
#ifndef _NET_SMC_SOCK_INSPECT_H
#define _NET_SMC_SOCK_INSPECT_H

#include <linux/in6.h>

#include "../conn/inspect.h"
#include "list.h"
#include "sock.h"

/**
 * struct smc_sock_info - a copy of a socket
 * @state: what the socket is
 * @sk: the TCP sock, with a reference
 * @tcp_state: TCP_*
 * @shutdown: RCV_SHUTDOWN and SEND_SHUTDOWN
 * @local: local address; an IPv4 address is in the first word, the rest is zero
 * @peer: peer's address
 * @local_port: local port
 * @peer_port: peer's port, 0 if there is no peer
 * @interface: index of the interface that the socket is bound to, or 0
 * @reason: enum smc_reason of the fallback
 * @peer_diagnosis: diagnosis in the peer's Decline, or 0
 * @connected: @conn is valid
 * @conn: the connection
 */
struct smc_sock_info {
	enum smc_sock_state state;
	struct sock *sk;
	u8 tcp_state;
	u8 shutdown;
	struct in6_addr local;
	struct in6_addr peer;
	__be16 local_port;
	__be16 peer_port;
	int interface;
	u32 reason;
	u32 peer_diagnosis;
	bool connected;
	struct smc_conn_info conn;
};

bool smc_inspect_next(struct net *net, u64 *number, struct smc_sock_info *out);

#endif /* _NET_SMC_SOCK_INSPECT_H */
