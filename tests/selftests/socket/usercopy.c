// SPDX-License-Identifier: GPL-2.0-only
/* All calls of a socket that copy from or to memory of the program */

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "usercopy.h"

#define SHORT	16	/* bytes of a small transfer */
#define LONG	20000	/* bytes in front of the page, in a transfer that no short cut takes */

static const int one = 1, int_len = sizeof(int), all_len = sizeof(struct sockaddr_storage);
static const struct sock_filter accept_all = BPF_STMT(BPF_RET | BPF_K, ~0U);
static uint8_t resident[LONG];

static long do_connect(const struct call *call, int fd, void *page)
{
	(void)call;
	return connect(fd, page, variant->client_address == AF_INET6 ?
		       sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
}

/* To the address that means "any" */
static long do_bind(const struct call *call, int fd, void *page)
{
	(void)call;
	return bind(fd, page, variant->client_address == AF_INET6 ?
		    sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
}

static long accepted(int fd)
{
	return fd < 0 ? fd : close(fd);
}

static long accept_address(const struct call *call, int fd, void *page)
{
	socklen_t len = sizeof(struct sockaddr_storage);

	(void)call;
	return accepted(accept4(fd, page, &len, SOCK_CLOEXEC));
}

static long accept_length(const struct call *call, int fd, void *page)
{
	struct sockaddr_storage addr;

	(void)call;
	return accepted(accept4(fd, (struct sockaddr *)&addr, page, SOCK_CLOEXEC));
}

static long sockname_address(const struct call *call, int fd, void *page)
{
	socklen_t len = sizeof(struct sockaddr_storage);

	(void)call;
	return getsockname(fd, page, &len);
}

static long sockname_length(const struct call *call, int fd, void *page)
{
	struct sockaddr_storage addr;

	(void)call;
	return getsockname(fd, (struct sockaddr *)&addr, page);
}

static long peername_address(const struct call *call, int fd, void *page)
{
	socklen_t len = sizeof(struct sockaddr_storage);

	(void)call;
	return getpeername(fd, page, &len);
}

static long peername_length(const struct call *call, int fd, void *page)
{
	struct sockaddr_storage addr;

	(void)call;
	return getpeername(fd, (struct sockaddr *)&addr, page);
}

static long set_option(const struct call *call, int fd, void *page)
{
	return setsockopt(fd, call->level, call->option, page, call->len);
}

/* The kernel copies the program of a filter while it owns the socket */
static long set_filter(const struct call *call, int fd, void *page)
{
	struct sock_fprog filter = { .len = 1, .filter = page };

	return setsockopt(fd, call->level, call->option, &filter, sizeof(filter));
}

static long get_value(const struct call *call, int fd, void *page)
{
	socklen_t len = 16;

	return getsockopt(fd, call->level, call->option, page, &len);
}

static long get_length(const struct call *call, int fd, void *page)
{
	char value[16];

	return getsockopt(fd, call->level, call->option, value, page);
}

static long send_short(const struct call *call, int fd, void *page)
{
	return send(fd, page, SHORT, call->option | MSG_NOSIGNAL);
}

static long send_long(const struct call *call, int fd, void *page)
{
	struct iovec parts[] = { { resident, sizeof(resident) }, { page, SHORT } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };

	return sendmsg(fd, &msg, call->option | MSG_NOSIGNAL);
}

static long send_control(const struct call *call, int fd, void *page)
{
	struct iovec part = { resident, SHORT };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = page, .msg_controllen = call->len,
	};

	return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

static long send_name(const struct call *call, int fd, void *page)
{
	struct iovec part = { resident, SHORT };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_name = page,
		.msg_namelen = sizeof(struct sockaddr_in),
	};

	(void)call;
	return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

/* The kernel needs the page itself, not what is in it */
static long send_zerocopy(const struct call *call, int fd, void *page)
{
	set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	return send_short(call, fd, page);
}

static long receive_short(const struct call *call, int fd, void *page)
{
	return recv(fd, page, SHORT, call->option);
}

static long receive_long(const struct call *call, int fd, void *page)
{
	struct iovec parts[] = { { resident, 4 }, { page, SHORT } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };

	return recvmsg(fd, &msg, call->option);
}

static long receive_name(const struct call *call, int fd, void *page)
{
	struct iovec part = { resident, SHORT };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_name = page, .msg_namelen = 64,
	};

	(void)call;
	return recvmsg(fd, &msg, 0);
}

/* How much is left, in the control data */
static long receive_control(const struct call *call, int fd, void *page)
{
	struct iovec part = { resident, SHORT };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = page, .msg_controllen = 64,
	};

	(void)call;
	set_int(fd, SOL_TCP, TCP_INQ, 1);
	return recvmsg(fd, &msg, 0);
}

static long do_read(const struct call *call, int fd, void *page)
{
	(void)call;
	return read(fd, page, SHORT);
}

static long do_write(const struct call *call, int fd, void *page)
{
	(void)call;
	return write(fd, page, SHORT);
}

static long read_vector(const struct call *call, int fd, void *page)
{
	struct iovec part = { page, SHORT };

	(void)call;
	return readv(fd, &part, 1);
}

static long write_vector(const struct call *call, int fd, void *page)
{
	struct iovec part = { page, SHORT };

	(void)call;
	return writev(fd, &part, 1);
}

static long send_message_header(const struct call *call, int fd, void *page)
{
	(void)call;
	return sendmsg(fd, page, MSG_NOSIGNAL);	/* no data */
}

static long receive_message_header(const struct call *call, int fd, void *page)
{
	(void)call;
	return recvmsg(fd, page, MSG_PEEK);	/* no space */
}

static long do_ioctl(const struct call *call, int fd, void *page)
{
	return ioctl(fd, call->option, page);
}

static int file_of_bytes(void)
{
	int file = OK(memfd_create("bytes", MFD_CLOEXEC));

	OK(ftruncate(file, SHORT));
	return file;
}

/* From a file, at an offset that is in the page */
static long send_file(const struct call *call, int fd, void *page)
{
	int file = file_of_bytes(), error;
	long ret = sendfile(fd, file, page, SHORT);

	(void)call;
	error = errno;
	OK(close(file));
	errno = error;
	return ret;
}

/* The page goes through a pipe, and is not copied before that */
static long splice_in(const struct call *call, int fd, void *page)
{
	struct iovec part = { page, SHORT };
	int ends[2], error;
	long ret;

	(void)call;
	OK(pipe2(ends, O_CLOEXEC));
	EQ(OK(vmsplice(ends[1], &part, 1, 0)), SHORT);
	ret = splice(ends[0], NULL, fd, NULL, SHORT, SPLICE_F_NONBLOCK);
	error = errno;
	OK(close(ends[0]));
	OK(close(ends[1]));
	errno = error;
	return ret;
}

static long splice_out(const struct call *call, int fd, void *page)
{
	int ends[2], error;
	long ret;

	(void)call;
	OK(pipe2(ends, O_CLOEXEC));
	ret = splice(fd, NULL, ends[1], NULL, SHORT, SPLICE_F_NONBLOCK);
	error = errno;
	if (ret > 0)
		EQ(OK(read(ends[0], page, SHORT)), ret);
	OK(close(ends[0]));
	OK(close(ends[1]));
	errno = error;
	return ret;
}

static const struct {
	struct cmsghdr header;
	uint32_t flags;
} stamp = {
	.header = { CMSG_LEN(sizeof(uint32_t)), SOL_SOCKET, SO_TIMESTAMPING },
	.flags = SOF_TIMESTAMPING_TX_SOFTWARE,
};

static const struct linger no_linger = { .l_onoff = 1, .l_linger = 1 };
static const struct timeval a_second = { .tv_sec = 1 };
static const char key[16] = "a key of 16 byte";
static const uint8_t no_operation[4] = { IPOPT_NOOP, IPOPT_NOOP, IPOPT_NOOP, IPOPT_EOL };
static const uint8_t padding[8] = { 0, 0, 1, 4 };	/* of an extension header */
static const int internet = AF_INET;

#define BYTES(data)		.content = &(data), .len = sizeof(data)
#define SET(l, o, data)		{ "set " #o, set_option, l, o, BYTES(data) }
#define GET(l, o)		{ "get " #o, get_value, l, o }
#define GET_LENGTH(l, o)	{ "length of " #o, get_length, l, o, BYTES(int_len) }

const struct call calls[] = {
	{ "connect", do_connect, .takes_address = true },
	{ "bind", do_bind, .takes_address = true, .refused = EINVAL },	/* keeps its port */
	{ "accept", accept_address },
	{ "accept, length", accept_length, BYTES(all_len) },
	{ "getsockname", sockname_address },
	{ "getsockname, length", sockname_length, BYTES(all_len) },
	{ "getpeername", peername_address },
	{ "getpeername, length", peername_length, BYTES(all_len) },

	{ "filter", set_filter, SOL_SOCKET, SO_ATTACH_FILTER, BYTES(accept_all) },
	SET(SOL_SOCKET, SO_LINGER, no_linger),
	SET(SOL_SOCKET, SO_RCVLOWAT, one),
	SET(SOL_SOCKET, SO_RCVTIMEO, a_second),
	SET(SOL_TCP, TCP_NODELAY, one),
	SET(SOL_TCP, TCP_CORK, one),
	{ "congestion", set_option, SOL_TCP, TCP_CONGESTION, "reno", 4 },
	{ "repair", set_option, SOL_TCP, TCP_REPAIR, BYTES(one), .refused = EPERM },
	SET(SOL_TCP, TCP_FASTOPEN_KEY, key),
	SET(SOL_IP, IP_TOS, one),
	SET(SOL_IP, IP_OPTIONS, no_operation),
	SET(SOL_IPV6, IPV6_TCLASS, one),
	SET(SOL_IPV6, IPV6_DSTOPTS, padding),
	{ "family", set_option, SOL_IPV6, IPV6_ADDRFORM, BYTES(internet), .refused = EOPNOTSUPP },
	SET(SOL_SMC, SMC_LIMIT_HS, one),
	GET(SOL_SOCKET, SO_TYPE),
	GET(SOL_SOCKET, SO_ERROR),
	GET(SOL_SOCKET, SO_GET_FILTER),
	GET_LENGTH(SOL_SOCKET, SO_TYPE),
	GET(SOL_TCP, TCP_INFO),
	GET(SOL_TCP, TCP_CONGESTION),
	GET_LENGTH(SOL_TCP, TCP_MAXSEG),
	GET(SOL_IP, IP_TOS),
	GET(SOL_IP, IP_OPTIONS),
	GET_LENGTH(SOL_IP, IP_TOS),
	GET(SOL_IPV6, IPV6_TCLASS),
	GET_LENGTH(SOL_IPV6, IPV6_TCLASS),
	GET(SOL_SMC, SMC_LIMIT_HS),
	GET_LENGTH(SOL_SMC, SMC_LIMIT_HS),

	{ "send", send_short },
	{ "send much", send_long },
	{ "send urgent", send_short, .option = MSG_OOB },
	{ "send zerocopy", send_zerocopy, .option = MSG_ZEROCOPY },
	{ "send, control", send_control, BYTES(stamp) },
	{ "send, name", send_name },
	{ "send, header", send_message_header },
	{ "write", do_write },
	{ "writev", write_vector },
	{ "sendfile, offset", send_file },
	{ "splice in", splice_in },
	{ "recv", receive_short },
	{ "recv behind", receive_long },
	{ "peek", receive_short, .option = MSG_PEEK },
	{ "recv urgent", receive_short, .option = MSG_OOB },
	{ "recv errors", receive_short, .option = MSG_ERRQUEUE },
	{ "recv, control", receive_control },
	{ "recv, name", receive_name },
	{ "recv, header", receive_message_header },
	{ "read", do_read },
	{ "readv", read_vector },
	{ "splice out", splice_out },

	{ "SIOCINQ", do_ioctl, .option = SIOCINQ },
	{ "SIOCATMARK", do_ioctl, .option = SIOCATMARK },
	{ "SIOCOUTQ", do_ioctl, .option = SIOCOUTQ },
};

const int nr_calls = sizeof(calls) / sizeof(*calls);
