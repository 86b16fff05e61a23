/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * function.c - runs user functions in the kernel if that is possible and pays, otherwise
 * natively.
 *
 * A compound's CALL leaves as an up-call until a program of its function is bound in the
 * module for the segment of its pointers. Programs are loaded when a segment is created, in
 * cosy_malloc() and similar functions, which may allocate memory. The run path may not,
 * because it can be in a signal handler. There programs are only bound, at the up-call.
 *
 * COSY_FUNCTIONS=auto times some calls natively and some in the kernel, and then uses the
 * faster place. The cost of leaving and entering the kernel counts for native calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/format.h>
#include <cosy/function.h>

#include "device/descriptor.h"
#include "device/device.h"
#include "device/export.h"
#include "device/message.h"
#include "device/options.h"
#include "device/signals.h"
#include "device/sys.h"
#include "function/counters.h"
#include "function/hooks.h"
#include "function/program.h"
#include "function/segment.h"

#define TRIALS		32	/* calls of each kind that are timed */
#define STACKS		8	/* calls at once of one region, on one segment */
#define STACK_GROUPS	4	/* regions that have stacks, on one segment */

/* enum place - where a function runs */
enum place {
	PLACE_NATIVE,		/* natively, for good */
	PLACE_NATIVE_TRIAL,	/* natively, timed */
	PLACE_KERNEL_TRIAL,	/* in the kernel, timed there */
	PLACE_KERNEL,		/* in the kernel, for good */
};

/**
 * struct program - a function's program for one segment
 * @next:    of the same function
 * @segment: the segment
 * @fd:	     the program
 * @data:    copy of the function's constants, in the segment
 * @stacks:  the stacks
 * @groups:  which groups of stacks belong to a region
 */
struct program {
	struct program *next;
	struct cosy_segment *segment;
	int fd;
	char *data;
	char *stacks;
	unsigned int groups;
};

/**
 * struct binding - a program bound to a region's call
 * @next:     of the same function
 * @handle:   the region's compound
 * @number:   the function's number in it
 * @base:     the segment
 * @group:    its stacks
 * @trial:    it is timed
 * @used:     it is a binding
 */
struct binding {
	struct binding *next;
	uint64_t handle;
	uint64_t base;
	uint32_t number;
	unsigned int group;
	bool trial;
	bool used;
};

/**
 * struct state - libcosy's part of a struct cosy_function
 * @lock:     protects the following members; the run path only tries to take it
 * @function: the function
 * @next:     of all functions
 * @programs: by segment
 * @bindings: newest first
 * @place:    where it runs
 * @bound:    it has been bound at least once
 * @settled:  key_of() a call that stays native until programs or bindings change
 * @explained: the message was printed that an argument is not from cosy_malloc()
 * @native_calls: @native_cycles: calls timed natively
 * @kernel_calls: @kernel_cycles: calls timed in the kernel
 * @calls:    number of calls made natively instead of in the kernel
 * @counted:  counts for COSY_STATS
 */
struct state {
	pthread_mutex_t lock;
	struct cosy_function *function;
	struct state *next;
	struct program *programs;
	struct binding *bindings;
	enum place place;
	bool bound;
	bool explained;
	uint64_t settled;
	uint64_t native_calls;
	uint64_t native_cycles;
	uint64_t kernel_calls;
	uint64_t kernel_cycles;
	uint64_t calls;
	struct cosy_counted counted;
};

/* Protects the list of all functions. */
static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct state *functions;
static struct state *retired;	/* removed, and to be freed */

/*
 * Loading
 */

static int relocate(const struct cosy_function *function, char *data)
{
	for (uint32_t i = 0; i < function->nrelocations; i++) {
		uint32_t at = function->relocations[i];
		uint64_t word;

		if (at > function->data_size ||
		    function->data_size - at < sizeof(word))
			return -EINVAL;
		memcpy(&word, data + at, sizeof(word));
		word += (uintptr_t)data;
		memcpy(data + at, &word, sizeof(word));
	}
	return 0;
}

static size_t stack_size(const struct cosy_function *function)
{
	return ((size_t)function->stack + 15) / 16 * 16;
}

static void program_free(struct program *program, bool segment_stays)
{
	cosy_descriptor_close(program->fd, cosy_segment_mark(program->segment));
	if (segment_stays && program->data)
		cosy_segment_free(program->segment, program->data);
	if (segment_stays && program->stacks)
		cosy_segment_free(program->segment, program->stacks);
	free(program);
}

static int program_fill(const struct cosy_function *function,
			struct program *program)
{
	struct cosy_segment *segment = program->segment;
	size_t stack = stack_size(function);

	if (function->data_size) {
		program->data = cosy_segment_alloc(segment, function->data_size,
						   64);
		if (!program->data)
			return -ENOMEM;
		memcpy(program->data, function->data, function->data_size);
		if (relocate(function, program->data))
			return -EINVAL;
	}
	if (stack) {
		program->stacks = cosy_segment_alloc(segment, stack * STACKS *
						     STACK_GROUPS, 16);
		if (!program->stacks)
			return -ENOMEM;
	}
	program->fd = cosy_program_load(function, segment->map);
	if (program->fd < 0)
		return program->fd;
	cosy_descriptor_mark(program->fd, cosy_segment_mark(segment));
	return 0;
}

/* Return true if the verifier reached a limit. Newer kernels return EFAULT for some limits. */
static bool is_too_much(int err)
{
	return err == -E2BIG || err == -EFAULT;
}

static void explain_not_loaded(const struct cosy_function *function, int err)
{
	struct cosy_number line, number;

	if (!cosy_options().debug &&
	    cosy_options().functions != COSY_FUNCTIONS_KERNEL)
		return;
	cosy_message(function->file, ":", cosy_number(&line, function->line),
		     ": function ", function->name, " runs natively: ",
		     err == -EPERM || err == -EACCES ?
		     "loading it requires CAP_BPF and CAP_PERFMON, and in a user"
		     " namespace also a token" :
		     err == -EOPNOTSUPP ?
		     "the kernel cannot run user functions" :
		     is_too_much(err) ?
		     "it is too large for the kernel's verifier" :
		     "it cannot be loaded, errno ",
		     err == -EPERM || err == -EACCES || err == -EOPNOTSUPP ||
		     is_too_much(err) ?
		     "" : cosy_number(&number, (uint64_t)-err), NULL);
}

/* Load a function for a segment, if it has an arena; say why not if it should have one. */
static void load(struct state *state, struct cosy_segment *segment)
{
	struct program *program;
	int err;

	if (__atomic_load_n(&state->place, __ATOMIC_RELAXED) == PLACE_NATIVE)
		return;
	if (segment->map < 0) {
		if (segment->error)
			explain_not_loaded(state->function, segment->error);
		return;
	}
	program = calloc(1, sizeof(*program));
	if (!program)
		return;
	program->segment = segment;
	program->fd = -1;
	err = program_fill(state->function, program);
	if (err < 0) {
		explain_not_loaded(state->function, err);
		/* The verifier takes seconds to reach a limit, so do not try again. */
		if (is_too_much(err))
			__atomic_store_n(&state->place, PLACE_NATIVE,
					 __ATOMIC_RELAXED);
		program_free(program, true);
		return;
	}
	pthread_mutex_lock(&state->lock);
	__atomic_store_n(&state->settled, 0, __ATOMIC_RELAXED);
	program->next = state->programs;
	__atomic_store_n(&state->programs, program, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&state->lock);
}

static void segment_made(struct cosy_segment *segment)
{
	pthread_mutex_lock(&functions_lock);
	for (struct state *state = functions; state; state = state->next)
		load(state, segment);
	pthread_mutex_unlock(&functions_lock);
}

/*
 * Binding
 */

static long bind_or_unbind(struct cosy_bind *bind)
{
	return cosy_sys(SYS_ioctl, cosy_device_file(), COSY_IOC_BIND, (long)bind);
}

static long unbind(const struct binding *binding)
{
	struct cosy_bind bind = {
		.size = sizeof(bind),
		.handle = binding->handle,
		.function = binding->number,
		.fd = -1,
		.base = binding->base,
	};

	return bind_or_unbind(&bind);
}

/* Allocate a binding without malloc(), which the run path must not call. */
static struct binding *binding_alloc(void)
{
	enum { COUNT = 1024 };
	static struct binding all[COUNT];

	for (unsigned int n = 0; n < COUNT; n++)
		/* First without a write: all may be in use for long. */
		if (!__atomic_load_n(&all[n].used, __ATOMIC_RELAXED) &&
		    !__atomic_exchange_n(&all[n].used, true, __ATOMIC_ACQUIRE))
			return &all[n];
	return NULL;
}

static void binding_free(struct binding *binding)
{
	__atomic_store_n(&binding->used, false, __ATOMIC_RELEASE);
}

/* Take away what a function has in the kernel and in segments, or only what it has for one segment. */
static void release(struct state *state, const struct cosy_segment *segment)
{
	pthread_mutex_lock(&state->lock);
	__atomic_store_n(&state->settled, 0, __ATOMIC_RELAXED);
	for (struct binding **at = &state->bindings; *at;) {
		struct binding *binding = *at;

		if (segment && binding->base != (uintptr_t)segment->base) {
			at = &binding->next;
			continue;
		}
		unbind(binding);
		*at = binding->next;
		binding_free(binding);
	}
	for (struct program **at = &state->programs; *at;) {
		struct program *program = *at;

		if (segment && program->segment != segment) {
			at = &program->next;
			continue;
		}
		__atomic_store_n(at, program->next, __ATOMIC_RELAXED);
		program_free(program, !segment);
	}
	pthread_mutex_unlock(&state->lock);
}

static void segment_gone(struct cosy_segment *segment)
{
	pthread_mutex_lock(&functions_lock);
	for (struct state *state = functions; state; state = state->next)
		release(state, segment);
	for (struct state *state = retired; state; state = state->next)
		release(state, segment);
	pthread_mutex_unlock(&functions_lock);
}

static struct binding *binding_find(const struct state *state, uint64_t handle,
				    uint32_t number, uint64_t base)
{
	struct binding *binding = state->bindings;

	while (binding && (binding->handle != handle ||
			   binding->number != number || binding->base != base))
		binding = binding->next;
	return binding;
}

/* Make the argument of COSY_IOC_BIND for a region's call. */
static struct cosy_bind bind_of(const struct state *state,
				const struct program *program, uint64_t handle,
				uint32_t number, uint32_t trial,
				unsigned int group)
{
	const struct cosy_function *function = state->function;
	size_t stack = stack_size(function);

	return (struct cosy_bind){
		.size = sizeof(struct cosy_bind),
		.handle = handle,
		.function = number,
		.fd = program->fd,
		.base = (uintptr_t)program->segment->base,
		.pointers = function->pointers,
		.trial = trial,
		.stacks = stack ? (uintptr_t)program->stacks +
				  group * STACKS * stack : 0,
		.stack_size = (uint32_t)stack,
		.stack_stride = (uint32_t)stack,
		.nstacks = STACKS,
		.data = (uintptr_t)program->data,
	};
}

/* Bind a region's call to its program. Return false on failure. */
static bool bind(struct state *state, struct program *program,
		 struct binding *binding, uint64_t handle, uint32_t number)
{
	bool stack = stack_size(state->function) != 0;
	struct cosy_bind arg;

	/* After closefrom() its number may have a program of another segment. */
	if (!cosy_descriptor_is_marked(program->fd, cosy_segment_mark(program->segment)))
		return false;
	if (!binding) {
		if (stack && program->groups == STACK_GROUPS)
			return false;
		binding = binding_alloc();
		if (!binding)
			return false;
		binding->handle = handle;
		binding->number = number;
		binding->base = (uintptr_t)program->segment->base;
		binding->group = stack ? program->groups++ : 0;
		binding->next = state->bindings;
		state->bindings = binding;
	}
	binding->trial = state->place == PLACE_KERNEL_TRIAL;
	arg = bind_of(state, program, handle, number,
		      binding->trial ? TRIALS : 0, binding->group);
	if (bind_or_unbind(&arg))
		return false;
	state->bound = true;
	return true;
}

/*
 * Take the results of a trial. It has no new calls, but calls that have begun still need the
 * program.
 */
static void end_trial(struct state *state, const struct program *program,
		      const struct binding *binding)
{
	struct cosy_bind arg = bind_of(state, program, binding->handle,
				       binding->number, COSY_BIND_NO_CALLS,
				       binding->group);

	if (bind_or_unbind(&arg))
		return;
	state->kernel_calls += arg.calls;
	state->kernel_cycles += arg.cycles;
}

/*
 * Where to run
 */

static uint64_t cycles(void)
{
	return __builtin_ia32_rdtsc();
}

/* Return the minimum time of leaving and entering the kernel. */
static uint64_t crossing(void)
{
	static uint64_t least;
	uint64_t best = __atomic_load_n(&least, __ATOMIC_RELAXED);

	if (best)
		return best;
	best = UINT64_MAX;
	for (int i = 0; i < 8; i++) {
		uint64_t begin = cycles(), took;

		cosy_sys(SYS_lseek,
			 __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED), 0,
			 SEEK_CUR);
		took = cycles() - begin;
		if (took < best)
			best = took;
	}
	__atomic_store_n(&least, best, __ATOMIC_RELAXED);
	return best;
}

static void decide(struct state *state)
{
	uint64_t native = state->native_cycles / state->native_calls +
			  crossing();
	uint64_t kernel = state->kernel_cycles / state->kernel_calls;

	state->place = kernel <= native ? PLACE_KERNEL : PLACE_NATIVE;
}

/*
 * Decide at an up-call where the function runs. Return true if the module should call it, from now
 * on or still.
 */
static bool consider(struct state *state, struct program *program,
		     uint64_t handle, uint32_t number)
{
	uint64_t base = (uintptr_t)program->segment->base;
	struct binding *binding = binding_find(state, handle, number, base);

	if (state->place == PLACE_NATIVE_TRIAL)
		return false;
	if (binding && binding->trial && state->place == PLACE_KERNEL_TRIAL) {
		end_trial(state, program, binding);
		if (state->kernel_calls < TRIALS)
			return bind(state, program, binding, handle, number);
		decide(state);
		if (state->place == PLACE_NATIVE)
			return false;
	} else if (binding && !binding->trial) {
		/* The program is bound, but could not be called this time. */
		return false;
	}
	return bind(state, program, binding, handle, number);
}

/*
 * Return the program for the segment of the pointers, or NULL. In a child process the programs of its
 * parent would use the parent's memory: the child's segments have no arena.
 */
static struct program *program_for(const struct state *state,
				   const uint64_t *args)
{
	struct program *program = state->programs;
	uint32_t i;

	for (; program; program = program->next) {
		uint64_t base = (uintptr_t)program->segment->base;

		if (program->segment->map < 0)
			continue;
		for (i = 0; i < state->function->nargs; i++)
			if (state->function->pointers >> i & 1 && args[i] &&
			    (args[i] ^ base) >> 32)
				break;
		if (i == state->function->nargs)
			return program;
	}
	return NULL;
}

/* Return true if consider() gives the same answer until programs or bindings change. */
static bool is_settled(const struct state *state, const struct program *program,
		       uint64_t handle, uint32_t number)
{
	const struct binding *binding;

	if (!program)
		return true;
	if (state->place != PLACE_KERNEL)
		return false;
	binding = binding_find(state, handle, number,
			       (uintptr_t)program->segment->base);
	if (binding)
		return !binding->trial;
	return stack_size(state->function) && program->groups == STACK_GROUPS;
}

/*
 * On the run path
 */

/* Return the number of the first pointer that is not into a segment, or the number of arguments. */
static uint32_t foreign_argument(const struct cosy_function *function,
				 const uint64_t *args)
{
	uint32_t i;

	for (i = 0; i < function->nargs; i++)
		if (function->pointers >> i & 1 && args[i] &&
		    !cosy_segment_of((const void *)args[i]))
			break;
	return i;
}

/* Print once why a function does not run in the kernel, although COSY_FUNCTIONS=kernel. */
static void explain_argument(struct state *state, uint32_t foreign)
{
	const struct cosy_function *function = state->function;
	struct cosy_number line, argument;

	if (!cosy_options().debug &&
	    cosy_options().functions != COSY_FUNCTIONS_KERNEL)
		return;
	if (!__atomic_exchange_n(&state->explained, true, __ATOMIC_RELAXED))
		cosy_message(function->file, ":",
			     cosy_number(&line, function->line), ": function ",
			     function->name, " runs natively: argument ",
			     cosy_number(&argument, foreign + 1),
			     " is not from cosy_malloc()", NULL);
}

/*
 * Identify a region and the segment of its pointers by one word. Return false if they are into two segments.
 * Without a pointer the word is 0, which identifies nothing.
 */
static bool key_of(const struct cosy_function *function, const uint64_t *args, uint64_t handle,
		   uint64_t *key)
{
	enum { BITS = 15 };	/* of an address, without those in a segment */
	uint64_t segment = 0;

	for (uint32_t i = 0; i < function->nargs; i++) {
		uint64_t of = args[i] >> 32;

		if (!(function->pointers >> i & 1) || !args[i])
			continue;
		if (segment && segment != of)
			return false;
		segment = of;
	}
	/* Handles are successive, so they differ in what remains of them. */
	*key = segment ? handle << BITS | segment : 0;
	return true;
}

/*
 * Take the lock of a function. Otherwise a signal handler that calls fork(), or leaves by
 * siglongjmp(), would wait for it, or leave it locked, for ever. SIGSYS stays possible: where a
 * filter raises it for a call, it would kill if it was blocked.
 */
static bool try_lock(struct state *state, uint64_t *mask)
{
	*mask = cosy_signals_block(~((uint64_t)1 << (SIGSYS - 1)));
	if (!pthread_mutex_trylock(&state->lock))
		return true;
	cosy_signals_restore(*mask);
	return false;
}

static void unlock(struct state *state, uint64_t mask)
{
	pthread_mutex_unlock(&state->lock);
	cosy_signals_restore(mask);
}

/* Return the CALL that ends at @pc, or NULL if it is another operation. */
static const struct cosy_op *call_before(const struct cosy_region *region,
					 uint32_t pc)
{
	const struct cosy_header *header = region->image;
	const struct cosy_op *ops = (const void *)(header + 1);
	uint32_t n = 0;

	while (n < COSY_MAX_ARGS && pc > n + 1 &&
	       ops[pc - 1 - n].code == COSY_OP_ARG)
		n++;
	if (!pc || pc <= n || ops[pc - 1 - n].code != COSY_OP_CALL ||
	    ops[pc - 1 - n].width != n)
		return NULL;
	return &ops[pc - 1 - n];
}

static void arguments(const struct cosy_op *op, const uint64_t *frame,
		      uint64_t *args)
{
	memset(args, 0, COSY_MAX_ARGS * sizeof(*args));
	for (unsigned int i = 0; i < op->width; i++) {
		const struct cosy_op *arg = &op[1 + i];

		args[i] = (uint64_t)arg->imm +
			  (arg->a == COSY_NONE ? 0 : frame[arg->a]);
	}
}

static struct state *state_of(const struct cosy_region *region,
			      const struct cosy_op *op)
{
	if ((uint64_t)op->imm >= region->nfunctions)
		return NULL;
	return region->functions[op->imm]->state;
}

static void run_natively(const struct cosy_region *region,
			 struct cosy_counts *counts, uint64_t *frame, uint16_t thunk)
{
	cosy_count(counts, &counts->upcalls, 1);
	region->thunks[thunk](frame);
}

static bool upcall(const struct cosy_region *region, struct cosy_counts *counts,
		   uint64_t *frame, struct cosy_run *run)
{
	const struct cosy_op *op = call_before(region, run->pc);
	const struct cosy_op *ops;
	uint64_t args[COSY_MAX_ARGS], begin, key, mask;
	bool in_kernel = false, native_trial;
	struct program *program;
	uint32_t foreign;
	struct state *state;

	if (!op || op->c != run->value)
		return false;
	state = state_of(region, op);
	if (!state)
		return false;
	__atomic_fetch_add(&state->calls, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&state->place, __ATOMIC_RELAXED) == PLACE_NATIVE)
		return false;
	arguments(op, frame, args);
	foreign = foreign_argument(state->function, args);
	if (foreign < state->function->nargs) {
		explain_argument(state, foreign);
		return false;
	}
	/* Not the calls for the lock each time. No program has two segments. */
	if (!key_of(state->function, args, run->handle, &key) ||
	    (key && __atomic_load_n(&state->settled, __ATOMIC_RELAXED) == key) ||
	    !try_lock(state, &mask))
		return false;
	program = program_for(state, args);
	if (program)
		in_kernel = consider(state, program, run->handle,
				     (uint32_t)op->imm);
	native_trial = program && state->place == PLACE_NATIVE_TRIAL;
	if (!in_kernel && is_settled(state, program, run->handle, (uint32_t)op->imm))
		__atomic_store_n(&state->settled, key, __ATOMIC_RELAXED);
	unlock(state, mask);
	if (in_kernel) {
		ops = (const void *)((const struct cosy_header *)region->image +
				     1);
		run->pc = (uint32_t)(op - ops);
		return true;
	}
	if (!native_trial)
		return false;

	begin = cycles();
	run_natively(region, counts, frame, op->c);
	begin = cycles() - begin;
	if (!try_lock(state, &mask))
		return true;
	state->native_calls++;
	state->native_cycles += begin;
	if (state->native_calls >= TRIALS && state->place == PLACE_NATIVE_TRIAL)
		state->place = PLACE_KERNEL_TRIAL;
	unlock(state, mask);
	return true;
}

/*
 * Functions that fail
 */

static void report(const struct cosy_function *function,
		   const struct cosy_run *run)
{
	struct cosy_number line;
	struct cosy_hex address;
	const char *what, *place = "", *more = "";

	switch (run->value) {
	case COSY_FUNCTION_FAULT:
		what = "wild access at ";
		place = cosy_hex(&address, run->failure.address);
		if (!cosy_segment_of((const void *)run->failure.address) &&
		    run->failure.address > COSY_SEGMENT_GUARD)
			more = ", which is outside the segment"
			       " (use cosy_malloc, or COSY_FUNCTIONS=native)";
		break;
	case COSY_FUNCTION_DIVIDE:
		what = "division by zero, or overflow";
		break;
	case COSY_FUNCTION_STACK:
		what = "stack overflow";
		break;
	case COSY_FUNCTION_LOOP:
		what = "too many iterations";
		break;
	case COSY_FUNCTION_LOST:
		what = "was suspended and cannot resume: its segment was"
		       " destroyed, the descriptor of its loop was closed,"
		       " or this is a child process";
		break;
	default:
		what = "runs for too long (the module's parameter function_time)";
		break;
	}
	cosy_message(function->file, ":",
		     cosy_number(&line, run->failure.line ? run->failure.line :
							    function->line),
		     ": function ", function->name, ": ", what, place, more,
		     NULL);
}

/* End the process by a signal with the details of the failure. */
static void raise_signal(int signal, int code, uint64_t address)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	long pid = cosy_sys(SYS_getpid, 0, 0, 0);
	long tid = cosy_sys(SYS_gettid, 0, 0, 0);
	siginfo_t info;
	sigset_t set;

	/* A signal that the kernel raises also ends a process that ignores or blocks it. */
	sigaction(signal, NULL, &action);
	if (action.sa_handler == SIG_IGN) {
		action.sa_handler = SIG_DFL;
		sigaction(signal, &action, NULL);
	}
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);

	memset(&info, 0, sizeof(info));
	info.si_signo = signal;
	info.si_code = code;
	info.si_addr = (void *)address;
	cosy_sys6(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)&info, 0, 0);

	/* The handler has returned, and the run cannot continue. */
	action = (struct sigaction){ .sa_handler = SIG_DFL };
	sigaction(signal, &action, NULL);
	cosy_sys(SYS_tgkill, pid, tid, signal);
	abort();
}

static void end_natively(const struct cosy_run *run)
{
	uint64_t address = run->failure.address;

	switch (run->value) {
	case COSY_FUNCTION_FAULT:
		/* Cause the fault itself, unless the memory is accessible now. */
		*(volatile char *)address;
		raise_signal(SIGSEGV, SEGV_MAPERR, address);
		break;
	case COSY_FUNCTION_DIVIDE:
		raise_signal(SIGFPE, FPE_INTDIV, 0);
		break;
	case COSY_FUNCTION_STACK:
		raise_signal(SIGSEGV, SEGV_MAPERR, 0);
		break;
	default:
		raise_signal(SIGXCPU, SI_USER, 0);
		break;
	}
}

static void failed(const struct cosy_region *region, struct cosy_counts *counts,
		   uint64_t *frame, struct cosy_run *run)
{
	const struct cosy_header *header = region->image;
	const struct cosy_op *op = (const struct cosy_op *)(header + 1) + run->pc;
	const struct cosy_function *function = region->functions[op->imm];
	bool again = !run->failure.wrote;
	bool silent = false;

	/* On its way to user mode, the thread has been killed. */
	if (run->value == COSY_FUNCTION_KILLED)
		return;
	/* These are not failures natively. */
	if (again)
		silent = run->value == COSY_FUNCTION_STACK ||
			 run->value == COSY_FUNCTION_LOOP ||
			 run->value == COSY_FUNCTION_LOST ||
			 (run->value == COSY_FUNCTION_FAULT &&
			  run->failure.address > COSY_SEGMENT_GUARD &&
			  !cosy_segment_of((const void *)run->failure.address));
	if (!silent || cosy_options().debug)
		report(function, run);
	if (!again)
		end_natively(run);
	/* It has changed nothing: natively it fails as it should, or does not. */
	run_natively(region, counts, frame, op->c);
	run->pc += 1 + op->width;
}

static bool may_run_in_kernel(const struct cosy_region *region)
{
	for (uint32_t i = 0; i < region->nfunctions; i++) {
		const struct state *state = region->functions[i]->state;

		if (!state || __atomic_load_n(&state->place, __ATOMIC_RELAXED) == PLACE_NATIVE ||
		    !__atomic_load_n(&state->programs, __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

/*
 * Fork
 *
 * Before it, segment.c takes its locks, in the order in which they are taken
 * elsewhere: the table's, the functions', those of each function.
 */

static void lock_list(struct state *state, bool lock)
{
	for (; state; state = state->next) {
		if (lock)
			pthread_mutex_lock(&state->lock);
		else
			pthread_mutex_unlock(&state->lock);
	}
}

/* The child takes all of them for the segments that it gives back. */
static void lock_functions(bool lock)
{
	if (lock)
		pthread_mutex_lock(&functions_lock);
	lock_list(functions, lock);
	lock_list(retired, lock);
	if (!lock)
		pthread_mutex_unlock(&functions_lock);
}

/*
 * Functions come and go
 */

static void print_stats(const void *data)
{
	const struct state *state = data;
	const struct cosy_function *function = state->function;
	struct cosy_number line, native, kernel, calls;

	if (!cosy_options().stats || (!state->calls && !state->bound))
		return;
	cosy_stats_line(function->file, ":", cosy_number(&line, function->line),
		     ": function ", function->name, ": executor=",
		     state->bound && state->place != PLACE_NATIVE ?
		     "kernel" : "native",
		     " upcalls=", cosy_number(&calls, state->calls),
		     state->native_calls ? " native-cycles=" : "",
		     state->native_calls ?
		     cosy_number(&native, state->native_cycles /
					  state->native_calls) : "",
		     state->kernel_calls ? " kernel-cycles=" : "",
		     state->kernel_calls ?
		     cosy_number(&kernel, state->kernel_cycles /
					  state->kernel_calls) : "", NULL);
}

static void load_for(struct cosy_segment *segment, void *state)
{
	load(state, segment);
}

static void add(struct cosy_function *function)
{
	static const enum place places[] = {
		[COSY_FUNCTIONS_AUTO] = PLACE_NATIVE_TRIAL,
		[COSY_FUNCTIONS_KERNEL] = PLACE_KERNEL,
		[COSY_FUNCTIONS_NATIVE] = PLACE_NATIVE,
	};
	struct state *state = calloc(1, sizeof(*state));

	function->state = state;
	if (!state)
		return;
	pthread_mutex_init(&state->lock, NULL);
	state->counted.print = print_stats;
	state->counted.data = state;
	if (cosy_options().stats)
		cosy_stats_add(&state->counted);
	state->function = function;
	state->place = places[cosy_options().functions];
	if (!function->object_size)
		state->place = PLACE_NATIVE;
	pthread_mutex_lock(&functions_lock);
	state->next = functions;
	functions = state;
	pthread_mutex_unlock(&functions_lock);
	cosy_segment_each(load_for, state);
}

/* Free the functions that were removed. No thread runs them any more. */
static void free_retired(void)
{
	struct state *state;

	/* A filter may kill for what this calls. */
	if (cosy_device_is_blocked())
		return;
	pthread_mutex_lock(&functions_lock);
	while ((state = retired)) {
		retired = state->next;
		release(state, NULL);
		pthread_mutex_destroy(&state->lock);
		/* Counts stay in their list. */
		if (!cosy_options().stats)
			free(state);
	}
	pthread_mutex_unlock(&functions_lock);
}

static void unload(bool alone)
{
	cosy_program_unload();
	if (!alone)
		return;
	free_retired();
	cosy_segments_unload();
}

COSY_EXPORT void cosy_functions_add(struct cosy_function *list, size_t count)
{
	static const struct cosy_function_hooks hooks = {
		.upcall = upcall,
		.failed = failed,
		.may_run_in_kernel = may_run_in_kernel,
		.unload = unload,
	};

	/* All of them come from one compilation, hence have one layout. */
	if (!count || list->abi != COSY_REGION_ABI)
		return;
	free_retired();
	cosy_segment_lock_functions = lock_functions;
	cosy_segment_prepare = cosy_program_prepare;
	cosy_segment_made = segment_made;
	cosy_segment_forget = segment_gone;
	cosy_function_hooks = &hooks;
	cosy_segment_want_arenas();
	for (size_t i = 0; i < count; i++)
		add(&list[i]);
}

/*
 * Threads that still run may be in the function, if the process ends. So it is freed later, when other functions
 * are added, or this copy of libcosy is unloaded.
 */
static void retire(struct state *state)
{
	struct state **at = &functions;

	pthread_mutex_lock(&functions_lock);
	while (*at != state)
		at = &(*at)->next;
	*at = state->next;
	state->next = retired;
	retired = state;
	pthread_mutex_unlock(&functions_lock);
}

COSY_EXPORT void cosy_functions_remove(struct cosy_function *list, size_t count)
{
	if (!count || list->abi != COSY_REGION_ABI)
		return;
	for (size_t i = 0; i < count; i++) {
		struct state *state = list[i].state;

		if (!state)
			continue;
		cosy_stats_print_last(&state->counted);
		retire(state);
	}
}
