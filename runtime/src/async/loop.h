/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.h - a loop as its parts see it.
 *
 *	page.c		the syscall page: entries and rings
 *	loop.c		create, destroy, wake, stop
 *	start.c		an entry is taken from the page: which way does it go?
 *	attempt.c	calls that do not block, made in batches
 *	transfer.h	recvfrom() and sendto() of sockets, made at once
 *	module.c	attempts that the module makes, and goes on with; compounds there
 *	direct.c	calls that do not wait, submitted to the module at once
 *	descriptor.c	entries that wait for descriptors, by epoll
 *	timer.c		entries that wait for a time
 *	thread.c	calls that block, made by threads
 *	queue.c		lists of entries
 *	wait.c		execute, wait, deliver
 *	cancel.c	cancel an entry, or all on a descriptor
 *	cpu.c		entries that threads on other processors execute
 *	task.c		functions that are suspended while their calls are executed
 *	coroutine.c	parts of functions that the module executes as compounds
 *
 * All of a loop but its page's indices is protected by its lock, which no callback
 * and no call that blocks is made under. Only attempts are: they do not wait.
 */
#ifndef COSY_LOOP_H
#define COSY_LOOP_H

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <cosy/async.h>
#include <linux/cosy_async.h>

#include "lock.h"

/* For what nearly every operation executes. */
#define COSY_ALWAYS_INLINE	inline __attribute__((always_inline))
/* For what these leave to others. */
#define COSY_NOINLINE	__attribute__((noinline))
#define COSY_UNLIKELY(condition)	__builtin_expect(!!(condition), 0)
#define COSY_NO_SLOT	UINT32_MAX
#define COSY_MAX_FD	(1u << 24)

/** enum cosy_how - how a call waits (waits.def) */
enum cosy_how {
	COSY_HOW_DISK,		/* not for ever: a thread makes it */
	COSY_HOW_REFUSED,	/* may not be made */
	COSY_HOW_NOWAIT,	/* not if the module can make it so; else as DISK */
	COSY_HOW_DIRECT,	/* not at all */
	COSY_HOW_READ,
	COSY_HOW_WRITE,
	COSY_HOW_RECEIVE,
	COSY_HOW_SEND,
	COSY_HOW_ACCEPT,
	COSY_HOW_CONNECT,
	COSY_HOW_POLL,
	COSY_HOW_SLEEP,
	COSY_HOW_SIGNAL,
	COSY_HOW_CLOSE,
	COSY_HOW_LOCK,
	COSY_HOW_THREAD,
	COSY_HOW_TIMED,		/* the same; a signal does not end it, and does not begin it anew */
	COSY_HOW_COMPOUND,	/* no call: the module runs a compound */
};

/** enum cosy_slot_state - where the executor has an entry */
enum cosy_slot_state {
	COSY_SLOT_FREE,
	COSY_SLOT_SUBMITTED,	/* in the ring */
	COSY_SLOT_ATTEMPT,	/* in the batch of attempts */
	COSY_SLOT_DIRECT,	/* in the module's page, DIRECT or NOWAIT, submitted there */
	COSY_SLOT_SENT,		/* a processor's loop has it */
	COSY_SLOT_PARKED,	/* in the module's page, for anything else */
	COSY_SLOT_WAITING,	/* in the list of a descriptor */
	COSY_SLOT_SLEEPING,	/* among the timers */
	COSY_SLOT_QUEUED,	/* for a thread */
	COSY_SLOT_RUNNING,	/* a thread makes its call */
	COSY_SLOT_DONE,		/* in the ring of completed entries */
	COSY_SLOT_HELD,		/* its function is running */
};

/** enum cosy_list - what entries wait for at a descriptor */
enum cosy_list {
	COSY_LIST_IN,
	COSY_LIST_OUT,
	COSY_LIST_POLL,
	COSY_LISTS,
	COSY_LIST_NONE = COSY_LISTS,
};

/**
 * struct cosy_slot - what the executor keeps of an entry
 * @next:      in the list that @state says; of free slots, too
 * @prev:      in the list of a descriptor
 * @state:     enum cosy_slot_state
 * @how:       enum cosy_how, from when it is submitted on
 * @list:      enum cosy_list: the list of @fd it is in, at its head unless WAITING
 * @cancelled: to be completed with -ECANCELED instead of being executed
 * @polled:    the call cannot be made so that it does not block
 * @on_disk:   its thread is one for calls that use a disk
 * @lent:      PARKED: a thread in the module makes its call
 * @connecting: the call has been made, the connection is being established
 * @buffered:  it reads a file by COSY_ENTRY_BUFFERED, and is in the loop's queue of these
 * @task:      it belongs to a function until that has returned
 * @fd:	       the descriptor it waits for, or is to be forgotten when it is SENT; of a SIGNAL,
 *	       one of its own
 * @timer:     place among the timers
 * @cpu:       SENT: the processor
 * @queue_next: in a struct cosy_queue
 * @queue_prev: in a struct cosy_queue
 * @done:      bytes transferred so far; of a POLL, its events
 */
struct cosy_slot {
	uint32_t next;
	uint32_t prev;
	uint8_t state;
	uint8_t how;
	uint8_t list;
	bool cancelled : 1;
	bool polled : 1;
	bool on_disk : 1;
	bool lent : 1;
	bool connecting : 1;
	bool buffered : 1;
	bool task : 1;
	int32_t fd;
	union {
		uint32_t timer;
		uint32_t cpu;
	};
	uint32_t queue_next;
	uint32_t queue_prev;
	uint64_t done;
};

/** enum cosy_kind - how calls on a descriptor are made so that they do not block */
enum cosy_kind {
	COSY_KIND_UNKNOWN,
	COSY_KIND_SOCKET,	/* MSG_DONTWAIT */
	COSY_KIND_NOWAIT,	/* RWF_NOWAIT */
	COSY_KIND_PIPE,		/* the same; compounds wait for it in the module */
	COSY_KIND_POLLED,	/* not at all: poll, then a thread */
	COSY_KIND_DISK,		/* RWF_NOWAIT, or a thread; cannot be polled */
};

/**
 * struct cosy_descriptor - what a loop knows of a descriptor
 * @head:     first of the entries that wait, for each enum cosy_list. Only the
 *	      first is being executed
 * @tail:     the last one
 * @armed:    events that epoll reports
 * @added:    epoll has it
 * @kind:     enum cosy_kind
 * @nonblock: it had O_NONBLOCK when its kind was found
 * @type:     SOCK_STREAM and so on
 */
struct cosy_descriptor {
	uint32_t head[COSY_LISTS];
	uint32_t tail[COSY_LISTS];
	uint32_t armed;
	bool added;
	uint8_t kind;
	bool nonblock;
	uint8_t type;
};

/* Descriptors of one chunk of the table. */
#define COSY_CHUNK	256u

/**
 * struct cosy_attempt - a call that does not block
 * @nr:	    its number
 * @args:   its arguments
 * @result: what it returned
 * @slot:   whose it is
 * @iov:    for calls that take a vector, in place of those that do not
 */
struct cosy_attempt {
	uint64_t nr;
	uint64_t args[6];
	int64_t result;
	uint32_t slot;
	struct iovec iov;
};

/* Attempts that are made at once; and that can wait for it. */
#define COSY_ATTEMPTS	64u
#define COSY_ATTEMPTS_WAITING	256u

/**
 * struct cosy_module - a loop's page in the module
 * @fd:	       the descriptor by which it is entered; -1: there is none
 * @page:      the page; @entries, @submitted and @done are parts of it
 * @page_size: bytes of @page
 * @tail:      entries submitted so far
 * @direct:    so many of them are DIRECT or NOWAIT calls that the module cannot see yet: the
 *	       last ones
 * @direct_nowait: one of these is a NOWAIT call
 * @head:      entries collected so far
 * @inside:    entries submitted and not collected, but those in state DIRECT: these do not wait
 * @compounds: those of them that run compounds
 * @tried:     whether there can be a page is known
 * @waits:     it makes all attempts that can wait, and waits for sockets
 * @has_threads: threads can wait for work there
 * @has_nowait: it makes NOWAIT calls
 * @has_buffered: it reads files on disks, and waits for the disk
 * @looked:    it was entered since a thread last began to wait, or looked at epoll
 * @asleep:    a thread sleeps there, or executes what has woken it, without the lock
 */
struct cosy_module {
	int fd;
	struct cosy_async_page *page;
	struct cosy_async_entry *entries;
	uint32_t *submitted;
	uint32_t *done;
	size_t page_size;
	uint32_t tail;
	uint32_t direct;
	bool direct_nowait;
	uint32_t head;
	uint32_t inside;
	uint32_t compounds;
	bool tried;
	bool waits;
	bool has_threads;
	bool has_nowait;
	bool has_buffered;
	bool looked;
	atomic_bool asleep;
};

/**
 * struct cosy_timer - an entry that waits for a time
 * @time: CLOCK_MONOTONIC in nanoseconds
 * @slot: the entry
 */
struct cosy_timer {
	uint64_t time;
	uint32_t slot;
};

/**
 * struct cosy_queue - a list of entries: of a pool, or those that read files in the module
 * @head:  the first one
 * @tail:  the last one
 * @count: how many there are
 */
struct cosy_queue {
	uint32_t head;
	uint32_t tail;
	uint32_t count;
};

/**
 * struct cosy_pool - threads that make calls
 * @loop:    whose they are
 * @queued:  entries for which there is no thread yet
 * @lent:    entries that are LENT to the module, whose calls such threads make there
 * @threads: how many there are
 * @idle:    how many of them have nothing to do, or are in the module
 * @inside:  how many of these are in the module
 * @max:     how many there may be
 * @work:    there is something to do
 */
struct cosy_pool {
	struct cosy_loop *loop;
	struct cosy_queue queued;
	struct cosy_queue lent;
	uint32_t threads;
	uint32_t idle;
	uint32_t inside;
	uint32_t max;
	struct cosy_event work;
};

/* Colours that have the same of these upper bits after mixing are one colour. */
#define COSY_COLOUR_BITS	8

/**
 * struct cosy_colour - callbacks that may not run at the same time
 * @running: a thread calls one, and then those that are due
 * @first:   due, the oldest one; NULL: none
 * @last:    the newest one, unless there is none
 */
struct cosy_colour {
	bool running;
	struct cosy_coloured *first;
	struct cosy_coloured *last;
};

/**
 * struct cosy_team - threads in cosy_loop_run_threads()
 * @members: how many there are; 0: nobody has called it
 * @idle:    how many of them have found nothing outstanding
 * @over:    all have, or the loop was stopped
 * @stopped: it was
 */
struct cosy_team {
	uint32_t members;
	uint32_t idle;
	bool over;
	bool stopped;
};

/** enum cosy_cpu_state - what the thread of a processor does */
enum cosy_cpu_state {
	COSY_CPU_RUNS,		/* runs its loop */
	COSY_CPU_RESTS,		/* waits */
	COSY_CPU_ENDS,
};

/**
 * struct cosy_cpu - a processor that executes operations which are sent to it
 * @loop:	 executes them
 * @owner:	 the loop that sends them
 * @thread:	 runs that loop, on the processor
 * @number:	 the processor's
 * @outstanding: operations sent and not complete; under the lock of the loop that sends them
 * @put_lock:	 protects the next four; @told is read without it, too
 * @put:	 entries of @owner that @loop has not taken
 * @told:	 there are some, and @loop's wake_fd was made readable unless it was @looking
 * @looking:	 the thread looks at @told before it sleeps
 * @from:	 the CPU on which the last one was put
 * @wanted:	 what the thread is to do; this and the following under the lock of @loop
 * @rests:	 it does
 * @changed:	 one of these two has
 */
struct cosy_cpu {
	struct cosy_loop *loop;
	struct cosy_loop *owner;
	pthread_t thread;
	uint32_t number;
	uint32_t outstanding;
	struct cosy_lock put_lock;
	struct cosy_queue put;
	atomic_bool told;
	bool looking;
	uint32_t from;
	enum cosy_cpu_state wanted;
	bool rests;
	struct cosy_event changed;
};

/**
 * struct cosy_loop - a loop
 * @lock:	protects all of it
 * @owner:	1 in the process that made the loop; a child finds 0 there
 * @page:	the syscall page; @entries, @submitted and @done are parts of it
 * @mask:	number of entries - 1
 * @page_size:	bytes of @page
 * @slots:	one for each entry
 * @free:	first free slot of those that were used before
 * @fresh:	first slot that was never used
 * @outstanding: submitted and not delivered
 * @epoll:	descriptor of the epoll instance
 * @wake_fd:	an eventfd in it
 * @timer_fd:	a timerfd in it for @external, or -1
 * @woken:	@wake_fd is readable
 * @external:	somebody polls @epoll: make it readable for all that is to do
 * @blocked:	a thread waits for @epoll
 * @awaits_ops:	a thread that is @blocked waits for certain operations
 * @waiters:	threads that wait for @changed
 * @inside:	calls that execute and deliver
 * @changed:	there are completions, nobody is @blocked any more, or a thread of the
 *		loop has ended
 * @stop:	cosy_loop_stop() was called
 * @closing:	it is being destroyed
 * @spreads:	it has processors
 * @attention:	not 0 if a submission has to look at one of these
 * @streak:	how often nobody looked at @epoll, because there was enough to do
 * @chunks:	the table of descriptors
 * @nchunks:	its length
 * @used:	for each descriptor of the table a bit: cosy_descriptor_use()
 * @all_used:	there was no memory for a bit
 * @batch:	attempts to be made, @nbatch of them; one of @batches, the other one is
 *		for those that follow from them
 * @kernel:	the module makes them
 * @module:	makes them there, and waits there
 * @timers:	a heap of @ntimers, with room for @max_timers
 * @alarm:	time @timer_fd is set to; 0: none
 * @disk:	threads for calls that use a disk
 * @waits:	threads for calls that may wait for ever
 * @reading:	entries that are buffered
 * @calling:	entries whose calls threads are making
 * @cpu:	the processor that it is the loop of, or NULL
 * @cpus:	processors to which operations are sent, @ncpus of them
 * @sent:	for each slot the operation of the processor that has its entry
 * @used_fds:	what they have used, @nused_fds of them
 * @colours:	of callbacks
 * @team:	threads that run the loop together
 * @info:	counts
 */
struct cosy_loop {
	struct cosy_lock lock;
	volatile int *owner;
	struct cosy_async_page *page;
	struct cosy_async_entry *entries;
	uint32_t *submitted;
	uint32_t *done;
	uint32_t mask;
	size_t page_size;
	struct cosy_slot *slots;
	uint32_t free;
	uint32_t fresh;
	uint32_t outstanding;
	int epoll;
	int wake_fd;
	int timer_fd;
	bool woken;
	union {
		struct {
			bool external;
			bool blocked;
			bool closing;
			bool spreads;
		};
		uint32_t attention;
	};
	atomic_bool stop;
	bool awaits_ops;
	uint32_t waiters;
	uint32_t inside;
	struct cosy_event changed;
	uint32_t streak;
	struct cosy_descriptor **chunks;
	uint32_t nchunks;
	uint8_t *used;
	bool all_used;
	struct cosy_attempt *batch;
	uint32_t nbatch;
	struct cosy_attempt batches[2][COSY_ATTEMPTS_WAITING];
	bool kernel;
	struct cosy_module module;
	struct cosy_timer *timers;
	uint32_t ntimers;
	uint32_t max_timers;
	uint64_t alarm;
	struct cosy_pool disk;
	struct cosy_pool waits;
	struct cosy_queue reading;
	uint32_t calling;
	struct cosy_cpu *cpu;
	struct cosy_cpu *cpus;
	uint32_t ncpus;
	struct cosy_async *sent;
	struct cosy_used_fd *used_fds;
	uint32_t nused_fds;
	struct cosy_colour colours[1 << COSY_COLOUR_BITS];
	struct cosy_team team;
	struct cosy_loop_info info;
};

/** cosy_loop_enter() - take the lock; 0, or -EPERM in a child */
int cosy_loop_enter(struct cosy_loop *loop);

/** cosy_loop_leave() - give the lock back */
static inline void cosy_loop_leave(struct cosy_loop *loop)
{
	cosy_unlock(&loop->lock);
}

/** cosy_loop_changed() - let all threads that wait for another one look at the loop */
static inline void cosy_loop_changed(struct cosy_loop *loop)
{
	if (loop->waiters)
		cosy_event_happened(&loop->changed, INT_MAX);
}

/** cosy_loop_write_wake_fd() - make @wake_fd readable */
void cosy_loop_write_wake_fd(struct cosy_loop *loop);

/**
 * cosy_loop_wake() - make whoever waits for epoll look at the loop again
 *
 * That is a thread, or another event loop that polls this one.
 */
static inline void cosy_loop_wake(struct cosy_loop *loop)
{
	if ((loop->blocked || loop->external) && !loop->woken)
		cosy_loop_write_wake_fd(loop);
}

/** cosy_loop_tell() - something is complete: make all that wait look at the loop */
static inline void cosy_loop_tell(struct cosy_loop *loop)
{
	cosy_loop_wake(loop);
	cosy_loop_changed(loop);
}

/**
 * cosy_loop_quiesce() - let no call run, nor begin, that cannot be cancelled
 *
 * Return: true: the lock is taken, and as long as it is, that remains so; false: a thread makes
 * such a call.
 */
bool cosy_loop_quiesce(struct cosy_loop *loop);

/** cosy_loop_close() - complete all operations, then let the threads end; gives the lock back */
void cosy_loop_close(struct cosy_loop *loop);

/** cosy_loop_free() - free a loop that is closed */
void cosy_loop_free(struct cosy_loop *loop);

/** cosy_clock() - CLOCK_MONOTONIC in nanoseconds */
uint64_t cosy_clock(void);

/* page.c */

/** cosy_index_load() - read an index of a page, before what it tells of */
static inline uint32_t cosy_index_load(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

/** cosy_index_store() - write an index of a page, after what it tells of */
static inline void cosy_index_store(uint32_t *index, uint32_t value)
{
	__atomic_store_n(index, value, __ATOMIC_RELEASE);
}

/** cosy_page_create() - make the page and the slots; 0 or -ENOMEM */
int cosy_page_create(struct cosy_loop *loop, uint32_t entries);

/** cosy_page_destroy() - free both */
void cosy_page_destroy(struct cosy_loop *loop);

/**
 * cosy_page_hold() - take an entry for a function that begins
 * @op: the operation of each of its calls. It completes at once: then the function
 *	is to be resumed for the first time
 *
 * Return: 0, -EAGAIN or -ESHUTDOWN.
 */
int cosy_page_hold(struct cosy_loop *loop, struct cosy_async *op);

/** cosy_page_submit_held() - submit a call of a function; the entry is filled in */
void cosy_page_submit_held(struct cosy_loop *loop, struct cosy_async *op,
			   enum cosy_how how);

/**
 * cosy_page_submit() - submit a call to this loop, which has a slot for it
 * @op: an operation that is not pending, or NULL
 */
void cosy_page_submit(struct cosy_loop *loop, struct cosy_async *op, long nr,
		      const uint64_t args[6]);

/** cosy_page_withdraw() - a DIRECT entry, which is filled in, is begun with from here */
void cosy_page_withdraw(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_page_prepare() - set what the executor keeps of an entry that it begins with
 *
 * Until then only the members from @state to @task are set.
 */
static inline void cosy_page_prepare(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];

	s->next = s->prev = COSY_NO_SLOT;
	s->fd = -1;
	s->done = 0;
}

/** cosy_page_unsubmit() - an entry is the first of those that are submitted; it is filled in */
void cosy_page_unsubmit(struct cosy_loop *loop, uint32_t slot);

/** cosy_page_release() - give back an entry that nobody needs any more, and no function has */
static inline void cosy_page_release(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots[slot].state = COSY_SLOT_FREE;
	loop->slots[slot].next = loop->free;
	loop->free = slot;
	loop->outstanding--;
}

/** cosy_page_first() - the next submitted entry, or COSY_NO_SLOT; it stays in the ring */
static inline uint32_t cosy_page_first(const struct cosy_loop *loop)
{
	const struct cosy_async_page *page = loop->page;
	uint32_t head = page->submit_head;

	return head == page->submit_tail ? COSY_NO_SLOT :
					   loop->submitted[head & loop->mask];
}

/** cosy_page_taken() - take it out of the ring */
static inline void cosy_page_taken(struct cosy_loop *loop)
{
	cosy_index_store(&loop->page->submit_head, loop->page->submit_head + 1);
}

/**
 * cosy_complete() - an entry is complete
 * @slot:   the entry; in no list any more
 * @result: of its call
 */
static COSY_ALWAYS_INLINE void cosy_complete(struct cosy_loop *loop,
					     uint32_t slot,
					     int64_t result)
{
	struct cosy_async_page *page = loop->page;
	struct cosy_async_entry *entry = &loop->entries[slot];

	loop->info.completed++;
	entry->args[0] = (uint64_t)result;
	entry->status = COSY_ENTRY_DONE;
	if (entry->flags & COSY_ENTRY_SILENT) {
		cosy_page_release(loop, slot);
		return;
	}
	loop->slots[slot].state = COSY_SLOT_DONE;
	loop->done[page->done_tail & loop->mask] = slot;
	cosy_index_store(&page->done_tail, page->done_tail + 1);
}

/**
 * cosy_page_take_result() - give the operation of a completed entry its result
 *
 * The slot is free afterwards, unless it is a function's.
 */
static COSY_ALWAYS_INLINE struct cosy_async *
cosy_page_take_result(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	struct cosy_async_entry *entry = &loop->entries[slot];
	struct cosy_async *op = (struct cosy_async *)(uintptr_t)entry->user_data;

	op->result = result;
	entry->status = COSY_ENTRY_FREE;
	if (loop->slots[slot].task)
		loop->slots[slot].state = COSY_SLOT_HELD;
	else
		cosy_page_release(loop, slot);
	return op;
}

/**
 * cosy_page_collect() - the next completed entry
 *
 * Its slot is free afterwards. Its operation has the result, but is pending until
 * cosy_op_complete().
 *
 * Return: the operation; NULL if there is none.
 */
struct cosy_async *cosy_page_collect(struct cosy_loop *loop);

/*
 * States of a struct cosy_async; cosy_async_pending() knows PENDING. ON + n: it is to be submitted to
 * the processor n.
 */
enum { COSY_OP_IDLE, COSY_OP_PENDING, COSY_OP_COMPLETE, COSY_OP_ON };

/** cosy_op_begin() - an operation is pending */
static inline void cosy_op_begin(struct cosy_async *op, uint32_t slot)
{
	op->slot = slot;
	__atomic_store_n(&op->state, COSY_OP_PENDING, __ATOMIC_RELAXED);
}

/** cosy_op_complete() - an operation is not pending any more */
static inline void cosy_op_complete(struct cosy_async *op)
{
	__atomic_store_n(&op->state, COSY_OP_COMPLETE, __ATOMIC_RELEASE);
}

/**
 * cosy_direct_done() - have entries completed in the module that are all DIRECT?
 *
 * These need not be copied to this page.
 */
static inline bool cosy_direct_done(const struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;

	return m->page && !m->inside && m->head != cosy_index_load(&m->page->done_tail);
}

/** cosy_page_done() - are there completed entries? */
static inline bool cosy_page_done(const struct cosy_loop *loop)
{
	return loop->page->done_tail != loop->page->done_head || cosy_direct_done(loop);
}

/* start.c */

/** cosy_how() - how a call waits */
enum cosy_how cosy_how(long nr);

/**
 * cosy_closed_range() - the descriptors that a call closes that is CLOSE
 * @first: set to the first one
 * @last:  set to the last one; less than @first: there are none
 */
void cosy_closed_range(long nr, const uint64_t args[6], uint32_t *first, uint32_t *last);

/** cosy_takes_fd() - is the first argument of a call a descriptor? */
bool cosy_takes_fd(long nr);

/** cosy_start() - begin with an entry that was taken from the page */
void cosy_start(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_start_attempt() - make the call of an entry as one that does not block
 *
 * The entry is at the head of its list, if it is in one. The result comes to
 * cosy_attempted(), when the batch is made.
 */
void cosy_start_attempt(struct cosy_loop *loop, uint32_t slot);

/** cosy_read_by_thread() - a thread makes the call of a buffered entry */
void cosy_read_by_thread(struct cosy_loop *loop, uint32_t slot);

/** cosy_attempted() - an attempt has been made */
void cosy_attempted(struct cosy_loop *loop, const struct cosy_attempt *attempt);

/** cosy_start_waiting() - the head of a list would block: wait for its descriptor */
void cosy_start_waiting(struct cosy_loop *loop, uint32_t slot);

/** cosy_start_ready() - the descriptor of the entry at a list's head is ready */
void cosy_start_ready(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_finish() - an entry's call has been made for good
 *
 * Takes it out of its list, completes it, and begins with the next in the list.
 */
void cosy_finish(struct cosy_loop *loop, uint32_t slot, int64_t result);

/**
 * cosy_start_next() - begin with the entry that is the first of a list now
 * @before: what the slot was of the one that was the first
 */
void cosy_start_next(struct cosy_loop *loop, const struct cosy_slot *before);

/** cosy_thread_made() - cosy_finish(), called by the thread that has made the call */
void cosy_thread_made(struct cosy_loop *loop, uint32_t slot, int64_t result);

/** cosy_end() - cosy_finish(), but the next in the list is not begun with */
void cosy_end(struct cosy_loop *loop, uint32_t slot, int64_t result);

/* attempt.c */

/**
 * cosy_attempt_add() - add a call that does not block to the batch
 *
 * The arguments are those of the entry; the caller may change them.
 */
struct cosy_attempt *cosy_attempt_add(struct cosy_loop *loop, uint32_t slot);

/** cosy_attempts_make() - make all attempts there are, and those that follow */
void cosy_attempts_make(struct cosy_loop *loop);

/** cosy_attempts_flush() - the same if there are as many as are made at once */
static inline void cosy_attempts_flush(struct cosy_loop *loop)
{
	if (loop->nbatch >= COSY_ATTEMPTS)
		cosy_attempts_make(loop);
}

/** cosy_attempts_in_user_mode() - make @n attempts by a system call each */
void cosy_attempts_in_user_mode(struct cosy_loop *loop, struct cosy_attempt *a,
				uint32_t n);

/** cosy_attempts_init() - can the module make them? */
void cosy_attempts_init(struct cosy_loop *loop);

/* module.c */

/** cosy_module_init() - have a page in the module, if it can be had; after epoll */
void cosy_module_init(struct cosy_loop *loop);

/** cosy_module_makes_calls() - can it make attempts? Has a page if that can be had */
bool cosy_module_makes_calls(struct cosy_loop *loop);

/** cosy_module_runs_compounds() - can it run compounds? Has a page if that can be had */
bool cosy_module_runs_compounds(struct cosy_loop *loop);

/**
 * cosy_module_sync() - wait until no compound is executed by a thread that sleeps in the module
 *
 * What it executes from then on sees what was changed before.
 */
void cosy_module_sync(const struct cosy_loop *loop);

/** cosy_module_tell_used() - there is a page; or the map of used descriptors is complete no more */
void cosy_module_tell_used(struct cosy_loop *loop);

/** cosy_module_has_nowait() - does it make NOWAIT calls? Has a page if that can be had */
bool cosy_module_has_nowait(struct cosy_loop *loop);

/** cosy_module_has_buffered() - does it read files on disks? Has a page if that can be had */
bool cosy_module_has_buffered(struct cosy_loop *loop);

/** cosy_module_has_threads() - can threads wait for work there? Has a page if that can be had */
bool cosy_module_has_threads(struct cosy_loop *loop);

/**
 * cosy_module_lend() - submit an entry whose call a thread in the module is to make
 * @flags: COSY_ENTRY_LONG, COSY_ENTRY_TAKE
 */
void cosy_module_lend(struct cosy_loop *loop, uint32_t slot, uint8_t flags,
		      const uint64_t args[6]);

/** cosy_module_is_running() - does a thread make the call of a lent entry? */
bool cosy_module_is_running(const struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_cancel_lent() - cancel a lent entry
 *
 * Return: 0: it is in the module no longer; -EALREADY: its call is interrupted, and it completes;
 * -ENOENT: it is complete.
 */
int cosy_module_cancel_lent(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_work() - wait in the module for calls to make, and make them
 * @waits: calls that may wait for ever
 *
 * Gives the lock back meanwhile.
 *
 * Return: the entry with which the thread has left, or COSY_NO_SLOT.
 */
uint32_t cosy_module_work(struct cosy_loop *loop, bool waits);

/**
 * cosy_module_take() - an entry has come with a thread that has left: it is not in the module
 * @result: set to that of the call, if it was made
 *
 * Return: was it made?
 */
bool cosy_module_take(struct cosy_loop *loop, uint32_t slot, int64_t *result);

/**
 * cosy_module_recall() - let threads leave that wait for work, and keep out
 * @waits:  those for calls that may wait for ever
 * @recall: false: they may wait again
 */
void cosy_module_recall(struct cosy_loop *loop, bool waits, bool recall);

/** cosy_module_compound() - submit an entry of kind COMPOUND to it */
void cosy_module_compound(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_interrupt() - let calls fail for which compounds wait
 * @first: the first descriptor for which they wait
 * @last:  the last one; less than @first: there are none
 *
 * Return: how many there were.
 */
int cosy_module_interrupt(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_module_close() - have none any more; @mapped: not in a child */
void cosy_module_close(struct cosy_loop *loop, bool mapped);

/** cosy_module_is_needed() - can only the module wait for, or make, one of @n attempts? */
bool cosy_module_is_needed(const struct cosy_loop *loop,
			   const struct cosy_attempt *a, uint32_t n);

/** cosy_module_submitted() - are there entries that it has not taken? */
static inline bool cosy_module_submitted(const struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;

	return m->fd >= 0 && m->page->submit_head != m->tail;
}

/** cosy_module_flush() - let it take all that was submitted */
void cosy_module_flush(struct cosy_loop *loop);

/**
 * cosy_module_settle() - the same, before something is cancelled
 *
 * But DIRECT entries that it has not seen are where they are without the module, too.
 * What a module that was lost has given back is where it is without the module.
 */
void cosy_module_settle(struct cosy_loop *loop);

/* direct.c */

/** COSY_MIN_BATCH - fewer calls are sooner made one by one: entering costs as much as two */
#define COSY_MIN_BATCH	3u

/**
 * cosy_direct_can_submit() - can a call be submitted to the module at once?
 *
 * Only if nothing comes before it that is not in the module's page.
 */
static COSY_ALWAYS_INLINE bool cosy_direct_can_submit(const struct cosy_loop *loop,
						      enum cosy_how how)
{
	const struct cosy_module *m = &loop->module;

	return (how == COSY_HOW_DIRECT ? m->fd >= 0 :
					 how == COSY_HOW_NOWAIT && m->has_nowait) &&
	       !loop->nbatch && loop->page->submit_head == loop->page->submit_tail;
}

/** cosy_direct_make() - make all that was submitted there and that the module has not seen */
void cosy_direct_make(struct cosy_loop *loop);

/** cosy_direct_made() - the module has made one, or has left it to user mode */
void cosy_direct_made(struct cosy_loop *loop, uint32_t slot);

/** cosy_direct_make_in_user_mode() - the module will not make this one: do that, or let a thread */
void cosy_direct_make_in_user_mode(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_direct_start() - begin with one of a few entries that were taken from the page
 *
 * Return: false if it is left to cosy_start().
 */
bool cosy_direct_start(struct cosy_loop *loop, uint32_t slot);

/** cosy_direct_retract() - put those that the module has not seen into the ring */
void cosy_direct_retract(struct cosy_loop *loop);

/* module.c */

/** cosy_module_publish() - let the module see what was submitted to it */
static inline void cosy_module_publish(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	loop->info.attempts += m->direct;
	m->direct = 0;
	m->direct_nowait = false;
	__atomic_store_n(&m->page->submit_tail, m->tail, __ATOMIC_RELEASE);
}

/** cosy_module_make() - make @n attempts; their results are collected afterwards */
void cosy_module_make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n);

/** cosy_module_done() - are there results for cosy_module_collect()? */
static inline bool cosy_module_done(const struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;

	return m->inside && m->head != cosy_index_load(&m->page->done_tail);
}

/**
 * cosy_attempts_pending() - is there something for cosy_attempts_make()?
 *
 * A thread that has made a call may have left it there, while another one was in a callback.
 */
static inline bool cosy_attempts_pending(const struct cosy_loop *loop)
{
	return loop->nbatch || cosy_module_submitted(loop) || cosy_module_done(loop);
}

/**
 * cosy_module_collect() - give results to cosy_attempted()
 * @max_attempts: stop when so many attempts have followed from them
 */
void cosy_module_collect(struct cosy_loop *loop, uint32_t max_attempts);

/** cosy_module_look() - let those go on that were PARKED and can; make what follows */
void cosy_module_look(struct cosy_loop *loop);

/** cosy_module_poll() - let epoll know the module, and tell of it if nobody is to sleep there */
int cosy_module_poll(const struct cosy_loop *loop);

/** cosy_module_sleeps() - does something wait in the module for which a thread can sleep there? */
bool cosy_module_sleeps(const struct cosy_loop *loop);

/**
 * cosy_module_sleep() - sleep in the module, which executes what comes, until an entry is complete
 * @until: CLOCK_MONOTONIC in nanoseconds, or UINT64_MAX
 *
 * Gives the lock back meanwhile. What has completed is to be collected.
 *
 * Return: COSY_ASYNC_READABLE: epoll has events; COSY_ASYNC_SIGNAL; or something else.
 */
uint32_t cosy_module_sleep(struct cosy_loop *loop, uint64_t until);

/**
 * cosy_module_cancel() - take a PARKED entry back; it is in its list still
 *
 * A COMPOUND stays there: calls that it would wait for fail.
 *
 * Return: false if it has completed.
 */
bool cosy_module_cancel(struct cosy_loop *loop, uint32_t slot);

/* descriptor.c */

/** cosy_descriptor() - what is known of a descriptor; NULL: no memory, or no number */
struct cosy_descriptor *cosy_descriptor(struct cosy_loop *loop, int fd);

/** cosy_descriptor_find() - the same; NULL if nothing is known yet */
static inline struct cosy_descriptor *
cosy_descriptor_find(const struct cosy_loop *loop, int fd)
{
	/* More than there can be, if @fd is negative. */
	uint32_t chunk = (uint32_t)fd / COSY_CHUNK;

	if (chunk >= loop->nchunks || !loop->chunks[chunk])
		return NULL;
	return &loop->chunks[chunk][(uint32_t)fd % COSY_CHUNK];
}

/** cosy_descriptor_look() - find out of what kind it is; -EBADF if there is none */
int cosy_descriptor_look(struct cosy_descriptor *d, int fd);

/** cosy_descriptor_append() - put an entry at the end of the list slot->list */
void cosy_descriptor_append(struct cosy_loop *loop, uint32_t slot);

/** cosy_descriptor_append_only() - the same, of a list of @d that is empty */
static inline void cosy_descriptor_append_only(struct cosy_loop *loop,
					       struct cosy_descriptor *d,
					       uint32_t slot, enum cosy_list list)
{
	struct cosy_slot *s = &loop->slots[slot];

	s->next = s->prev = COSY_NO_SLOT;
	s->list = (uint8_t)list;
	d->head[list] = d->tail[list] = slot;
	loop->info.waiting++;
}

/** cosy_descriptor_remove() - take it out again */
void cosy_descriptor_remove(struct cosy_loop *loop, uint32_t slot);

/** cosy_descriptor_remove_only() - the same, of a list that has no other entry */
static inline void cosy_descriptor_remove_only(struct cosy_loop *loop,
					       struct cosy_descriptor *d,
					       uint32_t slot, enum cosy_list list)
{
	struct cosy_slot *s = &loop->slots[slot];

	d->head[list] = d->tail[list] = COSY_NO_SLOT;
	s->list = COSY_LIST_NONE;
	loop->info.waiting--;
}

/**
 * cosy_descriptor_arm() - let epoll report what the entries of a descriptor wait for
 *
 * Return: 0; -EPERM if it cannot be polled; another error.
 */
int cosy_descriptor_arm(struct cosy_loop *loop, int fd);

/** cosy_descriptor_event() - epoll has reported events */
void cosy_descriptor_event(struct cosy_loop *loop, int fd, uint32_t events);

/**
 * cosy_descriptor_use() - an operation may use a descriptor from now on
 * @fd: the descriptor; nothing happens if it is negative
 *
 * Until it is forgotten, the module leaves it to the loop to close it.
 */
void cosy_descriptor_use(struct cosy_loop *loop, int fd);

/** cosy_descriptor_forget() - tell epoll, and forget its kind; nothing waits for it */
void cosy_descriptor_forget(struct cosy_loop *loop, int fd);

/** cosy_descriptors_create() - make the map of those that are used; 0 or -ENOMEM */
int cosy_descriptors_create(struct cosy_loop *loop);

/** cosy_descriptors_destroy() - free the table */
void cosy_descriptors_destroy(struct cosy_loop *loop);

/* timer.c */

/** cosy_timer_add() - wait until a time; 0 or -ENOMEM */
int cosy_timer_add(struct cosy_loop *loop, uint32_t slot, uint64_t time);

/** cosy_timer_remove() - wait no longer */
void cosy_timer_remove(struct cosy_loop *loop, uint32_t slot);

/** cosy_timers_expire() - complete all whose time has come */
void cosy_timers_expire(struct cosy_loop *loop);

/** cosy_timers_next() - the first time; UINT64_MAX: none */
uint64_t cosy_timers_next(const struct cosy_loop *loop);

/* queue.c */

/** cosy_queue_init() - nothing is in it yet */
void cosy_queue_init(struct cosy_queue *queue);

/** cosy_queue_add() - put an entry at the end; it is in no other queue */
void cosy_queue_add(struct cosy_loop *loop, struct cosy_queue *queue, uint32_t slot);

/** cosy_queue_remove() - take an entry out, at any place */
void cosy_queue_remove(struct cosy_loop *loop, struct cosy_queue *queue, uint32_t slot);

/* thread.c */

/**
 * cosy_thread_start() - start a thread in which all signals are blocked
 * @thread: set to it
 * @main:   its function
 * @arg:    the argument
 * @cpus:   where it may run; NULL: where the calling thread may
 *
 * Return: 0 or an error number.
 */
int cosy_thread_start(pthread_t *thread, void *(*main)(void *), void *arg,
		      const cpu_set_t *cpus);

/**
 * cosy_pass_signal_on() - send the process a signal that a call has sent to its own thread
 * @result: of the call
 *
 * It is blocked in threads of the loop, and would have met the process.
 */
void cosy_pass_signal_on(long result);

/** cosy_pool_init() - no threads yet */
void cosy_pool_init(struct cosy_loop *loop, struct cosy_pool *pool, uint32_t max);

/** cosy_thread_call() - let a thread make the call of an entry */
void cosy_thread_call(struct cosy_loop *loop, uint32_t slot, bool disk);

/** cosy_thread_cancel() - take a QUEUED entry back */
void cosy_thread_cancel(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_thread_returned() - the module gives an entry back that was lent to it
 * @made:   the call has been made
 * @result: if it has
 */
void cosy_thread_returned(struct cosy_loop *loop, uint32_t slot, bool made,
			  int64_t result);

/** cosy_thread_cancel_lent() - cancel a lent entry; 0, -ENOENT or -EALREADY */
int cosy_thread_cancel_lent(struct cosy_loop *loop, uint32_t slot);

/** cosy_threads_running() - how many lent entries' calls do threads make? */
uint32_t cosy_threads_running(const struct cosy_loop *loop);

/** cosy_threads_stop() - let no thread begin with a call; false if one makes a call */
bool cosy_threads_stop(struct cosy_loop *loop);

/**
 * cosy_pool_end() - wait for the threads to end, which have nothing to do
 *
 * Gives the lock back meanwhile.
 */
void cosy_pool_end(struct cosy_loop *loop, struct cosy_pool *pool);

/* cpu.c */

/**
 * cosy_cpu_choose() - choose the processor for an operation
 * @op:   the operation, or NULL
 * @nr:   its call
 * @args: the call's arguments
 * @cpu:  set to the processor; to NULL: the loop itself executes it
 *
 * A descriptor that it closes is used no longer.
 *
 * Return: 0; -EINVAL: the loop does not have the processor that the operation names.
 */
int cosy_cpu_choose(struct cosy_loop *loop, const struct cosy_async *op, long nr,
		    const uint64_t args[6], struct cosy_cpu **cpu);

/** cosy_cpu_send() - let a processor execute an entry; it is filled in */
void cosy_cpu_send(struct cosy_loop *loop, struct cosy_cpu *cpu, uint32_t slot);

/**
 * cosy_cpu_look() - before the thread of a processor sleeps, wait a little for entries
 *
 * Gives the lock of the processor's loop back meanwhile.
 *
 * Return: is there anything to execute or deliver?
 */
bool cosy_cpu_look(struct cosy_cpu *cpu);

/** cosy_cpu_take() - submit to the loop of a processor what was sent to that; its lock is taken */
void cosy_cpu_take(struct cosy_cpu *cpu);

/** cosy_cpu_cancel() - cancel an entry that was sent; 0, -ENOENT or -EALREADY */
int cosy_cpu_cancel(struct cosy_loop *loop, uint32_t slot);

/** cosy_cpus_cancel_fds() - cosy_fds_cancel_all() on all processors */
int cosy_cpus_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_cpus_add_info() - add what the processors have done */
void cosy_cpus_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info);

/**
 * cosy_cpus_quiesce() - cosy_loop_quiesce() of all processors' loops; the lock is not taken
 *
 * Return: true: their threads rest, their locks are taken; false: nothing has changed.
 */
bool cosy_cpus_quiesce(struct cosy_loop *loop);

/** cosy_cpus_go_on() - undo a cosy_cpus_quiesce() that has returned true */
void cosy_cpus_go_on(struct cosy_loop *loop);

/** cosy_cpus_destroy() - after that, have no processors; what was sent completes here */
void cosy_cpus_destroy(struct cosy_loop *loop);

/** cosy_cpus_destroy_in_child() - free what a child has of them */
void cosy_cpus_destroy_in_child(struct cosy_loop *loop);

/* colour.c */

/** cosy_is_coloured() - test whether an operation's callback has a colour */
bool cosy_is_coloured(const struct cosy_async *op);

/**
 * cosy_colour_deliver() - call the callback of a coloured operation, which is complete
 *
 * Or leave it to the thread that runs callbacks of that colour. Gives the lock back
 * meanwhile.
 */
void cosy_colour_deliver(struct cosy_loop *loop, struct cosy_async *op);

/* wait.c */

/**
 * cosy_loop_run_member() - cosy_loop_run() of a thread of loop->team
 *
 * While nothing is outstanding, it waits for what the callbacks of others submit. Returns
 * when no callback of the team runs any more, or after cosy_loop_stop().
 */
void cosy_loop_run_member(struct cosy_loop *loop);

/**
 * struct cosy_delivery - what a thread that waits may deliver before it looks at its goal again
 * @room:  so many operations; 0 once the loop is to stop
 * @count: how many it has delivered
 */
struct cosy_delivery {
	unsigned int room;
	unsigned int count;
};

/**
 * cosy_deliver() - let an operation that has its result be complete, and call its callback
 *
 * Gives the lock back meanwhile.
 */
static COSY_ALWAYS_INLINE void cosy_deliver(struct cosy_loop *loop, struct cosy_async *op,
					    struct cosy_delivery *delivery)
{
	void (*done)(struct cosy_async *op) = op->done;

	delivery->room--;
	delivery->count++;
	/* From now on it may be freed, if it has no callback. */
	cosy_op_complete(op);
	if (!done)
		return;
	if (cosy_is_coloured(op)) {
		cosy_colour_deliver(loop, op);
	} else {
		cosy_loop_leave(loop);
		done(op);
		cosy_lock(&loop->lock);
	}
	if (atomic_load_explicit(&loop->stop, memory_order_relaxed))
		delivery->room = 0;
}

/**
 * cosy_execute() - begin with all entries that were submitted; nothing waits
 * @delivery: where there is room, what completes at once is delivered at once; the lock is
 *	      given back meanwhile
 */
void cosy_execute(struct cosy_loop *loop, struct cosy_delivery *delivery);

/* cancel.c */

/** cosy_slot_fd() - the descriptor that an entry may wait for, or a thread use for it; or -1 */
int cosy_slot_fd(const struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_fds_cancel_all() - cosy_fds_cancel(), also of entries that were not taken from the page
 *
 * Then all that wait are told.
 */
int cosy_fds_cancel_all(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_slot_cancel() - cancel an entry; 0, -ENOENT or -EALREADY */
int cosy_slot_cancel(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_fds_cancel() - cancel all entries on descriptors, and forget these
 * @first: the first descriptor
 * @last:  the last one; less than @first: there are none
 *
 * Return: how many were cancelled.
 */
int cosy_fds_cancel(struct cosy_loop *loop, uint32_t first, uint32_t last);

/* task.c */

/**
 * cosy_task_cancel() - let the calls of a function fail
 * @op: an operation that is pending, and a slot of this loop
 *
 * The call that the function waits for is not cancelled.
 *
 * Return: false if @op does not stand for a function.
 */
bool cosy_task_cancel(struct cosy_loop *loop, const struct cosy_async *op);

#endif /* COSY_LOOP_H */
