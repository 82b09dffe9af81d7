// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops a task where it calls a function of the modules under test, as the scheduler may do: a test
 * writes the name of the function to smc_hold in debugfs. A task of the name "held" that calls this
 * function stops before its first instruction, until the test writes "-". Reading the file tells
 * how many tasks are stopped. There is one function of that name; it has up to six arguments, and
 * may sleep. The kernel has the option ibt=off, since the call below goes to a place without ENDBR.
 */

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#define HELD	"held"

#ifndef ftrace_regs_set_instruction_pointer	/* a macro on x86, with this name until 6.1 */
#define ftrace_regs_set_instruction_pointer	ftrace_instruction_pointer_set
#endif

typedef unsigned long (*function_fn)(unsigned long a, unsigned long b, unsigned long c,
				     unsigned long d, unsigned long e, unsigned long f);

static DEFINE_MUTEX(lock);	/* protects is_registered */
static bool is_registered;
static bool go_on = true;
static function_fn function;
static atomic_t nr_held = ATOMIC_INIT(0);
static atomic_t nr_calls = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(waiters);
static struct dentry *file;

/* Runs in place of the function, which is not held when this calls it */
static unsigned long call_later(unsigned long a, unsigned long b, unsigned long c,
				unsigned long d, unsigned long e, unsigned long f)
{
	unsigned long result;

	atomic_inc(&nr_calls);
	atomic_inc(&nr_held);
	wait_event(waiters, READ_ONCE(go_on));
	atomic_dec(&nr_held);
	wake_up_all(&waiters);
	result = function(a, b, c, d, e, f);
	atomic_dec(&nr_calls);
	wake_up_all(&waiters);
	return result;
}

static void notrace divert(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *regs)
{
	if (within_module(parent_ip, THIS_MODULE) || strcmp(current->comm, HELD))
		return;
	WRITE_ONCE(function, (function_fn)ip);
	ftrace_regs_set_instruction_pointer(regs, (unsigned long)call_later);
}

static struct ftrace_ops ops = {
	.func	= divert,
	.flags	= FTRACE_OPS_FL_IPMODIFY,
};

static void let_go(void)
{
	lockdep_assert_held(&lock);
	if (is_registered)
		unregister_ftrace_function(&ops);
	is_registered = false;
	WRITE_ONCE(go_on, true);
	wake_up_all(&waiters);
	wait_event(waiters, !atomic_read(&nr_held));
}

static int hold(char *name)
{
	int err;

	lockdep_assert_held(&lock);
	let_go();
	err = ftrace_set_filter(&ops, name, strlen(name), 1);
	if (err)
		return err;
	WRITE_ONCE(go_on, false);
	err = register_ftrace_function(&ops);
	is_registered = !err;
	return err;
}

static ssize_t hold_write(struct file *f, const char __user *from, size_t len, loff_t *pos)
{
	char text[64];
	char *name;
	int err = 0;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = 0;
	name = strim(text);
	mutex_lock(&lock);
	if (strcmp(name, "-"))
		err = hold(name);
	else
		let_go();
	mutex_unlock(&lock);
	return err ?: len;
}

static ssize_t hold_read(struct file *f, char __user *to, size_t len, loff_t *pos)
{
	char text[16];
	int size = scnprintf(text, sizeof(text), "%d\n", atomic_read(&nr_held));

	return simple_read_from_buffer(to, len, pos, text, size);
}

static const struct file_operations hold_fops = {
	.owner	= THIS_MODULE,
	.read	= hold_read,
	.write	= hold_write,
};

static int __init hold_init(void)
{
	file = debugfs_create_file("smc_hold", 0600, NULL, NULL, &hold_fops);
	return 0;
}

static void __exit hold_exit(void)
{
	debugfs_remove(file);
	mutex_lock(&lock);
	let_go();
	mutex_unlock(&lock);
	wait_event(waiters, !atomic_read(&nr_calls));
	synchronize_rcu_tasks();	/* the last call returns */
}

module_init(hold_init);
module_exit(hold_exit);

MODULE_DESCRIPTION("Stops tasks in a function of the SMC modules, for tests");
MODULE_LICENSE("GPL");
