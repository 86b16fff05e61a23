// SPDX-License-Identifier: GPL-2.0
/*
 * stat.c - fast paths of the stat family. They write directly to the caller's structure.
 */
#include <linux/cred.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/stat.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "fast/calls.h"
#include "fast/name.h"
#include "kernel/internals.h"

/* The same as cosy_stat_put(), inlined into the hot callers. */
static __always_inline long cosy_put(const struct kstat *stat,
				     struct stat __user *to)
{
	struct user_namespace *ns = current_user_ns();
	uid_t uid = __kuid_val(stat->uid);
	gid_t gid = __kgid_val(stat->gid);
	const void __user *p = to;

	/* Valid ids of the initial user namespace need no translation. */
	if (unlikely(ns != &init_user_ns || !uid_valid(stat->uid) ||
		     !gid_valid(stat->gid))) {
		uid = from_kuid_munged(ns, stat->uid);
		gid = from_kgid_munged(ns, stat->gid);
	}
	if (!cosy_user_begin(&p, sizeof(*to)))
		return -EFAULT;
	to = (struct stat __user *)p;
	unsafe_put_user(new_encode_dev(stat->dev), &to->st_dev, fault);
	unsafe_put_user(stat->ino, &to->st_ino, fault);
	unsafe_put_user(stat->nlink, &to->st_nlink, fault);
	unsafe_put_user(stat->mode, &to->st_mode, fault);
	unsafe_put_user(uid, &to->st_uid, fault);
	unsafe_put_user(gid, &to->st_gid, fault);
	unsafe_put_user(0, &to->__pad0, fault);
	unsafe_put_user(new_encode_dev(stat->rdev), &to->st_rdev, fault);
	unsafe_put_user(stat->size, &to->st_size, fault);
	unsafe_put_user(stat->blksize, &to->st_blksize, fault);
	unsafe_put_user(stat->blocks, &to->st_blocks, fault);
	unsafe_put_user(stat->atime.tv_sec, &to->st_atime, fault);
	unsafe_put_user(stat->atime.tv_nsec, &to->st_atime_nsec, fault);
	unsafe_put_user(stat->mtime.tv_sec, &to->st_mtime, fault);
	unsafe_put_user(stat->mtime.tv_nsec, &to->st_mtime_nsec, fault);
	unsafe_put_user(stat->ctime.tv_sec, &to->st_ctime, fault);
	unsafe_put_user(stat->ctime.tv_nsec, &to->st_ctime_nsec, fault);
	unsafe_put_user(0, &to->__unused[0], fault);
	unsafe_put_user(0, &to->__unused[1], fault);
	unsafe_put_user(0, &to->__unused[2], fault);
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/**
 * cosy_stat_put() - write the status of a file to the process
 * @stat: the status
 * @to:   address in the process
 *
 * Does what cp_new_stat() in fs/stat.c does, without its intermediate copy.
 *
 * Return: 0 or -EFAULT.
 */
long cosy_stat_put(const struct kstat *stat, struct stat __user *to)
{
	return cosy_put(stat, to);
}

static noinline long cosy_stat_walk(int dfd, struct cosy_name *name,
				    const char __user *from, int flags,
				    struct kstat *stat)
{
	unsigned int lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	struct path path __uninitialized;
	int err;

	cosy_name_finish(name, from);
	err = cosy_name_lookup(dfd, name, lookup, &path);
	if (err)
		return err;
	err = vfs_getattr(&path, stat, STATX_BASIC_STATS,
			  flags | AT_NO_AUTOMOUNT);
	path_put(&path);
	return err;
}

static __always_inline struct cosy_made
cosy_stat_path(struct cosy_state *st, const struct cosy_insn *ip, int dfd,
	       u64 name_at, u64 stat_at, int flags)
{
	struct cosy_name name __uninitialized;
	struct kstat stat __uninitialized;
	long ret = COSY_WALK;

	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)))
		return cosy_fast_plain(st, ip);
	if (unlikely(!cosy_name_text(&name, u64_to_user_ptr(name_at))))
		return cosy_fast_plain(st, ip);

	if (cosy_has(COSY_CHILD_NEEDS))
		ret = cosy_child_stat(dfd, &name, flags, &stat);
	if (ret == COSY_WALK)
		ret = cosy_stat_walk(dfd, &name, u64_to_user_ptr(name_at),
				     flags, &stat);
	if (unlikely(ret))
		return cosy_named(st, ip, ret);
	return cosy_made(ip, cosy_put(&stat, u64_to_user_ptr(stat_at)));
}

static noinline struct cosy_made cosy_stat_here(struct cosy_state *st,
						const struct cosy_insn *ip,
						int flags)
{
	return cosy_stat_path(st, ip, AT_FDCWD, cosy_fast_arg(st, ip, 0),
			      cosy_fast_arg(st, ip, 1), flags);
}

/** cosy_fast_stat() - stat(name, statbuf) */
struct cosy_made cosy_fast_stat(struct cosy_state *st,
				const struct cosy_insn *ip)
{
	return cosy_stat_here(st, ip, 0);
}

/** cosy_fast_lstat() - lstat(name, statbuf) */
struct cosy_made cosy_fast_lstat(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	return cosy_stat_here(st, ip, AT_SYMLINK_NOFOLLOW);
}

/** cosy_fast_newfstatat() - newfstatat(dfd, name, statbuf, flags) */
struct cosy_made cosy_fast_newfstatat(struct cosy_state *st,
				      const struct cosy_insn *ip)
{
	return cosy_stat_path(st, ip, cosy_fast_arg(st, ip, 0),
			      cosy_fast_arg(st, ip, 1),
			      cosy_fast_arg(st, ip, 2),
			      cosy_fast_arg(st, ip, 3));
}

/**
 * cosy_is_simple_statx() - test whether a statx() is an ordinary one
 * @flags: its flags
 * @mask:  its mask
 *
 * Return: false if the kernel's own function has to handle it, because it is invalid or unusual.
 */
bool cosy_is_simple_statx(unsigned int flags, unsigned int mask)
{
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT |
		      AT_STATX_SYNC_TYPE))
		return false;
	return (flags & AT_STATX_SYNC_TYPE) != AT_STATX_SYNC_TYPE &&
	       !(mask & COSY_STATX_SPECIAL);
}

/**
 * cosy_statx_get() - get the status of a file for statx()
 * @path:  the file, which is no block device
 * @flags: AT_STATX_..., and others that are ignored here
 * @mask:  STATX_..., without COSY_STATX_SPECIAL
 * @stat:  out
 *
 * Does what vfs_statx_path() in fs/stat.c does, which compilers inline. COSY_STATX_NEEDS must be
 * there.
 *
 * Return: 0 or an error.
 */
long cosy_statx_get(const struct path *path, unsigned int flags, u32 mask, struct kstat *stat)
{
	const void *mount = (const void *)path->mnt - cosy_internal_offset(COSY_INTERNAL_mount_mnt);
	long err = vfs_getattr(path, stat, mask, flags);

	if (unlikely(err))
		return err;
	stat->mnt_id = *(const int *)(mount + cosy_internal_offset(COSY_INTERNAL_mount_mnt_id));
	stat->result_mask |= STATX_MNT_ID;
	if (path->dentry == path->mnt->mnt_root)
		stat->attributes |= STATX_ATTR_MOUNT_ROOT;
	stat->attributes_mask |= STATX_ATTR_MOUNT_ROOT;
	return 0;
}

/** cosy_fast_statx() - statx(dfd, name, flags, mask, statxbuf) */
struct cosy_made cosy_fast_statx(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	const char __user *from = u64_to_user_ptr(cosy_fast_arg(st, ip, 1));
	struct statx __user *to = u64_to_user_ptr(cosy_fast_arg(st, ip, 4));
	unsigned int flags = cosy_fast_arg(st, ip, 2);
	unsigned int mask = cosy_fast_arg(st, ip, 3);
	int dfd = cosy_fast_arg(st, ip, 0);
	struct cosy_name name __uninitialized;
	struct kstat stat __uninitialized;
	long ret = COSY_WALK;

	if (flags & AT_EMPTY_PATH || !cosy_name_text(&name, from))
		return cosy_fast_plain(st, ip);
	if (cosy_has(COSY_CHILD_STATX_NEEDS) &&
	    cosy_is_simple_statx(flags, mask))
		ret = cosy_child_statx(dfd, &name, flags, mask, &stat);
	if (!ret)
		return cosy_made(ip, cosy_internal(cp_statx)(&stat, to));
	if (ret == COSY_WALK) {
		cosy_name_finish(&name, from);
		ret = cosy_internal(do_statx)(dfd, &name.filename, flags, mask,
					      to);
	}
	return cosy_named(st, ip, ret);
}
