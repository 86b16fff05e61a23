/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/task.h - functions whose system calls do not block the thread.
 *
 *	COSY_ASYNC static ssize_t serve(int fd, struct connection *c)
 *	{
 *		ssize_t n;
 *
 *		while ((n = recv(fd, c->in, sizeof(c->in), 0)) > 0)
 *			if (send(fd, c->out, reply(c, n), 0) < 0)
 *				break;
 *		close(fd);
 *		return n;
 *	}
 *
 *	COSY_SPAWN(loop, serve(fd, c), .done = connection_closed, .data = c);
 *	cosy_loop_run(loop);
 *
 * The plugin compiles the function to a coroutine. Each system call that may wait
 * becomes an operation of the loop. The function is suspended until the operation
 * is complete, and takes no thread meanwhile: only a frame with the variables that
 * are used afterwards.
 *
 * See COSY_ASYNC(3) and COSY_SPAWN(3).
 */
#ifndef COSY_TASK_H
#define COSY_TASK_H

/* COSY_SPAWN uses extensions of GNU C. */
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include <cosy/async.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * COSY_ASYNC - a function that is a coroutine of a loop
 *
 * Written before the function's declarations and its definition. Only COSY_SPAWN()
 * and other such functions may call it. The latter are suspended until it returns.
 */
#ifdef __COSY_PLUGIN__
#define COSY_ASYNC __attribute__((annotate("cosy_async")))
#elif defined(__cplusplus)
#define COSY_ASYNC \
	static_assert(0, "COSY_ASYNC needs the Cosy plugin (cosy-cc)");
#else
#define COSY_ASYNC \
	_Static_assert(0, "COSY_ASYNC needs the Cosy plugin (cosy-cc)");
#endif

/** struct cosy_task - a function that has been spawned; opaque */
struct cosy_task;

struct cosy_region;

/**
 * struct cosy_spawn - arguments of COSY_SPAWN()
 * @loop:  the loop
 * @op:	   an operation of the program that represents the function until the
 *	   function has returned; NULL: libcosy has one, for @done only
 * @done:  called with the operation after the function has returned, or NULL
 * @data:  stored in the operation
 * @task:  for libcosy
 * @colour: colour of the function and of @done; 0: they have none, but colour 0 on a team's worker
 */
struct cosy_spawn {
	struct cosy_loop *loop;
	struct cosy_async *op;
	void (*done)(struct cosy_async *op);
	void *data;
	struct cosy_task *task;
	uint64_t colour;
};

/**
 * COSY_SPAWN() - start a COSY_ASYNC function
 * @loop_: the loop that executes its system calls
 * @call:  the call; its arguments are evaluated now
 *
 * Optional arguments follow: .op, .done, .data and .colour of struct cosy_spawn, in
 * this order. The function starts when a thread waits for the loop. The result of the
 * operation is the function's result, as a 64-bit number; 0 for void.
 *
 * cosy_cancel() of the operation cancels the function: the call that it waits for
 * fails with ECANCELED, and so does each later call that may wait for something
 * other than a disk. The function runs until it returns.
 *
 * If several threads run the loop, functions run at the same time. Functions of one colour,
 * and callbacks of that colour (cosy_colour()), do not: a function gives its colour back
 * when it is suspended, and has it again when it is resumed. The module does not run
 * compounds of functions that have a colour.
 *
 * Return: 0: the operation will complete, once; -EAGAIN: as many operations as the
 * loop was made for are outstanding; -EBUSY: @op is pending; -EINVAL: see cosy_async_on();
 * -ENOMEM; -ESHUTDOWN: the loop is being destroyed; -EPERM: after fork(). Thread-safe; not
 * async-signal-safe.
 */
#define COSY_SPAWN(...) __cosy_spawn(__VA_ARGS__, )
/* With a comma after the last argument, because before C23 `...` needs an argument. */
#define __cosy_spawn(loop_, call, ...) \
	__extension__({ \
		_Pragma("GCC diagnostic push") \
		_Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"") \
		struct cosy_spawn cosy_spawn_ = { .loop = (loop_), \
						  __VA_ARGS__ }; \
		_Pragma("GCC diagnostic pop") \
		(void)(call); \
		cosy_task_start(&cosy_spawn_); \
	})

/*
 * Functions for COSY_SPAWN and code of the plugin. Programs do not call them.
 *
 * When the arguments of the call that COSY_SPAWN() starts have been evaluated, the
 * plugin calls cosy_task_create() and, if there is a colour, cosy_task_colour().
 *
 * A function `f` becomes `f.cosy`. Its first argument is the task, the others are
 * those of `f`. It allocates its frame by cosy_task_enter(), and returns before it
 * has executed anything. The frame begins with the address of the code that
 * resumes the function.
 */

/** cosy_task_create() - allocate the task of a function that COSY_SPAWN() starts */
void cosy_task_create(struct cosy_spawn *spawn);

/** cosy_task_colour() - give the task that was created the colour of @spawn */
void cosy_task_colour(struct cosy_spawn *spawn);

/** cosy_task_start() - end COSY_SPAWN(): start the task; free it on failure */
int cosy_task_start(struct cosy_spawn *spawn);

/**
 * cosy_task_enter() - allocate the frame of a function that is called
 * @task: the task; NULL: it could not be created
 * @size: bytes
 * @align: their alignment, a power of two
 *
 * The task resumes this function next.
 *
 * Return: the frame; NULL if there is no memory for the frame of a spawned function. If
 * there is no memory for the frame of a call, the process is aborted.
 */
void *cosy_task_enter(struct cosy_task *task, size_t size, size_t align);

/**
 * cosy_task_call() - make a system call when the function is suspended
 *
 * The function is resumed with the result, -1 if it failed, in the first word of
 * the task. errno is that of the call, or that of the code before it.
 */
void cosy_task_call(struct cosy_task *task, long nr, uint64_t a0, uint64_t a1,
		    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5);

/**
 * cosy_task_reply() - make a send() when the function is suspended, which a recv() follows
 * @fd: descriptor of both
 * @answer: data of the send
 * @length: its bytes
 * @flags: its flags
 * @buffer: where the recv(), which has no flags, stores data
 * @size: bytes of the buffer
 *
 * As cosy_task_call() for the send. If that has sent all bytes, and only then, the recv() may have been
 * made, too. The function asks for its result by cosy_task_received().
 */
void cosy_task_reply(struct cosy_task *task, uint64_t fd, uint64_t answer, uint64_t length,
		     uint64_t flags, uint64_t buffer, uint64_t size);

/**
 * cosy_task_received() - take the result of the recv() that cosy_task_reply() has made
 *
 * Return: true: it is in the first word of the task, and errno is set; false: it was not made, and the
 * function calls cosy_task_call().
 */
bool cosy_task_received(struct cosy_task *task);

/**
 * cosy_task_region() - run a part of a function as a compound when it is suspended
 * @region: the part, with COSY_REGION_ASYNC
 * @frame:  its registers, which must not move until the function is resumed
 *
 * The module runs it, if it can. The function is resumed with the number of the exit in the
 * first word of the task; or with -1: nothing was executed, and the function runs the native code.
 *
 * Return: false if the function must not be suspended, but run the native code.
 */
bool cosy_task_region(struct cosy_task *task, struct cosy_region *region,
		      uint64_t *frame);

/** cosy_task_errno() - the address of errno for compounds of a function */
int *cosy_task_errno(struct cosy_task *task);

/**
 * cosy_task_asks() - the address of a flag: if it is set, the next iteration of a loop that waits ends its
 * compound, clears the flag, and calls cosy_task_region() again if the part does not run natively
 */
bool *cosy_task_asks(struct cosy_task *task);

/**
 * cosy_task_return() - free the frame of a function that returns
 * @result: for the function that is resumed next, in the first word of the task
 */
void cosy_task_return(struct cosy_task *task, int64_t result);

/**
 * struct cosy_task_function - a function of the C library that a task replaces
 * @address: the address that the linker has resolved
 * @name:    its name
 * @foreign: out: it is not the C library's function, and must be called
 */
struct cosy_task_function {
	uintptr_t address;
	const char *name;
	uint64_t foreign;
};

/** cosy_task_functions() - set @foreign of @count functions; by constructors */
void cosy_task_functions(struct cosy_task_function *functions, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* COSY_TASK_H */
