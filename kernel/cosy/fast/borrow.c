// SPDX-License-Identifier: GPL-2.0
/*
 * borrow.c - data on its way from a file to another one, or to a socket, as
 * references to the pages it is in.
 *
 * A read with the hint BORROW is made without copying: the run holds the pages of
 * the page cache. The write of the same bytes copies from there. The process's
 * buffer is stale meanwhile: whoever gave the hint knows that nobody looks. When
 * the compound is left between the two, whatever the reason, the buffer is filled
 * first.
 */
#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/net.h>
#include <linux/pagemap.h>
#include <linux/sched/xacct.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/xarray.h>
#include <net/sock.h>

#include "fast/fast.h"

/* Longer reads are made as they are: so many pages are not to be pinned. */
#define COSY_BORROW_MAX	(1ul << 20)
#define COSY_BORROW_MIN_ROOM	17

#define SECS_PER_DAY	(24 * 60 * 60)

/**
 * struct cosy_borrowed - what was read and not copied
 * @addr: where the process wants it
 * @len:  bytes, 0 if nothing is borrowed
 * @from: whose pages they are; only to be compared
 * @pos:  where they begin in it
 * @nr:   used of @vec; each holds a reference to its folio
 * @room: of @vec
 * @vec:  where it is
 */
struct cosy_borrowed {
	u64 addr;
	size_t len;
	const struct address_space *from;
	loff_t pos;
	unsigned int nr;
	unsigned int room;
	struct bio_vec vec[] __counted_by(room);
};

static void cosy_borrowed_drop(struct cosy_borrowed *b)
{
	while (b->nr)
		folio_put(page_folio(b->vec[--b->nr].bv_page));
	b->len = 0;
}

/* Fill the process's buffer. If that is gone, so is what was in it. */
static void cosy_borrowed_fill(const struct cosy_borrowed *b)
{
	char __user *to = u64_to_user_ptr(b->addr);
	size_t left = b->len;
	unsigned int i;

	for (i = 0; left; i++) {
		const struct bio_vec *v = &b->vec[i];
		size_t n = min_t(size_t, v->bv_len, left);

		if (copy_to_user(to, page_address(v->bv_page) + v->bv_offset, n))
			return;
		to += n;
		left -= n;
	}
}

/**
 * cosy_borrow_leave() - a compound is left before it is done
 * @env: its run
 */
void cosy_borrow_leave(struct cosy_env *env)
{
	cosy_borrowed_fill(env->borrowed);
	cosy_borrow_end(env);
}

/**
 * cosy_borrow_end() - a compound is done, what it has borrowed is of no use
 * @env: its run
 */
void cosy_borrow_end(struct cosy_env *env)
{
	cosy_borrowed_drop(env->borrowed);
	kfree(env->borrowed);
	env->borrowed = NULL;
}

/* Make room for so many pages. */
static struct cosy_borrowed *cosy_borrow_room(struct cosy_env *env,
					      unsigned int pages)
{
	struct cosy_borrowed *b = env->borrowed;
	unsigned int room = max(pages, COSY_BORROW_MIN_ROOM);

	if (b) {
		cosy_borrowed_drop(b);
		if (likely(pages <= b->room))
			return b;
		kfree(b);
	}
	b = kmalloc(struct_size(b, vec, room), GFP_KERNEL_ACCOUNT);
	if (b) {
		b->room = room;
		b->len = 0;
		b->nr = 0;
	}
	env->borrowed = b;
	return b;
}

/*
 * A reference to the folio that is cached at the current place of @xas, if it is
 * there, whole, and wants nothing to be done about it. The caller is an RCU reader.
 */
static struct folio *cosy_borrow_folio(struct xa_state *xas, struct folio *folio)
{
	if (!folio || xa_is_value(folio) || xas_retry(xas, folio) ||
	    !folio_try_get(folio))
		return NULL;
	if (likely(folio == xas_reload(xas) && folio_test_uptodate(folio) &&
		   !folio_test_readahead(folio) && !folio_test_hwpoison(folio)))
		return folio;
	folio_put(folio);
	return NULL;
}

/* Take references to what is cached from @pos on, all @len bytes, or none. */
static bool cosy_borrow_pages(struct cosy_borrowed *b, struct file *file,
			      loff_t pos, size_t len)
{
	XA_STATE(xas, &file->f_mapping->i_pages, pos >> PAGE_SHIFT);
	struct folio *folio;

	rcu_read_lock();
	folio = xas_load(&xas);
	for (;;) {
		struct bio_vec *v = &b->vec[b->nr];
		size_t offset, n;

		folio = cosy_borrow_folio(&xas, folio);
		if (unlikely(!folio))
			break;
		offset = offset_in_folio(folio, pos);
		n = min(folio_size(folio) - offset, len);
		v->bv_page = folio_page(folio, offset / PAGE_SIZE);
		v->bv_offset = offset_in_page(offset);
		v->bv_len = n;
		b->nr++;
		pos += n;
		len -= n;
		if (!len || b->nr == b->room)
			break;
		xas_advance(&xas, folio_next_index(folio) - 1);
		folio = xas_next(&xas);
	}
	rcu_read_unlock();
	return !len;
}

/*
 * Make the process take the faults of writing to its buffer, as natively. What is
 * there is to be overwritten.
 */
static bool cosy_borrow_writable(u64 addr, size_t len)
{
	char __user *to = u64_to_user_ptr(addr);

	if (offset_in_page(addr) + len > PAGE_SIZE)
		return !fault_in_writeable(to, len);
	return !put_user(0, to);
}

/*
 * Nothing is to be noted of a file that was last read less than a day ago, and
 * after it was changed: touch_atime() finds this out at more length.
 */
static bool cosy_accessed_today(const struct path *path)
{
	const struct inode *inode = d_inode(path->dentry);
	struct timespec64 atime = cosy_inode_atime(inode);
	struct timespec64 mtime = cosy_inode_mtime(inode);
	struct timespec64 ctime = cosy_inode_ctime(inode);

	return path->mnt->mnt_flags & MNT_RELATIME &&
	       timespec64_compare(&atime, &mtime) > 0 &&
	       timespec64_compare(&atime, &ctime) > 0 &&
	       ktime_get_real_seconds() - atime.tv_sec < SECS_PER_DAY - 1;
}

/* As filemap_read() does, for what is reclaimed first. */
static void cosy_borrow_accessed(const struct cosy_borrowed *b,
				 struct file *file, loff_t pos)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		struct folio *folio = page_folio(b->vec[i].bv_page);

		if (i == 0 ? (file->f_ra.prev_pos - 1) >> PAGE_SHIFT !=
				     pos >> PAGE_SHIFT :
			     !folio_test_referenced(folio))
			folio_mark_accessed(folio);
	}
	file->f_ra.prev_pos = pos + b->len;
}

/*
 * Files whose data is in the page cache, and read from there with nothing else
 * around it but what is done here.
 */
static bool cosy_borrow_from(const struct file *file)
{
	const struct inode *inode = file->f_mapping->host;

	if (inode != file_inode(file) || !S_ISREG(inode->i_mode) ||
	    IS_DAX(inode) || file->f_flags & O_DIRECT)
		return false;
	if ((file->f_mode & (FMODE_READ | FMODE_CAN_READ | FMODE_ATOMIC_POS)) !=
	    (FMODE_READ | FMODE_CAN_READ | FMODE_ATOMIC_POS))
		return false;
	return (inode->i_sb->s_magic == TMPFS_MAGIC ||
		inode->i_sb->s_magic == EXT4_SUPER_MAGIC) &&
	       file->f_op->read_iter;
}

/* Files that take data from anywhere, and by the process's own calls. */
static bool cosy_borrow_to(struct file *file)
{
	const struct inode *inode = file_inode(file);
	struct socket *sock;

	if ((file->f_mode & (FMODE_WRITE | FMODE_CAN_WRITE)) !=
		    (FMODE_WRITE | FMODE_CAN_WRITE) ||
	    file->f_flags & O_DIRECT || !file->f_op->write_iter)
		return false;
	if (S_ISREG(inode->i_mode))
		return !IS_DAX(inode) && file->f_mode & FMODE_ATOMIC_POS &&
		       (inode->i_sb->s_magic == TMPFS_MAGIC ||
			inode->i_sb->s_magic == EXT4_SUPER_MAGIC);
	sock = sock_from_file(file);
	return sock && sock->sk &&
	       (sock->sk->sk_family == AF_UNIX ||
		((sock->sk->sk_family == AF_INET ||
		  sock->sk->sk_family == AF_INET6) &&
		 sock->sk->sk_protocol == IPPROTO_TCP));
}

/*
 * Does the file system itself have something to say before it reads, as when it
 * has been shut down? It says so even if nothing is to be read.
 */
static bool cosy_borrow_refused(struct file *file)
{
	struct kiocb kiocb;
	struct iov_iter none;

	if (file_inode(file)->i_sb->s_magic == TMPFS_MAGIC)
		return false;
	init_sync_kiocb(&kiocb, file);
	iov_iter_bvec(&none, READ, NULL, 0, 0);
	return file->f_op->read_iter(&kiocb, &none) != 0;
}

/* Read without copying. Return: bytes, errors, 0 if the plain call is needed. */
static long cosy_borrow(struct cosy_env *env, struct file *file, u64 addr,
			size_t count, loff_t pos)
{
	struct inode *inode = file_inode(file);
	loff_t size = i_size_read(inode);
	struct cosy_borrowed *b;
	size_t len;
	long err;

	if (pos < 0 || pos >= size || !count || count > COSY_BORROW_MAX ||
	    !access_ok(u64_to_user_ptr(addr), count) ||
	    cosy_borrow_refused(file))
		return 0;
	len = min_t(u64, count, size - pos);
	b = cosy_borrow_room(env, (offset_in_page(pos) + len + PAGE_SIZE - 1) >>
					  PAGE_SHIFT);
	if (!b || !cosy_borrow_pages(b, file, pos, len))
		goto plain;
	/* As of now: what is cut off is not to be seen. */
	if (unlikely(i_size_read(inode) < pos + len))
		goto plain;
	/* EFAULT is to be had here; what is there is to be overwritten. */
	if (!cosy_borrow_writable(addr, len))
		goto plain;
	err = rw_verify_area(READ, file, &pos, count);
	if (err) {
		cosy_borrowed_drop(b);
		return err;
	}
	b->addr = addr;
	b->len = len;
	b->from = file->f_mapping;
	b->pos = pos;
	cosy_borrow_accessed(b, file, pos);
	if (!cosy_accessed_today(&file->f_path))
		file_accessed(file);
	fsnotify_access(file);
	add_rchar(current, len);
	inc_syscr(current);
	return len;

plain:
	if (b)
		cosy_borrowed_drop(b);
	return 0;
}

/* The file of the first argument, for cosy_fd_put(@fd). */
static struct file *cosy_borrow_file(struct cosy_state *st,
				     const struct cosy_insn *ip,
				     struct cosy_fd *fd)
{
	struct cosy_private *private = cosy_private_arg(st, ip);

	if (private) {
		cosy_rest_drop(&st->env);
		*fd = (struct cosy_fd){};
		return private->file;
	}
	*fd = cosy_fd_get(cosy_fast_arg(st, ip, 0));
	return fd->file;
}

static struct cosy_made cosy_borrow_read(struct cosy_state *st,
					 const struct cosy_insn *ip, bool has_pos)
{
	struct cosy_fd fd;
	struct file *file = cosy_borrow_file(st, ip, &fd);
	long ret = 0;

	if (file && cosy_borrow_from(file)) {
		u64 addr = cosy_fast_arg(st, ip, 1);
		size_t count = cosy_fast_arg(st, ip, 2);

		if (has_pos) {
			ret = cosy_borrow(&st->env, file, addr, count,
					  cosy_fast_arg(st, ip, 3));
		} else {
			mutex_lock(&file->f_pos_lock);
			ret = cosy_borrow(&st->env, file, addr, count,
					  file->f_pos);
			if (ret > 0)
				file->f_pos += ret;
			mutex_unlock(&file->f_pos_lock);
		}
	}
	cosy_fd_put(fd);
	if (likely(ret))
		return cosy_made(ip, ret);
	/* What was borrowed before has been overwritten, or nobody wants it. */
	if (st->env.borrowed)
		cosy_borrowed_drop(st->env.borrowed);
	return has_pos ? cosy_fast_pread64(st, ip) : cosy_fast_read(st, ip);
}

/* As vfs_write(), but for where the data is. @pos is NULL for a stream. */
static long cosy_borrowed_write(const struct cosy_borrowed *b,
				struct file *file, loff_t *pos)
{
	struct kiocb kiocb __uninitialized;
	struct iov_iter iter __uninitialized;
	long ret;

	ret = rw_verify_area(WRITE, file, pos, b->len);
	if (ret)
		return ret;
	file_start_write(file);
	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = pos ? *pos : 0;
	iov_iter_bvec(&iter, WRITE, b->vec, b->nr, b->len);
	ret = file->f_op->write_iter(&kiocb, &iter);
	if (ret > 0) {
		if (pos)
			*pos = kiocb.ki_pos;
		fsnotify_modify(file);
		add_wchar(current, ret);
	}
	inc_syscw(current);
	file_end_write(file);
	return ret;
}

/* Is this write the one of what was borrowed? */
static struct cosy_borrowed *cosy_borrowed_of(const struct cosy_state *st,
					      const struct cosy_insn *ip)
{
	struct cosy_borrowed *b = st->env.borrowed;

	if (!b || !b->len || b->addr != cosy_fast_arg(st, ip, 1) ||
	    b->len != cosy_fast_arg(st, ip, 2))
		return NULL;
	return b;
}

/*
 * Bytes that are moved within a file would be overwritten before they are copied;
 * written back to where they are, they may be.
 */
static bool cosy_borrow_moves(const struct cosy_borrowed *b,
			      const struct file *file, loff_t pos)
{
	return file->f_mapping == b->from &&
	       (pos != b->pos || file->f_flags & O_APPEND);
}

static struct cosy_made cosy_borrow_write(struct cosy_state *st,
					  const struct cosy_insn *ip, bool has_pos)
{
	struct cosy_borrowed *b = cosy_borrowed_of(st, ip);
	bool seekable, made = false;
	struct cosy_fd fd;
	struct file *file;
	loff_t pos;
	long ret;

	if (unlikely(!b))
		goto plain;
	file = cosy_borrow_file(st, ip, &fd);
	if (unlikely(!file))
		goto plain;
	seekable = file->f_mode & FMODE_ATOMIC_POS;
	if (cosy_borrow_to(file) && (seekable || !has_pos)) {
		made = true;
		if (has_pos) {
			pos = cosy_fast_arg(st, ip, 3);
			made = pos >= 0 && !cosy_borrow_moves(b, file, pos);
			if (made)
				ret = cosy_borrowed_write(b, file, &pos);
		} else if (seekable) {
			mutex_lock(&file->f_pos_lock);
			made = !cosy_borrow_moves(b, file, file->f_pos);
			if (made)
				ret = cosy_borrowed_write(b, file,
							  &file->f_pos);
			mutex_unlock(&file->f_pos_lock);
		} else {
			ret = cosy_borrowed_write(b, file, NULL);
		}
	}
	cosy_fd_put(fd);
	if (likely(made)) {
		if (ret == b->len)
			cosy_borrowed_drop(b);
		return cosy_made(ip, ret);
	}
plain:
	if (st->env.borrowed)
		cosy_borrow_leave(&st->env);
	return has_pos ? cosy_fast_pwrite64(st, ip) : cosy_fast_write(st, ip);
}

/** cosy_fast_read() - read(fd, buffer, count), not copied yet */
struct cosy_made cosy_fast_borrow_read(struct cosy_state *st,
				       const struct cosy_insn *ip)
{
	return cosy_borrow_read(st, ip, false);
}

/** cosy_fast_pread64() - pread(fd, buffer, count, offset), not copied yet */
struct cosy_made cosy_fast_borrow_pread64(struct cosy_state *st,
					  const struct cosy_insn *ip)
{
	return cosy_borrow_read(st, ip, true);
}

/** cosy_fast_borrow_write() - write(fd, buffer, count) of what was borrowed */
struct cosy_made cosy_fast_borrow_write(struct cosy_state *st,
					const struct cosy_insn *ip)
{
	return cosy_borrow_write(st, ip, false);
}

/** cosy_fast_borrow_pwrite64() - pwrite(fd, buffer, count, offset) of the same */
struct cosy_made cosy_fast_borrow_pwrite64(struct cosy_state *st,
					   const struct cosy_insn *ip)
{
	return cosy_borrow_write(st, ip, true);
}
