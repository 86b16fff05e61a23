// SPDX-License-Identifier: GPL-2.0
/*
 * io.c - fast paths of read, write, lseek and fstat, for private files and for files in the
 * process's descriptor table.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/magic.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/xacct.h>
#include <linux/stat.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/unistd.h>

#include "fast/cached.h"
#include "fast/io.h"
#include "kernel/internals.h"

/* Longer reads and writes take vfs_read() and vfs_write(), which limit the length. */
#define COSY_SHORT	(1ul << 24)

/* Pages of the process that are looked up at once. */
#define COSY_PRESENT	16

/**
 * cosy_is_plain_file() - test whether a file behaves like a file on a local disk
 * @file: the file
 *
 * For such a file i_size is its real size. Some file systems have to ask a server for it.
 *
 * Return: true if it does.
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

/* Return true if the short path applies: it calls read_iter() or write_iter() directly. */
static __always_inline bool cosy_is_usual(const struct file *file, fmode_t mode,
					  bool own, const void *iter,
					  size_t size, const void __user *p)
{
	return (file->f_mode & mode) == mode && !own && iter &&
	       size <= COSY_SHORT && !(file->f_flags & O_DIRECT) &&
	       cosy_access_ok(p, size);
}

/**
 * cosy_read_allowed() - read, after the caller has called rw_verify_area()
 * @file:   a file that is read by its read_iter()
 * @buffer: destination, an address of the process
 * @size:   bytes
 * @pos:    position, which is advanced. NULL for streams
 *
 * Return: bytes read, or -errno.
 */
long cosy_read_allowed(struct file *file, u64 buffer, size_t size, loff_t *pos)
{
	struct iov_iter iter __uninitialized;
	struct kiocb kiocb __uninitialized;
	long ret = 0;

	if (cosy_is_cached(file))
		ret = cosy_cached_read(file, buffer, size, pos);
	if (unlikely(!ret)) {
		cosy_kiocb_init(&kiocb, file, pos);
		iov_iter_ubuf(&iter, READ, u64_to_user_ptr(buffer), size);
		ret = file->f_op->read_iter(&kiocb, &iter);
		if (likely(pos))
			*pos = kiocb.ki_pos;
	}
	if (likely(ret > 0)) {
		fsnotify_access(file);
		add_rchar(current, ret);
	}
	inc_syscr(current);
	return ret;
}

/* Return the file of the layer if this is a regular file of an overlay, else the file itself. */
static const struct inode *cosy_real_inode(const struct file *file)
{
	const struct dentry *dentry = file->f_path.dentry, *real = cosy_real_dentry(dentry);

	return real == dentry ? file_inode(file) : d_inode(real);
}

/**
 * cosy_closes_at_once() - test whether closing a file need not wait, and no entry can wait for it
 * @file: the file
 *
 * Return: true for files and directories on a local disk or on tmpfs, and for files of overlays of
 * these. Without a name they may have to be freed on the disk.
 */
bool cosy_closes_at_once(const struct file *file)
{
	const struct inode *inode = cosy_real_inode(file);

	return (S_ISREG(inode->i_mode) || S_ISDIR(inode->i_mode)) &&
	       !(file->f_mode & FMODE_WRITE) && READ_ONCE(inode->i_nlink) &&
	       cosy_is_local(inode->i_sb);
}

/* Read at the end of a file, or after it. Return 0 or -EAGAIN. */
static long cosy_read_nothing(struct file *file)
{
	if (!cosy_is_tmpfs(file) && cosy_cached_refused(file))
		return -EAGAIN;
	file_accessed(file);
	return 0;
}

/*
 * Read a file that cosy_is_cached(), part by part. Return bytes read; less than @size if a part is
 * not cached.
 */
static long cosy_read_parts(struct file *file, u64 buffer, size_t size, loff_t pos)
{
	size_t done = 0;
	long ret;

	for (;;) {
		size_t part = min_t(size_t, size - done, COSY_CACHED_MAX - offset_in_page(pos));

		pagefault_disable();
		ret = cosy_cached_read(file, buffer + done, part, &pos);
		pagefault_enable();
		done += ret;
		if (ret != part || done == size)
			return done;
		cond_resched();
	}
}

/* Read a file that cosy_is_cached(). Returns as cosy_read_cached_at(). */
static long cosy_read_cache(struct file *file, u64 buffer, size_t size, loff_t pos)
{
	loff_t end = i_size_read(file_inode(file));
	long ret;

	if (pos >= end)
		return cosy_read_nothing(file);
	size = min_t(u64, size, end - pos);
	ret = cosy_read_parts(file, buffer, size, pos);
	return ret && (ret == size || pos + ret == i_size_read(file_inode(file))) ? ret : -EAGAIN;
}

/*
 * Return true if the file system itself reads what is cached, without waiting. An overlay asks its
 * layer, which refuses if it cannot.
 */
static bool cosy_reads_nowait(const struct file *file, const struct inode *real)
{
	return cosy_reads_regular(file) && !IS_DAX(real) && file->f_op->read_iter &&
	       !file->f_op->read && (file->f_mode & FMODE_NOWAIT || real != file_inode(file)) &&
	       cosy_is_local(real->i_sb);
}

/* Let the file system read what is cached. Returns as cosy_read_cached_at(). */
static long cosy_read_nowait(struct file *file, u64 buffer, size_t size, loff_t pos)
{
	const struct inode *real = cosy_real_inode(file);
	struct iov_iter iter __uninitialized;
	struct kiocb kiocb __uninitialized;
	loff_t end;
	long ret;

	if (!cosy_reads_nowait(file, real))
		return -EAGAIN;
	/* Of the page with the end of the file, only the blocks before the end may be cached. */
	end = i_size_read(real);
	if (pos < end)
		size = min_t(u64, size, end - pos);
	cosy_kiocb_init(&kiocb, file, &pos);
	kiocb.ki_flags |= IOCB_NOWAIT;
	iov_iter_ubuf(&iter, READ, u64_to_user_ptr(buffer), size);
	pagefault_disable();
	ret = file->f_op->read_iter(&kiocb, &iter);
	pagefault_enable();
	/* The plain call may succeed, or read more. */
	if (ret < 0 || (ret < size && pos + ret < i_size_read(real)))
		return -EAGAIN;
	return ret;
}

/* Return true if memory of the process is private and has no file: then a fault needs no disk. */
static bool cosy_is_anonymous(unsigned long at, unsigned long end)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	if (!mmap_read_trylock(mm))
		return false;
	while (at < end) {
		vma = find_vma(mm, at);
		if (!vma || vma->vm_start > at || !vma_is_anonymous(vma))
			break;
		at = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return at >= end;
}

/*
 * Make absent pages of the process present. FOLL_NOWAIT: do not wait for swap space, nor for a
 * handler of userfaultfd(2). Return true if some were absent, and all are present now.
 */
static bool cosy_make_present(u64 buffer, size_t size)
{
	const unsigned long end = buffer + size;
	unsigned long at = buffer & PAGE_MASK;
	struct page *pages[COSY_PRESENT] __uninitialized;
	bool were_absent = false;
	int i, n, got;

	for (; at < end; at += (unsigned long)n << PAGE_SHIFT) {
		n = min_t(unsigned long, DIV_ROUND_UP(end - at, PAGE_SIZE), COSY_PRESENT);
		got = get_user_pages_fast_only(at, n, FOLL_WRITE, pages);
		for (i = 0; i < got; i++)
			put_page(pages[i]);
		if (got == n)
			continue;
		if (!were_absent && !cosy_is_anonymous(at, end))
			return false;
		were_absent = true;
		got = get_user_pages_unlocked(at, n, pages, FOLL_WRITE | FOLL_NOWAIT);
		for (i = 0; i < got; i++)
			put_page(pages[i]);
		if (got != n)
			return false;
		cond_resched();
	}
	return were_absent;
}

/* Read a file in the two ways that do not wait. Returns as cosy_read_cached_at(). */
static long cosy_read_present(struct file *file, u64 buffer, size_t size, loff_t pos)
{
	long ret = -EAGAIN;

	if (cosy_is_cached(file))
		ret = cosy_read_cache(file, buffer, size, pos);
	return ret == -EAGAIN ? cosy_read_nowait(file, buffer, size, pos) : ret;
}

/**
 * cosy_read_cached_at() - read a file without waiting, as pread(2) does
 * @file:   the file
 * @buffer: destination
 * @size:   bytes
 * @pos:    position
 *
 * Return: bytes read, or -EAGAIN: a part is not cached, the memory cannot be made present without
 * waiting, or the call has to be made in another way. Then a part of the memory may be written.
 */
long cosy_read_cached_at(struct file *file, u64 buffer, size_t size, loff_t pos)
{
	loff_t end;
	long ret;

	if (pos < 0 || !size || size > COSY_SHORT ||
	    !cosy_access_ok(u64_to_user_ptr(buffer), size) ||
	    cosy_sb_is_watched(file_inode(file)->i_sb) || rw_verify_area(READ, file, &pos, size))
		return -EAGAIN;
	ret = cosy_read_present(file, buffer, size, pos);
	/* A buffer that was not used before is absent. */
	if (unlikely(ret == -EAGAIN)) {
		end = i_size_read(cosy_real_inode(file));
		if (pos < end && cosy_make_present(buffer, min_t(u64, size, end - pos)))
			ret = cosy_read_present(file, buffer, size, pos);
	}
	if (ret < 0)
		return ret;
	add_rchar(current, ret);
	inc_syscr(current);
	return ret;
}

/**
 * cosy_read_cached_here() - the same at the position of the file, as read(2) does
 * @file:   the file
 * @buffer: destination
 * @size:   bytes
 *
 * Return: as cosy_read_cached_at(); -EAGAIN also if another thread uses the position.
 */
long cosy_read_cached_here(struct file *file, u64 buffer, size_t size)
{
	long ret;

	if (!(file->f_mode & FMODE_ATOMIC_POS) || !mutex_trylock(&file->f_pos_lock))
		return -EAGAIN;
	ret = cosy_read_cached_at(file, buffer, size, file->f_pos);
	if (ret > 0)
		file->f_pos += ret;
	mutex_unlock(&file->f_pos_lock);
	return ret;
}

/**
 * cosy_read_file() - read, as read(2) does
 * @file:   the file
 * @buffer: destination, an address of the process
 * @size:   bytes
 * @pos:    position, which is advanced. NULL for streams
 *
 * Does what vfs_read() in fs/read_write.c does, with a short path for nearly all files.
 *
 * Return: bytes read, or -errno.
 */
long cosy_read_file(struct file *file, u64 buffer, size_t size, loff_t *pos)
{
	void __user *to = u64_to_user_ptr(buffer);
	long ret;

	if (unlikely(!cosy_is_usual(file, FMODE_READ | FMODE_CAN_READ,
				    file->f_op->read, file->f_op->read_iter,
				    size, to)))
		return cosy_internal(vfs_read)(file, to, size, pos);
	ret = rw_verify_area(READ, file, pos, size);
	return likely(!ret) ? cosy_read_allowed(file, buffer, size, pos) : ret;
}

/**
 * cosy_write_file() - write from the process's memory, as write(2) does
 * @file:   the file
 * @buffer: source, an address of the process
 * @size:   bytes
 * @pos:    position, which is advanced. NULL for streams
 *
 * Does what vfs_write() in fs/read_write.c does, with a short path for nearly all files.
 *
 * Return: bytes written, or -errno.
 */
long cosy_write_file(struct file *file, u64 buffer, size_t size, loff_t *pos)
{
	void __user *from = u64_to_user_ptr(buffer);
	struct iov_iter iter __uninitialized;

	if (unlikely(!cosy_is_usual(file, FMODE_WRITE | FMODE_CAN_WRITE,
				    file->f_op->write, file->f_op->write_iter,
				    size, from)))
		return cosy_internal(vfs_write)(file, from, size, pos);
	iov_iter_ubuf(&iter, WRITE, from, size);
	return cosy_write_iter(file, &iter, pos);
}

/* The cosy_transfer_fn of calls that read into, or write from, the process's buffer. */
static __always_inline long cosy_plain_read(struct cosy_state *st,
					    const struct cosy_insn *ip,
					    struct file *file, loff_t *pos)
{
	return cosy_read_file(file, cosy_fast_arg(st, ip, 1),
			      cosy_fast_arg(st, ip, 2), pos);
}

static __always_inline long cosy_plain_write(struct cosy_state *st,
					     const struct cosy_insn *ip,
					     struct file *file, loff_t *pos)
{
	return cosy_write_file(file, cosy_fast_arg(st, ip, 1),
			       cosy_fast_arg(st, ip, 2), pos);
}

/** cosy_fast_read() - read(fd, buffer, size) */
struct cosy_made cosy_fast_read(struct cosy_state *st,
				const struct cosy_insn *ip)
{
	return cosy_io_here(st, ip, cosy_plain_read);
}

/** cosy_fast_write() - write(fd, buffer, size) */
struct cosy_made cosy_fast_write(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	return cosy_io_here(st, ip, cosy_plain_write);
}

/** cosy_fast_pread64() - pread64(fd, buffer, size, offset) */
struct cosy_made cosy_fast_pread64(struct cosy_state *st,
				   const struct cosy_insn *ip)
{
	return cosy_io_at(st, ip, FMODE_PREAD, cosy_plain_read);
}

/** cosy_fast_pwrite64() - pwrite64(fd, buffer, size, offset) */
struct cosy_made cosy_fast_pwrite64(struct cosy_state *st,
				    const struct cosy_insn *ip)
{
	return cosy_io_at(st, ip, FMODE_PWRITE, cosy_plain_write);
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
	 * This lseek() enters another compound. That may change or even replace the
	 * descriptor table, so the private files have to be in the table.
	 */
	if (unlikely(io.file->f_op->owner == THIS_MODULE)) {
		cosy_io_put(&io);
		return cosy_fast_plain(st, ip);
	}
	if (likely(whence <= SEEK_MAX))
		ret = vfs_llseek(io.file, cosy_fast_arg(st, ip, 1), whence);
	cosy_io_put(&io);
	return cosy_made(ip, ret);
}

/* Make the read or write at @ip, with borrowed pages if it has the hint. */
static __always_inline long cosy_transfer(struct cosy_state *st,
					  const struct cosy_insn *ip,
					  struct file *file, loff_t *pos)
{
	bool borrow = ip->hints & COSY_HINT_BORROW;

	if (ip->imm == __NR_read)
		return borrow ? cosy_borrow_read(st, ip, file, pos) :
				cosy_plain_read(st, ip, file, pos);
	return borrow ? cosy_borrow_write(st, ip, file, pos) :
			cosy_plain_write(st, ip, file, pos);
}

/* Return true if lseek() to @pos only sets the position. On XFS it fails after a shutdown. */
static bool cosy_only_sets_position(const struct file *file, loff_t pos)
{
	return cosy_is_plain_file(file) && pos >= 0 && pos <= i_size_read(file_inode(file)) &&
	       file_inode(file)->i_sb->s_magic != XFS_SUPER_MAGIC;
}

/* Make the lseek at @ip, and the read or write of the same file at @next. */
static __always_inline struct cosy_made
cosy_seek_and(struct cosy_state *st, const struct cosy_insn *ip,
	      const struct cosy_insn *next)
{
	loff_t pos = cosy_fast_arg(st, ip, 1);
	struct cosy_io io;
	long ret;

	/*
	 * Make the first call alone if a tracer or filter has to see the second one, or a loop
	 * makes it in its own way (cosy_set_parks()).
	 */
	if (unlikely(next->callee != next->imm) ||
	    unlikely(!cosy_env_may_fast(current_thread_info(), st, next)))
		return cosy_fast_lseek(st, ip);
	io = cosy_io_get_pos(st, ip);
	if (unlikely(!io.file || !cosy_only_sets_position(io.file, pos))) {
		cosy_io_put(&io);
		return cosy_fast_lseek(st, ip);
	}
	io.file->f_pos = pos;
	st->regs[ip->dst] = pos;
	st->calls++;
	ret = cosy_transfer(st, next, io.file, &pos);
	if (ret >= 0)
		io.file->f_pos = pos;
	cosy_io_put(&io);
	return cosy_made(next, ret);
}

/** cosy_fast_seek_next() - lseek, and the read or write after it */
struct cosy_made cosy_fast_seek_next(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	return cosy_seek_and(st, ip, ip + 1 + ip->nargs);
}

/** cosy_fast_seek_branch_next() - the same, after a branch that is not taken */
struct cosy_made cosy_fast_seek_branch_next(struct cosy_state *st,
					    const struct cosy_insn *ip)
{
	return cosy_seek_and(st, ip, ip + 2 + ip->nargs);
}

/** cosy_fast_fstat() - fstat(fd, statbuf) */
struct cosy_made cosy_fast_fstat(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	struct kstat stat __uninitialized;
	struct cosy_io io = cosy_io_get(st, ip);
	long ret;

	/* A file that was opened with O_PATH is not found here, but fstat() takes it. */
	if (unlikely(!io.file))
		return cosy_fast_plain(st, ip);
	ret = vfs_getattr(&io.file->f_path, &stat, STATX_BASIC_STATS, 0);
	cosy_io_put(&io);
	if (likely(!ret))
		ret = cosy_stat_put(&stat, u64_to_user_ptr(cosy_fast_arg(st, ip, 1)));
	return cosy_made(ip, ret);
}
