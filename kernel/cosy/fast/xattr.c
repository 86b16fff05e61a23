// SPDX-License-Identifier: GPL-2.0
/*
 * xattr.c - fast paths that read one extended attribute of a named file, or list all.
 *
 * They do what fs/xattr.c does. Setting and removing have no fast path. Kernels differ in whether
 * they read the name of the file or the name of the attribute first.
 */
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/uaccess.h>
#include <linux/xattr.h>

#include "compat/compat.h"
#include "fast/calls.h"
#include "kernel/internals.h"

/* Copy the name of the attribute. Return 0, or the error of getxattr(). */
static int cosy_xattr_name(struct xattr_name *name, const char __user *from)
{
	long len = strncpy_from_user(name->name, from, sizeof(name->name));

	if (len == 0 || len == sizeof(name->name))
		return -ERANGE;
	return len < 0 ? len : 0;
}

/* Does what getxattr() in fs/xattr.c does. With COSY_ATTRIBUTE_FIRST, @name was copied before. */
static ssize_t cosy_xattr_get(const struct path *path, struct xattr_name *name,
			      const char __user *from, void __user *value,
			      size_t size)
{
	struct cosy_xattr_ctx ctx = {
		.value = value,
		.size = size,
		.kname = name,
	};
	ssize_t ret = COSY_ATTRIBUTE_FIRST ? 0 : cosy_xattr_name(name, from);

	if (ret)
		return ret;
	ret = cosy_internal(do_getxattr)(cosy_mnt_idmap(path->mnt),
					 path->dentry, &ctx);
	kvfree(ctx.kvalue);
	return ret;
}

static struct cosy_made cosy_getxattr(struct cosy_state *st,
				      const struct cosy_insn *ip,
				      unsigned int flags)
{
	const char __user *from = u64_to_user_ptr(cosy_fast_arg(st, ip, 1));
	struct xattr_name name __uninitialized;
	struct path path __uninitialized;
	struct cosy_made made;
	int err;

	if (COSY_ATTRIBUTE_FIRST) {
		err = cosy_xattr_name(&name, from);
		if (err)
			return cosy_made(ip, err);
	}
	if (!cosy_path_arg(st, ip, AT_FDCWD, 0, flags, &path, &made))
		return made;
	return cosy_path_done(st, ip, &path, cosy_xattr_get(
		&path, &name, from,
		u64_to_user_ptr(cosy_fast_arg(st, ip, 2)),
		cosy_fast_arg(st, ip, 3)));
}

/** cosy_fast_getxattr() - getxattr(name, attribute, value, size) */
struct cosy_made cosy_fast_getxattr(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	return cosy_getxattr(st, ip, LOOKUP_FOLLOW);
}

/** cosy_fast_lgetxattr() - lgetxattr(name, attribute, value, size) */
struct cosy_made cosy_fast_lgetxattr(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	return cosy_getxattr(st, ip, 0);
}

/* Does what listxattr() in fs/xattr.c does. */
static ssize_t cosy_xattr_list(struct dentry *dentry, char __user *to,
			       size_t size)
{
	char *list = NULL;
	ssize_t ret;

	if (size) {
		size = min_t(size_t, size, XATTR_LIST_MAX);
		list = kvmalloc(size, GFP_KERNEL);
		if (!list)
			return -ENOMEM;
	}
	ret = vfs_listxattr(dentry, list, size);
	if (ret > 0) {
		if (size && copy_to_user(to, list, ret))
			ret = -EFAULT;
	} else if (ret == -ERANGE && size >= XATTR_LIST_MAX) {
		ret = -E2BIG;
	}
	kvfree(list);
	return ret;
}

static struct cosy_made cosy_listxattr(struct cosy_state *st,
				       const struct cosy_insn *ip,
				       unsigned int flags)
{
	struct path path __uninitialized;
	struct cosy_made made;

	if (!cosy_path_arg(st, ip, AT_FDCWD, 0, flags, &path, &made))
		return made;
	return cosy_path_done(st, ip, &path, cosy_xattr_list(
		path.dentry, u64_to_user_ptr(cosy_fast_arg(st, ip, 1)),
		cosy_fast_arg(st, ip, 2)));
}

/** cosy_fast_listxattr() - listxattr(name, list, size) */
struct cosy_made cosy_fast_listxattr(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	return cosy_listxattr(st, ip, LOOKUP_FOLLOW);
}

/** cosy_fast_llistxattr() - llistxattr(name, list, size) */
struct cosy_made cosy_fast_llistxattr(struct cosy_state *st,
				      const struct cosy_insn *ip)
{
	return cosy_listxattr(st, ip, 0);
}
