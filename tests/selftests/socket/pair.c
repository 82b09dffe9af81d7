// SPDX-License-Identifier: GPL-2.0-only
/* Sockets of the variant under test: creating, connecting, addresses */

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"
#include "pair.h"

#define OUT_OF_SYNC	0x04000000

/* Where servers are: the environment can name an address behind a wire */
static const char *server_host(const char *variable, const char *otherwise)
{
	const char *host = getenv(variable);

	return host ? host : otherwise;
}

struct addr loopback(int family, int port)
{
	struct addr addr = {};

	addr.sa.sa_family = family;
	if (family == AF_INET6) {
		EQ(inet_pton(AF_INET6, server_host("SOCKET_TEST_HOST6", "::1"),
			     &addr.in6.sin6_addr), 1);
		addr.in6.sin6_port = htons(port);
		addr.len = sizeof(addr.in6);
	} else {
		EQ(inet_pton(AF_INET, server_host("SOCKET_TEST_HOST", "127.0.0.1"),
			     &addr.in.sin_addr), 1);
		addr.in.sin_port = htons(port);
		addr.len = sizeof(addr.in);
	}
	return addr;
}

static struct addr numeric(const char *v4, const char *v6)
{
	struct addr addr = loopback(variant->client_address, 4242);

	if (addr.sa.sa_family == AF_INET6)
		EQ(inet_pton(AF_INET6, v6, &addr.in6.sin6_addr), 1);
	else
		EQ(inet_pton(AF_INET, v4, &addr.in.sin_addr), 1);
	return addr;
}

/* Addresses for documentation; the script that starts the tests has a route for these two only */
struct addr nowhere(void)
{
	return numeric("192.0.2.2", "2001:db8::2");
}

struct addr no_route(void)
{
	return numeric("198.51.100.1", "3fff::1");
}

/* A server for both families must be bound to any address */
struct addr server_bind_address(void)
{
	struct addr addr = loopback(variant->server_address, 0);

	if (variant->server_address != variant->client_address)
		addr.in6.sin6_addr = in6addr_any;
	return addr;
}

struct addr client_address(int port)
{
	return loopback(variant->client_address, port);
}

struct addr name_of(int fd)
{
	struct addr addr = { .len = sizeof(addr.ss) };

	OK(getsockname(fd, &addr.sa, &addr.len));
	return addr;
}

struct addr peer_of(int fd)
{
	struct addr addr = { .len = sizeof(addr.ss) };

	OK(getpeername(fd, &addr.sa, &addr.len));
	return addr;
}

int port_of(const struct addr *addr)
{
	return ntohs(addr->sa.sa_family == AF_INET6 ? addr->in6.sin6_port : addr->in.sin_port);
}

struct addr target_of(int listener)
{
	struct addr bound = name_of(listener);

	return client_address(port_of(&bound));
}

struct variant tcp_variant(void)
{
	struct variant tcp = *variant;

	tcp.server = (struct kind){ variant->server_address, 0 };
	tcp.client = (struct kind){ variant->client_address, 0 };
	tcp.smc = false;
	return tcp;
}

static int new_socket(struct kind kind)
{
	return OK(socket(kind.family, SOCK_STREAM | SOCK_CLOEXEC, kind.protocol));
}

int new_client(void)
{
	return new_socket(variant->client);
}

int new_server(void)
{
	return new_socket(variant->server);
}

int fresh(void)
{
	return variant->swapped ? new_server() : new_client();
}

bool is_tcp(int fd)
{
	int value;
	socklen_t len = sizeof(value);

	/* Only sockets that are not TCP ones know this level */
	return getsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &value, &len) != 0;
}

int listen_any(int backlog)
{
	struct addr addr = server_bind_address();
	int fd = new_server();

	OK(bind(fd, &addr.sa, addr.len));
	OK(listen(fd, backlog));
	return fd;
}

int connect_to(int listener)
{
	struct addr to = target_of(listener);
	int fd = new_client();

	OK(connect(fd, &to.sa, to.len));
	return fd;
}

/*
 * An SMC socket has one place more, in TCP's queue. An SMC client that takes it waits there, but a
 * TCP client is connected: so another client takes that place, and gives up.
 */
static void take_last_place(int listener)
{
	int client = new_socket(variant->server);
	struct addr to = target_of(listener);

	nonblock(client);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	while (tcp_state(client) == TCP_SYN_SENT)	/* ksoftirqd may be late */
		pause_briefly();
	close(client);
}

int listen_full(int *waiting)
{
	int listener = listen_any(0);

	*waiting = connect_to(listener);
	wait_events(listener, POLLIN);	/* it has found its place, where it stays */
	if (is_tcp(*waiting) && !is_tcp(listener))
		take_last_place(listener);
	return listener;
}

int accept_from(int listener)
{
	return OK(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

static void check_mode(int fd)
{
	if (is_tcp(fd) != variant->smc)
		return;
	if (!variant->smc)
		FAIL("the connection uses SMC");
	FAIL("the connection uses TCP, for the reason 0x%x, of the peer 0x%x", fallback_reason(fd),
	     peer_diagnosis(fd));
}

static void connect_pair(int listener, int fd[2])
{
	int client = connect_to(listener);
	int server = accept_from(listener);

	fd[0] = variant->swapped ? server : client;
	fd[1] = variant->swapped ? client : server;
}

void pair_from(int listener, int fd[2])
{
	connect_pair(listener, fd);
	check_mode(fd[0]);
	check_mode(fd[1]);
}

void pair_open(int fd[2])
{
	int listener = listen_any(5);

	pair_from(listener, fd);
	close(listener);
}

void pair_open_in_any_group(int fd[2])
{
	int listener = listen_any(5), *client = &fd[variant->swapped];

	connect_pair(listener, fd);
	if (variant->smc && is_tcp(*client)) {
		EQ(fallback_reason(*client), OUT_OF_SYNC);
		pair_close(fd);
		pair_from(listener, fd);
	}
	close(listener);
}

void pair_close(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

void drop_segments(int fd)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = { .len = 1, .filter = &none };

	OK(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)));
}

/* Sizes must be chosen before the handshake; a child inherits those of its listener */
void socket_buffers(int fd, int bytes)
{
	set_int(fd, SOL_SOCKET, SO_SNDBUF, bytes);
	set_int(fd, SOL_SOCKET, SO_RCVBUF, bytes);
}

static void pair_of(int listener, int client, int fd[2])
{
	struct addr addr = server_bind_address(), to;
	int server;

	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	to = target_of(listener);
	OK(connect(client, &to.sa, to.len));
	server = accept_from(listener);
	close(listener);
	check_mode(client);
	check_mode(server);
	fd[0] = variant->swapped ? server : client;
	fd[1] = variant->swapped ? client : server;
}

void pair_with_buffers(int fd[2], int bytes)
{
	int listener = new_server(), client = new_client();

	socket_buffers(listener, bytes);
	socket_buffers(client, bytes);
	pair_of(listener, client, fd);
}

void pair_with_rcvbuf(int fd[2], int bytes)
{
	int listener = new_server(), client = new_client();

	set_int(listener, SOL_SOCKET, SO_RCVBUF, bytes);
	set_int(client, SOL_SOCKET, SO_RCVBUF, bytes);
	pair_of(listener, client, fd);
}

void pair_with_sndbuf(int fd[2], int bytes)
{
	int listener = new_server(), client = new_client();

	set_int(listener, SOL_SOCKET, SO_SNDBUFFORCE, bytes);
	set_int(client, SOL_SOCKET, SO_SNDBUFFORCE, bytes);
	pair_of(listener, client, fd);
}
