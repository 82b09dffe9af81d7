// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges the account of an SMC socket for more than its memory cgroup has.
 *
 * smc.ko leaves the cgroup room, so the kernel hardly ever refuses its charges. It refuses this
 * one: a test writes the descriptor of a connected socket to smc_charge in debugfs, and gets
 * ENOMEM.
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "../../net/smc/sock/sock.h"

#define TOO_MUCH	SZ_1G

static struct dentry *file;

static int charge_account(struct sock *account)
{
	if (!account)		/* no cgroup pays */
		return -ENODATA;
	if (!__sk_mem_schedule(account, TOO_MUCH, SK_MEM_RECV))
		return -ENOMEM;
	sk_mem_reclaim(account);
	return 0;
}

static int charge_socket(struct sock *sk)
{
	struct smc_sock *smc;
	int err;

	lock_sock(sk);
	smc = smc_sk(sk);
	err = smc ? charge_account(smc->conn.account) : -ENOTSOCK;
	release_sock(sk);
	return err;
}

static ssize_t charge_write(struct file *f, const char __user *from, size_t len, loff_t *pos)
{
	struct socket *sock;
	int err, fd;

	err = kstrtoint_from_user(from, len, 10, &fd);
	if (err)
		return err;
	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	err = charge_socket(sock->sk);
	sockfd_put(sock);
	return err ?: len;
}

static const struct file_operations charge_fops = {
	.owner	= THIS_MODULE,
	.write	= charge_write,
};

static int __init charge_init(void)
{
	file = debugfs_create_file("smc_charge", 0200, NULL, NULL, &charge_fops);
	return 0;
}

static void __exit charge_exit(void)
{
	debugfs_remove(file);
}

module_init(charge_init);
module_exit(charge_exit);

MODULE_DESCRIPTION("Charges a socket beyond the limit of its memory cgroup");
MODULE_LICENSE("GPL");
