/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.c - the lock of a loop, its descriptors, and how threads that wait for it are woken; the list of
 * loops that use shares.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "device/descriptor.h"
#include "device/export.h"
#include "device/sys.h"
#include "loop.h"

/**
 * struct sharing - the loops whose operations have used shares
 * @lock:  protects the list, and is taken after all other locks
 * @first: the first loop
 *
 * It is in memory that a child finds cleared: the child cannot use these loops.
 */
struct sharing {
	struct cosy_lock lock;
	struct cosy_loop *first;
};

static struct sharing *sharing;

/* Return the list, or NULL without memory. */
static struct sharing *get_sharing(void)
{
	struct sharing *list = __atomic_load_n(&sharing, __ATOMIC_ACQUIRE), *made;

	if (list)
		return list;
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	if (!madvise(made, sizeof(*made), MADV_WIPEONFORK) &&
	    __atomic_compare_exchange_n(&sharing, &list, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	munmap(made, sizeof(*made));
	return list;
}

int cosy_loop_uses_share(struct cosy_loop *loop)
{
	struct cosy_sharing *own = &loop->sharing;
	struct sharing *list;

	if (own->previous)
		return 0;
	list = get_sharing();
	if (!list)
		return -ENOMEM;
	cosy_lock(&list->lock);
	own->next = list->first;
	own->previous = &list->first;
	if (own->next)
		own->next->sharing.previous = &own->next;
	list->first = loop;
	cosy_unlock(&list->lock);
	return 0;
}

void cosy_loop_uses_no_share(struct cosy_loop *loop)
{
	struct cosy_sharing *own = &loop->sharing;
	struct sharing *list = own->previous ? get_sharing() : NULL;

	if (!list)
		return;
	cosy_lock(&list->lock);
	while (own->pins) {
		cosy_unlock(&list->lock);
		cosy_pause();
		cosy_lock(&list->lock);
	}
	*own->previous = own->next;
	if (own->next)
		own->next->sharing.previous = own->previous;
	cosy_unlock(&list->lock);
}

void cosy_loops_each(void (*use)(struct cosy_loop *loop, void *arg), void *arg)
{
	struct sharing *list = get_sharing();
	struct cosy_loop *loop, *next;

	if (!list)
		return;
	cosy_lock(&list->lock);
	for (loop = list->first; loop; loop = next) {
		/* While it is pinned, it stays in the list. */
		loop->sharing.pins++;
		cosy_unlock(&list->lock);
		use(loop, arg);
		cosy_lock(&list->lock);
		loop->sharing.pins--;
		next = loop->sharing.next;
	}
	cosy_unlock(&list->lock);
}

int cosy_loop_enter(struct cosy_loop *loop)
{
	if (!*loop->owner)
		return -EPERM;
	cosy_lock(&loop->lock);
	if (COSY_UNLIKELY(loop->biased))
		cosy_ring_take(loop);
	return 0;
}

bool cosy_loop_owns(const struct cosy_loop *loop, int fd)
{
	return fd >= 0 && (!loop->mark || cosy_descriptor_is_marked(fd, loop->mark));
}

int cosy_loop_own(const struct cosy_loop *loop, int fd)
{
	return loop->mark ? cosy_descriptor_mark(fd, loop->mark) : 0;
}

/* Wake a thread that waits for epoll. If the counter is full the write fails, but then it is readable. */
void cosy_loop_alert(const struct cosy_loop *loop)
{
	const uint64_t one = 1;

	if (cosy_loop_owns(loop, loop->wake_fd))
		cosy_sys(SYS_write, loop->wake_fd, (long)&one, sizeof(one));
}

void cosy_loop_write_wake_fd(struct cosy_loop *loop)
{
	loop->woken = true;
	cosy_loop_alert(loop);
}

COSY_EXPORT void cosy_loop_stop(struct cosy_loop *loop)
{
	unsigned int stops = atomic_load(&loop->stops);

	if (!*loop->owner)
		return;
	while (!atomic_compare_exchange_weak(&loop->stops, &stops, (stops + 2) | COSY_STOPPING))
		;
	cosy_loop_alert(loop);
	if (loop->has_ring)
		cosy_ring_wake(loop);
}

void cosy_loop_close_fd(const struct cosy_loop *loop, int fd)
{
	if (cosy_loop_owns(loop, fd))
		cosy_sys(SYS_close, fd, 0, 0);
}
