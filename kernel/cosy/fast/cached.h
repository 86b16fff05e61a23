/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cached.h - what the page cache has of a file.
 *
 * Most reads are short ones of what is there. They need not begin with preparing
 * for all that might be otherwise.
 */
#ifndef COSY_FAST_CACHED_H
#define COSY_FAST_CACHED_H

#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include <linux/timekeeping.h>
#include <linux/xarray.h>

#include "compat/compat.h"

#define SECS_PER_DAY	(24 * 60 * 60)

/**
 * struct cosy_cached - pages of a file's page cache, with a reference to each
 * @nr:   of them; a large folio counts as one
 * @room: of @vec
 * @vec:  they
 */
struct cosy_cached {
	unsigned int nr;
	unsigned int room;
	struct bio_vec *vec;
};

/* cached.c: how tmpfs and ext4 read; a function of no file if that is not known */
extern void *cosy_tmpfs_read_iter;
extern void *cosy_ext4_read_iter;
void cosy_cached_init(void);
void cosy_cached_exit(void);
bool cosy_cached_refused(struct file *file);
struct folio *cosy_cached_page(struct address_space *mapping, loff_t pos);
bool cosy_cached_pages(struct cosy_cached *cached,
		       struct address_space *mapping, loff_t pos, size_t len);
size_t cosy_cached_copy(const struct cosy_cached *cached, u64 buffer,
			size_t len);
long cosy_cached_read(struct file *file, u64 buffer, size_t size, loff_t *pos);

/**
 * cosy_is_tmpfs() - test whether tmpfs itself reads a file
 * @file: a file with a read_iter()
 *
 * Return: true if it does.
 */
static __always_inline bool cosy_is_tmpfs(const struct file *file)
{
	return file->f_op->read_iter == cosy_tmpfs_read_iter;
}

/**
 * cosy_reads_cache() - test whether a file's read function only copies from the page cache
 * @file: a file with a read_iter()
 *
 * By the function, not by the number of its file system: that is what is
 * replaced, and another file system may have the same number.
 *
 * Return: true if it is.
 */
static __always_inline bool cosy_reads_cache(const struct file *file)
{
	return cosy_is_tmpfs(file) ||
	       file->f_op->read_iter == READ_ONCE(cosy_ext4_read_iter);
}

/**
 * cosy_is_cached() - test whether the data of a file is read from the page cache
 * @file: the file
 *
 * Always, that is, with nothing else around it but what is done here. All such
 * files have a read_iter() and the page cache of their inode.
 *
 * Return: true if so.
 */
static __always_inline bool cosy_is_cached(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	if (!S_ISREG(inode->i_mode) || IS_DAX(inode) ||
	    file->f_flags & O_DIRECT)
		return false;
	if ((file->f_mode & (FMODE_READ | FMODE_CAN_READ | FMODE_ATOMIC_POS)) !=
	    (FMODE_READ | FMODE_CAN_READ | FMODE_ATOMIC_POS))
		return false;
	return cosy_reads_cache(file);
}

/** cosy_cached_put() - let go of what is held */
static __always_inline void cosy_cached_put(struct cosy_cached *cached)
{
	while (likely(cached->nr))
		folio_put(page_folio(cached->vec[--cached->nr].bv_page));
}

/**
 * cosy_cached_get() - get hold of what a read is to give
 * @cached: where to; holds nothing
 * @file:   a file that cosy_is_cached()
 * @pos:    from there
 * @count:  bytes, not 0
 *
 * Return: bytes, up to the end of the file; 0 if something is not there, or has
 * to be dealt with first. Then nothing is held.
 */
static __always_inline size_t
cosy_cached_get(struct cosy_cached *cached, struct file *file, loff_t pos,
		size_t count)
{
	struct inode *inode = file_inode(file);
	loff_t size = i_size_read(inode);
	bool found = true;
	size_t len;

	if (unlikely(pos >= size || (!cosy_is_tmpfs(file) &&
				     cosy_cached_refused(file))))
		return 0;
	len = min_t(u64, count, size - pos);
	if (offset_in_page(pos) + len <= PAGE_SIZE) {
		struct folio *folio = cosy_cached_page(file->f_mapping, pos);

		if (unlikely(!folio))
			return 0;
		cached->vec[0].bv_page = folio_file_page(folio, pos >> PAGE_SHIFT);
		cached->vec[0].bv_len = len;
		cached->vec[0].bv_offset = offset_in_page(pos);
		cached->nr = 1;
	} else {
		found = cosy_cached_pages(cached, file->f_mapping, pos, len);
	}
	/* The size is as of now: what is cut off is not to be seen. */
	if (likely(found && i_size_read(inode) >= pos + len))
		return len;
	cosy_cached_put(cached);
	return 0;
}

/*
 * Nothing is to be noted of a file that was last read less than a day ago, and
 * after it was changed: touch_atime() finds this out at more length.
 */
static __always_inline bool cosy_accessed_today(const struct path *path)
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

/**
 * cosy_cached_accessed() - what is held has been read
 * @cached: it
 * @file:   of this file
 * @pos:    from there
 * @len:    bytes
 *
 * As filemap_read() does, for what is reclaimed first and for when it was read.
 */
static __always_inline void
cosy_cached_accessed(const struct cosy_cached *cached, struct file *file,
		     loff_t pos, size_t len)
{
	struct folio *folio = page_folio(cached->vec[0].bv_page);
	unsigned int i;

	/* pread() of several threads changes this hint without a lock, as in filemap_read(). */
	if ((data_race(READ_ONCE(file->f_ra.prev_pos)) - 1) >> PAGE_SHIFT != pos >> PAGE_SHIFT)
		folio_mark_accessed(folio);
	for (i = 1; i < cached->nr; i++) {
		folio = page_folio(cached->vec[i].bv_page);
		if (!folio_test_referenced(folio))
			folio_mark_accessed(folio);
	}
	/* The last one wins. */
	data_race(file->f_ra.prev_pos = pos + len);
	/* The times are read without a lock, as in touch_atime(). */
	if (!data_race(cosy_accessed_today(&file->f_path)))
		file_accessed(file);
}

#endif /* COSY_FAST_CACHED_H */
