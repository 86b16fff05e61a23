// SPDX-License-Identifier: GPL-2.0
/*
 * cached.c - reads data of files from the page cache.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/pagemap.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/xarray.h>

#include "fast/cached.h"
#include "fast/io.h"
#include "kernel/symbols.h"

/* Replaces a read function that the kernel does not have. No file has it. */
static ssize_t cosy_no_read_iter(struct kiocb *kiocb, struct iov_iter *to)
{
	return -EINVAL;
}

void *cosy_tmpfs_read_iter __ro_after_init = cosy_no_read_iter;
void *cosy_ext4_read_iter __read_mostly = cosy_no_read_iter;

static void *cosy_find_read_iter(const char *name)
{
	void *found = cosy_symbol(name);

	if (found)
		return found;
	return cosy_no_read_iter;
}

/* ext4 may be a module, which is loaded and unloaded. */
static int cosy_module_event(struct notifier_block *self, unsigned long event,
			     void *data)
{
	const struct module *module = data;

	if (strcmp(module->name, "ext4"))
		return NOTIFY_DONE;
	if (event == MODULE_STATE_LIVE)
		WRITE_ONCE(cosy_ext4_read_iter,
			   cosy_find_read_iter("ext4_file_read_iter"));
	else if (event == MODULE_STATE_GOING)
		WRITE_ONCE(cosy_ext4_read_iter, cosy_no_read_iter);
	return NOTIFY_OK;
}

static struct notifier_block cosy_modules = {
	.notifier_call = cosy_module_event,
};

/**
 * cosy_cached_init() - find the read functions of tmpfs and ext4
 */
void cosy_cached_init(void)
{
	cosy_tmpfs_read_iter = cosy_find_read_iter("shmem_file_read_iter");
	/* Register first, so that a module that is loaded now is not missed. */
	if (!register_module_notifier(&cosy_modules))
		cosy_ext4_read_iter =
			cosy_find_read_iter("ext4_file_read_iter");
}

/**
 * cosy_cached_exit() - the reverse of cosy_cached_init()
 */
void cosy_cached_exit(void)
{
	unregister_module_notifier(&cosy_modules);
}

/**
 * cosy_cached_refused() - return true if the file system refuses reads
 * @file: the file
 *
 * A file system can check the file before each read, for example whether it was shut
 * down. Its check also applies to a read of 0 bytes.
 *
 * Return: true if a read of 0 bytes fails.
 */
bool cosy_cached_refused(struct file *file)
{
	struct iov_iter none __uninitialized;
	struct kiocb kiocb __uninitialized;
	loff_t start = 0;

	cosy_kiocb_init(&kiocb, file, &start);
	iov_iter_bvec(&none, READ, NULL, 0, 0);
	return file->f_op->read_iter(&kiocb, &none) != 0;
}

/* Return true if the folio is up to date and needs no action before it is read. */
static __always_inline bool cosy_cached_useful(struct folio *folio)
{
	const unsigned long uptodate = BIT(PG_uptodate);

	if ((cosy_folio_flags(folio) &
	     (uptodate | BIT(PG_readahead) | __PG_HWPOISON)) != uptodate)
		return false;
	/* As in folio_test_uptodate(). */
	smp_rmb();
	return !folio_test_large(folio) || !folio_test_has_hwpoisoned(folio);
}

/*
 * Take a reference to the folio at the current index of @xas. Return NULL if it is not
 * cached or not useful. The caller is an RCU reader.
 */
static __always_inline struct folio *cosy_cached_folio(struct xa_state *xas,
						       struct folio *folio)
{
	if (unlikely(!folio || xa_is_value(folio) || xas_retry(xas, folio) ||
		     !folio_try_get(folio)))
		return NULL;
	if (likely(folio == xas_reload(xas) && cosy_cached_useful(folio)))
		return folio;
	folio_put(folio);
	return NULL;
}

/**
 * cosy_cached_page() - take a reference to the cached folio at a position
 * @mapping: the page cache
 * @pos:     the position
 *
 * Return: the folio, or NULL.
 */
struct folio *cosy_cached_page(struct address_space *mapping, loff_t pos)
{
	XA_STATE(xas, &mapping->i_pages, pos >> PAGE_SHIFT);
	struct folio *folio;

	rcu_read_lock();
	folio = cosy_cached_folio(&xas, xas_load(&xas));
	rcu_read_unlock();
	return folio;
}

/**
 * cosy_cached_pages() - take references to cached pages
 * @cached:  out: the pages; must be empty
 * @mapping: the page cache
 * @pos:     position in the file
 * @len:     bytes
 *
 * Return: true if all bytes are cached and their pages fit. Otherwise @cached may
 * hold some of the pages.
 */
bool cosy_cached_pages(struct cosy_cached *cached,
		       struct address_space *mapping, loff_t pos, size_t len)
{
	XA_STATE(xas, &mapping->i_pages, pos >> PAGE_SHIFT);
	struct folio *folio;

	rcu_read_lock();
	folio = xas_load(&xas);
	for (;;) {
		struct bio_vec *v = &cached->vec[cached->nr];
		size_t offset, n;

		folio = cosy_cached_folio(&xas, folio);
		if (unlikely(!folio))
			break;
		offset = offset_in_folio(folio, pos);
		n = min(folio_size(folio) - offset, len);
		v->bv_page = folio_page(folio, offset / PAGE_SIZE);
		v->bv_offset = offset_in_page(offset);
		v->bv_len = n;
		cached->nr++;
		pos += n;
		len -= n;
		if (!len || cached->nr == cached->room)
			break;
		xas_advance(&xas, folio_next_index(folio) - 1);
		folio = xas_next(&xas);
	}
	rcu_read_unlock();
	return !len;
}

/**
 * cosy_cached_copy() - copy from pages to the process's memory
 * @cached: the pages
 * @buffer: destination
 * @len:    bytes
 *
 * Return: bytes copied, less than @len after a fault.
 */
size_t cosy_cached_copy(const struct cosy_cached *cached, u64 buffer, size_t len)
{
	size_t done = 0;
	unsigned int i;

	for (i = 0; done < len; i++) {
		const struct bio_vec *v = &cached->vec[i];
		size_t n = min_t(size_t, v->bv_len, len - done);
		size_t left;

		left = _copy_to_user(u64_to_user_ptr(buffer + done),
				     page_address(v->bv_page) + v->bv_offset, n);
		done += n - left;
		if (unlikely(left))
			break;
	}
	return done;
}

/**
 * cosy_cached_read() - read cached data of a file
 * @file:   a file that cosy_is_cached()
 * @buffer: destination, an address of the process
 * @size:   bytes; at most COSY_CACHED_MAX, less the offset of @pos in its page
 * @pos:    position in the file; advanced
 *
 * Return: bytes; 0 if nothing was read.
 */
long cosy_cached_read(struct file *file, u64 buffer, size_t size, loff_t *pos)
{
	struct bio_vec vec[COSY_CACHED_MAX / PAGE_SIZE] __uninitialized;
	struct cosy_cached cached = { .room = ARRAY_SIZE(vec), .vec = vec };
	size_t len;

	if (!size || offset_in_page(*pos) + size > COSY_CACHED_MAX)
		return 0;
	len = cosy_cached_get(&cached, file, *pos, size);
	if (unlikely(!len))
		return 0;
	len = cosy_cached_copy(&cached, buffer, len);
	if (likely(len)) {
		cosy_cached_accessed(&cached, file, *pos, len);
		*pos += len;
	}
	cosy_cached_put(&cached);
	return len;
}
