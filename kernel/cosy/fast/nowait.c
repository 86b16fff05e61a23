// SPDX-License-Identifier: GPL-2.0
/*
 * nowait.c - makes calls that return the status of a file, or open it, if they need not wait.
 *
 * The calling thread must not wait. So the data must be in the dentry cache and in memory that
 * is present, and no file system may have to ask a server. Otherwise the call has no effect, and
 * a thread that may wait has to make it.
 */
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/rcupdate.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>

#include "call/history.h"
#include "fast/calls.h"
#include "fast/name.h"
#include "fast/nowait.h"
#include "kernel/internals.h"

/* For walks that fail instead of waiting, and copies of names without an allocation. */
#define COSY_NOWAIT_WALK_NEEDS	(COSY_NEEDS(filename) | COSY_NEEDS(filename_lookup))

/* Return true if the path ends in a name. Otherwise the walk revalidates its last directory. */
static bool cosy_ends_in_name(const struct cosy_name *name)
{
	const char *last = strrchr(name->text, '/');

	last = last ? last + 1 : name->text;
	return *last && strcmp(last, ".") && strcmp(last, "..");
}

/*
 * Walk to a name in the dentry cache. If the last step of a walk was into a mount, or a link to
 * ".." or "/", the kernel asks the file system whether the end of the walk is valid. The file
 * system may then ask a server. With LOOKUP_MOUNTPOINT the kernel does not ask, but enters a mount
 * on the end of the walk, which the plain call may not enter. So return -EAGAIN at the root of any
 * mount.
 */
static long cosy_nowait_walk(int dfd, struct cosy_name *name, unsigned int flags,
			     struct path *path)
{
	long err = cosy_name_lookup(dfd, name, flags | LOOKUP_CACHED | LOOKUP_MOUNTPOINT, path);

	if (err || path->dentry != path->mnt->mnt_root)
		return err;
	path_put(path);
	return -EAGAIN;
}

/*
 * Look up a name. Return 0, an error, or -EAGAIN. After 0 the caller calls path_put(), which may
 * free the file if another thread has removed it meanwhile.
 */
static long cosy_nowait_lookup(int dfd, const char __user *from, unsigned int flags,
			       struct path *path)
{
	struct cosy_name name __uninitialized;
	long err = COSY_WALK;

	if (!cosy_name_text(&name, from))
		return -EAGAIN;
	if (cosy_has(COSY_CHILD_NEEDS))
		err = cosy_child_path(dfd, &name, flags & LOOKUP_FOLLOW, path);
	if (err == COSY_WALK) {
		if (!cosy_has(COSY_NOWAIT_WALK_NEEDS) || !cosy_ends_in_name(&name))
			return -EAGAIN;
		cosy_name_finish(&name, from);
		err = cosy_nowait_walk(dfd, &name, flags, path);
	}
	if (unlikely(err))
		return err;
	if (likely(cosy_is_in_memory(path->dentry)))
		return 0;
	path_put(path);
	return -EAGAIN;
}

static long cosy_nowait_stat_at(int dfd, u64 name, u64 to, unsigned int flags)
{
	unsigned int lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	struct kstat stat __uninitialized;
	struct path path __uninitialized;
	long err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT))
		return -EAGAIN;
	err = cosy_nowait_lookup(dfd, u64_to_user_ptr(name), lookup, &path);
	if (err)
		return err;
	err = vfs_getattr(&path, &stat, STATX_BASIC_STATS,
			  flags | AT_NO_AUTOMOUNT);
	path_put(&path);
	return err ?: cosy_stat_put(&stat, u64_to_user_ptr(to));
}

static long cosy_nowait_stat(const u64 *args)
{
	return cosy_nowait_stat_at(AT_FDCWD, args[0], args[1], 0);
}

static long cosy_nowait_lstat(const u64 *args)
{
	return cosy_nowait_stat_at(AT_FDCWD, args[0], args[1], AT_SYMLINK_NOFOLLOW);
}

static long cosy_nowait_newfstatat(const u64 *args)
{
	return cosy_nowait_stat_at(args[0], args[1], args[2], args[3]);
}

static long cosy_nowait_statx(const u64 *args)
{
	unsigned int flags = args[2], mask = args[3];
	unsigned int lookup = (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
			      (flags & AT_NO_AUTOMOUNT ? 0 : LOOKUP_AUTOMOUNT);
	struct kstat stat __uninitialized;
	struct path path __uninitialized;
	long err;

	if (!cosy_has(COSY_STATX_NEEDS) || !cosy_is_simple_statx(flags, mask))
		return -EAGAIN;
	err = cosy_nowait_lookup(args[0], u64_to_user_ptr(args[1]), lookup, &path);
	if (err)
		return err;
	err = -EAGAIN;
	if (!cosy_is_block_device(path.dentry))
		err = cosy_statx_get(&path, flags, mask, &stat);
	path_put(&path);
	return err ?: cosy_internal(cp_statx)(&stat, u64_to_user_ptr(args[4]));
}

static long cosy_nowait_fstat(const u64 *args)
{
	struct cosy_fd fd = cosy_fd_get_raw(args[0]);
	struct kstat stat __uninitialized;
	long err = -EAGAIN;

	if (!fd.file)
		return -EBADF;
	if (cosy_is_in_memory(fd.file->f_path.dentry))
		err = vfs_getattr(&fd.file->f_path, &stat, STATX_BASIC_STATS, 0);
	cosy_fd_put(fd);
	return err ?: cosy_stat_put(&stat, u64_to_user_ptr(args[1]));
}

static long cosy_nowait_access_at(int dfd, u64 name, int mode, int flags)
{
	struct path path __uninitialized;
	long err;

	if (!cosy_is_simple_access(mode, flags))
		return -EAGAIN;
	err = cosy_nowait_lookup(dfd, u64_to_user_ptr(name),
				 flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW,
				 &path);
	if (err)
		return err;
	rcu_read_lock();
	err = cosy_access_path(&path, mode, MAY_NOT_BLOCK);
	rcu_read_unlock();
	path_put(&path);
	return err == -ECHILD ? -EAGAIN : err;
}

static long cosy_nowait_access(const u64 *args)
{
	return cosy_nowait_access_at(AT_FDCWD, args[0], args[1], 0);
}

static long cosy_nowait_faccessat(const u64 *args)
{
	return cosy_nowait_access_at(args[0], args[1], args[2], 0);
}

static long cosy_nowait_faccessat2(const u64 *args)
{
	return cosy_nowait_access_at(args[0], args[1], args[2], args[3]);
}

/* For reading only: to create a file, or to empty it, may wait for the disk. */
static long cosy_nowait_open_at(int dfd, u64 name, unsigned int flags)
{
	const char __user *from = u64_to_user_ptr(name);
	struct cosy_name copy __uninitialized;
	struct file *file;
	long err;
	int fd;

	if (flags & ~COSY_SIMPLE_OPEN_FLAGS || !cosy_has(COSY_CHILD_OPEN_NEEDS) ||
	    !cosy_name_text(&copy, from))
		return -EAGAIN;
	fd = get_unused_fd_flags(flags);
	if (unlikely(fd < 0))
		return fd;
	err = cosy_child_open(dfd, &copy, (flags | O_LARGEFILE) & ~O_CLOEXEC, true, &file);
	if (unlikely(err)) {
		put_unused_fd(fd);
		return err == COSY_WALK ? -EAGAIN : err;
	}
	cosy_fsnotify_opened(file);
	fd_install(fd, file);
	return fd;
}

static long cosy_nowait_open(const u64 *args)
{
	return cosy_nowait_open_at(AT_FDCWD, args[0], args[1]);
}

static long cosy_nowait_openat(const u64 *args)
{
	return cosy_nowait_open_at(args[0], args[1], args[2]);
}

static long cosy_nowait_make(unsigned int nr, const u64 *args)
{
	switch (nr) {
#define COSY_NOWAIT(name) case __NR_##name: return cosy_nowait_##name(args);
#include <syscalls.def>
	default:
		return -EAGAIN;
	}
}

/**
 * cosy_nowait_call() - make a COSY_NOWAIT call, if it need not wait
 * @nr:	  its number; seccomp filters allow it, and it is not traced
 * @args: its six arguments
 *
 * Return: the result of the system call; -EAGAIN if it might wait. Then it has no effect, except
 * that a part of the result may be written.
 */
long cosy_nowait_call(unsigned int nr, const u64 *args)
{
	long ret;

	cosy_history_clear();
	/* Handling a page fault may wait. */
	pagefault_disable();
	ret = cosy_nowait_make(nr, args);
	pagefault_enable();
	/* The native call may succeed after a page fault or another look-up, or restart. */
	if (ret == -EFAULT || ret == -ESTALE || ret <= -ERESTARTSYS)
		return -EAGAIN;
	if (trace_fast_enabled() && ret != -EAGAIN)
		trace_fast(nr, ret);
	return ret;
}
