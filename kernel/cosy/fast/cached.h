/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cached.h - reads data of a file from the page cache.
 *
 * Most reads are short, and their data is cached. They do not need the preparations that the
 * kernel makes for other cases.
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
 * @nr:   number of pages; a large folio counts as one
 * @room: entries of @vec
 * @vec:  the pages
 */
struct cosy_cached {
	unsigned int nr;
	unsigned int room;
	struct bio_vec *vec;
};

/* cached.c: the read functions of tmpfs and ext4; if unknown, a function that no file has */
extern void *cosy_tmpfs_read_iter;
extern void *cosy_ext4_read_iter;

/* Bytes of a read with cosy_cached_read(), less the offset of its position in a page. */
#define COSY_CACHED_MAX	(4 * PAGE_SIZE)

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
 * cosy_is_tmpfs() - return true if tmpfs itself reads a file
 * @file: a file with a read_iter()
 *
 * Return: true if the read function is that of tmpfs.
 */
static __always_inline bool cosy_is_tmpfs(const struct file *file)
{
	return file->f_op->read_iter == cosy_tmpfs_read_iter;
}

/**
 * cosy_reads_cache() - return true if a file's read function only copies from the page cache
 * @file: a file with a read_iter()
 *
 * Compares the function, which is what the fast path replaces. Another file system may
 * have the same magic number.
 *
 * Return: true for the read functions of tmpfs and ext4.
 */
static __always_inline bool cosy_reads_cache(const struct file *file)
{
	return cosy_is_tmpfs(file) ||
	       file->f_op->read_iter == READ_ONCE(cosy_ext4_read_iter);
}

/**
 * cosy_reads_regular() - test whether reads of a file are ordinary reads of a regular file
 * @file: the file
 *
 * Return: false if it is not open for reading, or its data does not go through the page cache
 * (O_DIRECT, DAX).
 */
static __always_inline bool cosy_reads_regular(const struct file *file)
{
	const fmode_t needs = FMODE_READ | FMODE_CAN_READ | FMODE_ATOMIC_POS;
	const struct inode *inode = file_inode(file);

	return S_ISREG(inode->i_mode) && !IS_DAX(inode) && !(file->f_flags & O_DIRECT) &&
	       (file->f_mode & needs) == needs;
}

/**
 * cosy_is_cached() - return true if all reads of a file are from the page cache
 * @file: the file
 *
 * The functions here have all effects of such a read. All such files have a read_iter() and
 * the page cache of their inode.
 *
 * Return: true if cosy_cached_get() may be called.
 */
static __always_inline bool cosy_is_cached(const struct file *file)
{
	return cosy_reads_regular(file) && cosy_reads_cache(file);
}

/** cosy_cached_put() - drop the references to the pages */
static __always_inline void cosy_cached_put(struct cosy_cached *cached)
{
	while (likely(cached->nr))
		folio_put(page_folio(cached->vec[--cached->nr].bv_page));
}

/**
 * cosy_cached_get() - take references to the pages of a read
 * @cached: out: the pages; must be empty
 * @file:   a file that cosy_is_cached()
 * @pos:    position in the file
 * @count:  bytes, not 0
 *
 * Return: bytes, up to the end of the file. 0 if some are not cached, or if the file
 * system must act first; then @cached is empty.
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
	/* Read the size again: data that was truncated must not be returned. */
	if (likely(found && i_size_read(inode) >= pos + len))
		return len;
	cosy_cached_put(cached);
	return 0;
}

/*
 * Return true if the access time needs no update: the file was last read less than a day
 * ago, and after its last change. touch_atime() takes longer to decide this.
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
 * cosy_cached_accessed() - mark pages and their file as read
 * @cached: the pages
 * @file:   their file
 * @pos:    position in the file
 * @len:    bytes
 *
 * Like filemap_read(), for the order of reclaim and for the access time.
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
	/* The last write wins. */
	data_race(file->f_ra.prev_pos = pos + len);
	/* The times are read without a lock, as in touch_atime(). */
	if (!data_race(cosy_accessed_today(&file->f_path)))
		file_accessed(file);
}

#endif /* COSY_FAST_CACHED_H */
