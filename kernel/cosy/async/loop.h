/* SPDX-License-Identifier: GPL-2.0 */
/*
 * loop.h - a loop as its parts see it.
 *
 *	loop.c	a loop is made, mapped, polled and freed
 *	enter.c	a thread enters it: entries are taken, executed and completed
 *	sleep.c	the thread sleeps until there is something to execute
 *	show.c	what /proc shows of it
 *	work.c	threads that make calls that block
 *	park.c	entries that wait for files
 *	target.c	the files for which they wait
 *	coroutine.c	entries that run compounds
 *	calls.c	the calls for which these are parked
 *	transfer.c	what these receive and send
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
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <linux/cosy_async.h>

struct cosy_state;
struct pt_regs;
struct seq_file;
struct socket;

/**
 * struct cosy_work - entries for threads that make calls that block
 * @queued:  struct cosy_handed that no thread makes yet
 * @added:   as many were queued since threads were woken for them
 * @idle:    struct cosy_worker of threads that wait for one
 * @running: threads that were woken for an entry, or make a call and do not sleep in it
 * @handing: wakes the next one, when the lock of the run queue is free
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

/* Calls made in one entry into the kernel, whether they complete entries or not. */
#define COSY_LOOP_CALLS	(4 * COSY_ASYNC_MAX_DONE)

/* Calls that end by themselves, and others: these do not delay those. */
#define COSY_WORKS	2

/**
 * struct cosy_loop_cpu - what was done for a loop on a CPU
 * @executed: entries that were begun, and that went on when they had waited; only the thread
 *	      that has entered writes it
 * @made:     calls that threads have made that wait for calls; protected by the ready_lock
 */
struct cosy_loop_cpu {
	u64 executed;
	u64 made;
};

/**
 * struct cosy_loop - a syscall page and what executes it
 * @id:		 its number, for tracepoints
 * @users:	 one for the file, one for each thread inside
 * @entered:	 bit 0: a thread has entered, and all but @closed, @ready_lock, @ready,
 *		 @sleeper and @wait is its
 * @entrant:	 the thread that has entered, or NULL
 * @waiters:	 threads that wait until it has left
 * @closed:	 a descriptor has been closed: compounds are to be given back
 * @kicked:	 so the thread that sleeps is to leave
 * @pins:	 the loop holds the module, because the file has gone
 * @device:	 the operations of the device's files, by which these are known
 * @pid:	 the process that has made it
 * @files:	 its table of descriptors; only to compare with
 * @mm:		 the memory of the process that has made it; only that it stays the
 *		 same one is held
 * @pages:	 the memory of the page
 * @page:	 the page; the process writes to it at any time
 * @entries:	 in it
 * @submitted:	 in it, the ring of submitted entries
 * @done:	 in it, the ring of completed ones
 * @nentries:	 as in the page
 * @submit_head: as in the page, but what counts
 * @done_tail:	 as in the page, but what counts
 * @enters:	 so often a thread has entered
 * @sleeps:	 so often one has begun to sleep
 * @threads:	 threads that wait for calls, or make them
 * @handovers:	 so often one was woken because another one slept in a call
 * @cpus:	 CPU -> what was done there
 * @parked:	 entry -> what waits for it, or NULL
 * @ready_lock:	 protects @ready, the links in it, @sleeper, @works, @handovers and
 *		 @unreachable; taken inside the lock of a file's wait queue
 * @ready:	 struct cosy_parked whose file has had an event, or whose call was made
 * @works:	 for threads that make calls that block
 * @unreachable: a descriptor has been closed since the page was mapped: who makes such a
 *		 call returns with it; see cosy_loop_is_lost(), too
 * @sleeper:	 the thread that sleeps until @ready is not empty, or NULL
 * @wait:	 who polls the loop's descriptor
 * @telling:	 wakes these, when the lock under which they must not be woken is free
 * @size:	 bytes of the page
 * @owner:	 who is charged
 * @charged:	 bytes
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
	struct page **pages;
	struct cosy_async_page *page;
	struct cosy_async_entry *entries;
	u32 *submitted;
	u32 *done;
	u32 nentries;
	u32 submit_head;
	u32 done_tail;
	u64 enters;
	u64 sleeps;
	atomic_t threads;
	u64 handovers;
	struct cosy_loop_cpu *cpus;
	struct cosy_parked **parked;
	spinlock_t ready_lock;
	struct list_head ready;
	struct cosy_work works[COSY_WORKS];
	bool unreachable;
	struct cosy_sleeper *sleeper;
	wait_queue_head_t wait;
	struct irq_work telling;
	u64 size;
	u64 owner;
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

/** enum cosy_target_kind - kinds of files for which entries wait */
enum cosy_target_kind {
	COSY_TARGET_NONE,
	COSY_TARGET_SOCKET,
	COSY_TARGET_PIPE,
	COSY_TARGET_EVENTFD,
};

/**
 * struct cosy_target - what an entry waits for. It is held, and so the wait queue stays; the
 * file is not
 * @object: the private data of its files: the socket, the pipe, the eventfd's context; or NULL
 * @queue:  its wait queue
 * @inode:  that of the file; held, unless it is an eventfd's
 * @kind:   enum cosy_target_kind
 */
struct cosy_target {
	void *object;
	wait_queue_head_t *queue;
	struct inode *inode;
	u8 kind;
};

/**
 * struct cosy_parked - an entry that waits for a file, runs a compound, reads, or is a thread's
 * @wait:   in the file's wait queue
 * @ready:  in the loop's list, if it is
 * @loop:   the loop, which frees this first
 * @target: what it waits for, or nothing
 * @events: the events for which it waits
 * @index:  the entry
 * @silent: its completion is not to be told
 * @is_coroutine: it is part of a struct cosy_coroutine
 * @is_handed: it is part of a struct cosy_handed
 * @is_reading: it is part of a struct cosy_reading
 * @call:   what is to be made again
 */
struct cosy_parked {
	struct wait_queue_entry wait;
	struct list_head ready;
	struct cosy_loop *loop;
	struct cosy_target target;
	__poll_t events;
	u32 index;
	bool silent;
	bool is_coroutine;
	bool is_handed;
	bool is_reading;
	struct cosy_async_call call;
};

/**
 * enum cosy_call_end - what became of a call
 * @COSY_CALL_MADE:	   it has a result
 * @COSY_CALL_USER:	   it has to be made from user mode
 * @COSY_CALL_RESTARTED: it was interrupted, and is made again after the signal
 */
enum cosy_call_end {
	COSY_CALL_MADE,
	COSY_CALL_USER,
	COSY_CALL_RESTARTED,
};

/* loop.c */
void cosy_loop_put(struct cosy_loop *loop);

/**
 * struct cosy_sleeper - a thread that sleeps in a loop, or executes what has woken it
 * @wait:   by which it is woken; in no queue
 * @asleep: it is to be woken: it executes nothing. Changed under the loop's ready_lock
 */
struct cosy_sleeper {
	struct wait_queue_entry wait;
	bool asleep;
};

/* enter.c */
bool cosy_loop_lock(struct cosy_loop *loop);
void cosy_loop_unlock(struct cosy_loop *loop);
unsigned int cosy_loop_execute(struct cosy_loop *loop, struct cosy_state *st,
			       unsigned int max);
bool cosy_loop_is_lost(const struct cosy_loop *loop);
void cosy_loop_state(struct cosy_state *st);
enum cosy_call_end cosy_loop_call(struct cosy_state *st,
				  struct cosy_async_call *call, s64 *result);
loff_t cosy_loop_left(const struct cosy_state *st, u32 what);
loff_t cosy_loop_llseek(struct file *file, loff_t offset, int whence);
int cosy_loop_flush(struct file *file, fl_owner_t id);
unsigned int cosy_loop_complete(struct cosy_loop *loop, u32 index, u8 status,
				bool silent, s64 result);

/* show.c */
void cosy_loop_show(struct seq_file *to, struct file *file);

/* sleep.c */
int cosy_loop_sleep(struct cosy_loop *loop, struct cosy_state *st,
		    unsigned int max, bool *entered);

/* work.c */
void cosy_works_init(struct cosy_loop *loop);
void cosy_works_exit(struct cosy_loop *loop);
bool cosy_work_queue(struct cosy_loop *loop, u32 index, u8 flags,
		     const struct cosy_async_call *call);
void cosy_works_wake(struct cosy_loop *loop);
unsigned int cosy_handed_ready(struct cosy_loop *loop,
			       struct cosy_parked *parked);
bool cosy_handed_is_taken(struct cosy_parked *parked);
loff_t cosy_handed_cancel(struct cosy_loop *loop, struct cosy_parked *parked);
void cosy_handed_give_back(struct cosy_loop *loop, struct cosy_parked *parked);
void cosy_handed_free(struct cosy_parked *parked);
void cosy_works_begin(struct cosy_loop *loop);
void cosy_works_end(struct cosy_loop *loop);
void cosy_works_recall(struct cosy_loop *loop);
loff_t cosy_loop_work(struct cosy_loop *loop, u64 what);

/* Return true if entries were queued for which no thread was woken. The loop is entered. */
static inline bool cosy_works_added(const struct cosy_loop *loop)
{
	return loop->works[0].added | loop->works[1].added;
}

/* Has a thread entered? */
static inline bool cosy_loop_is_entered(const struct cosy_loop *loop)
{
	return test_bit(0, &loop->entered);
}

/* park.c */
u64 cosy_park_cost(void);
bool cosy_park(struct cosy_loop *loop, u32 index, u8 flags,
	       const struct cosy_async_call *call);
void cosy_parked_init(struct cosy_parked *parked, struct cosy_loop *loop,
		      u32 index);
void cosy_parked_unqueue(struct cosy_parked *parked);
bool cosy_park_on(struct cosy_parked *parked, struct file *file, u8 flags);
bool cosy_park_idle(struct cosy_parked *parked, struct file *file);
bool cosy_park_exclusively(struct cosy_parked *parked, struct file *file);
void cosy_park_pass(struct cosy_parked *parked, bool used);
bool cosy_park_has_input(struct file *file);
unsigned int cosy_park_interrupt(struct cosy_loop *loop, int fd);
void cosy_unpark(struct cosy_parked *parked);
bool cosy_parked_is_current(const struct cosy_parked *parked,
			    const struct file *file);
struct cosy_parked *cosy_parked_next(struct cosy_loop *loop);
void cosy_parked_again(struct cosy_parked *parked);
bool cosy_parked_add(struct cosy_parked *parked, unsigned int mode, int flags);
void cosy_loop_wake_pollers(struct cosy_loop *loop);
void cosy_loop_wake_pollers_later(struct irq_work *telling);
bool cosy_loop_is_ready(struct cosy_loop *loop);
void cosy_loop_tell(struct cosy_loop *loop);

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

/* Is it what a file belongs to? While it is held, no other object has its address. */
static inline bool cosy_target_is(const struct cosy_target *target,
				  const struct file *file)
{
	return target->object && file->private_data == target->object;
}

/* transfer.c */
long cosy_transfer(struct socket *socket, const struct pt_regs *regs,
		   bool receives);
bool cosy_transfer_may_ask(const struct socket *socket);
bool cosy_socket_listens(const struct socket *socket);
bool cosy_transfer_idle(const struct socket *socket);

/* read.c */
unsigned int cosy_reading_submitted(struct cosy_loop *loop, struct cosy_state *st,
				    u32 index, u8 flags,
				    const struct cosy_async_call *call);
unsigned int cosy_reading_ready(struct cosy_loop *loop, struct cosy_state *st,
				struct cosy_parked *parked);
void cosy_reading_free(struct cosy_parked *parked);

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
