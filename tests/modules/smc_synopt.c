// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SMC option for plain TCP sockets.
 *
 * A test program can offer SMC on a TCP connection and then speak CLC itself,
 * right or wrong. The kernel's TCP sends the option only while a module has
 * switched on tcp_have_smc; smc.ko does that as well.
 */

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "smc_synopt.h"

static bool is_tcp(const struct sock *sk)
{
	return (sk->sk_family == AF_INET || sk->sk_family == AF_INET6) &&
	       sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_TCP;
}

static long offer(struct sock *sk)
{
	long err = 0;

	lock_sock(sk);
	if (sk->sk_state == TCP_CLOSE)
		tcp_sk(sk)->syn_smc = 1;
	else
		err = -EISCONN;
	release_sock(sk);
	return err;
}

static long synopt_ioctl(struct file *file, unsigned int cmd, unsigned long fd)
{
	struct socket *sock;
	long ret = -EINVAL;
	int err;

	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	if (!is_tcp(sock->sk))
		goto out;
	switch (cmd) {
	case SMC_SYNOPT_OFFER:
		ret = offer(sock->sk);
		break;
	case SMC_SYNOPT_AGREED:
		ret = tcp_sk(sock->sk)->syn_smc;
		break;
	default:
		ret = -ENOTTY;
	}
out:
	sockfd_put(sock);
	return ret;
}

static const struct file_operations synopt_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= synopt_ioctl,
};

static struct miscdevice synopt = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "smc_synopt",
	.fops	= &synopt_fops,
	.mode	= 0600,
};

static int __init synopt_init(void)
{
	int err = misc_register(&synopt);

	if (!err)
		static_branch_inc(&tcp_have_smc);
	return err;
}

static void __exit synopt_exit(void)
{
	static_branch_dec(&tcp_have_smc);
	misc_deregister(&synopt);
}

module_init(synopt_init);
module_exit(synopt_exit);

MODULE_DESCRIPTION("Test module: the SMC option for TCP sockets");
MODULE_LICENSE("GPL");
