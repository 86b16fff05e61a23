/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * page.c - the syscall page: its memory, and that of the slots.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "loop.h"

_Static_assert(sizeof(struct cosy_async_entry) == 64, "an entry is a cache line");
_Static_assert(sizeof(struct cosy_async_page) % 64 == 0, "entries are aligned");

int cosy_page_create(struct cosy_loop *loop, uint32_t entries)
{
	size_t ring = entries * sizeof(uint32_t);
	size_t at = sizeof(struct cosy_async_page);
	size_t size = at + entries * sizeof(struct cosy_async_entry) + 2 * ring;
	struct cosy_async_page *page;

	page = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -ENOMEM;
	/* malloc() maps such a large array, so untouched slots take no memory. */
	loop->slots = malloc(entries * sizeof(*loop->slots));
	if (!loop->slots) {
		munmap(page, size);
		return -ENOMEM;
	}
	page->size = sizeof(*page);
	page->version = COSY_ASYNC_VERSION;
	page->nentries = entries;
	page->entries = (uint32_t)at;
	page->submitted = (uint32_t)(at + entries * sizeof(struct cosy_async_entry));
	page->done = page->submitted + (uint32_t)ring;
	loop->page = page;
	loop->page_size = size;
	loop->entries = (void *)((char *)page + page->entries);
	loop->submitted = (void *)((char *)page + page->submitted);
	loop->done = (void *)((char *)page + page->done);
	loop->mask = entries - 1;
	loop->free = COSY_NO_SLOT;
	return 0;
}

void cosy_page_destroy(struct cosy_loop *loop)
{
	munmap(loop->page, loop->page_size);
	free(loop->slots);
}
