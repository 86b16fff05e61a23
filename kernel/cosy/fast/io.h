/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io.h - an open file during a call that reads, writes or seeks.
 */
#ifndef COSY_FAST_IO_H
#define COSY_FAST_IO_H

#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/mutex.h>
#include <linux/sched/xacct.h>
#include <linux/uio.h>

#include "fast/calls.h"

/**
 * struct cosy_io - a file during one call
 * @file:   the file, NULL if the descriptor is not open
 * @fd:     the file in the process's table, if it is not private
 * @locked: true if the call holds the lock of its position
 */
struct cosy_io {
	struct file *file;
	struct cosy_fd fd;
	bool locked;
};

/** cosy_io_get() - get the file of the descriptor that is the first argument */
static __always_inline struct cosy_io cosy_io_get(struct cosy_state *st,
						  const struct cosy_insn *ip)
{
	struct cosy_private *private = cosy_private_arg(st, ip);
	struct cosy_io io = { 0 };

	if (private) {
		cosy_prefetch_drop(&st->env);
		io.file = private->file;
	} else {
		io.fd = cosy_fd_get(cosy_fast_arg(st, ip, 0));
		io.file = io.fd.file;
	}
	return io;
}

/** cosy_io_get_pos() - cosy_io_get(), and lock the position like fdget_pos() in fs/file.c */
static __always_inline struct cosy_io cosy_io_get_pos(struct cosy_state *st,
						      const struct cosy_insn *ip)
{
	struct cosy_io io = cosy_io_get(st, ip);

	if (likely(io.file) && io.file->f_mode & FMODE_ATOMIC_POS &&
	    (file_count(io.file) > 1 || io.file->f_op->iterate_shared)) {
		mutex_lock(&io.file->f_pos_lock);
		io.locked = true;
	}
	return io;
}

/** cosy_io_put() - the reverse of cosy_io_get() and cosy_io_get_pos() */
static __always_inline void cosy_io_put(struct cosy_io *io)
{
	if (io->locked)
		mutex_unlock(&io->file->f_pos_lock);
	cosy_fd_put(io->fd);
}

/**
 * cosy_transfer_fn - move bytes between a file and the process
 * @st:   the run
 * @ip:   the call's slot
 * @file: the file
 * @pos:  position, which is advanced. NULL for streams
 *
 * Return: bytes moved, or -errno.
 */
typedef long cosy_transfer_fn(struct cosy_state *st, const struct cosy_insn *ip,
			      struct file *file, loff_t *pos);

/** cosy_io_here() - make a transfer at the position of the file, like read() and write() */
static __always_inline struct cosy_made
cosy_io_here(struct cosy_state *st, const struct cosy_insn *ip,
	     cosy_transfer_fn *transfer)
{
	struct cosy_io io = cosy_io_get_pos(st, ip);
	loff_t pos, *ppos = NULL;
	long ret;

	if (unlikely(!io.file))
		return cosy_made(ip, -EBADF);
	if (likely(!(io.file->f_mode & FMODE_STREAM))) {
		pos = io.file->f_pos;
		ppos = &pos;
	}
	ret = transfer(st, ip, io.file, ppos);
	if (ret >= 0 && ppos)
		io.file->f_pos = pos;
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/** cosy_io_at() - make a transfer at the offset in argument 3, if the file has @mode */
static __always_inline struct cosy_made
cosy_io_at(struct cosy_state *st, const struct cosy_insn *ip, fmode_t mode,
	   cosy_transfer_fn *transfer)
{
	loff_t pos = cosy_fast_arg(st, ip, 3);
	struct cosy_io io;
	long ret = -ESPIPE;

	if (unlikely(pos < 0))
		return cosy_made(ip, -EINVAL);
	io = cosy_io_get(st, ip);
	if (unlikely(!io.file))
		return cosy_made(ip, -EBADF);
	if (likely(io.file->f_mode & mode))
		ret = transfer(st, ip, io.file, &pos);
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/** cosy_kiocb_init() - init_sync_kiocb() without the priority, which only direct I/O uses */
static __always_inline void cosy_kiocb_init(struct kiocb *kiocb,
					    struct file *file, const loff_t *pos)
{
	*kiocb = (struct kiocb){
		.ki_filp = file,
		.ki_flags = file->f_iocb_flags,
		.ki_pos = pos ? *pos : 0,
	};
}

/* overwrite.c */
extern void *cosy_tmpfs_write_iter;
ssize_t cosy_tmpfs_write(struct kiocb *iocb, struct iov_iter *from);

/**
 * cosy_write_iter() - write, as write(2) does
 * @file: a file that is written by its write_iter()
 * @from: the data
 * @pos:  position, which is advanced. NULL for streams
 *
 * Return: bytes written, or -errno.
 */
static __always_inline long cosy_write_iter(struct file *file,
					    struct iov_iter *from, loff_t *pos)
{
	struct kiocb kiocb __uninitialized;
	long ret;

	ret = rw_verify_area(WRITE, file, pos, iov_iter_count(from));
	if (unlikely(ret))
		return ret;
	cosy_kiocb_init(&kiocb, file, pos);
	file_start_write(file);
	if (file->f_op->write_iter == cosy_tmpfs_write_iter)
		ret = cosy_tmpfs_write(&kiocb, from);
	else
		ret = file->f_op->write_iter(&kiocb, from);
	if (likely(ret > 0)) {
		if (pos)
			*pos = kiocb.ki_pos;
		fsnotify_modify(file);
		add_wchar(current, ret);
	}
	inc_syscw(current);
	file_end_write(file);
	return ret;
}

/* io.c */
bool cosy_is_plain_file(const struct file *file);
long cosy_read_file(struct file *file, u64 buffer, size_t size, loff_t *pos);
long cosy_read_allowed(struct file *file, u64 buffer, size_t size, loff_t *pos);
bool cosy_closes_at_once(const struct file *file);
long cosy_read_cached_at(struct file *file, u64 buffer, size_t size, loff_t pos);
long cosy_read_cached_here(struct file *file, u64 buffer, size_t size);
long cosy_write_file(struct file *file, u64 buffer, size_t size, loff_t *pos);

/* borrow.c */
cosy_transfer_fn cosy_borrow_read;
cosy_transfer_fn cosy_borrow_write;

#endif /* COSY_FAST_IO_H */
