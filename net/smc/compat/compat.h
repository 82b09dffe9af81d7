/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel differences that overlay headers cannot hide; see Kbuild.include */
#ifndef _NET_SMC_COMPAT_COMPAT_H
#define _NET_SMC_COMPAT_COMPAT_H

#include <linux/fs.h>
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

/* What the kernel does for a socket that has no operation splice_read: it reads the file */
static inline ssize_t smc_compat_splice_read(struct file *in, loff_t *pos,
					     struct pipe_inode_info *pipe, size_t len,
					     unsigned int flags)
{
#ifdef SMC_HAVE_PIPE_ITER
	return generic_file_splice_read(in, pos, pipe, len, flags);
#else
	return copy_splice_read(in, pos, pipe, len, flags);
#endif
}

/* Return: false if the last reference to the file is gone. */
static inline bool smc_compat_get_file(struct file *file)
{
#ifdef SMC_HAVE_FILE_REF
	return file_ref_get(&file->f_ref);
#else
	return atomic_long_inc_not_zero(&file->f_count);
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
