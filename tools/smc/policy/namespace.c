// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "namespace.h"
#include "sock.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

static int read_cookie(__u64 *cookie)
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

static int enter(int fd)
{
	return setns(fd, CLONE_NEWNET) ? -errno : 0;
}

/* There is no way on from a namespace that cannot be left */
static void leave(int own)
{
	if (enter(own)) {
		perror("smc: cannot return to the network namespace");
		exit(EXIT_FAILURE);
	}
}

static int open_own(void)
{
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

int namespace_cookie(int fd, __u64 *cookie)
{
	int own = open_own(), err;

	if (own < 0)
		return -errno;
	err = enter(fd);
	if (!err) {
		err = read_cookie(cookie);
		leave(own);
	}
	close(own);
	return err;
}

/**
 * struct seen - namespaces that have been looked into
 * @inode: what tells them apart
 * @count: how many
 */
struct seen {
	ino_t	*inode;
	size_t	count;
};

static bool is_new(struct seen *seen, ino_t inode)
{
	ino_t *more;
	size_t i;

	for (i = 0; i < seen->count; i++)
		if (seen->inode[i] == inode)
			return false;
	more = realloc(seen->inode, (seen->count + 1) * sizeof(*more));
	if (!more)
		return false;
	seen->inode = more;
	seen->inode[seen->count++] = inode;
	return true;
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

static void count_here(struct sockets_now *now)
{
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

static void count_in(const char *path, struct seen *seen, struct sockets_now *now)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)	/* it has ended */
		return;
	if (!fstat(fd, &st) && is_new(seen, st.st_ino) && !enter(fd))
		count_here(now);
	close(fd);
}

/* Each entry of a folder whose name begins with a character of the set */
static void count_all(const char *folder, const char *first, const char *behind,
		      struct seen *seen, struct sockets_now *now)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || (first && !strchr(first, entry->d_name[0])))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", folder, entry->d_name, behind);
		count_in(path, seen, now);
	}
	closedir(dir);
}

void namespace_count_sockets(struct sockets_now *now)
{
	struct seen seen = { };
	int own = open_own();

	memset(now, 0, sizeof(*now));
	if (own < 0)
		return;
	count_in("/proc/self/ns/net", &seen, now);
	count_all("/proc", "123456789", "/ns/net", &seen, now);
	count_all("/run/netns", NULL, "", &seen, now);
	leave(own);
	close(own);
	free(seen.inode);
}
