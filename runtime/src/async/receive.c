// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * receive.c - receives that take a buffer when there is something to receive.
 *
 * In the ring they are COSY_RING_RECEIVE (linux/cosy_ring.h), and the module takes the buffers. In the
 * loop's page they wait by receiving one byte with MSG_PEEK. Then a thread takes a buffer, and receives.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "device/export.h"
#include "device/sys.h"
#include "complete.h"
#include "connection.h"
#include "loop.h"
#include "receive.h"
#include "ring-submit.h"
#include "start.h"
#include "submit.h"

_Static_assert(offsetof(struct cosy_receive, op) == 0, "an operation is the receive");

COSY_EXPORT int cosy_loop_buffers(struct cosy_loop *loop, void *memory, size_t size, unsigned int count)
{
	struct cosy_buffers *b = &loop->ring.buffers;
	int err;

	if (!memory || !size || size > INT_MAX || !count || count > loop->page.mask + 1)
		return -EINVAL;
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	/* A thread that waits already could take buffers, too. */
	err = b->thread || loop->inside ? -EBUSY : cosy_buffers_create(b, memory, size, count);
	if (!err && loop->ring.page)
		cosy_buffers_share(b, loop->ring.page);
	cosy_loop_leave(loop);
	return err;
}

COSY_EXPORT int cosy_buffer_return(struct cosy_loop *loop, void *buffer)
{
	int ret;

	/* A thread that closes a descriptor may be executing in this loop, and take a buffer. */
	if (loop->has_ring && cosy_submit_begin(loop->ring.submit)) {
		ret = cosy_buffer_give_back(&loop->ring.buffers, buffer);
		cosy_submit_end(loop->ring.submit);
		return ret;
	}
	ret = cosy_loop_enter(loop);
	if (ret)
		return ret;
	ret = cosy_buffer_give_back(&loop->ring.buffers, buffer);
	cosy_loop_leave(loop);
	return ret;
}

/* Take a slot for the wait of a receive. */
static uint32_t take_slot(struct cosy_loop *loop, struct cosy_async *op, uint64_t fd)
{
	struct cosy_receive *receive = (struct cosy_receive *)op;
	/* The byte is received into the member that will have the address of the buffer. */
	const uint64_t args[6] = { fd, (uintptr_t)&receive->buffer, 1, MSG_PEEK };
	uint32_t slot = cosy_page_take(loop, op, COSY_HOW_RECEIVE, SYS_recvfrom, args);

	loop->slots.all[slot].receive = COSY_INTO_BUFFER;
	return slot;
}

void cosy_receive_again(struct cosy_loop *loop, struct cosy_async *op, uint64_t fd, bool waited)
{
	uint32_t slot = take_slot(loop, op, fd);

	loop->info.submitted++;
	if (waited)
		cosy_start_waited(loop, slot);
	else
		cosy_start(loop, slot);
}

/* Receive without blocking. Return the result. */
static int64_t receive_now(struct cosy_loop *loop, struct cosy_receive *receive, uint64_t fd)
{
	struct cosy_buffers *b = &loop->ring.buffers;
	int64_t result;
	uint32_t number;

	if (!cosy_buffer_take(b, &number))
		return -ENOBUFS;
	loop->info.attempts++;
	loop->info.entries++;
	result = cosy_fd_call(SYS_recvfrom, (int)fd, (long)cosy_buffer_address(b, number),
			      (long)b->size, MSG_DONTWAIT, 0, 0);
	if (result > 0)
		receive->buffer = cosy_buffer_lend(b, number);
	else
		cosy_buffer_untake(b, number);
	return result;
}

/* The same after a peek. @peeked: its result. */
static int64_t receive_peeked(struct cosy_loop *loop, struct cosy_receive *receive, uint64_t fd,
			      int64_t peeked)
{
	int64_t result;

	if (loop->closing)
		return -ECANCELED;
	result = receive_now(loop, receive, fd);
	/* Without this, a thread would peek again and again. */
	if (result == -EAGAIN && !peeked && cosy_connection_is_over((int)fd))
		return 0;
	return result;
}

void cosy_receive_ready(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	const struct cosy_async_entry *entry = &loop->page.entries[slot];
	struct cosy_receive *receive = (struct cosy_receive *)(uintptr_t)entry->user_data;
	const uint64_t fd = entry->args[0];

	receive->buffer = NULL;
	if (result >= 0)
		result = receive_peeked(loop, receive, fd, result);
	/* It is counted when it completes. */
	loop->info.completed--;
	if (result != -EAGAIN) {
		loop->slots.all[slot].receive = COSY_NO_SLOT;
		cosy_complete(loop, slot, result);
		return;
	}
	/* Another reader was faster. */
	loop->info.submitted--;
	cosy_page_release(loop, slot);
	cosy_page_publish(loop, take_slot(loop, &receive->op, fd));
	cosy_loop_wake(loop);
}

/* Return true if the ring takes a receive of a descriptor. */
static bool ring_receives(uint64_t fd)
{
	return (uint32_t)fd < COSY_SUBMIT_MAX_FD;
}

/* Submit a receive with the lock taken. Return 0 or -errno. */
static int receive_locked(struct cosy_loop *loop, struct cosy_receive *receive, uint32_t fd)
{
	struct cosy_async *op = &receive->op;
	int err = cosy_page_check(loop, op, 1);

	if (err)
		return err;
	receive->buffer = NULL;
	if (cosy_ring_is_usable(loop) && ring_receives(fd) &&
	    !cosy_page_precedes(loop, COSY_HOW_RECEIVE, SYS_recvfrom, fd)) {
		cosy_ring_submit_receive(loop, op, fd);
	} else {
		cosy_ring_yield(loop, COSY_HOW_RECEIVE, SYS_recvfrom, fd);
		cosy_page_publish(loop, take_slot(loop, op, fd));
	}
	cosy_loop_wake(loop);
	return 0;
}

COSY_EXPORT int cosy_async_receive(struct cosy_loop *loop, struct cosy_receive *receive, int fd)
{
	int err;

	if (!receive || !loop->ring.buffers.thread)
		return -EINVAL;
	if (loop->has_ring && ring_receives((uint32_t)fd) &&
	    cosy_submit_begin_op(loop->ring.submit, &receive->op)) {
		receive->buffer = NULL;
		cosy_ring_submit_receive(loop, &receive->op, (uint32_t)fd);
		cosy_submit_end(loop->ring.submit);
		return 0;
	}
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	err = receive_locked(loop, receive, (uint32_t)fd);
	cosy_loop_leave(loop);
	return err;
}
