// SPDX-License-Identifier: GPL-2.0-only
/* MSG_ZEROCOPY and its completions on the error queue */

#include <time.h>	/* errqueue.h wants it first */
#include <linux/errqueue.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "pair.h"
#include "uring.h"

static char buf[100000];

/* A range of completed calls */
struct range {
	uint32_t first;
	uint32_t last;
	uint8_t code;
};

/*
 * Kernels before 6.8 refuse SO_ZEROCOPY on behalf of AF_SMC without asking it. TCP got SO_PEEK_OFF
 * a little later, which tells the two apart.
 */
static bool may_refuse(int fd)
{
	socklen_t len = sizeof(int);
	int value, tcp;
	bool old;

	if (is_tcp(fd))
		return false;
	tcp = OK(socket(AF_INET, SOCK_STREAM, 0));
	old = getsockopt(tcp, SOL_SOCKET, SO_PEEK_OFF, &value, &len);
	close(tcp);
	return old;
}

/* Return: false if this kernel cannot have it here, which is checked, too */
static bool allow(int fd)
{
	if (!setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &(int){ 1 }, 4)) {
		EQ(get_int(fd, SOL_SOCKET, SO_ZEROCOPY), 1);
		return true;
	}
	EQ(errno, EOPNOTSUPP);
	TRUE(may_refuse(fd));
	EQ(send(fd, buf, 10, MSG_ZEROCOPY), 10);	/* an ordinary one */
	TRUE(!(events_now(fd) & POLLERR));
	return false;
}

static struct range next_range(int fd)
{
	char control[128];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err *err;
	struct cmsghdr *cmsg;

	EQ(OK(recvmsg(fd, &msg, MSG_ERRQUEUE)), 0);
	TRUE(msg.msg_flags & MSG_ERRQUEUE);
	cmsg = CMSG_FIRSTHDR(&msg);
	TRUE(cmsg);
	if (variant->client_address == AF_INET6 || variant->server_address == AF_INET6)
		TRUE(cmsg->cmsg_level == SOL_IPV6 || cmsg->cmsg_level == SOL_IP);
	else
		EQ(cmsg->cmsg_level, SOL_IP);
	err = (void *)CMSG_DATA(cmsg);
	EQ(err->ee_errno, 0);
	EQ(err->ee_origin, SO_EE_ORIGIN_ZEROCOPY);
	return (struct range){ err->ee_info, err->ee_data, err->ee_code };
}

static void no_range(int fd)
{
	char control[128];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };

	FAILS(recvmsg(fd, &msg, MSG_ERRQUEUE), EAGAIN);
}

/* Waits until all calls before @end, @from being the first of them, are completed */
static void completed(int fd, uint32_t from, uint32_t end)
{
	while (from != end) {
		struct range range;

		TRUE(wait_events(fd, POLLERR) & POLLERR);
		range = next_range(fd);
		EQ(range.first, from);
		TRUE(range.last - from < end - from);
		EQ(range.code, SO_EE_CODE_ZEROCOPY_COPIED);	/* as on any loopback */
		from = range.last + 1;
	}
	no_range(fd);
	TRUE(!(events_now(fd) & POLLERR));
}

TEST(zerocopy)
{
	int fd[2];

	pair_open(fd);
	if (!allow(fd[0]))
		return;
	pattern_fill(buf, 10000, 0);
	EQ(send(fd[0], buf, 10000, MSG_ZEROCOPY), 10000);
	drain(fd[1], 10000, 0);
	completed(fd[0], 0, 1);
	EQ(socket_error(fd[0]), 0);
	EQ(is_tcp(fd[0]), !variant->smc);
}

TEST(zerocopy_counts_on)
{
	int fd[2], i;

	pair_open(fd);
	if (!allow(fd[0]))
		return;
	pattern_fill(buf, 7000, 0);
	for (i = 0; i < 7; i++)
		EQ(send(fd[0], buf + 1000 * i, 1000, MSG_ZEROCOPY), 1000);
	drain(fd[1], 7000, 0);
	completed(fd[0], 0, 7);
	pattern_fill(buf, 1000, 7000);
	EQ(send(fd[0], buf, 500, 0), 500);	/* these are not counted */
	EQ(send(fd[0], buf, 0, MSG_ZEROCOPY), 0);
	EQ(send(fd[0], buf + 500, 500, MSG_ZEROCOPY), 500);
	drain(fd[1], 1000, 7000);
	completed(fd[0], 7, 8);
}

/* Completions that nobody has fetched are joined */
TEST(zerocopy_ranges_join, .applies = only_smc)
{
	struct range range;
	int fd[2], i;

	pair_open(fd);
	if (!allow(fd[0]))
		return;
	for (i = 0; i < 5; i++)
		EQ(send(fd[0], buf, 10, MSG_ZEROCOPY), 10);
	range = next_range(fd[0]);
	EQ(range.first, 0);
	EQ(range.last, 4);
	no_range(fd[0]);
}

TEST(zerocopy_without_option)
{
	int fd[2];

	pair_open(fd);
	pattern_fill(buf, 1000, 0);
	EQ(send(fd[0], buf, 1000, MSG_ZEROCOPY), 1000);
	drain(fd[1], 1000, 0);
	TRUE(!(events_now(fd[0]) & POLLERR));
	no_range(fd[0]);
}

TEST(zerocopy_values)
{
	int fd = fresh();

	if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &(int){ 1 }, 4) && may_refuse(fd))
		return;
	FAILS(setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &(int){ 2 }, 4), EINVAL);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &(int){ -1 }, 4), EINVAL);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &(int){ 1 }, 3), EINVAL);
	EQ(get_int(fd, SOL_SOCKET, SO_ZEROCOPY), 1);
	set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 0);
	EQ(get_int(fd, SOL_SOCKET, SO_ZEROCOPY), 0);
}

TEST(zerocopy_set_before_connect)
{
	struct addr addr = server_bind_address();
	int listener = new_server(), client = new_client(), fd;
	struct addr target;

	if (setsockopt(listener, SOL_SOCKET, SO_ZEROCOPY, &(int){ 1 }, 4) && may_refuse(listener))
		return;
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	if (setsockopt(client, SOL_SOCKET, SO_ZEROCOPY, &(int){ 1 }, 4) && may_refuse(client))
		return;
	target = target_of(listener);
	OK(connect(client, &target.sa, target.len));
	fd = accept_from(listener);
	EQ(is_tcp(fd), !variant->smc);
	EQ(get_int(client, SOL_SOCKET, SO_ZEROCOPY), 1);
	EQ(get_int(fd, SOL_SOCKET, SO_ZEROCOPY), 1);
	pattern_fill(buf, 1000, 0);
	EQ(send(client, buf, 1000, MSG_ZEROCOPY), 1000);
	drain(fd, 1000, 0);
	completed(client, 0, 1);
	EQ(send(fd, buf, 1000, MSG_ZEROCOPY), 1000);
	drain(client, 1000, 0);
	completed(fd, 0, 1);
}

/* A call that has sent nothing is not counted */
TEST(zerocopy_failed_call)
{
	int fd[2];

	pair_open(fd);
	if (!allow(fd[0]))
		return;
	FAILS(send(fd[0], (void *)16, 1000, MSG_ZEROCOPY), EFAULT);
	no_range(fd[0]);
	pattern_fill(buf, 100, 0);
	EQ(send(fd[0], buf, 100, MSG_ZEROCOPY), 100);
	drain(fd[1], 100, 0);
	completed(fd[0], 0, 1);
}

TEST(zerocopy_locked_memory)
{
	static const struct rlimit none = { 0, 0 };
	int fd[2];

	pair_open(fd);
	if (!allow(fd[0]))
		return;
	OK(setrlimit(RLIMIT_MEMLOCK, &none));
	OK(setresuid(65534, 65534, 65534));
	FAILS(send(fd[0], buf, 1000, MSG_ZEROCOPY), ENOBUFS);
	EQ(send(fd[0], buf, 1000, 0), 1000);
}

TEST(zerocopy_wakes_epoll)
{
	struct epoll_event event = { .events = EPOLLET };
	int fd[2], ep;

	pair_open(fd);
	if (!allow(fd[0]))
		return;
	ep = OK(epoll_create1(0));
	OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &event));
	EQ(epoll_wait(ep, &event, 1, 0), 0);
	EQ(send(fd[0], buf, 1000, MSG_ZEROCOPY), 1000);
	EQ(epoll_wait(ep, &event, 1, FOREVER), 1);
	TRUE(event.events & EPOLLERR);
	EQ(epoll_wait(ep, &event, 1, 0), 0);
	completed(fd[0], 0, 1);
	EQ(send(fd[0], buf, 1000, MSG_ZEROCOPY), 1000);
	EQ(epoll_wait(ep, &event, 1, FOREVER), 1);
	completed(fd[0], 1, 2);
}

TEST(zerocopy_left_behind)
{
	int fd[2];

	pair_open(fd);
	if (!allow(fd[0]))
		return;
	EQ(send(fd[0], buf, 1000, MSG_ZEROCOPY), 1000);
	TRUE(wait_events(fd[0], POLLERR) & POLLERR);
	pair_close(fd);
}

TEST(zerocopy_io_uring)
{
	struct uring ring = {};
	const struct io_uring_cqe *cqe;
	int fd[2];

	pair_open(fd);
	uring_open(&ring);
	pattern_fill(buf, 1000, 0);
	ring.sqe->opcode = IORING_OP_SEND_ZC;
	ring.sqe->fd = fd[0];
	ring.sqe->addr = (uintptr_t)buf;
	ring.sqe->len = 1000;
	uring_submit(&ring);

	cqe = uring_result(&ring, 0);
	EQ(cqe->res, 1000);
	TRUE(cqe->flags & IORING_CQE_F_MORE);
	drain(fd[1], 1000, 0);
	cqe = uring_result(&ring, 1);
	TRUE(cqe->flags & IORING_CQE_F_NOTIF);
	no_range(fd[0]);
	TRUE(!(events_now(fd[0]) & POLLERR));
}
