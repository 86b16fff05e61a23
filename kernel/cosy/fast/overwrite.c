// SPDX-License-Identifier: GPL-2.0
/*
 * overwrite.c - writes to files of tmpfs, over what they hold already.
 *
 * Nothing is to be allocated for that, no disk to be told, nor to be waited for:
 * the page is there, it is changed.
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

/* How tmpfs writes: what is replaced here. NULL if that is not known. */
void *cosy_tmpfs_write_iter __ro_after_init;

/**
 * cosy_overwrite_init() - find what writes to tmpfs
 *
 * Before 6.6 it was what writes to other file systems, too.
 */
void cosy_overwrite_init(void)
{
	cosy_tmpfs_write_iter =
		cosy_internal_address(COSY_INTERNAL_shmem_file_write_iter);
}

/* Copy up to @n bytes; a single piece of a page is nearly all there is. */
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
 * Write to the page at the current position. Return: bytes, 0 if there is none, or
 * it is not to be had at once, or the data is not.
 */
static size_t cosy_overwrite_page(struct address_space *mapping,
				  struct kiocb *iocb, struct iov_iter *from)
{
	loff_t pos = iocb->ki_pos;
	size_t n = min_t(size_t, PAGE_SIZE - offset_in_page(pos),
			 iov_iter_count(from));
	struct folio *folio;
	size_t copied = 0;

	/* The lock of the inode keeps the end where it is. */
	if (pos + n > i_size_read(mapping->host))
		return 0;
	folio = cosy_cached_page(mapping, pos);
	if (unlikely(!folio))
		return 0;
	if (likely(folio_trylock(folio))) {
		/* It may have been swapped out meanwhile. */
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

/* As generic_perform_write(), as far as it is that simple. */
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
 * @iocb: the write, whose file is written by cosy_tmpfs_write_iter()
 * @from: where the data is
 *
 * As shmem_file_write_iter() in mm/shmem.c. What is not simple it does as that
 * does, for the rest of the write, and without having let go of the inode.
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
