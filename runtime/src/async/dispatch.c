/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * dispatch.c - makes attempts; continues entries whose time has come or whose descriptor is ready.
 *
 * With the module, a batch of attempts is one entry into the kernel (module.c). Each call then
 * undergoes the same checks as a call in a compound, and is left to user mode in the same cases.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "device/sys.h"
#include "attempt.h"
#include "calls.h"
#include "complete.h"
#include "descriptor.h"
#include "dispatch.h"
#include "lock.h"
#include "loop.h"
#include "module.h"
#include "slot.h"
#include "start.h"
#include "timer.h"

void cosy_attempts_in_user_mode(struct cosy_loop *loop, struct cosy_attempt *a,
				uint32_t n)
{
	loop->info.entries += n;
	for (uint32_t i = 0; i < n; i++) {
		if (loop->page.slots[a[i].slot].buffered) {
			cosy_read_by_thread(loop, a[i].slot);
			continue;
		}
		a[i].result = cosy_sys_args((long)a[i].nr, a[i].args);
		cosy_attempted(loop, &a[i]);
	}
}

/* Return true if the module has to make the attempts, or makes them with less work. */
static bool module_makes(struct cosy_loop *loop, const struct cosy_attempt *a, uint32_t n)
{
	if (n < COSY_MIN_BATCH)
		return cosy_module_is_needed(loop, a, n);
	return cosy_module_makes_calls(loop);
}

static void make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n)
{
	loop->info.attempts += n;
	if (module_makes(loop, a, n))
		cosy_module_make(loop, a, n);
	else
		cosy_attempts_in_user_mode(loop, a, n);
}

void cosy_attempts_make(struct cosy_loop *loop)
{
	while (cosy_attempts_pending(loop)) {
		uint32_t n;
		struct cosy_attempt *made = cosy_attempts_take(&loop->attempts, &n);

		if (n)
			make(loop, made, n);
		/*
		 * Earlier entries come first: compounds may close descriptors that the call uses.
		 */
		if (cosy_module_submitted(&loop->module))
			cosy_module_flush(loop);
		if (loop->module.page)
			cosy_module_collect(loop, COSY_ATTEMPTS);
	}
}

void cosy_timers_expire(struct cosy_loop *loop)
{
	uint64_t now;
	uint32_t slot;

	if (!loop->timers.count)
		return;
	now = cosy_clock();
	while ((slot = cosy_timers_take(&loop->timers, now)) != COSY_NO_SLOT) {
		if (loop->page.slots[slot].how == COSY_HOW_SEND ||
		    loop->page.slots[slot].how == COSY_HOW_CONNECT) {
			cosy_attempts_flush(loop);
			/* The program may have changed O_NONBLOCK since the last attempt. */
			cosy_start_ready(loop, slot, 0);
		} else {
			cosy_complete(loop, slot, 0);
		}
	}
	if (cosy_attempts_pending(loop))
		cosy_attempts_make(loop);
}

/* Make the calls of entries that poll again, without waiting. */
static void poll_again(struct cosy_loop *loop, struct cosy_descriptor *d)
{
	uint32_t slot = d->head[COSY_LIST_POLL], next;

	for (; slot != COSY_NO_SLOT; slot = next) {
		long ready = cosy_sys(SYS_poll, (long)loop->page.entries[slot].args[0],
				      1, 0);

		next = loop->page.slots[slot].next;
		if (ready)
			cosy_end(loop, slot, ready);
	}
}

/* Begin with the first entry of a list; return true if a thread has it now. */
static bool start_first(struct cosy_loop *loop, struct cosy_descriptor *d,
			enum cosy_list list, uint32_t events)
{
	uint32_t slot = d->head[list];

	if (!cosy_slot_waits(loop->page.slots, slot))
		return false;
	cosy_start_ready(loop, slot, events);
	return loop->page.slots[slot].state == COSY_SLOT_QUEUED || loop->page.slots[slot].lent;
}

void cosy_descriptor_event(struct cosy_loop *loop, int fd, uint32_t events)
{
	struct cosy_descriptor *d = cosy_descriptor_find(&loop->fds, fd);
	uint32_t want;
	bool stale;

	if (!d || !d->added)
		return;
	want = cosy_descriptor_wanted(&loop->fds, d);
	stale = !want || events & ~(want | COSY_EVENTS_FAILED);
	poll_again(loop, d);
	if (events & (EPOLLIN | EPOLLPRI | COSY_EVENTS_FAILED))
		stale |= start_first(loop, d, COSY_LIST_IN, events);
	if (events & (EPOLLOUT | COSY_EVENTS_FAILED))
		stale |= start_first(loop, d, COSY_LIST_OUT, events);
	/* Disable it. Otherwise epoll would report it again and again. */
	if (stale && d->added)
		cosy_descriptor_disarm(&loop->fds, d, fd);
}
