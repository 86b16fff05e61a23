/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * functions.h - the user functions of module.c, which compounds call in runs and in loops.
 *
 * The choices come from any(), as in programs.h.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "../kernel/function.h"
#include "../kernel/programs.h"

/* The descriptors of user functions' programs, which compounds cannot close. */
#define FUNCTION_FDS	200

static struct segment segment;
static unsigned int nr_functions;

/* Bind a user function to a compound, correctly or almost. */
static void bind_some(__u64 handle)
{
	struct cosy_bind bind = {
		.size = sizeof(bind),
		.handle = handle,
		.fd = FUNCTION_FDS + (int)any(nr_functions),
		.base = (uintptr_t)segment.base,
		.pointers = any(4) ? 1 : any(64),
		.trial = rarely() ? any(3) : 0,
		.stacks = (uintptr_t)segment.base + PAGE,
		.stack_size = any(2) ? 512 : 0,
		.stack_stride = 1024,
		.nstacks = any(2) ? 2 : 0,
	};

	if (rarely())
		((__u32 *)&bind)[any(sizeof(bind) / 4)] = (__u32)number();
	ioctl(dev, COSY_IOC_BIND, &bind);
}

static void unbind_some(__u64 handle)
{
	struct cosy_bind bind = { .size = sizeof(bind), .handle = handle, .fd = -1 };

	ioctl(dev, COSY_IOC_BIND, &bind);
}

/* The arguments of a function: mostly an address in the segment, and a number. */
static void choose_arguments(__u64 *args)
{
	args[0] = (uintptr_t)segment.base + (any(2) ? 8 * any(600) : (__u64)number());
	args[1] = (__u64)number();
	args[2] = any(3) ? any(2000) : (__u64)memory();
}

/* Bind a function, and call it in a run. */
static void call_function(__u64 *frame, struct cosy_run *run)
{
	const __u64 handle = load_caller(dev);
	struct cosy_suspended suspended = { .stack = any(3) };
	unsigned int entries = 1 + any(4);

	bind_some(handle);
	memset(run, 0, sizeof(*run));
	run->handle = handle;
	run->frame = (uintptr_t)frame;
	run->errno_addr = (uintptr_t)&errno;
	run->suspended = rarely() ? (__u64)memory() : (__u64)(uintptr_t)&suspended;
	choose_arguments(frame + 1);
	while (entries--) {
		/* Resume a function that was suspended, or not. */
		run->flags = any(8) ? run->flags & COSY_RUN_SUSPENDED : any(16);
		run->flags |= any(2) ? COSY_RUN_COUNT : 0;
		run->slice = any(3);
		enter(dev, run);
		run->status = COSY_AGAIN;
	}
	if (any(2))
		unbind_some(handle);
	ioctl(dev, COSY_IOC_UNLOAD, &handle);
}

/* An operation that calls function 0. */
static void function_call(struct program *p)
{
	__u64 args[3];

	choose_arguments(args);
	add(p, (struct cosy_op)CALL(FD_REGS + any(4), 0, 3, 6));
	for (unsigned int i = 0; i < 3; i++)
		arg_number(p, (__s64)args[i]);
	for (unsigned int i = 0; i < 3; i++)
		arg_register(p, any(NREGS));
}

#endif /* FUNCTIONS_H */
