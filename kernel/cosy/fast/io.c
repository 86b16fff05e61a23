// SPDX-License-Identifier: GPL-2.0
/*
 * io.c - reading, writing and the like, of open files: private ones, and those
 * in the process's table.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/magic.h>
#include <linux/mutex.h>
#include <linux/sched/xacct.h>
#include <linux/static_call.h>
#include <linux/stat.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/unistd.h>

#include "fast/fast.h"
#include "internal.h"

/* The kernel's, not exported. */
ssize_t vfs_read(struct file *file, char __user *buf, size_t count,
		 loff_t *pos);
ssize_t vfs_write(struct file *file, const char __user *buf, size_t count,
		  loff_t *pos);

DEFINE_STATIC_CALL_NULL(cosy_vfs_read, vfs_read);
DEFINE_STATIC_CALL_NULL(cosy_vfs_write, vfs_write);

/* Longer reads are cut somewhere: that is not for us. */
#define COSY_READ_SHORT	(1ul << 24)

/* Both were found. */
bool cosy_has_io __ro_after_init;

/**
 * cosy_io_init() - find what reads and writes
 */
void cosy_io_init(void)
{
	cosy_has_io = COSY_FIND(cosy_vfs_read, "vfs_read") &&
		      COSY_FIND(cosy_vfs_write, "vfs_write");
}

/**
 * struct cosy_io - a file that is being used
 * @file:   it, NULL if the descriptor is not open
 * @fd:     how it was got from the process's table, if it is not private
 * @locked: its position is ours
 */
struct cosy_io {
	struct file *file;
	struct cosy_fd fd;
	bool locked;
};

static __always_inline struct cosy_io cosy_io_get(struct cosy_state *st,
						  const struct cosy_insn *ip)
{
	struct cosy_private *private = cosy_private_arg(st, ip);
	struct cosy_io io = { 0 };

	if (private) {
		cosy_rest_drop(&st->env);
		io.file = private->file;
	} else {
		io.fd = cosy_fd_get(cosy_fast_arg(st, ip, 0));
		io.file = io.fd.file;
	}
	return io;
}

static __always_inline void cosy_io_put(struct cosy_io *io)
{
	if (io->locked)
		mutex_unlock(&io->file->f_pos_lock);
	cosy_fd_put(io->fd);
}

/* With its position, as fdget_pos() in fs/file.c. */
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

/**
 * cosy_is_plain_file() - is it a file as one imagines it?
 * @file: the file
 *
 * Its size is what this kernel says, it ends there, and setting its position to
 * somewhere inside does nothing but that. There are file systems that do more.
 */
bool cosy_is_plain_file(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	if (!S_ISREG(inode->i_mode))
		return false;
	switch (inode->i_sb->s_magic) {
	case EXT4_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/**
 * cosy_read_file() - read, as read(2) does
 * @file:   the file
 * @buffer: where to, an address of the process
 * @size:   bytes
 * @pos:    where from; moved
 *
 * As vfs_read() in fs/read_write.c, with the way of nearly all files short.
 */
long cosy_read_file(struct file *file, u64 buffer, size_t size, loff_t *pos)
{
	void __user *to = u64_to_user_ptr(buffer);
	struct iov_iter iter __uninitialized;
	struct kiocb kiocb __uninitialized;
	long ret;

	if (unlikely(!(file->f_mode & FMODE_READ) || file->f_op->read ||
		     !file->f_op->read_iter || size > COSY_READ_SHORT ||
		     file->f_flags & O_DIRECT || !access_ok(to, size)))
		return static_call(cosy_vfs_read)(file, to, size, pos);
	ret = rw_verify_area(READ, file, pos, size);
	if (unlikely(ret))
		return ret;
	/* init_sync_kiocb() would look up the priority, for direct I/O. */
	kiocb = (struct kiocb){
		.ki_filp = file,
		.ki_flags = file->f_iocb_flags,
		.ki_pos = *pos,
	};
	iov_iter_ubuf(&iter, READ, to, size);
	ret = file->f_op->read_iter(&kiocb, &iter);
	*pos = kiocb.ki_pos;
	if (likely(ret > 0)) {
		fsnotify_access(file);
		add_rchar(current, ret);
	}
	inc_syscr(current);
	return ret;
}

/** cosy_fast_read() - read(fd, buffer, size) */
struct cosy_made cosy_fast_read(struct cosy_state *st,
				const struct cosy_insn *ip)
{
	struct cosy_io io = cosy_io_get_pos(st, ip);
	loff_t pos;
	long ret;

	if (unlikely(!io.file))
		return cosy_made(ip, -EBADF);
	if (likely(!(io.file->f_mode & FMODE_STREAM))) {
		pos = io.file->f_pos;
		ret = cosy_read_file(io.file, cosy_fast_arg(st, ip, 1),
				     cosy_fast_arg(st, ip, 2), &pos);
		if (ret >= 0)
			io.file->f_pos = pos;
	} else {
		ret = static_call(cosy_vfs_read)(
			io.file, u64_to_user_ptr(cosy_fast_arg(st, ip, 1)),
			cosy_fast_arg(st, ip, 2), NULL);
	}
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/** cosy_fast_write() - write(fd, buffer, size) */
struct cosy_made cosy_fast_write(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	struct cosy_io io = cosy_io_get_pos(st, ip);
	loff_t pos, *ppos = NULL;
	long ret;

	if (unlikely(!io.file))
		return cosy_made(ip, -EBADF);
	if (!(io.file->f_mode & FMODE_STREAM)) {
		pos = io.file->f_pos;
		ppos = &pos;
	}
	ret = static_call(cosy_vfs_write)(
		io.file, u64_to_user_ptr(cosy_fast_arg(st, ip, 1)),
		cosy_fast_arg(st, ip, 2), ppos);
	if (ret >= 0 && ppos)
		io.file->f_pos = pos;
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/** cosy_fast_pread64() - pread64(fd, buffer, size, offset) */
struct cosy_made cosy_fast_pread64(struct cosy_state *st,
				   const struct cosy_insn *ip)
{
	loff_t pos = cosy_fast_arg(st, ip, 3);
	struct cosy_io io;
	long ret = -ESPIPE;

	if (unlikely(pos < 0))
		return cosy_made(ip, -EINVAL);
	io = cosy_io_get(st, ip);
	if (unlikely(!io.file))
		return cosy_made(ip, -EBADF);
	if (likely(io.file->f_mode & FMODE_PREAD))
		ret = cosy_read_file(io.file, cosy_fast_arg(st, ip, 1),
				     cosy_fast_arg(st, ip, 2), &pos);
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/** cosy_fast_pwrite64() - pwrite64(fd, buffer, size, offset) */
struct cosy_made cosy_fast_pwrite64(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	loff_t pos = cosy_fast_arg(st, ip, 3);
	struct cosy_io io;
	long ret = -ESPIPE;

	if (unlikely(pos < 0))
		return cosy_made(ip, -EINVAL);
	io = cosy_io_get(st, ip);
	if (unlikely(!io.file))
		return cosy_made(ip, -EBADF);
	if (likely(io.file->f_mode & FMODE_PWRITE))
		ret = static_call(cosy_vfs_write)(
			io.file, u64_to_user_ptr(cosy_fast_arg(st, ip, 1)),
			cosy_fast_arg(st, ip, 2), &pos);
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/** cosy_fast_lseek() - lseek(fd, offset, whence) */
struct cosy_made cosy_fast_lseek(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	unsigned int whence = cosy_fast_arg(st, ip, 2);
	struct cosy_io io = cosy_io_get_pos(st, ip);
	long ret = -EINVAL;

	if (unlikely(!io.file))
		return cosy_made(ip, -EBADF);
	/*
	 * This enters another compound, which may do anything to the process's
	 * table, even replace it: the private files have to be there.
	 */
	if (unlikely(io.file->f_op->llseek == cosy_run_llseek)) {
		cosy_io_put(&io);
		return cosy_fast_plain(st, ip);
	}
	if (likely(whence <= SEEK_MAX))
		ret = vfs_llseek(io.file, cosy_fast_arg(st, ip, 1), whence);
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/* lseek at @ip, then read or write of the same file at @next. */
static __always_inline struct cosy_made
cosy_seek_and(struct cosy_state *st, const struct cosy_insn *ip,
	      const struct cosy_insn *next)
{
	loff_t pos = cosy_fast_arg(st, ip, 1);
	struct cosy_io io;
	u64 buffer;
	size_t size;
	long ret;

	/* Whoever has to see calls may want to see only the second one. */
	if (unlikely(!cosy_env_may_fast(st, next)))
		return cosy_fast_lseek(st, ip);
	io = cosy_io_get_pos(st, ip);
	if (unlikely(!io.file || !cosy_is_plain_file(io.file) || pos < 0 ||
		     pos > i_size_read(file_inode(io.file)))) {
		cosy_io_put(&io);
		return cosy_fast_lseek(st, ip);
	}
	io.file->f_pos = pos;
	st->regs[ip->dst] = pos;
	st->calls++;
	buffer = cosy_fast_arg(st, next, 1);
	size = cosy_fast_arg(st, next, 2);
	if (next->imm == __NR_read)
		ret = cosy_read_file(io.file, buffer, size, &pos);
	else
		ret = static_call(cosy_vfs_write)(
			io.file, u64_to_user_ptr(buffer), size, &pos);
	if (ret >= 0)
		io.file->f_pos = pos;
	cosy_io_put(&io);
	return cosy_made(next, ret);
}

/** cosy_fast_seek_next() - lseek, and the read or write behind it */
struct cosy_made cosy_fast_seek_next(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	return cosy_seek_and(st, ip, ip + 1 + COSY_INSN_ARGS(ip));
}

/** cosy_fast_seek_branch_next() - the same, behind a branch that is not taken */
struct cosy_made cosy_fast_seek_branch_next(struct cosy_state *st,
					    const struct cosy_insn *ip)
{
	return cosy_seek_and(st, ip, ip + 2 + COSY_INSN_ARGS(ip));
}

/** cosy_fast_fstat() - fstat(fd, statbuf) */
struct cosy_made cosy_fast_fstat(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	struct kstat stat __uninitialized;
	struct cosy_io io = cosy_io_get(st, ip);
	long ret;

	/* It may have been opened with O_PATH. */
	if (unlikely(!io.file))
		return cosy_fast_plain(st, ip);
	ret = vfs_getattr(&io.file->f_path, &stat, STATX_BASIC_STATS, 0);
	cosy_io_put(&io);
	if (likely(!ret))
		ret = cosy_stat_put(&stat, u64_to_user_ptr(cosy_fast_arg(st, ip, 1)));
	return cosy_made(ip, ret);
}
