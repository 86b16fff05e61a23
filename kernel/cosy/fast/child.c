// SPDX-License-Identifier: GPL-2.0
/*
 * child.c - what a directory has at hand: entries looked up by their name alone,
 * without a walk.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/namei.h>
#include <linux/rcupdate.h>
#include <linux/stat.h>

#include "fast/calls.h"
#include "kernel/internals.h"

static bool cosy_is_dots(const struct cosy_name *name)
{
	return name->len == 1 || (name->len == 2 && name->text[1] == '.');
}

/*
 * May the directory be searched, as far as its mode says? Asked before the look-up,
 * with no security module: how long that takes must not tell who may not which names
 * the cache has. Who needs a capability or an ACL for it walks.
 */
static __always_inline bool cosy_plainly_searchable(const struct path *dir)
{
	const struct inode *inode = d_inode(dir->dentry);
	struct posix_acl *acl = READ_ONCE(inode->i_acl);
	umode_t mode = READ_ONCE(inode->i_mode);

	/* Overlay file systems do not cache the ACL; others have it by now. */
	if (likely((mode & S_IXUGO) == S_IXUGO && (!acl || is_uncached_acl(acl))))
		return true;
	return mode & S_IXUSR && uid_eq(inode->i_uid, current_fsuid()) &&
	       !is_idmapped_mnt(dir->mnt);
}

/*
 * What a walk would find without leaving the dentry cache or the directory: no
 * mounts, no links to be followed, nothing to be asked whether it is still valid.
 * NULL if it has to walk; -ENOENT if the cache says that there is no such entry.
 * Security modules are asked last, and once, be it here or by the walk. The caller
 * holds @dir.
 */
static __always_inline struct dentry *
cosy_child_lookup(const struct path *dir, const struct cosy_name *name,
		  bool follow)
{
	struct qstr last __uninitialized;
	unsigned int seq __uninitialized;
	struct dentry *dentry;
	unsigned int flags;
	bool changed;
	int err;

	if (!d_can_lookup(dir->dentry) ||
	    dir->dentry->d_flags & (DCACHE_OP_HASH | DCACHE_OP_COMPARE) ||
	    unlikely(!cosy_plainly_searchable(dir)))
		return NULL;
	rcu_read_lock();
	last.name = name->text;
	last.len = name->len;
	last.hash = full_name_hash(dir->dentry, name->text, name->len);
	dentry = cosy_internal(__d_lookup_rcu)(dir->dentry, &last, &seq);
	if (unlikely(!dentry))
		goto unusual;
	flags = READ_ONCE(dentry->d_flags);
	if (unlikely(flags & (DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE) ||
		     (follow && (flags & DCACHE_ENTRY_TYPE) == DCACHE_SYMLINK_TYPE)))
		goto unusual;
	err = path_permission(dir, MAY_EXEC | MAY_NOT_BLOCK);
	if (unlikely(err)) {
		rcu_read_unlock();
		return err == -ECHILD ? NULL : ERR_PTR(err);
	}
	if (unlikely((flags & DCACHE_ENTRY_TYPE) == DCACHE_MISS_TYPE)) {
		changed = read_seqcount_retry(&dentry->d_seq, seq);
		rcu_read_unlock();
		return changed ? NULL : ERR_PTR(-ENOENT);
	}
	/* Is it still what was found, now that it is held? */
	if (unlikely(!lockref_get_not_dead(&dentry->d_lockref)))
		goto unusual;
	if (unlikely(read_seqcount_retry(&dentry->d_seq, seq))) {
		rcu_read_unlock();
		dput(dentry);
		return NULL;
	}
	rcu_read_unlock();
	return dentry;

unusual:
	rcu_read_unlock();
	return NULL;
}

/*
 * What is wanted of an entry: what fstatat() tells, or statx(), into a struct
 * kstat; or the entry itself, into a struct path.
 */
enum cosy_wanted { COSY_WANT_STAT, COSY_WANT_STATX, COSY_WANT_PATH };

struct cosy_asked {
	enum cosy_wanted wanted;
	unsigned int flags;
	u32 mask;
};

static __always_inline long
cosy_child_ask_in(const struct path *dir, const struct cosy_name *name,
		  struct cosy_asked asked, void *to)
{
	struct path path __uninitialized;
	int err;

	path.mnt = dir->mnt;
	path.dentry = cosy_child_lookup(dir, name,
					!(asked.flags & AT_SYMLINK_NOFOLLOW));
	if (!path.dentry)
		return COSY_WALK;
	if (IS_ERR(path.dentry))
		return PTR_ERR(path.dentry);
	if (asked.wanted == COSY_WANT_PATH) {
		mntget(path.mnt);
		*(struct path *)to = path;
		return 0;
	}
	if (asked.wanted == COSY_WANT_STATX)
		err = cosy_internal(vfs_statx_path)(&path, asked.flags, to,
						   asked.mask);
	else
		err = vfs_getattr(&path, to, STATX_BASIC_STATS,
				  asked.flags | AT_NO_AUTOMOUNT);
	dput(path.dentry);
	return err;
}

static noinline long cosy_child_ask_here(const struct cosy_name *name,
					 struct cosy_asked asked, void *to)
{
	struct path pwd __uninitialized;
	long ret;

	get_fs_pwd(current->fs, &pwd);
	ret = cosy_child_ask_in(&pwd, name, asked, to);
	path_put(&pwd);
	return ret;
}

static __always_inline long cosy_child_ask(int dfd, const struct cosy_name *name,
					   struct cosy_asked asked, void *to)
{
	struct cosy_fd fd;
	long ret;

	if (unlikely(name->text[0] == '.' && cosy_is_dots(name)))
		return COSY_WALK;
	if (dfd == AT_FDCWD)
		return cosy_child_ask_here(name, asked, to);
	fd = cosy_fd_get(dfd);
	if (unlikely(!fd.file))
		return COSY_WALK;
	ret = cosy_child_ask_in(&fd.file->f_path, name, asked, to);
	cosy_fd_put(fd);
	return ret;
}

/**
 * cosy_child_stat() - stat an entry of a directory
 * @dfd:   the directory
 * @name:  the name, without a slash
 * @flags: AT_SYMLINK_NOFOLLOW or 0
 * @stat:  out
 *
 * Return: 0 or why it failed; COSY_WALK if it has to be walked to, then nothing
 * has happened.
 */
long cosy_child_stat(int dfd, const struct cosy_name *name, int flags,
		     struct kstat *stat)
{
	const struct cosy_asked asked = {
		.wanted = COSY_WANT_STAT,
		.flags = flags,
	};

	return cosy_child_ask(dfd, name, asked, stat);
}

/**
 * cosy_child_statx() - the same for statx()
 * @dfd:   the directory
 * @name:  the name, without a slash
 * @flags: AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT and one of AT_STATX_SYNC_TYPE
 * @mask:  STATX_...
 * @stat:  out
 *
 * Return: as cosy_child_stat().
 */
long cosy_child_statx(int dfd, const struct cosy_name *name, unsigned int flags,
		      u32 mask, struct kstat *stat)
{
	const struct cosy_asked asked = {
		.wanted = COSY_WANT_STATX,
		.flags = flags,
		.mask = mask,
	};

	return cosy_child_ask(dfd, name, asked, stat);
}

/**
 * cosy_child_path() - find an entry of a directory
 * @dfd:    the directory
 * @name:   the name, without a slash
 * @follow: if it is a link, what it leads to is meant
 * @path:   out: the entry, for path_put()
 *
 * Return: as cosy_child_stat().
 */
long cosy_child_path(int dfd, const struct cosy_name *name, bool follow,
		     struct path *path)
{
	const struct cosy_asked asked = {
		.wanted = COSY_WANT_PATH,
		.flags = follow ? 0 : AT_SYMLINK_NOFOLLOW,
	};

	return cosy_child_ask(dfd, name, asked, path);
}
