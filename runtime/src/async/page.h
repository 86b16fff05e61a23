/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * page.h - a syscall page, which libcosy or the module has made, and the slots of a loop.
 */
#ifndef COSY_LOOP_PAGE_H
#define COSY_LOOP_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/cosy_async.h>

#include "slot.h"

/**
 * struct cosy_page - a syscall page
 * @shared:	 the page; @entries, @submitted and @done are parts of it
 * @entries:	 the entries
 * @submitted:	 the ring of entries that were submitted
 * @done:	 the ring of entries that are complete
 * @mask:	 number of entries - 1
 * @size:	 bytes of @shared
 */
struct cosy_page {
	struct cosy_async_page *shared;
	struct cosy_async_entry *entries;
	uint32_t *submitted;
	uint32_t *done;
	uint32_t mask;
	size_t size;
};

/**
 * struct cosy_slots - what libcosy knows about the entries of a loop's own page
 * @all:	 one for each entry
 * @free:	 first free slot of those that were used before
 * @fresh:	 first slot that was never used
 * @outstanding: number of slots in use: of operations and functions. Those in the ring have none
 */
struct cosy_slots {
	struct cosy_slot *all;
	uint32_t free;
	uint32_t fresh;
	uint32_t outstanding;
};

/** cosy_index_load() - read an index of a page, with acquire order */
static inline uint32_t cosy_index_load(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

/** cosy_index_store() - write an index of a page, with release order */
static inline void cosy_index_store(uint32_t *index, uint32_t value)
{
	__atomic_store_n(index, value, __ATOMIC_RELEASE);
}

/**
 * cosy_page_use() - use a page that is mapped
 * @shared: the page, whose offsets are set
 * @size:   its size in bytes
 */
static inline void cosy_page_use(struct cosy_page *page, struct cosy_async_page *shared,
				 size_t size)
{
	page->shared = shared;
	page->size = size;
	page->entries = (void *)((char *)shared + shared->entries);
	page->submitted = (void *)((char *)shared + shared->submitted);
	page->done = (void *)((char *)shared + shared->done);
	page->mask = shared->nentries - 1;
}

/** cosy_page_create() - allocate a page and its slots. Return: 0 or -ENOMEM */
int cosy_page_create(struct cosy_page *page, struct cosy_slots *slots, uint32_t entries);

/** cosy_page_destroy() - free what cosy_page_create() has allocated */
void cosy_page_destroy(struct cosy_page *page, struct cosy_slots *slots);

/**
 * cosy_slots_prepare() - initialise the rest of a slot when the executor begins with its entry
 *
 * Before, only the members from @state to @task are set.
 */
static inline void cosy_slots_prepare(struct cosy_slots *slots, uint32_t slot)
{
	struct cosy_slot *s = &slots->all[slot];

	s->next = s->prev = COSY_NO_SLOT;
	s->fd = -1;
	s->done = 0;
}

/** cosy_page_submitted() - return the number of submitted entries that are in the ring */
static inline uint32_t cosy_page_submitted(const struct cosy_page *page)
{
	return page->shared->submit_tail - page->shared->submit_head;
}

/** cosy_page_first() - return the next submitted entry, or COSY_NO_SLOT; it stays in the ring */
static inline uint32_t cosy_page_first(const struct cosy_page *page)
{
	uint32_t head = page->shared->submit_head;

	return head == page->shared->submit_tail ? COSY_NO_SLOT :
						   page->submitted[head & page->mask];
}

/** cosy_page_taken() - remove the entry of cosy_page_first() from the ring */
static inline void cosy_page_taken(struct cosy_page *page)
{
	cosy_index_store(&page->shared->submit_head, page->shared->submit_head + 1);
}

#endif /* COSY_LOOP_PAGE_H */
