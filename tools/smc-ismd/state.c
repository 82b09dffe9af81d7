// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"
#include "state.h"

#define STATE_NAME	"state"
#define STATE_MAGIC	0x646d7369

/* must change with the layout; a successor that does not know the version ends all pairs */
#define STATE_VERSION	1

struct state {
	uint32_t magic;
	uint32_t version;
	uint64_t size;
	uint32_t restarts;
	struct kept_pair slots[SLOTS];
};

static struct state *state;

static struct state *map_state(int fd)
{
	void *map = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

static bool adopt_state(void)
{
	int fd = keep_take(STATE_NAME);
	struct stat status;

	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && status.st_size == sizeof(*state))
		state = map_state(fd);
	if (state && state->magic == STATE_MAGIC && state->version == STATE_VERSION &&
	    state->size == sizeof(*state))
		return true;
	log_line(LOG_ERR, "the state of the last process has another version: its pairs end");
	keep_remove(STATE_NAME);
	close(fd);
	return false;
}

static void create_state(void)
{
	int fd = memfd_create("smc-ismd", MFD_CLOEXEC);

	state = NULL;
	if (fd >= 0 && !ftruncate(fd, sizeof(*state)))
		state = map_state(fd);
	if (!state)
		log_fatal("state: %s", strerror(errno));
	state->size = sizeof(*state);
	state->version = STATE_VERSION;
	state->magic = STATE_MAGIC;
	keep_add(fd, STATE_NAME);
}

bool state_init(void)
{
	if (adopt_state()) {
		state->restarts++;
		return true;
	}
	create_state();
	return false;
}

unsigned int state_restarts(void)
{
	return state->restarts;
}

struct kept_pair *state_slots(void)
{
	return state->slots;
}

struct kept_pair *state_slot(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		if (state->slots[i].used)
			continue;
		memset(&state->slots[i], 0, sizeof(state->slots[i]));
		return &state->slots[i];
	}
	return NULL;
}
