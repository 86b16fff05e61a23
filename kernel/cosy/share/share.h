/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share.h - tables of descriptors besides that of the process.
 */
#ifndef COSY_SHARE_SHARE_H
#define COSY_SHARE_SHARE_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/cosy_share.h>

struct cosy_share_create;
struct mm_struct;

/**
 * struct cosy_share - a share
 * @mm:	      the memory of the process that made it; its threads may use the share
 * @table:    the process's table of descriptors: closing the share there ends it. Only to compare,
 *	      and until the share has ended the key of the shares among which it is counted
 * @base:     its lowest descriptor
 * @max:      the maximum number of descriptors
 * @used:     the number of descriptors, with those that the present calls may make; changed with
 *	      file_lock
 * @has_number: the number in @base is free again when the share ends
 * @ended:    a descriptor of the share was closed in @table
 * @calls:    number of calls that were made; need not be exact
 * @pid:      the process, for /proc
 * @quota:    the user who is charged for the memory
 * @rcu:      frees it after readers of the table of a thread that is in a call
 * @control:  held while the place COSY_SHARE_LENT of the table has a file
 * @files:    the table
 *
 * @files is not of the kernel's cache of such structures. So the kernel must not free it, and
 * nothing may change the number of its users: no call that is made in a share makes a thread,
 * executes a program, or leaves the table. The number is always 2, so that calls hold their files:
 * another thread may close a descriptor meanwhile.
 */
struct cosy_share {
	struct mm_struct *mm;
	struct files_struct *table;
	u32 base;
	u32 max;
	u32 used;
	bool has_number;
	bool ended;
	u64 calls;
	struct pid *pid;
	u64 quota;
	struct rcu_head rcu;
	struct mutex control;
	struct files_struct files;
};

/*
 * The place in the table that no descriptor has: during epoll_ctl(), an epoll of the process is
 * there. So this call needs no free place.
 */
#define COSY_SHARE_LENT	0u

/**
 * cosy_share_local() - translate a descriptor
 * @share: the share
 * @fd:	   the descriptor
 *
 * Return: its number in the table; -EBADF if it is not of this share.
 */
static inline int cosy_share_local(const struct cosy_share *share, u32 fd)
{
	const u32 number = fd - share->base;

	/* Without the place COSY_SHARE_LENT. */
	return likely(number < COSY_SHARE_MAX) ? (int)number + 1 : -EBADF;
}

/**
 * cosy_share_global() - the reverse of cosy_share_local()
 * @share: the share
 * @fd:	   the number in the table
 *
 * Return: the descriptor.
 */
static inline long cosy_share_global(const struct cosy_share *share, unsigned int fd)
{
	return share->base + fd - 1;
}

/**
 * cosy_share_check() - test whether the current thread may use a share
 * @share: the share
 *
 * Return: 0, -EPERM or -ESHUTDOWN.
 */
static inline int cosy_share_check(const struct cosy_share *share)
{
	if (unlikely(share->mm != current->mm))
		return -EPERM;
	return unlikely(READ_ONCE(share->ended)) ? -ESHUTDOWN : 0;
}

/* call.c */
loff_t cosy_share_llseek(struct file *file, loff_t offset, int whence);
long cosy_share_copy_in(struct cosy_share *share, u32 fd);
long cosy_share_close(struct cosy_share *share, u32 fd);

/* create.c */
long cosy_share_create(struct cosy_share_create __user *arg);
struct cosy_share *cosy_share_of(struct file *file);

/* table.c */
void cosy_table_init(struct files_struct *files);
void cosy_table_free(struct files_struct *files);
struct files_struct *cosy_table_use(struct files_struct *files);
unsigned int cosy_table_count(struct files_struct *files);
struct file *cosy_table_get(struct files_struct *files, unsigned int fd);
void cosy_table_lend(struct files_struct *files, struct file *file);
void cosy_table_close(struct cosy_share *share);
int cosy_share_reserve(struct cosy_share *share, unsigned int n);
void cosy_share_unreserve(struct cosy_share *share, unsigned int n);
void cosy_share_check_end(struct cosy_share *share);

/* move.c */
long cosy_share_move(struct cosy_share *share, struct cosy_share_move __user *arg);

/**
 * cosy_share_count() - count the descriptors of a share
 * @share: the share
 *
 * Return: the number, of a moment ago, with those that a thread is opening.
 */
static inline unsigned int cosy_share_count(const struct cosy_share *share)
{
	/* Changed under file_lock. */
	return data_race(READ_ONCE(share->used));
}

#endif /* COSY_SHARE_SHARE_H */
