// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which call of the modules under test fails, and when: debugfs, smc_fault/. A line of "sites" is
 * a call that was reached: how often since the last command, how often it failed ever, and where it
 * is. A command goes to "fail": "NUMBER NTH" for a line of that file, counted from 0, and its NTH
 * time from now on; NTH 0 for the first 64 times. "-1 0" ends that. Reading "fail" tells how often
 * the call has failed since.
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "smc_fault.h"

#define SITES_MAX	256
#define STREAK		64	/* as if memory were short for a while */

struct site {
	char where[128];
	unsigned int hits;
	unsigned int failed;
};

static struct site sites[SITES_MAX];
static int nr_sites;
static int chosen = -1;
static unsigned int nth;
static unsigned int failures;
static DEFINE_SPINLOCK(lock);
static struct dentry *dir;

/* A module that is loaded again has the same sites */
static void find_number(struct smc_fault_site *site)
{
	char where[sizeof(sites->where)];
	int i;

	snprintf(where, sizeof(where), "%s:%d %s in %s", kbasename(site->file), site->line,
		 site->call, site->function);
	for (i = 0; i < nr_sites; i++)
		if (!strcmp(sites[i].where, where))
			break;
	if (WARN_ON_ONCE(i == SITES_MAX))
		i--;
	if (i == nr_sites)
		strscpy(sites[nr_sites++].where, where, sizeof(where));
	site->number = i + 1;
}

/**
 * smc_fault_due() - is this call to fail?
 * @site: the call
 *
 * Any context.
 *
 * Return: whether it has to return an error, and must not be made.
 */
bool smc_fault_due(struct smc_fault_site *site)
{
	unsigned long flags;
	bool due;
	int i;

	spin_lock_irqsave(&lock, flags);
	if (!site->number)
		find_number(site);
	i = site->number - 1;
	sites[i].hits++;
	due = i == chosen && (nth ? sites[i].hits == nth : sites[i].hits <= STREAK);
	sites[i].failed += due;
	failures += due;
	spin_unlock_irqrestore(&lock, flags);
	return due;
}
EXPORT_SYMBOL_GPL(smc_fault_due);

static int sites_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < READ_ONCE(nr_sites); i++)
		seq_printf(m, "%u %u %s\n", sites[i].hits, sites[i].failed, sites[i].where);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sites);

static void choose(int number, unsigned int when)
{
	int i;

	spin_lock_irq(&lock);
	chosen = number;
	nth = when;
	failures = 0;
	for (i = 0; i < nr_sites; i++)
		sites[i].hits = 0;
	spin_unlock_irq(&lock);
}

static int fail_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%u\n", READ_ONCE(failures));
	return 0;
}

static int fail_open(struct inode *inode, struct file *file)
{
	return single_open(file, fail_show, NULL);
}

static ssize_t fail_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	unsigned int when;
	char text[32];
	int number;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = 0;
	if (sscanf(text, "%d %u", &number, &when) != 2)
		return -EINVAL;
	choose(number, when);
	return len;
}

static const struct file_operations fail_fops = {
	.owner	 = THIS_MODULE,
	.open	 = fail_open,
	.read	 = seq_read,
	.write	 = fail_write,
	.llseek	 = seq_lseek,
	.release = single_release,
};

static int __init fault_init(void)
{
	dir = debugfs_create_dir("smc_fault", NULL);
	debugfs_create_file("sites", 0400, dir, NULL, &sites_fops);
	debugfs_create_file("fail", 0600, dir, NULL, &fail_fops);
	return 0;
}

static void __exit fault_exit(void)
{
	debugfs_remove(dir);
}

module_init(fault_init);
module_exit(fault_exit);
MODULE_DESCRIPTION("Calls of the SMC modules that fail on command, for tests");
MODULE_LICENSE("GPL");
