// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whoever waits for a socket, or holds it, before it is known what it becomes,
 * goes on as if nothing had happened when it becomes SMC, or TCP.
 */

#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "pair.h"

/**
 * struct slow - a client whose connection takes a second
 * @client: non-blocking, connecting
 * @listener: its SYN was dropped, because this one's queue was full
 * @server: from slow_finish()
 * @got: for workers: a result
 */
struct slow {
	int client;
	int listener;
	int server;
	int got;
};

static void slow_start(struct slow *s)
{
	struct addr to;
	int waiting;

	s->listener = listen_full(&waiting);
	s->client = new_client();
	nonblock(s->client);
	to = target_of(s->listener);
	FAILS(connect(s->client, &to.sa, to.len), EINPROGRESS);
}

static void slow_finish(struct slow *s)
{
	accept_from(s->listener);	/* the one that was in the way */
	s->server = accept_from(s->listener);
	wait_events(s->client, POLLOUT);
	EQ(is_tcp(s->client), !variant->smc);
}

static void poll_for(struct slow *s, short events)
{
	struct pollfd pfd = { .fd = s->client, .events = events };

	EQ(poll(&pfd, 1, FOREVER), 1);
	s->got = pfd.revents;
}

static void poll_out(void *arg)
{
	poll_for(arg, POLLOUT);
}

static void poll_in(void *arg)
{
	poll_for(arg, POLLIN);
}

static void poll_hup(void *arg)
{
	poll_for(arg, POLLRDHUP);
}

TEST(poll_before_for_output, .applies = not_swapped)
{
	struct worker worker;
	struct slow s;

	slow_start(&s);
	worker_start(&worker, poll_out, &s);
	worker_asleep(&worker);
	slow_finish(&s);
	worker_join(&worker);
	EQ(s.got, POLLOUT);
}

TEST(poll_before_for_input, .applies = not_swapped)
{
	struct worker worker, second;
	struct slow s;

	slow_start(&s);
	worker_start(&worker, poll_in, &s);
	worker_start(&second, poll_hup, &s);
	worker_asleep(&worker);
	worker_asleep(&second);
	slow_finish(&s);
	worker_asleep(&worker);
	send_text(s.server, "x");
	worker_join(&worker);
	EQ(s.got, POLLIN);
	worker_asleep(&second);
	OK(shutdown(s.server, SHUT_WR));
	worker_join(&second);
	EQ(s.got, POLLRDHUP);
}

static void select_in(void *arg)
{
	struct slow *s = arg;
	fd_set in;

	FD_ZERO(&in);
	FD_SET(s->client, &in);
	EQ(select(s->client + 1, &in, NULL, NULL, NULL), 1);
}

TEST(select_before, .applies = not_swapped)
{
	struct worker worker;
	struct slow s;

	slow_start(&s);
	worker_start(&worker, select_in, &s);
	worker_asleep(&worker);
	slow_finish(&s);
	worker_asleep(&worker);
	send_text(s.server, "x");
	worker_join(&worker);
}

static int watch(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int epoll = OK(epoll_create1(EPOLL_CLOEXEC));

	OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	return epoll;
}

static uint32_t next_event(int epoll, int milliseconds)
{
	struct epoll_event event = {};

	return OK(epoll_wait(epoll, &event, 1, milliseconds)) ? event.events : 0;
}

TEST(epoll_before, .applies = not_swapped)
{
	int level, edge, once;
	struct slow s;

	slow_start(&s);
	level = watch(s.client, EPOLLIN);
	edge = watch(s.client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
	once = watch(s.client, EPOLLOUT | EPOLLONESHOT);
	EQ(next_event(level, 0), 0);
	EQ(next_event(edge, 0), 0);
	EQ(next_event(once, 0), 0);
	slow_finish(&s);
	EQ(next_event(level, 0), 0);
	EQ(next_event(edge, FOREVER), EPOLLOUT);
	EQ(next_event(edge, 0), 0);
	EQ(next_event(once, FOREVER), EPOLLOUT);
	EQ(next_event(once, 0), 0);
	send_text(s.server, "x");
	EQ(next_event(level, FOREVER), EPOLLIN);
	EQ(next_event(edge, FOREVER), EPOLLIN | EPOLLOUT);
	EQ(next_event(edge, 0), 0);
	send_text(s.server, "y");
	EQ(next_event(edge, FOREVER), EPOLLIN | EPOLLOUT);
	expect_text(s.client, "xy");
	EQ(next_event(level, 0), 0);
	OK(shutdown(s.server, SHUT_WR));
	EQ(next_event(edge, FOREVER), EPOLLIN | EPOLLOUT | EPOLLRDHUP);
	EQ(next_event(once, 0), 0);
}

struct epoll_wait {
	int epoll;
	uint32_t events;
};

static void wait_epoll(void *arg)
{
	struct epoll_wait *w = arg;

	w->events = next_event(w->epoll, FOREVER);
}

TEST(epoll_before_blocked, .applies = not_swapped)
{
	struct epoll_wait w;
	struct worker worker;
	struct slow s;

	slow_start(&s);
	w.epoll = watch(s.client, EPOLLIN | EPOLLET);
	worker_start(&worker, wait_epoll, &w);
	worker_asleep(&worker);
	slow_finish(&s);
	worker_asleep(&worker);
	send_text(s.server, "x");
	worker_join(&worker);
	EQ(w.events, EPOLLIN);
}

TEST(epoll_before_changed_after, .applies = not_swapped)
{
	struct epoll_event event = { .events = EPOLLOUT };
	struct slow s;
	int epoll;

	slow_start(&s);
	epoll = watch(s.client, EPOLLIN);
	slow_finish(&s);
	OK(epoll_ctl(epoll, EPOLL_CTL_MOD, s.client, &event));
	EQ(next_event(epoll, FOREVER), EPOLLOUT);
	OK(epoll_ctl(epoll, EPOLL_CTL_DEL, s.client, NULL));
	EQ(next_event(epoll, 0), 0);
	event.events = EPOLLIN;
	OK(epoll_ctl(epoll, EPOLL_CTL_ADD, s.client, &event));
	send_text(s.server, "x");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	close(s.client);
	EQ(next_event(epoll, 0), 0);
}

TEST(epoll_fresh_then_connected, .applies = not_swapped)
{
	int listener = listen_any(1), fd = new_client(), epoll = watch(fd, EPOLLIN | EPOLLET);
	struct addr to = target_of(listener);

	TRUE(next_event(epoll, 0) & EPOLLHUP);
	OK(connect(fd, &to.sa, to.len));
	next_event(epoll, 0);
	send_text(accept_from(listener), "x");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
}

static void receive_x(void *arg)
{
	struct slow *s = arg;
	char byte = 0;

	EQ(recv(s->client, &byte, 1, 0), 1);
	EQ(byte, 'x');
}

static void send_y(void *arg)
{
	struct slow *s = arg;

	send_text(s->client, "y");
}

TEST(io_before, .applies = not_swapped)
{
	struct worker reader, writer;
	struct slow s;

	slow_start(&s);
	OK(fcntl(s.client, F_SETFL, 0));
	worker_start(&reader, receive_x, &s);
	worker_start(&writer, send_y, &s);
	worker_asleep(&reader);
	worker_asleep(&writer);
	slow_finish(&s);
	worker_join(&writer);
	expect_text(s.server, "y");
	worker_asleep(&reader);
	send_text(s.server, "x");
	worker_join(&reader);
}

TEST(sigio_before, .applies = not_swapped)
{
	struct slow s;
	int before;

	slow_start(&s);
	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(s.client, F_SETOWN, getpid()));
	OK(fcntl(s.client, F_SETFL, O_ASYNC | O_NONBLOCK));
	slow_finish(&s);
	wait_caught(SIGIO, 1);
	before = caught(SIGIO);
	send_text(s.server, "x");
	wait_caught(SIGIO, before + 1);
	expect_text(s.client, "x");
	OK(fcntl(s.client, F_SETFL, O_NONBLOCK));
	before = caught(SIGIO);
	send_text(s.server, "y");
	expect_text(s.client, "y");
	EQ(caught(SIGIO), before);
}

TEST(sigurg_before, .applies = not_swapped)
{
	struct slow s;

	slow_start(&s);
	catch_signal(SIGURG, SA_RESTART);
	OK(fcntl(s.client, F_SETOWN, getpid()));
	slow_finish(&s);
	EQ(send(s.server, "!", 1, MSG_OOB), 1);
	wait_caught(SIGURG, 1);
	EQ(fcntl(s.client, F_GETOWN), getpid());
}

TEST(duplicate_before, .applies = not_swapped)
{
	struct slow s;
	int copy;

	slow_start(&s);
	copy = OK(dup(s.client));
	slow_finish(&s);
	close(s.client);
	send_text(copy, "copy");
	expect_text(s.server, "copy");
	send_text(s.server, "answer");
	expect_text(copy, "answer");
	EQ(is_tcp(copy), !variant->smc);
	close(copy);
	expect_eof(s.server);
}

TEST(process_before, .applies = not_swapped)
{
	struct slow s;
	int status;
	pid_t pid;

	slow_start(&s);
	pid = fork();
	if (!pid) {
		wait_events(s.client, POLLOUT);
		send_text(s.client, "child");
		_exit(0);
	}
	slow_finish(&s);
	expect_text(s.server, "child");
	OK(waitpid(pid, &status, 0));
	EQ(status, 0);
	send_text(s.client, "parent");
	expect_text(s.server, "parent");
}

TEST(close_before_the_outcome, .applies = not_swapped)
{
	struct worker worker;
	struct slow s;

	slow_start(&s);
	OK(fcntl(s.client, F_SETFL, 0));
	worker_start(&worker, send_y, &s);
	worker_asleep(&worker);
	close(s.client);	/* the call goes on */
	accept_from(s.listener);
	s.server = accept_from(s.listener);
	worker_join(&worker);
	expect_text(s.server, "y");
	expect_eof(s.server);
}

/* A server that speaks first, before the client has taken notice of the connection */
TEST(server_speaks_first)
{
	int listener = listen_any(1), fd = new_client(), server;
	struct addr to = target_of(listener);

	nonblock(fd);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	server = accept_from(listener);
	send_text(server, "welcome");
	close(server);
	wait_events(fd, POLLIN);
	expect_text(fd, "welcome");
	expect_eof(fd);
}

TEST(server_resets_first)
{
	int listener = listen_any(1), fd = new_client(), server;
	struct addr to = target_of(listener);
	char byte;

	nonblock(fd);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	server = accept_from(listener);
	set_linger(server, 1, 0);
	close(server);
	TRUE(wait_events(fd, POLLIN) & POLLERR);
	FAILS(recv(fd, &byte, 1, 0), ECONNRESET);
}

/* Fast Open needs the SYN for data, so there is no room for SMC */

TEST(fast_open_connect, .applies = not_swapped)
{
	int listener = listen_any(1), fd = new_client(), epoll, server;
	struct addr to = target_of(listener);

	epoll = watch(fd, EPOLLIN | EPOLLET);
	next_event(epoll, 0);
	set_int(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, 1);
	EQ(is_tcp(fd), 1);
	OK(connect(fd, &to.sa, to.len));
	send_text(fd, "fast");
	server = accept_from(listener);
	expect_text(server, "fast");
	next_event(epoll, 0);
	send_text(server, "answer");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	expect_text(fd, "answer");
}

TEST(fast_open_send, .applies = not_swapped)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	EQ(sendto(fd, "fast", 4, MSG_FASTOPEN, &to.sa, to.len), 4);
	EQ(is_tcp(fd), 1);
	expect_text(accept_from(listener), "fast");
}

/* SMC_LIMIT_HS makes no difference */
TEST(fast_open_send_with_limit, .applies = not_swapped)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	if (!is_tcp(fd))
		set_int(fd, SOL_SMC, SMC_LIMIT_HS, 1);
	EQ(sendto(fd, "fast", 4, MSG_FASTOPEN | MSG_NOSIGNAL, &to.sa, to.len), 4);
	EQ(is_tcp(fd), 1);
	expect_text(accept_from(listener), "fast");
}

TEST(fast_open_listener)
{
	struct addr addr = server_bind_address(), to;
	int listener = new_server(), fd = new_client();

	set_int(listener, SOL_TCP, TCP_FASTOPEN, 5);
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	to = target_of(listener);
	OK(connect(fd, &to.sa, to.len));
	EQ(is_tcp(fd), 1);
	send_text(fd, "x");
	expect_text(accept_from(listener), "x");
}
