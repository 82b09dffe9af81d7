// SPDX-License-Identifier: GPL-2.0-only
/* Commands, see README.rst: "add DEVICE NETDEV..." and "set DEVICE[/PORT] NAME=VALUE...". */

#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "memrdma.h"

static char *next_word(char **text)
{
	char *word;

	do {
		word = strsep(text, " \t\n");
	} while (word && !*word);
	return word;
}

static int add_device(char *text)
{
	struct net_device *ndev[MEMRDMA_MAX_PORTS];
	char *name = next_word(&text);
	int nr = 0, err = 0;
	char *word;

	if (!name)
		return -EINVAL;
	while (!err && (word = next_word(&text))) {
		if (nr == MEMRDMA_MAX_PORTS) {
			err = -E2BIG;
			break;
		}
		ndev[nr] = dev_get_by_name(current->nsproxy->net_ns, word);
		if (ndev[nr])
			nr++;
		else
			err = -ENODEV;
	}
	if (!err)
		err = nr ? memrdma_device_add(name, ndev, nr) : -EINVAL;
	while (nr--)
		dev_put(ndev[nr]);
	return err;
}

static const struct port_key {
	const char *name;
	size_t offset;
	bool is_fault;
} port_keys[] = {
	{ "lose_requests", offsetof(struct memrdma_port, lose_requests), true },
	{ "lose_acks", offsetof(struct memrdma_port, lose_acks), true },
	{ "fail_wr", offsetof(struct memrdma_port, fail_wr), true },
	{ "fail_status", offsetof(struct memrdma_port, fail_status), false },
	{ "lose_permille", offsetof(struct memrdma_port, lose_permille), false },
	{ "delay_us", offsetof(struct memrdma_port, delay_us), false },
	{ "completion_us", offsetof(struct memrdma_port, completion_us), false },
	{ "shuffle_us", offsetof(struct memrdma_port, shuffle_us), false },
	{ "hold", offsetof(struct memrdma_port, hold), false },
	{ "wire", offsetof(struct memrdma_port, wire), false },
};

/* "COUNT" or "AFTER:COUNT" */
static int parse_fault(const char *value, struct memrdma_fault *fault)
{
	struct memrdma_fault parsed = {};
	const char *colon = strchr(value, ':');
	int err;

	err = kstrtoint(colon ? colon + 1 : value, 0, &parsed.count);
	if (!err && colon && (sscanf(value, "%d:", &parsed.after) != 1 || parsed.after < 0))
		err = -EINVAL;
	if (!err)
		*fault = parsed;
	return err;
}

static int set_fault(struct memrdma_dev *dev, struct memrdma_fault *fault, const char *value)
{
	struct memrdma_fault parsed;
	int err = parse_fault(value, &parsed);

	if (err)
		return err;
	spin_lock_bh(&dev->fault_lock);
	*fault = parsed;
	spin_unlock_bh(&dev->fault_lock);
	return 0;
}

static void release(struct memrdma_qp *qp, void *port)
{
	if (READ_ONCE(qp->port) == port)
		memrdma_release_parked(qp);
}

static void note_faults(struct memrdma_port *port)
{
	bool faulty = port->lose_requests.count || port->lose_acks.count || port->fail_wr.count ||
		      port->lose_permille || port->delay_us || port->completion_us ||
		      port->shuffle_us || port->hold;

	WRITE_ONCE(port->faulty, faulty);
	if (!port->hold)
		memrdma_qp_for_each(release, port);
}

static int set_with_rtnl(struct memrdma_port *port, const char *key, bool value)
{
	int err = 0;

	rtnl_lock();
	if (!strcmp(key, "down")) {
		port->is_down = value;
		memrdma_port_update(port);
	} else {
		err = memrdma_hold_neighbours(port, value);
	}
	rtnl_unlock();
	return err;
}

static int set_port_key(struct memrdma_port *port, const char *name, const char *value)
{
	const struct port_key *key;
	int number, err;
	void *field;
	bool flag;

	if (!strcmp(name, "down") || !strcmp(name, "hold_neighbours"))
		return kstrtobool(value, &flag) ?: set_with_rtnl(port, name, flag);
	for (key = port_keys; key < port_keys + ARRAY_SIZE(port_keys); key++)
		if (!strcmp(key->name, name))
			break;
	if (key == port_keys + ARRAY_SIZE(port_keys))
		return -ENOENT;
	field = (void *)port + key->offset;
	if (key->is_fault) {
		err = set_fault(port->dev, field, value);
	} else {
		err = kstrtoint(value, 0, &number);
		if (!err)
			WRITE_ONCE(*(int *)field, number);
	}
	if (!err)
		note_faults(port);
	return err;
}

static void note_verbs(struct memrdma_dev *dev)
{
	bool faulty = false;
	int i;

	for (i = 0; i < NR_MEMRDMA_VERBS; i++)
		faulty |= dev->verbs[i].count;
	WRITE_ONCE(dev->verbs_faulty, faulty);
}

static void set_dead(struct memrdma_dev *dev)
{
	struct ib_event event = {
		.device	= &dev->ibdev,
		.event	= IB_EVENT_DEVICE_FATAL,
	};

	WRITE_ONCE(dev->is_dead, true);
	ib_dispatch_event(&event);
}

static int set_number(struct memrdma_dev *dev, const char *name, int number)
{
	if (!strcmp(name, "verb_ms")) {
		WRITE_ONCE(dev->verb_ms, number);
	} else if (!strcmp(name, "errno") && number > 0 && number <= MAX_ERRNO) {
		dev->verb_errno = number;
	} else if (!strcmp(name, "seed")) {
		spin_lock_bh(&dev->fault_lock);
		prandom_seed_state(&dev->random, number);
		spin_unlock_bh(&dev->fault_lock);
	} else if (!strcmp(name, "dead") && number == 1) {
		set_dead(dev);
	} else {
		return -ENOENT;
	}
	return 0;
}

/* -ENOENT if it is not one of the device, but perhaps of its ports */
static int set_device_key(struct memrdma_dev *dev, const char *name, const char *value)
{
	int number, err;
	int i;

	i = match_string(memrdma_verb_names, NR_MEMRDMA_VERBS, name);
	if (i >= 0) {
		err = set_fault(dev, &dev->verbs[i], value);
		note_verbs(dev);
		return err;
	}
	return kstrtoint(value, 0, &number) ? -ENOENT : set_number(dev, name, number);
}

/* @number: of the port, 0 for all */
static int set_key(struct memrdma_dev *dev, u32 number, char *word)
{
	const char *name = strsep(&word, "=");
	int err = -ENOENT;
	u32 i;

	if (!word)
		return -EINVAL;
	if (!number)
		err = set_device_key(dev, name, word);
	if (err != -ENOENT)
		return err;
	for (i = 0; i < dev->nr_ports; i++)
		if (!number || number == i + 1) {
			err = set_port_key(&dev->ports[i], name, word);
			if (err)
				break;
		}
	return err;
}

static int set_keys(char *text)
{
	char *name = next_word(&text);
	char *slash = name ? strchr(name, '/') : NULL;
	struct memrdma_dev *dev;
	u32 number = 0;
	int err = 0;
	char *word;

	if (!name)
		return -EINVAL;
	if (slash) {
		*slash = 0;
		err = kstrtou32(slash + 1, 10, &number);
		if (err || !number)
			return -EINVAL;
	}
	dev = memrdma_device_get(name);
	if (!dev)
		return -ENODEV;
	while (!err && (word = next_word(&text)))
		err = set_key(dev, number, word);
	ib_device_put(&dev->ibdev);
	return err;
}

/**
 * memrdma_control() - a command
 * @text: the command; names of network devices are those of the caller's namespace
 *
 * Caller makes sure that there is one at a time. May sleep.
 *
 * Return: 0 or a negative errno.
 */
int memrdma_control(const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL);
	int err = -EINVAL;
	char *rest = copy;
	char *word;

	if (!copy)
		return -ENOMEM;
	word = next_word(&rest);
	if (word && !strcmp(word, "add"))
		err = add_device(rest);
	else if (word && !strcmp(word, "set"))
		err = set_keys(rest);
	kfree(copy);
	return err;
}
