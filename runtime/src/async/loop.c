/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.c - the lock of a loop, its descriptors, and how threads that wait for it are woken.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "device/descriptor.h"
#include "device/export.h"
#include "device/sys.h"
#include "loop.h"

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

/* A counter that is full is readable, too. */
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
