// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "log.h"
#include "loop.h"
#include "place.h"

#define CLIENTS		8
#define COMMAND_BYTES	64
#define OK		"ok\n"

struct operator {
	struct watch watch;
	char command[COMMAND_BYTES];
	size_t length;
	char *answer;
	size_t size;
	size_t sent;
};

static struct operator operators[CLIENTS];
static unsigned int oldest;
static struct watch listener;
static int spare;
static bool (*run_command)(const char *command, FILE *out);

static void hang_up(struct operator *op)
{
	loop_close(&op->watch);
	free(op->answer);
	op->answer = NULL;
	op->length = 0;
	op->size = 0;
	op->sent = 0;
}

static void build_answer(struct operator *op)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool good;

	if (!out)
		return;
	good = run_command(op->command, out);
	if (fclose(out) || asprintf(&op->answer, "%s%s", good ? OK : "error\n", text) < 0)
		op->answer = NULL;
	free(text);
	op->size = op->answer ? strlen(op->answer) : 0;
}

/* Returns: true if the line is complete, and was executed */
static bool read_command(struct operator *op)
{
	ssize_t length;
	char *end;

	if (op->answer)
		return true;
	length = recv(op->watch.fd, op->command + op->length, COMMAND_BYTES - 1 - op->length, 0);
	if (length <= 0) {
		if (length == 0 || errno != EAGAIN)
			hang_up(op);
		return false;
	}
	op->length += length;
	op->command[op->length] = 0;
	end = strchr(op->command, '\n');
	if (!end && op->length < COMMAND_BYTES - 1)
		return false;
	if (end)
		*end = 0;
	build_answer(op);
	if (!op->answer)
		hang_up(op);
	return op->answer;
}

static void write_answer(struct operator *op)
{
	ssize_t length;

	while (op->sent < op->size) {
		length = send(op->watch.fd, op->answer + op->sent, op->size - op->sent,
			      MSG_NOSIGNAL);
		if (length < 0 && errno == EAGAIN)
			return;
		if (length < 0)
			break;
		op->sent += length;
	}
	hang_up(op);
}

static void handle_operator(struct watch *watch, uint32_t events)
{
	struct operator *op = watch->owner;

	if (read_command(op))
		write_answer(op);
}

/* A new operator replaces one who has not completed a command */
static struct operator *find_place(void)
{
	unsigned int i;

	for (i = 0; i < CLIENTS; i++)
		if (operators[i].watch.fd < 0)
			return &operators[i];
	oldest = (oldest + 1) % CLIENTS;
	hang_up(&operators[oldest]);
	return &operators[oldest];
}

/* Without a free descriptor, use the spare one to accept and close the connection */
static void turn_away(int listen_fd)
{
	close(spare);
	close(accept(listen_fd, NULL, NULL));
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void handle_control_listener(struct watch *watch, uint32_t events)
{
	int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct operator *op;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			turn_away(watch->fd);
		return;
	}
	op = find_place();
	op->watch = (struct watch){ .fd = fd, .ready = handle_operator, .owner = op };
	loop_add(&op->watch, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

void control_init(bool (*execute)(const char *command, FILE *out))
{
	unsigned int i;

	for (i = 0; i < CLIENTS; i++)
		operators[i].watch.fd = -1;
	run_command = execute;
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	listener = (struct watch){ .fd = place_listen_control(), .ready = handle_control_listener };
	if (listener.fd < 0)
		exit(EXIT_FAILURE);
	loop_add(&listener, EPOLLIN);
}

static FILE *call_daemon(const char *command)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *stream;

	place_control(addr.sun_path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		fprintf(stderr, "smc-ismd: %s: %s\n", addr.sun_path,
			errno == ENOENT || errno == ECONNREFUSED ? "the daemon does not run" :
			strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	stream = fdopen(fd, "r+");
	if (!stream)
		abort();
	fprintf(stream, "%s\n", command);
	fflush(stream);
	return stream;
}

int control_ask(const char *command, FILE *out)
{
	FILE *stream = call_daemon(command);
	char buffer[4096];
	bool good;
	size_t length;

	if (!stream)
		return EXIT_FAILURE;
	if (!fgets(buffer, sizeof(buffer), stream)) {
		fputs("smc-ismd: the daemon went away\n", stderr);
		fclose(stream);
		return EXIT_FAILURE;
	}
	good = !strcmp(buffer, OK);
	while ((length = fread(buffer, 1, sizeof(buffer), stream)) > 0)
		fwrite(buffer, 1, length, good ? out : stderr);
	fclose(stream);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
