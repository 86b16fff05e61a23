/* SPDX-License-Identifier: GPL-2.0 */
/*
 * invocation.h - calls of user functions in progress.
 */
#ifndef COSY_FUNCTION_INVOCATION_H
#define COSY_FUNCTION_INVOCATION_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <cosy/exec.h>

/**
 * struct cosy_invocation - one call of a function; on the caller's stack
 * @ctx:    the program's context
 * @prog:   the program
 * @arena:  the kernel's address of its segment
 * @fault:  the first instruction that faulted, 0 if none did
 * @target: the kernel address that it accessed
 * @env:    the run
 * @begin:  CPU time of the thread at the first yield
 * @ended:  why the program was told to end
 * @status: the status with which the run leaves, if the program is to be resumed
 */
struct cosy_invocation {
	struct cosy_function_ctx ctx;
	const struct bpf_prog *prog;
	u64 arena;
	unsigned long fault;
	unsigned long target;
	struct cosy_env *env;
	u64 begin;
	enum cosy_function_status ended;
	enum cosy_status status;
};

/* slots.c */
struct cosy_slot;
struct cosy_slot *cosy_slot_claim(struct cosy_invocation *invocation);
void cosy_slot_release(struct cosy_slot *slot);
struct cosy_invocation *cosy_invocation_current(void);

/* fault.c */
bool cosy_faults_init(void);
void cosy_faults_exit(void);
int cosy_faults_probe(void);
u32 cosy_line_of(const struct bpf_prog *prog, unsigned long ip);

/* yield.c; programs call the last one, which they find by its type information. */
bool cosy_yield_init(void);
void cosy_yield_exit(void);
int cosy_function_yield(void);

/* call.c */
struct cosy_suspended_function *cosy_suspended_get(struct cosy_env *env);

#endif /* COSY_FUNCTION_INVOCATION_H */
