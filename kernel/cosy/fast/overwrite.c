// SPDX-License-Identifier: GPL-2.0
/*
 * overwrite.c - fast path of writes that overwrite existing data of tmpfs files.
 *
 * Such a write only changes a page that is in memory. It allocates nothing and does not wait.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/swap.h>
#include <linux/uio.h>

#include "fast/cached.h"
#include "fast/io.h"
#include "kernel/internals.h"

/* The write_iter() of tmpfs, for which this fast path stands; NULL if it was not found. */
void *cosy_tmpfs_write_iter __ro_after_init;

/**
 * cosy_overwrite_init() - find the write_iter() of tmpfs
 *
 * Before 6.6 other file systems used the same function; then there is no fast path.
 */
void cosy_overwrite_init(void)
{
	cosy_tmpfs_write_iter =
		cosy_internal_address(COSY_INTERNAL_shmem_file_write_iter);
}

/* Copy up to @n bytes. Nearly always the source is one piece of a page. */
static __always_inline size_t cosy_overwrite_copy(struct folio *folio,
						  struct page *page,
						  size_t offset, size_t n,
						  struct iov_iter *from)
{
	const struct bio_vec *v = from->bvec;

	if (!iov_iter_is_bvec(from) || v->bv_len - from->iov_offset < n)
		return cosy_copy_from_iter_atomic(folio, page, offset, n, from);
	memcpy(page_address(page) + offset,
	       page_address(v->bv_page) + v->bv_offset + from->iov_offset, n);
	iov_iter_advance(from, n);
	return n;
}

/*
 * Write to the page at the current position. Return the number of bytes; 0 if the page is not in
 * memory or is locked, or the source is not in memory.
 */
static size_t cosy_overwrite_page(struct address_space *mapping,
				  struct kiocb *iocb, struct iov_iter *from)
{
	loff_t pos = iocb->ki_pos;
	size_t n = min_t(size_t, PAGE_SIZE - offset_in_page(pos),
			 iov_iter_count(from));
	struct folio *folio;
	size_t copied = 0;

	/* The inode's lock keeps the size from changing. */
	if (pos + n > i_size_read(mapping->host))
		return 0;
	folio = cosy_cached_page(mapping, pos);
	if (unlikely(!folio))
		return 0;
	if (likely(folio_trylock(folio))) {
		/* The page may have been swapped out before it was locked. */
		if (likely(folio->mapping == mapping)) {
			folio_mark_accessed(folio);
			copied = cosy_overwrite_copy(
				folio, folio_file_page(folio, pos >> PAGE_SHIFT),
				offset_in_page(pos), n, from);
			if (likely(copied))
				folio_mark_dirty(folio);
		}
		folio_unlock(folio);
	}
	folio_put(folio);
	iocb->ki_pos += copied;
	return copied;
}

/* The simple case of generic_perform_write(). Return the number of bytes written. */
static ssize_t cosy_overwrite_pages(struct kiocb *iocb, struct iov_iter *from)
{
	struct address_space *mapping = iocb->ki_filp->f_mapping;
	ssize_t written = 0;
	size_t n;

	if (SHMEM_I(mapping->host)->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return 0;
	do {
		if (unlikely(fatal_signal_pending(current)))
			break;
		n = cosy_overwrite_page(mapping, iocb, from);
		written += n;
		cond_resched();
	} while (n && iov_iter_count(from));
	return written;
}

/**
 * cosy_tmpfs_write() - write to a file of tmpfs
 * @iocb: the write, to a file whose write_iter() is cosy_tmpfs_write_iter
 * @from: the data
 *
 * Does what shmem_file_write_iter() in mm/shmem.c does. If a page is not simple to write, the rest
 * of the write takes generic_perform_write(), still under the inode's lock.
 *
 * Return: bytes written, or -errno.
 */
ssize_t cosy_tmpfs_write(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	struct inode *inode = file->f_mapping->host;
	ssize_t written = 0;
	ssize_t ret;

	inode_lock(inode);
	ret = generic_write_checks(iocb, from);
	if (unlikely(ret <= 0))
		goto unlock;
	ret = file_remove_privs(file);
	if (unlikely(ret))
		goto unlock;
	ret = file_update_time(file);
	if (unlikely(ret))
		goto unlock;
	written = cosy_overwrite_pages(iocb, from);
	if (unlikely(iov_iter_count(from)))
		ret = generic_perform_write(iocb, from);
unlock:
	inode_unlock(inode);
	if (ret > 0)
		written += ret;
	return written ? written : ret;
}
