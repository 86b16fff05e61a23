/* SPDX-License-Identifier: GPL-2.0 */
/*
 * table.h - what dup() and close() in a share do to its table, without the kernel's functions.
 *
 * Everything is inline: these two calls take less time than those that they replace.
 */
#ifndef COSY_SHARE_TABLE_H
#define COSY_SHARE_TABLE_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/find.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "share/share.h"

/**
 * cosy_table_file() - find the file of a descriptor, with file_lock
 * @fdt: the table
 * @fd:	 the number in it
 *
 * Return: the file, or NULL; also for COSY_SHARE_LENT, where the table holds no reference.
 */
static __always_inline struct file *cosy_table_file(const struct fdtable *fdt, unsigned int fd)
{
	BUILD_BUG_ON(COSY_SHARE_LENT != 0);
	if (unlikely(fd - 1 >= fdt->max_fds - 1))
		return NULL;
	return rcu_dereference_raw(fdt->fd[array_index_nospec(fd, fdt->max_fds)]);
}

/**
 * cosy_table_has_room() - test whether more descriptors are allowed, with file_lock
 * @share: the share
 * @n:	   how many
 *
 * Return: true if they are.
 */
static inline bool cosy_table_has_room(const struct cosy_share *share, unsigned int n)
{
	return share->max - share->used >= n;
}

/* Return the lowest free number, or @max_fds. With file_lock. */
static __always_inline unsigned int cosy_table_lowest(const struct files_struct *files,
						      const struct fdtable *fdt)
{
	const unsigned int next = files->next_fd;

	if (likely(next < fdt->max_fds && !test_bit(next, fdt->open_fds)))
		return next;
	return find_next_zero_bit(fdt->open_fds, fdt->max_fds, next);
}

/**
 * cosy_table_dup() - duplicate a descriptor of a share
 * @share: the share
 * @fd:	   the number in its table
 * @limit: RLIMIT_NOFILE
 *
 * As dup(), without a look at the table of the process.
 *
 * Return: the new number; -EBADF, also if the share has ended; -EMFILE; -EAGAIN if the kernel's
 * dup() has to enlarge the table.
 */
static __always_inline int cosy_table_dup(struct cosy_share *share, unsigned int fd,
					  unsigned long limit)
{
	struct files_struct *files = &share->files;
	struct fdtable *fdt;
	struct file *file;
	unsigned int to;
	int ret;

	spin_lock(&files->file_lock);
	fdt = files_fdtable(files);
	file = cosy_table_file(fdt, fd);
	to = cosy_table_lowest(files, fdt);
	/* cosy_table_close() takes the lock after @ended was set, so it closes what is added. */
	if (unlikely(!file || READ_ONCE(share->ended))) {
		ret = -EBADF;
	} else if (unlikely(to >= limit || !cosy_table_has_room(share, 1))) {
		ret = -EMFILE;
	} else if (unlikely(to >= fdt->max_fds)) {
		ret = -EAGAIN;
	} else {
		/* As in alloc_fd() and fd_install(). */
		__set_bit(to, fdt->open_fds);
		if (unlikely(!~fdt->open_fds[to / BITS_PER_LONG]))
			__set_bit(to / BITS_PER_LONG, fdt->full_fds_bits);
		__clear_bit(to, fdt->close_on_exec);
		files->next_fd = to + 1;
		share->used++;
		rcu_assign_pointer(fdt->fd[to], get_file(file));
		ret = to;
	}
	spin_unlock(&files->file_lock);
	return ret;
}

/**
 * cosy_table_remove() - remove a descriptor from the table of a share, with file_lock
 * @share: the share
 * @fd:	   the number in its table
 *
 * Return: its file, with the table's reference, or NULL.
 */
static __always_inline struct file *cosy_table_remove(struct cosy_share *share, unsigned int fd)
{
	struct files_struct *files = &share->files;
	struct fdtable *fdt = files_fdtable(files);
	struct file *file = cosy_table_file(fdt, fd);

	if (unlikely(!file))
		return NULL;
	/* As in file_close_fd(). */
	rcu_assign_pointer(fdt->fd[fd], NULL);
	__clear_bit(fd, fdt->open_fds);
	__clear_bit(fd / BITS_PER_LONG, fdt->full_fds_bits);
	if (fd < files->next_fd)
		files->next_fd = fd;
	/* What read() of a device has made was not counted. */
	if (likely(share->used))
		share->used--;
	return file;
}

/**
 * cosy_table_take() - remove a descriptor from the table of a share
 * @share: the share
 * @fd:	   the number in its table
 *
 * Return: its file, with the table's reference, or NULL.
 */
static __always_inline struct file *cosy_table_take(struct cosy_share *share, unsigned int fd)
{
	struct file *file;

	spin_lock(&share->files.file_lock);
	file = cosy_table_remove(share, fd);
	spin_unlock(&share->files.file_lock);
	return file;
}

/**
 * cosy_table_put() - close a file that was removed from the table of a share
 * @share: the share
 * @file:  the file, whose reference this drops
 *
 * As filp_close(), without looking for locks and notifications that belong to the table: the calls
 * that make them, F_SETLK and F_NOTIFY of fcntl(), are not made in shares.
 *
 * Return: the result of close().
 */
static __always_inline int cosy_table_put(struct cosy_share *share, struct file *file)
{
	int ret = 0;

	if (unlikely(file->f_op->flush))
		ret = file->f_op->flush(file, &share->files);
	fput(file);
	return ret;
}

#endif /* COSY_SHARE_TABLE_H */
