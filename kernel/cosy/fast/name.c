// SPDX-License-Identifier: GPL-2.0
/*
 * name.c - names of files, on the stack.
 *
 * The kernel copies each name into a page of its own, which it first clears.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fast/calls.h"
#include "fast/name.h"
#include "kernel/internals.h"

/**
 * cosy_name_copy_long() - copy a name that may be longer
 * @name: where to
 * @from: where from
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
 * cosy_name_get() - copy a name from the process, to walk to it
 * @name: where to
 * @from: where from
 *
 * Return: true if it is there; else the plain call is to be made.
 */
bool cosy_name_get(struct cosy_name *name, const char __user *from)
{
	if (unlikely(!cosy_name_text(name, from)))
		return false;
	cosy_name_finish(name, from);
	return true;
}

/**
 * cosy_name_lookup() - walk to a name
 * @dfd:   from there, if it is relative
 * @name:  the name
 * @flags: LOOKUP_...
 * @path:  out: what it leads to
 *
 * Return: 0 or why it leads nowhere.
 */
int cosy_name_lookup(int dfd, struct cosy_name *name, unsigned int flags,
		     struct path *path)
{
	return cosy_internal(filename_lookup)(dfd, &name->filename, flags,
					      path, NULL);
}
