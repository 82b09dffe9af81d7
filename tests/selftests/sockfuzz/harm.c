// SPDX-License-Identifier: GPL-2.0-only
/* What ends a connection, early or not */

#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "sockfuzz.h"

static int on_of(const struct slot *slot, int end)
{
	return 4 * slot->number + end;
}

static void disconnect_end(struct slot *slot, int end)
{
	struct sockaddr_storage none = {};

	CALL("disconnect", on_of(slot, end), 0,
	     connect(slot->fd[end], (struct sockaddr *)&none,
		     one_in(2) ? sizeof(struct sockaddr) : sizeof(sa_family_t)));
}

/* The one proper end: it has to be of this connection */
static void shut_writing(struct slot *slot, int end)
{
	if (pthread_rwlock_tryrdlock(&slot->life))
		return;
	__atomic_store_n(&slot->shut[end], true, __ATOMIC_SEQ_CST);
	CALL("shutdown", on_of(slot, end), SHUT_WR, shutdown(slot->fd[end], SHUT_WR));
	pthread_rwlock_unlock(&slot->life);
}

static void shut_both(struct slot *slot, int end)
{
	__atomic_store_n(&slot->shut[end], true, __ATOMIC_SEQ_CST);
	if (one_in(4))
		CALL("io_uring shutdown", on_of(slot, end), SHUT_RDWR,
		     uring_shutdown(slot->fd[end], SHUT_RDWR));
	else
		CALL("shutdown", on_of(slot, end), SHUT_RDWR, shutdown(slot->fd[end], SHUT_RDWR));
}

/* What comes to a side that does not read any more may reset the connection */
static void shut_reading(struct slot *slot, int end)
{
	CALL("shutdown", on_of(slot, end), SHUT_RD, shutdown(slot->fd[end], SHUT_RD));
}

static void close_end(struct slot *slot, int end)
{
	CALL("close end", on_of(slot, end), 0, (slot_close_fd(slot->fd[end]), 0));
}

static void close_lingering(struct slot *slot, int end)
{
	struct linger linger = { .l_onoff = 1, .l_linger = random_below(3) };

	CALL("setsockopt SO_LINGER", on_of(slot, end), linger.l_linger,
	     setsockopt(slot->fd[end], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	close_end(slot, end);
}

static void disconnect_listener(struct slot *slot, int end)
{
	(void)end;
	disconnect_end(slot, LISTENER);
}

static void close_listener(struct slot *slot, int end)
{
	(void)end;
	close_end(slot, LISTENER);
}

static void shut_listener(struct slot *slot, int end)
{
	(void)end;
	CALL("shutdown", on_of(slot, LISTENER), SHUT_RD,
	     shutdown(slot->fd[LISTENER], one_in(2) ? SHUT_RD : SHUT_RDWR));
	__atomic_store_n(&slot->listener_shut, true, __ATOMIC_SEQ_CST);
}

/* The connection is that of whoever makes it, but the thief closes it */
static void steal_connection(struct slot *slot, int end)
{
	int fd;

	(void)end;
	fd = CALL("accept", on_of(slot, LISTENER), 1,
		  accept4(slot->fd[LISTENER], NULL, NULL, SOCK_CLOEXEC));
	if (fd >= 0)
		CALL("close", on_of(slot, LISTENER), fd, close(fd));
}

static void put_place(const struct sockaddr_storage *addr, __be16 *port, __be32 *place)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	*port = in->sin_port;
	if (addr->ss_family == AF_INET6)
		memcpy(place, &in6->sin6_addr, sizeof(in6->sin6_addr));
	else
		memcpy(place, &in->sin_addr, sizeof(in->sin_addr));
}

/* Sends a question, and returns what the acknowledgment says */
static long ask_netlink(int fd, const void *ask, size_t len)
{
	struct timeval limit = { .tv_sec = 1 };
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[512];
	} answer = {};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (send(fd, ask, len, 0) < 0 || recv(fd, &answer, sizeof(answer), 0) < 0)
		return -1;
	errno = -answer.error.error;
	return errno ? -1 : 0;
}

/* Neither is possible for a connected socket; but is it connected? */
static void listen_end(struct slot *slot, int end)
{
	CALL("listen end", on_of(slot, end), 0, listen(slot->fd[end], 1));
}

static void connect_elsewhere(struct slot *slot, int end)
{
	struct sockaddr_storage addr;
	socklen_t len = address_of(one_in(2) ? AF_INET : AF_INET6, 1 + random_below(1000), &addr);

	if (one_in(4))
		len = random_below(sizeof(addr));
	CALL("connect end", on_of(slot, end), len,
	     connect(slot->fd[end], (struct sockaddr *)&addr, len));
}

/* What "ss -K" does: TCP's connection inside is reset, as by a peer */
static void destroy_tcp(struct slot *slot, int end)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} ask = { .header = { sizeof(ask), SOCK_DESTROY, NLM_F_REQUEST | NLM_F_ACK } };
	struct inet_diag_sockid *id = &ask.request.id;
	struct sockaddr_storage own, peer;
	socklen_t len = sizeof(own);
	int fd;

	if (getsockname(slot->fd[end], (struct sockaddr *)&own, &len) ||
	    getpeername(slot->fd[end], (struct sockaddr *)&peer, &len))
		return;
	ask.request.sdiag_family = own.ss_family;
	ask.request.sdiag_protocol = IPPROTO_TCP;
	ask.request.idiag_states = ~0;
	put_place(&own, &id->idiag_sport, id->idiag_src);
	put_place(&peer, &id->idiag_dport, id->idiag_dst);
	id->idiag_cookie[0] = INET_DIAG_NOCOOKIE;
	id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	CALL("sock_diag destroy", on_of(slot, end), 0, ask_netlink(fd, &ask, sizeof(ask)));
	close(fd);
}

static void (*const harms[])(struct slot *slot, int end) = {
	disconnect_end, disconnect_end, disconnect_end, shut_both, shut_both, shut_reading,
	close_end, close_lingering, disconnect_listener, close_listener, shut_listener,
	steal_connection, listen_end, connect_elsewhere, destroy_tcp,
};

/**
 * do_harm() - something that may end the connection, also under the hands of other threads
 * @slot: the slot
 * @end: the end
 *
 * What the peer has just sent may wake a receiver, which then finds the end.
 */
void do_harm(struct slot *slot, int end)
{
	if (one_in(4)) {
		shut_writing(slot, end);
		return;
	}
	if (one_in(2))
		do_send(slot, !end);
	slot_harm_begin(slot);
	harms[random_below(sizeof(harms) / sizeof(*harms))](slot, end);
	slot_harm_end(slot);
	if (one_in(2))
		slot->dead = true;
}
