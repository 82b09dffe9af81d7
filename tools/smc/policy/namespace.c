// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "namespace.h"
#include "netns.h"
#include "sock.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

int namespace_read_cookie(__u64 *cookie)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*cookie);
	int err;

	if (fd < 0)
		return -errno;
	err = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len) ? -errno : 0;
	close(fd);
	return err;
}

int namespace_cookie(int fd, __u64 *cookie)
{
	int own = netns_open_own(), err;

	if (own < 0)
		return own;
	err = netns_enter(fd);
	if (!err) {
		err = namespace_read_cookie(cookie);
		netns_leave(own);
	}
	close(own);
	return err;
}

static void count_socket(const struct sock *sk, struct sockets_now *now)
{
	if (sk->base.diag_state == STATE_LISTEN)
		now->listening++;
	else if (!sock_is_open(sk))
		return;
	else if (sk->base.diag_mode == SMC_DIAG_MODE_SMCD)
		now->smcd++;
	else if (sk->base.diag_mode == SMC_DIAG_MODE_SMCR)
		now->smcr++;
	else
		now->tcp++;
}

static void count_here(const struct netns *ns, void *data)
{
	struct sockets_now *now = data;
	struct netlink_list list = { 0 };
	struct sock_filter filter = { };
	struct netlink nl;
	struct sock sk;
	size_t i;

	now->namespaces++;
	if (netlink_open(&nl, NETLINK_SOCK_DIAG)) {
		now->unknown++;
		return;
	}
	if (sock_dump(&nl, 0, &filter, &list))
		now->unknown++;
	for (i = 0; i < list.count; i++)
		if (sock_decode(list.msg[i], &sk))
			count_socket(&sk, now);
	netlink_list_free(&list);
	netlink_close(&nl);
}

void namespace_count_sockets(struct sockets_now *now)
{
	memset(now, 0, sizeof(*now));
	netns_for_each(count_here, now);
}
