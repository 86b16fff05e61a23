// SPDX-License-Identifier: GPL-2.0
/*
 * call.c - call a user function.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/mm_types.h>
#include <linux/nospec.h>
#include <linux/rcupdate_trace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timex.h>

#include "call/history.h"
#include "function/binding.h"
#include "function/function.h"
#include "function/invocation.h"

/**
 * cosy_suspended_get() - get memory for the state of a suspended function
 * @env: the run, which owns the memory
 *
 * Return: the memory, or NULL if there is none.
 */
struct cosy_suspended_function *cosy_suspended_get(struct cosy_env *env)
{
	if (!env->suspended) {
		env->suspended = kmalloc(sizeof(*env->suspended), GFP_KERNEL_ACCOUNT);
		if (env->suspended)
			env->suspended->valid = false;
	}
	return env->suspended;
}

/**
 * cosy_suspended_give() - free the memory of a function whose state the process has got
 * @suspended: the memory, or NULL
 *
 * The stack stays in use, because the process can have the function resumed.
 */
void cosy_suspended_give(struct cosy_suspended_function *suspended)
{
	if (suspended && suspended->valid && suspended->stacks)
		cosy_stacks_put(suspended->stacks);
	kfree(suspended);
}

/**
 * cosy_suspended_abandon() - free the memory of a function that is not resumed, and its stack
 * @suspended: the memory, or NULL
 */
void cosy_suspended_abandon(struct cosy_suspended_function *suspended)
{
	if (suspended && suspended->valid && suspended->stacks)
		cosy_stack_release(suspended->stacks, suspended->state.stack);
	cosy_suspended_give(suspended);
}

/*
 * Return true if the binding is for this process, and every pointer argument is NULL or in its
 * segment.
 */
static bool cosy_binding_fits(const struct cosy_binding *binding,
			      const u64 *args, unsigned int nargs)
{
	unsigned int i;

	if (binding->mm != current->mm)
		return false;
	for (i = 0; i < nargs; i++)
		if (binding->bind.pointers & BIT(i) && args[i] &&
		    (args[i] ^ binding->bind.base) >> 32)
			return false;
	return true;
}

/* Return how the program has ended. What the module has recorded overrides the program's status. */
static enum cosy_function_status
cosy_invocation_status(const struct cosy_invocation *invocation,
		       const struct cosy_bind *bind, struct cosy_function_failure *failure)
{
	const struct cosy_function_ctx *ctx = &invocation->ctx;

	failure->line = ctx->line;
	failure->address = ctx->address;
	if (invocation->fault) {
		failure->line = cosy_line_of(invocation->prog,
					     invocation->fault);
		failure->address = bind->base + invocation->target -
				   invocation->arena;
		return COSY_FUNCTION_FAULT;
	}
	if (invocation->ended)
		return invocation->ended;
	if (ctx->status >= COSY_NR_FUNCTION_STATUS)
		return COSY_FUNCTION_FAULT;
	return ctx->status;
}

/* The state is that of no suspended function any more. */
static void cosy_suspended_end(struct cosy_suspended_function *suspended)
{
	suspended->valid = false;
	if (suspended->stacks)
		cosy_stacks_put(suspended->stacks);
}

/* Fail a suspended function that cannot be resumed. It must not begin again. */
static noinline enum cosy_function_end
cosy_function_lost(struct cosy_env *env, unsigned int nr, u64 *val)
{
	if (env->suspended->stacks)
		cosy_stack_release(env->suspended->stacks, env->suspended->state.stack);
	cosy_suspended_end(env->suspended);
	env->failure.address = 0;
	env->failure.line = 0;
	env->failure.function = nr;
	env->failure.wrote = !!env->suspended->state.wrote;
	*val = COSY_FUNCTION_LOST;
	return COSY_FUNCTION_FAILED;
}

/* Save the state of a suspended program. Return false if there is no memory. */
static noinline bool cosy_function_keep(const struct cosy_binding *binding,
					const struct cosy_invocation *invocation,
					int stack)
{
	struct cosy_suspended_function *suspended = cosy_suspended_get(invocation->env);

	BUILD_BUG_ON(sizeof(suspended->state.saved) !=
		     sizeof(invocation->ctx.saved));
	if (!suspended)
		return false;
	memset(&suspended->state, 0, sizeof(suspended->state));
	suspended->state.resume = invocation->ctx.resume;
	suspended->state.wrote = !!invocation->ctx.wrote;
	suspended->state.stack = stack;
	memcpy(suspended->state.saved, invocation->ctx.saved, binding->saved);
	suspended->stacks = cosy_stacks_get(binding->stacks);
	suspended->valid = true;
	return true;
}

/* Set an invocation but for its stack and its arguments. @suspended is what it resumes, or NULL. */
static __always_inline void
cosy_invocation_init(struct cosy_invocation *invocation, const struct cosy_binding *binding,
		     struct cosy_env *env, const struct cosy_suspended_function *suspended)
{
	invocation->ctx.result = 0;
	invocation->ctx.budget = COSY_FUNCTION_BUDGET;
	invocation->ctx.status = COSY_FUNCTION_DONE;
	invocation->ctx.line = 0;
	invocation->ctx.address = 0;
	invocation->ctx.base = binding->bind.base;
	invocation->ctx.data = binding->bind.data;
	invocation->ctx.wrote = 0;
	invocation->ctx.resume = 0;
	if (unlikely(suspended)) {
		invocation->ctx.wrote = !!suspended->state.wrote;
		invocation->ctx.resume = suspended->state.resume;
		memcpy(invocation->ctx.saved, suspended->state.saved, binding->saved);
	} else if (binding->saved) {
		memset(invocation->ctx.saved, 0, binding->saved);
	}
	invocation->prog = binding->prog;
	invocation->arena = binding->arena;
	invocation->fault = 0;
	invocation->target = 0;
	invocation->env = env;
	invocation->begin = 0;
	invocation->ended = COSY_FUNCTION_DONE;
	invocation->status = COSY_AGAIN;
}

static noinline enum cosy_function_end
cosy_binding_call(struct cosy_binding *binding, struct cosy_env *env,
		  const u64 *args, unsigned int nargs, u64 *val)
{
	struct cosy_suspended_function *suspended = env->suspended;
	struct cosy_invocation invocation;
	enum cosy_function_status status;
	struct cosy_slot *slot;
	bool goes_on = false;
	u64 cycles = 0;
	unsigned int i;
	int stack;

	if (unlikely(suspended) && suspended->valid) {
		goes_on = true;
		stack = cosy_stack_suspended(binding, suspended);
		if (stack < 0)
			return cosy_function_lost(env, binding->bind.function,
						  val);
	} else {
		if (binding->bind.trial &&
		    atomic_dec_if_positive(&binding->left) < 0)
			return COSY_FUNCTION_NATIVE;
		stack = cosy_stack_claim(binding);
		if (stack < 0)
			return COSY_FUNCTION_NATIVE;
	}
	cosy_stack_use(binding, &invocation.ctx, stack);
	cosy_invocation_init(&invocation, binding, env, goes_on ? suspended : NULL);
	for (i = 0; i < COSY_MAX_ARGS; i++)
		invocation.ctx.args[i] = i < nargs ? args[i] : 0;

	/* A helper of a BPF program can cause another call of a function here. */
	slot = cosy_slot_claim(&invocation);
	if (unlikely(!slot && goes_on)) {
		*val = COSY_AGAIN;
		return COSY_FUNCTION_SUSPENDED;
	}
	if (!slot) {
		cosy_stack_release(binding->stacks, stack);
		return COSY_FUNCTION_NATIVE;
	}
	if (unlikely(goes_on))
		cosy_suspended_end(suspended);
	if (binding->bind.trial)
		cycles = get_cycles();
	bpf_prog_run_pin_on_cpu(binding->prog, &invocation.ctx);
	if (binding->bind.trial) {
		atomic64_add(get_cycles() - cycles, &binding->cycles);
		atomic64_add(!goes_on, &binding->calls);
	}
	cosy_slot_release(slot);

	status = cosy_invocation_status(&invocation, &binding->bind,
					&env->failure);
	if (unlikely(status == COSY_FUNCTION_LEFT)) {
		if (cosy_function_keep(binding, &invocation, stack)) {
			*val = invocation.status;
			return COSY_FUNCTION_SUSPENDED;
		}
		status = COSY_FUNCTION_LOST;
	}
	cosy_stack_release(binding->stacks, stack);
	env->functions++;
	if (likely(status == COSY_FUNCTION_DONE)) {
		*val = invocation.ctx.result;
		return COSY_FUNCTION_RETURNED;
	}
	env->failure.function = binding->bind.function;
	env->failure.wrote = !!invocation.ctx.wrote;
	*val = status;
	return COSY_FUNCTION_FAILED;
}

/**
 * cosy_env_function() - call a user function
 * @env:   the run
 * @nr:    number of the function in its compound
 * @args:  its arguments
 * @nargs: their number
 * @val:   out: the result, or how it has failed
 *
 * Return: as documented in cosy/exec.h.
 */
enum cosy_function_end cosy_env_function(struct cosy_env *env, unsigned int nr,
					 const u64 *args, unsigned int nargs,
					 u64 *val)
{
	enum cosy_function_end end = COSY_FUNCTION_NATIVE;
	struct cosy_binding *binding;

	/* Speculation can execute a slot that is not a CALL, with any number. */
	nr = array_index_nospec(nr, env->bound->count);
	cosy_history_clear();
	rcu_read_lock_trace();
	binding = rcu_dereference_check(env->bound->bindings[nr],
					rcu_read_lock_trace_held());
	while (binding && !cosy_binding_fits(binding, args, nargs))
		binding = rcu_dereference_check(binding->next,
						rcu_read_lock_trace_held());
	if (binding)
		end = cosy_binding_call(binding, env, args, nargs, val);
	else if (unlikely(env->suspended) && env->suspended->valid)
		end = cosy_function_lost(env, nr, val);
	rcu_read_unlock_trace();
	return end;
}
