// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - enter a compound and leave it again.
 *
 * While a compound does not run, its pc, status and registers are in the process. An entry reads
 * them once, executes, and writes them back.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>

#include <asm/barrier.h>

#include <cosy/exec.h>

#include "call/call.h"
#include "call/history.h"
#include "call/request.h"
#include "fast/fast.h"
#include "function/function.h"
#include "limit/limit.h"
#include "load/compound.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

ulong cosy_max_run_operations;
module_param_named(max_run_operations, cosy_max_run_operations, ulong, 0644);
MODULE_PARM_DESC(max_run_operations,
		 "operations that one run of a compound may execute (default 0: no limit)");

unsigned int cosy_max_run_ms;
module_param_named(max_run_ms, cosy_max_run_ms, uint, 0644);
MODULE_PARM_DESC(max_run_ms,
		 "ms of CPU time that one run of a compound may take (default 0: no limit)");

static bool kill_over_limit;
module_param(kill_over_limit, bool, 0644);
MODULE_PARM_DESC(kill_over_limit,
		 "kill a process that exceeds these limits; N: finish its run in user mode (default N)");

/* Compounds with more registers have them on the heap. */
#define STACK_REGS	63
/* After the registers: one that is always 0, and room for what cosy_regs_clear() clears. */
#define CLEAR_STEP	4
#define MORE_REGS	CLEAR_STEP

/* The maximum of slots executed between two reads of the clock. */
#define LAST_CHUNK	(1 << 20)

/*
 * Return true once the run has used @ms of CPU time. Called when a chunk is used up. Adjusts the
 * chunk so that it takes about an eighth of that time.
 */
static bool cosy_slice_over(struct cosy_slice *slice, s64 *chunk, unsigned int ms)
{
	u64 length = (u64)ms * NSEC_PER_MSEC;
	u64 spent;

	/* A quiescent state: RCU tasks grace periods must not wait for the end of the run. */
	cond_resched_tasks_rcu_qs();
	spent = cosy_slice_look(slice);
	if (spent < length / 8) {
		if (*chunk < LAST_CHUNK)
			*chunk *= 2;
	} else if (*chunk > COSY_FIRST_CHUNK) {
		*chunk /= 2;
	}
	return slice->used >= length;
}

/**
 * cosy_state_lost() - send SIGSEGV, because the state of a compound could not be written
 *
 * The process could not tell what the compound has done.
 *
 * Return: -EFAULT.
 */
loff_t cosy_state_lost(void)
{
	force_sig(SIGSEGV);
	return -EFAULT;
}

/* Read the struct cosy_run once; two 32-bit fields as one word. */
static __always_inline bool cosy_run_read(struct cosy_run *run,
					  struct cosy_state *st,
					  const struct cosy_run __user *urun)
{
	const void __user *p = urun;

	if (!cosy_user_begin(&p, sizeof(*run)))
		return false;
	urun = p;
	cosy_unsafe_get_u64(&run->handle, &urun->handle, fault);
	cosy_unsafe_get_u64(&run->frame, &urun->frame, fault);
	cosy_unsafe_get_u64(&st->errno_addr, &urun->errno_addr, fault);
	cosy_unsafe_get_u64((u64 *)&run->pc, (u64 __user *)&urun->pc, fault);
	cosy_unsafe_get_u64((u64 *)&run->flags, (u64 __user *)&urun->flags,
			    fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/**
 * cosy_regs_read_all() - read registers from a frame
 * @regs:  kernel memory
 * @frame: user memory
 * @n:	   number of registers
 *
 * Without the checks of copy_from_user() for the bounds of @regs, which cost more than the copy.
 *
 * Return: false if the frame cannot be read.
 */
noinline bool cosy_regs_read_all(u64 *regs, const u64 __user *frame,
				 unsigned int n)
{
	const void __user *p = frame;
	unsigned int i;

	if (!cosy_user_begin(&p, n * sizeof(*regs)))
		return false;
	frame = p;
	for (i = 0; i < n; i++)
		cosy_unsafe_get_u64(&regs[i], &frame[i], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/*
 * Read @n registers starting at @frame. @few: @n is at most COSY_FEW_REGS, and the frame has at
 * least COSY_FEW_REGS registers. Then COSY_FEW_REGS are read without a loop.
 */
static __always_inline bool cosy_regs_read(u64 *regs, const u64 __user *frame,
					   unsigned int n, bool few)
{
	const void __user *p = frame;

	if (unlikely(!few))
		return cosy_regs_read_all(regs, frame, n);
	BUILD_BUG_ON(COSY_FEW_REGS != 4);
	if (!cosy_user_begin(&p, COSY_FEW_REGS * sizeof(*regs)))
		return false;
	frame = p;
	cosy_unsafe_get_u64(&regs[0], &frame[0], fault);
	cosy_unsafe_get_u64(&regs[1], &frame[1], fault);
	cosy_unsafe_get_u64(&regs[2], &frame[2], fault);
	cosy_unsafe_get_u64(&regs[3], &frame[3], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/**
 * cosy_regs_write_all() - write registers to a frame
 * @frame: user memory
 * @regs:  kernel memory
 * @n:	   number of registers
 *
 * Return: false if the frame cannot be written.
 */
noinline bool cosy_regs_write_all(u64 __user *frame, const u64 *regs,
				  unsigned int n)
{
	const void __user *p = frame;
	unsigned int i;

	if (!cosy_user_begin(&p, n * sizeof(*regs)))
		return false;
	frame = (u64 __user *)p;
	for (i = 0; i < n; i++)
		unsafe_put_user(regs[i], &frame[i], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* Write the @n outputs. Mostly there is one. */
static __always_inline bool cosy_outputs_write(u64 __user *frame,
					       const u64 *regs, unsigned int n)
{
	const void __user *p = frame;

	if (n != 1)
		return cosy_regs_write_all(frame, regs, n);
	if (!cosy_user_begin(&p, sizeof(*regs)))
		return false;
	unsafe_put_user(*regs, (u64 __user *)p, fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* The reverse of cosy_regs_read(). */
static __always_inline bool cosy_regs_write(u64 __user *frame, const u64 *regs,
					    unsigned int n, bool few)
{
	const void __user *p = frame;

	if (unlikely(!few))
		return cosy_regs_write_all(frame, regs, n);
	if (!cosy_user_begin(&p, COSY_FEW_REGS * sizeof(*regs)))
		return false;
	frame = (u64 __user *)p;
	unsafe_put_user(regs[0], &frame[0], fault);
	unsafe_put_user(regs[1], &frame[1], fault);
	unsafe_put_user(regs[2], &frame[2], fault);
	unsafe_put_user(regs[3], &frame[3], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* Write that the run is left for an up-call; two 32-bit fields as one word. */
static __always_inline bool cosy_run_write_upcall(struct cosy_run __user *urun,
						  const struct cosy_state *st)
{
	const void __user *p = urun;

	if (!cosy_user_begin(&p, sizeof(*urun)))
		return false;
	urun = (struct cosy_run __user *)p;
	unsafe_put_user((u64)COSY_UPCALL << 32 | st->pc,
			(u64 __user *)&urun->pc, fault);
	unsafe_put_user(st->value, &urun->value, fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* Write how the run has ended. */
static noinline bool cosy_run_write(struct cosy_run __user *urun, u32 flags,
				    const struct cosy_state *st,
				    enum cosy_status status, s64 left)
{
	const void __user *p = urun;

	if (!cosy_user_begin(&p, sizeof(*urun)))
		return false;
	urun = (struct cosy_run __user *)p;
	unsafe_put_user(st->pc, &urun->pc, fault);
	unsafe_put_user(status, &urun->status, fault);
	unsafe_put_user(st->value, &urun->value, fault);
	if (flags & COSY_RUN_COUNT) {
		unsafe_put_user(st->calls, &urun->calls, fault);
		unsafe_put_user(st->env.functions, &urun->functions, fault);
	}
	if (status == COSY_FAILED) {
		unsafe_put_user(st->env.failure.address,
				&urun->failure.address, fault);
		unsafe_put_user(st->env.failure.line, &urun->failure.line,
				fault);
		unsafe_put_user(st->env.failure.function,
				&urun->failure.function, fault);
		unsafe_put_user(st->env.failure.wrote, &urun->failure.wrote,
				fault);
	}
	if (flags & COSY_RUN_LIMIT)
		unsafe_put_user((u64)left, &urun->limit, fault);
	unsafe_put_user(flags, &urun->flags, fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* Return the number of operations that this entry may execute. */
static u64 cosy_run_limit(const struct cosy_run *run,
			  const struct cosy_code *code)
{
	if (run->flags & COSY_RUN_LIMIT)
		return min_t(u64, run->limit, S64_MAX);
	return code->limit;
}

/*
 * Continue after the first chunk: until the compound leaves for another reason, or the rest of the
 * limit or the time is used up.
 */
static noinline enum cosy_status cosy_execute_on(const struct cosy_code *code,
						 struct cosy_state *st,
						 const struct cosy_run *run, s64 *left)
{
	enum cosy_status status = COSY_LIMIT;
	unsigned int ms = READ_ONCE(cosy_time_slice_ms);
	s64 chunk = COSY_FIRST_CHUNK, given;

	if (run->slice)
		ms = min(ms, run->slice);
	cosy_env_begin_slice(&st->env);
	while (*left >= 0) {
		if (cosy_slice_over(&st->env.slice, &chunk, ms)) {
			st->value = COSY_LIMIT_TIME;
			break;
		}
		given = min(*left, chunk);
		st->budget = given;
		status = cosy_exec(code, st);
		cosy_history_clear();
		*left -= given - st->budget;
		if (status != COSY_LIMIT)
			break;
	}
	return status;
}

/* Return true if the run is entered for the first time: at pc 0 with status COSY_DONE. */
static __always_inline bool cosy_run_fresh(const struct cosy_run *run)
{
	BUILD_BUG_ON(COSY_DONE != 0 || offsetof(struct cosy_run, status) !=
		     offsetof(struct cosy_run, pc) + 4);
	return likely(!*(const u64 *)&run->pc);
}

/*
 * Add what the entry has used to the counts of the run, and compare with the module's limits.
 * Return the flags to write, or -EFAULT if the counts cannot be accessed.
 */
static noinline int cosy_run_account(struct cosy_run __user *urun,
				     const struct cosy_run *run,
				     u64 operations, u64 cpu_time)
{
	u64 max_operations = READ_ONCE(cosy_max_run_operations);
	u64 max_time = (u64)READ_ONCE(cosy_max_run_ms) * NSEC_PER_MSEC;
	int flags = run->flags;
	u64 before;

	if (!cosy_run_fresh(run)) {
		if (get_user(before, &urun->operations))
			return -EFAULT;
		operations = max(operations + before, before);
		if (get_user(before, &urun->cpu_time))
			return -EFAULT;
		cpu_time = max(cpu_time + before, before);
	}
	if (put_user(operations, &urun->operations) ||
	    put_user(cpu_time, &urun->cpu_time))
		return -EFAULT;
	if ((!max_operations || operations <= max_operations) &&
	    (!max_time || cpu_time <= max_time))
		return flags;
	if (READ_ONCE(kill_over_limit))
		send_sig(SIGKILL, current, 1);
	return flags | COSY_RUN_CAPPED;
}

/*
 * Clear the registers from @from to at least @last, in steps. memset() costs more for so few.
 */
static __always_inline void cosy_regs_clear(u64 *regs, unsigned int from,
					    unsigned int last)
{
	u64 zero = 0;

	OPTIMIZER_HIDE_VAR(zero);
	do {
		regs[from] = zero;
		regs[from + 1] = zero;
		regs[from + 2] = zero;
		regs[from + 3] = zero;
		from += CLEAR_STEP;
	} while (unlikely(from <= last));
}

/* Return true if the run is entered without flags and limits, as nearly always. */
static __always_inline bool cosy_run_plain(const struct cosy_run *run)
{
	BUILD_BUG_ON(offsetof(struct cosy_run, slice) !=
		     offsetof(struct cosy_run, flags) + 4);
	return likely(!*(const u64 *)&run->flags);
}

/* Return a value other than 0 if the run has state besides its registers. */
static __always_inline u64 cosy_run_leavings(const struct cosy_state *st)
{
	return st->env.nprivate | (unsigned long)st->env.borrowed |
	       (unsigned long)st->env.suspended |
	       (cosy_seccomp_state() ^ st->env.seccomp);
}

/*
 * Return an error before anything was executed. If the kernel has restarted the entry, the status
 * is changed: the process must neither take the error for the result of the interrupted call, nor
 * a run that has come back to pc 0 for one that has not begun.
 */
static noinline loff_t cosy_refuse(const struct cosy_run *run,
				   struct cosy_run __user *urun, int err)
{
	if (run->status != COSY_DONE && put_user(COSY_AGAIN, &urun->status))
		return cosy_state_lost();
	return err;
}

/* Read the state of a function that was suspended when the run was left. */
static noinline int cosy_suspended_read(struct cosy_env *env,
				   const struct cosy_run __user *urun)
{
	u64 from;

	env->suspended = kmalloc(sizeof(*env->suspended), GFP_KERNEL_ACCOUNT);
	if (!env->suspended)
		return -ENOMEM;
	if (get_user(from, &urun->suspended) ||
	    copy_from_user(&env->suspended->state, u64_to_user_ptr(from),
			   sizeof(env->suspended->state)))
		return -EFAULT;
	env->suspended->stacks = NULL;
	env->suspended->valid = true;
	return 0;
}

/* Write the state of a suspended function. Return the flag to write, or -EFAULT. */
static noinline int cosy_suspended_write(struct cosy_env *env,
				    const struct cosy_run __user *urun)
{
	struct cosy_suspended_function *suspended = env->suspended;
	int flag = 0;
	u64 to;

	if (suspended->valid) {
		flag = COSY_RUN_SUSPENDED;
		if (get_user(to, &urun->suspended) ||
		    copy_to_user(u64_to_user_ptr(to), &suspended->state,
				 sizeof(suspended->state)))
			flag = -EFAULT;
	}
	env->suspended = NULL;
	cosy_suspended_give(suspended);
	return flag;
}

/* Called if tracepoints are on. Out of line, because they need registers. */
static noinline __cold void cosy_trace_run(const struct cosy_run *run)
{
	trace_run(run->handle, run->pc);
}

static noinline __cold void cosy_trace_leave(const struct cosy_run *run,
					     const struct cosy_state *st,
					     enum cosy_status status)
{
	trace_leave(run->handle, st->pc, status, st->value);
}

/* Finish an entry whose compound has not ended, or that has more to write than its outputs. */
static noinline loff_t cosy_run_leave(const struct cosy_code *code,
				      const struct cosy_run *run,
				      struct cosy_state *st,
				      struct cosy_run __user *urun,
				      enum cosy_status status)
{
	u64 __user *frame = u64_to_user_ptr(run->frame);
	struct cosy_range live = { 0, code->nregs };
	u64 limit = cosy_run_limit(run, code);
	s64 left = limit;
	int flags = run->flags, suspended = 0;
	bool seccomp_blocked;
	loff_t ret;
	u64 calls;

	left -= min_t(u64, limit, COSY_FIRST_CHUNK) - st->budget;
	if (status == COSY_LIMIT)
		status = cosy_execute_on(code, st, run, &left);
	cosy_fast_leave(&st->env, status == COSY_DONE);
	if (unlikely(st->env.suspended))
		suspended = cosy_suspended_write(&st->env, urun);
	if (suspended < 0)
		return cosy_state_lost();
	/* Filters that permitted this entry permit the next one: ask only if there are new ones. */
	seccomp_blocked =
		unlikely(cosy_seccomp_state() != st->env.seccomp) &&
		cosy_seccomp_blocks_entry();
	if (trace_leave_enabled() && (status != COSY_DONE || seccomp_blocked))
		cosy_trace_leave(run, st, status);
	if (status == COSY_DONE) {
		if (!cosy_regs_write_all(frame + code->out_first,
					 st->regs + code->out_first,
					 code->nout))
			return cosy_state_lost();
		ret = seccomp_blocked ? COSY_RUN_SECCOMP_BLOCKED :
					COSY_RUN_DONE | st->value;
	} else {
		if (status == COSY_UPCALL)
			live = cosy_live_range(code, st->pc);
		if (!cosy_regs_write_all(frame + live.first,
					 st->regs + live.first, live.count))
			return cosy_state_lost();
		if (status == COSY_RESULT)
			ret = st->value;
		else
			ret = seccomp_blocked ? COSY_RUN_SECCOMP_BLOCKED : COSY_RUN_LEFT;
		if (cosy_runs_limited())
			flags = cosy_run_account(urun, run, limit - left,
						 st->env.timed ? st->env.slice.used : 0);
		if (flags < 0)
			return cosy_state_lost();
	}
	if (flags & COSY_RUN_COUNT) {
		if (get_user(calls, &urun->calls))
			return cosy_state_lost();
		st->calls += calls;
	}
	flags = (flags & ~COSY_RUN_SUSPENDED) | suspended;
	if (!cosy_run_write(urun, flags, st, status, left))
		return cosy_state_lost();
	return ret;
}

/* Leave for an up-call, if nothing else has to be written and tracing is off. */
static noinline loff_t cosy_run_upcall(const struct cosy_code *code,
				       const struct cosy_run *run,
				       const struct cosy_state *st,
				       struct cosy_run __user *urun)
{
	struct cosy_range live = cosy_live_range(code, st->pc);
	u64 __user *frame = u64_to_user_ptr(run->frame);

	if (!cosy_regs_write(frame + live.first, st->regs + live.first,
			     live.count, cosy_regs_few(code, live)) ||
	    !cosy_run_write_upcall(urun, st))
		return cosy_state_lost();
	return COSY_RUN_LEFT;
}

/*
 * Run a compound starting at @run's pc, and return the result of the entry. @begins: the run is
 * known to be entered for the first time. @plain: it has no flags and limits. @zeroed: @regs are
 * all 0; otherwise @regs has room for MORE_REGS more than the compound's registers.
 */
static __always_inline loff_t
cosy_compound_run(const struct cosy_compound *compound,
		  const struct cosy_run *run, bool begins, bool plain,
		  struct cosy_state *st, struct cosy_run __user *urun,
		  u64 *regs, bool zeroed)
{
	const struct cosy_code *code = compound->code;
	u64 __user *frame = u64_to_user_ptr(run->frame);
	struct cosy_range live = { 0, code->ninputs };
	enum cosy_status status;

	if (!begins && !cosy_run_fresh(run))
		live = cosy_live_range(code, run->pc);
	if (zeroed) {
		if (!cosy_regs_read_all(regs + live.first, frame + live.first,
					live.count))
			return cosy_refuse(run, urun, -EFAULT);
	} else {
		if (live.first)
			cosy_regs_clear(regs, 0, live.first - 1);
		if (!cosy_regs_read(regs + live.first, frame + live.first,
				    live.count,
				    begins ? compound->few_inputs :
					     cosy_regs_few(code, live)))
			return cosy_refuse(run, urun, -EFAULT);
		cosy_regs_clear(regs, live.first + live.count, code->nregs);
	}

	st->regs = regs;
	st->pc = begins ? 0 : run->pc;
	st->budget = compound->first;
	if (plain) {
		st->env.suspended = NULL;
	} else {
		/* Plain runs do not report these, so they are not initialised there. */
		st->calls = 0;
		st->env.functions = 0;
		if (run->flags & COSY_RUN_LIMIT)
			st->budget = min_t(u64, run->limit, COSY_FIRST_CHUNK);
	}
	st->env.bound = &compound->functions;
	cosy_env_clear_args(&st->env);
	st->env.seccomp = cosy_seccomp_state();
	cosy_env_init(&st->env);
	st->env.borrowed = NULL;

	/* No load of the compound may pass the stores that clear the registers. */
	barrier_nospec();
	status = cosy_exec(code, st);
	cosy_history_clear();
	if (unlikely(!plain || status | cosy_run_leavings(st))) {
		if (plain && status == COSY_UPCALL && !cosy_run_leavings(st) &&
		    !cosy_runs_limited() && !trace_leave_enabled())
			return cosy_run_upcall(code, run, st, urun);
		return cosy_run_leave(code, run, st, urun, status);
	}
	if (!cosy_outputs_write(frame + code->out_first, regs + code->out_first,
				code->nout))
		return cosy_state_lost();
	return COSY_RUN_DONE | st->value;
}

static loff_t cosy_run_on_heap(const struct cosy_compound *compound,
			       const struct cosy_run *run,
			       struct cosy_state *st,
			       struct cosy_run __user *urun)
{
	u64 *regs = kvcalloc(compound->code->nregs + 1, sizeof(*regs),
			     COSY_GFP);
	loff_t ret;

	if (!regs)
		return cosy_refuse(run, urun, -ENOMEM);
	ret = cosy_compound_run(compound, run, false, cosy_run_plain(run), st,
				urun, regs, true);
	kvfree(regs);
	return ret;
}

/* Handle all runs but the common ones. @regs is used by compounds with few registers. */
static noinline loff_t cosy_run_any(const struct cosy_compound *compound,
				    struct cosy_run *run,
				    struct cosy_state *st,
				    struct cosy_run __user *urun, u64 *regs)
{
	loff_t ret;

	if (run->flags & ~COSY_RUN_FLAGS)
		return cosy_refuse(run, urun, -EINVAL);
	if (run->status != COSY_DONE && run->status != COSY_AGAIN &&
	    run->status != COSY_RESULT)
		return cosy_refuse(run, urun, -EINVAL);
	if (!cosy_pc_valid(compound->code, run->pc))
		return cosy_refuse(run, urun, -EINVAL);
	/* Speculation must not execute slots after the last one. */
	run->pc = array_index_nospec(run->pc, compound->code->ninsns);
	if (run->flags & COSY_RUN_LIMIT && get_user(run->limit, &urun->limit))
		return cosy_refuse(run, urun, -EFAULT);
	st->env.suspended = NULL;
	if (run->flags & COSY_RUN_SUSPENDED)
		ret = cosy_suspended_read(&st->env, urun);
	else
		ret = 0;
	if (ret)
		ret = cosy_refuse(run, urun, ret);
	else if (compound->code->nregs > STACK_REGS)
		ret = cosy_run_on_heap(compound, run, st, urun);
	else
		ret = cosy_compound_run(compound, run, false,
					cosy_run_plain(run), st, urun, regs,
					false);
	/* It is still allocated if nothing was executed. */
	kfree(st->env.suspended);
	return ret;
}

/*
 * Run a compound: lseek(@file, @offset, COSY_RUN_WHENCE). notrace, because its caller can be traced
 * instead.
 */
static noinline notrace loff_t cosy_run_enter(struct file *file, loff_t offset)
{
	/* Without the tag this is not a user address, and the access faults. */
	u64 addr = (u64)offset - COSY_RUN_TAG;
	struct cosy_run __user *urun = u64_to_user_ptr(addr);
	u64 regs[STACK_REGS + MORE_REGS] __uninitialized;
	struct cosy_state st __uninitialized;
	struct cosy_run run __uninitialized;
	struct cosy_compound *compound;
	loff_t ret;

	/*
	 * Nested calls are 64-bit calls. They would detect a 32-bit or x32 entry, which
	 * has another number. Nothing else in the kernel may run compounds either.
	 */
	if (unlikely(current_pt_regs()->orig_ax != __NR_lseek))
		return -EOPNOTSUPP;
	if (!cosy_run_read(&run, &st, urun))
		return addr < COSY_RUN_TAG ? -EFAULT : -ESPIPE;
	if (!cosy_stack_suffices())
		return cosy_refuse(&run, urun, -ELOOP);

	/* A debugger's breakpoints are in the native code. */
	if (unlikely(cosy_ptraced()) && cosy_run_fresh(&run))
		return -EBUSY;

	compound = cosy_compound_get(file->private_data, run.handle);
	if (!compound)
		return cosy_refuse(&run, urun, -ENOENT);
	if (trace_run_enabled())
		cosy_trace_run(&run);
	if (compound->code->nregs <= STACK_REGS && cosy_run_fresh(&run) &&
	    cosy_run_plain(&run))
		ret = cosy_compound_run(compound, &run, true, true, &st, urun,
					regs, false);
	else
		ret = cosy_run_any(compound, &run, &st, urun, regs);
	/* Otherwise the compiler keeps the address of its count in a register during the run. */
	OPTIMIZER_HIDE_VAR(compound);
	cosy_compound_put(compound);
	if (trace_leave_enabled() && ret >> 32 == COSY_RUN_DONE >> 32)
		cosy_trace_leave(&run, &st, COSY_DONE);
	return ret;
}

/**
 * cosy_run_llseek() - run a compound or make a single call, by lseek(2)
 * @file:   an open file of the device
 * @offset: COSY_RUN_TAG and the address of a struct cosy_run or cosy_call
 * @whence: COSY_RUN_WHENCE or COSY_CALL_WHENCE
 *
 * Only dispatches, so that a single call does not need the large stack frame of a run. A compound
 * may close the device's last descriptor, so @file must not be used after a run.
 *
 * Return: the value that the interface documents; -ESPIPE for any other lseek.
 */
loff_t cosy_run_llseek(struct file *file, loff_t offset, int whence)
{
	if (likely(whence == COSY_RUN_WHENCE))
		return cosy_run_enter(file, offset);
	return cosy_single_llseek(file, offset, whence);
}
