/* SPDX-License-Identifier: GPL-2.0-only */
/* The operations of an SMC socket */
#ifndef _NET_SMC_OPS_OPS_H
#define _NET_SMC_OPS_OPS_H

#include <linux/poll.h>
#include <linux/sockptr.h>

#include "../sock/proto.h"
#include "../sock/sock.h"

/* proto_tables.c */
int smc_proto_tables_init(void);

/* stream.c */
int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
ssize_t smc_splice_read(struct socket *sock, loff_t *pos, struct pipe_inode_info *pipe, size_t len,
			unsigned int flags);
__poll_t smc_poll(struct file *file, struct socket *sock, struct poll_table_struct *wait);
int smc_shutdown(struct socket *sock, int how);

/* ioctl.c */
int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int smc_ioctl_amount(struct smc_sock *smc, unsigned int cmd);

/* query.c */
int smc_getname(struct socket *sock, struct sockaddr *addr, int peer);
int smc_get_tcp_info(struct sock *sk, char __user *optval, int __user *optlen);

/* ancillary.c */
void smc_ancillary_received(struct smc_sock *smc, struct msghdr *msg, bool bytes);
int smc_ancillary_prepare(struct smc_sock *smc, struct msghdr *msg);
void smc_ancillary_sent(struct smc_sock *smc, int stamps);

/* sockopt.c */
int smc_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
		   unsigned int optlen);
int smc_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
		   int __user *optlen);

#endif /* _NET_SMC_OPS_OPS_H */
