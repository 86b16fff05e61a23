/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cancel.c - cancel an entry, or all on a descriptor.
 *
 * An entry completes once. Cancelling completes it here, or marks it, so that it is completed
 * when it is taken from the ring. If a thread is making its call, the thread completes it.
 */
#include <errno.h>
#include <poll.h>

#include "device/export.h"
#include "device/sys.h"
#include "cancel.h"
#include "cpu.h"
#include "dispatch.h"
#include "loop.h"
#include "start.h"

/* Return true for a close() of a COSY_ASYNC function. It must be made: the function would not repeat it. */
static bool must_be_made(const struct cosy_slot *s)
{
	return s->task && s->how == COSY_HOW_CLOSE;
}

/* Complete an entry for which a thread has not begun the call. */
static void cancel_call(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];

	cosy_end(loop, slot, must_be_made(&loop->slots.all[slot]) ?
				     cosy_call_anywhere(entry->nr, (const uint64_t *)entry->args) :
				     -ECANCELED);
}

int cosy_slot_cancel(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots.all[slot];

	switch ((enum cosy_slot_state)s->state) {
	case COSY_SLOT_SUBMITTED:
		if (must_be_made(s))
			return -EALREADY;
		s->cancelled = true;
		return 0;
	case COSY_SLOT_QUEUED:
		/* While the loop is destroyed, its threads make no more calls. */
		if (must_be_made(s) && !loop->closing)
			return -EALREADY;
		cosy_thread_cancel(loop, slot);
		cancel_call(loop, slot);
		return 0;
	case COSY_SLOT_SLEEPING:
		cosy_timer_remove(&loop->timers, slot);
		cosy_end(loop, slot, -ECANCELED);
		return 0;
	case COSY_SLOT_IN_MODULE:
		if (s->lent) {
			int err;

			if (must_be_made(s) && !loop->closing)
				return -EALREADY;
			err = cosy_thread_cancel_lent(loop, slot);
			if (!err)
				cancel_call(loop, slot);
			/* The module was lost: the call has not begun. */
			else if (s->state == COSY_SLOT_QUEUED)
				return cosy_slot_cancel(loop, slot);
			return err;
		}
		if (!cosy_module_cancel(loop, slot))
			return -ENOENT;
		/* A compound ends by itself: its calls fail. */
		if (s->how != COSY_HOW_COMPOUND)
			cosy_end(loop, slot, -ECANCELED);
		return 0;
	case COSY_SLOT_WAITING:
		cosy_end(loop, slot, -ECANCELED);
		return 0;
	case COSY_SLOT_ASKING:
		if (must_be_made(s) && !loop->closing)
			return -EALREADY;
		cosy_question_drop(&loop->fds, slot);
		cancel_call(loop, slot);
		return 0;
	case COSY_SLOT_SENT:
		return cosy_cpu_cancel(loop, slot);
	case COSY_SLOT_RUNNING:
		return -EALREADY;
	case COSY_SLOT_FREE:
	case COSY_SLOT_ATTEMPT:
	case COSY_SLOT_DONE:
	case COSY_SLOT_RESERVED:
		break;
	}
	return -ENOENT;
}

static int cancel_entry(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot before;
	int err;

	/* The module can only cancel entries that it has taken. */
	cosy_dispatch_settle(loop);
	before = loop->slots.all[slot];
	err = cosy_slot_cancel(loop, slot);
	if (err)
		return err;
	cosy_start_next(loop, &before);
	if (cosy_attempts_pending(loop))
		cosy_attempts_make(loop);
	cosy_loop_tell(loop);
	return 0;
}

COSY_EXPORT int cosy_cancel(struct cosy_loop *loop, struct cosy_async *op)
{
	struct cosy_async *call;
	int err;

	if (cosy_ring_has(op) && cosy_submit_begin(loop->ring.submit)) {
		err = cosy_ring_cancel(loop, op);
		cosy_submit_end(loop->ring.submit);
		return err;
	}
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	err = -ENOENT;
	if (loop->has_ring && cosy_ring_has(op)) {
		err = cosy_ring_cancel(loop, op);
		cosy_loop_tell(loop);
	} else if (cosy_async_pending(op) && op->slot < loop->slots.fresh) {
		if (loop->page.entries[op->slot].user_data == (uintptr_t)op) {
			err = cancel_entry(loop, op->slot);
		} else {
			call = cosy_above.cancel_task(loop, op);
			if (call && cosy_ring_has(call))
				cosy_ring_cancel(loop, call);
			else if (call)
				cancel_entry(loop, op->slot);
			err = call ? 0 : -ENOENT;
		}
	}
	cosy_loop_leave(loop);
	return err;
}

/* Cancel entries that are still in the ring. Return their number. */
static int cancel_submitted(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	const struct cosy_async_page *page = loop->page.shared;
	int cancelled = 0;

	for (uint32_t i = page->submit_head; i != page->submit_tail; i++) {
		uint32_t slot = loop->page.submitted[i & loop->page.mask];

		if (!loop->slots.all[slot].cancelled && cosy_slot_uses(loop, slot, first, last)) {
			loop->slots.all[slot].cancelled = true;
			cancelled++;
		}
	}
	return cancelled;
}

/*
 * Cancel an entry of a descriptor's list, unless it was cancelled while it was in the ring. A call that
 * a thread has begun is not interrupted.
 */
static bool cancel_waiting_entry(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_slot *s = &loop->slots.all[slot];

	return !s->cancelled && !(s->lent && cosy_module_is_running(loop, slot)) &&
	       !cosy_slot_cancel(loop, slot);
}

static int cancel_waiting(struct cosy_loop *loop, struct cosy_descriptor *d)
{
	int cancelled = 0;

	for (int list = 0; list < COSY_LISTS; list++) {
		uint32_t slot = d->head[list], next;

		for (; slot != COSY_NO_SLOT; slot = next) {
			const struct cosy_slot *s = &loop->slots.all[slot];

			next = s->next;
			if (cancel_waiting_entry(loop, slot))
				cancelled++;
			/* Its call continues. Entries of the next file with this number must not wait for it. */
			else if (s->state == COSY_SLOT_RUNNING || s->lent)
				cosy_descriptor_remove(&loop->fds, slot);
		}
	}
	return cancelled;
}

static int cancel_queue(struct cosy_loop *loop, const struct cosy_queue *queue,
			uint32_t first, uint32_t last)
{
	uint32_t slot = queue->head, next;
	int cancelled = 0;

	for (; slot != COSY_NO_SLOT; slot = next) {
		next = loop->slots.all[slot].queue_next;
		if (cosy_slot_uses(loop, slot, first, last))
			cancelled += cancel_waiting_entry(loop, slot);
	}
	return cancelled;
}

/* Cancel queued entries whose calls no thread has begun. Return their number. */
static int cancel_queued(struct cosy_loop *loop, const struct cosy_pool *pool,
			 uint32_t first, uint32_t last)
{
	return cancel_queue(loop, &pool->queued, first, last) +
	       cancel_queue(loop, &pool->lent, first, last);
}

/*
 * Return true if threads of the pool make calls on the descriptors in the module. These could not be
 * cancelled, so they are marked: if the module gives one back, no thread makes it.
 */
static bool used_in_module(const struct cosy_loop *loop, const struct cosy_pool *pool,
			   uint32_t first, uint32_t last)
{
	bool used = false;

	for (uint32_t slot = pool->lent.head; slot != COSY_NO_SLOT;
	     slot = loop->slots.all[slot].queue_next) {
		if (cosy_slot_uses(loop, slot, first, last)) {
			loop->slots.all[slot].cancelled = true;
			used = true;
		}
	}
	return used;
}

/*
 * Wait until the calls that threads make on the descriptors have looked them up. After that they can be
 * closed, and their numbers used again. The loop does not know which thread makes a call in the module, so
 * it waits for all that may.
 */
static void let_calls_begin(const struct cosy_loop *loop, const struct cosy_pool *pool,
			    uint32_t first, uint32_t last)
{
	bool in_module = used_in_module(loop, pool, first, last);

	for (uint32_t i = 0; i < pool->threads; i++) {
		const struct cosy_caller *caller = &pool->callers[i];

		if (caller->slot == COSY_NO_SLOT ? in_module :
							   cosy_slot_uses(loop, caller->slot, first, last))
			cosy_caller_let_begin(caller);
	}
}

/* Cancel all entries on descriptors but those in the ring, and forget the descriptors. */
static int cancel_and_forget(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	struct cosy_descriptor *d;
	int cancelled = cancel_queued(loop, &loop->threads.disk, first, last) +
			cancel_queued(loop, &loop->threads.waits, first, last) +
			cosy_module_interrupt(loop, first, last);

	for (uint32_t fd = first; (d = cosy_descriptors_next(&loop->fds, &fd, last)); fd++) {
		cancelled += cancel_waiting(loop, d);
		cosy_descriptor_forget(&loop->fds, (int)fd);
	}
	if (loop->threads.calling || loop->threads.disk.lent.count ||
	    loop->threads.waits.lent.count) {
		let_calls_begin(loop, &loop->threads.disk, first, last);
		let_calls_begin(loop, &loop->threads.waits, first, last);
	}
	return cancelled;
}

int cosy_fds_cancel(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	/* These first: if the module is lost meanwhile, they move to a pool. */
	int cancelled = cancel_queue(loop, &loop->module.reading, first, last);

	if (loop->fds.group)
		cosy_group_closes(&loop->fds, first, last, NULL);
	cancelled += cosy_ring_cancel_fds(loop, first, last);
	return cancelled + cancel_and_forget(loop, first, last);
}

void cosy_fd_forget(struct cosy_loop *loop, int fd)
{
	const uint32_t number = (uint32_t)fd;

	cosy_dispatch_settle(loop);
	cancel_queue(loop, &loop->module.reading, number, number);
	/* Do not cancel entries that have not begun: they may be for the next file with this number. */
	cosy_ring_cancel_taken(loop, number);
	cancel_and_forget(loop, number, number);
	cosy_cpus_cancel_fds(loop, number, number);
	cosy_loop_tell(loop);
}

void cosy_fds_forget_all(struct cosy_loop *loop)
{
	if (cosy_loop_enter(loop))
		return;
	for (uint32_t fd = 0; cosy_descriptors_next(&loop->fds, &fd, COSY_MAX_FD); fd++)
		cosy_descriptor_forget(&loop->fds, (int)fd);
	cosy_cpus_cancel_fds(loop, 0, COSY_MAX_FD);
	cosy_loop_leave(loop);
}

/* Cancel what waits for a descriptor that is not open any more, or refers to another file. */
static void cancel_stale(struct cosy_loop *loop, int fd)
{
	struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, fd);

	if (!d || !cosy_descriptor_is_stale(&loop->fds, fd))
		return;
	cancel_waiting(loop, d);
	cosy_descriptor_forget(&loop->fds, fd);
}

void cosy_fds_cancel_stale(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	const uint32_t end = cosy_descriptors_end(&loop->fds, first);

	cosy_module_interrupt_stale(loop, first, last);
	if (loop->cpus)
		cosy_cpus_cancel_stale(loop, first, last);
	for (uint32_t fd = first; fd <= last && (fd == first || fd < end); fd++) {
		cosy_ring_cancel_stale(loop, fd);
		cancel_stale(loop, (int)fd);
	}
}

int cosy_fds_cancel_all(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	int cancelled;

	cosy_dispatch_settle(loop);
	cancelled = cancel_submitted(loop, first, last);
	cancelled += cosy_fds_cancel(loop, first, last);
	cosy_loop_tell(loop);
	return cancelled;
}

COSY_EXPORT int cosy_cancel_fd(struct cosy_loop *loop, int fd)
{
	int ret = cosy_loop_enter(loop);

	if (ret)
		return ret;
	if (fd >= 0)
		ret = cosy_fds_cancel_all(loop, (uint32_t)fd, (uint32_t)fd) +
		      cosy_cpus_cancel_fds(loop, (uint32_t)fd, (uint32_t)fd);
	cosy_loop_leave(loop);
	return ret;
}
