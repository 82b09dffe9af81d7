// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ism_shmem.h"
#include "log.h"
#include "memory.h"

#define SEED_FILE	"host-seed"
#define PATH_BYTES	4096

static_assert(offsetof(struct smc_ism_shmem_facts, host_seed) == 12, "facts");
static_assert(offsetof(struct smc_ism_shmem_facts, id) == 64, "facts");
static_assert(sizeof(struct smc_ism_shmem_facts) == 72, "facts");
static_assert(offsetof(struct smc_ism_shmem_head, echo) == 64, "head");
static_assert(offsetof(struct smc_ism_shmem_head, queue) == 128, "head");
static_assert(sizeof(struct smc_ism_shmem_queue) == 128, "queue");

/* Space for all units of the largest half, and for an entry of each unit and each of four types */
static_assert((SMC_ISM_SHMEM_SIZE_MAX / 2 - SMC_ISM_SHMEM_HEAP) / SMC_ISM_SHMEM_UNIT <=
	      SMC_ISM_SHMEM_UNITS_MAX, "units");
static_assert(SMC_ISM_SHMEM_REG + 4 * SMC_ISM_SHMEM_UNITS_MAX == SMC_ISM_SHMEM_ATT, "reg");
static_assert(SMC_ISM_SHMEM_ATT + 4 * SMC_ISM_SHMEM_UNITS_MAX <= SMC_ISM_SHMEM_RING, "att");
static_assert(SMC_ISM_SHMEM_ENTRIES >= 4 * SMC_ISM_SHMEM_UNITS_MAX, "entries");
static_assert(SMC_ISM_SHMEM_RING + 4 * SMC_ISM_SHMEM_ENTRIES <= SMC_ISM_SHMEM_HEAP, "ring");

int memory_create(uint64_t size)
{
	int fd = memfd_create("smc-ism", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	/* a machine that could shrink it would kill the other one with SIGBUS */
	if (!ftruncate(fd, size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -1;
}

/*
 * Write with pwrite(), because that fails if no memory is left, whereas an access to a mapping
 * would kill the daemon. The magic is written last.
 */
static int write_half_facts(int fd, off_t at, struct smc_ism_shmem_facts *facts)
{
	__le32 magic = htole32(SMC_ISM_SHMEM_FACTS_MAGIC);

	if (pwrite(fd, facts, sizeof(*facts), at) != sizeof(*facts) ||
	    pwrite(fd, &magic, sizeof(magic), at) != sizeof(magic))
		return -1;
	return 0;
}

static off_t facts_at(uint64_t size, uint32_t side)
{
	return (side ? size / 2 : 0) + SMC_ISM_SHMEM_FACTS;
}

int memory_write_facts(int fd, uint64_t size, const struct host *host, uint32_t pair,
		       uint32_t vectors)
{
	struct smc_ism_shmem_facts facts = {
		.version = htole16(SMC_ISM_SHMEM_VERSION),
		.fabric = htole16(host->fabric),
		.vectors = htole32(vectors),
		.pair = htole32(pair),
	};
	uint32_t side;

	memcpy(facts.host_seed, host->seed, sizeof(facts.host_seed));
	for (side = 0; side < 2; side++) {
		facts.side = htole32(side);
		if (write_half_facts(fd, facts_at(size, side), &facts))
			return -1;
	}
	return 0;
}

/*
 * Open the memory again: clients have the same open file description, and pwrite() fails if one of
 * them sets O_APPEND.
 */
static int open_own(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

int memory_write_presence(int fd, uint64_t size, uint32_t side, uint32_t id, uint32_t joins)
{
	off_t at = facts_at(size, side) + offsetof(struct smc_ism_shmem_facts, id);
	__le32 words[2] = { htole32(id), htole32(joins) };
	int own = open_own(fd), ret;

	/* all descriptors may be in use */
	ret = pwrite(own < 0 ? fd : own, words, sizeof(words), at) == sizeof(words) ? 0 : -1;
	if (own >= 0)
		close(own);
	return ret;
}

uint64_t memory_touched(int fd)
{
	struct stat status;

	return fstat(fd, &status) ? 0 : status.st_blocks / 2;
}

uint32_t memory_number(void)
{
	uint32_t number = 0;

	while (!number)
		if (getrandom(&number, sizeof(number), 0) < 0 && errno != EINTR)
			log_fatal("no random numbers: %s", strerror(errno));
	return number;
}

static bool read_seed(const char *path, uint8_t seed[HOST_SEED_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0 && errno == ENOENT)
		return false;
	if (fd < 0)
		log_fatal("%s: %s", path, strerror(errno));
	length = read(fd, seed, HOST_SEED_BYTES);
	close(fd);
	if (length != HOST_SEED_BYTES)
		log_fatal("%s: not %u bytes; remove it, and restart all machines", path,
			  HOST_SEED_BYTES);
	return true;
}

static void write_seed(const char *path, const uint8_t seed[HOST_SEED_BYTES])
{
	char temporary[PATH_BYTES + 8];
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, seed, HOST_SEED_BYTES) != HOST_SEED_BYTES || fsync(fd) ||
	    close(fd) || rename(temporary, path))
		log_fatal("%s: %s", path, strerror(errno));
}

void host_seed(const char *folder, uint8_t seed[HOST_SEED_BYTES])
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/" SEED_FILE, folder) >= (int)sizeof(path))
		log_fatal("%.60s...: name too long", folder);
	if (read_seed(path, seed))
		return;
	if (getrandom(seed, HOST_SEED_BYTES, 0) != HOST_SEED_BYTES)
		log_fatal("no random numbers: %s", strerror(errno));
	write_seed(path, seed);
}
