// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"

#define FIRST_FD	3	/* first descriptor that is handed over */
#define SEND_SECONDS	5
#define SEND_BUFFER	8192	/* doubled by the kernel, for messages of at least 640 bytes */

struct kept_fd {
	char name[KEEP_NAME];
	int fd;
	bool taken;
};

static struct kept_fd *table;
static size_t used, size;
static int manager = -1;

static struct kept_fd *find_kept_fd(const char *name)
{
	size_t i;

	for (i = 0; i < used; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

static void append_fd(const char *name, int fd, bool taken)
{
	if (used == size) {
		size = size ? 2 * size : 64;
		table = reallocarray(table, size, sizeof(*table));
		if (!table)
			abort();
	}
	snprintf(table[used].name, KEEP_NAME, "%s", name);
	table[used].fd = fd;
	table[used].taken = taken;
	used++;
}

static void connect_manager(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct timeval limit = { .tv_sec = SEND_SECONDS };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int bytes = SEND_BUFFER;
	size_t length = path ? strlen(path) : 0;

	if (!length || length >= sizeof(addr.sun_path))
		return;
	memcpy(addr.sun_path, path, length);
	if (path[0] == '@')
		addr.sun_path[0] = 0;
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* a manager that hangs must not block the daemon for long */
	if (manager < 0 || setsockopt(manager, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(manager, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)) ||
	    connect(manager, (struct sockaddr *)&addr,
		    offsetof(struct sockaddr_un, sun_path) + length))
		log_fatal("NOTIFY_SOCKET %s: %s", path, strerror(errno));
}

/* One variable contains the number of descriptors, another one their names, separated by colons */
static void read_handed_over(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	char *names = getenv("LISTEN_FDNAMES"), *name;
	int fd, last;

	if (!pid || !count || !names || atol(pid) != getpid())
		return;
	last = FIRST_FD + atoi(count);
	for (fd = FIRST_FD; fd < last; fd++) {
		name = names ? strsep(&names, ":") : NULL;
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		append_fd(name ? name : "", fd, false);
	}
}

void keep_init(void)
{
	read_handed_over();
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	connect_manager();
}

bool keep_has_store(void)
{
	return manager >= 0;
}

static void send_text(const char *text, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = (void *)text, .iov_len = strlen(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (manager < 0)
		return;
	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	if (sendmsg(manager, &message, MSG_NOSIGNAL) < 0)
		log_line(LOG_WARNING, "service manager does not listen (%s): %.30s",
			 strerror(errno), text);
}

void keep_tell(const char *text)
{
	send_text(text, -1);
}

int keep_take(const char *format, ...)
{
	struct kept_fd *entry;
	char name[KEEP_NAME];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	entry = find_kept_fd(name);
	if (!entry || entry->taken)
		return -1;
	entry->taken = true;
	return entry->fd;
}

void keep_add(int fd, const char *format, ...)
{
	char name[KEEP_NAME], text[KEEP_NAME + 32];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	append_fd(name, fd, true);
	/*
	 * FDPOLL=0: the manager must keep the descriptor after a client has hung up, because the
	 * client may still have unread messages and can fill its eventfds.
	 */
	snprintf(text, sizeof(text), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
	send_text(text, fd);
}

static void remove_name(const char *name)
{
	struct kept_fd *entry = find_kept_fd(name);
	char text[KEEP_NAME + 32];

	if (entry)
		*entry = table[--used];
	snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	send_text(text, -1);
}

void keep_remove(const char *format, ...)
{
	char name[KEEP_NAME];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	remove_name(name);
}

void keep_drop_rest(void)
{
	char name[KEEP_NAME];
	size_t i = 0;

	while (i < used) {
		if (table[i].taken) {
			i++;
			continue;
		}
		close(table[i].fd);
		snprintf(name, sizeof(name), "%s", table[i].name);
		table[i] = table[--used];
		/* remove it from the store, unless a new descriptor has the same name */
		if (name[0] && !find_kept_fd(name))
			remove_name(name);
	}
}

/* Move all to high numbers first, because the low numbers may be in use by other descriptors */
static void move_all(void)
{
	size_t i;
	int fd;

	for (i = 0; i < used; i++) {
		fd = fcntl(table[i].fd, F_DUPFD_CLOEXEC, FIRST_FD + (int)used);
		if (fd < 0)
			log_fatal("cannot hand over descriptors: %s", strerror(errno));
		close(table[i].fd);
		table[i].fd = fd;
	}
	for (i = 0; i < used; i++)
		if (dup2(table[i].fd, FIRST_FD + (int)i) < 0)
			log_fatal("cannot hand over descriptors: %s", strerror(errno));
}

static void set_number(const char *name, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	setenv(name, text, 1);
}

void keep_exec(const char *program, char **argv)
{
	char *names, *end;
	size_t i;

	if (access(program, X_OK)) {
		log_line(LOG_ERR, "%s: %s", program, strerror(errno));
		return;
	}
	names = malloc(used * (KEEP_NAME + 1) + 1);
	if (!names)
		return;
	end = names;
	*end = 0;
	for (i = 0; i < used; i++)
		end += sprintf(end, "%s%s", i ? ":" : "", table[i].name);
	move_all();
	setenv("LISTEN_FDNAMES", names, 1);
	set_number("LISTEN_PID", getpid());
	set_number("LISTEN_FDS", used);
	execv(program, argv);
	/* the store has all descriptors, and the manager restarts the service */
	log_fatal("%s: %s", program, strerror(errno));
}
