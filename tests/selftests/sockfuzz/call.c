// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the threads are doing: each call is counted, kept for the report of a failure, and has a
 * bound. One that takes long is interrupted by a signal again and again; one that a signal does not
 * end within the limit hangs.
 */

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sockfuzz.h"

#define NUDGE_MS	20
#define SELDOM_MS	(3 * 1000)	/* for a few, which what they wait for has to wake */
#define ROUND_US	10000
#define HANG_ROUNDS	6000UL		/* signals without an effect */

__thread struct thread *me;

static struct {
	struct site *sites;
	struct thread *threads;
	int nr_threads;
	int failing;
	unsigned long rounds;
} state = { .rounds = 1 };

long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

unsigned long watch_rounds(void)
{
	return __atomic_load_n(&state.rounds, __ATOMIC_SEQ_CST);
}

static void list_site(struct site *site)
{
	site->next = __atomic_load_n(&state.sites, __ATOMIC_SEQ_CST);
	while (!__atomic_compare_exchange_n(&state.sites, &site->next, site, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static struct call *current_call(struct thread *thread)
{
	return &thread->last[thread->calls % LAST_CALLS];
}

void call_begin(struct site *site, int on, long arg)
{
	struct call *call = current_call(me);

	if (!__atomic_fetch_add(&site->calls, 1, __ATOMIC_RELAXED))
		list_site(site);
	*call = (struct call){ .on = on, .arg = arg, .start = milliseconds() };
	me->nudge_ms = one_in(200) ? SELDOM_MS : NUDGE_MS;
	me->start_round = watch_rounds();
	__atomic_store_n(&me->asleep_round, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&call->site, site, __ATOMIC_SEQ_CST);
}

/* What no call of TCP's returns: codes of the kernel alone, and those of SMC */
static bool is_strange(int error)
{
	switch (error) {
	case EPROTO:
	case EILSEQ:
	case EBADMSG:
	case EUCLEAN:
	case ENOLINK:
	case EREMOTEIO:
	case EOVERFLOW:
		return true;
	}
	return error > EHWPOISON;
}

void call_end(struct site *site, long ret)
{
	struct call *call = current_call(me);
	int error = errno;

	call->ret = ret;
	call->error = ret < 0 ? error : 0;
	__atomic_store_n(&call->end, milliseconds(), __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&site->ms, call->end - call->start, __ATOMIC_RELAXED);
	if (ret >= 0)
		__atomic_fetch_add(&site->good, 1, __ATOMIC_RELAXED);
	else if (is_strange(error))
		fail("%s on %d: %s is no error of TCP", site->name, call->on, strerror(error));
	__atomic_fetch_add(&me->calls, 1, __ATOMIC_SEQ_CST);
	errno = error;
}

static void tell_call(const struct call *call, long now)
{
	const char *name = call->error ? strerrorname_np(call->error) : "";

	if (!call->site)
		return;
	if (call->end)
		printf("#     %6ld ms ago, %ld ms: %s on %d.%d, 0x%lx: %ld %s\n", now - call->start,
		       call->end - call->start, call->site->name, call->on / 4, call->on % 4,
		       call->arg, call->ret, name ? name : "?");
	else
		printf("#     %6ld ms ago, not over: %s on %d.%d, 0x%lx\n", now - call->start,
		       call->site->name, call->on / 4, call->on % 4, call->arg);
}

/* A file of /proc about a thread, if it may be read */
static void tell_proc(const struct thread *thread, const char *name)
{
	char path[64], text[2000];
	char *line, *next;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", thread->tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	for (line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
		printf("#   %s: %s\n", name, line);
}

void call_tell_last(struct thread *threads, int nr)
{
	long now = milliseconds();
	int i, k;

	for (i = 0; i < nr; i++) {
		printf("#   thread %d, %lu calls\n", i, threads[i].calls);
		for (k = 1; k <= LAST_CALLS; k++)
			tell_call(&threads[i].last[(threads[i].calls + k) % LAST_CALLS], now);
	}
}

static void begin_failure(void)
{
	if (__atomic_exchange_n(&state.failing, 1, __ATOMIC_SEQ_CST))
		for (;;)
			pause();	/* another thread tells, and ends the process */
}

static void __attribute__((noreturn)) end_failure(void)
{
	call_tell_last(state.threads, state.nr_threads);
	printf("not ok 1 - sockfuzz, seed %llu\n", (unsigned long long)options.seed);
	fflush(stdout);
	_exit(1);
}

static void tell_failure(const char *format, va_list args)
{
	printf("# FAILED, seed %llu, thread %d: ", (unsigned long long)options.seed,
	       me ? me->number : -1);
	vprintf(format, args);
	printf("\n");
}

void fail(const char *format, ...)
{
	va_list args;

	begin_failure();
	va_start(args, format);
	tell_failure(format, args);
	va_end(args);
	end_failure();
}

bool is_tcp(int fd)
{
	int value;
	socklen_t len = sizeof(value);

	/* Only sockets that are not TCP ones know this level */
	return getsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &value, &len) != 0;
}

/* A failure of TCP's is none of ours */
static const char *name_mode(int fd)
{
	return is_tcp(fd) ? "TCP" : "SMC";
}

/* What TCP has sent and received at an end */
static void tell_tcp(int fd, int end)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	if (!is_tcp(fd) || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return;
	printf("# end %d: TCP state %d, %llu bytes sent, %llu acked, %u not sent, %llu received\n",
	       end, info.tcpi_state, (unsigned long long)info.tcpi_bytes_sent,
	       (unsigned long long)info.tcpi_bytes_acked, info.tcpi_notsent_bytes,
	       (unsigned long long)info.tcpi_bytes_received);
}

void fail_on(const struct slot *slot, int dir, const char *format, ...)
{
	va_list args;

	begin_failure();
	printf("# slot %d, connection %u (%s, %s to %s), way %d:\n", slot->number, slot->id,
	       kinds[slot->kind].name, name_mode(slot->fd[0]), name_mode(slot->fd[1]), dir);
	tell_tcp(slot->fd[0], 0);
	tell_tcp(slot->fd[1], 1);
	va_start(args, format);
	tell_failure(format, args);
	va_end(args);
	end_failure();
}

/**
 * fail_with_bytes() - bytes came that cannot be there
 * @fd: the socket
 * @bytes: what came, from the first byte that is wrong
 * @len: how much
 * @format: of what is said
 */
void fail_with_bytes(int fd, const uint8_t *bytes, size_t len, const char *format, ...)
{
	int peek_off = -1;
	socklen_t opt_len = sizeof(peek_off);
	uint8_t more[256];
	ssize_t n;
	va_list args;

	begin_failure();
	pattern_tell_origin(bytes, len);
	getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &peek_off, &opt_len);
	printf("# %s, SO_PEEK_OFF %d, ports %d and %d; the next bytes:\n", name_mode(fd), peek_off,
	       port_at(fd, false), port_at(fd, true));
	tell_tcp(fd, 0);
	n = recv(fd, more, sizeof(more), MSG_DONTWAIT);
	if (n > 0)
		pattern_tell_origin(more, n);
	va_start(args, format);
	tell_failure(format, args);
	va_end(args);
	end_failure();
}

static void __attribute__((noreturn)) tell_hang(const struct thread *thread,
						const struct call *call)
{
	begin_failure();
	printf("# HANGS, seed %llu, thread %d: %s on %d.%d\n", (unsigned long long)options.seed,
	       thread->number, call->site->name, call->on / 4, call->on % 4);
	tell_proc(thread, "syscall");
	tell_proc(thread, "wchan");
	tell_proc(thread, "stack");
	end_failure();
}

/* Does it wait for an event? Not if it was woken, but has not run since */
static bool is_asleep(const struct thread *thread)
{
	char path[64], text[200];
	const char *name_end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	name_end = strrchr(text, ')');
	return name_end && !strncmp(name_end, ") S", 3);
}

/* @calls: those of the thread before it was looked at */
static void note_sleep(struct thread *thread, unsigned long calls)
{
	if (__atomic_load_n(&thread->asleep_round, __ATOMIC_SEQ_CST) || !is_asleep(thread) ||
	    __atomic_load_n(&thread->calls, __ATOMIC_SEQ_CST) != calls)
		return;
	/* If another call has begun since, it began in this round, and has slept no time */
	__atomic_store_n(&thread->asleep_round, watch_rounds(), __ATOMIC_SEQ_CST);
}

static void watch_thread(struct thread *thread)
{
	const struct call *call = current_call(thread);
	unsigned long calls = __atomic_load_n(&thread->calls, __ATOMIC_SEQ_CST), begun;
	long start = call->start, now = milliseconds();

	if (!call->site || call->end)
		return;
	begun = thread->start_round;
	/* Was that really one call? */
	if (__atomic_load_n(&thread->calls, __ATOMIC_SEQ_CST) != calls || !start)
		return;
	if (watch_rounds() - begun > HANG_ROUNDS * options.scale)
		tell_hang(thread, call);
	if (now - start >= thread->nudge_ms) {
		note_sleep(thread, calls);
		pthread_kill(thread->pthread, SIGUSR1);
	}
}

/* Ended threads are joined, and have no number any more */
static bool any_left(struct thread *threads, int nr)
{
	bool any = false;
	int i;

	for (i = 0; i < nr; i++) {
		if (threads[i].number >= 0 && !pthread_tryjoin_np(threads[i].pthread, NULL))
			threads[i].number = -1;
		any |= threads[i].number >= 0;
	}
	return any;
}

/**
 * call_watch() - look after all threads for as long as the options say, until they have ended
 * @threads: the threads
 * @nr: their number
 * @over: set when they are to end
 */
void call_watch(struct thread *threads, int nr, bool *over)
{
	long end = milliseconds() + options.seconds * 1000L;
	int i;

	state.threads = threads;
	state.nr_threads = nr;
	while (any_left(threads, nr)) {
		usleep(ROUND_US);
		__atomic_add_fetch(&state.rounds, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(over, milliseconds() >= end, __ATOMIC_SEQ_CST);
		for (i = 0; i < nr; i++)
			if (threads[i].number >= 0)
				watch_thread(&threads[i]);
	}
}

static int compare_sites(const void *a, const void *b)
{
	return strcmp((*(struct site **)a)->name, (*(struct site **)b)->name);
}

/**
 * call_tell_counts() - how often each kind of call was made
 *
 * Return: the number of all.
 */
unsigned long call_tell_counts(void)
{
	struct site *all[1000], *site;
	unsigned long calls = 0, good = 0, ms = 0, total = 0;
	int nr = 0, i;

	for (site = state.sites; site && nr < 1000; site = site->next)
		all[nr++] = site;
	qsort(all, nr, sizeof(*all), compare_sites);
	for (i = 0; i < nr; i++) {
		calls += all[i]->calls;
		good += all[i]->good;
		ms += all[i]->ms;
		if (i + 1 < nr && !strcmp(all[i]->name, all[i + 1]->name))
			continue;
		printf("#   %9lu %9lu %9lu %s\n", calls, good, ms, all[i]->name);
		total += calls;
		calls = 0;
		good = 0;
		ms = 0;
	}
	return total;
}
