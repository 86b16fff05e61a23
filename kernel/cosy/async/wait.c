// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - calls of a ring that receive, accept and send: they are made, or wait for their socket.
 *
 * A ring keeps a struct cosy_waiter for each descriptor and direction for which a call has waited.
 * It is in the wait queue of the socket, and holds the socket's inode, which contains the queue,
 * but not the file. At most one call waits for a descriptor and direction. If a second one would
 * have to wait, the process gets both, in their order.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "async/coroutine.h"
#include "async/ring.h"
#include "async/socket.h"
#include "async/transfer.h"
#include "async/wait.h"
#include "call/call.h"
#include "fast/calls.h"
#include "kernel/internals.h"
#include "limit/limit.h"
#include "trace/cosy_trace.h"

/* Number of receives in a row that need not wait, after which the waiter leaves the queue. */
#define COSY_WAITER_UNUSED	4

/* There is no buffer to receive into. No call has this result. */
#define COSY_NO_BUFFER		(-MAX_ERRNO)

/* Calls on other descriptors do not wait here. */
#define COSY_WAITERS_MAX	(1u << 20)

/* Wake the thread that sleeps in the ring, else one that sleeps in the loop, or the pollers. */
static void cosy_waiter_tell(struct cosy_ring *ring, int flags)
{
	struct cosy_loop *loop = ring->loop;

	/* The sleeping task exists: interrupts are off in this function, so RCU keeps the task. */
	if (READ_ONCE(ring->asleep))
		default_wake_function(&ring->sleeper, TASK_INTERRUPTIBLE, flags, NULL);
	else if (cosy_loop_has_sleeper(loop))
		cosy_loop_tell(loop, flags);
}

/* The socket has had an event of @awaited, or any. Called with the lock of its wait queue. */
static __always_inline int cosy_waiter_event(struct wait_queue_entry *wait, int flags, void *key,
					     __poll_t awaited)
{
	struct cosy_waiter *waiter = container_of(wait, struct cosy_waiter, wait);
	__poll_t events = key_to_poll(key);

	if ((events && !(events & awaited)) || !READ_ONCE(waiter->waits) ||
	    READ_ONCE(waiter->fired))
		return 0;
	WRITE_ONCE(waiter->fired, true);
	/* A full barrier. Only the first in the list wakes a thread. */
	if (llist_add(&waiter->node, &waiter->ring->fired))
		cosy_waiter_tell(waiter->ring, flags);
	return 1;
}

/* Called with interrupts off, in any context. */
static int cosy_receiver_wake(struct wait_queue_entry *wait, unsigned int mode, int flags,
			      void *key)
{
	return cosy_waiter_event(wait, flags, key, COSY_EVENTS_IN);
}

/* The same for a waiter that sends. */
static int cosy_sender_wake(struct wait_queue_entry *wait, unsigned int mode, int flags,
			    void *key)
{
	return cosy_waiter_event(wait, flags, key, COSY_EVENTS_OUT);
}

/* Leave the wait queue. After this no event adds it to a list. */
static void cosy_waiter_unqueue(struct cosy_waiter *waiter)
{
	if (!waiter->queued)
		return;
	remove_wait_queue(waiter->target.queue, &waiter->wait);
	waiter->queued = false;
}

/**
 * cosy_waiter_step_aside() - leave the wait queue of a socket for which a compound begins to wait
 * @ring: the ring, entered; or NULL
 * @fd:   the descriptor
 *
 * A compound lets other waiters in the queue have the input first. It must not let a waiter have it
 * for which no call waits.
 */
void cosy_waiter_step_aside(struct cosy_ring *ring, u64 fd)
{
	struct cosy_waiter *waiter = ring ? cosy_receiver_of(ring, fd) : NULL;

	if (waiter && !waiter->waits)
		cosy_waiter_unqueue(waiter);
}

/**
 * cosy_waiter_forget() - leave the wait queue of the socket, and drop the reference to the socket
 * @waiter: no call waits
 *
 * May sleep.
 */
void cosy_waiter_forget(struct cosy_waiter *waiter)
{
	cosy_waiter_unqueue(waiter);
	if (waiter->target.object)
		cosy_target_put(&waiter->target);
}

/**
 * cosy_waiter_is_current() - test whether a descriptor still refers to the socket
 * @waiter: what is kept for the descriptor
 *
 * Return: true if it does.
 */
bool cosy_waiter_is_current(const struct cosy_waiter *waiter)
{
	struct cosy_fd fd = cosy_fd_get(waiter->fd);
	bool current_one = fd.file && cosy_target_is(&waiter->target, fd.file);

	cosy_fd_put(fd);
	return current_one;
}

/*
 * Allocate zeroed memory, and charge @charge bytes to the user who is charged for the loop. Return
 * NULL if there is none, or the user may not have more.
 */
static void *cosy_waiters_alloc(struct cosy_ring *ring, size_t size, size_t charge)
{
	void *memory;

	if (cosy_quota_charge(ring->loop->owner, charge))
		return NULL;
	memory = kvzalloc(size, COSY_GFP);
	if (memory)
		ring->charged += charge;
	else
		cosy_quota_uncharge(ring->loop->owner, charge);
	return memory;
}

/* Make a table long enough for a descriptor. */
static bool cosy_waiters_grow(struct cosy_ring *ring, struct cosy_waiters *waiters, u32 fd)
{
	u32 n = max(64u, waiters->n);
	struct cosy_waiter **of;

	while (n <= fd)
		n *= 2;
	/* The charge of the old table stays: all together are at most twice the last one. */
	of = cosy_waiters_alloc(ring, n * sizeof(*of), n * sizeof(*of));
	if (!of)
		return false;
	if (waiters->n)
		memcpy(of, waiters->of, waiters->n * sizeof(*of));
	kvfree(waiters->of);
	waiters->of = of;
	waiters->n = n;
	return true;
}

static noinline struct cosy_waiter *cosy_waiter_new(struct cosy_ring *ring, u64 fd, bool sends)
{
	struct cosy_waiters *waiters = sends ? &ring->senders : &ring->receivers;
	/* If the socket is closed meanwhile, only this keeps its memory. */
	const size_t charge = sizeof(struct cosy_waiter) + sizeof(struct socket_alloc);
	struct cosy_waiter *waiter;

	if (fd >= COSY_WAITERS_MAX ||
	    (fd >= waiters->n && !cosy_waiters_grow(ring, waiters, fd)))
		return NULL;
	waiter = cosy_waiters_alloc(ring, sizeof(*waiter), charge);
	if (!waiter)
		return NULL;
	init_waitqueue_func_entry(&waiter->wait, sends ? cosy_sender_wake : cosy_receiver_wake);
	waiter->ring = ring;
	waiter->fd = fd;
	waiter->sends = sends;
	waiters->of[array_index_nospec(fd, waiters->n)] = waiter;
	return waiter;
}

/* Count a receive that need not wait. After some of these, events wake threads for nothing. */
static __always_inline void cosy_waiter_is_unused(struct cosy_waiter *waiter)
{
	if (waiter && waiter->queued && waiter->unused++ >= COSY_WAITER_UNUSED)
		cosy_waiter_unqueue(waiter);
}

/* Return the flags by which targets are found. */
static u8 cosy_waiter_flags(bool sends)
{
	return sends ? COSY_WAIT_OUT : COSY_WAIT_IN;
}

/* Let a waiter wait for another socket. Return false if calls cannot wait for that. */
static bool cosy_waiter_retarget(struct cosy_waiter *waiter, struct file *file)
{
	struct cosy_target target;

	if (!cosy_target_find(&target, file, cosy_waiter_flags(waiter->sends)) ||
	    target.kind != COSY_TARGET_SOCKET)
		return false;
	cosy_waiter_forget(waiter);
	waiter->target = target;
	cosy_target_get(&waiter->target, file);
	return true;
}

/*
 * Return the waiter of a descriptor, for the socket to which the descriptor now refers. @waiter:
 * the waiter so far, or NULL. Return NULL if a call cannot wait for the file.
 */
static noinline struct cosy_waiter *cosy_waiter_get(struct cosy_ring *ring,
						    struct cosy_waiter *waiter, u32 fd,
						    struct file *file, bool sends)
{
	if (!waiter)
		waiter = cosy_waiter_new(ring, fd, sends);
	if (!waiter || (!cosy_target_same(&waiter->target, file, cosy_waiter_flags(sends)) &&
			!cosy_waiter_retarget(waiter, file)))
		return NULL;
	return waiter;
}

/**
 * cosy_waiter_end() - end the wait of a call
 * @waiter: it waits
 */
void cosy_waiter_end(struct cosy_waiter *waiter)
{
	WRITE_ONCE(waiter->waits, false);
	waiter->ring->waiting--;
	if (unlikely(waiter->sends)) {
		waiter->ring->nsending--;
		rb_erase(&waiter->by_op, &waiter->ring->sending);
		/* The next send seldom waits. */
		cosy_waiter_unqueue(waiter);
	}
}

/*
 * Add a waiter to the end of its queue, so that others in the queue get the event first. Return
 * false if there are too many.
 */
static bool cosy_waiter_queue(struct cosy_waiter *waiter)
{
	wait_queue_head_t *queue = waiter->target.queue;

	if (waiter->queued) {
		if (likely(cosy_wait_queue_is_single(queue)))
			return true;
		cosy_waiter_unqueue(waiter);
	}
	waiter->queued = cosy_wait_queue_add(queue, &waiter->wait);
	return waiter->queued;
}

/*
 * Make a COSY_RING_RECEIVE without blocking. The process can write to the page meanwhile: what is
 * read there is used once. Return its result, or COSY_NO_BUFFER if there is something to receive.
 */
static noinline long cosy_receive_into(struct cosy_ring *ring, struct file *file,
				       struct socket *socket)
{
	struct cosy_ring_page *page = ring->page;
	const u32 n = READ_ONCE(page->nbuffers);
	const u64 size = READ_ONCE(page->buffer_size);
	struct pt_regs regs __uninitialized;
	long result;
	u32 number;

	/* A receive from a listening socket fails at once: the process has to make it. */
	if (!n || n > ring->mask + 1 || !size || size > INT_MAX)
		return !cosy_socket_may_ask(socket) || cosy_park_has_input(file) ?
			       COSY_NO_BUFFER : -EAGAIN;
	number = READ_ONCE(ring->buffers[(n - 1) & ring->mask]) & INT_MAX;
	/* Any address: cosy_transfer() checks that it is one of the process. */
	regs.si = READ_ONCE(page->buffer_start) + number * size;
	regs.dx = size;
	regs.r10 = 0;
	result = cosy_transfer(socket, &regs, true);
	if (result <= 0)
		return result;
	WRITE_ONCE(page->nbuffers, n - 1);
	return result | (u64)number << COSY_RING_BUFFER_SHIFT;
}

/* Make a call that is not a usual recvfrom() or sendto(), without blocking. Return its result. */
static noinline long cosy_attempt(u32 nr, const struct pt_regs *regs, struct file *file)
{
	struct pt_regs copy = *regs;

	switch (nr) {
	case __NR_accept:
		return cosy_accept(regs, file, 0);
	case __NR_accept4:
		return cosy_accept(regs, file, regs->r10);
	case __NR_recvmsg:
	case __NR_sendmsg:
		copy.dx |= MSG_DONTWAIT;
		break;
	default:
		copy.r10 |= MSG_DONTWAIT;
	}
	copy.orig_ax = cosy_env_callee(nr);
	return cosy_callees[copy.orig_ax](&copy);
}

/* Note the call that waits, before the waiter is in the queue: the first event must find it. */
static __always_inline void cosy_waiter_set(struct cosy_waiter *waiter, u32 nr,
					    const struct pt_regs *regs, u64 op)
{
	waiter->op = op;
	waiter->nr = nr;
	waiter->args[0] = regs->si;
	waiter->args[1] = regs->dx;
	waiter->args[2] = regs->r10;
	if (nr) {
		waiter->args[3] = regs->r8;
		waiter->args[4] = regs->r9;
	}
	WRITE_ONCE(waiter->waits, true);
	waiter->ring->waiting++;
}

/*
 * Let a receive wait. If the socket has something after all, make it. @nr: as for struct
 * cosy_waiter. @result: set with COSY_WAIT_MADE.
 */
static __always_inline enum cosy_wait_end
cosy_waiter_wait(struct cosy_waiter *waiter, struct file *file, struct socket *socket, u32 nr,
		 const struct pt_regs *regs, u64 op, s64 *result)
{
	cosy_waiter_set(waiter, nr, regs, op);
	waiter->unused = 0;
	if (unlikely(!cosy_waiter_queue(waiter))) {
		cosy_waiter_end(waiter);
		return COSY_WAIT_GIVEN;
	}
	trace_park(waiter->ring->loop->id, waiter->fd, waiter->fd);
	/* As in sock_poll_wait(): be in the queue before reading the socket's state. */
	smp_mb();
	if (((!nr || nr == COSY_WAITER_BUFFER) && likely(cosy_socket_is_idle(socket))) ||
	    !cosy_park_has_input(file))
		return COSY_WAIT_WAITS;
	/* One attempt is enough: an event from here on adds the waiter to the list. */
	if (nr == COSY_WAITER_BUFFER)
		*result = cosy_receive_into(waiter->ring, file, socket);
	else
		*result = nr ? cosy_attempt(nr, regs, file) : cosy_transfer(socket, regs, true);
	if (*result == -EAGAIN)
		return COSY_WAIT_WAITS;
	cosy_waiter_end(waiter);
	if (unlikely(*result == COSY_NO_BUFFER))
		return COSY_WAIT_GIVEN;
	return unlikely(cosy_call_restarts(*result)) ? COSY_WAIT_AGAIN : COSY_WAIT_MADE;
}

/* A call whose buffer is no address of a process fails before it looks at the socket. */
static __always_inline bool cosy_receive_may_wait(const struct pt_regs *regs,
						  const struct socket *socket)
{
	return likely(cosy_access_ok((void __user *)regs->si, cosy_transfer_size(regs))) &&
	       cosy_socket_may_ask(socket);
}

/* Return true if a call that waits ends, although a call that does not wait fails with -EAGAIN. */
static bool cosy_receive_is_futile(u32 nr, struct file *file, const struct socket *socket)
{
	if (nr == __NR_accept || nr == __NR_accept4)
		return cosy_socket_is_shut(socket);
	return cosy_park_is_futile(file, EPOLLIN);
}

/* Let a receive wait that has failed with -EAGAIN. Returns as cosy_receive_ended(). */
static enum cosy_wait_end cosy_receive_waits(struct cosy_ring *ring, struct cosy_waiter *waiter,
					     struct file *file, struct socket *socket, u32 nr,
					     const struct pt_regs *regs, u64 op, s64 *result)
{
	if (cosy_receive_is_futile(nr, file, socket))
		return COSY_WAIT_GIVEN;
	waiter = cosy_waiter_get(ring, waiter, regs->di, file, false);
	if (!waiter)
		return COSY_WAIT_GIVEN;
	return cosy_waiter_wait(waiter, file, socket, nr, regs, op, result);
}

/**
 * cosy_receive_ended() - continue a receive that was not made, or has a result
 * @ring:   the ring, entered
 * @waiter: what it keeps for the receives of the descriptor, or NULL
 * @file:   the file of the descriptor
 * @socket: its socket; NULL if the receive was not made, because it is none
 * @nr:	    as for struct cosy_waiter
 * @regs:   the arguments
 * @op:	    the operation
 * @result: the result; changed with COSY_WAIT_MADE if it was made again
 *
 * Return: how it has ended.
 */
enum cosy_wait_end cosy_receive_ended(struct cosy_ring *ring, struct cosy_waiter *waiter,
				      struct file *file, struct socket *socket, u32 nr,
				      const struct pt_regs *regs, u64 op, s64 *result)
{
	if (!socket || *result == COSY_NO_BUFFER)
		return COSY_WAIT_GIVEN;
	if (*result == -EAGAIN)
		return cosy_receive_waits(ring, waiter, file, socket, nr, regs, op, result);
	return cosy_call_restarts(*result) ? COSY_WAIT_AGAIN : COSY_WAIT_MADE;
}

/* Return true if a receive, which is not usual, can be attempted, and wait here. */
static bool cosy_receive_is_valid(u32 nr, const struct pt_regs *regs)
{
	switch (nr) {
	case __NR_recvfrom:
		return regs->dx && !(regs->r10 & COSY_RING_RECEIVE_UNUSUAL);
	case __NR_recvmsg:
		return !(regs->dx & COSY_RING_RECEIVE_UNUSUAL);
	default:
		return cosy_has(COSY_NEEDS(do_accept)) &&
		       (nr == __NR_accept || !(regs->r10 & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)));
	}
}

/* The same as cosy_receive() for a COSY_RING_RECEIVE. No call waits for the descriptor. */
static noinline enum cosy_wait_end
cosy_receive_buffer(struct cosy_ring *ring, struct cosy_waiter *waiter, struct file *file,
		    struct socket *socket, const struct pt_regs *regs, u64 op, s64 *result)
{
	if (!socket)
		return COSY_WAIT_GIVEN;
	if (waiter && cosy_target_is(&waiter->target, file) && cosy_socket_is_idle(socket) &&
	    cosy_socket_may_ask(socket))
		return cosy_waiter_wait(waiter, file, socket, COSY_WAITER_BUFFER, regs, op, result);
	cosy_waiter_is_unused(waiter);
	*result = cosy_receive_into(ring, file, socket);
	return cosy_receive_ended(ring, waiter, file, socket, COSY_WAITER_BUFFER, regs, op, result);
}

/* The same as cosy_receive() for calls that are not usual. No call waits for the descriptor. */
static noinline enum cosy_wait_end
cosy_receive_any(struct cosy_ring *ring, struct cosy_waiter *waiter, struct file *file,
		 struct socket *socket, u32 nr, const struct pt_regs *regs, u64 op, s64 *result)
{
	if (nr == COSY_RING_RECEIVE)
		return cosy_receive_buffer(ring, waiter, file, socket, regs, op, result);
	if (!socket || !cosy_receive_is_valid(nr, regs))
		return COSY_WAIT_GIVEN;
	cosy_waiter_is_unused(waiter);
	*result = cosy_attempt(nr, regs, file);
	return cosy_receive_ended(ring, waiter, file, socket, nr, regs, op, result);
}

/**
 * cosy_receive_usual() - make a recvfrom() that is usual, or let it wait
 * @ring:   the ring, entered
 * @waiter: what it keeps for the receives of the descriptor, or NULL
 * @file:   the file of the descriptor
 * @socket: its socket, or NULL
 * @regs:   the arguments: a size, no address, and no flag of COSY_RING_RECEIVE_UNUSUAL
 * @op:	    the operation
 * @result: set to the result with COSY_WAIT_MADE
 *
 * Return: how it has ended.
 */
enum cosy_wait_end cosy_receive_usual(struct cosy_ring *ring, struct cosy_waiter *waiter,
				      struct file *file, struct socket *socket,
				      const struct pt_regs *regs, u64 op, s64 *result)
{
	if (unlikely(waiter && waiter->waits))
		return COSY_WAIT_SECOND;
	if (unlikely(!socket))
		return COSY_WAIT_GIVEN;
	if (waiter && cosy_target_is(&waiter->target, file) && cosy_socket_is_idle(socket) &&
	    cosy_receive_may_wait(regs, socket))
		return cosy_waiter_wait(waiter, file, socket, 0, regs, op, result);
	cosy_waiter_is_unused(waiter);
	*result = cosy_transfer(socket, regs, true);
	if (likely(*result >= 0))
		return COSY_WAIT_MADE;
	return cosy_receive_ended(ring, waiter, file, socket, 0, regs, op, result);
}

/**
 * cosy_receive() - make a receive that begins, or let it wait
 * @ring:   the ring, entered
 * @nr:	    number of the call, cosy_call_receives()
 * @regs:   its arguments; those that it does not use are 0
 * @op:	    its operation
 * @result: set to the result with COSY_WAIT_MADE
 *
 * Return: how it has ended.
 */
enum cosy_wait_end cosy_receive(struct cosy_ring *ring, u32 nr, struct pt_regs *regs, u64 op,
				s64 *result)
{
	struct cosy_fd fd = cosy_fd_get(regs->di);
	struct socket *socket = cosy_socket_of(fd.file);
	struct cosy_waiter *waiter = cosy_receiver_of(ring, (u32)regs->di);
	enum cosy_wait_end end;

	if (waiter && waiter->waits)
		end = COSY_WAIT_SECOND;
	else if (nr != __NR_recvfrom || regs->r8)
		end = cosy_receive_any(ring, waiter, fd.file, socket, nr, regs, op, result);
	else if (!regs->dx || regs->r10 & COSY_RING_RECEIVE_UNUSUAL)
		end = COSY_WAIT_GIVEN;
	else
		end = cosy_receive_usual(ring, waiter, fd.file, socket, regs, op, result);
	cosy_fd_put(fd);
	return end;
}

static bool cosy_waiter_precedes(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct cosy_waiter, by_op)->op <
	       rb_entry(b, struct cosy_waiter, by_op)->op;
}

/*
 * Let a send wait that has failed with -EAGAIN. It is made again after an event, or soon if there
 * is room already, or the socket is shut down.
 */
static noinline enum cosy_wait_end cosy_send_waits(struct cosy_ring *ring, struct file *file,
						   const struct socket *socket, u32 nr,
						   const struct pt_regs *regs, u64 op)
{
	struct cosy_waiter *waiter = cosy_sender_of(ring, (u32)regs->di);
	poll_table pt = { ._key = COSY_EVENTS_OUT };

	waiter = cosy_waiter_get(ring, waiter, regs->di, file, true);
	if (!waiter)
		return COSY_WAIT_GIVEN;
	cosy_waiter_set(waiter, nr, regs, op);
	ring->nsending++;
	rb_add(&waiter->by_op, &ring->sending, cosy_waiter_precedes);
	if (!cosy_waiter_queue(waiter)) {
		cosy_waiter_end(waiter);
		return COSY_WAIT_GIVEN;
	}
	trace_park(ring->loop->id, waiter->fd, waiter->fd);
	/* As in cosy_waiter_wait(). */
	smp_mb();
	if (vfs_poll(file, &pt) & COSY_EVENTS_OUT || cosy_socket_send_is_shut(socket))
		cosy_waiter_again(waiter);
	return COSY_WAIT_WAITS;
}

/* Return true if a send can wait: not that of a reply, nor one that does not complete. */
static bool cosy_send_may_wait(u32 flags, u64 op)
{
	return op && !(flags & COSY_RING_LINKED);
}

/* Return how a send has ended that does not wait. @sent: set with COSY_WAIT_GIVEN. */
static enum cosy_wait_end cosy_send_made(u32 nr, const struct socket *socket, u64 size, s64 result,
					 u32 *sent)
{
	if (nr != __NR_sendto || result < 0 || result == size || socket->type != SOCK_STREAM)
		return COSY_WAIT_MADE;
	*sent = result;
	return COSY_WAIT_GIVEN;
}

/**
 * cosy_send_ended() - continue a usual sendto() that has not sent all of its data
 * @ring:   the ring, entered
 * @file:   the file of @socket
 * @socket: the socket
 * @regs:   the arguments
 * @flags:  flags of its entry
 * @op:	    its operation, or 0
 * @result: the result
 * @sent:   set to the number of bytes that were sent with COSY_WAIT_GIVEN
 *
 * Return: as cosy_send().
 */
enum cosy_wait_end cosy_send_ended(struct cosy_ring *ring, struct file *file, struct socket *socket,
				   const struct pt_regs *regs, u32 flags, u64 op, s64 result,
				   u32 *sent)
{
	*sent = 0;
	if (result != -EAGAIN)
		return cosy_send_made(__NR_sendto, socket, regs->dx, result, sent);
	return cosy_send_may_wait(flags, op) ?
		       cosy_send_waits(ring, file, socket, __NR_sendto, regs, op) : COSY_WAIT_GIVEN;
}

/**
 * cosy_send() - make a send that begins, or let it wait
 * @ring:   the ring, entered
 * @nr:	    __NR_sendto or __NR_sendmsg
 * @regs:   its arguments
 * @flags:  flags of its entry
 * @op:	    its operation, or 0
 * @result: set to the result with COSY_WAIT_MADE. This may also be an error after which the call
 *	    has to be made again
 * @sent:   set to the number of bytes that were sent with COSY_WAIT_GIVEN
 *
 * Return: how it has ended; not COSY_WAIT_AGAIN.
 */
enum cosy_wait_end cosy_send(struct cosy_ring *ring, u32 nr, struct pt_regs *regs, u32 flags,
			     u64 op, s64 *result, u32 *sent)
{
	const struct cosy_waiter *waiter = cosy_sender_of(ring, (u32)regs->di);
	struct cosy_fd fd = cosy_fd_get(regs->di);
	struct socket *socket = cosy_socket_of(fd.file);
	const u64 how = nr == __NR_sendto ? regs->r10 : regs->dx;
	enum cosy_wait_end end = COSY_WAIT_GIVEN;

	*sent = 0;
	if (waiter && waiter->waits) {
		end = COSY_WAIT_SECOND;
	} else if (socket && !(how & COSY_RING_SEND_UNUSUAL)) {
		*result = flags & COSY_RING_WAITED ? cosy_socket_send_ends(socket) : 0;
		if (!*result)
			*result = cosy_attempt(nr, regs, fd.file);
		if (*result != -EAGAIN)
			end = cosy_send_made(nr, socket, regs->dx, *result, sent);
		else if (cosy_send_may_wait(flags, op))
			end = cosy_send_waits(ring, fd.file, socket, nr, regs, op);
	}
	cosy_fd_put(fd);
	return end;
}

/* The same as cosy_waiter_fired() for a send, whose descriptor still refers to the socket. */
static enum cosy_wait_end cosy_send_fired(const struct cosy_waiter *waiter, struct file *file,
					  const struct socket *socket, const struct pt_regs *regs,
					  s64 *result, u32 *sent)
{
	*result = cosy_socket_send_ends(socket);
	if (*result)
		return COSY_WAIT_MADE;
	*result = cosy_attempt(waiter->nr, regs, file);
	if (*result == -EAGAIN)
		return COSY_WAIT_WAITS;
	if (cosy_call_restarts(*result))
		return COSY_WAIT_AGAIN;
	return cosy_send_made(waiter->nr, socket, regs->dx, *result, sent);
}

/* The same for a call that receives. */
static __always_inline enum cosy_wait_end
cosy_receive_fired(const struct cosy_waiter *waiter, struct file *file, struct socket *socket,
		   const struct pt_regs *regs, s64 *result)
{
	if (likely(!waiter->nr)) {
		*result = cosy_transfer(socket, regs, true);
		if (likely(*result >= 0))
			return COSY_WAIT_MADE;
	} else if (waiter->nr == COSY_WAITER_BUFFER) {
		*result = cosy_receive_into(waiter->ring, file, socket);
		if (*result == COSY_NO_BUFFER)
			return COSY_WAIT_GIVEN;
	} else {
		/* If it receives no bytes, it must not take the error. */
		if (waiter->nr == __NR_recvmsg && cosy_socket_receive_fails(socket))
			return COSY_WAIT_GIVEN;
		*result = cosy_attempt(waiter->nr, regs, file);
	}
	/* Another reader took the data. */
	if (*result == -EAGAIN)
		return cosy_receive_is_futile(waiter->nr, file, socket) ? COSY_WAIT_GIVEN :
									  COSY_WAIT_WAITS;
	return unlikely(cosy_call_restarts(*result)) ? COSY_WAIT_AGAIN : COSY_WAIT_MADE;
}

/**
 * cosy_waiter_fired() - make a call that has waited, after an event
 * @waiter: it waits
 * @regs:   its arguments: cosy_waiter_args()
 * @result: set to the result with COSY_WAIT_MADE
 * @sent:   set to the number of bytes that were sent with COSY_WAIT_GIVEN
 *
 * Return: how it has ended. In any case, the waiter still waits.
 */
enum cosy_wait_end cosy_waiter_fired(struct cosy_waiter *waiter, const struct pt_regs *regs,
				     s64 *result, u32 *sent)
{
	struct cosy_fd fd = cosy_fd_get(waiter->fd);
	struct socket *socket = cosy_socket_of(fd.file);
	enum cosy_wait_end end = COSY_WAIT_MADE;

	*result = -ECANCELED;
	*sent = 0;
	/* The descriptor may refer to another file now. */
	if (unlikely(!socket || !cosy_target_is(&waiter->target, fd.file)))
		goto put;
	if (unlikely(waiter->sends))
		end = cosy_send_fired(waiter, fd.file, socket, regs, result, sent);
	else
		end = cosy_receive_fired(waiter, fd.file, socket, regs, result);
put:
	cosy_fd_put(fd);
	return end;
}

/**
 * cosy_waiter_again() - check a waiter again, as after an event
 * @waiter: its call waits
 */
void cosy_waiter_again(struct cosy_waiter *waiter)
{
	wait_queue_head_t *queue = waiter->target.queue;

	/* An event may do the same now. */
	spin_lock_irq(&queue->lock);
	if (!waiter->fired) {
		WRITE_ONCE(waiter->fired, true);
		llist_add(&waiter->node, &waiter->ring->fired);
	}
	spin_unlock_irq(&queue->lock);
}

static void cosy_waiters_clear(struct cosy_waiters *waiters)
{
	u32 fd;

	for (fd = 0; fd < waiters->n; fd++) {
		if (waiters->of[fd])
			cosy_waiter_forget(waiters->of[fd]);
		if (!(fd & 0xff))
			cond_resched();
	}
	/* No event can add any of them to a list now. */
	for (fd = 0; fd < waiters->n; fd++) {
		kvfree(waiters->of[fd]);
		if (!(fd & 0xff))
			cond_resched();
	}
	kvfree(waiters->of);
}

/**
 * cosy_waiters_free() - free all waiters
 * @ring: the ring, which has no user any more
 */
void cosy_waiters_free(struct cosy_ring *ring)
{
	cosy_waiters_clear(&ring->receivers);
	cosy_waiters_clear(&ring->senders);
}
