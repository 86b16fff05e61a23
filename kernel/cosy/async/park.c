// SPDX-License-Identifier: GPL-2.0
/*
 * park.c - parks entries until a socket, a pipe or an eventfd is ready.
 *
 * A parked entry is in the wait queue of its file, see target.c.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <net/sock.h>

#include <cosy/exec.h>

#include "async/loop.h"
#include "async/ring.h"
#include "async/socket.h"
#include "async/wait.h"
#include "fast/calls.h"
#include "limit/limit.h"
#include "trace/cosy_trace.h"

static unsigned int max_waiters = 64;
module_param(max_waiters, uint, 0644);
MODULE_PARM_DESC(max_waiters,
		 "maximum number of waiters of a file for which an entry of a loop waits (default 64)");

/**
 * cosy_park_cost() - memory that a parked entry can keep allocated
 *
 * If the file is closed meanwhile, only the entry keeps its socket or pipe, so its memory counts.
 * The pages of a pipe are charged to the user who created it.
 *
 * Return: bytes.
 */
u64 cosy_park_cost(void)
{
	BUILD_BUG_ON(sizeof(struct cosy_parked) > 256);
	return sizeof(struct cosy_parked *) + sizeof(struct cosy_parked) +
	       max(sizeof(struct socket_alloc),
		   sizeof(struct inode) + sizeof(struct pipe_inode_info) +
			   PIPE_DEF_BUFFERS * sizeof(struct pipe_buffer));
}

/* The caller holds the ready_lock. A thread in a nested call must not be woken: see @asleep. */
static void cosy_sleeper_wake(struct cosy_sleeper *sleeper, unsigned int mode,
			      int flags)
{
	if (sleeper->asleep)
		default_wake_function(&sleeper->wait, mode, flags, NULL);
}

/**
 * cosy_loop_wake_pollers() - wake the pollers of a loop's descriptor
 * @loop: the loop
 */
void cosy_loop_wake_pollers(struct cosy_loop *loop)
{
	if (wq_has_sleeper(&loop->wait))
		wake_up_poll(&loop->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * cosy_loop_wake_pollers_later() - the same, from the irq_work of cosy_parked_wake()
 * @telling: the loop's irq_work
 */
void cosy_loop_wake_pollers_later(struct irq_work *telling)
{
	cosy_loop_wake_pollers(container_of(telling, struct cosy_loop, telling));
}

/**
 * cosy_parked_add() - add to the ready list, and wake the thread that sleeps in the loop
 * @parked: what can be executed. The caller holds the loop's ready_lock
 * @mode:   passed to default_wake_function()
 * @flags:  passed to default_wake_function()
 *
 * Return: true if the caller has to wake the pollers after it has released the lock.
 */
bool cosy_parked_add(struct cosy_parked *parked, unsigned int mode, int flags)
{
	struct cosy_loop *loop = parked->loop;
	bool tells = list_empty(&loop->ready);

	if (list_empty(&parked->ready)) {
		list_add_tail(&parked->ready, &loop->ready);
		trace_wake(loop->id, parked->index);
	}
	/*
	 * Only the first in the list wakes a thread. Later pollers see that the list is not
	 * empty, and a thread that has entered checks the list after it has left.
	 */
	smp_mb();
	tells = tells && !cosy_loop_is_entered(loop);
	if (tells && loop->sleeper) {
		cosy_sleeper_wake(loop->sleeper, mode, flags);
		tells = false;
	}
	return tells;
}

/* Called with the lock of the file's wait queue, interrupts off, in any context. */
static int cosy_parked_wake(struct wait_queue_entry *wait, unsigned int mode,
			    int flags, void *key)
{
	struct cosy_parked *parked = container_of(wait, struct cosy_parked,
						  wait);
	__poll_t events = key_to_poll(key), awaited = READ_ONCE(parked->events);
	struct cosy_loop *loop = parked->loop;
	bool tells, takes;

	/* A wake-up without a key can be for any event. */
	if (!awaited || (events && !(events & awaited)))
		return 0;
	spin_lock(&loop->ready_lock);
	/* An exclusive waiter consumes the event, unless it has consumed one before. */
	takes = list_empty(&parked->ready);
	tells = cosy_parked_add(parked, mode, flags);
	spin_unlock(&loop->ready_lock);
	if (!tells)
		return takes;
	/*
	 * io_uring, and aio in some kernels, signal an eventfd while they are woken as pollers.
	 * That may be this very eventfd, whose lock is held here.
	 */
	if (parked->target.kind == COSY_TARGET_EVENTFD)
		irq_work_queue(&loop->telling);
	else
		cosy_loop_wake_pollers(loop);
	return takes;
}

/*
 * Add to the file's queue: an exclusive waiter at the end, any other before the exclusive ones.
 * An exclusive waiter that consumes an event ends the walk over the queue. The caller holds the
 * queue's lock.
 */
static void cosy_wait_enqueue(struct wait_queue_entry *wait, wait_queue_head_t *queue)
{
	struct wait_queue_entry *waiter;

	if (wait->flags & WQ_FLAG_EXCLUSIVE) {
		__add_wait_queue_entry_tail(queue, wait);
		return;
	}
	list_for_each_entry(waiter, &queue->head, entry) {
		if (waiter->flags & WQ_FLAG_EXCLUSIVE)
			break;
	}
	list_add_tail(&wait->entry, &waiter->entry);
}

/* Return the number of entries of a queue, at most @max. The caller holds its lock. */
static unsigned int cosy_wait_queue_count(const wait_queue_head_t *queue, unsigned int max)
{
	const struct list_head *waiter;
	unsigned int waiters = 0;

	list_for_each(waiter, &queue->head) {
		if (++waiters >= max)
			break;
	}
	return waiters;
}

/**
 * cosy_wait_queue_add() - add to a file's queue, unless it has max_waiters entries
 * @queue: the queue
 * @wait:  the waiter
 *
 * Each event walks the whole queue with interrupts off, in the context that causes it. Waiters of
 * other kinds count, too, so that the walk below is bounded.
 *
 * Return: false if it has.
 */
bool cosy_wait_queue_add(wait_queue_head_t *queue, struct wait_queue_entry *wait)
{
	const unsigned int max = READ_ONCE(max_waiters);
	bool adds;

	spin_lock_irq(&queue->lock);
	adds = cosy_wait_queue_count(queue, max) < max;
	if (adds)
		cosy_wait_enqueue(wait, queue);
	spin_unlock_irq(&queue->lock);
	return adds;
}

/* Return true if a call that waits to send has ended, although poll() does not report it. */
static bool cosy_parked_is_shut(const struct cosy_parked *parked)
{
	return parked->target.kind == COSY_TARGET_SOCKET && parked->events & EPOLLOUT &&
	       cosy_socket_send_is_shut(parked->target.object);
}

/* Check for events since the call failed: they have not woken the entry. */
static void cosy_parked_look(struct cosy_parked *parked, struct file *file)
{
	/* As in sock_poll_wait(): add to the queue before reading the file's state. */
	smp_mb();
	if (cosy_target_poll(&parked->target, file, parked->events) ||
	    cosy_parked_is_shut(parked))
		cosy_parked_again(parked);
}

/**
 * cosy_parked_init() - initialise a struct cosy_parked that waits for nothing
 * @parked: the structure
 * @kind:   what contains it
 * @loop:   the loop
 * @index:  index of its entry
 */
void cosy_parked_init(struct cosy_parked *parked, enum cosy_parked_kind kind,
		      struct cosy_loop *loop, u32 index)
{
	init_waitqueue_func_entry(&parked->wait, cosy_parked_wake);
	INIT_LIST_HEAD(&parked->ready);
	parked->loop = loop;
	parked->target = (struct cosy_target){};
	parked->events = 0;
	parked->index = index;
	parked->kind = kind;
	parked->silent = false;
}

static __poll_t cosy_parked_events(u8 flags)
{
	__poll_t events = 0;

	if (flags & COSY_WAIT_IN)
		events |= COSY_EVENTS_IN;
	if (flags & COSY_WAIT_OUT)
		events |= COSY_EVENTS_OUT;
	return events;
}

/**
 * cosy_parked_unqueue() - end the wait for a file, and forget its events
 * @parked: what waits; may wait for nothing
 *
 * May sleep.
 */
void cosy_parked_unqueue(struct cosy_parked *parked)
{
	struct cosy_loop *loop = parked->loop;
	bool has_taken;

	if (parked->target.queue)
		remove_wait_queue(parked->target.queue, &parked->wait);
	/* After its removal from the queue no event adds it to the ready list. */
	spin_lock_irq(&loop->ready_lock);
	has_taken = !list_empty(&parked->ready);
	list_del_init(&parked->ready);
	spin_unlock_irq(&loop->ready_lock);
	if (!parked->target.queue)
		return;
	/* It has consumed an event without using it: pass the event on. */
	if (has_taken && parked->wait.flags & WQ_FLAG_EXCLUSIVE)
		wake_up_interruptible_poll(parked->target.queue,
					   EPOLLIN | EPOLLRDNORM);
	parked->wait.flags = 0;
	cosy_target_put(&parked->target);
}

/* Move to the end of the file's queue. If the queue is too long by now, keep the place. */
static void cosy_parked_requeue(struct cosy_parked *parked)
{
	const unsigned int max = READ_ONCE(max_waiters);
	wait_queue_head_t *queue = parked->target.queue;

	spin_lock_irq(&queue->lock);
	if (cosy_wait_queue_count(queue, max + 1) <= max) {
		list_del(&parked->wait.entry);
		cosy_wait_enqueue(&parked->wait, queue);
	}
	spin_unlock_irq(&queue->lock);
}

/* Wait for a new target. @flags: as for cosy_park_on(). Return false if it cannot wait. */
static bool cosy_parked_wait(struct cosy_parked *parked, struct file *file,
			     u8 flags, bool exclusive)
{
	struct cosy_target target;

	if (parked->target.queue)
		cosy_parked_unqueue(parked);
	if (!file || !cosy_target_find(&target, file, flags))
		return false;
	cosy_waiter_step_aside(READ_ONCE(parked->loop->ring), (u32)parked->call.args[0]);
	parked->target = target;
	parked->events = cosy_parked_events(flags);
	parked->wait.flags = exclusive ? WQ_FLAG_EXCLUSIVE : 0;
	if (!cosy_wait_queue_add(target.queue, &parked->wait)) {
		parked->target = (struct cosy_target){};
		return false;
	}
	/* Until here the file keeps the target alive. */
	cosy_target_get(&parked->target, file);
	cosy_parked_look(parked, file);
	return true;
}

/**
 * cosy_park_is_futile() - test whether a file never again has an event for which a call waits
 * @file:   the file, or NULL
 * @events: the events
 *
 * Return: true for input of a datagram socket that is shut down. A call in user mode returns 0.
 */
bool cosy_park_is_futile(struct file *file, __poll_t events)
{
	struct socket *socket = cosy_socket_of(file);

	return socket && events & EPOLLIN && socket->type != SOCK_STREAM &&
	       cosy_socket_is_shut(socket);
}

/**
 * cosy_park_on() - wait for the file of a call that has failed with -EAGAIN
 * @parked: what waits. It may wait for the same file already
 * @file:   the file, or NULL
 * @flags:  COSY_WAIT_IN, COSY_WAIT_OUT
 *
 * Return: false if it cannot wait: entries cannot wait for such a file, max_waiters wait for it
 * already, or there will be no event.
 */
bool cosy_park_on(struct cosy_parked *parked, struct file *file, u8 flags)
{
	__poll_t events = cosy_parked_events(flags);

	if (unlikely(cosy_park_is_futile(file, events)))
		return false;
	if (file && cosy_target_same(&parked->target, file, flags)) {
		if (unlikely(!cosy_wait_queue_is_single(parked->target.queue)))
			cosy_parked_requeue(parked);
		if (parked->events != events) {
			WRITE_ONCE(parked->events, events);
			cosy_parked_look(parked, file);
		}
		return true;
	}
	return cosy_parked_wait(parked, file, flags, false);
}

/**
 * cosy_park_exclusively() - wait for input; each event wakes one of the exclusive waiters
 * @parked: what waits. It may wait for the same file already
 * @file:   the file of a call that has failed with -EAGAIN, or would fail
 *
 * The waiter consumes the event that wakes it. If the call does not use the event,
 * cosy_park_pass() has to wake the next waiter.
 *
 * Return: as cosy_park_on().
 */
bool cosy_park_exclusively(struct cosy_parked *parked, struct file *file)
{
	struct socket *socket = cosy_socket_of(file);

	if (unlikely(socket && cosy_socket_is_shut(socket)))
		return false;
	/* It keeps its place in the queue. */
	if (parked->wait.flags & WQ_FLAG_EXCLUSIVE &&
	    cosy_target_same(&parked->target, file, COSY_WAIT_IN))
		return true;
	return cosy_parked_wait(parked, file, COSY_WAIT_IN, true);
}

/**
 * cosy_park_pass() - end an exclusive wait
 * @parked: what waits; nothing happens unless it waits exclusively
 * @used:   the call has used the event; otherwise the event wakes the next waiter
 *
 * May sleep.
 */
void cosy_park_pass(struct cosy_parked *parked, bool used)
{
	if (!(parked->wait.flags & WQ_FLAG_EXCLUSIVE))
		return;
	if (!used)
		cosy_parked_again(parked);
	cosy_parked_unqueue(parked);
}

/**
 * cosy_park_has_input() - test whether poll() of a file reports input or an error
 * @file: the file
 *
 * Return: true if it does.
 */
bool cosy_park_has_input(struct file *file)
{
	poll_table pt = { ._key = COSY_EVENTS_IN };

	return vfs_poll(file, &pt) & COSY_EVENTS_IN;
}

/* Return true if it waits for input of @file already. */
static bool cosy_parked_reads(const struct cosy_parked *parked,
			      const struct file *file)
{
	return cosy_target_is(&parked->target, file) &&
	       (parked->target.kind != COSY_TARGET_PIPE ||
		parked->events == COSY_EVENTS_IN);
}

/* Return true if the file certainly has no input. */
static bool cosy_parked_is_idle(const struct cosy_parked *parked,
				struct file *file)
{
	return (parked->target.kind == COSY_TARGET_SOCKET &&
		cosy_socket_is_idle(parked->target.object)) ||
	       !cosy_target_poll(&parked->target, file, COSY_EVENTS_IN);
}

/**
 * cosy_park_idle() - wait for input without making the call, if the file has none
 * @parked: what waits. It may wait for the same file already
 * @file:   the file; its poll() has to report whether the call would wait
 *
 * A call that fails costs five times as much as poll(). If other entries wait for the same file,
 * they get the input first.
 *
 * Return: true if it waits; false if the caller has to make the call.
 */
bool cosy_park_idle(struct cosy_parked *parked, struct file *file)
{
	struct cosy_loop *loop = parked->loop;

	if (unlikely(!cosy_parked_reads(parked, file)))
		return cosy_park_on(parked, file, COSY_WAIT_IN);
	WRITE_ONCE(parked->events, COSY_EVENTS_IN);
	if (unlikely(!cosy_wait_queue_is_single(parked->target.queue))) {
		cosy_parked_requeue(parked);
		cosy_parked_again(parked);
		return true;
	}
	/*
	 * Forget earlier events: the file's state shows their effect. An event that another CPU is
	 * just adding may be missed here. It only causes one more check of the state.
	 */
	if (!data_race(list_empty(&parked->ready))) {
		spin_lock_irq(&loop->ready_lock);
		list_del_init(&parked->ready);
		spin_unlock_irq(&loop->ready_lock);
	}
	/* As in sock_poll_wait(): add to the queue before reading the file's state. */
	smp_mb();
	return cosy_parked_is_idle(parked, file);
}

/**
 * struct cosy_interruption - what cosy_park_interrupt() looks for
 * @loop: the compounds of this loop
 * @fd:   that wait for this descriptor
 * @n:    number of calls found
 */
struct cosy_interruption {
	struct cosy_loop *loop;
	int fd;
	unsigned int n;
};

static void cosy_queue_interrupt(wait_queue_head_t *queue, void *argument)
{
	struct cosy_interruption *interruption = argument;
	struct wait_queue_entry *wait;
	struct cosy_parked *parked;

	spin_lock_irq(&queue->lock);
	list_for_each_entry(wait, &queue->head, entry) {
		if (wait->func != cosy_parked_wake)
			continue;
		parked = container_of(wait, struct cosy_parked, wait);
		if (parked->loop != interruption->loop || parked->kind != COSY_PARKED_COMPOUND ||
		    !cosy_coroutine_waits(parked, interruption->fd))
			continue;
		cosy_coroutine_interrupt(parked);
		interruption->n++;
	}
	spin_unlock_irq(&queue->lock);
}

/**
 * cosy_park_interrupt() - make the calls fail that compounds wait to make on a descriptor
 * @loop: the loop, entered
 * @fd:   the descriptor, of any file
 *
 * Return: the number of calls.
 */
unsigned int cosy_park_interrupt(struct cosy_loop *loop, int fd)
{
	struct cosy_interruption interruption = { .loop = loop, .fd = fd };
	struct file *file = fget(fd);

	if (!file)
		return 0;
	cosy_target_each_queue(file, cosy_queue_interrupt, &interruption);
	fput(file);
	return interruption.n;
}

/**
 * cosy_park_interrupt_stale() - the same for calls whose file the descriptor does not refer to
 * @loop: the loop, entered
 * @fd:   the descriptor, which was closed, and may have been opened again
 *
 * Looks at all entries.
 *
 * Return: the number of calls.
 */
unsigned int cosy_park_interrupt_stale(struct cosy_loop *loop, int fd)
{
	struct cosy_fd found = cosy_fd_get(fd);
	struct cosy_parked *parked;
	unsigned int n = 0;
	u32 i;

	for (i = 0; i < loop->nentries; i++) {
		if (!(i & 0xff))
			cond_resched();
		parked = loop->parked[i];
		if (!parked || parked->kind != COSY_PARKED_COMPOUND || !parked->target.queue ||
		    !cosy_coroutine_waits(parked, fd) ||
		    cosy_parked_is_current(parked, found.file))
			continue;
		cosy_coroutine_interrupt(parked);
		n++;
	}
	cosy_fd_put(found);
	return n;
}

/**
 * cosy_unpark() - end the wait of an entry, and free what the loop keeps for it
 * @parked: what the loop keeps; freed
 *
 * The loop is entered, or has no user any more. May sleep.
 */
void cosy_unpark(struct cosy_parked *parked)
{
	struct cosy_loop *loop = parked->loop;

	WRITE_ONCE(loop->parked[parked->index], NULL);
	if (parked->kind != COSY_PARKED_READING)
		cosy_parked_unqueue(parked);
	switch (parked->kind) {
	case COSY_PARKED_COMPOUND:
		cosy_coroutine_free(parked);
		break;
	case COSY_PARKED_LENT:
		cosy_lent_free(parked);
		break;
	case COSY_PARKED_READING:
		cosy_reading_free(parked);
	}
}

/**
 * cosy_parked_next() - take the first element of the ready list
 * @loop: the loop, entered
 *
 * It stays in its file's wait queue: the next event adds it to the list again.
 *
 * Return: the element, or NULL if the list is empty.
 */
struct cosy_parked *cosy_parked_next(struct cosy_loop *loop)
{
	struct cosy_parked *parked;

	/* An event after this check wakes the pollers when the thread leaves. */
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
 * cosy_parked_again() - add to the ready list, as an event does, without waking a thread
 * @parked: what waits
 */
void cosy_parked_again(struct cosy_parked *parked)
{
	struct cosy_loop *loop = parked->loop;
	unsigned long irq;

	spin_lock_irqsave(&loop->ready_lock, irq);
	if (list_empty(&parked->ready))
		list_add_tail(&parked->ready, &loop->ready);
	spin_unlock_irqrestore(&loop->ready_lock, irq);
}

/**
 * cosy_loop_is_ready() - test whether there has been an event for an entry that waits
 * @loop: the loop
 *
 * Takes the lock, so that an event that a poller does not see here wakes it: the poller has added
 * itself to the loop's wait queue before.
 *
 * Return: true if there has been one.
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
 * cosy_loop_tell() - wake the thread that sleeps in a loop, or else the pollers
 * @loop:  the loop
 * @flags: passed to default_wake_function()
 *
 * Can be called in any context, but not for the queue of an eventfd: see cosy_parked_wake().
 */
void cosy_loop_tell(struct cosy_loop *loop, int flags)
{
	unsigned long irq;
	bool sleeps;

	spin_lock_irqsave(&loop->ready_lock, irq);
	sleeps = loop->sleeper;
	if (sleeps)
		cosy_sleeper_wake(loop->sleeper, TASK_INTERRUPTIBLE, flags);
	spin_unlock_irqrestore(&loop->ready_lock, irq);
	if (!sleeps)
		cosy_loop_wake_pollers(loop);
}
