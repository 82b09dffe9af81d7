/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections that IPsec protects do not use SMC */
#ifndef _NET_SMC_HANDSHAKE_IPSEC_H
#define _NET_SMC_HANDSHAKE_IPSEC_H

#include <linux/socket.h>
#include <net/sock.h>

bool smc_ipsec_used(struct sock *tcp);
bool smc_ipsec_expected(struct sock *tcp, const struct sockaddr *addr, int addr_len);

#endif /* _NET_SMC_HANDSHAKE_IPSEC_H */
