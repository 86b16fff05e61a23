/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fast.h - fast paths: make calls with less work than a system call, and with exactly the
 * same effects.
 *
 * A fast path is a function whose argument is the slot of a call. It reads the arguments from
 * the registers, and makes the call with kernel functions below the system call. In unusual
 * cases it makes the plain call, which is the reference: cosy_fast_plain().
 *
 * The fast path of a call is chosen when the compound is loaded, so that calls without one
 * cost nothing more.
 */
#ifndef COSY_FAST_H
#define COSY_FAST_H

#include <linux/types.h>

#include <cosy/exec.h>

#include "call/call.h"
#include "trace/cosy_trace.h"

/* A fast path for a call. */
typedef struct cosy_made cosy_fast_call_fn(struct cosy_state *st,
					   const struct cosy_insn *ip);
extern cosy_fast_call_fn *cosy_fast_calls[];
bool cosy_fast_watched(struct cosy_state *st, const struct cosy_insn *ip);
void cosy_fast_trace(struct cosy_made made);

static __always_inline bool cosy_env_may_fast(cosy_self *self,
					      struct cosy_state *st,
					      const struct cosy_insn *ip)
{
	if (likely(!cosy_any_bits(&self->syscall_work, SYSCALL_WORK_ENTER)))
		return true;
	return !cosy_fast_watched(st, ip);
}

static __always_inline struct cosy_made cosy_env_fast(struct cosy_state *st,
						      const struct cosy_insn *ip)
{
	struct cosy_made made = cosy_fast_calls[ip->fast](st, ip);

	if (trace_fast_enabled())
		cosy_fast_trace(made);
	return made;
}
#define cosy_env_fast	cosy_env_fast

/* fast.c */
void cosy_fast_init(void);
void cosy_fast_exit(void);
cosy_fast_find_fn *cosy_fast_finder(const void *image, bool plain);
s32 cosy_fast_path(unsigned int nr, unsigned int *nargs);
s32 cosy_fast_path_of_realpath(void);

/* open.c */
void cosy_private_install(struct cosy_env *env);

/* borrow.c */
void cosy_borrow_leave(struct cosy_env *env);
void cosy_borrow_end(struct cosy_env *env);

/**
 * cosy_fast_leave() - make visible to the process the state that fast paths keep in a run
 * @env:  the run
 * @done: the compound has ended, so borrowed pages are not read any more
 */
static inline void cosy_fast_leave(struct cosy_env *env, bool done)
{
	if (env->borrowed && !done)
		cosy_borrow_leave(env);
	else if (env->borrowed)
		cosy_borrow_end(env);
	if (unlikely(env->nprivate))
		cosy_private_install(env);
}

#endif /* COSY_FAST_H */
