// SPDX-License-Identifier: GPL-2.0
/*
 * table.c - the table of a share.
 *
 * It is a struct files_struct, so that all system calls can use it. A thread has it as its own
 * table during one call. Others find it there: /proc and pidfd_getfd() hold the thread's
 * alloc_lock, or are in an RCU section.
 */
#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "share/share.h"
#include "share/table.h"

/**
 * cosy_table_init() - initialise an empty table
 * @files: zeroed memory
 *
 * As in dup_fd(). The kernel allocates larger arrays when they are needed.
 */
void cosy_table_init(struct files_struct *files)
{
	struct fdtable *fdt = &files->fdtab;

	/* Never 1: calls then take references to their files. */
	atomic_set(&files->count, 2);
	spin_lock_init(&files->file_lock);
	init_waitqueue_head(&files->resize_wait);
	fdt->max_fds = NR_OPEN_DEFAULT;
	fdt->close_on_exec = files->close_on_exec_init;
	fdt->open_fds = files->open_fds_init;
	fdt->full_fds_bits = files->full_fds_bits_init;
	fdt->fd = &files->fd_array[0];
	__set_bit(COSY_SHARE_LENT, fdt->open_fds);
	files->next_fd = COSY_SHARE_LENT + 1;
	rcu_assign_pointer(files->fdt, fdt);
}

/**
 * cosy_table_free() - free the arrays that the kernel has allocated
 * @files: an empty table that no thread uses any more, after an RCU grace period
 */
void cosy_table_free(struct files_struct *files)
{
	struct fdtable *fdt = rcu_dereference_raw(files->fdt);

	if (fdt == &files->fdtab)
		return;
	/* As in free_fdtable_rcu(). */
	kvfree(fdt->fd);
	kvfree(fdt->open_fds);
	kfree(fdt);
}

/**
 * cosy_table_use() - let the current thread use a table
 * @files: the table
 *
 * Return: the table that it had before, to be restored by another call.
 */
struct files_struct *cosy_table_use(struct files_struct *files)
{
	struct files_struct *before = current->files;

	task_lock(current);
	current->files = files;
	task_unlock(current);
	return before;
}

/**
 * cosy_table_count() - count the descriptors in a table
 * @files: the table
 *
 * Return: the number, with those that a thread is opening.
 */
unsigned int cosy_table_count(struct files_struct *files)
{
	const struct fdtable *fdt;
	unsigned int n;

	rcu_read_lock();
	fdt = rcu_dereference(files->fdt);
	/* Changed under file_lock; the number may be of a moment ago. */
	n = data_race(bitmap_weight(fdt->open_fds, fdt->max_fds));
	rcu_read_unlock();
	return n;
}

/**
 * cosy_table_get() - get the file of a descriptor
 * @files: the table
 * @fd:	   the number in it
 *
 * Return: the file, for fput(), or NULL.
 */
struct file *cosy_table_get(struct files_struct *files, unsigned int fd)
{
	struct file *file;

	spin_lock(&files->file_lock);
	file = cosy_table_file(files_fdtable(files), fd);
	if (file)
		get_file(file);
	spin_unlock(&files->file_lock);
	return file;
}

/**
 * cosy_table_lend() - let calls find a file as COSY_SHARE_LENT
 * @files: the table
 * @file:  the file, to which the caller holds a reference until it has removed it; NULL: remove it
 */
void cosy_table_lend(struct files_struct *files, struct file *file)
{
	spin_lock(&files->file_lock);
	rcu_assign_pointer(files_fdtable(files)->fd[COSY_SHARE_LENT], file);
	spin_unlock(&files->file_lock);
}

/**
 * cosy_table_close() - close all descriptors of a share
 * @share: the share, which has ended
 *
 * Other threads may be in calls, which hold their files. May sleep.
 */
void cosy_table_close(struct cosy_share *share)
{
	struct files_struct *files = &share->files;
	struct file *file;
	unsigned int fd;
	bool more;

	for (fd = 0;; fd++) {
		spin_lock(&files->file_lock);
		more = fd < files_fdtable(files)->max_fds;
		file = more ? cosy_table_remove(share, fd) : NULL;
		spin_unlock(&files->file_lock);
		if (!more)
			return;
		if (file)
			cosy_table_put(share, file);
		if (!(fd % 64))
			cond_resched();
	}
}

/**
 * cosy_share_reserve() - reserve places for new descriptors
 * @share: the share
 * @n:	   number of descriptors that a call may make
 *
 * If several threads make descriptors at the same time, and there is not enough for all of them,
 * each may fail.
 *
 * Return: 0, after which the caller makes the descriptors, or calls cosy_share_unreserve(); or
 * -EMFILE.
 */
int cosy_share_reserve(struct cosy_share *share, unsigned int n)
{
	int ret = -EMFILE;

	if (!n)
		return 0;
	spin_lock(&share->files.file_lock);
	if (cosy_table_has_room(share, n)) {
		share->used += n;
		ret = 0;
	}
	spin_unlock(&share->files.file_lock);
	return ret;
}

/**
 * cosy_share_unreserve() - give back places in which no descriptors were made
 * @share: the share
 * @n:	   as for cosy_share_reserve()
 */
void cosy_share_unreserve(struct cosy_share *share, unsigned int n)
{
	if (!n)
		return;
	spin_lock(&share->files.file_lock);
	share->used -= min(n, share->used);
	spin_unlock(&share->files.file_lock);
}

/**
 * cosy_share_check_end() - close new descriptors if the share has ended meanwhile
 * @share: the share, to which system calls may have added descriptors
 *
 * Otherwise a share that contains its own file would never be released.
 */
void cosy_share_check_end(struct cosy_share *share)
{
	/*
	 * Pairs with the barrier in cosy_share_end(): one of the two closes a new descriptor. The
	 * kernel adds it without the lock.
	 */
	smp_mb();
	if (unlikely(READ_ONCE(share->ended)))
		cosy_table_close(share);
}
