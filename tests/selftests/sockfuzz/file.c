// SPDX-License-Identifier: GPL-2.0-only
/* Descriptors, files, ioctls, names */

#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sockfuzz.h"

static void set_flags(int fd, int on)
{
	int flags = one_in(3) ? O_NONBLOCK : 0;

	if (one_in(4))
		flags |= O_ASYNC;
	if (one_in(2))
		fcntl(fd, F_SETOWN, getpid());
	if (one_in(8))
		CALL("fcntl F_SETSIG", on, 0, fcntl(fd, F_SETSIG, one_in(2) ? SIGIO : 0));
	CALL("fcntl F_SETFL", on, flags, fcntl(fd, F_SETFL, flags));
}

static void copy_descriptor(int fd, int on)
{
	int copy = CALL("dup", on, 0, fcntl(fd, F_DUPFD_CLOEXEC, 0));

	if (copy >= 0)
		CALL("close copy", on, copy, close(copy));
}

static void send_away(int fd, int on)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { "x", 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	CALL("sendmsg SCM_RIGHTS", on, fd, sendmsg(me->unix_pair[0], &msg, MSG_DONTWAIT));
}

static void get_back(int fd, int on)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	if (CALL("recvmsg SCM_RIGHTS", on, fd,
		 recvmsg(me->unix_pair[1], &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) != 1 ||
	    msg.msg_controllen < CMSG_LEN(sizeof(int)))
		return;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	CALL("close copy", on, fd, close(fd));
}

static void ask_ioctl(int fd, int on)
{
	static const unsigned long commands[] = {
		SIOCINQ, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK, FIONBIO, FIOASYNC, SIOCGPGRP,
		SIOCGSTAMP_NEW, SIOCGIFCONF, SIOCGIFINDEX, SIOCSPGRP, FIOQSIZE, 0, 0x89e0,
		0x12345678,
	};
	unsigned long command = commands[random_below(sizeof(commands) / sizeof(*commands))];
	long room[32] = {};

	CALL("ioctl", on, command, ioctl(fd, command, one_in(10) ? (void *)8 : room));
}

static void stat_file(int fd, int on)
{
	struct stat status;
	void *map;

	switch (random_below(4)) {
	case 0:
		CALL("fstat", on, 0, fstat(fd, &status));
		break;
	case 1:
		CALL("lseek", on, 0, lseek(fd, 0, SEEK_SET));
		break;
	case 2:
		CALL("fsync", on, 0, fsync(fd));
		break;
	default:
		map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED)
			munmap(map, 4096);
	}
}

static void read_errors(int fd, int on)
{
	char control[256], data[64];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};

	CALL("recvmsg MSG_ERRQUEUE", on, 0, recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT));
}

static void read_urgent(int fd, int on)
{
	char byte;
	int flags = MSG_OOB | (one_in(2) ? MSG_PEEK : 0) | (one_in(2) ? MSG_DONTWAIT : 0);

	CALL("recv MSG_OOB", on, flags, recv(fd, &byte, 1, flags));
}

static void (*const ways[])(int fd, int on) = {
	set_flags, copy_descriptor, send_away, get_back, get_back, ask_ioctl, ask_ioctl, stat_file,
	read_errors, read_urgent,
};

void do_file(struct slot *slot, int end)
{
	if (one_in(10))
		end = LISTENER;
	ways[random_below(sizeof(ways) / sizeof(*ways))](slot->fd[end], 4 * slot->number + end);
}

void do_name(struct slot *slot, int end)
{
	int on = 4 * slot->number + end, fd = slot->fd[one_in(10) ? LISTENER : end];
	struct sockaddr_storage addr;
	socklen_t len = one_in(4) ? (socklen_t)random_value() : sizeof(addr);
	bool bad = one_in(10);

	if (len > sizeof(addr) && (int)len > 0)
		len = sizeof(addr);
	if (one_in(2))
		CALL("getpeername", on, len,
		     getpeername(fd, bad ? (void *)8 : (struct sockaddr *)&addr, &len));
	else
		CALL("getsockname", on, len,
		     getsockname(fd, bad ? (void *)8 : (struct sockaddr *)&addr, &len));
}
