/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * submit.c - submits calls: to the ring in the module, to the loop's page, or to a processor.
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include "device/export.h"
#include "complete.h"
#include "cpu.h"
#include "loop.h"
#include "receive.h"
#include "ring-submit.h"
#include "start.h"
#include "submit.h"

/* Take the first of the free slots that were used before. */
static COSY_ALWAYS_INLINE uint32_t slot_reuse(struct cosy_loop *loop)
{
	uint32_t slot = loop->slots.free;

	loop->slots.free = loop->slots.all[slot].next;
	loop->slots.outstanding++;
	loop->ring.submit->room--;
	return slot;
}

/*
 * Take a slot, of which at least one is free. Slots that were never used are taken in order, so that
 * their memory is not touched before.
 */
static uint32_t slot_alloc(struct cosy_loop *loop)
{
	if (loop->slots.free != COSY_NO_SLOT)
		return slot_reuse(loop);
	loop->slots.outstanding++;
	loop->ring.submit->room--;
	loop->slots.all[loop->slots.fresh].task = false;
	return loop->slots.fresh++;
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
	s->receive = COSY_NO_SLOT;
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

int cosy_page_reserve(struct cosy_loop *loop, struct cosy_async *op, uint32_t *reserved)
{
	uint32_t slot;

	if (loop->closing)
		return -ESHUTDOWN;
	if (loop->ring.submit->room <= 0)
		return -EAGAIN;
	slot = slot_alloc(loop);
	loop->info.submitted++;
	loop->slots.all[slot] = (struct cosy_slot){
		.list = COSY_LIST_NONE,
		.task = true,
		.receive = COSY_NO_SLOT,
	};
	loop->page.entries[slot] = (struct cosy_async_entry){
		.user_data = (uintptr_t)op,
	};
	*reserved = slot;
	cosy_complete(loop, slot, 0);
	cosy_loop_wake(loop);
	return 0;
}

void cosy_page_wait_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			 enum cosy_how how)
{
	struct cosy_async_entry *entry = &loop->page.entries[slot];

	cosy_ring_yield(loop, how, entry->nr, entry->args[0]);
	entry->status = COSY_ENTRY_SUBMITTED;
	op->slot = slot;
	set_submitted(&loop->slots.all[slot], how, true);
	loop->info.submitted++;
	cosy_start_waited(loop, slot);
	cosy_loop_wake(loop);
}

void cosy_page_send_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			 struct cosy_cpu *cpu)
{
	op->slot = slot;
	loop->page.entries[slot].status = COSY_ENTRY_SUBMITTED;
	set_submitted(&loop->slots.all[slot], COSY_HOW_COMPOUND, true);
	loop->info.submitted++;
	cosy_cpu_send(loop, cpu, slot);
}

/* Set the entry and the state of a slot that was taken for a call, or that belongs to a task. */
static COSY_ALWAYS_INLINE void set_slot(struct cosy_loop *loop, struct cosy_async *op,
					uint32_t slot, bool task, enum cosy_how how, long nr,
					uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
					uint64_t a4, uint64_t a5)
{
	struct cosy_async_entry *entry = &loop->page.entries[slot];

	entry->user_data = (uintptr_t)op;
	set_call(entry, op ? 0 : COSY_ENTRY_SILENT, nr, a0, a1, a2, a3, a4, a5);
	set_submitted(&loop->slots.all[slot], how, task);
}

/* The same, and submit the entry. */
static COSY_ALWAYS_INLINE void submit(struct cosy_loop *loop, struct cosy_async *op,
				      uint32_t slot, bool task, enum cosy_how how, long nr,
				      uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
				      uint64_t a4, uint64_t a5)
{
	set_slot(loop, op, slot, task, how, nr, a0, a1, a2, a3, a4, a5);
	cosy_page_publish(loop, slot);
}

/* Take a slot, for an operation if @op is not NULL. A slot must be free. */
static uint32_t begin(struct cosy_loop *loop, struct cosy_async *op)
{
	uint32_t slot = slot_alloc(loop);

	if (op)
		cosy_op_begin(op, slot);
	return slot;
}

uint32_t cosy_page_take(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how, long nr,
			const uint64_t args[6])
{
	uint32_t slot = begin(loop, op);

	set_slot(loop, op, slot, false, how, nr, args[0], args[1], args[2], args[3], args[4],
		 args[5]);
	return slot;
}

/*
 * Note that not only the ring uses a descriptor, because a call is about to be submitted to the page. A
 * close has to end that call, also if a thread makes it.
 */
static void leave_ring(const struct cosy_loop *loop, long nr, uint64_t fd)
{
	struct cosy_descriptor *d =
		cosy_takes_fd(nr) ? cosy_descriptor_find(&loop->fds, (int)fd) : NULL;

	if (d)
		d->opened = false;
}

uint32_t cosy_page_take_again(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			      long nr, const uint64_t args[6])
{
	const bool task = op && op->slot & COSY_RING_OF_TASK;
	uint32_t slot = task ? cosy_above.task_slot(op) : begin(loop, op);

	leave_ring(loop, nr, args[0]);
	if (task)
		op->slot = slot;
	set_slot(loop, op, slot, task, how, nr, args[0], args[1], args[2], args[3], args[4],
		 args[5]);
	return slot;
}

void cosy_page_submit_again(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			    long nr, const uint64_t args[6], uint32_t flags)
{
	uint32_t slot;

	if (nr == COSY_RING_RECEIVE) {
		cosy_receive_again(loop, op, args[0], flags & COSY_RING_WAITED);
		return;
	}
	slot = cosy_page_take_again(loop, op, how, nr, args);
	loop->info.submitted++;
	/* At once: what has been submitted to the page meanwhile, as a close(), comes after it. */
	if (flags & COSY_RING_WAITED)
		cosy_start_waited(loop, slot);
	else if (flags)
		cosy_start_sent(loop, slot, flags);
	else
		cosy_start(loop, slot);
}

/* Submit a call to a processor. */
static void submit_to_cpu(struct cosy_loop *loop, struct cosy_cpu *cpu,
			  struct cosy_async *op, long nr, const uint64_t args[6])
{
	uint32_t slot = cosy_page_take(loop, op, cosy_how(nr), nr, args);

	loop->info.submitted++;
	cosy_cpu_send(loop, cpu, slot);
}

int cosy_page_check(const struct cosy_loop *loop, struct cosy_async *op, int32_t places)
{
	cosy_loop_publish(loop, op);
	if (loop->closing)
		return -ESHUTDOWN;
	if (op && op->state == COSY_OP_PENDING)
		return -EBUSY;
	return loop->ring.submit->room >= places ? 0 : -EAGAIN;
}

bool cosy_page_precedes(const struct cosy_loop *loop, enum cosy_how how, long nr, uint64_t fd)
{
	const struct cosy_descriptor *d;
	enum cosy_list list = cosy_list_of(how);

	if (!cosy_takes_fd(nr) || (int)fd == AT_FDCWD)
		return false;
	d = cosy_descriptor_find(&loop->fds, (int)fd);
	/* Only the ring has used it. */
	if (d && d->opened)
		return false;
	if (loop->attempts.count || cosy_page_submitted(&loop->page))
		return true;
	return d && list != COSY_LIST_NONE && d->head[list] != COSY_NO_SLOT;
}

/* Find out the kind of a file: the ring takes read() and write() of streams, and read() of files. */
static void learn_kind(struct cosy_loop *loop, int fd)
{
	struct cosy_descriptor *d = cosy_descriptor(&loop->fds, fd);

	if (!d || d->opened || d->kind != COSY_KIND_UNKNOWN || cosy_descriptor_look(d, fd))
		return;
	cosy_module_use_fd(loop, fd);
	cosy_descriptor_learned(&loop->fds, fd);
}

/* Return true if the ring can take a call. */
static bool can_submit_to_ring(struct cosy_loop *loop, const struct cosy_async *op,
			       enum cosy_how how, long nr, const uint64_t args[6])
{
	if (!loop->module.usable || loop->spreads)
		return false;
	if ((nr == SYS_read || nr == SYS_write) && !cosy_is_of_share((int)args[0]))
		learn_kind(loop, (int)args[0]);
	if (!cosy_ring_submits(loop, op, how, nr, args))
		return false;
	return cosy_ring_is_usable(loop) && !cosy_page_precedes(loop, how, nr, args[0]);
}

void cosy_page_submit_anywhere(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			       long nr, const uint64_t args[6])
{
	if (can_submit_to_ring(loop, op, how, nr, args)) {
		cosy_ring_submit(loop, op, nr, args);
		return;
	}
	cosy_ring_yield(loop, how, nr, args[0]);
	leave_ring(loop, nr, args[0]);
	cosy_page_publish(loop, cosy_page_take(loop, op, how, nr, args));
}

void cosy_page_submit_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			   enum cosy_how how)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	uint64_t args[6];

	for (int i = 0; i < 6; i++)
		args[i] = entry->args[i];
	if (loop->ring.submit->room >= 0 && can_submit_to_ring(loop, op, how, entry->nr, args)) {
		cosy_ring_submit_reserved(loop, op, entry->nr, args);
	} else {
		cosy_ring_yield(loop, how, entry->nr, args[0]);
		leave_ring(loop, entry->nr, args[0]);
		op->slot = slot;
		submit(loop, op, slot, true, how, entry->nr, args[0], args[1], args[2], args[3],
		       args[4], args[5]);
	}
	cosy_loop_wake(loop);
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
	err = cosy_page_check(loop, op, 1);
	if (!err && loop->spreads)
		err = cosy_cpu_choose(loop, op ? op->state : COSY_OP_IDLE, nr, args, &cpu);
	if (err)
		goto leave;
	if (cpu) {
		submit_to_cpu(loop, cpu, op, nr, args);
		goto leave;
	}
	cosy_page_submit_anywhere(loop, op, how, nr, args);
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

	if (loop->has_ring && cosy_submit_begin_op(loop->ring.submit, op)) {
		const uint64_t args[6] = { a0, a1, a2, a3, a4, a5 };
		bool submits = cosy_ring_submits(loop, op, how, nr, args);

		if (submits)
			cosy_ring_submit(loop, op, nr, args);
		cosy_submit_end(loop->ring.submit);
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
	    COSY_UNLIKELY(loop->slots.free == COSY_NO_SLOT) || COSY_UNLIKELY(loop->needs_check))
		return submit_locked(loop, op, nr,
				     (const uint64_t[]){ a0, a1, a2, a3, a4, a5 });
	slot = slot_reuse(loop);
	cosy_op_begin(op, slot);
	submit(loop, op, slot, false, how, nr, a0, a1, a2, a3, a4, a5);
	return COSY_UNLIKELY(cosy_unlock_needs_wake(&loop->lock)) ? pass_lock_on(loop) : 0;
}
