// SPDX-License-Identifier: GPL-2.0
/*
 * stacks.c - assigns the stacks that a function may use in its segment.
 */
#include <linux/bitops.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "function/binding.h"

/**
 * cosy_stacks_alloc() - allocate the record of the used stacks of a binding
 *
 * Return: the record, with one reference; NULL if there is no memory.
 */
struct cosy_stacks *cosy_stacks_alloc(void)
{
	struct cosy_stacks *stacks = kzalloc(sizeof(*stacks),
					     GFP_KERNEL_ACCOUNT);

	if (stacks)
		refcount_set(&stacks->refs, 1);
	return stacks;
}

/**
 * cosy_stacks_get() - take a reference
 * @stacks: the record
 *
 * Return: @stacks.
 */
struct cosy_stacks *cosy_stacks_get(struct cosy_stacks *stacks)
{
	refcount_inc(&stacks->refs);
	return stacks;
}

/**
 * cosy_stacks_put() - drop a reference
 * @stacks: the record
 */
void cosy_stacks_put(struct cosy_stacks *stacks)
{
	if (refcount_dec_and_test(&stacks->refs))
		kfree(stacks);
}

/**
 * cosy_stacks_share() - use the record of a binding that is replaced
 * @binding: the new one
 * @old:     the old one
 *
 * A program that was called by @old may still be suspended there; @binding resumes it.
 */
void cosy_stacks_share(struct cosy_binding *binding,
		       const struct cosy_binding *old)
{
	const struct cosy_bind *a = &binding->bind, *b = &old->bind;

	if (a->stacks != b->stacks || a->stack_size != b->stack_size ||
	    a->stack_stride != b->stack_stride || a->nstacks != b->nstacks)
		return;
	cosy_stacks_put(binding->stacks);
	binding->stacks = cosy_stacks_get(old->stacks);
}

/**
 * cosy_stack_claim() - claim an unused stack
 * @binding: the function's
 *
 * Return: the stack, counted from 1; 0 if the function needs none; -1 if all are
 * in use.
 */
int cosy_stack_claim(struct cosy_binding *binding)
{
	const struct cosy_bind *bind = &binding->bind;
	unsigned long *busy = &binding->stacks->busy;
	unsigned long stack;

	if (!bind->stack_size)
		return 0;
	do {
		/* Other threads claim and release stacks: the bit is tested when it is set. */
		stack = data_race(find_first_zero_bit(busy, bind->nstacks));
		if (stack >= bind->nstacks)
			return -1;
	} while (test_and_set_bit_lock(stack, busy));
	return stack + 1;
}

/**
 * cosy_stack_suspended() - return the stack of a function that was suspended
 * @binding:   the function's
 * @suspended: its state, numbers of the caller unless the kernel has kept it
 *
 * Return: as cosy_stack_claim(); -1 if it cannot be one of the function's.
 */
int cosy_stack_suspended(const struct cosy_binding *binding,
			 const struct cosy_suspended_function *suspended)
{
	u32 stack = suspended->state.stack;

	if (suspended->stacks && suspended->stacks != binding->stacks)
		return -1;
	if (!binding->bind.stack_size)
		return 0;
	return stack && stack <= binding->bind.nstacks ? stack : -1;
}

/**
 * cosy_stack_release() - the reverse of cosy_stack_claim()
 * @stacks: those of the binding
 * @stack:  the stack
 */
void cosy_stack_release(struct cosy_stacks *stacks, int stack)
{
	if (stack)
		clear_bit_unlock(stack - 1, &stacks->busy);
}

/**
 * cosy_stack_use() - set the stack of a program in its context
 * @binding: the function's
 * @ctx:     the program's context
 * @stack:   the result of cosy_stack_claim()
 */
void cosy_stack_use(const struct cosy_binding *binding,
		    struct cosy_function_ctx *ctx, int stack)
{
	const struct cosy_bind *bind = &binding->bind;

	ctx->stack = 0;
	ctx->stack_end = 0;
	if (!stack)
		return;
	ctx->stack = bind->stacks + (u64)(stack - 1) * bind->stack_stride;
	ctx->stack_end = ctx->stack + bind->stack_size;
}
