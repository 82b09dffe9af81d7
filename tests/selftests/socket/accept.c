// SPDX-License-Identifier: GPL-2.0-only
/* listen() and accept(), and what happens to connections that nobody has accepted */

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "pair.h"

#define CROWD	8

TEST(listen_without_bind)
{
	int fd = new_server(), client = new_client();
	struct addr to;

	OK(listen(fd, 1));
	to = target_of(fd);
	TRUE(port_of(&to) > 0);
	OK(connect(client, &to.sa, to.len));
	accept_from(fd);
	EQ(is_tcp(client), !variant->smc);
}

TEST(listen_states)
{
	int listener = listen_any(1);
	char byte;

	EQ(get_int(listener, SOL_SOCKET, SO_ACCEPTCONN), 1);
	EQ(events_now(listener), 0);
	FAILS(recv(listener, &byte, 1, 0), ENOTCONN);
	FAILS(send(listener, "x", 1, MSG_NOSIGNAL), EPIPE);
	FAILS(getpeername(listener, &(struct sockaddr){}, &(socklen_t){ 4 }), ENOTCONN);
	OK(listen(listener, 5));	/* once more is allowed */
	EQ(get_int(listener, SOL_SOCKET, SO_ERROR), 0);
}

TEST(accept_errors)
{
	int listener = listen_any(1), fd = fresh();

	FAILS(accept(fd, NULL, NULL), EINVAL);
	FAILS(accept4(listener, NULL, NULL, 1), EINVAL);
	nonblock(listener);
	FAILS(accept(listener, NULL, NULL), EAGAIN);
}

TEST(accept_connected)
{
	int fd[2];

	pair_open(fd);
	FAILS(accept(fd[0], NULL, NULL), EINVAL);
	FAILS(accept(fd[1], NULL, NULL), EINVAL);
}

#define CONNECTIONS	50

static void accept_and_close(void *arg)
{
	close(accept_from(*(int *)arg));
}

static bool accepts_at_once(int listener)
{
	int client, fd;
	bool found;

	nonblock(listener);
	client = connect_to(listener);
	fd = accept(listener, NULL, NULL);
	found = fd >= 0;
	if (!found) {
		EQ(errno, EAGAIN);
		wait_events(listener, POLLIN);
		fd = accept_from(listener);
	}
	close(fd);
	close(client);
	return found;
}

static bool polls_at_once(int listener)
{
	int client = connect_to(listener);
	bool found = events_now(listener) & POLLIN;

	close(accept_from(listener));
	close(client);
	return found;
}

/* The steps of a handshake are left to accept() for a moment if a task has waited there */
static bool polls_after_accept(int listener)
{
	struct worker worker;
	int client;

	worker_start(&worker, accept_and_close, &listener);
	worker_asleep(&worker);
	client = connect_to(listener);
	worker_join(&worker);
	close(client);
	return polls_at_once(listener);
}

/* A kworker looks at a client of TCP before a program finds it */
static bool no_fallback(int index)
{
	return within_host(index) && !only_fallback(index);
}

/*
 * The client's connect() has returned, so its connection is there, also if the client's task has a
 * low priority. On a busy machine the kernel leaves packets to ksoftirqd, also of TCP; then few
 * connections are there.
 */
static void expect_connections_at_once(bool (*finds)(int listener))
{
	int listener = listen_any(5), found, i;

	OK(setpriority(PRIO_PROCESS, 0, 5));
	do {
		for (i = found = 0; i < CONNECTIONS; i++)
			found += finds(listener);
		printf("%d of %d connections are there\n", found, CONNECTIONS);
	} while (found < CONNECTIONS * 9 / 10);
}

TEST(accept_at_once, .applies = no_fallback)
{
	expect_connections_at_once(accepts_at_once);
}

TEST(poll_at_once, .applies = no_fallback)
{
	expect_connections_at_once(polls_at_once);
}

TEST(poll_at_once_after_accept, .applies = no_fallback)
{
	expect_connections_at_once(polls_after_accept);
}

TEST(accept_flags)
{
	int listener = listen_any(5), fd;

	nonblock(listener);
	connect_to(listener);
	wait_events(listener, POLLIN);
	fd = OK(accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
	TRUE(fcntl(fd, F_GETFL) & O_NONBLOCK);
	TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	connect_to(listener);
	wait_events(listener, POLLIN);
	fd = OK(accept(listener, NULL, NULL));
	TRUE(!(fcntl(fd, F_GETFL) & O_NONBLOCK));	/* not inherited */
	TRUE(!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
}

TEST(accept_address)
{
	int listener = listen_any(1), client = connect_to(listener), fd;
	struct addr peer = { .len = sizeof(peer.ss) }, name = name_of(client);
	struct addr short_one = { .len = 6 };

	fd = OK(accept(listener, &peer.sa, &peer.len));
	EQ(peer.sa.sa_family, variant->server_address);
	EQ(port_of(&peer), port_of(&name));
	EQ(peer.len, peer_of(fd).len);
	client = connect_to(listener);
	name = name_of(client);
	OK(accept(listener, &short_one.sa, &short_one.len));
	EQ(short_one.len, peer.len);
	EQ(port_of(&short_one), port_of(&name));
}

TEST(accept_receive_timeout)
{
	int listener = listen_any(1);

	set_timeout(listener, SO_RCVTIMEO, 50);
	FAILS(accept(listener, NULL, NULL), EAGAIN);
}

static void accept_ended_by_signal(void *arg)
{
	FAILS(accept(*(int *)arg, NULL, NULL), EINTR);
}

TEST(accept_interrupted)
{
	int listener = listen_any(1);
	struct worker worker;

	catch_signal(SIGUSR1, 0);
	worker_start(&worker, accept_ended_by_signal, &listener);
	worker_interrupt(&worker);
	worker_join(&worker);
}

static void accept_one(void *arg)
{
	int fd = accept_from(*(int *)arg);

	send_text(fd, "x");
	close(fd);
}

TEST(accept_waits)
{
	int listener = listen_any(1), client;
	struct worker worker;

	worker_start(&worker, accept_one, &listener);
	worker_asleep(&worker);
	client = connect_to(listener);
	worker_join(&worker);
	expect_text(client, "x");
	expect_eof(client);
}

TEST(accept_many_waiting)
{
	int listener = listen_any(CROWD), client[CROWD], i;
	struct worker worker[CROWD];

	for (i = 0; i < CROWD; i++) {
		worker_start(&worker[i], accept_one, &listener);
		worker_asleep(&worker[i]);
	}
	for (i = 0; i < CROWD; i++)
		client[i] = connect_to(listener);
	for (i = 0; i < CROWD; i++) {
		worker_join(&worker[i]);
		expect_text(client[i], "x");
		expect_eof(client[i]);
	}
}

TEST(accept_in_order)
{
	int listener = listen_any(CROWD), client[CROWD], i;

	for (i = 0; i < CROWD; i++) {
		client[i] = connect_to(listener);
		send_text(client[i], (char[]){ 'a' + i, 0 });
	}
	for (i = 0; i < CROWD; i++) {
		int fd = accept_from(listener);

		expect_text(fd, (char[]){ 'a' + i, 0 });
	}
	nonblock(listener);
	FAILS(accept(listener, NULL, NULL), EAGAIN);
}

TEST(accept_by_processes)
{
	int listener = listen_any(CROWD), i;

	for (i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			accept_one(&listener);
			_exit(0);
		}
		wait_asleep(pid);
	}
	for (i = 0; i < 3; i++)
		expect_text(connect_to(listener), "x");
	for (i = 0; i < 3; i++) {
		int status;

		OK(wait(&status));
		EQ(status, 0);
	}
}

static void accept_refused(void *arg)
{
	FAILS(accept(*(int *)arg, NULL, NULL), EINVAL);
}

TEST(shutdown_of_listener)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);
	struct worker worker;

	worker_start(&worker, accept_refused, &listener);
	worker_asleep(&worker);
	OK(shutdown(listener, SHUT_WR));	/* means nothing here */
	EQ(get_int(listener, SOL_SOCKET, SO_ACCEPTCONN), 1);
	OK(shutdown(listener, SHUT_RD));
	worker_join(&worker);
	EQ(get_int(listener, SOL_SOCKET, SO_ACCEPTCONN), 0);
	EQ(events_now(listener) & POLLHUP, POLLHUP);
	FAILS(connect(fd, &to.sa, to.len), ECONNREFUSED);
	FAILS(shutdown(listener, SHUT_RD), ENOTCONN);
	OK(listen(listener, 1));
	to = target_of(listener);	/* a new port, because the first one was not asked for */
	close(fd);
	fd = new_client();
	OK(connect(fd, &to.sa, to.len));
	accept_from(listener);
	EQ(is_tcp(fd), !variant->smc);
}

TEST(shutdown_of_listener_wakes_poll)
{
	int listener = listen_any(1);
	struct pollfd pfd = { .fd = listener, .events = POLLIN };

	if (!fork()) {
		wait_asleep(getppid());
		OK(shutdown(listener, SHUT_RDWR));
		_exit(0);
	}
	EQ(poll(&pfd, 1, FOREVER), 1);
	TRUE(pfd.revents & POLLHUP);
}

TEST(listener_poll)
{
	int listener = listen_any(2), client;

	EQ(events_now(listener), 0);
	client = connect_to(listener);
	EQ(wait_events(listener, POLLIN), POLLIN | POLLRDNORM);
	accept_from(listener);
	EQ(events_now(listener), 0);
	close(client);
}

TEST(close_of_listener_resets_waiting)
{
	int listener = listen_any(2), client = connect_to(listener);
	char byte;

	send_text(client, "lost");
	wait_events(listener, POLLIN);
	close(listener);
	wait_events(client, POLLIN);
	FAILS(recv(client, &byte, 1, 0), ECONNRESET);
	EQ(recv(client, &byte, 1, 0), 0);
	FAILS(send(client, &byte, 1, MSG_NOSIGNAL), EPIPE);
}

TEST(close_of_listener_resets_silent)
{
	int listener = listen_any(2), client = connect_to(listener);
	char byte;

	wait_events(listener, POLLIN);
	close(listener);
	wait_events(client, POLLIN);
	FAILS(recv(client, &byte, 1, 0), ECONNRESET);
	EQ(recv(client, &byte, 1, 0), 0);
}

TEST(close_of_client_before_accept)
{
	int listener = listen_any(2), client = connect_to(listener), fd;

	send_text(client, "last words");
	close(client);
	fd = accept_from(listener);
	expect_text(fd, "last words");
	expect_eof(fd);
	expect_eof(fd);
}

TEST(reset_of_client_before_accept)
{
	int listener = listen_any(2), client = connect_to(listener), fd;
	char byte;

	wait_events(listener, POLLIN);	/* an earlier reset would end the handshake */
	set_linger(client, 1, 0);
	close(client);
	fd = accept_from(listener);
	FAILS(recv(fd, &byte, 1, 0), ECONNRESET);
	EQ(recv(fd, &byte, 1, 0), 0);
}

/*
 * A queue holds one connection more than the backlog says. Then SYNs are dropped. But there may be
 * room for one more in the moment in which another one changes hands.
 */
TEST(backlog)
{
	int backlog = 2, listener = listen_any(backlog), client[5], i, connected = 0;
	struct addr to = target_of(listener);
	struct pollfd pfd;

	for (i = 0; i < 5; i++) {
		client[i] = new_client();
		nonblock(client[i]);
		FAILS(connect(client[i], &to.sa, to.len), EINPROGRESS);
		if (i <= backlog)
			wait_events(client[i], POLLOUT);
	}
	for (i = 0; i < 5; i++) {
		pfd = (struct pollfd){ .fd = client[i], .events = POLLOUT };
		connected += OK(poll(&pfd, 1, 0));
	}
	TRUE(connected == backlog + 1 || connected == backlog + 2);
	for (i = 0; i <= backlog; i++)
		accept_from(listener);
	for (; i < 5; i++)
		wait_events(client[i], POLLOUT);	/* with the SYN's next repetition */
}

static void keep_busy(int milliseconds)
{
	long end = now_ms() + milliseconds;

	while (now_ms() < end)
		;
}

static void begin_connect(int client, const struct addr *to)
{
	nonblock(client);
	FAILS(connect(client, &to->sa, to->len), EINPROGRESS);
}

/*
 * Nothing else runs on the processor while the server's end of a handshake is open. It still
 * counts: its client is not late. Over SMC, TCP accepts one connection more.
 */
TEST(backlog_of_busy_machine)
{
	struct sched_param param = { .sched_priority = 1 };
	int listener = listen_any(0), client = new_client();
	struct addr to = target_of(listener);

	OK(sched_setscheduler(0, SCHED_FIFO, &param));
	connect_to(listener);
	keep_busy(200);
	begin_connect(new_client(), &to);
	begin_connect(client, &to);
	keep_busy(50);
	EQ(tcp_state(client), TCP_SYN_SENT);
	param.sched_priority = 0;
	OK(sched_setscheduler(0, SCHED_OTHER, &param));
	accept_from(listener);
	accept_from(listener);
	wait_events(client, POLLOUT);
}

TEST(backlog_raised)
{
	int listener = listen_any(0), client[3], i;
	struct addr to = target_of(listener);

	connect_to(listener);
	OK(listen(listener, 5));
	for (i = 0; i < 3; i++) {
		client[i] = new_client();
		OK(connect(client[i], &to.sa, to.len));
	}
	for (i = 0; i < 4; i++)
		accept_from(listener);
}

TEST(backlog_negative)
{
	int listener = listen_any(-1), i;

	for (i = 0; i < 10; i++)
		connect_to(listener);
}

TEST(defer_accept)
{
	struct addr addr = server_bind_address(), to;
	int listener = new_server(), client = new_client(), fd;

	set_int(listener, SOL_TCP, TCP_DEFER_ACCEPT, 1);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	to = target_of(listener);
	OK(connect(client, &to.sa, to.len));
	send_text(client, "data");
	fd = accept_from(listener);
	expect_text(fd, "data");
}

/* It waits for data of its clients, for so long or more */
static int defer_for(int seconds)
{
	struct addr addr = server_bind_address();
	int listener = new_server();

	set_int(listener, SOL_SOCKET, SO_RCVLOWAT, 100);	/* does not matter */
	set_int(listener, SOL_TCP, TCP_DEFER_ACCEPT, seconds);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 2));
	nonblock(listener);
	return listener;
}

static void expect_deferred(int listener)
{
	EQ(events_now(listener), 0);
	FAILS(accept(listener, NULL, NULL), EAGAIN);
}

/* TCP has not even a socket for such a client */
TEST(defer_accept_of_reset)
{
	int listener = defer_for(30), client, fd;

	client = connect_to(listener);
	expect_deferred(listener);
	set_linger(client, 1, 0);
	close(client);
	client = connect_to(listener);
	send_text(client, "data");
	wait_events(listener, POLLIN);
	fd = accept_from(listener);
	expect_text_now(fd, "data");
	expect_deferred(listener);
}

/* More than may be deferred; the server may not have taken its last step when the reset comes */
TEST(defer_accept_of_many_resets)
{
	int listener = defer_for(30), client, fd, i;

	for (i = 0; i < 10; i++) {
		client = connect_to(listener);
		set_linger(client, 1, 0);
		close(client);
	}
	client = connect_to(listener);
	send_text(client, "data");
	wait_events(listener, POLLIN);
	fd = accept_from(listener);
	expect_text_now(fd, "data");
	connect_to(listener);
	expect_deferred(listener);
}

TEST(defer_accept_of_silent)
{
	int listener = defer_for(3), client, fd;
	long start = now_ms();

	client = connect_to(listener);
	expect_deferred(listener);
	wait_events(listener, POLLIN);
	TRUE(now_ms() - start >= 2500);
	fd = accept_from(listener);
	EQ(is_tcp(fd), !variant->smc);
	expect_nothing(fd);
	send_text(client, "late");
	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1);
	expect_text(fd, "late");
}

static int peer_port(int fd)
{
	struct addr peer = peer_of(fd);

	return port_of(&peer);
}

static int own_port(int fd)
{
	struct addr name = name_of(fd);

	return port_of(&name);
}

/* The order is that of the data */
TEST(defer_accept_until_data)
{
	int listener = defer_for(60), first = connect_to(listener), second = connect_to(listener);
	int fd;

	expect_deferred(listener);
	send_text(second, "data");
	wait_events(listener, POLLIN);
	fd = accept_from(listener);
	EQ(peer_port(fd), own_port(second));
	expect_text_now(fd, "data");
	expect_deferred(listener);
	send_text(first, "more");
	wait_events(listener, POLLIN);
	expect_text_now(accept_from(listener), "more");
}

static void accept_deferred(void *arg)
{
	const int *listener = arg;
	int fd = OK(accept(*listener, NULL, NULL));

	expect_text_now(fd, "data");
	close(fd);
}

TEST(defer_accept_wakes_caller)
{
	int listener = defer_for(60), client;
	struct worker worker;

	OK(fcntl(listener, F_SETFL, 0));
	worker_start(&worker, accept_deferred, &listener);
	worker_asleep(&worker);
	client = connect_to(listener);
	worker_asleep(&worker);
	send_text(client, "data");
	worker_join(&worker);
}

TEST(defer_accept_until_end)
{
	int listener = defer_for(60), client = connect_to(listener);

	expect_deferred(listener);
	OK(shutdown(client, SHUT_WR));
	wait_events(listener, POLLIN);
	expect_eof(accept_from(listener));
	client = connect_to(listener);
	expect_deferred(listener);
	close(client);
	wait_events(listener, POLLIN);
	expect_eof(accept_from(listener));
}

/* The backlog and one more may be silent. TCP drops the SYNs of others */
TEST(defer_accept_keeps_nobody_out, .applies = only_smc)
{
	int listener = defer_for(60), fd, one, other;

	one = connect_to(listener);
	other = connect_to(listener);
	connect_to(listener);
	expect_deferred(listener);
	connect_to(listener);
	wait_events(listener, POLLIN);
	fd = accept_from(listener);
	expect_nothing(fd);
	expect_deferred(listener);
	send_text(peer_port(fd) == own_port(one) ? other : one, "data");
	wait_events(listener, POLLIN);
	expect_text_now(accept_from(listener), "data");
	connect_to(listener);
	expect_deferred(listener);
}

TEST(defer_accept_ends_with_listener)
{
	int listener = defer_for(60), client = connect_to(listener);

	expect_deferred(listener);
	close(listener);
	while (send(client, "data", 4, MSG_NOSIGNAL) > 0)
		pause_briefly();
	TRUE(errno == ECONNRESET || errno == EPIPE);
}

TEST(reuse_port, .applies = reuse_port_in_server)
{
	struct addr addr = server_bind_address(), to;
	int first = new_server(), second = new_server(), i, got[2] = {};
	struct pollfd pfd[2];

	set_int(first, SOL_SOCKET, SO_REUSEPORT, 1);
	set_int(second, SOL_SOCKET, SO_REUSEPORT, 1);
	OK(bind(first, &addr.sa, addr.len));
	addr = name_of(first);
	OK(bind(second, &addr.sa, addr.len));
	OK(listen(first, 64));
	OK(listen(second, 64));
	to = target_of(first);
	pfd[0] = (struct pollfd){ .fd = first, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = second, .events = POLLIN };
	for (i = 0; i < 32; i++) {
		int client = new_client();

		OK(connect(client, &to.sa, to.len));
		EQ(poll(pfd, 2, FOREVER), 1);
		got[!pfd[0].revents]++;
		close(accept_from(pfd[0].revents ? first : second));
		close(client);
	}
	TRUE(got[0] && got[1]);
}

TEST(rebind_after_close)
{
	struct addr addr = server_bind_address();
	int listener = new_server(), pair[2];

	set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	addr = name_of(listener);
	pair_from(listener, pair);
	close(listener);
	close(pair[!variant->swapped]);		/* the server is the first to close */
	close(pair[variant->swapped]);
	listener = new_server();
	set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
}

TEST(listener_shared_with_child)
{
	int listener = listen_any(2), status;
	pid_t pid = fork();

	if (!pid) {
		struct addr to = target_of(listener);
		int fd = new_client();

		close(listener);
		OK(connect(fd, &to.sa, to.len));
		send_text(fd, "child");
		_exit(0);
	}
	expect_text(accept_from(listener), "child");
	OK(waitpid(pid, &status, 0));
	EQ(status, 0);
	/* The child's close() has not ended it */
	connect_to(listener);
	accept_from(listener);
}

TEST(many_connections)
{
	int listener = listen_any(256), fd[200], i;

	for (i = 0; i < 100; i++) {
		fd[2 * i] = connect_to(listener);
		fd[2 * i + 1] = accept_from(listener);
		send_text(fd[2 * i], "ping");
	}
	for (i = 0; i < 100; i++) {
		expect_text(fd[2 * i + 1], "ping");
		EQ(is_tcp(fd[2 * i]), !variant->smc);
		close(fd[2 * i]);
	}
	for (i = 0; i < 100; i++) {
		expect_eof(fd[2 * i + 1]);
		close(fd[2 * i + 1]);
	}
}
