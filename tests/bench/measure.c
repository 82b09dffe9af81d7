// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measuring from /proc.
 *
 * Idle time: the sleep time in /proc/timer_list is exact to the nanosecond, but
 * only for a processor that is not idle just then. So we run on each of them
 * while its line is read. Without that file (it takes root) there is /proc/stat,
 * which counts in ticks of 10 ms.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

#define NS_PER_SEC 1000000000u

/* The machine is idle when it was, some times in a row, for this long. */
#define SETTLE_NS 50000000

static struct {
	int stat;
	int timer_list;		/* -1: use /proc/stat */
	int snmp;
	uint64_t tick_ns;
	size_t processors;
	cpu_set_t allowed;	/* where this process may run */
	char buf[262144];
} measure;

static int proc_open(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* /proc files come in pieces of a page or less: read until there is no more. */
static bool read_all(int fd, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return false;
	while ((n = read(fd, buf + used, size - used)) > 0) {
		used += (size_t)n;
		if (used == size)
			die("a /proc file is larger than %zu bytes", size);
	}
	buf[used] = '\0';
	return n == 0;
}

bool proc_read(const char *path, char *buf, size_t size)
{
	int fd = proc_open(path);
	bool ok = fd >= 0 && read_all(fd, buf, size);

	if (fd >= 0)
		close(fd);
	return ok;
}

void measure_init(void)
{
	measure.processors = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (measure.processors > PROCESSORS_MAX)
		die("more than %d processors", PROCESSORS_MAX);
	if (sched_getaffinity(0, sizeof(measure.allowed), &measure.allowed))
		die_errno("sched_getaffinity");
	measure.tick_ns = NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	measure.stat = proc_open("/proc/stat");
	if (measure.stat < 0)
		die_errno("/proc/stat");
	measure.timer_list = proc_open("/proc/timer_list");
	measure.snmp = proc_open("/proc/net/snmp");
}

const char *measure_idle_source(void)
{
	return measure.timer_list < 0 ? "stat" : "timer_list";
}

uint64_t number_after(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	return found ? strtoull(found + strlen(key), NULL, 10) : 0;
}

/* The cpu line of /proc/stat: user nice system idle iowait ... */
static uint64_t stat_idle(const char *stat)
{
	unsigned long long idle = 0, iowait = 0;

	if (sscanf(stat, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		die("/proc/stat has no cpu line");
	return (idle + iowait) * measure.tick_ns;
}

static void read_stat(struct snapshot *snap)
{
	if (!read_all(measure.stat, measure.buf, sizeof(measure.buf)))
		die_errno("/proc/stat");
	snap->ctxt = number_after(measure.buf, "\nctxt ");
	if (measure.timer_list < 0)
		snap->idle[0] = stat_idle(measure.buf);
}

static uint64_t timer_list_field(const char *text, const char *name)
{
	const char *found = strstr(text, name);

	if (!found)
		die("/proc/timer_list has no %s", name);
	return number_after(found, ": ");
}

/* Reads the times of one processor, on which this process runs now. */
static void read_timer_list(struct snapshot *snap, size_t processor)
{
	char head[32];
	const char *text;

	if (!read_all(measure.timer_list, measure.buf, sizeof(measure.buf)))
		die_errno("/proc/timer_list");
	snprintf(head, sizeof(head), "\ncpu: %zu\n", processor);
	text = strstr(measure.buf, head);
	if (!text)
		die("/proc/timer_list has no processor %zu", processor);
	snap->idle[processor] = timer_list_field(text, ".idle_sleeptime") +
				timer_list_field(text, ".iowait_sleeptime");
}

static void run_on(const cpu_set_t *processors)
{
	if (sched_setaffinity(0, sizeof(*processors), processors))
		die_errno("sched_setaffinity");
}

static void read_idle(struct snapshot *snap)
{
	cpu_set_t one;

	if (measure.timer_list < 0)
		return;
	if (measure.processors == 1) {
		read_timer_list(snap, 0);
		return;
	}
	for (size_t i = 0; i < measure.processors; i++) {
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		run_on(&one);
		snap->read_at[i] = clock_ns();
		read_timer_list(snap, i);
	}
	run_on(&measure.allowed);
}

/* /proc/net/snmp has a line of names and one of numbers for each protocol. */
static uint64_t snmp_field(const char *snmp, const char *name)
{
	const char *names = strstr(snmp, "Tcp: ");
	const char *numbers = names ? strstr(names + 1, "Tcp: ") : NULL;
	const char *found = names ? strstr(names, name) : NULL;

	if (!found || !numbers)
		return 0;
	for (; names < found; names++) {
		if (*names == ' ')
			numbers = strchr(numbers, ' ') + 1;
	}
	return strtoull(numbers, NULL, 10);
}

static uint64_t read_snmp(const char *name)
{
	if (measure.snmp < 0 || !read_all(measure.snmp, measure.buf, sizeof(measure.buf)))
		return 0;
	return snmp_field(measure.buf, name);
}

void measure_begin(struct snapshot *snap)
{
	snap->segs = read_snmp("OutSegs");
	read_stat(snap);
	read_idle(snap);
	snap->wall = clock_ns();
}

/*
 * With several processors, each one's share is what passed between the two
 * moments at which it was looked at. With one, these are the ends of the window.
 */
static uint64_t busy_time(const struct snapshot *begin, const struct snapshot *end)
{
	uint64_t passed = 0, idle = 0;

	if (measure.timer_list < 0 || measure.processors == 1) {
		passed = (end->wall - begin->wall) * measure.processors;
		idle = end->idle[0] - begin->idle[0];
	} else {
		for (size_t i = 0; i < measure.processors; i++) {
			passed += end->read_at[i] - begin->read_at[i];
			idle += end->idle[i] - begin->idle[i];
		}
	}
	/* Idle time in ticks can exceed the time of a short run. */
	return idle < passed ? passed - idle : 0;
}

void measure_end(const struct snapshot *begin, struct cost *cost)
{
	struct snapshot end;

	end.wall = clock_ns();
	read_idle(&end);
	read_stat(&end);
	end.segs = read_snmp("OutSegs");

	cost->wall = end.wall - begin->wall;
	cost->busy = busy_time(begin, &end);
	cost->ctxt = end.ctxt - begin->ctxt;
	cost->segs = end.segs - begin->segs;
	cost->voluntary = 0;
	cost->involuntary = 0;
	cost->kworkers = -1;
	cost->rsts = -1;
}

void measure_mark(void)
{
#ifdef __x86_64__
	__asm__ volatile("xchg %%rbx,%%rbx" : : : "memory");
#endif
}

void measure_settle(uint64_t times)
{
	const struct timespec interval = { .tv_nsec = SETTLE_NS };
	struct snapshot begin;
	struct cost cost;
	uint64_t quiet = 0;

	while (quiet < times) {
		measure_begin(&begin);
		nanosleep(&interval, NULL);
		measure_end(&begin, &cost);
		quiet = cost.busy < cost.wall / 5 ? quiet + 1 : 0;
	}
}

void measure_switches(uint64_t *voluntary, uint64_t *involuntary)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		die_errno("getrusage");
	*voluntary = (uint64_t)usage.ru_nvcsw;
	*involuntary = (uint64_t)usage.ru_nivcsw;
}

uint64_t measure_rsts(void)
{
	return read_snmp("OutRsts");
}

uint64_t measure_netns(void)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st))
		die_errno("/proc/self/ns/net");
	return st.st_ino;
}

void cost_add(struct cost *cost, const struct cost *other)
{
	cost->busy += other->busy;
	cost->ctxt += other->ctxt;
	cost->segs += other->segs;
	if (cost->kworkers < 0 || other->kworkers < 0)
		cost->kworkers = -1;
	else
		cost->kworkers += other->kworkers;
}

uint64_t meminfo(const char *field)
{
	static char buf[8192];
	char key[64];

	if (!proc_read("/proc/meminfo", buf, sizeof(buf)))
		die_errno("/proc/meminfo");
	snprintf(key, sizeof(key), "\n%s:", field);
	return number_after(buf, key) * 1024;
}
