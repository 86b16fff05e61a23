/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * exec.h - the executor, for the module and for libcosy.
 *
 * Both compile src/exec.c. Each is an environment of the executor: its <cosy_env.h>, on the
 * include path, defines inline functions that access memory, make system calls and leave:
 *
 *   struct cosy_env
 *	the environment's part of struct cosy_state
 *   bool cosy_env_load(env, u64 addr, unsigned int width, u64 *val)
 *   bool cosy_env_store(env, u64 addr, unsigned int width, u64 val)
 *	width is a compile-time constant; false means a fault without an effect
 *   bool cosy_env_cmpxchg(env, u64 addr, unsigned int width, u64 old, u64 new, u64 *val)
 *	atomically, and as a full memory barrier: *val is what was there; if that is old,
 *	store new. width and false: as for load
 *   u32 cosy_env_tid(env)
 *	return what gettid() returns
 *   bool cosy_env_copy(env, u64 dst, u64 src, u64 len)		memmove
 *   bool cosy_env_fill(env, u64 dst, u8 byte, u64 len)		memset
 *   bool cosy_env_compare(env, u64 a, u64 b, u64 len, u64 *sign) memcmp
 *   bool cosy_env_find(env, u64 p, u8 byte, u64 len, u64 *at)	memchr
 *   bool cosy_env_strcmp(env, u64 a, u64 b, u64 max, u64 *diff) strncmp
 *   bool cosy_env_strlen(env, u64 p, u64 max, u64 *len)	strnlen
 *   bool cosy_env_strchr(env, u64 p, u8 byte, u64 *at)		strchr
 *   bool cosy_env_strrchr(env, u64 p, u8 byte, u64 *at)	strrchr
 *   bool cosy_env_stpcpy(env, u64 dst, u64 src, u64 *end)	stpcpy
 *	as the functions of libc; sign is -1, 0 or 1, diff the difference of
 *	the first bytes that differ, both in 32 bits; max ~0 means no limit.
 *	false: not done here, env->step says why (enum cosy_step). It may be done
 *	in part only if repeating all of it gives the same result
 *   void cosy_env_arg(env, unsigned int i, u64 val)
 *	set argument i (a constant) of the next call
 *   cosy_self *cosy_env_self(struct cosy_state *st)
 *	the argument of the next functions: a type of the environment, and a value that
 *	does not change while the compound runs
 *   bool cosy_env_may_call(cosy_self *self, struct cosy_state *st,
 *			    const struct cosy_insn *ip)
 *	called before every call, whose arguments are set: false leaves with
 *	COSY_STEP, env->step says why
 *   cosy_u16 cosy_env_callee(unsigned int nr)
 *	at load: the environment's index for calls with that number; 0 is valid, too
 *   long cosy_env_call(env, unsigned int nr, unsigned int callee)
 *	make the call
 *   bool cosy_env_restart(env, long ret)
 *	true if this failure is a restart code: leaves with COSY_RESULT
 *   enum cosy_function_end cosy_env_function(env, unsigned int nr,
 *				const u64 *args, unsigned int nargs, u64 *val)
 *	call function nr: RETURNED, *val is its result; NATIVE, nothing has
 *	happened: leaves with COSY_UPCALL; FAILED, *val is an enum
 *	cosy_function_status: leaves with COSY_FAILED; or SUSPENDED, *val is
 *	the status it leaves with: the function resumes at the same pc
 *   bool cosy_env_divide_error(env)			optional, also a macro
 *	a division by zero or signed overflow: true if the process has received
 *	SIGFPE and the result may be 0; false, or not defined: leaves with
 *	COSY_STEP
 *   struct cosy_made cosy_env_fast(struct cosy_state *st,
 *				    const struct cosy_insn *ip)
 *	optional, also a macro, needed if cosy_decode() is given fast paths: make the
 *	call at ip, and optionally calls that follow. It stores the results of all
 *	but the last one itself
 *   bool cosy_env_may_fast(self, st, ip)
 *	needed with it, and called before it: like cosy_env_may_call(), but without
 *	arguments
 *   void cosy_env_called(self)				optional, also a macro
 *	called after every call and function, before cosy_env_leave()
 *   bool cosy_env_leave(self)
 *	called after every call and function, and at back-edges: true if work is pending that
 *	is done only on return to user mode: leaves with COSY_AGAIN
 *
 * In user mode a fault is the process's own SIGSEGV inside the access, so
 * load and store never fail there.
 */
#ifndef COSY_EXEC_H
#define COSY_EXEC_H

#include "decode.h"
#include "function.h"
#include "status.h"

struct cosy_state;

/**
 * struct cosy_made - calls made by a fast path
 * @result: result of the last one
 * @ip:	    slot of the last one
 */
struct cosy_made {
	cosy_u64 result;
	const struct cosy_insn *ip;
};

#include <cosy_env.h>

/**
 * struct cosy_state - one run: pc, registers, and the environment's part
 * @regs:	nregs + 1 registers, the last of which is 0; owned by the caller
 * @pc:		in: slot to begin at, cosy_pc_valid(); out: as status.h says
 * @budget:	operations left; back-edges charge the slots of their loop
 * @value:	out: depends on the status
 * @calls:	incremented at every system call made
 * @errno_addr: address of the thread's errno, for LIBC
 * @env:	the environment's part
 */
struct cosy_state {
	cosy_u64 *regs;
	cosy_u32 pc;
	cosy_s64 budget;
	cosy_u64 value;
	cosy_u64 calls;
	cosy_u64 errno_addr;
	struct cosy_env env;
};

/**
 * cosy_exec() - execute from st->pc on until something makes it leave
 * @code: decoded compound
 * @st:	  the run; registers and everything else are up to date on return, except
 *	  that pc and budget mean nothing when it is done
 *
 * Makes progress at every entry: at least one operation or back-edge is
 * executed before COSY_LIMIT or COSY_AGAIN.
 *
 * Return: why it left. May sleep (system calls do). The library's build is
 * async-signal-safe; a signal handler may leave it by siglongjmp().
 */
enum cosy_status cosy_exec(const struct cosy_code *code, struct cosy_state *st);

/**
 * cosy_exec_result() - store the result of the system call at st->pc
 * @code:   decoded compound
 * @st:	    the run; pc is at a SYS or LIBC slot, and is moved after it
 * @result: as the kernel returned it, -errno on failure
 *
 * Sets errno and -1 where the operation is LIBC.
 *
 * Return: false if errno_addr faults (module only); then nothing has changed.
 */
_Bool cosy_exec_result(const struct cosy_code *code, struct cosy_state *st,
		       long result);

#endif /* COSY_EXEC_H */
