// SPDX-License-Identifier: GPL-2.0
/*
 * name.c - copies names of files to the stack, and looks them up with the kernel's path walk.
 *
 * The kernel copies each name into a newly allocated page, which it clears first.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fast/calls.h"
#include "fast/name.h"
#include "kernel/internals.h"

/**
 * cosy_name_copy_long() - copy a name of up to COSY_NAME_SIZE - 1 bytes
 * @name: destination
 * @from: source
 *
 * Return: false if it cannot be read, is empty or does not fit.
 */
bool cosy_name_copy_long(struct cosy_name *name, const char __user *from)
{
	long len = strncpy_from_user(name->text, from, COSY_NAME_SIZE);

	if (len <= 0 || len == COSY_NAME_SIZE)
		return false;
	name->len = len;
	name->entry = !memchr(name->text, '/', len);
	return true;
}

/**
 * cosy_name_get() - copy a name from the process, for a path walk
 * @name: destination
 * @from: source
 *
 * Return: true if it was copied; otherwise the caller must make the plain call.
 */
bool cosy_name_get(struct cosy_name *name, const char __user *from)
{
	if (unlikely(!cosy_name_text(name, from)))
		return false;
	cosy_name_finish(name, from);
	return true;
}

/**
 * cosy_name_lookup() - look up a name with the kernel's path walk
 * @dfd:   the directory where a relative name starts
 * @name:  the name
 * @flags: LOOKUP_...
 * @path:  out: the path, with a reference
 *
 * Return: 0 or -errno.
 */
int cosy_name_lookup(int dfd, struct cosy_name *name, unsigned int flags,
		     struct path *path)
{
	return cosy_internal(filename_lookup)(dfd, &name->filename, flags,
					      path, NULL);
}
