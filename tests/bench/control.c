// SPDX-License-Identifier: GPL-2.0-only
/* Line-based control channel; see control.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

union control_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_un un;
};

static bool addr_is_unix(const char *text)
{
	return !strncmp(text, "unix:", 5);
}

static socklen_t addr_parse_tcp(const char *text, struct sockaddr_in *in)
{
	char host[64];
	unsigned int port;

	if (sscanf(text, "tcp:%63[0-9.]:%u", host, &port) != 2 || port > 65535)
		die("control address '%s' is neither unix:PATH nor tcp:ADDRESS:PORT", text);
	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, host, &in->sin_addr) != 1)
		die("control address '%s': not an IPv4 address", text);
	return sizeof(*in);
}

static socklen_t addr_parse(const char *text, union control_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	if (!addr_is_unix(text))
		return addr_parse_tcp(text, &addr->in);
	addr->un.sun_family = AF_UNIX;
	if (strlen(text + 5) >= sizeof(addr->un.sun_path))
		die("control path too long: %s", text);
	strcpy(addr->un.sun_path, text + 5);
	return sizeof(addr->un);
}

static void control_init(struct control *control, int fd, bool remote)
{
	control->fd = fd;
	control->remote = remote;
	control->used = 0;
}

void control_pair(struct control *a, struct control *b)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		die_errno("socketpair");
	control_init(a, fds[0], false);
	control_init(b, fds[1], false);
}

int control_listen(const char *text)
{
	union control_addr addr;
	socklen_t len = addr_parse(text, &addr);
	int fd = socket(addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd < 0)
		die_errno("control socket");
	if (addr_is_unix(text))
		unlink(addr.un.sun_path);
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &addr.sa, len) || listen(fd, 8))
		die_errno("listening for control on %s", text);
	return fd;
}

void control_accept(int listener, const char *text, struct control *control)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		die_errno("accepting control connection");
	control_init(control, fd, !addr_is_unix(text));
}

/*
 * The server may still be booting: its listener is the condition, and asking
 * again is the only way to see it from another machine. The watchdog bounds it.
 */
void control_connect(const char *text, struct control *control)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	union control_addr addr;
	socklen_t len = addr_parse(text, &addr);
	int fd;

	for (;;) {
		fd = socket(addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			die_errno("control socket");
		if (!connect(fd, &addr.sa, len))
			break;
		if (errno != ECONNREFUSED && errno != ENOENT &&
		    errno != EHOSTUNREACH && errno != ETIMEDOUT)
			die_errno("control connection to %s", text);
		close(fd);
		nanosleep(&pause, NULL);
	}
	control_init(control, fd, !addr_is_unix(text));
}

void control_send(struct control *control, const char *fmt, ...)
{
	char line[sizeof(control->buf)];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(line) - 1)
		die("control line too long");
	line[len++] = '\n';
	if (send(control->fd, line, (size_t)len, MSG_NOSIGNAL) != len)
		die_errno("control channel");
}

/* Move one line from the read-ahead buffer to @line; false if there is none. */
static bool take_line(struct control *control, char *line)
{
	char *end = memchr(control->buf, '\n', control->used);
	size_t len;

	if (!end)
		return false;
	*end = '\0';
	len = (size_t)(end - control->buf) + 1;
	memcpy(line, control->buf, len);
	control->used -= len;
	memmove(control->buf, control->buf + len, control->used);
	return true;
}

static const char *read_line(struct control *control)
{
	static char line[sizeof(control->buf)];
	ssize_t n;

	while (!take_line(control, line)) {
		if (control->used == sizeof(control->buf))
			die("control line too long");
		n = recv(control->fd, control->buf + control->used,
			 sizeof(control->buf) - control->used, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		control->used += (size_t)n;
	}
	return line;
}

const char *control_expect(struct control *control, const char *word)
{
	const char *line = read_line(control);
	size_t len;

	if (!word)
		return line;
	if (!line)
		die("the other end is gone while waiting for %s", word);
	len = strlen(word);
	if (strncmp(line, word, len) || (line[len] && line[len] != ' '))
		die("expected %s from the other end, got '%s'", word, line);
	return line[len] ? line + len + 1 : line + len;
}
