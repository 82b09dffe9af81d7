// SPDX-License-Identifier: GPL-2.0-only
/* Connections come and go */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sockfuzz.h"

#define FIRST_PORT	21000
#define PORTS		64		/* for each slot */
#define OPEN_MS		10000
#define HARMED_MS	500

const struct kind kinds[] = {
	{ "smc", { AF_SMC, 0 }, { AF_SMC, 0 }, AF_INET },
	{ "smc6", { AF_SMC, 1 }, { AF_SMC, 1 }, AF_INET6 },
	{ "ipproto", { AF_INET, IPPROTO_SMC }, { AF_INET, IPPROTO_SMC }, AF_INET },
	{ "ipproto6", { AF_INET6, IPPROTO_SMC }, { AF_INET6, IPPROTO_SMC }, AF_INET6 },
	{ "server", { AF_SMC, 0 }, { AF_INET, 0 }, AF_INET },
	{ "client", { AF_INET, 0 }, { AF_SMC, 0 }, AF_INET },
	{ "server6", { AF_SMC, 1 }, { AF_INET6, 0 }, AF_INET6 },
	{ "tcp", { AF_INET, 0 }, { AF_INET, 0 }, AF_INET },
};

const int nr_kinds = sizeof(kinds) / sizeof(*kinds);

struct slot slots[MAX_SLOTS];
uint32_t newest_id;

/* For descriptors: one that nothing can be done with keeps a number taken */
int new_fd_number(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);

	if (fd < 0)
		fail("no descriptor: %s", strerror(errno));
	return fd;
}

void slot_close_fd(int fd)
{
	static int nothing = -1;

	if (nothing < 0)
		nothing = new_fd_number();
	dup3(nothing, fd, O_CLOEXEC);
}

void slot_init(struct slot *slot, int number)
{
	int i;

	pthread_rwlock_init(&slot->life, NULL);
	for (i = 0; i < 2; i++) {
		pthread_mutex_init(&slot->way[i].tx, NULL);
		pthread_mutex_init(&slot->way[i].rx, NULL);
	}
	for (i = 0; i < 3; i++)
		slot->fd[i] = new_fd_number();
	slot->number = number;
	slot->dead = true;
	slot->temper = 10;
}

void slot_harm_begin(struct slot *slot)
{
	__atomic_fetch_add(&slot->harming, 1, __ATOMIC_SEQ_CST);
}

void slot_harm_end(struct slot *slot)
{
	__atomic_store_n(&slot->harmed, true, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&slot->harming, 1, __ATOMIC_SEQ_CST);
}

/* Is it no wonder if the connection ended early? In the order in which slot_harm_end() tells */
bool slot_harmed(const struct slot *slot)
{
	return __atomic_load_n(&slot->harming, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&slot->harmed, __ATOMIC_SEQ_CST);
}

/* As socket_test: loopback, if servers are nowhere else */
socklen_t address_of(int family, int port, struct sockaddr_storage *addr)
{
	const char *host = me->namespace ? NULL :
		getenv(family == AF_INET6 ? "SOCKET_TEST_HOST6" : "SOCKET_TEST_HOST");
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = family;
	in->sin_port = htons(port);	/* at the same place in both */
	if (family == AF_INET6) {
		inet_pton(family, host ? host : "::1", &in6->sin6_addr);
		return sizeof(*in6);
	}
	inet_pton(family, host ? host : "127.0.0.1", &in->sin_addr);
	return sizeof(*in);
}

int port_at(int fd, bool peer)
{
	struct sockaddr_storage addr = {};
	socklen_t len = sizeof(addr);
	int err;

	err = peer ? getpeername(fd, (struct sockaddr *)&addr, &len) :
		     getsockname(fd, (struct sockaddr *)&addr, &len);
	return err ? -1 : ntohs(((struct sockaddr_in *)&addr)->sin_port);
}

static long get_option(int fd, int name)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) ? -1 : value;
}

/* A new socket under the number that the slot has for it */
static bool put_socket(struct slot *slot, int which, const int args[2])
{
	int on = 4 * slot->number + which;
	int fd = CALL("socket", on, args[0],
		      socket(args[0], SOCK_STREAM | SOCK_CLOEXEC, args[1]));

	if (fd < 0) {
		if (errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT)
			fail("socket(%d, %d): %s", args[0], args[1], strerror(errno));
		return false;
	}
	if (one_in(4))
		fcntl(fd, F_SETFL, O_NONBLOCK);
	while (one_in(3))
		option_any(fd, on, false);
	CALL("dup3", on, fd, dup3(fd, slot->fd[which], O_CLOEXEC));
	close(fd);
	return true;
}

static bool put_listener(struct slot *slot)
{
	const struct kind *kind = &kinds[slot->kind];
	int on = 4 * slot->number + LISTENER, one = 1, try;
	struct sockaddr_storage addr;
	socklen_t len;

	slot->namespace = me->namespace;
	__atomic_store_n(&slot->listener_shut, false, __ATOMIC_SEQ_CST);
	if (!put_socket(slot, LISTENER, kind->server))
		return false;
	setsockopt(slot->fd[LISTENER], SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	for (try = 0; try < 20; try++) {
		slot->port = FIRST_PORT + PORTS * slot->number + random_below(PORTS);
		len = address_of(kind->family, slot->port, &addr);
		if (CALL("bind", on, slot->port,
			 bind(slot->fd[LISTENER], (struct sockaddr *)&addr, len)))
			continue;
		return !CALL("listen", on, 0, listen(slot->fd[LISTENER], random_below(8)));
	}
	return false;
}

/* The accepted socket of the client, others are sent away */
static bool take_server(struct slot *slot, int fd, int client_port)
{
	int on = 4 * slot->number + 1;

	if (port_at(fd, true) != client_port) {
		CALL("close", on, fd, close(fd));
		return false;
	}
	CALL("dup3", on, fd, dup3(fd, slot->fd[1], O_CLOEXEC));
	close(fd);
	return true;
}

static int accept_one(struct slot *slot)
{
	int on = 4 * slot->number + LISTENER;
	struct sockaddr_storage addr;
	socklen_t len = random_below(2 * sizeof(addr));

	switch (random_below(4)) {
	case 0:
		return CALL("accept", on, 0, accept(slot->fd[LISTENER], NULL, NULL));
	case 1:
		return CALL("accept4", on, SOCK_NONBLOCK,
			    accept4(slot->fd[LISTENER], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
	case 2:
		return CALL("io_uring accept", on, 0, uring_accept(slot->fd[LISTENER]));
	default:
		len = len > sizeof(addr) ? sizeof(addr) : len;
		return CALL("accept", on, len,
			    accept(slot->fd[LISTENER], (struct sockaddr *)&addr, &len));
	}
}

static bool wait_server(struct slot *slot)
{
	struct pollfd fds[2] = { { slot->fd[LISTENER], POLLIN, 0 }, { slot->fd[0], POLLIN, 0 } };
	int client_port = port_at(slot->fd[0], false);
	long end = milliseconds() + OPEN_MS;
	int fd;

	while (client_port > 0 && milliseconds() < end) {
		if (slot_harmed(slot) && milliseconds() > end - OPEN_MS + HARMED_MS)
			return false;
		poll(fds, 2, 50);
		if (fds[0].revents & POLLIN) {
			fd = accept_one(slot);
			if (fd >= 0 && take_server(slot, fd, client_port))
				return true;
		}
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) ||
		    fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
			return false;
	}
	return false;
}

static bool wait_connected(struct slot *slot)
{
	struct pollfd pfd = { slot->fd[0], POLLOUT, 0 };
	int tries;

	for (tries = 0; tries < OPEN_MS / 100; tries++)
		if (poll(&pfd, 1, 100) > 0)
			return !get_option(slot->fd[0], SO_ERROR) &&
			       !(pfd.revents & (POLLHUP | POLLERR | POLLNVAL));
	return false;
}

static bool connect_client(struct slot *slot)
{
	int on = 4 * slot->number, err;
	struct sockaddr_storage addr;
	socklen_t len = address_of(kinds[slot->kind].family, slot->port, &addr);

	if (one_in(8))
		err = CALL("io_uring connect", on, slot->port,
			   uring_connect(slot->fd[0], &addr, len));
	else
		err = CALL("connect", on, slot->port,
			   connect(slot->fd[0], (struct sockaddr *)&addr, len));
	if (!err)
		return true;
	return (errno == EINPROGRESS || errno == EINTR || errno == EALREADY) &&
	       wait_connected(slot);
}

/* A socket that was connected can be so again */
static bool reuse_client(struct slot *slot)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return !CALL("disconnect", 4 * slot->number, 1,
		     connect(slot->fd[0], &none, sizeof(none)));
}

static void forget_connection(struct slot *slot)
{
	int i;

	__atomic_store_n(&slot->harmed, false, __ATOMIC_SEQ_CST);
	slot->id = __atomic_add_fetch(&newest_id, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < 2; i++) {
		struct way *way = &slot->way[i];

		slot->shut[i] = false;
		way->sending = 0;
		way->sent = 0;
		way->received = 0;
		way->nr_marks = 0;
		way->slack = 0;
		memset(way->marks, 0, sizeof(way->marks));
	}
}

static int pick_kind(void)
{
	int kind;

	do {
		kind = random_below(nr_kinds);
	} while (!(options.kinds & 1u << kind));
	return kind;
}

static void count_mode(const struct slot *slot)
{
	if (is_tcp(slot->fd[0]))
		CALL("(a connection over TCP)", 4 * slot->number, 0, 0);
	else
		CALL("(a connection over SMC)", 4 * slot->number, 0, 0);
}

/*
 * shutdown() before listen() fails, but TCP keeps the mark, and each child of the listening socket
 * inherits it: it sees an end of the stream that no end has sent
 */
static bool may_be_shut(const struct slot *slot)
{
	return __atomic_load_n(&slot->harming, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&slot->listener_shut, __ATOMIC_SEQ_CST);
}

static bool needs_listener(const struct slot *slot, int old_kind)
{
	return may_be_shut(slot) || slot->kind != old_kind || slot->namespace != me->namespace ||
	       one_in(4) || get_option(slot->fd[LISTENER], SO_ACCEPTCONN) != 1;
}

/* A listener and a client, not connected. @same: kind and namespace are those of before */
static bool prepare(struct slot *slot, bool same, int old_kind)
{
	if (needs_listener(slot, old_kind)) {
		slot->low_water &= same;
		if (!put_listener(slot))
			return false;
	}
	slot->peek_off &= same;
	return (same && reuse_client(slot)) || put_socket(slot, 0, kinds[slot->kind].client);
}

/* @slot is locked against all that moves data; all else goes on meanwhile */
static bool open_locked(struct slot *slot)
{
	bool same = slot->id && one_in(4) && slot->namespace == me->namespace;
	int old_kind = slot->kind;

	if (!same)
		slot->kind = pick_kind();
	forget_connection(slot);
	/* Ends of before go now, or when the new ones come */
	if (one_in(2))
		slot_close_fd(slot->fd[1]);
	if (!prepare(slot, same, old_kind)) {	/* the client is that of before, with its bytes */
		slot_close_fd(slot->fd[0]);
		return false;
	}
	return connect_client(slot) && wait_server(slot);
}

/**
 * slot_open() - make a new connection, unless the slot is being used
 * @slot: the slot
 */
void slot_open(struct slot *slot)
{
	static const unsigned int tempers[] = { 1, 5, 30, 200, 2000 };

	if (pthread_rwlock_trywrlock(&slot->life))
		return;
	slot->dead = !open_locked(slot);
	if (slot->dead)		/* the other end is one of before */
		slot_close_fd(slot->fd[1]);
	else
		count_mode(slot);
	slot->temper = tempers[random_below(5)] * options.harm;
	pthread_rwlock_unlock(&slot->life);
}
