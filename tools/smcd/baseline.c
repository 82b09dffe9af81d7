// SPDX-License-Identifier: GPL-2.0-only
/*
 * "stats reset" cannot reset the kernel's counters. It saves a copy of them in a file, and later
 * calls show the difference.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats.h"

#define MAGIC		"SMCSTAT4"
#define FILE_FORMAT	"/tmp/.smcstats.u%u"

/* Counters belong to one boot of the kernel and to one network namespace */
struct baseline {
	char		magic[8];
	char		boot[40];
	uint64_t	netns_dev;
	uint64_t	netns_ino;
	struct stats	stats;
};

static void set_identity(struct baseline *base)
{
	struct stat st;
	ssize_t len;
	int fd;

	memset(base, 0, sizeof(*base));
	memcpy(base->magic, MAGIC, sizeof(base->magic));
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, base->boot, sizeof(base->boot) - 1);
		base->boot[len > 0 ? len : 0] = '\0';
		close(fd);
	}
	if (!stat("/proc/self/ns/net", &st)) {
		base->netns_dev = st.st_dev;
		base->netns_ino = st.st_ino;
	}
}

/* Other users may write to the folder: accept only a regular file that the user owns */
static int open_locked(int flags, int lock)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), FILE_FORMAT, geteuid());
	fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !flock(fd, lock))
		return fd;
	close(fd);
	return -1;
}

bool baseline_load(struct stats *stats)
{
	struct baseline now, then;
	ssize_t len;
	int fd;

	fd = open_locked(O_RDONLY, LOCK_SH);
	if (fd < 0)
		return false;
	len = read(fd, &then, sizeof(then));
	close(fd);
	set_identity(&now);
	if (len != sizeof(then) ||
	    memcmp(&now, &then, offsetof(struct baseline, stats)) ||
	    then.stats.client.reasons > STATS_REASONS ||
	    then.stats.server.reasons > STATS_REASONS)
		return false;
	*stats = then.stats;
	return true;
}

bool baseline_save(const struct stats *stats)
{
	struct baseline base;
	bool ok;
	int fd;

	fd = open_locked(O_RDWR | O_CREAT, LOCK_EX);
	if (fd < 0)
		return false;
	set_identity(&base);
	base.stats = *stats;
	ok = !ftruncate(fd, 0) &&
	     write(fd, &base, sizeof(base)) == (ssize_t)sizeof(base);
	return !close(fd) && ok;
}

static bool tech_grew(const struct tech_stats *now, const struct tech_stats *then)
{
	const uint64_t *n = (const uint64_t *)now, *t = (const uint64_t *)then;
	size_t i;

	for (i = 0; i < TECH_COUNTERS; i++)
		if (n[i] < t[i])
			return false;
	return true;
}

static void tech_subtract(struct tech_stats *now, const struct tech_stats *then)
{
	const uint64_t *t = (const uint64_t *)then;
	uint64_t *n = (uint64_t *)now;
	size_t i;

	for (i = 0; i < TECH_COUNTERS; i++)
		n[i] -= t[i];
}

static uint64_t reason_count(const struct side_stats *side, uint64_t code)
{
	size_t i;

	for (i = 0; i < side->reasons; i++)
		if (side->reason[i].code == code)
			return side->reason[i].count;
	return 0;
}

static bool side_grew(const struct side_stats *now, const struct side_stats *then)
{
	size_t i;

	for (i = 0; i < then->reasons; i++)
		if (reason_count(now, then->reason[i].code) < then->reason[i].count)
			return false;
	return now->handshake_errors >= then->handshake_errors &&
	       now->fallbacks >= then->fallbacks;
}

static void side_subtract(struct side_stats *now, const struct side_stats *then)
{
	size_t i;

	now->handshake_errors -= then->handshake_errors;
	now->fallbacks -= then->fallbacks;
	for (i = 0; i < now->reasons; i++)
		now->reason[i].count -= reason_count(then, now->reason[i].code);
}

static bool own_grew(const struct own_stats *now, const struct own_stats *then)
{
	const uint64_t *n = (const uint64_t *)now, *t = (const uint64_t *)then;
	size_t i;

	for (i = 0; i < OWN_COUNTERS; i++)
		if (n[i] < t[i])
			return false;
	return true;
}

static void own_subtract(struct own_stats *now, const struct own_stats *then)
{
	const uint64_t *t = (const uint64_t *)then;
	uint64_t *n = (uint64_t *)now;
	size_t i;

	for (i = 0; i < OWN_COUNTERS; i++)
		n[i] -= t[i];
}

bool stats_subtract(struct stats *now, const struct stats *then)
{
	if (!tech_grew(&now->smcd, &then->smcd) ||
	    !tech_grew(&now->smcr, &then->smcr) ||
	    !side_grew(&now->client, &then->client) ||
	    !side_grew(&now->server, &then->server) ||
	    !own_grew(&now->own, &then->own))
		return false;
	tech_subtract(&now->smcd, &then->smcd);
	tech_subtract(&now->smcr, &then->smcr);
	side_subtract(&now->client, &then->client);
	side_subtract(&now->server, &then->server);
	own_subtract(&now->own, &then->own);
	return true;
}
