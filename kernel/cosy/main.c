// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - the module and its device.
 *
 * uapi/linux/cosy.h is the interface. Every user may open the device, because a
 * compound can do nothing that its process could not do itself.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <cosy/format.h>

#include "async/async.h"
#include "call/call.h"
#include "call/history.h"
#include "compat/compat.h"
#include "coverage.h"
#include "env/arg.h"
#include "fast/fast.h"
#include "function/function.h"
#include "kernel/descriptor.h"
#include "kernel/internals.h"
#include "kernel/symbols.h"
#include "load/compound.h"
#include "run/run.h"
#include "share/share.h"

#ifndef CONFIG_X86_64
#error "cosy makes system calls the x86-64 way; other architectures are not supported"
#endif

static long cosy_info(const struct cosy_file *cf, struct cosy_info __user *arg)
{
	const struct cosy_info known = {
		.size = sizeof(known),
		.flags = (cosy_traced() ? COSY_INFO_TRACED : 0) |
			 (cosy_seccomp_state() ? 0 : COSY_INFO_UNFILTERED) |
			 (cf->pid == task_tgid(current) ? 0 : COSY_INFO_INHERITED),
		.abi = COSY_ABI,
		.oldest_abi = COSY_OLDEST_ABI,
		.format = COSY_VERSION,
		.oldest_format = COSY_VERSION,
		.load_flags = COSY_LOAD_FLAGS,
		.run_flags = COSY_RUN_FLAGS,
		.features = COSY_FEATURE_ASYNC | COSY_FEATURE_SHARES |
			    (cosy_functions_available() ?
				     COSY_FEATURE_FUNCTIONS : 0),
		.max_loads = READ_ONCE(cosy_max_loads),
		.thread = task_pid_vnr(current),
		.version = COSY_RELEASE,
	};
	struct cosy_info info;
	u32 size;
	int err;

	err = cosy_arg_read(&info, sizeof(info), offsetofend(struct cosy_info,
							     version), arg);
	if (err)
		return err;
	size = min_t(u32, info.size, sizeof(known));
	return copy_to_user(arg, &known, size) ? -EFAULT : 0;
}

static long cosy_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	/* x32 programs reach this too, but cannot run compounds. */
	if (in_compat_syscall())
		return -ENOTTY;
	switch (cmd) {
	case COSY_IOC_INFO:
		return cosy_info(file->private_data, (struct cosy_info __user *)arg);
	case COSY_IOC_LOAD:
		return cosy_compound_load(file->private_data,
					  (struct cosy_load __user *)arg);
	case COSY_IOC_UNLOAD:
		return cosy_compound_unload(file->private_data,
					    (const u64 __user *)arg);
	case COSY_IOC_BIND:
		return cosy_compound_bind(file->private_data,
					  (struct cosy_bind __user *)arg);
	case COSY_IOC_YIELD:
		return cosy_functions_yield((struct cosy_yield __user *)arg);
	case COSY_IOC_HIDE:
		return cosy_descriptor_hide(file);
	case COSY_IOC_SHARE:
		return cosy_share_create((struct cosy_share_create __user *)arg);
	case COSY_IOC_ASYNC:
		return cosy_loop_create(file,
					(struct cosy_async_create __user *)arg);
	default:
		return -ENOTTY;
	}
}

static int cosy_open(struct inode *inode, struct file *file)
{
	struct cosy_file *cf;

	/* Nested calls are 64-bit calls. */
	if (in_compat_syscall())
		return -EOPNOTSUPP;
	if (!cosy_seccomp_allows_device())
		return -EPERM;
	/* A question, see linux/cosy.h. */
	if (!(file->f_mode & FMODE_WRITE))
		return cosy_internals ? -EINVAL : -EOPNOTSUPP;
	cf = cosy_file_alloc();
	if (!cf)
		return -ENOMEM;
	file->private_data = cf;
	return 0;
}

static int cosy_release(struct inode *inode, struct file *file)
{
	cosy_file_free(file->private_data);
	return 0;
}

/* No compat_ioctl: the ioctl of a 32-bit program fails with ENOTTY. */
static const struct file_operations cosy_fops = {
	.owner = THIS_MODULE,
	.open = cosy_open,
	.release = cosy_release,
	.unlocked_ioctl = cosy_ioctl,
	.llseek = cosy_run_llseek,
};

static struct miscdevice cosy_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cosy",
	.fops = &cosy_fops,
	.mode = 0666,
};

static int __init cosy_init(void)
{
	int err;

	if (!cosy_user_begin_works()) {
		pr_err("user addresses would not be checked: this module was built with headers that are not this kernel's; build it again with those\n");
		return -ENOEXEC;
	}
	/* First, so that it counts what loading the module runs. */
	err = cosy_coverage_init();
	if (err)
		return err;
	err = cosy_symbols_init();
	if (err)
		goto coverage;
	err = cosy_history_init();
	if (err)
		goto coverage;
	cosy_internals_init();
	err = cosy_syscalls_init();
	if (err)
		goto coverage;
	cosy_coroutine_init();
	cosy_audit_init();
	cosy_seccomp_init();
	cosy_fast_init();
	cosy_single_init();
	cosy_ring_init();
	cosy_functions_init();
	err = cosy_compounds_init();
	if (err)
		goto functions;
	cosy_works_start();
	err = misc_register(&cosy_device);
	if (err) {
		pr_err("cannot register %s: %d\n", COSY_DEVICE, err);
		goto compounds;
	}
	return 0;

compounds:
	cosy_works_stop();
	cosy_compounds_exit();
functions:
	cosy_functions_exit();
	cosy_fast_exit();
coverage:
	cosy_coverage_exit();
	return err;
}

static void __exit cosy_exit(void)
{
	misc_deregister(&cosy_device);
	cosy_works_stop();
	cosy_coverage_exit();
	cosy_compounds_exit();
	cosy_functions_exit();
	cosy_fast_exit();
	/*
	 * The thread that dropped the last reference may still execute the module's code, and
	 * may be preempted there.
	 */
	synchronize_rcu_tasks();
	/* The same for wake-ups that dropped it, with interrupts off. */
	synchronize_rcu();
	/* Shares that are freed after that. */
	rcu_barrier();
}

module_init(cosy_init);
module_exit(cosy_exit);

MODULE_DESCRIPTION("Cosy: run compounds of system calls in one crossing");
MODULE_AUTHOR("The Cosy developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(COSY_RELEASE);
