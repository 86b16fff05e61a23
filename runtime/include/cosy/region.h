/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy/region.h - the interface between code that the plugin generates and libcosy.
 *
 * Programs do not include this. For every region the plugin emits a
 * struct cosy_region (internal linkage, in section "cosy_regions") and, in place
 * of the region:
 *
 *	if (region.mode != 0) {			// relaxed load, predicted 0
 *		uint64_t frame[nregs + 1];	// inputs stored, rest unset
 *		int64_t exit = cosy_region_run(&region, frame);
 *		if (exit >= 0) {
 *			outputs = frame[...];
 *			goto exit;
 *		}
 *	}
 *	the native code
 *	if (region.mode == COSY_REGION_MEASURED)	// at each of its exits
 *		cosy_region_left(&region);
 *
 * The frame has one word more than the compound has registers. The user-mode executor
 * runs on the frame itself, and keeps its constant 0 in that word. Up-calls do not
 * change it.
 *
 * A constructor of each translation unit passes its regions to
 * cosy_regions_add(), a destructor to cosy_regions_remove(). A translation unit
 * whose regions call user functions (COSY_FUNCTION) has a struct cosy_function
 * for each of them, and passes these to cosy_functions_add() before.
 */
#ifndef COSY_REGION_H
#define COSY_REGION_H

#include <stddef.h>
#include <stdint.h>

#include <cosy/options.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COSY_REGION_ABI 5

/**
 * cosy_thunk - native code of an up-call
 * @frame: the region's registers; the thunk reads its operands there and
 *	   writes its results there
 *
 * Runs on the caller's stack and thread; may longjmp out.
 */
typedef void (*cosy_thunk)(uint64_t *frame);

/**
 * struct cosy_function - a user function that regions of a translation unit call
 * @abi:      COSY_REGION_ABI
 * @nargs:    arguments, at most 6
 * @pointers: bit i is set if argument i is a pointer
 * @stack:    bytes of stack it needs in the segment, 0 if none
 * @name:     the function
 * @file:     its source file as given to the compiler
 * @line:     the line of its definition
 * @object_size: bytes at @object
 * @object:   the ELF file with its BPF program (cosy/function.h), 8-byte aligned
 * @data:     its constants, to be copied into each segment it runs on
 * @data_size: their size in bytes
 * @nrelocations: number of @relocations
 * @relocations: offsets of 8-byte words in the copy; each is an offset into the
 *	      copy, and its address has to be added
 * @state:    for libcosy; NULL
 */
struct cosy_function {
	uint32_t abi;
	uint32_t nargs;
	uint32_t pointers;
	uint32_t stack;
	const char *name;
	const char *file;
	uint32_t line;
	uint32_t object_size;
	const void *object;
	const void *data;
	uint32_t data_size;
	uint32_t nrelocations;
	const uint32_t *relocations;
	void *state;
};

/**
 * struct cosy_limits - limits of a region (COSY_START_WITH)
 * @max_operations: of one run; 0: no limit
 * @max_ms:   of CPU time of one run, 0: no limit
 * @policy:   enum cosy_policy; COSY_RESUME: max_ms is the time slice of an entry
 *	      into the kernel, and max_operations is the image's limit
 * @stop:     register, initially 0; setting it to 1 ends the region before the next
 *	      iteration of a loop; or COSY_NO_STOP
 */
struct cosy_limits {
	uint64_t max_operations;
	uint32_t max_ms;
	uint32_t policy;
	uint32_t stop;
};

#define COSY_NO_STOP	UINT32_MAX

/**
 * struct cosy_library - functions that a compound replaces
 * @count:    their number
 * @functions: their addresses, which the linker has resolved, and names
 *
 * The compound makes the system calls of functions of the C library, for which @own is 0, and
 * contains others, whose code in the same file is at @own. That is correct only if the addresses are
 * those of these functions. A program or a library may have other functions of these names.
 */
struct cosy_library {
	uint64_t count;
	struct cosy_library_function {
		uintptr_t address;
		const char *name;
		uintptr_t own;
	} functions[];
};

/* The mode of a region that must not run natively, until libcosy sets it. */
#define COSY_REGION_DECIDE 3
/* The mode of a region whose native code is measured now. */
#define COSY_REGION_MEASURED 2

/* Flags of a region. ASYNC: a part of a COSY_ASYNC function; only cosy_task_region() runs it. */
#define COSY_REGION_ASYNC	(1u << 0)
/* SINGLE_CALLS: the native code makes the calls of preload.def through the module. */
#define COSY_REGION_SINGLE_CALLS	(1u << 1)
/* LOSES: a part whose compound costs more for each request than it saves. */
#define COSY_REGION_LOSES	(1u << 2)
/*
 * The other bits are the number of earlier regions of the same line in the translation unit: a
 * region becomes several compounds if it contains native code, or is in a function that was copied.
 */
#define COSY_REGION_NUMBER_SHIFT	16
#define COSY_REGION_MAX_NUMBER		0xffffu

/**
 * struct cosy_region - one region of a translation unit
 * @abi:      COSY_REGION_ABI
 * @mode:     0: run the native code. Anything else: call cosy_region_run().
 *	      0 or COSY_REGION_DECIDE at first; then written by libcosy, relaxed.
 *	      COSY_REGION_MEASURED: call cosy_region_left() after the native code
 * @image:    the compound, 8-byte aligned
 * @size:     its size in bytes
 * @nregs:    registers; the frame has nregs + 1 words
 * @thunks:   up-calls 0 … nthunks-1
 * @nthunks:  their number
 * @line:     line of COSY_START
 * @file:     source file as given to the compiler
 * @function: the function the region is in; never NULL
 * @functions:	user functions 0 … nfunctions-1; a CALL's up-call runs the same function
 *		natively
 * @nfunctions: their number
 * @flags:    COSY_REGION_*
 * @limits:   NULL if it has none. A region that stops or is killed at a limit does not
 *	      run natively, because native code counts nothing
 * @handle:   for libcosy: the module's handle + 1, 0 if not loaded
 * @state:    struct cosy_library of the functions that the compound replaces, or
 *	      NULL, until cosy_regions_add(); then for libcosy: decoded code and
 *	      statistics. If a function is another one, the region runs natively
 */
struct cosy_region {
	uint32_t abi;
	uint32_t mode;
	const void *image;
	uint32_t size;
	uint32_t nregs;
	const cosy_thunk *thunks;
	uint32_t nthunks;
	uint32_t line;
	const char *file;
	const char *function;
	struct cosy_function *const *functions;
	uint32_t nfunctions;
	uint32_t flags;
	const struct cosy_limits *limits;
	uint64_t handle;
	void *state;
};

/**
 * cosy_regions_add() - register regions; called by generated constructors
 * @regions: array of @count, lives until cosy_regions_remove()
 *
 * Sets their mode. A region of another ABI stays native (with a message when
 * COSY_DEBUG is set). Thread-safe.
 */
void cosy_regions_add(struct cosy_region *regions, size_t count);

/**
 * cosy_is_not_linked__use_cosy_cc_or_lcosy() - cosy_regions_add()
 * @regions: array of @count
 *
 * The name that generated constructors call: in a program that is linked without
 * libcosy, the linker's message contains it.
 */
void cosy_is_not_linked__use_cosy_cc_or_lcosy(struct cosy_region *regions,
					      size_t count);

/**
 * cosy_regions_remove() - unregister regions; called by generated destructors
 *
 * Prints their statistics if COSY_STATS is set and frees libcosy's memory for
 * them. No thread may be running one of them. Thread-safe otherwise.
 */
void cosy_regions_remove(struct cosy_region *regions, size_t count);

/**
 * cosy_functions_add() - register user functions; called by generated
 * constructors
 * @functions: array of @count, lives until cosy_functions_remove()
 *
 * A function of another ABI always runs natively. Thread-safe.
 */
void cosy_functions_add(struct cosy_function *functions, size_t count);

/**
 * cosy_functions_remove() - unregister functions; called by generated destructors
 *
 * Prints their statistics if COSY_STATS is set. After cosy_regions_remove() of
 * the regions that call them. Thread-safe otherwise.
 */
void cosy_functions_remove(struct cosy_function *functions, size_t count);

/**
 * cosy_region_run() - run a region as a compound
 * @region: the region
 * @frame:  nregs + 1 words, the inputs set
 *
 * Runs the compound on the kernel or user executor to its end: resumes it,
 * runs its up-calls and steps in user mode.
 *
 * Return: the exit number, outputs in @frame; or -1: nothing was executed, run
 * the native code. Thread-safe, async-signal-safe; up-calls may longjmp out.
 */
int64_t cosy_region_run(struct cosy_region *region, uint64_t *frame);

/**
 * cosy_region_left() - the native code of a region ends, and is measured
 * @region: the region
 *
 * Called by generated code if the region's mode is COSY_REGION_MEASURED. Thread-safe,
 * async-signal-safe.
 */
void cosy_region_left(struct cosy_region *region);

/**
 * cosy_thread_id() - get the number of the calling thread
 *
 * For native code of a region that notes the owner of a mutex. Makes no system call.
 *
 * Return: what gettid() returns. Thread-safe, async-signal-safe.
 */
uint32_t cosy_thread_id(void);

/**
 * struct cosy_place - a system call after which a region may stop
 * @file:     source file as given to the compiler
 * @function: the function the region is in
 * @call:     the function of libc that makes it
 * @line:     its line
 */
struct cosy_place {
	const char *file;
	const char *function;
	const char *call;
	uint32_t line;
};

/**
 * cosy_stop_reset() - a region that may stop begins
 *
 * Called by generated code before the region, on every executor: from now on
 * cosy_last_error() is NULL. Thread-safe, async-signal-safe.
 */
void cosy_stop_reset(void);

/**
 * cosy_stop_failed() - a region has stopped because a call failed
 * @place: the call
 *
 * Called by generated code after the region, on every executor, with the errno of
 * the call. Thread-safe, async-signal-safe.
 */
void cosy_stop_failed(const struct cosy_place *place);

/**
 * cosy_stop_limited() - a region has stopped because it had reached a limit
 *
 * Called by generated code after the region; sets errno to ETIME. Thread-safe,
 * async-signal-safe.
 */
void cosy_stop_limited(void);

#ifdef __cplusplus
}
#endif

#endif /* COSY_REGION_H */
