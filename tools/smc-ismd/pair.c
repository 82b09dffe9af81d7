// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection and disconnection of machines, and start and end of their pairs. The order of the
 * steps allows this process to be killed after each of them: the number of a machine tells whether
 * it is connected, and a successor completes the steps that follow from that.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "keep.h"
#include "log.h"
#include "pair.h"
#include "place.h"

/* Names of stored descriptors: memory, listeners, clients and vectors of a slot */
#define MEMORY_NAME	"m.%u.%u"
#define LISTENER_NAME	"l.%u.%u"
#define CLIENT_NAME	"c.%u.%u.%u"
#define VECTOR_NAME	"v.%u.%u.%u.%u"

/* the kernel reports EPOLLOUT whenever it frees a message */
#define FORMER_EVENTS	(EPOLLOUT | EPOLLET)

static const struct host *host;
static struct pair *pairs;
static bool retry, in_flight_logged;
static unsigned int joins_in_a_row = JOINS_DEFAULT;

static struct end *get_other_end(const struct end *end)
{
	return &end->pair->end[!end->side];
}

static bool is_pending(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, 0) > 0;
}

bool end_has_queue(const struct end *end)
{
	return (end->client.fd >= 0 || end->former.fd >= 0) && end->listener.fd >= 0 &&
	       is_pending(end->listener.fd);
}

bool end_is_behind(const struct end *end)
{
	return end->client.fd >= 0 &&
	       protocol_next(&end->kept->progress, end->kept->id, get_other_end(end)->kept->id,
			     end->pair->kept->vectors).kind != MESSAGE_NONE;
}

static unsigned int count_connections(void)
{
	const struct pair *pair;
	unsigned int count = 0;
	int side;

	for (pair = pairs; pair; pair = pair->next)
		for (side = 0; side < 2; side++)
			count += pair->end[side].client.fd >= 0 || pair->end[side].former.fd >= 0;
	return count;
}

unsigned int pairs_in_flight(unsigned int connections)
{
	return connections * IN_FLIGHT_MAX + (keep_has_store() ? KEEP_IN_FLIGHT_MAX : 0);
}

static bool holds_unread(const struct end *end)
{
	return (end->client.fd >= 0 && client_has_unread(end->client.fd)) || end->former.fd >= 0;
}

/* Clients alone cannot reach the limit: another process of this user has descriptors in flight */
static void log_in_flight(const struct end *waits)
{
	const struct end *first = NULL, *end;
	const struct pair *pair;
	unsigned int count = 0;

	if (in_flight_logged)
		return;
	in_flight_logged = true;
	for (pair = pairs; pair; pair = pair->next) {
		for (end = pair->end; end < pair->end + 2; end++) {
			if (!holds_unread(end))
				continue;
			count++;
			first = first ? first : end;
		}
	}
	client_log(waits, LOG_ERR, "must wait: this user has too many descriptors in flight; "
		   "%u clients hold at most %u each", count, IN_FLIGHT_MAX);
	if (first)
		client_log(first, LOG_ERR, "is the first of them");
}

static void tell_client(struct end *end)
{
	if (end->client.fd < 0 || client_tell(end))
		return;
	if (errno == ETOOMANYREFS)
		log_in_flight(end);
	retry = true;
}

/* Both machines are gone: the next one gets new memory, without data of its predecessor */
static void drop_memory(struct pair *pair)
{
	uint32_t number = pair->kept->memory;

	if (pair->memory < 0 || pair->end[0].kept->id || pair->end[1].kept->id)
		return;
	pair->kept->memory = 0;
	state_barrier();
	keep_remove(MEMORY_NAME, pair->slot, number);
	close(pair->memory);
	pair->memory = -1;
}

static bool make_memory(struct pair *pair)
{
	struct kept_pair *kept = pair->kept;
	uint32_t number = memory_number();

	if (pair->memory >= 0)
		return true;
	pair->memory = memory_create(kept->next_size);
	if (pair->memory < 0)
		return false;
	if (memory_write_facts(pair->memory, kept->next_size, host, number, kept->next_vectors)) {
		close(pair->memory);
		pair->memory = -1;
		return false;
	}
	keep_add(pair->memory, MEMORY_NAME, pair->slot, number);
	kept->size = kept->next_size;
	kept->vectors = kept->next_vectors;
	state_barrier();
	kept->memory = number;
	return true;
}

static void write_presence(const struct end *end)
{
	const struct pair *pair = end->pair;

	if (memory_write_presence(pair->memory, pair->kept->size, end->side, end->kept->id,
				  end->kept->joins))
		client_log(end, LOG_WARNING, "cannot be announced in the memory: %s",
			   strerror(errno));
}

static void forget_vectors(struct end *end, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < end->pair->kept->vectors; i++)
		keep_remove(VECTOR_NAME, end->pair->slot, end->side, id, i);
	client_close_vectors(end);
}

static void admit_client(struct end *end);

/* The former client has the last number given out, because no other client is accepted meanwhile */
static void close_former(struct end *end)
{
	keep_remove(CLIENT_NAME, end->pair->slot, end->side, end->kept->numbers.last);
	loop_close(&end->former);
}

static void handle_former(struct watch *watch, uint32_t events)
{
	struct end *end = watch->owner;

	if (client_has_unread(watch->fd))
		return;
	close_former(end);
	admit_client(end);
}

/* A client that hangs up may hold unread messages, and could connect again to get more of them. */
static void close_client(struct end *end, uint32_t id)
{
	if (end->client.fd >= 0 && client_has_unread(end->client.fd)) {
		loop_move(&end->client, &end->former, FORMER_EVENTS);
		return;
	}
	keep_remove(CLIENT_NAME, end->pair->slot, end->side, id);
	loop_close(&end->client);
}

static void handle_leave(struct end *end)
{
	struct pair *pair = end->pair;
	uint32_t id = end->kept->id;

	if (!end->quiet)
		client_log(end, LOG_INFO, "is gone: number %u", id);
	end->kept->id = 0;
	state_barrier();
	write_presence(end);
	tell_client(get_other_end(end));
	client_ring(get_other_end(end));
	forget_vectors(end, id);
	close_client(end, id);
	drop_memory(pair);
	end->refused = false;
	get_other_end(end)->refused = false;
	admit_client(end);
	admit_client(get_other_end(end));
}

static void handle_client(struct watch *watch, uint32_t events)
{
	struct end *end = watch->owner;

	if (events & (EPOLLHUP | EPOLLERR))
		handle_leave(end);
	else
		tell_client(end);
}

static void watch_client(struct end *end)
{
	client_bound_unread(end->client.fd);
	client_close_input(end->client.fd);
	loop_add(&end->client, EPOLLOUT | EPOLLET);
}

static void refuse_client(struct end *end, const char *why)
{
	if (!end->refused)
		client_log(end, LOG_ERR, "must wait: %s", why);
	end->refused = true;
}

/*
 * Prepare everything that a client needs before it is accepted: a client whose connection is
 * accepted and closed would loop forever.
 *
 * Return: its number, or 0.
 */
static uint32_t prepare_client(struct end *end)
{
	struct pair *pair = end->pair;
	unsigned int i;
	uint32_t id;

	if (!make_memory(pair) || !client_make_vectors(end, pair->kept->vectors)) {
		refuse_client(end, strerror(errno));
		retry = true;
		return 0;
	}
	id = protocol_number(&end->kept->numbers, end->side, get_other_end(end)->client.fd >= 0);
	if (!id) {
		client_close_vectors(end);
		refuse_client(end, "the other machine has seen all numbers, and has to go first");
		return 0;
	}
	for (i = 0; i < pair->kept->vectors; i++)
		keep_add(end->vector[i], VECTOR_NAME, pair->slot, end->side, id, i);
	return id;
}

/*
 * The number is stored first, so that a successor has only to find the client. If this process is
 * killed after accept() and before the descriptor is stored, the client is lost; no call does both.
 */
static bool accept_client(struct end *end, uint32_t id)
{
	struct kept_end *kept = end->kept;

	kept->progress = (struct progress){ 0 };
	state_barrier();
	kept->id = id;
	state_barrier();
	end->client.fd = accept4(end->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (end->client.fd >= 0) {
		keep_add(end->client.fd, CLIENT_NAME, end->pair->slot, end->side, id);
		return true;
	}
	kept->id = 0;
	state_barrier();
	if (errno != EAGAIN) {
		refuse_client(end, strerror(errno));
		retry = true;
	}
	forget_vectors(end, id);
	return false;
}

static uint64_t get_milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

/* Limit the rate: each client causes messages to the service manager and lines in the journal */
static bool has_patience(struct end *end)
{
	if (rate_allows(&end->joins, get_milliseconds(), joins_in_a_row))
		return true;
	if (!end->quiet)
		client_log(end, LOG_WARNING,
			   "connects too often: one client a second is accepted, and is not logged");
	end->quiet = true;
	retry = true;
	return false;
}

static void log_arrival(struct end *end)
{
	if (end->quiet && rate_is_calm(&end->joins, get_milliseconds())) {
		client_log(end, LOG_NOTICE, "connected %u times without a log line", end->unlogged);
		end->unlogged = 0;
		end->quiet = false;
	}
	if (end->quiet)
		end->unlogged++;
	else
		client_log_arrival(end);
}

static void welcome_client(struct end *end)
{
	end->kept->joins++;
	get_other_end(end)->kept->numbers.since = get_other_end(end)->client.fd >= 0;
	end->refused = false;
	write_presence(end);
	log_arrival(end);
	rate_count(&end->joins, get_milliseconds());
	watch_client(end);
	tell_client(end);
	tell_client(get_other_end(end));
	client_ring(get_other_end(end));
}

/*
 * Limit the messages that clients can leave unread: IN_FLIGHT_MAX for each connection, and the
 * messages to the service manager, must fit the limit of open files.
 */
static bool has_budget(struct end *end)
{
	unsigned int count = pairs_in_flight(count_connections() + 1);
	struct rlimit limit;

	if (end->former.fd >= 0) {
		refuse_client(end, "the client before has hung up and not read all");
		return false;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) || count <= limit.rlim_cur)
		return true;
	refuse_client(end, "too many descriptors would be in flight");
	retry = true;
	return false;
}

static void admit_client(struct end *end)
{
	uint32_t id;

	if (!end->pair->allowed || end->client.fd >= 0 || end->listener.fd < 0 ||
	    !is_pending(end->listener.fd) || !has_budget(end) || !has_patience(end))
		return;
	id = prepare_client(end);
	if (id && accept_client(end, id))
		welcome_client(end);
	else
		drop_memory(end->pair);
}

static void handle_vm_listener(struct watch *watch, uint32_t events)
{
	struct end *end = watch->owner;

	if (end->client.fd < 0)
		admit_client(end);
	else if (end_has_queue(end) && !end->quiet)
		client_log(end, LOG_WARNING, "is connected already: a second client waits");
}

static void open_listener(struct end *end)
{
	const char *vm = end->pair->kept->name[end->side];
	const char *peer = end->pair->kept->name[!end->side];

	if (end->listener.fd >= 0 && place_check(vm, peer, end->user))
		return;
	if (end->listener.fd >= 0) {
		keep_remove(LISTENER_NAME, end->pair->slot, end->side);
		loop_close(&end->listener);
	}
	end->listener.fd = place_listen(vm, peer, end->user);
	if (end->listener.fd < 0)
		return;
	keep_add(end->listener.fd, LISTENER_NAME, end->pair->slot, end->side);
	loop_add(&end->listener, EPOLLIN | EPOLLET);
}

static void close_listener(struct end *end)
{
	if (end->listener.fd < 0)
		return;
	place_remove(end->pair->kept->name[end->side], end->pair->kept->name[!end->side]);
	keep_remove(LISTENER_NAME, end->pair->slot, end->side);
	loop_close(&end->listener);
}

static void init_end(struct pair *pair, uint32_t side)
{
	struct end *end = &pair->end[side];
	unsigned int i;

	end->pair = pair;
	end->side = side;
	end->kept = &pair->kept->end[side];
	end->user = NO_USER;
	end->listener = (struct watch){ .fd = -1, .ready = handle_vm_listener, .owner = end };
	end->client = (struct watch){ .fd = -1, .ready = handle_client, .owner = end };
	end->former = (struct watch){ .fd = -1, .ready = handle_former, .owner = end };
	for (i = 0; i < SMC_ISM_SHMEM_VECTORS_MAX; i++)
		end->vector[i] = -1;
}

static struct pair *create_pair(struct kept_pair *kept)
{
	struct pair *pair = calloc(1, sizeof(*pair)), **last = &pairs;

	if (!pair)
		abort();
	while (*last)
		last = &(*last)->next;
	*last = pair;
	pair->kept = kept;
	pair->slot = kept - state_slots();
	pair->memory = -1;
	init_end(pair, 0);
	init_end(pair, 1);
	return pair;
}

static bool adopt_client(struct end *end)
{
	const struct pair *pair = end->pair;
	uint32_t id = end->kept->id;
	bool whole = pair->memory >= 0;
	unsigned int i;

	end->client.fd = keep_take(CLIENT_NAME, pair->slot, end->side, id);
	for (i = 0; i < pair->kept->vectors; i++) {
		end->vector[i] = keep_take(VECTOR_NAME, pair->slot, end->side, id, i);
		whole = whole && end->vector[i] >= 0;
	}
	return whole && end->client.fd >= 0;
}

/*
 * A client may have hung up meanwhile. epoll reports that, unless the manager has closed the
 * socket.
 */
static void adopt_clients(struct pair *pair)
{
	bool there[2] = { false, false };
	struct end *end;
	int side;

	for (side = 0; side < 2; side++) {
		end = &pair->end[side];
		if (!end->kept->id)
			continue;
		client_settle(end);
		there[side] = adopt_client(end);
		if (there[side])
			watch_client(end);
	}
	for (side = 0; side < 2; side++) {
		end = &pair->end[side];
		if (end->kept->id && !there[side])
			handle_leave(end);
		/* an earlier process may have been killed during this */
		if (pair->memory >= 0)
			write_presence(end);
	}
	for (side = 0; side < 2; side++) {
		tell_client(&pair->end[side]);
		client_ring(&pair->end[side]);
	}
}

static void adopt_former(struct end *end)
{
	if (end->kept->id)
		return;
	end->former.fd = keep_take(CLIENT_NAME, end->pair->slot, end->side,
				   end->kept->numbers.last);
	if (end->former.fd >= 0)
		loop_add(&end->former, FORMER_EVENTS);
}

static void adopt_pair(struct kept_pair *kept)
{
	struct pair *pair = create_pair(kept);
	int side;

	if (kept->memory)
		pair->memory = keep_take(MEMORY_NAME, pair->slot, kept->memory);
	for (side = 0; side < 2; side++) {
		pair->end[side].listener.fd = keep_take(LISTENER_NAME, pair->slot, side);
		if (pair->end[side].listener.fd >= 0)
			loop_add(&pair->end[side].listener, EPOLLIN | EPOLLET);
		adopt_former(&pair->end[side]);
	}
	adopt_clients(pair);
	drop_memory(pair);
	/* without a valid policy, the pair continues with its listeners */
	pair->allowed = pair->end[0].listener.fd >= 0 && pair->end[1].listener.fd >= 0;
}

unsigned int pairs_init(const struct host *host_facts)
{
	struct kept_pair *slots = state_slots();
	unsigned int i, count = 0;

	host = host_facts;
	for (i = 0; i < SLOTS; i++) {
		if (!slots[i].used)
			continue;
		adopt_pair(&slots[i]);
		count++;
	}
	return count;
}

static struct pair *find_pair(const struct policy_pair *wanted)
{
	struct pair *pair;

	for (pair = pairs; pair; pair = pair->next)
		if (!strcmp(pair->kept->name[0], wanted->vm[0]->name) &&
		    !strcmp(pair->kept->name[1], wanted->vm[1]->name))
			return pair;
	return NULL;
}

static struct pair *new_pair(const struct policy_pair *wanted)
{
	struct kept_pair *kept = state_slot();

	if (!kept) {
		log_line(LOG_ERR, "%s/%s: too many removed pairs are still in use",
			 wanted->vm[0]->name, wanted->vm[1]->name);
		return NULL;
	}
	strcpy(kept->name[0], wanted->vm[0]->name);
	strcpy(kept->name[1], wanted->vm[1]->name);
	kept->next_size = wanted->size;
	kept->next_vectors = wanted->vectors;
	state_barrier();
	kept->used = 1;
	return create_pair(kept);
}

static void apply_pair(const struct policy_pair *wanted)
{
	struct pair *pair = find_pair(wanted);
	int side;

	if (!pair)
		pair = new_pair(wanted);
	if (!pair)
		return;
	pair->allowed = true;
	pair->kept->next_size = wanted->size;
	pair->kept->next_vectors = wanted->vectors;
	for (side = 0; side < 2; side++) {
		pair->end[side].user = wanted->vm[side]->user;
		open_listener(&pair->end[side]);
		admit_client(&pair->end[side]);
	}
}

void pairs_apply(const struct policy *policy)
{
	struct pair *pair;
	unsigned int i;

	joins_in_a_row = policy->joins;
	for (pair = pairs; pair; pair = pair->next)
		pair->allowed = false;
	for (i = 0; i < policy->pairs; i++)
		apply_pair(&policy->pair[i]);
	for (pair = pairs; pair; pair = pair->next) {
		if (pair->allowed)
			continue;
		close_listener(&pair->end[0]);
		close_listener(&pair->end[1]);
	}
}

static bool is_used(const struct end *end)
{
	return end->kept->id || end->former.fd >= 0;
}

void pairs_sweep(void)
{
	struct pair **at = &pairs, *pair;

	while ((pair = *at)) {
		if (pair->allowed || is_used(&pair->end[0]) || is_used(&pair->end[1])) {
			at = &pair->next;
			continue;
		}
		*at = pair->next;
		pair->kept->used = 0;
		free(pair);
	}
}

bool pairs_retry(void)
{
	struct pair *pair;
	int side;

	if (!retry)
		return false;
	retry = false;
	for (pair = pairs; pair; pair = pair->next) {
		for (side = 0; side < 2; side++) {
			admit_client(&pair->end[side]);
			tell_client(&pair->end[side]);
		}
	}
	in_flight_logged = in_flight_logged && retry;
	return retry;
}

bool end_is_held(const struct end *end)
{
	return end->former.fd >= 0;
}

const struct pair *pairs_first(void)
{
	return pairs;
}
