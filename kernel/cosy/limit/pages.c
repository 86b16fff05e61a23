// SPDX-License-Identifier: GPL-2.0
/*
 * pages.c - allocates pages that are charged to the cgroup, unlike those of vmalloc().
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "limit/limit.h"

/**
 * cosy_pages_free() - free the pages of cosy_pages_alloc()
 * @pages: the pages
 * @n:     their number
 *
 * May sleep.
 */
void cosy_pages_free(struct page **pages, unsigned int n)
{
	while (n) {
		__free_page(pages[--n]);
		if (!(n % 256))
			cond_resched();
	}
	kvfree(pages);
}

/**
 * cosy_pages_alloc() - allocate zeroed pages
 * @n: their number, not 0
 *
 * May sleep.
 *
 * Return: the pages, for cosy_pages_free(); NULL if there is no memory.
 */
struct page **cosy_pages_alloc(unsigned int n)
{
	struct page **pages = kvmalloc_array(n, sizeof(*pages), COSY_GFP);
	unsigned int i;

	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(COSY_GFP | __GFP_ZERO);
		if (!pages[i]) {
			cosy_pages_free(pages, i);
			return NULL;
		}
		if (i % 256 == 255)
			cond_resched();
	}
	return pages;
}
