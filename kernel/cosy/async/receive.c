// SPDX-License-Identifier: GPL-2.0
/*
 * receive.c - receives of a ring: they are made, or wait for their socket.
 *
 * A ring keeps a struct cosy_receiver for each descriptor on which a receive has waited. It is in
 * the wait queue of the socket, and holds the socket's inode, which contains the queue, but not the
 * file. Of one descriptor one receive waits: if there are two, the process gets both, in their
 * order.
 */
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

#include "async/receive.h"
#include "async/ring.h"
#include "async/socket.h"
#include "async/transfer.h"
#include "call/call.h"
#include "fast/calls.h"
#include "limit/limit.h"
#include "trace/cosy_trace.h"

/* Receives that did not have to wait, until the receiver leaves the queue. */
#define COSY_RECEIVER_UNUSED	4

/* Receives on other descriptors are given back. */
#define COSY_RECEIVERS_MAX	(1u << 20)

#define COSY_RECEIVE_EVENTS	(EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLERR | EPOLLHUP)

/* Wake the thread that sleeps in the ring, else one that sleeps in the loop, or the pollers. */
static void cosy_receiver_tell(struct cosy_ring *ring, int flags)
{
	struct cosy_loop *loop = ring->loop;

	/* It exists: while this function runs, interrupts are off, and RCU keeps the task. */
	if (READ_ONCE(ring->asleep))
		default_wake_function(&ring->sleeper, TASK_INTERRUPTIBLE, flags, NULL);
	else if (unlikely(READ_ONCE(loop->sleeper)) || wq_has_sleeper(&loop->wait))
		cosy_loop_tell_from_wake(loop, flags);
}

/* Called with the lock of the socket's wait queue, interrupts off, in any context. */
static int cosy_receiver_wake(struct wait_queue_entry *wait, unsigned int mode, int flags,
			      void *key)
{
	struct cosy_receiver *receiver = container_of(wait, struct cosy_receiver, wait);
	__poll_t events = key_to_poll(key);

	if ((events && !(events & COSY_RECEIVE_EVENTS)) || !READ_ONCE(receiver->waits) ||
	    READ_ONCE(receiver->fired))
		return 0;
	WRITE_ONCE(receiver->fired, true);
	/* A full barrier. Only the first in the list wakes anybody. */
	if (llist_add(&receiver->node, &receiver->ring->fired))
		cosy_receiver_tell(receiver->ring, flags);
	return 1;
}

/**
 * cosy_receiver_of() - get what a ring keeps for a descriptor
 * @ring: the ring, entered
 * @fd:   any number
 *
 * Return: the receiver or NULL.
 */
struct cosy_receiver *cosy_receiver_of(const struct cosy_ring *ring, u64 fd)
{
	if (unlikely(fd >= ring->nreceivers))
		return NULL;
	return ring->receivers[array_index_nospec(fd, ring->nreceivers)];
}

/* Leave the wait queue. After this no event adds it to a list. */
static void cosy_receiver_unqueue(struct cosy_receiver *receiver)
{
	if (!receiver->queued)
		return;
	remove_wait_queue(receiver->target.queue, &receiver->wait);
	receiver->queued = false;
}

/**
 * cosy_receiver_forget() - keep nothing of the socket any more
 * @receiver: no receive waits
 *
 * May sleep.
 */
void cosy_receiver_forget(struct cosy_receiver *receiver)
{
	cosy_receiver_unqueue(receiver);
	if (receiver->target.object)
		cosy_target_put(&receiver->target);
}

/* Charge memory to the user who is charged for the loop. */
static bool cosy_receivers_charge(struct cosy_ring *ring, size_t size)
{
	if (cosy_quota_charge(ring->loop->owner, size))
		return false;
	ring->charged += size;
	return true;
}

/* Make the table long enough for a descriptor. */
static bool cosy_receivers_grow(struct cosy_ring *ring, u32 fd)
{
	u32 n = max(64u, ring->nreceivers);
	struct cosy_receiver **receivers;

	while (n <= fd)
		n *= 2;
	/* The charge of the old table stays: all together are at most twice the last one. */
	if (!cosy_receivers_charge(ring, n * sizeof(*receivers)))
		return false;
	receivers = kvcalloc(n, sizeof(*receivers), COSY_GFP);
	if (!receivers)
		return false;
	if (ring->nreceivers)
		memcpy(receivers, ring->receivers, ring->nreceivers * sizeof(*receivers));
	kvfree(ring->receivers);
	ring->receivers = receivers;
	ring->nreceivers = n;
	return true;
}

static noinline struct cosy_receiver *cosy_receiver_new(struct cosy_ring *ring, u64 fd)
{
	/* If the socket is closed meanwhile, only this keeps its memory. */
	const size_t size = sizeof(struct cosy_receiver) + sizeof(struct socket_alloc);
	struct cosy_receiver *receiver;

	if (fd >= COSY_RECEIVERS_MAX ||
	    (fd >= ring->nreceivers && !cosy_receivers_grow(ring, fd)) ||
	    !cosy_receivers_charge(ring, size))
		return NULL;
	receiver = kzalloc(sizeof(*receiver), COSY_GFP);
	if (!receiver)
		return NULL;
	init_waitqueue_func_entry(&receiver->wait, cosy_receiver_wake);
	receiver->ring = ring;
	receiver->fd = fd;
	ring->receivers[array_index_nospec(fd, ring->nreceivers)] = receiver;
	return receiver;
}

/* Let a receiver be that of another socket. Return false if entries cannot wait for it. */
static noinline bool cosy_receiver_retarget(struct cosy_receiver *receiver, struct file *file)
{
	struct cosy_target target;

	if (!cosy_target_find(&target, file, COSY_ENTRY_WAIT_IN) ||
	    target.kind != COSY_TARGET_SOCKET)
		return false;
	cosy_receiver_forget(receiver);
	receiver->target = target;
	cosy_target_get(&receiver->target, file);
	return true;
}

/**
 * cosy_receiver_end() - end the wait of a receive
 * @receiver: it waits
 */
void cosy_receiver_end(struct cosy_receiver *receiver)
{
	WRITE_ONCE(receiver->waits, false);
	receiver->ring->waiting--;
}

/* Others that wait for the same socket get the data first. Return false if there are too many. */
static bool cosy_receiver_queue(struct cosy_receiver *receiver)
{
	wait_queue_head_t *queue = receiver->target.queue;

	if (receiver->queued) {
		/* A wrong answer changes only the order of the waiters. */
		if (likely(data_race(READ_ONCE(queue->head.next) == READ_ONCE(queue->head.prev))))
			return true;
		cosy_receiver_unqueue(receiver);
	}
	receiver->queued = cosy_wait_queue_add(queue, &receiver->wait);
	return receiver->queued;
}

/*
 * Let a receive wait. If the socket has something to receive after all, make it. @result: set with
 * COSY_RECEIVE_MADE.
 */
static __always_inline enum cosy_receive_end
cosy_receiver_wait(struct cosy_receiver *receiver, struct file *file, struct socket *socket,
		   const struct pt_regs *regs, u64 op, s64 *result)
{
	receiver->op = op;
	receiver->buffer = regs->si;
	receiver->size = regs->dx;
	receiver->flags = regs->r10;
	receiver->unused = 0;
	/* Before it is added to the queue: the first event must find it. */
	WRITE_ONCE(receiver->waits, true);
	receiver->ring->waiting++;
	if (unlikely(!cosy_receiver_queue(receiver))) {
		cosy_receiver_end(receiver);
		return COSY_RECEIVE_GIVEN;
	}
	trace_park(receiver->ring->loop->id, receiver->fd, receiver->fd);
	/* As in sock_poll_wait(): be in the queue before reading the socket's state. */
	smp_mb();
	if (likely(cosy_socket_is_idle(socket)) || !cosy_park_has_input(file))
		return COSY_RECEIVE_WAITS;
	/* Once is enough: an event from here on adds it to the list. */
	*result = cosy_transfer(socket, regs, true);
	if (*result == -EAGAIN)
		return COSY_RECEIVE_WAITS;
	cosy_receiver_end(receiver);
	return unlikely(cosy_call_restarts(*result)) ? COSY_RECEIVE_AGAIN : COSY_RECEIVE_MADE;
}

/* A call whose buffer is no address of a process fails before it looks at the socket. */
static __always_inline bool cosy_receive_may_wait(const struct pt_regs *regs,
						  const struct socket *socket)
{
	return likely(cosy_access_ok((void __user *)regs->si, cosy_transfer_size(regs))) &&
	       cosy_socket_may_ask(socket);
}

/* Continue a receive that has failed with -EAGAIN. @receiver: that of the descriptor, or NULL. */
static noinline enum cosy_receive_end
cosy_receive_failed(struct cosy_ring *ring, struct cosy_receiver *receiver, struct file *file,
		    struct socket *socket, const struct pt_regs *regs, u64 op, s64 *result)
{
	if (cosy_park_is_futile(file, EPOLLIN))
		return COSY_RECEIVE_GIVEN;
	if (!receiver)
		receiver = cosy_receiver_new(ring, (u32)regs->di);
	if (!receiver || (!cosy_target_same(&receiver->target, file, COSY_ENTRY_WAIT_IN) &&
			  !cosy_receiver_retarget(receiver, file)))
		return COSY_RECEIVE_GIVEN;
	return cosy_receiver_wait(receiver, file, socket, regs, op, result);
}

/**
 * cosy_receive() - make a receive that begins, or let it wait
 * @ring:   the ring, entered
 * @regs:   the arguments of recvfrom(); those that it does not use are 0
 * @op:	    its operation
 * @result: set to the result with COSY_RECEIVE_MADE
 *
 * Return: how it has ended.
 */
enum cosy_receive_end cosy_receive(struct cosy_ring *ring, struct pt_regs *regs, u64 op,
				   s64 *result)
{
	struct cosy_fd fd = cosy_fd_get(regs->di);
	struct socket *socket = cosy_socket_of(fd.file);
	struct cosy_receiver *receiver = cosy_receiver_of(ring, (u32)regs->di);
	enum cosy_receive_end end = COSY_RECEIVE_MADE;

	if (unlikely(receiver && receiver->waits)) {
		end = COSY_RECEIVE_SECOND;
		goto put;
	}
	if (unlikely(!socket) || unlikely(!regs->dx) || unlikely(regs->r8) ||
	    unlikely(regs->r10 & COSY_RING_RECEIVE_UNUSUAL)) {
		end = COSY_RECEIVE_GIVEN;
		goto put;
	}
	if (receiver && cosy_target_is(&receiver->target, fd.file) &&
	    cosy_socket_is_idle(socket) && cosy_receive_may_wait(regs, socket)) {
		end = cosy_receiver_wait(receiver, fd.file, socket, regs, op, result);
		goto put;
	}
	if (receiver && receiver->queued && receiver->unused++ >= COSY_RECEIVER_UNUSED)
		cosy_receiver_unqueue(receiver);
	*result = cosy_transfer(socket, regs, true);
	if (likely(*result >= 0))
		goto put;
	if (unlikely(cosy_call_restarts(*result)))
		end = COSY_RECEIVE_AGAIN;
	else if (*result == -EAGAIN)
		end = cosy_receive_failed(ring, receiver, fd.file, socket, regs, op, result);
put:
	cosy_fd_put(fd);
	return end;
}

/**
 * cosy_receive_fired() - make a receive that has waited, after an event
 * @receiver: it waits
 * @regs:     for the arguments
 * @result:   set to the result with COSY_RECEIVE_MADE
 *
 * Return: how it has ended. It still waits, in any case.
 */
enum cosy_receive_end cosy_receive_fired(struct cosy_receiver *receiver, struct pt_regs *regs,
					 s64 *result)
{
	struct cosy_fd fd = cosy_fd_get(receiver->fd);
	struct socket *socket = cosy_socket_of(fd.file);
	enum cosy_receive_end end = COSY_RECEIVE_MADE;

	*result = -ECANCELED;
	/* The descriptor may refer to another file now. */
	if (unlikely(!socket || !cosy_target_is(&receiver->target, fd.file)))
		goto put;
	regs->di = receiver->fd;
	regs->si = receiver->buffer;
	regs->dx = receiver->size;
	regs->r10 = receiver->flags;
	*result = cosy_transfer(socket, regs, true);
	if (likely(*result >= 0))
		goto put;
	if (unlikely(cosy_call_restarts(*result)))
		end = COSY_RECEIVE_AGAIN;
	else if (*result == -EAGAIN)
		/* Another reader took the data. */
		end = cosy_park_is_futile(fd.file, EPOLLIN) ? COSY_RECEIVE_GIVEN :
							      COSY_RECEIVE_WAITS;
put:
	cosy_fd_put(fd);
	return end;
}

/**
 * cosy_receiver_next() - take the next receiver whose socket has had an event
 * @ring: the ring, entered
 *
 * Return: the receiver, or NULL. Its receive may not wait any more.
 */
struct cosy_receiver *cosy_receiver_next(struct cosy_ring *ring)
{
	struct llist_node *node = ring->left;
	struct cosy_receiver *receiver;

	if (!node) {
		if (llist_empty(&ring->fired))
			return NULL;
		node = llist_reverse_order(llist_del_all(&ring->fired));
	}
	receiver = llist_entry(node, struct cosy_receiver, node);
	WRITE_ONCE(ring->left, node->next);
	/* Before the state of the socket is read: a later event adds it again. */
	smp_store_mb(receiver->fired, false);
	return receiver;
}

/**
 * cosy_receiver_again() - look at a receiver again, as after an event
 * @receiver: its receive waits
 */
void cosy_receiver_again(struct cosy_receiver *receiver)
{
	wait_queue_head_t *queue = receiver->target.queue;

	/* An event may do the same now. */
	spin_lock_irq(&queue->lock);
	if (!receiver->fired) {
		WRITE_ONCE(receiver->fired, true);
		llist_add(&receiver->node, &receiver->ring->fired);
	}
	spin_unlock_irq(&queue->lock);
}

/**
 * cosy_receivers_free() - free all receivers
 * @ring: the ring, which has no user any more
 */
void cosy_receivers_free(struct cosy_ring *ring)
{
	u32 fd;

	for (fd = 0; fd < ring->nreceivers; fd++) {
		if (ring->receivers[fd])
			cosy_receiver_forget(ring->receivers[fd]);
		if (!(fd & 0xff))
			cond_resched();
	}
	/* No event can add any of them to a list now. */
	for (fd = 0; fd < ring->nreceivers; fd++) {
		kfree(ring->receivers[fd]);
		if (!(fd & 0xff))
			cond_resched();
	}
	kvfree(ring->receivers);
}
