// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that misbehaves on request, to prove that the test harness notices.
 *
 * The name of a defect, written to /sys/module/selfcheck/parameters/defect,
 * makes it happen. The module also has counters of live objects where smc.ko
 * has them, so that a leaked object can be shown without smc.ko.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/panic.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

#define LEAK_SIZE	1234

static struct dentry *folder;
static unsigned int live_objects;
static bool exit_hangs;
static DEFINE_SPINLOCK(lock);
static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);
static DECLARE_WAIT_QUEUE_HEAD(never);

static void defect_warn(void)
{
	WARN(1, "a deliberate warning\n");
}

static void defect_bug(void)
{
	BUG();
}

static void defect_panic(void)
{
	panic("a deliberate panic");
}

static void defect_memory_leak(void)
{
	/* Hidden, else a register or an old stack might still point to it. */
	void *lost = kmalloc(LEAK_SIZE, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
}

static void defect_use_after_free(void)
{
	char *memory = kzalloc(LEAK_SIZE, GFP_KERNEL);

	if (!memory)
		return;
	kfree(memory);
	OPTIMIZER_HIDE_VAR(memory);
	pr_info("read %d\n", READ_ONCE(memory[LEAK_SIZE / 2]));
}

static void defect_atomic_sleep(void)
{
	int count;

	spin_lock(&lock);
	count = preempt_count();
	msleep(20);
	/* The scheduler has reset it; one below zero makes user space's next page fault fatal. */
	preempt_count_set(count);
	spin_unlock(&lock);
}

static void defect_lock_order(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);

	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

static int count_until_stopped(void *counter)
{
	while (!kthread_should_stop()) {
		(*(unsigned int *)counter)++;
		barrier();
		cond_resched();
	}
	return 0;
}

/* Two count at once, and neither knows of the other */
static void defect_data_race(void)
{
	static unsigned int counter;
	unsigned long end = jiffies + 5 * HZ;
	struct task_struct *other = kthread_run(count_until_stopped, &counter, "selfcheck");

	if (IS_ERR(other))
		return;
	while (time_before(jiffies, end)) {
		counter++;
		barrier();
		cond_resched();
	}
	kthread_stop(other);
}

static void defect_kernel_hang(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

static void defect_unload_hang(void)
{
	exit_hangs = true;
}

static void defect_stuck_module(void)
{
	__module_get(THIS_MODULE);
}

static void defect_object_leak(void)
{
	live_objects++;
}

static const struct {
	const char *name;
	void (*happen)(void);
} defects[] = {
	{ "warn",		defect_warn },
	{ "bug",		defect_bug },
	{ "panic",		defect_panic },
	{ "memory-leak",	defect_memory_leak },
	{ "use-after-free",	defect_use_after_free },
	{ "atomic-sleep",	defect_atomic_sleep },
	{ "lock-order",		defect_lock_order },
	{ "data-race",		defect_data_race },
	{ "kernel-hang",	defect_kernel_hang },
	{ "unload-hang",	defect_unload_hang },
	{ "stuck-module",	defect_stuck_module },
	{ "object-leak",	defect_object_leak },
};

static int defect_set(const char *value, const struct kernel_param *param)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(defects); i++) {
		if (sysfs_streq(value, defects[i].name)) {
			defects[i].happen();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops defect_ops = {
	.set = defect_set,
};

module_param_cb(defect, &defect_ops, NULL, 0200);
MODULE_PARM_DESC(defect, "Name of the defect to happen");

static int objects_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "sock %u %u\n", live_objects, live_objects);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

static int __init selfcheck_init(void)
{
	folder = debugfs_create_dir("smc", NULL);
	if (IS_ERR(folder))
		return PTR_ERR(folder);
	debugfs_create_file("objects", 0444, folder, NULL, &objects_fops);
	return 0;
}

static void __exit selfcheck_exit(void)
{
	if (exit_hangs)
		wait_event(never, false);
	debugfs_remove_recursive(folder);
}

module_init(selfcheck_init);
module_exit(selfcheck_exit);
MODULE_DESCRIPTION("Deliberate defects for the test harness");
MODULE_LICENSE("GPL");
