/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * page.c - the syscall page: entries are submitted, taken, completed, collected.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../export.h"
#include "loop.h"

_Static_assert(sizeof(struct cosy_async_entry) == 64, "an entry is a cache line");
_Static_assert(sizeof(struct cosy_async_page) % 64 == 0, "entries are aligned");

/* States of a struct cosy_async; cosy_async_pending() knows PENDING. */
enum { OP_IDLE, OP_PENDING, OP_COMPLETE };

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
	/* malloc() takes so much from the kernel: only what is used costs memory. */
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

/* Slots that were never used are taken in order, so that their memory is not touched before. */
static uint32_t slot_alloc(struct cosy_loop *loop)
{
	uint32_t slot = loop->free;

	if (slot != COSY_NO_SLOT)
		loop->free = loop->slots[slot].next;
	else if (loop->fresh <= loop->mask)
		slot = loop->fresh++;
	else
		return COSY_NO_SLOT;
	loop->outstanding++;
	return slot;
}

void cosy_page_release(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots[slot].state = COSY_SLOT_FREE;
	loop->slots[slot].next = loop->free;
	loop->free = slot;
	loop->outstanding--;
}

void cosy_page_prepare(struct cosy_loop *loop, uint32_t slot, enum cosy_how how,
		       bool task)
{
	struct cosy_slot *s = &loop->slots[slot];

	/* The other members are set before they are used. */
	s->next = s->prev = COSY_NO_SLOT;
	s->state = COSY_SLOT_SUBMITTED;
	s->how = (uint8_t)how;
	s->list = COSY_LIST_NONE;
	s->cancelled = s->polled = s->on_disk = s->lent = s->connecting =
		s->buffered = false;
	s->task = task;
	s->fd = -1;
	s->done = 0;
	loop->entries[slot].status = COSY_ENTRY_SUBMITTED;
}

/* Add an entry to the ring. Its call and its operation are set. */
static void publish(struct cosy_loop *loop, uint32_t slot, enum cosy_how how,
		    bool task)
{
	struct cosy_async_page *page = loop->page;

	cosy_page_prepare(loop, slot, how, task);
	loop->submitted[page->submit_tail & loop->mask] = slot;
	cosy_index_store(&page->submit_tail, page->submit_tail + 1);
	loop->info.submitted++;
	cosy_loop_wake(loop);
}

void cosy_page_unsubmit(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_async_page *page = loop->page;

	cosy_page_prepare(loop, slot, (enum cosy_how)loop->slots[slot].how, false);
	/* The submitter and the executor of this page are the same. */
	loop->submitted[--page->submit_head & loop->mask] = slot;
}

static COSY_ALWAYS_INLINE void set_args(struct cosy_async_entry *entry, long nr,
					uint64_t a0, uint64_t a1, uint64_t a2,
					uint64_t a3, uint64_t a4, uint64_t a5)
{
	entry->nr = (uint32_t)nr;
	entry->args[0] = a0;
	entry->args[1] = a1;
	entry->args[2] = a2;
	entry->args[3] = a3;
	entry->args[4] = a4;
	entry->args[5] = a5;
}

/* Add an entry to the module's ring. The module does not see it yet. */
static COSY_ALWAYS_INLINE struct cosy_async_entry *
publish_direct(struct cosy_loop *loop, uint32_t slot, enum cosy_how how)
{
	struct cosy_module *m = &loop->module;
	struct cosy_async_entry *entry = &m->entries[slot];

	entry->status = COSY_ENTRY_SUBMITTED;
	entry->flags = 0;
	entry->colour = 0;
	loop->slots[slot].state = COSY_SLOT_DIRECT;
	loop->slots[slot].how = (uint8_t)how;
	loop->slots[slot].task = false;
	m->submitted[m->tail++ & loop->mask] = slot;
	m->direct++;
	m->inside++;
	if (how == COSY_HOW_NOWAIT) {
		entry->flags = COSY_ENTRY_NOWAIT;
		m->direct_nowait = true;
	}
	return entry;
}

int cosy_page_hold(struct cosy_loop *loop, struct cosy_async *op)
{
	uint32_t slot;

	if (loop->closing)
		return -ESHUTDOWN;
	slot = slot_alloc(loop);
	if (slot == COSY_NO_SLOT)
		return -EAGAIN;
	loop->info.submitted++;
	loop->slots[slot] = (struct cosy_slot){
		.list = COSY_LIST_NONE,
		.task = true,
	};
	loop->entries[slot] = (struct cosy_async_entry){
		.user_data = (uintptr_t)op,
	};
	op->slot = slot;
	cosy_complete(loop, slot, 0);
	cosy_loop_wake(loop);
	return 0;
}

void cosy_page_submit_held(struct cosy_loop *loop, struct cosy_async *op,
			   enum cosy_how how)
{
	publish(loop, op->slot, how, true);
}

/* Take a free slot for an operation, or for none. Return: 0 or -errno. */
static COSY_ALWAYS_INLINE int take_slot(struct cosy_loop *loop,
					const struct cosy_async *op, uint32_t *slot)
{
	if (loop->closing)
		return -ESHUTDOWN;
	if (op && op->state == OP_PENDING)
		return -EBUSY;
	*slot = slot_alloc(loop);
	return *slot == COSY_NO_SLOT ? -EAGAIN : 0;
}

COSY_EXPORT int cosy_async_call(struct cosy_loop *loop, struct cosy_async *op,
				long nr, uint64_t a0, uint64_t a1, uint64_t a2,
				uint64_t a3, uint64_t a4, uint64_t a5)
{
	enum cosy_how how = cosy_how(nr);
	struct cosy_async_entry *entry;
	uint32_t slot;
	int err;

	if (how == COSY_HOW_REFUSED)
		return -ENOTSUP;
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	err = take_slot(loop, op, &slot);
	if (err)
		goto leave;
	entry = &loop->entries[slot];
	entry->flags = op ? 0 : COSY_ENTRY_SILENT;
	entry->user_data = (uintptr_t)op;
	if (op)
		cosy_op_begin(op, slot);
	if (cosy_direct_can_submit(loop, how)) {
		/* A thread may have to make it, for which a compound must not close it. */
		if (how == COSY_HOW_NOWAIT && cosy_takes_fd(nr))
			cosy_descriptor_use(loop, (int)a0);
		set_args(publish_direct(loop, slot, how), nr, a0, a1, a2, a3, a4, a5);
		loop->info.submitted++;
		cosy_loop_wake(loop);
	} else {
		entry->colour = 0;
		set_args(entry, nr, a0, a1, a2, a3, a4, a5);
		publish(loop, slot, how, false);
	}
leave:
	cosy_loop_leave(loop);
	return err;
}

uint32_t cosy_page_take(struct cosy_loop *loop)
{
	struct cosy_async_page *page = loop->page;
	uint32_t head = page->submit_head, slot;

	if (head == cosy_index_load(&page->submit_tail))
		return COSY_NO_SLOT;
	slot = loop->submitted[head & loop->mask];
	cosy_index_store(&page->submit_head, head + 1);
	return slot;
}

struct cosy_async *cosy_page_collect(struct cosy_loop *loop)
{
	struct cosy_async_page *page = loop->page;
	uint32_t head = page->done_head, slot;
	struct cosy_async_entry *entry;
	struct cosy_async *op;

	if (head == cosy_index_load(&page->done_tail))
		return NULL;
	slot = loop->done[head & loop->mask];
	cosy_index_store(&page->done_head, head + 1);
	entry = &loop->entries[slot];
	op = (struct cosy_async *)(uintptr_t)entry->user_data;
	op->result = (int64_t)entry->args[0];
	entry->status = COSY_ENTRY_FREE;
	if (loop->slots[slot].task)
		loop->slots[slot].state = COSY_SLOT_HELD;
	else
		cosy_page_release(loop, slot);
	return op;
}

void cosy_op_begin(struct cosy_async *op, uint32_t slot)
{
	op->slot = slot;
	__atomic_store_n(&op->state, OP_PENDING, __ATOMIC_RELAXED);
}

void cosy_op_complete(struct cosy_async *op)
{
	__atomic_store_n(&op->state, OP_COMPLETE, __ATOMIC_RELEASE);
}
