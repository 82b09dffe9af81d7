// SPDX-License-Identifier: GPL-2.0-only
/*
 * The conversation: the client says something and "end", the server answers and closes. Each
 * end may lose a call at any point, with an error that TCP has as well. What one end received
 * before is a beginning of what the other one sent, and all of it if the stream ended in order.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "faults.h"

#define CHUNK		20000
#define SERVER_STARTS	(1ULL << 32)	/* of its stream, in the pattern */
#define SECONDS		120	/* no limit of the kernel is as long */

/**
 * struct end - one of the two programs
 * @name: for messages
 * @fd: its socket, -1: none
 * @polled: blocks in poll() only
 * @error: errno of the call that failed, 0: none
 * @call: that call
 * @sent: bytes which its calls accepted
 * @received: bytes that came
 * @finished: has ended its stream in order
 * @tcp: the connection is one of TCP
 */
struct end {
	const char *name;
	int fd;
	bool polled;
	int error;
	const char *call;
	size_t sent;
	size_t received;
	bool finished;
	bool tcp;
};

static struct {
	int listener;
	size_t bytes;	/* more than both rings hold */
	struct end client;
	struct end server;
} here;

static const int expected_errors[] = {
	ENOMEM, ENOBUFS, ENFILE, ECONNRESET, ECONNREFUSED, ECONNABORTED, ETIMEDOUT, EPIPE,
	ENETUNREACH, EHOSTUNREACH,
};

static bool is_expected(int error)
{
	size_t i;

	for (i = 0; i < sizeof(expected_errors) / sizeof(*expected_errors); i++)
		if (error == expected_errors[i])
			return true;
	return false;
}

/* A call failed. Always false, so that callers can return it */
static bool note_failure(struct end *end, const char *call, int error)
{
	if (!is_expected(error))
		FAIL("%s: %s: %s", end->name, call, strerrorname_np(error));
	end->call = call;
	end->error = error;
	return false;
}

static void wait_ready(struct end *end, short events)
{
	struct pollfd pfd = { .fd = end->fd, .events = events };

	if (end->polled && OK(poll(&pfd, 1, SECONDS * 500)) == 0)
		FAIL("%s: waited in vain for events 0x%x", end->name, events);
}

/*
 * The first bytes are sent without a copy, so their memory is used for nothing else. If the kernel
 * has no memory for the notification, a program copies.
 */
static ssize_t send_some(struct end *end, uint64_t offset, size_t len)
{
	static uint8_t first[2][CHUNK], later[2][CHUNK];
	int flags = MSG_NOSIGNAL | (end->polled ? MSG_DONTWAIT : 0);
	bool zerocopy = !end->sent;
	int who = end == &here.server;
	uint8_t *buf = zerocopy ? first[who] : later[who];
	ssize_t n;

	pattern_fill(buf, len, offset + end->sent);
	n = send(end->fd, buf, len, zerocopy ? flags | MSG_ZEROCOPY : flags);
	if (n < 0 && zerocopy && errno == ENOBUFS)
		n = send(end->fd, buf, len, flags);
	return n;
}

static bool say(struct end *end, uint64_t offset)
{
	while (end->sent < here.bytes) {
		size_t len = here.bytes - end->sent < CHUNK ? here.bytes - end->sent : CHUNK;
		ssize_t n;

		wait_ready(end, POLLOUT);
		n = send_some(end, offset, len);
		if (n < 0 && errno == EAGAIN && end->polled)
			continue;
		if (n < 0)
			return note_failure(end, "send", errno);
		end->sent += n;
	}
	return true;
}

static bool hear(struct end *end, uint64_t offset)
{
	static uint8_t bufs[2][CHUNK];
	uint8_t *buf = bufs[end == &here.server];

	for (;;) {
		ssize_t n;

		wait_ready(end, POLLIN);
		n = recv(end->fd, buf, CHUNK, end->polled ? MSG_DONTWAIT : 0);
		if (n < 0 && errno == EAGAIN && end->polled)
			continue;
		if (n < 0)
			return note_failure(end, "recv", errno);
		if (!n)
			return true;
		pattern_check(buf, n, offset + end->received);
		end->received += n;
	}
}

/* The stream of a peer that lost a call may be shorter; FIN or reset, that is up to the kernel */
static void check_complete(struct end *end, const struct end *peer)
{
	if (end->received > peer->sent)
		FAIL("%s: received %zu bytes, %zu were sent", end->name, end->received, peer->sent);
	if (peer->finished && end->fd >= 0 && !end->error && end->received != here.bytes)
		FAIL("%s: the stream ended after %zu bytes", end->name, end->received);
}

static bool open_client(struct end *end)
{
	struct addr to = target_of(here.listener);
	struct kind kind = variant->client;
	int type = SOCK_STREAM | (end->polled ? SOCK_NONBLOCK : 0);
	int error;

	end->fd = socket(kind.family, type, kind.protocol);
	if (end->fd < 0)
		return note_failure(end, "socket", errno);
	set_int(end->fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (!connect(end->fd, &to.sa, to.len))
		return true;
	if (errno != EINPROGRESS || !end->polled)
		return note_failure(end, "connect", errno);
	wait_ready(end, POLLOUT);
	error = socket_error(end->fd);
	return error ? note_failure(end, "connect", error) : true;
}

static bool finish(struct end *end)
{
	end->finished = !shutdown(end->fd, SHUT_WR);
	if (end->finished)
		return true;
	/* The connection went before: then that is all that TCP tells */
	return note_failure(end, "shutdown", errno == ENOTCONN ? ECONNRESET : errno);
}

static void run_client(struct end *end)
{
	if (!open_client(end))
		return;
	end->tcp = is_tcp(end->fd);
	if (!say(end, 0))
		return;
	if (finish(end))
		hear(end, SERVER_STARTS);
}

/* Return: false if none came before the listening socket was shut down */
static bool accept_client(struct end *end)
{
	struct end listener = { .name = "listener", .fd = here.listener, .polled = end->polled };

	do {
		wait_ready(&listener, POLLIN);
		end->fd = accept4(here.listener, NULL, NULL, end->polled ? SOCK_NONBLOCK : 0);
	} while (end->fd < 0 && errno == EAGAIN);
	if (end->fd < 0 && errno != EINVAL)
		note_failure(end, "accept", errno);
	return end->fd >= 0;
}

static void run_server(void *arg)
{
	struct end *end = arg;

	/* A connection may be lost between its handshake and accept(), as with TCP */
	if (!accept_client(end))
		return;
	end->tcp = is_tcp(end->fd);
	set_int(end->fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (hear(end, 0) && say(end, SERVER_STARTS))
		finish(end);
}

static bool open_listener(bool polled)
{
	struct addr addr = server_bind_address();
	struct kind kind = variant->server;
	struct end end = { .name = "listener" };
	int type = SOCK_STREAM | (polled ? SOCK_NONBLOCK : 0);

	here.listener = socket(kind.family, type, kind.protocol);
	if (here.listener < 0)
		return note_failure(&end, "socket", errno);
	if (bind(here.listener, &addr.sa, addr.len))
		return note_failure(&end, "bind", errno);
	if (listen(here.listener, 5))
		return note_failure(&end, "listen", errno);
	return true;
}

static enum result run_both(bool polled)
{
	struct end *client = &here.client, *server = &here.server;
	struct worker worker;

	*client = (struct end){ .name = "client", .fd = -1, .polled = polled };
	*server = (struct end){ .name = "server", .fd = -1, .polled = polled };
	worker_start(&worker, run_server, server);
	run_client(client);
	if (client->error) {
		/* The server learns of it by its connection, or that there is none */
		if (client->fd >= 0)
			close(client->fd);
		client->fd = -1;
		shutdown(here.listener, SHUT_RDWR);
	}
	worker_join(&worker);
	check_complete(client, server);
	check_complete(server, client);
	if (client->fd >= 0)
		close(client->fd);
	if (server->fd >= 0)
		close(server->fd);
	if (client->error || server->error)
		return REFUSED;
	if (client->tcp != server->tcp)
		FAIL("the client uses %s, the server does not", client->tcp ? "TCP" : "SMC");
	return client->tcp ? OVER_TCP : OVER_SMC;
}

/* Twice: a first and a later contact. The result is that of the first */
static enum result run_child(bool polled, bool twice)
{
	const char *bytes = getenv("FAULT_BYTES");
	enum result first;

	here.bytes = bytes ? atoi(bytes) : 300000;
	if (!open_listener(polled))
		return REFUSED;
	first = run_both(polled);
	if (first != REFUSED && twice)
		run_both(polled);
	return first;
}

enum result talk(bool polled, bool twice)
{
	int status;
	pid_t pid;

	fflush(stderr);
	pid = OK(fork());
	if (!pid) {
		alarm(scaled(SECONDS));
		/* test_fail() ends a process with 1 */
		_exit(run_child(polled, twice) + 100);
	}
	OK(waitpid(pid, &status, 0));
	if (WIFEXITED(status) && WEXITSTATUS(status) >= 100)
		return WEXITSTATUS(status) - 100;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		fprintf(stderr, "the conversation did not end\n");
	return WRONG;
}
