/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel differences that overlay headers cannot hide; see Kbuild.include */
#ifndef _NET_SMC_COMPAT_COMPAT_H
#define _NET_SMC_COMPAT_COMPAT_H

#include <linux/uio.h>
#include <net/tcp.h>

/* Before 6.5, splice() passes an iterator that allocates pages when data is copied to it */
static inline bool smc_compat_may_allocate(const struct iov_iter *to)
{
#ifdef SMC_HAVE_PIPE_ITER
	return iov_iter_is_pipe(to);
#else
	return false;
#endif
}

/* AccECN added the argument for flags */
static inline void smc_compat_send_ack(struct sock *sk)
{
#ifdef SMC_HAVE_ACK_FLAGS
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
#else
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
#endif
}

#endif /* _NET_SMC_COMPAT_COMPAT_H */
