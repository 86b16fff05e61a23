// SPDX-License-Identifier: GPL-2.0
/*
 * nowait.c - calls that tell what a file is, made if that takes no waiting.
 *
 * They are made for a thread that has other things to do: what they need has to be in the
 * dentry cache and in memory that is present, and no server may have to be asked. Otherwise
 * nothing has happened, and the call is for a thread that may wait.
 */
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
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

/* Walks that fail without waiting, and copies of names that need no allocation. */
#define COSY_NOWAIT_WALK_NEEDS	(COSY_NEEDS(filename) | COSY_NEEDS(filename_lookup))

/*
 * Return true if the file system has the file's status in memory. Those on disks and tmpfs do.
 * Others ask a server, and most revalidate entries there too, but not the root of a mount. What an
 * overlay asks is unknown here. The size of an encrypted link is the size of its target, which may
 * have to be read.
 */
static bool cosy_is_in_memory(const struct path *path)
{
	const struct dentry *dentry = path->dentry;
	const struct inode *inode = d_inode(dentry);
	const struct super_block *sb = dentry->d_sb;

	if (READ_ONCE(dentry->d_flags) & DCACHE_OP_REVALIDATE || IS_ROOT(dentry))
		return false;
	if (S_ISLNK(inode->i_mode) && IS_ENCRYPTED(inode))
		return false;
	return sb->s_type->fs_flags & FS_REQUIRES_DEV ||
	       sb->s_magic == TMPFS_MAGIC;
}

/* Return true if the path ends in a name. Otherwise the walk revalidates its last directory. */
static bool cosy_ends_in_name(const struct cosy_name *name)
{
	const char *last = strrchr(name->text, '/');

	last = last ? last + 1 : name->text;
	return *last && strcmp(last, ".") && strcmp(last, "..");
}

/*
 * Walk to a name, in the dentry cache. The kernel asks the file system whether the end of a walk is
 * valid if the last step was one into a mount, or a link to ".." or "/". That may ask a server.
 * With LOOKUP_MOUNTPOINT the kernel does not ask. Instead it enters a mount on the end of the walk,
 * which the plain call may not enter: so the call is given back at the root of any mount.
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
 * Releasing the path may free the file, if another thread has removed it meanwhile.
 *
 * Find what a name leads to. Return: 0, for path_put(); why it leads nowhere; -EAGAIN.
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
	if (likely(cosy_is_in_memory(path)))
		return 0;
	path_put(path);
	return -EAGAIN;
}

static long cosy_nowait_stat(int dfd, u64 name, u64 to, unsigned int flags)
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

static long cosy_nowait_statx(int dfd, u64 name, unsigned int flags,
			      unsigned int mask, u64 to)
{
	unsigned int lookup = (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
			      (flags & AT_NO_AUTOMOUNT ? 0 : LOOKUP_AUTOMOUNT);
	struct kstat stat __uninitialized;
	struct path path __uninitialized;
	long err;

	if (!cosy_has(COSY_STATX_NEEDS) || !cosy_statx_plainly(flags, mask))
		return -EAGAIN;
	err = cosy_nowait_lookup(dfd, u64_to_user_ptr(name), lookup, &path);
	if (err)
		return err;
	err = cosy_internal(vfs_statx_path)(&path, flags, &stat, mask);
	path_put(&path);
	return err ?: cosy_internal(cp_statx)(&stat, u64_to_user_ptr(to));
}

static long cosy_nowait_fstat(unsigned int nr, u64 to)
{
	struct cosy_fd fd = cosy_fd_get_raw(nr);
	struct kstat stat __uninitialized;
	long err = -EAGAIN;

	if (!fd.file)
		return -EBADF;
	if (cosy_is_in_memory(&fd.file->f_path))
		err = vfs_getattr(&fd.file->f_path, &stat, STATX_BASIC_STATS, 0);
	cosy_fd_put(fd);
	return err ?: cosy_stat_put(&stat, u64_to_user_ptr(to));
}

static long cosy_nowait_access(int dfd, u64 name, int mode, int flags)
{
	struct path path __uninitialized;
	long err;

	if (!cosy_access_plainly(mode, flags))
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

static long cosy_nowait_make(unsigned int nr, const u64 *args)
{
	switch (nr) {
	case __NR_stat:
		return cosy_nowait_stat(AT_FDCWD, args[0], args[1], 0);
	case __NR_lstat:
		return cosy_nowait_stat(AT_FDCWD, args[0], args[1],
					AT_SYMLINK_NOFOLLOW);
	case __NR_newfstatat:
		return cosy_nowait_stat(args[0], args[1], args[2], args[3]);
	case __NR_statx:
		return cosy_nowait_statx(args[0], args[1], args[2], args[3],
					 args[4]);
	case __NR_fstat:
		return cosy_nowait_fstat(args[0], args[1]);
	case __NR_access:
		return cosy_nowait_access(AT_FDCWD, args[0], args[1], 0);
	case __NR_faccessat:
		return cosy_nowait_access(args[0], args[1], args[2], 0);
	case __NR_faccessat2:
		return cosy_nowait_access(args[0], args[1], args[2], args[3]);
	default:
		return -EAGAIN;
	}
}

/**
 * cosy_nowait_call() - make a call that tells what a file is, if that takes no waiting
 * @nr:	  its number; seccomp filters and tracers let it pass
 * @args: its arguments, all six
 *
 * Return: what the system call returns; -EAGAIN if it would have to wait, or might: then nothing
 * has happened, but perhaps that a part of the result was written.
 */
long cosy_nowait_call(unsigned int nr, const u64 *args)
{
	long ret;

	cosy_history_clear();
	/* A page that is not there is brought by something that may wait. */
	pagefault_disable();
	ret = cosy_nowait_make(nr, args);
	pagefault_enable();
	/* Natively these are tried again. */
	if (ret == -EFAULT || ret == -ESTALE || ret <= -ERESTARTSYS)
		return -EAGAIN;
	if (trace_fast_enabled() && ret != -EAGAIN)
		trace_fast(nr, ret);
	return ret;
}
