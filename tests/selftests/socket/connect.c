// SPDX-License-Identifier: GPL-2.0-only
/* bind(), connect() and their errors */

#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>

#include "pair.h"

/* A port without a listening socket: another socket has it until the test ends */
static struct addr closed_port(void)
{
	struct addr bound, addr = loopback(variant->client_address, 0);
	int fd = OK(socket(addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));

	OK(bind(fd, &addr.sa, addr.len));
	bound = name_of(fd);
	return client_address(port_of(&bound));
}

static int connect_addr(int fd, const struct addr *to)
{
	return connect(fd, &to->sa, to->len);
}

TEST(socket_types)
{
	struct kind kind = variant->client;
	int fd;

	fd = OK(socket(kind.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, kind.protocol));
	TRUE(fcntl(fd, F_GETFL) & O_NONBLOCK);
	TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	EQ(get_int(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	EQ(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
	close(fd);
	fd = OK(socket(kind.family, SOCK_STREAM, kind.protocol));
	TRUE(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	TRUE(!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
}

TEST(socket_errors, .applies = only_smc)
{
	int pair[2];

	FAILS(socket(AF_SMC, SOCK_STREAM, 2), EPROTONOSUPPORT);
	FAILS(socket(AF_SMC, SOCK_DGRAM, 0), ESOCKTNOSUPPORT);
	FAILS(socket(AF_SMC, SOCK_RAW, 0), ESOCKTNOSUPPORT);
	FAILS(socket(AF_INET, SOCK_DGRAM, IPPROTO_SMC), EPROTONOSUPPORT);
	FAILS(socketpair(variant->client.family, SOCK_STREAM, variant->client.protocol, pair),
	      EOPNOTSUPP);
}

TEST(bind_port_and_name)
{
	struct addr addr = server_bind_address(), name, any;
	int fd = new_server();

	any = name_of(fd);
	EQ(any.sa.sa_family, addr.sa.sa_family);
	EQ(port_of(&any), 0);
	OK(bind(fd, &addr.sa, addr.len));
	name = name_of(fd);
	EQ(name.sa.sa_family, addr.sa.sa_family);
	EQ(name.len, addr.len);
	TRUE(port_of(&name) > 0);
	FAILS(bind(fd, &addr.sa, addr.len), EINVAL);	/* only once */
}

TEST(bind_in_use, .applies = late_options_in_server)
{
	struct addr name, addr = server_bind_address();
	int first = new_server(), second = new_server();

	OK(bind(first, &addr.sa, addr.len));
	name = name_of(first);
	FAILS(bind(second, &name.sa, name.len), EADDRINUSE);
	/* Both allow it, so it is allowed until one of them listens */
	set_int(first, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(second, SOL_SOCKET, SO_REUSEADDR, 1);
	OK(bind(second, &name.sa, name.len));
	OK(listen(first, 1));
	FAILS(listen(second, 1), EADDRINUSE);
	close(first);
	OK(listen(second, 1));
}

TEST(bind_errors)
{
	struct addr addr = loopback(variant->server_address, 0);
	int fd = new_server();

	FAILS(bind(fd, &addr.sa, addr.len - 10), EINVAL);
	FAILS(bind(fd, NULL, addr.len), EFAULT);
	FAILS(bind(fd, &addr.sa, -1), EINVAL);
	addr.sa.sa_family = AF_UNIX;
	FAILS(bind(fd, &addr.sa, addr.len), EAFNOSUPPORT);
	addr.sa.sa_family = AF_SMC;
	FAILS(bind(fd, &addr.sa, addr.len), EAFNOSUPPORT);
	addr = loopback(variant->server_address, 0);
	if (variant->server_address == AF_INET6)
		addr.in6.sin6_addr.s6_addr[0] = 0x3f;
	else
		addr.in.sin_addr.s_addr = htonl(0xc6336401);
	FAILS(bind(fd, &addr.sa, addr.len), EADDRNOTAVAIL);
}

TEST(bind_privileged_port)
{
	struct addr addr = loopback(variant->server_address, 1023);
	int fd = new_server();

	OK(setresuid(65534, 65534, 65534));
	FAILS(bind(fd, &addr.sa, addr.len), EACCES);
}

TEST(connect_refused)
{
	struct addr to = closed_port();
	int fd = new_client();

	FAILS(connect_addr(fd, &to), ECONNREFUSED);
	EQ(socket_error(fd), 0);	/* was returned already */
	EQ(events_now(fd), POLLOUT | POLLWRNORM | POLLHUP);
	FAILS(connect_addr(fd, &to), ECONNREFUSED);
}

TEST(connect_refused_nonblocking)
{
	struct addr to = closed_port();
	int fd = new_client();
	short events;

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	events = wait_events(fd, POLLOUT);
	TRUE(events & POLLERR);
	TRUE(events & POLLHUP);
	TRUE(events & POLLIN);
	EQ(socket_error(fd), ECONNREFUSED);
	EQ(socket_error(fd), 0);
	TRUE(!(events_now(fd) & POLLERR));
}

TEST(connect_refused_told_by_connect)
{
	struct addr to = closed_port();
	int fd = new_client();

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	wait_events(fd, POLLOUT);
	FAILS(connect_addr(fd, &to), ECONNREFUSED);
	EQ(socket_error(fd), 0);
}

/* Without any other call in between: nothing but connect() itself can have found out */
TEST(connect_refused_told_at_once)
{
	struct addr to = closed_port();
	int fd = new_client(), round;

	nonblock(fd);
	for (round = 0; round < 20; round++) {
		FAILS(connect_addr(fd, &to), EINPROGRESS);
		while (connect_addr(fd, &to) && errno == EALREADY)
			pause_briefly();
		EQ(errno, ECONNREFUSED);
	}
	EQ(socket_error(fd), 0);
}

TEST(connect_refused_told_by_io)
{
	struct addr to = closed_port();
	int fd = new_client();
	char byte;

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	wait_events(fd, POLLOUT);
	FAILS(recv(fd, &byte, 1, 0), ECONNREFUSED);
	EQ(socket_error(fd), 0);

	fd = new_client();
	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	wait_events(fd, POLLOUT);
	FAILS(send(fd, &byte, 1, MSG_NOSIGNAL), ECONNREFUSED);
	FAILS(send(fd, &byte, 1, MSG_NOSIGNAL), EPIPE);
}

TEST(connect_after_refused)
{
	int listener = listen_any(1), fd = new_client(), server;
	struct addr to = closed_port(), good = target_of(listener);

	FAILS(connect_addr(fd, &to), ECONNREFUSED);
	OK(connect_addr(fd, &good));
	server = accept_from(listener);
	EQ(is_tcp(fd), !variant->smc);
	send_text(fd, "hello");
	expect_text(server, "hello");
	send_text(server, "hi");
	expect_text(fd, "hi");
}

TEST(connect_nonblocking)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	EQ(wait_events(fd, POLLOUT), POLLOUT | POLLWRNORM);
	EQ(socket_error(fd), 0);
	/* The first call after it tells so, as programs expect that poll with connect() */
	OK(connect_addr(fd, &to));
	FAILS(connect_addr(fd, &to), EISCONN);
	EQ(is_tcp(fd), !variant->smc);
	send_text(fd, "data");
	expect_text(accept_from(listener), "data");
}

TEST(connect_nonblocking_used_without_asking)
{
	int listener = listen_any(1), fd = new_client(), server;
	struct addr to = target_of(listener);

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	wait_events(fd, POLLOUT);
	server = accept_from(listener);
	send_text(fd, "data");
	expect_text(server, "data");
	send_text(server, "answer");
	expect_text(fd, "answer");
	OK(connect_addr(fd, &to));
	FAILS(connect_addr(fd, &to), EISCONN);
}

TEST(connect_in_progress)
{
	struct addr to = nowhere();
	int fd = new_client();
	char byte;

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	FAILS(connect_addr(fd, &to), EALREADY);
	EQ(events_now(fd), 0);
	EQ(socket_error(fd), 0);
	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EAGAIN);
	FAILS(recv(fd, &byte, 1, 0), EAGAIN);
	FAILS(getpeername(fd, &to.sa, &to.len), ENOTCONN);
	FAILS(listen(fd, 1), EINVAL);
	to = name_of(fd);
	FAILS(bind(fd, &to.sa, to.len), EINVAL);
}

TEST(connect_send_timeout)
{
	struct addr to = nowhere();
	int fd = new_client();
	long start = now_ms();

	set_timeout(fd, SO_SNDTIMEO, 400);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	TRUE(now_ms() - start >= 200);	/* ticks of a busy guest may come late, and then fast */
	FAILS(connect_addr(fd, &to), EALREADY);
}

/* connect() does not wait for a negative time; the handshake goes on */
TEST(connect_negative_timeout)
{
	struct timeval negative = { .tv_sec = -1 };
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	OK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &negative, sizeof(negative)));
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	TRUE(wait_events(fd, POLLOUT) & POLLOUT);
	EQ(socket_error(fd), 0);
	OK(connect_addr(fd, &to));
	EQ(is_tcp(fd), !variant->smc);
}

TEST(connect_user_timeout)
{
	struct addr to = nowhere();
	int fd = new_client();
	short events;

	set_int(fd, SOL_TCP, TCP_USER_TIMEOUT, 100);
	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	events = wait_events(fd, POLLOUT);
	TRUE(events & POLLERR);
	EQ(socket_error(fd), ETIMEDOUT);
}

TEST(connect_no_route)
{
	struct addr to = no_route();
	int fd = new_client();

	FAILS(connect_addr(fd, &to), ENETUNREACH);
	EQ(socket_error(fd), 0);
	EQ(events_now(fd), POLLOUT | POLLWRNORM | POLLHUP);
}

TEST(connect_errors)
{
	struct addr to = client_address(1);
	int fd = new_client();

	FAILS(connect(fd, &to.sa, to.len - 10), EINVAL);
	FAILS(connect(fd, &to.sa, 1), EINVAL);
	FAILS(connect(fd, NULL, to.len), EFAULT);
	to.sa.sa_family = AF_UNIX;
	FAILS(connect_addr(fd, &to), EAFNOSUPPORT);
	to.sa.sa_family = AF_SMC;
	FAILS(connect_addr(fd, &to), EAFNOSUPPORT);
	if (variant->client_address == AF_INET6) {
		to = loopback(AF_INET, 1);
		FAILS(connect_addr(fd, &to), EINVAL);	/* too short */
		FAILS(connect(fd, &to.sa, sizeof(to.in6)), EAFNOSUPPORT);
	} else {
		to = loopback(AF_INET6, 1);
		FAILS(connect_addr(fd, &to), EAFNOSUPPORT);
	}
}

TEST(connect_connected)
{
	struct addr to;
	int fd[2];

	pair_open(fd);
	to = client_address(1);
	FAILS(connect_addr(fd[0], &to), EISCONN);
	FAILS(connect_addr(fd[1], &to), EISCONN);
	FAILS(bind(fd[0], &to.sa, to.len), EINVAL);
	FAILS(listen(fd[0], 1), EINVAL);
}

/* connect() tells that the connection was reset, and the next one connects again */
TEST(connect_after_told_reset)
{
	int listener = listen_any(2), client = new_client(), server;
	struct addr to = target_of(listener);

	nonblock(client);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	server = accept_from(listener);
	set_linger(server, 1, 0);
	close(server);
	wait_events(client, POLLERR);
	FAILS(connect(client, &to.sa, to.len), ECONNRESET);
	OK(fcntl(client, F_SETFL, 0));
	OK(connect(client, &to.sa, to.len));
	EQ(is_tcp(client), !variant->smc);
	server = accept_from(listener);
	send_text(server, "again");
	expect_text(client, "again");
}

/* The program has taken the error, so connect() has none to tell */
TEST(connect_after_taken_reset)
{
	int listener = listen_any(1), client = new_client(), server;
	struct addr to = target_of(listener);

	nonblock(client);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	server = accept_from(listener);
	set_linger(server, 1, 0);
	close(server);
	wait_reset(client);
	EQ(socket_error(client), ECONNRESET);
	EQ(events_now(client) & POLLERR, 0);
	FAILS(connect(client, &to.sa, to.len), ECONNABORTED);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
}

/* shutdown() ends connecting: there is no outcome to be told, and no data is lost */
TEST(connect_after_both_ends)
{
	int listener = listen_any(1), client = new_client(), server;
	struct addr to = target_of(listener);

	nonblock(client);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	server = accept_from(listener);
	send_text(server, "kept");
	close(server);
	wait_events(client, POLLRDHUP);
	OK(shutdown(client, SHUT_WR));
	wait_events(client, POLLHUP);
	FAILS(connect(client, &to.sa, to.len), EISCONN);
	expect_text(client, "kept");
}

TEST(connect_listening)
{
	int listener = listen_any(1);
	struct addr to = loopback(variant->server_address, 1);

	FAILS(connect_addr(listener, &to), EISCONN);
}

TEST(connect_from_bound_address, .applies = within_host)
{
	struct addr bound = loopback(variant->client_address, 0), name;
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener), peer;

	OK(bind(fd, &bound.sa, bound.len));
	bound = name_of(fd);
	OK(connect_addr(fd, &to));
	name = name_of(fd);
	EQ(port_of(&name), port_of(&bound));
	peer = peer_of(accept_from(listener));
	EQ(port_of(&peer), port_of(&bound));
	peer = peer_of(fd);
	EQ(port_of(&peer), port_of(&to));
	EQ(peer.sa.sa_family, variant->client_address);
	EQ(is_tcp(fd), !variant->smc);
}

TEST(names_of_both_ends)
{
	struct addr a, b;
	int fd[2];

	pair_open(fd);
	a = name_of(fd[0]);
	b = peer_of(fd[1]);
	EQ(port_of(&a), port_of(&b));
	a = name_of(fd[1]);
	b = peer_of(fd[0]);
	EQ(port_of(&a), port_of(&b));
	a = (struct addr){ .len = 4 };	/* cut off, and told how long it is */
	OK(getpeername(fd[0], &a.sa, &a.len));
	EQ(a.len, b.len);
	FAILS(getpeername(fresh(), &a.sa, &a.len), ENOTCONN);
}

struct connecting {
	int fd;
	struct addr to;
};

static void connect_refused_by_signal(void *arg)
{
	struct connecting *c = arg;

	FAILS(connect_addr(c->fd, &c->to), EINTR);
}

static void connect_to_the_end(void *arg)
{
	struct connecting *c = arg;

	OK(connect_addr(c->fd, &c->to));
}

TEST(connect_interrupted)
{
	struct connecting c = { new_client(), nowhere() };
	struct worker worker;

	catch_signal(SIGUSR1, 0);
	worker_start(&worker, connect_refused_by_signal, &c);
	worker_interrupt(&worker);
	worker_join(&worker);
	nonblock(c.fd);
	FAILS(connect_addr(c.fd, &c.to), EALREADY);	/* it goes on in the background */
}

TEST(connect_interrupted_then_done)
{
	int waiting, listener = listen_full(&waiting);
	struct connecting c = { new_client(), target_of(listener) };
	struct worker worker;

	catch_signal(SIGUSR1, 0);
	worker_start(&worker, connect_refused_by_signal, &c);
	worker_interrupt(&worker);
	worker_join(&worker);
	accept_from(listener);
	EQ(wait_events(c.fd, POLLOUT), POLLOUT | POLLWRNORM);
	EQ(socket_error(c.fd), 0);
	EQ(is_tcp(c.fd), !variant->smc);
	send_text(c.fd, "late");
	expect_text(accept_from(listener), "late");
}

TEST(connect_interrupted_and_restarted)
{
	int waiting, listener = listen_full(&waiting);
	struct connecting c = { new_client(), target_of(listener) };
	struct worker worker;

	catch_signal(SIGUSR1, SA_RESTART);
	worker_start(&worker, connect_to_the_end, &c);
	worker_interrupt(&worker);
	worker_asleep(&worker);
	accept_from(listener);
	worker_join(&worker);
	EQ(is_tcp(c.fd), !variant->smc);
}

TEST(connect_again_waits)
{
	int waiting, listener = listen_full(&waiting), fd = new_client();
	struct addr to = target_of(listener);

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	accept_from(listener);
	OK(fcntl(fd, F_SETFL, 0));
	OK(connect_addr(fd, &to));	/* waits for the first call's outcome */
	FAILS(connect_addr(fd, &to), EISCONN);
}

static void send_early(void *arg)
{
	send_text(*(int *)arg, "early");
}

TEST(send_waits_for_connect)
{
	int waiting, listener = listen_full(&waiting), fd = new_client();
	struct addr to = target_of(listener);
	struct worker worker;

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	OK(fcntl(fd, F_SETFL, 0));
	worker_start(&worker, send_early, &fd);
	worker_asleep(&worker);
	accept_from(listener);
	worker_join(&worker);
	expect_text(accept_from(listener), "early");
}

TEST(close_while_connecting)
{
	struct addr to = nowhere();
	int fd = new_client();

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	OK(close(fd));
}

TEST(shutdown_while_connecting)
{
	struct addr to = nowhere();
	int fd = new_client();

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	OK(shutdown(fd, SHUT_RDWR));
	TRUE(events_now(fd) & POLLHUP);
	EQ(socket_error(fd), ECONNRESET);
	FAILS(shutdown(fd, SHUT_RDWR), ENOTCONN);
}

/* A socket whose connect() was ended by shutdown() can connect again */
TEST(connect_after_shutdown)
{
	int listener = listen_any(1), fd = new_client(), server;
	struct addr to = nowhere();

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	OK(shutdown(fd, SHUT_RDWR));
	OK(fcntl(fd, F_SETFL, 0));
	to = target_of(listener);
	OK(connect_addr(fd, &to));
	server = accept_from(listener);
	EQ(is_tcp(fd), !variant->smc);
	send_text(fd, "to the server");
	expect_text(server, "to the server");
	send_text(server, "to the client");
	expect_text(fd, "to the client");
}

TEST(disconnect_fresh)
{
	int listener = listen_any(1), fd = new_client();
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) };
	struct addr to = target_of(listener);

	OK(connect_addr(fd, &none));
	OK(connect_addr(fd, &to));
	EQ(is_tcp(fd), !variant->smc);
}

TEST(disconnect_connecting)
{
	int listener = listen_any(1), fd = new_client();
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) };
	struct addr to = nowhere();

	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	OK(connect_addr(fd, &none));
	OK(fcntl(fd, F_SETFL, 0));
	to = target_of(listener);
	OK(connect_addr(fd, &to));
	send_text(fd, "again");
	expect_text(accept_from(listener), "again");
}

TEST(disconnect_connected)
{
	int listener = listen_any(1), fd, server;
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) };
	struct addr to = target_of(listener);
	char byte;

	fd = connect_to(listener);
	server = accept_from(listener);
	OK(connect_addr(fd, &none));
	FAILS(getpeername(fd, &to.sa, &to.len), ENOTCONN);
	EQ(socket_error(fd), ECONNRESET);
	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	FAILS(recv(fd, &byte, 1, 0), ENOTCONN);
	wait_events(server, POLLIN);
	FAILS(recv(server, &byte, 1, 0), ECONNRESET);

	to = target_of(listener);
	OK(connect_addr(fd, &to));
	server = accept_from(listener);
	send_text(fd, "again");
	expect_text(server, "again");
	send_text(server, "and back");
	expect_text(fd, "and back");
}

/* connect() starts anew, with whatever the former connection has left in SO_ERROR */
TEST(disconnect_and_connect_again)
{
	int listener = listen_any(2), fd, server;
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) };
	struct addr to = target_of(listener);

	fd = connect_to(listener);
	close(accept_from(listener));
	OK(connect_addr(fd, &none));
	OK(connect_addr(fd, &to));
	server = accept_from(listener);
	EQ(socket_error(fd), 0);
	send_text(fd, "again");
	expect_text(server, "again");
	close(server);

	OK(connect_addr(fd, &none));
	nonblock(fd);
	FAILS(connect_addr(fd, &to), EINPROGRESS);
	server = accept_from(listener);
	wait_events(fd, POLLOUT);
	EQ(socket_error(fd), 0);
}

TEST(disconnect_listening)
{
	struct addr none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.in) };
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	OK(connect_addr(listener, &none));
	EQ(get_int(listener, SOL_SOCKET, SO_ACCEPTCONN), 0);
	FAILS(accept(listener, NULL, NULL), EINVAL);
	FAILS(connect_addr(fd, &to), ECONNREFUSED);
}

TEST(connect_to_itself)
{
	struct addr addr = loopback(variant->client_address, 0);
	int fd = new_client();

	OK(bind(fd, &addr.sa, addr.len));
	addr = name_of(fd);
	OK(connect_addr(fd, &addr));
	send_text(fd, "echo");
	expect_text(fd, "echo");
}

TEST(bind_to_device, .applies = within_host)
{
	int listener, fd = new_client(), server = new_server();
	struct addr addr = server_bind_address(), to;

	OK(setsockopt(server, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	OK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	OK(bind(server, &addr.sa, addr.len));
	OK(listen(server, 1));
	to = target_of(server);
	OK(connect_addr(fd, &to));
	listener = accept_from(server);
	EQ(is_tcp(fd), !variant->smc);
	EQ(is_tcp(listener), !variant->smc);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "none", 5), ENODEV);
}

TEST(bind_to_wrong_device)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	OK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "dummy0", 7));
	nonblock(fd);
	FAILS(connect_addr(fd, &to),
	      variant->client_address == AF_INET ? EINPROGRESS : ENETUNREACH);
}

static int make_ipv4(int fd)
{
	return setsockopt(fd, SOL_IPV6, IPV6_ADDRFORM, &(int){ AF_INET }, sizeof(int));
}

/* IPV6_ADDRFORM makes an IPv4 socket of an IPv6 socket that talks IPv4: not over SMC */
TEST(connect_with_changed_family, .applies = only_ipv6)
{
	struct addr addr = loopback(AF_INET6, 0), to, to4;
	int listener = new_server(), fd = new_client(), server;

	addr.in6.sin6_addr = in6addr_any;
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 2));
	to = target_of(listener);
	to4 = loopback(AF_INET, port_of(&to));
	memcpy(&to.in6.sin6_addr, "\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1", 16);
	FAILS(make_ipv4(fd), ENOTCONN);
	FAILS(make_ipv4(listener), ENOTCONN);
	FAILS(setsockopt(fd, SOL_IPV6, IPV6_ADDRFORM, &(int){ AF_UNIX }, 4), EINVAL);
	OK(connect(fd, &to.sa, to.len));
	server = accept_from(listener);
	EQ(is_tcp(fd), !variant->smc);
	if (variant->smc) {
		FAILS(make_ipv4(fd), EOPNOTSUPP);
		EQ(name_of(fd).sa.sa_family, AF_INET6);
		send_text(fd, "six");
		expect_text(server, "six");
		return;
	}
	OK(make_ipv4(fd));
	EQ(name_of(fd).sa.sa_family, AF_INET);
	EQ(peer_of(fd).sa.sa_family, AF_INET);
	EQ(peer_of(server).sa.sa_family, AF_INET6);
	set_int(fd, SOL_IP, IP_TTL, 5);
	FAILS(setsockopt(fd, SOL_IPV6, IPV6_TCLASS, &(int){ 0 }, 4), ENOPROTOOPT);
	send_text(fd, "four");
	expect_text(server, "four");
	close(server);

	OK(connect(fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, sizeof(struct sockaddr)));
	FAILS(connect(fd, &to.sa, to.len), EAFNOSUPPORT);
	OK(connect(fd, &to4.sa, to4.len));
	server = accept_from(listener);
	EQ(is_tcp(server), !variant->smc);
	send_text(server, "again");
	expect_text(fd, "again");
}

static void accept_once(void *arg)
{
	OK(accept(*(int *)arg, NULL, NULL));
}

/* What a program did with accept() is forgotten when the socket becomes a client */
TEST(connect_after_accept)
{
	int once = listen_any(1), listener = listen_any(1), client = new_client();
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct addr to = target_of(once);
	struct worker worker;

	if (variant->server_address != variant->client_address)
		return;		/* the server's kind of socket cannot connect there */
	worker_start(&worker, accept_once, &once);
	worker_asleep(&worker);
	OK(connect(client, &to.sa, to.len));
	worker_join(&worker);

	OK(connect(once, &none, sizeof(none)));
	nonblock(once);
	to = target_of(listener);
	FAILS(connect(once, &to.sa, to.len), EINPROGRESS);
	TRUE(wait_events(once, POLLOUT) & POLLOUT);
	EQ(socket_error(once), 0);
}
