// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each call that a connection makes fails once, at its first time, its second, ...; and then for
 * a while. The two programs have to live with it, the next two must not notice.
 */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "faults.h"

#define COMMAND		"/sys/kernel/debug/smc_fault/fail"
#define SITES		"/sys/kernel/debug/smc_fault/sites"
#define OBJECTS		"/sys/kernel/debug/smc/objects"
#define SITES_MAX	256
#define TIMES_MAX	8	/* of these alone; what is reached more often is a loop */
#define SETTLE_MS	200000	/* for closed sockets, unused groups, remembered failures to go */

/**
 * struct site - a call that can fail
 * @hits: how often it was reached since the last command
 * @failed: how often it failed since the module was loaded
 * @where: its place
 */
struct site {
	unsigned int hits;
	unsigned int failed;
	char where[128];
};

static struct {
	int results[NR_RESULTS];
	int failures;
	int wrong;
} sum;

static int read_sites(struct site *sites)
{
	FILE *file = fopen(SITES, "re");
	int nr = 0;

	if (!file)
		FAIL("no %s: the modules are not built for faults", SITES);
	while (nr < SITES_MAX && fscanf(file, "%u %u %127[^\n]", &sites[nr].hits,
					&sites[nr].failed, sites[nr].where) == 3)
		nr++;
	fclose(file);
	return nr;
}

/* Call number @site fails from now on; its first, second, ... time, or (0) for a while; -1: none */
static void command(int site, int nth)
{
	int fd = OK(open(COMMAND, O_WRONLY | O_CLOEXEC));

	if (dprintf(fd, "%d %d\n", site, nth) < 0)
		FAIL("cannot write to %s", COMMAND);
	close(fd);
}

static int failures(void)
{
	FILE *file = fopen(COMMAND, "re");
	int count;

	if (!file || fscanf(file, "%d", &count) != 1)
		FAIL("cannot read %s", COMMAND);
	fclose(file);
	return count;
}

/* All objects that the module counts */
static long live_objects(void)
{
	FILE *file = fopen(OBJECTS, "re");
	char kind[32];
	long live, all = 0;

	if (!file)
		FAIL("no %s", OBJECTS);
	while (fscanf(file, "%31s %ld %*d", kind, &live) == 2)
		all += live;
	fclose(file);
	return all;
}

static void wait_settled(void)
{
	long end = now_ms() + SETTLE_MS;

	while (live_objects()) {
		if (now_ms() > end)
			FAIL("%ld objects are left", live_objects());
		poll(NULL, 0, 100);	/* groups take seconds to go */
	}
}

/* Without faults everything works, over SMC as soon as a bad way is forgotten */
static bool works_again(bool polled)
{
	long end = now_ms() + SETTLE_MS;
	enum result result, wanted = variant->smc ? OVER_SMC : OVER_TCP;

	do {
		result = talk(polled, false);
		if (result == wanted)
			return true;
		if (result != OVER_TCP)
			break;
		wait_settled();
		poll(NULL, 0, 1000);	/* a bad way is remembered for a minute */
	} while (now_ms() < end);
	fprintf(stderr, "without a fault: %s\n",
		result == REFUSED ? "refused" : result == OVER_TCP ? "TCP" : "wrong");
	return false;
}

/* To the kernel log, so that what follows there has a cause */
static void log_line(const char *format, ...)
{
	int fd = OK(open("/dev/kmsg", O_WRONLY | O_CLOEXEC));
	char line[256] = "fault_test: ";
	size_t len = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	OK(write(fd, line, strlen(line)));
	close(fd);
}

/* Return: whether the call was reached so often */
static bool try_fault(const struct site *site, int number, int nth, bool polled)
{
	enum result result;
	int failed;

	log_line("%s, time %d", site->where, nth);
	command(number, nth);
	result = talk(polled, true);
	wait_settled();
	failed = failures();
	command(-1, 0);
	sum.failures += failed;
	sum.results[result]++;
	if (result == WRONG || !works_again(polled)) {
		sum.wrong++;
		fprintf(stderr, "%s, time %d\n", site->where, nth);
	}
	wait_settled();
	return failed > 0;
}

/* New calls are reached where others fail, so the list grows */
static void sweep(bool polled)
{
	static struct site sites[SITES_MAX];
	int i, nth, nr;

	command(-1, 0);
	TRUE(works_again(polled));
	wait_settled();
	nr = read_sites(sites);
	for (i = 0; i < nr; i++) {
		for (nth = 1; nth <= TIMES_MAX; nth++)
			if (!try_fault(&sites[i], i, nth, polled))
				break;
		if (nth > 1)
			try_fault(&sites[i], i, 0, polled);
		nr = read_sites(sites);
	}
	for (i = 0; i < nr; i++)
		if (!sites[i].failed)
			log_line("never: %s", sites[i].where);
	log_line("%d calls, %d failures: %d conversations over SMC, %d over TCP, %d refused", nr,
		 sum.failures, sum.results[OVER_SMC], sum.results[OVER_TCP], sum.results[REFUSED]);
	EQ(sum.wrong, 0);
	TRUE(sum.failures >= 8);
}

/* Each way to an SMC socket and to TCP is tried once, SMC itself twice */
static bool by_one_kind_of_socket(int index)
{
	return variants[index].client.protocol != IPPROTO_SMC;
}

static bool over_smc(int index)
{
	return variants[index].smc;
}

TEST(each_call_fails_while_blocking, .applies = by_one_kind_of_socket, .seconds = 86400)
{
	sweep(false);
}

TEST(each_call_fails_while_polled, .applies = over_smc, .seconds = 86400)
{
	sweep(true);
}
