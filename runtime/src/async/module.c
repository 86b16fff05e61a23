/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.c - attempts that the module makes, and goes on with when they would block.
 *
 * A loop has a second syscall page, which the module executes. The index of an entry
 * is its slot's. Attempts are submitted there, and the loop is entered; those that
 * wait for a socket stay in the module, in state PARKED. The loop's descriptor is in
 * epoll's set, and is readable when the loop should be entered again.
 *
 * What the module cannot do is done as without it: it completes an entry with -EAGAIN
 * where it cannot wait, and with COSY_ENTRY_USER where it may not make the call.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/cosy.h>

#include "../device.h"
#include "../options.h"
#include "../sys.h"
#include "loop.h"

static uint64_t enter_module(const struct cosy_module *m, uint64_t what)
{
	return (uint64_t)cosy_sys(SYS_lseek, m->fd, (long)(COSY_RUN_TAG | what),
				  COSY_RUN_WHENCE);
}

static void unmap_page(struct cosy_module *m)
{
	munmap(m->page, m->page_size);
	m->page = NULL;
}

static bool create_page(struct cosy_module *m, uint32_t entries)
{
	struct cosy_async_create create = {
		.size = sizeof(create),
		.nentries = entries,
	};
	int device = cosy_device_get();

	if (device < 0 ||
	    cosy_sys(SYS_ioctl, device, (long)COSY_IOC_ASYNC, (long)&create) < 0)
		return false;
	m->fd = create.fd;
	m->page_size = create.page_size;
	m->page = mmap(NULL, m->page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       m->fd, 0);
	if (m->page == MAP_FAILED) {
		m->page = NULL;
		return false;
	}
	if (!(m->page->features & COSY_ASYNC_WAITS))
		return false;
	m->entries = (void *)((char *)m->page + m->page->entries);
	m->submitted = (void *)((char *)m->page + m->page->submitted);
	m->done = (void *)((char *)m->page + m->page->done);
	return true;
}

void cosy_module_init(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;
	struct epoll_event event = { .events = EPOLLIN };

	m->fd = -1;
	/* It costs more than it saves yet (docs/async.md): only where it is asked for. */
	if (cosy_options().executor == COSY_EXECUTOR_KERNEL && loop->kernel &&
	    create_page(m, loop->mask + 1)) {
		event.data.fd = m->fd;
		if (!cosy_sys6(SYS_epoll_ctl, loop->epoll, EPOLL_CTL_ADD, m->fd,
			       (long)&event, 0, 0))
			return;
	}
	cosy_module_close(loop, true);
}

void cosy_module_close(struct cosy_loop *loop, bool mapped)
{
	struct cosy_module *m = &loop->module;

	if (mapped && m->page)
		unmap_page(m);
	if (m->fd >= 0)
		cosy_sys(SYS_close, m->fd, 0, 0);
	m->fd = -1;
}

/* Can the module wait for the descriptor of an attempt? It says so itself if not. */
static uint8_t wait_flags(const struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_slot *s = &loop->slots[slot];
	const struct cosy_descriptor *d;

	if ((s->list != COSY_LIST_IN && s->list != COSY_LIST_OUT) || s->polled ||
	    s->how == COSY_HOW_CONNECT || s->how == COSY_HOW_SIGNAL)
		return 0;
	d = cosy_descriptor_find(loop, s->fd);
	if (d->kind != COSY_KIND_SOCKET ||
	    (s->how == COSY_HOW_ACCEPT && !d->nonblock))
		return 0;
	return s->list == COSY_LIST_IN ? COSY_ENTRY_WAIT_IN : COSY_ENTRY_WAIT_OUT;
}

bool cosy_module_waits(const struct cosy_loop *loop,
		       const struct cosy_attempt *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (wait_flags(loop, a[i].slot))
			return true;
	}
	return false;
}

static void put_attempt(struct cosy_loop *loop, const struct cosy_attempt *a)
{
	struct cosy_module *m = &loop->module;
	struct cosy_async_entry *entry = &m->entries[a->slot];

	entry->status = COSY_ENTRY_SUBMITTED;
	entry->flags = wait_flags(loop, a->slot);
	entry->colour = 0;
	entry->nr = (uint32_t)a->nr;
	for (int i = 0; i < 6; i++)
		entry->args[i] = a->args[i];
	loop->slots[a->slot].state = COSY_SLOT_PARKED;
	m->submitted[m->tail++ & loop->mask] = a->slot;
	m->inside++;
}

/*
 * The module can be used no longer: what waits there waits for epoll from now on. The
 * page stays, results may be in it.
 */
static void module_lost(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	m->fd = -1;
	loop->kernel = false;
	for (uint32_t slot = 0; slot < loop->fresh; slot++) {
		if (loop->slots[slot].state == COSY_SLOT_PARKED &&
		    m->entries[slot].status == COSY_ENTRY_SUBMITTED)
			cosy_start_waiting(loop, slot);
	}
}

/*
 * Enter once. Return false if it cannot be entered any more: the program has closed the
 * loop's descriptor, or has got a seccomp filter that forbids it.
 */
static bool execute_page(struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;
	uint64_t entered = enter_module(m, COSY_ASYNC_MAX_DONE);

	loop->module.looked = true;
	loop->info.entries++;
	if (entered >> 32 == COSY_ASYNC_BARRED >> 32) {
		cosy_device_bar();
		cosy_sys(SYS_close, m->fd, 0, 0);
	}
	return entered >> 32 == COSY_ASYNC_ENTERED >> 32;
}

void cosy_module_make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n)
{
	struct cosy_module *m = &loop->module;
	uint32_t left;

	for (uint32_t i = 0; i < n; i++)
		put_attempt(loop, &a[i]);
	__atomic_store_n(&m->page->submit_tail, m->tail, __ATOMIC_RELEASE);
	do {
		if (!execute_page(loop)) {
			left = m->tail - m->page->submit_head;
			for (uint32_t i = n - left; i < n; i++)
				loop->slots[a[i].slot].state = COSY_SLOT_ATTEMPT;
			module_lost(loop);
			cosy_attempts_in_user_mode(loop, a + n - left, left);
			return;
		}
	} while (m->page->submit_head != m->tail);
}

void cosy_module_collect(struct cosy_loop *loop, uint32_t max_attempts)
{
	struct cosy_module *m = &loop->module;

	/*
	 * A thread that waits for epoll is not told of what completes here, which may be
	 * what it waits for: epoll finds the module's loop idle again.
	 */
	if (loop->blocked && cosy_module_done(loop))
		cosy_loop_wake(loop);
	while (loop->nbatch < max_attempts && cosy_module_done(loop)) {
		uint32_t slot = m->done[m->head & loop->mask];
		const struct cosy_async_entry *entry = &m->entries[slot];
		struct cosy_attempt a = {
			.nr = entry->nr,
			.result = (int64_t)entry->args[0],
			.slot = slot,
		};

		__atomic_store_n(&m->page->done_head, ++m->head, __ATOMIC_RELEASE);
		m->inside--;
		loop->slots[slot].state = COSY_SLOT_ATTEMPT;
		if (entry->status == COSY_ENTRY_USER) {
			for (int i = 0; i < 6; i++)
				a.args[i] = entry->args[i];
			cosy_attempts_in_user_mode(loop, &a, 1);
		} else {
			cosy_attempted(loop, &a);
		}
	}
}

void cosy_module_look(struct cosy_loop *loop)
{
	if (!execute_page(loop))
		module_lost(loop);
	cosy_attempts_make(loop);
}

void cosy_module_cancel(struct cosy_loop *loop, uint32_t slot)
{
	if (enter_module(&loop->module, COSY_ASYNC_CANCEL | slot) == COSY_ASYNC_ENTERED) {
		loop->module.inside--;
		return;
	}
	/* It cannot have completed: all that has is collected before the lock is given back. */
	loop->slots[slot].state = COSY_SLOT_ATTEMPT;
	module_lost(loop);
}
