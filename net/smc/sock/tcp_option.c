// SPDX-License-Identifier: GPL-2.0-only
/* Socket options that TCP keeps and an SMC connection follows */

#include <net/tcp.h>

#include "proto.h"
#include "sock.h"

/*
 * SO_RCVLOWAT. A smaller mark may make the data that is there readable. The socket lock is held.
 * Return: 0.
 */
int smc_set_rcvlowat(struct sock *sk, int value)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc && smc->rcvlowat) {	/* the handshake uses 1 */
		smc->rcvlowat = value ?: 1;
		return 0;
	}
	if (!smc || smc->state != SMC_SOCK_ACTIVE)
		return smc_ops_of_tcp(sk)->set_rcvlowat(sk, value);
	WRITE_ONCE(sk->sk_rcvlowat, value ?: 1);
	/* Paired with conn/cdc.c, apply_message(): it sees the mark, or this sees the data */
	smp_mb();
	if (smc_rx_readable(&smc->conn))
		smc_conn_wake_readers(&smc->conn);
	return 0;
}

/* Follow TCP_NODELAY. The socket lock is held. */
void smc_sock_follow_nagle(struct smc_sock *smc)
{
	bool off = tcp_sk(smc->conn.sk)->nonagle & TCP_NAGLE_OFF;

	WRITE_ONCE(smc->conn.tx.coalesce, !off);
	if (off && smc->state == SMC_SOCK_ACTIVE)
		smc_cdc_flush(&smc->conn);
}
