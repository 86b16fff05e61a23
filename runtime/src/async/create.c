/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * create.c - creates and destroys loops; their descriptors, and their counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "device/descriptor.h"
#include "device/export.h"
#include "device/extensible.h"
#include "device/sys.h"
#include "cancel.h"
#include "complete.h"
#include "cpus.h"
#include "create.h"
#include "dispatch.h"
#include "loop.h"
#include "reply.h"
#include "start.h"
#include "submit.h"
#include "task.h"
#include "wait.h"

#define DEFAULT_ENTRIES	4096u
#define DEFAULT_THREADS	4u
#define DEFAULT_WAITERS	64u
#define MAX_THREADS	256u
#define MAX_WAITERS	1024u

const struct cosy_above cosy_above = {
	.made = cosy_thread_made,
	.lost = cosy_dispatch_lost,
	.again = cosy_page_submit_again,
	.reply = cosy_reply_submit,
	.cancel_task = cosy_task_cancel,
	.task_slot = cosy_task_slot,
	.ask_tasks = cosy_task_ask_all,
	.only_sends = cosy_task_only_sends,
	.task_done = cosy_task_done,
	.resume = cosy_task_resume,
};

static uint32_t power_of_two(uint32_t n)
{
	uint32_t power = COSY_ASYNC_MIN_ENTRIES;

	while (power < n)
		power <<= 1;
	return power;
}

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
	return value ? value : otherwise;
}

static int add_to_epoll(const struct cosy_loop *loop, int fd)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.fd = fd,
	};

	return (int)cosy_sys6(SYS_epoll_ctl, loop->fds.epoll, EPOLL_CTL_ADD, fd,
			      (long)&event, 0, 0);
}

/*
 * Mark the descriptors. Other loops of this process have other marks, unless there are very many loops.
 * If a seccomp filter forbids that, the loop cannot tell whether a number is still its own.
 */
static void mark_fds(struct cosy_loop *loop)
{
	static atomic_uint loops;
	int mark = 1 + (int)(atomic_fetch_add(&loops, 1) % COSY_MARKS);

	if (!cosy_descriptor_mark(loop->fds.epoll, mark) &&
	    !cosy_descriptor_mark(loop->wake_fd, mark))
		loop->mark = mark;
}

static int open_fds(struct cosy_loop *loop)
{
	loop->fds.epoll = (int)cosy_sys(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0);
	if (loop->fds.epoll < 0)
		return loop->fds.epoll;
	loop->wake_fd = (int)cosy_sys(SYS_eventfd2, 0,
				      EFD_CLOEXEC | EFD_NONBLOCK, 0);
	if (loop->wake_fd < 0)
		return loop->wake_fd;
	mark_fds(loop);
	return add_to_epoll(loop, loop->wake_fd);
}

static void close_fds(struct cosy_loop *loop)
{
	cosy_loop_close_fd(loop, loop->timer_fd);
	cosy_loop_close_fd(loop, loop->wake_fd);
	cosy_loop_close_fd(loop, loop->fds.epoll);
}

/** struct owned - members that a child finds cleared, on a page of their own */
struct owned {
	struct cosy_submit submit;
	int owner;
};

static int make_owner(struct cosy_loop *loop)
{
	struct owned *owned = mmap(NULL, sizeof(*owned), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (owned == MAP_FAILED)
		return -ENOMEM;
	loop->ring.submit = &owned->submit;
	loop->owner = &owned->owner;
	if (madvise(owned, sizeof(*owned), MADV_WIPEONFORK) < 0)
		return -errno;
	owned->owner = 1;
	owned->submit.room = (int32_t)loop->page.mask + 1;
	return 0;
}

static void free_owner(struct cosy_loop *loop)
{
	if (loop->ring.submit)
		munmap(loop->ring.submit, sizeof(struct owned));
}

static void free_memory(struct cosy_loop *loop)
{
	cosy_attempts_destroy(&loop->attempts);
	cosy_buffers_destroy(&loop->ring.buffers);
	cosy_descriptors_destroy(&loop->fds);
	cosy_page_destroy(&loop->page, &loop->slots);
	free(loop->timers.heap);
	free(loop->threads.disk.callers);
	free(loop->threads.waits.callers);
	free_owner(loop);
	free(loop);
}

static int read_options(struct cosy_loop_options *known,
			const struct cosy_loop_options *options)
{
	int err = cosy_extensible_copy(known, sizeof(*known), options);

	if (err)
		return err;
	if (known->entries > COSY_ASYNC_MAX_ENTRIES ||
	    known->threads > MAX_THREADS || known->waiters > MAX_WAITERS)
		return -EINVAL;
	return 0;
}

/* cosy_loop.deliver for ThreadSanitizer: call a callback, which is ordered after its submission. */
static void deliver_ordered(struct cosy_loop *loop, struct cosy_async *op)
{
	tsan_acquire(op);
	op->done(op);
	cosy_loop_tell_order(loop);
}

/* The sanitizer does not see how threads take the ring from each other, so there is none. */
static void order_for_sanitizer(struct cosy_loop *loop)
{
	loop->sanitized = tsan_is_used();
	if (!loop->sanitized)
		return;
	loop->deliver = deliver_ordered;
	loop->ring.tried = true;
}

COSY_EXPORT int cosy_loop_create(struct cosy_loop **result,
				 const struct cosy_loop_options *options)
{
	struct cosy_loop_options known;
	struct cosy_loop *loop;
	int err;

	err = read_options(&known, options);
	if (err)
		return err;
	loop = calloc(1, sizeof(*loop));
	if (!loop)
		return -ENOMEM;
	loop->fds.epoll = loop->wake_fd = loop->timer_fd = -1;
	err = cosy_page_create(&loop->page, &loop->slots,
			       power_of_two(or_default(known.entries, DEFAULT_ENTRIES)));
	if (err)
		goto no_page;
	err = cosy_descriptors_create(&loop->fds, loop->slots.all);
	if (!err)
		err = cosy_attempts_create(&loop->attempts, loop->page.mask + 1);
	if (!err)
		err = make_owner(loop);
	if (err)
		goto no_owner;
	err = open_fds(loop);
	if (err)
		goto no_fds;
	cosy_pool_init(loop, &loop->threads.disk,
		       or_default(known.threads, DEFAULT_THREADS));
	cosy_pool_init(loop, &loop->threads.waits,
		       or_default(known.waiters, DEFAULT_WAITERS));
	loop->timers.slots = loop->slots.all;
	cosy_module_init(loop);
	loop->ring.tried = !loop->module.usable;
	order_for_sanitizer(loop);
	*result = loop;
	return 0;

no_fds:
	close_fds(loop);
no_owner:
	free_owner(loop);
	cosy_attempts_destroy(&loop->attempts);
	cosy_descriptors_destroy(&loop->fds);
	cosy_page_destroy(&loop->page, &loop->slots);
no_page:
	free(loop);
	return err;
}

void cosy_loop_join(struct cosy_loop *loop, struct cosy_group *group, uint16_t member)
{
	loop->fds.group = group;
	loop->fds.member = loop->ring.submit->member = member;
	loop->ring.submit->known = group->known;
}

static void cancel_all(struct cosy_loop *loop)
{
	struct cosy_delivery none = { 0 };
	struct cosy_async *op;

	cosy_dispatch_settle(loop);
	cosy_ring_cancel_all(loop);
	for (uint32_t slot = 0; slot < loop->slots.fresh; slot++)
		cosy_slot_cancel(loop, slot);
	do {
		loop->module.up_to_date = loop->ring.up_to_date = false;
		/* Entries in the ring were only marked, and compounds run to their end. */
		cosy_execute(loop, &none);
		while ((op = cosy_page_collect(loop))) {
			cosy_loop_leave(loop);
			cosy_op_complete(op);
			if (op->done)
				cosy_loop_call(loop, op, op->done);
			cosy_lock(&loop->lock);
		}
	} while (loop->module.compounds || cosy_attempts_pending(loop) || cosy_page_done(loop) ||
		 cosy_ring_outstanding(loop));
}

/* Keep threads from beginning calls. Return false if one makes a call. */
static bool stop_threads(struct cosy_loop *loop)
{
	if (loop->threads.calling)
		return false;
	if (!loop->threads.disk.lent.count && !loop->threads.waits.lent.count)
		return true;
	/* Let the module publish calls that were made. */
	if (loop->module.fd >= 0)
		cosy_dispatch_module(loop);
	else
		cosy_attempts_make(loop);
	cosy_module_recall(loop, false, true);
	cosy_module_recall(loop, true, true);
	if (!loop->threads.calling && !cosy_threads_running(loop))
		return true;
	/* If entries are queued, the threads have to stay outside the module. */
	if (loop->threads.disk.queued.head == COSY_NO_SLOT)
		cosy_module_recall(loop, false, false);
	if (loop->threads.waits.queued.head == COSY_NO_SLOT)
		cosy_module_recall(loop, true, false);
	return false;
}

bool cosy_loop_quiesce(struct cosy_loop *loop)
{
	cosy_lock(&loop->lock);
	if (loop->biased)
		cosy_ring_take(loop);
	if (stop_threads(loop))
		return true;
	/* stop_threads() may have taken completions from the module: wake the threads that wait for them. */
	cosy_loop_tell(loop);
	cosy_loop_leave(loop);
	return false;
}

void cosy_loop_close(struct cosy_loop *loop)
{
	loop->closing = true;
	if (loop->cpus)
		cosy_cpus_destroy(loop);
	cancel_all(loop);
	cosy_pool_end(loop, &loop->threads.disk);
	cosy_pool_end(loop, &loop->threads.waits);
	cosy_loop_leave(loop);
}

void cosy_loop_free(struct cosy_loop *loop)
{
	cosy_ring_close(loop, *loop->owner);
	cosy_module_close(loop, *loop->owner);
	close_fds(loop);
	free_memory(loop);
}

COSY_EXPORT int cosy_loop_destroy(struct cosy_loop *loop)
{
	if (!loop)
		return 0;
	if (*loop->owner) {
		if (!cosy_cpus_quiesce(loop))
			return -EBUSY;
		if (!cosy_loop_quiesce(loop)) {
			cosy_cpus_go_on(loop);
			return -EBUSY;
		}
		cosy_loop_close(loop);
		/* Without the lock, because a thread that ends a share may wait for that. */
		cosy_loop_uses_no_share(loop);
	} else {
		/* In a child, locks and lists may be in any state, and the threads do not exist. */
		cosy_cpus_destroy_in_child(loop);
	}
	cosy_loop_free(loop);
	return 0;
}

static int make_external(struct cosy_loop *loop)
{
	int err;

	loop->timer_fd = (int)cosy_sys(SYS_timerfd_create, CLOCK_MONOTONIC,
				       TFD_CLOEXEC | TFD_NONBLOCK, 0);
	if (loop->timer_fd < 0)
		return loop->timer_fd;
	loop->external = true;
	err = cosy_loop_own(loop, loop->timer_fd);
	if (!err)
		err = add_to_epoll(loop, loop->timer_fd);
	if (!err)
		err = cosy_module_poll(loop);
	if (err) {
		loop->external = false;
		cosy_sys(SYS_close, loop->timer_fd, 0, 0);
		loop->timer_fd = -1;
	}
	return err;
}

COSY_EXPORT int cosy_loop_fd(struct cosy_loop *loop)
{
	int err = cosy_loop_enter(loop);

	if (err)
		return err;
	if (!loop->external)
		err = make_external(loop);
	/* Make the descriptor readable once, because there may be something to do already. */
	if (!err)
		cosy_loop_wake(loop);
	cosy_loop_leave(loop);
	return err ? err : loop->fds.epoll;
}

COSY_EXPORT int cosy_loop_info(struct cosy_loop *loop,
			       struct cosy_loop_info *info, size_t size)
{
	struct cosy_loop_info counts;
	int err = cosy_loop_enter(loop);

	if (err)
		return err;
	loop->info.waiting = loop->fds.waiting + loop->timers.count;
	loop->info.outstanding = loop->slots.outstanding;
	loop->info.threads = loop->threads.disk.threads + loop->threads.waits.threads;
	loop->info.kernel = loop->module.usable;
	counts = loop->info;
	counts.handed_over += cosy_threads_running(loop);
	cosy_ring_add_info(loop, &counts);
	cosy_cpus_add_info(loop, &counts);
	cosy_extensible_give(info, size, &counts, sizeof(counts));
	cosy_loop_leave(loop);
	return 0;
}
