// SPDX-License-Identifier: GPL-2.0-only
/*
 * libsmc-preload.so - turn TCP sockets into AF_SMC sockets
 *
 * Loaded with LD_PRELOAD, usually by smc_run(8). The library replaces only socket(): a request for
 * an IPv4 or IPv6 TCP socket becomes a request for an SMC socket. The kernel does everything else,
 * including the fallback to TCP if the peer does not support SMC.
 *
 * The application gets no error that it would not get without this library: if the kernel has no
 * SMC sockets, it gets the TCP socket that it requested.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC		43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

#define SMCPROTO_SMC	0	/* IPv4 addresses */
#define SMCPROTO_SMC6	1	/* IPv6 addresses */

/* Mask for the type without SOCK_NONBLOCK, SOCK_CLOEXEC, ... */
#define SOCK_TYPE_BITS	0xf

/*
 * In a kernel without SMC, each attempt to create an SMC socket starts modprobe. A process that
 * opens many sockets must not cause this each time, but a daemon must still detect that the module
 * has been loaded.
 */
#define RETRY_SECONDS	10

typedef int (*socket_fn)(int domain, int type, int protocol);

static struct {
	socket_fn	next_socket;
	bool		debug;
	int		sndbuf;		/* 0: use the kernel's default */
	int		rcvbuf;
} conf;

/* For IPv4 and for IPv6: seconds of CLOCK_MONOTONIC, 0: never failed */
static _Atomic long retry_after[2];

/* The kernel creates SMC sockets by family, and not by protocol number */
static _Atomic bool lacks_number;

/* One write() per line, so that lines of several processes do not mix */
__attribute__((format(printf, 1, 2)))
static void print_debug_line(const char *fmt, ...)
{
	static const char prefix[] = "libsmc-preload: ";
	char line[160];
	size_t len = sizeof(prefix) - 1;
	va_list ap;
	int ret;

	if (!conf.debug)
		return;
	memcpy(line, prefix, len);
	va_start(ap, fmt);
	ret = vsnprintf(line + len, sizeof(line) - len, fmt, ap);
	va_end(ap);
	if (ret < 0)
		return;
	len += ret;
	if (len > sizeof(line) - 1)
		len = sizeof(line) - 1;
	if (write(STDERR_FILENO, line, len) < 0)
		return;		/* stderr does not work */
}

/* A number with an optional k or m, like the arguments of smc_run -r and -t */
static int size_from_env(const char *name)
{
	const char *text = secure_getenv(name);
	unsigned long long value;
	char *end;

	if (!text || !*text)
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end == 'k' || *end == 'K') {
		value = value > ULLONG_MAX >> 10 ? ULLONG_MAX : value << 10;
		end++;
	} else if (*end == 'm' || *end == 'M') {
		value = value > ULLONG_MAX >> 20 ? ULLONG_MAX : value << 20;
		end++;
	}
	if (*end || *text < '0' || *text > '9') {
		print_debug_line("%s='%s' is not a size, ignored\n", name, text);
		return 0;
	}
	return value > INT_MAX ? INT_MAX : (int)value;
}

static int syscall_socket(int domain, int type, int protocol)
{
	return syscall(SYS_socket, domain, type, protocol);
}

__attribute__((constructor))
static void read_conf(void)
{
	const char *text = secure_getenv("SMC_DEBUG");
	int saved_errno = errno;
	socket_fn next;

	conf.debug = text && atoi(text) != 0;
	conf.sndbuf = size_from_env("SMC_SNDBUF");
	conf.rcvbuf = size_from_env("SMC_RCVBUF");
	/* ISO C cannot convert an object pointer to a function pointer */
	*(void **)&next = dlsym(RTLD_NEXT, "socket");
	conf.next_socket = next ? next : syscall_socket;
	errno = saved_errno;
}

static long monotonic_seconds(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
		return 0;
	/* 0 means "never failed", so this is not 0, also in the first second after boot */
	return now.tv_sec + 1;
}

static bool is_tcp(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & SOCK_TYPE_BITS) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP);
}

static void set_buffer(int fd, int option, int size)
{
	if (!size)
		return;
	/* The kernel clips the value; on failure the default stays */
	if (setsockopt(fd, SOL_SOCKET, option, &size, sizeof(size)))
		print_debug_line("sockopt %d failed: %s\n", option, strerror(errno));
	else
		print_debug_line("sockopt %d set to %d\n", option, size);
}

/* An error that has nothing to do with the arguments of socket() */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

/*
 * The protocol number names the same socket as the family, creates it with less work, and some
 * kernels allow SO_REUSEPORT only for the families of IP. Not every kernel knows the number. And a
 * policy may forbid one of them.
 */
static int any_socket(int domain, int type)
{
	int fd;

	if (!lacks_number) {
		fd = conf.next_socket(domain, type, IPPROTO_SMC);
		if (fd >= 0 || is_shortage(errno))
			return fd;
	}
	fd = conf.next_socket(AF_SMC, type, domain == AF_INET6 ? SMCPROTO_SMC6 : SMCPROTO_SMC);
	lacks_number = fd >= 0 || is_shortage(errno);
	return fd;
}

/* A system without IPv6 may have SMC for IPv4, but not the other way round */
static void stop_asking(int domain, long until)
{
	atomic_store_explicit(&retry_after[1], until, memory_order_relaxed);
	if (domain == AF_INET)
		atomic_store_explicit(&retry_after[0], until, memory_order_relaxed);
}

/* Returns: the descriptor of an SMC socket, or -1 if the caller should create a TCP socket */
static int open_smc_socket(int domain, int type)
{
	long now = monotonic_seconds();
	int fd;

	if (now < atomic_load_explicit(&retry_after[domain == AF_INET6], memory_order_relaxed)) {
		print_debug_line("AF_SMC not available, using TCP\n");
		return -1;
	}
	fd = any_socket(domain, type);
	if (fd < 0) {
		if (!is_shortage(errno))
			stop_asking(domain, now + RETRY_SECONDS);
		print_debug_line("AF_SMC not available (%s), using TCP\n", strerror(errno));
		return -1;
	}
	print_debug_line("map sock to AF_SMC\n");
	set_buffer(fd, SO_SNDBUF, conf.sndbuf);
	set_buffer(fd, SO_RCVBUF, conf.rcvbuf);
	return fd;
}

__attribute__((visibility("default")))
int socket(int domain, int type, int protocol)
{
	int saved_errno = errno;
	int fd;

	/* constructors of other libraries may open sockets before this library's has run */
	if (!conf.next_socket)
		read_conf();
	if (is_tcp(domain, type, protocol)) {
		fd = open_smc_socket(domain, type);
		errno = saved_errno;
		if (fd >= 0)
			return fd;
	}
	return conf.next_socket(domain, type, protocol);
}
