/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread.h - threads that make blocking calls.
 */
#ifndef COSY_LOOP_THREAD_H
#define COSY_LOOP_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "lock.h"
#include "queue.h"

struct cosy_loop;

/**
 * struct cosy_caller - a thread of a pool
 * @pool: its pool
 * @id:   the thread
 * @tid:  its number in the kernel; 0 until it runs
 * @slot: the entry whose call it makes in user mode, or NO_SLOT
 * @begins: it has released the lock for that call; set without the lock
 */
struct cosy_caller {
	struct cosy_pool *pool;
	pthread_t id;
	int32_t tid;
	uint32_t slot;
	bool begins;
};

/**
 * struct cosy_pool - threads that make calls
 * @loop:    their loop
 * @queued:  entries that wait for a thread
 * @lent:    entries that were lent to the module; threads of this pool make their calls there
 * @callers: the @threads threads, with room for @max; NULL before the first one
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
	struct cosy_caller *callers;
	uint32_t threads;
	uint32_t idle;
	uint32_t inside;
	uint32_t max;
	struct cosy_event work;
};

/**
 * struct cosy_threads - the threads of a loop that make calls
 * @disk:    threads for calls that use a disk
 * @waits:   threads for calls that may wait for ever
 * @calling: number of entries whose calls they are making
 * @allowed: CPUs on which they may run; NULL: those of the thread that starts them
 */
struct cosy_threads {
	struct cosy_pool disk;
	struct cosy_pool waits;
	uint32_t calling;
	const cpu_set_t *allowed;
};

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

/**
 * cosy_thread_args() - get the arguments with which a thread makes a call
 *
 * The call continues after the bytes that were transferred.
 */
void cosy_thread_args(const struct cosy_loop *loop, uint32_t slot, uint64_t args[6]);

/** cosy_thread_add() - let a thread make the call of an entry. Return: 0; -errno without a thread */
int cosy_thread_add(struct cosy_loop *loop, uint32_t slot, bool disk);

/** cosy_thread_cancel() - take a QUEUED entry back */
void cosy_thread_cancel(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_thread_returned() - take back an entry that was lent to the module
 * @made: the call has been made; otherwise a thread makes it in user mode
 */
void cosy_thread_returned(struct cosy_loop *loop, uint32_t slot, bool made);

/** cosy_thread_cancel_lent() - cancel a lent entry. Return: 0, -ENOENT or -EALREADY */
int cosy_thread_cancel_lent(struct cosy_loop *loop, uint32_t slot);

/**
 * cosy_caller_let_begin() - wait until a thread has looked up the descriptor of its call, or ended the call
 *
 * The call may go on. The caller has the loop's lock. Without /proc, or a free descriptor to read it, this
 * returns as soon as the thread has released the lock.
 */
void cosy_caller_let_begin(const struct cosy_caller *caller);

/** cosy_threads_running() - return the number of lent entries whose calls are being made */
uint32_t cosy_threads_running(const struct cosy_loop *loop);

/**
 * cosy_pool_end() - end the threads of a pool, which must be idle, and wait for that
 *
 * Releases the lock meanwhile.
 */
void cosy_pool_end(struct cosy_loop *loop, struct cosy_pool *pool);

#endif /* COSY_LOOP_THREAD_H */
