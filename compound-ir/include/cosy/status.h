/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * status.h - how the executor leaves a compound.
 */
#ifndef COSY_STATUS_H
#define COSY_STATUS_H

/**
 * enum cosy_status - why the executor has left, and what the caller does next
 * @COSY_DONE:	 done by exit number value; pc is meaningless
 * @COSY_UPCALL: run native code number value on the frame, then resume at pc
 *		 (already the slot after the UPCALL)
 * @COSY_AGAIN:	 a signal or other work is pending that is handled only on return
 *		 to user mode; resume at pc
 * @COSY_LIMIT:	 a limit was reached, value says which (enum cosy_limit);
 *		 resume at pc, or stop, as the policy says
 * @COSY_STEP:	 the operation at pc cannot be done here, value says why (enum
 *		 cosy_step). It has had no effect. Do it in user mode
 * @COSY_RESULT: the system call at pc has been made, value is its result
 *		 (-errno on failure), which is not stored yet: continue with
 *		 cosy_exec_result(). From the kernel, with a restart code: value
 *		 is the result of the entry (see linux/cosy.h)
 * @COSY_FAILED: the function called at pc has failed (cosy/function.h), value
 *		 says how (enum cosy_function_status). It has begun, so it cannot
 *		 be repeated: the process gets the signal that the native code
 *		 would have got. Only from the kernel
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
				   a seccomp filter does not return ALLOW for it;
				   or a loop parks the compound for it */
	COSY_STEP_TRACED,	/* ptrace, audit or tracing watch calls */
	COSY_STEP_BULK,		/* a bulk operation over the kernel's limit */
};

#endif /* COSY_STATUS_H */
