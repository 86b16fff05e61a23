// SPDX-License-Identifier: GPL-2.0
/*
 * create.c - makes shares, and ends them.
 *
 * A share may contain its own file, or a socket whose messages contain it. So it does not end with
 * its file, but when the process closes a descriptor of it. A file that is in no table of the
 * process was closed there before.
 */
#include <linux/anon_inodes.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/compat.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/find.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/unistd.h>

#include "call/call.h"
#include "env/arg.h"
#include "limit/limit.h"
#include "share/share.h"

/* Changed with cosy_tables_mutex. */
static unsigned int cosy_shares_made;

#define COSY_SHARE_NUMBERS	(COSY_SHARE_ID_MASK + 1)

/**
 * struct cosy_table_shares - the shares of a process's table
 * @node:    its place in cosy_tables
 * @table:   the table. Only to compare
 * @max:     the sum of their maxima
 * @n:	     how many there are
 * @numbers: those that they have. If all are in use, several shares have the same
 *
 * It belongs to the table, as RLIMIT_NOFILE does. If it belonged to the memory, it would begin anew
 * with execve(), and for each process that shares the table, while the shares stay.
 */
struct cosy_table_shares {
	struct hlist_node node;
	const struct files_struct *table;
	unsigned long max;
	unsigned long n;
	DECLARE_BITMAP(numbers, COSY_SHARE_NUMBERS);
};

/*
 * The shares of each process's table. They are changed under the mutex. No memory is allocated
 * under it: a process whose cgroup has no memory left would let all others wait.
 */
static DEFINE_HASHTABLE(cosy_tables, 10);
static DEFINE_MUTEX(cosy_tables_mutex);

/* Find the shares of a table, with the mutex. */
static struct cosy_table_shares *cosy_table_shares(const struct files_struct *table)
{
	struct cosy_table_shares *shares;

	hash_for_each_possible(cosy_tables, shares, node, (unsigned long)table)
		if (shares->table == table)
			return shares;
	return NULL;
}

static void cosy_table_shares_put(struct cosy_table_shares *shares)
{
	if (shares->n)
		return;
	hash_del(&shares->node);
	kfree(shares);
}

/*
 * Return a number that no share of the table has, if there is one. Numbers are given in turn, on
 * the whole machine: a descriptor of a share that has ended should not be valid in the next one.
 */
static unsigned long cosy_share_number(const struct cosy_table_shares *shares)
{
	const unsigned long from = ++cosy_shares_made % COSY_SHARE_NUMBERS;
	unsigned long number;

	number = find_next_zero_bit(shares->numbers, COSY_SHARE_NUMBERS, from);
	if (number == COSY_SHARE_NUMBERS)
		number = find_first_zero_bit(shares->numbers, COSY_SHARE_NUMBERS);
	return number == COSY_SHARE_NUMBERS ? from : number;
}

/*
 * Add a share to those of its table, and give it a number. Return -EMFILE if the sum would be more
 * than @limit, or -ENOMEM.
 */
static int cosy_share_add(struct cosy_share *share, unsigned long limit)
{
	struct cosy_table_shares *shares, *new;
	unsigned long number;
	int err = -EMFILE;

	new = kzalloc(sizeof(*new), COSY_GFP);
	if (!new)
		return -ENOMEM;
	mutex_lock(&cosy_tables_mutex);
	shares = cosy_table_shares(share->table);
	if (!shares) {
		shares = new;
		new = NULL;
		shares->table = share->table;
		hash_add(cosy_tables, &shares->node, (unsigned long)share->table);
	}
	if (shares->max + share->max <= limit) {
		number = cosy_share_number(shares);
		share->base = COSY_SHARE_FD | number << COSY_SHARE_ID_SHIFT;
		share->has_number = !__test_and_set_bit(number, shares->numbers);
		shares->max += share->max;
		shares->n++;
		err = 0;
	}
	cosy_table_shares_put(shares);
	mutex_unlock(&cosy_tables_mutex);
	kfree(new);
	return err;
}

/* Return the number of a share, which is part of its descriptors. */
static u32 cosy_share_id(const struct cosy_share *share)
{
	return share->base >> COSY_SHARE_ID_SHIFT & COSY_SHARE_ID_MASK;
}

/* The reverse of cosy_share_add(). */
static void cosy_share_remove(const struct cosy_share *share)
{
	struct cosy_table_shares *shares;

	mutex_lock(&cosy_tables_mutex);
	shares = cosy_table_shares(share->table);
	if (share->has_number)
		__clear_bit(cosy_share_id(share), shares->numbers);
	shares->max -= share->max;
	shares->n--;
	cosy_table_shares_put(shares);
	mutex_unlock(&cosy_tables_mutex);
}

static void cosy_share_free(struct rcu_head *rcu)
{
	struct cosy_share *share = container_of(rcu, struct cosy_share, rcu);

	cosy_table_free(&share->files);
	kfree(share);
}

/*
 * End a share, before the table that has its descriptor can be freed: later another table may have
 * the same address. Closes all descriptors only once: a process may have as many copies of the
 * share as there are places in its table, and close all of them.
 */
static void cosy_share_end(struct cosy_share *share)
{
	/* Is also the barrier that pairs with the one in cosy_share_check_end(). */
	if (xchg(&share->ended, true))
		return;
	cosy_share_remove(share);
	cosy_table_close(share);
}

/*
 * Return what a user is charged for a share. The table that the kernel makes for its descriptors
 * stays until the share is freed. As in alloc_fdtable(), its length is a power of two of blocks,
 * and each place takes 8 bytes and some bits.
 */
static u64 cosy_share_charge(u32 max)
{
	const unsigned long block = 1024 / sizeof(struct file *);
	u64 charge = sizeof(struct cosy_share) + COSY_MM_CHARGE;
	unsigned long places;

	if (max >= NR_OPEN_DEFAULT) {
		places = min_t(unsigned long, COSY_SHARE_MAX,
			       roundup_pow_of_two(max / block + 1) * block);
		charge += places * (sizeof(struct file *) + 1);
	}
	return charge;
}

static void cosy_share_discard(struct cosy_share *share)
{
	cosy_share_end(share);
	/* Again: a read() that was in the share when it ended can have made descriptors. */
	cosy_table_close(share);
	cosy_quota_uncharge(share->quota, cosy_share_charge(share->max));
	put_pid(share->pid);
	mmdrop(share->mm);
	call_rcu(&share->rcu, cosy_share_free);
}

static int cosy_share_release(struct inode *inode, struct file *file)
{
	cosy_share_discard(file->private_data);
	return 0;
}

/* Called when a descriptor of the share is closed in the table @id. */
static int cosy_share_flush(struct file *file, fl_owner_t id)
{
	struct cosy_share *share = file->private_data;

	if (id == share->table)
		cosy_share_end(share);
	return 0;
}

static long cosy_share_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct cosy_share *share = file->private_data;
	int err;

	if (in_compat_syscall())
		return -ENOTTY;
	err = cosy_share_check(share);
	if (err)
		return err;
	switch (cmd) {
	case COSY_SHARE_MOVE:
		return cosy_share_move(share, (struct cosy_share_move __user *)arg);
	case COSY_SHARE_COUNT:
		return cosy_share_count(share);
	case COSY_SHARE_END:
		cosy_share_end(share);
		return 0;
	default:
		return -ENOTTY;
	}
}

static void cosy_share_show(struct seq_file *to, struct file *file)
{
	struct pid_namespace *ns = proc_pid_ns(file_inode(to->file)->i_sb);
	struct cosy_share *share = file->private_data;

	seq_printf(to, "cosy-share:\t%u\n", cosy_share_id(share));
	seq_printf(to, "process:\t%d\n", pid_nr_ns(share->pid, ns));
	seq_printf(to, "max:\t%u\n", share->max);
	seq_printf(to, "open:\t%u\n", cosy_share_count(share));
	/* Threads that use the share count without a lock. */
	seq_printf(to, "calls:\t%llu\n", data_race(READ_ONCE(share->calls)));
}

static const struct file_operations cosy_share_fops = {
	.owner = THIS_MODULE,
	.flush = cosy_share_flush,
	.release = cosy_share_release,
	.llseek = cosy_share_llseek,
	.unlocked_ioctl = cosy_share_ioctl,
	.show_fdinfo = cosy_share_show,
};

/**
 * cosy_share_of() - get the share of a file
 * @file: any file
 *
 * Return: its share, or NULL.
 */
struct cosy_share *cosy_share_of(struct file *file)
{
	return file->f_op == &cosy_share_fops ? file->private_data : NULL;
}

static struct cosy_share *cosy_share_alloc(u32 max)
{
	unsigned long limit = rlimit(RLIMIT_NOFILE), open = cosy_table_count(current->files);
	u64 owner = cosy_quota_owner();
	struct cosy_share *share;
	int err;

	if (open > limit)
		return ERR_PTR(-EMFILE);
	err = cosy_quota_charge(owner, cosy_share_charge(max));
	if (err)
		return ERR_PTR(err);
	err = -ENOMEM;
	share = kzalloc(sizeof(*share), COSY_GFP);
	if (!share)
		goto uncharge;
	share->table = current->files;
	share->max = max;
	err = cosy_share_add(share, limit - open);
	if (err)
		goto free;
	mutex_init(&share->control);
	cosy_table_init(&share->files);
	mmgrab(current->mm);
	share->mm = current->mm;
	share->pid = get_pid(task_tgid(current));
	share->quota = owner;
	return share;

free:
	kfree(share);
uncharge:
	cosy_quota_uncharge(owner, cosy_share_charge(max));
	return ERR_PTR(err);
}

/**
 * cosy_share_create() - COSY_IOC_SHARE
 * @arg: struct cosy_share_create of the caller
 *
 * Return: 0, or an error that the interface documents.
 */
long cosy_share_create(struct cosy_share_create __user *arg)
{
	struct cosy_share_create create;
	struct cosy_share *share;
	struct file *file;
	int err;

	err = cosy_arg_read(&create, sizeof(create),
			    offsetofend(struct cosy_share_create, reserved), arg);
	if (err)
		return err;
	if (create.flags || create.reserved || !create.max || create.max > COSY_SHARE_MAX)
		return -EINVAL;
	create.fd = get_unused_fd_flags(O_CLOEXEC);
	if (create.fd < 0)
		return create.fd;
	share = cosy_share_alloc(create.max);
	err = PTR_ERR_OR_ZERO(share);
	if (err)
		goto put_fd;
	create.id = cosy_share_id(share);
	file = anon_inode_getfile("[cosy-share]", &cosy_share_fops, share, O_RDWR | O_CLOEXEC);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		cosy_share_discard(share);
		goto put_fd;
	}
	return cosy_arg_give_file(arg, &create, sizeof(create), create.fd, file);

put_fd:
	put_unused_fd(create.fd);
	return err;
}
