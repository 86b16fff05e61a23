/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * task.h - functions that are suspended while their calls are executed.
 */
#ifndef COSY_LOOP_TASK_H
#define COSY_LOOP_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy/async.h>
#include <cosy/region.h>
#include <cosy/task.h>

struct cosy_colours;
struct cosy_cpu;
struct cosy_loop;
struct cosy_reserved;

/**
 * struct task_frame - header before the frame of a function
 * @outer: header of the calling function's frame; NULL if the function was spawned
 * @start: offset of this header in the allocated memory
 *
 * The frame begins with the address of the code that resumes the function.
 */
struct task_frame {
	struct task_frame *outer;
	size_t start;
	void (*resume[])(void *frame);
};

/** enum task_calling - for what a function is suspended */
enum task_calling {
	TASK_CALLS_NOTHING,	/* another function, or a compound */
	TASK_CALLS,		/* a call that was not submitted */
	TASK_HAS_CALLED,	/* nothing: its call was made already */
	/* For a call in the ring, which stays in use until the function is suspended. */
	TASK_CALLS_IN_RING,
	TASK_CALLS_IN_MODULE,	/* the same: the module has taken it; @value: what the module has returned */
	TASK_HAS_SENT_PART,	/* the same: a send, of which a part was made; @value: its size */
};

/**
 * struct cosy_task - a function that has been spawned
 * @value:   the value with which the function is resumed; code of the plugin reads it
 * @call:    the operation of its calls
 * @coloured: the same, if the function has a colour
 * @colours: the functions for colours of a team, if it is one of those; or NULL
 * @op:	     the operation that represents the function
 * @own:     used as @op if the program has none
 * @loop:    the loop that executes its calls
 * @slot:    its slot
 * @top:     the function to resume
 * @error:   errno of the function while it is suspended
 * @has_colour: the function has a colour
 * @calling: enum task_calling
 * @replies: the call is a reply, see cosy_task_reply()
 * @received: the receive of a reply was made, and the function has not taken its result
 * @sent:    number of bytes that the reply sends
 * @receive_result: result of its receive
 * @cancelled: calls that may wait for ever fail
 * @on:      state of @op before: the processor that the program has named, or none
 * @cpu:     the processor that runs its compounds; NULL: the loop itself
 * @region:  the compound for which it is suspended, or NULL
 * @native:  the part that runs natively because that is faster, or NULL
 * @registers: registers of the compound
 * @pc:	     where the compound continues
 * @handle:  lower half of the handle in struct cosy_region when the compound was submitted
 * @begun:   the compound has executed something
 * @reloaded: the compound has been loaded again
 * @stays:   the rest of the compound is executed in user mode
 * @in_call: it is suspended for a call of the compound
 * @waited:  in the module, the call at which the compound continues has waited for its file
 * @asks:    the function calls cosy_task_region() in the next iteration of its loop
 * @missed:  number of consecutive calls of user functions that became up-calls
 */
struct cosy_task {
	int64_t value;
	union {
		struct cosy_async call;
		struct cosy_coloured coloured;
	};
	const struct cosy_colours *colours;
	struct cosy_async *op;
	struct cosy_async own;
	struct cosy_loop *loop;
	uint32_t slot;
	struct task_frame *top;
	int error;
	bool has_colour;
	uint8_t calling;
	bool replies;
	bool received;
	bool cancelled;
	uint32_t on;
	int64_t sent;
	int64_t receive_result;
	struct cosy_cpu *cpu;
	struct cosy_region *region;
	struct cosy_reserved *native;
	uint64_t *registers;
	uint32_t pc;
	uint32_t handle;
	bool begun;
	bool reloaded;
	bool stays;
	bool in_call;
	bool waited;
	bool asks;
	uint8_t missed;
};

/** cosy_task_ask() - let the function choose again how the next iteration of its loop is executed */
static inline void cosy_task_ask(struct cosy_task *task)
{
	/* The module may read it for a compound at any time. */
	__atomic_store_n(&task->asks, true, __ATOMIC_RELAXED);
}

/**
 * cosy_task_set_call() - set the system call for which a task is suspended
 * @task: the task, whose entry is not submitted
 */
void cosy_task_set_call(struct cosy_task *task, long nr, const uint64_t args[6]);

/**
 * cosy_task_submit_call() - submit that call
 *
 * Afterwards another thread may resume the task.
 *
 * Return: false if the call is complete already, with @result.
 */
bool cosy_task_submit_call(struct cosy_task *task, int64_t *result);

/**
 * cosy_task_cancel() - make the later calls of a function fail
 * @op: an operation that is pending and has a slot of this loop
 *
 * The call for which the function waits is not cancelled.
 *
 * Return: the operation of that call; NULL if @op is not the operation of a function.
 */
struct cosy_async *cosy_task_cancel(struct cosy_loop *loop, const struct cosy_async *op);

/** cosy_task_only_sends() - note that the receive of a function's reply is not made: the call is its send */
void cosy_task_only_sends(const struct cosy_async *call);

/**
 * cosy_task_resume() - resume a function whose call is complete
 * @call:  the operation of that call; or of one that completes at once, with which the function begins
 * @error: errno of the calling thread
 *
 * Return: true if the function is suspended for a call in the ring, which this thread still uses: the caller
 * ends that. Otherwise another thread may have resumed the function.
 */
bool cosy_task_resume(struct cosy_async *call, int *error);

/** cosy_task_done() - the callback of that operation if the function has no colour */
void cosy_task_done(struct cosy_async *call);

/** cosy_task_ask_all() - cosy_task_ask() for all functions of a loop; needs the lock, or the ring */
void cosy_task_ask_all(struct cosy_loop *loop);

/** cosy_task_slot() - return the slot of the function to which an operation belongs: its call */
uint32_t cosy_task_slot(const struct cosy_async *call);

#endif /* COSY_LOOP_TASK_H */
