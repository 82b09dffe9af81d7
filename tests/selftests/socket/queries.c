// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a socket answers to questions about its connection, in each state. Each test brings a TCP
 * socket and one of the variant into the same state by the same calls, and compares the answers.
 * They are also printed, TCP beside the variant.
 */

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "pair.h"

#define SETTLE_MS	scaled(3000)	/* TCP acknowledges within 40 ms if it can */
#define BYTES		1000
#define ENDS		2
#define TCP_FIN_WAIT2	5
#define TCP_CLOSE	7

/* Questions whose answer needs no change of the state */
enum question {
	NAME,			/* getsockname(): 0 or an error */
	PEER_NAME,
	STATE,			/* TCP_INFO */
	WAITING,		/* unacknowledged segments; of a listening socket, connections */
	UNSENT,
	SENT,
	ACKNOWLEDGED,
	RECEIVED,
	SIOCOUTQ_BYTES,
	SIOCOUTQNSD_BYTES,
	SIOCINQ_BYTES,
	EVENTS,			/* of poll() */
	QUESTIONS
};

static const char *const titles[QUESTIONS] = {
	"name", "peer", "state", "waiting", "unsent", "sent", "acked", "received",
	"OUTQ", "OUTQNSD", "INQ", "poll",
};

static const char *const state_names[] = {
	"?", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE",
	"CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING",
};

/**
 * struct answers - what a socket answers
 * @of: to each question; a negative errno if the call fails
 */
struct answers {
	long long of[QUESTIONS];
};

static long long ask_name(int (*call)(int, struct sockaddr *, socklen_t *), int fd)
{
	struct addr addr = { .len = sizeof(addr.ss) };

	return call(fd, &addr.sa, &addr.len) ? -errno : 0;
}

static long long ask_amount(int fd, unsigned int request)
{
	int amount;

	return ioctl(fd, request, &amount) ? -errno : amount;
}

static struct answers ask(int fd)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);
	struct answers answers;

	answers.of[SIOCOUTQ_BYTES] = ask_amount(fd, SIOCOUTQ);
	answers.of[SIOCOUTQNSD_BYTES] = ask_amount(fd, SIOCOUTQNSD);
	answers.of[SIOCINQ_BYTES] = ask_amount(fd, SIOCINQ);
	OK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	answers.of[NAME] = ask_name(getsockname, fd);
	answers.of[PEER_NAME] = ask_name(getpeername, fd);
	answers.of[STATE] = info.tcpi_state;
	answers.of[WAITING] = info.tcpi_unacked;
	answers.of[UNSENT] = info.tcpi_notsent_bytes;
	answers.of[SENT] = info.tcpi_bytes_sent;
	answers.of[ACKNOWLEDGED] = info.tcpi_bytes_acked;
	answers.of[RECEIVED] = info.tcpi_bytes_received;
	answers.of[EVENTS] = events_now(fd);
	return answers;
}

static void print_answers(const char *who, int end, const struct answers *answers)
{
	int i;

	printf("%s, end %d:", who, end);
	for (i = 0; i < QUESTIONS; i++) {
		long long answer = answers->of[i];

		if (i == STATE)
			printf(" %s", state_names[answer]);
		else if (answer < 0)
			printf(" %s %s", titles[i], strerrorname_np(-answer));
		else if (i == EVENTS)
			printf(" %s 0x%llx", titles[i], answer);
		else if (answer)
			printf(" %s %lld", titles[i], answer);
	}
	printf("\n");
}

/* Return: set of the questions whose answers differ */
static unsigned int compare_answers(const struct answers *a, const struct answers *b)
{
	unsigned int i, different = 0;

	for (i = 0; i < QUESTIONS; i++)
		if (a->of[i] != b->of[i])
			different |= 1U << i;
	return different;
}

/* Ask until the answers of both sockets are the same, because TCP acknowledges later */
static unsigned int ask_both(int end, int tcp, int own, unsigned int differs)
{
	long until = now_ms() + SETTLE_MS;
	struct answers of_tcp, of_own;
	unsigned int different;

	do {
		pause_briefly();
		of_tcp = ask(tcp);
		of_own = ask(own);
		different = compare_answers(&of_tcp, &of_own) & ~differs;
	} while (different && now_ms() < until);
	print_answers("TCP", end, &of_tcp);
	print_answers("variant", end, &of_own);
	return different;
}

static void compare_errors(int tcp, int own)
{
	EQ(socket_error(own), socket_error(tcp));
	EQ(events_now(own), events_now(tcp));
}

/* Bring a pair into a state; an end that is not to be asked becomes -1 */
typedef void state_fn(int fd[ENDS]);

static void open_as(const struct variant *kind, state_fn *reach, int fd[ENDS])
{
	const struct variant *own = variant;

	fd[0] = -1;
	fd[1] = -1;
	variant = kind;
	reach(fd);
	variant = own;
}

static void compare_with_tcp(state_fn *reach, unsigned int differs)
{
	const struct variant tcp_kind = tcp_variant();
	int tcp[ENDS], own[ENDS], end;
	unsigned int different = 0;

	open_as(&tcp_kind, reach, tcp);
	open_as(variant, reach, own);
	for (end = 0; end < ENDS; end++)
		if (own[end] >= 0)
			different |= ask_both(end, tcp[end], own[end], differs);
	fflush(stdout);
	if (different)
		FAIL("the answers to \"%s\" differ", titles[__builtin_ctz(different)]);
	for (end = 0; end < ENDS; end++)
		if (own[end] >= 0)
			compare_errors(tcp[end], own[end]);
}

/* QUERIES(state, differs) { bring fd[] into the state } */
#define QUERIES(state, differs)						\
	static void reach_##state(int fd[ENDS]);			\
	TEST(queries_##state, .applies = not_tcp)			\
	{								\
		compare_with_tcp(reach_##state, differs);		\
	}								\
	static void reach_##state(int fd[ENDS])

static void send_bytes(int fd)
{
	static char bytes[BYTES];

	send_all(fd, bytes, sizeof(bytes));
}

static void receive_bytes(int fd)
{
	static char bytes[BYTES];

	recv_all(fd, bytes, sizeof(bytes));
}

static void close_end(int *fd)
{
	close(*fd);
	*fd = -1;
}

static void disconnect_end(int fd)
{
	struct sockaddr nothing = { .sa_family = AF_UNSPEC };

	OK(connect(fd, &nothing, sizeof(nothing)));
}

static void reset_end(int *fd)
{
	set_linger(*fd, 1, 0);
	close_end(fd);
}

/* TCP chooses another sequence number, and then counts bytes that do not exist */
#define COUNTS_OF_DISCONNECTED	(1 << UNSENT | 1 << SIOCOUTQ_BYTES | 1 << SIOCOUTQNSD_BYTES)

QUERIES(unconnected, 0)
{
	fd[0] = fresh();
}

QUERIES(bound, 0)
{
	struct addr addr = server_bind_address();

	fd[0] = new_server();
	OK(bind(fd[0], &addr.sa, addr.len));
}

QUERIES(listening, 0)
{
	fd[0] = listen_any(5);
}

QUERIES(listening_with_connections, 0)
{
	fd[0] = listen_any(5);
	fd[1] = connect_to(fd[0]);
	connect_to(fd[0]);
	wait_events(fd[0], POLLIN);
}

static void begin_connecting(int fd, struct addr to)
{
	nonblock(fd);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
}

QUERIES(connecting, 0)
{
	fd[0] = new_client();
	begin_connecting(fd[0], nowhere());
}

/* Over SMC, TCP is connected, and the handshake waits for a place in the backlog */
QUERIES(connecting_to_full_backlog, 0)
{
	int waiting, listener = listen_full(&waiting);

	fd[0] = new_client();
	begin_connecting(fd[0], target_of(listener));
}

QUERIES(refused, 0)
{
	struct addr addr = loopback(variant->client_address, 0);
	int unused = new_client();

	OK(bind(unused, &addr.sa, addr.len));
	fd[0] = new_client();
	begin_connecting(fd[0], name_of(unused));
	wait_events(fd[0], POLLERR);
}

QUERIES(connected, 0)
{
	pair_open(fd);
}

QUERIES(data_unread, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	wait_amount(fd[1], BYTES);
}

QUERIES(data_read, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	receive_bytes(fd[1]);
	send_bytes(fd[1]);
	send_bytes(fd[1]);
	receive_bytes(fd[0]);
	wait_amount(fd[0], BYTES);
}

QUERIES(shut_for_writing, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	OK(shutdown(fd[0], SHUT_WR));
	wait_events(fd[1], POLLRDHUP);
}

QUERIES(shut_for_writing_and_read, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	OK(shutdown(fd[0], SHUT_WR));
	receive_bytes(fd[1]);
	expect_eof(fd[1]);
	send_bytes(fd[1]);
	wait_amount(fd[0], BYTES);
}

QUERIES(shut_for_reading, 0)
{
	pair_open(fd);
	send_bytes(fd[1]);
	wait_amount(fd[0], BYTES);
	OK(shutdown(fd[0], SHUT_RD));
}

QUERIES(shut_for_both, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	OK(shutdown(fd[0], SHUT_RDWR));
	wait_events(fd[1], POLLRDHUP);
}

QUERIES(shut_for_both_with_unread_data, 0)
{
	pair_open(fd);
	send_bytes(fd[1]);
	wait_amount(fd[0], BYTES);
	OK(shutdown(fd[0], SHUT_RDWR));
	wait_events(fd[1], POLLRDHUP);
}

QUERIES(shut_by_both, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	OK(shutdown(fd[0], SHUT_WR));
	wait_events(fd[1], POLLRDHUP);
	OK(shutdown(fd[1], SHUT_WR));
	wait_events(fd[0], POLLHUP);
}

QUERIES(shut_by_both_and_read, 0)
{
	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	expect_eof(fd[1]);
	send_bytes(fd[1]);
	OK(shutdown(fd[1], SHUT_WR));
	receive_bytes(fd[0]);
	expect_eof(fd[0]);
}

static void open_shut_by_both(int fd[ENDS])
{
	pair_open(fd);
	send_bytes(fd[0]);
	OK(shutdown(fd[0], SHUT_WR));
	wait_events(fd[1], POLLRDHUP);
	send_bytes(fd[1]);
	OK(shutdown(fd[1], SHUT_WR));
	wait_events(fd[0], POLLHUP);
}

/* As the end of a connection that has ended already causes no event, give it time to arrive */
static void expect_untold(int fd)
{
	usleep(100000);
	receive_bytes(fd);
	expect_eof(fd);
}

QUERIES(shut_by_both_then_reset, 0)
{
	open_shut_by_both(fd);
	reset_end(&fd[1]);
	expect_untold(fd[0]);
}

QUERIES(shut_by_both_then_closed_with_unread_data, 0)
{
	open_shut_by_both(fd);
	close_end(&fd[1]);
	expect_untold(fd[0]);
}

QUERIES(shut_by_both_then_disconnected, COUNTS_OF_DISCONNECTED)
{
	open_shut_by_both(fd);
	disconnect_end(fd[1]);
	expect_untold(fd[0]);
}

QUERIES(closed_by_peer, 0)
{
	pair_open(fd);
	send_bytes(fd[1]);
	close_end(&fd[1]);
	wait_events(fd[0], POLLRDHUP);
}

QUERIES(closed_by_peer_and_read, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	receive_bytes(fd[1]);
	send_bytes(fd[1]);
	close_end(&fd[1]);
	receive_bytes(fd[0]);
	expect_eof(fd[0]);
}

QUERIES(closed_by_peer_then_shut, 0)
{
	pair_open(fd);
	close_end(&fd[1]);
	expect_eof(fd[0]);
	OK(shutdown(fd[0], SHUT_WR));
	wait_events(fd[0], POLLHUP);
}

QUERIES(shut_then_closed_by_peer, 0)
{
	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	expect_eof(fd[1]);
	send_bytes(fd[1]);
	close_end(&fd[1]);
	wait_events(fd[0], POLLHUP);
}

/* The module does not count what the peer does not receive: the program gets an error */
QUERIES(written_to_closed, 1 << SENT | 1 << SIOCOUTQ_BYTES)
{
	pair_open(fd);
	close_end(&fd[1]);
	expect_eof(fd[0]);
	send_bytes(fd[0]);
	wait_events(fd[0], POLLERR);
}

QUERIES(reset, 0)
{
	pair_open(fd);
	send_bytes(fd[0]);
	receive_bytes(fd[1]);
	while (ask_amount(fd[0], SIOCOUTQ))
		pause_briefly();
	reset_end(&fd[1]);
	wait_reset(fd[0]);
}

QUERIES(reset_with_unread_data, 0)
{
	pair_open(fd);
	send_bytes(fd[1]);
	wait_amount(fd[0], BYTES);
	reset_end(&fd[1]);
	wait_reset(fd[0]);
}

QUERIES(reset_and_told, 0)
{
	pair_open(fd);
	reset_end(&fd[1]);
	wait_reset(fd[0]);
	EQ(socket_error(fd[0]), ECONNRESET);
}

QUERIES(shut_then_reset, 0)
{
	pair_open(fd);
	OK(shutdown(fd[0], SHUT_WR));
	expect_eof(fd[1]);
	while (ask(fd[0]).of[STATE] != TCP_FIN_WAIT2)
		pause_briefly();
	reset_end(&fd[1]);
	wait_reset(fd[0]);
}

QUERIES(shut_by_peer_then_reset, 0)
{
	pair_open(fd);
	OK(shutdown(fd[1], SHUT_WR));
	expect_eof(fd[0]);
	reset_end(&fd[1]);
	wait_reset(fd[0]);
}

QUERIES(disconnected, COUNTS_OF_DISCONNECTED)
{
	pair_open(fd);
	send_bytes(fd[0]);
	receive_bytes(fd[1]);
	disconnect_end(fd[0]);
	wait_reset(fd[1]);
}

QUERIES(reset_then_disconnected, COUNTS_OF_DISCONNECTED)
{
	pair_open(fd);
	reset_end(&fd[1]);
	wait_reset(fd[0]);
	disconnect_end(fd[0]);
}

QUERIES(reset_told_and_disconnected, COUNTS_OF_DISCONNECTED)
{
	pair_open(fd);
	reset_end(&fd[1]);
	wait_reset(fd[0]);
	EQ(socket_error(fd[0]), ECONNRESET);
	disconnect_end(fd[0]);
}

/* TCP_INFO tells how long ago data was sent and received */
TEST(queries_last_data)
{
	struct tcp_info info[ENDS] = {};
	long start, took;
	int fd[ENDS], i;

	pair_open(fd);
	usleep(200000);		/* the handshake counts as data */
	start = now_ms();
	send_bytes(fd[0]);
	receive_bytes(fd[1]);
	for (i = 0; i < ENDS; i++) {
		socklen_t len = sizeof(*info);

		OK(getsockopt(fd[i], IPPROTO_TCP, TCP_INFO, &info[i], &len));
	}
	took = now_ms() - start + 20;	/* the kernel counts ticks */
	TRUE(info[0].tcpi_last_data_sent <= took);
	TRUE(info[1].tcpi_last_data_recv <= took);
	TRUE(info[0].tcpi_last_data_recv >= 180);
	TRUE(info[1].tcpi_last_data_sent >= 180);
}
