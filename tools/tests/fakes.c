// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into the tools under test, in place of a kernel with AF_SMC.
 *
 * Netlink sockets become connections to the test program, at the Unix socket FAKE_KERNEL; it plays
 * the kernel's part. The first packet contains the netlink protocol. AF_SMC sockets become TCP
 * sockets if FAKE_SMC allows that; the test program is notified. FAKE_PROTOCOL controls sockets
 * that are created with IPPROTO_SMC in the same way.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define AF_SMC_NUMBER	43
#define IPPROTO_SMC_NUMBER	256
#define FAKE_PORT_ID	4711

/* The function that this library replaces */
#define NEXT(fn) ((__typeof__(fn) *)dlsym(RTLD_NEXT, #fn))

static bool is_fake[1024];	/* descriptors that are netlink sockets to the program */

static bool fake(int fd)
{
	return fd >= 0 && fd < (int)(sizeof(is_fake) / sizeof(is_fake[0])) &&
	       is_fake[fd];
}

/* Connect to the test program and send the purpose of the connection */
static int connect_test(uint32_t what)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("FAKE_KERNEL");
	int fd;

	if (!path) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	fd = NEXT(socket)(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    send(fd, &what, sizeof(what), 0) != sizeof(what)) {
		perror("fakes: connect");
		_exit(99);
	}
	return fd;
}

static void log_call(const char *fmt, ...)
{
	const char *file = getenv("FAKE_LOG");
	va_list ap;
	int fd;

	if (!file)
		return;
	fd = NEXT(open)(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		_exit(99);
	va_start(ap, fmt);
	vdprintf(fd, fmt, ap);
	va_end(ap);
	close(fd);
}

/* Returns after the test program has received the inode number */
static void tell_inode(int sock)
{
	int fd = connect_test(AF_SMC_NUMBER);
	uint64_t inode = 0;
	struct stat st;

	if (!fstat(sock, &st))
		inode = st.st_ino;
	if (send(fd, &inode, sizeof(inode), 0) != sizeof(inode) ||
	    recv(fd, &inode, sizeof(inode), 0) != sizeof(inode))
		_exit(99);
	close(fd);
}

static int fake_smc(int type, const char *answer, int missing)
{
	int fd;

	if (!answer || strcmp(answer, "ok")) {
		errno = answer ? atoi(answer) : missing;
		return -1;
	}
	fd = NEXT(socket)(AF_INET, type, 0);
	if (fd >= 0 && getenv("FAKE_KERNEL"))
		tell_inode(fd);
	return fd;
}

int socket(int domain, int type, int protocol)
{
	int fd;

	log_call("socket %d %d %d\n", domain, type, protocol);
	if (domain == AF_SMC_NUMBER)
		return fake_smc(type, getenv("FAKE_SMC"), EAFNOSUPPORT);
	if (protocol == IPPROTO_SMC_NUMBER)
		return fake_smc(type, getenv("FAKE_PROTOCOL"), EPROTONOSUPPORT);
	if (domain != AF_NETLINK || !getenv("FAKE_KERNEL"))
		return NEXT(socket)(domain, type, protocol);
	fd = connect_test(protocol);
	if (fd >= 0)
		is_fake[fd] = true;
	return fd;
}

int close(int fd)
{
	if (fake(fd))
		is_fake[fd] = false;
	return NEXT(close)(fd);
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return fake(fd) ? 0 : NEXT(bind)(fd, addr, len);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (fake(fd))
		return 0;
	if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF))
		log_call("setsockopt %d %d\n", name, *(const int *)value);
	return NEXT(setsockopt)(fd, level, name, value, len);
}

/* With FAKE_LEVEL, sockets support the options of SOL_SMC */
int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	const char *known = getenv("FAKE_LEVEL");

	if (known && level == atoi(known))
		return 0;
	return NEXT(getsockopt)(fd, level, name, value, len);
}

static void kernel_address(struct sockaddr *addr, socklen_t *len, uint32_t port)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_pid = port };

	if (addr)
		memcpy(addr, &nl, *len < sizeof(nl) ? *len : sizeof(nl));
	*len = sizeof(nl);
}

int getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	if (!fake(fd))
		return NEXT(getsockname)(fd, addr, len);
	kernel_address(addr, len, FAKE_PORT_ID);
	return 0;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct msghdr copy = *msg;

	if (fake(fd)) {
		copy.msg_name = NULL;
		copy.msg_namelen = 0;
	}
	return NEXT(sendmsg)(fd, &copy, flags);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	void *name = msg->msg_name;
	socklen_t namelen = msg->msg_namelen;
	ssize_t ret;

	if (!fake(fd))
		return NEXT(recvmsg)(fd, msg, flags);
	msg->msg_name = NULL;
	msg->msg_namelen = 0;
	ret = NEXT(recvmsg)(fd, msg, flags);
	msg->msg_name = name;
	msg->msg_namelen = namelen;
	kernel_address(name, &msg->msg_namelen, 0);
	return ret;
}

/* FAKE_NETDEV is "index=name"; other indexes do not exist. */
char *if_indextoname(unsigned int index, char name[IF_NAMESIZE])
{
	const char *text = getenv("FAKE_NETDEV");
	char *end;

	if (!text || strtoul(text, &end, 10) != index || *end != '=') {
		errno = ENXIO;
		return NULL;
	}
	return strcpy(name, end + 1);
}

/* With FAKE_NETNS, all network namespaces are the one that the test program plays. */
int setns(int fd, int type)
{
	return getenv("FAKE_NETNS") ? 0 : NEXT(setns)(fd, type);
}

/* Files in FAKE_TMP: baseline of the statistics, sysctls of the module, the policy */
static const char *redirect(const char *path, char *other, size_t size)
{
	const char *dir = getenv("FAKE_TMP");

	if (!dir || (strncmp(path, "/tmp/.smcstats", 14) &&
		     strncmp(path, "/proc/sys/net/smc", 17) &&
		     strncmp(path, "/sys/fs/bpf/smc/", 16)))
		return path;
	snprintf(other, size, "%s/%s", dir, strrchr(path, '/') + 1);
	return other;
}

int access(const char *path, int mode)
{
	char other[512];

	return NEXT(access)(redirect(path, other, sizeof(other)), mode);
}

int open(const char *path, int flags, ...)
{
	char other[512];
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return NEXT(open)(redirect(path, other, sizeof(other)), flags, mode);
}
