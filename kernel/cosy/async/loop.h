/* SPDX-License-Identifier: GPL-2.0 */
/*
 * loop.h - the structures and functions that the files of this folder share.
 *
 *	loop.c	creates, maps, polls and frees a loop
 *	enter.c	enters a loop: takes, executes and completes entries
 *	sleep.c	puts the thread that has entered to sleep until an entry can be executed
 *	show.c	prints a loop in /proc/PID/fdinfo
 *	work.c	threads that make blocking calls
 *	ring.c	the ring: entries that are written once, in order
 *	wait.c	calls of the ring that wait for their socket
 *	park.c	parks compounds until their file is ready
 *	target.c	the files for which compounds and calls can wait
 *	coroutine.c	entries that run compounds
 *	calls.c	the calls at which compounds can be parked
 *	transfer.h	recvfrom() and sendto() of sockets
 *	socket.h	the state of a socket
 *	read.c	entries that read files on disks
 */
#ifndef COSY_ASYNC_LOOP_H
#define COSY_ASYNC_LOOP_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/unistd.h>
#include <linux/wait.h>

#include <linux/cosy_async.h>

#include "limit/limit.h"

struct cosy_ring;
struct cosy_state;
struct pt_regs;
struct seq_file;
struct socket;

/**
 * struct cosy_work - the entries and threads of one kind of blocking calls
 * @queued:  struct cosy_lent whose call no thread has begun
 * @added:   number of entries queued since threads were last woken for them
 * @idle:    struct cosy_worker of threads that wait for an entry
 * @running: number of threads that were woken for an entry, or are in a call without sleeping
 * @handing: wakes the next thread once the run queue's lock is free
 * @loop:    the loop
 *
 * The lists and @added are protected by the loop's ready_lock.
 */
struct cosy_work {
	struct list_head queued;
	unsigned int added;
	struct list_head idle;
	atomic_t running;
	struct irq_work handing;
	struct cosy_loop *loop;
};

/* The maximum of calls in one entry into the kernel, also of calls that complete no entry. */
#define COSY_LOOP_CALLS	(4 * COSY_ASYNC_MAX_DONE)

/* Calls that end by themselves have queues of their own: other calls must not delay them. */
#define COSY_WORKS	2

/**
 * struct cosy_loop_cpu - what was done for a loop on a CPU
 * @executed: number of entries begun, or continued after a wait; written only by the thread
 *	      that has entered
 * @made:     number of calls made by threads of work.c; protected by the ready_lock
 */
struct cosy_loop_cpu {
	u64 executed;
	u64 made;
};

/**
 * struct cosy_loop - a syscall page and what executes it
 * @id:		 its number, for tracepoints
 * @users:	 references: one of the file, one of each thread inside
 * @entered:	 bit 0: a thread has entered. It owns all fields but @closed, @ready_lock,
 *		 @ready, @sleeper and @wait
 * @entrant:	 the thread that has entered, or NULL
 * @waiters:	 number of threads that wait until it has left
 * @closed:	 a descriptor has been closed: compounds have to be given back
 * @kicked:	 the sleeping thread has to leave, because a descriptor was closed
 * @pins:	 the loop holds a reference to the module, because its file is gone
 * @device:	 file operations of the device, to recognise its files
 * @pid:	 the process that created the loop
 * @files:	 descriptor table of that process; used only for comparison
 * @mm:		 address space of that process; held by mmgrab(), so that its address is
 *		 not reused
 * @memory:	 that of the page
 * @page:	 the page; the process can write to it at any time
 * @entries:	 the entries, in the page
 * @submitted:	 the ring of submitted entries, in the page
 * @done:	 the ring of completed entries, in the page
 * @nentries:	 the number of entries; the kernel's copy, as the next two
 * @submit_head: index of the next submitted entry
 * @done_tail:	 index of the next completion
 * @resumed:	 the kernel's copies of these counts in the page
 * @batches:	 the same
 * @enters:	 number of times a thread has entered
 * @sleeps:	 number of times a thread has begun to sleep
 * @threads:	 number of threads inside cosy_loop_work()
 * @handovers:	 number of times a thread was woken because another one slept in a call
 * @cpus:	 CPU -> counts
 * @parked:	 entry -> what the loop keeps for it, or NULL
 * @ready_lock:	 protects @ready, the links in it, @sleeper, @works, @handovers and
 *		 @unreachable; nests inside the lock of a file's wait queue
 * @ready:	 struct cosy_parked whose file has had an event, or whose call was made
 * @works:	 entries for threads, see COSY_WORKS
 * @spares:	 freed struct cosy_lent, to be used again; changed by the thread that has entered
 * @nspares:	 their number
 * @unreachable: a descriptor has been closed since the page was mapped. A thread that makes a
 *		 blocking call then returns with the entry; see also cosy_loop_is_lost()
 * @sleeper:	 the thread that sleeps until @ready is not empty, or NULL
 * @wait:	 wait queue of the loop's descriptor, for poll()
 * @telling:	 wakes @wait where the context of the event must not do so
 * @ring:	 its ring, or NULL
 * @size:	 size of the page in bytes
 * @owner:	 the user who is charged
 * @paid:	 number of entries for which @charged has what they can keep allocated
 * @charged:	 bytes charged
 */
struct cosy_loop {
	u64 id;
	refcount_t users;
	unsigned long entered;
	struct task_struct *entrant;
	atomic_t waiters;
	bool closed;
	bool kicked;
	bool pins;
	const struct file_operations *device;
	struct pid *pid;
	fl_owner_t files;
	struct mm_struct *mm;
	struct cosy_mappable memory;
	struct cosy_async_page *page;
	struct cosy_async_entry *entries;
	u32 *submitted;
	u32 *done;
	u32 nentries;
	u32 submit_head;
	u32 done_tail;
	u32 resumed;
	u32 batches;
	u64 enters;
	u64 sleeps;
	atomic_t threads;
	u64 handovers;
	struct cosy_loop_cpu *cpus;
	struct cosy_parked **parked;
	spinlock_t ready_lock;
	struct list_head ready;
	struct cosy_work works[COSY_WORKS];
	struct cosy_lent *spares;
	unsigned int nspares;
	bool unreachable;
	struct cosy_sleeper *sleeper;
	wait_queue_head_t wait;
	struct irq_work telling;
	struct cosy_ring *ring;
	u64 size;
	u64 owner;
	u32 paid;
	u64 charged;
};

/**
 * struct cosy_async_call - the call of an entry
 * @args: its arguments
 * @nr:   its number
 */
struct cosy_async_call {
	u64 args[6];
	u32 nr;
};

/**
 * cosy_call_closes() - test whether a call closes descriptors that it names
 * @nr: number of the call
 *
 * Return: true if it does.
 */
static inline bool cosy_call_closes(u32 nr)
{
	return nr == __NR_close || nr == __NR_dup2 || nr == __NR_dup3 || nr == __NR_close_range;
}

/* What is waited for: input, or room for output. */
#define COSY_WAIT_IN	(1u << 0)
#define COSY_WAIT_OUT	(1u << 1)

/* The events that end the one and the other. */
#define COSY_EVENTS_IN	(EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLERR | EPOLLHUP)
#define COSY_EVENTS_OUT	(EPOLLOUT | EPOLLWRNORM | EPOLLERR | EPOLLHUP)

/** enum cosy_target_kind - kinds of files for which entries wait */
enum cosy_target_kind {
	COSY_TARGET_NONE,
	COSY_TARGET_SOCKET,
	COSY_TARGET_PIPE,
	COSY_TARGET_EVENTFD,
};

/**
 * struct cosy_target - what an entry waits for
 * @object: the private data of its files: the socket, the pipe, the eventfd's context; or NULL
 * @queue:  its wait queue
 * @inode:  the inode of the file; held, unless the file is an eventfd
 * @kind:   enum cosy_target_kind
 *
 * A reference to the object keeps the wait queue. The file itself is not held, so that close()
 * has its usual effect.
 */
struct cosy_target {
	void *object;
	wait_queue_head_t *queue;
	struct inode *inode;
	u8 kind;
};

/** enum cosy_parked_kind - for what the loop keeps a struct cosy_parked, and what contains it */
enum cosy_parked_kind {
	COSY_PARKED_COMPOUND, /* struct cosy_coroutine */
	COSY_PARKED_LENT,     /* struct cosy_lent: a thread makes the call */
	COSY_PARKED_READING,  /* struct cosy_reading */
};

/**
 * struct cosy_parked - an entry that runs a compound, reads, or is a thread's
 * @wait:   link in the file's wait queue
 * @ready:  link in the loop's ready list, or empty
 * @loop:   the loop, which frees this before itself
 * @target: what it waits for; its object is NULL if it waits for nothing
 * @events: the events for which it waits
 * @index:  index of the entry
 * @kind:   what contains this
 * @silent: the completion does not appear in the ring
 * @call:   the call, to be made again
 */
struct cosy_parked {
	struct wait_queue_entry wait;
	struct list_head ready;
	struct cosy_loop *loop;
	struct cosy_target target;
	__poll_t events;
	u32 index;
	enum cosy_parked_kind kind;
	bool silent;
	struct cosy_async_call call;
};

/**
 * enum cosy_call_end - how an attempt to make a call has ended
 * @COSY_CALL_MADE:	   the call has a result
 * @COSY_CALL_USER:	   the call has to be made from user mode
 * @COSY_CALL_RESTARTED: a signal interrupted the call; make it again after the signal
 */
enum cosy_call_end {
	COSY_CALL_MADE,
	COSY_CALL_USER,
	COSY_CALL_RESTARTED,
};

/* loop.c */
void cosy_loop_free(struct cosy_loop *loop);
bool cosy_loop_pays(struct cosy_loop *loop, u32 index);

/**
 * cosy_loop_put() - drop a reference to a loop, of its file or of a thread inside
 * @loop: the loop; freed with its last reference
 *
 * May sleep.
 */
static inline void cosy_loop_put(struct cosy_loop *loop)
{
	if (unlikely(refcount_dec_and_test(&loop->users)))
		cosy_loop_free(loop);
}

/**
 * struct cosy_sleeper - a thread in cosy_loop_sleep(): it sleeps, or executes entries
 * @wait:   wakes the thread; in no queue
 * @asleep: the thread sleeps, so it has to be woken. Changed under the loop's ready_lock
 */
struct cosy_sleeper {
	struct wait_queue_entry wait;
	bool asleep;
};

/* enter.c */
bool cosy_loop_lock(struct cosy_loop *loop);
int cosy_loop_await(struct cosy_loop *loop);
void cosy_loop_unlock(struct cosy_loop *loop);
unsigned int cosy_loop_execute(struct cosy_loop *loop, struct cosy_state *st,
			       unsigned int max);
bool cosy_loop_lacks_fd(const struct cosy_loop *loop);
void cosy_loop_state(struct cosy_state *st);
void cosy_loop_args(struct cosy_state *st, const struct cosy_async_call *call);
enum cosy_call_end cosy_loop_call(struct cosy_state *st,
				  struct cosy_async_call *call, s64 *result);
loff_t cosy_loop_left(const struct cosy_state *st, u32 what);
loff_t cosy_loop_llseek(struct file *file, loff_t offset, int whence);
int cosy_loop_flush(struct file *file, fl_owner_t id);
unsigned int cosy_loop_complete(struct cosy_loop *loop, u32 index, u8 status,
				bool silent, s64 result);

/**
 * cosy_loop_is_inside() - test whether the calling thread has entered
 * @loop: the loop
 *
 * Return: true if it has.
 */
static inline bool cosy_loop_is_inside(const struct cosy_loop *loop)
{
	return READ_ONCE(loop->entrant) == current;
}

/**
 * cosy_loop_is_lost() - test whether the descriptor by which the thread has entered is closed
 * @loop: the loop, entered
 *
 * Another thread may close the descriptor after this one has looked up the file, and before it
 * enters. Entries that this thread would leave parked could then never be completed.
 *
 * Return: true if the descriptor is closed. In a nested call, true if any descriptor of the loop
 * has been closed.
 */
static inline bool cosy_loop_is_lost(const struct cosy_loop *loop)
{
	/* A later close() sees that this thread has entered, or sees what it left parked. */
	return unlikely(READ_ONCE(loop->unreachable)) && cosy_loop_lacks_fd(loop);
}

/* show.c */
void cosy_loop_show(struct seq_file *to, struct file *file);

/**
 * cosy_loop_has_sleeper() - test whether cosy_loop_tell() would wake a thread
 * @loop: the loop
 *
 * Return: true if one sleeps in the loop, or in poll() of its descriptor.
 */
static inline bool cosy_loop_has_sleeper(struct cosy_loop *loop)
{
	return unlikely(READ_ONCE(loop->sleeper)) || wq_has_sleeper(&loop->wait);
}

/* sleep.c */
int cosy_loop_sleep(struct cosy_loop *loop, struct cosy_state *st, unsigned int max);

/* work.c */
void cosy_works_init(struct cosy_loop *loop);
void cosy_works_exit(struct cosy_loop *loop);
bool cosy_work_queue(struct cosy_loop *loop, u32 index, u8 flags,
		     const struct cosy_async_call *call);
void cosy_works_wake(struct cosy_loop *loop);
unsigned int cosy_lent_ready(struct cosy_loop *loop,
			     struct cosy_parked *parked);
bool cosy_lent_is_taken(struct cosy_parked *parked);
loff_t cosy_lent_cancel(struct cosy_loop *loop, struct cosy_parked *parked);
void cosy_lent_give_back(struct cosy_loop *loop, struct cosy_parked *parked);
void cosy_lent_free(struct cosy_parked *parked);
void cosy_works_begin(struct cosy_loop *loop);
void cosy_works_end(struct cosy_loop *loop);
void cosy_works_recall(struct cosy_loop *loop);
loff_t cosy_loop_work(struct cosy_loop *loop, u64 what);

/* Return true if entries were queued and no thread was woken for them. The loop is entered. */
static inline bool cosy_works_added(const struct cosy_loop *loop)
{
	return loop->works[0].added | loop->works[1].added;
}

/* Return true if a thread has entered. */
static inline bool cosy_loop_is_entered(const struct cosy_loop *loop)
{
	return test_bit(0, &loop->entered);
}

/* park.c */
u64 cosy_park_cost(void);
void cosy_parked_init(struct cosy_parked *parked, enum cosy_parked_kind kind,
		      struct cosy_loop *loop, u32 index);
void cosy_parked_unqueue(struct cosy_parked *parked);
bool cosy_park_is_futile(struct file *file, __poll_t events);
bool cosy_park_on(struct cosy_parked *parked, struct file *file, u8 flags);
bool cosy_park_idle(struct cosy_parked *parked, struct file *file);
bool cosy_park_exclusively(struct cosy_parked *parked, struct file *file);
void cosy_park_pass(struct cosy_parked *parked, bool used);
bool cosy_park_has_input(struct file *file);
unsigned int cosy_park_interrupt(struct cosy_loop *loop, int fd);
unsigned int cosy_park_interrupt_stale(struct cosy_loop *loop, int fd);
void cosy_unpark(struct cosy_parked *parked);
struct cosy_parked *cosy_parked_next(struct cosy_loop *loop);
void cosy_parked_again(struct cosy_parked *parked);
bool cosy_parked_add(struct cosy_parked *parked, unsigned int mode, int flags);
void cosy_loop_wake_pollers(struct cosy_loop *loop);
void cosy_loop_wake_pollers_later(struct irq_work *telling);
bool cosy_loop_is_ready(struct cosy_loop *loop);
void cosy_loop_tell(struct cosy_loop *loop, int flags);
bool cosy_wait_queue_add(wait_queue_head_t *queue, struct wait_queue_entry *wait);

/* Return true if a queue, to which an entry was added, has no other one. */
static inline bool cosy_wait_queue_is_single(const wait_queue_head_t *queue)
{
	/* Read without the lock: a wrong answer changes only the order of the waiters. */
	return data_race(READ_ONCE(queue->head.next) == READ_ONCE(queue->head.prev));
}

/* target.c */
bool cosy_target_transfers(const struct cosy_target *target, struct file *file,
			   bool receives);
long cosy_target_transfer(struct file *file, const struct pt_regs *regs,
			  bool receives);
bool cosy_target_find(struct cosy_target *target, struct file *file, u8 flags);
bool cosy_target_same(const struct cosy_target *target, struct file *file,
		      u8 flags);
void cosy_target_get(const struct cosy_target *target, struct file *file);
void cosy_target_put(struct cosy_target *target);
__poll_t cosy_target_poll(const struct cosy_target *target, struct file *file,
			  __poll_t events);
bool cosy_target_may_close(struct file *file);
void cosy_target_each_queue(struct file *file,
			    void (*function)(wait_queue_head_t *queue, void *argument),
			    void *argument);

/*
 * Return true if a file belongs to the target. The comparison of addresses is valid because the
 * target holds its object.
 */
static inline bool cosy_target_is(const struct cosy_target *target,
				  const struct file *file)
{
	return target->object && file->private_data == target->object;
}

/**
 * cosy_parked_is_current() - test whether a descriptor still refers to the file waited for
 * @parked: what waits
 * @file:   the file to which the descriptor now refers, or NULL
 *
 * Return: true if it is the same file.
 */
static inline bool cosy_parked_is_current(const struct cosy_parked *parked,
					  const struct file *file)
{
	return file && cosy_target_is(&parked->target, file);
}

/* read.c */
unsigned int cosy_reading_submitted(struct cosy_loop *loop, struct cosy_state *st,
				    u32 index, u8 flags,
				    const struct cosy_async_call *call);
unsigned int cosy_reading_ready(struct cosy_loop *loop, struct cosy_state *st,
				struct cosy_parked *parked);
void cosy_reading_free(struct cosy_parked *parked);

/* calls.c */
long cosy_accept(const struct pt_regs *regs, struct file *file, int flags);

/* coroutine.c */
int cosy_coroutine_submitted(struct cosy_loop *loop, struct cosy_state *st,
			     u32 index, const struct cosy_async_call *call);
int cosy_coroutine_ready(struct cosy_loop *loop, struct cosy_state *st,
			 struct cosy_parked *parked);
void cosy_coroutine_give_back(struct cosy_loop *loop, struct cosy_state *st,
			      struct cosy_parked *parked);
bool cosy_coroutine_is_left(struct cosy_parked *parked);
bool cosy_coroutine_waits(struct cosy_parked *parked, int fd);
void cosy_coroutine_cancel(struct cosy_parked *parked);
void cosy_coroutine_interrupt(struct cosy_parked *parked);
void cosy_coroutine_free(struct cosy_parked *parked);

#endif /* COSY_ASYNC_LOOP_H */
