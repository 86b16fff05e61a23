/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * function.h - isolated user functions: the interface of the compiler, the library and the
 * module.
 *
 * A user function is a BPF program of type SYSCALL in an ELF file of its own. All memory
 * that it can access is one arena, the segment: 4 GiB of the process's addresses, which
 * differ only in their low 32 bits and are valid on both sides. Everything else is in its
 * context, which is on the kernel's stack, outside of the arena.
 *
 * The program
 *	- reads its arguments from args, and writes result and status;
 *	- stops, with a status that says why, if a division is by zero or
 *	  overflows (COSY_FUNCTION_DIVIDE), if it has no stack left
 *	  (COSY_FUNCTION_STACK), or before it uses a pointer whose upper half is
 *	  not that of base (COSY_FUNCTION_FAULT, address is the pointer); line is
 *	  the source line of that place;
 *	- decrements budget in its loops: by at least 1 before it processes 4096
 *	  bytes or executes 256 other iterations. When budget is below 0, it calls
 *	  cosy_function_yield(), which may change budget; if that returns nonzero,
 *	  the program returns. An access that faults sets budget below 0, so that
 *	  a program that loops ends;
 *	- sets resume before it calls cosy_function_yield() if it can resume from
 *	  there, when it is called again with the same arguments and with what it
 *	  has stored in saved. Then cosy_function_yield() may tell it to return at
 *	  any time. If resume is 0, it does so only to end the program, which is
 *	  killed or has run for too long;
 *	- may also return before its end, with COSY_FUNCTION_LEFT;
 *	- sets wrote before its first write to memory other than its stack. A
 *	  function that fails before that has had no effect: it can be executed
 *	  again natively. There it fails likewise, unless its pointers lead out of
 *	  the segment;
 *	- accesses in the segment only the memory that its arguments lead to, its
 *	  own stack from stack to stack_end, and the copy of its constants at data,
 *	  which it only reads;
 *	- relies on the first and the last 64 KiB of the segment being unmapped: it
 *	  does not compare the upper half of an address again within 32 KiB of one
 *	  that it has compared.
 * The module finds the faults that the program does not detect itself. It gets their line
 * from the program's BTF line information.
 */
#ifndef COSY_FUNCTION_H
#define COSY_FUNCTION_H

#include "format.h"

/* Names in the ELF file. */
#define COSY_FUNCTION_SECTION	"cosy"		/* of the program's code */
#define COSY_FUNCTION_PROGRAM	"cosy_function"
#define COSY_FUNCTION_SEGMENT	"segment"	/* the arena map */

/* Kernel functions are for programs under its license. */
#define COSY_FUNCTION_LICENSE	"Dual BSD/GPL"

/*
 * The number of a helper that does not exist: the program calls
 * cosy_function_yield() by it, as int (*)(void), and the library replaces it by the
 * module's kfunc. An extern __ksym would do the same, but finding
 * its BTF takes CAP_SYS_ADMIN.
 */
#define COSY_FUNCTION_YIELD	0x436f7379
#define COSY_FUNCTION_YIELD_NAME "cosy_function_yield"

/*
 * The budget that the module sets at the beginning, and each time the program may continue.
 */
#define COSY_FUNCTION_BUDGET	4096

/* Words of its state that a program can have in its context. */
#define COSY_FUNCTION_SAVED	64

/**
 * enum cosy_function_status - how a function has ended
 * @COSY_FUNCTION_DONE:	  it has returned
 * @COSY_FUNCTION_FAULT:  it has read or written unmapped memory
 * @COSY_FUNCTION_DIVIDE: division by zero, or of the lowest number by -1
 * @COSY_FUNCTION_STACK:  it needs more stack than it has
 * @COSY_FUNCTION_LOOP:	  the kernel's own limit of iterations (may_goto) has
 *			  ended it
 * @COSY_FUNCTION_TIME:	  it has run for too long (module parameter), and cannot be
 *			  suspended
 * @COSY_FUNCTION_KILLED: a fatal signal is pending
 * @COSY_FUNCTION_LEFT:	  it has not ended; it must be called again
 * @COSY_FUNCTION_LOST:	  it was suspended, and its state no longer exists
 */
enum cosy_function_status {
	COSY_FUNCTION_DONE,
	COSY_FUNCTION_FAULT,
	COSY_FUNCTION_DIVIDE,
	COSY_FUNCTION_STACK,
	COSY_FUNCTION_LOOP,
	COSY_FUNCTION_TIME,
	COSY_FUNCTION_KILLED,
	COSY_FUNCTION_LEFT,
	COSY_FUNCTION_LOST,
	COSY_NR_FUNCTION_STATUS
};

/**
 * enum cosy_function_end - the result of cosy_env_function()
 * @COSY_FUNCTION_RETURNED: the function was called and has returned
 * @COSY_FUNCTION_NATIVE:   nothing was done: it must run natively, as an up-call
 * @COSY_FUNCTION_FAILED:   the function was called and has failed
 * @COSY_FUNCTION_SUSPENDED: the function was called and was suspended; it resumes
 *			    when its CALL is executed again
 */
enum cosy_function_end {
	COSY_FUNCTION_RETURNED,
	COSY_FUNCTION_NATIVE,
	COSY_FUNCTION_FAILED,
	COSY_FUNCTION_SUSPENDED,
};

/**
 * struct cosy_function_ctx - the context of the program
 * @args:      arguments; missing ones are 0
 * @result:    out: what it returns
 * @budget:    see above
 * @status:    out: enum cosy_function_status, COSY_FUNCTION_DONE at first
 * @line:      out: where it has failed
 * @address:   out: with COSY_FUNCTION_FAULT, the address
 * @base:      the upper half of all addresses in the segment, the lower is 0
 * @stack:     lowest address of the stack, 16-byte aligned; 0 without stack
 * @stack_end: after its highest; 16-byte aligned
 * @data:      address of the copy of its constants; 64-byte aligned
 * @wrote:     out: 1 if it may have changed memory other than its stack, 0 at first
 * @resume:    where it can resume, 0 at first
 * @saved:     what it needs for that
 */
struct cosy_function_ctx {
	cosy_u64 args[COSY_MAX_ARGS];
	cosy_u64 result;
	cosy_s64 budget;
	cosy_u32 status;
	cosy_u32 line;
	cosy_u64 address;
	cosy_u64 base;
	cosy_u64 stack;
	cosy_u64 stack_end;
	cosy_u64 data;
	cosy_u32 wrote;
	cosy_u32 resume;
	cosy_u64 saved[COSY_FUNCTION_SAVED];
};

#ifdef __cplusplus
static_assert(sizeof(struct cosy_function_ctx) == 632, "interface");
#else
_Static_assert(sizeof(struct cosy_function_ctx) == 632, "interface");
#endif

#endif /* COSY_FUNCTION_H */
