// SPDX-License-Identifier: GPL-2.0-only
/* A program owns its sockets as long as it likes: a page that they need comes when it says so */

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/userfaultfd.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "pair.h"

#define CROWD	300	/* more than a work queue has kworkers */

static int new_userfault(void)
{
	return syscall(SYS_userfaultfd, O_CLOEXEC);
}

static bool has_userfault(void)
{
	int fd = new_userfault();

	if (fd < 0)
		return false;
	OK(close(fd));
	return true;
}

static bool can_keep_pages(int index)
{
	return only_smc(index) && has_userfault();
}

static bool can_keep_pages_of_ipv6(int index)
{
	return only_ipv6(index) && has_userfault();
}

/* A page that does not come before bring_page() */
static void *lost_page(int *userfault)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	long size = sysconf(_SC_PAGESIZE);
	int fd = OK(new_userfault());
	void *page;

	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRUE(page != MAP_FAILED);
	area.range.start = (uintptr_t)page;
	area.range.len = size;
	OK(ioctl(fd, UFFDIO_API, &api));
	OK(ioctl(fd, UFFDIO_REGISTER, &area));
	*userfault = fd;
	return page;
}

/* The page comes, and begins with @value */
static void bring_page(int userfault, void *page, int value)
{
	long size = sysconf(_SC_PAGESIZE);
	int *content = aligned_alloc(size, size);
	struct uffdio_copy copy = { .dst = (uintptr_t)page, .len = size };

	TRUE(content);
	memset(content, 0, size);
	content[0] = value;
	copy.src = (uintptr_t)content;
	OK(ioctl(userfault, UFFDIO_COPY, &copy));
	free(content);
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

static void connect_by_work_queue(void)
{
	int listener = listen_any(1), client = new_client();
	struct addr to = target_of(listener);

	nonblock(listener);
	nonblock(client);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	TRUE(wait_events(listener, POLLIN) & POLLIN);
	accept_from(listener);
	TRUE(wait_events(client, POLLOUT) & POLLOUT);
	EQ(socket_error(client), 0);
	EQ(is_tcp(client), 0);
}

TEST(owned_sockets_keep_no_kworker, .applies = can_keep_pages, .alone = true)
{
	struct hog *hogs = calloc(CROWD, sizeof(*hogs));
	int i, userfault;
	void *page = lost_page(&userfault);

	TRUE(hogs);
	for (i = 0; i < CROWD; i++) {
		hogs[i].fd = listen_any(1);
		hogs[i].addr = target_of(hogs[i].fd);
		hogs[i].page = page;
		worker_start(&hogs[i].worker, own_socket, &hogs[i]);
	}
	for (i = 0; i < CROWD; i++) {
		worker_asleep(&hogs[i].worker);
		connect_tcp(&hogs[i].addr);
	}
	connect_by_work_queue();
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

static bool is_established(int fd)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	OK(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));
	return info.tcpi_state == TCP_ESTABLISHED;
}

/* TCP is connected when the page comes, and the handshake may be over or not */
TEST(family_changed_while_connecting, .applies = can_keep_pages_of_ipv6)
{
	struct family_change change = { .fd = new_client() };
	int userfault, server, listener = new_server();
	struct addr to = listen_for_both_families(listener);
	struct worker changer;

	change.page = lost_page(&userfault);
	worker_start(&changer, change_family, &change);
	worker_asleep(&changer);

	nonblock(change.fd);
	FAILS(connect(change.fd, &to.sa, to.len), EINPROGRESS);
	while (!is_established(change.fd))
		pause_briefly();
	bring_page(userfault, change.page, AF_INET);
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

/* The same with connections: their peers end them */
TEST(owned_connections_keep_no_kworker, .applies = can_keep_pages, .alone = true)
{
	struct hog *hogs = calloc(CROWD, sizeof(*hogs));
	int i, userfault, fd[2];
	void *page = lost_page(&userfault);

	TRUE(hogs);
	for (i = 0; i < CROWD; i++) {
		pair_open(fd);
		hogs[i].fd = fd[1];
		hogs[i].page = page;
		worker_start(&hogs[i].worker, own_socket, &hogs[i]);
		worker_asleep(&hogs[i].worker);
		set_linger(fd[0], 1, 0);
		OK(close(fd[0]));
	}
	connect_by_work_queue();
}

/* TCP waits for the owner there; poll() has promised a connection, and programs rely on that */
TEST(accept_from_owned_socket, .applies = can_keep_pages)
{
	int userfault, client = new_client();
	struct hog hog = { .fd = listen_any(1), .page = lost_page(&userfault) };
	struct addr to = target_of(hog.fd);

	nonblock(hog.fd);
	nonblock(client);
	worker_start(&hog.worker, own_socket, &hog);
	worker_asleep(&hog.worker);
	FAILS(connect(client, &to.sa, to.len), EINPROGRESS);
	TRUE(wait_events(hog.fd, POLLIN) & POLLIN);
	accept_from(hog.fd);
}
