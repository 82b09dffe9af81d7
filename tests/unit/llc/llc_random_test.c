// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random histories of two link groups. Ports go down and come back, messages wait, RMBs are
 * announced and withdrawn. Each time a port goes down, another link is left that works. So no
 * group may be lost, no link that works may go down, and both ends know the same keys.
 *
 *	LLC_RUNS=100000		number of histories
 *	LLC_SEED=N		the history of this seed only, with its messages
 */
#include <unistd.h>

#include <kunit/test.h>

#include "world.h"

#define RUNS		2000
#define MOST_RMBS	12

static bool is_left(const struct queue_pair *qp, unsigned int end, unsigned int port)
{
	unsigned int index = qp->link ? end_of(qp->link->group) - world.ends : 0;
	const struct smc_gid *gid;

	if (!qp->link || !adapter_is_up(qp) || !world_works(qp))
		return false;
	gid = index == end ? &qp->link->local.gid : &qp->link->peer.gid;
	return gid->bytes[1] != port;
}

/* Does a link work that does not need this port? */
static bool may_cut(unsigned int end, unsigned int port)
{
	unsigned int i;

	for (i = 0; i < SMCR_LINKS; i++)
		if (is_left(&world.ends[end].qps[i], end, port))
			return true;
	return false;
}

static unsigned int count_rmbs(unsigned int end)
{
	const struct smcr_rmb *rmb;
	unsigned int nr = 0;

	list_for_each_entry(rmb, &world.ends[end].rg.rmbs, list)
		nr++;
	return nr;
}

static void do_something(void)
{
	unsigned int end = world_random(ENDS);
	unsigned int port = world_random(world.setup.ports[end]);
	struct smcr_group *rg = &world.ends[end].rg;

	switch (world_random(8)) {
	case 0:
	case 1:
		if (may_cut(end, port))
			world_cut(end, port);
		break;
	case 2:
		/* For a moment */
		if (may_cut(end, port)) {
			world_cut(end, port);
			world_run(world_random(300));
			world_restore(end, port);
		}
		break;
	case 3:
	case 4:
		world_restore(end, port);
		break;
	case 5:
		world_hold(end, port, world_random(1500));
		break;
	case 6:
		if (rg->settled && count_rmbs(end) < MOST_RMBS)
			rmb_announce(rg);
		break;
	case 7:
		rmb_release(rg);
		break;
	}
}

/*
 * With one port, the server finds the client's second one at first contact only. With more ports
 * than the client, it may always offer one that the client does not reach.
 */
static bool may_have_two_links(void)
{
	const u8 *ports = world.setup.ports;

	return ports[SERVER] > 1 && ports[CLIENT] > 1 &&
	       (world.setup.lan || ports[SERVER] <= ports[CLIENT]);
}

static void run_history(unsigned int seed)
{
	struct setup setup = { .seed = seed };
	unsigned int i, k;

	setup.version = 1 + seed % 2;
	setup.lan = seed / 2 % 2;
	setup.ports[SERVER] = 1 + seed / 4 % PORTS;
	setup.ports[CLIENT] = 1 + seed / 12 % PORTS;
	world_start(&setup);
	for (i = 0; i < ENDS; i++) {
		world.ends[i].slowest_work = 1 + world_random(100);
		world.ends[i].slowest_message = 1 + world_random(50);
	}
	for (i = 0; i < 60 && !world.problem[0]; i++) {
		world_run(world_random(2) ? world_random(50) : world_random(3000));
		world_check_keys();
		do_something();
	}
	for (i = 0; i < ENDS; i++)
		for (k = 0; k < setup.ports[i]; k++)
			world_restore(i, k);
	world_run(15000);
	world_run_until(world_is_quiet, 2000);	/* the server may have just offered a link again */
	world_check_quiet();
	if (seed % 16 == 0 && may_have_two_links()) {
		world_run(1200 * HZ);
		for (i = 0; i < ENDS; i++)
			if (end_links(i) != 2)
				world_problem("%s: %u links", world_name(&world.ends[i].rg),
					      end_links(i));
	}
	world_end();
}

static unsigned int from_environment(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoul(value, NULL, 10) : otherwise;
}

static void histories(struct kunit *test)
{
	unsigned int runs = from_environment("LLC_RUNS", RUNS), failed = 0;
	unsigned int only = from_environment("LLC_SEED", 0), seed;

	KUNIT_ASSERT_GT(test, runs, 0);
	if (runs > RUNS)
		alarm(0);	/* no limit of time */
	world.is_verbose = only;
	for (seed = only ?: 1; seed <= (only ?: runs); seed++) {
		run_history(seed);
		if (!world.problem[0])
			continue;
		if (failed++ < 10)
			KUNIT_FAIL(test, "LLC_SEED=%u: %s", seed, world.problem);
	}
	KUNIT_EXPECT_EQ_MSG(test, failed, 0, "%u of %u fail", failed, runs);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(histories),
	{}
};

static struct kunit_suite suite = {
	.name = "llc_random",
	.test_cases = cases,
};

kunit_test_suite(suite);
