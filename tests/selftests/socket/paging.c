// SPDX-License-Identifier: GPL-2.0-only
/* A program owns its sockets as long as it likes: a page that they need comes when it says so */

#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bystander.h"
#include "lost.h"
#include "pair.h"

#define CROWD	300	/* more than a work queue has kworkers */
#define KWORKERS	256	/* of a work queue */
#define SAMPLES		31

static bool can_keep_pages(int index)
{
	return only_smc(index) && lost_possible(BY_USERFAULTFD);
}

static bool can_keep_pages_of_ipv6(int index)
{
	return only_ipv6(index) && lost_possible(BY_USERFAULTFD);
}

/* A socket, and a call that owns it: in place of a filter there is the lost page */
struct hog {
	struct worker worker;
	int fd;
	struct addr addr;
	void *page;
};

static void own_socket(void *arg)
{
	const struct hog *hog = arg;
	struct sock_fprog filter = { .len = 1, .filter = hog->page };

	setsockopt(hog->fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

/* Something for the work queue to do: TCP has a connection for the socket */
static void connect_tcp(const struct addr *to)
{
	int fd = OK(socket(to->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));

	OK(connect(fd, &to->sa, to->len));
}

TEST(owned_sockets_keep_no_kworker, .applies = can_keep_pages, .alone = true)
{
	struct hog *hogs = calloc(CROWD, sizeof(*hogs));
	struct lost lost;
	int i;

	TRUE(hogs);
	lost_open(&lost, BY_USERFAULTFD, 1);
	for (i = 0; i < CROWD; i++) {
		hogs[i].fd = listen_any(1);
		hogs[i].addr = target_of(hogs[i].fd);
		hogs[i].page = lost_page(&lost, 0);
		worker_start(&hogs[i].worker, own_socket, &hogs[i]);
	}
	for (i = 0; i < CROWD; i++) {
		worker_asleep(&hogs[i].worker);
		connect_tcp(&hogs[i].addr);
	}
	converse();
}

struct family_change {
	int fd;
	void *page;
	int error;
};

static void change_family(void *arg)
{
	struct family_change *change = arg;
	int err = setsockopt(change->fd, SOL_IPV6, IPV6_ADDRFORM, change->page, sizeof(int));

	change->error = err ? errno : 0;
}

static struct addr listen_for_both_families(int listener)
{
	struct addr addr = loopback(AF_INET6, 0);

	addr.in6.sin6_addr = in6addr_any;
	OK(bind(listener, &addr.sa, addr.len));
	OK(listen(listener, 1));
	addr = target_of(listener);
	memcpy(&addr.in6.sin6_addr, "\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1", 16);
	return addr;
}

/* TCP is connected when the page comes, and the handshake may be over or not */
TEST(family_changed_while_connecting, .applies = can_keep_pages_of_ipv6)
{
	struct family_change change = { .fd = new_client() };
	int server, listener = new_server(), family = AF_INET;
	struct addr to = listen_for_both_families(listener);
	struct worker changer;
	struct lost lost;

	lost_open(&lost, BY_USERFAULTFD, 1);
	change.page = lost_page(&lost, 0);
	worker_start(&changer, change_family, &change);
	worker_asleep(&changer);

	nonblock(change.fd);
	FAILS(connect(change.fd, &to.sa, to.len), EINPROGRESS);
	while (tcp_state(change.fd) != TCP_ESTABLISHED)
		pause_briefly();
	lost_bring(&lost, 0, &family, sizeof(family));
	worker_join(&changer);
	if (variant->smc)
		TRUE(change.error == ENOTCONN || change.error == EOPNOTSUPP);
	else
		EQ(change.error, 0);

	server = accept_from(listener);
	TRUE(wait_events(change.fd, POLLOUT) & POLLOUT);
	EQ(is_tcp(change.fd), !variant->smc);
	OK(fcntl(change.fd, F_SETFL, 0));
	send_text(change.fd, "to the server");
	expect_text(server, "to the server");
	send_text(server, "to the client");
	expect_text(change.fd, "to the client");
}

/* A child that is owned, and something for the work queue to do: the peer resets the connection */
static void own_child(struct hog *hog, void *page)
{
	int fd[2];

	pair_open(fd);
	hog->fd = fd[1];
	hog->page = page;
	worker_start(&hog->worker, own_socket, hog);
	worker_asleep(&hog->worker);
	set_linger(fd[0], 1, 0);
	OK(close(fd[0]));
}

/* The same with connections: their peers end them */
TEST(owned_connections_keep_no_kworker, .applies = can_keep_pages, .alone = true)
{
	struct hog *hogs = calloc(CROWD, sizeof(*hogs));
	struct lost lost;
	int i;

	TRUE(hogs);
	lost_open(&lost, BY_USERFAULTFD, 1);
	for (i = 0; i < CROWD; i++)
		own_child(&hogs[i], lost_page(&lost, 0));
	converse();
}

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int compare_longs(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static long median(long *samples)
{
	qsort(samples, SAMPLES, sizeof(*samples), compare_longs);
	return samples[SAMPLES / 2];
}

static long time_of_conversation(const struct variant *sockets)
{
	const struct variant *tested = variant;
	long start;

	variant = sockets;
	start = now_us();
	converse();
	variant = tested;
	return now_us() - start;
}

/*
 * How long a conversation over SMC takes, in percent of one over TCP: by turns, so that it does not
 * matter what else the machine does.
 */
static long measure_smc(void)
{
	struct variant tcp = tcp_variant();
	long smc_us[SAMPLES], tcp_us[SAMPLES];
	int i;

	for (i = 0; i < SAMPLES; i++) {
		smc_us[i] = time_of_conversation(variant);
		tcp_us[i] = time_of_conversation(&tcp);
	}
	return 100 * median(smc_us) / median(tcp_us);
}

static void own_listener(struct hog *hog, void *page)
{
	hog->fd = listen_any(1);
	hog->addr = target_of(hog->fd);
	hog->page = page;
	worker_start(&hog->worker, own_socket, hog);
	worker_asleep(&hog->worker);
	connect_tcp(&hog->addr);
}

/* Nor do they slow down the sockets of another user. A machine may stumble once, not each time. */
TEST(owned_sockets_delay_nobody, .applies = can_keep_pages, .alone = true)
{
	struct bystander bystander = bystander_start(measure_smc);
	struct hog *hogs = calloc(2 * KWORKERS, sizeof(*hogs));
	long alone, beside;
	struct lost lost;
	int i;

	TRUE(hogs);
	lost_open(&lost, BY_USERFAULTFD, 1);
	alone = bystander_run(&bystander);
	for (i = 0; i < KWORKERS; i++) {
		own_listener(&hogs[2 * i], lost_page(&lost, 0));
		own_child(&hogs[2 * i + 1], lost_page(&lost, 0));
	}
	for (i = 0; i < 5; i++) {
		beside = bystander_run(&bystander);
		printf("SMC takes %ld %% of TCP's time, %ld %% before\n", beside, alone);
		if (beside <= 2 * alone)
			return;
	}
	FAIL("SMC takes %ld %% of TCP's time, %ld %% before", beside, alone);
}

/* TCP waits for the owner there; poll() has promised a connection, and programs rely on that */
TEST(accept_from_owned_socket, .applies = can_keep_pages)
{
	struct hog hog = { .fd = listen_any(1) };
	struct addr to = target_of(hog.fd);
	int client = new_client();
	struct lost lost;

	lost_open(&lost, BY_USERFAULTFD, 1);
	hog.page = lost_page(&lost, 0);
	nonblock(hog.fd);
	nonblock(client);
	worker_start(&hog.worker, own_socket, &hog);
	worker_asleep(&hog.worker);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	TRUE(wait_events(hog.fd, POLLIN) & POLLIN);
	accept_from(hog.fd);
}
