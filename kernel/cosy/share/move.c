// SPDX-License-Identifier: GPL-2.0
/*
 * move.c - moves descriptors of a share to another share, or to the table of the process.
 */
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/unistd.h>

#include "call/call.h"
#include "env/arg.h"
#include "share/share.h"
#include "share/table.h"

/* Return true if seccomp filters allow the move: natively, a program duplicates by fcntl(). */
static bool cosy_share_may_move(u32 fd)
{
	const struct pt_regs call = { .di = fd, .si = F_DUPFD_CLOEXEC };

	return !(READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_SECCOMP) ||
	       cosy_seccomp_allows(&call, __NR_fcntl);
}

/* Take the descriptor, or copy it. */
static struct file *cosy_share_get(struct cosy_share *share, int fd, u32 flags)
{
	return flags & COSY_SHARE_COPY ? cosy_table_get(&share->files, fd) :
					 cosy_table_take(share, fd);
}

/* Move a descriptor to the current table of the thread. */
static long cosy_share_move_here(struct cosy_share *share, int fd, u32 flags)
{
	int to = get_unused_fd_flags(flags & COSY_SHARE_CLOEXEC ? O_CLOEXEC : 0);
	struct file *file;

	if (to < 0)
		return to;
	/* Take it last: this cannot be undone, because another descriptor may get its number. */
	file = cosy_share_get(share, fd, flags);
	if (!file) {
		put_unused_fd(to);
		return -EBADF;
	}
	fd_install(to, file);
	return to;
}

static long cosy_share_move_to(struct cosy_share *share, int fd, u32 flags,
			       struct cosy_share *target)
{
	struct files_struct *table;
	long ret = cosy_share_reserve(target, 1);

	if (ret)
		return ret;
	table = cosy_table_use(&target->files);
	ret = cosy_share_move_here(share, fd, flags);
	cosy_table_use(table);
	if (ret >= 0)
		ret = cosy_share_global(target, ret);
	else
		cosy_share_unreserve(target, 1);
	cosy_share_check_end(target);
	return ret;
}

/* The same to the share of a descriptor. */
static long cosy_share_move_to_fd(struct cosy_share *share, int fd, u32 flags, int to)
{
	struct file *file = fget(to);
	struct cosy_share *target;
	long ret = -EBADF;

	if (!file)
		return ret;
	target = cosy_share_of(file);
	ret = target ? cosy_share_check(target) : -EINVAL;
	if (!ret)
		ret = cosy_share_move_to(share, fd, flags, target);
	fput(file);
	return ret;
}

static long cosy_share_move_in(struct cosy_share *share, u32 fd)
{
	long ret = cosy_share_reserve(share, 1);

	if (ret)
		return ret;
	ret = cosy_share_copy_in(share, fd);
	if (ret >= 0)
		ret = cosy_share_global(share, ret);
	else
		cosy_share_unreserve(share, 1);
	cosy_share_check_end(share);
	return ret;
}

/**
 * cosy_share_move() - COSY_SHARE_MOVE
 * @share: the share, which the current thread may use
 * @arg:   struct cosy_share_move of the caller
 *
 * Return: what the interface documents.
 */
long cosy_share_move(struct cosy_share *share, struct cosy_share_move __user *arg)
{
	struct cosy_share_move move;
	int fd, err;

	err = cosy_arg_read(&move, sizeof(move), offsetofend(struct cosy_share_move, to), arg);
	if (err)
		return err;
	if (move.flags & ~COSY_SHARE_MOVE_FLAGS || move.to < -1 ||
	    (move.to >= 0 && move.flags & ~COSY_SHARE_COPY) ||
	    (move.flags & COSY_SHARE_IN && move.flags != COSY_SHARE_IN) ||
	    (move.flags & COSY_SHARE_CLOSE && move.flags != COSY_SHARE_CLOSE))
		return -EINVAL;
	if (move.flags & COSY_SHARE_CLOSE)
		return cosy_share_close(share, move.fd);
	if (move.flags & COSY_SHARE_IN)
		return cosy_share_may_move(move.fd) ? cosy_share_move_in(share, move.fd) : -EPERM;
	fd = cosy_share_local(share, move.fd);
	if (fd < 0)
		return fd;
	if (!cosy_share_may_move(move.fd))
		return -EPERM;
	if (move.to < 0)
		return cosy_share_move_here(share, fd, move.flags);
	return cosy_share_move_to_fd(share, fd, move.flags, move.to);
}
