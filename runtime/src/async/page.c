/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * page.c - the syscall page: submit, take, complete and collect entries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/export.h"
#include "loop.h"
#include "ring.h"
#include "transfer.h"

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

/* Take the first of the free slots that were used before. */
static COSY_ALWAYS_INLINE uint32_t slot_reuse(struct cosy_loop *loop)
{
	uint32_t slot = loop->free;

	loop->free = loop->slots[slot].next;
	loop->outstanding++;
	return slot;
}

/* Slots that were never used are taken in order, so that their memory is not touched before. */
static uint32_t slot_alloc(struct cosy_loop *loop)
{
	if (loop->free != COSY_NO_SLOT)
		return slot_reuse(loop);
	if (loop->fresh > loop->mask)
		return COSY_NO_SLOT;
	loop->outstanding++;
	loop->slots[loop->fresh].task = false;
	return loop->fresh++;
}

/* Set the state of a slot whose entry is being submitted. */
static COSY_ALWAYS_INLINE void set_submitted(struct cosy_slot *s, enum cosy_how how,
					     bool task)
{
	s->state = COSY_SLOT_SUBMITTED;
	s->how = (uint8_t)how;
	s->list = COSY_LIST_NONE;
	s->cancelled = s->polled = s->on_disk = s->lent = s->connecting =
		s->buffered = s->reported = false;
	s->task = task;
}

/* Add an entry to the ring. The caller has set its call and its operation. */
static COSY_ALWAYS_INLINE void publish(struct cosy_loop *loop, uint32_t slot,
				       enum cosy_how how, bool task)
{
	struct cosy_async_page *page = loop->page;
	uint32_t tail = page->submit_tail;

	set_submitted(&loop->slots[slot], how, task);
	loop->submitted[tail & loop->mask] = slot;
	cosy_index_store(&page->submit_tail, tail + 1);
	loop->info.submitted++;
}

void cosy_page_unsubmit(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_async_page *page = loop->page;
	struct cosy_slot *s = &loop->slots[slot];

	/* One that was a TRANSFER stays in its list, as later entries may be behind it. */
	if (s->state == COSY_SLOT_DIRECT)
		set_submitted(s, (enum cosy_how)s->how, s->task);
	s->state = COSY_SLOT_SUBMITTED;
	loop->entries[slot].status = COSY_ENTRY_SUBMITTED;
	/* Allowed, because the submitter and the executor of this page are the same. */
	loop->submitted[--page->submit_head & loop->mask] = slot;
}

void cosy_page_withdraw(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];

	set_submitted(s, (enum cosy_how)s->how, s->task);
	cosy_page_prepare(loop, slot);
}

static COSY_ALWAYS_INLINE void set_call(struct cosy_async_entry *entry, uint8_t flags,
					long nr, uint64_t a0, uint64_t a1, uint64_t a2,
					uint64_t a3, uint64_t a4, uint64_t a5)
{
	entry->args[0] = a0;
	entry->args[1] = a1;
	entry->args[2] = a2;
	entry->args[3] = a3;
	entry->args[4] = a4;
	entry->args[5] = a5;
	entry->status = COSY_ENTRY_SUBMITTED;
	entry->flags = flags;
	entry->colour = 0;
	entry->nr = (uint32_t)nr;
}

/* Add an entry to the module's ring. The module does not see it yet. */
static COSY_ALWAYS_INLINE void publish_direct(struct cosy_loop *loop, uint32_t slot,
					      enum cosy_how how)
{
	struct cosy_module *m = &loop->module;
	struct cosy_slot *s = &loop->slots[slot];

	s->state = COSY_SLOT_DIRECT;
	s->how = (uint8_t)how;
	m->submitted[m->tail++ & loop->mask] = slot;
	m->direct++;
	loop->info.submitted++;
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

void cosy_page_wait_held(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how)
{
	struct cosy_async_entry *entry = &loop->entries[op->slot];

	cosy_ring_yield(loop, how, entry->nr, entry->args[0]);
	entry->status = COSY_ENTRY_SUBMITTED;
	set_submitted(&loop->slots[op->slot], how, true);
	loop->info.submitted++;
	cosy_start_waited(loop, op->slot);
	cosy_loop_wake(loop);
}

/* Send an entry to a processor. The caller has set its call and its operation. */
static void send_entry(struct cosy_loop *loop, struct cosy_cpu *cpu, uint32_t slot,
		       enum cosy_how how, bool task)
{
	set_submitted(&loop->slots[slot], how, task);
	loop->info.submitted++;
	cosy_cpu_send(loop, cpu, slot);
}

void cosy_page_send_held(struct cosy_loop *loop, struct cosy_async *op,
			 struct cosy_cpu *cpu)
{
	loop->entries[op->slot].status = COSY_ENTRY_SUBMITTED;
	send_entry(loop, cpu, op->slot, COSY_HOW_COMPOUND, true);
}

/*
 * Submit a recvfrom() or sendto() of a socket directly to the module, if nothing waits for the
 * socket, the call waits for nothing unusual, and earlier entries are in the module's page.
 */
static COSY_ALWAYS_INLINE bool
submit_transfer(struct cosy_loop *loop, uint32_t slot, bool task, bool receives,
		uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		uint64_t a5)
{
	const enum cosy_list list = receives ? COSY_LIST_IN : COSY_LIST_OUT;
	struct cosy_module *m = &loop->module;
	struct cosy_descriptor *d;
	struct cosy_slot *s;

	if (loop->nbatch || loop->page->submit_head != loop->page->submit_tail)
		return false;
	d = cosy_descriptor_find(loop, (int)a0);
	if (!d || d->kind != COSY_KIND_SOCKET || d->head[list] != COSY_NO_SLOT ||
	    a3 & (COSY_UNUSUAL | MSG_WAITALL | MSG_FASTOPEN) || (receives && !a2))
		return false;
	set_call(&m->entries[slot], receives ? COSY_ENTRY_WAIT_IN : COSY_ENTRY_WAIT_OUT,
		 receives ? SYS_recvfrom : SYS_sendto, a0, a1, a2, a3 | MSG_DONTWAIT, a4, a5);
	s = &loop->slots[slot];
	set_submitted(s, receives ? COSY_HOW_RECEIVE : COSY_HOW_SEND, task);
	s->state = COSY_SLOT_TRANSFER;
	s->fd = (int)a0;
	s->done = 0;
	cosy_descriptor_append_only(loop, d, slot, list);
	m->submitted[m->tail++ & loop->mask] = slot;
	m->direct++;
	m->receives += receives;
	m->inside++;
	loop->info.submitted++;
	return true;
}

/* Submit a call with a slot that was taken for it, or that belongs to a task. */
static COSY_ALWAYS_INLINE void submit(struct cosy_loop *loop, struct cosy_async *op,
				      uint32_t slot, bool task, enum cosy_how how, long nr,
				      uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
				      uint64_t a4, uint64_t a5)
{
	const uint8_t silent = op ? 0 : COSY_ENTRY_SILENT;
	const bool receives = how == COSY_HOW_RECEIVE;
	struct cosy_async_entry *entry = &loop->entries[slot];

	entry->user_data = (uintptr_t)op;
	entry->flags = silent;
	if (cosy_direct_can_submit(loop, how)) {
		if (how == COSY_HOW_NOWAIT) {
			/* A thread may have to make the call: compounds must not close it. */
			if ((int)a0 >= 0 && cosy_takes_fd(nr))
				cosy_descriptor_use(loop, (int)a0);
			loop->module.direct_nowait = true;
		}
		set_call(&loop->module.entries[slot],
			 how == COSY_HOW_NOWAIT ? COSY_ENTRY_NOWAIT : 0, nr, a0, a1, a2, a3,
			 a4, a5);
		publish_direct(loop, slot, how);
	} else if (!loop->module.waits || (nr != SYS_recvfrom && nr != SYS_sendto) ||
		   !submit_transfer(loop, slot, task, receives, a0, a1, a2, a3, a4, a5)) {
		set_call(entry, silent, nr, a0, a1, a2, a3, a4, a5);
		publish(loop, slot, how, task);
	}
}

void cosy_page_submit_held(struct cosy_loop *loop, struct cosy_async *op,
			   enum cosy_how how)
{
	const struct cosy_async_entry *entry = &loop->entries[op->slot];

	cosy_ring_yield(loop, how, entry->nr, entry->args[0]);
	submit(loop, op, op->slot, true, how, entry->nr, entry->args[0], entry->args[1],
	       entry->args[2], entry->args[3], entry->args[4], entry->args[5]);
	cosy_loop_wake(loop);
}

/* Take a slot, for an operation if @op is not NULL. A slot must be free. */
static uint32_t begin(struct cosy_loop *loop, struct cosy_async *op)
{
	uint32_t slot = slot_alloc(loop);

	if (op)
		cosy_op_begin(op, slot);
	return slot;
}

void cosy_page_submit(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
		      long nr, const uint64_t args[6])
{
	uint32_t slot = begin(loop, op);

	submit(loop, op, slot, false, how, nr, args[0], args[1], args[2], args[3], args[4],
	       args[5]);
}

void cosy_page_submit_again(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			    long nr, const uint64_t args[6], uint32_t sent)
{
	uint32_t slot = begin(loop, op);
	struct cosy_async_entry *entry = &loop->entries[slot];

	entry->user_data = (uintptr_t)op;
	set_call(entry, op ? 0 : COSY_ENTRY_SILENT, nr, args[0], args[1], args[2], args[3],
		 args[4], args[5]);
	if (!sent) {
		publish(loop, slot, how, false);
		return;
	}
	set_submitted(&loop->slots[slot], how, false);
	loop->info.submitted++;
	cosy_start_sent(loop, slot, sent);
}

/* Submit a call to a processor. */
static void submit_to_cpu(struct cosy_loop *loop, struct cosy_cpu *cpu,
			  struct cosy_async *op, long nr, const uint64_t args[6])
{
	uint32_t slot = begin(loop, op);
	struct cosy_async_entry *entry = &loop->entries[slot];

	set_call(entry, op ? 0 : COSY_ENTRY_SILENT, nr, args[0], args[1], args[2], args[3],
		 args[4], args[5]);
	entry->user_data = (uintptr_t)op;
	send_entry(loop, cpu, slot, cosy_how(nr), false);
}

/* Return 0 if a call can be submitted: @op is not pending, and a slot is free; or -errno. */
static int can_submit(const struct cosy_loop *loop, const struct cosy_async *op)
{
	if (loop->closing)
		return -ESHUTDOWN;
	if (op && op->state == COSY_OP_PENDING)
		return -EBUSY;
	if (loop->outstanding + cosy_ring_outstanding(loop) > loop->mask)
		return -EAGAIN;
	return loop->free == COSY_NO_SLOT && loop->fresh > loop->mask ? -EAGAIN : 0;
}

/* Return true if an entry of the loop's page has to come before a call. */
static bool follows_page(const struct cosy_loop *loop, enum cosy_how how, uint64_t fd)
{
	const struct cosy_descriptor *d;

	if (loop->nbatch || loop->module.direct ||
	    loop->page->submit_head != loop->page->submit_tail)
		return true;
	if (how != COSY_HOW_RECEIVE && how != COSY_HOW_SEND)
		return false;
	d = cosy_descriptor_find(loop, (int)fd);
	return d && d->head[how == COSY_HOW_RECEIVE ? COSY_LIST_IN : COSY_LIST_OUT] !=
			    COSY_NO_SLOT;
}

/* Submit a call to the ring. Return false if it has to be submitted to the loop's page. */
static bool submit_to_ring(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			   long nr, const uint64_t args[6])
{
	if (!loop->kernel || loop->cpu || !cosy_ring_submits(how, nr, args))
		return false;
	if (!loop->ring.tried)
		cosy_ring_open(loop);
	if (!cosy_ring_is_open(loop) || !loop->submit->room || follows_page(loop, how, args[0]))
		return false;
	cosy_ring_submit(loop, op, nr, args);
	return true;
}

/* cosy_async_call() with the lock taken; releases it. */
static COSY_NOINLINE int submit_locked(struct cosy_loop *loop, struct cosy_async *op,
				       long nr, const uint64_t args[6])
{
	struct cosy_cpu *cpu = NULL;
	enum cosy_how how = cosy_how(nr);
	int err;

	if (loop->biased)
		cosy_ring_take(loop);
	err = can_submit(loop, op);
	if (!err && loop->spreads)
		err = cosy_cpu_choose(loop, op, nr, args, &cpu);
	if (err)
		goto leave;
	if (cpu) {
		submit_to_cpu(loop, cpu, op, nr, args);
		goto leave;
	}
	if (loop->spreads || !submit_to_ring(loop, op, how, nr, args)) {
		cosy_ring_yield(loop, how, nr, args[0]);
		cosy_page_submit(loop, op, how, nr, args);
	}
	cosy_loop_wake(loop);
leave:
	cosy_loop_leave(loop);
	return err;
}

/* cosy_async_call() without the lock, for all cases. */
static COSY_NOINLINE int submit_slowly(struct cosy_loop *loop, struct cosy_async *op,
				       long nr, const uint64_t args[6])
{
	int err;

	if (cosy_how(nr) == COSY_HOW_REFUSED)
		return -ENOTSUP;
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	return submit_locked(loop, op, nr, args);
}

/* Wake a thread that waits for the lock. Return 0, for the caller to return. */
static COSY_NOINLINE int pass_lock_on(struct cosy_loop *loop)
{
	cosy_lock_wake(&loop->lock);
	return 0;
}

/*
 * The common case needs few registers, and calls no function: the lock is free, no thread has to be
 * woken, and a slot that was used before is free.
 */
COSY_EXPORT int cosy_async_call(struct cosy_loop *loop, struct cosy_async *op,
				long nr, uint64_t a0, uint64_t a1, uint64_t a2,
				uint64_t a3, uint64_t a4, uint64_t a5)
{
	enum cosy_how how = cosy_how(nr);
	uint32_t slot;

	if (loop->has_ring && cosy_submit_begin_op(loop->submit, op)) {
		const uint64_t args[6] = { a0, a1, a2, a3, a4, a5 };
		bool submits = cosy_ring_submits(how, nr, args);

		if (submits)
			cosy_ring_submit(loop, op, nr, args);
		cosy_submit_end(loop->submit);
		if (submits)
			return 0;
	}
	/* The ring is opened by the slow path. */
	if (COSY_UNLIKELY(!op) || COSY_UNLIKELY(!loop->ring.tried) ||
	    COSY_UNLIKELY(how < COSY_HOW_NOWAIT) ||
	    COSY_UNLIKELY(!*loop->owner) || COSY_UNLIKELY(!cosy_try_lock(&loop->lock)))
		return submit_slowly(loop, op, nr,
				     (const uint64_t[]){ a0, a1, a2, a3, a4, a5 });
	if (COSY_UNLIKELY(op->state == COSY_OP_PENDING) ||
	    COSY_UNLIKELY(loop->free == COSY_NO_SLOT) || COSY_UNLIKELY(loop->attention))
		return submit_locked(loop, op, nr,
				     (const uint64_t[]){ a0, a1, a2, a3, a4, a5 });
	slot = slot_reuse(loop);
	cosy_op_begin(op, slot);
	if (how == COSY_HOW_DIRECT)
		submit(loop, op, slot, false, COSY_HOW_DIRECT, nr, a0, a1, a2, a3, a4, a5);
	else if (how == COSY_HOW_NOWAIT)
		submit(loop, op, slot, false, COSY_HOW_NOWAIT, nr, a0, a1, a2, a3, a4, a5);
	else if (nr == SYS_recvfrom)
		submit(loop, op, slot, false, COSY_HOW_RECEIVE, SYS_recvfrom, a0, a1, a2, a3, a4,
		       a5);
	else if (nr == SYS_sendto)
		submit(loop, op, slot, false, COSY_HOW_SEND, SYS_sendto, a0, a1, a2, a3, a4, a5);
	else
		submit(loop, op, slot, false, how, nr, a0, a1, a2, a3, a4, a5);
	return COSY_UNLIKELY(cosy_unlock_needs_wake(&loop->lock)) ? pass_lock_on(loop) : 0;
}

/*
 * Take the next completion of the module's page if cosy_direct_done(). Entries that the module has
 * left to user mode may be added to the ring of completed entries.
 */
static COSY_ALWAYS_INLINE struct cosy_async *collect_direct(struct cosy_loop *loop)
{
	const struct cosy_async_entry *entry;
	uint32_t slot;

	while (cosy_direct_done(loop)) {
		slot = cosy_direct_take(loop);
		entry = &loop->module.entries[slot];
		if (entry->status == COSY_ENTRY_DONE &&
		    !(loop->entries[slot].flags & COSY_ENTRY_SILENT)) {
			loop->info.completed++;
			return cosy_page_take_result(loop, slot, (int64_t)entry->args[0]);
		}
		cosy_direct_made(loop, slot);
	}
	return NULL;
}

struct cosy_async *cosy_page_collect(struct cosy_loop *loop)
{
	struct cosy_async_page *page = loop->page;
	uint32_t head = page->done_head, slot;
	struct cosy_async *op;

	if (loop->has_ring) {
		op = cosy_ring_collect(loop);
		if (op)
			return op;
	}
	if (head == cosy_index_load(&page->done_tail)) {
		op = collect_direct(loop);
		if (op || head == page->done_tail)
			return op;
	}
	slot = loop->done[head & loop->mask];
	cosy_index_store(&page->done_head, head + 1);
	return cosy_page_take_result(loop, slot, (int64_t)loop->entries[slot].args[0]);
}
