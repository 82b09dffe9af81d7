/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels that no overlay header can hide; see Kbuild.include */
#ifndef _NET_SMC_COMPAT_COMPAT_H
#define _NET_SMC_COMPAT_COMPAT_H

#include <linux/net.h>
#include <linux/uio.h>

/* Older kernels expect the IPv6 part of a socket at its very end */
#ifdef SMC_HAVE_IPV6_PINFO_OFFSET
#define SMC_PROTO_IPV6_PINFO(type, member)	.ipv6_pinfo_offset = offsetof(type, member),
#else
#define SMC_PROTO_IPV6_PINFO(type, member)
#endif

/*
 * Kernels since 6.8 let a socket see options of level SOL_SOCKET. On older ones
 * they are copied to the inner socket when it matters, see smc_sockopt_sync().
 */
#ifdef SOCK_CUSTOM_SOCKOPT
#define SMC_COPIES_SOCKOPT	0
static inline void smc_compat_custom_sockopt(struct socket *sock)
{
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
}
#else
#define SMC_COPIES_SOCKOPT	1
static inline void smc_compat_custom_sockopt(struct socket *sock)
{
}
#endif

/* Before 6.5, splice() reads into an iterator that allocates its pages while they are filled */
static inline bool smc_compat_may_allocate(const struct iov_iter *to)
{
#ifdef SMC_HAVE_PIPE_ITER
	return iov_iter_is_pipe(to);
#else
	return false;
#endif
}

#endif /* _NET_SMC_COMPAT_COMPAT_H */
