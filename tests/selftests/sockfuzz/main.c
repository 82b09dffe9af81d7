// SPDX-License-Identifier: GPL-2.0-only
/* The command line, the threads, and what they do next */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "sockfuzz.h"

#define BURST	8

struct options options = { .seconds = 10, .threads = 8, .slots = 4, .scale = 1, .harm = 1 };

static struct thread threads[MAX_THREADS];
static bool over;

static void usage(void)
{
	int i;

	fprintf(stderr,
		"usage: sockfuzz [-s SEED] [-t SECONDS] [-n THREADS] [-c CONNECTIONS] [-m KIND]...\n"
		"                [-p SCALE] [-q HARM]\n"
		"  -s  seed; the same one has the same plan (random)\n"
		"  -t  for how long (10)\n"
		"  -n  number of threads (8)\n"
		"  -c  connections at a time (4)\n"
		"  -m  only connections of these kinds:");
	for (i = 0; i < nr_kinds; i++)
		fprintf(stderr, " %s", kinds[i].name);
	fprintf(stderr,
		"\n  -p  multiplies the time after which a call hangs (1)\n"
		"  -q  the higher, the more seldom connections are ended (1)\n");
	exit(2);
}

static void add_kind(const char *name)
{
	int i;

	for (i = 0; i < nr_kinds; i++)
		if (!strcmp(kinds[i].name, name))
			break;
	if (i == nr_kinds)
		usage();
	options.kinds |= 1u << i;
}

static void parse(int argc, char **argv)
{
	int opt;

	if (getrandom(&options.seed, sizeof(options.seed), 0) != sizeof(options.seed))
		usage();
	options.seed %= 1000000;
	while ((opt = getopt(argc, argv, "s:t:n:c:m:p:q:")) != -1) {
		switch (opt) {
		case 's':
			options.seed = atoll(optarg);
			break;
		case 't':
			options.seconds = atoi(optarg);
			break;
		case 'n':
			options.threads = atoi(optarg);
			break;
		case 'c':
			options.slots = atoi(optarg);
			break;
		case 'm':
			add_kind(optarg);
			break;
		case 'p':
			options.scale = atoi(optarg);
			break;
		case 'q':
			options.harm = atoi(optarg);
			break;
		default:
			usage();
		}
	}
	if (!options.kinds)
		options.kinds = (1u << nr_kinds) - 1;
	if (optind < argc || options.threads < 1 || options.threads > MAX_THREADS ||
	    options.slots < 1 || options.slots > MAX_SLOTS)
		usage();
	options.root = !geteuid();
}

/* Moving data is what most calls do, or nothing else could disturb it */
static const struct {
	void (*act)(struct slot *slot, int end);
	int weight;
} acts[] = {
	{ do_send, 40 }, { do_receive, 40 }, { do_option, 8 }, { do_wait, 6 }, { do_file, 6 },
	{ do_name, 2 },
};

static void act_on(struct slot *slot)
{
	int end = random_below(2), all = 0, chosen, i;

	if (one_in(10 * slot->temper)) {
		do_harm(slot, end);
		return;
	}
	for (i = 0; i < (int)(sizeof(acts) / sizeof(*acts)); i++)
		all += acts[i].weight;
	chosen = random_below(all);
	for (i = 0; chosen >= acts[i].weight; i++)
		chosen -= acts[i].weight;
	acts[i].act(slot, end);
}

static void *run_thread(void *arg)
{
	int left;

	me = arg;
	self_start();
	while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
		struct slot *slot = &slots[random_below(options.slots)];

		if (slot->dead && !one_in(3))
			slot_open(slot);
		for (left = 1 + random_below(BURST); left; left--)
			act_on(slot);
		for (left = random_below(4); left; left--)
			do_stray();
		if (one_in(20))
			do_self();
	}
	self_end();
	return NULL;
}

static void start_threads(void)
{
	int i;

	for (i = 0; i < options.threads; i++) {
		threads[i].number = i;
		threads[i].random = options.seed * 1000003 + i * 7919;
		if (pthread_create(&threads[i].pthread, NULL, run_thread, &threads[i]))
			fail("cannot start a thread");
	}
}

int main(int argc, char **argv)
{
	unsigned long calls;
	int i;

	parse(argc, argv);
	pattern_check_self();
	self_catch_signals();
	printf("TAP version 13\n1..1\n# seed %llu\n", (unsigned long long)options.seed);
	fflush(stdout);
	for (i = 0; i < options.slots; i++)
		slot_init(&slots[i], i);
	stray_init();
	start_threads();
	call_watch(threads, options.threads, &over);
	printf("#       calls      good        ms\n");
	calls = call_tell_counts();
	printf("%s 1 - %lu calls of %d threads in %d seconds\n", calls ? "ok" : "not ok", calls,
	       options.threads, options.seconds);
	return !calls;
}
