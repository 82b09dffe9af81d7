// SPDX-License-Identifier: GPL-2.0-only
/* A program owns its sockets as long as it likes: a page that they need comes when it says so */

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "pair.h"

#define CROWD	300	/* more than a work queue has kworkers */

static int new_userfault(void)
{
	return syscall(SYS_userfaultfd, O_CLOEXEC);
}

static bool can_keep_pages(int index)
{
	int fd = only_smc(index) ? new_userfault() : -1;

	if (fd < 0)
		return false;
	OK(close(fd));
	return true;
}

/* A page that does not come */
static void *lost_page(void)
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
	return page;
}

/* A listening socket, and a call that owns it: in place of a filter there is the lost page */
struct hog {
	struct worker worker;
	int listener;
	struct addr addr;
	void *page;
};

static void own_socket(void *arg)
{
	const struct hog *hog = arg;
	struct sock_fprog filter = { .len = 1, .filter = hog->page };

	setsockopt(hog->listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
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
	void *page = lost_page();
	int i;

	TRUE(hogs);
	for (i = 0; i < CROWD; i++) {
		hogs[i].listener = listen_any(1);
		hogs[i].addr = target_of(hogs[i].listener);
		hogs[i].page = page;
		worker_start(&hogs[i].worker, own_socket, &hogs[i]);
	}
	for (i = 0; i < CROWD; i++) {
		worker_asleep(&hogs[i].worker);
		connect_tcp(&hogs[i].addr);
	}
	connect_by_work_queue();
}
