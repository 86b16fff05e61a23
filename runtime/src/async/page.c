/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * page.c - the syscall page: its memory, and that of the slots.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "page.h"
#include "slot.h"

_Static_assert(sizeof(struct cosy_async_entry) == 64, "an entry is a cache line");
_Static_assert(sizeof(struct cosy_async_page) % 64 == 0, "entries are aligned");

int cosy_page_create(struct cosy_page *page, uint32_t entries)
{
	size_t ring = entries * sizeof(uint32_t);
	size_t at = sizeof(struct cosy_async_page);
	size_t size = at + entries * sizeof(struct cosy_async_entry) + 2 * ring;
	struct cosy_async_page *shared;

	shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return -ENOMEM;
	/* malloc() maps such a large array, so untouched slots take no memory. */
	page->slots = malloc(entries * sizeof(*page->slots));
	if (!page->slots) {
		munmap(shared, size);
		return -ENOMEM;
	}
	shared->size = sizeof(*shared);
	shared->version = COSY_ASYNC_VERSION;
	shared->nentries = entries;
	shared->entries = (uint32_t)at;
	shared->submitted = (uint32_t)(at + entries * sizeof(struct cosy_async_entry));
	shared->done = shared->submitted + (uint32_t)ring;
	page->shared = shared;
	page->size = size;
	page->entries = (void *)((char *)shared + shared->entries);
	page->submitted = (void *)((char *)shared + shared->submitted);
	page->done = (void *)((char *)shared + shared->done);
	page->mask = entries - 1;
	page->free = COSY_NO_SLOT;
	return 0;
}

void cosy_page_destroy(struct cosy_page *page)
{
	munmap(page->shared, page->size);
	free(page->slots);
}
