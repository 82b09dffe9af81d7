/* SPDX-License-Identifier: GPL-2.0-only */
/* What a namespace remembers of connections that fell back; what is done with it is in sock/ */
#ifndef _NET_SMC_FALLEN_H
#define _NET_SMC_FALLEN_H

#include <linux/in6.h>
#include <linux/list.h>

#define SMC_FALLEN_MAX	512	/* of a namespace; the oldest are forgotten */

/**
 * struct smc_fallen - a connection that fell back
 * @list: in smc_net.fallen, the oldest first
 * @number: grows from one to the next
 * @family: of the sock
 * @cookie: sock_diag_save_cookie()
 * @local: local address; an IPv4 address is in the first word, the rest is zero
 * @peer: peer's address
 * @local_port: local port
 * @peer_port: peer's port
 * @interface: index of the interface it is bound to, or 0
 * @reason: enum smc_reason
 * @peer_diagnosis: what the peer's Decline said
 */
struct smc_fallen {
	struct list_head list;
	u64 number;
	int family;
	u32 cookie[2];
	struct in6_addr local;
	struct in6_addr peer;
	__be16 local_port;
	__be16 peer_port;
	int interface;
	u32 reason;
	u32 peer_diagnosis;
};

#endif /* _NET_SMC_FALLEN_H */
