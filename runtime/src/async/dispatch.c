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
#include "complete.h"
#include "cpu.h"
#include "dispatch.h"
#include "loop.h"
#include "start.h"

/* Make @n attempts, each by a system call. */
static void in_user_mode(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n)
{
	loop->info.entries += n;
	for (uint32_t i = 0; i < n; i++) {
		if (loop->slots.all[a[i].slot].buffered) {
			cosy_read_by_thread(loop, a[i].slot);
			continue;
		}
		a[i].result = cosy_call_anywhere((long)a[i].nr, a[i].args);
		cosy_attempted(loop, &a[i]);
	}
}

/* Return true if an attempt is made in a share. */
static bool names_share(const struct cosy_attempt *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (cosy_names_share((long)a[i].nr, a[i].args))
			return true;
	}
	return false;
}

/* Return true if the module has to make the attempts, or makes them with less work. */
static bool module_makes(struct cosy_loop *loop, const struct cosy_attempt *a, uint32_t n)
{
	/* The module makes them in the process's table. */
	if (cosy_has_shares() && names_share(a, n))
		return false;
	if (n < COSY_MIN_BATCH)
		return cosy_module_is_needed(loop, a, n);
	return cosy_module_has(loop, 0);
}

static void make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n)
{
	uint32_t left = n;

	loop->info.attempts += n;
	if (module_makes(loop, a, n))
		left = cosy_module_make(loop, a, n);
	if (left)
		in_user_mode(loop, a + n - left, left);
}

/*
 * The module has completed an entry of kind COMPOUND: continue its task, which reads the entry in
 * the page of its own loop.
 */
static void compound_done(struct cosy_loop *loop, uint32_t slot,
			  const struct cosy_async_entry *entry)
{
	struct cosy_async_entry *own = loop->cpu ? cosy_cpu_entry(loop->cpu, slot) :
						   &loop->module.page.entries[slot];

	own->status = entry->status;
	/* Where it was left, and how a user function has failed. */
	for (int i = 1; i <= 4; i++)
		own->args[i] = entry->args[i];
	loop->module.compounds--;
	loop->module.inside--;
	cosy_complete(loop, slot, (int64_t)entry->args[0]);
}

void cosy_compound_refused(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry refused = {
		.status = COSY_ENTRY_FREE,
		.args = { (uint64_t)-ENODEV },
	};

	compound_done(loop, slot, &refused);
}

/* Continue an entry that was lent to the module and has come back. */
static void lent_back(struct cosy_loop *loop, uint32_t slot, bool made, int64_t result)
{
	loop->module.inside--;
	/* Its descriptor was closed meanwhile: no thread makes the call. */
	if (!made && loop->slots.all[slot].cancelled) {
		made = true;
		result = -ECANCELED;
	}
	cosy_thread_returned(loop, slot, made);
	if (made)
		cosy_thread_made(loop, slot, result);
}

/* Take completions from the module, until @max attempts have resulted from them. */
static COSY_NOINLINE void collect(struct cosy_loop *loop, uint32_t max)
{
	struct cosy_module *m = &loop->module;
	const struct cosy_async_entry *entry;
	uint32_t slot;

	/*
	 * Another thread may wait in epoll for what completes here. After this thread has
	 * collected it, the module's descriptor is not readable, so wake that thread.
	 */
	if (loop->blocked && cosy_module_done(m))
		cosy_loop_wake(loop);
	while (loop->attempts.count < max &&
	       (entry = cosy_module_next(m, loop->page.mask, &slot))) {
		struct cosy_slot *s = &loop->slots.all[slot];
		struct cosy_attempt a;

		a.nr = entry->nr;
		a.result = (int64_t)entry->args[0];
		a.slot = slot;
		if (s->how == COSY_HOW_COMPOUND) {
			compound_done(loop, slot, entry);
			continue;
		}
		if (s->lent) {
			lent_back(loop, slot, entry->status == COSY_ENTRY_DONE, a.result);
			continue;
		}
		m->inside--;
		s->state = COSY_SLOT_ATTEMPT;
		if (entry->status == COSY_ENTRY_USER) {
			for (int i = 0; i < 6; i++)
				a.args[i] = entry->args[i];
			in_user_mode(loop, &a, 1);
		} else {
			cosy_attempted(loop, &a);
		}
	}
}

void cosy_attempts_make(struct cosy_loop *loop)
{
	while (cosy_attempts_pending(loop)) {
		uint32_t n;
		struct cosy_attempt *made = cosy_attempts_take(&loop->attempts, &n);

		if (n)
			make(loop, made, n);
		/*
		 * Let the module execute earlier entries: compounds may close descriptors that the caller's
		 * next call uses.
		 */
		if (cosy_module_submitted(&loop->module))
			cosy_module_flush(loop);
		if (loop->module.page.shared)
			collect(loop, COSY_ATTEMPTS);
	}
}

void cosy_dispatch_settle(struct cosy_loop *loop)
{
	cosy_module_flush(loop);
	if (!loop->module.page.shared || !cosy_attempts_pending(loop))
		return;
	cosy_attempts_make(loop);
	cosy_loop_tell(loop);
}

void cosy_dispatch_module(struct cosy_loop *loop)
{
	cosy_module_look(loop);
	cosy_attempts_make(loop);
}

void cosy_dispatch_lost(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	/*
	 * Entries that the module has not taken have not begun; a compound's state is in its
	 * frame.
	 */
	for (uint32_t i = m->page.shared->submit_head; i != m->tail; i++) {
		uint32_t slot = m->page.submitted[i & loop->page.mask];

		if (loop->slots.all[slot].how == COSY_HOW_COMPOUND)
			cosy_compound_refused(loop, slot);
		else if (loop->slots.all[slot].lent)
			lent_back(loop, slot, false, 0);
	}
	for (uint32_t slot = 0; slot < loop->slots.fresh; slot++) {
		if (loop->slots.all[slot].state != COSY_SLOT_IN_MODULE ||
		    cosy_module_is_running(loop, slot))
			continue;
		/* The module gives it back, or a thread returns with it. */
		if (loop->slots.all[slot].lent)
			continue;
		if (loop->slots.all[slot].how == COSY_HOW_COMPOUND)
			cosy_module_await(loop, slot);
		else
			cosy_read_by_thread(loop, slot);
	}
	cosy_ring_lost(loop);
}

void cosy_timers_expire(struct cosy_loop *loop)
{
	uint64_t now;
	uint32_t slot;

	if (!loop->timers.count)
		return;
	now = cosy_clock();
	while ((slot = cosy_timers_take(&loop->timers, now)) != COSY_NO_SLOT) {
		const enum cosy_how how = (enum cosy_how)loop->slots.all[slot].how;

		if (how != COSY_HOW_SLEEP) {
			cosy_attempts_flush(loop);
			/* The program may have changed O_NONBLOCK since the last attempt. */
			cosy_start_again(loop, slot);
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

		next = loop->slots.all[slot].next;
		if (!ready)
			continue;
		/* epoll had refused the descriptor when this one began to wait: see cosy_start_again(). */
		if (loop->slots.all[slot].state == COSY_SLOT_SLEEPING)
			cosy_timer_remove(&loop->timers, slot);
		cosy_end(loop, slot, ready);
	}
}

/* Begin with the first entry of a list; return true if a thread has it now. */
static bool start_first(struct cosy_loop *loop, struct cosy_descriptor *d,
			enum cosy_list list, uint32_t events)
{
	uint32_t slot = d->head[list];

	if (!cosy_slot_waits(loop->slots.all, slot))
		return false;
	cosy_start_ready(loop, slot, events);
	return loop->slots.all[slot].state == COSY_SLOT_QUEUED || loop->slots.all[slot].lent;
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
