// SPDX-License-Identifier: GPL-2.0-only
/* The PNET table, and how an interface inherits the PNET id of a lower interface */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "../../net/smc/config/pnet.c"

static const struct smc_pnetid net_a = { "NETA            " };
static const struct smc_pnetid net_b = { "NETB            " };

static struct smc_pnet *table(struct kunit *test)
{
	return test->priv;
}

static int setup(struct kunit *test)
{
	struct smc_pnet *pnet = kunit_kzalloc(test, sizeof(*pnet), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pnet);
	smc_pnet_init(pnet);
	test->priv = pnet;
	return 0;
}

static void teardown(struct kunit *test)
{
	smc_pnet_flush(table(test));
}

/* Names and ports of all entries, as text */
static const char *contents(struct kunit *test)
{
	struct smc_pnet_entry entry = {};
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	int len = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	while (smc_pnet_next(table(test), entry.serial, &entry))
		len += scnprintf(text + len, PAGE_SIZE - len, "%.4s %s %u\n",
				 entry.pnetid.text, entry.name, entry.port);
	return text;
}

static void pnet_empty(struct kunit *test)
{
	struct smc_pnetid id;

	KUNIT_EXPECT_STREQ(test, contents(test), "");
	KUNIT_EXPECT_EQ(test, smc_pnet_remove(table(test), &net_a), -ENOENT);
	KUNIT_EXPECT_FALSE(test, smc_pnet_find_device(table(test), "lo", 1, &id));
	smc_pnet_flush(table(test));
}

static void pnet_add_remove(struct kunit *test)
{
	struct smc_pnet *pnet = table(test);

	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_a, "eth0", NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_b, NULL, "rxe0", 2), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_a, "eth1", "rxe1", 1), 0);
	KUNIT_EXPECT_STREQ(test, contents(test),
			   "NETA eth0 0\nNETB rxe0 2\nNETA eth1 0\nNETA rxe1 1\n");

	KUNIT_EXPECT_EQ(test, smc_pnet_remove(pnet, &net_a), 0);
	KUNIT_EXPECT_STREQ(test, contents(test), "NETB rxe0 2\n");
	KUNIT_EXPECT_EQ(test, smc_pnet_remove(pnet, &net_a), -ENOENT);
}

/* If either one exists already, nothing changes */
static void pnet_exists(struct kunit *test)
{
	struct smc_pnet *pnet = table(test);
	const char *before;

	KUNIT_ASSERT_EQ(test, smc_pnet_add(pnet, &net_a, "eth0", "rxe0", 1), 0);
	before = contents(test);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_b, "eth0", NULL, 0), -EEXIST);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_a, NULL, "rxe0", 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_b, "eth1", "rxe0", 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_b, "eth0", "rxe1", 1), -EEXIST);
	KUNIT_EXPECT_STREQ(test, contents(test), before);

	/* Another port, and an interface with the device's name, are different entries */
	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_b, "rxe0", "rxe0", 2), 0);
}

static void pnet_find_device(struct kunit *test)
{
	struct smc_pnet *pnet = table(test);
	struct smc_pnetid id;

	KUNIT_ASSERT_EQ(test, smc_pnet_add(pnet, &net_a, "rxe0", NULL, 0), 0);
	KUNIT_EXPECT_FALSE(test, smc_pnet_find_device(pnet, "rxe0", 1, &id));
	KUNIT_ASSERT_EQ(test, smc_pnet_add(pnet, &net_b, NULL, "rxe0", 1), 0);
	KUNIT_EXPECT_TRUE(test, smc_pnet_find_device(pnet, "rxe0", 1, &id));
	KUNIT_EXPECT_TRUE(test, smc_pnetid_equal(&id, &net_b));
	KUNIT_EXPECT_FALSE(test, smc_pnet_find_device(pnet, "rxe0", 2, &id));
	KUNIT_EXPECT_FALSE(test, smc_pnet_find_device(pnet, "rxe", 1, &id));
	KUNIT_EXPECT_FALSE(test, smc_pnet_find_device(pnet, "rxe00", 1, &id));
}

/* A walk continues behind its last entry, even if that was removed */
static void pnet_walk_resumes(struct kunit *test)
{
	struct smc_pnet *pnet = table(test);
	struct smc_pnet_entry entry;

	KUNIT_ASSERT_EQ(test, smc_pnet_add(pnet, &net_a, "eth0", NULL, 0), 0);
	KUNIT_ASSERT_EQ(test, smc_pnet_add(pnet, &net_b, "eth1", NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, smc_pnet_next(pnet, 0, &entry));
	KUNIT_EXPECT_STREQ(test, entry.name, "eth0");
	smc_pnet_remove(pnet, &net_a);
	KUNIT_ASSERT_EQ(test, smc_pnet_add(pnet, &net_a, "eth2", NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, smc_pnet_next(pnet, entry.serial, &entry));
	KUNIT_EXPECT_STREQ(test, entry.name, "eth1");
	KUNIT_ASSERT_TRUE(test, smc_pnet_next(pnet, entry.serial, &entry));
	KUNIT_EXPECT_STREQ(test, entry.name, "eth2");
	KUNIT_EXPECT_FALSE(test, smc_pnet_next(pnet, entry.serial, &entry));
}

static void pnet_longest_name(struct kunit *test)
{
	struct smc_pnet *pnet = table(test);
	char name[SMC_PNET_NAME_LEN];
	struct smc_pnetid id;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	KUNIT_ASSERT_EQ(test, smc_pnet_add(pnet, &net_a, NULL, name, 6), 0);
	KUNIT_EXPECT_TRUE(test, smc_pnet_find_device(pnet, name, 6, &id));
	name[sizeof(name) - 2] = '\0';
	KUNIT_EXPECT_FALSE(test, smc_pnet_find_device(pnet, name, 6, &id));
}

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops dev_ops = {
	.ndo_start_xmit = drop,
};

static struct net_device *create_dev(struct kunit *test, const char *name)
{
	struct net_device *dev = alloc_netdev(0, name, NET_NAME_UNKNOWN, ether_setup);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->netdev_ops = &dev_ops;
	if (register_netdev(dev)) {
		free_netdev(dev);
		KUNIT_FAIL(test, "cannot register %s", name);
		return NULL;
	}
	return dev;
}

static void destroy_dev(struct net_device *dev)
{
	if (!dev)
		return;
	unregister_netdev(dev);
	free_netdev(dev);
}

static void link_devs(struct kunit *test, struct net_device *upper, struct net_device *lower)
{
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, netdev_upper_dev_link(lower, upper, NULL), 0);
	rtnl_unlock();
}

static void unlink_devs(struct net_device *upper, struct net_device *lower)
{
	rtnl_lock();
	netdev_upper_dev_unlink(lower, upper);
	rtnl_unlock();
}

static void expect_interface(struct kunit *test, struct net_device *dev,
			     const struct smc_pnetid *expected)
{
	struct smc_pnetid id = {};
	bool found = smc_pnet_find_interface(table(test), dev, &id);

	KUNIT_EXPECT_EQ_MSG(test, found, !!expected, "%s", dev->name);
	if (found && expected)
		KUNIT_EXPECT_TRUE_MSG(test, smc_pnetid_equal(&id, expected), "%s", dev->name);
}

/* vlan on bond on port: the nearest entry counts */
static void look_through_stack(struct kunit *test, struct net_device *vlan,
			       struct net_device *bond, struct net_device *port)
{
	struct smc_pnet *pnet = table(test);

	link_devs(test, bond, port);
	link_devs(test, vlan, bond);
	expect_interface(test, vlan, NULL);

	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_a, port->name, NULL, 0), 0);
	expect_interface(test, port, &net_a);
	expect_interface(test, bond, &net_a);
	expect_interface(test, vlan, &net_a);

	KUNIT_EXPECT_EQ(test, smc_pnet_add(pnet, &net_b, vlan->name, NULL, 0), 0);
	expect_interface(test, vlan, &net_b);
	expect_interface(test, bond, &net_a);

	unlink_devs(vlan, bond);
	unlink_devs(bond, port);
	expect_interface(test, bond, NULL);
}

static void pnet_find_interface(struct kunit *test)
{
	struct net_device *vlan = create_dev(test, "kpnetvlan");
	struct net_device *bond = create_dev(test, "kpnetbond");
	struct net_device *port = create_dev(test, "kpnetport");

	if (vlan && bond && port)
		look_through_stack(test, vlan, bond, port);
	destroy_dev(vlan);
	destroy_dev(bond);
	destroy_dev(port);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pnet_empty),
	KUNIT_CASE(pnet_add_remove),
	KUNIT_CASE(pnet_exists),
	KUNIT_CASE(pnet_find_device),
	KUNIT_CASE(pnet_walk_resumes),
	KUNIT_CASE(pnet_longest_name),
	KUNIT_CASE(pnet_find_interface),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_pnet",
	.init = setup,
	.exit = teardown,
	.test_cases = cases,
};

kunit_test_suite(suite);
