/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.c - what the module executes beside the ring: compounds, calls that its threads make, reads
 * of files that wait for a disk, and batches of attempts.
 *
 * A loop has a second syscall page, which the module executes. The index of an entry is the index
 * of its slot. Entries that wait stay in the module, in state IN_MODULE. The loop's descriptor is in the
 * epoll set. It is readable when the loop should be entered again.
 *
 * The module completes an entry with COSY_ENTRY_USER if it may not make the call. Then the entry is
 * executed as without the module.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/cosy.h>

#include "device/descriptor.h"
#include "device/device.h"
#include "device/message.h"
#include "device/options.h"
#include "device/sys.h"
#include "loop.h"
#include "module.h"

/* After this number of compounds continued, a thread that does not wait returns. */
#define RESUMED_MAX		16384u

/* In nanoseconds: long enough for the thread that gives a compound back to run. */
#define GIVES_BACK_WITHIN	30000000000U

static uint64_t enter_by(int fd, uint64_t what)
{
	return (uint64_t)cosy_sys(SYS_lseek, fd, (long)(COSY_RUN_TAG | what),
				  COSY_RUN_WHENCE);
}

static uint64_t enter_module(const struct cosy_module *m, uint64_t what)
{
	uint64_t ret;

	/* A thread that slept in the module may be executing entries. */
	if (m->features & COSY_ASYNC_SLEEPS)
		return enter_by(m->fd, what | COSY_ASYNC_AWAIT);
	/* -EBUSY is short: only a thread that closes a copy of the descriptor can be inside. */
	while ((ret = enter_by(m->fd, what)) == (uint64_t)-EBUSY)
		cosy_sys(SYS_sched_yield, 0, 0, 0);
	return ret;
}

static void unmap_page(struct cosy_module *m)
{
	munmap(m->page.shared, m->page.size);
	m->page.shared = NULL;
}

static bool create_page(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;
	struct cosy_async_create create = {
		.size = sizeof(create),
		.nentries = loop->page.mask + 1,
	};
	int device = cosy_device_get();
	struct cosy_async_page *page;

	if (device < 0 ||
	    cosy_sys(SYS_ioctl, device, (long)COSY_IOC_ASYNC, (long)&create) < 0)
		return false;
	/* Use a high number, so that the program's calls get the same numbers as without it. */
	m->fd = cosy_descriptor_hide(create.fd);
	if (cosy_loop_own(loop, m->fd)) {
		cosy_sys(SYS_close, m->fd, 0, 0);
		m->fd = -1;
		return false;
	}
	page = mmap(NULL, create.page_size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (page == MAP_FAILED)
		return false;
	cosy_page_use(&m->page, page, create.page_size);
	/* Without the ring, sockets would wait in epoll. */
	if (!(page->features & COSY_ASYNC_RING))
		return false;
	m->features = page->features;
	return true;
}

/* Return true if a thread can sleep in the module for its entries and for epoll. */
static bool can_sleep(const struct cosy_loop *loop)
{
	/* Events that wake a thread in the module do not make epoll readable for other pollers. */
	return !loop->external && loop->module.features & COSY_ASYNC_SLEEPS;
}

int cosy_module_poll(const struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;
	struct epoll_event event = {
		.events = can_sleep(loop) ? 0 : EPOLLIN,
		.data.fd = m->fd,
	};

	if (m->fd < 0)
		return 0;
	/* Add it anew: changing the events would not report those that are pending. */
	cosy_sys6(SYS_epoll_ctl, loop->fds.epoll, EPOLL_CTL_DEL, m->fd, 0, 0, 0);
	return (int)cosy_sys6(SYS_epoll_ctl, loop->fds.epoll, EPOLL_CTL_ADD, m->fd,
			      (long)&event, 0, 0);
}

/* Give the module the map of used descriptors, or 0 if the map is incomplete. */
static void tell_used_descriptors(struct cosy_loop *loop)
{
	struct cosy_async_page *page = loop->module.page.shared;

	if (!page)
		return;
	page->nused = COSY_MAX_FD;
	page->used = loop->fds.all_used ? 0 : (uintptr_t)loop->fds.used;
}

static void open_module(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	m->tried = true;
	if (!loop->module.usable || !create_page(loop) ||
	    cosy_module_poll(loop)) {
		cosy_module_close(loop, true);
		loop->module.usable = false;
	} else {
		tell_used_descriptors(loop);
	}
}

void cosy_module_init(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	enum cosy_executor executor = cosy_options().executor;
	bool only = executor == COSY_EXECUTOR_KERNEL;

	m->fd = -1;
	cosy_queue_init(&m->reading);
	m->usable = (only || executor == COSY_EXECUTOR_AUTO) && cosy_device_available(only);
	if (only)
		open_module(loop);
}

bool cosy_module_has(struct cosy_loop *loop, uint64_t features)
{
	if (!loop->module.tried)
		open_module(loop);
	return loop->module.fd >= 0 && (loop->module.features & features) == features;
}

/*
 * Wait until the thread that sleeps in the module executes no compound. Compounds that it executes
 * later see all changes made before this call.
 */
static void sync_module(const struct cosy_loop *loop)
{
	/* Cancel an entry that does not exist: this waits until the other thread has left. */
	if (atomic_load(&loop->module.asleep) && loop->module.fd >= 0)
		enter_module(&loop->module, COSY_ASYNC_CANCEL | UINT32_MAX);
}

void cosy_module_use_fd(struct cosy_loop *loop, int fd)
{
	/* Compounds of functions do not run in the module once the program has made a share. */
	if (fd < 0 || cosy_is_of_share(fd))
		return;
	if (!cosy_descriptor(&loop->fds, fd))
		cosy_module_use_all(loop);
	else if (cosy_descriptor_use(&loop->fds, fd))
		sync_module(loop);
}

void cosy_module_use_all(struct cosy_loop *loop)
{
	if (loop->fds.all_used)
		return;
	loop->fds.all_used = true;
	tell_used_descriptors(loop);
	sync_module(loop);
}

void cosy_module_close(struct cosy_loop *loop, bool mapped)
{
	struct cosy_module *m = &loop->module;

	if (mapped && m->page.shared)
		unmap_page(m);
	cosy_loop_close_fd(loop, m->fd);
	m->fd = -1;
	m->features = 0;
}

/* Return the flags of an attempt's entry. */
static uint8_t attempt_flags(const struct cosy_loop *loop, uint32_t slot)
{
	const bool reads = loop->module.features & COSY_ASYNC_BUFFERED;

	return loop->slots.all[slot].buffered && reads ? COSY_ENTRY_BUFFERED : 0;
}

bool cosy_module_is_needed(const struct cosy_loop *loop,
			   const struct cosy_attempt *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (attempt_flags(loop, a[i].slot))
			return true;
	}
	return false;
}

static void put_entry(struct cosy_loop *loop, uint32_t slot, uint32_t nr,
		      uint8_t flags, const uint64_t args[6])
{
	struct cosy_module *m = &loop->module;
	struct cosy_async_entry *entry = &m->page.entries[slot];

	entry->status = COSY_ENTRY_SUBMITTED;
	entry->flags = flags;
	entry->colour = 0;
	entry->nr = nr;
	for (int i = 0; i < 6; i++)
		entry->args[i] = args[i];
	loop->slots.all[slot].state = COSY_SLOT_IN_MODULE;
	m->page.submitted[m->tail++ & loop->page.mask] = slot;
	/* A thread that waits only for epoll would not notice this entry. */
	if (!m->inside++)
		cosy_loop_wake(loop);
}

/*
 * Close the descriptor, so that no thread stays in the module. If the number is still the loop's
 * descriptor, the module gives compounds back then.
 */
static void leave_module(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	if (cosy_loop_owns(loop, m->fd)) {
		cosy_sys6(SYS_epoll_ctl, loop->fds.epoll, EPOLL_CTL_DEL, m->fd, 0, 0, 0);
		cosy_sys(SYS_close, m->fd, 0, 0);
	}
	m->fd = -1;
	m->features = 0;
	loop->module.usable = false;
	/* The close, here or by the program, wakes a thread that sleeps in the module. */
	if (atomic_load(&m->asleep))
		cosy_loop_write_wake_fd(loop);
	while (atomic_load(&m->asleep))
		cosy_pause();
}

static bool is_submitted(const struct cosy_loop *loop, uint32_t slot)
{
	return __atomic_load_n(&loop->module.page.entries[slot].status, __ATOMIC_ACQUIRE) ==
	       COSY_ENTRY_SUBMITTED;
}

void cosy_module_await(const struct cosy_loop *loop, uint32_t slot)
{
	uint64_t until = cosy_clock() + GIVES_BACK_WITHIN;

	while (is_submitted(loop, slot)) {
		if (cosy_clock() > until) {
			cosy_message("a COSY_ASYNC function is lost: the loop's"
				     " descriptor was closed by a process with"
				     " memory of its own", NULL);
			abort();
		}
		cosy_pause();
	}
}

/* Continue without the module. */
static void module_lost(struct cosy_loop *loop)
{
	if (loop->module.fd < 0)
		return;
	leave_module(loop);
	cosy_above.lost(loop);
}

/* Count the compounds that the module has continued. */
static void count_resumed(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;
	const uint32_t batches = m->page.shared->batches - m->batches;
	const uint32_t resumed = m->page.shared->resumed - m->resumed;

	if (!batches)
		return;
	m->batches += batches;
	m->resumed += resumed;
	if (loop->batches.used)
		cosy_loop_resumed(loop, batches, resumed);
}

/*
 * Check the result of an entry. Return false if the module cannot be used any more: the program has
 * closed the loop's descriptor, or has a seccomp filter that forbids it.
 */
static bool executed_page(struct cosy_loop *loop, uint64_t entered)
{
	loop->module.up_to_date = true;
	loop->info.entries++;
	count_resumed(loop);
	if (entered >> 32 == COSY_ASYNC_SECCOMP_BLOCKED >> 32)
		cosy_device_block();
	return entered >> 32 == COSY_ASYNC_ENTERED >> 32;
}

void cosy_module_lose(struct cosy_loop *loop, uint64_t ret)
{
	if (ret >> 32 == COSY_ASYNC_SECCOMP_BLOCKED >> 32)
		cosy_device_block();
	module_lost(loop);
}

/* Make submitted entries visible to the module. */
static void publish(struct cosy_module *m)
{
	__atomic_store_n(&m->page.shared->submit_tail, m->tail, __ATOMIC_RELEASE);
}

static bool execute_page(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	const uint32_t before = m->resumed;
	uint32_t last;
	unsigned int n = 0;

	/*
	 * Continue if the module has returned early, because there may be no other event. The limits end
	 * this for compounds that do not end. A signal can end each entry, so entries are limited only
	 * while they continue no compound.
	 */
	do {
		last = m->resumed;
		if (!executed_page(loop, enter_module(m, COSY_ASYNC_MAX_DONE)))
			return false;
	} while (m->page.shared->more && m->resumed - before < RESUMED_MAX &&
		 (++n < COSY_ASYNC_MAX_DONE || m->resumed != last));
	return true;
}

bool cosy_module_sleeps(const struct cosy_loop *loop)
{
	return loop->module.fd >= 0 &&
	       (loop->module.inside || cosy_ring_outstanding(loop)) &&
	       can_sleep(loop);
}

uint32_t cosy_module_sleep(struct cosy_loop *loop, uint64_t until)
{
	struct cosy_module *m = &loop->module;
	uint64_t now, entered;
	int fd = m->fd;

	m->page.shared->sleep_ns = COSY_ASYNC_FOR_EVER;
	if (until != UINT64_MAX) {
		now = cosy_clock();
		m->page.shared->sleep_ns = until > now ? until - now : 0;
	}
	m->page.shared->sleep_fd = loop->fds.epoll;
	publish(&loop->module);
	atomic_store(&m->asleep, true);
	cosy_loop_leave(loop);
	entered = enter_by(fd, COSY_ASYNC_SLEEP | COSY_ASYNC_AWAIT | COSY_ASYNC_MAX_DONE);
	atomic_store(&m->asleep, false);
	cosy_lock(&loop->lock);
	loop->ring.up_to_date = false;
	if (executed_page(loop, entered)) {
		/* If a signal has ended the entry early, a thread whose time is over enters again. */
		m->up_to_date = !m->page.shared->more;
		return (uint32_t)entered;
	}
	module_lost(loop);
	return 0;
}

void cosy_module_look(struct cosy_loop *loop)
{
	publish(&loop->module);
	if (!execute_page(loop))
		module_lost(loop);
}

void cosy_module_flush(struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;

	while (m->fd >= 0 && m->page.shared->submit_head != m->tail)
		cosy_module_look(loop);
}

uint32_t cosy_module_make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n)
{
	struct cosy_module *m = &loop->module;
	uint32_t left;

	for (uint32_t i = 0; i < n; i++)
		put_entry(loop, a[i].slot, (uint32_t)a[i].nr,
			  attempt_flags(loop, a[i].slot), a[i].args);
	publish(&loop->module);
	do {
		if (!execute_page(loop)) {
			leave_module(loop);
			left = m->tail - m->page.shared->submit_head;
			/* Earlier entries are not attempts. */
			if (left > n)
				left = n;
			for (uint32_t i = n - left; i < n; i++)
				loop->slots.all[a[i].slot].state = COSY_SLOT_ATTEMPT;
			cosy_above.lost(loop);
			return left;
		}
	} while (m->page.shared->submit_head != m->tail);
	return 0;
}

const struct cosy_async_entry *cosy_module_next(struct cosy_module *m, uint32_t mask,
						uint32_t *slot)
{
	if (!cosy_module_done(m))
		return NULL;
	*slot = m->page.done[m->head & mask];
	__atomic_store_n(&m->page.shared->done_head, ++m->head, __ATOMIC_RELEASE);
	return &m->page.entries[*slot];
}

bool cosy_module_cancel(struct cosy_loop *loop, uint32_t slot)
{
	if (enter_module(&loop->module, COSY_ASYNC_CANCEL | slot) == COSY_ASYNC_ENTERED) {
		if (loop->slots.all[slot].how != COSY_HOW_COMPOUND)
			loop->module.inside--;
		loop->module.up_to_date = false;
		return true;
	}
	/* A thread that slept in the module has completed it, and has not collected it yet. */
	if (!is_submitted(loop, slot))
		return false;
	if (loop->slots.all[slot].how != COSY_HOW_COMPOUND)
		loop->slots.all[slot].state = COSY_SLOT_ATTEMPT;
	module_lost(loop);
	return true;
}

bool cosy_module_compound(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	uint64_t args[6];

	loop->module.compounds++;
	if (!cosy_module_has(loop, COSY_MODULE_COMPOUNDS)) {
		/* The module was lost after it was submitted, or refuses a processor's loop. */
		loop->module.inside++;
		return false;
	}
	for (int i = 0; i < 6; i++)
		args[i] = entry->args[i];
	if (loop->slots.all[slot].cancelled)
		args[5] |= COSY_COMPOUND_CANCELLED;
	put_entry(loop, slot, entry->nr, 0, args);
	return true;
}

/* Make calls of compounds on a descriptor fail. @which: a command. Return their number. */
static int interrupt_fd(struct cosy_loop *loop, uint64_t which, uint32_t fd)
{
	uint64_t ret = enter_module(&loop->module, which | fd);

	loop->module.up_to_date = false;
	if (ret >> 32 == COSY_ASYNC_ENTERED >> 32)
		return (int)(uint32_t)ret;
	module_lost(loop);
	return 0;
}

/* The same for all descriptors of a range. */
static int interrupt_fds(struct cosy_loop *loop, uint64_t which, uint32_t first, uint32_t last)
{
	const struct cosy_module *m = &loop->module;
	int interrupted = 0;

	if (first > last || !m->compounds || m->fd < 0)
		return 0;
	if (first == last)
		return interrupt_fd(loop, which, first);
	for (uint32_t slot = 0; m->fd >= 0 && slot < loop->slots.fresh; slot++) {
		uint64_t fd = m->page.entries[slot].args[2];

		if (loop->slots.all[slot].how == COSY_HOW_COMPOUND &&
		    loop->slots.all[slot].state == COSY_SLOT_IN_MODULE && fd >= first &&
		    fd <= last)
			interrupted += interrupt_fd(loop, which, (uint32_t)fd);
	}
	return interrupted;
}

int cosy_module_interrupt(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	return interrupt_fds(loop, COSY_ASYNC_CANCEL_FD, first, last);
}

void cosy_module_interrupt_stale(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	interrupt_fds(loop, COSY_ASYNC_CANCEL_FD | COSY_ASYNC_CANCEL, first, last);
}

void cosy_module_lend(struct cosy_loop *loop, uint32_t slot, uint8_t flags,
		      const uint64_t args[6])
{
	put_entry(loop, slot, loop->page.entries[slot].nr, COSY_ENTRY_THREAD | flags, args);
}

bool cosy_module_is_running(const struct cosy_loop *loop, uint32_t slot)
{
	return !is_submitted(loop, slot);
}

int cosy_module_cancel_lent(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_module *m = &loop->module;
	uint64_t ret;

	/* A lost module gives the entry back by itself. */
	if (m->fd < 0)
		return -EALREADY;
	ret = enter_module(m, COSY_ASYNC_CANCEL | slot);
	if (ret == COSY_ASYNC_ENTERED) {
		m->inside--;
		return 0;
	}
	if (ret == (uint64_t)-ENOENT)
		return -ENOENT;
	if (ret != (uint64_t)-EALREADY)
		module_lost(loop);
	return -EALREADY;
}

/* Threads cannot wait in the module any more. Lent entries come back. */
static void worker_lost(struct cosy_loop *loop, uint64_t left)
{
	if (left >> 32 == COSY_ASYNC_SECCOMP_BLOCKED >> 32)
		cosy_device_block();
	if (left == (uint64_t)-ESHUTDOWN)
		loop->module.features &= ~COSY_ASYNC_THREADS;
	else
		module_lost(loop);
	/* Wake the threads that wait for the loop, to collect them. */
	cosy_loop_tell(loop);
}

uint32_t cosy_module_work(struct cosy_loop *loop, bool waits)
{
	struct cosy_module *m = &loop->module;
	uint64_t what = COSY_ASYNC_WORK | m->page.shared->id, left;
	int fd = m->fd;

	if (waits)
		what |= COSY_WORK_LONG;
	cosy_loop_leave(loop);
	left = enter_by(fd, what);
	cosy_lock(&loop->lock);
	if (left >> 32 != COSY_ASYNC_ENTERED >> 32)
		worker_lost(loop, left);
	/* Negative numbers are errors, which also have this bit. */
	return (int64_t)left >= 0 && left & COSY_WORK_TAKEN ?
		       (uint32_t)left & ~COSY_WORK_TAKEN : COSY_NO_SLOT;
}

bool cosy_module_take(struct cosy_loop *loop, uint32_t slot, int64_t *result)
{
	struct cosy_module *m = &loop->module;

	m->inside--;
	*result = (int64_t)m->page.entries[slot].args[0];
	return m->page.entries[slot].status == COSY_ENTRY_DONE;
}

void cosy_module_recall(struct cosy_loop *loop, bool waits, bool recall)
{
	struct cosy_module *m = &loop->module;
	uint32_t bit = waits ? COSY_RECALL_LONG : COSY_RECALL;

	if (!m->page.shared || recall == !!(m->page.shared->recall & bit))
		return;
	__atomic_store_n(&m->page.shared->recall, m->page.shared->recall ^ bit, __ATOMIC_RELEASE);
	/* Threads that wait in the module have to leave. If this fails, do without the module. */
	if (recall && m->fd >= 0 &&
	    enter_by(m->fd, COSY_ASYNC_WORK | COSY_ASYNC_CANCEL) != COSY_ASYNC_ENTERED)
		module_lost(loop);
}
