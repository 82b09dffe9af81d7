// SPDX-License-Identifier: GPL-2.0-only
/* Sockets of the family under test; see sock.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "sock.h"

#define BACKLOG 1024

/* smc(7): the protocol of an AF_SMC socket names the address family. */
#define SMCPROTO_SMC 0
#define SMCPROTO_SMC6 1

static bool addr_is_v6(const struct spec *spec)
{
	return strchr(spec->addr, ':');
}

static socklen_t inet_addr_make(const struct spec *spec, uint16_t port,
				struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, spec->addr, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, spec->addr, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return sizeof(*in6);
	}
	die("'%s' is neither an IPv4 nor an IPv6 address", spec->addr);
}

static void set_option(int fd, int level, int option, uint64_t value, const char *name)
{
	int number = (int)value;

	if (setsockopt(fd, level, option, &number, sizeof(number)))
		die_errno("setsockopt %s", name);
}

void sock_prepare(const struct spec *spec, int fd)
{
	if (spec->nodelay && spec->family != FAMILY_UNIX)
		set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	if (spec->busy_poll)
		set_option(fd, SOL_SOCKET, SO_BUSY_POLL, spec->busy_poll, "SO_BUSY_POLL");
}

enum family sock_family(const struct spec *spec, enum end end)
{
	return spec->plain == end ? FAMILY_TCP : spec->family;
}

/* As smc_run and the policy ask for it; the distribution's module of 6.1 has only the family */
static int open_smc(const struct spec *spec, int type, int v6)
{
	if (!spec->by_family) {
		int fd = socket(v6 ? AF_INET6 : AF_INET, type, IPPROTO_SMC);

		if (fd >= 0 || errno != EPROTONOSUPPORT)
			return fd;
	}
	return socket(AF_SMC, type, v6 ? SMCPROTO_SMC6 : SMCPROTO_SMC);
}

int sock_open(const struct spec *spec, enum end end, int flags)
{
	enum family family = sock_family(spec, end);
	int v6 = addr_is_v6(spec);
	int type = SOCK_STREAM | SOCK_CLOEXEC | flags;
	int fd;

	switch (family) {
	case FAMILY_UNIX:
		fd = socket(AF_UNIX, type, 0);
		break;
	case FAMILY_SMC:
		fd = open_smc(spec, type, v6);
		break;
	default:
		fd = socket(v6 ? AF_INET6 : AF_INET, type, 0);
	}
	if (fd < 0)
		die_errno("%s socket", family_name(family));
	if (spec->bufsize) {
		set_option(fd, SOL_SOCKET, SO_SNDBUF, spec->bufsize, "SO_SNDBUF");
		set_option(fd, SOL_SOCKET, SO_RCVBUF, spec->bufsize, "SO_RCVBUF");
	}
	sock_prepare(spec, fd);
	return fd;
}

/* An AF_UNIX address of nothing but the family makes bind() choose a name. */
static void bind_unix(int fd, char *where)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(un);

	if (bind(fd, (struct sockaddr *)&un, sizeof(sa_family_t)) ||
	    getsockname(fd, (struct sockaddr *)&un, &len))
		die_errno("bind");
	snprintf(where, SOCK_WHERE_MAX, "%.*s",
		 (int)(len - sizeof(sa_family_t) - 1), un.sun_path + 1);
}

static void bind_inet(const struct spec *spec, int fd, char *where)
{
	struct sockaddr_storage addr;
	socklen_t len = inet_addr_make(spec, 0, &addr);

	if (bind(fd, (struct sockaddr *)&addr, len) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len))
		die_errno("bind to %s", spec->addr);
	/* The port is at the same place in both address families. */
	snprintf(where, SOCK_WHERE_MAX, "%u",
		 ntohs(((struct sockaddr_in *)&addr)->sin_port));
}

int sock_listen(const struct spec *spec, char where[SOCK_WHERE_MAX])
{
	int fd = sock_open(spec, END_SERVER, 0);

	if (spec->family == FAMILY_UNIX)
		bind_unix(fd, where);
	else
		bind_inet(spec, fd, where);
	if (listen(fd, BACKLOG))
		die_errno("listen");
	return fd;
}

void sock_target(const struct spec *spec, const char *where, struct sock_target *target)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&target->addr;

	if (spec->family != FAMILY_UNIX) {
		target->len = inet_addr_make(spec, (uint16_t)atoi(where), &target->addr);
		return;
	}
	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path + 1, where, strlen(where));
	target->len = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(where));
}

int sock_connect(const struct spec *spec, const struct sock_target *target)
{
	int fd = sock_open(spec, END_CLIENT, 0);

	if (connect(fd, (const struct sockaddr *)&target->addr, target->len))
		die_errno("connect");
	return fd;
}

int sock_accept(const struct spec *spec, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		die_errno("accept");
	sock_prepare(spec, fd);
	return fd;
}

bool sock_is_plain(int fd)
{
	int value;
	socklen_t len = sizeof(value);

	/* Only sockets that are not TCP ones know this level */
	return getsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &value, &len) != 0;
}

void sock_send_all(int fd, const void *data, size_t len)
{
	const char *rest = data;

	while (len) {
		ssize_t n = send(fd, rest, len, MSG_NOSIGNAL);

		if (n < 0)
			die_errno("send");
		rest += n;
		len -= (size_t)n;
	}
}

bool sock_recv_ready(int fd, char *byte, size_t *len)
{
	ssize_t n = recv(fd, byte, 1, 0);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n < 0)
		die_errno("recv");
	*len = (size_t)n;
	return true;
}

size_t sock_recv_some(int fd, void *buf, size_t len)
{
	ssize_t n = recv(fd, buf, len, 0);

	if (n < 0)
		die_errno("recv");
	if (n == 0)
		die("unexpected end of stream");
	return (size_t)n;
}

void sock_recv_all(int fd, void *buf, size_t len)
{
	char *rest = buf;

	while (len) {
		size_t n = sock_recv_some(fd, rest, len);

		rest += n;
		len -= n;
	}
}

void sock_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		die_errno("fcntl O_NONBLOCK");
}
