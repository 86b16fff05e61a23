/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.h - the structures and functions that the files of this folder share.
 *
 *	page.c		the syscall page: its memory
 *	calls.c		which calls there are, and how each one waits
 *	submit.c	submit calls
 *	loop.c		take the lock, wake, stop
 *	create.c	create and destroy loops
 *	start.c		decide how the call of an entry is made
 *	arguments.c	calls that do not wait because of their arguments
 *	connection.c	calls on sockets whose connection is made, ends, or is shut down
 *	attempt.c	calls that do not block, made in batches
 *	transfer.h	recvfrom() and sendto() of sockets, made at once
 *	module.c	compounds, threads and reads in the module
 *	reply.c		a send and a receive that are one operation
 *	ring.c		the ring in the module: the most usual calls, without a copy
 *	descriptor.c	entries that wait for descriptors, by epoll
 *	timer.c		entries that wait for a time
 *	thread.c	calls that block, made by threads
 *	queue.c		lists of entries
 *	wait.c		execute, wait, deliver
 *	cancel.c	cancel an entry, or all on a descriptor
 *	cpu.c		entries that threads on other processors execute
 *	polling.c	how these threads poll before they sleep
 *	task.c		functions that are suspended while their calls are executed
 *	coroutine.c	parts of functions that the module executes as compounds
 *
 * The loop's lock protects everything but the indices of its page. It is not held during callbacks
 * and blocking calls. It is held during attempts, which do not block.
 */
#ifndef COSY_LOOP_H
#define COSY_LOOP_H

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cosy/async.h>
#include <linux/cosy_async.h>
#include <linux/cosy_ring.h>

#include "lock.h"

/* For functions that nearly every operation executes. */
#define COSY_ALWAYS_INLINE	inline __attribute__((always_inline))
/* For the slow paths of these functions. */
#define COSY_NOINLINE	__attribute__((noinline))
#define COSY_UNLIKELY(condition)	__builtin_expect(!!(condition), 0)
#define COSY_NO_SLOT	UINT32_MAX
#define COSY_MAX_FD	(1u << 24)

/** enum cosy_how - how a call waits (waits.def) */
enum cosy_how {
	COSY_HOW_DISK,		/* for a limited time: a thread makes it */
	COSY_HOW_REFUSED,	/* the call is not allowed */
	COSY_HOW_NOWAIT,	/* does not wait in the module; otherwise as DISK */
	COSY_HOW_DIRECT,	/* never waits */
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
	COSY_HOW_TIMED,		/* the same; a signal neither ends nor restarts it */
	COSY_HOW_COMPOUND,	/* not a call: the module runs a compound */
};

/** enum cosy_slot_state - state of an entry in the executor */
enum cosy_slot_state {
	COSY_SLOT_FREE,
	COSY_SLOT_SUBMITTED,	/* in the ring */
	COSY_SLOT_ATTEMPT,	/* in the batch of attempts */
	COSY_SLOT_SENT,		/* a processor's loop has it */
	COSY_SLOT_IN_MODULE,	/* in the module's page */
	COSY_SLOT_WAITING,	/* in the list of a descriptor */
	COSY_SLOT_SLEEPING,	/* among the timers */
	COSY_SLOT_QUEUED,	/* for a thread */
	COSY_SLOT_RUNNING,	/* a thread makes its call */
	COSY_SLOT_DONE,		/* in the ring of completed entries */
	COSY_SLOT_RESERVED,	/* for a function that is running, or a receive after its send */
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
 * struct cosy_slot - what the executor keeps for an entry
 * @next:      next in the list that @state names; also in the list of free slots
 * @prev:      previous in the list of a descriptor
 * @state:     enum cosy_slot_state
 * @how:       enum cosy_how; valid once submitted
 * @list:      enum cosy_list: in this list of @fd; at its head unless WAITING
 * @cancelled: complete it with -ECANCELED instead of executing it
 * @polled:    the call cannot be made without blocking
 * @on_disk:   its thread belongs to the pool for calls that use a disk
 * @lent:      IN_MODULE: a thread in the module makes its call
 * @connecting: the call has been made, the connection is being established
 * @buffered:  it reads a file with COSY_ENTRY_BUFFERED, and is in loop->reading
 * @reported:  its descriptor was reported ready, and no attempt has transferred anything since
 * @task:      it belongs to a function, until that returns
 * @fd:	       the descriptor it waits for; SENT: the descriptor to forget; SIGNAL: its signalfd
 * @timer:     index in the heap of timers
 * @cpu:       SENT: the processor
 * @queue_next: next in a struct cosy_queue
 * @queue_prev: previous in a struct cosy_queue
 * @receive:   the slot of the receive that follows this send as one operation; NO_SLOT: none
 * @done:      bytes transferred so far; POLL: the events
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
	bool reported : 1;
	bool task : 1;
	int32_t fd;
	union {
		uint32_t timer;
		uint32_t cpu;
	};
	uint32_t queue_next;
	uint32_t queue_prev;
	uint32_t receive;
	uint64_t done;
};

/** enum cosy_kind - how calls on a descriptor are made without blocking */
enum cosy_kind {
	COSY_KIND_UNKNOWN,
	COSY_KIND_SOCKET,	/* MSG_DONTWAIT */
	COSY_KIND_NOWAIT,	/* RWF_NOWAIT */
	COSY_KIND_PIPE,		/* RWF_NOWAIT; compounds can wait for it in the module */
	COSY_KIND_DISK,		/* RWF_NOWAIT, or a thread; cannot be polled */
};

/**
 * struct cosy_descriptor - what a loop knows about a descriptor
 * @head:     first entry of each enum cosy_list. Only the first is executed, the others wait
 * @tail:     last entry of each enum cosy_list
 * @armed:    events that epoll reports while they last
 * @changes:  events that epoll reports when they have changed; 0 unless some have lasted although
 *	      the calls would block
 * @added:    it was added to epoll
 * @receives: a call that receives from it has had to wait, so it does not fail at once, as it does
 *	      on a socket that listens
 * @opened:   the ring has opened it, so that it probably is a regular file
 * @listed:   it is among those that cosy_descriptors_disarm() looks at
 * @kind:     enum cosy_kind
 * @type:     SOCK_STREAM and so on
 * @polled:   a bit for each enum cosy_list whose calls do not support RWF_NOWAIT. Entries wait for
 *	      the event, then a thread makes the call
 */
struct cosy_descriptor {
	uint32_t head[COSY_LISTS];
	uint32_t tail[COSY_LISTS];
	uint16_t armed;
	uint16_t changes;
	bool added : 1;
	bool receives : 1;
	bool opened : 1;
	bool listed : 1;
	uint8_t kind;
	uint8_t type;
	uint8_t polled;
};

_Static_assert(sizeof(struct cosy_descriptor) == 32, "looking one up takes few instructions");

/* Descriptors of one chunk of the table. */
#define COSY_CHUNK	256u

/**
 * struct cosy_attempt - a call that does not block
 * @nr:	    its number
 * @args:   its arguments
 * @result: what it returned
 * @slot:   the slot of its entry
 * @iov:    the vector, if a call with a vector is made in place of the original one
 */
struct cosy_attempt {
	uint64_t nr;
	uint64_t args[6];
	int64_t result;
	uint32_t slot;
	struct iovec iov;
};

/* Fewer calls are made by system calls: entering the module costs as much as two. */
#define COSY_MIN_BATCH	3u

/* The number of attempts at which a batch is made, and the capacity of a batch. */
#define COSY_ATTEMPTS	64u
#define COSY_ATTEMPTS_WAITING	256u

/**
 * struct cosy_module - a loop's page in the module
 * @fd:	       the descriptor by which it is entered, or -1
 * @page:      the page; @entries, @submitted and @done are parts of it
 * @page_size: size of @page in bytes
 * @tail:      number of entries submitted so far
 * @head:      number of entries collected so far
 * @inside:    number of entries submitted and not collected
 * @compounds: number of entries inside that run compounds
 * @tried:     creating a page was tried
 * @has_threads: threads can wait for work there
 * @has_buffered: it reads files on disks, and waits for the disk
 * @looked:    it was entered since a thread last began to wait, or checked epoll
 * @asleep:    a thread sleeps in it, or executes entries after its wake-up, without the lock
 */
struct cosy_module {
	int fd;
	struct cosy_async_page *page;
	struct cosy_async_entry *entries;
	uint32_t *submitted;
	uint32_t *done;
	size_t page_size;
	uint32_t tail;
	uint32_t head;
	uint32_t inside;
	uint32_t compounds;
	bool tried;
	bool has_threads;
	bool has_buffered;
	bool looked;
	atomic_bool asleep;
};

/**
 * struct cosy_ring - a loop's ring in the module, see ring.h
 * @page:      the ring, or NULL
 * @done:      the ring of completions, in the page
 * @done_head: number of completions collected
 * @untracked_calls: number of places of calls without an operation that the module has not taken
 * @untracked_receives: the same of receives
 * @of_tasks:  number of operations that are calls of functions, which have a slot
 * @cancelled: operations that were cancelled while they waited, and not collected; each one's result is
 *	      the next one
 * @tried:     making the ring was tried
 * @lost:      the module cannot be entered any more
 * @shared:    no thread may use the ring without the lock
 * @looked:    it was entered since a thread last began to wait, or checked epoll
 * @taken:     number of times that a thread has taken the ring from another one
 * @takes_given: what the module has given back is being taken
 * @own_calls: number of consecutive calls that a waiting thread has made itself
 * @others:    while a thread has the ring: entries in the loop's page wait for epoll or a time
 * @until:     that time, or UINT64_MAX
 * @readable:  a thread has left the module because epoll reports something
 * @unseen:    number of entries into the module since epoll was checked, if there are @others
 * @entered:   number of entries into the module
 * @submitted: number of entries written, up to @counted_calls and @counted_receives
 * @counted_calls: number of calls counted, modulo 2^32
 * @counted_receives: number of receives counted, modulo 2^32
 * @moved:     number of entries that were no operations, or are in the loop's page now
 * @here:      number of calls that waiting threads have made themselves
 */
struct cosy_ring {
	struct cosy_ring_page *page;
	const struct cosy_ring_done *done;
	uint32_t done_head;
	uint32_t untracked_calls;
	uint32_t untracked_receives;
	uint32_t of_tasks;
	struct cosy_async *cancelled;
	bool tried;
	bool lost;
	bool shared;
	bool looked;
	bool takes_given;
	uint32_t taken;
	uint32_t own_calls;
	bool others;
	bool readable;
	uint32_t unseen;
	uint64_t until;
	uint64_t entered;
	uint64_t submitted;
	uint32_t counted_calls;
	uint32_t counted_receives;
	uint64_t moved;
	uint64_t here;
};

/**
 * struct cosy_timer - an entry that waits for a time
 * @time:  CLOCK_MONOTONIC in nanoseconds
 * @order: smaller than that of each timer which was added later
 * @slot:  the entry
 */
struct cosy_timer {
	uint64_t time;
	uint64_t order;
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
 * @loop:    their loop
 * @queued:  entries that wait for a thread
 * @lent:    entries that were lent to the module; threads of this pool make their calls there
 * @ids:     the @threads threads, with room for @max; NULL before the first one
 * @threads: number of threads
 * @idle:    number of threads that have nothing to do, or are in the module
 * @inside:  number of threads that are in the module
 * @max:     maximum number of threads
 * @work:    signalled when there is work
 */
struct cosy_pool {
	struct cosy_loop *loop;
	struct cosy_queue queued;
	struct cosy_queue lent;
	pthread_t *ids;
	uint32_t threads;
	uint32_t idle;
	uint32_t inside;
	uint32_t max;
	struct cosy_event work;
};

/* Colours are hashed to this number of bits. Colours with the same hash are treated as one. */
#define COSY_COLOUR_BITS	8

/**
 * struct cosy_colour - callbacks that may not run at the same time
 * @running: a thread runs one of them, and then those that are due
 * @first:   the oldest operation whose callback is due, or NULL
 * @last:    the newest one; valid if @first is not NULL
 */
struct cosy_colour {
	bool running;
	struct cosy_coloured *first;
	struct cosy_coloured *last;
};

/** enum cosy_cpu_state - what the thread of a processor has to do */
enum cosy_cpu_state {
	COSY_CPU_RUNS,		/* run its loop */
	COSY_CPU_RESTS,		/* wait */
	COSY_CPU_ENDS,
};

/**
 * struct cosy_cpu - a processor that executes operations which are sent to it
 * @loop:	 the loop that executes them
 * @owner:	 the loop that sends them
 * @thread:	 the thread on that processor, which runs @loop
 * @number:	 number of the processor
 * @dedicated:	 it has options because of which it may use all of its CPU
 * @allowed:	 where @owner's program may run: the threads of a dedicated processor that make calls
 * @poll_ns:	 how long @thread polls without work before it sleeps
 * @idle_since:	 CLOCK_MONOTONIC when @thread first found no work; 0: it has had work since
 * @polls:	 @thread has polled since, and did not sleep; only @thread uses this and the next one
 * @counted:	 the time until which polling was counted
 * @outstanding: number of operations sent and not complete; protected by the lock of @owner
 * @compounds:	 number of compounds among these
 * @put_lock:	 protects the next four; @told is also read without it
 * @put:	 entries of @owner that @loop has not taken
 * @told:	 @put is not empty, and @loop's wake_fd was made readable unless @looking
 * @looking:	 the thread polls @told
 * @from:	 the CPU from which the last entry was put
 * @wanted:	 what the thread has to do; protected by the lock of @loop, as the next two
 * @rests:	 the thread waits, because of COSY_CPU_RESTS
 * @changed:	 signalled when @wanted or @rests has changed
 */
struct cosy_cpu {
	struct cosy_loop *loop;
	struct cosy_loop *owner;
	pthread_t thread;
	uint32_t number;
	bool dedicated;
	cpu_set_t allowed;
	uint64_t poll_ns;
	_Atomic uint64_t idle_since;
	bool polls;
	uint64_t counted;
	uint32_t outstanding;
	uint32_t compounds;
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
 * @submit:	where operations are submitted to the ring; inline functions read this
 * @lock:	protects all of it
 * @owner:	points to 1 in the process that created the loop, and to 0 in a child
 * @page:	the syscall page; @entries, @submitted and @done are parts of it
 * @mask:	number of entries - 1
 * @page_size:	bytes of @page
 * @slots:	one for each entry
 * @free:	first free slot of those that were used before
 * @fresh:	first slot that was never used
 * @outstanding: number of slots in use: of operations and functions. Those in the ring have none
 * @mark:	mark of the loop's descriptors, also of those of its entries, or 0: they have none
 * @epoll:	descriptor of the epoll instance
 * @wake_fd:	an eventfd in it
 * @timer_fd:	a timerfd in it for @external, or -1
 * @woken:	@wake_fd is readable
 * @external:	another event loop polls @epoll: make it readable whenever there is work
 * @blocked:	a thread waits for @epoll
 * @awaits_ops:	the @blocked thread waits for certain operations
 * @waiters:	number of threads that wait for @changed
 * @inside:	number of threads in functions that execute and deliver
 * @changed:	signalled when there are completions, or @blocked was cleared
 * @stops:	two for each call of cosy_loop_stop(); COSY_STOPPING until calls have returned for it
 * @closing:	the loop is being destroyed
 * @spreads:	the loop has processors
 * @biased:	a thread uses the ring without the lock
 * @has_ring:	the loop has a ring
 * @attention:	not 0 if a submission has to check the members from @external on
 * @watching:	number of entries in lists of descriptors that transfer no data
 * @nadded:	number of descriptors that were added to @epoll
 * @epoll_skips: number of consecutive times that @epoll was not checked, because there was work
 * @chunks:	the table of descriptors
 * @nchunks:	its length
 * @unwanted:	descriptors for which nothing waited any more although they were added to @epoll
 * @nunwanted:	their number
 * @max_unwanted: length of that array
 * @used:	a bit for each descriptor of the table: cosy_descriptor_use()
 * @all_used:	@used is incomplete: there was no memory, or there are other loops for the same
 *		operations
 * @batch:	the @nbatch attempts to be made. It is one of @batches; the other one takes
 *		attempts that result from making them
 * @kernel:	the module makes the attempts
 * @module:	the page in the module
 * @ring:	the ring in the module
 * @timers:	a heap of @ntimers, with room for @max_timers
 * @alarm:	the time for which @timer_fd is set, or 0
 * @disk:	threads for calls that use a disk
 * @waits:	threads for calls that may wait for ever
 * @reading:	entries that are buffered
 * @calling:	entries whose calls threads are making
 * @cpu:	the processor whose loop this is, or NULL
 * @cpus:	the @ncpus processors to which operations are sent
 * @sent:	for each slot, the operation of the processor that has its entry
 * @used_fds:	the @nused_fds descriptors that processors have used
 * @colours:	the colours of callbacks
 * @info:	counts
 */
struct cosy_loop {
	struct cosy_submit *submit;
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
	int mark;
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
			bool biased;
			bool has_ring;
		};
		uint64_t attention;
	};
	atomic_uint stops;
	bool awaits_ops;
	uint32_t waiters;
	uint32_t inside;
	struct cosy_event changed;
	uint32_t watching;
	uint32_t nadded;
	uint32_t epoll_skips;
	struct cosy_descriptor **chunks;
	uint32_t nchunks;
	int *unwanted;
	uint32_t nunwanted;
	uint32_t max_unwanted;
	uint8_t *used;
	bool all_used;
	struct cosy_attempt *batch;
	uint32_t nbatch;
	struct cosy_attempt batches[2][COSY_ATTEMPTS_WAITING];
	bool kernel;
	struct cosy_module module;
	struct cosy_ring ring;
	struct cosy_timer *timers;
	uint64_t timers_added;
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
	struct cosy_loop_info info;
};

#define COSY_STOPPING	1u

/** cosy_loop_is_stopping() - test whether calls have to return because of cosy_loop_stop() */
static inline bool cosy_loop_is_stopping(const struct cosy_loop *loop)
{
	return atomic_load_explicit(&loop->stops, memory_order_relaxed) & COSY_STOPPING;
}

/** cosy_loop_stops() - return what loop->stops is while cosy_loop_stop() is not called again */
static inline unsigned int cosy_loop_stops(const struct cosy_loop *loop)
{
	return atomic_load_explicit(&loop->stops, memory_order_relaxed) & ~COSY_STOPPING;
}

/** cosy_loop_has_stopped() - note that the last call has returned, or will, for cosy_loop_stop() */
static inline void cosy_loop_has_stopped(struct cosy_loop *loop)
{
	atomic_fetch_and(&loop->stops, ~COSY_STOPPING);
}

/** cosy_loop_enter() - take the lock. Return: 0, or -EPERM in a child */
int cosy_loop_enter(struct cosy_loop *loop);

/** cosy_loop_leave() - release the lock */
static inline void cosy_loop_leave(struct cosy_loop *loop)
{
	cosy_unlock(&loop->lock);
}

/** cosy_loop_changed() - wake all threads that wait for loop->changed */
static inline void cosy_loop_changed(struct cosy_loop *loop)
{
	if (loop->waiters)
		cosy_event_happened(&loop->changed, INT_MAX);
}

/**
 * cosy_loop_owns() - test whether a number still refers to a descriptor of the loop
 * @fd: the number, or -1
 *
 * The program may have closed it, and opened another file with the same number. Async-signal-safe.
 */
bool cosy_loop_owns(const struct cosy_loop *loop, int fd);

/** cosy_loop_own() - mark a descriptor that the loop has opened. Return: 0 or -errno */
int cosy_loop_own(const struct cosy_loop *loop, int fd);

/** cosy_loop_close_fd() - close a descriptor if it is still the loop's; may be -1 */
void cosy_loop_close_fd(const struct cosy_loop *loop, int fd);

/** cosy_loop_alert() - make @wake_fd readable. Async-signal-safe */
void cosy_loop_alert(const struct cosy_loop *loop);

/** cosy_loop_write_wake_fd() - the same, and note it */
void cosy_loop_write_wake_fd(struct cosy_loop *loop);

/**
 * cosy_loop_wake() - wake the thread, or the other event loop, that waits for epoll
 */
static inline void cosy_loop_wake(struct cosy_loop *loop)
{
	if ((loop->blocked || loop->external) && !loop->woken)
		cosy_loop_write_wake_fd(loop);
}

/** cosy_loop_tell() - wake all that wait, because an operation is complete */
static inline void cosy_loop_tell(struct cosy_loop *loop)
{
	cosy_loop_wake(loop);
	cosy_loop_changed(loop);
}

/**
 * cosy_loop_quiesce() - prevent calls that cannot be cancelled
 *
 * Return: true with the lock taken; while it is held, no such call runs or begins. false if a
 * thread makes such a call.
 */
bool cosy_loop_quiesce(struct cosy_loop *loop);

/** cosy_loop_close() - complete all operations, end the threads, and release the lock */
void cosy_loop_close(struct cosy_loop *loop);

/** cosy_loop_free() - free a closed loop */
void cosy_loop_free(struct cosy_loop *loop);

/* page.c */

/** cosy_index_load() - read an index of a page, with acquire order */
static inline uint32_t cosy_index_load(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

/** cosy_index_store() - write an index of a page, with release order */
static inline void cosy_index_store(uint32_t *index, uint32_t value)
{
	__atomic_store_n(index, value, __ATOMIC_RELEASE);
}

/** cosy_page_create() - allocate the page and the slots. Return: 0 or -ENOMEM */
int cosy_page_create(struct cosy_loop *loop, uint32_t entries);

/** cosy_page_destroy() - free the page and the slots */
void cosy_page_destroy(struct cosy_loop *loop);

/**
 * cosy_page_reserve() - take a slot for a function that begins
 * @op:   the operation of each of its calls. It completes immediately, so that the function is
 *	  resumed for the first time
 * @slot: set to the slot
 *
 * Return: 0, -EAGAIN or -ESHUTDOWN.
 */
int cosy_page_reserve(struct cosy_loop *loop, struct cosy_async *op, uint32_t *slot);

/**
 * cosy_page_submit_reserved() - submit a call of a function
 * @slot: its slot, whose entry is set
 */
void cosy_page_submit_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			   enum cosy_how how);

/** cosy_page_wait_reserved() - the same for a call that the module has waited to make: wait further */
void cosy_page_wait_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			 enum cosy_how how);

/** cosy_page_send_reserved() - send the compound of a function to a processor; the entry is set */
void cosy_page_send_reserved(struct cosy_loop *loop, struct cosy_async *op, uint32_t slot,
			 struct cosy_cpu *cpu);

/**
 * cosy_page_submit() - submit a call to this loop, which must have a free slot
 * @op:  an operation that is not pending, or NULL
 * @how: how the call waits; or COMPOUND
 */
void cosy_page_submit(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
		      long nr, const uint64_t args[6]);

/**
 * cosy_page_submit_again() - submit a call that the ring does not make
 * @flags: number of bytes that it has sent, or COSY_RING_WAITED
 */
void cosy_page_submit_again(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			    long nr, const uint64_t args[6], uint32_t flags);

/** cosy_page_submit_anywhere() - cosy_page_submit(), to the ring if that takes the call */
void cosy_page_submit_anywhere(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how,
			       long nr, const uint64_t args[6]);

/**
 * cosy_page_take() - take a slot, of which one is free, for a call, and set its entry
 * @op: an operation that is not pending, or NULL
 *
 * The caller publishes or starts it.
 *
 * Return: the slot.
 */
uint32_t cosy_page_take(struct cosy_loop *loop, struct cosy_async *op, enum cosy_how how, long nr,
			const uint64_t args[6]);

/**
 * cosy_page_check() - test whether an operation can be submitted
 * @op:	    the operation, or NULL
 * @places: number of places that it needs
 *
 * Return: 0, -ESHUTDOWN, -EBUSY or -EAGAIN.
 */
int cosy_page_check(const struct cosy_loop *loop, const struct cosy_async *op, int32_t places);

/** cosy_page_precedes() - return true if an entry of the loop's page has to come before a call */
bool cosy_page_precedes(const struct cosy_loop *loop, enum cosy_how how, long nr, uint64_t fd);

/** cosy_page_publish() - submit the entry of a slot that cosy_page_take() has returned */
void cosy_page_publish(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_page_prepare() - initialise the rest of a slot when the executor begins with its entry
 *
 * Before, only the members from @state to @task are set.
 */
static inline void cosy_page_prepare(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_slot *s = &loop->slots[slot];

	s->next = s->prev = COSY_NO_SLOT;
	s->fd = -1;
	s->done = 0;
}

/** cosy_page_release() - free a slot that does not belong to a function */
static inline void cosy_page_release(struct cosy_loop *loop, uint32_t slot)
{
	loop->slots[slot].state = COSY_SLOT_FREE;
	loop->slots[slot].next = loop->free;
	loop->free = slot;
	loop->outstanding--;
	loop->submit->room++;
}

/** cosy_page_first() - return the next submitted entry, or COSY_NO_SLOT; it stays in the ring */
static inline uint32_t cosy_page_first(const struct cosy_loop *loop)
{
	const struct cosy_async_page *page = loop->page;
	uint32_t head = page->submit_head;

	return head == page->submit_tail ? COSY_NO_SLOT :
					   loop->submitted[head & loop->mask];
}

/** cosy_page_taken() - remove the entry of cosy_page_first() from the ring */
static inline void cosy_page_taken(struct cosy_loop *loop)
{
	cosy_index_store(&loop->page->submit_head, loop->page->submit_head + 1);
}

/**
 * cosy_reply_sent() - continue a reply, whose send has ended
 * @slot: the send; in no list
 */
void cosy_reply_sent(struct cosy_loop *loop, uint32_t slot, int64_t result);

/**
 * cosy_reply_submit() - submit a reply to the loop's page, which has two free slots
 * @op:	     its operation, not pending
 * @send:    arguments of its sendto()
 * @sent:    number of bytes that were sent
 * @receive: arguments of its recvfrom()
 */
void cosy_reply_submit(struct cosy_loop *loop, struct cosy_async *op, const uint64_t send[6],
		       uint32_t sent, const uint64_t receive[6]);

/**
 * cosy_complete() - complete an entry
 * @slot:   the entry; in no list
 * @result: result of its call
 */
static COSY_ALWAYS_INLINE void cosy_complete(struct cosy_loop *loop,
					     uint32_t slot,
					     int64_t result)
{
	struct cosy_async_page *page = loop->page;
	struct cosy_async_entry *entry = &loop->entries[slot];

	loop->info.completed++;
	if (COSY_UNLIKELY(loop->slots[slot].receive != COSY_NO_SLOT)) {
		cosy_reply_sent(loop, slot, result);
		return;
	}
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
 * cosy_page_take_result() - store the result of a completed entry in its operation
 *
 * Frees the slot, unless it belongs to a function.
 *
 * Return: the operation.
 */
static COSY_ALWAYS_INLINE struct cosy_async *
cosy_page_take_result(struct cosy_loop *loop, uint32_t slot, int64_t result)
{
	struct cosy_async_entry *entry = &loop->entries[slot];
	struct cosy_async *op = (struct cosy_async *)(uintptr_t)entry->user_data;

	op->result = result;
	entry->status = COSY_ENTRY_FREE;
	if (loop->slots[slot].task)
		loop->slots[slot].state = COSY_SLOT_RESERVED;
	else
		cosy_page_release(loop, slot);
	return op;
}

/**
 * cosy_page_collect() - take the next completed entry
 *
 * Frees its slot. The operation then has its result, but is pending until cosy_op_complete().
 *
 * Return: the operation; NULL if no entry is complete.
 */
struct cosy_async *cosy_page_collect(struct cosy_loop *loop);

/*
 * States of a struct cosy_async. <cosy/async.h> contains the value of PENDING. ON + n: submit the
 * operation to processor n.
 */
enum { COSY_OP_IDLE, COSY_OP_PENDING, COSY_OP_COMPLETE, COSY_OP_ON };

/** cosy_op_begin() - make an operation pending */
static inline void cosy_op_begin(struct cosy_async *op, uint32_t slot)
{
	op->slot = slot;
	__atomic_store_n(&op->state, COSY_OP_PENDING, __ATOMIC_RELAXED);
}

/** cosy_op_complete() - end the pending state of an operation, which may then be freed */
static inline void cosy_op_complete(struct cosy_async *op)
{
	__atomic_store_n(&op->state, COSY_OP_COMPLETE, __ATOMIC_RELEASE);
}

/** cosy_ring_has_done() - return true if the ring has completions to collect */
static inline bool cosy_ring_has_done(const struct cosy_loop *loop)
{
	const struct cosy_ring *ring = &loop->ring;

	return ring->page && (ring->cancelled ||
			      ring->done_head != cosy_index_load(&ring->page->done_tail));
}

/** cosy_page_done() - return true if there are completed entries */
static COSY_ALWAYS_INLINE bool cosy_page_done(const struct cosy_loop *loop)
{
	return loop->page->done_tail != loop->page->done_head || cosy_ring_has_done(loop);
}

/* start.c */

/** cosy_how() - return how a call waits */
enum cosy_how cosy_how(long nr);

/** cosy_call_moves() - test whether a call of a compound does the same in each thread */
bool cosy_call_moves(long nr);

/**
 * cosy_closed_range() - get the descriptors that a call of kind CLOSE closes
 * @first: set to the first one
 * @last:  set to the last one; less than @first if there are none
 */
void cosy_closed_range(long nr, const uint64_t args[6], uint32_t *first, uint32_t *last);

/** cosy_fd_is_in() - return true if a descriptor, which may be negative, is in a range */
static inline bool cosy_fd_is_in(int fd, uint32_t first, uint32_t last)
{
	return fd >= 0 && (uint32_t)fd >= first && (uint32_t)fd <= last;
}

/** cosy_list_of() - return the list in which calls wait that are ordered by their descriptor */
static inline enum cosy_list cosy_list_of(enum cosy_how how)
{
	switch (how) {
	case COSY_HOW_READ:
	case COSY_HOW_RECEIVE:
	case COSY_HOW_ACCEPT:
		return COSY_LIST_IN;
	case COSY_HOW_WRITE:
	case COSY_HOW_SEND:
	case COSY_HOW_CONNECT:
		return COSY_LIST_OUT;
	default:
		return COSY_LIST_NONE;
	}
}

/** cosy_takes_fd() - return true if the first argument of a call is a descriptor */
bool cosy_takes_fd(long nr);

/** cosy_receives_nothing() - return true if the call of an entry receives 0 bytes */
static inline bool cosy_receives_nothing(const struct cosy_async_entry *entry)
{
	return entry->nr == SYS_recvfrom && !entry->args[2];
}

/** cosy_has_offset() - return true if the call has an offset in the file as its last argument */
bool cosy_has_offset(uint32_t nr);

/**
 * cosy_blocks() - return true if a call that is made unchanged would block
 *
 * The program may have changed O_NONBLOCK since the last call, and so may another process that has
 * the open file.
 */
bool cosy_blocks(const struct cosy_slot *s);

/** cosy_start() - begin with an entry that was taken from the ring */
void cosy_start(struct cosy_loop *loop, uint32_t slot);

/** cosy_start_waited() - let an entry, which is in no ring, wait for its descriptor as before */
void cosy_start_waited(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_start_attempt() - attempt the call of an entry without blocking
 *
 * If the entry is in a list, it is at the head. When the batch is made, cosy_attempted() gets the
 * result.
 */
void cosy_start_attempt(struct cosy_loop *loop, uint32_t slot);

/** cosy_start_sent() - begin with a send of which @sent bytes were sent */
void cosy_start_sent(struct cosy_loop *loop, uint32_t slot, uint32_t sent);

/** cosy_read_by_thread() - let a thread make the call of a buffered entry */
void cosy_read_by_thread(struct cosy_loop *loop, uint32_t slot);

/** cosy_attempted() - continue an entry after its attempt */
void cosy_attempted(struct cosy_loop *loop, const struct cosy_attempt *attempt);

/** cosy_start_waiting() - let an entry at the head of a list wait for its descriptor */
void cosy_start_waiting(struct cosy_loop *loop, uint32_t slot);

/** cosy_start_ready() - continue the entry at the head of a list after epoll has reported events */
void cosy_start_ready(struct cosy_loop *loop, uint32_t slot, uint32_t events);

/**
 * cosy_finish() - finish an entry with the result of its call
 *
 * Removes it from its list, completes it, and begins with the next entry of the list.
 */
void cosy_finish(struct cosy_loop *loop, uint32_t slot, int64_t result);

/**
 * cosy_start_next() - begin with the new head of a list
 * @before: copy of the slot of the previous head, from before its removal
 */
void cosy_start_next(struct cosy_loop *loop, const struct cosy_slot *before);

/** cosy_thread_made() - the same as cosy_finish(), in the thread that has made the call */
void cosy_thread_made(struct cosy_loop *loop, uint32_t slot, int64_t result);

/** cosy_end() - the same as cosy_finish(), without beginning the next entry of the list */
void cosy_end(struct cosy_loop *loop, uint32_t slot, int64_t result);

/* arguments.c */

/** cosy_asks_not_to_wait() - return true if the arguments of the call say that it must not wait */
bool cosy_asks_not_to_wait(const struct cosy_async_entry *entry);

/** cosy_has_wrong_message() - return true if a call fails at once because of its message */
bool cosy_has_wrong_message(const struct cosy_async_entry *entry);

/** cosy_has_unknown_flags() - return true if the call has flags that the kernel does not know */
bool cosy_has_unknown_flags(const struct cosy_loop *loop, const struct cosy_async_entry *entry);

/** cosy_time_is_readable() - return true if the kernel can read a time */
bool cosy_time_is_readable(const struct timespec *time);

/** enum cosy_beginning - how to begin with the first entry of a list */
enum cosy_beginning {
	COSY_BEGIN_ATTEMPT,
	COSY_BEGIN_WAITING,	/* until the descriptor is ready; then a thread makes the call */
	COSY_BEGIN_THREAD,	/* a thread makes the call at once, because there may never be an event */
};

/**
 * cosy_polled_beginning() - decide how a read or write begins that cannot be made with RWF_NOWAIT
 *
 * Because of its arguments, it may end at once, although the descriptor is not ready.
 */
enum cosy_beginning cosy_polled_beginning(const struct cosy_loop *loop,
					  const struct cosy_slot *s,
					  const struct cosy_async_entry *entry,
					  const struct cosy_descriptor *d);

/* connection.c */

/** cosy_connection_ready() - finish a connect(), whose socket is ready, with its result */
void cosy_connection_ready(struct cosy_loop *loop, uint32_t slot);

/** cosy_connection_has_backlog() - test whether connect() fails with EAGAIN if a backlog is full */
bool cosy_connection_has_backlog(int fd);

/**
 * cosy_connection_opens() - test whether a call with MSG_FASTOPEN has begun to open a connection
 *
 * The blocking call waits for it, and then sends. This one has to be made again with the same
 * arguments.
 */
bool cosy_connection_opens(const struct cosy_async_entry *entry, int64_t result);

/**
 * cosy_connection_ended() - finish a call on a stream whose connection has ended while it waited
 *
 * Return: false if an attempt has the effect of the blocking call; nothing was done.
 */
bool cosy_connection_ended(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_connection_shut_down() - finish a call that would block, and ends because of a shutdown()
 *
 * Return: false if it waits.
 */
bool cosy_connection_shut_down(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_connection_is_at_mark() - test whether the next byte of a stream is urgent
 *
 * A call with MSG_WAITALL that has received something ends there.
 */
bool cosy_connection_is_at_mark(int fd);

/** cosy_connection_lingers() - return true if close() may wait until a socket has sent its data */
bool cosy_connection_lingers(const struct cosy_loop *loop, int fd);

/**
 * cosy_receive_nothing() - make a recvmsg(), or a recvfrom(), on another socket, which has no data
 * @ended: its connection has ended without an error, and the call sets the lengths and the flags in
 *	   its arguments; otherwise the call is a recvmsg(), and does not wait
 *
 * Return: the result of the call, or the error of creating the socket.
 */
long cosy_receive_nothing(const struct cosy_async_entry *entry, bool ended);

/* attempt.c */

/**
 * cosy_attempt_add() - add the call of an entry to the batch
 *
 * Return: the attempt, with the entry's arguments; the caller may change them.
 */
struct cosy_attempt *cosy_attempt_add(struct cosy_loop *loop, uint32_t slot);

/** cosy_attempts_make() - make all attempts, and those that result from them */
void cosy_attempts_make(struct cosy_loop *loop);

/** cosy_attempts_flush() - cosy_attempts_make() if the batch has COSY_ATTEMPTS attempts */
static inline void cosy_attempts_flush(struct cosy_loop *loop)
{
	if (loop->nbatch >= COSY_ATTEMPTS)
		cosy_attempts_make(loop);
}

/** cosy_attempts_in_user_mode() - make @n attempts, each by a system call */
void cosy_attempts_in_user_mode(struct cosy_loop *loop, struct cosy_attempt *a,
				uint32_t n);

/** cosy_attempts_init() - determine whether the module can make attempts */
void cosy_attempts_init(struct cosy_loop *loop);

/* module.c */

/** cosy_module_init() - create the page in the module if possible; call it after epoll exists */
void cosy_module_init(struct cosy_loop *loop);

/** cosy_module_makes_calls() - return true if it can make attempts; creates the page */
bool cosy_module_makes_calls(struct cosy_loop *loop);

/** cosy_module_runs_compounds() - return true if it can run compounds; creates the page */
bool cosy_module_runs_compounds(struct cosy_loop *loop);

/** cosy_module_moves_compounds() - the same, also those that other loops have begun */
bool cosy_module_moves_compounds(struct cosy_loop *loop);

/**
 * cosy_module_sync() - wait until the thread that sleeps in the module executes no compound
 *
 * Compounds that it executes later see all changes made before this call.
 */
void cosy_module_sync(const struct cosy_loop *loop);

/** cosy_module_tell_used() - pass the map of used descriptors, or that it is incomplete */
void cosy_module_tell_used(struct cosy_loop *loop);

/** cosy_module_has_buffered() - return true if it reads files on disks; creates the page */
bool cosy_module_has_buffered(struct cosy_loop *loop);

/** cosy_module_has_threads() - return true if threads can wait there; creates the page */
bool cosy_module_has_threads(struct cosy_loop *loop);

/**
 * cosy_module_lend() - submit an entry whose call a thread in the module has to make
 * @flags: COSY_ENTRY_LONG, COSY_ENTRY_TAKE
 */
void cosy_module_lend(struct cosy_loop *loop, uint32_t slot, uint8_t flags,
		      const uint64_t args[6]);

/** cosy_module_is_running() - return true if a thread makes the call of a lent entry */
bool cosy_module_is_running(const struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_cancel_lent() - cancel a lent entry
 *
 * Return: 0 if it was removed from the module; -EALREADY if its call was interrupted, and it will
 * complete; -ENOENT if it is complete.
 */
int cosy_module_cancel_lent(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_work() - wait in the module for calls to make, and make them
 * @waits: calls that may wait for ever
 *
 * Releases the lock meanwhile.
 *
 * Return: the entry with which the thread has left, or COSY_NO_SLOT.
 */
uint32_t cosy_module_work(struct cosy_loop *loop, bool waits);

/**
 * cosy_module_take() - take an entry with which a thread has left the module
 * @result: set to the result if the call was made
 *
 * Return: true if the call was made.
 */
bool cosy_module_take(struct cosy_loop *loop, uint32_t slot, int64_t *result);

/**
 * cosy_module_recall() - make threads that wait for work leave the module and stay out
 * @waits:  the threads for calls that may wait for ever; otherwise the others
 * @recall: false to let them wait again
 */
void cosy_module_recall(struct cosy_loop *loop, bool waits, bool recall);

/** cosy_module_compound() - submit an entry of kind COMPOUND to the module */
void cosy_module_compound(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_module_interrupt() - make the calls fail that compounds wait to make on descriptors
 * @first: the first descriptor
 * @last:  the last one; less than @first if there are none
 *
 * Return: the number of calls.
 */
int cosy_module_interrupt(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_module_interrupt_stale() - the same for waits for files that were closed there */
void cosy_module_interrupt_stale(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_module_lose() - continue without the module. @ret: what entering it has returned */
void cosy_module_lose(struct cosy_loop *loop, uint64_t ret);

/** cosy_module_close() - close and unmap the page. @mapped: false in a child, which has no map */
void cosy_module_close(struct cosy_loop *loop, bool mapped);

/** cosy_module_is_needed() - return true if one of @n attempts can only be made by the module */
bool cosy_module_is_needed(const struct cosy_loop *loop,
			   const struct cosy_attempt *a, uint32_t n);

/** cosy_module_submitted() - return true if there are entries that the module has not taken */
static inline bool cosy_module_submitted(const struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;

	return m->fd >= 0 && m->page->submit_head != m->tail;
}

/** cosy_module_flush() - let the module take all submitted entries */
void cosy_module_flush(struct cosy_loop *loop);

/**
 * cosy_module_settle() - the same, before something is cancelled
 *
 * What has ended is collected: it may be incomplete.
 */
void cosy_module_settle(struct cosy_loop *loop);

/** cosy_module_publish() - make submitted entries visible to the module */
static inline void cosy_module_publish(struct cosy_loop *loop)
{
	struct cosy_module *m = &loop->module;

	__atomic_store_n(&m->page->submit_tail, m->tail, __ATOMIC_RELEASE);
}

/** cosy_module_make() - make @n attempts; collect their results afterwards */
void cosy_module_make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n);

/** cosy_module_done() - return true if cosy_module_collect() has results to collect */
static inline bool cosy_module_done(const struct cosy_loop *loop)
{
	const struct cosy_module *m = &loop->module;

	return m->inside && m->head != cosy_index_load(&m->page->done_tail);
}

/**
 * cosy_attempts_pending() - test whether cosy_attempts_make() has anything to do
 *
 * A thread that has made a call may have added attempts while another one was in a callback.
 */
static inline bool cosy_attempts_pending(const struct cosy_loop *loop)
{
	return loop->nbatch || cosy_module_submitted(loop) || cosy_module_done(loop);
}

/**
 * cosy_module_collect() - pass results to cosy_attempted()
 * @max_attempts: stop when this number of attempts has resulted from them
 */
void cosy_module_collect(struct cosy_loop *loop, uint32_t max_attempts);

/** cosy_module_look() - enter the module: continue IN_MODULE entries that are ready */
void cosy_module_look(struct cosy_loop *loop);

/** cosy_module_poll() - add the module to epoll; without events if a thread may sleep there */
int cosy_module_poll(const struct cosy_loop *loop);

/** cosy_module_sleeps() - return true if a thread can sleep in the module for its entries */
bool cosy_module_sleeps(const struct cosy_loop *loop);

/**
 * cosy_module_sleep() - sleep in the module until an entry is complete
 * @until: CLOCK_MONOTONIC in nanoseconds, or UINT64_MAX
 *
 * Releases the lock meanwhile. The module executes entries that become ready. The caller has to
 * collect completions.
 *
 * Return: COSY_ASYNC_READABLE if epoll has events; COSY_ASYNC_SIGNAL after a signal; otherwise
 * another value.
 */
uint32_t cosy_module_sleep(struct cosy_loop *loop, uint64_t until);

/**
 * cosy_module_cancel() - take an IN_MODULE entry back from the module; it stays in its list
 *
 * A COMPOUND stays in the module: its calls that would wait fail.
 *
 * Return: false if it has completed.
 */
bool cosy_module_cancel(struct cosy_loop *loop, uint32_t slot);

/* descriptor.c */

/** cosy_descriptor() - get or add a descriptor; NULL without memory, or for an invalid number */
struct cosy_descriptor *cosy_descriptor(struct cosy_loop *loop, int fd);

/** cosy_descriptor_find() - look up a descriptor; NULL if nothing is known about it */
static inline struct cosy_descriptor *
cosy_descriptor_find(const struct cosy_loop *loop, int fd)
{
	/* For a negative @fd this is larger than any chunk. */
	uint32_t chunk = (uint32_t)fd / COSY_CHUNK;

	if (chunk >= loop->nchunks || !loop->chunks[chunk])
		return NULL;
	return &loop->chunks[chunk][(uint32_t)fd % COSY_CHUNK];
}

/** cosy_descriptor_set_added() - note whether epoll has a descriptor */
static inline void cosy_descriptor_set_added(struct cosy_loop *loop, struct cosy_descriptor *d,
					     bool added)
{
	loop->nadded += added;
	loop->nadded -= d->added;
	d->added = added;
}

/** cosy_socket_option() - an option of a socket that is an int; 0 if it cannot be read */
int cosy_socket_option(int fd, int option);

/** cosy_descriptor_look() - determine the kind of a descriptor; -EBADF if it is not open */
int cosy_descriptor_look(struct cosy_descriptor *d, int fd);

/** cosy_descriptor_append() - add an entry to the end of the list that slot->list names */
void cosy_descriptor_append(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_descriptors_disarm() - let epoll report no descriptor for which nothing waits
 *
 * It usually goes on, for the next entry. But what is received in the ring never lets an entry
 * wait, and each byte for it would wake the thread for epoll.
 */
void cosy_descriptors_disarm(struct cosy_loop *loop);

/** cosy_descriptor_remove() - remove an entry from its list */
void cosy_descriptor_remove(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_descriptor_arm() - let epoll report the events for which a descriptor's entries wait
 *
 * Return: 0; -EPERM if an entry reads or writes, and the descriptor cannot be polled; another
 * error.
 */
int cosy_descriptor_arm(struct cosy_loop *loop, int fd);

/**
 * cosy_descriptor_is_stale() - test whether what waits for a descriptor waits for an earlier file
 * @fd: a descriptor that is in the table
 *
 * Return: true if epoll has a file with that number, and the number does not refer to it any more.
 */
bool cosy_descriptor_is_stale(struct cosy_loop *loop, int fd);

/** cosy_descriptor_event() - continue entries after epoll has reported events */
void cosy_descriptor_event(struct cosy_loop *loop, int fd, uint32_t events);

/**
 * cosy_descriptor_use() - note that an operation uses a descriptor
 * @fd: the descriptor; nothing happens if it is negative
 *
 * Until cosy_descriptor_forget(), the module does not close the descriptor itself.
 */
void cosy_descriptor_use(struct cosy_loop *loop, int fd);

/** cosy_descriptors_use_all() - the same for all descriptors, for ever */
void cosy_descriptors_use_all(struct cosy_loop *loop);

/** cosy_descriptor_forget() - remove a descriptor, for which nothing waits, also from epoll */
void cosy_descriptor_forget(struct cosy_loop *loop, int fd);

/** cosy_descriptors_create() - allocate the map of used descriptors. Return: 0 or -ENOMEM */
int cosy_descriptors_create(struct cosy_loop *loop);

/** cosy_descriptors_destroy() - free the table */
void cosy_descriptors_destroy(struct cosy_loop *loop);

/* timer.c */

/** cosy_timer_add() - let an entry wait until a time. Return: 0 or -ENOMEM */
int cosy_timer_add(struct cosy_loop *loop, uint32_t slot, uint64_t time);

/** cosy_timer_remove() - end that wait */
void cosy_timer_remove(struct cosy_loop *loop, uint32_t slot);

/** cosy_timers_expire() - complete all entries whose time has come, or attempt their calls */
void cosy_timers_expire(struct cosy_loop *loop);

/** cosy_timers_next() - return the earliest time, or UINT64_MAX */
uint64_t cosy_timers_next(const struct cosy_loop *loop);

/* queue.c */

/** cosy_queue_init() - initialise an empty queue */
void cosy_queue_init(struct cosy_queue *queue);

/** cosy_queue_add() - add an entry, which is in no queue, to the end */
void cosy_queue_add(struct cosy_loop *loop, struct cosy_queue *queue, uint32_t slot);

/** cosy_queue_remove() - remove an entry from any place */
void cosy_queue_remove(struct cosy_loop *loop, struct cosy_queue *queue, uint32_t slot);

/* thread.c */

/**
 * cosy_thread_start() - start a thread in which all signals are blocked
 * @thread: set to the thread
 * @main:   its function
 * @arg:    argument of that function
 * @cpus:   CPUs on which it may run; NULL: those of the calling thread
 *
 * Return: 0 or an error number.
 */
int cosy_thread_start(pthread_t *thread, void *(*main)(void *), void *arg,
		      const cpu_set_t *cpus);

/** cosy_thread_join() - wait until a thread has ended. Not a cancellation point */
void cosy_thread_join(pthread_t thread);

/**
 * cosy_pass_signal_on() - send the process the signal that a call has sent to its own thread
 * @result: result of the call
 *
 * Threads of the loop block all signals. Natively the program's thread would have got it.
 */
void cosy_pass_signal_on(long result);

/** cosy_pool_init() - initialise a pool without threads */
void cosy_pool_init(struct cosy_loop *loop, struct cosy_pool *pool, uint32_t max);

/** cosy_thread_call() - let a thread make the call of an entry */
void cosy_thread_call(struct cosy_loop *loop, uint32_t slot, bool disk);

/** cosy_thread_cancel() - take a QUEUED entry back */
void cosy_thread_cancel(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_thread_returned() - continue an entry that was lent to the module and has come back
 * @made:   the call has been made
 * @result: result of the call, if it has
 */
void cosy_thread_returned(struct cosy_loop *loop, uint32_t slot, bool made,
			  int64_t result);

/** cosy_thread_cancel_lent() - cancel a lent entry. Return: 0, -ENOENT or -EALREADY */
int cosy_thread_cancel_lent(struct cosy_loop *loop, uint32_t slot);

/** cosy_threads_running() - return the number of lent entries whose calls are being made */
uint32_t cosy_threads_running(const struct cosy_loop *loop);

/** cosy_threads_stop() - keep threads from beginning calls. Return: false if one makes a call */
bool cosy_threads_stop(struct cosy_loop *loop);

/**
 * cosy_pool_end() - end the threads of a pool, which must be idle, and wait for that
 *
 * Releases the lock meanwhile.
 */
void cosy_pool_end(struct cosy_loop *loop, struct cosy_pool *pool);

/* cpu.c */

/**
 * cosy_cpu_choose() - choose the processor for an operation
 * @op:   the operation, or NULL
 * @nr:   its call
 * @args: the call's arguments
 * @cpu:  set to the processor; NULL if the loop itself has to execute it
 *
 * If the call closes a descriptor, the loop forgets which processor has used that.
 *
 * Return: 0; -EINVAL if the loop does not have the processor that the operation names.
 */
int cosy_cpu_choose(struct cosy_loop *loop, const struct cosy_async *op, long nr,
		    const uint64_t args[6], struct cosy_cpu **cpu);

/** cosy_cpu_is_valid() - return false if an operation's state names an unknown processor */
bool cosy_cpu_is_valid(struct cosy_loop *loop, uint32_t on);

/**
 * cosy_cpu_for_compound() - choose the processor for a compound; the loop has some
 * @on:	  state of the operation with which the function was spawned: see cosy_async_on()
 * @last: the processor of the function's last compound, or NULL
 *
 * Return: the processor; NULL if the loop itself has to run the compound.
 */
struct cosy_cpu *cosy_cpu_for_compound(struct cosy_loop *loop, uint32_t on,
				       struct cosy_cpu *last);

/**
 * cosy_cpu_entry() - return the entry of the owner's page in the module for an entry of @cpu's loop
 *
 * The owner finds there how a compound has ended.
 */
struct cosy_async_entry *cosy_cpu_entry(const struct cosy_cpu *cpu, uint32_t slot);

/** cosy_cpu_send() - let a processor execute an entry, which is set */
void cosy_cpu_send(struct cosy_loop *loop, struct cosy_cpu *cpu, uint32_t slot);

/**
 * cosy_cpu_until() - return the time until which the thread of a processor may wait without a check
 * @until: the time until which it has to wait, or UINT64_MAX
 */
uint64_t cosy_cpu_until(uint64_t until);

/** cosy_cpu_take() - submit the entries sent to a processor to its loop, whose lock is taken */
void cosy_cpu_take(struct cosy_cpu *cpu);

/** cosy_cpu_cancel() - cancel an entry that was sent. Return: 0, -ENOENT or -EALREADY */
int cosy_cpu_cancel(struct cosy_loop *loop, uint32_t slot);

/** cosy_cpus_cancel_fds() - cosy_fds_cancel_all() on all processors */
int cosy_cpus_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last);

/**
 * cosy_cpus_cancel_stale() - after descriptors were closed, cancel what compounds wait for there
 *
 * They may have begun to wait between cosy_cpus_cancel_fds() and the close.
 */
void cosy_cpus_cancel_stale(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_cpus_add_info() - add what the processors have done */
void cosy_cpus_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info);

/**
 * cosy_cpus_quiesce() - cosy_loop_quiesce() for the loops of all processors
 *
 * Call it without the lock.
 *
 * Return: true if their threads rest and their locks are taken; false if nothing has changed.
 */
bool cosy_cpus_quiesce(struct cosy_loop *loop);

/** cosy_cpus_go_on() - undo a cosy_cpus_quiesce() that has returned true */
void cosy_cpus_go_on(struct cosy_loop *loop);

/** cosy_cpus_destroy() - then remove the processors; the loop completes what was sent to them */
void cosy_cpus_destroy(struct cosy_loop *loop);

/** cosy_cpus_destroy_in_child() - free a child's copy of the processors */
void cosy_cpus_destroy_in_child(struct cosy_loop *loop);

/* polling.c */

/** cosy_cpu_read_options() - read the program's options, or NULL. Return: 0, -EINVAL or -EACCES */
int cosy_cpu_read_options(struct cosy_cpu_options *known, const struct cosy_cpu_options *options);

/**
 * cosy_cpu_set_options() - let a processor, whose thread has started, have options
 *
 * Return: 0; -EACCES: it may not have its priority; another error of pthread_setschedparam().
 */
int cosy_cpu_set_options(struct cosy_cpu *cpu, const struct cosy_cpu_options *options);

/** cosy_cpu_poll_ns() - return how long the thread of a processor polls */
uint64_t cosy_cpu_poll_ns(const struct cosy_cpu_options *options);

/** cosy_cpu_works() - note that a processor has work, so that it polls before it sleeps next */
void cosy_cpu_works(struct cosy_cpu *cpu);

/**
 * cosy_cpu_polls() - before the thread of a processor sleeps, poll for entries
 * @waits: entries wait for what epoll or the module reports, which the caller has to check
 *
 * Releases the lock of the processor's loop meanwhile.
 *
 * Return: true if the thread must not sleep: there is work, or the time to poll is not over.
 */
bool cosy_cpu_polls(struct cosy_cpu *cpu, bool waits);

/* colour.c */

/** cosy_is_coloured() - test whether an operation's callback has a colour */
bool cosy_is_coloured(const struct cosy_async *op);

/**
 * cosy_colour_deliver() - call the callback of a coloured operation, which is complete
 *
 * If a thread runs callbacks of that colour, the callback is left to it. Releases the lock
 * meanwhile.
 */
void cosy_colour_deliver(struct cosy_loop *loop, struct cosy_async *op);

/* wait.c */

/**
 * struct cosy_delivery - deliveries of a thread that waits
 * @room:  number of operations it may deliver before it checks its goal again; 0 after a stop
 * @count: number of operations it has delivered
 */
struct cosy_delivery {
	unsigned int room;
	unsigned int count;
};

/**
 * cosy_deliver() - make an operation that has its result complete, and call its callback
 *
 * Releases the lock during the callback.
 */
static COSY_ALWAYS_INLINE void cosy_deliver(struct cosy_loop *loop, struct cosy_async *op,
					    struct cosy_delivery *delivery)
{
	void (*done)(struct cosy_async *op) = op->done;

	delivery->room--;
	delivery->count++;
	/* Without a callback, the program may free it from here on. */
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
	if (cosy_loop_is_stopping(loop))
		delivery->room = 0;
}

/**
 * cosy_complete_now() - complete an entry, and deliver its result unless there are earlier ones
 * @slot:     the entry; in no list
 * @result:   result of its call
 * @delivery: may have room
 *
 * So a server answers a request before it receives the next one, as a program without a loop does.
 * The data is then still in the caches of the CPU and of the kernel.
 */
static COSY_ALWAYS_INLINE void cosy_complete_now(struct cosy_loop *loop, uint32_t slot,
						 int64_t result,
						 struct cosy_delivery *delivery)
{
	const struct cosy_async_page *page = loop->page;

	if (!delivery->room || page->done_head != page->done_tail ||
	    loop->entries[slot].flags & COSY_ENTRY_SILENT ||
	    COSY_UNLIKELY(loop->slots[slot].receive != COSY_NO_SLOT)) {
		cosy_complete(loop, slot, result);
		return;
	}
	loop->info.completed++;
	cosy_deliver(loop, cosy_page_take_result(loop, slot, result), delivery);
}

/**
 * cosy_execute() - begin with all submitted entries, without waiting
 * @delivery: while it has room, entries that complete immediately are delivered immediately; the
 *	      lock is released meanwhile
 */
void cosy_execute(struct cosy_loop *loop, struct cosy_delivery *delivery);

/* cancel.c */

/** cosy_slot_fd() - return the descriptor that an entry uses, or -1 */
int cosy_slot_fd(const struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_fds_cancel_all() - cosy_fds_cancel(), also for entries that are still in the ring
 *
 * Then wakes all that wait.
 */
int cosy_fds_cancel_all(struct cosy_loop *loop, uint32_t first, uint32_t last);

/** cosy_slot_cancel() - cancel an entry. Return: 0, -ENOENT or -EALREADY */
int cosy_slot_cancel(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_fds_cancel() - cancel all entries on descriptors, and forget these
 * @first: the first descriptor
 * @last:  the last one; less than @first if there are none
 *
 * Return: the number of cancelled entries.
 */
int cosy_fds_cancel(struct cosy_loop *loop, uint32_t first, uint32_t last);

/**
 * cosy_fd_cancel_stale() - after a thread has closed a descriptor, cancel what waits for the file
 * @fd: the descriptor, which may have been opened again
 *
 * Functions that were cancelled for the close may have waited again before it was made.
 */
void cosy_fd_cancel_stale(struct cosy_loop *loop, int fd);

/* task.c */

/**
 * cosy_task_cancel() - make the later calls of a function fail
 * @op: an operation that is pending and has a slot of this loop
 *
 * The call for which the function waits is not cancelled.
 *
 * Return: the operation of that call; NULL if @op is not the operation of a function.
 */
struct cosy_async *cosy_task_cancel(struct cosy_loop *loop, const struct cosy_async *op);

/** cosy_task_slot() - return the slot of the function to which an operation belongs: its call */
uint32_t cosy_task_slot(const struct cosy_async *call);

#endif /* COSY_LOOP_H */
