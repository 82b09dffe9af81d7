// SPDX-License-Identifier: GPL-2.0-only
/* Root of the namespace ends a socket of a program (ss -K) */

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string.h>

#include "pair.h"

static void put_place(const struct addr *addr, struct inet_diag_sockid *id)
{
	id->idiag_sport = addr->in.sin_port;
	if (addr->sa.sa_family == AF_INET6)
		memcpy(id->idiag_src, &addr->in6.sin6_addr, sizeof(addr->in6.sin6_addr));
	else
		memcpy(id->idiag_src, &addr->in.sin_addr, sizeof(addr->in.sin_addr));
}

static void kill_listener(int listener)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} ask = { .header = { sizeof(ask), SOCK_DESTROY, NLM_F_REQUEST | NLM_F_ACK } };
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = {};
	struct addr own = name_of(listener);
	int fd = OK(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));

	ask.request.sdiag_family = own.sa.sa_family;
	ask.request.sdiag_protocol = IPPROTO_TCP;
	ask.request.idiag_states = ~0;
	put_place(&own, &ask.request.id);
	ask.request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
	ask.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	EQ(send(fd, &ask, sizeof(ask), 0), sizeof(ask));
	TRUE(recv(fd, &answer, sizeof(answer), 0) > 0);
	EQ(answer.error.error, 0);
	OK(close(fd));
}

static void accept_nothing(void *arg)
{
	FAILS(accept(*(int *)arg, NULL, NULL), EINVAL);
}

static void poll_until_hup(void *arg)
{
	struct pollfd pfd = { .fd = *(int *)arg, .events = POLLIN };

	EQ(poll(&pfd, 1, -1), 1);	/* a time-out would look once more */
	TRUE(pfd.revents & POLLHUP);
}

TEST(killed_listener_wakes_all)
{
	struct worker acceptor, poller;
	int listener = listen_any(1);

	worker_start(&acceptor, accept_nothing, &listener);
	worker_asleep(&acceptor);
	worker_start(&poller, poll_until_hup, &listener);
	worker_asleep(&poller);
	kill_listener(listener);
	worker_join(&acceptor);
	worker_join(&poller);
	EQ(socket_error(listener), ECONNABORTED);
}

/* TCP warns if it ends a listening socket whose count of connections is not 0 */
TEST(killed_listener_resets_connections)
{
	int listener = listen_any(1), client[2], i;
	char byte;

	for (i = 0; i < 2; i++)
		client[i] = connect_to(listener);
	kill_listener(listener);
	for (i = 0; i < 2; i++)
		FAILS(recv(client[i], &byte, 1, 0), ECONNRESET);
	FAILS(accept(listener, NULL, NULL), EINVAL);
}

TEST(killed_listener_wakes_poll)
{
	struct worker poller;
	int listener = listen_any(1);

	worker_start(&poller, poll_until_hup, &listener);
	worker_asleep(&poller);
	kill_listener(listener);
	worker_join(&poller);
	EQ(socket_error(listener), ECONNABORTED);
}
