// SPDX-License-Identifier: GPL-2.0
/*
 * yield.c - the kfunc cosy_function_yield(), which programs call when their budget is used up.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/fdtable.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "call/call.h"
#include "compat/compat.h"
#include "env/arg.h"
#include "function/binding.h"
#include "function/function.h"
#include "function/invocation.h"
#include "kernel/internals.h"
#include "limit/limit.h"

static unsigned int function_time = 10000;
module_param(function_time, uint, 0644);
MODULE_PARM_DESC(function_time,
		 "ms of CPU time after which a user function that cannot be suspended ends (default 10000)");

/*
 * Return true if a program that can be resumed has to be suspended. This is possible only if the
 * process can enter again.
 */
static bool cosy_invocation_leaves(struct cosy_invocation *invocation,
				   u64 used)
{
	struct cosy_env *env = invocation->env;

	if (cosy_env_leave(current_thread_info()))
		invocation->status = COSY_AGAIN;
	else if (used >= cosy_time_slice())
		invocation->status = COSY_LIMIT;
	else
		return false;
	if (unlikely(cosy_seccomp_state() != env->seccomp) &&
	    cosy_seccomp_blocks_entry())
		return false;
	return cosy_suspended_get(env);
}

__bpf_kfunc_start_defs();

/**
 * cosy_function_yield() - test whether the running function may continue
 *
 * Called by the program when its budget is used up. Reschedules if necessary.
 *
 * Return: 0 with a new budget; 1 if the program has to return. If it has set resume, it may be
 * resumed later.
 */
__bpf_kfunc int cosy_function_yield(void)
{
	struct cosy_invocation *invocation = cosy_invocation_current();
	u64 limit = (u64)READ_ONCE(function_time) * NSEC_PER_MSEC;
	u64 now;

	if (!invocation || invocation->fault || invocation->ended)
		return 1;
	cosy_resched();
	if (fatal_signal_pending(current)) {
		invocation->ended = COSY_FUNCTION_KILLED;
		return 1;
	}
	now = cosy_cpu_time();
	if (!invocation->begin)
		invocation->begin = now;
	now -= invocation->begin;
	if (invocation->ctx.resume) {
		if (cosy_invocation_leaves(invocation, now)) {
			invocation->ended = COSY_FUNCTION_LEFT;
			return 1;
		}
	} else if (now >= limit) {
		invocation->ended = COSY_FUNCTION_TIME;
		return 1;
	}
	WRITE_ONCE(invocation->ctx.budget, COSY_FUNCTION_BUDGET);
	return 0;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(cosy_kfuncs)
BTF_ID_FLAGS(func, cosy_function_yield, KF_SLEEPABLE)
BTF_KFUNCS_END(cosy_kfuncs)

static const struct btf_kfunc_id_set cosy_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &cosy_kfuncs,
};

/* cosy_function_yield(): finding it takes as long as thousands of calls. */
static struct btf *cosy_yield_btf;
static s32 cosy_yield_id;

/**
 * cosy_yield_init() - offer cosy_function_yield() to programs
 *
 * Return: true if it is offered; else with a message.
 */
bool cosy_yield_init(void)
{
	int err;

	if (!cosy_has(COSY_NEEDS(bpf_find_btf_id) | COSY_NEEDS(btf_obj_id) |
		      COSY_NEEDS(btf_get_fd_by_id) | COSY_NEEDS(btf_put))) {
		pr_info("user functions run natively: this kernel does not support them\n");
		return false;
	}
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL, &cosy_kfunc_set);
	if (err) {
		pr_info("cannot offer a kfunc (%d), user functions run natively\n",
			err);
		return false;
	}
	cosy_yield_id = cosy_internal(bpf_find_btf_id)(COSY_FUNCTION_YIELD_NAME,
						       BTF_KIND_FUNC,
						       &cosy_yield_btf);
	if (cosy_yield_id < 0) {
		pr_info("cannot find a kfunc (%d), user functions run natively\n",
			cosy_yield_id);
		return false;
	}
	return true;
}

/**
 * cosy_yield_exit() - the reverse of cosy_yield_init()
 */
void cosy_yield_exit(void)
{
	if (cosy_yield_btf)
		cosy_internal(btf_put)(cosy_yield_btf);
}

/**
 * cosy_functions_yield() - COSY_IOC_YIELD
 * @arg: struct cosy_yield of the caller
 *
 * Return: 0; -EOPNOTSUPP if user functions cannot be run here; -EPERM if the
 * caller could not load any; -errno.
 */
long cosy_functions_yield(struct cosy_yield __user *arg)
{
	struct cosy_yield yield;
	u32 id;
	int err;

	err = cosy_arg_read(&yield, sizeof(yield),
			    offsetofend(struct cosy_yield, id), arg);
	if (err)
		return err;
	if (!cosy_functions_work)
		return -EOPNOTSUPP;
	if (yield.flags)
		return -EINVAL;
	/* The descriptor is useful only to load programs, which needs the same capability. */
	if (!ns_capable(current_user_ns(), CAP_BPF) &&
	    !ns_capable(current_user_ns(), CAP_SYS_ADMIN))
		return -EPERM;
	yield.id = cosy_yield_id;
	id = cosy_internal(btf_obj_id)(cosy_yield_btf);
	yield.fd = cosy_internal(btf_get_fd_by_id)(id);
	if (yield.fd < 0)
		return yield.fd;
	err = cosy_arg_write(arg, &yield, sizeof(yield));
	/* The caller has not got the number, so it could not close the descriptor. */
	if (err)
		close_fd(yield.fd);
	return err;
}
