/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * status.h - how the executor leaves a compound.
 */
#ifndef COSY_STATUS_H
#define COSY_STATUS_H

/**
 * enum cosy_status - why the executor left, and what happens next
 * @COSY_DONE:	 done by exit number value; pc is meaningless
 * @COSY_UPCALL: run native code number value on the frame, then resume at pc
 *		 (already the slot after the UPCALL)
 * @COSY_AGAIN:	 a signal or other work is pending that is handled only on return
 *		 to user mode; resume at pc
 * @COSY_LIMIT:	 a limit was reached, value says which (enum cosy_limit);
 *		 resume at pc, or stop, as the policy says
 * @COSY_STEP:	 the operation at pc cannot be done here, value says why (enum
 *		 cosy_step); nothing of it has happened. Do it in user mode
 * @COSY_RESULT: the system call at pc has been made, value is its result
 *		 (-errno on failure) and not yet stored: continue with
 *		 cosy_exec_result(). From the kernel, with a restart code: value
 *		 is what the entry returned to user mode (see linux/cosy.h)
 * @COSY_FAILED: the function called at pc has failed (cosy/function.h), value
 *		 says how (enum cosy_function_status). It has begun, hence cannot
 *		 be done again: the process gets the signal the native code would
 *		 have got. From the kernel only
 */
enum cosy_status {
	COSY_DONE,
	COSY_UPCALL,
	COSY_AGAIN,
	COSY_LIMIT,
	COSY_STEP,
	COSY_RESULT,
	COSY_FAILED,
	COSY_NR_STATUS
};

/** enum cosy_limit - value of COSY_LIMIT */
enum cosy_limit {
	COSY_LIMIT_OPS,		/* the operation limit */
	COSY_LIMIT_TIME,	/* the time slice */
};

/** enum cosy_step - value of COSY_STEP */
enum cosy_step {
	COSY_STEP_FAULT,	/* memory fault or division error */
	COSY_STEP_CALL,		/* this call may not run nested (syscalls.def), or
				   a seccomp filter does not plainly allow it; or
				   a loop parks the compound for it */
	COSY_STEP_TRACED,	/* ptrace, audit or tracing watch calls */
	COSY_STEP_BULK,		/* a bulk operation too long to do in one go */
};

#endif /* COSY_STATUS_H */
