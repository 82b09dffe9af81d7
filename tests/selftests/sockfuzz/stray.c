// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets without any order: everything happens to them at once. All bytes of a cluster are the
 * same, so what is none of them is from somewhere else.
 */

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sockfuzz.h"

#define CLUSTERS	2
#define STRAYS		6
#define LISTENERS	2		/* those that most often listen and accept */
#define FIRST_PORT	20000
#define PORTS		2
#define MOST		65536

static int strays[CLUSTERS][STRAYS];

/* What they send. With MSG_ZEROCOPY, TCP reads it after the call: so nothing changes it */
static uint8_t bytes_of[CLUSTERS][MOST];

/**
 * struct stray - one of them
 * @cluster: which cluster
 * @fd: its descriptor
 * @on: for CALL()
 */
struct stray {
	int cluster;
	int fd;
	int on;
};

static int family_of(int cluster)
{
	int i;

	for (i = 0; i < nr_kinds; i++)
		if (options.kinds & 1u << i && kinds[i].family == AF_INET6 && cluster)
			return AF_INET6;
	for (i = 0; i < nr_kinds; i++)
		if (options.kinds & 1u << i && kinds[i].family == AF_INET)
			return AF_INET;
	return AF_INET6;
}

static const struct kind *kind_of(int cluster)
{
	int kind, family = family_of(cluster);

	do {
		kind = random_below(nr_kinds);
	} while (!(options.kinds & 1u << kind) || kinds[kind].family != family);
	return &kinds[kind];
}

static uint8_t byte_of(int cluster)
{
	return 0xc1 + cluster;
}

static void check_bytes(const struct stray *s, long n, int flags)
{
	long i;

	for (i = 0; i < n; i++)
		if (me->buf[i] != byte_of(s->cluster))
			fail_with_bytes(s->fd, me->buf + i, n - i,
					"stray %d.%d: byte %ld of %ld is 0x%02x, flags %#x",
					s->on / 4, s->on % 4, i, n, me->buf[i], flags);
}

static void new_socket(struct stray *s)
{
	const struct kind *kind = kind_of(s->cluster);
	const int *args = one_in(2) ? kind->server : kind->client;
	int fd = CALL("stray socket", s->on, args[0],
		      socket(args[0], SOCK_STREAM | SOCK_CLOEXEC | (one_in(3) ? SOCK_NONBLOCK : 0),
			     args[1]));

	if (fd < 0)
		return;
	CALL("stray dup3", s->on, fd, dup3(fd, s->fd, O_CLOEXEC));
	close(fd);
}

static socklen_t pick_address(struct stray *s, struct sockaddr_storage *addr)
{
	socklen_t len = address_of(family_of(s->cluster), FIRST_PORT + 100 * s->cluster +
				   random_below(PORTS), addr);

	if (!one_in(8))
		return len;
	switch (random_below(4)) {
	case 0:
		addr->ss_family = one_in(2) ? AF_UNSPEC : AF_SMC;
		return len;
	case 1:
		return random_below(sizeof(*addr));
	case 2:
		return address_of(family_of(s->cluster), 0, addr);
	default:
		addr->ss_family = addr->ss_family == AF_INET ? AF_INET6 : AF_INET;
		return sizeof(struct sockaddr_in6);
	}
}

static void bind_it(struct stray *s)
{
	struct sockaddr_storage addr;
	socklen_t len = pick_address(s, &addr);
	int one = 1;

	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	CALL("stray bind", s->on, len, bind(s->fd, (struct sockaddr *)&addr, len));
}

static void listen_it(struct stray *s)
{
	bind_it(s);
	CALL("stray listen", s->on, 0, listen(s->fd, random_below(10)));
}

static void connect_it(struct stray *s)
{
	struct sockaddr_storage addr;
	socklen_t len = pick_address(s, &addr);

	CALL("stray connect", s->on, len, connect(s->fd, (struct sockaddr *)&addr, len));
}

static void disconnect_it(struct stray *s)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	CALL("stray disconnect", s->on, 0, connect(s->fd, &none, sizeof(none)));
}

static void accept_it(struct stray *s)
{
	int fd = CALL("stray accept", s->on, 0,
		      accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | (one_in(3) ? SOCK_NONBLOCK : 0)));

	if (fd < 0)
		return;
	dup3(fd, strays[s->cluster][LISTENERS + random_below(STRAYS - LISTENERS)], O_CLOEXEC);
	close(fd);
}

static void send_it(struct stray *s)
{
	static const int flags[] = { MSG_DONTWAIT, MSG_MORE, MSG_OOB, MSG_FASTOPEN, MSG_ZEROCOPY };
	struct sockaddr_storage addr;
	socklen_t len = pick_address(s, &addr);
	int flag = random_flags(flags, 5, 4);
	uint8_t *bytes = bytes_of[s->cluster];
	size_t n = random_size(MOST);

	if (flag & MSG_FASTOPEN)
		CALL("stray sendto", s->on, flag,
		     sendto(s->fd, bytes, n, flag, (struct sockaddr *)&addr, len));
	else if (one_in(8))
		CALL("stray io_uring send", s->on, flag,
		     uring_transfer(s->fd, true, bytes, n, flag));
	else
		CALL("stray send", s->on, flag, send(s->fd, bytes, n, flag));
}

static void receive_it(struct stray *s)
{
	static const int flags[] = { MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, MSG_OOB };
	int flag = random_flags(flags, 4, 3);
	size_t n = random_size(MOST);
	bool by_tcp = is_tcp(s->fd);
	long done;

	if (one_in(8))
		done = CALL("stray io_uring recv", s->on, flag,
			    uring_transfer(s->fd, false, me->buf, n, flag));
	else
		done = CALL("stray recv", s->on, flag, recv(s->fd, me->buf, n, flag));
	/* If segments are lost, TCP takes a byte of a header for the urgent one */
	if (!(flag & MSG_OOB) || !(by_tcp || is_tcp(s->fd)))
		check_bytes(s, done, flag);
}

static void shut_it(struct stray *s)
{
	int how = random_below(4);

	CALL("stray shutdown", s->on, how, shutdown(s->fd, how));
}

static void poll_it(struct stray *s)
{
	struct pollfd pfd = { s->fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP, 0 };

	CALL("stray poll", s->on, 0, poll(&pfd, 1, random_below(10)));
}

static void set_it(struct stray *s)
{
	option_any(s->fd, s->on, true);
}

static void close_it(struct stray *s)
{
	CALL("stray close", s->on, 0, (slot_close_fd(s->fd), 0));
}

static void (*const ways[])(struct stray *s) = {
	connect_it, disconnect_it, accept_it, send_it, send_it, send_it, send_it, receive_it,
	receive_it, receive_it, receive_it, shut_it, poll_it, set_it, set_it, close_it, bind_it,
	listen_it, new_socket,
};

/* In an order in which they may work */
static void listen_and_accept(struct stray *s)
{
	int i;

	if (one_in(4)) {
		new_socket(s);
		if (!one_in(8))
			fcntl(s->fd, F_SETFL, O_NONBLOCK);
		listen_it(s);
	}
	for (i = 0; i < 3; i++)
		accept_it(s);
}

static void connect_anew(struct stray *s)
{
	new_socket(s);
	if (one_in(3))
		set_it(s);
	connect_it(s);
	send_it(s);
}

void stray_init(void)
{
	int i, k;

	for (i = 0; i < CLUSTERS; i++) {
		memset(bytes_of[i], byte_of(i), MOST);
		for (k = 0; k < STRAYS; k++)
			strays[i][k] = new_fd_number();
	}
}

void do_stray(void)
{
	int cluster = random_below(CLUSTERS), which = random_below(STRAYS);
	struct stray stray = {
		.cluster = cluster, .fd = strays[cluster][which],
		.on = 4 * (MAX_SLOTS + cluster) + which,
	};

	if (which < LISTENERS && !one_in(4))
		listen_and_accept(&stray);
	else if (one_in(4))
		connect_anew(&stray);
	else
		ways[random_below(sizeof(ways) / sizeof(*ways))](&stray);
}
