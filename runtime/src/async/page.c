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

int cosy_page_create(struct cosy_page *page, struct cosy_slots *slots, uint32_t entries)
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
	slots->all = malloc(entries * sizeof(*slots->all));
	if (!slots->all) {
		munmap(shared, size);
		return -ENOMEM;
	}
	shared->size = sizeof(*shared);
	shared->version = COSY_ASYNC_VERSION;
	shared->nentries = entries;
	shared->entries = (uint32_t)at;
	shared->submitted = (uint32_t)(at + entries * sizeof(struct cosy_async_entry));
	shared->done = shared->submitted + (uint32_t)ring;
	cosy_page_use(page, shared, size);
	slots->free = COSY_NO_SLOT;
	return 0;
}

void cosy_page_destroy(struct cosy_page *page, struct cosy_slots *slots)
{
	munmap(page->shared, page->size);
	free(slots->all);
}
