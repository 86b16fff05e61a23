// SPDX-License-Identifier: GPL-2.0
/*
 * call.c - makes system calls in a share.
 *
 * Calls enter by lseek(), as runs of compounds do: it is the shortest path into a driver. dup() and
 * close() of a descriptor of the share take no arguments in memory, and no other table.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>

#include <cosy/calls.h>
#include <cosy/exec.h>

#include "call/call.h"
#include "call/history.h"
#include "call/request.h"
#include "share/share.h"
#include "share/table.h"

/* A power of two, so that a mask limits the index also on a mispredicted path. */
#define COSY_SHARE_CALLS	512
static_assert(NR_syscalls <= COSY_SHARE_CALLS);

/* What a call makes, as in syscalls.def. */
enum {
	COSY_SHARE_REFUSED,	/* not a call for shares */
	COSY_SHARE_NOTHING,
	COSY_SHARE_RESULT,
	COSY_SHARE_PAIR,	/* + the number of the argument */
};

/* By number. */
static const u8 cosy_share_kinds[COSY_SHARE_CALLS] = {
#define COSY_SHARES(name, makes)	[__NR_##name] = COSY_SHARE_##makes,
#define COSY_SHARES_PAIR(name, arg)	[__NR_##name] = COSY_SHARE_PAIR + (arg),
#include <syscalls.def>
};

/* Bit i: argument i is a descriptor. */
static const u8 cosy_share_masks[COSY_SHARE_CALLS] = {
#define COSY_SYSCALL(nr, name, args, nested)	[nr] = COSY_DESCRIPTOR_MASK(args),
#include <syscalls.def>
};

/* Return true if the thread's system calls may be watched. */
static bool cosy_share_asks(void)
{
	return READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_ENTER ||
	       cosy_ptraced();
}

/*
 * Return what an entry returns if the thread's system calls are watched, and this one must be seen;
 * otherwise 0.
 */
static noinline loff_t cosy_share_leave(u32 nr, const u64 *args)
{
	struct cosy_state st __uninitialized;
	int i;

	if (cosy_ptraced())
		return COSY_CALL_LEFT | COSY_CALL_TRACED;
	for (i = 0; i < COSY_MAX_ARGS; i++)
		cosy_env_arg(&st.env, i, args[i]);
	if (!cosy_env_watched(&st, nr))
		return 0;
	return COSY_CALL_LEFT |
	       (st.env.step == COSY_STEP_TRACED ? COSY_CALL_TRACED : COSY_CALL_FILTERED);
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
 * Make an epoll_ctl() of an epoll of the process. The table of the share has a place for the epoll,
 * also if it is full, so the call finds both descriptors there.
 */
static long cosy_share_control(struct cosy_share *share, u64 *args)
{
	const int fd = cosy_share_local(share, args[2]);
	struct file *epoll = fd < 0 ? NULL : fget(args[0]);
	long ret;

	if (!epoll)
		return -EBADF;
	ret = mutex_lock_killable(&share->control);
	if (ret)
		goto put;
	args[0] = COSY_SHARE_LENT;
	args[2] = fd;
	cosy_table_lend(&share->files, epoll);
	ret = cosy_share_nested(share, __NR_epoll_ctl, args);
	cosy_table_lend(&share->files, NULL);
	mutex_unlock(&share->control);
put:
	fput(epoll);
	return ret;
}

/*
 * Translate two new descriptors in the process's memory. If that cannot be written any more, close
 * the descriptors that are there. If the process has changed them, it closes others of its own.
 */
static long cosy_share_put_pair(struct cosy_share *share, u64 addr)
{
	int __user *to = u64_to_user_ptr(addr);
	int fds[2], i;
	struct file *file;

	if (copy_from_user(fds, to, sizeof(fds)))
		return -EFAULT;
	for (i = 0; i < ARRAY_SIZE(fds); i++)
		if (put_user((int)(share->base + ((fds[i] - 1) & (COSY_SHARE_MAX - 1))), &to[i]))
			goto close;
	return 0;

close:
	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		file = cosy_table_take(share, fds[i]);
		if (file)
			cosy_table_put(share, file);
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
static __always_inline long cosy_share_close_inline(struct cosy_share *share, u32 fd)
{
	int number = cosy_share_local(share, fd);
	struct file *file = number < 0 ? NULL : cosy_table_take(share, number);
	long ret;

	if (!file)
		return -EBADF;
	ret = cosy_table_put(share, file);
	/* As in close(): the descriptor is gone, so the call is not made again. */
	return cosy_is_restart(ret) ? -EINTR : ret;
}

/**
 * cosy_share_close() - close a descriptor
 * @share: the share, which the current thread may use
 * @fd:    the descriptor
 *
 * Return: as close(2) in the share.
 */
long cosy_share_close(struct cosy_share *share, u32 fd)
{
	return cosy_share_close_inline(share, fd);
}

/* dup() of a descriptor of the share. Return -EAGAIN if the system call has to be made. */
static __always_inline long cosy_share_dup(struct cosy_share *share, u32 fd)
{
	int number = cosy_share_local(share, fd), to;

	if (number < 0)
		return number;
	to = cosy_table_dup(share, number, rlimit(RLIMIT_NOFILE));
	if (to < 0)
		return to;
	return cosy_share_global(share, to);
}

static void cosy_share_made(struct cosy_share *share)
{
	/* Is not exact if several threads use the share. */
	data_race(share->calls++);
}

static long cosy_share_make(struct cosy_share *share, u32 nr, u64 *args)
{
	const u8 kind = cosy_share_kinds[nr];
	const bool copies = nr == __NR_dup && !(args[0] & COSY_SHARE_FD);
	long ret;

	cosy_share_made(share);
	if (nr == __NR_close)
		return cosy_share_close_inline(share, args[0]);
	if (nr == __NR_epoll_ctl && !(args[0] & COSY_SHARE_FD))
		return cosy_share_control(share, args);
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

/*
 * Make a call that is in the process's memory. This function has a large stack frame, which short
 * calls do not need.
 */
static noinline loff_t cosy_share_request(struct cosy_share *share, u64 addr)
{
	struct cosy_call __user *ucall = u64_to_user_ptr(addr);
	u64 args[COSY_MAX_ARGS] __uninitialized, read;
	loff_t left;
	long result;
	u32 nr;

	if (READ_ONCE(share->ended))
		return -ESHUTDOWN;
	/* Without the tag this is no user address, and the access faults. */
	if (!cosy_request_read(&read, args, ucall))
		return addr < COSY_RUN_TAG ? -EFAULT : -ESPIPE;
	if (!cosy_stack_suffices())
		return -ELOOP;
	nr = (u32)read;
	if (nr >= NR_syscalls)
		return -EINVAL;
	/* This is the length of the shortest table that it indexes. */
	nr = array_index_nospec(nr, NR_syscalls);
	if (!cosy_share_kinds[nr] || !cosy_share_allows(nr, args[1], args[2]))
		return -EINVAL;
	if (unlikely(cosy_share_asks())) {
		left = cosy_share_leave(nr, args);
		if (left)
			return left;
	}
	result = cosy_share_make(share, nr, args);
	if (unlikely(cosy_call_restarts(result)))
		return cosy_request_interrupted(ucall, result);
	return COSY_CALL_DONE | (u32)result;
}

/* Make a short call: its number and its only argument are in the offset. */
static __always_inline loff_t cosy_share_short(struct cosy_share *share, u32 nr, u32 fd)
{
	long result;

	if (nr == __NR_close) {
		result = cosy_share_close_inline(share, fd);
	} else {
		result = cosy_share_dup(share, fd);
		if (unlikely(result == -EAGAIN))
			return COSY_CALL_LEFT | COSY_CALL_UNKNOWN;
	}
	cosy_share_made(share);
	return COSY_CALL_DONE | (u32)result;
}

/* The same if the call may be watched, or is not a call for the short path. */
static noinline loff_t cosy_share_short_slow(struct cosy_share *share, u64 nr, u32 fd)
{
	const u64 args[COSY_MAX_ARGS] = { fd };
	loff_t left;

	if (nr != __NR_dup && nr != __NR_close)
		return nr < COSY_SHARE_CALLS ? COSY_CALL_LEFT | COSY_CALL_UNKNOWN : -ESPIPE;
	left = cosy_share_leave(nr, args);
	return left ? left : cosy_share_short(share, nr, fd);
}

/* These have only the stack frames that they need. */
static noinline loff_t cosy_share_short_close(struct cosy_share *share, u32 fd)
{
	return cosy_share_short(share, __NR_close, fd);
}

static noinline loff_t cosy_share_short_dup(struct cosy_share *share, u32 fd)
{
	return cosy_share_short(share, __NR_dup, fd);
}

/**
 * cosy_share_llseek() - make a system call in a share, by lseek(2)
 * @file:   the share's file
 * @offset: COSY_RUN_TAG and the address of a struct cosy_call, or cosy_share_short_call()
 * @whence: COSY_CALL_WHENCE, or COSY_RUN_WHENCE
 *
 * The call may close the last descriptor of the share, so @file must not be used after it. All
 * calls here are tail calls, so that there is nothing to save.
 *
 * Return: the value that the interface documents; -ESPIPE for any other lseek.
 */
loff_t cosy_share_llseek(struct file *file, loff_t offset, int whence)
{
	struct cosy_share *share = file->private_data;
	const u64 what = (u64)offset - COSY_RUN_TAG, nr = what >> 32;

	/* The calls are 64-bit calls. They would detect a 32-bit or x32 entry. */
	if (unlikely(current_pt_regs()->orig_ax != __NR_lseek))
		return -EOPNOTSUPP;
	if (unlikely(share->mm != current->mm))
		return -EPERM;
	if (whence != COSY_RUN_WHENCE)
		return whence == COSY_CALL_WHENCE ? cosy_share_request(share, what) : -ESPIPE;
	/* A share that has ended has no descriptors, and gets none. */
	if (unlikely(cosy_share_asks()))
		return cosy_share_short_slow(share, nr, what);
	if (nr == __NR_close)
		return cosy_share_short_close(share, what);
	if (nr == __NR_dup)
		return cosy_share_short_dup(share, what);
	return cosy_share_short_slow(share, nr, what);
}
