/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arg.h - reads and writes arguments of ioctl commands that begin with their size.
 */
#ifndef COSY_ARG_H
#define COSY_ARG_H

#include <linux/file.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

/**
 * cosy_arg_read() - read the argument of a command
 * @to:       destination; begins with a __u32, its size
 * @size:     bytes of @to
 * @oldest:   bytes of the argument in the oldest ABI
 * @arg:      the caller's argument, which may be shorter or longer than @size
 *
 * Bytes of @to beyond the caller's size are set to 0. The size is read twice, but
 * only the first value is used and stored in @to.
 *
 * Return: 0; -EFAULT; -EINVAL if it is shorter than @oldest; -E2BIG if it is longer than a page,
 * or has bytes beyond @size that are not 0.
 */
static inline int cosy_arg_read(void *to, u32 size, u32 oldest,
				const void __user *arg)
{
	u32 has;
	int err;

	if (get_user(has, (const u32 __user *)arg))
		return -EFAULT;
	if (has < oldest)
		return -EINVAL;
	if (has > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(to, size, arg, has);
	*(u32 *)to = has;
	return err;
}

/**
 * cosy_arg_write() - write an argument back, at most the caller's size of it
 * @arg:  the caller's argument
 * @from: the argument that cosy_arg_read() has read, with the caller's size
 * @size: bytes of @from
 *
 * Return: 0 or -EFAULT.
 */
static inline int cosy_arg_write(void __user *arg, const void *from, u32 size)
{
	return copy_to_user(arg, from, min(size, *(const u32 *)from)) ?
		       -EFAULT : 0;
}

/**
 * cosy_arg_give_file() - write an argument back that contains a new descriptor, and install it
 * @arg:  as for cosy_arg_write()
 * @from: the same
 * @size: the same
 * @fd:   the descriptor, from get_unused_fd_flags()
 * @file: its file
 *
 * The argument is written first: on failure the process must not have the descriptor.
 *
 * Return: 0; or -EFAULT, and the file is released, and the descriptor unused again.
 */
static inline int cosy_arg_give_file(void __user *arg, const void *from, u32 size, int fd,
				     struct file *file)
{
	int err = cosy_arg_write(arg, from, size);

	if (err) {
		fput(file);
		put_unused_fd(fd);
	} else {
		fd_install(fd, file);
	}
	return err;
}

#endif /* COSY_ARG_H */
