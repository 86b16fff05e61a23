/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cpu.h - operations that threads on other processors execute.
 */
#ifndef COSY_LOOP_CPU_H
#define COSY_LOOP_CPU_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <cosy/async.h>
#include <linux/cosy_async.h>

#include "lock.h"
#include "queue.h"

struct cosy_loop;
struct cosy_used_fd;

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
 * @allowed:	 where @owner's program may run: also the threads that make calls, if @thread may
 *		 use all of its CPU
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
 * struct cosy_cpus - the processors of a loop
 * @all:   the @count processors
 * @count: their number
 * @sent:  for each slot of the loop, the operation of the processor that has its entry
 * @fds:   the @nfds descriptors that processors have used
 * @nfds:  length of that array
 */
struct cosy_cpus {
	struct cosy_cpu *all;
	uint32_t count;
	struct cosy_async *sent;
	struct cosy_used_fd *fds;
	uint32_t nfds;
};

/**
 * cosy_cpu_choose() - choose the processor for an operation
 * @on:   state of the operation before it was submitted: the processor that it names, or none
 * @nr:   its call
 * @args: the call's arguments
 * @cpu:  set to the processor; NULL if the loop itself has to execute it
 *
 * If the call closes a descriptor, the loop forgets which processor has used that.
 *
 * Return: 0; -EINVAL if the loop does not have the processor that the operation names.
 */
int cosy_cpu_choose(struct cosy_loop *loop, uint32_t on, long nr, const uint64_t args[6],
		    struct cosy_cpu **cpu);

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

/** cosy_cpu_works() - note that a processor has work, so that it polls before it sleeps next */
static inline void cosy_cpu_works(struct cosy_cpu *cpu)
{
	atomic_store_explicit(&cpu->idle_since, 0, memory_order_relaxed);
}

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

#endif /* COSY_LOOP_CPU_H */
