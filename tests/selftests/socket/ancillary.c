// SPDX-License-Identifier: GPL-2.0-only
/* What comes beside the data: time stamps of what was received and sent, TCP_INQ */

#include <time.h>	/* errqueue.h wants it first */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "pair.h"

/* As they are on x86-64, where both headers of sockets name the old ones only */
#ifndef SO_TIMESTAMP_NEW
#define SO_TIMESTAMP_NEW	63
#define SO_TIMESTAMPNS_NEW	64
#define SO_TIMESTAMPING_NEW	65
#endif

#define RX	(SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE)
#define TX	(SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |	\
		 SOF_TIMESTAMPING_OPT_TSONLY)

/**
 * struct call - a receive call with control messages
 * @control: room for them
 * @msg: the call
 */
struct call {
	char control[256] __attribute__((aligned(sizeof(size_t))));
	struct msghdr msg;
};

static ssize_t call_recv(struct call *call, int fd, size_t len, int flags)
{
	static char buf[4096];
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	ssize_t n;

	call->msg = (struct msghdr){
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = call->control,
		.msg_controllen = sizeof(call->control),
	};
	n = recvmsg(fd, &call->msg, flags);
	call->msg.msg_iov = NULL;
	return n;
}

static struct cmsghdr *find(struct call *call, int level, int type)
{
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(&call->msg); cmsg; cmsg = CMSG_NXTHDR(&call->msg, cmsg))
		if (cmsg->cmsg_level == level && cmsg->cmsg_type == type)
			return cmsg;
	return NULL;
}

static int nr_messages(struct call *call)
{
	struct cmsghdr *cmsg;
	int nr = 0;

	for (cmsg = CMSG_FIRSTHDR(&call->msg); cmsg; cmsg = CMSG_NXTHDR(&call->msg, cmsg))
		nr++;
	return nr;
}

/* Options for stamps of what is received, and the message that comes then */
static const struct kind_of_stamp {
	int option;
	int value;
	size_t len;
	bool micro;	/* the second number of it is microseconds */
} kinds[] = {
	{ SO_TIMESTAMP, 1, sizeof(struct timeval), true },
	{ SO_TIMESTAMPNS, 1, sizeof(struct timespec), false },
	{ SO_TIMESTAMP_NEW, 1, 16, true },
	{ SO_TIMESTAMPNS_NEW, 1, 16, false },
	{ SO_TIMESTAMPING, RX, sizeof(struct scm_timestamping), false },
	{ SO_TIMESTAMPING_NEW, RX, 48, false },
};

#define NR_KINDS	((int)(sizeof(kinds) / sizeof(*kinds)))

static int64_t now_ns(void)
{
	struct timespec now;

	OK(clock_gettime(CLOCK_REALTIME, &now));
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t stamp_of(const struct cmsghdr *cmsg, const struct kind_of_stamp *kind)
{
	int64_t value[2];

	EQ(cmsg->cmsg_len, CMSG_LEN(kind->len));
	memcpy(value, CMSG_DATA(cmsg), sizeof(value));
	return value[0] * 1000000000LL + value[1] * (kind->micro ? 1000 : 1);
}

/*
 * Stamps are switched on in the background, once nobody else has them: what comes before that on a
 * TCP socket has none.
 */
static void expect_stamp(int from, int to, const struct kind_of_stamp *kind, int flags)
{
	long end = now_ms() + scaled(60000);
	struct cmsghdr *cmsg = NULL;
	struct call call;
	int64_t before, stamp;

	while (!cmsg) {
		before = now_ns();
		send_text(from, "stamped");
		wait_amount(to, 7);
		EQ(call_recv(&call, to, 7, flags), 7);
		EQ(call.msg.msg_flags & MSG_CTRUNC, 0);
		cmsg = find(&call, SOL_SOCKET, kind->option);
		if (flags & MSG_PEEK)
			expect_text(to, "stamped");
		if (!cmsg && (variant->smc || now_ms() > end))
			FAIL("option %d: no stamp", kind->option);
	}
	EQ(nr_messages(&call), 1);
	stamp = stamp_of(cmsg, kind);
	if (stamp < before - before % 1000 || stamp > now_ns())
		FAIL("option %d: sent, stamped %lld ns later, and received %lld ns later",
		     kind->option, (long long)(stamp - before), (long long)(now_ns() - before));
}

static void expect_none(int from, int to)
{
	struct call call;

	send_text(from, "x");
	wait_amount(to, 1);
	EQ(call_recv(&call, to, 1, 0), 1);
	EQ(nr_messages(&call), 0);
	EQ(call.msg.msg_flags & MSG_CTRUNC, 0);
}

TEST(stamps_received)
{
	int fd[2], i;

	pair_open(fd);
	expect_none(fd[1], fd[0]);
	for (i = 0; i < NR_KINDS; i++) {
		set_int(fd[0], SOL_SOCKET, kinds[i].option, kinds[i].value);
		expect_stamp(fd[1], fd[0], &kinds[i], 0);
		expect_stamp(fd[1], fd[0], &kinds[i], MSG_PEEK);
		expect_stamp(fd[1], fd[0], &kinds[i], MSG_DONTWAIT);
		set_int(fd[0], SOL_SOCKET, kinds[i].option, 0);
		expect_none(fd[1], fd[0]);
	}
}

TEST(stamps_received_by_child)
{
	struct addr addr = server_bind_address();
	int i, listener, client, server;

	for (i = 0; i < NR_KINDS; i++) {
		listener = new_server();
		set_int(listener, SOL_SOCKET, kinds[i].option, kinds[i].value);
		OK(bind(listener, &addr.sa, addr.len));
		OK(listen(listener, 1));
		client = connect_to(listener);
		server = accept_from(listener);
		EQ(is_tcp(server), !variant->smc);
		close(listener);
		expect_stamp(client, server, &kinds[i], 0);
		close(client);
		close(server);
	}
}

TEST(stamps_received_before_connect)
{
	int listener = listen_any(1), fd = new_client(), i, server;
	struct addr to = target_of(listener);

	for (i = 0; i < NR_KINDS; i++) {
		fd = new_client();
		set_int(fd, SOL_SOCKET, kinds[i].option, kinds[i].value);
		OK(connect(fd, &to.sa, to.len));
		EQ(is_tcp(fd), !variant->smc);
		server = accept_from(listener);
		expect_stamp(server, fd, &kinds[i], 0);
		close(server);
		close(fd);
	}
}

TEST(stamps_without_room)
{
	struct call call;
	struct iovec iov = { call.control, 1 };
	int fd[2];

	pair_open(fd);
	set_int(fd[0], SOL_SOCKET, SO_TIMESTAMP, 1);
	expect_stamp(fd[1], fd[0], &kinds[0], 0);	/* from now on there are some */
	send_text(fd[1], "x");
	call.msg = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 };
	EQ(recvmsg(fd[0], &call.msg, 0), 1);
	EQ(call.msg.msg_flags & MSG_CTRUNC, MSG_CTRUNC);
	/* The end of the stream has none */
	OK(shutdown(fd[1], SHUT_WR));
	wait_events(fd[0], POLLRDHUP);
	EQ(call_recv(&call, fd[0], 1, 0), 0);
	EQ(nr_messages(&call), 0);
}

static void expect_inq(struct call *call, int left)
{
	struct cmsghdr *cmsg = find(call, SOL_TCP, TCP_CM_INQ);
	int inq;

	TRUE(cmsg);
	EQ(cmsg->cmsg_len, CMSG_LEN(sizeof(inq)));
	memcpy(&inq, CMSG_DATA(cmsg), sizeof(inq));
	EQ(inq, left);
}

static void check_inq(int from, int to)
{
	struct call call;

	EQ(get_int(to, SOL_TCP, TCP_INQ), 1);
	send_text(from, "eleven here");
	wait_amount(to, 11);
	EQ(call_recv(&call, to, 4, MSG_PEEK), 4);
	expect_inq(&call, 11);
	EQ(call_recv(&call, to, 4, 0), 4);
	expect_inq(&call, 7);
	EQ(nr_messages(&call), 1);
	EQ(call_recv(&call, to, 100, MSG_DONTWAIT), 7);
	expect_inq(&call, 0);

	set_int(to, SOL_TCP, TCP_INQ, 0);
	expect_none(from, to);
	set_int(to, SOL_TCP, TCP_INQ, 1);

	/* As the kernel's own test of TCP_INQ: at the end there is one more call to make */
	send_text(from, "end");
	OK(shutdown(from, SHUT_WR));
	wait_amount(to, 3);
	wait_events(to, POLLRDHUP);
	EQ(call_recv(&call, to, 3, 0), 3);
	expect_inq(&call, 1);
	EQ(call_recv(&call, to, 3, 0), 0);
	expect_inq(&call, 1);
}

TEST(amount_left)
{
	int fd[2];

	pair_open(fd);
	FAILS(setsockopt(fd[0], SOL_TCP, TCP_INQ, &(int){ 2 }, 4), EINVAL);
	set_int(fd[0], SOL_TCP, TCP_INQ, 1);
	check_inq(fd[1], fd[0]);
}

TEST(amount_left_for_child)
{
	struct addr addr = server_bind_address();
	int listener = new_server(), client;

	set_int(listener, SOL_TCP, TCP_INQ, 1);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	client = connect_to(listener);
	check_inq(client, accept_from(listener));
}

TEST(amount_left_before_connect)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	set_int(fd, SOL_TCP, TCP_INQ, 1);
	OK(connect(fd, &to.sa, to.len));
	check_inq(accept_from(listener), fd);
}

/* The next stamp of something sent: its kind, and with @id the number of the last byte */
static int next_sent(int fd, int *id)
{
	struct sock_extended_err *err;
	struct scm_timestamping *stamp;
	struct cmsghdr *cmsg;
	struct call call;

	wait_events(fd, POLLERR);
	OK(call_recv(&call, fd, 4096, MSG_ERRQUEUE));
	cmsg = find(&call, SOL_SOCKET, SO_TIMESTAMPING);
	TRUE(cmsg);
	stamp = (void *)CMSG_DATA(cmsg);
	TRUE(stamp->ts[0].tv_sec);
	cmsg = find(&call, SOL_IP, IP_RECVERR) ?: find(&call, SOL_IPV6, IPV6_RECVERR);
	TRUE(cmsg);
	err = (void *)CMSG_DATA(cmsg);
	EQ(err->ee_errno, ENOMSG);
	EQ(err->ee_origin, SO_EE_ORIGIN_TIMESTAMPING);
	*id = err->ee_data;
	return err->ee_info;
}

/* TCP may have sent the byte twice, on a slow machine, and stamps that too */
static void no_sent(int fd)
{
	struct call call;

	if (!variant->smc)
		return;
	FAILS(call_recv(&call, fd, 10, MSG_ERRQUEUE | MSG_DONTWAIT), EAGAIN);
	EQ(events_now(fd) & POLLERR, 0);
}

/* As many stamps as @wanted has bits, each once, all of this byte */
static void expect_sent(int fd, unsigned int wanted, int id)
{
	unsigned int all = wanted;
	int got_id, kind;

	while (wanted) {
		kind = next_sent(fd, &got_id);
		/* Of a byte that was sent twice, see no_sent() */
		if (!variant->smc && kind <= 31 && (got_id < id || all & ~wanted & 1U << kind))
			continue;
		if (kind > 31 || !(wanted & 1U << kind))
			FAIL("a stamp of kind %d", kind);
		wanted &= ~(1U << kind);
		EQ(got_id, id);
	}
	no_sent(fd);
}

/* Nobody but the program sends anything, the handshake does not show */
TEST(stamps_sent_before_connect)
{
	int listener = listen_any(1), fd = new_client(), server;
	struct addr to = target_of(listener);

	set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, TX | SOF_TIMESTAMPING_TX_SCHED);
	OK(connect(fd, &to.sa, to.len));
	server = accept_from(listener);
	EQ(is_tcp(fd), !variant->smc);
	no_sent(fd);
	send_text(fd, "stamped");
	expect_text(server, "stamped");
	expect_sent(fd, 1U << SCM_TSTAMP_SCHED | 1U << SCM_TSTAMP_SND, 0);
	send_text(server, "not stamped");
	expect_text(fd, "not stamped");
	no_sent(fd);
}

TEST(stamps_sent_by_child)
{
	struct addr addr = server_bind_address();
	int listener = new_server(), client, server;

	set_int(listener, SOL_SOCKET, SO_TIMESTAMPING, TX);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	client = connect_to(listener);
	server = accept_from(listener);
	EQ(is_tcp(server), !variant->smc);
	no_sent(server);
	send_text(server, "stamped");
	expect_text(client, "stamped");
	expect_sent(server, 1U << SCM_TSTAMP_SND, 0);
}

TEST(stamps_sent_and_numbered)
{
	static char much[100000];
	unsigned int wanted = 1U << SCM_TSTAMP_SCHED | 1U << SCM_TSTAMP_SND;
	int fd[2], flags = TX | SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_OPT_ID;

	pair_open(fd);
	send_text(fd[0], "not counted");
	expect_text(fd[1], "not counted");
	/* Over SMC-R nothing tells when the peer has got it */
	if (within_host(0)) {
		flags |= SOF_TIMESTAMPING_TX_ACK;
		wanted |= 1U << SCM_TSTAMP_ACK;
	}
	set_int(fd[0], SOL_SOCKET, SO_TIMESTAMPING, flags);
	send_text(fd[0], "five.");
	expect_text(fd[1], "five.");
	expect_sent(fd[0], wanted, 4);
	send_text(fd[0], "more");
	expect_text(fd[1], "more");
	expect_sent(fd[0], wanted, 8);
	set_int(fd[0], SOL_SOCKET, SO_TIMESTAMPING, 0);
	send_text(fd[0], "none");
	expect_text(fd[1], "none");
	no_sent(fd[0]);
	OK(send(fd[0], much, sizeof(much), MSG_DONTWAIT));
}

/* A call asks for its own stamp */
TEST(stamps_sent_on_request)
{
	struct call call = {};
	struct iovec iov = { .iov_base = "once", .iov_len = 4 };
	struct cmsghdr *cmsg;
	int fd[2];

	pair_open(fd);
	set_int(fd[0], SOL_SOCKET, SO_TIMESTAMPING, SOF_TIMESTAMPING_SOFTWARE |
		SOF_TIMESTAMPING_OPT_TSONLY | SOF_TIMESTAMPING_OPT_ID);
	send_text(fd[0], "none");
	expect_text(fd[1], "none");
	no_sent(fd[0]);

	call.msg = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1, .msg_control = call.control,
				    .msg_controllen = CMSG_SPACE(4) };
	cmsg = CMSG_FIRSTHDR(&call.msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SO_TIMESTAMPING;
	cmsg->cmsg_len = CMSG_LEN(4);
	memcpy(CMSG_DATA(cmsg), &(uint32_t){ SOF_TIMESTAMPING_TX_SOFTWARE }, 4);
	EQ(OK(sendmsg(fd[0], &call.msg, 0)), 4);
	expect_text(fd[1], "once");
	expect_sent(fd[0], 1U << SCM_TSTAMP_SND, 7);

	memcpy(CMSG_DATA(cmsg), &(uint32_t){ SOF_TIMESTAMPING_RX_SOFTWARE }, 4);
	FAILS(sendmsg(fd[0], &call.msg, 0), EINVAL);
	cmsg->cmsg_type = 9999;
	FAILS(sendmsg(fd[0], &call.msg, 0), EINVAL);
	expect_nothing(fd[1]);
}

/* What SMC cannot do, TCP does */
TEST(stamps_of_hardware)
{
	static const int flags[] = {
		SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_SOFTWARE,
		SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE,
	};
	struct addr addr = server_bind_address(), to;
	int i, listener, fd, server;

	for (i = 0; i < 2; i++) {
		listener = listen_any(1);
		to = target_of(listener);
		fd = new_client();
		set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, flags[i]);
		OK(connect(fd, &to.sa, to.len));
		server = accept_from(listener);
		TRUE(is_tcp(fd) && is_tcp(server));
		close(fd);
		close(server);
		close(listener);

		listener = new_server();
		set_int(listener, SOL_SOCKET, SO_TIMESTAMPING, flags[i]);
		OK(bind(listener, &addr.sa, addr.len));
		OK(listen(listener, 1));
		fd = connect_to(listener);
		server = accept_from(listener);
		TRUE(is_tcp(fd) && is_tcp(server));
		send_text(server, "data");
		expect_text(fd, "data");
		close(fd);
		close(server);
		close(listener);
	}
}
