// SPDX-License-Identifier: GPL-2.0-only
/* poll(), select(), epoll in all its ways, and SIGIO */

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "pair.h"

static int watch(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int epoll = OK(epoll_create1(EPOLL_CLOEXEC));

	OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	return epoll;
}

static void rewatch(int epoll, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	OK(epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event));
}

/* Waits for an event. Return: it; 0 after the time */
static uint32_t next_event(int epoll, int milliseconds)
{
	struct epoll_event event = {};

	return OK(epoll_wait(epoll, &event, 1, milliseconds)) ? event.events : 0;
}

TEST(poll_fresh)
{
	EQ(events_now(fresh()), POLLOUT | POLLWRNORM | POLLHUP);
}

TEST(poll_connected)
{
	int fd[2];

	pair_open(fd);
	EQ(events_now(fd[0]), POLLOUT | POLLWRNORM);
	EQ(events_now(fd[1]), POLLOUT | POLLWRNORM);
	send_text(fd[0], "x");
	EQ(wait_events(fd[1], POLLIN), POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM);
	EQ(events_now(fd[0]), POLLOUT | POLLWRNORM);
}

TEST(poll_wakes_reader)
{
	struct pollfd pfd = { .events = POLLIN };
	int fd[2];

	pair_open(fd);
	pfd.fd = fd[1];
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "x");
		_exit(0);
	}
	EQ(poll(&pfd, 1, FOREVER), 1);
	EQ(pfd.revents, POLLIN);
}

TEST(poll_wakes_writer)
{
	struct pollfd pfd = { .events = POLLOUT };
	int fd[2];
	size_t n;

	pair_with_buffers(fd, 32768);
	n = send_until_full(fd[0], 0);
	pfd.fd = fd[0];
	EQ(poll(&pfd, 1, 0), 0);
	if (!fork()) {
		wait_asleep(getppid());
		drain(fd[1], n, 0);
		_exit(0);
	}
	EQ(poll(&pfd, 1, FOREVER), 1);
	EQ(pfd.revents, POLLOUT);
}

TEST(poll_wakes_at_end)
{
	struct pollfd pfd = { .events = POLLRDHUP };
	int fd[2];

	pair_open(fd);
	pfd.fd = fd[1];
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "x");
		OK(shutdown(fd[0], SHUT_WR));
		_exit(0);
	}
	EQ(poll(&pfd, 1, FOREVER), 1);
	EQ(pfd.revents, POLLRDHUP);
}

TEST(poll_wakes_at_reset)
{
	struct pollfd pfd = { .events = 0 };
	int fd[2];

	pair_open(fd);
	pfd.fd = fd[1];
	if (!fork()) {
		wait_asleep(getppid());
		set_linger(fd[0], 1, 0);
		OK(shutdown(fd[0], SHUT_RD));
		close(fd[0]);
		_exit(0);
	}
	close(fd[0]);
	EQ(poll(&pfd, 1, FOREVER), 1);
	EQ(pfd.revents, POLLERR | POLLHUP);
}

TEST(poll_several)
{
	struct pollfd pfd[4];
	int fd[4][2], i;

	for (i = 0; i < 4; i++) {
		pair_open(fd[i]);
		pfd[i] = (struct pollfd){ .fd = fd[i][1], .events = POLLIN };
	}
	EQ(poll(pfd, 4, 0), 0);
	send_text(fd[2][0], "x");
	EQ(poll(pfd, 4, FOREVER), 1);
	EQ(pfd[2].revents, POLLIN);
	send_text(fd[0][0], "x");
	wait_events(fd[0][1], POLLIN);
	EQ(poll(pfd, 4, FOREVER), 2);
}

TEST(poll_two_threads_of_waiters)
{
	int fd[2], i, status;

	pair_open(fd);
	for (i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			struct pollfd pfd = { .fd = fd[1], .events = POLLIN };

			EQ(poll(&pfd, 1, FOREVER), 1);
			_exit(0);
		}
		wait_asleep(pid);
	}
	send_text(fd[0], "x");	/* all of them are woken */
	for (i = 0; i < 3; i++) {
		OK(wait(&status));
		EQ(status, 0);
	}
}

TEST(select_all)
{
	fd_set in, out, except;
	int fd[2];

	pair_open(fd);
	send_text(fd[0], "x");
	wait_events(fd[1], POLLIN);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	FD_SET(fd[1], &in);
	FD_SET(fd[0], &in);
	FD_SET(fd[1], &out);
	FD_SET(fd[1], &except);
	EQ(select(64, &in, &out, &except, NULL), 2);
	TRUE(FD_ISSET(fd[1], &in) && FD_ISSET(fd[1], &out));
	TRUE(!FD_ISSET(fd[0], &in) && !FD_ISSET(fd[1], &except));
}

TEST(epoll_level)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLIN);
	EQ(next_event(epoll, 0), 0);
	send_text(fd[0], "ab");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	expect_text(fd[1], "a");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	expect_text(fd[1], "b");
	EQ(next_event(epoll, 0), 0);
}

TEST(epoll_edge)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLIN | EPOLLET);
	EQ(next_event(epoll, 0), 0);
	send_text(fd[0], "ab");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	EQ(next_event(epoll, 0), 0);		/* told once */
	expect_text(fd[1], "a");
	EQ(next_event(epoll, 0), 0);
	send_text(fd[0], "c");			/* news, though something was left */
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	expect_text(fd[1], "bc");
	send_text(fd[0], "d");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	OK(shutdown(fd[0], SHUT_WR));
	TRUE(next_event(epoll, FOREVER) & EPOLLIN);
}

TEST(epoll_edge_without_reading)
{
	int fd[2], epoll, i;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLIN | EPOLLET);
	for (i = 0; i < 10; i++) {
		send_text(fd[0], "x");
		EQ(next_event(epoll, FOREVER), EPOLLIN);
		EQ(next_event(epoll, 0), 0);
	}
	wait_amount(fd[1], 10);
}

TEST(epoll_edge_of_both)
{
	int fd[2], epoll;
	uint32_t events;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
	EQ(next_event(epoll, FOREVER), EPOLLOUT);
	EQ(next_event(epoll, 0), 0);
	send_text(fd[0], "x");
	EQ(next_event(epoll, FOREVER), EPOLLIN | EPOLLOUT);
	OK(shutdown(fd[0], SHUT_WR));
	events = next_event(epoll, FOREVER);
	EQ(events, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
}

TEST(epoll_edge_of_space)
{
	int fd[2], epoll, i;
	size_t n = 0;

	pair_with_buffers(fd, 32768);
	epoll = watch(fd[0], EPOLLOUT | EPOLLET);
	EQ(next_event(epoll, FOREVER), EPOLLOUT);
	for (i = 0; i < 3; i++) {
		n = send_until_full_again(fd[0], n);
		while (next_event(epoll, 0))
			;
		FAILS(send(fd[0], "x", 1, MSG_DONTWAIT), EAGAIN);
		drain(fd[1], n, 0);
		EQ(next_event(epoll, FOREVER), EPOLLOUT);
	}
}

TEST(epoll_edge_two_watchers)
{
	int fd[2], one, two, i;

	pair_open(fd);
	one = watch(fd[1], EPOLLIN | EPOLLET);
	two = watch(fd[1], EPOLLIN | EPOLLET);
	for (i = 0; i < 5; i++) {
		send_text(fd[0], "x");
		EQ(next_event(one, FOREVER), EPOLLIN);
		EQ(next_event(two, FOREVER), EPOLLIN);
	}
}

TEST(epoll_oneshot)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLIN | EPOLLONESHOT);
	send_text(fd[0], "a");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	send_text(fd[0], "b");
	EQ(next_event(epoll, 0), 0);
	rewatch(epoll, fd[1], EPOLLIN | EPOLLONESHOT);
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	EQ(next_event(epoll, 0), 0);
}

TEST(epoll_modify)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLOUT);
	EQ(next_event(epoll, FOREVER), EPOLLOUT);
	rewatch(epoll, fd[1], EPOLLIN);
	EQ(next_event(epoll, 0), 0);
	send_text(fd[0], "x");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	OK(epoll_ctl(epoll, EPOLL_CTL_DEL, fd[1], NULL));
	EQ(next_event(epoll, 0), 0);
}

TEST(epoll_end)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLRDHUP);
	EQ(next_event(epoll, 0), 0);
	OK(shutdown(fd[0], SHUT_WR));
	EQ(next_event(epoll, FOREVER), EPOLLRDHUP);
	rewatch(epoll, fd[1], 0);
	EQ(next_event(epoll, 0), 0);
	OK(shutdown(fd[1], SHUT_WR));
	EQ(next_event(epoll, FOREVER), EPOLLHUP);
}

TEST(epoll_reset)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], 0);
	set_linger(fd[0], 1, 0);
	close(fd[0]);
	EQ(next_event(epoll, FOREVER), EPOLLERR | EPOLLHUP);
}

TEST(epoll_forgets_closed)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLOUT);
	close(fd[1]);
	EQ(next_event(epoll, 0), 0);
}

TEST(epoll_keeps_duplicate)
{
	int fd[2], epoll, copy;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLIN);
	copy = OK(dup(fd[1]));
	close(fd[1]);
	send_text(fd[0], "x");
	EQ(next_event(epoll, FOREVER), EPOLLIN);
	close(copy);
}

TEST(epoll_nested)
{
	struct pollfd pfd = { .events = POLLIN };
	int fd[2], inner, outer;

	pair_open(fd);
	inner = watch(fd[1], EPOLLIN);
	outer = watch(inner, EPOLLIN);
	pfd.fd = outer;
	EQ(poll(&pfd, 1, 0), 0);
	send_text(fd[0], "x");
	EQ(poll(&pfd, 1, FOREVER), 1);
	EQ(next_event(outer, FOREVER), EPOLLIN);
	EQ(next_event(inner, FOREVER), EPOLLIN);
}

TEST(epoll_blocked)
{
	int fd[2], epoll;

	pair_open(fd);
	epoll = watch(fd[1], EPOLLIN | EPOLLET);
	if (!fork()) {
		wait_asleep(getppid());
		send_text(fd[0], "x");
		_exit(0);
	}
	EQ(next_event(epoll, FOREVER), EPOLLIN);
}

struct exclusive {
	struct worker worker;
	int epoll;
	uint32_t events;
};

static void wait_exclusive(void *arg)
{
	struct exclusive *e = arg;

	e->events = next_event(e->epoll, FOREVER);
}

/* One wake-up for one connection; the others go on sleeping until there are more */
TEST(epoll_exclusive)
{
	struct exclusive e[4];
	int listener = listen_any(5), i, awake = 0;

	for (i = 0; i < 4; i++) {
		e[i].epoll = watch(listener, EPOLLIN | EPOLLEXCLUSIVE);
		worker_start(&e[i].worker, wait_exclusive, &e[i]);
		worker_asleep(&e[i].worker);
	}
	connect_to(listener);
	do {
		for (i = awake = 0; i < 4; i++)
			awake += __atomic_load_n(&e[i].worker.done, __ATOMIC_ACQUIRE);
	} while (!awake);
	accept_from(listener);
	for (i = 0; i < 3; i++)
		connect_to(listener);
	for (i = 0; i < 4; i++) {
		worker_join(&e[i].worker);
		EQ(e[i].events, EPOLLIN);
	}
}

TEST(epoll_while_connecting)
{
	int listener = listen_any(1), fd = new_client(), epoll;
	struct addr to = target_of(listener);

	nonblock(fd);
	epoll = watch(fd, EPOLLOUT | EPOLLIN | EPOLLET);
	EQ(next_event(epoll, 0), EPOLLOUT | EPOLLHUP);
	connect(fd, &to.sa, to.len);
	EQ(next_event(epoll, FOREVER), EPOLLOUT);
	send_text(accept_from(listener), "x");
	EQ(next_event(epoll, FOREVER), EPOLLOUT | EPOLLIN);
}

TEST(epoll_accepted_edge)
{
	int listener = listen_any(5), epoll, i;

	epoll = watch(listener, EPOLLIN | EPOLLET);
	for (i = 0; i < 3; i++) {
		connect_to(listener);
		EQ(next_event(epoll, FOREVER), EPOLLIN);
	}
	for (i = 0; i < 3; i++)
		accept_from(listener);
	EQ(next_event(epoll, 0), 0);
}

TEST(sigio)
{
	int fd[2];

	pair_open(fd);
	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	OK(fcntl(fd[1], F_SETFL, O_ASYNC | O_NONBLOCK));
	TRUE(fcntl(fd[1], F_GETFL) & O_ASYNC);
	send_text(fd[0], "x");
	wait_caught(SIGIO, 1);
	expect_text(fd[1], "x");
	OK(fcntl(fd[1], F_SETFL, O_NONBLOCK));
	send_text(fd[0], "y");
	expect_text(fd[1], "y");
	EQ(caught(SIGIO), 1);
}

TEST(sigio_for_each_write)
{
	int fd[2], i;

	pair_open(fd);
	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	OK(fcntl(fd[1], F_SETFL, O_ASYNC));
	for (i = 1; i <= 3; i++) {
		send_text(fd[0], "part");
		wait_caught(SIGIO, i);
	}
	expect_text(fd[1], "partpartpart");
	EQ(caught(SIGIO), 3);
}

static void receive_parts(void *arg)
{
	char message[8];

	EQ(recv(*(int *)arg, message, sizeof(message), MSG_WAITALL), sizeof(message));
}

/* A call waits for the data: no signal for it may interrupt the call */
TEST(sigio_not_for_waiting_call)
{
	int fd[2], left, unread;
	struct worker worker;

	pair_open(fd);
	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	OK(fcntl(fd[1], F_SETFL, O_ASYNC));
	worker_start(&worker, receive_parts, &fd[1]);
	worker_asleep(&worker);
	send_text(fd[0], "part");
	do {
		OK(ioctl(fd[0], TIOCOUTQ, &left));
		OK(ioctl(fd[1], FIONREAD, &unread));
	} while (left || unread);
	worker_asleep(&worker);
	send_text(fd[0], "part");
	worker_join(&worker);
	EQ(caught(SIGIO), 0);
}

/* A program that knows how long its message is, and waits for signals until all of it is there */
static void receive_whole_message(void *arg)
{
	int *fd = arg, amount = 0, signum;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	while (amount < 12) {
		EQ(sigwait(&set, &signum), 0);
		EQ(signum, SIGIO);
		OK(ioctl(*fd, FIONREAD, &amount));
	}
	expect_text_now(*fd, "partpartpart");
}

TEST(sigio_until_message_is_whole)
{
	struct worker worker;
	sigset_t set;
	int fd[2], i;

	pair_open(fd);
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	OK(sigprocmask(SIG_BLOCK, &set, NULL));
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	OK(fcntl(fd[1], F_SETFL, O_ASYNC));
	worker_start(&worker, receive_whole_message, &fd[1]);
	for (i = 0; i < 3; i++) {
		worker_asleep(&worker);
		send_text(fd[0], "part");
	}
	worker_join(&worker);
}

static _Atomic int sigio_fd, sigio_band;

static void note_sigio(int signum, siginfo_t *info, void *context)
{
	(void)signum;
	(void)context;
	sigio_fd = info->si_fd;
	sigio_band = info->si_band;
}

TEST(sigio_with_details)
{
	struct sigaction action = { .sa_sigaction = note_sigio, .sa_flags = SA_SIGINFO };
	int fd[2];

	pair_open(fd);
	OK(sigaction(SIGRTMIN, &action, NULL));
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	OK(fcntl(fd[1], F_SETSIG, SIGRTMIN));
	OK(fcntl(fd[1], F_SETFL, O_ASYNC));
	send_text(fd[0], "x");
	while (!sigio_fd)
		pause_briefly();
	EQ(sigio_fd, fd[1]);
	TRUE(sigio_band & POLLIN);
}

TEST(sigio_of_listener)
{
	int listener = listen_any(1);

	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(listener, F_SETOWN, getpid()));
	OK(fcntl(listener, F_SETFL, O_ASYNC));
	connect_to(listener);
	wait_caught(SIGIO, 1);
}

TEST(sigio_of_end)
{
	int fd[2];

	pair_open(fd);
	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(fd[1], F_SETOWN, getpid()));
	OK(fcntl(fd[1], F_SETFL, O_ASYNC));
	OK(shutdown(fd[0], SHUT_WR));
	wait_caught(SIGIO, 1);
}

TEST(send_to_full)
{
	int fd[2], i;
	size_t n = 0;

	pair_with_buffers(fd, 32768);
	for (i = 0; i < 5; i++) {
		n = send_until_full_again(fd[0], n);
		FAILS(send(fd[0], "x", 1, MSG_DONTWAIT), EAGAIN);
		TRUE(!(events_now(fd[0]) & POLLOUT));
		drain(fd[1], n, 0);
		TRUE(wait_events(fd[0], POLLOUT) & POLLWRNORM);
		expect_nothing(fd[1]);
	}
}

TEST(sigio_of_space)
{
	int fd[2], before;
	size_t n;

	pair_with_buffers(fd, 32768);
	n = send_until_full(fd[0], 0);
	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(fd[0], F_SETOWN, getpid()));
	OK(fcntl(fd[0], F_SETFL, O_ASYNC));
	FAILS(send(fd[0], "x", 1, MSG_DONTWAIT), EAGAIN);
	before = caught(SIGIO);
	drain(fd[1], n, 0);
	wait_caught(SIGIO, before + 1);
}

TEST(sigio_of_connect)
{
	int listener = listen_any(1), fd = new_client();
	struct addr to = target_of(listener);

	catch_signal(SIGIO, SA_RESTART);
	OK(fcntl(fd, F_SETOWN, getpid()));
	OK(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK));
	connect(fd, &to.sa, to.len);
	wait_caught(SIGIO, 1);
	wait_events(fd, POLLOUT);
}
