/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels that no overlay header can hide; see Kbuild.include */
#ifndef _NET_SMC_COMPAT_COMPAT_H
#define _NET_SMC_COMPAT_COMPAT_H

#include <linux/uio.h>
#include <net/tcp.h>

/* Before 6.5, splice() reads into an iterator that allocates its pages while they are filled */
static inline bool smc_compat_may_allocate(const struct iov_iter *to)
{
#ifdef SMC_HAVE_PIPE_ITER
	return iov_iter_is_pipe(to);
#else
	return false;
#endif
}

/* The flags of the header came with AccECN */
static inline void smc_compat_send_ack(struct sock *sk)
{
#ifdef SMC_HAVE_ACK_FLAGS
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
#else
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
#endif
}

#endif /* _NET_SMC_COMPAT_COMPAT_H */
