/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.c - shares whose descriptors are used by operations and functions of loops.
 *
 * An operation names a descriptor, and no share. So a call finds its share by the number that the
 * descriptors of the share have. It holds the share, because another thread may destroy that meanwhile.
 * The number is free again after the last call.
 */
#include <errno.h>

#include "async/cancel.h"
#include "async/calls.h"
#include "async/loop.h"
#include "async/share.h"
#include "async/submit.h"
#include "async/tsan.h"
#include "device/export.h"
#include "device/sys.h"
#include "share/share.h"

_Static_assert(COSY_OF_SHARE == COSY_SHARE_FD && COSY_OF_SHARE_SHIFT == COSY_SHARE_ID_SHIFT &&
	       COSY_SHARES_MAX == COSY_SHARE_ID_MASK + 1, "async/share.h has the same numbers");

/* The share is being destroyed: no call begins. */
#define ENDS	(1u << 31)

/**
 * struct listed - the share with a number, on a line of its own
 * @users: 0: there is none; otherwise 1, and the number of calls that hold it; and ENDS
 * @share: the share
 */
static struct listed {
	uint32_t users;
	struct cosy_share *share;
} __attribute__((aligned(64))) all_listed[COSY_SHARES_MAX];

static struct listed *listed_by(uint32_t fd)
{
	return &all_listed[fd >> COSY_SHARE_ID_SHIFT & COSY_SHARE_ID_MASK];
}

/* Hold the share of a descriptor. Return NULL if there is none. */
static struct cosy_share *hold(uint32_t fd)
{
	struct listed *l = listed_by(fd);
	uint32_t users = __atomic_load_n(&l->users, __ATOMIC_RELAXED);

	do {
		if (!users || users & ENDS)
			return NULL;
	} while (!__atomic_compare_exchange_n(&l->users, &users, users + 1, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	/* ThreadSanitizer sees no other order between callbacks that have used the share and this thread. */
	tsan_acquire(l);
	return l->share;
}

/* The last one frees the share. */
static void release(struct cosy_share *share)
{
	struct listed *l = &all_listed[share->id];

	tsan_release(l);
	if (__atomic_sub_fetch(&l->users, 1, __ATOMIC_ACQ_REL) != ENDS)
		return;
	tsan_acquire(l);
	share_free(share);
	__atomic_store_n(&l->users, 0, __ATOMIC_RELEASE);
}

static long call_in_number(uint32_t number, long nr, const uint64_t args[6])
{
	struct cosy_share *share = hold(cosy_share_first(number));
	long ret = -EBADF;

	if (!share)
		return ret;
	ret = cosy_share_syscall(share, nr, args);
	release(share);
	return ret;
}

static long call_in_loop(long nr, const uint64_t args[6])
{
	return call_in_number(cosy_share_of((uint32_t)args[0]), nr, args);
}

static long lend(int fd, long (*use)(int copy, void *arg), void *arg)
{
	struct cosy_share *share = hold((uint32_t)fd);
	long ret = -EBADF;

	if (!share)
		return ret;
	ret = share->fd >= 0 ? share_lend_in_module(share, fd, use, arg) :
			       share_lend_here(share, fd, use, arg);
	release(share);
	return ret;
}

static const struct cosy_share_calls calls_of_loops = {
	.call = call_in_loop,
	.call_in = call_in_number,
	.lend = lend,
};

bool share_list(struct cosy_share *share)
{
	struct listed *l = &all_listed[share->id];
	uint32_t none = 0;

	__atomic_store_n(&cosy_share_calls, &calls_of_loops, __ATOMIC_RELEASE);
	/* With ENDS no call finds it yet. */
	if (!__atomic_compare_exchange_n(&l->users, &none, 1 | ENDS, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	l->share = share;
	tsan_release(l);
	__atomic_store_n(&l->users, 1, __ATOMIC_RELEASE);
	return true;
}

/* Cancel what waits in a loop for descriptors of a share. */
static void cancel_in(struct cosy_loop *loop, void *arg)
{
	const struct cosy_share *share = arg;

	if (cosy_loop_enter(loop))
		return;
	cosy_fds_cancel_all(loop, cosy_share_first(share->id), cosy_share_last(share->id));
	cosy_loop_leave(loop);
}

void share_unlist(struct cosy_share *share)
{
	struct listed *l = &all_listed[share->id];

	/* This also removes the descriptors from epolls, by calls that have to find the share: before ENDS. */
	cosy_loops_each(cancel_in, share);
	__atomic_fetch_or(&l->users, ENDS, __ATOMIC_RELAXED);
	/* Cancel what has begun before ENDS was set. */
	cosy_loops_each(cancel_in, share);
	share_end(share, __atomic_load_n(&l->users, __ATOMIC_ACQUIRE) != (1 | ENDS));
	release(share);
}

void share_unlist_in_child(const struct cosy_share *share)
{
	__atomic_store_n(&all_listed[share->id].users, 0, __ATOMIC_RELEASE);
}

static void cancel_fd_in(struct cosy_loop *loop, void *arg)
{
	const int *fd = arg;

	cosy_cancel_fd(loop, *fd);
}

void share_forget(int fd)
{
	cosy_loops_each(cancel_fd_in, &fd);
}

/* Submit a call that does not wait for a descriptor. */
static int submit(struct cosy_share *share, struct cosy_loop *loop, struct cosy_async *op, long nr,
		  const uint64_t args[6])
{
	uint32_t slot;
	int err = cosy_loop_enter(loop);

	if (err)
		return err;
	err = cosy_page_check(loop, op, 1);
	if (!err) {
		slot = cosy_page_take(loop, op, COSY_HOW_IN_SHARE, nr, args);
		loop->slots.all[slot].share = share->id;
		cosy_page_publish(loop, slot);
		cosy_loop_wake(loop);
	}
	cosy_loop_leave(loop);
	return err;
}

COSY_EXPORT int cosy_share_async(struct cosy_share *share, struct cosy_loop *loop,
				 struct cosy_async *op, long nr, const uint64_t args[6])
{
	const enum cosy_how how = cosy_how(nr);
	bool waits = (how >= COSY_HOW_READ && how <= COSY_HOW_CONNECT) || how == COSY_HOW_CLOSE;

	if (!share_makes(nr, args))
		return -EINVAL;
	if (!waits)
		return submit(share, loop, op, nr, args);
	if (share_number(share, (int)args[0]) < 0)
		return -EBADF;
	return cosy_async_call(loop, op, nr, (uint32_t)args[0], args[1], args[2], args[3], args[4],
			       args[5]);
}
