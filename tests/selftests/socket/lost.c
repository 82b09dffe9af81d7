// SPDX-License-Identifier: GPL-2.0-only
/* Pages of user memory which a program keeps back, by userfaultfd or by a file system of its own */

#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../harness.h"
#include "lost.h"

#define REQUEST_MAX	(FUSE_MIN_READ_BUFFER + 4096)

static int new_userfault(void)
{
	return syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
}

/* Mounting is for the superuser, and the kernel may have no FUSE */
static int new_fuse(void)
{
	if (geteuid())
		return -1;
	return open("/dev/fuse", O_RDWR | O_CLOEXEC);
}

bool lost_possible(enum keeper keeper)
{
	int fd = keeper == BY_FUSE ? new_fuse() : new_userfault();

	if (fd < 0)
		return false;
	OK(close(fd));
	return true;
}

static void watch_pages(struct lost *lost)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	lost->pages = mmap(NULL, lost->nr * lost->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRUE(lost->pages != MAP_FAILED);
	lost->fd = OK(new_userfault());
	area.range.start = (uintptr_t)lost->pages;
	area.range.len = lost->nr * lost->size;
	OK(ioctl(lost->fd, UFFDIO_API, &api));
	OK(ioctl(lost->fd, UFFDIO_REGISTER, &area));
}

/* The kernel tells of each thread that waits for a page */
static void take_faults(struct lost *lost)
{
	struct uffd_msg msg;

	while (read(lost->fd, &msg, sizeof(msg)) == sizeof(msg)) {
		uintptr_t at = msg.arg.pagefault.address - (uintptr_t)lost->pages;

		EQ(msg.event, UFFD_EVENT_PAGEFAULT);
		lost->wanted[at / lost->size] = true;
	}
	EQ(errno, EAGAIN);
}

static void copy_page(struct lost *lost, int index, const void *content)
{
	struct uffdio_copy copy = { .src = (uintptr_t)content, .len = lost->size };

	copy.dst = (uintptr_t)lost->pages + index * lost->size;
	OK(ioctl(lost->fd, UFFDIO_COPY, &copy));
}

/**
 * struct lost_file - a file whose pages are lost; shared by the test and the server
 * @dev: number of the server's descriptor of /dev/fuse
 * @mount: the same, of the file
 * @orders: where the server is told that a page has come
 * @nr: number of pages
 * @size: of a page
 * @wanted: has the kernel asked for this one?
 * @request: of the kernel, for this page; 0: none
 * @come: has it come?
 * @content: of all pages
 */
struct lost_file {
	int dev;
	int mount;
	int orders;
	int nr;
	long size;
	bool wanted[MAX_LOST];
	uint64_t request[MAX_LOST];
	bool come[MAX_LOST];
	uint8_t content[];
};

static void answer(const struct lost_file *file, uint64_t request, int error, const void *data,
		   size_t len)
{
	struct fuse_out_header header = {
		.len = sizeof(header) + len, .error = error, .unique = request,
	};
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)data, len } };

	/* ENOENT: whoever asked has been killed */
	if (writev(file->dev, parts, len ? 2 : 1) < 0)
		EQ(errno, ENOENT);
}

/* No readahead, so the kernel asks for each page when it is needed */
static void answer_init(const struct lost_file *file, uint64_t request)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = file->size,
	};

	answer(file, request, 0, &init, sizeof(init));
}

static void answer_attributes(const struct lost_file *file, uint64_t request)
{
	struct fuse_attr_out out = {
		.attr_valid = 86400,
		.attr = {
			.ino = FUSE_ROOT_ID, .mode = S_IFREG | 0600, .nlink = 1,
			.size = file->nr * file->size, .blksize = file->size,
		},
	};

	answer(file, request, 0, &out, sizeof(out));
}

static void answer_open(const struct lost_file *file, uint64_t request)
{
	struct fuse_open_out out = { .open_flags = FOPEN_KEEP_CACHE };

	answer(file, request, 0, &out, sizeof(out));
}

static void answer_read(struct lost_file *file, int index)
{
	if (file->request[index] && file->come[index])
		answer(file, file->request[index], 0, file->content + index * file->size,
		       file->size);
}

static void keep_request(struct lost_file *file, uint64_t request, const struct fuse_read_in *in)
{
	int index = in->offset / file->size;

	EQ(in->size, file->size);
	TRUE(index < file->nr);
	file->request[index] = request;
	__atomic_store_n(&file->wanted[index], true, __ATOMIC_RELEASE);
	answer_read(file, index);
}

static void serve(struct lost_file *file, const struct fuse_in_header *header)
{
	switch (header->opcode) {
	case FUSE_INIT:
		answer_init(file, header->unique);
		break;
	case FUSE_GETATTR:
		answer_attributes(file, header->unique);
		break;
	case FUSE_OPEN:
		answer_open(file, header->unique);
		break;
	case FUSE_READ:
		keep_request(file, header->unique, (const void *)(header + 1));
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;	/* these want no answer */
	default:
		answer(file, header->unique, -ENOSYS, NULL, 0);
	}
}

static void serve_next(struct lost_file *file)
{
	union {
		struct fuse_in_header header;
		uint8_t bytes[REQUEST_MAX];
	} request;

	/* ENOENT: it was taken back */
	if (read(file->dev, &request, sizeof(request)) < 0)
		EQ(errno, ENOENT);
	else
		serve(file, &request.header);
}

static void obey(struct lost_file *file)
{
	uint8_t index;

	if (read(file->orders, &index, 1) != 1)
		exit(0);
	file->come[index] = true;
	answer_read(file, index);
}

/* A mount without a place in the tree, whose root is a file */
static int mount_file(int dev)
{
	int fs = OK(fsopen("fuse", FSOPEN_CLOEXEC));
	char text[32];

	snprintf(text, sizeof(text), "%d", dev);
	OK(fsconfig(fs, FSCONFIG_SET_STRING, "fd", text, 0));
	OK(fsconfig(fs, FSCONFIG_SET_STRING, "rootmode", "100000", 0));
	OK(fsconfig(fs, FSCONFIG_SET_STRING, "user_id", "0", 0));
	OK(fsconfig(fs, FSCONFIG_SET_STRING, "group_id", "0", 0));
	OK(fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	return OK(fsmount(fs, FSMOUNT_CLOEXEC, 0));
}

static void run_server(struct lost_file *file, int ready)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };

	file->dev = OK(new_fuse());
	file->mount = mount_file(file->dev);
	OK(close(ready));
	fds[0].fd = file->dev;
	fds[1].fd = file->orders;
	for (;;) {
		OK(poll(fds, 2, -1));
		if (fds[0].revents)
			serve_next(file);
		if (fds[1].revents)
			obey(file);
	}
}

static struct lost_file *new_file(const struct lost *lost)
{
	struct lost_file *file;

	file = mmap(NULL, sizeof(*file) + lost->nr * lost->size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TRUE(file != MAP_FAILED);
	file->nr = lost->nr;
	file->size = lost->size;
	return file;
}

/*
 * A process of its own: a process that is killed while it waits for itself does not end. Returns
 * when the file can be opened.
 */
static pid_t start_server(struct lost *lost)
{
	int orders[2], ready[2];
	pid_t pid;

	OK(pipe2(orders, O_CLOEXEC));
	OK(pipe2(ready, O_CLOEXEC));
	pid = OK(fork());
	if (!pid) {
		OK(close(orders[1]));
		OK(close(ready[0]));
		lost->file->orders = orders[0];
		run_server(lost->file, ready[1]);
	}
	OK(close(orders[0]));
	OK(close(ready[1]));
	EQ(OK(read(ready[0], ready, 1)), 0);
	OK(close(ready[0]));
	lost->fd = orders[1];
	return pid;
}

static void map_file(struct lost *lost)
{
	struct stat info;
	char path[64];
	pid_t server;
	int fd;

	lost->file = new_file(lost);
	server = start_server(lost);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", server, lost->file->mount);
	fd = OK(open(path, O_RDWR | O_CLOEXEC));
	OK(fstat(fd, &info));	/* then the kernel knows the size */
	EQ(info.st_size, lost->nr * lost->size);
	lost->pages = mmap(NULL, lost->nr * lost->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	TRUE(lost->pages != MAP_FAILED);
	OK(close(fd));
}

static void order_page(struct lost *lost, uint8_t index, const void *content)
{
	memcpy(lost->file->content + index * lost->size, content, lost->size);
	EQ(OK(write(lost->fd, &index, 1)), 1);
}

/**
 * lost_open() - map pages that do not come before lost_bring()
 * @lost: filled in. The pages stay until the process ends
 * @keeper: who brings them
 * @nr: how many
 *
 * With BY_FUSE, before the test has threads.
 */
void lost_open(struct lost *lost, enum keeper keeper, int nr)
{
	TRUE(nr <= MAX_LOST);
	*lost = (struct lost){ .keeper = keeper, .nr = nr, .size = sysconf(_SC_PAGESIZE) };
	if (keeper == BY_FUSE)
		map_file(lost);
	else
		watch_pages(lost);
}

void *lost_page(const struct lost *lost, int index)
{
	return lost->pages + index * lost->size;
}

/* Does a thread wait for this page? */
bool lost_is_wanted(struct lost *lost, int index)
{
	if (lost->keeper == BY_FUSE)
		return __atomic_load_n(&lost->file->wanted[index], __ATOMIC_ACQUIRE);
	take_faults(lost);
	return lost->wanted[index];
}

/* The page comes, and begins with @content */
void lost_bring(struct lost *lost, int index, const void *content, size_t len)
{
	void *page = calloc(1, lost->size);

	TRUE(page);
	memcpy(page, content, len);
	if (lost->keeper == BY_FUSE)
		order_page(lost, index, page);
	else
		copy_page(lost, index, page);
	free(page);
}
