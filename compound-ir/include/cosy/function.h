/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * function.h - isolated user functions: what the compiler, the library and the
 * module agree on.
 *
 * A user function is a BPF program of type SYSCALL in an ELF file of its own.
 * All memory it reaches is one arena, the segment: 4 GiB of the process's
 * addresses that differ in their low 32 bits only, and that both sides see.
 * The rest is in its context, which the module has on the kernel's stack, out
 * of the arena's reach.
 *
 * The program
 *	- reads its arguments from args, and writes result and status;
 *	- stops, with the status that says why, where it divides by zero or
 *	  overflows a division (COSY_FUNCTION_DIVIDE), has no stack left
 *	  (COSY_FUNCTION_STACK), or is about to use a pointer whose upper half is
 *	  not that of base (COSY_FUNCTION_FAULT, address is the pointer); line is
 *	  the source line of that place;
 *	- takes from budget as it runs in circles: at least 1 before 4096 bytes
 *	  are gone through or 256 other iterations are done. When budget is below
 *	  0 it calls cosy_function_yield(), which may change budget: nonzero, and
 *	  it returns. An access that faults sets budget below 0, and a
 *	  program that goes on in circles thus comes to its end;
 *	- sets resume, before it calls cosy_function_yield(), if it can go on from
 *	  there when it is called again with the same arguments and what it has put
 *	  into saved. It may then be told to return at any time. If resume is 0,
 *	  only when it is to end: killed, or because it has run for too long;
 *	- may also return before it is at its end, with COSY_FUNCTION_LEFT;
 *	- sets wrote before it first writes to memory that is not its stack. A
 *	  function that fails before it wrote has done nothing: it can be done
 *	  again, natively, where it fails likewise, or does not because its
 *	  pointers lead out of the segment;
 *	- uses, of the segment, only what its arguments lead to, and exclusively
 *	  from stack to stack_end, and at data a copy of its constants, which it
 *	  only reads;
 *	- counts on the first and the last 64 KiB of the segment being unmapped:
 *	  an address at most 32 KiB off one whose upper half it has compared is
 *	  not compared again.
 * Faults it does not notice itself are found by the module, which gets their
 * line from the program's BTF line information.
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
 * The number of a helper that there is not: the program calls
 * cosy_function_yield() by it, as int (*)(void), and the library puts the
 * module's kfunc in its place. An extern __ksym would do the same, but finding
 * its BTF takes CAP_SYS_ADMIN.
 */
#define COSY_FUNCTION_YIELD	0x436f7379
#define COSY_FUNCTION_YIELD_NAME "cosy_function_yield"

/* What the module puts into budget at the beginning, and when it says go on. */
#define COSY_FUNCTION_BUDGET	4096

/* Words of its state that a program can have in its context. */
#define COSY_FUNCTION_SAVED	64

/**
 * enum cosy_function_status - how a function has ended
 * @COSY_FUNCTION_DONE:	  it has returned
 * @COSY_FUNCTION_FAULT:  it has read or written where nothing is
 * @COSY_FUNCTION_DIVIDE: division by zero, or of the lowest number by -1
 * @COSY_FUNCTION_STACK:  it needs more stack than it has
 * @COSY_FUNCTION_LOOP:	  the kernel's own limit of iterations (may_goto) has
 *			  ended it
 * @COSY_FUNCTION_TIME:	  it has run for too long (module parameter), and cannot be
 *			  left in between
 * @COSY_FUNCTION_KILLED: a fatal signal is pending
 * @COSY_FUNCTION_LEFT:	  it is not at its end: it is to be called again
 * @COSY_FUNCTION_LOST:	  it was left, and there is nothing any more to go on with
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
 * enum cosy_function_end - what the executor's environment has done about a call
 * @COSY_FUNCTION_RETURNED: called the function
 * @COSY_FUNCTION_NATIVE:   nothing: it is to be run natively, as an up-call
 * @COSY_FUNCTION_FAILED:   called the function, which has failed
 * @COSY_FUNCTION_SUSPENDED: called the function, which has been left; it goes on
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
 * @args:      arguments; those that are not there are 0
 * @result:    out: what it returns
 * @budget:    see above
 * @status:    out: enum cosy_function_status, COSY_FUNCTION_DONE at first
 * @line:      out: where it has failed
 * @address:   out: with COSY_FUNCTION_FAULT, the address
 * @base:      the upper half of all addresses in the segment, the lower is 0
 * @stack:     lowest address of the stack, 16-byte aligned; 0 without stack
 * @stack_end: after its highest; 16-byte aligned
 * @data:      address of the copy of its constants; 64-byte aligned
 * @wrote:     out: 1 if it may have changed memory others see, 0 at first
 * @resume:    where it can go on, 0 at first
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
