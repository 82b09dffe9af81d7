// SPDX-License-Identifier: GPL-2.0-only
/* SIOCINQ, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK: amounts of data */

#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <asm/ioctls.h>

#include "ops.h"

/*
 * The amount that SIOCINQ, SIOCOUTQ, SIOCOUTQNSD or SIOCATMARK asks for. The socket lock is held.
 *
 * Return: an amount, or -ENOIOCTLCMD if TCP has to answer, because there is no SMC connection.
 */
int smc_ioctl_amount(struct smc_sock *smc, unsigned int cmd)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_tx_progress progress;

	switch (smc->state) {
	case SMC_SOCK_ACTIVE:
		break;
	case SMC_SOCK_CONNECTING:
	case SMC_SOCK_HANDSHAKE:	/* bytes of the handshake */
		return cmd == SIOCINQ || cmd == SIOCOUTQ || cmd == SIOCOUTQNSD ||
		       cmd == SIOCATMARK ? 0 : -ENOIOCTLCMD;
	default:
		return -ENOIOCTLCMD;
	}
	switch (cmd) {
	case SIOCINQ:
		return smc_rx_amount(conn);
	case SIOCOUTQ:
		smc_tx_get_progress(conn, &progress);
		return progress.unconfirmed;
	case SIOCOUTQNSD:
		smc_tx_get_progress(conn, &progress);
		return progress.unsent;
	case SIOCATMARK:
		return smc_urgent_at_mark(conn);
	default:
		return -ENOIOCTLCMD;
	}
}

/* The ioctl system call. Return: as TCP. */
int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	bool has_module = smc_call_begin();
	struct sock *sk = sock->sk;
	int answer = -ENOIOCTLCMD;
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc)
		answer = smc_ioctl_amount(smc, cmd);
	release_sock(sk);
	if (answer == -ENOIOCTLCMD)
		answer = smc_ops_of_tcp(sk)->ioctl(sock, cmd, arg);
	else if (answer >= 0)
		answer = put_user(answer, (int __user *)arg);
	smc_call_end(has_module);
	return answer;
}
