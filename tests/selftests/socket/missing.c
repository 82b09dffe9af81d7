// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each call that copies from or to a program's memory, on a socket in each of its states, while the
 * page is missing. Other sockets, of this user and of another one, work meanwhile. Then the page
 * comes, and the call ends as the same call of a TCP socket does.
 */

#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "bystander.h"
#include "lost.h"
#include "usercopy.h"

#define WAIT_MS		scaled(60000)

/* Makes a socket in a state. Return: it; a descriptor that it needs stays open */
typedef int state_fn(void);

/* Not blocking: a call that would wait for a peer fails at once, with and without the page */
static int without_waiting(int fd)
{
	nonblock(fd);
	return fd;
}

static int unconnected(void)
{
	return without_waiting(fresh());
}

static int connecting(void)
{
	struct addr to = nowhere();
	int fd = without_waiting(new_client());

	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	return fd;
}

/* Of what comes in, the socket and its children see no data: the handshake does not go on */
static void drop_data(int fd)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 60, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, ~0U),
	};
	struct sock_fprog filter = { .len = 4, .filter = code };

	OK(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)));
}

static int in_handshake(void)
{
	int listener = listen_any(1), fd = without_waiting(new_client());
	struct addr to = target_of(listener);

	drop_data(listener);
	FAILS(connect(fd, &to.sa, to.len), EINPROGRESS);
	while (tcp_state(fd) != TCP_ESTABLISHED)
		pause_briefly();
	return fd;
}

static int listening(void)
{
	int fd = listen_any(1);

	connect_to(fd);
	wait_events(fd, POLLIN);
	return without_waiting(fd);
}

/* A socket with data to be received; *@peer is the other end */
static int with_data(int *peer)
{
	int fd[2];

	pair_open(fd);
	send_text(fd[1], "0123456789abcdef0123456789abcdef");
	wait_amount(fd[0], 32);
	*peer = fd[1];
	return without_waiting(fd[0]);
}

static int active(void)
{
	int peer;

	return with_data(&peer);
}

static int half_closed(void)
{
	int peer, fd = with_data(&peer);

	OK(shutdown(fd, SHUT_WR));
	expect_eof(peer);
	return fd;
}

static int closed_by_peer(void)
{
	int peer, fd = with_data(&peer);

	OK(close(peer));
	wait_events(fd, POLLRDHUP);
	return fd;
}

static int ended_by_both(void)
{
	int peer, fd = with_data(&peer);

	OK(shutdown(fd, SHUT_WR));
	expect_eof(peer);
	OK(close(peer));
	wait_events(fd, POLLHUP);
	return fd;
}

static int reset_by_peer(void)
{
	int peer, fd = with_data(&peer);

	set_linger(peer, 1, 0);
	OK(close(peer));
	wait_events(fd, POLLHUP);
	return fd;
}

/**
 * struct outcome - how a call has ended
 * @value: what it returned
 * @error: errno, if that is -1
 */
struct outcome {
	long value;
	int error;
};

static struct outcome run_call(const struct call *call, int fd, void *page)
{
	struct outcome outcome;

	outcome.value = call->run(call, fd, page);
	outcome.error = outcome.value == -1 ? errno : 0;
	return outcome;
}

static bool is_same(struct outcome a, struct outcome b)
{
	return a.value == b.value && a.error == b.error;
}

/* What is in the page when it comes. Return: bytes */
static size_t content_of(const struct call *call, const struct addr *server, void *content)
{
	if (!call->takes_address) {
		if (call->len)
			memcpy(content, call->content, call->len);
		return call->len;
	}
	memcpy(content, &server->ss, server->len);
	return server->len;
}

/**
 * struct attempt - a call on a socket of its own, with a page of its own
 * @worker: thread of the call
 * @call: which
 * @fd: the socket
 * @page: the page
 * @outcome: how it has ended
 * @tcp: how it ends with a TCP socket
 */
struct attempt {
	struct worker worker;
	const struct call *call;
	int fd;
	void *page;
	struct outcome outcome;
	struct outcome tcp;
};

static void try_call(void *arg)
{
	struct attempt *attempt = arg;

	attempt->outcome = run_call(attempt->call, attempt->fd, attempt->page);
}

/* How the calls of TCP sockets end, with the memory there */
static void ask_tcp(struct attempt *attempts, state_fn *make)
{
	struct variant tcp = tcp_variant();
	const struct variant *tested = variant;
	uint8_t page[PAGE_CONTENT];
	struct addr server;
	int i;

	variant = &tcp;
	server = target_of(listen_any(nr_calls));
	for (i = 0; i < nr_calls; i++) {
		int fd = make();

		memset(page, 0, sizeof(page));
		content_of(&calls[i], &server, page);
		attempts[i].tcp = run_call(&calls[i], fd, page);
	}
	variant = tested;
}

static bool has_ended(const struct attempt *attempt)
{
	return __atomic_load_n(&attempt->worker.done, __ATOMIC_ACQUIRE);
}

/* Waits until the call waits for its page. Return: false if it has ended without the page */
static bool wait_for_fault(struct lost *lost, const struct attempt *attempt, int index)
{
	long end = now_ms() + WAIT_MS;
	bool ended = false;

	/* It may ask for the page, as its last deed, between two looks */
	while (!ended && !lost_is_wanted(lost, index)) {
		ended = has_ended(attempt);
		if (now_ms() > end)
			FAIL("%s: waits, and not for its page", attempt->call->name);
		pause_briefly();
	}
	return !ended || lost_is_wanted(lost, index);
}

static void wait_for_end(const struct attempt *attempt)
{
	long end = now_ms() + WAIT_MS;

	while (!has_ended(attempt)) {
		if (now_ms() > end)
			FAIL("%s: does not end when its page has come", attempt->call->name);
		pause_briefly();
	}
}

/* TCP knows no SMC; and SMC refuses what TCP would do with the connection below it */
static bool is_for_smc(const struct attempt *attempt)
{
	const struct call *call = attempt->call;

	if (is_tcp(attempt->fd))
		return false;
	if (call->level == SOL_SMC)
		return !attempt->outcome.value;
	return call->refused && attempt->outcome.value == -1 &&
	       (attempt->outcome.error == call->refused || attempt->outcome.error == ENOTCONN);
}

static bool is_good(const struct attempt *attempt, const struct attempt *other)
{
	return is_same(attempt->outcome, attempt->tcp) ||
	       (other && is_same(attempt->outcome, other->tcp)) || is_for_smc(attempt);
}

static const char *name_of_error(const struct outcome *outcome)
{
	return outcome->value == -1 ? strerrorname_np(outcome->error) : "no error";
}

static int compare(const struct attempt *attempts, const struct attempt *others)
{
	int i, wrong = 0;

	for (i = 0; i < nr_calls; i++) {
		const struct attempt *attempt = &attempts[i];

		if (is_good(attempt, others ? &others[i] : NULL))
			continue;
		wrong++;
		fprintf(stderr, "%s: %ld (%s); TCP: %ld (%s)\n", attempt->call->name,
			attempt->outcome.value, name_of_error(&attempt->outcome),
			attempt->tcp.value, name_of_error(&attempt->tcp));
	}
	return wrong;
}

static struct attempt *new_attempts(void)
{
	struct attempt *attempts = calloc(nr_calls, sizeof(*attempts));

	TRUE(attempts);
	return attempts;
}

/* Starts all calls. Return: how many wait for their page */
static int start_calls(struct attempt *attempts, struct lost *lost, state_fn *make)
{
	int i, waiting = 0;

	for (i = 0; i < nr_calls; i++) {
		attempts[i].call = &calls[i];
		attempts[i].page = lost_page(lost, i);
		attempts[i].fd = make();
	}
	for (i = 0; i < nr_calls; i++)
		worker_start(&attempts[i].worker, try_call, &attempts[i]);
	for (i = 0; i < nr_calls; i++)
		waiting += wait_for_fault(lost, &attempts[i], i);
	return waiting;
}

/* Whether one of them was missed is in each call's own outcome */
static void bring_pages(struct attempt *attempts, struct lost *lost, const struct addr *server)
{
	uint8_t content[PAGE_CONTENT];
	int i;

	for (i = 0; i < nr_calls; i++) {
		memset(content, 0, sizeof(content));
		lost_bring(lost, i, content, content_of(&calls[i], server, content));
		wait_for_end(&attempts[i]);
	}
}

/**
 * miss_pages() - all calls on sockets in one state
 * @keeper: who keeps the pages
 * @make: makes a socket in that state
 * @as: SMC may do as TCP does in this state as well, or NULL
 * @least: so many calls wait for their page, at least
 */
static void miss_pages(enum keeper keeper, state_fn *make, state_fn *as, int least)
{
	struct attempt *attempts = new_attempts(), *others = NULL;
	struct bystander bystander = bystander_start(converse);
	struct addr server;
	struct lost lost;
	int waiting;

	signal(SIGPIPE, SIG_IGN);
	lost_open(&lost, keeper, nr_calls);
	ask_tcp(attempts, make);
	if (as) {
		others = new_attempts();
		ask_tcp(others, as);
	}
	server = target_of(listen_any(nr_calls));
	waiting = start_calls(attempts, &lost, make);
	if (waiting < least)
		FAIL("only %d calls have waited for their page", waiting);
	converse();
	bystander_run(&bystander);
	bring_pages(attempts, &lost, &server);
	EQ(compare(attempts, others), 0);
}

static bool has_userfaultfd(int index)
{
	return same_family(index) && lost_possible(BY_USERFAULTFD);
}

/* Who keeps the pages makes no difference to the ends of a connection: half of the variants do */
static bool has_fuse(int index)
{
	return not_swapped(index) && same_family(index) && lost_possible(BY_FUSE);
}

TEST(missing_unconnected, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, unconnected, NULL, 30);
}

TEST(missing_in_fuse_unconnected, .applies = has_fuse)
{
	miss_pages(BY_FUSE, unconnected, NULL, 30);
}

TEST(missing_connecting, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, connecting, NULL, 30);
}

TEST(missing_in_fuse_connecting, .applies = has_fuse)
{
	miss_pages(BY_FUSE, connecting, NULL, 30);
}

TEST(missing_in_handshake, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, in_handshake, connecting, 30);
}

TEST(missing_in_fuse_in_handshake, .applies = has_fuse)
{
	miss_pages(BY_FUSE, in_handshake, connecting, 30);
}

TEST(missing_listening, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, listening, NULL, 30);
}

TEST(missing_in_fuse_listening, .applies = has_fuse)
{
	miss_pages(BY_FUSE, listening, NULL, 30);
}

TEST(missing_active, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, active, NULL, 40);
}

TEST(missing_in_fuse_active, .applies = has_fuse)
{
	miss_pages(BY_FUSE, active, NULL, 40);
}

TEST(missing_half_closed, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, half_closed, NULL, 30);
}

TEST(missing_in_fuse_half_closed, .applies = has_fuse)
{
	miss_pages(BY_FUSE, half_closed, NULL, 30);
}

TEST(missing_closed_by_peer, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, closed_by_peer, NULL, 40);
}

TEST(missing_in_fuse_closed_by_peer, .applies = has_fuse)
{
	miss_pages(BY_FUSE, closed_by_peer, NULL, 40);
}

TEST(missing_ended_by_both, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, ended_by_both, NULL, 30);
}

TEST(missing_in_fuse_ended_by_both, .applies = has_fuse)
{
	miss_pages(BY_FUSE, ended_by_both, NULL, 30);
}

TEST(missing_reset_by_peer, .applies = has_userfaultfd)
{
	miss_pages(BY_USERFAULTFD, reset_by_peer, NULL, 30);
}

TEST(missing_in_fuse_reset_by_peer, .applies = has_fuse)
{
	miss_pages(BY_FUSE, reset_by_peer, NULL, 30);
}
