// SPDX-License-Identifier: GPL-2.0-only
/* The ports that links of a group connect, and link numbers: R-LG-03, R-LG-04, R-LG-14 */
#include <kunit/test.h>

#include "../../net/smc/rdma/topology.h"

/* Port @n with address @address */
static struct smc_link_port port(u8 n, u8 address)
{
	struct smc_link_port port = { .mac = { 2, 0, 0, 0, 0, n } };

	port.gid.bytes[0] = 0xfd;
	port.gid.bytes[14] = n;
	port.gid.bytes[15] = address;
	return port;
}

/* "ab": a link from local port a to the peer's port b */
static struct smc_link_pair pair(const char *name)
{
	return (struct smc_link_pair){ port(name[0], 1), port(name[1], 1) };
}

static unsigned int pairs(const char *names, struct smc_link_pair *out)
{
	unsigned int nr = 0;

	for (; *names; names += names[2] ? 3 : 2)
		out[nr++] = pair(names);
	return nr;
}

static void ports_are_compared(struct kunit *test)
{
	struct smc_link_port a = port(1, 1), other_address = port(1, 2), b = port(2, 1);

	KUNIT_EXPECT_TRUE(test, smc_link_is_same_port(&a, &a));
	KUNIT_EXPECT_TRUE(test, smc_link_is_same_port(&a, &other_address));
	KUNIT_EXPECT_FALSE(test, smc_link_is_same_port(&a, &b));
	memset(a.mac, 0, sizeof(a.mac));
	memset(b.mac, 0, sizeof(b.mac));
	KUNIT_EXPECT_FALSE(test, smc_link_is_same_port(&a, &b));
	KUNIT_EXPECT_TRUE(test, smc_link_is_same_port(&a, &a));
}

static void links_fit(struct kunit *test)
{
	static const struct {
		const char *links;
		const char *link;
		enum smc_link_fit fit;
	} cases[] = {
		{ "", "ab", SMC_FIT_SYMMETRIC },
		{ "ab", "ab", SMC_FIT_PARALLEL },
		{ "ab", "ad", SMC_FIT_ASYMMETRIC },
		{ "ab", "cb", SMC_FIT_ASYMMETRIC },
		{ "ab", "cd", SMC_FIT_SYMMETRIC },
		{ "ab cd", "cd", SMC_FIT_PARALLEL },
		{ "ab cd", "ad", SMC_FIT_ASYMMETRIC },
		{ "ab cd", "ef", SMC_FIT_SYMMETRIC },
	};
	struct smc_link_pair links[2], link;
	unsigned int i, nr;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		nr = pairs(cases[i].links, links);
		link = pair(cases[i].link);
		KUNIT_EXPECT_EQ_MSG(test, smc_link_fit(links, nr, &link), cases[i].fit, "%s + %s",
				    cases[i].links, cases[i].link);
	}
}

static void ports_are_offered(struct kunit *test)
{
	struct smc_link_port a = port('a', 1), b = port('b', 2), c = port('c', 1);
	struct smc_link_pair link = pair("ab");

	KUNIT_EXPECT_EQ(test, smc_link_offer(&link, 1, &a), 1);
	KUNIT_EXPECT_EQ(test, smc_link_offer(&link, 1, &b), 0);
	KUNIT_EXPECT_EQ(test, smc_link_offer(&link, 1, &c), 2);
	KUNIT_EXPECT_EQ(test, smc_link_offer(NULL, 0, &a), 2);
}

static void groups_have_a_class(struct kunit *test)
{
	static const struct {
		const char *links;
		enum smc_link_class class;
	} cases[] = {
		{ "", SMC_LINKS_NONE },
		{ "ab", SMC_LINKS_SINGLE },
		{ "ab ad", SMC_LINKS_ASYMMETRIC_LOCAL },
		{ "ab cb", SMC_LINKS_ASYMMETRIC_PEER },
		{ "ab cd", SMC_LINKS_SYMMETRIC },
		{ "ab ad cd", SMC_LINKS_SYMMETRIC },
		{ "ab ad cb", SMC_LINKS_SYMMETRIC },
		{ "ab ad af", SMC_LINKS_ASYMMETRIC_LOCAL },
	};
	struct smc_link_pair links[3];
	unsigned int i, nr;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		nr = pairs(cases[i].links, links);
		KUNIT_EXPECT_EQ_MSG(test, smc_link_class(links, nr), cases[i].class, "%s",
				    cases[i].links);
	}
}

/* Each number is used once before it is reused; 0 is never used */
static void numbers_come_late_again(struct kunit *test)
{
	bool given[256] = {};
	u8 used[2] = { 1, 77 }, last = 1;
	unsigned int i;

	for (i = 0; i < 253; i++) {
		last = smc_link_next_number(last, used, ARRAY_SIZE(used));
		KUNIT_ASSERT_TRUE(test, last && last != 1 && last != 77);
		KUNIT_ASSERT_TRUE_MSG(test, !given[last], "%u", last);
		given[last] = true;
	}
	KUNIT_EXPECT_EQ(test, smc_link_next_number(last, used, ARRAY_SIZE(used)), 2);
	KUNIT_EXPECT_EQ(test, smc_link_next_number(0, NULL, 0), 1);
}

static struct kunit_case topology_cases[] = {
	KUNIT_CASE(ports_are_compared),
	KUNIT_CASE(links_fit),
	KUNIT_CASE(ports_are_offered),
	KUNIT_CASE(groups_have_a_class),
	KUNIT_CASE(numbers_come_late_again),
	{}
};

static struct kunit_suite topology_suite = {
	.name = "smc_topology",
	.test_cases = topology_cases,
};

kunit_test_suite(topology_suite);
