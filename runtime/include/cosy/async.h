/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/async.h - system calls that are submitted now and complete later.
 *
 *	static void received(struct cosy_async *op)
 *	{
 *		struct connection *c = op->data;
 *
 *		if (op->result > 0)
 *			cosy_async_send(c->loop, &c->sent, c->fd, c->buf,
 *					op->result, 0);
 *		else
 *			cosy_async_close(c->loop, NULL, c->fd);
 *	}
 *
 *	cosy_async_recv(loop, &c->received, fd, c->buf, sizeof(c->buf), 0);
 *	cosy_loop_run(loop);
 *
 * An operation is a system call with its arguments, written to an entry of the
 * loop's syscall page. Submitting makes no system call. The thread that waits
 * executes the submitted operations. An operation that has to wait for a descriptor
 * or a time needs no thread.
 *
 * A call that waits for its descriptor does so whether or not the descriptor has
 * O_NONBLOCK; MSG_DONTWAIT and RWF_NOWAIT make it complete with -EAGAIN.
 * Operations that read from one descriptor are executed one after the other, in the
 * order of submission; so are operations that write to it. No other operations are
 * ordered: submit the next one from the callback of the one before.
 *
 * All functions are thread-safe unless they say otherwise, and may be called from
 * callbacks. None but cosy_loop_stop() is async-signal-safe. They return -errno on
 * failure. After fork() the child has no loop: there they return -EPERM, and
 * cosy_loop_destroy() frees the child's memory and descriptors of the loop.
 *
 * See cosy-async(7).
 */
#ifndef COSY_ASYNC_H
#define COSY_ASYNC_H

/* A program in C++ may ask for warnings about what C needs, such as its casts. */
#ifdef __cplusplus
#pragma GCC system_header
#endif

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Without POSIX, as by -std=c11, these do not define all types that are used here. */
#ifdef __GLIBC__
#include <bits/types/siginfo_t.h>
#include <bits/types/sigset_t.h>
#include <bits/types/struct_timespec.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** struct cosy_loop - executes operations; opaque */
struct cosy_loop;

/**
 * struct cosy_async - one operation
 * @done:   called when it is complete, by the thread that waits; or NULL
 * @data:   for the program
 * @result: out: what the system call returned, or -errno; -ECANCELED if the
 *	    operation was cancelled before it did anything
 * @state:  for libcosy; 0 before the structure is used for the first time
 * @slot:   for libcosy
 *
 * The structure, and the memory that the arguments point to, belong to libcosy
 * from the submission until @done is called; without @done, until
 * cosy_async_pending() is false. That is false before @done is called: where another thread
 * may call @done, wait for what @done does. @done may submit @op again, or free it. It
 * has to return, and not to leave by longjmp(), an exception or the end of the thread.
 */
struct cosy_async {
	void (*done)(struct cosy_async *op);
	void *data;
	int64_t result;
	uint32_t state;
	uint32_t slot;
};

/** cosy_async_pending() - test whether @op was submitted and is not complete */
static inline bool cosy_async_pending(const struct cosy_async *op)
{
	return __atomic_load_n(&op->state, __ATOMIC_ACQUIRE) == 1;
}

/**
 * struct cosy_loop_options - options of a loop
 * @size:    sizeof(struct cosy_loop_options)
 * @entries: operations that can be outstanding at once; rounded up to a power of
 *	     two, and to 64. 0: 4096. At most 2^20. One takes about 110 bytes, and
 *	     220 more that are shared with the module
 * @threads: threads for calls that use a disk; 0: 4. At most 256
 * @waiters: threads for calls that wait for something other than a descriptor,
 *	     such as flock(2); 0: 64. At most 1024. Calls beyond that wait for a thread
 *
 * Threads are started when they are needed.
 */
struct cosy_loop_options {
	uint32_t size;
	uint32_t entries;
	uint32_t threads;
	uint32_t waiters;
};

/**
 * cosy_loop_create() - make a loop
 * @loop:    out: the loop, to be destroyed by cosy_loop_destroy()
 * @options: its options; NULL: the defaults
 *
 * Opens two descriptors, close-on-exec. A third one is opened when the module makes
 * calls of the loop for the first time.
 *
 * Return: 0; -EINVAL (an option), -ENOMEM, -EMFILE, -ENFILE.
 */
int cosy_loop_create(struct cosy_loop **loop,
		     const struct cosy_loop_options *options);

/**
 * cosy_loop_destroy() - cancel all operations and free a loop
 * @loop: the loop, or NULL; no other thread may be using it, and no callback of it
 *	  may be running
 *
 * Outstanding operations complete with -ECANCELED, and their callbacks are called.
 * Submitting in these callbacks fails with -ESHUTDOWN.
 *
 * Return: 0; -EBUSY: a thread is making a call that cannot be cancelled. The loop
 * stays as it is: wait for the call and try again.
 */
int cosy_loop_destroy(struct cosy_loop *loop);

/**
 * cosy_async_call() - submit a system call
 * @loop: the loop
 * @op:	  receives the result; NULL: the result is discarded, also that of a failure
 * @nr:	  number of the system call (<sys/syscall.h>)
 * @a0:	  its first argument; unused ones are 0
 *
 * The functions of cosy/async-calls.h do this for one call each.
 *
 * Return: 0: it will complete, once; -EAGAIN: as many operations as the loop was
 * made for are outstanding; -EBUSY: @op is pending; -EINVAL: see cosy_async_on();
 * -ENOTSUP: this call cannot be an operation (it ends, duplicates or changes the
 * thread, or is administrative); -ESHUTDOWN: the loop is being destroyed; -EPERM.
 */
int cosy_async_call(struct cosy_loop *loop, struct cosy_async *op, long nr,
		    uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
		    uint64_t a4, uint64_t a5);

/**
 * cosy_async_reply() - send an answer, and then receive the next request
 * @loop:   the loop
 * @op:	    receives the result of the receive, as of recv(2)
 * @fd:	    a socket
 * @answer: what is sent
 * @length: its length in bytes
 * @flags:  flags of send(2), such as MSG_NOSIGNAL
 * @buffer: what is received; may be where @answer is
 * @size:   its size in bytes
 *
 * The operation completes once: with the module, a server of one client then enters the
 * kernel once for each request, and not twice. The receive begins after all of @answer was
 * sent. If it was not sent, @op completes with the error, or with -ECANCELED. Other
 * operations that receive from @fd meanwhile are not ordered with it. It takes two of the
 * operations that can be outstanding, and is two in struct cosy_loop_info.
 *
 * Return: as cosy_async_call(); -EINVAL also if @op is NULL.
 */
int cosy_async_reply(struct cosy_loop *loop, struct cosy_async *op, int fd,
		     const void *answer, size_t length, int flags, void *buffer,
		     size_t size);

/**
 * cosy_loop_buffers() - give a loop buffers for cosy_async_receive()
 * @loop:   the loop
 * @memory: @count buffers, one after the other. It belongs to the loop until that is destroyed
 * @size:   bytes of each, at most INT_MAX
 * @count:  how many, at most as many as operations can be outstanding
 *
 * From then on only the calling thread may wait for the loop (cosy_wait() and the like), and
 * return buffers. Other threads may submit and cancel operations.
 *
 * Return: 0; -EBUSY: the loop has buffers, or a thread waits for it, also if this is called in a
 * callback; -EINVAL; -ENOMEM; -EPERM.
 */
int cosy_loop_buffers(struct cosy_loop *loop, void *memory, size_t size, unsigned int count);

/**
 * struct cosy_receive - a receive that takes a buffer when there is something to receive
 * @op:	    the operation. Its result is that of recv(2); -ENOBUFS: all buffers were in use, and
 *	    what could have been received is still there: return a buffer, and submit again
 * @buffer: out: the buffer, if the result is positive; otherwise NULL
 */
struct cosy_receive {
	struct cosy_async op;
	void *buffer;
};

/**
 * cosy_async_receive() - receive from a socket into one of the loop's buffers
 * @loop:    the loop
 * @receive: receives the result and the buffer
 * @fd:	     the socket
 *
 * While it waits, it has no buffer. So a server with many connections, of which most are idle,
 * needs as many buffers as it answers requests at once. A receive is of at most one buffer's
 * size; the rest of a datagram is lost. The buffer belongs to the program until
 * cosy_buffer_return(). Other operations that receive from @fd meanwhile are not ordered with it.
 * If the loop has processors, it is not sent to one.
 *
 * Return: as cosy_async_call(); -EINVAL also if @receive is NULL or the loop has no buffers.
 */
int cosy_async_receive(struct cosy_loop *loop, struct cosy_receive *receive, int fd);

/**
 * cosy_buffer_return() - give a buffer back to its loop
 * @loop:   the loop
 * @buffer: its address, from struct cosy_receive
 *
 * Return: 0; -EINVAL: the program does not have that buffer; -EPERM: only the thread that has
 * called cosy_loop_buffers() may return buffers.
 */
int cosy_buffer_return(struct cosy_loop *loop, void *buffer);

/**
 * cosy_async_timer() - complete at a time
 * @loop:  the loop
 * @op:	   receives the result
 * @time:  time of CLOCK_MONOTONIC; read when the operation is executed
 * @flags: 0: @time begins when the operation is executed; TIMER_ABSTIME: complete at @time
 *
 * The operation is clock_nanosleep(2): its result is 0. It needs no thread. Timers with the
 * same @time and TIMER_ABSTIME complete in the order of their submission.
 *
 * Return: as cosy_async_call().
 */
int cosy_async_timer(struct cosy_loop *loop, struct cosy_async *op,
		     const struct timespec *time, int flags);

/**
 * cosy_async_signal() - complete when a signal is pending
 * @loop: the loop
 * @op:	  receives the result, the signal's number
 * @set:  the signals, which all threads have blocked
 * @info: out: the signal's data; or NULL
 *
 * The operation is rt_sigtimedwait(2) without a timeout: it takes one signal.
 * While it waits it has a descriptor of its own.
 *
 * Return: as cosy_async_call().
 */
int cosy_async_signal(struct cosy_loop *loop, struct cosy_async *op,
		      const sigset_t *set, siginfo_t *info);

/* The maximum number of completions that one call of cosy_wait() delivers. */
#define COSY_WAIT_MAX	64

/**
 * cosy_wait() - execute what was submitted, wait, and deliver completions
 * @loop:    the loop
 * @min:     wait until this number of operations is complete, at most COSY_WAIT_MAX;
 *	     0: do not wait, and ignore @timeout
 * @timeout: the maximum time to wait; NULL: no limit
 *
 * Does not wait once nothing is outstanding. Several threads may wait for one
 * loop; a callback is called by one of them.
 *
 * Return: the number of operations delivered, at most COSY_WAIT_MAX. It is less
 * than @min after the timeout, after cosy_loop_stop(), and when nothing else is
 * outstanding. -EINTR: a signal handler ran and nothing was delivered; -EBADF: the
 * program has closed the loop's descriptors; -EINVAL: @min or @timeout; -EPERM: in a child, or
 * in another thread than that of cosy_loop_buffers().
 */
int cosy_wait(struct cosy_loop *loop, unsigned int min,
	      const struct timespec *timeout);

/**
 * cosy_wait_for() - wait for one operation
 * @loop:    the loop
 * @op:	     the operation; neither its callback nor another thread may submit it
 *	     again or free it meanwhile
 * @timeout: the maximum time to wait; NULL: no limit
 *
 * Other operations that complete meanwhile are delivered.
 *
 * Return: 0: @op is complete; -ETIME: it is not, after the timeout; -EBADF, -EINTR,
 * -EINVAL (@timeout), -EPERM (as cosy_wait()); -ECANCELED: cosy_loop_stop() was called.
 */
int cosy_wait_for(struct cosy_loop *loop, const struct cosy_async *op,
		  const struct timespec *timeout);

/**
 * cosy_wait_some() - wait for some of several operations
 * @loop:    the loop
 * @ops:     the operations, as for cosy_wait_for()
 * @count:   their number
 * @min:     the number that have to be complete, at most @count
 * @timeout: the maximum time to wait; NULL: no limit
 *
 * Return: how many are complete, less than @min after the timeout and after
 * cosy_loop_stop(); -EBADF, -EINTR, -EINVAL (@min or @timeout), -EPERM (as cosy_wait()).
 */
int cosy_wait_some(struct cosy_loop *loop, struct cosy_async *const *ops,
		   unsigned int count, unsigned int min,
		   const struct timespec *timeout);

/**
 * cosy_loop_run() - execute and deliver until nothing is outstanding
 * @loop: the loop
 *
 * Continues after signal handlers.
 *
 * Return: 0: nothing is outstanding; 1: cosy_loop_stop() was called; -EPERM, as cosy_wait();
 * -EBADF: the program has closed the loop's descriptors.
 */
int cosy_loop_run(struct cosy_loop *loop);

/**
 * struct cosy_coloured - an operation whose callback has a colour
 * @op:	    the operation; its @done is libcosy's
 * @done:   the callback; set by cosy_colour(), as the following ones are
 * @colour: its colour
 * @next:   for libcosy
 *
 * It belongs to libcosy until @done is called. cosy_async_pending() may be false
 * before that, when the operation is complete and its callback is due.
 */
struct cosy_coloured {
	struct cosy_async op;
	void (*done)(struct cosy_coloured *coloured);
	uint64_t colour;
	struct cosy_coloured *next;
};

/**
 * cosy_colour() - give the callback of an operation a colour
 * @coloured: the operation; not pending
 * @colour:   any number, such as the address of what the callbacks change
 * @done:     the callback
 *
 * Callbacks of one colour in one loop are called one after the other, in the order in
 * which the operations complete, by whatever threads wait. Callbacks of different
 * colours may be called at the same time, and need not be: 256 colours at most are told
 * apart. So a callback must not wait for one of another colour. A thread that calls
 * callbacks of a colour goes on until none of that colour is due, also after
 * cosy_loop_stop().
 *
 *	cosy_async_recv(loop, cosy_colour(&c->received, (uintptr_t)c, received), c->fd,
 *			c->buf, sizeof(c->buf), 0);
 *
 * On a worker of a team (cosy/team.h) the colour is one of the team.
 *
 * The colours of Zeldovich et al., "Multiprocessor Support for Event-Driven Programs",
 * USENIX 2003.
 *
 * Return: &@coloured->op, to be submitted.
 */
struct cosy_async *cosy_colour(struct cosy_coloured *coloured, uint64_t colour,
			       void (*done)(struct cosy_coloured *coloured));

/**
 * cosy_loop_cpus() - let other processors execute the operations of a loop
 * @loop:  the loop
 * @cpus:  the numbers of processors, each of them one on which the calling thread may run
 * @count: how many, at most 64; 0: all on which the calling thread may run, except the
 *	   one on which it runs if there are others
 *
 * For each processor a thread is started that runs on it alone, with a syscall page of its
 * own, and the threads for calls that block which it needs. From then on operations that
 * are submitted to the loop are executed there. Callbacks are called as before, by threads
 * that wait for the loop, which can do so while operations are executed.
 *
 * An operation goes to the processor that cosy_async_on() names. For others the loop
 * chooses: that with the fewest outstanding operations, the first one of several.
 * Operations that read, write, send, receive, accept or connect stay with the processor
 * that executed the last one on their descriptor, while one of these is outstanding, or
 * unless another processor has many fewer operations. So those of one descriptor are
 * executed in the order of submission. If the program names different processors for
 * operations on one descriptor, these are not ordered.
 *
 * Compounds of functions (cosy/task.h) that the module runs go to a processor, too. A
 * function stays with its processor, unless another one has many fewer operations when a
 * compound begins. Compounds whose calls depend on the thread that makes them are not sent.
 * Timers, waiting for signals, poll(2), and all of a function that is not a compound in the
 * module, such as up-calls, stay with the loop itself: no processor executes them.
 *
 * Each processor takes two descriptors, and a third one with the module. Its threads stay
 * bound to it if the affinity of the process changes; if it is taken offline, the kernel
 * moves them. Call this once for a loop.
 *
 * The dynamic core specialisation of Soares and Stumm, "Exception-Less System Calls for
 * Event-Driven Servers", USENIX 2011.
 *
 * Return: 0; -EINVAL: a processor is not allowed, or named twice, or there are too many;
 * -EBUSY: the loop has processors; -EAGAIN, -EMFILE, -ENFILE, -ENOMEM, -ESHUTDOWN, -EPERM.
 */
int cosy_loop_cpus(struct cosy_loop *loop, const unsigned int *cpus, unsigned int count);

/**
 * struct cosy_cpu_options - options of the processors of a loop
 * @size:     sizeof(struct cosy_cpu_options)
 * @poll_us:  microseconds for which the thread of a processor polls for work before it sleeps, at
 *	      most 1000000; 0: 10
 * @priority: priority of that thread under SCHED_FIFO, from 1 to 99; 0: the scheduling policy of
 *	      the calling thread
 * @napi_us:  microseconds for which the kernel then polls the network device of sockets that wait
 *	      by epoll, before the thread sleeps, at most 1000000; 0: none. Linux 6.9 or later, and a
 *	      device with NAPI; otherwise it has no effect
 */
struct cosy_cpu_options {
	uint32_t size;
	uint32_t poll_us;
	uint32_t priority;
	uint32_t napi_us;
};

/**
 * cosy_loop_cpus_with() - cosy_loop_cpus() with options: kernel cores
 * @loop:    the loop
 * @cpus:    as for cosy_loop_cpus()
 * @count:   as for cosy_loop_cpus()
 * @options: the options; NULL: the defaults
 *
 * A processor with a @poll_us or a @priority is dedicated to the loop: its thread uses all of its
 * time while it polls. An operation that is sent there meanwhile wakes no thread. Work is an
 * operation that is sent to the processor, or complete there. If the thread that sends operations
 * runs on the same CPU, the processor does not poll. struct cosy_loop_info counts the time for which
 * processors have polled in vain.
 *
 * Calls that block are made by threads without that priority, which may run wherever the calling
 * thread may run, also if they are made for operations of a dedicated processor.
 *
 * While a thread with a @priority polls, no ordinary thread runs on its CPU, except for the share
 * of the time that the administrator has reserved (sched(7), sched_rt_runtime_us). If the process
 * may not have this priority, the call fails, and the loop has no processors: call it again with
 * @priority 0 to poll with the ordinary policy.
 *
 * The kernel cores of Boyd-Wickizer et al., "Corey: An Operating System for Many Cores", OSDI 2008.
 *
 * Return: as cosy_loop_cpus(); -EINVAL also for an option; -EACCES: RLIMIT_RTPRIO forbids
 * @priority, or RLIMIT_RTTIME forbids a thread with a priority to run for @poll_us.
 */
int cosy_loop_cpus_with(struct cosy_loop *loop, const unsigned int *cpus, unsigned int count,
			const struct cosy_cpu_options *options);

/**
 * cosy_async_on() - name the processor that is to execute an operation
 * @op:	 the operation; not pending
 * @cpu: the number of the processor
 *
 * This is for the next submission of the operation. If the loop has processors, and not
 * this one, that fails with -EINVAL. If it has none, the loop executes the operation.
 *
 *	cosy_async_pread(loop, cosy_async_on(&b->op, 3), fd, b->block, sizeof(b->block), at);
 *
 * With COSY_SPAWN(), it is for all compounds of the function.
 *
 * Return: @op, to be submitted.
 */
struct cosy_async *cosy_async_on(struct cosy_async *op, unsigned int cpu);

/** cosy_loop_run_once() - cosy_wait() for at least one operation */
int cosy_loop_run_once(struct cosy_loop *loop);

/**
 * cosy_loop_stop() - let the calls that wait for a loop return
 * @loop: the loop
 *
 * Calls that wait now return after the running callback. If no call waits, the next
 * one returns. Thread-safe, async-signal-safe.
 */
void cosy_loop_stop(struct cosy_loop *loop);

/**
 * cosy_cancel() - cancel an operation
 * @loop: the loop
 * @op:	  the operation
 *
 * An operation that stands for a function is cancelled as COSY_SPAWN() says.
 *
 * Return: 0: it completes with -ECANCELED, or with the number of bytes if it had
 * transferred some; a function will see its calls fail. -ENOENT: it is complete. -EALREADY:
 * a thread is making the call, and the operation completes with the call's result. If the
 * thread makes it in the module, the call is interrupted; a call that waits then completes
 * with -ECANCELED. -EPERM.
 */
int cosy_cancel(struct cosy_loop *loop, struct cosy_async *op);

/**
 * cosy_cancel_fd() - cancel all operations that wait for a descriptor
 * @loop: the loop
 * @fd:	  the descriptor
 *
 * Then the loop forgets the descriptor. Close a descriptor that operations have used by
 * cosy_async_close(), which does this first, or call this before close(2). Otherwise
 * operations that wait for the descriptor continue to wait, and operations on the next
 * file with that number may wait for the old file.
 *
 * Return: the number of operations cancelled; -EPERM.
 */
int cosy_cancel_fd(struct cosy_loop *loop, int fd);

/**
 * cosy_loop_fd() - a descriptor for another event loop
 * @loop: the loop
 *
 * It polls readable while cosy_wait(loop, 0, NULL) has something to do: call that
 * function when it does. The loop owns the descriptor: only poll it.
 *
 * Return: the descriptor; -EMFILE, -ENFILE, -ENOMEM, -EPERM.
 */
int cosy_loop_fd(struct cosy_loop *loop);

/**
 * struct cosy_loop_info - the counts of a loop
 * @submitted:	 operations submitted
 * @completed:	 operations complete
 * @outstanding: operations submitted and not delivered
 * @waiting:	 of these, waiting for a descriptor, a signal or a time
 * @attempts:	 system calls made for operations by threads that wait
 * @entries:	 entries into the kernel that made them
 * @handed_over: calls made by threads of the loop
 * @threads:	 threads of the loop
 * @kernel:	 1: the module makes the calls, many in one entry; 0: user mode
 * @polled_ns:	 nanoseconds for which threads of processors have polled and found no work
 */
struct cosy_loop_info {
	uint64_t submitted;
	uint64_t completed;
	uint64_t outstanding;
	uint64_t waiting;
	uint64_t attempts;
	uint64_t entries;
	uint64_t handed_over;
	uint32_t threads;
	uint32_t kernel;
	uint64_t polled_ns;
};

/**
 * cosy_loop_info() - read the counts of a loop
 * @loop: the loop
 * @info: out: its counts
 * @size: sizeof(struct cosy_loop_info); unknown members are set to 0
 *
 * Return: 0; -EPERM.
 */
int cosy_loop_info(struct cosy_loop *loop, struct cosy_loop_info *info,
		   size_t size);

#ifdef __cplusplus
}
#endif

#include <cosy/async-calls.h>

#endif /* COSY_ASYNC_H */
