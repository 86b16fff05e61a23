// SPDX-License-Identifier: GPL-2.0
/*
 * call.c - makes system calls in a share.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>

#include <cosy/calls.h>
#include <cosy/exec.h>

#include "call/call.h"
#include "call/history.h"
#include "share/share.h"

/* A power of two, so that a mask limits the index also on a mispredicted path. */
#define COSY_SHARE_CALLS	512

/* What a call makes, as in syscalls.def. */
enum {
	COSY_SHARE_REFUSED,	/* not a call for shares */
	COSY_SHARE_NOTHING,
	COSY_SHARE_RESULT,
	COSY_SHARE_PAIR,	/* + the number of the argument */
};

/* By number. */
static u8 cosy_share_kinds[COSY_SHARE_CALLS] __ro_after_init;
/* Bit i: argument i is a descriptor. */
static u8 cosy_share_masks[COSY_SHARE_CALLS] __ro_after_init;

static u8 __init cosy_share_mask(const char *args)
{
	u8 mask = 0;
	int i;

	for (i = 0; args[i]; i++)
		mask |= (args[i] == 'd') << i;
	return mask;
}

/** cosy_share_init() - read the table of system calls */
void __init cosy_share_init(void)
{
	enum { NESTED, LEAVE };

	BUILD_BUG_ON(NR_syscalls > COSY_SHARE_CALLS);
#define COSY_SYSCALL(nr, name, args, nested)				\
	if ((nr) < NR_syscalls && (nested) == NESTED)			\
		cosy_share_masks[nr] = cosy_share_mask(args);
#define COSY_SHARES(name, makes)					\
	if (cosy_call_nests(__NR_##name))				\
		cosy_share_kinds[__NR_##name] = COSY_SHARE_##makes;
#define COSY_SHARES_PAIR(name, arg)					\
	if (cosy_call_nests(__NR_##name))				\
		cosy_share_kinds[__NR_##name] = COSY_SHARE_PAIR + (arg);
#include <syscalls.def>
}

/* Return true if the thread's system calls are watched, and this one must be seen. */
static noinline bool cosy_share_is_watched(u32 nr, const u64 *args)
{
	struct cosy_state st __uninitialized;
	int i;

	if (cosy_ptraced())
		return true;
	for (i = 0; i < COSY_MAX_ARGS; i++)
		cosy_env_arg(&st.env, i, args[i]);
	return cosy_env_watched(&st, nr);
}

/* Translate the descriptors among the arguments, except that of a dup() into the share. */
static int cosy_share_translate(const struct cosy_share *share, u32 nr, u64 *args)
{
	unsigned int mask = cosy_share_masks[nr], i;
	int fd;

	for (i = 0; mask; i++, mask >>= 1) {
		if (!(mask & 1) || (nr == __NR_openat && (int)args[i] == AT_FDCWD))
			continue;
		fd = cosy_share_local(share, args[i]);
		if (fd < 0)
			return fd;
		args[i] = fd;
	}
	return 0;
}

/**
 * cosy_share_copy_in() - copy a descriptor of the process's table into a share
 * @share: the share, after cosy_share_reserve()
 * @fd:	   the descriptor
 *
 * Return: the number in the table of the share, -EBADF or -EMFILE.
 */
long cosy_share_copy_in(struct cosy_share *share, u32 fd)
{
	struct file *file = fget_raw(fd);
	struct files_struct *table;
	int to;

	if (!file)
		return -EBADF;
	table = cosy_table_use(&share->files);
	to = get_unused_fd_flags(0);
	if (to >= 0)
		fd_install(to, file);
	cosy_table_use(table);
	if (to < 0)
		fput(file);
	return to;
}

static long cosy_share_nested(struct cosy_share *share, u32 nr, const u64 *args)
{
	const struct pt_regs regs = {
		.di = args[0],
		.si = args[1],
		.dx = args[2],
		.r10 = args[3],
		.r8 = args[4],
		.r9 = args[5],
		.orig_ax = nr,
	};
	struct files_struct *table = cosy_table_use(&share->files);
	long ret;

	cosy_history_clear();
	ret = cosy_callees[nr](&regs);
	cosy_table_use(table);
	return ret;
}

/*
 * Translate two new descriptors in the process's memory. If it cannot be written any more, close
 * those that are there: the process may have changed them, and then closes others of its own.
 */
static long cosy_share_put_pair(struct cosy_share *share, u64 addr)
{
	int __user *to = u64_to_user_ptr(addr);
	int fds[2], i;
	struct file *file;

	if (copy_from_user(fds, to, sizeof(fds)))
		return -EFAULT;
	for (i = 0; i < ARRAY_SIZE(fds); i++)
		if (put_user((int)cosy_share_global(share, fds[i] & (COSY_SHARE_MAX - 1)), &to[i]))
			goto close;
	return 0;

close:
	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		file = cosy_table_take(share, fds[i]);
		if (file)
			filp_close(file, &share->files);
	}
	return -EFAULT;
}

static unsigned int cosy_share_makes(u8 kind)
{
	if (kind == COSY_SHARE_NOTHING)
		return 0;
	return kind == COSY_SHARE_RESULT ? 1 : 2;
}

/* close(), which needs no other table. */
static long cosy_share_close(struct cosy_share *share, u32 fd)
{
	int number = cosy_share_local(share, fd);
	struct file *file = number < 0 ? NULL : cosy_table_take(share, number);
	long ret;

	if (!file)
		return -EBADF;
	ret = filp_close(file, &share->files);
	/* As in close(): the descriptor is gone, so the call is not made again. */
	return cosy_is_restart(ret) ? -EINTR : ret;
}

/* dup() of a descriptor of the share. Return -EAGAIN if the system call has to be made. */
static long cosy_share_dup(struct cosy_share *share, u32 fd)
{
	int number = cosy_share_local(share, fd), to;

	if (number < 0)
		return number;
	to = cosy_table_dup(share, number, rlimit(RLIMIT_NOFILE));
	if (to < 0)
		return to;
	return cosy_share_global(share, to);
}

static long cosy_share_make(struct cosy_share *share, u32 nr, u64 *args)
{
	const u8 kind = cosy_share_kinds[nr];
	const bool copies = nr == __NR_dup && !(args[0] & COSY_SHARE_FD);
	long ret;

	/* Is not exact if several threads use the share. */
	data_race(share->calls++);
	if (nr == __NR_close)
		return cosy_share_close(share, args[0]);
	if (!copies) {
		if (nr == __NR_dup) {
			ret = cosy_share_dup(share, args[0]);
			if (likely(ret != -EAGAIN))
				return ret;
		}
		ret = cosy_share_translate(share, nr, args);
		if (unlikely(ret))
			return ret;
	}
	ret = cosy_share_reserve(share, cosy_share_makes(kind));
	if (unlikely(ret))
		return ret;
	if (unlikely(copies))
		ret = cosy_share_copy_in(share, args[0]);
	else
		ret = cosy_share_nested(share, nr, args);
	if (kind != COSY_SHARE_NOTHING) {
		if (ret < 0)
			cosy_share_unreserve(share, cosy_share_makes(kind));
		else if (kind == COSY_SHARE_RESULT)
			ret = cosy_share_global(share, ret);
		else
			ret = cosy_share_put_pair(share, args[kind - COSY_SHARE_PAIR]);
		cosy_share_check_end(share);
	}
	/* restart_syscall() would not use the share. */
	return ret == -ERESTART_RESTARTBLOCK ? -EINTR : ret;
}

/**
 * cosy_share_call() - COSY_SHARE_CALL
 * @share: the share, which the current thread may use
 * @arg:   struct cosy_share_call of the caller
 *
 * Return: what the interface documents.
 */
long cosy_share_call(struct cosy_share *share, struct cosy_share_call __user *arg)
{
	struct cosy_share_call call __uninitialized;
	u32 nr;

	if (copy_from_user(&call, arg, sizeof(call)))
		return -EFAULT;
	if (call.status || call.nr >= COSY_SHARE_CALLS)
		return -EINVAL;
	nr = array_index_nospec(call.nr, COSY_SHARE_CALLS);
	if (!cosy_share_kinds[nr] || !cosy_share_allows(nr, call.args[1], call.args[2]))
		return -EINVAL;
	if (unlikely(READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_ENTER ||
		     cosy_ptraced()) &&
	    cosy_share_is_watched(nr, call.args))
		return put_user(COSY_SHARE_LEFT, &arg->status) ? -EFAULT : -ECANCELED;
	return cosy_share_make(share, nr, call.args);
}
