/* SPDX-License-Identifier: GPL-2.0 */
/*
 * binding.h - a program that is bound to a function, and the stacks it may use.
 */
#ifndef COSY_FUNCTION_BINDING_H
#define COSY_FUNCTION_BINDING_H

#include <linux/atomic.h>
#include <linux/bpf.h>
#include <linux/llist.h>
#include <linux/mm_types.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <cosy/exec.h>
#include <linux/cosy.h>

/**
 * struct cosy_stacks - which stacks of a binding, and of its replacements, are used
 * @refs: number of bindings that share them, and of suspended functions that the kernel keeps
 * @busy: bit n is set while stack n is used
 */
struct cosy_stacks {
	refcount_t refs;
	unsigned long busy;
};

/**
 * struct cosy_binding - the program of a function for one segment
 * @next:     next binding of the same function
 * @prog:     the program
 * @mm:	      memory of the segment's process; a child's memory is a copy, and differs
 * @arena:    the kernel's address of its segment
 * @saved:    bytes of its context's "saved" that the program accesses
 * @bind:     the caller's argument
 * @left:     calls that are left in the trial
 * @calls:    calls that the trial made
 * @cycles:   cycles that they took
 * @stacks:   its stacks
 * @owner:    the owner that is charged, see cosy_quota_owner()
 * @unbound:  it was removed, and is freed when no call of it is left
 */
struct cosy_binding {
	struct cosy_binding __rcu *next;
	struct bpf_prog *prog;
	struct mm_struct *mm;
	u64 arena;
	u32 saved;
	struct cosy_bind bind;
	atomic_t left;
	atomic64_t calls;
	atomic64_t cycles;
	struct cosy_stacks *stacks;
	u64 owner;
	struct llist_node unbound;
};

/* binding.c */
extern bool cosy_functions_work;
u64 cosy_arena_start(struct bpf_arena *arena);
bool cosy_bindings_init(void);
void cosy_bindings_exit(void);

/* stacks.c */
struct cosy_stacks *cosy_stacks_alloc(void);
struct cosy_stacks *cosy_stacks_get(struct cosy_stacks *stacks);
void cosy_stacks_put(struct cosy_stacks *stacks);
void cosy_stacks_share(struct cosy_binding *binding,
		       const struct cosy_binding *old);
int cosy_stack_claim(struct cosy_binding *binding);
int cosy_stack_suspended(const struct cosy_binding *binding,
			 const struct cosy_suspended_function *suspended);
void cosy_stack_release(struct cosy_stacks *stacks, int stack);
void cosy_stack_use(const struct cosy_binding *binding,
		    struct cosy_function_ctx *ctx, int stack);

#endif /* COSY_FUNCTION_BINDING_H */
