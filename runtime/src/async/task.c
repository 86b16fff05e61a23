/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * task.c - functions that are suspended while their calls are executed.
 *
 * A task has an entry of the page as long as it exists, so that none of its calls fails because
 * the page is full. A callback of the entry resumes the innermost function. A function that calls
 * another one, or returns, only changes which function is the innermost. So nested calls take no
 * stack.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "device/export.h"
#include "device/library.h"
#include "device/message.h"
#include "device/sys.h"
#include "region/reserved.h"
#include "complete.h"
#include "coroutine.h"
#include "cpu.h"
#include "loop.h"
#include "ring-submit.h"
#include "submit.h"
#include "task.h"

#define MAX_ERRNO 4095

_Static_assert(sizeof(struct task_frame) == 16, "keeps malloc()'s alignment");
_Static_assert(offsetof(struct cosy_task, value) == 0, "as cosy/task.h says");

static struct cosy_task *task_of(struct cosy_async *call)
{
	return (void *)((char *)call - offsetof(struct cosy_task, call));
}

static void free_top_frame(struct cosy_task *task)
{
	struct task_frame *frame = task->top;

	task->top = frame->outer;
	free((char *)frame - frame->start);
}

COSY_EXPORT void *cosy_task_enter(struct cosy_task *task, size_t size,
				  size_t align)
{
	size_t start = 0;
	struct task_frame *frame = NULL;
	void *memory;

	if (!task)
		return NULL;
	if (align <= sizeof(*frame)) {
		memory = malloc(sizeof(*frame) + size);
	} else {
		start = align - sizeof(*frame);
		if (posix_memalign(&memory, align, align + size))
			memory = NULL;
	}
	if (!memory) {
		if (!task->top)
			return NULL;
		cosy_message("no memory for the frame of a COSY_ASYNC function",
			     NULL);
		abort();
	}
	frame = (void *)((char *)memory + start);
	frame->outer = task->top;
	frame->start = start;
	task->top = frame;
	cosy_task_ask(task);
	return frame->resume;
}

COSY_EXPORT void cosy_task_return(struct cosy_task *task, int64_t result)
{
	task->value = result;
	free_top_frame(task);
}

void cosy_task_set_call(struct cosy_task *task, long nr, const uint64_t args[6])
{
	struct cosy_async_entry *entry = &task->loop->page.entries[task->slot];

	/* The task owns the entry until it is submitted. */
	entry->nr = (uint32_t)nr;
	memcpy(entry->args, args, sizeof(entry->args));
}

/*
 * Begin to use the ring for a call if this thread has it. It keeps the ring until the function is
 * suspended: another thread must not resume it before. Return false if the call has to be submitted
 * otherwise.
 */
static COSY_ALWAYS_INLINE bool begin_call(const struct cosy_task *task, struct cosy_submit *s)
{
	/* Without a ring, no thread has it. */
	if (COSY_UNLIKELY(__atomic_load_n(&task->cancelled, __ATOMIC_RELAXED)) || !cosy_submit_begin(s))
		return false;
	if (COSY_LIKELY(s->room >= 0))
		return true;
	cosy_submit_end(s);
	return false;
}

/* The same for a call, if the ring takes it. */
static COSY_ALWAYS_INLINE bool begin_in_ring(struct cosy_task *task, enum cosy_how how, long nr,
					     const uint64_t args[6])
{
	struct cosy_loop *loop = task->loop;

	if (!begin_call(task, loop->ring.submit))
		return false;
	if (cosy_ring_submits(loop, &task->call, how, nr, args))
		return true;
	cosy_submit_end(loop->ring.submit);
	return false;
}

/* Set the result and @error, errno, for the function that is resumed, as libc's function would. */
static COSY_ALWAYS_INLINE void set_value(struct cosy_task *task, int64_t result, int *error)
{
	if (COSY_UNLIKELY(result < 0 && result >= -MAX_ERRNO)) {
		*error = (int)-result;
		task->value = -1;
		return;
	}
	task->value = result;
}

/* A call that the ring takes was made in this thread. Ends its use. */
static COSY_ALWAYS_INLINE enum task_calling has_called(struct cosy_task *task, int64_t result)
{
	struct cosy_ring *ring = &task->loop->ring;

	ring->own_calls++;
	ring->here++;
	cosy_submit_end(ring->submit);
	set_value(task, result, &errno);
	return TASK_HAS_CALLED;
}

/*
 * Submit a call to the ring, which takes it. If it is the first entry there, and need not wait, it is made at
 * once: then the function need not be suspended.
 */
static COSY_ALWAYS_INLINE enum task_calling call_in_ring(struct cosy_task *task, enum cosy_how how,
							 long nr, const uint64_t args[6])
{
	struct cosy_loop *loop = task->loop;
	struct cosy_ring *ring = &loop->ring;
	const bool first = cosy_ring_is_first(ring);
	int64_t result;
	uint64_t ret;

	if (first && how == COSY_HOW_DIRECT)
		return has_called(task, cosy_sys_args(nr, args));
	cosy_ring_submit_reserved(loop, &task->call, nr, args);
	if (!first || !cosy_ring_makes_at_once(&task->call, how))
		return TASK_CALLS_IN_RING;
	ring->own_calls++;
	if (COSY_UNLIKELY(!cosy_ring_make_first(loop, &task->call, &result, &ret))) {
		task->value = (int64_t)ret;
		return TASK_CALLS_IN_MODULE;
	}
	ring->of_tasks--;
	cosy_submit_end(ring->submit);
	set_value(task, result, &errno);
	return TASK_HAS_CALLED;
}

/* cosy_task_call() for other calls, and without the ring. */
static COSY_NOINLINE void call_any(struct cosy_task *task, long nr, uint64_t a0, uint64_t a1,
				   uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	const uint64_t args[6] = { a0, a1, a2, a3, a4, a5 };
	const enum cosy_how how = cosy_how(nr);

	if (begin_in_ring(task, how, nr, args)) {
		task->calling = call_in_ring(task, how, nr, args);
		return;
	}
	cosy_task_set_call(task, nr, args);
	task->calling = TASK_CALLS;
}

/*
 * Send, as call_in_ring(), if the call is the first entry. It is submitted if nothing or only a part was sent.
 * Not inline: cosy_task_call() would save more registers.
 */
static COSY_NOINLINE enum task_calling send_first(struct cosy_task *task, uint64_t fd, uint64_t buffer,
						  uint64_t size, uint64_t flags)
{
	struct cosy_ring *ring = &task->loop->ring;
	enum cosy_ring_sent sent = COSY_RING_SENT_NOTHING;
	int64_t result;

	/* A send that waits in the module comes first. */
	if (COSY_LIKELY(!ring->page->sending)) {
		result = cosy_sys6(SYS_sendto, (long)fd, (long)buffer, (long)size,
				   (long)(flags | MSG_DONTWAIT), 0, 0);
		sent = cosy_ring_sent(result, size);
		if (COSY_LIKELY(sent == COSY_RING_SENT_ALL))
			return has_called(task, result);
	}
	cosy_ring_submit_reserved_usual(task->loop, ring->submit, &task->call, false, fd, buffer, size,
					flags);
	if (COSY_LIKELY(sent == COSY_RING_SENT_NOTHING))
		return TASK_CALLS_IN_RING;
	task->value = result;
	return TASK_HAS_SENT_PART;
}

/*
 * cosy_task_call() for a recvfrom() or sendto() without an address. Return false if the call has to be
 * submitted otherwise; the usual paths call nothing, so that few registers are saved.
 */
static COSY_ALWAYS_INLINE bool call_usual(struct cosy_task *task, bool receives, uint64_t fd,
					  uint64_t buffer, uint64_t size, uint64_t flags)
{
	const uint32_t unusual = receives ? COSY_RING_RECEIVE_UNUSUAL : COSY_RING_SEND_UNUSUAL;
	struct cosy_submit *s = task->loop->ring.submit;

	if (COSY_UNLIKELY((uint32_t)fd >= COSY_SUBMIT_MAX_FD) || COSY_UNLIKELY(flags & unusual) ||
	    COSY_UNLIKELY(receives && !size) || COSY_UNLIKELY(!cosy_submit_is_known(s, (uint32_t)fd)) ||
	    !begin_call(task, s))
		return false;
	if (!receives && cosy_ring_is_first(&task->loop->ring)) {
		task->calling = send_first(task, fd, buffer, size, flags);
		return true;
	}
	/* The loop is read again: to keep it in a register takes more instructions. */
	cosy_ring_submit_reserved_usual(task->loop, s, &task->call, receives, fd, buffer, size, flags);
	task->calling = TASK_CALLS_IN_RING;
	return true;
}

COSY_EXPORT void cosy_task_call(struct cosy_task *task, long nr, uint64_t a0,
				uint64_t a1, uint64_t a2, uint64_t a3,
				uint64_t a4, uint64_t a5)
{
	if (nr == SYS_recvfrom && COSY_LIKELY(!a4) && call_usual(task, true, a0, a1, a2, a3))
		return;
	if (nr == SYS_sendto && COSY_LIKELY(!a4) && call_usual(task, false, a0, a1, a2, a3))
		return;
	call_any(task, nr, a0, a1, a2, a3, a4, a5);
}

/*
 * Submit a reply to the ring if this thread has it. Return false also if the function asks, before the
 * receive, whether its next part runs as a compound.
 */
static bool submit_reply(struct cosy_task *task, const uint64_t send[6], const uint64_t receive[6])
{
	struct cosy_loop *loop = task->loop;
	struct cosy_submit *submit = loop->ring.submit;

	if (task->asks || !begin_in_ring(task, COSY_HOW_SEND, SYS_sendto, send))
		return false;
	if (submit->room <= 0 ||
	    !cosy_ring_submits(loop, &task->call, COSY_HOW_RECEIVE, SYS_recvfrom, receive)) {
		cosy_submit_end(submit);
		return false;
	}
	cosy_ring_submit_reserved_reply(loop, &task->call, send, receive);
	return true;
}

COSY_EXPORT void cosy_task_reply(struct cosy_task *task, uint64_t fd, uint64_t answer,
				 uint64_t length, uint64_t flags, uint64_t buffer, uint64_t size)
{
	const uint64_t send[6] = { fd, answer, length, flags };
	const uint64_t receive[6] = { fd, buffer, size };

	/* A send of nothing, or of more than the kernel sends at once, does not return @length > 0. */
	task->replies = length && length <= INT_MAX && submit_reply(task, send, receive);
	if (!task->replies) {
		cosy_task_call(task, SYS_sendto, fd, answer, length, flags, 0, 0);
		return;
	}
	task->calling = TASK_CALLS_IN_RING;
	task->sent = (int64_t)length;
}

void cosy_task_only_sends(const struct cosy_async *call)
{
	task_of((struct cosy_async *)call)->replies = false;
}

/* Make the call of a function in this thread. */
static int64_t call_at_once(const struct cosy_task *task)
{
	const struct cosy_async_entry *entry =
		&task->loop->page.entries[task->slot];

	return cosy_call_anywhere(entry->nr, (const uint64_t *)entry->args);
}

/*
 * If a part that runs natively waits for a pipe or the like, let it run as a compound. The module waits
 * for these files with fewer instructions than epoll.
 */
static void note_wait(struct cosy_task *task, enum cosy_how how)
{
	const struct cosy_loop *loop = task->loop;
	const struct cosy_descriptor *d;

	if (!task->native || (how != COSY_HOW_READ && how != COSY_HOW_WRITE))
		return;
	d = cosy_descriptor_find(&loop->fds, (int)loop->page.entries[task->slot].args[0]);
	if (!d || (d->kind != COSY_KIND_PIPE && d->kind != COSY_KIND_NOWAIT))
		return;
	__atomic_store_n(&task->native->waits, true, __ATOMIC_RELAXED);
	cosy_task_ask(task);
}

bool cosy_task_submit_call(struct cosy_task *task, int64_t *result)
{
	struct cosy_loop *loop = task->loop;
	enum cosy_how how = cosy_how(loop->page.entries[task->slot].nr);
	bool waited = task->waited;
	bool closing;

	task->waited = false;
	if (cosy_loop_enter(loop)) {
		/* In a child the function continues without the loop. */
		*result = call_at_once(task);
		return false;
	}
	closing = loop->closing;
	if ((closing || task->cancelled) &&
	    cosy_call_may_last(loop->page.entries[task->slot].nr)) {
		cosy_loop_leave(loop);
		*result = -ECANCELED;
		return false;
	}
	note_wait(task, how);
	if (!closing && waited)
		cosy_page_wait_reserved(loop, &task->call, task->slot, how);
	else if (!closing)
		cosy_page_submit_reserved(loop, &task->call, task->slot, how);
	cosy_loop_leave(loop);
	if (closing)
		*result = call_at_once(task);
	return !closing;
}

/* set_value() for a function that was suspended, with the errno that it had. */
static void set_result(struct cosy_task *task, int64_t result, int *error)
{
	*error = task->error;
	set_value(task, result, error);
}

/* The same for a reply that has sent all its data, and whose receive has ended. */
static void set_reply_result(struct cosy_task *task, int64_t result, int *error)
{
	task->replies = false;
	task->received = true;
	task->receive_result = result;
	set_result(task, task->sent, error);
}

COSY_EXPORT bool cosy_task_received(struct cosy_task *task)
{
	if (!task->received)
		return false;
	task->received = false;
	task->error = errno;
	set_result(task, task->receive_result, &errno);
	return true;
}

static void free_task(struct cosy_task *task)
{
	if (task && task->colours)
		task->colours->release(&task->coloured);
	free(task);
}

static void end_task(struct cosy_task *task)
{
	struct cosy_loop *loop = task->loop;
	struct cosy_async *op = task->op;
	void (*done)(struct cosy_async *op) = op->done;
	bool in_child = cosy_loop_enter(loop) != 0;

	op->result = task->value;
	cosy_loop_tell_order(loop);
	/* Without a callback, the program may free it from here on. */
	cosy_op_complete(op);
	if (!in_child) {
		loop->slots.all[task->slot].task = false;
		cosy_page_release(loop, task->slot);
		cosy_loop_tell(loop);
		cosy_loop_leave(loop);
	}
	if (op == &task->own) {
		if (done)
			done(op);
		free_task(task);
		return;
	}
	free_task(task);
	if (done)
		done(op);
}

/* Resume the innermost function, until it is suspended. */
static COSY_ALWAYS_INLINE void resume(struct cosy_task *task)
{
	task->calling = TASK_CALLS_NOTHING;
	task->top->resume[0](task->top->resume);
}

/*
 * Do what a function is suspended for, but for a call that stays in the ring. Return true if it has to be
 * resumed: false if that completes later, or the function has returned. @error: errno
 */
static COSY_NOINLINE bool suspend(struct cosy_task *task, int *error)
{
	int64_t result;

	cosy_loop_publish(task->loop, &task->call);
	task->error = *error;
	switch (task->calling) {
	case TASK_CALLS:
		if (cosy_task_submit_call(task, &result))
			return false;
		set_result(task, result, error);
		return true;
	case TASK_CALLS_IN_MODULE:
		cosy_ring_end_unmade(task->loop, (uint64_t)task->value);
		return false;
	case TASK_HAS_SENT_PART:
		cosy_ring_send_rest(task->loop, task->value);
		return false;
	default:
		break;
	}
	if (task->region) {
		if (cosy_coroutine_run(task))
			return false;
		task->region = NULL;
		*error = task->error;
	} else if (!task->top) {
		end_task(task);
		return false;
	}
	return true;
}

/*
 * Run a function until it is suspended for what completes later, or has returned. @error: errno. Returns
 * as cosy_task_resume().
 */
static COSY_ALWAYS_INLINE bool run_task(struct cosy_task *task, int *error)
{
	do {
		resume(task);
		if (COSY_LIKELY(task->calling == TASK_CALLS_IN_RING)) {
			cosy_loop_publish(task->loop, &task->call);
			task->error = *error;
			return true;
		}
	} while (task->calling == TASK_HAS_CALLED || suspend(task, error));
	return false;
}

bool cosy_task_resume(struct cosy_async *call, int *error)
{
	struct cosy_task *task = task_of(call);

	if (COSY_UNLIKELY(task->region != NULL)) {
		if (cosy_coroutine_done(task, call->result))
			return false;
		task->region = NULL;
		*error = task->error;
	} else if (COSY_UNLIKELY(task->replies)) {
		set_reply_result(task, call->result, error);
	} else {
		set_result(task, call->result, error);
	}
	return run_task(task, error);
}

void cosy_task_done(struct cosy_async *call)
{
	/* Until cosy_task_resume() returns, no other thread runs what it runs. */
	if (cosy_task_resume(call, &errno))
		cosy_submit_end(task_of(call)->loop->ring.submit);
}

static void coloured_call_done(struct cosy_coloured *coloured)
{
	cosy_task_done(&coloured->op);
}

COSY_EXPORT void cosy_task_create(struct cosy_spawn *spawn)
{
	spawn->task = calloc(1, sizeof(*spawn->task));
}

COSY_EXPORT void cosy_task_colour(struct cosy_spawn *spawn)
{
	struct cosy_task *task = spawn->task;

	if (!task)
		return;
	cosy_colour(&task->coloured, spawn->colour, coloured_call_done);
	task->has_colour = true;
	task->colours = cosy_thread_colours;
	if (task->colours)
		task->colours->hold(&task->coloured);
}

static int start_task(struct cosy_task *task, const struct cosy_spawn *spawn)
{
	struct cosy_loop *loop = spawn->loop;
	struct cosy_async *op = spawn->op ? spawn->op : &task->own;
	int err = cosy_loop_enter(loop);

	if (err)
		return err;
	if (cosy_async_pending(op))
		err = -EBUSY;
	else if (!cosy_cpu_is_valid(loop, op->state))
		err = -EINVAL;
	else
		err = cosy_page_reserve(loop, &task->call, &task->slot);
	if (!err) {
		task->loop = loop;
		cosy_loop_publish(loop, &task->call);
		if (!task->has_colour)
			task->call.done = cosy_task_done;
		task->op = op;
		task->on = op->state;
		op->done = spawn->done;
		op->data = spawn->data;
		cosy_op_begin(op, task->slot);
	}
	cosy_loop_leave(loop);
	return err;
}

COSY_EXPORT int cosy_task_start(struct cosy_spawn *spawn)
{
	struct cosy_task *task = spawn->task;
	int err = -ENOMEM;

	/* On a worker of a team, no colour is colour 0. */
	if (task && !task->has_colour && cosy_thread_colours && spawn->loop->fds.group)
		cosy_task_colour(spawn);
	if (task && task->top) {
		err = start_task(task, spawn);
		if (err)
			free_top_frame(task);
	}
	if (err)
		free_task(task);
	return err;
}

/* Return the function to which a slot belongs, or NULL. */
static struct cosy_task *task_at(const struct cosy_loop *loop, uint32_t slot)
{
	if (!loop->slots.all[slot].task)
		return NULL;
	return task_of((void *)(uintptr_t)loop->page.entries[slot].user_data);
}

void cosy_task_ask_all(struct cosy_loop *loop)
{
	struct cosy_task *task;

	for (uint32_t slot = 0; slot < loop->slots.fresh; slot++) {
		task = task_at(loop, slot);
		if (task)
			cosy_task_ask(task);
	}
}

struct cosy_async *cosy_task_cancel(struct cosy_loop *loop, const struct cosy_async *op)
{
	struct cosy_task *task = task_at(loop, op->slot);

	if (!task || task->op != op)
		return NULL;
	__atomic_store_n(&task->cancelled, true, __ATOMIC_RELAXED);
	return &task->call;
}

uint32_t cosy_task_slot(const struct cosy_async *call)
{
	return task_of((struct cosy_async *)call)->slot;
}

COSY_EXPORT void cosy_task_functions(struct cosy_task_function *functions,
				     size_t count)
{
	/* Wrappers of sanitizers are not foreign: their calls would block the thread, so they are replaced, too. */
	for (size_t i = 0; i < count; i++)
		functions[i].foreign =
			!cosy_library_contains(functions[i].name,
					       functions[i].address) &&
			!cosy_library_intercepted(functions[i].name,
						  functions[i].address);
}
