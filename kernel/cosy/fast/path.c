// SPDX-License-Identifier: GPL-2.0
/*
 * path.c - fast paths of calls that take file names.
 *
 * They call the kernel functions that implement the system calls. Those functions drop a reference
 * to the name. This does not free the name, because the module holds another reference.
 */
#include <linux/cred.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/securebits.h>
#include <linux/stat.h>
#include <linux/time64.h>
#include <linux/uaccess.h>

#include "fast/calls.h"
#include "fast/name.h"
#include "kernel/internals.h"

/* Copy the name that is argument @i. Return false if the plain call has to be made. */
static bool cosy_name_arg(const struct cosy_state *st,
			  const struct cosy_insn *ip, unsigned int i,
			  struct cosy_name *name)
{
	return likely(cosy_name_get(name,
				    u64_to_user_ptr(cosy_fast_arg(st, ip, i))));
}

/**
 * cosy_path_arg() - look up the path of a name that is an argument
 * @st:    the run
 * @ip:    the call's slot
 * @dfd:   directory descriptor for relative names
 * @i:     number of the argument
 * @flags: LOOKUP_FOLLOW or 0
 * @path:  out: the path, to be released by cosy_path_done()
 * @made:  out, on failure: what the fast path has to return
 *
 * Return: true if the path was found.
 */
bool cosy_path_arg(struct cosy_state *st, const struct cosy_insn *ip, int dfd,
		   unsigned int i, unsigned int flags, struct path *path,
		   struct cosy_made *made)
{
	const char __user *from = u64_to_user_ptr(cosy_fast_arg(st, ip, i));
	struct cosy_name name __uninitialized;
	long err = COSY_WALK;

	if (unlikely(!cosy_name_text(&name, from))) {
		*made = cosy_fast_plain(st, ip);
		return false;
	}
	if (cosy_has(COSY_CHILD_NEEDS))
		err = cosy_child_path(dfd, &name, flags & LOOKUP_FOLLOW, path);
	if (err == COSY_WALK) {
		cosy_name_finish(&name, from);
		err = cosy_name_lookup(dfd, &name, flags, path);
	}
	if (likely(!err))
		return true;
	*made = cosy_named(st, ip, err);
	return false;
}

/**
 * cosy_path_done() - release the path of cosy_path_arg()
 * @st:   the run
 * @ip:   the call's slot
 * @path: the path
 * @err:  result of the system call
 *
 * Return: what the fast path has to return.
 */
struct cosy_made cosy_path_done(struct cosy_state *st,
				const struct cosy_insn *ip,
				const struct path *path, long err)
{
	path_put(path);
	return cosy_named(st, ip, err);
}

/** cosy_fast_unlink() - unlink(name) */
struct cosy_made cosy_fast_unlink(struct cosy_state *st,
				  const struct cosy_insn *ip)
{
	struct cosy_name name __uninitialized;

	if (!cosy_name_arg(st, ip, 0, &name))
		return cosy_fast_plain(st, ip);
	return cosy_named(st, ip, cosy_internal(do_unlinkat)(
		AT_FDCWD, &name.filename));
}

/** cosy_fast_unlinkat() - unlinkat(dfd, name, flags) */
struct cosy_made cosy_fast_unlinkat(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	struct cosy_name name __uninitialized;
	int dfd = cosy_fast_arg(st, ip, 0);
	int flags = cosy_fast_arg(st, ip, 2);

	if (flags & ~AT_REMOVEDIR)
		return cosy_made(ip, -EINVAL);
	if (!cosy_name_arg(st, ip, 1, &name))
		return cosy_fast_plain(st, ip);
	if (flags & AT_REMOVEDIR)
		return cosy_named(st, ip, cosy_internal(do_rmdir)(
			dfd, &name.filename));
	return cosy_named(st, ip, cosy_internal(do_unlinkat)(
		dfd, &name.filename));
}

/** cosy_fast_rmdir() - rmdir(name) */
struct cosy_made cosy_fast_rmdir(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	struct cosy_name name __uninitialized;

	if (!cosy_name_arg(st, ip, 0, &name))
		return cosy_fast_plain(st, ip);
	return cosy_named(st, ip, cosy_internal(do_rmdir)(
		AT_FDCWD, &name.filename));
}

static struct cosy_made cosy_mkdir(struct cosy_state *st,
				   const struct cosy_insn *ip, int dfd,
				   unsigned int i)
{
	struct cosy_name name __uninitialized;

	if (!cosy_name_arg(st, ip, i, &name))
		return cosy_fast_plain(st, ip);
	return cosy_named(st, ip, cosy_internal(do_mkdirat)(
		dfd, &name.filename, cosy_fast_arg(st, ip, i + 1)));
}

/** cosy_fast_mkdir() - mkdir(name, mode) */
struct cosy_made cosy_fast_mkdir(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	return cosy_mkdir(st, ip, AT_FDCWD, 0);
}

/** cosy_fast_mkdirat() - mkdirat(dfd, name, mode) */
struct cosy_made cosy_fast_mkdirat(struct cosy_state *st,
				   const struct cosy_insn *ip)
{
	return cosy_mkdir(st, ip, cosy_fast_arg(st, ip, 0), 1);
}

/* Implements the calls of the rename family. The names are arguments @i and @j. */
static struct cosy_made cosy_rename(struct cosy_state *st,
				    const struct cosy_insn *ip, int olddfd,
				    unsigned int i, int newdfd, unsigned int j,
				    unsigned int flags)
{
	struct cosy_name from __uninitialized, to __uninitialized;

	if (!cosy_name_arg(st, ip, i, &from) ||
	    !cosy_name_arg(st, ip, j, &to))
		return cosy_fast_plain(st, ip);
	return cosy_named(st, ip, cosy_internal(do_renameat2)(
		olddfd, &from.filename, newdfd, &to.filename, flags));
}

/** cosy_fast_rename() - rename(old, new) */
struct cosy_made cosy_fast_rename(struct cosy_state *st,
				  const struct cosy_insn *ip)
{
	return cosy_rename(st, ip, AT_FDCWD, 0, AT_FDCWD, 1, 0);
}

/** cosy_fast_renameat() - renameat(olddfd, old, newdfd, new) */
struct cosy_made cosy_fast_renameat(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	return cosy_rename(st, ip, cosy_fast_arg(st, ip, 0), 1,
			   cosy_fast_arg(st, ip, 2), 3, 0);
}

/** cosy_fast_renameat2() - renameat2(olddfd, old, newdfd, new, flags) */
struct cosy_made cosy_fast_renameat2(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	return cosy_rename(st, ip, cosy_fast_arg(st, ip, 0), 1,
			   cosy_fast_arg(st, ip, 2), 3,
			   cosy_fast_arg(st, ip, 4));
}

static struct cosy_made cosy_link(struct cosy_state *st,
				  const struct cosy_insn *ip, int olddfd,
				  unsigned int i, int newdfd, unsigned int j,
				  int flags)
{
	struct cosy_name old __uninitialized, new __uninitialized;

	if (flags & AT_EMPTY_PATH)
		return cosy_fast_plain(st, ip);
	if (!cosy_name_arg(st, ip, i, &old) ||
	    !cosy_name_arg(st, ip, j, &new))
		return cosy_fast_plain(st, ip);
	return cosy_named(st, ip, cosy_internal(do_linkat)(
		olddfd, &old.filename, newdfd, &new.filename, flags));
}

/** cosy_fast_link() - link(old, new) */
struct cosy_made cosy_fast_link(struct cosy_state *st,
				const struct cosy_insn *ip)
{
	return cosy_link(st, ip, AT_FDCWD, 0, AT_FDCWD, 1, 0);
}

/** cosy_fast_linkat() - linkat(olddfd, old, newdfd, new, flags) */
struct cosy_made cosy_fast_linkat(struct cosy_state *st,
				  const struct cosy_insn *ip)
{
	return cosy_link(st, ip, cosy_fast_arg(st, ip, 0), 1,
			 cosy_fast_arg(st, ip, 2), 3, cosy_fast_arg(st, ip, 4));
}

static struct cosy_made cosy_symlink(struct cosy_state *st,
				     const struct cosy_insn *ip, int newdfd,
				     unsigned int j)
{
	struct cosy_name target __uninitialized, new __uninitialized;

	if (!cosy_name_arg(st, ip, 0, &target) ||
	    !cosy_name_arg(st, ip, j, &new))
		return cosy_fast_plain(st, ip);
	return cosy_named(st, ip, cosy_internal(do_symlinkat)(
		&target.filename, newdfd, &new.filename));
}

/** cosy_fast_symlink() - symlink(target, new) */
struct cosy_made cosy_fast_symlink(struct cosy_state *st,
				   const struct cosy_insn *ip)
{
	return cosy_symlink(st, ip, AT_FDCWD, 1);
}

/** cosy_fast_symlinkat() - symlinkat(target, newdfd, new) */
struct cosy_made cosy_fast_symlinkat(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	return cosy_symlink(st, ip, cosy_fast_arg(st, ip, 1), 2);
}

/*
 * Return true if the thread's credentials are those of its real user, as in most processes.
 * access() checks the real user. If they differ, the kernel creates credentials for the call.
 */
static bool cosy_access_as_we_are(void)
{
	const struct cred *cred = current_cred();
	kuid_t root;

	if (!uid_eq(cred->fsuid, cred->uid) || !gid_eq(cred->fsgid, cred->gid))
		return false;
	if (issecure(SECURE_NO_SETUID_FIXUP))
		return true;
	root = make_kuid(cred->user_ns, 0);
	if (!uid_eq(cred->uid, root))
		return cap_isclear(cred->cap_effective);
	return !memcmp(&cred->cap_effective, &cred->cap_permitted,
		       sizeof(cred->cap_effective));
}

/**
 * cosy_is_simple_access() - test whether an access() is an ordinary one
 * @mode:  the mode
 * @flags: the flags of faccessat2()
 *
 * Return: false if the kernel's own function has to handle it, because it is invalid or unusual.
 */
bool cosy_is_simple_access(int mode, int flags)
{
	if (mode & ~S_IRWXO || flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW))
		return false;
	return flags & AT_EACCESS || cosy_access_as_we_are();
}

/**
 * cosy_access_path() - check whether the process may access a file
 * @path: the file
 * @mode: the mode; cosy_is_simple_access() returned true for it
 * @how:  MAY_NOT_BLOCK inside an RCU read-side critical section, otherwise 0
 *
 * Does what do_faccessat() in fs/open.c does after the path walk.
 *
 * Return: the result of access(). With MAY_NOT_BLOCK also -ECHILD: the check would have to block.
 */
long cosy_access_path(const struct path *path, int mode, int how)
{
	struct inode *inode = d_backing_inode(path->dentry);
	bool noexec = path->mnt->mnt_flags & MNT_NOEXEC ||
		      path->mnt->mnt_sb->s_iflags & SB_I_NOEXEC;
	int err;

	if (mode & MAY_EXEC && S_ISREG(inode->i_mode) && noexec)
		return -EACCES;
	err = inode_permission(cosy_mnt_idmap(path->mnt), inode,
			       mode | MAY_ACCESS | how);
	if (!err && mode & MAY_WRITE && !special_file(inode->i_mode) &&
	    __mnt_is_readonly(path->mnt))
		err = -EROFS;
	return err;
}

/* Implements the access() family. The name is argument @i, the mode the next one. */
static struct cosy_made cosy_access(struct cosy_state *st,
				    const struct cosy_insn *ip, int dfd,
				    unsigned int i, int flags)
{
	int mode = cosy_fast_arg(st, ip, i + 1);
	struct path path __uninitialized;
	struct cosy_made made;

	if (!cosy_is_simple_access(mode, flags))
		return cosy_fast_plain(st, ip);
	if (!cosy_path_arg(st, ip, dfd, i,
			   flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW,
			   &path, &made))
		return made;
	return cosy_path_done(st, ip, &path, cosy_access_path(&path, mode, 0));
}

/** cosy_fast_access() - access(name, mode) */
struct cosy_made cosy_fast_access(struct cosy_state *st,
				  const struct cosy_insn *ip)
{
	return cosy_access(st, ip, AT_FDCWD, 0, 0);
}

/** cosy_fast_faccessat() - faccessat(dfd, name, mode) */
struct cosy_made cosy_fast_faccessat(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	return cosy_access(st, ip, cosy_fast_arg(st, ip, 0), 1, 0);
}

/** cosy_fast_faccessat2() - faccessat2(dfd, name, mode, flags) */
struct cosy_made cosy_fast_faccessat2(struct cosy_state *st,
				      const struct cosy_insn *ip)
{
	return cosy_access(st, ip, cosy_fast_arg(st, ip, 0), 1,
			   cosy_fast_arg(st, ip, 3));
}

/* Does what do_readlinkat() in fs/stat.c does. The name is argument @i, the buffer the next one. */
static struct cosy_made cosy_readlink(struct cosy_state *st,
				      const struct cosy_insn *ip, int dfd,
				      unsigned int i)
{
	char __user *to = u64_to_user_ptr(cosy_fast_arg(st, ip, i + 1));
	int size = cosy_fast_arg(st, ip, i + 2);
	struct path path __uninitialized;
	struct cosy_made made;
	long ret;

	if (size <= 0)
		return cosy_made(ip, -EINVAL);
	if (!cosy_path_arg(st, ip, dfd, i, 0, &path, &made))
		return made;
	if (d_is_symlink(path.dentry) ||
	    d_backing_inode(path.dentry)->i_op->readlink) {
		ret = cosy_internal(security_inode_readlink)(path.dentry);
		if (!ret) {
			touch_atime(&path);
			ret = vfs_readlink(path.dentry, to, size);
		}
	} else {
		ret = -EINVAL;
	}
	return cosy_path_done(st, ip, &path, ret);
}

/** cosy_fast_readlink() - readlink(name, buffer, size) */
struct cosy_made cosy_fast_readlink(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	return cosy_readlink(st, ip, AT_FDCWD, 0);
}

/** cosy_fast_readlinkat() - readlinkat(dfd, name, buffer, size) */
struct cosy_made cosy_fast_readlinkat(struct cosy_state *st,
				      const struct cosy_insn *ip)
{
	return cosy_readlink(st, ip, cosy_fast_arg(st, ip, 0), 1);
}

/** cosy_fast_realpath() - COSY_CALL_REALPATH. cosy_child_path() enters no link. */
struct cosy_made cosy_fast_realpath(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	const char __user *from = u64_to_user_ptr(cosy_fast_arg(st, ip, 0));
	struct cosy_name name __uninitialized;
	struct path path __uninitialized;
	long ret;

	if (unlikely(!cosy_name_text(&name, from)) || name.text[0] != '/' ||
	    cosy_child_path(AT_FDCWD, &name, false, &path))
		return cosy_made(ip, -EAGAIN);
	ret = d_is_symlink(path.dentry) ||
	      d_backing_inode(path.dentry)->i_op->readlink ? -EAGAIN : 0;
	path_put(&path);
	return cosy_made(ip, ret);
}

static struct cosy_made cosy_chmod_path(struct cosy_state *st,
					const struct cosy_insn *ip, int dfd,
					unsigned int i)
{
	struct path path __uninitialized;
	struct cosy_made made;

	if (!cosy_path_arg(st, ip, dfd, i, LOOKUP_FOLLOW, &path, &made))
		return made;
	return cosy_path_done(st, ip, &path, cosy_internal(chmod_common)(
		&path, cosy_fast_arg(st, ip, i + 1)));
}

/** cosy_fast_chmod() - chmod(name, mode) */
struct cosy_made cosy_fast_chmod(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	return cosy_chmod_path(st, ip, AT_FDCWD, 0);
}

/** cosy_fast_fchmodat() - fchmodat(dfd, name, mode) */
struct cosy_made cosy_fast_fchmodat(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	return cosy_chmod_path(st, ip, cosy_fast_arg(st, ip, 0), 1);
}

static struct cosy_made cosy_chown_path(struct cosy_state *st,
					const struct cosy_insn *ip, int dfd,
					unsigned int i, int flags)
{
	struct path path __uninitialized;
	struct cosy_made made;
	int err;

	if (flags & ~AT_SYMLINK_NOFOLLOW)
		return cosy_fast_plain(st, ip);
	if (!cosy_path_arg(st, ip, dfd, i,
			   flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW,
			   &path, &made))
		return made;
	err = mnt_want_write(path.mnt);
	if (!err) {
		err = cosy_internal(chown_common)(
			&path, cosy_fast_arg(st, ip, i + 1),
			cosy_fast_arg(st, ip, i + 2));
		mnt_drop_write(path.mnt);
	}
	return cosy_path_done(st, ip, &path, err);
}

/** cosy_fast_chown() - chown(name, user, group) */
struct cosy_made cosy_fast_chown(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	return cosy_chown_path(st, ip, AT_FDCWD, 0, 0);
}

/** cosy_fast_lchown() - lchown(name, user, group) */
struct cosy_made cosy_fast_lchown(struct cosy_state *st,
				  const struct cosy_insn *ip)
{
	return cosy_chown_path(st, ip, AT_FDCWD, 0, AT_SYMLINK_NOFOLLOW);
}

/** cosy_fast_fchownat() - fchownat(dfd, name, user, group, flags) */
struct cosy_made cosy_fast_fchownat(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	return cosy_chown_path(st, ip, cosy_fast_arg(st, ip, 0), 1,
			       cosy_fast_arg(st, ip, 4));
}

/** cosy_fast_truncate() - truncate(name, length) */
struct cosy_made cosy_fast_truncate(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	loff_t length = cosy_fast_arg(st, ip, 1);
	struct path path __uninitialized;
	struct cosy_made made;

	if (length < 0)
		return cosy_made(ip, -EINVAL);
	if (!cosy_path_arg(st, ip, AT_FDCWD, 0, LOOKUP_FOLLOW, &path, &made))
		return made;
	return cosy_path_done(st, ip, &path, vfs_truncate(&path, length));
}

/** cosy_fast_utimensat() - utimensat(dfd, name, times, flags) */
struct cosy_made cosy_fast_utimensat(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	const void __user *from = u64_to_user_ptr(cosy_fast_arg(st, ip, 2));
	int flags = cosy_fast_arg(st, ip, 3);
	struct timespec64 times[2] __uninitialized;
	struct path path __uninitialized;
	struct cosy_made made;

	/* It is copied from struct __kernel_timespec, which has the same layout. */
	BUILD_BUG_ON(sizeof(times) != 2 * sizeof(struct __kernel_timespec));
	/* A NULL name means the file of the descriptor, even if a name is mapped at NULL. */
	if (flags & ~AT_SYMLINK_NOFOLLOW || !cosy_fast_arg(st, ip, 1))
		return cosy_fast_plain(st, ip);
	if (from) {
		if (copy_from_user(times, from, sizeof(times)))
			return cosy_made(ip, -EFAULT);
		if (times[0].tv_nsec == UTIME_OMIT &&
		    times[1].tv_nsec == UTIME_OMIT)
			return cosy_made(ip, 0);
	}
	if (!cosy_path_arg(st, ip, cosy_fast_arg(st, ip, 0), 1,
			   flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW,
			   &path, &made))
		return made;
	return cosy_path_done(st, ip, &path, cosy_internal(vfs_utimes)(
		&path, from ? times : NULL));
}
