/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels that no overlay header can hide; see Kbuild.include */
#ifndef _NET_SMC_COMPAT_COMPAT_H
#define _NET_SMC_COMPAT_COMPAT_H

#include <linux/uio.h>

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
