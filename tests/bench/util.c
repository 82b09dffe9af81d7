// SPDX-License-Identifier: GPL-2.0-only
/* Errors, the watchdog, names and numbers. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static const char *current_phase = "start";

static const char * const family_names[] = {
	[FAMILY_TCP] = "tcp",
	[FAMILY_UNIX] = "unix",
	[FAMILY_SMC] = "smc",
};

static const char * const check_names[] = {
	[CHECK_NONE] = "none",
	[CHECK_SAMPLED] = "sampled",
	[CHECK_FULL] = "full",
};

static const char * const end_names[] = {
	[END_NONE] = "none",
	[END_CLIENT] = "client",
	[END_SERVER] = "server",
};

void phase(const char *name)
{
	current_phase = name;
}

static void complain(const char *fmt, va_list args, int err)
{
	fprintf(stderr, "smcbench: %s: ", current_phase);
	vfprintf(stderr, fmt, args);
	if (err)
		fprintf(stderr, ": %s", strerror(err));
	fputc('\n', stderr);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args, 0);
	va_end(args);
	exit(1);
}

void die_errno(const char *fmt, ...)
{
	int err = errno;
	va_list args;

	va_start(args, fmt);
	complain(fmt, args, err);
	va_end(args);
	exit(1);
}

/*
 * A time-out on the sockets themselves would arm a timer for every blocking
 * call and so change what is measured; one signal per process does not.
 */
static void on_alarm(int sig)
{
	static const char head[] = "smcbench: timed out in phase: ";
	ssize_t ignored;

	(void)sig;
	ignored = write(STDERR_FILENO, head, sizeof(head) - 1);
	ignored = write(STDERR_FILENO, current_phase, strlen(current_phase));
	ignored = write(STDERR_FILENO, "\n", 1);
	(void)ignored;
	_exit(3);
}

void watchdog(unsigned int seconds)
{
	struct sigaction action = { .sa_handler = on_alarm };

	if (sigaction(SIGALRM, &action, NULL))
		die_errno("sigaction");
	alarm(seconds);
}

void *xmalloc(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		die("out of memory (%zu bytes)", size);
	return memory;
}

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *family_name(enum family family)
{
	return family_names[family];
}

const char *check_name(enum check check)
{
	return check_names[check];
}

static bool name_parse(const char * const *names, size_t n, const char *name,
		       size_t *index)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(names[i], name)) {
			*index = i;
			return true;
		}
	}
	return false;
}

bool family_parse(const char *name, enum family *family)
{
	size_t index;

	if (!name_parse(family_names, ARRAY_SIZE(family_names), name, &index))
		return false;
	*family = (enum family)index;
	return true;
}

bool check_parse(const char *name, enum check *check)
{
	size_t index;

	if (!name_parse(check_names, ARRAY_SIZE(check_names), name, &index))
		return false;
	*check = (enum check)index;
	return true;
}

const char *end_name(enum end end)
{
	return end_names[end];
}

bool end_parse(const char *name, enum end *end)
{
	size_t index;

	if (!name_parse(end_names, ARRAY_SIZE(end_names), name, &index))
		return false;
	*end = (enum end)index;
	return true;
}

bool number_parse(const char *text, uint64_t *number)
{
	unsigned int shift = 0;
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	switch (*end) {
	case 'g':
	case 'G':
		shift += 10;
		/* fall through */
	case 'm':
	case 'M':
		shift += 10;
		/* fall through */
	case 'k':
	case 'K':
		shift += 10;
		end++;
	}
	if (*end || (*number << shift) >> shift != *number)
		return false;
	*number <<= shift;
	return true;
}
