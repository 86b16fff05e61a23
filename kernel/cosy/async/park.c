// SPDX-License-Identifier: GPL-2.0
/*
 * park.c - entries that wait for sockets.
 *
 * What waits is in the wait queue of its socket. The queue is a part of the socket's
 * inode, which is held, so the queue outlives the file: closing the last
 * descriptor ends the connection although an entry waits. Other kinds of files
 * keep their queues elsewhere, and are not waited for here.
 *
 * Holding inodes makes no cycles: a loop in flight over a socket that it waits for is
 * freed with the messages of the socket, when the socket's file goes.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <net/sock.h>

#include "async/loop.h"
#include "limit/limit.h"

static unsigned int max_waiters = 64;
module_param(max_waiters, uint, 0644);
MODULE_PARM_DESC(max_waiters,
		 "entries of loops wait for a socket while fewer wait for it in all (default 64)");

#define COSY_EVENTS_IN	(EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLERR | EPOLLHUP)
#define COSY_EVENTS_OUT	(EPOLLOUT | EPOLLWRNORM | EPOLLERR | EPOLLHUP)

/**
 * cosy_park_cost() - memory that an entry can take while it waits
 *
 * The socket may be closed meanwhile, and nobody else pay for its inode.
 *
 * Return: bytes.
 */
u64 cosy_park_cost(void)
{
	BUILD_BUG_ON(sizeof(struct cosy_parked) > 256);
	return sizeof(struct cosy_parked *) + sizeof(struct cosy_parked) +
	       sizeof(struct socket_alloc);
}

/* The wait queue's lock is taken; in any context. */
static int cosy_parked_wake(struct wait_queue_entry *wait, unsigned int mode,
			    int flags, void *key)
{
	struct cosy_parked *parked = container_of(wait, struct cosy_parked,
						  wait);
	struct cosy_loop *loop = parked->loop;
	__poll_t events = key_to_poll(key);
	unsigned long irq;
	bool first;

	/* Without a key it may be anything. */
	if (events && !(events & parked->events))
		return 0;
	spin_lock_irqsave(&loop->ready_lock, irq);
	first = list_empty(&loop->ready);
	if (list_empty(&parked->ready))
		list_add_tail(&parked->ready, &loop->ready);
	spin_unlock_irqrestore(&loop->ready_lock, irq);
	/*
	 * The first one wakes the pollers. While the list is not empty, new pollers
	 * find it so, and those that enter wake the others: cosy_loop_tell().
	 */
	if (first && wq_has_sleeper(&loop->wait))
		wake_up_poll(&loop->wait, EPOLLIN | EPOLLRDNORM);
	return 0;
}

/* Sockets that wake who waits for them through their own wait queue, and no other. */
static bool cosy_socket_parks(const struct socket *socket, u8 flags)
{
	const struct sock *sk = READ_ONCE(socket->sk);

	if (!sk)
		return false;
	/* IPV6_ADDRFORM makes AF_INET of AF_INET6 at any time. */
	switch (READ_ONCE(sk->sk_family)) {
	case AF_UNIX:
		break;
	case AF_INET:
	case AF_INET6:
		if (sk->sk_protocol != IPPROTO_TCP &&
		    sk->sk_protocol != IPPROTO_UDP)
			return false;
		break;
	default:
		return false;
	}
	switch (sk->sk_type) {
	case SOCK_STREAM:
	case SOCK_SEQPACKET:
		return true;
	case SOCK_DGRAM:
		/* That its receiver's queue is full it need not be told. */
		return !(flags & COSY_ENTRY_WAIT_OUT);
	default:
		return false;
	}
}

/* The socket of a file, if its inode is the file's: it is that of another one otherwise. */
static struct socket *cosy_socket_of(struct file *file)
{
	struct socket *socket = sock_from_file(file);

	return socket && SOCK_INODE(socket) == file_inode(file) ? socket : NULL;
}

/*
 * Join the socket's queue, unless it is full. Each event walks the whole queue with
 * interrupts off, in the context of whoever causes it. All waiters count, so that
 * this walk is bounded, too.
 */
static bool cosy_parked_queue(struct cosy_parked *parked)
{
	wait_queue_head_t *queue = &parked->socket->wq.wait;
	unsigned int waiters = 0, max = READ_ONCE(max_waiters);
	const struct list_head *waiter;

	spin_lock_irq(&queue->lock);
	list_for_each(waiter, &queue->head) {
		if (++waiters >= max)
			break;
	}
	if (waiters < max)
		__add_wait_queue(queue, &parked->wait);
	spin_unlock_irq(&queue->lock);
	return waiters < max;
}

/* Look for what has come since the call failed: it has not woken the entry. */
static void cosy_parked_look(struct cosy_parked *parked, struct file *file)
{
	poll_table pt = { ._key = parked->events };

	/* As in sock_poll_wait(): first the queue, then the socket's state. */
	smp_mb();
	if (vfs_poll(file, &pt) & parked->events)
		cosy_parked_again(parked);
}

/**
 * cosy_park() - let an entry wait whose call has failed with -EAGAIN
 * @loop:  the loop, entered
 * @index: the entry, which does not wait
 * @flags: its flags
 * @call:  its call
 *
 * Return: false if it cannot wait here: it has no file for which entries wait, too many
 * wait for it, or there is no memory.
 */
bool cosy_park(struct cosy_loop *loop, u32 index, u8 flags,
	       const struct cosy_async_call *call)
{
	struct cosy_parked *parked = NULL;
	struct socket *socket;
	struct file *file = fget(call->args[0]);

	if (!file)
		return false;
	socket = cosy_socket_of(file);
	if (socket && cosy_socket_parks(socket, flags))
		parked = kmalloc(sizeof(*parked), COSY_GFP);
	if (!parked)
		goto out;
	init_waitqueue_func_entry(&parked->wait, cosy_parked_wake);
	INIT_LIST_HEAD(&parked->ready);
	parked->loop = loop;
	parked->socket = socket;
	parked->events = 0;
	if (flags & COSY_ENTRY_WAIT_IN)
		parked->events |= COSY_EVENTS_IN;
	if (flags & COSY_ENTRY_WAIT_OUT)
		parked->events |= COSY_EVENTS_OUT;
	parked->index = index;
	parked->silent = flags & COSY_ENTRY_SILENT;
	parked->call = *call;
	if (!cosy_parked_queue(parked)) {
		kfree(parked);
		parked = NULL;
		goto out;
	}
	/* The file holds it until here. */
	ihold(SOCK_INODE(socket));
	loop->parked[index] = parked;
	cosy_parked_look(parked, file);
out:
	fput(file);
	return parked;
}

/**
 * cosy_unpark() - let an entry wait no longer
 * @parked: what waits for it; freed
 *
 * The loop is entered, or nobody has it any more. May sleep.
 */
void cosy_unpark(struct cosy_parked *parked)
{
	struct cosy_loop *loop = parked->loop;

	/* Once it is out of the queue nobody puts it into the list. */
	remove_wait_queue(&parked->socket->wq.wait, &parked->wait);
	spin_lock_irq(&loop->ready_lock);
	list_del(&parked->ready);
	spin_unlock_irq(&loop->ready_lock);
	loop->parked[parked->index] = NULL;
	iput(SOCK_INODE(parked->socket));
	kfree(parked);
}

/**
 * cosy_parked_is_current() - does its descriptor still refer to its socket?
 * @parked: what waits
 *
 * Return: true if it does, for the current thread.
 */
bool cosy_parked_is_current(const struct cosy_parked *parked)
{
	struct file *file = fget(parked->call.args[0]);
	bool is_current;

	if (!file)
		return false;
	is_current = sock_from_file(file) == parked->socket;
	fput(file);
	return is_current;
}

/**
 * cosy_parked_next() - take the next one whose socket has had an event
 * @loop: the loop, entered
 *
 * It still waits, and is put into the list again by the next event.
 *
 * Return: it, or NULL.
 */
struct cosy_parked *cosy_parked_next(struct cosy_loop *loop)
{
	struct cosy_parked *parked;

	/* What comes later wakes who polls. */
	if (list_empty(&loop->ready))
		return NULL;
	spin_lock_irq(&loop->ready_lock);
	parked = list_first_entry_or_null(&loop->ready, struct cosy_parked,
					  ready);
	if (parked)
		list_del_init(&parked->ready);
	spin_unlock_irq(&loop->ready_lock);
	return parked;
}

/**
 * cosy_parked_again() - as if there had been an event
 * @parked: what waits
 */
void cosy_parked_again(struct cosy_parked *parked)
{
	struct cosy_loop *loop = parked->loop;

	spin_lock_irq(&loop->ready_lock);
	if (list_empty(&parked->ready))
		list_add_tail(&parked->ready, &loop->ready);
	spin_unlock_irq(&loop->ready_lock);
}

/**
 * cosy_loop_is_ready() - has there been an event for anything that waits?
 * @loop: the loop
 *
 * By the lock, so that whoever polls and has put himself into the loop's wait queue is
 * woken by what he does not see here.
 *
 * Return: true if there has.
 */
bool cosy_loop_is_ready(struct cosy_loop *loop)
{
	bool ready;

	spin_lock_irq(&loop->ready_lock);
	ready = !list_empty(&loop->ready);
	spin_unlock_irq(&loop->ready_lock);
	return ready;
}

/**
 * cosy_loop_tell() - wake the pollers if something is left to be done
 * @loop: the loop, entered; about to be left
 *
 * The thread that has entered may have emptied the list for a moment, so that a poller
 * that was woken has seen nothing.
 */
void cosy_loop_tell(struct cosy_loop *loop)
{
	if (!list_empty(&loop->ready) && wq_has_sleeper(&loop->wait))
		wake_up_poll(&loop->wait, EPOLLIN | EPOLLRDNORM);
}
