// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmarks' loops as compiled C in the kernel. A compound cannot be faster,
 * except by cheaper calls.
 *
 * The calls are made like in the kernel's entry code, by a direct call of
 * x64_sys_call(), and with the checks of the cosy module: for system-call work
 * (seccomp, tracing) before each call. Each loop is preemptible and killable.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/entry-common.h>
#include <linux/fcntl.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/static_call.h>
#include <linux/syscalls.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>
#include <asm/stat.h>
#include <asm/unistd.h>

#include "cosy_bound.h"

static long no_sys_call(const struct pt_regs *regs, unsigned int nr)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(bound_sys_call, no_sys_call);

/* Handle work that is pending before user mode: reschedule, or fail after a signal. */
static noinline int work(void)
{
	cond_resched();
	return signal_pending(current) ? -EINTR : 0;
}

/* The arguments must already be in @regs. */
static __always_inline long call(struct pt_regs *regs, unsigned int nr)
{
	if (unlikely(read_thread_flags() & EXIT_TO_USER_MODE_WORK)) {
		int error = work();

		if (error)
			return error;
	}
	if (unlikely(READ_ONCE(current_thread_info()->syscall_work) &
		     SYSCALL_WORK_ENTER))
		return -EPERM;
	regs->orig_ax = nr;
	return static_call(bound_sys_call)(regs, nr);
}

static long run_getpid(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	long ret = 0;
	u64 i;

	for (i = 0; i < b->count; i++) {
		ret = call(&regs, __NR_getpid);
		if (ret < 0)
			return ret;
	}
	b->sum = ret;
	return 0;
}

static long run_pread(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	long ret = 0;
	u64 i;

	for (i = 0; i < b->count; i++) {
		regs.di = b->fd;
		regs.si = b->buffer;
		regs.dx = b->size;
		regs.r10 = 0;
		ret = call(&regs, __NR_pread64);
		if (ret < 0)
			return ret;
	}
	b->sum = ret;
	return 0;
}

static long run_stat(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	long ret;
	u64 i;

	for (i = 0; i < b->count; i++) {
		regs.di = AT_FDCWD;
		regs.si = b->path;
		regs.dx = b->stat;
		regs.r10 = 0;
		ret = call(&regs, __NR_newfstatat);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static long run_openclose(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	long ret;
	u64 i;

	for (i = 0; i < b->count; i++) {
		regs.di = AT_FDCWD;
		regs.si = b->path;
		regs.dx = O_RDONLY;
		regs.r10 = 0;
		ret = call(&regs, __NR_openat);
		if (ret < 0)
			return ret;
		regs.di = ret;
		ret = call(&regs, __NR_close);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Offsets in an entry of getdents64(): the name is after d_ino, d_off, d_reclen and d_type. */
#define D_RECLEN	16
#define D_NAME		19

static long run_ls(struct cosy_bound *b)
{
	struct stat __user *st = u64_to_user_ptr(b->stat);
	struct pt_regs regs = {};
	long ret, size, off, end;
	u16 reclen;
	u64 i;

	for (i = 0; i < b->count; i++) {
		regs.di = b->fd;
		regs.si = 0;
		regs.dx = SEEK_SET;
		ret = call(&regs, __NR_lseek);
		if (ret < 0)
			return ret;
		for (;;) {
			regs.di = b->fd;
			regs.si = b->buffer;
			regs.dx = b->size;
			end = call(&regs, __NR_getdents64);
			if (end < 0)
				return end;
			if (end == 0)
				break;
			for (off = 0; off < end; off += reclen) {
				if (get_user(reclen, (u16 __user *)u64_to_user_ptr(
						b->buffer + off + D_RECLEN)))
					return -EFAULT;
				regs.di = b->fd;
				regs.si = b->buffer + off + D_NAME;
				regs.dx = b->stat;
				regs.r10 = AT_SYMLINK_NOFOLLOW;
				ret = call(&regs, __NR_newfstatat);
				if (ret < 0)
					return ret;
				if (get_user(size, &st->st_size))
					return -EFAULT;
				b->sum += size;
			}
		}
	}
	return 0;
}

/* Make a call with up to three arguments. */
static __always_inline long call3(struct pt_regs *regs, unsigned int nr,
				  unsigned long a, unsigned long b, unsigned long c)
{
	regs->di = a;
	regs->si = b;
	regs->dx = c;
	return call(regs, nr);
}

/*
 * Make passes over the file: read, and write the data to @to, unless @to is negative. With
 * @back, seek back before the write, because @to is the same file.
 */
static __always_inline long run_passes(struct cosy_bound *b, bool back, s64 to)
{
	struct pt_regs regs = {};
	long ret, n;
	u64 i;

	for (i = 0; i < b->count; i++) {
		ret = call3(&regs, __NR_lseek, b->fd, 0, SEEK_SET);
		if (ret < 0)
			return ret;
		if (to >= 0 && !back) {
			ret = call3(&regs, __NR_lseek, to, 0, SEEK_SET);
			if (ret < 0)
				return ret;
		}
		for (;;) {
			n = call3(&regs, __NR_read, b->fd, b->buffer, b->size);
			if (n < 0)
				return n;
			if (n == 0)
				break;
			b->sum += n;
			if (back) {
				ret = call3(&regs, __NR_lseek, b->fd, -n, SEEK_CUR);
				if (ret < 0)
					return ret;
			}
			if (to < 0)
				continue;
			ret = call3(&regs, __NR_write, to, b->buffer, n);
			if (ret != n)
				return ret < 0 ? ret : -EIO;
		}
	}
	return 0;
}

static long run_copy(struct cosy_bound *b)
{
	return run_passes(b, false, b->to);
}

static long run_read(struct cosy_bound *b)
{
	return run_passes(b, false, -1);
}

static long run_rewrite(struct cosy_bound *b)
{
	return run_passes(b, true, b->fd);
}

static long run_write(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	long ret;
	u64 i, j;

	for (i = 0; i < b->count; i++) {
		ret = call3(&regs, __NR_lseek, b->fd, 0, SEEK_SET);
		if (ret < 0)
			return ret;
		for (j = 0; j < b->blocks; j++) {
			ret = call3(&regs, __NR_write, b->fd, b->buffer, b->size);
			if (ret < 0)
				return ret;
			b->sum += ret;
		}
	}
	return 0;
}

static long run_dbsim(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	u64 i, state = 1;
	long ret, n;

	if (!b->blocks)
		return -EINVAL;
	for (i = 0; i < b->count; i++) {
		state = COSY_BOUND_NEXT(state);
		ret = call3(&regs, __NR_lseek, b->fd,
			    (state >> 33) % b->blocks * b->size, SEEK_SET);
		if (ret < 0)
			return ret;
		n = call3(&regs, __NR_read, b->fd, b->buffer, b->size);
		if (n < 0)
			return n;
		b->sum += n;
		if (i & 1) {
			n = call3(&regs, __NR_write, b->fd, b->buffer, n);
			if (n < 0)
				return n;
			b->sum += n;
		}
	}
	return 0;
}

static long run_smallfile(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	long ret, n, fd;
	u64 i, used;

	for (i = 0; i < b->count; i++) {
		regs.r10 = 0;
		fd = call3(&regs, __NR_openat, AT_FDCWD, b->path, O_RDONLY);
		if (fd < 0)
			return fd;
		used = 0;
		while ((n = call3(&regs, __NR_read, fd, b->buffer + used, b->size)) > 0)
			used += n;
		ret = call3(&regs, __NR_close, fd, 0, 0);
		if (n < 0 || ret < 0)
			return n < 0 ? n : ret;
		b->sum += used;
	}
	return 0;
}

static long run_seekread(struct cosy_bound *b)
{
	struct pt_regs regs = {};
	long ret;
	u64 i;

	for (i = 0; i < b->count; i++) {
		ret = call3(&regs, __NR_lseek, b->fd, b->position, SEEK_SET);
		if (ret < 0)
			return ret;
		ret = call3(&regs, __NR_read, b->fd, b->buffer, b->size);
		if (ret < 0)
			return ret;
		b->sum += ret;
	}
	return 0;
}

static long bound_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct cosy_bound __user *user = (struct cosy_bound __user *)arg;
	struct cosy_bound b;
	long ret;

	if (copy_from_user(&b, user, sizeof(b)))
		return -EFAULT;
	b.sum = 0;
	switch (cmd) {
	case COSY_BOUND_GETPID:
		ret = run_getpid(&b);
		break;
	case COSY_BOUND_PREAD:
		ret = run_pread(&b);
		break;
	case COSY_BOUND_STAT:
		ret = run_stat(&b);
		break;
	case COSY_BOUND_OPENCLOSE:
		ret = run_openclose(&b);
		break;
	case COSY_BOUND_LS:
		ret = run_ls(&b);
		break;
	case COSY_BOUND_COPY:
		ret = run_copy(&b);
		break;
	case COSY_BOUND_READ:
		ret = run_read(&b);
		break;
	case COSY_BOUND_REWRITE:
		ret = run_rewrite(&b);
		break;
	case COSY_BOUND_WRITE:
		ret = run_write(&b);
		break;
	case COSY_BOUND_DBSIM:
		ret = run_dbsim(&b);
		break;
	case COSY_BOUND_SMALLFILE:
		ret = run_smallfile(&b);
		break;
	case COSY_BOUND_SEEKREAD:
		ret = run_seekread(&b);
		break;
	default:
		return -ENOTTY;
	}
	if (ret)
		return ret;
	return copy_to_user(user, &b, sizeof(b)) ? -EFAULT : 0;
}

static const struct file_operations bound_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = bound_ioctl,
};

static struct miscdevice bound_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cosy-bound",
	.fops = &bound_fops,
	.mode = 0600,
};

/* The function is not exported. A kprobe finds it, but its address can be after the ENDBR. */
static void *find_x64_sys_call(void)
{
	struct kprobe kp = { .symbol_name = "x64_sys_call" };
	char symbol[KSYM_SYMBOL_LEN];
	unsigned long addr, offset;
	char *plus;

	if (register_kprobe(&kp))
		return NULL;
	addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	sprint_symbol(symbol, addr);
	plus = strchr(symbol, '+');
	if (!plus || sscanf(plus, "+%lx/", &offset) != 1)
		return NULL;
	return (void *)(addr - offset);
}

static int __init bound_init(void)
{
	void *sys_call = find_x64_sys_call();

	if (!sys_call) {
		pr_err("this kernel has no x64_sys_call()\n");
		return -ENOENT;
	}
	static_call_update(bound_sys_call, sys_call);
	return misc_register(&bound_device);
}

static void __exit bound_exit(void)
{
	misc_deregister(&bound_device);
}

module_init(bound_init);
module_exit(bound_exit);
MODULE_DESCRIPTION("Benchmark loops in the kernel, to compare compounds with");
MODULE_LICENSE("GPL");
