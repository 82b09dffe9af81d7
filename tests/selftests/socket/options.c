// SPDX-License-Identifier: GPL-2.0-only
/* Socket options: all levels, values, errors, inheritance */

#include <linux/filter.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "pair.h"

/* Options with an int that is read back as it was set, and inherited from a listener */
static const struct option {
	int level;
	int name;
	int value;
	int family;	/* of the address; 0: any */
	bool inherited;
} ints[] = {
	{ SOL_SOCKET, SO_KEEPALIVE, 1, 0, true },
	{ SOL_SOCKET, SO_OOBINLINE, 1, 0, true },
	{ SOL_SOCKET, SO_REUSEADDR, 1, 0, true },
	{ SOL_SOCKET, SO_REUSEPORT, 1, 0, true },
	{ SOL_SOCKET, SO_BROADCAST, 1, 0, true },
	{ SOL_SOCKET, SO_DONTROUTE, 1, 0, true },
	{ SOL_SOCKET, SO_MARK, 7, 0, true },
	{ SOL_SOCKET, SO_RCVLOWAT, 3, 0, true },
	{ SOL_SOCKET, SO_BUSY_POLL, 10, 0, true },
	{ SOL_SOCKET, SO_TIMESTAMP, 1, 0, true },
	{ SOL_SOCKET, SO_TIMESTAMPING, 0x18, 0, true },	/* software, received */
	{ SOL_TCP, TCP_NODELAY, 1, 0, true },
	{ SOL_TCP, TCP_KEEPIDLE, 33, 0, true },
	{ SOL_TCP, TCP_KEEPINTVL, 34, 0, true },
	{ SOL_TCP, TCP_KEEPCNT, 5, 0, true },
	{ SOL_TCP, TCP_SYNCNT, 4, 0, true },
	{ SOL_TCP, TCP_LINGER2, 11, 0, true },
	{ SOL_TCP, TCP_USER_TIMEOUT, 4321, 0, true },
	{ SOL_TCP, TCP_NOTSENT_LOWAT, 5000, 0, true },
	{ SOL_TCP, TCP_INQ, 1, 0, true },
	{ SOL_IP, IP_TOS, 0x10, AF_INET, false },
	{ SOL_IP, IP_TTL, 77, AF_INET, true },
	{ SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, AF_INET, true },
	{ SOL_IPV6, IPV6_UNICAST_HOPS, 66, AF_INET6, true },
	{ SOL_IPV6, IPV6_V6ONLY, 1, AF_INET6, true },
	{ SOL_IPV6, IPV6_TCLASS, 0x20, AF_INET6, true },
};

#define NR_INTS	((int)(sizeof(ints) / sizeof(*ints)))

static bool is_bypassed(int level, int name)
{
	return level == SOL_SOCKET && name == SO_REUSEPORT && options_bypass_smc();
}

static bool for_family(const struct option *o, int family)
{
	if (is_bypassed(o->level, o->name))
		return false;
	return !o->family || o->family == family;
}

static void expect_int(int fd, const struct option *o)
{
	int got = get_int(fd, o->level, o->name);

	if (got != o->value)
		FAIL("option %d of level %d is %d, not %d", o->name, o->level, got, o->value);
}

TEST(options_read_back)
{
	int fd, i;

	for (i = 0; i < NR_INTS; i++) {
		if (!for_family(&ints[i], variant->client_address))
			continue;
		fd = new_client();
		set_int(fd, ints[i].level, ints[i].name, ints[i].value);
		expect_int(fd, &ints[i]);
		close(fd);
	}
}

TEST(options_of_connection)
{
	int fd[2], i;

	pair_open(fd);
	for (i = 0; i < NR_INTS; i++) {
		if (ints[i].name == IPV6_V6ONLY || !for_family(&ints[i], 0))
			continue;
		set_int(fd[0], ints[i].level, ints[i].name, ints[i].value);
		expect_int(fd[0], &ints[i]);
		set_int(fd[1], ints[i].level, ints[i].name, ints[i].value);
		expect_int(fd[1], &ints[i]);
	}
	EQ(is_tcp(fd[0]), !variant->smc);
}

TEST(options_inherited)
{
	struct addr addr = server_bind_address();
	int i;

	for (i = 0; i < NR_INTS; i++) {
		int listener = new_server(), client, fd;

		/* A server for both families cannot be limited to one */
		if (!ints[i].inherited || !for_family(&ints[i], variant->server_address) ||
		    variant->server_address != variant->client_address)
			continue;
		set_int(listener, ints[i].level, ints[i].name, ints[i].value);
		OK(bind(listener, &addr.sa, addr.len));
		OK(listen(listener, 1));
		client = connect_to(listener);
		fd = accept_from(listener);
		EQ(is_tcp(fd), !variant->smc);
		expect_int(fd, &ints[i]);
		close(fd);
		close(client);
		close(listener);
	}
}

/* What a client chose before connecting is still there, and in effect, afterwards */
TEST(options_kept_by_connect)
{
	int listener = listen_any(1), fd = new_client(), i;
	struct addr to = target_of(listener);

	for (i = 0; i < NR_INTS; i++)
		if (for_family(&ints[i], variant->client_address) &&
		    ints[i].name != IPV6_V6ONLY)
			set_int(fd, ints[i].level, ints[i].name, ints[i].value);
	OK(connect(fd, &to.sa, to.len));
	EQ(is_tcp(fd), !variant->smc);
	for (i = 0; i < NR_INTS; i++)
		if (for_family(&ints[i], variant->client_address) &&
		    ints[i].name != IPV6_V6ONLY)
			expect_int(fd, &ints[i]);
}

TEST(options_timeouts)
{
	struct timeval time = { 3, 500000 };
	struct addr addr = server_bind_address();
	int listener = new_server(), fd;
	socklen_t len = sizeof(time);

	OK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, len));
	time.tv_sec = 4;
	OK(setsockopt(listener, SOL_SOCKET, SO_SNDTIMEO, &time, len));
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	connect_to(listener);
	wait_events(listener, POLLIN);	/* accept() has the time-out, too */
	fd = accept_from(listener);
	OK(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, &len));
	EQ(time.tv_sec, 3);
	EQ(time.tv_usec, 500000);
	OK(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, &len));
	EQ(time.tv_sec, 4);
	time.tv_usec = 1000000;
	FAILS(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, len), EDOM);
}

TEST(options_linger)
{
	struct linger linger = {};
	socklen_t len = sizeof(linger);
	struct addr addr = server_bind_address();
	int listener = new_server(), fd;

	set_linger(listener, 1, 17);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	connect_to(listener);
	fd = accept_from(listener);
	OK(getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &len));
	EQ(linger.l_onoff, 1);
	EQ(linger.l_linger, 17);
	set_linger(fd, 0, 0);
}

TEST(options_buffers)
{
	struct addr addr = server_bind_address();
	int listener = new_server(), fd;

	socket_buffers(listener, 40000);
	EQ(get_int(listener, SOL_SOCKET, SO_SNDBUF), 80000);	/* doubled, as always */
	EQ(get_int(listener, SOL_SOCKET, SO_RCVBUF), 80000);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	connect_to(listener);
	fd = accept_from(listener);
	EQ(get_int(fd, SOL_SOCKET, SO_SNDBUF), 80000);
	EQ(get_int(fd, SOL_SOCKET, SO_RCVBUF), 80000);
	EQ(is_tcp(fd), !variant->smc);
}

TEST(options_lengths)
{
	char buf[256];
	socklen_t len;
	int fd = fresh(), one = 1;

	len = 2;
	OK(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, buf, &len));
	EQ(len, 2);
	len = sizeof(buf);
	OK(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, buf, &len));
	EQ(len, 4);
	len = 1;
	OK(getsockopt(fd, SOL_TCP, TCP_NODELAY, buf, &len));
	EQ(len, 1);
	len = sizeof(buf);
	OK(getsockopt(fd, SOL_TCP, TCP_NODELAY, buf, &len));
	EQ(len, 4);
	len = -1;
	FAILS(getsockopt(fd, SOL_TCP, TCP_NODELAY, buf, &len), EINVAL);
	len = sizeof(buf);
	OK(getsockopt(fd, SOL_TCP, TCP_CONGESTION, buf, &len));
	EQ(len, 16);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, 2), EINVAL);
	FAILS(setsockopt(fd, SOL_TCP, TCP_NODELAY, &one, 2), EINVAL);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, NULL, 4), EFAULT);
	FAILS(setsockopt(fd, SOL_TCP, TCP_NODELAY, NULL, 4), EFAULT);
	FAILS(getsockopt(fd, SOL_TCP, TCP_NODELAY, buf, NULL), EFAULT);
}

TEST(options_unknown)
{
	char buf[16];
	socklen_t len = sizeof(buf);
	int fd = fresh();

	FAILS(setsockopt(fd, SOL_SOCKET, 9999, buf, 4), ENOPROTOOPT);
	FAILS(getsockopt(fd, SOL_SOCKET, 9999, buf, &len), ENOPROTOOPT);
	FAILS(setsockopt(fd, SOL_TCP, 9999, buf, 4), ENOPROTOOPT);
	FAILS(getsockopt(fd, SOL_TCP, 9999, buf, &len), ENOPROTOOPT);
	FAILS(setsockopt(fd, 9999, 1, buf, 4), ENOPROTOOPT);
	FAILS(setsockopt(fd, IPPROTO_UDP, 1, buf, 4), ENOPROTOOPT);
}

TEST(options_read_only)
{
	int fd = fresh();

	FAILS(setsockopt(fd, SOL_SOCKET, SO_TYPE, &(int){ 1 }, 4), ENOPROTOOPT);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_ERROR, &(int){ 1 }, 4), ENOPROTOOPT);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &(int){ 1 }, 4), ENOPROTOOPT);
}

TEST(options_privileged)
{
	int fd = fresh();

	OK(setresuid(65534, 65534, 65534));
	FAILS(setsockopt(fd, SOL_SOCKET, SO_MARK, &(int){ 1 }, 4), EPERM);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ 1 << 20 }, 4), EPERM);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &(int){ 7 }, 4), EPERM);
}

/*
 * Every option of the usual levels, on a fresh and on a connected socket: answers as a TCP
 * socket's. What says which socket it is, what differs from one connection to the next, and
 * sizes of buffers are left out; and what AF_SMC sockets refuse before 6.8: SO_ZEROCOPY.
 */
static bool may_differ(int level, int name)
{
	static const int differ[][2] = {
		{ SOL_SOCKET, SO_PROTOCOL }, { SOL_SOCKET, SO_DOMAIN }, { SOL_SOCKET, SO_SNDBUF },
		{ SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_COOKIE }, { SOL_SOCKET, SO_MEMINFO },
		{ SOL_SOCKET, SO_INCOMING_CPU }, { SOL_SOCKET, SO_PEERNAME },
		{ SOL_SOCKET, SO_INCOMING_NAPI_ID }, { SOL_SOCKET, SO_ZEROCOPY },
		{ SOL_TCP, TCP_MAXSEG }, { SOL_TCP, TCP_INFO },
		{ SOL_TCP, TCP_WINDOW_CLAMP }, { SOL_TCP, TCP_CC_INFO },
		{ SOL_TCP, TCP_TIMESTAMP }, { SOL_TCP, TCP_ZEROCOPY_RECEIVE },
		{ SOL_TCP, TCP_QUICKACK }, { SOL_TCP, TCP_SAVED_SYN },
		{ SOL_IP, 52 /* IP_PROTOCOL: the port, really */ },
	};
	size_t i;

	for (i = 0; i < sizeof(differ) / sizeof(*differ); i++)
		if (differ[i][0] == level && differ[i][1] == name)
			return true;
	return false;
}

static int differences;

static void compare_option(int fd, int tcp, int level, int name)
{
	char got[256] = "", want[256] = "";
	socklen_t got_len = 128, want_len = 128;
	int got_error, want_error;

	got_error = getsockopt(fd, level, name, got, &got_len) ? errno : 0;
	want_error = getsockopt(tcp, level, name, want, &want_len) ? errno : 0;
	if (got_error == want_error &&
	    (got_error || (got_len == want_len && !memcmp(got, want, got_len))))
		return;
	differences++;
	fprintf(stderr, "getsockopt(%d, %d): %s, %d bytes, 0x%x; TCP: %s, %d bytes, 0x%x\n",
		level, name, strerrorname_np(got_error), got_len, *(int *)got,
		strerrorname_np(want_error), want_len, *(int *)want);
}

static void compare_level(int fd, int tcp, int level, int last)
{
	int name;

	for (name = 0; name <= last; name++)
		if (!may_differ(level, name))
			compare_option(fd, tcp, level, name);
}

static void compare_all(int fd, int tcp, int family)
{
	compare_level(fd, tcp, SOL_SOCKET, 90);
	compare_level(fd, tcp, SOL_TCP, 50);
	compare_level(fd, tcp, SOL_IP, 60);
	if (family == AF_INET6)
		compare_level(fd, tcp, SOL_IPV6, 90);
	compare_level(fd, tcp, IPPROTO_UDP, 4);
	compare_level(fd, tcp, 9999, 2);
}

static int tcp_like(int family)
{
	return OK(socket(family, SOCK_STREAM, 0));
}

TEST(options_answers_fresh, .applies = not_tcp)
{
	compare_all(new_client(), tcp_like(variant->client_address), variant->client_address);
	compare_all(new_server(), tcp_like(variant->server_address), variant->server_address);
	EQ(differences, 0);
}

TEST(options_answers_connected, .applies = not_tcp)
{
	int listener = listen_any(2), tcp_listener = tcp_like(variant->server_address);
	int tcp = tcp_like(variant->client_address), client;
	struct addr addr = server_bind_address(), to;

	OK(bind(tcp_listener, &addr.sa, addr.len));
	OK(listen(tcp_listener, 2));
	to = target_of(tcp_listener);
	OK(connect(tcp, &to.sa, to.len));
	client = connect_to(listener);
	compare_all(client, tcp, variant->client_address);
	compare_all(accept_from(listener), accept_from(tcp_listener), variant->server_address);
	EQ(differences, 0);
}

/* All options that can be set, given to the listeners */
TEST(options_answers_inherited, .applies = not_tcp)
{
	int listener = new_server(), tcp_listener = tcp_like(variant->server_address), i;
	int tcp = tcp_like(variant->client_address), client;
	struct addr addr = server_bind_address(), to;

	set_int(listener, SOL_SOCKET, SO_PRIORITY, 5);
	set_int(tcp_listener, SOL_SOCKET, SO_PRIORITY, 5);
	for (i = 0; i < NR_INTS; i++) {
		if (!for_family(&ints[i], variant->server_address) ||
		    ints[i].name == IPV6_V6ONLY)
			continue;
		set_int(listener, ints[i].level, ints[i].name, ints[i].value);
		set_int(tcp_listener, ints[i].level, ints[i].name, ints[i].value);
	}
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 2));
	OK(bind(tcp_listener, &addr.sa, addr.len));
	OK(listen(tcp_listener, 2));
	to = target_of(tcp_listener);
	OK(connect(tcp, &to.sa, to.len));
	client = connect_to(listener);
	EQ(is_tcp(client), !variant->smc);
	compare_all(accept_from(listener), accept_from(tcp_listener), variant->server_address);
	EQ(differences, 0);
}

/* As above for setting: errors, with a short, a normal and a long value */
static void compare_setting(int level, int last)
{
	static const int lengths[] = { 0, 1, 4, 16 };
	int name, i;

	for (name = 0; name <= last; name++) {
		for (i = 0; i < 4 && !may_differ(level, name) && !is_bypassed(level, name); i++) {
			int fd = new_client(), tcp = tcp_like(variant->client_address);
			char value[16] = { 1 };
			int got, want;

			got = setsockopt(fd, level, name, value, lengths[i]) ? errno : 0;
			want = setsockopt(tcp, level, name, value, lengths[i]) ? errno : 0;
			if (got != want && !may_differ(level, name)) {
				differences++;
				fprintf(stderr, "setsockopt(%d, %d), %d bytes: %s, TCP: %s\n",
					level, name, lengths[i], strerrorname_np(got),
					strerrorname_np(want));
			}
			close(fd);
			close(tcp);
		}
	}
}

static bool client_is_smc(int index)
{
	return not_tcp(index) && not_swapped(index);
}

TEST(options_setting_socket, .applies = client_is_smc)
{
	compare_setting(SOL_SOCKET, 77);	/* behind are some for special devices */
	EQ(differences, 0);
}

TEST(options_setting_ip, .applies = client_is_smc)
{
	compare_setting(SOL_IP, 60);
	compare_setting(SOL_IPV6, 90);
	EQ(differences, 0);
}

TEST(options_limit_handshake, .applies = client_is_smc)
{
	int fd = new_client();

	EQ(get_int(fd, SOL_SMC, SMC_LIMIT_HS), 0);
	set_int(fd, SOL_SMC, SMC_LIMIT_HS, 1);
	EQ(get_int(fd, SOL_SMC, SMC_LIMIT_HS), 1);
	FAILS(setsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &(int){ 1 }, 2), EINVAL);
	FAILS(setsockopt(fd, SOL_SMC, 2, &(int){ 1 }, 4), EOPNOTSUPP);
	FAILS(setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 3), ENOTCONN);
	TRUE(is_tcp(fd));
}

/* Programs try this name to learn what a socket is. TCP refuses it, and the socket stays SMC */
TEST(options_refused_ulp, .applies = client_is_smc)
{
	int fd = new_client(), tcp = tcp_like(variant->client_address);
	int got = setsockopt(fd, SOL_TCP, TCP_ULP, "mptcp", 5) ? errno : 0;
	int want = setsockopt(tcp, SOL_TCP, TCP_ULP, "mptcp", 5) ? errno : 0;

	EQ(got, want);
	EQ(is_tcp(fd), false);
	FAILS(setsockopt(fd, SOL_TCP, TCP_ULP, "mptcp", 0), EINVAL);
	FAILS(setsockopt(fd, SOL_TCP, TCP_ULP, NULL, 5), EFAULT);
	EQ(is_tcp(fd), false);
}

TEST(options_tcp_info)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);
	int fd[2];

	pair_open(fd);
	OK(getsockopt(fd[0], SOL_TCP, TCP_INFO, &info, &len));
	EQ(info.tcpi_state, TCP_ESTABLISHED);
}

TEST(options_filter)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffffffff);
	struct sock_fprog prog = { .len = 1, .filter = &all };
	int fd[2];

	pair_open(fd);
	OK(setsockopt(fd[0], SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)));
	send_text(fd[1], "seen");
	expect_text(fd[0], "seen");
	OK(setsockopt(fd[0], SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, 4));
	FAILS(setsockopt(fd[0], SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, 4), ENOENT);
}

TEST(options_peer_name)
{
	struct addr peer, got;
	int fd[2];

	pair_open(fd);
	peer = peer_of(fd[0]);
	got.len = peer.len;
	OK(getsockopt(fd[0], SOL_SOCKET, SO_PEERNAME, &got.sa, &got.len));
	EQ(got.len, peer.len);
	EQ(port_of(&got), port_of(&peer));
}
