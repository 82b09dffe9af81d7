// SPDX-License-Identifier: GPL-2.0-only
/* Object counters and the debugfs file that shows them */

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "object.h"

struct smc_object_count smc_object_counts[SMC_OBJECT_MAX];

static const char * const names[SMC_OBJECT_MAX] = {
	[SMC_OBJECT_SOCK]	= "sock",
	[SMC_OBJECT_CONN]	= "conn",
	[SMC_OBJECT_HANDSHAKE]	= "handshake",
	[SMC_OBJECT_PAIR]	= "pair",
	[SMC_OBJECT_GROUP]	= "lgr",
	[SMC_OBJECT_DMB]	= "dmb",
	[SMC_OBJECT_LINK]	= "link",
	[SMC_OBJECT_RMB]	= "rmb",
};

static struct dentry *dir;

static int objects_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < SMC_OBJECT_MAX; i++)
		seq_printf(m, "%s %ld %ld\n", names[i],
			   atomic_long_read(&smc_object_counts[i].live),
			   atomic_long_read(&smc_object_counts[i].created));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

/* Create the debugfs file. May sleep */
void smc_object_init(void)
{
	dir = debugfs_create_dir("smc", NULL);
	debugfs_create_file("objects", 0444, dir, NULL, &objects_fops);
}

/* Remove the debugfs file and warn about objects that are left. May sleep */
void smc_object_exit(void)
{
	int i;

	debugfs_remove(dir);
	for (i = 0; i < SMC_OBJECT_MAX; i++)
		WARN(atomic_long_read(&smc_object_counts[i].live),
		     "smc: %ld objects of kind %s left\n",
		     atomic_long_read(&smc_object_counts[i].live), names[i]);
}
